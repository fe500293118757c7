//! Commands and options.

use std::path::PathBuf;

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
    fn debug_output_has_no_key() {
        let args = ServerArgs { supabase_url: "http://localhost".into(), secret_key: "sb_secret_x".into() };
        assert!(!format!("{args:?}").contains("sb_secret_x"));
    }
}
