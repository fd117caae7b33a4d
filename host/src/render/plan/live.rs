//! A plan on a terminal: a list that is drawn again as it changes.

use std::time::{Duration, Instant};

use art_agent::{RunStage, RunView};
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::text::printable;
use art_tools::ToolProgress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{description, in_words, line, note, one_line};
use crate::drive::CallCost;

/// How often a line that is worked on is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The list.
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
    description: String,
    said: Option<Said>,
}

/// What a tool of the step last said of its work.
struct Said {
    call_id: String,
    words: String,
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
    pub(super) fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]) {
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
            if let Some(line) = self.line(&item.id) {
                line.update(item, calls);
            }
        }
    }

    /// Adds a line for a step that has none.
    fn add(&mut self, id: &str) {
        if self.line(id).is_none() {
            self.lines.push(Line {
                id: id.to_owned(),
                bar: self.list.add(spinner("")),
                begun: Instant::now(),
                description: String::new(),
                said: None,
            });
        }
    }

    fn line(&mut self, id: &str) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.id == id)
    }

    /// Shows what a tool says of its work, until it says something else or ends.
    pub(super) fn progressed(&mut self, progress: &ToolProgress) {
        let step = progress.parent_id.as_deref().unwrap_or_default();
        if let Some(line) = self.line(step) {
            line.said = Some(Said {
                call_id: progress.call_id.clone(),
                words: in_words(progress),
            });
            line.draw();
        }
    }

    /// A call that ended works no more.
    pub(super) fn returned(&mut self, call_id: &str) {
        for line in &mut self.lines {
            if line.said.take_if(|said| said.call_id == call_id).is_some() {
                line.draw();
            }
        }
    }

    /// Takes the list off the screen and writes what was done as lines that stay.
    pub(super) fn settle(&mut self) {
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

    pub(super) fn say(&self, text: &str) {
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

impl Line {
    fn update(&mut self, item: &TodoItem, calls: &[CallCost]) {
        self.description = description(item);
        match item.status {
            _ if self.bar.is_finished() => {}
            TodoItemStatus::Pending | TodoItemStatus::Waiting => self.draw(),
            TodoItemStatus::InProgress => {
                self.draw();
                self.bar.enable_steady_tick(TICK);
            }
            TodoItemStatus::Completed | TodoItemStatus::Failed | TodoItemStatus::Cancelled => {
                self.bar.set_style(style("{msg}"));
                self.bar.finish_with_message(line(item, self.begun.elapsed(), calls));
            }
        }
    }

    /// `Count the rows: reading the table (30 %)`
    fn draw(&self) {
        if self.bar.is_finished() {
            return;
        }
        let words = self.said.as_ref().map_or("", |said| said.words.as_str());
        self.bar.set_message(match words {
            "" => self.description.clone(),
            words => format!("{}: {words}", self.description),
        });
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

#[cfg(test)]
mod tests {
    use super::super::tests::said;
    use super::*;

    /// A list with the step `a`, drawn nowhere.
    fn live() -> Live {
        let mut live = Live::default();
        live.add("a");
        live.line("a").unwrap().description = "Count".to_owned();
        live
    }

    fn shown(live: &mut Live) -> String {
        live.line("a").unwrap().bar.message()
    }

    #[test]
    fn what_a_tool_says_stands_behind_its_step_until_the_call_ends() {
        let mut live = live();
        live.progressed(&said("opening", None));
        live.progressed(&said("reading", Some(30)));
        assert_eq!(shown(&mut live), "Count: reading (30 %)");
        live.returned("another");
        assert_eq!(shown(&mut live), "Count: reading (30 %)");
        live.returned("call");
        assert_eq!(shown(&mut live), "Count");
    }

    #[test]
    fn a_step_that_ended_is_not_drawn_again() {
        let mut live = live();
        live.line("a").unwrap().bar.finish_with_message("done a");
        live.progressed(&said("reading", None));
        assert_eq!(shown(&mut live), "done a");
    }
}
