//! A statement: the smallest part of a document that can be quoted, with the chain of what gives it its meaning.
//!
//! "Theft" means nothing without the "Not covered:" above it. `extract` finds statements and chains once, when a document is read;
//! answers show a statement with its whole chain, or not at all.

use serde::{Deserialize, Serialize};

/// The kind of a statement, which decides how it is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// A sentence of a paragraph or list item.
    Sentence,
    /// A row of a table; a tab separates its cells.
    Row,
    /// A block of code.
    Code,
}

/// The reason why a part belongs to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A notice above the first section that limits the whole document.
    Notice,
    /// A heading that negates or limits what is below it.
    Heading,
    /// The question that the statement answers.
    Question,
    /// The name of the tab, box, definition or run-in heading that contains it, or the heading of a line that says nothing without one.
    Label,
    /// The line right above its list, table or code.
    LeadIn,
    /// The list item above it.
    Parent,
    /// The group of its row.
    Group,
    /// The label of its row, written in a row above.
    RowLabel,
    /// The name of the column of one of its cells.
    Column,
    /// A sentence that it refers to.
    Antecedent,
    /// The next sentence, which refutes it or makes an exception.
    Exception,
    /// The condition behind its asterisk or footnote.
    Condition,
}

/// One part of a chain, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The reason why it belongs to the statement.
    pub role: Role,
    /// Its words.
    pub text: String,
    /// Its first character, as an offset in characters (Unicode scalar values) of the document's text.
    pub start: usize,
    /// The cell that a column names, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// Whether it lies above the passage of the statement and holds from the start of the passage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_above: bool,
}

/// A piece of a statement as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// As it is shown.
    pub text: String,
    /// Its origin.
    pub source: Source,
}

/// The origin of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The statement itself.
    Statement,
    /// Its chain, which is shown lighter.
    Chain(Role),
    /// Punctuation and space between the others.
    Punctuation,
}

/// A statement with its chain, as a reader sees it: "Not covered: Theft", "Theft – Excluded: yes", the question and then its answer.
pub fn shown(kind: StatementKind, text: &str, chain: &[&Part]) -> Vec<Segment> {
    let mut segments = Segments::default();
    for part in chain.iter().filter(|part| is_before(part.role)) {
        segments.chain(part.role, &on_one_line(&part.text));
        segments.punctuation(match part.role {
            _ if ends_clause(&part.text) => " ",
            // The items of a list that the statement is about.
            Role::Antecedent => "; ",
            _ => ": ",
        });
    }
    match kind {
        StatementKind::Sentence => segments.own(&on_one_line(text)),
        StatementKind::Row => row(text, chain, &mut segments),
        StatementKind::Code => {
            segments.end_line();
            segments.own(text);
        }
    }
    for part in chain.iter().filter(|part| matches!(part.role, Role::Exception | Role::Condition)) {
        segments.punctuation(if kind == StatementKind::Code { "\n" } else { " " });
        segments.chain(part.role, &on_one_line(&part.text));
    }
    segments.0
}

/// [`shown`] as one text.
pub fn shown_text(kind: StatementKind, text: &str, chain: &[&Part]) -> String {
    joined(&shown(kind, text, chain))
}

/// The text of segments.
pub fn joined(segments: &[Segment]) -> String {
    segments.iter().map(|segment| segment.text.as_str()).collect()
}

fn is_before(role: Role) -> bool {
    !matches!(role, Role::RowLabel | Role::Column | Role::Exception | Role::Condition)
}

/// The first cell is the subject of the row, and the columns name the others. Without names, two cells are a name and a value.
fn row(text: &str, chain: &[&Part], segments: &mut Segments) {
    let cells: Vec<&str> = text.split('\t').collect();
    let names = |cell: usize| {
        let names = chain.iter().filter(move |part| part.role == Role::Column && part.cell == Some(cell));
        names.map(|part| part.text.as_str()).filter(|name| !name.trim().is_empty())
    };
    let label = chain.iter().find(|part| part.role == Role::RowLabel);
    let (first, others) = cells.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
    segments.names(names(0));
    match label {
        Some(label) if first.trim().is_empty() => segments.cell(&label.text, Source::Chain(label.role)),
        _ => segments.cell(first, Source::Statement),
    }
    let has_names = chain.iter().any(|part| part.role == Role::Column);
    let is_open = |text: &str| text.trim_end().ends_with([':', '：']);
    let mut separator = match first {
        first if is_open(first) => " ",
        _ if has_names => " – ",
        _ => ": ",
    };
    for (cell, text) in (1..).zip(others) {
        let is_empty = text.trim().is_empty();
        if is_empty && names(cell).next().is_none() {
            continue;
        }
        segments.punctuation(separator);
        separator = "; ";
        segments.names(names(cell));
        if is_empty {
            segments.punctuation("–");
        } else {
            segments.cell(text, Source::Statement);
        }
    }
}

