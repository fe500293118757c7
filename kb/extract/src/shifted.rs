//! Raised and lowered text on one line: a superscript must not join the number before it.
//!
//! Digits and signs become the superscripts and subscripts of Unicode (10⁶, H₂O), ordinals are joined (1st), and other text is
//! set apart with a space.

/// Deeper parts are only set apart, so that the time does not grow with the depth.
const MAX_DEPTH: usize = 16;

/// Characters with a raised and a lowered form.
const PLAIN: &str = "0123456789+-−–‐=()ni";
const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁻⁼⁽⁾ⁿⁱ";
const SUBSCRIPTS: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₋₌₍₎ₙᵢ";
/// Signs between the numbers of several footnotes, or inside a number. They have no raised form and stay as they are.
const SEPARATORS: [char; 5] = [',', '.', ';', '/', ' '];

/// Raised ends of ordinals in English and French.
const ORDINALS: [&str; 14] =
    ["st", "nd", "rd", "th", "e", "er", "re", "ère", "ers", "res", "ème", "eme", "de", "nde"];

/// How a part of a line is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    Raised,
    Lowered,
    /// The exponent or upper limit in a formula.
    Exponent,
    /// The index or lower limit in a formula.
    Index,
}

/// Builds a line, in which parts are set off from each other where a reader of the page sees them apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    text: String,
    /// The open parts, and where each begins.
    open: Vec<(Shift, usize)>,
    /// True if the next word must be set apart.
    is_apart: bool,
}

