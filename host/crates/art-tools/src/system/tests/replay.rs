//! Tests of calls that are run again with the recorded answers of the host to what the tool asked. The record of a call is its
//! intake. A crossing is a recorded answer, with how many times in a row the tool got it. A divergence is the first difference
//! between what the tool asks now and what the record answers.

use art_core::intake::{Answer, Crossing, CrossingKind, DivergenceReason};
use art_core::outcome::{CallLog, Success};
use art_core::usage::ToolUsage;
use art_core::{limits::Limits, tool::ToolSchema};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::*;
use crate::{CheckedCall, ToolExecutor};

/// The fuel that each replay reports as used.
const REPLAY_FUEL: u64 = 7;

/// A tool whose calls can be replayed. Each replay returns the input of the call and [`divergence()`], or panics if the input
/// contains `panic`.
#[derive(Debug)]
struct ReplayableTool(ToolSchema);

impl ToolExecutor for ReplayableTool {
    fn schema(&self) -> &ToolSchema {
        &self.0
    }

    fn owner(&self) -> &str {
        "plugin"
    }

    fn limits(&self) -> Limits {
        Limits::EXECUTE
    }

    fn execute<'a>(&'a self, _: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        panic!("a replay does not execute the call")
    }

    fn replay<'a>(&'a self, call: &'a CheckedCall, recorded: &'a Intake) -> Option<BoxFuture<'a, Replayed>> {
        assert!(!call.input_json().contains("panic"), "on purpose");
        let outcome = Outcome {
            ending: Ending::Success(Success {
                output: call.input_json().to_owned(),
                ..Success::default()
            }),
            usage: ToolUsage {
                fuel: REPLAY_FUEL,
                ..ToolUsage::default()
            },
            log: CallLog::default(),
            intake: recorded.clone(),
            denials: Vec::new(),
            uses: Vec::new(),
        };
        let divergence = Some(divergence());
        Some(std::future::ready(Replayed { outcome, divergence }).boxed())
    }
}

/// Returns a made-up divergence, which does not depend on the record: the tool first asks what time it is, and the record has no
/// answer to that.
const fn divergence() -> Divergence {
    Divergence {
        number: 1,
        reason: DivergenceReason::Exhausted {
            asked: CrossingKind::WallClock,
        },
    }
}

/// Returns the record of a call in which the tool asked the host once to wait, and the wait ended.
fn recorded_intake() -> Intake {
    Intake {
        crossings: vec![Crossing {
            answer: Answer::Waited,
            count: 1,
        }],
        ..Intake::default()
    }
}

/// Replays a call of a [`ReplayableTool`] with these arguments.
async fn replay_call(arguments: Value) -> ReplayedCall {
    let host = TestHost::new([]);
    let registry = host.system.registry();
    registry
        .register(Arc::new(ReplayableTool(schema("replayable"))))
        .unwrap();
    let scope = CallScope {
        enabled_tools: EnabledTools::named(["replayable"]),
        ..host.scope
    };
    let admitted = host
        .system
        .admit_for_replay(call("replayable", arguments), &scope)
        .await
        .unwrap();
    host.system.replay(admitted, &recorded_intake()).await.unwrap()
}

#[tokio::test]
async fn a_replay_returns_the_report_of_the_call_and_the_divergence() {
    let ReplayedCall {
        report,
        divergence: found,
    } = replay_call(json!({"a": 1})).await;
    assert_eq!(report.result.output, Some(json!({"a": 1}).into()));
    assert_eq!((report.ending, report.usage.fuel), (EndingKind::Success, REPLAY_FUEL));
    assert_eq!((report.intake, found), (recorded_intake(), Some(divergence())));
}

#[tokio::test]
async fn a_replay_that_panics_is_a_failure_of_the_host() {
    let ReplayedCall { report, .. } = replay_call(json!({"panic": true})).await;
    assert_eq!(report.ending, EndingKind::HostError);
}

#[tokio::test]
async fn a_tool_that_cannot_be_replayed_is_not_run() {
    let tool = echo_tool("echo");
    let host = TestHost::new([Arc::clone(&tool)]);
    let admitted = host
        .system
        .admit_for_replay(call("echo", json!({})), &host.scope)
        .await
        .unwrap();
    assert_eq!(host.system.replay(admitted, &recorded_intake()).await, None);
    assert_eq!(tool.call_count(), 0);
}
