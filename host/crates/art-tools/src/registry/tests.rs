use std::sync::atomic::{AtomicUsize, Ordering};

use art_core::outcome::Outcome;
use art_core::tool::ToolExample;
use futures_util::future::BoxFuture;
use serde_json::json;

use super::*;
use crate::executor::CheckedCall;
use crate::scope::EnabledTools;
use crate::testing::{ScriptedTool, TestHost, call};

fn tool(name: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::echo(name))
}

fn tool_of_owner(name: &str, owner: &str) -> Arc<ScriptedTool> {
    let mut tool = ScriptedTool::echo(name);
    tool.owner = owner.to_owned();
    Arc::new(tool)
}

fn names(schemas: &[ToolSchema]) -> Vec<&str> {
    schemas.iter().map(|schema| schema.name.as_str()).collect()
}

#[test]
fn a_registered_tool_is_found_by_its_name() {
    let registry = ToolRegistry::new();
    registry.register(tool("one")).unwrap();
    let found = registry.tool("one").unwrap();
    assert_eq!((found.schema.name.as_str(), found.owner.as_str()), ("one", "plugin"));
    assert!(registry.tool("two").is_none());
}

#[test]
fn an_invalid_tool_name_is_refused_with_a_fixed_message() {
    let long = "a".repeat(65);
    // Two of the names are a letter that looks like an `a`: a Cyrillic letter and a full-width letter.
    for name in [
        "",
        "Add",
        "1a",
        "_a",
        "a b",
        "-a",
        "__proto__",
        "а",
        "a\n",
        "ａ",
        "a.b",
        &long,
    ] {
        let error = ToolRegistry::new().register(tool(name)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Invalid tool executor provided for registration.",
            "{name:?}"
        );
    }
    for name in ["a", "constructor", "a_1", "a-b", &long[1..]] {
        assert!(ToolRegistry::new().register(tool(name)).is_ok(), "{name:?}");
    }
}

#[test]
fn a_duplicate_name_is_refused_and_both_owners_are_named() {
    let registry = ToolRegistry::new();
    registry.register(tool_of_owner("add", "first")).unwrap();
    for result in [
        registry.register(tool_of_owner("add", "second")),
        registry.replace(tool_of_owner("add", "second")),
    ] {
        assert_eq!(
            result.unwrap_err().to_string(),
            "tool `add` of `second` is not registered: `first` already has the tool `add`"
        );
    }
    assert!(registry.register(tool_of_owner("add", "first")).is_err());
    assert_eq!(registry.tool("add").unwrap().owner, "first");
}

#[test]
fn the_refusal_of_a_name_that_differs_only_in_separators_has_both_names() {
    let registry = ToolRegistry::new();
    registry.register(tool_of_owner("word-count", "first")).unwrap();
    assert_eq!(
        registry
            .register(tool_of_owner("word_count", "second"))
            .unwrap_err()
            .to_string(),
        "tool `word_count` of `second` is not registered: `first` already has the tool `word-count`"
    );
}

#[test]
fn an_owner_may_replace_its_own_tool() {
    let registry = ToolRegistry::new();
    registry.replace(tool("add")).unwrap();
    let mut other = ScriptedTool::echo("add");
    other.schema.description = "new".to_owned();
    registry.replace(Arc::new(other)).unwrap();
    assert_eq!(registry.list()[0].description, "new");
    assert_eq!(registry.list().len(), 1);
}

#[test]
fn the_list_contains_copies_of_all_schemas() {
    let registry = ToolRegistry::new();
    assert!(registry.list().is_empty());
    registry.register(tool("b")).unwrap();
    registry.register(tool("a")).unwrap();
    let mut listed = registry.list();
    assert_eq!(names(&listed), ["a", "b"]);
    listed[0].description.clear();
    assert_eq!(registry.list()[0].description, "does a");
}

#[test]
fn only_tools_that_are_enabled_and_registered_are_available() {
    let registry = ToolRegistry::new();
    registry.register(tool("a")).unwrap();
    registry.register(tool("b")).unwrap();
    assert_eq!(names(&registry.available(|name| ["b", "c"].contains(&name))), ["b"]);
}

#[test]
fn no_tool_is_available_if_none_is_enabled() {
    let registry = ToolRegistry::new();
    registry.register(tool("a")).unwrap();
    assert!(registry.available(|_| false).is_empty());
}

#[test]
fn names_that_differ_only_in_hyphens_and_underscores_are_duplicates() {
    let registry = ToolRegistry::new();
    registry.register(tool("word-count")).unwrap();
    let refused = registry.register(tool("word_count")).unwrap_err().to_string();
    assert!(refused.contains("`word-count`"), "{refused}");
    registry.replace(tool("word_count")).unwrap_err();
    registry.register(tool("wordcount")).unwrap();
}

#[test]
fn tools_can_be_removed() {
    let registry = ToolRegistry::new();
    for name in ["a", "b", "c"] {
        registry.register(tool(name)).unwrap();
    }
    assert!(registry.unregister("a"));
    assert!(!registry.unregister("a"));
    assert_eq!(
        registry.unregister_where(|schema, owner| schema.name == "b" && owner == "plugin"),
        1
    );
    registry.clear();
    assert!(registry.list().is_empty());
}

/// A tool that counts how often its schema is read.
#[derive(Debug)]
struct CountingTool {
    tool: ScriptedTool,
    reads: AtomicUsize,
}

