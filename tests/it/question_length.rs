//! The maximum length of a question in `art run` and `art chat`.

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::Provider;

/// Maximum length of a question, in characters.
const MAX_LENGTH: usize = 8000;
/// Length of the questions that are too long.
const EXCESSIVE_LENGTH: usize = 9000;

/// Asserts that a question of [`EXCESSIVE_LENGTH`] is refused, with the hint that `--attach` takes long texts.
fn assert_refused(ran: &CommandOutput) {
    let output = format!("{}{}", ran.stdout(), ran.stderr());
    assert_eq!(ran.code(), 2, "{output}");
    let excess = format!("the question has {EXCESSIVE_LENGTH} characters, and {MAX_LENGTH} are the most");
    for part in [excess.as_str(), "--attach"] {
        assert!(output.contains(part), "{output}");
    }
}

#[test]
fn a_question_that_is_too_long_is_refused_with_a_hint() {
    let home = Home::new();
    let long = "1+".repeat(EXCESSIVE_LENGTH / 2);
    assert_refused(&home.run(&long));
    let report = home.art(&["--json", "run", "What is 2+2?"]).json();
    let thread = report["threadId"].as_str().unwrap().to_owned();
    assert_refused(&home.art(&["run", "--thread", &thread, &long]));
    assert_refused(&home.art_with_input(&["--json", "chat"], &format!("{long}\n")));
    let runs = home.art(&["--json", "runs", "list"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 1, "only the short question is a run");
}

#[test]
fn a_question_that_is_too_long_is_not_sent_to_a_model() {
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let ask = |question: &str| {
        let args = [
            "--model",
            "compatible:m",
            "--base-url",
            &provider.base_url,
            "run",
            question,
        ];
        Home::new().art(&args)
    };
    assert_refused(&ask(&"a".repeat(EXCESSIVE_LENGTH)));
    assert_eq!(provider.take_requests().len(), 0);
    assert_eq!(ask(&"a".repeat(MAX_LENGTH)).code(), 0);
}
