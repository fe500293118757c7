//! Text, structure and properties of a document, from the bytes of its file.
//!
//! [`document()`] returns the [model](document::Document): the text as a reader of the file sees it, its blocks, and the [`Properties`]
//! that the file declares. [`statement`] finds what can be quoted of it. This crate does not know where a file comes from or where its
//! text goes.
//!
//! Files are untrusted. [`sandbox::Sandbox`] reads them in a separate process with limits on memory and time; [`document()`] alone
//! has no such limits.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "office"), allow(dead_code, reason = "for PDF and Word"))]

mod audience;
mod builder;
mod clean;
mod commonmark;
pub mod document;
#[cfg(feature = "office")]
mod docx;
mod encoding;
mod error;
mod file;
mod format;
mod front_matter;
mod html;
mod inline;
mod left_out;
mod lines;
mod markers;
mod notation;
mod numerals;
#[cfg(feature = "office")]
mod pdf;
mod plain_text;
mod properties;
mod rows;
pub mod sandbox;
mod shifted;
mod sniff;
pub mod statement;
mod time;
#[cfg(feature = "office")]
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use audience::{AudienceError, MAX_AUDIENCE_BYTES, audience};
pub use error::ExtractError;
pub use file::{limited, read_open};
pub use format::Format;
pub use front_matter::{is_post_to_come, may_expire};
pub use html::refresh_target;
pub use properties::Properties;

/// Changed whenever the same file would give another document.
pub const EXTRACTOR_VERSION: &str = "extract-7";

/// Maximum size of a file in bytes: the default limit of Supabase Storage.
pub const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

/// Maximum size of the text of one file in bytes.
pub const MAX_TEXT_BYTES: usize = 20 * 1024 * 1024;

/// Maximum number of rows of a table file.
pub const MAX_ROWS: usize = 200_000;

/// Reads a file into the model of a document.
///
/// # Errors
/// [`ExtractError`] if it has no usable text.
pub fn document(bytes: &[u8], format: Format) -> Result<document::Document, ExtractError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ExtractError::TooLarge(MAX_FILE_BYTES));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ExtractError::Empty);
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
        let text = without_control_characters(&text);
        let front_matter::Front { properties, notes, body } = front_matter::read(&text)?;
        let mut document = match format {
            Format::Markdown => commonmark::document(body),
            Format::Html => html::document(body),
            Format::PlainText => plain_text::document(body),
            Format::Csv => rows::document(body),
            Format::Pdf | Format::Docx => Err(ExtractError::NotBuilt),
        }?;
        document.properties = properties.or(document.properties)?;
        document.notes.splice(0..0, note.into_iter().chain(notes));
        // Character references can add characters that the file itself does not contain.
        document.text = without_control_characters(&document.text);
        Ok(document)
    };
    // A panic in a library must affect only this file.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(ExtractError::Crashed))
}

/// Replaces control characters by as many spaces as they have bytes, so that ranges stay valid. They are invisible, take six
/// bytes in JSON, and tokenizers drop them although some are white space.
fn without_control_characters(text: &str) -> String {
    let is_unwanted = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    text.replace(|c: char| c.is_ascii() && is_unwanted(c), " ").replace(is_unwanted, "  ")
}
