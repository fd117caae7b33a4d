//! `cargo build` for a component. Diagnostics are told as they come, but for those of the linker, whose one useful line has a
//! hundred thousand characters of arguments before it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::target::Target;
use crate::bounded;
use crate::error::CommandError;
use crate::render;

/// How components are built, whatever the crate's own manifest says: fast, and a panic is a trap. The linker is the one that
/// makes components; rustc brings it along. Every call of a function saves and checks its fuel, so functions are inlined more
/// than they would be; and every host has vector instructions. Flags join those of the crate's own configuration.
const SETTINGS: [&str; 9] = [
    r#"target.wasm32-unknown-unknown.linker="wasm-component-ld""#,
    r#"target.wasm32-unknown-unknown.rustflags=["-Ctarget-feature=+simd128", "-Cllvm-args=-inline-threshold=1000"]"#,
    r#"target.wasm32-wasip2.rustflags=["-Ctarget-feature=+simd128", "-Cllvm-args=-inline-threshold=1000"]"#,
    r#"profile.tool.inherits="release""#,
    r#"profile.tool.lto="fat""#,
    "profile.tool.codegen-units=1",
    r#"profile.tool.panic="abort""#,
    "profile.tool.strip=true",
    "profile.tool.overflow-checks=true",
];

/// Bytes of one message of cargo: those of the linker have some hundred thousand.
const MAX_MESSAGE: u64 = 16 << 20;

/// What came of a build.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) succeeded: bool,
    /// The components of the crate itself.
    pub(super) components: Vec<PathBuf>,
    /// What the linker said, if it failed.
    pub(super) linker: Option<LinkerMessage>,
}

/// What the linker said.
#[derive(Debug, Default)]
pub(super) struct LinkerMessage {
    /// With its arguments.
    pub(super) full: String,
    /// Without them.
    pub(super) said: String,
}

/// One line of `cargo build --message-format=json`; other kinds of lines have other fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CargoMessage {
    reason: String,
    filenames: Vec<PathBuf>,
    manifest_path: PathBuf,
    message: Option<Diagnostic>,
}

/// What the compiler says of a crate.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    message: String,
    rendered: Option<String>,
    children: Vec<Diagnostic>,
}

/// Builds the crate of `manifest` for `target`.
pub(super) fn build(manifest: &Path, target: Target) -> Result<Outcome, CommandError> {
    let failed = || CommandError::file("run", "cargo");
    let mut child = command(manifest, target)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed())?;
    let mut outcome = Outcome::default();
    if let Some(messages) = child.stdout.take() {
        outcome.hear_all(BufReader::new(messages), manifest).map_err(failed())?;
    }
    outcome.succeeded = child.wait().map_err(failed())?.success();
    Ok(outcome)
}

fn command(manifest: &Path, target: Target) -> Command {
    let format = if render::notes_are_live() {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    let mut cargo = Command::new(program());
    cargo
        .args(["build", "--quiet", "--lib", "--profile", "tool"])
        .args(["--target", target.triple(), "--message-format", format])
        .arg("--manifest-path")
        .arg(manifest)
        .args(SETTINGS.iter().flat_map(|setting| ["--config", setting]));
    cargo
}

/// The cargo that runs this program, if one does.
pub(super) fn program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Outcome {
    /// Hears messages to their end. What is no message comes from a macro or a build script, and may be anything.
    fn hear_all(&mut self, mut messages: impl BufRead, manifest: &Path) -> std::io::Result<()> {
        loop {
            match bounded::line(&mut messages, MAX_MESSAGE) {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => {
                    if let Ok(message) = serde_json::from_str(&line) {
                        self.hear(message, manifest);
                    }
                }
                Err(error) if bounded::is_of_the_text(&error) => {
                    render::note(&format!("a message of cargo is left out: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn hear(&mut self, message: CargoMessage, manifest: &Path) {
        match message.message {
            Some(diagnostic) if diagnostic.is_of_linker() => self.linker = Some(diagnostic.into_linker_message()),
            Some(diagnostic) => render::compiler_message(diagnostic.rendered.as_deref().unwrap_or_default()),
            None if message.reason == "compiler-artifact" && message.manifest_path == manifest => {
                let is_component = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "wasm");
                self.components
                    .extend(message.filenames.into_iter().filter(is_component));
            }
            None => {}
        }
    }
}

impl Diagnostic {
    fn is_of_linker(&self) -> bool {
        self.message.starts_with("linking with `")
    }

    /// The first note is the command line of the linker, which begins with its name in quotes; one more says how to see all of it.
    fn into_linker_message(self) -> LinkerMessage {
        let is_said = |note: &&Diagnostic| {
            let text = note.message.trim_start();
            !text.starts_with('"') && !text.starts_with("LC_ALL=") && !text.starts_with("some arguments are omitted")
        };
        let said: Vec<_> = self
            .children
            .iter()
            .filter(is_said)
            .map(|note| note.message.trim())
            .collect();
        let said = said.join("\n");
        let full = self.rendered.unwrap_or(self.message);
        LinkerMessage { full, said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn cargo_builds_components_of_this_repository_by_itself_with_the_same_settings() {
        let config = include_str!("../../../.cargo/config.toml")
            .parse::<toml::Table>()
            .unwrap();
        let settings = SETTINGS.iter().filter(|setting| setting.starts_with("target."));
        let settings = settings
            .copied()
            .collect::<Vec<_>>()
            .join("\n")
            .parse::<toml::Table>()
            .unwrap();
        assert_eq!(config["target"], settings["target"]);
    }

    #[test]
    fn a_message_without_end_is_left_out_and_the_next_one_is_heard() {
        let endless = std::io::repeat(b'x').take(3 * MAX_MESSAGE);
        let artifact = r#"{"reason":"compiler-artifact","filenames":["/a.wasm"],"manifest_path":"/Cargo.toml"}"#;
        let rest = format!("\nno message\n{artifact}\n");
        let mut outcome = Outcome::default();
        let messages = BufReader::new(endless.chain(rest.as_bytes()));
        outcome.hear_all(messages, Path::new("/Cargo.toml")).unwrap();
        assert_eq!(outcome.components, [Path::new("/a.wasm")]);
    }

    #[test]
    fn what_the_linker_says_stands_without_its_arguments() {
        let line = r#"{"reason":"compiler-message","message":{"message":"linking with `wasm-component-ld` failed: exit status: 1",
            "rendered":"error: linking with ...","children":[
            {"message":" \"wasm-component-ld\" \"-flavor\" \"wasm\""},
            {"message":"some arguments are omitted. use `--verbose` to show all linker arguments"},
            {"message":"error: failed to encode component\n\nCaused by:\n  failed to resolve import `env::f`\n"}]}}"#;
        let mut outcome = Outcome::default();
        outcome.hear(serde_json::from_str(line).unwrap(), Path::new("/Cargo.toml"));
        let linker = outcome.linker.unwrap();
        assert!(linker.said.starts_with("error: failed to encode"), "{}", linker.said);
        assert_eq!(linker.full, "error: linking with ...");
    }
}
