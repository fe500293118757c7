//! General questions that few knowledge bases answer: on the world, the household, technology, health and law, and small
//! talk, the same ones in each language.

/// By the names of `kb_chunks.language`.
const BANK: [(&str, &str); 7] = [
    ("dutch", include_str!("questions/dutch.txt")),
    ("english", include_str!("questions/english.txt")),
    ("french", include_str!("questions/french.txt")),
    ("german", include_str!("questions/german.txt")),
    ("italian", include_str!("questions/italian.txt")),
    ("portuguese", include_str!("questions/portuguese.txt")),
    ("spanish", include_str!("questions/spanish.txt")),
];

/// The questions in a language; `None` if there are none.
pub(super) fn questions(language: &str) -> Option<Vec<String>> {
    let (_, lines) = BANK.iter().find(|(name, _)| *name == language)?;
    Some(lines.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_language_has_the_same_number_of_questions_and_none_twice() {
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
    fn a_language_without_questions_has_none() {
        assert_eq!(questions("simple"), None);
        assert_eq!(questions("English"), None);
    }
}
