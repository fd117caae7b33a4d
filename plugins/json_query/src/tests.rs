#![expect(clippy::needless_pass_by_value, reason = "a test writes `json!(..)` here")]

use art_sdk::testing;
use proptest::prelude::*;

use super::*;

#[track_caller]
fn assert_results(json: Value, query: &str, expected: Value) {
    let output = testing::output(&JSON_QUERY, json!({"json": json, "query": query}));
    assert_eq!(output["results"], expected, "{query}");
    assert_eq!(output["count"], expected.as_array().unwrap().len());
}

#[track_caller]
fn assert_fails(json: Value, query: &str, part_of_message: &str) {
    let message = testing::failure(&JSON_QUERY, json!({"json": json, "query": query})).message;
    assert!(message.contains(part_of_message), "{query}: {message}");
}

#[test]
fn a_condition_without_a_field_also_looks_into_nested_objects() {
    let json = json!([
        {"id": 1, "customer": {"country": "Germany"}, "total": 3},
        {"id": 2, "customer": {"country": "France"}, "total": 4},
    ]);
    let filter = json!([{"operator": "eq", "value": "Germany"}]);
    let sum = json!({"json": json, "field": "total", "combine": "sum", "filter": filter});
    assert_eq!(testing::output(&JSON_QUERY, sum)["results"], json!([3]));
    let count = json!({"json": json, "combine": "count", "filter": filter});
    assert_eq!(testing::output(&JSON_QUERY, count)["results"], json!([1]));
}

#[test]
fn data_may_be_a_value_or_json_text() {
    assert_results(json!({"a": [1, 2]}), ".a[]", json!([1, 2]));
    assert_results(json!("{\"a\": [1, 2]}"), ".a | add", json!([3]));
    assert_results(json!("\"plain text\""), "length", json!([10]));
    assert_results(json!(7), ". + 1", json!([8]));
    assert_results(json!(null), ".", json!([null]));
}

#[test]
fn json_lines_are_queried_value_by_value() {
    assert_results(json!("{\"n\":1}\n{\"n\":2}\n"), ".n", json!([1, 2]));
}

/// Looks up a field in a document, with `combine` unless it is null.
fn field_values(field: &str, combine: Value) -> Value {
    let data = json!({"a": [{"price": 3}, {"price": 4.5, "b": {"price": 1.5}}], "name \\(1)\"": "x"});
    testing::output(&JSON_QUERY, json!({"json": data, "field": field, "combine": combine}))["results"].clone()
}

#[test]
fn a_field_is_collected_wherever_it_is() {
    assert_eq!(field_values("price", Value::Null), json!([3, 4.5, 1.5]));
    // The name of a field may have characters that have a meaning in jq.
    assert_eq!(field_values("name \\(1)\"", Value::Null), json!(["x"]));
    let missing = testing::failure(&JSON_QUERY, json!({"json": {"price": 3, "name": "x"}, "field": "cost"}));
    assert_eq!(missing.message, "no field `cost`; the fields are `price`, `name`");
}

#[test]
fn the_values_of_a_field_are_combined() {
    let combined =
        ["count", "sum", "mean", "min", "max"].map(|combine| field_values("price", json!(combine))[0].as_f64());
    assert_eq!(combined, [3.0, 9.0, 3.0, 1.5, 4.5].map(Some));
    assert_eq!(field_values("price", json!("median")), json!([3]));
    assert_eq!(field_values("price", json!("count_distinct")), json!([3]));
}

#[test]
fn a_query_or_the_arguments_of_a_lookup_are_required_but_not_both() {
    for input in [
        json!({"json": 1}),
        json!({"json": 1, "query": ".", "field": "a"}),
        json!({"json": 1, "query": ".", "combine": "sum"}),
    ] {
        let message = testing::failure(&JSON_QUERY, input).message;
        assert!(message.contains("either `query`"), "{message}");
    }
}

