//! Checks a tool call, asks a person about it if necessary, and carries it out.

use art_agent::{ActionId, Approval, FileArgument, RunEvent, ToolCall};
use art_core::error::ToolErrorCode;
use art_core::outcome::EndingKind;
use art_core::suspension::SuspendedCall;
use art_core::tool::ParsedToolCall;
use art_store::digest;
use art_tools::{AdmittedCall, CallProgress, CallScope, ToolReport, Verdict};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::event::{EndedToolCall, WorkEvent};
use super::files;
use crate::decisions;
use crate::drive::clock::now;
use crate::runtime::Runtime;
use crate::standing::StandingApprovals;

/// A call that passed all checks, to be made once the event that announces it is committed.
pub(in crate::drive) struct AnnouncedCall {
    action: ActionId,
    item_id: String,
    admitted: AdmittedCall,
    scope: CallScope,
}

/// What happens next to a call that is not refused.
pub(in crate::drive) enum Admission {
    /// The call is made once this event, which announces it, is committed.
    Announced(Box<AnnouncedCall>, Box<RunEvent>),
    /// A person has to decide before the call is made.
    Suspended(Box<SuspendedCall>),
}

/// Makes the grants that a person approved for a call, inserts the files that its arguments name, and checks the call. Returns
/// what happens next to the call, or the report of a refused call.
pub(super) async fn admit(runtime: &Runtime, call: ToolCall, scope: &CallScope) -> Result<Admission, Box<ToolReport>> {
    let ToolCall {
        action,
        item_id,
        call,
        files,
        approval,
    } = call;
    let scope = scope_for_item(scope, &item_id);
    runtime.toolbox.refresh_grants();
    let granted = match &approval {
        Some(approval) => decisions::make_grants(runtime, approval).await,
        None => Ok(()),
    };
    let admitted = match insert_files_and_admit(runtime, call, &files, &scope).await {
        Ok(admitted) => admitted,
        Err(report) if granted.is_err() => return Err(report_without_grants(*report, granted)),
        Err(report) => return grant_question(runtime, report, approval.is_some()).map(Admission::Suspended),
    };
    let input_digest = digest(admitted.input_json().as_bytes());
    let mut standing_approval = None;
    let admitted = match (rule_decision(runtime, &admitted, &scope), approval) {
        (RuleDecision::Refuse { reason }, _) => return Err(refusal_report(admitted.call(), &reason)),
        (_, Some(approval)) => check_approved(&approval, admitted, &input_digest)?,
        (RuleDecision::Ask { reason }, None) => {
            return Ok(Admission::Suspended(rule_question(runtime, &admitted, &reason)));
        }
        (RuleDecision::Run { standing_approval_id }, None) => {
            standing_approval = standing_approval_id;
            admitted
        }
    };
    let event = RunEvent::ToolCalled {
        at: now(),
        action,
        item_id: item_id.clone(),
        call_id: admitted.call().call_id.clone(),
        tool_name: admitted.call().tool_name.clone(),
        tool_digest: admitted.tool_digest().map(str::to_owned),
        input: input_digest,
        standing_approval,
    };
    let announced = AnnouncedCall {
        action,
        item_id,
        admitted,
        scope,
    };
    Ok(Admission::Announced(Box::new(announced), Box::new(event)))
}

/// Returns the report of a call that a person granted what it needs, and that was refused because the grants could not be made. A
/// call that was refused for another reason keeps its report.
fn report_without_grants(report: ToolReport, granted: Result<(), String>) -> Box<ToolReport> {
    match granted {
        Err(problem) if report.ending == EndingKind::Denied => {
            let call = ParsedToolCall {
                call_id: report.result.call_id,
                tool_name: report.result.tool_name,
                arguments: Value::Null,
            };
            let message = format!(
                "`{}` is not called: a person granted what it needs, but {problem}",
                call.tool_name
            );
            Box::new(ToolReport::not_run(&call, ToolErrorCode::IoError, message))
        }
        _ => Box::new(report),
    }
}

/// Returns the question to a person about a call that was refused because it lacks a grant. Fails with the report of the refusal
/// if the call was refused for another reason, if the host does not ask for grants, or if a person was asked before.
fn grant_question(
    runtime: &Runtime,
    mut report: Box<ToolReport>,
    was_asked: bool,
) -> Result<Box<SuspendedCall>, Box<ToolReport>> {
    let may_ask = runtime.config.ask_for_grants && !was_asked;
    match report.grant_question.take().filter(|_| may_ask) {
        Some(mut question) => {
            // Set the time limit of the question.
            runtime.config.approval.value.set_expiry(&mut question, now());
            Ok(question)
        }
        None => Err(report),
    }
}

/// Returns the question to a person about a call that is to be made later. Returns `None` if the call may run without a question.
/// Also returns `None` if the call is refused: then the refusal becomes its result later, when the call is to be made.
pub(super) async fn question_about_call(
    runtime: &Runtime,
    item_id: &str,
    call: ParsedToolCall,
    files: &[FileArgument],
    scope: &CallScope,
) -> Option<Box<SuspendedCall>> {
    let scope = scope_for_item(scope, item_id);
    runtime.toolbox.refresh_grants();
    let was_asked = false;
    let admitted = match insert_files_and_admit(runtime, call, files, &scope).await {
        Ok(admitted) => admitted,
        Err(report) => return grant_question(runtime, report, was_asked).ok(),
    };
    match rule_decision(runtime, &admitted, &scope) {
        RuleDecision::Ask { reason } => Some(rule_question(runtime, &admitted, &reason)),
        RuleDecision::Run { .. } | RuleDecision::Refuse { .. } => None,
    }
}

