//! A set: a folder of questions with their accepted answers.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::quoted::contains_any;

/// The questions of a folder.
pub(crate) struct Dataset {
    /// The name of the folder.
    pub(crate) name: String,
    /// Questions that one or more documents answer.
    pub(crate) answerable: Vec<Question>,
    /// Questions written to look answerable, which no document answers.
    pub(crate) near: Vec<Question>,
    /// Questions about something else.
    pub(crate) off_topic: Vec<Question>,
    /// The second questions of labelled dialogues.
    pub(crate) dialogues: Vec<Question>,
}

/// A question and its answers. Documents and answers are empty if it is unanswerable.
#[derive(Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) question: String,
    /// File names of the documents that answer it.
    pub(crate) documents: Vec<String>,
    /// Accepted answers, each quoted from a document.
    pub(crate) answers: Vec<String>,
    /// What was asked before it; `None` only in a set of one question.
    pub(crate) turn: Option<Turn>,
}

/// The place of a question in a dialogue.
#[derive(Debug, PartialEq)]
pub(crate) struct Turn {
    /// The question before it.
    pub(crate) previous: String,
    pub(crate) kind: TurnKind,
    /// The question in words that need no question before it, if it is a follow-up.
    pub(crate) rewrite: Option<String>,
}

/// How a second question relates to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnKind {
    /// A follow-up with a pronoun: "How long is it valid?".
    Pronoun,
    /// A follow-up that leaves words out: "For how long?".
    Ellipsis,
    /// The question before it about something else: "And for Switzerland?".
    Substitution,
    /// A comparison with the answer before it: "Is the larger one faster?".
    Comparison,
    /// Stands alone, about the same subject.
    SameTopic,
    /// Stands alone, about something else.
    NewTopic,
    /// Says or asks nothing that a document could answer: thanks, a greeting, small talk.
    Aside,
    /// Stands alone: a question of another file of the set, after any answerable question.
    Unrelated,
}

impl TurnKind {
    /// Whether the question cannot be understood without the one before it.
    pub(crate) fn is_follow_up(self) -> bool {
        matches!(self, Self::Pronoun | Self::Ellipsis | Self::Substitution | Self::Comparison)
    }
}

/// The file `set.json` of a set whose documents are files.
#[derive(Deserialize)]
struct Description {
    /// The folder of the documents, relative to the set.
    documents: PathBuf,
}

#[derive(Deserialize)]
struct Passage {
    id: String,
    text: String,
}

/// A line of `answerable.jsonl`.
#[derive(Deserialize)]
struct Answerable {
    question: String,
    /// Id of the passage, or path of the document, that answers it.
    passage: String,
    /// Others that also answer it.
    #[serde(default)]
    also: Vec<String>,
    answers: Vec<String>,
}

/// A line of `dialogues.jsonl`.
#[derive(Deserialize)]
struct Dialogue {
    previous: String,
    question: String,
    kind: TurnKind,
    /// Absent if no document answers the question.
    passage: Option<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    answers: Vec<String>,
    rewrite: Option<String>,
}

/// A line of the other files.
#[derive(Deserialize)]
struct Unanswerable {
    question: String,
}

/// The documents of a set.
struct Documents(HashMap<String, Document>);

struct Document {
    /// Its name in the results of `match_chunks`.
    name: String,
    text: String,
}

impl Dataset {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let folder = &fs::canonicalize(folder).with_context(|| format!("no folder {}", folder.display()))?;
        let documents = Documents::open(folder)?;
        let answerable: Vec<Answerable> = lines_if_any(&folder.join("answerable.jsonl"))?;
        let unanswerable = |file| -> Result<Vec<Question>> {
            let lines: Vec<Unanswerable> = lines_if_any(&folder.join(file))?;
            Ok(lines.into_iter().map(|line| Question::unanswerable(line.question)).collect())
        };
        let labelled: Vec<Dialogue> = lines_if_any(&folder.join("dialogues.jsonl"))?;
        let mut set = Self {
            name: folder
                .file_name()
                .context("the folder of a set has no name")?
                .to_string_lossy()
                .into_owned(),
            answerable: answerable
                .into_iter()
                .map(|line| documents.question(line))
                .collect::<Result<_>>()
                .with_context(|| format!("{}/answerable.jsonl", folder.display()))?,
            near: unanswerable("unanswerable_near.jsonl")?,
            off_topic: unanswerable("off_topic.jsonl")?,
            dialogues: labelled
                .into_iter()
                .map(|line| documents.dialogue(line))
                .collect::<Result<_>>()
                .with_context(|| format!("{}/dialogues.jsonl", folder.display()))?,
        };
        set.ask_in_dialogues();
        ensure!(
            !(set.answerable.is_empty()
                && set.near.is_empty()
                && set.off_topic.is_empty()
                && set.dialogues.is_empty()),
            "{} has no questions",
            folder.display()
        );
        Ok(set)
    }

    /// Places each question without a label after an answerable one: every second answerable question after one about the same
    /// document if there is one, all others after one that is far away in the file.
    fn ask_in_dialogues(&mut self) {
        let askable: Vec<_> = self
            .answerable
            .iter()
            .map(|question| (question.question.clone(), question.documents.clone()))
            .collect();
        let count = askable.len();
        let before = |at: usize, distance: usize| askable.get((at + distance) % count.max(1));
        let turn = |previous: &str, kind| Turn { previous: previous.to_owned(), kind, rewrite: None };
        for (at, question) in self.answerable.iter_mut().enumerate() {
            let is_related = |other: &&(String, Vec<String>)| {
                other.0 != question.question && other.1.iter().any(|name| question.documents.contains(name))
            };
            let related = (1..=count).filter_map(|distance| before(at, distance)).find(is_related);
            question.turn = match related {
                Some((previous, _)) if at % 2 == 0 => Some(turn(previous, TurnKind::SameTopic)),
                _ => before(at, count / 2)
                    .filter(|other| other.0 != question.question)
                    .map(|(previous, _)| turn(previous, TurnKind::NewTopic)),
            };
        }
        for (at, question) in self.near.iter_mut().chain(&mut self.off_topic).enumerate() {
            question.turn = before(at, at).map(|(previous, _)| turn(previous, TurnKind::Unrelated));
        }
    }
}

