//! Compares the JSON of the contract types, which `host/CONTRACTS.md` describes under "Data", with golden documents.
//!
//! A document in `golden/` has all keys of its type, in the order in which they are written. If some keys of a type exclude each
//! other, the type has several documents. The table of [`contracts`] says which keys are required, and which optional keys have a
//! default. Below the table are tests of what it cannot express.
#![expect(clippy::unwrap_used, reason = "a document that cannot be read fails its test")]

use std::fmt::Debug;

use art_core::agent::*;
use art_core::conversation::*;
use art_core::error::*;
use art_core::hitl::*;
use art_core::limits::*;
use art_core::observation::*;
use art_core::outcome::{LogLevel, Suspension};
use art_core::pes::*;
use art_core::prompt::*;
use art_core::provider::*;
use art_core::stream::*;
use art_core::tool::*;
use art_core::usage::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A contract type, its golden document and the rules of its keys.
struct Contract {
    /// Name of the document.
    name: &'static str,
    /// The document.
    golden: Value,
    /// Required keys.
    required: &'static [&'static str],
    /// Optional keys with a default, which a round trip adds for an absent key. All other absent keys stay absent.
    defaults: Value,
    /// Whether an unknown key is an error.
    strict: bool,
    /// Parses a document and serialises it.
    round_trip_fn: fn(&Value) -> serde_json::Result<String>,
}

impl Contract {
    /// Marks that unknown keys are errors.
    fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Returns `document` after it was parsed and serialised, which must succeed.
    fn expect_round_trip(&self, document: &Value) -> String {
        let written = (self.round_trip_fn)(document);
        assert!(written.is_ok(), "{}: {written:?} for {document:#}", self.name);
        written.unwrap()
    }

    /// Returns the golden document without `key`.
    fn without(&self, key: &str) -> Value {
        let mut document = self.golden.clone();
        document.as_object_mut().unwrap().shift_remove(key);
        document
    }

    /// Returns what [`without`](Self::without) must become in a round trip: `key` stays absent or gets its default.
    fn expected_without(&self, key: &str) -> Value {
        let Some(default) = self.defaults.get(key) else {
            return self.without(key);
        };
        let mut document = self.golden.clone();
        document
            .as_object_mut()
            .unwrap()
            .insert(key.to_owned(), default.clone());
        document
    }
}

/// Creates the contract of the type `T`. The first argument is the name and the text of its document.
fn contract<T: Serialize + DeserializeOwned>(
    (name, text): (&'static str, &str),
    required: &'static [&'static str],
    defaults: Value,
) -> Contract {
    Contract {
        name,
        golden: serde_json::from_str(text).unwrap(),
        required,
        defaults,
        strict: false,
        round_trip_fn: round_trip::<T>,
    }
}

/// Parses a document as `T` and serialises it.
fn round_trip<T: Serialize + DeserializeOwned>(document: &Value) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&serde_json::from_str::<T>(&document.to_string())?)
}

fn parse<T: DeserializeOwned>(document: Value) -> serde_json::Result<T> {
    serde_json::from_value(document)
}

fn pretty(document: &Value) -> String {
    format!("{document:#}")
}

/// Name and text of a document in `golden/`.
macro_rules! golden {
    ($name:literal) => {
        ($name, include_str!(concat!("golden/", $name, ".json")))
    };
}

