use art_sdk::testing;
use proptest::prelude::*;

use super::*;

/// Returns the `values` of the output: the matched texts.
fn values(input: Value) -> Value {
    testing::output(&REGEX_EXTRACT, input)["values"].clone()
}

#[track_caller]
fn assert_fails(input: Value, part_of_message: &str) {
    let message = testing::failure(&REGEX_EXTRACT, input).message;
    assert!(message.contains(part_of_message), "{message}");
}

#[test]
fn all_matches_are_returned_in_order() {
    assert_eq!(
        values(json!({"text": "a1 b22 c333", "pattern": r"\d+"})),
        json!(["1", "22", "333"])
    );
    assert_eq!(values(json!({"text": "none", "pattern": r"\d+"})), json!([]));
}

#[test]
fn slashes_around_a_pattern_are_left_out() {
    let found = |pattern: &str| values(json!({"text": "a1 /etc/b2", "pattern": pattern}));
    assert_eq!(found(r"/\d/"), json!(["1", "2"]));
    assert_eq!(found("/etc/b"), json!(["/etc/b"]));
}

#[test]
fn the_positions_of_matches_and_groups_count_characters() {
    let output = testing::output(&REGEX_EXTRACT, json!({"text": "äö né né", "pattern": "n(é)"}));
    let second_match =
        json!({"text": "né", "start": 6, "end": 8, "groups": [{"index": 1, "text": "é", "start": 7, "end": 8}]});
    assert_eq!(output["matches"][1], second_match);
}

#[test]
fn groups_are_chosen_by_name_or_number() {
    let input = |group: Value| json!({"text": "k=v", "pattern": "(?<key>\\w)=(\\w)", "group": group});
    assert_eq!(values(input(json!("key"))), json!(["k"]));
    assert_eq!(values(input(json!(2))), json!(["v"]));
    assert_eq!(values(input(json!("2"))), json!(["v"]));
    assert_eq!(values(input(json!(0))), json!(["k=v"]));
    assert_fails(
        input(json!("value")),
        "no group `value`; its groups are `0`, `1` (`key`), `2`",
    );
    assert_fails(input(json!(9)), "no group `9`");
}

#[test]
fn a_group_that_did_not_match_is_omitted_but_its_match_is_counted() {
    let output = testing::output(&REGEX_EXTRACT, json!({"text": "b", "pattern": "(a)|b", "group": 1}));
    assert_eq!((&output["values"], &output["count"]), (&json!([]), &json!(1)));
    assert_eq!(output["matches"][0]["groups"], json!([]));
}

#[test]
fn letter_case_can_be_ignored_and_anchors_can_match_at_each_line() {
    assert_eq!(
        values(json!({"text": "A a", "pattern": "a", "case_insensitive": true})),
        json!(["A", "a"])
    );
    assert_eq!(
        values(json!({"text": "x\nx", "pattern": "^x$", "multi_line": true})),
        json!(["x", "x"])
    );
    assert_eq!(values(json!({"text": "x\nx", "pattern": "^x$"})), json!([]));
}

/// Returns the parts of a text that are of a kind, such as `email`.
fn find_kind(kind: &str, text: &str) -> Value {
    values(json!({"text": text, "kind": kind}))
}

