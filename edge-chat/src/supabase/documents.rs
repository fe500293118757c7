//! Documents and their original files in the storage bucket.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;
use worker::Method;

use super::{OpenResponse, Service, Supabase};
use crate::http::error::HttpError;
use crate::settings::LinkMode;

/// The bucket with the original files.
const BUCKET: &str = "kb";
/// Documents per call of `chat_documents`.
const MAX_IDS: usize = 500;
/// Bytes of its response: 500 documents with the longest names (300 characters) and paths (1024 bytes).
const MAX_FILES_BYTES: usize = 2 * 1024 * 1024;

/// Characters that are encoded in a path segment: all but the unreserved characters of RFC 3986, section 2.3.
const ENCODED_IN_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A document that the user may see. Without a path it has no file, or users may not open files.
#[derive(Deserialize)]
pub(crate) struct DocumentFile {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) storage_path: Option<String>,
    /// How the user may open the file: by the strictest mode of the assistants that search the document.
    pub(crate) link_mode: LinkMode,
}

/// A signed URL, relative and not percent-encoded.
#[derive(Deserialize)]
struct Signed {
    path: Option<String>,
    #[serde(rename = "signedURL")]
    signed_url: Option<String>,
}

impl Supabase {
    /// The documents among `ids` that the user may see.
    pub(crate) async fn document_files(&self, ids: &[Uuid]) -> Result<Vec<DocumentFile>, HttpError> {
        let mut files = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_IDS) {
            let mut lookup = self.rpc("chat_documents", &json!({ "ids": ids }))?;
            lookup.max_bytes = MAX_FILES_BYTES;
            files.extend(self.fetch::<Vec<DocumentFile>>(lookup).await?);
        }
        Ok(files)
    }

    /// Opens a file with the client's conditions and ranges. `None` if the path is invalid.
    pub(crate) async fn open_file(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Option<OpenResponse>, HttpError> {
        let Some(path) = encode_path(path) else { return Ok(None) };
        let url = format!("/storage/v1/object/authenticated/{BUCKET}/{path}");
        let mut exchange = self.exchange(Service::Storage, "storage", Method::Get, url);
        exchange.headers.retain(|(name, _)| *name != "Accept");
        exchange.headers.extend_from_slice(headers);
        exchange.open(self.deadline).await.map(Some)
    }

    /// Pairs of path and URL. The URLs give access without a token for `seconds`.
    pub(crate) async fn sign_files(
        &self,
        paths: &[&str],
        seconds: u32,
    ) -> Result<Vec<(String, String)>, HttpError> {
        let path = format!("/storage/v1/object/sign/{BUCKET}");
        let mut sign = self.exchange(Service::Storage, "storage", Method::Post, path);
        sign.body = Some(json!({ "expiresIn": seconds, "paths": paths }).to_string());
        // Signing has no side effects.
        sign.is_idempotent = true;
        let signed: Vec<Signed> = self.fetch(sign).await?;
        let with_address = signed.into_iter().filter_map(|signed| {
            let path = signed.path?;
            let signed_url = signed.signed_url?;
            let (_, token) = signed_url.rsplit_once("?token=")?;
            let url = &self.project.url;
            let address =
                format!("{url}/storage/v1/object/sign/{BUCKET}/{}?token={token}", encode_path(&path)?);
            Some((path, address))
        });
        Ok(with_address.collect())
    }
}

/// A storage path as part of a URL. `None` if it would leave the bucket.
fn encode_path(path: &str) -> Option<String> {
    let segments: Vec<_> = path
        .split('/')
        .map(|segment| match segment {
            "" | "." | ".." => None,
            _ => Some(utf8_percent_encode(segment, ENCODED_IN_SEGMENT).to_string()),
        })
        .collect::<Option<_>>()?;
    Some(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_path_cannot_leave_its_bucket() {
        assert_eq!(encode_path("guides/a b.pdf").as_deref(), Some("guides/a%20b.pdf"));
        assert_eq!(encode_path("ü?#%2e.md").as_deref(), Some("%C3%BC%3F%23%252e.md"));
        assert_eq!(encode_path(r"a\..\b").as_deref(), Some("a%5C..%5Cb"));
        for outside in ["", "/a", "a/", "a//b", "../other/secret", "a/../../b", "./a"] {
            assert_eq!(encode_path(outside), None, "{outside}");
        }
    }
}
