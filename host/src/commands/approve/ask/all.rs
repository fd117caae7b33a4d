//! Asks a person about several calls at once.

use art_core::hitl::{Feedback, InputType};

use super::super::super::current_time;
use super::super::as_text;
use super::{Question, QuestionOutcome};
use crate::render;

/// How a question about all calls at once ended.
pub(super) enum TogetherOutcome {
    /// Every call is decided. If a decision could not be stored, only the calls before that call are decided.
    Decided,
    /// All calls that are not decided yet are left without a decision.
    Later,
    /// Each call that is not decided yet has to be asked about on its own.
    OneByOne,
}

/// Asks for one decision about all calls. Does not ask, and returns [`TogetherOutcome::OneByOne`], if there is only one call,
/// or if a call needs an answer besides yes or no. Also returns `OneByOne` if the person chooses to decide about each call, if
/// somebody else decides about the first call meanwhile, or if the decision about one of the calls is refused.
pub(super) fn ask_about_all(questions: &[Question<'_>]) -> TogetherOutcome {
    let takes_only_yes_or_no = |question: &Question<'_>| question.record.call.form.input_type == InputType::Confirm;
    let [first, _, ..] = questions else {
        return TogetherOutcome::OneByOne;
    };
    if !questions.iter().all(takes_only_yes_or_no) {
        return TogetherOutcome::OneByOne;
    }
    super::drop_earlier_input();
    for (index, question) in questions.iter().enumerate() {
        render::note(&format!("decision {} of {}", index + 1, questions.len()));
        render::note(&as_text::question(question.record));
    }
    // `read` of the first question reads the line, and ends early if somebody else decides about the first call.
    loop {
        let typed = match first.read("yes to all, no to all, each on its own, or later? (yes, no, each, later) ") {
            Ok(typed) => typed,
            Err(outcome) => return outcome_without_decision(&outcome),
        };
        let feedback = match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(Feedback::new(true, current_time())),
            "n" | "no" => first.read_rejection(),
            "e" | "each" => return TogetherOutcome::OneByOne,
            "l" | "later" => return TogetherOutcome::Later,
            _ => continue,
        };
        return match feedback {
            Ok(feedback) => decide_all(questions, &feedback),
            Err(outcome) => outcome_without_decision(&outcome),
        };
    }
}

/// Returns how the question about all calls ends if no line was read, because the person left the question or because somebody
/// else decided about the first call. `outcome_of_read` tells the two apart.
const fn outcome_without_decision(outcome_of_read: &QuestionOutcome) -> TogetherOutcome {
    match outcome_of_read {
        QuestionOutcome::Later => TogetherOutcome::Later,
        // Somebody else has decided about the first call. The others may still wait.
        QuestionOutcome::Decided => TogetherOutcome::OneByOne,
    }
}

fn decide_all(questions: &[Question<'_>], feedback: &Feedback) -> TogetherOutcome {
    let mut outcome = TogetherOutcome::Decided;
    for (index, question) in questions.iter().enumerate() {
        match question.decide(feedback.clone(), None) {
            Ok(QuestionOutcome::Decided) => {}
            // The decision could not be stored.
            Ok(QuestionOutcome::Later) if index == 0 => return TogetherOutcome::Later,
            Ok(QuestionOutcome::Later) => return outcome,
            Err(problem) => {
                render::note(&as_text::refused_decision(&problem));
                outcome = TogetherOutcome::OneByOne;
            }
        }
    }
    outcome
}
