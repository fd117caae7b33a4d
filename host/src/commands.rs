//! The verbs of the command line.

mod attachment;
mod chat;
mod checkout;
mod doctor;
mod eval;
mod ids;
mod interrupt;
mod piped;
mod plugin;
mod quickstart;
mod report;
mod run;
mod runs;
mod show_config;
mod thread;
mod tool;

use std::io::ErrorKind;
use std::process::ExitCode;

use art_runtime::Runtime;
use art_runtime::config::{self, Config, Origin, Overrides};
use art_runtime::error::in_one_line;
use art_sandbox::CompilerProgram;
use clap::{CommandFactory, FromArgMatches};

use crate::cli::{self, Cli, Command, Global};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::render::compiling::Compiling;

/// With this as its only argument the program compiles a component for another that runs, and is no command line.
const COMPILE: &str = "__compile";

/// Runs the command line of this process to its end.
#[must_use]
pub fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([COMPILE]) {
        return art_sandbox::compile_process();
    }
    let words = cli::spelled(std::env::args_os());
    let parsed = Cli::command().try_get_matches_from(words).and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        cli.global.note_environment(&matches);
        Ok(cli)
    });
    match parsed {
        Ok(cli) => unless_lost(start(cli)).into(),
        Err(error) => wrong_command_line(&error.format(&mut Cli::command())),
    }
}

/// Tells a program what is wrong with its command line as it tells it of every other error. Help is for people.
fn wrong_command_line(error: &clap::Error) -> ExitCode {
    let for_a_program = std::env::args_os()
        .skip(1)
        .take_while(|word| word != "--")
        .any(|word| word == "--json");
    if !error.use_stderr() {
        render::to_stdout(|_| error.print());
        return unless_lost(Exit::Success).into();
    }
    if !for_a_program {
        render::note(error.render().to_string().trim_end());
        return Exit::Usage.into();
    }
    let error = CommandError::Usage(without_usage(&error.render().to_string()));
    render::json(&error.to_json());
    unless_lost(error.exit()).into()
}

/// How the program ends: as it was to, unless an answer was lost on its way. A reader that went away is told nothing, as is
/// usual.
fn unless_lost(exit: Exit) -> Exit {
    match render::lost() {
        None => exit,
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Unread,
        Some(error) => {
            render::note(&format!("error: the answer could not be written to stdout: {error}"));
            Exit::Unwritten
        }
    }
}

/// The first part of what clap says, in one line.
fn without_usage(told: &str) -> String {
    let told = told.split("\n\nUsage:").next().unwrap_or(told);
    let told = told.strip_prefix("error: ").unwrap_or(told);
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn start(cli: Cli) -> Exit {
    let json = cli.global.json;
    log_to_stderr(cli.global.verbose);
    dispatch(cli).unwrap_or_else(|error| {
        if json {
            render::json(&error.to_json());
        } else {
            render::note(&format!("error: {}", in_one_line(&error)));
        }
        error.exit()
    })
}

fn dispatch(cli: Cli) -> Result<Exit, CommandError> {
    let global = &cli.global;
    match cli.command {
        Command::Quickstart => quickstart::quickstart(global),
        Command::Run(args) => run::run(global, &args),
        Command::Chat(args) => Ok(chat::chat(global, &args)),
        Command::Eval(args) => eval::eval(global, &args),
        Command::Tool(command) => tool::tool(global, command),
        Command::Plugin(command) => plugin::plugin(global, command),
        Command::Thread(command) => thread::thread(global, &command),
        Command::Runs(command) => runs::runs(global, &command),
        Command::Doctor => doctor::doctor(global),
        Command::Config => show_config::show_config(global),
        Command::Completion { shell } => {
            complete(shell);
            Ok(Exit::Success)
        }
    }
}

fn complete(shell: clap_complete::Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "art", &mut script);
    render::answer(String::from_utf8_lossy(&script).trim_end());
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
        .with_writer(|| render::Log);
    // Colours would be escaped with the rest.
    drop(subscriber.with_ansi(false).try_init());
}

/// The configuration that this command line gives.
fn config(global: &Global) -> Result<Config, CommandError> {
    let overrides = Overrides {
        home: global.home.clone(),
        plugins: global.plugins.clone(),
        model: global.model.clone(),
        base_url: global.base_url.clone(),
        api_key_env: global.api_key_env.clone(),
        from_environment: global.from_environment.clone(),
    };
    let mut config = Config::load(&overrides, &config::environment())?;
    config.compiler = CompilerProgram::this_program(&[COMPILE]);
    config.notes.iter().for_each(|note| render::note(note));
    Ok(config)
}

/// A plugins folder that somebody named has to be there; the one that nobody named comes with the first tool.
fn check_plugins(config: &Config) -> Result<(), CommandError> {
    let folder = &config.plugins.value;
    if config.plugins.origin == Origin::Default || folder.exists() {
        return Ok(());
    }
    let folder = folder.display();
    Err(CommandError::Usage(format!(
        "there is no plugins folder `{folder}` (hint: correct the path, or make it with `art plugin build`)"
    )))
}

/// A host, and on the way what is compiled for it, for people.
async fn open(global: &Global, config: Config) -> Result<Runtime, CommandError> {
    check_plugins(&config)?;
    let compiling = Compiling::new(global.json);
    let builder = Runtime::builder()
        .config(config)
        .on_compiled(|compiled| compiling.tell(compiled));
    Ok(builder.build().await?)
}
