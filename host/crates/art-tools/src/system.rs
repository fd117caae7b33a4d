//! Processes a call: takes the request of the model, checks it, runs the call and returns its report.

use std::sync::Arc;
use std::time::Duration;

use art_core::Timestamp;
use art_core::hitl::{Feedback, HitlContext};
use art_core::intake::{Divergence, Intake, Replayed};
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_core::suspension::SuspendedCall;
use art_core::tool::{ParsedToolCall, ToolSchema};
use serde_json::Value;
use tokio::time::Instant;

use crate::check::{Authorization, check};
use crate::compiled::RegisteredTool;
use crate::config::SystemConfig;
use crate::executor::CheckedCall;
use crate::form::{FeedbackErrors, check_feedback_with_input_limit, question_of_rule};
use crate::offload::{TimeBudget, offload};
use crate::output::{add_denials_of_run, report, report_without_tool_result};
use crate::progress::CallProgress;
use crate::queue::Queue;
use crate::registry::ToolRegistry;
use crate::report::ToolReport;
use crate::run::{micros, replay, run, with_progress};
use crate::scope::CallScope;

/// Checks and runs calls.
///
/// Needs a tokio runtime with a timer. All runs of a host share one system, because its limits are those of the host.
#[derive(Debug)]
pub struct ToolSystem {
    registry: Arc<ToolRegistry>,
    config: SystemConfig,
    queue: Queue,
}

/// A [`CheckedCall`] together with its tool. [`ToolSystem::admit`] returns it.
#[derive(Debug)]
pub struct AdmittedCall {
    tool: Arc<RegisteredTool>,
    admitted: CheckedCall,
    /// Time that the checks took.
    check_duration: Duration,
}

/// A call that passed all checks but may lack grants, since it can only be replayed. [`ToolSystem::admit_for_replay`] returns it.
#[derive(Debug)]
pub struct ReplayableCall(AdmittedCall);

impl ReplayableCall {
    /// Returns the input of the tool: the validated arguments as compact JSON text.
    #[must_use]
    pub fn input_json(&self) -> &str {
        self.0.input_json()
    }

    /// Returns the call with the decision that it waited for: see [`AdmittedCall::decided`].
    #[must_use]
    pub fn decided(self, decision: HitlContext) -> Self {
        Self(self.0.decided(decision))
    }
}

/// The report of a recorded call that was run again.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedCall {
    /// The report, as of any call.
    pub report: ToolReport,
    /// The first difference between what the tool asked and what the record answers; `None` if there is none.
    pub divergence: Option<Divergence>,
}

impl From<ToolReport> for ReplayedCall {
    /// Returns the replay of a call that did not diverge.
    fn from(report: ToolReport) -> Self {
        Self {
            report,
            divergence: None,
        }
    }
}

impl AdmittedCall {
    /// Returns the call. Its arguments are the validated ones, defaults included.
    #[must_use]
    pub const fn call(&self) -> &ParsedToolCall {
        self.admitted.call()
    }

    /// Returns the input of the tool: the validated arguments as compact JSON text.
    #[must_use]
    pub fn input_json(&self) -> &str {
        self.admitted.input_json()
    }

    /// Returns the declaration of the tool, for the verdict of an [`ApprovalPolicy`](crate::ApprovalPolicy).
    #[must_use]
    pub fn schema(&self) -> &ToolSchema {
        &self.tool.schema
    }

    /// Returns the question to a person whether the call may run, which an approval rule of the operator asks. `reason` says why;
    /// the time limit for the answer, if the tool sets one, begins at `now`. The call has not run. If it is approved, it runs,
    /// and the person may edit its arguments first.
    #[must_use]
    pub fn question_by_rule(&self, reason: &str, now: Timestamp) -> SuspendedCall {
        question_of_rule(self.admitted.call(), &self.tool, reason, now)
    }

    /// Returns the call with the decision that it waited for, which its tool finds in the context of the call (contract
    /// C18). Other calls of the same batch have their own decisions, or none.
    #[must_use]
    pub fn decided(mut self, decision: HitlContext) -> Self {
        self.admitted.set_decision(decision);
        self
    }

    /// Returns the digest of the code of the tool, if it has one.
    #[must_use]
    pub fn tool_digest(&self) -> Option<&str> {
        self.tool.digest.as_deref()
    }
}

