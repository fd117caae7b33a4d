use art_sdk::testing;
use proptest::prelude::*;

use super::*;

/// 14:00 UTC on Saturday, 21 November 2026, in seconds since 1970.
const NOW: i64 = 1_795_269_600;

fn run(input: Value) -> Value {
    testing::output(&DATETIME, input)
}

#[track_caller]
fn assert_fails(input: Value, part_of_message: &str) {
    let message = testing::failure(&DATETIME, input).message;
    assert!(message.contains(part_of_message), "{message}");
}

/// Returns the output of `difference` in this unit.
fn between(start: &str, end: &str, unit: &str) -> Value {
    run(json!({"operation": "difference", "start": start, "end": end, "unit": unit}))
}

#[test]
fn a_difference_of_whole_units_is_a_number() {
    let value = |unit| between("2024-02-27", "2026-11-21", unit)["result"].clone();
    let all = ["days", "hours", "minutes", "seconds"].map(value);
    assert_eq!(all, [json!(998), json!(23_952), json!(1_437_120), json!(86_227_200)]);
    assert_eq!(between("2024-02-29", "2028-02-29", "years")["result"], 4);
    assert_eq!(between("2024-01-31", "2024-03-31", "months")["result"], 2);
    assert_eq!(between("2026-11-21", "2026-11-11", "days")["result"], -10);
}

#[test]
fn a_difference_without_a_unit_is_in_words() {
    let difference =
        |start: &str, end: &str| run(json!({"operation": "difference", "start": start, "end": end}))["result"].clone();
    assert_eq!(difference("2026-11-20", "2026-11-21"), "1 day");
    assert_eq!(
        difference("2024-02-27", "2026-11-21"),
        "2 years, 8 months, 25 days (998 days)"
    );
    assert_eq!(
        difference("2026-11-21T08:00", "2026-11-21T09:30:15"),
        "1 hour, 30 minutes, 15 seconds"
    );
    assert_eq!(difference("2026-11-21", "2026-11-21"), "0 days");
    assert_eq!(difference("2026-11-21", "2026-11-11"), "minus 10 days");
}

#[test]
fn a_difference_that_is_no_whole_number_of_units_is_in_words() {
    let result = |start, end, unit| between(start, end, unit)["result"].clone();
    assert_eq!(
        result("2024-02-27", "2026-11-21", "weeks"),
        "142 weeks, 4 days (142.57 weeks)"
    );
    assert_eq!(result("9:15", "17:45", "hours"), "8 hours, 30 minutes (8.5 hours)");
    assert_eq!(
        result("1990-05-05", "2026-11-21", "years"),
        "36 years, 6 months, 16 days (36.55 years)"
    );
}

#[test]
fn working_days_are_monday_to_friday() {
    let result = |start, end| between(start, end, "working_days")["result"].clone();
    let ending = "(Monday to Friday, first and last day included)";
    assert_eq!(result("2026-03-02", "2026-03-06"), format!("5 working days {ending}"));
    assert_eq!(result("2026-03-01", "2026-03-31"), format!("22 working days {ending}"));
    assert_eq!(result("2026-03-07", "2026-03-08"), format!("0 working days {ending}"));
    let add = |date: &str, amount: i64| {
        run(json!({"operation": "add", "date": date, "amount": amount, "unit": "working_days"}))["result"].clone()
    };
    assert_eq!(add("2026-03-06", 1), "Monday, 9 March 2026");
    assert_eq!(add("2026-03-02", 10), "Monday, 16 March 2026");
    assert_eq!(add("2026-03-07", 1), "Monday, 9 March 2026");
    assert_eq!(add("2026-03-02", -1), "Friday, 27 February 2026");
    assert_eq!(add("2026-03-07", 0), "Saturday, 7 March 2026");
}

#[test]
fn a_date_has_a_week_a_quarter_and_a_day_of_the_year() {
    let result = |operation: &str| run(json!({"operation": operation, "date": "2026-11-21"}))["result"].clone();
    let all = ["weekday", "week_number", "day_of_year", "quarter", "leap_year"].map(result);
    let expected = json!(["Saturday", 47, 325, 4, "no, 2026 is not a leap year"]);
    assert_eq!(json!(all), expected);
    let leap = run(json!({"operation": "leap_year", "year": 2028}));
    assert_eq!(leap, json!({"result": "yes, 2028 is a leap year"}));
}

