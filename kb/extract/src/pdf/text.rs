//! Composes the text and sections of a PDF from the lines of its pages.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    PageLines, furniture,
    outline::Bookmark,
    paragraphs::{self, Paragraph},
};
use crate::{ExtractError, Section, clean::visible, composer::Composer};

/// Minimum size of a heading relative to the text.
const MIN_HEADING_RATIO: f64 = 1.15;
const MAX_HEADING_CHARS: usize = 150;
const MAX_HEADING_LINES: usize = 3;
/// Granularity in points by which sizes give different levels of headings.
const SIZE_STEP: f64 = 0.5;
const MAX_LEVELS: usize = 4;

/// Text, title and sections. Headings are the bookmarks, or else lines larger than the text; the largest of these is the
/// title, while the first bookmark is only a chapter.
pub(super) fn compose(
    mut pages: Vec<PageLines>,
    bookmarks: Vec<Bookmark>,
) -> Result<(String, Option<String>, Vec<Section>), ExtractError> {
    furniture::remove(&mut pages);
    let words = paragraphs::words(pages.iter().flat_map(|page| &page.lines));
    let pages: Vec<Vec<Paragraph>> =
        pages.iter().map(|page| paragraphs::paragraphs(&page.lines, &words)).collect();
    let mut headings = if bookmarks.is_empty() {
        Headings::Sizes(heading_sizes(&pages))
    } else {
        Headings::Bookmarks(
            bookmarks.into_iter().map(|bookmark| (plain(&bookmark.title), bookmark)).collect(),
        )
    };
    let has_bookmarks = matches!(headings, Headings::Bookmarks(_));
    let mut composer = Composer::default();
    for (at, paragraphs) in pages.iter().enumerate() {
        composer.page(u32::try_from(at + 1).unwrap_or(u32::MAX));
        headings.start_page(at, paragraphs, &mut composer);
        write(paragraphs, at, &mut headings, &mut composer);
    }
    let (text, title, sections) = composer.finish()?;
    Ok((text, title.filter(|_| !has_bookmarks), sections))
}

fn write(paragraphs: &[Paragraph], page: usize, headings: &mut Headings, composer: &mut Composer) {
    let mut is_in_list = false;
    for paragraph in paragraphs {
        if is_in_list && !paragraph.is_item {
            composer.close();
        }
        if !is_in_list && paragraph.is_item {
            composer.open_list();
        }
        is_in_list = paragraph.is_item;
        let text = visible(&paragraph.text);
        if paragraph.is_item {
            composer.open_item("-");
            composer.paragraph(&text);
            composer.close();
        } else if let Some(level) = headings.heading_level(paragraph, page, composer) {
            composer.heading(level, &text);
        } else {
            composer.paragraph(&text);
        }
    }
    if is_in_list {
        composer.close();
    }
}

enum Headings {
    /// Bookmarks that are still to come, each with its [`plain`] words.
    Bookmarks(VecDeque<(String, Bookmark)>),
    /// Levels by size, in steps of [`SIZE_STEP`].
    Sizes(HashMap<i64, usize>),
}

impl Headings {
    /// Opens the bookmarks of earlier pages, and those of this page whose words are not on it: the following text is under
    /// them, too.
    fn start_page(&mut self, page: usize, paragraphs: &[Paragraph], composer: &mut Composer) {
        if let Self::Bookmarks(bookmarks) = self {
            let paragraph_texts: HashSet<String> =
                paragraphs.iter().map(|paragraph| plain(&paragraph.text)).collect();
            let is_passed = |(words, bookmark): &mut (String, Bookmark)| {
                bookmark.page < page || (bookmark.page == page && !paragraph_texts.contains(words))
            };
            while let Some((_, passed)) = bookmarks.pop_front_if(is_passed) {
                composer.under(passed.level, &passed.title);
            }
        }
    }

    fn heading_level(
        &mut self,
        paragraph: &Paragraph,
        page: usize,
        composer: &mut Composer,
    ) -> Option<usize> {
        match self {
            Self::Sizes(levels) => {
                is_heading(paragraph).then(|| levels.get(&step(paragraph.size)).copied()).flatten()
            }
            Self::Bookmarks(bookmarks) => {
                // A bookmark whose words are not found, such as that of a cover, must not block those after it.
                let paragraph_text = plain(&paragraph.text);
                let mut here = bookmarks.iter().take_while(|(_, bookmark)| bookmark.page == page);
                let position = here.position(|(words, _)| !words.is_empty() && *words == paragraph_text)?;
                for (_, passed) in bookmarks.drain(..position) {
                    composer.under(passed.level, &passed.title);
                }
                bookmarks.pop_front().map(|(_, bookmark)| bookmark.level)
            }
        }
    }
}

/// The largest sizes of paragraphs that look like headings, relative to the size of most of the text.
fn heading_sizes(pages: &[Vec<Paragraph>]) -> HashMap<i64, usize> {
    let all = || pages.iter().flatten();
    let mut weight: HashMap<i64, usize> = HashMap::new();
    for paragraph in all() {
        *weight.entry(step(paragraph.size)).or_default() += paragraph.text.len();
    }
    let Some(text_size) =
        weight.into_iter().max_by_key(|(size, weight)| (*weight, *size)).map(|(size, _)| size)
    else {
        return HashMap::new();
    };
    let is_large = |size: &i64| *size as f64 >= text_size as f64 * MIN_HEADING_RATIO;
    let mut sizes: Vec<i64> =
        all().filter(|p| is_heading(p)).map(|p| step(p.size)).filter(is_large).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes.into_iter().zip(1..).map(|(size, level)| (size, level.min(MAX_LEVELS))).collect()
}

fn is_heading(paragraph: &Paragraph) -> bool {
    let text = &paragraph.text;
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    !paragraph.is_item
        && paragraph.lines <= MAX_HEADING_LINES
        && letters > 1
        && text.chars().count() <= MAX_HEADING_CHARS
        && !text.ends_with(['.', ',', ';'])
}

fn step(size: f64) -> i64 {
    (size / SIZE_STEP).round() as i64
}

/// The letters of a heading without numbering, case and white space; empty if it is too long for a heading.
fn plain(text: &str) -> String {
    let letters: String = text
        .chars()
        .take(2 * MAX_HEADING_CHARS + 1)
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let is_short = letters.chars().count() <= 2 * MAX_HEADING_CHARS;
    letters.trim_start_matches(|c: char| c.is_ascii_digit()).chars().filter(|_| is_short).collect()
}
