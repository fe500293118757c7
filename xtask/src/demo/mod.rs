//! `cargo xtask demo`: runs the whole product on this computer.

mod login;
mod writer;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::json;
use xtask::build::{self, Extent, Part};
use xtask::local::{Service, Stop, Supabase, ports};
use xtask::plan::{Plan, Slot};
use xtask::setup::ModelDir;
use xtask::{paths, shell};

use self::writer::Writing;

#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the local database and its keys; created if it does not exist.
    /// [default: supabase/.local, with --docs: target/docs/data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder of documents for the knowledge base.
    /// [default: supabase/sample-kb]
    #[arg(long, value_name = "DIR")]
    kb: Option<PathBuf>,
    /// File for the addresses, the login and the process ids.
    /// [default: target/demo.json]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Origin of a page that may also use the chat, for example http://localhost:9000. Repeatable.
    #[arg(long, value_name = "URL", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Serve the documentation site instead of the page of the sample shop; its chat answers from its pages.
    #[arg(long, conflicts_with_all = ["kb", "like_production", "write_on_device"])]
    docs: bool,
    /// Use the existing build.
    #[arg(long)]
    prebuilt: bool,
    /// Let a language model server on this computer write the answers; needs `cargo xtask setup --generation`.
    #[arg(long)]
    write: bool,
    /// Let visitors have answers written in their browser, above the quotes; needs `cargo xtask setup --generation`.
    #[arg(long, conflicts_with = "write")]
    write_on_device: bool,
    /// Let the Worker serve the page, as after a deployment: page, widget, model and API have one origin.
    #[arg(long, conflicts_with = "write_on_device")]
    like_production: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let stop = Stop::on_signal()?;
    match start_and_wait(options, &stop) {
        // An error after Ctrl-C is a consequence of stopping.
        Err(_) if stop.is_requested() => {}
        result => result?,
    }
    println!("stopped");
    Ok(())
}

fn start_and_wait(options: &Options, stop: &Stop) -> Result<()> {
    let started = Instant::now();
    if let Some(kb) = &options.kb {
        ensure!(kb.is_dir(), "--kb {}: no such folder", kb.display());
    }
    let default_data = if options.docs { "target/docs/data" } else { "supabase/.local" };
    let data = options.data.clone().unwrap_or_else(|| paths::repo().join(default_data));
    fs::create_dir_all(&data).with_context(|| format!("--data {}", data.display()))?;
    let data = fs::canonicalize(data)?;
    let json_path = options.json.clone().unwrap_or_else(|| paths::repo().join("target/demo.json"));
    let json_path = std::path::absolute(json_path)?;

    let page = if options.write_on_device { Extent::Whole } else { Extent::Demo };
    if options.prebuilt {
        build::check_outputs(page)?;
    }
    let writing = Writing::from_options(options)?;
    let page_port = ports::free_from(5173)?;
    let own_documents = options.kb.as_ref().map(fs::canonicalize).transpose()?;
    let documents = match &own_documents {
        Some(folder) => folder.clone(),
        None if options.docs => paths::repo().join("target/docs/kb"),
        None => paths::repo().join("supabase/sample-kb"),
    };
    let logs = data.join("logs");
    fs::create_dir_all(&logs)?;

    let (results, supabase) = (build::Results::default(), Slot::default());
    let is_stopped = || stop.is_requested();
    let mut plan = Plan::default();
    plan.stop_if(&is_stopped);
    build::add_npm(&mut plan);
    add_builds(&mut plan, &results, options, page);
    if options.docs {
        plan.add(DOCS, 30.0, &[build::NPM, build::WIDGET], || build_docs(page_port));
    }
    plan.add(SUPABASE, 11.0, &[build::NPM], || {
        let started = Supabase::start(&data, &logs, stop)?;
        login::create(started.url(), &started.keys.publishable_key, &started.keys.secret_key)?;
        supabase.set(started);
        Ok(())
    });
    if own_documents.is_none() {
        plan.add(DOCUMENTS, 6.0, &[SUPABASE, build::KB, build::MODEL, DOCS], || {
            stop.check()?;
            supabase.get()?.sync(&documents, results.model.get()?)
        });
    }
    plan.run()?;

    let supabase = supabase.into_inner().context("the plan started no Supabase")?;
    let mut demo = Demo::start(options, page_port, &data, &writing, supabase, stop)?;
    if let Some(folder) = &own_documents {
        demo.fill(folder, results.model.get()?)?;
    }
    stop.check()?;
    let description = demo.write_json(&json_path, &data)?;
    demo.announce(started.elapsed(), options, &writing);
    demo.wait(stop);
    drop(demo);
    // Another demo may have replaced it.
    if fs::read_to_string(&json_path).is_ok_and(|text| text == description) {
        fs::remove_file(json_path)?;
    }
    Ok(())
}

const SUPABASE: &str = "local Supabase";
const DOCUMENTS: &str = "documents";
const DOCS: &str = "documentation site";

