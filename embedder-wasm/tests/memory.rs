//! Memory use of loading, and that embedding allocates nothing more.
//!
//! One test only, since the counter counts for the whole process. Needs the model (`cargo xtask setup`).

#![allow(unsafe_code, reason = "a global allocator needs it")]

mod model;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use embedder::{DIMENSIONS, Embedder, MODEL_BYTES, READER_BYTES, Reader};

#[global_allocator]
static COUNTER: Counter = Counter { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

const MEBIBYTE: usize = 1 << 20;

#[test]
fn loading_allocates_what_the_model_needs_and_embedding_nothing_more() {
    let file = std::fs::read(embedder::model_dir().join(embedder::MODEL_FILE))
        .expect("the model file; run `cargo xtask setup model`");
    let before = COUNTER.live() - file.len();

    let mut embedder = None;
    // 10.6 million weights as i16 take twice their bytes in the file, which gives each matrix back before the next one.
    let peak = COUNTER.peak_above(before, || embedder = Some(Embedder::from_trusted(file).unwrap()));
    assert!(peak < MODEL_BYTES + 16 * MEBIBYTE, "loading takes {peak} bytes");
    let mut embedder = embedder.unwrap();
    let loaded = COUNTER.live() - before;
    assert!(loaded < 40 * MEBIBYTE, "a loaded model takes {loaded} bytes");

    let before = COUNTER.live();
    let mut clone = embedder.clone();
    let working = COUNTER.live() - before;
    assert!(working < 5 * MEBIBYTE, "a clone takes {working} bytes");

    let texts =
        ["", "Can I get my money back?", &"long ".repeat(1000), &"?".repeat(MEBIBYTE), &"a".repeat(MEBIBYTE)];
    let vector = DIMENSIONS * size_of::<f32>();
    let mut after_first = None;
    for round in 0..40 {
        for text in texts {
            let text = if round < 2 || text.len() < 100 { text } else { "short" };
            let before = COUNTER.live();
            let peak = COUNTER.peak_above(before, || drop(clone.embed(text)));
            assert!(peak <= vector + 1024, "round {round}: {peak} bytes for a text of {} bytes", text.len());
        }
        drop(clone.embed_batch(&texts[..2]));
        let live = COUNTER.live();
        assert_eq!(*after_first.get_or_insert(live), live, "round {round} leaked memory");
    }

    let long_batch = vec!["Can I get my money back?"; 500];
    let per_text = vector + 64;
    for round in 0..2 {
        let before = COUNTER.live();
        // The results, and those of one pass a second time.
        let peak = COUNTER.peak_above(before, || drop(embedder.embed_batch(&long_batch)));
        assert!(peak < (500 + 128) * per_text + 4096, "{peak} bytes for a batch");
        assert!(round == 0 || COUNTER.live() == before, "a batch leaked memory");
    }

    let file = model::reader_file().to_vec();
    let before = COUNTER.live() - file.len();
    let mut reader = None;
    let peak = COUNTER.peak_above(before, || reader = Some(Reader::from_trusted(&embedder, file).unwrap()));
    assert!(peak < READER_BYTES + 16 * MEBIBYTE, "loading a reader takes {peak} bytes");
    let loaded = COUNTER.live() - before;
    // 7.1 million weights as i16 or as two bytes; nothing of the embedder again.
    assert!(loaded < 21 * MEBIBYTE, "a loaded reader takes {loaded} bytes");
    let mut reader = reader.unwrap();
    let statements = [texts[1], texts[2], texts[1]];
    for round in 0..4 {
        let before = COUNTER.live();
        let peak = COUNTER.peak_above(before, || drop(reader.read(texts[1], texts[2], &statements)));
        // The ids of the whole heading.
        assert!(peak < 64 * 1024, "round {round}: {peak} bytes for a passage");
        assert!(round == 0 || COUNTER.live() == before, "reading leaked memory");
    }
}

/// The system's allocator, with the current and the peak number of bytes in use.
struct Counter {
    live: AtomicUsize,
    peak: AtomicUsize,
}

impl Counter {
    fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// The peak of the bytes in use while `work` runs, minus `before`.
    fn peak_above(&self, before: usize, work: impl FnOnce()) -> usize {
        self.peak.store(self.live(), Ordering::Relaxed);
        work();
        self.peak.load(Ordering::Relaxed).saturating_sub(before)
    }

    fn add(&self, bytes: usize) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
    }

    fn subtract(&self, bytes: usize) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.subtract(layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Counted as if it grew and shrank in place.
        self.add(size.saturating_sub(layout.size()));
        self.subtract(layout.size().saturating_sub(size));
        unsafe { System.realloc(pointer, layout, size) }
    }
}
