use super::*;
use crate::plan::tests::item;

mod corpus;

fn tool(name: &str, input: &Value, output: &Value) -> ToolSchema {
    serde_json::from_value(json!({"name": name, "description": "d", "inputSchema": input, "outputSchema": output}))
        .unwrap()
}

/// Number of calls that the run may make.
const MAX_CALLS: usize = 4;

/// What [`faults`] returns for a plan without faults.
const NO_FAULTS: [&str; 0] = [];

/// Returns the tools that the plans of the tests may call. `search` returns pages with addresses, `fetch` takes an address and
/// returns a text, `anything` takes and returns anything, and `count` returns `words` for certain only if `only` is `words`.
fn tools() -> Vec<ToolSchema> {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let pages = json!({"type": "array", "items": object(json!({"url": {"type": "string"}, "size": {"type": "integer"}}), json!(["url"]))});
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 3});
    vec![
        tool(
            "search",
            &object(
                json!({"query": {"type": "string"}, "limit": limit, "order": {"enum": ["new", "old"]}}),
                json!(["query", "limit"]),
            ),
            &object(
                json!({"pages": pages, "count": {"type": "integer"}}),
                json!(["pages", "count"]),
            ),
        ),
        tool(
            "fetch",
            &object(json!({"url": {"type": "string"}}), json!(["url"])),
            &json!({"type": "string"}),
        ),
        tool("anything", &json!({"type": "object"}), &json!({})),
        tool(
            "count",
            &object(json!({"only": {"enum": ["words", "name", null]}}), json!([])),
            &json!({
                "type": "object",
                "properties": {"words": {"type": "integer"}, "name": {"type": "string"}},
                "x-when": [{"input": {"only": ["words"]}, "output": {"required": ["words"]}}],
            }),
        ),
    ]
}

/// Returns a pending step with one planned call.
fn step(id: &str, tool: &str, arguments: Value) -> TodoItem {
    TodoItem {
        tool_calls: vec![PlannedCall {
            tool_name: tool.to_owned(),
            arguments,
        }],
        ..item(id, &[])
    }
}

/// Returns the parameters that the plan declares.
fn params() -> BTreeMap<String, Value> {
    BTreeMap::from([
        (
            "limit".to_owned(),
            json!({"type": "integer", "minimum": 1, "maximum": 5}),
        ),
        ("address".to_owned(), json!({"type": "string"})),
        ("list".to_owned(), json!({"type": "array"})),
    ])
}

/// Checks the calls of `items` against the tools, the parameters and the only file `sales.csv`.
fn check(items: &[TodoItem]) -> CallCheck {
    check_calls(CallCheckInput {
        items,
        earlier: &[],
        tools: &tools(),
        disabled: &["delete".to_owned()],
        files: &BTreeSet::from(["sales.csv"]),
        max_calls: MAX_CALLS,
        params: &params(),
    })
}

fn faults(items: &[TodoItem]) -> Vec<String> {
    check(items).faults.into_iter().map(|fault| fault.text).collect()
}

/// Returns the step `step_1`, which calls `search` with valid arguments.
fn search_step() -> TodoItem {
    step("step_1", "search", json!({"query": "art"}))
}

/// Returns the faults of a plan that searches in `step_1`, and in `step_2` fetches `url`, which may be a reference.
fn fetch_faults(url: impl Into<Value>) -> Vec<String> {
    let url = url.into();
    faults(&[search_step(), step("step_2", "fetch", json!({"url": url}))])
}

#[test]
fn a_call_whose_values_fit_has_no_fault() {
    let found = check(&[
        search_step(),
        step("step_2", "anything", json!({"x": {"$from": "step_1"}})),
    ]);
    assert_eq!((found.faults, found.at_run_time), (vec![], vec![]));
    assert_eq!(
        fetch_faults(json!({"$concat": ["https://", {"$from": "step_1", "path": "/count"}]})),
        NO_FAULTS
    );
    assert_eq!(fetch_faults(json!({"$attachment": "sales.csv"})), NO_FAULTS);
}

#[test]
fn a_value_that_may_be_absent_is_checked_at_run_time() {
    let found = check(&[
        search_step(),
        step(
            "step_2",
            "fetch",
            json!({"url": {"$from": "step_1", "path": "/pages/0/url"}}),
        ),
    ]);
    assert_eq!(found.faults, []);
    assert_eq!(found.at_run_time, ["step_2.arguments.url"]);
}

