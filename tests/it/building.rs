//! `art plugin build`: building and installing tools, and the errors that their authors see.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// No further options of the `example(..)` in the attribute `#[tool]`.
const NO_OPTIONS: &str = "";
/// No items before the function of a tool.
const NO_ITEMS: &str = "";
/// No further lines of a `Cargo.toml`.
const NO_SETTINGS: &str = "";
/// No dependencies in a `Cargo.toml`.
const NO_DEPENDENCIES: &str = "";
/// Maximum duration of a build on a busy machine.
const BUILD_TIMEOUT: Duration = Duration::from_secs(300);

/// A crate with its own home. All crates share one target directory, so that the SDK is built once.
struct Crate {
    home: Home,
    folder: PathBuf,
}

impl Crate {
    /// Creates a crate with `art plugin new`. Its tool returns a greeting for the `name` that is passed to it.
    fn new(name: &str) -> Self {
        let is_first_party = components::PLUGINS.iter().any(|(plugin, _)| *plugin == name);
        assert!(
            !is_first_party,
            "it would replace the component of `{name}` in the target directory"
        );
        let home = Home::empty();
        let parent = home.dir.path().to_str().unwrap().to_owned();
        let created = home.art(&["plugin", "new", name, "--path", &parent]);
        assert_eq!(created.code(), 0, "{created}");
        let folder = home.dir.path().join(name);
        // Builds run without the network, so they use the versions that the workspace uses.
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock")).unwrap();
        Self { home, folder }
    }

    /// Creates a crate with this source only, which does not use the SDK.
    fn without_sdk(name: &str, dependencies: &str, source: &str) -> Self {
        let home = Home::empty();
        let folder = home.dir.path().join(name);
        add_package(
            &folder,
            name,
            "[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n",
            dependencies,
            source,
        );
        Self { home, folder }
    }

    /// Creates a crate with a tool that declares one example: the input `{"n":1}`. `options` are further options of
    /// `example(..)`, and `items` stand before `function`.
    fn with_tool(name: &str, options: &str, items: &str, function: &str) -> Self {
        let tool = Self::new(name);
        tool.write(options, items, function);
        tool
    }

    /// Writes the source that [`Crate::with_tool`] describes.
    fn write(&self, options: &str, items: &str, function: &str) {
        let source = format!(
            "use art_sdk::prelude::*;\n\n#[args]\nstruct In {{\n    n: u32,\n}}\n\n{items}\n\n/// Counts.\n\
             #[tool(example(input = r#\"{{\"n\":1}}\"#{options}))]\n{function}\n"
        );
        fs::write(self.folder.join("src/lib.rs"), source).unwrap();
    }

    fn build(&self) -> CommandOutput {
        self.art(&["plugin", "build", self.folder.to_str().unwrap()])
    }

    /// Runs `art` so that it builds in the shared target directory, and without the network.
    fn art(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.home.command(args);
        CommandOutput(
            command
                .env("CARGO_TARGET_DIR", shared_target())
                .env("CARGO_NET_OFFLINE", "true")
                .output()
                .unwrap(),
        )
    }

    /// Builds the crate, asserts that it is refused, and returns stderr.
    fn build_refused(&self) -> String {
        let ran = self.build();
        assert_eq!(ran.code(), 1, "{ran}");
        assert_eq!(fs::read_dir(self.home.plugins()).unwrap().count(), 0, "{ran}");
        ran.stderr()
    }
}

/// Writes a package. `settings` are further lines of its `Cargo.toml`. Every package gets a version that `wasm-bindgen` has too,
/// because one of the packages imitates `wasm-bindgen`.
fn add_package(folder: &Path, name: &str, settings: &str, dependencies: &str, source: &str) {
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.2.100\"\nedition = \"2024\"\n{settings}[dependencies]\n{dependencies}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), source).unwrap();
}

/// Returns the target directory of the workspace, in which the libraries of a tool are built already.
fn shared_target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("..")
}

