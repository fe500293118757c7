//! `kb ask` against a server with scripted responses.

#[allow(dead_code, reason = "the tests of writing use all of it")]
mod support;

use std::time::Duration;

use chat_core::assistant::AssistantName;
use chat_core::evidence::EvidenceThresholds;
use chat_core::refusal::Reason;
use chat_core::{DecidedBy, PassageToRead};
use kb::ask::{AskError, Asked, Conclusion, PassageReader, Settings, ask, explanation, reply, report};
use kb::knowledge_base::KnowledgeBase;
use kb::supabase::{Backoff, Client};
use kb::text_embedder::TextEmbedder;
use serde_json::{Value, json as value};

use support::{Answer, FakeServer, Request, json};

const MATCH: &str = "POST /rest/v1/rpc/match_chunks";
const DOCUMENTS: &str = "GET /rest/v1/kb_documents";

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.len()
    }

    fn vector(&mut self, _: &str) -> Vec<f32> {
        vec![0.5, -0.25]
    }
}

fn ask_server(
    question: &str,
    answer: impl Fn(&Request) -> Answer + Send + 'static,
) -> (Result<Asked, AskError>, Vec<Request>) {
    ask_with(question, None, answer)
}

/// A reader that scores all statements alike, and keeps what it read.
struct FakeReader {
    z: f32,
    read: Vec<(String, PassageToRead)>,
}

impl PassageReader for FakeReader {
    fn z(&mut self, question: &str, passages: &[PassageToRead]) -> Vec<Vec<Option<f32>>> {
        self.read.extend(passages.iter().map(|passage| (question.to_owned(), passage.clone())));
        passages.iter().map(|passage| vec![Some(self.z); passage.statements.len()]).collect()
    }
}

/// Lets a reader read, which gives each statement this z.
fn ask_reader(
    previous: Option<&str>,
    question: &str,
    z: f32,
    answer: impl Fn(&Request) -> Answer + Send + 'static,
) -> (Asked, FakeReader) {
    let mut reader = FakeReader { z, read: Vec::new() };
    let (asked, _) = ask_all(previous, question, None, Some(&mut reader), answer);
    (asked.unwrap(), reader)
}

fn ask_with(
    question: &str,
    assistant: Option<&str>,
    answer: impl Fn(&Request) -> Answer + Send + 'static,
) -> (Result<Asked, AskError>, Vec<Request>) {
    ask_after(None, question, assistant, answer)
}

fn ask_after(
    previous: Option<&str>,
    question: &str,
    assistant: Option<&str>,
    answer: impl Fn(&Request) -> Answer + Send + 'static,
) -> (Result<Asked, AskError>, Vec<Request>) {
    ask_all(previous, question, assistant, None, answer)
}

