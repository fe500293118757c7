//! Reads the blocks of a document from its start to its end, and knows what is above each.

use std::ops::Range;

use chat_core::limits::{MAX_CHAIN_BYTES, MAX_CHAIN_PARTS};
use chat_core::sentences::sentences;
use chat_core::statement::{Role, StatementKind};

use super::conditions::Conditions;
use super::paragraph::is_numbered;
use super::short_lines::{Form, innermost};
use super::words::{
    ends_with_colon, excludes, is_about_document, is_about_figures, is_formal, is_fragment, is_mark,
    is_marked_question, is_notice, is_outdated, is_question, is_sequel, is_warning, limits, limits_by_word,
    looks_ahead, refers_back, word_count,
};
use super::{Link, Statement, is_within};
use crate::document::{Block, BlockKind, Document, MarkKind};

/// Stands for a symbol or value that the file does not name.
const UNKNOWN: char = '\u{fffd}';
/// A longer item that is a sentence needs no heading.
const MAX_SHORT_ITEM_WORDS: usize = 2;
/// "Q1." and what it asks.
const MAX_QUESTION_SENTENCES: usize = 2;
/// How many sentences of the top of a document may be notices.
const MAX_NOTICES: usize = 2;
/// How many sentences may say something about all figures of their section.
const MAX_FIGURES: usize = 50;

pub(super) fn read(document: &Document) -> Vec<Statement> {
    let mut walker = Walker {
        document,
        headings: Vec::new(),
        notices: notices(document),
        conditions: Conditions::new(document),
        scopes: Vec::new(),
        statements: Vec::new(),
        depth: 0,
        is_sentence_outside: false,
        is_formal: is_formal(&document.text),
    };
    walker.siblings(&document.blocks, &[], None);
    walker.attach_figures();
    walker.statements
}

pub(super) struct Walker<'d> {
    pub(super) document: &'d Document,
    /// The headings above, outermost first.
    pub(super) headings: Vec<Heading>,
    notices: Vec<Range<usize>>,
    pub(super) conditions: Conditions,
    /// Announcements above headings and lines that say for what a section holds, each with the level of the heading that it is below.
    pub(super) scopes: Vec<(u8, Vec<Link>)>,
    pub(super) statements: Vec<Statement>,
    /// Blocks around the current one.
    pub(super) depth: usize,
    /// True if a paragraph of sentences is read that is in no list.
    pub(super) is_sentence_outside: bool,
    /// True if the document addresses its reader as German "Sie".
    pub(super) is_formal: bool,
}

pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) range: Range<usize>,
    /// True if it belongs to all that is below it.
    is_limiting: bool,
    /// True if it says what is excluded, and its list or table has said what that is: later
    /// sentences are about something else.
    is_said: bool,
}

/// The context above the blocks of one parent.
#[derive(Default)]
pub(super) struct Above {
    /// The question or run-in heading that the following blocks are below, after the announcement above it.
    pub(super) section: Vec<Link>,
    /// A question for the next block only.
    pub(super) next_question: Option<Link>,
    pub(super) line: Line,
    /// True if a list or table has followed the section's name.
    has_listed: bool,
    /// The line above a list whose last item announced what followed the list.
    outer: Option<Line>,
    /// The statements of the list, table or code right above, and the lines above it.
    pub(super) listed: Option<(Range<usize>, Vec<Link>)>,
}

/// The line right above the next block.
#[derive(Default)]
pub(super) struct Line {
    /// The lines to which it refers, and itself as the last link: it leads in a list, and is the
    /// meaning of "it".
    pub(super) links: Vec<Link>,
    /// How many of the links announce what follows: "Not covered:" holds for all fragments below it.
    pub(super) announces: usize,
    /// True if a paragraph has followed the announcement: then it goes on for fragments only.
    pub(super) has_followed: bool,
    /// True if a paragraph may still be below the announcement.
    pub(super) is_in_doubt: bool,
    /// True if it stands right above steps in a box or short paragraph of its own: "Pull the plug
    /// first."
    pub(super) is_alone: bool,
}

