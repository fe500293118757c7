//! All size limits: of passages and their metadata, and of everything that is made of passages.
//!
//! The chunker of `kb` stays within these limits, check constraints in the database enforce them for all other writers, and
//! [`respond`](crate::respond()) leaves out rows that exceed them. Sums of the limits bound what the Worker reads, sends and
//! stores; the compiler checks them.
//!
//! JSON writes a control character in up to six bytes (`\u0001`) and a quotation mark, backslash or line end in two. Passages
//! contain no control characters, so JSON at most doubles a passage within the limits. Only rows of a search can be larger,
//! before they are left out.

use unicode_segmentation::GraphemeCursor;

/// Characters of a message after trimming.
pub const MAX_MESSAGE_CHARS: usize = 4000;
/// The most results of a search.
pub const MAX_RESULTS: usize = 10;
/// Bytes of a passage's content, as UTF-8. English text of 256 tokens has about 1,300, and hardly any text more than 2,500.
pub const MAX_PASSAGE_BYTES: usize = 4096;
/// Bytes of the headings above a passage, as UTF-8.
pub const MAX_SECTION_BYTES: usize = 1000;
/// Characters of the name or title of a document.
pub const MAX_NAME_CHARS: usize = 300;
/// Bytes of JSON for the URL of a document or passage. A longer URL is left out, because a truncated one would lead elsewhere.
pub const MAX_URL_BYTES: usize = 2000;
/// Bytes of JSON for a link to a document's original file.
pub const MAX_LINK_BYTES: usize = 4096;
/// Bytes of JSON for a media type.
pub const MAX_CONTENT_TYPE_BYTES: usize = 128;
/// Bytes of JSON for the metadata of a document or passage (`meta`).
pub const MAX_META_BYTES: usize = 8192;
/// Sentences of a passage: the number of tokens that the model reads.
pub const MAX_SENTENCES: usize = 256;
/// Bytes of the parts of a passage's chains, as JSON.
pub const MAX_PARTS_BYTES: usize = 16 * 1024;
/// Parts of one chain.
pub const MAX_CHAIN_PARTS: usize = 24;
/// Bytes of the words of one chain, as UTF-8. A statement that needs more to be understood is not quoted.
pub const MAX_CHAIN_BYTES: usize = 1200;
/// Bytes of the layout of a passage, as JSON. One with more is shown as plain text.
pub const MAX_BLOCKS_BYTES: usize = 8192;
/// Sentences of an answer.
pub(crate) const MAX_ANSWER_SENTENCES: usize = 3;
/// Sentences of an answer with steps, which are of one passage. Their chains have at most [`MAX_CHAIN_BYTES`] together.
pub(crate) const MAX_ANSWER_STEPS: usize = 8;
/// Passages considered for one question.
pub const MAX_MATCH_COUNT: usize = 50;
/// Passages that a language model gets.
pub const MAX_PROMPT_SOURCES: usize = 5;
/// Sentences of a written answer that is a list; others are shorter.
pub const MAX_WRITTEN_ITEMS: usize = 5;
/// Bytes of one written sentence, as UTF-8.
pub const MAX_WRITTEN_SENTENCE_BYTES: usize = 1500;
/// Consecutive sentences of a passage that may support one written sentence together.
pub const MAX_SUPPORT_SENTENCES: usize = 3;
/// Characters of a word that is stemmed; see `words`.
pub const MAX_STEMMED_CHARS: usize = 64;

/// Bytes of a search response that the Worker reads.
pub const MAX_SEARCH_BYTES: usize = 8 * 1024 * 1024;
/// Characters of one server-sent event that the widget reads (`web/src/client/sse.ts`).
pub const MAX_EVENT_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of the citations of one stored message (`chat_messages_citations_size`).
pub const MAX_STORED_CITATIONS_BYTES: usize = 256 * 1024;
/// Characters of one stored message (`chat_messages_content_length`).
pub const MAX_STORED_ANSWER_CHARS: usize = 100_000;
/// Bytes of a row in a Durable Object, which stores one outcome.
pub const MAX_OUTCOME_BYTES: usize = 2_000_000;

/// Bytes of JSON for a passage within the limits.
pub const MAX_PASSAGE_JSON_BYTES: usize = 2 * MAX_PASSAGE_BYTES;
/// Bytes of JSON for headings within the limits.
pub const MAX_SECTION_JSON_BYTES: usize = 2 * MAX_SECTION_BYTES;

