//! Removes function names from a WebAssembly module. They are for debuggers, and a fifth of the download.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Magic number and version.
const HEADER_BYTES: usize = 8;
/// The id of custom sections, which do not affect execution.
const CUSTOM_SECTION: u8 = 0;

/// Rewrites the file without its `name` section.
pub(crate) fn remove(module: &Path) -> Result<()> {
    let bytes = fs::read(module)?;
    let stripped =
        without_names(&bytes).with_context(|| format!("{} is not a WebAssembly module", module.display()))?;
    Ok(fs::write(module, stripped)?)
}

fn without_names(module: &[u8]) -> Option<Vec<u8>> {
    let (header, mut rest) = module.split_at_checked(HEADER_BYTES)?;
    let mut kept = header.to_vec();
    while let Some((&id, after_id)) = rest.split_first() {
        let (length, after_length) = read_number(after_id)?;
        let (content, next) = after_length.split_at_checked(length)?;
        if !(id == CUSTOM_SECTION && section_name(content)? == b"name") {
            kept.extend_from_slice(&rest[..rest.len() - next.len()]);
        }
        rest = next;
    }
    Some(kept)
}

fn section_name(content: &[u8]) -> Option<&[u8]> {
    let (length, name) = read_number(content)?;
    name.get(..length)
}

/// An unsigned LEB128 number and the bytes after it.
fn read_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_u64;
    for (position, byte) in bytes.iter().enumerate().take(5) {
        number |= u64::from(byte & 0x7f) << (7 * position);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(number).ok()?, bytes.get(position + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"\0asm\x01\0\0\0";

    fn section(id: u8, content: &[u8]) -> Vec<u8> {
        // A length of two bytes, as compilers write it for long sections.
        [&[id, content.len() as u8 | 0x80, 0], content].concat()
    }

    #[test]
    fn only_the_name_section_is_removed() {
        let code = section(10, b"code");
        let names = section(0, b"\x04name and the rest");
        let other = section(0, b"\x09producers...");
        let module = [HEADER, &code, &names, &other].concat();
        assert_eq!(without_names(&module), Some([HEADER, &code, &other].concat()));
    }

    #[test]
    fn a_truncated_module_is_rejected() {
        let module = [HEADER, &section(10, b"code")].concat();
        assert_eq!(without_names(&module), Some(module.clone()));
        for end in [1, 7, 9, module.len() - 1] {
            assert_eq!(without_names(&module[..end]), None, "{end}");
        }
    }
}
