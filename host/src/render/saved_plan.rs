//! Text about a saved plan, which is stored in a file so that it can be carried out later without a planner: its steps with their
//! calls, which value of one step goes into which argument of another, what the plan will probably cost, and whether the check of
//! the plan found faults.

use std::collections::BTreeSet;

use art_agent::{
    AnswerEstimate, Basis, CallEstimate, CheckedReference, CostQuantiles, Fit, ModelBasis, ModelEstimate, PlanCheck,
    PlanEstimate, PlannedStep, Quantiles, SavedPlan, StepEstimate, value_text,
};
use art_core::pes::PlannedCall;
use art_core::text::truncate;
use art_runtime::PlanReview;
use serde_json::Value;

use super::plan::one_line;
use super::{suggestions, table, units};

/// Maximum length of a question, a description or a value, in characters.
const MAX_SHOWN_CHARS: usize = 200;
/// Maximum number of listed faults, and of listed arguments whose values are known only when the plan runs.
const MAX_LISTED: usize = 20;

/// Returns the plan with its estimated cost and the verdict of its check.
pub(crate) fn plan_text(plan: &SavedPlan, review: &PlanReview) -> String {
    let mut lines = heading_lines(plan);
    for step in &plan.steps {
        lines.push(String::new());
        lines.extend(step_lines(step, &review.check));
    }
    lines.push(String::new());
    if let Some(estimate) = &review.estimate {
        lines.extend(estimate_lines(estimate));
    }
    let verdict = verdict_lines(plan, review).join("\n");
    lines.push(suggestions::in_text(&verdict).into_owned());
    lines.join("\n")
}

/// Returns a line for each of the first [`MAX_LISTED`] faults, and one with the number of the others.
pub(crate) fn fault_lines(review: &PlanReview) -> Vec<String> {
    let faults = &review.check.faults;
    let lines = faults
        .iter()
        .take(MAX_LISTED)
        .map(|fault| format!("  {}", one_line(&fault.text)));
    lines.chain(more_line(faults.len())).collect()
}

fn heading_lines(plan: &SavedPlan) -> Vec<String> {
    let mut lines = vec![shorten(&plan.question)];
    // The field `plan` is the plan in words.
    lines.extend(plan.plan.lines().map(|line| format!("  {}", shorten(line))));
    let files: Vec<String> = plan.files.iter().map(|name| one_line(name)).collect();
    if !files.is_empty() {
        lines.push(format!("files: {}", files.join(", ")));
    }
    let params = plan.params.iter();
    lines
        .extend(params.map(|(name, schema)| format!("parameter {}: {}", one_line(name), shorten(&schema.to_string()))));
    lines
}

fn step_lines(step: &PlannedStep, check: &PlanCheck) -> Vec<String> {
    let mut lines = vec![format!("{}  {}", one_line(&step.id), shorten(&step.description))];
    let references_of_step = || check.references.iter().filter(|reference| reference.step == step.id);
    let sources: BTreeSet<&str> = references_of_step().filter_map(source_step).collect();
    // A step from which this step takes a value is named in the line of the reference, so `after` does not name it again.
    let after = step.dependencies.iter().filter(|id| !sources.contains(id.as_str()));
    let after: Vec<String> = after.map(|id| one_line(id)).collect();
    if !after.is_empty() {
        lines.push(format!("  after {}", after.join(", ")));
    }
    if step.tool_calls.is_empty() {
        lines.push(model_line(step));
    }
    for (number, call) in step.tool_calls.iter().enumerate() {
        let references: Vec<&CheckedReference> = references_of_step()
            .filter(|reference| reference.call == number)
            .collect();
        lines.extend(call_lines(call, &references));
    }
    lines
}

/// Returns the line of a step without calls, for which a model will choose the calls.
fn model_line(step: &PlannedStep) -> String {
    let tools: Vec<String> = step.required_tools.iter().map(|name| one_line(name)).collect();
    match tools.as_slice() {
        [] => "  a model carries it out".to_owned(),
        tools => format!("  a model carries it out, with {}", tools.join(", ")),
    }
}

fn call_lines(call: &PlannedCall, references: &[&CheckedReference]) -> Vec<String> {
    let mut lines = vec![format!("  {}", one_line(&call.tool_name))];
    for (key, value) in call.arguments.as_object().into_iter().flatten() {
        // An argument that is only a reference has its own line below.
        if !references
            .iter()
            .any(|found| found.argument == *key && found.reference == *value)
        {
            lines.push(format!("    {} = {}", one_line(key), shorten(&value_text(value))));
        }
    }
    lines.extend(references.iter().map(|reference| reference_line(reference)));
    lines
}

/// Returns a line such as `step_1 /url -> url (fits)`: the value at `/url` in the output of `step_1` goes into the argument
/// `url`.
fn reference_line(reference: &CheckedReference) -> String {
    let fit = match reference.fit {
        Fit::Fits => "fits",
        Fit::AtRunTime => "known only when the plan runs",
        Fit::Fault => "does not fit",
    };
    let (source, argument) = (reference.source(), &reference.argument);
    format!("    {} -> {} ({fit})", one_line(&source), one_line(argument))
}

/// Returns the step from whose output a reference takes its value, or `None` if the value comes from elsewhere.
fn source_step(reference: &CheckedReference) -> Option<&str> {
    reference.reference.get("$from").and_then(Value::as_str)
}