/// The largest row of `match_chunks` that the check constraints of the database allow.
pub const WORST_CASE_ROW_BYTES: usize = FIELDS
    + 6 * (MAX_PASSAGE_BYTES + MAX_NAME_CHARS)
    + 2 * MAX_META_BYTES
    + MAX_PARTS_BYTES
    + MAX_BLOCKS_BYTES
    + MAX_SENTENCES * WORST_CASE_SENTENCE_MATCH_BYTES
    + WORST_CASE_QUERY_TERMS_BYTES;
/// The largest response of `match_chunks`.
pub const WORST_CASE_SEARCH_BYTES: usize = MAX_MATCH_COUNT * (WORST_CASE_ROW_BYTES + 1) + 2;
/// The largest passage that is sent to a client.
pub const WORST_CASE_FOUND_BYTES: usize = WORST_CASE_STORED_PASSAGE_BYTES + MAX_LINK_BYTES;
/// The longest sentence, and as shown, in pieces and with its whole chain.
pub const WORST_CASE_QUOTES_BYTES: usize =
    4 * MAX_PASSAGE_JSON_BYTES + 3 * 2 * MAX_CHAIN_BYTES + MAX_CHAIN_PARTS * PIECE_FIELDS + FIELDS;
/// Steps of an answer beyond [`MAX_ANSWER_SENTENCES`]. All steps together have the words of one passage and of one chain.
const MORE_STEPS: usize = MAX_ANSWER_STEPS - MAX_ANSWER_SENTENCES;
/// The bytes that they add to the quotes.
const WORST_CASE_STEPS_BYTES: usize =
    3 * 2 * MAX_CHAIN_BYTES + MORE_STEPS * (MAX_CHAIN_PARTS * PIECE_FIELDS + FIELDS);
/// The words that support the sentences of a generated answer: for each written one at most two passages, and then quotes.
pub const WORST_CASE_SUPPORTS_BYTES: usize = (2 * MAX_WRITTEN_ITEMS + MAX_ANSWER_SENTENCES)
    * (MAX_PASSAGE_JSON_BYTES + MAX_SUPPORT_SENTENCES * SUPPORT_FIELDS)
    + MORE_STEPS * SUPPORT_FIELDS;
/// The words of passages behind an answer, which consists either of quotes or of generated sentences.
const WORST_CASE_CITED_WORDS_BYTES: usize =
    max(MAX_ANSWER_SENTENCES * WORST_CASE_QUOTES_BYTES + WORST_CASE_STEPS_BYTES, WORST_CASE_SUPPORTS_BYTES);
/// The largest `sources` event: each passage is quoted or listed.
pub const WORST_CASE_EVENT_BYTES: usize =
    FIELDS + MAX_MATCH_COUNT * (WORST_CASE_FOUND_BYTES + 1) + WORST_CASE_CITED_WORDS_BYTES;
/// The largest citations of an answer, as stored.
pub const WORST_CASE_STORED_CITATIONS_BYTES: usize = max(MAX_ANSWER_SENTENCES, MAX_PROMPT_SOURCES)
    * WORST_CASE_STORED_PASSAGE_BYTES
    + WORST_CASE_CITED_WORDS_BYTES;
/// The longest text of an answer, as JSON: for each sentence its place, its words, and the backslashes around bracketed
/// numbers, which turn three bytes into seven. Written sentences may precede the quotes.
pub const WORST_CASE_TEXT_BYTES: usize = MAX_ANSWER_SENTENCES
    * (FIELDS
        + 4 * MAX_NAME_CHARS
        + MAX_SECTION_JSON_BYTES
        + MAX_CHAIN_PARTS * PIECE_FIELDS
        + 7 * 2 * (MAX_PASSAGE_JSON_BYTES + 2 * MAX_CHAIN_BYTES) / 3)
    + 7 * 2 * 2 * MAX_CHAIN_BYTES / 3
    + MORE_STEPS * FIELDS
    + MAX_WRITTEN_ITEMS * (FIELDS + 7 * 2 * MAX_WRITTEN_SENTENCE_BYTES / 3);
