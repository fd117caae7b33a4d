//! Questions that go on from earlier turns of the conversation.

use art_core::prompt::Message;
use art_core::provider::ModelRequest;
use art_model::open;
use serde_json::{Value, json};

use crate::{prompts, tools};

/// The steps of a plan, each as its description and whether it depends on `step_1`.
fn steps(request: ModelRequest) -> Vec<(String, bool)> {
    let plan = prompts::planned(open("embedded").unwrap().as_ref(), request);
    let items = plan["todoList"].as_array().unwrap().iter();
    let open = items.filter(|item| item["status"] != "completed");
    let step = |item: &Value| {
        (
            item["description"].as_str().unwrap().to_owned(),
            item["dependencies"] == json!(["step_1"]),
        )
    };
    open.map(step).collect()
}

/// A planning prompt after a run that completed `asked`.
fn after(asked: &str, query: &str) -> ModelRequest {
    let current = json!({"intent": "x", "todoList": [
        {"id": "step_1", "description": asked, "status": "completed", "dependencies": []},
    ]});
    prompts::planning(query, &tools::all(), &json!([]), Some(&current))
}

/// A planning prompt after turns of which no plan is left.
fn after_turns(asked: &str, answer: &str, query: &str) -> ModelRequest {
    let mut request = prompts::planning(query, &tools::all(), &json!([]), None);
    request.prompt.0.insert(1, Message::user(asked));
    request.prompt.0.insert(2, Message::assistant(answer));
    request
}

#[test]
fn an_operator_without_its_left_side_goes_on_from_the_last_result() {
    for query in ["and divided by 3?", "Divide it by 3", "then divide by three"] {
        let steps = steps(after("12 times 3", query));
        assert!(matches!(steps.as_slice(), [(_, true)]), "{query} {steps:?}");
    }
}

#[test]
fn an_operator_without_its_left_side_is_refused_where_nothing_was_asked_before() {
    for query in ["and divided by 3?", "Divide it by 3", "what about 50?"] {
        let request = prompts::planning(query, &tools::all(), &json!([]), None);
        assert!(steps(request).is_empty(), "{query}");
    }
}

#[test]
fn another_value_asks_the_last_question_again() {
    let asked = "Convert 5 km to miles";
    assert_eq!(
        steps(after(asked, "What about 50?")),
        [("Convert 50 km to miles".to_owned(), false)]
    );
    assert_eq!(steps(after_turns(asked, "3.1", "And 50?")), []);
    assert_eq!(
        steps(after_turns(asked, "3.1", "How about 50 km?")),
        [("Convert 50 km to miles".to_owned(), false)]
    );
}

#[test]
fn another_value_that_could_stand_for_several_is_refused() {
    assert!(steps(after("What is 12 times 3?", "What about 50?")).is_empty());
    assert!(steps(after("Who wrote Hamlet?", "What about 50?")).is_empty());
}

#[test]
fn another_value_may_follow_in_the_same_query() {
    let request = prompts::planning(
        "Convert 5 km to miles. And what about 10 km?",
        &tools::all(),
        &json!([]),
        None,
    );
    let texts: Vec<String> = steps(request).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["Convert 5 km to miles", "Convert 10 km to miles"]);
}

#[test]
fn the_last_answer_of_the_conversation_gives_its_number() {
    let found = steps(after_turns(
        "What is 12 times 3?",
        "12 times 3: 36",
        "and divided by 4?",
    ));
    assert_eq!(found, [("36 / 4?".to_owned(), false)]);
    assert!(
        steps(after_turns(
            "Who won?",
            "No tool fits \"Who won?\".",
            "and divided by 4?"
        ))
        .is_empty()
    );
}