#[test]
fn a_tool_that_traps_in_its_example_is_refused_with_the_panic() {
    let stderr = Crate::with_tool(
        "traps",
        NO_OPTIONS,
        NO_ITEMS,
        "fn traps(_: In) -> Result<u32> { panic!(\"no idea\") }",
    )
    .build_refused();
    assert!(
        stderr.contains("the component of `traps` was refused: example 1 (`{\"n\":1}`) fails: "),
        "{stderr}"
    );
    assert!(stderr.contains("no idea"), "{stderr}");
}

#[test]
fn a_tool_is_refused_if_its_output_differs_from_its_example() {
    let tool = Crate::with_tool(
        "adds",
        ", output = \"3\"",
        NO_ITEMS,
        "fn adds(input: In) -> Result<u32> { Ok(input.n + 1) }",
    );
    let stderr = tool.build_refused();
    assert!(
        stderr.contains("returned `2` instead of the declared output `3`"),
        "{stderr}"
    );
    // The number `2.0` is equal to the output `2`.
    tool.write(
        ", output = \"2.0\"",
        NO_ITEMS,
        "fn adds(input: In) -> Result<u32> { Ok(input.n + 1) }",
    );
    let built = tool.build();
    assert_eq!(built.code(), 0, "{built}");
    assert!(built.stdout().contains("1 passed"), "{built}");
}

#[test]
fn an_example_that_waits_for_a_person_is_reported_as_not_run() {
    let function = "fn asks(_: In) -> Result<Outcome<u32>> { Ok(Suspension::new(\"sure?\").into()) }";
    let tool = Crate::with_tool("asks", ", output = \"1\"", NO_ITEMS, function);
    let built = tool.build();
    assert_eq!(built.code(), 0, "{built}");
    assert!(
        built
            .stderr()
            .contains("not run: example 1 (`{\"n\":1}`) waits for a decision of a person"),
        "{built}"
    );
    assert!(built.stdout().contains("0 passed"), "{built}");
}

#[test]
fn a_tool_whose_example_fails_is_refused_unless_it_requests_a_capability() {
    let function = "fn reads(_: In) -> Result<String> { Ok(std::fs::read_to_string(\"/table\")?) }";
    let tool = Crate::with_tool("reads", NO_OPTIONS, NO_ITEMS, function);
    let stderr = tool.build_refused();
    assert!(
        stderr.contains("uses `std::fs`; a component without WASI has no files"),
        "{stderr}"
    );
    assert!(
        stderr.contains("(a tool can use files only with `wasi = true` and a grant, can send requests only through `art_sdk::http`, and cannot start processes; otherwise, pass the data in as an argument)"),
        "{stderr}"
    );
    // The options end up inside `example(..)`. So the text first closes that parenthesis, and then requests a capability.
    tool.write("), capabilities(fs(read)", NO_ITEMS, function);
    let manifest = tool.folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + "\n[package.metadata.art]\nwasi = true\n").unwrap();
    let built = tool.build();
    assert_eq!(built.code(), 0, "{built}");
    assert!(
        built
            .stderr()
            .contains("may need a capability that this host does not grant"),
        "{built}"
    );
}

