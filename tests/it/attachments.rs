//! The titles, logs and files that tools produce in addition to their outputs.

use std::fs;

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{Provider, Reply, is_planning, is_synthesis, plan_text};

/// The name that the tool `produces_files` gives its table in most tests.
const TABLE: &str = "out.csv";
/// The name that the host gives the picture of this tool, since the tool gives it none.
const PICTURE: &str = "file";
/// A text that is in every log record and in every printed line of this tool.
const LOGGED: &str = "the walrus";

/// Runs `art` with `args` and with a plan whose first step attaches a table called `table_name` and a picture, and whose second
/// step returns the content of the attached file `file_to_read`.
fn run(home: &Home, table_name: &str, file_to_read: &'static str, args: &[&str]) -> (CommandOutput, Provider) {
    home.add("produces_files", components::PRODUCES_FILES);
    home.add("echo", components::ECHO);
    let step = |id: &str, tool: &str, dependencies: &[&str]| {
        json!({"id": id, "description": format!("Step {id}"), "stepType": "tool", "requiredTools": [tool],
            "dependencies": dependencies})
    };
    let steps = json!([step("one", "produces_files", &[]), step("two", "echo", &["one"])]);
    let table_arguments = json!({ "name": table_name });
    // In reverse order, because `pop` takes the last one.
    let mut replies = vec![
        Reply::Text(vec!["done".to_owned()]),
        // The host replaces `attachment:NAME` by the content of the file before it calls the tool.
        Reply::Call("echo", json!({"text": format!("attachment:{file_to_read}")})),
        Reply::Text(vec!["done".to_owned()]),
        Reply::Call("produces_files", table_arguments),
    ];
    let provider = Provider::start(move |request| {
        if is_planning(request) {
            Reply::Text(vec![plan_text(&steps)])
        } else if is_synthesis(request) {
            Reply::Text(vec!["<mainContent>There.</mainContent>".to_owned()])
        } else {
            replies.pop().unwrap()
        }
    });
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let ran = home.art(&[&model[..], args].concat());
    (ran, provider)
}

/// Returns the report of a run in which the second step reads the table.
fn report(home: &Home) -> Value {
    report_with(home, TABLE, TABLE)
}

fn report_with(home: &Home, table_name: &str, file_to_read: &'static str) -> Value {
    let (ran, _provider) = run(home, table_name, file_to_read, &["--json", "run", "Go"]);
    assert_eq!(ran.code(), 0, "{ran}");
    ran.json()
}

/// Returns the identifier of the run.
fn trace_id(report: &Value) -> &str {
    report["traceId"].as_str().unwrap()
}

#[test]
fn a_later_step_receives_a_file_as_text_or_base64() {
    let home = Home::new();
    for (file_to_read, content) in [(TABLE, "a,b\n1,2\n"), (PICTURE, "iVBORw0KGgr/")] {
        let report = report_with(&home, TABLE, file_to_read);
        assert_eq!(
            report["steps"][1]["toolResults"][0]["output"]["text"], content,
            "{report}"
        );
    }
}

#[test]
fn the_printed_plan_and_the_report_have_titles_and_files_and_no_prompt_has_logs() {
    let home = Home::new();
    let (ran, provider) = run(&home, TABLE, TABLE, &["run", "Go"]);
    let stderr = ran.stderr();
    assert!(
        stderr.contains("done  one  Step one: a table and\\u{2028}a picture  ("),
        "{stderr}"
    );
    assert!(
        stderr.contains("file: out.csv (text/csv, 8 B); `art runs save "),
        "{stderr}"
    );
    let prompts: Vec<_> = provider
        .take_requests()
        .into_iter()
        .map(|request| request.body.to_string())
        .collect();
    assert!(prompts.iter().any(|prompt| prompt.contains("out.csv")));
    assert!(!prompts.iter().any(|prompt| prompt.contains(LOGGED)), "{prompts:?}");
    let report = report(&home);
    assert_eq!(report["files"][0]["name"], "out.csv", "{report}");
    assert_eq!(report["files"][1]["bytes"], 9);
    assert_eq!(
        report["steps"][0]["toolResults"][0]["metadata"]["title"],
        "a table and\u{2028}a picture"
    );
}

