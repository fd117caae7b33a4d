//! The command line of `art`. The doc comments of commands and options are the text of `--help`.

mod changes;
mod grant;
mod secret;
#[cfg(test)]
mod suggested;

use std::ffi::OsString;
use std::path::PathBuf;

use art_runtime::RuntimeBuilder;
use art_store::Owner;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Parser, Subcommand};

use crate::exit;

pub use changes::ChangesCommand;
pub use grant::{AddArgs, GrantCommand, LearnArgs};
pub use secret::SecretCommand;

/// Answers questions with tools that you did not write: plans the steps and runs each tool in its own sandbox
#[derive(Debug, Parser)]
#[command(name = "art", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalOptions,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Maximum length of the name of a user, in bytes.
const MAX_USER_BYTES: usize = 64;

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct GlobalOptions {
    /// Folder for configuration, state and cache, instead of the XDG directories
    #[arg(long, global = true, value_name = "DIR", env = "ART_HOME", hide_env_values = true)]
    pub home: Option<PathBuf>,
    /// Folder with the components of the tools
    #[arg(long, global = true, value_name = "DIR", env = "ART_PLUGINS", hide_env_values = true)]
    pub plugins: Option<PathBuf>,
    /// Model as PROVIDER or PROVIDER:MODEL
    #[arg(
        long,
        global = true,
        value_name = "PROVIDER[:MODEL]",
        env = "ART_MODEL",
        hide_env_values = true
    )]
    pub model: Option<String>,
    /// Address of the model's provider, instead of its usual one
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "ART_BASE_URL",
        hide_env_values = true
    )]
    pub base_url: Option<String>,
    /// Environment variable that holds the key of the model's provider, instead of its usual one
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "ART_API_KEY_ENV",
        hide_env_values = true
    )]
    pub api_key_env: Option<String>,
    /// Person whose conversations, runs and decisions the command sees; by default, those that belong to no person
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "ART_USER",
        hide_env_values = true,
        value_parser = parse_user_name
    )]
    pub user: Option<String>,
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
    /// Log more to stderr; `-vv` logs everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Names of the options among `home`, `plugins`, `model`, `base_url` and `api_key_env` that came from an environment
    /// variable. This is no option.
    #[arg(skip)]
    pub from_environment: Vec<&'static str>,
    /// What a program that extends `art` adds to the runtime. This is no option.
    #[arg(skip)]
    pub extension: Extension,
}

/// What a program that extends `art` adds to the runtime. Applies to every command that opens a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Extension(pub for<'a> fn(RuntimeBuilder<'a>) -> RuntimeBuilder<'a>);

impl Default for Extension {
    /// Returns the extension that adds nothing.
    fn default() -> Self {
        Self(|builder| builder)
    }
}

impl GlobalOptions {
    /// Returns the owner of the conversations that the command sees.
    pub(crate) fn owner(&self) -> Owner {
        Owner::user(self.user.as_deref())
    }

    /// Records in `from_environment` which options came from an environment variable, according to the parser.
    pub(crate) fn record_options_from_environment(&mut self, matches: &ArgMatches) {
        let is_from_environment = |name: &&str| matches.value_source(name) == Some(ValueSource::EnvVariable);
        self.from_environment = ["home", "plugins", "model", "base_url", "api_key_env"]
            .into_iter()
            .filter(is_from_environment)
            .collect();
    }

    /// Returns the options on the command line that say where `art` looks, each with its value: a suggested command needs them too.
    pub(crate) fn typed_options(&self, matches: &ArgMatches) -> Vec<(&'static str, String)> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let options = [
            ("home", self.home.as_ref().map(path)),
            ("plugins", self.plugins.as_ref().map(path)),
            ("user", self.user.clone()),
        ];
        let typed = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        typed
            .filter(|(name, _)| matches.value_source(name) == Some(ValueSource::CommandLine))
            .collect()
    }
}

/// Parses the value of `--user`. Restricts its characters, because a name is shown in logs and is part of a file name.
fn parse_user_name(text: &str) -> Result<String, String> {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "._@+-".contains(char);
    let starts_with_letter_or_digit = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    match starts_with_letter_or_digit && text.len() <= MAX_USER_BYTES && text.chars().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a name has 1 to {MAX_USER_BYTES} letters, digits or characters of `._@+-`, and begins with a letter or a digit"
        )),
    }
}

