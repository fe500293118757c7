//! Remembers the stems of words. Stemming takes most of the time of an answer, and the passages of a knowledge base share their
//! words.

use std::cell::RefCell;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// Words that are remembered, at most 64 characters each. If there are more, all are forgotten.
const MAX_WORDS: usize = 4096;

thread_local! {
    static STEMS: RefCell<HashMap<String, Box<str>>> = RefCell::default();
}

/// The English stem of a word in lower case.
pub(crate) fn stem(word: &str) -> String {
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return stem.as_ref().to_owned();
        }
        let stem = Stemmer::create(Algorithm::English).stem(word).into_owned();
        if stems.len() >= MAX_WORDS {
            stems.clear();
        }
        stems.insert(word.to_owned(), stem.as_str().into());
        stem
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_stem_is_the_same_and_the_memory_is_bounded() {
        let stemmer = Stemmer::create(Algorithm::English);
        for _ in 0..2 {
            for number in 0..MAX_WORDS + 10 {
                let word = format!("refunds{number}ing");
                assert_eq!(stem(&word), stemmer.stem(&word));
                assert_eq!(stem("refunded"), "refund");
            }
        }
        assert!(STEMS.with_borrow(|stems| stems.len() <= MAX_WORDS));
    }
}
