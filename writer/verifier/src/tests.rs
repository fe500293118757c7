use serde_json::{Value, json};

use super::*;

fn input() -> Value {
    let citation = |index: u32, chunk: u32, excerpt: &str| {
        json!({
            "index": index,
            "chunk_id": format!("00000000-0000-0000-0000-{chunk:012}"),
            "document_id": format!("00000000-0000-0000-0001-{index:012}"),
            "title": format!("Guide {index}"),
            "score": 0.8,
            "excerpt": excerpt,
            "quotes": [{ "start": 0, "end": 7, "text": &excerpt[..7] }],
        })
    };
    json!({
        "question": "When are refunds paid?",
        "citations": [
            citation(1, 1, "Refunds are paid to your card within 5 days. Gift cards cannot be refunded."),
            citation(2, 2, "Orders above 40 euros are shipped free of charge."),
        ],
        "hedged": true,
        "model": "test-model",
    })
}

fn verification() -> Verification {
    Verification::new(&input().to_string()).unwrap()
}

fn finish(verification: &mut Verification, fault: Option<&str>) -> Value {
    serde_json::from_str(&verification.finish(fault).unwrap()).unwrap()
}

#[test]
fn supported_sentences_have_the_numbers_of_the_given_citations() {
    let mut verification = verification();
    let text = "Orders above 40 euros are shipped free of charge [2]. Refunds are paid to your card within 5 days [1].";
    let mut deltas = Vec::new();
    for piece in text.split_inclusive(' ') {
        deltas.extend(verification.push(piece).unwrap());
    }
    deltas.extend(verification.end(true).unwrap());
    let expected = [
        "Orders above 40 euros are shipped free of charge. [2]",
        " Refunds are paid to your card within 5 days. [1]",
    ];
    assert_eq!(deltas, expected);
    verification.set_usage(Some(120), Some(30));
    let output = finish(&mut verification, None);
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
    let mut deltas = verification.push(text).unwrap();
    deltas.extend(verification.end(true).unwrap());
    assert_eq!(deltas, ["Refunds are paid to your card within 5 days. [1]"]);
    assert_eq!(finish(&mut verification, None)["generation"]["dropped"], json!({ "number": 1 }));
}

#[test]
fn an_unfinished_sentence_is_left_out_and_a_fault_is_reported() {
    let mut verification = verification();
    assert!(verification.push("Refunds are paid to your").unwrap().is_empty());
    assert!(verification.end(false).unwrap().is_empty());
    let output = finish(&mut verification, Some("timeout"));
    assert_eq!(output["generation"]["fallback"], "timeout");
    assert_eq!(output.get("answer"), None);
}

#[test]
fn quotes_never_follow_a_written_answer() {
    let mut verification = verification();
    let mut deltas = verification.push("Orders above 40 euros are shipped free of charge [2].").unwrap();
    deltas.extend(verification.end(true).unwrap());
    assert_eq!(deltas.len(), 1, "{deltas:?}");
}

#[test]
fn the_messages_fence_every_source_with_the_tag() {
    let verification = verification();
    let messages: Value = serde_json::from_str(&verification.messages("k3x9ab01", 1.0).unwrap()).unwrap();
    assert_eq!(messages[0]["role"], "system");
    let user = messages[1]["content"].as_str().unwrap();
    for number in [1, 2] {
        assert!(
            user.contains(&format!("<source-k3x9ab01 id=\"{number}\" title=\"Guide {number}\">")),
            "{user}"
        );
    }
    let [whole, short] = [1.0, 0.5].map(|share| verification.messages("k3x9ab01", share).unwrap().len());
    assert!(short < whole, "{short} {whole}");
    for tag in ["", "short", "k3x9ab0>", "k3x9ab01k"] {
        assert!(matches!(verification.messages(tag, 1.0), Err(VerifierError::InvalidInput(_))), "{tag}");
    }
}

#[test]
fn hostile_json_is_an_error() {
    let mut no_question = input();
    no_question["question"] = Value::Null;
    let mut no_index = input();
    no_index["citations"][0]["index"] = json!(-1);
    let nested = "[".repeat(100_000);
    let long = format!("{{\"question\":\"{}\"}}", "x".repeat(MAX_INPUT_BYTES));
    let inputs = [
        "",
        "null",
        "[]",
        "{}",
        "{\"question\":1}",
        &nested,
        &long,
        &no_question.to_string(),
        &no_index.to_string(),
    ];
    for input in inputs {
        assert!(matches!(Verification::new(input), Err(VerifierError::InvalidInput(_))), "{:.40}", input);
    }
}

#[test]
fn citations_that_contradict_themselves_are_no_sources() {
    let mut input = input();
    input["citations"][0]["quotes"][0]["text"] = json!("other words");
    input["citations"][1]["score"] = json!(7.0);
    let mut verification = Verification::new(&input.to_string()).unwrap();
    assert!(verification.push("Refunds are paid to your card within 5 days [1]. ").unwrap().is_empty());
    verification.end(true).unwrap();
    assert_eq!(finish(&mut verification, None)["generation"]["fallback"], "unsupported");
}

#[test]
fn a_finished_verification_is_an_error() {
    let mut verification = verification();
    finish(&mut verification, None);
    assert!(verification.is_done());
    assert!(matches!(verification.push("x"), Err(VerifierError::Finished)));
    assert!(matches!(verification.finish(None), Err(VerifierError::Finished)));
    assert!(matches!(self::verification().finish(Some("other")), Err(VerifierError::InvalidInput(_))));
}
