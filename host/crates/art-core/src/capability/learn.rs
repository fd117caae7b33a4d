//! Learns the smallest grants for a tool from its recorded calls: the grants that allow what the calls used and what they were
//! denied.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{
    Access, Capability, CapabilityRequest, Denial, FsGrant, GrantUse, GrantUses, HttpGrant, HttpScope, RequestTarget,
    ToolPolicy,
};

/// What recorded calls of a tool used, and what they were denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedCalls {
    /// Number of calls.
    pub calls: usize,
    /// What the calls used.
    pub uses: GrantUses,
    /// What the calls were denied: each denial once, with the number of calls.
    pub denials: Vec<(Denial, usize)>,
}

/// What [`ObservedCalls::learn`] concludes from recorded calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedPolicy {
    /// The smallest grants that allow everything that was used, and everything that was denied except what `denied` lists.
    /// Variables, limits, the clock and random numbers are as before, because their use is not observed.
    pub policy: ToolPolicy,
    /// What was denied and is now allowed by a grant that `policy` adds, with the number of calls.
    pub allowed: Vec<(Denial, usize)>,
    /// What was denied and stays denied, with the number of calls.
    pub denied: Vec<(Denial, usize)>,
    /// What was requested or granted, but neither used nor denied.
    pub unused: Vec<Unused>,
}

/// Something that a tool requests or that it is granted, but that its calls neither used nor were denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Unused {
    /// An action that a capability request in the manifest of the tool asks for.
    Requested {
        /// The kind of authority.
        capability: Capability,
        /// `read`, `write`, or an HTTP method.
        action: String,
    },
    /// An action that a grant allows.
    Granted {
        /// The kind of authority.
        capability: Capability,
        /// `read`, `write`, or an HTTP method.
        action: String,
        /// The path or address of the grant.
        grant: String,
    },
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested { capability, action } => write!(f, "requested: {capability} {action}"),
            Self::Granted { action, grant, .. } => write!(f, "granted: {action} `{grant}`"),
        }
    }
}

impl ObservedCalls {
    /// Adds a call.
    pub fn add(&mut self, uses: &[GrantUse], denials: &[Denial]) {
        self.calls += 1;
        uses.iter().for_each(|used| self.uses.merge(used));
        self.add_denials(denials);
    }

    /// Adds the denials for which a call is suspended until a person decides. The call itself is counted later, by
    /// [`add`](Self::add), when it has ended.
    pub fn add_denials(&mut self, denials: &[Denial]) {
        for denial in denials {
            match self.denials.iter_mut().find(|(known, _)| known == denial) {
                Some((_, calls)) => *calls += 1,
                None => self.denials.push((denial.clone(), 1)),
            }
        }
    }

    /// Returns the smallest grants that allow everything that was observed. `current_policy` is what the operator grants so
    /// far, and `requests` is what the tool requests, or `None` if it has no manifest. What the tool does not request and what
    /// `may_grant` refuses stays denied. `resolve` returns the path to which the path of a new grant leads.
    #[must_use]
    pub fn learn(
        &self,
        current_policy: &ToolPolicy,
        requests: Option<&[CapabilityRequest]>,
        may_grant: impl Fn(&ToolPolicy) -> bool,
        resolve: impl Fn(&Path) -> PathBuf,
    ) -> LearnedPolicy {
        let is_requested = |capability| {
            requests.is_none_or(|requests| requests.iter().any(|request| request.capability() == capability))
        };
        let mut uses = self.uses.clone();
        let (mut allowed, mut denied, mut not_granted_yet) = (Vec::new(), Vec::new(), Vec::new());
        for (denial, calls) in &self.denials {
            match use_if_now_granted(current_policy, denial) {
                Some(used) => uses.merge(&used),
                None => not_granted_yet.push((denial.clone(), *calls)),
            }
        }
        let mut policy = narrow_policy(current_policy, uses.as_slice(), &resolve);
        for (denial, calls) in not_granted_yet {
            let mut wider_policy = policy.clone();
            match wider_policy.allow(&denial, &resolve) {
                Ok(()) if is_requested(denial.capability) && may_grant(&wider_policy) => {
                    policy = wider_policy;
                    allowed.push((denial, calls));
                }
                _ => denied.push((denial, calls)),
            }
        }
        let mut unused = unused_grants(current_policy, uses.as_slice());
        unused.extend(self.unused_requests(requests.unwrap_or_default()));
        LearnedPolicy {
            policy,
            allowed,
            denied,
            unused,
        }
    }

