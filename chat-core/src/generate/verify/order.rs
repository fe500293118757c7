//! Names and numbers at the place of others: "A sued B" does not follow from "B sued A".

use std::ops::Range;

use super::align::{Alignment, Difference};
use super::calibration::MIN_COPY_SHARE;
use super::polarity::contradict;
use super::qualified::Text;
use super::synonyms::are_synonyms;
use super::tokens::{Kind, Lexicon, Token};
use crate::generation_report::DropReason;
use crate::words::is_listed;

/// Tokens of a place where one fact replaces another. In a longer one the texts do not correspond word by word.
const MAX_PLACE: usize = 4;

/// Tokens of a place where one content word replaces another.
const MAX_WORD_PLACE: usize = 2;
/// Words without a counterpart that are compared with each other.
const MAX_MOVED: usize = 40;

/// A fact of the sentence that stands where its source has another one.
pub(super) fn exchanged(claim: Text<'_>, source: Text<'_>, differences: &[Difference]) -> Option<DropReason> {
    differences.iter().find_map(|difference| {
        let mine = claim.tokens.get(difference.claim.clone()).unwrap_or_default();
        let theirs = source.tokens.get(difference.source.clone()).unwrap_or_default();
        if mine.is_empty() || theirs.is_empty() || mine.len() > MAX_PLACE {
            return None;
        }
        // The source may go on where the sentence ends: then only numbers that begin both places are known to correspond.
        let begins = |tokens: &[Token]| tokens.first().is_some_and(Token::is_number);
        if theirs.len() > MAX_PLACE && !(begins(mine) && begins(theirs)) {
            return None;
        }
        let theirs = theirs.get(..MAX_PLACE).unwrap_or(theirs);
        let has = |tokens: &[Token], stem: u32| tokens.iter().any(|token| token.stem == stem);
        let new = || mine.iter().filter(|token| !has(theirs, token.stem));
        let old = || theirs.iter().filter(|token| !has(mine, token.stem));
        let is_number = |token: &&Token| token.kind == Kind::Number { is_exact: true };
        let number = new().find(is_number).filter(|_| old().any(|token| is_number(&token)));
        let name = || new().find(|token| old().any(|other| are_names(token, other)));
        let (fact, reason) = match number {
            Some(number) => (number, DropReason::Number),
            None => (name()?, DropReason::Name),
        };
        Some(if has(source.tokens, fact.stem) { DropReason::Order } else { reason })
    })
}

/// The first word of a sentence is a name if it stands for one.
fn are_names(a: &Token, b: &Token) -> bool {
    let is_name = |token: &Token| matches!(token.kind, Kind::Name { .. });
    let may_be = |token: &Token| is_name(token) || (token.is_capital && token.is_content());
    (is_name(a) && may_be(b)) || (may_be(a) && is_name(b))
}

/// Words that name the agent of a passive.
fn passives(text: Text<'_>, lexicon: &Lexicon) -> usize {
    text.tokens
        .iter()
        .filter(|token| matches!(lexicon.base(token.word), "by" | "von" | "par" | "por"))
        .count()
}

/// Whether the sentence is a copy in which another content word stands at the place of one: a paraphrase changes more, and only
/// for a few words it is known that they say the same.
pub(super) fn has_foreign_word(
    claim: Text<'_>,
    source: Text<'_>,
    differences: &[Difference],
    lexicon: &Lexicon,
) -> bool {
    differences.iter().any(|difference| {
        let mine = claim.tokens.get(difference.claim.clone()).unwrap_or_default();
        let theirs = source.tokens.get(difference.source.clone()).unwrap_or_default();
        let is_place = mine.len() <= MAX_WORD_PLACE && theirs.len() <= MAX_WORD_PLACE;
        let content = |tokens: &[Token]| tokens.iter().any(Token::is_content);
        let is_synonym = || {
            let same = |a: &Token, b: &Token| are_synonyms(lexicon.base(a.stem), lexicon.base(b.stem));
            mine.iter().any(|a| theirs.iter().any(|b| same(a, b)))
        };
        is_place && content(mine) && content(theirs) && !is_synonym()
    })
}

