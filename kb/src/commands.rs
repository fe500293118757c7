//! The commands, from options to output.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use chat_core::evidence::Gates;
use embedder::Embedder;
use serde::Serialize;

use crate::ask::{self, Settings, ask};
use crate::cli::{AskArgs, Cli, Command, EmbedArgs, IngestArgs, ListArgs, ServerArgs};
use crate::files::discover;
use crate::ingest::ingest;
use crate::knowledge_base::{KnowledgeBase, ListedDocument};
use crate::progress::Progress;
use crate::rest::{Backoff, RestClient};

/// Runs a command; the exit code is 1 if a document failed.
///
/// # Errors
/// With what to tell the user, if the command could not be carried out.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match cli.command {
        Command::Ingest(args) => runtime.block_on(run_ingest(args)),
        Command::Embed(args) => run_embed(&args),
        Command::List(args) => runtime.block_on(run_list(args)),
        Command::Ask(args) => runtime.block_on(run_ask(args)),
    }
}

async fn run_ingest(args: IngestArgs) -> anyhow::Result<ExitCode> {
    let root = args.root.as_deref().unwrap_or(Path::new("."));
    let found = discover(&args.paths, root)
        .map_err(|error| anyhow!("cannot use {} as the root folder: {error}", root.display()))?;
    let knowledge_base = connect(&args.server)?;
    let load = || Embedder::from_dir(&args.model.model_dir);
    let progress = Progress::on_stderr();
    let summary =
        ingest(found, &args.language, &knowledge_base, embedder::fingerprint(), load, &progress).await?;
    if args.json {
        print_json(&summary)?
    } else {
        print(&summary.to_string())?
    }
    Ok(if summary.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn run_embed(args: &EmbedArgs) -> anyhow::Result<ExitCode> {
    let embedding = Embedder::from_dir(&args.model.model_dir)?.embed(&args.text);
    print_json(&PrintedEmbedding {
        model: embedder::fingerprint(),
        vector: &embedding.vector,
        tokens: embedding.tokens,
        truncated: embedding.truncated,
    })?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct PrintedEmbedding<'a> {
    model: &'a str,
    vector: &'a [f32],
    tokens: usize,
    truncated: bool,
}

async fn run_list(args: ListArgs) -> anyhow::Result<ExitCode> {
    let documents = connect(&args.server)?.list().await?;
    if args.json {
        print_json(&documents)?
    } else {
        print(&table(&documents))?
    }
    Ok(ExitCode::SUCCESS)
}

async fn run_ask(args: AskArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.server)?;
    let gates = Gates { similarity: args.threshold, confidence: args.confidence };
    let settings = Settings { match_count: args.match_count, gates };
    let mut embedder = Embedder::from_dir(&args.model.model_dir)?;
    let asked =
        ask(&args.question, &knowledge_base, embedder::fingerprint(), &mut embedder, &settings).await?;
    if args.json {
        print_json(&ask::report(&asked))?
    } else if args.explain {
        print(&format!("{}\n\n{}", ask::explanation(&asked), ask::reply(&asked)))?
    } else {
        print(&ask::reply(&asked))?
    }
    Ok(ExitCode::SUCCESS)
}

fn connect(server: &ServerArgs) -> anyhow::Result<KnowledgeBase> {
    let client = RestClient::new(&server.supabase_url, &server.secret_key, Backoff::default())?;
    Ok(KnowledgeBase::new(client))
}

fn table(documents: &[ListedDocument]) -> String {
    if documents.is_empty() {
        return "The knowledge base is empty.".to_owned();
    }
    let mut lines = vec![format!("{:<8} {:<8} {:>6}  document", "status", "enabled", "chunks")];
    for document in documents {
        let status = match serde_json::to_value(document.status) {
            Ok(serde_json::Value::String(status)) => status,
            _ => String::new(),
        };
        let enabled = if document.enabled { "yes" } else { "no" };
        lines.push(format!("{status:<8} {enabled:<8} {:>6}  {}", document.chunks, document.source));
    }
    lines.join("\n")
}

fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string(value)?)
}

fn print(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| anyhow!("cannot write to standard output: {error}"))
}
