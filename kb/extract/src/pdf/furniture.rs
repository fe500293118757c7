//! Removes running headers and footers: lines at the edge of pages that are equal, except for numbers, on most pages.

use std::collections::{HashMap, HashSet};

use super::{PageLines, lines::Line};

/// Height of the top and bottom edges as a share of the page height.
const EDGE_SHARE: f64 = 0.12;
/// From so many pages on, lines on some of the pages are enough, and numbers need not count.
const MIN_PAGES: usize = 4;
/// Represents a lone number at an edge, at any position.
const PAGE_NUMBER: &str = "#";
/// Lines within this distance in points count as at the same position.
const POSITION_STEP: f64 = 6.0;

/// Key of equal lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Likeness {
    /// Without its numbers.
    text: String,
    place: i64,
    /// In a document of few pages, the first number minus that of the page: "Page 1" is like "Page 2" on the next page, while
    /// "Total: 10" and "Total: 12" differ.
    offset: Option<i64>,
}

/// Returns the number of lines that were removed.
pub(super) fn remove(pages: &mut [PageLines]) -> usize {
    let with_text = pages.iter().filter(|page| !page.lines.is_empty()).count();
    if with_text < 2 {
        return 0;
    }
    let is_short = with_text < MIN_PAGES;
    // Left and right pages may have different headers.
    let enough = if is_short { with_text } else { (with_text * 2 / 5).max(MIN_PAGES - 1) };
    let mut counts: HashMap<Likeness, usize> = HashMap::new();
    for (number, page) in (0..).zip(pages.iter()) {
        let alike: HashSet<Likeness> =
            page.lines.iter().filter_map(|line| likeness(line, page.height, number, is_short)).collect();
        for likeness in alike {
            *counts.entry(likeness).or_default() += 1;
        }
    }
    let mut removed = 0;
    for (number, page) in (0..).zip(pages) {
        let before = page.lines.len();
        let height = page.height;
        page.lines.retain(|line| {
            let Some(likeness) = likeness(line, height, number, is_short) else { return true };
            let at = |shift| Likeness { place: likeness.place + shift, ..likeness.clone() };
            let near = (-1..=1).filter_map(|shift| counts.get(&at(shift))).sum::<usize>();
            !(near >= enough || (likeness.text == PAGE_NUMBER && !is_short))
        });
        removed += before - page.lines.len();
    }
    removed
}

/// `None` for a line that is not at an edge or, in a document of few pages, may be a numbered heading.
fn likeness(line: &Line, height: f64, page: i64, is_short: bool) -> Option<Likeness> {
    let place = place(line.baseline, height).filter(|_| line.direction == 0)?;
    let text = without_numbers(&line.text);
    if !is_short {
        return Some(Likeness { text, place, offset: None });
    }
    let is_named = text.contains('#') && text.contains(char::is_alphabetic);
    let offset = first_number(&line.text).map(|number| number - page);
    (place < 0 || !is_named).then_some(Likeness { text, place, offset })
}

fn first_number(text: &str) -> Option<i64> {
    let from = text.get(text.find(|c: char| c.is_ascii_digit())?..)?;
    let digits = from.find(|c: char| !c.is_ascii_digit()).map_or(Some(from), |end| from.get(..end))?;
    digits.parse().ok()
}

/// Distance from the nearer edge, which is the same on pages of different heights; negative from the bottom.
fn place(baseline: f64, height: f64) -> Option<i64> {
    let from_bottom = height - baseline;
    if baseline < height * EDGE_SHARE {
        Some((baseline / POSITION_STEP).round() as i64 + 1)
    } else {
        (from_bottom < height * EDGE_SHARE).then(|| -(from_bottom / POSITION_STEP).round() as i64 - 1)
    }
}

fn without_numbers(text: &str) -> String {
    let mut alike = String::new();
    for character in text.chars() {
        match character {
            '0'..='9' if alike.ends_with('#') => {}
            '0'..='9' => alike.push('#'),
            _ => alike.push(character),
        }
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::paragraphs::tests::line;

    /// The lines that are kept; each is given with its distance from the top of the page of 800 points.
    fn kept(pages: &[&[(f64, &str)]]) -> Vec<Vec<String>> {
        let show = |(baseline, text): &(f64, &str)| line(text, 100.0, 500.0, *baseline, 10.0);
        let page =
            |lines: &&[(f64, &str)]| PageLines { lines: lines.iter().map(show).collect(), height: 800.0 };
        let mut pages: Vec<PageLines> = pages.iter().map(page).collect();
        let before: usize = pages.iter().map(|page| page.lines.len()).sum();
        let removed = remove(&mut pages);
        assert_eq!(before, removed + pages.iter().map(|page| page.lines.len()).sum::<usize>());
        let kept = |page: PageLines| page.lines.into_iter().map(|line| line.text).collect();
        pages.into_iter().map(kept).collect()
    }

    #[test]
    fn headers_and_page_numbers_of_two_pages_are_removed() {
        let pages: [&[(f64, &str)]; 2] = [
            &[
                (40.0, "Terms of Example Ltd."),
                (300.0, "Refunds are not"),
                (760.0, "Page 1 of 2"),
                (770.0, "i"),
            ],
            &[(40.0, "Terms of Example Ltd."), (300.0, "possible."), (760.0, "Page 2 of 2"), (770.0, "i")],
        ];
        assert_eq!(kept(&pages), [["Refunds are not"], ["possible."]]);
        assert_eq!(
            kept(&[&[(300.0, "Text"), (770.0, "7")], &[(300.0, "Text"), (770.0, "8")]]),
            [["Text"]; 2]
        );
    }

    #[test]
    fn headings_and_amounts_of_two_pages_are_kept() {
        let pages: [&[(f64, &str)]; 2] = [
            &[(90.0, "Chapter 1"), (300.0, "Text"), (760.0, "Total: 10"), (770.0, "One")],
            &[(90.0, "Chapter 2"), (300.0, "Text"), (760.0, "Total: 12"), (770.0, "Two")],
        ];
        assert_eq!(kept(&pages).concat().len(), 8);
        assert_eq!(kept(&[&[(40.0, "Alone")]]), [["Alone"]]);
    }
}
