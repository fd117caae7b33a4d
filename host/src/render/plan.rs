//! Shows the progress of a plan, and the cost of its tool calls.

mod live;
mod plain;

use std::time::Duration;

use art_agent::RunView;
use art_core::error::{ModelErrorCode, RetryContext};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::span::SpanContext;
use art_core::stream::StreamEvent;
use art_core::text::{printable, shorten};
use art_core::tool::ParsedToolCall;
use art_core::usage::ToolUsage;
use art_runtime::{CallUsage, ReplyPiece, Watcher};
use art_tools::{ToolProgress, ToolReport};

use super::{note, stderr_is_terminal, stderr_width, units};
use live::LiveList;
use plain::PlainLines;

/// Maximum length of the shown description of a step, in characters.
const MAX_DESCRIPTION: usize = 70;
/// Maximum length of the shown error of a step, in characters: long enough for an error that says which access was denied and
/// which command grants it.
const MAX_ERROR: usize = 1_000;
/// Maximum length of a line about a [`Detail`], in characters. A line that remains on a terminal after the redrawing stopped is
/// cut to the width of the terminal instead.
const MAX_DETAIL_LINE: usize = 160;
/// Maximum length of the arguments of a call, in characters. The line with the arguments is cut further, as for every [`Detail`].
const MAX_ARGUMENTS: usize = 1_000;
/// Maximum length of the shown reason why a model call is tried again, or why a model took over a step, in characters.
const MAX_REASON: usize = 200;
/// Maximum length of the shown progress message of a tool, in characters.
const MAX_PROGRESS: usize = 50;

/// Display of a plan on stderr.
pub(crate) enum PlanDisplay {
    Plain(PlainLines),
    Live(LiveList),
}

impl PlanDisplay {
    /// Creates a list that is redrawn if stderr is a terminal, and otherwise lines that are printed once and stay.
    pub(crate) fn new() -> Self {
        match stderr_is_terminal() {
            true => Self::Live(LiveList::default()),
            false => Self::Plain(PlainLines::default()),
        }
    }

    /// Stops redrawing, so that other output can follow. Finished steps remain on the screen as permanent lines.
    pub(crate) fn stop_redrawing(&mut self) {
        if let Self::Live(live) = self {
            live.stop_redrawing();
        }
    }

    /// Resumes redrawing after [`Self::stop_redrawing`], without the steps that remain as permanent lines.
    pub(crate) fn resume_redrawing(&mut self) {
        if let Self::Live(live) = self {
            live.resume_redrawing();
        }
    }

    /// Prints a line. On a terminal it stands above the list.
    fn note(&self, text: &str) {
        match self {
            Self::Plain(_) => note(text),
            Self::Live(live) => live.note(text),
        }
    }
}

impl Watcher for PlanDisplay {
    fn update(&mut self, view: &RunView<'_>, calls: &[CallUsage]) {
        match self {
            Self::Plain(plain) => plain.update(view, calls),
            Self::Live(live) => live.update(view, calls),
        }
    }

    fn tool_progressed(&mut self, _span: &SpanContext, progress: &ToolProgress) {
        match self {
            Self::Plain(plain) => plain.show_progress(progress),
            Self::Live(live) => live.show_progress(progress),
        }
    }

    fn tool_returned(&mut self, _span: &SpanContext, report: &ToolReport) {
        if let Self::Live(live) = self {
            live.clear_progress(&report.result.call_id);
        }
    }

    fn stream(&mut self, piece: &ReplyPiece<'_>) {
        if let StreamEvent::Retry(retry) = piece.event {
            self.note(&retry_line(piece.provider, retry));
        }
    }
}

