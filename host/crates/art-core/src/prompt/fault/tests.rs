use serde_json::json;

use super::*;

/// Returns the faults of a prompt, as messages.
fn faults(prompt: &Value) -> Vec<String> {
    let faults = ArtStandardPrompt::parse(prompt).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "t", "arguments": arguments}})
}

fn assistant_message(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(id: &str) -> Value {
    json!({"role": "tool_result", "content": "1", "tool_call_id": id, "name": "t"})
}

#[test]
fn a_prompt_with_calls_and_results_is_valid_with_either_name_of_the_result_role() {
    let result_with_role_tool = json!({"role": "tool", "content": "1", "tool_call_id": "b"});
    let prompt = json!([
        {"role": "system", "content": "s"}, {"role": "user", "content": "q"},
        assistant_message(&[call("a", "{}"), call("b", "{\"x\":1}")]), result("a"), result_with_role_tool,
        assistant_message(&[call("a", "{}")]), result("a"), {"role": "assistant", "content": "done"},
    ]);
    let parsed = ArtStandardPrompt::parse(&prompt).unwrap();
    assert_eq!(parsed.0[4].role, Role::ToolResult);
    assert_eq!(parsed.validate(), Ok(()));
}

#[test]
fn a_result_may_follow_a_tool_request() {
    let request = json!({"role": "tool_request", "name": "t", "tool_call_id": "a", "content": {"x": 1}});
    assert_eq!(faults(&json!([request, result("a")])), Vec::<String>::new());
}

#[test]
fn a_tool_request_without_a_result_is_reported_at_its_own_index() {
    let request = json!({"role": "tool_request", "name": "t", "tool_call_id": "a", "content": null});
    assert_eq!(
        faults(&json!([{"role": "user", "content": "q"}, request, assistant_message(&[])])),
        ["message 1: the call `a` has no result before the next `assistant` message"]
    );
}

#[test]
fn the_content_of_a_tool_request_is_an_object_or_null() {
    for content in [json!({"name": "t"}), json!(null)] {
        assert_eq!(
            faults(&json!([{"role": "tool_request", "content": content}])),
            Vec::<String>::new()
        );
    }
    assert_eq!(
        faults(&json!([{"role": "tool_request", "content": "t"}])),
        ["message 0: the content of a `tool_request` message is neither an object nor null"]
    );
}

#[test]
fn content_of_the_wrong_type_is_reported_for_each_role() {
    let prompt = json!([
        {"role": "system", "content": null}, {"role": "user", "content": {}}, {"role": "assistant", "content": 1},
        {"role": "tool", "content": {"a": 1}, "tool_call_id": "a"},
    ]);
    insta::assert_snapshot!(faults(&prompt).join("\n"), @r"
    message 0: the content of a `system` or `user` message is not text
    message 1: the content of a `system` or `user` message is not text
    message 2: the content of an `assistant` message is neither text nor null
    message 3: the content of a `tool_result` message is not text; write JSON as text
    ");
}

#[test]
fn a_value_that_is_not_a_message_is_reported() {
    let prompt = json!([
        "hello", {"content": "x"}, {"role": "developer", "content": "x", "toolCalls": []},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "a"}]},
    ]);
    insta::assert_snapshot!(faults(&prompt).join("\n"), @r"
    message 0: cannot be read: a message is an object
    message 1: cannot be read: missing field `role`
    message 2: the key `toolCalls` is unknown; use `role`, `content`, `name`, `tool_calls`, `tool_call_id`, `provider_state`
    message 2: the role `developer` is unknown; use `system`, `user`, `assistant`, `tool_request` or `tool_result`
    message 3: cannot be read: missing field `type`
    ");
    assert_eq!(
        faults(&json!({})),
        ["message 0: cannot be read: a prompt is an array of messages"]
    );
}

#[test]
fn unmatched_calls_and_results_are_reported() {
    let prompt = json!([
        {"role": "user", "content": "q"},
        assistant_message(&[call("a", "{}"), call("a", "[1]"), call("", "{")]),
        assistant_message(&[call("b", "{}")]), result("a"), result("b"), result("b"),
    ]);
    // `parse` would report only the faults of single messages, and would not match calls and results.
    let messages = prompt.as_array().unwrap().iter();
    let unchecked = ArtStandardPrompt(
        messages
            .map(|message| Message::deserialize_unchecked(message).unwrap())
            .collect(),
    );
    let faults: Vec<_> = unchecked
        .validate()
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(faults.join("\n"), @r"
    message 1: two calls have the id `a`; ids have to be unique in a turn
    message 1: the arguments of the call `a` are not the text of a JSON object
    message 1: a call of `t` has an empty `id`
    message 1: the arguments of the call `` are not the text of a JSON object
    message 1: the call `a` has no result before the next `assistant` message
    message 1: the call `a` has no result before the next `assistant` message
    message 1: the call `` has no result before the next `assistant` message
    message 3: the result belongs to the call `a`, which the last `assistant` message did not make, or which already has a result
    message 5: the result belongs to the call `b`, which the last `assistant` message did not make, or which already has a result
    ");
}

#[test]
fn misplaced_calls_and_missing_call_identifiers_are_reported() {
    let prompt = json!([
        {"role": "user", "content": "q", "tool_calls": [call("a", "{}")]}, {"role": "tool_result", "content": "1"},
    ]);
    assert_eq!(
        faults(&prompt),
        [
            "message 0: only an `assistant` message may have `tool_calls`",
            "message 1: a `tool_result` message has no `tool_call_id`",
        ]
    );
}

#[test]
fn the_calls_of_the_last_assistant_message_may_still_have_no_result() {
    assert_eq!(
        faults(&json!([assistant_message(&[call("a", "{}")])])),
        Vec::<String>::new()
    );
}
