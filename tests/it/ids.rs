//! Short forms of identifiers: a unique prefix, or `last`.

use serde_json::Value;

use crate::home::Home;

/// Returns a home with two runs in separate conversations, which the program calls threads. Also returns the identifiers of the
/// runs and of the threads, each newest first.
fn home_with_two_runs() -> (Home, [String; 2], [String; 2]) {
    let home = Home::new();
    let [old, new] = ["What is 2+2?", "What is 3+3?"].map(|query| home.art(&["--json", "run", query]).json());
    let id = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
    let ids = |key| [id(&new, key), id(&old, key)];
    let (runs, threads) = (ids("traceId"), ids("threadId"));
    (home, runs, threads)
}

/// Returns the shortest prefix of `id` that is not a prefix of `other`.
fn unique_prefix<'a>(id: &'a str, other: &str) -> &'a str {
    let same = id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    &id[..=same]
}

#[test]
fn commands_accept_a_unique_prefix_of_an_identifier() {
    let (home, runs, threads) = home_with_two_runs();
    let (run, thread) = (
        unique_prefix(&runs[1], &runs[0]),
        unique_prefix(&threads[1], &threads[0]),
    );
    let shown = home.art(&["--json", "runs", "show", run]).json();
    assert_eq!(shown["run"]["traceId"], runs[1]);
    let shown = home.art(&["--json", "thread", "show", thread]).json();
    assert_eq!(shown["thread"]["id"], threads[1]);
    let listed = home.art(&["--json", "runs", "list", "--thread", thread]).json();
    assert_eq!(listed[0]["traceId"], runs[1]);
    home.art(&["thread", "set", thread, "history-limit", "4"])
        .assert_answers(&["4"]);
    home.art(&["run", "--thread", thread, "What is that times 10?"])
        .assert_answers(&["40"]);
    let chat = home.art_with_input(&["chat", "--thread", thread], "/thread\n");
    assert_eq!(chat.stdout(), format!("{}\n", threads[1]));
    let deleted = home.art(&["--json", "thread", "delete", thread]).json();
    assert_eq!(deleted["deleted"], threads[1]);
}

#[test]
fn last_is_the_newest_run_and_the_conversation_that_was_used_last() {
    let (home, runs, threads) = home_with_two_runs();
    let shown = home.art(&["--json", "runs", "show", "last"]).json();
    assert_eq!(shown["run"]["traceId"], runs[0]);
    home.art(&["run", "--thread", "last", "What is that times 10?"])
        .assert_answers(&["60"]);
    home.art(&["run", "--thread", &threads[1], "What is that times 10?"])
        .assert_answers(&["40"]);
    let shown = home.art(&["--json", "thread", "show", "last"]).json();
    assert_eq!(
        shown["thread"]["id"], threads[1],
        "the conversation that was written to last"
    );
}

#[test]
fn an_ambiguous_prefix_is_an_error_that_names_the_identifiers() {
    let (home, runs, threads) = home_with_two_runs();
    // The identifiers of runs and conversations begin with their time, whose first digit is 0.
    for (args, ids) in [
        (&["runs", "show", "0"][..], runs),
        (&["thread", "delete", "0"], threads),
    ] {
        let ran = home.art(args);
        assert_eq!(ran.code(), 2, "{ran}");
        let message = format!("begin with `0`: `{}`, `{}`; type a longer prefix", ids[0], ids[1]);
        assert!(ran.stderr().contains(&message), "{ran}");
    }
    assert_eq!(
        home.art(&["--json", "thread", "list"]).json().as_array().unwrap().len(),
        2
    );
}

#[test]
fn an_unknown_prefix_is_an_error() {
    let (home, ..) = home_with_two_runs();
    for args in [
        &["runs", "show", "x"][..],
        &["runs", "list", "--thread", "x"],
        &["thread", "show", "%"],
        &["run", "--thread", "x", "What is 2+2?"],
    ] {
        let ran = home.art(args);
        assert_eq!(ran.code(), 1, "{args:?}: {ran}");
        assert!(ran.stderr().contains("there is no "), "{args:?}: {ran}");
    }
}

#[test]
fn an_empty_identifier_is_an_error() {
    let home = Home::new();
    home.run("What is 2+2?");
    for args in [["runs", "show", ""], ["thread", "delete", ""]] {
        let ran = home.art(&args);
        assert_eq!(
            (ran.code(), ran.stderr().as_str()),
            (2, "error: the identifier is empty\n")
        );
    }
}

#[test]
fn last_is_an_error_in_a_fresh_home() {
    let ran = Home::new().art(&["runs", "show", "last"]);
    assert_eq!(ran.code(), 1, "{ran}");
    assert!(ran.stderr().contains("there is no run yet"), "{ran}");
}