/// Returns a line such as `rate limited by openai; trying again in 3 s (1 of 3)`.
fn retry_line(provider: &str, retry: &RetryContext) -> String {
    let provider = one_line(provider);
    let cause = match retry.error {
        ModelErrorCode::RateLimited => format!("rate limited by {provider}"),
        ModelErrorCode::Timeout => format!("{provider} did not answer in time"),
        // The message already names the provider.
        ModelErrorCode::NetworkError => one_line(&shorten(&retry.message, MAX_REASON)),
        _ => format!("{provider} failed: {}", one_line(&shorten(&retry.message, MAX_REASON))),
    };
    let wait = units::millis(retry.delay_ms);
    format!(
        "{cause}; trying again in {wait} ({} of {})",
        retry.attempt, retry.max_retries
    )
}

/// Returns a line such as `done  step_1  17.5% of 2340  (calculator, 1.2 ms, 51.0 k fuel, 1.1 MiB)`.
fn step_line(item: &TodoItem, duration: Duration, calls: &[CallUsage]) -> String {
    let mark = match item.status {
        TodoItemStatus::Pending => "open",
        TodoItemStatus::InProgress => "begin",
        TodoItemStatus::Completed => "done",
        TodoItemStatus::Failed => "fail",
        TodoItemStatus::Cancelled => "skip",
        TodoItemStatus::Waiting => "wait",
    };
    let mut text = format!("{mark:<5} {}  {}", one_line(&item.id), description(item));
    if let Some(titles) = titles(item) {
        text.push_str(&format!(": {titles}"));
    }
    if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::Failed) {
        text.push_str(&step_cost_text(&item.id, duration, calls));
    }
    if let (TodoItemStatus::Failed | TodoItemStatus::Cancelled, Some(error)) = (item.status, &item.error) {
        text.push_str(": ");
        text.push_str(&one_line(&shorten(error, MAX_ERROR)));
    }
    text
}

/// Something that happened in a step: a call was made, or a model took over, because the planned calls did not complete the step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    /// The first word of the line, `call` or `model`.
    mark: &'static str,
    text: String,
}

impl Detail {
    /// Returns the detail in one line of at most `width` characters.
    fn line(&self, width: usize) -> String {
        let line = format!("  {:<5} {}", self.mark, self.text);
        match line.chars().nth(width) {
            None => line,
            Some(_) => format!("  {}", shorten(&line, width.saturating_sub(5))),
        }
    }
}

/// Returns what happened in a step and was not shown yet: its calls, with values in place of references to outputs of other
/// steps, and why a model took over from the planned calls. Updates `shown`.
fn new_details(item: &TodoItem, shown: &mut ShownDetails) -> Vec<Detail> {
    if item.actual_tool_calls.len() < shown.calls {
        // The step has started again.
        *shown = ShownDetails::default();
    }
    let calls = item.actual_tool_calls.get(shown.calls..).unwrap_or_default();
    let mut details: Vec<_> = calls.iter().map(call_detail).collect();
    shown.calls = item.actual_tool_calls.len();
    let fallback = item.fallback.as_ref().filter(|_| !shown.fallback);
    shown.fallback |= fallback.is_some();
    details.extend(fallback.map(|reason| Detail {
        mark: "model",
        text: format!("takes over: {}", one_line(&shorten(reason, MAX_REASON))),
    }));
    details
}

/// Which details of a step were shown.
#[derive(Clone, Copy, Debug, Default)]
struct ShownDetails {
    /// Number of calls that were shown, from the first one on.
    calls: usize,
    /// Whether it was shown that the model took over.
    fallback: bool,
}

fn call_detail(call: &ParsedToolCall) -> Detail {
    let arguments = call.arguments.to_string();
    let arguments = shorten(&arguments, MAX_ARGUMENTS);
    Detail {
        mark: "call",
        text: one_line(&format!("{} {arguments}", call.tool_name)),
    }
}

/// Returns the titles that tools gave to the results of a completed step, cut to [`MAX_DESCRIPTION`] characters.
fn titles(item: &TodoItem) -> Option<String> {
    let completed = item.status == TodoItemStatus::Completed;
    let results = item
        .tool_results
        .iter()
        .filter(|result| completed && result.error.is_none());
    let titles = results.filter_map(|result| result.metadata.title.as_deref());
    let titles: Vec<_> = titles.map(str::trim).filter(|title| !title.is_empty()).collect();
    let titles = one_line(&titles.join("; "));
    (!titles.is_empty()).then(|| shorten(&titles, MAX_DESCRIPTION).into_owned())
}

