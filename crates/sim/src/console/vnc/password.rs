//! VNC's proof of a password: a challenge, encrypted with it.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};

/// What a client that knows the password answers. Eight bytes of it count, the bits of each in reverse.
pub(crate) fn response(challenge: [u8; 16], password: &str) -> [u8; 16] {
    let mut key = [0; 8];
    for (place, byte) in key.iter_mut().zip(password.bytes()) {
        *place = byte.reverse_bits();
    }
    let cipher = Des::new(&key.into());
    let mut answer = challenge;
    for half in answer.chunks_exact_mut(8) {
        let mut block = [0; 8];
        block.copy_from_slice(half);
        let mut block = block.into();
        cipher.encrypt_block(&mut block);
        half.copy_from_slice(&block);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_characters_count() {
        // The published answer of DES to a block of zeros with a key of zeros.
        let zeros = [0x8c, 0xa6, 0x4d, 0xe9, 0xc1, 0xb1, 0x23, 0xa7];
        assert_eq!(response([0; 16], "")[..8], zeros);
        let of = |password| response([7; 16], password);
        assert_eq!(of("PVEVNC:6"), of("PVEVNC:6AFA0665"));
        assert_ne!(of("PVEVNC:6"), of("PVEVNC:7"));
    }
}