#[test]
fn the_parts_of_a_text_that_are_of_a_named_kind_are_found() {
    assert_eq!(find_kind("email", "Mail a.b+c@x-y.org."), json!(["a.b+c@x-y.org"]));
    assert_eq!(
        find_kind("url", "(https://a.b/c?d=e), www.x.org."),
        json!(["https://a.b/c?d=e", "www.x.org"])
    );
    let dates = "On 2026-11-21, 21.11.2026, 3rd of March 2026, March 5 and Nov 5, 2026; not 1.5 or 2026";
    let expected = json!([
        "2026-11-21",
        "21.11.2026",
        "3rd of March 2026",
        "March 5",
        "Nov 5, 2026"
    ]);
    assert_eq!(find_kind("date", dates), expected);
    assert_eq!(
        find_kind("time", "9:30 to 17:45:10, 5pm, not 25:00"),
        json!(["9:30", "17:45:10", "5pm"])
    );
    assert_eq!(find_kind("hashtag", "#a1 #1 # #été"), json!(["#a1", "#été"]));
    assert_eq!(find_kind("mention", "@ada, a@b.org (@bob)"), json!(["@ada", "@bob"]));
    assert_eq!(find_kind("ip_address", "10.0.0.1 and 300.1.1.1"), json!(["10.0.0.1"]));
    assert_eq!(find_kind("postcode", "SW1A 1AA, 53111"), json!(["SW1A 1AA", "53111"]));
    assert_eq!(find_kind("zip_code", "90210-1234"), json!(["90210-1234"]));
    assert_eq!(
        find_kind("price", "$1,200.50, 30 €, 5 dollars, 7"),
        json!(["$1,200.50", "30 €", "5 dollars"])
    );
    assert_eq!(
        find_kind("percentage", "5%, 12.5 per cent"),
        json!(["5%", "12.5 per cent"])
    );
    assert_eq!(find_kind("number", "1,200 and -3.5"), json!(["1,200", "-3.5"]));
    assert_eq!(find_kind("acronym", "NASA, I and ESA"), json!(["NASA", "ESA"]));
    assert_eq!(
        find_kind("hex_colour", "#fff #12345 #A1B2C3"),
        json!(["#fff", "#A1B2C3"])
    );
}

#[test]
fn dates_ip_addresses_and_plain_numbers_are_no_phone_numbers() {
    let text = "+49 228 1234, (030) 123-4567, 0228 123456; 2026-11-21, 10.0.0.100, 12345678";
    assert_eq!(
        find_kind("phone_number", text),
        json!(["+49 228 1234", "(030) 123-4567", "0228 123456"])
    );
}

#[test]
fn if_only_the_count_is_asked_for_the_limit_is_ignored_and_unique_applies() {
    // The text has 200 matches, more than the default `limit` of 100.
    let input =
        |unique: bool| json!({"text": "a@b.c ".repeat(200), "kind": "email", "only": "count", "unique": unique});
    assert_eq!(testing::output(&REGEX_EXTRACT, input(false)), json!({"count": 200}));
    assert_eq!(testing::output(&REGEX_EXTRACT, input(true)), json!({"count": 1}));
}

#[test]
fn exactly_one_of_kind_and_pattern_is_required() {
    assert_fails(
        json!({"text": "a"}),
        "give either `kind`, such as `email`, or `pattern`",
    );
    assert_fails(
        json!({"text": "a", "kind": "date", "pattern": "a"}),
        "give either `kind`",
    );
}

#[test]
fn the_limit_truncates_the_matches() {
    let output = testing::output(&REGEX_EXTRACT, json!({"text": "aaa", "pattern": "a", "limit": 2}));
    assert_eq!((&output["count"], &output["truncated"]), (&json!(2), &json!(true)));
    let all = testing::output(&REGEX_EXTRACT, json!({"text": "aaa", "pattern": "a", "limit": 3}));
    assert_eq!(all["truncated"], false);
    assert_fails(
        json!({"text": "", "pattern": "a", "limit": 0}),
        "`limit` is 0: give a number from 1 to 1000",
    );
}

#[test]
fn a_pattern_that_matches_the_empty_text_terminates() {
    assert_eq!(values(json!({"text": "ab", "pattern": "x*"})), json!(["", "", ""]));
}

#[test]
fn errors_of_a_pattern_show_their_position() {
    assert_fails(
        json!({"text": "", "pattern": "ä(b"}),
        "unclosed group at character 2, near `(b`",
    );
    assert_fails(json!({"text": "", "pattern": "a{2,1}"}), "at character 2, near `{2,1}`");
    assert_fails(json!({"text": "", "pattern": "(?=a)"}), "look-around");
    assert_fails(
        json!({"text": "", "pattern": r"\p{Nope}"}),
        "Unicode property not found at character 1",
    );
}

#[test]
fn patterns_that_are_empty_too_long_too_deep_or_too_large_when_compiled_are_refused() {
    assert_fails(json!({"text": "", "pattern": ""}), "`pattern` is empty");
    assert_fails(
        json!({"text": "", "pattern": "a".repeat(1001)}),
        "has 1001 characters, at most 1000",
    );
    assert_fails(
        json!({"text": "", "pattern": r"\w{999}{99}"}),
        "too large when compiled",
    );
    assert_fails(
        json!({"text": "", "pattern": "(".repeat(60) + "a" + &")".repeat(60)}),
        "nest",
    );
}

