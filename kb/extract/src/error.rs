//! Why a file has no text.

use serde::{Deserialize, Serialize};

/// Why a file has no text that could be used. Each is the end of a sentence that starts with the file's name, and says
/// what to do where something can be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ExtractError {
    /// Nothing but white space.
    #[error("is empty")]
    Empty,
    /// Headings, comments or properties, and nothing else.
    #[error("has no text besides headings, comments and properties")]
    NoContent,
    /// A zero byte, which the database cannot store.
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
    /// The operating system refuses.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// In the operating system's words.
        reason: String,
    },
    /// Named as one format, written in another.
    #[error("is {found}, not {expected}; rename it if its name is wrong")]
    WrongFormat {
        /// With article: "a PNG image".
        found: String,
        /// With article: "a PDF".
        expected: String,
    },
    /// Not what its name says, and nothing that is known.
    #[error("is not {expected}: {reason}")]
    NotThatFormat {
        /// With article: "a PDF".
        expected: String,
        /// What is missing in it.
        reason: String,
    },
    /// The file cannot be opened without a password.
    #[error("is protected by a password; save a copy without it")]
    Encrypted,
    /// Pages without text, but with images.
    #[error("has no text, only images; run OCR over it first")]
    Scanned,
    /// Text whose fonts do not say which characters their shapes stand for.
    #[error("has text that cannot be read, because its fonts name no characters; run OCR over it first")]
    NoCharacters,
    /// Text without ink, or white on white, and none besides.
    #[error("has only text that no reader of its pages sees; save it with visible text")]
    Unseen,
    /// Damaged so badly that its reader cannot recover the content.
    #[error("is broken: {reason}")]
    Broken {
        /// What is wrong with it.
        reason: String,
    },
    /// A compressed file that is far larger than it looks.
    #[error("unpacks to more than {} MB", .limit / (1024 * 1024))]
    UnpacksTooLarge {
        /// In bytes.
        limit: u64,
    },
    /// More than [`crate::MAX_TEXT_BYTES`] of text or [`crate::MAX_SECTIONS`] sections.
    #[error("holds more than {limit}; split it")]
    TooMuchText {
        /// "20 MB of text" or "200000 sections".
        limit: String,
    },
    /// The file says who may see it, but not in a way that can be kept.
    #[error(
        "says who may see it in a way that cannot be read ({reason}); write for example `audience: team:sales`"
    )]
    Audience {
        /// What is wrong with it.
        reason: String,
    },
    /// Read for longer than the sandbox allows.
    #[error("takes more than {seconds} seconds to read")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// Needs more memory than the sandbox allows.
    #[error("needs more memory than {mib} MiB to read")]
    OutOfMemory {
        /// The limit.
        mib: u64,
    },
    /// Its reader panicked, overflowed its stack or was killed.
    #[error("is broken in a way that cannot be read")]
    Crashed,
    /// The process that was to read it could not be started or gave no sensible answer, which is no fault of the file.
    #[error("could not be read, because the process that reads files failed: {reason}")]
    Sandbox {
        /// In the operating system's words.
        reason: String,
    },
}
