//! Commands and options.

use std::env::VarError;
use std::path::PathBuf;

use chat_core::assistant::AssistantName;
use chat_core::evidence::EvidenceThresholds;
use clap::{Args, Parser, Subcommand};

use crate::knowledge_base::Status;
use crate::supabase::SupabaseError;

/// Environment variable with the secret key of the project.
const SECRET_KEY_VARIABLE: &str = "SUPABASE_SECRET_KEY";

/// Fill and inspect the knowledge base of Evidence Chat.
#[derive(Debug, Parser)]
#[command(name = "kb", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a collection of the knowledge base equal to its source.
    ///
    /// Reads Markdown, HTML, plain text, PDF, Word (.docx) and CSV, splits them into passages, embeds the passages and
    /// writes them to the knowledge base. Unchanged documents are left alone, moved documents are renamed, and documents
    /// that are no longer in the source are removed. The old version of a document stays visible until the new one is
    /// complete, so you can stop the command at any time and run it again.
    Sync(SyncArgs),
    /// Keep the knowledge base current: serve what is edited in the dashboard or dropped into the storage bucket.
    ///
    /// Every minute, passages that were edited are embedded again, and the sources are synced. Runs until you stop it;
    /// `kb doctor` shows when it last ran.
    Watch(WatchArgs),
    /// List the documents.
    List(ListArgs),
    /// Show a document and its passages.
    Show(ShowArgs),
    /// Show documents in searches again.
    Enable(VisibilityArgs),
    /// Hide documents from searches, from the next question on; `kb sync` keeps them hidden.
    Disable(VisibilityArgs),
    /// Remove documents with their passages and uploaded originals.
    ///
    /// The next `kb sync` adds a document again if it is still in the source. To hide a document permanently, use `kb
    /// disable`. Files that people put into the storage bucket stay there.
    Remove(RemoveArgs),
    /// Make new vectors for passages that need them.
    ///
    /// A passage needs a vector if it was edited in the database, has none, or has one of another model. The text of the
    /// passages does not change. You can stop the command at any time and run it again. Exits with 1 if the database
    /// refused a passage.
    Reembed(ReembedArgs),
    /// List the assistants: what each searches, and for whom.
    Assistants(CommonArgs),
    /// Delete conversations and unanswered questions that are past their retention period.
    ///
    /// `retention_days` and `keep_refusals` in the table chat_settings set the period. If pg_cron is installed, the
    /// database does this every night; otherwise run this command every day.
    Retain(CommonArgs),
    /// Create a new secret, with which the Worker identifies its calls to the database.
    ///
    /// Prints only the secret, so that you can pipe it: `kb worker-secret | npx wrangler secret put CHAT_WORKER_SECRET`.
    /// The database stores only its hash. The previous secret stays valid until you create another one, so a running chat
    /// is not interrupted.
    WorkerSecret(ServerArgs),
    /// Check everything that answers depend on, and explain how to fix what is wrong.
    ///
    /// Exits with 1 if there is a problem, and with 0 if there are only warnings.
    Doctor(DoctorArgs),
    /// Print the embedding of a text as JSON: {model, vector, tokens, truncated}.
    Embed(EmbedArgs),
    /// Ask the knowledge base a question.
    ///
    /// Decides as the Worker does, with what the reader says about the passages, but searches every document that is ready and
    /// enabled, whatever its audience. Nothing is written to the history. A refusal is not an error.
    Ask(AskArgs),
    /// Read a document on standard input and print its text as JSON; `sync` starts this for formats with risky parsers.
    #[command(hide = true)]
    ExtractWorker {
        /// Media type of the document.
        media_type: String,
    },
}

