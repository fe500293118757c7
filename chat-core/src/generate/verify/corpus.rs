//! The sources of an answer, read once: words by stem, with their frequencies and places.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::quotable;
use super::places::{is_of_place, place_root};
use super::qualified::Qualified;
use super::read::{ReadSentence, ReadSource, Row, sorted_stems};
use super::rows;
use super::support::Terms;
use super::tokens::{Kind, Lexicon, Token};
use super::{calibration, instructions};
use crate::generate::source::Source;

/// Words of a name that the sources must have if they lack others. With one, a person could get
/// another first name.
const MIN_KNOWN_NAME_WORDS: usize = 2;

/// The sources as the sentences of an answer are compared with them.
#[derive(Debug)]
pub(super) struct Corpus {
    pub(super) lexicon: Lexicon,
    pub(super) sources: Vec<ReadSource>,
    /// Sorted stems of the question.
    pub(super) question: Vec<u32>,
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
}

/// The first word of a sentence is a name if it is one elsewhere.
fn promote_first(tokens: &mut [Token], names: &BTreeSet<u32>) {
    if let Some(first) = tokens.first_mut()
        && first.kind == Kind::Word
        && first.is_capital
        && names.contains(&first.stem)
    {
        first.kind = Kind::Name { is_generic: false };
    }
}

impl Corpus {
    pub(super) fn new(question: &str, sources: &[Source]) -> Self {
        let mut lexicon = Lexicon::default();
        let mut read = Vec::with_capacity(sources.len());
        for source in sources {
            let title = sorted_stems(&lexicon.read(&source.citation.passage.title));
            let mut last_context = (String::new(), Vec::new());
            let mut sentences = Vec::with_capacity(source.sentences.len());
            let is_steering = instructions::steers_model(&source.citation.passage.excerpt);
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
                    row: sentence.row.as_ref().map(|row| Row::new(&lexicon.read(&row.label))),
                    tokens,
                });
            }
            let tables =
                source.sentences.iter().map(|sentence| sentence.row.as_ref().map(|row| &row.columns));
            rows::distinguish(&mut sentences, &tables.collect::<Vec<_>>());
            let text = if is_steering { "" } else { source.plain.as_str() };
            let quotable = quotable(&format!("{text} \n{}", source.citation.passage.title));
            read.push(ReadSource { sentences, title, quotable });
        }
        let question = sorted_stems(&lexicon.read(question));
        let mut corpus = Self {
            lexicon,
            question,
            frequencies: BTreeMap::new(),
            sentences: 0,
            places: BTreeMap::new(),
            known: BTreeSet::new(),
            names: BTreeSet::new(),
            sources: read,
        };
        corpus.index();
        corpus
    }

    fn index(&mut self) {
        let sentences = || self.sources.iter().flat_map(|source| &source.sentences);
        let is_name = |token: &&Token| token.kind == (Kind::Name { is_generic: false });
        let names = sentences().flat_map(|sentence| &sentence.tokens).filter(is_name);
        self.names = names.map(|token| token.stem).collect();
        for sentence in self.sources.iter_mut().flat_map(|source| &mut source.sentences) {
            promote_first(&mut sentence.tokens, &self.names);
        }
        for source in &self.sources {
            self.known.extend(&source.title);
            for sentence in &source.sentences {
                self.sentences += 1;
                self.known.extend(sentence.stems.iter().chain(&sentence.context));
                for stem in &sentence.stems {
                    *self.frequencies.entry(*stem).or_default() += 1;
                }
                for token in sentence.tokens.iter().filter(|token| token.is_capital) {
                    if let Some(root) = place_root(self.lexicon.base(token.word)) {
                        self.places.entry(root.to_owned()).or_insert(token.stem);
                    }
                }
            }
        }
    }

    /// Rare words tell more. With few sentences all words are rare, so the count begins at [`calibration::PRIOR_SENTENCES`].
    pub(super) fn weight(&self, stem: u32) -> f64 {
        let frequency = f64::from(self.frequencies.get(&stem).copied().unwrap_or_default());
        let sentences = f64::from(self.sentences) + calibration::PRIOR_SENTENCES;
        ((sentences + 1.0) / (frequency + 0.5)).ln().max(0.1)
    }

    /// The words of long names that the sources have only in part: "United Nations Security Council" for "Security Council". A
    /// name of two words may be a person's, and both must be there.
    pub(super) fn shortened_names(&self, tokens: &[Token], terms: &Terms) -> u128 {
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

    pub(super) fn sentence_at(&self, (source, sentence): (usize, usize)) -> Option<&ReadSentence> {
        self.sources.get(source)?.sentences.get(sentence)
    }

    /// Reads a sentence. Words for a place become those that the sources have.
    pub(super) fn read_claim(&mut self, sentence: &str) -> Vec<Token> {
        let mut tokens = self.lexicon.read(sentence);
        promote_first(&mut tokens, &self.names);
        for token in tokens.iter_mut().filter(|token| token.is_capital && !self.known.contains(&token.stem)) {
            let base = self.lexicon.base(token.word);
            let place = place_root(base).and_then(|root| self.places.get(root)).copied();
            // One of the two must say where something comes from: Nigeria is not Niger.
            let place = place.filter(|place| is_of_place(base) || is_of_place(self.lexicon.base(*place)));
            token.stem = place.unwrap_or(token.stem);
        }
        tokens
    }
}
