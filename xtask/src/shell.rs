//! Running other programs.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::paths;

/// A command that runs in the root of the repository.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(paths::repo()).stdin(Stdio::null());
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
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

/// Runs to the end; an unsuccessful end is an error that names the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", describe(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", describe(command));
    }
    Ok(())
}

/// Standard output of a command, trimmed; `None` if it cannot be started or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Full path of a program on PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// PATH with `first` in front and `last` at the end.
pub(crate) fn path_with(first: Option<&Path>, last: Option<&Path>) -> Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = first
        .map(Path::to_path_buf)
        .into_iter()
        .chain(env::split_paths(&path))
        .chain(last.map(Path::to_path_buf));
    env::join_paths(dirs).context("a folder on PATH has a name that PATH cannot hold")
}

/// Installs Debian packages where that is possible without asking for a password.
pub(crate) fn apt_install(packages: &[&str]) -> Result<()> {
    let remedy = format!("sudo apt-get install {}", packages.join(" "));
    let is_root = output(command("id").arg("-u")).as_deref() == Some("0");
    if find_program("apt-get").is_none() || !is_root {
        bail!("not installed; on Debian or Ubuntu: {remedy}");
    }
    println!("  installing {} with apt-get", packages.join(", "));
    let log = paths::cache()?.join("apt.log");
    std::fs::create_dir_all(paths::cache()?)?;
    for args in
        [&["update", "-qq"][..], &[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat()]
    {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
        run(command("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(file.try_clone()?)
            .stderr(file))
        .with_context(|| format!("see {}; by hand: {remedy}", log.display()))?;
    }
    Ok(())
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
