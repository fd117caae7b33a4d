//! Remarks beside a question, and the subject of a value.

use super::*;

/// The number of calls for `query`, if the plan has nothing that it lacks.
fn whole(query: &str) -> usize {
    let plan = planned(query, &tools(), &[]);
    let is_whole = !plan["plan"].as_str().unwrap().contains("No tool fits");
    if is_whole {
        plan["todoList"].as_array().unwrap().len()
    } else {
        0
    }
}

#[test]
fn a_remark_is_left_out() {
    for query in [
        "How many kilograms are 5 pounds? It's for my new kitchen.",
        "How many kilograms are 5 pounds, it's for my new kitchen",
        "How many kilograms are 5 pounds - I keep forgetting this",
        "How many kilograms are 5 pounds? My uncle keeps asking and I never know.",
        "My teacher never explained it. How many kilograms are 5 pounds?",
        "my teacher never explained it, how many kilograms are 5 pounds",
    ] {
        assert_eq!(whole(query), 1, "{query}");
    }
    assert_eq!(
        whole("What is 2+2? Convert 3 miles to kilometres. We're so curious!"),
        2
    );
}

#[test]
fn words_that_may_change_the_question_are_no_remark() {
    for aside in [
        "in binary",
        "it's for 3 people",
        "it's for Germany",
        "Germany only",
        "it's \"secret\"",
        "it's not for me",
        "we want it rounded",
        "it goes into one text",
        "my words count",
        "that holds except for feathers",
        "please spell it backwards",
        "my average teacher said so",
    ] {
        assert_eq!(whole(&format!("Convert 3 miles to kilometres, {aside}")), 0, "{aside}");
        assert_eq!(whole(&format!("Convert 3 miles to kilometres. {aside}.")), 0, "{aside}");
    }
}

#[test]
fn a_remark_never_names_anything_in_the_data() {
    let csv = file("p.csv", "text/csv", "item,price\nPump,3\n");
    let is_whole = |query: &str| {
        let plan = planned(query, &tools(), std::slice::from_ref(&csv));
        !plan["plan"].as_str().unwrap().contains("No tool fits")
    };
    assert!(is_whole("What is the average price? My boss keeps asking."));
    assert!(!is_whole("What is the average price? My boss keeps that pump."));
}

#[test]
fn a_remark_alone_is_refused() {
    assert_eq!(whole("It's for my new kitchen."), 0);
    assert_eq!(whole("i keep forgetting, it's for my new kitchen"), 0);
}

#[test]
fn the_subject_before_a_value_is_left_out() {
    let input = |value: u32| json!({"value": value, "from": "pounds", "to": "kilograms"});
    let properties = convert().input_schema["properties"].clone();
    let examples = [("5 pounds in kilograms", input(5)), ("7 pounds to kilograms", input(7))];
    let convert = [tool("convert", &properties, &examples)];
    for query in [
        "My suitcase weighs 23 pounds. What's that in kilograms?",
        "If a suitcase weighs 23 pounds, how much is that in kilograms?",
    ] {
        assert_eq!(calls_with(query, &convert, &[]), [input(23)], "{query}");
    }
    for query in [
        "My suitcase weighs 23 pounds in kilograms",
        "My suitcase weighs twice 23 pounds. What's that in kilograms?",
        "My Samsonite weighs 23 pounds. What's that in kilograms?",
        "Who carries 23 pounds? What's that in kilograms?",
    ] {
        assert_eq!(calls_with(query, &convert, &[]), [] as [Value; 0], "{query}");
    }
}
