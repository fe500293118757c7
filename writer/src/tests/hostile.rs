//! No bytes make the loader panic, believe a count, or return a model that is not in them.

use super::fixture::{Fixture, load};
use crate::{Loader, ModelError, WriterError};

/// GGUF's header up to the counts.
fn header(version: u32, tensors: u64, metadata: u64) -> Vec<u8> {
    [
        b"GGUF".to_vec(),
        version.to_le_bytes().to_vec(),
        tensors.to_le_bytes().into(),
        metadata.to_le_bytes().into(),
    ]
    .concat()
}

fn text(text: &str) -> Vec<u8> {
    [(text.len() as u64).to_le_bytes().to_vec(), text.as_bytes().to_vec()].concat()
}

fn error(file: &[u8]) -> ModelError {
    match load(file) {
        Err(WriterError::InvalidModel(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a model"),
    }
}

#[test]
fn other_files_are_not_gguf() {
    for file in [&b"<!doctype html><title>Not found</title>"[..], b"GGU", b"G", b"PK\x03\x04", &[0; 100_000]]
    {
        let is_prefix = b"GGUF".starts_with(file);
        let error = error(file);
        let expected = if is_prefix {
            matches!(error, ModelError::Truncated { .. })
        } else {
            error == ModelError::NotGguf
        };
        assert!(expected, "{error}");
    }
    assert!(matches!(error(b""), ModelError::Truncated { .. }));
    for version in [0, 1, 4, u32::from_be(3)] {
        assert_eq!(error(&[header(version, 0, 0), vec![0; 100]].concat()), ModelError::Version(version));
    }
}

#[test]
fn a_file_that_ends_early_is_truncated_wherever_it_ends() {
    let file = Fixture::small().file();
    for length in (0..file.len()).step_by(101).chain(0..600).chain(file.len() - 100..file.len()) {
        // The download was cut off ...
        let mut loader = Loader::new(file.len() as u64);
        loader.push(&file[..length]).unwrap();
        let result = loader.finish().map(|_| ());
        let truncated = ModelError::Truncated { received: length as u64, needed: file.len() as u64 };
        assert_eq!(result, Err(truncated.into()), "{length}");
        // ... or the file was, which the last bytes of padding survive.
        let is_padding = file[length..].len() < 32 && file[length..].iter().all(|byte| *byte == 0);
        if !is_padding {
            let error = error(&file[..length]);
            assert!(
                matches!(error, ModelError::Truncated { .. } | ModelError::Header(_)),
                "{length}: {error}"
            );
        }
    }
}

#[test]
fn more_bytes_than_announced_are_an_error() {
    let file = Fixture::small().file();
    let mut loader = Loader::new(file.len() as u64 - 1);
    let error = loader.push(&file).unwrap_err();
    assert!(matches!(error, WriterError::InvalidModel(ModelError::TooLong { .. })));
    assert_eq!(loader.push(b"more").unwrap_err().code(), "invalid_model");
    assert!(loader.finish().is_err());
}

#[test]
fn absurd_counts_are_rejected_before_anything_is_allocated() {
    let huge = u64::MAX;
    let list = |kind: u32, count: u64| {
        [
            header(3, 0, 1),
            text("tokenizer.ggml.tokens"),
            9_u32.to_le_bytes().into(),
            kind.to_le_bytes().into(),
            count.to_le_bytes().into(),
            vec![0; 64],
        ]
        .concat()
    };
    let tensor = |dimensions: &[u64], kind: u32, offset: u64| {
        let mut file = [header(3, 1, 0), text("token_embd.weight")].concat();
        file.extend((dimensions.len() as u32).to_le_bytes());
        file.extend(dimensions.iter().flat_map(|length| length.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
        file.extend([0; 64]);
        file
    };
    let files = [
        header(3, huge, 0),
        header(3, 0, huge),
        header(3, 16_000, 4_000),
        [header(3, 0, 1), huge.to_le_bytes().into(), vec![0; 64]].concat(),
        [header(3, 0, 1), text("a"), 8_u32.to_le_bytes().into(), huge.to_le_bytes().into(), vec![0; 64]]
            .concat(),
        [header(3, 0, 1), text("a"), 99_u32.to_le_bytes().into(), vec![0; 64]].concat(),
        list(8, huge),
        list(8, 1 << 40),
        list(4, huge / 2),
        list(9, 1),
        list(99, 1),
        tensor(&[], 0, 0),
        tensor(&[1; 5], 0, 0),
        tensor(&[0, 4], 0, 0),
        tensor(&[huge, huge], 0, 0),
        tensor(&[1 << 40, 1 << 40], 8, 0),
        tensor(&[33], 8, 0),
        tensor(&[4], 99, 0),
        tensor(&[4], 0, huge),
        tensor(&[4], 0, huge - 100),
        tensor(&[1 << 20], 0, 0),
    ];
    for (at, file) in files.iter().enumerate() {
        let error = error(file);
        assert!(
            matches!(error, ModelError::Truncated { .. } | ModelError::Header(_) | ModelError::Tensor { .. }),
            "{at}: {error}"
        );
        // The same counts in a file that claims to be long.
        let mut loader = Loader::new(u64::MAX);
        let result = loader.push(file).and_then(|()| loader.finish().map(|_| ()));
        assert!(result.is_err(), "{at}");
    }
}

#[test]
fn an_alignment_that_is_no_power_of_two_is_rejected() {
    use candle_core::quantized::gguf_file::Value;
    for alignment in [0, 3, u32::MAX] {
        let error = Fixture::small().with("general.alignment", Value::U32(alignment)).error();
        assert!(error.contains("alignment"), "{alignment}: {error}");
    }
}

#[test]
fn overlapping_tensors_are_rejected() {
    let mut file = Fixture::small().file();
    // The offset after the name, the count and length of dimensions, and the kind of the second norm.
    let name = b"blk.1.attn_norm.weight";
    let at = file.windows(name.len()).position(|window| window == name).unwrap() + name.len() + 4 + 8 + 4;
    file[at..at + 8].copy_from_slice(&0_u64.to_le_bytes());
    assert!(error(&file).to_string().contains("overlaps another"), "{}", error(&file));
}

#[test]
fn no_changed_byte_makes_the_loader_panic() {
    let file = Fixture::small().file();
    let data = file.len() - 40_000;
    for at in (0..data.min(4_000)).chain((4_000..file.len()).step_by(37)) {
        for byte in [0, 0xff, file[at] ^ 1, file[at] ^ 0x80] {
            let mut changed = file.clone();
            changed[at] = byte;
            if let Ok(model) = load(&changed) {
                let session = model.start(&super::fixture::chat("the"), 2);
                session.into_iter().for_each(|mut session| while session.next().is_some() {});
            }
        }
    }
}

#[test]
fn weights_that_are_not_numbers_do_no_harm() {
    let mut fixture = Fixture::new(32, candle_core::quantized::GgmlDType::F32);
    for (_, values) in fixture.tensors.values_mut() {
        for (value, hostile) in values
            .iter_mut()
            .step_by(3)
            .zip([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40].into_iter().cycle())
        {
            *value = hostile;
        }
    }
    let model = fixture.load().unwrap();
    let mut session = model.start(&super::fixture::chat("the"), 5).unwrap();
    while session.next().is_some() {}
    assert!(session.ended_because().is_some());
}
