//! candle's own model is the reference.

use std::io::Cursor;

use candle_core::quantized::{GgmlDType, gguf_file};
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;

use super::fixture::{Fixture, load};
use crate::Inner;
use crate::model::{Cache, Forward};

const TOKENS: [u32; 40] = {
    let mut tokens = [0; 40];
    let mut at = 0;
    while at < tokens.len() {
        tokens[at] = (at as u32 * 37 + 5) % 262;
        at += 1;
    }
    tokens
};

/// The scores after the tokens, read in parts of this length.
fn scores(inner: &Inner, part: usize) -> Vec<f32> {
    let mut forward = Forward::new();
    let mut cache = Cache::new(&inner.config, TOKENS.len()).unwrap();
    for (at, part_tokens) in TOKENS.chunks(part).enumerate() {
        forward.read(&inner.config, &inner.weights, &mut cache, part_tokens, at * part);
    }
    forward.next_token(&inner.config, &inner.weights);
    forward.scores().to_vec()
}

fn scores_of_candle(file: &[u8]) -> Vec<f32> {
    let mut reader = Cursor::new(file);
    let content = gguf_file::Content::read(&mut reader).unwrap();
    let mut model = ModelWeights::from_gguf(content, &mut reader, &Device::Cpu).unwrap();
    let tokens = Tensor::new(&TOKENS[..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    model.forward(&tokens, 0).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn the_scores_are_those_of_candle_for_every_kind_of_weights() {
    for (kind, width) in [
        (GgmlDType::F32, 32),
        (GgmlDType::F16, 64),
        (GgmlDType::BF16, 64),
        (GgmlDType::Q4_0, 64),
        (GgmlDType::Q4_1, 64),
        (GgmlDType::Q5_0, 64),
        (GgmlDType::Q5_1, 64),
        (GgmlDType::Q8_0, 96),
        (GgmlDType::Q2K, 256),
        (GgmlDType::Q3K, 256),
        (GgmlDType::Q4K, 256),
        (GgmlDType::Q5K, 256),
        (GgmlDType::Q6K, 256),
    ] {
        let fixture = Fixture::new(width, kind);
        // candle rounds the inputs of quantised layers, in larger blocks than we do, but not those of others.
        let expected = scores_of_candle(&fixture.file_of_floats());
        let actual = scores(&fixture.load().unwrap().0, 32);
        assert_eq!(actual.len(), expected.len());
        let error: f32 = actual.iter().zip(&expected).map(|(a, b)| (a - b) * (a - b)).sum();
        let size: f32 = expected.iter().map(|value| value * value).sum();
        let relative = (error / size).sqrt();
        assert!(relative < 0.05, "{kind:?}: off by {relative}");
    }
}

#[test]
fn the_scores_do_not_depend_on_how_the_prompt_is_split() {
    let model = Fixture::new(96, GgmlDType::Q4_1).load().unwrap();
    let expected: Vec<u32> = scores(&model.0, 1).into_iter().map(f32::to_bits).collect();
    for part in [2, 3, 5, 8, 32, 40] {
        let actual: Vec<u32> = scores(&model.0, part).into_iter().map(f32::to_bits).collect();
        assert_eq!(actual, expected, "parts of {part}");
    }
}

#[test]
fn rotary_factors_and_a_shared_embedding_are_used() {
    let mut fixture = Fixture::new(64, GgmlDType::F32);
    let plain = scores(&fixture.load().unwrap().0, 40);
    fixture.tensors.insert("rope_freqs.weight".to_owned(), (vec![8], vec![4.0; 8]));
    let slower = scores(&fixture.load().unwrap().0, 40);
    assert_ne!(plain, slower);

    let fixture = Fixture::new(64, GgmlDType::F32).without("output.weight");
    let file = fixture.file();
    let (actual, expected) = (scores(&load(&file).unwrap().0, 40), scores_of_candle(&file));
    let error: f32 = actual.iter().zip(&expected).map(|(a, b)| (a - b) * (a - b)).sum();
    assert!(error.sqrt() < 0.05 * expected.iter().map(|value| value * value).sum::<f32>().sqrt());
}
