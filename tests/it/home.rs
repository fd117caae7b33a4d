//! A separate home for each test, and `art` commands that use it. The home is the folder in which `art` keeps its files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::TempDir;

use crate::harness::components;
use crate::program::{self, CommandOutput};
use crate::replayed;

/// A home with a plugins folder. When it is dropped, every run in it is verified and replayed, unless `ART_TEST_REPLAY` is `0`.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
    /// Whether dropping the home skips the check of its runs.
    skips_check: AtomicBool,
}

impl Drop for Home {
    fn drop(&mut self) {
        let is_check_enabled = std::env::var_os("ART_TEST_REPLAY").is_none_or(|value| value != "0");
        if is_check_enabled && !self.skips_check.load(Ordering::Relaxed) && !thread::panicking() {
            replayed::assert_replays_are_identical(self.dir.path());
        }
    }
}

impl Home {
    /// Creates a home with every first-party tool.
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        for (name, path) in components::PLUGINS {
            home.add(name, path);
        }
        home
    }

    /// Creates a home with one tool, `calculator`, and an empty cache of compiled code. Other homes share a cache.
    pub(crate) fn with_empty_cache() -> Self {
        let home = Self::empty();
        // A home without this folder would get a link to the shared cache.
        fs::create_dir(home.dir.path().join("cache")).unwrap();
        let mut plugins = components::PLUGINS.iter();
        let (name, path) = plugins.find(|(name, _)| *name == "calculator").unwrap();
        home.add(name, path);
        home
    }

    /// Creates a home without tools.
    pub(crate) fn empty() -> Self {
        let home = Self {
            dir: TempDir::new().unwrap(),
            skips_check: AtomicBool::new(false),
        };
        fs::create_dir(home.plugins()).unwrap();
        home
    }

    /// Turns off the verification and replay of this home's runs when it is dropped, for example because the test damages its
    /// database.
    pub(crate) fn skip_check_on_drop(&self) -> &Self {
        self.skips_check.store(true, Ordering::Relaxed);
        self
    }

    pub(crate) fn plugins(&self) -> PathBuf {
        self.dir.path().join("plugins")
    }

    /// Adds a tool to the plugins folder.
    pub(crate) fn add(&self, name: &str, component_path: &str) {
        fs::copy(component_path, self.plugins().join(format!("{name}.wasm"))).unwrap();
    }

    /// Returns the path of the file with the grants of a tool, or `None` if there is none.
    pub(crate) fn grants_path(&self, tool: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.dir.path().join("grants")).into_iter().flatten();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        let line = format!("tool = \"{tool}\"\n");
        paths.find(|path| {
            path.extension().is_some_and(|extension| extension == "toml")
                && fs::read_to_string(path).unwrap().contains(&line)
        })
    }

    /// Returns the text of the file with the grants of a tool, which is empty if there is none.
    pub(crate) fn grants(&self, tool: &str) -> String {
        self.grants_path(tool)
            .map_or_else(String::new, |path| fs::read_to_string(path).unwrap())
    }

    /// Stores grants of the tool in this file of the plugins folder, without the checks of `art grant`. `text` is the file of
    /// grants without the names and the digest.
    pub(crate) fn store_grants(&self, tool: &str, text: &str) {
        let wasm = fs::read(self.plugins().join(format!("{tool}.wasm"))).unwrap();
        let digest = art_store::digest(&wasm).trim_start_matches("blake3:").to_owned();
        let folder = self.dir.path().join("grants");
        fs::create_dir_all(&folder).unwrap();
        let names = format!("tool = \"{tool}\"\nfile = \"{tool}\"\ncomponent = \"{digest}\"\n");
        fs::write(folder.join(format!("{digest}.toml")), names + text).unwrap();
    }

    /// Writes a file into the home, and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `art` with this home.
    pub(crate) fn art(&self, args: &[&str]) -> CommandOutput {
        CommandOutput(self.command(args).output().unwrap())
    }

    /// Same as [`Home::art`], with additional environment variables.
    pub(crate) fn art_with_environment(&self, args: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        CommandOutput(self.command(args).envs(variables.iter().copied()).output().unwrap())
    }

    /// Same as [`Home::art`], with `input` as stdin.
    pub(crate) fn art_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut child = self.start(args);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        CommandOutput(child.wait_with_output().unwrap())
    }

    /// Starts `art` with pipes as stdin, stdout and stderr.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns the command for `art` with this home.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program::art(self.dir.path());
        command.args(args);
        command
    }

    /// Same as [`Home::art`], in a shell that first runs `limits`, such as `ulimit -v 1000`.
    pub(crate) fn art_with_limits(&self, limits: &str, args: &[&str]) -> CommandOutput {
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
        CommandOutput(command.output().unwrap())
    }

    /// Asks a question with `art run`.
    pub(crate) fn run(&self, query: &str) -> CommandOutput {
        self.art(&["run", query])
    }
}

impl CommandOutput {
    /// Asserts that the command succeeded and that its stdout contains all of `parts`.
    pub(crate) fn assert_answers(&self, parts: &[&str]) {
        let stdout = self.stdout();
        for part in parts {
            assert!(stdout.contains(part), "`{part}` is missing:\n{stdout}{}", self.stderr());
        }
        assert_eq!(self.code(), 0, "{}", self.stderr());
    }
}
