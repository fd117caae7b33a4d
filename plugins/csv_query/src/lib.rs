//! `csv_query`: filters, groups, aggregates and sorts a CSV table.

use art_sdk::prelude::*;

mod aggregate;
mod column;
mod error;
mod filter;
mod input;
mod number;
mod output;
mod query;
mod table;

#[cfg(test)]
mod tests;

use input::CsvQueryInput;
use output::CsvQueryOutput;

/// Answers questions about a CSV table (a spreadsheet with a header row): filters rows, groups them by a column,
/// computes the total, sum, average, mean, median, minimum, maximum or count of a column, sorts, and returns the top
/// rows. Use it for which region, customer, product or month has the highest, largest, lowest or most sales, revenue or
/// orders, how many rows match, totals per category, or to list some columns of the data. Returns the result rows with
/// their columns, and how many rows matched.
#[tool(
    example(
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\nNorth,20\n","group_by":"region","aggregate":"sum","column":"sales","sort":"descending","limit":1}"#,
        output = r#"{"columns":["region","sum_sales"],"rows":[{"region":"North","sum_sales":30}],"row_count":1,"matched_rows":3}"#,
        description = "Which region has the highest total sales?"
    ),
    example(
        input = r#"{"csv":"city;price\nBonn;3,50\nKiel;4,50\nBonn;5,00\n","aggregate":"mean","column":"price","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"columns":["mean_price"],"rows":[{"mean_price":4.25}],"row_count":1,"matched_rows":2}"#,
        description = "What is the average price in Bonn?"
    ),
    example(
        input = r#"{"csv":"name,age\nAda,36\nBob,17\nCyd,51\n","filter":[{"column":"age","operator":"ge","value":18}],"columns":["name"],"column":"age","sort":"ascending"}"#,
        output = r#"{"columns":["name"],"rows":[{"name":"Ada"},{"name":"Cyd"}],"row_count":2,"matched_rows":2}"#,
        description = "List the names of everyone aged 18 or more, youngest first"
    ),
    example(
        input = r#"{"csv":"id,status\n1,open\n2,closed\n3,open\n","aggregate":"count","group_by":"status"}"#,
        output = r#"{"columns":["status","count"],"rows":[{"status":"open","count":2},{"status":"closed","count":1}],"row_count":2,"matched_rows":3}"#,
        description = "How many rows are there for each status?"
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn csv_query(input: CsvQueryInput) -> Result<CsvQueryOutput> {
    query::run(&input).map_err(ToolError::validation)
}
