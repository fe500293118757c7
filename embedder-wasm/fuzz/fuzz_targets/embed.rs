//! Arbitrary texts: vectors have unit length, and are the same in a batch. Needs the model.

#![no_main]

use std::cell::RefCell;

use embedder::{DIMENSIONS, Embedder, Embedding, MAX_TOKENS};
use embedder_fuzz::within;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static EMBEDDER: RefCell<Embedder> = RefCell::new({
        Embedder::from_dir(&embedder::model_dir()).expect("run `cargo xtask setup model`")
    });
}

fuzz_target!(|texts: Vec<&str>| {
    EMBEDDER.with_borrow_mut(|embedder| {
        let expected: Vec<Embedding> = texts
            .iter()
            .map(|text| {
                let embedding = within(16 * 1024, || embedder.embed(text));
                assert_eq!(embedding.vector.len(), DIMENSIONS);
                let length =
                    embedding.vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
                assert!((length - 1.0).abs() < 1e-6, "length {length}");
                assert_eq!(embedding.truncated, embedding.tokens > MAX_TOKENS);
                embedding
            })
            .collect();
        assert_eq!(embedder.embed_batch(&texts), expected);
    });
});
