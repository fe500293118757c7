//! Reads lines with columns as tables.

use crate::builder::Rows;
use crate::lines::leader;
use crate::rows::{table_of, texts_of_table};

/// Rows without rules between them that are a table rather than a coincidence.
const MIN_ROWS: usize = 3;
/// Spaces between columns.
const MIN_GAP: usize = 2;
/// A longer line is no row.
const MAX_ROW_BYTES: usize = 400;

/// The lines of a table that begins here, and the table; `None` if its structure is not clear.
pub(super) fn table(lines: &[&str]) -> Option<(usize, Option<Rows>)> {
    let first = lines.first()?.trim();
    let while_all = |is: fn(&str) -> bool| lines.iter().take_while(|line| is(line.trim())).count();
    if leader(first).is_some() {
        let length = while_all(|line| leader(line).is_some());
        let row = |line: &&str| {
            leader(line.trim()).map_or_else(Vec::new, |(name, value)| vec![own(name), own(value)])
        };
        return Some((length, Some(table_of(lines.iter().take(length).map(row).collect(), false))));
    }
    let (length, table) = if has_bars(first) {
        let length = while_all(has_bars);
        (
            length,
            read(lines.get(..length)?, |line| line.trim().trim_matches('|').split('|').map(own).collect()),
        )
    } else if first.contains('\t') {
        let length = while_all(|line| line.contains('\t'));
        (length, read(lines.get(..length)?, |line| line.trim().split('\t').map(own).collect()))
    } else {
        let (length, columns) = columns(lines)?;
        let cells = |line: &str| {
            let cell =
                |(from, to): &(usize, usize)| line.chars().skip(*from).take(to - from).collect::<String>();
            columns.iter().map(|column| own(&cell(column))).collect()
        };
        (length, read(lines.get(..length)?, cells).filter(|_| length >= MIN_ROWS))
    };
    (length > 1).then_some((length, table))
}

fn has_bars(line: &str) -> bool {
    line.contains('|') || (line.starts_with(['+', '-']) && line.contains("-+") && is_rule(line))
}

fn own(cell: &str) -> String {
    cell.trim().to_owned()
}

fn is_rule(line: &str) -> bool {
    line.len() > 2 && line.chars().all(|c| "-=+|: _".contains(c))
}

/// A header stands above the only rule between rows.
fn read(lines: &[&str], cells: impl Fn(&str) -> Vec<String>) -> Option<Rows> {
    let rules: Vec<usize> =
        (0..).zip(lines).filter(|(_, line)| is_rule(line.trim())).map(|(at, _)| at).collect();
    let first = lines.iter().position(|line| !is_rule(line.trim()))?;
    let rows: Vec<Vec<String>> =
        lines.iter().filter(|line| !is_rule(line.trim())).map(|line| cells(line)).collect();
    let inner = rules.iter().filter(|at| **at > first && **at + 1 < lines.len()).count();
    texts_of_table(rows, inner == 1 && rules.contains(&(first + 1)))
}

/// The lines that have columns, and where these begin and end: between them, all lines have at least two spaces.
fn columns(lines: &[&str]) -> Option<(usize, Vec<(usize, usize)>)> {
    let is_row = |line: &&&str| {
        let text = line.trim();
        // One set in may be the rest of a cell.
        (text.contains("  ") || line.starts_with("  ") || is_rule(text))
            && !text.contains('\t')
            && text.len() <= MAX_ROW_BYTES
    };
    let mut is_used: Vec<bool> = Vec::new();
    let mut found = None;
    for (at, line) in lines.iter().take_while(is_row).enumerate() {
        for (at, _) in line.chars().enumerate().filter(|(_, c)| *c != ' ' && !is_rule(line.trim())) {
            is_used.resize(is_used.len().max(at + 1), false);
            if let Some(is_used) = is_used.get_mut(at) {
                *is_used = true;
            }
        }
        let mut columns: Vec<(usize, usize)> = Vec::new();
        let mut gap = usize::MAX;
        for (at, is_used) in is_used.iter().enumerate() {
            match columns.last_mut() {
                _ if !is_used => gap = gap.saturating_add(1),
                Some((_, end)) if gap < MIN_GAP => *end = at + 1,
                _ => columns.push((at, at + 1)),
            }
            gap = if *is_used { 0 } else { gap };
        }
        if columns.len() < 2 && !is_used.is_empty() {
            break;
        }
        found = Some((at + 1, columns));
    }
    found.filter(|(_, columns)| columns.len() > 1)
}
