//! Addresses to which HTTP requests may go, and grants to send such requests.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::is_public;

/// Methods that can be granted. `CONNECT` and `TRACE` cannot.
pub(super) const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// An address that can be granted: `scheme://host[:port]/path-prefix`. The host may be `*.example.com`, which stands for every
/// host below `example.com`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct HttpScope {
    secure: bool,
    host: String,
    /// Whether the scope stands for all hosts below `host`.
    any_subdomain: bool,
    port: u16,
    /// The path prefix, percent-encoded as in the URL.
    path: String,
}

/// The address of one HTTP request, in the normal form in which it is compared and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTarget {
    /// Whether the scheme is `https`.
    pub secure: bool,
    /// The host: a name in lower case without a final dot, or an IP address. IPv6 addresses have no brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path, percent-encoded.
    pub path: String,
}

impl RequestTarget {
    /// Parses the URL of a request.
    ///
    /// # Errors
    /// Fails if it is not an `http` or `https` URL, or has a user or a password.
    pub fn parse(text: &str) -> Result<Self, InvalidHttpAddress> {
        let invalid = |reason| InvalidHttpAddress::new(text, reason);
        let url = Url::parse(text).map_err(|_not_a_url| invalid("it is not a URL"))?;
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(invalid("only `http` and `https` can be granted")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it has a user or a password"));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name).to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err(invalid("it has no host")),
        };
        if host.split('.').any(str::is_empty) {
            return Err(invalid("its host is empty or has an empty label"));
        }
        let port = url.port_or_known_default().ok_or_else(|| invalid("it has no port"))?;
        let path = url.path().to_owned();
        Ok(Self {
            secure,
            host,
            port,
            path,
        })
    }

    /// Returns the scope that covers this path and what is below it, or all paths if this one is not compared with a prefix.
    #[must_use]
    pub fn scope(&self) -> HttpScope {
        match self.hidden_separator() {
            Some(_) => self.origin(),
            None => HttpScope {
                path: self.path.clone(),
                ..self.origin()
            },
        }
    }

    /// Returns the scope that covers every path of the same origin.
    #[must_use]
    pub fn origin(&self) -> HttpScope {
        HttpScope {
            secure: self.secure,
            host: self.host.clone(),
            any_subdomain: false,
            port: self.port,
            path: "/".to_owned(),
        }
    }

    /// Returns whether the host is certainly not public, even without a look-up of its name: it is `localhost`, a name below
    /// `localhost`, or an IP address that is not public.
    #[must_use]
    pub fn is_known_as_private(&self) -> bool {
        let name = self.host.as_str();
        let address = name.parse::<IpAddr>();
        address.map_or_else(
            |_not_an_address| name == "localhost" || name.ends_with(".localhost"),
            |address| !is_public(address),
        )
    }
}

impl HttpScope {
    /// Returns whether `target` is within this scope: with its scheme and port, on its host, and at or below its path. A path in
    /// which a separator is encoded is within a whole host only, because a server that decodes it sees other segments than those
    /// that are compared here.
    #[must_use]
    pub fn covers(&self, target: &RequestTarget) -> bool {
        self.secure == target.secure
            && self.port == target.port
            && self.covers_host(&target.host)
            && (self.covers_whole_host()
                || path_covers(&self.path, &target.path) && target.hidden_separator().is_none())
    }

    /// Returns whether the scope covers all paths.
    pub(super) fn covers_whole_host(&self) -> bool {
        self.path == "/"
    }

    /// Returns a key that is greatest for the narrowest of several scopes that cover one address: whether the scope names its host
    /// without a wildcard, the length of the host and that of the path.
    pub(crate) const fn narrowness(&self) -> (bool, usize, usize) {
        (!self.any_subdomain, self.host.len(), self.path.len())
    }