#[test]
fn the_examples_return_their_outputs_and_the_schema_has_types_and_defaults() {
    testing::check(&REGEX_EXTRACT);
    let properties = &REGEX_EXTRACT.input_schema()["properties"];
    assert_eq!(properties["limit"]["default"], 100);
    assert_eq!(properties["group"]["type"], json!(["string", "integer", "null"]));
}

proptest! {
    #[test]
    fn no_pattern_makes_the_tool_panic(text in "\\PC{0,40}", pattern in "[a-cé.*+?|()\\[\\]{}0-9^$\\\\dwsp<>:-]{0,16}") {
        drop(testing::call(&REGEX_EXTRACT, json!({"text": text, "pattern": pattern, "group": 1, "multi_line": true})));
        drop(testing::call(&REGEX_EXTRACT, json!({"text": text, "pattern": pattern})));
    }
}

#[test]
fn a_line_ends_before_each_of_the_three_endings() {
    for ending in ["\n", "\r\n", "\r"] {
        let text = ["a1", "b2", ""].join(ending);
        let found = values(json!({"text": text, "pattern": "^.+$", "multi_line": true}));
        assert_eq!(found, json!(["a1", "b2"]), "{text:?}");
    }
}

/// Returns the texts of a kind in a text.
fn of_kind(kind: &str, text: &str) -> Value {
    values(json!({"text": text, "kind": kind}))
}

#[test]
fn numbers_may_begin_with_a_point_and_have_exponents_and_a_minus_sign() {
    let text = "from .5 to 3e5, −3 and -1,234.5E-7";
    assert_eq!(of_kind("number", text), json!([".5", "3e5", "−3", "-1,234.5E-7"]));
    assert_eq!(
        of_kind("percentage", "−3%, .5 percent, 1,000%"),
        json!(["−3%", ".5 percent", "1,000%"])
    );
    assert_eq!(of_kind("price", "$.50 and €3"), json!(["$.50", "€3"]));
    let text = "No.5 and p.12, pages 10..20, 13.11.2026 and -.5";
    assert_eq!(
        of_kind("number", text),
        json!(["5", "12", "10", "20", "13.11", "2026", "-.5"])
    );
    assert_eq!(of_kind("percentage", "approx.5%"), json!(["5%"]));
}

#[test]
fn an_address_may_end_with_brackets_but_not_with_one_around_it() {
    let text = "https://example.org/a_(b) (see https://example.org/c), (https://example.org/d_(e)).";
    let expected = [
        "https://example.org/a_(b)",
        "https://example.org/c",
        "https://example.org/d_(e)",
    ];
    assert_eq!(of_kind("url", text), json!(expected));
    for whole in [
        "https://x.example/q?x=f(1,g(2))&y=3",
        "https://x.example/a_((b)_c)/d",
        "https://x.example/a_(b)_(c)",
        "https://x.example/a(b",
    ] {
        assert_eq!(of_kind("url", whole), json!([whole]));
    }
}

#[test]
fn ip_addresses_of_both_versions_are_found() {
    let text = "10.0.0.12, ::1 and fe80::1:2; 2001:db8::ffff:1.2.3.4. At 12:30:45 version 1.2.3.4.5 of a::b::c was out, [::]:80";
    assert_eq!(
        of_kind("ip_address", text),
        json!(["10.0.0.12", "::1", "fe80::1:2", "2001:db8::ffff:1.2.3.4"])
    );
}

#[test]
fn an_ip_address_may_follow_a_colon_and_is_no_part_of_a_word() {
    let text = "inet addr:10.0.2.15, ...10.0.0.1, 10.0.0.1234, 10.0.0.12abc; use db::connect, Face::decode";
    assert_eq!(of_kind("ip_address", text), json!(["10.0.2.15", "10.0.0.1"]));
}

#[test]
fn an_ip_address_contains_no_date() {
    let text = "192.16.10.12 and 10.0.0.12/24 since 12.10.2024. Until 2024-12-31";
    assert_eq!(of_kind("date", text), json!(["12.10.2024", "2024-12-31"]));
}
