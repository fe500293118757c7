//! Documents below a folder.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path};

use extract::{ExtractError, Format, open_limited, read_limited};
use ignore::{DirEntry, WalkBuilder};

use super::{Item, Listing, LoadError, Location, Rejected};

/// Reading a pipe or a device might never end.
const NOT_A_FILE: &str = "is not a regular file";

/// Finds the documents of a folder and of all folders in it, except hidden files and what `.gitignore` and `.ignore` files
/// leave out. Symbolic links are not followed.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(folder: &Path) -> std::io::Result<Listing> {
    std::fs::read_dir(folder)?;
    let root = folder.canonicalize()?;
    let mut listing = Listing { is_complete: true, ..Listing::default() };
    // The user's global git settings must not decide what goes into a shared knowledge base.
    let walk =
        WalkBuilder::new(&root).git_global(false).git_exclude(false).sort_by_file_name(OsStr::cmp).build();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
            Ok(entry) => add(&mut listing, &root, &entry),
            Err(error) => {
                listing.is_complete = false;
                let path = root.to_string_lossy().into_owned();
                listing.failed.push(Rejected { path, reason: error.to_string() });
            }
        }
    }
    Ok(listing)
}

fn add(listing: &mut Listing, root: &Path, entry: &DirEntry) {
    let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let path = below.to_string_lossy().into_owned();
    let skip = |reason: String| Rejected { path: path.clone(), reason };
    if entry.path_is_symlink() {
        listing.skipped.push(skip("is a symbolic link".to_owned()));
    } else if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        listing.skipped.push(skip(NOT_A_FILE.to_owned()));
    } else {
        match (Format::of(entry.path()), key(below)) {
            (None, _) => listing.skipped.push(skip(unsupported(below))),
            (Some(_), None) => {
                // Under another name it may be a document that is there already.
                listing.is_complete = false;
                listing.failed.push(skip("has a name that is not valid Unicode".to_owned()));
            }
            (Some(format), Some(path)) => listing.items.push(Item {
                path,
                format: Some(format),
                size: entry.metadata().map_or(0, |metadata| metadata.len()),
                version: None,
                location: Location::File(entry.path().to_owned()),
            }),
        }
    }
}

/// Why a file is left alone.
pub(super) fn unsupported(path: &Path) -> String {
    match path.extension() {
        Some(extension) => format!("files of type .{} are not supported", extension.to_string_lossy()),
        None => "files without an extension are not supported".to_owned(),
    }
}

fn key(below: &Path) -> Option<String> {
    let parts: Option<Vec<_>> = below
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}

/// The content of a file.
///
/// # Errors
/// If it is gone, too large, or cannot be read. What is gone is only taken for removed when the next list does not have
/// it either: editors replace files by deleting them.
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    read_limited(path).map_err(failed)
}

/// A file to be read in parts, after the same checks.
///
/// # Errors
/// As [`read`].
pub fn open(path: &Path) -> Result<impl Read, LoadError> {
    open_limited(path).map_err(failed)
}

fn failed(error: ExtractError) -> LoadError {
    LoadError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        folder
    }

    fn paths(listing: &Listing) -> Vec<&str> {
        listing.items.iter().map(|item| item.path.as_str()).collect()
    }

    #[test]
    fn folders_are_read_in_a_fixed_order_without_hidden_and_ignored_files() {
        let folder = folder(&["b.md", "a/z.TXT", "c.markdown", ".hidden.md", "drafts/no.md"]);
        fs::write(folder.path().join(".ignore"), "drafts/").unwrap();
        let listing = list(folder.path()).unwrap();
        assert_eq!(paths(&listing), ["a/z.TXT", "b.md", "c.markdown"]);
        assert!(listing.failed.is_empty() && listing.skipped.is_empty() && listing.is_complete);
    }

    #[test]
    fn a_path_does_not_depend_on_how_the_folder_is_called() {
        let folder = folder(&["kb/sub/a.md"]);
        for name in ["kb", "kb/", "kb/../kb/."] {
            assert_eq!(paths(&list(&folder.path().join(name)).unwrap()), ["sub/a.md"]);
        }
    }

    #[test]
    fn pipes_and_links_are_not_read() {
        let folder = folder(&["a.md"]);
        let pipe = folder.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(folder.path(), folder.path().join("cycle")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("passwd.md")).unwrap();
        let listing = list(folder.path()).unwrap();
        assert_eq!((paths(&listing), listing.skipped.len()), (vec!["a.md"], 3));
    }

    #[test]
    fn other_types_are_skipped_with_a_reason() {
        let listing = list(folder(&["a.xyz", "LICENSE"]).path()).unwrap();
        let reasons: Vec<_> = listing.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        let expected =
            ["files without an extension are not supported", "files of type .xyz are not supported"];
        assert_eq!(reasons, expected);
    }

    #[test]
    fn what_cannot_be_named_makes_the_list_incomplete() {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder(&["a.md"]);
        fs::write(folder.path().join(OsStr::from_bytes(b"\xff.md")), "text").unwrap();
        let listing = list(folder.path()).unwrap();
        assert_eq!((listing.items.len(), listing.failed.len(), listing.is_complete), (1, 1, false));
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        assert!(list(Path::new("no such folder")).is_err());
    }
}
