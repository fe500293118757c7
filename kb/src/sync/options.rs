//! What the caller of a sync decides.

use std::sync::Arc;
use std::time::Duration;

use super::{Defaults, Extract, LeaseTimes};

pub struct Options {
    /// The first part of every document's source.
    pub collection: String,
    /// Properties of documents that do not declare their own.
    pub defaults: Defaults,
    /// Only show what would change.
    pub dry_run: bool,
    /// Whether files of a folder are copied to the bucket.
    pub keeps_originals: bool,
    /// Whether to remove documents even if that looks like a mistake.
    pub force: bool,
    /// How long a file must be missing before its document is removed.
    pub missing_for: Duration,
    /// Extracts the text of a file.
    pub extract: Arc<Extract>,
    /// How long to wait for another run, and how often to look.
    pub lease_times: LeaseTimes,
}
