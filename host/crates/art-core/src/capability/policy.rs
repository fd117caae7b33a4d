//! What an operator grants to one component.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fs::FsGrant;
use super::http::{HttpGrant, HttpScope};
use super::{Access, Capability, Denial};
use crate::limits::{LimitOverrides, SettableLimit};

/// What the operator grants to one component. The home of the operator has a file with it, under the digest of the component.
///
/// Without the file, a tool can read the time and draw random numbers, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolPolicy {
    /// Digest of the component for which the grants were made, in hexadecimal. Required unless the policy [is
    /// empty](Self::is_empty), since a component with another digest gets none of the grants.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub component: String,
    /// Whether the tool may read the time. By default true.
    #[serde(skip_serializing_if = "is_true")]
    pub clock: bool,
    /// Whether the tool may draw random numbers. By default true.
    #[serde(skip_serializing_if = "is_true")]
    pub random: bool,
    /// Limits of a call, with the same names as in `art.toml`, the configuration of the host. A limit here takes precedence over
    /// the limit that [`LimitPolicy::tools`](crate::limits::LimitPolicy::tools) sets for the tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u64>,
    /// Variables that the tool can read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Files that the tool may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fs: Vec<FsGrant>,
    /// HTTP requests that the tool may send.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpGrant>,
}

impl Default for ToolPolicy {
    fn default() -> Self {
        Self {
            component: String::new(),
            clock: true,
            random: true,
            limits: BTreeMap::new(),
            env: BTreeMap::new(),
            fs: Vec::new(),
            http: Vec::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_true(value: &bool) -> bool {
    *value
}

/// The error for a policy or a grant that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(String);

impl ToolPolicy {
    /// Checks what the types do not express. The paths are checked as text only.
    ///
    /// # Errors
    /// Fails with the first thing that cannot be granted.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.check_all().map_err(PolicyError)
    }

    fn check_all(&self) -> Result<(), String> {
        if self.component.is_empty() && !self.is_empty() {
            return Err("`component` is missing: grants are made for the digest of one component".to_owned());
        }
        self.fs.iter().try_for_each(FsGrant::check)?;
        self.http.iter().try_for_each(HttpGrant::check)?;
        for (index, grant) in self.fs.iter().enumerate() {
            if self.fs.iter().skip(index + 1).any(|other| other.path == grant.path) {
                return Err(format!("`{}` is granted twice", grant.path.display()));
            }
        }
        self.env
            .iter()
            .try_for_each(|(name, value)| check_variable(name, value))?;
        self.limit_overrides().map(drop)
    }

    /// Returns whether the policy neither grants nor restricts anything, whichever component it names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let empty = Self {
            component: self.component.clone(),
            ..Self::default()
        };
        *self == empty
    }

    /// Returns whether the policy applies to the component with this digest. An empty policy applies to every component.
    #[must_use]
    pub fn is_for(&self, digest: &str) -> bool {
        self.component == digest || self.is_empty()
    }

    /// Adds the smallest grant that allows what was denied. A new grant to send HTTP requests also allows `GET` and `HEAD`.
    /// [`check`](Self::check) tells whether the result is valid. `resolve` returns the path to which the path of a new grant leads.
    ///
    /// # Errors
    /// Fails if no grant can allow what was denied.
    pub fn allow(&mut self, denial: &Denial, resolve: impl Fn(&Path) -> PathBuf) -> Result<(), PolicyError> {
        let impossible = || PolicyError(format!("no grant allows it: {denial}"));
        // Some denials need another command instead of a grant, for example one that sets a secret.
        if !denial.needs_grant() {
            return Err(impossible());
        }
        match denial.capability {
            Capability::Fs => {
                let access = if denial.action == "write" {
                    Access::ReadWrite
                } else {
                    Access::Read
                };
                let grant = FsGrant::new(denial.resource.as_str().into(), access);
                let resolved = resolve(&grant.path);
                let grant = grant.with_resolved(resolved);
                match self.fs.iter_mut().find(|other| other.path == grant.path) {
                    // The other limits of the grant stay as the operator wrote them.
                    Some(other) => other.access = other.access.max(grant.access),
                    None => self.fs.push(grant),
                }
            }
            Capability::Http => {
                let url: HttpScope = denial.resource.parse().map_err(|_invalid| impossible())?;
                let private = denial.needs_private_grant();
                match self.http.iter_mut().find(|grant| grant.url == url) {
                    Some(grant) => {
                        grant.private |= private;
                        if !grant.methods.contains(&denial.action) {
                            grant.methods.push(denial.action.clone());
                        }
                    }
                    None => self.http.push(HttpGrant {
                        private,
                        ..HttpGrant::for_method(url, &denial.action)
                    }),
                }
            }
            Capability::Clock | Capability::Random | Capability::Env => return Err(impossible()),
        }
        Ok(())
    }

    /// Returns the limits that this policy sets.
    ///
    /// # Errors
    /// Fails if a limit is unknown or exceeds its maximum.
    pub fn limit_overrides(&self) -> Result<LimitOverrides, String> {
        let mut overrides = LimitOverrides::default();
        for (name, value) in &self.limits {
            *check_limit(name, *value)?.get_mut(&mut overrides) = Some(*value);
        }
        Ok(overrides)
    }
}