impl Line {
    pub(super) fn announcing(mut links: Vec<Link>) -> Self {
        // A longer chain is never shown.
        links.drain(..links.len().saturating_sub(MAX_CHAIN_PARTS + 1));
        Self { announces: links.len(), links, ..Self::default() }
    }

    pub(super) fn announcement(&self) -> &[Link] {
        self.links.get(..self.announces).unwrap_or_default()
    }
}

impl Walker<'_> {
    /// Reads blocks one after another, and returns the announcement that they end with. `item`: the list item that contains them.
    pub(super) fn siblings(&mut self, blocks: &[Block], outer: &[Link], item: Option<&Block>) -> Vec<Link> {
        self.depth += 1;
        let mut above = Above::default();
        // The first sentence of the item, which its other sentences continue.
        let mut subject: Option<Range<usize>> = None;
        let first = self.statements.len();
        let mut before = first;
        let mut is_top = self.depth == 1;
        for (at, block) in blocks.iter().enumerate() {
            if block.kind == BlockKind::Paragraph && block.range.is_empty() {
                // Something without text announces nothing, and ends what is announced for text. A list may still belong to it.
                above.line.announces = 0;
                continue;
            }
            above.line.is_in_doubt &= block.kind == BlockKind::Paragraph;
            let below = blocks.get(at + 1..).unwrap_or_default();
            let next = below.first();
            let mut chain = outer.to_vec();
            chain.extend(subject.as_ref().map(|subject| Link::new(Role::Parent, subject)));
            chain.extend(above.section.iter().chain(&above.next_question).cloned());
            if self.conditions.begins_at(block.range.start) && block.kind == BlockKind::Paragraph {
                // It is shown with what it belongs to, and what is above it goes on.
                self.push(block.range.clone(), StatementKind::Sentence, chain, false);
                continue;
            }
            above.next_question = None;
            let begin = self.statements.len();
            let is_status = is_top && self.is_status(block, below);
            let is_set_apart = || self.form(block).is_some_and(Form::is_set_apart);
            is_top = is_status || self.depth == 1 && is_heading(block) || is_top && is_set_apart();
            // The paragraph of an item is the first line of what the item contains.
            let is_of_item = item.is_some() && at == 1;
            match &block.kind {
                BlockKind::Heading { level } => self.heading(*level, block, &mut above),
                BlockKind::Question => self.question(block, chain, &mut above),
                BlockKind::Label | BlockKind::Cell | BlockKind::Row { .. } => {}
                _ if is_status => self.status(block, chain),
                // What an item says about itself at its end.
                _ if item.is_some() && at > 0 && next.is_none() && self.is_remark(block) => {
                    self.remark(block, first, chain);
                }
                // The author of a quotation.
                BlockKind::Paragraph if at > 0 && self.is_author(block) => {
                    let is_in_group = self.depth > 1 && item.is_none();
                    self.remark(block, if is_in_group { first } else { before }, chain);
                }
                BlockKind::Paragraph if self.is_run_in(block, next, &above.section) => {
                    self.run_in(block, &mut above);
                }
                BlockKind::Paragraph
                    if is_marked_question(self.document.slice(&block.range))
                        && self.sentences(&block.range).len() <= MAX_QUESTION_SENTENCES =>
                {
                    self.question(block, chain, &mut above);
                }
                BlockKind::Paragraph => {
                    above.outer = None;
                    if above.has_listed && !is_fragment(self.document.slice(&block.range)) {
                        // "Not included", a list, and "All rooms have a balcony."
                        chain.retain(|link| {
                            link.role != Role::Label || !excludes(self.document.slice(&link.range))
                        });
                    }
                    let marker = item.filter(|_| at == 0);
                    let first = self.paragraph(block, &chain, marker, below, &mut above);
                    if item.is_some() && subject.is_none() {
                        subject = first;
                    }
                }
                BlockKind::List => {
                    if goes_on(block) {
                        above.line = above.outer.take().unwrap_or(above.line);
                        // "§ 3" below "a)" goes on from "§ 2", and not below the line above "a)".
                        let list_before = at.checked_sub(1).and_then(|before| blocks.get(before));
                        if list_before.is_some_and(has_letters) {
                            above.line = Line::default();
                        }
                    }
                    self.with_lead_in(&mut chain, &above.line, is_of_item, block);
                    let open = self.list(block, &chain);
                    self.end_list(&mut above, begin);
                    if !open.is_empty() {
                        let line = std::mem::replace(&mut above.line, Line::announcing(open));
                        above.outer.get_or_insert(line);
                    }
                }
                BlockKind::Item { .. } => {
                    self.siblings(&block.children, &chain, Some(block));
                }
                BlockKind::Table => {
                    self.with_lead_in(&mut chain, &above.line, false, block);
                    self.table(block, &chain);
                    self.end_list(&mut above, begin);
                }
                BlockKind::Code => {
                    self.with_lead_in(&mut chain, &above.line, is_of_item, block);
                    let is_warning =
                        |next: &Range<usize>| self.warns(next) && !ends_with_colon(self.document.slice(next));
                    let warning = self.first_sentence(next).filter(is_warning);
                    chain.extend(warning.map(|warning| Link::new(Role::Exception, &warning)));
                    self.push(block.range.clone(), StatementKind::Code, chain, true);
                    self.end_list(&mut above, begin);
                }
                BlockKind::Group => self.group(block, chain, next, &mut above),
                BlockKind::Note => self.note(block, chain),
            }
            before = begin;
        }
        self.depth -= 1;
        if above.line.has_followed { Vec::new() } else { above.line.announcement().to_vec() }
    }

    fn group(&mut self, block: &Block, mut chain: Vec<Link>, next: Option<&Block>, above: &mut Above) {
        let begin = self.statements.len();
        let only = innermost(block);
        if is_question(self.document.slice(&only.range)) && self.sentences(&only.range).len() == 1 {
            above.next_question = Some(Link::new(Role::Question, &only.range));
        }
        chain.extend(above.line.announcement().iter().cloned());
        let label = block.children.first().filter(|child| child.kind == BlockKind::Label);
        let label = label.map(|label| Link::new(Role::Label, &label.range));
        chain.extend(label.clone());
        above.line = Line::announcing(self.siblings(&block.children, &chain, None));
        above.listed = None;
        let is_above_code = next.is_some_and(|next| next.kind == BlockKind::Code);
        let is_above_steps = next.is_some_and(|next| next.children.first().is_some_and(is_numbered));
        match (self.statements.get(begin).map(|first| first.range.clone()), label) {
            // A name of nothing.
            (None, Some(label)) => self.push(label.range, StatementKind::Sentence, chain, false),
            // "Never do this." in a box above code.
            (Some(first), label)
                if is_above_code
                    && above.line.links.is_empty()
                    && (self.warns(&first) || label.iter().any(|label| self.warns(&label.range))) =>
            {
                above.line.links = label.into_iter().chain([Link::new(Role::LeadIn, &first)]).collect();
            }
            // "Warning: The water is hot." in a box above steps.
            (Some(_), Some(label))
                if is_above_steps && above.line.links.is_empty() && self.warns(&label.range) =>
            {
                let said = self.statements.iter().skip(begin).map(|statement| &statement.range);
                let said = said.map(|range| Link::new(Role::LeadIn, range));
                above.line = Line {
                    links: std::iter::once(label).chain(said).collect(),
                    is_alone: true,
                    ..Line::default()
                };
            }
            _ => {}
        }
    }

    fn note(&mut self, block: &Block, mut chain: Vec<Link>) {
        let begin = self.statements.len();
        let owner = self.conditions.owner(&block.range).and_then(|at| self.statement_at(at));
        let is_known = owner.is_some();
        chain.extend(owner.map(|owner| Link::new(Role::Antecedent, &owner)));
        self.siblings(&block.children, &chain, None);
        self.statements.iter_mut().skip(begin).for_each(|note| note.is_quotable &= is_known);
    }

    /// Reads a question that the following blocks answer.
    fn question(&mut self, block: &Block, chain: Vec<Link>, above: &mut Above) {
        let section = vec![Link::new(Role::Question, &block.range)];
        *above = Above { section, ..Above::default() };
        self.push(block.range.clone(), StatementKind::Sentence, chain, false);
    }

    /// Reads a run-in heading. An announcement above several holds for each of them.
    fn run_in(&self, block: &Block, above: &mut Above) {
        let is_name = |link: &Link| matches!(link.role, Role::Label | Role::Question);
        let mut section = above.line.announcement().to_vec();
        if section.is_empty() {
            section = std::mem::take(&mut above.section);
            section.retain(|link| !is_name(link));
        }
        let is_question = is_question(self.document.slice(&block.range));
        let role = if is_question { Role::Question } else { Role::Label };
        section.push(Link::new(role, &block.range));
        *above = Above { section, ..Above::default() };
    }

    fn warns(&self, range: &Range<usize>) -> bool {
        is_warning(self.document.slice(range))
    }

    fn heading(&mut self, level: u8, block: &Block, above: &mut Above) {
        let current = self.headings.last().map_or(0, |heading| heading.level);
        // "The council has adopted the following rules." says nothing about single ones.
        let is_open = |link: &&Link| {
            let line = self.document.slice(&link.range);
            ends_with_colon(line) || limits_by_word(line)
        };
        let announcement = above.line.announcement();
        let announcement = announcement.last().filter(is_open).map_or(Vec::new(), |_| announcement.to_vec());
        self.scopes.retain(|(above, _)| *above < level);
        if level > current && !announcement.is_empty() {
            self.scopes.push((current, announcement));
        }
        self.headings.retain(|above| above.level < level);
        let text = self.document.slice(&block.range);
        // The title of a document is named with its source.
        let titles =
            self.document.blocks.iter().filter(|block| block.kind == BlockKind::Heading { level: 1 });
        let is_title = level == 1 && titles.filter(|title| !title.range.is_empty()).nth(1).is_none();
        // "`strict`" is what the text below it documents.
        let is_code = level > 1 && self.document.is_covered(&block.range, MarkKind::Code);
        let is_limiting = if is_title { limits_by_word(text) } else { is_code || limits(text) };
        let is_limiting = is_limiting || !self.conditions.of(self.document, &block.range).texts.is_empty();
        self.headings.push(Heading { level, range: block.range.clone(), is_limiting, is_said: false });
        let question = Some(Link::new(Role::Question, &block.range)).filter(|_| is_question(text));
        *above = Above { section: question.into_iter().collect(), ..Above::default() };
    }

    /// Reads the items of a list and returns the line that announces what follows the list, if its last item is one.
    fn list(&mut self, list: &Block, chain: &[Link]) -> Vec<Link> {
        let is_name = |range: &Range<usize>| {
            self.document.is_covered(range, MarkKind::Strong) && is_fragment(self.document.slice(range))
        };
        let is_bold = |item: &Block| matches!(item.children.as_slice(), [only] if is_name(&only.range));
        // Bold items name others if the list begins with one and each has others below it.
        let is_bold: Vec<bool> = list.children.iter().map(is_bold).collect();
        let is_grouped = is_bold.first() == Some(&true)
            && is_bold.last() == Some(&false)
            && !is_bold.windows(2).any(|two| matches!(two, [true, true]));
        // "- Not covered:" holds for the items after it, up to the next such item.
        let mut label: Option<Link> = None;
        let mut last: Option<Link> = None;
        let mut announcement = Vec::new();
        for (at, item) in list.children.iter().enumerate() {
            let begin = self.statements.len();
            let is_bold = is_grouped && is_bold.get(at) == Some(&true);
            let names = |own: &Range<usize>| {
                let text = self.document.slice(own);
                is_bold || ends_with_colon(text) || is_question(text)
            };
            let own = self.last_line(item).filter(names);
            let mut chain = chain.to_vec();
            chain.extend(label.iter().filter(|_| own.is_none()).cloned());
            if item.kind == BlockKind::List {
                // A list directly in a list belongs to the item above it.
                chain.extend(last.iter().cloned());
                self.list(item, &chain);
                continue;
            }
            let first = item.children.first().filter(|first| first.kind == BlockKind::Paragraph);
            let is_sequel = first.is_some_and(|first| is_sequel(self.document.slice(&first.range)));
            let before = last.iter().filter(|_| is_sequel);
            chain.extend(before.map(|before| Link::new(Role::Antecedent, &before.range)));
            self.siblings(&item.children, &chain, Some(item));
            if matches!(item.kind, BlockKind::Item { is_ticked: false, .. }) {
                self.statements.iter_mut().skip(begin).for_each(|inside| inside.is_quotable = false);
            }
            last = first.map(|first| Link::new(Role::Parent, &first.range));
            announcement.clear();
            // A question is answered by the next item.
            label = label.filter(|label| !is_question(self.document.slice(&label.range)));
            if let Some(own) = own {
                self.statements.iter_mut().skip(begin).for_each(|name| name.is_quotable &= !is_bold);
                let own = Link::new(Role::Parent, &own);
                if !is_question(self.document.slice(&own.range)) {
                    announcement = chain;
                    announcement.push(own.clone());
                }
                label = Some(own);
            }
        }
        announcement
    }

    /// The last sentence of an item that is only a paragraph.
    fn last_line(&self, item: &Block) -> Option<Range<usize>> {
        match item.children.as_slice() {
            [only] if only.kind == BlockKind::Paragraph => self.sentences(&only.range).pop(),
            _ => None,
        }
    }

    /// Adds the line above a list, table or code, or else the heading: "Towels" alone means nothing.
    fn with_lead_in(&self, chain: &mut Vec<Link>, line: &Line, is_of_item: bool, block: &Block) {
        match line.links.last() {
            // The first sentence of the item is there already, as the subject of all that it contains.
            Some(own) if is_of_item => {
                if chain.iter().all(|link| link.range != own.range) {
                    chain.push(Link::new(Role::Parent, &own.range));
                }
            }
            Some(own)
                if self.is_about(&own.range, block)
                    || line.is_alone && block.children.first().is_some_and(is_numbered) =>
            {
                chain.extend(line.links.iter().cloned());
            }
            // Sentences do not need a heading, but steps and single words do.
            _ if self.has_sentences(block) && !block.children.iter().any(|item| self.is_short(item)) => {}
            _ => self.with_heading(chain),
        }
    }

    pub(super) fn with_heading(&self, chain: &mut Vec<Link>) {
        let has_context = chain.iter().any(|link| link.role != Role::Notice);
        let heading = self.headings.last().filter(|heading| !has_context && !heading.range.is_empty());
        chain.extend(heading.map(|heading| Link::new(Role::Label, &heading.range)));
    }

    /// Returns whether a sentence right above a list, table or code belongs to it. Items that are
    /// sentences themselves do not need one that is complete and does not look ahead.
    fn is_about(&self, sentence: &Range<usize>, block: &Block) -> bool {
        let text = self.document.slice(sentence);
        ends_with_colon(text) || is_fragment(text) || looks_ahead(text) || !self.has_sentences(block)
    }

    fn is_short(&self, item: &Block) -> bool {
        is_numbered(item) || word_count(self.document.slice(&item.range)) <= MAX_SHORT_ITEM_WORDS
    }

    fn has_sentences(&self, block: &Block) -> bool {
        let is_sentence = |item: &Block| {
            let first = item.children.first().map_or("", |first| self.document.slice(&first.range));
            !is_fragment(first) && first.starts_with(char::is_uppercase)
        };
        block.kind == BlockKind::List && block.children.iter().all(is_sentence)
    }

    /// Notes that a list, table or code has ended, to which the next block may belong.
    fn end_list(&mut self, above: &mut Above, begin: usize) {
        above.line.announces = 0;
        above.has_listed = true;
        let document = self.document;
        let heading = self.headings.last_mut().filter(|heading| excludes(document.slice(&heading.range)));
        heading.into_iter().for_each(|heading| heading.is_said = true);
        above.listed = Some((begin..self.statements.len(), above.line.links.clone()));
    }

    /// Adds a part to statements that are read already.
    pub(super) fn attach(&mut self, statements: Range<usize>, link: &Link) {
        for statement in self.statements.iter_mut().skip(statements.start).take(statements.len()) {
            if !statement.chain.iter().any(|other| other.range == link.range) {
                statement.chain.push(link.clone());
                statement.is_quotable &= fits(&statement.chain);
            }
        }
    }

    /// "All prices include VAT." belongs to each figure of its section, also above it.
    fn attach_figures(&mut self) {
        let document = self.document;
        let is_about = |statement: &&Statement| {
            statement.kind == StatementKind::Sentence && is_about_figures(document.slice(&statement.range))
        };
        let found: Vec<_> = self.statements.iter().filter(is_about).take(MAX_FIGURES).collect();
        let found: Vec<_> = found.into_iter().map(|statement| statement.range.clone()).collect();
        let headings = || {
            document.blocks.iter().filter_map(|block| match block.kind {
                BlockKind::Heading { level } => Some((level, block.range.start)),
                _ => None,
            })
        };
        for sentence in found {
            let (level, start) =
                headings().take_while(|(_, at)| *at < sentence.start).last().unwrap_or_default();
            let end = headings().find(|(other, at)| *at > sentence.start && *other <= level);
            let index = |at: usize| self.statements.partition_point(|statement| statement.range.start < at);
            for at in index(start)..end.map_or(self.statements.len(), |(_, end)| index(end)) {
                let range = self.statements.get(at).map_or(0..0, |statement| statement.range.clone());
                if range != sentence && document.slice(&range).contains(|c: char| c.is_ascii_digit()) {
                    self.attach(at..at + 1, &Link::new(Role::Condition, &sentence));
                }
            }
        }
    }

    pub(super) fn push(
        &mut self,
        range: Range<usize>,
        kind: StatementKind,
        chain: Vec<Link>,
        is_quotable: bool,
    ) {
        let document = self.document;
        if !document.slice(&range).contains(char::is_alphanumeric) {
            return;
        }
        let notices = self.notices.iter().map(|notice| Link::new(Role::Notice, notice));
        let is_later = |heading: &&Heading| heading.is_said && self.is_sentence_outside;
        let headings = self.headings.iter().filter(|heading| heading.is_limiting && !is_later(heading));
        let headings = headings.map(|heading| Link::new(Role::Heading, &heading.range));
        let scopes = self.scopes.iter().flat_map(|(_, links)| links.iter().cloned());
        let mut whole: Vec<Link> = Vec::with_capacity(chain.len());
        let add = |whole: &mut Vec<Link>, link: Link| {
            let is_itself = is_within(&link.range, &range) || is_within(&range, &link.range);
            let is_known = whole.iter().any(|other| other.range == link.range && other.cell == link.cell);
            // A longer chain is never shown.
            if !is_itself && !is_known && whole.len() <= MAX_CHAIN_PARTS {
                whole.push(link);
            }
        };
        for link in notices.chain(scopes).chain(headings).chain(chain) {
            add(&mut whole, link);
        }
        // The conditions of the statement and of each part.
        let mut is_missing = false;
        let mut part = Some(range.clone());
        let mut parts = 0;
        while let Some(marked) = part.filter(|_| fits(&whole)) {
            if parts > 0 || kind != StatementKind::Code {
                let found = self.conditions.of(document, &marked);
                is_missing |= found.is_missing;
                found.texts.iter().for_each(|text| add(&mut whole, Link::new(Role::Condition, text)));
            }
            part = whole.get(parts).map(|link| link.range.clone());
            parts += 1;
        }
        let is_known = (kind == StatementKind::Code || self.is_known(&range))
            && whole.iter().all(|link| self.is_known(&link.range));
        let is_quotable = is_quotable && is_known && !is_missing && fits(&whole);
        self.statements.push(Statement { range, kind, chain: whole, is_quotable });
    }

    /// Returns whether a text has no symbol or value that its file does not name: `{{ price }}`,
    /// which is not code.
    fn is_known(&self, range: &Range<usize>) -> bool {
        let is_code = |at: usize| {
            let mut marks = self.document.marks_in(range);
            marks.any(|mark| mark.kind == MarkKind::Code && mark.range.contains(&(range.start + at)))
        };
        let text = self.document.slice(range);
        !text.contains(UNKNOWN) && text.match_indices("{{").all(|(at, _)| is_code(at))
    }

    /// The statement that contains a byte.
    fn statement_at(&self, at: usize) -> Option<Range<usize>> {
        let after = self.statements.partition_point(|statement| statement.range.start <= at);
        let found = self.statements.get(after.checked_sub(1)?)?;
        found.range.contains(&at).then(|| found.range.clone())
    }

    pub(super) fn first_sentence(&self, block: Option<&Block>) -> Option<Range<usize>> {
        let paragraph = block.filter(|block| block.kind == BlockKind::Paragraph)?;
        self.sentences(&paragraph.range).into_iter().next()
    }

    /// The sentences of a paragraph. No sentence ends inside code or a link.
    pub(super) fn sentences(&self, paragraph: &Range<usize>) -> Vec<Range<usize>> {
        let marks = self.document.marks_in(paragraph);
        let mut marks = marks.filter(|mark| matches!(mark.kind, MarkKind::Code | MarkKind::Link)).peekable();
        let mut end = paragraph.start;
        let mut joined: Vec<Range<usize>> = Vec::new();
        for sentence in sentences(&self.document.text, paragraph.clone()) {
            while let Some(mark) = marks.next_if(|mark| mark.range.start < sentence.start) {
                end = end.max(mark.range.end);
            }
            match joined.last_mut() {
                // "A1. Yes, in May."
                Some(last) if end > sentence.start || is_mark(self.document.slice(last)) => {
                    last.end = sentence.end
                }
                _ => joined.push(sentence),
            }
        }
        joined
    }
}