#[test]
fn the_year_and_the_time_of_a_date_may_be_given_separately() {
    let weekday = |date: &str| run(json!({"operation": "weekday", "date": date, "year": 2027}))["result"].clone();
    assert_eq!(
        ["Christmas", "4 July", "Thanksgiving"].map(weekday),
        ["Saturday", "Sunday", "Thursday"]
    );
    // A date with a year of its own keeps this year.
    assert_eq!(weekday("2026-11-21"), "Saturday");
    let input = json!({"operation": "convert", "date": "12 March 2027", "time": "3 pm", "from_zone": "Tokyo",
        "to_zone": "London"});
    assert_eq!(run(input)["result"], "06:00 on Friday, 12 March 2027 (Europe/London)");
    let input =
        json!({"operation": "difference", "start": "2026-12-25", "end": "Christmas", "year": 2027, "unit": "days"});
    assert_eq!(run(input)["result"], 365);
}

#[test]
fn a_separate_year_also_applies_to_a_day_with_a_time() {
    let parse = |date: &str| run(json!({"operation": "parse", "date": date, "year": 2027}))["result"].clone();
    for date in ["25 December at 3 pm", "3 pm on Christmas", "December 25th, 15:00"] {
        assert_eq!(parse(date), "2027-12-25T15:00:00", "{date}");
    }
    let weekday = json!({"operation": "weekday", "date": "25 December at 3 pm", "year": 2027});
    assert_eq!(run(weekday)["result"], "Saturday");
}

#[test]
fn a_separate_year_that_does_not_have_the_day_is_refused() {
    assert_fails(
        json!({"operation": "weekday", "date": "29 February", "year": 2027}),
        "cannot read `29 February 2027` in `date` as a date",
    );
}

#[test]
fn a_weekday_with_a_separate_year_is_refused() {
    assert_fails(
        json!({"operation": "weekday", "date": "next Friday", "year": 2027}),
        "`year` does not go together with `next Friday` in `date`",
    );
    assert_fails(
        json!({"operation": "difference", "start": "today", "end": "Friday at 3 pm", "year": 2027}),
        "`year` does not go together with `Friday at 3 pm` in `end`",
    );
}

#[test]
fn a_date_can_be_given_as_the_tool_writes_it_in_an_answer() {
    let parse = |date: &str| run(json!({"operation": "parse", "date": date}))["result"].clone();
    assert_eq!(parse("Monday, 2 March 2026"), "2026-03-02");
    assert_eq!(
        parse("06:00 on Friday, 12 March 2027 (Asia/Tokyo)"),
        "2027-03-12T06:00:00+09:00"
    );
}

#[test]
fn a_zone_in_brackets_is_the_zone_of_the_date() {
    let convert_to_london = |date: &str| {
        let input = json!({"operation": "convert", "date": date, "from_zone": "New York", "to_zone": "London"});
        run(input)["result"].clone()
    };
    let dates_and_london_times = [
        ("06:00 on Friday, 12 March 2027 (Asia/Tokyo)", "21:00 on Thursday, 11"),
        ("06:00 on Friday, 12 March 2027 (+02)", "04:00 on Friday, 12"),
        ("12 March 2027 (Asia/Tokyo)", "15:00 on Thursday, 11"),
        // The same days and zones in ISO 8601.
        ("2027-03-12T06:00[Asia/Tokyo]", "21:00 on Thursday, 11"),
        ("2027-03-12T06:00+02:00", "04:00 on Friday, 12"),
        ("2027-03-12[Asia/Tokyo]", "15:00 on Thursday, 11"),
        // Without a zone, the date is in the zone of `from_zone`.
        ("06:00 on Friday, 12 March 2027", "11:00 on Friday, 12"),
    ];
    for (date, london_time) in dates_and_london_times {
        let expected = format!("{london_time} March 2027 (Europe/London)");
        assert_eq!(convert_to_london(date), expected, "{date}");
    }
}

