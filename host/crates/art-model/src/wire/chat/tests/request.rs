//! The request.

use art_core::prompt::Message;
use art_core::provider::ReplyFormat;
use serde_json::{Value, json};

use crate::wire::tests::{asked, conversation, tool, tool_call, written};
use crate::wire::{Api, WireCall, dialect};

fn body(provider: &str, model: &str) -> Value {
    let state = json!({"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]});
    written(Api::OpenaiChat, provider, model, &conversation("openai-chat", state)).body
}

#[test]
fn a_request_is_written_as_openai_wants_it() {
    let request = written(
        Api::OpenaiChat,
        "openai",
        "gpt-5",
        &conversation("openai-chat", json!({})),
    );
    assert_eq!(request.path, "chat/completions");
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn each_provider_gets_the_fields_that_it_knows() {
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
fn a_parameter_of_the_provider_is_added_and_cannot_change_what_is_asked() {
    let body = body("openai", "gpt-5");
    assert_eq!((&body["model"], &body["user"]), (&json!("gpt-5"), &json!("someone")));
}

#[test]
fn thoughts_go_back_to_the_providers_that_want_them_and_to_no_other() {
    for (provider, details, content) in [
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
            (details, content),
            "{provider}"
        );
    }
}

#[test]
fn deepseek_gets_thoughts_for_calls_that_have_none() {
    let calls = vec![tool_call("a", "calculator", "{}")];
    let request = asked(vec![
        Message::user("go"),
        Message::assistant_calls("", calls),
        Message::assistant("done"),
    ]);
    for (provider, blank) in [("deepseek", Some(&json!(" "))), ("vllm", None)] {
        let body = written(Api::OpenaiChat, provider, "m", &request).body;
        assert_eq!(body["messages"][1].get("reasoning_content"), blank, "{provider}");
        assert_eq!(body["messages"][3].get("reasoning_content"), None, "{provider}");
    }
}

#[test]
fn turns_of_one_role_are_merged_for_r1_on_ollama_and_for_no_other_model() {
    let calls = |id: &str| vec![tool_call(id, "calculator", "{}")];
    let request = asked(vec![
        Message::user("a"),
        Message::user("b"),
        Message::assistant("c"),
        Message::assistant_calls("", calls("x")),
        Message::assistant_calls("d", calls("y")),
        Message::tool_result("x", "calculator", "1"),
        Message::tool_result("y", "calculator", "2"),
    ]);
    let roles = |provider: &str, model: &str| -> Vec<String> {
        let body = written(Api::OpenaiChat, provider, model, &request).body;
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(roles("ollama", "deepseek-r1:7b"), ["user", "assistant", "tool", "tool"]);
    assert_eq!(roles("ollama", "llama3.3").len(), 7);
    assert_eq!(roles("deepseek", "deepseek-r1").len(), 7);
    let body = written(Api::OpenaiChat, "ollama", "deepseek-r1", &request).body;
    assert_eq!(body["messages"][1]["content"], "c\n\nd");
    assert_eq!(body["messages"][1]["tool_calls"].as_array().unwrap().len(), 2);
}

/// Roles and identifiers of calls in a conversation that continues after results, as a provider gets it.
fn behind_results(provider: &str) -> (Vec<String>, Vec<String>) {
    let calls = vec![
        tool_call("call_1", "calculator", "{}"),
        tool_call("AbCdE1234", "calculator", "{}"),
    ];
    let request = asked(vec![
        Message::user("a"),
        Message::assistant_calls("", calls),
        Message::tool_result("call_1", "calculator", "1"),
        Message::tool_result("AbCdE1234", "calculator", "2"),
        Message::user("b"),
    ]);
    let body = written(Api::OpenaiChat, provider, "m", &request).body;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let messages = body["messages"].as_array().unwrap().clone();
    let called = messages[1]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["id"]);
    let answered = messages.iter().map(|message| &message["tool_call_id"]);
    let ids = called.chain(answered).filter_map(text).collect();
    (
        messages.iter().filter_map(|message| text(&message["role"])).collect(),
        ids,
    )
}

#[test]
fn mistral_gets_identifiers_of_nine_letters_and_digits_that_are_those_of_the_results() {
    let (_, ids) = behind_results("mistral");
    assert!(
        ids[0].len() == 9 && ids[0].bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{ids:?}"
    );
    assert_eq!((&ids[..2], ids[1].as_str()), (&ids[2..], "AbCdE1234"));
    let (_, ids) = behind_results("openai");
    assert_eq!(ids, ["call_1", "AbCdE1234", "call_1", "AbCdE1234"]);
}

#[test]
fn mistral_gets_a_turn_of_the_model_between_results_and_the_user() {
    let (roles, _) = behind_results("mistral");
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "user"]);
    let (roles, _) = behind_results("openai");
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
}

// A74
#[test]
fn a_tool_is_a_function_with_its_schema_for_ollama_too() {
    let mut request = asked(vec![Message::user("hi")]);
    request.tools = vec![tool("calculator")];
    let body = written(Api::OpenaiChat, "ollama", "deepseek-r1", &request).body;
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
fn a_form_for_the_reply_is_asked_for_only_when_the_prompt_says_json() {
    for (provider, text, asks) in [
        ("openai", "Plan.", false),
        ("openai", "Reply in JSON.", true),
        ("groq", "Reply in JSON.", false),
        ("compatible", "Reply in JSON.", false),
    ] {
        let mut request = asked(vec![Message::system(text), Message::user("hi")]);
        request.reply_format = ReplyFormat::Json;
        let body = written(Api::OpenaiChat, provider, "m", &request).body;
        assert_eq!(body.get("response_format").is_some(), asks, "{provider}");
    }
}

#[test]
fn a_tool_whose_schema_is_no_object_is_refused_by_name() {
    let mut request = asked(vec![Message::user("hi")]);
    request.tools = vec![tool("broken")];
    request.tools[0].input_schema = json!("any");
    let call = WireCall {
        model_id: "m",
        request: &request,
        stream: true,
        vision: false,
        max_tokens: None,
    };
    let error = dialect(Api::OpenaiChat, "ollama").request(&call).unwrap_err();
    insta::assert_snapshot!(error, @"the input schema of tool `broken` is not a JSON object; correct the tool");
}
