//! The token sequences on which the model's activations are measured.
//!
//! With sentences alone, the weights become exact for sentences and wrong for unusual texts. So a share of the weight
//! goes to sequences that are not language.

use std::ops::Range;

use embedder::{DIMENSIONS, WordPiece};

/// Lines that start with `#` are comments.
const TEXTS: &str = include_str!("texts.txt");

const CLS: u32 = 101;
const SEP: u32 = 102;
/// Tokens of the vocabulary that are not special: first single characters, then words and pieces.
const CHARACTERS: Range<u32> = 999..1996;
const ORDINARY: Range<u32> = 999..30_522;
/// The share of the weight for token sequences that are not language.
const NONSENSE_SHARE: f64 = 0.3;
/// Maximum tokens of a sequence between \[CLS\] and \[SEP\].
const MAX_INNER: usize = 254;

/// A token sequence.
pub(crate) struct Sequence {
    /// With \[CLS\] and \[SEP\].
    pub(crate) ids: Vec<u32>,
    /// The weight of each token. The sum over the tokens of all sequences is 1.
    pub(crate) share: f64,
    /// A random direction of the vector, whose gradient is measured.
    pub(crate) direction: Vec<f32>,
}

/// The calibration set, sorted by length.
pub(crate) fn sequences(vocabulary: &str) -> Vec<Sequence> {
    let wordpiece = WordPiece::from_vocabulary(vocabulary.as_bytes()).unwrap();
    let mut ids = Vec::new();
    let mut texts: Vec<Vec<u32>> = TEXTS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            wordpiece.encode(line, &mut ids);
            ids[1..ids.len() - 1].to_vec()
        })
        .collect();
    texts.push(Vec::new());
    let mut random = Random::new(1);
    let passages = passages(&texts, &mut random);
    let sentences = [splices(&texts, &mut random), passages, texts].concat();
    let mut sequences = weigh(&sentences, &nonsense(&mut random), &mut Random::new(2));
    sequences.sort_by_key(|sequence| sequence.ids.len());
    sequences
}

/// All `sentences` together weigh 1 - [`NONSENSE_SHARE`], all `nonsense` the rest. Adds \[CLS\] and \[SEP\].
fn weigh(sentences: &[Vec<u32>], nonsense: &[Vec<u32>], random: &mut Random) -> Vec<Sequence> {
    let mut sequences = Vec::new();
    for (group, share) in [(sentences, 1.0 - NONSENSE_SHARE), (nonsense, NONSENSE_SHARE)] {
        let tokens: usize = group.iter().map(|inner| inner.len() + 2).sum();
        sequences.extend(group.iter().map(|inner| Sequence {
            ids: [&[CLS], &inner[..], &[SEP]].concat(),
            share: share / tokens as f64,
            direction: (0..DIMENSIONS).map(|_| random.sign()).collect(),
        }));
    }
    sequences
}

/// Joins the first half of one text and the second half of another: many more contexts for the same words.
fn splices(texts: &[Vec<u32>], random: &mut Random) -> Vec<Vec<u32>> {
    let splice = |random: &mut Random| {
        let (head, tail) = (random.pick(texts), random.pick(texts));
        let mut ids = [&head[..head.len() / 2], &tail[tail.len() / 2..]].concat();
        ids.truncate(MAX_INNER);
        ids
    };
    (0..600).map(|_| splice(random)).collect()
}

/// Joins several texts, to measure late positions.
fn passages(texts: &[Vec<u32>], random: &mut Random) -> Vec<Vec<u32>> {
    let passage = |random: &mut Random| {
        let mut ids: Vec<u32> = (0..6).flat_map(|_| random.pick(texts).clone()).collect();
        ids.truncate(MAX_INNER);
        ids
    };
    (0..60).map(|_| passage(random)).collect()
}

/// Random words, random characters, repeated pairs, and single words.
fn nonsense(random: &mut Random) -> Vec<Vec<u32>> {
    let mut sequences = Vec::new();
    for _ in 0..350 {
        sequences.push(random.ids(ORDINARY, 1..30));
    }
    for _ in 0..100 {
        sequences.push(random.ids(CHARACTERS, 8..40));
    }
    for _ in 0..45 {
        let pair = random.ids(ORDINARY, 2..3);
        sequences.push(pair.repeat(random.below(4..128) as usize));
    }
    for _ in 0..100 {
        sequences.push(random.ids(ORDINARY, 1..2));
    }
    sequences
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, and the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in the range, with a bias below 2⁻³².
    fn below(&mut self, range: Range<u32>) -> u32 {
        let width = u64::from(range.end - range.start);
        range.start + (((self.next() >> 32) * width) >> 32) as u32
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(0..items.len() as u32) as usize]
    }

    fn ids(&mut self, tokens: Range<u32>, lengths: Range<u32>) -> Vec<u32> {
        (0..self.below(lengths)).map(|_| self.below(tokens.clone())).collect()
    }

    /// 1 or -1.
    fn sign(&mut self) -> f32 {
        if self.next() >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

#[test]
fn random_returns_the_numbers_of_splitmix64() {
    // The first numbers of the reference implementation for the seed 1234567.
    let mut random = Random::new(1_234_567);
    assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
}

#[test]
fn random_numbers_stay_in_their_range_and_reach_its_ends() {
    let mut random = Random::new(0);
    let mut seen = [0; 3];
    for _ in 0..100 {
        seen[(random.below(5..8) - 5) as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

#[test]
fn sentences_and_nonsense_weigh_their_shares() {
    let sequences = weigh(&[vec![1000; 5], vec![]], &[vec![2000]], &mut Random::new(1));
    assert_eq!(sequences.iter().map(|sequence| sequence.ids.len()).collect::<Vec<_>>(), [7, 2, 3]);
    assert_eq!(sequences[2].ids, [CLS, 2000, SEP]);
    assert!((3.0 * sequences[2].share - NONSENSE_SHARE).abs() < 1e-12);
    let total: f64 = sequences.iter().map(|sequence| sequence.share * sequence.ids.len() as f64).sum();
    assert!((total - 1.0).abs() < 1e-12);
}

#[test]
fn nonsense_consists_of_existing_tokens_and_fits_the_model() {
    let sequences = nonsense(&mut Random::new(1));
    assert!(sequences.iter().all(|ids| !ids.is_empty() && ids.len() <= MAX_INNER));
    assert!(sequences.iter().flatten().all(|id| ORDINARY.contains(id)));
}

#[test]
fn there_are_many_texts_and_none_is_empty() {
    let texts: Vec<_> = TEXTS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(texts.len() > 200 && texts.iter().all(|text| !text.trim().is_empty()));
}
