//! Notices when the client disconnects.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use worker::Request;
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen::closure::Closure;
use worker::worker_sys::web_sys::AbortSignal;

/// The client of a request.
pub(super) struct Client(AbortSignal);

/// Completes when the client has closed the connection. Dropping it removes its listener.
pub(super) struct Disconnected<'a> {
    client: &'a AbortSignal,
    waker: Rc<RefCell<Option<Waker>>>,
    _on_abort: Closure<dyn FnMut()>,
}

impl Client {
    pub(super) fn new(request: &Request) -> Self {
        Self(request.inner().signal())
    }

    pub(super) fn disconnected(&self) -> Disconnected<'_> {
        let waker = Rc::<RefCell<Option<Waker>>>::default();
        let on_abort = {
            let waker = Rc::clone(&waker);
            Closure::<dyn FnMut()>::new(move || {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
            })
        };
        self.0.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
        Disconnected { client: &self.0, waker, _on_abort: on_abort }
    }
}

impl Future for Disconnected<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.client.aborted() {
            return Poll::Ready(());
        }
        self.waker.replace(Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Disconnected<'_> {
    fn drop(&mut self) {
        self.client.set_onabort(None);
    }
}
