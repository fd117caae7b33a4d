//! The authority of a tool: what it requests joined with what its operator grants.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::fs::{absolute_path, guest_path};
use super::http::RequestTarget;
use super::{
    Access, ArgumentRef, CallGrants, Capability, CapabilityRequest, Denial, FsGrant, FsRight, HttpGrant, HttpRight,
    MAX_DENIALS, Requested, RequestedUrl, ToolPolicy,
};

/// The directories below which the host looks for the relative paths of a call and for its paths that begin with `~`, and those
/// that it grants to no tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseDirs {
    /// The directory that `~` stands for.
    pub home: Option<PathBuf>,
    /// The path to which `home` leads, if it runs through a link; otherwise absent.
    pub resolved_home: Option<PathBuf>,
    /// The directory in which the host was started.
    pub current: PathBuf,
    /// The paths that are never granted, each with what it is. Nothing below or above them is granted either.
    pub protected: Vec<(PathBuf, &'static str)>,
}

/// Directories that belong to the operating system.
pub const SYSTEM_DIRECTORIES: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/boot"];

impl BaseDirs {
    /// Returns why a path cannot be granted to any tool, such as `it is or lies in files of the system`, or `None` if it can be
    /// granted. Hidden directories of the home directory cannot. The path is compared as text, part by part.
    #[must_use]
    pub fn why_protected(&self, path: &Path) -> Option<String> {
        for (protected, what) in &self.protected {
            if path.starts_with(protected) {
                return Some(format!("it is or lies in {what}"));
            }
            if protected.starts_with(path) {
                return Some(format!("it contains {what}"));
            }
        }
        let home = self.home.as_ref()?;
        if home.starts_with(path) {
            return Some("it contains the hidden files of the home directory".to_owned());
        }
        let first_below_home = path.strip_prefix(home).ok().and_then(|below| below.iter().next())?;
        let is_hidden = first_below_home.as_encoded_bytes().starts_with(b".");
        is_hidden.then(|| "it is or lies in a hidden directory of the home directory".to_owned())
    }

    /// Returns the denial of a path that no grant covers, with the command of the grant if one can be made.
    pub(super) fn denial_of_path(&self, tool: &str, path: &Path, access: Access) -> Denial {
        let denial = Denial::of_path(tool, &path.to_string_lossy(), access);
        match self.spellings(path).find_map(|path| self.why_protected(&path)) {
            None => denial,
            Some(reason) => {
                let reason = format!("it cannot be granted: {reason}");
                Denial::new(Capability::Fs, &denial.action, &denial.resource, &reason)
            }
        }
    }
}

impl BaseDirs {
    /// Returns the spellings of an absolute path: as it is written and, if it begins with the home directory and that is a link,
    /// with the path to which the home directory leads.
    pub(super) fn spellings<'a>(&self, path: &'a Path) -> impl Iterator<Item = Cow<'a, Path>> {
        let below_home = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let resolved = self.resolved_home.as_deref().zip(below_home);
        let resolved = resolved.map(|(home, below)| Cow::Owned(home.join(below)));
        [Some(Cow::Borrowed(path)), resolved].into_iter().flatten()
    }

    /// Returns `path` with `~` in place of the home directory, or `None` if it is not in the home directory.
    fn with_tilde(&self, path: &Path) -> Option<PathBuf> {
        let homes = [self.home.as_deref(), self.resolved_home.as_deref()];
        let below_home = homes
            .into_iter()
            .flatten()
            .find_map(|home| path.strip_prefix(home).ok())?;
        Some(Path::new("~").join(below_home))
    }
}

/// What a tool may do: the requests of its manifest, limited to the grants of its operator.
#[derive(Clone, Debug)]
pub struct Authority {
    tool: Arc<str>,
    /// The requests, or `None` for a component without a manifest, which gets whatever is granted.
    requests: Option<Arc<[CapabilityRequest]>>,
    policy: ToolPolicy,
    /// The grants of `policy.fs`. Each [`FsRight`] of a call shares one of them.
    fs: Vec<Arc<FsGrant>>,
    /// The grants of `policy.http`. Each [`HttpRight`] of a call shares one of them.
    http: Vec<Arc<HttpGrant>>,
    base_dirs: Arc<BaseDirs>,
    /// The grants of every call, if they do not depend on its arguments.
    grants_of_every_call: Option<Arc<CallGrants>>,
    /// Why every call is denied, or `None` if calls are possible.
    denial_of_every_call: Option<Denial>,
}

