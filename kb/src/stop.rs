//! Requests to stop this program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if somebody asked the program to stop since this was created.
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Must be called in a runtime.
    pub(crate) fn new() -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        tokio::spawn(async move {
            stop_requested().await;
            set.store(true, Ordering::Relaxed);
        });
        Self(flag)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Waits for Ctrl-C, or for SIGTERM, which containers and services are stopped with. Handling them lets a run return its lease;
/// the first process of a container would otherwise ignore SIGTERM.
pub(crate) async fn stop_requested() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
