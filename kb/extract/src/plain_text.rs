//! Reads plain text: paragraphs, lists and columns as a reader sees them.

use super::{ExtractError, Properties};
use crate::builder::{Builder, Inline, Rows, TableRow};
use crate::document::Document;
use crate::notation::{Numbers, indentation, number};

/// Maximum length of a title.
const MAX_TITLE_CHARS: usize = 100;

/// Reads a text file. Its first line is the title, if it stands alone and is no sentence.
pub(crate) fn document(text: &str) -> Result<Document, ExtractError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { builder: Builder::default(), numbers: Numbers::default(), lists: Vec::new() };
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or_default();
    let begins = if is_title(&lines, first) {
        reader.builder.heading(1, Inline::from_text(lines.get(first).copied().unwrap_or_default()), None);
        first + 1
    } else {
        first
    };
    reader.read(lines.get(begins..).unwrap_or_default());
    reader.builder.finish(Properties::default())
}

fn is_title(lines: &[&str], first: usize) -> bool {
    let title = lines.get(first).map_or("", |line| line.trim());
    let is_alone = lines.get(first + 1).is_some_and(|next| next.trim().is_empty());
    let has_more = lines.iter().skip(first + 1).any(|line| !line.trim().is_empty());
    let is_sentence = title.ends_with(['.', '!', '?', ':', ';', ',', '。', '！', '？']);
    let is_sign = title.starts_with(['-', '+', '–', '*', '•']);
    is_alone
        && has_more
        && !is_sentence
        && !is_sign
        && !title.contains('\t')
        && title.chars().nth(MAX_TITLE_CHARS).is_none()
}

struct Reader {
    builder: Builder,
    numbers: Numbers,
    /// The columns of the marker and of the text of the open items, outermost first.
    lists: Vec<(usize, usize)>,
}

impl Reader {
    fn read(&mut self, lines: &[&str]) {
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let below = lines.get(at + 1..).unwrap_or_default();
            if line.trim().is_empty() {
                at += 1;
            } else if let Some((marker, text)) = self.item(line, below) {
                let length = 1 + self.lines_of_item(line, below);
                self.open_item(line, marker, text);
                let more = below.iter().take(length - 1).map(|line| line.trim());
                let text: Vec<&str> = [text].into_iter().chain(more).collect();
                self.builder.paragraph(Inline::from_text(&text.join("\n")));
                at += length;
            } else {
                self.close_lists(indentation(line));
                let is_row = |line: &&&str| line.trim().contains('\t');
                let rows = lines.iter().skip(at).take_while(is_row).count();
                if rows > 1 {
                    self.table(lines.get(at..at + rows).unwrap_or_default());
                    at += rows;
                } else {
                    let length = 1 + self.lines_of_paragraph(below);
                    let text: Vec<&str> =
                        lines.iter().skip(at).take(length).map(|line| line.trim()).collect();
                    self.builder.paragraph(Inline::from_text(&text.join("\n")));
                    at += length;
                }
            }
        }
        self.close_lists(0);
    }

    /// The marker of an item and the text after it. A dash before a digit is a sign, and a number without others is text.
    fn item<'l>(&mut self, line: &'l str, below: &[&str]) -> Option<(&'l str, &'l str)> {
        let text = line.trim();
        let (marker, rest) = text.split_once([' ', '\t'])?;
        let is_bullet = matches!(marker, "-" | "*" | "+" | "•" | "◦" | "▪" | "●" | "○" | "‣" | "–");
        let is_sign =
            matches!(marker, "-" | "+" | "–") && rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if is_bullet {
            return (!is_sign).then_some((marker, rest.trim_start()));
        }
        let is_item = number(text).is_some() && self.numbers.escaped(line, below).is_none();
        is_item.then_some((marker, rest.trim_start()))
    }

    fn open_item(&mut self, line: &str, marker: &str, text: &str) {
        let column = indentation(line);
        while let Some((of_marker, of_text)) = self.lists.last().copied() {
            if column >= of_text {
                break;
            }
            self.builder.close();
            if column >= of_marker {
                break;
            }
            self.builder.close();
            self.lists.pop();
        }
        let is_sibling = self.lists.last().is_some_and(|(_, of_text)| column < *of_text);
        if is_sibling {
            self.lists.pop();
        } else {
            self.builder.open_list();
        }
        let before_text = line.trim().chars().count().saturating_sub(text.chars().count());
        self.lists.push((column, column + before_text));
        self.builder.open_item(marker, true);
    }

    /// Closes the items whose text begins right of a column.
    fn close_lists(&mut self, column: usize) {
        while self.lists.pop_if(|(_, of_text)| column < *of_text).is_some() {
            self.builder.close();
            self.builder.close();
        }
    }

    /// Lines below an item that are indented at least as far as its text.
    fn lines_of_item(&self, line: &str, below: &[&str]) -> usize {
        let indent = indentation(line);
        let goes_on =
            |line: &&&str| !line.trim().is_empty() && indentation(line) > indent && !begins_item(line);
        below.iter().take_while(goes_on).count()
    }

    fn lines_of_paragraph(&self, below: &[&str]) -> usize {
        let goes_on =
            |line: &&&str| !line.trim().is_empty() && !begins_item(line) && !line.trim().contains('\t');
        below.iter().take_while(goes_on).count()
    }

    fn table(&mut self, lines: &[&str]) {
        let row = |line: &&str| TableRow {
            cells: line.trim().split('\t').map(|cell| Inline::from_text(cell).into()).collect(),
            ..TableRow::default()
        };
        self.builder.table(Rows { rows: lines.iter().map(row).collect(), ..Rows::default() });
    }
}

