//! Files that people put into the storage bucket.

use std::path::Path;

use extract::{Format, MAX_FILE_BYTES};

use super::{Item, Listing, LoadError, Location, Rejected, folder};
use crate::supabase::storage::StoredFile;
use crate::supabase::{Client, SupabaseError};

pub(super) async fn list(client: &Client) -> Result<Listing, SupabaseError> {
    let mut listing = Listing::default();
    for file in client.user_files().await? {
        let path = Path::new(&file.path);
        match (folder::unpublished(path), Format::from_path(path)) {
            (Some(reason), _) => {
                listing.skipped.push(Rejected { path: file.path, reason: reason.to_owned() });
            }
            (None, Some(format)) => listing.items.push(item(file, format)),
            (None, None) => {
                let reason = folder::unsupported(Path::new(&file.path));
                listing.skipped.push(Rejected { path: file.path, reason });
            }
        }
    }
    Ok(listing)
}

fn item(file: StoredFile, format: Format) -> Item {
    // Files with the same size, MD5 sum and format have the same content.
    let version = file.version.map(|etag| format!("{etag} {} {}", file.size, format.content_type()));
    Item {
        location: Location::Stored(file.path.clone()),
        path: file.path,
        format: Some(format),
        size: file.size,
        version,
    }
}

pub(super) async fn read(client: &Client, path: &str) -> Result<Vec<u8>, LoadError> {
    client.download(path, MAX_FILE_BYTES).await.map_err(|error| match error {
        error if error.concerns_only_this_document() => LoadError::Failed(error.to_string()),
        error => LoadError::Supabase(error),
    })
}
