//! Parses decimal numbers without `str::parse`, whose tables would add 15 kB to the compressed Worker.

/// Parses a number such as `0.5`, `.5`, `1` or `1e-1`. Other forms of JSON numbers are accepted too.
pub fn parse_decimal(text: &str) -> Option<f64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.starts_with('.') {
        return serde_json::from_str(&format!("0{text}")).ok();
    }
    serde_json::from_str(text.strip_suffix('.').unwrap_or(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_parsed_like_rust_parses_them() {
        for text in ["0", "1", "0.35", "0.1", "0.7", ".5", "1.", "+0.5", "-0.1", "1e-1", "0.123456789", "7"] {
            assert_eq!(parse_decimal(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", ".", "+", "NaN", "inf", "high", "0,5", "0x1", " 1 2", "\"1\"", "null", "[1]"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
    }
}
