//! `art chat` with a pipe as its input.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{BEGINNING_OF_PLAN, Provider, Reply};

/// Makes the program kill itself when it has announced its first call in the journal, so that the run is interrupted.
const KILLED_BEFORE_CALL: [(&str, &str); 1] = [("ART_TEST_STOP_AT", "after_intents:1")];

/// Runs a conversation with these lines as its input.
fn chat(home: &Home, lines: &[&str]) -> CommandOutput {
    home.art_with_input(&["chat"], &lines.join("\n"))
}

/// Returns the identifier of the conversation, if the last line of the input was `/thread`, which prints it.
fn printed_thread_id(ran: &CommandOutput) -> String {
    ran.stdout().lines().last().unwrap().to_owned()
}

#[test]
fn a_person_can_switch_between_conversations() {
    let home = Home::new();
    let first = printed_thread_id(&chat(&home, &["What is 2+2?", "/thread"]));
    let back = format!("/thread {first}");
    let ran = chat(
        &home,
        &[
            "What is 3+3?",
            "/thread new",
            &back,
            "What is that times 10?",
            "/history",
        ],
    );
    assert!(ran.stdout().contains("> What is 2+2?"), "{}", ran.stdout());
    assert!(!ran.stdout().contains("> What is 3+3?"), "{}", ran.stdout());
    assert!(ran.stdout().contains("40"), "{}", ran.stdout());
}

#[test]
fn the_same_question_twice_calls_its_tool_twice() {
    let home = Home::new();
    let questions = ["What is 2+2?", "What is 2+2?", "What is that times 10?"];
    let ran = home.art_with_input(&["chat", "--json"], &questions.join("\n"));
    let events = events(&ran);
    let reports = events.iter().map(|event| &event["data"]);
    let reports: Vec<_> = reports.filter(|report| report["answer"].is_string()).collect();
    assert_eq!(reports.len(), 3, "{}", ran.stdout());
    for report in &reports {
        let calls_and_steps = ["calls", "steps"].map(|list| report[list].as_array().unwrap().len());
        assert_eq!(calls_and_steps, [1, 1], "{report}");
        assert_eq!(report["metadata"]["llmCalls"], 2, "{report}");
    }
    assert!(reports[2]["answer"].as_str().unwrap().contains("40"), "{}", reports[2]);
}

