//! Reads the output of a language model as it comes, and cuts it into sentences with the sources that they name.
//!
//! The state is bounded whatever the model writes, and the sentences do not depend on how the output is cut into deltas.

use std::ops::Range;

use super::markers::separate;
use super::markup::without_markup;
use crate::limits::MAX_WRITTEN_SENTENCE_BYTES;
use crate::sentences::{first_open, sentences};

/// Bytes of output that are read. What follows is ignored.
const MAX_DRAFT_BYTES: usize = 16 * 1024;
/// Sentences that are considered.
const MAX_DRAFT_SENTENCES: usize = 12;

/// Beginnings, in lower case, of sentences with which models say that the sources do not answer.
const DECLINES: &[&str] = &[
    "no_answer",
    "no answer",
    "i don't have enough information",
    "i do not have enough information",
    "there is not enough information",
    "there is no information about",
    "there is no mention",
    "the source does not",
    "the source doesn't",
    "the sources do not",
    "the sources don't",
    "the provided source",
    "the given source",
    "none of the sources",
    "the text does not",
    "the documents do not",
    "the context does not",
    "i cannot answer",
    "i can't answer",
    "i'm sorry, but",
    "i am sorry, but",
];
/// The same, anywhere in a sentence.
const DECLINES_INSIDE: &[&str] = &[
    "not mentioned in the source",
    "not provided in the source",
    "not stated in the source",
    "not specified in the source",
    "not mentioned in the text",
];
/// Phrases, in lower case, of a model that talks about itself. They end the draft.
const ABOUT_ITSELF: &[&str] =
    &["as an ai", "as a language model", "i'm an ai", "i am an ai", "my training data"];

/// A sentence as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DraftSentence {
    /// Its words as plain text, on one line, without markers and Markdown.
    pub(crate) text: String,
    /// The numbers of the sources that it names, in order.
    pub(crate) references: Vec<u32>,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
}

/// The reader.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Output from the beginning of the unfinished line on.
    line: String,
    /// Sentences of the unfinished line that were returned already.
    returned_of_line: usize,
    /// All sentences, in lower case, so that a model that repeats itself is noticed.
    seen: Vec<String>,
    read_bytes: usize,
    is_thinking: bool,
    is_done: bool,
    has_declined: bool,
}

impl Draft {
    /// Takes the next piece of output and returns the sentences that it completes.
    pub(crate) fn push(&mut self, delta: &str) -> Vec<DraftSentence> {
        let mut found = Vec::new();
        for c in delta.chars() {
            if self.is_done {
                break;
            }
            self.read_bytes += c.len_utf8();
            if self.read_bytes > MAX_DRAFT_BYTES {
                // The unfinished sentence is not sent.
                self.line.clear();
                self.is_done = true;
                break;
            }
            if c == '\n' {
                self.end_line(&mut found);
            } else if is_visible(c) {
                self.line.push(c);
                // A sentence is known to be complete when the next one begins, which is after white space.
                if c.is_whitespace() || self.line.len() > MAX_WRITTEN_SENTENCE_BYTES {
                    self.return_complete(&mut found);
                }
            }
        }
        found
    }

    /// Ends the output. `is_whole`: the model ended it itself. If not, what it was writing is cut off and left out.
    pub(crate) fn finish(&mut self, is_whole: bool) -> Vec<DraftSentence> {
        let mut found = Vec::new();
        if is_whole && !self.is_done {
            self.end_line(&mut found);
        }
        self.is_done = true;
        found
    }

    /// Whether further output would be ignored.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the model has said that the sources do not answer the question.
    pub(crate) fn has_declined(&self) -> bool {
        self.has_declined
    }

    fn end_line(&mut self, found: &mut Vec<DraftSentence>) {
        let line = std::mem::take(&mut self.line);
        let returned = std::mem::take(&mut self.returned_of_line);
        self.read_line(&line, returned, true, found);
    }

    fn return_complete(&mut self, found: &mut Vec<DraftSentence>) {
        let line = std::mem::take(&mut self.line);
        let returned = self.returned_of_line;
        self.returned_of_line += self.read_line(&line, returned, false, found);
        self.line = line;
        if self.line.len() > MAX_WRITTEN_SENTENCE_BYTES && self.returned_of_line == 0 {
            // Nobody writes such a sentence to be read.
            self.is_done = true;
        }
    }

