//! Compares one sentence with the sources.

use std::collections::BTreeMap;

use super::align::{Alignment, MAX_ALIGNED, align};
use super::calibration::{self, MIN_CLOSE_SHARE, Signals};
use super::corpus::Corpus;
use super::facts::{self, contains_quote, identifiers, quotable, quotes};
use super::qualified::{Class, Qualified, Text};
use super::read::{ReadSentence, ReadSource};
use super::support::{Masks, Terms, Window};
use super::tokens::{Lexicon, Token};
use super::{Supported, Verdict, order, polarity, rows};
use crate::generation_report::DropReason;

/// Quotes, links and identifiers of a sentence. One with more is not sent.
const MAX_LITERALS: usize = 32;

/// A sentence that is checked.
pub(super) struct Claim<'c> {
    tokens: Vec<Token>,
    /// Words that must be in a source to the letter.
    quotes: Vec<String>,
    identifiers: Vec<String>,
    qualified: Qualified,
    terms: Terms,
    /// The terms of each source.
    masks: Vec<Masks>,
    /// The facts that must be in a window.
    required: u128,
    named: &'c [usize],
}

/// How a sentence compares with one sentence of a source.
struct Comparison {
    alignment: Alignment,
    /// The reason why it does not follow from it, if there is one.
    conflict: Option<DropReason>,
    is_verbatim: bool,
}

impl<'c> Claim<'c> {
    pub(super) fn new(
        corpus: &Corpus,
        sentence: &str,
        tokens: Vec<Token>,
        named: &'c [usize],
    ) -> Option<Self> {
        if tokens.len() > MAX_ALIGNED {
            return None;
        }
        let terms = Terms::new(&tokens, |stem| corpus.weight(stem))?;
        let masks = corpus.sources.iter().map(|source| Masks::new(&terms, source)).collect();
        // A name of the question may be repeated. A number of the question may be what is asked.
        let mut required = terms.numbers | (terms.names & !terms.mask(&corpus.question));
        required &= !corpus.shortened_names(&tokens, &terms);
        let qualified = Qualified::new(&tokens, &corpus.lexicon);
        let quotes: Vec<String> = quotes(sentence).into_iter().flat_map(facts::parts).collect();
        let identifiers: Vec<String> = identifiers(sentence).map(quotable).collect();
        if quotes.len() + identifiers.len() > MAX_LITERALS {
            return None;
        }
        Some(Self { tokens, quotes, identifiers, qualified, terms, masks, required, named })
    }

