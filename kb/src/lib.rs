//! The knowledge base of Evidence Chat from the command line: documents in, vectors out.
//!
//! `kb ingest` reads Markdown and plain text ([`files`], [`document`]), cuts it into passages ([`chunk`]) and these into
//! sentences ([`sentence`]), embeds both on all cores ([`embed`]) and writes them to Supabase ([`knowledge_base`] over
//! [`rest`]). Files whose content, language and model have not changed are left alone, and a document becomes visible
//! only when all of it is there ([`ingest`]).
//!
//! `kb ask` answers a question as the Worker would, and can say why ([`ask`]).

#![forbid(unsafe_code)]

pub mod ask;
pub mod chunk;
pub mod cli;
mod commands;
pub mod document;
pub mod embed;
pub mod files;
pub mod ingest;
pub mod knowledge_base;
pub mod progress;
pub mod rest;
pub mod sentence;

pub use commands::run;
