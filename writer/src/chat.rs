//! A chat as the tokens that a model was trained to answer.

use serde::Deserialize;

use crate::gguf::Metadata;
use crate::tokenizer::Tokenizer;
use crate::{ModelError, WriterError};

/// A message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Message {
    /// Who writes.
    pub role: Role,
    /// The text.
    pub content: String,
}

/// Who writes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions.
    System,
    /// The visitor.
    User,
    /// The model.
    Assistant,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// The control tokens around messages. Only they are: the same characters in a message stay text.
#[derive(Debug)]
pub(crate) enum Template {
    /// `<|im_start|>role⏎content<|im_end|>⏎`
    ChatMl { start: u32, end: u32 },
    /// `<|start_header_id|>role<|end_header_id|>⏎⏎content<|eot_id|>`, after `<|begin_of_text|>`
    Llama3 { begin: u32, start_header: u32, end_header: u32, end: u32 },
}

impl Template {
    /// The template that the metadata's Jinja program stands for. It is recognised, never run.
    pub(crate) fn new(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Self, ModelError> {
        let program = metadata.optional_text("tokenizer.chat_template").ok_or(ModelError::ChatTemplate)?;
        let control = |token: &str| {
            let id = if program.contains(token) { tokenizer.id(token) } else { None };
            id.ok_or(ModelError::ChatTemplate)
        };
        if program.contains("<|im_start|>") {
            Ok(Self::ChatMl { start: control("<|im_start|>")?, end: control("<|im_end|>")? })
        } else {
            Ok(Self::Llama3 {
                // The program writes it as the variable `bos_token`.
                begin: tokenizer.id("<|begin_of_text|>").ok_or(ModelError::ChatTemplate)?,
                start_header: control("<|start_header_id|>")?,
                end_header: control("<|end_header_id|>")?,
                end: control("<|eot_id|>")?,
            })
        }
    }

    /// The tokens of a chat, up to where the model's answer begins.
    pub(crate) fn encode(
        &self,
        messages: &[Message],
        tokenizer: &Tokenizer,
    ) -> Result<Vec<u32>, WriterError> {
        let mut ids = Vec::new();
        match self {
            Self::ChatMl { start, end } => {
                for Message { role, content } in messages {
                    ids.push(*start);
                    tokenizer.encode(&format!("{}\n{content}", role.name()), &mut ids)?;
                    ids.push(*end);
                    tokenizer.encode("\n", &mut ids)?;
                }
                ids.push(*start);
                tokenizer.encode("assistant\n", &mut ids)?;
            }
            Self::Llama3 { begin, start_header, end_header, end } => {
                ids.push(*begin);
                let header = |role: Role, content: &str, ids: &mut Vec<u32>| {
                    ids.push(*start_header);
                    tokenizer.encode(role.name(), ids)?;
                    ids.push(*end_header);
                    tokenizer.encode(&format!("\n\n{content}"), ids)
                };
                for Message { role, content } in messages {
                    header(*role, content.trim(), &mut ids)?;
                    ids.push(*end);
                }
                header(Role::Assistant, "", &mut ids)?;
            }
        }
        Ok(ids)
    }
}
