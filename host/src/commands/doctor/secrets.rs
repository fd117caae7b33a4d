//! Checks the secrets, and the components in quarantine: those whose request, output or log contained a canary (a decoy
//! secret). They are not loaded again.

use art_runtime::config::Config;
use art_runtime::error::in_one_line;
use art_runtime::grants::Quarantine;
use art_runtime::secrets::SecretFile;

use super::{Check, Verdict};

/// Checks that the secrets can be used, and lists the components in quarantine if there are any.
pub(super) fn check(config: &Config) -> Vec<Check> {
    let mut checks = vec![check_file(config)];
    checks.extend(check_quarantine(config));
    checks
}

fn check_file(config: &Config) -> Check {
    const NAME: &str = "secrets";
    let file = SecretFile::new(config);
    let listed = match file.list() {
        Ok(listed) if listed.is_empty() => return Check::new(NAME, Verdict::Ok, "none are stored"),
        Ok(listed) => listed,
        Err(error) => return Check::new(NAME, Verdict::Fail, in_one_line(&error)),
    };
    // Only `read` gets the values, some of which may be in the keyring.
    let readable_count = file.read().map_or(0, |secrets| secrets.len());
    let path = file.path();
    let detail = format!("{} named in the private file `{}`", listed.len(), path.display());
    // The difference could be below zero, since another process may have stored a secret between `list` and `read`.
    let missing_count = listed.len().saturating_sub(readable_count);
    if missing_count == 0 {
        return Check::new(NAME, Verdict::Ok, detail);
    }
    Check::new(
        NAME,
        Verdict::Warn,
        format!("{detail}; {missing_count} cannot be read from the keyring"),
    )
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
        .map(|component| format!("`{}` (had the canary `{}`)", component.tool, component.canary))
        .collect();
    let detail = format!("{}; to use one again, remove its line from `{path}`", tools.join(", "));
    (!tools.is_empty()).then(|| Check::new(NAME, Verdict::Warn, detail))
}
