//! Display of a plan on a terminal: a list that is redrawn when it changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::text::printable;
use art_runtime::CallUsage;
use art_tools::ToolProgress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{
    Detail, MAX_DETAIL_LINE, ShownDetails, description, new_details, note, one_line, progress_text, stderr_width,
    step_line,
};

/// How often the line of a running step is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Template for the heading, and for the line of a step that has not ended.
const SPINNER_TEMPLATE: &str = "{spinner} {msg} {elapsed}";

/// The live list of steps.
pub(crate) struct LiveList {
    list: MultiProgress,
    heading: ProgressBar,
    steps: Vec<StepLines>,
    /// Whether redrawing was stopped, so that no list is on the screen.
    is_stopped: bool,
    /// The steps that were printed as permanent lines, with their statuses at that time.
    printed: BTreeMap<String, TodoItemStatus>,
}

/// The lines of one step: the line of the step itself, and under it one for each detail.
struct StepLines {
    id: String,
    /// The line of the step.
    bar: ProgressBar,
    status: TodoItemStatus,
    /// When the step was last started.
    started_at: Option<Instant>,
    description: String,
    progress: Option<CallProgress>,
    /// The lines under the line of the step, each with the detail that it shows.
    details: Vec<(ProgressBar, Detail)>,
    /// Which details have a line.
    shown: ShownDetails,
}

/// The last progress message of a tool call.
struct CallProgress {
    call_id: String,
    text: String,
}

impl Default for LiveList {
    fn default() -> Self {
        let (list, heading) = new_list();
        Self {
            list,
            heading,
            steps: Vec::new(),
            is_stopped: false,
            printed: BTreeMap::new(),
        }
    }
}

impl LiveList {
    /// Shows the current stage of the run and the current status of each step, except for steps that were printed as permanent
    /// lines with this status.
    pub(super) fn update(&mut self, view: &RunView<'_>, calls: &[CallUsage]) {
        if self.is_stopped {
            return;
        }
        match view.stage {
            RunStage::Planning => {}
            RunStage::Execution => self.heading.set_message(one_line(view.title)),
            RunStage::Synthesis => self.heading.set_message("writing the answer"),
            RunStage::Finished => self.heading.finish_and_clear(),
        }
        let printed = &self.printed;
        let is_unprinted = |item: &&TodoItem| printed.get(&item.id) != Some(&item.status);
        let unprinted: Vec<&TodoItem> = view.items.iter().filter(is_unprinted).collect();
        for item in unprinted {
            self.add_step(&item.id);
            let list = self.list.clone();
            if let Some(step) = self.find_step(&item.id) {
                step.update(item, calls, Instant::now());
                step.add_details(item, &list);
            }
        }
    }

    /// Adds a step to the list unless it is there already.
    fn add_step(&mut self, id: &str) {
        if self.find_step(id).is_none() {
            self.steps.push(StepLines {
                id: id.to_owned(),
                bar: self.list.add(spinner("")),
                status: TodoItemStatus::Pending,
                started_at: None,
                description: String::new(),
                progress: None,
                details: Vec::new(),
                shown: ShownDetails::default(),
            });
        }
    }

    fn find_step(&mut self, id: &str) -> Option<&mut StepLines> {
        self.steps.iter_mut().find(|step| step.id == id)
    }

    /// Shows the progress message of a tool, until the next one or the end of the call.
    pub(super) fn show_progress(&mut self, progress: &ToolProgress) {
        let step_id = progress.parent_id.as_deref().unwrap_or_default();
        if let Some(step) = self.find_step(step_id) {
            step.progress = Some(CallProgress {
                call_id: progress.call_id.clone(),
                text: progress_text(progress),
            });
            step.draw();
        }
    }

    /// Removes the progress message of a call that ended.
    pub(super) fn clear_progress(&mut self, call_id: &str) {
        for step in &mut self.steps {
            if step.progress.take_if(|progress| progress.call_id == call_id).is_some() {
                step.draw();
            }
        }
    }

    /// Removes the list from the screen and prints the finished steps as permanent lines.
    pub(super) fn stop_redrawing(&mut self) {
        if std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        let finished = || self.steps.iter().filter(|step| step.bar.is_finished());
        let width = stderr_width().unwrap_or(MAX_DETAIL_LINE);
        let permanent_lines: Vec<String> = finished().flat_map(|step| step.permanent_lines(width)).collect();
        self.printed
            .extend(finished().map(|step| (step.id.clone(), step.status)));
        self.heading.finish_and_clear();
        for step in &self.steps {
            step.bar.finish_and_clear();
            step.details.iter().for_each(|(bar, _)| bar.finish_and_clear());
        }
        drop(self.list.clear());
        for line in permanent_lines {
            note(&line);
        }
    }

