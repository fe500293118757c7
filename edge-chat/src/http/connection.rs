//! Requests that the Worker sends.

use worker::{AbortController, AbortSignal};

/// The connection of a request that the Worker has sent. Dropping it cancels the request.
pub(crate) struct Connection(Option<AbortController>);

impl Connection {
    /// The connection, and the signal that the request needs.
    pub(crate) fn new() -> (Self, AbortSignal) {
        let controller = AbortController::default();
        let signal = controller.signal();
        (Self(Some(controller)), signal)
    }

    /// Nothing is left to cancel. Each call of the runtime takes time.
    pub(crate) fn end(&mut self) {
        self.0 = None;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}
