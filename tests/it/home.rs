//! A home of its own for each test, and `art` run with it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::harness::components;
use crate::program::{self, Ran};

/// A home and a plugins folder with every first-party tool.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        for (name, path) in components::PLUGINS {
            home.add(name, path);
        }
        home
    }

    /// Creates a home with one tool, where nothing was compiled yet.
    pub(crate) fn fresh() -> Self {
        let home = Self::empty();
        fs::create_dir(home.dir.path().join("cache")).unwrap();
        let (name, path) = components::PLUGINS.first().unwrap();
        home.add(name, path);
        home
    }

    /// Creates a home without tools.
    pub(crate) fn empty() -> Self {
        let home = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(home.plugins()).unwrap();
        home
    }

    pub(crate) fn plugins(&self) -> PathBuf {
        self.dir.path().join("plugins")
    }

    /// Adds a tool to the plugins folder.
    pub(crate) fn add(&self, name: &str, component: &str) {
        fs::copy(component, self.plugins().join(format!("{name}.wasm"))).unwrap();
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `art` with this home.
    pub(crate) fn art(&self, args: &[&str]) -> Ran {
        Ran(self.command(args).output().unwrap())
    }

    /// [`Home::art`] with variables of the environment.
    pub(crate) fn art_with_environment(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        Ran(self.command(args).envs(variables.iter().copied()).output().unwrap())
    }

    /// [`Home::art`] with `input` on its stdin.
    pub(crate) fn art_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.start(args);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran(child.wait_with_output().unwrap())
    }

    /// Starts [`Home::art`] with pipes.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns `art` with this home, to be started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program::art(self.dir.path());
        command.args(args);
        command
    }

    /// [`Home::art`] after a line of the shell that sets limits.
    pub(crate) fn limited(&self, limits: &str, args: &[&str]) -> Ran {
        let art = self.command(args);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
        command.arg(art.get_program()).args(art.get_args());
        for (name, value) in art.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ran(command.output().unwrap())
    }

    pub(crate) fn run(&self, query: &str) -> Ran {
        self.art(&["run", query])
    }
}

impl Ran {
    /// The answer has all of `parts`, and the run succeeded.
    pub(crate) fn answers(&self, parts: &[&str]) {
        let answer = self.stdout();
        for part in parts {
            assert!(answer.contains(part), "`{part}` is missing:\n{answer}{}", self.stderr());
        }
        assert_eq!(self.code(), 0, "{}", self.stderr());
    }
}
