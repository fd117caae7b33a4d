//! The program `art` as its users run it: with real components, and a home for each test.
//!
//! The exit codes are those of `art --help`: 1 for a failed request, 2 for a wrong command line, 3 for an answer to a part of the
//! question, 4 for a question that no tool fits, 5 for a failed tool call, and 6 for an unusable configuration or store.

use std::fs;

use serde_json::json;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

#[test]
fn the_second_part_of_a_question_uses_the_result_of_the_first() {
    Home::new()
        .run("What is 17.5% of 2340, and what is that divided by 7?")
        .assert_answers(&["409.5", "58.5"]);
}

#[test]
fn days_between_two_dates_are_counted() {
    Home::new()
        .run("How many days are there between 2024-02-27 and 2026-11-21?")
        .assert_answers(&["998"]);
}

#[test]
fn the_weekday_of_a_date_is_answered() {
    Home::new()
        .run("What weekday is 2026-12-25?")
        .assert_answers(&["Friday"]);
}

#[test]
fn the_words_of_a_quoted_text_are_counted() {
    Home::new()
        .run("How many words are in \"to be or not to be\"?")
        .assert_answers(&["be\": 6"]);
}

#[test]
fn a_part_of_a_question_without_a_tool_makes_the_answer_partial() {
    let ran = Home::new().run("What is 2+2? Who won the football world cup in 2018?");
    assert_eq!(ran.code(), 3, "{}", ran.stderr());
    assert!(
        ran.stdout().contains("2+2: 4") && ran.stdout().contains("No tool fits"),
        "{}",
        ran.stdout()
    );
}

#[test]
fn units_are_converted() {
    Home::new()
        .run("Convert 72 miles per hour to metres per second")
        .assert_answers(&["32.18688"]);
}

#[test]
fn a_question_about_an_attached_table_is_answered() {
    let home = Home::new();
    let csv = home.file(
        "sales.csv",
        "region,product,sales\nNorth,a,120\nSouth,b,340\nNorth,b,90\nSouth,a,60\n",
    );
    let query = "Which region has the highest total sales in this table?";
    home.art(&["run", query, "--attach", csv.to_str().unwrap()])
        .assert_answers(&["South", "400"]);
}

/// Returns the command lines of the README's questions that have an attachment.
fn attached_questions() -> Vec<Vec<String>> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let lines = readme.lines().filter_map(|line| line.strip_prefix("cargo art run \""));
    let questions = lines.filter_map(|line| line.split_once("\" --attach "));
    let words = questions.map(|(query, file)| ["run", query, "--attach", file].map(str::to_owned).to_vec());
    words.collect()
}

#[test]
fn the_question_of_the_readme_about_a_table_is_answered() {
    let home = Home::new();
    let questions = attached_questions();
    assert_eq!(questions.len(), 1, "{questions:?}");
    for words in questions {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut art = home.command(&words);
        art.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        CommandOutput(art.output().unwrap()).assert_answers(&["South", "5389"]);
    }
}

#[test]
fn a_table_with_two_numeric_columns_needs_the_name_of_one() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sales.csv");
    let home = Home::new();
    let query = "Which product has the highest total units in this table?";
    home.art(&["run", query, "--attach", table])
        .assert_answers(&["Valve", "225"]);
    let arguments = json!({"csv": fs::read_to_string(table).unwrap(), "group_by": "region", "aggregate": "sum"});
    let unnamed = home.art(&["tool", "call", "csv_query", &arguments.to_string()]);
    assert_eq!(unnamed.code(), 5, "{unnamed}");
    assert!(unnamed.stderr().contains("`units`, `revenue`"), "{unnamed}");
}

