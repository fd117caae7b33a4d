//! Reads the file `art.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use art_core::JsonObject;
use art_core::agent::ExecutionOverrides;
use art_core::prompt::{AgentPersona, MergeStrategy, StagePrompts, SystemPromptOverride, SystemPromptSpec};
use art_files::{open_regular, read_text, writable_by_others};
use art_model::{EngineLimits, PriceTable, ProviderSettings};
use art_tools::ApprovalPolicy;
use serde::Deserialize;

use super::{ConfigError, ToolSettings};

/// The content of `art.toml`. Unknown keys are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConfigFile {
    pub(super) plugins: Option<PathBuf>,
    pub(super) model: Option<String>,
    pub(super) system_prompt: Option<SystemPrompt>,
    pub(super) system_prompts: Option<BTreeMap<String, SystemPromptTemplate>>,
    pub(super) persona: Option<Persona>,
    pub(super) tell_date: Option<bool>,
    /// Replacements for the built-in texts of the agent's prompts, by their names.
    pub(super) prompts: Option<BTreeMap<String, String>>,
    pub(super) providers: BTreeMap<String, ProviderSettings>,
    pub(super) prices: PriceTable,
    /// The limits of all model calls.
    pub(super) models: EngineLimits,
    pub(super) params: Option<JsonObject>,
    pub(super) sandbox: SandboxTable,
    pub(super) tools: Option<ToolSettings>,
    pub(super) approval: Option<ApprovalPolicy>,
    /// Whether a model may ask the person for information.
    pub(super) ask_person: Option<bool>,
    pub(super) execution: Option<ExecutionOverrides>,
}

/// The table `[sandbox]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SandboxTable {
    pub(super) workers: Option<usize>,
    pub(super) pooling: Option<bool>,
}

/// `system_prompt`: a text, or a table with its settings.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum SystemPrompt {
    Text(String),
    Table(SystemPromptTable),
}

/// The table `[system_prompt]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemPromptTable {
    content: Option<String>,
    tag: Option<String>,
    #[serde(default)]
    variables: JsonObject,
    strategy: Option<MergeStrategy>,
}

/// A table `[system_prompts.TAG]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemPromptTemplate {
    /// Whether this template is used if no system prompt names a template.
    #[serde(default)]
    pub(super) default: bool,
    template: String,
    #[serde(default)]
    variables: JsonObject,
    strategy: Option<MergeStrategy>,
}

/// The table `[persona]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Persona {
    #[serde(default)]
    name: String,
    #[serde(default)]
    prompts: PersonaPrompts,
}

/// The table `[persona.prompts]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PersonaPrompts {
    planning: Option<String>,
    execution: Option<String>,
    synthesis: Option<String>,
}

impl From<SystemPrompt> for SystemPromptOverride {
    fn from(prompt: SystemPrompt) -> Self {
        match prompt {
            SystemPrompt::Text(text) => Self::Text(text),
            SystemPrompt::Table(table) => Self::Detailed {
                tag: table.tag,
                variables: table.variables,
                content: table.content,
                strategy: table.strategy,
            },
        }
    }
}

impl From<SystemPromptTemplate> for SystemPromptSpec {
    fn from(template: SystemPromptTemplate) -> Self {
        Self {
            id: None,
            template: template.template,
            default_variables: template.variables,
            merge_strategy: template.strategy,
        }
    }
}

impl From<Persona> for AgentPersona {
    fn from(persona: Persona) -> Self {
        let PersonaPrompts {
            planning,
            execution,
            synthesis,
        } = persona.prompts;
        Self {
            name: persona.name,
            prompts: StagePrompts {
                planning,
                execution,
                synthesis,
            },
        }
    }
}

/// Maximum size of a configuration file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads `art.toml`; returns `None` if it does not exist.
pub(super) fn read_config_file(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    let opened = open_regular(path).and_then(|file| Ok((file.metadata()?, file)));
    let read = opened.and_then(|(metadata, file)| Ok((writable_by_others(&metadata), read_text(file, MAX_BYTES)?)));
    let text = match read {
        Ok((None, text)) => text,
        Ok((Some(problem), _)) => {
            return Err(ConfigError::NotPrivate {
                path: path.to_owned(),
                problem,
            });
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            });
        }
    };
    let parse_error = |error| ConfigError::Parse {
        path: path.to_owned(),
        source: ParseError::new(&text, &error),
    };
    toml::from_str(&text).map(Some).map_err(parse_error)
}

/// A file with approval rules that are tried out before they are used. It may be a whole `art.toml`, whose other tables are
/// ignored.
#[derive(Debug, Deserialize)]
struct ApprovalFile {
    approval: ApprovalPolicy,
}

/// Reads the table `[approval]` of a file like `art.toml`.
///
/// # Errors
/// Fails if the file cannot be read, has no such table, or the table is invalid.
pub fn read_approval_policy(path: &Path) -> Result<ApprovalPolicy, ConfigError> {
    let read_error = |source| ConfigError::Read {
        path: path.to_owned(),
        source,
    };
    let text = open_regular(path)
        .and_then(|file| read_text(file, MAX_BYTES))
        .map_err(read_error)?;
    let parsed = toml::from_str(&text).map(|file: ApprovalFile| file.approval);
    parsed.map_err(|error| ConfigError::Parse {
        path: path.to_owned(),
        source: ParseError::new(&text, &error),
    })
}

/// An error in the file, with its position. It never contains a string value of the file, because the value may be a secret, such
/// as an API key. (The message of [`toml::de::Error`] quotes the whole line.)
#[derive(Debug, thiserror::Error)]
#[error("{position}{message}")]
pub struct ParseError {
    /// `line 3, column 1: `, or empty if the position is unknown.
    position: String,
    message: String,
}

impl ParseError {
    fn new(text: &str, error: &toml::de::Error) -> Self {
        let text_before = error.span().and_then(|span| text.get(..span.start));
        let position = text_before.map(|text_before| {
            let line = text_before.matches('\n').count() + 1;
            let column = text_before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {line}, column {column}: ")
        });
        Self {
            position: position.unwrap_or_default(),
            message: without_value(error.message()),
        }
    }
}

/// Returns the message without the string value that it quotes. Only the text before the value and the text from `expected` on
/// remain.
fn without_value(message: &str) -> String {
    let prefixes = ["invalid type: string ", "invalid value: string ", "unknown variant "];
    let Some(prefix) = prefixes.into_iter().find(|prefix| message.starts_with(prefix)) else {
        return message.to_owned();
    };
    // The value may contain `expected` as well, so use its last occurrence.
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    let expected = expected.map_or_else(String::new, |expected| format!(", expected {expected}"));
    format!("{}{expected}", prefix.trim_end())
}
