//! A home of its own for each test, and `art` run with it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::components;

/// What the environment of the person who runs the tests may hold.
const FOREIGN: [&str; 12] = [
    "ART_API_KEY_ENV",
    "ART_BASE_URL",
    "ART_LOG",
    "ART_MODEL",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "NO_COLOR",
];

/// A home and a plugins folder with every first-party tool.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(home.plugins()).unwrap();
        for (name, path) in components::PLUGINS {
            home.add(name, path);
        }
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

    /// A home with one tool, where nothing was compiled yet.
    pub(crate) fn fresh() -> Self {
        let home = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(home.plugins()).unwrap();
        fs::create_dir(home.dir.path().join("cache")).unwrap();
        let (name, path) = components::PLUGINS.first().unwrap();
        home.add(name, path);
        home
    }

    /// Runs `art` with this home. The compiled code is shared with the other tests, since compiling takes seconds.
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

    /// `art` with this home, to be started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let cache = self.dir.path().join("cache");
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache");
        if !cache.exists() {
            std::os::unix::fs::symlink(shared_cache(&shared), &cache).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_art-under-test"));
        command
            .arg("--home")
            .arg(self.dir.path())
            .arg("--plugins")
            .arg(self.plugins())
            .args(args);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, query: &str) -> Ran {
        self.art(&["run", query])
    }
}

fn shared_cache(path: &Path) -> &Path {
    fs::create_dir_all(path).unwrap();
    path
}

pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.0.stdout).unwrap()
    }

    /// The answer has all of `parts`, and the run succeeded.
    pub(crate) fn answers(&self, parts: &[&str]) {
        let answer = self.stdout();
        for part in parts {
            assert!(answer.contains(part), "`{part}` is missing:\n{answer}{}", self.stderr());
        }
        assert_eq!(self.code(), 0, "{}", self.stderr());
    }
}
