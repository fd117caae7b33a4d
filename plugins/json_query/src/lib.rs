//! `json_query`: runs one jq filter on JSON.

use art_sdk::prelude::*;

mod convert;
mod engine;
mod error;
mod input;
mod natives;

#[cfg(test)]
mod tests;

use input::{JsonQueryInput, JsonQueryOutput};

/// Queries JSON with a jq filter: picks fields, selects and filters the items of an array or object, counts, sums,
/// groups, sorts, renames and reshapes them. Use it to extract, look up, find or compute something in JSON data, an API
/// response, a list of objects or nested records when a jq expression can say it, for example `.users[].name`. Returns
/// every value that the filter produces in `results`, and their `count`.
#[tool(
    example(
        ask = "Run the jq filter `.users[] | select(.age >= 18) | .name` on this JSON",
        ask = "Run `.users[] | select(.age >= 18) | .name`",
        ask = "Apply the filter `.users[] | select(.age >= 18) | .name` to this JSON",
        ask = "What does `.users[] | select(.age >= 18) | .name` give?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36},{"name":"Bob","age":17}]},"query":".users[] | select(.age >= 18) | .name"}"#,
        output = r#"{"results":["Ada"],"count":1,"truncated":false}"#
    ),
    example(
        ask = r#"Run `.a.b` on {"a":{"b":1}}"#,
        ask = r#"What does `.a.b` give for {"a":{"b":1}}?"#,
        ask = r#"Apply `.a.b` to {"a":{"b":1}}"#,
        input = r#"{"json":{"a":{"b":1}},"query":".a.b"}"#,
        output = r#"{"results":[1],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the name in this JSON?",
        ask = "What is the name?",
        ask = "List the names",
        ask = "What are the names?",
        ask = "Show the names",
        ask = "What are the names in this JSON?",
        ask = "List every name in this JSON",
        ask = "Get the name from this JSON",
        ask = "Extract all names from this JSON",
        ask = "Show the name of each item",
        ask = "What is the value of name?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36},{"name":"Bob","age":17}]},"field":"name"}"#,
        output = r#"{"results":["Ada","Bob"],"count":2,"truncated":false}"#
    ),
    example(
        ask = r#"What is the version in {"tool":{"version":"1.2"}}?"#,
        ask = r#"Get the version from {"tool":{"version":"1.2"}}"#,
        input = r#"{"json":{"tool":{"version":"1.2"}},"field":"version"}"#
    ),
    example(
        ask = "What is the sum of price in this JSON?",
        ask = "What is the total price?",
        ask = "What is the total price in this JSON?",
        ask = "Add up the price of all items",
        ask = "What is the total of all prices?",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"sum"}"#,
        output = r#"{"results":[7.5],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the average price in this JSON?",
        ask = "What is the average price?",
        ask = "What is the average price of the items?",
        ask = "What is the mean price of the items?",
        ask = "Average of price in this JSON",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"mean"}"#,
        output = r#"{"results":[3.75],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the highest price in this JSON?",
        ask = "What is the highest price?",
        ask = "What is the highest price of the items?",
        ask = "What is the maximum price of the items?",
        ask = "What is the largest price in this JSON?",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"max"}"#
    ),
    example(
        ask = "What is the lowest price in this JSON?",
        ask = "What is the lowest price?",
        ask = "What is the lowest price of the items?",
        ask = "What is the minimum price of the items?",
        ask = "What is the smallest price in this JSON?",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"min"}"#
    ),
    example(
        ask = "How many prices are in this JSON?",
        ask = "How many items have a price?",
        ask = "Count the prices in this JSON",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"count"}"#
    ),
    example(
        ask = "How many items are in this JSON?",
        ask = "How many items are in this list?",
        ask = "How many items does this list have?",
        ask = "How many items does this JSON list have?",
        ask = "Count the items in this JSON",
        ask = "How many entries does this JSON have?",
        input = r#"{"json":[{"price":3},{"price":4.5}],"query":"length"}"#,
        output = r#"{"results":[2],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What are the keys of this JSON?",
        ask = "Which keys does this JSON have?",
        ask = "What keys does this JSON have?",
        ask = "What keys does this object have?",
        ask = "Which keys are in this object?",
        ask = "What are the keys?",
        ask = "Which fields does this JSON object have?",
        ask = "List the keys of this JSON",
        input = r#"{"json":{"b":1,"a":2},"query":"keys"}"#,
        output = r#"{"results":[["a","b"]],"count":1,"truncated":false}"#
    ),
    example(
        ask = r#"What are the keys of {"b":1,"a":2}?"#,
        ask = r#"Which keys does {"b":1,"a":2} have?"#,
        ask = r#"List the keys of {"b":1,"a":2}"#,
        input = r#"{"json":{"b":1,"a":2},"query":"keys"}"#,
        output = r#"{"results":[["a","b"]],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the first item of this JSON?",
        ask = "Show the first item of this JSON list",
        input = r#"{"json":[{"price":3},{"price":4.5}],"query":".[0]"}"#,
        output = r#"{"results":[{"price":3}],"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the last item of this JSON?",
        ask = "Show the last item of this JSON list",
        input = r#"{"json":[{"price":3},{"price":4.5}],"query":".[-1]"}"#
    ),
    example(
        ask = "Sort this JSON list",
        ask = "Sort this JSON array",
        input = r#"{"json":[3,1,2],"query":"sort"}"#
    ),
    example(
        ask = "Remove duplicates from this JSON list",
        ask = "What are the unique items of this JSON list?",
        input = r#"{"json":[3,1,3],"query":"unique"}"#
    ),
    example(
        ask = "Show this JSON",
        ask = "Format this JSON",
        ask = "Print this JSON",
        input = r#"{"json":{"a":1},"query":"."}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn json_query(input: JsonQueryInput) -> Result<JsonQueryOutput> {
    let filter = input.filter().map_err(ToolError::validation)?;
    engine::run(&input.json, &filter).map_err(ToolError::validation)
}