    /// Returns the number of sentences that it added.
    fn read_line(
        &mut self,
        line: &str,
        returned: usize,
        is_complete: bool,
        found: &mut Vec<DraftSentence>,
    ) -> usize {
        let (is_item, text) = match without_bullet(line) {
            Some(item) => (true, item),
            None => (false, line),
        };
        let trimmed = text.trim_start();
        if self.is_thinking || trimmed.starts_with("<think") {
            self.is_thinking = !trimmed.contains("</think");
            return 0;
        }
        if trimmed.starts_with("```")
            || trimmed.starts_with("~~~")
            || (is_complete && trimmed.starts_with('<'))
        {
            self.is_done = true;
            return 0;
        }
        if trimmed.starts_with('#') || trimmed.starts_with('<') || trimmed.starts_with('`') {
            // A heading has no claim; the rest is decided when the line is complete.
            return 0;
        }
        let marked = separate(text, is_complete);
        let ranges = sentences(&marked.text, 0..marked.text.len());
        let complete = if is_complete { ranges.len() } else { settled(&marked.text, &ranges) };
        let mut added = 0;
        for (at, range) in ranges.iter().enumerate().take(complete).skip(returned) {
            if self.is_done {
                break;
            }
            added += 1;
            let next = ranges.get(at + 1).map_or(usize::MAX, |next| next.start);
            // A marker before the next sentence belongs to this one, also after the full stop.
            let belongs = |place: usize| (range.start < place || (at == 0 && place == 0)) && place <= next;
            let references = marked.references.iter().filter(|(place, _)| belongs(*place));
            let references = references.map(|(_, number)| *number).collect();
            let source = marked.text.get(range.clone()).unwrap_or_default();
            self.add(source, references, is_item, found);
        }
        added
    }

    fn add(&mut self, source: &str, references: Vec<u32>, is_item: bool, found: &mut Vec<DraftSentence>) {
        let text = without_markup(source);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // A marker before the full stop leaves a space.
        let text = text.replace(" .", ".").replace(" ,", ",");
        let lower = text.to_lowercase().replace('’', "'");
        let declines = DECLINES.iter().any(|phrase| lower.starts_with(phrase))
            || DECLINES_INSIDE.iter().any(|phrase| lower.contains(phrase));
        if declines {
            self.has_declined = true;
            self.is_done = true;
            return;
        }
        if ABOUT_ITSELF.iter().any(|phrase| lower.contains(phrase)) || self.seen.contains(&lower) {
            self.is_done = true;
            return;
        }
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        self.seen.push(lower);
        self.is_done |= self.seen.len() >= MAX_DRAFT_SENTENCES;
        found.push(DraftSentence { text, references, is_item });
    }
}

/// How many of the sentences of an unfinished line are final. No sentence ends in brackets, which the rest of the line may close.
fn settled(text: &str, ranges: &[Range<usize>]) -> usize {
    let open = first_open(text).unwrap_or(text.len());
    let settled = ranges.iter().take_while(|range| range.end <= open).count();
    settled.min(ranges.len().saturating_sub(1))
}

/// Control and invisible characters are left out: they are not content, and a reader cannot check them.
fn is_visible(c: char) -> bool {
    (!c.is_control() || c == '\t') && !crate::generate::is_format_character(c)
}

