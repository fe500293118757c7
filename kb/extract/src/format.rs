//! The supported formats.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// CommonMark with tables, footnotes, task lists and front matter.
    Markdown,
    /// Paragraphs separated by blank lines.
    PlainText,
    /// HTML, of which the main content is read.
    Html,
    /// PDF with text; scans without text are refused.
    Pdf,
    /// Word 2007 and later.
    Docx,
    /// A table whose rows are passages.
    Csv,
}

impl Format {
    /// From the extension of a file name, case-insensitively.
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "txt" => Some(Self::PlainText),
            "html" | "htm" => Some(Self::Html),
            "pdf" => Some(Self::Pdf),
            "docx" => Some(Self::Docx),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// From a media type, ignoring its parameters.
    pub fn from_content_type(media_type: &str) -> Option<Self> {
        let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.content_type() == name)
    }

    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Markdown, Self::PlainText, Self::Html, Self::Pdf, Self::Docx, Self::Csv];

    /// The media type that is stored with the document.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::PlainText => "text/plain",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Csv => "text/csv",
        }
    }
}
