//! Commands and options.

use std::env::VarError;
use std::path::PathBuf;

use chat_core::evidence::Gates;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::knowledge_base::Status;
use crate::supabase::SupabaseError;

/// Holds the secret key of the project.
const SECRET_KEY: &str = "SUPABASE_SECRET_KEY";

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
    /// Make a collection of the knowledge base equal to its source.
    ///
    /// Reads Markdown, HTML, plain text, PDF, Word (.docx) and CSV, cuts them into passages, embeds the passages and
    /// writes them to the knowledge base. What did not change is left alone, what moved is renamed, and what the source
    /// does not have any more is removed. A document that is being updated stays visible in its old version until
    /// the new one is complete, so it is safe to stop and run the command again.
    Sync(SyncArgs),
    /// List the documents.
    List(ListArgs),
    /// Show a document and its passages.
    Show(ShowArgs),
    /// Let searches find documents again.
    Enable(EnableArgs),
    /// Hide documents from every search, from the next question on; `kb sync` leaves them hidden.
    Disable(EnableArgs),
    /// Remove documents with their passages and uploaded originals.
    ///
    /// The next `kb sync` brings back what its source still has; `disable` is the way to hide a document for good. Files
    /// that people put into the storage bucket stay there.
    Remove(RemoveArgs),
    /// Make new vectors for passages that need them.
    ///
    /// For passages that were edited in the database, have no vector, or have one of another model. Their texts stay as
    /// they are. It may be stopped and run again at any time. The exit code is 1 if the database refused a passage.
    Reembed(ReembedArgs),
    /// Show how much there is in the knowledge base, and how the chat does from day to day.
    Stats(StatsArgs),
    /// Show what is asked most and not answered.
    ///
    /// Only questions that several users asked, two unless `chat_settings.gap_users` says otherwise.
    Gaps(GapsArgs),
    /// Delete conversations and unanswered questions that are older than the settings keep.
    ///
    /// As `retention_days` and `keep_refusals` in the table chat_settings say. Where pg_cron is installed the database does
    /// it every night by itself; elsewhere run this every day.
    Retain(RetainArgs),
    /// Make a new secret for the Worker, by which the database tells its calls from those of users.
    ///
    /// Prints the secret and nothing else, so that it can be handed on: `kb worker-secret | npx wrangler secret put
    /// CHAT_WORKER_SECRET`. The database gets its hash only. The secret before it stays valid until the next one is made,
    /// so a running chat is not interrupted.
    WorkerSecret(WorkerSecretArgs),
    /// Check everything that answers depend on, and explain how to fix what is wrong.
    ///
    /// The exit code is 1 if there is a problem; warnings are none.
    Doctor(DoctorArgs),
    /// Print the embedding of a text as JSON: {model, vector, tokens, truncated}.
    Embed(EmbedArgs),
    /// Ask the knowledge base a question.
    ///
    /// Decides as the Worker does, but sees every document that is ready and enabled, whoever may read it. Nothing is
    /// written to a history. A refusal is not an error.
    Ask(AskArgs),
    /// Read a document on standard input and print its text as JSON; what `sync` starts for formats that may go wrong.
    #[command(hide = true)]
    ExtractWorker(ExtractWorkerArgs),
}

/// Options of `kb sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// A folder, the word bucket, the address of a sitemap, or a file with one address a line.
    ///
    /// Folders are read with everything below them, without hidden files and what .gitignore leaves out. "bucket" is the
    /// storage bucket kb: what you put there in the dashboard. Pages are fetched as robots.txt allows.
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Name of the collection [default: the name of the folder or list, "bucket", or the host of the sitemap].
    ///
    /// With their paths it identifies the documents from one run to the next. Other collections are not touched.
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Remove documents even if that is most of the collection.
    #[arg(long)]
    pub force: bool,
    /// Do not copy the files of a folder to the storage bucket; citations then have no link to the original.
    #[arg(long)]
    pub no_originals: bool,
    /// Language of documents that do not name theirs: english, german, … or a code such as en or de.
    ///
    /// Decides which words of a question and of a passage count as the same. Of a language that the database does not
    /// know, only equal words do. Documents that are there in another language are written again.
    #[arg(long, value_name = "NAME", default_value = "english", value_parser = language)]
    pub language: String,
    /// Who may see documents that do not say so themselves, such as team:sales; may be given several times.
    ///
    /// A claim and its value in the user's token (app_metadata, or a custom claim); one that fits is enough. Without
    /// it, every signed-in user.
    #[arg(long, value_name = "CLAIM:VALUE", value_parser = audience)]
    pub audience: Vec<String>,
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

/// Options of the process that reads one document.
#[derive(Debug, Args)]
pub struct ExtractWorkerArgs {
    /// What it is.
    pub format: String,
}

