//! Which files to ingest, and what each is called in the knowledge base.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use crate::chunk::Format;

/// A document to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Identifies the document in the knowledge base: its path below the root, with `/`.
    pub source: String,
    /// How its text is written.
    pub format: Format,
}

/// A file that will not be ingested, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// As found or as given.
    pub path: PathBuf,
    /// One sentence part, for people.
    pub reason: String,
}

/// What the given paths lead to, always in the same order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// To be ingested.
    pub files: Vec<SourceFile>,
    /// Other files in the folders; not an error.
    pub skipped: Vec<Rejected>,
    /// Paths that were asked for and cannot be ingested.
    pub failed: Vec<Rejected>,
}

/// Finds the documents at `paths`: files as they are, folders with everything below them except hidden files and
/// what `.gitignore` and `.ignore` files leave out.
///
/// # Errors
/// If `root` is not a folder that can be read.
pub fn discover(paths: &[PathBuf], root: &Path) -> std::io::Result<Discovery> {
    let mut finder =
        Finder { root: root.canonicalize()?, taken: HashMap::new(), found: Discovery::default() };
    for path in paths {
        finder.add(path);
    }
    Ok(finder.found)
}

struct Finder {
    root: PathBuf,
    /// Source → path, to notice a file given twice and two files with one name.
    taken: HashMap<String, PathBuf>,
    found: Discovery,
}

/// Reading a pipe or a device might never end.
const NOT_A_FILE: &str = "not a regular file";

impl Finder {
    fn add(&mut self, given: &Path) {
        match resolve(given) {
            Ok(path) if path.is_dir() => self.add_folder(&path),
            Ok(path) if !path.is_file() => self.fail(given, NOT_A_FILE.to_owned()),
            Ok(path) => match format_of(&path) {
                Some(format) => {
                    let base = path.parent().unwrap_or(&path).to_owned();
                    self.take(path, format, &base);
                }
                None => self.fail(given, unsupported(&path)),
            },
            Err(error) => self.fail(given, error.to_string()),
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        let base = folder.parent().unwrap_or(folder);
        // The user's global git settings must not decide what goes into a shared knowledge base.
        let walk = WalkBuilder::new(folder)
            .git_global(false)
            .git_exclude(false)
            .sort_by_file_name(OsStr::cmp)
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) if entry.path_is_symlink() => self.skip(entry.path(), "a symbolic link".to_owned()),
                Ok(entry) if !entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    self.skip(entry.path(), NOT_A_FILE.to_owned());
                }
                Ok(entry) => match format_of(entry.path()) {
                    Some(format) => self.take(entry.into_path(), format, base),
                    None => self.skip(entry.path(), unsupported(entry.path())),
                },
                Err(error) => self.fail(folder, error.to_string()),
            }
        }
    }

    fn take(&mut self, path: PathBuf, format: Format, base: &Path) {
        let below = path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(base)).unwrap_or(&path);
        let Some(source) = source_key(below) else {
            return self.fail(&path, "the file name is not valid Unicode".to_owned());
        };
        match self.taken.get(&source) {
            Some(other) if *other == path => {}
            Some(other) => {
                let reason = format!(
                    "would have the same name, {source}, as {}; use --root with a folder above both",
                    other.display()
                );
                self.fail(&path, reason);
            }
            None => {
                self.taken.insert(source.clone(), path.clone());
                self.found.files.push(SourceFile { path, source, format });
            }
        }
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.found.skipped.push(Rejected { path: path.to_owned(), reason });
    }

    fn fail(&mut self, path: &Path, reason: String) {
        self.found.failed.push(Rejected { path: path.to_owned(), reason });
    }
}

/// Absolute, without links in the folders; a linked file keeps the name it was given under.
fn resolve(given: &Path) -> std::io::Result<PathBuf> {
    let target = given.canonicalize()?;
    match (given.parent(), given.file_name()) {
        (Some(parent), Some(name)) if target.is_file() => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Ok(parent.canonicalize()?.join(name))
        }
        _ => Ok(target),
    }
}

fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "md" | "markdown" => Some(Format::Markdown),
        "txt" => Some(Format::PlainText),
        _ => None,
    }
}

fn unsupported(path: &Path) -> String {
    match path.extension() {
        Some(extension) => format!("files of type .{} are not supported", extension.to_string_lossy()),
        None => "files without an extension are not supported".to_owned(),
    }
}

fn source_key(below: &Path) -> Option<String> {
    let parts: Option<Vec<_>> = below
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
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

    fn sources(found: &Discovery) -> Vec<&str> {
        found.files.iter().map(|file| file.source.as_str()).collect()
    }

    #[test]
    fn folders_are_read_in_a_fixed_order_without_hidden_and_ignored_files() {
        let folder = folder(&["kb/b.md", "kb/a/z.TXT", "kb/c.markdown", "kb/.hidden.md", "kb/drafts/no.md"]);
        fs::write(folder.path().join("kb/.ignore"), "drafts/").unwrap();
        let found = discover(&[folder.path().join("kb")], folder.path()).unwrap();
        assert_eq!(sources(&found), ["kb/a/z.TXT", "kb/b.md", "kb/c.markdown"]);
        assert!(found.failed.is_empty() && found.skipped.is_empty());
    }

    #[test]
    fn pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let found = discover(&[folder.path().to_owned()], folder.path()).unwrap();
        assert_eq!((found.files.len(), found.skipped.len()), (0, 1));
        let found = discover(&[pipe], folder.path()).unwrap();
        assert_eq!((found.files.len(), found.failed.len()), (0, 1));
    }

    #[test]
    fn other_types_are_skipped_in_a_folder_and_fail_when_named() {
        let folder = folder(&["kb/a.pdf", "kb/LICENSE"]);
        let found =
            discover(&[folder.path().join("kb"), folder.path().join("kb/a.pdf")], folder.path()).unwrap();
        assert_eq!(found.skipped.len(), 2);
        assert_eq!(found.failed.len(), 1);
        assert_eq!(found.failed[0].reason, "files of type .pdf are not supported");
    }

    #[test]
    fn outside_the_root_a_source_is_relative_to_the_parent_of_the_path_given() {
        let (root, outside) = (folder(&[]), folder(&["docs/sub/a.md", "b.md"]));
        let found =
            discover(&[outside.path().join("docs"), outside.path().join("b.md")], root.path()).unwrap();
        assert_eq!(sources(&found), ["docs/sub/a.md", "b.md"]);
    }

    #[test]
    fn a_file_given_twice_is_taken_once() {
        let folder = folder(&["kb/a.md"]);
        let twice = folder.path().join("kb/../kb/a.md");
        let found = discover(&[folder.path().join("kb"), twice], folder.path()).unwrap();
        assert_eq!(sources(&found), ["kb/a.md"]);
        assert!(found.failed.is_empty());
    }

    #[test]
    fn two_files_with_one_name_are_an_error_for_the_second() {
        let (root, outside) = (folder(&[]), folder(&["x/a.md", "y/a.md"]));
        let found =
            discover(&[outside.path().join("x/a.md"), outside.path().join("y/a.md")], root.path()).unwrap();
        assert_eq!(sources(&found), ["a.md"]);
        assert!(found.failed[0].reason.contains("--root"));
    }

    #[test]
    fn a_path_that_does_not_exist_fails_and_the_rest_goes_on() {
        let folder = folder(&["a.md"]);
        let found =
            discover(&[folder.path().join("none.md"), folder.path().join("a.md")], folder.path()).unwrap();
        assert_eq!(found.failed.len(), 1);
        assert_eq!(sources(&found), ["a.md"]);
    }
}