#[test]
fn differences_respect_time_zones_and_daylight_saving_time() {
    assert_eq!(
        between("2026-11-21T12:00Z", "2026-11-21T12:00-05:00", "hours")["result"],
        5
    );
    let input = json!({"operation": "difference", "start": "2026-03-28T12:00", "end": "2026-03-29T12:00",
        "unit": "hours", "from_zone": "Europe/Berlin"});
    assert_eq!(run(input)["result"], 23);
}

#[test]
fn a_sum_has_a_time_if_the_date_has_one_or_the_unit_is_shorter_than_a_day() {
    let add = |date: &str, amount: i64, unit: &str| {
        run(json!({"operation": "add", "date": date, "amount": amount, "unit": unit}))["result"].clone()
    };
    assert_eq!(add("2024-02-27", 998, "days"), "Saturday, 21 November 2026");
    assert_eq!(add("2026-11-21", -2, "weeks"), "Saturday, 7 November 2026");
    assert_eq!(add("2024-02-29", 1, "years"), "Friday, 28 February 2025");
    assert_eq!(add("2026-11-21", 36, "hours"), "12:00 on Sunday, 22 November 2026");
    assert_eq!(
        add("2026-11-21T23:30:00+01:00", 45, "minutes"),
        "00:15 on Sunday, 22 November 2026 (+01)"
    );
}

#[test]
fn subtracting_returns_an_earlier_date_and_needs_an_amount() {
    let input = json!({"operation": "subtract", "date": "2026-11-21", "amount": 2, "unit": "weeks"});
    assert_eq!(run(input)["result"], "Saturday, 7 November 2026");
    assert_fails(
        json!({"operation": "subtract", "date": "2026-11-21"}),
        "operation `subtract` needs `amount`",
    );
}

/// Returns the result of `difference` in days at [`NOW`].
fn days_between(start: &str, end: &str) -> String {
    let clock = || Ok(Timestamp::from_second(NOW).unwrap());
    let input = DatetimeInput {
        operation: io::Operation::Difference,
        start: Some(start.to_owned()),
        end: Some(end.to_owned()),
        unit: Some(io::Unit::Days),
        ..DatetimeInput::default()
    };
    match operations::run(&input, &clock).unwrap().result {
        io::Answer::Number(days) => days.to_string(),
        io::Answer::Text(text) => text,
    }
}

// A recurring day, such as `25 December` or `Friday`, does not name its year or week. As `start` it means the last such day
// before `end`, and as `end` the next such day after `start`.
#[test]
fn a_recurring_start_is_the_last_one_before_the_end_and_a_recurring_end_the_next_one() {
    assert_eq!(days_between("today", "Christmas"), "34");
    assert_eq!(days_between("1 January", "today"), "324");
    assert_eq!(days_between("25 December", "3 March"), "68");
    assert_eq!(days_between("3 March", "5 May 2020"), "63");
    assert_eq!(days_between("Friday", "today"), "1");
    assert_eq!(days_between("Monday", "Friday"), "4");
}

#[test]
fn a_day_after_the_last_supported_year_is_refused_and_not_taken_from_the_past() {
    assert_fails(
        json!({"operation": "difference", "start": "9999-12-26", "end": "Christmas", "unit": "days"}),
        "out of range",
    );
}

#[test]
fn adding_to_a_time_without_a_day_returns_only_a_time_unless_the_day_changes() {
    let add =
        |time: &str| run(json!({"operation": "add", "date": time, "amount": 45, "unit": "minutes"}))["result"].clone();
    assert_eq!(add("14:30"), "15:15");
    assert!(add("23:30").as_str().unwrap().starts_with("00:15 on "));
}

#[test]
fn a_time_of_day_is_converted_and_not_dropped() {
    let input =
        json!({"operation": "convert", "date": "21 November 2026 at 3 pm", "from_zone": "Berlin", "to_zone": "Tokyo"});
    assert_eq!(run(input)["result"], "23:00 on Saturday, 21 November 2026 (Asia/Tokyo)");
}

