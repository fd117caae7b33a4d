use art_core::tool::{BlockingToolConfig, ExecutionMode};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::glob::MAX_GLOB_CHARS;
use crate::testing::schema;

fn policy(settings: Value) -> ApprovalPolicy {
    serde_json::from_value(settings).unwrap()
}

/// Returns a policy that has these rules and ignores declared risks.
fn policy_of_rules(rules: impl Into<Value>) -> ApprovalPolicy {
    policy(json!({"ask_from": "never", "rule": rules.into()}))
}

/// Returns the declaration of a tool with this `blocking_config`, which holds its risk and its category.
fn tool(name: &str, blocking_config: Value) -> ToolSchema {
    let mut schema = schema(name);
    schema.blocking_config = serde_json::from_value::<Option<BlockingToolConfig>>(blocking_config).unwrap();
    schema
}

/// Returns what happens to a call, in a word.
fn outcome(policy: &ApprovalPolicy, schema: &ToolSchema, arguments: impl Into<Value>) -> &'static str {
    match policy.verdict(schema, &arguments.into()) {
        Verdict::Run => "run",
        Verdict::Ask { .. } => "ask",
        Verdict::Refuse { .. } => "refuse",
    }
}

fn file_tool() -> ToolSchema {
    tool("file_write", json!({"riskLevel": "medium", "category": "disk"}))
}

#[test]
fn the_default_policy_asks_about_tools_of_high_risk_that_do_not_ask_by_themselves() {
    let mut blocking = tool("t", json!({"riskLevel": "critical"}));
    blocking.execution_mode = ExecutionMode::Blocking;
    assert_eq!(outcome(&ApprovalPolicy::default(), &blocking, json!({})), "run");
    assert_eq!(
        outcome(
            &policy_of_rules(json!([{"action": "ask", "tool": "t"}])),
            &blocking,
            json!({})
        ),
        "ask"
    );
    for mode in [ExecutionMode::Functional, ExecutionMode::Display] {
        for (risk, expected) in [("low", "run"), ("medium", "run"), ("high", "ask"), ("critical", "ask")] {
            let mut schema = tool("t", json!({"riskLevel": risk}));
            schema.execution_mode = mode;
            assert_eq!(
                outcome(&ApprovalPolicy::default(), &schema, json!({})),
                expected,
                "{risk}"
            );
        }
    }
    assert_eq!(
        outcome(&ApprovalPolicy::default(), &tool("t", json!(null)), json!({})),
        "run"
    );
    assert_eq!(
        outcome(&ApprovalPolicy::default(), &tool("t", json!({})), json!({})),
        "run"
    );
}

#[test]
fn the_risk_from_which_a_person_is_asked_can_be_set() {
    let critical = tool("t", json!({"riskLevel": "critical"}));
    let low = tool("t", json!({"riskLevel": "low"}));
    assert_eq!(outcome(&policy(json!({"ask_from": "low"})), &low, json!({})), "ask");
    assert_eq!(
        outcome(&policy(json!({"ask_from": "critical"})), &critical, json!({})),
        "ask"
    );
    assert_eq!(
        outcome(&policy(json!({"ask_from": "never"})), &critical, json!({})),
        "run"
    );
    assert_eq!(policy(json!({})), ApprovalPolicy::default());
}

#[test]
fn the_first_rule_that_matches_decides() {
    let policy = policy_of_rules(json!([
        {"action": "allow", "tool": "file_*", "arguments": {"/path": "/tmp/*"}},
        {"action": "refuse", "tool": "file_*", "arguments": {"/path": "/etc/*"}},
        {"action": "ask", "tool": "file_*"},
    ]));
    for (path, expected) in [("/tmp/a", "run"), ("/etc/passwd", "refuse"), ("/home/a", "ask")] {
        assert_eq!(
            outcome(&policy, &file_tool(), json!({"path": path})),
            expected,
            "{path}"
        );
    }
    assert_eq!(
        outcome(&policy, &tool("clock", json!(null)), json!({"path": "/etc/passwd"})),
        "run"
    );
}

