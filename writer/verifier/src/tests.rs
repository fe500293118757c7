use serde_json::{Value, json};

use super::*;

fn citations() -> Value {
    let citation = |index: u32, chunk: u32, sentences: &[&str]| {
        let excerpt = sentences.join(" ");
        let quote = |text: &&str| {
            let start = excerpt.find(text).unwrap();
            json!({ "start": start, "end": start + text.len(), "text": text, "kind": "sentence",
                "pieces": [{ "text": text }] })
        };
        let quotes: Vec<Value> = sentences.iter().map(quote).collect();
        json!({
            "index": index,
            "chunk_id": format!("00000000-0000-0000-0000-{chunk:012}"),
            "document_id": format!("00000000-0000-0000-0001-{index:012}"),
            "title": format!("Guide {index}"),
            "score": 0.8,
            "excerpt": excerpt,
            "quotes": quotes,
        })
    };
    json!([
        citation(1, 1, &["Refunds are paid to your card within 5 days.", "Gift cards cannot be refunded."]),
        citation(2, 2, &["Orders above 40 euros are shipped free of charge."]),
    ])
}

fn verification() -> Verification {
    of(&citations()).unwrap()
}

fn of(citations: &Value) -> Result<Verification, String> {
    Verification::new("When are refunds paid?", &citations.to_string(), true, "test-model")
}

fn finish(verification: Verification, ending: &str) -> Value {
    serde_json::from_str(&verification.finish(ending, Some(120), Some(30)).unwrap()).unwrap()
}

#[test]
fn supported_sentences_have_the_numbers_of_the_given_citations() {
    let mut verification = verification();
    let text = "Orders above 40 euros are shipped free of charge [2]. Refunds are paid to your card within 5 days [1].";
    for piece in text.split_inclusive(' ') {
        verification.push(piece);
    }
    let expected = [
        "Orders above 40 euros are shipped free of charge. [2]",
        " Refunds are paid to your card within 5 days. [1]",
    ];
    let output = finish(verification, "whole");
    assert_eq!(output["answer"]["deltas"], json!(expected));
    assert_eq!(output["answer"]["referenced_indices"], json!([1, 2]));
    assert_eq!(output["answer"]["citations"][0]["quotes"], json!([]));
    assert_eq!(
        output["answer"]["citations"][0]["supports"],
        json!([{ "start": 0, "end": 44, "text": "Refunds are paid to your card within 5 days.", "sentence": 1 }])
    );
    assert_eq!(output["generation"]["prompt_tokens"], 120);
    assert_eq!(output["generation"]["fallback"], Value::Null);
}

#[test]
fn a_sentence_with_a_changed_number_is_left_out() {
    let mut verification = verification();
    let text =
        "Refunds are paid to your card within 9 days [1]. Refunds are paid to your card within 5 days [1].";
    verification.push(text);
    let output = finish(verification, "whole");
    assert_eq!(output["answer"]["deltas"], json!(["Refunds are paid to your card within 5 days. [1]"]));
    assert_eq!(output["generation"]["dropped"], json!({ "number": 1 }));
}

#[test]
fn an_unfinished_sentence_is_left_out() {
    let mut verification = verification();
    verification.push("Refunds are paid to your card within 5 days [1]. Orders above 40");
    let output = finish(verification, "cut");
    assert_eq!(output["answer"]["deltas"], json!(["Refunds are paid to your card within 5 days. [1]"]));
}

#[test]
fn a_fault_is_reported_and_another_ending_is_an_error() {
    for fault in ["timeout", "error"] {
        let mut verification = verification();
        verification.push("Refunds are paid to your");
        let output = finish(verification, fault);
        assert_eq!(output["generation"]["fallback"], fault);
        assert_eq!(output["answer"], Value::Null);
    }
    assert!(verification().finish("other", None, None).is_err());
}

#[test]
fn quotes_never_follow_a_written_answer() {
    let mut verification = verification();
    verification.push("Orders above 40 euros are shipped free of charge [2].");
    let output = finish(verification, "whole");
    assert_eq!(output["answer"]["deltas"].as_array().unwrap().len(), 1, "{output}");
}

#[test]
fn output_is_ignored_after_as_many_sentences_as_an_answer_has() {
    let mut verification = verification();
    let is_done = "Refunds are paid to your card within 5 days [1]. "
        .split_inclusive(' ')
        .any(|piece| verification.push(piece));
    assert!(!is_done);
    let rest =
        "Gift cards cannot be refunded [1]. Orders above 40 euros are shipped free of charge [2]. More ";
    assert!(verification.push(rest));
}

#[test]
fn the_messages_fence_every_source_with_the_tag() {
    let verification = verification();
    let messages: Value = serde_json::from_str(&verification.messages("k3x9ab01", 1.0)).unwrap();
    assert_eq!(messages[0]["role"], "system");
    let user = messages[1]["content"].as_str().unwrap();
    for number in [1, 2] {
        assert!(
            user.contains(&format!("<source-k3x9ab01 id=\"{number}\" title=\"Guide {number}\">")),
            "{user}"
        );
    }
    let [whole, short] = [1.0, 0.5].map(|share| verification.messages("k3x9ab01", share).len());
    assert!(short < whole, "{short} {whole}");
}

#[test]
fn hostile_json_is_an_error() {
    let mut no_index = citations();
    no_index[0]["index"] = json!(-1);
    let nested = "[".repeat(100_000);
    for citations in ["", "null", "{}", "[1]", "[{}]", &nested, &no_index.to_string()] {
        let error = Verification::new("?", citations, false, "test-model").err().unwrap();
        assert!(error.starts_with("invalid citations: "), "{error}");
    }
}

#[test]
fn citations_that_contradict_themselves_are_no_sources() {
    let mut citations = citations();
    citations[0]["quotes"][0]["text"] = json!("other words");
    citations[1]["score"] = json!(7.0);
    let mut verification = of(&citations).unwrap();
    verification.push("Refunds are paid to your card within 5 days [1]. ");
    assert_eq!(finish(verification, "whole")["generation"]["fallback"], "unsupported");
}
