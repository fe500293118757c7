//! A large site of short Markdown pages whose sizes and order are skewed as on real sites: many short pages and a few long ones, and
//! each folder with sizes and a style of its own, so that the first pages in the order of their names are unlike the rest.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use extract::Format;
use kb::sync::Defaults;

use super::words::{Random, Words};
use super::write;

const PAGES_PER_FOLDER: u32 = 500;
/// Of so many pages, the first is edited.
const CHANGE_EVERY: u32 = 100;

/// A part of the site.
struct Part {
    folder: &'static str,
    /// Of 1000 pages.
    pages: u32,
    /// Half of its pages are shorter.
    median_words: f64,
    /// Standard deviation of the logarithm of the size.
    deviation: f64,
    style: Style,
}

#[derive(Clone, Copy)]
enum Style {
    Prose,
    Lists,
    Code,
}

/// In the order of their names. Real pages are about ten times as long; embedding them would only take longer.
const PARTS: [Part; 5] = [
    Part { folder: "answers", pages: 400, median_words: 10.0, deviation: 0.7, style: Style::Prose },
    Part { folder: "guides", pages: 250, median_words: 30.0, deviation: 0.9, style: Style::Lists },
    Part { folder: "news", pages: 200, median_words: 25.0, deviation: 0.8, style: Style::Prose },
    Part { folder: "reference", pages: 145, median_words: 60.0, deviation: 1.1, style: Style::Code },
    Part { folder: "releases", pages: 5, median_words: 600.0, deviation: 1.0, style: Style::Lists },
];

/// Writes the pages, and the path and the content hash of each to `list`.
pub(super) fn write_pages(words: &Words, folder: &Path, pages: u32, list: impl io::Write) -> Result<()> {
    let defaults = Defaults { language: "english".to_owned(), audience: None };
    let mut list = BufWriter::new(list);
    for number in 0..pages {
        let (path, page) = (path(number), page(words, number));
        write(&folder.join(&path), &page)?;
        writeln!(list, "{}\t{}", path.display(), defaults.content_hash(Format::Markdown, page.as_bytes()))?;
    }
    Ok(list.flush()?)
}

/// Adds a sentence to one page of a hundred and returns their number.
pub(super) fn change_pages(words: &Words, folder: &Path, pages: u32) -> Result<u32> {
    let mut count = 0;
    for number in (0..pages).step_by(CHANGE_EVERY as usize) {
        let sentence = words.sentence(&mut Random::new(u64::from(pages + number)));
        write(&folder.join(path(number)), &format!("{}\n{sentence}\n", page(words, number)))?;
        count += 1;
    }
    Ok(count)
}

fn page(words: &Words, number: u32) -> String {
    let part = part(number);
    let mut random = Random::new(u64::from(number));
    let length = (part.median_words * (part.deviation * random.normal()).exp()) as usize;
    let title_words = random.between(2, 6);
    let mut text = format!("# {}\n\n", words.phrase(&mut random, title_words));
    let mut written = 0;
    while written < length.max(1) {
        let block = match part.style {
            Style::Lists if random.between(0, 2) > 0 => format!("- {}\n", words.sentence(&mut random)),
            Style::Code if random.between(0, 2) == 0 => code(words, &mut random),
            _ => words.paragraph(&mut random, (length - written).min(60)) + "\n\n",
        };
        written += block.split(' ').count();
        text.push_str(&block);
    }
    text
}

/// A block of code.
fn code(words: &Words, random: &mut Random) -> String {
    let mut line =
        |number| format!("{}({}, {number}) = {}", words.word(random), words.word(random), words.word(random));
    let lines: Vec<_> = (0..4).map(&mut line).collect();
    format!("```\n{}\n```\n\n", lines.join("\n"))
}

fn part(number: u32) -> &'static Part {
    let mut within = number % 1000;
    for part in &PARTS {
        if within < part.pages {
            return part;
        }
        within -= part.pages;
    }
    &PARTS[PARTS.len() - 1]
}

fn path(number: u32) -> PathBuf {
    format!("{}/{:03}/page-{number:06}.md", part(number).folder, number / PAGES_PER_FOLDER).into()
}
