//! Text on stdin, from a pipe or a file, which `art run` attaches to the question.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::home::Home;
use crate::program::CommandOutput;

const WORD_QUESTION: &str = "How many words are in this text?";
const SALES_QUESTION: &str = "Which region has the highest total revenue in this table?";
const SALES: &str = "region,units,revenue\nNorth,9,120\nSouth,2,340\nNorth,4,90\nSouth,1,60\n";
/// The beginning of the note that `art` prints when it ignores a pipe without data.
const NOTE_ABOUT_SILENT_PIPE: &str = "stdin is a pipe without data";

#[test]
fn piped_text_is_attached_to_the_question() {
    let home = Home::new();
    home.art_with_input(&["run", WORD_QUESTION], "To be or not to be, that is the question.")
        .assert_answers(&["text: 10"]);
    home.art_with_input(&["run", SALES_QUESTION], SALES)
        .assert_answers(&["South", "400"]);
    home.art_with_input(&["run", "--attach", "-", SALES_QUESTION], SALES)
        .assert_answers(&["South", "400"]);
}

#[test]
fn a_file_as_stdin_is_attached_to_the_question() {
    let home = Home::new();
    let sales = home.file("sales.csv", SALES);
    let mut art = home.command(&["run", SALES_QUESTION]);
    CommandOutput(art.stdin(File::open(sales).unwrap()).output().unwrap()).assert_answers(&["South", "400"]);
}

#[test]
fn a_file_of_which_another_program_has_read_a_part_is_not_read() {
    let home = Home::new();
    let first_line = "What is 2+2?\n";
    let mut file = File::open(home.file("questions.txt", &format!("{first_line}What is 3+3?\n"))).unwrap();
    let position = first_line.len() as u64;
    // The first line was read already, as in a shell loop that reads a line and then runs `art`.
    file.seek(SeekFrom::Start(position)).unwrap();
    let mut art = home.command(&["run", "What is 2+2?"]);
    CommandOutput(art.stdin(file.try_clone().unwrap()).output().unwrap()).assert_answers(&["4"]);
    assert_eq!(file.stream_position().unwrap(), position);
}

#[test]
fn empty_pipes_blank_files_and_devices_are_not_attached() {
    let home = Home::new();
    let blank = home.file("blank", " \n");
    for stdin in [blank.to_str().unwrap(), "/dev/null", "/dev/zero"] {
        let mut art = home.command(&["--json", "run", "What is 2+2?"]);
        let ran = CommandOutput(art.stdin(File::open(stdin).unwrap()).output().unwrap());
        assert_eq!(ran.json()["answer"], "2+2: 4", "{stdin}: {ran}");
        assert_eq!(ran.stderr(), "", "{stdin}");
    }
    home.art_with_input(&["run", "What is 2+2?"], "").assert_answers(&["4"]);
}

#[test]
fn a_pipe_without_data_does_not_block_a_question() {
    let home = Home::new();
    let mut art = home.command(&["run", "What is 2+2?"]);
    let (reader, writer) = std::io::pipe().unwrap();
    let ran = CommandOutput(art.stdin(reader).output().unwrap());
    drop(writer);
    ran.assert_answers(&["4"]);
    assert!(ran.stderr().contains(NOTE_ABOUT_SILENT_PIPE), "{ran}");
}

#[test]
fn a_pipe_that_stalls_after_its_first_data_is_an_error() {
    let home = Home::new();
    let mut art = home.command(&["run", SALES_QUESTION]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(SALES.as_bytes()).unwrap();
    let ran = CommandOutput(art.stdin(reader).output().unwrap());
    drop(writer);
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(ran.stderr().contains("stdin stalled"), "{ran}");
}

#[test]
fn attach_dash_waits_for_stdin() {
    let home = Home::new();
    let mut art = home.start(&["run", "--attach", "-", SALES_QUESTION]);
    let mut stdin = art.stdin.take().unwrap();
    // The delay is longer than the time after which a silent pipe is ignored without `--attach -`.
    std::thread::sleep(Duration::from_millis(3_500));
    stdin.write_all(SALES.as_bytes()).unwrap();
    drop(stdin);
    CommandOutput(art.wait_with_output().unwrap()).assert_answers(&["South", "400"]);
}

#[test]
fn attach_dash_refuses_empty_and_endless_input() {
    let home = Home::new();
    let (empty, endless) = ("stdin is empty", "has more than the 1048576 bytes allowed");
    for (stdin, message) in [("/dev/null", empty), ("/dev/zero", endless)] {
        let mut art = home.command(&["run", "--attach", "-", WORD_QUESTION]);
        let ran = CommandOutput(art.stdin(File::open(stdin).unwrap()).output().unwrap());
        assert_eq!(ran.code(), 2, "{stdin}: {ran}");
        assert!(ran.stderr().contains(message), "{stdin}: {ran}");
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
    let mut art = home.command(&["run", WORD_QUESTION]);
    let ran = CommandOutput(art.stdin(endless.stdout.take().unwrap()).output().unwrap());
    // The command object holds the reading end of the pipe open. If it were not dropped, `cat` would wait for ever.
    drop(art);
    endless.wait().unwrap();
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(
        ran.stderr().contains("has more than the 1048576 bytes allowed"),
        "{ran}"
    );
}
