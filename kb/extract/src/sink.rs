//! Where the readers of Word and PDF write to.

use crate::builder::{Builder, Inline, Rows, TableRow};
use crate::composer::Composer;

/// A writer of blocks, as [`Composer`] and [`Builder`] are.
pub(crate) trait Sink: Default {
    /// The following content is on this page.
    fn page(&mut self, page: u32);
    /// The following content is below a heading that the page does not show; below none if it is empty.
    fn under(&mut self, level: usize, heading: &str);
    fn heading(&mut self, level: usize, text: &str);
    fn paragraph(&mut self, text: &str);
    fn open_list(&mut self);
    fn open_item(&mut self, marker: &str);
    fn close(&mut self);
    fn table(&mut self, rows: &[Vec<String>], has_header: bool);
    fn is_full(&self) -> bool;
}

impl Sink for Composer {
    fn page(&mut self, page: u32) {
        self.page(page);
    }

    fn under(&mut self, level: usize, heading: &str) {
        self.under(level, heading);
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.heading(level, text);
    }

    fn paragraph(&mut self, text: &str) {
        self.paragraph(text);
    }

    fn open_list(&mut self) {
        self.open_list();
    }

    fn open_item(&mut self, marker: &str) {
        self.open_item(marker);
    }

    fn close(&mut self) {
        self.close();
    }

    fn table(&mut self, rows: &[Vec<String>], has_header: bool) {
        self.table(rows, has_header);
    }

    fn is_full(&self) -> bool {
        self.is_full()
    }
}

impl Sink for Builder {
    fn page(&mut self, page: u32) {
        self.page(page);
    }

    fn under(&mut self, level: usize, heading: &str) {
        self.heading(level_of(level), Inline::from_text(heading), None);
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.heading(level_of(level), Inline::from_text(text), None);
    }

    fn paragraph(&mut self, text: &str) {
        // Blank lines separate paragraphs.
        let mut paragraph = String::new();
        for line in text.lines().chain([""]) {
            if !line.trim().is_empty() {
                paragraph.push_str(line);
                paragraph.push('\n');
            } else if !paragraph.is_empty() {
                self.paragraph(Inline::from_text(&paragraph));
                paragraph.clear();
            }
        }
    }

    fn open_list(&mut self) {
        self.open_list();
    }

    fn open_item(&mut self, marker: &str) {
        self.open_item(marker, true);
    }

    fn close(&mut self) {
        self.close();
    }

    fn table(&mut self, rows: &[Vec<String>], has_header: bool) {
        let row = |(at, cells): (usize, &Vec<String>)| TableRow {
            is_header: has_header && at == 0,
            cells: cells.iter().map(|cell| Inline::from_text(cell).into()).collect(),
            url: None,
        };
        self.table(Rows { rows: rows.iter().enumerate().map(row).collect(), ..Rows::default() });
    }

    fn is_full(&self) -> bool {
        self.is_full()
    }
}

fn level_of(level: usize) -> u8 {
    u8::try_from(level).unwrap_or(u8::MAX)
}