impl ToolSystem {
    /// Creates a system over the tools of `registry`, which may change while it is in use.
    #[must_use]
    pub fn new(registry: Arc<ToolRegistry>, config: SystemConfig) -> Self {
        Self {
            queue: Queue::new(&config),
            registry,
            config,
        }
    }

    /// Returns the registry.
    #[must_use]
    pub const fn registry(&self) -> &Arc<ToolRegistry> {
        &self.registry
    }

    /// Checks a call and runs it: see [`admit`](Self::admit) and [`run`](Self::run).
    pub async fn call(&self, call: ParsedToolCall, scope: &CallScope) -> ToolReport {
        match self.admit(call, scope).await {
            Ok(admitted) => self.run(admitted, scope).await,
            Err(refused) => *refused,
        }
    }

    /// Checks a call: whether its tool is enabled for the thread and registered, whether its arguments are valid
    /// (contract T4), and whether it has the grants that it needs.
    ///
    /// # Errors
    /// Fails with the report of the refusal, which is marked as not run.
    pub async fn admit(&self, call: ParsedToolCall, scope: &CallScope) -> Result<AdmittedCall, Box<ToolReport>> {
        self.admit_with(call, scope, Authorization::Required).await
    }

    /// Checks a call that will be [replayed](Self::replay). The checks are those of [`admit`](Self::admit), but the call needs no
    /// grant, since it gets recorded answers.
    ///
    /// # Errors
    /// Fails as [`admit`](Self::admit) does.
    pub async fn admit_for_replay(
        &self,
        call: ParsedToolCall,
        scope: &CallScope,
    ) -> Result<ReplayableCall, Box<ToolReport>> {
        let admitted = self.admit_with(call, scope, Authorization::NotRequired).await?;
        Ok(ReplayableCall(admitted))
    }

    async fn admit_with(
        &self,
        call: ParsedToolCall,
        scope: &CallScope,
        authorization: Authorization,
    ) -> Result<AdmittedCall, Box<ToolReport>> {
        let start = Instant::now();
        match check(&self.registry, call, scope, authorization).await {
            Ok((tool, admitted)) => Ok(AdmittedCall {
                tool,
                admitted,
                check_duration: start.elapsed(),
            }),
            Err(refused) => Err(Box::new(ToolReport {
                duration: start.elapsed(),
                ..refused.marked_not_run()
            })),
        }
    }

    /// Runs a call and returns its report. Never fails: a panic of the executor, for example, is part of the report
    /// (contract T7).
    ///
    /// - At most [`SystemConfig::max_parallel`] calls of the whole system run at the same time. A call that finds the queue full
    ///   ends with `BUSY`.
    /// - `callId` and `toolName` of the result are those of the request. The status follows from the ending of the call.
    ///   A failure never becomes a success, but a success with an error in its metadata becomes a failure.
    /// - If the tool asks the model for help, the result is an ordinary one with [`ASSIST_REQUIRED`](crate::ASSIST_REQUIRED)
    ///   in its metadata.
    ///
    /// To stop the call, cancel the token of `scope` and wait. Dropping the future drops the call without a report.
    pub async fn run(&self, call: AdmittedCall, scope: &CallScope) -> ToolReport {
        let AdmittedCall {
            tool,
            admitted,
            check_duration,
        } = call;
        let start = Instant::now();
        let question_timeout_ms = tool
            .schema
            .blocking_config
            .as_ref()
            .and_then(|config| config.timeout_ms);
        let mut report = self.run_admitted(tool, admitted, scope).await;
        let elapsed = start.elapsed();
        report.duration = check_duration.saturating_add(elapsed);
        if let Some(question) = &mut report.suspension {
            let asked_at = scope.now.saturating_add(micros(elapsed) / 1_000);
            question.expires = question_timeout_ms.map(|timeout_ms| asked_at.saturating_add(timeout_ms));
        }
        report
    }

    async fn run_admitted(&self, tool: Arc<RegisteredTool>, admitted: CheckedCall, scope: &CallScope) -> ToolReport {
        let permit = match self.queue.enter(admitted.cancel()).await {
            Ok(permit) => permit,
            Err(ending) => return report_without_tool_result(admitted.call(), &ending).marked_not_run(),
        };
        scope.send_progress(|| CallProgress::Started(admitted.call().clone()));
        let running = run(&*tool.executor, &admitted, self.config.grace);
        let (outcome, used_time) = with_progress(running, &admitted, scope).await;
        let remaining = Duration::from_millis(admitted.limits().timeout_ms).saturating_sub(used_time);
        let report = report_outcome(&admitted, tool, outcome, remaining).await;
        drop(permit);
        report
    }

