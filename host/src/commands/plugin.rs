//! `art plugin`: creates and builds tools.

mod watch;

use std::path::{Path, PathBuf};

use art_core::text::quote_for_shell;
use art_runtime::compose::open_sandbox;
use art_runtime::config::Config;
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use super::{checkout, load_config};
use crate::cli::{GlobalOptions, PluginCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::build::{BuiltTool, Optimization, build};
use crate::plugins::new::create;
use crate::render::{self, suggestions, table, units};

/// Number of characters of a digest that a table shows.
const SHORT_DIGEST_CHARS: usize = 16;

pub(super) fn plugin(global: &GlobalOptions, command: PluginCommand) -> Result<Exit, CommandError> {
    match command {
        PluginCommand::New { name, path, sdk } => {
            let sdk = sdk.map_or_else(|| checkout::find_root().map(|root| root.join("sdk")), Ok)?;
            let sdk = std::fs::canonicalize(&sdk).map_err(CommandError::file("find the SDK at", sdk))?;
            create_crate(global, &path, &name, &sdk)
        }
        PluginCommand::Build { paths, watch: true, .. } => watch::watch(global, &load_config(global)?, &paths),
        PluginCommand::Build { paths, release, .. } => {
            let optimization = match release {
                true => Optimization::Release,
                false => Optimization::PerCrate,
            };
            build_all(global, &load_config(global)?, &paths, optimization)
        }
    }
}

fn create_crate(global: &GlobalOptions, parent: &Path, name: &str, sdk: &Path) -> Result<Exit, CommandError> {
    let folder = create(parent, name, sdk)?;
    if global.json {
        render::json(&json!({"path": folder}));
    } else {
        let build = format!("art plugin build {}", quote_for_shell(&folder.to_string_lossy()));
        let (folder, build) = (folder.display(), suggestions::command(&build));
        render::print(&format!("created `{folder}`\nnext: {build}"));
    }
    Ok(Exit::Success)
}

/// Builds the crates in order and stops at the first failure. Reports the components that were built, even after a failure.
fn build_all(
    global: &GlobalOptions,
    config: &Config,
    folders: &[PathBuf],
    optimization: Optimization,
) -> Result<Exit, CommandError> {
    let sandbox = open_sandbox(config)?;
    let mut built = Vec::new();
    let outcome = folders.iter().try_for_each(|folder| {
        let folder = std::slice::from_ref(folder);
        build(&sandbox, folder, &config.plugins.value, optimization, |tool| {
            built.push(tool)
        })
    });
    match outcome {
        Err(error) if built.is_empty() => Err(error),
        Err(error) if global.json => {
            render::json(&json!({"built": to_json(&built), "error": error.to_json().get("error")}));
            Ok(error.exit_code())
        }
        outcome => {
            show_built(global, config, &built);
            outcome.map(|()| Exit::Success)
        }
    }
}

fn to_json(built: &[BuiltTool]) -> Value {
    let tools = built.iter().map(|built| {
        let schema = built.plugin.schema();
        json!({
            "name": schema.name,
            "path": built.path,
            "bytes": built.bytes,
            "digest": built.plugin.digest(),
            "examples": built.examples,
        })
    });
    tools.collect()
}

fn show_built(global: &GlobalOptions, config: &Config, built: &[BuiltTool]) {
    if global.json {
        return render::json(&to_json(built));
    }
    let mut rows = vec![["tool", "size", "examples", "digest"].map(str::to_owned).to_vec()];
    for built in built {
        let digest: String = built.plugin.digest().chars().take(SHORT_DIGEST_CHARS).collect();
        let name = built.plugin.schema().name.clone();
        let examples = format!("{} passed", built.examples.passed);
        rows.push(vec![name, units::bytes(built.bytes), examples, digest]);
    }
    render::print(&table::lines(&rows).join("\n"));
    for built in built {
        for not_run in &built.examples.not_run {
            render::note(&format!("not run: {not_run}"));
        }
        for hint in &built.examples.hints {
            render::note(&format!("hint: {hint}"));
        }
    }
    render::note(&format!("copied into `{}`", config.plugins.value.display()));
}