/// Options of `kb list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only documents of this collection.
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Only documents with this status.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<StatusName>,
    /// Only documents with passages that were edited and not yet embedded again.
    #[arg(long)]
    pub stale: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// A status on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusName {
    /// Being written.
    Pending,
    /// Complete.
    Ready,
    /// Could not be read.
    Failed,
}

impl From<StatusName> for Status {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::Pending => Self::Pending,
            StatusName::Ready => Self::Ready,
            StatusName::Failed => Self::Failed,
        }
    }
}

/// Options of `kb show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Its id, its source as `kb list` shows it, or any part of that which no other has.
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// Show whole passages, not only their beginnings.
    #[arg(long)]
    pub full: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb enable` and `kb disable`.
#[derive(Debug, Args)]
pub struct EnableArgs {
    /// Their ids, their sources as `kb list` shows them, or the ends of these after a slash.
    #[arg(value_name = "DOCUMENT", required = true)]
    pub documents: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Their ids, their sources as `kb list` shows them, or the ends of these after a slash.
    #[arg(value_name = "DOCUMENT", required = true)]
    pub documents: Vec<String>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb reembed`.
#[derive(Debug, Args)]
pub struct ReembedArgs {
    /// Only count, by document and reason.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Where the model is.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// How many days to show, of those on which somebody asked.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub days: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb gaps`.
#[derive(Debug, Args)]
pub struct GapsArgs {
    /// How many questions to show.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb retain`.
#[derive(Debug, Args)]
pub struct RetainArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb worker-secret`.
#[derive(Debug, Args)]
pub struct WorkerSecretArgs {
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `kb doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Delete what nobody sees: originals that no document refers to, and documents begun more than a day ago and never
    /// completed.
    #[arg(long)]
    pub fix: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the knowledge base is.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Where the model is.
    #[command(flatten)]
    pub model: ModelArgs,
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
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Address of the Supabase project, for example https://abc.supabase.co; http:// only on this computer.
    #[arg(long, value_name = "URL", env = "SUPABASE_URL")]
    pub supabase_url: String,
    /// File that holds the secret key of the project [default: the variable SUPABASE_SECRET_KEY holds the key].
    ///
    /// The key itself is no option, because other users of the computer can see command lines. /dev/stdin is a file, too.
    #[arg(long, value_name = "FILE")]
    pub secret_key_file: Option<PathBuf>,
}

impl ServerArgs {
    /// The secret key of the project, from the file if one was named.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn secret_key(&self) -> Result<String, SupabaseError> {
        let key = match &self.secret_key_file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| SupabaseError::UnreadableKey { path: path.clone(), error })?,
            None => match std::env::var(SECRET_KEY) {
                Ok(key) => key,
                Err(VarError::NotPresent) => return Err(SupabaseError::MissingKey),
                Err(VarError::NotUnicode(_)) => return Err(SupabaseError::InvalidKey),
            },
        };
        if key.trim().is_empty() { Err(SupabaseError::MissingKey) } else { Ok(key) }
    }
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

fn audience(entry: &str) -> Result<String, String> {
    let entry = entry.trim();
    match entry.split_once(':') {
        Some((claim, value)) if !claim.trim().is_empty() && !value.trim().is_empty() => Ok(entry.to_owned()),
        _ => Err("must be a claim and its value, such as team:sales".to_owned()),
    }
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
    fn an_audience_is_a_claim_and_a_value() {
        assert_eq!(audience(" team:sales "), Ok("team:sales".to_owned()));
        for wrong in ["sales", ":sales", "team:", ""] {
            assert!(audience(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_gate_is_a_number_from_0_to_1() {
        assert_eq!(share("0.35"), Ok(0.35));
        for wrong in ["1.1", "-0.1", "NaN", "high", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_key_is_no_option_and_may_be_in_a_file() {
        let command = ["kb", "list", "--supabase-url", "https://abc.supabase.co"];
        let parse = |more: &[&str]| Cli::try_parse_from(command.iter().chain(more));
        assert!(parse(&["--secret-key", "sb_secret_x"]).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = |path: &std::path::Path| {
            let Command::List(args) = parse(&["--secret-key-file", path.to_str().unwrap()]).unwrap().command
            else {
                panic!("another command")
            };
            args.server.secret_key().map(|key| key.trim().to_owned())
        };
        assert!(matches!(key(&path), Err(SupabaseError::UnreadableKey { .. })));
        std::fs::write(&path, "\n").unwrap();
        assert!(matches!(key(&path), Err(SupabaseError::MissingKey)));
        std::fs::write(&path, "sb_secret_x\n").unwrap();
        assert_eq!(key(&path).unwrap(), "sb_secret_x");
    }
}
