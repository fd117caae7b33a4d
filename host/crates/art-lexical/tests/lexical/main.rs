//! Tests the lexical model from the outside: tasks go in, and whole replies come out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod bounds;
mod calls;
mod chains;
mod places;
mod refusals;
mod replies;
mod runs;
mod templates;

use std::sync::Arc;

use art_core::prompt::ArtStandardPrompt;
use art_core::provider::ModelRequest;
use art_core::stream::{ModelReply, Phase};
use art_core::task::{PlanTask, StepOutcome, Task, TaskFile, TaskStep};
use art_core::tool::ToolSchema;
use art_lexical::{LexicalModel, Validator};
use futures_util::FutureExt;
use serde_json::{Value, json};

/// Returns a tool whose parameters are all required. Each example has a question and an input.
fn tool(name: &str, properties: &Value, examples: &[(&str, Value)]) -> ToolSchema {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let examples: Vec<Value> = examples
        .iter()
        .map(|(question, input)| json!({"description": question, "input": input}))
        .collect();
    let schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false, "required": required});
    serde_json::from_value(json!({
        "name": name, "description": format!("Does {name}."), "inputSchema": schema, "examples": examples,
    }))
    .unwrap()
}

/// Returns a tool that converts a value to another unit.
fn conversion_tool() -> ToolSchema {
    let text = json!({"type": "string"});
    let input = |value: f64, from: &str, to: &str| json!({"value": value, "from": from, "to": to});
    let properties = json!({"value": {"type": "number"}, "from": text, "to": text});
    let examples = [
        ("How many kilograms are 5 pounds?", input(5.0, "pounds", "kilograms")),
        ("Convert 26 miles to kilometres", input(26.0, "miles", "kilometres")),
        ("Wie viele Meter sind 3 Fuß?", input(3.0, "Fuß", "Meter")),
    ];
    tool("convert", &properties, &examples)
}

/// Returns a tool that evaluates an arithmetic expression, also in words.
fn calculation_tool() -> ToolSchema {
    let input = |text: &str| json!({"expression": text});
    let examples = [
        ("What is 2+2?", input("2+2")),
        ("What is (2 + 6) * 4 / 2?", input("(2 + 6) * 4 / 2")),
        ("How much is 12 times 9?", input("12 times 9")),
        ("What is 96 divided by 8?", input("96 divided by 8")),
        ("Divide 96 by 8", input("divide 96 by 8")),
        ("What is the square root of 144?", input("square root of 144")),
        ("What is the average of 4, 8 and 15?", input("average of 4, 8 and 15")),
    ];
    tool("calculate", &json!({"expression": {"type": "string"}}), &examples)
}

/// Returns a tool that counts the words in a text.
fn word_count_tool() -> ToolSchema {
    let input = |text: &str| json!({"text": text});
    let examples = [
        (
            "How many words are in \"to be or not to be\"?",
            input("to be or not to be"),
        ),
        (
            "How many words are in this text?",
            input("The sea was calm. The ship was not."),
        ),
    ];
    tool("count", &json!({"text": {"type": "string"}}), &examples)
}

/// Returns a tool that computes an aggregate of a column.
fn table_tool() -> ToolSchema {
    let properties = json!({
        "csv": {"type": "string"},
        "aggregate": {"type": "string", "enum": ["sum", "mean", "max"]},
        "column": {"type": "string"},
    });
    let input = |aggregate: &str, column: &str| json!({"csv": "name,age\nAda,36\nBob,17\n", "aggregate": aggregate, "column": column});
    let examples = [
        ("What is the average age?", input("mean", "age")),
        ("What is the sum of age in this table?", input("sum", "age")),
    ];
    tool("table", &properties, &examples)
}

fn tools() -> Vec<ToolSchema> {
    vec![conversion_tool(), calculation_tool(), word_count_tool(), table_tool()]
}

/// A validator that does not bound the cost of a check: the schemas of these tests are small.
#[derive(Debug)]
struct Unbounded(jsonschema::Validator);

impl Validator for Unbounded {
    fn is_valid(&self, arguments: &Value) -> bool {
        self.0.is_valid(arguments)
    }
}

fn model() -> LexicalModel {
    LexicalModel::new(|schema| Some(Box::new(Unbounded(jsonschema::draft202012::new(schema).ok()?))))
}

/// Returns the reply of a new model.
fn reply(task: Task, phase: Phase) -> ModelReply {
    reply_of(&model(), task, phase)
}

fn reply_of(model: &LexicalModel, task: Task, phase: Phase) -> ModelReply {
    let mut request = ModelRequest::new(ArtStandardPrompt::default(), phase);
    request.task = Some(Arc::new(task));
    art_model::reply(model, request).now_or_never().unwrap().unwrap()
}

/// Returns the plan for `task`.
fn plan(task: PlanTask) -> Value {
    let text = reply(Task::Plan(task), Phase::Planning).text;
    let json = text
        .trim_start_matches("---JSON_OUTPUT_START---")
        .trim_end_matches("---JSON_OUTPUT_END---");
    serde_json::from_str(json).unwrap()
}

fn plan_for(query: &str, tools: &[ToolSchema], files: &[TaskFile]) -> Value {
    plan(PlanTask {
        query: query.to_owned(),
        files: files.to_vec(),
        tools: tools.to_vec(),
        earlier: Vec::new(),
    })
}

/// Returns the arguments of each call in the plan for a question that is asked with these tools and files: one item for each
/// call.
fn arguments_of_each_call(query: &str, tools: &[ToolSchema], files: &[TaskFile]) -> Vec<Value> {
    let plan = plan_for(query, tools, files);
    let steps = plan["todoList"].as_array().unwrap().iter();
    steps.map(|step| step["toolCalls"][0]["arguments"].clone()).collect()
}

/// Returns the arguments of each call in the plan for a question with [`tools`] and without attachments.
fn call_arguments(query: &str) -> Vec<Value> {
    arguments_of_each_call(query, &tools(), &[])
}

/// The result of [`call_arguments`] for a plan without calls.
const NO_CALLS: [Value; 0] = [];

fn attachment(name: &str, media_type: &str, text: &str) -> TaskFile {
    TaskFile {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        beginning: text.to_owned(),
    }
}
