//! `cargo xtask demo`: builds the product and runs it on this computer.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::json;
use xtask::build::{self, Extent, Part};
use xtask::plan::Plan;
use xtask::setup::{self, Generation, ModelDir};
use xtask::{paths, shell};

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
    #[arg(long, value_name = "URL")]
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

/// Builds, and becomes the demo. Returns only if that cannot be started.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(kb) = &options.kb {
        ensure!(kb.is_dir(), "--kb {}: no such folder", kb.display());
    }
    let has_model = options.write || options.write_on_device;
    let generation = has_model.then(setup::find_generation).transpose()?;
    let model = build(options)?;

    let mut demo = shell::command("node");
    if let Some(generation) = generation.as_ref().filter(|_| options.write_on_device) {
        demo.env("ON_DEVICE_MODEL_URL", generation.url_path()).env("ON_DEVICE_MODEL_FILE", &generation.model);
    }
    let error = demo
        .arg("xtask/src/demo.mjs")
        .arg(demo_options(options, generation.as_ref())?)
        .env("KB_BINARY", paths::kb_binary())
        .env("EVIDENCE_MODEL_DIR", model.0)
        .exec();
    Err(error).context("cannot start Node.js")
}

/// The argument of `demo.mjs`.
fn demo_options(options: &Options, generation: Option<&Generation>) -> Result<String> {
    let or_in_repo = |path: &Option<PathBuf>, default: &str| match path {
        Some(path) => absolute(path),
        None => Ok(paths::repo().join(default)),
    };
    let data = if options.docs { "target/docs/data" } else { "supabase/.local" };
    let model_server = generation.filter(|_| options.write).map(
        |Generation { python, model }| json!({ "python": python, "model": model, "name": Generation::MODEL_NAME }),
    );
    Ok(json!({
        "kb": options.kb.as_ref().map(absolute).transpose()?,
        "data": or_in_repo(&options.data, data)?,
        "json": or_in_repo(&options.json, "target/demo.json")?,
        "allowOrigins": options.allow_origin,
        "isDocs": options.docs,
        "isLikeProduction": options.like_production,
        "modelServer": model_server,
        "answerMode": answer_mode(options),
        "hint": hint(options),
    })
    .to_string())
}

/// The answer mode of the assistant.
fn answer_mode(options: &Options) -> &'static str {
    if options.write {
        "endpoint"
    } else if options.write_on_device {
        "on_device"
    } else {
        "extractive"
    }
}

/// Who writes the answers, for the user.
fn hint(options: &Options) -> String {
    let model = Generation::MODEL_NAME;
    if options.write {
        format!("{model} writes the answers, on this computer; only checked sentences are shown")
    } else if options.write_on_device {
        format!("answers are quoted; if the visitor wants it, {model} writes them in the browser")
    } else {
        "answers are quoted from the documents; --write lets a language model write them".to_owned()
    }
}

/// Builds what the page shows and what reads the documents, unless it was built before. The build before may not read PDF and Word.
fn build(options: &Options) -> Result<ModelDir> {
    let page = if options.write_on_device { Extent::Whole } else { Extent::Demo };
    let results = build::Results::default();
    let mut plan = Plan::default();
    build::add_npm(&mut plan);
    let has_office_file = options.kb.as_deref().is_some_and(has_office_file);
    if has_office_file || !options.prebuilt {
        let reader = if has_office_file { Extent::Whole } else { Extent::Demo };
        build::add_steps(&mut plan, &results, &[Part::Kb], reader);
    }
    if options.prebuilt {
        build::check_outputs(page)?;
        build::add_ready_model(&mut plan, &results);
    } else {
        build::add_steps(&mut plan, &results, &[Part::Assets, Part::Worker], page);
    }
    plan.run()?;
    results.model.into_inner().context("the plan made no model")
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn options(arguments: &[&str]) -> serde_json::Value {
        let cli = Cli::try_parse_from([&["demo"], arguments].concat()).unwrap();
        let generation = Generation { python: "/venv/bin/python".into(), model: "/models/a.gguf".into() };
        serde_json::from_str(&demo_options(&cli.options, Some(&generation)).unwrap()).unwrap()
    }

    #[test]
    fn the_default_demo_asks_no_model_and_keeps_its_data_in_the_repository() {
        let options = options(&[]);
        assert!(options["modelServer"].is_null() && options["kb"].is_null());
        assert_eq!(options["data"], paths::repo().join("supabase/.local").to_str().unwrap());
    }

    #[test]
    fn with_write_the_demo_starts_the_model_that_setup_installed() {
        let server = json!({
            "python": "/venv/bin/python", "model": "/models/a.gguf", "name": "SmolLM2-135M-Instruct"
        });
        assert_eq!(options(&["--write"])["modelServer"], server);
        assert!(options(&["--write-on-device"])["modelServer"].is_null());
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
