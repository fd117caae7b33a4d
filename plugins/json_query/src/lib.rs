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
/// every value that the filter gives in `results`, and their `count`.
#[tool(
    example(
        input = r#"{"json":{"users":[{"name":"Ada","age":36},{"name":"Bob","age":17}]},"query":".users[] | select(.age >= 18) | .name"}"#,
        output = r#"{"results":["Ada"],"count":1,"truncated":false}"#,
        description = "The names of all users who are 18 or older"
    ),
    example(
        input = r#"{"json":"[{\"price\":3},{\"price\":4.5}]","query":"map(.price) | add"}"#,
        output = r#"{"results":[7.5],"count":1,"truncated":false}"#,
        description = "The sum of the prices in JSON text"
    ),
    example(
        input = r#"{"json":{"b":1,"a":2},"query":"keys"}"#,
        output = r#"{"results":[["a","b"]],"count":1,"truncated":false}"#,
        description = "Which keys does the object have?"
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn json_query(input: JsonQueryInput) -> Result<JsonQueryOutput> {
    engine::run(&input.json, &input.query).map_err(ToolError::validation)
}
