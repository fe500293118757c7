//! Joins the paragraphs that go on over the end of a page.

use super::paragraphs::{MAX_SIZE_DIFFERENCE, Paragraph, Words, is_alike, main_size};

/// Maximum number of footnotes that wait for the end of the text above them.
const MAX_NOTES: usize = 100;

/// All paragraphs in reading order. A paragraph that a page break divides is joined. Lines between its parts in small type,
/// such as footnotes, follow it; they follow a list that goes on, too.
pub(super) fn join(
    pages: Vec<Vec<Paragraph>>,
    words: &Words,
    is_heading: impl Fn(&Paragraph) -> bool,
) -> Vec<Paragraph> {
    let text_size = main_size(pages.iter().flatten());
    let mut joined: Vec<Paragraph> = Vec::new();
    let mut notes: Vec<Paragraph> = Vec::new();
    for page in pages {
        let has_text_size = page.iter().any(|paragraph| is_alike(paragraph.size, text_size));
        let size = if has_text_size { text_size } else { main_size(page.iter()) };
        let start = joined.len();
        let mut is_at_top = true;
        for paragraph in page {
            // Below a heading, text is not small.
            if is_at_top && joined.last().is_some_and(|before| is_note(&paragraph, before.size.min(size))) {
                notes.push(paragraph);
                continue;
            }
            let can_go_on = std::mem::take(&mut is_at_top) && !is_heading(&paragraph);
            if can_go_on && joined.last_mut().is_some_and(|before| before.append_rows(&paragraph)) {
                continue;
            }
            match joined.last_mut() {
                Some(before) if can_go_on && before.goes_on_in(&paragraph) && !is_heading(before) => {
                    before.append(&paragraph, words);
                }
                last => {
                    if !last.is_some_and(|before| before.leads_to(&paragraph)) {
                        joined.append(&mut notes);
                    }
                    joined.push(paragraph);
                }
            }
        }
        let kept = joined.iter().rposition(|paragraph| !is_note(paragraph, size)).map_or(0, |last| last + 1);
        notes.extend(joined.drain(kept.max(start)..));
        if notes.len() > MAX_NOTES {
            joined.append(&mut notes);
        }
    }
    joined.append(&mut notes);
    joined
}