/// Returns the contracts of tools, their results, and questions to a person.
fn tools_and_questions() -> Vec<Contract> {
    let result_keys = &["callId", "toolName", "status"];
    let schema_keys = &["name", "description", "inputSchema"];
    let form_defaults = json!({
        "confirmLabel": "Approve", "cancelLabel": "Reject", "allowModifyArgs": false, "sensitive": false,
    });
    let blocking_defaults = json!({"completesOnApproval": true, "allowRetryOnReject": true});
    let display_defaults = json!({"displayMode": "persistent", "interactive": false});
    vec![
        contract::<ToolSchema>(
            golden!("tool_schema"),
            schema_keys,
            json!({"executionMode": "functional"}),
        ),
        contract::<BlockingToolConfig>(golden!("blocking_tool_config"), &[], blocking_defaults),
        contract::<DisplayToolConfig>(golden!("display_tool_config"), &[], display_defaults),
        contract::<ParsedToolCall>(
            golden!("parsed_tool_call"),
            &["callId", "toolName", "arguments"],
            json!({}),
        ),
        contract::<ToolResult>(golden!("tool_result_success"), result_keys, json!({})),
        contract::<ToolResult>(golden!("tool_result_error"), result_keys, json!({})),
        contract::<ToolResult>(golden!("tool_result_suspended"), result_keys, json!({})),
        contract::<ExecutionContext>(
            golden!("execution_context"),
            &["threadId", "traceId", "callId"],
            json!({}),
        ),
        contract::<HitlContext>(golden!("hitl_context"), &["isResuming"], json!({})),
        contract::<FeedbackSchema>(golden!("feedback_schema"), &["inputType", "prompt"], form_defaults),
        contract::<SelectOption>(golden!("select_option"), &["value", "label"], json!({})),
        contract::<InputValidation>(golden!("input_validation"), &[], json!({})),
        contract::<Feedback>(golden!("feedback"), &["approved", "timestamp"], json!({})),
        contract::<Suspension>(golden!("suspension"), &["message"], json!({})),
    ]
}

/// Returns the contracts of prompts, streams and providers.
fn prompts_and_models() -> Vec<Contract> {
    let message_keys = &["messageId", "threadId", "role", "content", "timestamp"];
    let observation_keys = &["id", "sequence", "timestamp", "title", "threadId", "type", "content"];
    let result_keys = &["role", "content", "tool_call_id"];
    vec![
        contract::<Message>(golden!("message_assistant"), &["role", "content"], json!({})).strict(),
        contract::<Message>(golden!("message_tool_result"), result_keys, json!({})).strict(),
        contract::<ToolCallRequest>(golden!("tool_call_request"), &["id", "type", "function"], json!({})).strict(),
        contract::<FunctionCall>(golden!("function_call"), &["name", "arguments"], json!({})).strict(),
        contract::<SystemPromptOverride>(golden!("system_prompt_override"), &[], json!({})),
        contract::<SystemPromptSpec>(golden!("system_prompt_spec"), &["template"], json!({})),
        contract::<SystemPromptsRegistry>(golden!("system_prompts_registry"), &[], json!({"specs": {}})),
        contract::<AgentPersona>(golden!("agent_persona"), &[], json!({})),
        contract::<ConversationMessage>(golden!("conversation_message"), message_keys, json!({})),
        contract::<Observation>(golden!("observation"), observation_keys, json!({})),
        contract::<ModelRequest>(golden!("model_request"), &["prompt", "phase"], json!({})),
        contract::<StreamEnvelope>(
            golden!("stream_envelope"),
            &["type", "data", "threadId", "traceId"],
            json!({}),
        ),
        contract::<RuntimeProviderConfig>(
            golden!("runtime_provider_config"),
            &["providerName", "modelId"],
            json!({}),
        ),
    ]
}

/// Returns the contracts of a run: its query, its settings, its state and its final response.
fn runs() -> Vec<Contract> {
    let metadata_keys = &[
        "threadId",
        "traceId",
        "status",
        "totalDurationMs",
        "llmCalls",
        "toolCalls",
        "tokens",
        "usage",
    ];
    // TAEF, the "tool-aware execution framework", makes a step call its required tools. A2A ("agent to agent") delegation would
    // hand steps to other agents.
    let config_defaults = json!({
        "maxIterations": 5, "taefMaxRetries": 2, "toolResultMaxLength": 60000, "enableA2ADelegation": false,
        "maxItems": 20, "maxParallelItems": 4, "maxToolCalls": 64, "maxModelCalls": 120, "planRepairs": 2,
        "maxShownTools": 16,
    });
    let thread_defaults = json!({"enabledTools": [], "historyLimit": 0});
    vec![
        contract::<AgentProps>(golden!("agent_props"), &["query", "threadId"], json!({})),
        contract::<ExecutionConfig>(golden!("execution_config"), &[], config_defaults).strict(),
        contract::<ExecutionOverrides>(golden!("execution_overrides"), &[], json!({})).strict(),
        contract::<ThreadConfig>(golden!("thread_config"), &[], thread_defaults),
        contract::<AgentState>(golden!("agent_state"), &["data", "version", "modified"], json!({})),
        contract::<AgentFinalResponse>(golden!("agent_final_response"), &["response", "metadata"], json!({})),
        contract::<ExecutionMetadata>(golden!("execution_metadata"), metadata_keys, json!({})),
    ]
}