/// A text with spaces instead of line breaks, and a semicolon between the items of a list.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut was_item = false;
    for part in text.lines() {
        let item = part.trim_start().strip_prefix("- ");
        line.push_str(if was_item && item.is_some() { "; " } else { " " });
        was_item = item.is_some();
        line.push_str(item.unwrap_or(part));
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text can be followed by other words without punctuation between them.
fn ends_clause(text: &str) -> bool {
    let is_mark = |c: char| "\"”»)]’'*†‡⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    let text = text.trim_end().trim_end_matches(is_mark);
    text.ends_with(['.', ':', '!', '?', '…', '。', '：', '！', '？', '؟', '۔', '।', '–', '—', ','])
}

#[derive(Default)]
struct Segments(Vec<Segment>);

impl Segments {
    fn chain(&mut self, role: Role, text: &str) {
        self.push(text, Source::Chain(role));
    }

    fn own(&mut self, text: &str) {
        self.push(text, Source::Statement);
    }

    fn punctuation(&mut self, text: &str) {
        self.push(text, Source::Punctuation);
    }

    /// The names of a column, from the upper to the lower.
    fn names<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<_> = names.collect();
        for (at, name) in names.iter().enumerate() {
            self.cell(name.trim_end().trim_end_matches(':'), Source::Chain(Role::Column));
            self.punctuation(if at + 1 == names.len() { ": " } else { " – " });
        }
    }

    /// Lines of a cell are separate values.
    fn cell(&mut self, cell: &str, source: Source) {
        for (at, line) in cell.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
            if at > 0 {
                self.punctuation("; ");
            }
            self.push(line, source);
        }
    }

    fn push(&mut self, text: &str, source: Source) {
        if !text.is_empty() {
            self.0.push(Segment { text: text.to_owned(), source });
        }
    }

    /// Begins a new paragraph.
    fn end_line(&mut self) {
        if let Some(last) = self.0.last_mut() {
            "\n\n".clone_into(&mut last.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(role: Role, text: &str) -> Part {
        Part { role, text: text.to_owned(), start: 0, cell: None, is_above: false }
    }

    fn column(cell: usize, text: &str) -> Part {
        Part { cell: Some(cell), ..part(Role::Column, text) }
    }

    fn of_kind(kind: StatementKind, text: &str, chain: &[Part]) -> String {
        shown_text(kind, text, &chain.iter().collect::<Vec<_>>())
    }

    fn sentence(text: &str, chain: &[Part]) -> String {
        of_kind(StatementKind::Sentence, text, chain)
    }

    #[test]
    fn a_statement_stands_after_what_gives_it_its_meaning() {
        assert_eq!(sentence("Theft", &[part(Role::LeadIn, "Not covered:")]), "Not covered: Theft");
        assert_eq!(
            sentence("Use the header X-Token.", &[part(Role::Heading, "Deprecated")]),
            "Deprecated: Use the header X-Token."
        );
        assert_eq!(
            sentence("No, they are final.", &[part(Role::Question, "Can I return sale items?")]),
            "Can I return sale items? No, they are final."
        );
        let nested = [part(Role::LeadIn, "You may return:"), part(Role::Parent, "hats, but not:")];
        assert_eq!(sentence("worn\nhats", &nested), "You may return: hats, but not: worn hats");
    }

    #[test]
    fn exceptions_and_conditions_follow_the_statement() {
        let chain = [part(Role::Condition, "* Only above 900 euros.")];
        assert_eq!(sentence("Delivery is free.*", &chain), "Delivery is free.* * Only above 900 euros.");
    }

    #[test]
    fn cells_of_a_row_have_the_names_of_their_columns() {
        let row = |text: &str, chain: &[Part]| of_kind(StatementKind::Row, text, chain);
        assert_eq!(row("Theft\tyes", &[column(1, "Excluded")]), "Theft – Excluded: yes");
        let plans = [column(1, "Enterprise"), column(2, "Pro")];
        assert_eq!(row("Single sign-on\tyes\t", &plans), "Single sign-on – Enterprise: yes; Pro: –");
        assert_eq!(row("Price\t9 €", &[]), "Price: 9 €");
        let prices = [part(Role::RowLabel, "Basic"), column(1, "Paid"), column(2, "Price")];
        assert_eq!(row("\tyearly\t50 €", &prices), "Basic – Paid: yearly; Price: 50 €");
        assert_eq!(row("S\nM\t5\n10 €", &[column(1, "Price")]), "S; M – Price: 5; 10 €");
        let group = [part(Role::Group, "Not available for guests under 18"), column(1, "Minutes")];
        assert_eq!(row("Mud bath\t30", &group), "Not available for guests under 18: Mud bath – Minutes: 30");
    }

    #[test]
    fn code_begins_its_own_paragraph_below_its_warning() {
        let chain = [part(Role::LeadIn, "Never do this:")];
        assert_eq!(
            shown(StatementKind::Code, "db reset\n  --force", &chain.iter().collect::<Vec<_>>()),
            [
                Segment { text: "Never do this:".to_owned(), source: Source::Chain(Role::LeadIn) },
                Segment { text: "\n\n".to_owned(), source: Source::Punctuation },
                Segment { text: "db reset\n  --force".to_owned(), source: Source::Statement },
            ]
        );
    }

    #[test]
    fn the_chain_is_told_apart_from_the_statement() {
        let segments = shown(StatementKind::Row, "Theft\tyes", &[&column(1, "Excluded")]);
        let own = segments.iter().filter(|segment| segment.source == Source::Statement);
        let own: Vec<_> = own.map(|segment| segment.text.as_str()).collect();
        assert_eq!(own, ["Theft", "yes"]);
    }
}
