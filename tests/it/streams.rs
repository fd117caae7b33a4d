//! Output that cannot be written, because stdout is closed or its device is full, and input that is endless or too long.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::home::Home;
use crate::program::CommandOutput;

/// Commands that write an answer to stdout.
const COMMANDS: [&[&str]; 7] = [
    &["run", "What is 2+2?"],
    &["run", "--json", "What is 2+2?"],
    &["tool", "list"],
    &["tool", "call", "calculator", r#"{"expression":"2+2"}"#],
    &["config", "--json"],
    &["completion", "bash"],
    &["--help"],
];

fn full_device() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let home = Home::new();
    for command in COMMANDS {
        let ran = CommandOutput(home.command(command).stdout(full_device()).output().unwrap());
        assert_eq!(ran.code(), 9, "{command:?}: {ran}");
        let message = "error: the answer could not be written to stdout: No space left on device";
        assert_eq!(ran.stderr().matches(message).count(), 1, "{command:?}: {ran}");
    }
}

#[test]
fn an_answer_to_a_closed_stdout_is_an_error() {
    let home = Home::new();
    for command in COMMANDS {
        let art = home.command(command);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", r#"exec "$0" "$@" >&-"#])
            .arg(art.get_program())
            .args(art.get_args());
        shell.envs(art.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = CommandOutput(shell.output().unwrap());
        assert_eq!(ran.code(), 9, "{command:?}: {ran}");
        let message = "error: the answer could not be written to stdout: it is closed";
        assert_eq!(ran.stderr().matches(message).count(), 1, "{command:?}: {ran}");
    }
}

#[test]
fn an_answer_to_a_closed_pipe_fails_without_a_message() {
    let home = Home::new();
    for command in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = CommandOutput(home.command(command).stdout(writer).output().unwrap());
        // The exit code of a process that SIGPIPE ends.
        assert_eq!(ran.code(), 141, "{command:?}: {ran}");
        assert!(!ran.stderr().contains("error"), "{command:?}: {ran}");
    }
}

#[test]
fn an_answer_to_dev_null_is_a_success() {
    let home = Home::new();
    for command in COMMANDS {
        let ran = CommandOutput(home.command(command).stdout(Stdio::null()).output().unwrap());
        assert_eq!(ran.code(), 0, "{command:?}: {ran}");
    }
}

#[test]
fn a_chat_stops_when_its_answers_cannot_be_written() {
    let home = Home::new();
    let questions = home.file("questions.txt", "What is 2+2?\nWhat is 3+3?\n");
    let mut chat = home.command(&["chat"]);
    let ran = CommandOutput(
        chat.stdin(File::open(questions).unwrap())
            .stdout(full_device())
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code(), 9, "{ran}");
    let runs = home.art(&["--json", "runs", "list"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
}

#[test]
fn arguments_from_an_endless_stdin_are_refused() {
    let home = Home::new();
    let mut call = home.command(&["tool", "call", "calculator", "-"]);
    let ran = CommandOutput(call.stdin(File::open("/dev/zero").unwrap()).output().unwrap());
    assert_eq!(ran.code(), 2, "{ran}");
    let message = "error: `stdin` cannot be used: it has more than the 4194304 bytes allowed";
    assert!(ran.stderr().contains(message), "{ran}");
}

#[test]
fn arguments_are_read_from_stdin() {
    let home = Home::new();
    home.art_with_input(&["tool", "call", "calculator", "-"], r#"{"expression":"2+2"}"#)
        .assert_answers(&["4"]);
}

#[test]
fn an_endless_evaluation_file_is_refused() {
    let ran = Home::new().art(&["eval", "/dev/zero"]);
    assert_eq!(ran.code(), 2, "{ran}");
    let message = "error: `/dev/zero` cannot be used: it has more than the 16777216 bytes allowed";
    assert!(ran.stderr().contains(message), "{ran}");
}

#[test]
fn a_configuration_that_is_too_long_is_refused() {
    let home = Home::new();
    let file = File::create(home.dir.path().join("art.toml")).unwrap();
    file.set_len(20 << 30).unwrap();
    let ran = home.art(&["tool", "list"]);
    assert_eq!(ran.code(), 6, "{ran}");
    assert!(
        ran.stderr().contains("it has more than the 1048576 bytes allowed"),
        "{ran}"
    );
}
