//! `json_query`: queries JSON with a jq filter, or by its fields and conditions on them.
//!
//! The examples below pair questions of users (`ask`) with the arguments that answer them. There are many wordings of each
//! question, because a host without a language model finds the arguments by comparing a question with those of the examples.

use art_sdk::prelude::*;

mod convert;
mod engine;
mod error;
mod input;
mod lookup;
mod natives;

#[cfg(test)]
mod tests;

use input::{JsonQueryInput, JsonQueryOutput};

/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Queries JSON with a jq filter: picks fields, selects and filters the items of an array or object, counts, sums,
/// groups, sorts, renames and reshapes them. Use it to extract, look up, find or compute something in JSON data, an API
/// response, a list of objects or nested records when a jq expression can say it, for example `.users[].name`. Returns
/// every value that the filter produces in `results`, and their `count`. Without jq, name a `field` and conditions.
#[tool(
    example(
        ask = "Which name has the greatest age?",
        ask = "What is the name with the largest age?",
        ask = "Name of the user with the highest age",
        ask = "What is the name of the one with the highest age?",
        ask = "Name with the most age",
        ask = "Whose age is the highest by name?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name","largest":"age"}"#
    ),
    example(
        ask = "What is the name with the smallest age?",
        ask = "Name of the user with the lowest age",
        ask = "What is the name of the one with the lowest age?",
        ask = "Name with the least age",
        ask = "Which name has the least age?",
        ask = "Which name has the fewest age?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name","smallest":"age"}"#
    ),
    example(
        ask = "Which user has the highest age?",
        ask = "Which one has the highest age?",
        ask = "Which has the most age?",
        ask = "Which one has the most age?",
        ask = "Which has the highest age?",
        ask = "Which item has the largest age?",
        ask = "Who has the highest age?",
        ask = "Who has the most age?",
        ask = "Show the object with the highest age",
        ask = "Find the entry with the largest age",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"largest":"age"}"#
    ),
    example(
        ask = "Which user has the lowest age?",
        ask = "Which one has the lowest age?",
        ask = "Which has the least age?",
        ask = "Which has the fewest age?",
        ask = "Which has the lowest age?",
        ask = "Who has the lowest age?",
        ask = "Show the object with the lowest age",
        ask = "Find the entry with the smallest age",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"smallest":"age"}"#
    ),
    example(
        ask = "Which is the cheapest?",
        ask = "Which item is cheapest?",
        ask = "What is the cheapest item?",
        ask = "Which one is the cheapest?",
        ask = "The cheapest one",
        ask = "Show the cheapest",
        ask = "Find the cheapest entry",
        input = r#"{"json":{"items":[{"name":"pen","price":3},{"name":"ink","price":9}]},"smallest":"price"}"#
    ),
    example(
        ask = "Which is the most expensive?",
        ask = "What is the most expensive item?",
        ask = "Which one is the most expensive?",
        ask = "The most expensive one",
        ask = "Show the most expensive",
        ask = "What is the dearest item?",
        input = r#"{"json":{"items":[{"name":"pen","price":3},{"name":"ink","price":9}]},"largest":"price"}"#
    ),
    example(
        ask = "What is the name of the cheapest?",
        ask = "What is the name of the cheapest item?",
        ask = "Name of the cheapest",
        ask = "Name of the cheapest one",
        ask = "Which name is the cheapest?",
        ask = "Which name is cheapest?",
        input = r#"{"json":{"items":[{"name":"pen","price":3},{"name":"ink","price":9}]},"field":"name","smallest":"price"}"#
    ),
    example(
        ask = "What is the name of the most expensive?",
        ask = "What is the name of the most expensive item?",
        ask = "Name of the most expensive one",
        ask = "Which name is the most expensive?",
        input = r#"{"json":{"items":[{"name":"pen","price":3},{"name":"ink","price":9}]},"field":"name","largest":"price"}"#
    ),
    example(
        ask = "Which is the newest?",
        ask = "What is the newest?",
        ask = "Which one is the newest?",
        ask = "What's the newest item?",
        ask = "Show the newest",
        ask = "Which item is the latest?",
        ask = "What is the most recent?",
        ask = "Which one is the most recent?",
        input = r#"{"json":{"items":[{"name":"pen","year":1999},{"name":"ink","year":2021}]},"largest":"year"}"#
    ),
    example(
        ask = "Which is the earliest?",
        ask = "What is the oldest by year?",
        ask = "Which one is the earliest by year?",
        input = r#"{"json":{"items":[{"name":"pen","year":1999},{"name":"ink","year":2021}]},"smallest":"year"}"#
    ),
    example(
        ask = "How many users are there in this file?",
        ask = "How many users do we have?",
        ask = "How many users are in there?",
        ask = "Count all users",
        ask = "Total number of users",
        ask = "Number of all users",
        ask = "How many users altogether?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"users","combine":"length"}"#
    ),
    example(
        ask = "What are the names from Bonn?",
        ask = "What are the names in Bonn?",
        ask = "Names in Bonn",
        ask = "Names from Bonn",
        ask = "Names of Bonn",
        ask = "List the names by Bonn",
        ask = "List the names of all users by Bonn",
        ask = "List the names of all users in Bonn",
        ask = "Names of everyone in Bonn",
        ask = "Show the names for Bonn",
        ask = "Give me the names of Bonn",
        ask = "Which names are by Bonn?",
        ask = "Which names are from Bonn?",
        ask = "Which names have Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How high is the age of Ada?",
        ask = "Find the age of Ada",
        ask = "Look up the age of Ada",
        ask = "Which age is Ada?",
        ask = "Which age is Ada in?",
        ask = "What age is Ada in?",
        ask = "Get Ada's age",
        ask = "What is Ada's age set to?",
        ask = "What age has Ada?",
        ask = "Ada's age is what?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"age","filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "Which users are in Bonn?",
        ask = "Which are in Bonn?",
        ask = "Which are in the Bonn city?",
        ask = "Which one is in Bonn?",
        ask = "Which is in Bonn?",
        ask = "Which users are from Bonn?",
        ask = "Which entries have Bonn?",
        ask = "Who is in Bonn?",
        ask = "Show everything in Bonn",
        ask = "Show the entries in Bonn",
        ask = "List all entries from Bonn",
        ask = "Find the objects with Bonn",
        ask = "All entries for Bonn",
        ask = "Who is Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which users have the city Bonn?",
        ask = "Which are in the Bonn city?",
        ask = "Which are in the city Bonn?",
        ask = "Which users are in the city Bonn?",
        ask = "Which have the city Bonn?",
        ask = "Show the entries whose city is Bonn",
        ask = "Find the entries where city is Bonn",
        ask = "All entries with city Bonn",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"field":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which are active?",
        ask = "Which ones are active?",
        ask = "Which of them are active?",
        ask = "Which users are active?",
        ask = "Which one is active?",
        ask = "Which entries are active?",
        ask = "Which items are active?",
        ask = "Show the active ones",
        ask = "List all active entries",
        ask = "Who is active?",
        ask = "Show everything that is active",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"field":"active","operator":"eq","value":true}]}"#
    ),
    example(
        ask = "How many are active?",
        ask = "How many users are active?",
        ask = "How many of them are active?",
        ask = "How many entries are active?",
        ask = "How many items are active?",
        ask = "Number of active entries",
        ask = "Count the active ones",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"field":"active","operator":"eq","value":true}],"combine":"count"}"#
    ),
    example(
        ask = "Which users have an age above 30?",
        ask = "Which have an age over 30?",
        ask = "Which have more than 30 age?",
        ask = "Which entries have more than 30 age?",
        ask = "Entries with more than 30 age",
        ask = "Users with an age above 30",
        ask = "Entries with an age over 30",
        ask = "Show all with an age above 30",
        ask = "Find the entries with an age greater than 30",
        ask = "Who has an age above 30?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"field":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which users have an age below 30?",
        ask = "Which have an age under 30?",
        ask = "Which have less than 30 age?",
        ask = "Which entries have less than 30 age?",
        ask = "Entries with less than 30 age",
        ask = "Users with an age below 30",
        ask = "Entries with an age under 30",
        ask = "Show all with an age below 30",
        ask = "Find the entries with an age lower than 30",
        ask = "Who has an age below 30?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"field":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Names of users with an age over 30",
        ask = "Names of those with age over 30",
        ask = "Names with more than 30 age",
        ask = "Names of all entries with an age above 30",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name","filter":[{"field":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Names of users with an age under 30",
        ask = "Names of those with age under 30",
        ask = "Names with less than 30 age",
        ask = "Names of all entries with an age below 30",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name","filter":[{"field":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "How many age do all have together?",
        ask = "How many age do all users have together?",
        ask = "How many age are there in total?",
        ask = "What is the sum of the ages?",
        ask = "Sum up the ages",
        ask = "Total age",
        ask = "All ages together",
        ask = "Age in total",
        ask = "Total number of ages",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"age","combine":"sum"}"#
    ),
    example(
        ask = "What is the average age of the users?",
        ask = "Average age of all users",
        ask = "Average age",
        ask = "Average of the ages",
        ask = "Mean of the ages",
        ask = "What's the mean age overall?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"age","combine":"mean"}"#
    ),
    example(
        ask = "Maximum age",
        ask = "What is the highest age?",
        ask = "What's the highest age in there?",
        ask = "Highest age of all users",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"age","combine":"max"}"#
    ),
    example(
        ask = "Minimum age",
        ask = "What is the lowest age?",
        ask = "What's the lowest age in there?",
        ask = "Lowest age of all users",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"age","combine":"min"}"#
    ),
    example(
        ask = "Get the names of the users",
        ask = "Names of the users",
        ask = "List the names of all users",
        ask = "Names of all users",
        ask = "What are the users' names?",
        ask = "What are the names of the users?",
        ask = "Get all names",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"name"}"#
    ),
    example(
        ask = "Which cities are in the file?",
        ask = "What cities are in the file?",
        ask = "Cities without duplicates",
        ask = "List the cities without duplicates",
        ask = "Unique cities",
        ask = "Every city once",
        ask = "All the different cities",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"field":"city","combine":"distinct"}"#
    ),
    example(
        ask = "How many users are in Bonn?",
        ask = "How many users are by Bonn?",
        ask = "How many users are from Bonn?",
        ask = "Number of users by Bonn",
        ask = "Number of users in Bonn",
        ask = "Count the users from Bonn",
        ask = "How many are by Bonn?",
        ask = "How many entries have Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","city":"Bonn","age":36,"active":true},{"name":"Bob","city":"Kiel","age":17,"active":false}]},"filter":[{"operator":"eq","value":"Bonn"}],"combine":"count"}"#
    ),
    example(
        ask = "Give me the name",
        ask = "Find the name in this JSON",
        ask = "Find the names",
        ask = "Pull the names",
        ask = "Pull out the names",
        ask = "Print the names",
        ask = "Read the names",
        ask = "Extract the names",
        ask = "Show all names",
        ask = "List all names",
        ask = "List all the names",
        ask = "List the name of each item",
        ask = "Give the name of every item",
        ask = "Get the name of each item",
        ask = "Show the name for each item",
        ask = "List the name values",
        ask = "List the values of name",
        ask = "List all values of name",
        ask = "What are the values of name?",
        ask = "What are all the names?",
        ask = "What names are there?",
        ask = "What names are in this JSON?",
        ask = "Which names are there?",
        ask = "Which names are in this JSON?",
        ask = "Which names does this JSON have?",
        ask = "What is the name in this file?",
        ask = "What is the name in this document?",
        ask = "What is the name in this response?",
        ask = "What is the name in this config?",
        ask = "What is the name in this data?",
        ask = "What is the name in this object?",
        ask = "What is the name in this list?",
        ask = "What is the name in this configuration?",
        ask = "What is the name in this record?",
        ask = "What's the name?",
        ask = "What is name set to?",
        ask = "What is the name set to?",
        ask = "What does name say?",
        ask = "Look up the name in this JSON",
        ask = "Which name is in this JSON?",
        ask = "What name is given in this JSON?",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"field":"name"}"#
    ),
    example(
        ask = "Total price",
        ask = "Sum of all prices",
        ask = "Sum of price",
        ask = "Sum the prices",
        ask = "Add up the prices",
        ask = "Add up all prices",
        ask = "Total of all prices",
        ask = "Total of the prices",
        ask = "What do the prices add up to?",
        ask = "What is the sum of all prices?",
        ask = "What is the sum of the prices?",
        ask = "What is the total of the prices?",
        ask = "Calculate the total price",
        ask = "Total price of all items",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"field":"price","combine":"sum"}"#
    ),
    example(
        ask = "Average price",
        ask = "Mean price",
        ask = "Avg price",
        ask = "Average of all prices",
        ask = "What is the average of the prices?",
        ask = "Calculate the average price",
        ask = "What is the mean price?",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"field":"price","combine":"mean"}"#
    ),
    example(
        ask = "Highest price",
        ask = "Maximum price",
        ask = "Max price",
        ask = "Biggest price",
        ask = "Largest price",
        ask = "What is the biggest price?",
        ask = "What is the maximum price?",
        ask = "What is the largest price?",
        ask = "What is the most expensive price?",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"field":"price","combine":"max"}"#
    ),
    example(
        ask = "Lowest price",
        ask = "Minimum price",
        ask = "Min price",
        ask = "Smallest price",
        ask = "What is the minimum price?",
        ask = "What is the smallest price?",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"field":"price","combine":"min"}"#
    ),
    example(
        ask = "Use `.items[].name` on this JSON",
        ask = "Use the jq filter `.items[].name` on this JSON",
        ask = "Use the filter `.items[].name`",
        ask = "Use jq `.items[].name`",
        ask = "Use jq to run `.items[].name`",
        ask = "Run jq `.items[].name`",
        ask = "Run jq `.items[].name` on this JSON",
        ask = "Run `.items[].name` on this JSON",
        ask = "Run the filter `.items[].name`",
        ask = "Run the query `.items[].name`",
        ask = "Run `.items[].name` on the attached file",
        ask = "Run `.items[].name` on this file",
        ask = "Run `.items[].name` over this JSON",
        ask = "Run `.items[].name` against this JSON",
        ask = "Apply the jq filter `.items[].name`",
        ask = "Apply `.items[].name`",
        ask = "Apply `.items[].name` to this file",
        ask = "Evaluate `.items[].name`",
        ask = "Evaluate `.items[].name` on this JSON",
        ask = "Execute `.items[].name`",
        ask = "Query this JSON with `.items[].name`",
        ask = "Filter this JSON with `.items[].name`",
        ask = "What is `.items[].name`?",
        ask = "What is `.items[].name` in this JSON?",
        ask = "What does `.items[].name` return?",
        ask = "What does the jq filter `.items[].name` give?",
        ask = "jq `.items[].name`",
        input = r#"{"json":{"items":[{"name":"Pump","price":10},{"name":"Valve","price":25}]},"query":".items[].name"}"#
    ),
    example(
        ask = "Run the jq filter `.users[] | select(.age >= 18) | .name` on this JSON",
        ask = "Run `.users[] | select(.age >= 18) | .name`",
        ask = "Apply the filter `.users[] | select(.age >= 18) | .name` to this JSON",
        ask = "What does `.users[] | select(.age >= 18) | .name` give?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36},{"name":"Bob","age":17}]},"query":".users[] | select(.age >= 18) | .name"}"#,
        output = r#"{"results":["Ada"],"value":"Ada","count":1,"truncated":false}"#
    ),
    example(
        ask = r#"Run `.a.b` on {"a":{"b":1}}"#,
        ask = r#"What does `.a.b` give for {"a":{"b":1}}?"#,
        ask = r#"Apply `.a.b` to {"a":{"b":1}}"#,
        input = r#"{"json":{"a":{"b":1}},"query":".a.b"}"#,
        output = r#"{"results":[1],"value":1,"count":1,"truncated":false}"#
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
        output = r#"{"results":[7.5],"value":7.5,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the average price in this JSON?",
        ask = "What is the average price?",
        ask = "What is the average price of the items?",
        ask = "What is the mean price of the items?",
        ask = "Average of price in this JSON",
        input = r#"{"json":[{"price":3},{"price":4.5}],"field":"price","combine":"mean"}"#,
        output = r#"{"results":[3.75],"value":3.75,"count":1,"truncated":false}"#
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
        output = r#"{"results":[2],"value":2,"count":1,"truncated":false}"#
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
    example(
        ask = "Which name has the highest age?",
        ask = "Which name has the largest age?",
        ask = "What is the name with the highest age?",
        ask = "Which name has the most age?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","largest":"age"}"#,
        output = r#"{"results":["Cyd"],"value":"Cyd","count":1,"truncated":false}"#
    ),
    example(
        ask = "Which name has the lowest age?",
        ask = "Which name has the smallest age?",
        ask = "What is the name with the lowest age?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","smallest":"age"}"#,
        output = r#"{"results":["Bob"],"value":"Bob","count":1,"truncated":false}"#
    ),
    example(
        ask = "Which item is the most expensive?",
        ask = "Which item has the highest price?",
        input = r#"{"json":[{"item":"lamp","price":30},{"item":"desk","price":120}],"field":"item","largest":"price"}"#,
        output = r#"{"results":["desk"],"value":"desk","count":1,"truncated":false}"#
    ),
    example(
        ask = "Which item is the cheapest?",
        ask = "Which item has the lowest price?",
        input = r#"{"json":[{"item":"lamp","price":30},{"item":"desk","price":120}],"field":"item","smallest":"price"}"#,
        output = r#"{"results":["lamp"],"value":"lamp","count":1,"truncated":false}"#
    ),
    example(
        ask = "Which entry has the highest age?",
        ask = "Which object has the highest age?",
        ask = "Which record has the highest age?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"largest":"age"}"#
    ),
    example(
        ask = "Which entry has the lowest age?",
        ask = "Which object has the lowest age?",
        ask = "Which record has the lowest age?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"smallest":"age"}"#
    ),
    example(
        ask = "What is the age of Ada?",
        ask = "What age is Ada?",
        ask = "Which age does Ada have?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"age","filter":[{"operator":"eq","value":"Ada"}]}"#,
        output = r#"{"results":[36],"value":36,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the price of the lamp?",
        ask = "How much is the price of the lamp?",
        input = r#"{"json":[{"item":"lamp","price":30},{"item":"desk","price":120}],"field":"price","filter":[{"operator":"eq","value":"lamp"}]}"#,
        output = r#"{"results":[30],"value":30,"count":1,"truncated":false}"#
    ),
    example(
        ask = "Which names have the city Bonn?",
        ask = "List the names where city is Bonn",
        ask = "What are the names with city Bonn?",
        ask = "Show the name where city is Bonn",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"field":"city","operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"results":["Ada","Cyd"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which names are in Bonn?",
        ask = "List the names in Bonn",
        ask = "List the names from Bonn",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"results":["Ada","Cyd"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which names have an age above 30?",
        ask = "Which names have an age over 30?",
        ask = "List the names where age is above 30",
        ask = "List the names where age is more than 30",
        ask = "Which names have an age greater than 30?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"field":"age","operator":"gt","value":30}]}"#,
        output = r#"{"results":["Ada","Cyd"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which names have an age below 30?",
        ask = "Which names have an age under 30?",
        ask = "List the names where age is below 30",
        ask = "List the names where age is less than 30",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"field":"age","operator":"lt","value":30}]}"#,
        output = r#"{"results":["Bob"],"value":"Bob","count":1,"truncated":false}"#
    ),
    example(
        ask = "Which names have an age of at least 36?",
        ask = "List the names where age is at least 36",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"field":"age","operator":"ge","value":36}]}"#,
        output = r#"{"results":["Ada","Cyd"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "Which names do not have the city Bonn?",
        ask = "List the names where city is not Bonn",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"name","filter":[{"field":"city","operator":"ne","value":"Bonn"}]}"#,
        output = r#"{"results":["Bob"],"value":"Bob","count":1,"truncated":false}"#
    ),
    example(
        ask = "How many entries have an age above 30?",
        ask = "How many objects have an age above 30?",
        ask = "How many items have an age above 30?",
        ask = "How many have an age over 30?",
        ask = "How many records have an age of more than 30?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"field":"age","operator":"gt","value":30}],"combine":"count"}"#,
        output = r#"{"results":[2],"value":2,"count":1,"truncated":false}"#
    ),
    example(
        ask = "How many entries have an age below 30?",
        ask = "How many items have an age under 30?",
        ask = "How many have an age below 30?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"field":"age","operator":"lt","value":30}],"combine":"count"}"#,
        output = r#"{"results":[1],"value":1,"count":1,"truncated":false}"#
    ),
    example(
        ask = "How many entries have the city Bonn?",
        ask = "How many items have the city Bonn?",
        ask = "How many objects have city Bonn?",
        ask = "How many records have the city Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"field":"city","operator":"eq","value":"Bonn"}],"combine":"count"}"#,
        output = r#"{"results":[2],"value":2,"count":1,"truncated":false}"#
    ),
    example(
        ask = "How many entries are in Bonn?",
        ask = "How many are from Bonn?",
        ask = "How many items have Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"operator":"eq","value":"Bonn"}],"combine":"count"}"#,
        output = r#"{"results":[2],"value":2,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the average age where city is Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"age","filter":[{"field":"city","operator":"eq","value":"Bonn"}],"combine":"mean"}"#,
        output = r#"{"results":[43.5],"value":43.5,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the average age in Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"age","filter":[{"operator":"eq","value":"Bonn"}],"combine":"mean"}"#,
        output = r#"{"results":[43.5],"value":43.5,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the total age in Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"age","filter":[{"operator":"eq","value":"Bonn"}],"combine":"sum"}"#,
        output = r#"{"results":[87],"value":87,"count":1,"truncated":false}"#
    ),
    example(
        ask = "How many users are there?",
        ask = "How many users are in this JSON?",
        ask = "How many users does this JSON have?",
        ask = "What is the number of users?",
        ask = "Count the users",
        ask = "How many items are in users?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"users","combine":"length"}"#,
        output = r#"{"results":[3],"value":3,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What are the different cities?",
        ask = "List the different cities",
        ask = "Which different cities are there?",
        ask = "List the unique cities",
        ask = "What are the unique cities?",
        ask = "List the distinct cities",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"city","combine":"distinct"}"#,
        output = r#"{"results":["Bonn","Kiel"],"count":2,"truncated":false}"#
    ),
    example(
        ask = "How many different cities are there?",
        ask = "How many unique cities are there?",
        ask = "How many distinct cities are there?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"city","combine":"count_distinct"}"#,
        output = r#"{"results":[2],"value":2,"count":1,"truncated":false}"#
    ),
    example(
        ask = "What is the median age?",
        ask = "What is the median age in this JSON?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"field":"age","combine":"median"}"#,
        output = r#"{"results":[36],"value":36,"count":1,"truncated":false}"#
    ),
    example(
        ask = "List all entries where city is Bonn",
        ask = "Show the objects where city is Bonn",
        ask = "Which entries have the city Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"field":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "List all entries where age is above 30",
        ask = "Show the objects where age is above 30",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"},{"name":"Cyd","age":51,"city":"Bonn"}]},"filter":[{"field":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "What are the top-level keys?",
        ask = "What are the top-level keys of this JSON?",
        ask = "What are the top-level keys in this JSON?",
        ask = "Which top-level keys are there?",
        ask = "Which top-level keys does this JSON have?",
        ask = "What keys are at the top level?",
        ask = "What keys are at the top level of this JSON?",
        ask = "Which keys are at the top level?",
        ask = "List the top-level keys",
        ask = "List the keys",
        ask = "Show the keys",
        ask = "Which keys are there?",
        ask = "What keys are there?",
        ask = "Top-level keys",
        ask = "What are the top-level fields?",
        ask = "Which fields are there?",
        input = r#"{"json":{"b":1,"a":2},"query":"keys"}"#
    ),
    example(
        ask = "Average price over all items",
        ask = "Average price of all items",
        ask = "Average price across all items",
        ask = "Average price over all entries",
        ask = "Mean price of all items",
        ask = "What is the mean of all prices?",
        ask = "What is the mean of the prices?",
        ask = "What is the average price over all items?",
        input = r#"{"json":{"items":[{"name":"Pump","price":10}]},"field":"price","combine":"mean"}"#
    ),
    example(
        ask = "Sum of the price of all items",
        ask = "Sum of the prices of all items",
        ask = "Add up the prices of all items",
        ask = "Total price over all items",
        ask = "Total price across all items",
        ask = "Total of price",
        ask = "Sum of all price values",
        ask = "Prices added up",
        input = r#"{"json":{"items":[{"name":"Pump","price":10}]},"field":"price","combine":"sum"}"#
    ),
    example(
        ask = "Lowest price of all items",
        ask = "Lowest price over all items",
        ask = "Lowest price across all items",
        ask = "Lowest value of price",
        ask = "Lowest value of price across all items",
        ask = "Smallest price of all items",
        ask = "Minimum of price",
        input = r#"{"json":{"items":[{"name":"Pump","price":10}]},"field":"price","combine":"min"}"#
    ),
    example(
        ask = "Highest price of all items",
        ask = "Highest price over all items",
        ask = "Highest price across all items",
        ask = "Highest value of price",
        ask = "Highest value of price across all items",
        ask = "Largest price of all items",
        ask = "Maximum of price",
        input = r#"{"json":{"items":[{"name":"Pump","price":10}]},"field":"price","combine":"max"}"#
    ),
    example(
        ask = "Names only",
        ask = "Only the names",
        ask = "Just the names",
        ask = "Names only, please",
        ask = "All names",
        ask = "All the names",
        ask = "All names, please",
        ask = "Names of all items",
        ask = "Name of every item",
        ask = "Value of name",
        ask = "The value of name",
        ask = "What value does name have?",
        ask = "Which name is given?",
        ask = "What is the value for name?",
        ask = "Name",
        ask = "Give me all names",
        ask = "Give me the names of all items",
        input = r#"{"json":{"items":[{"name":"Pump","price":10}]},"field":"name"}"#
    ),
    example(
        ask = "Names with an age above 30",
        ask = "Names with age above 30",
        ask = "Which names have age above 30?",
        ask = "Which names have more than 30 age?",
        ask = "List the names with an age above 30",
        ask = "Show the names with an age above 30",
        ask = "List the names whose age is above 30",
        ask = "Give me the names whose age is above 30",
        ask = "What are the names with an age above 30?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"name","filter":[{"field":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Names with an age below 30",
        ask = "Names with age below 30",
        ask = "Which names have age below 30?",
        ask = "Which names have less than 30 age?",
        ask = "List the names with an age below 30",
        ask = "Show the names with an age below 30",
        ask = "List the names whose age is below 30",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"name","filter":[{"field":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Names whose city is Bonn",
        ask = "Names where city is Bonn",
        ask = "List the names whose city is Bonn",
        ask = "Show the names whose city is Bonn",
        ask = "Show the names where city is Bonn",
        ask = "Give me the names whose city is Bonn",
        ask = "What are the names where city is Bonn?",
        ask = "Names of people whose city is Bonn",
        ask = "Names of all entries whose city is Bonn",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"name","filter":[{"field":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many entries are there where city is Bonn?",
        ask = "How many entries have city Bonn?",
        ask = "Number of entries where city is Bonn",
        ask = "Count the entries where city is Bonn",
        ask = "Count of entries where city is Bonn",
        ask = "How many people are there where city is Bonn?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"filter":[{"field":"city","operator":"eq","value":"Bonn"}],"combine":"count"}"#
    ),
    example(
        ask = "Ada's age",
        ask = "What is Ada's age?",
        ask = "Age of Ada",
        ask = "What was the age of Ada?",
        ask = "Show the age of Ada",
        ask = "Give me the age of Ada",
        ask = "Tell me the age of Ada",
        ask = "For Ada, what is the age?",
        ask = "What age does Ada have?",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"age","filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "How many users are listed?",
        ask = "Number of users",
        ask = "How many users does this file have?",
        ask = "How many users are in this file?",
        ask = "How many users are there in total?",
        ask = "How many users in total?",
        ask = "Count of users",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"users","combine":"length"}"#
    ),
    example(
        ask = "Name with the highest age",
        ask = "Name of the highest age",
        ask = "Show the name with the highest age",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"name","largest":"age"}"#
    ),
    example(
        ask = "Name with the lowest age",
        ask = "Show the name with the lowest age",
        input = r#"{"json":{"users":[{"name":"Ada","age":36,"city":"Bonn"},{"name":"Bob","age":17,"city":"Kiel"}]},"field":"name","smallest":"age"}"#
    ),
    example(
        ask = "How many users are in ~/data/users.json?",
        ask = "Number of users in ~/data/users.json",
        input = r#"{"path":"~/data/users.json","field":"users","combine":"length"}"#
    ),
    example(
        ask = "List all names in ~/data/users.json",
        ask = "What are the names in ~/data/users.json?",
        input = r#"{"path":"~/data/users.json","field":"name"}"#
    ),
    example(
        ask = "Run the jq filter `.users[].name` on ~/data/users.json",
        ask = "Apply the jq filter `.users[].name` to ~/data/users.json",
        input = r#"{"path":"~/data/users.json","query":".users[].name"}"#
    ),
    capabilities(fs(read, path = "{args.path}", reason = "reads the data if a call names a file")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn json_query(mut input: JsonQueryInput) -> Result<JsonQueryOutput> {
    let json = take_data(&mut input)?;
    engine::answer(&input, &json).map_err(ToolError::validation)
}

/// Takes the data out of the input. Data from a file is returned as text.
fn take_data(input: &mut JsonQueryInput) -> Result<Value> {
    match (input.json.take(), &input.path) {
        (Some(json), None) => Ok(json),
        // The host fills in the default, null, for an absent `json`.
        (Some(Value::Null), Some(path)) => art_sdk::files::read_text(path, MAX_FILE_BYTES).map(Value::String),
        (None, Some(path)) => art_sdk::files::read_text(path, MAX_FILE_BYTES).map(Value::String),
        (Some(_), Some(_)) => Err(ToolError::validation(
            "`json` and `path` do not go together: leave one of them out",
        )),
        (None, None) => Err(ToolError::validation(
            "there is no data: give it as `json`, or the `path` of a file",
        )),
    }
}
