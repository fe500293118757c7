//! The reader's input and output. The reader is a small model that reads a question and a passage
//! together, on the visitor's device.
//!
//! A client lets it read [`passages_to_read`](crate::passages_to_read) and sends what it says, a [`Reading`], with the question. A reading changes the order of
//! the statements and the confidence. It never adds a word to an answer, nor a passage that the visitor may not read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::chunk::MatchedChunk;
use crate::error::ApiError;
use crate::evidence::calibration::READER;
use crate::fields::{model, uuid};
use crate::passage::{HEADING_SEPARATOR, Passage, Sentence};
use crate::statement::Part;

/// Passages that the reader reads for one question.
pub const MAX_READ_PASSAGES: usize = 5;
/// Entries of [`PassageReading::z`]. A passage has fewer statements.
pub const MAX_READ_STATEMENTS: usize = 400;
/// The largest absolute value of an entry of [`PassageReading::z`].
pub const MAX_Z: f32 = 100.0;

/// The reading of passages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The fingerprint of the reader. Only a reading of [`READER`] is used.
    pub reader: String,
    /// The passages that it read, each once.
    pub passages: Vec<PassageReading>,
}

/// The reading of the statements of a passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassageReading {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// [`PassageToRead::hash`] of what was read.
    pub hash: String,
    /// For each statement the logit of "this answers" minus that of "nothing in the passage answers", at most [`MAX_Z`] in either
    /// direction. `None` if the statement did not fit into the input of the reader.
    pub z: Vec<Option<f32>>,
}

/// A passage as the reader reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassageToRead {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// Of heading and statements, 16 hex digits. A reading with another hash is of other words.
    pub hash: String,
    /// The title of the document and the section.
    pub heading: String,
    /// The texts of all its statements, in order.
    pub statements: Vec<String>,
}

pub(crate) fn is_to_read(passage: &Passage<'_>) -> bool {
    !passage.sentences.is_empty()
}

impl Reading {
    /// Parses the field `reading` of a request.
    ///
    /// # Errors
    /// If a field is missing or out of range; the message names it.
    pub fn parse(value: Value) -> Result<Self, ApiError> {
        let mut fields = object(value, "reading", "reader and passages")?;
        let reader = model(fields.remove("reader").unwrap_or_default(), "reading.reader")?;
        let passages = match fields.remove("passages") {
            Some(Value::Array(passages)) if passages.len() <= MAX_READ_PASSAGES => passages,
            _ => {
                return Err(ApiError::invalid_request(format!(
                    "reading.passages must be an array of at most {MAX_READ_PASSAGES} objects"
                )));
            }
        };
        let mut ids = BTreeSet::new();
        let passages = passages.into_iter().enumerate().map(|(at, passage)| {
            let field = format!("reading.passages[{at}]");
            let passage = PassageReading::parse(passage, &field)?;
            if ids.insert(passage.chunk_id) {
                Ok(passage)
            } else {
                Err(ApiError::invalid_request(format!("{field}.chunk_id is that of a passage before it")))
            }
        });
        Ok(Self { reader, passages: passages.collect::<Result<_, _>>()? })
    }

    /// The z of the statements of each passage of a search: `None` for a passage that it did not
    /// read, and for all if it is of another reader.
    pub(crate) fn of(&self, passages: &[Passage<'_>]) -> Vec<Option<&[Option<f32>]>> {
        let mut left = if self.reader == READER { MAX_READ_PASSAGES } else { 0 };
        let of_passage = |passage: &Passage<'_>| {
            left = left.checked_sub(usize::from(is_to_read(passage)))?;
            let read = self.passages.iter().find(|read| read.chunk_id == passage.chunk.chunk_id)?;
            let is_of_passage = read.z.len() == passage.sentences.len()
                && read.hash.eq_ignore_ascii_case(&PassageToRead::new(passage).hash);
            is_of_passage.then_some(read.z.as_slice())
        };
        passages.iter().map(of_passage).collect()
    }
}

