//! Notices when the client disconnects.

use futures_channel::oneshot;
use worker::Request;
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen::closure::Closure;
use worker::worker_sys::web_sys::AbortSignal;

/// The client of a request.
pub(super) struct Client(AbortSignal);

impl Client {
    pub(super) fn new(request: &Request) -> Self {
        Self(request.inner().signal())
    }

    /// Completes when the client has closed the connection.
    pub(super) async fn disconnected(&self) {
        if self.0.aborted() {
            return;
        }
        let (open, closed) = oneshot::channel::<()>();
        let mut open = Some(open);
        let on_abort = Closure::<dyn FnMut()>::new(move || drop(open.take()));
        self.0.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
        // Dropped before the closure that the signal would call.
        let _listening = Listening(&self.0);
        // Always an error, because nothing is sent.
        let _ = closed.await;
    }
}

/// Removes its listener when dropped.
struct Listening<'a>(&'a AbortSignal);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.set_onabort(None);
    }
}
