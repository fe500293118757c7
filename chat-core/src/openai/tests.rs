use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::error::{ApiError, ErrorCode};
use crate::event::{Event, Stage};
use crate::generation_report::{AnswerMode, GenerationReport};
use crate::outcome::{AnswerOutcome, Outcome};
use crate::refusal::{Reason, Refusal};
use crate::request::DIMENSIONS;

const NEW_ID: Uuid = Uuid::from_u128(7);

fn unit_vector() -> Vec<f64> {
    (0..DIMENSIONS).map(|at| if at == 0 { 1.0 } else { 0.0 }).collect()
}

fn body() -> Value {
    json!({
        "model": MODEL_NAME,
        "messages": [{ "role": "user", "content": " How do refunds work? " }],
        "embedding": unit_vector(),
        "embedding_model": "minilm-1",
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut body = body();
    body[field] = value;
    body
}

fn parse(body: &Value) -> Result<OpenAiRequest, RequestError> {
    OpenAiRequest::parse(body.to_string().as_bytes(), NEW_ID)
}

#[track_caller]
fn rejection(body: &Value) -> (Option<&'static str>, String) {
    let RequestError { error, param } = parse(body).unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::InvalidRequest, false));
    (param, error.message)
}

#[test]
fn a_minimal_body_is_a_question_with_a_new_id() {
    let request = parse(&body()).unwrap();
    let question = request.question;
    assert_eq!((question.message.as_str(), question.message_id), ("How do refunds work?", NEW_ID));
    assert_eq!((question.model.as_str(), question.session_id), ("minilm-1", None));
    assert!(question.include_citations && !question.is_extractive && !request.is_streamed);
    assert_eq!((question.embedding.len(), request.model.as_str()), (DIMENSIONS, MODEL_NAME));
}

#[test]
fn our_own_fields_are_those_of_a_question() {
    let id = Uuid::from_u128(9);
    let mut body = with("stream", json!(true));
    body["message_id"] = json!(id);
    body["session_id"] = json!(id);
    body["include_citations"] = json!(false);
    body["mode"] = json!("extractive");
    body["reading"] = json!({ "reader": "reader-1", "passages": [] });
    let OpenAiRequest { question, is_streamed, .. } = parse(&body).unwrap();
    assert_eq!((question.message_id, question.session_id), (id, Some(id)));
    assert!(!question.include_citations && question.is_extractive && is_streamed);
    assert_eq!(question.reading.unwrap().reader, "reader-1");
}

#[test]
fn the_question_is_the_last_message_of_the_user() {
    let message = |messages: Value| parse(&with("messages", messages)).unwrap().question.message;
    let user = |content: Value| json!({ "role": "user", "content": content });
    assert_eq!(
        message(json!([
            { "role": "system", "content": "Be brief." }, user(json!("One?")),
            { "role": "assistant", "content": null, "tool_calls": [] }, user(json!("Two?")),
            { "role": "assistant", "content": "Well" },
        ])),
        "Two?"
    );
    let parts = json!([{ "type": "text", "text": "One" }, { "type": "text", "text": "two?" }]);
    assert_eq!(message(json!([user(parts)])), "One\ntwo?");
    let many: Vec<_> = (0..1000).map(|at| user(json!(format!("Question {at}?")))).collect();
    assert_eq!(message(json!(many)), "Question 999?");
}

#[test]
fn messages_without_a_question_are_rejected() {
    let user = |content: Value| json!([{ "role": "user", "content": content }]);
    for (messages, words) in [
        (json!("Why?"), "must be an array"),
        (json!({}), "must be an array"),
        (json!([]), "one with the role user"),
        (json!([{ "role": "assistant", "content": "Hello" }]), "one with the role user"),
        (json!(["Why?"]), "an object with a role"),
        (json!([{ "content": "Why?" }]), "an object with a role"),
        (json!([{ "role": 1, "content": "Why?" }]), "an object with a role"),
        (json!([{ "role": "user" }]), "must be text"),
        (user(json!(null)), "must be text"),
        (user(json!(5)), "must be text"),
        (user(json!("  ")), "message is empty"),
        (user(json!([])), "message is empty"),
        (user(json!("x".repeat(4001))), "at most 4000 characters"),
        (user(json!([{ "type": "image_url", "image_url": { "url": "data:" } }])), "another part"),
        (user(json!([{ "type": "text" }])), "another part"),
        (user(json!(["Why?"])), "another part"),
    ] {
        let (param, message) = rejection(&with("messages", messages));
        assert!(param == Some("messages") && message.contains(words), "{param:?} {message}");
    }
}

