//! The tool manifest, which is the part of a prompt that describes tools: which of many tools it describes, and how much of the
//! prompts it takes. For a model with a limited context, only the tools that are most similar to the question are described, and
//! the others are listed by name (contract Q7).

use std::collections::BTreeSet;

use art_agent::{Run, RunStart};
use art_core::provider::ContextWindow;
use art_core::tool::ToolSchema;
use serde_json::{Value, json};

use crate::harness::*;

const SUBJECTS: [&str; 20] = [
    "weather",
    "currency",
    "mail",
    "calendar",
    "stock",
    "flight",
    "hotel",
    "recipe",
    "movie",
    "music",
    "map",
    "traffic",
    "invoice",
    "customer",
    "ticket",
    "sensor",
    "image",
    "video",
    "translation",
    "library",
];
const VERBS: [&str; 10] = [
    "search",
    "create",
    "update",
    "delete",
    "list",
    "export",
    "import",
    "compare",
    "rate",
    "summarise",
];

/// Number of tools in [`registry`].
const REGISTRY_SIZE: usize = SUBJECTS.len() * VERBS.len();
/// Default of the limit `max_shown_tools`: number of tools that a prompt describes at most.
const MAX_DESCRIBED: usize = 16;

/// Returns two hundred tools, as in a large registry.
fn registry() -> Vec<ToolSchema> {
    let pairs = SUBJECTS.iter().flat_map(|subject| VERBS.map(|verb| (subject, verb)));
    pairs.map(|(subject, verb)| registry_tool(subject, verb)).collect()
}

fn registry_tool(subject: &str, verb: &str) -> ToolSchema {
    let text = json!({"type": "string", "description": format!("Which {subject} is meant, by name or by identifier.")});
    let number = json!({"type": "integer", "description": "Entries at most.", "minimum": 1, "maximum": 100});
    let input =
        json!({"type": "object", "properties": {"expression": text, "limit": number}, "required": ["expression"]});
    let description = format!(
        "Can {verb} {subject} entries. Use it when somebody wants to {verb} a {subject}. It gives the entries with their \
         names, times and states, newest first, and says when there are none. Nothing else is changed by it, and it can be \
         called again with the same arguments without harm."
    );
    let value = json!({
        "name": format!("{subject}_{verb}"), "description": description, "inputSchema": input,
        "examples": [{"input": {"expression": "the first one", "limit": 3}}],
    });
    serde_json::from_value(value).unwrap()
}

fn start_with_registry(query: &str) -> RunStart {
    let mut start = start(query);
    start.tools = registry();
    start.context = ContextWindow::Tokens(128_000);
    start.config.max_items = 50;
    start.config.max_tool_calls = 50;
    start
}

/// Returns the tools of all one-line JSON lists in a text.
fn listed_tools(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with("[{\"name\":"));
    lines
        .flat_map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap())
        .collect()
}

/// Returns the tools that a text lists by name only.
fn tools_listed_by_name(text: &str) -> Vec<String> {
    let list = text.split("\nOthers, by name: ").nth(1);
    let line = list.and_then(|list| list.lines().next());
    line.map_or_else(Vec::new, |line| serde_json::from_str(line).unwrap())
}

#[test]
fn the_planning_prompt_has_the_schemas_of_the_most_similar_tools_as_far_as_they_fit() {
    let prompt = |tokens| {
        let mut start = start_with_registry("Compare the weather of two cities.");
        start.context = ContextWindow::Tokens(tokens);
        let mut driver = Driver::new(start)
            .script("plan", [plan(&json!([]))])
            .script("answer", [says("ok")]);
        driver.drive();
        driver.last_message("plan", 0)
    };
    for (context_tokens, expected_schemas) in [(128_000, MAX_DESCRIBED), (16_000, 10)] {
        let text = prompt(context_tokens);
        let tools = listed_tools(&text);
        let has_schema = |tool: &&Value| tool["inputSchema"].is_object();
        let most_similar = tools.iter().find(|tool| tool["name"] == "weather_compare").unwrap();
        assert!(has_schema(&most_similar), "{most_similar}");
        assert_eq!(
            (tools.len(), tools.iter().filter(has_schema).count()),
            (MAX_DESCRIBED, expected_schemas)
        );
        for without_schema in tools.iter().filter(|tool| !has_schema(tool)) {
            assert_eq!(without_schema["parameters"], json!(["expression", "limit"]));
            // Only the first sentences of the description are shown.
            let description = without_schema["description"].as_str().unwrap();
            assert!(
                description.ends_with("newest first, and says when there are none."),
                "{description}"
            );
        }
        let others = tools_listed_by_name(&text);
        assert_eq!(others.len(), REGISTRY_SIZE - MAX_DESCRIBED);
        assert!(!others.contains(&"weather_compare".to_owned()));
    }
}

#[test]
fn tools_that_all_fit_are_in_the_system_message_in_the_order_of_their_names() {
    let mut start = start_with_registry("Compare the weather of two cities.");
    start.tools.truncate(12);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("ok")]);
    driver.drive();
    let tools = listed_tools(driver.messages("plan", 0)[0].content_text());
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 12);
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(listed_tools(&driver.last_message("plan", 0)), Vec::<Value>::new());
}

