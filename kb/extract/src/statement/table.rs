//! Reads tables: the names of columns, groups of rows and labels that give a row its meaning.

use std::ops::Range;

use chat_core::limits::MAX_CHAIN_PARTS;
use chat_core::statement::{Role, StatementKind};

use super::Link;
use super::walker::{Above, Walker};
use super::words::{
    decides, ends_with_colon, is_about_figures, is_fragment, is_status, is_yes_or_no, limits_by_word, repeats,
};
use crate::document::{Block, BlockKind, Document, MarkKind};

/// A longer row is read cell by cell.
const MAX_ROW_BYTES: usize = 600;

impl Walker<'_> {
    pub(super) fn table(&mut self, table: &Block, outer: &[Link]) {
        let document = self.document;
        let caption = table.children.first().filter(|child| child.kind == BlockKind::Label);
        let mut outer = outer.to_vec();
        outer.extend(caption.map(|caption| Link::new(Role::LeadIn, &caption.range)));
        let rows: Vec<&Block> =
            table.children.iter().filter(|child| matches!(child.kind, BlockKind::Row { .. })).collect();
        let is_blank = |cell: &Block| document.slice(&cell.range).trim().is_empty();
        let width = rows.iter().map(|row| row.children.len()).max().unwrap_or_default();
        let is_bold = |row: &Block| {
            row.children
                .iter()
                .all(|cell| is_blank(cell) || document.is_covered(&cell.range, MarkKind::Strong))
        };
        // The file says which row is a header, or shows it: in bold, above rows that are not.
        let is_shown_header = rows.len() > 1
            && rows.first().is_some_and(|row| is_bold(row))
            && !rows.iter().skip(1).all(|row| is_bold(row));
        let is_strong = |row: &Block| {
            row.children.first().is_some_and(|cell| document.is_covered(&cell.range, MarkKind::Strong))
        };
        let has_plain_labels = rows.iter().any(|row| !is_strong(row));
        let mut columns: Vec<Link> = Vec::new();
        let mut group: Option<Range<usize>> = None;
        // Whether the look of a row says that it names a group, and not only its words.
        let mut is_group_shown = false;
        let mut label: Option<(Range<usize>, Vec<usize>)> = None;
        let mut is_below_rows = false;
        let mut is_parallel = false;
        let begin = self.statements.len();
        for (at, row) in rows.iter().enumerate() {
            let filled: Vec<usize> =
                (0..).zip(&row.children).filter(|(_, cell)| !is_blank(cell)).map(|(at, _)| at).collect();
            let first = row.children.first();
            if row.kind == (BlockKind::Row { is_header: true }) || (at == 0 && is_shown_header) {
                // A header over all columns names a group.
                if filled.len() == 1 && row.children.len() > 1 {
                    group = row.children.iter().find(|cell| !is_blank(cell)).map(|cell| cell.range.clone());
                    is_group_shown = true;
                    continue;
                }
                if is_below_rows {
                    columns.clear();
                    is_below_rows = false;
                }
                let is_last =
                    !rows.get(at + 1).is_some_and(|next| next.kind == (BlockKind::Row { is_header: true }));
                columns.extend(names(row, document, is_last));
                columns.sort_by_key(|column| column.cell);
                let mut texts = columns.iter().map(|column| document.slice(&column.range).to_lowercase());
                let first = texts.next().unwrap_or_default();
                is_parallel = texts.any(|other| other != first && other.contains(&first));
                continue;
            }
            is_below_rows = true;
            let mut chain = outer.clone();
            if let ([0], Some(cell)) = (filled.as_slice(), first.filter(|_| width > 1)) {
                // "Not for new customers" in a row of its own, up to the next such row.
                let text = document.slice(&cell.range);
                // Below "Not delivered to:", each row belongs to it.
                let is_announced = group.as_ref().is_some_and(|group| ends_with_colon(document.slice(group)));
                let is_named = || {
                    let is_like = limits_by_word(text) || group.is_some() && !is_group_shown;
                    ends_with_colon(text) || is_like && !is_announced
                };
                let is_shown = is_bold(row);
                if is_shown || is_named() {
                    self.push(row.range.clone(), StatementKind::Row, chain, false);
                    (group, is_group_shown, label) = (Some(cell.range.clone()), is_shown, None);
                    continue;
                }
            }
            // A bold label like the name of the group, with values, is no part of the group.
            if is_group_shown && has_plain_labels && is_strong(row) {
                group = None;
            }
            chain.extend(group.as_ref().map(|group| Link::new(Role::Group, group)));
            let mut is_clear = !columns.is_empty() || row.children.len() < 3;
            match (first.filter(|cell| !is_blank(cell)), &label) {
                (Some(cell), _) => label = Some((cell.range.clone(), filled)),
                (None, Some((label, of_label))) => {
                    chain.push(Link::new(Role::RowLabel, label));
                    // A row that fills what the row of the label leaves blank may be about something else.
                    is_clear &= filled.iter().all(|cell| of_label.contains(cell));
                }
                (None, None) => is_clear &= width < 2,
            }
            if row.range.len() > MAX_ROW_BYTES || columns.len() >= MAX_CHAIN_PARTS {
                self.cells(row, &chain, &columns);
                continue;
            }
            // The mark for "as above" says nothing without the row above.
            is_clear &= !row.children.iter().any(|cell| repeats(document.slice(&cell.range)));
            // "Theft: yes" says nothing where no line or column says what it is about.
            let is_yes = |cell: &Block| is_yes_or_no(document.slice(&cell.range));
            is_clear &= !(chain.is_empty() && columns.is_empty() && row.children.get(1).is_some_and(is_yes));
            // The first cell is what the row is about. Its column is named only where that changes the meaning: "Not covered", or
            // "Covered" next to "Not covered".
            let is_named = |column: &&Link| {
                column.cell != Some(0)
                    || row.children.len() == 1
                    || decides(document.slice(&column.range))
                    || is_parallel
            };
            chain.extend(columns.iter().filter(is_named).cloned());
            // "Capital: Berlin" says something even where both words are links.
            let is_pointer = columns.iter().all(|column| column.cell == Some(0))
                && document.is_covered(&row.range, MarkKind::Link);
            self.push(row.range.clone(), StatementKind::Row, chain, is_clear && !is_pointer);
        }
        // "Only for students" below all rows.
        let last = rows.last().filter(|_| rows.len() > 1 && width > 1);
        let is_filled = |cell: &&Block| !is_blank(cell);
        let filled = last.map(|row| row.children.iter().filter(is_filled).collect::<Vec<_>>());
        let is_about_all = |row: &Block, cell: &Block| {
            let text = document.slice(&cell.range);
            row.children.len() == 1 || is_status(text) || is_about_figures(text) || !is_fragment(text)
        };
        if let (Some(last), Some([only])) = (last, filled.as_deref())
            && group.as_ref().is_none_or(|group| *group == only.range)
            && is_about_all(last, only)
        {
            while self.statements.pop_if(|read| read.range.start >= last.range.start).is_some() {}
            self.attach(begin..self.statements.len(), &Link::new(Role::Condition, &only.range));
            self.push(only.range.clone(), StatementKind::Sentence, outer, false);
        }
        if self.statements.len() == begin {
            // Names of nothing.
            for row in rows {
                self.push(row.range.clone(), StatementKind::Row, Vec::new(), false);
            }
        }
    }

    /// Reads a long row as the sentences of its cells.
    fn cells(&mut self, row: &Block, chain: &[Link], columns: &[Link]) {
        let label = row.children.first();
        for (at, cell) in row.children.iter().enumerate() {
            let mut chain = chain.to_vec();
            if at > 0 {
                chain.extend(label.map(|label| Link::new(Role::Label, &label.range)));
            }
            let first = columns.partition_point(|column| column.cell < Some(at));
            let names = columns.iter().skip(first).take_while(|column| column.cell == Some(at));
            chain.extend(names.map(|name| Link::new(Role::Label, &name.range)));
            let is_clear = at == 0 || !columns.is_empty() || row.children.len() < 3;
            let paragraph =
                Block { kind: BlockKind::Paragraph, range: cell.range.clone(), children: Vec::new() };
            let before = self.statements.len();
            self.paragraph(&paragraph, &chain, None, &[], &mut Above::default());
            if !is_clear {
                self.statements.iter_mut().skip(before).for_each(|statement| statement.is_quotable = false);
            }
        }
    }
}

/// The names of columns in a header row. In a row above another one, a name holds for the blank cells after it.
fn names(row: &Block, document: &Document, is_last: bool) -> Vec<Link> {
    let mut last: Option<&Range<usize>> = None;
    let mut names = Vec::new();
    for (at, cell) in row.children.iter().enumerate() {
        let is_blank = document.slice(&cell.range).trim().is_empty();
        if !is_blank {
            last = Some(&cell.range);
        }
        let name = if is_blank && is_last { None } else { last };
        names.extend(name.map(|name| Link { cell: Some(at), ..Link::new(Role::Column, name) }));
    }
    names
}
