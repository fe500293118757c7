//! Puts the cells of a data table into rows.

use std::ops::Range;

use crate::builder::{Rows, TableRow, Text};

/// Maximum colspan and rowspan.
const MAX_SPAN: usize = 50;

/// A data table, not a layout table.
#[derive(Default)]
pub(super) struct TableReader {
    pub(super) caption: Text,
    rows: Vec<TableRow>,
    pub(super) is_in_head: bool,
    /// For each column, how many more rows the cell above spans, and its text.
    reaching: Vec<(usize, Text)>,
    /// True if all cells of the open row that are not blank are header cells.
    has_only_headers: bool,
    own_cells: usize,
    /// True if a row above has the names of the columns.
    has_names: bool,
    /// The columns of each cell of the open row that spans several, without the first cell.
    wide: Vec<Range<usize>>,
}

impl TableReader {
    pub(super) fn start_row(&mut self) {
        self.end_row();
        self.rows.push(TableRow::default());
        self.has_only_headers = true;
        self.own_cells = 0;
        self.fill_from_above();
    }

    /// Returns whether the open row has no cells of its own yet.
    pub(super) fn is_row_empty(&self) -> bool {
        self.own_cells == 0
    }

    pub(super) fn cell(&mut self, text: Text, is_header: bool, columns: Option<&str>, rows: Option<&str>) {
        if self.rows.is_empty() {
            self.start_row();
        }
        // The corner of a table may be an ordinary cell.
        self.has_only_headers &= is_header || (self.own_cells == 0 && text.is_blank());
        self.own_cells += 1;
        let span =
            |value: Option<&str>| value.and_then(|v| v.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        for at in 0..span(columns) {
            // A cell over several rows is written in each.
            let text = if at == 0 { text.clone() } else { Text::default() };
            let Some(row) = self.rows.last_mut() else { return };
            if self.reaching.len() <= row.cells.len() {
                self.reaching.resize(row.cells.len() + 1, (0, Text::default()));
            }
            if let Some(below) = self.reaching.get_mut(row.cells.len()) {
                *below = (span(rows) - 1, text.clone());
            }
            row.cells.push(text);
        }
        if self.own_cells > 1 && span(columns) > 1 {
            let end = self.rows.last().map_or(0, |row| row.cells.len());
            self.wide.push(end - span(columns)..end);
        }
        self.fill_from_above();
    }

    /// A row is a header where the file says so: in the head of the table, or by its cells.
    pub(super) fn end_row(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            // A single cell over all columns names a group, whatever its element.
            let is_group = self.own_cells == 1 && row.cells.len() > 1;
            row.is_header = row.is_header
                || (!row.cells.is_empty() && (self.is_in_head || self.has_only_headers || is_group));
            self.has_names |= row.is_header;
            let is_repeated = self.has_names && !row.is_header;
            // A value holds for each named column below its cell; a name is written once.
            for wide in std::mem::take(&mut self.wide).into_iter().filter(|_| is_repeated) {
                let value = row.cells.get(wide.start).cloned().unwrap_or_default();
                row.cells.get_mut(wide).into_iter().for_each(|cells| cells.fill(value.clone()));
            }
        }
    }

    pub(super) fn finish(mut self) -> Rows {
        self.end_row();
        Rows { caption: self.caption, rows: self.rows }
    }

    fn fill_from_above(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some((rows, text)) = self.reaching.get_mut(row.cells.len())
            && *rows > 0
        {
            *rows -= 1;
            row.cells.push(text.clone());
        }
    }
}