#[test]
fn a_file_that_no_tool_accepts_is_warned_about() {
    let home = Home::new();
    // A call receives the file as base64, so that its 4 MiB become 5.3 MiB.
    for (bytes, is_warned) in [(4 << 20, true), (100, false)] {
        let pdf = home.file("a.pdf", &format!("%PDF-1.7\n{}", " ".repeat(bytes)));
        let ran = home.art(&["run", "What is 2+2?", "--attach", pdf.to_str().unwrap()]);
        let warning = "warning: no tool can read `a.pdf`: encoded as an argument of a tool it has 5.3 MiB, \
                       but the tools accept at most ";
        assert_eq!(ran.stderr().contains(warning), is_warned, "{}", ran.stderr());
        assert_eq!(ran.stdout(), "2+2: 4\n");
    }
}

#[test]
fn two_independent_questions_are_both_answered() {
    let query = "What is 12 * 12, and how many days are there between 2026-01-01 and 2026-03-01?";
    Home::new().run(query).assert_answers(&["144", "59"]);
}

#[test]
fn a_question_without_a_tool_is_not_answered() {
    let ran = Home::new().run("Who won the football world cup in 2018?");
    assert_eq!(ran.code(), 4);
    assert!(ran.stdout().starts_with("No tool fits"), "{}", ran.stdout());
}

#[test]
fn a_question_without_any_tool_is_told_that_there_are_none_and_doctor_fails() {
    let home = Home::empty();
    let ran = home.run("What is 2+2?");
    assert_eq!(ran.code(), 4, "{ran}");
    assert_eq!(ran.stdout(), "No tool fits \"What is 2+2?\": there are no tools.\n");
    assert_eq!(ran.stderr().matches("there are no tools in").count(), 1, "{ran}");
    let checked = home.art(&["doctor"]);
    assert_eq!(checked.code(), 6, "{checked}");
    assert!(checked.stdout().contains("fail  plugins"), "{checked}");
}

#[test]
fn stdout_contains_only_the_answer() {
    let ran = Home::new().run("What is 2+2?");
    assert_eq!(ran.stdout(), "2+2: 4\n");
    assert!(ran.stderr().starts_with("model embedded"), "{}", ran.stderr());
    assert!(ran.stderr().contains("fuel"), "{}", ran.stderr());
}

#[test]
fn json_output_contains_the_answer_and_its_cost() {
    let ran = Home::new().art(&["--json", "run", "What is 2+2?"]);
    let answer = ran.json();
    assert_eq!(answer["metadata"]["status"], "success");
    assert!(answer["calls"][0]["usage"]["fuel"].as_u64().unwrap() > 0);
    assert_eq!(ran.stderr(), "");
}