fn scope_for_item(scope: &CallScope, item_id: &str) -> CallScope {
    CallScope {
        parent_id: Some(item_id.to_owned()),
        ..scope.clone()
    }
}

async fn insert_files_and_admit(
    runtime: &Runtime,
    mut call: ParsedToolCall,
    files: &[FileArgument],
    scope: &CallScope,
) -> Result<AdmittedCall, Box<ToolReport>> {
    let inserted = files::insert_files(runtime.store.as_ref(), &scope.thread_id, &mut call.arguments, files).await;
    if let Err(reason) = inserted {
        return Err(Box::new(ToolReport::not_run(&call, ToolErrorCode::IoError, reason)));
    }
    runtime.tools.admit(call, scope).await
}

/// What the rules and the standing approvals say about a call. A person gives a standing approval in advance, for all calls of a
/// certain kind.
enum RuleDecision {
    /// The call runs. If a rule says that a person is asked, and a standing approval makes the question unnecessary, this has the
    /// identifier of the standing approval.
    Run {
        standing_approval_id: Option<String>,
    },
    /// A person is asked about the call.
    Ask {
        reason: String,
    },
    Refuse {
        reason: String,
    },
}

fn rule_decision(runtime: &Runtime, admitted: &AdmittedCall, scope: &CallScope) -> RuleDecision {
    let policy = &runtime.config.approval.value;
    match policy.verdict(admitted.schema(), &admitted.call().arguments) {
        Verdict::Run => RuleDecision::Run {
            standing_approval_id: None,
        },
        Verdict::Refuse { reason } => RuleDecision::Refuse { reason },
        Verdict::Ask { reason } => {
            match StandingApprovals::of(&runtime.config).find_for_admitted(admitted, scope.user_id.as_deref()) {
                Some(id) => RuleDecision::Run {
                    standing_approval_id: Some(id),
                },
                None => RuleDecision::Ask { reason },
            }
        }
    }
}

/// Returns the question to a person about a call for which a rule says that a person is asked.
fn rule_question(runtime: &Runtime, admitted: &AdmittedCall, reason: &str) -> Box<SuspendedCall> {
    let mut question = admitted.question_by_rule(reason, now());
    // Set the time limit of the question.
    runtime.config.approval.value.set_expiry(&mut question, now());
    Box::new(question)
}

/// Returns a call that a person approved. If its tool asked the question, the call also has the person's decision, which the tool
/// can read. Refuses the call if its tool is not the approved version, or if its arguments differ from the approved ones and the
/// person did not edit them.
fn check_approved(
    approval: &Approval,
    admitted: AdmittedCall,
    input_digest: &str,
) -> Result<AdmittedCall, Box<ToolReport>> {
    let suspended = &approval.suspension;
    let problem = if admitted.tool_digest() != suspended.tool_digest.as_deref() {
        "its tool was replaced by another version"
    } else if approval.decision.feedback.modified_args.is_none() && input_digest != suspended.input_digest {
        "its arguments are not the ones that were shown"
    } else {
        return Ok(match decisions::hitl_context(approval) {
            Some(decision) => admitted.decided(decision),
            None => admitted,
        });
    };
    let reason = format!("a person approved it, but {problem}; call it again to ask again");
    Err(refusal_report(admitted.call(), &reason))
}

fn refusal_report(call: &ParsedToolCall, reason: &str) -> Box<ToolReport> {
    let message = format!("`{}` is not called: {reason}", call.tool_name);
    Box::new(ToolReport::not_run(call, ToolErrorCode::PermissionDenied, message))
}

/// A tool call in progress.
struct RunningCall<'a> {
    /// The future of the call. When it ends, the channel `progress` closes, because the future owns the only sender.
    future: BoxFuture<'a, WorkEvent>,
    /// Progress of the call. The channel has no bound and needs none: the call sends only while `future` is polled, which happens
    /// only while the driver waits for the next event, so the channel does not grow while the driver is slow.
    progress: UnboundedReceiver<CallProgress>,
    /// The result of `future`, kept until all progress was returned.
    ended: Option<WorkEvent>,
}

/// Runs the call. Returns a stream of its progress, and then exactly one event of its end.
pub(super) fn run_call(runtime: &Runtime, call: AnnouncedCall) -> BoxStream<'_, WorkEvent> {
    let (sender, progress) = unbounded_channel();
    let AnnouncedCall {
        action,
        item_id,
        admitted,
        scope,
    } = call;
    let future = async move {
        let scope = CallScope {
            progress: Some(sender),
            now: now(),
            ..scope
        };
        let report = runtime.tools.run(admitted, &scope).await;
        WorkEvent::ToolEnded(Box::new(EndedToolCall {
            action,
            item_id,
            report,
        }))
    };
    let call = RunningCall {
        future: future.boxed(),
        progress,
        ended: None,
    };
    stream::unfold(call, async |mut call| Some((call.next().await?, call))).boxed()
}

impl RunningCall<'_> {
    async fn next(&mut self) -> Option<WorkEvent> {
        loop {
            tokio::select! {
                biased;
                progress = self.progress.recv() => match progress {
                    Some(progress) => return Some(WorkEvent::ToolProgress(progress)),
                    None => return self.ended.take(),
                },
                ended = &mut self.future, if self.ended.is_none() => self.ended = Some(ended),
            }
        }
    }
}
