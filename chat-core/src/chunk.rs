//! A row of `match_chunks`: one passage of the knowledge base and its similarity to the question.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::limits::{
    MAX_CONTENT_TYPE_BYTES, MAX_NAME_CHARS, MAX_PASSAGE_BYTES, MAX_PASSAGE_JSON_BYTES, MAX_SECTION_BYTES,
    MAX_SECTION_JSON_BYTES, MAX_URL_BYTES, json_bytes, one_line,
};
use crate::statement::{Part, StatementKind};

/// The title of a document without title, file name and URL.
pub const UNKNOWN_DOCUMENT: &str = "Unknown document";

/// One passage found for a question.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct MatchedChunk {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// The document it belongs to.
    pub document_id: Uuid,
    /// The document's file name.
    #[serde(default)]
    pub document_name: Option<String>,
    /// Metadata of the document: `title`, `url`, `content_type`.
    #[serde(default)]
    pub document_meta: Value,
    /// Its text, without markup.
    pub content: String,
    /// How the passage is laid out, for display.
    #[serde(default)]
    pub blocks: Option<Value>,
    /// The parts that the chains of its sentences are made of, each once.
    #[serde(default, deserialize_with = "list_or_empty")]
    pub parts: Vec<Part>,
    /// Metadata of the passage: `section`, `page`, `url`.
    #[serde(default)]
    pub meta: Value,
    /// The fingerprint of the model that made the stored vector.
    #[serde(default)]
    pub model: Option<String>,
    /// Cosine of the question's and the passage's vector. A value that is not a number becomes NaN.
    #[serde(default = "not_a_number", deserialize_with = "number_or_nan")]
    pub similarity: f64,
    /// Share of the question's informative vocabulary found in the passage, from 0 to 1. `None` after a search by vectors
    /// only.
    #[serde(default, deserialize_with = "number_or_none")]
    pub lexical: Option<f64>,
    /// The rank score of the search. `None` means that it ranks by similarity.
    #[serde(default, deserialize_with = "number_or_none")]
    pub score: Option<f64>,
    /// The statements that can be quoted, each with its own similarity, in order.
    #[serde(default, deserialize_with = "list_or_empty")]
    pub sentences: Vec<SentenceMatch>,
    /// The question's informative words, the same in every row. `None` after a search by vectors only.
    #[serde(default)]
    pub query_terms: Option<Vec<QueryTerm>>,
}

/// A statement of a passage, and its similarity to the question.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct SentenceMatch {
    /// Its first character, as an offset in characters (Unicode scalar values) of the passage. A value that does not parse
    /// is treated as larger than any text.
    #[serde(default = "past_end", deserialize_with = "offset_or_past_end")]
    pub start: usize,
    /// The character after its last.
    #[serde(default = "past_end", deserialize_with = "offset_or_past_end")]
    pub end: usize,
    /// Cosine of the question's and the sentence's vector. A value that is not a number becomes NaN.
    #[serde(default = "not_a_number", deserialize_with = "number_or_nan")]
    pub similarity: f64,
    /// Its kind.
    pub kind: StatementKind,
    /// Its chain: positions in the parts of its passage, outermost first.
    #[serde(default)]
    pub chain: Vec<usize>,
}

/// An informative word of the question.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct QueryTerm {
    /// The word in lower case.
    pub word: String,
    /// Its inverse document frequency, greater than 0.
    pub weight: f64,
}

/// The usable rows of a search. A row that cannot be parsed or exceeds the [limits](crate::limits) is left out; the others
/// are used. It is an error only if no row can be parsed.
#[derive(Debug, Clone, Default)]
pub struct SearchRows {
    /// In the order of the search.
    pub rows: Vec<MatchedChunk>,
    /// How many other rows there were.
    pub left_out: usize,
}

impl MatchedChunk {
    /// Whether passage and headings are within the limits that all other code relies on. Other fields are truncated or
    /// ignored where they are read.
    pub fn is_within_limits(&self) -> bool {
        let fits = |text: &str, bytes, of_json| text.len() <= bytes && json_bytes(text) <= of_json;
        fits(&self.content, MAX_PASSAGE_BYTES, MAX_PASSAGE_JSON_BYTES)
            && self.section().is_none_or(|section| fits(section, MAX_SECTION_BYTES, MAX_SECTION_JSON_BYTES))
    }

    /// Rows are sorted by this, largest first. NaN ranks last.
    pub fn rank_score(&self) -> f64 {
        Some(self.score.unwrap_or(self.similarity))
            .filter(|score| !score.is_nan())
            .unwrap_or(f64::NEG_INFINITY)
    }

    /// The display name, on one line: title, else file name, else URL, else [`UNKNOWN_DOCUMENT`].
    pub fn title(&self) -> String {
        [text(&self.document_meta, "title"), self.document_name.as_deref(), self.url()]
            .into_iter()
            .flatten()
            .map(|name| one_line(name, MAX_NAME_CHARS))
            .find(|name| !name.is_empty())
            .unwrap_or_else(|| UNKNOWN_DOCUMENT.to_owned())
    }

    /// The headings above the passage.
    pub fn section(&self) -> Option<&str> {
        text(&self.meta, "section")
    }

