//! Joins the lines of a page into paragraphs.

use std::collections::HashSet;

use super::lines::Line;

/// Maximum relative difference in size between lines of one paragraph.
const MAX_SIZE_DIFFERENCE: f64 = 0.12;
/// A gap larger than the usual gap by this factor ends a paragraph.
const MIN_PARAGRAPH_GAP: f64 = 1.3;
/// Line distance in em if a page has too few lines to measure it.
const DEFAULT_LEADING: f64 = 1.25;
const MIN_GAPS: usize = 3;
/// A line that ends with a full stop, and before the margin by at least this share of the width, ends the paragraph.
const MIN_SHORT_LINE_SHARE: f64 = 0.12;
/// Indentation of the first line of a paragraph, in em.
const INDENT: std::ops::Range<f64> = 0.8..4.5;

const BULLETS: [char; 13] = ['•', '◦', '▪', '▫', '■', '□', '●', '○', '‣', '⁃', '∙', '·', '–'];

/// A paragraph without its line breaks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) lines: usize,
    /// Whether it started with a bullet, which is not in the text.
    pub(super) is_item: bool,
}

/// The words of a document, to distinguish hyphens in words from those at line ends.
pub(super) type Words = HashSet<String>;

pub(super) fn words<'a>(lines: impl Iterator<Item = &'a Line>) -> Words {
    lines.flat_map(|line| line.text.split(|c: char| !is_word_character(c))).map(str::to_lowercase).collect()
}

pub(super) fn paragraphs(lines: &[Line], words: &Words) -> Vec<Paragraph> {
    let layout = Layout::from_lines(lines);
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        let text = line.text.trim();
        match (before, paragraphs.last_mut()) {
            (Some(before), Some(paragraph)) if layout.continues_paragraph(before, line, paragraph) => {
                join(&mut paragraph.text, text, words);
                paragraph.lines += 1;
            }
            _ => {
                let item = text.strip_prefix(BULLETS).map(str::trim_start).filter(|_| is_item(text));
                let is_item = item.is_some();
                let text = item.unwrap_or(text).to_owned();
                paragraphs.push(Paragraph { text, size: line.size, lines: 1, is_item });
            }
        }
        before = Some(line);
    }
    paragraphs.retain(|paragraph| !paragraph.text.is_empty());
    paragraphs
}

/// The layout of the text on a page.
struct Layout {
    /// In em.
    leading: f64,
    left: f64,
    right: f64,
}

impl Layout {
    fn from_lines(lines: &[Line]) -> Self {
        let mut gaps: Vec<f64> = lines
            .windows(2)
            .filter(|pair| has_same_style(&pair[0], &pair[1]))
            .map(|pair| (pair[1].baseline - pair[0].baseline) / pair[1].size.max(1.0))
            .filter(|gap| (0.8..3.0).contains(gap))
            .collect();
        gaps.sort_by(f64::total_cmp);
        let leading =
            gaps.get(gaps.len() / 4).copied().filter(|_| gaps.len() >= MIN_GAPS).unwrap_or(DEFAULT_LEADING);
        let left = lines.iter().map(|line| line.start).fold(f64::INFINITY, f64::min);
        let right = lines.iter().map(|line| line.end).fold(f64::NEG_INFINITY, f64::max);
        Self { leading, left, right }
    }

    fn continues_paragraph(&self, before: &Line, line: &Line, paragraph: &Paragraph) -> bool {
        let gap = (line.baseline - before.baseline) / line.size.max(1.0);
        if !has_same_style(before, line)
            || starts_item(line.text.trim())
            || gap > self.leading * MIN_PARAGRAPH_GAP
        {
            return false;
        }
        let is_sentence_end =
            before.text.ends_with(['.', '!', '?', ':', '…', '"', '”', '“', '。', '！', '？']);
        if gap < 0.5 {
            // In the next column, or next to the line.
            let starts_small = line.text.starts_with(char::is_lowercase);
            return gap < -1.0 && !is_sentence_end && (starts_small || before.text.ends_with(['-', ',']));
        }
        let is_short = self.right - before.end > (self.right - self.left) * MIN_SHORT_LINE_SHARE;
        let is_set_in =
            !paragraph.is_item && INDENT.contains(&((line.start - before.start) / line.size.max(1.0)));
        !(is_sentence_end && (is_short || is_set_in))
    }
}

fn has_same_style(one: &Line, other: &Line) -> bool {
    let larger = one.size.max(other.size);
    one.direction == other.direction && (one.size - other.size).abs() <= larger * MAX_SIZE_DIFFERENCE
}

fn is_item(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| BULLETS.contains(&c)) && characters.next().is_some_and(|c| c == ' ')
}

