//! The figures of second questions: how often a follow-up is answered, how often the question before it harms one that stands
//! alone, and how often thanks and small talk are answered.

use chat_core::chunk::MatchedChunk;
use chat_core::follow_up::{JoinedSearch, joined, respond_to_follow_up};
use chat_core::{Reading, Verdict, respond};

use crate::dataset::TurnKind;
use crate::measure::share;
use crate::quoted::is_quoted;
use crate::results::{Found, FoundInTurn, Results};

/// Sentences of which one must contain an accepted answer: all.
const SENTENCES: usize = 3;

/// The outcome of one question.
#[derive(Clone, Copy)]
struct Outcome {
    is_answered: bool,
    /// Whether an accepted answer is quoted.
    is_right: bool,
}

/// The figures; `None` without questions.
pub(crate) fn figures(results: &Results) -> Vec<(&'static str, Option<f64>)> {
    let is_follow_up = |(_, turn): &(&Found, &FoundInTurn)| turn.kind.is_follow_up();
    let (asides, questions): (Vec<_>, Vec<_>) =
        in_turn(&results.dialogues).partition(|(_, turn)| turn.kind == TurnKind::Aside);
    let (follow_ups, stand_alone): (Vec<_>, Vec<_>) = questions.into_iter().partition(is_follow_up);
    let (answerable, unanswerable): (Vec<_>, Vec<_>) =
        follow_ups.into_iter().partition(|(found, _)| !found.answers.is_empty());
    let rewrites = |turns: &[(&Found, &FoundInTurn)], hit: fn(Outcome) -> bool| {
        let rewritten = turns.iter().filter_map(|(found, turn)| {
            let (text, rows) = turn.rewrite.as_ref()?;
            Some(asked(found, text, rows, turn.rewrite_reading.as_ref()))
        });
        share(rewritten.map(hit))
    };
    let is_harmed =
        |(found, turn): &(&Found, &FoundInTurn)| alone(found).is_right && !after(found, turn).is_right;
    let is_gained =
        |(found, turn): &(&Found, &FoundInTurn)| !alone(found).is_right && after(found, turn).is_right;
    let paired: Vec<_> = in_turn(&results.answerable).collect();
    let answered =
        |found: &[Found]| share(in_turn(found).map(|(found, turn)| after(found, turn).is_answered));
    vec![
        ("follow_up_right", share(answerable.iter().map(|(found, turn)| after(found, turn).is_right))),
        ("follow_up_alone_right", share(answerable.iter().map(|(found, _)| alone(found).is_right))),
        ("follow_up_rewrite_right", rewrites(&answerable, |outcome| outcome.is_right)),
        (
            "follow_up_none_answered",
            share(unanswerable.iter().map(|(found, turn)| after(found, turn).is_answered)),
        ),
        ("follow_up_none_rewrite_answered", rewrites(&unanswerable, |outcome| outcome.is_answered)),
        ("second_harmed", share(stand_alone.iter().map(is_harmed))),
        ("second_gained", share(stand_alone.iter().map(is_gained))),
        ("aside_answered", share(asides.iter().map(|(found, turn)| after(found, turn).is_answered))),
        ("paired_harmed", share(paired.iter().map(is_harmed))),
        ("paired_gained", share(paired.iter().map(is_gained))),
        ("paired_near_answered", answered(&results.near)),
        ("paired_offtopic_answered", answered(&results.off_topic)),
    ]
}

fn in_turn(found: &[Found]) -> impl Iterator<Item = (&Found, &FoundInTurn)> {
    found.iter().filter_map(|found| Some((found, found.turn.as_ref()?)))
}

/// The outcome of the question without the one before it.
fn alone(found: &Found) -> Outcome {
    asked(found, &found.question, &found.rows, found.reading.as_ref())
}

fn asked(found: &Found, question: &str, rows: &[MatchedChunk], reading: Option<&Reading>) -> Outcome {
    outcome(found, &respond(question, rows, reading, &found.thresholds(), true).verdict)
}

/// The outcome of the question after the one before it.
fn after(found: &Found, turn: &FoundInTurn) -> Outcome {
    let text = joined(&found.question, &turn.previous);
    let search = JoinedSearch { text: &text, rows: &turn.joined_rows };
    let (response, _) = respond_to_follow_up(
        &found.question,
        &found.rows,
        search,
        turn.reading.as_ref(),
        &found.thresholds(),
        true,
    );
    outcome(found, &response.verdict)
}

