//! Characters of symbol fonts, whose codes have other meanings in Unicode.

/// The characters of Symbol from code 0x20 on. A space stands for a code without a character.
const SYMBOL: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// From code 0xA0 on.
const SYMBOL_UPPER: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑";
/// Codes of Wingdings, each with its character.
const WINGDINGS: &str = "\"✂(☎)✆*✉6⌛E☜F☞G☝H☟J☺L☹R☼T❄l●m❍n■o□q❑r❒u◆v❖\u{80}⓪\u{81}①\u{82}②\u{83}③\u{84}④\u{85}⑤\u{86}⑥\
    \u{87}⑦\u{88}⑧\u{89}⑨\u{8a}⑩\u{8c}❶\u{8d}❷\u{8e}❸\u{8f}❹\u{90}❺\u{91}❻\u{92}❼\u{93}❽\u{94}❾\
    \u{95}❿\u{9e}·\u{9f}•\u{a7}▪\u{a8}□\u{d8}➢\u{df}←\u{e0}→\u{e1}↑\u{e2}↓\u{e8}➔\u{ef}⇦\u{f0}⇨\
    \u{f1}⇧\u{f2}⇩\u{fb}✗\u{fc}✓\u{fd}☒\u{fe}☑";
const WINGDINGS_2: &str = "O✗P✓Q☒R☑S☒T☒\u{97}●\u{a3}□";
const WEBDINGS: &str = "a✔c□g■r✖";

/// The character of a code in a font; `None` if it is not known.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    // Word writes the codes of symbol fonts in the private use area.
    let is_private = (0xe000..0xf900).contains(&code);
    let low = if (0xf000..0xf100).contains(&code) { code - 0xf000 } else { code };
    let find = |table: &str| {
        let mut codes = table.chars().step_by(2).zip(table.chars().skip(1).step_by(2));
        codes.find(|(code, _)| u32::from(*code) == low).map(|(_, c)| c)
    };
    match font.to_ascii_lowercase().as_str() {
        "symbol" if low < 0x100 => {
            let at = |table: &str, start: u32| table.chars().nth(low.checked_sub(start)? as usize);
            let found = at(SYMBOL_UPPER, 0xa0).or_else(|| match low {
                0xf1 => Some('⟩'),
                0xf2 => Some('∫'),
                _ => at(SYMBOL, 0x20),
            });
            found.filter(|c| *c != ' ' || low == 0x20)
        }
        "wingdings" if low < 0x100 => find(WINGDINGS),
        "wingdings 2" if low < 0x100 => find(WINGDINGS_2),
        "webdings" if low < 0x100 => find(WEBDINGS),
        _ if is_private || is_symbol_font(font) => None,
        _ => char::from_u32(code).filter(|c| !c.is_control()),
    }
}

/// Returns whether a font has its own meanings of codes.
pub(super) fn is_symbol_font(font: &str) -> bool {
    let font = font.to_ascii_lowercase();
    font == "symbol" || font.starts_with("wingdings") || font == "webdings"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_symbol_fonts_have_their_characters() {
        for (font, code, expected) in [
            ("Symbol", 0xf0a3, '≤'),
            ("Symbol", 0xf0b3, '≥'),
            ("Symbol", 0xb1, '±'),
            ("Symbol", 0xf0b4, '×'),
            ("Symbol", 0xf0ae, '→'),
            ("Symbol", 0xf0ac, '←'),
            ("Symbol", 0xf0b7, '•'),
            ("Symbol", 0xf061, 'α'),
            ("Symbol", 0xf057, 'Ω'),
            ("Symbol", 0xf07e, '∼'),
            ("Symbol", 0xf0e5, '∑'),
            ("Symbol", 0xf0de, '⇒'),
            ("Wingdings", 0xf0fc, '✓'),
            ("Wingdings", 0xf0e0, '→'),
            ("Segoe UI Symbol", 0x2713, '✓'),
        ] {
            assert_eq!(character(font, code), Some(expected), "{font} {code:x}");
        }
        for (font, code) in
            [("Symbol", 0xf0ff), ("Wingdings", 0xf021), ("Unknown", 0xf041), ("Arial", 7), ("Arial", 0xd800)]
        {
            assert_eq!(character(font, code), None, "{font} {code:x}");
        }
    }
}
