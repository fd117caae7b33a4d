//! Tests that every command in a message is one that the program takes as it is typed. A test of the sources finds the messages, so
//! that a new one is tested too. `tests/it/suggestions` runs the commands of the messages that it can provoke.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;

/// What stands for the parts of a command that are not known before the message is made.
const VALUES: [(&str, &str); 3] = [("command", "run"), ("subcommand", "runs"), ("options", "")];
/// What stands for any other part.
const OTHER_VALUE: &str = "x";

/// The commands that messages speak of without suggesting them: `art grant` writes the files of grants, and `art plan` has its own exit
/// code.
const ONLY_MENTIONED: [&str; 2] = ["art grant", "art plan"];

/// Returns the files with the sources of the host, without those of tests and of what completes commands.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_of_tests = ["tests", "tests.rs", "benches", "suggested.rs", "suggestions.rs"].contains(&name);
            if path.is_dir() && !is_of_tests {
                folders.push(path);
            } else if name.ends_with(".rs") && !is_of_tests {
                files.push(path);
            }
        }
    }
    files
}

/// Returns the commands in backticks of a source file, with a word in place of each value.
fn suggested_commands(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = source.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    // A string goes on behind a backslash at the end of a line.
    let code = code.collect::<Vec<_>>().join("\n").replace("\\\n", "");
    let after_backticks = code.match_indices("`art ").map(|(at, _)| &code[at + 1..]);
    let commands = after_backticks.filter_map(|text| text.split(['`', '\n']).next());
    commands
        .map(|command| with_values(&command.replace("\\\"", "\"")))
        .collect()
}

/// Replaces the parts in braces.
fn with_values(format: &str) -> String {
    let mut command = String::new();
    for (index, part) in format.split('{').enumerate() {
        match (index, part.split_once('}')) {
            (0, _) => command.push_str(part),
            (_, Some((name, rest))) => {
                let value = VALUES.iter().find(|(known, _)| *known == name);
                command.push_str(value.map_or(OTHER_VALUE, |(_, value)| value));
                command.push_str(rest);
            }
            (_, None) => command.push_str(OTHER_VALUE),
        }
    }
    command
}

/// Returns the words of a command line, as a shell reads it.
fn words(command: &str) -> Vec<String> {
    let script = format!("set -f; set -- {command}; printf '%s\\n' \"$@\"");
    let ran = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(ran.status.success(), "{command}");
    let printed = String::from_utf8(ran.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn every_command_in_a_message_is_taken_as_it_is_typed() {
    let mut count = 0;
    for path in sources() {
        for command in suggested_commands(&fs::read_to_string(&path).unwrap()) {
            if ONLY_MENTIONED.contains(&command.as_str()) {
                continue;
            }
            count += 1;
            if let Err(error) = Cli::command().try_get_matches_from(words(&command)) {
                let is_help = error.kind() == ErrorKind::DisplayHelp;
                assert!(is_help, "`{command}` in {}: {error}", path.display());
            }
        }
    }
    assert!(count > 40, "only {count} commands are found");
}

#[test]
fn a_command_is_found_behind_the_end_of_a_line_and_not_in_a_comment() {
    let source =
        "/// `art a`\nlet x = \"see `art b \\\n    {c} \\\"d\\\"` and `art e`\";\n#[cfg(test)]\nmod tests { `art f` }";
    assert_eq!(suggested_commands(source), ["art b x \"d\"", "art e"]);
}
