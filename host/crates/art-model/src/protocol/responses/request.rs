//! Encodes requests of the Responses protocol.

use art_core::JsonObject;
use art_core::error::ModelError;
use art_core::provider::{Media, ReplyFormat, ToolChoice};
use serde_json::{Value, json};

use super::PROTOCOL_NAME;
use crate::protocol::params::Params;
use crate::protocol::turn_state::restore_order;
use crate::protocol::turns::{self, Turn, TurnCall};
use crate::protocol::{ProtocolCall, ProtocolRequest, REPLY_SCHEMA_NAME, data_url, input_schema, is_image};

/// Encodes `call`.
pub(super) fn encode(call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
    let turns = turns::turns(call, PROTOCOL_NAME);
    let mut body = JsonObject::new();
    body.insert("model".to_owned(), call.model_id.into());
    if let Some(instructions) = turns::instructions(&turns) {
        body.insert("instructions".to_owned(), instructions.into());
    }
    body.insert("input".to_owned(), turns.iter().flat_map(items).collect());
    body.insert("stream".to_owned(), call.stream.into());
    body.insert("store".to_owned(), false.into());
    add_params(call, &mut body);
    add_tools(call, &mut body)?;
    // The provider refuses a JSON format if the word `json` is not in the input. System turns are not part of the input, because
    // they are sent as `instructions`.
    let search_system_turns = false;
    if call.request.reply_format == ReplyFormat::Json && turns::mentions_json(&turns, search_system_turns) {
        let format = match &call.request.reply_schema {
            Some(schema) => json!({"type": "json_schema", "name": REPLY_SCHEMA_NAME, "strict": true, "schema": schema}),
            None => json!({"type": "json_object"}),
        };
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    Params::new(call).add_provider_params(&mut body);
    Ok(ProtocolRequest {
        path: "responses".to_owned(),
        body: body.into(),
    })
}

/// Adds the common parameters. The protocol has neither `seed` nor `stop`.
fn add_params(call: &ProtocolCall<'_>, body: &mut JsonObject) {
    let params = Params::new(call);
    params.copy("temperature", body, "temperature");
    params.copy("topP", body, "top_p");
    if let Some(max) = params.max_tokens() {
        body.insert("max_output_tokens".to_owned(), max.into());
    }
    if let Some(effort) = params.effort() {
        body.insert("reasoning".to_owned(), json!({"effort": effort, "summary": "auto"}));
    }
    // Nothing is stored at the provider, so the reply must contain its thoughts, encrypted, to be sent back with the turn. A
    // model that does not reason refuses the field `include`.
    if params.effort().is_some() || is_reasoning_model(call.model_id) {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
}

/// Returns whether the model reasons: the `o` series does, and GPT since version 5 except its chat variants.
fn is_reasoning_model(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let version_after = |prefix: &str| {
        let digits = name.strip_prefix(prefix)?.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    };
    version_after("o").is_some()
        || (version_after("gpt-").is_some_and(|version| version >= 5) && !name.contains("chat"))
}

fn add_tools(call: &ProtocolCall<'_>, body: &mut JsonObject) -> Result<(), ModelError> {
    let tools = call.request.tools.iter().map(|tool| {
        let parameters = input_schema(tool)?;
        let (name, description) = (&tool.name, &tool.description);
        // Strict mode supports only a subset of JSON Schema, which the schemas of tools may exceed.
        Ok(json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false}))
    });
    let tools = tools.collect::<Result<Vec<Value>, ModelError>>()?;
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        let choice = match call.request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::Required => "required",
            ToolChoice::None => "none",
        };
        body.insert("tool_choice".to_owned(), choice.into());
    }
    Ok(())
}

/// Returns the input items of a turn.
fn items(turn: &Turn<'_>) -> Vec<Value> {
    match turn {
        Turn::System(_) => Vec::new(),
        Turn::User { text, media } => vec![json!({"role": "user", "content": content(text, media)})],
        Turn::Assistant { text, calls, state } => {
            let text = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            // Put the thoughts in `state` back in their places before, between and after the text and the calls.
            restore_order(*state, text, calls.iter().map(function_call).collect())
        }
        Turn::Results(results) => {
            let output = |result: &turns::TurnResult<'_>| json!({"type": "function_call_output", "call_id": shortened_call_id(&result.id), "output": result.text});
            results.iter().map(output).collect()
        }
    }
}

fn function_call(call: &TurnCall<'_>) -> Value {
    json!({"type": "function_call", "call_id": shortened_call_id(&call.id), "name": call.name, "arguments": call.arguments_as_json()})
}

/// Returns the last 64 characters of an identifier. The provider accepts no more, and other providers create longer identifiers.
fn shortened_call_id(id: &str) -> String {
    let excess = id.chars().count().saturating_sub(64);
    id.chars().skip(excess).collect()
}

/// Returns the content of a user turn: its text, or a list of parts if there are files that the provider accepts.
fn content(text: &str, media: &[Media]) -> Value {
    let files: Vec<Value> = media.iter().filter_map(file_part).collect();
    if files.is_empty() {
        return text.into();
    }
    let text_part = (!text.is_empty()).then(|| json!({"type": "input_text", "text": text}));
    text_part.into_iter().chain(files).collect()
}

/// Returns the content part for a file, or `None` if the provider does not accept its type.
fn file_part(file: &Media) -> Option<Value> {
    if is_image(file) {
        Some(json!({"type": "input_image", "image_url": data_url(file)}))
    } else if file.media_type == "application/pdf" {
        Some(json!({"type": "input_file", "filename": file.name, "file_data": data_url(file)}))
    } else {
        None
    }
}
