//! `art plugin new`: writes a new tool crate.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Writes a new tool crate to `parent/name` and returns its folder. The crate depends on the SDK crate in the folder `sdk`.
///
/// # Errors
/// Fails if the name is not valid for a tool or is reserved, if the folder exists already, or if it cannot be written.
pub fn create(parent: &Path, name: &str, sdk: &Path) -> Result<PathBuf, CommandError> {
    check_new_name(name)?;
    let folder = parent.join(name);
    if folder.exists() {
        return Err(CommandError::Usage(format!(
            "`{}` already exists; choose another name",
            folder.display()
        )));
    }
    let write = |file: &str, text: String| {
        let path = folder.join(file);
        fs::write(&path, text).map_err(CommandError::file("write", path))
    };
    fs::create_dir_all(folder.join("src")).map_err(CommandError::file("create", &folder))?;
    write("Cargo.toml", manifest_text(name, sdk))?;
    write("src/lib.rs", source_text(name))?;
    write("README.md", readme_text(name))?;
    write(".gitignore", "/target\n".to_owned())?;
    Ok(folder)
}

/// Names that a new tool cannot have. The function of the tool cannot have a keyword of Rust as its name. The crate of the tool
/// cannot have the name of the SDK or of a crate that comes with Rust.
const RESERVED: &str = "abstract alloc as async await become box break const continue core crate do dyn else enum extern false final \
    fn for gen if impl in let loop macro match mod move mut override priv proc_macro pub ref return self static \
    std struct super test trait true try type typeof unsafe unsized use virtual where while yield art_sdk";

/// Fails if the name is not valid for a tool, or if the crate or the function of the tool could not have this name.
fn check_new_name(name: &str) -> Result<(), CommandError> {
    if art_tools::check_name(name).is_err() {
        let rule = "a tool name has lower-case letters, digits, `_` and `-`, starts with a letter, and has at most 64 \
                    characters";
        return Err(CommandError::Usage(format!("`{name}` is not a tool name: {rule}")));
    }
    if RESERVED.split(' ').any(|word| word == function_name(name)) {
        let hint = "choose another, and set the name of the tool with `#[tool(name = \"..\")]` in its source";
        return Err(CommandError::Usage(format!(
            "`{name}` is a keyword of Rust or the name of a crate; {hint}"
        )));
    }
    Ok(())
}

/// Returns the name of the tool's function: the name of the tool with `_` in place of `-`.
fn function_name(name: &str) -> String {
    name.replace('-', "_")
}

fn manifest_text(name: &str, sdk: &Path) -> String {
    format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
# `cdylib` becomes the component; `rlib` lets `cargo test` call the function natively.
crate-type = ["cdylib", "rlib"]

[dependencies]
art-sdk = {{ path = {sdk:?} }}

# A tool is its own workspace, even inside the folder of another one.
[workspace]
"#
    )
}

fn source_text(name: &str) -> String {
    let name = function_name(name);
    // The attribute `tool` defines a constant for the tool, which the tests use.
    let constant = name.to_ascii_uppercase();
    format!(
        r##"//! The tool `{name}`.

use art_sdk::prelude::*;

#[args]
struct Input {{
    /// Name of the person to greet.
    name: String,
}}

#[output]
struct Output {{
    /// The greeting.
    greeting: String,
}}

/// Greets a person by name. Use it when somebody asks for a greeting. Returns the greeting.
#[tool(example(
    ask = "Greet Ada",
    ask = "Say hello to Ada",
    input = r#"{{"name":"Ada"}}"#,
    output = r#"{{"greeting":"Hello, Ada!"}}"#
))]
fn {name}(input: Input) -> Result<Output> {{
    if input.name.trim().is_empty() {{
        return Err(ToolError::validation("`name` is empty; pass the name of a person"));
    }}
    Ok(Output {{ greeting: format!("Hello, {{}}!", input.name) }})
}}

#[cfg(test)]
mod tests {{
    use super::*;
    use art_sdk::testing;

    #[test]
    fn the_examples_return_their_declared_outputs() {{
        testing::check(&{constant});
    }}

    #[test]
    fn an_empty_name_is_refused() {{
        assert_eq!(testing::failure(&{constant}, json!({{"name": " "}})).code, ErrorCode::ValidationError);
    }}
}}
"##
    )
}

fn readme_text(name: &str) -> String {
    format!(
        r#"# {name}

A tool for the ART host.

    cargo test                      # runs the function natively
    art plugin build .              # builds the component, checks it and copies it into the plugins folder
    art tool call {name} '{{"name":"Ada"}}'
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_crate_depends_on_the_sdk_and_has_the_function_of_the_tool() {
        let dir = tempfile::tempdir().unwrap();
        let folder = create(dir.path(), "my_tool", Path::new("/sdk")).unwrap();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(r#"art-sdk = { path = "/sdk" }"#), "{manifest}");
        assert!(
            fs::read_to_string(folder.join("src/lib.rs"))
                .unwrap()
                .contains("fn my_tool(")
        );
    }

    #[test]
    fn hyphens_are_kept_in_the_package_and_replaced_in_the_function() {
        let dir = tempfile::tempdir().unwrap();
        let folder = create(dir.path(), "word-count", Path::new("/sdk")).unwrap();
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        assert!(read("Cargo.toml").contains("name = \"word-count\""));
        assert!(read("src/lib.rs").contains("fn word_count(input: Input)"));
    }

    #[test]
    fn a_reserved_name_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["match", "test", "art_sdk", "art-sdk"] {
            let error = create(dir.path(), name, Path::new("/sdk")).unwrap_err();
            assert!(matches!(error, CommandError::Usage(_)), "{error}");
        }
        create(dir.path(), "match_words", Path::new("/sdk")).unwrap();
    }

    #[test]
    fn an_existing_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        create(dir.path(), "tool", Path::new("/sdk")).unwrap();
        assert!(matches!(
            create(dir.path(), "tool", Path::new("/sdk")),
            Err(CommandError::Usage(_))
        ));
    }

    #[test]
    fn invalid_tool_names_are_refused() {
        for name in ["", "My", "-a", "../x", "1a", "a b"] {
            assert!(check_new_name(name).is_err(), "{name}");
        }
    }
}