    fn unused_requests(&self, requests: &[CapabilityRequest]) -> Vec<Unused> {
        let mut unused = Vec::new();
        for (capability, action) in requests.iter().flat_map(actions) {
            let used = self.uses.as_slice().iter();
            let denied = self.denials.iter().map(|(denial, _)| denial);
            let observed = used.map(|used| (used.capability, used.action.as_str()));
            let mut observed = observed.chain(denied.map(|denial| (denial.capability, denial.action.as_str())));
            let entry = Unused::Requested {
                capability,
                action: action.to_owned(),
            };
            if !observed.any(|found| found == (capability, action)) && !unused.contains(&entry) {
                unused.push(entry);
            }
        }
        unused
    }
}

/// Returns the actions that a capability request asks for. A request for variables has none, because their use is not observed.
fn actions(request: &CapabilityRequest) -> Vec<(Capability, &str)> {
    match request {
        CapabilityRequest::Fs { access, .. } => vec![(Capability::Fs, access.action())],
        CapabilityRequest::Http { methods, .. } => {
            let methods = methods.iter().map(String::as_str);
            methods.map(|method| (Capability::Http, method)).collect()
        }
        CapabilityRequest::Env { .. } => Vec::new(),
    }
}

/// Turns a denial into a use, if `current_policy` now has a grant that allows what was denied. Returns `None` without such a
/// grant, and for a denial that has another cause than a missing grant, such as a missing secret.
fn use_if_now_granted(current_policy: &ToolPolicy, denial: &Denial) -> Option<GrantUse> {
    if !denial.needs_grant() {
        return None;
    }
    let (grant, resource) = match denial.capability {
        Capability::Fs => {
            let access = match denial.action.as_str() {
                "write" => Access::ReadWrite,
                _ => Access::Read,
            };
            let covers = |grant: &&FsGrant| grant.covers(denial.resource.as_ref(), access);
            let grant = current_policy
                .fs
                .iter()
                .find(covers)?
                .path
                .to_string_lossy()
                .into_owned();
            (grant, denial.resource.clone())
        }
        Capability::Http => {
            let target = RequestTarget::parse(&denial.resource).ok()?;
            let allows = |grant: &&HttpGrant| {
                grant.allows(&denial.action, &target) && (grant.private || !denial.needs_private_grant())
            };
            let grant = current_policy.http.iter().find(allows)?.url.to_string();
            // A denial does not contain the requested path, so the whole grant counts as used.
            (grant.clone(), grant)
        }
        Capability::Clock | Capability::Random | Capability::Env => return None,
    };
    Some(GrantUse {
        capability: denial.capability,
        action: denial.action.clone(),
        grant,
        resource,
    })
}

/// Returns the policy without the grants that were not used. The other grants are limited to what was used of them.
fn narrow_policy(current_policy: &ToolPolicy, uses: &[GrantUse], resolve: &impl Fn(&Path) -> PathBuf) -> ToolPolicy {
    let mut policy = current_policy.clone();
    policy.fs.clear();
    for grant in current_policy
        .fs
        .iter()
        .filter_map(|grant| narrow_fs_grant(grant, uses, resolve))
    {
        // The grant of a directory and the grant of a path below it can be narrowed to the same path.
        match policy.fs.iter_mut().find(|other| other.path == grant.path) {
            Some(other) if other.access < grant.access => *other = grant,
            Some(_) => {}
            None => policy.fs.push(grant),
        }
    }
    let http = current_policy.http.iter();
    policy.http = http.filter_map(|grant| narrow_http_grant(grant, uses)).collect();
    policy
}

