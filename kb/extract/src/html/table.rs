//! Builds the rows of a table.

/// Maximum colspan and rowspan.
const MAX_SPAN: usize = 50;

/// A data table, not a layout table.
#[derive(Default)]
pub(super) struct TableBuilder {
    rows: Vec<Vec<String>>,
    /// For each column, how many more rows the cell above spans, and its text.
    reaching: Vec<(usize, String)>,
    /// Header cells and all cells of the first row.
    first_row: (usize, usize),
}

impl TableBuilder {
    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
        self.fill_from_above();
    }

    pub(super) fn cell(&mut self, text: &str, is_header: bool, columns: Option<&str>, rows: Option<&str>) {
        if self.rows.is_empty() {
            self.start_row();
        }
        if self.rows.len() == 1 {
            self.first_row.0 += usize::from(is_header);
            self.first_row.1 += 1;
        }
        let span =
            |value: Option<&str>| value.and_then(|v| v.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        for at in 0..span(columns) {
            // A cell over several columns is written once, one over several rows in each row.
            let text = if at == 0 { text } else { "" };
            let Some(row) = self.rows.last_mut() else { return };
            if self.reaching.len() <= row.len() {
                self.reaching.resize(row.len() + 1, (0, String::new()));
            }
            if let Some(below) = self.reaching.get_mut(row.len()) {
                *below = (span(rows) - 1, text.to_owned());
            }
            row.push(text.to_owned());
        }
        self.fill_from_above();
    }

    /// The rows, and whether the first is a header.
    pub(super) fn finish(self) -> (Vec<Vec<String>>, bool) {
        let (headers, cells) = self.first_row;
        let is_alone =
            self.rows.iter().filter(|row| row.iter().any(|cell| !cell.trim().is_empty())).count() < 2;
        // Without header cells, the first row is usually the header, unless each row starts with its own header.
        let has_header = !is_alone && (headers == cells || headers != 1);
        (self.rows, has_header && cells > 0)
    }

    fn fill_from_above(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some((rows, text)) = self.reaching.get_mut(row.len())
            && *rows > 0
        {
            *rows -= 1;
            row.push(text.clone());
        }
    }
}
