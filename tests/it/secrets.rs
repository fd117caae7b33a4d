//! A secret appears only in a private file, and in the requests for which a grant names the secret.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::http_server::{HttpServer, response};
use crate::program::CommandOutput;

/// The value of the secret `KEY`.
pub(crate) const SECRET_VALUE: &str = "hunter2hunter2";
/// The value of the canary `DECOY`: a secret that no tool is given, so a tool that has it has read it where it should not.
const DECOY_VALUE: &str = "decoy-value-1";

/// Returns a home with the tools `fetches` and `echo`, and the secret `KEY`.
pub(crate) fn home() -> Home {
    let home = Home::empty();
    home.add("fetches", components::FETCHES);
    home.add("echo", components::ECHO);
    let set = home.art_with_input(&["secret", "set", "KEY"], &format!("{SECRET_VALUE}\n"));
    assert_eq!(set.code(), 0, "{set}");
    home
}

#[test]
fn secrets_that_processes_store_at_the_same_time_are_all_kept() {
    let home = Home::empty();
    let names: Vec<_> = (0..8).map(|number| format!("KEY_{number}")).collect();
    let store = |name: &String| {
        let mut command = home.command(&["secret", "set", name, "--from-env", "MY_KEY"]);
        command
            .env("MY_KEY", SECRET_VALUE)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let storing: Vec<_> = names.iter().map(store).collect();
    for mut process in storing {
        assert!(process.wait().unwrap().success());
    }
    let listed = home.art(&["secret", "list"]);
    assert!(names.iter().all(|name| listed.stdout().contains(name)), "{listed}");
}

/// Grants `fetches` the requests to a server of the test. The host adds the secret `KEY` to each of them.
pub(crate) fn grant(home: &Home, server: &HttpServer) {
    grant_url(home, &server.url("/"));
}

/// Same as [`grant`], with the URL of the server. `--private` allows 127.0.0.1, which is not a public address.
fn grant_url(home: &Home, url: &str) {
    let words = [
        "grant",
        "add",
        "fetches",
        "--http",
        url,
        "--private",
        "--secret",
        "KEY",
        "--method",
        "GET",
        "--method",
        "POST",
    ];
    let granted = home.art(&words);
    assert_eq!(granted.code(), 0, "{granted}");
}

/// Calls `fetches`, which sends a request.
pub(crate) fn fetch(home: &Home, arguments: &Value) -> CommandOutput {
    home.art(&["--json", "tool", "call", "fetches", &arguments.to_string()])
}

/// Returns a server that echoes the request in its response, as some services do.
pub(crate) fn echo_server() -> HttpServer {
    HttpServer::start(|request| {
        // The third line of a request is its second header: `authorization` with the secret, if only `host` is before it.
        response(
            200,
            &[("x-echo", request.lines().nth(2).unwrap_or_default())],
            request.as_bytes(),
        )
    })
}

/// Returns the files below a directory that contain a text, except for links and the file of the secrets.
pub(crate) fn files_containing(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() || path.ends_with("secrets/secrets.toml") {
            continue;
        }
        if path.is_dir() {
            found.extend(files_containing(&path, text));
        } else if fs::read(&path)
            .unwrap()
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_secret_reaches_the_server_and_nothing_else() {
    let (home, server) = (home(), echo_server());
    grant(&home, &server);
    // With `fails`, the tool fails after the response, and the text of the response is its error.
    for (fails, verbose) in [(false, false), (true, true)] {
        let arguments = json!({"url": server.url("/"), "fails": fails}).to_string();
        let mut words = vec!["--json", "tool", "call", "fetches", &arguments];
        if verbose {
            words.push("-vv");
        }
        let called = home.art(&words);
        assert!(
            server
                .requests()
                .pop()
                .unwrap()
                .contains(&format!("authorization: Bearer {SECRET_VALUE}"))
        );
        assert!(
            !called.stdout().contains(SECRET_VALUE) && !called.stderr().contains(SECRET_VALUE),
            "{called}"
        );
        assert!(called.stdout().contains("«secret»"), "{called}");
    }
    let shown = home.art(&["runs", "show", "last"]);
    assert!(!shown.stdout().contains(SECRET_VALUE), "{shown}");
    assert_eq!(files_containing(home.dir.path(), SECRET_VALUE), [""; 0]);
}

/// A secret in which each encoder changes something.
const AWKWARD_VALUE: &str = "pa/s\"w\\rd!*'()=%41";

#[test]
fn a_secret_comes_back_in_no_encoding() {
    let home = home();
    let set = home.art_with_input(&["secret", "set", "KEY"], AWKWARD_VALUE);
    assert_eq!(set.code(), 0, "{set}");
    for echoed in [
        AWKWARD_VALUE,
        // JSON: with escapes in any mixture, also of a text in a text.
        r#"pa/s\"w\\rd!*'()=%41"#,
        r#"\u0070\u0061\/s\u0022w\u005Crd!*'()\u003d%41"#,
        r#"pa/s\\\"w\\\\rd!*'()=%41"#,
        // Percent encoding: that of `encodeURI`, which keeps `/`, that of `encodeURIComponent`, which keeps `!*'()`, of all bytes,
        // in lower case, and twice.
        "pa/s%22w%5Crd!*'()=%2541",
        "pa%2Fs%22w%5Crd!*'()%3D%2541",
        "%70%61%2f%73%22%77%5c%72%64%21%2a%27%28%29%3d%25%34%31",
        "pa%252Fs%2522w%255Crd%2521%252A%2527%2528%2529%253D%252541",
        // HTML.
        "pa&#x2F;s&quot;w&#92;rd!*&#39;()&#61;%41",
        // Base64 of `user:` with the secret: in one line, in lines, in lines of a JSON text, and for URLs without padding.
        "dXNlcjpwYS9zIndccmQhKicoKT0lNDE=",
        "dXNlcjpwYS9z\r\n    IndccmQhKico\r\n    KT0lNDE=\r\n",
        r"dXNlcjpwYS9z\r\nIndccmQhKico\r\nKT0lNDE\u003d\r\n",
        "dXNlcjpwYS9zIndccmQhKicoKT0lNDE",
        // Hexadecimal: in upper case, and with separators.
        "70612F7322775C7264212A2728293D253431",
        "70:61:2f:73:22:77:5c:72:64:21:2a:27:28:29:3d:25:34:31",
    ] {
        let body = format!("<{echoed}>");
        let server = HttpServer::start(move |_| response(200, &[], body.as_bytes()));
        grant(&home, &server);
        let called = fetch(&home, &json!({"url": server.url("/")}));
        let page = called.json()["result"]["output"]["text"].as_str().map(str::to_owned);
        let page = page.unwrap_or_else(|| panic!("{echoed}: {called}"));
        assert!(page.contains("«secret»"), "{echoed}: {page}");
        assert!(page.len() < 32, "{echoed}: {page}");
    }
}

#[test]
fn a_request_with_a_secret_does_not_leave_its_grant() {
    let (home, server) = (home(), echo_server());
    grant_url(&home, &server.url("/api"));
    let refused = |arguments: Value, reason: &str| {
        let called = fetch(&home, &arguments);
        assert_eq!(called.json()["result"]["code"], "PERMISSION_DENIED", "{called}");
        assert!(called.stdout().contains(reason), "{called}");
    };
    for header in [
        "X-HTTP-Method-Override",
        "X-Original-URL",
        "X-Rewrite-URL",
        "x_original_url",
        "X-Forwarded-Host",
    ] {
        let name = header.to_ascii_lowercase();
        let arguments = json!({"url": server.url("/api"), "headers": {header: "/admin"}});
        refused(
            arguments,
            &format!("the header `{name}` can make the server answer another request"),
        );
    }
    for (path, reason) in [
        ("/api/..;/admin", "its path has `..;`"),
        ("/api/%252e%252e/admin", "its path has `%252e%252e`"),
        ("/api/..%2fadmin", "its path has `..%2fadmin`"),
        (
            "/api/a%2Fb",
            "its path has `%2F`, which is sent only where a grant covers the whole host",
        ),
        ("/api?_method=DELETE", "the parameter `_method` of the query"),
    ] {
        refused(json!({"url": server.url(path)}), reason);
    }
    assert_eq!(server.requests(), [""; 0]);
    grant(&home, &server);
    let called = fetch(&home, &json!({"url": server.url("/a%2Fb")}));
    assert_eq!(called.code(), 0, "{called}");
    assert!(
        server.requests().pop().unwrap().starts_with("GET /a%2Fb "),
        "{:?}",
        server.requests()
    );
}

#[test]
fn a_secret_is_in_no_trace_and_in_no_backtrace() {
    let (home, server) = (home(), echo_server());
    let unreachable_url = "http://127.0.0.1:1/".to_owned();
    grant(&home, &server);
    grant_url(&home, &unreachable_url);
    let environment = [("ART_LOG", "trace"), ("RUST_BACKTRACE", "full")];
    for (url, fails) in [
        (server.url("/"), false),
        (server.url("/"), true),
        (unreachable_url, false),
    ] {
        let arguments = json!({"url": url, "fails": fails}).to_string();
        let called = home.art_with_environment(&["tool", "call", "fetches", &arguments], &environment);
        let written = called.stdout() + &called.stderr();
        assert!(written.contains("TRACE") && !written.contains(SECRET_VALUE), "{called}");
    }
}

/// A core dump would contain the secrets that are in memory.
#[test]
fn the_host_writes_no_core_dump() {
    let home = home();
    let mut chat = home.command(&["chat"]);
    let mut chat = chat
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let limits = format!("/proc/{}/limits", chat.id());
    let dumps_are_off = || {
        let limits = fs::read_to_string(&limits).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))
            .unwrap();
        // The fifth word is the soft limit.
        core.split_whitespace().nth(4) == Some("0")
    };
    let was_off = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        dumps_are_off()
    });
    drop(chat.stdin.take());
    chat.wait().unwrap();
    assert!(was_off);
}

