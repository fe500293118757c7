//! RSA keys for RS256 (RSASSA-PKCS1-v1_5 with SHA-256). Rejects weak keys.

use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sha2::{Digest, Sha256};

const MIN_BITS: usize = 2048;
const MAX_BITS: usize = 8192;
/// The DER before a SHA-256 hash in a signature (RFC 8017, 9.2).
const SHA256_PREFIX: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
    0x04, 0x20,
];

/// A public key that is not weak.
pub(super) struct RsaKey(RsaPublicKey);

impl RsaKey {
    /// `None` if the key is weak or invalid. Both numbers are big-endian.
    pub(super) fn new(modulus: &[u8], exponent: &[u8]) -> Option<Self> {
        if is_roca(modulus) {
            return None;
        }
        let (modulus, exponent) = (BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent));
        if modulus.bits() < MIN_BITS {
            return None;
        }
        // Rejects even numbers and an exponent of 1.
        RsaPublicKey::new_with_max_size(modulus, exponent, MAX_BITS).ok().map(Self)
    }

    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        // Not `Pkcs1v15Sign::new`, which would add a second implementation of SHA-256.
        let padding = Pkcs1v15Sign { hash_len: Some(Sha256::output_size()), prefix: SHA256_PREFIX.into() };
        self.0.verify(padding, Sha256::digest(signed).as_slice(), signature).is_ok()
    }
}

/// The primes up to 167, which identify keys with the ROCA flaw (CVE-2017-15361).
const ROCA_PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

/// Whether a modulus has the fingerprint of factorable keys: modulo each of the primes it is a power of 65537.
fn is_roca(modulus: &[u8]) -> bool {
    ROCA_PRIMES.iter().all(|prime| {
        let residue = modulus.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % prime);
        let mut powers = std::iter::successors(Some(1), |power| Some(power * 65537 % prime));
        // The powers repeat after at most `prime - 1` of them.
        powers.by_ref().take(*prime as usize).any(|power| power == residue)
    })
}
