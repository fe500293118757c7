//! Whether a quoted sentence contains an accepted answer, and whether it is noise.
//!
//! Words are compared as a reader sees them. Labels may be Markdown, whose marks are ignored.

use chat_core::answer::{Answer, QuotedSentence};
use uuid::Uuid;

/// A shorter sentence counts as part of an answer only if it contains a whole one.
const MIN_WORDS_OF_PART: usize = 3;

/// Whether a text contains one of the accepted answers.
pub(crate) fn contains_any(text: &str, answers: &[String]) -> bool {
    let text = plain(text);
    answers.iter().map(|answer| plain(answer)).any(|answer| !answer.is_empty() && text.contains(&answer))
}

/// Whether a sentence contains one of the accepted answers, either as in its passage or as shown.
pub(crate) fn contains_answer(sentence: &QuotedSentence, answers: &[String]) -> bool {
    texts(sentence).into_iter().any(|text| contains_any(text, answers))
}

/// Whether one of the first sentences contains an accepted answer.
pub(crate) fn is_quoted(answer: &Answer, first: usize, answers: &[String]) -> bool {
    answer.sentences.iter().take(first).any(|sentence| contains_answer(sentence, answers))
}

/// How many of the quoted sentences contain no part of an accepted answer.
pub(crate) fn noise(answer: &Answer, answers: &[String]) -> usize {
    answer.sentences.iter().filter(|sentence| !contains_part(sentence, answers)).count()
}

/// Whether all quotes are from one section of one document, or each quote that follows one from elsewhere names its place in
/// the text.
pub(crate) fn is_coherent(answer: &Answer) -> bool {
    let text = unescaped(&answer.deltas.concat());
    let names_place = |sentence: &QuotedSentence| {
        sentence.place.as_deref().is_some_and(|place| text.contains(&unescaped(place)))
    };
    answer
        .sentences
        .windows(2)
        .all(|pair| matches!(pair, [before, after] if place(before) == place(after) || names_place(after)))
}

/// Whether the text sent to the user shows every sentence that the answer lists as quoted.
pub(crate) fn shows_its_sentences(answer: &Answer) -> bool {
    let text = unescaped(&answer.deltas.concat());
    answer.sentences.iter().all(|sentence| text.contains(&unescaped(&sentence.text)))
}

fn place(sentence: &QuotedSentence) -> (Uuid, Option<&str>) {
    (sentence.document_id, sentence.section.as_deref())
}

/// The text of a sentence as in its passage and as shown.
fn texts(sentence: &QuotedSentence) -> [&String; 2] {
    [&sentence.source, &sentence.text]
}

fn contains_part(sentence: &QuotedSentence, answers: &[String]) -> bool {
    contains_answer(sentence, answers)
        || texts(sentence).into_iter().any(|text| {
            let text = plain(text);
            let part = text.trim_end_matches(|c: char| !c.is_alphanumeric());
            part.split(' ').count() >= MIN_WORDS_OF_PART
                && answers.iter().any(|answer| plain(answer).contains(part))
        })
}

/// The words, one space apart, without marks of emphasis, code, cells and items, escapes and tags.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = after_tag(rest) {
            shown.push(' ');
            rest = after;
            continue;
        }
        match c {
            '|' => shown.push(' '),
            '*' | '_' | '`' | '~' | '\\' => {}
            c => shown.push(c),
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    let is_marker = |word: &&str| !matches!(*word, "-" | "•" | "+");
    shown.split_whitespace().filter(is_marker).collect::<Vec<_>>().join(" ")
}

/// What follows the tag that a text begins with. "a<x" is none.
fn after_tag(text: &str) -> Option<&str> {
    let tag = text.strip_prefix('<')?;
    let is_tag = tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let (inside, after) = tag.split_once('>').filter(|_| is_tag)?;
    (!inside.contains(['<', '\n'])).then_some(after)
}

/// An answer escapes brackets that would look like its markers.
fn unescaped(text: &str) -> String {
    text.replace(r"\[", "[").replace(r"\]", "]")
}

#[cfg(test)]
mod tests {
    use chat_core::generate::AnswerMode;

    use super::*;

    fn sentence(text: &str) -> QuotedSentence {
        QuotedSentence {
            chunk_id: Uuid::nil(),
            document_id: Uuid::nil(),
            section: None,
            source: text.to_owned(),
            text: text.to_owned(),
            whole: text.to_owned(),
            place: None,
            score: 0.0,
        }
    }

