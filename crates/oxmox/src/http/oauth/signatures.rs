//! The signatures of tokens, checked by ring: the library that checks certificates here already.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(refused()),
    verifier_factory: |algorithm, key| match check(*algorithm, key) {
        Some(check) => Ok(Box::new(Checked {
            algorithm: *algorithm,
            check,
        })),
        None => Err(refused()),
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes ring the one that jsonwebtoken asks.
pub(super) fn install() {
    // It is already, if this is not the first time.
    let _ = PROVIDER.install_default();
}

fn refused() -> Error {
    ErrorKind::InvalidAlgorithm.into()
}

/// How to check a signature by this algorithm, if the key is one for it.
fn check(algorithm: Algorithm, key: &DecodingKey) -> Option<Check> {
    match key.kind() {
        DecodingKeyKind::RsaModulusExponent { n, e } => {
            let how = rsa(algorithm)?;
            Some(Check::Rsa(how, without_zeros(n), without_zeros(e)))
        }
        DecodingKeyKind::SecretOrDer(point) => {
            let (how, family): (&'static dyn VerificationAlgorithm, _) = match algorithm {
                Algorithm::ES256 => (&ECDSA_P256_SHA256_FIXED, AlgorithmFamily::Ec),
                Algorithm::ES384 => (&ECDSA_P384_SHA384_FIXED, AlgorithmFamily::Ec),
                Algorithm::EdDSA => (&ED25519, AlgorithmFamily::Ed),
                _ => return None,
            };
            (key.family() == family).then(|| Check::Curve(how, point.clone()))
        }
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&RSA_PSS_2048_8192_SHA384),
        _ => None,
    }
}

/// ring takes a number without zeros before it.
fn without_zeros(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number[zeros..].to_vec()
}

enum Check {
    Rsa(&'static RsaParameters, Vec<u8>, Vec<u8>),
    Curve(&'static dyn VerificationAlgorithm, Vec<u8>),
}

struct Checked {
    algorithm: Algorithm,
    check: Check,
}

impl Verifier<Vec<u8>> for Checked {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match &self.check {
            Check::Rsa(how, n, e) => {
                RsaPublicKeyComponents { n, e }.verify(how, message, signature)
            }
            Check::Curve(how, point) => {
                UnparsedPublicKey::new(*how, point).verify(message, signature)
            }
        };
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Checked {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7515, A.2.
    const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    const MESSAGE: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

    #[test]
    fn an_rsa_signature_fits_its_message_and_its_algorithm_alone() {
        install();
        let key = DecodingKey::from_rsa_components(N, "AQAB").unwrap();
        let fits = |message: &str, algorithm| {
            jsonwebtoken::crypto::verify(SIGNATURE, message.as_bytes(), &key, algorithm)
        };
        assert!(fits(MESSAGE, Algorithm::RS256).unwrap());
        assert!(!fits(&MESSAGE[1..], Algorithm::RS256).unwrap());
        assert!(!fits(MESSAGE, Algorithm::PS256).unwrap());
        // The public key is no shared secret, and no point of a curve.
        assert!(fits(MESSAGE, Algorithm::HS256).is_err());
        assert!(fits(MESSAGE, Algorithm::ES256).is_err());
    }
}
