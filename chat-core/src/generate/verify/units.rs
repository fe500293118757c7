//! The units of numbers.

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    Currency(&'static str),
    Time(&'static str),
    Length(&'static str),
    Weight(&'static str),
}

const WORKING_DAY: Unit = Unit::Time("working day");

impl Unit {
    /// Whether a number of one is not that of the other: five days are neither five weeks nor five euros.
    pub(super) fn contradicts(self, other: Self) -> bool {
        self != other
    }
}

pub(super) fn unit_before(between: &str) -> Option<Unit> {
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
pub(super) fn unit_of(suffix: &str, after: &str) -> Option<Unit> {
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
    // "Two million dollars", "five business days", "cinco días hábiles".
    let words: Vec<String> = rest.split([' ', '\u{a0}', '-']).take(2).map(letters).collect();
    let unit = words.iter().find_map(|word| letters_unit(word))?;
    let is_working_day = unit == Unit::Time("day") && words.iter().any(|word| is_working(word));
    Some(if is_working_day { WORKING_DAY } else { unit })
}

/// The first letters of a text, in lower case.
fn letters(text: &str) -> String {
    let letters: String = text.chars().take_while(|c| c.is_alphabetic()).take(12).collect();
    letters.to_lowercase()
}

/// Whether a day so described leaves out weekends.
fn is_working(word: &str) -> bool {
    matches!(word, "business" | "working" | "ouvrables" | "ouvrés" | "laborables" | "hábiles")
}

pub(super) fn letters_unit(word: &str) -> Option<Unit> {
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
        "werktag" | "werktage" | "werktagen" | "arbeitstag" | "arbeitstage" | "arbeitstagen" => WORKING_DAY,
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
