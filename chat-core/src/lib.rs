//! The domain of Evidence Chat as pure functions: evidence in, cited answer or refusal out.
//!
//! The crate does no I/O, reads no clock and draws no random numbers; ids and times come from the caller. The usual
//! path through the crate is [`request::ChatRequest::parse`] → [`respond()`] → [`outcome::Outcome`] → [`event::Event`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::disallowed_methods
    )
)]

pub mod accept;
pub mod answer;
mod asking;
pub mod assistant;
pub mod chunk;
pub mod decision;
pub mod error;
pub mod event;
pub mod evidence;
pub mod feedback;
mod fields;
pub mod follow_up;
pub mod found;
pub mod generate;
mod generation_report;
pub mod limits;
mod marker;
pub mod outcome;
mod passage;
mod question;
pub mod reading;
pub mod refusal;
pub mod request;
mod respond;
pub mod search;
pub mod sentences;
pub mod statement;
mod stems;
pub mod title;
mod words;
#[cfg(test)]
mod work;

pub use decision::DecidedBy;
pub use follow_up::passages_to_read;
pub use reading::{PassageReading, PassageToRead, Reading};
pub use respond::{Response, Verdict, respond};
