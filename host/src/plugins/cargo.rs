//! Runs `cargo build` for a component. Diagnostics are printed as they arrive, except errors of the linker: they begin with the
//! arguments of the linker, a hundred thousand characters, and only then comes the one useful line. [`build`] returns
//! these errors instead.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::settings::CARGO_SETTINGS;
use super::target::Target;
use crate::bounded_read;
use crate::error::CommandError;
use crate::render;

/// Cargo settings for a component that is published: it costs about a fifth less fuel, and takes about three times as long to build.
const RELEASE_SETTINGS: [&str; 2] = [r#"profile.tool.lto="fat""#, "profile.tool.codegen-units=1"];

/// How much time a build may take to make the component fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimization {
    /// Optimises each crate by itself.
    #[default]
    PerCrate,
    /// Optimises the component as a whole, for publishing.
    Release,
}

/// Maximum size of one message of cargo, in bytes. Messages of the linker have a few hundred thousand bytes.
const MAX_MESSAGE_BYTES: u64 = 16 << 20;

/// Result of a build.
#[derive(Debug, Default)]
pub(super) struct BuildOutput {
    pub(super) succeeded: bool,
    /// The components of the packages themselves, without those of their dependencies.
    pub(super) components: Vec<PathBuf>,
    /// Error of the linker, if it failed.
    pub(super) linker_error: Option<LinkerError>,
}

/// An error of the linker.
#[derive(Debug, Default)]
pub(super) struct LinkerError {
    /// The full text, with the arguments of the linker.
    pub(super) full: String,
    /// The errors only, without the arguments.
    pub(super) errors: String,
}

/// One line of `cargo build --message-format=json`. A field is empty if lines of this kind do not have it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CargoMessage {
    reason: String,
    filenames: Vec<PathBuf>,
    manifest_path: PathBuf,
    message: Option<Diagnostic>,
}

/// A diagnostic of the compiler.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    message: String,
    rendered: Option<String>,
    children: Vec<Diagnostic>,
}

/// A crate to build.
pub(super) struct Package<'a> {
    pub(super) name: &'a str,
    /// Path of its `Cargo.toml`.
    pub(super) manifest: &'a Path,
}

