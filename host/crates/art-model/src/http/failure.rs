//! Describes connection failures in words.

use std::error::Error;
use std::io;
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};

use reqwest::Url;

use crate::fault::{duration, error};
use crate::provider::is_loopback;
use crate::settings::{EngineLimits, time};

/// Creates the error of a failed request to `host`.
pub(super) fn of(host: &str, limits: &EngineLimits, cause: &reqwest::Error) -> ModelError {
    // A connection that is lost in the middle of a reply also ends with a timeout of the system.
    if cause.is_timeout() && cause.is_connect() {
        let connect_timeout = time(limits.connect_timeout_ms);
        return network(format!(
            "no connection to `{host}` within {}; check the network, and whether `base_url` is right",
            duration(connect_timeout)
        ));
    }
    network(sentence(host, cause))
}

fn sentence(host: &str, cause: &reqwest::Error) -> String {
    if let Some(cause) = source::<rustls::Error>(cause) {
        return tls(host, cause);
    }
    let kind = source::<io::Error>(cause).map(io::Error::kind);
    let root = root(cause);
    if kind == Some(io::ErrorKind::ConnectionRefused) {
        return if is_near(host) {
            format!("nothing answers at `{host}`; start the server there, or correct `base_url`")
        } else {
            format!("nothing answers at `{host}`; start the server there, or correct `base_url` and any proxy")
        };
    }
    if chain(cause).any(|cause| cause.to_string().contains("dns error")) {
        // The name that cannot be resolved may be that of the proxy.
        return format!("cannot find the host `{host}`: {root}; check the network, `base_url`, and any proxy");
    }
    if cause.is_connect() {
        return format!("no connection to `{host}`: {root}; check the network, and any proxy");
    }
    format!("the connection to `{host}` broke off: {root}; try again")
}

/// Whether `host` is this machine, which is reached without a proxy.
fn is_near(host: &str) -> bool {
    Url::parse(&format!("http://{host}")).is_ok_and(|url| is_loopback(&url))
}

fn tls(host: &str, cause: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(certificate) = cause else {
        return match cause {
            rustls::Error::InvalidMessage(_) => format!("`{host}` does not speak TLS; correct `base_url`"),
            _ => format!("no TLS with `{host}`: {cause}; check `base_url`, and any proxy"),
        };
    };
    let wrong = match certificate {
        Certificate::Expired | Certificate::ExpiredContext { .. } => "has expired; check the clock of this machine",
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "is not valid yet; check the clock of this machine"
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            "is that of another host; correct `base_url`"
        }
        Certificate::UnknownIssuer => {
            "is from nobody whom this machine trusts; check its certificates (`ca-certificates`), and any proxy"
        }
        _ => "is not valid; check the certificates of this machine, and any proxy",
    };
    format!("the certificate of `{host}` {wrong}")
}

/// Creates the error of a reply whose head did not arrive in time.
pub(super) fn silent(host: &str, waited: Duration) -> ModelError {
    late(format!(
        "`{host}` did not answer within {}; try again, or choose a faster model",
        duration(waited)
    ))
}

/// Creates the error of a reply that stopped arriving.
pub(super) fn stalled(host: &str, waited: Duration) -> ModelError {
    late(format!(
        "`{host}` sent nothing more for {} in the middle of a reply; try again",
        duration(waited)
    ))
}

/// Creates the error of a reply that did not end in time.
pub(super) fn endless(host: &str, waited: Duration) -> ModelError {
    late(format!(
        "the reply of `{host}` did not end within {}; ask for less at a time",
        duration(waited)
    ))
}

/// Creates the error of a reply with too many bytes.
pub(super) fn too_long(host: &str, limit: usize) -> ModelError {
    let message = format!("the reply of `{host}` is longer than {limit} bytes; ask for less at a time");
    error(ModelErrorCode::InvalidResponse, message)
}

/// Returns the text of the innermost cause; the outer ones only say where it was passed on.
pub(super) fn root(cause: &reqwest::Error) -> String {
    chain(cause).last().map(ToString::to_string).unwrap_or_default()
}

fn network(message: String) -> ModelError {
    error(ModelErrorCode::NetworkError, message)
}

fn late(message: String) -> ModelError {
    error(ModelErrorCode::Timeout, message)
}

/// Returns `cause` and all causes behind it.
fn chain(cause: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = cause;
    std::iter::successors(Some(first), |cause| behind(*cause))
}

/// Returns the cause behind `cause`. The inner error of an I/O error is not its `source`, so it is taken first.
fn behind<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let held = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    held.map(|held| held as &'a (dyn Error + 'static))
        .or_else(|| cause.source())
}

fn source<E: Error + 'static>(cause: &reqwest::Error) -> Option<&E> {
    chain(cause).filter_map(|cause| cause.downcast_ref::<E>()).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::tls as trust;
    use crate::testing::{Server, Step};
    use rustls::CertificateError as Certificate;

    #[expect(clippy::disallowed_methods, reason = "a client whose failures are looked at")]
    fn client() -> reqwest::ClientBuilder {
        let builder = reqwest::Client::builder().no_proxy();
        builder.tls_backend_preconfigured(trust::config(true).unwrap())
    }

    #[tokio::test]
    async fn a_time_out_behind_the_connection_is_no_want_of_a_connection() {
        let server = Server::start(vec![vec![Step::Hang]]).await;
        let client = client().read_timeout(Duration::from_millis(1)).build().unwrap();
        let cause = client.get(server.base_url()).send().await.unwrap_err();
        assert!(cause.is_timeout() && !cause.is_connect(), "{cause:?}");
        let error = of("h", &EngineLimits::default(), &cause);
        insta::assert_snapshot!(error, @"the connection to `h` broke off: operation timed out; try again");
    }

    #[tokio::test]
    async fn a_proxy_may_be_what_does_not_answer_for_a_host_that_is_not_this_machine() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let client = client().build().unwrap();
        let cause = client.get(format!("http://{address}")).send().await.unwrap_err();
        let said = ["localhost:1", "models.example"].map(|host| of(host, &EngineLimits::default(), &cause).message);
        insta::assert_snapshot!(said.join("\n"), @r"
        nothing answers at `localhost:1`; start the server there, or correct `base_url`
        nothing answers at `models.example`; start the server there, or correct `base_url` and any proxy
        ");
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_said_with_what_to_do() {
        let causes = [
            Certificate::Expired,
            Certificate::NotValidYet,
            Certificate::NotValidForName,
            Certificate::UnknownIssuer,
            Certificate::BadEncoding,
        ];
        let texts = causes.map(|cause| tls("h", &rustls::Error::InvalidCertificate(cause)));
        insta::assert_snapshot!(texts.join("\n"), @r"
        the certificate of `h` has expired; check the clock of this machine
        the certificate of `h` is not valid yet; check the clock of this machine
        the certificate of `h` is that of another host; correct `base_url`
        the certificate of `h` is from nobody whom this machine trusts; check its certificates (`ca-certificates`), and any proxy
        the certificate of `h` is not valid; check the certificates of this machine, and any proxy
        ");
    }
}