impl Question {
    fn unanswerable(question: String) -> Self {
        Self { question, documents: Vec::new(), answers: Vec::new(), turn: None }
    }
}

impl Documents {
    fn open(folder: &Path) -> Result<Self> {
        let description = folder.join("set.json");
        if description.is_file() {
            let text = fs::read_to_string(&description)?;
            let Description { documents } = serde_json::from_str(&text)
                .with_context(|| format!("cannot read {}", description.display()))?;
            return Self::files(&folder.join(documents));
        }
        // `cargo xtask bench` writes passage number `n`, counted from 0, as the document `n.md`.
        let passages: Vec<Passage> = lines(&folder.join("passages.jsonl"))?;
        let document = |(number, Passage { id, text }): (usize, Passage)| {
            (id, Document { name: format!("{number}.md"), text })
        };
        Ok(Self(passages.into_iter().enumerate().map(document).collect()))
    }

    /// Every file of a folder by its relative path. The search returns only the file name of a document.
    fn files(folder: &Path) -> Result<Self> {
        let mut documents = HashMap::new();
        let mut names = HashSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            let entries = fs::read_dir(&next).with_context(|| format!("cannot list {}", next.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                ensure!(
                    names.insert(name.clone()),
                    "two documents in {} are named {name}: a result would be ambiguous",
                    folder.display()
                );
                let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                let path = path.strip_prefix(folder)?.to_string_lossy().into_owned();
                documents.insert(path, Document { name, text });
            }
        }
        Ok(Self(documents))
    }

    fn question(&self, line: Answerable) -> Result<Question> {
        let Answerable { question, passage, also, answers } = line;
        let find = |id| self.0.get(id).with_context(|| format!("“{question}”: no passage or document {id}"));
        let found = std::iter::once(&passage).chain(&also).map(find).collect::<Result<Vec<_>>>()?;
        if answers.iter().all(|answer| answer.trim().is_empty()) {
            bail!("“{question}” has no accepted answer");
        }
        // Such a question would always be a miss. A document that is not text cannot be checked.
        if !found
            .iter()
            .any(|document| document.text.contains('\u{FFFD}') || contains_any(&document.text, &answers))
        {
            eprintln!("! “{question}”: {passage} contains no accepted answer");
        }
        let documents = found.iter().map(|document| document.name.clone()).collect();
        Ok(Question { question, documents, answers, turn: None })
    }

    fn dialogue(&self, line: Dialogue) -> Result<Question> {
        let Dialogue { previous, question, kind, passage, also, answers, rewrite } = line;
        if kind.is_follow_up() && rewrite.is_none() {
            bail!("“{question}” is a follow-up, so it needs a rewrite");
        }
        let mut question = match passage {
            Some(passage) => self.question(Answerable { question, passage, also, answers })?,
            None => Question::unanswerable(question),
        };
        question.turn = Some(Turn { previous, kind, rewrite });
        Ok(question)
    }
}

fn lines_if_any<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    if file.exists() { lines(file) } else { Ok(Vec::new()) }
}

