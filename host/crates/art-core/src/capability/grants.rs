//! The grants of one call: the rights that the call gets, for its arguments, from the authority of its tool.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::disguise::replaced_request;
use super::fs::absolute_path;
use super::http::{HttpScope, METHODS, RequestTarget};
use super::{Access, BaseDirs, Capability, Denial, FsGrant, HttpGrant, Requested};

/// What one call may touch outside of its sandbox, and by which grant. The sandbox opens nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGrants {
    /// Name of the tool, for the commands in denials.
    pub tool: Arc<str>,
    /// The home directory and the current directory, for the paths in denials.
    pub base_dirs: Arc<BaseDirs>,
    /// Whether the call may read the time.
    pub clock: bool,
    /// Whether the call may draw random numbers.
    pub random: bool,
    /// What the manifest of the tool asks for in this call. No grant can give more.
    pub requested: Requested,
    /// The variables that the call can read.
    pub env: Vec<(String, String)>,
    /// The files that the call may use.
    pub fs: Vec<FsRight>,
    /// The HTTP requests that the call may send.
    pub http: Vec<HttpRight>,
}

/// The right of a call to use files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsRight {
    /// The path under which the guest finds the files, as [`guest_path`](super::guest_path) returns it.
    pub guest_path: String,
    /// The file or directory on the host: the path to which `grant` leads ([`FsGrant::base`]), or one below it.
    pub host_path: PathBuf,
    /// What may be done.
    pub access: Access,
    /// The operator's grant.
    pub grant: Arc<FsGrant>,
}

/// The right of a call to send HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRight {
    /// The addresses to which the requests may go.
    pub scope: HttpScope,
    /// Methods that may be used.
    pub methods: Vec<String>,
    /// The operator's grant.
    pub grant: Arc<HttpGrant>,
}

impl HttpRight {
    /// Returns whether a request with this method to `target` is allowed.
    #[must_use]
    pub fn allows(&self, method: &str, target: &RequestTarget) -> bool {
        self.scope.covers(target) && self.methods.iter().any(|allowed| allowed == method)
    }

    /// Returns the denial of a request to `target` that is allowed, but that a server may take for another one because of the name of
    /// a header or of a parameter of its query. A right to send any request to a host, without a secret, allows these too.
    #[must_use]
    pub fn denial_of_replaced_request<'a>(
        &self,
        method: &str,
        target: &RequestTarget,
        headers: impl Iterator<Item = &'a str>,
        query: Option<&str>,
    ) -> Option<Denial> {
        let has_all_methods = METHODS
            .iter()
            .all(|known| self.methods.iter().any(|method| method == known));
        if has_all_methods && self.scope.covers_whole_host() && self.grant.secret.is_none() {
            return None;
        }
        let reason = format!(
            "{} can make the server answer another request than the granted one",
            replaced_request(headers, query)?
        );
        let origin = target.origin().to_string();
        Some(Denial::new(Capability::Http, method, &origin, &reason))
    }
}

/// The interfaces of WASI that are linked for a call. Interfaces that are linked for every call are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkSet {
    /// `wasi:clocks`.
    pub clock: bool,
    /// `wasi:random`.
    pub random: bool,
    /// `wasi:filesystem`.
    pub fs: bool,
    /// The part of `wasi:http` that sends requests. Without it, every request is denied.
    pub http: bool,
}

impl LinkSet {
    /// Number of different sets.
    pub const COUNT: usize = 16;

    /// Returns the set of a call whose tool has no file of grants.
    #[must_use]
    pub const fn by_default() -> Self {
        Self {
            clock: true,
            random: true,
            fs: false,
            http: false,
        }
    }

    /// Returns the index of this set in an array that has an entry for each of the [`COUNT`](Self::COUNT) sets.
    #[must_use]
    pub const fn index(self) -> usize {
        self.clock as usize | (self.random as usize) << 1 | (self.fs as usize) << 2 | (self.http as usize) << 3
    }
}

