//! Creates the errors of requests that fail in transport: lost connections, timeouts, and replies that are too long.

use std::error::Error;
use std::io;
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};

use reqwest::Url;

use crate::fault::{error, format_duration};
use crate::provider::is_loopback;
use crate::settings::{EngineLimits, duration_from_ms};

/// Creates the error of a failed request to `host`.
pub(super) fn connection_error(host: &str, limits: &EngineLimits, cause: &reqwest::Error) -> ModelError {
    ModelError {
        // A model cannot have read a request if there was no connection.
        request_not_read: cause.is_connect(),
        ..error_with_hint(host, limits, cause)
    }
}

fn error_with_hint(host: &str, limits: &EngineLimits, cause: &reqwest::Error) -> ModelError {
    // A connection that is lost during a reply can also end with a timeout, so check that the failure happened while connecting.
    if cause.is_timeout() && cause.is_connect() {
        let connect_timeout = duration_from_ms(limits.connect_timeout_ms);
        return network_error(format!(
            "no connection to `{host}` within {}; check the network and `base_url`",
            format_duration(connect_timeout)
        ));
    }
    network_error(connection_message(host, cause))
}

/// Returns the cause of the failure and a hint as one sentence.
fn connection_message(host: &str, cause: &reqwest::Error) -> String {
    if let Some(cause) = find_cause::<rustls::Error>(cause) {
        return tls_message(host, cause);
    }
    let kind = find_cause::<io::Error>(cause).map(io::Error::kind);
    let root_cause = root_cause(cause);
    if kind == Some(io::ErrorKind::ConnectionRefused) {
        return if is_this_machine(host) {
            format!("`{host}` refused the connection; start the server there, or correct `base_url`")
        } else {
            format!("`{host}` refused the connection; start the server there, or correct `base_url` and any proxy")
        };
    }
    if chain(cause).any(|cause| cause.to_string().contains("dns error")) {
        // The unresolved name may be that of the proxy.
        return format!("cannot find the host `{host}`: {root_cause}; check the network, `base_url`, and any proxy");
    }
    if cause.is_connect() {
        return format!("no connection to `{host}`: {root_cause}; check the network, and any proxy");
    }
    format!("the connection to `{host}` was lost: {root_cause}; try again")
}

/// Returns whether `host` is this machine, which is reached without a proxy.
fn is_this_machine(host: &str) -> bool {
    Url::parse(&format!("http://{host}")).is_ok_and(|url| is_loopback(&url))
}

fn tls_message(host: &str, cause: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(certificate) = cause else {
        return match cause {
            rustls::Error::InvalidMessage(_) => format!("`{host}` does not use TLS; correct `base_url`"),
            _ => format!("the TLS connection to `{host}` failed: {cause}; check `base_url`, and any proxy"),
        };
    };
    let reason = match certificate {
        Certificate::Expired | Certificate::ExpiredContext { .. } => "has expired; check the clock of this machine",
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "is not valid yet; check the clock of this machine"
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            "belongs to another host; correct `base_url`"
        }
        Certificate::UnknownIssuer => {
            "is from an issuer that this machine does not trust; check its certificates (`ca-certificates`), and any proxy"
        }
        _ => "is not valid; check the certificates of this machine, and any proxy",
    };
    format!("the certificate of `{host}` {reason}")
}

/// Creates the error of a reply whose headers did not arrive in time.
pub(super) fn header_timeout(host: &str, limit: Duration) -> ModelError {
    timeout_error(format!(
        "`{host}` did not answer within {}; try again, or choose a faster model",
        format_duration(limit)
    ))
}

/// Creates the error of a reply that stopped arriving.
pub(super) fn idle_timeout(host: &str, limit: Duration) -> ModelError {
    timeout_error(format!(
        "`{host}` sent nothing for {} in the middle of a reply; try again",
        format_duration(limit)
    ))
}

