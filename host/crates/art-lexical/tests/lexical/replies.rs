//! The texts of replies other than plans.

use art_core::task::AnswerTask;

use super::*;

#[test]
fn the_answer_shows_results_failures_and_what_no_tool_can_do() {
    let step = |id: &str, description: &str, outcome| TaskStep {
        id: id.to_owned(),
        description: description.to_owned(),
        outcome,
    };
    let done = StepOutcome::Completed {
        results: vec![json!({"result": 4})],
        sources: Vec::new(),
    };
    let several = StepOutcome::Completed {
        results: vec![
            json!({"result": 1}),
            // This value replaces the output of a tool that has already displayed it to the user.
            json!({"displayed": true}),
            json!([{"a": 1}, {"a": 2}]),
        ],
        sources: Vec::new(),
    };
    let task = AnswerTask {
        query: "q".to_owned(),
        plan: "Call `calculate` for \"2+2\".\nNo tool fits \"x\": no example is like it.".to_owned(),
        steps: vec![
            step("a", "What is 2+2?", done),
            step("b", "What is 1/0?", StepOutcome::Failed("division by zero".to_owned())),
            step("d", "All of it", several),
            step("c", "1+1", StepOutcome::Unfinished("it waits".to_owned())),
        ],
    };
    let reply = reply(Task::Answer(task), Phase::Synthesis);
    insta::assert_snapshot!(reply.text, @r#"
    <mainContent>
    2+2: 4

    1/0: failed, division by zero

    All of it (1 of 3): 1

    All of it (2 of 3): see above

    All of it (3 of 3):

    | a |
    | --- |
    | 1 |
    | 2 |

    1+1: not done, it waits

    No tool fits "x": no example is like it.
    </mainContent>
    <uiMetadata>{"sources":[]}</uiMetadata>
    "#);
    assert_eq!(reply.unanswered, ["No tool fits \"x\": no example is like it."]);
}

#[test]
fn the_sources_of_an_answer_are_no_part_of_its_text() {
    let source = json!({"sourceName": "Atlas", "url": "https://atlas.example/"});
    let outcome = StepOutcome::Completed {
        results: vec![json!({"result": 4})],
        sources: vec![serde_json::from_value(source).unwrap()],
    };
    let task = AnswerTask {
        query: "q".to_owned(),
        plan: String::new(),
        steps: vec![TaskStep {
            id: "a".to_owned(),
            description: "2+2".to_owned(),
            outcome,
        }],
    };
    let text = reply(Task::Answer(task), Phase::Synthesis).text;
    let (answer, metadata) = text.split_once("</mainContent>").unwrap();
    assert!(!answer.contains("Atlas") && metadata.contains("Atlas"), "{text}");
}

#[test]
fn the_reply_to_a_request_without_a_task_says_what_the_model_cannot_do() {
    let request = ModelRequest::new(ArtStandardPrompt::default(), Phase::Synthesis);
    let reply = art_model::reply(&crate::model(), request)
        .now_or_never()
        .unwrap()
        .unwrap();
    assert!(reply.text.contains("cannot reply to a prompt"));
}
