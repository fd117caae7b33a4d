//! `art plan`, which plans a question and runs nothing, and `art run --plan`, which runs a plan from a file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{Provider, Reply, is_synthesis, plan_text};

/// Returns a step with one call of the calculator.
fn calculator_step(id: &str, expression: &Value) -> Value {
    let call = json!({"toolName": "calculator", "arguments": {"expression": expression}});
    json!({"id": id, "description": format!("Calculate {id}"), "toolCalls": [call]})
}

/// Returns a plan of two calculations with a parameter. The second one uses the result of the first.
fn discount_plan() -> Value {
    let discount = json!({"$concat": [{"$param": "rate"}, "% of 2340"]});
    let remainder = json!({"$concat": ["2340 - ", {"$from": "step_1", "path": "/result"}]});
    json!({
        "version": 1,
        "question": "What is {{rate}}% of 2340, and what is left of it?",
        "steps": [calculator_step("step_1", &discount), calculator_step("step_2", &remainder)],
        "params": {"rate": {"type": "number", "minimum": 0, "maximum": 100}},
    })
}

/// Returns a plan of these steps.
fn plan_of(steps: &Value) -> Value {
    json!({"version": 1, "question": "What is 6 times 7?", "steps": steps})
}

/// Writes a plan to a file of the home, and returns its path.
fn write_plan(home: &Home, plan: &Value) -> String {
    home.file("plan.json", &plan.to_string()).to_str().unwrap().to_owned()
}

/// Runs a plan with `art run --plan` and more arguments.
fn run(home: &Home, plan: &Value, more: &[&str]) -> CommandOutput {
    home.art(&[&["run", "--plan", &write_plan(home, plan)], more].concat())
}

/// Returns the number of runs of a home.
fn run_count(home: &Home) -> usize {
    home.art(&["--json", "runs", "list"]).json().as_array().unwrap().len()
}

/// Asserts that a plan is refused for its faults (exit code 10), that the message contains `parts`, and that nothing was run.
fn assert_refused(home: &Home, refused: &CommandOutput, parts: &[&str]) {
    assert_eq!(refused.code(), 10, "{refused}");
    for part in parts {
        assert!(refused.stderr().contains(part), "`{part}` is missing: {refused}");
    }
    assert_eq!((refused.stdout().as_str(), run_count(home)), ("", 0));
}

/// Starts a provider whose model plans the steps `items`, and then answers.
fn planning_provider(items: Value) -> Provider {
    Provider::start(move |request| match is_synthesis(request) {
        true => Reply::Text(vec!["<mainContent>It is done.</mainContent>".to_owned()]),
        false => Reply::Text(vec![plan_text(&items)]),
    })
}

/// Runs `art` with a model of `provider`.
fn art_with(home: &Home, provider: &Provider, args: &[&str]) -> CommandOutput {
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    home.art(&[&model, args].concat())
}