/// Returns a firm with three people. The age of Cyd is a text, which is compared as a number.
fn people() -> Value {
    json!({"name": "Firm", "users": [
        {"name": "Ada", "age": 36, "address": {"city": "Bonn"}, "tags": ["admin", "new"]},
        {"name": "Bob", "age": 17, "address": {"city": "Kiel"}, "tags": []},
        {"name": "Cyd", "age": "51", "address": {"city": "Bonn"}, "tags": ["new"]},
    ]})
}

fn query_people(mut input: Value) -> Value {
    input["json"] = people();
    testing::output(&JSON_QUERY, input)["results"].clone()
}

#[test]
fn conditions_select_the_people_and_not_the_firm_that_contains_them() {
    let names = |field: &str, operator: &str, value: Value| {
        query_people(json!({"field": "name", "filter": [{"field": field, "operator": operator, "value": value}]}))
    };
    assert_eq!(names("age", "gt", json!(30)), json!(["Ada", "Cyd"]));
    assert_eq!(names("age", "le", json!(17)), json!(["Bob"]));
    assert_eq!(names("city", "eq", json!("bonn")), json!(["Ada", "Cyd"]));
    assert_eq!(names("city", "ne", json!("Bonn")), json!(["Bob"]));
    assert_eq!(names("tags", "eq", json!("new")), json!(["Ada", "Cyd"]));
    assert_eq!(names("name", "contains", json!("o")), json!(["Bob"]));
    let without_field = json!({"field": "age", "filter": [{"operator": "eq", "value": "Ada"}]});
    assert_eq!(query_people(without_field), json!([36]));
    let count = json!({"filter": [{"field": "age", "operator": "ge", "value": 18}], "combine": "count"});
    assert_eq!(query_people(count), json!([2]));
}

#[test]
fn a_list_is_not_equal_to_a_value_only_if_none_of_its_items_is() {
    let json = json!([{"n": "Ada", "tags": ["admin", "new"]}, {"n": "Bob", "tags": []}, {"n": "Cyd", "tags": ["old"]}]);
    for filter in [
        json!([{"field": "tags", "operator": "ne", "value": "new"}]),
        json!([{"operator": "ne", "value": "new"}]),
    ] {
        let input = json!({"json": json, "field": "n", "filter": filter});
        assert_eq!(
            testing::output(&JSON_QUERY, input)["results"],
            json!(["Bob", "Cyd"]),
            "{filter}"
        );
    }
}

#[test]
fn an_object_without_own_values_does_not_match_a_condition_without_a_field() {
    let two_people = json!({"people": [{"name": "Ann"}, {"name": "Bob"}], "empty": {}});
    let input = json!({"json": json!({"city": {"name": "Paris"}}), "filter": [{"operator": "ne", "value": "Berlin"}]});
    assert_eq!(
        testing::output(&JSON_QUERY, input)["results"],
        json!([{"name": "Paris"}])
    );
    let count = json!({"json": two_people, "filter": [{"operator": "ne", "value": "Ann"}], "combine": "count"});
    assert_eq!(testing::output(&JSON_QUERY, count)["results"], json!([2]));
}

#[test]
fn largest_with_smallest_is_refused() {
    let json = json!([{"a": 1, "b": 2}, {"a": 2, "b": 1}]);
    let input = art_sdk::serde_json::from_value(json!({"json": json, "largest": "a", "smallest": "b"})).unwrap();
    let error = crate::lookup::run(&input, &[json]).unwrap_err().to_string();
    assert!(error.contains("`largest` and `smallest`"), "{error}");
}

#[test]
fn combine_with_largest_is_refused() {
    let json = json!([{"a": 1}]);
    let input = art_sdk::serde_json::from_value(json!({"json": json, "largest": "a", "combine": "length"})).unwrap();
    assert!(
        crate::lookup::run(&input, &[json])
            .unwrap_err()
            .to_string()
            .contains("leave it out")
    );
}

