//! Search without an answer: the passages that fit a text which may still be typed. Results are places to look, not answers, so
//! only the first check of an answer applies to them.

use serde::Serialize;
use serde_json::Value;

use crate::answer::{Quote, best_quote};
use crate::assistant::AssistantName;
use crate::chunk::MatchedChunk;
use crate::error::ApiError;
use crate::evidence::{EvidenceThresholds, assess_all, query_terms, ranked};
use crate::fields::{Fields, model};
use crate::found::FoundPassage;
use crate::limits::MAX_RESULTS;
use crate::question::Question;
use crate::request::{Previous, assistant, embedding, previous, text};

/// Results of a search, unless the client asks for fewer or more.
pub const DEFAULT_RESULTS: usize = 5;
/// Minimum cosine of a result, or of one of its sentences: less than evidence needs, because half a question is less similar to its
/// passage than the whole. At 70 % of the characters, 77 % of the sample questions find their page with 0.3, and 68 % with 0.35.
pub const MIN_SIMILARITY: f64 = 0.3;
/// Passages that are searched for each result: a section gets one result, and some passages are below the threshold.
const PASSAGES_PER_RESULT: usize = 2;

/// The fields of a body.
const FIELDS: &[&str] = &["embedding", "query", "model", "assistant", "limit", "statements", "previous"];

/// The body of `POST /api/search`.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// The text's vector: 384 numbers of unit length.
    pub embedding: Vec<f32>,
    /// The text, trimmed, never empty.
    pub query: String,
    /// The fingerprint of the model that made the vector.
    pub model: String,
    /// The assistant whose documents are searched.
    pub assistant: AssistantName,
    /// The results or the statements.
    pub wanted: Wanted,
}

/// The result that a client wants of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Places to look.
    Results {
        /// The most results, from 1 to [`MAX_RESULTS`].
        limit: usize,
    },
    /// The passages that the reader should read before the text is sent as a question.
    Statements {
        /// The question before it, which it may lean on.
        previous: Option<Previous>,
    },
}

/// The response to a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResults {
    /// Best first, at most one for each section of a document.
    pub results: Vec<SearchResult>,
}

/// A passage, and the words in it that fit best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResult {
    /// The passage, without its layout.
    #[serde(flatten)]
    pub passage: FoundPassage,
    /// The best sentence, alone.
    pub quotes: Vec<Quote>,
}

impl SearchRequest {
    /// Parses and checks a request body.
    ///
    /// # Errors
    /// If a field is missing or out of range; the message says what to change.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let mut fields = Fields::parse(body, FIELDS)?;
        Ok(Self {
            embedding: embedding(&fields.required("embedding")?, "embedding")?,
            query: text(&fields.required("query")?, "query")?,
            model: model(fields.required("model")?, "model")?,
            assistant: assistant(fields.take("assistant"))?,
            wanted: wanted(&mut fields)?,
        })
    }
}

fn wanted(fields: &mut Fields) -> Result<Wanted, ApiError> {
    match (fields.flag("statements", false)?, fields.take("limit"), fields.take("previous")) {
        (true, None, before) => Ok(Wanted::Statements { previous: before.map(previous).transpose()? }),
        (true, Some(_), _) => Err(ApiError::invalid_request(
            "limit must be missing if statements is true: the passages are those of the answer",
        )),
        (false, _, Some(_)) => {
            Err(ApiError::invalid_request("previous must be missing unless statements is true"))
        }
        (false, number, None) => {
            let limit = number.map_or(Ok(DEFAULT_RESULTS), |number| limit(&number))?;
            Ok(Wanted::Results { limit })
        }
    }
}

/// The number of passages to search for, for so many results.
pub fn match_count(limit: usize) -> u32 {
    u32::try_from(limit * PASSAGES_PER_RESULT).unwrap_or(u32::MAX)
}

fn limit(value: &Value) -> Result<usize, ApiError> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| (1..=MAX_RESULTS).contains(number)).ok_or_else(|| {
        ApiError::invalid_request(format!("limit must be a whole number from 1 to {MAX_RESULTS}"))
    })
}