#[test]
fn a_question_without_its_vector_says_what_to_do() {
    let (param, message) = rejection(&with("embedding", Value::Null));
    assert_eq!(param, Some("embedding"));
    assert!(message.contains("embedding_model") && message.contains("adapter"), "{message}");
    let (param, message) = rejection(&with("embedding", json!([1.0])));
    assert_eq!((param, message.as_str()), (Some("embedding"), "embedding must have 384 numbers, got 1"));
}

#[test]
fn the_fingerprint_may_stand_in_the_place_of_the_models_name() {
    let (param, _) = rejection(&with("embedding_model", Value::Null));
    assert_eq!(param, Some("embedding_model"));
    let mut body = with("embedding_model", Value::Null);
    body["model"] = json!("minilm-2");
    let request = parse(&body).unwrap();
    assert_eq!((request.question.model.as_str(), request.model.as_str()), ("minilm-2", "minilm-2"));
}

#[test]
fn what_would_change_the_response_is_rejected_and_everything_else_ignored() {
    for (name, wrong, right) in [
        ("n", json!(2), json!(1)),
        ("n", json!("1"), json!(1)),
        ("tools", json!([{ "type": "function" }]), json!([])),
        ("functions", json!([{ "name": "f" }]), json!([])),
        ("response_format", json!({ "type": "json_object" }), json!({ "type": "text" })),
        ("modalities", json!(["text", "audio"]), json!(["text"])),
        ("logprobs", json!(true), json!(false)),
        ("stream", json!("true"), json!(false)),
        ("model", json!(""), json!("x")),
        ("message_id", json!("1"), json!(NEW_ID)),
        ("session_id", json!(1), json!(NEW_ID)),
        ("include_citations", json!(1), json!(true)),
        ("mode", json!("endpoint"), json!("extractive")),
        ("embedding_model", json!(7), json!("m")),
        ("reading", json!({ "reader": "r" }), json!({ "reader": "r", "passages": [] })),
    ] {
        assert_eq!(rejection(&with(name, wrong.clone())).0, Some(name), "{wrong}");
        assert!(parse(&with(name, right.clone())).is_ok(), "{name} {right}");
    }
    for ignored in ["temperature", "max_tokens", "user", "tool_choice", "stream_options", "surprise"] {
        assert!(parse(&with(ignored, json!({ "deep": [1] }))).is_ok(), "{ignored}");
    }
    for required in ["model", "messages"] {
        assert_eq!(
            rejection(&with(required, Value::Null)),
            (Some(required), format!("{required} is missing"))
        );
    }
    assert_eq!(OpenAiRequest::parse(b"[]", NEW_ID).unwrap_err().param, None);
}

#[test]
fn an_error_has_the_class_that_clients_branch_on() {
    let object = |code| {
        let error = ApiError::new(code, "Why.");
        serde_json::to_value(ErrorObject::new(&error, Some("model"))).unwrap()
    };
    assert_eq!(
        object(ErrorCode::ModelMismatch),
        json!({ "error": { "message": "Why.", "type": "invalid_request_error", "code": "model_mismatch", "param": "model" } })
    );
    for (code, kind) in [
        (ErrorCode::Unauthorized, "authentication_error"),
        (ErrorCode::Forbidden, "permission_error"),
        (ErrorCode::NotFound, "not_found_error"),
        (ErrorCode::RateLimited, "rate_limit_error"),
        (ErrorCode::Internal, "server_error"),
    ] {
        assert_eq!(object(code)["error"]["type"], kind);
    }
}

const TITLES: [&str; 2] = ["Refunds", "Shipping"];

/// An answer from two documents.
fn answer(hedged: bool) -> Outcome {
    let citation = |index: u32, chunk: u32, url: Option<&str>, strength: &str| {
        json!({
            "index": index, "chunk_id": Uuid::from_u128(u128::from(100 + chunk)),
            "document_id": Uuid::from_u128(u128::from(index)), "title": TITLES[index as usize - 1], "url": url,
            "score": 0.5, "strength": strength, "excerpt": "Refunds take 5 days.",
            "quotes": [{ "start": 0, "end": 20, "text": "Refunds take 5 days.", "kind": "sentence",
                "pieces": [{ "text": "Refunds take 5 days." }] }],
        })
    };
    let outcome = json!({
        "type": "answer",
        "session_id": Uuid::from_u128(10), "message_id": Uuid::from_u128(11), "persisted": true,
        "deltas": ["Refunds take 5 days. \\[1\\] [1]", " Shipping is free. [2] [1]"], "hedged": hedged,
        "citations": [
            citation(2, 1, None, "partial"), citation(1, 2, None, "good"),
            citation(1, 3, Some("https://example.com/refunds"), "partial"),
        ],
        "also_found": [], "referenced_indices": [1, 2],
    });
    serde_json::from_value(outcome).unwrap()
}