impl Line {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn push(&mut self, text: &str) {
        let Some(first) = text.chars().next() else { return };
        if std::mem::take(&mut self.is_apart) && is_space_needed(&self.text, first) {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    /// Separates the text before and after, if white space or punctuation does not.
    pub(crate) fn apart(&mut self) {
        self.is_apart = true;
    }

    /// Writes something that stands in place of text, such as the name of a picture.
    pub(crate) fn push_apart(&mut self, text: &str) {
        self.apart();
        self.push(text);
        self.apart();
    }

    /// Ends the line; white space before is dropped.
    pub(crate) fn line_break(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.is_apart = false;
        self.text.push('\n');
    }

    pub(crate) fn open(&mut self, shift: Shift) {
        if self.open.len() >= MAX_DEPTH {
            self.apart();
        }
        self.open.push((shift, self.text.len()));
    }

    /// Closes the part that was opened last.
    pub(crate) fn close(&mut self) {
        let Some((shift, start)) = self.open.pop() else { return };
        if self.open.len() >= MAX_DEPTH {
            return self.apart();
        }
        let start = start.min(self.text.len());
        let inner = self.text.get(start..).unwrap_or_default().to_owned();
        let part = inner.trim();
        if part.is_empty() {
            return;
        }
        self.text.truncate(start);
        if inner.starts_with(char::is_whitespace) {
            self.space();
        }
        match shifted(&self.text, part, shift) {
            Shifted::Joined { replaced, text } => {
                self.text.truncate(self.text.len().saturating_sub(replaced));
                self.text.push_str(&text);
            }
            Shifted::Apart => self.push_apart(part),
        }
        if inner.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    /// Sets the following text in this way, for formats that do not nest.
    pub(crate) fn set(&mut self, shift: Option<Shift>) {
        let current = self.open.last().map(|(current, _)| *current);
        if current == shift {
            return;
        }
        if current.is_some() {
            self.close();
        }
        if let Some(shift) = shift {
            self.open(shift);
        }
    }

    pub(crate) fn take(&mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.is_apart = false;
        std::mem::take(&mut self.text)
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }
}

/// The digit that a raised one stands for.
pub(crate) fn raised_digit(raised: char) -> Option<char> {
    let mut digits = PLAIN.chars().zip(SUPERSCRIPTS.chars()).take(10);
    digits.find(|(_, form)| *form == raised).map(|(digit, _)| digit)
}

pub(crate) fn is_raised(c: char) -> bool {
    raised_digit(c).is_some()
}

/// How a part is written behind the text before it.
#[derive(Debug, PartialEq, Eq)]
enum Shifted {
    /// Without space, in place of the last bytes before it.
    Joined { replaced: usize, text: String },
    /// As it is, with a space on each side.
    Apart,
}

fn shifted(before: &str, part: &str, shift: Shift) -> Shifted {
    let joined = |text: String| Shifted::Joined { replaced: 0, text };
    let (forms, sign) = match shift {
        Shift::Raised => (SUPERSCRIPTS, ""),
        Shift::Lowered => (SUBSCRIPTS, ""),
        Shift::Exponent => (SUPERSCRIPTS, "^"),
        Shift::Index => (SUBSCRIPTS, "_"),
    };
    if let Some(fraction) = fraction(before, part, shift) {
        return fraction;
    }
    if let Some(text) = in_forms(part, forms) {
        return joined(text);
    }
    // A mark such as * or ® changes no word and no number.
    if !part.contains(char::is_alphanumeric) {
        return joined(part.to_owned());
    }
    if !sign.is_empty() {
        return joined(format!("{sign}{}", grouped(part)));
    }
    match ordinal(before, part).filter(|_| shift == Shift::Raised) {
        Some(text) => joined(text),
        None => Shifted::Apart,
    }
}

/// The part in the forms of Unicode, if each of its characters has one.
fn in_forms(part: &str, forms: &str) -> Option<String> {
    let form = |c: char| {
        let found = PLAIN.chars().zip(forms.chars()).find(|(plain, _)| *plain == c).map(|(_, form)| form);
        found.or_else(|| SEPARATORS.contains(&c).then_some(c))
    };
    let has_form = part.contains(|c: char| !SEPARATORS.contains(&c));
    part.chars().map(form).collect::<Option<String>>().filter(|_| has_form)
}

/// A raised and a lowered number with a stroke between them, as 1/2: as superscripts, 2¹/₂ would be read as a power of 2.
fn fraction(before: &str, part: &str, shift: Shift) -> Option<Shifted> {
    if shift != Shift::Lowered || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let raised = before.strip_suffix(['/', '⁄'])?;
    let whole = raised.trim_end_matches(is_raised);
    let numerator: String = raised.get(whole.len()..)?.chars().filter_map(raised_digit).collect();
    if numerator.is_empty() || whole.ends_with(char::is_alphabetic) {
        return None;
    }
    let space = if whole.ends_with(char::is_numeric) { " " } else { "" };
    Some(Shifted::Joined { replaced: before.len() - whole.len(), text: format!("{space}{numerator}/{part}") })
}

/// The raised end of an ordinal (1st, XIXe, Nº) or a trade mark.
fn ordinal(before: &str, part: &str) -> Option<String> {
    let before = before.strip_suffix('.').unwrap_or(before);
    let start = before.trim_end_matches(char::is_alphanumeric).len();
    let base = before.get(start..)?;
    let is_number = !base.is_empty()
        && (base.bytes().all(|byte| byte.is_ascii_digit()) || base.chars().all(|c| "IVXLC".contains(c)));
    match part.to_lowercase().as_str() {
        "tm" => Some("™".to_owned()),
        "sm" => Some("℠".to_owned()),
        "o" | "º" if is_number || base.eq_ignore_ascii_case("n") => Some("º".to_owned()),
        "a" | "ª" if is_number => Some("ª".to_owned()),
        end if is_number && ORDINALS.contains(&end) => Some(part.to_owned()),
        _ => None,
    }
}

/// In brackets, unless it is one number or word.
fn grouped(part: &str) -> String {
    let is_one =
        part.chars().all(char::is_alphabetic) || part.chars().all(|c| c.is_numeric() || ".,".contains(c));
    if is_one { part.to_owned() } else { format!("({part})") }
}

fn is_space_needed(before: &str, next: char) -> bool {
    let is_open = |c: char| c.is_whitespace() || "([{«“„‘¿¡".contains(c);
    !before.is_empty()
        && !before.ends_with(is_open)
        && !next.is_whitespace()
        && !".,;:!?…)]}»”’%".contains(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(before: &str, shift: Shift, part: &str, after: &str) -> String {
        let mut line = Line::default();
        line.push(before);
        line.open(shift);
        line.push(part);
        line.close();
        line.push(after);
        line.take()
    }

    #[test]
    fn digits_and_signs_become_superscripts_and_subscripts() {
        for (before, shift, part, after, expected) in [
            ("10", Shift::Raised, "6", " rows", "10⁶ rows"),
            ("10", Shift::Raised, "−6", "", "10⁻⁶"),
            ("5", Shift::Raised, "1", " GB", "5¹ GB"),
            ("5", Shift::Raised, "1, 2", " GB", "5¹, ² GB"),
            ("x", Shift::Raised, "n+1", "", "xⁿ⁺¹"),
            ("H", Shift::Lowered, "2", "O", "H₂O"),
            ("", Shift::Raised, "13", "C", "¹³C"),
            ("m", Shift::Raised, " 2 ", "a", "m ² a"),
        ] {
            assert_eq!(line(before, shift, part, after), expected);
        }
    }

    #[test]
    fn other_text_is_set_apart() {
        for (before, shift, part, after, expected) in [
            ("5", Shift::Raised, "a2", "0 GB", "5 a2 0 GB"),
            ("x", Shift::Lowered, "max", "=5", "x max =5"),
            ("free", Shift::Raised, "[1]", ".", "free [1]."),
            ("(", Shift::Raised, "new", ")", "(new)"),
            ("free", Shift::Raised, "*", "", "free*"),
            ("Acme", Shift::Raised, "®", " tools", "Acme® tools"),
            ("Acme", Shift::Raised, "TM", "", "Acme™"),
            ("5", Shift::Raised, "", "6", "56"),
        ] {
            assert_eq!(line(before, shift, part, after), expected);
        }
    }

    #[test]
    fn ordinals_are_joined() {
        for (before, part, expected) in [
            ("the 1", "st", "the 1st"),
            ("22", "ND", "22ND"),
            ("le 2", "e", "le 2e"),
            ("XIX", "e", "XIXe"),
            ("1.", "a", "1.ª"),
            ("N", "o", "Nº"),
            ("word", "st", "word st"),
            ("2", "k", "2 k"),
        ] {
            assert_eq!(line(before, Shift::Raised, part, ""), expected);
        }
        assert_eq!(line("1", Shift::Lowered, "st", ""), "1 st");
    }

    #[test]
    fn fractions_are_no_powers() {
        let fraction = |whole: &str, stroke: &str| {
            let mut line = Line::default();
            line.push(whole);
            line.set(Some(Shift::Raised));
            line.push("1");
            line.push("2");
            line.set(None);
            line.push(stroke);
            line.set(Some(Shift::Lowered));
            line.push("25");
            line.take()
        };
        assert_eq!(fraction("2", "/"), "2 12/25");
        assert_eq!(fraction("", "⁄"), "12/25");
        assert_eq!(fraction("Take ", "/"), "Take 12/25");
        assert_eq!(fraction("x", "/"), "x¹²/₂₅");
    }

    #[test]
    fn parts_of_parts_do_not_join() {
        let mut line = Line::default();
        line.push("2");
        line.open(Shift::Raised);
        line.push("2");
        line.open(Shift::Raised);
        line.push("3");
        line.close();
        line.close();
        line.push("4");
        assert_eq!(line.take(), "2 2³ 4");
        for _ in 0..100_000 {
            line.open(Shift::Raised);
            line.push("1");
        }
        assert!(line.take().starts_with("1 1"));
    }

    #[test]
    fn formulas_keep_their_meaning() {
        assert_eq!(line("x", Shift::Exponent, "2", ""), "x²");
        assert_eq!(line("2", Shift::Exponent, "k", ""), "2^k");
        assert_eq!(line("2", Shift::Exponent, "2k", ""), "2^(2k)");
        assert_eq!(line("a", Shift::Index, "max", ""), "a_max");
    }
}
