//! What a tool requests in its manifest. The manifest is not trusted: a request grants nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::http::{HttpScope, InvalidHttpAddress};
use super::{Access, Capability};

/// One entry of `capabilities` in the manifest of a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CapabilityRequest {
    /// Access to files.
    Fs {
        /// What the tool does with the files.
        access: Access,
        /// The argument that holds the path of a file or directory, or a list of such paths. A call gets only these paths. If
        /// absent, the tool requests all files that are granted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<ArgumentRef>,
        /// Why the tool needs this, in its author's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The sending of HTTP requests.
    Http {
        /// Where the HTTP requests go. If absent, the tool asks for all addresses that are granted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<RequestedUrl>,
        /// Methods that the tool uses.
        #[serde(default = "default_methods")]
        methods: Vec<String>,
        /// Why the tool needs this, in its author's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The reading of variables that the operator sets.
    Env {
        /// Names of the variables.
        names: Vec<String>,
        /// Why the tool needs them, in its author's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

fn default_methods() -> Vec<String> {
    vec!["GET".to_owned()]
}

impl CapabilityRequest {
    /// Returns the kind of authority.
    #[must_use]
    pub const fn capability(&self) -> Capability {
        match self {
            Self::Fs { .. } => Capability::Fs,
            Self::Http { .. } => Capability::Http,
            Self::Env { .. } => Capability::Env,
        }
    }
}

/// Writes the request as a person reads it, without the reason.
impl fmt::Display for CapabilityRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fs { access, path, .. } => {
                let verb = if access.may_write() { "read and write" } else { "read" };
                match path {
                    Some(reference) => write!(f, "{verb} the file or directory of the argument `{}`", reference.name()),
                    None => write!(f, "{verb} the files that are granted"),
                }
            }
            Self::Http { url, methods, .. } => {
                let methods = methods.join(", ");
                match url {
                    Some(RequestedUrl::Argument(reference)) => {
                        write!(
                            f,
                            "send {methods} requests to the address of the argument `{}`",
                            reference.name()
                        )
                    }
                    Some(RequestedUrl::Scope(scope)) => write!(f, "send {methods} requests to `{scope}`"),
                    None => write!(f, "send {methods} requests to the addresses that are granted"),
                }
            }
            Self::Env { names, .. } => write!(f, "read the variables {}", names.join(", ")),
        }
    }
}

/// A reference to an argument of the call: `{args.NAME}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ArgumentRef(String);

impl ArgumentRef {
    /// Returns the name of the argument.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the argument if it is a text, or the texts in it if it is a list. Any other argument has no values.
    #[must_use]
    pub fn values<'a>(&self, arguments: &'a serde_json::Value) -> Vec<&'a str> {
        match arguments.get(&self.0) {
            Some(serde_json::Value::String(text)) => vec![text],
            Some(serde_json::Value::Array(items)) => items.iter().filter_map(|item| item.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

impl From<ArgumentRef> for String {
    fn from(reference: ArgumentRef) -> Self {
        format!("{{args.{}}}", reference.0)
    }
}

/// The error for a text that is not a reference to an argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no argument of the call; expected `{{args.NAME}}`")]
pub struct InvalidReference {
    text: String,
}

impl TryFrom<String> for ArgumentRef {
    type Error = InvalidReference;

    fn try_from(text: String) -> Result<Self, InvalidReference> {
        let name = text.strip_prefix("{args.").and_then(|rest| rest.strip_suffix('}'));
        let is_name =
            |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        match name.filter(is_name) {
            Some(name) => Ok(Self(name.to_owned())),
            None => Err(InvalidReference { text }),
        }
    }
}

/// The URL of an HTTP capability request: where the tool wants to send HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum RequestedUrl {
    /// The origin of the address in an argument.
    Argument(ArgumentRef),
    /// A scope that the manifest itself names.
    Scope(HttpScope),
}

impl From<RequestedUrl> for String {
    fn from(url: RequestedUrl) -> Self {
        match url {
            RequestedUrl::Argument(reference) => reference.into(),
            RequestedUrl::Scope(scope) => scope.to_string(),
        }
    }
}

impl TryFrom<String> for RequestedUrl {
    type Error = InvalidHttpAddress;

    fn try_from(text: String) -> Result<Self, InvalidHttpAddress> {
        match ArgumentRef::try_from(text) {
            Ok(reference) => Ok(Self::Argument(reference)),
            Err(InvalidReference { text }) => text.parse().map(Self::Scope),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: serde_json::Value) -> Result<CapabilityRequest, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[test]
    fn requests_are_read_from_the_manifest_and_described_for_a_person() {
        let file = parse(json!({"kind": "fs", "access": "read", "path": "{args.path}"})).unwrap();
        assert_eq!(file.to_string(), "read the file or directory of the argument `path`");
        let page = parse(json!({"kind": "http", "url": "{args.url}", "methods": ["GET", "HEAD"]})).unwrap();
        assert_eq!(
            page.to_string(),
            "send GET, HEAD requests to the address of the argument `url`"
        );
        let fixed = parse(json!({"kind": "http", "url": "https://api.example.com/v1"})).unwrap();
        assert_eq!(fixed.to_string(), "send GET requests to `https://api.example.com/v1`");
    }

    #[test]
    fn an_unknown_key_kind_or_access_and_a_path_that_names_no_argument_are_refused() {
        parse(json!({"kind": "fs", "access": "read", "everything": true})).unwrap_err();
        parse(json!({"kind": "sockets"})).unwrap_err();
        parse(json!({"kind": "fs", "access": "admin"})).unwrap_err();
        parse(json!({"kind": "fs", "access": "read", "path": "{args.}"})).unwrap_err();
        parse(json!({"kind": "fs", "access": "read", "path": "/etc"})).unwrap_err();
    }

    #[test]
    fn an_empty_list_of_methods_is_not_read_back_as_the_default_methods() {
        let without_methods = parse(json!({"kind": "http", "methods": []})).unwrap();
        assert_eq!(parse(json!(without_methods)).unwrap(), without_methods);
    }

    #[test]
    fn an_argument_gives_its_text_or_the_texts_of_its_list() {
        let reference = ArgumentRef::try_from("{args.path}".to_owned()).unwrap();
        assert_eq!(reference.values(&json!({"path": "a"})), ["a"]);
        assert_eq!(reference.values(&json!({"path": ["a", 1, "b"]})), ["a", "b"]);
        assert!(reference.values(&json!({"path": 7})).is_empty());
        assert!(reference.values(&json!({})).is_empty());
    }
}
