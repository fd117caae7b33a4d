//! TLS configuration with ring and the system certificates.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use art_core::error::{ModelError, ModelErrorCode};
use rustls::client::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{ConfigBuilder, Error, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;

use crate::fault::error;

/// Returns the TLS configuration for connections to this machine (`loopback`) or to others.
///
/// Without system certificates, fails for other machines. For this machine, returns a configuration that trusts no certificate.
pub(super) fn config(loopback: bool) -> Result<ClientConfig, ModelError> {
    // Reading the certificates of the system is slow, and all clients share them.
    static VERIFIER: OnceLock<Result<Arc<Verifier>, Error>> = OnceLock::new();
    let verifier = VERIFIER.get_or_init(|| Verifier::new(Arc::new(ring::default_provider())).map(Arc::new));
    match verifier {
        Ok(verifier) => {
            let builder = builder()?.dangerous();
            let builder = builder.with_custom_certificate_verifier(Arc::clone(verifier) as Arc<dyn ServerCertVerifier>);
            Ok(builder.with_no_client_auth())
        }
        Err(_cause) if loopback => without_certificates(),
        Err(cause) => Err(tls_error(cause)),
    }
}

/// Returns a configuration that trusts no certificate, for a client that sends no request with TLS.
pub(super) fn without_certificates() -> Result<ClientConfig, ModelError> {
    let builder = builder()?.with_root_certificates(RootCertStore::empty());
    Ok(builder.with_no_client_auth())
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, ModelError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_details(provider, Arc::new(CertificateClock));
    builder
        .with_safe_default_protocol_versions()
        .map_err(|cause| tls_error(&cause))
}

/// The clock by which certificates are checked. If it is before 1970, none is valid; the clock of rustls would panic.
#[derive(Debug)]
struct CertificateClock;

impl TimeProvider for CertificateClock {
    fn current_time(&self) -> Option<UnixTime> {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since_epoch.ok().map(UnixTime::since_unix_epoch)
    }
}

fn tls_error(cause: &Error) -> ModelError {
    let message = format!("cannot prepare TLS: {cause}; install the certificates of this system (`ca-certificates`)");
    error(ModelErrorCode::NetworkError, message)
}
