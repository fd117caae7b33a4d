//! Tests of all protocols together, and helpers for the tests of each one.

mod properties;

use art_core::prompt::{ArtStandardPrompt, Message};
use art_core::provider::{Media, ModelRequest, ReplyFormat, ToolChoice};
use art_core::stream::{Phase, ProviderState, StepContext, StreamContext, StreamEnvelope, StreamEvent};
use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest, ToolSchema};
use serde_json::{Value, json};

use super::{Protocol, ProtocolCall, ProtocolRequest, codec, replay};

pub(super) fn tool_call(id: &str, name: &str, arguments: &str) -> ToolCallRequest {
    ToolCallRequest {
        id: id.to_owned(),
        kind: FunctionKind::Function,
        function: FunctionCall {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        },
    }
}

/// Returns a tool with the parameter `expression`.
pub(super) fn tool(name: &str) -> ToolSchema {
    serde_json::from_value(json!({
        "name": name,
        "description": format!("Runs {name}."),
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "additionalProperties": false,
        },
    }))
    .unwrap()
}

/// Returns a request with turns of all roles, calls and results, tools, files and parameters. The turn with calls has a
/// [`ProviderState`] of `protocol` with the content `state`.
pub(super) fn conversation(protocol: &str, state: Value) -> ModelRequest {
    let calls = vec![
        tool_call("call_a", "calculator", r#"{"expression":"6*7"}"#),
        tool_call("call_b", "datetime", "now"),
    ];
    let mut turn_with_calls = Message::assistant_calls("Let me see.", calls);
    turn_with_calls.provider_state = Some(ProviderState {
        protocol: protocol.to_owned(),
        content: state,
    });
    let prompt = vec![
        Message::system("You plan."),
        Message::system("Answer in JSON."),
        Message::user("What is 6*7?"),
        turn_with_calls,
        Message::tool_result("call_a", "calculator", r#"{"result":42}"#),
        Message::tool_result("call_b", "datetime", "no clock"),
        // No turn has a call with the identifier `gone`.
        Message::tool_result("gone", "csv_query", "3 rows"),
        Message::assistant("42."),
        Message::user("As JSON, with the picture?"),
    ];
    let mut request = ModelRequest::new(ArtStandardPrompt(prompt), Phase::Planning);
    request.tools = vec![tool("calculator"), tool("datetime")];
    request.media = [
        ("p.png", "image/png"),
        ("d.pdf", "application/pdf"),
        ("z.zip", "application/zip"),
    ]
    .map(|(name, media_type)| Media {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        base64: "AAAA".to_owned(),
    })
    .to_vec();
    request.reply_format = ReplyFormat::Json;
    request.params = serde_json::from_value(json!({
        "temperature": 0.2, "topP": 0.9, "maxTokens": 500, "seed": 7, "stop": ["END"], "reasoningEffort": "low",
        "model": "not this", "user": "someone",
    }))
    .unwrap();
    request
}

/// Encodes `request` for a model of `provider` that streams its reply and can read pictures.
pub(super) fn encode(protocol: Protocol, provider: &str, model_id: &str, request: &ModelRequest) -> ProtocolRequest {
    let call = ProtocolCall {
        model_id,
        request,
        stream: true,
        vision: true,
        max_tokens: None,
    };
    codec(protocol, provider).encode_request(&call).unwrap()
}

/// Returns a request with `messages`, and without tools, files and parameters.
pub(super) fn request_with(messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new(ArtStandardPrompt(messages), Phase::Planning)
}

/// Returns the events of a reply as text, one per line, and leaves out `provider_raw_usage`. Adjacent tokens or thoughts are
/// joined.
pub(super) fn events_as_text(events: &[StreamEvent]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last_kind = "";
    for event in events {
        let (kind, text) = match event {
            StreamEvent::Token(text) => ("token", text.clone()),
            StreamEvent::Thinking(text) => ("thinking", text.clone()),
            StreamEvent::ToolCall(call) => (
                "call",
                format!("{} {} {}", call.id, call.function.name, call.function.arguments),
            ),
            StreamEvent::State(state) => ("state", format!("{} {}", state.protocol, state.content)),
            StreamEvent::Unanswered(parts) => ("unanswered", parts.join("; ")),
            StreamEvent::Metadata(metadata) => {
                let mut metadata = metadata.clone();
                metadata.provider_raw_usage = None;
                ("metadata", serde_json::to_string(&metadata).unwrap())
            }
            StreamEvent::Error(error) => ("error", format!("{:?}: {error}", error.code)),
            StreamEvent::Retry(_) => ("retry", String::new()),
            StreamEvent::End => ("end", String::new()),
        };
        match lines.last_mut() {
            Some(line) if kind == last_kind && matches!(kind, "token" | "thinking") => line.push_str(&text),
            _ if text.is_empty() => lines.push(kind.to_owned()),
            _ => lines.push(format!("{kind} {text}")),
        }
        last_kind = kind;
    }
    lines.join("\n")
}

/// Returns streams with thoughts and text, of every protocol and of providers that name thoughts differently.
fn thinking_streams() -> Vec<(Protocol, &'static str, Vec<u8>)> {
    let chat = |thought: Value| {
        let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
        let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        sse_bytes(&[delta(thought), delta(json!({"content": "42"})), stop])
    };
    let details = json!({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]});
    vec![
        (
            Protocol::Anthropic,
            "anthropic",
            include_bytes!("samples/anthropic.sse").to_vec(),
        ),
        (
            Protocol::Gemini,
            "gemini",
            include_bytes!("samples/gemini.sse").to_vec(),
        ),
        (
            Protocol::OpenaiResponses,
            "openai",
            include_bytes!("samples/responses.sse").to_vec(),
        ),
        (
            Protocol::OpenaiChat,
            "deepseek",
            include_bytes!("samples/chat.sse").to_vec(),
        ),
        (Protocol::OpenaiChat, "groq", chat(json!({"reasoning": "hm"}))),
        (Protocol::OpenaiChat, "openrouter", chat(details)),
        (
            Protocol::OpenaiChat,
            "ollama",
            chat(json!({"content": "<think>hm</think>\n"})),
        ),
    ]
}

// A piece of thoughts becomes a stream envelope with the token type of thoughts, the phase and the step (contract A73).
#[test]
fn thoughts_and_text_of_every_provider_are_distinguished() {
    let step = StepContext {
        step_id: "a".to_owned(),
        step_description: "do a".to_owned(),
    };
    let context = StreamContext {
        phase: Some(Phase::Execution),
        step: Some(step),
        ..StreamContext::default()
    };
    for (protocol, provider, bytes) in thinking_streams() {
        let events = replay(protocol, provider, [bytes.as_slice()]);
        let envelopes = events
            .iter()
            .filter_map(|event| StreamEnvelope::new(event, &context, None));
        let tokens: Vec<_> = envelopes.map(|envelope| json!(envelope)).collect();
        let mut types: Vec<_> = tokens.iter().filter_map(|token| token["tokenType"].as_str()).collect();
        types.dedup();
        assert_eq!(
            types,
            ["EXECUTION_LLM_THINKING", "EXECUTION_LLM_RESPONSE"],
            "{provider}"
        );
        for token in tokens {
            let labels = [&token["phase"], &token["stepId"], &token["stepDescription"]];
            assert_eq!(labels, ["execution", "a", "do a"], "{provider}: {token}");
        }
    }
}

/// Returns a stream with these server-sent events. A text, such as `[DONE]`, is sent without quotes.
pub(super) fn sse_bytes(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| match event {
        Value::String(text) => format!("data: {text}\n\n"),
        event => format!("data: {event}\n\n"),
    });
    lines.collect::<String>().into_bytes()
}

