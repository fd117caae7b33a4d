//! The configuration. A value comes from a flag, else from the environment, else from `art.toml`, else it is the default.
//!
//! The only `art.toml` that is read is the one of the operator's home. Nothing in the current directory is read: it may be the
//! work of somebody else, and must not be able to name plugins, rules, secrets or the addresses of providers.

mod directories;
mod file;
mod models;
mod tools;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use art_agent::PromptManager;
use art_core::JsonObject;
use art_core::agent::ExecutionConfig;
use art_core::capability::ToolPolicy;
use art_core::prompt::{AgentPersona, SystemPromptOverride, SystemPromptsRegistry};
use art_core::text::quote_for_shell;
use art_model::ModelSettings;
use art_sandbox::{CompilerProgram, SandboxConfig};
use art_tools::ApprovalPolicy;
use serde::Serialize;

use directories::{Directories, find_directories};
pub use file::{ParseError, read_approval_policy};
pub use tools::{ToolBounds, ToolSettings};

/// The default model, which needs no network and no key.
pub const DEFAULT_MODEL: &str = "embedded";

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A flag of the command line.
    Flag,
    /// An environment variable `ART_*`.
    Environment,
    /// The file `art.toml`.
    File,
    /// The default.
    Default,
}

impl Origin {
    /// Returns the name that is shown to users, which is also the serialised one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its origin.
    pub origin: Origin,
}

/// Values of the command line and the environment. `None` means that neither sets the value.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--home`, `ART_HOME`.
    pub home: Option<PathBuf>,
    /// `--plugins`, `ART_PLUGINS`.
    pub plugins: Option<PathBuf>,
    /// `--model`, `ART_MODEL`.
    pub model: Option<String>,
    /// `--base-url`, `ART_BASE_URL`.
    pub base_url: Option<String>,
    /// `--api-key-env`, `ART_API_KEY_ENV`.
    pub api_key_env: Option<String>,
    /// Names of the fields above whose values came from the environment.
    pub from_environment: Vec<&'static str>,
}

impl Overrides {
    /// Returns the overrides without texts that are blank and came from the environment. Such a variable counts as not set.
    fn without_blanks(&self) -> Self {
        let mut overrides = self.clone();
        let texts = [
            ("model", &mut overrides.model),
            ("base_url", &mut overrides.base_url),
            ("api_key_env", &mut overrides.api_key_env),
        ];
        for (name, text) in texts {
            let is_blank = |text: &mut String| text.trim().is_empty();
            if self.from_environment.contains(&name) && text.take_if(is_blank).is_some() {
                overrides.from_environment.retain(|field| *field != name);
            }
        }
        overrides
    }
}

