//! Decides whether a sentence follows from the sources.
//!
//! No model reads the two texts. The rules compare what can be compared:
//! - quotes, links and identifiers are in a cited passage to the letter (`facts.rs`);
//! - numbers, by value, and names are in the passages that are cited, their headings or title; a name may also be in the question
//!   (`tokens.rs`);
//! - a few consecutive sentences of a passage have enough of the sentence's words (`support.rs`, `calibration.rs`);
//! - where the sentence follows its source closely (`align.rs`), no name, number or other word was exchanged (`order.rs`,
//!   `synonyms.rs`), and no "not", "all", "only", "must" or opposite turns it around (`polarity.rs`);
//! - text that speaks to a model supports nothing (`instructions.rs`).
//!
//! What passes may still be false in a way that only a reader notices: a loose paraphrase, a false statement of a document. So
//! each sentence is shown with its source.

mod align;
mod calibration;
mod facts;
mod instructions;
mod order;
mod polarity;
mod support;
mod synonyms;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::source::Source;
use crate::generation_report::DropReason;
use align::{Alignment, MAX_ALIGNED, align};
use calibration::{MIN_CLOSE_SHARE, Signals};
use facts::{contains_quote, identifiers, quotable, quotes};
use polarity::{Class, Qualified, Text};
use support::{Masks, Terms, Window};
use tokens::{Kind, Lexicon, Token};

/// Words of a name that the sources have, if they need not have all of it. With one, a person could get another first name.
const MIN_KNOWN_NAME_WORDS: usize = 2;
/// Quotes, links and identifiers of a sentence. One with more is not sent.
const MAX_LITERALS: usize = 32;

/// Words of a passage that support a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Supported {
    /// The position of the source.
    pub(crate) source: usize,
    /// The positions of its sentences.
    pub(crate) sentences: Range<usize>,
}

/// A sentence may be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// The probability that the sources support it, 0 to 1.
    pub(crate) score: f64,
    /// The best source first, at most two.
    pub(crate) supports: Vec<Supported>,
}

/// What is the same for all sentences of an answer.
#[derive(Debug)]
pub(crate) struct Verifier {
    lexicon: Lexicon,
    sources: Vec<ReadSource>,
    /// Sorted stems of the question.
    question: Vec<u32>,
    /// In how many sentences each stem occurs.
    frequencies: BTreeMap<u32, u32>,
    /// How many sentences there are.
    sentences: u32,
    /// The stem of a place, and the words for what comes from it: "Canada", "Canadian".
    places: BTreeMap<String, u32>,
    /// The stems of the sources.
    known: BTreeSet<u32>,
    /// Those of them that are names.
    names: BTreeSet<u32>,
    /// Those of them that are written in capital letters.
    acronyms: BTreeSet<u32>,
    /// The first letters of names of several words, and the first word: "un" for "United Nations".
    initials: BTreeMap<String, u32>,
}

/// A source in the form in which it is compared.
#[derive(Debug)]
pub(super) struct ReadSource {
    sentences: Vec<ReadSentence>,
    /// Sorted stems of the document's title.
    title: Vec<u32>,
    /// Its text and title, as `quotable` returns it.
    quotable: String,
}

#[derive(Debug)]
pub(super) struct ReadSentence {
    tokens: Vec<Token>,
    qualified: Qualified,
    /// Sorted stems.
    stems: Vec<u32>,
    /// Sorted stems of the lines above it.
    context: Vec<u32>,
}

impl ReadSentence {
    fn text(&self) -> Text<'_> {
        Text { tokens: &self.tokens, qualified: &self.qualified }
    }
}

