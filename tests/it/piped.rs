//! What is piped to a question.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::home::Home;
use crate::program::Ran;

const ABOUT_WORDS: &str = "How many words are in this text?";
const ABOUT_SALES: &str = "Which region has the highest total revenue in this table?";
const SALES: &str = "region,units,revenue\nNorth,9,120\nSouth,2,340\nNorth,4,90\nSouth,1,60\n";
/// What is told of a pipe that nobody writes to.
const UNREAD: &str = "stdin is a pipe that gave nothing";

#[test]
fn a_text_that_is_piped_to_a_question_comes_with_it() {
    let home = Home::new();
    home.art_with_input(&["run", ABOUT_WORDS], "To be or not to be, that is the question.")
        .answers(&["words 10"]);
    home.art_with_input(&["run", ABOUT_SALES], SALES)
        .answers(&["South", "400"]);
    home.art_with_input(&["run", "--attach", "-", ABOUT_SALES], SALES)
        .answers(&["South", "400"]);
}

#[test]
fn a_file_at_stdin_comes_with_the_question() {
    let home = Home::new();
    let sales = home.file("sales.csv", SALES);
    let mut art = home.command(&["run", ABOUT_SALES]);
    Ran(art.stdin(File::open(sales).unwrap()).output().unwrap()).answers(&["South", "400"]);
}

#[test]
fn a_file_that_somebody_reads_line_by_line_is_left_to_them() {
    let home = Home::new();
    let mut file = File::open(home.file("questions.txt", "What is 2+2?\nWhat is 3+3?\n")).unwrap();
    file.seek(SeekFrom::Start(13)).unwrap();
    let mut art = home.command(&["run", "What is 2+2?"]);
    Ran(art.stdin(file.try_clone().unwrap()).output().unwrap()).answers(&["4"]);
    assert_eq!(file.stream_position().unwrap(), 13);
}

#[test]
fn nothing_is_piped_by_an_empty_pipe_an_empty_file_and_a_device() {
    let home = Home::new();
    let empty = home.file("empty", " \n");
    for stdin in [empty.to_str().unwrap(), "/dev/null", "/dev/zero"] {
        let mut art = home.command(&["--json", "run", "What is 2+2?"]);
        let ran = Ran(art.stdin(File::open(stdin).unwrap()).output().unwrap());
        assert_eq!(ran.json()["answer"], "2+2: 4", "{stdin}: {ran}");
        assert_eq!(ran.stderr(), "", "{stdin}");
    }
    home.art_with_input(&["run", "What is 2+2?"], "").answers(&["4"]);
}

#[test]
fn a_pipe_that_nobody_writes_to_holds_no_question() {
    let home = Home::new();
    let mut art = home.command(&["run", "What is 2+2?"]);
    let (reader, writer) = std::io::pipe().unwrap();
    let ran = Ran(art.stdin(reader).output().unwrap());
    drop(writer);
    ran.answers(&["4"]);
    assert!(ran.stderr().contains(UNREAD), "{ran}");
}

#[test]
fn a_pipe_that_begins_and_does_not_end_is_an_error() {
    let home = Home::new();
    let mut art = home.command(&["run", ABOUT_SALES]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(SALES.as_bytes()).unwrap();
    let ran = Ran(art.stdin(reader).output().unwrap());
    drop(writer);
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(ran.stderr().contains("stdin began and then gave nothing"), "{ran}");
}

#[test]
fn whoever_asks_for_stdin_waits_for_it() {
    let home = Home::new();
    let mut art = home.start(&["run", "--attach", "-", ABOUT_SALES]);
    let mut stdin = art.stdin.take().unwrap();
    // Longer than an unasked pipe is waited for.
    std::thread::sleep(Duration::from_millis(3_500));
    stdin.write_all(SALES.as_bytes()).unwrap();
    drop(stdin);
    Ran(art.wait_with_output().unwrap()).answers(&["South", "400"]);
}

#[test]
fn a_stdin_that_was_asked_for_has_to_hold_something_and_to_end() {
    let home = Home::new();
    let (empty, endless) = ("it is empty", "has more than the 1048576 bytes allowed");
    for (stdin, told) in [("/dev/null", empty), ("/dev/zero", endless)] {
        let mut art = home.command(&["run", "--attach", "-", ABOUT_WORDS]);
        let ran = Ran(art.stdin(File::open(stdin).unwrap()).output().unwrap());
        assert_eq!(ran.code(), 2, "{stdin}: {ran}");
        assert!(ran.stderr().contains(told), "{stdin}: {ran}");
    }
}

#[test]
fn a_pipe_without_end_is_refused() {
    let home = Home::new();
    let mut endless = std::process::Command::new("cat")
        .arg("/dev/zero")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut art = home.command(&["run", ABOUT_WORDS]);
    let ran = Ran(art.stdin(endless.stdout.take().unwrap()).output().unwrap());
    // It holds the pipe open as long as it is there.
    drop(art);
    endless.wait().unwrap();
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(
        ran.stderr().contains("has more than the 1048576 bytes allowed"),
        "{ran}"
    );
}
