//! Asks a person about several calls at once.

use art_core::hitl::{Feedback, InputType};

use super::super::shown;
use super::Question;
use crate::render;

/// The result of asking about all calls at once.
pub(super) enum Outcome {
    /// All are decided.
    Decided,
    /// The person decides later.
    Later,
    /// Each is asked about on its own.
    OneByOne,
}

/// Asks for one decision about all calls, if there are several and none needs an answer of its own. A call that cannot be decided
/// in this way is asked about on its own, unless somebody else has decided about it.
pub(super) fn decide(questions: &[Question<'_>]) -> Outcome {
    let needs_no_answer = |question: &Question<'_>| question.record.call.form.input_type == InputType::Confirm;
    let [first, _, ..] = questions else {
        return Outcome::OneByOne;
    };
    if !questions.iter().all(needs_no_answer) {
        return Outcome::OneByOne;
    }
    super::drop_earlier_input();
    for (n, question) in questions.iter().enumerate() {
        render::note(&format!("decision {} of {}", n + 1, questions.len()));
        render::note(&shown::question(question.record));
    }
    loop {
        let typed = match first.read("yes to all, no to all, each on its own, or later? (yes, no, each, later) ") {
            Ok(typed) => typed,
            Err(super::Outcome::Later) => return Outcome::Later,
            Err(super::Outcome::Decided) => return Outcome::OneByOne,
        };
        let feedback = match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(Feedback::new(true, shown::now())),
            "n" | "no" => first.read_rejection(),
            "e" | "each" => return Outcome::OneByOne,
            "l" | "later" => return Outcome::Later,
            _ => continue,
        };
        return match feedback {
            Ok(feedback) => decide_all(questions, &feedback),
            Err(_) => Outcome::Later,
        };
    }
}

fn decide_all(questions: &[Question<'_>], feedback: &Feedback) -> Outcome {
    let mut outcome = Outcome::Decided;
    for question in questions {
        match question.decide(feedback.clone(), None) {
            Ok(super::Outcome::Decided) => {}
            Ok(super::Outcome::Later) => return Outcome::Later,
            Err(problem) => {
                render::note(&shown::problem(&problem));
                outcome = Outcome::OneByOne;
            }
        }
    }
    outcome
}
