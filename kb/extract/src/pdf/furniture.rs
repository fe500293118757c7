//! Running headers and footers: lines at the edge of pages that are the same, but for numbers, on most of them.

use std::collections::HashMap;

use super::PageLines;

/// Share of a page's height at its top and at its bottom.
const EDGE: f64 = 0.12;
const MIN_PAGES: usize = 4;
/// A number alone at an edge, wherever it stands.
const PAGE_NUMBER: &str = "#";
/// Points between the places of what is the same line.
const GRID: f64 = 6.0;

/// What is alike on pages: the line without its numbers, and its [`place`].
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
    // Left and right pages may differ.
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

/// From the nearer edge, which is the same on pages of other heights; negative from the bottom.
fn place(baseline: f64, height: f64) -> Option<i64> {
    let from_bottom = height - baseline;
    if baseline < height * EDGE {
        Some((baseline / GRID).round() as i64 + 1)
    } else {
        (from_bottom < height * EDGE).then(|| -(from_bottom / GRID).round() as i64 - 1)
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