/// Returns the arguments of the command line, changed so that a question may begin with a dash. An argument after `run` or
/// `plan` and before `--` that cannot be an option, such as `-5 + 3`, gets a leading space. Otherwise the parser would read it
/// as an option.
pub(crate) fn escape_leading_dashes(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut after_command, mut after_separator) = (false, false);
    let mut escaped = Vec::new();
    for argument in arguments {
        after_command |= argument == "run" || argument == "plan";
        after_separator |= argument == "--";
        let argument = match argument.to_str() {
            Some(text) if after_command && !after_separator && cannot_be_an_option(text) => format!(" {text}").into(),
            _ => argument,
        };
        escaped.push(argument);
    }
    escaped
}

/// Returns whether an argument begins with a dash but cannot be an option, because the name of an option has only letters and
/// dashes.
fn cannot_be_an_option(argument: &str) -> bool {
    let long = argument.strip_prefix("--").and_then(|long| long.split('=').next());
    let name = long.or_else(|| argument.strip_prefix('-')).unwrap_or_default();
    name.chars().any(|c| !c.is_ascii_alphabetic() && c != '-')
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check the machine, answer a sample question and build the first-party tools
    #[command(after_help = "Example:\n  cargo art quickstart")]
    Quickstart,
    /// Answer a question with tools
    Run(RunArgs),
    /// Plan a question and check the plan, without running a tool
    Plan(PlanArgs),
    /// Hold a conversation
    Chat(ChatArgs),
    /// Measure how well a model picks tools and fills arguments, without running a tool
    Eval(EvalArgs),
    /// List, show and call tools
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Write and build tools
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// List what tools may touch, grant more or take it back
    #[command(subcommand)]
    Grant(GrantCommand),
    /// Look at, make and forget the changes that tools want to make to files
    #[command(subcommand)]
    Changes(ChangesCommand),
    /// Store, list and remove secrets that the host adds to requests of tools
    #[command(subcommand)]
    Secret(SecretCommand),
    /// List, show and delete conversations
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// List calls that wait for a decision, and decide about them
    #[command(subcommand)]
    Approve(ApproveCommand),
    /// List and show runs, and save the files that they produced
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Check that this machine can build and run tools
    #[command(after_help = "Examples:\n  art doctor --json\n  art doctor --self-test")]
    Doctor {
        /// Attack this host with a hostile tool instead, and show how each attack ended
        #[arg(long)]
        self_test: bool,
    },
    /// Show the configuration in effect and where each value comes from
    #[command(after_help = CONFIG_HELP)]
    Config,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  art completion bash > ~/.local/share/bash-completion/completions/art")]
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const CONFIG_HELP: &str = "\
Example:
  art config

Only the `art.toml` of the home is read, never one of the current folder. Its keys, with their default or an example:
  plugins = \"plugins\"            folder with the components; relative to the file
  model = \"embedded\"             PROVIDER[:MODEL]
  system_prompt = \"Be brief.\"    added to the instructions of every question; or a table with `content`
                                 or `tag` and `variables`, and `strategy` (\"append\" or \"prepend\")
  tell_date = true               tell models the date, the time zone and the locale
  ask_person = false             whether models may ask you for information, with the tool `request_user_input`
  [system_prompts.TAG]
  template = \"Use {{count}} words.\" a text that a system prompt refers to by its tag; also: variables, strategy,
                                 and `default = true` for the template that is used when no system prompt names a tag
  [persona]
  name = \"Ada\"                   name of the agent; `[persona.prompts]` has `planning`, `execution`, `synthesis`
  [prompts]
  NAME = \"...\"                   replaces one of the agent's prompt texts
  [providers.NAME]               a provider of your own, or changes to a known one (openai, anthropic, gemini,
                                 openrouter, deepseek, groq, ollama, compatible)
  api = \"openai-chat\"            or \"openai-responses\", \"anthropic\", \"gemini\"
  base_url = \"https://...\"
  api_key_env = \"NAME\"           environment variable with the key; or `api_key_file`, a file that only you can read
  default_model = \"...\"          also: context_tokens, max_output_tokens, vision, stream, max_parallel, local, headers
                                 (set context_tokens to the context length of the server: a server with a shorter one,
                                 such as ollama by default, silently drops the start of a long prompt)
  tools = false                  the models do not support function calling: prompts describe the tools in full
  models.NAME = { tools = false, vision = true }
                                 abilities of one model, instead of those of all models of the provider
  [prices.\"PROVIDER:MODEL\"]
  input = 0.25                   US dollars per million input tokens
  output = 2.0                   US dollars per million output tokens; `input` and `output` are both required
  cached_input = 0.025           US dollars per million tokens read from the provider's cache; default: `input`
  cache_write = 0.3125           US dollars per million tokens written to its cache; default: 1.25 times `input`
  long = { over = 200000, input = 0.5, output = 4.0 }
                                 prices of a call whose prompt has more tokens than `over`; also: cached_input,
                                 cache_write
  [models]
  total_timeout_ms = 600000      for one call; also: connect_timeout_ms, header_timeout_ms, idle_timeout_ms,
                                 answer_timeout_ms (for all attempts until a reply begins), max_retries, retry_base_ms, retry_cap_ms, max_retry_after_ms, queue_timeout_ms,
                                 max_queue, max_reply_bytes, max_error_bytes, connection_idle_ms
  [params]
  reasoningEffort = \"low\"        for every model call; also: temperature, topP, maxTokens, seed, stop, and any other
                                 parameter of the provider
  [sandbox]
  workers = 2                    sandbox threads; default: one per processor
  pooling = true                 allocate instances from a pool if the machine supports it
  [tools]
  max_parallel = 8               tool calls that run at the same time, 1 to 1024; default: 2 per processor, at least 4
  max_queue = 128                tool calls that may wait for a slot, 0 to 65536; further calls are refused as busy
  cancel_grace_ms = 250          time that a cancelled call has to return what it has, if its tool looks for that, 0 to 1000
  fuel = 2000000000              limit of a call if its tool requests none; also: timeout_ms = 30000,
                                 memory_bytes = 67108864, output_bytes = 1048576
  max_fuel = 2000000000          highest limit that a tool may request; default: `fuel`; also: max_timeout_ms,
                                 max_memory_bytes, max_output_bytes
  [tools.NAME]
  fuel = 5000000000              limit of every call of one tool, instead of `fuel` and `max_fuel`; the tool is refused if it
                                 requests more; also: timeout_ms, memory_bytes, output_bytes
  [approval]
  ask_from = \"high\"              ask a person before each call of a tool whose declared risk is at least this: `low`, `medium`,
                                 `high` or `critical`; with `never`, the risk is no reason to ask
  ask_together = true            ask about all known calls of a plan before its first step; default: about each call
                                 when it is to be made
  timeout_ms = 86400000          time for a decision, by default without limit; a question that is not decided in it counts
                                 as rejected when its run is resumed, or as approved with on_timeout = \"approve\"
  [[approval.rule]]              the first rule that matches a call decides about it
  action = \"ask\"                 or \"allow\", \"refuse\"
  tool = \"file_*\"                its name, with `*` and `?`; also: risk = \"medium\" (at least), category = \"...\"
  arguments = { \"/path\" = \"/etc/*\" }
                                 patterns for arguments, by JSON pointer
  [execution]
  maxIterations = 5              model calls for one step
  taefMaxRetries = 2             reminders to call a required tool
  toolResultMaxLength = 60000    characters of tool results in one prompt
  maxItems = 20                  steps of one run
  maxParallelItems = 4           steps that run at the same time
  maxToolCalls = 64              tool calls of one run
  maxModelCalls = 120            model calls of one run
  maxTokens = 200000             tokens of one run; no limit by default
  maxCostUsd = 0.5               US dollars of one run; no limit by default
  planRepairs = 2                times that an unusable plan is sent back to the model
  maxShownTools = 16             tools that one prompt lists";

/// `art run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  art run \"What is 17.5% of 2340, and what is that divided by 7?\"
  art run \"Which region has the highest total revenue?\" --attach sales.csv
  art run \"How many words are in this text?\" < story.txt
  art run --raw \"Which rows have a revenue above 100?\" --attach sales.csv > rows.json
  art run --json \"How many days are there between 2024-02-27 and 2026-11-21?\"
  art run --plan revenue.json --attach sales.csv
  art run --plan discount.json --set rate=15 --check

Text from a file or a pipe at stdin is attached to the question. stdin is not read if it is a terminal, /dev/null, a pipe that
stays silent for 3 s, or a file that was partly read. In a loop that reads lines from stdin, use `< /dev/null`.")]
pub struct RunArgs {
    /// The question; with `--plan`, it replaces the question of the plan
    #[arg(required_unless_present = "plan")]
    pub query: Vec<String>,
    /// File to attach to the question; `-` reads stdin; may be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Let later questions of the conversation use what is attached without naming it
    #[arg(long, requires = "attach")]
    pub keep: bool,
    /// Conversation to continue: its identifier, a unique prefix of it, or `last`; a new one by default
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// File with a plan that `art plan` wrote, to carry out in place of a new one
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Value of a parameter of the plan, as JSON or text; may be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "plan", value_parser = parse_name_and_value)]
    pub set: Vec<(String, String)>,
    /// Only check the plan against the tools of today, and show it
    #[arg(long, requires = "plan")]
    pub check: bool,
    /// If the plan has only one call and the call succeeds, print its output as it is, without an answer of the model
    #[arg(long)]
    pub raw: bool,
}

impl RunArgs {
    /// Returns the question, or `None` if it is empty.
    pub(crate) fn query(&self) -> Option<String> {
        join_words(&self.query)
    }
}

/// `art plan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  art plan \"What is 17.5% of 2340, and what is that divided by 7?\"
  art plan \"Which region has the highest total revenue?\" --attach sales.csv --out revenue.json
  art run --plan revenue.json --attach sales.csv
  art plan \"What is 15% of 80?\" --param rate=15 --out rate.json && art run --plan rate.json --set rate=20
  art plan \"And as a share of the total?\" --thread last

Nothing is run or stored: only the model is called, and the plan is checked against the schemas of the tools. Exit code 10 means
that the model made no usable plan, or a plan with faults.")]
pub struct PlanArgs {
    /// The question
    #[arg(required = true)]
    pub query: Vec<String>,
    /// File to attach to the question; `-` reads stdin; may be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Conversation to which the question belongs: its identifier, a unique prefix of it, or `last`; a new one by default
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// New file to write the plan to, for `art run --plan`
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Make VALUE a parameter NAME of the plan: wherever an argument is VALUE or has it as a word, the parameter takes the place
    /// of VALUE; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_name_and_value)]
    pub param: Vec<(String, String)>,
}

impl PlanArgs {
    /// Returns the question, or `None` if it is empty.
    pub(crate) fn query(&self) -> Option<String> {
        join_words(&self.query)
    }
}

/// Returns the words of a question as one text, or `None` if there are none.
fn join_words(words: &[String]) -> Option<String> {
    let words = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
    let query = words.collect::<Vec<_>>().join(" ");
    (!query.is_empty()).then_some(query)
}

/// Parses a value such as that of `--set` or `--param`: a name, an equals sign and a value.
fn parse_name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has to be NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// `art chat`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  art chat
  art chat --thread 0192f1c2-...
  art chat < questions.txt             one question a line; the exit code is the worst of all
  art chat --json < questions.txt      one JSON line for each event and each report")]
pub struct ChatArgs {
    /// Conversation to continue: its identifier, a unique prefix of it, or `last`; a new one by default
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
}

/// `art eval`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  art eval examples/eval/tools.jsonl")]
pub struct EvalArgs {
    /// JSON lines of {"query", "tools", "expected"}
    pub file: PathBuf,
    /// Also print every line that failed
    #[arg(long)]
    pub failures: bool,
}

/// `art tool`
#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// List the tools, and the component files that were refused, each with the reason
    #[command(after_help = "Example:\n  art tool list --plugins ./plugins")]
    List {
        /// Also compile tools that were skipped because they take long to compile
        #[arg(long)]
        retry: bool,
    },
    /// Show the schemas, limits and imports of a tool
    #[command(after_help = "Example:\n  art tool show calculator")]
    Show {
        /// The tool
        name: String,
    },
    /// Call a tool once, without a model
    ///
    /// The call is stored as a run before it is made, and its output is stored before it is printed. `art runs` lists, shows and
    /// replays the run, and `art runs resume` goes on with it if it was interrupted.
    #[command(after_help = "Examples:\n  art tool call calculator '{\"expression\":\"2+2\"}'\n  \
                            art tool call text_stats - < input.json")]
    Call {
        /// The tool
        name: String,
        /// Its arguments as JSON; `-` reads them from stdin
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

/// `art plugin`
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Write a new tool crate
    #[command(after_help = "Example:\n  art plugin new word_count && art plugin build word_count")]
    New {
        /// Name of the tool: lower-case letters, digits, `_` and `-`
        name: String,
        /// Folder to create the crate in
        #[arg(long, value_name = "DIR", default_value = ".")]
        path: PathBuf,
        /// Folder of the SDK
        #[arg(long, value_name = "DIR")]
        sdk: Option<PathBuf>,
    },
    /// Build tool crates, check the components and copy them into the plugins folder
    #[command(
        after_help = "Examples:\n  art plugin build plugins/calculator\n  art plugin build --watch word_count\n  \
        art plugin build --release word_count"
    )]
    Build {
        /// Folders of the crates
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Build again whenever a file of a crate changes, until Ctrl-C
        #[arg(long)]
        watch: bool,
        /// Optimise the component as a whole, for publishing: calls cost less fuel, and building takes longer
        #[arg(long, conflicts_with = "watch")]
        release: bool,
    },
}