#[test]
fn the_journal_of_a_run_can_be_shown() {
    let home = Home::new();
    let trace_id = home.art(&["--json", "run", "What is 2+2?"]).json()["traceId"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = home.art(&["--json", "runs", "show", &trace_id]).json();
    assert_eq!(shown["run"]["status"], "success");
    let kinds: Vec<_> = shown["journal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["kind"].clone())
        .collect();
    assert_eq!(kinds[0], "started");
    for kind in ["model_asked", "model_replied", "tool_called", "tool_ended"] {
        assert!(kinds.contains(&json!(kind)), "{kinds:?}");
    }
}

#[test]
fn an_empty_question_is_a_usage_error() {
    let ran = Home::new().art(&["run", " "]);
    assert_eq!(
        (ran.code(), ran.stderr()),
        (
            2,
            "error: the question is empty (hint: `art run \"What is 2+2?\"`)\n".to_owned()
        )
    );
}

#[test]
fn a_question_may_begin_with_a_dash() {
    let home = Home::new();
    home.run("-5 + 3").assert_answers(&["-2"]);
    home.art(&["run", "--json", "-5 * 3"]).assert_answers(&["-15"]);
    home.run("-(2+3)*4").assert_answers(&["-20"]);
    let misspelt = home.art(&["run", "--atach", "a.csv", "What is 2+2?"]);
    assert_eq!(misspelt.code(), 2, "{misspelt}");
    assert!(misspelt.stderr().contains("'--atach'"), "{misspelt}");
}

// The option `--plugins`, which every test uses, names the folder.
#[test]
fn a_plugins_folder_that_an_option_names_has_to_exist() {
    let home = Home::new();
    std::fs::remove_dir_all(home.plugins()).unwrap();
    for verb in [&["run", "What is 2+2?"][..], &["tool", "list"]] {
        let ran = home.art(verb);
        assert_eq!(ran.code(), 2, "{ran}");
        assert!(ran.stderr().contains("there is no plugins folder"), "{ran}");
    }
}

#[test]
fn lists_can_be_limited() {
    let home = Home::new();
    home.run("What is 2+2?");
    home.run("What is 3+3?");
    let count = |args: &[&str]| home.art(args).json().as_array().map(Vec::len);
    assert_eq!(count(&["--json", "runs", "list", "--limit", "1"]), Some(1));
    assert_eq!(count(&["--json", "thread", "list", "--limit", "1"]), Some(1));
    assert_eq!(count(&["--json", "runs", "list"]), Some(2));
    assert_eq!(home.art(&["runs", "list", "--limit", "0"]).code(), 2);
}

#[test]
fn a_conversation_can_be_continued_and_deleted() {
    let home = Home::new();
    let thread = home.art(&["--json", "run", "What is 2+2?"]).json()["threadId"]
        .as_str()
        .unwrap()
        .to_owned();
    home.art(&["run", "--thread", &thread, "What is 3*5?"])
        .assert_answers(&["15"]);
    let messages = home.art(&["--json", "thread", "show", &thread]).json()["messages"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(messages, 4);
    assert_eq!(home.art(&["thread", "delete", &thread]).code(), 0);
    assert_eq!(home.art(&["thread", "show", &thread]).code(), 1);
}

#[test]
fn a_failed_tool_call_reports_the_reason_and_exits_with_5() {
    let ran = Home::new().art(&["tool", "call", "calculator", r#"{"expression":"2+"}"#]);
    assert_eq!(ran.code(), 5);
    assert!(
        ran.stderr().contains("error: Failed to evaluate expression:"),
        "{}",
        ran.stderr()
    );
    assert_eq!(ran.stdout(), "");
}

#[test]
fn all_invalid_arguments_are_listed() {
    let ran = Home::new().art(&["tool", "call", "unit_convert", r#"{"value":true,"frm":"km"}"#]);
    assert_eq!(ran.code(), 5);
    let error = ran.stderr();
    for part in [
        "Invalid arguments for tool \"unit_convert\"",
        "/value",
        "from",
        "to",
        "frm",
    ] {
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
}

#[test]
fn a_text_that_is_no_number_is_refused_by_the_tool() {
    let call = |value: &str| {
        let arguments = json!({"value": value, "from": "km", "to": "m"});
        Home::new().art(&["tool", "call", "unit_convert", &arguments.to_string()])
    };
    assert_eq!(call("1.5").code(), 0);
    let refused = call("0 + 2i");
    assert_eq!(refused.code(), 5, "{refused}");
    let part = "invalid value: string \"0 + 2i\", expected a number, or a text that is a number such as `2.5`";
    assert!(refused.stderr().contains(part), "{refused}");
}

#[test]
fn a_usage_error_is_json_for_programs() {
    let ran = Home::new().art(&["--json", "tool", "show"]);
    assert_eq!(ran.code(), 2, "{ran}");
    let message = "the following required arguments were not provided: <NAME>";
    assert_eq!(ran.json(), json!({"error": {"message": message, "code": "usage"}}));
}

#[test]
fn a_usage_error_shows_the_usage_to_people() {
    let ran = Home::new().art(&["tool", "show"]);
    assert_eq!((ran.code(), ran.stdout()), (2, String::new()));
    assert!(ran.stderr().contains("Usage: "), "{ran}");
}

#[test]
fn arguments_that_are_not_json_are_a_usage_error() {
    assert_eq!(Home::new().art(&["tool", "call", "calculator", "{bad"]).code(), 2);
}

#[test]
fn the_error_for_an_unknown_tool_names_the_known_ones() {
    let ran = Home::new().art(&["tool", "call", "nope", "{}"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("`calculator`"), "{}", ran.stderr());
}

#[test]
fn each_invalid_file_is_listed_as_refused_and_valid_ones_run() {
    let home = Home::new();
    let good = fs::read(home.plugins().join("calculator.wasm")).unwrap();
    fs::write(home.plugins().join("broken.wasm"), &good[..good.len() / 2]).unwrap();
    fs::write(home.plugins().join("empty.wasm"), "").unwrap();
    fs::write(home.plugins().join("text.wasm"), "(component)").unwrap();
    fs::write(home.plugins().join("zz_twin.wasm"), &good).unwrap();
    fs::File::create(home.plugins().join("huge.wasm"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.plugins().join("link.wasm")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        home.plugins().join("pipe.wasm"),
        rustix::fs::Mode::RUSR,
    )
    .unwrap();

    let listed = home.art(&["--json", "tool", "list"]).json();
    let refused = listed["refused"].as_array().unwrap();
    let names: Vec<_> = refused.iter().map(|entry| entry["file"].as_str().unwrap()).collect();
    let expected = [
        "broken.wasm",
        "empty.wasm",
        "huge.wasm",
        "link.wasm",
        "pipe.wasm",
        "text.wasm",
        "zz_twin.wasm",
    ];
    assert_eq!(names, expected);
    let twin = refused.last().unwrap();
    assert!(twin["reason"].as_str().unwrap().contains("`calculator`"), "{refused:?}");
    home.run("What is 2+2?").assert_answers(&["4"]);
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_kept() {
    let home = Home::new();
    fs::create_dir(home.dir.path().join("state")).unwrap();
    let path = home.dir.path().join("state/art.db");
    // Without this call, dropping the home would read its runs from the database, in order to replay them.
    home.skip_check_on_drop();
    fs::write(&path, "this is not a database").unwrap();
    let ran = home.art(&["thread", "list"]);
    assert_eq!(ran.code(), 6, "{}", ran.stderr());
    assert_eq!(fs::read_to_string(path).unwrap(), "this is not a database");
}

#[test]
fn the_configuration_shows_the_origin_of_each_value() {
    let home = Home::new();
    home.file("art.toml", "[sandbox]\nworkers = 1\n");
    let plugins = home.plugins();
    let shown = home
        .art(&["--json", "--plugins", plugins.to_str().unwrap(), "config"])
        .json();
    assert_eq!(shown["workers"], json!({"value": 1, "origin": "file"}));
    assert_eq!(shown["plugins"]["origin"], "flag");
    assert_eq!(shown["model"], json!({"value": "embedded", "origin": "default"}));
}

#[test]
fn an_unknown_key_in_the_configuration_is_named() {
    let home = Home::new();
    home.file("art.toml", "modle = \"embedded\"\n");
    let ran = home.art(&["tool", "list"]);
    assert_eq!(ran.code(), 6);
    assert!(ran.stderr().contains("modle"), "{}", ran.stderr());
}

#[test]
fn the_error_for_an_unknown_model_names_the_known_ones() {
    let ran = Home::new().art(&["run", "--model", "nobody:nothing", "What is 2+2?"]);
    assert_eq!(ran.code(), 6);
    assert!(ran.stderr().contains("embedded"), "{}", ran.stderr());
}

#[test]
fn the_help_of_the_main_commands_has_an_example() {
    let home = Home::new();
    for verb in [
        &["quickstart"][..],
        &["run"],
        &["chat"],
        &["eval"],
        &["tool", "list"],
        &["tool", "show"],
        &["tool", "call"],
        &["plugin", "new"],
        &["plugin", "build"],
        &["thread", "list"],
        &["thread", "show"],
        &["thread", "set"],
        &["thread", "delete"],
        &["runs", "list"],
        &["runs", "show"],
        &["doctor"],
        &["config"],
        &["completion"],
    ] {
        let help = home.art(&[verb, &["--help"]].concat()).stdout();
        assert!(help.contains("Example"), "`{verb:?}` has no example:\n{help}");
    }
}

#[test]
fn the_embedded_model_reaches_the_goals_of_the_evaluation() {
    let lines = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/eval/tools.jsonl");
    let report = Home::new().art(&["--json", "eval", lines]).json();
    let share = |part: &str, whole: &str| report[part].as_f64().unwrap() / report[whole].as_f64().unwrap();
    assert_eq!(report["cases"], 52);
    assert!(share("toolsRight", "expectedCalls") >= 0.85, "{report}");
    assert!(share("callsRight", "expectedCalls") >= 0.60, "{report}");
    // `invented` is the number of calls in excess of the expected number.
    assert_eq!(report["invented"], 0);
}

#[test]
fn invisible_characters_are_escaped_for_the_terminal() {
    let home = Home::new();
    home.add("echo", components::ECHO);
    let hidden = [
        '\u{200b}', '\u{200d}', '\u{2028}', '\u{2029}', '\u{202e}', '\u{2060}', '\u{2066}', '\u{feff}',
    ];
    let text: String = hidden.iter().collect();
    let arguments = json!({ "text": text }).to_string();
    for command in [&["tool", "call", "echo"][..], &["--json", "tool", "call", "echo"]] {
        let ran = home.art(&[command, &[&arguments]].concat());
        assert_eq!(ran.code(), 0, "{ran}");
        for printed in [ran.stdout(), ran.stderr()] {
            assert!(!printed.contains(hidden), "{printed:?}");
        }
        assert!(ran.stdout().contains("2028"), "{ran}");
    }
    let ran = home.art(&["--json", "tool", "call", "echo", &arguments]);
    assert_eq!(ran.json()["result"]["output"]["text"], text);
}

#[test]
fn logs_and_usage_errors_are_escaped_for_the_terminal() {
    // The cache is empty, so that the component is compiled and run, which writes to the log.
    let home = Home::with_empty_cache();
    home.add("a\u{202e}\u{200b}b", components::ECHO);
    let listed = home.art(&["-vv", "tool", "list"]);
    assert!(
        listed.stderr().contains("TRACE") || listed.stderr().contains("DEBUG"),
        "{listed}"
    );
    let wrong = home.art(&["runs", "list", "--\u{202e}\u{200b}"]);
    assert_eq!(wrong.code(), 2, "{wrong}");
    assert!(wrong.stderr().contains("\\u{202e}"), "{wrong}");
    for ran in [listed, wrong] {
        assert!(!ran.stderr().contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{ran}");
    }
}

#[test]
fn the_option_raw_prints_the_output_of_the_only_call_unchanged() {
    let home = Home::new();
    let ran = home.art(&["run", "--raw", "What is 2+2?"]);
    assert_eq!((ran.code(), &ran.json()["result"]), (0, &json!(4)), "{}", ran.stderr());
    assert!(ran.stderr().contains("1 model call, 1 tool call"), "{}", ran.stderr());
    let shown = home.art(&["--json", "runs", "show", "last"]).json();
    assert!(shown.to_string().contains(r#""raw":true"#), "{shown}");
}

#[test]
fn the_option_raw_does_not_apply_to_a_plan_with_several_calls() {
    let ran = Home::new().art(&["run", "--raw", "What is 17.5% of 2340, and what is that divided by 7?"]);
    ran.assert_answers(&["409.5", "58.5"]);
    assert!(ran.stderr().contains("2 model calls"), "{}", ran.stderr());
}

#[test]
fn the_calls_of_each_step_are_printed_with_their_arguments() {
    let ran = Home::new().run("What is 17.5% of 2340, and what is that divided by 7?");
    let lines: Vec<String> = ran.stderr().lines().map(str::to_owned).collect();
    let expected_starts = [
        "begin step_1",
        "call  step_1",
        "done  step_1",
        "begin step_2",
        "call  step_2",
        "done  step_2",
    ];
    let mut lines_of_steps = lines.iter().filter(|line| line.contains(" step_"));
    for start in expected_starts {
        let line = lines_of_steps.next().unwrap();
        assert!(
            line.starts_with(start),
            "`{start}` is not where it should be: {}",
            ran.stderr()
        );
        if start == "call  step_2" {
            assert!(line.contains("409.5"), "{line}");
        }
    }
}
