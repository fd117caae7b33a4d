//! How long a question may be, wherever it comes in.

use crate::home::Home;
use crate::program::Ran;
use crate::provider::Provider;

/// The question is refused with what to do instead.
fn is_refused(ran: &Ran) {
    let told = format!("{}{}", ran.stdout(), ran.stderr());
    assert_eq!(ran.code(), 2, "{told}");
    for part in ["the question has 9000 characters, and 8000 are the most", "--attach"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_question_that_is_too_long_is_refused_with_what_to_do() {
    let home = Home::new();
    let long = "1+".repeat(4500);
    is_refused(&home.run(&long));
    let thread = home.art(&["--json", "run", "What is 2+2?"]).json();
    let thread = thread["threadId"].as_str().unwrap().to_owned();
    is_refused(&home.art(&["run", "--thread", &thread, &long]));
    is_refused(&home.art_with_input(&["--json", "chat"], &format!("{long}\n")));
    assert_eq!(
        home.art(&["--json", "runs", "list"]).json().as_array().unwrap().len(),
        1
    );
}

#[test]
fn no_model_is_asked_a_question_that_is_too_long() {
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
    is_refused(&ask(&"a".repeat(9000)));
    assert_eq!(provider.requests().len(), 0);
    assert_eq!(ask(&"a".repeat(8000)).code(), 0);
}
