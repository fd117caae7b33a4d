//! Paths of files and addresses of pages that no example names.

use super::*;

fn read_tool() -> ToolSchema {
    let examples = [
        ("Read ~/notes/a.txt", json!({"path": "~/notes/a.txt"})),
        ("Show ~/notes/a.txt", json!({"path": "~/notes/a.txt"})),
        ("What is in the file ~/notes/a.txt?", json!({"path": "~/notes/a.txt"})),
        ("Read /var/log/app.log", json!({"path": "/var/log/app.log"})),
    ];
    tool("read", &json!({"path": {"type": "string"}}), &examples)
}

fn unpack_tool() -> ToolSchema {
    let examples = [("What is in ~/downloads/a.zip?", json!({"path": "~/downloads/a.zip"}))];
    tool("unpack", &json!({"path": {"type": "string"}}), &examples)
}

fn fetch_tool() -> ToolSchema {
    let examples = [
        (
            "Read https://example.com/news",
            json!({"url": "https://example.com/news"}),
        ),
        (
            "Show https://example.com/news",
            json!({"url": "https://example.com/news"}),
        ),
    ];
    tool("fetch", &json!({"url": {"type": "string"}}), &examples)
}

/// Returns the tool and the path or address of each call that a question leads to.
fn tools_and_places(query: &str) -> Vec<(String, String)> {
    let plan = plan_for(query, &[read_tool(), unpack_tool(), fetch_tool()], &[]);
    let steps = plan["todoList"].as_array().unwrap().iter();
    let calls = steps.map(|step| {
        let call = &step["toolCalls"][0];
        let arguments = call["arguments"].as_object().unwrap();
        let place = arguments.values().next().unwrap();
        (
            call["toolName"].as_str().unwrap().to_owned(),
            place.as_str().unwrap().to_owned(),
        )
    });
    calls.collect()
}

fn one_call(tool: &str, place: &str) -> Vec<(String, String)> {
    vec![(tool.to_owned(), place.to_owned())]
}

#[test]
fn paths_of_many_forms_are_understood() {
    for path in [
        "~/notes/b.txt",
        "~/notes",
        "./b.txt",
        "../b.txt",
        "/etc/hosts",
        "reports/2025/q3.csv",
        "2025-q3.csv",
        "IMG_1.JPG",
        "C:\\Users\\ana\\b.txt",
        "src/lib",
    ] {
        assert_eq!(tools_and_places(&format!("Read {path}")), one_call("read", path));
    }
}

#[test]
fn a_path_may_have_blanks_where_it_is_quoted() {
    assert_eq!(
        tools_and_places("Read \"my notes/b.txt\""),
        one_call("read", "my notes/b.txt")
    );
    assert_eq!(tools_and_places("Read \"my notes\""), []);
}

#[test]
fn the_mark_that_ends_a_sentence_is_no_part_of_a_path() {
    assert_eq!(
        tools_and_places("Please read b.txt, thanks. Show ~/c.txt!"),
        [one_call("read", "b.txt"), one_call("read", "~/c.txt")].concat()
    );
    assert_eq!(
        tools_and_places("Show https://example.org/a."),
        one_call("fetch", "https://example.org/a")
    );
}

#[test]
fn words_numbers_and_dates_are_not_paths() {
    for word in [
        "budget",
        "everything",
        "2025",
        "3.5",
        "3.5km",
        "e.g.",
        "ana@example.org",
        "12/31/2025",
        "5",
    ] {
        assert_eq!(tools_and_places(&format!("Read {word}")), [], "{word}");
    }
}

#[test]
fn an_address_is_no_path() {
    assert_eq!(
        tools_and_places("Read https://example.org/b.txt"),
        one_call("fetch", "https://example.org/b.txt")
    );
    assert_eq!(tools_and_places("Read ftp.txt"), one_call("read", "ftp.txt"));
}

#[test]
fn the_ending_of_a_path_tells_tools_apart() {
    assert_eq!(tools_and_places("What is in b.zip?"), one_call("unpack", "b.zip"));
    assert_eq!(tools_and_places("What is in b.txt?"), one_call("read", "b.txt"));
    assert_eq!(tools_and_places("What is in b.xlsx?"), []);
}

#[test]
fn a_noun_for_a_text_may_stand_before_a_path() {
    assert_eq!(tools_and_places("Read the report b.txt"), one_call("read", "b.txt"));
    assert_eq!(tools_and_places("Read the report on b.txt"), []);
}

#[test]
fn a_part_that_is_only_a_path_or_an_address_gets_no_call() {
    assert_eq!(tools_and_places("b.txt"), []);
    assert_eq!(tools_and_places("Read b.txt and c.txt"), []);
    assert_eq!(tools_and_places("https://example.org"), []);
}

#[test]
fn a_question_with_an_unknown_word_beside_a_path_gets_no_call() {
    for query in ["Read b.txt aloud", "Delete b.txt", "Read b.txt after line 3"] {
        assert_eq!(tools_and_places(query), [], "{query}");
    }
}

#[test]
fn a_column_of_a_file_that_is_not_attached_may_be_any_single_word() {
    let text = json!({"type": "string"});
    let csv = "name,age\nAda,36\n";
    let schema = tool(
        "table",
        &json!({"csv": text, "path": text, "column": text}),
        &[
            ("What is the average age?", json!({"csv": csv, "column": "age"})),
            (
                "What is the average age in ~/a.csv?",
                json!({"path": "~/a.csv", "column": "age"}),
            ),
        ],
    );
    // Unlike the schema that `tool` makes, this one requires no parameter.
    let table = [ToolSchema {
        input_schema: json!({"type": "object", "properties": {"csv": text, "path": text, "column": text}}).into(),
        ..schema
    }];
    let expected = json!({"path": "b.csv", "column": "price"});
    assert_eq!(
        arguments_of_each_call("What is the average price in b.csv?", &table, &[]),
        [expected]
    );
    let question = "What is the average price of lamps in b.csv?";
    assert_eq!(arguments_of_each_call(question, &table, &[]), NO_CALLS);
}
