//! Reads paragraphs: what each sentence leans on.

use std::ops::Range;

use chat_core::limits::MAX_CHAIN_PARTS;
use chat_core::statement::{Role, StatementKind};

use super::conditions::has;
use super::short_lines::MAX_LINE_CHARS;
use super::walker::{Above, Heading, Line, Walker};
use super::words::{
    announces, ends_with_colon, is_about_two, is_elliptic, is_exception, is_fragment, is_hearsay, is_open,
    is_question, is_reply, leads_on, limits_by_word, looks_ahead, part_number, refers_back, sends_elsewhere,
};
use super::{Link, words};
use crate::document::{Block, BlockKind, Mark, MarkKind};

/// A longer list of exceptions is only announced.
const MAX_EXCEPTION_BYTES: usize = 200;
/// Sentences of a paragraph that belongs to the steps below it.
const MAX_STEP_SENTENCES: usize = 2;
/// A longer question is shown without the sentences before it.
const MAX_QUESTION_BYTES: usize = 200;
/// How many sentences back a reference is followed.
const MAX_ANTECEDENTS: usize = 4;
/// A longer paragraph below an announcement is running text.
const MAX_PART_WORDS: usize = 12;

impl Walker<'_> {
    /// Reads a paragraph and returns its first sentence. `marker`: the item that it begins.
    pub(super) fn paragraph(
        &mut self,
        block: &Block,
        chain: &[Link],
        marker: Option<&Block>,
        below: &[Block],
        above: &mut Above,
    ) -> Option<Range<usize>> {
        let document = self.document;
        let mut ranges = self.sentences(&block.range);
        if let (Some(item), Some(first)) = (marker.filter(|item| is_numbered(item)), ranges.first_mut()) {
            first.start = item.range.start;
        }
        let (first, last) = (ranges.first()?.clone(), ranges.last()?.clone());
        let (opening, ending) = (document.slice(&first), document.slice(&last));
        let next = below.first();
        let is_above_list = next.is_some_and(is_listed);
        // "It is not refunded if" above "a) it is damaged."
        let is_text = |next: &Block| next.kind == BlockKind::Paragraph && !next.range.is_empty();
        let goes_on = leads_on(ending) && next.is_some_and(is_text);
        let is_alone = ranges.len() == 1;
        let is_short = is_alone && words::word_count(opening) <= MAX_PART_WORDS;
        let is_fragment = is_fragment(ending);
        let is_continued = self.is_continued(&first);
        let mut base = chain.to_vec();

        // What is announced above it: "5.1 Not covered:" above "5.1.2 War."
        let line = &mut above.line;
        let number = part_number(opening);
        let outer = line.announcement().last().and_then(|line| part_number(document.slice(&line.range)));
        let is_part = number.is_some_and(|number| outer.is_none_or(|outer| is_inner(number, outer)));
        let is_below = is_fragment || is_part;
        if line.has_followed && !is_below || number.is_some() && !is_part {
            line.announces = 0;
        }
        let is_in_doubt = std::mem::take(&mut line.is_in_doubt) && is_short && !is_below;
        base.extend(line.announcement().iter().cloned());
        if is_question(opening) {
            // It takes the place of the question before.
            above.section.retain(|link| link.role != Role::Question);
            base.retain(|link| link.role != Role::Question);
        }

        // What it says about the list above it: "… unless we agree in writing" holds for each item.
        let listed = above.listed.take();
        let exceptions = self.with_list(&first, below).filter(|_| is_alone);
        // "Not allowed:" above another list says nothing about the list before.
        let is_lead_in = is_above_list && is_alone && (!is_continued || is_fragment) && exceptions.is_none();
        let is_other = ends_with_colon(opening) && !refers_back(opening);
        let limited =
            listed.as_ref().filter(|_| !is_lead_in && !is_other && (is_continued || is_exception(opening)));
        // "All others may work from home." below "You cannot work from home as:" and its list.
        let is_after_list = listed.as_ref().is_some_and(|(_, lines)| {
            lines.last().is_some_and(|line| ends_with_colon(document.slice(&line.range)))
                && refers_back(opening)
        });
        let is_after_list = is_after_list && marker.is_none() && limited.is_none() && !is_lead_in;
        let mut is_list_known = true;
        if let Some((statements, lines)) = listed.as_ref().filter(|_| is_after_list) {
            let items = self.statements.iter().skip(statements.start).take(statements.len());
            let items: Vec<_> = items.map(|item| Link::new(Role::Antecedent, &item.range)).collect();
            is_list_known = items.iter().map(|item| item.range.len()).sum::<usize>() <= MAX_EXCEPTION_BYTES;
            base.extend(lines.iter().chain(&items).cloned());
        }
        if let Some((statements, lines)) = limited {
            base.extend(lines.iter().cloned());
            let exception = Link::new(Role::Exception, exceptions.as_ref().unwrap_or(&first));
            self.attach(statements.clone(), &exception);
        }
        let is_rest = is_continued && limited.is_some();

        self.is_sentence_outside = marker.is_none() && !is_fragment;
        let is_line = document.slice(&block.range).chars().nth(MAX_LINE_CHARS).is_none();
        if is_fragment && is_line && marker.is_none() {
            // "9 € per month" below the heading "Pro".
            self.with_heading(&mut base);
        }
        let is_pointer = document.is_covered(&block.range, MarkKind::Link);
        // The rest of a sentence whose beginning is unknown.
        let is_cut = is_continued && marker.is_none() && base.iter().all(|link| link.role == Role::Notice);
        let mut question: Option<Link> = None;
        for (at, range) in ranges.iter().enumerate() {
            let text = document.slice(range);
            let mut chain = base.clone();
            let mut is_quotable = !(is_pointer || is_in_doubt || at == 0 && is_cut);
            // "For more, see Refunds."
            is_quotable &= !(sends_elsewhere(text) && has(document, MarkKind::Link, range.clone()));
            if is_question(text) {
                question = Some(Link::new(Role::Question, range));
                is_quotable = false;
            }
            chain.extend(question.iter().filter(|question| question.range != *range).cloned());
            // Only the start of a sentence: "We ship to all countries except"
            let is_start = goes_on || is_above_list && is_open(text, marker.is_some());
            let is_open = ends_with_colon(text) || *range == last && is_start;
            // "No." says nothing without its question.
            let is_bare = chain.is_empty() && is_reply(text);
            if at > 0 && marker.is_some() && !refers_back(text) {
                chain.push(Link::new(Role::Parent, &first));
            }
            let antecedents = match at {
                0 if is_after_list => Some(Vec::new()).filter(|_| is_list_known),
                _ => self.antecedents(&ranges, at, above, &chain),
            };
            let is_known = antecedents.is_some();
            let is_new = |link: &Link| question.as_ref().is_none_or(|question| question.range != link.range);
            chain.extend(antecedents.into_iter().flatten().filter(is_new));
            let exception = self.exception(text, ranges.get(at + 1), below);
            let is_told = exception.as_ref().is_none_or(|(_, is_told)| *is_told);
            chain.extend(exception.map(|(exception, _)| Link::new(Role::Exception, &exception)));
            is_quotable &= !is_open && !is_bare && is_known && is_told && !self.conditions.contains(range);
            self.push(range.clone(), StatementKind::Sentence, chain, is_quotable);
        }
        self.is_sentence_outside = false;

        if is_question(ending) {
            let whole = first.start..last.end;
            let asked = if whole.len() <= MAX_QUESTION_BYTES { &whole } else { &last };
            above.next_question = Some(Link::new(Role::Question, asked));
            above.line = Line::default();
            return Some(first);
        }
        let mut links = above.line.announcement().to_vec();
        links.extend(self.antecedents(&ranges, ranges.len() - 1, above, &base).unwrap_or_default());
        let is_above_picture = next.is_some_and(|next| next.range.is_empty());
        if let Some(before) = above.line.links.last().filter(|_| is_above_picture) {
            // It may be the description of the picture.
            links.insert(0, before.clone());
        }
        let is_announcing = goes_on || announces(ending);
        // "Not covered:", a list, "Please note the form." and a list that goes on.
        let is_between = next.is_some_and(|next| next.kind == BlockKind::List) && is_alone && !is_fragment;
        let is_lead = |line: &Link| {
            let line = document.slice(&line.range);
            ends_with_colon(line) || words::is_fragment(line)
        };
        if let Some((_, lines)) = listed.filter(|_| is_between && !is_announcing && !looks_ahead(ending))
            && lines.last().is_some_and(is_lead)
        {
            links.splice(0..0, lines);
        }
        let is_alone = is_line && ranges.len() <= MAX_STEP_SENTENCES;
        if is_alone
            && ranges.len() > 1
            && next.and_then(|next| next.children.first()).is_some_and(is_numbered)
        {
            // "Switch it off. It can burn you." above steps
            links.push(Link::new(Role::LeadIn, &first));
        }
        links.push(Link::new(Role::LeadIn, &last));
        above.line = if is_announcing {
            Line::announcing(links)
        } else if is_rest {
            // "It covers glass." is not about "… unless we agree."
            Line::default()
        } else {
            // "Not covered if:", "The seal is broken.", "The fee is 5 €.": what is the last one about?
            let limits = |line: &Link| {
                let line = document.slice(&line.range);
                ends_with_colon(line) && limits_by_word(line)
            };
            let is_limited = || above.line.announcement().last().is_some_and(limits);
            let is_in_doubt = !is_below && (is_in_doubt || is_short && is_limited());
            let announces = if is_below { above.line.announces } else { 0 };
            Line { links, announces, has_followed: true, is_in_doubt, is_alone }
        };
        Some(first)
    }

    /// The sentence right after one, in its paragraph or the next block, if it refutes the sentence or makes an exception to it, and
    /// whether it says which: "Exceptions:" does only with its list.
    fn exception(
        &self,
        text: &str,
        own: Option<&Range<usize>>,
        below: &[Block],
    ) -> Option<(Range<usize>, bool)> {
        // A bold line names what follows it.
        let is_name = |next: &Block| {
            self.document.is_covered(&next.range, MarkKind::Strong)
                && !self.document.slice(&next.range).ends_with(['.', '!', ','])
        };
        let is_about = |next: &&Block| !self.conditions.begins_at(next.range.start) && !is_name(next);
        let next = below.first().filter(is_about);
        let of_next = || self.first_sentence(next).map(|first| (first, below.get(1..).unwrap_or_default()));
        let (range, below) = own.map(|own| (own.clone(), below)).or_else(of_next)?;
        let exception = self.document.slice(&range);
        let is_announced = ends_with_colon(exception);
        // "Not covered:" announces something else.
        if !is_exception(exception) && !is_hearsay(text) || is_announced && !refers_back(exception) {
            return None;
        }
        let whole = self.with_list(&range, below);
        let is_told = !is_announced || whole.is_some();
        Some((whole.unwrap_or(range), is_told))
    }

    /// "Exceptions to this rule:" with the short list below it, which says what they are.
    fn with_list(&self, line: &Range<usize>, below: &[Block]) -> Option<Range<usize>> {
        let text = self.document.slice(line);
        let list = below.first().filter(|list| is_listed(list))?;
        let is_short = list.range.end <= line.start + MAX_EXCEPTION_BYTES;
        let is_whole = is_short && ends_with_colon(text) && is_exception(text) && refers_back(text);
        is_whole.then_some(line.start..list.range.end)
    }

    /// Returns whether a text begins in the middle of a sentence: with a small letter, but with no
    /// name, as "`kb` makes", "crates.io is", "iPhones are", or "nom reads" below the heading
    /// "nom".
    fn is_continued(&self, range: &Range<usize>) -> bool {
        let text = self.document.slice(range);
        let is_name = |mark: &Mark| {
            mark.range.start <= range.start
                && mark.range.end < range.end
                && matches!(mark.kind, MarkKind::Code | MarkKind::Link)
        };
        let word = words::first_word(text);
        let is_in_heading =
            |heading: &Heading| words::first_word(self.document.slice(&heading.range)) == word;
        text.starts_with(char::is_lowercase)
            && !words::is_name(word)
            && !self.document.marks_in(range).any(is_name)
            && !self.headings.iter().any(is_in_heading)
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
        let mut is_second = is_about_two(self.document.slice(range));
        loop {
            let text = self.document.slice(range);
            let is_pointer = refers_back(text);
            // "Neither has a pool.", of the two before.
            let is_one_of_two = !links.is_empty() && std::mem::take(&mut is_second);
            // "Hunde sind willkommen. Sie dürfen nicht in den Saal."
            let is_they = at > 0 && !self.is_formal && text.starts_with("Sie ");
            if !is_pointer && !is_elliptic(text) && !is_one_of_two && !is_they {
                break;
            }
            let before = match at.checked_sub(1) {
                Some(before) => ranges.get(before),
                // "Docs | Contact" is what no word means.
                None => {
                    let line = above.line.links.last().map(|line| &line.range);
                    line.filter(|line| !self.document.is_covered(line, MarkKind::Link))
                }
            };
            // "The policy does not cover:", a list, "It covers:" and another list; but not "Neither:".
            let is_announced = |line: &Range<usize>| ends_with_colon(self.document.slice(line));
            let has_verb = words::word_count(text) > 1;
            let is_other = at == 0 && has_verb && is_announced(range) && before.is_some_and(is_announced);
            let heading = self.headings.last().filter(|heading| !heading.range.is_empty());
            if is_other {
                links.extend(heading.map(|heading| Link::new(Role::Label, &heading.range)));
                break;
            }
            // "In all other cases we pay." below a list does not go on from "We do not pay if:".
            let before = before.filter(|before| {
                is_pointer || !is_announced(before) && !is_fragment(self.document.slice(before))
            });
            let Some(before) = before else {
                // The line above the list is what "it" means in an item.
                let is_known = |link: &Link| {
                    matches!(
                        link.role,
                        Role::LeadIn | Role::Parent | Role::Label | Role::Question | Role::Antecedent
                    )
                };
                if chain.iter().any(is_known) {
                    break;
                }
                // "It is free." right below the heading "Shipping".
                match heading.filter(|_| links.len() < MAX_ANTECEDENTS) {
                    Some(heading) => links.push(Link::new(Role::Label, &heading.range)),
                    None if is_pointer => return None,
                    None => {}
                }
                break;
            };
            if links.len() == MAX_ANTECEDENTS {
                if is_pointer {
                    return None;
                }
                break;
            }
            links.push(Link::new(Role::Antecedent, before));
            if at == 0 {
                // What a fragment says, it says with the line above it.
                let is_whole = is_fragment(self.document.slice(before));
                let context = above.line.links.iter().rev().skip(1);
                links.extend(context.filter(|link| is_whole || link.role == Role::Antecedent).cloned());
                // A longer chain is never shown.
                links.truncate(MAX_CHAIN_PARTS + 1);
                break;
            }
            at -= 1;
            range = before;
        }
        links.reverse();
        Some(links)
    }
}

pub(super) fn is_listed(block: &Block) -> bool {
    matches!(block.kind, BlockKind::List | BlockKind::Table | BlockKind::Code)
}

/// Returns whether a part with a number is below one with another: "5.1.2" below "5.1", "(a" below
/// "5.1" or "2".
fn is_inner(number: &str, outer: &str) -> bool {
    let letters = |number: &str| number.contains(char::is_alphabetic);
    match number.strip_prefix(outer) {
        Some(rest) => rest.starts_with('.'),
        None => letters(number) && !letters(outer),
    }
}

pub(super) fn is_numbered(item: &Block) -> bool {
    matches!(&item.kind, BlockKind::Item { marker, .. } if marker.contains(char::is_alphanumeric))
}