/// Options of `kb sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// A folder, the word "bucket", the address of a sitemap, or a file with one address per line.
    ///
    /// Folders are read recursively, without hidden files and files that .gitignore excludes. "bucket" is the storage
    /// bucket kb, for files that you upload in the dashboard. Pages are fetched only if robots.txt allows it.
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Name of the collection [default: the name of the folder or list, "bucket", or the host of the sitemap].
    ///
    /// The collection and its path identify a document from one run to the next. Other collections are not touched.
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Remove documents even if they are most of the collection, or hidden or restricted.
    #[arg(long)]
    pub force: bool,
    /// Replace the settings of the collection by those of this command line.
    ///
    /// The first sync stores its source, --audience, --language and --no-originals with the collection. Later ones use them; one with
    /// others stops without this option.
    #[arg(long)]
    pub change_settings: bool,
    /// Do not copy the files of a folder to the storage bucket; citations then do not link to the original.
    #[arg(long)]
    pub no_originals: bool,
    #[command(flatten)]
    pub defaults: DefaultsArgs,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Defaults for documents that do not declare these properties.
#[derive(Debug, Args)]
pub struct DefaultsArgs {
    /// Language of documents that do not declare one: english (the default), german, … or a code such as en or de.
    ///
    /// Decides which word forms match each other. In a language that the database does not know, only identical words
    /// match. Documents that were stored with another language are written again.
    #[arg(long, value_name = "NAME", value_parser = language)]
    pub language: Option<String>,
    /// Audience of documents that do not declare one, such as team:sales; repeatable.
    ///
    /// A claim and its value in the user's token (app_metadata, or a custom claim). A user needs one of them. Default: the
    /// column `default_audience` of chat_settings, which is users with an account.
    #[arg(long, value_name = "CLAIM:VALUE")]
    pub audience: Vec<String>,
}

/// Options of `kb watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Sources to sync: folders, or the word "bucket". Web sites are for `kb sync`.
    ///
    /// NAME= names the collection, if it is not that of the folder. A folder with "=" in its name is ./a=b.
    #[arg(value_name = "[NAME=]SOURCE", default_value = "bucket")]
    pub sources: Vec<String>,
    /// Seconds between the end of a round and the beginning of the next.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..=86_400))]
    pub interval: u64,
    /// Exit after one round, with code 1 if a document failed, for use with an external scheduler such as cron.
    #[arg(long, conflicts_with = "interval")]
    pub once: bool,
    #[command(flatten)]
    pub defaults: DefaultsArgs,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Show only documents of this collection.
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Show only documents with this status.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<Status>,
    /// Show only documents with passages that were edited and not embedded again.
    #[arg(long)]
    pub stale: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `kb show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The document's id, its source as `kb list` shows it, or a unique part of the source.
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// Show whole passages instead of excerpts.
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `kb enable` and `kb disable`.
#[derive(Debug, Args)]
pub struct VisibilityArgs {
    /// Ids, sources as `kb list` shows them, or the part of a source after one of its slashes.
    #[arg(value_name = "DOCUMENT", required = true)]
    pub documents: Vec<String>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `kb remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Ids, sources as `kb list` shows them, or the part of a source after one of its slashes.
    #[arg(value_name = "DOCUMENT", required = true)]
    pub documents: Vec<String>,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `kb reembed`.
