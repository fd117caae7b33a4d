//! Tests of encoding requests.

use art_core::prompt::Message;
use art_core::provider::ReplyFormat;
use serde_json::{Value, json};

use crate::protocol::tests::{conversation, encode, request_with, tool, tool_call};
use crate::protocol::{Protocol, ProtocolCall, codec};

/// Returns the body of a request with all kinds of turns and parameters.
fn body(provider: &str, model: &str) -> Value {
    let state = json!({"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]});
    encode(
        Protocol::OpenaiChat,
        provider,
        model,
        &conversation("openai-chat", state),
    )
    .body
}

#[test]
fn a_request_has_the_format_of_openai() {
    let request = encode(
        Protocol::OpenaiChat,
        "openai",
        "gpt-5",
        &conversation("openai-chat", json!({})),
    );
    assert_eq!(request.path, "chat/completions");
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn each_provider_gets_the_fields_that_it_supports() {
    let fields = [
        "max_tokens",
        "max_completion_tokens",
        "stream_options",
        "reasoning_effort",
        "reasoning",
        "thinking",
        "seed",
        "random_seed",
        "response_format",
    ];
    let mut lines = String::new();
    for provider in ["openai", "openrouter", "deepseek", "groq", "mistral", "ollama", "vllm"] {
        let body = body(provider, "m");
        let present = fields
            .iter()
            .filter_map(|field| Some(format!("{field}={}", body.get(field)?)));
        lines.push_str(&format!("{provider}: {}\n", present.collect::<Vec<_>>().join(" ")));
    }
    insta::assert_snapshot!(lines, @r#"
    openai: max_completion_tokens=500 stream_options={"include_usage":true} reasoning_effort="low" seed=7 response_format={"type":"json_object"}
    openrouter: max_tokens=500 stream_options={"include_usage":true} reasoning={"effort":"low"} seed=7 response_format={"type":"json_object"}
    deepseek: max_tokens=500 stream_options={"include_usage":true} reasoning_effort="low" thinking={"type":"enabled"} seed=7 response_format={"type":"json_object"}
    groq: max_tokens=500 stream_options={"include_usage":true} reasoning_effort="low" seed=7
    mistral: max_tokens=500 reasoning_effort="low" random_seed=7 response_format={"type":"json_object"}
    ollama: max_tokens=500 stream_options={"include_usage":true} reasoning_effort="low" seed=7 response_format={"type":"json_object"}
    vllm: max_tokens=500 stream_options={"include_usage":true} reasoning_effort="low" seed=7
    "#);
}

#[test]
fn a_provider_parameter_is_added_but_cannot_change_the_model() {
    // The parameters of the request include `model` and `user`; see `conversation`.
    let body = body("openai", "gpt-5");
    assert_eq!((&body["model"], &body["user"]), (&json!("gpt-5"), &json!("someone")));
}

#[test]
fn thoughts_are_sent_back_only_to_providers_that_expect_them() {
    for (provider, has_details, has_content) in [
        ("openrouter", true, false),
        ("deepseek", false, true),
        ("kimi", false, true),
        ("openai", false, false),
        ("groq", false, false),
    ] {
        let body = body(provider, "m");
        let turn = &body["messages"][3];
        assert_eq!(turn["role"], "assistant");
        assert_eq!(
            (
                turn.get("reasoning_details").is_some(),
                turn.get("reasoning_content").is_some()
            ),
            (has_details, has_content),
            "{provider}"
        );
    }
}

#[test]
fn deepseek_gets_blank_thoughts_for_calls_without_thoughts() {
    let calls = vec![tool_call("a", "calculator", "{}")];
    let request = request_with(vec![
        Message::user("go"),
        Message::assistant_calls("", calls),
        Message::assistant("done"),
    ]);
    for (provider, thoughts) in [("deepseek", Some(&json!(" "))), ("vllm", None)] {
        let body = encode(Protocol::OpenaiChat, provider, "m", &request).body;
        assert_eq!(body["messages"][1].get("reasoning_content"), thoughts, "{provider}");
        // Message 2 is inserted: it is the missing result of the call.
        assert_eq!(body["messages"][3].get("reasoning_content"), None, "{provider}");
    }
}

#[test]
fn turns_of_one_role_are_merged_only_for_r1_on_ollama() {
    let calls = |id: &str| vec![tool_call(id, "calculator", "{}")];
    let request = request_with(vec![
        Message::user("a"),
        Message::user("b"),
        Message::assistant("c"),
        Message::assistant_calls("", calls("x")),
        Message::assistant_calls("d", calls("y")),
        Message::tool_result("x", "calculator", "1"),
        Message::tool_result("y", "calculator", "2"),
    ]);
    let roles = |provider: &str, model: &str| -> Vec<String> {
        let body = encode(Protocol::OpenaiChat, provider, model, &request).body;
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(roles("ollama", "deepseek-r1:7b"), ["user", "assistant", "tool", "tool"]);
    assert_eq!(roles("ollama", "llama3.3").len(), 7);
    assert_eq!(roles("deepseek", "deepseek-r1").len(), 7);
    let body = encode(Protocol::OpenaiChat, "ollama", "deepseek-r1", &request).body;
    assert_eq!(body["messages"][1]["content"], "c\n\nd");
    assert_eq!(body["messages"][1]["tool_calls"].as_array().unwrap().len(), 2);
}

/// Encodes a request with two calls, their results and a user turn. Returns the roles of its messages, and the call identifiers:
/// first those in the calls, then those in the results.
fn roles_and_call_ids(provider: &str) -> (Vec<String>, Vec<String>) {
    let calls = vec![
        tool_call("call_1", "calculator", "{}"),
        tool_call("AbCdE1234", "calculator", "{}"),
    ];
    let request = request_with(vec![
        Message::user("a"),
        Message::assistant_calls("", calls),
        Message::tool_result("call_1", "calculator", "1"),
        Message::tool_result("AbCdE1234", "calculator", "2"),
        Message::user("b"),
    ]);
    let body = encode(Protocol::OpenaiChat, provider, "m", &request).body;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let messages = body["messages"].as_array().unwrap().clone();
    let call_ids = messages[1]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["id"]);
    let result_ids = messages.iter().map(|message| &message["tool_call_id"]);
    let ids = call_ids.chain(result_ids).filter_map(text).collect();
    (
        messages.iter().filter_map(|message| text(&message["role"])).collect(),
        ids,
    )
}

#[test]
fn mistral_gets_call_identifiers_of_nine_letters_and_digits() {
    let (_, ids) = roles_and_call_ids("mistral");
    assert!(
        ids[0].len() == 9 && ids[0].bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{ids:?}"
    );
    // The results have the identifiers of their calls, and an identifier that Mistral accepts stays as it is.
    assert_eq!((&ids[..2], ids[1].as_str()), (&ids[2..], "AbCdE1234"));
    let (_, ids) = roles_and_call_ids("openai");
    assert_eq!(ids, ["call_1", "AbCdE1234", "call_1", "AbCdE1234"]);
}

#[test]
fn mistral_gets_a_model_turn_between_results_and_the_user() {
    let (roles, _) = roles_and_call_ids("mistral");
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "user"]);
    let (roles, _) = roles_and_call_ids("openai");
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
}

// Merging turns for R1 does not affect tools (contract A74).
#[test]
fn a_tool_is_sent_as_a_function_with_its_schema_to_ollama() {
    let mut request = request_with(vec![Message::user("hi")]);
    request.tools = vec![tool("calculator")];
    let body = encode(Protocol::OpenaiChat, "ollama", "deepseek-r1", &request).body;
    let function = &body["tools"][0]["function"];
    assert_eq!(
        (&body["tools"][0]["type"], &function["name"]),
        (&json!("function"), &json!("calculator"))
    );
    assert_eq!(function["description"], "Runs calculator.");
    assert_eq!(
        function["parameters"]["properties"],
        json!({"expression": {"type": "string"}})
    );
}

#[test]
fn json_is_requested_if_the_prompt_mentions_it_but_not_from_groq_or_unknown_servers() {
    for (provider, text, is_requested) in [
        ("openai", "Plan.", false),
        ("openai", "Reply in JSON.", true),
        ("groq", "Reply in JSON.", false),
        ("compatible", "Reply in JSON.", false),
    ] {
        let mut request = request_with(vec![Message::system(text), Message::user("hi")]);
        request.reply_format = ReplyFormat::Json;
        let body = encode(Protocol::OpenaiChat, provider, "m", &request).body;
        assert_eq!(body.get("response_format").is_some(), is_requested, "{provider}");
    }
}

#[test]
fn the_error_for_a_tool_with_an_invalid_schema_names_the_tool() {
    let mut request = request_with(vec![Message::user("hi")]);
    request.tools = vec![tool("broken")];
    request.tools[0].input_schema = json!("any").into();
    let call = ProtocolCall {
        model_id: "m",
        request: &request,
        stream: true,
        vision: false,
        max_tokens: None,
    };
    let error = codec(Protocol::OpenaiChat, "ollama").encode_request(&call).unwrap_err();
    insta::assert_snapshot!(error, @"the input schema of tool `broken` is not a JSON object; correct the tool");
}
