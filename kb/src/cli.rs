//! Commands and options.

use std::path::PathBuf;

use chat_core::evidence::Gates;
use clap::{Args, Parser, Subcommand};

/// Fill and inspect the knowledge base of Evidence Chat.
#[derive(Debug, Parser)]
#[command(name = "kb", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `kb`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add documents, or update those that changed.
    ///
    /// Reads Markdown (.md, .markdown) and plain text (.txt) files, cuts them into passages, embeds the passages and
    /// writes them to the knowledge base. Unchanged documents are left alone. A document that is being updated stays
    /// visible in its old version until the new one is complete, so it is safe to stop and run the command again.
    Ingest(IngestArgs),
    /// Print the embedding of a text as JSON: {model, vector, tokens, truncated}.
    Embed(EmbedArgs),
    /// List the documents in the knowledge base.
    List(ListArgs),
    /// Ask the knowledge base a question.
    ///
    /// Decides as the Worker does, but sees every document that is ready and enabled, whoever may read it. Nothing is
    /// written to a history. A refusal is not an error.
    Ask(AskArgs),
}

/// Options of `kb ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Files and folders to read.
    ///
    /// Folders are read with everything below them, without hidden files and what .gitignore leaves out. Files of
    /// other types are skipped in folders; naming one here is an error.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder that document names are relative to [default: the current folder].
    ///
    /// The path below it is what identifies a document from one run to the next.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Language the documents are written in: english, german, … or a code such as en or de.
    ///
    /// Decides which words of a question and of a passage count as the same. Of a language that the database does not
    /// know, only equal words do. Documents that are there in another language are written again.
    #[arg(long, value_name = "NAME", default_value = "english", value_parser = language)]
    pub language: String,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Where the model is.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `kb embed`.
#[derive(Debug, Args)]
pub struct EmbedArgs {
    /// The text.
    pub text: String,
    /// Where the model is.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Print the list as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `kb ask`.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question.
    pub question: String,
    /// Also print the passages found, their scores, and what was decided by them.
    #[arg(long)]
    pub explain: bool,
    /// Print the answer and its explanation as JSON.
    #[arg(long)]
    pub json: bool,
    /// How many passages to look at, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub match_count: u32,
    /// First gate: least cosine similarity of the best passage, 0 to 1.
    #[arg(long, value_name = "X", default_value_t = Gates::default().similarity, value_parser = share)]
    pub threshold: f64,
    /// Second gate: least confidence that the passages answer the question, 0 to 1; 0 turns it off.
    #[arg(long, value_name = "X", default_value_t = Gates::default().confidence, value_parser = share)]
    pub confidence: f64,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Where the model is.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Where the knowledge base is, and the key to it.
#[derive(Args)]
pub struct ServerArgs {
    /// Address of the Supabase project, for example https://abc.supabase.co.
    #[arg(long, value_name = "URL", env = "SUPABASE_URL")]
    pub supabase_url: String,
    /// Secret key of the project. Prefer the variable: other users of the machine can see command lines.
    #[arg(long, value_name = "KEY", env = "SUPABASE_SECRET_KEY", hide_env_values = true)]
    pub secret_key: String,
}

/// Where the embedding model is.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Folder that holds all-MiniLM-L6-v2-int8.safetensors.
    #[arg(long, value_name = "DIR", env = "EVIDENCE_MODEL_DIR", default_value_os_t = default_model_dir())]
    pub model_dir: PathBuf,
}

/// In one spelling, since a document is written again when its language changes.
fn language(name: &str) -> Result<String, String> {
    let name = name.trim().to_lowercase();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("must be a name such as english or a code such as en".to_owned());
    }
    Ok(name)
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

/// Where `cargo xtask setup` puts the model.
fn default_model_dir() -> PathBuf {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    cache.join("evidence-chat/models/all-MiniLM-L6-v2")
}

impl std::fmt::Debug for ServerArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerArgs").field("supabase_url", &self.supabase_url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_language_has_one_spelling() {
        assert_eq!(language(" German "), Ok("german".to_owned()));
        assert_eq!(language("pt-BR"), Ok("pt-br".to_owned()));
        assert!(language(" ").is_err() && language("en\nde").is_err());
    }

    #[test]
    fn a_gate_is_a_number_from_0_to_1() {
        assert_eq!(share("0.35"), Ok(0.35));
        for wrong in ["1.1", "-0.1", "NaN", "high", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn debug_output_has_no_key() {
        let args = ServerArgs { supabase_url: "http://localhost".into(), secret_key: "sb_secret_x".into() };
        assert!(!format!("{args:?}").contains("sb_secret_x"));
    }
}
