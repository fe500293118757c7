//! Changes a sentence so that its source no longer supports it.

use super::documents::Passage;
use super::random::Random;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number is another one.
    Number,
    /// A name is another one, of the same document if it has one.
    Name,
    /// "Not" is inserted or removed.
    Negation,
    /// Two names or two numbers of the sentence change places.
    Swap,
    /// A word is one that means the opposite.
    Antonym,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Number, Self::Name, Self::Negation, Self::Swap, Self::Antonym];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Name => "name",
            Self::Negation => "negation",
            Self::Swap => "swap",
            Self::Antonym => "antonym",
        }
    }

    /// `None` if the sentence has nothing of the kind.
    pub(super) fn apply(
        self,
        sentence: &str,
        passage: &Passage,
        others: &[&Passage],
        random: &mut Random,
    ) -> Option<String> {
        let words = Words::new(sentence);
        let changed = match self {
            Self::Number => number(&words, passage, random),
            Self::Name => name(&words, passage, others, random),
            Self::Negation => negation(&words, random),
            Self::Swap => swap(&words, random),
            Self::Antonym => antonym(&words, random),
        }?;
        (changed != sentence && !passage.sentences.contains(&changed)).then_some(changed)
    }
}

/// The words of a sentence, each between the punctuation around it.
struct Words<'t> {
    /// Punctuation before, the word, punctuation after.
    parts: Vec<(&'t str, &'t str, &'t str)>,
}

impl<'t> Words<'t> {
    fn new(sentence: &'t str) -> Self {
        let parts = sentence.split(' ').map(|word| {
            let is_word = |c: char| c.is_alphanumeric();
            let start = word.find(is_word).unwrap_or(word.len());
            let end = word
                .rfind(is_word)
                .map_or(start, |at| at + word[at..].chars().next().map_or(0, char::len_utf8));
            (&word[..start], &word[start..end], &word[end..])
        });
        Self { parts: parts.collect() }
    }

    fn word(&self, at: usize) -> &'t str {
        self.parts[at].1
    }

    /// The sentence with other words at some places.
    fn with(&self, changes: &[(usize, &str)]) -> String {
        let words = self.parts.iter().enumerate().map(|(at, (before, word, after))| {
            let word = changes.iter().find(|(place, _)| *place == at).map_or(*word, |(_, word)| word);
            format!("{before}{word}{after}")
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn places(&self, is_one: impl Fn(&str) -> bool) -> Vec<usize> {
        (0..self.parts.len()).filter(|at| is_one(self.word(*at))).collect()
    }

    /// Capitalised words inside the sentence.
    fn names(&self) -> Vec<usize> {
        let places = self.places(is_name).into_iter();
        places.filter(|at| *at > 0 && !self.parts[*at - 1].2.contains(['.', ':', '!', '?'])).collect()
    }
}

const NUMBER_WORDS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

fn is_number(word: &str) -> bool {
    NUMBER_WORDS.contains(&word)
        || (word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.')))
}

/// Words with a capital letter that name nothing.
const TITLES: [&str; 6] = ["The", "This", "However", "There", "These", "They"];

fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && word.len() >= 4
        && letters.all(|c| c.is_lowercase())
        && !TITLES.contains(&word)
}

fn numbers_of(passage: &Passage) -> Vec<&str> {
    let words = passage.sentences.iter().flat_map(|sentence| Words::new(sentence).parts);
    words.map(|(_, word, _)| word).filter(|word| is_number(word)).collect()
}

fn number(words: &Words<'_>, passage: &Passage, random: &mut Random) -> Option<String> {
    let at = *random.choose(&words.places(is_number))?;
    let old = words.word(at);
    if let Some(place) = NUMBER_WORDS.iter().position(|word| *word == old) {
        let new = (place + 1 + random.below(NUMBER_WORDS.len() - 1)) % NUMBER_WORDS.len();
        return Some(words.with(&[(at, NUMBER_WORDS[new])]));
    }
    // Every other time a number that the passage has in another place, which is harder to notice.
    let inside: Vec<_> = words.places(is_number).into_iter().map(|at| words.word(at)).collect();
    let elsewhere: Vec<_> = numbers_of(passage)
        .into_iter()
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()) && !inside.contains(number))
        .collect();
    if random.below(2) == 0
        && let Some(other) = random.choose(&elsewhere)
    {
        return Some(words.with(&[(at, *other)]));
    }
    let digits: Vec<_> = old.char_indices().filter(|(_, c)| c.is_ascii_digit()).collect();
    let (place, digit) = *random.choose(&digits)?;
    let old_digit = digit.to_digit(10)?;
    let new = (1 + (old_digit + random.below(8) as u32) % 9).to_string();
    let new = if new == digit.to_string() { if new == "1" { "2" } else { "1" }.to_owned() } else { new };
    let mut changed = old.to_owned();
    changed.replace_range(place..place + 1, &new);
    Some(words.with(&[(at, changed.as_str())]))
}

