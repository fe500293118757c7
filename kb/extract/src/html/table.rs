//! Builds the rows of a table.

/// Maximum colspan and rowspan.
const MAX_SPAN: usize = 50;
/// Maximum number of rows with the names of columns.
const MAX_HEADER_ROWS: usize = 8;

/// A data table, not a layout table.
#[derive(Default)]
pub(super) struct TableBuilder {
    rows: Vec<Row>,
    /// For each column, how many more rows the cell above spans, and its text.
    reaching: Vec<(usize, String)>,
    is_in_head: bool,
}

#[derive(Default)]
struct Row {
    cells: Vec<Cell>,
    /// Number of its own cells, and of its own header cells.
    own: (usize, usize),
    is_in_head: bool,
}

struct Cell {
    text: String,
    /// Whether it is the further extent of the cell before it.
    is_continued: bool,
}

/// The rows of a table.
pub(super) struct Table {
    /// The names of the columns, if the page says which row has them.
    pub(super) header: Option<Vec<String>>,
    pub(super) groups: Vec<Group>,
}

/// Rows under a row with a single header cell, which says something about all of them.
#[derive(Default)]
pub(super) struct Group {
    pub(super) label: Option<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl TableBuilder {
    /// The following rows are in `<thead>`, or not.
    pub(super) fn set_in_head(&mut self, is_in_head: bool) {
        self.is_in_head = is_in_head;
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Row { is_in_head: self.is_in_head, ..Row::default() });
        self.fill_from_above();
    }

    pub(super) fn cell(&mut self, text: &str, is_header: bool, columns: Option<&str>, rows: Option<&str>) {
        if self.rows.is_empty() {
            self.start_row();
        }
        let span =
            |value: Option<&str>| value.and_then(|v| v.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        for at in 0..span(columns) {
            // A cell over several columns is written once, one over several rows in each row.
            let text = if at == 0 { text } else { "" };
            let Some(row) = self.rows.last_mut() else { return };
            if at == 0 {
                row.own = (row.own.0 + 1, row.own.1 + usize::from(is_header));
            }
            let column = row.cells.len();
            row.cells.push(Cell { text: text.to_owned(), is_continued: at > 0 });
            if self.reaching.len() <= column {
                self.reaching.resize(column + 1, (0, String::new()));
            }
            if let Some(below) = self.reaching.get_mut(column) {
                *below = (span(rows) - 1, text.to_owned());
            }
        }
        self.fill_from_above();
    }

    pub(super) fn finish(mut self) -> Table {
        self.rows.retain(|row| row.cells.iter().any(|cell| !cell.text.trim().is_empty()));
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let is_label =
            |row: &Row| columns > 1 && row.own == (1, 1) && !row.cells.iter().skip(1).any(Cell::has_text);
        let is_header = |row: &Row, is_first: bool| {
            row.is_in_head || (is_first && row.own.0 > 0 && row.own.0 == row.own.1)
        };
        let mut groups = vec![Group::default()];
        let mut header: Vec<Row> = Vec::new();
        let mut content = 0;
        for row in self.rows {
            if is_label(&row) {
                let label = row.cells.into_iter().next().map(|cell| cell.text);
                groups.push(Group { label, rows: Vec::new() });
            } else if content == 0 && header.len() < MAX_HEADER_ROWS && is_header(&row, header.is_empty()) {
                header.push(row);
            } else if let Some(group) = groups.last_mut() {
                content += 1;
                group.rows.push(row.cells.into_iter().map(|cell| cell.text).collect());
            }
        }
        if content == 0 {
            // Rows without any below them name no columns.
            let rows = header.drain(..).map(|row| row.cells.into_iter().map(|cell| cell.text).collect());
            let rows: Vec<_> = rows.collect();
            groups.push(Group { label: None, rows });
        }
        Table { header: merged(header), groups }
    }

    fn fill_from_above(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some((rows, text)) = self.reaching.get_mut(row.cells.len())
            && *rows > 0
        {
            *rows -= 1;
            row.cells.push(Cell { text: text.clone(), is_continued: false });
        }
    }
}

impl Cell {
    fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// The names of the columns from all rows of the header: a name over several columns holds for each of them.
fn merged(rows: Vec<Row>) -> Option<Vec<String>> {
    let mut names: Vec<Vec<&str>> = Vec::new();
    for row in &rows {
        let mut last = "";
        for (column, cell) in row.cells.iter().enumerate() {
            if !cell.is_continued {
                last = cell.text.trim();
            }
            if names.len() <= column {
                names.push(Vec::new());
            }
            if let Some(name) = names.get_mut(column)
                && !last.is_empty()
                && !name.contains(&last)
            {
                name.push(last);
            }
        }
    }
    (!rows.is_empty()).then(|| names.iter().map(|name| name.join(" ")).collect())
}
