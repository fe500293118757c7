//! What a run leaves for a person to decide, although the source says that it should be done.

use super::plan::{Change, Plan};
use super::removal::Removal;
use super::summary::DocumentResult;

/// Steps that were taken out of a plan.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Source and result of each document.
    pub(super) results: Vec<(String, DocumentResult)>,
    /// Number of missing documents that stay, because they are hidden or restricted in the dashboard.
    pub(super) kept: usize,
}

/// Takes these steps out of the plan:
///
/// - the removal of a document that is hidden or restricted in the dashboard. If it came back, as a page does after a night of trouble, it
///   would be a new document that everybody can see;
/// - while such a document was not found (`hidden`), also because a part of the source cannot be listed, all additions, since each may be it under another name, and with them all removals, since they may
///   replace what is missing;
/// - while a new file cannot be read (`unreadable`), all removals, since it may be any of these documents under another name.
pub(super) fn hold_back(
    plan: &mut Plan,
    removal: &Removal<'_>,
    hidden: Option<&str>,
    unreadable: Option<&str>,
) -> Held {
    let mut held = Held::default();
    let kept: Vec<_> = plan.removed.extract_if(.., |document| removal.keeps(document)).collect();
    let mut remains = unreadable.map(|file| {
        format!("stays, because {file} cannot be read and may be this document under another name")
    });
    if let Some(hidden) = hidden {
        let reason = format!(
            "is not added, because {hidden} was hidden or restricted in the dashboard and was not found in the source: this may be it \
             under another name, which everybody would see. Delete that one with `kb remove`, or run this again with --force"
        );
        let added = plan.write.extract_if(.., |write| write.change == Change::Added);
        held.results
            .extend(added.map(|write| (write.source, DocumentResult::Failed { reason: reason.clone() })));
        if !held.results.is_empty() {
            remains = Some("stays until the new documents are added".to_owned());
        }
    }
    if let Some(reason) = remains {
        held.results.extend(plan.removed.drain(..).map(|document| (document.source, missing(&reason))));
    }
    held.kept = kept.len();
    held.results.extend(kept.into_iter().map(|document| (document.source, kept_result())));
    held
}

/// The result of a missing document that is hidden or restricted in the dashboard.
pub(super) fn kept_result() -> DocumentResult {
    missing("stays, because it is hidden or restricted in the dashboard; `kb remove` deletes it")
}

fn missing(consequence: &str) -> DocumentResult {
    DocumentResult::Skipped { reason: format!("is no longer in the source and {consequence}") }
}
