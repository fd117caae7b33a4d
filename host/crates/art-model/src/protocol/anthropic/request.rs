//! Encodes requests of the Messages protocol.

use std::borrow::Cow;

use art_core::JsonObject;
use art_core::error::ModelError;
use art_core::provider::{Media, ToolChoice};
use serde_json::{Value, json};

use super::{PROTOCOL_NAME, thinking};
use crate::protocol::params::Params;
use crate::protocol::turn_state::restore_order;
use crate::protocol::turns::{self, Turn, TurnCall, TurnResult};
use crate::protocol::{OPENING_TURN, ProtocolCall, input_schema, is_image};

/// Returns the body of a request.
pub(super) fn body(call: &ProtocolCall<'_>) -> Result<Value, ModelError> {
    let turns = turns::turns(call, PROTOCOL_NAME);
    let mut body = JsonObject::new();
    body.insert("model".to_owned(), call.model_id.into());
    add_system_blocks(&turns, &mut body);
    let mut messages = messages(&turns);
    if let Some(Value::Array(blocks)) = messages.last_mut().and_then(|message| message.get_mut("content")) {
        set_cache_breakpoint(blocks);
    }
    body.insert("messages".to_owned(), messages.into());
    body.insert("stream".to_owned(), call.stream.into());
    add_params(call, &turns, &mut body);
    add_tools(call, &mut body)?;
    Params::new(call).add_provider_params(&mut body);
    Ok(body.into())
}

/// Sets the parameters. The protocol has no `seed`. While a model thinks, it accepts neither `temperature` nor `top_p`.
fn add_params(call: &ProtocolCall<'_>, turns: &[Turn<'_>], body: &mut JsonObject) {
    let params = Params::new(call);
    let is_thinking = thinking::add_params(call.model_id, params.effort(), params.max_tokens(), turns, body);
    if !is_thinking {
        params.copy("temperature", body, "temperature");
        params.copy("topP", body, "top_p");
    }
    if let Some(stop) = params.stop() {
        body.insert("stop_sequences".to_owned(), stop.into());
    }
}

fn add_system_blocks(turns: &[Turn<'_>], body: &mut JsonObject) {
    let blocks = turns
        .iter()
        .filter_map(Turn::system_text)
        .map(|text| json!({"type": "text", "text": text}));
    let mut blocks: Vec<Value> = blocks.collect();
    if !blocks.is_empty() {
        set_cache_breakpoint(&mut blocks);
        body.insert("system".to_owned(), blocks.into());
    }
}

fn add_tools(call: &ProtocolCall<'_>, body: &mut JsonObject) -> Result<(), ModelError> {
    let tools = call.request.tools.iter().map(|tool| {
        let schema = input_schema(tool)?;
        Ok(json!({"name": tool.name, "description": tool.description, "input_schema": schema}))
    });
    let mut tools = tools.collect::<Result<Vec<Value>, ModelError>>()?;
    if !tools.is_empty() {
        set_cache_breakpoint(&mut tools);
        body.insert("tools".to_owned(), tools.into());
        let choice = match call.request.tool_choice {
            // The provider does not accept a required call while thinking is on.
            ToolChoice::Required if !body.contains_key("thinking") => "any",
            ToolChoice::Auto | ToolChoice::Required => "auto",
            ToolChoice::None => "none",
        };
        body.insert("tool_choice".to_owned(), json!({ "type": choice }));
    }
    Ok(())
}

/// Tells the provider to cache the request up to the last of these blocks, because the next request probably begins with the same
/// blocks. The provider refuses `cache_control` in a thinking block.
fn set_cache_breakpoint(blocks: &mut [Value]) {
    let last = blocks.last_mut().and_then(Value::as_object_mut);
    // Only signed or redacted thoughts have these fields.
    let is_thinking_block = |block: &JsonObject| block.get("signature").is_some() || block.get("data").is_some();
    if let Some(block) = last
        && !is_thinking_block(block)
    {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Returns the conversation. Adjacent turns of one role are merged, and the first message is from the user.
fn messages(turns: &[Turn<'_>]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let Some((role, blocks)) = blocks(turn) else { continue };
        match messages.last_mut() {
            Some((last_role, last_blocks)) if *last_role == role => last_blocks.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    if messages.first().is_none_or(|(role, _)| *role != "user") {
        messages.insert(0, ("user", vec![json!({"type": "text", "text": OPENING_TURN})]));
    }
    let message = |(role, blocks)| json!({"role": role, "content": Value::Array(blocks)});
    messages.into_iter().map(message).collect()
}

/// Returns the role and the content blocks of a turn, or `None` for a system turn.
fn blocks(turn: &Turn<'_>) -> Option<(&'static str, Vec<Value>)> {
    match turn {
        Turn::System(_) => None,
        Turn::User { text, media } => {
            let text = text_block(text).into_iter();
            Some(("user", text.chain(media.iter().filter_map(file_block)).collect()))
        }
        Turn::Assistant { text, calls, state } => {
            // The provider expects its thoughts to be sent back only in a turn with calls.
            let state = state.filter(|_| !calls.is_empty());
            let calls = calls.iter().map(tool_use).collect();
            Some(("assistant", restore_order(state, text_block(text), calls)))
        }
        Turn::Results(results) => Some(("user", results.iter().map(tool_result).collect())),
    }
}

/// Returns a text block without trailing white space, or `None` for blank text. The provider refuses blank text in any turn, and
/// trailing white space in the last one.
fn text_block(text: &str) -> Option<Value> {
    let text = text.trim_end();
    (!text.is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn tool_use(call: &TurnCall<'_>) -> Value {
    json!({"type": "tool_use", "id": with_valid_characters(&call.id), "name": call.name, "input": Value::Object(call.arguments_as_object())})
}

fn tool_result(result: &TurnResult<'_>) -> Value {
    json!({"type": "tool_result", "tool_use_id": with_valid_characters(&result.id), "content": result.text})
}

/// Returns an identifier with `_` in place of each character that the provider does not accept. It accepts only ASCII letters,
/// digits, `_` and `-`.
fn with_valid_characters(id: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(allowed) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|c| if allowed(c) { c } else { '_' }).collect())
}

/// Returns the content block of a file, or `None` if the provider does not accept its type.
fn file_block(file: &Media) -> Option<Value> {
    let kind = if is_image(file) {
        "image"
    } else if file.media_type == "application/pdf" {
        "document"
    } else {
        return None;
    };
    let source = json!({"type": "base64", "media_type": file.media_type, "data": file.base64});
    Some(json!({"type": kind, "source": source}))
}
