use art_core::prompt::ArtStandardPrompt;
use art_core::provider::ModelRequest;
use art_core::stream::Phase;
use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new(ArtStandardPrompt(messages), Phase::Execution)
}

fn call(id: &str) -> ToolCallRequest {
    ToolCallRequest {
        id: id.to_owned(),
        kind: FunctionKind::Function,
        function: FunctionCall {
            name: "t".to_owned(),
            arguments: "{}".to_owned(),
        },
    }
}

/// Returns the messages of a request, and the index of the task in them. `earlier_lengths` has the length of each earlier message
/// of the conversation; `exchanges` has, for each exchange after the task, the number of calls and the length of each of their
/// results. An exchange with an even number of calls ends with a message of the host.
fn messages(earlier_lengths: &[usize], exchanges: &[(usize, usize)]) -> (Vec<Message>, usize) {
    let mut all = vec![Message::system("instructions")];
    for (n, length) in earlier_lengths.iter().enumerate() {
        let text = format!("message {n} {}", "x".repeat(*length));
        all.push(if n % 2 == 0 {
            Message::user(text)
        } else {
            Message::assistant(text)
        });
    }
    let task_index = all.len();
    all.push(Message::user("the task"));
    for (n, (calls, length)) in exchanges.iter().enumerate() {
        let ids: Vec<_> = (0..*calls).map(|call| format!("c{n}_{call}")).collect();
        all.push(Message::assistant_calls("so", ids.iter().map(|id| call(id)).collect()));
        all.extend(
            ids.iter()
                .map(|id| Message::tool_result(id.as_str(), "t", "r".repeat(*length))),
        );
        if calls % 2 == 0 {
            all.push(Message::user("go on"));
        }
    }
    (all, task_index)
}

fn fit_messages(messages: Vec<Message>, task_index: usize, max_tokens: u64) -> Vec<Message> {
    let mut request = request(messages);
    cut_to_fit(&mut request, task_index, max_tokens);
    request.prompt.0
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::content_text).collect()
}

#[test]
fn a_quarter_of_the_context_up_to_8192_tokens_is_kept_for_the_reply() {
    assert_eq!(
        (max_request_tokens(4_000), max_request_tokens(128_000)),
        (3_000, 119_808)
    );
}

#[test]
fn three_bytes_count_as_a_token_and_each_message_adds_eight_tokens() {
    assert_eq!(request_tokens(&request(vec![Message::user("abcd")])), 2 + 8);
    assert_eq!(text_tokens("漢字"), 2);
}

#[test]
fn messages_that_fit_are_unchanged() {
    let (all, task_index) = messages(&[10, 10], &[(1, 10)]);
    let tokens = request_tokens(&request(all.clone()));
    assert_eq!(fit_messages(all.clone(), task_index, tokens), all);
}

#[test]
fn the_oldest_question_and_its_answer_are_removed_first() {
    let (all, task_index) = messages(&[300, 300, 3, 3], &[(1, 3)]);
    let tokens = request_tokens(&request(all.clone()));
    let remaining = fit_messages(all, task_index, tokens - 1);
    assert_eq!(
        texts(&remaining)[..4],
        ["instructions", "message 2 xxx", "message 3 xxx", "the task"]
    );
}

#[test]
fn without_a_conversation_the_oldest_exchange_is_removed_with_all_its_results() {
    let (all, task_index) = messages(&[], &[(2, 300), (1, 30)]);
    let remaining = fit_messages(all, task_index, 100);
    let roles: Vec<_> = remaining.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::ToolResult]);
    assert_eq!(remaining[3].tool_call_id.as_deref(), Some("c1_0"));
}

#[test]
fn a_long_result_of_the_last_exchange_is_truncated_with_a_marker() {
    let (all, task_index) = messages(&[], &[(1, 9_000)]);
    let remaining = fit_messages(all, task_index, 2_000);
    let text = remaining[3].content_text();
    assert!(text.ends_with("... [truncated 5000 of 9000 characters]"), "{text}");
}

