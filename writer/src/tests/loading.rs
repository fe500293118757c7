use candle_core::quantized::gguf_file::Value;

use super::fixture::{Fixture, answer, load};
use crate::Loader;

#[test]
fn a_file_may_arrive_in_pieces_of_any_size() {
    let file = Fixture::small().file();
    let expected = answer(&load(&file).unwrap(), "the", 20);
    for size in [1, 7, 33, 1000, 65_536, file.len() - 1] {
        let mut loader = Loader::new(file.len() as u64);
        for piece in file.chunks(size) {
            loader.push(piece).unwrap();
        }
        assert_eq!(answer(&loader.finish().unwrap(), "the", 20), expected, "pieces of {size}");
    }
}

#[test]
fn a_header_longer_than_the_first_pieces_is_read() {
    let fixture = Fixture::small().with("general.description", Value::String("x".repeat(200_000)));
    let file = fixture.file();
    let mut loader = Loader::new(file.len() as u64);
    for piece in file.chunks(10_000) {
        loader.push(piece).unwrap();
    }
    assert_eq!(
        answer(&loader.finish().unwrap(), "the", 5),
        answer(&Fixture::small().load().unwrap(), "the", 5)
    );
}

#[test]
fn other_models_are_rejected_and_the_error_says_which_to_use() {
    let text = |value: &str| Value::String(value.to_owned());
    for (key, value, expected) in [
        (
            "general.architecture",
            text("qwen2"),
            "its architecture is \"qwen2\". Use a model of the llama family",
        ),
        ("llama.expert_count", Value::U32(8), "several experts"),
        ("llama.rope.scaling.type", text("yarn"), "the scaling of positions \"yarn\""),
        ("tokenizer.ggml.model", text("llama"), "its tokenizer is \"llama\""),
        ("tokenizer.ggml.pre", text("deepseek"), "its tokenizer is \"deepseek\""),
        ("tokenizer.chat_template", text("[INST] {{ message }}"), "its chat template is neither"),
        ("llama.attention.head_count", Value::U32(3), "heads"),
        ("llama.attention.head_count", Value::U32(0), "\"llama.attention.head_count\" is out of range"),
        ("llama.attention.head_count_kv", Value::U32(3), "heads"),
        ("llama.embedding_length", Value::U32(u32::MAX), "is out of range"),
        ("llama.embedding_length", text("many"), "is not a whole number"),
        ("llama.feed_forward_length", Value::U32(50), "not multiples of 32"),
        ("llama.rope.dimension_count", Value::U32(7), "positions in 7 dimensions"),
        ("llama.rope.freq_base", Value::F32(f32::NAN), "is not a positive number"),
        ("llama.block_count", Value::U32(3), "\"blk.2.attn_norm.weight\" is missing"),
        ("llama.block_count", Value::U32(1), "the tensor \"blk.1."),
    ] {
        let error = Fixture::small().with(key, value).error();
        assert!(error.contains(expected), "{key}: {error}");
    }
}

#[test]
fn missing_metadata_and_tensors_are_named() {
    for key in [
        "general.architecture",
        "llama.block_count",
        "llama.context_length",
        "llama.embedding_length",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon",
        "tokenizer.ggml.model",
        "tokenizer.ggml.pre",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.merges",
        "token_embd.weight",
        "output_norm.weight",
        "blk.0.ffn_down.weight",
        "blk.1.attn_norm.weight",
    ] {
        let error = Fixture::small().without(key).error();
        assert!(error.contains(&format!("{key:?} is missing")), "{key}: {error}");
    }
    let error = Fixture::small().without("tokenizer.chat_template").error();
    assert!(error.contains("chat template"), "{error}");
}

#[test]
fn a_model_with_biases_is_rejected_because_its_text_would_be_wrong() {
    let mut fixture = Fixture::small();
    fixture.tensors.insert("blk.0.attn_q.bias".to_owned(), (vec![32], vec![1.0; 32]));
    assert!(fixture.error().contains("the tensor \"blk.0.attn_q.bias\""), "{}", fixture.error());
}

#[test]
fn a_tensor_of_another_shape_is_rejected() {
    let mut fixture = Fixture::small();
    fixture.tensors.insert("blk.0.attn_q.weight".to_owned(), (vec![16, 64], vec![1.0; 1024]));
    assert!(fixture.error().contains("has the shape [64, 16] instead of [32, 32]"), "{}", fixture.error());
}

#[test]
fn a_vocabulary_that_contradicts_itself_is_rejected() {
    let merges = |merge: &str| Value::Array(vec![Value::String(merge.to_owned())]);
    for merge in ["th", "th nothing", " "] {
        let error = Fixture::small().with("tokenizer.ggml.merges", merges(merge)).error();
        assert!(error.contains("its tokenizer is damaged"), "{merge}: {error}");
    }
}
