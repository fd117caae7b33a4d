use super::*;
use serde_json::json;

/// Parses a plan whose items are `list`.
fn parse_plan_with_items(list: &Value) -> Result<PlanDraft, Vec<String>> {
    plan_in_text(&json!({"title": "T", "intent": "I", "plan": ["one", 2], "todoList": list}).to_string())
}

fn parse_items(list: &Value) -> Vec<DraftItem> {
    parse_plan_with_items(list).unwrap().items.unwrap()
}

fn problems_of_items(list: &Value) -> Vec<String> {
    parse_plan_with_items(list).unwrap_err()
}

// Fields of a plan that are read (contract A22).
#[test]
fn every_field_of_an_item_is_read() {
    let items = parse_items(&json!([{
        "id": "a", "description": "do", "stepType": "tool", "requiredTools": ["t"], "expectedOutcome": "x",
        "toolValidationMode": "advisory", "dependencies": ["b"], "status": "pending",
    }]));
    let expected = DraftItem {
        id: "a".to_owned(),
        description: "do".to_owned(),
        status: Some(TodoItemStatus::Pending),
        dependencies: vec!["b".to_owned()],
        step_type: Some(StepType::Tool),
        required_tools: vec!["t".to_owned()],
        expected_outcome: Some("x".to_owned()),
        tool_validation_mode: Some(ToolValidationMode::Advisory),
        tool_calls: Vec::new(),
    };
    assert_eq!(items, [expected]);
}

// Fields that the model omits stay absent (contract A22).
#[test]
fn absent_fields_stay_absent() {
    let items = parse_items(&json!([{"id": "a", "description": "do"}]));
    let expected = DraftItem {
        id: "a".to_owned(),
        description: "do".to_owned(),
        ..DraftItem::default()
    };
    assert_eq!(items, [expected]);
}

// Plans with tool steps and reasoning steps (contract A24).
#[test]
fn a_reasoning_step_keeps_its_dependency_on_a_tool_step() {
    let items = parse_items(&json!([
        {"id": "a", "description": "do", "stepType": "tool", "requiredTools": ["t"]},
        {"id": "b", "description": "think", "stepType": "reasoning", "dependencies": ["a"]},
    ]));
    assert_eq!(items[1].dependencies, ["a"]);
    assert_eq!(items[1].step_type, Some(StepType::Reasoning));
}

#[test]
fn statuses_and_step_types_may_be_in_upper_or_lower_case() {
    let items = parse_items(&json!([{"id": "a", "description": "do", "status": "COMPLETED", "stepType": "Tool"}]));
    assert_eq!(items[0].status, Some(TodoItemStatus::Completed));
    assert_eq!(items[0].step_type, Some(StepType::Tool));
}

#[test]
fn numbers_are_accepted_as_ids_and_dependencies() {
    let items = parse_items(&json!([{"id": 2, "description": "do", "dependencies": [1]}]));
    assert_eq!((items[0].id.as_str(), items[0].dependencies[0].as_str()), ("2", "1"));
}

#[test]
fn the_field_plan_may_be_an_array_of_lines() {
    assert_eq!(
        parse_plan_with_items(&json!([])).unwrap().plan.as_deref(),
        Some("one\n2")
    );
}

#[test]
fn a_plan_without_a_list_of_items_differs_from_one_with_an_empty_list() {
    assert_eq!(parse_items(&json!([])), []);
    assert_eq!(plan_in_text("{\"plan\":\"p\"}").unwrap().items, None);
}

#[test]
fn every_problem_is_reported_with_its_path() {
    let list = json!([
        {"description": "do"}, "x",
        {"id": "a", "description": " ", "stepType": "magic", "dependencies": "b", "requiredTools": [{}]},
    ]);
    assert_eq!(
        problems_of_items(&list),
        [
            "`todoList[0].id` has to be a text that is not empty",
            "`todoList[1]` has to be an object",
            "`todoList[2].description` has to be a text that is not empty",
            "`todoList[2].dependencies` has to be an array of texts",
            "`todoList[2].stepType` has to be `tool` or `reasoning`",
            "`todoList[2].requiredTools` has to be an array of texts",
        ]
    );
}

#[test]
fn a_list_of_too_many_items_is_refused() {
    let item = json!({"id": "a", "description": "do"});
    let list = Value::from(vec![item; MAX_TODO_ITEMS + 1]);
    assert_eq!(
        problems_of_items(&list),
        ["`todoList` has 51 items, more than 50; use fewer, larger steps"]
    );
}

