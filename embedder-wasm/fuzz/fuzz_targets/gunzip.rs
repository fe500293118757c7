//! Hostile gzip files, in pieces of any size: however they are cut, they are rejected or decompressed alike, and never take
//! more memory than the limit of their output.

#![no_main]

use std::io::{Read as _, Write as _};

use arbitrary::Arbitrary;
use embedder_fuzz::within;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use gunzip::{Gunzip, GunzipError};
use libfuzzer_sys::fuzz_target;

// Other targets cannot reach it: only WebAssembly contains it.
#[path = "../../src/gunzip.rs"]
mod gunzip;

/// Of the output.
const MAX_BYTES: usize = 1 << 18;
/// The decompressor.
const MAX_OWN_BYTES: usize = 64 << 10;

/// The header's byte with flags, and the flag of a checksum of the header, which `Gunzip` does not read either.
const FLAGS: usize = 3;
const HEADER_CRC: u8 = 2;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    file: File<'a>,
    /// Lengths of the pieces; the last one has the rest.
    pieces: Vec<u16>,
}

#[derive(Debug, Arbitrary)]
enum File<'a> {
    Bytes(&'a [u8]),
    /// Deflated data with a good header.
    Body(&'a [u8]),
    Good {
        text: &'a [u8],
        repeat: u16,
        level: u8,
        name: Option<&'a [u8]>,
        extra: Option<&'a [u8]>,
        /// Position and new value of a byte.
        change: Option<(u16, u8)>,
        cut: u8,
    },
}

fuzz_target!(|input: Input<'_>| {
    let (file, text) = input.file.build();
    let whole = gunzip_all(&file, &[]);
    let pieces = gunzip_all(&file, &input.pieces);
    // Which of two errors comes first depends on where the pieces end.
    assert_eq!(pieces.as_ref().ok(), whole.as_ref().ok());
    if let Some(text) = text {
        match whole {
            Ok(output) => assert!(output == text),
            Err(error) => assert!(text.len() > MAX_BYTES, "a good file: {error}"),
        }
    } else if let Ok(output) = whole
        && file[FLAGS] & HEADER_CRC == 0
    {
        // Another reader of the format, with the same inflate, agrees until it finds the checksum wrong, which `Gunzip` does not read.
        let mut expected = Vec::new();
        let read = GzDecoder::new(&*file).read_to_end(&mut expected);
        assert!(expected == output, "{read:?}");
    }
});

fn gunzip_all(file: &[u8], pieces: &[u16]) -> Result<Vec<u8>, GunzipError> {
    let mut output = Vec::with_capacity(MAX_BYTES);
    let capacity = output.capacity();
    let result = within(MAX_OWN_BYTES + 2 * file.len(), || {
        let mut gunzip = Gunzip::new();
        let mut rest = file;
        for length in pieces {
            let (piece, later) = rest.split_at(rest.len().min((*length).into()));
            gunzip.append(piece, &mut output, MAX_BYTES)?;
            rest = later;
        }
        gunzip.append(rest, &mut output, MAX_BYTES)?;
        gunzip.finish(&output)
    });
    assert!(output.len() <= MAX_BYTES && output.capacity() == capacity, "{} bytes of output", output.len());
    result.map(|()| output)
}

impl File<'_> {
    /// The bytes, and what they contain if nothing is wrong with them.
    fn build(self) -> (Vec<u8>, Option<Vec<u8>>) {
        match self {
            Self::Bytes(bytes) => (bytes.to_vec(), None),
            Self::Body(bytes) => ([&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff], bytes].concat(), None),
            Self::Good { text, repeat, level, name, extra, change, cut } => {
                let text = text.repeat(usize::from(repeat) % 512);
                let builder = GzBuilder::new();
                let builder = name
                    .filter(|name| !name.contains(&0))
                    .into_iter()
                    .fold(builder, |b, name| b.filename(name));
                let builder = extra
                    .filter(|extra| extra.len() < 4000)
                    .into_iter()
                    .fold(builder, |b, extra| b.extra(extra));
                let mut encoder: GzEncoder<Vec<u8>> =
                    builder.write(Vec::new(), Compression::new(u32::from(level) % 10));
                encoder.write_all(&text).expect("writes to memory");
                let mut file = encoder.finish().expect("writes to memory");
                let header = name.map_or(0, <[u8]>::len) + extra.map_or(0, <[u8]>::len);
                let mut is_good = cut == 0 && header < 4000;
                file.truncate(file.len().saturating_sub(cut.into()));
                if let Some((at, byte)) = change
                    && let Some(place) = file.get_mut(usize::from(at))
                {
                    is_good &= *place == byte;
                    *place = byte;
                }
                (file, is_good.then_some(text))
            }
        }
    }
}