fn ask_all(
    previous: Option<&str>,
    question: &str,
    assistant: Option<&str>,
    reader: Option<&mut dyn PassageReader>,
    answer: impl Fn(&Request) -> Answer + Send + 'static,
) -> (Result<Asked, AskError>, Vec<Request>) {
    let server = FakeServer::start(move |request, _| answer(request));
    let backoff = Backoff { retries: 0, first_pause: Duration::from_millis(1) };
    let knowledge_base = KnowledgeBase::new(Client::new(&server.url, "sb_secret", backoff).unwrap());
    let settings = Settings {
        match_count: 7,
        assistant: assistant.map(|name| AssistantName::parse(name).unwrap()),
        thresholds: EvidenceThresholds { similarity: 0.35, confidence: 0.0, ..EvidenceThresholds::default() },
        previous: previous.map(str::to_owned),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asked =
        runtime.block_on(ask(question, &knowledge_base, "model", &mut FakeEmbedder, reader, &settings));
    (asked, server.requests())
}

fn row(similarity: f64, model: &str) -> Answer {
    let row = value!({
        "chunk_id": "00000000-0000-4000-8000-000000000001",
        "document_id": "00000000-0000-4000-8000-000000000002",
        "document_name": "refunds.md",
        "document_meta": { "title": "Refunds" },
        "content": "We refund in 5 days. Ask us.",
        "meta": { "section": "Refunds › Time" },
        "model": model,
        "similarity": similarity,
        "lexical": 0.5,
        "score": 0.6,
        "sentences": [
            { "start": 0, "end": 20, "similarity": similarity, "kind": "sentence" },
            { "start": 21, "end": 28, "similarity": 0.1, "kind": "sentence" },
        ],
        "query_terms": [{ "word": "refund", "weight": 1.5 }],
    });
    json(200, value!([row]).to_string())
}

fn reason(asked: Result<Asked, AskError>) -> Reason {
    match asked.unwrap().conclusion {
        Conclusion::Refusal(refusal) => refusal.reason,
        Conclusion::Answer(answer) => panic!("{answer:?}"),
    }
}

#[test]
fn a_question_is_searched_by_vector_and_words_and_answered_from_what_is_found() {
    let (asked, requests) = ask_server("  When is my refund there? \n", |_| row(0.6, "model"));
    let parameters: Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(requests[0].line, MATCH);
    assert_eq!(
        parameters,
        value!({
            "query_embedding": "[0.5,-0.25]",
            "match_count": 7,
            "match_threshold": -1,
            "query_text": "When is my refund there?",
            "assistant": null,
        })
    );
    assert_eq!(requests.len(), 1);
    let text = reply(&asked.unwrap());
    assert!(text.starts_with("Time: We refund in 5 days. [1]"), "{text}");
    assert!(text.contains("[1] Refunds › Time ("), "{text}");
}

#[test]
fn a_follow_up_is_searched_together_with_the_question_before_it() {
    let found = |request: &Request| row(if request.body.contains("refund") { 0.9 } else { 0.1 }, "model");
    let (asked, requests) = ask_after(Some("When is my refund there?"), "How long?", None, found);
    let texts: Vec<Value> = requests
        .iter()
        .map(|request| serde_json::from_str::<Value>(&request.body).unwrap()["query_text"].clone())
        .collect();
    assert_eq!(texts, ["How long?", "How long? When is my refund there?"]);
    let asked = asked.unwrap();
    assert_eq!(report(&asked)["searched"], "How long? When is my refund there?");
    let text = reply(&asked);
    assert!(
        text.starts_with("Searched: How long? When is my refund there?\n\nTime: We refund in 5 days."),
        "{text}"
    );

    let alone = |_: &Request| row(0.9, "model");
    let (asked, _) = ask_after(Some("When is my refund there?"), "How long?", None, alone);
    assert_eq!(report(&asked.unwrap())["searched"], Value::Null, "it finds as much alone");
    let (asked, requests) = ask_after(Some(" "), "How long?", None, alone);
    assert!(matches!(asked, Err(AskError::Empty)) && requests.is_empty());
    let (_, requests) = ask_after(Some(&"refund ".repeat(100)), "How long?", None, alone);
    assert_eq!(requests.len(), 1, "the model cannot read both");
}

#[test]
fn the_reader_reads_what_is_found_and_decides_with_the_search() {
    let question = "When is my refund there?";
    let (asked, reader) = ask_reader(None, question, 5.0, |_| row(0.6, "model"));
    let [(read, passage)] = reader.read.as_slice() else { panic!("{:?}", reader.read) };
    assert_eq!((read.as_str(), passage.heading.as_str()), (question, "Refunds › Time"));
    assert_eq!(passage.statements, ["We refund in 5 days.", "Ask us."]);
    assert_eq!(asked.decided_by, DecidedBy::Reader);
    assert!(reply(&asked).ends_with("\n\nDecided by the search and the reader."), "{}", reply(&asked));
    assert!(explanation(&asked).contains("  5.00  yes "), "{}", explanation(&asked));
    let document = report(&asked);
    assert_eq!(
        (&document["decided_by"], &document["candidates"][0]["best_z"]),
        (&value!("reader"), &value!(5.0))
    );

    let (asked, _) = ask_server(question, |_| row(0.6, "model"));
    let asked = asked.unwrap();
    assert!(reply(&asked).ends_with("\n\nDecided by the search alone."), "{}", reply(&asked));
    let document = report(&asked);
    assert_eq!(
        (&document["decided_by"], &document["candidates"][0]["best_z"]),
        (&value!("search"), &Value::Null)
    );
}

#[test]
fn a_follow_up_is_read_with_the_question_before_it_if_it_is_searched_with_it() {
    let found = |request: &Request| row(if request.body.contains("refund") { 0.9 } else { 0.1 }, "model");
    let (asked, reader) = ask_reader(Some("When is my refund there?"), "How long?", 5.0, found);
    assert_eq!(reader.read[0].0, "How long? When is my refund there?");
    assert_eq!(report(&asked)["searched"], "How long? When is my refund there?");
    let (_, reader) = ask_reader(Some("When is my refund there?"), "How long?", 5.0, |_| row(0.9, "model"));
    assert_eq!(reader.read[0].0, "How long?");
}

#[test]
fn a_question_that_is_longer_than_the_model_reads_is_marked() {
    let (asked, _) = ask_server(&"refund ".repeat(100), |_| row(0.6, "model"));
    let asked = asked.unwrap();
    assert_eq!(report(&asked)["truncated"], true);
    assert!(reply(&asked).starts_with("The question is longer than the model reads"), "{}", reply(&asked));
    let (asked, _) = ask_server("Refund?", |_| row(0.6, "model"));
    assert_eq!(report(&asked.unwrap())["truncated"], false);
}

#[test]
fn the_collections_of_an_assistant_are_searched() {
    let (asked, requests) = ask_with("Refunds?", Some("shop"), |_| row(0.6, "model"));
    assert!(asked.is_ok());
    let parameters: Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(parameters["assistant"], "shop");
}

#[test]
fn an_empty_knowledge_base_is_distinguished_from_one_without_matches() {
    let (asked, _) = ask_server("Refunds?", |_| json(200, "[]"));
    assert_eq!(reason(asked), Reason::EmptyKb);
    let (asked, requests) = ask_server("Refunds?", |request| match request.line.as_str() {
        DOCUMENTS => json(200, r#"[{"id":"00000000-0000-4000-8000-000000000001"}]"#),
        _ => json(200, "[]"),
    });
    assert_eq!(reason(asked), Reason::NoMatch);
    assert_eq!(requests.len(), 2);
}

#[test]
fn vectors_of_another_model_are_an_error_and_not_an_answer() {
    let (asked, _) = ask_server("Refunds?", |_| row(0.9, "another"));
    let error = asked.unwrap_err();
    assert!(matches!(error, AskError::OtherModel) && error.to_string().contains("kb reembed"), "{error}");
}

#[test]
fn questions_that_the_worker_would_refuse_are_not_sent() {
    for (question, expected) in [(" \n".to_owned(), "empty"), ("ä".repeat(4001), "4001 characters")] {
        let (asked, requests) = ask_server(&question, |_| json(200, "[]"));
        assert!(asked.unwrap_err().to_string().contains(expected));
        assert!(requests.is_empty());
    }
}