    /// Begins a new list, without the steps that were printed.
    pub(super) fn resume_redrawing(&mut self) {
        if std::mem::take(&mut self.is_stopped) {
            (self.list, self.heading) = new_list();
            self.steps.clear();
        }
    }

    /// Prints a line above the list, if there is one.
    pub(super) fn note(&self, text: &str) {
        if self.is_stopped {
            note(text);
        } else {
            drop(self.list.println(printable(text)));
        }
    }
}

impl Drop for LiveList {
    /// Stops redrawing even if the run fails, so that the list is not drawn over later output.
    fn drop(&mut self) {
        self.stop_redrawing();
    }
}

impl StepLines {
    /// Shows the current description and status of the step.
    fn update(&mut self, item: &TodoItem, calls: &[CallUsage], now: Instant) {
        self.description = description(item);
        let status_before = std::mem::replace(&mut self.status, item.status);
        match item.status {
            // The end of the step is shown already.
            status if status == status_before && self.bar.is_finished() => {}
            TodoItemStatus::Pending | TodoItemStatus::Waiting => self.draw_unfinished(),
            TodoItemStatus::InProgress => {
                self.draw_unfinished();
                if status_before != item.status {
                    self.started_at = Some(now);
                    self.bar.reset_elapsed();
                }
                self.bar.enable_steady_tick(REDRAW_INTERVAL);
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

    /// Adds a line for each call of the step that has no line yet, and one if a model has taken over from the planned calls.
    fn add_details(&mut self, item: &TodoItem, list: &MultiProgress) {
        for detail in new_details(item, &mut self.shown) {
            let above = self.details.last().map_or(&self.bar, |(bar, _)| bar);
            let bar = ProgressBar::new_spinner().with_style(style("{wide_msg}"));
            let bar = list.insert_after(above, bar);
            bar.set_message(detail.line(MAX_DETAIL_LINE));
            bar.tick();
            self.details.push((bar, detail));
        }
    }

    /// Returns the line of the step in full, and the lines under it, which are cut to `width` characters.
    fn permanent_lines(&self, width: usize) -> Vec<String> {
        let details = self.details.iter().map(|(_, detail)| detail.line(width));
        std::iter::once(self.bar.message()).chain(details).collect()
    }

    /// Draws the line of a step that has not ended. If the step starts again after it ended, first gives its line a spinner.
    fn draw_unfinished(&mut self) {
        if self.bar.is_finished() {
            self.progress = None;
            self.bar.reset();
            self.bar.set_style(style(SPINNER_TEMPLATE));
        }
        self.draw();
    }

    /// Draws a line such as `Count the rows: reading the table (30 %)`, unless the line already shows how the step ended.
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
    heading.enable_steady_tick(REDRAW_INTERVAL);
    (list, heading)
}

fn spinner(message: &str) -> ProgressBar {
    ProgressBar::new_spinner()
        .with_style(style(SPINNER_TEMPLATE))
        .with_message(message.to_owned())
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::super::tests::progress;
    use super::*;
    use art_core::usage::{TokenUsage, ToolUsage};
    use serde_json::json;

    /// Returns a list with the step `a`, which is described as `Count`. Tests have no terminal, so nothing is drawn.
    fn list_with_step_a() -> LiveList {
        let mut live = LiveList::default();
        live.add_step("a");
        live.find_step("a").unwrap().description = "Count".to_owned();
        live
    }

    /// Returns the text of the line of the step `a`.
    fn line_of_a(live: &mut LiveList) -> String {
        live.find_step("a").unwrap().bar.message()
    }

    #[test]
    fn a_progress_message_is_shown_until_the_call_ends() {
        let mut live = list_with_step_a();
        live.show_progress(&progress("opening", None));
        live.show_progress(&progress("reading", Some(30)));
        assert_eq!(line_of_a(&mut live), "Count: reading (30 %)");
        live.clear_progress("another");
        assert_eq!(line_of_a(&mut live), "Count: reading (30 %)");
        live.clear_progress("call");
        assert_eq!(line_of_a(&mut live), "Count");
    }

    /// Returns the list after updates of the status of the step `a`, and the line of this step. Each update has its time in
    /// seconds after planning.
    fn list_and_line_after(updates: &[(u64, TodoItemStatus)]) -> (LiveList, String) {
        let mut live = list_with_step_a();
        let planned = Instant::now();
        for (seconds, status) in updates {
            let item = json!({"id": "a", "description": "Count", "status": status});
            let item = serde_json::from_value(item).unwrap();
            let step = live.find_step("a").unwrap();
            step.update(&item, &[], planned + Duration::from_secs(*seconds));
        }
        let line = line_of_a(&mut live);
        (live, line)
    }

    #[test]
    fn the_duration_of_a_step_counts_from_its_last_start() {
        use TodoItemStatus::{Completed, Failed, InProgress, Pending};
        let first_attempt = [
            (0, Pending),
            (10, InProgress),
            (11, InProgress),
            (12, Failed),
            (13, Failed),
        ];
        let (_, line) = list_and_line_after(&first_attempt);
        assert_eq!(line, "fail  a  Count  (2.0 s)");
        let with_second_attempt = [&first_attempt[..], &[(20, Pending), (30, InProgress), (31, Completed)]].concat();
        let (_, line) = list_and_line_after(&with_second_attempt);
        assert_eq!(line, "done  a  Count  (1.0 s)");
    }

    #[test]
    fn a_retried_step_is_no_longer_shown_as_failed() {
        use TodoItemStatus::{Failed, InProgress, Pending};
        for status_of_retry in [Pending, InProgress] {
            let (mut live, line) = list_and_line_after(&[(0, InProgress), (1, Failed), (2, status_of_retry)]);
            assert_eq!(line, "Count");
            assert!(!live.find_step("a").unwrap().bar.is_finished());
        }
    }

    /// Updates the list with these steps, and returns the identifiers of the steps that are in it then.
    fn steps_in_list_after_update(live: &mut LiveList, steps: &[(&str, TodoItemStatus)]) -> Vec<String> {
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
            usage: ToolUsage::default(),
            limits_hit: &[],
        };
        live.update(&view, &[]);
        live.steps.iter().map(|step| step.id.clone()).collect()
    }

    #[test]
    fn a_resumed_list_omits_steps_that_were_printed_with_the_same_status() {
        use TodoItemStatus::{Completed, InProgress, Pending};
        let mut live = LiveList::default();
        let before_stop = [("a", Completed), ("b", Pending)];
        assert_eq!(steps_in_list_after_update(&mut live, &before_stop), ["a", "b"]);
        live.stop_redrawing();
        assert_eq!(
            steps_in_list_after_update(&mut live, &[("c", Pending)]),
            ["a", "b"],
            "the list does not change while redrawing is stopped"
        );
        live.resume_redrawing();
        let after_resume = [("a", Completed), ("b", Completed), ("c", InProgress)];
        assert_eq!(steps_in_list_after_update(&mut live, &after_resume), ["b", "c"]);
        let after_restart_of_a = [("a", InProgress), ("b", Completed), ("c", InProgress)];
        assert_eq!(
            steps_in_list_after_update(&mut live, &after_restart_of_a),
            ["b", "c", "a"]
        );
    }

    #[test]
    fn a_step_that_ended_is_not_redrawn() {
        let mut live = list_with_step_a();
        live.find_step("a").unwrap().bar.finish_with_message("done a");
        live.show_progress(&progress("reading", None));
        assert_eq!(line_of_a(&mut live), "done a");
    }

    #[test]
    fn the_calls_of_a_step_and_its_fallback_are_listed_under_it() {
        let mut live = list_with_step_a();
        let list = live.list.clone();
        let step = live.find_step("a").unwrap();
        let call = |expression: &str| json!({"callId": "c", "toolName": "calculator", "arguments": {"expression": expression}});
        let mut item = json!({
            "id": "a", "description": "Count", "status": "in_progress", "actualToolCalls": [call("6 * 7\u{1b}[2J")],
        });
        step.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        item["fallback"] = json!("the abacus\nis broken");
        step.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        item["actualToolCalls"] = json!([call("6 * 7\u{1b}[2J"), call(&"1 + ".repeat(20))]);
        step.add_details(&serde_json::from_value(item.clone()).unwrap(), &list);
        step.add_details(&serde_json::from_value(item).unwrap(), &list);
        step.bar.set_message("done  a  Count");
        let width = 60;
        assert_eq!(
            step.permanent_lines(width),
            [
                "done  a  Count",
                r#"  call  calculator {"expression":"6 * 7\u001b[2J"}"#,
                "  model takes over: the abacus is broken",
                r#"  call  calculator {"expression":"1 + 1 + 1 + 1 + 1 + 1 +..."#,
            ]
        );
    }
}
