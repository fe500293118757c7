//! A sample of a text, by which the database finds documents with mostly the same words.

use std::collections::{BTreeSet, VecDeque};

use sha2::{Digest, Sha256};

/// Neighbouring words that are hashed together, so that different texts about the same have few in common.
const WORDS: usize = 4;

/// Hashes kept: the smallest of all, which are the same selection in every text.
const HASHES: usize = 64;

/// The smallest hashes of the text's words, and one of all of them, which only the same text has.
pub(super) fn sketch(text: &str) -> Vec<i64> {
    let (mut whole, mut smallest) = (Sha256::new(), BTreeSet::new());
    let mut last = VecDeque::with_capacity(WORDS);
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = format!("{} ", word.to_lowercase());
        whole.update(&word);
        if last.len() == WORDS {
            last.pop_front();
        }
        last.push_back(word);
        if last.len() == WORDS {
            smallest.insert(number(last.iter().fold(Sha256::new(), Sha256::chain_update)));
        }
        if smallest.len() > HASHES {
            smallest.pop_last();
        }
    }
    smallest.into_iter().chain([number(whole)]).collect()
}

/// 48 bits, which every reader of JSON keeps.
fn number(hash: Sha256) -> i64 {
    hash.finalize().iter().take(6).fold(0, |number, byte| (number << 8) | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the database counts it.
    fn share(text: &str, of: &str) -> f64 {
        let (own, other) = (sketch(text), sketch(of));
        own.iter().filter(|hash| other.contains(hash)).count() as f64 / own.len() as f64
    }

    fn numbered(lines: std::ops::Range<usize>) -> String {
        lines.map(|at| format!("Line {at} of the contract says {}.\n", at * 7919)).collect()
    }

    #[test]
    fn a_copy_has_the_same_sketch_whatever_its_layout_and_one_with_a_correction_nearly() {
        let text = numbered(0..100);
        assert_eq!(share(&text.to_uppercase().replace(' ', "\r\n\t"), &text), 1.0);
        let corrected = share(&text.replace("Line 5 ", "Paragraph 5 "), &text);
        assert!((0.8..1.0).contains(&corrected), "{corrected}");
        assert!(share(&numbered(200..300), &text) < 0.5);
        assert_eq!(share("Two words", "two WORDS!"), 1.0);
        assert_eq!(share("Two words", "Two other words"), 0.0);
    }

    #[test]
    fn a_sketch_is_small_and_exact_in_json() {
        let sketch = sketch(&numbered(0..10_000));
        assert!(sketch.len() == HASHES + 1 && sketch.iter().all(|hash| (0..1 << 48).contains(hash)));
    }
}