fn begins_item(line: &str) -> bool {
    let text = line.trim();
    let is_bullet =
        text.starts_with(['-', '*', '+', '•', '◦', '▪', '●', '○', '‣', '–']) && text.contains(' ');
    is_bullet || number(text).is_some()
}

#[cfg(test)]
mod tests {
    use crate::document::{BlockKind, Document};

    fn kinds(document: &Document) -> Vec<(String, String)> {
        fn add(document: &Document, blocks: &[crate::document::Block], kinds: &mut Vec<(String, String)>) {
            for block in blocks {
                let kind = format!("{:?}", block.kind);
                let text = document.slice(&block.range).to_owned();
                if block.children.is_empty() || matches!(block.kind, BlockKind::Item { .. }) {
                    kinds.push((kind.split(' ').next().unwrap().to_owned(), text));
                } else {
                    add(document, &block.children, kinds);
                }
            }
        }
        let mut found = Vec::new();
        add(document, &document.blocks, &mut found);
        found
    }

    fn read(text: &str) -> Vec<(String, String)> {
        kinds(&super::document(text).unwrap())
    }

    fn pairs(found: &[(String, String)]) -> Vec<(&str, &str)> {
        found.iter().map(|(kind, text)| (kind.as_str(), text.as_str())).collect()
    }

    #[test]
    fn the_first_line_is_the_title_if_it_stands_alone() {
        assert_eq!(
            pairs(&read("Opening hours\n\nWe open at 9.")),
            [("Heading", "Opening hours"), ("Paragraph", "We open at 9.")]
        );
        assert_eq!(
            pairs(&read("We open at 9.\n\nNot on Sundays.")).first(),
            Some(&("Paragraph", "We open at 9."))
        );
        assert_eq!(
            pairs(&read("# of seats is limited to 40.")),
            [("Paragraph", "# of seats is limited to 40.")]
        );
    }

    #[test]
    fn a_line_with_less_indentation_ends_an_item() {
        assert_eq!(
            pairs(&read("Covered:\n- Fire\n- Water\n  from pipes\nNot covered:\n- Theft")),
            [
                ("Paragraph", "Covered:"),
                ("Item", "- Fire"),
                ("Item", "- Water\nfrom pipes"),
                ("Paragraph", "Not covered:"),
                ("Item", "- Theft"),
            ]
        );
    }

    #[test]
    fn signs_and_dates_are_no_markers() {
        assert_eq!(
            pairs(&read("- 20 °C to + 40 °C\n\n24. Dezember: geschlossen\n\n31. Dezember: auf")).len(),
            3
        );
        assert!(
            read("- 20 °C to + 40 °C\n\n24. Dezember: geschlossen")
                .iter()
                .all(|(kind, _)| kind == "Paragraph")
        );
    }

    #[test]
    fn lists_nest_by_indentation() {
        let document = super::document("1. a\n   - b\n   - c\n2. d").unwrap();
        assert_eq!(document.text, "1. a\n  - b\n  - c\n2. d");
        assert_eq!((document.blocks.len(), document.blocks[0].children.len()), (1, 2));
    }
}
