//! Display of a plan on a terminal: a list that is redrawn when it changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::text::printable;
use art_runtime::CallCost;
use art_tools::ToolProgress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{
    Detail, MAX_DETAIL, Shown, description, new_details, note, one_line, progress_text, stderr_width, step_line,
};

/// How often the line of a running step is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Template for the line of a step that has not ended.
const SPINNER: &str = "{spinner} {msg} {elapsed}";

/// The live list of steps.
pub(crate) struct Live {
    list: MultiProgress,
    heading: ProgressBar,
    lines: Vec<Line>,
    finalized: bool,
    /// The steps that were printed as permanent lines, with their statuses.
    printed: BTreeMap<String, TodoItemStatus>,
}

/// The line of one step.
struct Line {
    id: String,
    bar: ProgressBar,
    status: TodoItemStatus,
    /// When the step was last started.
    started_at: Option<Instant>,
    description: String,
    progress: Option<CallProgress>,
    /// The lines under the line of the step, each with the detail that it shows.
    details: Vec<(ProgressBar, Detail)>,
    shown: Shown,
}

/// The last progress message of a tool call.
struct CallProgress {
    call_id: String,
    text: String,
}

impl Default for Live {
    fn default() -> Self {
        let (list, heading) = new_list();
        Self {
            list,
            heading,
            lines: Vec::new(),
            finalized: false,
            printed: BTreeMap::new(),
        }
    }
}

impl Live {
    /// Shows the current state of the run and of the steps of its question.
    pub(super) fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
        if self.finalized {
            return;
        }
        match view.stage {
            RunStage::Planning => {}
            RunStage::Execution => self.heading.set_message(one_line(view.title)),
            RunStage::Synthesis => self.heading.set_message("writing the answer"),
            RunStage::Finished => self.heading.finish_and_clear(),
        }
        let printed = &self.printed;
        let is_new = |item: &&TodoItem| printed.get(&item.id) != Some(&item.status);
        let items: Vec<&TodoItem> = view.items.iter().filter(is_new).collect();
        for item in items {
            self.add_line(&item.id);
            let list = self.list.clone();
            if let Some(line) = self.find_line(&item.id) {
                line.update(item, calls, Instant::now());
                line.add_details(item, &list);
            }
        }
    }

    /// Adds a line for a step unless it has one.
    fn add_line(&mut self, id: &str) {
        if self.find_line(id).is_none() {
            self.lines.push(Line {
                id: id.to_owned(),
                bar: self.list.add(spinner("")),
                status: TodoItemStatus::Pending,
                started_at: None,
                description: String::new(),
                progress: None,
                details: Vec::new(),
                shown: Shown::default(),
            });
        }
    }

    fn find_line(&mut self, id: &str) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.id == id)
    }

    /// Shows the progress message of a tool, until the next one or the end of the call.
    pub(super) fn show_progress(&mut self, progress: &ToolProgress) {
        let step = progress.parent_id.as_deref().unwrap_or_default();
        if let Some(line) = self.find_line(step) {
            line.progress = Some(CallProgress {
                call_id: progress.call_id.clone(),
                text: progress_text(progress),
            });
            line.draw();
        }
    }

    /// Removes the progress message of a call that ended.
    pub(super) fn clear_progress(&mut self, call_id: &str) {
        for line in &mut self.lines {
            if line.progress.take_if(|progress| progress.call_id == call_id).is_some() {
                line.draw();
            }
        }
    }

    /// Removes the list from the screen and prints the finished steps as permanent lines.
    pub(super) fn finalize(&mut self) {
        if std::mem::replace(&mut self.finalized, true) {
            return;
        }
        let finished = || self.lines.iter().filter(|line| line.bar.is_finished());
        let width = stderr_width().unwrap_or(MAX_DETAIL);
        let texts: Vec<String> = finished().flat_map(|line| line.texts(width)).collect();
        self.printed
            .extend(finished().map(|line| (line.id.clone(), line.status)));
        self.heading.finish_and_clear();
        for line in &self.lines {
            line.bar.finish_and_clear();
            line.details.iter().for_each(|(bar, _)| bar.finish_and_clear());
        }
        drop(self.list.clear());
        for text in texts {
            note(&text);
        }
    }

    /// Begins a new list, without the steps that were printed.
    pub(super) fn resume(&mut self) {
        if std::mem::take(&mut self.finalized) {
            (self.list, self.heading) = new_list();
            self.lines.clear();
        }
    }

    /// Prints a line above the list.
    pub(super) fn note(&self, text: &str) {
        if self.finalized {
            note(text);
        } else {
            drop(self.list.println(printable(text)));
        }
    }
}

