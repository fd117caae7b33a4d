//! `art quickstart`: from a checkout to a first answer.

use super::{checkout, config, doctor, run};
use crate::cli::Global;
use crate::compose::open_sandbox;
use crate::config::Origin;
use crate::drive::Question;
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
    if config.plugins.origin == Origin::Default {
        config.plugins.value = root.join("plugins");
    }
    render::note("1/4 the compilation targets for tools");
    Target::ALL.into_iter().try_for_each(Target::ensure)?;
    render::note("2/4 building the first-party tools (the first time takes about a minute)");
    let folders: Vec<_> = checkout::FIRST_PARTY
        .iter()
        .map(|name| root.join("plugins").join(name))
        .collect();
    let sandbox = open_sandbox(&config)?;
    for folder in &folders {
        for built in build(&sandbox, folder, &config.plugins.value)? {
            render::note(&format!("    {}", built.path.display()));
        }
    }
    drop(sandbox);
    render::note("3/4 checking this machine");
    doctor::check_for_quickstart(&config)?;
    render::note(&format!("4/4 a sample question: {QUESTION}"));
    let question = Question {
        query: QUESTION.to_owned(),
        ..Question::default()
    };
    run::open_and_ask(global, config, question)
}
