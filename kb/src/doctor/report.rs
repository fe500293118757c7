//! The report, as text and as JSON.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::output::{counted, printable};

/// Details shown as text; JSON contains all.
const MAX_SHOWN_DETAILS: usize = 10;

/// Severity of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Answers work but could be better.
    Warning,
    /// Answers are wrong or missing, or users can reach data that they may not see.
    Problem,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject of the check, in a word.
    #[serde(rename = "check")]
    pub name: &'static str,
    pub level: Level,
    /// The finding.
    pub message: String,
    /// The affected objects, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The results of all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub checks: Vec<Check>,
}

impl Check {
    pub(super) fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, message: message.into(), details: Vec::new(), fix: None }
    }

    pub(super) fn warning(name: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::ok(name, message) }
    }

    pub(super) fn problem(name: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Problem, ..Self::ok(name, message) }
    }

    pub(super) fn details(self, details: impl IntoIterator<Item = String>) -> Self {
        Self { details: details.into_iter().collect(), ..self }
    }

    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    /// This finding, unless all is well.
    pub(super) fn unless(self, is_ok: bool, message: impl Into<String>) -> Self {
        if is_ok { Self::ok(self.name, message) } else { self }
    }
}

impl Report {
    /// True if there is a problem; warnings do not count.
    pub fn has_problems(&self) -> bool {
        self.count(Level::Problem) > 0
    }

    fn count(&self, level: Level) -> u64 {
        self.checks.iter().filter(|check| check.level == level).count() as u64
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        json!({
            "ok": !self.has_problems(),
            "problems": self.count(Level::Problem),
            "warnings": self.count(Level::Warning),
            "checks": self.checks,
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "PROBLEM",
        };
        write!(f, "{level:<9}{:<13}{}", self.name, printable(&self.message))?;
        let indent = " ".repeat(22);
        for detail in self.details.iter().take(MAX_SHOWN_DETAILS) {
            write!(f, "\n{indent}{}", printable(detail))?;
        }
        if self.details.len() > MAX_SHOWN_DETAILS {
            write!(f, "\n{indent}and {} more", self.details.len() - MAX_SHOWN_DETAILS)?;
        }
        match &self.fix {
            Some(fix) => write!(f, "\n{indent}→ {}", printable(fix)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            writeln!(f, "{check}")?;
        }
        match (self.count(Level::Problem), self.count(Level::Warning)) {
            (0, 0) => write!(f, "\nAll is well."),
            (problems, warnings) => {
                write!(f, "\n{}, {}", counted(problems, "problem"), counted(warnings, "warning"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_printed_with_its_details_and_its_fix() {
        let details = (0..12).map(|at| format!("kb/{at}\u{1b}.md"));
        let check = Check::warning("files", "some").details(details).fix("kb sync");
        let text = check.to_string();
        assert!(text.starts_with("warning  files        some\n"), "{text}");
        assert!(text.contains("\n                      kb/0\\u{1b}.md\n"), "{text}");
        assert!(text.ends_with("and 2 more\n                      → kb sync"), "{text}");
    }

    #[test]
    fn warnings_alone_are_not_a_problem() {
        let report = |checks| Report { checks };
        let warned = report(vec![Check::ok("a", ""), Check::warning("b", "")]);
        assert!(!warned.has_problems() && warned.to_string().ends_with("\n0 problems, 1 warning"));
        assert_eq!(warned.json()["ok"], true);
        let broken = report(vec![Check::problem("a", "")]);
        assert!(broken.has_problems() && broken.json()["ok"] == false);
        assert!(report(vec![Check::ok("a", "")]).to_string().ends_with("All is well."));
    }
}
