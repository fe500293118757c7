//! General questions that few knowledge bases answer: about the world, the household, technology, health and law, and small
//! talk. Each language has the same questions.

/// The questions by language, as in `kb_chunks.language`.
const BANK: [(&str, &str); 7] = [
    ("dutch", include_str!("questions/dutch.txt")),
    ("english", include_str!("questions/english.txt")),
    ("french", include_str!("questions/french.txt")),
    ("german", include_str!("questions/german.txt")),
    ("italian", include_str!("questions/italian.txt")),
    ("portuguese", include_str!("questions/portuguese.txt")),
    ("spanish", include_str!("questions/spanish.txt")),
];

/// The questions in a language.
pub(super) fn questions(language: &str) -> Option<Vec<String>> {
    let (_, lines) = BANK.iter().find(|(name, _)| *name == language)?;
    Some(lines.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_language_has_80_different_questions() {
        for (language, _) in BANK {
            let questions = questions(language).unwrap();
            assert_eq!(questions.len(), 80, "{language}");
            assert_eq!(questions.iter().collect::<HashSet<_>>().len(), 80, "{language}");
            for question in questions {
                let is_one_sentence = question.trim() == question && question.ends_with(['?', '.']);
                assert!(is_one_sentence && question.chars().count() < 100, "{language}: {question}");
            }
        }
    }

    #[test]
    fn an_unknown_language_has_no_questions() {
        assert_eq!(questions("simple"), None);
        assert_eq!(questions("English"), None);
    }
}