/// The text of a list item without its bullet or number.
fn without_bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(item) = ["- ", "* ", "• ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet)) {
        return Some(item);
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..)?;
    ((1..=2).contains(&digits)).then_some(rest)?.strip_prefix(['.', ')'])?.strip_prefix(' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(deltas: &[&str]) -> Vec<DraftSentence> {
        let mut draft = Draft::default();
        let mut found: Vec<_> = deltas.iter().flat_map(|delta| draft.push(delta)).collect();
        found.extend(draft.finish(true));
        found
    }

    fn texts(output: &str) -> Vec<String> {
        read(&[output]).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_have_the_markers_before_and_after_their_full_stop() {
        let found = read(&["Refunds take 5 days [1]. They are free. [2][3] Ask us [4]"]);
        let found: Vec<_> =
            found.iter().map(|sentence| (sentence.text.as_str(), sentence.references.clone())).collect();
        assert_eq!(
            found,
            [("Refunds take 5 days.", vec![1]), ("They are free.", vec![2, 3]), ("Ask us", vec![4])]
        );
    }

    #[test]
    fn a_sentence_is_returned_as_soon_as_the_next_one_begins() {
        let mut draft = Draft::default();
        assert!(draft.push("It takes 5 days.").is_empty());
        assert!(draft.push(" [1").is_empty());
        assert!(draft.push("] ").is_empty());
        let found = draft.push("Then we ");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].references, [1]);
        assert!(draft.finish(false).is_empty(), "what was cut off is left out");
    }

    #[test]
    fn a_sentence_in_brackets_waits_for_the_end_of_the_brackets() {
        let mut draft = Draft::default();
        assert!(draft.push("Send it back (unopened. ").is_empty());
        assert!(draft.push("With the receipt. ").is_empty());
        let found = draft.push("And the box). Then we ");
        assert_eq!(found[0].text, "Send it back (unopened. With the receipt. And the box).");
        assert_eq!(
            texts("See `a. B. C` and “D. E. F” now. Then go."),
            ["See a. B. C and “D. E. F” now.", "Then go."]
        );
    }

    #[test]
    fn markdown_is_removed_and_list_items_are_sentences() {
        assert_eq!(
            texts(
                "# Refunds\n\nYou **must** send:\n- the [receipt](https://evil.example/x) [1]\n2. ![](y) the *box*"
            ),
            ["You must send:", "the receipt", "the box"]
        );
    }

    #[test]
    fn code_html_and_talk_about_itself_end_the_draft() {
        for end in
            ["```js\nalert(1)\n```", "<script>alert(1)</script>", "As an AI, I cannot say.", "It is red."]
        {
            assert_eq!(texts(&format!("It is red.\n{end}\nIt is blue.")), ["It is red."], "{end}");
        }
    }

    #[test]
    fn thoughts_are_left_out() {
        assert_eq!(texts("<think>It may be 5. Or 6.\nHm.</think>\nIt takes 5 days."), ["It takes 5 days."]);
        assert!(texts("<think>It may be 5. Or 6.").is_empty());
    }

    #[test]
    fn a_model_that_declines_is_noticed() {
        for output in [
            "NO_ANSWER",
            "NO_ANSWER.",
            "I don’t have enough information to say.",
            "The price is not mentioned in the sources.",
        ] {
            let mut draft = Draft::default();
            let mut found = draft.push(output);
            found.extend(draft.finish(true));
            assert!(draft.has_declined() && found.is_empty(), "{output}");
        }
    }

    #[test]
    fn endless_output_is_bounded() {
        for piece in ["a", "[", "word ", "One. ", "- x\n"] {
            let mut draft = Draft::default();
            let mut pushed = 0;
            while !draft.is_done() && pushed < 10_000_000 {
                draft.push(&piece.repeat(100));
                pushed += 100 * piece.len();
                assert!(draft.line.len() <= MAX_DRAFT_BYTES);
            }
            assert!(draft.is_done(), "{piece}");
        }
    }

    #[test]
    fn invisible_characters_are_left_out() {
        assert_eq!(texts("It takes\u{200b} 5\u{202e} days\u{0}."), ["It takes 5 days."]);
    }

    proptest! {
        #[test]
        fn sentences_do_not_depend_on_how_the_output_is_cut(
            output in "([A-Za-z0-9é字]{1,6}|[.!?] |\\n|- |\\[1\\]|\\[[0-9]{0,2}|【2】|\\(Source 3\\)|\\^\\[Name\\]|```|<b>| ){0,40}",
            cuts in proptest::collection::vec(0.0..1.0, 0..12),
        ) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| output.floor_char_boundary((cut * output.len() as f64) as usize)).collect();
            at.extend([0, output.len()]);
            at.sort_unstable();
            let pieces: Vec<_> = at.windows(2).map(|pair| &output[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[&output]));
        }

        #[test]
        fn what_is_returned_early_is_what_the_whole_line_says(
            words in proptest::collection::vec("[A-Z]?[a-z]{1,6}\\.?|[A-Z]\\.|[1-9]\\.|[(“\"`«<][a-z]{1,4}|[a-z]{1,4}\\.?[)”\"`»>]\\.?", 1..30),
        ) {
            let line = format!("The {}", words.join(" "));
            let whole = sentences(&line, 0..line.len()).into_iter().map(|range| without_markup(&line[range]));
            let whole: Vec<_> = whole.filter(|sentence| sentence.contains(char::is_alphanumeric)).collect();
            let lower: std::collections::BTreeSet<_> = whole.iter().map(|sentence| sentence.to_lowercase()).collect();
            prop_assume!(lower.len() == whole.len() && whole.len() < MAX_DRAFT_SENTENCES);
            prop_assert_eq!(texts(&line).join(" ").replace(' ', ""), whole.join(" ").replace(' ', ""));
            prop_assert_eq!(texts(&line).len(), whole.len());
        }

        #[test]
        fn any_output_is_read_without_panic(output in any::<String>()) {
            read(&[&output]);
        }
    }
}
