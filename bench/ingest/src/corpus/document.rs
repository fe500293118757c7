//! One generated file: a title and sections, each about one passage long.

use super::words::{Random, Words};

const SECTIONS: usize = 10;
/// Range of the number of words in a section. With headings and punctuation about 160 tokens, which is nearly always one
/// passage.
const WORDS: (usize, usize) = (95, 125);
const LIST_ITEMS: usize = 4;
const TABLE_ROWS: usize = 5;

pub(super) struct Document {
    pub(super) sections: Vec<Section>,
}

pub(super) struct Section {
    /// Outermost first.
    pub(super) headings: Vec<String>,
    /// The text below the headings, as Markdown.
    pub(super) body: String,
}

impl Document {
    /// An introduction, then sections, every third of which is a subsection of the one before.
    pub(super) fn new(words: &Words, random: &mut Random) -> Self {
        let title = words.phrase(random, 3);
        let mut sections = vec![Section { headings: vec![title.clone()], body: prose(words, random) }];
        let mut above = String::new();
        for number in 1..SECTIONS {
            let heading_words = random.between(1, 4);
            let heading = words.phrase(random, heading_words);
            let headings = if number % 3 == 0 {
                vec![title.clone(), above.clone(), heading]
            } else {
                above.clone_from(&heading);
                vec![title.clone(), heading]
            };
            let body = match number % 4 {
                2 => list(words, random),
                3 => table(words, random),
                _ => prose(words, random),
            };
            sections.push(Section { headings, body });
        }
        Self { sections }
    }

    pub(super) fn to_markdown(&self) -> String {
        let section = |Section { headings, body }: &Section| {
            let heading = headings.last().map(String::as_str).unwrap_or_default();
            format!("{} {heading}\n\n{body}\n", "#".repeat(headings.len()))
        };
        self.sections.iter().map(section).collect::<Vec<_>>().join("\n")
    }
}

/// Two paragraphs.
fn prose(words: &Words, random: &mut Random) -> String {
    let half = random.between(WORDS.0, WORDS.1) / 2;
    format!("{}\n\n{}", words.paragraph(random, half), words.paragraph(random, half))
}

fn list(words: &Words, random: &mut Random) -> String {
    let mut parts = vec![words.sentence(random) + "\n"];
    parts.extend((0..LIST_ITEMS).map(|_| format!("- {}", words.sentence(random))));
    parts.join("\n")
}

/// A paragraph and a table of three columns.
fn table(words: &Words, random: &mut Random) -> String {
    let paragraph = words.paragraph(random, WORDS.0 / 2);
    let mut row = |cell_words| {
        let cells: Vec<_> = (0..3).map(|_| words.phrase(random, cell_words)).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![row(1), "|---|---|---|".to_owned()];
    lines.extend((0..TABLE_ROWS).map(|_| row(3)));
    format!("{paragraph}\n\n{}", lines.join("\n"))
}