/// Returns every line of stdout as JSON.
fn events(ran: &CommandOutput) -> Vec<Value> {
    let stdout = ran.stdout();
    let lines = stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn each_line_is_a_question_of_one_conversation() {
    let home = Home::new();
    let ran = chat(&home, &["What is 2+2?", "", "What is that times 10?", "/history"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(ran.stdout().starts_with("2+2: 4\n"), "{}", ran.stdout());
    assert!(ran.stdout().contains("40"), "{}", ran.stdout());
    assert!(ran.stdout().ends_with(HISTORY), "{}", ran.stdout());
    let threads = home.art(&["--json", "thread", "list"]).json();
    assert_eq!(threads.as_array().unwrap().len(), 1);
}

/// The output of `/history` in [`each_line_is_a_question_of_one_conversation`].
const HISTORY: &str = "> What is 2+2?

2+2: 4

> What is that times 10?

That times 10: 40
";

#[test]
fn a_follow_up_costs_two_model_calls_and_calls_its_tools_again() {
    let questions = [
        "What is 2+2?",
        "What is 2+2?",
        "What is that times 10?",
        "What is that times 10?",
        "How many kilograms are 150 pounds? What is the result divided by 3?",
        "What is 2+2?",
    ];
    let ran = Home::new().art_with_input(&["chat", "--json"], &questions.join("\n"));
    let events = events(&ran);
    let reports: Vec<&Value> = events.iter().filter(|event| event["type"] == "REPORT").collect();
    assert_eq!(reports.len(), questions.len(), "{ran}");
    for (report, question) in reports.iter().zip(questions) {
        let report = &report["data"];
        assert_eq!(report["metadata"]["llmCalls"], 2, "{report}");
        // One call for each part of the question.
        assert_eq!(
            report["metadata"]["toolCalls"],
            question.matches('?').count(),
            "{report}"
        );
    }
    assert_eq!(reports[3]["data"]["answer"], "That times 10: 400");
}

#[test]
fn the_first_line_says_what_the_model_cannot_do() {
    let ran = chat(&Home::new(), &["/exit", "What is 2+2?"]);
    assert!(ran.stderr().starts_with("model embedded:lexical: "), "{}", ran.stderr());
    assert!(ran.stderr().contains("it cannot chat"), "{}", ran.stderr());
    assert_eq!((ran.code(), ran.stdout().as_str()), (0, ""));
}

#[test]
fn the_exit_code_is_the_worst_of_all_lines() {
    let home = Home::new();
    let unanswered = "Who won the football world cup in 2018?";
    // A question that no tool fits (4) is worse than an answered one (0), and a wrong command (2) is worse than both.
    assert_eq!(chat(&home, &["What is 2+2?", unanswered, "What is 3+3?"]).code(), 4);
    assert_eq!(chat(&home, &[unanswered, "/nonsense"]).code(), 2);
}

#[test]
fn an_error_is_reported_and_the_conversation_continues() {
    let ran = chat(
        &Home::new(),
        &["/hlep", "/thread nobody", "/attach nothing.csv", "What is 2+2?"],
    );
    assert_eq!(ran.stdout(), "2+2: 4\n");
    for error in [
        "error: there is no command `/hlep`; did you mean `/help`?",
        "error: there is no thread `nobody`; `art thread list` shows all",
        "error: failed to open `nothing.csv`",
    ] {
        assert!(ran.stderr().contains(error), "`{error}` is missing: {}", ran.stderr());
    }
}

#[test]
fn an_unreadable_line_is_reported_and_the_conversation_continues() {
    let too_long_line = "x".repeat(2 << 20);
    let lines = [b"\xff\n", too_long_line.as_bytes(), b"\nWhat is 2+2?\n"].concat();
    let home = Home::new();
    let mut chat = home.start(&["chat", "--json"]);
    chat.stdin.take().unwrap().write_all(&lines).unwrap();
    let ran = CommandOutput(chat.wait_with_output().unwrap());
    let events = events(&ran);
    assert_eq!(
        (&events[0]["type"], &events[1]["type"]),
        (&"ERROR".into(), &"ERROR".into())
    );
    assert_eq!(events.last().unwrap()["data"]["answer"], "2+2: 4");
    assert_eq!(ran.code(), 2);
}

#[test]
fn a_conversation_that_cannot_start_prints_one_json_error() {
    let home = Home::new();
    for (args, code) in [
        (&["chat", "--json", "--thread", "nobody"][..], 1),
        (&["--model", "nobody:nothing", "chat", "--json"], 6),
    ] {
        let ran = home.art_with_input(args, "What is 2+2?\n");
        let events = events(&ran);
        assert_eq!((events.len(), &events[0]["type"]), (1, &"ERROR".into()), "{events:?}");
        assert!(
            events[0]["data"]["message"].as_str().unwrap().contains("nobody"),
            "{events:?}"
        );
        assert_eq!(ran.code(), code);
    }
}

#[test]
fn a_file_is_attached_to_the_next_question_only() {
    let home = Home::new();
    let csv = home.file("sales.csv", "region,sales\nNorth,120\nSouth,340\n");
    let attach = format!("/attach {}", csv.display());
    let question = "Which region has the highest total sales in this table?";
    let ran = chat(&home, &[&attach, question, "/thread new", question]);
    assert!(ran.stdout().contains("South"), "{}", ran.stdout());
    assert_ne!(ran.code(), 0, "the second question has no table: {}", ran.stdout());
}

#[test]
fn attached_files_have_a_limit_in_total_and_can_be_removed() {
    let home = Home::new();
    let pdf = format!("%PDF-1.7\n{}", " ".repeat(4 << 20));
    let attach = |name: &str| format!("/attach {}", home.file(name, &pdf).display());
    let (a, b, c) = (attach("a.pdf"), attach("b.pdf"), attach("c.pdf"));
    // Two of the files can be attached at once, but not three. A file that is attached again replaces its earlier attachment.
    let ran = chat(
        &home,
        &[&a, &b, &b, &c, "/attach none", &c, "/attach none", "/attach none"],
    );
    assert_eq!(
        ran.stderr().matches("bytes allowed; attach fewer files").count(),
        1,
        "{}",
        ran.stderr()
    );
    let expected = [
        "`a.pdf` will be sent with the next question",
        "`b.pdf` will be sent with the next question",
        "`b.pdf` will be sent with the next question",
        "removed `a.pdf`, `b.pdf`",
        "`c.pdf` will be sent with the next question",
        "removed `c.pdf`",
        "nothing was attached",
    ];
    assert_eq!(ran.stdout().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn commands_show_the_tools_the_model_the_thread_and_the_cost() {
    let ran = chat(
        &Home::new(),
        &["/help", "/tools", "/model", "/thread", "What is 2+2?", "/cost"],
    );
    for shown in [
        "/model [PROVIDER[:MODEL]]",
        "calculator  ",
        "model embedded:lexical: ",
        "none yet",
        "last question: 2 model calls, 1 tool call, ",
        "this session: ",
    ] {
        assert!(ran.stdout().contains(shown), "`{shown}` is missing: {}", ran.stdout());
    }
}

#[test]
fn a_switch_to_an_unknown_model_keeps_the_current_one() {
    let ran = chat(&Home::new(), &["/model nobody:nothing", "What is 2+2?"]);
    assert!(ran.stderr().contains("`nobody`"), "{}", ran.stderr());
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, "2+2: 4\n"));
}

#[test]
fn a_conversation_is_continued_by_its_identifier() {
    let home = Home::new();
    let first = home.art(&["--json", "run", "What is 2+2?"]).json();
    let thread = first["threadId"].as_str().unwrap();
    let ran = home.art_with_input(&["chat", "--thread", thread], "What is that times 10?\n/thread\n");
    assert!(ran.stdout().contains("40"), "{}", ran.stdout());
    assert!(ran.stdout().ends_with(&format!("{thread}\n")), "{}", ran.stdout());
    let unknown = home.art_with_input(&["chat", "--thread", "nobody"], "What is 2+2?\n");
    assert_eq!((unknown.code(), unknown.stdout().as_str()), (1, ""));
}

#[test]
fn json_output_has_a_line_for_each_event_and_each_report() {
    let ran = Home::new().art_with_input(&["chat", "--json"], "What is 2+2?\n/nonsense\n/tools\n");
    let events = events(&ran);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let report_at = kinds.iter().position(|kind| *kind == "REPORT").unwrap();
    for kind in ["TOKEN", "METADATA", "END"] {
        assert!(kinds[..report_at].contains(&kind), "{kinds:?}");
    }
    assert_eq!(kinds[report_at..], ["REPORT", "ERROR", "NOTE"]);
    assert_eq!(events[report_at]["data"]["answer"], "2+2: 4");
    assert_eq!(events[0]["phase"], "planning");
    assert_eq!(events[0]["tokenType"], "PLANNING_LLM_RESPONSE");
    assert_eq!(events[0]["traceId"], events[report_at]["data"]["traceId"]);
    assert_eq!(ran.stderr(), "");
}

#[test]
fn stdout_contains_only_the_answer() {
    let ran = chat(&Home::new(), &["What is 2+2?"]);
    assert_eq!(ran.stdout(), "2+2: 4\n");
}

/// Runs `art chat` with a model that does not finish its first reply, and sends `signal` to `art` while further lines wait in the
/// pipe.
fn send_signal_during_run(home: &Home, signal: Signal) -> CommandOutput {
    let provider = Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN));
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "chat"];
    let mut chat = home.start(&args);
    let mut stdin = chat.stdin.take().unwrap();
    stdin.write_all(b"Hello\n/model embedded\nWhat is 2+2?\n").unwrap();
    provider.next_request();
    kill_process(Pid::from_child(&chat), signal).unwrap();
    // The pipe stays open, so that only the signal can end the conversation.
    let ran = CommandOutput(chat.wait_with_output().unwrap());
    drop(stdin);
    ran
}

