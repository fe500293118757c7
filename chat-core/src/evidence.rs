//! Is there enough evidence to answer?

use crate::chunk::MatchedChunk;
use crate::error::{ApiError, ErrorCode};
use crate::refusal::Reason;

/// What the rows of a search allow.
#[derive(Debug)]
pub enum Decision<'a> {
    /// Answer from these passages, nearest first.
    Answer(Vec<&'a MatchedChunk>),
    /// Say that the evidence is missing or too weak.
    Refuse(Reason),
}

/// Keeps the passages whose similarity reaches the threshold (inclusive). A similarity that is not a number never does.
pub fn decide(rows: &[MatchedChunk], threshold: f64) -> Decision<'_> {
    let mut qualifying: Vec<_> = rows.iter().filter(|row| row.similarity >= threshold).collect();
    if qualifying.is_empty() {
        return Decision::Refuse(Reason::NoMatch);
    }
    qualifying.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    Decision::Answer(qualifying)
}

/// Vectors of different models cannot be compared: refuses to search with one against the other.
pub fn check_model(question_model: Option<&str>, rows: &[MatchedChunk]) -> Result<(), ApiError> {
    let Some(question_model) = question_model else { return Ok(()) };
    let differs = |row: &MatchedChunk| row.model.as_deref().is_some_and(|model| model != question_model);
    if rows.iter().any(differs) {
        return Err(ApiError::new(
            ErrorCode::ModelMismatch,
            "The question was embedded with another model than the knowledge base. Reload the page; if that does not \
             help, ask an admin to run `kb ingest` again.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::chunk;

    const THRESHOLD: f64 = 0.35;

    fn passes(similarity: f64) -> bool {
        matches!(decide(&[chunk(1, 1, similarity, "x")], THRESHOLD), Decision::Answer(_))
    }

    #[test]
    fn the_threshold_is_inclusive() {
        assert!(passes(0.35));
        assert!(passes(0.36));
        assert!(passes(1.0));
        assert!(!passes(0.34));
        assert!(!passes(0.35_f64.next_down()));
        assert!(!passes(-1.0));
    }

    #[test]
    fn a_similarity_that_is_not_a_number_never_passes() {
        assert!(!passes(f64::NAN));
        assert!(matches!(decide(&[chunk(1, 1, f64::NAN, "x")], 0.0), Decision::Refuse(Reason::NoMatch)));
    }

    #[test]
    fn nothing_found_and_nothing_near_enough_are_no_match() {
        assert!(matches!(decide(&[], THRESHOLD), Decision::Refuse(Reason::NoMatch)));
        assert!(matches!(decide(&[chunk(1, 1, 0.2, "x")], THRESHOLD), Decision::Refuse(Reason::NoMatch)));
    }

    #[test]
    fn only_qualifying_passages_are_kept_nearest_first() {
        let rows = [chunk(1, 1, 0.4, "a"), chunk(1, 2, 0.1, "b"), chunk(2, 3, 0.9, "c")];
        let Decision::Answer(kept) = decide(&rows, THRESHOLD) else { panic!("refused") };
        assert_eq!(kept.iter().map(|row| row.content.as_str()).collect::<Vec<_>>(), ["c", "a"]);
    }

    #[test]
    fn another_model_is_an_error_not_a_wrong_search() {
        let rows = [chunk(1, 1, 0.9, "x")];
        assert!(check_model(Some("minilm-1"), &rows).is_ok());
        assert!(check_model(None, &rows).is_ok());
        assert_eq!(check_model(Some("minilm-2"), &rows).unwrap_err().code, ErrorCode::ModelMismatch);
        assert!(check_model(Some("minilm-2"), &[]).is_ok());
    }
}
