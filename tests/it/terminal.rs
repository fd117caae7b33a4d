//! Runs `art` at a terminal. The terminal is provided by the program `script` of util-linux.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::home::Home;

/// Maximum time for which a program at a terminal may write nothing.
const OUTPUT_TIMEOUT: Timespec = Timespec {
    tv_sec: 120,
    tv_nsec: 0,
};

/// The prompt of the line editor of `art chat`.
pub(crate) const PROMPT: &str = "> ";

/// A program at a terminal, and its output so far.
pub(crate) struct Terminal {
    child: Child,
    output: String,
    /// The first bytes of a character whose other bytes have not been read yet.
    partial_character: Vec<u8>,
    /// Number of bytes of `output` that the test has consumed.
    consumed: usize,
}

impl Terminal {
    /// Starts `art`. It replaces the shell that `script` starts (`exec`), because Ctrl-C would end that shell too.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        Self::start_in_shell(home, args, |art| format!("exec {art}"))
    }

    /// Starts a shell with the commands that `to_shell_commands` returns for the command line of `art`.
    pub(crate) fn start_in_shell(home: &Home, args: &[&str], to_shell_commands: impl Fn(&str) -> String) -> Self {
        let art = home.command(args);
        let words: Vec<_> = [art.get_program()].into_iter().chain(art.get_args()).collect();
        let words: Vec<_> = words
            .into_iter()
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        let commands = to_shell_commands(&words.join(" "));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &commands, "/dev/null"]);
        for (name, value) in art.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.env("SHELL", "/bin/sh").env("TERM", "xterm");
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self {
            child: script.spawn().expect("`script` of util-linux is installed"),
            output: String::new(),
            partial_character: Vec::new(),
            consumed: 0,
        }
    }

    /// Reads the output until `text` appears.
    pub(crate) fn until(&mut self, text: &str) {
        loop {
            let unconsumed = self.output.get(self.consumed..).unwrap();
            if let Some(at) = unconsumed.find(text) {
                self.consumed += at + text.len();
                return;
            }
            assert!(self.read_more(text), "`{text}` does not appear: {}", self.output);
        }
    }

    /// Reads more of the output, and returns whether there was more. Panics if nothing is written for a long time, so that a test
    /// with a wrong text does not wait forever.
    fn read_more(&mut self, expected: &str) -> bool {
        let stdout = self.child.stdout.as_mut().unwrap();
        let ready = poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&OUTPUT_TIMEOUT)).unwrap();
        assert_ne!(ready, 0, "nothing is written before `{expected}`: {}", self.output);
        let mut bytes = [0; 4096];
        let read = stdout.read(&mut bytes).unwrap();
        self.partial_character.extend_from_slice(bytes.get(..read).unwrap());
        // Move all complete characters to the output. The rest of the last one may not have been read yet, so its bytes stay.
        let complete_bytes = match std::str::from_utf8(&self.partial_character) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.partial_character.len(),
        };
        let text: Vec<_> = self.partial_character.drain(..complete_bytes).collect();
        self.output.push_str(&String::from_utf8_lossy(&text));
        read > 0
    }

    /// Reads the output until the first prompt.
    pub(crate) fn until_first_prompt(&mut self) {
        self.until("Ctrl-D leaves");
        self.until(PROMPT);
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// Waits for the end of the program. Returns the whole output and the exit code.
    pub(crate) fn wait(mut self) -> (String, i32) {
        while self.read_more("the end") {}
        let code = self.child.wait().unwrap().code().unwrap();
        (self.output, code)
    }

    /// Returns the process of `art`: the innermost child process of `script`.
    pub(crate) fn art_process(&self) -> Pid {
        let children = |process: u32| {
            let path = format!("/proc/{process}/task/{process}/children");
            let text = std::fs::read_to_string(path).unwrap();
            text.split_whitespace()
                .next()
                .map(|child| child.parse::<u32>().unwrap())
        };
        let mut process = self.child.id();
        while let Some(child) = children(process) {
            process = child;
        }
        Pid::from_raw(process.try_into().unwrap()).unwrap()
    }
}
