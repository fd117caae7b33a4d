//! The configuration: flags over environment over `art.toml` over defaults.

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
use art_core::prompt::{AgentPersona, SystemPromptOverride, SystemPromptsRegistry};
use art_model::ModelSettings;
use art_sandbox::{CompilerProgram, SandboxConfig};
use serde::Serialize;

use directories::{default_plugins, directories};
pub use file::Mistake;
pub use tools::{ToolBounds, ToolSettings};

/// The model when nobody says anything else: it needs no network and no key.
pub const DEFAULT_MODEL: &str = "embedded";

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A flag of the command line.
    Flag,
    /// An environment variable `ART_*`.
    Environment,
    /// The file `art.toml`.
    File,
    /// Nobody said anything else.
    Default,
}

impl Origin {
    /// The name, for people and programs.
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

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

/// What the command line and the environment say. `None` means nothing.
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
    /// The values above that came from the environment.
    pub from_environment: Vec<&'static str>,
}

impl Overrides {
    /// Without what the environment sets to nothing: such a variable says no more than one that is not set.
    fn without_blanks(&self) -> Self {
        let mut given = self.clone();
        let texts = [
            ("model", &mut given.model),
            ("base_url", &mut given.base_url),
            ("api_key_env", &mut given.api_key_env),
        ];
        for (name, text) in texts {
            let blank = |text: &mut String| text.trim().is_empty();
            if self.from_environment.contains(&name) && text.take_if(blank).is_some() {
                given.from_environment.retain(|from| *from != name);
            }
        }
        given
    }
}

/// The checked configuration: the only one that the rest of the program sees.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// The file that was read; none when it does not exist.
    pub file: Option<PathBuf>,
    /// Where the file is, or would be.
    #[serde(skip)]
    pub place: PathBuf,
    /// What the person is to be told of it, one line each.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Folder with the components; an empty path is none.
    pub plugins: Setting<PathBuf>,
    /// Where the components of this person lie: the folder above, unless another one is named or near.
    #[serde(skip)]
    pub own_plugins: PathBuf,
    /// Model as `PROVIDER[:MODEL]`.
    pub model: Setting<String>,
    /// Address of the model's provider, when it is not the usual one.
    pub base_url: Setting<Option<String>>,
    /// Environment variable with the key of the model's provider, when it is not the usual one.
    pub api_key_env: Setting<Option<String>>,
    /// Providers, prices and bounds of model calls, with the two settings above in their place.
    #[serde(skip)]
    pub models: ModelSettings,
    /// Joined to the guidance of every question; that of a thread comes after it.
    pub system_prompt: Setting<Option<SystemPromptOverride>>,
    /// Templates that system prompts may name, by tag, and the one in use where none is named.
    pub system_prompts: Setting<SystemPromptsRegistry>,
    /// Who the agent is, where a thread does not say.
    pub persona: Setting<AgentPersona>,
    /// Parameters of every model call, such as `temperature`.
    pub params: Setting<JsonObject>,
    /// Texts that replace those of the agent's prompts, by name.
    pub prompts: Setting<BTreeMap<String, String>>,
    /// Database of threads and runs; with an empty path they are in memory.
    pub database: Setting<PathBuf>,
    /// Private directory of compiled code; with an empty path none is kept.
    pub cache: Setting<PathBuf>,
    /// Sandbox threads; none means one for each processor.
    pub workers: Setting<Option<usize>>,
    /// Take instances from a pool where the machine allows it.
    pub pooling: Setting<bool>,
    /// The program that compiles components; without one the host compiles them itself.
    #[serde(skip)]
    pub compiler: Option<CompilerProgram>,
    /// How long that program may work at one start; none means as long as it takes, also on what was put off before.
    #[serde(skip)]
    pub compile_time: Option<Duration>,
    /// How many calls of tools there may be at a time, and what each may use.
    pub tools: Setting<ToolSettings>,
    /// How hard a run may try.
    pub execution: Setting<ExecutionConfig>,
}

/// More sandbox threads than this gain nothing on any machine.
const MAX_WORKERS: usize = 256;

/// Sandbox threads, each of which reserves memory of its own.
fn checked_workers(workers: usize) -> Result<usize, ConfigError> {
    within("sandbox.workers", workers as u64, 1, MAX_WORKERS as u64).map(|()| workers)
}