fn narrow_fs_grant(grant: &FsGrant, uses: &[GrantUse], resolve: &impl Fn(&Path) -> PathBuf) -> Option<FsGrant> {
    let path = grant.path.to_string_lossy();
    // All uses are added with the same, empty action, so that they become one use of the directory that contains all their paths.
    let mut combined = GrantUses::default();
    let used: Vec<_> = uses_under_grant(uses, Capability::Fs, &path).collect();
    for used in &used {
        combined.add_path("", &grant.path, used.resource.as_ref());
    }
    let writes = used.iter().any(|used| used.action == "write");
    let [combined_use] = combined.as_slice() else {
        return None;
    };
    let narrowed = FsGrant {
        path: (&combined_use.resource).into(),
        access: if writes { grant.access } else { Access::Read },
        stage: grant.stage && writes,
        ..grant.clone()
    };
    // The whole grant stays bound to the place to which it led when it was made.
    if narrowed.path == grant.path {
        return Some(narrowed);
    }
    let resolved = resolve(&narrowed.path);
    Some(narrowed.with_resolved(resolved))
}

fn narrow_http_grant(grant: &HttpGrant, uses: &[GrantUse]) -> Option<HttpGrant> {
    let url = grant.url.to_string();
    let used: Vec<_> = uses_under_grant(uses, Capability::Http, &url).collect();
    // The empty action again lets all uses become one: that of the address below which all of them are.
    let mut combined = GrantUses::default();
    for scope in used.iter().filter_map(|used| used.resource.parse::<HttpScope>().ok()) {
        combined.add_http_request("", &grant.url, &scope);
    }
    let [combined_use] = combined.as_slice() else {
        return None;
    };
    let is_used = |method: &&String| used.iter().any(|used| used.action == **method);
    Some(HttpGrant {
        url: combined_use.resource.parse().ok()?,
        methods: grant.methods.iter().filter(is_used).cloned().collect(),
        ..grant.clone()
    })
}

fn uses_under_grant<'a>(
    uses: &'a [GrantUse],
    capability: Capability,
    grant: &'a str,
) -> impl Iterator<Item = &'a GrantUse> {
    uses.iter()
        .filter(move |used| used.capability == capability && used.grant == grant)
}