/// Whether two facts of the same kind are in another order than in the source sentence, without a reason that one can see: a
/// passive ("by") or a phrase that was moved to the front.
pub(super) fn is_swapped(
    claim: Text<'_>,
    source: Text<'_>,
    alignment: &Alignment,
    lexicon: &Lexicon,
) -> bool {
    if passives(claim, lexicon) != passives(source, lexicon) {
        return false;
    }
    // Facts that both have exactly once, with their places.
    let facts: Vec<(usize, usize, bool)> = claim
        .tokens
        .iter()
        .enumerate()
        .filter_map(|(i, token)| {
            let is_once = claim.tokens.iter().filter(|other| other.stem == token.stem).count() == 1;
            let mut places = source.tokens.iter().enumerate().filter(|(_, other)| other.stem == token.stem);
            let (j, other) = places.next()?;
            let is_fact = token.kind == Kind::Number { is_exact: true } || are_names(token, other);
            (is_fact && is_once && places.next().is_none()).then_some((i, j, token.is_number()))
        })
        .collect();
    let is_moved = |fact: &&(usize, usize, bool)| alignment.source_of(fact.0) != Some(fact.1);
    facts.iter().filter(is_moved).any(|(i, j, is_number)| {
        facts.iter().any(|(other_i, other_j, other_is_number)| {
            let is_inverted = (i < other_i) != (j < other_j);
            let (first, last) = (*i.min(other_i), *i.max(other_i));
            is_inverted
                && is_number == other_is_number
                && !is_list(claim, first, last, lexicon)
                && (alignment.share >= MIN_COPY_SHARE
                    || has_pivot(claim, first..last, source, *j.min(other_j)..*j.max(other_j)))
                && !is_fronted(claim, first, last, lexicon)
                && !is_fronted(source, *j.min(other_j), *j.max(other_j), lexicon)
        })
    })
}

/// Whether a word is between the facts in both texts: the verb of "A sued B" and "B sued A".
fn has_pivot(claim: Text<'_>, between: Range<usize>, source: Text<'_>, in_source: Range<usize>) -> bool {
    let words = |text: Text<'_>, range: Range<usize>| {
        let tokens = text.tokens.get(range).unwrap_or_default().iter().skip(1);
        tokens.filter(|token| token.kind == Kind::Word).map(|token| token.stem).collect::<Vec<_>>()
    };
    let pivots = words(source, in_source);
    words(claim, between).iter().any(|stem| pivots.contains(stem))
}

/// Whether two names are in one list, whose order means nothing.
fn is_list(text: Text<'_>, first: usize, last: usize, lexicon: &Lexicon) -> bool {
    let between = text.tokens.get(first + 1..=last).unwrap_or_default();
    let is_join =
        |token: &Token| matches!(lexicon.base(token.word), "and" | "or" | "und" | "oder" | "et" | "y");
    let is_part = |token: &Token| matches!(token.kind, Kind::Name { .. }) || is_join(token);
    between.iter().all(is_part) && between.iter().any(|token| is_join(token) || token.follows_comma)
}

const PREPOSITIONS: &str =
    "in on at during from since for after before as according until between im am seit en with to under";

/// Whether the first fact, and not the last, is in a phrase with a preposition at the beginning of a sentence, such as "In 2013,".
fn is_fronted(text: Text<'_>, first: usize, last: usize, lexicon: &Lexicon) -> bool {
    let begins = text.tokens.first().is_some_and(|first| is_listed(lexicon.base(first.word), PREPOSITIONS));
    let comma = text.tokens.iter().skip(1).position(|token| token.follows_comma).map(|at| at + 1);
    begins && comma.is_some_and(|comma| (first + 1..=last).contains(&comma))
}

/// Whether the two texts have opposites among the words that only one of them has.
pub(super) fn has_moved_opposites(
    claim: Text<'_>,
    source: Text<'_>,
    alignment: &Alignment,
    lexicon: &Lexicon,
) -> bool {
    let mine = (0..claim.tokens.len()).filter(|i| alignment.source_of(*i).is_none());
    let theirs = (0..source.tokens.len()).filter(|j| alignment.claim_of(*j).is_none());
    // A word that the other text has in another place is not missing: "left one to join another".
    let is_only_in = |text: Text<'_>, other: Text<'_>, at: usize| {
        text.tokens.get(at).is_some_and(|token| {
            token.is_content() && other.tokens.iter().all(|other| other.stem != token.stem)
        })
    };
    let mine: Vec<_> = mine.filter(|at| is_only_in(claim, source, *at)).take(MAX_MOVED).collect();
    let theirs: Vec<_> = theirs.filter(|at| is_only_in(source, claim, *at)).take(MAX_MOVED).collect();
    mine.iter().any(|i| theirs.iter().any(|j| contradict(claim, *i, source, *j, lexicon)))
}