fn within(setting: &str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::OutOfBounds {
        setting: setting.to_owned(),
        value,
        least,
        most,
    })
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("failed to parse `{path}` (hint: `art config --help` lists every key)")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Cause, with the line.
        #[source]
        source: Mistake,
    },
    /// A flag changes a provider, and the model has none that could be changed.
    #[error("`{flag}` changes the provider of a model, and `embedded` has none (hint: add `--model compatible:MODEL`)")]
    NoProvider {
        /// The flag.
        flag: &'static str,
    },
    /// What should name an environment variable does not; it may be the key itself, so it is not shown.
    #[error("`{setting}` takes the name of an environment variable (letters, digits and `_`), not the key itself")]
    NoVariable {
        /// The setting.
        setting: &'static str,
    },
    /// A text of `[prompts]` would replace nothing.
    #[error("`[prompts]` has `{name}`, which no prompt uses; there are `{known}`")]
    UnknownPrompt {
        /// Its name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// `system_prompt` is a table that says no text, or two.
    #[error("`system_prompt` takes either `content` or `tag`, the name of a `[system_prompts.TAG]`")]
    NoSystemPrompt,
    /// `system_prompt` names a template that is not there.
    #[error("`system_prompt` has the tag `{tag}`, and there is no `[system_prompts.{tag}]`")]
    UnknownTag {
        /// The tag.
        tag: String,
    },
    /// Two templates claim to be the default.
    #[error(
        "`[system_prompts.{first}]` and `[system_prompts.{second}]` both have `default = true`; leave it in one of them"
    )]
    TwoDefaultPrompts {
        /// The one that comes first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A number is too small or too large.
    #[error("`{setting}` is `{value}`; it takes {least} to {most}")]
    OutOfBounds {
        /// The setting.
        setting: String,
        /// Its value.
        value: u64,
        /// The smallest that is taken.
        least: u64,
        /// The largest that is taken.
        most: u64,
    },
    /// A table of `[tools]` is for no tool that there can be.
    #[error(
        "`[tools.{name}]` is for no tool: a name has lower-case letters, digits, `_` and `-`, and starts with a letter"
    )]
    NoToolName {
        /// Its name.
        name: String,
    },
    /// What a tool gets by default is more than it may ask for.
    #[error(
        "`tools.{setting}` is `{value}`, more than `tools.max_{setting}`, which is `{ceiling}`; raise that one or lower this one"
    )]
    OverCeiling {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// The ceiling.
        ceiling: u64,
    },
    /// There is no place for state.
    #[error("neither `--home` nor an absolute `HOME` is set, so there is no place for state (hint: pass `--home DIR`)")]
    NoHome,
}

/// What [`Config::load`] reads of the environment.
#[must_use]
pub fn environment() -> BTreeMap<&'static str, OsString> {
    let names = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
    ];
    let set = names
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    set.collect()
}

impl Default for Config {
    /// Asks the embedded model, has no plugins folder, and keeps nothing on disk.
    fn default() -> Self {
        let no_path = || from_file(None, PathBuf::new());
        Self {
            file: None,
            place: PathBuf::new(),
            notes: Vec::new(),
            plugins: no_path(),
            own_plugins: PathBuf::new(),
            model: from_file(None, DEFAULT_MODEL.to_owned()),
            base_url: from_file(None, None),
            api_key_env: from_file(None, None),
            models: ModelSettings::default(),
            system_prompt: from_file(None, None),
            system_prompts: from_file(None, SystemPromptsRegistry::default()),
            persona: from_file(None, AgentPersona::default()),
            params: from_file(None, JsonObject::new()),
            prompts: from_file(None, BTreeMap::new()),
            database: no_path(),
            cache: no_path(),
            workers: from_file(None, None),
            pooling: from_file(None, true),
            compiler: None,
            compile_time: SandboxConfig::default().compile_time,
            tools: from_file(None, ToolSettings::default()),
            execution: from_file(None, ExecutionConfig::default()),
        }
    }
}

impl Config {
    /// The file that remembers what was typed into `art chat`.
    #[must_use]
    pub fn chat_history(&self) -> PathBuf {
        self.database.value.with_file_name("chat_history")
    }