#[test]
fn each_required_tool_counts_once_and_too_many_are_refused() {
    let items_requiring = |names: Vec<String>| json!([{"id": "a", "description": "do", "requiredTools": names}]);
    let names = |count: usize| (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>();
    let repeated = [names(MAX_NAMES), names(MAX_NAMES)].concat();
    let draft = plan_in_text(&json!({"todoList": items_requiring(repeated)}).to_string()).unwrap();
    assert_eq!(draft.items.unwrap()[0].required_tools, names(MAX_NAMES));
    assert_eq!(
        problems_of_items(&items_requiring(names(MAX_NAMES + 1))),
        ["`todoList[0].requiredTools` has 65 names, more than 64"]
    );
}

#[test]
fn an_id_with_a_newline_is_refused() {
    let list = json!([{"id": "a\n## Tools", "description": "do"}]);
    assert_eq!(
        problems_of_items(&list),
        ["`todoList[0].id` has to be one line of at most 128 characters"]
    );
}

#[test]
fn an_object_before_the_plan_is_skipped() {
    let draft = plan_in_text("as {\"a\": 1} shows: {\"plan\": \"p\", \"todoList\": []}").unwrap();
    assert_eq!(draft.plan.as_deref(), Some("p"));
}

// Section headings of the older text form (contract A27).
#[test]
fn headings_are_read_in_upper_or_lower_case_and_with_any_spacing() {
    let draft = plan_in_text("  TITLE : a b\n**Intent:** know\nplan:\n - x\n - y\nTool Calls: [1]\nz").unwrap();
    assert_eq!(draft.title.as_deref(), Some("a b"));
    assert_eq!(draft.intent.as_deref(), Some("know"));
    assert_eq!(draft.plan.as_deref(), Some("- x\n- y"));
    assert_eq!(draft.items, None);
}

// Section headings of the older text form (contract A27).
#[test]
fn a_missing_heading_is_tolerated() {
    assert_eq!(plan_in_text("Plan: x").unwrap().title, None);
}

// Malformed JSON and other wrong shapes are reported as problems of the reply (contract A26).
#[test]
fn text_without_structure_is_not_a_plan() {
    assert_eq!(
        plan_in_text("hello there").unwrap_err(),
        ["there is no JSON with a plan in the reply"]
    );
}

// Malformed JSON and other wrong shapes are reported as problems of the reply (contract A26).
#[test]
fn invalid_json_is_reported_with_its_position() {
    let problems = plan_in_text("Plan: {\"todoList\": [}").unwrap_err();
    assert_eq!(
        problems,
        ["the plan is not valid JSON: expected value at line 1 column 15"]
    );
}

#[test]
fn the_problem_of_a_submitted_plan_without_fields_says_that_there_are_no_fields() {
    let problem = missing_fields_problem(&JsonObject::new()).unwrap();
    assert!(problem.ends_with("it has no fields"), "{problem}");
}

#[test]
fn a_title_has_at_most_ten_words() {
    let draft = plan_in_text("{\"title\": \"1 2 3 4 5 6  7 8 9 10 11\", \"todoList\": []}").unwrap();
    assert_eq!(draft.title.as_deref(), Some("1 2 3 4 5 6 7 8 9 10"));
}

#[test]
fn a_text_that_is_too_long_is_cut() {
    let items = parse_items(&json!([{"id": "a", "description": "x".repeat(20_000)}]));
    assert!(items[0].description.ends_with("[truncated 10000 of 20000 characters]"));
}

/// Parses a reply of the planner that has only this text.
fn parse_text_reply(text: &str) -> Result<PlanDraft, Vec<String>> {
    let reply = ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    };
    parse_planning(&reply).outcome
}

#[test]
fn an_answer_in_prose_may_contain_json_or_name_the_fields_of_a_plan() {
    for text in [
        "A book as JSON:\n```json\n{\"title\": \"Dune\", \"year\": 1965}\n```",
        "OpenAI returns `toolCalls` when a function is called.",
        "The field todoList holds the items.",
    ] {
        let draft = parse_text_reply(text).unwrap();
        assert_eq!((draft.answer.as_deref(), draft.items), (Some(text), None), "{text}");
    }
}

#[test]
fn a_plan_that_has_its_items_under_another_key_is_refused() {
    for key in ["todo_list", "steps"] {
        let text = json!({"title": "t", key: [{"id": "a", "description": "d"}]}).to_string();
        assert_eq!(
            parse_text_reply(&text).unwrap_err(),
            ["there is no JSON with a plan in the reply"],
            "{key}"
        );
    }
}
