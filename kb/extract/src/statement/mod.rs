//! The statements of a document: what can be quoted, each with the chain of what gives it its meaning.
//!
//! A chain is made of ranges of the same text, so it survives the cutting into chunks and goes over pages. Joining too much costs a longer
//! quote and joining too little a false one: in doubt a part belongs to the chain, and where even that is unknown, the statement cannot be
//! quoted.

mod words;

use std::ops::Range;

use chat_core::limits::{MAX_CHAIN_BYTES, MAX_CHAIN_PARTS};
use chat_core::sentences::sentences;
use chat_core::statement::{Part, Role, StatementKind};

use crate::document::{Block, BlockKind, Document, MarkKind};
use words::{
    ends_with_colon, is_exception, is_fragment, is_marked_question, is_notice, is_question, is_warning,
    limits, limits_by_word, looks_ahead, refers_back,
};

/// Longest run-in heading: a bold paragraph above others.
const MAX_RUN_IN_CHARS: usize = 120;
/// A longer row is read cell by cell.
const MAX_ROW_BYTES: usize = 600;
/// How many sentences back a reference is followed.
const MAX_ANTECEDENTS: usize = 2;
/// How many sentences of the top of a document may be notices.
const MAX_NOTICES: usize = 2;
/// Stands for a symbol or value that the file does not name.
const UNKNOWN: char = '\u{fffd}';
/// Marks that lead to a condition below.
const CONDITION_MARKS: [&str; 5] = ["***", "**", "*", "†", "‡"];

/// A sentence, row or block of code of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Bytes of the document's text. A numbered item includes its number.
    pub range: Range<usize>,
    /// What it is.
    pub kind: StatementKind,
    /// Outermost first.
    pub chain: Vec<Link>,
    /// Whether an answer may show it: not a question, a line that announces others, a list of links, or a piece whose context is
    /// unknown.
    pub is_quotable: bool,
}

/// A part of a chain, as a range of the document's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Why it belongs to the statement.
    pub role: Role,
    /// Bytes of the document's text.
    pub range: Range<usize>,
    /// The cell that a column names.
    pub cell: Option<usize>,
}

impl Link {
    /// The part with its words.
    pub fn part(&self, document: &Document) -> Part {
        Part {
            role: self.role,
            text: document.slice(&self.range).to_owned(),
            start: document.text.get(..self.range.start).map_or(0, |before| before.chars().count()),
            cell: self.cell,
            is_above: false,
        }
    }

    fn new(role: Role, range: &Range<usize>) -> Self {
        Self { role, range: range.clone(), cell: None }
    }
}

impl Statement {
    /// The chain with its words.
    pub fn parts(&self, document: &Document) -> Vec<Part> {
        self.chain.iter().map(|link| link.part(document)).collect()
    }
}

/// All statements of a document, in reading order, disjoint.
pub fn statements(document: &Document) -> Vec<Statement> {
    let mut walker = Walker {
        document,
        headings: Vec::new(),
        notices: notices(document),
        conditions: conditions(document),
        scopes: Vec::new(),
        statements: Vec::new(),
    };
    walker.siblings(&document.blocks, &[], None);
    walker.statements
}

struct Walker<'d> {
    document: &'d Document,
    /// The headings above, outermost first.
    headings: Vec<(u8, Range<usize>)>,
    notices: Vec<Range<usize>>,
    /// Paragraphs that begin with an asterisk or dagger.
    conditions: Vec<(&'static str, Range<usize>)>,
    /// Announcements above headings, each with the level of the heading that it is below.
    scopes: Vec<(u8, Vec<Link>)>,
    statements: Vec<Statement>,
}

/// What the blocks of one parent have above them.
#[derive(Default)]
struct Above {
    /// The question that the following blocks answer.
    question: Option<Range<usize>>,
    /// A question for the next block only.
    next_question: Option<Range<usize>>,
    /// The run-in heading.
    label: Option<Range<usize>>,
    /// The last sentence of the last paragraph, and what it refers to itself.
    sentence: Option<(Range<usize>, Vec<Link>)>,
    /// The line that announces what follows, with what it refers to: "Not covered:" holds for all fragments below it.
    announcement: Vec<Link>,
    /// Whether a paragraph has followed it: then it goes on for fragments only.
    has_followed: bool,
    /// An announcement above run-in headings.
    scope: Vec<Link>,
    /// The statements of the last list, table or code, and the line above it.
    listed: Option<(Range<usize>, Vec<Link>)>,
}