/// `art thread`
#[derive(Debug, Subcommand)]
pub enum ThreadCommand {
    /// List the newest conversations
    #[command(after_help = "Example:\n  art thread list --limit 5")]
    List {
        /// Maximum number of entries
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_at_least_one)]
        limit: usize,
    },
    /// Show the messages of a conversation
    #[command(after_help = "Examples:\n  art thread show last\n  art thread show 0192f1c2-4")]
    Show {
        /// Conversation: its identifier, a unique prefix of it, or `last`
        id: String,
    },
    /// Change a setting of a conversation; `null` removes it
    #[command(after_help = THREAD_SET_HELP)]
    Set {
        /// Conversation: its identifier, a unique prefix of it, or `last`
        id: String,
        /// The setting
        setting: ThreadSetting,
        /// The value, as JSON; a system prompt may be plain text; tools are given by name
        value: Vec<String>,
    },
    /// Delete a conversation with its runs
    #[command(after_help = "Example:\n  art thread delete 0192f1c2-...")]
    Delete {
        /// Conversation: its identifier, a unique prefix of it, or `last`
        id: String,
    },
}

const THREAD_SET_HELP: &str = r#"Examples:
  art thread set 0192f1c2-... system-prompt "Answer in one sentence."
  art thread set 0192f1c2-... persona '{"name": "Ada", "prompts": {"synthesis": "Answer in verse."}}'
  art thread set 0192f1c2-... execution '{"maxTokens": 20000, "maxToolCalls": 5}'
  art thread set 0192f1c2-... history-limit 4
  art thread set 0192f1c2-... model openai:gpt-5
  art thread set 0192f1c2-... tools calculator datetime
  art thread set 0192f1c2-... tools '*'         all tools; without a name: no tools"#;

