use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chunk::MatchedChunk;
use crate::chunk::tests::{chunk, list, passage_of};
use crate::evidence::{EvidenceThresholds, ranked};
use crate::follow_up::{JoinedSearch, joined, respond_to_follow_up};
use crate::question::Question;
use crate::refusal::Reason;
use crate::statement::{Role, StatementKind};
use crate::{DecidedBy, Response, Verdict, passages_to_read, respond};

const ID: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";

/// The reading of the best passages of these rows: `z` for a passage and a statement.
pub(crate) fn reading(rows: &[MatchedChunk], z: impl Fn(usize, usize) -> Option<f32>) -> Reading {
    let passages = ranked(rows);
    let passages = passages.iter().filter(|passage| is_to_read(passage)).take(MAX_READ_PASSAGES);
    let passages = passages.map(PassageToRead::new).enumerate().map(|(at, passage)| PassageReading {
        chunk_id: passage.chunk_id,
        hash: passage.hash,
        z: (0..passage.statements.len()).map(|statement| z(at, statement)).collect(),
    });
    Reading { reader: READER.to_owned(), passages: passages.collect() }
}

fn text(response: &Response) -> Option<String> {
    match &response.verdict {
        Verdict::Answer(answer) => Some(answer.deltas.concat()),
        Verdict::Refuse(_) => None,
    }
}

fn refunds() -> [MatchedChunk; 1] {
    [chunk(1, 1, 0.8, "Refunds are free. Refunds take five days.")]
}

fn answered(reading: &Reading) -> Response {
    respond("How long do refunds take?", &refunds(), Some(reading), &EvidenceThresholds::default(), false)
}

#[test]
fn a_reading_decides_which_statement_is_shown() {
    let first = |z: [f32; 2]| answered(&reading(&refunds(), |_, at| Some(z[at])));
    assert_eq!(text(&first([9.0, -9.0])).as_deref(), Some("Refunds are free."));
    assert_eq!(text(&first([-9.0, 9.0])).as_deref(), Some("Refunds take five days."));
    assert_eq!(first([0.0, 0.0]).decided_by, DecidedBy::Reader);
}

#[test]
fn a_reading_refuses_if_no_statement_answers() {
    let refused = answered(&reading(&refunds(), |_, _| Some(-9.0)));
    assert_eq!(refused.verdict, Verdict::Refuse(Reason::WeakEvidence));
    assert_eq!(refused.decided_by, DecidedBy::Reader);
    assert!(refused.assessment.confidence < 0.1);
    let unread = answered(&reading(&refunds(), |_, _| None));
    assert_eq!(text(&unread), None, "a statement that did not fit is no answer");
    let off = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
    let reading = reading(&refunds(), |_, at| Some(if at == 0 { -5.0 } else { -50.0 }));
    let response = respond("How long do refunds take?", &refunds(), Some(&reading), &off, false);
    assert!(text(&response).is_some(), "it only orders");
}

#[test]
fn a_reading_of_other_words_or_of_another_reader_counts_as_none() {
    let rows = refunds();
    let usable = reading(&rows, |_, _| Some(-50.0));
    let mut wrong = vec![usable.clone(); 6];
    wrong[0].reader = "another".to_owned();
    wrong[1].passages[0].chunk_id = Uuid::from_u128(9);
    wrong[2].passages[0].hash = "0123456789abcdef".to_owned();
    wrong[3].passages[0].z.pop();
    wrong[4].passages[0].z.push(Some(1.0));
    wrong[5].passages.clear();
    let without = respond("How long do refunds take?", &rows, None, &EvidenceThresholds::default(), false);
    assert_eq!(without.decided_by, DecidedBy::Search);
    for wrong in &wrong {
        assert_eq!(answered(wrong), without, "{wrong:?}");
    }
    let mut same = usable;
    same.passages[0].hash = same.passages[0].hash.to_uppercase();
    assert_ne!(answered(&same), without);
}

