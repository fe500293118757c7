//! Composes the text and sections of a PDF from the lines of its pages.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    PageLines, breaks, contents, furniture,
    outline::Bookmark,
    paragraphs::{self, Paragraph, main_size, raised_number, size_step},
};
use crate::builder::{Builder, Inline};
use crate::document::MarkKind;
use crate::rows;
use crate::shifted::is_raised;

/// Minimum size of a heading relative to the text.
const MIN_HEADING_RATIO: f64 = 1.15;
const MAX_HEADING_CHARS: usize = 150;
const MAX_HEADING_LINES: usize = 3;
const MAX_LEVELS: u8 = 4;

/// The text of a document.
pub(super) struct Composed {
    pub(super) builder: Builder,
    /// True if the first heading is the title: the first bookmark is only a chapter.
    pub(super) has_title: bool,
    /// Lines of running headers and footers, and page numbers.
    pub(super) furniture: usize,
    /// Lines of tables of contents.
    pub(super) contents: usize,
}

/// Headings are the bookmarks, or else lines larger than the text; the largest of these is the title, while the first bookmark
/// is only a chapter.
pub(super) fn compose(mut pages: Vec<PageLines>, bookmarks: Vec<Bookmark>) -> Composed {
    let furniture = furniture::remove(&mut pages);
    let contents = contents::remove(&mut pages);
    let words = paragraphs::words(pages.iter().flat_map(|page| &page.lines));
    let pages = paragraphs::pages(pages.iter().map(|page| page.lines.as_slice()), &words);
    let mut headings = if bookmarks.is_empty() {
        Headings::Sizes(heading_sizes(&pages))
    } else {
        Headings::from_bookmarks(bookmarks, &pages)
    };
    let paragraphs = breaks::join(pages, &words, |paragraph| headings.has(paragraph));
    let mut builder = Builder::default();
    write(&paragraphs, &mut headings, &mut builder);
    Composed { builder, has_title: matches!(headings, Headings::Sizes(_)), furniture, contents }
}

/// The list that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Bullets,
    /// Has an introduction: other numbered paragraphs are not a list.
    Numbers,
}

fn write(paragraphs: &[Paragraph], headings: &mut Headings, builder: &mut Builder) {
    let notes: Vec<(usize, &str)> = paragraphs
        .iter()
        .filter_map(|paragraph| Some((paragraph.page, raised_number(&paragraph.text)?.0)))
        .collect();
    let mut list = None;
    let mut page = None;
    let mut is_introduced = false;
    // Whether a sentence is open that the first of several numbered paragraphs may end.
    let mut is_open = false;
    for paragraph in paragraphs {
        let is_heading = paragraph.rows.is_empty() && headings.has(paragraph);
        let item = match (paragraph.is_item, paragraph.number()) {
            (true, _) => Some(("-", paragraph.text.as_str())),
            (_, number) => number.filter(|(number, _)| {
                let is_first = matches!(number.trim_matches(['(', ')', '.']), "a" | "A" | "i" | "I");
                list == Some(List::Numbers) || (list.is_none() && (is_introduced || is_open && is_first))
            }),
        };
        let item = item.filter(|_| !is_heading && paragraph.rows.is_empty());
        if item.is_none() && list.take().is_some() {
            builder.close();
        }
        // A list stays in the section of its introduction and its first item.
        let is_new = list.is_none() && !((is_introduced || is_open) && item.is_some());
        if is_new && page.is_none_or(|page| page < paragraph.page) {
            page = Some(paragraph.page);
            builder.page(u32::try_from(paragraph.page + 1).unwrap_or(u32::MAX));
            headings.start_page(paragraph.page, builder);
        }
        if let Some((marker, text)) = item {
            if list.is_none() {
                builder.open_list();
                list = Some(if paragraph.is_item { List::Bullets } else { List::Numbers });
            }
            builder.open_item(marker, true);
            builder.paragraph(inline(paragraph, text, &notes));
            builder.close();
        } else if !paragraph.rows.is_empty() {
            // Rows of unequal length have no clear columns.
            let width = paragraph.rows.first().map(Vec::len);
            let is_even = paragraph.rows.iter().all(|row| Some(row.len()) == width);
            let rows = Some(paragraph.rows.clone()).filter(|_| is_even);
            match rows.and_then(|rows| rows::texts_of_table(rows, paragraph.is_bold)) {
                Some(table) => builder.table(table),
                None => builder.code(&paragraph.text),
            }
        } else if let Some(level) = is_heading.then(|| headings.level(paragraph, builder)).flatten() {
            builder.heading(level, Inline::from_text(&paragraph.text), None);
        } else if let Some((number, _)) = raised_number(&paragraph.text) {
            builder.open_note(&label(paragraph.page, number));
            builder.paragraph(Inline::from_text(&paragraph.text));
            builder.close();
        } else {
            builder.paragraph(inline(paragraph, &paragraph.text, &notes));
        }
        is_introduced = !is_heading && item.is_none() && paragraph.is_introduction();
        is_open = !is_heading && item.is_none() && paragraph.is_open();
    }
    if list.is_some() {
        builder.close();
    }
}