/// Returns the limit with this name, if it can have this value.
pub(super) fn check_limit(name: &str, value: u64) -> Result<&'static SettableLimit, String> {
    let Some(limit) = SettableLimit::ALL.iter().find(|limit| limit.setting == name) else {
        let names: Vec<_> = SettableLimit::ALL.iter().map(|limit| limit.setting).collect();
        return Err(format!(
            "there is no limit `{name}`; expected one of {}",
            names.join(", ")
        ));
    };
    match value > limit.maximum {
        true => Err(format!(
            "the limit `{name}` is {value}, more than the maximum {}",
            limit.maximum
        )),
        false => Ok(limit),
    }
}

/// Checks the name and the value of an environment variable.
pub(super) fn check_variable(name: &str, value: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(format!("`{name}` is no name of a variable"));
    }
    if value.contains('\0') {
        return Err(format!("the variable `{name}` contains a NUL"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::RequestTarget;

    fn policy() -> ToolPolicy {
        ToolPolicy {
            component: "00".repeat(32),
            fs: vec![FsGrant::new("/data".into(), Access::Read)],
            ..ToolPolicy::default()
        }
    }

    #[test]
    fn a_grant_that_is_widened_to_writing_keeps_its_limits() {
        let read_only = FsGrant {
            max_bytes: 10,
            stage: true,
            ..FsGrant::new("/a".into(), Access::Read)
        };
        let mut policy = ToolPolicy {
            fs: vec![read_only.clone()],
            ..ToolPolicy::default()
        };
        policy
            .allow(&Denial::of_path("t", "/a", Access::ReadWrite), Path::to_owned)
            .unwrap();
        let expected = FsGrant {
            access: Access::ReadWrite,
            ..read_only
        };
        assert_eq!(policy.fs, std::slice::from_ref(&expected));
        policy
            .allow(&Denial::of_path("t", "/a", Access::Read), Path::to_owned)
            .unwrap();
        assert_eq!(policy.fs, [expected]);
    }

    #[test]
    fn without_a_file_a_tool_has_the_time_and_random_numbers_only() {
        let policy = ToolPolicy::default();
        policy.check().unwrap();
        assert!(policy.clock && policy.random && policy.is_empty());
    }

    #[test]
    fn a_grant_without_the_digest_of_its_component_is_refused() {
        policy().check().unwrap();
        let without_digest = ToolPolicy {
            component: String::new(),
            ..policy()
        };
        assert!(
            without_digest
                .check()
                .unwrap_err()
                .to_string()
                .contains("`component` is missing")
        );
    }

    #[test]
    fn a_policy_applies_to_its_component_only_unless_it_is_empty() {
        let limits = ToolPolicy {
            component: "11".repeat(32),
            limits: BTreeMap::from([("fuel".to_owned(), 5)]),
            ..ToolPolicy::default()
        };
        let without_clock = ToolPolicy {
            limits: BTreeMap::new(),
            clock: false,
            ..limits.clone()
        };
        for policy in [policy(), limits, without_clock] {
            assert!(policy.is_for(&policy.component) && !policy.is_for("22"), "{policy:?}");
        }
        assert!(ToolPolicy::default().is_for("22"));
    }

    #[test]
    fn an_unknown_key_is_refused() {
        serde_json::from_str::<ToolPolicy>(r#"{"filesystem": []}"#).unwrap_err();
        serde_json::from_str::<ToolPolicy>(r#"{"fs": [{"path": "/data", "mode": "rw"}]}"#).unwrap_err();
        serde_json::from_str::<ToolPolicy>(r#"{"http": [{"url": "https://a.b/", "redirects": true}]}"#).unwrap_err();
    }

    #[test]
    fn an_unknown_or_too_high_limit_is_refused() {
        let limits = |name: &str, value| ToolPolicy {
            component: "00".repeat(32),
            limits: BTreeMap::from([(name.to_owned(), value)]),
            ..ToolPolicy::default()
        };
        limits("timeout_ms", 1_000).check().unwrap();
        limits("timeout", 1_000).check().unwrap_err();
        limits("fuel", u64::MAX).check().unwrap_err();
    }

    #[test]
    fn what_was_denied_is_allowed_by_the_smallest_grant() {
        let mut policy = policy();
        policy
            .allow(&Denial::of_path("t", "/notes/a.txt", Access::Read), Path::to_owned)
            .unwrap();
        let target = RequestTarget::parse("https://example.com/a").unwrap();
        policy
            .allow(&Denial::of_http_request("t", "POST", &target, None), Path::to_owned)
            .unwrap();
        assert!(policy.http.iter().all(|grant| !grant.private));
        let grant = HttpGrant::for_method(target.origin(), "POST");
        policy
            .allow(&Denial::not_public("t", "POST", &grant), Path::to_owned)
            .unwrap();
        assert!(policy.http.len() == 1 && policy.http.iter().all(|grant| grant.private));
        policy
            .allow(&Denial::missing_secret("POST", &target, "KEY"), Path::to_owned)
            .unwrap_err();
        assert!(
            policy
                .fs
                .iter()
                .any(|grant| grant.covers(Path::new("/notes/a.txt"), Access::Read))
        );
        assert!(
            !policy
                .fs
                .iter()
                .any(|grant| grant.covers(Path::new("/notes/b.txt"), Access::Read))
        );
        assert!(policy.http.iter().any(|grant| grant.allows("POST", &target)));
        let variable = Denial::new(Capability::Env, "read", "HOME", "it is not granted");
        assert!(policy.allow(&variable, Path::to_owned).is_err());
    }

    #[test]
    fn a_path_that_is_granted_twice_is_refused() {
        let mut with_two_grants = policy();
        with_two_grants.fs.push(FsGrant::new("/data".into(), Access::ReadWrite));
        assert!(with_two_grants.check().is_err());
    }
}
