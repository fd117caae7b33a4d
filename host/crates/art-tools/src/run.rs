//! Runs a call that passed all checks. An executor that panics or does not stop in time ends only its own call.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use art_core::intake::{Intake, Replayed};
use art_core::outcome::{CallLog, Ending, Outcome};
use art_core::usage::ToolUsage;
use futures_util::FutureExt as _;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use crate::executor::{CheckedCall, ToolExecutor};
use crate::progress::CallProgress;
use crate::scope::CallScope;

/// Interval at which progress reports of a tool are read. It limits their number.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a call. Returns its outcome, and how much of its time limit was used: the time without the preparation of the tool. An
/// executor that exceeds the time limit or ignores the cancellation for longer than `grace` is dropped. The usage in the outcome
/// then contains only the elapsed time.
pub(crate) async fn run(executor: &dyn ToolExecutor, call: &CheckedCall, grace: Duration) -> (Outcome, Duration) {
    let start = Instant::now();
    // In an async block, a panic of the executor before it returns its future is caught as well.
    let prepared = AssertUnwindSafe(async { prepare(executor, call).await })
        .catch_unwind()
        .await;
    if let Err(ending) = prepared.unwrap_or_else(|_panic| Err(Box::new(panic_ending(call)))) {
        return (unmeasured_outcome(*ending, start), Duration::ZERO);
    }
    let prepared_at = Instant::now();
    let running = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind();
    let ending = tokio::select! {
        biased;
        outcome = running => match outcome {
            Ok(outcome) => return (outcome, prepared_at.elapsed()),
            Err(_panic) => panic_ending(call),
        },
        ending = wait_until_overdue(call, grace) => ending,
    };
    (unmeasured_outcome(ending, start), prepared_at.elapsed())
}

/// Runs a recorded call again, or returns `None` if its executor cannot do that. The executor enforces the time limit.
pub(crate) async fn replay(executor: &dyn ToolExecutor, call: &CheckedCall, recorded: &Intake) -> Option<Replayed> {
    let start = Instant::now();
    let running = AssertUnwindSafe(async {
        match executor.replay(call, recorded) {
            Some(replaying) => Some(replaying.await),
            None => None,
        }
    });
    running.catch_unwind().await.unwrap_or_else(|_panic| {
        Some(Replayed {
            outcome: unmeasured_outcome(panic_ending(call), start),
            divergence: None,
        })
    })
}

/// Prepares the tool before its first call, if it needs that. The preparation does not count towards the time limit of the call.
async fn prepare(executor: &dyn ToolExecutor, call: &CheckedCall) -> Result<(), Box<Ending>> {
    match executor.prepare(call) {
        Some(preparing) => preparing.await,
        None => Ok(()),
    }
}

fn panic_ending(admitted: &CheckedCall) -> Ending {
    tracing::error!(tool = %admitted.call().tool_name, "executor panicked");
    Ending::HostError {
        message: "its executor panicked".to_owned(),
    }
}

/// Waits for `running`, the execution of the call `admitted`, and sends the progress of its tool to the receiver of `scope`.
pub(crate) async fn with_progress<F: Future>(running: F, admitted: &CheckedCall, scope: &CallScope) -> F::Output {
    if scope.progress.is_none() {
        return running.await;
    }
    let mut running = pin!(running);
    let mut ticks = interval_at(Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            output = &mut running => return output,
            _ = ticks.tick() => {
                let newest = admitted.progress().take_for(admitted.call(), scope.parent_id.as_deref());
                if let Some(progress) = newest {
                    scope.send_progress(|| CallProgress::Reported(progress));
                }
            }
        }
    }
}

/// Returns an outcome whose usage has only the elapsed time; the rest is unknown.
fn unmeasured_outcome(ending: Ending, start: Instant) -> Outcome {
    Outcome {
        ending,
        usage: ToolUsage {
            wall_us: micros(start.elapsed()),
            ..ToolUsage::default()
        },
        log: CallLog::default(),
        intake: Intake::default(),
        denials: Vec::new(),
        uses: Vec::new(),
    }
}

/// Waits until `grace` after the time limit or the cancellation of a call, and returns the matching ending.
async fn wait_until_overdue(call: &CheckedCall, grace: Duration) -> Ending {
    let limit_ms = call.limits().timeout_ms;
    let deadline = sleep(Duration::from_millis(limit_ms).saturating_add(grace));
    tokio::select! {
        () = deadline => Ending::Timeout { limit_ms },
        () = call.cancel().cancelled() => {
            sleep(grace).await;
            Ending::Cancelled
        }
    }
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