impl CallGrants {
    /// Returns what a call gets if its tool has no file of grants: the time and random numbers.
    #[must_use]
    pub fn by_default() -> Arc<Self> {
        static BY_DEFAULT: LazyLock<Arc<CallGrants>> = LazyLock::new(|| {
            Arc::new(CallGrants {
                tool: Arc::from(""),
                base_dirs: Arc::default(),
                clock: true,
                random: true,
                requested: Requested::default(),
                env: Vec::new(),
                fs: Vec::new(),
                http: Vec::new(),
            })
        });
        Arc::clone(&BY_DEFAULT)
    }

    /// Returns which interfaces are linked for these grants.
    #[must_use]
    pub fn link_set(&self) -> LinkSet {
        LinkSet {
            clock: self.clock,
            random: self.random,
            fs: !self.fs.is_empty(),
            http: !self.http.is_empty(),
        }
    }

    /// Returns the right that allows an HTTP request, or `None` if none does. If several do, returns the one whose grant has the
    /// narrowest address: a host before a wildcard, then the longest host, then the longest path.
    #[must_use]
    pub fn find_http_right(&self, method: &str, target: &RequestTarget) -> Option<&HttpRight> {
        let rights = self.http.iter().filter(|http_right| http_right.allows(method, target));
        rights.max_by_key(|http_right| http_right.grant.url.narrowness())
    }

    /// Returns the denial of the path `guest_path`, which the guest named and which no right covers. Its reason may depend on this
    /// host, so a replay takes it from the record.
    #[must_use]
    pub fn denial_of_path(&self, guest_path: &str, access: Access) -> Denial {
        let guest_path = guest_path.trim_start_matches('/');
        let home = self.base_dirs.home.as_deref();
        let path = match (guest_path.strip_prefix('~'), home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => Path::new("/").join(guest_path),
        };
        if let Some(reason) = self.requested.why_no_path(access) {
            return Denial::new(Capability::Fs, access.action(), &path.to_string_lossy(), &reason);
        }
        self.base_dirs.denial_of_path(&self.tool, &path, access)
    }

    /// Returns whether a denial may be why a call with these arguments broke off without a result of its tool. Reading a file that
    /// no argument names is no such reason: interpreters look for files of their own, also on the way to report an error.
    #[must_use]
    pub fn may_explain_trap(&self, denial: &Denial, arguments: &Value) -> bool {
        denial.capability != Capability::Fs
            || denial.action != Access::Read.action()
            || self.is_named(Path::new(&denial.resource), arguments)
    }

    /// Returns whether one of the texts in the arguments names a file, its last parts, or a directory above it. A word without a
    /// slash or a dot is not taken for the last part, because many files may be called like that.
    fn is_named(&self, path: &Path, arguments: &Value) -> bool {
        match arguments {
            Value::String(text) => {
                let named = absolute_path(text, self.base_dirs.home.as_deref(), &self.base_dirs.current);
                // Everything ends with the empty text, and is below the root.
                let is_below = named.is_ok_and(|named| named.parent().is_some() && path.starts_with(named));
                let looks_like_path = text.contains('/') || Path::new(text).extension().is_some();
                is_below || looks_like_path && path.ends_with(text)
            }
            Value::Array(items) => items.iter().any(|item| self.is_named(path, item)),
            Value::Object(fields) => fields.values().any(|field| self.is_named(path, field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Returns the denial of an HTTP request that no right covers.
    #[must_use]
    pub fn denial_of_http_request(&self, method: &str, target: &RequestTarget) -> Denial {
        let origin = target.origin();
        if let Some(reason) = self.requested.why_no_http_request(method, target) {
            return Denial::new(Capability::Http, method, &origin.to_string(), &reason);
        }
        let earlier = self.http.iter().find(|http_right| http_right.grant.url == origin);
        Denial::of_http_request(&self.tool, method, target, earlier.map(|http_right| &*http_right.grant))
    }

    /// Returns whether the call may have had an effect outside of its sandbox.
    #[must_use]
    pub fn may_have_effects(&self) -> bool {
        let reads = |method: &String| method == "GET" || method == "HEAD";
        self.fs.iter().any(|fs_right| fs_right.access.may_write())
            || self.http.iter().any(|http_right| !http_right.methods.iter().all(reads))
    }
}
