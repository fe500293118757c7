//! Removes tables of contents: lines that end with dots and the number of a page.

use super::{PageLines, lines::Line};
use crate::clean::ends_sentence;
use crate::lines::leader;

const MIN_ENTRIES: usize = 3;
/// Maximum number of other lines between two entries: the first lines of a long title, the names of parts.
const MAX_LINES_BETWEEN: usize = 3;
/// Page numbers rise. One in so many may fall, where a list of figures begins; prices fall more often.
const MAX_FALLS_SHARE: usize = 4;
/// A page with at most one other line in so many has nothing but the table.
const MAX_OTHER_LINES_SHARE: usize = 3;

/// Returns the number of lines that were removed.
pub(super) fn remove(pages: &mut [PageLines]) -> usize {
    let lines: Vec<&Line> = pages.iter().flat_map(|page| &page.lines).collect();
    let mut is_removed = vec![false; lines.len()];
    let mut table = Table::default();
    for (at, line) in lines.iter().enumerate() {
        if table.last().is_some_and(|last| at - last > MAX_LINES_BETWEEN + 1) {
            std::mem::take(&mut table).mark(&lines, &mut is_removed);
        }
        if let Some(number) = entry(&line.text) {
            table.entries.push((at, number));
        }
    }
    table.mark(&lines, &mut is_removed);

    let mut removed = 0;
    let mut marks = is_removed.into_iter();
    for page in pages {
        let marks: Vec<bool> = marks.by_ref().take(page.lines.len()).collect();
        let marked = marks.iter().filter(|is_removed| **is_removed).count();
        let others = page.lines.len() - marked;
        let mut kept = page.lines.iter().zip(&marks).filter(|(_, is_removed)| !**is_removed);
        let is_only_contents =
            others * MAX_OTHER_LINES_SHARE <= marked && !kept.any(|(line, _)| ends_sentence(&line.text));
        if is_only_contents {
            page.lines.clear();
        } else {
            let mut marks = marks.iter();
            page.lines.retain(|_| !marks.next().is_some_and(|is_removed| *is_removed));
        }
        removed += if is_only_contents { marked + others } else { marked };
    }
    removed
}

/// Entries near each other.
#[derive(Default)]
struct Table {
    /// Index of the line, and the number of the page if it is written with digits.
    entries: Vec<(usize, Option<u32>)>,
}

impl Table {
    fn last(&self) -> Option<usize> {
        self.entries.last().map(|(at, _)| *at)
    }

    /// Marks the lines from the first to the last entry, and those next to them that lack only the dots, as chapters do.
    fn mark(self, lines: &[&Line], is_removed: &mut [bool]) {
        let (Some((first, _)), Some(last)) = (self.entries.first(), self.last()) else { return };
        let numbers: Vec<u32> = self.entries.iter().filter_map(|(_, number)| *number).collect();
        let falls = numbers.iter().zip(numbers.iter().skip(1)).filter(|(one, next)| next < one).count();
        let is_contents = self.entries.len() >= MIN_ENTRIES
            && self.entries.len() * 2 > last - first
            && falls * MAX_FALLS_SHARE <= numbers.len();
        if !is_contents {
            return;
        }
        let is_chapter = |line: &&&Line| line.has_cells() && last_word_number(&line.text).is_some();
        let before = lines.iter().take(*first).rev().take_while(is_chapter).count();
        let after = lines.iter().skip(last + 1).take_while(is_chapter).count();
        for mark in is_removed.iter_mut().take(last + after + 1).skip(first - before) {
            *mark = true;
        }
    }
}

/// The number of an entry of a table of contents; `Some(None)` if it is roman or has parts.
fn entry(text: &str) -> Option<Option<u32>> {
    let (title, number) = last_word_number(leader(text)?.1)?;
    title.is_empty().then_some(number)
}

/// The text before a page number at the end of a line, and the number if it is written with digits.
fn last_word_number(text: &str) -> Option<(&str, Option<u32>)> {
    let text = text.trim_end();
    let is_of_number = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let number = text.get(text.trim_end_matches(is_of_number).len()..)?;
    let title = text.get(..text.len() - number.len())?;
    let is_digits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if is_digits(number) {
        return Some((title, number.parse().ok()));
    }
    let is_roman = |c: char| matches!(c.to_ascii_lowercase(), 'i' | 'v' | 'x' | 'l' | 'c');
    let is_in_chapter =
        number.split_once('-').is_some_and(|(chapter, page)| chapter.len() <= 3 && is_digits(page));
    let is_number = (!number.is_empty() && number.chars().all(is_roman)) || is_in_chapter;
    is_number.then_some((title, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::paragraphs::tests::line;

    /// The lines that are kept of each page, and the number of those removed.
    fn kept(pages: &[&[&str]]) -> (Vec<Vec<String>>, usize) {
        let show = |(at, text): (usize, &&str)| line(text, 100.0, 500.0, 12.0 * at as f64, 10.0);
        let page = |lines: &&[&str]| PageLines {
            lines: lines.iter().enumerate().map(show).collect(),
            height: 800.0,
        };
        let mut pages: Vec<PageLines> = pages.iter().map(page).collect();
        let removed = remove(&mut pages);
        let kept = |page: PageLines| page.lines.into_iter().map(|line| line.text).collect();
        (pages.into_iter().map(kept).collect(), removed)
    }

    #[test]
    fn a_page_of_a_table_of_contents_has_no_text() {
        for leader in ["..........", ". . . . . .", "…… ……", "… … …", "·······"] {
            let lines: Vec<String> = [
                "Table of Contents",
                "1. Introduction {} iv",
                "1.1. How to restore a backup that was made with the version before, and other",
                "kinds of backups {} 1",
                "2. Refunds{}4",
                "3. Shipping {} 12",
                "A. Forms {} A-1",
            ]
            .iter()
            .map(|line| line.replace("{}", leader))
            .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let (kept, removed) = kept(&[&lines, &["Refunds", "Within 30 days."]]);
            assert_eq!(kept, [vec![], vec!["Refunds", "Within 30 days."]], "{leader}");
            assert_eq!(removed, 7);
        }
    }

    #[test]
    fn text_next_to_a_table_of_contents_is_kept() {
        let (kept, removed) = kept(&[
            &["A guide for customers.", "Refunds ........ 1", "Shipping ......... 3"],
            &["Returns .......... 4", "Refunds are free.", "They take 30 days."],
        ]);
        assert_eq!(kept, [vec!["A guide for customers."], vec!["Refunds are free.", "They take 30 days."]]);
        assert_eq!(removed, 3);
    }

    #[test]
    fn prices_and_pauses_are_kept() {
        for lines in [
            &[
                "Coffee ........ 3",
                "Cake ........ 5",
                "Tea ........ 2",
                "Juice ........ 4",
                "Water ........ 1",
            ][..],
            &["Basic ........ 5 €", "Pro ........ 10 €", "Max ........ 20 €"],
            &["Small ........ 2.50", "Medium ........ 3.50", "Large ........ 4.50"],
            &["Your name ........ 1", "and nothing else."],
            &["Wait... 5", "and... 6", "more... 7"],
        ] {
            let (kept, removed) = kept(&[lines]);
            assert_eq!((kept[0].len(), removed), (lines.len(), 0), "{lines:?}");
        }
    }
}