/// Returns what is granted and was not used.
fn unused_grants(current_policy: &ToolPolicy, uses: &[GrantUse]) -> Vec<Unused> {
    let files = current_policy.fs.iter().flat_map(|grant| {
        let path = grant.path.to_string_lossy().into_owned();
        let writes = grant.access.may_write().then_some("write");
        let actions = ["read"].into_iter().chain(writes);
        actions.map(move |action| (Capability::Fs, action, path.clone()))
    });
    let http = current_policy.http.iter().flat_map(|grant| {
        let methods = grant.methods.iter().map(String::as_str);
        methods.map(|method| (Capability::Http, method, grant.url.to_string()))
    });
    let is_unused = |(capability, action, grant): &(Capability, &str, String)| {
        let mut of_grant = uses_under_grant(uses, *capability, grant);
        // Reading counts as used as soon as the grant was used in any way.
        !of_grant.any(|used| used.action == *action || *action == "read")
    };
    let unused = files.chain(http).filter(is_unused);
    unused
        .map(|(capability, action, grant)| Unused::Granted {
            capability,
            action: action.to_owned(),
            grant,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn policy(value: Value) -> ToolPolicy {
        let mut policy: ToolPolicy = serde_json::from_value(value).unwrap();
        policy.component = "00".to_owned();
        policy.check().unwrap();
        policy
    }

    fn grant_use(capability: Capability, action: &str, grant: &str, resource: &str) -> GrantUse {
        GrantUse {
            capability,
            action: action.to_owned(),
            grant: grant.to_owned(),
            resource: resource.to_owned(),
        }
    }

    fn observe(uses: &[GrantUse], denials: &[Denial]) -> ObservedCalls {
        let mut observed = ObservedCalls::default();
        observed.add(uses, denials);
        observed
    }

    fn unused_texts(learned: &LearnedPolicy) -> Vec<String> {
        learned.unused.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_learned_policy_grants_exactly_what_was_denied() {
        let denial = Denial::of_path("t", "/notes/a.txt", Access::Read);
        let learned = observe(&[], &[denial]).learn(&ToolPolicy::default(), None, |_| true, Path::to_owned);
        assert_eq!(learned.policy.fs, [FsGrant::new("/notes/a.txt".into(), Access::Read)]);
        assert!(learned.policy.http.is_empty() && learned.denied.is_empty() && learned.allowed.len() == 1);
    }

    #[test]
    fn a_grant_is_narrowed_to_what_was_used_of_it() {
        let current_policy = policy(json!({
            "fs": [{"path": "/notes", "access": "read-write", "stage": true}],
            "http": [{"url": "https://a.b/", "methods": ["GET", "POST"]}],
        }));
        let uses = [
            grant_use(Capability::Fs, "read", "/notes", "/notes/2026/a.txt"),
            grant_use(Capability::Http, "GET", "https://a.b/", "https://a.b/v1/x"),
        ];
        let learned = observe(&uses, &[]).learn(&current_policy, None, |_| true, Path::to_owned);
        let expected = policy(json!({
            "fs": [{"path": "/notes/2026/a.txt", "access": "read"}],
            "http": [{"url": "https://a.b/v1/x", "methods": ["GET"]}],
        }));
        assert_eq!(learned.policy, expected);
        assert_eq!(
            unused_texts(&learned),
            ["granted: write `/notes`", "granted: POST `https://a.b/`"]
        );
    }

    #[test]
    fn a_grant_that_is_used_in_full_stays_as_it_is() {
        let current_policy = policy(json!({"fs": [{"path": "/notes", "access": "read-write", "stage": true}]}));
        let uses = [grant_use(Capability::Fs, "write", "/notes", "/notes")];
        let learned = observe(&uses, &[]).learn(&current_policy, None, |_| true, Path::to_owned);
        assert_eq!((&learned.policy, learned.unused.len()), (&current_policy, 0));
    }

    #[test]
    fn a_grant_that_is_never_used_is_removed_and_reported() {
        let current_policy = policy(json!({"fs": [{"path": "/data"}], "env": {"A": "1"}, "limits": {"timeout_ms": 5}}));
        let learned = observe(&[], &[]).learn(&current_policy, None, |_| true, Path::to_owned);
        assert!(learned.policy.fs.is_empty());
        assert_eq!(unused_texts(&learned), ["granted: read `/data`"]);
        assert_eq!(
            (learned.policy.env, learned.policy.limits),
            (current_policy.env, current_policy.limits)
        );
    }

    #[test]
    fn a_request_that_is_never_used_is_reported() {
        let requests: Vec<CapabilityRequest> = serde_json::from_value(json!([
            {"kind": "fs", "access": "read"},
            {"kind": "fs", "access": "read-write"},
            {"kind": "http", "methods": ["GET", "POST"]},
        ]))
        .unwrap();
        let denial = Denial::of_path("t", "/a", Access::Read);
        let learned = observe(&[], &[denial]).learn(&ToolPolicy::default(), Some(&requests), |_| true, Path::to_owned);
        assert_eq!(
            unused_texts(&learned),
            ["requested: fs write", "requested: http GET", "requested: http POST"]
        );
    }

    #[test]
    fn what_was_denied_before_it_was_granted_counts_as_used() {
        let current_policy = policy(json!({"fs": [{"path": "/notes"}]}));
        let denials = [Denial::of_path("t", "/notes/a.txt", Access::Read)];
        let learned = observe(&[], &denials).learn(&current_policy, None, |_| true, Path::to_owned);
        assert_eq!(learned.policy, policy(json!({"fs": [{"path": "/notes/a.txt"}]})));
        assert!(learned.allowed.is_empty());
    }

    #[test]
    fn a_host_that_is_not_public_needs_a_private_grant() {
        let target = RequestTarget::parse("http://intranet.example/").unwrap();
        let denials = [Denial::not_public(
            "t",
            "GET",
            &HttpGrant::for_method(target.origin(), "GET"),
        )];
        let grants = |private| policy(json!({"http": [{"url": "http://intranet.example/", "private": private}]}));
        let learned = observe(&[], &denials).learn(&grants(false), None, |_| true, Path::to_owned);
        assert!(learned.policy.http.iter().any(|grant| grant.private), "{learned:?}");
        let granted_since = observe(&[], &denials).learn(&grants(true), None, |_| true, Path::to_owned);
        assert!(granted_since.allowed.is_empty(), "{granted_since:?}");
    }

    #[test]
    fn what_no_grant_can_allow_stays_denied() {
        let target = RequestTarget::parse("https://a.b/").unwrap();
        let denials = [
            Denial::of_http_request("t", "CONNECT", &target, None),
            Denial::missing_secret("GET", &target, "KEY"),
            Denial::new(
                Capability::Fs,
                "read",
                "/etc/shadow",
                "the manifest of the tool requests less",
            ),
        ];
        let learned = observe(&[], &denials).learn(&ToolPolicy::default(), None, |_| true, Path::to_owned);
        assert_eq!((&learned.policy, learned.denied.len()), (&ToolPolicy::default(), 3));
    }

    #[test]
    fn what_is_denied_although_a_grant_covers_it_does_not_count_as_used() {
        let target = RequestTarget::parse("https://a.b/").unwrap();
        let current_policy = policy(json!({
            "fs": [{"path": "/notes"}],
            "http": [{"url": "https://a.b/", "methods": ["GET"]}],
        }));
        let denials = [
            Denial::missing_secret("GET", &target, "KEY"),
            Denial::new(
                Capability::Fs,
                "read",
                "/notes/a.txt",
                "the manifest of the tool requests less",
            ),
        ];
        let learned = observe(&[], &denials).learn(&current_policy, None, |_| true, Path::to_owned);
        assert!(
            learned.policy.fs.is_empty() && learned.policy.http.is_empty(),
            "{learned:?}"
        );
        assert_eq!(learned.denied.len(), 2);
    }

    #[test]
    fn what_is_not_requested_or_may_not_be_granted_stays_denied() {
        let denials = [Denial::of_path("t", "/a", Access::Read)];
        let observed = observe(&[], &denials);
        let (empty_policy, current_policy) = (ToolPolicy::default(), ToolPolicy::default());
        assert_eq!(
            observed
                .learn(&current_policy, Some(&[]), |_| true, Path::to_owned)
                .policy,
            empty_policy
        );
        assert_eq!(
            observed.learn(&current_policy, None, |_| false, Path::to_owned).policy,
            empty_policy
        );
        assert_ne!(
            observed.learn(&current_policy, None, |_| true, Path::to_owned).policy,
            empty_policy
        );
    }

    #[test]
    fn a_path_that_was_denied_for_reading_and_writing_is_granted_for_both() {
        for order in [[Access::Read, Access::ReadWrite], [Access::ReadWrite, Access::Read]] {
            let denials = order.map(|access| Denial::of_path("t", "/a", access));
            let learned = observe(&[], &denials).learn(&ToolPolicy::default(), None, |_| true, Path::to_owned);
            assert_eq!(learned.policy.fs, [FsGrant::new("/a".into(), Access::ReadWrite)]);
        }
    }
}