#[derive(Debug, Args)]
pub struct ReembedArgs {
    /// Only count the passages, by document and reason.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Delete unused data: originals that no document refers to, and documents that have been incomplete for more than a day.
    #[arg(long)]
    pub fix: bool,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb embed`.
#[derive(Debug, Args)]
pub struct EmbedArgs {
    /// The text.
    pub text: String,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of `kb ask`.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question.
    pub question: String,
    /// The question before it, for a follow-up such as "And to Norway?": searched together where that finds clearly more.
    #[arg(long, value_name = "QUESTION")]
    pub previous: Option<String>,
    /// Search only the collections of this assistant, also if it is disabled [default: all collections].
    #[arg(long, value_name = "NAME", value_parser = AssistantName::parse)]
    pub assistant: Option<AssistantName>,
    /// Also print the passages found, their scores and the decisions.
    #[arg(long)]
    pub explain: bool,
    /// Number of passages to search for, 1 to 50.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub match_count: u32,
    /// Minimum cosine similarity of the best passage or one of its sentences, 0 to 1.
    #[arg(long, value_name = "X", default_value_t = EvidenceThresholds::default().similarity, value_parser = fraction)]
    pub threshold: f64,
    /// Minimum confidence that the passages answer the question, 0 to 1; 0 turns it off.
    #[arg(long, value_name = "X", default_value_t = EvidenceThresholds::default().confidence, value_parser = fraction)]
    pub confidence: f64,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Options of most commands.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Print JSON; `watch` prints a line for each round.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Where the knowledge base is, and the key to it.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// URL of the Supabase project, for example https://abc.supabase.co; http:// only for a server on this computer.
    #[arg(long, value_name = "URL", env = "SUPABASE_URL")]
    pub supabase_url: Option<String>,
    /// File with the secret key of the project [default: the variable SUPABASE_SECRET_KEY contains the key].
    ///
    /// There is no option for the key itself, because other users of the computer can see command lines. /dev/stdin works.
    #[arg(long, value_name = "FILE")]
    pub secret_key_file: Option<PathBuf>,
}

impl ServerArgs {
    /// The address of the project, from the option or the environment.
    ///
    /// # Errors
    /// If there is none.
    pub fn url(&self) -> Result<&str, SupabaseError> {
        self.supabase_url.as_deref().ok_or(SupabaseError::MissingUrl)
    }

    /// Reads the secret key from the file, or else from the environment.
    ///
    /// # Errors
    /// If there is no key, or the file or variable cannot be read.
    pub fn secret_key(&self) -> Result<String, SupabaseError> {
        let key = match &self.secret_key_file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| SupabaseError::UnreadableKey { path: path.clone(), error })?,
            None => match std::env::var(SECRET_KEY_VARIABLE) {
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
    /// Folder with all-MiniLM-L6-v2-int8.safetensors and, for `kb ask`, reader-int8.safetensors, or with the compressed files of the
    /// npm package.
    #[arg(long, value_name = "DIR", env = "EVIDENCE_MODEL_DIR", default_value_os_t = embedder::default_model_dir())]
    pub model_dir: PathBuf,
}

/// Normalizes the spelling, because a document is written again when its language changes.
fn language(name: &str) -> Result<String, String> {
    let name = name.trim().to_lowercase();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("must be a name such as english or a code such as en".to_owned());
    }
    Ok(name)
}

fn fraction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn clap_accepts_the_definition_of_all_commands() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_language_is_normalized_to_one_spelling() {
        assert_eq!(language(" German "), Ok("german".to_owned()));
        assert_eq!(language("pt-BR"), Ok("pt-br".to_owned()));
        assert!(language(" ").is_err() && language("en\nde").is_err());
    }

    #[test]
    fn a_threshold_must_be_a_number_from_0_to_1() {
        assert_eq!(fraction("0.35"), Ok(0.35));
        for wrong in ["1.1", "-0.1", "NaN", "high", ""] {
            assert!(fraction(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_missing_address_is_an_error_that_names_the_option_and_the_variable() {
        let server = ServerArgs { supabase_url: None, secret_key_file: None };
        let message = server.url().unwrap_err().to_string();
        assert!(message.contains("--supabase-url") && message.contains("SUPABASE_URL"), "{message}");
        let server = ServerArgs { supabase_url: Some("https://abc.supabase.co".to_owned()), ..server };
        assert_eq!(server.url().unwrap(), "https://abc.supabase.co");
    }

    #[test]
    fn the_key_is_read_from_a_file_and_never_from_an_option() {
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
            args.common.server.secret_key().map(|key| key.trim().to_owned())
        };
        assert!(matches!(key(&path), Err(SupabaseError::UnreadableKey { .. })));
        std::fs::write(&path, "\n").unwrap();
        assert!(matches!(key(&path), Err(SupabaseError::MissingKey)));
        std::fs::write(&path, "sb_secret_x\n").unwrap();
        assert_eq!(key(&path).unwrap(), "sb_secret_x");
    }
}