impl Above {
    fn new_section(&mut self) {
        *self = Self::default();
    }
}

impl Walker<'_> {
    /// Reads blocks one after another, and returns the announcement that they end with. `item`: the list item that contains them.
    fn siblings(&mut self, blocks: &[Block], outer: &[Link], item: Option<&Block>) -> Vec<Link> {
        let mut above = Above::default();
        // The first sentence of the item, which its other sentences continue.
        let mut subject: Option<Range<usize>> = None;
        for (at, block) in blocks.iter().enumerate() {
            let next = blocks.get(at + 1);
            let mut chain = outer.to_vec();
            chain.extend(above.scope.iter().cloned());
            chain.extend(subject.as_ref().map(|subject| Link::new(Role::Parent, subject)));
            let question = above.next_question.take().or_else(|| above.question.clone());
            chain.extend(question.map(|question| Link::new(Role::Question, &question)));
            chain.extend(above.label.as_ref().map(|label| Link::new(Role::Label, label)));
            let begin = self.statements.len();
            match &block.kind {
                BlockKind::Heading { level } => {
                    let current = self.headings.last().map_or(0, |(level, _)| *level);
                    let announcement = std::mem::take(&mut above.announcement);
                    self.scopes.retain(|(above, _)| above < level);
                    if *level > current && !announcement.is_empty() {
                        self.scopes.push((current, announcement));
                    }
                    self.headings.retain(|(above, _)| above < level);
                    self.headings.push((*level, block.range.clone()));
                    above.new_section();
                    above.question =
                        Some(block.range.clone()).filter(|heading| is_question(self.document.slice(heading)));
                }
                BlockKind::Question => {
                    above.new_section();
                    above.question = Some(block.range.clone());
                    self.push(block.range.clone(), StatementKind::Sentence, chain, false);
                }
                BlockKind::Label | BlockKind::Cell | BlockKind::Row { .. } => {}
                // Something without text announces nothing, and ends what is announced for text. A list may still belong to it.
                BlockKind::Paragraph if block.range.is_empty() => above.announcement.clear(),
                BlockKind::Paragraph if self.is_run_in(block, next) => {
                    let announcement = std::mem::take(&mut above.announcement);
                    let scope =
                        if announcement.is_empty() { std::mem::take(&mut above.scope) } else { announcement };
                    above.new_section();
                    above.scope = scope;
                    if is_question(self.document.slice(&block.range)) {
                        above.question = Some(block.range.clone());
                    } else {
                        above.label = Some(block.range.clone());
                    }
                }
                BlockKind::Paragraph if is_marked_question(self.document.slice(&block.range)) => {
                    let parts = self.sentences(&block.range);
                    if parts.len() > 1 {
                        self.paragraph(block, &chain, None, next, &mut above);
                    } else {
                        above.new_section();
                        above.question = Some(block.range.clone());
                        self.push(block.range.clone(), StatementKind::Sentence, chain, false);
                    }
                }
                BlockKind::Paragraph => {
                    let marker = item.filter(|_| at == 0);
                    let first = self.paragraph(block, &chain, marker, next, &mut above);
                    if item.is_some() && subject.is_none() {
                        subject = first;
                    }
                }
                BlockKind::List => {
                    self.with_lead_in(&mut chain, &above, item.is_some() && at == 1, block);
                    for item in &block.children {
                        self.siblings(&item.children, &chain, Some(item));
                    }
                    self.end_list(&mut above, begin);
                }
                BlockKind::Item { .. } => {
                    self.siblings(&block.children, &chain, Some(block));
                }
                BlockKind::Table => {
                    self.with_lead_in(&mut chain, &above, false, block);
                    self.table(block, &chain);
                    self.end_list(&mut above, begin);
                }
                BlockKind::Code => {
                    self.with_lead_in(&mut chain, &above, item.is_some() && at == 1, block);
                    let warning = next.filter(|next| next.kind == BlockKind::Paragraph);
                    let warning = warning.and_then(|next| self.sentences(&next.range).into_iter().next());
                    let warning = warning.filter(|sentence| is_warning(self.document.slice(sentence)));
                    chain.extend(warning.map(|warning| Link::new(Role::Exception, &warning)));
                    self.push(block.range.clone(), StatementKind::Code, chain, true);
                    self.end_list(&mut above, begin);
                }
                BlockKind::Group => {
                    chain.append(&mut above.announcement);
                    let label = block.children.first().filter(|child| child.kind == BlockKind::Label);
                    chain.extend(label.map(|label| Link::new(Role::Label, &label.range)));
                    let announcement = self.siblings(&block.children, &chain, None);
                    // A name of nothing.
                    if let Some(label) = label.filter(|_| self.statements.len() == begin) {
                        self.push(label.range.clone(), StatementKind::Sentence, Vec::new(), false);
                    }
                    // "Never do this:" in a box above code.
                    let last = announcement.split_last();
                    above.sentence = last.map(|(last, context)| (last.range.clone(), context.to_vec()));
                    above.announcement = announcement;
                    above.has_followed = false;
                    above.listed = None;
                }
                BlockKind::Note => {
                    let is_its = |range: &Range<usize>| *range == block.range;
                    let reference = self.document.references.iter().find(|found| is_its(&found.note));
                    let owner = reference.and_then(|reference| self.statement_at(reference.range.start));
                    let is_known = owner.is_some();
                    chain.extend(owner.map(|owner| Link::new(Role::Antecedent, &owner)));
                    self.siblings(&block.children, &chain, None);
                    if !is_known {
                        self.statements.iter_mut().skip(begin).for_each(|note| note.is_quotable = false);
                    }
                }
            }
        }
        if above.has_followed { Vec::new() } else { above.announcement }
    }

    /// Adds the line above a list, table or code, or else the heading: "Towels" alone means nothing.
    fn with_lead_in(&self, chain: &mut Vec<Link>, above: &Above, is_of_item: bool, block: &Block) {
        match &above.sentence {
            // The item's own sentence is there already, as the subject of all that it contains.
            Some((sentence, _)) if is_of_item => {
                if !chain.iter().any(|link| link.role == Role::Parent && link.range == *sentence) {
                    chain.retain(|link| link.role != Role::Parent || !is_within(&link.range, sentence));
                    chain.push(Link::new(Role::Parent, sentence));
                }
            }
            Some((sentence, context)) if self.is_about(sentence, block) => {
                chain.extend(context.iter().cloned());
                chain.push(Link::new(Role::LeadIn, sentence));
            }
            _ => self.with_heading(chain),
        }
    }

    fn with_heading(&self, chain: &mut Vec<Link>) {
        let has_context = chain.iter().any(|link| link.role != Role::Notice);
        let heading = self.headings.last().filter(|(_, heading)| !has_context && !heading.is_empty());
        chain.extend(heading.map(|(_, heading)| Link::new(Role::Heading, heading)));
    }

    /// Whether a sentence right above a list, table or code belongs to it. Items that are sentences themselves do not need one that
    /// is complete and does not look ahead.
    fn is_about(&self, sentence: &Range<usize>, block: &Block) -> bool {
        let text = self.document.slice(sentence);
        let is_sentence = |item: &Block| {
            let first = item.children.first().map_or("", |first| self.document.slice(&first.range));
            !is_fragment(first) && first.starts_with(char::is_uppercase)
        };
        let has_sentences = block.kind == BlockKind::List && block.children.iter().all(is_sentence);
        ends_with_colon(text) || is_fragment(text) || looks_ahead(text) || !has_sentences
    }

    /// What follows a list, table or code may belong to it.
    fn end_list(&self, above: &mut Above, begin: usize) {
        let mut lines = std::mem::take(&mut above.announcement);
        if let (true, Some((sentence, context))) = (lines.is_empty(), &above.sentence) {
            lines.extend(context.iter().cloned().chain([Link::new(Role::LeadIn, sentence)]));
        }
        above.listed = Some((begin..self.statements.len(), lines));
    }

    /// Reads a paragraph and returns its first sentence. `marker`: the item that it begins.
    fn paragraph(
        &mut self,
        block: &Block,
        chain: &[Link],
        marker: Option<&Block>,
        next: Option<&Block>,
        above: &mut Above,
    ) -> Option<Range<usize>> {
        let document = self.document;
        let mut ranges = self.sentences(&block.range);
        if let (Some(item), Some(first)) = (marker.filter(|item| is_numbered(item)), ranges.first_mut()) {
            first.start = item.range.start;
        }
        let mut base = chain.to_vec();
        let text_of = |range: Option<&Range<usize>>| range.map_or("", |range| document.slice(range));
        let is_fragment = is_fragment(text_of(ranges.last()));
        if above.has_followed && !is_fragment {
            above.announcement.clear();
        }
        base.extend(above.announcement.iter().cloned());
        let opening = text_of(ranges.first());
        let is_continued = opening.starts_with(char::is_lowercase);
        if is_question(opening) {
            // It takes the place of the question before.
            above.question = None;
            base.retain(|link| link.role != Role::Question);
        }
        let listed = above.listed.take().filter(|_| is_continued || is_exception(opening));
        if let (Some((statements, lines)), Some(first)) = (&listed, ranges.first()) {
            // "… unless we agree in writing" holds for each item above it.
            base.extend(lines.iter().cloned());
            for statement in self.statements.iter_mut().skip(statements.start).take(statements.len()) {
                statement.chain.push(Link::new(Role::Exception, first));
            }
        }
        if is_fragment && marker.is_none() {
            // "9 € per month" below the heading "Pro".
            self.with_heading(&mut base);
        }
        let is_pointer = document.is_covered(&block.range, MarkKind::Link);
        let is_condition = self.is_condition(block);
        let mut question: Option<Range<usize>> = None;
        for (at, range) in ranges.iter().enumerate() {
            let text = document.slice(range);
            let mut chain = base.clone();
            let mut is_quotable = !is_pointer && !is_condition;
            // The rest of a sentence whose beginning is unknown.
            is_quotable &= at > 0
                || !is_continued
                || marker.is_some()
                || chain.iter().any(|link| link.role != Role::Notice);
            if is_question(text) {
                question = Some(range.clone());
                is_quotable = false;
            } else {
                chain.extend(question.as_ref().map(|question| Link::new(Role::Question, question)));
            }
            is_quotable &= !ends_with_colon(text);
            if at > 0 && marker.is_some_and(|_| !refers_back(text)) {
                chain.extend(ranges.first().map(|first| Link::new(Role::Parent, first)));
            }
            match self.antecedents(&ranges, at, above, &chain) {
                Some(antecedents) => {
                    let is_new = |link: &Link| question.as_ref() != Some(&link.range);
                    chain.extend(antecedents.into_iter().filter(is_new));
                }
                None => is_quotable = false,
            }
            let next = next.filter(|next| !self.is_condition(next) && !self.is_name(next));
            let exception = ranges.get(at + 1).cloned().or_else(|| self.first_sentence(next));
            let exception = exception.filter(|next| is_exception(document.slice(next)));
            chain.extend(exception.map(|next| Link::new(Role::Exception, &next)));
            let is_open =
                marker.is_some_and(|item| matches!(item.kind, BlockKind::Item { is_ticked: false, .. }));
            self.push(range.clone(), StatementKind::Sentence, chain, is_quotable && !is_open);
        }
        let is_alone = ranges.len() == 1;
        above.next_question = question.filter(|_| is_alone);
        let Some(last) = ranges.last().filter(|_| above.next_question.is_none()) else {
            above.sentence = None;
            above.announcement.clear();
            return ranges.first().cloned();
        };
        let mut context = above.announcement.clone();
        context.extend(self.antecedents(&ranges, ranges.len() - 1, above, &base).unwrap_or_default());
        if let (true, Some((before, _))) = (next.is_some_and(|next| next.range.is_empty()), &above.sentence) {
            // It may be the description of a picture.
            context.insert(0, Link::new(Role::LeadIn, before));
        }
        above.has_followed = !ends_with_colon(document.slice(last));
        if !above.has_followed {
            above.announcement = context.iter().cloned().chain([Link::new(Role::LeadIn, last)]).collect();
        } else if !is_fragment {
            above.announcement.clear();
        }
        above.sentence = Some((last.clone(), context));
        ranges.first().cloned()
    }

    /// The sentences that a sentence refers to, the first of them first. `None` if they are unknown or too many.
    fn antecedents(
        &self,
        ranges: &[Range<usize>],
        at: usize,
        above: &Above,
        chain: &[Link],
    ) -> Option<Vec<Link>> {
        let mut links = Vec::new();
        let mut at = at;
        let mut range = ranges.get(at)?;
        while refers_back(self.document.slice(range)) {
            let before = match at.checked_sub(1) {
                Some(before) => ranges.get(before),
                None => above.sentence.as_ref().map(|(sentence, _)| sentence),
            };
            let Some(before) = before else {
                // The line above the list is what "it" means in an item.
                let is_known = |link: &Link| {
                    matches!(link.role, Role::LeadIn | Role::Parent | Role::Label | Role::Question)
                };
                if chain.iter().any(is_known) {
                    break;
                }
                // "It is free." right below the heading "Shipping".
                let heading = self.headings.last().filter(|_| links.len() < MAX_ANTECEDENTS);
                links.push(Link::new(Role::Heading, &heading.filter(|(_, heading)| !heading.is_empty())?.1));
                break;
            };
            if links.len() == MAX_ANTECEDENTS {
                return None;
            }
            links.push(Link::new(Role::Antecedent, before));
            if at == 0 {
                break;
            }
            at -= 1;
            range = before;
        }
        links.reverse();
        Some(links)
    }

    fn table(&mut self, table: &Block, outer: &[Link]) {
        let document = self.document;
        let caption = table.children.first().filter(|child| child.kind == BlockKind::Label);
        let mut outer = outer.to_vec();
        outer.extend(caption.map(|caption| Link::new(Role::LeadIn, &caption.range)));
        let rows: Vec<&Block> =
            table.children.iter().filter(|child| matches!(child.kind, BlockKind::Row { .. })).collect();
        let is_blank = |cell: &Block| document.slice(&cell.range).trim().is_empty();
        let is_bold = |row: &Block| {
            row.children
                .iter()
                .all(|cell| is_blank(cell) || document.is_covered(&cell.range, MarkKind::Strong))
        };
        // The file says which row is a header, or shows it: in bold, above rows that are not.
        let is_shown_header = rows.len() > 1
            && rows.first().is_some_and(|row| is_bold(row))
            && !rows.iter().skip(1).all(|row| is_bold(row));
        let mut columns: Vec<Link> = Vec::new();
        let mut group: Option<Range<usize>> = None;
        let mut label: Option<Range<usize>> = None;
        let mut is_below_rows = false;
        let begin = self.statements.len();
        for (at, row) in rows.iter().enumerate() {
            let filled: Vec<usize> =
                (0..).zip(&row.children).filter(|(_, cell)| !is_blank(cell)).map(|(at, _)| at).collect();
            let first = row.children.first();
            if row.kind == (BlockKind::Row { is_header: true }) || (at == 0 && is_shown_header) {
                // A header over all columns names a group.
                if filled.len() == 1 && row.children.len() > 1 {
                    group = row.children.iter().find(|cell| !is_blank(cell)).map(|cell| cell.range.clone());
                    continue;
                }
                if is_below_rows {
                    columns.clear();
                    is_below_rows = false;
                }
                let is_last =
                    !rows.get(at + 1).is_some_and(|next| next.kind == (BlockKind::Row { is_header: true }));
                columns.extend(names(row, document, is_last));
                continue;
            }
            is_below_rows = true;
            if let [0] = filled.as_slice()
                && row.children.len() > 1
                && is_bold(row)
            {
                group = first.map(|cell| cell.range.clone());
                label = None;
                continue;
            }
            let mut chain = outer.clone();
            chain.extend(group.as_ref().map(|group| Link::new(Role::Group, group)));
            match first.filter(|cell| !is_blank(cell)) {
                Some(cell) => label = Some(cell.range.clone()),
                None => chain.extend(label.as_ref().map(|label| Link::new(Role::RowLabel, label))),
            }
            if row.range.len() > MAX_ROW_BYTES {
                self.cells(row, &chain, &columns);
                continue;
            }
            let is_clear = !columns.is_empty() || row.children.len() < 3;
            // The first cell is what the row is about. Its column is named only where that changes the meaning: "Not covered".
            let is_named = |column: &&Link| {
                column.cell != Some(0)
                    || row.children.len() == 1
                    || limits_by_word(document.slice(&column.range))
            };
            chain.extend(columns.iter().filter(is_named).cloned());
            let is_pointer = document.is_covered(&row.range, MarkKind::Link);
            self.push(row.range.clone(), StatementKind::Row, chain, is_clear && !is_pointer);
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
            let names = columns.iter().filter(|column| column.cell == Some(at));
            chain.extend(names.map(|name| Link::new(Role::Label, &name.range)));
            let is_clear = at == 0 || !columns.is_empty() || row.children.len() < 3;
            let paragraph =
                Block { kind: BlockKind::Paragraph, range: cell.range.clone(), children: Vec::new() };
            let before = self.statements.len();
            self.paragraph(&paragraph, &chain, None, None, &mut Above::default());
            if !is_clear {
                self.statements.iter_mut().skip(before).for_each(|statement| statement.is_quotable = false);
            }
        }
    }

    fn push(&mut self, range: Range<usize>, kind: StatementKind, chain: Vec<Link>, is_quotable: bool) {
        let has_words = self.document.slice(&range).contains(char::is_alphanumeric);
        if !has_words {
            return;
        }
        let is_itself = |link: &Link| is_within(&link.range, &range) || is_within(&range, &link.range);
        let notices = self.notices.iter().map(|notice| Link::new(Role::Notice, notice));
        let headings = self.headings.iter().filter(|(level, heading)| {
            // The title of a document is named with its source.
            let text = self.document.slice(heading);
            if *level == 1 { limits_by_word(text) } else { limits(text) }
        });
        let headings = headings.map(|(_, heading)| Link::new(Role::Heading, heading));
        let scopes = self.scopes.iter().flat_map(|(_, links)| links.iter().cloned());
        let mut whole: Vec<Link> = Vec::with_capacity(chain.len());
        for link in notices.chain(scopes).chain(headings).chain(chain).chain(self.conditions_of(&range)) {
            let is_known = whole.iter().any(|other| other.range == link.range && other.cell == link.cell);
            if !is_itself(&link) && !is_known {
                whole.push(link);
            }
        }
        let length: usize = whole.iter().map(|link| link.range.len()).sum();
        let is_known = (kind == StatementKind::Code || self.is_known(&range))
            && whole.iter().all(|link| self.is_known(&link.range));
        let is_quotable =
            is_quotable && is_known && length <= MAX_CHAIN_BYTES && whole.len() <= MAX_CHAIN_PARTS;
        self.statements.push(Statement { range, kind, chain: whole, is_quotable });
    }

    /// Whether a text has no symbol or value that its file does not name: `{{ price }}`, which is not code.
    fn is_known(&self, range: &Range<usize>) -> bool {
        let is_code = |at: usize| {
            let mut marks = self.document.marks_in(range);
            marks.any(|mark| mark.kind == MarkKind::Code && mark.range.contains(&(range.start + at)))
        };
        let text = self.document.slice(range);
        !text.contains(UNKNOWN) && text.match_indices("{{").all(|(at, _)| is_code(at))
    }

    /// The conditions behind the asterisks and footnotes of a range.
    fn conditions_of(&self, range: &Range<usize>) -> Vec<Link> {
        let document = self.document;
        let notes = document.references.iter().filter(|reference| is_within(&reference.range, range));
        let notes = notes.map(|reference| Link::new(Role::Condition, &reference.note));
        let text = document.slice(range);
        let marks = CONDITION_MARKS.into_iter().filter(|mark| ends_a_word(text, mark));
        let below = marks.filter_map(|mark| {
            let is_below =
                |(own, condition): &&(&str, Range<usize>)| *own == mark && condition.start >= range.end;
            self.conditions.iter().find(is_below).map(|(_, condition)| Link::new(Role::Condition, condition))
        });
        notes.chain(below).collect()
    }

    /// A bold paragraph that names what follows, or asks what follows answers.
    fn is_run_in(&self, block: &Block, next: Option<&Block>) -> bool {
        let is_followed = next.is_some_and(|next| match next.kind {
            BlockKind::Heading { .. } | BlockKind::Question => false,
            BlockKind::Paragraph => !self.is_bold_line(next),
            _ => true,
        });
        is_followed && self.is_name(block)
    }

    fn is_name(&self, block: &Block) -> bool {
        self.is_bold_line(block) && !self.document.slice(&block.range).ends_with(['.', '!', ','])
    }

    fn is_bold_line(&self, block: &Block) -> bool {
        let text = self.document.slice(&block.range);
        text.chars().nth(MAX_RUN_IN_CHARS).is_none()
            && self.document.is_covered(&block.range, MarkKind::Strong)
    }

    /// Whether a paragraph is the text behind an asterisk.
    fn is_condition(&self, block: &Block) -> bool {
        self.conditions.iter().any(|(_, range)| range.start == block.range.start)
    }

    fn first_sentence(&self, block: Option<&Block>) -> Option<Range<usize>> {
        let paragraph = block.filter(|block| block.kind == BlockKind::Paragraph)?;
        self.sentences(&paragraph.range).into_iter().next()
    }

    /// The statement that contains a byte.
    fn statement_at(&self, at: usize) -> Option<Range<usize>> {
        self.statements
            .iter()
            .rev()
            .find(|statement| statement.range.contains(&at))
            .map(|found| found.range.clone())
    }

    /// The sentences of a paragraph. No sentence ends inside code or a link.
    fn sentences(&self, paragraph: &Range<usize>) -> Vec<Range<usize>> {
        let whole = |mark: &&crate::document::Mark| matches!(mark.kind, MarkKind::Code | MarkKind::Link);
        let marks: Vec<_> =
            self.document.marks_in(paragraph).filter(whole).map(|mark| mark.range.clone()).collect();
        let mut joined: Vec<Range<usize>> = Vec::new();
        for sentence in sentences(&self.document.text, paragraph.clone()) {
            let is_inside = |mark: &Range<usize>| mark.start < sentence.start && mark.end > sentence.start;
            match joined.last_mut() {
                Some(last) if marks.iter().any(is_inside) => last.end = sentence.end,
                _ => joined.push(sentence),
            }
        }
        joined
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

/// Sentences at the top of a document that limit all of it.
fn notices(document: &Document) -> Vec<Range<usize>> {
    let is_top = |block: &&Block| !matches!(block.kind, BlockKind::Heading { level } if level > 1);
    let mut notices = Vec::new();
    let mut open: Vec<&Block> = document.blocks.iter().take_while(is_top).collect();
    open.reverse();
    while let Some(block) = open.pop() {
        match block.kind {
            BlockKind::Paragraph => {
                let found = sentences(&document.text, block.range.clone());
                notices.extend(found.into_iter().filter(|sentence| is_notice(document.slice(sentence))));
            }
            BlockKind::Group => open.extend(block.children.iter().rev()),
            _ => {}
        }
        if notices.len() >= MAX_NOTICES {
            notices.truncate(MAX_NOTICES);
            break;
        }
    }
    notices
}

/// Paragraphs that begin with an asterisk or dagger, in order.
fn conditions(document: &Document) -> Vec<(&'static str, Range<usize>)> {
    fn find(document: &Document, blocks: &[Block], found: &mut Vec<(&'static str, Range<usize>)>) {
        for block in blocks {
            let text = document.slice(&block.range);
            let mark = CONDITION_MARKS.into_iter().find(|mark| text.starts_with(mark));
            match mark.filter(|_| block.kind == BlockKind::Paragraph) {
                Some(mark) => found.push((mark, block.range.clone())),
                None => find(document, &block.children, found),
            }
        }
    }
    let mut found = Vec::new();
    find(document, &document.blocks, &mut found);
    found
}

/// Whether a mark follows a word or the end of a sentence, and is not part of a longer one.
fn ends_a_word(text: &str, mark: &str) -> bool {
    text.match_indices(mark).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + mark.len()..).and_then(|after| after.chars().next());
        before.is_some_and(|c| !c.is_whitespace() && c != '*')
            && after.is_none_or(|c| c != '*' && !c.is_alphanumeric())
    })
}

fn is_numbered(item: &Block) -> bool {
    matches!(&item.kind, BlockKind::Item { marker, .. } if marker.contains(char::is_alphanumeric))
}

fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    inner.start >= outer.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests;