/// Decodes a stream with these server-sent events, and returns the events of the reply as text.
pub(super) fn decode_stream(protocol: Protocol, provider: &str, events: &[Value]) -> String {
    events_as_text(&replay(protocol, provider, [sse_bytes(events).as_slice()]))
}

/// Decodes a reply that did not stream, and returns its events as text.
pub(super) fn decode_body(protocol: Protocol, provider: &str, body: &Value) -> String {
    events_as_text(&codec(protocol, provider).decode_body(body))
}

#[test]
fn each_tool_choice_is_sent_in_the_terms_of_the_provider() {
    let tool_choice_field = |protocol, provider: &str, model: &str, choice, effort: Option<&str>| {
        let mut request = request_with(vec![Message::user("q")]);
        request.tools = vec![tool("calculator")];
        request.tool_choice = choice;
        request.params = effort
            .map(|effort| ("reasoningEffort".to_owned(), effort.into()))
            .into_iter()
            .collect();
        let body = encode(protocol, provider, model, &request).body;
        let field = body
            .get("tool_choice")
            .or_else(|| body.pointer("/toolConfig/functionCallingConfig"));
        field.unwrap().to_string()
    };
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    // A model of Anthropic that thinks if an effort is set. The choice for other providers does not depend on the model.
    let model = "claude-sonnet-4-6";
    let mut lines = String::new();
    for (protocol, provider, effort) in [
        (OpenaiResponses, "openai", None),
        (OpenaiChat, "openai", None),
        (OpenaiChat, "mistral", None),
        (OpenaiChat, "deepseek", None),
        (OpenaiChat, "vllm", None),
        (Anthropic, "anthropic", None),
        (Anthropic, "anthropic", Some("high")),
        (Gemini, "gemini", None),
    ] {
        let [auto, required, none] = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None]
            .map(|choice| tool_choice_field(protocol, provider, model, choice, effort));
        lines.push_str(&format!(
            "{provider} {protocol:?} {effort:?}: {auto} {required} {none}\n"
        ));
    }
    // `Required` is sent as `auto` to DeepSeek, to unknown servers and to a thinking model of Anthropic, which may refuse it.
    insta::assert_snapshot!(lines, @r#"
    openai OpenaiResponses None: "auto" "required" "none"
    openai OpenaiChat None: "auto" "required" "none"
    mistral OpenaiChat None: "auto" "required" "none"
    deepseek OpenaiChat None: "auto" "auto" "none"
    vllm OpenaiChat None: "auto" "auto" "none"
    anthropic Anthropic None: {"type":"auto"} {"type":"any"} {"type":"none"}
    anthropic Anthropic Some("high"): {"type":"auto"} {"type":"auto"} {"type":"none"}
    gemini Gemini None: {"mode":"AUTO"} {"mode":"ANY"} {"mode":"NONE"}
    "#);
}

