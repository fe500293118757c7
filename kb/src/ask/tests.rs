use serde_json::{Value, json};

use super::*;

fn row(id: u8, similarity: Value, content: &str, sentences: Value) -> MatchedChunk {
    serde_json::from_value(json!({
        "chunk_id": format!("00000000-0000-4000-8000-0000000000{id:02}"),
        "document_id": "00000000-0000-4000-8000-000000000099",
        "document_name": "sizes.md",
        "content": content,
        "similarity": similarity,
        "score": similarity,
        "lexical": 0.25,
        "sentences": sentences,
        "query_terms": [{ "word": "größe", "weight": 2.5 }],
    }))
    .unwrap()
}

fn sizes() -> Vec<MatchedChunk> {
    let sentences = json!([
        { "start": 0, "end": 9, "similarity": 0.2 },
        { "start": 10, "end": 23, "similarity": 0.7 },
    ]);
    vec![
        row(1, json!(0.3), "Other text.", json!([])),
        row(2, json!(0.6), "Öl für €. Größe 38 ist.", sentences),
    ]
}

fn asked(rows: Vec<MatchedChunk>, gates: Gates) -> Asked {
    let question = "Welche Größe?".to_owned();
    let Response { assessment, verdict } = respond(&question, &rows, &gates, true);
    let conclusion = match verdict {
        Verdict::Answer(answer) => Conclusion::Answer(answer),
        Verdict::Refuse(reason) => Conclusion::Refusal(Refusal::new(reason, &rows, gates.similarity)),
    };
    Asked { question, gates, rows, assessment, conclusion }
}

const OPEN: Gates = Gates { similarity: 0.35, confidence: 0.0 };

#[test]
fn the_explanation_ranks_the_passages_and_shows_the_best_sentence() {
    let text = explanation(&asked(sizes(), OPEN));
    let position = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    assert!(position("größe 2.50") < position("   1  0.600"));
    assert!(position("   1  0.600") < position("“Größe 38 ist.”"));
    assert!(position("“Größe 38 ist.”") < position("   2  0.300"));
    assert!(position("similarity   0.600, at least 0.350: passed") < position("score  sentence"));
}

#[test]
fn a_gate_that_was_not_reached_has_failed() {
    let rows = sizes();
    let text = explanation(&asked(rows, Gates { similarity: 0.9, confidence: 0.0 }));
    assert!(text.contains("similarity   0.600, at least 0.900: failed"), "{text}");
    assert!(!text.contains("score  sentence\n"), "{text}");
}

#[test]
fn nothing_found_is_explained_too() {
    let text = explanation(&asked(Vec::new(), OPEN));
    assert!(text.contains("No passage was found."), "{text}");
    assert!(text.contains("similarity    none, at least 0.350: failed"), "{text}");
}

#[test]
fn json_holds_candidates_gates_and_outcome() {
    let document = report(&asked(sizes(), OPEN));
    assert_eq!(document["query_terms"], json!([{ "word": "größe", "weight": 2.5 }]));
    let first = &document["candidates"][0];
    assert_eq!((&first["rank"], &first["similarity"]), (&json!(1), &json!(0.6)));
    assert_eq!(
        first["best_sentence"],
        json!({ "start": 10, "end": 23, "similarity": 0.7, "text": "Größe 38 ist." })
    );
    assert_eq!(document["candidates"][1]["qualifies"], false);
    assert_eq!(document["gates"]["similarity"], json!({ "value": 0.6, "threshold": 0.35, "passed": true }));
    assert_eq!(document["outcome"]["type"], "answer");
    assert_eq!(document["outcome"]["sentences"][0]["text"], "Größe 38 ist. [1]");

    let refused = report(&asked(Vec::new(), OPEN));
    assert_eq!(refused["outcome"]["reason"], "no_match");
    assert_eq!(refused["gates"]["similarity"]["value"], Value::Null);
}

#[test]
fn numbers_that_are_none_break_nothing() {
    let sentences = json!([{ "start": 900, "end": 901, "similarity": "NaN" }, { "start": 0, "end": 5 }]);
    let rows = vec![row(1, json!("NaN"), "Some text.", sentences)];
    let asked = asked(rows, OPEN);
    assert!(explanation(&asked).contains("failed"));
    assert_eq!(report(&asked)["candidates"][0]["similarity"], Value::Null);
}

#[test]
fn the_place_names_the_document_once() {
    assert_eq!(place("Refunds", Some("Refunds › Time")), "Refunds › Time");
    assert_eq!(place("Refunds", Some("Time")), "Refunds › Time");
    assert_eq!(place("refunds.md", None), "refunds.md");
}

#[test]
fn documents_cannot_drive_the_terminal() {
    let sentences = json!([{ "start": 0, "end": 22, "similarity": 0.9 }]);
    let asked = asked(vec![row(1, json!(0.9), "Größe \u{1b}[31m38\u{7} steht da.", sentences)], OPEN);
    assert!(!reply(&asked).contains('\u{1b}') && !explanation(&asked).contains('\u{7}'));
    assert_eq!(one_line("a\nb\u{1b}  c d", 4), "a b…");
}
