//! Commands that messages suggest. Each test provokes a message, runs the command in it with a shell, and checks that it leads on.

mod provoked;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::handmade::Handmade;
use crate::harness::components;
use crate::home::Home;
use crate::http_server::HttpServer;
use crate::program::CommandOutput;

/// Exit code of a command that was denied something.
const DENIED: i32 = 5;

/// A home with the tools `reads_file`, `file_read` and `http_fetch`, and a folder with a file.
struct Scene {
    home: Home,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("reads_file", components::READS_FILE);
        for (name, path) in components::PLUGINS {
            if ["file_read", "http_fetch"].contains(name) {
                home.add(name, path);
            }
        }
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("note.txt"), "buy milk").unwrap();
        Self { home, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn call(&self, tool: &str, arguments: &Value) -> CommandOutput {
        self.home.art(&["--json", "tool", "call", tool, &arguments.to_string()])
    }

    fn read(&self, tool: &str, name: &str) -> CommandOutput {
        self.call(tool, &json!({"path": self.path(name)}))
    }

    /// Runs a suggested command line, which begins with `art`, in a shell, and asserts that it succeeds.
    fn follow(&self, command: &str) -> CommandOutput {
        let art = self.home.command(&[]);
        let words = [art.get_program()].into_iter().chain(art.get_args());
        let words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let script = format!("art() {{ {} \"$@\"; }}\n{command}", words.join(" "));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]);
        for (name, value) in art.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let ran = CommandOutput(shell.output().unwrap());
        assert_eq!(ran.code(), 0, "{command}: {ran}");
        ran
    }

    /// Takes the requested capabilities out of the manifest of `reads_file`.
    fn remove_capabilities(&self) {
        self.replace_capabilities("reads_file", "");
    }

    /// Replaces the list of requested capabilities in the manifest of a tool. Spaces follow the new list, so that no length changes.
    fn replace_capabilities(&self, tool: &str, list: &str) {
        const START: &[u8] = b"\"capabilities\":[";
        let path = self.home.plugins().join(format!("{tool}.wasm"));
        let mut wasm = fs::read(&path).unwrap();
        let starts: Vec<_> = (0..wasm.len()).filter(|at| wasm[*at..].starts_with(START)).collect();
        assert!(!starts.is_empty());
        for start in starts {
            let begin = start + START.len();
            // The last request ends, then the list, then the manifest.
            let end = (begin..).find(|at| wasm[*at..].starts_with(b"}]}")).unwrap() + 1;
            wasm[begin..end].fill(b' ');
            wasm[begin..][..list.len()].copy_from_slice(list.as_bytes());
        }
        fs::write(&path, wasm).unwrap();
    }
}

/// Returns the first denial of a call.
fn denial(called: &CommandOutput) -> Value {
    assert_eq!(called.code(), DENIED, "{called}");
    called.json()["result"]["metadata"]["denials"][0].clone()
}

fn command_of(called: &CommandOutput) -> String {
    let denial = denial(called);
    let command = denial["command"].as_str();
    command
        .unwrap_or_else(|| panic!("there is no command: {denial}"))
        .to_owned()
}

/// Returns the first text in backticks that begins with `art`.
fn suggested(message: &str) -> String {
    let mut parts = message.split('`').skip(1).step_by(2);
    parts
        .find(|part| part.starts_with("art "))
        .unwrap_or_else(|| panic!("no command in: {message}"))
        .to_owned()
}

#[test]
fn the_command_of_a_denied_path_works_whatever_the_path_is() {
    for tool in ["reads_file", "file_read"] {
        for name in [
            "note.txt",
            "it's a note; $(reboot).txt",
            "-n",
            "a \"quoted\" name",
            "ümlaut.txt",
            "a&b|c",
        ] {
            let scene = Scene::new();
            fs::write(scene.path(name), "buy milk").unwrap();
            let called = scene.read(tool, name);
            let denial = denial(&called);
            match denial["command"].as_str() {
                Some(command) => {
                    scene.follow(command);
                }
                // A path with a character of the shell cannot be granted itself, but the folder above it can.
                None => {
                    assert!(
                        denial["reason"]
                            .as_str()
                            .unwrap()
                            .contains("grant a directory above it"),
                        "{denial}"
                    );
                    let folder = scene.path("");
                    scene.follow(&format!("art grant add {tool} --read {}", folder.display()));
                }
            }
            assert_eq!(scene.read(tool, name).code(), 0, "{tool}: {name}");
        }
    }
}