#[test]
fn the_results_of_earlier_steps_are_truncated_inside_their_section() {
    let steps =
        json!([{"stepId": "a", "results": [{"tool": "t", "output": {"x": "r".repeat(9_000)}}], "result": "ok"}]);
    let system = format!("rules\n\n## {EARLIER_STEP_RESULTS}\n{steps}\n\n## Tools\n[]");
    let remaining = fit_messages(vec![Message::system(system), Message::user("task")], 1, 1_000);
    let line = remaining[0].content_text().lines().nth(3).unwrap();
    let steps: Value = serde_json::from_str(line).unwrap();
    let output = steps[0]["results"][0]["output"].as_str().unwrap();
    // The output as JSON has 8 characters more than the text in it.
    assert!(output.ends_with("... [truncated 8008 of 9008 characters]"), "{output}");
    assert_eq!(steps[0]["result"], "ok");
    assert!(remaining[0].content_text().ends_with("\n\n## Tools\n[]"));
}

#[test]
fn previews_of_attachments_are_removed_if_nothing_else_can_be_cut() {
    let task = format!(
        "## Query\n> q\n\n## {ATTACHMENTS}\n{}",
        json!([{"name": "a", "preview": "p".repeat(900)}])
    );
    let remaining = fit_messages(vec![Message::system("s"), Message::user(task)], 1, 100);
    assert_eq!(
        remaining[1].content_text(),
        "## Query\n> q\n\n## Attachments\n[{\"name\":\"a\"}]"
    );
}

#[test]
fn a_picture_counts_as_two_thousand_tokens_of_its_request() {
    let mut request = request(vec![Message::system("s"), Message::user("old"), Message::user("task")]);
    request.media = vec![Media {
        name: "a.png".to_owned(),
        media_type: "image/png".to_owned(),
        base64: String::new(),
    }];
    let message_tokens = [1, 1, 2].map(|text_tokens| text_tokens + OVERHEAD_TOKENS);
    assert_eq!(
        request_tokens(&request),
        MEDIA_TOKENS + message_tokens.iter().sum::<u64>()
    );
    let task_index = 2;
    // The messages have 28 tokens together, and 19 without `old`.
    cut_to_fit(&mut request, task_index, MEDIA_TOKENS + 20);
    assert_eq!(texts(&request.prompt.0), ["s", "task"]);
}

proptest! {
    #[test]
    fn a_request_fits_or_contains_only_required_parts(
        earlier_lengths in prop::collection::vec(0usize..200, 0..6),
        exchanges in prop::collection::vec((0usize..4, 0usize..2_000), 0..5),
        max_tokens in 0u64..2_000,
    ) {
        let (all, task_index) = messages(&earlier_lengths, &exchanges);
        prop_assert_eq!(request(all.clone()).prompt.validate(), Ok(()));
        let remaining = fit_messages(all.clone(), task_index, max_tokens);
        // Every call has its result, and every result its call.
        prop_assert_eq!(request(remaining.clone()).prompt.validate(), Ok(()));
        let calls = remaining.iter().map(|message| message.tool_calls.len()).sum::<usize>();
        prop_assert_eq!(calls, remaining.iter().filter(|message| message.role == Role::ToolResult).count());
        prop_assert_eq!(&remaining[0], &all[0]);
        prop_assert!(remaining.contains(&all[task_index]));
        let last_reply = all.iter().rposition(|message| message.role == Role::Assistant).filter(|index| *index > task_index);
        prop_assert!(last_reply.is_none_or(|index| remaining.contains(&all[index])));
        let fits = request_tokens(&request(remaining.clone())) <= max_tokens;
        let fixed_messages = 2; // The instructions and the task.
        let minimum = fixed_messages + last_reply.map_or(0, |index| all.len() - index);
        prop_assert!(fits || remaining.len() == minimum, "{} messages remain, the minimum is {}", remaining.len(), minimum);
        prop_assert_eq!(fit_messages(all, task_index, max_tokens), remaining);
    }
}