/// Adds what the page shows and what reads the documents, unless it was built before. The build before may not read PDF and Word.
fn add_builds<'a>(plan: &mut Plan<'a>, results: &'a build::Results, options: &Options, page: Extent) {
    let has_office_file = options.kb.as_deref().is_some_and(has_office_file);
    if has_office_file || !options.prebuilt {
        let reader = if has_office_file { Extent::Whole } else { Extent::Demo };
        build::add_steps(plan, results, &[Part::Kb], reader);
    }
    if options.prebuilt {
        build::add_ready_model(plan, results);
    } else {
        build::add_steps(plan, results, &[Part::Assets, Part::Worker], page);
    }
}

/// Whether a folder contains a PDF or Word file, for which `kb` needs crates that take a minute to compile. `kb` reports what cannot be
/// listed.
fn has_office_file(folder: &Path) -> bool {
    let is_office =
        |extension: &OsStr| ["pdf", "docx"].iter().any(|office| extension.eq_ignore_ascii_case(office));
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).any(|entry| {
        // A link to a folder above would never end.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        path.extension().is_some_and(is_office) || (is_folder && has_office_file(&path))
    })
}

/// Builds the documentation site for this port, and its pages as documents.
fn build_docs(page_port: u16) -> Result<()> {
    let mut build = shell::command("node");
    shell::run(build.arg("docs-site/build.mjs").env("DOCS_URL", format!("http://127.0.0.1:{page_port}/")))
}

/// Origins of the demo page, and those of `--allow-origin`, as the Worker reads them.
fn allowed_origins(page_port: u16, more: &[String]) -> String {
    let page = [format!("http://127.0.0.1:{page_port}"), format!("http://localhost:{page_port}")];
    [&page, more].concat().join(",")
}

/// An origin as browsers send it: without a path.
fn origin(url: &str) -> Result<String, String> {
    let origin = url.trim_end_matches('/');
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let is_host = |host: &str| {
        !host.is_empty()
            && !host.contains(|c: char| c.is_whitespace() || matches!(c, '/' | ',' | '?' | '#' | '@'))
    };
    match host {
        Some(host) if is_host(host) => Ok(origin.to_owned()),
        _ => Err("must be an origin such as http://localhost:9000".to_owned()),
    }
}

/// The running services. Dropping it stops them in the reverse order of their start.
struct Demo {
    /// `None` if the Worker serves the page.
    page: Option<Service>,
    worker: Service,
    /// In the mode [`Writing::Endpoint`].
    model_server: Option<Service>,
    supabase: Supabase,
}

impl Demo {
    fn start(
        options: &Options,
        page_port: u16,
        data: &Path,
        writing: &Writing,
        supabase: Supabase,
        stop: &Stop,
    ) -> Result<Self> {
        let logs = data.join("logs");
        let model_server = writing.start_server(&logs, stop)?;

        let worker_port = ports::free_from(8787)?;
        // The Worker needs the page's address before the page starts, and the page needs the Worker's.
        let page_port = if options.like_production { worker_port } else { page_port };
        let page_command = |script: &str| {
            let mut command = shell::command("node");
            if options.kb.is_some() {
                command.env("DEMO_OWN_DOCUMENTS", "1");
            }
            command
                .arg(script)
                .env("SUPABASE_URL", supabase.url())
                .env("SUPABASE_PUBLISHABLE_KEY", &supabase.keys.publishable_key)
                .env("DEMO_EMAIL", login::EMAIL)
                .env("DEMO_PASSWORD", login::PASSWORD)
                .envs(writing.page_environment());
            command
        };
        let mut worker = shell::command("node");
        if options.like_production {
            let assets = data.join("assets");
            shell::run(page_command("web/demo/like-production.mjs").arg(&assets))?;
            worker.env("ASSETS_DIR", assets);
        }
        let worker = Service::start(
            "worker",
            worker
                .arg("edge-chat/local/server.mjs")
                .env("DATA_DIR", data)
                .env("SUPABASE_URL", supabase.url())
                .env("SUPABASE_PUBLISHABLE_KEY", &supabase.keys.publishable_key)
                .env("SUPABASE_JWT_SECRET", &supabase.keys.jwt_secret)
                .env("CHAT_WORKER_SECRET", &supabase.keys.worker_secret)
                .env("CHAT_ALLOWED_ORIGINS", allowed_origins(page_port, &options.allow_origin))
                .envs(writing.worker_environment(model_server.as_ref())),
            worker_port,
            &logs,
            stop,
        )?;
        let page = if options.like_production {
            None
        } else {
            let script = if options.docs { "docs-site/serve.mjs" } else { "web/demo/serve.mjs" };
            let mut serve = page_command(script);
            serve.env("CHAT_ENDPOINT", format!("{}/api/chat", worker.url));
            Some(Service::start("page", &mut serve, page_port, &logs, stop)?)
        };
        Ok(Self { page, worker, model_server, supabase })
    }