impl Authority {
    /// Creates the authority of a tool. `policy` must have passed [`ToolPolicy::check`].
    #[must_use]
    pub fn new(tool: &str, requests: Option<Vec<CapabilityRequest>>, policy: ToolPolicy, base_dirs: BaseDirs) -> Self {
        let mut authority = Self {
            tool: Arc::from(tool),
            requests: requests.map(Arc::from),
            fs: policy.fs.iter().cloned().map(Arc::new).collect(),
            http: policy.http.iter().cloned().map(Arc::new).collect(),
            policy,
            base_dirs: Arc::new(base_dirs),
            grants_of_every_call: None,
            denial_of_every_call: None,
        };
        if !authority.depends_on_arguments() {
            authority.grants_of_every_call = authority.collect_grants(&Value::Null).ok().map(Arc::new);
        }
        authority
    }

    /// Creates the authority of a component that is not the one for which the grants were made. All its calls are denied until the
    /// operator approves it, so that a changed tool neither inherits rights nor silently loses them.
    #[must_use]
    pub fn of_changed_component(
        tool: &str,
        requests: Option<Vec<CapabilityRequest>>,
        policy: ToolPolicy,
        base_dirs: BaseDirs,
    ) -> Self {
        let reason = "the component is another one than that which was approved";
        // A denial names one capability: the first of files, HTTP requests and variables that the operator granted.
        let capability = match () {
            () if !policy.fs.is_empty() => Capability::Fs,
            () if !policy.http.is_empty() => Capability::Http,
            () => Capability::Env,
        };
        let denial = Denial::new(capability, "run", tool, reason).with_command(format!("art grant approve {tool}"));
        Self {
            denial_of_every_call: Some(denial),
            ..Self::new(tool, requests, policy, base_dirs)
        }
    }

    /// Returns why every call is denied, or `None` if calls are possible.
    #[must_use]
    pub const fn denial_of_every_call(&self) -> Option<&Denial> {
        self.denial_of_every_call.as_ref()
    }

    /// Returns the operator's grants.
    #[must_use]
    pub const fn policy(&self) -> &ToolPolicy {
        &self.policy
    }

    /// Returns the requests of the tool; empty if it has no manifest.
    #[must_use]
    pub fn requests(&self) -> &[CapabilityRequest] {
        self.requests.as_deref().unwrap_or_default()
    }

    /// Returns what a call with these arguments may touch.
    ///
    /// # Errors
    /// Fails with the denials of what the call needs but has no grant for, or with the reason why every call is denied.
    pub fn grants_for(&self, arguments: &Value) -> Result<Arc<CallGrants>, Vec<Denial>> {
        match (&self.denial_of_every_call, &self.grants_of_every_call) {
            (Some(denial), _) => Err(vec![denial.clone()]),
            (None, Some(grants)) => Ok(Arc::clone(grants)),
            (None, None) => self.collect_grants(arguments).map(Arc::new),
        }
    }

    /// Returns whether a call may change something outside of its sandbox: whether the tool requests any change (or has no
    /// manifest), and any change is granted. The requested and the granted change need not be the same.
    #[must_use]
    pub fn may_have_effects(&self) -> bool {
        let writes = |request: &CapabilityRequest| match request {
            CapabilityRequest::Fs { access, .. } => access.may_write(),
            CapabilityRequest::Http { methods, .. } => !methods.iter().all(|method| only_reads(method)),
            CapabilityRequest::Env { .. } => false,
        };
        let requested = self
            .requests
            .as_ref()
            .is_none_or(|requests| requests.iter().any(writes));
        let granted = self.fs.iter().any(|grant| grant.access.may_write())
            || self
                .http
                .iter()
                .any(|grant| !grant.methods.iter().all(|method| only_reads(method)));
        requested && granted
    }

    /// Returns whether the tool requests files that its arguments name.
    #[must_use]
    pub fn names_files_in_arguments(&self) -> bool {
        let is_named = |request: &CapabilityRequest| matches!(request, CapabilityRequest::Fs { path: Some(_), .. });
        self.requests().iter().any(is_named)
    }