#[test]
fn the_reply_schema_is_sent_only_to_providers_that_enforce_it() {
    let format_field = |protocol, provider: &str| {
        let mut request = request_with(vec![Message::user("as JSON")]);
        request.reply_format = ReplyFormat::Json;
        request.reply_schema = Some(json!({"type": "object"}).into());
        let body = encode(protocol, provider, "m", &request).body;
        let paths = ["/text/format", "/response_format", "/generationConfig"];
        let found = paths.into_iter().find_map(|path| body.pointer(path).cloned());
        found.map_or_else(String::new, |value| value.to_string())
    };
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let with_schema =
        r#"{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object"}}}"#;
    for (protocol, provider, expected) in [
        (OpenaiChat, "openai", with_schema),
        (OpenaiChat, "mistral", with_schema),
        (OpenaiChat, "ollama", with_schema),
        (OpenaiChat, "openrouter", r#"{"type":"json_object"}"#),
        (OpenaiChat, "groq", ""),
        (OpenaiChat, "vllm", ""),
        (Anthropic, "anthropic", ""),
        (
            OpenaiResponses,
            "openai",
            r#"{"type":"json_schema","name":"reply","strict":true,"schema":{"type":"object"}}"#,
        ),
        (
            Gemini,
            "gemini",
            r#"{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}"#,
        ),
    ] {
        let as_value = |text: &str| serde_json::from_str::<Value>(text).ok();
        assert_eq!(
            as_value(&format_field(protocol, provider)),
            as_value(expected),
            "{provider}"
        );
    }
}