/// Builds packages of one workspace for `target`, in one run of cargo, so that what they share is compiled once.
pub(super) fn build(
    packages: &[Package<'_>],
    target: Target,
    optimization: Optimization,
) -> Result<BuildOutput, CommandError> {
    // Returns a function that turns an I/O error into the error of this command.
    let wrap_run_error = || CommandError::file("run", "cargo");
    let mut child = cargo_build(packages, target, optimization)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(wrap_run_error())?;
    let mut outcome = BuildOutput::default();
    if let Some(messages) = child.stdout.take() {
        outcome
            .read_messages(BufReader::new(messages), packages)
            .map_err(wrap_run_error())?;
    }
    outcome.succeeded = child.wait().map_err(wrap_run_error())?.success();
    Ok(outcome)
}

fn cargo_build(packages: &[Package<'_>], target: Target, optimization: Optimization) -> Command {
    let release_settings = match optimization {
        Optimization::PerCrate => [].as_slice(),
        Optimization::Release => &RELEASE_SETTINGS,
    };
    let settings = CARGO_SETTINGS.iter().chain(release_settings);
    let message_format = if render::stderr_is_terminal() {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    let mut cargo = Command::new(cargo_program());
    cargo
        .args(["build", "--quiet", "--lib", "--profile", "tool"])
        .args(["--target", target.triple(), "--message-format", message_format])
        .args(
            packages
                .first()
                .into_iter()
                .flat_map(|first| ["--manifest-path".as_ref(), first.manifest.as_os_str()]),
        )
        .args(packages.iter().flat_map(|package| ["--package", package.name]))
        .args(settings.flat_map(|setting| ["--config", setting]));
    cargo
}

/// Returns the cargo that started this program, or else the one in `PATH`.
pub(super) fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl BuildOutput {
    /// Reads and handles the messages of cargo to their end. Lines that are no messages come from macros or build scripts, and
    /// are ignored.
    fn read_messages(&mut self, mut messages: impl BufRead, packages: &[Package<'_>]) -> std::io::Result<()> {
        loop {
            match bounded_read::read_line(&mut messages, MAX_MESSAGE_BYTES) {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => {
                    if let Ok(message) = serde_json::from_str(&line) {
                        self.handle(message, packages);
                    }
                }
                // The line is too long or not UTF-8. The next one can still be read.
                Err(error) if bounded_read::is_too_long_or_not_utf8(&error) => {
                    render::note(&format!("skipped a message of cargo: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Prints a diagnostic of the compiler. Records an error of the linker, and the components of `packages`.
    fn handle(&mut self, message: CargoMessage, packages: &[Package<'_>]) {
        let is_built = |manifest: &Path| packages.iter().any(|package| package.manifest == manifest);
        match message.message {
            Some(diagnostic) if diagnostic.is_from_linker() => {
                self.linker_error = Some(diagnostic.into_linker_error());
            }
            Some(diagnostic) => render::compiler_message(diagnostic.rendered.as_deref().unwrap_or_default()),
            None if message.reason == "compiler-artifact" && is_built(&message.manifest_path) => {
                let is_component = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "wasm");
                self.components
                    .extend(message.filenames.into_iter().filter(is_component));
            }
            None => {}
        }
    }
}

impl Diagnostic {
    fn is_from_linker(&self) -> bool {
        self.message.starts_with("linking with `")
    }

    /// Returns the full text, and those children of the diagnostic that are errors. The other children are the command line of
    /// the linker, which begins with `LC_ALL=` or with the name of the linker in quotes, and a hint that arguments were omitted.
    fn into_linker_error(self) -> LinkerError {
        let is_error = |child: &&Diagnostic| {
            let text = child.message.trim_start();
            !text.starts_with('"') && !text.starts_with("LC_ALL=") && !text.starts_with("some arguments are omitted")
        };
        let errors: Vec<_> = self
            .children
            .iter()
            .filter(is_error)
            .map(|child| child.message.trim())
            .collect();
        let errors = errors.join("\n");
        let full = self.rendered.unwrap_or(self.message);
        LinkerError { full, errors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn components_of_dependencies_are_left_out() {
        let package = Package {
            name: "a",
            manifest: Path::new("/a/Cargo.toml"),
        };
        let artifact = |name: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","filenames":["/{name}.wasm"],"manifest_path":"/{name}/Cargo.toml"}}"#
            )
        };
        let messages = [artifact("a"), artifact("b")].join("\n");
        let mut outcome = BuildOutput::default();
        outcome.read_messages(messages.as_bytes(), &[package]).unwrap();
        assert_eq!(outcome.components, [Path::new("/a.wasm")]);
    }

    #[test]
    fn reading_continues_after_a_message_that_is_too_long() {
        let too_long = std::io::repeat(b'x').take(3 * MAX_MESSAGE_BYTES);
        let artifact = r#"{"reason":"compiler-artifact","filenames":["/a.wasm"],"manifest_path":"/Cargo.toml"}"#;
        let rest = format!("\nnot a message\n{artifact}\n");
        let package = Package {
            name: "a",
            manifest: Path::new("/Cargo.toml"),
        };
        let mut outcome = BuildOutput::default();
        let messages = BufReader::new(too_long.chain(rest.as_bytes()));
        outcome.read_messages(messages, &[package]).unwrap();
        assert_eq!(outcome.components, [Path::new("/a.wasm")]);
    }

    #[test]
    fn linker_errors_are_separated_from_linker_arguments() {
        let line = r#"{"reason":"compiler-message","message":{"message":"linking with `wasm-component-ld` failed: exit status: 1",
            "rendered":"error: linking with ...","children":[
            {"message":" \"wasm-component-ld\" \"-flavor\" \"wasm\""},
            {"message":"some arguments are omitted. use `--verbose` to show all linker arguments"},
            {"message":"error: failed to encode component\n\nCaused by:\n  failed to resolve import `env::f`\n"}]}}"#;
        let mut outcome = BuildOutput::default();
        outcome.handle(serde_json::from_str(line).unwrap(), &[]);
        let linker = outcome.linker_error.unwrap();
        assert!(
            linker.errors.starts_with("error: failed to encode"),
            "{}",
            linker.errors
        );
        assert_eq!(linker.full, "error: linking with ...");
    }
}
