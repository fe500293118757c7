//! Why a sync failed.

use crate::source::ListError;
use crate::supabase::SupabaseError;
use crate::text_embedder::ModelError;

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
    /// Asked to stop, with Ctrl-C or SIGTERM.
    #[error("stopped; run this again to continue")]
    Interrupted,
    /// Another run may have begun: this one did not renew its lease for a minute, or the lease was deleted.
    #[error("lost the lease of {0}, which another run may hold now; run this again")]
    LeaseLost(String),
    /// A document that was hidden or restricted in the dashboard is missing while new documents are added.
    #[error(
        "{document} was hidden or restricted in the dashboard and is no longer in the source, but new documents are. It may \
         be one of them under another name, which everybody would see. Nothing was changed. Restrict the new documents at \
         their source, and delete the missing one with `kb remove`, or run this again with --force"
    )]
    HiddenRemoval {
        /// Source of the first such document.
        document: String,
    },
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
