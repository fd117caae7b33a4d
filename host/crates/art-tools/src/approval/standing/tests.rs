use art_core::hitl::FeedbackSchema;
use art_core::suspension::ExpiryAction;
use art_core::tool::ParsedToolCall;
use serde_json::json;

use super::*;

fn question(arguments: Value) -> SuspendedCall {
    SuspendedCall {
        suspension_id: "s".to_owned(),
        call: ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "echo".to_owned(),
            arguments,
        },
        tool_digest: Some("blake3:1".to_owned()),
        input_digest: "blake3:i".to_owned(),
        cause: SuspensionCause::Rule {
            reason: "a rule".to_owned(),
        },
        form: FeedbackSchema::confirm("Run `echo`?"),
        details: None,
        preview: None,
        risk_level: None,
        runs_on_approval: true,
        allow_retry: false,
        expires: None,
        on_expiry: ExpiryAction::Reject,
    }
}

fn approval(arguments: Value, scope: &StandingScope) -> StandingApproval {
    StandingApproval::new(&question(arguments), scope, None).unwrap()
}

fn matches(approval: &StandingApproval, arguments: &Value) -> bool {
    approval.matches(None, "echo", Some("blake3:1"), arguments)
}

#[test]
fn only_the_same_arguments_match() {
    let given = json!({"text": "a", "list": [1, {"x": null}]});
    let approval = approval(given.clone(), &StandingScope::SameArguments);
    assert!(matches(&approval, &given));
    for other in [
        json!({"text": "b", "list": [1, {"x": null}]}),
        json!({"text": "a", "list": [1, {"x": null}, 2]}),
        json!({"text": "a", "list": [1, {"x": null}], "force": true}),
        json!({"text": "a"}),
        json!({}),
        json!([]),
        json!("a"),
    ] {
        assert!(!matches(&approval, &other), "{other}");
    }
}

#[test]
fn chosen_arguments_may_have_any_value_or_be_absent() {
    let scope = StandingScope::AnyValueOf(vec!["text".to_owned()]);
    let approval = approval(json!({"text": "a", "count": 1}), &scope);
    for matching in [
        json!({"text": "b", "count": 1}),
        json!({"text": [1], "count": 1}),
        json!({"count": 1}),
    ] {
        assert!(matches(&approval, &matching), "{matching}");
    }
    for other in [
        json!({"text": "a", "count": 2}),
        json!({"text": "a"}),
        json!({"text": "a", "count": 1, "x": 1}),
    ] {
        assert!(!matches(&approval, &other), "{other}");
    }
}

#[test]
fn any_arguments_match_an_approval_of_any_arguments() {
    let approval = approval(json!({"text": "a"}), &StandingScope::AnyArguments);
    assert!(matches(&approval, &json!({"other": 1})));
}

#[test]
fn another_person_tool_or_version_does_not_match() {
    let call = json!({"text": "a"});
    let approval_of_ann = StandingApproval {
        user_id: Some("ann".to_owned()),
        ..approval(call.clone(), &StandingScope::AnyArguments)
    };
    let version = Some("blake3:1");
    assert!(approval_of_ann.matches(Some("ann"), "echo", version, &call));
    for (person, tool, version) in [
        (None, "echo", version),
        (Some("bob"), "echo", version),
        (Some("ann"), "echo2", version),
        (Some("ann"), "echo", Some("blake3:2")),
        (Some("ann"), "echo", None),
    ] {
        assert!(!approval_of_ann.matches(person, tool, version, &call));
    }
}

#[test]
fn a_question_of_the_tool_itself_cannot_be_answered_in_advance() {
    let question = SuspendedCall {
        cause: SuspensionCause::Tool,
        ..question(json!({}))
    };
    let refused = StandingApproval::new(&question, &StandingScope::AnyArguments, None).unwrap_err();
    insta::assert_snapshot!(refused, @"no rule asks about `echo`, so each question needs a decision of its own");
}

#[test]
fn an_argument_that_the_call_does_not_have_is_refused() {
    let scope = StandingScope::AnyValueOf(vec!["txt".to_owned()]);
    let refused = StandingApproval::new(&question(json!({"text": "a", "b": 1})), &scope, None).unwrap_err();
    insta::assert_snapshot!(refused, @"the call has no argument `txt`: it has `b`, `text`");
}

#[test]
fn arguments_that_are_too_long_are_refused_unless_they_may_have_any_value() {
    let long = question(json!({"text": "a".repeat(MAX_STANDING_BYTES), "b": 1}));
    let refused = StandingApproval::new(&long, &StandingScope::SameArguments, None).unwrap_err();
    assert!(matches!(refused, StandingError::TooLong { .. }));
    let scope = StandingScope::AnyValueOf(vec!["text".to_owned()]);
    assert!(StandingApproval::new(&long, &scope, None).is_ok());
}

#[test]
fn an_approval_is_unchanged_after_writing_and_reading() {
    let scope = StandingScope::AnyValueOf(vec!["text".to_owned()]);
    let approval = approval(json!({"text": "a", "none": null}), &scope);
    let text = serde_json::to_string(&approval).unwrap();
    insta::assert_snapshot!(text, @r#"{"tool":"echo","toolDigest":"blake3:1","arguments":{"none":{"is":null},"text":"any"}}"#);
    assert_eq!(serde_json::from_str::<StandingApproval>(&text).unwrap(), approval);
}

#[test]
fn an_approval_ends_when_an_approved_path_becomes_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::create_dir(path.join("n")).unwrap();
    std::fs::write(path.join("n/a.txt"), "").unwrap();
    let arguments = |name: &str| json!({"path": path.join(name), "text": "a"});
    let approvals =
        ["n/a.txt", "n/new.txt"].map(|name| (name, approval(arguments(name), &StandingScope::SameArguments)));
    for (name, approval) in &approvals {
        assert!(matches(approval, &arguments(name)), "{name}");
        // Another spelling is another question.
        assert!(!matches(approval, &arguments(&format!("./{name}"))), "{name}");
    }
    std::fs::rename(path.join("n"), path.join("moved")).unwrap();
    std::os::unix::fs::symlink("moved", path.join("n")).unwrap();
    for (name, approval) in &approvals {
        assert!(!matches(approval, &arguments(name)), "{name}");
    }
}
