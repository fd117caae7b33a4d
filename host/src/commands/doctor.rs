//! `art doctor`: checks whether this machine can build and run tools.

mod confinement;
mod models;
mod secrets;
mod self_test;

use art_runtime::RuntimeError;
use art_runtime::compose::{open_sandbox, open_store};
use art_runtime::config::Config;
use art_runtime::error::in_one_line;
use art_runtime::grants::GrantFiles;
use art_runtime::plugins::load_folder;
use art_store::StoreError;
use serde::Serialize;

use super::{load_config, note_local_plugins, note_unread_grants};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::target::Target;
use crate::render::compiling::CompilationDisplay;
use crate::render::{self, suggestions, table};

/// What a check found about a thing that is needed to build or run tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// The thing works.
    Ok,
    /// The thing works with limitations.
    Warn,
    /// The thing does not work.
    Fail,
}

/// The result of one check, a row of the output.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    verdict: Verdict,
    detail: String,
}

pub(super) fn doctor(global: &GlobalOptions, is_self_test: bool) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    if is_self_test {
        return self_test::self_test(global, &config);
    }
    note_local_plugins(&config);
    let checks = check_all(&config, global.json);
    if global.json {
        render::json(&checks);
    } else {
        render::print(&suggestions::in_text(&to_table(&checks)));
    }
    Ok(exit_code(&checks))
}

/// Checks this machine for `art quickstart`, and prints the results on stderr. Sends nothing to a model provider.
///
/// # Errors
/// Fails if a check fails.
pub(super) fn check_for_quickstart(config: &Config) -> Result<(), CommandError> {
    let checks = check_machine(config, false);
    render::note(&to_table(&checks));
    match exit_code(&checks) {
        Exit::Success => Ok(()),
        _ => Err(CommandError::Failed(
            "this machine cannot run tools; see the checks above".to_owned(),
        )),
    }
}

fn exit_code(checks: &[Check]) -> Exit {
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    if failed { Exit::Environment } else { Exit::Success }
}

fn to_table(checks: &[Check]) -> String {
    let row = |check: &Check| {
        let verdict = format!("{:?}", check.verdict).to_lowercase();
        vec![verdict, check.name.to_owned(), check.detail.clone()]
    };
    table::lines(&checks.iter().map(row).collect::<Vec<_>>()).join("\n")
}

/// Checks this machine and the models. `is_quiet` hides the progress of the compilation of components.
fn check_all(config: &Config, is_quiet: bool) -> Vec<Check> {
    let mut checks = check_machine(config, is_quiet);
    checks.extend(models::check_models(config));
    checks
}

fn check_machine(config: &Config, is_quiet: bool) -> Vec<Check> {
    let mut checks = vec![check_rust_compiler(), check_store(config)];
    checks.extend(check_sandbox(config, is_quiet));
    checks.extend(confinement::check());
    checks.extend(secrets::check(config));
    checks
}

impl Check {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self {
            name,
            verdict,
            detail: detail.into(),
        }
    }
}

/// Checks the Rust compiler. It is needed only to build tools, so its absence is a warning.
fn check_rust_compiler() -> Check {
    match missing_targets() {
        Ok(missing) if missing.is_empty() => {
            let targets = Target::ALL.map(|target| format!("`{}`", target.triple())).join(" and ");
            Check::new("compiler", Verdict::Ok, format!("rustc with the targets {targets}"))
        }
        Ok(missing) => {
            let missing = missing.join(" ");
            let hint = format!("rustc lacks `{missing}`: run `rustup target add {missing}`");
            Check::new("compiler", Verdict::Warn, hint)
        }
        Err(error) => Check::new("compiler", Verdict::Warn, in_one_line(&error)),
    }
}

fn missing_targets() -> Result<Vec<&'static str>, CommandError> {
    let mut missing = Vec::new();
    for target in Target::ALL {
        if !target.is_installed()? {
            missing.push(target.triple());
        }
    }
    Ok(missing)
}

fn check_store(config: &Config) -> Check {
    let path = &config.database.value;
    match open_store(config) {
        Ok(_) => Check::new("store", Verdict::Ok, format!("`{}`", path.display())),
        // Another host is writing, which is not a fault of the machine.
        Err(error @ RuntimeError::Store(StoreError::Busy { .. })) => {
            Check::new("store", Verdict::Warn, in_one_line(&error))
        }
        Err(error) => Check::new("store", Verdict::Fail, in_one_line(&error)),
    }
}

