//! Encodes requests for generated content.

use std::fmt::Write as _;

use art_core::JsonObject;
use art_core::error::ModelError;
use art_core::provider::{Media, ReplyFormat};
use serde_json::{Value, json};

use super::{NAME, thinking};
use crate::protocol::params::Params;
use crate::protocol::turns::{self, Answer, Call, Turn, object};
use crate::protocol::{OPENING, ProtocolCall, is_image, schema_of};

/// Placeholder that the provider accepts as the signature of a call of another model.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Media types of pictures that the provider accepts.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// Returns the path. Escapes characters of the model name that could end its path segment.
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

pub(super) fn body(call: &ProtocolCall<'_>) -> Result<Value, ModelError> {
    let turns = turns::turns(call, NAME);
    let mut body = JsonObject::new();
    if let Some(instructions) = turns::instructions(&turns) {
        body.insert(
            "systemInstruction".to_owned(),
            json!({"parts": [{"text": instructions}]}),
        );
    }
    body.insert("contents".to_owned(), contents(&turns, call.model_id).into());
    tools(call, &mut body)?;
    let config = config(call);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), config.into());
    }
    Params::new(call).add_rest(&mut body);
    Ok(body.into())
}

fn config(call: &ProtocolCall<'_>) -> JsonObject {
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
    }
    config
}

fn tools(call: &ProtocolCall<'_>, body: &mut JsonObject) -> Result<(), ModelError> {
    let tools = call.request.tools.iter().map(|tool| {
        let schema = schema_of(tool)?;
        Ok(json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}))
    });
    let tools = tools.collect::<Result<Vec<Value>, ModelError>>()?;
    if !tools.is_empty() {
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools}]));
        body.insert(
            "toolConfig".to_owned(),
            json!({"functionCallingConfig": {"mode": "AUTO"}}),
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
            Some((last, before)) if *last == role => before.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    if contents.first().is_none_or(|(role, _)| *role != "user") {
        contents.insert(0, ("user", vec![json!({"text": OPENING})]));
    }
    let content = |(role, parts)| json!({"role": role, "parts": Value::Array(parts)});
    contents.into_iter().map(content).collect()
}

fn parts(turn: &Turn<'_>, model: &str) -> Option<(&'static str, Vec<Value>)> {
    match turn {
        Turn::System(_) => None,
        Turn::User { text, media } => {
            let words = (!text.is_empty()).then(|| json!({"text": text}));
            Some(("user", words.into_iter().chain(media.iter().filter_map(file)).collect()))
        }
        Turn::Assistant { text, calls, state } => Some(("model", model_parts(text, calls, *state, model))),
        Turn::Results(answers) => Some(("user", answers.iter().map(function_response).collect())),
    }
}

/// Returns the parts of a model turn: its text and its calls, each with its signature.
fn model_parts(text: &str, calls: &[Call<'_>], state: Option<&Value>, model: &str) -> Vec<Value> {
    let signature = |path: &str| {
        state
            .and_then(|state| state.pointer(path))
            .filter(|found| found.is_string())
    };
    let text = (!text.is_empty()).then(|| signed(json!({"text": text}), signature("/text")));
    let signatures: Vec<Option<&Value>> = (0..calls.len()).map(|at| signature(&format!("/calls/{at}"))).collect();
    let unsigned = thinking::has_levels(model) && signatures.iter().all(Option::is_none);
    let calls = calls.iter().zip(signatures).enumerate().map(|(at, (call, signature))| {
        let part = json!({"functionCall": {"id": call.id, "name": call.name, "args": Value::Object(call.object())}});
        // Since Gemini 3, the first call of a turn must have a signature.
        let placeholder = Value::from(UNSIGNED);
        let signature = signature.or((unsigned && at == 0).then_some(&placeholder));
        signed(part, signature)
    });
    text.into_iter().chain(calls).collect()
}

fn signed(mut part: Value, signature: Option<&Value>) -> Value {
    if let (Some(part), Some(signature)) = (part.as_object_mut(), signature) {
        part.insert("thoughtSignature".to_owned(), signature.clone());
    }
    part
}

fn function_response(answer: &Answer<'_>) -> Value {
    let response = Value::Object(object(&answer.text, "result"));
    json!({"functionResponse": {"id": answer.id, "name": answer.name, "response": response}})
}

/// Returns a file as a part. A picture of an unsupported type becomes a note, because the provider would refuse the whole
/// request.
fn file(file: &Media) -> Option<Value> {
    if is_image(file) && !PICTURES.contains(&file.media_type.as_str()) {
        let words = format!(
            "The picture `{}` is omitted: the model does not support `{}`.",
            file.name, file.media_type
        );
        return Some(json!({"text": words}));
    }
    let kinds = ["image/", "audio/", "video/", "text/"];
    let supported = file.media_type == "application/pdf" || kinds.iter().any(|kind| file.media_type.starts_with(kind));
    supported.then(|| json!({"inlineData": {"mimeType": file.media_type, "data": file.base64}}))
}
