//! Finds tables: rows of cells next to each other, each of one or more lines.

use super::lines::Line;
use crate::lines::leader;

/// Maximum number of lines of a cell; more are a column of text.
const MAX_CELL_LINES: usize = 12;
/// Distances in em: of the lines of a cell, of rows, and the tolerance of a baseline.
const MAX_LINE_GAP: f64 = 1.7;
const MAX_ROW_GAP: f64 = 4.0;
const SAME_LINE: f64 = 0.6;

struct Cell {
    text: String,
    start: f64,
    end: f64,
    baseline: f64,
    lines: usize,
}

/// Cells next to each other.
struct Row {
    cells: Vec<Cell>,
    /// The first and last baseline.
    top: f64,
    bottom: f64,
    /// Lines up to its end.
    lines: usize,
    is_bold: bool,
}

/// A table on a page.
pub(super) struct Table {
    /// The number of its lines.
    pub(super) lines: usize,
    pub(super) rows: Vec<Vec<String>>,
    /// True if only the first row is bold.
    pub(super) has_header: bool,
}

/// The table that begins here. The rows are of unequal length if
/// the columns are not clear.
pub(super) fn table(lines: &[Line]) -> Option<Table> {
    let mut rows = rows(lines);
    let complete = rows.iter().take_while(|row| row.cells.len() > 1).count();
    rows.truncate(complete);
    let count = rows.last().filter(|_| rows.len() > 1)?.lines;
    let mut spans: Vec<(f64, f64)> =
        rows.iter().flat_map(|row| row.cells.iter().map(|cell| (cell.start, cell.end))).collect();
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut columns: Vec<(f64, f64)> = Vec::new();
    for (start, end) in spans {
        match columns.last_mut() {
            Some(column) if start < column.1 => column.1 = column.1.max(end),
            _ => columns.push((start, end)),
        }
    }
    let placed = |row: &Row| {
        let mut texts = vec![String::new(); columns.len()];
        for cell in &row.cells {
            let column = columns.partition_point(|column| column.0 <= cell.start).checked_sub(1)?;
            let text = texts.get_mut(column).filter(|text| text.is_empty())?;
            text.clone_from(&cell.text);
        }
        Some(texts)
    };
    let as_they_are = |row: &Row| row.cells.iter().map(|cell| cell.text.clone()).collect();
    let placed: Option<Vec<Vec<String>>> = rows.iter().map(placed).collect();
    // Names over several columns are not clear.
    let has_header = placed.is_some()
        && rows.first().is_some_and(|row| row.is_bold && row.cells.len() + 1 >= columns.len())
        && !rows.iter().skip(1).any(|row| row.is_bold);
    let rows = placed.unwrap_or_else(|| rows.iter().map(as_they_are).collect());
    Some(Table { lines: count, rows, has_header })
}

fn rows(lines: &[Line]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut cells = cells(line);
        let Some(first) = cells.first() else { break };
        let em = line.size.max(1.0);
        if lines.first().is_none_or(|first| first.direction != line.direction) {
            break;
        }
        let above = rows.len().checked_sub(2).and_then(|at| rows.get(at)).map(|row| row.bottom);
        if let Some(row) = rows.last_mut()
            && let Some(last) = row.cells.last_mut()
        {
            let gap = (line.baseline - last.baseline) / em;
            let goes_on = cells.len() == 1
                && first.start < last.end
                && last.start < first.end
                && (SAME_LINE..MAX_LINE_GAP).contains(&gap)
                && last.lines < MAX_CELL_LINES;
            // Cells with more lines may begin above the others of their row.
            let top = above.map_or(row.top, |above| above + 2.0 * SAME_LINE * em);
            let is_beside = first.start > last.end
                && line.baseline > top - SAME_LINE * em
                && line.baseline < row.bottom + SAME_LINE * em;
            if goes_on {
                last.text.push(' ');
                last.text.push_str(&first.text);
                (last.start, last.end) = (last.start.min(first.start), last.end.max(first.end));
                last.baseline = line.baseline;
                last.lines += 1;
            } else if is_beside {
                row.cells.append(&mut cells);
            }
            if goes_on || is_beside {
                row.bottom = row.bottom.max(line.baseline);
                row.is_bold &= line.is_bold;
                row.lines = at + 1;
                continue;
            }
            let below = (line.baseline - row.bottom) / em;
            if row.cells.len() < 2 || !(SAME_LINE..MAX_ROW_GAP).contains(&below) {
                break;
            }
        }
        let (top, bottom) = (line.baseline, line.baseline);
        rows.push(Row { cells, top, bottom, lines: at + 1, is_bold: line.is_bold });
    }
    rows
}

fn cells(line: &Line) -> Vec<Cell> {
    let cell = |text: &str, start, end| Cell {
        text: text.trim().to_owned(),
        start,
        end,
        baseline: line.baseline,
        lines: 1,
    };
    match leader(&line.text) {
        Some((name, value)) => {
            let middle = (line.start + line.end) / 2.0;
            vec![
                cell(name, line.start, middle - line.size / 2.0),
                cell(value, middle + line.size / 2.0, line.end),
            ]
        }
        None if line.has_cells() => {
            line.cells.iter().map(|part| cell(&part.text, part.start, part.end)).collect()
        }
        None => vec![cell(&line.text, line.start, line.end)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::{lines, paragraphs::tests::line};

    #[test]
    fn a_row_of_bold_cells_is_a_header() {
        let row = |is_bold: bool, baseline: f64, cells: [&str; 2]| {
            let part = |(at, text): (usize, &str)| {
                let start = 100.0 + 200.0 * at as f64;
                lines::Cell { text: text.to_owned(), start, end: start + 50.0 }
            };
            let cells = cells.into_iter().enumerate().map(part).collect();
            Line { is_bold, cells, ..line("cells", 100.0, 350.0, baseline, 10.0) }
        };
        let page = |is_bold: bool| {
            [
                row(is_bold, 12.0, ["Damage", "Excluded"]),
                row(false, 24.0, ["Theft", "yes"]),
                line("Below them.", 100.0, 200.0, 60.0, 10.0),
            ]
        };
        let found =
            |is_bold: bool| table(&page(is_bold)).map(|table| (table.has_header, table.lines, table.rows));
        let rows = vec![
            vec!["Damage".to_owned(), "Excluded".to_owned()],
            vec!["Theft".to_owned(), "yes".to_owned()],
        ];
        assert_eq!(found(true), Some((true, 2, rows.clone())));
        assert_eq!(found(false), Some((false, 2, rows)));
    }
}
