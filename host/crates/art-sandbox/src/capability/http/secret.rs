//! Adds a secret to a request, and removes secrets from responses.

use std::borrow::Cow;

use art_core::capability::{Denial, RequestTarget, SecretHeader};
use art_core::secret::{Redactor, Secrets};
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, IF_RANGE, RANGE, SET_COOKIE, TRANSFER_ENCODING, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use wasmtime_wasi_http::Error;

/// Headers of a request that could make the server return a secret compressed or in pieces, so that it could not be found and
/// redacted. They are removed from a request to which a secret is added.
const REMOVED_WITH_SECRET: [HeaderName; 3] = [ACCEPT_ENCODING, IF_RANGE, RANGE];

/// Headers of a response that are about the identity of whoever sent the request. The guest does not get them if the request had
/// a secret.
const ABOUT_IDENTITY: [HeaderName; 3] = [
    SET_COOKIE,
    WWW_AUTHENTICATE,
    HeaderName::from_static("authentication-info"),
];

/// Why a secret cannot be added to a request.
pub(super) enum SecretNotAdded {
    /// The request is denied.
    Denied(Denial),
    /// The name of the header in the grant is not valid, or the secret has characters that no header can have.
    InvalidHeader,
}

/// Adds a secret to the headers of a request to `target`, in the header and with the prefix that the grant names.
pub(super) fn add(
    secret_header: &SecretHeader,
    secrets: &Secrets,
    method: &str,
    target: &RequestTarget,
    headers: &mut HeaderMap,
) -> Result<(), SecretNotAdded> {
    let header_name = HeaderName::try_from(&secret_header.header).map_err(|_invalid| SecretNotAdded::InvalidHeader)?;
    if headers.contains_key(&header_name) {
        let reason = format!("the grant itself sets the header `{header_name}`");
        let origin = target.origin().to_string();
        let capability = art_core::capability::Capability::Http;
        return Err(SecretNotAdded::Denied(Denial::new(
            capability, method, &origin, &reason,
        )));
    }
    let Some(secret) = secrets.get(&secret_header.name) else {
        return Err(SecretNotAdded::Denied(Denial::missing_secret(
            method,
            target,
            &secret_header.name,
        )));
    };
    let value = HeaderValue::try_from(format!("{}{}", secret_header.prefix(), secret.expose()));
    let mut value = value.map_err(|_invalid| SecretNotAdded::InvalidHeader)?;
    // Libraries do not show a sensitive value in their logs.
    value.set_sensitive(true);
    for name in &REMOVED_WITH_SECRET {
        headers.remove(name);
    }
    headers.insert(header_name, value);
    Ok(())
}

/// Removes secrets from the headers of a response. If the host added a secret to the request (`request_has_secret`), also
/// removes the headers about identity, and refuses a response whose encoding would hide the secret in the body.
pub(super) fn redact_headers(
    headers: &mut HeaderMap,
    redactor: &Redactor,
    request_has_secret: bool,
) -> Result<(), Error> {
    if request_has_secret {
        ABOUT_IDENTITY.iter().for_each(|name| {
            headers.remove(name);
        });
        if !has_only(headers, &CONTENT_ENCODING, "identity") {
            return Err(Error::HttpResponseContentCoding(None));
        }
        if !has_only(headers, &TRANSFER_ENCODING, "chunked") {
            return Err(Error::HttpResponseTransferCoding(None));
        }
    }
    let names_with_secret: Vec<_> = headers
        .keys()
        .filter(|name| redactor.finds_secret_in(name.as_str().as_bytes()))
        .cloned()
        .collect();
    for name in names_with_secret {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        // The redactor returns owned bytes only if it replaced a secret.
        if let Cow::Owned(clean) = redactor.bytes(value.as_bytes()) {
            *value = HeaderValue::from_bytes(&clean).unwrap_or_else(|_invalid| HeaderValue::from_static(""));
        }
    }
    Ok(())
}

/// Returns whether a header is absent or has no other value than `value`.
fn has_only(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .all(|found| found.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
}
