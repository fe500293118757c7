//! Why a sync failed.

use crate::model_files::ModelError;
use crate::source::ListError;
use crate::supabase::SupabaseError;

/// Why a run did nothing, or was stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The source cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The knowledge base cannot be read or written.
    #[error(transparent)]
    Supabase(#[from] SupabaseError),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Another run has the lease.
    #[error("another sync of {collection} is still running{}; run this again when it has ended", .host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default())]
    Running {
        collection: String,
        /// The computer it runs on.
        host: Option<String>,
    },
    /// The collection was made from another source, or in another way.
    #[error(
        "{collection} has {differences}. Nothing was changed. Leave the option out, or run this once with --change-settings"
    )]
    OtherSettings {
        collection: String,
        /// The stored and the requested settings.
        differences: String,
    },
    /// Asked to stop, with Ctrl-C or SIGTERM.
    #[error("stopped; run this again to continue")]
    Interrupted,
    /// Another run may have begun: this one did not renew its lease for a minute, or the lease was deleted.
    #[error("lost the lease of {0}, which another run may hold now; run this again")]
    LeaseLost(String),
    /// More documents would be removed than a user is likely to want.
    #[error(
        "{removed} of {all} documents of {collection} are no longer in the source. Nothing was changed. To remove them, run \
         this again with --force"
    )]
    ManyRemovals {
        /// Number of documents that would be removed.
        removed: usize,
        /// Number of documents in the collection.
        all: usize,
        collection: String,
    },
}
