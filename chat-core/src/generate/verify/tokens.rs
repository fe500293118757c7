//! Reads a text into tokens that can be compared: words by stem, numbers by value, names by their capital letter.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::words::{is_german, is_stop_word, normalized_word};

/// Tokens of one sentence that are read. A sentence has a few dozen; what is longer is a listing.
const MAX_TOKENS: usize = 512;
/// Digits of a number that is compared by value; a longer one is an identifier.
const MAX_DIGITS: usize = 15;

/// The words of the sources, each under a number.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    ids: BTreeMap<String, u32>,
    entries: Vec<Entry>,
}

/// A word in the form in which it is compared.
#[derive(Debug)]
struct Entry {
    /// Lower case, without accents.
    base: String,
    /// The id of its stem.
    stem: u32,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function word.
    Function,
    Word,
    /// A word with a capital letter where only names have one. `is_generic`: it is the part of a name that tells what is named,
    /// as "University"; a writer may add it.
    Name {
        is_generic: bool,
    },
    /// Digits, or a word for a number. `is_exact`: it surely counts something ("one" and "second" may not).
    Number {
        is_exact: bool,
    },
}

/// A word of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// The word in the [`Lexicon`].
    pub(super) word: u32,
    /// Its stem in the [`Lexicon`]; equal stems match.
    pub(super) stem: u32,
    pub(super) kind: Kind,
    /// The unit of a number.
    pub(super) unit: Option<Unit>,
    /// Whether it begins with a capital letter.
    pub(super) is_capital: bool,
    /// Whether it has nothing but capital letters, as "UN".
    pub(super) is_acronym: bool,
    /// Whether a full stop, a semicolon or a colon stands before it.
    pub(super) begins_clause: bool,
    /// Whether a comma stands before it.
    pub(super) follows_comma: bool,
}

