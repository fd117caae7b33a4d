//! The smallest grants for what the recorded calls of a tool used or were denied.

use std::fmt;

use serde::Serialize;

use super::{
    Access, Capability, CapabilityRequest, Denial, FsGrant, HttpGrant, HttpScope, Target, ToolPolicy, Use, Uses,
};

/// What recorded calls of a tool used, and what they were denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Number of calls.
    pub calls: usize,
    /// What the calls used.
    pub uses: Uses,
    /// What the calls were denied: each denial once, with the number of calls.
    pub denials: Vec<(Denial, usize)>,
}

/// What [`Observed::learn`] concludes from recorded calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The smallest grants that allow everything that was used, and what was denied except for `denied`. Variables, limits, the clock
    /// and random numbers are as before, because their use is not observed.
    pub policy: ToolPolicy,
    /// What was denied and is allowed by `policy`, with the number of calls.
    pub allowed: Vec<(Denial, usize)>,
    /// What was denied and stays denied, with the number of calls.
    pub denied: Vec<(Denial, usize)>,
    /// What was requested or granted, but neither used nor denied.
    pub unused: Vec<Unused>,
}

/// Something that a tool never used, and that it was never denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Unused {
    /// A request of its manifest.
    Requested {
        /// The kind of authority.
        capability: Capability,
        /// `read`, `write`, or a method.
        action: String,
    },
    /// A grant, or a part of it.
    Granted {
        /// The kind of authority.
        capability: Capability,
        /// `read`, `write`, or a method.
        action: String,
        /// The path or address.
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

impl Observed {
    /// Adds a call.
    pub fn add(&mut self, uses: &[Use], denials: &[Denial]) {
        self.calls += 1;
        uses.iter().for_each(|used| self.uses.merge(used));
        self.add_denials(denials);
    }

    /// Adds the denials of a suspended call. [`add`](Self::add) counts this call when it ends.
    pub fn add_denials(&mut self, denials: &[Denial]) {
        for denial in denials {
            match self.denials.iter_mut().find(|(known, _)| known == denial) {
                Some((_, calls)) => *calls += 1,
                None => self.denials.push((denial.clone(), 1)),
            }
        }
    }

    /// Returns the smallest grants that allow everything that was observed. `present` is the policy so far, and `requests` is what
    /// the tool requests, or `None` if it has no manifest. What the tool does not request and what `may_grant` refuses stays denied.
    #[must_use]
    pub fn learn(
        &self,
        present: &ToolPolicy,
        requests: Option<&[CapabilityRequest]>,
        may_grant: impl Fn(&ToolPolicy) -> bool,
    ) -> Learned {
        let is_requested =
            |kind| requests.is_none_or(|requests| requests.iter().any(|request| request.capability() == kind));
        let mut needed = self.uses.clone();
        let (mut allowed, mut denied, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for (denial, calls) in &self.denials {
            match find_use_granted_since(present, denial) {
                Some(used) => needed.merge(&used),
                None => missing.push((denial.clone(), *calls)),
            }
        }
        let mut policy = narrow_policy(present, needed.as_slice());
        for (denial, calls) in missing {
            let mut wider = policy.clone();
            match wider.allow(&denial) {
                Ok(()) if is_requested(denial.capability) && may_grant(&wider) => {
                    policy = wider;
                    allowed.push((denial, calls));
                }
                _ => denied.push((denial, calls)),
            }
        }
        let mut unused = unused_grants(present, needed.as_slice());
        unused.extend(self.unused_requests(requests.unwrap_or_default()));
        Learned {
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

/// Returns the actions that a request asks for. The use of variables is not observed, so they have none.
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

/// Returns the use that corresponds to a denial if `present` grants it by now, or `None` if it is still denied.
fn find_use_granted_since(present: &ToolPolicy, denial: &Denial) -> Option<Use> {
    let (grant, resource) = match denial.capability {
        Capability::Fs => {
            let access = match denial.action.as_str() {
                "write" => Access::ReadWrite,
                _ => Access::Read,
            };
            let covers = |grant: &&FsGrant| grant.covers(denial.resource.as_ref(), access);
            let grant = present.fs.iter().find(covers)?.path.to_string_lossy().into_owned();
            (grant, denial.resource.clone())
        }
        Capability::Http => {
            let target = Target::parse(&denial.resource).ok()?;
            let allows = |grant: &&HttpGrant| {
                grant.allows(&denial.action, &target) && (grant.private || !denial.needs_private_grant())
            };
            let grant = present.http.iter().find(allows)?.url.to_string();
            // A denial does not contain the requested path, so the whole grant counts as used.
            (grant.clone(), grant)
        }
        Capability::Clock | Capability::Random | Capability::Env => return None,
    };
    Some(Use {
        capability: denial.capability,
        action: denial.action.clone(),
        grant,
        resource,
    })
}

/// Returns the policy, reduced to the grants that were used.
fn narrow_policy(present: &ToolPolicy, uses: &[Use]) -> ToolPolicy {
    let mut policy = present.clone();
    policy.fs.clear();
    for grant in present.fs.iter().filter_map(|grant| narrow_files(grant, uses)) {
        match policy.fs.iter_mut().find(|other| other.path == grant.path) {
            Some(other) if other.access < grant.access => *other = grant,
            Some(_) => {}
            None => policy.fs.push(grant),
        }
    }
    let http = present.http.iter();
    policy.http = http.filter_map(|grant| narrow_requests(grant, uses)).collect();
    policy
}

fn narrow_files(grant: &FsGrant, uses: &[Use]) -> Option<FsGrant> {
    let path = grant.path.to_string_lossy();
    let mut covering = Uses::default();
    let used: Vec<_> = uses_under_grant(uses, Capability::Fs, &path).collect();
    for used in &used {
        covering.add_path("", &grant.path, used.resource.as_ref());
    }
    let writes = used.iter().any(|used| used.action == "write");
    let [all] = covering.as_slice() else { return None };
    Some(FsGrant {
        path: (&all.resource).into(),
        access: if writes { grant.access } else { Access::Read },
        stage: grant.stage && writes,
        ..grant.clone()
    })
}

fn narrow_requests(grant: &HttpGrant, uses: &[Use]) -> Option<HttpGrant> {
    let url = grant.url.to_string();
    let used: Vec<_> = uses_under_grant(uses, Capability::Http, &url).collect();
    let mut covering = Uses::default();
    for scope in used.iter().filter_map(|used| used.resource.parse::<HttpScope>().ok()) {
        covering.add_request("", &grant.url, &scope);
    }
    let [all] = covering.as_slice() else { return None };
    let is_used = |method: &&String| used.iter().any(|used| used.action == **method);
    Some(HttpGrant {
        url: all.resource.parse().ok()?,
        methods: grant.methods.iter().filter(is_used).cloned().collect(),
        ..grant.clone()
    })
}

fn uses_under_grant<'a>(uses: &'a [Use], capability: Capability, grant: &'a str) -> impl Iterator<Item = &'a Use> {
    uses.iter()
        .filter(move |used| used.capability == capability && used.grant == grant)
}

/// Returns what is granted and was not used.
fn unused_grants(present: &ToolPolicy, uses: &[Use]) -> Vec<Unused> {
    let files = present.fs.iter().flat_map(|grant| {
        let path = grant.path.to_string_lossy().into_owned();
        let writes = grant.access.may_write().then_some("write");
        let actions = ["read"].into_iter().chain(writes);
        actions.map(move |action| (Capability::Fs, action, path.clone()))
    });
    let requests = present.http.iter().flat_map(|grant| {
        let methods = grant.methods.iter().map(String::as_str);
        methods.map(|method| (Capability::Http, method, grant.url.to_string()))
    });
    let is_unused = |(capability, action, grant): &(Capability, &str, String)| {
        let mut found = uses_under_grant(uses, *capability, grant);
        // A grant for writing that was used does not count as unused for reading.
        !found.any(|used| used.action == *action || *action == "read")
    };
    let unused = files.chain(requests).filter(is_unused);
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

    fn a_use(capability: Capability, action: &str, grant: &str, resource: &str) -> Use {
        Use {
            capability,
            action: action.to_owned(),
            grant: grant.to_owned(),
            resource: resource.to_owned(),
        }
    }

    fn observe(uses: &[Use], denials: &[Denial]) -> Observed {
        let mut observed = Observed::default();
        observed.add(uses, denials);
        observed
    }

    fn unused_texts(learned: &Learned) -> Vec<String> {
        learned.unused.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_learned_policy_grants_exactly_what_was_denied() {
        let denial = Denial::path("t", "/notes/a.txt", Access::Read);
        let learned = observe(&[], &[denial]).learn(&ToolPolicy::default(), None, |_| true);
        assert_eq!(learned.policy.fs, [FsGrant::new("/notes/a.txt".into(), Access::Read)]);
        assert!(learned.policy.http.is_empty() && learned.denied.is_empty() && learned.allowed.len() == 1);
    }

    #[test]
    fn a_grant_is_narrowed_to_what_was_used_of_it() {
        let present = policy(json!({
            "fs": [{"path": "/notes", "access": "read-write", "stage": true}],
            "http": [{"url": "https://a.b/", "methods": ["GET", "POST"]}],
        }));
        let uses = [
            a_use(Capability::Fs, "read", "/notes", "/notes/2026/a.txt"),
            a_use(Capability::Http, "GET", "https://a.b/", "https://a.b/v1/x"),
        ];
        let learned = observe(&uses, &[]).learn(&present, None, |_| true);
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
        let present = policy(json!({"fs": [{"path": "/notes", "access": "read-write", "stage": true}]}));
        let uses = [a_use(Capability::Fs, "write", "/notes", "/notes")];
        let learned = observe(&uses, &[]).learn(&present, None, |_| true);
        assert_eq!((&learned.policy, learned.unused.len()), (&present, 0));
    }

    #[test]
    fn a_grant_that_is_never_used_is_left_out_and_named() {
        let present = policy(json!({"fs": [{"path": "/data"}], "env": {"A": "1"}, "limits": {"timeout_ms": 5}}));
        let learned = observe(&[], &[]).learn(&present, None, |_| true);
        assert!(learned.policy.fs.is_empty());
        assert_eq!(unused_texts(&learned), ["granted: read `/data`"]);
        assert_eq!(
            (learned.policy.env, learned.policy.limits),
            (present.env, present.limits)
        );
    }

    #[test]
    fn a_request_that_is_never_used_is_named() {
        let requests: Vec<CapabilityRequest> = serde_json::from_value(json!([
            {"kind": "fs", "access": "read"},
            {"kind": "fs", "access": "read-write"},
            {"kind": "http", "methods": ["GET", "POST"]},
        ]))
        .unwrap();
        let denial = Denial::path("t", "/a", Access::Read);
        let learned = observe(&[], &[denial]).learn(&ToolPolicy::default(), Some(&requests), |_| true);
        assert_eq!(
            unused_texts(&learned),
            ["requested: fs write", "requested: http GET", "requested: http POST"]
        );
    }

    #[test]
    fn what_was_denied_before_it_was_granted_counts_as_used() {
        let present = policy(json!({"fs": [{"path": "/notes"}]}));
        let denials = [Denial::path("t", "/notes/a.txt", Access::Read)];
        let learned = observe(&[], &denials).learn(&present, None, |_| true);
        assert_eq!(learned.policy, policy(json!({"fs": [{"path": "/notes/a.txt"}]})));
        assert!(learned.allowed.is_empty());
    }

    #[test]
    fn a_host_that_is_not_public_needs_a_private_grant() {
        let page = Target::parse("http://intranet.example/").unwrap();
        let denials = [Denial::not_public("t", "GET", &page)];
        let grants = |private| policy(json!({"http": [{"url": "http://intranet.example/", "private": private}]}));
        let learned = observe(&[], &denials).learn(&grants(false), None, |_| true);
        assert!(learned.policy.http.iter().any(|grant| grant.private), "{learned:?}");
        let granted_since = observe(&[], &denials).learn(&grants(true), None, |_| true);
        assert!(granted_since.allowed.is_empty(), "{granted_since:?}");
    }

    #[test]
    fn what_no_grant_allows_stays_denied() {
        let page = Target::parse("https://a.b/").unwrap();
        let denials = [
            Denial::request("t", "CONNECT", &page),
            Denial::missing_secret("GET", &page, "KEY"),
            Denial::new(
                Capability::Fs,
                "read",
                "/etc/shadow",
                "the call may use only the paths in its arguments",
            ),
        ];
        let learned = observe(&[], &denials).learn(&ToolPolicy::default(), None, |_| true);
        assert_eq!((&learned.policy, learned.denied.len()), (&ToolPolicy::default(), 3));
    }

    #[test]
    fn what_is_not_requested_or_may_not_be_granted_stays_denied() {
        let denials = [Denial::path("t", "/a", Access::Read)];
        let observed = observe(&[], &denials);
        let (nothing, present) = (ToolPolicy::default(), ToolPolicy::default());
        assert_eq!(observed.learn(&present, Some(&[]), |_| true).policy, nothing);
        assert_eq!(observed.learn(&present, None, |_| false).policy, nothing);
        assert_ne!(observed.learn(&present, None, |_| true).policy, nothing);
    }

    #[test]
    fn a_path_that_was_denied_for_reading_and_writing_is_granted_for_both() {
        for order in [[Access::Read, Access::ReadWrite], [Access::ReadWrite, Access::Read]] {
            let denials = order.map(|access| Denial::path("t", "/a", access));
            let learned = observe(&[], &denials).learn(&ToolPolicy::default(), None, |_| true);
            assert_eq!(learned.policy.fs, [FsGrant::new("/a".into(), Access::ReadWrite)]);
        }
    }
}
