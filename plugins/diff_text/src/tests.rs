use art_sdk::testing;
use proptest::prelude::*;

use super::*;

/// Returns the whole comparison of two texts.
fn compare_texts(before: &str, after: &str, mode: &str) -> Value {
    testing::output(&DIFF_TEXT, json!({"before": before, "after": after, "mode": mode}))
}

#[test]
fn lines_are_compared_as_a_unified_diff() {
    let output = compare_texts("a\nb\nc\nd\n", "a\nc\nd\ne\n", "lines");
    assert_eq!(
        output["diff"],
        "--- before\n+++ after\n@@ -1,4 +1,4 @@\n a\n-b\n c\n d\n+e\n"
    );
    assert_eq!([&output["inserted"], &output["deleted"], &output["equal"]], [1, 1, 3]);
    assert_eq!(output["ratio"], 0.75);
}

#[test]
fn context_sets_the_number_of_lines_around_a_change() {
    let input = json!({"before": "1\n2\n3\n4\n5\n", "after": "1\n2\nx\n4\n5\n", "context": 0});
    assert_eq!(
        testing::output(&DIFF_TEXT, input)["diff"],
        "--- before\n+++ after\n@@ -3 +3 @@\n-3\n+x\n"
    );
}

#[test]
fn a_missing_last_line_break_is_shown() {
    assert!(
        compare_texts("a\n", "a", "lines")["diff"]
            .as_str()
            .unwrap()
            .contains("\\ No newline at end of file")
    );
}

#[test]
fn changed_words_and_characters_are_marked_in_the_text() {
    assert_eq!(
        compare_texts("I like tea.", "I love green tea.", "words")["diff"],
        "I [-like-]{+love green+} tea."
    );
    assert_eq!(compare_texts("colour", "color", "chars")["diff"], "colo[-u-]r");
    // A letter with its combining accent is one character.
    assert_eq!(compare_texts("e\u{301}", "e", "chars")["diff"], "[-e\u{301}-]{+e+}");
}

#[test]
fn equal_texts_have_no_diff() {
    let output = compare_texts("", "", "lines");
    assert_eq!(
        (&output["diff"], &output["identical"], &output["ratio"]),
        (&json!(""), &json!(true), &json!(1.0))
    );
}

/// Calls the tool with the argument `only`, and returns the one value that its output has.
fn only_value(before: &str, after: &str, mode: &str, only: &str) -> Value {
    let input = json!({"before": before, "after": after, "mode": mode, "only": only});
    let output = testing::output(&DIFF_TEXT, input);
    let mut values = output.as_object().unwrap().values();
    assert_eq!(values.len(), 1);
    values.next().unwrap().clone()
}

#[test]
fn one_value_can_be_asked_for() {
    let (old, new) = ("a\nb\nc\n", "a\nc\nd\ne\n");
    assert_eq!(only_value(old, new, "lines", "added"), json!(["d", "e"]));
    assert_eq!(only_value(old, new, "lines", "removed"), json!(["b"]));
    assert_eq!(only_value(old, new, "lines", "added_count"), 2);
    assert_eq!(only_value(old, new, "lines", "removed_count"), 1);
    assert_eq!(only_value(old, new, "lines", "changed_count"), 3);
    assert_eq!(only_value(old, new, "lines", "is_same"), "no");
    assert_eq!(only_value(old, old, "lines", "is_same"), "yes");
    assert_eq!(only_value(old, old, "lines", "similarity"), "100 %");
    assert_eq!(only_value(old, old, "lines", "diff"), "the texts are the same");
}

#[test]
fn neighbouring_words_are_one_entry_and_white_space_is_not_counted() {
    let (old, new) = ("I like tea.", "I love green tea.");
    assert_eq!(only_value(old, new, "words", "added"), json!(["love green"]));
    assert_eq!(only_value(old, new, "words", "removed"), json!(["like"]));
    // One word is replaced by two: the larger number counts.
    assert_eq!(only_value(old, new, "words", "changed_count"), 2);
    assert_eq!(only_value("the quick fox", "the slow fox", "words", "changed_count"), 1);
}

#[test]
fn texts_without_anything_in_common_have_ratio_zero() {
    let output = compare_texts("a\n", "b\n", "lines");
    assert_eq!((&output["ratio"], &output["identical"]), (&json!(0.0), &json!(false)));
}

