//! Processes calls from the request of the model to the stored result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use art_core::error::ToolErrorCode;
use art_core::outcome::{Ending, Outcome};
use art_core::text::truncate;
use art_core::tool::{ParsedToolCall, ToolStatus};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::Instant;

use crate::check::check;
use crate::compiled::RegisteredTool;
use crate::config::SystemConfig;
use crate::executor::Admitted;
use crate::observe::observation;
use crate::offload::{TimeBudget, offload};
use crate::output::{report, report_without_payload};
use crate::progress::CallProgress;
use crate::queue::Queue;
use crate::registry::ToolRegistry;
use crate::report::{ToolReport, about_tool};
use crate::run::{micros, run, with_progress};
use crate::scope::CallScope;
use crate::sink::ObservationSink;

/// Checks, runs and records calls.
///
/// Needs a tokio runtime with a timer. All runs of a host share one system, because its limits are those of the host.
#[derive(Debug)]
pub struct ToolSystem {
    registry: Arc<ToolRegistry>,
    sink: Arc<dyn ObservationSink>,
    config: SystemConfig,
    queue: Queue,
}

impl ToolSystem {
    /// Creates a system over the tools of `registry`, which may change while it is in use.
    #[must_use]
    pub fn new(registry: Arc<ToolRegistry>, sink: Arc<dyn ObservationSink>, config: SystemConfig) -> Self {
        Self {
            queue: Queue::new(&config),
            registry,
            sink,
            config,
        }
    }

    /// Returns the registry.
    #[must_use]
    pub const fn registry(&self) -> &Arc<ToolRegistry> {
        &self.registry
    }

    /// Runs a batch of calls and returns one report for each, in order, even if some fail (T7).
    ///
    /// - Calls run concurrently, at most [`SystemConfig::max_parallel`] over all batches. A call that finds the queue
    ///   full ends with `BUSY`.
    /// - A call of a blocking tool runs alone: after all calls before it, and before all calls after it (Q3a).
    /// - Once a call is suspended, calls that have not begun are not run, whatever the mode of the tool. They end with
    ///   `CANCELLED` and the reason, so that every call has a result (B9). The model may request them again.
    /// - Each call has exactly one `TOOL_EXECUTION` observation, even if it was refused or not run. It is stored when
    ///   the call ends and before this function returns. If it cannot be stored, the result is withheld and replaced by
    ///   `HOST_ERROR`, because a run must not depend on a result that is lost in a restart.
    /// - `callId` and `toolName` of a result are those of the request. The status follows from the ending of the call.
    ///   A failure never becomes a success, but a success with an error in its metadata becomes a failure.
    /// - A tool that asks the model for help gets an ordinary result with [`ASSIST_REQUIRED`](crate::ASSIST_REQUIRED)
    ///   in its metadata.
    ///
    /// To stop, cancel the token of `scope` and wait. Dropping the future drops running calls without recording them.
    pub async fn execute_batch(&self, calls: Vec<ParsedToolCall>, scope: &CallScope) -> Vec<ToolReport> {
        let mut reports: Vec<ToolReport> = Vec::with_capacity(calls.len());
        let mut calls = calls.into_iter().peekable();
        let mut suspended_tool: Option<String> = None;
        while let Some(first) = calls.next() {
            if let Some(name) = &suspended_tool {
                reports.push(self.not_run(first, name, scope).await);
                continue;
            }
            let runs_alone = self.runs_alone(&first);
            let mut concurrent = vec![first];
            if !runs_alone {
                while let Some(next) = calls.next_if(|next| !self.runs_alone(next)) {
                    concurrent.push(next);
                }
            }
            let executed = join_all(concurrent.into_iter().map(|call| self.execute(call, scope))).await;
            let suspended = executed
                .iter()
                .find(|report| report.result.status == ToolStatus::Suspended);
            suspended_tool = suspended.map(|report| truncate(&report.result.tool_name, 200));
            reports.extend(executed);
        }
        reports
    }

    /// Returns whether a call runs alone, apart from the other calls of its batch.
    fn runs_alone(&self, call: &ParsedToolCall) -> bool {
        let tool = self.registry.tool(&call.tool_name);
        tool.is_some_and(|tool| tool.is_blocking())
    }

