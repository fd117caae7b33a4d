use super::*;

fn texts(query: &str) -> Vec<String> {
    parts(query).into_iter().map(|part| part.text).collect()
}

#[test]
fn then_and_questions_after_and_open_a_part() {
    assert_eq!(
        texts("What is 17.5% of 2340, and what is that divided by 7?"),
        ["What is 17.5% of 2340", "what is that divided by 7?"]
    );
    assert_eq!(
        texts("Convert 5 km to miles, then round it"),
        ["Convert 5 km to miles", "round it"]
    );
}

#[test]
fn a_query_may_begin_in_the_middle_of_another() {
    assert_eq!(texts("and then add 3 and 4"), ["add 3 and 4"]);
    assert!(texts("and then ").is_empty());
}

#[test]
fn a_minus_at_the_beginning_is_kept_and_a_list_marker_is_not() {
    assert_eq!(texts("-(2+3)*4"), ["-(2+3)*4"]);
    assert_eq!(texts("- add 3 and 4\n- add 5 and 6"), ["add 3 and 4", "add 5 and 6"]);
}

#[test]
fn sentences_and_list_items_are_parts() {
    assert_eq!(
        texts("Weather in Rome? Time in Oslo?"),
        ["Weather in Rome?", "Time in Oslo?"]
    );
    assert_eq!(
        texts("1. add 3 and 4\n2. what is 5 times 6"),
        ["add 3 and 4", "what is 5 times 6"]
    );
}

#[test]
fn a_day_after_a_result_is_a_part() {
    assert_eq!(
        texts("What date is 90 days after 2026-01-15, and 3 weeks after that?"),
        ["What date is 90 days after 2026-01-15", "3 weeks after that?"]
    );
    assert_eq!(texts("What date is 1 year and 3 weeks after 2026-01-15?").len(), 1);
}

#[test]
fn quotes_numbers_and_ranges_stay_whole() {
    assert_eq!(texts("Translate \"Stop. Then go and find it.\" to French").len(), 1);
    assert_eq!(texts("How many days between 1 May 2024 and 3 June 2024?").len(), 1);
    assert_eq!(texts("What is 3.5 + 1?").len(), 1);
}

#[test]
fn text_behind_a_colon_is_content() {
    assert_eq!(
        texts("Count the words of this: The cat sat. Then it slept and found a mouse.").len(),
        1
    );
}

#[test]
fn a_query_has_at_most_twelve_parts() {
    assert_eq!(parts(&"What? ".repeat(100)).len(), 12);
}

#[test]
fn small_talk_asks_for_nothing() {
    for text in ["hello, how are you today?", "How is it going?", "what's up"] {
        assert!(is_small_talk(&Reading::new(text)), "{text}");
    }
    for text in [
        "how are you shipping it today?",
        "what is the date today?",
        "how is it going to be in Rome?",
    ] {
        assert!(!is_small_talk(&Reading::new(text)), "{text}");
    }
}