fn lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new folder with these files, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("bench-retrieval-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = folder.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn read(&self, set: &str) -> Result<Dataset> {
            Dataset::read(&self.0.join(set))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn passage_n_is_the_document_n_md() {
        let folder = Folder::with(
            "passages",
            &[
                ("faq/passages.jsonl", "{\"id\":\"b\",\"text\":\"No.\"}\n{\"id\":\"a\",\"text\":\"Yes.\"}\n"),
                (
                    "faq/answerable.jsonl",
                    r#"{"question":"Why?","passage":"a","also":["b"],"answers":["Yes"]}"#,
                ),
                ("faq/off_topic.jsonl", r#"{"question":"Who?"}"#),
                ("faq/unanswerable_near.jsonl", ""),
            ],
        );
        let set = folder.read("faq").unwrap();
        assert_eq!(set.name, "faq");
        assert_eq!(set.answerable[0].documents, ["1.md", "0.md"]);
        let off_topic: Vec<_> = set.off_topic.iter().map(|question| question.question.as_str()).collect();
        assert_eq!(off_topic, ["Who?"]);
        assert!(set.near.is_empty());
    }

    #[test]
    fn documents_in_set_json_are_identified_by_their_path() {
        let folder = Folder::with(
            "files",
            &[
                ("docs/refunds.md", "Refunds take *5 days*."),
                ("docs/help/shipping.md", "We ship daily."),
                ("tests/shop/set.json", r#"{"documents":"../../docs"}"#),
                (
                    "tests/shop/answerable.jsonl",
                    r#"{"question":"When?","passage":"refunds.md","also":["help/shipping.md"],"answers":["5 days"]}"#,
                ),
            ],
        );
        let set = folder.read("tests/shop").unwrap();
        assert_eq!((set.name.as_str(), set.off_topic.len()), ("shop", 0));
        assert_eq!(set.answerable[0].documents, ["refunds.md", "shipping.md"]);
    }

    #[test]
    fn each_question_follows_another_one_and_labelled_dialogues_are_read() {
        let question = |text: &str, page: &str| {
            format!(r#"{{"question":"{text}","passage":"{page}.md","answers":["days"]}}"#)
        };
        let answerable =
            [question("1?", "a"), question("2?", "b"), question("3?", "a"), question("4?", "c")].join("\n");
        let dialogues = [
            r#"{"previous":"1?","question":"How long?","kind":"ellipsis","rewrite":"How long is 1?","passage":"a.md","answers":["days"]}"#,
            r#"{"previous":"1?","question":"Who?","kind":"pronoun","rewrite":"Who is 1?"}"#,
        ]
        .join("\n");
        let files = |dialogues: &str| {
            Folder::with(
                "dialogues",
                &[
                    ("docs/a.md", "5 days."),
                    ("docs/b.md", "6 days."),
                    ("docs/c.md", "7 days."),
                    ("shop/set.json", r#"{"documents":"../docs"}"#),
                    ("shop/answerable.jsonl", answerable.as_str()),
                    ("shop/off_topic.jsonl", r#"{"question":"5?"}"#),
                    ("shop/dialogues.jsonl", dialogues),
                ],
            )
        };
        let set = files(&dialogues).read("shop").unwrap();
        let turns = |questions: &[Question]| -> Vec<_> {
            let turn = |question: &Question| {
                question.turn.as_ref().map(|turn| (turn.previous.clone(), turn.kind)).unwrap()
            };
            questions.iter().map(turn).collect()
        };
        let expected = |previous: &str, kind| (previous.to_owned(), kind);
        assert_eq!(
            turns(&set.answerable),
            [
                expected("3?", TurnKind::SameTopic),
                expected("4?", TurnKind::NewTopic),
                expected("1?", TurnKind::SameTopic),
                expected("2?", TurnKind::NewTopic),
            ]
        );
        assert_eq!(turns(&set.off_topic), [expected("1?", TurnKind::Unrelated)]);
        assert_eq!(
            turns(&set.dialogues),
            [expected("1?", TurnKind::Ellipsis), expected("1?", TurnKind::Pronoun)]
        );
        assert_eq!((set.dialogues[0].answers.len(), set.dialogues[1].documents.len()), (1, 0));
        let without_rewrite = r#"{"previous":"1?","question":"Who?","kind":"pronoun"}"#;
        let error = format!("{:#}", files(without_rewrite).read("shop").err().unwrap());
        assert!(error.contains("rewrite"), "{error}");
    }

    #[test]
    fn a_question_about_a_missing_document_is_an_error() {
        let folder = Folder::with(
            "missing",
            &[
                ("docs/refunds.md", "Refunds take 5 days."),
                ("shop/set.json", r#"{"documents":"../docs"}"#),
                (
                    "shop/answerable.jsonl",
                    r#"{"question":"When?","passage":"refund.md","answers":["5 days"]}"#,
                ),
            ],
        );
        let error = format!("{:#}", folder.read("shop").err().unwrap());
        assert!(error.contains("no passage or document refund.md"), "{error}");
    }

    #[test]
    fn two_documents_with_the_same_file_name_are_an_error() {
        let folder = Folder::with(
            "twins",
            &[
                ("docs/a/faq.md", "A."),
                ("docs/b/faq.md", "B."),
                ("shop/set.json", r#"{"documents":"../docs"}"#),
                ("shop/off_topic.jsonl", r#"{"question":"When?"}"#),
            ],
        );
        assert!(folder.read("shop").err().unwrap().to_string().contains("faq.md"));
    }
}
