//! Base64url without padding (RFC 7515, section 2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Strict: accepts no padding, no other characters and no stray bits.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_is_decoded_strictly() {
        assert_eq!(decode("-_8").as_deref(), Some(&[0xfb, 0xff][..]));
        for wrong in ["-_8=", "+/8", "-_9", "-_8 ", "-_\n8", "A", "-_8?"] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
    }
}
