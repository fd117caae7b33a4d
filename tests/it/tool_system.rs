//! The path of a call: from the request of the model through the sandbox to the result that the model receives.

use art_core::error::ToolErrorCode;
use art_core::tool::ToolStatus;
use art_tools::EndingKind;
use serde_json::{Value, json};

use crate::guest_tool_system::GuestToolSystem;

/// Returns the tool and the arguments of a call that makes the guest `hostile` carry out the attack `name`.
fn attack(name: &str) -> (&'static str, Value) {
    ("hostile", json!({"attack": name}))
}

#[tokio::test]
async fn a_batch_of_good_and_hostile_calls_keeps_its_order() {
    let system = GuestToolSystem::new();
    let echo = || ("echo", json!({"text": "hello"}));
    let calls = vec![
        echo(),
        attack("loop"),
        echo(),
        attack("grow"),
        attack("sleep"),
        attack("panic"),
        echo(),
    ];
    let reports = system.batch(calls).await;
    let ids: Vec<&str> = reports.iter().map(|report| report.result.call_id.as_str()).collect();
    assert_eq!(
        ids,
        ["call_0", "call_1", "call_2", "call_3", "call_4", "call_5", "call_6"]
    );
    let endings: Vec<EndingKind> = reports.iter().map(|report| report.ending).collect();
    use EndingKind as End;
    assert_eq!(
        endings,
        [
            End::Success,
            End::FuelExhausted,
            End::Success,
            End::MemoryExhausted,
            End::Timeout,
            End::Trap,
            End::Success
        ]
    );
    for report in &reports {
        assert!(report.usage.fuel > 0, "{report:?}");
    }
}

#[tokio::test]
async fn the_model_receives_the_reason_of_a_failure() {
    let system = GuestToolSystem::new();
    let expected = [
        (
            "loop",
            ToolErrorCode::FuelExhausted,
            "Tool \"hostile\" used up its 400000000 units of fuel",
        ),
        (
            "sleep",
            ToolErrorCode::Timeout,
            "Tool \"hostile\" did not finish within 2000 ms",
        ),
        (
            "grow",
            ToolErrorCode::MemoryExhausted,
            "Tool \"hostile\" asked for more than its 67108864 bytes of memory",
        ),
        (
            "recursion",
            ToolErrorCode::StackOverflow,
            "Tool \"hostile\" recursed too deeply",
        ),
        (
            "exit",
            ToolErrorCode::Trap,
            "Tool \"hostile\" trapped: the tool exited with code 0; a tool returns a result or an error",
        ),
        ("not_found", ToolErrorCode::NotFound, "a requested failure"),
    ];
    for (name, code, text) in expected {
        let (tool, arguments) = attack(name);
        let result = system.call(tool, arguments).await.result;
        assert_eq!((result.status, result.code), (ToolStatus::Error, Some(code)), "{name}");
        assert_eq!(result.error.as_deref(), Some(text));
        assert_eq!(result.output, None);
    }
}

#[tokio::test]
async fn an_output_that_matches_its_schema_is_accepted() {
    // The guest has no case `none`, so it returns its ordinary output: the length of the identifier of the call, `call_0`.
    let report = GuestToolSystem::new().call_invalid_output("none").await;
    assert_eq!(report.result.output, Some(json!({"n": 6}).into()));
}

#[tokio::test]
async fn an_output_that_violates_its_schema_is_refused() {
    let result = GuestToolSystem::new()
        .call_invalid_output("own_schema_broken")
        .await
        .result;
    assert_eq!(result.code, Some(ToolErrorCode::InvalidOutput));
    assert_eq!(
        result.error.as_deref(),
        Some("Tool \"invalid_output\" returned invalid output: /n must be integer")
    );
}

#[tokio::test]
async fn an_outcome_with_an_invalid_part_is_refused() {
    let system = GuestToolSystem::new();
    let refused = [
        "not_json",
        "nothing",
        "two_values",
        "not_a_number",
        "byte_order_mark",
        "deep",
        "many_values",
        "duplicate_keys",
        "metadata_is_a_list",
        "many_sources",
        "details_not_json",
        "inputs_not_an_object",
    ];
    for case in refused {
        let report = system.call_invalid_output(case).await;
        assert_eq!(
            report.ending,
            EndingKind::InvalidOutput,
            "`{case}`: {:?}",
            report.result
        );
        assert_eq!(report.result.output, None, "{case}");
    }
}

#[tokio::test]
async fn a_large_number_stays_exact() {
    // The guest returns the smallest positive integer that has no exact `f64`.
    let report = GuestToolSystem::new().call_invalid_output("large_number").await;
    assert_eq!(report.result.output.unwrap()["n"].as_u64(), Some(9_007_199_254_740_993));
}

#[tokio::test]
async fn a_tool_cannot_forge_the_identifiers_of_its_result() {
    // The metadata that the guest returns has other values of `callId`, `toolName` and `status`.
    let result = GuestToolSystem::new().call_invalid_output("wrong_ids").await.result;
    assert_eq!(
        (result.call_id.as_str(), result.tool_name.as_str()),
        ("call_0", "invalid_output")
    );
    assert_eq!(result.status, ToolStatus::Success);
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(
        (&json["callId"], &json["toolName"]),
        (&json!("call_0"), &json!("invalid_output"))
    );
}

#[tokio::test]
async fn arguments_are_checked_before_anything_runs() {
    let report = GuestToolSystem::new().call("echo", json!({"txt": 1})).await;
    assert_eq!(report.ending, EndingKind::InvalidArguments);
    assert_eq!(report.usage.fuel, 0);
}

#[tokio::test]
async fn a_suspended_call_gets_an_identifier_from_the_host() {
    let (tool, arguments) = attack("suspended");
    let result = GuestToolSystem::new().call(tool, arguments).await.result;
    assert_eq!(result.status, ToolStatus::Suspended);
    assert!(result.metadata.suspension_id.is_some());
    assert_eq!(result.output.unwrap()["message"], "delete 3 files?");
}

#[tokio::test]
async fn every_call_of_a_cancelled_batch_is_cancelled() {
    let system = GuestToolSystem::new();
    let cancel = system.scope.cancel.clone();
    let cancel_soon = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (reports, ()) = tokio::join!(system.batch(vec![attack("sleep"), attack("sleep")]), cancel_soon);
    let endings: Vec<EndingKind> = reports.iter().map(|report| report.ending).collect();
    assert_eq!(endings, [EndingKind::Cancelled, EndingKind::Cancelled]);
}