fn check_sandbox(config: &Config, is_quiet: bool) -> Vec<Check> {
    let sandbox = match open_sandbox(config) {
        Ok(sandbox) => sandbox,
        Err(error) => return vec![Check::new("sandbox", Verdict::Fail, in_one_line(&error))],
    };
    vec![
        check_memory_pool(&sandbox),
        describe_cache(config),
        check_plugins(config, &sandbox, is_quiet),
        check_grants(config),
    ]
}

/// Checks how the sandbox resets the memory of tools between calls, which decides how fast calls are.
fn check_memory_pool(sandbox: &art_sandbox::Sandbox) -> Check {
    let (mode, workers) = (sandbox.mode(), sandbox.workers());
    match (&mode.fallback_reason, mode.pagemap_scan) {
        (None, true) => Check::new(
            "sandbox",
            Verdict::Ok,
            format!("{workers} workers, pooled memory, reset with PAGEMAP_SCAN"),
        ),
        (None, false) => {
            let detail =
                format!("{workers} workers, pooled memory; calls are slower because the kernel lacks PAGEMAP_SCAN");
            Check::new("sandbox", Verdict::Warn, format!("{detail} (new in Linux 6.7)"))
        }
        (Some(reason), _) => Check::new(
            "sandbox",
            Verdict::Warn,
            format!("{workers} workers, no pool, calls are slower: {reason}"),
        ),
    }
}

/// Returns where compiled components are kept. Nothing can be wrong with that once the sandbox is open.
fn describe_cache(config: &Config) -> Check {
    Check::new(
        "cache",
        Verdict::Ok,
        format!("private and authenticated, `{}`", config.cache.value.display()),
    )
}

/// Loads the components of the plugins folder.
fn check_plugins(config: &Config, sandbox: &art_sandbox::Sandbox, is_quiet: bool) -> Check {
    let folder = config.plugins.value.display();
    let display = CompilationDisplay::new(is_quiet);
    let loaded = load_folder(sandbox, &config.plugins.value, &|compiled| display.show(compiled));
    loaded.iter().for_each(|loaded| note_unread_grants(&loaded.unread));
    match loaded {
        Ok(loaded) if !loaded.refused.is_empty() => {
            let (loaded_count, refused_count) = (loaded.plugins.len(), loaded.refused.len());
            let verdict = if loaded_count == 0 {
                Verdict::Fail
            } else {
                Verdict::Warn
            };
            Check::new(
                "plugins",
                verdict,
                format!("{loaded_count} loaded and {refused_count} refused from `{folder}`: see `art tool list`"),
            )
        }
        // Without tools there is nothing that a question could be answered with.
        Ok(loaded) if loaded.plugins.is_empty() => Check::new(
            "plugins",
            Verdict::Fail,
            format!("no components in `{folder}`: run `art quickstart`"),
        ),
        Ok(loaded) => Check::new(
            "plugins",
            Verdict::Ok,
            format!("{} loaded from `{folder}`", loaded.plugins.len()),
        ),
        Err(error) => Check::new("plugins", Verdict::Fail, format!("`{folder}`: {error}")),
    }
}

/// Lists the grants of the home.
fn check_grants(config: &Config) -> Check {
    let grants = GrantFiles::new(config);
    let folder = grants.folder().display();
    match grants.list() {
        Ok(listed) => Check::new(
            "grants",
            Verdict::Ok,
            format!("{} tools have grants, in `{folder}`", listed.len()),
        ),
        Err(error) => Check::new("grants", Verdict::Fail, in_one_line(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_runtime::config::Overrides;
    use std::collections::BTreeMap;
    use std::net::TcpListener;

    #[test]
    fn quickstart_checks_do_not_connect_to_a_provider() {
        let home = tempfile::tempdir().unwrap();
        let provider = TcpListener::bind("127.0.0.1:0").unwrap();
        provider.set_nonblocking(true).unwrap();
        let overrides = Overrides {
            home: Some(home.path().to_owned()),
            plugins: Some(home.path().to_owned()),
            model: Some("compatible:m".to_owned()),
            base_url: Some(format!("http://{}", provider.local_addr().unwrap())),
            ..Overrides::default()
        };
        let config = Config::load(&overrides, &BTreeMap::new()).unwrap();
        // There is no tool in the home.
        check_for_quickstart(&config).unwrap_err();
        assert!(provider.accept().is_err(), "there is a connection");
    }
}
