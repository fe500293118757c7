//! Says the same as a sentence with slightly other words, as a good model does.

/// Words with the same meaning in nearly every sentence. The verifier has no such list.
const SYNONYMS: &[(&str, &str)] = &[
    ("also", "additionally"),
    ("approximately", "about"),
    ("assist", "help"),
    ("begin", "start"),
    ("began", "started"),
    ("buy", "purchase"),
    ("called", "named"),
    ("children", "kids"),
    ("choose", "pick"),
    ("contains", "includes"),
    ("get", "receive"),
    ("often", "frequently"),
    ("however", "though"),
    ("illness", "sickness"),
    ("important", "essential"),
    ("large", "big"),
    ("located", "situated"),
    ("obtain", "get"),
    ("provide", "supply"),
    ("require", "need"),
    ("send", "mail"),
    ("usually", "normally"),
    ("while", "whereas"),
];

/// Each rephrasing of the sentence, with its kind. `next` is the sentence after it.
pub(super) fn rephrasings(sentence: &str, next: Option<&str>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut add = |kind, text: String| {
        if text != sentence {
            found.push((kind, text));
        }
    };
    add(
        "contraction",
        sentence.replace(" do not ", " don't ").replace(" is not ", " isn't ").replace(" cannot ", " can't "),
    );
    add("opening", format!("According to the source, {}", lower_first(sentence)));
    add(
        "digits",
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
            .iter()
            .zip(2..)
            .fold(sentence.to_owned(), |text, (word, number)| {
                text.replace(&format!(" {word} "), &format!(" {number} "))
            }),
    );
    if let (Some(open), Some(close)) = (sentence.find(" ("), sentence.find(')'))
        && open < close
    {
        add("without_aside", format!("{}{}", &sentence[..open], &sentence[close + 1..]));
    }
    if let Some(next) = next {
        add("joined", format!("{}, and {}", sentence.trim_end_matches('.'), lower_first(next)));
    }
    // "In 1990, it opened." becomes "It opened in 1990."
    if let Some((phrase, rest)) = sentence.split_once(", ")
        && phrase.split(' ').count() <= 4
        && ["In ", "On ", "At ", "During ", "After ", "For "].iter().any(|word| phrase.starts_with(word))
        && !rest.contains(", ")
    {
        let mut letters = rest.trim_end_matches('.').chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        add("moved", format!("{first}{} {}.", letters.as_str(), lower_first(phrase)));
    }
    for (word, other) in SYNONYMS {
        if sentence.contains(&format!(" {word} ")) {
            add("synonym", sentence.replacen(&format!(" {word} "), &format!(" {other} "), 1));
            break;
        }
    }
    found
}

/// Only a function word loses its capital letter; others may be names.
fn lower_first(sentence: &str) -> String {
    const FUNCTION_WORDS: [&str; 22] = [
        "The", "A", "An", "It", "This", "These", "You", "If", "We", "They", "In", "On", "At", "For",
        "During", "After", "There", "Your", "He", "She", "When", "All",
    ];
    let first = sentence.split(' ').next().unwrap_or_default();
    if FUNCTION_WORDS.contains(&first) {
        first.to_lowercase() + &sentence[first.len()..]
    } else {
        sentence.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rephrasings_say_the_same() {
        let found = rephrasings("In 1990, you could not get five cars (or more).", None);
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert!(texts.contains(&"You could not get five cars (or more) in 1990."), "{texts:?}");
        assert!(texts.contains(&"In 1990, you could not get 5 cars (or more)."), "{texts:?}");
        assert!(texts.contains(&"In 1990, you could not get five cars."), "{texts:?}");
        assert!(texts.contains(&"In 1990, you could not receive five cars (or more)."), "{texts:?}");
    }
}
