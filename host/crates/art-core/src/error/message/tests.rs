use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

const MODEL_CODES: &str = "PROVIDER_NOT_CONFIGURED PROVIDER_NOT_SUPPORTED AUTHENTICATION_ERROR RATE_LIMITED MODEL_NOT_FOUND \
                     CONTEXT_LENGTH_EXCEEDED NETWORK_ERROR TIMEOUT INVALID_RESPONSE TOOLS_NOT_SUPPORTED UNKNOWN";
const TOOL_CODES: &str = "VALIDATION_ERROR IO_ERROR CONFIG_ERROR PERMISSION_DENIED RATE_LIMITED NOT_FOUND LLM_ASSIST_REQUIRED \
                    TIMEOUT UNKNOWN TOOL_DISABLED TOOL_NOT_FOUND BUSY FUEL_EXHAUSTED MEMORY_EXHAUSTED STACK_OVERFLOW TRAP \
                    INVALID_OUTPUT CANCELLED HOST_ERROR NOT_IMPLEMENTED UNKNOWN_OUTCOME";
const RUN_CODES: &str = "INVALID_CONFIG STORAGE_ERROR THREAD_NOT_FOUND LLM_PROVIDER_ERROR PROMPT_GENERATION_FAILED \
                   PROMPT_ASSEMBLY_FAILED PROMPT_FRAGMENT_NOT_FOUND PROMPT_VALIDATION_FAILED PROMPT_TRANSLATION_FAILED \
                   OUTPUT_PARSING_FAILED PLANNING_FAILED TOOL_EXECUTION_FAILED SYNTHESIS_FAILED AGENT_PROCESSING_ERROR \
                   NOT_IMPLEMENTED CANCELLED UNKNOWN_ERROR";

fn code<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(json!(name)).unwrap()
}

/// Returns every code with its sentence.
fn sentences(context: &ErrorContext) -> String {
    let model = MODEL_CODES
        .split(' ')
        .map(|name| (name, code::<ModelErrorCode>(name).user_message(context)));
    let tool = TOOL_CODES
        .split(' ')
        .map(|name| (name, code::<ToolErrorCode>(name).user_message()));
    let run = RUN_CODES
        .split(' ')
        .map(|name| (name, code::<ErrorCode>(name).user_message(context)));
    let lines = model
        .chain(tool)
        .chain(run)
        .map(|(name, text)| format!("{name}: {text}"));
    lines.collect::<Vec<_>>().join("\n")
}

// One sentence for every error code (contract A88).
#[test]
fn every_code_has_a_sentence_if_provider_and_model_are_unknown() {
    insta::assert_snapshot!(sentences(&ErrorContext::default()));
}

// One sentence for every error code (contract A88).
#[test]
fn every_code_has_a_sentence_with_provider_model_and_delay() {
    insta::assert_snapshot!(sentences(&ErrorContext {
        provider: Some("acme".to_owned()),
        model: Some("large-1".to_owned()),
        retry_after_seconds: Some(20),
    }));
}

#[test]
fn every_sentence_has_a_hint_after_a_semicolon() {
    for line in sentences(&ErrorContext::default()).lines() {
        let (name, text) = line.split_once(": ").unwrap();
        assert!(
            text.contains(';') && text.ends_with('.') && !text.contains(".."),
            "{name}: {text}"
        );
    }
}