    /// Reads everything and decides.
    ///
    /// # Errors
    /// When the file is unreadable or wrong, there is no place for state, or a provider is changed where none is asked.
    pub fn load(overrides: &Overrides, environment: &BTreeMap<&str, OsString>) -> Result<Self, ConfigError> {
        let overrides = &mut overrides.without_blanks();
        let directories = directories(overrides, environment)?;
        let path = directories.config.join("art.toml");
        let file = file::read_file(&path)?;
        let found = file.is_some().then(|| path.clone());
        let file = file.unwrap_or_default();
        // A relative path in the file counts from the file.
        let plugins = file.plugins.map(|plugins| directories.config.join(plugins));
        let model = pick("model", overrides, overrides.model.clone(), file.model, || {
            DEFAULT_MODEL.to_owned()
        });
        let given = ModelSettings {
            providers: file.providers,
            prices: file.prices,
            limits: file.models,
        };
        let note = models::forget_foreign(overrides, &model, &given);
        let models = models::settings(overrides, &model.value, given, &directories.config)?;
        let templates = file.system_prompts.map(registry).transpose()?;
        let system_prompt = file.system_prompt.map(SystemPromptOverride::from);
        check_system_prompt(system_prompt.as_ref(), templates.as_ref())?;
        let from_state = |name: &str| placed(directories.state.join(name), &directories);
        Ok(Self {
            file: found,
            place: path,
            notes: note.into_iter().collect(),
            plugins: pick("plugins", overrides, overrides.plugins.clone(), plugins, || {
                default_plugins(&directories)
            }),
            own_plugins: directories.own_plugins(),
            model,
            base_url: given_only("base_url", overrides, overrides.base_url.clone()),
            api_key_env: given_only("api_key_env", overrides, overrides.api_key_env.clone()),
            models,
            system_prompt: from_file(system_prompt.map(Some), None),
            system_prompts: from_file(templates, SystemPromptsRegistry::default()),
            persona: from_file(file.persona.map(AgentPersona::from), AgentPersona::default()),
            params: from_file(file.params, JsonObject::new()),
            prompts: from_file(file.prompts.map(known_prompts).transpose()?, BTreeMap::new()),
            database: from_state("art.db"),
            cache: placed(directories.cache.join("code"), &directories),
            workers: from_file(file.sandbox.workers.map(checked_workers).transpose()?.map(Some), None),
            pooling: from_file(file.sandbox.pooling, true),
            compiler: None,
            compile_time: SandboxConfig::default().compile_time,
            tools: from_file(
                file.tools.map(ToolSettings::checked).transpose()?,
                ToolSettings::default(),
            ),
            execution: from_file(
                file.execution
                    .map(|execution| execution.apply(ExecutionConfig::default())),
                ExecutionConfig::default(),
            ),
        })
    }
}

/// Refuses a system prompt that would say nothing, or not what it seems to.
///
/// # Errors
/// When it has neither or both of a text and a tag, or its tag is not among `templates`.
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
        _ => Err(ConfigError::NoSystemPrompt),
    }
}

/// Builds the registry of templates. Fails with [`ConfigError::TwoDefaultPrompts`] when two claim to be the default.
fn registry(templates: BTreeMap<String, file::Template>) -> Result<SystemPromptsRegistry, ConfigError> {
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

/// Refuses a text that no prompt uses.
fn known_prompts(prompts: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ConfigError> {
    let none = BTreeMap::new();
    let known = PromptManager::new(&none).names();
    match prompts.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(ConfigError::UnknownPrompt {
            name: name.clone(),
            known: known.join("`, `"),
        }),
        None => Ok(prompts),
    }
}

const fn placed(value: PathBuf, directories: &directories::Directories) -> Setting<PathBuf> {
    Setting {
        value,
        origin: directories.origin,
    }
}

/// A value that only the command line and the environment have.
fn given_only(name: &'static str, overrides: &Overrides, given: Option<String>) -> Setting<Option<String>> {
    pick(name, overrides, given.map(Some), None, || None)
}

fn pick<T>(
    name: &'static str,
    overrides: &Overrides,
    given: Option<T>,
    file: Option<T>,
    default: impl FnOnce() -> T,
) -> Setting<T> {
    match (given, file) {
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
        (None, None) => Setting {
            value: default(),
            origin: Origin::Default,
        },
    }
}

fn from_file<T>(file: Option<T>, default: T) -> Setting<T> {
    match file {
        Some(value) => Setting {
            value,
            origin: Origin::File,
        },
        None => Setting {
            value: default,
            origin: Origin::Default,
        },
    }
}

#[cfg(test)]
mod tests;