#[test]
fn the_command_of_a_path_that_does_not_exist_works_and_the_next_call_says_that_nothing_is_there() {
    for name in ["missing.txt", "no/such/folder/missing.txt"] {
        for tool in ["reads_file", "file_read"] {
            let scene = Scene::new();
            let granted = scene.follow(&command_of(&scene.read(tool, name)));
            assert!(granted.stderr().contains("there is nothing at"), "{granted}");
            let called = scene.read(tool, name);
            assert_ne!(called.code(), 0, "{called}");
            assert!(
                called.json()["result"]["metadata"]["denials"]
                    .as_array()
                    .is_none_or(Vec::is_empty),
                "{called}"
            );
        }
    }
}

#[test]
fn a_path_that_cannot_be_granted_has_no_command() {
    let scene = Scene::new();
    let home = scene.home.dir.path().canonicalize().unwrap();
    for path in [home.join("art.toml"), "/proc/self/environ".into(), "/sys/kernel".into()] {
        for tool in ["reads_file", "file_read"] {
            let denial = denial(&scene.call(tool, &json!({"path": path})));
            assert_eq!(denial["command"], Value::Null, "{denial}");
            assert!(
                denial["reason"].as_str().unwrap().contains("cannot be granted"),
                "{denial}"
            );
        }
    }
}

#[test]
fn a_tool_that_no_longer_asks_for_what_it_was_granted_can_be_approved_or_its_grants_revoked() {
    for is_approved in [true, false] {
        let scene = Scene::new();
        scene.follow(&command_of(&scene.read("reads_file", "note.txt")));
        scene.remove_capabilities();
        let listed = scene.home.art(&["tool", "list"]);
        assert!(!listed.stdout().contains("refused"), "{listed}");
        let command = command_of(&scene.read("reads_file", "note.txt"));
        assert_eq!(command, "art grant approve reads_file");
        let refused = scene
            .home
            .art(&["grant", "add", "reads_file", "--limit", "fuel=1000000000"]);
        assert_eq!(suggested(&refused.stderr()), command, "{refused}");
        if is_approved {
            let without_terminal = scene.home.art(&["grant", "approve", "reads_file"]);
            assert!(without_terminal.stderr().contains("add `--yes`"), "{without_terminal}");
            let approved = scene.follow(&format!("{command} --yes"));
            assert!(
                approved
                    .stderr()
                    .contains("cannot use this grant, so it ends: may read"),
                "{approved}"
            );
        } else {
            scene.follow("art grant revoke reads_file --all");
        }
        // The tool is called again. What it does not ask for cannot be granted any more, and the denial says so.
        let denial = denial(&scene.read("reads_file", "note.txt"));
        assert_eq!(denial["command"], Value::Null, "{denial}");
        assert!(
            denial["reason"].as_str().unwrap().contains("does not ask for it"),
            "{denial}"
        );
    }
}

#[test]
fn a_capability_that_a_tool_does_not_ask_for_has_no_command_and_the_author_is_told_what_to_add() {
    let scene = Scene::new();
    scene.remove_capabilities();
    let denial = denial(&scene.read("reads_file", "note.txt"));
    assert_eq!(denial["command"], Value::Null, "{denial}");
    let reason = denial["reason"].as_str().unwrap();
    assert!(
        reason.contains("`fs(read)`") && reason.contains("`capabilities(..)`"),
        "{reason}"
    );
}

