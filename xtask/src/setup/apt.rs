//! Debian packages, installed only with consent.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, bail};

use crate::{paths, plan, shell};

/// The option that gives consent in advance; every command has it.
const OPTION: &str = "--apt-install";

/// Whether that option was given.
static CONSENT: OnceLock<()> = OnceLock::new();

/// Held while packages are installed: a second apt-get would fail, and a second question would hide the first.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Allows installing packages without a question, for machines without a user.
pub fn give_consent() {
    CONSENT.get_or_init(|| ());
}

/// Whether packages may be installed without a question.
pub fn has_consent() -> bool {
    CONSENT.get().is_some()
}

/// Whether [`install`] needs neither a password nor an answer.
pub(super) fn can_install() -> bool {
    has_consent() && has_apt_as_root()
}

fn has_apt_as_root() -> bool {
    shell::find_program("apt-get").is_some()
        && shell::output(shell::command("id").arg("-u")).as_deref() == Some("0")
}

/// Installs the packages if that needs no password and the user agrees. The error names the command to run manually.
pub(super) fn install(packages: &[&str]) -> Result<()> {
    let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let remedy = format!("sudo apt-get install {}", packages.join(" "));
    if !has_apt_as_root() {
        bail!("not installed; on Debian or Ubuntu: {remedy}");
    }
    if !has_consent() && !ask(packages)? {
        bail!("not installed: run `{remedy}`, or let this command do it with {OPTION}");
    }
    say!("  installing {} with apt-get", packages.join(", "));
    let log = paths::cache()?.join("apt.log");
    std::fs::create_dir_all(paths::cache()?)?;
    for args in
        [&["update", "-qq"][..], &[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat()]
    {
        let file = OpenOptions::new().create(true).append(true).open(&log)?;
        shell::run_as_it_is(
            shell::command("apt-get")
                .args(args)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .stdout(file.try_clone()?)
                .stderr(file),
        )
        .with_context(|| format!("see {}; to install manually: {remedy}", log.display()))?;
    }
    Ok(())
}

/// Asks the user at the terminal; without a terminal the answer is no.
fn ask(packages: &[&str]) -> Result<bool> {
    let mut stdout = io::stdout();
    if !io::stdin().is_terminal() || !stdout.is_terminal() {
        return Ok(false);
    }
    plan::ask(|| {
        write!(stdout, "\n  install {} with apt-get? [y/N] ", packages.join(", "))?;
        stdout.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(is_yes(&answer))
    })
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_y_and_yes_are_consent() {
        assert!(is_yes("y\n") && is_yes(" Yes\r\n"));
        for no in ["\n", "", "n\n", "yy\n", "maybe\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
