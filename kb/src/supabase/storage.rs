//! Files in the storage bucket `kb`: the originals of documents, and files that people uploaded in the dashboard.
//! <https://supabase.github.io/storage/>

use std::time::Duration;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder};
use serde::Deserialize;
use serde_json::json;

use super::{Client, SupabaseError};

pub const BUCKET: &str = "kb";

/// Folder of the bucket for originals that kb uploads; people put all other files there.
pub const ORIGINALS: &str = "originals";

/// Timeout for one file, which may be large and the connection slow.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Entries of a folder per request: the maximum of the server.
const ENTRIES_PER_REQUEST: usize = 1000;

const DELETIONS_PER_REQUEST: usize = 100;

/// All characters but the unreserved ones of RFC 3986, section 2.3.
const NOT_UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A file in the bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Path within the bucket.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// ETag, which changes with the content.
    pub version: Option<String>,
}

#[derive(Deserialize)]
struct ListedEntry {
    name: String,
    // `None` for a folder.
    id: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "eTag")]
    etag: Option<String>,
    size: Option<u64>,
}

impl Client {
    /// All files that people put into the bucket, sorted by path.
    pub async fn user_files(&self) -> Result<Vec<StoredFile>, SupabaseError> {
        let mut files = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in self.entries(&folder).await? {
                let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                match (entry.id, entry.metadata) {
                    // The dashboard keeps an empty folder with this file.
                    (Some(_), _) if path.ends_with(".emptyFolderPlaceholder") => {}
                    (Some(_), metadata) => files.push(stored_file(path, metadata)),
                    (None, _) if path != ORIGINALS => folders.push(path),
                    (None, _) => {}
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    async fn entries(&self, folder: &str) -> Result<Vec<ListedEntry>, SupabaseError> {
        let mut all: Vec<ListedEntry> = Vec::new();
        loop {
            let body = json!({
                "prefix": folder,
                "limit": ENTRIES_PER_REQUEST,
                "offset": all.len(),
                "sortBy": { "column": "name", "order": "asc" },
            });
            let request = || {
                let request = self.storage(Method::POST, &["list", BUCKET]);
                request.header("content-type", "application/json").body(body.to_string())
            };
            let page: Vec<ListedEntry> = self.json(request).await?;
            // The server may return fewer entries than requested.
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Downloads a file of at most `limit` bytes.
    pub async fn download(&self, path: &str, limit: u64) -> Result<Vec<u8>, SupabaseError> {
        self.retry(async || {
            let request = self.storage(Method::GET, &["authenticated", BUCKET, path]);
            let mut response = self.respond(request).await.map_err(file_error)?;
            let mut bytes = Vec::new();
            while let Some(part) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
                bytes.extend_from_slice(&part);
                if bytes.len() as u64 > limit {
                    return Err(SupabaseError::FileTooLarge(limit));
                }
            }
            Ok(bytes)
        })
        .await
    }

    /// Uploads a file, replacing one with the same path.
    pub async fn upload(
        &self,
        path: &str,
        content_type: &str,
        bytes: impl Into<Bytes>,
    ) -> Result<(), SupabaseError> {
        let bytes = bytes.into();
        self.retry(async || {
            let request = self.storage(Method::POST, &[BUCKET, path]);
            let request = request.header("content-type", content_type).header("x-upsert", "true");
            self.respond(request.body(Bytes::clone(&bytes))).await.map(drop)
        })
        .await
    }

    /// Deletes files; missing files are not an error.
    pub async fn delete_files(&self, paths: &[String]) -> Result<(), SupabaseError> {
        for batch in paths.chunks(DELETIONS_PER_REQUEST) {
            let body = json!({ "prefixes": batch }).to_string();
            self.retry(async || {
                let request = self.storage(Method::DELETE, &[BUCKET]);
                let request = request.header("content-type", "application/json");
                self.text(request.body(body.clone())).await
            })
            .await?;
        }
        Ok(())
    }

    /// A request below `/storage/v1/object`; a part may be a path of several segments.
    fn storage(&self, method: Method, parts: &[&str]) -> RequestBuilder {
        let mut url = format!("{}/storage/v1/object", self.url);
        for segment in parts.iter().flat_map(|part| part.split('/')) {
            url.push('/');
            url.extend(utf8_percent_encode(segment, NOT_UNRESERVED));
        }
        self.http.request(method, url).timeout(TIMEOUT)
    }
}

fn stored_file(path: String, metadata: Option<Metadata>) -> StoredFile {
    let (etag, size) = metadata.map_or((None, None), |metadata| (metadata.etag, metadata.size));
    StoredFile { path, size: size.unwrap_or(0), version: etag }
}

/// Storage responds with 400 or 404 if a file does not exist.
fn file_error(error: SupabaseError) -> SupabaseError {
    match error {
        SupabaseError::Rejected { status: 400 | 404, message }
            if message.to_lowercase().contains("not found") =>
        {
            SupabaseError::NoSuchFile
        }
        other => other,
    }
}

/// Makes a file name valid as part of a path in the bucket: storage allows ASCII with few special characters.
pub fn safe_name(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '(' | ')');
    let safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    let safe = safe.trim_matches(['.', ' ']);
    let start = safe.len().saturating_sub(100);
    if safe.is_empty() { "file".to_owned() } else { safe.get(start..).unwrap_or("file").to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_valid_paths_of_the_bucket() {
        assert_eq!(safe_name("Größe (1).pdf"), "Gr__e (1).pdf");
        assert_eq!(safe_name("../../etc"), "_.._etc");
        assert_eq!(safe_name("..."), "file");
        assert_eq!(safe_name(&format!("{}.pdf", "x".repeat(300))).len(), 100);
    }
}
