//! Tools of the kind that a host has: a calculator, dates, units, tables, texts.

use art_core::tool::ToolSchema;
use serde_json::{Value, json};

pub(crate) fn tool(name: &str, description: &str, required: &[&str], properties: Value) -> ToolSchema {
    let mut tool =
        json!({"name": name, "description": description, "inputSchema": {"type": "object", "required": required}});
    tool["inputSchema"]["properties"] = properties;
    serde_json::from_value(tool).unwrap()
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(crate) fn calculator() -> ToolSchema {
    tool(
        "calculator",
        "Calculates an arithmetic expression and returns its value: plus, minus, times, divided by, powers, square roots, percentages (\"17.5% of 2340\"), logarithms, sums and averages. Use it whenever a question asks to calculate, compute, evaluate, add, subtract, multiply or divide numbers. Returns `result`.",
        &["expression"],
        json!({
            "expression": text("The arithmetic expression to calculate, for example `1284 / 6 + 19`, `17.5% of 2340`, `sqrt(2)^3` or `2 * x + ans`."),
            "scope": {"type": ["object", "null"], "additionalProperties": {"type": "number"}, "description": "Variables that the expression may name."},
            "ans": {"type": ["number", "null"], "description": "The result of an earlier calculation; the expression refers to it as `ans`."},
        }),
    )
}

pub(crate) fn datetime() -> ToolSchema {
    tool(
        "datetime",
        "Works with dates and times: counts the days between two dates, adds or subtracts days, weeks or months, converts a time between time zones, tells the weekday of a date, parses and formats dates.",
        &["operation"],
        json!({
            "operation": {"type": "string", "enum": ["difference", "add", "convert", "weekday", "parse", "format", "now"], "description": "What to do: `difference` counts the days, weeks or hours between start and end; `add` moves a date by an amount of a unit; `convert` moves a time from one time zone to another; `weekday` tells which day of the week a date is; `parse` reads a date in words; `format` writes a date; `now` gives the current date and time."},
            "start": text("The first date, for `difference`."),
            "end": text("The last date, for `difference`."),
            "date": text("The date to work on, for every operation except `difference` and `now`."),
            "amount": {"type": "integer", "description": "How many units to `add`; negative to subtract."},
            "unit": {"type": "string", "enum": ["days", "weeks", "months", "years", "hours", "minutes"], "description": "Unit of the amount."},
            "from_zone": text("Time zone of the date, such as Europe/Paris."),
            "to_zone": text("Time zone to convert to, such as Asia/Tokyo."),
        }),
    )
}

pub(crate) fn unit_convert() -> ToolSchema {
    tool(
        "unit_convert",
        "Converts a measurement from one unit to another: length, mass, speed, temperature, volume, area, time, data and energy.",
        &["value", "from", "to"],
        json!({
            "value": {"type": "number", "description": "The number to convert."},
            "from": text("The unit of the value, such as `km`, `miles per hour` or `celsius`."),
            "to": text("The unit to convert to."),
        }),
    )
}

pub(crate) fn csv_query() -> ToolSchema {
    tool(
        "csv_query",
        "Answers questions about a CSV table (a spreadsheet with a header row): filters rows, groups them by a column, computes the total, sum, average, minimum, maximum or count of a column, sorts, and returns the top rows. Use it for which region, customer, product or month has the highest, largest, lowest or most sales.",
        &["csv"],
        json!({
            "csv": text("The CSV text: a header row with the column names, then one line for each row."),
            "delimiter": {"type": ["string", "null"], "description": "The character between two fields: `,`, `;`, tab or `|`. Left out, it is detected."},
            "group_by": {"type": ["string", "null"], "description": "The column to group by: one output row for each, per, every or by region, category, month, customer and so on."},
            "aggregate": {"anyOf": [{"type": "string", "enum": ["count", "sum", "mean", "min", "max"]}, {"type": "null"}], "description": "How to combine the values of a group, or of the whole table: `sum` for the total or overall amount, `mean` for the average, `count` for how many or the number of rows, `min` for the smallest, lowest, least or earliest value, `max` for the largest, highest, most or latest value."},
            "column": {"type": ["string", "null"], "description": "The column to aggregate or to sort by, such as sales, revenue, price or amount. Left out, it is the only numeric column."},
            "sort": {"anyOf": [{"type": "string", "enum": ["ascending", "descending"]}, {"type": "null"}], "description": "The order of the rows: `descending` puts the highest, largest, biggest, top, most, best, latest first; `ascending` the lowest, smallest, least, fewest, worst, earliest first."},
            "limit": {"type": ["integer", "null"], "minimum": 1, "description": "How many rows to return at most: 1 for the single highest or lowest, 3 for the top three. Left out, up to 1000."},
            "columns": {"type": ["array", "null"], "items": {"type": "string"}, "description": "The columns to show, in this order; left out, all."},
        }),
    )
}

pub(crate) fn text_stats() -> ToolSchema {
    tool(
        "text_stats",
        "Counts the words, characters, sentences, lines and paragraphs of a text, and estimates the reading time.",
        &["text"],
        json!({"text": text("The text to count.")}),
    )
}

pub(crate) fn diff_text() -> ToolSchema {
    tool(
        "diff_text",
        "Compares two texts line by line and shows what changed between them.",
        &["before", "after"],
        json!({"before": text("The old text."), "after": text("The new text.")}),
    )
}

pub(crate) fn all() -> Vec<ToolSchema> {
    vec![
        calculator(),
        datetime(),
        unit_convert(),
        csv_query(),
        text_stats(),
        diff_text(),
    ]
}