    fn depends_on_arguments(&self) -> bool {
        self.requests().iter().any(|request| {
            matches!(
                request,
                CapabilityRequest::Fs { path: Some(_), .. }
                    | CapabilityRequest::Http {
                        url: Some(RequestedUrl::Argument(_)),
                        ..
                    }
            )
        })
    }

    /// Returns what the manifest asks for in a call with these arguments.
    #[must_use]
    pub fn requested(&self, arguments: &Value) -> Requested {
        Requested::new(self.requests.clone(), arguments)
    }

    fn collect_grants(&self, arguments: &Value) -> Result<CallGrants, Vec<Denial>> {
        let mut grants = CallGrants {
            tool: Arc::clone(&self.tool),
            base_dirs: Arc::clone(&self.base_dirs),
            clock: self.policy.clock,
            random: self.policy.random,
            requested: self.requested(arguments),
            env: Vec::new(),
            fs: Vec::new(),
            http: Vec::new(),
        };
        let mut denials = Vec::new();
        match &self.requests {
            None => self.add_all_rights(&mut grants),
            Some(requests) => {
                for request in requests.iter() {
                    self.add_requested_rights(request, arguments, &mut grants, &mut denials);
                }
            }
        }
        denials.truncate(MAX_DENIALS);
        if denials.is_empty() { Ok(grants) } else { Err(denials) }
    }

    /// Adds rights to everything that is granted, for a component that does not say what it needs.
    fn add_all_rights(&self, grants: &mut CallGrants) {
        grants.env = self.policy.env.clone().into_iter().collect();
        self.add_file_rights(Access::ReadWrite, grants);
        for grant in &self.http {
            grants.http.push(HttpRight {
                scope: grant.url.clone(),
                methods: grant.methods.clone(),
                grant: Arc::clone(grant),
            });
        }
    }

    /// Adds the rights that `request` asks for and that are granted. Adds a denial for each path or URL in the arguments that
    /// no grant covers.
    fn add_requested_rights(
        &self,
        request: &CapabilityRequest,
        arguments: &Value,
        grants: &mut CallGrants,
        denials: &mut Vec<Denial>,
    ) {
        match request {
            CapabilityRequest::Fs { access, path: None, .. } => self.add_file_rights(*access, grants),
            CapabilityRequest::Fs {
                access,
                path: Some(reference),
                ..
            } => {
                for text in reference.values(arguments) {
                    match self.file_right(text, *access) {
                        Ok(fs_right) => grants.fs.push(fs_right),
                        Err(denial) => denials.push(denial),
                    }
                }
            }
            CapabilityRequest::Http { url, methods, .. } => match url {
                Some(RequestedUrl::Argument(reference)) => {
                    self.add_origin_rights(reference, methods, arguments, grants, denials);
                }
                Some(RequestedUrl::Scope(scope)) => {
                    for grant in &self.http {
                        let scope = grant.url.intersect(scope);
                        grants
                            .http
                            .extend(scope.and_then(|scope| limit_http_grant(grant, scope, methods)));
                    }
                }
                None => {
                    let http_grants = self.http.iter();
                    let rights = http_grants.filter_map(|grant| limit_http_grant(grant, grant.url.clone(), methods));
                    grants.http.extend(rights);
                }
            },
            CapabilityRequest::Env { names, .. } => {
                let variables = self.policy.env.iter().filter(|(name, _)| names.contains(name));
                grants
                    .env
                    .extend(variables.map(|(name, value)| (name.clone(), value.clone())));
            }
        }
    }

    /// Adds rights to all granted files, with at most `access`. A guest finds the files at the path of the grant, at the path to
    /// which that leads, and at either path with `~` for the home directory.
    fn add_file_rights(&self, access: Access, grants: &mut CallGrants) {
        for grant in &self.fs {
            let spelled = [grant.path.as_path(), grant.base()];
            let with_tilde = spelled.iter().filter_map(|path| self.base_dirs.with_tilde(path));
            let spelled = spelled.into_iter().map(Path::to_owned).chain(with_tilde);
            let guest_paths: BTreeSet<_> = spelled
                .filter_map(|path| guest_path(&path.to_string_lossy()).ok())
                .collect();
            grants.fs.extend(guest_paths.into_iter().map(|guest_path| FsRight {
                guest_path,
                host_path: grant.base().to_owned(),
                access: access.min(grant.access),
                grant: Arc::clone(grant),
            }));
        }
    }

