//! `art secret`: secrets that the host adds to the HTTP requests that tools send. A canary is a decoy whose value the host
//! never sends, so a tool that reveals this value has read what it should not.

use std::io::{IsTerminal, Read, stdin};

use art_core::secret::{MAX_BYTES, Secret};
use art_runtime::secrets::{ListedSecret, Place, SecretFile, VARIABLE_PREFIX};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;
use serde_json::json;

use super::load_config;
use crate::bounded_read;
use crate::cli::{GlobalOptions, SecretCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;

pub(super) fn secret(global: &GlobalOptions, command: &SecretCommand) -> Result<Exit, CommandError> {
    let file = SecretFile::new(&load_config(global)?);
    match command {
        SecretCommand::Set {
            name,
            from_env,
            canary,
            keyring,
        } => {
            art_core::secret::check_name(name).map_err(|error| CommandError::Usage(error.to_string()))?;
            let value = match from_env {
                Some(variable) => read_from_environment(variable)?,
                None => read_from_stdin(name)?,
            };
            let secret = Secret::new(name, &value, *canary).map_err(|error| CommandError::Usage(error.to_string()))?;
            let place = if *keyring { Place::Keyring } else { Place::File };
            file.set(&secret, place)?;
            render::note(&match place {
                Place::File => format!("`{name}` is stored in `{}`", file.path().display()),
                Place::Keyring => format!("`{name}` is stored in the keyring"),
            });
            Ok(Exit::Success)
        }
        SecretCommand::List => list(global, &file),
        SecretCommand::Rm { name } => remove(&file, name),
    }
}

fn read_from_environment(variable: &str) -> Result<SecretString, CommandError> {
    match std::env::var(variable) {
        Ok(value) => Ok(value.into()),
        Err(_) => Err(CommandError::Usage(format!(
            "the environment variable `{variable}` is not set, or is no text"
        ))),
    }
}

/// Reads a value from stdin: one line from a terminal, which does not show it, or everything from a pipe or a file.
fn read_from_stdin(name: &str) -> Result<SecretString, CommandError> {
    // A line end of one or two bytes may follow the value.
    let max_bytes = MAX_BYTES as u64 + 2;
    if !stdin().is_terminal() {
        return Ok(bounded_read::read_text(stdin().lock(), "stdin", max_bytes)?.into());
    }
    let _hidden = HiddenInput::new();
    render::note(&format!("value of `{name}` (it is not shown):"));
    let mut line = String::new();
    let read = std::io::BufRead::read_line(&mut stdin().lock().take(max_bytes), &mut line);
    read.map_err(CommandError::file("read", std::path::Path::new("stdin")))?;
    Ok(line.into())
}

/// Keeps the terminal from showing what is typed, until this value is dropped. The field has the original settings of the
/// terminal, which are restored then, or `None` if they could not be read.
struct HiddenInput(Option<Termios>);

impl HiddenInput {
    fn new() -> Self {
        let original = tcgetattr(stdin()).ok();
        if let Some(original) = &original {
            let mut hidden = original.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            set_terminal(&hidden);
        }
        Self(original)
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(original) = &self.0 {
            set_terminal(original);
        }
    }
}

fn set_terminal(settings: &Termios) {
    if let Err(error) = tcsetattr(stdin(), OptionalActions::Now, settings) {
        tracing::debug!(%error, "the terminal settings could not be changed");
    }
}

/// Prints the names of the secrets, including those from the environment, but never a value.
fn list(global: &GlobalOptions, file: &SecretFile) -> Result<Exit, CommandError> {
    let stored = file.list()?;
    let mut names_and_sources: Vec<_> = stored
        .iter()
        .map(|listed| (listed.name.clone(), source_name(listed)))
        .collect();
    for (variable, _) in std::env::vars_os() {
        if let Some(name) = variable.to_str().and_then(|name| name.strip_prefix(VARIABLE_PREFIX)) {
            // The variable is used instead of the stored secret.
            names_and_sources.retain(|(stored, _)| stored != name);
            names_and_sources.push((name.to_owned(), "environment"));
        }
    }
    names_and_sources.sort();
    if global.json {
        let secrets: Vec<_> = names_and_sources
            .iter()
            .map(|(name, source)| json!({"name": name, "source": source}))
            .collect();
        render::json(&secrets);
    } else if names_and_sources.is_empty() {
        render::note("there are no secrets");
    } else {
        let lines: Vec<_> = names_and_sources
            .iter()
            .map(|(name, source)| format!("{name}  {source}"))
            .collect();
        render::print(&lines.join("\n"));
    }
    Ok(Exit::Success)
}

/// Returns where a stored secret is kept, or `canary` for a canary.
fn source_name(listed: &ListedSecret) -> &'static str {
    match listed.place {
        _ if listed.canary => "canary",
        Place::File => "file",
        Place::Keyring => "keyring",
    }
}

fn remove(file: &SecretFile, name: &str) -> Result<Exit, CommandError> {
    if file.remove(name)? {
        render::note(&format!("`{name}` is removed"));
        return Ok(Exit::Success);
    }
    Err(CommandError::Usage(format!(
        "there is no stored secret `{name}` (hint: `art secret list` prints the names)"
    )))
}
