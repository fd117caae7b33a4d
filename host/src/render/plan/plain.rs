//! Display of a plan without a terminal, where lines cannot be redrawn.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_runtime::CallUsage;
use art_tools::ToolProgress;

use super::{Detail, MAX_DETAIL_LINE, ShownDetails, new_details, note, one_line, progress_text, step_line};

/// Minimum time between a line of a step and the next progress message of this step, so that these messages are not too frequent.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Display that prints a line for each change, and redraws nothing.
#[derive(Default)]
pub(crate) struct PlainLines {
    /// Status of each step at the last update.
    statuses: BTreeMap<String, TodoItemStatus>,
    /// When each step was last started.
    started_at: BTreeMap<String, Instant>,
    /// When the status of each step last changed or its last progress message was printed, whichever was later.
    printed_at: BTreeMap<String, Instant>,
    /// Which details of each step were printed.
    shown: BTreeMap<String, ShownDetails>,
    /// Whether the number of steps was printed.
    step_count_printed: bool,
}

impl PlainLines {
    /// Prints the number of steps once, and a line for each step whose status changed.
    pub(super) fn update(&mut self, view: &RunView<'_>, calls: &[CallUsage]) {
        let has_plan = match view.stage {
            RunStage::Planning => false,
            RunStage::Finished => !view.items.is_empty(),
            RunStage::Execution | RunStage::Synthesis => true,
        };
        if has_plan && !self.step_count_printed {
            self.step_count_printed = true;
            note(&match view.items.len() {
                1 => "plan: 1 step".to_owned(),
                steps => format!("plan: {steps} steps"),
            });
        }
        for item in view.items {
            let details = new_details(item, self.shown.entry(item.id.clone()).or_default());
            let line = self.status_line(item, calls);
            let details = details.iter().map(|detail| detail_line(item, detail));
            // The details of a step are printed between its start and its end.
            match item.status {
                TodoItemStatus::InProgress => line.into_iter().chain(details).for_each(|line| note(&line)),
                _ => details.chain(line).for_each(|line| note(&line)),
            }
        }
    }

    /// Returns the line of a step, or `None` if its status did not change or it is pending.
    fn status_line(&mut self, item: &TodoItem, calls: &[CallUsage]) -> Option<String> {
        let status_before = self.statuses.insert(item.id.clone(), item.status);
        if status_before == Some(item.status) {
            return None;
        }
        let now = Instant::now();
        let duration = self.time_since_start(&item.id, item.status, now);
        self.printed_at.insert(item.id.clone(), now);
        (item.status != TodoItemStatus::Pending).then(|| step_line(item, duration, calls))
    }

    /// Records the start of a step if its new status is `InProgress`. Returns the time since its last start, or zero if it never
    /// started.
    fn time_since_start(&mut self, id: &str, status: TodoItemStatus, now: Instant) -> Duration {
        if status == TodoItemStatus::InProgress {
            self.started_at.insert(id.to_owned(), now);
        }
        let started_at = self.started_at.get(id);
        started_at.map_or(Duration::ZERO, |started_at| now.duration_since(*started_at))
    }

    /// Prints the progress of a call, unless a line of its step was printed recently.
    pub(super) fn show_progress(&mut self, progress: &ToolProgress) {
        if let Some(line) = self.progress_line(progress, Instant::now()) {
            note(&line);
        }
    }

    /// Returns a line such as `works step_1  reading the table (30 %)`, unless a line of the step was printed recently.
    fn progress_line(&mut self, progress: &ToolProgress, now: Instant) -> Option<String> {
        let step = progress.parent_id.as_ref()?;
        let text = progress_text(progress);
        let printed_at = self.printed_at.get_mut(step)?;
        if text.is_empty() || now.duration_since(*printed_at) < MIN_PROGRESS_INTERVAL {
            return None;
        }
        *printed_at = now;
        Some(format!("works {}  {text}", one_line(step)))
    }
}

/// Returns a line such as `call  step_1  calculator {"expression":"6 * 7"}`.
fn detail_line(item: &TodoItem, detail: &Detail) -> String {
    let detail = Detail {
        text: format!("{}  {}", one_line(&item.id), detail.text),
        ..detail.clone()
    };
    detail.line(MAX_DETAIL_LINE).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::progress;
    use super::*;

    #[test]
    fn the_duration_of_a_step_counts_from_its_last_start() {
        use TodoItemStatus::{Completed, Failed, InProgress, Pending};
        let planned = Instant::now();
        let mut plain = PlainLines::default();
        let mut duration_after_change =
            |seconds, status| plain.time_since_start("a", status, planned + Duration::from_secs(seconds));
        let changes_after_planning = [
            (0, Pending),
            (10, InProgress),
            (12, Failed),
            (20, Pending),
            (30, InProgress),
            (31, Completed),
        ];
        let durations =
            changes_after_planning.map(|(seconds, status)| duration_after_change(seconds, status).as_secs());
        assert_eq!(durations, [0, 0, 2, 10, 0, 1]);
    }

    #[test]
    fn a_step_that_never_started_has_no_duration() {
        let duration = PlainLines::default().time_since_start("a", TodoItemStatus::Cancelled, Instant::now());
        assert_eq!(duration, Duration::ZERO);
    }

    #[test]
    fn a_progress_line_is_printed_at_most_once_per_interval() {
        let printed_at = Instant::now();
        let interval = MIN_PROGRESS_INTERVAL.as_secs();
        let mut plain = PlainLines::default();
        plain.printed_at.insert("a".to_owned(), printed_at);
        let mut line_after =
            |seconds, title| plain.progress_line(&progress(title, Some(30)), printed_at + Duration::from_secs(seconds));
        assert_eq!(line_after(interval - 1, "too early"), None);
        assert_eq!(
            line_after(interval, "reading"),
            Some("works a  reading (30 %)".to_owned())
        );
        assert_eq!(line_after(2 * interval - 1, "too early"), None);
        assert_eq!(
            line_after(2 * interval, "writing"),
            Some("works a  writing (30 %)".to_owned())
        );
    }

    #[test]
    fn progress_without_text_or_of_an_unknown_step_is_not_printed() {
        let now = Instant::now();
        let mut plain = PlainLines::default();
        assert_eq!(plain.progress_line(&progress("reading", None), now), None);
        plain.printed_at.insert("a".to_owned(), now);
        assert_eq!(
            plain.progress_line(&progress("", None), now + MIN_PROGRESS_INTERVAL),
            None
        );
        assert!(
            plain
                .progress_line(&progress("reading", None), now + MIN_PROGRESS_INTERVAL)
                .is_some()
        );
    }

    #[test]
    fn a_call_is_one_line_that_names_its_step() {
        let item = serde_json::json!({
            "id": "a", "description": "Count",
            "actualToolCalls": [{"callId": "c", "toolName": "calculator", "arguments": {"expression": "1\n+".repeat(99)}}],
            "fallback": "the abacus is broken",
        });
        let item = serde_json::from_value(item).unwrap();
        let details = new_details(&item, &mut ShownDetails::default());
        let lines: Vec<_> = details.iter().map(|detail| detail_line(&item, detail)).collect();
        // The line is cut with its indent of two spaces, which is then removed.
        assert_eq!(lines[0].chars().count(), MAX_DETAIL_LINE - 2);
        assert!(
            lines[0].starts_with(r#"call  a  calculator {"expression":"1\n+1"#),
            "{lines:?}"
        );
        assert_eq!(lines[1], "model a  takes over: the abacus is broken");
    }
}
