//! `art runs export`: writes a run to a file, with the components that it called. Also reads such files, for `art runs replay`
//! and `art runs verify`.

use std::path::Path;

use art_files::open_regular;
use art_runtime::Recording;
use art_runtime::compose::{Toolbox, open_store_read_only};
use serde_json::json;

use crate::cli::GlobalOptions;
use crate::commands::{check_plugins_folder, ids, load_config};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::new_file;
use crate::render::compiling::CompilationDisplay;
use crate::render::{self, units};
use crate::tokio_runtime::new_executor;

/// Writes a run to a new file, with those of its components that are still in the plugins folder.
pub(super) fn export(global: &GlobalOptions, typed: &str, file: &Path, force: bool) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    check_plugins_folder(&config)?;
    new_file::check_can_write(file, force)?;
    let store = open_store_read_only(&config)?;
    let mut recording = new_executor()?.block_on(async {
        let id = ids::resolve_run(store.as_ref(), &global.owner(), typed).await?;
        Ok::<_, CommandError>(Recording::read(store.as_ref(), &id).await?)
    })?;
    let display = CompilationDisplay::new(global.json);
    let toolbox = Toolbox::load(&config, Vec::new(), &|compiled| display.show(compiled))?;
    let missing = recording.add_components(&config.plugins.value, &toolbox.plugins())?;
    let bytes = recording.to_file()?;
    new_file::write(file, &bytes, force)?;
    if global.json {
        let components = recording.components.len();
        render::json(&json!({"path": file, "bytes": bytes.len(), "components": components, "missing": missing}));
        return Ok(Exit::Success);
    }
    render::print(&file.display().to_string());
    let size = units::bytes(bytes.len() as u64);
    render::note(&format!("wrote {size} with {} components", recording.components.len()));
    if !missing.is_empty() {
        let count = missing.len();
        render::note(&format!(
            "components that are not there any more: {count}; a replay uses the recorded results of their calls"
        ));
    }
    Ok(Exit::Success)
}

/// Returns `typed` as a path of a file, or `None` if it identifies a run: if it is `last`, or has only hexadecimal digits and
/// hyphens.
pub(super) fn as_file_path(typed: &str) -> Option<&Path> {
    let identifies_run = typed.chars().all(|char| char.is_ascii_hexdigit() || char == '-') || typed == ids::LAST;
    (!identifies_run).then(|| Path::new(typed))
}

/// Reads a run from a file.
pub(super) fn read(file: &Path) -> Result<Recording, CommandError> {
    let opened = open_regular(file).map_err(CommandError::file("read", file))?;
    Ok(Recording::from_file(opened)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_identify_a_run_is_a_file() {
        for run in ["last", "0192f1c2-4", "abc", ""] {
            assert_eq!(as_file_path(run), None, "{run}");
        }
        for file in ["run.art", "./abc", "abc.jsonl", "/tmp/0192", "x"] {
            assert_eq!(as_file_path(file), Some(Path::new(file)));
        }
    }
}