#[test]
fn a_single_call_prints_its_title_and_how_to_save_its_files() {
    let home = Home::new();
    home.add("produces_files", components::PRODUCES_FILES);
    // The host removes the invisible character U+200B from the name.
    let ran = home.art(&["tool", "call", "produces_files", r#"{"name": "out\u200b.csv"}"#]);
    assert_eq!(ran.stdout(), "2\n", "{ran}");
    assert!(ran.stderr().contains("title: a table and\\u{2028}a picture\n"), "{ran}");
    assert!(
        ran.stderr().contains("file: out.csv (text/csv, 8 B); `art runs save "),
        "{ran}"
    );
}

#[test]
fn logs_and_printed_text_of_tools_are_shown_with_the_run_only_on_request() {
    let home = Home::new();
    let report = report(&home);
    let shown = home.art(&["runs", "show", trace_id(&report), "--logs"]);
    for line in [
        "log: the walrus logs\n",
        "stdout: the walrus writes\n",
        "stderr: the walrus complains\n",
        "log: echoing\n",
        "out.csv  text/csv",
    ] {
        assert!(shown.stdout().contains(line), "`{line}` is missing: {shown}");
    }
    let shown = home.art(&["runs", "show", trace_id(&report)]);
    assert!(!shown.stdout().contains(LOGGED), "{shown}");
    let shown = home
        .art(&["--json", "runs", "show", trace_id(&report), "--logs"])
        .json();
    assert_eq!(shown["logs"][0]["toolName"], "produces_files", "{shown}");
    assert_eq!(shown["logs"][0]["log"]["records"][0]["message"], "the walrus logs");
    assert!(
        !shown["journal"].to_string().contains(LOGGED),
        "the journal contains digests of logs, not their text"
    );
}

#[test]
fn a_file_is_saved_and_overwrites_another_only_with_force() {
    let home = Home::new();
    // The tool gives this path as the name of the table. The host keeps only its last part, `out.csv`.
    let report = report_with(&home, "../../out.csv", TABLE);
    let folder = home.dir.path().join("results");
    fs::create_dir(&folder).unwrap();
    let save = |name: &str, more: &[&str]| {
        let args = [
            "runs",
            "save",
            trace_id(&report),
            name,
            "--to",
            folder.to_str().unwrap(),
        ];
        home.art(&[&args[..], more].concat())
    };
    let saved = save("out.csv", &[]);
    assert_eq!(saved.code(), 0, "{saved}");
    let path = folder.join("out.csv");
    assert_eq!(saved.stdout(), format!("{}\n", path.display()));
    assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n");
    fs::write(&path, "mine").unwrap();
    let refused = save("out.csv", &[]);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(refused.stderr().contains("already exists"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(save("out.csv", &["--force"]).code(), 0);
    assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n");
    let unknown = save("../../out.csv", &[]);
    assert!(unknown.stderr().contains("its files: `out.csv`, `file`"), "{unknown}");
}

#[test]
fn a_symbolic_link_is_never_written_through() {
    let home = Home::new();
    let report = report(&home);
    let (mine, link) = (home.file("mine.txt", "mine"), home.dir.path().join("link"));
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    for more in [&[][..], &["--force"]] {
        let args = [
            "runs",
            "save",
            trace_id(&report),
            "out.csv",
            "--to",
            link.to_str().unwrap(),
        ];
        let ran = home.art(&[&args[..], more].concat());
        assert_eq!(ran.code(), 1, "{ran}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }
}

#[test]
fn files_and_logs_are_deleted_with_the_conversation() {
    let home = Home::new();
    let report = report(&home);
    let deleted = home.art(&["thread", "delete", report["threadId"].as_str().unwrap()]);
    assert_eq!(deleted.code(), 0, "{deleted}");
    let ran = home.art(&["runs", "save", trace_id(&report), "out.csv"]);
    assert!(ran.stderr().contains("there is no run"), "{ran}");
    for entry in fs::read_dir(home.dir.path().join("state"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&bytes).contains("the walrus complains"),
            "{:?}",
            entry.path()
        );
    }
}

#[test]
fn an_attachment_of_an_earlier_question_is_used_only_if_it_is_kept_or_named() {
    const QUESTION: &str = "How many rows does the table have?";
    for (options, later, answers) in [
        (&[][..], QUESTION, false),
        (&[], "How many rows does stock.csv have?", true),
        (&["--keep"], QUESTION, true),
    ] {
        let home = Home::new();
        let file = home.file("stock.csv", "item,count\nbolt,3\nnut,4\n");
        let attach = ["run", QUESTION, "--attach", file.to_str().unwrap()];
        let first = home.art(&[&attach, options].concat());
        assert!(first.stdout().contains('2'), "{first}");
        assert!(!first.stdout().contains("earlier question"), "{first}");
        let second = home.art(&["run", "--thread", "last", later]);
        assert_eq!(second.code() == 0, answers, "{later}: {second}");
        let names_file = second.stdout().contains("- stock.csv, attached to an earlier question");
        assert_eq!(names_file, answers, "{later}: {second}");
    }
}
