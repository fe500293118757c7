//! Text, structure and properties of a document, from the bytes of its file.
//!
//! [`extract`] returns the text, of which chunks are verbatim slices, the [`Section`]s along which it is split, and the
//! [`Properties`] that the file declares. This crate does not know where a file comes from or where its text goes.
//!
//! Files are untrusted. [`sandbox::Sandbox`] reads them in a separate process with limits on memory and time; [`extract`] alone
//! has no such limits.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "office"), allow(dead_code, reason = "for PDF and Word"))]

mod block;
mod builder;
mod clean;
mod commonmark;
mod composer;
pub mod document;
#[cfg(feature = "office")]
mod docx;
mod encoding;
mod error;
mod file;
mod format;
mod front_matter;
mod html;
mod left_out;
mod markdown;
mod notation;
mod outline;
#[cfg(feature = "office")]
mod pdf;
mod plain_text;
mod properties;
mod rows;
pub mod sandbox;
mod shifted;
mod sniff;
pub mod statement;
#[cfg(feature = "office")]
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

pub use block::{Block, BlockKind, Section, trim};
pub use error::ExtractError;
pub use file::{limited, read_limited, read_open};
pub use format::Format;
pub use properties::Properties;

/// Changed whenever the same file would give different text, sections or properties.
pub const EXTRACTOR_VERSION: &str = "extract-4";

/// Maximum size of a file in bytes: the default limit of Supabase Storage.
pub const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

/// Maximum size of the text of one file in bytes.
pub const MAX_TEXT_BYTES: usize = 20 * 1024 * 1024;

/// Maximum number of sections of one file.
pub const MAX_SECTIONS: usize = 200_000;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// UTF-8 without byte order mark and without control characters but tab, line feed and carriage return; every range
    /// refers to it.
    pub text: String,
    /// In reading order.
    pub sections: Vec<Section>,
    /// Properties that the file declares.
    pub properties: Properties,
    /// Notes for the administrator about a file that could be read, such as "read as windows-1252".
    pub notes: Vec<String>,
}

/// Extracts the text of a file.
///
/// # Errors
/// [`ExtractError`] if it has no usable text.
pub fn extract(bytes: &[u8], format: Format) -> Result<Extracted, ExtractError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ExtractError::TooLarge { limit: MAX_FILE_BYTES });
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ExtractError::Empty);
    }
    sniff::check(bytes, format)?;
    // A panic in a library must affect only this file.
    let extracted =
        catch_unwind(AssertUnwindSafe(|| read(bytes, format))).unwrap_or(Err(ExtractError::Crashed))?;
    // Character references can add characters that the file itself does not contain.
    Ok(Extracted { text: without_control_characters(extracted.text), ..extracted })
}

/// Reads a file into the model of a document.
///
/// # Errors
/// [`ExtractError`] if it has no usable text.
pub fn document(bytes: &[u8], format: Format) -> Result<document::Document, ExtractError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ExtractError::TooLarge { limit: MAX_FILE_BYTES });
    }
    sniff::check(bytes, format)?;
    let read = || -> Result<document::Document, ExtractError> {
        match format {
            #[cfg(feature = "office")]
            Format::Pdf => return pdf::document(bytes),
            #[cfg(feature = "office")]
            Format::Docx => return docx::document(bytes),
            _ => {}
        }
        let declared = if format == Format::Html { html::declared_encoding(bytes) } else { None };
        let (text, note) = encoding::decode(bytes, declared)?;
        let text = without_control_characters(text);
        let mut document = match format {
            Format::Markdown => commonmark::document(&text),
            Format::Html => html::document(&text),
            Format::PlainText => plain_text::document(&text),
            Format::Csv => rows::document(&text),
            Format::Pdf | Format::Docx => Err(ExtractError::NotBuilt),
        }?;
        document.notes.splice(0..0, note);
        Ok(document)
    };
    // A panic in a library must affect only this file.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(ExtractError::Crashed))
}

/// Replaces control characters by as many spaces as they have bytes, so that ranges stay valid. They are invisible, take six
/// bytes in JSON, and tokenizers drop them although some are white space.
fn without_control_characters(text: String) -> String {
    let is_unwanted = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if !text.contains(is_unwanted) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unwanted(c) {
            clean.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            clean.push(c);
        }
    }
    clean
}

fn read(bytes: &[u8], format: Format) -> Result<Extracted, ExtractError> {
    match format {
        Format::Pdf | Format::Docx | Format::Csv | Format::PlainText => {
            let document::Document { text, properties, notes, .. } = document(bytes, format)?;
            let blocks = vec![Block::leaf(BlockKind::Text, 0..text.len())];
            let sections = vec![Section { blocks, ..Section::default() }];
            Ok(Extracted { text, sections, properties, notes })
        }
        Format::Html => read_text(bytes, html::declared_encoding(bytes), |text| {
            let html::Page { text, sections, properties, notes } = html::read(&text)?;
            Ok(Extracted { text, sections, properties, notes })
        }),
        Format::Markdown => read_text(bytes, None, read_markdown),
    }
}

fn read_text(
    bytes: &[u8],
    declared: Option<&'static encoding_rs::Encoding>,
    read: impl FnOnce(String) -> Result<Extracted, ExtractError>,
) -> Result<Extracted, ExtractError> {
    let (text, note) = encoding::decode(bytes, declared)?;
    let text = without_control_characters(text);
    if text.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    let mut extracted = read(text)?;
    extracted.notes.splice(0..0, note);
    Ok(extracted)
}

fn read_markdown(text: String) -> Result<Extracted, ExtractError> {
    let markdown::Markdown { title, sections, front_matter } = markdown::read(&text);
    let front_matter = front_matter.and_then(|range| text.get(range));
    let (mut properties, notes) = front_matter.map(front_matter::read).transpose()?.unwrap_or_default();
    properties.title = properties.title.or(title);
    checked(Extracted { text, sections, properties, notes })
}

/// Checks the limits of documents whose text is kept verbatim.
fn checked(extracted: Extracted) -> Result<Extracted, ExtractError> {
    if extracted.text.len() > MAX_TEXT_BYTES {
        return Err(composer::too_much_text());
    }
    if extracted.sections.len() > MAX_SECTIONS {
        return Err(composer::too_many_sections());
    }
    if extracted.sections.iter().all(|section| section.blocks.is_empty()) {
        return Err(ExtractError::NoContent);
    }
    Ok(extracted)
}
