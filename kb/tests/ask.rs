//! `kb ask` against a server with scripted responses.

#[allow(dead_code, reason = "the tests of writing use all of it")]
mod support;

use std::time::Duration;

use chat_core::evidence::EvidenceThresholds;
use chat_core::refusal::Reason;
use kb::ask::{AskError, Asked, Conclusion, Settings, ask, reply};
use kb::knowledge_base::KnowledgeBase;
use kb::supabase::{Backoff, Client, SupabaseError};
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
    let server = FakeServer::start(move |request, _| answer(request));
    let backoff = Backoff { retries: 0, first_pause: Duration::from_millis(1) };
    let knowledge_base = KnowledgeBase::new(Client::new(&server.url, "sb_secret", backoff).unwrap());
    let settings = Settings {
        match_count: 7,
        thresholds: EvidenceThresholds { similarity: 0.35, confidence: 0.0, ..EvidenceThresholds::default() },
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asked = runtime.block_on(ask(question, &knowledge_base, "model", &mut FakeEmbedder, &settings));
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
            { "start": 0, "end": 20, "similarity": similarity },
            { "start": 21, "end": 28, "similarity": 0.1 },
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
        })
    );
    assert_eq!(requests.len(), 1);
    let text = reply(&asked.unwrap());
    assert!(text.starts_with("We refund in 5 days. [1]"), "{text}");
    assert!(text.contains("[1] Refunds › Time ("), "{text}");
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
fn a_question_with_only_similar_passages_is_refused_and_they_are_listed() {
    let (asked, _) = ask_server("Refunds?", |_| row(0.34, "model"));
    let asked = asked.unwrap();
    let text = reply(&asked);
    assert!(
        text.ends_with("Reason: no_match\nNearest passages:\n  Refunds › Time (similarity 0.34)"),
        "{text}"
    );
    assert_eq!(reason(Ok(asked)), Reason::NoMatch);
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

#[test]
fn a_database_without_the_search_says_how_to_create_it() {
    let (asked, _) = ask_server("Refunds?", |_| json(404, r#"{"code":"PGRST202","message":"no function"}"#));
    let error = asked.unwrap_err();
    assert!(matches!(error, AskError::Rest(SupabaseError::SchemaMissing { .. })), "{error}");
}