#[test]
fn a_rule_wins_over_the_declared_risk() {
    let policy = policy(json!({"rule": [{"action": "allow", "tool": "safe"}]}));
    assert_eq!(
        outcome(&policy, &tool("safe", json!({"riskLevel": "critical"})), json!({})),
        "run"
    );
    assert_eq!(
        outcome(&policy, &tool("other", json!({"riskLevel": "critical"})), json!({})),
        "ask"
    );
}

#[test]
fn a_rule_matches_only_if_all_of_its_conditions_do() {
    // `file-?????` matches `file_write`, because `-` and `_` are the same character in patterns for tools.
    let all = json!({
        "action": "ask", "tool": "file-?????", "risk": "medium", "category": "d*", "arguments": {"/path": "*", "/mode": "7"},
    });
    let arguments = json!({"path": "a", "mode": 7});
    assert_eq!(
        outcome(&policy_of_rules(json!([all])), &file_tool(), arguments.clone()),
        "ask"
    );
    // Each of these conditions does not hold for the call.
    for (condition, value) in [
        ("tool", json!("file-?")),
        ("risk", json!("high")),
        ("category", json!("net")),
        ("arguments", json!({"/path": "b"})),
    ] {
        let mut rule = all.clone();
        rule[condition] = value;
        assert_eq!(
            outcome(&policy_of_rules(json!([rule])), &file_tool(), arguments.clone()),
            "run",
            "{condition}"
        );
    }
    assert_eq!(
        outcome(&policy_of_rules(json!([{"action": "refuse"}])), &file_tool(), json!({})),
        "refuse"
    );
}

#[test]
fn a_tool_that_declares_nothing_has_neither_risk_nor_category() {
    for rule in [
        json!({"action": "ask", "risk": "low"}),
        json!({"action": "ask", "category": "*"}),
    ] {
        assert_eq!(
            outcome(&policy_of_rules(json!([rule])), &tool("t", json!(null)), json!({})),
            "run"
        );
    }
}

#[test]
fn arguments_that_cannot_be_compared_match_an_ask_rule_but_not_an_allow_rule() {
    // The second rule refuses every call that the first one does not match.
    let policy_with = |action: &str| {
        policy_of_rules(
            json!([{"action": action, "arguments": {"/path": "/etc/*"}}, {"action": "refuse", "tool": "*"}]),
        )
    };
    for arguments in [json!({}), json!({"path": ["/tmp"]}), json!({"path": {}}), json!([])] {
        assert_eq!(
            outcome(&policy_with("allow"), &file_tool(), arguments.clone()),
            "refuse",
            "{arguments}"
        );
        assert_eq!(
            outcome(&policy_with("ask"), &file_tool(), arguments.clone()),
            "ask",
            "{arguments}"
        );
    }
    assert_eq!(
        outcome(&policy_with("allow"), &file_tool(), json!({"path": "/etc/a"})),
        "run"
    );
    assert_eq!(
        outcome(&policy_with("ask"), &file_tool(), json!({"path": "/tmp"})),
        "refuse"
    );
}

#[test]
fn skip_missing_skips_an_absent_argument_but_not_one_that_is_a_list() {
    let policy_with = |action: &str| {
        policy_of_rules(json!([{"action": action, "arguments": {"/sudo": "true"}, "skip_missing": true}]))
    };
    for action in ["ask", "refuse"] {
        assert_eq!(outcome(&policy_with(action), &file_tool(), json!({})), "run");
        assert_eq!(
            outcome(&policy_with(action), &file_tool(), json!({"sudo": false})),
            "run"
        );
        assert_eq!(
            outcome(&policy_with(action), &file_tool(), json!({"sudo": true})),
            action
        );
        assert_eq!(
            outcome(&policy_with(action), &file_tool(), json!({"sudo": [true]})),
            action
        );
    }
}

#[test]
fn equal_numbers_match_the_same_pattern_however_they_are_written() {
    let policy = policy_of_rules(json!([{"action": "refuse", "arguments": {"/options/0/amount~1day": "10"}}]));
    for amount in ["10", "10.0", "1e1", "\"10\""] {
        let arguments: Value =
            serde_json::from_str(&format!("{{\"options\": [{{\"amount/day\": {amount}}}]}}")).unwrap();
        assert_eq!(outcome(&policy, &file_tool(), arguments), "refuse", "{amount}");
    }
    assert_eq!(
        outcome(&policy, &file_tool(), json!({"options": [{"amount/day": 11}]})),
        "run"
    );
}