#[test]
fn fields_of_different_objects_are_refused() {
    let json = json!({"acts": [{"name": "Ada", "fee": 3}]});
    let input = art_sdk::serde_json::from_value(json!({"json": json, "field": "acts", "largest": "fee"})).unwrap();
    let error = crate::lookup::run(&input, &[json]).unwrap_err().to_string();
    assert_eq!(
        error,
        "no object has the fields `acts` and `fee` together; name fields of the same object"
    );
}

#[test]
fn the_object_with_the_largest_or_smallest_value_is_found() {
    assert_eq!(query_people(json!({"field": "name", "largest": "age"})), json!(["Cyd"]));
    assert_eq!(
        query_people(json!({"field": "name", "smallest": "age"})),
        json!(["Bob"])
    );
    assert_eq!(query_people(json!({"smallest": "age"}))[0]["name"], "Bob");
    let in_bonn = json!([{"field": "city", "operator": "eq", "value": "Bonn"}]);
    assert_eq!(
        query_people(json!({"field": "name", "smallest": "age", "filter": in_bonn})),
        json!(["Ada"])
    );
}

#[test]
fn distinct_values_and_list_lengths_are_returned() {
    assert_eq!(
        query_people(json!({"field": "city", "combine": "distinct"})),
        json!(["Bonn", "Kiel"])
    );
    assert_eq!(
        query_people(json!({"field": "city", "combine": "count_distinct"})),
        json!([2])
    );
    assert_eq!(query_people(json!({"field": "users", "combine": "length"})), json!([3]));
    assert_eq!(
        query_people(json!({"field": "tags", "combine": "length"})),
        json!([2, 0, 1])
    );
}

#[test]
fn values_of_the_wrong_type_cannot_be_combined() {
    let error = |input: Value| testing::failure(&JSON_QUERY, input).message;
    let length = error(json!({"json": {"a": 1}, "field": "a", "combine": "length"}));
    assert_eq!(length, "`1` is no list, so it has no number of items");
    let sum = error(json!({"json": {"a": "x"}, "field": "a", "combine": "sum"}));
    assert_eq!(sum, "`\"x\"` is no number, so it cannot be added");
}

#[test]
fn numbers_and_texts_are_not_ranked_together() {
    let rooms = json!([{"room": "A", "fee": "n/a"}, {"room": "B", "fee": 5}, {"room": "C", "fee": 7}]);
    let only_numbers = json!([{"field": "fee", "operator": "ne", "value": "n/a"}]);
    for mut input in [
        json!({"largest": "fee"}),
        json!({"smallest": "fee"}),
        json!({"field": "fee", "combine": "max"}),
        json!({"field": "fee", "combine": "min"}),
    ] {
        input["json"] = rooms.clone();
        let message = testing::failure(&JSON_QUERY, input.clone()).message;
        assert_eq!(
            message,
            "`5` and `\"n/a\"` cannot be compared, since only one of them is a number: leave one of them out with \
             `filter`"
        );
        input["filter"] = only_numbers.clone();
        assert_eq!(testing::output(&JSON_QUERY, input)["count"], 1);
    }
}

#[test]
fn the_usual_filters_exist() {
    let people = json!([{"n": "b", "age": 2}, {"n": "a", "age": 1}]);
    assert_results(people.clone(), "sort_by(.age) | map(.n)", json!([["a", "b"]]));
    assert_results(
        people.clone(),
        "map(select(.n | test(\"^A\"; \"i\"))) | length",
        json!([1]),
    );
    assert_results(people.clone(), "[.[] | {(.n): .age}] | add", json!([{"b": 2, "a": 1}]));
    assert_results(people, "max_by(.age).n, (map(.age) | add / length)", json!(["b", 1.5]));
    assert_results(
        json!("\"a,b\""),
        "split(\",\") | join(\"-\") | @base64",
        json!(["YS1i"]),
    );
    assert_results(json!([4]), ".[0] | sqrt, pow(.; 2)", json!([2, 16]));
}

