//! The sets of questions that are measured or fitted to, and their documents.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xtask::paths;

use crate::evaluation::REMEDY;

/// Sets that nothing may be fitted to: the licence of govuk allows research only, and shop is held out to show whether what
/// was fitted to other sets generalises.
const MEASURE_ONLY: [&str; 2] = ["govuk", "shop"];

/// The prefix of the names of means over the sets, which no set may have as its name.
pub(super) const MACRO: &str = "macro";

/// A folder of questions and their documents.
#[derive(Debug, PartialEq)]
pub(super) struct Set {
    /// The name of the folder.
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

impl Set {
    /// # Errors
    /// If the folder has neither `passages.jsonl` nor `set.json`.
    fn open(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder).with_context(|| format!("no folder {}", folder.display()))?;
        ensure!(
            is_set(&folder),
            "{} has neither passages.jsonl nor set.json; `cargo xtask bench retrieval --help` describes a set",
            folder.display()
        );
        let name =
            folder.file_name().context("the folder of a set has no name")?.to_string_lossy().into_owned();
        Ok(Self { name, folder })
    }

    /// The folder to sync: one that the set names, or its passages, written to `work` as documents.
    pub(super) fn documents(&self, work: &Path) -> Result<PathBuf> {
        let description = self.folder.join("set.json");
        if !description.is_file() {
            let documents = work.join("documents");
            write_documents(&self.folder.join("passages.jsonl"), &documents)?;
            return Ok(documents);
        }
        let read = || -> Result<PathBuf> {
            let set: Value = serde_json::from_str(&fs::read_to_string(&description)?)?;
            let documents = self.folder.join(set["documents"].as_str().context("it names no documents")?);
            fs::canonicalize(&documents).with_context(|| format!("no folder {}", documents.display()))
        };
        read().with_context(|| format!("cannot use {}", description.display()))
    }
}

/// The sets in these folders.
pub(super) fn open_all(folders: &[PathBuf]) -> Result<Vec<Set>> {
    let sets = folders.iter().map(|folder| Set::open(folder)).collect::<Result<Vec<_>>>()?;
    ensure!(
        sets.iter().all(|set| set.name != MACRO),
        "a set cannot be named {MACRO}, which is the name of the mean over all sets"
    );
    for (number, set) in sets.iter().enumerate() {
        let twin = sets.iter().take(number).find(|other| key(&other.name) == key(&set.name));
        ensure!(twin.is_none(), "two sets are named {}: their figures would have the same names", set.name);
    }
    Ok(sets)
}

/// The set that this repository measures with, and those in `eval_dir`.
pub(super) fn default_sets(eval_dir: Option<&Path>) -> Result<Vec<Set>> {
    let mut others = Vec::new();
    if let Some(dir) = eval_dir {
        for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
            others.push(entry?.path());
        }
        others.retain(|folder| is_set(folder));
        ensure!(!others.is_empty(), "{} contains no set", dir.display());
        others.sort();
    }
    let folders: Vec<_> = [paths::repo().join("bench/retrieval/shop")].into_iter().chain(others).collect();
    open_all(&folders)
}

/// Sets to fit to, and sets that are only reported on.
///
/// # Errors
/// If there are no sets to fit to, or one of them is for measuring only.
pub(super) fn to_fit(
    data: &[PathBuf],
    report: &[PathBuf],
    eval_dir: Option<&Path>,
) -> Result<(Vec<Set>, Vec<Set>)> {
    let may_be_fitted = |set: &Set| !MEASURE_ONLY.contains(&set.name.as_str());
    let (fit_to, mut reported) = if data.is_empty() {
        // The constants in the code are fitted to these sets as well; without them they would differ.
        ensure!(eval_dir.is_some(), "no sets to fit to: name them with --data, or {REMEDY}");
        let to_fit = ["library", "devtool"].map(|name| paths::repo().join("bench/retrieval/fit").join(name));
        let all = default_sets(eval_dir)?.into_iter().chain(open_all(&to_fit)?);
        all.partition(may_be_fitted)
    } else {
        (open_all(data)?, Vec::new())
    };
    if let Some(set) = fit_to.iter().find(|set| !may_be_fitted(set)) {
        bail!("{} is for measuring only; name it with --report", set.name);
    }
    if !report.is_empty() {
        reported = open_all(report)?;
    }
    if let Some(set) = fit_to.iter().find(|set| reported.iter().any(|other| other.name == set.name)) {
        bail!("{} is fitted to, so it cannot be reported on as well", set.name);
    }
    ensure!(!fit_to.is_empty(), "no set to fit to; name one with --data");
    Ok((fit_to, reported))
}

/// The prefix of the names of a set's figures.
pub(super) fn key(name: &str) -> String {
    name.replace('-', "_")
}

fn is_set(folder: &Path) -> bool {
    ["passages.jsonl", "set.json"].iter().any(|file| folder.join(file).is_file())
}

/// Writes passage number `n`, counted from 0, as the document `n.md` with its title as the heading.
fn write_documents(passages: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (number, line) in BufReader::new(File::open(passages)?).lines().enumerate() {
        let write = |line: String| -> Result<()> {
            let document = document(&serde_json::from_str(&line)?)?;
            fs::write(folder.join(format!("{number}.md")), document).context("cannot write its document")
        };
        write(line?).with_context(|| format!("{}, line {}", passages.display(), number + 1))?;
    }
    Ok(())
}

