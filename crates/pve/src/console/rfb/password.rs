//! VNC's password check: the server's challenge, encrypted with the password.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use secrecy::{ExposeSecret, SecretString};

/// The answer to a challenge. Only the first eight bytes of a password count, and each of their bits is used in reverse.
pub(super) fn response(challenge: [u8; 16], password: &SecretString) -> [u8; 16] {
    let mut key = [0; 8];
    let typed = password.expose_secret().bytes();
    for (place, byte) in key.iter_mut().zip(typed) {
        *place = byte.reverse_bits();
    }
    let cipher = Des::new(&key.into());
    let mut response = challenge;
    for half in response.chunks_exact_mut(8) {
        let mut block = [0; 8];
        block.copy_from_slice(half);
        let mut block = block.into();
        cipher.encrypt_block(&mut block);
        half.copy_from_slice(&block);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // DES with an all-zero key and block, a published test vector.
        let zero = response([0; 16], &SecretString::from(String::new()));
        let once = [0x8c, 0xa6, 0x4d, 0xe9, 0xc1, 0xb1, 0x23, 0xa7];
        assert_eq!(zero[..8], once);
        assert_eq!(zero[8..], once);
        // Only eight characters count.
        let of = |text: &str| response([7; 16], &SecretString::from(text.to_owned()));
        assert_eq!(of("PVEVNC:6"), of("PVEVNC:6AFA"));
        assert_ne!(of("PVEVNC:6"), of("PVEVNC:7"));
    }
}