#[test]
fn an_optional_value_is_known_to_fit_only_if_the_tool_promises_it_for_the_arguments() {
    let fit_of_reference_to_words = |only: Value| {
        let arguments = json!({"query": {"$concat": [{"$from": "step_1", "path": "/words"}]}});
        let found = check(&[
            step("step_1", "count", json!({ "only": only })),
            step("step_2", "search", arguments),
        ]);
        assert_eq!(found.faults, []);
        found.references[0].fit
    };
    assert_eq!(fit_of_reference_to_words(json!("words")), Fit::Fits);
    assert_eq!(fit_of_reference_to_words(json!("name")), Fit::AtRunTime);
    assert_eq!(fit_of_reference_to_words(json!(null)), Fit::AtRunTime);
}

#[test]
fn outputs_of_completed_steps_and_of_steps_without_planned_calls_are_checked_at_run_time() {
    let mut completed = search_step();
    completed.status = TodoItemStatus::Completed;
    let without_planned_calls = item("step_1", &[]);
    for source_step in [without_planned_calls, completed] {
        let url = json!({"$from": "step_1", "path": "/anything"});
        let found = check(&[source_step, step("step_2", "fetch", json!({"url": url}))]);
        assert_eq!(found.faults, []);
        assert_eq!(found.at_run_time, ["step_2.arguments.url"]);
    }
}

#[test]
fn a_concatenation_is_checked_at_run_time_unless_every_part_is_certainly_a_scalar() {
    for (part, places_at_run_time) in [
        (json!({"$from": "step_1", "path": "/count"}), vec![]),
        (
            json!({"$from": "step_1", "path": "/pages/0/url"}),
            vec!["step_2.arguments.url"],
        ),
        (json!({"$concat": [{"$from": "step_0"}]}), vec!["step_2.arguments.url"]),
    ] {
        let url = json!({"$concat": ["https://", part]});
        let call = step("step_2", "fetch", json!({"url": url}));
        let found = check(&[step("step_0", "anything", json!({})), search_step(), call]);
        assert_eq!(
            (found.faults, found.at_run_time),
            (vec![], places_at_run_time.into_iter().map(str::to_owned).collect())
        );
    }
}

#[test]
fn the_fault_of_a_wrong_type_names_the_only_position_in_the_output_that_would_fit() {
    assert_eq!(
        fetch_faults(json!({"$from": "step_1", "path": "/pages/0"})),
        [
            "`step_2.arguments.url`: a string is asked for, `/pages/0` of `step_1` is an object; `/pages/0/url` would fit"
        ]
    );
}