/// Returns stdout without the estimates of the answer and of all model calls, which depend on the wording of prompts.
fn stdout_without_estimates(ran: &CommandOutput) -> String {
    let stdout = ran.stdout();
    let is_estimate = |line: &str| line.starts_with("answer: ") || line.starts_with("all model calls: ");
    let lines = stdout.lines().filter(|line| !is_estimate(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs `art plan` with more arguments and with a mock model that plans two calculations.
fn plan_calculations(home: &Home, more: &[&str]) -> CommandOutput {
    let remainder = json!({"$concat": ["2340 - ", {"$from": "a", "path": "/result"}]});
    let provider = planning_provider(json!([
        calculator_step("a", &json!("15% of 2340")),
        calculator_step("b", &remainder)
    ]));
    art_with(
        home,
        &provider,
        &[&["plan", "What is left of 2340 without 15%?"], more].concat(),
    )
}

#[test]
fn planning_a_question_shows_calls_and_references_and_runs_nothing() {
    let home = Home::new();
    let planned = plan_calculations(&home, &[]);
    assert_eq!(planned.code(), 0, "{planned}");
    insta::assert_snapshot!(stdout_without_estimates(&planned), @r#"
    What is left of 2340 without 15%?
      The plan.

    a  Calculate a
      calculator
        expression = "15% of 2340"

    b  Calculate b
      calculator
        expression = "2340 - " + a /result
        a /result -> expression (fits)

    estimate  tool        fuel    time   output   from
    a         calculator  50.0 M  2.0 s  1.0 MiB  limits of the tool
    b         calculator  50.0 M  2.0 s  1.0 MiB  limits of the tool

    check: the plan can be carried out; references known to fit: 1 of 1
    "#);
    assert!(planned.stderr().contains("1 model call, 0 tool calls"), "{planned}");
    assert_eq!(run_count(&home), 0);
    assert_eq!(home.art(&["--json", "thread", "list"]).json(), json!([]));
}

#[test]
fn a_plan_that_still_has_faults_after_two_repairs_is_shown_with_the_faults() {
    let home = Home::new();
    let provider = planning_provider(json!([
        calculator_step("a", &json!(15)),
        calculator_step("b", &json!({"$from": "a", "path": "/total"})),
        {"id": "c", "description": "Weigh it", "dependencies": ["b"]},
    ]));
    let planned = art_with(&home, &provider, &["plan", "How much is it?"]);
    assert_eq!(planned.code(), 10, "{planned}");
    insta::assert_snapshot!(stdout_without_estimates(&planned), @r"
    How much is it?
      The plan.

    a  Calculate a
      calculator
        expression = 15

    b  Calculate b
      calculator
        a /total -> expression (does not fit)

    c  Weigh it
      after b
      a model carries it out

    check: the plan has 2 faults
      `a.arguments.expression`: a string is asked for, `15` is given
      `b.arguments.expression`: the output of `a` (`calculator`) has nothing at `/total`; it has `/result`
    ");
    assert_eq!(
        provider.take_requests().len(),
        3,
        "one for the plan, and two for its repairs"
    );
}

#[test]
fn the_json_output_of_planning_has_the_plan_its_check_and_its_cost() {
    let planned = plan_calculations(&Home::new(), &["--json"]).json();
    assert_eq!(planned["plan"]["steps"][1]["dependencies"], json!(["a"]), "{planned}");
    assert_eq!(
        planned["check"]["references"],
        json!([{"step": "b", "call": 0, "argument": "expression", "fit": "fits",
            "reference": {"$from": "a", "path": "/result"}}])
    );
    assert_eq!(
        (&planned["check"]["faults"], &planned["usage"]["llmCalls"]),
        (&json!([]), &json!(1))
    );
}

#[test]
fn a_saved_plan_runs_without_planning_again() {
    let home = Home::new();
    let file = home.dir.path().join("saved.json");
    let file = file.to_str().unwrap();
    let planned = plan_calculations(&home, &["--out", file]);
    assert_eq!(planned.code(), 0, "{planned}");
    let saved_plan: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let shown = home.art(&["--json", "tool", "show", "calculator"]).json();
    assert_eq!(
        saved_plan["tools"]["calculator"]["component"], shown["digest"],
        "{saved_plan}"
    );

    let provider = planning_provider(json!([]));
    let ran = art_with(&home, &provider, &["--json", "run", "--plan", file]);
    assert_eq!(ran.code(), 0, "{ran}");
    let report = ran.json();
    let outputs = [
        "/steps/0/toolResults/0/output/result",
        "/steps/1/toolResults/0/output/result",
    ];
    assert_eq!(
        outputs.map(|output| report.pointer(output).unwrap().to_string()),
        ["351", "1989"]
    );
    assert_eq!(provider.take_requests().len(), 1, "only the answer is requested");
    // The run is like any other, and its journal contains the plan.
    let shown = home.art(&["--json", "runs", "show", "last"]).json();
    assert_eq!(shown["run"]["status"], "success", "{shown}");
    assert_eq!(
        shown["journal"][0]["payload"]["start"]["plan"]["plan"], saved_plan,
        "{shown}"
    );
}

#[test]
fn an_existing_file_is_overwritten_only_with_force() {
    let home = Home::new();
    let file = home.file("mine.txt", "mine");
    let out = ["--out", file.to_str().unwrap()];
    let refused = plan_calculations(&home, &out);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(refused.stderr().contains("already exists"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(plan_calculations(&home, &[&out[..], &["--force"]].concat()).code(), 0);
    assert!(fs::read_to_string(&file).unwrap().contains("\"version\": 1"));
}

#[test]
fn the_embedded_model_shows_the_result_of_each_call_of_a_step() {
    // Without `--model`, `art` uses the model that is embedded in it.
    let call = |expression: &str| json!({"toolName": "calculator", "arguments": {"expression": expression}});
    let step = json!({"id": "a", "description": "Both products", "toolCalls": [call("6 * 7"), call("3 * 9")]});
    let ran = run(&Home::new(), &plan_of(&json!([step])), &[]);
    assert_eq!(
        ran.stdout(),
        "Both products (1 of 2): 42\n\nBoth products (2 of 2): 27\n",
        "{ran}"
    );
}

#[test]
fn a_plan_runs_with_the_values_of_its_parameters() {
    let home = Home::new();
    run(&home, &discount_plan(), &["--set", "rate=10"]).assert_answers(&["234", "2106"]);
    let shown = home.art(&["--json", "runs", "show", "last"]).json();
    assert_eq!(
        shown["run"]["query"], "What is 10% of 2340, and what is left of it?",
        "{shown}"
    );
}

#[test]
fn every_parameter_that_is_missing_unknown_or_mistyped_is_named() {
    let home = Home::new();
    for (set_options, part) in [
        (&[][..], "the plan needs a value for `rate` (hint: `--set rate=VALUE`)"),
        (
            &["--set", "rate=10", "--set", "rat=1"],
            "the plan has no parameter `rat`; it has `rate`",
        ),
        (
            &["--set", "rate=ten"],
            "`\"ten\"` is not a value of the parameter `rate`: it must be number",
        ),
        (&["--set", "rate=101"], "`101` is not a value of the parameter `rate`"),
    ] {
        let refused = run(&home, &discount_plan(), set_options);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains(part), "`{part}` is missing: {refused}");
    }
    assert_eq!(run_count(&home), 0);
}

#[test]
fn a_value_in_an_argument_of_a_new_plan_can_become_a_parameter() {
    let home = Home::new();
    let file = home.dir.path().join("saved.json");
    let file = file.to_str().unwrap();
    let planned = plan_calculations(&home, &["--param", "rate=15", "--out", file]);
    assert!(
        planned.stdout().contains("parameter rate -> expression (fits)"),
        "{planned}"
    );
    // The value that the parameter replaces, 15, is its default.
    home.art(&["run", "--plan", file]).assert_answers(&["351", "1989"]);
    home.art(&["run", "--plan", file, "--set", "rate=10"])
        .assert_answers(&["234", "2106"]);
    let refused = plan_calculations(&home, &["--param", "rate=99"]);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(
        refused.stderr().contains("the plan has no argument with `99`"),
        "{refused}"
    );
}

#[test]
fn a_plan_with_faults_is_not_run() {
    let home = Home::new();
    let steps = json!([calculator_step("a", &json!(7)), {"id": "b", "description": "Delete", "toolCalls": [
        {"toolName": "calculater", "arguments": {}},
    ]}]);
    let refused = run(&home, &plan_of(&steps), &[]);
    let faults = [
        "`a.arguments.expression`: a string",
        "`7` is given",
        "`b`: there is no tool `calculater`; did you mean `calculator`?",
    ];
    assert_refused(&home, &refused, &faults);
}

#[test]
fn a_plan_with_more_steps_than_a_run_may_start_is_refused_before_it_runs() {
    let home = Home::new();
    home.file("art.toml", "[execution]\nmaxItems = 1\n");
    let steps = json!([calculator_step("a", &json!("1")), calculator_step("b", &json!("2"))]);
    let fault = "the plan has too many open steps: 2, and the run may start only 1 (`maxItems`)";
    assert_refused(&home, &run(&home, &plan_of(&steps), &[]), &[fault]);
    let planned = art_with(&home, &planning_provider(steps), &["plan", "What is 1, and what is 2?"]);
    assert_eq!(planned.code(), 10, "{planned}");
    assert!(planned.stdout().contains(fault), "{planned}");
}

#[test]
fn a_file_that_was_attached_when_a_plan_was_made_has_to_be_attached_again() {
    let home = Home::new();
    let sales = home.file("sales.csv", "region,sales\nNorth,120\nSouth,340\n");
    let call = json!({"toolName": "text_stats", "arguments": {"text": {"$attachment": "sales.csv"}}});
    let mut plan = plan_of(&json!([{"id": "a", "description": "Count", "toolCalls": [call]}]));
    plan["files"] = json!(["sales.csv"]);
    assert_refused(
        &home,
        &run(&home, &plan, &[]),
        &["the file `sales.csv`, which is not attached"],
    );
    assert_eq!(run(&home, &plan, &["--attach", sales.to_str().unwrap()]).code(), 0);
}

#[test]
fn run_with_check_shows_the_plan_and_runs_nothing() {
    let home = Home::new();
    let checked = run(&home, &discount_plan(), &["--check"]);
    assert_eq!(checked.code(), 0, "{checked}");
    insta::assert_snapshot!(stdout_without_estimates(&checked), @r#"
    What is {{rate}}% of 2340, and what is left of it?
    parameter rate: {"type":"number","minimum":0,"maximum":100}

    step_1  Calculate step_1
      calculator
        expression = parameter rate + "% of 2340"
        parameter rate -> expression (fits)

    step_2  Calculate step_2
      calculator
        expression = "2340 - " + step_1 /result
        step_1 /result -> expression (fits)

    check: the plan can be carried out; references known to fit: 2 of 2
    "#);
    let with_value = run(&home, &discount_plan(), &["--check", "--set", "rate=10", "--json"]).json();
    assert_eq!(
        with_value["plan"]["question"],
        "What is 10% of 2340, and what is left of it?"
    );
    let faulty = run(&home, &plan_of(&json!([calculator_step("a", &json!(7))])), &["--check"]);
    assert_eq!(faulty.code(), 10, "{faulty}");
    assert_eq!(run_count(&home), 0);
}

#[test]
fn the_estimate_of_a_plan_comes_from_recorded_calls() {
    let home = Home::new();
    let plan = plan_of(&json!([calculator_step("a", &json!("6 * 7"))]));
    let basis_of_estimate =
        || run(&home, &plan, &["--check", "--json"]).json()["check"]["estimate"]["calls"][0]["basis"].clone();
    assert_eq!(basis_of_estimate(), json!({"source": "limits"}));
    run(&home, &plan, &[]).assert_answers(&["42"]);
    assert_eq!(basis_of_estimate(), json!({"source": "records", "calls": 1}));
}

#[test]
fn a_tool_that_changed_since_planning_causes_a_warning_and_the_plan_still_runs() {
    let home = Home::new();
    let mut plan = plan_of(&json!([calculator_step("a", &json!("6 * 7"))]));
    // These are not the digests of the calculator, so it counts as changed.
    plan["tools"] = json!({"calculator": {"component": "blake3:00", "input": "blake3:00"}});
    let ran = run(&home, &plan, &[]);
    ran.assert_answers(&["42"]);
    let warning = "warning: the tool `calculator` has changed since the plan was made: its input and its output (it was \
                   `blake3:00`, it is `";
    assert!(ran.stderr().contains(warning), "{ran}");
    let checked = run(&home, &plan, &["--check", "--json"]).json();
    assert_eq!(
        checked["check"]["changedTools"][0]["toolName"], "calculator",
        "{checked}"
    );
}

#[test]
fn a_plan_with_a_tool_that_the_conversation_disables_is_refused() {
    let home = Home::new();
    let plan = plan_of(&json!([calculator_step("a", &json!("6 * 7"))]));
    run(&home, &plan, &[]).assert_answers(&["42"]);
    // Only `datetime` stays enabled.
    assert_eq!(home.art(&["thread", "set", "last", "tools", "datetime"]).code(), 0);
    let refused = run(&home, &plan, &["--thread", "last"]);
    assert_eq!(refused.code(), 10, "{refused}");
    let fault = "`a`: the tool `calculator` is disabled in this conversation";
    assert!(refused.stderr().contains(fault), "{refused}");
    assert_eq!(run_count(&home), 1);
}

#[test]
fn each_run_of_a_plan_calls_the_tools_again_even_in_the_same_conversation() {
    let home = Home::new();
    let plan = plan_of(&json!([calculator_step("a", &json!("6 * 7"))]));
    for _ in 0..2 {
        let ran = run(&home, &plan, &["--json"]).json();
        assert_eq!(ran["metadata"]["toolCalls"], 1, "{ran}");
    }
    let again = run(&home, &plan, &["--json", "--thread", "last"]).json();
    assert_eq!(again["metadata"]["toolCalls"], 1, "{again}");
}

#[test]
fn a_step_whose_call_fails_is_handed_to_the_model() {
    let home = Home::new();
    let plan = plan_of(&json!([calculator_step("a", &json!("1 / 0"))]));
    let provider = planning_provider(json!([]));
    let ran = art_with(
        &home,
        &provider,
        &["--json", "run", "--plan", &write_plan(&home, &plan)],
    );
    // One request is for the answer, and the others are for the step.
    assert!(provider.take_requests().len() > 1, "{ran}");
    assert_eq!(ran.json()["metadata"]["toolCalls"], 1, "{ran}");
}

#[test]
fn a_file_that_is_no_plan_is_refused_with_all_its_problems() {
    let home = Home::new();
    let mut misspelt = plan_of(&json!([calculator_step("a", &json!("1"))]));
    misspelt["qestion"] = json!("x");
    misspelt["steps"][0]["toolCall"] = json!([]);
    let refused = run(&home, &misspelt, &[]);
    assert_eq!(refused.code(), 2, "{refused}");
    for part in [
        "`qestion` is not known; did you mean `question`?",
        "`steps[0].toolCall` is not known; did you mean `toolCalls`?",
    ] {
        assert!(refused.stderr().contains(part), "{refused}");
    }
    let large = format!("{{\"version\": 1, \"x\": \"{}\"}}", "x".repeat(1 << 20));
    let deep = format!("{{\"version\": 1, \"x\": {}{}}}", "[".repeat(100), "]".repeat(100));
    for (text, part) in [
        ("no", "not valid JSON"),
        (&large, "1048576 bytes"),
        (&deep, "deeper than 64 levels"),
    ] {
        let file = home.file("bad.json", text);
        let refused = home.art(&["run", "--plan", file.to_str().unwrap()]);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains(part), "`{part}` is missing: {refused}");
    }
    // Only a regular file can be read as a plan.
    let pipe = home.dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for path in [&pipe, home.dir.path(), Path::new("/dev/zero")] {
        assert_eq!(home.art(&["run", "--plan", path.to_str().unwrap()]).code(), 1);
    }
}

#[test]
fn a_question_that_the_embedded_model_does_not_understand_has_no_plan() {
    let home = Home::new();
    let planned = home.art(&["plan", "Who won the football world cup in 2018?"]);
    assert_eq!(planned.code(), 4, "{planned}");
    assert!(planned.stdout().contains("No tool fits"), "{planned}");
}

#[test]
fn tool_calls_in_the_first_reply_of_a_model_are_its_plan() {
    let home = Home::new();
    let provider = Provider::start(|_| Reply::Call("calculator", json!({"expression": "6 * 7"})));
    let planned = art_with(&home, &provider, &["--json", "plan", "What is 6 times 7?"]);
    assert_eq!(planned.code(), 0, "{planned}");
    let call = planned.json().pointer("/plan/steps/0/toolCalls/0").cloned();
    let expected = json!({"toolName": "calculator", "arguments": {"expression": "6 * 7"}});
    assert_eq!(call, Some(expected), "{planned}");
    assert_eq!((provider.take_requests().len(), run_count(&home)), (1, 0));
}

/// Asks a question whose plan has one step, `a`, with the result 42. Returns what is stored of the conversation.
fn ask_first_question(home: &Home) -> String {
    let provider = planning_provider(json!([calculator_step("a", &json!("6 * 7"))]));
    assert_eq!(art_with(home, &provider, &["run", "What is 6 times 7?"]).code(), 0);
    stored_conversation(home)
}

/// Returns the conversation and its runs as they are stored.
fn stored_conversation(home: &Home) -> String {
    let commands: [&[&str]; 3] = [&["thread", "show", "last"], &["thread", "list"], &["runs", "list"]];
    let texts = commands.map(|command| home.art(&[&["--json"], command].concat()).stdout());
    texts.concat()
}

#[test]
fn planning_a_follow_up_uses_the_conversation_and_adds_nothing_to_it() {
    let home = Home::new();
    let before = ask_first_question(&home);
    // `q1.a` is the step `a` of the first question of the conversation.
    let double = json!({"$concat": [{"$from": "q1.a", "path": "/result"}, " * 2"]});
    let provider = planning_provider(json!([calculator_step("b", &double)]));
    let file = home.dir.path().join("saved.json");
    let file = file.to_str().unwrap();
    let follow_up = ["plan", "And twice that?", "--thread", "last", "--out", file];
    let planned = art_with(&home, &provider, &follow_up);
    assert_eq!(planned.code(), 0, "{planned}");
    insta::assert_snapshot!(stdout_without_estimates(&planned), @r#"
    And twice that?
      The plan.

    b  Calculate b
      calculator
        expression = q1.a /result + " * 2"
        q1.a /result -> expression (fits)

    estimate  tool        fuel    time   output   from
    b         calculator  50.0 M  2.0 s  1.0 MiB  limits of the tool

    check: the plan can be carried out; references known to fit: 1 of 1
    "#);
    let request = provider.next_request().body.to_string();
    assert!(
        request.contains("What is 6 times 7?") && request.contains("q1.a"),
        "{request}"
    );
    assert_eq!(stored_conversation(&home), before);

    let ran = art_with(&home, &provider, &["--json", "run", "--plan", file, "--thread", "last"]);
    assert_eq!(ran.json()["steps"][0]["result"]["result"], 84, "{ran}");
    let outside_conversation = art_with(&home, &provider, &["run", "--plan", file]);
    assert_eq!(outside_conversation.code(), 10, "{outside_conversation}");
    let fault = "`$from` names `q1.a`, which is not in the plan";
    assert!(outside_conversation.stderr().contains(fault), "{outside_conversation}");
}

#[test]
fn a_question_cannot_be_planned_in_a_conversation_that_does_not_exist() {
    let planned = Home::new().art(&["plan", "What is 2+2?", "--thread", "0192"]);
    assert_eq!(planned.code(), 1, "{planned}");
    assert!(planned.stderr().contains("there is no thread `0192`"), "{planned}");
}

#[test]
fn a_tool_that_the_conversation_disables_is_not_planned() {
    let home = Home::new();
    ask_first_question(&home);
    // Only `datetime` stays enabled.
    assert_eq!(home.art(&["thread", "set", "last", "tools", "datetime"]).code(), 0);
    let provider = planning_provider(json!([calculator_step("b", &json!("1 + 1"))]));
    let planned = art_with(&home, &provider, &["plan", "And 1 + 1?", "--thread", "last"]);
    assert_eq!(planned.code(), 10, "{planned}");
    let fault = "`b`: the tool `calculator` is disabled in this conversation";
    assert!(planned.stdout().contains(fault), "{planned}");
}

#[test]
fn a_model_that_makes_no_usable_plan_is_reported_as_a_fault_of_the_plan() {
    let provider = planning_provider(json!("one step"));
    let planned = art_with(&Home::empty(), &provider, &["plan", "What is 2+2?"]);
    assert_eq!((planned.code(), planned.stdout().as_str()), (10, ""), "{planned}");
    let reason = "planning failed: the model gave no usable plan in 3 attempts: `todoList` has to be an array";
    assert!(planned.stderr().contains(reason), "{planned}");
    let error = art_with(&Home::empty(), &provider, &["--json", "plan", "What is 2+2?"]).json();
    assert_eq!(error["error"]["code"], "plan_fault", "{error}");
}

#[test]
fn an_answer_in_place_of_a_plan_is_shown() {
    let provider = Provider::start(|_| Reply::Text(vec!["Hello to you.".to_owned()]));
    let planned = art_with(&Home::empty(), &provider, &["plan", "Hello"]);
    assert_eq!(planned.code(), 0, "{planned}");
    assert_eq!(planned.stdout(), "the model answers without a plan:\n\nHello to you.\n");
}

#[test]
fn a_provider_that_fails_gives_no_plan() {
    let provider = Provider::failing(401, "", json!({"error": {"message": "no such key"}}));
    let planned = art_with(&Home::empty(), &provider, &["plan", "What is 2+2?"]);
    assert_eq!(planned.code(), 8, "{planned}");
    assert_eq!(planned.stdout(), "");
}

#[test]
fn the_plan_file_of_the_readme_can_be_carried_out() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let (_, rest) = readme.split_once("```json\n").unwrap();
    let (file, _) = rest.split_once("\n```").unwrap();
    let home = Home::new();
    let plan: Value = serde_json::from_str(file).unwrap();
    let ran = run(&home, &plan, &["--json", "--set", "rate=20"]);
    // The plan calculates `rate` percent of 80, and then twice that.
    let twice_the_share = &ran.json()["steps"][1]["result"]["result"];
    assert_eq!(*twice_the_share, 2 * 80 * 20 / 100, "{ran}");
}
