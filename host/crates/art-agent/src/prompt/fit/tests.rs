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

/// Returns instructions, a conversation of `turns` messages, the task, and exchanges with that many calls each.
fn messages(turns: &[usize], exchanges: &[(usize, usize)]) -> (Vec<Message>, usize) {
    let mut all = vec![Message::system("instructions")];
    for (n, length) in turns.iter().enumerate() {
        let text = format!("turn {n} {}", "x".repeat(*length));
        all.push(if n % 2 == 0 {
            Message::user(text)
        } else {
            Message::assistant(text)
        });
    }
    let task = all.len();
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
    (all, task)
}

fn fitted(messages: Vec<Message>, task: usize, budget: u64) -> Vec<Message> {
    let mut request = request(messages);
    fit(&mut request, task, budget);
    request.prompt.0
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::content_text).collect()
}

#[test]
fn a_quarter_of_the_context_up_to_8192_tokens_is_kept_for_the_reply() {
    assert_eq!((budget(4_000), budget(128_000)), (3_000, 119_808));
}

#[test]
fn three_bytes_are_a_token_and_a_turn_is_eight_more() {
    assert_eq!(request_tokens(&request(vec![Message::user("abcd")])), 10);
    assert_eq!(text_tokens("漢字"), 2);
}

#[test]
fn messages_that_fit_are_unchanged() {
    let (all, task) = messages(&[10, 10], &[(1, 10)]);
    let tokens = request_tokens(&request(all.clone()));
    assert_eq!(fitted(all.clone(), task, tokens), all);
}

#[test]
fn the_oldest_turns_go_first_and_a_question_goes_with_its_answer() {
    let (all, task) = messages(&[300, 300, 3, 3], &[(1, 3)]);
    let tokens = request_tokens(&request(all.clone()));
    let left = fitted(all, task, tokens - 1);
    assert_eq!(
        texts(&left)[..4],
        ["instructions", "turn 2 xxx", "turn 3 xxx", "the task"]
    );
}

#[test]
fn then_the_oldest_exchange_goes_with_all_its_results() {
    let (all, task) = messages(&[], &[(2, 300), (1, 30)]);
    let left = fitted(all, task, 100);
    let roles: Vec<_> = left.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::ToolResult]);
    assert_eq!(left[3].tool_call_id.as_deref(), Some("c1_0"));
}

#[test]
fn then_long_results_are_cut_with_a_marker() {
    let (all, task) = messages(&[], &[(1, 9_000)]);
    let left = fitted(all, task, 2_000);
    let text = left[3].content_text();
    assert!(text.ends_with("... [truncated 5000 of 9000 characters]"), "{text}");
}

#[test]
fn the_results_of_earlier_steps_are_cut_inside_their_section() {
    let steps =
        json!([{"stepId": "a", "results": [{"tool": "t", "output": {"x": "r".repeat(9_000)}}], "result": "ok"}]);
    let system = format!("rules\n\n## {EARLIER_RESULTS}\n{steps}\n\n## Tools\n[]");
    let left = fitted(vec![Message::system(system), Message::user("task")], 1, 1_000);
    let line = left[0].content_text().lines().nth(3).unwrap();
    let steps: Value = serde_json::from_str(line).unwrap();
    let output = steps[0]["results"][0]["output"].as_str().unwrap();
    assert!(output.ends_with("... [truncated 8008 of 9008 characters]"), "{output}");
    assert_eq!(steps[0]["result"], "ok");
    assert!(left[0].content_text().ends_with("\n\n## Tools\n[]"));
}

#[test]
fn at_last_the_previews_of_attachments_go() {
    let task = format!(
        "## Query\n> q\n\n## {ATTACHMENTS}\n{}",
        json!([{"name": "a", "preview": "p".repeat(900)}])
    );
    let left = fitted(vec![Message::system("s"), Message::user(task)], 1, 100);
    assert_eq!(
        left[1].content_text(),
        "## Query\n> q\n\n## Attachments\n[{\"name\":\"a\"}]"
    );
}

#[test]
fn tools_and_pictures_take_their_part_of_the_budget() {
    let mut request = request(vec![Message::system("s"), Message::user("old"), Message::user("task")]);
    request.media = vec![Media {
        name: "a.png".to_owned(),
        media_type: "image/png".to_owned(),
        base64: String::new(),
    }];
    assert_eq!(request_tokens(&request), 2_000 + 9 + 9 + 10);
    fit(&mut request, 2, 2_020);
    assert_eq!(texts(&request.prompt.0), ["s", "task"]);
}

proptest! {
    #[test]
    fn a_request_fits_or_contains_only_required_parts(
        turns in prop::collection::vec(0usize..200, 0..6),
        exchanges in prop::collection::vec((0usize..4, 0usize..2_000), 0..5),
        budget in 0u64..2_000,
    ) {
        let (all, task) = messages(&turns, &exchanges);
        prop_assert_eq!(request(all.clone()).prompt.validate(), Ok(()));
        let left = fitted(all.clone(), task, budget);
        // Every call has its result, and every result its call.
        prop_assert_eq!(request(left.clone()).prompt.validate(), Ok(()));
        let open = left.iter().map(|message| message.tool_calls.len()).sum::<usize>();
        prop_assert_eq!(open, left.iter().filter(|message| message.role == Role::ToolResult).count());
        prop_assert_eq!(&left[0], &all[0]);
        prop_assert!(left.contains(&all[task]));
        let last = all.iter().rposition(|message| message.role == Role::Assistant).filter(|place| *place > task);
        prop_assert!(last.is_none_or(|place| left.contains(&all[place])));
        let fits = request_tokens(&request(left.clone())) <= budget;
        let least = 2 + last.map_or(0, |place| all.len() - place);
        prop_assert!(fits || left.len() == least, "{} messages left, {} at least", left.len(), least);
        prop_assert_eq!(fitted(all, task, budget), left);
    }
}