#[test]
fn regular_expressions_find_capture_and_replace() {
    assert_results(
        json!("\"a1 b22\""),
        "[match(\"[0-9]+\"; \"g\").string]",
        json!([["1", "22"]]),
    );
    assert_results(
        json!("\"x=1\""),
        "capture(\"(?<key>\\\\w)=(?<value>\\\\d)\")",
        json!([{"key": "x", "value": "1"}]),
    );
    assert_results(
        json!("\"a-b_c\""),
        "gsub(\"[-_]\"; \" \"), sub(\"b.*\"; \"\")",
        json!(["a b c", "a-"]),
    );
    assert_results(
        json!("\"a, b;c\""),
        "[splits(\"[,;] *\")], [scan(\"\\\\w\")]",
        json!([["a", "b", "c"], ["a", "b", "c"]]),
    );
    let unmatched_group = json!({"offset": -1, "length": 0, "string": null});
    assert_results(
        json!("\"éb\""),
        "match(\"b(x)?\") | .offset, .captures[0]",
        json!([1, unmatched_group]),
    );
    assert_results(
        json!("\"abc\""),
        "[match(\"\"; \"g\").offset], [match(\"x*\"; \"gn\")]",
        json!([[0, 1, 2, 3], []]),
    );
    assert_fails(json!("\"a\""), "test(\"(\")", "invalid regex");
    assert_fails(json!("\"a\""), "test(\"a\"; \"q\")", "regex flag `q` is not one of");
    assert_fails(json!([1]), "test(\"a\")", "cannot use");
}

#[test]
fn formats_escape_and_unescape_text() {
    let text = json!("\"<a & 'b'> é%\"");
    assert_results(
        text.clone(),
        "@html, @uri, (@uri | @urid)",
        json!([
            "&lt;a &amp; &#39;b&#39;&gt; é%",
            "%3Ca%20%26%20%27b%27%3E%20%C3%A9%25",
            "<a & 'b'> é%"
        ]),
    );
    assert_results(
        text,
        "(@html | @htmld) == ., (@base64 | @base64d) == .",
        json!([true, true]),
    );
    assert_results(
        json!([1, "a b"]),
        "@csv, @sh, @json",
        json!(["1,\"a b\"", "1 'a b'", "[1,\"a b\"]"]),
    );
    assert_results(
        json!(["say \"x\"", null, "a\tb\\"]),
        "@csv, @tsv",
        json!(["\"say \"\"x\"\"\",,\"a\tb\\\"", "say \"x\"\t\ta\\tb\\\\"]),
    );
    assert_fails(json!("\"*\""), "@base64d", "not base64");
}

#[test]
fn numbers_are_exact_and_nan_becomes_null() {
    assert_results(
        json!([9007199254740993_i64, u64::MAX, 0.1, -5, 1e300]),
        ".[]",
        json!([9007199254740993_i64, u64::MAX, 0.1, -5, 1e300]),
    );
    assert_results(json!(null), "nan, infinite, 3.0", json!([null, null, 3]));
}

#[test]
fn too_many_results_are_truncated() {
    let output = testing::output(&JSON_QUERY, json!({"json": null, "query": "repeat(1)"}));
    assert_eq!((&output["count"], &output["truncated"]), (&json!(1000), &json!(true)));
    let at_limit = testing::output(&JSON_QUERY, json!({"json": null, "query": "range(1000)"}));
    assert_eq!(
        (&at_limit["count"], &at_limit["truncated"]),
        (&json!(1000), &json!(false))
    );
}

#[test]
fn compile_errors_have_a_position() {
    assert_fails(
        json!(1),
        ".a | nosuch(1)",
        "no filter `nosuch` with 1 arguments at character 6, near `nosuch`",
    );
    assert_fails(json!(1), ".a + $x", "no variable `$x` at character 6");
    assert_fails(json!(1), ".a | ", "expected term at character 6 (the end)");
    assert_fails(json!(1), "é | )", "at character");
    assert_fails(json!(1), "[1, 2", "expected `]` at character 6 (the end)");
}

#[test]
fn a_filter_cannot_import_modules() {
    assert_fails(
        json!(1),
        "import \"a\" as a; a::b",
        "`import` and `include` are not available",
    );
}

