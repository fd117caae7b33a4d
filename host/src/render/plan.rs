//! The plan while it is carried out, and what it cost in the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::error::{ModelErrorCode, RetryContext};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::stream::StreamEvent;
use art_core::text::{printable, truncate};
use art_core::usage::Usage;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{note, notes_are_live, units};
use crate::drive::{CallCost, Streamed, Watcher};

/// Characters of a step's description that are drawn.
const DESCRIPTION: usize = 70;
/// How often a line that is worked on is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Draws the plan as a live list on a terminal and as plain lines elsewhere.
#[must_use]
pub fn watcher(quiet: bool) -> Box<dyn Watcher> {
    Box::new(Plan::new(quiet))
}

/// A plan as it is shown on stderr.
pub(crate) enum Plan {
    Silent,
    Plain(Plain),
    Live(Live),
}

impl Plan {
    pub(crate) fn new(quiet: bool) -> Self {
        match (quiet, notes_are_live()) {
            (true, _) => Self::Silent,
            (false, true) => Self::Live(Live::default()),
            (false, false) => Self::Plain(Plain::default()),
        }
    }

    /// Nothing is drawn again after this: what was done stays as plain lines.
    pub(crate) fn settle(&mut self) {
        if let Self::Live(live) = self {
            live.settle();
        }
    }

    fn say(&self, text: &str) {
        match self {
            Self::Silent => {}
            Self::Plain(_) => note(text),
            Self::Live(live) => live.say(text),
        }
    }
}

impl Watcher for Plan {
    fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
        match self {
            Self::Silent => {}
            Self::Plain(plain) => plain.update(view, calls),
            Self::Live(live) => live.update(view, calls),
        }
    }

    fn stream(&mut self, piece: &Streamed<'_>) {
        if let StreamEvent::Retry(retry) = piece.event {
            self.say(&retry_line(piece.provider, retry));
        }
    }
}

/// `rate limited by openai; trying again in 3 s (1 of 3)`
fn retry_line(provider: &str, retry: &RetryContext) -> String {
    let provider = one_line(provider);
    let cause = match retry.error {
        ModelErrorCode::RateLimited => format!("rate limited by {provider}"),
        ModelErrorCode::Timeout => format!("{provider} did not answer in time"),
        ModelErrorCode::NetworkError => format!("the connection to {provider} failed"),
        _ => format!("{provider} failed: {}", one_line(&truncate(&retry.message, 200))),
    };
    let wait = units::seconds(retry.delay_ms);
    format!(
        "{cause}; trying again in {wait} ({} of {})",
        retry.attempt, retry.max_retries
    )
}

/// A line for each change.
#[derive(Default)]
pub(crate) struct Plain {
    told: BTreeMap<String, TodoItemStatus>,
    begun: BTreeMap<String, Instant>,
    planned: bool,
}

impl Plain {
    fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
        let planned =
            view.stage != RunStage::Planning && (view.stage != RunStage::Finished || view.own_items().next().is_some());
        if !self.planned && planned {
            self.planned = true;
            note(&match view.own_items().count() {
                1 => "plan: 1 step".to_owned(),
                steps => format!("plan: {steps} steps"),
            });
        }
        for item in view.own_items() {
            if self.told.insert(item.id.clone(), item.status) == Some(item.status) {
                continue;
            }
            let begun = *self.begun.entry(item.id.clone()).or_insert_with(Instant::now);
            if item.status != TodoItemStatus::Pending {
                note(&line(item, begun.elapsed(), calls));
            }
        }
    }
}

/// A list that is drawn again as it changes.
pub(crate) struct Live {
    list: MultiProgress,
    head: ProgressBar,
    lines: Vec<Line>,
    settled: bool,
}

/// A step of the list.
struct Line {
    id: String,
    bar: ProgressBar,
    begun: Instant,
}

impl Default for Live {
    fn default() -> Self {
        let list = MultiProgress::new();
        let head = list.add(spinner("planning"));
        head.enable_steady_tick(TICK);
        Self {
            list,
            head,
            lines: Vec::new(),
            settled: false,
        }
    }
}

