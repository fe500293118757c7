//! Decodes the bytes of a text file.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::ExtractError;

/// Bytes from which the encoding is guessed; enough for any language.
const MAX_GUESS_BYTES: usize = 1024 * 1024;

/// The text without byte order mark, its lines ended by line feeds, and a note about its encoding for the administrator. `declared` is the encoding that the
/// file declares; a byte order mark and valid UTF-8 take precedence.
pub(crate) fn decode(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
) -> Result<(String, Option<String>), ExtractError> {
    let (encoding, is_guessed) = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => (encoding, false),
        None if bytes.contains(&0) => return Err(ExtractError::Binary),
        None if is_mostly_utf8(bytes) => (UTF_8, false),
        None => declared
            .filter(|encoding| *encoding != UTF_8)
            .map_or_else(|| (guess(bytes), true), |d| (d, false)),
    };
    let (text, _, has_errors) = encoding.decode(bytes);
    if text.contains('\0') {
        return Err(ExtractError::Binary);
    }
    let name =
        encoding.name().to_ascii_lowercase().replace("utf-16le", "UTF-16").replace("utf-16be", "UTF-16");
    let note = match (encoding == UTF_8, is_guessed, has_errors) {
        (true, _, true) => Some("has bytes that are not UTF-8, shown as \u{fffd}".to_owned()),
        (false, _, true) => Some(format!("read as {name}, with characters that could not be decoded")),
        (false, true, false) => Some(format!("read as {name}")),
        _ => None,
    };
    Ok((text.replace("\r\n", "\n").replace('\r', "\n"), note))
}

/// Valid, or with so few errors that any other encoding would damage more.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut characters, mut errors) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        errors += usize::from(!chunk.invalid().is_empty());
    }
    errors == 0 || characters > 4 * errors
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes.get(..MAX_GUESS_BYTES).unwrap_or(bytes), bytes.len() <= MAX_GUESS_BYTES);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    if encoding == UTF_8 { WINDOWS_1252 } else { encoding }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        ['\u{feff}']
            .into_iter()
            .chain(text.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(to_bytes)
            .collect()
    }

    fn text(bytes: &[u8]) -> (String, Option<String>) {
        decode(bytes, None).unwrap()
    }

    #[test]
    fn unicode_is_decoded_without_its_byte_order_mark() {
        for bytes in [
            "Größe".into(),
            "\u{feff}Größe".into(),
            utf16("Größe", u16::to_le_bytes),
            utf16("Größe", u16::to_be_bytes),
        ] {
            assert_eq!(text(&bytes), ("Größe".to_owned(), None), "{bytes:?}");
        }
    }

    #[test]
    fn other_encodings_are_guessed_and_named() {
        let (latin, _, _) = WINDOWS_1252.encode("Für Rückgaben gilt: 30 Tage, ohne Gebühr.");
        let (read, note) = text(&latin);
        assert_eq!(read, "Für Rückgaben gilt: 30 Tage, ohne Gebühr.");
        assert_eq!(note.as_deref(), Some("read as windows-1252"));
        let (japanese, _, _) =
            encoding_rs::SHIFT_JIS.encode("返品は三十日以内にお願いします。ありがとうございます。");
        assert_eq!(text(&japanese).1.as_deref(), Some("read as shift_jis"));
    }

    #[test]
    fn a_declared_encoding_is_used_unless_the_text_is_utf8() {
        let declared = Encoding::for_label(b"iso-8859-2");
        assert_eq!(decode(b"\xe8\xe9", declared).unwrap(), ("čé".to_owned(), None));
        assert_eq!(decode("čé".as_bytes(), declared).unwrap().0, "čé");
    }

    #[test]
    fn one_invalid_byte_does_not_affect_the_rest() {
        let (read, note) = text(b"Gr\xc3\xb6\xc3\x9fe \xc3\xa4\xc3\xb6\xc3\xbc \xff");
        assert_eq!(read, "Größe äöü \u{fffd}");
        assert!(note.unwrap().contains("not UTF-8"));
        let (read, note) = text(&[&utf16("ok", u16::to_le_bytes)[..], &[0, 0xd8]].concat());
        assert_eq!((read.as_str(), note.is_some()), ("ok\u{fffd}", true));
    }

    #[test]
    fn text_with_zero_bytes_is_refused() {
        assert_eq!(decode(b"a\0b", None).unwrap_err(), ExtractError::Binary);
        assert_eq!(decode(&utf16("a\0b", u16::to_le_bytes), None).unwrap_err(), ExtractError::Binary);
    }

    #[test]
    fn carriage_returns_become_line_feeds() {
        assert_eq!(text(b"a\rb\r\nc\r\rd\r").0, "a\nb\nc\n\nd\n");
    }
}
