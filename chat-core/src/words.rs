//! The informative words of a text, brought to a common form so that they can be compared.

use unicode_segmentation::UnicodeSegmentation;

/// Words that say nothing about the subject of an English question.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "each",
    "else", "every", "few", "for", "from", "get", "give", "got", "had", "has", "have", "having", "he", "her",
    "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "know", "let", "like",
    "many", "may", "me", "might", "more", "most", "much", "must", "my", "no", "not", "of", "on", "one",
    "only", "or", "other", "our", "out", "please", "shall", "she", "should", "show", "so", "some", "such",
    "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "too", "us", "very", "want", "was", "we", "were", "what", "when", "where", "whether", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Whether a word, in any case, carries no subject.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// The informative words of a text: case-folded, without stop words, stemmed. Each as often as it occurs.
pub(crate) fn informative_words(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words().filter_map(|word| {
        let folded = word.to_lowercase().replace('’', "'");
        let base = folded.split('\'').next().unwrap_or_default();
        (!base.is_empty() && !is_stop_word(base)).then(|| stem(base))
    })
}

/// Removes common English endings. It only has to send the forms of one word to the same place; the result need
/// not be a word. Words outside ASCII letters stay as they are.
fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return word.to_owned();
    }
    let mut stem = without_plural(word);
    for (ending, shortest_stem) in [("ation", 4), ("ment", 3), ("ing", 3), ("ed", 3), ("ly", 4)] {
        if let Some(base) = stem.strip_suffix(ending)
            && base.len() >= shortest_stem
            && base.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            stem.truncate(base.len());
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    // cancelled, cancellation → cancell → cancel; the same for every word, so that both sides agree.
    let mut tail = stem.bytes().rev();
    if stem.len() > 3 && tail.next() == tail.next() {
        stem.pop();
    }
    stem
}

fn without_plural(word: &str) -> String {
    if let Some(base) = word.strip_suffix("ies")
        && base.len() >= 2
    {
        return format!("{base}y");
    }
    if let Some(base) = word.strip_suffix("es")
        && ["s", "x", "z", "ch", "sh"].iter().any(|ending| base.ends_with(ending))
    {
        return base.to_owned();
    }
    match word.strip_suffix('s') {
        Some(base) if base.len() >= 3 && !base.ends_with(['s', 'u', 'i']) => base.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        informative_words(text).collect()
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("The") && !is_stop_word("refund"));
    }

    #[test]
    fn only_the_subject_of_a_question_is_left() {
        assert_eq!(words("How do I request a refund?"), ["request", "refund"]);
        assert_eq!(words("What’s the customer's deadline? Don't know"), ["customer", "deadlin"]);
        assert!(words("What is it?").is_empty());
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["refund", "refunds", "refunded", "refunding", "REFUND", "refund's"][..],
            &["cancel", "cancels", "cancelled", "canceling", "cancellation"],
            &["policy", "policies"],
            &["change", "changes", "changed", "changing"],
            &["ship", "ships", "shipped", "shipping", "shipment"],
            &["box", "boxes"],
            &["sell", "selling"],
            &["pay", "payment", "payments", "paying"],
        ] {
            let stems: Vec<_> = forms.iter().flat_map(|form| informative_words(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn other_scripts_and_numbers_stay_whole() {
        assert_eq!(words("Größe 3.5 Straße"), ["größe", "3.5", "straße"]);
        assert_eq!(words("возврат денег"), ["возврат", "денег"]);
    }
}
