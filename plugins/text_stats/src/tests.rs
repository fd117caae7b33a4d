use art_sdk::testing;
use proptest::prelude::*;

use super::*;

/// Returns the statistics of a text.
fn run(text: &str) -> Value {
    testing::output(&TEXT_STATS, json!({"text": text}))
}

#[test]
fn contractions_and_decimal_numbers_count_as_one_word() {
    let stats = run("It's 3.5 km, isn't it? Yes!");
    assert_eq!((&stats["words"], &stats["unique_words"]), (&json!(6), &json!(6)));
    assert_eq!(stats["sentences"], 2);
}

#[test]
fn characters_are_counted_as_they_are_displayed() {
    let stats = run("cafe\u{301} 👩‍👩‍👧 ñ");
    assert_eq!(
        (&stats["characters"], &stats["characters_without_spaces"]),
        (&json!(8), &json!(6))
    );
    assert_eq!(stats["letters"], 5);
}

#[test]
fn a_vowel_with_any_accent_mark_is_a_vowel() {
    for text in ["ő ā ě", "Ő Ā Ě", "o\u{30b} a\u{304} e\u{30c}", "ế ự ǫ"] {
        let stats = testing::output(&TEXT_STATS, json!({"text": text, "only": "vowels"}));
        assert_eq!(stats["vowels"], 3, "{text}");
    }
}

#[test]
fn vowels_consonants_and_digits_are_counted() {
    let stats = run("Été 42, rhythm");
    assert_eq!(
        (&stats["vowels"], &stats["consonants"], &stats["digits"]),
        (&json!(2), &json!(7), &json!(2))
    );
}

#[test]
fn digits_of_every_script_are_counted_and_other_numbers_are_not() {
    assert_eq!(run("42")["digits"], 2);
    assert_eq!(run("٤٢ ４２")["digits"], 4);
    assert_eq!(run("½ Ⅷ ² ① x")["digits"], 0);
}

#[test]
fn the_longest_and_the_shortest_word_are_the_first_of_their_length() {
    assert_eq!(run("ab abcd wxyz a")["longest_word"], "abcd");
    assert_eq!(run("to be or a bee")["shortest_word"], "a");
    assert_eq!(run("To be or not")["shortest_word"], "To");
    assert_eq!(run("")["shortest_word"], Value::Null);
}

#[test]
fn blank_lines_are_counted_as_lines_and_separate_paragraphs() {
    let stats = run("one\ntwo\n\n\nthree\n");
    assert_eq!((&stats["lines"], &stats["paragraphs"]), (&json!(5), &json!(2)));
}

#[test]
fn frequent_words_ignore_letter_case_and_begin_with_the_most_frequent() {
    let input = json!({"text": "The cat and the dog and THE bird", "top": 2});
    let output = testing::output(&TEXT_STATS, input);
    assert_eq!(
        output["frequent_words"],
        json!([{"word": "the", "count": 3}, {"word": "and", "count": 2}])
    );
}

#[test]
fn short_words_can_be_left_out_of_the_frequent_words() {
    let input = json!({"text": "the cat and the dog wander", "min_word_length": 4});
    let output = testing::output(&TEXT_STATS, input);
    assert_eq!(output["frequent_words"], json!([{"word": "wander", "count": 1}]));
}

#[test]
fn a_word_is_found_whole_and_a_letter_anywhere() {
    let times =
        |text: &str, find: &str| testing::output(&TEXT_STATS, json!({"text": text, "find": find}))["times"].clone();
    assert_eq!(times("The other day, the cat", "the"), 2);
    assert_eq!(times("Strawberry", "R"), 3);
    assert_eq!(times("to be or not to be", "to be"), 2);
    assert_eq!(times("", "x"), 0);
    assert_eq!(run("to be")["times"], Value::Null);
    let error = testing::failure(&TEXT_STATS, json!({"text": "a", "find": " "}));
    assert!(error.message.contains("`find` is empty"), "{}", error.message);
}

#[test]
fn a_match_inside_a_word_does_not_hide_an_overlapping_match_of_whole_words() {
    let times =
        |text: &str, find: &str| testing::output(&TEXT_STATS, json!({"text": text, "find": find}))["times"].clone();
    assert_eq!(times("ba a a", "a a"), 1);
    assert_eq!(times("a ab a ä a a", "a ä a"), 1);
    assert_eq!(times("a a a", "a a"), 1);
    assert_eq!(times("éa aé", "a a"), 0);
}

#[test]
fn a_call_that_asks_only_for_times_needs_find() {
    let error = testing::failure(&TEXT_STATS, json!({"text": "a", "only": "times"}));
    assert!(error.message.contains("`times`, which needs `find`"), "{error}");
}

#[test]
fn reading_time_follows_from_the_reading_speed() {
    let time = |words: usize, speed: u32| {
        let input = json!({"text": "word ".repeat(words), "words_per_minute": speed});
        testing::output(&TEXT_STATS, input)["reading_time"].clone()
    };
    assert_eq!(time(10, 238), "less than a minute");
    assert_eq!(time(238, 238), "1 minute");
    assert_eq!(time(1000, 250), "4 minutes");
    assert_eq!(time(15_000, 200), "1 h 15 min");
    let error = testing::failure(&TEXT_STATS, json!({"text": "", "words_per_minute": 0}));
    assert!(error.message.contains("`words_per_minute` is 0"), "{}", error.message);
}

#[test]
fn averages_may_be_fractions_and_are_zero_without_words() {
    assert_eq!(run("ab abc abcd. a")["average_word_length"], 2.5);
    assert_eq!(run(" \n")["average_sentence_length"], 0.0);
}

#[test]
fn the_defaults_are_in_the_schema() {
    let properties = &TEXT_STATS.input_schema()["properties"];
    let defaults = ["top", "min_word_length", "words_per_minute"].map(|name| properties[name]["default"].clone());
    assert_eq!(defaults, [json!(10), json!(1), json!(238)]);
}

#[test]
fn an_unknown_field_is_refused() {
    assert!(
        testing::failure(&TEXT_STATS, json!({"text": "", "language": "de"}))
            .message
            .contains("language")
    );
}

#[test]
fn the_examples_return_their_outputs() {
    testing::check(&TEXT_STATS);
}

proptest! {
    #[test]
    fn words_never_outnumber_characters_and_paragraphs_never_outnumber_lines(text in "\\PC{0,60}|[a .\n]{0,60}") {
        let stats = run(&text);
        let number = |name: &str| stats[name].as_u64().unwrap();
        prop_assert!(number("unique_words") <= number("words"));
        prop_assert!(number("words") <= number("characters"));
        prop_assert!(number("characters_without_spaces") <= number("characters"));
        prop_assert!(number("paragraphs") <= number("lines"));
    }
}

#[test]
fn lines_and_paragraphs_are_counted_whatever_ends_the_lines_and_a_byte_order_mark_is_no_character() {
    for ending in ["\n", "\r\n", "\r"] {
        let text = ["\u{feff}one", "two", "", "three"].join(ending);
        let stats = run(&text);
        assert_eq!(
            (&stats["lines"], &stats["paragraphs"]),
            (&json!(4), &json!(2)),
            "{text:?}"
        );
        assert_eq!(stats["shortest_word"], "one");
    }
}
