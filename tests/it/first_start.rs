//! The first start: tools are compiled, which takes seconds and is said.

use std::fs;

use crate::home::Home;

/// What is said before anything is compiled.
const SAID: &str = "compiling 1 tool for this machine, once\n";

#[test]
fn the_first_start_says_that_it_compiles_and_the_second_says_nothing() {
    let home = Home::fresh();
    let first = home.run("What is 2+2?");
    first.answers(&["4"]);
    assert_eq!(first.stderr().matches(SAID).count(), 1, "{}", first.stderr());
    let second = home.run("What is 2+2?");
    second.answers(&["4"]);
    assert!(!second.stderr().contains("compiling"), "{}", second.stderr());
}

#[test]
fn the_first_start_says_nothing_to_programs() {
    for args in [
        &["--json", "tool", "list"][..],
        &["--json", "chat"],
        &["--json", "doctor"],
    ] {
        let ran = Home::fresh().art_with_input(args, "");
        assert_eq!((ran.code(), ran.stderr().as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn every_command_that_compiles_says_so() {
    for args in [&["tool", "list"][..], &["chat"], &["doctor"]] {
        let ran = Home::fresh().art_with_input(args, "");
        assert!(ran.stderr().contains(SAID), "{args:?}: {}", ran.stderr());
    }
}

#[test]
fn what_is_no_component_is_not_counted() {
    let home = Home::fresh();
    fs::write(home.plugins().join("a.wasm"), "no component").unwrap();
    let ran = home.art(&["tool", "list"]);
    assert!(ran.stderr().contains(SAID), "{}", ran.stderr());
    assert!(ran.stdout().contains("a.wasm: "), "{}", ran.stdout());
}