    /// Returns the right to the one file or directory that an argument names. If several grants cover it, uses the one that leads
    /// to the longest path.
    fn file_right(&self, text: &str, access: Access) -> Result<FsRight, Denial> {
        let action = if access.may_write() { "write" } else { "read" };
        let refuse = |problem: super::PathProblem| Denial::new(Capability::Fs, action, text, &problem.to_string());
        let path = absolute_path(text, self.base_dirs.home.as_deref(), &self.base_dirs.current).map_err(refuse)?;
        let guest = guest_path(text).map_err(refuse)?;
        let spellings: Vec<_> = self.base_dirs.spellings(&path).collect();
        let granted = self.fs.iter().filter(|grant| grant.access >= access);
        let covering =
            granted.filter_map(|grant| Some((grant, spellings.iter().find_map(|path| grant.place_of(path))?)));
        match covering.max_by_key(|(grant, _)| grant.base().as_os_str().len()) {
            Some((grant, host_path)) => Ok(FsRight {
                guest_path: guest,
                host_path,
                access,
                grant: Arc::clone(grant),
            }),
            None => Err(self.base_dirs.denial_of_path(&self.tool, &path, access)),
        }
    }

    /// Adds rights to the origins of the URLs in the argument that `reference` names. If no grant allows a
    /// request to such a URL with one of `methods`, adds a denial for the URL. Text that is not a valid URL for requests is
    /// skipped: the tool has to handle it.
    fn add_origin_rights(
        &self,
        reference: &ArgumentRef,
        methods: &[String],
        arguments: &Value,
        grants: &mut CallGrants,
        denials: &mut Vec<Denial>,
    ) {
        let targets = reference
            .values(arguments)
            .into_iter()
            .filter_map(|text| RequestTarget::parse(text).ok());
        for target in targets {
            let count_before = grants.http.len();
            for grant in self.http.iter().filter(|grant| grant.url.covers(&target)) {
                let scope = grant.url.intersect(&target.origin());
                grants
                    .http
                    .extend(scope.and_then(|scope| limit_http_grant(grant, scope, methods)));
            }
            if grants.http.len() == count_before {
                let method = methods.first().map_or("GET", String::as_str);
                let origin = target.origin();
                let earlier = self.http.iter().find(|grant| grant.url == origin).map(|grant| &**grant);
                denials.push(Denial::of_http_request(&self.tool, method, &target, earlier));
            }
        }
    }
}

/// Returns the right to send requests to `scope` with the methods that are both requested and granted, or `None` if there is no such
/// method.
fn limit_http_grant(
    grant: &Arc<HttpGrant>,
    scope: super::HttpScope,
    requested_methods: &[String],
) -> Option<HttpRight> {
    let methods: Vec<_> = requested_methods
        .iter()
        .filter(|method| grant.methods.contains(method))
        .cloned()
        .collect();
    (!methods.is_empty()).then(|| HttpRight {
        scope,
        methods,
        grant: Arc::clone(grant),
    })
}

