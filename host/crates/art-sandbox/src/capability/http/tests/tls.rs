//! Which certificates of servers are accepted.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::*;

/// A certificate authority that only these tests know.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
        }
    }

    /// Starts a server with a certificate of this authority, and returns its port.
    async fn serve(&self, params: CertificateParams) -> u16 {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        start_server(certificate.der().clone(), &key).await
    }

    /// Returns a TLS client that trusts this authority alone.
    fn trusting_client(&self) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    }
}

/// Starts a server with a certificate, and returns its port. The server answers each request with `hello`.
async fn start_server(certificate: CertificateDer<'static>, key: &KeyPair) -> u16 {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(connection).await else {
                continue;
            };
            let mut buffer = [0; 1024];
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            drop(stream.read(&mut buffer).await);
            drop(
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
                    .await,
            );
            drop(stream.shutdown().await);
        }
    });
    port
}

/// Returns the contents of a certificate for a host.
fn certificate_params(host: &str) -> CertificateParams {
    CertificateParams::new([host.to_owned()]).unwrap()
}

/// Fetches a page from the server at `port` of this machine, under the name `host.example`. Without `tls`, trusts the
/// certificates of the system.
async fn fetch(port: u16, tls: Option<TlsConnector>) -> Result<Page, Error> {
    let url = format!("https://host.example:{port}/");
    let resolver = TestResolver::default().with_answers("host.example", &[&["127.0.0.1"]]);
    let grants = json!([full_grant(&url)]);
    let mut call = match tls {
        Some(tls) => Call::with_tls(grants, resolver, Some(tls)),
        None => {
            let network = Network::new(Box::new(resolver.clone()), OnceLock::new());
            let sender = Sender::new(call_grants(grants), Secrets::none(), Some(Arc::new(network)));
            Call { sender, resolver }
        }
    };
    call.get(&url).await
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_accepted() {
    let authority = Authority::new();
    let port = authority.serve(certificate_params("host.example")).await;
    let page = fetch(port, Some(authority.trusting_client())).await.unwrap();
    assert_eq!(page.body, b"hello");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let port = authority.serve(certificate_params("other.example")).await;
    let error = fetch(port, Some(authority.trusting_client())).await.unwrap_err();
    assert!(matches!(error, Error::TlsCertificateError), "{error}");
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let authority = Authority::new();
    let mut expired = certificate_params("host.example");
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let port = authority.serve(expired).await;
    let error = fetch(port, Some(authority.trusting_client())).await.unwrap_err();
    assert!(matches!(error, Error::TlsCertificateError), "{error}");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused() {
    let port = Authority::new().serve(certificate_params("host.example")).await;
    let error = fetch(port, Some(Authority::new().trusting_client())).await.unwrap_err();
    assert!(matches!(error, Error::TlsCertificateError), "{error}");
}

#[tokio::test]
async fn a_certificate_that_the_system_does_not_trust_is_refused() {
    let key = KeyPair::generate().unwrap();
    let certificate = certificate_params("host.example").self_signed(&key).unwrap();
    let port = start_server(certificate.der().clone(), &key).await;
    let error = fetch(port, None).await.unwrap_err();
    // A machine without any trusted certificates gives the second error.
    assert!(
        matches!(error, Error::TlsCertificateError | Error::ConfigurationError),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut connection, _) = listener.accept()?;
        drop(connection.read(&mut [0; 64]));
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    });
    let error = fetch(port, Some(Authority::new().trusting_client())).await.unwrap_err();
    assert!(matches!(error, Error::TlsProtocolError), "{error}");
}