fn description(item: &TodoItem) -> String {
    one_line(&shorten(&item.description, MAX_DESCRIPTION))
}

/// Returns the progress message of a tool as one bounded line, such as `reading the table (30 %)`.
fn progress_text(progress: &ToolProgress) -> String {
    let title = one_line(&progress.title);
    let title = shorten(&title, MAX_PROGRESS);
    match (title.as_ref(), progress.percent) {
        (title, None) => title.to_owned(),
        ("", Some(percent)) => format!("{percent} %"),
        (title, Some(percent)) => format!("{title} ({percent} %)"),
    }
}

/// Returns the text as one line with escaped control characters.
pub(super) fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\t'], " "))
}

/// Returns a text in parentheses: the tools that the step called, its duration, and the total fuel and peak memory of its calls.
fn step_cost_text(item_id: &str, duration: Duration, calls: &[CallUsage]) -> String {
    let duration = units::micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    let mut usage = ToolUsage::default();
    let mut tools = Vec::new();
    for call in calls.iter().filter(|call| call.item_id == item_id) {
        usage += call.usage;
        tools.push(call.tool.as_str());
    }
    if tools.is_empty() {
        return format!("  ({duration})");
    }
    let (fuel, memory) = (units::count(usage.fuel), units::bytes(usage.peak_memory_bytes));
    format!("  ({}, {duration}, {fuel} fuel, {memory})", one_line(&tools.join(", ")))
}

/// Returns a table with the cost of each tool call, or `None` if there was no call.
#[must_use]
pub fn cost_table(calls: &[CallUsage]) -> Option<String> {
    if calls.is_empty() {
        return None;
    }
    let heading = [
        "step",
        "tool",
        "ended",
        "wall",
        "cpu",
        "fuel",
        "memory",
        "in",
        "out",
        "host calls",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(
        calls
            .iter()
            .map(|call| cost_row(&call.item_id, &call.tool, call.ending.as_str(), &call.usage)),
    );
    if calls.len() > 1 {
        let mut total = ToolUsage::default();
        calls.iter().for_each(|call| total += call.usage);
        rows.push(cost_row("total", "", "", &total));
    }
    Some(super::table::lines(&rows).join("\n"))
}

fn cost_row(step: &str, tool: &str, ending: &str, usage: &ToolUsage) -> Vec<String> {
    vec![
        step.to_owned(),
        tool.to_owned(),
        ending.to_owned(),
        units::micros(usage.wall_us),
        units::micros(usage.cpu_us),
        units::count(usage.fuel),
        units::bytes(usage.peak_memory_bytes),
        units::bytes(usage.bytes_in),
        units::bytes(usage.bytes_out),
        usage.host_calls.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a progress message of the call `call` in the step `a`.
    pub(super) fn progress(title: &str, percent: Option<u8>) -> ToolProgress {
        ToolProgress {
            call_id: "call".to_owned(),
            parent_id: Some("a".to_owned()),
            title: title.to_owned(),
            percent,
        }
    }

    #[test]
    fn progress_text_has_the_reported_title_and_percent() {
        let reports = [("reading", Some(30)), ("reading", None), (" ", Some(0)), ("", None)];
        let texts = reports.map(|(title, percent)| progress_text(&progress(title, percent)));
        assert_eq!(texts, ["reading (30 %)", "reading", "0 %", ""]);
    }

    #[test]
    fn progress_text_is_one_bounded_line_without_control_characters() {
        let text = progress_text(&progress(&"\u{1b}[2J\n\t\u{202e}".repeat(9), Some(1)));
        assert!(text.starts_with("\\u{1b}[2J  \\u{202e}\\u{1b}[2J"), "{text}");
        assert!(text.len() <= MAX_PROGRESS + " (100 %)".len(), "{text}");
        assert!(!text.chars().any(char::is_control), "{text}");
    }
}
