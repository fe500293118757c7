//! Removes running headers and footers: lines at the edge of pages that are equal, except for numbers, on most pages.

use std::collections::HashMap;

use super::PageLines;

/// Height of the top and bottom edges as a share of the page height.
const EDGE_SHARE: f64 = 0.12;
const MIN_PAGES: usize = 4;
/// Represents a lone number at an edge, at any position.
const PAGE_NUMBER: &str = "#";
/// Lines within this distance in points count as at the same position.
const POSITION_STEP: f64 = 6.0;

/// Key of equal lines: the text without its numbers, and its [`place`].
type Likeness = (String, i64);

pub(super) fn remove(pages: &mut [PageLines]) {
    let with_text = pages.iter().filter(|page| !page.lines.is_empty()).count();
    if with_text < MIN_PAGES {
        return;
    }
    let mut counts: HashMap<Likeness, usize> = HashMap::new();
    for page in pages.iter() {
        let mut alike: Vec<Likeness> = edge_lines(page).map(|(_, likeness)| likeness).collect();
        alike.sort_unstable();
        alike.dedup();
        for likeness in alike {
            *counts.entry(likeness).or_default() += 1;
        }
    }
    // Left and right pages may have different headers.
    let enough = (with_text * 2 / 5).max(MIN_PAGES - 1);
    for page in pages {
        let removed: Vec<usize> = edge_lines(page)
            .filter(|(_, (text, place))| {
                let near =
                    (-1..=1).filter_map(|shift| counts.get(&(text.clone(), place + shift))).sum::<usize>();
                near >= enough || text == PAGE_NUMBER
            })
            .map(|(at, _)| at)
            .collect();
        let mut at = 0;
        page.lines.retain(|_| {
            at += 1;
            !removed.contains(&(at - 1))
        });
    }
}

fn edge_lines(page: &PageLines) -> impl Iterator<Item = (usize, Likeness)> {
    page.lines.iter().enumerate().filter(|(_, line)| line.direction == 0).filter_map(|(at, line)| {
        Some((at, (without_numbers(&line.text), place(line.baseline, page.height)?)))
    })
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
