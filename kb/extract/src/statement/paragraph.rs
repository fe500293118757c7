//! Reads paragraphs: what each sentence leans on.

use std::ops::Range;

use chat_core::limits::MAX_CHAIN_PARTS;
use chat_core::statement::{Role, StatementKind};

use super::walker::{Above, Walker};
use super::words::{
    ends_with_colon, is_exception, is_fragment, is_hearsay, is_open, is_question, leans_back, looks_ahead,
    refers_back,
};
use super::{Link, words};
use crate::document::{Block, BlockKind, MarkKind};

/// How many sentences back a reference is followed.
const MAX_ANTECEDENTS: usize = 4;
/// A longer list of exceptions is only announced.
const MAX_EXCEPTION_BYTES: usize = 200;

impl Walker<'_> {
    /// Reads a paragraph and returns its first sentence. `marker`: the item that it begins.
    pub(super) fn paragraph(
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
        let is_listed =
            |next: &Block| matches!(next.kind, BlockKind::List | BlockKind::Table | BlockKind::Code);
        let is_above_list = next.is_some_and(is_listed);
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
        let listed = above.listed.take();
        // "Not allowed:" above another list says nothing about the list before.
        // "Exceptions:" is told with what it announces.
        let with_list = |range: &Range<usize>| {
            let is_announced = |list: &&Block| {
                is_listed(list)
                    && list.range.end <= range.start + MAX_EXCEPTION_BYTES
                    && ends_with_colon(document.slice(range))
                    && is_exception(document.slice(range))
            };
            next.filter(is_announced).map(|list| range.start..list.range.end)
        };
        let exceptions = ranges.last().and_then(with_list);
        let is_lead_in =
            is_above_list && ranges.len() == 1 && (!is_continued || is_fragment) && exceptions.is_none();
        let limiting = listed.as_ref().filter(|_| !is_lead_in && (is_continued || is_exception(opening)));
        if let (Some((statements, lines)), Some(first)) = (limiting, ranges.first()) {
            // "… unless we agree in writing" holds for each item above it.
            base.extend(lines.iter().cloned());
            let exception = exceptions.as_ref().filter(|_| ranges.len() == 1).unwrap_or(first);
            self.attach(statements.clone(), &Link::new(Role::Exception, exception));
        }
        if is_fragment && marker.is_none() {
            // "9 € per month" below the heading "Pro".
            self.with_heading(&mut base);
        }
        let is_pointer = document.is_covered(&block.range, MarkKind::Link);
        let mut question: Option<Range<usize>> = None;
        for (at, range) in ranges.iter().enumerate() {
            let text = document.slice(range);
            let mut chain = base.clone();
            let mut is_quotable = !is_pointer && !self.conditions.contains(range);
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
            // A bold line names what follows it.
            let is_name = |next: &Block| {
                document.is_covered(&next.range, MarkKind::Strong)
                    && !document.slice(&next.range).ends_with(['.', '!', ','])
            };
            let next = next.filter(|next| !self.conditions.begins_at(next.range.start) && !is_name(next));
            let exception = ranges.get(at + 1).cloned().or_else(|| self.first_sentence(next));
            let exception = exception.filter(|next| {
                let next = document.slice(next);
                is_exception(next) || is_hearsay(text) && !ends_with_colon(next)
            });
            let exception = exception.map(|next| match &exceptions {
                Some(whole) if whole.start == next.start => whole.clone(),
                _ => next,
            });
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
        let last_text = document.slice(last);
        above.has_followed = !ends_with_colon(last_text);
        if !above.has_followed {
            above.announcement = context.iter().cloned().chain([Link::new(Role::LeadIn, last)]).collect();
            // A longer chain is never shown.
            let surplus = above.announcement.len().saturating_sub(MAX_CHAIN_PARTS + 1);
            above.announcement.drain(..surplus);
        } else if !is_fragment {
            above.announcement.clear();
        }
        // "Not covered:", a list, "Please note the form." and a list that goes on.
        let is_between = is_alone && !is_fragment && above.has_followed && !looks_ahead(last_text);
        let is_between = is_between && next.is_some_and(|next| next.kind == BlockKind::List);
        let announces = |line: &Link| {
            let line = document.slice(&line.range);
            ends_with_colon(line) || words::is_fragment(line)
        };
        if let Some((_, lines)) = listed.filter(|_| is_between)
            && lines.last().is_some_and(announces)
        {
            context.splice(0..0, lines);
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
        let is_leaning = |at: usize, range: &Range<usize>| match self.document.slice(range) {
            first if at == 0 => refers_back(first),
            other => leans_back(other),
        };
        while is_leaning(at, range) {
            let before = match at.checked_sub(1) {
                Some(before) => ranges.get(before),
                None => above.sentence.as_ref().map(|(sentence, _)| sentence),
            };
            // "The policy does not cover:", a list, "It covers:" and another list; but not "Neither:".
            let is_announced = |line: &Range<usize>| ends_with_colon(self.document.slice(line));
            let has_verb = words::word_count(self.document.slice(range)) > 1;
            if at == 0 && has_verb && is_announced(range) && before.is_some_and(is_announced) {
                break;
            }
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
                let heading = heading.filter(|heading| !heading.range.is_empty())?;
                links.push(Link::new(Role::Heading, &heading.range));
                break;
            };
            if links.len() == MAX_ANTECEDENTS {
                return None;
            }
            links.push(Link::new(Role::Antecedent, before));
            if at == 0 {
                let context = above.sentence.iter().flat_map(|(_, context)| context.iter().rev());
                // What a fragment says, it says with the line above it.
                let is_whole = is_fragment(self.document.slice(before));
                links.extend(context.filter(|link| is_whole || link.role == Role::Antecedent).cloned());
                break;
            }
            at -= 1;
            range = before;
        }
        links.reverse();
        Some(links)
    }
}

fn is_numbered(item: &Block) -> bool {
    matches!(&item.kind, BlockKind::Item { marker, .. } if marker.contains(char::is_alphanumeric))
}