#[test]
fn a_signal_cancels_the_run_and_ends_a_piped_conversation() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let ran = send_signal_during_run(&home, signal);
        assert_eq!(ran.code(), 130, "{}", ran.stderr());
        let stopping = "stopping; press again to stop immediately\n";
        assert!(ran.stderr().contains(stopping), "{}", ran.stderr());
        assert!(ran.stdout().starts_with("The run was cancelled"), "{}", ran.stdout());
        assert!(!ran.stdout().contains("2+2"), "{}", ran.stdout());
        // The run has ended in the store too.
        let runs = home.art(&["--json", "runs", "list"]).json();
        assert_eq!(runs[0]["status"], "cancelled", "{runs}");
    }
}

#[test]
fn resume_in_a_chat_continues_the_interrupted_run_of_its_conversation() {
    let home = Home::new();
    let report = home.art(&["--json", "run", "What is 1+1?"]).json();
    let thread = report["threadId"].as_str().unwrap();
    for args in [
        &["run", "--thread", thread, "What is 2+2?"][..],
        &["run", "What is 3+3?"],
    ] {
        let killed = home.art_with_environment(args, &KILLED_BEFORE_CALL);
        assert!(killed.0.status.code().is_none(), "{args:?}");
    }
    let resumed = home.art_with_input(&["chat", "--thread", thread], "/resume\n");
    assert_eq!(
        (resumed.code(), resumed.stdout().as_str()),
        (0, "2+2: 4\n"),
        "{resumed}"
    );
    // A chat that has no conversation yet resumes the newest interrupted run of all conversations.
    let other = home.art_with_input(&["chat"], "/resume\n/thread\n");
    assert!(other.stdout().starts_with("3+3: 6\n"), "{other}");
    assert!(!other.stdout().contains(thread), "{other}");
}

