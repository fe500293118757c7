//! An answer that is being written.

use std::rc::Rc;

use crate::model::{Cache, Forward};
use crate::{Inner, WriterError};

/// Tokens of the prompt that are read at once: enough to share each load of weights, few enough to stop soon.
const PROMPT_PART: usize = 32;

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model ended it.
    Stop,
    /// It has as many tokens as were asked for.
    Length,
}

/// An answer that is being written. It has its own memory of the chat, so answers of one model do not affect each other.
pub struct Session {
    inner: Rc<Inner>,
    forward: Forward,
    cache: Cache,
    prompt: Vec<u32>,
    /// Tokens of the prompt that were read.
    read: usize,
    written: usize,
    max_tokens: usize,
    last: Option<u32>,
    /// The beginning of a character.
    partial: Vec<u8>,
    ending: Option<Ending>,
}

impl Session {
    pub(crate) fn new(inner: Rc<Inner>, prompt: Vec<u32>, max_tokens: usize) -> Result<Self, WriterError> {
        let cache = Cache::new(&inner.config, prompt.len() + max_tokens)?;
        Ok(Self {
            inner,
            forward: Forward::new(),
            cache,
            prompt,
            read: 0,
            written: 0,
            max_tokens,
            last: None,
            partial: Vec::new(),
            ending: None,
        })
    }

    /// Tokens of the prompt.
    pub fn prompt_tokens(&self) -> usize {
        self.prompt.len()
    }

    /// Tokens of the answer so far.
    pub fn completion_tokens(&self) -> usize {
        self.written
    }

    /// Why the answer ended; `None` before.
    pub fn ended_because(&self) -> Option<Ending> {
        self.ending
    }

    /// Reads the next part of the prompt, at most 32 tokens. Returns whether the prompt is read.
    pub fn read_prompt(&mut self) -> bool {
        let rest = self.prompt.get(self.read..).unwrap_or_default();
        let part = rest.get(..PROMPT_PART).unwrap_or(rest);
        if !part.is_empty() {
            let Inner { config, weights, .. } = &*self.inner;
            self.forward.read(config, weights, &mut self.cache, part, self.read);
            self.read += part.len();
        }
        self.read == self.prompt.len()
    }

    /// Computes the next token and returns its text, which is empty while a character is incomplete; `None` after the last one.
    /// What is left of the prompt is read before.
    #[allow(clippy::should_implement_trait, reason = "an iterator would hide that each step takes long")]
    pub fn next(&mut self) -> Option<String> {
        if self.ending.is_some() {
            return None;
        }
        while !self.read_prompt() {}
        if self.written == self.max_tokens {
            self.ending = Some(Ending::Length);
            return None;
        }
        let Inner { config, weights, tokenizer, .. } = &*self.inner;
        if let Some(last) = self.last {
            let position = self.prompt.len() + self.written - 1;
            self.forward.read(config, weights, &mut self.cache, &[last], position);
        }
        let token = self.forward.next_token(config, weights)?;
        self.written += 1;
        if tokenizer.ends_text(token) {
            self.ending = Some(Ending::Stop);
            return None;
        }
        self.last = Some(token);
        self.partial.extend_from_slice(tokenizer.bytes(token));
        Some(take_text(&mut self.partial))
    }
}

/// Takes all whole characters. Bytes that cannot become one are replaced by U+FFFD.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut kept = Vec::new();
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let invalid = chunk.invalid();
        if chunks.peek().is_none()
            && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
        {
            kept.extend_from_slice(invalid);
        } else if !invalid.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    *bytes = kept;
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_kept_until_they_are_whole_and_broken_ones_are_replaced() {
        let text = "a\u{e9}\u{20ac}\u{1f600}z";
        for split in 0..=text.len() {
            let (first, second) = text.as_bytes().split_at(split);
            let mut bytes = first.to_vec();
            let mut out = take_text(&mut bytes);
            assert!(text.starts_with(&out));
            bytes.extend_from_slice(second);
            out += &take_text(&mut bytes);
            assert_eq!((out.as_str(), bytes.len()), (text, 0));
        }
        let mut bytes = b"a\xffb\xe2\x82".to_vec();
        assert_eq!(take_text(&mut bytes), "a\u{fffd}b");
        assert_eq!(bytes, b"\xe2\x82");
        bytes.push(b'c');
        assert_eq!(take_text(&mut bytes), "\u{fffd}c");
    }
}
