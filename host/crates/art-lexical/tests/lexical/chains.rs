//! Parts of a question that take the result of an earlier part.

use super::*;

/// Returns a calculator whose output has the schema `output_schema`.
fn calculator_with_output(output_schema: Value) -> ToolSchema {
    ToolSchema {
        output_schema: Some(output_schema.into()),
        ..calculation_tool()
    }
}

/// Returns a calculator whose output has the field `result`.
fn calculator_with_result() -> ToolSchema {
    calculator_with_output(
        json!({"type": "object", "properties": {"result": {"anyOf": [{"type": "number"}, {"type": "string"}]}}}),
    )
}

/// Returns the second step of the plan for a question whose first part has an output with the schema `output_schema`.
fn second_step(query: &str, output_schema: Value) -> Value {
    let plan = plan_for(query, &[calculator_with_output(output_schema), conversion_tool()], &[]);
    plan["todoList"][1].clone()
}

/// Returns the arguments of a calculator that divides the value at `path` in the output of `step`.
fn division_of_result(step: &str, path: &str, divisor: u32) -> Value {
    json!({"expression": {"$concat": ["(", {"$from": step, "path": path}, format!(") divided by {divisor}")]}})
}

#[test]
fn a_part_may_refer_to_the_result_of_the_part_before() {
    let expected = [
        json!({"expression": "12 times 9"}),
        division_of_result("step_1", "/result", 3),
    ];
    for query in [
        "How much is 12 times 9, and what is that divided by 3?",
        "How much is 12 times 9? What is the result divided by 3?",
        "How much is 12 times 9 and then what is that divided by 3?",
    ] {
        assert_eq!(
            arguments_of_each_call(query, &[calculator_with_result(), conversion_tool()], &[]),
            expected,
            "{query}"
        );
    }
}

#[test]
fn a_reference_takes_the_result_of_the_part_right_before() {
    let query = "How much is 12 times 9? What is that divided by 3? What is that divided by 4?";
    let calls = arguments_of_each_call(query, &[calculator_with_result()], &[]);
    assert_eq!(calls[2], division_of_result("step_2", "/result", 4));
}

#[test]
fn a_reference_that_is_the_whole_argument_is_not_concatenated() {
    let query = "How much is 12 times 9? Convert that pounds to kilograms";
    let call = &second_step(query, Value::clone(&calculator_with_result().output_schema.unwrap()))["toolCalls"][0];
    assert_eq!(call["toolName"], "convert");
    assert_eq!(
        call["arguments"],
        json!({"value": {"$from": "step_1", "path": "/result"}, "from": "pounds", "to": "kilograms"})
    );
}

#[test]
fn the_main_value_of_an_output_is_the_field_named_value_or_the_only_field() {
    let query = "How much is 12 times 9? What is that divided by 3?";
    let number = json!({"type": ["number", "null"]});
    for (properties, path) in [
        (
            json!({"rows": {"type": "array"}, "value": number, "count": number}),
            "/value",
        ),
        (json!({"a/b": number}), "/a~1b"),
    ] {
        let step = second_step(query, json!({"type": "object", "properties": properties}));
        assert_eq!(step["toolCalls"][0]["arguments"], division_of_result("step_1", path, 3));
    }
}

#[test]
fn an_argument_may_name_the_main_value() {
    let text = json!({"type": "string"});
    let examples = [
        (
            "How many words are in \"to be\"?",
            json!({"text": "to be", "only": "words"}),
        ),
        (
            "How many lines are in \"to be\"?",
            json!({"text": "to be", "only": "lines"}),
        ),
    ];
    let mut count = tool("count", &json!({"text": text, "only": text}), &examples);
    let number = json!({"type": "integer"});
    count.output_schema = Some(json!({"type": "object", "properties": {"words": number, "lines": number}}).into());
    let query = "How many lines are in \"one two\"? What is that divided by 3?";
    assert_eq!(
        arguments_of_each_call(query, &[count, calculator_with_result()], &[])[1],
        division_of_result("step_1", "/lines", 3)
    );
}

#[test]
fn a_reference_is_not_understood_if_the_output_has_no_main_value() {
    let query = "How much is 12 times 9? What is that divided by 3?";
    let number = json!({"type": "number"});
    for properties in [
        json!({"low": number, "high": number}),
        json!({"names": {"type": "array"}, "count": number}),
        json!({"is_even": {"type": "boolean"}}),
    ] {
        let plan = plan_for(
            query,
            &[calculator_with_output(
                json!({"type": "object", "properties": properties}),
            )],
            &[],
        );
        assert_eq!(plan["todoList"].as_array().unwrap().len(), 1);
        assert!(plan["plan"].as_str().unwrap().contains("was not understood"), "{plan}");
    }
}

/// Returns the first step of the plan for `query`, asked after another question whose step `step_4` had the output `result`.
fn follow_up_step(query: &str, result: Value) -> Value {
    let done = TaskStep {
        id: "step_4".to_owned(),
        description: "What is 2+2?".to_owned(),
        outcome: StepOutcome::Completed {
            results: vec![result],
            sources: Vec::new(),
        },
    };
    let task = PlanTask {
        query: query.to_owned(),
        tools: tools(),
        earlier: vec![done],
        ..PlanTask::default()
    };
    plan(task)["todoList"][0].clone()
}

#[test]
fn new_steps_are_numbered_after_earlier_ones_and_may_refer_to_the_last() {
    let step = follow_up_step("What is that divided by 2?", json!({"result": 4}));
    assert_eq!(step["id"], "step_5");
    assert_eq!(
        step["toolCalls"][0]["arguments"],
        division_of_result("step_4", "/result", 2)
    );
    let table = json!({"rows": [{"sum_price": 16}], "value": 16, "row_count": 1});
    let step = follow_up_step("What is that divided by 2?", table);
    assert_eq!(
        step["toolCalls"][0]["arguments"],
        division_of_result("step_4", "/value", 2)
    );
}

#[test]
fn an_earlier_output_that_has_only_a_list_cannot_be_referred_to() {
    assert_eq!(
        follow_up_step("What is that divided by 2?", json!({"names": ["a", "b"]})),
        Value::Null
    );
}