    fn text(&self) -> Text<'_> {
        Text { tokens: &self.tokens, qualified: &self.qualified }
    }

    pub(super) fn verdict(&self, corpus: &Corpus) -> Result<Verdict, DropReason> {
        let mut windows = Vec::new();
        for (at, masks) in self.masks.iter().enumerate() {
            windows.extend(masks.best(&self.terms, at, 0, 0));
            windows.extend(masks.single(&self.terms, at, calibration::MIN_CANDIDATE_COVER));
        }
        for window in windows.iter_mut().filter(|window| self.named.contains(&window.source)) {
            window.value += calibration::NAMED_BONUS;
        }
        windows.sort_by(|a, b| b.value.total_cmp(&a.value));
        windows.truncate(calibration::MAX_CANDIDATES);
        let mut compared = BTreeMap::new();
        if let Some(reason) = self.changed_copy(corpus, &windows, &mut compared) {
            return Err(reason);
        }
        let mut reason = None;
        for window in windows {
            match self.judge(corpus, window, &mut compared) {
                Ok(verdict) => return Ok(verdict),
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        Err(reason.unwrap_or(DropReason::Unsupported))
    }

    /// How the sentence differs from the source sentence that it copies nearly verbatim. Then
    /// nothing else supports it: "Shipping to France takes 7 days" has all its words in "Shipping
    /// to France takes 5 days. Orders to Spain need 7 days."
    fn changed_copy(
        &self,
        corpus: &Corpus,
        windows: &[Window],
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) -> Option<DropReason> {
        let places = places_of(windows);
        self.compare_all(corpus, &places, compared);
        let closest = compared.values().max_by(|a, b| a.alignment.share.total_cmp(&b.alignment.share))?;
        let share = closest.alignment.share;
        let is_as_close =
            |other: &&Comparison| other.alignment.share >= share - calibration::MAX_SHARE_DIFFERENCE;
        // Another number at the same place is a change, also where more of the sentence is different.
        let is_number = closest.conflict == Some(DropReason::Number);
        if share < (if is_number { MIN_CLOSE_SHARE } else { calibration::MIN_COPY_SHARE })
            || compared.values().filter(is_as_close).any(|other| other.conflict.is_none())
        {
            return None;
        }
        closest.conflict
    }

    /// Whether the sentence follows from a window, and perhaps from a second one that has the facts that the first lacks.
    fn judge(
        &self,
        corpus: &Corpus,
        first: Window,
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) -> Result<Verdict, DropReason> {
        let windows = self.with_second(first);
        // A fact may also be elsewhere in the passage. Where the sentence follows its source closely, what stands in its place
        // decides; see `order.rs`.
        let passages = windows.iter().filter_map(|window| self.masks.get(window.source));
        let passages = passages.fold(0, |all, masks| all | masks.all);
        let is_complete = self.terms.all() & !passages == 0;
        let missing = self.required & !passages;
        if missing != 0 {
            return Err(if missing & self.terms.numbers != 0 {
                DropReason::Number
            } else {
                DropReason::Name
            });
        }
        let sources: Vec<&ReadSource> =
            windows.iter().filter_map(|window| corpus.sources.get(window.source)).collect();
        let is_quoted = |quote: &str| sources.iter().any(|source| contains_quote(&source.quotable, quote));
        if !self.quotes.iter().all(|quote| is_quoted(quote)) {
            return Err(DropReason::Quote);
        }
        if !self.identifiers.iter().all(|identifier| is_quoted(identifier)) {
            return Err(DropReason::Link);
        }
        let places = places_of(&windows);
        let sentences: Vec<&ReadSentence> =
            places.iter().filter_map(|place| corpus.sentence_at(*place)).collect();
        self.compare_all(corpus, &places, compared);
        let comparisons: Vec<&Comparison> = places.iter().filter_map(|place| compared.get(place)).collect();
        let signals = self.signals(&windows, &comparisons);
        let score = signals.score();
        let is_short = self.terms.len() <= calibration::MAX_TERMS_OF_SHORT;
        if score < calibration::MIN_SCORE || (is_short && signals.cover < calibration::MIN_COVER_OF_SHORT) {
            return Err(DropReason::Unsupported);
        }
        if !comparisons.iter().any(|comparison| comparison.is_verbatim) {
            let takes_number = |source: &&ReadSource| rows::takes_number_of_other_row(&self.tokens, source);
            if sources.iter().any(takes_number) {
                return Err(DropReason::Number);
            }
            if self.denied_of_subject(&sources) {
                return Err(DropReason::Polarity);
            }
            self.check_meaning(&comparisons, &sentences, &corpus.lexicon)?;
        }
        let supports = windows
            .into_iter()
            .map(|window| Supported { source: window.source, sentences: window.sentences })
            .collect();
        Ok(Verdict { score, supports, is_complete })
    }

    /// The inputs of the score.
    fn signals(&self, windows: &[Window], comparisons: &[&Comparison]) -> Signals {
        let mask = mask_of(windows);
        let passage =
            windows.first().and_then(|first| self.masks.get(first.source)).map_or(0, |masks| masks.all);
        let shares = comparisons.iter().map(|comparison| comparison.alignment.share);
        Signals {
            cover: self.terms.cover(mask),
            passage_cover: self.terms.cover(passage | mask),
            share: shares.fold(0.0, f64::max),
        }
    }

    /// Whether what is different changes the meaning. Only a sentence that the claim follows closely can be compared word by word;
    /// one that agrees is enough.
    fn check_meaning(
        &self,
        comparisons: &[&Comparison],
        sentences: &[&ReadSentence],
        lexicon: &Lexicon,
    ) -> Result<(), DropReason> {
        if self.has_other_units(sentences) {
            return Err(DropReason::Number);
        }
        let is_close = |comparison: &&&Comparison| comparison.alignment.share >= MIN_CLOSE_SHARE;
        let close: Vec<_> = comparisons.iter().filter(is_close).collect();
        if self.contradicts_loosely(sentences) || self.has_contrary_bounds(sentences, lexicon) {
            return Err(DropReason::Polarity);
        }
        if close.is_empty() {
            return Ok(());
        }
        if close.iter().any(|comparison| comparison.conflict.is_none()) {
            return Ok(());
        }
        let closest = close.into_iter().max_by(|a, b| a.alignment.share.total_cmp(&b.alignment.share));
        Err(closest.and_then(|closest| closest.conflict).unwrap_or(DropReason::Unsupported))
    }

    /// The inputs of the score for the best window of the first source, whatever the rules say.
    pub(super) fn best_signals(&self, corpus: &Corpus) -> Option<Signals> {
        let first = self.masks.first()?.best(&self.terms, 0, 0, 0)?;
        let windows = self.with_second(first);
        let mut compared = BTreeMap::new();
        self.compare_all(corpus, &places_of(&windows), &mut compared);
        Some(self.signals(&windows, &compared.values().collect::<Vec<_>>()))
    }

    /// The window, and a second one where it helps.
    fn with_second(&self, first: Window) -> Vec<Window> {
        let missing = self.required & !first.mask;
        let second = if missing == 0 { self.second_named(&first) } else { self.second(first.mask, missing) };
        [first].into_iter().chain(second).collect()
    }

    fn compare_all(
        &self,
        corpus: &Corpus,
        places: &[(usize, usize)],
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) {
        for place in places {
            if let Some(sentence) = corpus.sentence_at(*place) {
                compared.entry(*place).or_insert_with(|| self.compare(sentence, &corpus.lexicon));
            }
        }
    }

    /// The window of any source that has most of the missing facts.
    fn second(&self, known: u128, missing: u128) -> Option<Window> {
        let windows = self
            .masks
            .iter()
            .enumerate()
            .filter_map(|(at, masks)| masks.best(&self.terms, at, known, missing));
        windows.max_by(|a, b| {
            let key = |window: &Window| (window.mask & missing).count_ones();
            key(a).cmp(&key(b)).then(a.value.total_cmp(&b.value))
        })
    }

    /// A window of another source that the model named and that supports the whole sentence as well.
    fn second_named(&self, first: &Window) -> Option<Window> {
        let others = self.named.iter().filter(|source| **source != first.source);
        let windows =
            others.filter_map(|source| self.masks.get(*source)?.best(&self.terms, *source, 0, self.required));
        let supports = |window: &Window| {
            self.required & !window.mask == 0
                && self.terms.cover(window.mask) >= self.terms.cover(first.mask) - calibration::WORSE_SECOND
        };
        windows.filter(supports).max_by(|a, b| a.value.total_cmp(&b.value))
    }

    fn compare(&self, sentence: &ReadSentence, lexicon: &Lexicon) -> Comparison {
        let (claim, source) = (self.text(), sentence.text());
        let alignment = align(&self.tokens, &sentence.tokens);
        let differences = alignment.differences(self.tokens.len(), sentence.tokens.len());
        let is_verbatim = differences.is_empty() && !self.tokens.is_empty();
        let conflict = if is_verbatim {
            None
        } else if let Some(reason) = order::exchanged(claim, source, &differences) {
            Some(reason)
        } else if polarity::contradicts(claim, source, &alignment, &differences, lexicon)
            || (alignment.share >= calibration::MIN_MOVED_SHARE
                && order::has_moved_opposites(claim, source, &alignment, lexicon))
        {
            Some(DropReason::Polarity)
        } else if order::is_swapped(claim, source, &alignment, lexicon) {
            Some(DropReason::Order)
        } else {
            let is_copy = alignment.share >= calibration::MIN_COPY_SHARE;
            (is_copy && order::has_foreign_word(claim, source, &differences, lexicon))
                .then_some(DropReason::Unsupported)
        };
        Comparison { alignment, conflict, is_verbatim }
    }

    /// Whether a word is denied in the sentence and never in the window, or the other way round, or the sentence says "all",
    /// "only" or "must" where the window does not.
    fn contradicts_loosely(&self, window: &[&ReadSentence]) -> bool {
        let in_window = |stem: u32| {
            window.iter().flat_map(move |sentence| {
                let places = sentence.tokens.iter().enumerate().filter(move |(_, token)| token.stem == stem);
                places.map(|(at, _)| (&sentence.qualified, at))
            })
        };
        let denials =
            self.tokens.iter().enumerate().filter(|(_, token)| token.is_content()).any(|(at, token)| {
                let mut places = in_window(token.stem).peekable();
                if places.peek().is_none() {
                    return false;
                }
                if self.qualified.negated(at) {
                    return !places.any(|(qualified, at)| qualified.perhaps_negated(at));
                }
                !self.qualified.perhaps_negated(at) && places.all(|(qualified, at)| qualified.negated(at))
            });
        let adds = |class| {
            self.qualified.has_any(class) && !window.iter().any(|sentence| sentence.qualified.has_any(class))
        };
        denials || adds(Class::All) || adds(Class::Only) || adds(Class::Must)
    }

    /// Whether a word is said of the subject here, and wherever the passages begin with the same subject it is denied: "Cheques are
    /// accepted" in spite of "Cheques and coins are not accepted. Cards are accepted." Or the subject itself is denied wherever it
    /// occurs: "Wood can be engraved. Glass cannot."
    fn denied_of_subject(&self, sources: &[&ReadSource]) -> bool {
        let subject =
            |tokens: &[Token]| tokens.iter().find(|token| token.is_content()).map(|token| token.stem);
        let Some(first) = subject(&self.tokens) else { return false };
        let all = || sources.iter().flat_map(|source| &source.sentences);
        let sentences = || all().filter(|sentence| subject(&sentence.tokens) == Some(first));
        let mut subjects = all()
            .flat_map(|sentence| {
                let places = sentence.tokens.iter().enumerate().filter(|(_, token)| token.stem == first);
                places.map(|(at, _)| sentence.qualified.negated(at))
            })
            .peekable();
        let is_denied = subjects.peek().is_some() && subjects.all(|is_negated| is_negated);
        if is_denied && !self.qualified.has_any(Class::Negation) {
            return true;
        }
        let words = self.tokens.iter().enumerate().filter(|(at, token)| {
            token.is_content() && token.stem != first && !self.qualified.perhaps_negated(*at)
        });
        words.map(|(_, token)| token.stem).any(|stem| {
            let mut places = sentences()
                .flat_map(|sentence| {
                    let places =
                        sentence.tokens.iter().enumerate().filter(move |(_, token)| token.stem == stem);
                    places.map(|(at, _)| sentence.qualified.perhaps_negated(at))
                })
                .peekable();
            places.peek().is_some() && places.all(|is_negated| is_negated)
        })
    }

    /// Whether a number is the least in the sentence and the most in the window, or the other way round. With a negation in one of
    /// them they may agree.
    fn has_contrary_bounds(&self, window: &[&ReadSentence], lexicon: &Lexicon) -> bool {
        let is_denied = self.qualified.has_any(Class::Negation);
        (0..self.tokens.len()).any(|at| {
            let Some(token) = self.tokens.get(at).filter(|token| token.is_number()) else { return false };
            let mut places = window
                .iter()
                .filter(|sentence| sentence.qualified.has_any(Class::Negation) == is_denied)
                .flat_map(|sentence| {
                    let tokens = sentence.tokens.iter().enumerate();
                    tokens.filter(|(_, other)| other.stem == token.stem).map(|(at, _)| (&sentence.tokens, at))
                })
                .peekable();
            places.peek().is_some()
                && places.all(|(tokens, other)| {
                    polarity::are_contrary_bounds(&self.tokens, at, tokens, other, lexicon)
                })
        })
    }

    /// Whether a number counts something else in the window: days instead of weeks.
    fn has_other_units(&self, window: &[&ReadSentence]) -> bool {
        self.tokens.iter().any(|token| {
            let Some(unit) = token.unit else { return false };
            let mut same = window
                .iter()
                .flat_map(|sentence| &sentence.tokens)
                .filter(|other| other.stem == token.stem && other.is_number())
                .peekable();
            same.peek().is_some() && same.all(|other| other.unit.is_some_and(|other| unit != other))
        })
    }
}

/// The terms that the windows have together.
fn mask_of(windows: &[Window]) -> u128 {
    windows.iter().fold(0, |mask, window| mask | window.mask)
}

/// The source and position of each sentence of the windows.
fn places_of(windows: &[Window]) -> Vec<(usize, usize)> {
    let places = |window: &Window| {
        window.sentences.clone().map(|sentence| (window.source, sentence)).collect::<Vec<_>>()
    };
    windows.iter().flat_map(places).collect()
}