fn sorted_stems(tokens: &[Token]) -> Vec<u32> {
    let mut stems: Vec<u32> = tokens.iter().map(|token| token.stem).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

impl Verifier {
    pub(crate) fn new(question: &str, sources: &[Source]) -> Self {
        let mut lexicon = Lexicon::default();
        let mut read = Vec::with_capacity(sources.len());
        for source in sources {
            let title = sorted_stems(&lexicon.read(&source.citation.title));
            let mut last_context = (String::new(), Vec::new());
            let mut sentences = Vec::with_capacity(source.sentences.len());
            let is_steering = instructions::steers_model(&source.citation.excerpt);
            for sentence in &source.sentences {
                let is_unusable = is_steering || instructions::is_command(&sentence.text);
                let tokens = if is_unusable { Vec::new() } else { lexicon.read(&sentence.plain) };
                if sentence.context != last_context.0 {
                    last_context = (sentence.context.clone(), sorted_stems(&lexicon.read(&sentence.context)));
                }
                sentences.push(ReadSentence {
                    qualified: Qualified::new(&tokens, &lexicon),
                    stems: sorted_stems(&tokens),
                    context: last_context.1.clone(),
                    tokens,
                });
            }
            let text = if is_steering { "" } else { source.plain.as_str() };
            let quotable = quotable(&format!("{text} \n{}", source.citation.title));
            read.push(ReadSource { sentences, title, quotable });
        }
        let question = sorted_stems(&lexicon.read(question));
        let mut verifier = Self {
            lexicon,
            question,
            frequencies: BTreeMap::new(),
            sentences: 0,
            places: BTreeMap::new(),
            initials: BTreeMap::new(),
            known: BTreeSet::new(),
            names: BTreeSet::new(),
            acronyms: BTreeSet::new(),
            sources: read,
        };
        verifier.index();
        verifier
    }

    fn index(&mut self) {
        let tokens =
            || self.sources.iter().flat_map(|source| &source.sentences).flat_map(|sentence| &sentence.tokens);
        let is_name = |token: &&Token| token.kind == (Kind::Name { is_generic: false });
        self.names = tokens().filter(is_name).map(|token| token.stem).collect();
        for source in &mut self.sources {
            for sentence in &mut source.sentences {
                promote_first(&mut sentence.tokens, &self.names);
            }
        }
        for sentence in self.sources.iter().flat_map(|source| &source.sentences) {
            self.sentences += 1;
            for stem in &sentence.stems {
                *self.frequencies.entry(*stem).or_default() += 1;
            }
            for token in sentence.tokens.iter().filter(|token| token.is_capital) {
                if let Some(root) = place_root(self.lexicon.base(token.word)) {
                    self.places.entry(root.to_owned()).or_insert(token.stem);
                }
            }
            self.acronyms
                .extend(sentence.tokens.iter().filter(|token| token.is_acronym).map(|token| token.stem));
            for (range, initials) in capitalised_runs(&sentence.tokens, &self.lexicon) {
                if let Some(first) = sentence.tokens.get(range.start) {
                    self.initials.entry(initials).or_insert(first.stem);
                }
            }
        }
        for source in &self.sources {
            self.known.extend(&source.title);
            for sentence in &source.sentences {
                self.known.extend(sentence.stems.iter().chain(&sentence.context));
            }
        }
    }

    /// Rare words tell more. With few sentences all words are rare, so the count begins at [`calibration::PRIOR_SENTENCES`].
    fn weight(&self, stem: u32) -> f64 {
        let frequency = f64::from(self.frequencies.get(&stem).copied().unwrap_or_default());
        let sentences = f64::from(self.sentences) + calibration::PRIOR_SENTENCES;
        ((sentences + 1.0) / (frequency + 0.5)).ln().max(0.1)
    }

    /// `sources` are those that the verifier was made of. `named` are the sources that the model named for the sentence; they
    /// only decide between equally good ones.
    pub(crate) fn verify(
        &mut self,
        sentence: &str,
        _sources: &[Source],
        named: &[usize],
    ) -> Result<Verdict, DropReason> {
        let sentence = without_opening(sentence);
        let tokens = self.read_claim(sentence);
        let claim = Claim::new(self, sentence, tokens, named).ok_or(DropReason::Unsupported)?;
        claim.verdict(self)
    }

    /// The words of long names that the sources have only in part: "United Nations Security Council" for "Security Council". A
    /// name of two words may be a person's, and both must be there.
    fn shortened_names(&self, tokens: &[Token], terms: &Terms) -> u128 {
        let is_name = |token: &Token| matches!(token.kind, Kind::Name { .. });
        // A sentence may begin with any word, so a name at its beginning is not known to be one.
        let runs = tokens
            .get(1..)
            .unwrap_or_default()
            .chunk_by(|_, next| is_name(next) && !next.begins_clause && !next.follows_comma);
        let mut missing = 0;
        for run in runs {
            let names = run.iter().filter(|token| is_name(token)).map(|token| token.stem);
            let (known, mut unknown): (Vec<u32>, Vec<u32>) =
                names.partition(|stem| self.known.contains(stem));
            if known.len() >= MIN_KNOWN_NAME_WORDS && known.len() >= unknown.len() {
                unknown.sort_unstable();
                missing |= terms.mask(&unknown) & terms.names;
            }
        }
        missing
    }

    fn sentence_at(&self, (source, sentence): (usize, usize)) -> Option<&ReadSentence> {
        self.sources.get(source)?.sentences.get(sentence)
    }

    /// Reads a sentence. Words for a place and initials become those that the sources have.
    fn read_claim(&mut self, sentence: &str) -> Vec<Token> {
        let mut tokens = self.lexicon.read(sentence);
        promote_first(&mut tokens, &self.names);
        for token in tokens.iter_mut().filter(|token| token.is_capital && !self.known.contains(&token.stem)) {
            let base = self.lexicon.base(token.word);
            let place = place_root(base).and_then(|root| self.places.get(root)).copied();
            // One of the two must say where something comes from: Nigeria is not Niger.
            let place = place.filter(|place| is_of_place(base) || is_of_place(self.lexicon.base(*place)));
            let name = if token.is_acronym { self.initials.get(base).copied() } else { None };
            if let Some(stem) = place.or(name) {
                token.stem = stem;
            }
        }
        for (range, initials) in capitalised_runs(&tokens, &self.lexicon) {
            let Some(stem) = self.lexicon.stem_of(&initials).filter(|stem| self.acronyms.contains(stem))
            else {
                continue;
            };
            for token in tokens.get_mut(range).unwrap_or_default() {
                if token.is_content() && !self.known.contains(&token.stem) {
                    token.stem = stem;
                }
            }
        }
        tokens
    }
}

/// A sentence that is checked.
struct Claim<'c> {
    tokens: Vec<Token>,
    /// What must be in a source to the letter.
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
    /// Why it does not follow from it.
    conflict: Option<DropReason>,
    is_verbatim: bool,
}

