//! A message for people for each error code: what failed and what to do about it (contract C84).

use super::{ErrorCode, ModelErrorCode, ToolErrorCode};

/// Details of a failed model call or run, in addition to its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorContext {
    /// Name of the provider.
    pub provider: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Number of seconds after which the provider accepts another call.
    pub retry_after_seconds: Option<u64>,
}

impl ErrorContext {
    fn provider_phrase(&self) -> String {
        noun_with_name("provider", self.provider.as_deref())
    }

    fn model_phrase(&self) -> String {
        noun_with_name("model", self.model.as_deref())
    }

    /// Returns the time of the next attempt, such as `in 3 seconds`.
    fn retry_time(&self) -> String {
        match self.retry_after_seconds {
            Some(1) => "in 1 second".to_owned(),
            Some(seconds) => format!("in {seconds} seconds"),
            None => "in a while".to_owned(),
        }
    }
}

/// Returns the noun and the name, such as ``the provider `openai` ``, or only `the provider` if there is no name.
fn noun_with_name(noun: &str, name: Option<&str>) -> String {
    name.map_or_else(|| format!("the {noun}"), |name| format!("the {noun} `{name}`"))
}

impl ModelErrorCode {
    /// Returns the message for people about a failed model call.
    #[must_use]
    pub fn user_message(self, context: &ErrorContext) -> String {
        let (provider, model, when) = (context.provider_phrase(), context.model_phrase(), context.retry_time());
        let text = match self {
            Self::ProviderNotConfigured => {
                format!("{provider} is not set up; give it a key or an address in the configuration")
            }
            Self::ProviderNotSupported => format!("{provider} is not supported; choose another one"),
            Self::AuthenticationError => {
                format!("{provider} refused the key; check that it is set and still valid")
            }
            Self::RateLimited => format!("{provider} is too busy; try again {when}"),
            Self::ModelNotFound => match &context.model {
                Some(name) => format!("{provider} has no model `{name}`; check its name"),
                None => format!("{provider} has no such model; check its name"),
            },
            Self::ContextLengthExceeded => {
                format!("the request is too long for {model}; ask for less, or use a model with a larger context")
            }
            Self::NetworkError => format!("{provider} could not be reached; check the network and try again"),
            Self::Timeout => format!("{provider} did not answer in time; try again {when}"),
            Self::InvalidResponse => {
                format!("{provider} gave an answer that cannot be read; try again, or use another model")
            }
            Self::ToolsNotSupported => {
                format!("{model} takes no function calls; set `tools = false` for it, or use another model")
            }
            Self::Unknown => format!("the call of {model} failed; try again {when}"),
        };
        sentence(&text)
    }
}

impl ToolErrorCode {
    /// Returns the message for people about a failed tool call.
    #[must_use]
    pub fn user_message(self) -> String {
        let text = match self {
            Self::ValidationError => {
                "the tool was called with arguments that it does not accept; say more exactly what you want"
            }
            Self::IoError => "the tool could not read or write what it needs; check that it is there, and try again",
            Self::ConfigError => "the tool is not set up correctly; check its settings",
            Self::PermissionDenied => "the tool may not do this; grant it the right if it should",
            Self::RateLimited => "the service that the tool uses is too busy; try again in a while",
            Self::NotFound => "the tool did not find what was asked for; check the name",
            Self::LlmAssistRequired => "the tool needs a better question; say more exactly what you want",
            Self::Timeout => {
                "the tool took too long; ask for less, or allow it more time (`timeout_ms` in `[tools.NAME]` of art.toml)"
            }
            Self::Unknown => "the tool failed for a reason that it did not name; see the log of the run",
            Self::ToolDisabled => "the tool is not enabled for this conversation; enable it first",
            Self::ToolNotFound => "there is no such tool; see which ones are installed",
            Self::Busy => "too many calls are waiting; try again in a while",
            Self::FuelExhausted => {
                "the tool computed for too long; ask for less, or allow it more fuel (`fuel` in `[tools.NAME]` of art.toml)"
            }
            Self::MemoryExhausted => {
                "the tool needed too much memory; ask for less, or allow it more (`memory_bytes` in `[tools.NAME]` of art.toml)"
            }
            Self::StackOverflow => {
                "the tool recursed too deeply: its stack has a fixed size, which no setting changes; report this to its author"
            }
            Self::Trap => "the tool crashed; report this to its author",
            Self::InvalidOutput => {
                "the tool returned a result that is too large or violates its own schema; ask for less, or report this to its author"
            }
            Self::Cancelled => "the call was cancelled; ask again if it is still wanted",
            Self::HostError => "the host could not run the tool; see the log of the run",
            Self::UnknownOutcome => {
                "the host stopped while the tool ran; find out whether it took effect before you ask again"
            }
            Self::NotImplemented => "the tool asked for something that this host cannot do yet; use another tool",
        };
        sentence(text)
    }
}

impl ErrorCode {
    /// Returns the message for people about a failed run.
    #[must_use]
    pub fn user_message(self, context: &ErrorContext) -> String {
        let (provider, when) = (context.provider_phrase(), context.retry_time());
        let text = match self {
            Self::InvalidConfig => "the configuration cannot be used; correct what the error names".to_owned(),
            Self::StorageError => "the store could not be read or written; check its disk and try again".to_owned(),
            Self::ThreadNotFound => "there is no such conversation; check its identifier or begin a new one".to_owned(),
            Self::LlmProviderError => format!("{provider} failed; try again {when}, or use another model"),
            Self::PromptGenerationFailed => {
                "the question for the model could not be written; report this with the log of the run".to_owned()
            }
            Self::PromptAssemblyFailed => {
                "the parts of a prompt do not fit together; correct the prompt that the error names".to_owned()
            }
            Self::PromptFragmentNotFound => {
                "a prompt names a fragment that does not exist; correct its name".to_owned()
            }
            Self::PromptValidationFailed => {
                "a prompt breaks the rules of its form; correct what the error names".to_owned()
            }
            Self::PromptTranslationFailed => {
                format!("the prompt cannot be written in the form of {provider}; use another model")
            }
            Self::OutputParsingFailed => {
                "the model's answer could not be read; try again, or use another model".to_owned()
            }
            Self::PlanningFailed => {
                "no plan could be made for the question; put it in other words, or use another model".to_owned()
            }
            Self::ToolExecutionFailed => "a tool that was needed failed; see what it says, and try again".to_owned(),
            Self::SynthesisFailed => {
                "the answer could not be written, though the steps were worked on; see their results, or ask again"
                    .to_owned()
            }
            Self::AgentProcessingError => {
                "the run failed on its way; try again, and report it with the log if it fails again".to_owned()
            }
            Self::NotImplemented => "this host cannot do that yet; ask for it in another way".to_owned(),
            Self::Cancelled => "the run was cancelled; ask again if the answer is still wanted".to_owned(),
            Self::UnknownError => {
                "something failed that was not foreseen; report it with the log of the run".to_owned()
            }
        };
        sentence(&text)
    }
}

/// Returns `text` with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

#[cfg(test)]
mod tests;