/// Returns the estimates of the calls, of the steps that a model carries out, of the answer, and of all model calls together.
fn estimate_lines(estimate: &PlanEstimate) -> Vec<String> {
    let mut lines = Vec::new();
    if !estimate.calls.is_empty() {
        let heading = ["estimate", "tool", "fuel", "time", "output", "from"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(estimate.calls.iter().map(call_row));
        lines.extend(table::lines(&rows));
    }
    if !estimate.steps.is_empty() {
        let heading = ["estimate", "model calls", "tokens", "cost", "from"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(estimate.steps.iter().map(step_row));
        lines.extend(table::lines(&rows));
    }
    // The estimate of the answer is zero if no model writes it. It is also zero for the model that is built into this program,
    // which costs nothing and has no limit for its context.
    if estimate.answer.tokens().p95 > 0 {
        lines.push(answer_line(&estimate.answer));
    }
    if !estimate.steps.is_empty() {
        lines.push(total_line(&estimate.model));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Returns the row of a step that the model carries out.
fn step_row(step: &StepEstimate) -> Vec<String> {
    let from = match step.basis {
        ModelBasis::Records { count: 1 } => "1 step".to_owned(),
        ModelBasis::Records { count } => format!("{count} steps"),
        ModelBasis::Limits => "limits of the run".to_owned(),
        ModelBasis::Assumption => "an assumption".to_owned(),
    };
    vec![
        one_line(&step.step_id),
        range_text(step.usage.model_calls, |calls| calls.to_string()),
        step.usage
            .tokens
            .map_or_else(unknown_text, |tokens| range_text(tokens, units::count)),
        step.usage.cost_usd.map_or_else(unknown_text, cost_range_text),
        from,
    ]
}

/// Returns the line about the model call that writes the answer.
fn answer_line(answer: &AnswerEstimate) -> String {
    let basis = match answer.basis {
        ModelBasis::Records { count: 1 } => " (as 1 answer had)".to_owned(),
        ModelBasis::Records { count } => format!(" (as {count} answers had)"),
        ModelBasis::Limits | ModelBasis::Assumption => " (assumed)".to_owned(),
    };
    let (read, written) = (
        range_text(answer.input_tokens, units::count),
        range_text(answer.output_tokens, units::count),
    );
    let cost = answer
        .cost_usd
        .map_or_else(String::new, |cost| format!(", {}", cost_range_text(cost)));
    format!("answer: {read} tokens in, {written} out{basis}{cost}")
}

/// Returns the line about all model calls of a plan together.
fn total_line(model: &ModelEstimate) -> String {
    let calls = range_text(model.model_calls, |calls| calls.to_string());
    let tokens = model
        .tokens
        .map_or_else(unknown_text, |tokens| range_text(tokens, units::count));
    let cost = model
        .cost_usd
        .map_or_else(String::new, |cost| format!(", {}", cost_range_text(cost)));
    format!("all model calls: {calls}, with {tokens} tokens{cost}")
}

/// Returns the text for an amount that cannot be estimated.
fn unknown_text() -> String {
    "unknown".to_owned()
}

/// Returns the median and the 95th percentile, or one amount if they look the same.
fn cost_range_text(cost: CostQuantiles) -> String {
    let (median, p95) = (units::dollars(cost.median), units::dollars(cost.p95));
    if median == p95 {
        median
    } else {
        format!("{median} to {p95}")
    }
}

/// Returns the row of a tool call.
fn call_row(call: &CallEstimate) -> Vec<String> {
    let from = match call.basis {
        Basis::Records { calls: 1 } => "1 call".to_owned(),
        Basis::Records { calls } => format!("{calls} calls"),
        Basis::Limits => "limits of the tool".to_owned(),
    };
    let usage = &call.usage;
    vec![
        call.step_id.clone(),
        call.tool_name.clone(),
        range_text(usage.fuel, units::count),
        range_text(usage.wall_us, units::micros),
        range_text(usage.bytes_out, units::bytes),
        from,
    ]
}

/// Returns the median and the 95th percentile, or one value if they look the same.
fn range_text(quantiles: Quantiles, to_text: fn(u64) -> String) -> String {
    let (median, p95) = (to_text(quantiles.median), to_text(quantiles.p95));
    if median == p95 {
        median
    } else {
        format!("{median} to {p95}")
    }
}

fn verdict_lines(plan: &SavedPlan, review: &PlanReview) -> Vec<String> {
    let check = &review.check;
    let mut lines = Vec::new();
    match check.faults.len() {
        0 if plan.steps.is_empty() => lines.push("check: the plan has no steps, so no tool is called".to_owned()),
        0 => lines.push(format!(
            "check: the plan can be carried out{}",
            fit_summary(&check.references)
        )),
        1 => lines.push("check: the plan has a fault".to_owned()),
        count => lines.push(format!("check: the plan has {count} faults")),
    }
    lines.extend(fault_lines(review));
    if !check.at_run_time.is_empty() {
        lines.push("known only when the plan runs:".to_owned());
        let arguments = check.at_run_time.iter().take(MAX_LISTED);
        lines.extend(arguments.map(|argument| format!("  {}", one_line(argument))));
        lines.extend(more_line(check.at_run_time.len()));
    }
    let decisions = check.decisions.iter();
    lines.extend(decisions.map(|step| format!("{} waits for the decision of a person", one_line(step))));
    lines
}

/// Returns how many references are known to fit, or an empty text if there are no references.
fn fit_summary(references: &[CheckedReference]) -> String {
    let fitting = references.iter().filter(|reference| reference.fit == Fit::Fits).count();
    match references.len() {
        0 => String::new(),
        all => format!("; references known to fit: {fitting} of {all}"),
    }
}

/// Returns the last line of a list of `count` entries of which only the first [`MAX_LISTED`] are shown.
fn more_line(count: usize) -> Option<String> {
    let hidden = count.checked_sub(MAX_LISTED).filter(|hidden| *hidden > 0)?;
    Some(format!("  and {hidden} more"))
}

fn shorten(text: &str) -> String {
    one_line(&truncate(text.trim(), MAX_SHOWN_CHARS))
}
