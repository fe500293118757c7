//! How the runtime is asked to run a future again.

use worker::wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(wasm_bindgen = worker::wasm_bindgen, inline_js = "
    const resolved = Promise.resolve();
    // A trap must be an error, which replaces the instance, and not an unhandled rejection.
    const run = (task) => {
        try {
            task();
        } catch (error) {
            reportError(error);
        }
    };
    export function runMicrotasksByPromise() {
        globalThis.queueMicrotask = (task) => void resolved.then(() => run(task));
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