/// Creates the error of a reply that did not end in time.
pub(super) fn total_timeout(host: &str, limit: Duration) -> ModelError {
    timeout_error(format!(
        "the reply of `{host}` did not end within {}; ask for a shorter reply",
        format_duration(limit)
    ))
}

/// Creates the error of a reply with too many bytes.
pub(super) fn reply_too_long(host: &str, limit: usize) -> ModelError {
    let message = format!("the reply of `{host}` is longer than {limit} bytes; ask for a shorter reply");
    error(ModelErrorCode::InvalidResponse, message)
}

/// Returns the text of the innermost cause. The outer errors add no information.
pub(super) fn root_cause(cause: &reqwest::Error) -> String {
    chain(cause).last().map(ToString::to_string).unwrap_or_default()
}

fn network_error(message: String) -> ModelError {
    error(ModelErrorCode::NetworkError, message)
}

fn timeout_error(message: String) -> ModelError {
    error(ModelErrorCode::Timeout, message)
}

/// Returns `cause` and its chain of causes.
fn chain(cause: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = cause;
    std::iter::successors(Some(first), |cause| next_cause(*cause))
}

/// Returns the cause of `cause`. The inner error of an I/O error is not its `source`, so it is checked first.
fn next_cause<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped
        .map(|error| error as &'a (dyn Error + 'static))
        .or_else(|| cause.source())
}

/// Returns the innermost cause of the type `E`.
fn find_cause<E: Error + 'static>(cause: &reqwest::Error) -> Option<&E> {
    chain(cause).filter_map(|cause| cause.downcast_ref::<E>()).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::tls;
    use crate::testing::{Server, ServerAction};
    use rustls::CertificateError as Certificate;

    #[expect(clippy::disallowed_methods, reason = "this client is used to create failures")]
    fn client() -> reqwest::ClientBuilder {
        let builder = reqwest::Client::builder().no_proxy();
        builder.tls_backend_preconfigured(tls::config(true).unwrap())
    }

    #[tokio::test]
    async fn a_timeout_after_connecting_is_a_lost_connection() {
        let server = Server::start(vec![vec![ServerAction::Hang]]).await;
        let client = client().read_timeout(Duration::from_millis(1)).build().unwrap();
        let cause = client.get(server.base_url()).send().await.unwrap_err();
        assert!(cause.is_timeout() && !cause.is_connect(), "{cause:?}");
        let error = connection_error("h", &EngineLimits::default(), &cause);
        insta::assert_snapshot!(error, @"the connection to `h` was lost: operation timed out; try again");
    }

    #[tokio::test]
    async fn a_refused_connection_to_another_machine_mentions_the_proxy() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let client = client().build().unwrap();
        let cause = client.get(format!("http://{address}")).send().await.unwrap_err();
        let messages = ["localhost:1", "models.example"]
            .map(|host| connection_error(host, &EngineLimits::default(), &cause).message);
        insta::assert_snapshot!(messages.join("\n"), @r"
        `localhost:1` refused the connection; start the server there, or correct `base_url`
        `models.example` refused the connection; start the server there, or correct `base_url` and any proxy
        ");
    }

    #[test]
    fn a_certificate_error_has_its_reason_and_a_hint() {
        let causes = [
            Certificate::Expired,
            Certificate::NotValidYet,
            Certificate::NotValidForName,
            Certificate::UnknownIssuer,
            Certificate::BadEncoding,
        ];
        let texts = causes.map(|cause| tls_message("h", &rustls::Error::InvalidCertificate(cause)));
        insta::assert_snapshot!(texts.join("\n"), @r"
        the certificate of `h` has expired; check the clock of this machine
        the certificate of `h` is not valid yet; check the clock of this machine
        the certificate of `h` belongs to another host; correct `base_url`
        the certificate of `h` is from an issuer that this machine does not trust; check its certificates (`ca-certificates`), and any proxy
        the certificate of `h` is not valid; check the certificates of this machine, and any proxy
        ");
    }
}