    /// Checks the decision of a person about a call: see [`check_feedback`](crate::check_feedback). Edited arguments are checked
    /// as those of any call of the tool.
    ///
    /// # Errors
    /// Fails with everything that is wrong.
    pub fn check_feedback(&self, call: &SuspendedCall, feedback: Feedback) -> Result<Feedback, FeedbackErrors> {
        let tool = self.registry.tool(&call.call.tool_name);
        let limits = tool.as_ref().map_or(Limits::MAX, |tool| tool.limits);
        check_feedback_with_input_limit(
            call,
            tool.as_ref().map(|tool| &tool.input_schema),
            limits.input_bytes,
            feedback,
        )
    }

    /// Runs a recorded call again with the recorded answers from outside. `recorded` is the [`intake`](ToolReport::intake) of the
    /// call's report. Returns `None` if the tool cannot do that, for example because it is a Rust function of the host
    /// program and not a component.
    pub async fn replay(&self, call: ReplayableCall, recorded: &Intake) -> Option<ReplayedCall> {
        let AdmittedCall { tool, admitted, .. } = call.0;
        let permit = match self.queue.enter(admitted.cancel()).await {
            Ok(permit) => permit,
            Err(ending) => {
                let report = report_without_tool_result(admitted.call(), &ending).marked_not_run();
                return Some(report.into());
            }
        };
        let Replayed { outcome, divergence } = replay(&*tool.executor, &admitted, recorded).await?;
        let limit = Duration::from_millis(tool.limits.timeout_ms);
        let report = report_outcome(&admitted, tool, outcome, limit).await;
        drop(permit);
        Some(ReplayedCall { report, divergence })
    }
}

/// Returns the report of a call that ran. Checking its output may take at most `remaining`, and counts as time of the call.
async fn report_outcome(
    admitted: &CheckedCall,
    tool: Arc<RegisteredTool>,
    outcome: Outcome,
    remaining: Duration,
) -> ToolReport {
    let Outcome {
        mut ending,
        mut usage,
        log,
        intake,
        denials,
        uses,
    } = outcome;
    let (start, digest) = (Instant::now(), tool.digest.clone());
    if let Ending::Timeout { limit_ms } = &mut ending {
        // The executor had only the part of the time limit that the check of the arguments left. So report the whole limit.
        *limit_ms = tool.limits.timeout_ms;
    }
    let budget = TimeBudget {
        remaining,
        limit_ms: tool.limits.timeout_ms,
        cancel: admitted.cancel(),
    };
    let mut report = report_without_blocking(admitted.call(), tool, ending, budget).await;
    add_denials_of_run(&mut report, denials, admitted, &log.stderr);
    usage.wall_us = usage.wall_us.saturating_add(micros(start.elapsed()));
    ToolReport {
        usage,
        log,
        intake,
        uses,
        digest,
        ..report
    }
}

/// Parses and validates the output of a call without blocking other calls, and returns the report of the call.
async fn report_without_blocking(
    call: &ParsedToolCall,
    tool: Arc<RegisteredTool>,
    ending: Ending,
    budget: TimeBudget<'_>,
) -> ToolReport {
    let is_light = match &ending {
        Ending::Success(success) => tool.is_light_output(success.output.len()),
        // Compiling the schema of a form takes more than a millisecond.
        Ending::Suspended(suspension) => suspension.feedback_schema.is_none(),
        _ => true,
    };
    if is_light {
        return report(call, &tool, ending);
    }
    let copy = ParsedToolCall {
        call_id: call.call_id.clone(),
        tool_name: call.tool_name.clone(),
        // Only the report of a suspension contains the arguments.
        arguments: match &ending {
            Ending::Suspended(_) => call.arguments.clone(),
            _ => Value::Null,
        },
    };
    let result = offload(budget, move || report(&copy, &tool, ending)).await;
    result.unwrap_or_else(|ending| report_without_tool_result(call, &ending))
}

#[cfg(test)]
mod tests;