    /// Returns the part of this scope that `other` covers too, or `None` if they have nothing in common.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.secure != other.secure || self.port != other.port {
            return None;
        }
        let path = match (
            path_covers(&self.path, &other.path),
            path_covers(&other.path, &self.path),
        ) {
            (true, _) => &other.path,
            (_, true) => &self.path,
            _ => return None,
        };
        let with_narrower_host = match (self.any_subdomain, other.any_subdomain) {
            (true, false) if self.covers_host(&other.host) => other,
            (false, true) if other.covers_host(&self.host) => self,
            (true, true) if self.host == other.host || self.covers_host(&other.host) => other,
            (true, true) if other.covers_host(&self.host) => self,
            (false, false) if self.host == other.host => self,
            _ => return None,
        };
        let path = path.clone();
        Some(Self {
            path,
            ..with_narrower_host.clone()
        })
    }

    /// Returns the host, or `None` if the scope has a wildcard.
    #[must_use]
    pub fn exact_host(&self) -> Option<&str> {
        (!self.any_subdomain).then_some(self.host.as_str())
    }

    /// Returns whether the scheme is `https`.
    #[must_use]
    pub const fn is_secure(&self) -> bool {
        self.secure
    }

    fn covers_host(&self, host: &str) -> bool {
        if !self.any_subdomain {
            return self.host == host;
        }
        let subdomain = host.strip_suffix(&self.host).and_then(|rest| rest.strip_suffix('.'));
        subdomain.is_some_and(|subdomain| !subdomain.is_empty())
    }
}

/// Returns whether `path` is `prefix` itself or lies below it. Whole segments are compared.
fn path_covers(prefix: &str, path: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl FromStr for HttpScope {
    type Err = InvalidHttpAddress;

    fn from_str(text: &str) -> Result<Self, InvalidHttpAddress> {
        let invalid = |reason| InvalidHttpAddress::new(text, reason);
        if text.contains(['?', '#']) {
            return Err(invalid("it has a query or a fragment"));
        }
        let target = RequestTarget::parse(text)?;
        if target.hidden_separator().is_some() || target.denial_of_disguised_parent("").is_some() {
            return Err(invalid("its path has an encoded slash, backslash or `..`"));
        }
        let (host, any_subdomain) = match target.host.strip_prefix("*.") {
            Some(rest) if rest.contains('.') => (rest.to_owned(), true),
            Some(_) => {
                return Err(invalid(
                    "a wildcard needs a domain of at least two labels, such as `*.example.com`",
                ));
            }
            None => (target.host, false),
        };
        if host.contains('*') {
            return Err(invalid(
                "a wildcard can only stand for the first labels, as in `*.example.com`",
            ));
        }
        Ok(Self {
            secure: target.secure,
            host,
            any_subdomain,
            port: target.port,
            path: target.path,
        })
    }
}

impl TryFrom<String> for HttpScope {
    type Error = InvalidHttpAddress;

    fn try_from(text: String) -> Result<Self, InvalidHttpAddress> {
        text.parse()
    }
}

impl From<HttpScope> for String {
    fn from(scope: HttpScope) -> Self {
        scope.to_string()
    }
}

impl fmt::Display for HttpScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        let wildcard = if self.any_subdomain { "*." } else { "" };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{wildcard}{open}{}{close}", self.host)?;
        let default = if self.secure { 443 } else { 80 };
        if self.port != default {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(&self.path)
    }
}

/// The error for an address that cannot be granted or requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no address for requests: {reason}")]
pub struct InvalidHttpAddress {
    text: String,
    reason: &'static str,
}

impl InvalidHttpAddress {
    fn new(text: &str, reason: &'static str) -> Self {
        Self {
            text: crate::text::truncate(text, 200),
            reason,
        }
    }
}

/// Checks the method of a grant or of an HTTP request.
///
/// # Errors
/// Fails if the method cannot be granted.
pub fn check_method(method: &str) -> Result<(), String> {
    if METHODS.contains(&method) {
        return Ok(());
    }
    Err(format!(
        "the method `{method}` cannot be granted; expected one of {}",
        METHODS.join(", ")
    ))
}

