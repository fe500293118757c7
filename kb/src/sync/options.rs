//! The options of a sync.

use std::sync::Arc;
use std::time::Duration;

use super::{Extract, LeaseTimes, Settings};

pub struct Options {
    /// The first part of every document's source.
    pub collection: String,
    /// The settings of the collection; each `None` keeps the setting of the last run.
    pub settings: Settings,
    /// True if other settings replace the stored ones.
    pub change_settings: bool,
    /// Only show what would change.
    pub dry_run: bool,
    /// True if to remove documents even if that looks like a mistake.
    pub force: bool,
    /// How long a file must be missing before its document is removed.
    pub missing_for: Duration,
    /// Extracts the text of a file.
    pub extract: Arc<Extract>,
    /// How long to wait for another run, and how often to look.
    pub lease_times: LeaseTimes,
}
