//! The steps of earlier questions of a thread. The planner of a new question sees these steps, and the calls that it
//! plans may take outputs of these steps.

use art_core::pes::{EarlierQuestion, PesAgentStateData, TodoItem, TodoItemStatus};

use crate::parse::MAX_TODO_ITEMS;

/// Maximum number of earlier questions that a thread keeps.
const MAX_QUESTIONS: usize = 10;

/// A step of an earlier question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierStep<'a> {
    question: &'a EarlierQuestion,
    pub(crate) item: &'a TodoItem,
}

impl EarlierStep<'_> {
    /// Returns the name of the step in prompts and references, such as `q2.step_1`. It is unique in the thread.
    pub(crate) fn name(&self) -> String {
        format!("q{}.{}", self.question.number, self.item.id)
    }
}

/// Returns all steps of these questions, oldest first.
pub(crate) fn earlier_steps(questions: &[EarlierQuestion]) -> impl Iterator<Item = EarlierStep<'_>> {
    let steps = |question| question_steps(question);
    questions.iter().flat_map(steps)
}

/// Returns the steps of one question.
pub(crate) fn question_steps(question: &EarlierQuestion) -> impl Iterator<Item = EarlierStep<'_>> {
    question.items.iter().map(move |item| EarlierStep { question, item })
}

/// Returns the step that has this name, such as `q2.step_1`.
pub(crate) fn find_earlier_step<'a>(questions: &'a [EarlierQuestion], name: &str) -> Option<&'a TodoItem> {
    let (number, id) = name.strip_prefix('q')?.split_once('.')?;
    // A number with a sign or a leading zero names no question.
    let question = questions
        .iter()
        .find(|question| question.number.to_string() == number)?;
    question.items.iter().find(|item| item.id == id)
}

/// Adds the current question of a thread, `state.query`, to its earlier questions. The steps of the question are the completed
/// and the failed ones of `items`; if there are none, nothing is added. If there are then too many earlier questions or steps,
/// the oldest questions are dropped (contract P90).
pub(crate) fn archive_question(state: &mut PesAgentStateData, items: impl IntoIterator<Item = TodoItem>) {
    use TodoItemStatus::{Completed, Failed};
    let is_completed_or_failed = |item: &TodoItem| matches!(item.status, Completed | Failed);
    let items: Vec<_> = items.into_iter().filter(is_completed_or_failed).collect();
    if items.is_empty() {
        return;
    }
    let questions = &mut state.earlier_questions;
    let number = questions.last().map_or(0, |question| question.number).saturating_add(1);
    let query = state.query.clone();
    questions.push(EarlierQuestion { number, query, items });
    while questions.len() > MAX_QUESTIONS || earlier_steps(questions).count() > MAX_TODO_ITEMS {
        questions.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::item_with_status;

    fn completed(id: &str) -> TodoItem {
        item_with_status(id, TodoItemStatus::Completed)
    }

    /// Returns the state of a thread that had one question for each of these plans. The text of a question contains the number of
    /// items of its plan.
    fn archive_plans(plans: impl IntoIterator<Item = Vec<TodoItem>>) -> PesAgentStateData {
        let mut state = PesAgentStateData::default();
        for plan in plans {
            state.query = format!("question {}", plan.len());
            archive_question(&mut state, plan);
        }
        state
    }

    /// Returns the names of all earlier steps.
    fn step_names(state: &PesAgentStateData) -> Vec<String> {
        earlier_steps(&state.earlier_questions)
            .map(|step| step.name())
            .collect()
    }

    #[test]
    fn steps_with_the_same_id_have_different_names() {
        let state = archive_plans([vec![completed("a")], vec![completed("a"), completed("b.c")]]);
        assert_eq!(step_names(&state), ["q1.a", "q2.a", "q2.b.c"]);
        assert_eq!(state.earlier_questions[1].query, "question 2");
        for step in earlier_steps(&state.earlier_questions) {
            let found = find_earlier_step(&state.earlier_questions, &step.name()).unwrap();
            assert!(std::ptr::eq(found, step.item));
        }
    }

    #[test]
    fn no_step_is_found_by_a_name_that_no_step_has() {
        let state = archive_plans([vec![completed("a")]]);
        for name in ["a", "q1", "q1.", "q1.b", "q2.a", "q.a", "q-1.a", ""] {
            assert_eq!(find_earlier_step(&state.earlier_questions, name), None, "{name}");
        }
    }

    #[test]
    fn a_number_with_a_sign_or_a_leading_zero_names_no_question() {
        let state = archive_plans([vec![completed("a")]]);
        for name in ["q+1.a", "q01.a"] {
            assert_eq!(find_earlier_step(&state.earlier_questions, name), None, "{name}");
        }
    }

    #[test]
    fn only_completed_and_failed_steps_are_kept() {
        use TodoItemStatus::{Cancelled, Failed, Pending};
        let plan = [Failed, Pending, Cancelled].map(|status| item_with_status(&format!("{status:?}"), status));
        assert_eq!(step_names(&archive_plans([plan.to_vec()])), ["q1.Failed"]);
        assert_eq!(
            archive_plans([vec![item_with_status("a", Pending)]]).earlier_questions,
            []
        );
    }

    #[test]
    fn a_question_keeps_its_number_when_older_ones_are_dropped() {
        let state = archive_plans(vec![vec![completed("a")]; MAX_QUESTIONS + 2]);
        assert_eq!(state.earlier_questions.len(), MAX_QUESTIONS);
        assert_eq!(step_names(&state)[0], "q3.a");
        let longest_plan: Vec<_> = (0..MAX_TODO_ITEMS).map(|n| completed(&n.to_string())).collect();
        assert_eq!(
            step_names(&archive_plans([vec![completed("a")], longest_plan]))[0],
            "q2.0"
        );
    }
}