/// A setting that a conversation may override. Settings without an override come from the configuration.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum ThreadSetting {
    /// Number of earlier messages that the model is shown
    HistoryLimit,
    /// Text that is added to the instructions for the model
    SystemPrompt,
    /// Name of the agent, and instructions for each stage
    Persona,
    /// Limits and budgets of a run
    Execution,
    /// Tools that the conversation may use
    Tools,
    /// Model of the conversation, `PROVIDER[:MODEL]`, or `null` for the one of the configuration
    Model,
}

/// Parses a number, such as the value of `--limit`. Fails if it is 0 or not a number.
fn parse_at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// Subcommands of `art approve`.
#[derive(Debug, Subcommand)]
pub enum ApproveCommand {
    /// List the calls that wait for a decision, the oldest first
    ///
    /// The list ends early when its calls have 8 MiB together. With `--json`, repeat the command with `--after` and the last
    /// identifier until the list is empty.
    #[command(after_help = "Examples:\n  art approve list\n  art approve list --limit 10 --after 4f5a6c1e")]
    List {
        /// Maximum number of entries
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_at_least_one)]
        limit: usize,
        /// Only calls after the one with this identifier
        #[arg(long, value_name = "ID")]
        after: Option<String>,
    },
    /// Show a call that waits: its arguments, what the tool says about it, and how to answer
    #[command(after_help = "Example:\n  art approve show 4f5a6c1e")]
    Show {
        /// Call that waits: its identifier in `art approve list`, a unique prefix of it, or `last` for the newest
        id: String,
    },
    /// Approve a call, or several of one run, and go on with the run
    #[command(
        after_help = "Examples:\n  art approve yes 4f5a6c1e\n  art approve yes last --value 2026-12-24\n  \
                            art approve yes last --args '{\"path\": \"/tmp/a\"}'\n  \
                            art approve yes last --always --any path"
    )]
    Yes {
        /// Call that waits: its identifier in `art approve list`, a unique prefix of it, or `last` for the newest. Several
        /// calls must belong to the same run
        #[arg(required = true)]
        ids: Vec<String>,
        /// The answer, if the question asks for one: as it would be typed, for example a number, an option or a date
        #[arg(long, value_name = "ANSWER")]
        value: Option<String>,
        /// Arguments for the call, as JSON, in place of those that were asked about
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        /// Which later calls are approved as well.
        #[command(flatten)]
        always: AlwaysArgs,
        /// Only decide; `art runs resume` goes on with the run
        #[arg(long)]
        later: bool,
    },
    /// Reject a call, or several of one run, and go on with the run
    #[command(after_help = "Example:\n  art approve no 4f5a6c1e --reason \"use the copy instead\"")]
    No {
        /// Call that waits: its identifier in `art approve list`, a unique prefix of it, or `last` for the newest. Several
        /// calls must belong to the same run
        #[arg(required = true)]
        ids: Vec<String>,
        /// Why, for the model
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Only decide; `art runs resume` goes on with the run
        #[arg(long)]
        later: bool,
    },
    /// List the rules of `art.toml`, and the standing approvals, which hold for later calls too
    #[command(after_help = "Example:\n  art approve rules")]
    Rules {
        /// Maximum number of standing approvals
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_at_least_one)]
        limit: usize,
    },
    /// Remove a standing approval, so that its calls are asked about again
    #[command(after_help = "Example:\n  art approve forget 1f0c9a7be2d4")]
    Forget {
        /// Its identifier, as `art approve rules` lists it
        id: String,
    },
    /// Show what rules would have decided about the calls of earlier runs
    ///
    /// Nothing is called and nothing is changed. Each call is checked as if it was made now, with the tools of today.
    #[command(after_help = "Examples:\n  art approve preview\n  art approve preview --rules new.toml --runs 200")]
    Preview {
        /// File with the rules to try, in a table `[approval]` as in `art.toml`; default: those of `art.toml`
        #[arg(long, value_name = "FILE")]
        rules: Option<PathBuf>,
        /// Number of runs, beginning with the newest
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_at_least_one)]
        runs: usize,
    },
}