/// Returns the contracts of plans and their changes.
fn plans() -> Vec<Contract> {
    let item_defaults = json!({"status": "pending", "createdTimestamp": 0, "updatedTimestamp": 0});
    let state_defaults = json!({
        "threadId": "", "intent": "", "title": "", "plan": "", "todoList": [], "currentStepId": null,
        "isPaused": false, "stepOutputs": {},
    });
    let changes_keys = &["timestamp", "changes", "added", "modified", "removed"];
    // PES stands for "plan, execute, synthesize", the phases of a run.
    vec![
        contract::<TodoItem>(golden!("todo_item"), &["id", "description"], item_defaults),
        contract::<StepOutputEntry>(
            golden!("step_output_entry"),
            &["stepId", "description", "status"],
            json!({}),
        ),
        contract::<PesAgentStateData>(golden!("pes_agent_state_data"), &[], state_defaults),
        contract::<TodoItemChange>(golden!("todo_item_change"), &["type", "itemId", "timestamp"], json!({})),
        contract::<TodoListChanges>(golden!("todo_list_changes"), changes_keys, json!({})),
    ]
}

/// Returns the contracts of errors, usage and limits.
fn errors_and_usage() -> Vec<Contract> {
    let token_defaults = json!({"promptTokens": 0, "completionTokens": 0, "totalTokens": 0});
    let usage_defaults = json!({
        "fuel": 0, "peakMemoryBytes": 0, "wallUs": 0, "cpuUs": 0, "bytesIn": 0, "bytesOut": 0, "hostCalls": 0,
    });
    vec![
        contract::<ArtError>(golden!("art_error"), &["code", "message", "phase"], json!({})),
        contract::<ModelError>(golden!("model_error"), &["error", "message"], json!({})),
        contract::<TokenUsage>(golden!("token_usage"), &[], token_defaults),
        contract::<ToolUsage>(golden!("usage"), &[], usage_defaults),
        contract::<LimitOverrides>(golden!("limit_overrides"), &[], json!({})).strict(),
    ]
}

