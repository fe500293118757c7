//! The fields of a passage that clients get. `tests/wire/passages.test.mjs` compares the other
//! descriptions of it with `wire.json`.

use chat_core::answer::{Citation, Piece, Quote, Support};
use chat_core::evidence::Strength;
use chat_core::found::FoundPassage;
use chat_core::search::SearchResult;
use chat_core::statement::{Role, StatementKind};
use serde_json::Value;

fn wire() -> Value {
    serde_json::from_str(include_str!("wire.json")).unwrap()
}

/// A citation in which every field has a value.
fn citation() -> Citation {
    Citation {
        index: 1,
        passage: FoundPassage {
            chunk_id: "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d".parse().unwrap(),
            document_id: "3f333df6-90a4-4fda-8dd3-9485d27cee36".parse().unwrap(),
            title: "Refunds".to_owned(),
            page: Some(3),
            section: Some("How long it takes".to_owned()),
            url: Some("https://shop.example/refunds".to_owned()),
            content_type: Some("application/pdf".to_owned()),
            score: 0.71,
            excerpt: "Refunds: within 5 days".to_owned(),
            blocks: Some(wire()["blocks"].clone()),
            download_url: Some(
                "https://chat.example/api/documents/3f333df6-90a4-4fda-8dd3-9485d27cee36/download".to_owned(),
            ),
        },
        strength: Some(Strength::Strong),
        quotes: vec![Quote {
            start: 9,
            end: 22,
            text: "within 5 days".to_owned(),
            kind: StatementKind::Row,
            plain: Some("Refunds: within 5 days".to_owned()),
            pieces: vec![
                Piece { text: "Refunds".to_owned(), role: Some(Role::Label) },
                Piece { text: "within 5 days".to_owned(), role: Some(Role::Column) },
            ],
            whole: Some("Refunds – paid: within 5 days".to_owned()),
        }],
        supports: vec![Support { start: 9, end: 22, text: "within 5 days".to_owned(), sentence: 1 }],
    }
}

#[test]
fn a_citation_with_a_value_in_every_field_is_written_as_in_wire_json_and_read_again() {
    let citation = citation();
    assert!(!format!("{citation:?}").contains("None"), "a field has no value");
    assert_eq!(serde_json::to_value(&citation).unwrap(), wire());
    assert_eq!(serde_json::from_value::<Citation>(wire()).unwrap(), citation);
}

#[test]
fn a_found_passage_and_a_search_result_have_the_fields_of_a_citation() {
    let Citation { passage, quotes, .. } = citation();
    let mut fields = wire();
    for only_cited in ["index", "strength", "supports"] {
        fields.as_object_mut().unwrap().remove(only_cited);
    }
    let result = SearchResult { passage: passage.clone(), quotes };
    assert_eq!(serde_json::to_value(&result).unwrap(), fields);
    fields.as_object_mut().unwrap().remove("quotes");
    assert_eq!(serde_json::to_value(&passage).unwrap(), fields);
}