    /// The page number, from 1.
    pub fn page(&self) -> Option<u64> {
        self.meta.get("page").and_then(Value::as_u64).filter(|page| *page > 0)
    }

    /// The URL of the passage, else of the document. Only http(s) URLs within the length limit count, because the link is
    /// shown on a third-party page.
    pub fn url(&self) -> Option<&str> {
        let is_usable = |url: &&str| is_web_address(url) && json_bytes(url) <= MAX_URL_BYTES;
        let web_address = |meta| text(meta, "url").filter(is_usable);
        web_address(&self.meta).or_else(|| web_address(&self.document_meta))
    }

    /// The words of one of its sentences. `None` if the offsets are of another version of the passage.
    pub fn text_of(&self, sentence: &SentenceMatch) -> Option<&str> {
        let boundaries = || self.content.char_indices().map(|(byte, _)| byte).chain([self.content.len()]);
        self.content.get(boundaries().nth(sentence.start)?..boundaries().nth(sentence.end)?)
    }

    /// The document's media type.
    pub fn content_type(&self) -> Option<&str> {
        text(&self.document_meta, "content_type").filter(|name| json_bytes(name) <= MAX_CONTENT_TYPE_BYTES)
    }
}

impl MatchedChunk {
    /// A passage without a document, for evaluation.
    pub(crate) fn without_document(content: &str) -> Self {
        Self {
            chunk_id: Uuid::nil(),
            document_id: Uuid::nil(),
            document_name: None,
            document_meta: Value::Null,
            content: content.to_owned(),
            blocks: None,
            parts: Vec::new(),
            meta: Value::Null,
            model: None,
            similarity: 1.0,
            lexical: None,
            score: None,
            sentences: Vec::new(),
            query_terms: None,
        }
    }
}

impl SearchRows {
    /// Parses the response of a search: in one pass if all rows are valid, else row by row.
    ///
    /// # Errors
    /// If it is not a list, or if no row can be parsed.
    pub fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice::<Vec<MatchedChunk>>(json)
            .map_or_else(|_| serde_json::from_slice(json), |rows| Ok(Self::from(rows)))
    }
}

impl From<Vec<MatchedChunk>> for SearchRows {
    fn from(mut rows: Vec<MatchedChunk>) -> Self {
        let count = rows.len();
        rows.retain(MatchedChunk::is_within_limits);
        Self { left_out: count - rows.len(), rows }
    }
}

impl<'de> Deserialize<'de> for SearchRows {
    /// Row by row, so that a row that cannot be parsed does not affect the others.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Vec::<Box<RawValue>>::deserialize(deserializer)?;
        let rows: Vec<MatchedChunk> =
            json.iter().filter_map(|row| serde_json::from_slice(row.get().as_bytes()).ok()).collect();
        // No valid row at all means that the schema of the database is not the expected one.
        if rows.is_empty() && !json.is_empty() {
            return Err(D::Error::custom("no row can be parsed"));
        }
        let unreadable = json.len() - rows.len();
        let found = Self::from(rows);
        Ok(Self { left_out: found.left_out + unreadable, ..found })
    }
}

fn text<'a>(meta: &'a Value, field: &str) -> Option<&'a str> {
    meta.get(field).and_then(Value::as_str).and_then(non_empty)
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Whether a URL may become a link on a web page.
pub fn is_web_address(url: &str) -> bool {
    let has_scheme =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    has_scheme("https://") || has_scheme("http://")
}

fn not_a_number() -> f64 {
    f64::NAN
}

/// Postgres writes NaN as a string and a missing number as null.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_f64().unwrap_or(f64::NAN))
}

fn number_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_f64())
}

fn past_end() -> usize {
    usize::MAX
}

/// `usize` has 32 bits in the Worker.
fn offset_or_past_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let offset = Value::deserialize(deserializer)?.as_u64().and_then(|offset| usize::try_from(offset).ok());
    Ok(offset.unwrap_or_else(past_end))
}

