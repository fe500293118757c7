//! WiCE: real claims of an encyclopaedia with sentences of the pages that they cite (Kamoi et al., 2023).

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use chat_core::generate::{Check, check};

use super::documents::rows;

/// A claim with its verdict.
pub(super) struct Claim {
    pub(super) label: String,
    pub(super) text: String,
    pub(super) check: Check,
    /// Time of the check.
    pub(super) milliseconds: f64,
    /// Which half of the documents it belongs to.
    pub(super) half: Half,
}

/// The coefficients of the verifier are fitted to one half of the development part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Fitted,
    Other,
}

pub(super) fn claims(file: &Path) -> Result<Vec<Claim>> {
    read(file)?
        .into_iter()
        .map(|row| {
            let evidence: Vec<&str> = row.evidence.iter().map(String::as_str).collect();
            let started = Instant::now();
            let check = check(&row.text, &evidence);
            let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
            Ok(Claim { label: row.label, text: row.text, check, milliseconds, half: row.half })
        })
        .collect()
}

/// What the score of a claim is made of.
pub(super) struct SignalsOfClaim {
    pub(super) is_supported: bool,
    pub(super) signals: [f64; 3],
    pub(super) half: Half,
}

/// Supported and not supported claims.
pub(super) fn signals(file: &Path) -> Result<Vec<SignalsOfClaim>> {
    let rows = read(file)?.into_iter().filter(|row| row.label != "partially_supported");
    let signals = rows.map(|row| {
        let evidence: Vec<&str> = row.evidence.iter().map(String::as_str).collect();
        SignalsOfClaim {
            is_supported: row.label == "supported",
            signals: chat_core::generate::signals(&row.text, &evidence),
            half: row.half,
        }
    });
    Ok(signals.collect())
}

struct Row {
    label: String,
    text: String,
    evidence: Vec<String>,
    half: Half,
}

fn read(file: &Path) -> Result<Vec<Row>> {
    rows(file)?
        .iter()
        .map(|row| {
            let evidence = row["evidence"].as_array().context("a row has no evidence")?;
            let article = row["meta"]["claim_title"].as_str().unwrap_or_default();
            Ok(Row {
                label: row["label"].as_str().unwrap_or_default().to_owned(),
                text: row["claim"].as_str().context("a row has no claim")?.to_owned(),
                evidence: evidence.iter().filter_map(|line| line.as_str()).map(as_heading).collect(),
                half: half(article),
            })
        })
        .collect()
}

/// WiCE marks the title of a page as metadata. Here it is the first heading, which is above all sentences, as a document's title is
/// in the product.
fn as_heading(line: &str) -> String {
    match line.strip_prefix("(meta data) TITLE:") {
        Some(title) => format!("# {}", title.trim()),
        None => line.to_owned(),
    }
}

/// All claims of a document are in the same half.
pub(super) fn half(title: &str) -> Half {
    let hash = title.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    if (hash >> 3).is_multiple_of(2) { Half::Fitted } else { Half::Other }
}