fn head() -> CompletionHead {
    CompletionHead::new(NEW_ID, 1_700_000_000, "evidence-chat".to_owned())
}

/// The chunks of a stream.
fn chunks(outcome: &Outcome) -> Vec<Value> {
    let events = outcome.opening_events();
    let mut text: String = events.iter().map(|event| head().encode(event).unwrap()).collect();
    text.push_str(&head().encode_end(outcome).unwrap());
    let text = text.strip_suffix(DONE).unwrap();
    text.split_terminator("\n\n")
        .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

fn whole(outcome: &Outcome) -> Value {
    serde_json::to_value(head().whole(outcome)).unwrap()
}

fn content_of(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

#[test]
fn the_chunks_are_a_role_then_text_then_one_with_everything_else() {
    let chunks = chunks(&answer(false));
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!(others[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    assert_eq!(others.len(), 3);
    for chunk in others {
        let names: Vec<_> = chunk.as_object().unwrap().keys().collect();
        assert_eq!(names, ["choices", "created", "id", "model", "object"], "no facts before the end");
        assert_eq!(chunk["choices"][0]["finish_reason"], Value::Null);
        assert_eq!(chunk["object"], "chat.completion.chunk");
    }
    for chunk in &chunks {
        assert_eq!(chunk["id"], format!("chatcmpl-{NEW_ID}"));
        assert_eq!((&chunk["created"], &chunk["model"]), (&json!(1_700_000_000), &json!("evidence-chat")));
    }
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(last["choices"][0]["delta"].get("content"), None);
    assert_eq!(last["citations"]["referenced_indices"], json!([1, 2]));
    assert_eq!(last["citations"]["sources"].as_array().unwrap().len(), 3);
    let retrieval = json!({ "hedged": false, "strength": "good", "also_found": [], "decided_by": "search" });
    assert_eq!(last["retrieval"], retrieval);
    assert_eq!(last["usage"], json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 }));
    assert_eq!((&last["persisted"], last.get("mode")), (&json!(true), None));
    assert_eq!(last["session_id"], json!(Uuid::from_u128(10)));
}

#[test]
fn a_whole_completion_has_the_same_facts_as_the_chunks() {
    let refusal = Outcome::Refusal(Refusal::new(Reason::NoMatch, &[], 0.35));
    for outcome in [answer(false), answer(true), refusal] {
        let (chunks, mut whole) = (chunks(&outcome), whole(&outcome));
        let mut last = chunks.last().unwrap().clone();
        let message = whole["choices"][0]["message"].clone();
        assert_eq!(message["content"], content_of(&chunks));
        assert_eq!((&message["role"], &message["refusal"]), (&json!("assistant"), &Value::Null));
        let of_chunk = last["choices"][0]["delta"].get("annotations").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(message["annotations"], of_chunk);
        for document in [&mut last, &mut whole] {
            document.as_object_mut().unwrap().retain(|name, _| name != "object" && name != "choices");
        }
        assert_eq!(last, whole);
    }
}

#[test]
fn annotations_name_each_document_once_in_the_order_of_the_numbers() {
    for (hedged, shift) in [(false, 0), (true, 55)] {
        let whole = whole(&answer(hedged));
        let content: Vec<char> =
            whole["choices"][0]["message"]["content"].as_str().unwrap().chars().collect();
        let annotations = whole["choices"][0]["message"]["annotations"].as_array().unwrap();
        let found: Vec<_> = annotations.iter().map(|annotation| &annotation["url_citation"]).collect();
        assert_eq!(found[0]["url"], "https://example.com/refunds");
        assert_eq!(found[1]["url"], format!("urn:uuid:{}", Uuid::from_u128(2)));
        for (at, citation) in found.iter().enumerate() {
            let range = |name: &str| citation[name].as_u64().unwrap() as usize;
            let marked: String = content[range("start_index")..range("end_index")].iter().collect();
            assert_eq!((marked, &citation["title"]), (format!("[{}]", at + 1), &json!(TITLES[at])));
        }
        assert_eq!(found[0]["start_index"], 27 + shift);
    }
}

#[test]
fn a_hedged_answer_begins_with_the_hedge() {
    let chunks = chunks(&answer(true));
    assert!(
        content_of(&chunks).starts_with("These passages are about this, but may not answer it.\n\nRefunds")
    );
    assert_eq!(chunks.last().unwrap()["retrieval"]["hedged"], true);
}

#[test]
fn a_refusal_is_a_message_without_citations() {
    let refusal = Refusal::new(Reason::WeakEvidence, &[], 0.35);
    let message = refusal.message.clone();
    let chunks = chunks(&Outcome::Refusal(refusal));
    assert_eq!((chunks.len(), content_of(&chunks)), (3, message));
    let last = &chunks[2];
    for absent in ["citations", "usage", "session_id", "message_id"] {
        assert_eq!(last.get(absent), None, "{absent}");
    }
    assert_eq!(last["retrieval"]["refusal"]["reason"], "weak_evidence");
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
}

#[test]
fn usage_is_that_of_the_model_and_missing_if_it_is_not_known() {
    let usage = |prompt, completion| {
        let mut outcome = answer(false);
        let mut report = GenerationReport::new("llama");
        (report.prompt_tokens, report.completion_tokens) = (prompt, completion);
        outcome.set_generation(report);
        whole(&outcome).get("usage").cloned()
    };
    let counted = json!({ "prompt_tokens": 400, "completion_tokens": 30, "total_tokens": 430 });
    assert_eq!(usage(Some(400), Some(30)), Some(counted));
    assert_eq!((usage(None, Some(30)), usage(Some(400), None)), (None, None));
}

#[test]
fn a_generated_answer_says_so_in_the_end() {
    let Outcome::Answer(mut generated) = answer(false) else { panic!("no answer") };
    generated.mode = AnswerMode::Generated;
    generated.generation = Some(GenerationReport::new("llama"));
    let mut report = GenerationReport::new("llama");
    report.cut = true;
    let cut = Outcome::Answer(AnswerOutcome { generation: Some(report), ..generated.clone() });
    assert_eq!(whole(&cut)["choices"][0]["finish_reason"], "length");
    assert_eq!(chunks(&cut).pop().unwrap()["choices"][0]["finish_reason"], "length");
    let last = chunks(&Outcome::Answer(generated)).pop().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!((&last["mode"], &last["generation"]["model"]), (&json!("generated"), &json!("llama")));
}

#[test]
fn events_without_a_counterpart_are_comments_or_nothing() {
    let progress = head().encode(&Event::Progress { stage: Stage::Writing }).unwrap();
    assert!(progress.starts_with(": ") && progress.ends_with("\n\n"));
    let sources = Event::Sources { citations: &[], also_found: &[], referenced_indices: &[] };
    assert_eq!(head().encode(&sources).unwrap(), "");
}

#[test]
fn a_stream_that_fails_ends_in_an_error_object() {
    let error = ApiError::new(ErrorCode::Internal, "Sorry.").with_request_id("r");
    assert_eq!(
        head().encode(&Event::Error(error)).unwrap(),
        "data: {\"error\":{\"message\":\"Sorry.\",\"type\":\"server_error\",\"code\":\"internal\",\"param\":null}}\n\n"
    );
}

#[test]
fn the_name_of_the_model_may_name_an_assistant() {
    let assistant = |model: &str| parse(&with("model", json!(model))).unwrap().question.assistant;
    assert_eq!(assistant("evidence-chat/shop").as_str(), "shop");
    for default in ["evidence-chat", "gpt-4o", "evidence-chats", "evidence-chat-2"] {
        assert!(assistant(default).is_default(), "{default}");
    }
    for wrong in ["evidence-chat/", "evidence-chat/Shop", "evidence-chat/a/b"] {
        assert_eq!(rejection(&with("model", json!(wrong))).0, Some("model"), "{wrong}");
    }
    let mut body = with("model", json!("evidence-chat/shop"));
    body["embedding_model"] = Value::Null;
    assert_eq!(rejection(&body).0, Some("embedding_model"));
}

#[test]
fn markup_of_a_document_is_escaped_and_annotations_count_the_escaped_text() {
    let Outcome::Answer(mut answer) = answer(false) else { panic!("no answer") };
    answer.deltas = vec![
        "Get ![x](https://evil.example/p.png) and __init__. [1]".to_owned(),
        "\n\nRun:\n\nnpm i\nls a\\[2\\]\n[2]".to_owned(),
    ];
    let outcome = Outcome::Answer(answer);
    let content = r"Get !\[x\](https\://evil.example/p.png) and \_\_init\_\_. [1]".to_owned()
        + "\n\nRun:\n\n    npm i\n    ls a[2]\n[2]";
    assert_eq!(content_of(&chunks(&outcome)), content);
    let message = whole(&outcome)["choices"][0]["message"].clone();
    assert_eq!(message["content"], content);
    for (at, start) in [(0, content.find("[1]").unwrap()), (1, content.rfind("[2]").unwrap())] {
        assert_eq!(message["annotations"][at]["url_citation"]["start_index"], start);
    }
}
