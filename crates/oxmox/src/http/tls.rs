//! The server's certificate.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tools::fault::Fault;

use super::settings::TlsFiles;

/// The settings of TLS with the certificate of these files. The key is never quoted, whatever is wrong with it.
pub(super) fn config(files: &TlsFiles) -> Result<Arc<ServerConfig>, Fault> {
    let chain: Vec<_> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(&files.cert, &error))?;
    if chain.is_empty() {
        return Err(unusable(&files.cert, &"it holds no certificate"));
    }
    crate::config::secret_file::check_rights(&files.key)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| {
        unusable(&files.key, &error).hint("a key in PEM is expected, without a passphrase")
    })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| {
            unusable(&files.cert, &error).hint(format!(
                "the key in {} has to be the certificate's own",
                files.key.display()
            ))
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn unusable(path: &Path, why: &dyn Display) -> Fault {
    Fault::bad_input(format!("{} cannot be used for TLS: {why}", path.display()))
}