#[test]
fn a_model_without_a_context_limit_gets_all_schemas() {
    let mut start = start_with_registry("q");
    start.context = ContextWindow::Unbounded;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("ok")]);
    driver.drive();
    let tools = listed_tools(driver.messages("plan", 0)[0].content_text());
    assert_eq!(tools.len(), REGISTRY_SIZE);
    assert!(tools[0]["inputSchema"].is_object());
}

#[test]
fn a_plan_may_require_a_tool_that_was_listed_by_name_only() {
    let item = json!({"id": "a", "description": "do", "requiredTools": ["library_export"]});
    let mut driver = Driver::new(start_with_registry("Compare the weather."))
        .script("plan", [plan(&json!([item]))])
        .script("a", [calls(&[("library_export", json!({}))]), completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    let request = driver.request("a", 0);
    assert_eq!(tools_with_schemas(request), ["library_export"]);
}

#[test]
fn a_tool_step_that_names_no_tool_is_offered_only_the_most_similar_tools() {
    let item = json!({"id": "a", "description": "list the invoices", "stepType": "tool"});
    let mut driver = Driver::new(start_with_registry("q"))
        .script("plan", [plan(&json!([item]))])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    let request = driver.request("a", 0);
    let offered = tools_with_schemas(request);
    assert_eq!(offered.len(), MAX_DESCRIBED);
    assert!(offered.contains(&"invoice_list".to_owned()));
}

/// Runs fifty steps that use ten of two hundred tools, and measures the share of the other tools in all requests.
#[test]
fn tools_that_a_run_does_not_use_take_less_than_a_twentieth_of_its_prompts() {
    let used: Vec<String> = VERBS.iter().map(|verb| format!("weather_{verb}")).collect();
    let items: Vec<_> = (0..50)
        .map(|n| json!({"id": format!("s{n}"), "description": format!("do part {n}"), "requiredTools": [used[n % 10]]}))
        .collect();
    let mut driver =
        Driver::new(start_with_registry("Look after the weather entries.")).script("plan", [plan(&json!(items))]);
    for n in 0..50 {
        let call = calls(&[(&used[n % 10], json!({"expression": n.to_string()}))]);
        driver = driver.script(&format!("s{n}"), [call, completes_item("done")]);
    }
    driver = driver.script("answer", [says("ok")]);
    driver.checks_replay = false;
    driver.drive();
    assert_eq!(Run::replay(&driver.journal).unwrap(), driver.run);
    let used: BTreeSet<_> = used.iter().map(String::as_str).collect();
    let (mut all_bytes, mut unused_bytes) = (0, 0);
    for StepRequest { request, .. } in &driver.requests {
        for message in &request.prompt.0 {
            all_bytes += message.content_text().len();
            let listed = listed_tools(message.content_text()).into_iter();
            unused_bytes += listed
                .filter(|tool| !used.contains(tool["name"].as_str().unwrap()))
                .map(|tool| tool.to_string().len())
                .sum::<usize>();
        }
        let names = request
            .prompt
            .0
            .iter()
            .flat_map(|message| tools_listed_by_name(message.content_text()));
        // Each name has two quotes and a comma.
        unused_bytes += names
            .filter(|name| !used.contains(name.as_str()))
            .map(|name| name.len() + 3)
            .sum::<usize>();
        let functions = request.tools.iter().filter(|tool| !used.contains(tool.name.as_str()));
        unused_bytes += functions
            .map(|tool| serde_json::to_string(tool).unwrap().len())
            .sum::<usize>();
    }
    println!(
        "{unused_bytes} of {all_bytes} bytes, {}.{:02} %",
        unused_bytes * 100 / all_bytes,
        unused_bytes * 10_000 / all_bytes % 100
    );
    assert!(
        unused_bytes > 0 && unused_bytes * 20 < all_bytes,
        "{unused_bytes} of {all_bytes} bytes"
    );
}

/// One JSON object per line: a question, the schemas of a few tools, and the calls of these tools that the question needs.
const QUESTIONS: &str = include_str!("questions.jsonl");

/// Measures how often the planning prompt describes the tools that a question needs. The planner may use all tools of the
/// questions and two hundred others. Every needed tool is at least listed by name.
#[test]
fn at_least_four_fifths_of_the_needed_tools_are_described() {
    let lines: Vec<Value> = QUESTIONS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut tools = registry();
    for tool in lines.iter().flat_map(|line| line["tools"].as_array().unwrap()) {
        if !tools.iter().any(|known| tool["name"] == known.name) {
            tools.push(serde_json::from_value(tool.clone()).unwrap());
        }
    }
    let (mut needed, mut described) = (0, 0);
    for line in &lines {
        let mut start = start_with_registry(line["query"].as_str().unwrap());
        start.tools.clone_from(&tools);
        let mut driver = Driver::new(start)
            .script("plan", [plan(&json!([]))])
            .script("answer", [says("ok")]);
        driver.checks_replay = false;
        driver.drive();
        let text = driver.last_message("plan", 0);
        for call in line["expected"].as_array().unwrap() {
            needed += 1;
            described += usize::from(listed_tools(&text).iter().any(|tool| tool["name"] == call["toolName"]));
            assert!(text.contains(&call["toolName"].to_string()), "{text}");
        }
    }
    println!("{described} of {needed} described among {} tools", tools.len());
    // A question whose tool is not described shares no word with this tool, for example `How do you say` and `translate`.
    assert!(described * 5 >= needed * 4, "{described} of {needed}");
}
