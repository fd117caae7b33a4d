//! Forms of questions to a person: which forms the host accepts, and how answers are checked.
//!
//! A form comes from an untrusted tool and an answer from a client, and the host checks the answer against the form without
//! metering. So a form is admitted first, which bounds its size and the cost of its patterns and schemas. An answer is checked
//! only against an admitted form; this takes at most about 100 ms. Nothing here does I/O.

mod admit;
mod answer;
mod date;
mod entry;
mod feedback;
mod file;
mod problem;
mod prompt;
mod question;

pub(crate) use admit::{admit, admit_config};
pub use answer::answer_schema;
pub use entry::{Entry, parse_entry};
pub use feedback::{FeedbackErrors, check_feedback};
pub use file::{FileProblem, file_answer};
pub use problem::FormProblem;
pub(crate) use question::{ToolQuestion, question_of_grant, question_of_rule, question_of_tool};

#[cfg(test)]
pub(crate) use feedback::any_json;
pub(crate) use feedback::check_feedback_with_input_limit;

/// Maximum size of a form as compact JSON text, in bytes.
pub const MAX_FORM_BYTES: usize = 64 << 10;
/// Maximum length of a prompt, which is the question to the person, in characters.
pub const MAX_PROMPT_CHARS: usize = 8_000;
/// Maximum length of a title, a placeholder, a hint, a description or a message of a form, in characters.
pub const MAX_TEXT_CHARS: usize = 2_000;
/// Maximum length of a label, in characters.
pub const MAX_LABEL_CHARS: usize = 200;
/// Maximum number of options.
pub const MAX_OPTIONS: usize = 200;
/// Maximum time that a person may have for a decision, in milliseconds: about ten years.
pub const MAX_WAIT_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1_000;
/// Maximum size of an answer that is no file, as compact JSON text in bytes.
pub const MAX_ANSWER_BYTES: usize = 64 << 10;
/// Maximum size of a file that is an answer, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// Maximum length of a person's comment, which is the `reason` of a decision, in characters.
pub const MAX_REASON_CHARS: usize = 8_000;
