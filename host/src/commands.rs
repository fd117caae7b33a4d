//! The subcommands of the command line.

mod approve;
mod attachment;
mod changes;
mod chat;
mod checkout;
mod doctor;
mod eval;
mod grant;
mod ids;
mod interrupt;
mod piped;
mod plan;
mod plugin;
mod quickstart;
mod report;
mod run;
mod runs;
mod saved_plan;
mod secret;
mod show_config;
mod thread;
mod tool;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use art_core::Timestamp;
use art_runtime::compose::open_store_read_only;
use art_runtime::config::{self, Config, Origin, Overrides};
use art_runtime::error::in_one_line;
use art_runtime::plugins::UnreadGrants;
use art_runtime::{Runtime, RuntimeBuilder};
use art_sandbox::{CompilerProgram, ConfinementProbe};
use clap::{CommandFactory, FromArgMatches};

use crate::cli::{self, Cli, Command, Extension, GlobalOptions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::render::compiling::CompilationDisplay;
use crate::render::suggestions;

/// The hidden argument with which the program starts itself as a compiler process.
const COMPILE_ARGUMENT: &str = "__compile";
/// The hidden argument with which `art doctor` starts the program as a process that confines itself like the compiler process,
/// and reports what it can still do.
const CONFINEMENT_PROBE_ARGUMENT: &str = "__confined";

/// Runs the command line of this process to its end.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Extension::default())
}

/// Same as [`main`], for a program that extends `art`: `extension` is what that program adds to the runtime, such as tools of
/// its own.
#[must_use]
pub fn main_with(extension: Extension) -> ExitCode {
    if std::env::args_os().skip(1).eq([COMPILE_ARGUMENT]) {
        return art_sandbox::compile_process();
    }
    if std::env::args_os().skip(1).eq([CONFINEMENT_PROBE_ARGUMENT]) {
        render::json(&ConfinementProbe::run());
        return ExitCode::SUCCESS;
    }
    // Give up rights that the process does not need, such as unused system calls. The program also works if that fails;
    // `art doctor` says whether the confinement is active.
    drop(art_sandbox::confine_host());
    // Without this, a write beyond `ulimit -f` ends the process without a message. The program also works if it fails.
    drop(interrupt::catch_file_size_limit());
    let arguments = cli::escape_leading_dashes(std::env::args_os());
    let parsed = Cli::command().try_get_matches_from(arguments).and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        cli.global.record_options_from_environment(&matches);
        suggestions::set_typed_options(&cli.global.typed_options(&matches));
        cli.global.extension = extension;
        Ok(cli)
    });
    match parsed {
        Ok(cli) => exit_or_stdout_failure(run_and_report(cli)).into(),
        Err(error) => report_parse_error(&error.format(&mut Cli::command())),
    }
}

/// Reports why the parser returned no command. If help was requested, prints it as text. If the command line is wrong, prints the
/// error, as JSON with `--json` and as text otherwise.
fn report_parse_error(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os()
        .skip(1)
        .take_while(|word| word != "--")
        .any(|word| word == "--json");
    if !error.use_stderr() {
        render::to_stdout(|_| error.print());
        return exit_or_stdout_failure(Exit::Success).into();
    }
    if !wants_json {
        render::note(error.render().to_string().trim_end());
        return Exit::Usage.into();
    }
    let error = CommandError::Usage(without_usage(&error.render().to_string()));
    render::json(&error.to_json());
    exit_or_stdout_failure(error.exit_code()).into()
}

/// Returns `exit`, or another exit code if the answer could not be written to stdout. Prints why it could not be written,
/// except if the reader closed the pipe, as is usual for programs in a pipeline.
fn exit_or_stdout_failure(exit: Exit) -> Exit {
    match render::stdout_error() {
        None => exit,
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Exit::StdoutClosed,
        Some(error) => {
            render::note(&format!("error: the answer could not be written to stdout: {error}"));
            Exit::StdoutFailed
        }
    }
}

/// Returns the error message of clap without its usage text, in one line.
fn without_usage(text: &str) -> String {
    let message = text.split("\n\nUsage:").next().unwrap_or(text);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the command and reports its error. Returns the exit code.
fn run_and_report(cli: Cli) -> Exit {
    let json = cli.global.json;
    log_to_stderr(cli.global.verbose);
    dispatch(cli).unwrap_or_else(|error| {
        if json {
            render::json(&error.to_json());
        } else {
            render::note(&format!("error: {}", in_one_line(&error)));
        }
        error.exit_code()
    })
}

fn dispatch(cli: Cli) -> Result<Exit, CommandError> {
    let global = &cli.global;
    match cli.command {
        Command::Quickstart => quickstart::quickstart(global),
        Command::Run(args) => run::run(global, &args),
        Command::Plan(args) => plan::plan(global, &args),
        Command::Chat(args) => Ok(chat::chat(global, &args)),
        Command::Eval(args) => eval::eval(global, &args),
        Command::Tool(command) => tool::tool(global, command),
        Command::Plugin(command) => plugin::plugin(global, command),
        Command::Changes(command) => changes::changes(global, &command),
        Command::Grant(command) => grant::grant(global, &command),
        Command::Secret(command) => secret::secret(global, &command),
        Command::Thread(command) => thread::thread(global, &command),
        Command::Approve(command) => approve::approve(global, &command),
        Command::Runs(command) => runs::runs(global, &command),
        Command::Doctor { self_test } => doctor::doctor(global, self_test),
        Command::Config => show_config::show_config(global),
        Command::Completion { shell } => {
            print_completion(shell);
            Ok(Exit::Success)
        }
    }
}

fn print_completion(shell: clap_complete::Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "art", &mut script);
    render::print(String::from_utf8_lossy(&script).trim_end());
}

