//! The units of numbers.

/// The unit of a number, as an English word or a sign. A number of one unit contradicts a number of another: five days are
/// neither five weeks nor five euros.
pub(super) type Unit = &'static str;

const WORKING_DAY: Unit = "working day";

pub(super) fn unit_before(between: &str) -> Option<Unit> {
    between.trim_end().chars().next_back().and_then(currency)
}

fn currency(c: char) -> Option<Unit> {
    Some(match c {
        '€' => "€",
        '$' => "$",
        '£' => "£",
        '¥' => "¥",
        _ => return None,
    })
}

/// The unit after a number: its own letters, the next sign, or one of the next two words.
pub(super) fn unit_of(suffix: &str, after: &str) -> Option<Unit> {
    if let Some(unit) = letters_unit(suffix) {
        return Some(unit);
    }
    let rest = after.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
    let next = rest.chars().next()?;
    let sign = if next == '%' { Some("%") } else { currency(next) };
    if sign.is_some() {
        return sign;
    }
    // "Two million dollars", "five business days", "cinco días hábiles".
    let words: Vec<String> = rest.split([' ', '\u{a0}', '-']).take(2).map(letters).collect();
    let unit = words.iter().find_map(|word| letters_unit(word))?;
    let is_working_day = unit == "day" && words.iter().any(|word| is_working(word));
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
    Some(match word {
        "percent" | "prozent" | "pourcent" => "%",
        "euro" | "euros" | "eur" => "€",
        "dollar" | "dollars" | "usd" => "$",
        "pound" | "pounds" | "gbp" => "£",
        "yen" => "¥",
        "seconds" | "sekunden" => "second",
        "minute" | "minutes" | "min" | "mins" | "minuten" => "minute",
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "heures" | "horas" => "hour",
        "day" | "days" | "tag" | "tage" | "tagen" | "jours" | "días" => "day",
        "werktag" | "werktage" | "werktagen" | "arbeitstag" | "arbeitstage" | "arbeitstagen" => WORKING_DAY,
        "week" | "weeks" | "woche" | "wochen" | "semaines" | "semanas" => "week",
        "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "meses" => "month",
        "year" | "years" | "jahr" | "jahre" | "jahren" | "ans" | "años" => "year",
        "mm" | "millimetres" | "millimeters" => "mm",
        "cm" | "centimetres" | "centimeters" => "cm",
        "metre" | "metres" | "meter" | "meters" => "m",
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => "km",
        "mile" | "miles" => "mile",
        "foot" | "feet" | "ft" => "foot",
        "inch" | "inches" => "inch",
        "kg" | "kilogram" | "kilograms" | "kilo" | "kilos" => "kg",
        "g" | "gram" | "grams" | "gramm" => "g",
        "tonne" | "tonnes" | "ton" | "tons" => "t",
        _ => return None,
    })
}