/// A grant to send HTTP requests: an entry `[[http]]` of the file of grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpGrant {
    /// Where requests may go.
    pub url: HttpScope,
    /// Methods that may be used. By default `GET` and `HEAD`.
    #[serde(default = "reading_methods")]
    pub methods: Vec<String>,
    /// Whether the host may have an IP address that is not public, such as `127.0.0.1`. By default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// The secret that is added to each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretHeader>,
}

fn reading_methods() -> Vec<String> {
    vec!["GET".to_owned(), "HEAD".to_owned()]
}

/// The header in which a secret is sent. The guest never sees the secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretHeader {
    /// Name of the secret.
    pub name: String,
    /// Name of the header. By default `authorization`.
    #[serde(default = "default_header")]
    pub header: String,
    /// Text before the secret. By default `Bearer ` in the header `authorization`, else empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

fn default_header() -> String {
    "authorization".to_owned()
}

impl SecretHeader {
    /// Returns the text before the secret.
    #[must_use]
    pub fn prefix(&self) -> &str {
        let default = if self.header.eq_ignore_ascii_case("authorization") {
            "Bearer "
        } else {
            ""
        };
        self.prefix.as_deref().unwrap_or(default)
    }
}

impl HttpGrant {
    /// Creates a grant of `method` and of the methods that only read.
    #[must_use]
    pub fn for_method(url: HttpScope, method: &str) -> Self {
        let mut methods = reading_methods();
        if !methods.iter().any(|reading| reading == method) {
            methods.push(method.to_owned());
        }
        Self {
            url,
            methods,
            private: false,
            secret: None,
        }
    }