/// Starts logging to stderr: warnings by default, more with `-v`. `ART_LOG` overrides the filter.
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
    // The writer escapes control characters, including those of colours.
    drop(subscriber.with_ansi(false).try_init());
}

/// Loads the configuration for this command line.
fn load_config(global: &GlobalOptions) -> Result<Config, CommandError> {
    let overrides = Overrides {
        home: global.home.clone(),
        plugins: global.plugins.clone(),
        model: global.model.clone(),
        base_url: global.base_url.clone(),
        api_key_env: global.api_key_env.clone(),
        from_environment: global.from_environment.clone(),
    };
    let mut config = Config::load(&overrides, &config::environment())?;
    config.compiler = CompilerProgram::this_program(&[COMPILE_ARGUMENT]);
    config.notes.iter().for_each(|note| render::note(note));
    Ok(config)
}

/// Fails if the plugins folder was set explicitly and does not exist. The default folder is created with the first tool. Notes
/// that the components in `./plugins` are not used, if there are any.
fn check_plugins_folder(config: &Config) -> Result<(), CommandError> {
    note_local_plugins(config);
    let folder = &config.plugins.value;
    if config.plugins.origin == Origin::Default || folder.exists() {
        return Ok(());
    }
    let folder = folder.display();
    Err(CommandError::Usage(format!(
        "there is no plugins folder `{folder}` (hint: correct the path, or create it with `art plugin build PATH`)"
    )))
}

/// Notes that the components in `./plugins` are not used, unless the folder is in use or nobody would miss them. The current
/// directory may be the work of somebody else, so a person has to name the folder.
fn note_local_plugins(config: &Config) {
    let local = Path::new("plugins");
    let in_use = &config.plugins.value;
    let is_same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    if config.plugins.origin != Origin::Default || is_same(local, in_use) {
        return;
    }
    let entries = std::fs::read_dir(local).into_iter().flatten().flatten();
    let is_missing = |name: &OsString| {
        Path::new(name).extension().is_some_and(|extension| extension == "wasm") && !in_use.join(name).exists()
    };
    if entries.map(|entry| entry.file_name()).any(|name| is_missing(&name)) {
        render::note(
            "the components in `./plugins` are not used (hint: `--plugins ./plugins` uses them, if you trust them)",
        );
    }
}

/// Notes the files that look like grants of components, and are not read.
fn note_unread_grants(unread: &[UnreadGrants]) {
    unread.iter().for_each(|unread| render::note(&unread.to_string()));
}

/// Opens the runtime with its model. A person at the terminal may be asked for grants.
async fn open_runtime(global: &GlobalOptions, config: Config) -> Result<Runtime, CommandError> {
    build_runtime(
        global,
        enable_grant_questions_if_attended(global, config),
        Runtime::builder(),
    )
    .await
}

/// Opens a runtime without a model, whatever is configured. A person at the terminal may be asked for grants.
async fn open_runtime_without_model(global: &GlobalOptions, config: Config) -> Result<Runtime, CommandError> {
    build_runtime(
        global,
        enable_grant_questions_if_attended(global, config),
        Runtime::builder().without_model(),
    )
    .await
}

/// Returns the configuration. If a person is at the terminal, it is changed so that the person is asked to grant what a call
/// needs but is not granted.
fn enable_grant_questions_if_attended(global: &GlobalOptions, config: Config) -> Config {
    Config {
        ask_for_grants: approve::is_attended(global),
        ..config
    }
}

/// Opens a runtime that only reads the store, which works even while another program writes to it. No tool runs there, so nobody
/// is asked for grants.
async fn open_runtime_read_only(global: &GlobalOptions, config: Config) -> Result<Runtime, CommandError> {
    let store = open_store_read_only(&config)?;
    build_runtime(global, config, Runtime::builder().store(store)).await
}

/// Opens a runtime without a model, which never asks a person for grants.
async fn open_runtime_without_grant_questions(global: &GlobalOptions, config: Config) -> Result<Runtime, CommandError> {
    build_runtime(global, config, Runtime::builder().without_model()).await
}

/// Builds the runtime, with what a program that extends `art` adds. Shows the progress of compilation unless the output is JSON.
async fn build_runtime(
    global: &GlobalOptions,
    config: Config,
    builder: RuntimeBuilder<'_>,
) -> Result<Runtime, CommandError> {
    check_plugins_folder(&config)?;
    let display = CompilationDisplay::new(global.json);
    let builder = (global.extension.0)(builder)
        // A model that is named on the command line is used even in threads that name another model.
        .model_is_chosen(config.model.origin == Origin::Flag)
        .config(config)
        .on_compile_progress(move |compiled| display.show(compiled));
    let runtime = builder.build().await?;
    note_unread_grants(&runtime.toolbox.unread);
    Ok(runtime)
}

/// Returns the current time.
fn current_time() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
