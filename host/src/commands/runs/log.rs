//! The log of a run for people: one line for each event of its journal, and what each step used. An action is a model call or a
//! batch of tool calls; events name it by its number.

use std::collections::BTreeMap;

use art_agent::{ActionId, CallEnd, CallRefusal, PlannedCallQuestion, Run, RunEvent, RunStage};
use art_core::stream::ModelReply;
use art_core::suspension::{DecidedBy, Decision, SuspendedCall};
use art_core::text::truncate;
use art_core::tool::ToolResult;
use art_store::JournalEntry;
use serde::Serialize;

use crate::render::{table, units};

/// Maximum length of the text of an event, in characters.
const MAX_TEXT_CHARS: usize = 100;
/// Name of the entry of [`Costs::steps`] for usage that belongs to no single step.
const NO_STEP: &str = "-";

/// The events of a journal, and what the steps used.
pub(super) struct Log<'a> {
    events: Vec<LoggedEvent<'a>>,
    costs: Costs,
}

struct LoggedEvent<'a> {
    /// The journal entry of the event.
    entry: &'a JournalEntry,
    event: RunEvent,
    /// The step to which the event belongs; empty if it belongs to no step.
    step: String,
}

/// What a run used, by step.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Costs {
    /// The steps in the order in which they began to use something. Entries that are no steps of the plan: `planning` and
    /// `answer` have the model calls for these purposes, and [`NO_STEP`] has the usage that belongs to no single step.
    steps: Vec<StepCosts>,
    /// All steps together.
    total: StepCosts,
}

/// What a step used.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct StepCosts {
    step: String,
    model_calls: u32,
    tokens_in: u64,
    tokens_out: u64,
    /// Cost of the model calls whose price is known, in US dollars.
    cost_usd: f64,
    tool_calls: u32,
    fuel: u64,
    /// Duration of the tool calls, in microseconds.
    tool_time_us: u64,
}

impl<'a> Log<'a> {
    /// Reads a journal. Fails with the reason if it is not the journal of a run.
    pub(super) fn read(journal: &'a [JournalEntry]) -> Result<Self, String> {
        let (mut run, mut steps_of_model_calls) = (None::<Run>, BTreeMap::new());
        let (mut events, mut costs) = (Vec::new(), Costs::default());
        for entry in journal {
            let number = entry.sequence;
            let event: RunEvent = serde_json::from_str(&entry.payload)
                .map_err(|error| format!("event {number} cannot be read: {error}"))?;
            let step = run
                .as_ref()
                .map(|run| find_step(run, &event, &mut steps_of_model_calls))
                .unwrap_or_default();
            let used_before = run.as_ref().map(usage_so_far).unwrap_or_default();
            match &mut run {
                None => run = Some(Run::restore(&event).map_err(|error| error.to_string())?),
                Some(run) => run
                    .apply_recorded(&event)
                    .map_err(|error| format!("event {number}: {error}"))?,
            }
            costs.total = run.as_ref().map(usage_so_far).unwrap_or_default();
            let used_by_event = costs.total.minus(&used_before);
            costs.add(&step, &used_by_event);
            events.push(LoggedEvent { entry, event, step });
        }
        Ok(Self { events, costs })
    }

    /// Returns a table of the events of a run that started at `started`.
    pub(super) fn lines(&self, started: u64) -> Vec<String> {
        let mut rows = vec![["no", "after", "step", "event"].map(str::to_owned).to_vec()];
        rows.extend(self.events.iter().map(|LoggedEvent { entry, event, step }| {
            let after = units::micros(entry.timestamp.saturating_sub(started).saturating_mul(1_000));
            let text = truncate(&event_text(event), MAX_TEXT_CHARS);
            vec![entry.sequence.to_string(), after, step.clone(), text]
        }));
        table::lines(&rows)
    }

    /// Returns what the run used, by step.
    pub(super) const fn costs(&self) -> &Costs {
        &self.costs
    }
}

impl Costs {
    /// Adds what one event used to the costs of its step.
    fn add(&mut self, step: &str, used: &StepCosts) {
        if *used == StepCosts::default() {
            return;
        }
        let name = if step.is_empty() { NO_STEP } else { step };
        match self.steps.iter_mut().find(|costs| costs.step == name) {
            Some(costs) => costs.add(used),
            None => self.steps.push(StepCosts {
                step: name.to_owned(),
                ..used.clone()
            }),
        }
    }

    /// Returns a table with a line for each step and one for the total.
    pub(super) fn lines(&self) -> Vec<String> {
        let heading = [
            "step",
            "model calls",
            "tokens in",
            "out",
            "cost",
            "tool calls",
            "fuel",
            "tool time",
        ];
        let total = StepCosts {
            step: "total".to_owned(),
            ..self.total.clone()
        };
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(self.steps.iter().chain([&total]).map(StepCosts::table_row));
        table::lines(&rows)
    }
}

