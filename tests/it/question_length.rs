//! The maximum length of a question in `art run` and `art chat`.

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::Provider;

/// Asserts that the question is refused with a hint.
fn assert_refused(ran: &CommandOutput) {
    let output = format!("{}{}", ran.stdout(), ran.stderr());
    assert_eq!(ran.code(), 2, "{output}");
    for part in ["the question has 9000 characters, and 8000 are the most", "--attach"] {
        assert!(output.contains(part), "{output}");
    }
}

#[test]
fn a_question_that_is_too_long_is_refused_with_a_hint() {
    let home = Home::new();
    let long = "1+".repeat(4500);
    assert_refused(&home.run(&long));
    let thread = home.art(&["--json", "run", "What is 2+2?"]).json();
    let thread = thread["threadId"].as_str().unwrap().to_owned();
    assert_refused(&home.art(&["run", "--thread", &thread, &long]));
    assert_refused(&home.art_with_input(&["--json", "chat"], &format!("{long}\n")));
    assert_eq!(
        home.art(&["--json", "runs", "list"]).json().as_array().unwrap().len(),
        1
    );
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
    assert_refused(&ask(&"a".repeat(9000)));
    assert_eq!(provider.requests().len(), 0);
    assert_eq!(ask(&"a".repeat(8000)).code(), 0);
}