/// Postgres writes an empty aggregate as null.
fn list_or_empty<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::statement::Role;
    use serde_json::json;

    /// A passage for tests, each line a paragraph. Document and chunk ids are small numbers; every sentence is a statement without a
    /// chain and has the similarity of the passage.
    pub(crate) fn chunk(document: u128, id: u128, similarity: f64, content: &str) -> MatchedChunk {
        let characters = |bytes: usize| content[..bytes].chars().count();
        let lines = content.match_indices('\n').map(|(at, _)| at).chain([content.len()]);
        let paragraphs = lines.scan(0, |start, end| Some(std::mem::replace(start, end)..end));
        let sentences = paragraphs.flat_map(|range| crate::sentences::sentences(content, range));
        let sentences = sentences.map(|range| SentenceMatch {
            start: characters(range.start),
            end: characters(range.end),
            similarity,
            kind: StatementKind::Sentence,
            chain: Vec::new(),
        });
        MatchedChunk {
            chunk_id: Uuid::from_u128(id),
            document_id: Uuid::from_u128(document),
            document_name: Some(format!("doc-{document}.md")),
            document_meta: json!({}),
            content: content.to_owned(),
            blocks: None,
            parts: Vec::new(),
            meta: json!({}),
            model: Some("minilm-1".to_owned()),
            similarity,
            lexical: None,
            score: None,
            sentences: sentences.collect(),
            query_terms: None,
        }
    }

    /// The kind and words of a statement, and role, words and cell of each part of its chain.
    pub(crate) type TestStatement<'a> = (StatementKind, &'a str, &'a [(Role, &'a str, Option<usize>)]);

    /// A passage for tests whose statements are those parts of its text, in order, each with its kind and chain. They have the
    /// similarity of the passage.
    pub(crate) fn passage_of(
        id: u128,
        similarity: f64,
        content: &str,
        statements: &[TestStatement<'_>],
    ) -> MatchedChunk {
        let mut parts: Vec<Part> = Vec::new();
        let mut position = |(role, text, cell): &(Role, &str, Option<usize>)| {
            let part = Part { role: *role, text: (*text).to_owned(), start: 0, cell: *cell, is_above: false };
            let is_same = |other: &Part| Part { start: 0, ..other.clone() } == part;
            parts.iter().position(is_same).unwrap_or_else(|| {
                parts.push(Part { start: parts.len(), ..part.clone() });
                parts.len() - 1
            })
        };
        let mut from = 0;
        let sentences = statements.iter().map(|(kind, text, chain)| {
            let at = from + content[from..].find(text).unwrap();
            from = at + text.len();
            let start = content[..at].chars().count();
            SentenceMatch {
                start,
                end: start + text.chars().count(),
                similarity,
                kind: *kind,
                chain: chain.iter().map(&mut position).collect(),
            }
        });
        let sentences = sentences.collect();
        MatchedChunk { sentences, parts, ..chunk(id, id, similarity, content) }
    }

    /// A passage for tests that is a list below a line, which may be outside the passage.
    pub(crate) fn list(id: u128, similarity: f64, lead_in: &str, items: &[&str]) -> MatchedChunk {
        let chain = [(Role::LeadIn, lead_in, None)];
        let chain = if lead_in.is_empty() { &[][..] } else { &chain[..] };
        let items: Vec<_> = items.iter().map(|item| (StatementKind::Sentence, *item, chain)).collect();
        let content: Vec<_> = items.iter().map(|(_, item, _)| *item).collect();
        passage_of(id, similarity, &content.join("\n"), &items)
    }

    #[test]
    fn a_row_with_a_kind_or_role_that_is_unknown_is_left_out() {
        let row = |role: &str, kind: &str| {
            let sentence = json!({ "start": 0, "end": 1, "similarity": 0.5, "kind": kind, "chain": [0] });
            let parts = json!([{ "role": role, "text": "Not covered:", "start": 3 }]);
            json!({ "chunk_id": Uuid::nil(), "document_id": Uuid::nil(), "content": "x",
                "parts": parts, "sentences": [sentence] })
        };
        let rows = json!([row("unknown", "row"), row("lead_in", "poem"), row("lead_in", "row")]);
        let SearchRows { rows, left_out } = SearchRows::from_json(rows.to_string().as_bytes()).unwrap();
        assert_eq!((rows.len(), left_out), (1, 2));
        assert_eq!(rows[0].parts[0].role, Role::LeadIn);
        assert_eq!((rows[0].sentences[0].kind, &rows[0].sentences[0].chain), (StatementKind::Row, &vec![0]));
        let mut without = row("lead_in", "row");
        without["parts"] = Value::Null;
        assert!(serde_json::from_value::<MatchedChunk>(without).unwrap().parts.is_empty());
    }

    #[test]
    fn the_title_falls_back_step_by_step() {
        let mut row = chunk(1, 1, 0.5, "text");
        row.document_meta = json!({ "title": "Refunds", "url": "https://example.com/refunds" });
        assert_eq!(row.title(), "Refunds");
        row.document_meta["title"] = json!("  ");
        assert_eq!(row.title(), "doc-1.md");
        row.document_name = None;
        assert_eq!(row.title(), "https://example.com/refunds");
        row.document_meta = Value::Null;
        assert_eq!(row.title(), "Unknown document");
    }

    #[test]
    fn only_http_and_https_urls_become_links() {
        let mut row = chunk(1, 1, 0.5, "text");
        row.meta = json!({ "url": "javascript:alert(1)" });
        row.document_meta = json!({ "url": "HTTPS://example.com" });
        assert_eq!(row.url(), Some("HTTPS://example.com"));
        row.document_meta = json!({ "url": "data:text/html,x" });
        assert_eq!(row.url(), None);
    }

    #[test]
    fn a_row_with_missing_fields_is_parsed() {
        let row = json!({ "chunk_id": Uuid::nil(), "document_id": Uuid::nil(), "content": "x",
            "document_name": null, "document_meta": null, "meta": null, "similarity": "NaN", "extra": 1 });
        let row: MatchedChunk = serde_json::from_value(row).unwrap();
        assert!(row.similarity.is_nan());
        assert_eq!((row.page(), row.section(), row.title().as_str()), (None, None, UNKNOWN_DOCUMENT));
    }
}
