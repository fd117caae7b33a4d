use super::*;

fn reason(query: &str) -> String {
    let plan = planned(query, &tools(), &[]);
    assert_eq!(plan["todoList"], json!([]), "{query}");
    plan["plan"].as_str().unwrap().to_owned()
}

#[test]
fn a_word_with_content_that_nothing_accounts_for_is_named() {
    let reason = reason("How many kilograms are 150 pounds of feathers?");
    assert!(
        reason.starts_with("No tool fits") && reason.contains("`feathers`"),
        "{reason}"
    );
}

#[test]
fn a_number_that_went_into_no_argument_is_named() {
    assert!(reason("Convert 5 miles to kilometres in 2024").contains("`2024`"));
}

#[test]
fn a_question_word_that_no_example_has_asks_for_something_else() {
    reason("Who is 5 pounds in kilograms?");
    reason("Who is the president of France?");
    reason("How many people live in 3 cities?");
}

#[test]
fn a_refusal_shows_the_nearest_example() {
    let reason = reason("What is the square root of the moon?");
    assert!(
        reason.contains("Ask for example: \"What is the square root of 144?\""),
        "{reason}"
    );
}

#[test]
fn a_text_that_is_not_there_is_asked_for() {
    assert!(reason("How many words are in this text?").contains("quote the text that is meant, or attach it"));
}

#[test]
fn a_quoted_word_is_not_the_text_when_a_file_is_attached() {
    let letter = file("letter.txt", "text/plain", "The river is calm.");
    let question = "How many words are in \"river\"?";
    assert_eq!(calls_with(question, &tools(), &[letter]), [] as [Value; 0]);
    assert_eq!(calls(question), [json!({"text": "river"})]);
}

#[test]
fn a_word_of_grammar_is_not_a_value_unless_it_is_quoted() {
    let input = |text: &str, find: &str| json!({"text": text, "find": find});
    let examples = [
        (
            "How often does \"the\" occur in \"the cat and the dog\"?",
            input("the cat and the dog", "the"),
        ),
        (
            "How often does sea occur in this text?",
            input("The sea was calm.", "sea"),
        ),
    ];
    let text = json!({"type": "string"});
    let find = tool("find", &json!({"text": text, "find": text}), &examples);
    let found = |question: &str| calls_with(question, std::slice::from_ref(&find), &[]);
    assert_eq!(
        found("How often does \"the\" occur in \"the end\"?"),
        [input("the end", "the")]
    );
    assert_eq!(found("How often does \"river\" occur in the letter?"), [] as [Value; 0]);
}

#[test]
fn a_column_that_the_table_does_not_have_is_not_guessed() {
    let csv = file("p.csv", "text/csv", "item,price\nPump,3\n");
    assert_eq!(
        calls_with("What is the average weight?", &tools(), &[csv]),
        [] as [Value; 0]
    );
}

#[test]
fn that_refers_to_nothing_where_nothing_was_before() {
    reason("What is that divided by 3?");
}

#[test]
fn what_two_tools_can_answer_alike_is_left_to_neither() {
    let mut other = calculate();
    other.name = "other".to_owned();
    let reason = planned("What is 3+3?", &[calculate(), other], &[])["plan"].to_string();
    assert!(reason.contains("it can be read in two ways"), "{reason}");
}

#[test]
fn what_no_tool_can_do_stands_beside_what_one_can() {
    let plan = planned("What is 2+2? Who is the president of France?", &tools(), &[]);
    assert_eq!(plan["todoList"].as_array().unwrap().len(), 1);
    assert!(
        plan["plan"]
            .as_str()
            .unwrap()
            .contains("No tool fits \"Who is the president of France?\"")
    );
}

#[test]
fn a_call_that_the_schema_does_not_allow_is_not_made() {
    let mut strict = convert();
    strict.input_schema["properties"]["value"]["maximum"] = json!(10);
    assert_eq!(
        calls_with("Convert 5 miles to kilometres", &[strict.clone()], &[]).len(),
        1
    );
    assert_eq!(calls_with("Convert 50 miles to kilometres", &[strict], &[]).len(), 0);
}

#[test]
fn one_value_may_be_unknown_where_the_question_has_all_words_of_an_example() {
    let expected = json!({"value": 3, "from": "florps", "to": "kilometres"});
    assert_eq!(calls("Convert 3 florps to kilometres"), [expected]);
    reason("Convert 3 florps to glorps");
    reason("Convert 3 florps glorps");
    reason("3 florps kilometres");
}

#[test]
fn a_value_does_not_begin_like_the_middle_of_those_of_the_examples() {
    reason("What is times 3?");
    reason("What is by 3?");
}

#[test]
fn a_refusal_shows_no_example_when_none_is_near() {
    assert!(!reason("Who wrote Hamlet?").contains("Ask for example"));
}

#[test]
fn a_question_of_which_only_grammar_is_left_asks_for_nothing() {
    let input = json!({"text": "The sea was calm. The ship was not."});
    let asks = [
        "How many words are in this text?",
        "How many are in this text?",
        "How many words are in these minutes?",
        "Count the words in this text",
    ];
    let examples = asks.map(|ask| (ask, input.clone()));
    let count = tool("count", &json!({"text": {"type": "string"}}), &examples);
    let letter = file("letter.txt", "text/plain", "The river is calm.");
    let asked = |query: &str| {
        let (count, letter) = (std::slice::from_ref(&count), std::slice::from_ref(&letter));
        calls_with(query, count, letter).len()
    };
    assert_eq!(asked("Count the words"), 1);
    assert_eq!(asked("How many minutes?"), 0);
    assert_eq!(asked("How many are in it?"), 0);
}

#[test]
fn a_remark_beside_a_question_is_not_understood() {
    for aside in [
        "in binary",
        "it's for 3 people",
        "it's not for me",
        "we want it rounded",
        "Germany only",
    ] {
        reason(&format!("Convert 3 miles to kilometres, {aside}"));
        let plan = planned(&format!("Convert 3 miles to kilometres. {aside}."), &tools(), &[]);
        assert!(plan["plan"].as_str().unwrap().contains("No tool fits"), "{aside}");
    }
}

#[test]
fn a_word_that_leads_to_one_value_does_not_stand_before_another() {
    let text = json!({"type": "string"});
    let input = json!({"start": "2026-02-15", "end": "2026-04-04"});
    let examples = [
        ("How many days from 2026-02-15 until 2026-04-04?", input.clone()),
        ("How many days between 2026-02-15 and 2026-04-04?", input),
    ];
    let days = [tool("days", &json!({"start": text, "end": text}), &examples)];
    let expected = json!({"start": "3 May 2026", "end": "5 May 2026"});
    let asked = |query: &str| calls_with(query, &days, &[]);
    assert_eq!(asked("How many days from 3 May 2026 until 5 May 2026?"), [expected]);
    assert!(asked("How many days until 5 May 2026 from 3 May 2026?").is_empty());
}
