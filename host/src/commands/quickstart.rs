//! `art quickstart`: checks this machine, answers a sample question and builds the first-party tools.

use std::fs;
use std::path::Path;

use art_runtime::Question;
use art_runtime::compose::open_sandbox;
use art_runtime::config::{Config, Origin};

use super::{checkout, doctor, load_config, run};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::build::{Optimization, build};
use crate::plugins::target::Target;
use crate::render;

/// The sample question: two steps, one of which depends on the other.
const QUESTION: &str = "What is 17.5% of 2340, and what is that divided by 7?";

/// The tool that answers [`QUESTION`]. It is built first: the answer does not wait for the other tools, some of which have
/// large libraries.
const SAMPLE_TOOL: &str = "calculator";

pub(super) fn quickstart(global: &GlobalOptions) -> Result<Exit, CommandError> {
    let root = checkout::find_root()?;
    let mut config = load_config(global)?;
    // Without a configured plugins folder, the tools go into the plugins folder of the checkout, and also into that of this user.
    let user_folder = (config.plugins.origin == Origin::Default).then(|| config.user_plugins.clone());
    if user_folder.is_some() {
        config.plugins.value = root.join("plugins");
    }
    let (first, others): (Vec<_>, Vec<_>) = checkout::FIRST_PARTY_TOOLS
        .into_iter()
        .partition(|name| *name == SAMPLE_TOOL);
    render::note("1/5 installing the compilation targets for tools");
    Target::ALL.into_iter().try_for_each(Target::install_if_missing)?;
    render::note(&format!("2/5 building the tool `{SAMPLE_TOOL}`"));
    build_tools(&config, &root, &first, user_folder.as_deref())?;
    render::note("3/5 checking this machine");
    doctor::check_for_quickstart(&config)?;
    render::note(&format!("4/5 asking a sample question: {QUESTION}"));
    let question = Question {
        query: QUESTION.to_owned(),
        ..Question::default()
    };
    let answered = run::open_and_carry_out(global, config.clone(), run::Request::Ask(Box::new(question)))?;
    render::note(&format!(
        "5/5 building the other {} tools with their libraries (the next time only what changed)",
        others.len()
    ));
    build_tools(&config, &root, &others, user_folder.as_deref())?;
    note_folders(&config.plugins.value, user_folder.as_deref());
    Ok(answered)
}

/// Builds tools of the checkout in `root` into the plugins folder, and copies them to `user_folder` if it is given.
fn build_tools(config: &Config, root: &Path, names: &[&str], user_folder: Option<&Path>) -> Result<(), CommandError> {
    let sandbox = open_sandbox(config)?;
    let folders: Vec<_> = names.iter().map(|name| root.join("plugins").join(name)).collect();
    let mut installed = Vec::new();
    build(
        &sandbox,
        &folders,
        &config.plugins.value,
        Optimization::PerCrate,
        |tool| {
            installed.push(tool.path);
            let (name, number, count) = (tool.plugin.name(), installed.len(), folders.len());
            render::note(&format!("    {name} ({number} of {count})"));
        },
    )?;
    if let Some(folder) = user_folder {
        installed.iter().try_for_each(|path| copy_atomically(path, folder))?;
    }
    Ok(())
}

/// Prints in which folders the tools are.
fn note_folders(plugins: &Path, user_folder: Option<&Path>) {
    render::note(&format!("    installed in `{}`", plugins.display()));
    if let Some(folder) = user_folder {
        let folder = folder.display();
        render::note(&format!(
            "    and in `{folder}`, where `art` finds them outside this checkout"
        ));
    }
}

/// Copies a component into `folder`, so that nobody finds it there incomplete.
fn copy_atomically(component: &Path, folder: &Path) -> Result<(), CommandError> {
    let name = component.file_name().unwrap_or_default();
    let temporary = folder.join(format!(".{}.{}", name.display(), std::process::id()));
    fs::create_dir_all(folder).map_err(CommandError::file("create", folder))?;
    fs::copy(component, &temporary).map_err(CommandError::file("write", &temporary))?;
    fs::rename(&temporary, folder.join(name)).map_err(CommandError::file("write", folder.join(name)))
}