    fn page_url(&self) -> &str {
        &self.page.as_ref().unwrap_or(&self.worker).url
    }

    /// The page for administrators, which the server of the documentation lacks.
    fn insights_url(&self, options: &Options) -> Option<String> {
        (!options.docs).then(|| format!("{}/insights/", self.page_url()))
    }

    /// Reads the user's own documents. A folder may contain any file, so a document that cannot be read is only reported.
    fn fill(&self, kb: &Path, model: &ModelDir) -> Result<()> {
        if fs::read_dir(kb)?.next().is_none() {
            println!("• {} is empty: not changing the knowledge base", kb.display());
            return Ok(());
        }
        println!("• reading {} into the knowledge base", kb.display());
        self.supabase.sync_readable(kb, model)
    }

    /// Returns the text it wrote.
    fn write_json(&self, path: &Path, data: &Path) -> Result<String> {
        let mut description = json!({
            "page_url": self.page_url(),
            "chat_url": format!("{}/api/chat", self.worker.url),
            "worker_url": self.worker.url,
            "supabase_url": self.supabase.url(),
            "publishable_key": self.supabase.keys.publishable_key,
            "login": { "email": login::EMAIL, "password": login::PASSWORD },
            "data_dir": data,
            "processes": {
                "demo": std::process::id(),
                "supabase": self.supabase.service.id(),
                "worker": self.worker.id(),
            },
        });
        if let Some(page) = &self.page {
            description["processes"]["page"] = json!(page.id());
        }
        if let Some(server) = &self.model_server {
            description["model_server_url"] = json!(server.url);
            description["processes"]["model_server"] = json!(server.id());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Readers wait for this file, so it is renamed into place when it is complete.
        let partial = path.with_extension("json.partial");
        let description = format!("{description:#}\n");
        fs::write(&partial, &description)?;
        fs::rename(partial, path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(description)
    }

    fn announce(&self, took: Duration, options: &Options, writing: &Writing) {
        println!("\nEvidence Chat is ready ({:.0} s): {}", took.as_secs_f32(), self.page_url());
        if options.docs {
            println!("  its chat asks as {}", login::EMAIL);
        } else {
            println!("  sign in with {} and password {}", login::EMAIL, login::PASSWORD);
        }
        if let Some(url) = self.insights_url(options) {
            println!("  what visitors ask, with the same login: {url}");
        }
        let example = match &options.kb {
            Some(_) => "what your documents answer",
            None if options.docs => "\"Who may see a document?\"",
            None => "\"Can I get my money back after two weeks?\"",
        };
        println!("  ask {example}");
        println!("  {}", writing.describe());
        println!("  Ctrl-C stops it\n");
    }

    /// Waits for Ctrl-C or SIGTERM. Reports a service that stops by itself and keeps the others running.
    fn wait(&mut self, stop: &Stop) {
        while !stop.is_requested() {
            thread::sleep(Duration::from_millis(100));
            let services = [&mut self.worker, &mut self.supabase.service];
            for service in services.into_iter().chain(&mut self.page).chain(&mut self.model_server) {
                service.report_if_stopped();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Cli::try_parse_from([&["demo"], arguments].concat()).map(|cli| cli.options)
    }

    #[test]
    fn the_worker_allows_the_demo_page_and_each_further_origin() {
        let options =
            parse(&["--allow-origin", "http://localhost:9000", "--allow-origin", "https://www.example.com/"])
                .unwrap();
        assert_eq!(
            allowed_origins(5173, &options.allow_origin),
            "http://127.0.0.1:5173,http://localhost:5173,http://localhost:9000,https://www.example.com"
        );
        let none = parse(&[]).unwrap();
        assert_eq!(allowed_origins(5173, &none.allow_origin), "http://127.0.0.1:5173,http://localhost:5173");
    }

    #[test]
    fn pdf_and_word_files_are_found_in_every_folder() {
        let folder = std::env::temp_dir().join(format!("xtask-office-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep/er")).unwrap();
        fs::write(folder.join("deep/pdf.md"), "").unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("deep/again")).unwrap();
        assert!(!has_office_file(&folder));
        fs::write(folder.join("deep/er/Manual.PDF"), "").unwrap();
        assert!(has_office_file(&folder));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_origin_with_a_path_or_without_a_scheme_is_rejected() {
        for wrong in
            ["localhost:9000", "http://", "http://a/b", "http://a,http://b", "file:///page.html", "*"]
        {
            assert!(parse(&["--allow-origin", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_configuration_guide_lists_every_option() {
        let guide = fs::read_to_string(paths::repo().join("docs/configuration.md")).unwrap();
        let command = <Cli as clap::CommandFactory>::command();
        for option in command.get_arguments().filter_map(clap::Arg::get_long).filter(|name| *name != "help") {
            assert!(
                guide.contains(&format!("`--{option}")),
                "docs/configuration.md does not list --{option}"
            );
        }
    }
}
