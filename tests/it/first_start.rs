//! The first start: tools are compiled, which takes seconds and is reported.

use std::fs;

use crate::home::Home;

/// The message before tools are compiled.
const MESSAGE: &str = "compiling 1 tool for this machine (first use only)\n";

#[test]
fn only_the_first_start_reports_that_it_compiles() {
    let home = Home::with_empty_cache();
    let first = home.run("What is 2+2?");
    first.assert_answers(&["4"]);
    assert_eq!(first.stderr().matches(MESSAGE).count(), 1, "{}", first.stderr());
    let second = home.run("What is 2+2?");
    second.assert_answers(&["4"]);
    assert!(!second.stderr().contains("compiling"), "{}", second.stderr());
}

#[test]
fn the_first_start_prints_no_message_about_compiling_with_json_output() {
    for args in [
        &["--json", "tool", "list"][..],
        &["--json", "chat"],
        &["--json", "doctor"],
    ] {
        let ran = Home::with_empty_cache().art_with_input(args, "");
        assert_eq!((ran.code(), ran.stderr().as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn commands_that_compile_tools_report_it() {
    for args in [&["tool", "list"][..], &["chat"], &["doctor"]] {
        let ran = Home::with_empty_cache().art_with_input(args, "");
        assert!(ran.stderr().contains(MESSAGE), "{args:?}: {}", ran.stderr());
    }
}

#[test]
fn files_that_are_not_components_are_not_counted() {
    let home = Home::with_empty_cache();
    fs::write(home.plugins().join("a.wasm"), "not a component").unwrap();
    let ran = home.art(&["tool", "list"]);
    assert!(ran.stderr().contains(MESSAGE), "{}", ran.stderr());
    assert!(ran.stdout().contains("a.wasm: "), "{}", ran.stdout());
}