impl<'c> Claim<'c> {
    fn new(verifier: &Verifier, sentence: &str, tokens: Vec<Token>, named: &'c [usize]) -> Option<Self> {
        if tokens.len() > MAX_ALIGNED {
            return None;
        }
        let terms = Terms::new(&tokens, |stem| verifier.weight(stem))?;
        let masks = verifier.sources.iter().map(|source| Masks::new(&terms, source)).collect();
        // A name of the question may be repeated. A number of the question may be what is asked.
        let mut required = terms.numbers | (terms.names & !terms.mask(&verifier.question));
        required &= !verifier.shortened_names(&tokens, &terms);
        let qualified = Qualified::new(&tokens, &verifier.lexicon);
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

    fn verdict(&self, verifier: &Verifier) -> Result<Verdict, DropReason> {
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
        if let Some(reason) = self.changed_copy(verifier, &windows, &mut compared) {
            return Err(reason);
        }
        let mut reason = None;
        for window in windows {
            match self.judge(verifier, window, &mut compared) {
                Ok(verdict) => return Ok(verdict),
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        Err(reason.unwrap_or(DropReason::Unsupported))
    }

    /// Why the sentence is no true copy of the source sentence that it copies. Then nothing else supports it: "Shipping to France
    /// takes 7 days" has all its words in "Shipping to France takes 5 days. Orders to Spain need 7 days."
    fn changed_copy(
        &self,
        verifier: &Verifier,
        windows: &[Window],
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) -> Option<DropReason> {
        let places = places_of(windows);
        self.compare_all(verifier, &places, compared);
        let closest = compared.values().max_by(|a, b| a.alignment.share.total_cmp(&b.alignment.share))?;
        let share = closest.alignment.share;
        let is_as_close =
            |other: &&Comparison| other.alignment.share >= share - calibration::MAX_SHARE_DIFFERENCE;
        if share < calibration::MIN_COPY_SHARE
            || compared.values().filter(is_as_close).any(|other| other.conflict.is_none())
        {
            return None;
        }
        closest.conflict
    }

    /// Whether the sentence follows from a window, and perhaps from a second one that has the facts that the first lacks.
    fn judge(
        &self,
        verifier: &Verifier,
        first: Window,
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) -> Result<Verdict, DropReason> {
        let windows = self.with_second(first);
        // A fact may also be elsewhere in the passage. Where the sentence follows its source closely, what stands in its place
        // decides; see `order.rs`.
        let passages = windows.iter().filter_map(|window| self.masks.get(window.source));
        let passages = passages.fold(0, |all, masks| all | masks.all);
        let missing = self.required & !passages;
        if missing != 0 {
            return Err(if missing & self.terms.numbers != 0 {
                DropReason::Number
            } else {
                DropReason::Name
            });
        }
        let sources: Vec<&ReadSource> =
            windows.iter().filter_map(|window| verifier.sources.get(window.source)).collect();
        let is_quoted = |quote: &str| sources.iter().any(|source| contains_quote(&source.quotable, quote));
        if !self.quotes.iter().all(|quote| is_quoted(quote)) {
            return Err(DropReason::Quote);
        }
        if !self.identifiers.iter().all(|identifier| is_quoted(identifier)) {
            return Err(DropReason::Link);
        }
        let places = places_of(&windows);
        let sentences: Vec<&ReadSentence> =
            places.iter().filter_map(|place| verifier.sentence_at(*place)).collect();
        self.compare_all(verifier, &places, compared);
        let comparisons: Vec<&Comparison> = places.iter().filter_map(|place| compared.get(place)).collect();
        let signals = self.signals(&windows, &comparisons);
        let score = signals.score();
        let is_short = self.terms.len() <= calibration::MAX_TERMS_OF_SHORT;
        if score < calibration::MIN_SCORE || (is_short && signals.cover < calibration::MIN_COVER_OF_SHORT) {
            return Err(DropReason::Unsupported);
        }
        if !comparisons.iter().any(|comparison| comparison.is_verbatim) {
            self.check_meaning(&comparisons, &sentences)?;
        }
        let supports = windows
            .into_iter()
            .map(|window| Supported { source: window.source, sentences: window.sentences })
            .collect();
        Ok(Verdict { score, supports })
    }

    /// What the score is made of.
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
    ) -> Result<(), DropReason> {
        if self.has_other_units(sentences) {
            return Err(DropReason::Number);
        }
        let is_close = |comparison: &&&Comparison| comparison.alignment.share >= MIN_CLOSE_SHARE;
        let close: Vec<_> = comparisons.iter().filter(is_close).collect();
        if self.contradicts_loosely(sentences) {
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

    /// The window, and a second one where it helps.
    fn with_second(&self, first: Window) -> Vec<Window> {
        let missing = self.required & !first.mask;
        let second = if missing == 0 { self.second_named(&first) } else { self.second(first.mask, missing) };
        [first].into_iter().chain(second).collect()
    }

    fn compare_all(
        &self,
        verifier: &Verifier,
        places: &[(usize, usize)],
        compared: &mut BTreeMap<(usize, usize), Comparison>,
    ) {
        for place in places {
            if let Some(sentence) = verifier.sentence_at(*place) {
                compared.entry(*place).or_insert_with(|| self.compare(sentence, &verifier.lexicon));
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
        } else if let Some(reason) = order::exchanged(claim, source, &differences, lexicon) {
            Some(reason)
        } else if polarity::contradicts(claim, source, &alignment, &differences, lexicon)
            || (alignment.share >= calibration::MIN_MOVED_SHARE
                && order::has_moved_opposites(claim, source, &alignment, lexicon))
        {
            Some(DropReason::Polarity)
        } else {
            let is_copy = alignment.share >= calibration::MIN_COPY_SHARE;
            if order::is_swapped(claim, source, &alignment, lexicon) {
                Some(DropReason::Order)
            } else {
                (is_copy && order::has_foreign_word(claim, source, &differences, lexicon))
                    .then_some(DropReason::Unsupported)
            }
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

    /// Whether a number counts something else in the window: days instead of weeks.
    fn has_other_units(&self, window: &[&ReadSentence]) -> bool {
        self.tokens.iter().any(|token| {
            let Some(unit) = token.unit else { return false };
            let mut same = window
                .iter()
                .flat_map(|sentence| &sentence.tokens)
                .filter(|other| other.stem == token.stem && other.is_number())
                .peekable();
            same.peek().is_some() && same.all(|other| other.unit.is_some_and(|other| unit.contradicts(other)))
        })
    }
}

/// The sentence without what models put before an answer: "According to the source, …".
fn without_opening(sentence: &str) -> &str {
    const OPENINGS: &[&str] = &["according to the ", "based on the ", "as stated in the ", "as per the "];
    const NOUNS: &[&str] = &[
        "source",
        "sources",
        "text",
        "passage",
        "passages",
        "document",
        "documents",
        "context",
        "information",
    ];
    let Some((opening, rest)) = sentence.split_once(", ") else { return sentence };
    let opening = opening.to_lowercase();
    let noun = OPENINGS.iter().find_map(|phrase| opening.strip_prefix(phrase));
    let noun = noun.map(|noun| noun.trim_start_matches("provided ").trim_start_matches("given "));
    if noun.is_some_and(|noun| NOUNS.contains(&noun)) { rest } else { sentence }
}

/// The first word is a name if it is one elsewhere.
fn promote_first(tokens: &mut [Token], names: &BTreeSet<u32>) {
    if let Some(first) = tokens.first_mut()
        && first.kind == Kind::Word
        && first.is_capital
        && names.contains(&first.stem)
    {
        first.kind = Kind::Name { is_generic: false };
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

/// Names of several words, each with its first letters in lower case.
fn capitalised_runs(tokens: &[Token], lexicon: &Lexicon) -> Vec<(Range<usize>, String)> {
    let mut runs = Vec::new();
    let mut run: Option<(Range<usize>, String)> = None;
    for (at, token) in tokens.iter().enumerate() {
        let continues = !token.begins_clause && !token.follows_comma;
        let base = lexicon.base(token.word);
        if token.is_capital && token.is_content() && !token.is_number() {
            let first = base.chars().next();
            match &mut run {
                Some((range, initials)) if continues => {
                    range.end = at + 1;
                    initials.extend(first);
                }
                _ => {
                    runs.extend(run.take());
                    run = Some((at..at + 1, first.into_iter().collect()));
                }
            }
        } else if !(continues && matches!(base, "of" | "the" | "and" | "for")) {
            runs.extend(run.take());
        }
    }
    runs.extend(run);
    runs.retain(|(_, initials)| (2..=6).contains(&initials.chars().count()));
    runs
}

/// Endings of words for what comes from a place, and of places. Longer ones first.
const PLACE_ENDINGS: &[&str] =
    &["ians", "ian", "eans", "ean", "ish", "ese", "ans", "an", "ia", "is", "a", "i", "y", "e"];
/// Letters of a place without its ending.
const MIN_PLACE_ROOT: usize = 4;

/// What "Canada" and "Canadian" have in common.
fn place_root(base: &str) -> Option<&str> {
    let root = PLACE_ENDINGS.iter().find_map(|ending| base.strip_suffix(ending)).unwrap_or(base);
    (root.chars().count() >= MIN_PLACE_ROOT).then_some(root)
}

fn is_of_place(base: &str) -> bool {
    ["ian", "ians", "ean", "eans", "an", "ans", "ish", "ese", "i", "is"]
        .iter()
        .any(|ending| base.ends_with(ending))
}

/// The verdict on a claim, for evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The probability that the evidence supports the claim, 0 to 1; 0 if a rule rejects it.
    pub score: f64,
    /// Why the claim would be left out; `None` if it would be sent.
    pub dropped: Option<DropReason>,
}

/// Checks one claim against the sentences of one source, as if a model had written it.
pub fn check(claim: &str, evidence: &[&str]) -> Check {
    let sources = [Source::from_sentences(evidence)];
    match Verifier::new("", &sources).verify(claim, &sources, &[]) {
        Ok(verdict) => Check { score: verdict.score, dropped: None },
        Err(reason) => Check { score: 0.0, dropped: Some(reason) },
    }
}

/// What the score of a claim is made of, whatever the rules say: cover, passage cover, share. For fitting.
pub fn signals(claim: &str, evidence: &[&str]) -> [f64; 3] {
    let sources = [Source::from_sentences(evidence)];
    let mut verifier = Verifier::new("", &sources);
    let tokens = verifier.read_claim(claim);
    let Some(claim) = Claim::new(&verifier, claim, tokens, &[]) else { return [0.0; 3] };
    let Some(first) = claim.masks.first().and_then(|masks| masks.best(&claim.terms, 0, 0, 0)) else {
        return [0.0; 3];
    };
    let windows = claim.with_second(first);
    let places = places_of(&windows);
    let mut compared = BTreeMap::new();
    claim.compare_all(&verifier, &places, &mut compared);
    let comparisons: Vec<&Comparison> = compared.values().collect();
    let Signals { cover, passage_cover, share } = claim.signals(&windows, &comparisons);
    [cover, passage_cover, share]
}
