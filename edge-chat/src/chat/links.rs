//! Links from citations to the original file of their document.

use std::collections::HashMap;

use chat_core::outcome::Outcome;
use uuid::Uuid;

use crate::http::error::HttpError;
use crate::settings::LinkMode;
use crate::supabase::{DocumentFile, Supabase};

/// How long a signed link is valid: seven days, in seconds.
const SIGNED_LINK_SECONDS: u32 = 7 * 24 * 60 * 60;

/// Creates links for one user.
pub(crate) struct Links<'a> {
    supabase: &'a Supabase,
    /// Scheme and host of the client's request.
    origin: &'a str,
}

impl<'a> Links<'a> {
    pub(crate) fn new(supabase: &'a Supabase, origin: &'a str) -> Self {
        Self { supabase, origin }
    }

    /// Adds the link to each passage whose document has a file, whether it is quoted or only listed.
    pub(super) async fn add(&self, outcome: &mut Outcome) -> Result<(), HttpError> {
        let documents: Vec<_> = outcome.documents().into_iter().collect();
        if documents.is_empty() {
            return Ok(());
        }
        let links = self.for_files(&self.supabase.document_files(&documents).await?).await?;
        outcome.set_download_urls(|document| links.get(&document).cloned());
        Ok(())
    }

    /// The link of each document that has a file.
    pub(crate) async fn for_files(&self, files: &[DocumentFile]) -> Result<HashMap<Uuid, String>, HttpError> {
        let mut links = HashMap::new();
        let mut signed_files = Vec::new();
        for file in files {
            let Some(path) = file.storage_path.as_deref() else { continue };
            match file.link_mode {
                LinkMode::None => {}
                LinkMode::Authenticated => {
                    links.insert(file.id, format!("{}/api/documents/{}/download", self.origin, file.id));
                }
                LinkMode::Public => signed_files.push((file.id, path)),
            }
        }
        if !signed_files.is_empty() {
            let paths: Vec<_> = signed_files.iter().map(|(_, path)| *path).collect();
            let signed: HashMap<_, _> =
                self.supabase.sign_files(&paths, SIGNED_LINK_SECONDS).await?.into_iter().collect();
            links.extend(
                signed_files.into_iter().filter_map(|(id, path)| Some((id, signed.get(path)?.clone()))),
            );
        }
        Ok(links)
    }
}