fn only_reads(method: &str) -> bool {
    method == "GET" || method == "HEAD"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base_dirs() -> BaseDirs {
        BaseDirs {
            home: Some("/home/me".into()),
            resolved_home: None,
            current: "/home/me/work".into(),
            ..BaseDirs::default()
        }
    }

    fn requests(value: Value) -> Option<Vec<CapabilityRequest>> {
        Some(serde_json::from_value(value).unwrap())
    }

    fn policy(value: Value) -> ToolPolicy {
        let mut policy: ToolPolicy = serde_json::from_value(value).unwrap();
        policy.component = "00".to_owned();
        policy.check().unwrap();
        policy
    }

    /// Returns the authority of a tool that reads the file that its argument `path` names. Only files in `/home/me/notes` are
    /// granted.
    fn authority_to_read_notes() -> Authority {
        let requested = requests(json!([{"kind": "fs", "access": "read", "path": "{args.path}"}]));
        let granted = policy(json!({"fs": [{"path": "/home/me/notes"}]}));
        Authority::new("reader", requested, granted, base_dirs())
    }

    #[test]
    fn a_call_gets_only_the_file_that_its_argument_names() {
        let grants = authority_to_read_notes()
            .grants_for(&json!({"path": "~/notes/a.txt"}))
            .unwrap();
        let [fs_right] = &grants.fs[..] else {
            panic!("{grants:?}")
        };
        assert_eq!(fs_right.guest_path, "~/notes/a.txt");
        assert_eq!(fs_right.host_path, Path::new("/home/me/notes/a.txt"));
    }

    #[test]
    fn a_grant_through_a_link_gives_the_same_file_whichever_way_the_argument_is_written() {
        let requested = requests(json!([{"kind": "fs", "access": "read", "path": "{args.path}"}]));
        let granted = policy(json!({"fs": [{"path": "/home/me/data", "resolved": "/mnt/disk/data"}]}));
        let authority = Authority::new("reader", requested, granted, base_dirs());
        for written in ["~/data/a", "/home/me/data/a", "/mnt/disk/data/a"] {
            let grants = authority.grants_for(&json!({"path": written})).unwrap();
            assert_eq!(grants.fs[0].host_path, Path::new("/mnt/disk/data/a"), "{written}");
        }
        assert!(authority.grants_for(&json!({"path": "/mnt/disk/a"})).is_err());
    }

    #[test]
    fn a_home_directory_that_is_a_link_can_be_written_either_way() {
        let requested = requests(json!([{"kind": "fs", "access": "read", "path": "{args.path}"}]));
        let linked_home = BaseDirs {
            resolved_home: Some("/data/me".into()),
            ..base_dirs()
        };
        for granted in [
            json!({"path": "/data/me/notes"}),
            json!({"path": "/home/me/notes", "resolved": "/data/me/notes"}),
        ] {
            let granted = policy(json!({"fs": [granted]}));
            let authority = Authority::new("reader", requested.clone(), granted.clone(), linked_home.clone());
            for written in ["~/notes/a", "/home/me/notes/a", "/data/me/notes/a"] {
                let grants = authority.grants_for(&json!({"path": written})).unwrap();
                assert_eq!(grants.fs[0].host_path, Path::new("/data/me/notes/a"), "{written}");
            }
            let all_files = requests(json!([{"kind": "fs", "access": "read"}]));
            let authority = Authority::new("reader", all_files, granted, linked_home.clone());
            let grants = authority.grants_for(&json!({})).unwrap();
            assert!(grants.fs.iter().any(|fs_right| fs_right.guest_path == "~/notes"));
        }
    }

    #[test]
    fn a_file_outside_of_the_grant_is_denied_with_the_command_that_grants_it() {
        let denials = authority_to_read_notes()
            .grants_for(&json!({"path": "todo.txt"}))
            .unwrap_err();
        let commands: Vec<_> = denials.iter().filter_map(|denial| denial.command.as_deref()).collect();
        assert_eq!(commands, ["art grant add reader --read /home/me/work/todo.txt"]);
    }

    #[test]
    fn a_path_that_leads_upwards_is_denied_without_a_command() {
        let denials = authority_to_read_notes()
            .grants_for(&json!({"path": "/home/me/notes/../.ssh/id"}))
            .unwrap_err();
        assert!(denials.iter().all(|denial| denial.command.is_none()));
    }

    #[test]
    fn a_grant_that_the_tool_does_not_request_gives_nothing() {
        let requested = requests(json!([]));
        let granted = policy(json!({"fs": [{"path": "/data"}], "http": [{"url": "https://a.example/"}]}));
        let authority = Authority::new("t", requested, granted, base_dirs());
        let grants = authority.grants_for(&json!({})).unwrap();
        assert!(grants.fs.is_empty() && grants.http.is_empty());
    }

    #[test]
    fn a_request_that_is_not_granted_gives_nothing() {
        let requested = requests(json!([{"kind": "fs", "access": "read-write"}, {"kind": "http"}]));
        let grants = Authority::new("t", requested, ToolPolicy::default(), base_dirs())
            .grants_for(&json!({}))
            .unwrap();
        assert!(grants.fs.is_empty() && grants.http.is_empty());
    }

    #[test]
    fn a_call_that_breaks_off_follows_only_from_denials_of_what_its_arguments_name_or_of_changes() {
        let grants = authority_to_read_notes().grants_for(&json!({})).unwrap();
        let explains = |denial: &Denial| {
            let arguments = json!({"path": "~/notes/a.txt", "more": [{"name": "b.txt"}, "work", "json", "", "/"]});
            grants.may_explain_trap(denial, &arguments)
        };
        let read = |path: &str| Denial::of_path("reader", path, Access::Read);
        for path in ["/home/me/notes/a.txt", "/data/b.txt", "/home/me/work/work/c"] {
            assert!(explains(&read(path)), "{path}");
        }
        for path in [
            "/app.py",
            "/usr/lib/python3/traceback.py",
            "/home/me/notes",
            "/lib/python3/json",
            "/data/ab.txt",
        ] {
            assert!(!explains(&read(path)), "{path}");
        }
        assert!(explains(&Denial::of_path("reader", "/app.py", Access::ReadWrite)));
        let target = RequestTarget::parse("https://example.com/").unwrap();
        assert!(explains(&Denial::of_http_request("reader", "GET", &target, None)));
    }

    /// Returns the grants of a call of a tool with these requests, to which nothing is granted.
    fn grants_of_call(requested: Value, arguments: &Value) -> Arc<CallGrants> {
        let authority = Authority::new("t", requests(requested), ToolPolicy::default(), base_dirs());
        authority.grants_for(arguments).unwrap()
    }

    #[test]
    fn a_path_that_the_manifest_does_not_ask_for_has_no_command() {
        let denial = |requested: Value, access| {
            let grants = grants_of_call(json!([requested]), &json!({}));
            grants.denial_of_path("data/a", access)
        };
        let of_argument = denial(
            json!({"kind": "fs", "access": "read", "path": "{args.path}"}),
            Access::Read,
        );
        let only_reading = denial(json!({"kind": "fs", "access": "read"}), Access::ReadWrite);
        let other_capability = denial(json!({"kind": "http"}), Access::Read);
        for (denial, expected) in [
            (
                of_argument,
                "asks only to read the file or directory of the argument `path`",
            ),
            (only_reading, "asks only to read the files that are granted"),
            (other_capability, "does not ask for it"),
        ] {
            assert_eq!(denial.command, None, "{denial}");
            assert!(denial.reason.contains(expected), "{denial}");
        }
        let both = json!({"kind": "fs", "access": "read-write"});
        assert!(denial(both, Access::ReadWrite).needs_grant());
    }

    #[test]
    fn a_request_that_the_manifest_does_not_ask_for_has_no_command() {
        let has_command = |requested: Value, method: &str, url: &str| {
            let grants = grants_of_call(json!([requested]), &json!({"url": "not a URL"}));
            let denial = grants.denial_of_http_request(method, &RequestTarget::parse(url).unwrap());
            assert_eq!(
                denial.needs_grant(),
                !denial.reason.contains("asks only to send GET"),
                "{denial}"
            );
            denial.needs_grant()
        };
        let of_scope = json!({"kind": "http", "url": "https://api.example.com/v1"});
        assert!(has_command(of_scope.clone(), "GET", "https://api.example.com/v1/a"));
        assert!(!has_command(of_scope.clone(), "GET", "https://api.example.com/v2"));
        assert!(!has_command(of_scope.clone(), "GET", "https://other.example/v1"));
        assert!(!has_command(of_scope, "POST", "https://api.example.com/v1"));
        let of_argument = json!({"kind": "http", "url": "{args.url}"});
        assert!(!has_command(of_argument, "GET", "https://api.example.com/"));
        let of_all = json!({"kind": "http"});
        assert!(has_command(of_all, "GET", "https://other.example/"));
    }

    #[test]
    fn another_path_of_the_origin_in_an_argument_has_a_command() {
        let requested = requests(json!([{"kind": "http", "url": "{args.url}"}]));
        let granted = policy(json!({"http": [{"url": "https://a.example/v1"}]}));
        let authority = Authority::new("t", requested, granted, base_dirs());
        let grants = authority.grants_for(&json!({"url": "https://a.example/v1"})).unwrap();
        let denial = |url| grants.denial_of_http_request("GET", &RequestTarget::parse(url).unwrap());
        assert!(denial("https://a.example/v2").needs_grant());
        assert!(!denial("https://b.example/v1").needs_grant());
    }

    #[test]
    fn a_path_that_this_host_never_grants_has_no_command() {
        let base_dirs = BaseDirs {
            resolved_home: Some("/data/me".into()),
            protected: vec![("/srv/plugins".into(), "the plugins folder")],
            ..base_dirs()
        };
        let all_files = requests(json!([{"kind": "fs", "access": "read"}]));
        let authority = Authority::new("t", all_files, ToolPolicy::default(), base_dirs);
        let grants = authority.grants_for(&json!({})).unwrap();
        for path in ["home/me/.ssh/id", "~/.ssh/id", "srv/plugins/a.wasm", "srv"] {
            let denial = grants.denial_of_path(path, Access::Read);
            assert_eq!(denial.command, None, "{path}");
            assert!(denial.reason.starts_with("it cannot be granted: "), "{denial}");
        }
        assert!(grants.denial_of_path("home/me/notes", Access::Read).needs_grant());
    }

    #[test]
    fn a_component_without_a_manifest_gets_what_is_granted() {
        let granted = policy(json!({
            "fs": [{"path": "/home/me/notes", "access": "read-write"}],
            "http": [{"url": "https://a.example/"}],
            "env": {"LEVEL": "3"},
        }));
        let grants = Authority::new("t", None, granted, base_dirs())
            .grants_for(&json!({}))
            .unwrap();
        let guest_paths: Vec<_> = grants.fs.iter().map(|fs_right| fs_right.guest_path.as_str()).collect();
        assert_eq!(guest_paths, ["home/me/notes", "~/notes"]);
        assert_eq!(grants.http.len(), 1);
        assert_eq!(grants.env, [("LEVEL".to_owned(), "3".to_owned())]);
    }

    #[test]
    fn a_request_to_read_gets_no_right_to_write() {
        let requested = requests(json!([{"kind": "fs", "access": "read"}]));
        let granted = policy(json!({"fs": [{"path": "/data", "access": "read-write"}]}));
        let authority = Authority::new("t", requested, granted, base_dirs());
        assert!(!authority.may_have_effects());
        let grants = authority.grants_for(&json!({})).unwrap();
        assert!(grants.fs.iter().all(|fs_right| !fs_right.access.may_write()));
    }

    #[test]
    fn a_call_gets_only_the_origin_that_its_argument_names() {
        let requested = requests(json!([{"kind": "http", "url": "{args.url}"}]));
        let granted = policy(json!({"http": [{"url": "https://*.example.com/"}]}));
        let authority = Authority::new("t", requested, granted, base_dirs());
        let grants = authority
            .grants_for(&json!({"url": "https://a.example.com/x"}))
            .unwrap();
        let allowed = |url| {
            grants
                .find_http_right("GET", &RequestTarget::parse(url).unwrap())
                .is_some()
        };
        assert!(allowed("https://a.example.com/y"));
        assert!(!allowed("https://b.example.com/y"));
        let denials = authority.grants_for(&json!({"url": "https://evil.com/x"})).unwrap_err();
        assert_eq!(denials.len(), 1);
    }

    #[test]
    fn an_http_request_uses_the_grant_of_its_host_before_the_grant_of_a_wildcard() {
        for wildcard in ["https://*.example.com/", "https://*.example.com/a/longer/path"] {
            let requested = requests(json!([{"kind": "http"}]));
            let granted = policy(json!({"http": [{"url": "https://a.example.com/"}, {"url": wildcard}]}));
            let grants = Authority::new("t", requested, granted, base_dirs())
                .grants_for(&json!({}))
                .unwrap();
            let target = RequestTarget::parse("https://a.example.com/a/longer/path").unwrap();
            let http_right = grants.find_http_right("GET", &target).unwrap();
            assert_eq!(http_right.grant.url.to_string(), "https://a.example.com/");
        }
    }

    #[test]
    fn a_call_of_a_changed_component_is_denied_with_the_command_that_approves_it() {
        let granted = policy(json!({"fs": [{"path": "/data"}]}));
        let authority = Authority::of_changed_component("t", requests(json!([])), granted, base_dirs());
        let denials = authority.grants_for(&json!({})).unwrap_err();
        assert_eq!(denials[0].command.as_deref(), Some("art grant approve t"));
    }

    #[test]
    fn only_methods_that_are_requested_and_granted_may_be_used() {
        let requested = requests(json!([{"kind": "http", "methods": ["GET", "POST"]}]));
        let granted = policy(json!({"http": [{"url": "https://a.example/", "methods": ["GET", "DELETE"]}]}));
        let grants = Authority::new("t", requested, granted, base_dirs())
            .grants_for(&json!({}))
            .unwrap();
        let target = RequestTarget::parse("https://a.example/").unwrap();
        let allowed = |method| grants.find_http_right(method, &target).is_some();
        assert!(allowed("GET"));
        assert!(!allowed("POST") && !allowed("DELETE"));
    }
}
