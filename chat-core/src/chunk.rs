//! A row of `match_chunks`: one passage of the knowledge base and how near it is to the question.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use uuid::Uuid;

/// The title of a document that has neither a title, a file name nor an address.
pub const UNKNOWN_DOCUMENT: &str = "Unknown document";

/// One passage found for a question.
#[derive(Debug, Clone, Deserialize)]
pub struct MatchedChunk {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// The document it belongs to.
    pub document_id: Uuid,
    /// The document's file name.
    #[serde(default)]
    pub document_name: Option<String>,
    /// What is known of the document: `title`, `url`, `content_type`.
    #[serde(default)]
    pub document_meta: Value,
    /// The passage, as Markdown source.
    pub content: String,
    /// What is known of the passage: `section`, `page`, `url`.
    #[serde(default)]
    pub meta: Value,
    /// The fingerprint of the model that made the stored vector.
    #[serde(default)]
    pub model: Option<String>,
    /// Cosine of the question's and the passage's vector. Anything that is not a number reads as NaN.
    #[serde(default = "not_a_number", deserialize_with = "number_or_nan")]
    pub similarity: f64,
}

impl MatchedChunk {
    /// The name to show: title, else file name, else address, else [`UNKNOWN_DOCUMENT`].
    pub fn title(&self) -> String {
        text(&self.document_meta, "title")
            .or_else(|| self.document_name.as_deref().and_then(non_empty))
            .or_else(|| self.url())
            .unwrap_or(UNKNOWN_DOCUMENT)
            .to_owned()
    }

    /// The heading the passage stands under.
    pub fn section(&self) -> Option<&str> {
        text(&self.meta, "section")
    }

    /// The page, counted from 1.
    pub fn page(&self) -> Option<u64> {
        self.meta.get("page").and_then(Value::as_u64).filter(|page| *page > 0)
    }

    /// Where to read on: the passage's address, else the document's. Only web addresses count, since the link
    /// ends up in somebody's page.
    pub fn url(&self) -> Option<&str> {
        let web_address = |meta| text(meta, "url").filter(|url| is_web_address(url));
        web_address(&self.meta).or_else(|| web_address(&self.document_meta))
    }

    /// The document's media type.
    pub fn content_type(&self) -> Option<&str> {
        text(&self.document_meta, "content_type")
    }
}

fn text<'a>(meta: &'a Value, field: &str) -> Option<&'a str> {
    meta.get(field).and_then(Value::as_str).and_then(non_empty)
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn is_web_address(url: &str) -> bool {
    let has_scheme =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    has_scheme("https://") || has_scheme("http://")
}

fn not_a_number() -> f64 {
    f64::NAN
}

/// Postgres writes a float that is not a number as the string "NaN", and a missing one as null.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_f64().unwrap_or(f64::NAN))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A passage for tests: document and chunk ids are made from small numbers.
    pub(crate) fn chunk(document: u128, id: u128, similarity: f64, content: &str) -> MatchedChunk {
        MatchedChunk {
            chunk_id: Uuid::from_u128(id),
            document_id: Uuid::from_u128(document),
            document_name: Some(format!("doc-{document}.md")),
            document_meta: json!({}),
            content: content.to_owned(),
            meta: json!({}),
            model: Some("minilm-1".to_owned()),
            similarity,
        }
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
    fn only_web_addresses_become_links() {
        let mut row = chunk(1, 1, 0.5, "text");
        row.meta = json!({ "url": "javascript:alert(1)" });
        row.document_meta = json!({ "url": "HTTPS://example.com" });
        assert_eq!(row.url(), Some("HTTPS://example.com"));
        row.document_meta = json!({ "url": "data:text/html,x" });
        assert_eq!(row.url(), None);
    }

    #[test]
    fn a_row_is_read_even_when_parts_are_missing() {
        let row = json!({ "chunk_id": Uuid::nil(), "document_id": Uuid::nil(), "content": "x",
            "document_name": null, "document_meta": null, "meta": null, "similarity": "NaN", "extra": 1 });
        let row: MatchedChunk = serde_json::from_value(row).unwrap();
        assert!(row.similarity.is_nan());
        assert_eq!((row.page(), row.section(), row.title().as_str()), (None, None, UNKNOWN_DOCUMENT));
    }
}