    async fn execute(&self, call: ParsedToolCall, scope: &CallScope) -> ToolReport {
        let start = Instant::now();
        let report = match check(&self.registry, call, scope).await {
            Ok((tool, admitted)) => self.run(tool, admitted, scope).await,
            Err(refused) => refused.marked_not_run(),
        };
        let ran = !report.result.metadata.not_run;
        let report = self.record(report, start, scope).await;
        if ran {
            scope.send(|| CallProgress::Ended(Box::new(report.clone())));
        }
        report
    }

    async fn run(&self, tool: Arc<RegisteredTool>, admitted: Admitted, scope: &CallScope) -> ToolReport {
        let permit = match self.queue.enter(admitted.cancel()).await {
            Ok(permit) => permit,
            Err(ending) => return report_without_payload(admitted.call(), &ending).marked_not_run(),
        };
        scope.send(|| CallProgress::Started(admitted.call().clone()));
        let (start, digest) = (Instant::now(), tool.digest.clone());
        let running = run(&*tool.executor, &admitted, self.config.grace, start);
        let Outcome {
            mut ending,
            mut usage,
            log,
        } = with_progress(running, &admitted, scope).await;
        let run_time = start.elapsed();
        if let Ending::Timeout { limit_ms } = &mut ending {
            // The check of the arguments used part of the time limit, so report the whole limit.
            *limit_ms = tool.limits.timeout_ms;
        }
        let budget = TimeBudget {
            remaining: Duration::from_millis(admitted.limits().timeout_ms).saturating_sub(run_time),
            limit_ms: tool.limits.timeout_ms,
            cancel: admitted.cancel(),
        };
        let report = report_offloaded(admitted.call(), tool, ending, budget).await;
        // The time of a call includes the check of its output.
        usage.wall_us = usage
            .wall_us
            .saturating_add(micros(start.elapsed().saturating_sub(run_time)));
        drop(permit);
        ToolReport {
            usage,
            log,
            digest,
            ..report
        }
    }

    /// Records a call that is not run because an earlier call of `suspended_tool` is suspended.
    async fn not_run(&self, call: ParsedToolCall, suspended_tool: &str, scope: &CallScope) -> ToolReport {
        let text = about_tool(
            &call.tool_name,
            &format!("was not run because \"{suspended_tool}\" waits for a decision"),
        );
        let report = ToolReport::not_run(&call, ToolErrorCode::Cancelled, text);
        self.record(report, Instant::now(), scope).await
    }

    /// Stores the observation of a call and then returns its report.
    async fn record(&self, mut report: ToolReport, start: Instant, scope: &CallScope) -> ToolReport {
        report.duration = start.elapsed();
        let raw_output = report.raw_output.take();
        let observation = observation(&report, raw_output.as_deref(), scope);
        let stored = AssertUnwindSafe(async { self.sink.record(observation).await }).catch_unwind();
        let call_id = &report.result.call_id;
        match stored.await {
            Ok(Ok(())) => return report,
            Ok(Err(error)) => {
                let cause = error.source.as_ref();
                tracing::error!(call = %call_id, %cause, "observation of a tool call not stored");
            }
            Err(_panic) => tracing::error!(call = %call_id, "observation sink panicked"),
        }
        report.withhold();
        report
    }
}

/// Parses and validates the output of a call without blocking other calls, and returns the report of the call.
async fn report_offloaded(
    call: &ParsedToolCall,
    tool: Arc<RegisteredTool>,
    ending: Ending,
    budget: TimeBudget<'_>,
) -> ToolReport {
    let is_light = match &ending {
        Ending::Success(success) => tool.is_light_output(success.output.len()),
        _ => true,
    };
    if is_light {
        return report(call, &tool, ending);
    }
    // A report does not contain the arguments, so do not copy them.
    let without_arguments = ParsedToolCall {
        call_id: call.call_id.clone(),
        tool_name: call.tool_name.clone(),
        arguments: Value::Null,
    };
    let result = offload(budget, move || report(&without_arguments, &tool, ending)).await;
    result.unwrap_or_else(|ending| report_without_payload(call, &ending))
}

#[cfg(test)]
mod tests;
