use art_sdk::testing;
use proptest::prelude::*;

use super::*;

fn run(input: Value) -> Value {
    testing::output(&DATETIME, input)
}

#[track_caller]
fn fails(input: Value, part: &str) {
    let message = testing::failure(&DATETIME, input).message;
    assert!(message.contains(part), "{message}");
}

fn between(start: &str, end: &str, unit: &str) -> Value {
    run(json!({"operation": "difference", "start": start, "end": end, "unit": unit}))
}

#[test]
fn differences_are_exact_in_every_unit() {
    let value = |unit| between("2024-02-27", "2026-11-21", unit)["value"].clone();
    let all = ["days", "weeks", "hours", "minutes", "seconds"].map(value);
    assert_eq!(
        all,
        [
            json!(998),
            json!(142.571428571429),
            json!(23_952),
            json!(1_437_120),
            json!(86_227_200)
        ]
    );
    assert_eq!(between("2024-02-29", "2028-02-29", "years")["value"], 4);
    assert_eq!(between("2024-01-31", "2024-03-31", "months")["result"], "2 months");
}

#[test]
fn days_are_the_default_unit() {
    let input = json!({"operation": "difference", "start": "2026-11-20", "end": "2026-11-21"});
    assert_eq!(run(input)["result"], "1 day");
}

#[test]
fn a_breakdown_lists_units_from_large_to_small() {
    let breakdown = |start, end, unit| between(start, end, unit)["breakdown"].clone();
    assert_eq!(
        breakdown("2024-02-27", "2026-11-21", "days"),
        "2 years, 8 months, 25 days"
    );
    assert_eq!(breakdown("2024-02-27", "2026-11-21", "weeks"), "142 weeks, 4 days");
    assert_eq!(
        breakdown("2026-11-21T08:00", "2026-11-21T09:30:15", "hours"),
        "1 hour, 30 minutes, 15 seconds"
    );
    assert_eq!(breakdown("2026-11-21", "2026-11-21", "days"), "0 days");
}

#[test]
fn an_end_before_the_start_is_negative() {
    let output = between("2026-11-21", "2026-11-11", "days");
    assert_eq!(
        (&output["value"], &output["breakdown"]),
        (&json!(-10), &json!("minus 10 days"))
    );
}

#[test]
fn differences_cross_time_zones_and_daylight_saving() {
    assert_eq!(
        between("2026-11-21T12:00Z", "2026-11-21T12:00-05:00", "hours")["value"],
        5
    );
    let input = json!({"operation": "difference", "start": "2026-03-28T12:00", "end": "2026-03-29T12:00",
        "unit": "hours", "from_zone": "Europe/Berlin"});
    assert_eq!(run(input)["value"], 23);
}

#[test]
fn adding_keeps_the_precision_of_the_date() {
    let add = |date: &str, amount: i64, unit: &str| {
        run(json!({"operation": "add", "date": date, "amount": amount, "unit": unit}))["result"].clone()
    };
    assert_eq!(add("2024-02-27", 998, "days"), "2026-11-21");
    assert_eq!(add("2026-11-21", -2, "weeks"), "2026-11-07");
    assert_eq!(add("2024-02-29", 1, "years"), "2025-02-28");
    assert_eq!(add("2026-11-21", 36, "hours"), "2026-11-22T12:00:00");
    assert_eq!(
        add("2026-11-21T23:30:00+01:00", 45, "minutes"),
        "2026-11-22T00:15:00+01:00"
    );
}

#[test]
fn subtracting_goes_back() {
    let input = json!({"operation": "subtract", "date": "2026-11-21", "amount": 2, "unit": "weeks"});
    assert_eq!(run(input)["result"], "2026-11-07");
    fails(
        json!({"operation": "subtract", "date": "2026-11-21"}),
        "operation `subtract` needs `amount`",
    );
}