impl PassageReading {
    /// The reading of a passage, as clients of the API send it: with two decimals, which are
    /// enough.
    pub fn new(passage: &PassageToRead, z: &[Option<f32>]) -> Self {
        let limit = f64::from(MAX_Z);
        // Like `Math.round` of JavaScript.
        let rounded = |z: f32| ((f64::from(z).clamp(-limit, limit) * 100.0 + 0.5).floor() / 100.0) as f32;
        let z = z.iter().map(|z| z.filter(|z| !z.is_nan()).map(rounded)).collect();
        Self { chunk_id: passage.chunk_id, hash: passage.hash.clone(), z }
    }

    fn parse(value: Value, field: &str) -> Result<Self, ApiError> {
        let mut fields = object(value, field, "chunk_id, hash and z")?;
        let mut take = |name: &str| fields.remove(name).unwrap_or_default();
        let invalid =
            |name: &str, must: String| ApiError::invalid_request(format!("{field}.{name} must {must}"));
        let hash = match take("hash") {
            Value::String(hash) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                hash
            }
            _ => return Err(invalid("hash", "be a string of 16 hexadecimal digits".to_owned())),
        };
        let entries = match take("z") {
            Value::Array(entries) if (1..=MAX_READ_STATEMENTS).contains(&entries.len()) => entries,
            _ => return Err(invalid("z", format!("be an array of 1 to {MAX_READ_STATEMENTS} entries"))),
        };
        let limit = f64::from(MAX_Z);
        let z = entries.iter().enumerate().map(|(at, entry)| match entry.as_f64() {
            Some(z) if (-limit..=limit).contains(&z) => Ok(Some(z as f32)),
            None if entry.is_null() => Ok(None),
            _ => Err(invalid(
                "z",
                format!("contain numbers from -{limit} to {limit} or null only, entry {at} is not one"),
            )),
        });
        Ok(Self {
            chunk_id: uuid(&take("chunk_id"), &format!("{field}.chunk_id"))?,
            hash,
            z: z.collect::<Result<_, _>>()?,
        })
    }
}

fn object(value: Value, field: &str, with: &str) -> Result<serde_json::Map<String, Value>, ApiError> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(ApiError::invalid_request(format!("{field} must be an object with {with}"))),
    }
}

impl PassageToRead {
    pub(crate) fn new(passage: &Passage<'_>) -> Self {
        let (heading, statements) = (heading(passage.chunk), texts_to_read(passage));
        let hash = hash([&heading].into_iter().chain(&statements));
        Self { chunk_id: passage.chunk.chunk_id, hash: format!("{hash:016x}"), heading, statements }
    }
}

/// The title and the section, which may begin with the title.
fn heading(chunk: &MatchedChunk) -> String {
    let title = chunk.title();
    match chunk.section() {
        Some(section) if section.starts_with(&title) => section.to_owned(),
        Some(section) => format!("{title}{HEADING_SEPARATOR}{section}"),
        None => title,
    }
}

/// The text of each statement: the parts of its chain that the statement before it does not show, then its words.
fn texts_to_read(passage: &Passage<'_>) -> Vec<String> {
    let before = [None].into_iter().chain(passage.sentences.iter().map(Some));
    let text = |(sentence, before): (&Sentence<'_>, Option<&Sentence<'_>>)| {
        let is_shown = |part: &Part| {
            before.is_some_and(|before| before.text == part.text || before.chain.contains(&part))
        };
        let parts = sentence.chain.iter().filter(|part| !is_shown(part)).map(|part| part.text.as_str());
        parts.chain([sentence.text]).collect::<Vec<_>>().join(" ")
    };
    passage.sentences.iter().zip(before).map(text).collect()
}

/// 64-bit FNV-1a of texts. Each ends with a byte that UTF-8 does not contain.
fn hash<'t>(texts: impl Iterator<Item = &'t String>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
pub(crate) mod tests;
