//! The formats that can be read.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// CommonMark with tables, footnotes, task lists and front matter.
    Markdown,
    /// Paragraphs separated by blank lines.
    PlainText,
    /// A web page.
    Html,
    /// Pages with text.
    Pdf,
    /// Word, since 2007.
    Docx,
    /// A table whose rows are passages.
    Csv,
}

impl Format {
    /// By the extension of a file's name, in any case.
    pub fn of(path: &Path) -> Option<Self> {
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

    /// By the media type a web server gives, parameters ignored.
    pub fn of_content_type(media_type: &str) -> Option<Self> {
        let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.content_type() == name)
    }

    /// Every format.
    pub const ALL: [Self; 6] =
        [Self::Markdown, Self::PlainText, Self::Html, Self::Pdf, Self::Docx, Self::Csv];

    /// The media type kept with the document.
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
