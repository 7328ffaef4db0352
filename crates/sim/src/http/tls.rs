//! The cluster's own certificate authority and one certificate per node, made anew for every simulator.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};

use crate::sim::StartError;

/// Signs the nodes' certificates.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// What a node's listener needs.
pub(crate) struct NodeCertificate {
    pub(crate) config: Arc<ServerConfig>,
    /// `AA:BB:...`, the SHA-256 of the certificate.
    pub(crate) fingerprint: String,
    /// In text form.
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(cluster: &str) -> Result<Self, StartError> {
        let mut params = CertificateParams::new(Vec::new())?;
        params
            .distinguished_name
            .push(DnType::CommonName, "Proxmox Virtual Environment");
        params
            .distinguished_name
            .push(DnType::OrganizationName, format!("{cluster} (simulated)"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { issuer })
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for a node: its names, and the addresses tests connect to.
    pub(crate) fn certify(&self, node: &str, ip: &str) -> Result<NodeCertificate, StartError> {
        let names = [node, ip, "localhost", "127.0.0.1", "::1"];
        let names: Vec<String> = names
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| (*name).to_owned())
            .collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, node);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let fingerprint = fingerprint(certificate.der());
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)?;
        Ok(NodeCertificate {
            config: Arc::new(config),
            fingerprint,
            pem: certificate.pem(),
        })
    }
}

fn fingerprint(der: &[u8]) -> String {
    let bytes: Vec<String> = Sha256::digest(der)
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    bytes.join(":")
}
