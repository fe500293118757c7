//! Documents in a folder and its subfolders.
//!
//! Others may write into the folder while it is read, so a listed file may have been replaced. The folder is opened once; its
//! files are opened relative to it, one path component at a time, and no component may be a symbolic link. The type of a file
//! is checked after it is opened. The folder itself was named by the user and may be a link.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use extract::{ExtractError, Format};
use ignore::{DirEntry, WalkBuilder};

use super::{Item, Listing, LoadError, Location, Rejected};

/// Why pipes and devices are skipped: reading one might never end.
const NOT_A_FILE: &str = "is not a regular file";

/// Why files in a folder of drafts are skipped.
const DRAFT: &str = "is a draft: it is in a folder with the name _drafts";

/// Folders of file systems and file servers, which others often may not read.
const SYSTEM_FOLDERS: [&str; 3] = ["lost+found", "@eaDir", "System Volume Information"];

/// Why posts are skipped whose day is to come.
const POST_TO_COME: &str = "is a post whose date, in its name, is to come";

/// Lists the documents of a folder recursively, except drafts, hidden files and files that `.gitignore` and `.ignore` exclude.
/// Symbolic links are not followed.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(folder: &Path) -> io::Result<Listing> {
    std::fs::read_dir(folder)?;
    let root = folder.canonicalize()?;
    let opened = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
    let mut listing = Listing::default();
    // A copy of a checkout excludes the same files as the checkout. Above a folder that is in no checkout, a rule may be about something
    // else, such as the files of a home folder.
    let is_checkout =
        root.ancestors().any(|folder| folder.join(".git").exists() || folder.join(".jj").exists());
    // The user's global git settings must not decide what goes into a shared knowledge base.
    let walk = WalkBuilder::new(&root)
        .git_global(false)
        .git_exclude(false)
        .require_git(is_checkout)
        .parents(is_checkout)
        .sort_by_file_name(OsStr::cmp)
        .filter_entry(|entry| {
            entry.depth() == 0 || !SYSTEM_FOLDERS.iter().any(|name| entry.file_name() == OsStr::new(name))
        })
        .build();
    let below =
        |path: &Path| path.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    for entry in walk {
        match entry.and_then(|entry| unread_rules(&entry, is_checkout).map_or(Ok(entry), Err)) {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
            Ok(entry) if listing.may_have(&below(entry.path())) => {}
            Ok(entry) => add(&mut listing, &root, &opened, &entry),
            Err(error) => {
                let at = place(&error).filter(|path| path.starts_with(&root));
                let path = at.map_or(String::new(), below);
                // Outside a checkout, rules in folders above do not count.
                let is_elsewhere = at.is_none() && !error.is_io() && !is_checkout;
                if is_elsewhere || listing.may_have(&path) {
                    continue;
                }
                let shown = if path.is_empty() { root.to_string_lossy().into_owned() } else { path.clone() };
                let reason = format!("{error}; documents below it stay as they are");
                listing.failed.push(Rejected { path: shown, reason });
                listing.unlisted.push(path);
            }
        }
    }
    Ok(listing)
}

/// Why rules of a folder about what to leave out cannot all be followed. They may be about anything in it.
fn unread_rules(folder: &DirEntry, is_checkout: bool) -> Option<ignore::Error> {
    let count = if is_checkout && folder.depth() == 0 { usize::MAX } else { 1 };
    let folders = folder.path().ancestors().take(count);
    let unread =
        folders.flat_map(|folder| [".gitignore", ".ignore"].map(|name| folder.join(name))).find_map(|file| {
            // A link to nothing is there, too: its file may be missing only here.
            let is_there = file.symlink_metadata().is_ok_and(|kind| !kind.is_dir());
            let error = is_there.then(|| std::fs::read_to_string(&file).err())??;
            Some(ignore::Error::WithPath { path: file, err: Box::new(error.into()) })
        });
    let err = Box::new(unread.or_else(|| folder.error().cloned())?);
    Some(ignore::Error::WithPath { path: folder.path().to_owned(), err })
}

