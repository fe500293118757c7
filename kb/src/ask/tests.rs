use serde_json::{Value, json};

use chat_core::evidence::Background;

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
        { "start": 0, "end": 9, "similarity": 0.2, "kind": "sentence" },
        { "start": 10, "end": 23, "similarity": 0.7, "kind": "sentence" },
    ]);
    vec![
        row(1, json!(0.3), "Other text.", json!([])),
        row(2, json!(0.6), "Öl für €. Größe 38 ist.", sentences),
    ]
}

fn asked(rows: Vec<MatchedChunk>, thresholds: EvidenceThresholds) -> Asked {
    let question = "Welche Größe?".to_owned();
    let Response { assessment, verdict, decided_by, .. } = respond(&question, &rows, None, &thresholds, true);
    let conclusion = match verdict {
        Verdict::Answer(answer) => Conclusion::Answer(answer),
        Verdict::Refuse(reason) => Conclusion::Refusal(Refusal::new(reason, &rows, thresholds.similarity)),
    };
    Asked {
        question,
        searched: Searched::default(),
        thresholds,
        rows,
        assessment,
        conclusion,
        decided_by,
        reading: None,
    }
}

#[test]
fn the_reader_of_this_version_is_that_for_which_the_evidence_rule_was_fitted() {
    assert_eq!(embedder::reader_fingerprint(), chat_core::evidence::calibration::READER);
}

const BACKGROUND: Background = Background { mean: -4.0, deviation: 2.0 };
const OPEN: EvidenceThresholds =
    EvidenceThresholds { similarity: 0.35, confidence: 0.0, background: BACKGROUND };

#[test]
fn an_explanation_ranks_the_passages_and_shows_their_best_sentence() {
    let text = explanation(&asked(sizes(), OPEN));
    let position = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    assert!(position("größe 2.50") < position("   1  0.600"));
    assert!(position("   1  0.600") < position("“Größe 38 ist.”"));
    assert!(position("“Größe 38 ist.”") < position("   2  0.300"));
    assert!(position("best sentence   0.700, at least 0.350: passed") < position("score  sentence"));
}

#[test]
fn an_explanation_shows_the_background_of_the_evidence() {
    let text = explanation(&asked(sizes(), OPEN));
    assert!(text.contains("; questions about something else reach -4.0 ± 2.0 here\n"), "{text}");
    let thresholds = EvidenceThresholds { background: Background::default(), ..OPEN };
    let text = explanation(&asked(sizes(), thresholds));
    assert!(text.contains(" by default\n"), "{text}");
    assert_eq!(report(&asked(sizes(), OPEN))["background"], json!({ "mean": -4.0, "deviation": 2.0 }));
}

#[test]
fn a_threshold_above_the_evidence_fails() {
    let rows = sizes();
    let text = explanation(&asked(rows, EvidenceThresholds { similarity: 0.9, ..OPEN }));
    assert!(text.contains("best sentence   0.700, at least 0.900: failed"), "{text}");
    assert!(!text.contains("score  sentence\n"), "{text}");
}

#[test]
fn a_sentence_above_the_threshold_passes_although_its_passage_is_below() {
    let thresholds = EvidenceThresholds { similarity: 0.65, ..OPEN };
    let asked = asked(sizes(), thresholds);
    assert!(matches!(asked.conclusion, Conclusion::Answer(_)), "{:?}", asked.conclusion);
    let text = explanation(&asked);
    assert!(text.contains("best sentence   0.700, at least 0.650: passed"), "{text}");
    let expected = json!({ "value": 0.7, "threshold": 0.65, "passed": true });
    assert_eq!(report(&asked)["thresholds"]["similarity"], expected);
}

#[test]
fn a_passage_nearer_than_its_sentences_is_the_one_compared_with_the_threshold() {
    let sentences = json!([{ "start": 0, "end": 11, "similarity": 0.4, "kind": "sentence" }]);
    let text = explanation(&asked(vec![row(1, json!(0.5), "Other text.", sentences)], OPEN));
    assert!(text.contains("best passage    0.500, at least 0.350: passed"), "{text}");
}

#[test]
fn an_empty_search_result_is_explained() {
    let text = explanation(&asked(Vec::new(), OPEN));
    assert!(text.contains("No passage was found."), "{text}");
    assert!(text.contains("best passage     none, at least 0.350: failed"), "{text}");
}

