//! Second factors: what a user is asked for beside the password.

use ring::hmac;
use serde_json::{Value, json};

use crate::clock::Time;

/// How long a code is good for.
const PERIOD_SECS: u64 = 30;
/// Codes of the period before and the one after are taken, too: clocks differ.
const SLACK: u64 = 1;

/// A second factor.
#[derive(Clone, Debug)]
pub enum Factor {
    /// Codes from an application, with the key that it shares, and the last period whose code was used: none is taken twice.
    Totp {
        /// The shared key.
        key: Vec<u8>,
        /// The last period whose code was used.
        used: Option<u64>,
    },
    /// A key that one touches, which takes a browser.
    WebAuthn,
    /// Keys on paper, each good for one login; `None` where one was used.
    Recovery(Vec<Option<String>>),
}

impl Factor {
    /// Codes from an application that has this key.
    pub fn totp(key: impl Into<Vec<u8>>) -> Self {
        Self::Totp {
            key: key.into(),
            used: None,
        }
    }

    /// What `/access/tfa` calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Totp { .. } => "totp",
            Self::WebAuthn => "webauthn",
            Self::Recovery(_) => "recovery",
        }
    }

    /// What a login is told to bring: which kind, and what it has to know for it.
    pub(crate) fn challenge(&self) -> (String, Value) {
        let wants = match self {
            Self::Totp { .. } => json!(true),
            Self::WebAuthn => json!({ "publicKey": { "challenge": "c2ltdWxhdGVk" } }),
            Self::Recovery(keys) => {
                let keys = keys.iter().enumerate();
                keys.filter_map(|(at, key)| key.as_ref().map(|_| at))
                    .collect()
            }
        };
        (self.kind().to_owned(), wants)
    }

    /// Whether this is the answer. Remembers it.
    pub(crate) fn accepts(&mut self, answer: &str, now: Time) -> bool {
        let (key, used) = match self {
            Self::Totp { key, used } => (key, used),
            Self::WebAuthn => return false,
            Self::Recovery(keys) => {
                let answer = answer.strip_prefix("recovery:");
                let found = (keys.iter_mut()).find(|key| key.is_some() && key.as_deref() == answer);
                return found.and_then(Option::take).is_some();
            }
        };
        let Some(code) = answer.strip_prefix("totp:") else {
            return false;
        };
        let period = now.secs() / PERIOD_SECS;
        let mut good = (period.saturating_sub(SLACK)..=period + SLACK)
            .filter(|period| used.is_none_or(|used| *period > used));
        let found = good.find(|period| code_of(key, *period) == code);
        *used = found.or(*used);
        found.is_some()
    }

    /// The code that the application shows now.
    pub fn code(&self, now: Time) -> Option<String> {
        match self {
            Self::Totp { key, .. } => Some(code_of(key, now.secs() / PERIOD_SECS)),
            Self::WebAuthn | Self::Recovery(_) => None,
        }
    }
}

/// RFC 6238 with SHA-1 and six digits, which is what applications do unless told otherwise.
fn code_of(key: &[u8], period: u64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = hmac::sign(&key, &period.to_be_bytes());
    let bytes = tag.as_ref();
    let at = usize::from(bytes[bytes.len() - 1] & 0xf);
    let part = bytes[at..at + 4]
        .iter()
        .fold(0_u32, |part, byte| part << 8 | u32::from(*byte));
    format!("{:06}", (part & 0x7fff_ffff) % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From RFC 6238, appendix B, cut to six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let key = b"12345678901234567890";
        for (secs, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (2_000_000_000, "279037"),
        ] {
            assert_eq!(code_of(key, secs / PERIOD_SECS), code);
        }
    }

    #[test]
    fn a_recovery_key_is_good_once() {
        let keys = ["aaaa-1111", "bbbb-2222"].map(|key| Some(key.to_owned()));
        let mut factor = Factor::Recovery(keys.to_vec());
        let now = Time::from_secs(59);
        assert_eq!(factor.challenge().1, json!([0, 1]));
        assert!(!factor.accepts("recovery:cccc-3333", now) && !factor.accepts("aaaa-1111", now));
        assert!(factor.accepts("recovery:aaaa-1111", now));
        assert!(!factor.accepts("recovery:aaaa-1111", now));
        assert_eq!(factor.challenge().1, json!([1]));
    }

    #[test]
    fn a_code_is_good_once() {
        let mut factor = Factor::totp(*b"12345678901234567890");
        let now = Time::from_secs(59);
        assert!(!factor.accepts("totp:000000", now));
        assert!(!factor.accepts("287082", now), "without its kind");
        assert!(factor.accepts("totp:287082", now));
        assert!(!factor.accepts("totp:287082", now));
    }
}
