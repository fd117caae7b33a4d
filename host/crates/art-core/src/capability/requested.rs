//! What the manifest of a tool asks for in one call. No grant gives a call more than that.

use std::sync::Arc;

use serde_json::Value;

use super::http::RequestTarget;
use super::{Access, Capability, CapabilityRequest, HttpScope, RequestedUrl};

/// Maximum length of the requests of a manifest in a message, in characters.
const MAX_REQUESTS_CHARS: usize = 300;

/// The requests of a manifest, with what they ask for in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requested {
    /// The requests; `None` for a component without a manifest, which gets whatever is granted.
    requests: Option<Arc<[CapabilityRequest]>>,
    /// The origins of the URLs in the arguments that a request names, with the methods of the request.
    origins: Vec<(HttpScope, Vec<String>)>,
}

impl Requested {
    /// Returns what `requests` ask for in a call with these arguments.
    pub(super) fn new(requests: Option<Arc<[CapabilityRequest]>>, arguments: &Value) -> Self {
        let mut origins = Vec::new();
        for request in requests.iter().flat_map(|requests| requests.iter()) {
            if let CapabilityRequest::Http {
                url: Some(RequestedUrl::Argument(reference)),
                methods,
                ..
            } = request
            {
                let values = reference.values(arguments).into_iter();
                let targets = values.filter_map(|text| RequestTarget::parse(text).ok());
                origins.extend(targets.map(|target| (target.origin(), methods.clone())));
            }
        }
        Self { requests, origins }
    }

    /// Returns why no grant gives the call this access to a path that none of its rights covers, or `None` if a grant can. A
    /// request for the files that an argument names cannot: the call has got its rights to these files, or was not begun.
    pub(super) fn why_no_path(&self, access: Access) -> Option<String> {
        let asks_for_all = |request: &CapabilityRequest| match request {
            CapabilityRequest::Fs {
                access: requested,
                path: None,
                ..
            } => *requested >= access,
            _ => false,
        };
        self.why_not(Capability::Fs, asks_for_all)
    }

    /// Returns why no grant lets the call send a request with this method to `target`, or `None` if a grant can.
    pub(super) fn why_no_http_request(&self, method: &str, target: &RequestTarget) -> Option<String> {
        let has_method = |methods: &[String]| methods.iter().any(|requested| requested == method);
        let asks_for_it = |request: &CapabilityRequest| match request {
            CapabilityRequest::Http { url, methods, .. } => match url {
                None => has_method(methods),
                Some(RequestedUrl::Scope(scope)) => scope.covers(target) && has_method(methods),
                Some(RequestedUrl::Argument(_)) => {
                    let mut origins = self.origins.iter();
                    origins.any(|(origin, methods)| origin.covers(target) && has_method(methods))
                }
            },
            _ => false,
        };
        self.why_not(Capability::Http, asks_for_it)
    }

    /// Returns what the manifest asks for instead, unless one of its requests `asks_for_it`.
    fn why_not(&self, capability: Capability, asks_for_it: impl Fn(&CapabilityRequest) -> bool) -> Option<String> {
        let requests = self.requests.as_deref()?.iter();
        let of_capability: Vec<_> = requests.filter(|request| request.capability() == capability).collect();
        if of_capability.iter().any(|request| asks_for_it(request)) {
            return None;
        }
        if of_capability.is_empty() {
            let author_hint = match capability {
                Capability::Fs => "`fs(read)` or `fs(read_write)`",
                _ => "`http(..)`",
            };
            return Some(format!(
                "the tool does not ask for it, so it cannot be granted; its author can add {author_hint} to the \
                 `capabilities(..)` of `#[tool(..)]`"
            ));
        }
        let texts: Vec<_> = of_capability.iter().map(ToString::to_string).collect();
        let texts = crate::text::truncate(&texts.join(", and to "), MAX_REQUESTS_CHARS);
        Some(format!(
            "no grant can allow it, because the manifest of the tool asks only to {texts}"
        ))
    }
}