    fn from(document: u128, section: &str, place: Option<&str>) -> QuotedSentence {
        QuotedSentence {
            document_id: Uuid::from_u128(document),
            section: Some(section.to_owned()),
            place: place.map(str::to_owned),
            ..sentence("Words.")
        }
    }

    fn answer(sentences: Vec<QuotedSentence>) -> Answer {
        let shown = |sentence: &QuotedSentence| {
            let place = sentence.place.as_deref().map_or(String::new(), |place| format!("{place}: "));
            format!("{place}{} [1]", sentence.text)
        };
        Answer {
            mode: AnswerMode::Extractive,
            deltas: sentences.iter().map(shown).collect(),
            hedged: false,
            citations: Vec::new(),
            also_found: Vec::new(),
            referenced_indices: Vec::new(),
            sentences,
        }
    }

    fn accepted(answers: &[&str]) -> Vec<String> {
        answers.iter().map(|answer| (*answer).to_owned()).collect()
    }

    #[test]
    fn words_are_compared_without_emphasis_and_line_ends() {
        let matches = |text, answer| contains_answer(&sentence(text), &accepted(&[answer]));
        assert!(matches("Refunds take *5\n  days*.", "5 days"));
        assert!(matches("Refunds take 5 days.", "**5 days**"));
        assert!(!matches("Refunds take 15 hours.", "5 days"));
        assert!(!matches("Refunds take 5 days.", " "), "an empty answer is in every text");
    }

    #[test]
    fn an_answer_may_match_the_source_or_the_shown_text() {
        let row =
            QuotedSentence { source: "Sunday | closed".to_owned(), ..sentence("Day: Sunday, hours: closed") };
        assert!(contains_answer(&row, &accepted(&["Sunday | closed"])));
        assert!(contains_answer(&row, &accepted(&["hours: closed"])));
    }

    #[test]
    fn only_the_first_sentences_count() {
        let answers = accepted(&["5 days"]);
        assert!(is_quoted(&answer(vec![sentence("You wait for: 5 days.")]), 1, &answers));
        assert!(!is_quoted(&answer(vec![sentence("Ask us."), sentence("5 days.")]), 1, &answers));
    }

    #[test]
    fn a_less_than_sign_is_no_tag() {
        assert!(contains_any(
            "AND: a<x and b<y.\n* **Func**: select it",
            &accepted(&["b<y", "Func: select"])
        ));
        assert!(contains_any("one<br>two <a href=\"x\">three</a>", &accepted(&["one two three"])));
    }

    #[test]
    fn a_sentence_without_any_part_of_an_answer_is_noise() {
        let answers = accepted(&["You may return it within 5 days. Then you get a refund of the price"]);
        let noise_of = |sentences| noise(&answer(sentences), &answers);
        assert_eq!(noise_of(vec![sentence("Then you get a refund of the price!")]), 0, "it is a part");
        assert_eq!(noise_of(vec![sentence("5 days.")]), 1, "two words may be part of any sentence");
        assert_eq!(noise_of(vec![sentence("We like trees."), sentence("Trees like us.")]), 2);
    }

    #[test]
    fn quotes_from_one_section_are_coherent() {
        assert!(is_coherent(&answer(vec![from(1, "Fees", None), from(1, "Fees", None)])));
        assert!(!is_coherent(&answer(vec![from(1, "Fees", None), from(1, "Hours", None)])));
        assert!(!is_coherent(&answer(vec![from(1, "Fees", None), from(2, "Fees", None)])));
    }

    #[test]
    fn a_quote_from_another_section_must_name_it_in_the_text() {
        let named = vec![from(1, "Fees", None), from(2, "Hours", Some("Hours")), from(2, "Hours", None)];
        assert!(is_coherent(&answer(named.clone())));
        let mut unsaid = answer(named.clone());
        unsaid.deltas = vec!["Words. [1]".to_owned()];
        assert!(!is_coherent(&unsaid), "a name that is not shown");
        let back = [named, vec![from(1, "Fees", None)]].concat();
        assert!(!is_coherent(&answer(back)), "back in the first place, which is not named");
    }

    #[test]
    fn a_quoted_sentence_that_is_missing_from_the_text_is_detected() {
        let mut answer = answer(vec![sentence("Five [5] days.")]);
        answer.deltas = vec![r"Five \[5\] days. [1]".to_owned()];
        assert!(shows_its_sentences(&answer));
        answer.deltas = vec!["Days. [1]".to_owned()];
        assert!(!shows_its_sentences(&answer));
    }
}