/// A passage as a Markdown document, with its language in the front matter if the passage has one.
fn document(passage: &Value) -> Result<String> {
    let field = |name: &str| passage[name].as_str().with_context(|| format!("it has no {name}"));
    let front_matter = match &passage["language"] {
        Value::Null => String::new(),
        language => {
            let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            let language = language.as_str().filter(|name| !name.is_empty() && name.chars().all(is_name));
            format!("---\nlanguage: {}\n---\n\n", language.context("its language is not a name or code")?)
        }
    };
    Ok(format!("{front_matter}# {}\n\n{}\n", field("title")?, field("text")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A new, empty folder.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("bench-sets-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::canonicalize(&folder).unwrap()
    }

    fn file(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_document_states_the_language_of_its_passage() {
        let arabic = json!({ "title": "النورمان", "text": "نص", "language": "ar" });
        assert_eq!(document(&arabic).unwrap(), "---\nlanguage: ar\n---\n\n# النورمان\n\nنص\n");
        let silent = json!({ "title": "Fees", "text": "None." });
        assert_eq!(document(&silent).unwrap(), "# Fees\n\nNone.\n");
        let wrong = json!({ "title": "Fees", "text": "None.", "language": "de\naudience: x" });
        assert!(document(&wrong).is_err());
    }

    #[test]
    fn passages_become_documents_by_number() {
        let folder = folder("passages");
        file(
            folder.join("faq/passages.jsonl"),
            "{\"title\":\"A\",\"text\":\"One.\"}\n{\"title\":\"B\",\"text\":\"Two.\",\"language\":\"de\"}\n",
        );
        let documents = Set::open(&folder.join("faq")).unwrap().documents(&folder.join("work")).unwrap();
        assert_eq!(fs::read_to_string(documents.join("0.md")).unwrap(), "# A\n\nOne.\n");
        assert!(fs::read_to_string(documents.join("1.md")).unwrap().starts_with("---\nlanguage: de\n---\n"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn documents_in_set_json_are_relative_to_the_set() {
        let folder = folder("files");
        file(folder.join("docs/refunds.md"), "Refunds.");
        file(folder.join("tests/shop/set.json"), r#"{"documents":"../../docs"}"#);
        file(folder.join("tests/lost/set.json"), r#"{"documents":"../../dogs"}"#);
        let documents =
            |set: &str| Set::open(&folder.join("tests").join(set)).unwrap().documents(&folder.join("work"));
        assert_eq!(documents("shop").unwrap(), folder.join("docs"));
        assert!(format!("{:#}", documents("lost").unwrap_err()).contains("dogs"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn sets_whose_figures_would_share_names_are_rejected() {
        let folder = folder("twins");
        for set in ["a/xquad-de", "b/xquad_de"] {
            file(folder.join(set).join("passages.jsonl"), "");
        }
        let sets = |names: &[&str]| open_all(&names.iter().map(|name| folder.join(name)).collect::<Vec<_>>());
        assert_eq!(sets(&["a/xquad-de"]).unwrap()[0].name, "xquad-de");
        assert!(sets(&["a/xquad-de", "b/xquad_de"]).is_err());
        assert!(sets(&["a"]).is_err(), "no set at all");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_is_fitted_to_a_set_that_is_for_measuring_only() {
        let folder = folder("fit");
        for set in ["govuk", "squad"] {
            file(folder.join(set).join("passages.jsonl"), "");
        }
        let (govuk, squad) = ([folder.join("govuk")], [folder.join("squad")]);
        assert!(to_fit(&govuk, &[], None).unwrap_err().to_string().contains("--report"));
        assert!(to_fit(&squad, &squad, None).is_err(), "fitted to and reported on");
        let (fit_to, reported) = to_fit(&squad, &govuk, None).unwrap();
        assert_eq!((fit_to[0].name.as_str(), reported[0].name.as_str()), ("squad", "govuk"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn sets_outside_the_repository_are_measured_only_where_they_are_named() {
        let folder = folder("eval-dir");
        assert!(default_sets(Some(&folder)).is_err(), "a folder without a set");
        file(folder.join("squad/passages.jsonl"), "");
        file(folder.join("stsb-en-test.csv"), "");
        let names = |sets: Vec<Set>| sets.into_iter().map(|set| set.name).collect::<Vec<_>>();
        assert_eq!(names(default_sets(Some(&folder)).unwrap()), ["shop", "squad"]);
        assert_eq!(names(default_sets(None).unwrap()), ["shop"]);
        let error = to_fit(&[], &[], None).unwrap_err().to_string();
        assert!(error.contains("EVIDENCE_CHAT_EVAL_DIR") && error.contains("--data"), "{error}");
        let (fit_to, reported) = to_fit(&[], &[], Some(&folder)).unwrap();
        assert_eq!(
            (names(fit_to), names(reported)),
            (["squad", "library", "devtool"].map(String::from).into(), vec!["shop".to_owned()])
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
