//! Schemas that are small but expensive to check a value against: the time and the memory that a command takes for them are
//! bounded.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

use crate::handmade::Handmade;
use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{Provider, Reply, is_planning, plan_text};

/// Limits of each command: kilobytes of writable memory and seconds of processor time. They are generous, because a build
/// for tests is slow.
const COMMAND_LIMITS: &str = "ulimit -d 1000000; ulimit -t 60";

/// Runs `art` with the calculator and a handmade tool: a component with a core module in text format.
fn art(tool: &Handmade<'_>, args: &[&str]) -> CommandOutput {
    art_with_component(&tool.build(), args)
}

/// Same as [`art`], with the bytes of a component.
fn art_with_component(tool: &[u8], args: &[&str]) -> CommandOutput {
    home_with(tool).art_with_limits(COMMAND_LIMITS, args)
}

/// Returns a home with the calculator and a handmade tool.
fn home_with(tool: &[u8]) -> Home {
    let home = Home::empty();
    let mut plugins = components::PLUGINS.iter();
    let (name, path) = plugins.find(|(name, _)| *name == "calculator").unwrap();
    home.add(name, path);
    fs::write(home.plugins().join("handmade.wasm"), tool).unwrap();
    home
}

/// Returns a reference to the definition `name`.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Returns `n` properties, each with the schema `schema`.
fn properties(n: usize, schema: &Value) -> Map<String, Value> {
    (0..n).map(|i| (format!("p{i}"), schema.clone())).collect()
}

/// Returns a schema with a chain of four definitions, each with `n` properties that refer to the next definition. So `n` to the
/// power of 4 paths of references lead to the definition after the fourth, and the schema there counts once for each path.
fn fanning_schema(n: usize) -> String {
    let level = |i: usize| {
        (
            format!("d{i}"),
            json!({"properties": properties(n, &reference(&format!("d{}", i + 1)))}),
        )
    };
    let mut defs: Map<_, _> = (0..4).map(level).collect();
    defs.insert("d4".to_owned(), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": reference("d0")}, "$defs": defs}).to_string()
}

#[test]
fn a_question_is_answered_even_if_the_schema_references_of_another_tool_fan_out() {
    for (n, is_refused) in [(2, false), (4, false), (20, true), (40, true)] {
        let input = fanning_schema(n);
        let tool = Handmade {
            input_schema: &input,
            ..Handmade::default()
        };
        art(&tool, &["run", "What is 2 + 2?"]).assert_answers(&["4"]);
        let list = art(&tool, &["tool", "list"]).stdout();
        assert_eq!(list.contains("more than 2000 schemas"), is_refused, "{n}: {list}");
    }
}

#[test]
fn a_pattern_is_counted_once_for_each_path_of_references_that_leads_to_it() {
    // The pattern counts `n * n` times, once for each path. A schema may have 64 patterns, so the tool with `n = 8` is refused
    // only because of its example.
    for (n, reason) in [
        (8, "example 0 does not match"),
        (30, "more than 64 patterns"),
        (65, "more than 64 patterns"),
    ] {
        let input = json!({
            "type": "object",
            "properties": properties(n, &reference("inner")),
            "$defs": {"inner": {"properties": properties(n, &reference("text"))}, "text": {"pattern": "(a|b)*a(a|b){50}c"}},
        });
        let examples = vec![json!({"p0": {"p0": "ab".repeat(1_500)}}).to_string(); 3];
        let tool = Handmade {
            input_schema: &input.to_string(),
            examples: &examples,
            ..Handmade::default()
        };
        let list = art(&tool, &["tool", "list"]).stdout();
        assert!(list.contains(reason), "{n}: {list}");
    }
}

/// Returns an output of a megabyte, as an array of short texts.
fn megabyte_output() -> Vec<u8> {
    let texts = vec![format!("\"{}\"", "x".repeat(23)); 40_000].join(",");
    format!("[{texts}]").into_bytes()
}

/// Returns a tool with this output and an output schema that applies `schemas` schemas to each item.
fn tool_with_item_schemas(schemas: usize, output: &[u8]) -> Vec<u8> {
    /// Address of the output, behind everything that a handmade tool has in its memory.
    const OUTPUT_ADDRESS: u32 = 2 << 20;
    let checks = vec![json!({"minLength": 0}); schemas];
    let mut outcome = Handmade::success(u32::try_from(output.len()).unwrap());
    // The second word of an outcome is the address of its output.
    outcome[1] = OUTPUT_ADDRESS;
    let data: String = output.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let tool = Handmade {
        memory: r#"(memory (export "memory") 64)"#,
        output_schema: Some(&json!({"items": {"allOf": checks}}).to_string()),
        items: &format!("(data (i32.const {OUTPUT_ADDRESS}) \"{data}\")"),
        outcome,
        ..Handmade::default()
    };
    tool.build()
}

#[test]
fn a_megabyte_output_whose_check_costs_too_much_is_refused() {
    let output = megabyte_output();
    assert!((1_000_000..1 << 20).contains(&output.len()), "{}", output.len());
    for (schemas, exit_code) in [(10, 0), (60, 0), (600, 5)] {
        let ran = art_with_component(
            &tool_with_item_schemas(schemas, &output),
            &["tool", "call", "handmade", "{}"],
        );
        assert_eq!(ran.code(), exit_code, "{schemas}: {}", ran.stderr());
    }
}

/// The model calls the tool repeatedly, and the host spends nearly all of the time on checking the outputs.
#[test]
fn a_signal_ends_a_run_whose_outputs_take_long_to_check() {
    let home = home_with(&tool_with_item_schemas(70, &megabyte_output()));
    let step = json!([{"id": "step_1", "description": "Count", "stepType": "tool", "requiredTools": ["handmade"],
        "dependencies": []}]);
    let provider = Provider::start(move |request| match is_planning(request) {
        true => Reply::Text(vec![plan_text(&step)]),
        false => Reply::Call("handmade", json!({})),
    });
    let run = home.start(&[
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "run",
        "Count",
    ]);
    // Wait for three requests: for the plan, for the first call, and the one with the result of that call.
    (0..3).for_each(|_| drop(provider.next_request()));
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let ran = CommandOutput(run.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{ran}");
    assert!(ran.stdout().starts_with("The run was cancelled"), "{ran}");
    let listed = home.art(&["--json", "runs", "list"]).stdout();
    assert!(listed.contains("cancelled"), "{listed}");
}

#[test]
fn defaults_behind_references_are_filled_in_unless_there_are_too_many() {
    let mut defs: Map<_, _> = (0..60)
        .map(|i| (format!("d{i}"), reference(&format!("d{}", i + 1))))
        .collect();
    defs.insert(
        "d60".to_owned(),
        json!({"properties": properties(560, &json!({"default": 1}))}),
    );
    let input = json!({"type": "object", "properties": {"a": {"items": reference("d0")}}, "$defs": defs});
    let tool = Handmade {
        input_schema: &input.to_string(),
        ..Handmade::default()
    };
    // Each item gets 560 defaults. With 2,000 items, there would be more than a million.
    for (items, exit_code) in [(1, 0), (20, 0), (2_000, 5)] {
        let arguments = json!({"a": vec![json!({}); items]}).to_string();
        let ran = art(&tool, &["tool", "call", "handmade", &arguments]);
        assert_eq!(ran.code(), exit_code, "{items}: {}", ran.stderr());
    }
}