impl Drop for Live {
    /// Finalizes the list even if the run fails, so that it is not drawn over later output.
    fn drop(&mut self) {
        self.finalize();
    }
}

impl Line {
    fn update(&mut self, item: &TodoItem, calls: &[CallCost], now: Instant) {
        self.description = description(item);
        let before = std::mem::replace(&mut self.status, item.status);
        match item.status {
            status if status == before && self.bar.is_finished() => {}
            TodoItemStatus::Pending | TodoItemStatus::Waiting => self.draw_unfinished(),
            TodoItemStatus::InProgress => {
                self.draw_unfinished();
                if before != item.status {
                    self.started_at = Some(now);
                    self.bar.reset_elapsed();
                }
                self.bar.enable_steady_tick(TICK);
            }
            TodoItemStatus::Completed | TodoItemStatus::Failed | TodoItemStatus::Cancelled => {
                let duration = self
                    .started_at
                    .map_or(Duration::ZERO, |started_at| now.duration_since(started_at));
                self.bar.set_style(style("{msg}"));
                self.bar.finish_with_message(step_line(item, duration, calls));
            }
        }
    }

    /// Adds a line for each call of the step that has none, and for a model that takes over.
    fn add_details(&mut self, item: &TodoItem, list: &MultiProgress) {
        for detail in new_details(item, &mut self.shown) {
            let above = self.details.last().map_or(&self.bar, |(bar, _)| bar);
            let bar = ProgressBar::new_spinner().with_style(style("{wide_msg}"));
            let bar = list.insert_after(above, bar);
            bar.set_message(detail.line(MAX_DETAIL));
            bar.tick();
            self.details.push((bar, detail));
        }
    }

    /// Returns the line of the step, and the lines under it cut to `width` characters.
    fn texts(&self, width: usize) -> Vec<String> {
        let details = self.details.iter().map(|(_, detail)| detail.line(width));
        std::iter::once(self.bar.message()).chain(details).collect()
    }

    /// Draws a step that has not ended, also when it starts again after it had ended.
    fn draw_unfinished(&mut self) {
        if self.bar.is_finished() {
            self.progress = None;
            self.bar.reset();
            self.bar.set_style(style(SPINNER));
        }
        self.draw();
    }

    /// Draws a line such as `Count the rows: reading the table (30 %)`.
    fn draw(&self) {
        if self.bar.is_finished() {
            return;
        }
        let progress = self.progress.as_ref().map_or("", |progress| progress.text.as_str());
        self.bar.set_message(match progress {
            "" => self.description.clone(),
            progress => format!("{}: {progress}", self.description),
        });
    }
}

/// Creates an empty list and its heading.
fn new_list() -> (MultiProgress, ProgressBar) {
    let list = MultiProgress::new();
    let heading = list.add(spinner("planning"));
    heading.enable_steady_tick(TICK);
    (list, heading)
}

