//! `kb list · show · enable · disable · remove`.

use super::*;

#[test]
fn list_shows_every_document_and_the_reason_of_a_failure() {
    let rows = value!([document(2, "kb/b.pdf", "failed"), document(1, "kb/a.md", "ready")]);
    let fake = server(move |line| match line {
        OVERVIEW => Some(rows.clone()),
        TROUBLES => Some(troubles()),
        _ => None,
    });
    let output = kb(&fake.url, &["list"]);
    let lines: Vec<_> = output.out.lines().collect();
    assert_eq!(lines[0], "STATUS  ENABLED  CHUNKS  STALE  SOURCE");
    assert_eq!(lines[1], "ready   yes          12      0  kb/a.md");
    assert!(
        output.out.contains("\n2 documents: 1 ready, 1 failed\n  kb/b.pdf: kb/a\\u{1b}"),
        "{}",
        output.out
    );
    assert!(output.out.ends_with("is encrypted (since 2026-11-20 08:00 UTC)\n"), "{}", output.out);
    assert_eq!(output.code, 0);
}

#[test]
fn list_has_a_column_of_audiences_only_if_there_are_any() {
    let mut restricted = document(1, "kb/a.md", "ready");
    restricted["audience"] = value!(["team:sales", "team:\u{1b}[31m"]);
    let rows = value!([restricted, document(2, "kb/b.md", "ready")]);
    let output = kb(&table(OVERVIEW, rows).url, &["list"]);
    assert!(output.out.contains("AUDIENCE") && output.out.contains("default"), "{}", output.out);
    assert!(output.out.contains("team:sales, team:\\u{1b}[31m"), "{}", output.out);
}

#[test]
fn an_empty_knowledge_base_says_how_to_fill_it() {
    let empty = server(|_| None);
    assert!(kb(&empty.url, &["list"]).out.contains("kb sync DIR"));
    assert!(kb(&empty.url, &["list", "--stale"]).out.contains("No document matches"));
    assert_eq!(kb(&empty.url, &["list", "--json"]).out, "[]\n");
}

#[test]
fn hostile_names_are_verbatim_in_json_and_escaped_in_text() {
    let rows = || value!([document(1, HOSTILE, "ready")]);
    let listed = kb(&table(OVERVIEW, rows()).url, &["list"]);
    assert!(listed.out.contains(r"kb/a\u{1b}[2J\u{9b}31m\u{202e}\n.md"), "{}", listed.out);
    assert_eq!(kb(&table(OVERVIEW, rows()).url, &["list", "--json"]).json()[0]["source"], HOSTILE);
}

fn showable() -> FakeServer {
    let long = format!("{} end\u{1b}[2J", "word ".repeat(99));
    let passage = |number: u128, content: &str, meta: Value, stale: bool| {
        let id = id(number);
        value!({ "id": id, "ordinal": number, "content": content, "meta": meta, "stale": stale })
    };
    let chunks = value!([
        passage(1, &long, value!({ "section": "B\u{1b}", "page": "iv" }), true),
        passage(0, "First.\nSecond line.", value!({ "section": "A", "page": 7 }), false),
    ]);
    server(move |line| match line {
        DOCUMENTS | OVERVIEW => Some(value!([document(1, HOSTILE, "ready")])),
        CHUNKS => Some(chunks.clone()),
        _ => None,
    })
}

#[test]
fn show_prints_properties_and_passages_in_order() {
    let output = kb(&showable().url, &["show", ".md"]);
    let shown = &output.out;
    assert!(shown.starts_with("source    kb/a\\u{1b}[2J"), "{shown}");
    assert!(
        shown.contains("\nchanged   2026-11-22 10:04 UTC\n\n[1]  page 7  A\n    First. Second line.\n\n"),
        "{shown}"
    );
    assert!(shown.contains("[2]  STALE  page iv  B\\u{1b}\n    word") && shown.ends_with("…\n"), "{shown}");
    let full = kb(&showable().url, &["show", ".md", "--full"]).out;
    assert!(full.contains("    First.\n    Second line.\n") && full.ends_with("end\\u{1b}[2J\n"), "{full}");
    let json = kb(&showable().url, &["show", ".md", "--json"]).json();
    assert_eq!((&json["source"], &json["passages"][0]["meta"]["page"]), (&value!(HOSTILE), &value!(7)));
}

