//! Whom a client trusts: whoever the system does, the authorities that the user named, and the very certificates that they
//! named. One that somebody made for a server with a single command is its own authority, which no end of a chain may be;
//! when it is named, it is taken for what it is, as long as it is valid and bears the name of the server.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme};
use rustls_platform_verifier::Verifier;
use webpki::{EndEntityCert, KeyUsage};

use crate::error::Error;

/// Makes what connections are encrypted with, trusting these certificates too.
pub(crate) fn trusting(pem: &[u8]) -> Result<ClientConfig, Error> {
    let unreadable = |error| Error::Setup(format!("the certificates are not PEM: {error}"));
    let named: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(unreadable)?;
    if named.is_empty() {
        return Err(Error::Setup("there is no certificate to trust: the file has no BEGIN CERTIFICATE".into()));
    }
    let unusable = |error: TlsError| Error::Setup(format!("the certificates cannot be used: {error}"));
    let provider = Arc::new(aws_lc_rs::default_provider());
    let trust = Trust::of(named, Arc::clone(&provider)).map_err(unusable)?;
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(unusable)?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(trust)).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Trusts the certificates that were named, and whatever else is trusted.
#[derive(Debug)]
struct Trust {
    named: Vec<CertificateDer<'static>>,
    usual: Arc<dyn ServerCertVerifier>,
}

impl Trust {
    fn of(named: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let usual = Verifier::new_with_extra_roots(named.clone(), provider)?;
        Ok(Self { named, usual: Arc::new(usual) })
    }

    /// Takes a certificate that was named and is its own authority. None when that is not what it is.
    fn own_authority(
        &self,
        shown: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Option<Result<(), TlsError>> {
        self.named.iter().find(|named| *named == shown)?;
        let parsed = EndEntityCert::try_from(shown).ok()?;
        // When it is valid is looked at before what it may be used for, so whoever comes to that is not expired.
        let used = parsed.verify_for_usage(&[], &[], &[], now, KeyUsage::server_auth(), None, None);
        match used.err()? {
            webpki::Error::CaUsedAsEndEntity => {}
            _ => return None,
        }
        Some(ParsedCertificate::try_from(shown).and_then(|parsed| verify_server_name(&parsed, name)))
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        behind: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.own_authority(shown, name, now) {
            Some(own) => own.map(|()| ServerCertVerified::assertion()),
            None => self.usual.verify_server_cert(shown, behind, name, ocsp, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.usual.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.usual.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::CertificateError;

    use super::*;

    /// Made with `openssl req -x509 -newkey ec … -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1`.
    const OWN: &[u8] = include_bytes!("trust/own.pem");
    const OTHER: &[u8] = include_bytes!("trust/other.pem");

    fn verified(named: &[u8], shown: &[u8], name: &str, year: u64) -> Option<Result<(), TlsError>> {
        let read = |pem| CertificateDer::from_pem_slice(pem).ok();
        let trust = Trust::of(vec![read(named)?], Arc::new(aws_lc_rs::default_provider())).ok()?;
        let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_557_600));
        let name = ServerName::try_from(name.to_owned()).ok()?;
        let verified = trust.verify_server_cert(&read(shown)?, &[], &name, &[], now);
        Some(verified.map(drop))
    }

    #[test]
    fn a_certificate_that_was_named_is_trusted_where_and_while_it_holds() {
        for name in ["localhost", "127.0.0.1"] {
            assert_eq!(verified(OWN, OWN, name, 2030), Some(Ok(())), "{name}");
        }
        for (named, name, year) in
            [(OWN, "example.com", 2030), (OWN, "localhost", 2020), (OWN, "localhost", 2900), (OTHER, "localhost", 2030)]
        {
            let refused = verified(named, OWN, name, year);
            assert!(matches!(refused, Some(Err(TlsError::InvalidCertificate(_)))), "{name} {year}: {refused:?}");
        }
        let expired = verified(OWN, OWN, "localhost", 2900);
        let is_expired = matches!(
            expired,
            Some(Err(TlsError::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. }
            )))
        );
        assert!(is_expired, "{expired:?}");
    }
}
