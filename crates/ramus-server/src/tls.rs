//! Encryption: a certificate and its key, and connections that begin with a handshake.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use tokio_rustls::server::TlsStream;

/// Why a certificate and a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of the certificate makes no sense.
    #[error("the certificate is not PEM: {0}")]
    Certificate(String),
    /// There is no certificate in it.
    #[error("there is no certificate in the file: it has no BEGIN CERTIFICATE")]
    NoCertificate,
    /// There is no key that could be used.
    #[error("there is no private key in the file, or it is not PEM: {0}")]
    Key(String),
    /// They do not fit together, or cannot be used.
    #[error("the certificate and the key cannot be used: {0}")]
    Pair(String),
}

/// A certificate and its key, ready to be used. What it holds is not shown.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads a chain of certificates, the server's own first, and its key, both as PEM.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let unusable = |error: tokio_rustls::rustls::Error| TlsError::Pair(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Begins a connection; none when the other end does not, or takes too long.
    pub(crate) async fn greet<S>(&self, stream: S, patience: Duration) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        tokio::time::timeout(patience, self.0.accept(stream)).await.ok()?.ok()
    }
}
