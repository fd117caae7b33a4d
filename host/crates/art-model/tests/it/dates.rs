//! Days that are told by their distance from another.

use art_core::tool::ToolSchema;
use art_model::open;
use serde_json::{Value, json};

use crate::{prompts, tools};

fn calls(query: &str, tools: &[ToolSchema]) -> Vec<Value> {
    let calls = prompts::calls(open("embedded").unwrap().as_ref(), query, tools, &json!([]));
    calls.into_iter().map(|call| json!(call.arguments)).collect()
}

fn needs(query: &str, tools: &[ToolSchema]) -> String {
    let plan = prompts::plan(open("embedded").unwrap().as_ref(), query, tools, &json!([]));
    assert_eq!(plan["todoList"], json!([]), "{query}");
    plan["plan"].as_str().unwrap().to_owned()
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn move_date(description: &str) -> Vec<ToolSchema> {
    let duration = text("ISO 8601 duration, such as P3D or P2W");
    let properties = json!({"date": text("Date to start from, YYYY-MM-DD"), "duration": duration});
    vec![
        tools::tool("move_date", description, &["date", "duration"], properties),
        tools::calculator(),
    ]
}

fn add_days(date: &str) -> Vec<ToolSchema> {
    let properties = json!({"date": text(date), "days": {"type": "integer", "description": "Number of days to add"}});
    let description = "Adds days to a date and returns the new date.";
    vec![tools::tool("add_days", description, &["date", "days"], properties)]
}

#[test]
fn an_amount_its_unit_and_a_day_go_to_the_parameters_of_a_date_tool() {
    for (query, date, amount, unit) in [
        ("What date is 90 days after 2026-01-15?", "2026-01-15", 90, "days"),
        ("three weeks before March 3, 2026", "2026-03-03", -3, "weeks"),
        ("add 2 months to 2026-05-31", "2026-05-31", 2, "months"),
        ("subtract ten days from 2026-05-31", "2026-05-31", -10, "days"),
        ("2026-05-31 plus 5 years", "2026-05-31", 5, "years"),
    ] {
        let arguments = json!({"operation": "add", "date": date, "amount": amount, "unit": unit});
        assert_eq!(calls(query, &tools::all()), [arguments], "{query}");
    }
}

#[test]
fn a_unit_that_a_tool_does_not_have_is_not_replaced_by_another() {
    assert!(needs("What date is 5 decades after 2026-01-15?", &[tools::datetime()]).contains("No tool fits"));
}

#[test]
fn a_duration_parameter_takes_iso_8601() {
    let tools = move_date("Moves a date forward or back by a duration; a negative one such as -P3D goes back.");
    for (query, duration) in [
        ("What date is 90 days after 2026-01-15?", "P90D"),
        ("What date is 3 weeks before 2026-01-15?", "-P3W"),
        ("What date is 1 year and 2 months after 2026-01-15?", "P1Y2M"),
    ] {
        assert_eq!(
            calls(query, &tools),
            [json!({"date": "2026-01-15", "duration": duration})],
            "{query}"
        );
    }
}

#[test]
fn a_tool_that_says_nothing_of_going_back_is_not_made_to() {
    let tools = move_date("Moves a date forward by a duration.");
    assert_eq!(calls("What date is 3 weeks after 2026-01-15?", &tools).len(), 1);
    let said = needs("What date is 3 weeks before 2026-01-15?", &tools);
    assert!(said.contains("`move_date`, which needs `duration`"), "{said}");
}

#[test]
fn weeks_become_days_where_a_parameter_counts_days_and_months_do_not() {
    let tools = add_days("Start date, YYYY-MM-DD");
    let arguments = json!({"date": "2026-03-03", "days": 21});
    assert_eq!(calls("Which date is 3 weeks after March 3, 2026?", &tools), [arguments]);
    let said = needs("Which date is 3 months after March 3, 2026?", &tools);
    assert!(said.contains("needs `days`"), "{said}");
}

#[test]
fn today_is_passed_on_only_to_a_tool_that_knows_it() {
    let knows = add_days("Start date, YYYY-MM-DD or `today`");
    let arguments = json!({"date": "today", "days": 10});
    assert_eq!(
        calls("What date is 10 days from today?", &knows),
        std::slice::from_ref(&arguments)
    );
    assert_eq!(calls("What date is it in 10 days?", &knows), [arguments]);
    let said = needs("What date is 10 days from today?", &add_days("Start date, YYYY-MM-DD"));
    assert!(said.contains("needs `date`"), "{said}");
}

#[test]
fn a_day_may_start_from_the_result_of_a_part_before() {
    let calls = calls(
        "What is 20 plus 22? And what date is 3 weeks after that?",
        &tools::all(),
    );
    assert_eq!(
        calls[1],
        json!({"operation": "add", "date": 42, "amount": 3, "unit": "weeks"})
    );
}
#[test]
fn a_day_after_a_day_is_a_step_of_its_own() {
    let calls = calls(
        "What date is 90 days after 2026-01-15, and 3 weeks after that?",
        &tools::all(),
    );
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(
        calls[1],
        json!({"operation": "add", "date": 42, "amount": 3, "unit": "weeks"})
    );
}

#[test]
fn a_date_that_is_said_to_be_for_an_operation_is_needed_for_it() {
    let said = needs(
        "How many days are there between 2026-01-15 and Christmas?",
        &[tools::datetime()],
    );
    assert!(said.contains("`datetime`, which needs `end`"), "{said}");
    let said = needs("What date is 10 business days after 2026-01-15?", &[tools::datetime()]);
    assert!(said.contains("`datetime`, which needs"), "{said}");
}

#[test]
fn until_counts_from_today_where_a_tool_knows_it() {
    let days_between = |start: &str| {
        let properties = json!({"start": text(start), "end": text("Last date, YYYY-MM-DD")});
        vec![tools::tool(
            "days_between",
            "Counts how many days are between two dates.",
            &["start", "end"],
            properties,
        )]
    };
    let query = "How many days are there until 2026-12-24?";
    let arguments = json!({"start": "today", "end": "2026-12-24"});
    assert_eq!(
        calls(query, &days_between("First date, YYYY-MM-DD or `today`")),
        [arguments]
    );
    let said = needs(query, &days_between("First date, YYYY-MM-DD"));
    assert!(said.contains("which needs"), "{said}");
}