#[test]
fn show_lists_the_documents_that_match_an_ambiguous_name() {
    let rows = value!([document(1, "kb/a.md", "ready"), document(2, "kb/ab.md", "ready")]);
    let output = kb(&table(DOCUMENTS, rows).url, &["show", "kb/a"]);
    assert_eq!(output.code, 1);
    assert!(
        output.err.contains("matches 2 documents; name one of them:\n  kb/a.md\n  kb/ab.md"),
        "{}",
        output.err
    );
    let output = kb(&server(|_| None).url, &["show", "x\u{1b}"]);
    assert!(output.err.contains("there is no document x\\u{1b}; `kb list`"), "{}", output.err);
}

#[test]
fn disable_prints_the_documents_that_it_hid() {
    let fake = server(|line| match line {
        DOCUMENTS => Some(value!([document(1, "kb/a.md", "ready"), document(2, "kb/b.md", "ready")])),
        ENABLE => Some(value!([id(1), id(2)])),
        _ => None,
    });
    let output = kb(&fake.url, &["disable", "a.md", "kb/b.md", "a.md"]);
    assert_eq!((output.code, output.out.as_str()), (0, "disabled kb/a.md\ndisabled kb/b.md\n"));
    let change = fake.requests().into_iter().find(|request| request.line == ENABLE).unwrap();
    assert_eq!(change.body, value!({ "ids": [id(1), id(2)], "enabled": false }).to_string());
}

#[test]
fn a_command_with_one_wrong_name_changes_nothing() {
    let rows = || value!([document(1, "kb/a.md", "ready")]);
    for command in [&["disable", "kb/a.md", "nothing"][..], &["remove", "--yes", "kb/a.md", "nothing"][..]] {
        let fake = table(DOCUMENTS, rows());
        assert_eq!(kb(&fake.url, command).code, 1);
        assert!(fake.requests().iter().all(|request| request.line.starts_with("GET")));
    }
}

#[test]
fn remove_without_a_terminal_needs_yes() {
    let fake = table(DOCUMENTS, value!([document(1, "kb/a.md", "ready")]));
    let output = kb(&fake.url, &["remove", "a.md"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("--yes"), "{}", output.err);
    assert!(fake.requests().iter().all(|request| request.line.starts_with("GET")));
}

#[test]
fn remove_deletes_the_document_first_and_then_its_original() {
    let mut dropped = document(2, "bucket/b.md", "ready");
    dropped["storage_path"] = "b.md".into();
    let rows = value!([document(1, "kb/a.md", "ready"), dropped]);
    let fake = table(DOCUMENTS, rows);
    let output = kb(&fake.url, &["remove", "--yes", "a.md", "bucket/b.md"]);
    assert!(output.out.starts_with("removed kb/a.md\nremoved bucket/b.md\n"), "{}{}", output.out, output.err);
    assert!(output.out.contains("next `kb sync` adds it again"), "{}", output.out);
    let requests = fake.requests();
    let position = |line: &str| requests.iter().position(|request| request.line == line).unwrap();
    assert!(position(DELETE_DOCUMENTS) < position(DELETE_FILES));
    let files: Vec<_> = requests.iter().filter(|request| request.line == DELETE_FILES).collect();
    assert_eq!(files.len(), 1, "a file that people put into the bucket stays");
    assert_eq!(files[0].body, value!({ "prefixes": [format!("originals/{}/a.md", id(1))] }).to_string());
}