#[test]
fn adding_needs_a_whole_amount_in_range() {
    assert_fails(
        json!({"operation": "add", "date": "2026-11-21"}),
        "operation `add` needs `amount`",
    );
    assert_fails(
        json!({"operation": "add", "date": "2026-11-21", "amount": 1.5}),
        "`amount` is 1.5: give a whole number",
    );
    assert_fails(
        json!({"operation": "add", "date": "2026-11-21", "amount": 1e15, "unit": "years"}),
        "out of range",
    );
    assert_fails(
        json!({"operation": "add", "date": "9999-12-31", "amount": 1}),
        "out of range",
    );
}

#[test]
fn zones_are_found_by_name_city_abbreviation_and_offset() {
    let noon_utc_in = |zone: &str| {
        run(json!({"operation": "convert", "date": "2026-07-01T12:00Z", "to_zone": zone}))["result"].clone()
    };
    let times = [
        ("America/New_York", "08:00", "America/New_York"),
        ("new york", "08:00", "America/New_York"),
        ("New York City", "08:00", "America/New_York"),
        ("Washington, D.C.", "08:00", "America/New_York"),
        ("Mumbai", "17:30", "Asia/Kolkata"),
        ("Edinburgh", "13:00", "Europe/London"),
        ("Japan", "21:00", "Asia/Tokyo"),
        ("PT", "05:00", "America/Los_Angeles"),
        // In July too, standard time is standard time.
        ("PST", "04:00", "-08"),
        ("EST", "07:00", "-05"),
        ("EDT", "08:00", "-04"),
        ("CET", "13:00", "+01"),
        ("UTC+5:30", "17:30", "+05:30"),
        ("-0330", "08:30", "-03:30"),
        ("gmt", "12:00", "UTC"),
    ];
    for (given_name, time, zone) in times {
        let expected = format!("{time} on Wednesday, 1 July 2026 ({zone})");
        assert_eq!(noon_utc_in(given_name), expected, "{given_name}");
    }
}

#[test]
fn an_abbreviation_of_summer_time_means_summer_time_in_winter_too() {
    let noon_utc_in = |zone: &str| {
        run(json!({"operation": "convert", "date": "2026-01-15T12:00Z", "to_zone": zone}))["result"].clone()
    };
    assert_eq!(noon_utc_in("CEST"), "14:00 on Thursday, 15 January 2026 (+02)");
    assert_eq!(
        noon_utc_in("Berlin"),
        "13:00 on Thursday, 15 January 2026 (Europe/Berlin)"
    );
}

#[test]
fn a_pattern_in_another_language_of_patterns_is_refused() {
    let input = |pattern: &str| json!({"operation": "format", "date": "2026-11-21", "format": pattern});
    for (pattern, part) in [
        ("YYYY-MM-DD", "YYYY"),
        ("dd.MM.yyyy", "dd"),
        ("%d. MMMM", "MMMM"),
        ("RFC 3339", "RFC 3339"),
        ("long", "long"),
    ] {
        assert_fails(input(pattern), &format!("`format` has `{part}`, which is no directive"));
    }
    assert_eq!(run(input("%d. of %B, %Y%m%d"))["result"], "21. of November, 20261121");
    assert_eq!(run(input("%-dd %-mm"))["result"], "21d 11m");
}

#[test]
fn a_month_without_a_day_is_refused() {
    for text in ["Nov 2026", "March 2027", "December"] {
        assert_fails(
            json!({"operation": "day_of_year", "date": text}),
            "it names a month and no day",
        );
    }
}

#[test]
fn every_place_has_a_zone() {
    let places = zone::PLACES.iter().flat_map(|(_, places)| places.split(' '));
    for place in places {
        assert!(zone::find(place).is_ok(), "{place}");
    }
}

#[test]
fn unknown_zones_are_refused_with_similar_names() {
    let input = |zone: &str| json!({"operation": "convert", "date": "2026-07-01", "to_zone": zone});
    assert_fails(
        input("Europe/Berlinn"),
        "unknown time zone `Europe/Berlinn`, did you mean `Europe/Berlin`",
    );
    assert_fails(input("xy"), "unknown time zone `xy`; use a name such as");
    assert_fails(input("+99"), "unknown time zone `+99`");
    assert_fails(
        json!({"operation": "convert", "date": "2026-07-01"}),
        "operation `convert` needs `to_zone`",
    );
}

