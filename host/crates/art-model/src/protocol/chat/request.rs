//! Encodes requests of the Chat Completions protocol.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use art_core::JsonObject;
use art_core::error::ModelError;
use art_core::prompt::{ArtStandardPrompt, Message, Role};
use art_core::provider::{Media, ModelRequest, ReplyFormat, ToolChoice};
use serde_json::{Value, json};

use super::{PROTOCOL_NAME, Variant};
use crate::protocol::params::Params;
use crate::protocol::turns::{self, Turn, TurnCall};
use crate::protocol::{ProtocolCall, ProtocolRequest, REPLY_SCHEMA_NAME, data_url, input_schema, is_image};

/// Length of a call identifier of Mistral, in characters.
const MISTRAL_ID_LENGTH: usize = 9;
/// Text of the model turn that is inserted between tool results and a user or system turn, because Mistral refuses a user turn
/// directly after tool results.
const TURN_AFTER_RESULTS: &str = "I have the results.";

/// Encodes `call` in a variant of the protocol.
pub(super) fn encode(variant: Variant, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
    // Merge turns for R1 models on Ollama, whose templates do not allow two adjacent turns of one role.
    let merged;
    let call = if variant == Variant::Ollama && is_r1(call.model_id) {
        merged = ModelRequest {
            prompt: merge_turns_of_one_role(&call.request.prompt),
            ..call.request.clone()
        };
        &ProtocolCall {
            request: &merged,
            ..*call
        }
    } else {
        call
    };
    let turns = turns::turns(call, PROTOCOL_NAME);
    let mut body = JsonObject::new();
    body.insert("model".to_owned(), call.model_id.into());
    body.insert("messages".to_owned(), messages(variant, &turns).into());
    add_stream_options(variant, call, &mut body);
    add_params(variant, call, &mut body);
    add_tools(variant, call, &mut body)?;
    add_reply_format(variant, call, &turns, &mut body);
    Params::new(call).add_provider_params(&mut body);
    Ok(ProtocolRequest {
        path: "chat/completions".to_owned(),
        body: body.into(),
    })
}

fn add_stream_options(variant: Variant, call: &ProtocolCall<'_>, body: &mut JsonObject) {
    body.insert("stream".to_owned(), call.stream.into());
    if call.stream && variant.needs_usage_request() {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
}

fn add_params(variant: Variant, call: &ProtocolCall<'_>, body: &mut JsonObject) {
    let params = Params::new(call);
    params.copy("temperature", body, "temperature");
    params.copy("topP", body, "top_p");
    let seed = if variant == Variant::Mistral {
        "random_seed"
    } else {
        "seed"
    };
    params.copy("seed", body, seed);
    if let Some(max) = params.max_tokens() {
        let field = match variant {
            Variant::OpenAi => "max_completion_tokens",
            _ => "max_tokens",
        };
        body.insert(field.to_owned(), max.into());
    }
    if let Some(stop) = params.stop() {
        body.insert("stop".to_owned(), stop.into());
    }
    if let Some(effort) = params.effort() {
        add_effort(variant, effort, body);
    }
}

/// Sets the reasoning effort.
fn add_effort(variant: Variant, effort: &str, body: &mut JsonObject) {
    if variant == Variant::OpenRouter {
        body.insert("reasoning".to_owned(), json!({"effort": effort}));
        return;
    }
    if variant == Variant::DeepSeek {
        let switch = if effort == "none" { "disabled" } else { "enabled" };
        body.insert("thinking".to_owned(), json!({"type": switch}));
        if effort == "none" {
            return;
        }
    }
    body.insert("reasoning_effort".to_owned(), effort.into());
}

fn add_tools(variant: Variant, call: &ProtocolCall<'_>, body: &mut JsonObject) -> Result<(), ModelError> {
    let tools = call.request.tools.iter().map(|tool| {
        let parameters = input_schema(tool)?;
        let function = json!({"name": tool.name, "description": tool.description, "parameters": parameters});
        Ok(json!({"type": "function", "function": function}))
    });
    let tools = tools.collect::<Result<Vec<Value>, ModelError>>()?;
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        body.insert(
            "tool_choice".to_owned(),
            tool_choice(variant, call.request.tool_choice).into(),
        );
    }
    Ok(())
}

/// Returns the name of a tool choice in the terms of the provider. DeepSeek refuses a required call while the model thinks, and
/// the unknown servers of [`Variant::Compatible`] may refuse it too.
const fn tool_choice(variant: Variant, choice: ToolChoice) -> &'static str {
    match (choice, variant) {
        (ToolChoice::None, _) => "none",
        (ToolChoice::Required, Variant::DeepSeek | Variant::Compatible) | (ToolChoice::Auto, _) => "auto",
        (ToolChoice::Required, _) => "required",
    }
}