#[test]
fn a_mistake_in_a_policy_is_named() {
    let mistakes = [
        json!({"rules": []}),
        json!({"ask_from": "always"}),
        json!({"rule": [{"tool": "x"}]}),
        json!({"rule": [{"action": "deny"}]}),
        json!({"rule": [{"action": "ask", "tools": "x"}]}),
        json!({"rule": [{"action": "ask", "tool": "x".repeat(MAX_GLOB_CHARS + 1)}]}),
        json!({"rule": [{"action": "ask", "risk": "extreme"}]}),
        json!({"rule": [{"action": "ask", "arguments": {"path": "x"}}]}),
        json!({"rule": [{"action": "ask", "arguments": {"/a~b": "x"}}]}),
    ];
    let lines = mistakes.map(|mistake| {
        serde_json::from_value::<ApprovalPolicy>(mistake)
            .unwrap_err()
            .to_string()
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_verdict_has_a_reason_and_a_refusal_hides_the_patterns() {
    let policy = policy(json!({"rule": [
        {"action": "refuse", "tool": "a"},
        {"action": "refuse", "tool": "b", "reason": "ask the team first"},
        {"action": "ask", "tool": "c*", "risk": "low", "category": "disk", "arguments": {"/path": "/etc/*", "/mode": "7"}},
        {"action": "ask", "tool": "d", "reason": "it is slow"},
        {"action": "ask", "risk": "critical"},
        {"action": "allow", "risk": "high", "tool": "e"},
    ]}));
    let blocking_config = |risk: &str| json!({"riskLevel": risk, "category": "disk"});
    // No rule matches `y`, so its declared risk decides.
    let tools = [
        ("a", "low"),
        ("b", "low"),
        ("c", "low"),
        ("d", "low"),
        ("x", "critical"),
        ("y", "high"),
    ];
    let lines = tools.map(
        |(name, risk)| match policy.verdict(&tool(name, blocking_config(risk)), &json!({})) {
            Verdict::Run => "run".to_owned(),
            Verdict::Ask { reason } | Verdict::Refuse { reason } => reason,
        },
    );
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_policy_is_unchanged_after_reading_and_writing() {
    let settings = json!({"rule": [{"action": "ask", "tool": "file_*", "arguments": {"/path": "/etc/*"}}], "ask_from": "never", "ask_together": false, "on_timeout": "reject"});
    assert_eq!(serde_json::to_value(policy(settings.clone())).unwrap(), settings);
    let default = serde_json::to_value(ApprovalPolicy::default()).unwrap();
    assert_eq!(policy(default), ApprovalPolicy::default());
}

#[test]
fn a_policy_can_be_written_in_toml() {
    let text = r#"
        ask_from = "medium"

        [[rule]]
        action = "allow"
        tool = "file_*"
        arguments = { "/path" = "/tmp/*" }

        [[rule]]
        action = "refuse"
        risk = "low"
    "#;
    let policy: ApprovalPolicy = toml::from_str(text).unwrap();
    assert_eq!(policy.ask_from, Some(RiskLevel::Medium));
    assert_eq!(outcome(&policy, &file_tool(), json!({"path": "/tmp/a"})), "run");
    assert_eq!(outcome(&policy, &file_tool(), json!({"path": "/home"})), "refuse");
    assert!(toml::from_str::<ApprovalPolicy>("[[rule]]\naction = \"ask\"\ntolo = \"x\"").is_err());
}

proptest! {
    #[test]
    fn equal_calls_get_the_same_verdict(arguments in crate::form::any_json(), pattern in "[a-z*?/]{0,8}") {
        let policy = policy(json!({"rule": [
            {"action": "allow", "arguments": {"/a": pattern}},
            {"action": "ask", "arguments": {"/a/0": pattern}},
            {"action": "refuse"},
        ]}));
        prop_assert_eq!(policy.verdict(&file_tool(), &arguments), policy.verdict(&file_tool(), &arguments));
    }
}
