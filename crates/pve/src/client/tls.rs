//! Whom to believe: system roots, a CA file or a pin. Every refusal carries the fingerprint that was presented.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

use crate::error::{Error, Untrusted};
use crate::fingerprint::Fingerprint;
use crate::settings::{Host, Trust};

/// The certificate that a host presents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Its SHA-256.
    pub fingerprint: Fingerprint,
    /// The whole of it.
    pub der: Vec<u8>,
    /// Whether it is trusted for this host: by its pin, or by whoever vouches for certificates.
    pub trusted: bool,
}

/// What a host presented last, whatever became of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Last(Arc<Mutex<Option<Presented>>>);

impl Last {
    fn note(&self, certificate: &CertificateDer<'_>, fingerprint: Fingerprint, trusted: bool) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(Presented {
            fingerprint,
            der: certificate.to_vec(),
            trusted,
        });
    }

    pub(super) fn presented(&self) -> Option<Presented> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }
}

/// Builds the TLS settings for one host. Reads certificates from disk, so it belongs off the async threads.
pub(super) fn config_for(
    host: &Host,
    trust: &Trust,
    last: Last,
) -> Result<Arc<ClientConfig>, Error> {
    config(host, trust, last, false)
}

/// For a look: notes what the host presents, and whether it would be trusted, and goes no further in either case.
pub(super) fn look_config_for(
    host: &Host,
    trust: &Trust,
    last: Last,
) -> Result<Arc<ClientConfig>, Error> {
    let unpinned = Host {
        pin: None,
        ..host.clone()
    };
    config(&unpinned, trust, last, true)
}

fn config(
    host: &Host,
    trust: &Trust,
    last: Last,
    only_looks: bool,
) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let check = match host.pin {
        Some(pin) => Check::Pin(pin),
        None => check_by(trust, &provider)?,
    };
    let verifier = Arc::new(Verifier {
        host: host.to_string(),
        check,
        only_looks,
        provider: Arc::clone(&provider),
        last,
    });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| build(&format!("TLS: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn check_by(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Check, Error> {
    let roots = match trust {
        Trust::System => return system_check(provider),
        Trust::CaFile(path) => file_roots(path)?,
        Trust::CaText(text) => roots(
            "the authority",
            CertificateDer::pem_slice_iter(text.as_bytes()),
        )?,
    };
    Ok(Check::Roots(verifier(roots, provider)?))
}

/// Small containers come without roots. Connecting all the same is harmless, and the refusal then names the fingerprint.
fn system_check(provider: &Arc<CryptoProvider>) -> Result<Check, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Ok(Check::Nobody);
    }
    verifier(roots, provider).map(Check::Roots)
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| build(&format!("the trusted certificates are unusable: {error}")))
}

fn file_roots(path: &Path) -> Result<RootCertStore, Error> {
    let whose = format!("CA file {}", path.display());
    let all = CertificateDer::pem_file_iter(path);
    roots(
        &whose,
        all.map_err(|error| build(&format!("{whose}: {error}")))?,
    )
}

fn roots(
    whose: &str,
    all: impl Iterator<Item = Result<CertificateDer<'static>, pem::Error>>,
) -> Result<RootCertStore, Error> {
    let wrong = |why: &dyn std::fmt::Display| build(&format!("{whose}: {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in all {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"it holds no certificate"));
    }
    Ok(roots)
}

fn build(what: &str) -> Error {
    Error::Build {
        what: what.to_owned(),
    }
}

/// The refusal inside a failed handshake, if that is why it failed.
pub(super) fn refusal(error: &std::io::Error) -> Option<Untrusted> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(inner))) => {
            inner.downcast_ref::<Untrusted>().cloned()
        }
        _ => None,
    }
}

#[derive(Debug)]
enum Check {
    Pin(Fingerprint),
    Roots(Arc<WebPkiServerVerifier>),
    Nobody,
}

/// Checks the certificate of one host; signatures are the provider's matter in either case.
#[derive(Debug)]
struct Verifier {
    host: String,
    check: Check,
    /// Refuses also what it would trust, so that nothing is ever sent.
    only_looks: bool,
    provider: Arc<CryptoProvider>,
    last: Last,
}

impl Verifier {
    fn refuse(&self, presented: Fingerprint, problem: String) -> rustls::Error {
        let untrusted = Untrusted {
            host: self.host.clone(),
            presented,
            pinned: match self.check {
                Check::Pin(pin) => Some(pin),
                Check::Roots(_) | Check::Nobody => None,
            },
            problem,
        };
        CertificateError::Other(OtherError(Arc::new(untrusted))).into()
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let presented = Fingerprint::of_der(end_entity);
        let verdict = match &self.check {
            Check::Pin(pin) if *pin == presented => Ok(ServerCertVerified::assertion()),
            Check::Pin(_) => Err(self.refuse(presented, "it is not the pinned one".to_owned())),
            Check::Nobody => {
                let problem = "this system has no trusted root certificates";
                Err(self.refuse(presented, problem.to_owned()))
            }
            Check::Roots(roots) => roots
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .map_err(|error| self.refuse(presented, problem(&error))),
        };
        self.last.note(end_entity, presented, verdict.is_ok());
        if self.only_looks {
            return Err(self.refuse(presented, "it was only looked at".to_owned()));
        }
        verdict
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn problem(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its issuer is not among the trusted ones".to_owned()
        }
        rustls::Error::InvalidCertificate(reason) => reason.to_string(),
        other => other.to_string(),
    }
}
