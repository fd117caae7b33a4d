//! A plan where a line cannot be drawn again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::pes::TodoItemStatus;
use art_runtime::CallCost;
use art_tools::ToolProgress;

use super::{in_words, line, note, one_line};

/// How long a step is silent before what its tools say of their work is a line.
const SILENCE: Duration = Duration::from_secs(10);

/// A line for each change.
#[derive(Default)]
pub(crate) struct Plain {
    told: BTreeMap<String, TodoItemStatus>,
    /// When work on a step last began.
    begun: BTreeMap<String, Instant>,
    /// When something was last said of a step.
    heard: BTreeMap<String, Instant>,
    planned: bool,
}

impl Plain {
    pub(super) fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
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
            let now = Instant::now();
            let took = self.took(&item.id, item.status, now);
            self.heard.insert(item.id.clone(), now);
            if item.status != TodoItemStatus::Pending {
                note(&line(item, took, calls));
            }
        }
    }

    /// For how long a step whose status is a new one was worked on.
    fn took(&mut self, id: &str, status: TodoItemStatus, now: Instant) -> Duration {
        if status == TodoItemStatus::InProgress {
            self.begun.insert(id.to_owned(), now);
        }
        let begun = self.begun.get(id);
        begun.map_or(Duration::ZERO, |begun| now.duration_since(*begun))
    }

    pub(super) fn progressed(&mut self, progress: &ToolProgress) {
        if let Some(line) = self.sparsely(progress, Instant::now()) {
            note(&line);
        }
    }

    /// `works  step_1  reading the table (30 %)`, when the step was silent for long enough.
    fn sparsely(&mut self, progress: &ToolProgress, now: Instant) -> Option<String> {
        let step = progress.parent_id.as_ref()?;
        let words = in_words(progress);
        let heard = self.heard.get_mut(step)?;
        if words.is_empty() || now.duration_since(*heard) < SILENCE {
            return None;
        }
        *heard = now;
        Some(format!("works {}  {words}", one_line(step)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::said;
    use super::*;

    #[test]
    fn a_step_took_the_time_since_it_was_last_begun() {
        use TodoItemStatus::{Completed, Failed, InProgress, Pending};
        let planned = Instant::now();
        let mut plain = Plain::default();
        let mut took = |seconds, status| plain.took("a", status, planned + Duration::from_secs(seconds));
        let all = [
            (0, Pending),
            (10, InProgress),
            (12, Failed),
            (20, Pending),
            (30, InProgress),
            (31, Completed),
        ];
        let took = all.map(|(seconds, status)| took(seconds, status).as_secs());
        assert_eq!(took, [0, 0, 2, 10, 0, 1]);
    }

    #[test]
    fn a_step_that_was_not_begun_took_no_time() {
        let took = Plain::default().took("a", TodoItemStatus::Cancelled, Instant::now());
        assert_eq!(took, Duration::ZERO);
    }

    #[test]
    fn what_a_tool_says_is_a_line_only_after_a_silence() {
        let begun = Instant::now();
        let mut plain = Plain::default();
        plain.heard.insert("a".to_owned(), begun);
        let mut after = |seconds, title| plain.sparsely(&said(title, Some(30)), begun + Duration::from_secs(seconds));
        assert_eq!(after(9, "too early"), None);
        assert_eq!(after(10, "reading"), Some("works a  reading (30 %)".to_owned()));
        assert_eq!(after(19, "too early"), None);
        assert_eq!(after(20, "writing"), Some("works a  writing (30 %)".to_owned()));
    }

    #[test]
    fn what_says_nothing_or_belongs_to_no_step_is_no_line() {
        let now = Instant::now();
        let mut plain = Plain::default();
        assert_eq!(plain.sparsely(&said("reading", None), now), None);
        plain.heard.insert("a".to_owned(), now);
        assert_eq!(plain.sparsely(&said("", None), now + SILENCE), None);
        assert!(plain.sparsely(&said("reading", None), now + SILENCE).is_some());
    }
}