/// Which later calls a person approves besides the one that is decided.
#[derive(Debug, Args)]
pub struct AlwaysArgs {
    /// Also approve later calls that a rule would ask about, if this version of the tool is called with the same arguments
    #[arg(long, conflicts_with = "args")]
    pub always: bool,
    /// With `--always`: these arguments may have any value
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "always")]
    pub any: Vec<String>,
    /// With `--always`: all arguments may have any value
    #[arg(long, requires = "always", conflicts_with = "any")]
    pub any_arguments: bool,
}

/// `art runs`
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List the newest runs
    #[command(after_help = "Example:\n  art runs list --limit 5")]
    List {
        /// Only runs of this conversation: its identifier, a unique prefix of it, or `last`
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// Maximum number of entries
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_at_least_one)]
        limit: usize,
    },
    /// Go on with a run that was interrupted because its host was stopped
    ///
    /// Calls that had ended are not made again. A tool call that was in progress is made again if its tool has no effect outside
    /// its sandbox; otherwise the model is told that its outcome is unknown.
    #[command(after_help = "Examples:\n  art runs resume last\n  art runs resume 0192f1c2-4")]
    Resume {
        /// Run: its identifier, a unique prefix of it, or `last` for the newest interrupted run
        id: String,
    },
    /// End a run that waits for a decision or was interrupted
    #[command(after_help = "Example:\n  art runs cancel last")]
    Cancel {
        /// Run: its identifier, a unique prefix of it, or `last`
        id: String,
    },
    /// Run a recorded run again, offline, and compare everything with its log
    ///
    /// The replies of models and what tools got from outside, such as the time, come from the log. Tools really run, if they are
    /// the same components; their inputs, outputs, files and fuel are compared. No model is called and nothing is stored. The
    /// exit code is 0 if all is identical, and 1 at the first difference.
    #[command(
        after_help = "Examples:\n  art runs replay last\n  art --json runs replay 0192f1c2-4\n  \
                            art runs replay ./bug.jsonl"
    )]
    Replay {
        /// Run: its identifier, a unique prefix of it, or `last`; or a file that `art runs export` wrote
        run: String,
    },
    /// Write a run to one file, from which `art runs replay` can run it again elsewhere
    ///
    /// The file has the log of the run, the files that the log names, and the components of its tools: everything that the run
    /// read and wrote, but no keys.
    #[command(after_help = "Example:\n  art runs export last bug.jsonl")]
    Export {
        /// Run: its identifier, a unique prefix of it, or `last`
        id: String,
        /// The new file
        file: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    /// Check that the log of a run is as it was written
    #[command(after_help = "Examples:\n  art runs verify last\n  art runs verify ./bug.jsonl")]
    Verify {
        /// Run: its identifier, a unique prefix of it, or `last`; or a file that `art runs export` wrote
        run: String,
    },
    /// Show the log of a run and the files that its tools produced
    #[command(after_help = "Examples:\n  art runs show last --cost --logs\n  art runs show 0192f1c2-4")]
    Show {
        /// Run: its identifier, a unique prefix of it, or `last`
        id: String,
        /// Also show what its tools logged and wrote to stdout and stderr
        #[arg(long)]
        logs: bool,
        /// Also show what each step used: model calls, tokens, cost, tool calls, fuel and time of the tools
        #[arg(long)]
        cost: bool,
    },
    /// Save a file that a tool of a run produced
    #[command(after_help = "Examples:\n  art runs save last chart.svg\n  \
                            art runs save 0192f1c2-4 table.csv --to results/june.csv")]
    Save {
        /// Run: its identifier, a unique prefix of it, or `last`
        id: String,
        /// Name of the file, as `art runs show` prints it
        name: String,
        /// Destination: a folder, or the name of the new file; the current folder by default
        #[arg(long, value_name = "PATH")]
        to: Option<PathBuf>,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, FromArgMatches};

    fn parse(line: &[&str]) -> Cli {
        let matches = Cli::command().try_get_matches_from(line).unwrap();
        let mut cli = Cli::from_arg_matches(&matches).unwrap();
        cli.global.record_options_from_environment(&matches);
        cli
    }

    #[test]
    fn a_global_option_is_accepted_before_and_after_the_subcommand() {
        assert_eq!(
            parse(&["art", "config", "--model", "x"]).global.model.as_deref(),
            Some("x")
        );
        assert_eq!(
            parse(&["art", "--model", "x", "config"]).global.model.as_deref(),
            Some("x")
        );
    }

    #[test]
    fn a_user_name_with_unsafe_characters_or_over_64_bytes_is_refused() {
        for name in ["ann", "Ann.B-1", "ann@example.org"] {
            assert_eq!(
                parse(&["art", "--user", name, "doctor"]).global.user.as_deref(),
                Some(name)
            );
        }
        for name in ["", ".", "../ann", "ann bob", "a\u{202e}b", "\u{1b}[2J", &"a".repeat(65)] {
            let parsed = Cli::try_parse_from(["art", &format!("--user={name}"), "doctor"]);
            assert!(parsed.is_err(), "{name:?}");
        }
    }

    #[test]
    fn an_option_on_the_command_line_does_not_count_as_from_the_environment() {
        let cli = parse(&["art", "run", "--home", "/x", "question"]);
        assert!(!cli.global.from_environment.contains(&"home"));
    }

    #[test]
    fn the_help_of_config_lists_every_key_of_a_price() {
        let prices = CONFIG_HELP.split("[prices.").nth(1).unwrap();
        let prices = prices.split("[models]").next().unwrap();
        let keys = ["input", "output", "cached_input", "cache_write", "long"];
        for key in keys {
            assert!(prices.contains(&format!("\n  {key} = ")), "{key}");
        }
        assert!(prices.contains("{ over = "), "{prices}");
    }

    fn run_args(words: &[&str]) -> RunArgs {
        let words = escape_leading_dashes(words.iter().map(OsString::from));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run(args) => args,
            other => panic!("{other:?} is not `art run`"),
        }
    }

    #[test]
    fn a_question_may_begin_with_a_dash() {
        for text in [
            "-5 + 3",
            "-(2+3)*4",
            "-.5^2",
            "-x + 3 with x = 2",
            "--5",
            "--is this a question?",
        ] {
            assert_eq!(run_args(&["art", "run", text]).query().unwrap(), text);
            let args = run_args(&["art", "run", "--attach", "a.csv", text, "--thread", "last"]);
            assert_eq!(args.query().unwrap(), text);
            assert_eq!((args.attach.len(), args.thread.as_deref()), (1, Some("last")));
        }
        let args = run_args(&["art", "run", "What", "is", "-5", "+", "3?"]);
        assert_eq!(args.query().unwrap(), "What is -5 + 3?");
    }

    #[test]
    fn an_unknown_option_is_not_taken_as_a_question() {
        for option in ["--atach", "--atach=a.csv", "-x", "-vx"] {
            let words = escape_leading_dashes(["art", "run", option, "What is 2+2?"].iter().map(OsString::from));
            assert!(Cli::try_parse_from(words).is_err(), "{option}");
        }
    }

    #[test]
    fn arguments_of_other_subcommands_are_unchanged() {
        let words = ["art", "tool", "call", "calculator", "-5", "-"].map(OsString::from);
        assert_eq!(escape_leading_dashes(words.iter().cloned()), words);
    }

    #[test]
    fn a_question_to_plan_may_begin_with_a_dash() {
        let words = escape_leading_dashes(["art", "plan", "-5 + 3", "--out", "p.json"].iter().map(OsString::from));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Plan(args) => assert_eq!(args.query().unwrap(), "-5 + 3"),
            other => panic!("{other:?} is not `art plan`"),
        }
    }

    #[test]
    fn a_run_needs_a_question_or_a_plan() {
        assert!(Cli::try_parse_from(["art", "run"]).is_err());
        assert_eq!(run_args(&["art", "run", "--plan", "p.json"]).query(), None);
    }

    #[test]
    fn the_value_of_a_parameter_is_what_follows_the_first_equals_sign() {
        let args = run_args(&["art", "run", "--plan", "p.json", "--set", "a=b=c", "--set", "n=-1"]);
        let expected = [("a", "b=c"), ("n", "-1")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(args.set, expected);
        assert!(Cli::try_parse_from(["art", "run", "--plan", "p.json", "--set", "a"]).is_err());
    }

    #[test]
    fn the_options_check_and_set_require_a_plan() {
        for words in [
            &["art", "run", "q", "--check"][..],
            &["art", "run", "q", "--set", "a=1"],
        ] {
            assert!(Cli::try_parse_from(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn arguments_after_two_dashes_are_the_question() {
        let cli = parse(&["art", "run", "--", "--plugins"]);
        assert!(matches!(cli.command, Command::Run(args) if args.query == ["--plugins"]));
    }
}
