//! Code of all fuzz targets: a limit on memory, and vocabularies.

#![allow(unsafe_code, reason = "a global allocator needs it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of tokens in a vocabulary.
const VOCABULARY_SIZE: usize = 30_522;

/// A valid vocabulary with letters, some punctuation and a few longer tokens.
pub fn small_vocabulary() -> String {
    let mut tokens: Vec<String> = (0..VOCABULARY_SIZE).map(|id| format!("[unused{id}]")).collect();
    for (id, token) in [(0, "[PAD]"), (100, "[UNK]"), (101, "[CLS]"), (102, "[SEP]"), (103, "[MASK]")] {
        tokens[id] = token.to_owned();
    }
    let characters = ('a'..='z').chain('0'..='9').chain("[]#.,é中ж\u{1112}😀".chars());
    let pieces = characters.flat_map(|c| [c.to_string(), format!("##{c}")]);
    let longer = ["the", "##ing", "mask", "telecommunications", "##ation", "a中", "##é中"].map(str::to_owned);
    for (slot, token) in tokens.iter_mut().rev().zip(pieces.chain(longer)) {
        *slot = token;
    }
    tokens.join("\n")
}

/// The model file, if it exists.
pub fn real_model() -> Option<Vec<u8>> {
    std::fs::read(embedder::model_dir().join(embedder::MODEL_FILE)).ok()
}

/// Runs `work`.
///
/// # Panics
/// If it has more than `limit` bytes in use at any time, not counting those in use before.
pub fn within<T>(limit: usize, work: impl FnOnce() -> T) -> T {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    let used = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(used <= limit, "{used} bytes in use, {limit} expected at most");
    result
}

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTER: Counter = Counter;

struct Counter;

impl Counter {
    fn add(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(size.saturating_sub(layout.size()));
        LIVE.fetch_sub(layout.size().saturating_sub(size), Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
