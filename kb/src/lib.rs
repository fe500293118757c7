//! The knowledge base of Evidence Chat from the command line: documents in, vectors out.
//!
//! `kb sync` makes a collection equal to a folder, the storage bucket or a web site ([`source`]): it reads the documents
//! (crate `extract`), cuts them into passages ([`chunk`]) and these into sentences ([`sentence`]), embeds both on all cores
//! ([`embed`]) and writes them to Supabase ([`knowledge_base`] over [`supabase`]). What has not changed is left alone, and a
//! document becomes visible only when all of it is there ([`sync`]).
//!
//! `kb ask` answers a question as the Worker would, and can say why ([`ask`]).

#![forbid(unsafe_code)]

pub mod ask;
pub mod calibration;
pub mod chunk;
pub mod cli;
mod commands;
pub mod doctor;
pub mod embed;
pub mod knowledge_base;
pub mod output;
pub mod progress;
pub mod reembed;
pub mod sentence;
pub mod source;
pub mod supabase;
pub mod sync;
pub mod timestamp;

pub use commands::run;