/// True for a bullet, or a number with a full stop or bracket.
fn starts_item(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let is_numbered = (1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "));
    is_item(text) || is_numbered
}

/// Adds a line; joins a hyphenated word if it certainly is one.
fn join(text: &mut String, line: &str, words: &Words) {
    if text.ends_with('\u{ad}') {
        text.pop();
    } else if text.ends_with(['-', '\u{2010}']) && line.starts_with(char::is_alphabetic) {
        if is_divided(text, line, words) {
            text.pop();
        }
    } else if !(text.ends_with(is_ideographic) && line.starts_with(is_ideographic)) {
        text.push(' ');
    }
    text.push_str(line);
}

/// True if the document contains the joined word elsewhere; "well-known" keeps its hyphen.
fn is_divided(text: &str, line: &str, words: &Words) -> bool {
    let head = text.trim_end_matches(['-', '\u{2010}']);
    let first =
        head.rfind(|c: char| !is_word_character(c)).map_or(head, |at| head.get(at..).unwrap_or_default());
    let first = first.trim_start_matches(|c: char| !is_word_character(c));
    let second =
        line.find(|c: char| !is_word_character(c)).map_or(line, |at| line.get(..at).unwrap_or_default());
    let starts_small = line.starts_with(char::is_lowercase);
    starts_small && !first.is_empty() && words.contains(&format!("{first}{second}").to_lowercase())
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric()
}

fn is_ideographic(character: char) -> bool {
    matches!(character, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of 10 points in a column from 100 to 500.
    fn lines(lines: &[(f64, f64, &str)]) -> Vec<Line> {
        let mut baseline = 0.0;
        let line = |(start, gap, text): &(f64, f64, &str)| {
            baseline += gap;
            let end = (start + 5.0 * text.chars().count() as f64).min(500.0);
            Line { text: (*text).to_owned(), start: *start, end, baseline, size: 10.0, direction: 0 }
        };
        lines.iter().map(line).collect()
    }

    fn texts(page: &[(f64, f64, &str)]) -> Vec<String> {
        let page = lines(page);
        paragraphs(&page, &words(page.iter())).into_iter().map(|p| p.text).collect()
    }

    const FULL: &str =
        "A line that is long enough to reach the margin on the right of the column, as lines do";

    #[test]
    fn lines_become_paragraphs_by_gap_indent_and_short_ends() {
        let page = [
            (100.0, 12.0, FULL),
            (100.0, 12.0, "and ends."),
            (100.0, 12.0, "Next one after a short line, which goes on until the margin on the right of it"),
            (
                100.0,
                12.0,
                "It ends here. And there is more of it so that it is as long as the others are so.",
            ),
            (120.0, 12.0, "Set in, a third, which goes on until the margin on the right of the column on"),
            (100.0, 12.0, "with this"),
            (100.0, 24.0, "after a gap"),
        ];
        let found = texts(&page);
        assert_eq!(found.len(), 4, "{found:#?}");
        assert_eq!(found[0], format!("{FULL} and ends."));
        assert_eq!(found[3], "after a gap");
    }

    #[test]
    fn hyphenated_words_are_joined_only_if_they_occur_elsewhere() {
        let page = [
            (100.0, 12.0, "The department of a well-"),
            (100.0, 12.0, "known firm, its depart-"),
            (100.0, 12.0, "ment, and an unseen inter-"),
            (100.0, 12.0, "pretation of soft\u{ad}"),
            (100.0, 12.0, "ware. 返品は"),
            (100.0, 12.0, "三十日"),
        ];
        assert_eq!(
            texts(&page),
            [
                "The department of a well-known firm, its department, and an unseen inter-pretation of software. 返品は三十日"
            ]
        );
    }

    #[test]
    fn list_items_are_separate_paragraphs() {
        let page = [
            (100.0, 12.0, "You need"),
            (110.0, 12.0, "• a receipt that is"),
            (120.0, 12.0, "printed"),
            (110.0, 12.0, "• a card"),
            (110.0, 12.0, "1. first"),
            (110.0, 12.0, "2) second"),
            (110.0, 12.0, "2024 was good"),
        ];
        assert_eq!(
            texts(&page),
            ["You need", "a receipt that is printed", "a card", "1. first", "2) second 2024 was good"]
        );
    }

    #[test]
    fn a_paragraph_continues_in_the_next_column() {
        let mut page =
            lines(&[(100.0, 12.0, "It goes on in the"), (300.0, 12.0, "next column."), (300.0, 24.0, "New")]);
        page[0].baseline = 700.0;
        let found = paragraphs(&page, &Words::new());
        assert_eq!(found[0].text, "It goes on in the next column.");
    }
}
