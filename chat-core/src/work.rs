//! Counts the text that is looked at, so that tests can hold it to a budget whatever the machine.

use std::cell::Cell;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Notes that so many bytes are read, folded or stemmed.
pub(crate) fn add(bytes: usize) {
    BYTES.set(BYTES.get() + bytes);
}

/// The bytes that were looked at meanwhile, with the result.
pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    BYTES.set(0);
    let result = run();
    (result, BYTES.get())
}