/// Returns whether a list continues the numbers of another: "5. …" is no part of what item 4
/// announces.
fn goes_on(list: &Block) -> bool {
    first_number(list).parse::<u32>().is_ok_and(|number| number > 1)
}

/// Returns whether letters number a list.
fn has_letters(list: &Block) -> bool {
    first_number(list).starts_with(char::is_alphabetic)
}

/// The number of the first item, without brackets and signs; empty if the block is no list or has none.
fn first_number(list: &Block) -> &str {
    match list.children.first().map(|item| &item.kind) {
        Some(BlockKind::Item { marker, .. }) => marker.trim_matches(|c: char| !c.is_alphanumeric()),
        _ => "",
    }
}

pub(super) fn is_heading(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading { .. })
}

fn fits(chain: &[Link]) -> bool {
    let length: usize = chain.iter().map(|link| link.range.len()).sum();
    length <= MAX_CHAIN_BYTES && chain.len() <= MAX_CHAIN_PARTS
}

/// Sentences at the top of a document that limit all of it, each with the one that it refers to.
fn notices(document: &Document) -> Vec<Range<usize>> {
    let is_top = |block: &&Block| !matches!(block.kind, BlockKind::Heading { level } if level > 1);
    let mut found: Vec<Range<usize>> = Vec::new();
    for block in document.blocks.iter().take_while(is_top) {
        for paragraph in paragraphs(block) {
            let mut before: Option<Range<usize>> = None;
            for range in sentences(&document.text, paragraph.range.clone()) {
                let sentence = document.slice(&range);
                let is_subject = |before: &Range<usize>| is_about_document(document.slice(before));
                let subject = before
                    .filter(|before| is_subject(before) && refers_back(sentence) && is_outdated(sentence));
                if subject.is_some()
                    || is_notice(sentence)
                    || block.kind == BlockKind::Group && is_outdated(sentence)
                {
                    found.extend(subject);
                    found.push(range.clone());
                }
                before = Some(range);
            }
        }
    }
    found.truncate(MAX_NOTICES);
    found
}

/// The name and paragraphs of a box, or the paragraph itself.
fn paragraphs(block: &Block) -> Vec<&Block> {
    match block.kind {
        BlockKind::Paragraph | BlockKind::Label => vec![block],
        BlockKind::Group => block.children.iter().flat_map(paragraphs).collect(),
        _ => Vec::new(),
    }
}