#[test]
fn switching_to_a_conversation_names_its_interrupted_run() {
    let home = Home::new();
    home.art_with_environment(&["run", "What is 2+2?"], &KILLED_BEFORE_CALL);
    let switched = home.art_with_input(&["chat"], "/thread last\n");
    let note = "goes on with it; a question in this conversation ends it";
    assert!(switched.stderr().contains(note), "{switched}");
}

#[test]
fn resume_in_a_chat_is_an_error_if_no_run_was_interrupted() {
    let home = Home::new();
    let lines = "/resume\nWhat is 2+2?\n/resume\n";
    let ran = home.art_with_input(&["chat"], lines);
    assert_eq!(ran.code(), 1, "{ran}");
    for part in [
        "no run was interrupted",
        "no run of this conversation was interrupted; `/resume RUN`",
    ] {
        assert!(ran.stderr().contains(part), "`{part}` is missing: {ran}");
    }
}

#[test]
fn resuming_a_run_in_a_json_chat_prints_one_report() {
    let home = Home::new();
    home.art_with_environment(&["run", "What is 2+2?"], &KILLED_BEFORE_CALL);
    let ran = home.art_with_input(&["--json", "chat"], "/resume\n");
    let reports = ran
        .stdout()
        .lines()
        .filter(|line| line.contains(r#""type":"REPORT""#))
        .count();
    assert_eq!((ran.code(), reports), (0, 1), "{ran}");
}