/// Returns the result of `difference` on 21 November 2026.
fn days_between(start: &str, end: &str) -> String {
    let clock = || Ok(Timestamp::from_second(1_795_269_600).unwrap());
    let input = DatetimeInput {
        operation: io::Operation::Difference,
        start: Some(start.to_owned()),
        end: Some(end.to_owned()),
        ..DatetimeInput::default()
    };
    operations::run(&input, &clock).unwrap().result
}

#[test]
fn a_day_without_a_year_is_the_nearest_before_the_end_or_after_the_start() {
    assert_eq!(days_between("today", "Christmas"), "34 days");
    assert_eq!(days_between("1 January", "today"), "324 days");
    assert_eq!(days_between("25 December", "3 March"), "68 days");
    assert_eq!(days_between("3 March", "5 May 2020"), "63 days");
    assert_eq!(days_between("Friday", "today"), "1 day");
    assert_eq!(days_between("Monday", "Friday"), "4 days");
}

#[test]
fn the_difference_of_two_times_is_within_today() {
    assert_eq!(between("9:15", "5:45 pm", "hours")["value"], 8.5);
}

#[test]
fn a_time_of_day_is_converted_and_not_dropped() {
    let input =
        json!({"operation": "convert", "date": "21 November 2026 at 3 pm", "from_zone": "Berlin", "to_zone": "Tokyo"});
    assert_eq!(run(input)["result"], "2026-11-21T23:00:00+09:00");
}

#[test]
fn adding_needs_a_whole_amount_in_range() {
    fails(
        json!({"operation": "add", "date": "2026-11-21"}),
        "operation `add` needs `amount`",
    );
    fails(
        json!({"operation": "add", "date": "2026-11-21", "amount": 1.5}),
        "`amount` is 1.5: give a whole number",
    );
    fails(
        json!({"operation": "add", "date": "2026-11-21", "amount": 1e15, "unit": "years"}),
        "out of range",
    );
    fails(
        json!({"operation": "add", "date": "9999-12-31", "amount": 1}),
        "out of range",
    );
}

#[test]
fn zones_are_found_by_name_city_abbreviation_and_offset() {
    let at = |zone: &str| {
        run(json!({"operation": "convert", "date": "2026-07-01T12:00Z", "to_zone": zone}))["result"].clone()
    };
    assert_eq!(at("America/New_York"), "2026-07-01T08:00:00-04:00");
    assert_eq!(at("new york"), "2026-07-01T08:00:00-04:00");
    assert_eq!(at("Mumbai"), "2026-07-01T17:30:00+05:30");
    assert_eq!(at("PST"), "2026-07-01T05:00:00-07:00");
    assert_eq!(at("UTC+5:30"), "2026-07-01T17:30:00+05:30");
    assert_eq!(at("-0330"), "2026-07-01T08:30:00-03:30");
    assert_eq!(at("gmt"), "2026-07-01T12:00:00+00:00");
}

#[test]
fn unknown_zones_are_refused_with_similar_names() {
    let input = |zone: &str| json!({"operation": "convert", "date": "2026-07-01", "to_zone": zone});
    fails(
        input("Europe/Berlinn"),
        "unknown time zone `Europe/Berlinn`, did you mean `Europe/Berlin`",
    );
    fails(input("xy"), "unknown time zone `xy`; use a name such as");
    fails(input("+99"), "unknown time zone `+99`");
    fails(
        json!({"operation": "convert", "date": "2026-07-01"}),
        "operation `convert` needs `to_zone`",
    );
}

#[test]
fn a_weekday_has_its_week_and_day_of_the_year() {
    let output = run(json!({"operation": "weekday", "date": "2026-11-21"}));
    assert_eq!(
        output,
        json!({"result": "Saturday", "weekday": "Saturday", "week_number": 47, "day_of_year": 325})
    );
}