fn names_of(passage: &Passage) -> Vec<&str> {
    let sentences = passage.sentences.iter().map(|sentence| Words::new(sentence));
    sentences
        .flat_map(|words| words.names().into_iter().map(|at| words.word(at)).collect::<Vec<_>>())
        .collect()
}

fn name(words: &Words<'_>, passage: &Passage, others: &[&Passage], random: &mut Random) -> Option<String> {
    let at = *random.choose(&words.names())?;
    let is_other = |name: &&str| words.parts.iter().all(|(_, word, _)| word != name);
    let mut names: Vec<_> = names_of(passage).into_iter().filter(is_other).collect();
    if names.is_empty() || random.below(2) == 0 {
        names = others.iter().flat_map(|passage| names_of(passage)).filter(is_other).collect();
    }
    Some(words.with(&[(at, *random.choose(&names)?)]))
}

const AUXILIARIES: [&str; 17] = [
    "is", "are", "was", "were", "can", "will", "must", "may", "should", "has", "have", "had", "does", "did",
    "would", "could", "might",
];

fn negation(words: &Words<'_>, random: &mut Random) -> Option<String> {
    let nots = words.places(|word| word == "not");
    if let Some(at) = random.choose(&nots) {
        let mut rest = Words { parts: words.parts.clone() };
        rest.parts.remove(*at);
        return Some(rest.with(&[]));
    }
    if let Some(at) = words.places(|word| word == "cannot").first() {
        return Some(words.with(&[(*at, "can")]));
    }
    let verbs = words.places(|word| AUXILIARIES.contains(&word));
    let at = *verbs.first()?;
    let negated = format!("{} not", words.word(at));
    Some(words.with(&[(at, negated.as_str())]))
}

/// Words between two names that may change places without another meaning.
const JOINS: [&str; 10] = ["and", "or", "the", "of", "a", "an", "in", "between", "&", "as"];

fn swap(words: &Words<'_>, random: &mut Random) -> Option<String> {
    let mut pairs = Vec::new();
    for places in [words.names(), words.places(is_number)] {
        for pair in places.windows(2) {
            let between = pair[0] + 1..pair[1];
            let says_something = between.clone().any(|at| {
                words.word(at).starts_with(|c: char| c.is_lowercase()) && !JOINS.contains(&words.word(at))
            });
            if words.word(pair[0]) != words.word(pair[1]) && says_something {
                pairs.push((pair[0], pair[1]));
            }
        }
    }
    let (a, b) = *random.choose(&pairs)?;
    Some(words.with(&[(a, words.word(b)), (b, words.word(a))]))
}