impl SearchResults {
    /// Chooses the results among the rows of a search: passages that reach [`MIN_SIMILARITY`], or what evidence needs if that is
    /// less. The confidence, which says whether passages *answer* a question, does not count.
    pub fn new(query: &str, limit: usize, rows: &[MatchedChunk], thresholds: &EvidenceThresholds) -> Self {
        let passages = ranked(rows);
        let question = Question::new(query, query_terms(rows), &passages);
        let similarity = thresholds.similarity.min(MIN_SIMILARITY);
        let thresholds = EvidenceThresholds { similarity, ..*thresholds };
        let assessment = assess_all(&question, &passages, &thresholds);
        let mut results: Vec<SearchResult> = Vec::with_capacity(limit);
        for (passage, _) in passages.iter().zip(&assessment.passages).filter(|(_, passage)| passage.qualifies)
        {
            if results.len() == limit {
                break;
            }
            let found = FoundPassage { blocks: None, ..FoundPassage::new(passage.chunk) };
            if results.iter().any(|other| other.passage.is_same_place(&found)) {
                continue;
            }
            let quote = best_quote(&question, passage);
            results.extend(quote.map(|quote| SearchResult { passage: found, quotes: vec![quote] }));
        }
        Self { results }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::{chunk, list};
    use crate::evidence::Background;
    use proptest::prelude::*;
    use serde_json::json;

    fn body() -> Value {
        let mut vector = vec![0.0; 384];
        vector[0] = 1.0;
        json!({ "embedding": vector, "query": " refunds ", "model": "m" })
    }

    fn parse(body: &Value) -> Result<SearchRequest, ApiError> {
        SearchRequest::parse(body.to_string().as_bytes())
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = body();
        body[field] = value;
        body
    }

    fn search(query: &str, limit: usize, rows: &[MatchedChunk]) -> Vec<SearchResult> {
        let thresholds =
            EvidenceThresholds { similarity: 0.35, confidence: 1.0, background: Background::default() };
        SearchResults::new(query, limit, rows, &thresholds).results
    }

    #[test]
    fn a_minimal_request_is_accepted_and_trimmed() {
        let request = parse(&body()).unwrap();
        assert_eq!((request.query.as_str(), request.wanted), ("refunds", Wanted::Results { limit: 5 }));
        assert!(request.assistant.is_default());
        for field in ["embedding", "query", "model"] {
            assert_eq!(parse(&with(field, Value::Null)).unwrap_err().message, format!("{field} is missing"));
        }
    }

    #[test]
    fn the_limit_is_a_whole_number_within_its_range() {
        for limit in [1, 10] {
            assert_eq!(parse(&with("limit", json!(limit))).unwrap().wanted, Wanted::Results { limit });
        }
        for wrong in [json!(0), json!(11), json!(-1), json!(1.5), json!("5"), json!(u64::MAX), json!([5])] {
            let message = parse(&with("limit", wrong)).unwrap_err().message;
            assert_eq!(message, "limit must be a whole number from 1 to 10");
        }
    }

    #[test]
    fn the_passages_of_the_answer_are_wanted_with_or_without_the_question_before() {
        let statements = |field: &str, value: Value| {
            let mut body = with("statements", json!(true));
            body[field] = value;
            parse(&body)
        };
        let wanted = Wanted::Statements { previous: None };
        assert_eq!(statements("previous", Value::Null).unwrap().wanted, wanted);
        let before = json!({ "message": " How long? ", "embedding": body()["embedding"] });
        let Wanted::Statements { previous: Some(previous) } =
            statements("previous", before.clone()).unwrap().wanted
        else {
            panic!("the question before")
        };
        assert_eq!(previous.message, "How long?");
        let message = |result: Result<SearchRequest, ApiError>| result.unwrap_err().message;
        assert!(message(statements("limit", json!(5))).starts_with("limit must be missing if statements"));
        assert!(message(parse(&with("previous", before))).starts_with("previous must be missing unless"));
        assert!(message(statements("previous", json!(1))).starts_with("previous must be an object"));
        for wrong in [json!("true"), json!(1), json!([])] {
            assert_eq!(message(parse(&with("statements", wrong))), "statements must be true or false");
        }
        let results = Wanted::Results { limit: 5 };
        assert_eq!(parse(&with("statements", json!(false))).unwrap().wanted, results);
    }

    #[test]
    fn errors_name_the_field_query() {
        for (wrong, message) in [
            (json!(" "), "query is empty: type a question"),
            (json!(1), "query must be a string"),
            (json!("x".repeat(4001)), "query must have at most 4000 characters, got 4001"),
            (json!("a\0b"), "query must not contain the character U+0000"),
        ] {
            assert_eq!(parse(&with("query", wrong)).unwrap_err().message, message);
        }
    }

    #[test]
    fn a_result_has_the_best_sentence_of_its_passage_with_offsets() {
        let content = "👩‍👧 Our shop opened in 1990. You can cancel an order within 24 hours.";
        let results = search("cancel order", 5, &[chunk(1, 1, 0.6, content)]);
        let quote = &results[0].quotes[0];
        let units: Vec<u16> = content.encode_utf16().collect();
        assert_eq!(String::from_utf16(&units[quote.start..quote.end]).unwrap(), quote.text);
        assert_eq!((quote.text.as_str(), &quote.plain), ("You can cancel an order within 24 hours.", &None));
        assert_eq!(results[0].passage.excerpt, content);
    }

    #[test]
    fn a_list_item_follows_the_line_that_introduces_its_list() {
        let mut row = list(1, 0.6, "You may return:", &["shoes", "tea"]);
        row.sentences[1].similarity = 0.9;
        let result = &search("beverage", 5, &[row])[0];
        assert_eq!(result.quotes[0].plain.as_deref(), Some("You may return: tea"));
    }

    #[test]
    fn passages_below_the_threshold_are_left_out_and_the_confidence_does_not_count() {
        let mut by_sentence = chunk(3, 3, 0.2, "Refunds are quick.");
        by_sentence.sentences[0].similarity = 0.3;
        let rows = [chunk(1, 1, 0.3, "Alpha."), chunk(2, 2, 0.299, "Refunds are fast."), by_sentence];
        let found: Vec<_> =
            search("whence", 5, &rows).iter().map(|result| result.passage.chunk_id.as_u128()).collect();
        assert_eq!(found, [1, 3]);
        assert!(search("whence", 5, &[]).is_empty());
    }

    #[test]
    fn a_lower_threshold_of_the_site_applies_to_results_too() {
        let found = |similarity: f64| {
            let thresholds = EvidenceThresholds { similarity, ..EvidenceThresholds::default() };
            SearchResults::new("refunds", 5, &[chunk(1, 1, 0.25, "Alpha.")], &thresholds).results.len()
        };
        assert_eq!((found(0.2), found(0.5)), (1, 0));
    }

    #[test]
    fn a_section_has_one_result_and_the_limit_is_kept() {
        let section = |document, id, similarity, section: &str| {
            let mut row = chunk(document, id, similarity, "Refunds are fast.");
            row.meta = json!({ "section": section });
            row
        };
        let rows = [
            section(1, 1, 0.9, "Fees"),
            section(1, 2, 0.8, "Fees"),
            section(1, 3, 0.7, "Time"),
            section(2, 4, 0.6, "Fees"),
        ];
        let found = |limit| {
            let results = search("refunds", limit, &rows);
            results.iter().map(|result| result.passage.chunk_id.as_u128()).collect::<Vec<_>>()
        };
        assert_eq!(found(5), [1, 3, 4]);
        assert_eq!(found(2), [1, 3]);
    }

    #[test]
    fn a_passage_without_words_to_quote_is_no_result() {
        assert!(search("refunds", 5, &[chunk(1, 1, 0.9, "* * *")]).is_empty());
    }

    proptest! {
        #[test]
        fn quotes_are_always_words_of_the_excerpt(content in "\\PC{0,200}", query in "\\PC{1,40}") {
            prop_assume!(!query.trim().is_empty());
            for result in search(&query, 10, &[chunk(1, 1, 0.9, &content)]) {
                let units: Vec<u16> = result.passage.excerpt.encode_utf16().collect();
                for quote in &result.quotes {
                    prop_assert_eq!(String::from_utf16(&units[quote.start..quote.end]).unwrap(), quote.text.clone());
                }
            }
        }
    }
}
