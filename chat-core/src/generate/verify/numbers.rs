//! Numbers and months in the form in which they are compared.

use super::units::letters_unit;

/// Digits of a number that is compared by value; a longer one is an identifier.
const MAX_DIGITS: usize = 15;

/// A number in digits with letters that belong to it.
pub(super) struct Numeral<'a> {
    /// In the form in which it is compared.
    pub(super) value: String,
    /// The letters after it, such as "kg".
    pub(super) suffix: &'a str,
}

impl<'a> Numeral<'a> {
    pub(super) fn read(base: &'a str) -> Option<Self> {
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
pub(super) fn scaled(value: String, after: &str) -> String {
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
pub(super) fn number_word(base: &str) -> Option<(u32, bool)> {
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

/// The name of the month in a date such as 2018-05-02, for its second number.
pub(super) fn iso_month(before: &str, number: &str, after: &str) -> Option<&'static str> {
    let mut year = before.strip_suffix('-')?.chars().rev();
    let has_year = year.by_ref().take(4).filter(char::is_ascii_digit).count() == 4;
    let mut day = after.strip_prefix('-')?.chars();
    let has_day = day.next().is_some_and(|c| c.is_ascii_digit());
    let month: usize = number.parse().ok().filter(|_| has_year && has_day && number.len() == 2)?;
    MONTHS.get(month.checked_sub(1)?).copied()
}

/// The full name of a month, also from its first letters. May and March are words as well.
pub(super) fn month(base: &str) -> Option<&'static str> {
    let is_it = |month: &&str| month.starts_with(base) && !matches!(*month, "march" | "may");
    MONTHS.into_iter().find(is_it).filter(|_| base.len() >= 3)
}