impl ToolExecutor for CountingTool {
    fn schema(&self) -> &ToolSchema {
        self.reads.fetch_add(1, Ordering::SeqCst);
        &self.tool.schema
    }

    fn owner(&self) -> &str {
        &self.tool.owner
    }

    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        self.tool.execute(call)
    }
}

// The registry keeps the compiled schemas of a tool (contract A87).
#[tokio::test]
async fn a_schema_is_read_and_compiled_once_for_all_calls() {
    let tool = Arc::new(CountingTool {
        tool: ScriptedTool::echo("a"),
        reads: AtomicUsize::new(0),
    });
    let mut host = TestHost::new([]);
    host.scope.enabled_tools = EnabledTools::named(["a"]);
    let registry = host.system.registry();
    registry.register(Arc::<CountingTool>::clone(&tool)).unwrap();
    let compiled = registry.tool("a").unwrap();
    host.run(vec![call("a", json!({})); 3]).await;
    drop((registry.list(), registry.available(|_| true)));
    assert_eq!((tool.tool.call_count(), tool.reads.load(Ordering::SeqCst)), (3, 1));
    assert!(Arc::ptr_eq(&compiled, &registry.tool("a").unwrap()));
}

// The registry keeps the compiled schemas of a tool (contract A87).
#[test]
fn a_compiled_tool_is_dropped_when_it_is_replaced_or_removed() {
    let registry = ToolRegistry::new();
    registry.register(tool("a")).unwrap();
    let first = registry.tool("a").unwrap();
    registry.replace(tool("a")).unwrap();
    let second = registry.tool("a").unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    registry.clear();
    // Only this test still owns the two tools.
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

/// Changes the declaration of a tool so that it is invalid, and returns why the tool is refused.
fn refusal(change: impl FnOnce(&mut ScriptedTool)) -> String {
    let mut tool = ScriptedTool::echo("tool");
    change(&mut tool);
    ToolRegistry::new().register(Arc::new(tool)).unwrap_err().to_string()
}

fn example(input: serde_json::Value, output: Option<serde_json::Value>) -> ToolExample {
    ToolExample {
        input,
        output,
        description: None,
    }
}

#[test]
fn a_tool_whose_declaration_is_invalid_is_refused() {
    let refusals = [
        refusal(|tool| tool.schema.input_schema = json!({"type": "string"}).into()),
        refusal(|tool| tool.schema.output_schema = Some(json!({"$ref": "file:///etc/passwd"}).into())),
        refusal(|tool| tool.schema.input_schema["properties"] = json!({"a": {"pattern": "(?=x)"}})),
        refusal(|tool| tool.schema.input_schema["required"] = json!("a")),
        refusal(|tool| tool.schema.description = "x".repeat(20_000)),
        refusal(|tool| {
            tool.schema.input_schema["required"] = json!(["a"]);
            tool.schema.examples = vec![example(json!({"a": 1}), None), example(json!({}), None)].into();
        }),
        refusal(|tool| {
            tool.schema.output_schema = Some(json!({"type": "number"}).into());
            tool.schema.examples = vec![example(json!({}), Some(json!("x")))].into();
        }),
        refusal(|tool| {
            tool.schema.display_config = Some(art_core::tool::DisplayToolConfig {
                data_schema: Some(json!({"$ref": "x"})),
                ..Default::default()
            });
        }),
        refusal(|tool| tool.limits.fuel = u64::MAX),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn no_schema_of_a_registered_tool_has_a_reference() {
    let with_reference = |root: serde_json::Value| {
        let mut schema = root;
        schema["properties"] = json!({"a": {"$ref": "#/$defs/a"}});
        schema["$defs"] = json!({"a": {"type": "string"}});
        schema
    };
    let mut tool = ScriptedTool::echo("a");
    tool.schema.input_schema = with_reference(json!({"type": "object"})).into();
    tool.schema.output_schema = Some(with_reference(json!({})).into());
    tool.schema.display_config = Some(art_core::tool::DisplayToolConfig {
        data_schema: Some(with_reference(json!({}))),
        ..Default::default()
    });
    let registry = ToolRegistry::new();
    registry.register(Arc::new(tool)).unwrap();
    let found = registry.schema("a").unwrap();
    assert_eq!(
        *found.input_schema,
        json!({"type": "object", "properties": {"a": {"type": "string"}}})
    );
    for schemas in [registry.list(), registry.available(|_| true), vec![found]] {
        let text = serde_json::to_string(&schemas).unwrap();
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
    }
}

#[test]
fn the_total_size_of_the_examples_of_a_tool_is_limited_and_their_check_is_fast() {
    let refusal_of = |example_count: usize, text_bytes: usize| {
        let mut tool = ScriptedTool::echo("tool");
        // This pattern is costly to match.
        tool.schema.input_schema["properties"] = json!({"a": {"pattern": "(a|b)*a(a|b){1000}c"}});
        tool.schema.examples = vec![example(json!({"a": "ab".repeat(text_bytes / 2)}), None); example_count].into();
        let start = std::time::Instant::now();
        let message = ToolRegistry::new().register(Arc::new(tool)).unwrap_err().to_string();
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
        message
    };
    // All examples together have 240,000 bytes.
    assert!(refusal_of(4, 60_000).contains("more than 196608: leave some out"));
    // These examples are small enough, so they are checked, and do not match the pattern.
    assert!(refusal_of(60, 200).contains("must match the pattern"));
}
