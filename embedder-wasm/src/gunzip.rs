//! Decompresses a gzip file (RFC 1952) that arrives in pieces, straight into the caller's buffer.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// A header has 10 bytes, and further fields if its flags say so.
const FIXED_HEADER_BYTES: usize = 10;
/// A longer header is damage: far more than a name and a comment need.
const MAX_HEADER_BYTES: usize = 4096;
/// CRC-32 and length of what was compressed.
const TRAILER_BYTES: usize = 8;
/// Each step has room for this much output, and for `GROWTH` times its input.
const GROWTH_BYTES: usize = 1024;
const GROWTH: usize = 4;

/// Bits of the header's fourth byte.
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// A gzip file that is being decompressed. Its CRC-32 is not computed: the caller compares the SHA-256 of the output.
pub(crate) struct Gunzip {
    state: State,
    /// 11 kB.
    inflate: Box<DecompressorOxide>,
}

enum State {
    /// With the bytes so far.
    Header(Vec<u8>),
    Body,
    /// With the bytes so far.
    Trailer(Vec<u8>),
}

/// Why bytes are not the expected gzip file.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum GunzipError {
    #[error("its compression is damaged")]
    Damaged,
    #[error("its compression is incomplete")]
    Incomplete,
    #[error("it has more than {0} bytes when decompressed")]
    TooLong(usize),
}

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self { state: State::Header(Vec::new()), inflate: Box::default() }
    }

    /// Appends to `output` what the next bytes of the file contain. `output` is what was decompressed so far, and gets at most
    /// `max_bytes`.
    pub(crate) fn append(
        &mut self,
        mut input: &[u8],
        output: &mut Vec<u8>,
        max_bytes: usize,
    ) -> Result<(), GunzipError> {
        if let State::Header(header) = &mut self.state {
            header.extend_from_slice(input);
            let Some(length) = header_length(header)? else { return Ok(()) };
            // What follows the header is the end of `input`.
            input = &input[input.len() - (header.len() - length)..];
            self.state = State::Body;
        }
        if matches!(self.state, State::Body) {
            input = self.inflate(input, output, max_bytes)?;
        }
        if let State::Trailer(trailer) = &mut self.state {
            trailer.extend_from_slice(input);
            if trailer.len() > TRAILER_BYTES {
                return Err(GunzipError::Damaged);
            }
        }
        Ok(())
    }

    /// Whether the file was complete.
    pub(crate) fn finish(&self, output: &[u8]) -> Result<(), GunzipError> {
        let State::Trailer(trailer) = &self.state else { return Err(GunzipError::Incomplete) };
        let Ok([_, _, _, _, length @ ..]) = <[u8; TRAILER_BYTES]>::try_from(&**trailer) else {
            return Err(GunzipError::Incomplete);
        };
        // The field has 32 bits.
        if u32::from_le_bytes(length) == output.len() as u32 { Ok(()) } else { Err(GunzipError::Damaged) }
    }

    /// Returns the input that follows the compressed data.
    fn inflate<'a>(
        &mut self,
        mut input: &'a [u8],
        output: &mut Vec<u8>,
        max_bytes: usize,
    ) -> Result<&'a [u8], GunzipError> {
        let flags = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let mut length = output.len();
        let status = loop {
            output.resize(max_bytes.min(length + GROWTH_BYTES + GROWTH * input.len()), 0);
            let (status, read, written) = decompress(&mut self.inflate, input, output, length, flags);
            input = &input[read..];
            length += written;
            if status != TINFLStatus::HasMoreOutput || length >= max_bytes {
                break status;
            }
        };
        output.truncate(length);
        match status {
            TINFLStatus::NeedsMoreInput => Ok(input),
            // If the output is full and the input has ended, miniz_oxide does not tell whether more output follows. The next input does.
            TINFLStatus::HasMoreOutput if input.is_empty() => Ok(input),
            TINFLStatus::Done => {
                self.state = State::Trailer(Vec::with_capacity(TRAILER_BYTES));
                Ok(input)
            }
            TINFLStatus::HasMoreOutput => Err(GunzipError::TooLong(max_bytes)),
            _ => Err(GunzipError::Damaged),
        }
    }
}