/// The file or folder that an error is about.
fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => place(err),
        _ => None,
    }
}

fn add(listing: &mut Listing, root: &Path, opened: &Arc<Dir>, entry: &DirEntry) {
    let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let path = below.to_string_lossy().into_owned();
    let skip = |reason: String| Rejected { path: path.clone(), reason };
    if let Some(reason) = unpublished(below) {
        listing.skipped.push(skip(reason.to_owned()));
    } else if entry.path_is_symlink() {
        listing.skipped.push(skip("is a symbolic link".to_owned()));
    } else if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        listing.skipped.push(skip(NOT_A_FILE.to_owned()));
    } else {
        match (Format::from_path(entry.path()), key(below)) {
            (None, _) => listing.skipped.push(skip(unsupported(below))),
            (Some(_), None) => {
                listing.nameless = Some(path.clone());
                listing.failed.push(skip("has a name that is not valid Unicode".to_owned()));
            }
            (Some(format), Some(path)) => listing.items.push(Item {
                path,
                format: Some(format),
                size: entry.metadata().map_or(0, |metadata| metadata.len()),
                version: None,
                location: Location::File(FolderFile { folder: Arc::clone(opened), below: below.to_owned() }),
            }),
        }
    }
}

/// Why generators of sites do not publish a file, by its path.
pub(super) fn unpublished(path: &Path) -> Option<&'static str> {
    let is_in = |name: &str| {
        let mut folders = path.parent().into_iter().flat_map(Path::components);
        folders.any(|folder| folder.as_os_str().eq_ignore_ascii_case(name))
    };
    let is_to_come = || path.file_name().and_then(OsStr::to_str).is_some_and(extract::is_post_to_come);
    if is_in("_drafts") {
        Some(DRAFT)
    } else {
        // Jekyll; others publish files with a later date in their names.
        (is_in("_posts") && is_to_come()).then_some(POST_TO_COME)
    }
}

/// Why a file is skipped.
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

/// A file below an open folder.
#[derive(Clone)]
pub struct FolderFile {
    folder: Arc<Dir>,
    below: PathBuf,
}

impl FolderFile {
    /// Reads the content.
    ///
    /// # Errors
    /// If it is missing, too large, not a regular file, behind a link, or unreadable. A missing file counts as removed only
    /// when the next listing lacks it, too, because editors replace files by deleting them.
    pub fn read(&self) -> Result<Vec<u8>, LoadError> {
        extract::read_open(self.open()?).map_err(failed)
    }

    /// Opens the content for reading, after the same checks.
    ///
    /// # Errors
    /// As [`FolderFile::read`].
    pub fn reader(&self) -> Result<impl Read, LoadError> {
        extract::limited(self.open()?).map_err(failed)
    }

    fn open(&self) -> Result<File, LoadError> {
        let mut opened = None;
        let mut parts = self.below.components().peekable();
        while let Some(part) = parts.next() {
            let folder = opened.as_ref().unwrap_or(&*self.folder);
            let Component::Normal(name) = part else { break };
            if parts.peek().is_none() {
                let mut options = OpenOptions::new();
                // Opening a named pipe that replaced the file would wait for a writer.
                options.read(true).nonblock(true).follow(FollowSymlinks::No);
                let file = folder.open_with(name, &options);
                return file.map(cap_std::fs::File::into_std).map_err(|error| unopened(folder, name, &error));
            }
            let next = folder.open_dir_nofollow(name).map_err(|error| unopened(folder, name, &error))?;
            opened = Some(next);
        }
        Err(LoadError::Failed(NOT_A_FILE.to_owned()))
    }
}

/// Operating systems report a link that is not followed with different errors, so this looks at the file.
fn unopened(folder: &Dir, name: &OsStr, error: &io::Error) -> LoadError {
    let is_link = folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink());
    LoadError::Failed(match is_link {
        true => "was replaced by a symbolic link, or its folder was; links are not followed, so put the file itself there".to_owned(),
        false => return LoadError::Unreadable(format!("cannot be read: {error}")),
    })
}

