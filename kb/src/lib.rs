//! The command line for the knowledge base of Evidence Chat: documents in, vectors out.
//!
//! `kb sync` makes a collection equal to a folder, the storage bucket or a web site ([`source`]): it reads the documents
//! (crate `extract`), cuts them into passages with their statements ([`passage`]), embeds both on all cores
//! ([`text_embedder`]) and writes them to Supabase ([`knowledge_base`] over [`supabase`]). Unchanged documents are left alone, and a
//! document becomes visible only when it is complete ([`sync`]).
//!
//! `kb watch` repeats that, and embeds passages that were edited in the database ([`watch`]).
//!
//! `kb ask` answers a question as the Worker would, and can explain why ([`ask`]).

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "only the program, its tests and the benches use this crate")]

pub mod ask;
pub mod calibration;
pub mod cli;
mod commands;
pub mod doctor;
pub mod knowledge_base;
pub mod model_files;
pub mod output;
pub mod passage;
pub mod progress;
pub mod reembed;
pub mod source;
mod stop;
pub mod supabase;
pub mod sync;
pub mod text_embedder;
pub mod timestamp;
pub mod watch;

pub use commands::run;