/// The checked configuration, from which everything else is built.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// The file that was read; `None` if it does not exist.
    pub file: Option<PathBuf>,
    /// Path of the file, whether or not it exists.
    #[serde(skip)]
    pub file_path: PathBuf,
    /// Notes for the user about the configuration, one line each.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Plugins folder; an empty path means none.
    pub plugins: Setting<PathBuf>,
    /// Plugins folder of the user, even if another folder is in use.
    #[serde(skip)]
    pub user_plugins: PathBuf,
    /// Model, `PROVIDER[:MODEL]`.
    pub model: Setting<String>,
    /// Address of the model's provider, from a flag or the environment. `None` if neither sets it, even if the file has one.
    pub base_url: Setting<Option<String>>,
    /// Name of the variable with the key of the model's provider, from a flag or the environment. `None` if neither sets it.
    pub api_key_env: Setting<Option<String>>,
    /// Providers, prices and limits of model calls, including the two settings above.
    #[serde(skip)]
    pub models: ModelSettings,
    /// System prompt of every question. The system prompt of a thread follows it.
    pub system_prompt: Setting<Option<SystemPromptOverride>>,
    /// Templates for system prompts by tag, and the default one.
    pub system_prompts: Setting<SystemPromptsRegistry>,
    /// Name and guidance of the agent. A thread may have its own.
    pub persona: Setting<AgentPersona>,
    /// Whether models are told the date, the time zone and the locale.
    pub tell_date: Setting<bool>,
    /// The rules by which a person is asked before a call.
    pub approval: Setting<ApprovalPolicy>,
    /// Folder with what the operator has decided about components: grants, approved versions and quarantine. An empty path means
    /// that there is none, so that tools have only what `program_grants` has.
    #[serde(skip)]
    pub grants: PathBuf,
    /// The grants that the program makes, by the names of the tools. For these tools they replace those in `grants`. A policy
    /// without the digest of a component applies to whatever component the tool has.
    #[serde(skip)]
    pub program_grants: BTreeMap<String, ToolPolicy>,
    /// Folder of the standing approvals: those that a person gives in advance for all calls that match. An empty path means that
    /// there are none.
    #[serde(skip)]
    pub standing_approvals: PathBuf,
    /// Whether a call that lacks a grant (authority that the operator gives to a tool) waits for a person, whose approval makes
    /// the grant. Only for programs whose users are their operators, such as `art` at a terminal. By default such a call fails.
    #[serde(skip)]
    pub ask_for_grants: bool,
    /// Whether models have the tool `request_user_input`, with which they ask the person for information.
    pub ask_person: Setting<bool>,
    /// Parameters of every model call, such as `temperature`.
    pub params: Setting<JsonObject>,
    /// Prompt fragments that replace those of the agent, by name.
    pub prompts: Setting<BTreeMap<String, String>>,
    /// Database of threads and runs; an empty path means that they are kept in memory.
    pub database: Setting<PathBuf>,
    /// Private directory of compiled code; an empty path means that none is kept.
    pub cache: Setting<PathBuf>,
    /// Number of sandbox threads; `None` means one for each processor.
    pub workers: Setting<Option<usize>>,
    /// Whether to allocate instances from a pool if the machine allows it.
    pub pooling: Setting<bool>,
    /// Program that compiles components; `None` means that this process compiles them.
    #[serde(skip)]
    pub compiler: Option<CompilerProgram>,
    /// Maximum time for compiling at one start. A component that needs more is postponed to a later start. `None` means no limit:
    /// then components that earlier starts postponed are compiled as well.
    #[serde(skip)]
    pub compile_time: Option<Duration>,
    /// Limits on tool calls: how many run at a time, and what each may use.
    pub tools: Setting<ToolSettings>,
    /// Limits of a run.
    pub execution: Setting<ExecutionConfig>,
}

/// Maximum number of sandbox threads. More threads would not make any machine faster.
const MAX_WORKERS: usize = 256;

/// Returns the number of sandbox threads if it is in range. Each thread reserves memory.
fn check_workers(workers: usize) -> Result<usize, ConfigError> {
    check_range("sandbox.workers", workers as u64, 1, MAX_WORKERS as u64).map(|()| workers)
}