/// The longest text of an answer, in characters. The backslashes turn three characters into five.
pub const WORST_CASE_TEXT_CHARS: usize = MAX_ANSWER_SENTENCES
    * (FIELDS
        + MAX_NAME_CHARS
        + MAX_SECTION_BYTES
        + MAX_CHAIN_PARTS * PIECE_FIELDS
        + 5 * 2 * (MAX_PASSAGE_BYTES + MAX_CHAIN_BYTES) / 3)
    + 5 * 2 * MAX_CHAIN_BYTES / 3
    + MORE_STEPS * FIELDS
    + MAX_WRITTEN_ITEMS * (FIELDS + 5 * MAX_WRITTEN_SENTENCE_BYTES / 3);
/// The largest text of two questions that were searched together, as JSON. A message may contain control characters.
pub const WORST_CASE_SEARCHED_BYTES: usize = 6 * MAX_MESSAGE_CHARS;
/// The largest response of a search without an answer.
pub const WORST_CASE_RESULTS_BYTES: usize =
    FIELDS + MAX_RESULTS * (WORST_CASE_STORED_PASSAGE_BYTES + WORST_CASE_QUOTES_BYTES);
/// The largest outcome: all events in one document.
pub const WORST_CASE_OUTCOME_BYTES: usize =
    FIELDS + WORST_CASE_EVENT_BYTES + WORST_CASE_TEXT_BYTES + WORST_CASE_SEARCHED_BYTES;
/// The most text that one question processes.
pub const WORST_CASE_EVIDENCE_BYTES: usize = MAX_MATCH_COUNT * (MAX_PASSAGE_BYTES + MAX_SECTION_BYTES);

/// `{"text":"","role":"antecedent"}`, the separator, and the punctuation behind the piece.
const PIECE_FIELDS: usize = 64;
/// `{"start":4096,"end":4096,"text":"","sentence":4}` and the separator.
const SUPPORT_FIELDS: usize = 52;

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Field names, ids, numbers and punctuation of one JSON object.
const FIELDS: usize = 512;
/// `{"end": 4096, "kind": "sentence", "chain": [], "start": 4096, "similarity": -0.12345678901234567}`, the positions of the parts of
/// its chain, and the separator.
const WORST_CASE_SENTENCE_MATCH_BYTES: usize = 105 + 5 * MAX_CHAIN_PARTS;
/// The informative words of a question of [`MAX_MESSAGE_CHARS`], which each row repeats.
const WORST_CASE_QUERY_TERMS_BYTES: usize = 20 * 1024;
/// A citation without quotes, or a found passage, without the link to its file.
const WORST_CASE_STORED_PASSAGE_BYTES: usize = FIELDS
    + MAX_PASSAGE_JSON_BYTES
    + MAX_SECTION_JSON_BYTES
    + 4 * MAX_NAME_CHARS
    + MAX_URL_BYTES
    + MAX_CONTENT_TYPE_BYTES
    + MAX_BLOCKS_BYTES;

const _: () = assert!(WORST_CASE_SEARCH_BYTES <= MAX_SEARCH_BYTES);
const _: () = assert!(WORST_CASE_EVENT_BYTES <= MAX_EVENT_BYTES);
const _: () = assert!(WORST_CASE_RESULTS_BYTES <= MAX_EVENT_BYTES);
const _: () = assert!(WORST_CASE_STORED_CITATIONS_BYTES <= MAX_STORED_CITATIONS_BYTES);
const _: () = assert!(WORST_CASE_TEXT_CHARS <= MAX_STORED_ANSWER_CHARS);
const _: () = assert!(WORST_CASE_OUTCOME_BYTES <= MAX_OUTCOME_BYTES);

/// The bytes of a text inside the quotation marks of a JSON string.
pub fn json_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum()
}

/// The text on one line, without control characters, truncated to `max_chars` including the ellipsis. A grapheme is only split
/// if it alone is too long.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let words: Vec<_> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() <= max_chars {
        return line;
    }
    let room = max_chars.saturating_sub(1);
    let hard_end = line.char_indices().nth(room).map_or(line.len(), |(at, _)| at);
    let end = grapheme_boundary(&line, hard_end);
    format!("{}…", line.get(..end).unwrap_or_default().trim_end())
}

