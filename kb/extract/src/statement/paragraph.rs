//! Reads paragraphs: what each sentence leans on.

use std::ops::Range;

use chat_core::limits::MAX_CHAIN_PARTS;
use chat_core::statement::{Role, StatementKind};

use super::short_lines::MAX_LINE_CHARS;
use super::walker::{Above, Heading, Line, Walker, is_heading};
use super::words::{
    ends_with_colon, is_about_two, is_elliptic, is_exception, is_fragment, is_hearsay, is_open, is_question,
    is_yes_or_no, leads_on, limits_by_word, looks_ahead, part_number, promises, refers_back,
};
use super::{Link, words};
use crate::document::{Block, BlockKind, Mark, MarkKind};

/// A longer list of exceptions is only announced.
const MAX_EXCEPTION_BYTES: usize = 200;
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
        let next = below.first();
        let mut ranges = self.sentences(&block.range);
        if let (Some(item), Some(first)) = (marker.filter(|item| is_numbered(item)), ranges.first_mut()) {
            first.start = item.range.start;
        }
        let is_above_list = next.is_some_and(is_listed);
        let is_paragraph =
            next.is_some_and(|next| next.kind == BlockKind::Paragraph && !next.range.is_empty());
        let mut base = chain.to_vec();
        let text_of = |range: Option<&Range<usize>>| range.map_or("", |range| document.slice(range));
        let is_fragment = is_fragment(text_of(ranges.last()));
        // "5.1.2 War." below "5.1 Not covered:"
        let number = part_number(text_of(ranges.first()));
        let outer =
            above.line.announcement().last().and_then(|line| part_number(document.slice(&line.range)));
        let is_part = number.is_some_and(|number| outer.is_none_or(|outer| is_inner(number, outer)));
        let is_below = is_fragment || is_part;
        if above.line.has_followed && !is_below || number.is_some() && !is_part {
            above.line.announces = 0;
        }
        let is_short = ranges.len() == 1 && words::word_count(text_of(ranges.first())) <= MAX_PART_WORDS;
        let is_in_doubt = std::mem::take(&mut above.line.is_in_doubt) && is_short && !is_below;
        base.extend(above.line.announcement().iter().cloned());
        let goes_on = is_paragraph && leads_on(text_of(ranges.last()));
        let opening = text_of(ranges.first());
        let is_continued = ranges.first().is_some_and(|first| self.is_continued(first));
        if is_question(opening) {
            // It takes the place of the question before.
            above.section.retain(|link| link.role != Role::Question);
            base.retain(|link| link.role != Role::Question);
        }
        let listed = above.listed.take();
        let is_alone = ranges.len() == 1;
        let exceptions = ranges.first().filter(|_| is_alone).and_then(|line| self.with_list(line, below));
        // "Not allowed:" above another list says nothing about the list before.
        let is_lead_in = is_above_list && is_alone && (!is_continued || is_fragment) && exceptions.is_none();
        let limiting = listed.as_ref().filter(|_| !is_lead_in && (is_continued || is_exception(opening)));
        let is_rest = is_continued && limiting.is_some();
        if let (Some((statements, lines)), Some(first)) = (limiting, ranges.first()) {
            // "… unless we agree in writing" holds for each item above it.
            base.extend(lines.iter().cloned());
            self.attach(
                statements.clone(),
                &Link::new(Role::Exception, exceptions.as_ref().unwrap_or(first)),
            );
        }
        let is_line = document.slice(&block.range).chars().nth(MAX_LINE_CHARS).is_none();
        if is_fragment && is_line && marker.is_none() {
            // "9 € per month" below the heading "Pro".
            self.with_heading(&mut base);
        }
        let is_pointer = document.is_covered(&block.range, MarkKind::Link);
        let mut question: Option<Range<usize>> = None;
        for (at, range) in ranges.iter().enumerate() {
            let text = document.slice(range);
            let mut chain = base.clone();
            let mut is_quotable = !is_pointer && !is_in_doubt && !self.conditions.contains(range);
            let is_last = at + 1 == ranges.len();
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
            is_quotable &=
                !(ends_with_colon(text) || is_last && is_above_list && is_open(text, marker.is_some()));
            // "No." says nothing without its question.
            is_quotable &= !(chain.is_empty() && is_yes_or_no(text));
            // It goes on in the next paragraph: "It is not refunded if", "a) it is damaged".
            is_quotable &= !(is_last && goes_on);
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
            let next = next.filter(|next| !self.conditions.begins_at(next.range.start));
            let own = ranges.get(at + 1).map(|own| (own.clone(), below));
            let of_next = || self.first_sentence(next).map(|own| (own, below.get(1..).unwrap_or_default()));
            if let Some((exception, below)) = own.or_else(of_next) {
                let words = document.slice(&exception);
                // "Not covered:" announces something else. "Exceptions:" says only with its list which.
                let is_announced = ends_with_colon(words);
                if (is_exception(words) || is_hearsay(text)) && (!is_announced || refers_back(words)) {
                    let whole = self.with_list(&exception, below);
                    is_quotable &= !is_announced || whole.is_some();
                    chain.push(Link::new(Role::Exception, whole.as_ref().unwrap_or(&exception)));
                }
            }
            let is_open =
                marker.is_some_and(|item| matches!(item.kind, BlockKind::Item { is_ticked: false, .. }));
            self.push(range.clone(), StatementKind::Sentence, chain, is_quotable && !is_open);
        }
        above.next_question = question.filter(|_| is_alone).map(|own| Link::new(Role::Question, &own));
        let Some(last) = ranges.last().filter(|_| above.next_question.is_none()) else {
            above.line = Line::default();
            return ranges.first().cloned();
        };
        let mut links = above.line.announcement().to_vec();
        links.extend(self.antecedents(&ranges, ranges.len() - 1, above, &base).unwrap_or_default());
        if let (true, Some(before)) =
            (next.is_some_and(|next| next.range.is_empty()), above.line.links.last())
        {
            // It may be the description of a picture.
            links.insert(0, before.clone());
        }
        let last_text = document.slice(last);
        // A box may promise something, too.
        let is_end = next.is_none() && marker.is_none();
        let is_promise = (is_paragraph || is_end || next.is_some_and(is_heading)) && promises(last_text);
        let has_followed = !(ends_with_colon(last_text) || goes_on || is_promise);
        // "Not covered:", a list, "Please note the form." and a list that goes on.
        let is_between = is_alone && !is_fragment && has_followed && !looks_ahead(last_text);
        let is_between = is_between && next.is_some_and(|next| next.kind == BlockKind::List);
        let announces = |line: &Link| {
            let line = document.slice(&line.range);
            ends_with_colon(line) || words::is_fragment(line)
        };
        if let Some((_, lines)) = listed.filter(|_| is_between)
            && lines.last().is_some_and(announces)
        {
            links.splice(0..0, lines);
        }
        links.push(Link::new(Role::LeadIn, last));
        above.line = if has_followed {
            // "Not covered if:", "The seal is broken.", "The fee is 5 €.": what is the last one about?
            let limits = |line: &Link| {
                let line = document.slice(&line.range);
                ends_with_colon(line) && limits_by_word(line)
            };
            let is_in_doubt = is_in_doubt || is_short && above.line.announcement().last().is_some_and(limits);
            let announces = if is_below { above.line.announces } else { 0 };
            Line { links, announces, has_followed, is_in_doubt: is_in_doubt && !is_below }
        } else {
            Line::announcing(links)
        };
        // "It covers glass." is not about "… unless we agree."
        if is_rest && has_followed {
            above.line = Line::default();
        }
        ranges.first().cloned()
    }

    /// "Exceptions to this rule:" with the short list below it, which says what they are.
    fn with_list(&self, line: &Range<usize>, below: &[Block]) -> Option<Range<usize>> {
        let text = self.document.slice(line);
        let list = below.first().filter(|list| is_listed(list))?;
        let is_short = list.range.end <= line.start + MAX_EXCEPTION_BYTES;
        let is_whole = is_short && ends_with_colon(text) && is_exception(text) && refers_back(text);
        is_whole.then_some(line.start..list.range.end)
    }

    /// Whether a text begins in the middle of a sentence: with a small letter, but with no name, as "`kb` makes", "crates.io is", "iPhones
    /// are", or "nom reads" below the heading "nom".
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
            if !is_pointer && !is_elliptic(text) && !is_one_of_two {
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
                links.extend(heading.map(|heading| Link::new(Role::Heading, &heading.range)));
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
                    Some(heading) => links.push(Link::new(Role::Heading, &heading.range)),
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

fn is_listed(block: &Block) -> bool {
    matches!(block.kind, BlockKind::List | BlockKind::Table | BlockKind::Code)
}

/// Whether a part with a number is below one with another: "5.1.2" below "5.1", "(a" below "5.1" or "2".
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
