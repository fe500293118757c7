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
    /// Larger than [`crate::MAX_FILE_BYTES`].
    #[error("is larger than {} MB; split it", .limit / (1024 * 1024))]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    /// A directory, device, socket or named pipe.
    #[error("is not a regular file")]
    NotAFile,
    /// The operating system refuses access.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// Message of the operating system.
        reason: String,
    },
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
    /// Damaged.
    #[error("is broken: {reason}")]
    Broken {
        /// The reason.
        reason: String,
    },
    /// A compressed file whose content is too large.
    #[error("decompresses to more than {} MB", .limit / (1024 * 1024))]
    UnpacksTooLarge {
        /// In bytes.
        limit: u64,
    },
    /// More than [`crate::MAX_TEXT_BYTES`] of text or [`crate::MAX_ROWS`] rows.
    #[error("contains more than {limit}; split it")]
    TooMuchText {
        /// "20 MB of text" or "200000 sections".
        limit: String,
    },
    /// The file declares an audience that cannot be understood.
    #[error("declares an audience that cannot be read ({reason}); write for example `audience: team:sales`")]
    Audience {
        /// The reason.
        reason: String,
    },
    /// Front matter that cannot be read: it may say who may see the document.
    #[error(
        "begins with front matter that cannot be read ({reason}); correct it, or put a blank line behind its first line if it is text"
    )]
    FrontMatter {
        /// The reason.
        reason: String,
    },
    /// The file says that it is a draft, or that it should not be found.
    #[error("is not published: it says {reason}")]
    NotPublished {
        /// What the file says.
        reason: String,
    },
    /// The page only leads to another one, as the stub of a page that has moved.
    #[error("only leads to {to}")]
    Redirect {
        /// The address, as the page has it.
        to: String,
    },
    /// Reading took longer than the sandbox allows.
    #[error("takes more than {seconds} seconds to read")]
    TimedOut {
        /// The limit in seconds.
        seconds: u64,
    },
    /// Needs more memory than the sandbox allows.
    #[error("needs more memory than {mib} MiB to read")]
    OutOfMemory {
        /// The limit in MiB.
        mib: u64,
    },
    /// The parser panicked, overflowed its stack or was killed.
    #[error("is broken and cannot be read")]
    Crashed,
    /// The sandbox process could not be started or gave no valid output; the file is not at fault.
    #[error("could not be read, because the process that reads files failed: {reason}")]
    Sandbox {
        /// Message of the operating system.
        reason: String,
    },
}

impl ExtractError {
    pub(crate) fn too_much_text() -> Self {
        Self::TooMuchText { limit: format!("{} MB of text", crate::MAX_TEXT_BYTES / (1024 * 1024)) }
    }
}
