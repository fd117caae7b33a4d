//! Runs the program `art`, for every test suite.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Environment variables that are removed, because they would change the results of tests.
const REMOVED_VARIABLES: [&str; 19] = [
    "ART_API_KEY_ENV",
    "ART_BASE_URL",
    "ART_LOG",
    "ART_MODEL",
    "ART_USER",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "NO_COLOR",
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "https_proxy",
    "http_proxy",
];

/// Returns the command for `art` with `home` and its plugins folder. A home without a cache of compiled code gets a link to a
/// cache that all tests share, since compiling takes seconds.
pub(crate) fn art(home: &Path) -> Command {
    let cache = home.join("cache");
    if !cache.exists() {
        std::os::unix::fs::symlink(shared_cache(), &cache).unwrap();
    }
    // The build of `art` for tests, which can be killed at chosen places: see `tests/src/art.rs`.
    let mut command = Command::new(env!("CARGO_BIN_EXE_art-under-test"));
    // As options, they would be in every suggested command.
    command.env("ART_HOME", home).env("ART_PLUGINS", home.join("plugins"));
    for name in REMOVED_VARIABLES {
        command.env_remove(name);
    }
    command
}

/// Returns the folder with what all tests keep between runs.
pub(crate) fn shared_cache() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache");
    fs::create_dir_all(&path).unwrap();
    path
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput(pub(crate) Output);

impl CommandOutput {
    /// Returns the exit code. Its meaning is in the output of `art --help`.
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
        serde_json::from_slice(&self.0.stdout).unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for CommandOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (code, stdout, stderr) = (self.0.status.code(), self.stdout(), self.stderr());
        write!(f, "code {code:?}\n{stdout}\n{stderr}")
    }
}