impl Live {
    fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
        if self.settled {
            return;
        }
        match view.stage {
            RunStage::Planning => {}
            RunStage::Execution => self.head.set_message(one_line(view.title)),
            RunStage::Synthesis => self.head.set_message("writing the answer"),
            RunStage::Finished => self.head.finish_and_clear(),
        }
        for item in view.own_items() {
            self.add(&item.id);
            for line in self.lines.iter().filter(|line| line.id == item.id) {
                draw(&line.bar, item, line.begun.elapsed(), calls);
            }
        }
    }

    /// Adds a line for a step that has none.
    fn add(&mut self, id: &str) {
        if !self.lines.iter().any(|line| line.id == id) {
            self.lines.push(Line {
                id: id.to_owned(),
                bar: self.list.add(spinner("")),
                begun: Instant::now(),
            });
        }
    }

    /// Takes the list off the screen and writes what was done as lines that stay.
    fn settle(&mut self) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let done = self.lines.iter().filter(|line| line.bar.is_finished());
        let done: Vec<String> = done.map(|line| line.bar.message()).collect();
        self.head.finish_and_clear();
        self.lines.iter().for_each(|line| line.bar.finish_and_clear());
        drop(self.list.clear());
        done.iter().for_each(|text| note(text));
    }

    fn say(&self, text: &str) {
        if self.settled {
            note(text);
        } else {
            drop(self.list.println(printable(text)));
        }
    }
}

impl Drop for Live {
    /// A run that ends with an error leaves no list behind that is drawn over what comes next.
    fn drop(&mut self) {
        self.settle();
    }
}

fn draw(bar: &ProgressBar, item: &TodoItem, took: Duration, calls: &[CallCost]) {
    match item.status {
        _ if bar.is_finished() => {}
        TodoItemStatus::Pending | TodoItemStatus::Waiting => bar.set_message(description(item)),
        TodoItemStatus::InProgress => {
            bar.set_message(description(item));
            bar.enable_steady_tick(TICK);
        }
        TodoItemStatus::Completed | TodoItemStatus::Failed | TodoItemStatus::Cancelled => {
            bar.set_style(style("{msg}"));
            bar.finish_with_message(line(item, took, calls));
        }
    }
}

fn spinner(message: &str) -> ProgressBar {
    ProgressBar::new_spinner()
        .with_style(style("{spinner} {msg} {elapsed}"))
        .with_message(message.to_owned())
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// `done   step_1  17.5% of 2340  (calculator, 1.2 ms, 51.0 k fuel, 1.1 MiB)`
fn line(item: &TodoItem, took: Duration, calls: &[CallCost]) -> String {
    let mark = match item.status {
        TodoItemStatus::Pending => "open",
        TodoItemStatus::InProgress => "begin",
        TodoItemStatus::Completed => "done",
        TodoItemStatus::Failed => "fail",
        TodoItemStatus::Cancelled => "skip",
        TodoItemStatus::Waiting => "wait",
    };
    let mut text = format!("{mark:<5} {}  {}", one_line(&item.id), description(item));
    if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::Failed) {
        text.push_str(&cost(&item.id, took, calls));
    }
    if let (TodoItemStatus::Failed | TodoItemStatus::Cancelled, Some(error)) = (item.status, &item.error) {
        text.push_str(": ");
        text.push_str(&one_line(&truncate(error, 200)));
    }
    text
}

fn description(item: &TodoItem) -> String {
    one_line(&truncate(&item.description, DESCRIPTION))
}

fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\t'], " "))
}

fn cost(item_id: &str, took: Duration, calls: &[CallCost]) -> String {
    let took = units::micros(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    let mut usage = Usage::default();
    let mut tools = Vec::new();
    for call in calls.iter().filter(|call| call.item_id == item_id) {
        usage += call.usage;
        tools.push(call.tool.as_str());
    }
    if tools.is_empty() {
        return format!("  ({took})");
    }
    let (fuel, memory) = (units::count(usage.fuel), units::bytes(usage.peak_memory_bytes));
    format!("  ({}, {took}, {fuel} fuel, {memory})", one_line(&tools.join(", ")))
}

/// The table of what each tool call cost; none when there was no call.
#[must_use]
pub fn cost_table(calls: &[CallCost]) -> Option<String> {
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
            .map(|call| cost_row(&call.item_id, &call.tool, call.ending, &call.usage)),
    );
    if calls.len() > 1 {
        let mut total = Usage::default();
        calls.iter().for_each(|call| total += call.usage);
        rows.push(cost_row("total", "", "", &total));
    }
    Some(super::table::lines(&rows).join("\n"))
}

fn cost_row(step: &str, tool: &str, ending: &str, usage: &Usage) -> Vec<String> {
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
