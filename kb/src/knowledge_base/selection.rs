//! Finds documents by the names that people type.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::StoredDocument;
use crate::output::{counted, printable};

/// Maximum number of documents that an error lists.
const MAX_SHOWN_SOURCES: usize = 10;

/// How exact a name must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// The id, the source, or the part of the source after a slash: for commands that change something.
    PathEnd,
    /// Also any part of the source.
    Part,
}

/// Why a name does not identify one document.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// No document has this name.
    #[error("there is no document {}; `kb list` shows all documents{}", printable(.name), hint(.similar))]
    NotFound {
        name: String,
        /// Sources that contain it.
        similar: Vec<String>,
    },
    #[error("{} matches {}; name one of them:{}", printable(.name), counted(.sources.len() as u64, "document"), lines(.sources))]
    Ambiguous {
        name: String,
        /// The matching sources.
        sources: Vec<String>,
    },
}

fn hint(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!(". It is part of:{}", lines(similar)) }
}

fn lines(sources: &[String]) -> String {
    let mut lines: String =
        sources.iter().take(MAX_SHOWN_SOURCES).map(|source| format!("\n  {}", printable(source))).collect();
    if sources.len() > MAX_SHOWN_SOURCES {
        lines.push_str(&format!("\n  and {} more", sources.len() - MAX_SHOWN_SOURCES));
    }
    lines
}

/// All rows of the one source that `name` identifies: the ready version, a pending one, a note of a failure. An id
/// identifies only its own row.
///
/// # Errors
/// If no source matches, or several do.
pub fn select<'a>(
    documents: &'a [StoredDocument],
    name: &str,
    precision: Precision,
) -> Result<Vec<&'a StoredDocument>, SelectionError> {
    let id = Uuid::parse_str(name).ok();
    if let Some(document) = documents.iter().find(|document| Some(document.id) == id) {
        return Ok(vec![document]);
    }
    let sources: BTreeSet<&str> = documents.iter().map(|document| document.source.as_str()).collect();
    let matching = |is_match: &dyn Fn(&str) -> bool| -> Vec<String> {
        let found = sources.iter().filter(|source| !name.is_empty() && is_match(source));
        found.map(|source| (*source).to_owned()).collect()
    };
    let path_end = format!("/{name}");
    let lower = name.to_lowercase();
    let parts = || matching(&|source| source.to_lowercase().contains(&lower));
    let mut found = matching(&|source| source == name);
    if found.is_empty() {
        found = matching(&|source| source.ends_with(&path_end));
    }
    if found.is_empty() && precision == Precision::Part {
        found = parts();
    }
    match found.as_slice() {
        [source] => Ok(documents.iter().filter(|document| document.source == *source).collect()),
        [] => Err(SelectionError::NotFound { name: name.to_owned(), similar: parts() }),
        _ => Err(SelectionError::Ambiguous { name: name.to_owned(), sources: found }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    fn documents() -> Vec<StoredDocument> {
        let sources = ["kb/a/Guide.md", "kb/b/guide.md", "kb/faq.md", "kb/faq.md", "other/faq.md", "faq.md"];
        let document = |(at, source): (usize, &&str)| StoredDocument {
            id: Uuid::from_u128(at as u128 + 1),
            source: (*source).to_owned(),
            status: Status::Ready,
            enabled: true,
            ..StoredDocument::default()
        };
        sources.iter().enumerate().map(document).collect()
    }

    fn selected(name: &str, precision: Precision) -> Result<Vec<u128>, SelectionError> {
        let documents = documents();
        select(&documents, name, precision).map(|rows| rows.into_iter().map(|row| row.id.as_u128()).collect())
    }

    #[test]
    fn a_document_is_found_by_id_source_or_end_of_path() {
        let select = |name: &str| selected(name, Precision::PathEnd);
        assert_eq!(select(&Uuid::from_u128(4).to_string()), Ok(vec![4]));
        assert_eq!(select("kb/faq.md"), Ok(vec![3, 4]), "every row of the source");
        assert_eq!(select("faq.md"), Ok(vec![6]), "a whole source comes before ends of others");
        assert_eq!(select("Guide.md"), Ok(vec![1]));
    }

    #[test]
    fn a_part_of_a_name_is_not_enough_for_commands_that_change_something() {
        let error = selected("uide.m", Precision::PathEnd).unwrap_err();
        assert!(error.to_string().ends_with("part of:\n  kb/a/Guide.md\n  kb/b/guide.md"), "{error}");
        let error = selected("GUIDE", Precision::Part).unwrap_err();
        assert!(error.to_string().contains("matches 2 documents"), "{error}");
        assert_eq!(selected("b/g", Precision::Part), Ok(vec![2]));
    }

    #[test]
    fn an_empty_name_matches_no_document() {
        for precision in [Precision::Part, Precision::PathEnd] {
            assert!(matches!(selected("", precision), Err(SelectionError::NotFound { .. })));
        }
    }

    #[test]
    fn an_error_escapes_control_characters_and_lists_at_most_ten_documents() {
        let documents: Vec<_> = (0..99)
            .map(|at| StoredDocument { source: format!("kb/\u{1b}{at}"), ..documents().remove(0) })
            .collect();
        let error = select(&documents, "\u{1b}", Precision::Part).unwrap_err().to_string();
        assert!(!error.contains('\u{1b}') && error.ends_with("and 89 more"), "{error}");
    }
}
