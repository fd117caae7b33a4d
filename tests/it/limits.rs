//! The limits of tools: what a component requests, and what the operator allows. The operator sets limits in `art.toml`, or in
//! the grants of a tool.

use std::fs;

use serde_json::{Value, json};

use crate::handmade::Handmade;
use crate::home::Home;

/// More fuel than a tool may request by default.
const HIGH_FUEL: u64 = 3_000_000_000;
/// More memory than a tool may request by default, in bytes.
const HIGH_MEMORY_BYTES: u64 = 128 << 20;

/// Returns a home with the tool `handmade`, which has this manifest and never stops computing.
fn home(manifest: &Value) -> Home {
    let text = manifest.to_string().replace('"', "\\\"");
    let section = format!("(@custom \"art:manifest\" \"{text}\")");
    let tool = Handmade {
        items: &section,
        execute: "(loop $on (br $on))",
        ..Handmade::default()
    };
    let home = Home::empty();
    fs::write(home.plugins().join("handmade.wasm"), tool.build()).unwrap();
    home
}

fn home_requesting_high_limits() -> Home {
    home(&json!({"tool": "handmade", "limits": {"fuel": HIGH_FUEL, "memoryBytes": HIGH_MEMORY_BYTES}}))
}

/// Returns the limits of the tool that are in effect. The tool must not be refused.
fn limits(home: &Home) -> Value {
    let shown = home.art(&["--json", "tool", "show", "handmade"]);
    assert_eq!(shown.code(), 0, "{shown}");
    shown.json().pointer("/limits").unwrap().clone()
}

/// Returns why the tool is refused.
fn refusal(home: &Home) -> String {
    let listed = home.art(&["--json", "tool", "list"]).json();
    assert_eq!(listed.pointer("/tools"), Some(&json!([])));
    let reason = listed.pointer("/refused/0/reason").unwrap();
    reason.as_str().unwrap().to_owned()
}

/// Returns the part of `text` between `before` and `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("`{before}` is missing: {text}"));
    rest.split_once(after)
        .unwrap_or_else(|| panic!("`{after}` is missing: {text}"))
        .0
}

#[test]
fn the_refusal_of_high_limits_shows_the_setting_that_allows_them() {
    let home = home_requesting_high_limits();
    let message = refusal(&home);
    assert!(
        message
            .starts_with("asks for `fuel = 3000000000, memory_bytes = 134217728`, more than the `fuel = 2000000000, "),
        "{message}"
    );
    let line = between(&message, "add `", "` under `[tools]` of `art.toml`");
    home.file("art.toml", &format!("[tools]\n{line}\n"));
    let limits = limits(&home);
    assert_eq!(
        (&limits["fuel"], &limits["memoryBytes"]),
        (&json!(HIGH_FUEL), &json!(HIGH_MEMORY_BYTES))
    );
}

#[test]
fn a_tool_may_request_limits_up_to_the_maximum_and_no_higher_ones() {
    let home = home_requesting_high_limits();
    let set_max_fuel = |fuel: u64| {
        home.file(
            "art.toml",
            &format!("[tools]\nmax_fuel = {fuel}\nmax_memory_bytes = {HIGH_MEMORY_BYTES}\n"),
        )
    };
    set_max_fuel(HIGH_FUEL - 1);
    assert!(refusal(&home).starts_with("asks for `fuel = 3000000000`, more than the `fuel = 2999999999`"));
    set_max_fuel(HIGH_FUEL);
    assert_eq!(limits(&home)["fuel"], HIGH_FUEL);
}

#[test]
fn a_tool_that_requests_no_limits_gets_the_defaults() {
    let home = home(&json!({"tool": "handmade"}));
    home.file("art.toml", "[tools]\nfuel = 1000000\nmax_fuel = 50000000000\n");
    assert_eq!(limits(&home)["fuel"], 1_000_000);
    assert_eq!(limits(&home)["timeoutMs"], 30_000);
}

