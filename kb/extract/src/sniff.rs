//! Detects the format of a file by its first bytes.

use super::{ExtractError, Format};

/// Bytes that are searched for binary content.
const HEAD_BYTES: usize = 8192;
/// Offset up to which PDF readers accept other bytes before the header.
const PDF_HEADER_BYTES: usize = 1024;
/// Compound files: Word before 2007, and encrypted documents of later versions.
const OLE_MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Refuses bytes of another known format than `format`.
pub(crate) fn check(bytes: &[u8], format: Format) -> Result<(), ExtractError> {
    match format {
        Format::Pdf if head(bytes, PDF_HEADER_BYTES).windows(5).any(|window| window == b"%PDF-") => Ok(()),
        Format::Docx if bytes.starts_with(b"PK\x03\x04") => Ok(()),
        Format::Docx if is_encrypted_document(bytes) => Err(ExtractError::Encrypted),
        Format::Pdf | Format::Docx => Err(not_that(bytes, format)),
        _ if looks_binary(bytes) => match known(bytes) {
            Some(found) if found != name(format) => Err(wrong(found, format)),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The name of a format with its article.
pub(crate) fn name(format: Format) -> &'static str {
    match format {
        Format::Markdown => "Markdown",
        Format::PlainText => "plain text",
        Format::Html => "a web page",
        Format::Pdf => "a PDF",
        Format::Docx => "a Word document (.docx)",
        Format::Csv => "a CSV file",
    }
}

fn not_that(bytes: &[u8], format: Format) -> ExtractError {
    let reason = if format == Format::Pdf { "it has no PDF header" } else { "it is no ZIP archive" };
    match known(bytes) {
        Some(found) => wrong(found, format),
        None => ExtractError::UnknownFormat { expected: name(format).to_owned(), reason: reason.to_owned() },
    }
}

fn wrong(found: String, format: Format) -> ExtractError {
    ExtractError::WrongFormat { found, expected: name(format).to_owned() }
}

fn looks_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte);
    let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    [&b"%PDF-"[..], b"{\\rtf", OLE_MAGIC].iter().any(|magic| bytes.starts_with(magic))
        || (!is_utf16 && head(bytes, HEAD_BYTES).iter().any(is_control))
}

fn known(bytes: &[u8]) -> Option<String> {
    if bytes.starts_with(OLE_MAGIC) {
        return Some("an old Office document (such as .doc)".to_owned());
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some("an RTF document".to_owned());
    }
    let found = infer::get(head(bytes, HEAD_BYTES))?;
    let name = match (found.matcher_type(), found.extension()) {
        (_, "pdf") => "a PDF".to_owned(),
        (_, "docx") => name(Format::Docx).to_owned(),
        (_, "zip") => "a ZIP archive".to_owned(),
        (infer::MatcherType::Text, "html") => name(Format::Html).to_owned(),
        (infer::MatcherType::Text, _) => return None,
        (infer::MatcherType::Image, extension) => format!("{} image", with_article(extension)),
        (infer::MatcherType::Video, extension) => format!("{} video", with_article(extension)),
        (infer::MatcherType::Audio, extension) => format!("{} sound file", with_article(extension)),
        (infer::MatcherType::Archive, extension) => format!("{} archive", with_article(extension)),
        (_, extension) => format!("{} file", with_article(extension)),
    };
    Some(name)
}

/// "a PNG", "an MP4".
fn with_article(extension: &str) -> String {
    let name = extension.to_ascii_uppercase();
    let article = if name.starts_with(['A', 'E', 'F', 'H', 'I', 'L', 'M', 'N', 'O', 'R', 'S', 'X']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

fn is_encrypted_document(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.starts_with(OLE_MAGIC) && bytes.windows(name.len()).any(|window| window == name)
}

fn head(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8], format: Format) -> Option<String> {
        check(bytes, format).err().map(|error| error.to_string())
    }

    #[test]
    fn a_file_with_the_wrong_extension_is_reported_with_its_format() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        assert_eq!(
            message(png, Format::Pdf).unwrap(),
            "is a PNG image, not a PDF; rename it if its name is wrong"
        );
        assert!(
            message(b"%PDF-1.7\n1 0 obj", Format::Markdown).unwrap().starts_with("is a PDF, not Markdown")
        );
        assert!(
            message(b"PK\x03\x04\0\0\0\0", Format::PlainText)
                .unwrap()
                .starts_with("is a ZIP archive, not plain")
        );
        assert_eq!(message(b"hello", Format::Pdf).unwrap(), "is not a PDF: it has no PDF header");
        assert!(message(b"{\\rtf1 hello}", Format::Docx).unwrap().starts_with("is an RTF document"));
    }

    #[test]
    fn unsupported_office_files_are_refused_with_the_reason() {
        let old = [OLE_MAGIC, &[0; 600]].concat();
        assert!(message(&old, Format::Docx).unwrap().starts_with("is an old Office document"));
        let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(check(&[&old, &name[..]].concat(), Format::Docx).unwrap_err(), ExtractError::Encrypted);
    }

    #[test]
    fn text_that_starts_like_another_format_is_accepted() {
        for text in
            ["BM is short for …", "BZh", "#!/bin/sh", "<!DOCTYPE html>", "GIF89a", "\u{feff}PK", "II*", ""]
        {
            assert_eq!(message(text.as_bytes(), Format::Markdown), None, "{text}");
        }
        assert_eq!(message(b"%junk\n%PDF-1.4\n", Format::Pdf), None);
    }
}