#[test]
fn the_examples_that_a_build_runs_are_not_listed_as_runs() {
    let tool = Crate::new("logged");
    let built = tool.build();
    assert!(built.stdout().contains("2 passed"), "{built}");
    assert_eq!(tool.art(&["--json", "runs", "list"]).stdout().trim(), "[]");
    assert_eq!(tool.art(&["tool", "call", "logged", r#"{"name":"Ada"}"#]).code(), 0);
    assert_eq!(
        tool.art(&["--json", "runs", "list"]).json().as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_tool_with_hyphens_in_its_name_can_be_called_with_underscores_too() {
    let tool = Crate::new("password-strength");
    let built = tool
        .art(&["--json", "plugin", "build", tool.folder.to_str().unwrap()])
        .json();
    assert_eq!(built[0]["name"], "password-strength");
    for name in ["password-strength", "password_strength"] {
        let called = tool.art(&["tool", "call", name, r#"{"name":"Ada"}"#]);
        assert!(called.stdout().contains("Hello, Ada!"), "{called}");
    }
}

#[test]
fn a_built_tool_is_not_compiled_in_another_home_before_its_first_call() {
    let tool = Crate::new("declared");
    assert_eq!(tool.build().code(), 0);
    let other_home = Home::with_empty_cache();
    fs::remove_dir_all(other_home.plugins()).unwrap();
    fs::create_dir(other_home.plugins()).unwrap();
    other_home.add("declared", tool.home.plugins().join("declared.wasm").to_str().unwrap());
    let listed = other_home.art(&["tool", "list"]);
    assert!(listed.stdout().contains("declared"), "{listed}");
    // A compilation of the component to machine code would be reported on stderr.
    assert_eq!(listed.stderr(), "");
    let called = other_home.art(&["tool", "call", "declared", r#"{"name":"Ada"}"#]);
    assert!(called.stdout().contains("Hello, Ada!"), "{called}");
}

#[test]
fn an_error_type_of_the_tool_keeps_its_text_and_its_code() {
    let errors = "struct RowError(u32);
        impl std::fmt::Display for RowError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, \"no row `{}`\", self.0) }
        }
        impl IntoToolError for RowError {
            fn into_tool_error(self) -> ToolError { ToolError::not_found(self) }
        }";
    let function =
        "fn rows(input: In) -> Result<u32, RowError> { if input.n == 1 { Ok(1) } else { Err(RowError(input.n)) } }";
    let tool = Crate::with_tool("rows", NO_OPTIONS, errors, function);
    assert_eq!(tool.build().code(), 0);
    let called = tool.art(&["--json", "tool", "call", "rows", r#"{"n":7}"#]);
    let result: Value = called.json()["result"].take();
    assert_eq!(
        (&result["error"], &result["code"]),
        (&json!("no row `7`"), &json!("NOT_FOUND"))
    );
}

/// The program in place of cargo prints its arguments and builds nothing.
#[test]
fn a_release_is_optimised_as_a_whole_and_other_builds_are_not() {
    let tool = Crate::new("published");
    let cargo = tool.home.file("cargo", "#!/bin/sh\necho \"$@\" >&2\nexit 1\n");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o700)).unwrap();
    let arguments = |options: &[&str]| {
        let folder = tool.folder.to_str().unwrap();
        let mut command = tool.home.command(&[&["plugin", "build", folder], options].concat());
        CommandOutput(command.env("CARGO", &cargo).output().unwrap()).stderr()
    };
    let fat = r#"profile.tool.lto="fat""#;
    assert!(arguments(&["--release"]).contains(fat));
    let quick = arguments(&[]);
    assert!(
        quick.contains(r#"profile.tool.lto="off""#) && !quick.contains(fat),
        "{quick}"
    );
    assert!(arguments(&["--release", "--watch"]).contains("cannot be used with"));
}

#[test]
fn a_crate_with_two_tools_is_refused() {
    let second = "/// Counts too.\n#[tool]\nfn second(_: NoArgs) -> Result<u32> { Ok(1) }";
    let stderr = Crate::with_tool("two", NO_OPTIONS, second, "fn two(_: In) -> Result<u32> { Ok(1) }").build_refused();
    assert!(
        stderr.contains("a crate contains one tool, and `second` is one already: move `two` into"),
        "{stderr}"
    );
    assert!(!stderr.contains("linking"), "{stderr}");
}

#[test]
fn a_dependency_that_assumes_a_browser_is_named_in_at_most_six_lines() {
    let source_of_wasm_bindgen = "#[link(wasm_import_module = \"__wbindgen_placeholder__\")]\n\
        unsafe extern \"C\" { fn __wbindgen_throw(text: *const u8, length: usize) -> !; }\n\
        pub fn throw() -> ! { unsafe { __wbindgen_throw(core::ptr::null(), 0) } }\n";
    let tool = Crate::without_sdk(
        "in_browser",
        "http-client = { path = \"http-client\" }",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn run() { http_client::get() }\n",
    );
    let client = tool.folder.join("http-client");
    let dependency = "wasm-bindgen = { path = \"../wasm-bindgen\" }";
    add_package(
        &client,
        "http-client",
        NO_SETTINGS,
        dependency,
        "pub fn get() { wasm_bindgen::throw() }",
    );
    add_package(
        &tool.folder.join("wasm-bindgen"),
        "wasm-bindgen",
        NO_SETTINGS,
        NO_DEPENDENCIES,
        source_of_wasm_bindgen,
    );
    let stderr = tool.build_refused();
    assert!(
        stderr.contains("assumes a browser: `http-client` (through `wasm-bindgen`)"),
        "{stderr}"
    );
    assert!(
        stderr.contains("`__wbindgen_placeholder__::__wbindgen_throw` is a JavaScript function"),
        "{stderr}"
    );
    assert!(stderr.contains("wasi = true"), "{stderr}");
    assert!(stderr.lines().count() <= 6 && stderr.len() < 2_000, "{stderr}");
    let (_, rest) = stderr.split_once("full output of the linker: `").unwrap();
    let full = fs::read_to_string(rest.split_once('`').unwrap().0).unwrap();
    assert!(full.contains("wasm-component-ld"), "{full}");
}

#[test]
fn a_missing_function_is_reported_with_the_crate_that_uses_it() {
    let tool = Crate::without_sdk(
        "wants_c",
        "database-sys = { path = \"database-sys\" }",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn run() -> i32 { database_sys::open() }\n",
    );
    let source =
        "unsafe extern \"C\" { fn database_open_v2() -> i32; }\npub fn open() -> i32 { unsafe { database_open_v2() } }";
    add_package(
        &tool.folder.join("database-sys"),
        "database-sys",
        NO_SETTINGS,
        NO_DEPENDENCIES,
        source,
    );
    let stderr = tool.build_refused();
    let expected = "nothing provides the function `database_open_v2`, which `database-sys` uses";
    assert!(stderr.contains(expected), "{stderr}");
    assert!(stderr.lines().count() <= 6, "{stderr}");
}

/// A child process that is killed when the test ends.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_watched_crate_is_rebuilt_at_each_change_until_interrupted() {
    let returning = |n: u32| format!("fn watched(_: In) -> Result<u32> {{ Ok({n}) }}");
    let tool = Crate::with_tool("watched", NO_OPTIONS, NO_ITEMS, &returning(1));
    let mut command = tool
        .home
        .command(&["plugin", "build", "--watch", tool.folder.to_str().unwrap()]);
    let command = command
        .env("CARGO_TARGET_DIR", shared_target())
        .env("CARGO_NET_OFFLINE", "true");
    let without_output = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut watching = KillOnDrop(without_output.spawn().unwrap());
    let installed = tool.home.plugins().join("watched.wasm");
    // Returns the installed component as soon as it differs from `previous`.
    let wait_for_build = |previous: &[u8]| {
        let start = Instant::now();
        loop {
            match fs::read(&installed) {
                Ok(component) if component != previous => return component,
                _ => assert!(start.elapsed() < BUILD_TIMEOUT, "nothing was built"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let first = wait_for_build(&[]);
    // Gives `--watch` the time to scan the files again.
    std::thread::sleep(Duration::from_secs(1));
    fs::write(tool.folder.join("src/lib.rs"), "this does not build").unwrap();
    // Gives `--watch` the time to notice the change and to report the failed build.
    std::thread::sleep(Duration::from_secs(2));
    assert!(
        watching.0.try_wait().unwrap().is_none(),
        "a failed build must not end the watch"
    );
    tool.write(NO_OPTIONS, NO_ITEMS, &returning(2));
    wait_for_build(&first);
    let id = rustix::process::Pid::from_child(&watching.0);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(!watching.0.wait().unwrap().success());
}
