//! Why a file has no usable text.

use serde::{Deserialize, Serialize};

/// Why a file has no usable text. Each message completes a sentence that starts with the file's name, and says what to do if
/// something can be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ExtractError {
    /// Only white space.
    #[error("is empty")]
    Empty,
    /// Only headings, comments or properties.
    #[error("has no text except headings, comments and properties")]
    NoContent,
    /// Contains a zero byte, which the database cannot store.
    #[error("contains zero bytes; it is not a text file")]
    Binary,
    /// Larger than this many bytes, [`crate::MAX_FILE_BYTES`].
    #[error("is larger than {} MB; split it", .0 / (1024 * 1024))]
    TooLarge(u64),
    /// A directory, device, socket or named pipe.
    #[error("is not a regular file")]
    NotAFile,
    /// The operating system refuses access, with its message.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The content is in another format than the name says.
    #[error("is {found}, not {expected}; rename it if its name is wrong")]
    WrongFormat {
        /// With article: "a PNG image".
        found: String,
        /// With article: "a PDF".
        expected: String,
    },
    /// The content is in no known format.
    #[error("is not {expected}: {reason}")]
    UnknownFormat {
        /// With article: "a PDF".
        expected: String,
        /// The reason.
        reason: String,
    },
    /// A PDF or Word document, and the crate was compiled without its feature `office`.
    #[error("needs a build of kb that reads PDF and Word: build it without --no-default-features")]
    NotBuilt,
    /// The file cannot be opened without a password.
    #[error("is protected by a password; save a copy without it")]
    Encrypted,
    /// Pages have images but no text.
    #[error("has no text, only images; run OCR over it first")]
    Scanned,
    /// The fonts do not map their glyphs to characters.
    #[error(
        "has text that cannot be read, because its fonts do not map to characters; run OCR over it first"
    )]
    NoCharacters,
    /// All text is invisible: without ink, or white on white.
    #[error("has only invisible text; save it with visible text")]
    OnlyInvisibleText,
    /// Damaged, with the reason.
    #[error("is broken: {0}")]
    Broken(String),
    /// A compressed file whose content has more bytes than this.
    #[error("decompresses to more than {} MB", .0 / (1024 * 1024))]
    UnpacksTooLarge(u64),
    /// More than [`crate::MAX_TEXT_BYTES`] of text or [`crate::MAX_ROWS`] rows: "20 MB of text" or "200000 sections".
    #[error("contains more than {0}; split it")]
    TooMuchText(String),
    /// The file declares an audience that cannot be understood, with the reason.
    #[error("declares an audience that cannot be read ({0}); write for example `audience: team:sales`")]
    Audience(String),
    /// Front matter that cannot be read, with the reason: it may say who may see the document.
    #[error(
        "begins with front matter that cannot be read ({0}); correct it, or put a blank line behind its first line if it is text"
    )]
    FrontMatter(String),
    /// The statement of the file that it is a draft or should not be found.
    #[error("is not published: it says {0}")]
    NotPublished(String),
    /// The page only leads to this address, as the stub of a page that has moved.
    #[error("only leads to {0}")]
    Redirect(String),
    /// Reading took longer than the sandbox allows, in seconds.
    #[error("takes more than {0} seconds to read")]
    TimedOut(u64),
    /// Needs more memory than the sandbox allows, in MiB.
    #[error("needs more memory than {0} MiB to read")]
    OutOfMemory(u64),
    /// The parser panicked, overflowed its stack or was killed.
    #[error("is broken and cannot be read")]
    Crashed,
    /// The sandbox process could not be started or gave no valid output, with the reason; the file is not at fault.
    #[error("could not be read, because the process that reads files failed: {0}")]
    Sandbox(String),
}

impl ExtractError {
    pub(crate) fn too_much_text() -> Self {
        Self::TooMuchText(format!("{} MB of text", crate::MAX_TEXT_BYTES / (1024 * 1024)))
    }
}