fn outcome(found: &Found, verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Answer(answer) => {
            Outcome { is_answered: true, is_right: is_quoted(answer, SENTENCES, &found.answers) }
        }
        Verdict::Refuse(_) => Outcome { is_answered: false, is_right: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_core::evidence::Background;
    use serde_json::json;
    use uuid::Uuid;

    fn rows(similarity: f64, content: &str) -> Vec<MatchedChunk> {
        let end = content.chars().count();
        let row = json!({
            "chunk_id": Uuid::nil(), "document_id": Uuid::nil(), "document_name": "a.md", "content": content,
            "similarity": similarity, "sentences": [{"start": 0, "end": end, "similarity": similarity, "kind": "sentence"}],
        });
        vec![serde_json::from_value(row).unwrap()]
    }

    fn found(kind: TurnKind, answers: &[&str], alone: Vec<MatchedChunk>, both: Vec<MatchedChunk>) -> Found {
        Found {
            question: "And to Norway?".to_owned(),
            documents: Vec::new(),
            answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
            rows: alone,
            plain_rows: Vec::new(),
            background: Background::default(),
            reading: None,
            turn: Some(FoundInTurn {
                previous: "How long does delivery take?".to_owned(),
                kind,
                joined_rows: both,
                rewrite: Some(("How long does delivery to Norway take?".to_owned(), rows(0.1, "Trees."))),
                reading: None,
                rewrite_reading: None,
            }),
        }
    }

    fn figure(dialogues: Vec<Found>, answerable: Vec<Found>, name: &str) -> Option<f64> {
        let results = Results {
            set: "shop".to_owned(),
            answerable,
            near: Vec::new(),
            off_topic: Vec::new(),
            dialogues,
        };
        figures(&results).into_iter().find(|figure| figure.0 == name).and_then(|figure| figure.1)
    }

    const NORWAY: &str = "Delivery to Norway takes 9 days.";

    #[test]
    fn a_follow_up_is_right_if_it_quotes_an_answer_with_the_question_before_it() {
        let right = || found(TurnKind::Ellipsis, &["9 days"], rows(0.1, "Trees."), rows(0.95, NORWAY));
        let wrong = || found(TurnKind::Pronoun, &["2 days"], rows(0.1, "Trees."), rows(0.95, NORWAY));
        let figure = |name| figure(vec![right(), wrong()], Vec::new(), name);
        assert_eq!(figure("follow_up_right"), Some(0.5));
        assert_eq!(figure("follow_up_alone_right"), Some(0.0));
        assert_eq!(figure("follow_up_rewrite_right"), Some(0.0));
        assert_eq!(figure("second_harmed"), None, "no question that stands alone");
        assert_eq!(figure("follow_up_none_answered"), None);
    }

    #[test]
    fn a_follow_up_without_an_answer_counts_only_as_answered_or_not() {
        let none = || found(TurnKind::Substitution, &[], rows(0.1, "Trees."), rows(0.95, NORWAY));
        assert_eq!(figure(vec![none()], Vec::new(), "follow_up_none_answered"), Some(1.0));
        assert_eq!(figure(vec![none()], Vec::new(), "follow_up_none_rewrite_answered"), Some(0.0));
        assert_eq!(figure(vec![none()], Vec::new(), "follow_up_right"), None);
    }

    #[test]
    fn a_question_that_stands_alone_is_harmed_if_only_the_question_before_it_makes_it_wrong() {
        let far = || rows(0.1, "Trees.");
        let harmed =
            || found(TurnKind::NewTopic, &["9 days"], rows(0.8, NORWAY), rows(0.95, "Norway is a country."));
        let gained = || found(TurnKind::SameTopic, &["9 days"], far(), rows(0.95, NORWAY));
        let dialogues = || vec![harmed(), gained()];
        assert_eq!(figure(dialogues(), Vec::new(), "second_harmed"), Some(0.5));
        assert_eq!(figure(dialogues(), Vec::new(), "second_gained"), Some(0.5));
        assert_eq!(figure(Vec::new(), vec![gained()], "paired_gained"), Some(1.0));
        assert_eq!(figure(Vec::new(), vec![gained()], "paired_harmed"), Some(0.0));
    }

    #[test]
    fn thanks_and_small_talk_count_only_as_answered_or_not() {
        let aside = |alone| Found {
            question: "Thanks!".to_owned(),
            ..found(TurnKind::Aside, &[], alone, rows(0.95, NORWAY))
        };
        let dialogues = || vec![aside(rows(0.1, "Trees.")), aside(rows(0.95, NORWAY))];
        assert_eq!(figure(dialogues(), Vec::new(), "aside_answered"), Some(0.5));
        assert_eq!(figure(dialogues(), Vec::new(), "second_harmed"), None);
        assert_eq!(figure(dialogues(), Vec::new(), "follow_up_none_answered"), None);
    }
}
