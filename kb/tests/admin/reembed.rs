//! `kb reembed`.

use super::*;

fn chunk(number: u128, reason: &str) -> Value {
    value!({
        "chunk_id": id(number), "document_id": id(1), "source": HOSTILE,
        "content": "Some text.", "section": null, "reason": reason,
    })
}

#[test]
fn a_dry_run_counts_by_document_and_reason_and_writes_nothing() {
    let rows = || value!([chunk(1, "stale"), chunk(2, "model"), chunk(3, "model")]);
    let fake = table(TO_EMBED, rows());
    let output = kb(&fake.url, &["reembed", "--dry-run"]);
    assert!(output.out.contains("\n     1        0      2  kb/a\\u{1b}"), "{}", output.out);
    assert!(
        output.out.ends_with("3 passages to embed: 1 edited, 2 from another model; nothing was changed\n"),
        "{}",
        output.out
    );
    assert_eq!(fake.count(WRITE), 0);
    let json = kb(&table(TO_EMBED, rows()).url, &["reembed", "--dry-run", "--json"]).json();
    assert_eq!((&json["reasons"], &json["written"]), (&value!({ "stale": 1, "model": 2 }), &value!(0)));
}

#[test]
fn nothing_to_embed_needs_no_model() {
    let output = kb(&server(|_| None).url, &["reembed", "--model-dir", "/nowhere"]);
    assert_eq!(output.code, 0);
    assert!(output.out.starts_with("Every passage has a vector"), "{}", output.out);
}

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count() + 2
    }

    fn vector(&mut self, text: &str) -> Vec<f32> {
        vec![text.len() as f32]
    }
}