fn spinner(message: &str) -> ProgressBar {
    ProgressBar::new_spinner()
        .with_style(style(SPINNER))
        .with_message(message.to_owned())
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::super::tests::progress;
    use super::*;
    use art_core::usage::{TokenUsage, Usage};
    use serde_json::json;

    /// Returns a list with the step `a`, which is not drawn anywhere.
    fn live() -> Live {
        let mut live = Live::default();
        live.add_line("a");
        live.find_line("a").unwrap().description = "Count".to_owned();
        live
    }

    fn message(live: &mut Live) -> String {
        live.find_line("a").unwrap().bar.message()
    }

    #[test]
    fn a_progress_message_is_shown_until_the_call_ends() {
        let mut live = live();
        live.show_progress(&progress("opening", None));
        live.show_progress(&progress("reading", Some(30)));
        assert_eq!(message(&mut live), "Count: reading (30 %)");
        live.clear_progress("another");
        assert_eq!(message(&mut live), "Count: reading (30 %)");
        live.clear_progress("call");
        assert_eq!(message(&mut live), "Count");
    }

    /// Returns the list after status changes of the step `a`, each with its time in seconds after planning.
    fn live_after(changes: &[(u64, TodoItemStatus)]) -> (Live, String) {
        let mut live = live();
        let planned = Instant::now();
        for (seconds, status) in changes {
            let item = json!({"id": "a", "description": "Count", "status": status});
            let item = serde_json::from_value(item).unwrap();
            let line = live.find_line("a").unwrap();
            line.update(&item, &[], planned + Duration::from_secs(*seconds));
        }
        let shown = message(&mut live);
        (live, shown)
    }

    #[test]
    fn the_duration_of_a_step_counts_from_its_last_start() {
        use TodoItemStatus::{Completed, Failed, InProgress, Pending};
        let once = [
            (0, Pending),
            (10, InProgress),
            (11, InProgress),
            (12, Failed),
            (13, Failed),
        ];
        assert_eq!(live_after(&once).1, "fail  a  Count  (2.0 s)");
        let again = [&once[..], &[(20, Pending), (30, InProgress), (31, Completed)]].concat();
        assert_eq!(live_after(&again).1, "done  a  Count  (1.0 s)");
    }

    #[test]
    fn a_retried_step_is_no_longer_shown_as_failed() {
        use TodoItemStatus::{Failed, InProgress, Pending};
        for again in [Pending, InProgress] {
            let (mut live, shown) = live_after(&[(0, InProgress), (1, Failed), (2, again)]);
            assert_eq!(shown, "Count");
            assert!(!live.find_line("a").unwrap().bar.is_finished());
        }
    }

    /// Returns the identifiers of the steps in the list after an update with these steps.
    fn update_and_list(live: &mut Live, steps: &[(&str, TodoItemStatus)]) -> Vec<String> {
        let item = |(id, status)| serde_json::from_value(json!({"id": id, "description": "Count", "status": status}));
        let items: Vec<TodoItem> = steps.iter().map(|step| item(*step).unwrap()).collect();
        let view = RunView {
            stage: RunStage::Execution,
            title: "",
            intent: "",
            plan: "",
            items: &items,
            llm_calls: 0,
            tool_calls: 0,
            tokens: TokenUsage::default(),
            usage: Usage::default(),
            limits_hit: &[],
        };
        live.update(&view, &[]);
        live.lines.iter().map(|line| line.id.clone()).collect()
    }

    #[test]
    fn a_resumed_list_leaves_out_steps_that_were_printed_with_the_same_status() {
        use TodoItemStatus::{Completed, InProgress, Pending};
        let mut live = Live::default();
        let first = [("a", Completed), ("b", Pending)];
        assert_eq!(update_and_list(&mut live, &first), ["a", "b"]);
        live.finalize();
        assert_eq!(
            update_and_list(&mut live, &[("c", Pending)]),
            ["a", "b"],
            "a finalized list does not change"
        );
        live.resume();
        let more = [("a", Completed), ("b", Completed), ("c", InProgress)];
        assert_eq!(update_and_list(&mut live, &more), ["b", "c"]);
        let again = [("a", InProgress), ("b", Completed), ("c", InProgress)];
        assert_eq!(update_and_list(&mut live, &again), ["b", "c", "a"]);
    }

    #[test]
    fn a_step_that_ended_is_not_redrawn() {
        let mut live = live();
        live.find_line("a").unwrap().bar.finish_with_message("done a");
        live.show_progress(&progress("reading", None));
        assert_eq!(message(&mut live), "done a");
    }

    #[test]
    fn the_calls_of_a_step_and_its_fallback_are_listed_under_it() {
        let mut live = live();
        let list = live.list.clone();
        let line = live.find_line("a").unwrap();
        let call = |expression: &str| json!({"callId": "c", "toolName": "calculator", "arguments": {"expression": expression}});
        let mut item = json!({
            "id": "a", "description": "Count", "status": "in_progress", "actualToolCalls": [call("6 * 7\u{1b}[2J")],
        });
        line.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        item["fallback"] = json!("the abacus\nis broken");
        line.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        item["actualToolCalls"] = json!([call("6 * 7\u{1b}[2J"), call(&"1 + ".repeat(20))]);
        line.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        line.add_details(&serde_json::from_value(item).unwrap(), &list);
        line.bar.set_message("done  a  Count");
        assert_eq!(
            line.texts(60),
            [
                "done  a  Count",
                r#"  call  calculator {"expression":"6 * 7\u001b[2J"}"#,
                "  model takes over: the abacus is broken",
                r#"  call  calculator {"expression":"1 + 1 + 1 + 1 + 1 + 1 +..."#,
            ]
        );
    }
}