#[test]
fn an_offset_may_be_at_most_fourteen_hours() {
    let input = |zone: &str| json!({"operation": "convert", "date": "2026-07-01T12:00Z", "to_zone": zone});
    assert_eq!(run(input("+14:00"))["result"], "02:00 on Thursday, 2 July 2026 (+14)");
    for zone in ["+14:59", "+14:01", "-14:30"] {
        assert_fails(input(zone), &format!("unknown time zone `{zone}`"));
    }
}

#[test]
fn parsing_returns_iso_8601() {
    assert_eq!(
        run(json!({"operation": "parse", "date": "November 21, 2026"}))["result"],
        "2026-11-21"
    );
    assert_eq!(
        run(json!({"operation": "parse", "date": "1709028000"}))["result"],
        "2024-02-27T10:00:00+00:00"
    );
    assert_fails(json!({"operation": "parse"}), "operation `parse` needs `date`");
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
    assert_fails(
        json!({"operation": "format", "date": "2026-11-21", "format": "%"}),
        "`format` is not a strftime pattern",
    );
    assert_fails(
        json!({"operation": "format", "date": "2026-11-21", "format": "x".repeat(201)}),
        "more than 200 characters",
    );
}

#[test]
fn now_comes_from_the_given_clock() {
    // 400 milliseconds after `NOW`. The answer leaves out the milliseconds.
    let clock = || Ok(Timestamp::from_millisecond(NOW * 1000 + 400).unwrap());
    let input = DatetimeInput {
        to_zone: Some("Tokyo".to_owned()),
        ..DatetimeInput::default()
    };
    let output = operations::run(&input, &clock).unwrap();
    let expected = "23:00 on Saturday, 21 November 2026 (Asia/Tokyo)".to_owned();
    assert!(output.result == io::Answer::Text(expected));
}

#[test]
fn the_clock_of_the_host_can_be_read() {
    let now = run(json!({"operation": "now"}))["result"].clone();
    assert!(now.as_str().unwrap().ends_with("(UTC)"), "{now}");
}

#[test]
fn the_clock_is_not_read_for_a_full_date() {
    let clock = || -> Result<Timestamp, DateError> { panic!("the clock was read") };
    let input = DatetimeInput {
        operation: io::Operation::Weekday,
        date: Some("2026-11-21".to_owned()),
        ..DatetimeInput::default()
    };
    assert!(operations::run(&input, &clock).is_ok());
}

#[test]
fn the_examples_return_their_outputs_and_the_schema_lists_all_operations() {
    testing::check(&DATETIME);
    let operations = &DATETIME.input_schema()["properties"]["operation"]["enum"];
    assert_eq!(operations.as_array().unwrap().len(), 12);
}

proptest! {
    #[test]
    fn no_date_or_zone_makes_the_tool_panic(date in "[-+0-9T:Z./ a-zA-Z\\[\\]]{0,30}", zone in "[-+:/a-zA-Z0-9 ]{0,12}") {
        let input = json!({"operation": "convert", "date": date, "from_zone": zone, "to_zone": zone});
        drop(testing::call(&DATETIME, input));
    }

    #[test]
    fn no_amount_or_pattern_makes_the_tool_panic(days in -4_000_000..3_000_000_i64, amount: f64, pattern in "[%a-zA-Z0-9_-]{0,12}") {
        // This date is in the supported years. Some of the sums below are not.
        let date = run(json!({"operation": "add", "date": "1970-01-01", "amount": days % 100_000}))["result"].clone();
        for unit in ["years", "months", "weeks", "days", "hours", "minutes", "seconds"] {
            let input = json!({"operation": "add", "date": date, "amount": amount.trunc(), "unit": unit});
            drop(testing::call(&DATETIME, input));
            drop(testing::call(&DATETIME, json!({"operation": "add", "date": date, "amount": days, "unit": unit})));
        }
        drop(testing::call(&DATETIME, json!({"operation": "format", "date": date, "format": pattern})));
    }
}

#[test]
fn an_amount_may_be_a_text() {
    let input = json!({"operation": "add", "date": "2026-01-31", "amount": "30"});
    assert_eq!(testing::output(&DATETIME, input)["result"], "Monday, 2 March 2026");
}
