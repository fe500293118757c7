//! Sentences that refer to the sentence before them.

/// English words that refer back when they begin a sentence.
const POINTERS: &[&str] = &[
    "accordingly",
    "both",
    "consequently",
    "he",
    "hence",
    "her",
    "his",
    "it",
    "its",
    "otherwise",
    "she",
    "such",
    "that",
    "their",
    "then",
    "therefore",
    "these",
    "they",
    "this",
    "those",
    "thus",
];

/// Whether an English sentence begins with a word that refers to the previous sentence.
pub(super) fn refers_to_previous(sentence: &str) -> bool {
    let word = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    POINTERS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_for_binary_search() {
        assert!(POINTERS.is_sorted());
    }

    #[test]
    fn pronouns_and_conclusions_refer_back() {
        for sentence in ["It is free.", "**They** cost 5 euros.", "Therefore, call us.", "It's open."] {
            assert!(refers_to_previous(sentence), "{sentence}");
        }
        for sentence in ["Items are free.", "", "…", "Italy is far.", "We ship it."] {
            assert!(!refers_to_previous(sentence), "{sentence}");
        }
    }
}