/// Requests a JSON reply if `call` asks for one and the prompt mentions JSON, but not from Groq and from the unknown servers of
/// [`Variant::Compatible`]. Groq validates the finished reply and returns an error instead of a reply that could be repaired; it
/// also refuses JSON together with tools. Some unknown servers refuse the field.
fn add_reply_format(variant: Variant, call: &ProtocolCall<'_>, turns: &[Turn<'_>], body: &mut JsonObject) {
    let search_system_turns = true;
    let requests_json =
        call.request.reply_format == ReplyFormat::Json && turns::mentions_json(turns, search_system_turns);
    if !requests_json || matches!(variant, Variant::Groq | Variant::Compatible) {
        return;
    }
    let enforces_schemas = matches!(variant, Variant::OpenAi | Variant::Mistral | Variant::Ollama);
    let format = match &call.request.reply_schema {
        Some(schema) if enforces_schemas => {
            json!({"type": "json_schema", "json_schema": {"name": REPLY_SCHEMA_NAME, "strict": true, "schema": schema}})
        }
        _ => json!({"type": "json_object"}),
    };
    body.insert("response_format".to_owned(), format);
}

fn messages(variant: Variant, turns: &[Turn<'_>]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::with_capacity(turns.len());
    for turn in turns {
        let is_after_results = messages.last().is_some_and(|last| last["role"] == "tool");
        if variant == Variant::Mistral && is_after_results && !matches!(turn, Turn::Assistant { .. }) {
            messages.push(json!({"role": "assistant", "content": TURN_AFTER_RESULTS}));
        }
        match turn {
            Turn::System(text) => messages.push(json!({"role": "system", "content": text})),
            Turn::User { text, media } => {
                messages.push(json!({"role": "user", "content": content(variant, text, media)}));
            }
            Turn::Assistant { text, calls, state } => messages.push(assistant_message(variant, text, calls, *state)),
            Turn::Results(results) => messages.extend(results.iter().map(
                |result| json!({"role": "tool", "tool_call_id": accepted_call_id(variant, &result.id), "content": result.text}),
            )),
        }
    }
    messages
}

/// Returns an identifier of a call that the provider accepts: Mistral requires 9 letters and digits. Equal identifiers stay
/// equal, so that results still match their calls.
fn accepted_call_id(variant: Variant, id: &str) -> Cow<'_, str> {
    let is_valid = id.len() == MISTRAL_ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if variant != Variant::Mistral || is_valid {
        return Cow::Borrowed(id);
    }
    let mut hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(id);
    let digits = (0..MISTRAL_ID_LENGTH).filter_map(|_| {
        let digit = u32::try_from(hash % 36).ok()?;
        hash /= 36;
        char::from_digit(digit, 36)
    });
    Cow::Owned(digits.collect())
}

/// Returns the content of a user turn: its text, or a list of parts if there are files that the provider accepts.
fn content(variant: Variant, text: &str, media: &[Media]) -> Value {
    let files: Vec<Value> = media.iter().filter_map(|file| file_part(variant, file)).collect();
    if files.is_empty() {
        return text.into();
    }
    let text_part = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    text_part.into_iter().chain(files).collect()
}

/// Returns a file as a part of the content, or `None` if the provider does not accept its type.
fn file_part(variant: Variant, file: &Media) -> Option<Value> {
    let accepts_pdf = matches!(variant, Variant::OpenAi | Variant::OpenRouter);
    if is_image(file) {
        Some(json!({"type": "image_url", "image_url": {"url": data_url(file)}}))
    } else if file.media_type == "application/pdf" && accepts_pdf {
        Some(json!({"type": "file", "file": {"filename": file.name, "file_data": data_url(file)}}))
    } else {
        None
    }
}

fn assistant_message(variant: Variant, text: &str, calls: &[TurnCall<'_>], state: Option<&Value>) -> Value {
    let mut message = JsonObject::new();
    message.insert("role".to_owned(), "assistant".into());
    let content = if text.is_empty() { Value::Null } else { text.into() };
    message.insert("content".to_owned(), content);
    // `state` has data of the reply that became this turn. The field with this name is sent back.
    let field = match variant {
        Variant::OpenRouter => Some("reasoning_details"),
        _ if variant.expects_reasoning_content() && !calls.is_empty() => Some("reasoning_content"),
        _ => None,
    };
    if let Some((name, value)) = field.and_then(|field| Some((field, state?.get(field)?))) {
        message.insert(name.to_owned(), value.clone());
    } else if variant == Variant::DeepSeek && !calls.is_empty() {
        // DeepSeek thinks by default, and then refuses calls without thoughts, even if another model made them.
        message.insert("reasoning_content".to_owned(), " ".into());
    }
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments_as_json()});
            json!({"id": accepted_call_id(variant, &call.id), "type": "function", "function": function})
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    message.into()
}

/// Returns whether a model is of the R1 family, such as `deepseek-r1:7b`.
fn is_r1(model: &str) -> bool {
    model
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| part.eq_ignore_ascii_case("r1"))
}

/// Merges adjacent turns of one role, with their calls (contract A74). Results stay separate.
fn merge_turns_of_one_role(prompt: &ArtStandardPrompt) -> ArtStandardPrompt {
    let mut merged: Vec<Message> = Vec::with_capacity(prompt.0.len());
    for message in &prompt.0 {
        match merged.last_mut() {
            Some(last)
                if last.role == message.role && matches!(last.role, Role::System | Role::User | Role::Assistant) =>
            {
                let texts = [last.content_text(), message.content_text()];
                let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
                last.content = if texts.is_empty() {
                    Value::Null
                } else {
                    texts.join("\n\n").into()
                };
                last.tool_calls.extend(message.tool_calls.iter().cloned());
            }
            _ => merged.push(message.clone()),
        }
    }
    ArtStandardPrompt(merged)
}
