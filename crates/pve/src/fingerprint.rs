//! SHA-256 fingerprints of certificates, written as PVE shows them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::id::IdError;

/// The SHA-256 of a certificate's DER form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate in DER form.
    pub fn of_der(der: &[u8]) -> Self {
        Self(Sha256::digest(der).into())
    }

    /// The digest itself.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// `AA:BB:…`, 32 pairs.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(":")?;
            }
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = IdError;

    /// Takes pairs of hexadecimal digits in either case, with or without colons.
    fn from_str(text: &str) -> Result<Self, IdError> {
        // Not quoted: it may be a secret in the wrong place.
        let wrong = || {
            IdError::new(
                "this is not a SHA-256 fingerprint, which has 32 pairs of hexadecimal digits, AA:BB:…",
            )
        };
        let trimmed = text.trim();
        let is_pair = |pair: &str| pair.len() == 2;
        if trimmed.contains(':') && !trimmed.split(':').all(is_pair) {
            return Err(wrong());
        }
        let digits: String = trimmed.split(':').collect();
        if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_the_sha256_of_the_der_form() {
        // The digest of the empty input is public knowledge.
        assert!(
            Fingerprint::of_der(b"")
                .to_string()
                .starts_with("E3:B0:C4:42:98:FC:1C:14")
        );
    }

    #[test]
    fn wrong_texts_are_refused() {
        let good = Fingerprint::of_der(b"x").to_string();
        for bad in [
            "",
            "AA:BB",
            &good[1..],
            &format!("{good}:00"),
            &good.replace(':', "-"),
        ] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(bytes in any::<[u8; 32]>()) {
            let print = Fingerprint(bytes);
            let text = print.to_string();
            prop_assert_eq!(text.parse::<Fingerprint>().unwrap(), print);
            prop_assert_eq!(text.replace(':', "").to_lowercase().parse::<Fingerprint>().unwrap(), print);
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = text.parse::<Fingerprint>();
        }
    }
}