#[test]
fn parsing_returns_iso() {
    assert_eq!(
        run(json!({"operation": "parse", "date": "November 21, 2026"}))["result"],
        "2026-11-21"
    );
    let output = run(json!({"operation": "parse", "date": "1709028000"}));
    assert_eq!(
        (&output["unix_seconds"], &output["zone"]),
        (&json!(1_709_028_000), &json!("UTC"))
    );
    fails(json!({"operation": "parse"}), "operation `parse` needs `date`");
}

#[test]
fn formats_follow_strftime() {
    let format = |pattern: &str| {
        run(json!({"operation": "format", "date": "2026-11-21T14:05", "format": pattern}))["result"].clone()
    };
    assert_eq!(format("%d.%m.%Y"), "21.11.2026");
    assert_eq!(
        format("%A, %B %-d, %Y at %H:%M"),
        "Saturday, November 21, 2026 at 14:05"
    );
    assert_eq!(
        run(json!({"operation": "format", "date": "21 Nov 2026"}))["result"],
        "2026-11-21"
    );
    fails(
        json!({"operation": "format", "date": "2026-11-21", "format": "%"}),
        "`format` is not a strftime pattern",
    );
    fails(
        json!({"operation": "format", "date": "2026-11-21", "format": "x".repeat(201)}),
        "more than 200 characters",
    );
}

#[test]
fn now_comes_from_the_given_clock() {
    let clock = || Ok(Timestamp::from_millisecond(1_795_269_600_400).unwrap());
    let input = DatetimeInput {
        to_zone: Some("Tokyo".to_owned()),
        ..DatetimeInput::default()
    };
    let output = operations::run(&input, &clock).unwrap();
    assert_eq!(output.result, "2026-11-21T23:00:00+09:00");
    assert_eq!(output.zone.as_deref(), Some("Asia/Tokyo"));
}

#[test]
fn the_real_clock_runs() {
    let seconds = run(json!({"operation": "now"}))["unix_seconds"].as_i64().unwrap();
    assert!(seconds > 1_700_000_000);
}

#[test]
fn the_clock_is_not_read_if_the_answer_does_not_need_it() {
    let clock = || -> Result<Timestamp, DateError> { panic!("the clock was read") };
    let input = DatetimeInput {
        operation: io::Operation::Weekday,
        date: Some("2026-11-21".to_owned()),
        ..DatetimeInput::default()
    };
    assert!(operations::run(&input, &clock).is_ok());
}

#[test]
fn the_examples_return_their_outputs() {
    testing::check(&DATETIME);
    let properties = &DATETIME.input_schema()["properties"];
    assert_eq!(properties["unit"]["default"], "days");
    assert_eq!(properties["operation"]["enum"].as_array().unwrap().len(), 8);
}

proptest! {
    #[test]
    fn any_date_ends_in_a_result_or_an_error(date in "[-+0-9T:Z./ a-zA-Z\\[\\]]{0,30}", zone in "[-+:/a-zA-Z0-9 ]{0,12}") {
        let input = json!({"operation": "convert", "date": date, "from_zone": zone, "to_zone": zone});
        drop(testing::call(&DATETIME, input));
    }

    #[test]
    fn any_amount_ends_in_a_result_or_an_error(days in -4_000_000..3_000_000_i64, amount: f64, pattern in "[%a-zA-Z0-9_-]{0,12}") {
        let date = run(json!({"operation": "add", "date": "1970-01-01", "amount": days % 100_000}))["result"].clone();
        for unit in ["years", "months", "weeks", "days", "hours", "minutes", "seconds"] {
            let input = json!({"operation": "add", "date": date, "amount": amount.trunc(), "unit": unit});
            drop(testing::call(&DATETIME, input));
            drop(testing::call(&DATETIME, json!({"operation": "add", "date": date, "amount": days, "unit": unit})));
        }
        drop(testing::call(&DATETIME, json!({"operation": "format", "date": date, "format": pattern})));
    }
}
