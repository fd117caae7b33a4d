//! `art quickstart`: from a checkout to a first answer.

use std::fs;
use std::path::Path;

use art_runtime::Question;
use art_runtime::compose::open_sandbox;
use art_runtime::config::{Config, Origin};

use super::{checkout, config, doctor, run};
use crate::cli::Global;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::build::build;
use crate::plugins::target::Target;
use crate::render;

/// The sample question: two steps, one of which depends on the other.
const QUESTION: &str = "What is 17.5% of 2340, and what is that divided by 7?";

pub(super) fn quickstart(global: &Global) -> Result<Exit, CommandError> {
    let root = checkout::root()?;
    let mut config = config(global)?;
    let anywhere = (config.plugins.origin == Origin::Default).then(|| config.own_plugins.clone());
    if anywhere.is_some() {
        config.plugins.value = root.join("plugins");
    }
    render::note("1/4 the compilation targets for tools");
    Target::ALL.into_iter().try_for_each(Target::ensure)?;
    let of = checkout::FIRST_PARTY.len();
    render::note(&format!(
        "2/4 building the {of} first-party tools, each with its libraries (the next time only what changed)"
    ));
    build_tools(&config, &root, anywhere.as_deref())?;
    render::note("3/4 checking this machine");
    doctor::check_for_quickstart(&config)?;
    render::note(&format!("4/4 a sample question: {QUESTION}"));
    let question = Question {
        query: QUESTION.to_owned(),
        ..Question::default()
    };
    run::open_and_ask(global, config, question)
}

/// Builds the tools of the checkout into the plugins folder, and puts copies into `anywhere`.
fn build_tools(config: &Config, root: &Path, anywhere: Option<&Path>) -> Result<(), CommandError> {
    let sandbox = open_sandbox(config)?;
    let of = checkout::FIRST_PARTY.len();
    for (number, name) in (1..).zip(checkout::FIRST_PARTY) {
        render::note(&format!("    {name} ({number} of {of})"));
        for built in build(&sandbox, &root.join("plugins").join(name), &config.plugins.value)? {
            anywhere.map_or(Ok(()), |folder| install(&built.path, folder))?;
        }
    }
    render::note(&format!("    they are in `{}`", config.plugins.value.display()));
    if let Some(folder) = anywhere {
        let folder = folder.display();
        render::note(&format!(
            "    and in `{folder}`, where `art` finds them outside of this checkout"
        ));
    }
    Ok(())
}

/// Copies a component into `folder`, whole or not at all.
fn install(component: &Path, folder: &Path) -> Result<(), CommandError> {
    let name = component.file_name().unwrap_or_default();
    let aside = folder.join(format!(".{}.{}", name.display(), std::process::id()));
    fs::create_dir_all(folder).map_err(CommandError::file("create", folder))?;
    fs::copy(component, &aside).map_err(CommandError::file("write", &aside))?;
    fs::rename(&aside, folder.join(name)).map_err(CommandError::file("write", folder.join(name)))
}
