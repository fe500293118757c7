//! Counts the bytes that are processed, so that tests can check a budget independently of the machine.

use std::cell::Cell;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Counts bytes that are read, folded or stemmed.
pub(crate) fn add(bytes: usize) {
    BYTES.set(BYTES.get() + bytes);
}

/// Returns the result of `run` and the bytes it processed.
pub(crate) fn measure<T>(run: impl FnOnce() -> T) -> (T, usize) {
    BYTES.set(0);
    let result = run();
    (result, BYTES.get())
}