impl StepCosts {
    fn add(&mut self, other: &Self) {
        self.model_calls += other.model_calls;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
        self.cost_usd += other.cost_usd;
        self.tool_calls += other.tool_calls;
        self.fuel += other.fuel;
        self.tool_time_us += other.tool_time_us;
    }

    /// Returns what was used in addition to `before`.
    fn minus(&self, before: &Self) -> Self {
        Self {
            step: String::new(),
            model_calls: self.model_calls.saturating_sub(before.model_calls),
            tokens_in: self.tokens_in.saturating_sub(before.tokens_in),
            tokens_out: self.tokens_out.saturating_sub(before.tokens_out),
            cost_usd: self.cost_usd - before.cost_usd,
            tool_calls: self.tool_calls.saturating_sub(before.tool_calls),
            fuel: self.fuel.saturating_sub(before.fuel),
            tool_time_us: self.tool_time_us.saturating_sub(before.tool_time_us),
        }
    }

    fn table_row(&self) -> Vec<String> {
        let cost = if self.cost_usd > 0.0 {
            units::dollars(self.cost_usd)
        } else {
            "-".to_owned()
        };
        vec![
            self.step.clone(),
            self.model_calls.to_string(),
            self.tokens_in.to_string(),
            self.tokens_out.to_string(),
            cost,
            self.tool_calls.to_string(),
            units::count(self.fuel),
            units::micros(self.tool_time_us),
        ]
    }
}

/// Returns what a run used so far.
fn usage_so_far(run: &Run) -> StepCosts {
    let view = run.view();
    StepCosts {
        step: String::new(),
        model_calls: view.llm_calls,
        tokens_in: view.tokens.prompt_tokens,
        tokens_out: view.tokens.completion_tokens,
        cost_usd: run.known_cost(),
        tool_calls: view.tool_calls,
        fuel: view.usage.fuel,
        tool_time_us: view.usage.wall_us,
    }
}