/// Returns the table: the contract of each document that has keys.
fn contracts() -> Vec<Contract> {
    [
        tools_and_questions(),
        prompts_and_models(),
        runs(),
        plans(),
        errors_and_usage(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_document_is_unchanged_after_a_round_trip() {
    for contract in contracts() {
        assert_eq!(
            contract.expect_round_trip(&contract.golden),
            pretty(&contract.golden),
            "{}",
            contract.name
        );
    }
}

#[test]
fn the_error_for_a_missing_required_key_names_the_key() {
    for contract in contracts() {
        for key in contract.required {
            let error = (contract.round_trip_fn)(&contract.without(key))
                .unwrap_err()
                .to_string();
            assert!(error.contains(&format!("`{key}`")), "{}: {error}", contract.name);
        }
    }
}

#[test]
fn an_absent_optional_key_stays_absent_or_has_its_default() {
    for contract in contracts() {
        let keys = contract.golden.as_object().unwrap().keys();
        for key in keys.filter(|key| !contract.required.contains(&key.as_str())) {
            let written = contract.expect_round_trip(&contract.without(key));
            assert_eq!(
                written,
                pretty(&contract.expected_without(key)),
                "{} without `{key}`",
                contract.name
            );
        }
    }
}

#[test]
fn only_strict_contracts_refuse_unknown_keys() {
    for contract in contracts() {
        let mut document = contract.golden.clone();
        document["notAKey"] = json!({});
        assert_eq!(
            (contract.round_trip_fn)(&document).is_err(),
            contract.strict,
            "{}",
            contract.name
        );
    }
}

#[test]
fn every_document_is_tested() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let file_name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(file_name).collect();
    let mut tested: Vec<_> = contracts()
        .iter()
        .map(|contract| format!("{}.json", contract.name))
        .collect();
    // A prompt is an array without keys, so it is tested on its own below.
    tested.push("prompt.json".to_owned());
    files.sort_unstable();
    tested.sort_unstable();
    assert_eq!(files, tested);
}

/// Asserts that each of `names`, separated by spaces, is the wire name of a value of `T`, and that the same name in the
/// other letter case is not.
fn assert_wire_names<T: Serialize + DeserializeOwned + Debug>(names: &str) {
    for name in names.split_whitespace() {
        assert_eq!(
            serde_json::to_value(parse::<T>(json!(name)).unwrap()).unwrap(),
            json!(name)
        );
        let other_case = match name.to_uppercase() {
            upper if upper == name => name.to_lowercase(),
            upper => upper,
        };
        parse::<T>(json!(other_case)).unwrap_err();
    }
    parse::<T>(json!("not_a_name")).unwrap_err();
}

#[test]
fn enums_of_tools_and_questions_have_the_wire_names_of_the_contract() {
    assert_wire_names::<ExecutionMode>("functional blocking display");
    assert_wire_names::<ToolStatus>("success error suspended");
    assert_wire_names::<RiskLevel>("low medium high critical");
    assert_wire_names::<DisplayMode>("persistent ephemeral modal");
    assert_wire_names::<InputType>("boolean text select multiselect number date datetime file confirm custom");
    assert_wire_names::<LogLevel>("trace debug info warn error");
}

#[test]
fn enums_of_messages_and_observations_have_the_wire_names_of_the_contract() {
    assert_wire_names::<Role>("system user assistant tool_request tool_result");
    assert_wire_names::<FunctionKind>("function");
    assert_wire_names::<MergeStrategy>("append prepend");
    assert_wire_names::<MessageRole>("USER AI SYSTEM TOOL");
    assert_wire_names::<Phase>("planning execution synthesis");
    assert_wire_names::<ModelCapability>("text vision streaming tool_use rag code reasoning");
    assert_wire_names::<ObservationType>(
        "INTENT TITLE PLAN THOUGHTS TOOL_CALL TOOL_EXECUTION SYNTHESIS ERROR FINAL_RESPONSE STATE_UPDATE PLAN_UPDATE \
         ITEM_STATUS_CHANGE AGENT_SUSPENDED AGENT_RESUMED SUSPENSION_TIMEOUT LLM_STREAM_START LLM_STREAM_METADATA \
         LLM_STREAM_END LLM_STREAM_ERROR",
    );
}

#[test]
fn enums_of_runs_and_plans_have_the_wire_names_of_the_contract() {
    assert_wire_names::<RunStatus>("success error partial suspended cancelled");
    assert_wire_names::<TodoItemStatus>("pending in_progress completed failed cancelled waiting");
    assert_wire_names::<StepType>("tool reasoning");
    assert_wire_names::<ToolValidationMode>("strict advisory");
    assert_wire_names::<ValidationStatus>("passed failed skipped");
    assert_wire_names::<TodoItemChangeType>("added modified removed");
}

#[test]
fn errors_have_the_codes_of_the_contract() {
    assert_wire_names::<ToolErrorCode>(
        "VALIDATION_ERROR IO_ERROR CONFIG_ERROR PERMISSION_DENIED RATE_LIMITED NOT_FOUND LLM_ASSIST_REQUIRED TIMEOUT \
         UNKNOWN TOOL_DISABLED TOOL_NOT_FOUND NOT_IMPLEMENTED",
    );
    assert_wire_names::<ModelErrorCode>(
        "PROVIDER_NOT_CONFIGURED PROVIDER_NOT_SUPPORTED AUTHENTICATION_ERROR RATE_LIMITED MODEL_NOT_FOUND \
         CONTEXT_LENGTH_EXCEEDED NETWORK_ERROR TIMEOUT INVALID_RESPONSE UNKNOWN",
    );
    assert_wire_names::<ErrorCode>(
        "INVALID_CONFIG STORAGE_ERROR THREAD_NOT_FOUND LLM_PROVIDER_ERROR PROMPT_GENERATION_FAILED \
         PROMPT_ASSEMBLY_FAILED PROMPT_FRAGMENT_NOT_FOUND PROMPT_VALIDATION_FAILED PROMPT_TRANSLATION_FAILED \
         OUTPUT_PARSING_FAILED PLANNING_FAILED TOOL_EXECUTION_FAILED SYNTHESIS_FAILED AGENT_PROCESSING_ERROR NOT_IMPLEMENTED UNKNOWN_ERROR",
    );
}

#[test]
fn only_three_model_errors_are_retryable() {
    use ModelErrorCode as Code;
    let codes = [
        (Code::ProviderNotConfigured, false),
        (Code::ProviderNotSupported, false),
        (Code::AuthenticationError, false),
        (Code::RateLimited, true),
        (Code::ModelNotFound, false),
        (Code::ContextLengthExceeded, false),
        (Code::NetworkError, true),
        (Code::Timeout, true),
        (Code::InvalidResponse, false),
        (Code::ToolsNotSupported, false),
        (Code::Unknown, false),
    ];
    for (code, retryable) in codes {
        assert_eq!(code.is_retryable(), retryable, "{code:?}");
    }
}

#[test]
fn immediate_is_an_older_name_of_functional() {
    assert_eq!(
        parse::<ExecutionMode>(json!("immediate")).unwrap(),
        ExecutionMode::Functional
    );
}

#[test]
fn execution_is_an_older_name_of_execution_config() {
    let config: ThreadConfig = parse(json!({"execution": {"maxIterations": 9}})).unwrap();
    assert_eq!(config.execution_config.unwrap().max_iterations, Some(9));
}

#[test]
fn a_model_error_may_have_its_code_under_the_key_code_instead_of_error() {
    let error: ModelError = parse(json!({"code": "TIMEOUT", "message": "too slow"})).unwrap();
    assert_eq!(error.code, ModelErrorCode::Timeout);
}

#[test]
fn the_error_for_enabled_delegation_names_the_key() {
    let error = parse::<ExecutionConfig>(json!({"enableA2ADelegation": true})).unwrap_err();
    assert!(
        error.to_string().contains("`enableA2ADelegation` can only be `false`"),
        "{error}"
    );
}

#[test]
fn an_output_of_null_is_not_an_absent_output() {
    let documents = [
        (
            round_trip::<ToolResult> as fn(&Value) -> _,
            json!({"callId": "c", "toolName": "t", "status": "success", "output": null}),
        ),
        (round_trip::<ToolExample>, json!({"input": {}, "output": null})),
        (
            round_trip::<StepOutputEntry>,
            json!({"stepId": "a", "description": "d", "status": "completed", "rawResult": null}),
        ),
    ];
    for (round_trip, document) in documents {
        assert_eq!(round_trip(&document).unwrap(), pretty(&document));
    }
    let item: TodoItem = parse(json!({"id": "a", "description": "d", "result": null})).unwrap();
    assert_eq!(item.result, Some(Value::Null.into()));
}

#[test]
fn the_first_of_value_text_input_and_selected_values_is_the_answer_of_a_person() {
    let answer = |fields: Value| {
        let mut document = json!({"approved": true, "timestamp": 1});
        document
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        parse::<Feedback>(document).unwrap().answer()
    };
    assert_eq!(
        answer(json!({"value": 1, "textInput": "t", "selectedValues": ["s"]})),
        Some(json!(1))
    );
    assert_eq!(
        answer(json!({"textInput": "t", "selectedValues": ["s"]})),
        Some(json!("t"))
    );
    assert_eq!(answer(json!({"selectedValues": ["s", 2]})), Some(json!(["s", 2])));
    assert_eq!(answer(json!({})), None);
}

#[test]
fn a_prompt_is_unchanged_after_a_round_trip() {
    let golden: Value = serde_json::from_str(golden!("prompt").1).unwrap();
    assert_eq!(round_trip::<ArtStandardPrompt>(&golden).unwrap(), pretty(&golden));
}

#[test]
fn the_role_tool_is_written_as_tool_result() {
    let message: Message = parse(json!({"role": "tool", "content": "1", "tool_call_id": "c"})).unwrap();
    assert_eq!(serde_json::to_value(message).unwrap()["role"], "tool_result");
}

#[test]
fn an_invalid_message_is_refused_with_the_reason() {
    let refused = [
        (
            json!({"role": "system", "content": null}),
            "`system` or `user` message is not text",
        ),
        (
            json!({"role": "user", "content": {"text": "hello"}}),
            "`system` or `user` message is not text",
        ),
        (
            json!({"role": "assistant", "content": {"text": "hello"}}),
            "neither text nor null",
        ),
        (json!({"role": "tool", "content": "1"}), "no `tool_call_id`"),
        (json!({"role": "tool_result", "content": "1"}), "no `tool_call_id`"),
        (
            json!({"role": "developer", "content": "hello"}),
            "unknown variant `developer`",
        ),
        (
            json!({"role": "user", "content": "hello", "toolCalls": []}),
            "unknown field `toolCalls`",
        ),
    ];
    for (message, reason) in refused {
        let error = parse::<ArtStandardPrompt>(json!([message])).unwrap_err().to_string();
        assert!(error.contains(reason), "{message}: {error}");
    }
}

#[test]
fn assistant_content_may_be_null_and_tool_request_content_may_be_an_object() {
    let accepted = [
        json!({"role": "assistant", "content": null}),
        json!({"role": "assistant", "content": "text"}),
        json!({"role": "tool_request", "content": {"name": "calculator"}}),
        json!({"role": "tool_request", "content": null}),
    ];
    for message in accepted {
        assert_eq!(round_trip::<Message>(&message).unwrap(), pretty(&message));
    }
}

#[test]
fn a_plain_string_is_a_system_prompt_override() {
    let prompt: SystemPromptOverride = parse(json!("Be brief.")).unwrap();
    assert_eq!(prompt, SystemPromptOverride::Text("Be brief.".to_owned()));
}

#[test]
fn the_default_merge_strategy_is_append() {
    assert_eq!(MergeStrategy::default(), MergeStrategy::Append);
}

#[test]
fn a_persona_with_a_prompt_for_synthesis_only_is_unchanged_after_a_round_trip() {
    let persona = json!({"name": "Ada", "prompts": {"synthesis": "Be brief."}});
    assert_eq!(round_trip::<AgentPersona>(&persona).unwrap(), pretty(&persona));
}

#[test]
fn stream_events_have_the_types_of_the_contract() {
    let events = [
        json!({"type": "TOKEN", "data": "4"}),
        json!({"type": "ERROR", "data": {"error": "TIMEOUT", "message": "too slow"}}),
        json!({"type": "END"}),
    ];
    for event in events {
        assert_eq!(round_trip::<StreamEvent>(&event).unwrap(), pretty(&event));
    }
}

#[test]
fn metadata_of_a_model_call_has_the_keys_of_the_contract() {
    let golden = json!({
        "thinkingTokens": 3, "timeToFirstTokenMs": 20, "totalGenerationTimeMs": 90, "stopReason": "stop",
        "providerRawUsage": {"input": 1},
    });
    let written = serde_json::to_value(parse::<LlmMetadata>(golden.clone()).unwrap()).unwrap();
    for (key, value) in golden.as_object().unwrap() {
        assert_eq!(&written[key], value, "{key}");
    }
}

#[test]
fn the_wire_name_of_an_observation_type_is_in_upper_case() {
    assert_eq!(ObservationType::ToolExecution.wire_name(), "TOOL_EXECUTION");
}
