//! Running other programs.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};

use crate::{paths, plan};

/// Folder that is searched for programs before PATH: that of the Node.js that setup fetched.
static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();

/// Makes all later commands find the programs in this folder first.
pub fn search_first(folder: PathBuf) {
    PROGRAMS.get_or_init(|| folder);
}

/// A command that runs in the root of the repository.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(paths::repo()).stdin(Stdio::null());
    if PROGRAMS.get().is_some()
        && let Ok(path) = env::join_paths(search_path())
    {
        command.env("PATH", path);
    }
    command
}

/// A subcommand of the cargo that runs this program. A stale Cargo.lock is an error; it is never rewritten.
pub fn cargo(subcommand: &[&str]) -> Command {
    let mut command = unlocked_cargo();
    command.args(subcommand).arg("--locked");
    command
}

/// The cargo that runs this program, for the few subcommands without `--locked`.
pub fn unlocked_cargo() -> Command {
    let mut command = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The outer cargo describes the package xtask in the environment; the inner one must not see it.
    for (name, _) in env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the command to its end. A failure is an error that names the command. In a step of a plan, its output goes to that of the step.
pub fn run(command: &mut Command) -> Result<()> {
    if let Some(log) = plan::log() {
        command.stdout(log.try_clone()?).stderr(log);
    }
    run_as_it_is(command)
}

/// Like [`run`], with the output that the command was given.
pub fn run_as_it_is(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", describe(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", describe(command));
    }
    Ok(())
}

/// Runs the command to its end and passes on each line of standard output as it arrives. A failure is an error.
pub fn run_by_line(command: &mut Command, mut on_line: impl FnMut(&str)) -> Result<()> {
    if let Some(log) = plan::log() {
        command.stderr(log);
    }
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", describe(command)))?;
    let mut output = BufReader::new(child.stdout.take().context("no standard output")?);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        on_line(String::from_utf8_lossy(&line).trim_end_matches('\n'));
        line.clear();
    }
    let status = child.wait()?;
    ensure!(status.success(), "`{}` failed ({status})", describe(command));
    Ok(())
}

/// Standard output of a command, trimmed; `None` if it cannot be started or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Full path of a program on the search path of commands.
pub fn find_program(name: &str) -> Option<PathBuf> {
    search_path().into_iter().map(|dir| dir.join(name)).find(|path| path.is_file())
}

fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    PROGRAMS.get().cloned().into_iter().chain(env::split_paths(&path)).collect()
}

/// PATH with `last` at the end.
pub fn path_with(last: &Path) -> Result<std::ffi::OsString> {
    env::join_paths(search_path().into_iter().chain([last.to_path_buf()]))
        .context("a folder on PATH has a name that PATH cannot contain")
}

fn describe(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    [name]
        .into_iter()
        .chain(command.get_args())
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_never_rewrites_the_lock_file() {
        let args: Vec<_> = cargo(&["test"]).get_args().map(OsStr::to_os_string).collect();
        assert_eq!(args, ["test", "--locked"]);
        // Neither does the alias, which wrangler also uses.
        let config = std::fs::read_to_string(paths::repo().join(".cargo/config.toml")).unwrap();
        assert!(config.contains("xtask = \"run --locked "), "{config}");
        // Only the formatter, which resolves no dependencies, runs without --locked.
        let uses = |file: &str| {
            std::fs::read_to_string(paths::repo().join("xtask/src").join(file))
                .unwrap()
                .matches("unlocked_cargo()")
                .count()
        };
        assert_eq!((uses("test/prepare.rs"), uses("build.rs")), (1, 0));
    }
}