/// The last offset at or before `at` where a text may be cut: between two graphemes or, within the first grapheme, between two
/// characters. Greater than 0 unless the first character ends after `at`.
pub fn grapheme_boundary(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if at >= text.len() {
        return text.len();
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let boundary = match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or_default(),
    };
    if boundary == 0 { at } else { boundary }
}

#[cfg(test)]
mod tests {
    use crate::statement::{Part, Role, StatementKind};
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use unicode_segmentation::UnicodeSegmentation;
    use uuid::Uuid;

    use super::*;
    use crate::answer::Answer;
    use crate::chunk::tests::{chunk, list};
    use crate::chunk::{MatchedChunk, QueryTerm, SearchRows, SentenceMatch};
    use crate::decision::{Basis, Searched};
    use crate::evidence::EvidenceThresholds;
    use crate::outcome::Outcome;
    use crate::{Verdict, respond, work};

    fn filled(start: &str, filler: &str, bytes: usize) -> String {
        let rest = bytes - start.len();
        start.to_owned() + &filler.repeat(rest / filler.len()) + &"x".repeat(rest % filler.len())
    }

    /// A passage of the maximum size, each of another document.
    fn largest(id: usize, filler: &str) -> MatchedChunk {
        let content = filled(&format!("The refund of number{id} takes days "), filler, MAX_PASSAGE_BYTES);
        let mut row = chunk(id as u128, id as u128, 0.9 - id as f64 / 1e6 + 1e-16, &content);
        row.document_meta = json!({
            "title": "😀".repeat(MAX_NAME_CHARS),
            "url": filled("https://example.com/", "u", MAX_URL_BYTES),
            "content_type": filled("text/markdown;", "c", MAX_CONTENT_TYPE_BYTES),
        });
        row.meta = json!({
            "section": filled(&format!("Section {id} "), "\"", MAX_SECTION_BYTES),
            "page": u64::MAX,
        });
        row.blocks = Some(json!("b".repeat(MAX_BLOCKS_BYTES)));
        let text = filled("Of the refund: ", filler, MAX_CHAIN_BYTES);
        row.parts = vec![Part { role: Role::LeadIn, text, start: 0, cell: None, is_above: false }];
        for sentence in &mut row.sentences {
            sentence.chain = vec![0];
        }
        row
    }

    fn largest_outcome(filler: &str) -> Outcome {
        let rows: Vec<_> = (0..MAX_MATCH_COUNT).map(|id| largest(id, filler)).collect();
        assert!(rows.iter().all(MatchedChunk::is_within_limits));
        let thresholds = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
        let verdict = respond("How many days does the refund take?", &rows, None, &thresholds, true).verdict;
        let Verdict::Answer(answer) = verdict else { panic!("{verdict:?}") };
        let Answer { citations, also_found, .. } = &answer;
        assert_eq!((citations.len(), also_found.len()), (3, MAX_MATCH_COUNT - 3), "all passages are listed");
        let mut outcome = Outcome::answer(answer, Uuid::max(), Uuid::max());
        let searched = Some("\u{1}".repeat(MAX_MESSAGE_CHARS));
        let searched = Searched { searched, truncated: true };
        outcome.set_basis(Basis { searched, ..Basis::default() });
        outcome.set_download_urls(|_| Some(filled("https://example.com/", "d", MAX_LINK_BYTES)));
        outcome
    }

    /// Checks that the bound holds and is tight to a factor of two.
    fn assert_near(size: usize, bound: usize) {
        assert!(size <= bound, "{size} > {bound}");
        assert!(size > bound / 2, "{size} is far below {bound}");
    }

    #[test]
    fn the_largest_answer_stays_within_all_limits() {
        for filler in ["\"", "[1]", "\\"] {
            let outcome = largest_outcome(filler);
            let events: Vec<_> =
                outcome.opening_events().iter().map(|event| event.encode().unwrap().len()).collect();
            assert!(events.iter().all(|size| *size <= WORST_CASE_EVENT_BYTES), "{events:?}");
            let stored = serde_json::to_string(&outcome).unwrap();
            assert!(stored.len() <= WORST_CASE_OUTCOME_BYTES);
            let citations: Vec<_> = outcome.citations().iter().map(|each| each.without_link()).collect();
            let citations = jsonb_text(&json!(citations));
            assert!(citations.len() <= WORST_CASE_STORED_CITATIONS_BYTES, "{}", citations.len());
            assert!(outcome.text().chars().count() <= WORST_CASE_TEXT_CHARS);
            assert!(json_bytes(&outcome.text()) <= WORST_CASE_TEXT_BYTES);
            if filler == "\"" {
                assert_near(*events.last().unwrap(), WORST_CASE_EVENT_BYTES);
                assert_near(stored.len(), WORST_CASE_OUTCOME_BYTES);
                assert_near(citations.len(), WORST_CASE_STORED_CITATIONS_BYTES);
            }
        }
    }