#[test]
fn long_texts_and_a_large_context_are_refused_with_advice() {
    const TOO_MANY_PARTS: usize = 10_001;
    let error = |text: String, mode: &str| {
        testing::failure(&DIFF_TEXT, json!({"before": text, "after": "", "mode": mode})).message
    };
    assert_eq!(
        error("x".repeat(TOO_MANY_PARTS), "chars"),
        "`before` has more than 10000 characters: compare `words` or `lines`"
    );
    assert!(error("\n".repeat(TOO_MANY_PARTS), "lines").contains("more than 10000 lines"));
    assert!(error("a ".repeat(TOO_MANY_PARTS), "words").contains("more than 10000 words"));
    assert!(error(".".repeat(TOO_MANY_PARTS), "words").contains("more than 10000 words"));
    assert!(error("\r".repeat(TOO_MANY_PARTS), "lines").contains("more than 10000 lines"));
    // White space counts as a word only directly after other white space, so the first line break does not count.
    assert!(error("\n".repeat(TOO_MANY_PARTS + 1), "words").contains("more than 10000 words"));
    let large_context = testing::failure(&DIFF_TEXT, json!({"before": "", "after": "", "context": 101}));
    assert_eq!(large_context.message, "`context` is 101: give a number from 0 to 100");
}

#[test]
fn each_letter_of_a_script_without_spaces_between_words_counts_as_a_word() {
    for letter in ["字", "の", "ก"] {
        let too_long = json!({"before": letter.repeat(10_001), "after": "", "mode": "words"});
        let error = testing::failure(&DIFF_TEXT, too_long);
        assert!(error.message.contains("more than 10000 words"), "{letter}: {error}");
        let longest_allowed = json!({"before": letter.repeat(10_000), "after": letter, "mode": "words"});
        assert_eq!(
            testing::output(&DIFF_TEXT, longest_allowed)["deleted"],
            9_999,
            "{letter}"
        );
    }
}

#[test]
fn a_character_with_a_combining_accent_counts_once() {
    let accented = "e\u{301}".repeat(6_000);
    let compared = testing::output(&DIFF_TEXT, json!({"before": accented, "after": "", "mode": "chars"}));
    assert_eq!(compared["deleted"], 6_000);
}

#[test]
fn a_text_of_the_maximum_number_of_lines_or_words_is_compared() {
    for (text, mode) in [
        ("a\r\n", "lines"),
        ("a\r", "lines"),
        ("a\n", "lines"),
        ("a ", "words"),
        ("a\n", "words"),
    ] {
        let longest = json!({"before": text.repeat(10_000), "after": text, "mode": mode});
        assert!(
            testing::output(&DIFF_TEXT, longest)["deleted"].is_number(),
            "{text:?} {mode}"
        );
    }
}

#[test]
fn the_examples_return_their_outputs_and_the_schema_has_defaults() {
    testing::check(&DIFF_TEXT);
    let properties = &DIFF_TEXT.input_schema()["properties"];
    assert_eq!(
        (&properties["context"]["default"], &properties["mode"]["default"]),
        (&json!(3), &json!("lines"))
    );
    assert_eq!(properties["mode"]["enum"], json!(["lines", "words", "chars"]));
}

proptest! {
    #[test]
    fn only_equal_texts_are_identical_and_character_counts_add_up(before in "[ab \n]{0,30}", after in "[ab \n]{0,30}") {
        for mode in ["lines", "words", "chars"] {
            let output = compare_texts(&before, &after, mode);
            prop_assert_eq!(&output["identical"], before == after);
            let in_after = output["inserted"].as_u64().unwrap() + output["equal"].as_u64().unwrap();
            let in_before = output["deleted"].as_u64().unwrap() + output["equal"].as_u64().unwrap();
            if mode == "chars" {
                prop_assert_eq!(in_after, after.len() as u64);
                prop_assert_eq!(in_before, before.len() as u64);
            }
        }
    }
}

#[test]
fn a_difference_that_cannot_be_seen_is_shown() {
    let diff = |before: &str, after: &str| {
        let compared = testing::output(&DIFF_TEXT, json!({"before": before, "after": after}));
        compared["diff"].as_str().unwrap().to_owned()
    };
    let shown = diff("\u{feff}a\r\nb\r\n", "a\nb\n");
    assert!(
        shown.starts_with("the byte order mark at the beginning is removed\n"),
        "{shown}"
    );
    assert!(shown.ends_with("-\\u{feff}a␍␊\n-b␍␊\n+a\n+b\n"), "{shown}");
    assert!(diff("a\r\nb\r\n", "a\r\nc\r\n").ends_with(" a\n-b\n+c\n"));
}
