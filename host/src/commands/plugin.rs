//! `art plugin`: write and build tools.

use std::path::Path;

use art_tools::ToolExecutor;
use serde_json::json;

use super::{checkout, config};
use crate::cli::{Global, ModelArgs, PluginCommand};
use crate::compose::open_sandbox;
use crate::config::Config;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::build::{Built, build};
use crate::plugins::new::create;
use crate::render::{self, table, units};

pub(super) fn plugin(global: &Global, command: PluginCommand) -> Result<Exit, CommandError> {
    match command {
        PluginCommand::New { name, path, sdk } => {
            let sdk = sdk.map_or_else(|| checkout::root().map(|root| root.join("sdk")), Ok)?;
            let sdk = std::fs::canonicalize(&sdk).map_err(CommandError::file("find the SDK at", sdk))?;
            new(global, &path, &name, &sdk)
        }
        PluginCommand::Build { paths } => {
            let config = config(global, &ModelArgs::default())?;
            let built = build(&open_sandbox(&config)?, &paths, &config.plugins.value)?;
            show_built(global, &config, &built);
            Ok(Exit::Success)
        }
    }
}

fn new(global: &Global, parent: &Path, name: &str, sdk: &Path) -> Result<Exit, CommandError> {
    let folder = create(parent, name, sdk)?;
    if global.json {
        render::json(&json!({"path": folder}));
    } else {
        let folder = folder.display();
        render::answer(&format!("created `{folder}`\nnext: art plugin build {folder}"));
    }
    Ok(Exit::Success)
}

fn show_built(global: &Global, config: &Config, built: &[Built]) {
    if global.json {
        let tools = built.iter().map(|built| {
            let schema = built.plugin.schema();
            json!({"name": schema.name, "path": built.path, "bytes": built.bytes, "digest": built.plugin.digest()})
        });
        render::json(&tools.collect::<Vec<_>>());
        return;
    }
    let mut rows = vec![vec!["tool".to_owned(), "size".to_owned(), "digest".to_owned()]];
    for built in built {
        let digest: String = built.plugin.digest().chars().take(16).collect();
        let name = built.plugin.schema().name.clone();
        rows.push(vec![name, units::bytes(built.bytes), digest]);
    }
    render::answer(&table::lines(&rows).join("\n"));
    render::note(&format!("dropped into `{}`", config.plugins.value.display()));
}