impl Token {
    pub(super) fn is_content(&self) -> bool {
        self.kind != Kind::Function
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number { .. })
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    Currency(&'static str),
    Time(&'static str),
    Length(&'static str),
    Weight(&'static str),
}

impl Unit {
    /// Whether both measure the same, in different units: five days are not five weeks.
    pub(super) fn contradicts(self, other: Self) -> bool {
        use Unit::{Currency, Length, Time, Weight};
        match (self, other) {
            (Currency(a), Currency(b))
            | (Time(a), Time(b))
            | (Length(a), Length(b))
            | (Weight(a), Weight(b)) => a != b,
            (Unit::Percent, Currency(_)) | (Currency(_), Unit::Percent) => true,
            _ => false,
        }
    }
}

impl Lexicon {
    fn id(&mut self, word: &str) -> u32 {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let id = self.entries.len() as u32;
        self.ids.insert(word.to_owned(), id);
        self.entries.push(Entry { base: word.to_owned(), stem: id });
        id
    }

    fn word(&mut self, base: &str, stem: &str) -> (u32, u32) {
        let stem = self.id(stem);
        let word = self.id(base);
        if let Some(entry) = self.entries.get_mut(word as usize) {
            entry.stem = stem;
        }
        (word, stem)
    }

    /// The word in lower case without accents.
    pub(super) fn base(&self, word: u32) -> &str {
        self.entries.get(word as usize).map_or("", |entry| entry.base.as_str())
    }

    /// The stem of a word that was read before.
    pub(super) fn stem_of(&self, base: &str) -> Option<u32> {
        let id = self.ids.get(base)?;
        self.entries.get(*id as usize).map(|entry| entry.stem)
    }

    /// Reads a text.
    pub(super) fn read(&mut self, text: &str) -> Vec<Token> {
        let is_german = is_german(text);
        let mut tokens: Vec<Token> = Vec::new();
        let mut last_end = 0;
        // The first word and those after a full stop or an opening quotation mark have a capital letter anyway.
        let mut may_begin_sentence = true;
        let mut year: Option<String> = None;
        for (start, raw) in text.unicode_word_indices() {
            if tokens.len() >= MAX_TOKENS {
                break;
            }
            let between = text.get(last_end..start).unwrap_or_default();
            last_end = start + raw.len();
            let after = text.get(last_end..).unwrap_or_default();
            let begins_clause = between.contains(['.', ';', ':', '!', '?', '\n', '(', ')']);
            // The full stop after an initial ends no sentence.
            let is_initial = || tokens.last().is_some_and(|token| self.base(token.word).chars().count() == 1);
            may_begin_sentence |=
                between.contains(['!', '?', '\n', ':']) || (between.contains('.') && !is_initial());
            let is_capital = raw.chars().next().is_some_and(char::is_uppercase);
            let word = normalized_word(raw);
            let follows_comma = between.contains(',');
            let token = |(word, stem): (u32, u32), kind: Kind, unit: Option<Unit>| Token {
                word,
                stem,
                kind,
                unit,
                is_capital,
                is_acronym: is_acronym(raw),
                begins_clause,
                follows_comma,
            };
            let could_begin_sentence = std::mem::take(&mut may_begin_sentence);
            if let Some(number) = Numeral::read(&word.base) {
                let value = match (year.take(), number.value.len()) {
                    // 2018–19
                    (Some(year), 2)
                        if matches!(between, "-" | "–" | "—" | "/") && number.suffix.is_empty() =>
                    {
                        format!("{}{}", year.get(..2).unwrap_or_default(), number.value)
                    }
                    _ => number.value,
                };
                year = (value.len() == 4 && number.suffix.is_empty()).then(|| value.clone());
                let key = format!("#{}", scaled(value, after));
                let unit = unit_before(between).or_else(|| unit_of(number.suffix, after));
                tokens.push(token(self.word(&key, &key), Kind::Number { is_exact: true }, unit));
                if let Some(month) = iso_month(text.get(..start).unwrap_or_default(), raw, after) {
                    tokens
                        .push(Token { is_capital: true, ..token(self.word(month, month), Kind::Word, None) });
                }
                continue;
            }
            year = None;
            if let Some((value, is_exact)) = number_word(&word.base) {
                let unit = unit_of("", after);
                let tens = tokens
                    .last()
                    .and_then(|last| self.base(last.word).strip_prefix('#')?.parse::<u32>().ok());
                match (tens, tokens.last_mut()) {
                    // Twenty-five.
                    (Some(tens @ 20..=90), Some(last)) if between == "-" && tens % 10 == 0 && value < 10 => {
                        let key = format!("#{}", tens + value);
                        (last.word, last.stem) = self.word(&key, &key);
                        last.unit = unit;
                    }
                    _ => {
                        let key = format!("#{}", scaled(value.to_string(), after));
                        tokens.push(token(self.word(&key, &key), Kind::Number { is_exact }, unit));
                    }
                }
                continue;
            }
            if word.is_negated {
                // "Can't" is "can" and "not".
                if !word.base.is_empty() {
                    tokens.push(token(self.word(&word.base, &word.stem), Kind::Function, None));
                }
                tokens.push(Token {
                    begins_clause: false,
                    ..token(self.word("not", "not"), Kind::Function, None)
                });
                continue;
            }
            if word.base.is_empty() {
                continue;
            }
            if word.base.contains(|c: char| c.is_ascii_digit()) {
                // "B12", "mp3": it tells things apart as a number does.
                tokens.push(token(self.word(&word.base, &word.base), Kind::Number { is_exact: true }, None));
                continue;
            }
            if let Some(month) = month(&word.base).filter(|_| is_capital) {
                tokens.push(token(self.word(month, month), Kind::Name { is_generic: false }, None));
                continue;
            }
            let kind = if is_function_word(&word.base) && !is_acronym(raw) {
                Kind::Function
            } else if is_capital && !could_begin_sentence && !is_german {
                Kind::Name { is_generic: is_generic(&word.base) }
            } else {
                Kind::Word
            };
            tokens.push(token(self.word(&word.base, &word.stem), kind, None));
        }
        begin_with_names(&mut tokens);
        tokens
    }
}

/// The first word is a name if one follows it directly: "John Smith was …".
fn begin_with_names(tokens: &mut [Token]) {
    if let [first, second, ..] = tokens
        && first.kind == Kind::Word
        && first.is_capital
        && matches!(second.kind, Kind::Name { .. })
        && !second.begins_clause
        && !second.follows_comma
    {
        first.kind = Kind::Name { is_generic: true };
    }
}

/// Words that tell what a name names. Directions and numbers are not among them: they tell names apart.
fn is_generic(base: &str) -> bool {
    matches!(
        base,
        "academy"
            | "act"
            | "administration"
            | "agency"
            | "airport"
            | "album"
            | "army"
            | "arts"
            | "association"
            | "award"
            | "awards"
            | "bachelor"
            | "bank"
            | "base"
            | "battle"
            | "board"
            | "book"
            | "building"
            | "captain"
            | "center"
            | "centre"
            | "chairman"
            | "championship"
            | "church"
            | "city"
            | "club"
            | "college"
            | "commission"
            | "committee"
            | "company"
            | "conference"
            | "corporation"
            | "council"
            | "county"
            | "court"
            | "cup"
            | "day"
            | "department"
            | "director"
            | "district"
            | "division"
            | "doctor"
            | "dr"
            | "duke"
            | "earl"
            | "election"
            | "empire"
            | "family"
            | "festival"
            | "foundation"
            | "general"
            | "government"
            | "governor"
            | "group"
            | "high"
            | "hospital"
            | "hotel"
            | "house"
            | "institute"
            | "international"
            | "island"
            | "islands"
            | "journal"
            | "judge"
            | "king"
            | "kingdom"
            | "lady"
            | "lake"
            | "law"
            | "league"
            | "library"
            | "lieutenant"
            | "limited"
            | "lord"
            | "magazine"
            | "major"
            | "master"
            | "mayor"
            | "memorial"
            | "minister"
            | "ministry"
            | "mission"
            | "mount"
            | "mr"
            | "mrs"
            | "ms"
            | "museum"
            | "national"
            | "news"
            | "office"
            | "officer"
            | "order"
            | "palace"
            | "park"
            | "parliament"
            | "party"
            | "prefecture"
            | "president"
            | "presidential"
            | "prince"
            | "princess"
            | "prize"
            | "professor"
            | "program"
            | "programme"
            | "project"
            | "province"
            | "queen"
            | "record"
            | "records"
            | "republic"
            | "republican"
            | "river"
            | "road"
            | "royal"
            | "saint"
            | "school"
            | "season"
            | "secretary"
            | "senator"
            | "series"
            | "service"
            | "show"
            | "sir"
            | "society"
            | "square"
            | "st"
            | "state"
            | "states"
            | "station"
            | "street"
            | "studios"
            | "team"
            | "theater"
            | "theatre"
            | "tour"
            | "tournament"
            | "tower"
            | "town"
            | "tribute"
            | "university"
            | "village"
            | "war"
    )
}

/// "US" and "IT" are no function words.
fn is_acronym(raw: &str) -> bool {
    raw.len() > 1 && raw.chars().all(|c| c.is_uppercase() || c == '.')
}

fn is_function_word(base: &str) -> bool {
    is_stop_word(base)
        || matches!(
            base,
            "through"
                | "during"
                | "since"
                | "until"
                | "upon"
                | "within"
                | "over"
                | "under"
                | "both"
                | "either"
                | "neither"
                | "nor"
                | "never"
                | "none"
                | "without"
                | "cannot"
                | "nothing"
                | "nobody"
                | "always"
                | "however"
                | "therefore"
                | "although"
                | "though"
                | "unless"
                | "except"
                | "per"
                | "via"
                | "between"
                | "up"
                | "off"
                | "down"
                | "again"
                | "himself"
                | "herself"
                | "itself"
                | "themselves"
                | "yourself"
                | "own"
                | "same"
                | "hers"
                | "ours"
                | "yours"
                | "theirs"
                | "need"
                | "needs"
                | "among"
                | "across"
                | "against"
                | "yet"
                | "still"
                | "even"
                | "now"
                | "mine"
        )
}

/// A number in digits with letters that belong to it.
struct Numeral<'a> {
    /// In the form in which it is compared.
    value: String,
    /// The letters after it, such as "kg".
    suffix: &'a str,
}

impl<'a> Numeral<'a> {
    fn read(base: &'a str) -> Option<Self> {
        if !base.starts_with(|c: char| c.is_numeric()) {
            return None;
        }
        let end =
            base.find(|c: char| !(c.is_numeric() || matches!(c, ',' | '.' | '\''))).unwrap_or(base.len());
        let (digits, suffix) = base.split_at_checked(end)?;
        let is_suffix = matches!(suffix, "" | "st" | "nd" | "rd" | "th" | "k" | "m" | "bn" | "x")
            || letters_unit(suffix).is_some()
            || matches!(suffix, "am" | "pm" | "mb" | "gb" | "kb" | "ml" | "l" | "px" | "w" | "v");
        if suffix == "s" {
            // The 1990s are not 1990.
            return Some(Self { value: format!("{}s", value(digits)), suffix: "" });
        }
        is_suffix.then(|| Self { value: value(digits), suffix })
    }
}

/// One form for each way to write a number: 1,000 is 1000, 5.0 is 5, ٥ is 5.
fn value(digits: &str) -> String {
    let ascii: String = digits
        .chars()
        .map(|c| {
            c.to_digit(10)
                .or_else(|| decimal_digit(c))
                .and_then(|digit| char::from_digit(digit, 10))
                .unwrap_or(c)
        })
        .collect();
    let parts: Vec<&str> = ascii.split([',', '.', '\'']).collect();
    let is_grouped = parts.len() > 1
        && parts.iter().skip(1).all(|part| part.len() == 3)
        && parts.first().is_some_and(|first| (1..=3).contains(&first.len()) && !first.starts_with('0'));
    let (whole, fraction) = match parts.as_slice() {
        _ if is_grouped => (parts.concat(), ""),
        [whole, fraction] => ((*whole).to_owned(), fraction.trim_end_matches('0')),
        [groups @ .., fraction]
            if parts.len() > 2 && fraction.len() < 3 && groups.iter().skip(1).all(|part| part.len() == 3) =>
        {
            (groups.concat(), fraction.trim_end_matches('0'))
        }
        _ => return ascii,
    };
    if whole.len() > MAX_DIGITS {
        return ascii;
    }
    if !fraction.is_empty() {
        format!("{whole}.{fraction}")
    } else if whole.len() == 2 {
        whole.strip_prefix('0').unwrap_or(&whole).to_owned()
    } else {
        whole
    }
}

/// The digits of other scripts are in runs of ten.
fn decimal_digit(c: char) -> Option<u32> {
    const ZEROS: &[char] = &['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ff10}'];
    ZEROS.iter().find_map(|zero| (c as u32).checked_sub(*zero as u32).filter(|digit| *digit < 10))
}

/// A number before "thousand", "million" or "billion".
fn scaled(value: String, after: &str) -> String {
    let next: String = after
        .trim_start_matches([' ', '-', '\u{a0}'])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .take(12)
        .collect();
    let zeros = match next.to_lowercase().as_str() {
        "hundred" => 2,
        "thousand" | "tausend" | "mille" => 3,
        "million" | "millions" | "millionen" | "mio" | "millones" => 6,
        "billion" | "milliarde" | "milliarden" | "mrd" | "milliards" => 9,
        _ => return value,
    };
    let (whole, fraction) = value.split_once('.').unwrap_or((&value, ""));
    if fraction.len() > zeros || whole.len() + zeros > MAX_DIGITS {
        return value;
    }
    format!("{whole}{fraction}{}", "0".repeat(zeros - fraction.len()))
}

/// The value of a word for a number, and whether it surely is one.
fn number_word(base: &str) -> Option<(u32, bool)> {
    Some(match base {
        "one" | "first" | "eins" | "once" => (1, false),
        "second" => (2, false),
        "twice" => (2, true),
        "two" | "zwei" | "deux" | "dos" | "二" => (2, true),
        "three" | "third" | "drei" | "trois" | "tres" | "三" | "ثلاثة" | "ثلاث" => (3, true),
        "four" | "fourth" | "vier" | "quatre" | "cuatro" | "四" | "أربعة" | "أربع" => (4, true),
        "five" | "fifth" | "funf" | "cinq" | "cinco" | "五" | "خمسة" | "خمس" => (5, true),
        "six" | "sixth" | "sechs" | "seis" | "六" | "ستة" | "ست" => (6, true),
        "seven" | "seventh" | "sieben" | "sept" | "siete" | "七" | "سبعة" | "سبع" => (7, true),
        "eight" | "eighth" | "acht" | "huit" | "ocho" | "八" | "ثمانية" | "ثماني" => (8, true),
        "nine" | "ninth" | "neun" | "neuf" | "nueve" | "九" | "تسعة" | "تسع" => (9, true),
        "ten" | "tenth" | "zehn" | "dix" | "diez" | "十" | "عشرة" | "عشر" => (10, true),
        "eleven" | "eleventh" | "elf" | "onze" => (11, true),
        "twelve" | "twelfth" | "zwolf" | "douze" | "doce" => (12, true),
        "thirteen" | "thirteenth" | "dreizehn" => (13, true),
        "fourteen" | "fourteenth" | "vierzehn" => (14, true),
        "fifteen" | "fifteenth" | "funfzehn" => (15, true),
        "sixteen" | "sixteenth" | "sechzehn" => (16, true),
        "seventeen" | "seventeenth" | "siebzehn" => (17, true),
        "eighteen" | "eighteenth" | "achtzehn" => (18, true),
        "nineteen" | "nineteenth" | "neunzehn" => (19, true),
        "twenty" | "twentieth" | "zwanzig" | "vingt" | "veinte" => (20, true),
        "thirty" | "thirtieth" | "dreißig" | "trente" | "treinta" => (30, true),
        "forty" | "fortieth" | "vierzig" | "quarante" => (40, true),
        "fifty" | "fiftieth" | "funfzig" | "cinquante" => (50, true),
        "sixty" | "sixtieth" | "sechzig" | "soixante" => (60, true),
        "seventy" | "seventieth" | "siebzig" => (70, true),
        "eighty" | "eightieth" | "achtzig" => (80, true),
        "ninety" | "ninetieth" | "neunzig" => (90, true),
        "dozen" => (12, true),
        _ => return None,
    })
}

/// The name of the month in a date such as 2018-05-02, for its second number.
fn iso_month(before: &str, number: &str, after: &str) -> Option<&'static str> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let mut year = before.strip_suffix('-')?.chars().rev();
    let has_year = year.by_ref().take(4).filter(char::is_ascii_digit).count() == 4;
    let mut day = after.strip_prefix('-')?.chars();
    let has_day = day.next().is_some_and(|c| c.is_ascii_digit());
    let month: usize = number.parse().ok().filter(|_| has_year && has_day && number.len() == 2)?;
    MONTHS.get(month.checked_sub(1)?).copied()
}

/// The full name of a month. May and March are words as well.
fn month(base: &str) -> Option<&'static str> {
    Some(match base {
        "jan" | "january" => "january",
        "feb" | "february" => "february",
        "apr" | "april" => "april",
        "jun" | "june" => "june",
        "jul" | "july" => "july",
        "aug" | "august" => "august",
        "sep" | "sept" | "september" => "september",
        "oct" | "october" => "october",
        "nov" | "november" => "november",
        "dec" | "december" => "december",
        _ => return None,
    })
}

fn unit_before(between: &str) -> Option<Unit> {
    between.trim_end().chars().next_back().and_then(currency)
}

fn currency(c: char) -> Option<Unit> {
    Some(Unit::Currency(match c {
        '€' => "€",
        '$' => "$",
        '£' => "£",
        '¥' => "¥",
        _ => return None,
    }))
}

/// The unit after a number: its own letters, the next sign, or one of the next two words.
fn unit_of(suffix: &str, after: &str) -> Option<Unit> {
    if let Some(unit) = letters_unit(suffix) {
        return Some(unit);
    }
    let rest = after.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
    match rest.chars().next() {
        Some('%') => return Some(Unit::Percent),
        Some(sign) => {
            if let Some(unit) = currency(sign) {
                return Some(unit);
            }
        }
        None => return None,
    }
    // "Five business days", "two million dollars".
    let mut words = rest.split([' ', '\u{a0}', '-']).take(2);
    words.find_map(|word| {
        let word: String = word.chars().take_while(|c| c.is_alphabetic()).take(12).collect();
        letters_unit(&word.to_lowercase())
    })
}

fn letters_unit(word: &str) -> Option<Unit> {
    use Unit::{Currency, Length, Percent, Time, Weight};
    Some(match word {
        "percent" | "prozent" | "pourcent" => Percent,
        "euro" | "euros" | "eur" => Currency("€"),
        "dollar" | "dollars" | "usd" => Currency("$"),
        "pound" | "pounds" | "gbp" => Currency("£"),
        "yen" => Currency("¥"),
        "seconds" | "sekunden" => Time("second"),
        "minute" | "minutes" | "min" | "mins" | "minuten" => Time("minute"),
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "heures" | "horas" => Time("hour"),
        "day" | "days" | "tag" | "tage" | "tagen" | "jours" | "días" => Time("day"),
        "week" | "weeks" | "woche" | "wochen" | "semaines" | "semanas" => Time("week"),
        "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "meses" => Time("month"),
        "year" | "years" | "jahr" | "jahre" | "jahren" | "ans" | "años" => Time("year"),
        "mm" | "millimetres" | "millimeters" => Length("mm"),
        "cm" | "centimetres" | "centimeters" => Length("cm"),
        "metre" | "metres" | "meter" | "meters" => Length("m"),
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => Length("km"),
        "mile" | "miles" => Length("mile"),
        "foot" | "feet" | "ft" => Length("foot"),
        "inch" | "inches" => Length("inch"),
        "kg" | "kilogram" | "kilograms" | "kilo" | "kilos" => Weight("kg"),
        "g" | "gram" | "grams" | "gramm" => Weight("g"),
        "tonne" | "tonnes" | "ton" | "tons" => Weight("t"),
        _ => return None,
    })
}
