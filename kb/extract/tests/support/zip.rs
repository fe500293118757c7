//! Writes ZIP archives, including invalid ones.

use std::io::Write;

/// Deflated zero bytes: many MiB become few bytes.
pub(crate) fn deflated_zeros(mib: usize) -> Vec<u8> {
    deflated(&vec![0; 1024 * 1024], mib)
}

/// A raw deflate stream of `block`, `times` over.
pub(crate) fn deflated(block: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(block).unwrap();
    encoder.flush().unwrap();
    let one = encoder.get_ref().clone();
    // Blocks end at byte borders and refer to nothing before themselves at most by what is the same there.
    let mut stream = one.repeat(times);
    stream.extend([3, 0]);
    stream
}

/// An archive of uncompressed parts by name.
pub(crate) fn stored(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let parts: Vec<_> =
        parts.iter().map(|(name, data)| (*name, 0u16, data.to_vec(), data.len() as u32)).collect();
    archive(&parts)
}

/// (name, method, data, size that the archive claims).
pub(crate) fn archive(parts: &[(&str, u16, Vec<u8>, u32)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, method, data, claimed) in parts {
        let checksum = if *method == 0 { checksum(data) } else { 0 };
        let mut common = Vec::new();
        common.extend([20, 0, 0, 0]);
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(checksum.to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend(claimed.to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(data);
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend((parts.len() as u16).to_le_bytes());
    file.extend((parts.len() as u16).to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}

fn checksum(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}
