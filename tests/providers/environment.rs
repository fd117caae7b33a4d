//! The environment of one test: a mock, a home (the folder in which `art` keeps its files), and the program `art`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::components;
use crate::connection::{Connection, KEY, Mode};
use crate::fixture::{Fixture, QUERY};
use crate::mock::{Mock, Request};
use crate::program::{self, CommandOutput};

/// A mock of one provider and a home that uses it.
#[derive(Debug)]
pub(crate) struct Environment {
    connection: Connection,
    pub(crate) mock: Mock,
    home: TempDir,
}

impl Environment {
    /// Starts a mock that has `fixtures` and accepts the key of the program.
    pub(crate) fn new(connection: Connection, mode: Mode, fixtures: &[Fixture]) -> Self {
        Self::with_key(connection, mode, fixtures, connection.key.map(|_| KEY))
    }

    /// Starts a mock that accepts `key`. The program uses [`KEY`] if its provider needs a key.
    pub(crate) fn with_key(connection: Connection, mode: Mode, fixtures: &[Fixture], key: Option<&str>) -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("plugins")).unwrap();
        let (_, calculator) = components::PLUGINS
            .iter()
            .find(|(name, _)| *name == "calculator")
            .unwrap();
        fs::copy(calculator, home.path().join("plugins/calculator.wasm")).unwrap();
        fs::write(home.path().join("art.toml"), settings(connection, mode)).unwrap();
        let mock = Mock::start(home.path(), fixtures, key);
        Self { connection, mock, home }
    }

    /// Appends settings to `art.toml`. The file ends with the table of the provider, so settings without a table header are
    /// settings of the provider.
    pub(crate) fn configure(&self, settings: &str) {
        let path = self.home.path().join("art.toml");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + settings).unwrap();
    }

    /// Runs `art run` with [`QUERY`].
    pub(crate) fn run(&self, flags: &[&str]) -> CommandOutput {
        self.art(&[&["run"], flags, &[QUERY]].concat())
    }

    /// Runs `art chat` with `lines` as its input.
    pub(crate) fn chat(&self, lines: &str) -> CommandOutput {
        self.art_with_input(lines, &["chat"])
    }

    /// Runs `art run` with [`QUERY`] at a terminal, which `script` of util-linux provides.
    pub(crate) fn run_at_terminal(&self) -> CommandOutput {
        let art = self.command();
        let words = [art.get_program()].into_iter().chain(art.get_args());
        let mut words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        words.extend(["run".to_owned(), format!("'{QUERY}'")]);
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &words.join(" "), "/dev/null"]);
        for (name, value) in art.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.env("SHELL", "/bin/sh").env("TERM", "xterm").stdin(Stdio::null());
        CommandOutput(script.output().unwrap())
    }

    /// Runs `art` with this provider.
    pub(crate) fn art(&self, args: &[&str]) -> CommandOutput {
        self.art_with_input("", args)
    }

    /// Runs `art` with `lines` as its input, and checks that it does not leak the key.
    fn art_with_input(&self, lines: &str, args: &[&str]) -> CommandOutput {
        let input = self.home.path().join("stdin");
        fs::write(&input, lines).unwrap();
        let mut command = self.command();
        command.args(args).stdin(fs::File::open(input).unwrap());
        let ran = CommandOutput(command.output().unwrap());
        if self.connection.key.is_some() {
            self.assert_key_is_not_leaked(&ran);
        }
        ran
    }

    fn command(&self) -> Command {
        let Connection {
            provider,
            model,
            base_path,
            ..
        } = self.connection;
        let mut command = program::art(self.home.path());
        command.envs(self.connection.key.map(|(variable, _)| (variable, KEY)));
        command.args(["--model", &format!("{provider}:{model}")]);
        command.args(["--base-url", &format!("{}{base_path}", self.mock.url())]);
        command
    }

    fn assert_key_is_not_leaked(&self, ran: &CommandOutput) {
        for (name, bytes) in [("stdout", &ran.0.stdout), ("stderr", &ran.0.stderr)] {
            assert!(!contains(bytes, KEY), "the key is on {name}:\n{ran}");
        }
        for path in files(&self.home.path().join("state")) {
            assert!(
                !contains(&fs::read(&path).unwrap(), KEY),
                "the key is in `{}`",
                path.display()
            );
        }
    }

    /// Returns the requests that the mock answered.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.mock.requests()
    }

    /// Returns the requests as text, for the message of a failed test.
    pub(crate) fn log(&self) -> String {
        let lines = self.requests().into_iter().map(|request| {
            let last_message = request.messages().last().map(Value::to_string).unwrap_or_default();
            let start: String = last_message.chars().take(200).collect();
            format!("{} {} {start}\n", request.status(), request.path())
        });
        lines.collect()
    }
}

/// Returns the configuration. Its timeouts are short, since the mock's faults last longer than a test should.
fn settings(connection: Connection, mode: Mode) -> String {
    let api = connection
        .api
        .map(|api| format!("api = \"{api}\"\n"))
        .unwrap_or_default();
    format!(
        "[models]\nheader_timeout_ms = 3000\nidle_timeout_ms = 3000\nretry_base_ms = 50\n\n[providers.{}]\n{api}stream = {}\n",
        connection.provider,
        mode == Mode::Streaming
    )
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns every file below `dir`; none if `dir` does not exist.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let below = entries.map(|entry| entry.unwrap().path());
    below
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}
