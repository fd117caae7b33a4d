//! What a call was not allowed to do, and the command that would allow it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::commands::http_command;
use super::http::{HttpGrant, RequestTarget, check_method};
use super::{Access, Capability, FsGrant};
use crate::text::{is_printable_line, printable, quote_for_shell};

/// Maximum number of denials that a call reports.
pub const MAX_DENIALS: usize = 8;
/// Maximum length of an action in a denial, in characters. A longer action, such as a method that a guest invented, is cut.
const MAX_ACTION_CHARS: usize = 20;
/// Maximum length of a resource in a denial, in characters. A longer resource is cut, and its denial has no command.
const MAX_RESOURCE_CHARS: usize = 500;
/// Option of the command that grants requests to a host that is not public.
const PRIVATE_OPTION: &str = "--private";

/// Something that a call was not allowed to do, or the reason why no call of a tool is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The kind of authority that is missing.
    pub capability: Capability,
    /// What the tool wanted to do: `read`, `write` or an HTTP method; or `run` if every call of the tool is denied.
    pub action: String,
    /// What the tool wanted to use: a path or the origin of a URL; or the name of the tool if every call of it is denied.
    pub resource: String,
    /// Why it is denied. The text begins with a small letter and has no full stop at its end.
    pub reason: String,
    /// The command with which the operator can allow it: it adds the smallest grant, approves a changed component or sets a
    /// secret. Absent if no command can allow it, or if the resource is too long for a command or has a character that is invisible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the operating system denied it, and not this host. No grant changes that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_system: bool,
}

impl Denial {
    /// Creates the denial of a path that no grant covers.
    #[must_use]
    pub fn of_path(tool: &str, path: &str, access: Access) -> Self {
        let (action, option) = if access.may_write() {
            ("write", "--write")
        } else {
            ("read", "--read")
        };
        let denial = Self::new(Capability::Fs, action, path, "no grant covers it");
        if FsGrant::new(path.into(), access).check().is_err() {
            return denial
                .with_reason("no grant covers it, and it cannot be granted by itself: grant a directory above it");
        }
        denial.with_command(format!("art grant add {tool} {option} {}", quote_for_shell(path)))
    }

    /// Creates the denial of an HTTP request that no grant covers. `earlier` is the grant for the origin of the URL, if there is
    /// one: the command replaces it, and so has what it allows too.
    #[must_use]
    pub fn of_http_request(tool: &str, method: &str, target: &RequestTarget, earlier: Option<&HttpGrant>) -> Self {
        if let Some(denial) = target.denial_of_disguised_parent(method) {
            return denial;
        }
        let reason = target.hidden_separator().map_or_else(
            || "no grant covers it".to_owned(),
            |separator| format!("its path has `{separator}`, which is sent only where a grant covers the whole host"),
        );
        let origin = target.origin();
        let denial = Self::new(Capability::Http, method, &origin.to_string(), &reason);
        if check_method(method).is_err() {
            return denial.with_reason("this method cannot be granted");
        }
        let mut grant = match earlier {
            Some(earlier) => earlier.clone(),
            None if method == "GET" || method == "HEAD" => HttpGrant::for_method(origin, method),
            None => HttpGrant {
                methods: Vec::new(),
                ..HttpGrant::for_method(origin, method)
            },
        };
        if !grant.methods.iter().any(|granted| granted == method) {
            grant.methods.push(method.to_owned());
        }
        grant.private |= target.is_known_as_private();
        denial.with_command(http_command(tool, &grant))
    }

    /// Creates the denial of an HTTP request to a server whose address is not public, although `grant` covers it. The denial
    /// contains the granted address but not the one of the server, because the tool must not learn to which addresses names
    /// resolve in the network of this host.
    #[must_use]
    pub fn not_public(tool: &str, method: &str, grant: &HttpGrant) -> Self {
        let reason = "the grant is only for hosts of the public internet";
        let private = HttpGrant {
            private: true,
            ..grant.clone()
        };
        Self::new(Capability::Http, method, &grant.url.to_string(), reason).with_command(http_command(tool, &private))
    }

    /// Creates the denial of an HTTP request to which the host has to add a secret that is not set.
    #[must_use]
    pub fn missing_secret(method: &str, target: &RequestTarget, secret: &str) -> Self {
        let reason = format!("the secret `{secret}` is not set");
        let denial = Self::new(Capability::Http, method, &target.origin().to_string(), &reason);
        denial.with_command(format!("art secret set {}", quote_for_shell(secret)))
    }

    /// Creates a denial without a command.
    #[must_use]
    pub fn new(capability: Capability, action: &str, resource: &str, reason: &str) -> Self {
        Self {
            capability,
            action: crate::text::truncate(action, MAX_ACTION_CHARS),
            resource: crate::text::truncate(resource, MAX_RESOURCE_CHARS),
            reason: reason.to_owned(),
            command: None,
            by_system: false,
        }
    }

    /// Creates the denial of something that the operating system does not allow, although it is granted.
    #[must_use]
    pub fn by_system(path: &str, access: Access, reason: &str) -> Self {
        Self {
            by_system: true,
            ..Self::new(Capability::Fs, access.action(), path, reason)
        }
    }

    /// Returns whether a new grant would allow what was denied. Other denials need another command, such as the approval of a changed
    /// component, or cannot be allowed.
    #[must_use]
    pub fn needs_grant(&self) -> bool {
        let command = self.command.as_deref();
        command.is_some_and(|command| command.starts_with("art grant add "))
    }