/// The length of the header that begins these bytes; `None` if more are needed to tell.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, GunzipError> {
    // Magic number, and deflate, the only method.
    if bytes.iter().zip([0x1f, 0x8b, 8]).any(|(byte, expected)| *byte != expected) {
        return Err(GunzipError::Damaged);
    }
    let Some(flags) = bytes.get(3) else { return Ok(None) };
    if flags >> 5 != 0 {
        return Err(GunzipError::Damaged);
    }
    let mut length = FIXED_HEADER_BYTES;
    if flags & EXTRA != 0 {
        let Some([low, high]) = bytes.get(length..length + 2) else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([*low, *high]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = bytes.get(length..).and_then(|rest| rest.iter().position(|byte| *byte == 0));
            match end {
                Some(end) => length += end + 1,
                None if bytes.len() > MAX_HEADER_BYTES => return Err(GunzipError::Damaged),
                None => return Ok(None),
            }
        }
    }
    if flags & HEADER_CRC != 0 {
        length += 2;
    }
    if length > MAX_HEADER_BYTES {
        return Err(GunzipError::Damaged);
    }
    Ok((bytes.len() >= length).then_some(length))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::write::GzEncoder;
    use flate2::{Compression, GzBuilder};

    use super::*;

    const MAX_BYTES: usize = 600_000;

    /// Some parts can be compressed, others not.
    fn text() -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..500_000_usize).map(|index| if index / 50_000 % 2 == 0 { next() % 5 } else { next() }).collect()
    }

    fn gzip(level: u32, text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn gunzip(file: &[u8], piece: usize, max_bytes: usize) -> Result<Vec<u8>, GunzipError> {
        let (mut gunzip, mut output) = (Gunzip::new(), Vec::with_capacity(max_bytes));
        let capacity = output.capacity();
        for piece in file.chunks(piece) {
            let appended = gunzip.append(piece, &mut output, max_bytes);
            assert!(
                output.len() <= max_bytes && output.capacity() == capacity,
                "more memory than the output needs"
            );
            appended?;
        }
        gunzip.finish(&output)?;
        Ok(output)
    }

    #[test]
    fn a_file_is_decompressed_however_it_arrives() {
        let text = text();
        for level in [0, 1, 9] {
            let file = gzip(level, &text);
            for piece in [1, 7, 65_536, file.len()] {
                assert!(gunzip(&file, piece, MAX_BYTES).unwrap() == text, "level {level}, pieces of {piece}");
            }
        }
        assert_eq!(gunzip(&gzip(6, b""), 1, MAX_BYTES).unwrap(), b"");
    }

    #[test]
    fn a_header_may_have_every_field() {
        let builder = GzBuilder::new().filename("a model").comment("a comment").extra(vec![0; 300]).mtime(1);
        let mut encoder = builder.write(Vec::new(), Compression::default());
        encoder.write_all(b"text").unwrap();
        let file = encoder.finish().unwrap();
        for piece in [1, 1000] {
            assert_eq!(gunzip(&file, piece, MAX_BYTES).unwrap(), b"text");
        }
        // With a CRC of the header, which is not compared.
        let mut file = gzip(6, b"text");
        file[3] |= HEADER_CRC;
        file.splice(10..10, [1, 2]);
        assert_eq!(gunzip(&file, 1, MAX_BYTES).unwrap(), b"text");
    }

    #[test]
    fn a_long_header_and_unknown_flags_are_damage() {
        let mut file = gzip(6, b"text");
        file[3] |= NAME;
        for end in [b'x', 0] {
            let name = [[b'x'; MAX_HEADER_BYTES].as_slice(), &[end]].concat();
            file.splice(10..10, name);
            for piece in [1000, file.len()] {
                assert_eq!(gunzip(&file, piece, MAX_BYTES), Err(GunzipError::Damaged));
            }
        }
        for flag in [0x20, 0x40, 0x80] {
            let mut file = gzip(6, b"text");
            file[3] |= flag;
            assert_eq!(gunzip(&file, 1000, MAX_BYTES), Err(GunzipError::Damaged));
        }
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_incomplete() {
        let text = b"text ".repeat(100);
        for (level, max_bytes) in [(0, text.len()), (9, text.len()), (9, MAX_BYTES)] {
            let file = gzip(level, &text);
            for length in 0..file.len() {
                let cut = gunzip(&file[..length], 5, max_bytes);
                assert_eq!(cut, Err(GunzipError::Incomplete), "level {level}, {length} bytes");
            }
        }
    }

    #[test]
    fn a_file_with_more_bytes_or_another_length_is_damaged() {
        let mut file = gzip(6, b"text");
        file.push(0);
        assert_eq!(gunzip(&file, 1000, MAX_BYTES), Err(GunzipError::Damaged));
        file.pop();
        *file.last_mut().unwrap() ^= 1;
        assert_eq!(gunzip(&file, 1000, MAX_BYTES), Err(GunzipError::Damaged));
    }

    #[test]
    fn the_output_may_be_exactly_as_long_as_allowed_and_no_longer() {
        let text = vec![7; 100 * GROWTH_BYTES + 1];
        for level in [0, 1, 9] {
            let file = gzip(level, &text);
            for piece in [1, 1000, file.len()] {
                assert!(gunzip(&file, piece, text.len()).unwrap() == text);
                let max_bytes = text.len() - 1;
                assert_eq!(gunzip(&file, piece, max_bytes), Err(GunzipError::TooLong(max_bytes)));
            }
        }
    }

    #[test]
    fn a_bomb_takes_no_more_memory_than_the_output_may() {
        let bomb = gzip(9, &vec![0; 50 * MAX_BYTES]);
        assert!(bomb.len() < MAX_BYTES / 10);
        for piece in [1000, bomb.len()] {
            assert_eq!(gunzip(&bomb, piece, MAX_BYTES), Err(GunzipError::TooLong(MAX_BYTES)));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, flags in 0_u8..32, piece in 1_usize..100) {
            for flags in [0, flags] {
                let header = [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
                let _ = gunzip(&[header.as_slice(), &bytes].concat(), piece, 10_000);
            }
        }

        #[test]
        fn no_change_makes_it_panic(text: Vec<u8>, level in 0_u32..10, at: proptest::sample::Index, byte: u8) {
            let mut file = gzip(level, &text);
            let at = at.index(file.len());
            file[at] = byte;
            let _ = gunzip(&file, 7, 10_000);
        }
    }
}