#[test]
fn what_the_manifest_does_not_ask_for_has_no_command_and_the_reason_says_so() {
    let scene = Scene::new();
    scene.replace_capabilities("reads_file", r#"{"kind":"fs","access":"read","path":"{args.path}"}"#);
    let folder = scene.path("");
    scene.follow(&format!("art grant add reads_file --read {}", folder.display()));
    assert_eq!(scene.read("reads_file", "note.txt").code(), 0);
    let scene = Scene::new();
    scene.home.add("fetches", components::FETCHES);
    scene.replace_capabilities("fetches", r#"{"kind":"http","url":"https://api.example.com/"}"#);
    for (url, method) in [("https://other.example/", "GET"), ("https://api.example.com/", "POST")] {
        let denial = denial(&scene.call("fetches", &json!({"url": url, "method": method})));
        assert_eq!(denial["command"], Value::Null, "{denial}");
        let reason = denial["reason"].as_str().unwrap();
        assert!(
            reason.contains("no grant can allow it")
                && reason.contains("send GET requests to `https://api.example.com/`"),
            "{reason}"
        );
    }
    let command = command_of(&scene.call("fetches", &json!({"url": "https://api.example.com/"})));
    scene.follow(&command);
}

#[test]
fn a_path_that_this_host_never_grants_has_no_command_while_the_tool_runs() {
    let scene = Scene::new();
    let home = scene.home.dir.path().canonicalize().unwrap();
    let hidden = TempDir::new().unwrap();
    fs::create_dir(hidden.path().join(".ssh")).unwrap();
    let variables = [("HOME", hidden.path().to_str().unwrap())];
    for path in [home.join("plugins/reads_file.wasm"), hidden.path().join(".ssh/id")] {
        let arguments = json!({"path": path}).to_string();
        let words = ["--json", "tool", "call", "reads_file", &arguments];
        let denial = denial(&scene.home.art_with_environment(&words, &variables));
        assert_eq!(denial["command"], Value::Null, "{denial}");
        assert!(
            denial["reason"].as_str().unwrap().contains("cannot be granted"),
            "{denial}"
        );
    }
}

#[test]
fn a_grant_that_was_never_asked_for_leads_to_what_the_tool_asks_for() {
    let scene = Scene::new();
    let refused = scene
        .home
        .art(&["grant", "add", "reads_file", "--http", "https://example.com/"]);
    assert_eq!(refused.code(), 2, "{refused}");
    let listed = scene.follow(&suggested(&refused.stderr()));
    assert!(listed.stdout().contains("asks to read"), "{listed}");
    for words in [
        &["grant", "revoke", "reads_file", "/nowhere"][..],
        &["grant", "revoke", "reads_fil", "/nowhere"],
        &["grant", "add", "reads_fil", "--read", "/tmp"],
    ] {
        let refused = scene.home.art(words);
        assert_eq!(refused.code(), 2, "{refused}");
        scene.follow(&suggested(&refused.stderr()));
    }
}

#[test]
fn the_command_for_a_server_on_this_machine_changes_the_grant_that_was_used() {
    for path in ["/v1", "/"] {
        let (scene, server) = (Scene::new(), HttpServer::page("hello"));
        let port = server.authority().rsplit_once(':').unwrap().1.to_owned();
        let base = format!("http://localhost:{port}{path}");
        scene.follow(&format!("art grant add http_fetch --http {base}"));
        let call = || {
            scene.call(
                "http_fetch",
                &json!({"url": format!("{}/page", base.trim_end_matches('/'))}),
            )
        };
        let command = command_of(&call());
        assert_eq!(command, format!("art grant add http_fetch --http {base} --private"));
        scene.follow(&command);
        let called = call();
        assert_eq!(called.code(), 0, "{called}");
        assert_eq!(server.requests().len(), 1);
        let listed = scene.home.art(&["--json", "grant", "list", "http_fetch"]).json();
        assert_eq!(listed[0]["grants"]["http"].as_array().unwrap().len(), 1, "{listed}");
    }
}

#[test]
fn the_command_for_an_address_without_a_grant_works_for_a_server_on_this_machine() {
    let (scene, server) = (Scene::new(), HttpServer::page("hello"));
    for host in ["127.0.0.1", "localhost"] {
        let port = server.authority().rsplit_once(':').unwrap().1.to_owned();
        let arguments = json!({"url": format!("http://{host}:{port}/v1/page")});
        let command = command_of(&scene.call("http_fetch", &arguments));
        assert!(command.ends_with(" --private"), "{command}");
        scene.follow(&command);
        let called = scene.call("http_fetch", &arguments);
        assert_eq!(called.code(), 0, "{called}");
    }
}

#[test]
fn the_command_for_a_secret_that_is_not_set_works() {
    let (scene, server) = (Scene::new(), HttpServer::page("hello"));
    let url = server.url("/page");
    scene.follow(&format!(
        "art grant add http_fetch --http {url} --private --secret MISSING"
    ));
    let command = command_of(&scene.call("http_fetch", &json!({"url": url})));
    scene.follow(&format!("printf some-s3cret-value | {command}"));
    assert_eq!(scene.call("http_fetch", &json!({"url": url})).code(), 0);
}

#[test]
fn a_misspelt_option_names_the_valid_ones() {
    let scene = Scene::new();
    for (words, expected) in [
        (&["--limit", "fule=5"][..], "expected one of fuel"),
        (&["--limit", "fuel=many"], "takes a whole number"),
        (
            &["--http", "https://example.com/", "--method", "FETCH"],
            "expected one of GET",
        ),
        (&["--http", "example.com"], "is no address for requests"),
        (&["--stage"], "--write"),
        (&["--private"], "--http"),
    ] {
        let refused = scene.home.art(&[&["grant", "add", "http_fetch"], words].concat());
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains(expected), "{words:?}: {refused}");
    }
}

#[test]
fn the_option_that_names_the_folder_of_the_current_directory_works() {
    let scene = Scene::new();
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("plugins")).unwrap();
    fs::copy(components::ECHO, folder.path().join("plugins/echo.wasm")).unwrap();
    let run = |options: &[&str]| {
        let mut command = Command::new(scene.home.command(&[]).get_program());
        command.arg("--home").arg(scene.home.dir.path()).args(options);
        command
            .args(["tool", "list"])
            .env_remove("ART_PLUGINS")
            .current_dir(folder.path());
        CommandOutput(command.output().unwrap())
    };
    let listed = run(&[]);
    let hint = listed
        .stderr()
        .split('`')
        .find(|part| part.starts_with("--plugins"))
        .map(str::to_owned);
    let hint = hint.unwrap_or_else(|| panic!("no hint: {listed}"));
    let listed = run(&hint.split(' ').collect::<Vec<_>>());
    assert!(listed.stdout().contains("echo"), "{listed}");
}