#[test]
fn a_request_whose_secret_is_not_stored_is_denied_with_the_command_that_stores_it() {
    let (home, server) = (home(), echo_server());
    grant(&home, &server);
    assert_eq!(home.art(&["secret", "rm", "KEY"]).code(), 0);
    let called = fetch(&home, &json!({"url": server.url("/")}));
    let denials = &called.json()["result"]["metadata"]["denials"];
    assert_eq!(denials[0]["command"], "art secret set KEY", "{called}");
    // The model reads the error: the tool passes on what the SDK says, and the host adds the reason and the command.
    let result = called.json();
    let error = result["result"]["error"].as_str().unwrap();
    for part in ["is not allowed", "the secret `KEY` is not set", "`art secret set KEY`"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(server.requests(), [""; 0]);
    let arguments = json!({"url": server.url("/")}).to_string();
    let words = ["--json", "tool", "call", "fetches", &arguments];
    // The environment variable for the secret `KEY` is `ART_SECRET_` with this name at its end.
    let called = home.art_with_environment(&words, &[("ART_SECRET_KEY", "from-the-environment")]);
    assert_eq!(called.code(), 0, "{called}");
    assert!(
        server
            .requests()
            .pop()
            .unwrap()
            .contains("authorization: Bearer from-the-environment")
    );
}

#[test]
fn secrets_are_listed_by_name_and_removed() {
    let home = home();
    let set = home.art_with_environment(
        &["secret", "set", "OTHER", "--from-env", "MY_KEY"],
        &[("MY_KEY", "other-value-1")],
    );
    assert_eq!(set.code(), 0, "{set}");
    let listed = home.art(&["secret", "list"]);
    assert_eq!(listed.stdout(), "KEY  file\nOTHER  file\n");
    assert_eq!(home.art(&["secret", "rm", "OTHER"]).code(), 0);
    let missing = home.art(&["secret", "rm", "OTHER"]);
    assert!(
        missing.stderr().contains("there is no stored secret `OTHER`"),
        "{missing}"
    );
    let listed = home.art_with_environment(&["--json", "secret", "list"], &[("ART_SECRET_NEW", "new-value-123")]);
    assert_eq!(
        listed.json(),
        json!([{"name": "KEY", "source": "file"}, {"name": "NEW", "source": "environment"}])
    );
    assert!(!listed.stdout().contains("new-value"));
}

#[test]
fn a_secret_as_an_argument_is_refused_and_a_value_that_no_secret_can_have_is_not_shown() {
    let home = home();
    assert_eq!(home.art(&["secret", "set", "KEY", SECRET_VALUE]).code(), 2);
    let (too_short, with_spaces, empty) = ("abc12", "two words 123", "");
    for value in [too_short, with_spaces, empty] {
        let refused = home.art_with_input(&["secret", "set", "KEY"], value);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(value.is_empty() || !refused.stderr().contains(value), "{refused}");
    }
}

#[test]
fn a_file_of_secrets_that_others_can_read_is_refused() {
    let (home, server) = (home(), echo_server());
    grant(&home, &server);
    let file = home.dir.path().join("secrets").join("secrets.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let called = fetch(&home, &json!({"url": server.url("/")}));
    assert!(called.stdout().contains("are not private"), "{called}");
    assert_eq!(server.requests(), [""; 0]);
    assert!(home.art(&["doctor"]).stdout().contains("are not private"));
}

#[test]
fn a_secret_is_typed_at_a_terminal_without_being_shown() {
    let home = Home::empty();
    let mut terminal = crate::terminal::Terminal::start(&home, &["secret", "set", "KEY"]);
    terminal.until("it is not shown");
    terminal.type_keys("typed-value-1\r");
    terminal.until("is stored in");
    let (output, code) = terminal.wait();
    assert!(code == 0 && !output.contains("typed-value-1"), "{output}");
    let stored = fs::read_to_string(home.dir.path().join("secrets").join("secrets.toml")).unwrap();
    assert!(stored.contains("typed-value-1"));
}

#[test]
fn a_tool_that_returns_a_canary_is_not_called_while_it_is_in_quarantine() {
    let home = home();
    // The runs of this home are not replayed when it is dropped, since a replay does not know the canary.
    home.skip_check_on_drop();
    let set = home.art_with_input(&["secret", "set", "DECOY", "--canary"], DECOY_VALUE);
    assert_eq!(set.code(), 0, "{set}");
    let call = |text: &str| home.art(&["--json", "tool", "call", "echo", &json!({"text": text}).to_string()]);
    assert_eq!(call("hello").code(), 0);
    let leaked = call(DECOY_VALUE);
    assert_eq!(leaked.json()["result"]["code"], "PERMISSION_DENIED", "{leaked}");
    assert!(leaked.stdout().contains("decoy that no tool is given"), "{leaked}");
    let doctor = home.art(&["doctor"]);
    assert!(doctor.stdout().contains("`echo` (had the canary `DECOY`)"), "{doctor}");
    assert_ne!(call("hello").code(), 0);
    let list = home.art(&["tool", "list"]);
    assert!(
        list.stderr().contains("is in quarantine") || list.stdout().contains("is in quarantine"),
        "{list}"
    );
    // The file lists the tools in quarantine. Removing it ends every quarantine.
    fs::remove_file(home.dir.path().join("grants").join("quarantine")).unwrap();
    assert_eq!(call("hello").code(), 0);
}

#[test]
fn a_canary_in_a_request_is_not_sent() {
    let (home, server) = (home(), echo_server());
    grant(&home, &server);
    home.art_with_input(&["secret", "set", "DECOY", "--canary"], DECOY_VALUE);
    let called = fetch(
        &home,
        &json!({"url": server.url("/"), "method": "POST", "body": format!("found: {DECOY_VALUE}")}),
    );
    assert_eq!(called.json()["result"]["code"], "PERMISSION_DENIED", "{called}");
    assert!(
        server.requests().iter().all(|request| !request.contains(DECOY_VALUE)),
        "{:?}",
        server.requests()
    );
    // The tool is in quarantine now, so it cannot send even a request without the canary.
    let later = fetch(&home, &json!({"url": server.url("/")}));
    assert_ne!(later.code(), 0, "{later}");
}