/// Written for the most frequent words of the documents, independently of the list that the verifier has.
const ANTONYMS: &[(&str, &str)] = &[
    ("able", "unable"),
    ("above", "below"),
    ("accepted", "refused"),
    ("active", "dormant"),
    ("after", "before"),
    ("agree", "disagree"),
    ("allow", "forbid"),
    ("allowed", "banned"),
    ("allows", "prevents"),
    ("always", "never"),
    ("approved", "rejected"),
    ("available", "unavailable"),
    ("avoid", "cause"),
    ("bad", "good"),
    ("before", "after"),
    ("best", "worst"),
    ("buy", "sell"),
    ("clean", "contaminated"),
    ("closed", "open"),
    ("common", "unusual"),
    ("complete", "incomplete"),
    ("continue", "cease"),
    ("correct", "mistaken"),
    ("decrease", "increase"),
    ("different", "identical"),
    ("difficult", "easy"),
    ("direct", "indirect"),
    ("early", "late"),
    ("effective", "ineffective"),
    ("eligible", "ineligible"),
    ("employed", "jobless"),
    ("fair", "unjust"),
    ("first", "last"),
    ("free", "chargeable"),
    ("full", "partial"),
    ("good", "bad"),
    ("greater", "smaller"),
    ("high", "low"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("immune", "susceptible"),
    ("important", "unimportant"),
    ("included", "omitted"),
    ("includes", "excludes"),
    ("increase", "reduction"),
    ("increased", "decreased"),
    ("independent", "dependent"),
    ("inside", "outside"),
    ("internal", "external"),
    ("known", "unknown"),
    ("large", "tiny"),
    ("larger", "smaller"),
    ("largest", "smallest"),
    ("late", "early"),
    ("later", "earlier"),
    ("legal", "unlawful"),
    ("less", "more"),
    ("limited", "unlimited"),
    ("living", "deceased"),
    ("long", "brief"),
    ("lost", "won"),
    ("low", "high"),
    ("lower", "higher"),
    ("main", "secondary"),
    ("major", "negligible"),
    ("maximum", "minimum"),
    ("minimum", "maximum"),
    ("modern", "ancient"),
    ("more", "less"),
    ("most", "least"),
    ("natural", "artificial"),
    ("necessary", "unnecessary"),
    ("new", "old"),
    ("next", "previous"),
    ("normal", "abnormal"),
    ("old", "new"),
    ("older", "younger"),
    ("open", "closed"),
    ("outside", "inside"),
    ("permanent", "temporary"),
    ("positive", "negative"),
    ("possible", "impossible"),
    ("private", "public"),
    ("protect", "endanger"),
    ("public", "private"),
    ("reasonable", "unreasonable"),
    ("reduce", "increase"),
    ("reduced", "raised"),
    ("regular", "occasional"),
    ("rejected", "approved"),
    ("right", "wrong"),
    ("safe", "dangerous"),
    ("same", "opposite"),
    ("serious", "harmless"),
    ("severe", "mild"),
    ("short", "long"),
    ("similar", "dissimilar"),
    ("simple", "complicated"),
    ("small", "large"),
    ("smaller", "bigger"),
    ("start", "end"),
    ("started", "ended"),
    ("strong", "weak"),
    ("successful", "unsuccessful"),
    ("support", "opposition"),
    ("top", "bottom"),
    ("true", "false"),
    ("unused", "used"),
    ("valid", "expired"),
    ("well", "badly"),
    ("within", "after"),
    ("without", "with"),
    ("wrong", "right"),
];

fn antonym(words: &Words<'_>, random: &mut Random) -> Option<String> {
    let opposite = |at: usize| {
        ANTONYMS.iter().find(|(word, _)| *word == words.word(at)).map(|(_, opposite)| (at, *opposite))
    };
    let places: Vec<_> = (0..words.parts.len()).filter_map(opposite).collect();
    random.choose(&places).map(|change| words.with(&[*change]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_changes_what_it_names() {
        let text = "The Rhine is a major river of Germany, and 5 bridges were built after 1900. It has 9 ports near Basel.";
        let passage = Passage::new("Rhine", text);
        let sentence = passage.sentences[0].clone();
        let mut random = Random::new(1);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for kind in Kind::ALL {
            for _ in 0..20 {
                let changed = kind.apply(&sentence, &passage, &[&passage], &mut random).unwrap();
                let differences =
                    words(&sentence).iter().zip(words(&changed)).filter(|(a, b)| *a != b).count();
                match kind {
                    Kind::Negation => assert_eq!(changed.matches(" not ").count(), 1, "{changed}"),
                    Kind::Swap => assert_eq!(differences, 2, "{changed}"),
                    _ => assert_eq!(differences, 1, "{kind:?}: {changed}"),
                }
            }
        }
    }

    #[test]
    fn a_sentence_without_the_kind_is_not_changed() {
        let passage = Passage::new("", "We like trees here very much.");
        let mut random = Random::new(1);
        for kind in Kind::ALL {
            assert_eq!(
                kind.apply("We like trees here very much.", &passage, &[], &mut random),
                None,
                "{kind:?}"
            );
        }
    }
}
