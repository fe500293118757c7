//! Which sets are measured, and what documents each is about.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xtask::paths;

use super::figures::MACRO;

/// Sets that nothing may be fitted to: the licence of govuk allows research only, and shop is kept to tell whether what was
/// fitted to other sets holds.
const MEASURE_ONLY: [&str; 2] = ["govuk", "shop"];

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
    fn of(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder)
            .with_context(|| format!("--data {}: no such folder", folder.display()))?;
        ensure!(
            is_set(&folder),
            "{} has neither passages.jsonl nor set.json; name a folder of evaluation data with --data",
            folder.display()
        );
        let name =
            folder.file_name().context("the folder of a set has no name")?.to_string_lossy().into_owned();
        Ok(Self { name, folder })
    }

    /// The folder that is synced: one of the set, or passages written to `work` as documents.
    pub(super) fn documents(&self, work: &Path) -> Result<PathBuf> {
        let description = self.folder.join("set.json");
        if !description.is_file() {
            let documents = work.join("documents");
            write_documents(&self.folder.join("passages.jsonl"), &documents)?;
            return Ok(documents);
        }
        let read = || -> Result<PathBuf> {
            let set: Value = serde_json::from_str(&fs::read_to_string(&description)?)?;
            let documents = self.folder.join(set["documents"].as_str().context("it has no documents")?);
            fs::canonicalize(&documents).with_context(|| format!("no folder {}", documents.display()))
        };
        read().with_context(|| format!("cannot use {}", description.display()))
    }
}

/// The sets of these folders.
pub(super) fn of_folders(folders: &[PathBuf]) -> Result<Vec<Set>> {
    let sets = folders.iter().map(|folder| Set::of(folder)).collect::<Result<Vec<_>>>()?;
    ensure!(
        sets.iter().all(|set| set.name != MACRO),
        "no set may be called {MACRO}: the mean over all sets is"
    );
    for (number, set) in sets.iter().enumerate() {
        let twin = sets.iter().take(number).find(|other| key(&other.name) == key(&set.name));
        ensure!(twin.is_none(), "two sets are called {}: their figures would be too", set.name);
    }
    Ok(sets)
}

/// The set of this repository and those of `../shared/eval`, as far as they are there.
pub(super) fn by_default() -> Result<Vec<Set>> {
    let ours = [paths::repo().join("bench/retrieval/shop")].into_iter().filter(|folder| is_set(folder));
    let shared = paths::repo().with_file_name("shared").join("eval");
    let mut others = Vec::new();
    if shared.is_dir() {
        for entry in fs::read_dir(&shared).with_context(|| format!("cannot list {}", shared.display()))? {
            others.push(entry?.path());
        }
    }
    others.retain(|folder| is_set(folder));
    others.sort();
    let folders: Vec<_> = ours.chain(others).collect();
    ensure!(!folders.is_empty(), "there is no set; name a folder of evaluation data with --data");
    of_folders(&folders)
}

/// Sets to fit to, and sets that are reported on only.
///
/// # Errors
/// If something would be fitted to a set that is for measuring only.
pub(super) fn to_fit(data: &[PathBuf], report: &[PathBuf]) -> Result<(Vec<Set>, Vec<Set>)> {
    let may_be_fitted = |set: &Set| !MEASURE_ONLY.contains(&set.name.as_str());
    let (fit_to, mut reported) = if data.is_empty() {
        let to_fit = ["library", "devtool"].map(|name| paths::repo().join("bench/retrieval/fit").join(name));
        let all = by_default()?.into_iter().chain(of_folders(&to_fit)?);
        all.partition(may_be_fitted)
    } else {
        (of_folders(data)?, Vec::new())
    };
    if let Some(set) = fit_to.iter().find(|set| !may_be_fitted(set)) {
        bail!("{} is for measuring only; name it with --report", set.name);
    }
    if !report.is_empty() {
        reported = of_folders(report)?;
    }
    if let Some(set) = fit_to.iter().find(|set| reported.iter().any(|other| other.name == set.name)) {
        bail!("{} is fitted to: it cannot be reported on as well", set.name);
    }
    ensure!(!fit_to.is_empty(), "there is no set to fit to; name one with --data");
    Ok((fit_to, reported))
}

/// What the figures of a set begin with.
pub(super) fn key(name: &str) -> String {
    name.replace('-', "_")
}

fn is_set(folder: &Path) -> bool {
    ["passages.jsonl", "set.json"].iter().any(|file| folder.join(file).is_file())
}

/// Passage number `n`, from 0, becomes the document `n.md` under its title.
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

/// A passage as a document in Markdown, which states its language if the passage does.
fn document(passage: &Value) -> Result<String> {
    let field = |name: &str| passage[name].as_str().with_context(|| format!("it has no {name}"));
    let front_matter = match &passage["language"] {
        Value::Null => String::new(),
        language => {
            let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            let language = language.as_str().filter(|name| !name.is_empty() && name.chars().all(is_name));
            format!("---\nlanguage: {}\n---\n\n", language.context("its language is no name of one")?)
        }
    };
    Ok(format!("{front_matter}# {}\n\n{}\n", field("title")?, field("text")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An empty folder of its own.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-sets-{}-{name}", std::process::id()));
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
        let documents = Set::of(&folder.join("faq")).unwrap().documents(&folder.join("work")).unwrap();
        assert_eq!(fs::read_to_string(documents.join("0.md")).unwrap(), "# A\n\nOne.\n");
        assert!(fs::read_to_string(documents.join("1.md")).unwrap().starts_with("---\nlanguage: de\n---\n"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn documents_of_set_json_are_found_from_the_set() {
        let folder = folder("files");
        file(folder.join("docs/refunds.md"), "Refunds.");
        file(folder.join("tests/shop/set.json"), r#"{"documents":"../../docs"}"#);
        file(folder.join("tests/lost/set.json"), r#"{"documents":"../../dogs"}"#);
        let documents =
            |set: &str| Set::of(&folder.join("tests").join(set)).unwrap().documents(&folder.join("work"));
        assert_eq!(documents("shop").unwrap(), folder.join("docs"));
        assert!(format!("{:#}", documents("lost").unwrap_err()).contains("dogs"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn sets_whose_figures_would_share_names_are_refused() {
        let folder = folder("twins");
        for set in ["a/xquad-de", "b/xquad_de"] {
            file(folder.join(set).join("passages.jsonl"), "");
        }
        let sets =
            |names: &[&str]| of_folders(&names.iter().map(|name| folder.join(name)).collect::<Vec<_>>());
        assert_eq!(sets(&["a/xquad-de"]).unwrap()[0].name, "xquad-de");
        assert!(sets(&["a/xquad-de", "b/xquad_de"]).is_err());
        assert!(sets(&["a"]).is_err(), "no set at all");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_is_fitted_to_a_set_for_measuring_only() {
        let folder = folder("fit");
        for set in ["govuk", "squad"] {
            file(folder.join(set).join("passages.jsonl"), "");
        }
        let (govuk, squad) = ([folder.join("govuk")], [folder.join("squad")]);
        assert!(to_fit(&govuk, &[]).unwrap_err().to_string().contains("--report"));
        assert!(to_fit(&squad, &squad).is_err(), "fitted to and reported on");
        let (fit_to, reported) = to_fit(&squad, &govuk).unwrap();
        assert_eq!((fit_to[0].name.as_str(), reported[0].name.as_str()), ("squad", "govuk"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
