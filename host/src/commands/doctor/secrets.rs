//! Checks the secrets, and the components in quarantine.

use art_runtime::config::Config;
use art_runtime::error::in_one_line;
use art_runtime::secrets::{Quarantine, SecretFile};

use super::{Check, Verdict};

/// Checks that the secrets can be used, and lists the components in quarantine if there are any.
pub(super) fn check(config: &Config) -> Vec<Check> {
    let mut checks = vec![check_file(config)];
    checks.extend(check_quarantine(config));
    checks
}

fn check_file(config: &Config) -> Check {
    let file = SecretFile::new(config);
    match file.read() {
        Ok(secrets) if secrets.is_empty() => Check::new("secrets", Verdict::Ok, "none are stored"),
        Ok(secrets) => {
            let path = file.path();
            let detail = format!("{} in the private file `{}`", secrets.len(), path.display());
            Check::new("secrets", Verdict::Ok, detail)
        }
        Err(error) => Check::new("secrets", Verdict::Fail, in_one_line(&error)),
    }
}

fn check_quarantine(config: &Config) -> Option<Check> {
    const NAME: &str = "quarantine";
    let quarantine = Quarantine::new(config);
    let path = quarantine.path().display();
    let listed = match quarantine.list() {
        Ok(listed) => listed,
        Err(error) => {
            return Some(Check::new(
                NAME,
                Verdict::Fail,
                format!("failed to read `{path}`: {error}"),
            ));
        }
    };
    let tools: Vec<_> = listed
        .iter()
        .map(|listed| format!("`{}` (had the canary `{}`)", listed.tool, listed.canary))
        .collect();
    let detail = format!("{}; to use one again, remove its line from `{path}`", tools.join(", "));
    (!tools.is_empty()).then(|| Check::new(NAME, Verdict::Warn, detail))
}