    #[test]
    fn the_widget_the_text_extraction_and_the_database_use_the_same_limits() {
        let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let widget = std::fs::read_to_string(format!("{repository}/web/src/client/sse.ts")).unwrap();
        assert_eq!(MAX_EVENT_BYTES, 2 * 1024 * 1024);
        assert!(widget.contains("const MAX_EVENT_LENGTH = 2 * 1024 * 1024;"));
        let properties =
            std::fs::read_to_string(format!("{repository}/kb/extract/src/properties.rs")).unwrap();
        assert!(properties.contains(&format!("const MAX_TITLE_CHARS: usize = {MAX_NAME_CHARS};")));
        assert!(properties.contains(&format!("const MAX_URL_BYTES: usize = {MAX_URL_BYTES};")));
        let mut migrations: Vec<_> = std::fs::read_dir(format!("{repository}/supabase/migrations"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        migrations.sort();
        let sql: String = migrations.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let last_number = |before: &str| -> usize {
            let after = sql.rsplit(before).next().unwrap_or_default();
            let digits = after.find(|c: char| !c.is_ascii_digit()).and_then(|end| after.get(..end));
            digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
        };
        assert_eq!(last_number("check (octet_length(content) <= "), MAX_PASSAGE_BYTES);
        assert_eq!(last_number("check (octet_length(meta ->> 'section') <= "), MAX_SECTION_BYTES);
        assert_eq!(last_number("check (char_length(name) <= "), MAX_NAME_CHARS);
        assert_eq!(last_number("check (char_length(meta ->> 'title') <= "), MAX_NAME_CHARS);
        assert_eq!(last_number("check (octet_length(meta ->> 'url') <= "), MAX_URL_BYTES);
        assert_eq!(last_number("check (octet_length(meta::text) <= "), MAX_META_BYTES);
        assert_eq!(last_number("check (ordinal between 0 and ") + 1, MAX_SENTENCES);
        assert_eq!(last_number("check (octet_length(citations::text) <= "), MAX_STORED_CITATIONS_BYTES);
        assert_eq!(last_number("check (char_length(content) <= "), MAX_STORED_ANSWER_CHARS);
        assert_eq!(last_number("check (char_length(searched) <= "), MAX_MESSAGE_CHARS);
        assert_eq!(last_number("check (match_count between 1 and "), MAX_MATCH_COUNT);
    }

    /// JSON as Postgres writes it, with a space after each comma and colon.
    fn jsonb_text(value: &Value) -> String {
        let list = |parts: Vec<String>| parts.join(", ");
        match value {
            Value::Array(items) => format!("[{}]", list(items.iter().map(jsonb_text).collect())),
            Value::Object(fields) => {
                let field =
                    |(name, value): (&String, &Value)| format!("{}: {}", json!(name), jsonb_text(value));
                format!("{{{}}}", list(fields.iter().map(field).collect()))
            }
            other => other.to_string(),
        }
    }

    #[test]
    fn the_largest_row_of_a_search_matches_its_bound() {
        let mut row = chunk(1, 1, -1.0 / 3.0, &"\u{1}".repeat(MAX_PASSAGE_BYTES));
        row.document_name = Some("\u{1}".repeat(MAX_NAME_CHARS));
        row.document_meta = json!({ "x": "y".repeat(MAX_META_BYTES - 10) });
        row.meta = row.document_meta.clone();
        row.blocks = Some(json!("b".repeat(MAX_BLOCKS_BYTES)));
        let part = |at: usize| Part {
            role: Role::Antecedent,
            text: "p".repeat(MAX_PARTS_BYTES / MAX_CHAIN_PARTS - 60),
            start: 100_000 + at,
            cell: None,
            is_above: false,
        };
        row.parts = (0..MAX_CHAIN_PARTS).map(part).collect();
        let sentence = SentenceMatch {
            start: 4096,
            end: 4096,
            similarity: -1.0 / 3.0,
            kind: StatementKind::Sentence,
            chain: vec![999; MAX_CHAIN_PARTS],
        };
        row.sentences = vec![sentence; MAX_SENTENCES];
        let term = |at: usize| QueryTerm { word: format!("{at:0>200}"), weight: 22.0 / 3.0 };
        row.query_terms = Some((0..64).map(term).collect());
        assert_near(jsonb_text(&serde_json::to_value(&row).unwrap()).len(), WORST_CASE_ROW_BYTES);
    }

    #[test]
    fn a_row_that_exceeds_the_limits_is_left_out_and_the_others_are_used() {
        let good = chunk(1, 1, 0.8, "Refunds take 5 days.");
        let thresholds = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
        let too_long = chunk(2, 2, 0.9, &filled("Refunds take 6 days. ", "x", MAX_PASSAGE_BYTES + 1));
        let too_wide = chunk(3, 3, 0.9, &filled("Refunds take 7 days. ", "\u{1}", MAX_PASSAGE_BYTES));
        let mut long_section = chunk(4, 4, 0.9, "Refunds take 8 days.");
        long_section.meta = json!({ "section": "s".repeat(MAX_SECTION_BYTES + 1) });
        let rows = [too_long, too_wide, long_section, good];
        let Verdict::Answer(answer) =
            respond("How long do refunds take?", &rows, None, &thresholds, true).verdict
        else {
            panic!("refused")
        };
        assert_eq!(answer.deltas, ["Refunds take 5 days. [1]"]);
        assert!(answer.also_found.is_empty());
        let refusal = crate::refusal::Refusal::new(crate::refusal::Reason::WeakEvidence, &rows, 0.35);
        assert_eq!(refusal.nearest.len(), 1);
    }

    #[test]
    fn other_oversized_fields_of_a_row_are_truncated_or_ignored() {
        let mut row = chunk(1, 1, 0.5, "text");
        row.document_meta = json!({
            "title": "t\u{1}\n".repeat(1000),
            "url": filled("https://e.org/", "u", MAX_URL_BYTES + 1),
            "content_type": "c".repeat(MAX_CONTENT_TYPE_BYTES + 1),
        });
        assert!(row.is_within_limits());
        assert_eq!(
            (row.title().chars().count(), row.url(), row.content_type()),
            (MAX_NAME_CHARS, None, None)
        );
        assert!(!row.title().contains(char::is_control));
        row.document_meta = json!({ "title": "\u{1}" });
        assert_eq!(row.title(), "doc-1.md");
        let mut outcome = largest_outcome("x");
        outcome.set_download_urls(|_| Some("l".repeat(MAX_LINK_BYTES + 1)));
        assert!(outcome.citations().iter().all(|citation| citation.passage.download_url.is_none()));
    }

    #[test]
    fn rows_that_cannot_be_parsed_do_not_affect_the_others() {
        let good = serde_json::to_value(chunk(1, 1, 0.5, "text")).unwrap();
        let mut large = good.clone();
        large["content"] = json!("x".repeat(5_000_000));
        let deep = format!("{{\"content\": {}1{}}}", "[".repeat(5000), "]".repeat(5000));
        let read = |rows: &[String]| {
            let json = format!("[{}]", rows.join(","));
            let found = SearchRows::from_json(json.as_bytes());
            let counts = |found: &SearchRows| (found.rows.len(), found.left_out);
            let row_by_row = serde_json::from_str::<SearchRows>(&json);
            assert_eq!(found.as_ref().ok().map(counts), row_by_row.as_ref().ok().map(counts));
            found
        };
        let found =
            read(&[large.to_string(), json!({ "content": 5 }).to_string(), deep.clone(), good.to_string()]);
        let found = found.unwrap();
        assert_eq!((found.rows.len(), found.left_out), (1, 3));
        assert_eq!(found.rows[0].content, "text");
        let found = read(&[large.to_string(), good.to_string()]).unwrap();
        assert_eq!((found.rows.len(), found.left_out), (1, 1));
        let found = read(&[large.to_string()]).unwrap();
        assert_eq!((found.rows.len(), found.left_out), (0, 1));
        assert_eq!(read(&[]).unwrap().left_out, 0);
        assert!(read(&[deep]).is_err(), "no row can be parsed");
        assert!(serde_json::from_str::<SearchRows>("{}").is_err());
        assert!(SearchRows::from_json(b"{}").is_err());
    }

    /// Passages that provoke reading the same text repeatedly.
    fn costly() -> Vec<MatchedChunk> {
        let bytes = MAX_PASSAGE_BYTES;
        let refunds = (b'a'..=b'z').flat_map(|a| (0..6).map(move |at| (char::from(a), at)));
        let typos: String =
            refunds.map(|(a, at)| format!("{}{a}{} ", &"refund"[..at], &"refund"[at..])).collect();
        let lead_in = "Wörter ".repeat(MAX_CHAIN_BYTES / 8);
        let of_text = |content: String| chunk(1, 1, 0.5, &content);
        vec![
            of_text("ay".repeat(bytes / 2)),
            of_text("a? ".repeat(bytes / 3)),
            list(1, 0.5, &lead_in, &["i"; MAX_SENTENCES]),
            list(1, 0.5, "A list:", &["1. a"; MAX_SENTENCES]),
            of_text("refund [".repeat(bytes / 8)),
            of_text(typos),
        ]
    }

    #[test]
    fn the_work_for_a_question_has_a_budget() {
        let question = format!("refund {}", (0..300).map(|at| format!("unknown{at} ")).collect::<String>());
        let thresholds =
            EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..EvidenceThresholds::default() };
        for costly in costly() {
            // More rows than are considered.
            let rows = (0..2 * MAX_MATCH_COUNT).map(|id| {
                let mut row = costly.clone();
                (row.document_id, row.chunk_id) = (Uuid::from_u128(id as u128), Uuid::from_u128(id as u128));
                row.meta = json!({ "section": filled("", "section ", MAX_SECTION_BYTES) });
                assert!(row.is_within_limits(), "{} bytes", row.content.len());
                row
            });
            let rows: Vec<_> = rows.collect();
            let (response, work) = work::measure(|| respond(&question, &rows, None, &thresholds, true));
            assert_eq!(response.assessment.passages.len(), MAX_MATCH_COUNT);
            let start: String = costly.content.chars().take(20).collect();
            let per_byte = work as f64 / WORST_CASE_EVIDENCE_BYTES as f64;
            assert!(per_byte <= 80.0, "{start:?}: each byte is processed {per_byte:.1} times");
        }
    }

    #[test]
    fn the_line_above_a_long_list_is_read_once() {
        let lead_in = "All of this belongs in the box that you send to us ".repeat(23);
        assert!(lead_in.len() < MAX_CHAIN_BYTES);
        let row = list(1, 0.5, &lead_in, &["item"; MAX_SENTENCES]);
        let (passage, work) = work::measure(|| crate::passage::Passage::new(&row));
        assert_eq!(passage.sentences.len(), MAX_SENTENCES);
        let bytes = row.content.len() + lead_in.len();
        assert!(work <= 8 * bytes, "{work} for {bytes}");
    }

    proptest! {
        #[test]
        fn one_line_never_exceeds_its_maximum_length(text in any::<String>(), max in 1..40_usize) {
            let line = one_line(&text, max);
            prop_assert!(line.chars().count() <= max);
            prop_assert!(!line.contains(char::is_control) && line.trim() == line);
        }

        #[test]
        fn a_text_is_cut_between_graphemes(text in "[a-zé👩‍👧\u{301}\u{200d}🇦🇧\r\n ]{0,40}", at in 0..200_usize) {
            let cut = grapheme_boundary(&text, at);
            prop_assert!(text.is_char_boundary(cut) && cut <= at);
            let boundaries: Vec<_> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            let first = boundaries.get(1).copied().unwrap_or_default();
            prop_assert!(boundaries.contains(&cut) || cut < first, "{cut} in {boundaries:?}");
            prop_assert!(cut > 0 || text.floor_char_boundary(at) == 0);
        }

        #[test]
        fn json_bytes_is_the_length_of_the_json(text in any::<String>()) {
            prop_assert_eq!(json_bytes(&text) + 2, json!(text).to_string().len());
        }
    }
}
