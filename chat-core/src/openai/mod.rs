//! The same questions and outcomes in the form of OpenAI's API for chat completions, for clients that know only that.

mod error;
mod markdown;
mod request;
mod response;
#[cfg(test)]
mod tests;

pub use error::ErrorObject;
pub use request::{MODEL_NAME, OpenAiRequest, RequestError};
pub use response::{CompletionHead, DONE};