#[test]
fn filters_that_reach_beyond_their_input_do_not_exist() {
    [
        "env",
        "$ENV.PATH",
        "now",
        "halt",
        "input",
        "debug",
        "input_filename",
        "localtime",
    ]
    .iter()
    .for_each(|query| {
        assert_fails(json!(1), query, "`query` is not a jq filter: no ");
    });
}

#[test]
fn failures_of_the_filter_and_of_the_data_are_reported() {
    assert_fails(
        json!({"a": 1}),
        ".a.b",
        "the filter failed after 0 results: cannot index",
    );
    assert_fails(json!(null), "1, error(\"stop\")", "after 1 results: \"stop\"");
    assert_fails(
        json!("not json"),
        ".",
        "the data is text but not valid JSON: expected ident at line 1 column 2",
    );
    assert_fails(json!(""), ".", "the data is empty");
}

#[test]
fn the_nesting_of_queries_data_and_results_and_the_length_of_queries_are_limited() {
    assert_fails(json!(1), &"(".repeat(65), "nested more than 64 levels");
    assert_fails(json!(1), &"1,".repeat(3000), "at most 4096");
    assert_fails(
        json!(null),
        "reduce range(300) as $i (null; [.])",
        "nested more than 128 levels",
    );
    assert_fails(json!("[".repeat(500)), ".", "recursion limit exceeded");
}

#[test]
fn keys_that_are_not_strings_are_refused() {
    assert_fails(json!(1), "{(.): 1}", "cannot be converted to JSON");
}

#[test]
fn the_examples_return_their_outputs_and_the_schema_requires_no_field() {
    // The examples with a `path` name a file that does not exist here.
    testing::check_where(&JSON_QUERY, |input| input.get("path").is_none());
    // Neither `json` nor `path` is required, since either of them is enough.
    assert_eq!(JSON_QUERY.input_schema().get("required"), None);
}

proptest! {
    #[test]
    fn arbitrary_filters_do_not_make_the_tool_panic(query in "[.a-z0-9\\[\\]{}(),;:|?$@\"\\\\+*/%<>= -]{0,20}", json in "[\\[\\]{}\":,a0-9 ]{0,20}") {
        drop(testing::call(&JSON_QUERY, json!({"json": json, "query": query})));
        drop(testing::call(&JSON_QUERY, json!({"json": {"a": [1, "b", null]}, "query": query})));
    }
}

#[test]
fn a_single_number_or_text_is_also_returned_as_value() {
    let value = |query: &str| {
        testing::output(&JSON_QUERY, json!({"json": {"a": 7, "b": "x"}, "query": query}))
            .get("value")
            .cloned()
    };
    assert_eq!((value(".a"), value(".b")), (Some(json!(7)), Some(json!("x"))));
    for query in [".a, .b", "empty", ".", ".c", "true"] {
        assert_eq!(value(query), None, "{query}");
    }
}

#[test]
fn a_combination_that_is_a_number_is_also_returned_as_value() {
    let combined = |combine: &str, items: Value| {
        let input = json!({"json": items, "field": "n", "combine": combine});
        testing::output(&JSON_QUERY, input)
    };
    for combine in ["count", "count_distinct", "sum", "mean", "median"] {
        assert!(
            combined(combine, json!([{"n": 1}, {"n": 2}]))["value"].is_number(),
            "{combine}"
        );
    }
    for combine in ["count", "count_distinct", "sum"] {
        assert!(
            combined(combine, json!([{"n": null}]))["value"].is_number(),
            "{combine}"
        );
    }
    assert_eq!(combined("mean", json!([{"n": null}])).get("value"), None);
}

#[test]
fn a_sum_that_is_too_large_for_a_number_is_refused() {
    let input = |combine: &str| json!({"json": [{"n": 1e308}, {"n": 1e308}], "field": "n", "combine": combine});
    for combine in ["sum", "mean"] {
        let error = testing::failure(&JSON_QUERY, input(combine));
        assert!(error.message.contains("the sum of the values is too large"), "{error}");
    }
    let sum_of_largest_float = json!({"json": {"n": f64::MAX}, "field": "n", "combine": "sum"});
    assert!(testing::output(&JSON_QUERY, sum_of_largest_float)["value"].is_number());
}

