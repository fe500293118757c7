//! Words distributed by Zipf's law, and sentences made of them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// English words, the most frequent first, as in the model's vocabulary. Each is one token, as are nearly all words of real
/// text.
pub(super) struct Words {
    words: Vec<String>,
    /// Sums of 1/rank up to each word.
    cumulative: Vec<f64>,
}

#[derive(Deserialize)]
struct Tokenizer {
    model: Vocabulary,
}

#[derive(Deserialize)]
struct Vocabulary {
    vocab: HashMap<String, u32>,
}

impl Words {
    pub(super) fn from_vocabulary(tokenizer: &Path) -> Result<Self> {
        let text = fs::read_to_string(tokenizer).with_context(|| {
            format!("cannot read {}; `cargo xtask setup model` fetches it", tokenizer.display())
        })?;
        let tokenizer: Tokenizer = serde_json::from_str(&text)?;
        let is_word = |token: &str| token.len() > 1 && token.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut ranked: Vec<_> =
            tokenizer.model.vocab.into_iter().filter(|(token, _)| is_word(token)).collect();
        ranked.sort_by_key(|(_, id)| *id);
        let words: Vec<String> = ranked.into_iter().map(|(word, _)| word).collect();
        let mut total = 0.0;
        let weights = (1..=words.len()).map(|rank| 1.0 / rank as f64);
        let cumulative = weights
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        Ok(Self { words, cumulative })
    }

    pub(super) fn word(&self, random: &mut Random) -> &str {
        let total = self.cumulative.last().copied().unwrap_or_default();
        let drawn = random.share() * total;
        &self.words[self.cumulative.partition_point(|sum| *sum <= drawn).min(self.words.len() - 1)]
    }

    /// Between 12 and 38 words, as in an encyclopaedia.
    pub(super) fn sentence(&self, random: &mut Random) -> String {
        let count = random.between(12, 38);
        let mut sentence = capitalised(self.word(random));
        for _ in 1..count {
            sentence.push_str(if random.between(1, 12) == 1 { ", " } else { " " });
            match random.between(1, 40) {
                1 => sentence.push_str(&random.between(2, 3000).to_string()),
                _ => sentence.push_str(self.word(random)),
            }
        }
        sentence + "."
    }

    /// Sentences with at least this many words in total.
    pub(super) fn paragraph(&self, random: &mut Random, words: usize) -> String {
        let mut sentences = Vec::new();
        let mut count = 0;
        while count < words {
            let sentence = self.sentence(random);
            count += sentence.split(' ').count();
            sentences.push(sentence);
        }
        sentences.join(" ")
    }

    /// A few words, the first one capitalised.
    pub(super) fn phrase(&self, random: &mut Random, words: usize) -> String {
        let words: Vec<_> = (0..words).map(|_| self.word(random)).collect();
        capitalised(&words.join(" "))
    }
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    first.to_uppercase() + rest
}

/// SplitMix64: small and reproducible on every platform.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number from `min` to `max`, inclusive.
    pub(super) fn between(&mut self, min: usize, max: usize) -> usize {
        min + (self.next() % (max - min + 1) as u64) as usize
    }

    /// A number from 0, inclusive, to 1, exclusive.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number that is distributed normally, with mean 0 and deviation 1: the sum of twelve shares less six, from -6 to 6.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
