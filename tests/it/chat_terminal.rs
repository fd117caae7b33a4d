//! `art chat` as a person sees it: at a terminal, which `script` of util-linux makes.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::harness::components;
use crate::home::Home;
use crate::models::drawing;
use crate::provider::{Provider, Reply, is_synthesis, plan};

/// What the editor writes before it waits for a line.
const PROMPT: &str = "> ";

/// A person at a terminal.
struct Terminal {
    child: Child,
    seen: String,
    /// Up to where the person has read.
    read: usize,
}

impl Terminal {
    /// Starts the program in place of the shell, which Ctrl-C would end as well.
    fn start(home: &Home, args: &[&str]) -> Self {
        Self::start_in_shell(home, args, |art| format!("exec {art}"))
    }

    /// Runs what `script` makes of the command.
    fn start_in_shell(home: &Home, args: &[&str], script: impl Fn(&str) -> String) -> Self {
        let art = home.command(args);
        let words: Vec<_> = [art.get_program()].into_iter().chain(art.get_args()).collect();
        let words: Vec<_> = words
            .into_iter()
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        let command = script(&words.join(" "));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &command, "/dev/null"]);
        for (name, value) in art.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.env("SHELL", "/bin/sh").env("TERM", "xterm");
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self {
            child: script.spawn().expect("`script` of util-linux is there"),
            seen: String::new(),
            read: 0,
        }
    }

    /// Reads on until `text` appears.
    fn until(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            let unread = self.seen.get(self.read..).unwrap();
            if let Some(at) = unread.find(text) {
                self.read += at + text.len();
                return;
            }
            let read = self.child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
            assert_ne!(read, 0, "`{text}` does not appear: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(bytes.get(..read).unwrap()));
        }
    }

    /// Reads on until the first question can be typed.
    fn until_asked(&mut self) {
        self.until("Ctrl-D leaves");
        self.until(PROMPT);
    }

    fn types(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// Returns the rest of what is seen, and the exit code.
    fn ends(mut self) -> (String, i32) {
        let mut rest = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        (self.seen + &rest, code)
    }
}

#[test]
fn a_person_asks_is_answered_once_and_leaves() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until_asked();
    terminal.types("What is 2+2?\r");
    terminal.until("2+2: 4\r\n");
    terminal.until(PROMPT);
    terminal.types("\x03");
    terminal.until("to leave, press Ctrl-D or type /exit");
    terminal.until(PROMPT);
    terminal.types("\x04");
    let (seen, code) = terminal.ends();
    assert_eq!((seen.matches("2+2: 4").count(), code), (1, 0), "{seen}");
    let memory = home.dir.path().join("state/chat_history");
    assert!(std::fs::read_to_string(&memory).unwrap().contains("What is 2+2?"));
    assert_eq!(memory.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_typed_while_the_program_starts_is_not_lost() {
    let home = Home::fresh();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until("compiling 1 tool for this machine, once");
    terminal.types("What is 2+2?\rWhat is 3+3?\r/exi");
    terminal.until("2+2: 4\r\n");
    terminal.until("3+3: 6\r\n");
    terminal.until(PROMPT);
    terminal.types("t\r");
    let (seen, code) = terminal.ends();
    assert_eq!(code, 0, "{seen}");
}

#[test]
fn an_answer_appears_while_it_is_written_and_can_be_stopped() {
    let provider = Provider::start(|request| match is_synthesis(request) {
        true => Reply::Hang("<mainContent>The beginning of an answer that never ends"),
        false => Reply::Text(vec![plan(&json!([]))]),
    });
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "chat"];
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &args);
    terminal.until_asked();
    terminal.types("Hello\r");
    terminal.until("The beginning of an answer");
    terminal.types("\x03");
    terminal.until("stopping; press again to stop at once");
    terminal.until("The run was cancelled");
    terminal.until(PROMPT);
    terminal.types("/exit\r");
    let (seen, code) = terminal.ends();
    assert_eq!(code, 0, "{seen}");
}

/// Returns the process that `art` runs as: the last in the line of the children of `script`.
fn art_of(terminal: &Terminal) -> Pid {
    let children = |process: u32| {
        let path = format!("/proc/{process}/task/{process}/children");
        let text = std::fs::read_to_string(path).unwrap();
        text.split_whitespace()
            .next()
            .map(|child| child.parse::<u32>().unwrap())
    };
    let mut process = terminal.child.id();
    while let Some(child) = children(process) {
        process = child;
    }
    Pid::from_raw(process.try_into().unwrap()).unwrap()
}