/// Returns the step to which an event belongs, or an empty text if it belongs to no step. `run` is the state of the run before
/// the event. `steps_of_model_calls` has the step of each model call so far; the call of this event is added.
fn find_step(run: &Run, event: &RunEvent, steps_of_model_calls: &mut BTreeMap<ActionId, String>) -> String {
    let step_of_tool_call = |action: &ActionId, result: &ToolResult| {
        let call = run.open_call(*action, &result.call_id);
        call.map(|call| call.item_id).unwrap_or_default()
    };
    match event {
        RunEvent::ModelAsked { action, item_id, .. } => {
            let phase = match run.stage() {
                RunStage::Synthesis => "answer",
                _ => "planning",
            };
            let step = item_id.clone().unwrap_or_else(|| phase.to_owned());
            steps_of_model_calls.insert(*action, step.clone());
            step
        }
        // For `ModelNotAsked`, there is a step only if `ModelAsked` came before it: if the run was interrupted during the call,
        // and the host could not make the call again afterwards.
        RunEvent::ModelNotAsked { action, .. }
        | RunEvent::ModelReplied { action, .. }
        | RunEvent::ModelFailed { action, .. } => steps_of_model_calls.get(action).cloned().unwrap_or_default(),
        RunEvent::ToolCalled { item_id, .. } => item_id.clone(),
        RunEvent::CallSuspended { action, suspension, .. } => {
            let call = run.open_call(*action, &suspension.call.call_id);
            call.map(|call| call.item_id).unwrap_or_default()
        }
        RunEvent::CallDecided { suspension_id, .. } => {
            let mut waiting = run.suspensions().into_iter();
            let decided = waiting.find(|waiting| waiting.suspension.suspension_id == *suspension_id);
            decided.map(|decided| decided.item_id.to_owned()).unwrap_or_default()
        }
        RunEvent::ToolEnded { action, end, .. } => step_of_tool_call(action, &end.result),
        RunEvent::ToolsReturned { action, results, .. } => {
            // Journals of version 1 have one event for all results of an action. All calls of an action belong to one step.
            let step_of_first = results.first().map(|result| step_of_tool_call(action, result));
            step_of_first.unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Describes an event in one line.
fn event_text(event: &RunEvent) -> String {
    match event {
        RunEvent::Started { start, .. } => format!("question: {}", start.props.query),
        RunEvent::ModelAsked { .. } => "the model is asked".to_owned(),
        RunEvent::ModelNotAsked { refusal, .. } => format!("the model is not asked: {}", refusal_text(refusal)),
        RunEvent::ModelReplied { reply, .. } => format!("the model replies{}", reply_text(reply)),
        RunEvent::ModelFailed { error, .. } => format!("the model fails: {}", error.message),
        RunEvent::ToolCalled {
            tool_name,
            standing_approval,
            ..
        } => call_text(tool_name, standing_approval.as_deref()),
        RunEvent::ToolEnded { end, .. } => call_end_text(end),
        RunEvent::CallSuspended { suspension, .. } => suspension_text(suspension),
        RunEvent::PlanChecked { questions, .. } => plan_check_text(questions),
        RunEvent::CallDecided { decision, .. } => decision_text(decision),
        RunEvent::GrantsChanged { tools, .. } => format!("the grants of `{}` have changed", tools.join("`, `")),
        RunEvent::Resumed { .. } => "another host goes on with the run".to_owned(),
        RunEvent::ToolsReturned { results, .. } => results.iter().map(result_text).collect::<Vec<_>>().join("; "),
        RunEvent::CancelRequested { .. } => "the person cancels the run".to_owned(),
        RunEvent::HostFailed { reason, .. } => format!("the host ends the run: {reason}"),
    }
}

/// Describes the call of a tool. If a person allowed such calls in advance, `standing_approval` identifies that approval.
fn call_text(tool: &str, standing_approval: Option<&str>) -> String {
    match standing_approval {
        Some(id) => format!("{tool} is called, by the standing approval {id}"),
        None => format!("{tool} is called"),
    }
}

/// Describes a call that waits for a decision.
fn suspension_text(suspension: &SuspendedCall) -> String {
    let (tool, prompt) = (&suspension.call.tool_name, &suspension.form.prompt);
    format!("{tool} waits for the decision {}: {prompt}", suspension.suspension_id)
}

/// Describes the decisions that the calls of a plan need before its first step starts. `questions` ask a person for them.
fn plan_check_text(questions: &[PlannedCallQuestion]) -> String {
    if questions.is_empty() {
        return "no call of the plan needs a decision that can be made now".to_owned();
    }
    let texts = questions.iter().map(|question| suspension_text(&question.suspension));
    format!("before the first step, {}", texts.collect::<Vec<_>>().join("; "))
}

fn decision_text(decision: &Decision) -> String {
    let outcome = if decision.feedback.approved {
        "approved"
    } else {
        "rejected"
    };
    let by = match &decision.by {
        DecidedBy::Person { user_id: None } => "by a person".to_owned(),
        DecidedBy::Person { user_id: Some(user_id) } => format!("by {user_id}"),
        DecidedBy::Expiry => "automatically, because nobody decided in time".to_owned(),
    };
    let reason = decision.feedback.reason.as_ref().map(|reason| format!(": {reason}"));
    format!("{outcome} {by}{}", reason.unwrap_or_default())
}

/// Describes why a model call was refused.
fn refusal_text(refusal: &CallRefusal) -> &str {
    match refusal {
        CallRefusal::BudgetSpent => "a budget is used up",
        CallRefusal::Invalid { error } => &error.message,
        CallRefusal::TooLong { reason } => reason,
        CallRefusal::NotShorter => "its request is too long and cannot be shortened",
    }
}

/// Returns the tokens of a reply, and the tools that it calls or its text.
fn reply_text(reply: &ModelReply) -> String {
    let tokens = reply.metadata.usage().completion_tokens;
    let tokens = if tokens > 0 {
        format!(" ({} tokens)", units::count(tokens))
    } else {
        String::new()
    };
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| call.function.name.as_str())
        .collect();
    if calls.is_empty() {
        format!("{tokens}: {}", reply.text)
    } else {
        format!("{tokens}, and calls {}", calls.join(", "))
    }
}

/// Describes the end of a tool call, or what the call waits for if it was suspended.
fn call_end_text(end: &CallEnd) -> String {
    if let Some(suspension) = &end.suspension {
        return suspension_text(suspension);
    }
    let (tool, ending) = (&end.result.tool_name, end.ending.as_str());
    let time = units::micros(end.usage.wall_us);
    let used = match end.usage.fuel {
        0 => time,
        fuel => format!("{} fuel, {time}", units::count(fuel)),
    };
    format!("{tool}: {ending} ({used}): {}", output_text(&end.result))
}

/// Returns the tool of a result with its output or its error.
fn result_text(result: &ToolResult) -> String {
    format!("{}: {}", result.tool_name, output_text(result))
}

fn output_text(result: &ToolResult) -> String {
    let output = || result.output.as_deref().map(ToString::to_string);
    result.error.clone().or_else(output).unwrap_or_default()
}

#[cfg(test)]
mod tests;