/// Fails with [`ConfigError::OutOfBounds`] unless `value` is from `min` to `max`.
fn check_range(setting: &str, value: u64, min: u64, max: u64) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::OutOfBounds {
        setting: setting.to_owned(),
        value,
        min,
        max,
    })
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Others could change the file.
    #[error(
        "others could change the settings `{path}`: {problem} (hint: make it yours, and run `chmod go-w {}`)",
        quote_for_shell(&path.to_string_lossy())
    )]
    NotPrivate {
        /// Path of the file.
        path: PathBuf,
        /// Why others can change it.
        problem: &'static str,
    },
    /// The file is invalid.
    #[error("failed to parse `{path}` (hint: `art config --help` lists every key)")]
    Parse {
        /// Path of the file.
        path: PathBuf,
        /// Cause, with its position.
        #[source]
        source: ParseError,
    },
    /// A flag changes the provider of the model, but the embedded model has no provider.
    #[error("`{flag}` changes the provider of a model, and `embedded` has none (hint: add `--model compatible:MODEL`)")]
    NoProvider {
        /// The flag.
        flag: &'static str,
    },
    /// A value is not the name of an environment variable. It is not shown, because it may be the key itself.
    #[error("`{setting}` takes the name of an environment variable (letters, digits and `_`), not the key itself")]
    NotAVariableName {
        /// The setting.
        setting: &'static str,
    },
    /// `[prompts]` has a key that is not the name of a prompt fragment.
    #[error("`[prompts]` has `{name}`, which no prompt uses; there are `{known}`")]
    UnknownPrompt {
        /// The key.
        name: String,
        /// The names of all prompt fragments.
        known: String,
    },
    /// `system_prompt` has both a text and a tag, or neither of them.
    #[error("`system_prompt` takes either `content` or `tag`, the name of a `[system_prompts.TAG]`")]
    InvalidSystemPrompt,
    /// `system_prompt` names a template that does not exist.
    #[error("`system_prompt` has the tag `{tag}`, and there is no `[system_prompts.{tag}]`")]
    UnknownTag {
        /// The tag.
        tag: String,
    },
    /// Two templates are marked as the default.
    #[error(
        "`[system_prompts.{first}]` and `[system_prompts.{second}]` both have `default = true`; leave it in one of them"
    )]
    TwoDefaultPrompts {
        /// Tag of the first one.
        first: String,
        /// Tag of the second one.
        second: String,
    },
    /// A number is out of range.
    #[error("`{setting}` is `{value}`; it must be from {min} to {max}")]
    OutOfBounds {
        /// The setting.
        setting: String,
        /// Its value.
        value: u64,
        /// Its minimum.
        min: u64,
        /// Its maximum.
        max: u64,
    },
    /// The name of a table in `[tools]` is not a valid tool name.
    #[error(
        "`[tools.{name}]` does not name a tool: a name consists of lower-case letters, digits, `_` and `-`, and starts with a letter"
    )]
    NotAToolName {
        /// The name.
        name: String,
    },
    /// The default of a limit exceeds the maximum that a tool may request. Tools that do not request the limit have the default.
    #[error(
        "`tools.{setting}` is `{value}`, which exceeds the ceiling `tools.max_{setting}`, `{ceiling}`; \
         lower `tools.{setting}` or raise `tools.max_{setting}`"
    )]
    OverCeiling {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// The ceiling.
        ceiling: u64,
    },
    /// There is no directory for state.
    #[error("neither `--home` nor an absolute `HOME` is set, so there is no place for state (hint: pass `--home DIR`)")]
    NoHome,
}

/// Returns the environment variables that [`Config::load`] reads.
#[must_use]
pub fn environment() -> BTreeMap<&'static str, OsString> {
    let names = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
    ];
    let variables = names
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    variables.collect()
}

impl Default for Config {
    /// Returns a configuration with the embedded model and without a plugins folder, with which everything is kept in memory.
    fn default() -> Self {
        let no_path = || default_setting(PathBuf::new());
        Self {
            file: None,
            file_path: PathBuf::new(),
            notes: Vec::new(),
            plugins: no_path(),
            user_plugins: PathBuf::new(),
            model: default_setting(DEFAULT_MODEL.to_owned()),
            base_url: default_setting(None),
            api_key_env: default_setting(None),
            models: ModelSettings::default(),
            system_prompt: default_setting(None),
            system_prompts: default_setting(SystemPromptsRegistry::default()),
            persona: default_setting(AgentPersona::default()),
            tell_date: default_setting(true),
            approval: default_setting(ApprovalPolicy::default()),
            grants: PathBuf::new(),
            program_grants: BTreeMap::new(),
            standing_approvals: PathBuf::new(),
            ask_for_grants: false,
            ask_person: default_setting(false),
            params: default_setting(JsonObject::new()),
            prompts: default_setting(BTreeMap::new()),
            database: no_path(),
            cache: no_path(),
            workers: default_setting(None),
            pooling: default_setting(true),
            compiler: None,
            compile_time: SandboxConfig::default().compile_time,
            tools: default_setting(ToolSettings::default()),
            execution: default_setting(ExecutionConfig::default()),
        }
    }
}

