//! The verbs of the command line.

mod checkout;
mod doctor;
mod eval;
mod plugin;
mod quickstart;
mod run;
mod runs;
mod thread;
mod tool;

use clap::CommandFactory;

use crate::cli::{Cli, Command, Global, ModelArgs};
use crate::config::{Config, Overrides};
use crate::error::{CommandError, in_one_line};
use crate::exit::Exit;
use crate::render;

/// Runs a command line to its end.
#[must_use]
pub fn start(cli: Cli) -> Exit {
    log_to_stderr(cli.global.verbose);
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(error) => {
            render::note(&format!("error: {}", art_core::text::printable(&in_one_line(&error))));
            error.exit()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit, CommandError> {
    let global = &cli.global;
    match cli.command {
        Command::Quickstart => quickstart::quickstart(global),
        Command::Run(args) => run::run(global, &args),
        Command::Eval(args) => eval::eval(global, &args),
        Command::Tool(command) => tool::tool(global, command),
        Command::Plugin(command) => plugin::plugin(global, command),
        Command::Thread(command) => thread::thread(global, &command),
        Command::Runs(command) => runs::runs(global, &command),
        Command::Doctor => doctor::doctor(global),
        Command::Config => show_config(global),
        Command::Completion { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "art", &mut std::io::stdout());
            Ok(Exit::Success)
        }
    }
}

/// Logs of the host itself; warnings unless more is asked for. `ART_LOG` sets a filter.
fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "trace",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("ART_LOG").unwrap_or_else(|_| level.into());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    drop(subscriber.with_ansi(render::notes_are_live()).try_init());
}

/// The configuration that this command line gives.
fn config(global: &Global, model: &ModelArgs) -> Result<Config, CommandError> {
    let from_environment = |name: &str, given: bool| given && is_from_environment(name);
    let mut overrides = Overrides {
        home: global.home.clone(),
        plugins: global.plugins.clone(),
        model: model.model.clone(),
        from_environment: Vec::new(),
    };
    for (name, given) in [
        ("home", overrides.home.is_some()),
        ("plugins", overrides.plugins.is_some()),
        ("model", overrides.model.is_some()),
    ] {
        if from_environment(name, given) {
            overrides.from_environment.push(name);
        }
    }
    Ok(Config::load(&overrides, &std::env::vars().collect())?)
}

/// Whether the value came from `ART_*` and no flag was given.
fn is_from_environment(name: &str) -> bool {
    let flag = format!("--{name}");
    let given = std::env::args().any(|argument| argument == flag || argument.starts_with(&format!("{flag}=")));
    !given && std::env::var_os(format!("ART_{}", name.to_ascii_uppercase())).is_some()
}

/// A runtime for input and output. Guests never run on it.
fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CommandError::Failed(format!("failed to start the runtime: {error}")))
}

fn show_config(global: &Global) -> Result<Exit, CommandError> {
    let config = config(global, &ModelArgs::default())?;
    if global.json {
        render::json(&config);
        return Ok(Exit::Success);
    }
    let value = serde_json::to_value(&config).unwrap_or_default();
    let mut rows = vec![vec!["key".to_owned(), "value".to_owned(), "from".to_owned()]];
    for (key, setting) in value.as_object().into_iter().flatten() {
        let (value, origin) = match (setting.get("value"), setting.get("origin")) {
            (Some(value), Some(origin)) => (value.clone(), origin.as_str().unwrap_or_default().to_owned()),
            _ => (setting.clone(), String::new()),
        };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        rows.push(vec![key.clone(), text, origin]);
    }
    render::answer(&render::table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}