#[test]
fn json_contains_candidates_thresholds_and_outcome() {
    let document = report(&asked(sizes(), OPEN));
    assert_eq!(document["query_terms"], json!([{ "word": "größe", "weight": 2.5 }]));
    let first = &document["candidates"][0];
    assert_eq!((&first["title"], &first["similarity"]), (&json!("sizes.md"), &json!(0.6)));
    assert_eq!(
        first["best_sentence"],
        json!({ "start": 10, "end": 23, "similarity": 0.7, "text": "Größe 38 ist." })
    );
    assert_eq!(document["candidates"][1]["qualifies"], false);
    assert_eq!(
        document["thresholds"]["similarity"],
        json!({ "value": 0.7, "threshold": 0.35, "passed": true })
    );
    assert_eq!(document["outcome"]["type"], "answer");
    assert_eq!(document["outcome"]["sentences"][0]["text"], "Größe 38 ist. [1]");

    let refused = report(&asked(Vec::new(), OPEN));
    assert_eq!(refused["outcome"]["reason"], "no_match");
    assert_eq!(refused["thresholds"]["similarity"]["value"], Value::Null);
}

#[test]
fn passages_that_are_not_quoted_are_listed_apart_from_the_sources() {
    let mut other = row(3, json!(0.5), "Schuhe sind bunt.", json!([]));
    other.meta = json!({ "section": "Schuhe › Farben" });
    let asked = asked([sizes(), vec![other]].concat(), OPEN);
    let document = report(&asked);
    let outcome = &document["outcome"];
    assert_eq!(outcome["hedged"], false);
    let ids = |list: &Value| {
        list.as_array().unwrap().iter().map(|passage| passage["chunk_id"].clone()).collect::<Vec<_>>()
    };
    assert!(!ids(&outcome["citations"]).is_empty());
    for id in ids(&outcome["also_found"]) {
        assert!(!ids(&outcome["citations"]).contains(&id), "{id} is a source");
    }
    for citation in outcome["citations"].as_array().unwrap() {
        assert_ne!(citation["quotes"], json!([]));
    }
}

#[test]
fn a_reply_shows_passages_also_found_and_the_hedge() {
    let asked = asked(sizes(), OPEN);
    let Conclusion::Answer(mut answer) = asked.conclusion else { panic!("refused") };
    let passage = json!({
        "chunk_id": "00000000-0000-4000-8000-000000000003",
        "document_id": "00000000-0000-4000-8000-000000000098",
        "title": "Colours",
        "section": "Shoes",
        "page": 2,
        "url": "https://www.example.com/colours",
        "score": 0.5,
    });
    answer.also_found = vec![serde_json::from_value(passage).unwrap()];
    answer.hedged = true;
    let text = reply(&Asked { conclusion: Conclusion::Answer(answer), ..asked });
    assert!(text.starts_with("These passages are on topic but may not answer your question.\n\n"), "{text}");
    let expected = "\n\nAlso found, not quoted\n  Colours › Shoes, page 2 (similarity 0.50) https://www.example.com/colours\n\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_refusal_lists_the_nearest_passages() {
    let text = reply(&asked(sizes(), EvidenceThresholds { similarity: 0.5, confidence: 1.0, ..OPEN }));
    let expected = "Nearest passages:\n  sizes.md (similarity 0.60)\n\nDecided by the search alone.";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn nan_similarities_are_accepted() {
    let sentences = json!([{ "start": 900, "end": 901, "similarity": "NaN", "kind": "sentence" }, { "start": 0, "end": 5, "kind": "sentence" }]);
    let rows = vec![row(1, json!("NaN"), "Some text.", sentences)];
    let asked = asked(rows, OPEN);
    assert!(explanation(&asked).contains("failed"));
    assert_eq!(report(&asked)["candidates"][0]["similarity"], Value::Null);
}

#[test]
fn a_place_contains_the_title_once() {
    assert_eq!(place("Refunds", Some("Refunds › Time")), "Refunds › Time");
    assert_eq!(place("Refunds", Some("Time")), "Refunds › Time");
    assert_eq!(place("refunds.md", None), "refunds.md");
}

#[test]
fn control_characters_of_documents_are_escaped() {
    let sentences = json!([{ "start": 0, "end": 22, "similarity": 0.9, "kind": "sentence" }]);
    let asked = asked(vec![row(1, json!(0.9), "Größe \u{1b}[31m38\u{7} steht da.", sentences)], OPEN);
    assert!(!reply(&asked).contains('\u{1b}') && !explanation(&asked).contains('\u{7}'));
}
