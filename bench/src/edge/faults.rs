//! How the Worker responds to each fault of Supabase: shows what its tests recorded.

use std::{fs, io};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::folder;
use crate::report::{Report, print_columns};

const HEADER: [&str; 6] = ["fault", "status", "ends with", "written", "calls", "in"];

/// The results of the last run of the tests, by fault and step.
pub(super) struct Faults(Vec<Value>);

impl Faults {
    /// `None` if the tests were not run.
    pub(super) fn load() -> Result<Option<Self>> {
        let file = folder()?.join("faults.json");
        let damaged = || format!("{} is damaged", file.display());
        match fs::read(&file) {
            Ok(bytes) => {
                let outcomes: Vec<Value> = serde_json::from_slice(&bytes).with_context(damaged)?;
                ensure!(!outcomes.is_empty(), damaged());
                Ok(Some(Self(outcomes)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    pub(super) fn add_to(&self, report: &mut Report) {
        let slowest = self.0.iter().filter_map(|outcome| outcome["ms"].as_f64()).fold(0.0, f64::max);
        report.add("fault_slowest_ms", slowest, "ms");
        report.context("faults_injected", self.0.len());
        report.context("faults", self.0.clone());
    }

    /// Prints a table with one line for all steps that have the same result.
    pub(super) fn print(&self) {
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.by_outcome().into_iter().map(|(outcome, steps)| {
            let [fault, status, end, persisted, tries] = outcome;
            [fault, status, end, persisted, tries, steps.join(", ")]
        }));
        println!("\nresponses of the Worker to faults of Supabase");
        print_columns(&rows);
    }

    /// Steps grouped by fault and outcome, both in the order of their first appearance.
    fn by_outcome(&self) -> Vec<([String; 5], Vec<String>)> {
        let mut faults: Vec<&Value> = Vec::new();
        for outcome in &self.0 {
            if !faults.contains(&&outcome["fault"]) {
                faults.push(&outcome["fault"]);
            }
        }
        let mut groups: Vec<([String; 5], Vec<String>)> = Vec::new();
        for fault in faults {
            for outcome in self.0.iter().filter(|outcome| outcome["fault"] == *fault) {
                let end = if outcome["code"].is_null() { &outcome["end"] } else { &outcome["code"] };
                let key =
                    [fault, &outcome["status"], end, &outcome["persisted"], &outcome["tries"]].map(cell);
                match groups.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, steps)) => steps.push(cell(&outcome["step"])),
                    None => groups.push((key, vec![cell(&outcome["step"])])),
                }
            }
        }
        groups
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_with_the_same_outcome_are_grouped() {
        let outcome = |step, fault, status, code| {
            json!({ "step": step, "fault": fault, "status": status, "code": code, "end": null,
                "persisted": null, "tries": 1, "ms": 5 })
        };
        let faults = Faults(vec![
            outcome("search", "reset", 503, json!("upstream_unavailable")),
            outcome("search", "slow", 200, json!(null)),
            outcome("links", "reset", 200, json!(null)),
            outcome("settings", "reset", 503, json!("upstream_unavailable")),
        ]);
        let lines: Vec<_> =
            faults.by_outcome().into_iter().map(|(outcome, steps)| (outcome[1].clone(), steps)).collect();
        assert_eq!(
            lines,
            [
                ("503".to_owned(), vec!["search".to_owned(), "settings".to_owned()]),
                ("200".to_owned(), vec!["links".to_owned()]),
                ("200".to_owned(), vec!["search".to_owned()]),
            ]
        );
    }
}