    /// Returns whether the grant that would allow what was denied has to be one for hosts that are not public.
    pub(super) fn needs_private_grant(&self) -> bool {
        let command = self.command.as_deref();
        command.is_some_and(|command| command.split(' ').any(|word| word == PRIVATE_OPTION))
    }

    fn with_reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.reason);
        self
    }

    /// Adds the command that would allow what was denied, unless the resource was cut or the command has an invisible
    /// character.
    #[must_use]
    pub fn with_command(mut self, command: String) -> Self {
        // A resource that `new` has cut is still longer than the maximum, because of the note at its end.
        if self.resource.chars().count() <= MAX_RESOURCE_CHARS && is_printable_line(&command) {
            self.command = Some(command);
        }
        self
    }
}

/// Writes one line, whatever the resource is: ``write `/etc/hosts`: no grant covers it``.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{} `{}`: {}", self.action, self.resource, self.reason);
        f.write_str(&printable(&line.replace(['\n', '\r', '\t'], " ")))
    }
}

/// Returns the command that removes the grant of a path.
#[must_use]
pub fn revoke_command(tool: &str, grant: &FsGrant) -> String {
    format!(
        "art grant revoke {tool} {}",
        quote_for_shell(&grant.path.to_string_lossy())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_has_the_command_for_the_smallest_grant() {
        let file = Denial::of_path("file_read", "/home/me/my notes/a.txt", Access::Read);
        assert_eq!(
            file.command.as_deref(),
            Some("art grant add file_read --read '/home/me/my notes/a.txt'")
        );
        let target = RequestTarget::parse("https://example.com/a?q=secret").unwrap();
        let request = Denial::of_http_request("http_fetch", "POST", &target, None);
        assert_eq!(
            request.command.as_deref(),
            Some("art grant add http_fetch --http https://example.com/ --method POST")
        );
        assert_eq!(request.to_string(), "POST `https://example.com/`: no grant covers it");
    }

    #[test]
    fn a_method_that_cannot_be_granted_has_no_command() {
        let target = RequestTarget::parse("https://example.com/").unwrap();
        let denial = Denial::of_http_request("t", "CONNECT", &target, None);
        assert_eq!(
            (denial.reason.as_str(), denial.command),
            ("this method cannot be granted", None)
        );
    }

    #[test]
    fn the_denial_of_a_host_that_is_not_public_has_the_private_option_and_no_ip_address() {
        let mut grant = HttpGrant::for_method("http://intranet.example:8080/v1".parse().unwrap(), "POST");
        grant.methods = vec!["POST".to_owned()];
        let denial = Denial::not_public("t", "POST", &grant);
        let command = "art grant add t --http http://intranet.example:8080/v1 --method POST --private";
        assert_eq!(denial.command.as_deref(), Some(command));
        assert!(denial.needs_private_grant());
        let line = denial.to_string();
        assert_eq!(
            line,
            "POST `http://intranet.example:8080/v1`: the grant is only for hosts of the public internet"
        );
    }

    #[test]
    fn the_command_for_an_address_that_is_known_as_private_has_the_private_option() {
        let has_private_option = |url: &str| {
            let denial = Denial::of_http_request("t", "GET", &RequestTarget::parse(url).unwrap(), None);
            denial.command.unwrap().ends_with(" --private")
        };
        for url in [
            "http://127.0.0.1:8000/",
            "http://localhost/",
            "http://[::1]/",
            "http://10.0.0.1/",
        ] {
            assert!(has_private_option(url), "{url}");
        }
        for url in ["https://1.1.1.1/", "https://example.com/", "https://localhost.example/"] {
            assert!(!has_private_option(url), "{url}");
        }
    }

    #[test]
    fn the_command_for_another_method_keeps_what_the_origin_is_granted_already() {
        let target = RequestTarget::parse("https://example.com/a").unwrap();
        let mut earlier = HttpGrant::for_method(target.origin(), "GET");
        earlier.secret = Some(crate::capability::SecretHeader {
            name: "KEY".to_owned(),
            header: "authorization".to_owned(),
            prefix: None,
        });
        let denial = Denial::of_http_request("t", "PUT", &target, Some(&earlier));
        assert_eq!(
            denial.command.as_deref(),
            Some("art grant add t --http https://example.com/ --method GET --method HEAD --method PUT --secret KEY")
        );
    }

    #[test]
    fn a_path_cannot_break_out_of_the_command() {
        let command = |path: &str| Denial::of_path("t", path, Access::Read).command;
        assert_eq!(
            command("/a'; rm -rf '/b").as_deref(),
            Some(r"art grant add t --read '/a'\''; rm -rf '\''/b'")
        );
        for path in [
            "-x",
            "/a\nart grant add t --read /",
            "/a/[1].txt",
            "/a/*",
            "/",
            "/a/$HOME",
            "/a/\u{202e}txt.b",
            "/a/\u{200b}b",
        ] {
            assert_eq!(command(path), None, "no command grants `{path}`");
        }
        assert_eq!(command(&"/long".repeat(200)), None);
    }

    #[test]
    fn the_longest_resource_that_is_not_cut_still_has_a_command() {
        let denial = |chars: usize| Denial::of_path("t", &format!("/{}", "a".repeat(chars - 1)), Access::Read);
        assert!(denial(MAX_RESOURCE_CHARS).needs_grant());
        assert!(!denial(MAX_RESOURCE_CHARS + 1).needs_grant());
    }
}