/// The text of a paragraph, in which the raised numbers of notes on its page or a later one refer to these.
fn inline(paragraph: &Paragraph, text: &str, notes: &[(usize, &str)]) -> Inline {
    let mut inline = Inline::default();
    if paragraph.is_bold {
        inline.open(MarkKind::Strong);
    }
    let mut rest = text;
    while let Some((before, from)) = rest.find(is_raised).and_then(|at| rest.split_at_checked(at)) {
        let (number, after) = raised_number(from).unwrap_or((from, ""));
        inline.push(before);
        if let Some((page, _)) =
            notes.iter().find(|(page, other)| *page >= paragraph.page && *other == number)
        {
            inline.reference(&label(*page, number));
        }
        inline.push(number);
        rest = after;
    }
    inline.push(rest);
    inline
}

fn label(page: usize, number: &str) -> String {
    format!("{page}:{number}")
}

enum Headings {
    /// Bookmarks that are still to come, each with its [`plain`] words.
    Bookmarks {
        coming: VecDeque<(String, Bookmark)>,
        /// Index of the page and words of those whose words are a paragraph of their page.
        shown: HashSet<(usize, String)>,
    },
    /// Levels by [`size_step`].
    Sizes(HashMap<i64, u8>),
}

impl Headings {
    fn from_bookmarks(bookmarks: Vec<Bookmark>, pages: &[Vec<Paragraph>]) -> Self {
        let coming: VecDeque<(String, Bookmark)> =
            bookmarks.into_iter().map(|bookmark| (plain(&bookmark.title), bookmark)).collect();
        let wanted: HashSet<(usize, &str)> =
            coming.iter().map(|(words, bookmark)| (bookmark.page, words.as_str())).collect();
        let of_paragraph = |paragraph: &Paragraph| (paragraph.page, plain(&paragraph.text));
        let shown = pages.iter().flatten().filter(|paragraph| !paragraph.is_item).map(of_paragraph);
        let shown = shown
            .filter(|(page, words)| !words.is_empty() && wanted.contains(&(*page, words.as_str())))
            .collect();
        Self::Bookmarks { coming, shown }
    }

    /// Returns whether a paragraph is a heading. It has no level if the same words were a heading
    /// of its page before.
    fn has(&self, paragraph: &Paragraph) -> bool {
        match self {
            Self::Sizes(levels) => is_heading(paragraph) && levels.contains_key(&size_step(paragraph.size)),
            Self::Bookmarks { shown, .. } => {
                !paragraph.is_item && shown.contains(&(paragraph.page, plain(&paragraph.text)))
            }
        }
    }

    /// Opens the bookmarks of earlier pages, and those of this page whose words are not on it: the following text is under
    /// them, too.
    fn start_page(&mut self, page: usize, builder: &mut Builder) {
        if let Self::Bookmarks { coming, shown } = self {
            let is_passed = |(words, bookmark): &mut (String, Bookmark)| {
                bookmark.page < page || (bookmark.page == page && !shown.contains(&(page, words.clone())))
            };
            while let Some((_, passed)) = coming.pop_front_if(is_passed) {
                builder.heading(passed.level, Inline::from_text(&passed.title), None);
            }
        }
    }

    /// The level of a paragraph that is a heading.
    fn level(&mut self, paragraph: &Paragraph, builder: &mut Builder) -> Option<u8> {
        match self {
            Self::Sizes(levels) => levels.get(&size_step(paragraph.size)).copied(),
            Self::Bookmarks { coming, .. } => {
                // A bookmark whose words are not found, such as that of a cover, must not block those after it.
                let words = plain(&paragraph.text);
                let mut here = coming.iter().take_while(|(_, bookmark)| bookmark.page == paragraph.page);
                let position = here.position(|(title, _)| !title.is_empty() && *title == words)?;
                for (_, passed) in coming.drain(..position) {
                    builder.heading(passed.level, Inline::from_text(&passed.title), None);
                }
                coming.pop_front().map(|(_, bookmark)| bookmark.level)
            }
        }
    }
}

/// The largest sizes of paragraphs that look like headings, relative to the size of most of the text.
fn heading_sizes(pages: &[Vec<Paragraph>]) -> HashMap<i64, u8> {
    let all = || pages.iter().flatten();
    let text_size = size_step(main_size(all())) as f64;
    let is_large = |size: &i64| *size as f64 >= text_size * MIN_HEADING_RATIO;
    let headings = all().filter(|paragraph| is_heading(paragraph));
    let mut sizes: Vec<i64> = headings.map(|paragraph| size_step(paragraph.size)).filter(is_large).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes.into_iter().zip((1..MAX_LEVELS).chain(std::iter::repeat(MAX_LEVELS))).collect()
}

fn is_heading(paragraph: &Paragraph) -> bool {
    let text = &paragraph.text;
    paragraph.rows.is_empty()
        && !paragraph.is_item
        && paragraph.lines <= MAX_HEADING_LINES
        && text.chars().nth(MAX_HEADING_CHARS).is_none()
        && text.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
        && !text.ends_with(['.', ',', ';'])
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