impl Config {
    /// Returns the path of the input history of `art chat`. Each `user` has a separate history; its file name ends with the name
    /// of the user.
    #[must_use]
    pub fn chat_history(&self, user: Option<&str>) -> PathBuf {
        let name = user.map_or_else(|| "chat_history".to_owned(), |user| format!("chat_history.{user}"));
        self.database.value.with_file_name(name)
    }

    /// Returns the folder that holds changes of files until a person decides about them, or `None` without a database.
    #[must_use]
    pub fn staging(&self) -> Option<PathBuf> {
        self.beside_database("staging")
    }

    /// Returns the folder in which is noted where calls write files, or `None` without a database.
    #[must_use]
    pub fn writes(&self) -> Option<PathBuf> {
        self.beside_database("writes")
    }

    fn beside_database(&self, name: &str) -> Option<PathBuf> {
        let database = &self.database.value;
        (!database.as_os_str().is_empty()).then(|| database.with_file_name(name))
    }

    /// Reads the file, merges it with the overrides and the defaults, and checks the result.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is invalid, if there is no directory for state, if a flag changes the provider of the
    /// embedded model, which has none, or if `api_key_env` does not name a variable.
    pub fn load(overrides: &Overrides, environment: &BTreeMap<&str, OsString>) -> Result<Self, ConfigError> {
        let overrides = &mut overrides.without_blanks();
        let directories = find_directories(overrides, environment)?;
        let path = directories.config.join("art.toml");
        let file = file::read_config_file(&path)?;
        let existing_path = file.is_some().then(|| path.clone());
        let file = file.unwrap_or_default();
        // A relative path is relative to the file.
        let plugins = file.plugins.map(|plugins| directories.config.join(plugins));
        let model = merge("model", overrides, overrides.model.clone(), file.model, || {
            DEFAULT_MODEL.to_owned()
        });
        let file_settings = ModelSettings {
            providers: file.providers,
            prices: file.prices,
            limits: file.models,
        };
        // An address or a key variable from the environment may be meant for another provider than that of the model.
        let note = models::remove_ambiguous_overrides(overrides, &model, &file_settings);
        let models = models::merge_settings(overrides, &model.value, file_settings, &directories.config)?;
        let templates = file.system_prompts.map(build_registry).transpose()?;
        let system_prompt = file.system_prompt.map(SystemPromptOverride::from);
        check_system_prompt(system_prompt.as_ref(), templates.as_ref())?;
        Ok(Self {
            file: existing_path,
            file_path: path,
            notes: note.into_iter().collect(),
            plugins: merge("plugins", overrides, overrides.plugins.clone(), plugins, || {
                directories.user_plugins()
            }),
            user_plugins: directories.user_plugins(),
            model,
            base_url: override_only("base_url", overrides, overrides.base_url.clone()),
            api_key_env: override_only("api_key_env", overrides, overrides.api_key_env.clone()),
            models,
            system_prompt: file_or_default(system_prompt.map(Some), None),
            system_prompts: file_or_default(templates, SystemPromptsRegistry::default()),
            persona: file_or_default(file.persona.map(AgentPersona::from), AgentPersona::default()),
            tell_date: file_or_default(file.tell_date, true),
            approval: file_or_default(file.approval, ApprovalPolicy::default()),
            grants: directories.config.join("grants"),
            program_grants: BTreeMap::new(),
            standing_approvals: directories.config.join("approvals"),
            ask_for_grants: false,
            ask_person: file_or_default(file.ask_person, false),
            params: file_or_default(file.params, JsonObject::new()),
            prompts: file_or_default(file.prompts.map(check_prompt_names).transpose()?, BTreeMap::new()),
            database: path_setting(directories.state.join("art.db"), &directories),
            cache: path_setting(directories.cache.join("code"), &directories),
            workers: file_or_default(file.sandbox.workers.map(check_workers).transpose()?.map(Some), None),
            pooling: file_or_default(file.sandbox.pooling, true),
            compiler: None,
            compile_time: SandboxConfig::default().compile_time,
            tools: file_or_default(
                file.tools.map(ToolSettings::check).transpose()?,
                ToolSettings::default(),
            ),
            execution: file_or_default(
                file.execution
                    .map(|execution| execution.apply(ExecutionConfig::default())),
                ExecutionConfig::default(),
            ),
        })
    }
}