#[test]
fn a_passage_beyond_the_first_five_with_statements_cannot_be_read() {
    let mut rows: Vec<_> =
        (1..=6).map(|id| chunk(id, id, 0.9 - id as f64 / 100.0, "Refunds take days.")).collect();
    rows.push(chunk(9, 9, 0.99, "***"));
    let read = |id: u128| {
        let mut reading = reading(&rows[5..6], |_, _| Some(3.0));
        let row = rows.iter().find(|row| row.chunk_id.as_u128() == id).unwrap();
        reading.passages[0].chunk_id = row.chunk_id;
        reading.passages[0].hash = PassageToRead::new(&Passage::new(row)).hash;
        respond("refunds", &rows, Some(&reading), &EvidenceThresholds::default(), true).decided_by
    };
    assert_eq!((read(5), read(6)), (DecidedBy::Reader, DecidedBy::Search));
    let (_, passages) = passages_to_read("refunds", &rows, None, &EvidenceThresholds::default());
    let ids: Vec<_> = passages.iter().map(|passage| passage.chunk_id.as_u128()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
}

#[test]
fn a_question_in_a_script_that_the_reader_does_not_know_is_not_read() {
    let mut row = chunk(1, 1, 0.9, "تستغرق المبالغ المستردة خمسة أيام.");
    row.lexical = Some(0.9);
    let rows = [row];
    let question = "كم تستغرق المبالغ المستردة؟";
    let thresholds = EvidenceThresholds::default();
    assert_eq!(passages_to_read(question, &rows, None, &thresholds).1, []);
    let reading = reading(&rows, |_, _| Some(-50.0));
    let response = respond(question, &rows, Some(&reading), &thresholds, true);
    assert_eq!(response, respond(question, &rows, None, &thresholds, true));
}

#[test]
fn a_heading_has_the_title_once() {
    let with = |title: &str, section: Option<&str>| {
        let mut row = chunk(1, 1, 0.5, "x");
        row.document_meta = json!({ "title": title });
        row.meta = json!({ "section": section });
        heading(&row)
    };
    assert_eq!(with("Refunds", Some("Cards › Fees")), "Refunds › Cards › Fees");
    assert_eq!(with("Refunds", Some("Refunds › Fees")), "Refunds › Fees");
    assert_eq!(with("Refunds", None), "Refunds");
    assert_eq!(with("", None), "doc-1.md");
}

#[test]
fn a_statement_is_read_after_what_is_new_of_its_chain() {
    let texts = |row: &MatchedChunk| texts_to_read(&Passage::new(row));
    assert_eq!(texts(&list(1, 0.5, "Not covered:", &["Theft", "Fire"])), ["Not covered: Theft", "Fire"]);
    let lead_in = (Role::LeadIn, "You may return:", None);
    let parent = (Role::Parent, "hats, but not:", None);
    let row = passage_of(
        1,
        0.5,
        "hats, but not:\nworn hats\nshoes\nbelts\nIt is free.\nThis holds.",
        &[
            (StatementKind::Sentence, "hats, but not:", &[lead_in]),
            (StatementKind::Sentence, "worn hats", &[lead_in, parent]),
            (StatementKind::Sentence, "shoes", &[lead_in]),
            (StatementKind::Sentence, "belts", &[parent]),
            (StatementKind::Sentence, "It is free.", &[]),
            (StatementKind::Sentence, "This holds.", &[(Role::Antecedent, "It is free.", None)]),
        ],
    );
    assert_eq!(
        texts(&row),
        [
            "You may return: hats, but not:",
            "worn hats",
            "shoes",
            "hats, but not: belts",
            "It is free.",
            "This holds."
        ]
    );
}

#[test]
fn the_hash_is_of_heading_and_statements_and_the_same_on_every_machine() {
    let hash = |row: &MatchedChunk| PassageToRead::new(&Passage::new(row)).hash;
    let row = chunk(1, 1, 0.5, "Refunds are free. Refunds take days.");
    assert_eq!(hash(&row), "9ee5b520cf40dd85");
    let mut same = row.clone();
    (same.similarity, same.chunk_id) = (0.1, Uuid::from_u128(5));
    assert_eq!(hash(&same), hash(&row));
    let mut other = row.clone();
    other.meta = json!({ "section": "Fees" });
    assert_ne!(hash(&other), hash(&row));
    assert_ne!(hash(&chunk(1, 1, 0.5, "Refunds are free, Refunds take days.")), hash(&row));
    assert_ne!(hash(&chunk(2, 1, 0.5, "Refunds are free. Refunds take days.")), hash(&row));
}

#[test]
fn a_question_of_more_than_forty_words_is_decided_by_the_search() {
    let rows = [chunk(1, 1, 0.9, "Refunds take five days.")];
    let thresholds = EvidenceThresholds::default();
    let reading = reading(&rows, |_, _| Some(-50.0));
    let read = |words: usize| {
        let question = vec!["refunds"; words].join(" ");
        let to_read = passages_to_read(&question, &rows, None, &thresholds).1.len();
        let with = respond(&question, &rows, Some(&reading), &thresholds, true);
        (to_read, with.decided_by, with == respond(&question, &rows, None, &thresholds, true))
    };
    assert_eq!(read(40), (1, DecidedBy::Reader, false));
    assert_eq!(read(41), (0, DecidedBy::Search, true));
}

#[test]
fn a_follow_up_is_read_with_the_question_before_it_if_it_is_answered_with_it() {
    let terms = |row: MatchedChunk| MatchedChunk {
        query_terms: Some(vec![crate::chunk::QueryTerm { word: "norway".to_owned(), weight: 3.0 }]),
        ..row
    };
    let alone = [terms(chunk(1, 1, 0.3, "Norway is cold."))];
    let both = [terms(chunk(2, 2, 0.8, "Delivery to Norway takes 9 days."))];
    let (question, previous) = ("And to Norway?", "How long does delivery to Italy take?");
    let text = joined(question, previous);
    let thresholds = EvidenceThresholds::default();
    let of = |thresholds: &EvidenceThresholds| {
        let joined = JoinedSearch { text: &text, rows: &both };
        let (read, passages) = passages_to_read(question, &alone, Some(joined), thresholds);
        (read, passages.iter().map(|passage| passage.chunk_id.as_u128()).collect::<Vec<_>>())
    };
    assert_eq!(of(&thresholds), (text.clone(), vec![2]));
    let strict = EvidenceThresholds { similarity: 0.9, ..thresholds };
    assert_eq!(of(&strict), (question.to_owned(), vec![1]));

    let respond = |z: f32| {
        let joined = JoinedSearch { text: &text, rows: &both };
        let reading = reading(&both, |_, _| Some(z));
        respond_to_follow_up(question, &alone, joined, Some(&reading), &thresholds, false)
    };
    let (answer, is_joined) = respond(5.0);
    assert_eq!((text_of(&answer), is_joined), (Some("Delivery to Norway takes 9 days."), true));
    let (refusal, is_joined) = respond(-5.0);
    assert_eq!((text_of(&refusal), is_joined), (None, true), "the question still leans on the other");
    assert_eq!((answer.decided_by, refusal.decided_by), (DecidedBy::Reader, DecidedBy::Reader));
}

#[test]
fn a_question_that_is_answered_alone_is_not_answered_with_the_one_before_it_because_of_a_reading() {
    let (question, previous) = ("And to Norway?", "How long does delivery to Italy take?");
    let row = |similarity: f64| MatchedChunk {
        query_terms: Some(vec![crate::chunk::QueryTerm { word: "norway".to_owned(), weight: 3.0 }]),
        ..chunk(1, 1, similarity, "Delivery to Norway takes 9 days.")
    };
    let thresholds = EvidenceThresholds { similarity: 0.0, ..EvidenceThresholds::default() };
    // Only just refused, so that the reading makes it an answer.
    let is_refused =
        |rows: &[MatchedChunk; 1]| text_of(&respond(question, rows, None, &thresholds, false)).is_none();
    let alone = (0..1000).rev().map(|step| [row(f64::from(step) / 1000.0)]).find(is_refused).unwrap();
    let text = joined(question, previous);
    let reading = reading(&alone, |_, _| Some(5.0));
    for both in (0..100).map(|step| [row(f64::from(step) / 100.0)]) {
        let of = |reading| {
            let joined = JoinedSearch { text: &text, rows: &both };
            respond_to_follow_up(question, &alone, joined, reading, &thresholds, false)
        };
        let ((_, leans), (answer, is_joined)) = (of(None), of(Some(&reading)));
        assert_eq!(is_joined, leans, "{both:?}");
        assert!(text_of(&answer).is_some());
    }
}

fn text_of(response: &Response) -> Option<&str> {
    match &response.verdict {
        Verdict::Answer(answer) => answer.deltas.first().map(String::as_str),
        Verdict::Refuse(_) => None,
    }
}

#[test]
fn a_reading_has_the_numbers_that_a_client_sends() {
    let passage = PassageToRead::new(&Passage::new(&refunds()[0]));
    let reading = PassageReading::new(
        &passage,
        &[
            Some(1e9),
            Some(f32::NEG_INFINITY),
            Some(f32::NAN),
            None,
            Some(-1.234_567_8),
            Some(0.125),
            Some(-0.125),
        ],
    );
    let numbers = [Some(100.0), Some(-100.0), None, None, Some(-1.23), Some(0.13), Some(-0.12)];
    assert_eq!(reading.z, numbers);
    assert_eq!((reading.chunk_id, reading.hash), (passage.chunk_id, passage.hash));
}

fn parsed(value: Value) -> Result<Reading, String> {
    Reading::parse(value).map_err(|error| error.message)
}

fn of_passage(field: &str, value: Value) -> Value {
    let mut passage = json!({ "chunk_id": ID, "hash": "0123456789abcDEF", "z": [1.25, null, -3], "new": 1 });
    passage[field] = value;
    json!({ "reader": "r", "passages": [passage] })
}

#[test]
fn a_reading_is_parsed_and_unknown_fields_are_ignored() {
    let reading = parsed(of_passage("more", json!([1]))).unwrap();
    assert_eq!((reading.reader.as_str(), reading.passages.len()), ("r", 1));
    assert_eq!(reading.passages[0].z, [Some(1.25), None, Some(-3.0)]);
    let extremes = parsed(of_passage("z", json!([100, -100.0, 0]))).unwrap();
    assert_eq!(extremes.passages[0].z, [Some(100.0), Some(-100.0), Some(0.0)]);
    assert_eq!(parsed(json!({ "reader": "r", "passages": [] })).unwrap().passages, []);
    assert_eq!(parsed(of_passage("z", json!(vec![0.5; 400]))).unwrap().passages[0].z.len(), 400);
}

#[test]
fn a_malformed_reading_is_rejected_with_the_name_of_the_field() {
    let of_first = |name: &str| format!("reading.passages[0].{name} must");
    for wrong in [json!(1), json!("r"), json!([]), json!(true)] {
        assert!(parsed(wrong).unwrap_err().starts_with("reading must be an object"));
    }
    for wrong in [json!(null), json!(""), json!(7), json!("r".repeat(129))] {
        let error = parsed(json!({ "reader": wrong, "passages": [] })).unwrap_err();
        assert!(error.starts_with("reading.reader must be"), "{error}");
    }
    for wrong in [json!(null), json!({}), json!(vec![json!({}); 6])] {
        let error = parsed(json!({ "reader": "r", "passages": wrong })).unwrap_err();
        assert_eq!(error, "reading.passages must be an array of at most 5 objects");
    }
    let error = parsed(json!({ "reader": "r", "passages": [1] })).unwrap_err();
    assert_eq!(error, "reading.passages[0] must be an object with chunk_id, hash and z");
    for wrong in [json!(null), json!(1), json!("x"), json!(ID.replace('-', ""))] {
        assert!(parsed(of_passage("chunk_id", wrong)).unwrap_err().starts_with(&of_first("chunk_id")));
    }
    for wrong in [
        json!(null),
        json!(1),
        json!("0123456789abcde"),
        json!("0123456789abcdeg"),
        json!("+123456789abcdef"),
    ] {
        assert!(parsed(of_passage("hash", wrong)).unwrap_err().starts_with(&of_first("hash")));
    }
    for wrong in [json!(null), json!([]), json!(vec![0; 401]), json!({ "0": 1 }), json!("1")] {
        let error = parsed(of_passage("z", wrong)).unwrap_err();
        assert_eq!(error, "reading.passages[0].z must be an array of 1 to 400 entries");
    }
    for wrong in [json!(100.1), json!(-101), json!("1"), json!(true), json!([1]), json!(1e300)] {
        let error = parsed(of_passage("z", json!([0, wrong]))).unwrap_err();
        assert!(error.ends_with("from -100 to 100 or null only, entry 1 is not one"), "{error}");
    }
    let passage = of_passage("z", json!([1]))["passages"][0].clone();
    let error = parsed(json!({ "reader": "r", "passages": [passage, passage] })).unwrap_err();
    assert_eq!(error, "reading.passages[1].chunk_id is that of a passage before it");
}

#[test]
fn the_largest_reading_fits_into_a_request() {
    let number = json!(-99.123_46_f32);
    assert_eq!(number.to_string().len(), 18);
    let passage = |id: u128| json!({ "chunk_id": Uuid::from_u128(id), "hash": "0123456789abcdef", "z": vec![&number; MAX_READ_STATEMENTS] });
    let passages: Vec<_> = (0..MAX_READ_PASSAGES as u128).map(passage).collect();
    let mut vector = vec![json!(-1.234_567_890_123_456_7e-10); crate::request::DIMENSIONS];
    vector[0] = json!(1);
    let body = json!({
        "reading": { "reader": "0123456789abcdef", "passages": passages },
        "embedding": vector,
        "message": "x".repeat(1000),
        "message_id": ID,
        "session_id": ID,
        "model": "0123456789abcdef",
        "previous": { "message": "x".repeat(1000), "embedding": vector },
    });
    let body = body.to_string();
    assert!(body.len() <= crate::request::MAX_BODY_BYTES, "{}", body.len());
    assert!(crate::request::ChatRequest::parse(body.as_bytes()).unwrap().reading.is_some());
}

/// Rows, one perhaps twice.
pub(crate) fn found() -> impl Strategy<Value = Vec<MatchedChunk>> {
    let content = prop_oneof![
        4 => "[a-dé字. \n-]{0,60}",
        2 => "(A|B|Norway) (is|has) [a-d]{1,5}\\. [a-d ]{5,20}\\. [a-d ]{5,20}\\.",
        1 => Just("***".to_owned()),
    ];
    let similarity = prop_oneof![9 => -1.0..1.0_f64, 1 => Just(f64::NAN)];
    let row = (content, similarity, prop::option::of(-1.0..1.0_f64), any::<bool>());
    let rows = prop::collection::vec(row, 0..7);
    (rows, any::<bool>()).prop_map(|(rows, is_twice)| {
        let rows = rows.into_iter().enumerate().map(|(id, (content, similarity, score, is_list))| {
            let id = id as u128;
            let row = if is_list && similarity > 0.0 {
                list(id, similarity, "A list:", &["a b", "c", "1. a b"])
            } else {
                chunk(id, id, similarity, &content)
            };
            MatchedChunk { score, lexical: Some(0.5), ..row }
        });
        let mut rows: Vec<_> = rows.collect();
        rows.extend(rows.first().filter(|_| is_twice).cloned());
        rows
    })
}

/// A reading of passages that were found or not, with hashes and counts that are right or not.
#[derive(Debug, Clone)]
pub(crate) struct AnyReading {
    z: Vec<Option<f32>>,
    faults: Vec<u8>,
}

impl AnyReading {
    pub(crate) fn of(&self, rows: &[MatchedChunk]) -> Reading {
        let mut reading = reading(rows, |passage, at| self.z[(7 * passage + at) % self.z.len()]);
        for (at, fault) in self.faults.iter().enumerate() {
            let Some(passage) = reading.passages.get_mut(at % MAX_READ_PASSAGES) else { continue };
            match fault {
                0 => passage.hash = "0".repeat(16),
                1 => passage.z.push(None),
                2 => passage.chunk_id = Uuid::from_u128(99),
                3 => reading.passages.reverse(),
                4 => reading.passages.truncate(at),
                _ => {}
            }
        }
        reading
    }
}

pub(crate) fn any_reading() -> impl Strategy<Value = AnyReading> {
    let extremes = [0.0, -0.0, 100.0, -100.0, f32::MAX, f32::NAN, f32::INFINITY];
    let z = prop_oneof![
        6 => (-12.0..12.0_f32).prop_map(Some),
        1 => Just(None),
        1 => prop::sample::select(extremes.to_vec()).prop_map(Some),
    ];
    (prop::collection::vec(z, 40), prop::collection::vec(0..20_u8, 6))
        .prop_map(|(z, faults)| AnyReading { z, faults })
}

proptest! {
    #[test]
    fn without_a_usable_reading_the_search_decides_alone(
        question in "[a-d ?]{1,30}|(Norway|B) [a-d]{1,5}\\?",
        rows in found(),
        faulty in any_reading(),
        similarity in -1.0..0.5_f64,
        fault in 0..4,
    ) {
        let thresholds = EvidenceThresholds { similarity, ..EvidenceThresholds::default() };
        let mut reading = faulty.of(&rows);
        for passage in &mut reading.passages {
            match fault {
                0 => passage.hash = "0".repeat(16),
                1 => passage.z.extend([None; 300]),
                2 => passage.chunk_id = Uuid::from_u128(99),
                _ => {}
            }
        }
        if fault == 3 {
            reading.passages.clear();
        }
        let [with, without] = [Some(&reading), None]
            .map(|reading| format!("{:?}", respond(&question, &rows, reading, &thresholds, true)));
        prop_assert_eq!(with, without);
    }

    #[test]
    fn a_reading_only_orders_what_was_found_and_decides_whether_it_is_shown(
        question in "[a-d ?]{1,30}|(Norway|B) [a-d]{1,5}\\?",
        rows in found(),
        reading in any_reading(),
        similarity in -1.0..0.5_f64,
        confidence in 0.0..1.0_f64,
    ) {
        let thresholds = EvidenceThresholds { similarity, confidence, ..EvidenceThresholds::default() };
        let reading = reading.of(&rows);
        let without = respond(&question, &rows, None, &thresholds, true);
        let with = respond(&question, &rows, Some(&reading), &thresholds, true);
        prop_assert_eq!(
            format!("{:?}", with.assessment.passages), format!("{:?}", without.assessment.passages));
        let Verdict::Answer(answer) = with.verdict else { return Ok(()) };
        let qualifies = |id: Uuid| with.assessment.passages.iter().any(|p| p.chunk_id == id && p.qualifies);
        for sentence in &answer.sentences {
            prop_assert!(qualifies(sentence.chunk_id));
            let passages = rows.iter().filter(|row| row.chunk_id == sentence.chunk_id).map(Passage::new);
            let is_statement = passages.into_iter().any(|passage| {
                passage.sentences.iter().any(|other| {
                    other.text == sentence.source && other.whole() == sentence.whole
                })
            });
            prop_assert!(is_statement, "{sentence:?}");
        }
        for citation in &answer.citations {
            prop_assert!(citation.is_valid() && qualifies(citation.passage.chunk_id));
        }
    }

    #[test]
    fn a_reading_does_not_change_whether_a_question_leans_on_the_one_before(
        question in "[a-d ?]{1,12}|And [a-d]{1,3}\\?",
        previous in "[a-d][a-dé字0-9 ?]{0,60}[a-d]",
        alone in found(),
        both in found(),
        of in any_reading(),
        similarity in -1.0..0.5_f64,
    ) {
        let thresholds = EvidenceThresholds { similarity, ..EvidenceThresholds::default() };
        let text = joined(&question, &previous);
        let search = JoinedSearch { text: &text, rows: &both };
        let (read, passages) = passages_to_read(&question, &alone, Some(search), &thresholds);
        let (_, leans) =
            respond_to_follow_up(&question, &alone, search, None, &thresholds, true);
        prop_assert_eq!(read.as_str(), if leans { text.as_str() } else { question.as_str() });
        let reading = of.of(if leans { &both } else { &alone });
        let (with, is_joined) =
            respond_to_follow_up(&question, &alone, search, Some(&reading), &thresholds, true);
        let is_answer = |response: &Response| matches!(response.verdict, Verdict::Answer(_));
        prop_assert!(is_joined == leans || is_answer(&with), "only another answer is of another search");
        if !leans && is_joined {
            let other = respond(&question, &alone, Some(&reading), &thresholds, true);
            prop_assert!(!is_answer(&other), "the question is answered alone");
        }
        let of_search = ranked(if leans { &both } else { &alone });
        let at_most = if Question::new(&read, None, &[]).is_for_reader() { 5 } else { 0 };
        let to_read = of_search.iter().filter(|p| is_to_read(p)).map(|p| p.chunk.chunk_id).take(at_most);
        let ids: Vec<_> = passages.iter().map(|passage| passage.chunk_id).collect();
        prop_assert_eq!(ids, to_read.collect::<Vec<_>>());
    }

    #[test]
    fn whatever_the_field_holds_it_is_parsed_or_rejected_by_name(text in "\\PC{0,60}", z in any::<f64>()) {
        let value = serde_json::from_str(&text).unwrap_or(json!(text));
        for value in [value.clone(), of_passage("z", json!([z])), of_passage("hash", value)] {
            if let Err(message) = parsed(value) {
                prop_assert!(message.starts_with("reading"), "{message}");
            }
        }
    }
}
