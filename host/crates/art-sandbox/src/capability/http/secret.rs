//! Adds a secret to a request, and removes secrets from responses.

use std::borrow::Cow;

use art_core::capability::{Denial, SecretUse, Target};
use art_core::secret::{Redactor, Secrets};
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, IF_RANGE, RANGE, SET_COOKIE, TRANSFER_ENCODING, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use wasmtime_wasi_http::Error;

/// Headers of a request that would make the server send a secret in a form or in pieces that cannot be redacted. They are left out
/// of a request with a secret.
const NOT_WITH_SECRET: [HeaderName; 3] = [ACCEPT_ENCODING, IF_RANGE, RANGE];

/// Headers of a response to a request with a secret that are about the identity of the sender. The guest does not get them.
const ABOUT_IDENTITY: [HeaderName; 3] = [
    SET_COOKIE,
    WWW_AUTHENTICATE,
    HeaderName::from_static("authentication-info"),
];

/// Why a secret cannot be added to a request.
pub(super) enum NotAdded {
    /// The request is denied.
    Denied(Denial),
    /// The name that the grant has for the header, or the value with the secret, is not valid in a header.
    InvalidHeader,
}

/// Adds a secret to the headers of a request to `target`.
pub(super) fn add(
    used: &SecretUse,
    secrets: &Secrets,
    method: &str,
    target: &Target,
    headers: &mut HeaderMap,
) -> Result<(), NotAdded> {
    let name = HeaderName::try_from(&used.header).map_err(|_invalid| NotAdded::InvalidHeader)?;
    if headers.contains_key(&name) {
        let reason = format!("the host itself sets the header `{name}` there");
        let origin = target.origin().to_string();
        let capability = art_core::capability::Capability::Http;
        return Err(NotAdded::Denied(Denial::new(capability, method, &origin, &reason)));
    }
    let Some(secret) = secrets.get(&used.name) else {
        return Err(NotAdded::Denied(Denial::missing_secret(method, target, &used.name)));
    };
    let value = HeaderValue::try_from(format!("{}{}", used.prefix(), secret.expose()));
    let mut value = value.map_err(|_invalid| NotAdded::InvalidHeader)?;
    // Libraries do not show a sensitive value in their logs.
    value.set_sensitive(true);
    for name in &NOT_WITH_SECRET {
        headers.remove(name);
    }
    headers.insert(name, value);
    Ok(())
}

/// Removes secrets from the headers of a response. If `carries_secret` says that the request had a secret, also removes the
/// headers about identity, and refuses a response whose body cannot be searched.
pub(super) fn clean_headers(headers: &mut HeaderMap, redactor: &Redactor, carries_secret: bool) -> Result<(), Error> {
    if carries_secret {
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
    let unsafe_names: Vec<_> = headers
        .keys()
        .filter(|name| redactor.is_in(name.as_str().as_bytes()))
        .cloned()
        .collect();
    for name in unsafe_names {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        if let Cow::Owned(clean) = redactor.bytes(value.as_bytes()) {
            *value = HeaderValue::from_bytes(&clean).unwrap_or_else(|_invalid| HeaderValue::from_static(""));
        }
    }
    Ok(())
}

/// Returns whether a header is absent or has only this value.
fn has_only(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .all(|found| found.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
}