#[test]
fn the_limits_that_the_operator_sets_for_a_tool_apply_to_its_calls() {
    let home = home(&json!({"tool": "handmade", "limits": {"fuel": 5_000}}));
    home.file("art.toml", "[tools.handmade]\nfuel = 7000000\n");
    let called = home.art(&["tool", "call", "handmade"]);
    assert_eq!(called.code(), 5, "{called}");
    assert!(
        called.stderr().contains("used up its 7000000 units of fuel"),
        "{called}"
    );
}

#[test]
fn a_tool_that_requests_more_than_the_operator_set_for_it_is_refused() {
    let home = home_requesting_high_limits();
    home.file(
        "art.toml",
        "[tools.handmade]\nfuel = 7000000\nmemory_bytes = 268435456\n",
    );
    let message = refusal(&home);
    assert!(
        message.ends_with("set `fuel = 3000000000` for `handmade` under `[tools]` of `art.toml`)"),
        "{message}"
    );
}

#[test]
fn if_the_grants_set_a_lower_limit_the_refusal_names_the_command_that_raises_it() {
    let home = home(&json!({"tool": "handmade", "limits": {"fuel": 5_000}}));
    home.store_grants("handmade", "[limits]\nfuel = 4000\n");
    let message = refusal(&home);
    let command = between(&message, "run `art ", "`)");
    assert_eq!(command, "grant add handmade --limit fuel=5000");
    let granted = home.art(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(granted.code(), 0, "{granted}");
    assert_eq!(limits(&home)["fuel"], 5_000);
}

#[test]
fn the_file_of_grants_replaces_only_the_limits_that_it_sets() {
    let home = home_requesting_high_limits();
    home.file(
        "art.toml",
        &format!("[tools.handmade]\nfuel = {HIGH_FUEL}\nmemory_bytes = {HIGH_MEMORY_BYTES}\n"),
    );
    home.store_grants("handmade", "[limits]\ntimeout_ms = 60000\n");
    let limits = limits(&home);
    assert_eq!(
        (&limits["fuel"], &limits["memoryBytes"], &limits["timeoutMs"]),
        (&json!(HIGH_FUEL), &json!(HIGH_MEMORY_BYTES), &json!(60_000))
    );
}

#[test]
fn a_tool_whose_manifest_names_another_tool_does_not_get_the_limits_of_the_other() {
    let home = home(&json!({"tool": "trusted", "limits": {"fuel": HIGH_FUEL}}));
    home.file("art.toml", &format!("[tools.trusted]\nfuel = {HIGH_FUEL}\n"));
    assert!(refusal(&home).contains("add `handmade = { fuel = 3000000000 }`"));
}

#[test]
fn no_first_party_tool_needs_a_setting_for_its_limits() {
    let listed = Home::new().art(&["--json", "tool", "list"]).json();
    assert_eq!(listed["refused"], json!([]));
    assert_eq!(listed["limits"]["calculator"]["fuel"], 50_000_000);
    assert_eq!(listed["limits"]["diff_text"]["memoryBytes"], 64 << 20);
}

#[test]
fn the_configuration_shows_the_limits_in_effect() {
    let home = Home::empty();
    home.file("art.toml", "[tools]\nfuel = 9\n[tools.some_tool]\ntimeout_ms = 3\n");
    let shown = home.art(&["config"]).stdout();
    let line = |key: &str| {
        shown
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap_or_default()
            .to_owned()
    };
    // `max_fuel` is not set, so it is the same as `fuel`. `memory_bytes` is not set either, so it has the built-in default.
    for (key, value) in [
        ("tools.fuel ", "9"),
        ("tools.max_fuel ", "9"),
        ("tools.memory_bytes ", "67108864"),
        ("tools.some_tool.timeout_ms ", "3"),
    ] {
        assert_eq!(line(key).split_whitespace().nth(1), Some(value), "{shown}");
    }
}
