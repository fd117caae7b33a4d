//! Tasks: what a prompt asks for, as data instead of prose, for models that do not read prose, such as the lexical model.

use std::borrow::Cow;
use std::sync::Arc;

use super::{OpenAction, Run};
use crate::file::RunFile;
use crate::plan::{self, unfinished_reason};
use crate::report::{collect_sources, outputs};
use art_core::agent::QueryAttachment;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::task::{AnswerTask, PlanTask, StepOutcome, Task, TaskFile, TaskStep};
use art_core::text::byte_prefix;

/// Maximum size of the beginning of a file in a task, in bytes.
const MAX_BEGINNING_BYTES: usize = 64 << 10;

impl Run {
    /// Returns the task of `action` as data, or `None` for tool calls and steps.
    pub(super) fn task(&self, action: &OpenAction) -> Option<Arc<Task>> {
        let task = match action {
            OpenAction::Plan => Task::Plan(self.plan_task()),
            OpenAction::Answer => Task::Answer(self.answer_task()),
            OpenAction::Item(_) | OpenAction::Tools(_) => return None,
        };
        Some(Arc::new(task))
    }

    fn plan_task(&self) -> PlanTask {
        PlanTask {
            query: self.start.props.query.clone(),
            files: self.task_files(),
            tools: self.start.tools.clone(),
            // The new plan is not adopted yet, so `self.steps()` are those of the plan before it.
            earlier: self.earlier_steps().chain(self.steps()).collect(),
        }
    }

    fn answer_task(&self) -> AnswerTask {
        AnswerTask {
            query: self.start.props.query.clone(),
            plan: self.state.plan.clone(),
            steps: self.steps().collect(),
        }
    }

    /// Returns the steps of the plan.
    fn steps(&self) -> impl Iterator<Item = TaskStep> {
        let items = &self.state.todo_list;
        items.iter().map(|item| task_step(item.id.clone(), items, item))
    }

    /// Returns the steps of earlier questions, with names that are unique in the thread.
    fn earlier_steps(&self) -> impl Iterator<Item = TaskStep> {
        let steps = plan::earlier_steps(&self.state.earlier_questions);
        // The other items, which say why a step is unfinished, are not needed: an earlier question has no unfinished steps.
        steps.map(|step| task_step(step.name(), &[], step.item))
    }

    fn task_files(&self) -> Vec<TaskFile> {
        let attached = self.start.props.attachments.iter().map(attached_file);
        attached.chain(self.files.all().iter().map(stored_file)).collect()
    }
}

fn task_step(id: String, items: &[TodoItem], item: &TodoItem) -> TaskStep {
    TaskStep {
        id,
        description: item.description.clone(),
        outcome: step_outcome(items, item),
    }
}

fn step_outcome(items: &[TodoItem], item: &TodoItem) -> StepOutcome {
    match item.status {
        TodoItemStatus::Completed => StepOutcome::Completed {
            results: outputs(item).into_iter().map(Cow::into_owned).collect(),
            sources: collect_sources(std::slice::from_ref(item)),
        },
        TodoItemStatus::Failed => {
            let error = item.error.as_deref().unwrap_or("no reason was given");
            StepOutcome::Failed(error.to_owned())
        }
        _ => StepOutcome::Unfinished(unfinished_reason(items, item)),
    }
}

fn attached_file(attachment: &QueryAttachment) -> TaskFile {
    TaskFile {
        name: attachment.name.clone(),
        media_type: attachment.media_type.clone(),
        beginning: byte_prefix(&attachment.text, MAX_BEGINNING_BYTES).to_owned(),
    }
}

/// Describes a file that a tool produced, or that came with an earlier question. Its content is unknown here, because it is in
/// the store.
fn stored_file(file: &RunFile) -> TaskFile {
    TaskFile {
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        beginning: String::new(),
    }
}
