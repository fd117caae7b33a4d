//! The commands with which an operator makes grants.

use super::policy::{check_limit, check_variable};
use super::{Access, FsGrant, HttpGrant, ToolPolicy};
use crate::text::{is_printable_line, quote_for_shell};

impl ToolPolicy {
    /// Returns the commands that make these grants for the tool `tool`, each of them one line that can be copied into a shell.
    /// Leaves out what no command can grant, such as a path that is not absolute. The policy need not have passed
    /// [`check`](Self::check).
    #[must_use]
    pub fn commands(&self, tool: &str) -> Vec<String> {
        let files = self.fs.iter().filter(|grant| grant.check().is_ok()).map(fs_options);
        let addresses = self.http.iter().filter(|grant| grant.check().is_ok());
        let addresses = addresses.map(http_options);
        let variables = self
            .env
            .iter()
            .filter(|(name, value)| check_variable(name, value).is_ok());
        let variables = variables.map(|(name, value)| option("env", &format!("{name}={value}")));
        let limits = self
            .limits
            .iter()
            .filter(|(name, value)| check_limit(name, **value).is_ok());
        let limits = limits.map(|(name, value)| option("limit", &format!("{name}={value}")));
        let options = files.chain(addresses).chain(variables).chain(limits);
        let commands = options.map(|options| format!("art grant add {}{options}", quote_for_shell(tool)));
        commands.filter(|command| is_printable_line(command)).collect()
    }

    /// Returns a policy for each thing that this one grants or restricts, with nothing else in it. Each has at most one command.
    #[must_use]
    pub fn entries(&self) -> Vec<Self> {
        let empty = || Self {
            component: self.component.clone(),
            ..Self::default()
        };
        let files = self.fs.iter().map(|grant| Self {
            fs: vec![grant.clone()],
            ..empty()
        });
        let addresses = self.http.iter().map(|grant| Self {
            http: vec![grant.clone()],
            ..empty()
        });
        let variables = self.env.clone().into_iter();
        let variables = variables.map(|variable| Self {
            env: [variable].into(),
            ..empty()
        });
        let limits = self.limits.clone().into_iter();
        let limits = limits.map(|limit| Self {
            limits: [limit].into(),
            ..empty()
        });
        let clock = (!self.clock).then(|| Self {
            clock: false,
            ..empty()
        });
        let random = (!self.random).then(|| Self {
            random: false,
            ..empty()
        });
        let listed = files.chain(addresses).chain(variables).chain(limits);
        listed.chain(clock).chain(random).collect()
    }
}

/// Returns the command that makes a grant of requests for the tool `tool`, in place of the earlier grant for the same address.
pub(super) fn http_command(tool: &str, grant: &HttpGrant) -> String {
    format!("art grant add {}{}", quote_for_shell(tool), http_options(grant))
}

/// Returns an option of the command line with its value.
fn option(name: &str, value: &str) -> String {
    // A value that begins with a dash would be taken for an option if it was a word of its own.
    format!(
        " --{name}{}{}",
        if value.starts_with('-') { "=" } else { " " },
        quote_for_shell(value)
    )
}

fn fs_options(grant: &FsGrant) -> String {
    let path = grant.path.to_string_lossy();
    if !grant.access.may_write() {
        return option("read", &path);
    }
    let default = FsGrant::new(grant.path.clone(), Access::ReadWrite);
    let mut options = option("write", &path);
    if grant.stage {
        options.push_str(" --stage");
    }
    if grant.max_bytes != default.max_bytes {
        options.push_str(&option("max-bytes", &grant.max_bytes.to_string()));
    }
    if grant.max_files != default.max_files {
        options.push_str(&option("max-files", &grant.max_files.to_string()));
    }
    options
}

fn http_options(grant: &HttpGrant) -> String {
    let mut options = option("http", &grant.url.to_string());
    if grant.methods != ["GET", "HEAD"] {
        let methods = grant.methods.iter().map(|method| option("method", method));
        options.extend(methods);
    }
    if grant.private {
        options.push_str(" --private");
    }
    if let Some(secret) = &grant.secret {
        options.push_str(&option("secret", &secret.name));
        if secret.header != "authorization" {
            options.push_str(&option("header", &secret.header));
        }
        if let Some(prefix) = &secret.prefix {
            options.push_str(&option("prefix", prefix));
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_grant_has_a_command() {
        let policy: ToolPolicy = serde_json::from_str(
            r#"{"component": "00", "limits": {"fuel": 5}, "env": {"A": "it's"},
            "fs": [{"path": "/my notes"}, {"path": "/out", "access": "read-write", "stage": true, "max_files": 2}],
            "http": [{"url": "https://a.example/"},
                {"url": "http://b.example:8080/v1", "methods": ["POST"], "private": true,
                    "secret": {"name": "KEY", "header": "x-key", "prefix": "Token "}}]}"#,
        )
        .unwrap();
        assert_eq!(
            policy.commands("tool"),
            [
                "art grant add tool --read '/my notes'",
                "art grant add tool --write /out --stage --max-files 2",
                "art grant add tool --http https://a.example/",
                "art grant add tool --http http://b.example:8080/v1 --method POST --private --secret KEY --header x-key \
                 --prefix 'Token '",
                r"art grant add tool --env 'A=it'\''s'",
                "art grant add tool --limit fuel=5",
            ]
        );
    }

    #[test]
    fn what_no_command_can_grant_is_counted_and_has_no_command() {
        let policy: ToolPolicy = serde_json::from_str(
            r#"{"clock": false, "limits": {"fule": 5}, "env": {"A B": "1"},
            "fs": [{"path": "notes"}, {"path": "~/notes"}, {"path": "/a\u202eb"}, {"path": "/notes"}],
            "http": [{"url": "http://a.example/", "secret": {"name": "KEY"}}]}"#,
        )
        .unwrap();
        assert_eq!(policy.commands("t"), ["art grant add t --read /notes"]);
        assert_eq!(policy.entries().len(), 8);
        assert!(policy.entries().iter().all(|entry| entry.commands("t").len() <= 1));
    }

    #[test]
    fn no_grant_can_break_out_of_its_command() {
        let policy: ToolPolicy = serde_json::from_str(
            r#"{"env": {"X": "$(reboot)", "A": "a\nart grant add t --read /"}, "fs": [{"path": "/a; reboot"}, {"path": "/a\u001b[2J"}]}"#,
        )
        .unwrap();
        assert_eq!(
            policy.commands("t; reboot"),
            [
                "art grant add 't; reboot' --read '/a; reboot'",
                "art grant add 't; reboot' --env 'X=$(reboot)'",
            ]
        );
    }
}
