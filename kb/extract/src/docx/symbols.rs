//! Characters of symbol fonts, whose codes have other meanings in Unicode.

/// The characters of Symbol from code 0x20 on. A space stands for a code without a character.
const SYMBOL: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// From code 0xA0 on.
const SYMBOL_UPPER: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑";
/// Codes and characters of Wingdings.
const WINGDINGS: [(u32, char); 60] = [
    (0x22, '✂'),
    (0x28, '☎'),
    (0x29, '✆'),
    (0x2a, '✉'),
    (0x36, '⌛'),
    (0x45, '☜'),
    (0x46, '☞'),
    (0x47, '☝'),
    (0x48, '☟'),
    (0x4a, '☺'),
    (0x4c, '☹'),
    (0x52, '☼'),
    (0x54, '❄'),
    (0x6c, '●'),
    (0x6d, '❍'),
    (0x6e, '■'),
    (0x6f, '□'),
    (0x71, '❑'),
    (0x72, '❒'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0x80, '⓪'),
    (0x81, '①'),
    (0x82, '②'),
    (0x83, '③'),
    (0x84, '④'),
    (0x85, '⑤'),
    (0x86, '⑥'),
    (0x87, '⑦'),
    (0x88, '⑧'),
    (0x89, '⑨'),
    (0x8a, '⑩'),
    (0x8c, '❶'),
    (0x8d, '❷'),
    (0x8e, '❸'),
    (0x8f, '❹'),
    (0x90, '❺'),
    (0x91, '❻'),
    (0x92, '❼'),
    (0x93, '❽'),
    (0x94, '❾'),
    (0x95, '❿'),
    (0x9e, '·'),
    (0x9f, '•'),
    (0xa7, '▪'),
    (0xa8, '□'),
    (0xd8, '➢'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xe1, '↑'),
    (0xe2, '↓'),
    (0xe8, '➔'),
    (0xef, '⇦'),
    (0xf0, '⇨'),
    (0xf1, '⇧'),
    (0xf2, '⇩'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];
const WINGDINGS_2: [(u32, char); 8] =
    [(0x4f, '✗'), (0x50, '✓'), (0x51, '☒'), (0x52, '☑'), (0x53, '☒'), (0x54, '☒'), (0x97, '●'), (0xa3, '□')];
const WEBDINGS: [(u32, char); 4] = [(0x61, '✔'), (0x63, '□'), (0x67, '■'), (0x72, '✖')];

/// The character of a code in a font; `None` if it is not known.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    // Word writes the codes of symbol fonts in the private use area.
    let is_private = (0xe000..0xf900).contains(&code);
    let low = if (0xf000..0xf100).contains(&code) { code - 0xf000 } else { code };
    let find = |table: &[(u32, char)]| table.iter().find(|(found, _)| *found == low).map(|(_, c)| *c);
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
        "wingdings" if low < 0x100 => find(&WINGDINGS),
        "wingdings 2" if low < 0x100 => find(&WINGDINGS_2),
        "webdings" if low < 0x100 => find(&WEBDINGS),
        _ if is_private || is_symbol_font(font) => None,
        _ => char::from_u32(code).filter(|c| !c.is_control()),
    }
}

/// Whether a font has its own meanings of codes.
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
