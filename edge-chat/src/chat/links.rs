//! Links from citations to the original file of their document.

use std::collections::HashMap;

use chat_core::outcome::Outcome;
use uuid::Uuid;

use crate::config::LinkMode;
use crate::http::error::HttpError;
use crate::supabase::{DocumentFile, Supabase};

/// How long a signed link is valid: seven days, in seconds.
const SIGNED_LINK_SECONDS: u32 = 7 * 24 * 60 * 60;

/// Creates links for one user.
pub(crate) struct Links<'a> {
    supabase: &'a Supabase,
    mode: LinkMode,
    /// Scheme and host of the client's request.
    origin: &'a str,
}

impl<'a> Links<'a> {
    pub(crate) fn new(supabase: &'a Supabase, mode: LinkMode, origin: &'a str) -> Self {
        Self { supabase, mode, origin }
    }

    /// Adds the link to each passage whose document has a file, whether it is quoted or only listed.
    pub(super) async fn add(&self, outcome: &mut Outcome) -> Result<(), HttpError> {
        let documents: Vec<_> = outcome.documents().into_iter().collect();
        if self.mode == LinkMode::None || documents.is_empty() {
            return Ok(());
        }
        let links = self.for_files(&self.supabase.document_files(&documents).await?).await?;
        outcome.set_download_urls(|document| links.get(&document).cloned());
        Ok(())
    }

    /// The link of each document that has a file.
    pub(crate) async fn for_files(&self, files: &[DocumentFile]) -> Result<HashMap<Uuid, String>, HttpError> {
        let stored = files.iter().filter_map(|file| Some((file.id, file.storage_path.as_deref()?)));
        match self.mode {
            LinkMode::None => Ok(HashMap::new()),
            LinkMode::Authenticated => {
                let link = |id| format!("{}/api/documents/{id}/download", self.origin);
                Ok(stored.map(|(id, _)| (id, link(id))).collect())
            }
            LinkMode::Public => {
                let paths: Vec<_> = stored.clone().map(|(_, path)| path).collect();
                if paths.is_empty() {
                    return Ok(HashMap::new());
                }
                let signed: HashMap<_, _> =
                    self.supabase.sign_files(&paths, SIGNED_LINK_SECONDS).await?.into_iter().collect();
                Ok(stored.filter_map(|(id, path)| Some((id, signed.get(path)?.clone()))).collect())
            }
        }
    }
}