#[test]
fn data_is_read_from_a_file_or_from_the_argument_but_not_from_both() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("users.json");
    std::fs::write(&path, "{\"users\":[{\"name\":\"Ada\"}]}").unwrap();
    let names = testing::output(&JSON_QUERY, json!({"path": path, "query": ".users[].name"}));
    assert_eq!(names["results"], json!(["Ada"]));
    let error = |input| testing::failure(&JSON_QUERY, input).message;
    assert!(error(json!({"path": path, "json": 1, "query": "."})).contains("do not go together"));
    assert!(error(json!({"query": "."})).contains("there is no data"));
}

#[test]
fn a_null_counts_as_data_that_was_given() {
    assert_eq!(
        testing::output(&JSON_QUERY, json!({"json": null, "query": "."}))["results"],
        json!([null])
    );
}

#[test]
fn large_integers_are_compared_combined_and_returned_exactly() {
    let id = 9_007_199_254_740_993_u64;
    let json = json!([{"id": id - 1, "n": "a"}, {"id": id, "n": "b"}, {"id": id + 1, "n": "c"}]);
    let results = |mut input: Value| {
        input["json"] = json.clone();
        testing::output(&JSON_QUERY, input)["results"].clone()
    };
    for (operator, expected) in [
        ("eq", json!(["b"])),
        ("gt", json!(["c"])),
        ("le", json!(["a", "b"])),
        ("ne", json!(["a", "c"])),
    ] {
        let filter = json!([{"field": "id", "operator": operator, "value": id}]);
        assert_eq!(results(json!({"field": "n", "filter": filter})), expected, "{operator}");
    }
    assert_eq!(results(json!({"field": "n", "largest": "id"})), json!(["c"]));
    assert_eq!(results(json!({"field": "n", "smallest": "id"})), json!(["a"]));
    for (combine, expected) in [
        ("sum", id * 3),
        ("mean", id),
        ("median", id),
        ("max", id + 1),
        ("count_distinct", 3),
    ] {
        assert_eq!(
            results(json!({"field": "id", "combine": combine})),
            json!([expected]),
            "{combine}"
        );
    }
    assert_results(json.clone(), &format!(".[] | select(.id == {id}) | .id"), json!([id]));
    assert_results(json.clone(), "map(.id) | max, add", json!([id + 1, id * 3]));
}

#[test]
fn an_integer_of_more_than_64_bits_is_a_text() {
    let json = json!(r#"[{"id": 340282366920938463463374607431768211455}, {"id": 18446744073709551615}]"#);
    let largest = json!({"json": json, "field": "id", "largest": "id"});
    assert_eq!(
        testing::output(&JSON_QUERY, largest)["results"],
        json!(["340282366920938463463374607431768211455"])
    );
    assert_results(json!(u64::MAX), ". + 1", json!(["18446744073709551616"]));
}

#[test]
fn a_filter_computes_with_integers_of_more_than_64_bits() {
    for (text, query, expected) in [
        (
            "[18446744073709551616, 18446744073709551616]",
            "add",
            json!(["36893488147419103232"]),
        ),
        (
            "[99999999999999999999, 100000000000000000000]",
            "max",
            json!(["100000000000000000000"]),
        ),
        (r#"{"a": 18446744073709551616}"#, ".a - 1", json!([u64::MAX])),
        (r#"{"a": 18446744073709551616, "b": "x"}"#, ".b", json!(["x"])),
        ("[18446744073709551616] [2]", ".[0]", json!(["18446744073709551616", 2])),
    ] {
        assert_results(json!(text), query, expected);
    }
}

#[test]
fn a_small_float_keeps_its_digits() {
    assert_results(
        json!({"x": 1.234_567_890_123_456_7e-40}),
        ".x",
        json!([1.234_567_890_123_456_7e-40]),
    );
}