#[test]
fn a_capability_that_refers_to_an_argument_that_the_tool_does_not_have_is_refused_when_the_tool_is_loaded() {
    let refusal = |capability: Value, input_schema: &str| {
        let manifest = json!({"tool": "handmade", "capabilities": [capability]}).to_string();
        let section = format!("(@custom \"art:manifest\" \"{}\")", manifest.replace('"', "\\\""));
        let tool = Handmade {
            items: &section,
            input_schema,
            ..Handmade::default()
        };
        let home = Home::empty();
        fs::write(home.plugins().join("handmade.wasm"), tool.build()).unwrap();
        let listed = home.art(&["--json", "tool", "list"]).json();
        listed["refused"][0]["reason"].as_str().map(str::to_owned)
    };
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let nested = r##"{"type":"object","oneOf":[{"type":"object","properties":{"path":{"type":"string"}}}]}"##;
    for name in ["path", "x"] {
        let reference = format!("{{args.{name}}}");
        for capability in [
            json!({"kind": "fs", "access": "read", "path": reference}),
            json!({"kind": "http", "url": reference}),
        ] {
            for schema in [schema, nested] {
                let refused = refusal(capability.clone(), schema);
                match name {
                    "path" => assert_eq!(refused, None),
                    _ => {
                        let reason = refused.unwrap();
                        assert!(
                            reason.contains("`{args.x}` in its capabilities names no argument"),
                            "{reason}"
                        );
                        assert!(reason.contains("its arguments are `path`"), "{reason}");
                    }
                }
            }
        }
    }
}
