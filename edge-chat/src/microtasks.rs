//! How the runtime is asked to run a future again.

use worker::wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(wasm_bindgen = worker::wasm_bindgen, inline_js = "
    export function runMicrotasksByPromise() {
        const resolved = Promise.resolve();
        globalThis.queueMicrotask = (task) => void resolved.then(task);
    }
")]
extern "C" {
    #[wasm_bindgen(js_name = runMicrotasksByPromise)]
    fn run_microtasks_by_promise();
}

/// Futures ask for `queueMicrotask` each time they are woken, about 25 times for a question. The function of workerd enters C++ and
/// takes 5.5 µs where a resolved promise takes 0.4 (`2026-11`, AMD EPYC).
pub(crate) fn run_by_promise() {
    run_microtasks_by_promise();
}