#[test]
fn every_fault_of_the_arguments_is_reported_at_its_place() {
    let call = step(
        "step_1",
        "search",
        json!({"limit": 12, "order": "newest", "querry": "art"}),
    );
    insta::assert_snapshot!(faults(&[call]).join("\n"), @r#"
    `step_1.arguments.limit`: an integer of at least 1 and of at most 9 is asked for, `12` is given
    `step_1.arguments.order`: one of `"new"`, `"old"` is asked for, `"newest"` is given
    `step_1.arguments.querry`: the tool has no such parameter; did you mean `query`?
    `step_1.arguments`: `query` is missing, a string is asked for
    "#);
}

#[test]
fn a_required_argument_with_a_default_may_be_missing() {
    // The call of `search` lacks `limit`.
    assert_eq!(faults(&[search_step()]), NO_FAULTS);
}

#[test]
fn the_fault_of_an_unknown_tool_suggests_the_tool_with_the_most_similar_name() {
    assert_eq!(
        faults(&[step("step_1", "Search", json!({}))]),
        ["`step_1`: there is no tool `Search`; did you mean `search`?"]
    );
}

#[test]
fn a_pointer_that_the_output_does_not_declare_is_a_fault() {
    assert_eq!(
        fetch_faults(json!({"$from": "step_1", "path": "/page/0/url"})),
        [
            "`step_2.arguments.url`: the output of `step_1` (`search`) has nothing at `/page`; did you mean `/pages/0/url`?"
        ]
    );
    assert_eq!(
        fetch_faults(json!({"$from": "step_1", "path": "/count/value"})),
        [
            "`step_2.arguments.url`: the output of `step_1` (`search`) has nothing at `/count/value`; did you mean `/count`?"
        ]
    );
}

#[test]
fn a_reference_to_its_own_step_or_to_a_later_or_an_unknown_one_is_a_fault() {
    let query_from = |step: &str| json!({"query": {"$from": step}});
    let texts = faults(&[
        step("a", "search", query_from("a")),
        step("b", "search", query_from("c")),
        step("c", "search", query_from("z")),
    ]);
    insta::assert_snapshot!(texts.join("\n"), @r"
    `a.arguments.query`: `$from` names `a`, which is this step itself
    `b.arguments.query`: `$from` names `c`, which comes after this step
    `c.arguments.query`: `$from` names `z`, which is not in the plan
    ");
}

#[test]
fn a_concatenation_with_an_object_is_a_fault() {
    assert_eq!(
        fetch_faults(json!({"$concat": ["a", {"$from": "step_1"}]})),
        ["`step_2.arguments.url`: `$concat` takes texts, numbers and booleans, the output of `step_1` is an object"]
    );
}

#[test]
fn an_unknown_file_is_a_fault_unless_the_step_depends_on_one_that_may_produce_it() {
    assert_eq!(
        fetch_faults(json!({"$attachment": "sale.csv"})),
        ["`step_2.arguments.url`: there is no file `sale.csv`; did you mean `sales.csv`?"]
    );
    let mut dependent = step("step_2", "fetch", json!({"url": {"$attachment": "made.csv"}}));
    dependent.dependencies = vec!["step_1".to_owned()];
    let found = check(&[search_step(), dependent]);
    assert_eq!(found.faults, []);
    assert_eq!(found.at_run_time, ["step_2.arguments.url"]);
}

#[test]
fn a_fault_in_a_step_with_several_calls_names_the_number_of_the_call() {
    let mut with_two_calls = search_step();
    with_two_calls.tool_calls.push(PlannedCall {
        tool_name: "fetch".to_owned(),
        arguments: json!({}),
    });
    let takes_third_output = step("step_2", "fetch", json!({"url": {"$from": "step_1", "call": 2}}));
    assert_eq!(
        faults(&[with_two_calls, takes_third_output]),
        [
            "`step_1.toolCalls[1].arguments`: `url` is missing, a string is asked for",
            "`step_2.arguments.url`: `step_1` has 2 planned calls, so `call` is at most 1"
        ]
    );
}

#[test]
fn arguments_that_are_no_object_are_a_fault_of_their_call() {
    let wrong_arguments = [json!("{\"query\": "), json!("art"), json!([1]), json!(true)];
    let texts = wrong_arguments.map(|arguments| faults(&[step("step_1", "search", arguments)]).join("\n"));
    insta::assert_snapshot!(texts.join("\n"), @r"
    `step_1.arguments`: an object is asked for, the text is not valid JSON: EOF while parsing a value at line 1 column 10
    `step_1.arguments`: an object is asked for, the text is not valid JSON: expected value at line 1 column 1
    `step_1.arguments`: an object is asked for, `[1]` is given
    `step_1.arguments`: an object is asked for, `true` is given
    ");
}

#[test]
fn every_call_over_the_maximum_of_the_run_is_a_fault() {
    let steps = |count: usize| {
        (1..=count).map(|n| TodoItem {
            id: format!("step_{n}"),
            ..search_step()
        })
    };
    assert_eq!(faults(&steps(MAX_CALLS).collect::<Vec<_>>()), NO_FAULTS);
    assert_eq!(
        faults(&steps(MAX_CALLS + 2).collect::<Vec<_>>()),
        [
            "`step_5`: this is call 5 of the plan, and the run may make only 4",
            "`step_6`: this is call 6 of the plan, and the run may make only 4",
        ]
    );
}

/// Checks a call that gives `arguments` to a tool with the input schema `input_schema`.
fn check_arguments(input_schema: &Value, arguments: Value) -> CallCheck {
    check_calls(CallCheckInput {
        items: &[step("a", "taker", arguments)],
        earlier: &[],
        tools: &[tool("taker", input_schema, &json!({}))],
        disabled: &[],
        files: &BTreeSet::new(),
        max_calls: 1,
        params: &BTreeMap::new(),
    })
}

#[test]
fn keywords_about_a_whole_array_are_checked() {
    let input_with_array =
        |keyword: &str, asked: Value| json!({"type": "object", "properties": {"x": {"type": "array", keyword: asked}}});
    let arguments = || json!({"x": [1, 1]});
    assert_eq!(
        check_arguments(&input_with_array("minItems", json!(2)), arguments()),
        CallCheck::default()
    );
    let found = check_arguments(&input_with_array("maxItems", json!(1)), arguments());
    assert_eq!(
        found.faults[0].text,
        "`a.arguments.x`: an array with a number of items of at most 1 is asked for, an array is given"
    );
    assert_eq!(
        check_arguments(&input_with_array("uniqueItems", json!(true)), arguments()).at_run_time,
        ["a.arguments.x"]
    );
}

#[test]
fn an_item_of_an_array_may_lack_a_required_property_with_a_default() {
    let item = json!({"type": "object", "properties": {"n": {"type": "integer", "default": 1}}, "required": ["n"]});
    let input = json!({"type": "object", "properties": {"x": {"type": "array", "items": item}}});
    assert_eq!(
        check_arguments(&input, json!({"x": [{}, {"n": 2}]})),
        CallCheck::default()
    );
}

#[test]
fn properties_beside_an_any_of_are_checked_too() {
    let input = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "additionalProperties": false,
        "anyOf": [{"type": "object", "required": ["a"]}],
    });
    assert_eq!(check_arguments(&input, json!({"a": 1})), CallCheck::default());
    let fault_texts = |arguments: Value| {
        check_arguments(&input, arguments)
            .faults
            .into_iter()
            .map(|fault| fault.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        fault_texts(json!({"a": "1"})),
        ["`a.arguments.a`: an integer is asked for, `\"1\"` is given"]
    );
    assert_eq!(
        fault_texts(json!({"b": "1"})),
        ["`a.arguments`: an object with `a` is asked for, an object is given"]
    );
}

#[test]
fn the_faults_of_one_call_are_limited() {
    let reference_to_unknown_step = json!({"$from": "z"});
    let arguments: JsonObject = (0..100)
        .map(|n| (format!("x{n}"), reference_to_unknown_step.clone()))
        .collect();
    let call = step("step_1", "anything", Value::Object(arguments));
    assert_eq!(faults(&[call]).len(), MAX_FAULTS);
}

#[test]
fn the_third_identical_call_of_a_step_is_a_fault() {
    let mut item = step("step_1", "count", json!({}));
    item.tool_calls = vec![item.tool_calls[0].clone(); 3];
    assert_eq!(
        faults(&[item]),
        ["`step_1.toolCalls[2]`: a step may make the same call only 2 times, and this is number 3"]
    );
}

#[test]
fn the_fault_for_a_disabled_tool_says_that_it_is_disabled() {
    assert_eq!(
        faults(&[step("step_1", "delete", json!({}))]),
        ["`step_1`: the tool `delete` is disabled in this conversation"]
    );
}

#[test]
fn the_schema_of_a_parameter_of_the_plan_is_compared_with_what_is_asked_for() {
    let search_with_limit = |name: &str| step("step_1", "search", json!({"query": "art", "limit": {"$param": name}}));
    assert_eq!(faults(&[search_with_limit("limit")]), NO_FAULTS);
    assert_eq!(
        faults(&[search_with_limit("address")]),
        [
            "`step_1.arguments.limit`: an integer of at least 1 and of at most 9 is asked for, the parameter `address` is a string"
        ]
    );
    assert_eq!(
        faults(&[search_with_limit("limits")]),
        ["`step_1.arguments.limit`: the plan declares no parameter `limits`; did you mean `limit`?"]
    );
}

#[test]
fn a_concatenation_may_contain_a_parameter_of_the_plan_only_if_it_is_a_scalar() {
    assert_eq!(
        fetch_faults(json!({"$concat": ["https://", {"$param": "address"}]})),
        NO_FAULTS
    );
    assert_eq!(
        fetch_faults(json!({"$concat": ["https://", {"$param": "list"}]})),
        ["`step_2.arguments.url`: `$concat` takes texts, numbers and booleans, the parameter `list` is an array"]
    );
}

#[test]
fn each_reference_is_listed_with_whether_it_fits() {
    let from = |path: &str| json!({"$from": "step_1", "path": path});
    let found = check(&[
        search_step(),
        step("step_2", "fetch", json!({"url": {"$concat": ["x", from("/count")]}})),
        step("step_3", "fetch", json!({"url": from("/pages/0/url")})),
        step("step_4", "fetch", json!({"url": from("/count")})),
        step(
            "step_5",
            "anything",
            json!({"a": {"b": [from("/count"), {"$attachment": "sales.csv"}]}}),
        ),
    ]);
    let summary = |checked: &CheckedReference| (checked.step.clone(), checked.argument.clone(), checked.fit);
    let expected = |step: &str, argument: &str, fit| (step.to_owned(), argument.to_owned(), fit);
    assert_eq!(
        found.references.iter().map(summary).collect::<Vec<_>>(),
        [
            expected("step_2", "url", Fit::Fits),
            expected("step_3", "url", Fit::AtRunTime),
            expected("step_4", "url", Fit::Fault),
            // The schema of `anything` says nothing of `a`, so `a` is checked as a whole, and its references are listed at `a`.
            expected("step_5", "a", Fit::Fits),
            expected("step_5", "a", Fit::Fits),
        ]
    );
}

#[test]
fn a_concatenation_is_checked_at_run_time_if_a_part_may_be_absent() {
    let url = json!({"$concat": ["https://", {"$from": "step_1", "path": "/pages/0/url"}]});
    let found = check(&[search_step(), step("step_2", "fetch", json!({"url": url}))]);
    assert_eq!(
        (found.faults, found.at_run_time),
        (vec![], vec!["step_2.arguments.url".to_owned()])
    );
}
