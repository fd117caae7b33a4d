//! What calls did under their grants.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Capability, HttpScope};

/// Maximum length of a resource, in characters. For a longer resource, the whole grant is reported.
const MAX_RESOURCE_CHARS: usize = 500;

/// What a call did under one grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrantUse {
    /// The kind of authority.
    pub capability: Capability,
    /// What was done: `read`, `write`, or an HTTP method.
    pub action: String,
    /// The path or the address of the grant.
    pub grant: String,
    /// What was read, written or requested: the longest path or address that covers all of it. The same as `grant` if that path
    /// or address is too long or not within the grant.
    pub resource: String,
}

/// The uses of one or several calls. There is one entry for each grant and action, so that a guest cannot make the list long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantUses(Vec<GrantUse>);

impl GrantUses {
    /// Adds a use of the file or directory `path` under a grant.
    pub fn add_path(&mut self, action: &str, grant: &Path, path: &Path) {
        self.add(
            Capability::Fs,
            action,
            &grant.to_string_lossy(),
            &path.to_string_lossy(),
        );
    }

    /// Adds an HTTP request to `address` under a grant.
    pub fn add_http_request(&mut self, method: &str, grant: &HttpScope, address: &HttpScope) {
        self.add(Capability::Http, method, &grant.to_string(), &address.to_string());
    }

    /// Adds a use that was recorded before, by this call or another.
    pub fn merge(&mut self, used: &GrantUse) {
        self.add(used.capability, &used.action, &used.grant, &used.resource);
    }

    /// Returns the uses and removes them.
    pub fn take(&mut self) -> Vec<GrantUse> {
        std::mem::take(&mut self.0)
    }

    /// Returns the uses.
    #[must_use]
    pub fn as_slice(&self) -> &[GrantUse] {
        &self.0
    }

    fn add(&mut self, capability: Capability, action: &str, grant: &str, resource: &str) {
        let is_same =
            |known: &&mut GrantUse| known.capability == capability && known.action == action && known.grant == grant;
        match self.0.iter_mut().find(is_same) {
            Some(known) if known.resource == resource => {}
            Some(known) => known.resource = common_resource(capability, grant, &known.resource, resource),
            None => self.0.push(GrantUse {
                capability,
                action: action.to_owned(),
                grant: grant.to_owned(),
                // This returns the resource, or the grant if the resource is too long or not within the grant.
                resource: common_resource(capability, grant, resource, resource),
            }),
        }
    }
}

/// Returns the longest path or address that covers both resources. Returns the grant itself if this path or address is not within
/// the grant or is too long.
fn common_resource(capability: Capability, grant: &str, one: &str, other: &str) -> String {
    let pairs = one.split('/').zip(other.split('/'));
    let common: Vec<_> = pairs.take_while(|(a, b)| a == b).map(|(part, _)| part).collect();
    let common = common.join("/");
    let common = match capability {
        Capability::Http => address_within_grant(grant, &common),
        _ => Path::new(&common).starts_with(grant).then_some(common),
    };
    let is_short = |text: &String| text.chars().count() <= MAX_RESOURCE_CHARS;
    common.filter(is_short).unwrap_or_else(|| grant.to_owned())
}

fn address_within_grant(grant: &str, text: &str) -> Option<String> {
    let (grant, scope): (HttpScope, HttpScope) = (grant.parse().ok()?, text.parse().ok()?);
    (grant.intersect(&scope).as_ref() == Some(&scope)).then(|| scope.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resource_of_paths(grant: &str, paths: &[&str]) -> String {
        let mut uses = GrantUses::default();
        for path in paths {
            uses.add_path("read", Path::new(grant), Path::new(path));
        }
        let [used] = uses.as_slice() else { panic!("{uses:?}") };
        used.resource.clone()
    }

    fn resource_of_addresses(grant: &str, addresses: &[&str]) -> String {
        let mut uses = GrantUses::default();
        for address in addresses {
            uses.add_http_request("GET", &grant.parse().unwrap(), &address.parse().unwrap());
        }
        let [used] = uses.as_slice() else { panic!("{uses:?}") };
        used.resource.clone()
    }

    #[test]
    fn a_single_file_is_reported_as_itself_and_several_as_their_common_directory() {
        assert_eq!(resource_of_paths("/a", &["/a/b/c.txt"]), "/a/b/c.txt");
        assert_eq!(resource_of_paths("/a", &["/a/b/c.txt", "/a/b/d.txt"]), "/a/b");
        assert_eq!(resource_of_paths("/a", &["/a/b/c.txt", "/a/x"]), "/a");
        assert_eq!(resource_of_paths("/a/b", &["/a/b", "/a/b/c"]), "/a/b");
    }

    #[test]
    fn requests_are_reported_as_their_common_address_within_the_grant() {
        assert_eq!(
            resource_of_addresses("https://a.b/", &["https://a.b/v1/x"]),
            "https://a.b/v1/x"
        );
        let two = ["https://a.b/v1/x", "https://a.b/v1/y"];
        assert_eq!(resource_of_addresses("https://a.b/", &two), "https://a.b/v1");
        assert_eq!(
            resource_of_addresses("https://a.b/v1", &["https://a.b/v1/", "https://a.b/v1"]),
            "https://a.b/v1"
        );
        let hosts = ["https://x.a.b/v1", "https://y.a.b/v1"];
        assert_eq!(resource_of_addresses("https://*.a.b/", &hosts), "https://*.a.b/");
    }

    #[test]
    fn each_grant_and_action_has_one_entry() {
        let mut uses = GrantUses::default();
        for number in 0..1_000 {
            uses.add_path("read", Path::new("/a"), &Path::new("/a").join(number.to_string()));
            uses.add_path("write", Path::new("/a"), Path::new("/a/out"));
        }
        let resources: Vec<_> = uses.take().into_iter().map(|used| used.resource).collect();
        assert_eq!(resources, ["/a", "/a/out"]);
    }

    #[test]
    fn a_long_path_is_reported_as_the_grant() {
        assert_eq!(resource_of_paths("/a", &[&format!("/a/{}", "x".repeat(600))]), "/a");
    }

    proptest! {
        #[test]
        fn what_is_reported_covers_every_path_that_was_used(paths in prop::collection::vec("/a(/[xy]{1,2}){0,3}", 1..6)) {
            let texts: Vec<_> = paths.iter().map(String::as_str).collect();
            let resource = resource_of_paths("/a", &texts);
            prop_assert!(paths.iter().all(|path| Path::new(path).starts_with(&resource)));
        }
    }
}