fn reembedded(url: &str) -> Result<Reembedded, SupabaseError> {
    let backoff = Backoff { retries: 1, first_pause: Duration::from_millis(1) };
    let knowledge_base = KnowledgeBase::new(Client::new(url, KEY, backoff).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(reembed(
        &knowledge_base,
        &FakeEmbedder,
        "m",
        Some("handbook"),
        None,
        &Progress::hidden(),
    ))
}

/// The vectors that were sent.
fn written(fake: &FakeServer) -> Vec<Value> {
    let writes = fake.requests().into_iter().filter(|request| request.line == WRITE);
    let entries = |request: Request| serde_json::from_str::<Value>(&request.body).unwrap()["vectors"].take();
    writes.flat_map(|request| entries(request).as_array().unwrap().clone()).collect()
}

#[test]
fn passages_edited_during_a_run_are_left_for_the_next_run() {
    let fake = server(|line| match line {
        TO_EMBED => {
            let mut longer = chunk(2, "missing");
            longer["content"] = "A text twice as long".into();
            Some(value!([chunk(1, "stale"), longer]))
        }
        WRITE => Some(value!([id(2)])),
        _ => None,
    });
    let done = reembedded(&fake.url).unwrap();
    assert_eq!((done.written, done.changed_meanwhile), (1, 1));
    let entries = written(&fake);
    // In whatever unit vectors are sent.
    let number = |entry: &Value| -> f64 {
        entry["embedding"].as_str().unwrap().trim_matches(['[', ']']).parse().unwrap()
    };
    assert_eq!(number(&entries[1]) / number(&entries[0]), 2.0);
    assert_eq!(entries[0]["model"], "m");
    // select md5(E'\nSome text.')
    assert_eq!(entries[0]["text_hash"], "6bb8c38f85896f830d2c47189c4fa307");
    assert_eq!(entries[0]["sentences"][0]["end"], 10);
}

#[test]
fn an_edited_passage_is_read_again_below_what_is_above_it_and_others_keep_their_statements() {
    let above = value!({ "role": "lead_in", "text": "Not covered:", "start": 0, "is_above": true });
    let mut edited = chunk(1, "stale");
    edited["content"] = "- Theft\n- Fire".into();
    edited["parts"] = value!([above]);
    let mut kept = chunk(2, "model");
    let sentences = value!([{ "start": 0, "end": 4, "kind": "sentence", "chain": [0] }]);
    (kept["parts"], kept["sentences"]) = (value!([above]), sentences);
    let mut unquotable = chunk(3, "model");
    unquotable["sentences"] = value!([]);
    let fake = table(TO_EMBED, value!([edited, kept, unquotable]));
    reembedded(&fake.url).unwrap();
    let written = written(&fake);
    let sentences = |entry: &Value| -> Vec<Value> {
        let of = |sentence: &Value| value!([sentence["start"], sentence["end"], sentence["chain"]]);
        entry["sentences"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(sentences(&written[0]), [value!([2, 7, [0]]), value!([10, 14, [0]])]);
    assert_eq!(written[0]["parts"], value!([above]));
    assert_eq!(sentences(&written[1]), [value!([0, 4, [0]])]);
    assert!(sentences(&written[2]).is_empty());
    // select md5(E'\nNot covered:\n- Theft\n- Fire')
    assert_eq!(written[0]["text_hash"], "a6ace1f622f396c773799c6036a481ab");
}

#[test]
fn a_sync_embeds_only_passages_of_its_own_collection() {
    let fake = table(TO_EMBED, value!([chunk(1, "model"), chunk(2, "stale")]));
    reembedded(&fake.url).unwrap();
    let ids: Vec<_> = written(&fake).iter().map(|entry| entry["chunk_id"].clone()).collect();
    assert_eq!(ids, [value!(id(1)), value!(id(2))]);
    let asked = fake.requests().into_iter().filter(|request| request.line == TO_EMBED);
    let asked: Vec<Value> = asked.map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    assert!(asked.iter().all(|body| body["collection"] == "handbook" && body["model"] == "m"));
}

#[test]
fn a_request_without_response_is_retried_with_the_same_vectors() {
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (TO_EMBED, 0) => json(200, value!([chunk(1, "stale")]).to_string()),
        (WRITE, 0) => Answer::Drop,
        (WRITE, _) => json(200, value!([id(1)]).to_string()),
        _ => json(200, "[]"),
    });
    assert_eq!(reembedded(&fake.url).unwrap().written, 1);
    let entries = written(&fake);
    assert_eq!((entries.len(), &entries[0]), (2, &entries[1]));
}

#[test]
fn a_passage_that_the_database_refuses_is_named_and_does_not_stop_the_others() {
    let limit =
        r#"{"code":"23514","message":"violates check constraint \"kb_sentences_ordinal_is_0_to_255\""}"#;
    let fake = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (TO_EMBED, 0) => {
            json(200, value!([chunk(1, "stale"), chunk(2, "stale"), chunk(3, "stale")]).to_string())
        }
        (WRITE, _) if request.body.contains(&id(2)) => json(400, limit),
        (WRITE, _) => {
            let one = if request.body.contains(&id(1)) { id(1) } else { id(3) };
            json(200, value!([one]).to_string())
        }
        _ => json(200, "[]"),
    });
    let done = reembedded(&fake.url).unwrap();
    assert_eq!((done.written, done.changed_meanwhile), (2, 0));
    let [refused] = &done.refused[..] else { panic!("{done:?}") };
    assert_eq!((refused.source.as_str(), refused.chunk_id.to_string()), (HOSTILE, id(2)));
    assert!(refused.reason.contains("kb_sentences_ordinal_is_0_to_255"), "{}", refused.reason);
}

#[test]
fn reembed_exits_with_1_and_escapes_names_if_the_database_refuses_a_passage() {
    let fake = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        // First the survey, then the same passages to embed.
        (TO_EMBED, 0 | 2) => json(200, value!([chunk(1, "stale")]).to_string()),
        (WRITE, _) => json(400, r#"{"code":"23514","message":"limit\u001b"}"#),
        _ => json(200, "[]"),
    });
    let output = kb(&fake.url, &["reembed"]);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    let expected =
        format!("failed   kb/a\\u{{1b}}[2J\\u{{9b}}31m\\u{{202e}}\\n.md: passage {}: the database", id(1));
    assert!(output.out.contains(&expected), "{}", output.out);
}

#[test]
fn an_unreachable_server_ends_the_run() {
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (TO_EMBED, 0) => json(200, value!([chunk(1, "stale")]).to_string()),
        _ => Answer::Drop,
    });
    assert!(reembedded(&fake.url).unwrap_err().to_string().contains("cannot reach"));
}
