//! Encodes requests of the `generateContent` protocol.

use std::fmt::Write as _;

use art_core::JsonObject;
use art_core::error::ModelError;
use art_core::provider::{Media, ReplyFormat, ToolChoice};
use serde_json::{Value, json};

use super::{PROTOCOL_NAME, thinking};
use crate::protocol::params::Params;
use crate::protocol::turns::{self, Turn, TurnCall, TurnResult, to_object};
use crate::protocol::{OPENING_TURN, ProtocolCall, input_schema, is_image};

/// Placeholder that the provider accepts as the signature of a call that another model made.
const PLACEHOLDER_SIGNATURE: &str = "skip_thought_signature_validator";

/// Media types of pictures that the provider accepts.
const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// Returns the path of a request to a model. Escapes all characters of the model name except ASCII letters, digits, `-`, `_`
/// and `.`, so that the name cannot end its path segment.
pub(super) fn path(model: &str, stream: bool) -> String {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => escaped.push(char::from(byte)),
            // Writing to a `String` does not fail.
            other => drop(write!(escaped, "%{other:02X}")),
        }
    }
    let method = if stream {
        "streamGenerateContent?alt=sse"
    } else {
        "generateContent"
    };
    format!("models/{escaped}:{method}")
}

/// Returns the body of a request.
pub(super) fn body(call: &ProtocolCall<'_>) -> Result<Value, ModelError> {
    let turns = turns::turns(call, PROTOCOL_NAME);
    let mut body = JsonObject::new();
    if let Some(instructions) = turns::instructions(&turns) {
        body.insert(
            "systemInstruction".to_owned(),
            json!({"parts": [{"text": instructions}]}),
        );
    }
    body.insert("contents".to_owned(), contents(&turns, call.model_id).into());
    add_tools(call, &mut body)?;
    let config = generation_config(call);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), config.into());
    }
    Params::new(call).add_provider_params(&mut body);
    Ok(body.into())
}

fn generation_config(call: &ProtocolCall<'_>) -> JsonObject {
    let params = Params::new(call);
    let mut config = JsonObject::new();
    params.copy("temperature", &mut config, "temperature");
    params.copy("topP", &mut config, "topP");
    params.copy("seed", &mut config, "seed");
    if let Some(max) = params.max_tokens() {
        config.insert("maxOutputTokens".to_owned(), max.into());
    }
    if let Some(stop) = params.stop() {
        config.insert("stopSequences".to_owned(), stop.into());
    }
    if let Some(effort) = params.effort() {
        config.insert("thinkingConfig".to_owned(), thinking::config(call.model_id, effort));
    }
    // The provider refuses a response format together with tools.
    if call.request.reply_format == ReplyFormat::Json && call.request.tools.is_empty() {
        config.insert("responseMimeType".to_owned(), "application/json".into());
        let schema = call.request.reply_schema.as_deref().cloned();
        config.extend(schema.map(|schema| ("responseJsonSchema".to_owned(), schema)));
    }
    config
}

fn add_tools(call: &ProtocolCall<'_>, body: &mut JsonObject) -> Result<(), ModelError> {
    let tools = call.request.tools.iter().map(|tool| {
        let schema = input_schema(tool)?;
        Ok(json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}))
    });
    let tools = tools.collect::<Result<Vec<Value>, ModelError>>()?;
    if !tools.is_empty() {
        let mode = match call.request.tool_choice {
            ToolChoice::Auto => "AUTO",
            ToolChoice::Required => "ANY",
            ToolChoice::None => "NONE",
        };
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools}]));
        body.insert(
            "toolConfig".to_owned(),
            json!({"functionCallingConfig": {"mode": mode}}),
        );
    }
    Ok(())
}

/// Returns the conversation. Adjacent turns of one role are merged, and the first content is from the user.
fn contents(turns: &[Turn<'_>], model: &str) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let Some((role, parts)) = parts(turn, model) else {
            continue;
        };
        match contents.last_mut() {
            Some((last_role, last_parts)) if *last_role == role => last_parts.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    if contents.first().is_none_or(|(role, _)| *role != "user") {
        contents.insert(0, ("user", vec![json!({"text": OPENING_TURN})]));
    }
    let content = |(role, parts)| json!({"role": role, "parts": Value::Array(parts)});
    contents.into_iter().map(content).collect()
}

/// Returns the role and the parts of a turn, or `None` for a system turn.
fn parts(turn: &Turn<'_>, model: &str) -> Option<(&'static str, Vec<Value>)> {
    match turn {
        Turn::System(_) => None,
        Turn::User { text, media } => {
            let text_part = (!text.is_empty()).then(|| json!({"text": text}));
            Some((
                "user",
                text_part
                    .into_iter()
                    .chain(media.iter().filter_map(file_part))
                    .collect(),
            ))
        }
        Turn::Assistant { text, calls, state } => Some(("model", model_parts(text, calls, *state, model))),
        Turn::Results(results) => Some(("user", results.iter().map(function_response).collect())),
    }
}

/// Returns the parts of a model turn: its text and its calls, each with its signature.
fn model_parts(text: &str, calls: &[TurnCall<'_>], state: Option<&Value>, model: &str) -> Vec<Value> {
    let signature = |path: &str| state?.pointer(path).filter(|signature| signature.is_string());
    let mut parts = Vec::with_capacity(calls.len() + 1);
    if !text.is_empty() {
        parts.push(with_signature(json!({"text": text}), signature("/text")));
    }
    let signatures: Vec<Option<&Value>> = (0..calls.len())
        .map(|index| signature(&format!("/calls/{index}")))
        .collect();
    // Since Gemini 3, the first call of a turn must have a signature.
    let mut placeholder = None;
    if thinking::is_gemini_3_or_newer(model) && signatures.iter().all(Option::is_none) {
        placeholder = Some(Value::from(PLACEHOLDER_SIGNATURE));
    }
    for (call, signature) in calls.iter().zip(signatures) {
        let part = json!({"functionCall": {"id": call.id, "name": call.name, "args": Value::Object(call.arguments_as_object())}});
        parts.push(with_signature(part, signature.or(placeholder.take().as_ref())));
    }
    parts
}

fn with_signature(mut part: Value, signature: Option<&Value>) -> Value {
    if let (Some(part), Some(signature)) = (part.as_object_mut(), signature) {
        part.insert("thoughtSignature".to_owned(), signature.clone());
    }
    part
}

fn function_response(result: &TurnResult<'_>) -> Value {
    let response = Value::Object(to_object(&result.text, "result"));
    json!({"functionResponse": {"id": result.id, "name": result.name, "response": response}})
}

/// Returns a file as a part of a turn. A picture of an unsupported type, with which the provider would refuse the whole request,
/// becomes a note for the model. Any other file of an unsupported type becomes `None`.
fn file_part(file: &Media) -> Option<Value> {
    if is_image(file) && !IMAGE_TYPES.contains(&file.media_type.as_str()) {
        let note = format!(
            "The picture `{}` is omitted: the model does not support `{}`.",
            file.name, file.media_type
        );
        return Some(json!({"text": note}));
    }
    let prefixes = ["image/", "audio/", "video/", "text/"];
    let supported =
        file.media_type == "application/pdf" || prefixes.iter().any(|prefix| file.media_type.starts_with(prefix));
    supported.then(|| json!({"inlineData": {"mimeType": file.media_type, "data": file.base64}}))
}