/// True for a footnote or caption next to text of this size, and for a number without words.
fn is_note(paragraph: &Paragraph, size: f64) -> bool {
    paragraph.size < size * (1.0 - MAX_SIZE_DIFFERENCE) || !paragraph.text.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::{
        lines::{Cell, Line},
        paragraphs::{self, tests::line, words},
    };
    use proptest::prelude::*;

    /// Lines of a column from 100 to 500 with 12 points between them, and 24 above each paragraph.
    fn page(lines: &[(f64, &str)]) -> Vec<Line> {
        let mut baseline = 0.0;
        let show = |(size, text): &(f64, &str)| {
            let (gap, text) = text.strip_prefix('¶').map_or((12.0, *text), |text| (24.0, text));
            baseline += gap;
            line(text, 100.0, (100.0 + 5.0 * text.chars().count() as f64).min(500.0), baseline, *size)
        };
        lines.iter().map(show).collect()
    }

    fn joined(pages: &[Vec<Line>]) -> Vec<Paragraph> {
        let words = words(pages.iter().flatten());
        let pages = paragraphs::pages(pages.iter().map(Vec::as_slice), &words);
        join(pages, &words, |paragraph| paragraph.size > 12.0)
    }

    fn texts(pages: &[Vec<Line>]) -> Vec<(usize, String)> {
        joined(pages).into_iter().map(|paragraph| (paragraph.page, paragraph.text)).collect()
    }

    fn expected(paragraphs: &[(usize, &str)]) -> Vec<(usize, String)> {
        paragraphs.iter().map(|(page, text)| (*page, (*text).to_owned())).collect()
    }

    #[test]
    fn a_sentence_goes_on_over_footnotes_numbers_and_captions() {
        let first = page(&[
            (10.0, "An order may be cancelled before it is shipped. Refunds are not"),
            (7.0, "¶¹ A footnote."),
            (10.0, "¶17"),
        ]);
        let second =
            page(&[(8.0, "Figure 1: a caption."), (10.0, "¶possible after 30 days."), (10.0, "¶Next.")]);
        assert_eq!(
            texts(&[first, Vec::new(), second]),
            expected(&[
                (
                    0,
                    "An order may be cancelled before it is shipped. Refunds are not possible after 30 days."
                ),
                (0, "¹ A footnote."),
                (0, "17"),
                (2, "Figure 1: a caption."),
                (2, "Next."),
            ])
        );
    }

    #[test]
    fn a_full_line_goes_on_with_a_capital_and_a_divided_word_is_joined() {
        let full = "A line that is long enough to reach the margin of the column as all of its lines do in";
        let first = page(&[(10.0, full), (10.0, full)]);
        let pages = [
            first,
            page(&[(10.0, "Vienna and the inter-")]),
            page(&[(10.0, "national law, which is international.")]),
        ];
        let found = texts(&pages);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].1.ends_with("its lines do in Vienna and the international law, which is international."),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_not_the_rest_of_a_sentence_is_not_joined() {
        for (last, size, first) in [
            ("It ends here.", 10.0, "Next"),
            ("A short line", 10.0, "Next"),
            ("it goes on", 10.0, "• in an item"),
            ("it goes on", 10.0, "2. in an item"),
            ("it goes on", 10.0, "(b) in an item"),
            ("it goes on", 14.0, "in a heading"),
            ("it goes on:", 10.0, "in a list"),
        ] {
            let pages = [page(&[(10.0, last)]), page(&[(size, first), (10.0, "¶More.")])];
            assert_eq!(texts(&pages).len(), 3, "{last:?} {first:?}");
        }
        let cell = |text: &str, start, end| Cell { text: text.to_owned(), start, end };
        let cells = vec![cell("basic plan", 100.0, 150.0), cell("free", 480.0, 500.0)];
        let row = Line { cells, ..line("basic plan free", 100.0, 500.0, 12.0, 10.0) };
        assert_eq!(texts(&[vec![row.clone()], vec![row]]).len(), 2);
        let headings = [page(&[(14.0, "Part one")]), page(&[(14.0, "part two")])];
        assert_eq!(texts(&headings).len(), 2);
    }

    #[test]
    fn text_below_a_heading_at_the_end_of_a_page_follows_it() {
        let first = page(&[(10.0, "You may pay later."), (14.0, "¶1. Is it free?")]);
        let second =
            page(&[(10.0, "No, unless it rains."), (14.0, "¶2. Is it open?"), (10.0, "¶Yes, daily.")]);
        let found: Vec<String> = texts(&[first, second]).into_iter().map(|(_, text)| text).collect();
        let expected =
            ["You may pay later.", "1. Is it free?", "No, unless it rains.", "2. Is it open?", "Yes, daily."];
        assert_eq!(found, expected);
    }

    #[test]
    fn footnotes_follow_the_list_that_goes_on_below_them() {
        let first = page(&[(10.0, "You need:"), (10.0, "• a receipt"), (7.0, "¶¹ A footnote.")]);
        let second = page(&[(10.0, "• a card"), (10.0, "• a pen"), (10.0, "¶Bring them.")]);
        let found: Vec<String> = texts(&[first, second]).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, ["You need:", "a receipt", "a card", "a pen", "¹ A footnote.", "Bring them."]);
    }

    proptest! {
        /// Paragraphs of sentences, set in lines of at most 60 characters, are cut into two pages.
        #[test]
        fn a_page_break_divides_no_sentence(
            sentences in prop::collection::vec(("[A-Z][a-z]{0,9}( [A-Za-z][a-z]{0,12}){0,20}", any::<bool>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut lines: Vec<(String, bool)> = Vec::new();
            let mut starts_paragraph = true;
            for (sentence, ends_paragraph) in &sentences {
                for word in format!("{sentence}.").split(' ') {
                    match lines.last_mut() {
                        Some((line, _)) if !starts_paragraph && line.len() + word.len() < 60 => {
                            line.push(' ');
                            line.push_str(word);
                        }
                        _ => lines.push((word.to_owned(), starts_paragraph)),
                    }
                    starts_paragraph = false;
                }
                starts_paragraph = *ends_paragraph;
            }
            let set: Vec<String> =
                lines.iter().map(|(line, starts)| format!("{}{line}", if *starts { "¶" } else { "" })).collect();
            let set: Vec<(f64, &str)> = set.iter().map(|line| (10.0, line.as_str())).collect();
            let above = [(10.0, "A line of text that ends where the lines of the column end."); 2];
            let set: Vec<(f64, &str)> = above.into_iter().chain(set).collect();
            let (first, second) = set.split_at(2 + cut.index(set.len() - 2));
            let found = texts(&[page(first), page(second)]);
            for (_, paragraph) in &found {
                prop_assert!(paragraph.ends_with('.'), "{:?}", found);
            }
            let one_page: Vec<String> = texts(&[page(&set)]).into_iter().map(|(_, text)| text).collect();
            let two_pages: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(one_page.join(" "), two_pages.join(" "));
        }
    }
}