/// Checks that a system prompt has either a text or the tag of a template.
///
/// # Errors
/// Fails if it has neither or both, or if its tag is not in `templates`.
pub fn check_system_prompt(
    prompt: Option<&SystemPromptOverride>,
    templates: Option<&SystemPromptsRegistry>,
) -> Result<(), ConfigError> {
    let Some(SystemPromptOverride::Detailed { tag, content, .. }) = prompt else {
        return Ok(());
    };
    match (tag, content) {
        (Some(tag), None) if templates.is_some_and(|templates| templates.specs.contains_key(tag)) => Ok(()),
        (Some(tag), None) => Err(ConfigError::UnknownTag { tag: tag.clone() }),
        (None, Some(_)) => Ok(()),
        _ => Err(ConfigError::InvalidSystemPrompt),
    }
}

/// Builds the registry of templates for system prompts. Fails with [`ConfigError::TwoDefaultPrompts`] if two are marked as the
/// default.
fn build_registry(
    templates: BTreeMap<String, file::SystemPromptTemplate>,
) -> Result<SystemPromptsRegistry, ConfigError> {
    let mut defaults = templates
        .iter()
        .filter(|(_, template)| template.default)
        .map(|(tag, _)| tag.clone());
    let default_tag = defaults.next();
    if let (Some(first), Some(second)) = (&default_tag, defaults.next()) {
        let first = first.clone();
        return Err(ConfigError::TwoDefaultPrompts { first, second });
    }
    Ok(SystemPromptsRegistry {
        default_tag,
        specs: templates
            .into_iter()
            .map(|(tag, template)| (tag, template.into()))
            .collect(),
    })
}

/// Returns `prompts` unchanged. Fails if a key is not the name of a prompt fragment.
fn check_prompt_names(prompts: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ConfigError> {
    let no_replacements = BTreeMap::new();
    let fragments = PromptManager::new(&no_replacements).names();
    match prompts.keys().find(|name| !fragments.contains(&name.as_str())) {
        Some(name) => Err(ConfigError::UnknownPrompt {
            name: name.clone(),
            known: fragments.join("`, `"),
        }),
        None => Ok(prompts),
    }
}

/// Returns the setting with the path `value`, which is under one of `directories` and has the origin of the directories.
const fn path_setting(value: PathBuf, directories: &Directories) -> Setting<PathBuf> {
    Setting {
        value,
        origin: directories.origin,
    }
}

/// Returns a value that only the command line and the environment can set.
fn override_only(name: &'static str, overrides: &Overrides, value: Option<String>) -> Setting<Option<String>> {
    merge(name, overrides, value.map(Some), None, || None)
}

/// Returns the setting `name`: the value from the overrides if it is set, else that of the file, else the default. The origin
/// of an override is the environment if `overrides` says so, else a flag.
fn merge<T>(
    name: &'static str,
    overrides: &Overrides,
    override_value: Option<T>,
    file_value: Option<T>,
    default: impl FnOnce() -> T,
) -> Setting<T> {
    match (override_value, file_value) {
        (Some(value), _) if overrides.from_environment.contains(&name) => Setting {
            value,
            origin: Origin::Environment,
        },
        (Some(value), _) => Setting {
            value,
            origin: Origin::Flag,
        },
        (None, Some(value)) => Setting {
            value,
            origin: Origin::File,
        },
        (None, None) => default_setting(default()),
    }
}

/// Returns the value of the file if it is set, and the default otherwise.
fn file_or_default<T>(file_value: Option<T>, default: T) -> Setting<T> {
    match file_value {
        Some(value) => Setting {
            value,
            origin: Origin::File,
        },
        None => default_setting(default),
    }
}

/// Returns a setting that has its default value.
const fn default_setting<T>(value: T) -> Setting<T> {
    Setting {
        value,
        origin: Origin::Default,
    }
}

#[cfg(test)]
mod tests;