/// Equal if they are the same path in the same open folder.
impl PartialEq for FolderFile {
    fn eq(&self, other: &Self) -> bool {
        self.below == other.below && Arc::ptr_eq(&self.folder, &other.folder)
    }
}

impl Eq for FolderFile {}

impl fmt::Debug for FolderFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FolderFile").field(&self.below).finish()
    }
}

fn failed(error: ExtractError) -> LoadError {
    match error {
        ExtractError::Unreadable(_) => LoadError::Unreadable(error.to_string()),
        error => LoadError::Failed(error.to_string()),
    }
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
        assert!(listing.failed.is_empty() && listing.skipped.is_empty() && listing.unlisted.is_empty());
    }

    #[test]
    fn files_that_git_ignores_are_left_out_with_and_without_a_checkout() {
        for is_checkout in [true, false] {
            let home =
                folder(&["work/kb/a.md", "work/kb/drafts/no.md", "work/kb/sub/b.md", "work/kb/sub/no.txt"]);
            let write = |file: &str, rules| fs::write(home.path().join(file), rules).unwrap();
            write(".gitignore", "*");
            write("work/.gitignore", "/kb/a.md");
            write("work/kb/.gitignore", "drafts/");
            write("work/kb/sub/.gitignore", "*.txt");
            if is_checkout {
                fs::create_dir(home.path().join("work/.git")).unwrap();
            }
            let listing = list(&home.path().join("work/kb")).unwrap();
            let expected: &[_] = if is_checkout { &["sub/b.md"] } else { &["a.md", "sub/b.md"] };
            assert_eq!(paths(&listing), expected, "{is_checkout}");
        }
    }

    #[test]
    fn a_path_does_not_depend_on_the_spelling_of_the_folder() {
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

    fn read(listing: &Listing, path: &str) -> Result<Vec<u8>, String> {
        let item = listing.items.iter().find(|item| item.path == path).unwrap();
        let Location::File(file) = &item.location else { panic!("{item:?}") };
        let whole = file.read().map_err(|error| error.to_string());
        let mut in_parts = Vec::new();
        let part = file.reader().map(|mut reader| reader.read_to_end(&mut in_parts).unwrap());
        assert_eq!(part.map(|_| in_parts).map_err(|error| error.to_string()), whole);
        whole
    }

    #[test]
    fn listed_files_are_read_below_their_folder() {
        let folder = folder(&["a.md", "sub/sub/b.md"]);
        fs::hard_link(folder.path().join("a.md"), folder.path().join("hard.md")).unwrap();
        let link = folder.path().with_extension("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let listing = list(&link).unwrap();
        fs::remove_file(&link).unwrap();
        for path in ["a.md", "hard.md", "sub/sub/b.md"] {
            assert_eq!(read(&listing, path).unwrap(), b"text", "{path}");
        }
    }

    #[test]
    fn a_link_that_replaces_a_listed_file_or_folder_is_not_followed() {
        let outside = folder(&["secret.md", "sub/b.md"]);
        let secret = outside.path().join("secret.md");
        for is_inside in [false, true] {
            let folder = folder(&["a.md", "sub/b.md", "sub/sub/c.md", ".hidden.md", ".hidden/b.md"]);
            let listing = list(folder.path()).unwrap();
            let (file, sub) = (folder.path().join("a.md"), folder.path().join("sub"));
            let inside = |name| folder.path().join(name);
            fs::remove_file(&file).unwrap();
            fs::rename(&sub, folder.path().join("moved")).unwrap();
            let (to_file, to_folder) = match is_inside {
                true => (inside(".hidden.md"), inside(".hidden")),
                false => (secret.clone(), outside.path().join("sub")),
            };
            std::os::unix::fs::symlink(to_file, &file).unwrap();
            std::os::unix::fs::symlink(to_folder, &sub).unwrap();
            for path in ["a.md", "sub/b.md", "sub/sub/c.md"] {
                let error = read(&listing, path).unwrap_err();
                assert!(error.starts_with("was replaced by a symbolic link"), "{path}: {error}");
            }
        }
    }

    #[test]
    fn a_folder_that_replaces_the_root_is_not_read() {
        let (folder, other) = (folder(&["kb/a.md"]), folder(&["a.md"]));
        let root = folder.path().join("kb");
        let listing = list(&root).unwrap();
        fs::rename(&root, folder.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(other.path(), &root).unwrap();
        fs::write(other.path().join("a.md"), "secret").unwrap();
        assert_eq!(read(&listing, "a.md").unwrap(), b"text");
    }

    #[test]
    fn a_listed_file_that_became_a_pipe_or_folder_is_refused_at_once() {
        let folder = folder(&["pipe.md", "folder.md", "gone.md"]);
        let listing = list(folder.path()).unwrap();
        for name in ["pipe.md", "folder.md", "gone.md"] {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let pipe = folder.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::create_dir(folder.path().join("folder.md")).unwrap();
        for name in ["pipe.md", "folder.md"] {
            assert_eq!(read(&listing, name).unwrap_err(), NOT_A_FILE, "{name}");
        }
        assert!(read(&listing, "gone.md").unwrap_err().starts_with("cannot be read: "));
    }

    #[test]
    fn files_in_a_folder_of_drafts_are_skipped_with_the_reason() {
        let folder = folder(&["a.md", "_drafts/b.md", "blog/_Drafts/x/c.md", "_drafts.md"]);
        let listing = list(folder.path()).unwrap();
        assert_eq!(paths(&listing), ["_drafts.md", "a.md"]);
        assert!(listing.unlisted.is_empty() && listing.skipped.iter().all(|skipped| skipped.reason == DRAFT));
        assert_eq!(listing.skipped.len(), 2);
    }

    /// Makes a folder whose path is too long to be read by anybody, also by root, and returns its path.
    fn unreadable_folder(at: &Path) -> PathBuf {
        let mut below = PathBuf::new();
        let mut open = Dir::open_ambient_dir(at, ambient_authority()).unwrap();
        for _ in 0..16 {
            let name = "x".repeat(255);
            open.create_dir(&name).unwrap();
            open = open.open_dir(&name).unwrap();
            below.push(name);
        }
        below
    }

    #[test]
    fn only_what_is_below_a_folder_that_cannot_be_read_is_unknown() {
        let folder = folder(&["a.md", "sub/b.md", "z.md", "lost+found/c.md", "sub/@eaDir/d.md"]);
        let below = unreadable_folder(&folder.path().join("sub"));
        let listing = list(folder.path()).unwrap();
        assert_eq!(paths(&listing), ["a.md", "sub/b.md", "z.md"]);
        assert_eq!((listing.failed.len(), listing.unlisted.len()), (1, 1), "{:?}", listing.failed);
        let inside = Path::new("sub").join(&below).join("e.md");
        assert!(listing.may_have(inside.to_str().unwrap()));
        for known in ["gone.md", "sub/gone.md", "sub2/gone.md"] {
            assert!(!listing.may_have(known), "{known}");
        }
    }

    #[test]
    fn nothing_is_known_below_a_folder_whose_ignore_file_cannot_be_read() {
        let link = |at: &Path| std::os::unix::fs::symlink("not here", at).unwrap();
        let latin = |at: &Path| fs::write(at, b"# f\xfcr uns\nprivate/").unwrap();
        let glob = |at: &Path| fs::write(at, "{private").unwrap();
        for (name, write) in [
            (".gitignore", &link as &dyn Fn(&Path)),
            (".ignore", &link),
            (".gitignore", &latin),
            (".ignore", &glob),
        ] {
            let home = folder(&["kb/a.md", "kb/sub/b.md", "kb/sub/private/c.md", "kb/sub2/d.md"]);
            let kb = home.path().join("kb");
            write(&kb.join("sub").join(name));
            let listing = list(&kb).unwrap();
            assert_eq!(paths(&listing), ["a.md", "sub2/d.md"]);
            assert_eq!(listing.unlisted, ["sub"]);
            assert!(matches!(&listing.failed[..], [one] if one.path == "sub" && one.reason.contains(name)));

            // Above a folder, only in a checkout.
            fs::remove_file(kb.join("sub").join(name)).unwrap();
            write(&home.path().join(name));
            assert_eq!(list(&kb).unwrap().items.len(), 4);
            fs::create_dir(home.path().join(".git")).unwrap();
            let listing = list(&kb).unwrap();
            assert_eq!((listing.items.len(), &listing.unlisted[..]), (0, &[String::new()][..]));
            assert_eq!(listing.failed.len(), 1, "{:?}", listing.failed);
        }
    }

    #[test]
    fn folders_with_the_name_of_an_ignore_file_have_no_rules() {
        assert_eq!(
            paths(&list(folder(&["a.md", ".ignore/b.md", ".gitignore/c.md"]).path()).unwrap()),
            ["a.md"]
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn a_file_that_is_there_is_listed_or_unknown_whatever_cannot_be_read(
            files in proptest::collection::btree_set("([ab]/){0,3}[ab]\\.md", 1..8),
            unreadable in "([ab]/){0,3}",
        ) {
            let files: Vec<_> = files.iter().map(String::as_str).collect();
            let folder = folder(&files);
            let at = folder.path().join(&unreadable);
            fs::create_dir_all(&at).unwrap();
            let inside = Path::new(&unreadable).join(unreadable_folder(&at)).join("a.md");
            let listing = list(folder.path()).unwrap();
            proptest::prop_assert_eq!(paths(&listing).len(), files.len());
            proptest::prop_assert!(files.iter().all(|file| paths(&listing).contains(file) && !listing.may_have(file)));
            proptest::prop_assert!(listing.may_have(inside.to_str().unwrap()), "{:?}", listing.unlisted);
        }
    }

    #[test]
    fn a_path_is_unknown_if_a_folder_above_it_could_not_be_listed() {
        let of = |unlisted: &str| Listing { unlisted: vec![unlisted.to_owned()], ..Listing::default() };
        for (unlisted, path, is_unknown) in [
            ("", "a.md", true),
            ("a", "a/b.md", true),
            ("a/b", "a/b/c/d.md", true),
            ("a.md", "a.md", true),
            ("a", "ab/c.md", false),
            ("a/b", "a/c.md", false),
            ("a/b", "a", false),
        ] {
            assert_eq!(of(unlisted).may_have(path), is_unknown, "{unlisted} {path}");
        }
    }

    #[test]
    fn a_post_with_a_date_to_come_in_its_name_is_skipped() {
        let folder = folder(&[
            "_posts/2024-05-01-old.md",
            "_posts/2999-01-01-new.md",
            "blog/_posts/x/2999-1-1-new.md",
            "minutes/2999-01-01-agenda.md",
        ]);
        let listing = list(folder.path()).unwrap();
        assert_eq!(paths(&listing), ["_posts/2024-05-01-old.md", "minutes/2999-01-01-agenda.md"]);
        assert!(listing.skipped.iter().all(|skipped| skipped.reason == POST_TO_COME));
    }

    #[test]
    fn unsupported_types_are_skipped_with_a_reason() {
        let listing = list(folder(&["a.xyz", "LICENSE"]).path()).unwrap();
        let reasons: Vec<_> = listing.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        let expected =
            ["files without an extension are not supported", "files of type .xyz are not supported"];
        assert_eq!(reasons, expected);
    }

    #[cfg_attr(target_os = "macos", ignore = "platform: the file system of macOS rejects such names")]
    #[test]
    fn a_name_that_is_not_unicode_is_reported() {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder(&["a.md"]);
        fs::write(folder.path().join(OsStr::from_bytes(b"\xff.md")), "text").unwrap();
        let listing = list(folder.path()).unwrap();
        assert_eq!((listing.items.len(), listing.failed.len()), (1, 1));
        assert!(listing.nameless.is_some() && listing.unlisted.is_empty());
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        assert!(list(Path::new("no such folder")).is_err());
    }
}