    /// Checks what the types do not express.
    ///
    /// # Errors
    /// Fails with what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        self.methods.iter().try_for_each(|method| check_method(method))?;
        if self.methods.is_empty() {
            return Err(format!("the grant of `{}` has no method", self.url));
        }
        if self.private && self.url.exact_host().is_none() {
            return Err(format!(
                "`private` needs a single host, and `{}` has a wildcard",
                self.url
            ));
        }
        if let Some(secret) = &self.secret {
            crate::secret::check_name(&secret.name).map_err(|error| error.to_string())?;
        }
        match &self.secret {
            Some(secret) if !self.url.is_secure() && !self.private => Err(format!(
                "the secret `{}` would be sent unencrypted to `{}`; use `https`",
                secret.name, self.url
            )),
            Some(_) if self.url.exact_host().is_none() => Err(format!(
                "a secret needs a single host, and `{}` has a wildcard",
                self.url
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether a request with this method to `target` is granted.
    #[must_use]
    pub fn allows(&self, method: &str, target: &RequestTarget) -> bool {
        self.url.covers(target) && self.methods.iter().any(|granted| granted == method)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(text: &str) -> HttpScope {
        text.parse().unwrap()
    }

    fn covers(grant: &str, url: &str) -> bool {
        RequestTarget::parse(url).is_ok_and(|target| scope(grant).covers(&target))
    }

    #[test]
    fn a_grant_covers_only_its_path_and_the_paths_below_it_at_its_origin() {
        assert!(covers("https://api.example.com/v1", "https://api.example.com/v1"));
        assert!(covers(
            "https://api.example.com/v1/",
            "https://api.example.com/v1/x?q=1"
        ));
        assert!(!covers("https://api.example.com/v1", "https://api.example.com/v10"));
        assert!(!covers(
            "https://api.example.com/v1",
            "https://api.example.com/v1/../admin"
        ));
        assert!(!covers(
            "https://api.example.com/v1",
            "https://api.example.com/v1/%2e%2e/admin"
        ));
        assert!(!covers(
            "https://api.example.com/v1",
            "https://api.example.com/v1/..%2fadmin"
        ));
        assert!(!covers("https://api.example.com/v1", "http://api.example.com/v1"));
        assert!(!covers("https://api.example.com/v1", "https://api.example.com:8443/v1"));
    }

    #[test]
    fn a_wildcard_covers_whole_labels_only() {
        assert!(covers("https://*.good.com/", "https://a.good.com/"));
        assert!(covers("https://*.good.com/", "https://a.b.good.com/"));
        for url in [
            "https://good.com/",
            "https://evilgood.com/",
            "https://good.com.evil.com/",
        ] {
            assert!(!covers("https://*.good.com/", url), "{url}");
        }
    }

    #[test]
    fn an_address_in_disguise_is_compared_by_the_host_that_would_be_connected_to() {
        let good = "https://good.com/";
        for url in [
            "https://good.com@evil.com/",
            "https://evil.com#@good.com/",
            "https://evil.com\\@good.com/",
            "https://good.com.evil.com/",
            "https://good.com:444/",
        ] {
            assert!(!covers(good, url), "{url}");
        }
        for url in [
            "https://GOOD.com./",
            "https://ｇｏｏｄ.com/",
            "https:good.com",
            "https://good.com:443/",
        ] {
            assert!(covers(good, url), "{url}");
        }
        let other_notations = [
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://2130706433/",
            "http://127.1/",
        ];
        assert!(other_notations.iter().all(|url| covers("http://127.0.0.1/", url)));
    }

    #[test]
    fn addresses_that_cannot_be_granted_are_refused() {
        for text in [
            "*",
            "https://*",
            "https://*/",
            "https://*.com/",
            "https://a*.example.com/",
            "https://*..example.com/",
            "https://a..example.com/",
            "https://user@host/",
            "ftp://host/",
            "file:///etc",
            "https://host/?q",
            "https://host/#f",
            "host",
            "",
            "https://host/a%2fb",
        ] {
            assert!(text.parse::<HttpScope>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_scope_is_written_as_it_was_read() {
        for text in [
            "https://*.example.com/",
            "http://[::1]:8080/a",
            "https://example.com:8443/v1/x",
        ] {
            assert_eq!(scope(text).to_string(), text);
        }
    }

    #[test]
    fn an_intersection_is_the_narrower_of_both() {
        let intersection = |a: &str, b: &str| scope(a).intersect(&scope(b)).map(|scope| scope.to_string());
        assert_eq!(
            intersection("https://*.x.com/", "https://a.x.com/v1").as_deref(),
            Some("https://a.x.com/v1")
        );
        assert_eq!(
            intersection("https://a.x.com/v1", "https://*.x.com/").as_deref(),
            Some("https://a.x.com/v1")
        );
        assert_eq!(intersection("https://a.x.com/v1", "https://a.x.com/v2"), None);
        assert_eq!(intersection("https://a.x.com/", "http://a.x.com/"), None);
    }

    #[test]
    fn a_public_grant_with_a_secret_needs_https_and_a_single_host() {
        let grant = |url: &str, private| HttpGrant {
            url: scope(url),
            methods: reading_methods(),
            private,
            secret: Some(SecretHeader {
                name: "KEY".to_owned(),
                header: default_header(),
                prefix: None,
            }),
        };
        grant("http://example.com/", false).check().unwrap_err();
        grant("https://*.example.com/", false).check().unwrap_err();
        grant("https://example.com/", false).check().unwrap();
    }

    proptest! {
        #[test]
        fn a_parsed_scope_is_read_back_from_its_text(text in ".*") {
            if let Ok(scope) = text.parse::<HttpScope>() {
                prop_assert_eq!(scope.to_string().parse::<HttpScope>(), Ok(scope));
            }
        }

        #[test]
        fn an_intersection_covers_only_what_both_cover(
            a in "https://(\\*\\.)?([ab]\\.){1,2}com(/[xy]){0,2}",
            b in "https://(\\*\\.)?([ab]\\.){1,2}com(/[xy]){0,2}",
            url in "https://([ab]\\.){1,3}com(/[xy]){0,3}",
        ) {
            let target = RequestTarget::parse(&url).unwrap();
            let (Ok(a), Ok(b)) = (a.parse::<HttpScope>(), b.parse::<HttpScope>()) else { return Ok(()) };
            let both = a.covers(&target) && b.covers(&target);
            prop_assert_eq!(a.intersect(&b).is_some_and(|scope| scope.covers(&target)), both);
        }
    }
}