#[test]
fn the_signal_to_end_ends_a_conversation_during_a_run() {
    let provider = Provider::start(|_| Reply::Hang("---JSON"));
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "chat"];
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &args);
    terminal.until_asked();
    terminal.types("Hello\r");
    provider.request();
    kill_process(art_of(&terminal), Signal::TERM).unwrap();
    terminal.until("The run was cancelled");
    let (seen, code) = terminal.ends();
    assert_eq!(code, 130, "{seen}");
}

#[test]
fn the_signal_to_end_leaves_the_terminal_as_it_was() {
    let home = Home::new();
    // The shell stays, and says how the terminal was left.
    let mut terminal = Terminal::start_in_shell(&home, &["chat"], |art| format!("{art}; stty -a"));
    terminal.until_asked();
    kill_process(art_of(&terminal), Signal::TERM).unwrap();
    let (seen, _) = terminal.ends();
    assert!(seen.contains(" icanon ") && seen.contains(" echo "), "{seen}");
    let [on, off] = ["\x1b[?2004h", "\x1b[?2004l"].map(|marks| seen.rfind(marks));
    assert!(on.is_some() && on < off, "what is pasted is still marked: {seen:?}");
}

#[test]
fn what_a_tool_says_of_its_work_is_on_the_line_of_its_step() {
    // It waits until it is stopped.
    let arguments = json!({"title": "row\u{1b}[2Js", "ms": 600_000});
    let provider = Provider::calling("tells_progress", arguments, "Done.");
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "run", "Hi"];
    let home = Home::new();
    home.add("tells_progress", components::TELLS_PROGRESS);
    let mut terminal = Terminal::start(&home, &args);
    terminal.until("Count: row\\u{1b}[2Js (50 %)");
    terminal.types("\x03");
    terminal.until("The run was cancelled");
    let (seen, code) = terminal.ends();
    assert!(!seen.contains("a moment ago"), "{seen}");
    assert_eq!(code, 130, "{seen}");
}

#[test]
fn one_question_streams_on_a_terminal_as_well() {
    let provider = Provider::answering(&["<mainContent>Hello ", "there, ", "you.</mainContent>"]);
    let args = [
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "run",
        "Hello",
    ];
    let home = Home::new();
    let (seen, code) = Terminal::start(&home, &args).ends();
    assert_eq!((seen.matches("Hello there, you.\r\n").count(), code), (1, 0), "{seen}");
}

#[test]
fn a_store_that_fails_while_an_answer_streams_leaves_its_error_a_line_of_its_own() {
    let provider = Provider::start(|request| match is_synthesis(request) {
        true => {
            // What is after the answer is not shown, but stored.
            let answer = "<mainContent>The beginning</mainContent>".to_owned();
            let more = vec!["x".repeat(100_000); 20];
            Reply::Text([answer].into_iter().chain(more).collect())
        }
        false => Reply::Text(vec![plan(&json!([]))]),
    });
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url];
    for verb in [&["run", "Hello"][..], &["chat"]] {
        let home = Home::new();
        // Compiled code would be too large as well.
        std::fs::remove_dir_all(home.plugins()).unwrap();
        std::fs::create_dir(home.plugins()).unwrap();
        // No file may have more than 1 MiB, the store's neither; the logs of that would stand between the two.
        let limited = |art: &str| format!("trap '' XFSZ; ulimit -f 2048; export ART_LOG=off; exec {art}");
        let mut terminal = Terminal::start_in_shell(&home, &[&args, verb].concat(), limited);
        if verb == ["chat"] {
            terminal.until(PROMPT);
            terminal.types("Hello\r");
        }
        terminal.until("The beginning\r\nerror: ");
        if verb == ["chat"] {
            terminal.until(PROMPT);
            terminal.types("/exit\r");
        }
        let (seen, code) = terminal.ends();
        assert_eq!(code, if verb == ["chat"] { 0 } else { 6 }, "{seen}");
    }
}

#[test]
fn what_a_tool_draws_stands_once_above_the_answer_that_streams() {
    let (home, provider) = drawing();
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let terminal = Terminal::start(&home, &[&model[..], &["run", "Draw it"]].concat());
    let (seen, code) = terminal.ends();
    assert_eq!(code, 0, "{seen}");
    let places: Vec<_> = seen.match_indices("walrus-14").map(|(at, _)| at).collect();
    let [drawn] = places[..] else { panic!("{seen}") };
    assert!(drawn < seen.find("There it is.").unwrap(), "{seen}");
}
