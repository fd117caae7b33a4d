//! `csv_query`: filters, groups, aggregates and sorts a CSV table.

use art_sdk::prelude::*;

mod aggregate;
mod column;
mod date;
mod error;
mod filter;
mod input;
mod number;
mod output;
mod query;
mod superlative;
mod table;
mod time;
mod unit;

#[cfg(test)]
mod tests;

use input::CsvQueryInput;
use output::CsvQueryOutput;

/// Maximum size of a CSV file.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Answers questions about a CSV table (a spreadsheet with a header row): filters rows, groups them by a column,
/// computes the total, sum, average, mean, median, minimum, maximum or count of a column, sorts, and returns the top
/// rows. Use it for which region, customer, product or month has the highest, largest, lowest or most sales, revenue or
/// orders, how many rows match, totals per category, or to list some columns of the data. Returns the result rows with
/// their columns, and how many rows matched.
// Each example gives wordings of a question (`ask`) and the `input` that answers it. The lexical model of the host learns from
// these wordings, in which a value of the input, such as `Bonn` or `age`, stands for any value of its kind.
#[tool(
    example(
        ask = "How many units were sold in total?",
        ask = "How many units were sold?",
        ask = "How many units did we sell altogether?",
        ask = "How many units have been sold overall?",
        ask = "Total units sold",
        ask = "Sum up all the units",
        ask = "What is the sum of the units?",
        ask = "Give me the total number of units sold",
        ask = "What is the overall number of units?",
        ask = "Calculate the grand total of units",
        ask = "All units together",
        ask = "Sum of units",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units"}"#
    ),
    example(
        ask = "How many units were sold in North?",
        ask = "How many units did North sell?",
        ask = "How many units did North sell in total?",
        ask = "How many units did the North have?",
        ask = "Total units for North",
        ask = "Total units in North",
        ask = "Total units of North",
        ask = "Sum of units for North",
        ask = "What is the total number of units in North?",
        ask = "What is the total of the units for North?",
        ask = "What are the total units from North?",
        ask = "How many units came from North altogether?",
        ask = "Units sold in North",
        ask = "Add up the units of North",
        ask = "How many units of North were sold?",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units","filter":[{"operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "How many units were sold in the North region?",
        ask = "How many units did the North region sell in total?",
        ask = "Total units in the North region",
        ask = "What is the total of the units for the North region?",
        ask = "Sum of units for the North region",
        ask = "How many units were sold in region North?",
        ask = "Total units where region is North",
        ask = "Total units where the region equals North",
        ask = "What are the total units for region North?",
        ask = "Add up the units where region is North",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units","filter":[{"column":"region","operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "Total units per region",
        ask = "Units per region",
        ask = "Units sold per region",
        ask = "How many units were sold in each region?",
        ask = "How many units did each region sell?",
        ask = "How many units did every region have in total?",
        ask = "Sum of the units for each region",
        ask = "Sum up the units by region",
        ask = "What are the total units for every region?",
        ask = "Add up the units by region",
        ask = "Show the number of units for each region",
        ask = "Give me the units sold by region",
        ask = "What is the total number of units for each region?",
        ask = "Units by region altogether",
        ask = "Group the units by region",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units","group_by":"region"}"#
    ),
    example(
        ask = "Which region sold the most units?",
        ask = "What region sold most units?",
        ask = "In which region were the most units sold?",
        ask = "Which region sells the most units in total?",
        ask = "Region with the most units",
        ask = "Region with the highest units",
        ask = "Which region is best by units?",
        ask = "Best region by units",
        ask = "Who sold the most units by region?",
        ask = "Which region has the largest number of units?",
        ask = "Which region had the highest total units overall?",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units","group_by":"region","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which region sold the fewest units?",
        ask = "Which region sold the least units?",
        ask = "In which region were the fewest units sold?",
        ask = "Region with the fewest units",
        ask = "Region with the lowest units",
        ask = "Which region is worst by units?",
        ask = "Worst region by units",
        ask = "Which region has the smallest number of units in total?",
        ask = "What region sells the least units overall?",
        input = r#"{"csv":"region,product,units\nNorth,Tea,10\n","aggregate":"sum","column":"units","group_by":"region","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "average age of everyone",
        ask = "What is the mean of age?",
        ask = "What is the average of the ages?",
        ask = "Calculate the average age",
        ask = "Work out the mean age",
        ask = "How high is the average age?",
        ask = "Average age overall",
        ask = "Average age in total",
        ask = "Average age of all rows",
        ask = "Average age per row",
        ask = "What is the average age of the people?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age"}"#
    ),
    example(
        ask = "Average age in Bonn",
        ask = "What is the average age in Bonn?",
        ask = "Mean age in Bonn",
        ask = "What is the mean age of people in Bonn?",
        ask = "Average age of the people from Bonn",
        ask = "Avg age for Bonn",
        ask = "What is the average age of those in Bonn?",
        ask = "Calculate the average age for Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Average age in the city Bonn",
        ask = "Average age where city is Bonn",
        ask = "What is the mean age where the city is Bonn?",
        ask = "Average age in the city of Bonn",
        ask = "Average age of rows with city Bonn",
        ask = "Average age for city Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Average age by city",
        ask = "Mean age by city",
        ask = "Average age per city",
        ask = "Avg age per city",
        ask = "Average age for each city",
        ask = "Average age in each city",
        ask = "Average age of every city",
        ask = "What is the mean age per city?",
        ask = "What's the average age in each city?",
        ask = "Average age grouped by city",
        ask = "Show the average age of each city",
        ask = "Group by city and give the average age",
        ask = "Average number of age per city",
        ask = "What is the average age for every city?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Which city has the highest average age?",
        ask = "Which city has the greatest mean age?",
        ask = "What city has the largest average age?",
        ask = "In which city is the average age highest?",
        ask = "Which city has the highest age on average?",
        ask = "Which city had the most age on average?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which city has the smallest mean age?",
        ask = "What city has the lowest age on average?",
        ask = "In which city is the average age lowest?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "What's the top age in the table?",
        ask = "What is the biggest age of all?",
        ask = "Max age",
        ask = "What is the highest age in this table?",
        ask = "Highest age",
        ask = "Give me the largest age",
        ask = "How high is the highest age?",
        ask = "What is the greatest age overall?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age"}"#
    ),
    example(
        ask = "Min age",
        ask = "What is the minimum age in the table?",
        ask = "What is the lowest age of all?",
        ask = "Lowest age",
        ask = "Give me the smallest age",
        ask = "How low is the lowest age?",
        ask = "What is the least age overall?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age"}"#
    ),
    example(
        ask = "What's the median age?",
        ask = "Median age",
        ask = "Median of age",
        ask = "Median of the age column",
        ask = "What is the median of the ages?",
        ask = "Work out the median age overall",
        ask = "Give me the median age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"median","column":"age"}"#
    ),
    example(
        ask = "Highest age per city",
        ask = "Maximum age by city",
        ask = "What is the highest age in each city?",
        ask = "Largest age for each city",
        ask = "Show the highest age of every city",
        ask = "Max age per city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Lowest age per city",
        ask = "Minimum age by city",
        ask = "What is the lowest age in each city?",
        ask = "Smallest age for each city",
        ask = "Show the lowest age of every city",
        ask = "Min age per city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Highest age in Bonn",
        ask = "What is the highest age in Bonn?",
        ask = "Maximum age for Bonn",
        ask = "Largest age of Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Lowest age in Bonn",
        ask = "What is the lowest age in Bonn?",
        ask = "Minimum age for Bonn",
        ask = "Smallest age of Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many are in Bonn?",
        ask = "How many are from Bonn?",
        ask = "How many people are from Bonn?",
        ask = "How many people work in Bonn?",
        ask = "How many employees are in Bonn?",
        ask = "How many customers are in Bonn?",
        ask = "How many staff are in Bonn?",
        ask = "How many members are in Bonn?",
        ask = "How many orders come from Bonn?",
        ask = "How many entries are for Bonn?",
        ask = "How many records have Bonn?",
        ask = "Number of people in Bonn",
        ask = "Count the people in Bonn",
        ask = "Count the rows with Bonn",
        ask = "How often does Bonn occur?",
        ask = "How many times does Bonn appear?",
        ask = "How many rows say Bonn?",
        ask = "How many belong to Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many rows have Bonn as city?",
        ask = "How many rows are there where city is Bonn?",
        ask = "How many people have the city Bonn?",
        ask = "How many people are in the city of Bonn?",
        ask = "How many are in the Bonn city?",
        ask = "Count the rows where city is Bonn",
        ask = "Number of rows with city Bonn",
        ask = "How many entries are there with city Bonn?",
        ask = "How many employees are in the Bonn city?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many people live in each city?",
        ask = "How many people are in each city?",
        ask = "How many people does each city have?",
        ask = "How many rows per city?",
        ask = "How many entries for each city?",
        ask = "How many employees does each city have?",
        ask = "How many customers are there per city?",
        ask = "How many staff are in every city?",
        ask = "How many members work in each city?",
        ask = "How many orders were there in each city?",
        ask = "How many are there in each city?",
        ask = "Number of people per city",
        ask = "Number of rows for each city",
        ask = "Count per city",
        ask = "Row count by city",
        ask = "How many of them per city?",
        ask = "How many sales were there in each city?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city"}"#
    ),
    example(
        ask = "What are the names in Bonn?",
        ask = "Names of the people in Bonn",
        ask = "Give me the names of everyone in Bonn",
        ask = "Give me the name of everyone who lives in Bonn",
        ask = "List the names of all people in Bonn",
        ask = "What are the names of those from Bonn?",
        ask = "Show the names of the employees in Bonn",
        ask = "Which names belong to Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Who is in Bonn?",
        ask = "Who lives in Bonn?",
        ask = "Who works in Bonn?",
        ask = "Who is from Bonn?",
        ask = "Show everyone in Bonn",
        ask = "Show all people in Bonn",
        ask = "List everyone from Bonn",
        ask = "Give me all rows for Bonn",
        ask = "Give me everything about Bonn",
        ask = "Show me the rows with Bonn",
        ask = "Show the entries for Bonn",
        ask = "Only the rows with Bonn",
        ask = "Rows in Bonn",
        ask = "What do we have for Bonn?",
        ask = "Find the rows with Bonn",
        ask = "Which rows have Bonn?",
        ask = "Which employees are in Bonn?",
        ask = "Which customers come from Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows of the city Bonn",
        ask = "Show the Bonn city",
        ask = "Show everything of the Bonn city",
        ask = "Show the rows in the Bonn city",
        ask = "Rows where city is Bonn",
        ask = "Rows with city Bonn",
        ask = "Which people have the city Bonn?",
        ask = "Show everyone whose city is Bonn",
        ask = "List all rows where the city is Bonn",
        ask = "Find the rows where city equals Bonn",
        ask = "Filter by city Bonn",
        ask = "Only city Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Rows where age is greater than 30",
        ask = "Show me the rows where age is greater than 30",
        ask = "Show all rows where age is above 30",
        ask = "Show everyone with an age above 30",
        ask = "Who has an age above 30?",
        ask = "Who has an age of more than 30?",
        ask = "Which rows have an age higher than 30?",
        ask = "Rows with age over 30",
        ask = "Rows with an age above 30",
        ask = "Find the rows with an age exceeding 30",
        ask = "Everything with age above 30",
        ask = "Which people have an age over 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Rows where age is less than 30",
        ask = "Show me the rows where age is lower than 30",
        ask = "Show all rows where age is under 30",
        ask = "Show everyone with an age below 30",
        ask = "Who has an age below 30?",
        ask = "Who has an age of less than 30?",
        ask = "Which rows have an age lower than 30?",
        ask = "Rows with age under 30",
        ask = "Rows with age below 30",
        ask = "Find the rows with an age smaller than 30",
        ask = "Everything with age below 30",
        ask = "Which people have an age under 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Who is older than 30?",
        ask = "Show everyone older than 30",
        ask = "Give me everyone older than 30",
        ask = "List everybody who is older than 30",
        ask = "Which people are older than 30?",
        ask = "Which rows are older than 30?",
        ask = "Show the rows older than 30",
        ask = "People older than 30",
        ask = "Everyone older than 30",
        ask = "Find all people who are older than 30",
        ask = "Which employees are older than 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"comparative":"older","value":30}]}"#
    ),
    example(
        ask = "Names with age above 30",
        ask = "Names of those with an age above 30",
        ask = "List the names where age is above 30",
        ask = "List the names whose age is over 30",
        ask = "Names where age is greater than 30",
        ask = "Give me the names with an age higher than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Names with age below 30",
        ask = "Names of those with an age below 30",
        ask = "List the names where age is below 30",
        ask = "List the names whose age is under 30",
        ask = "Names where age is less than 30",
        ask = "Give me the names with an age lower than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Who is the oldest?",
        ask = "Who is oldest?",
        ask = "Who's the oldest one here?",
        ask = "Which is the oldest?",
        ask = "Show me the oldest person",
        ask = "Find the oldest person in the table",
        ask = "Who of them is the oldest?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":1}"#
    ),
    example(
        ask = "Name of the oldest person",
        ask = "What is the name of the oldest?",
        ask = "Give me the name of the oldest person",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":1,"columns":["name"]}"#
    ),
    example(
        ask = "How high is the age of Ada?",
        ask = "Ada's age",
        ask = "What is Ada's age?",
        ask = "What is the age of Ada?",
        ask = "Which age does Ada live at?",
        ask = "What age has Ada got?",
        ask = "Find the age of Ada",
        ask = "Look up Ada's age",
        ask = "Tell me the age of Ada",
        ask = "In which age does Ada live?",
        ask = "Which age does Ada work in?",
        ask = "What age is Ada in?",
        ask = "Which age is Ada from?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["age"],"filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "Show all names",
        ask = "List all names",
        ask = "All the names",
        ask = "Names only",
        ask = "Just the names",
        ask = "Get all the names in the table",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"]}"#
    ),
    example(
        ask = "Which cities are there?",
        ask = "What cities are there?",
        ask = "List all the different cities",
        ask = "Which cities occur?",
        ask = "Which cities appear in the table?",
        ask = "What are all the cities without duplicates?",
        ask = "List the cities without repeating them",
        ask = "Show every city once",
        ask = "All distinct cities",
        ask = "Unique cities",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["city"],"distinct":true}"#
    ),
    example(
        ask = "How many unique cities are there?",
        ask = "How many distinct cities are in the table?",
        ask = "Number of distinct cities",
        ask = "Number of unique cities in total",
        ask = "How many different cities does the table have?",
        ask = "How many different cities occur?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count_distinct","column":"city"}"#
    ),
    example(
        ask = "List name and city",
        ask = "Show name and city",
        ask = "Names and cities only",
        ask = "Only the columns name and city",
        ask = "Give me the name and the city of everyone",
        ask = "Show the name and city for each person",
        ask = "Print name and city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","city"]}"#
    ),
    example(
        ask = "Sort the people by age, highest first",
        ask = "Sort the staff by age, highest first",
        ask = "Sort the table by age descending",
        ask = "Order the rows by age, largest first",
        ask = "Order by age from high to low",
        ask = "Sort by age, biggest first",
        ask = "Sort everything by age in descending order",
        ask = "Sort the employees by age, highest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "Sort the people by age, lowest first",
        ask = "Sort the staff by age, lowest first",
        ask = "Sort the table by age ascending",
        ask = "Order the rows by age, smallest first",
        ask = "Order by age from low to high",
        ask = "Sort by age, smallest first",
        ask = "Sort everything by age in ascending order",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Which row has the largest age?",
        ask = "Which row has the most age?",
        ask = "Which entry has the highest age?",
        ask = "Who has the most age?",
        ask = "Show the row with the highest age",
        ask = "Find the row with the largest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which entry has the smallest age?",
        ask = "Who has the lowest age?",
        ask = "Who has the least age?",
        ask = "Find the row with the smallest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "The 3 highest ages",
        ask = "What are the 3 highest ages?",
        ask = "Top 3 ages",
        ask = "Show the top 3 rows by age",
        ask = "Which 3 have the highest age?",
        ask = "Give me the 3 rows with the largest age",
        ask = "The 3 largest ages",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":3}"#
    ),
    example(
        ask = "The 3 lowest ages",
        ask = "What are the 3 lowest ages?",
        ask = "Bottom 3 ages",
        ask = "Which 3 have the lowest age?",
        ask = "Give me the 3 rows with the smallest age",
        ask = "The 3 smallest ages",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":3}"#
    ),
    example(
        ask = "How many rows does the table have?",
        ask = "How many rows are there?",
        ask = "How many lines does the table have without the header?",
        ask = "How many people are in the table?",
        ask = "How many people are there?",
        ask = "How many staff are there?",
        ask = "How many entries are there?",
        ask = "How many records are there?",
        ask = "How many rows does this have?",
        ask = "Number of rows in total",
        ask = "Number of entries",
        ask = "Number of records in the table",
        ask = "Count the rows",
        ask = "Count all rows",
        ask = "Count all entries",
        ask = "Size of the table in rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count"}"#
    ),
    example(
        ask = "What percentage of the rows are from Bonn?",
        ask = "What percentage of the people live in Bonn?",
        ask = "What share of the people is in Bonn?",
        ask = "What percent of the rows are in Bonn?",
        ask = "Which percentage of people come from Bonn?",
        ask = "Share of Bonn",
        ask = "How many percent of the people live in Bonn?",
        ask = "How many percent are from Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"share","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What are the column names?",
        ask = "What are the columns?",
        ask = "Which columns are there?",
        ask = "List the columns",
        ask = "Show the column names",
        ask = "Names of the columns",
        ask = "What is the header?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","about":"columns"}"#
    ),
    example(
        ask = "What was the total sales?",
        ask = "Overall sales",
        ask = "Total amount of sales",
        ask = "What is the total sales amount?",
        ask = "What is the total number of sales?",
        ask = "How many sales are there in total?",
        ask = "How many sales were there altogether?",
        ask = "Add the sales together",
        ask = "What do the sales add up to?",
        ask = "What do the sales come to?",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales"}"#
    ),
    example(
        ask = "Total sales on North",
        ask = "Total sales sold by North",
        ask = "Total sales recorded for North",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "Total sales grouped by region",
        ask = "Total sales broken down by region",
        ask = "Total sales split by region",
        ask = "Total sales across regions",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "Total sales by region, largest first",
        ask = "Total sales by region from highest to lowest",
        ask = "Total sales by region from most to least",
        ask = "Total sales by region in descending order",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending"}"#
    ),
    example(
        ask = "Total sales by region, lowest first",
        ask = "Total sales by region from lowest to highest",
        ask = "Total sales by region from least to most",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"ascending"}"#
    ),
    example(
        ask = "Which region had the most sales?",
        ask = "Which region made the most sales?",
        ask = "Which region brought in the most sales?",
        ask = "Which region generated the most sales?",
        ask = "Which region recorded the most sales?",
        ask = "Which region has the biggest total sales?",
        ask = "Which region has the greatest total sales?",
        ask = "Which region has the highest overall sales?",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which region had the least sales?",
        ask = "Which region made the fewest sales?",
        ask = "Which region has the smallest total sales?",
        ask = "Region with the least sales",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Avg age",
        ask = "Mean age",
        ask = "What is the average age overall?",
        ask = "Average of the age column",
        ask = "Average age in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age"}"#
    ),
    example(
        ask = "Average Bonn age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Maximum age",
        ask = "Largest age",
        ask = "Biggest age",
        ask = "What is the top age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age"}"#
    ),
    example(
        ask = "Minimum age",
        ask = "Smallest age",
        ask = "What was the lowest age?",
        ask = "Lowest age in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age"}"#
    ),
    example(
        ask = "Calculate the median age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"median","column":"age"}"#
    ),
    example(
        ask = "How many customers are there?",
        ask = "How many orders are there?",
        ask = "How many products are there?",
        ask = "How many items are there?",
        ask = "How many employees are there?",
        ask = "How many rows are listed?",
        ask = "How many rows are there in total?",
        ask = "How many rows are in this sheet?",
        ask = "How many rows are in this data?",
        ask = "How many rows does this file contain?",
        ask = "Row count",
        ask = "Count of rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count"}"#
    ),
    example(
        ask = "How many people live in Bonn?",
        ask = "How many rows have Bonn as the city?",
        ask = "How many rows are marked Bonn?",
        ask = "How many Bonn rows are there?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many have an age above 30?",
        ask = "How many rows have age greater than 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "How many have an age below 30?",
        ask = "How many rows have age below 30?",
        ask = "How many rows have age less than 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "How many rows have at least 30 age?",
        ask = "How many rows have age 30 or more?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "How many rows have age at most 30?",
        ask = "How many rows have at most 30 age?",
        ask = "How many rows have age 30 or less?",
        ask = "How many rows have age up to 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"le","value":30}]}"#
    ),
    example(
        ask = "Which names are listed?",
        ask = "List all the names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"]}"#
    ),
    example(
        ask = "Which names have an age of more than 30?",
        ask = "Which names have more than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which names have age below 30?",
        ask = "Which names have less than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Which names have age at least 30?",
        ask = "Which names have at least 30 age?",
        ask = "Which names have age 30 or more?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "Which names are from Bonn?",
        ask = "Which names are Bonn?",
        ask = "Which names have Bonn as city?",
        ask = "Which name is in Bonn?",
        ask = "List the names where city is Bonn",
        ask = "Names in Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What's Ada's age?",
        ask = "Age of Ada",
        ask = "What is the age for Ada?",
        ask = "Give me the age of Ada",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["age"],"filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "Show only Bonn",
        ask = "Filter the rows by Bonn",
        ask = "Which are in Bonn?",
        ask = "Which people are in Bonn?",
        ask = "Which items are in Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows with age above 30",
        ask = "Which rows have age over 30?",
        ask = "Which rows have more than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Show the rows with age below 30",
        ask = "Show the rows with age under 30",
        ask = "Show the rows with less than 30 age",
        ask = "Which rows have fewer than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the rows with age at least 30",
        ask = "Which rows have age 30 or more?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "Which 2 rows have the highest age?",
        ask = "Show the 2 highest rows by age",
        ask = "Show the 2 largest rows by age",
        ask = "Top 2 rows by age",
        ask = "Top 2 by age",
        ask = "Show the 2 rows with the most age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":2}"#
    ),
    example(
        ask = "List the 2 rows with the smallest age",
        ask = "Which 2 rows have the lowest age?",
        ask = "Show the 2 smallest rows by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":2}"#
    ),
    example(
        ask = "Which person has the highest age?",
        ask = "Row with the highest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which row has the least age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Sort the rows by age from highest to lowest",
        ask = "Sort by age descending",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "Sort by age",
        ask = "Sort the rows by age, lowest first",
        ask = "Sort the rows by age from lowest to highest",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Top 2 regions by sales",
        ask = "Which 2 regions have the most sales?",
        ask = "What are the 2 regions with the most sales?",
        ask = "Show the 2 regions with the highest sales",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":2}"#
    ),
    example(
        ask = "Count by city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city"}"#
    ),
    example(
        ask = "Which city appears most often?",
        ask = "Which city has the most people?",
        ask = "Which city is the most common?",
        ask = "Most common city",
        ask = "Most frequent city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Show the rows",
        ask = "List the rows",
        ask = "Show the data",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n"}"#
    ),
    example(
        ask = "Show the rows with age at most 30",
        ask = "Show the rows with age 30 or less",
        ask = "Which rows have age at most 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"le","value":30}]}"#
    ),
    example(
        ask = "Show the rows with city Bonn",
        ask = "Show the rows whose city is Bonn",
        ask = "Show the rows that have city Bonn",
        ask = "Show the rows with Bonn as the city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which region has the highest total sales?",
        ask = "Which region has the most sales?",
        ask = "What region has the highest sum of sales?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","group_by":"region","aggregate":"sum","column":"sales","sort":"descending","limit":1}"#,
        output = r#"{"rows":[{"region":"North","sum_sales":30}],"columns":["region","sum_sales"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Which region has the least sales?",
        ask = "What region has the lowest sum of sales?",
        input = r#"{"csv":"region,sales\nNorth,10\n","group_by":"region","aggregate":"sum","column":"sales","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "What is the average age?",
        ask = "What is the mean age?",
        ask = "What is the average of age in this table?",
        ask = "What's the average of the age column?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"mean","column":"age"}"#,
        output = r#"{"rows":[{"mean_age":34.6666666666667}],"value":34.6666666666667,"columns":["mean_age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the total of the sales column?",
        ask = "Add up the sales",
        ask = "Total of the sales column",
        ask = "How much is sales in total?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","aggregate":"sum","column":"sales"}"#,
        output = r#"{"rows":[{"sum_sales":55}],"value":55,"columns":["sum_sales"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the highest age?",
        ask = "What is the maximum age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age"}"#
    ),
    example(
        ask = "What is the smallest age in this table?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age"}"#
    ),
    example(
        ask = "How many records are in this table?",
        ask = "How many entries are in this file?",
        ask = "Number of rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count"}"#,
        output = r#"{"rows":[{"count":3}],"value":3,"columns":["count"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Count the rows by city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count","group_by":"city"}"#,
        output = r#"{"rows":[{"city":"Bonn","count":2},{"city":"Kiel","count":1}],"columns":["city","count"],"row_count":2,"matched_rows":3}"#
    ),
    example(
        ask = "Which city has the most rows?",
        ask = "Which city occurs most often?",
        ask = "What is the most common city?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city","sort":"descending","limit":1}"#
    ),
    example(
        ask = "What is the total sales by region?",
        ask = "Sum of sales by region",
        ask = "Sales by region",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "What is the average age per city?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Which city has the lowest average age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Which name has the highest age?",
        ask = "What name has the largest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","group_by":"name","sort":"descending","limit":1}"#
    ),
    example(
        ask = "What name has the smallest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","group_by":"name","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Which rows have the city Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "List the rows where age is more than 30",
        ask = "Rows with age greater than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"age","operator":"gt","value":30}]}"#,
        output = r#"{"rows":[{"name":"Ada","city":"Bonn","age":36},{"name":"Cyd","city":"Bonn","age":51}],"columns":["name","city","age"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Show the rows where age is below 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the rows where age is at least 18",
        ask = "List the rows where age is 18 or more",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":18}]}"#
    ),
    example(
        ask = "How many entries have an age above 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "How many rows have the city Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the average age where city is Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"mean","column":"age","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"mean_age":43.5}],"value":43.5,"columns":["mean_age"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What age is Ada?",
        ask = "Which age does Ada have?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","columns":["age"],"filter":[{"operator":"eq","value":"Ada"}]}"#,
        output = r#"{"rows":[{"age":36}],"value":36,"columns":["age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows contain Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "List the rows from Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the average age for Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What are the total sales for the region North?",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","filter":[{"column":"region","operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "Show the name of each row where age is above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "List every name",
        ask = "What are the names?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"]}"#
    ),
    example(
        ask = "Show the name and city of each row",
        ask = "List the name and city",
        ask = "Show the columns name and city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","city"]}"#
    ),
    example(
        ask = "Show the name, city and age of each row",
        ask = "List the name, city and age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","city","age"]}"#
    ),
    example(
        ask = "What are the top 2 rows by age?",
        ask = "List the 2 rows with the highest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","column":"age","sort":"descending","limit":2}"#,
        output = r#"{"rows":[{"name":"Cyd","city":"Bonn","age":51},{"name":"Ada","city":"Bonn","age":36}],"columns":["name","city","age"],"row_count":2,"matched_rows":3}"#
    ),
    example(
        ask = "Show the bottom 2 rows by age",
        ask = "List the 2 rows with the lowest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":2}"#
    ),
    example(
        ask = "What are the top 2 regions by sales?",
        ask = "Top 2 regions by total sales",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":2}"#
    ),
    example(
        ask = "Sort the rows by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Sort the rows by age in descending order",
        ask = "Sort the rows by age, highest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "List the first 2 rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","limit":2}"#
    ),
    example(ask = "What is in this table?", input = r#"{"csv":"name,city,age\nAda,Bonn,36\n"}"#),
    example(
        ask = "How many different cities are there?",
        ask = "Number of different cities",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count_distinct","column":"city"}"#,
        output = r#"{"rows":[{"count_distinct_city":2}],"value":2,"columns":["count_distinct_city"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "List the different cities",
        ask = "Which different cities are there?",
        ask = "List the unique cities",
        ask = "List the distinct cities",
        ask = "What are the unique cities?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","columns":["city"],"distinct":true}"#,
        output = r#"{"rows":[{"city":"Bonn"},{"city":"Kiel"}],"columns":["city"],"row_count":2,"matched_rows":3}"#
    ),
    example(
        ask = "Which customers ordered a lamp?",
        ask = "Which customers bought a lamp?",
        ask = "Show the customers who ordered a lamp",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","columns":["customer"],"distinct":true,"filter":[{"operator":"eq","value":"lamp"}]}"#,
        output = r#"{"rows":[{"customer":"Ada"},{"customer":"Cyd"}],"columns":["customer"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Which names have Bonn?",
        ask = "List the names from Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"name":"Ada"},{"name":"Cyd"}],"columns":["name"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Which names have an age above 30?",
        ask = "Which names have an age over 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which names have an age of 36?",
        ask = "List the names with age 36",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"eq","value":36}]}"#
    ),
    example(
        ask = "Show the rows where city is not Bonn",
        ask = "Which rows do not have the city Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"city","operator":"ne","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"name":"Bob","city":"Kiel","age":17}],"columns":["name","city","age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows do not have the city Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count","filter":[{"column":"city","operator":"ne","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"count":1}],"value":1,"columns":["count"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "List the rows where age is between 18 and 40",
        ask = "Which rows have an age between 18 and 40?",
        ask = "Show the rows where age is from 18 to 40",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"age","operator":"between","value":18,"upper":40}]}"#,
        output = r#"{"rows":[{"name":"Ada","city":"Bonn","age":36}],"columns":["name","city","age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows have an age between 18 and 40?",
        ask = "Count the rows where age is between 18 and 40",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count","filter":[{"column":"age","operator":"between","value":18,"upper":40}]}"#,
        output = r#"{"rows":[{"count":1}],"value":1,"columns":["count"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where age is over 30",
        ask = "Which rows have an age over 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which rows have an age under 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the rows where age is at most 36",
        ask = "List the rows where age is 36 or less",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"le","value":36}]}"#
    ),
    example(
        ask = "How many rows have an age of at least 18?",
        ask = "Count the rows where age is at least 18",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"ge","value":18}]}"#
    ),
    example(
        ask = "Show the rows where city is Bonn and age is above 40",
        ask = "Which rows have the city Bonn and an age above 40?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"city","operator":"eq","value":"Bonn"},{"column":"age","operator":"gt","value":40}]}"#,
        output = r#"{"rows":[{"name":"Cyd","city":"Bonn","age":51}],"columns":["name","city","age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where ordered is after 2026-03-01",
        ask = "Which rows have an ordered date after 2026-03-01?",
        ask = "List the rows with ordered after 2026-03-01",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Show the rows where ordered is before 2026-03-01",
        ask = "Which rows have an ordered date before 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","filter":[{"column":"ordered","operator":"lt","date":"2026-03-01"}]}"#,
        output = r#"{"rows":[{"customer":"Bob","item":"chair","ordered":"2026-02-28","price":120}],"columns":["customer","item","ordered","price"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where ordered is between 2026-03-01 and 2026-03-31",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","filter":[{"column":"ordered","operator":"between","date":"2026-03-01","until":"2026-03-31"}]}"#,
        output = r#"{"rows":[{"customer":"Ada","item":"lamp","ordered":"2026-03-05","price":30}],"columns":["customer","item","ordered","price"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows have an ordered date after 2026-03-01?",
        ask = "How many rows are there where ordered is after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"count","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#,
        output = r#"{"rows":[{"count":2}],"value":2,"columns":["count"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What percentage of the sales is North?",
        ask = "What share of the sales is from North?",
        ask = "What percent of sales is from North?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","aggregate":"share","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#,
        output = r#"{"rows":[{"share_sales":54.55}],"value":54.55,"columns":["share_sales"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What is the share of sales per region?",
        ask = "What percentage of sales does each region have?",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"share","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "What is the earliest ordered date?",
        ask = "What is the first ordered date?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"min","column":"ordered"}"#,
        output = r#"{"rows":[{"min_ordered":"2026-02-28"}],"value":"2026-02-28","columns":["min_ordered"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the latest ordered date?",
        ask = "What is the last ordered date?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"max","column":"ordered"}"#,
        output = r#"{"rows":[{"max_ordered":"2026-04-02"}],"value":"2026-04-02","columns":["max_ordered"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Who has the highest age?",
        ask = "Which row has the highest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","column":"age","sort":"descending","limit":1}"#,
        output = r#"{"rows":[{"name":"Cyd","city":"Bonn","age":51}],"columns":["name","city","age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Show the row with the lowest age",
        ask = "Which row has the lowest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","column":"age","sort":"ascending","limit":1}"#,
        output = r#"{"rows":[{"name":"Bob","city":"Kiel","age":17}],"columns":["name","city","age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "How many different products does each region have?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\n","aggregate":"count_distinct","column":"product","group_by":"region"}"#
    ),
    example(
        ask = "Which 2 names have the highest age?",
        ask = "What are the 2 names with the highest age?",
        ask = "Top 2 names by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","age"],"column":"age","sort":"descending","limit":2}"#
    ),
    example(
        ask = "How many names are there?",
        ask = "How many names are listed?",
        ask = "How many names does this table have?",
        ask = "Number of names",
        ask = "Count the names",
        ask = "Count all names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name"}"#
    ),
    example(
        ask = "How many names have Bonn as the city?",
        ask = "Count the names that are in Bonn",
        ask = "Count the names that lie in Bonn",
        ask = "How many names are marked Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many rows came from Bonn?",
        ask = "How many rows that are from Bonn are there?",
        ask = "Number of rows with Bonn",
        ask = "Count the rows that are from Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many names have age more than 30?",
        ask = "How many names have more than 30 age?",
        ask = "Count the names with an age above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "How many names have age below 30?",
        ask = "How many names have less than 30 age?",
        ask = "Count the names with an age below 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "How many names have at least 30 age?",
        ask = "Number of names with an age of at least 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "How many names have age 36?",
        ask = "How many names have 36 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"column":"age","operator":"eq","value":36}]}"#
    ),
    example(
        ask = "How many rows have an age of 36?",
        ask = "How many rows have age 36?",
        ask = "How many rows are there where age is 36?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"eq","value":36}]}"#
    ),
    example(
        ask = "How many are older than 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"comparative":"older","value":30}]}"#
    ),
    example(
        ask = "Number of names older than 30",
        ask = "Count the names that are older than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"comparative":"older","value":30}]}"#
    ),
    example(
        ask = "How many rows are older than 30 years?",
        ask = "How many are older than 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"comparative":"older","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Which names are older than 30?",
        ask = "Names older than 30",
        ask = "List the names that are older than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"comparative":"older","value":30}]}"#
    ),
    example(
        ask = "Which names are older than 30 years?",
        ask = "Names older than 30 years",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"comparative":"older","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "All people older than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"comparative":"older","value":30}]}"#
    ),
    example(
        ask = "Show the rows older than 30 years",
        ask = "Which people are older than 30 years?",
        ask = "Who is older than 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"comparative":"older","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Which row is the oldest?",
        ask = "Which person is the oldest?",
        ask = "What is the oldest?",
        ask = "Which one is the oldest?",
        ask = "The oldest one",
        ask = "Show the oldest row",
        ask = "Oldest person",
        ask = "Who is the oldest person?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":1}"#
    ),
    example(
        ask = "Which name is oldest?",
        ask = "What is the oldest name?",
        ask = "Which is the oldest name?",
        ask = "Show the oldest name",
        ask = "Name of the oldest row",
        ask = "What is the name of the oldest person?",
        ask = "Return the name of the oldest person",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":1,"columns":["name"]}"#
    ),
    example(
        ask = "Which 2 rows are the oldest?",
        ask = "Show the 2 oldest rows",
        ask = "Who are the 2 oldest people?",
        ask = "Show the 2 oldest people with their ages",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":2}"#
    ),
    example(
        ask = "Show the 2 oldest names",
        ask = "Which 2 names are the oldest?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","limit":2,"columns":["name"]}"#
    ),
    example(
        ask = "Sort the rows, oldest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest"}"#
    ),
    example(
        ask = "List the names, oldest first",
        ask = "Sort the names, oldest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","superlative":"oldest","columns":["name"]}"#
    ),
    example(
        ask = "Who earns the most?",
        ask = "Who has the highest income?",
        input = r#"{"csv":"name,team,salary\nAda,red,3600\nBob,blue,1700\n","superlative":"best_paid","limit":1}"#
    ),
    example(
        ask = "Who earns the least?",
        input = r#"{"csv":"name,team,salary\nAda,red,3600\nBob,blue,1700\n","superlative":"worst_paid","limit":1}"#
    ),
    example(
        ask = "Who earns the most in the team red?",
        input = r#"{"csv":"name,team,salary\nAda,red,3600\nBob,blue,1700\n","superlative":"best_paid","limit":1,"filter":[{"operator":"eq","value":"red"}]}"#
    ),
    example(
        ask = "Name of the biggest age",
        ask = "Show the name with the highest age",
        ask = "Name the name with the highest age",
        ask = "Find the name with the highest age",
        ask = "Which name has the most age?",
        ask = "Which name has the greatest age?",
        ask = "Which name in here has the highest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","group_by":"name","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Name with the lowest age",
        ask = "Show the name with the lowest age",
        ask = "Which name has the least age?",
        ask = "Which name has the fewest age?",
        ask = "Which name in this table has the lowest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","group_by":"name","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Which name in Bonn has the highest age?",
        ask = "Which Bonn name has the highest age?",
        ask = "Which name has the highest age among Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","group_by":"name","sort":"descending","limit":1,"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which 2 names have the lowest age?",
        ask = "What are the 2 names with the lowest age?",
        ask = "Bottom 2 names by age",
        ask = "The 2 names with the lowest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","age"],"column":"age","sort":"ascending","limit":2}"#
    ),
    example(
        ask = "The 2 names with the highest age",
        ask = "The 2 names with the most age",
        ask = "Show the 2 names with the highest age",
        ask = "Which 2 names have the most age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","age"],"column":"age","sort":"descending","limit":2}"#
    ),
    example(
        ask = "The 2 lowest ages",
        ask = "What are the 2 lowest ages?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":2}"#
    ),
    example(
        ask = "The 2 highest ages",
        ask = "What are the 2 highest ages?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":2}"#
    ),
    example(
        ask = "Average age for all names",
        ask = "What is the average age of all names?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","noun":"name"}"#
    ),
    example(
        ask = "Average age of the Bonn names",
        ask = "Average age of the names in Bonn",
        ask = "What is the average age of the names in Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","noun":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Average age of the Bonn rows",
        ask = "Average age of all Bonn people",
        ask = "For Bonn only, average age",
        ask = "For Bonn, what is the average age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Total age of the names",
        ask = "What is the total age of the names?",
        ask = "Sum of age of all names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"sum","column":"age","noun":"name"}"#
    ),
    example(
        ask = "Total age of all Bonn names",
        ask = "Combined age of all Bonn names",
        ask = "Add up the ages that the names in Bonn have",
        ask = "What is the total age of the names in Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"sum","column":"age","noun":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the highest age of the names?",
        ask = "Largest age of all names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","noun":"name"}"#
    ),
    example(
        ask = "Smallest age of all names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","noun":"name"}"#
    ),
    example(
        ask = "Total number of sales for North",
        ask = "Add up the sales for North",
        ask = "How many sales does North have in total?",
        ask = "How many sales were made in North in total?",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "Sum up the sales",
        ask = "The sum of the sales column",
        ask = "The sales column added up",
        ask = "How much is the sales column added up?",
        ask = "Sales, summed",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales"}"#
    ),
    example(
        ask = "Sales added up per region",
        ask = "Sales added up for each region",
        ask = "Add up the sales for each region",
        ask = "Group by region and sum the sales",
        ask = "Group by region and add up the sales",
        ask = "For every region, what are the total sales?",
        ask = "Per region, the sales added up",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "Sum up the sales by region and sort from highest to lowest",
        ask = "Sum up the sales by region and sort the result from highest to lowest",
        ask = "Total sales by region, sorted from highest to lowest",
        ask = "Total sales by region, best first",
        ask = "Total sales by region sorted descending",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending"}"#
    ),
    example(
        ask = "Which region has the most sales altogether?",
        ask = "Which region has the most sales overall?",
        ask = "Which region has the most sales in total?",
        ask = "Region with the most sales",
        ask = "Region with the highest total sales",
        input = r#"{"csv":"region,sales\nNorth,10\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Group by city and give the average age of each group",
        ask = "For every city, what is the average age?",
        ask = "Average age of each city",
        ask = "What is the average age of each city?",
        ask = "Average age broken down by city",
        ask = "Per city, the average age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "City with the highest average age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"descending","limit":1}"#
    ),
    example(
        ask = "City with the lowest average age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "How many rows has each city?",
        ask = "How many rows did each city take?",
        ask = "How many rows did each city make?",
        ask = "Count the rows per city",
        ask = "Break the rows down by city and count them",
        ask = "Break the rows down by city",
        ask = "Group by city and count",
        ask = "Group the rows by city and count them",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city"}"#
    ),
    example(
        ask = "How many names are there in each city?",
        ask = "How many names did each city take?",
        ask = "Count the names by city",
        ask = "Count the names per city",
        ask = "Number of names in each city",
        ask = "Break the names down by city and count them",
        ask = "Break the names down by city",
        ask = "Group the names by city and count them",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","group_by":"city","noun":"name"}"#
    ),
    example(
        ask = "How many different cities does this table contain?",
        ask = "How many different cities does this list contain?",
        ask = "How many distinct cities does this table have?",
        ask = "How many different cities are listed?",
        ask = "Count the different cities",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count_distinct","column":"city"}"#
    ),
    example(
        ask = "List the different cities, each only once",
        ask = "List the cities, each only once",
        ask = "List each city once",
        ask = "List the cities without duplicates",
        ask = "Which cities are there, without duplicates?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["city"],"distinct":true}"#
    ),
    example(
        ask = "What percentage of the rows come from Bonn?",
        ask = "What share of the people works in Bonn?",
        ask = "What share of the people is from Bonn?",
        ask = "What share of the people lives in Bonn, in percent?",
        ask = "What percent of the rows are Bonn?",
        ask = "Percentage of rows with Bonn",
        ask = "Share of rows with Bonn in percent",
        ask = "Share of Bonn in percent",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"share","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What percentage of the names come from Bonn?",
        ask = "What percentage of the names are from Bonn?",
        ask = "What share of the names is from Bonn?",
        ask = "What percent of the names are from Bonn?",
        ask = "Percentage of names with Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"share","noun":"name","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows where the age was 36",
        ask = "Which rows have an age of 36?",
        ask = "Show the rows with age 36",
        ask = "Rows with an age of 36",
        ask = "Which rows have age 36?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"eq","value":36}]}"#
    ),
    example(
        ask = "Find the rows that have more than 30 age",
        ask = "Show all rows that had more than 30 age",
        ask = "I want only the rows where age is above 30",
        ask = "Who has more than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "List the rows whose age is below 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Find all rows with an age of at least 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "Show the rows with more than 30 years of age",
        ask = "Show the rows where age is above 30 years",
        ask = "Which rows have an age above 30 years?",
        ask = "Show the rows with an age over 30 years",
        ask = "List the rows whose age is more than 30 years",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Show the rows where age is below 30 years",
        ask = "Which rows have an age below 30 years?",
        ask = "Show the rows with an age under 30 years",
        ask = "List the rows whose age is less than 30 years",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Show the rows where age is at least 30 years",
        ask = "Which rows have an age of at least 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "How many rows have an age over 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"gt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "How many rows have an age below 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"lt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Find all names with an age above 30",
        ask = "Find all names that had an age above 30",
        ask = "I need every name with an age above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Names with an age below 30",
        ask = "I need every name with an age below 30",
        ask = "List the names whose age is less than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the names with an age of at least 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "List the names whose age is at least 30 years",
        ask = "Names with an age of at least 30 years",
        ask = "Which names have an age of at least 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"ge","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "List the names whose age is above 30 years",
        ask = "Names with an age above 30 years",
        ask = "Which names have an age above 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "List the names whose age is below 30 years",
        ask = "Names with an age below 30 years",
        ask = "Which names have an age below 30 years?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"lt","value":30,"unit":"years"}]}"#
    ),
    example(
        ask = "Find the names from Bonn",
        ask = "Show the names in Bonn",
        ask = "Names from Bonn",
        ask = "List the names going to Bonn",
        ask = "List the names that are in Bonn",
        ask = "Which Bonn names are there?",
        ask = "Names of everyone in Bonn",
        ask = "Names of everybody in Bonn",
        ask = "Which names come from Bonn?",
        ask = "Give me the names of the people in Bonn",
        ask = "Who is in Bonn? Only the names",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Names and ages of everyone in Bonn",
        ask = "Names and ages in Bonn",
        ask = "Show the name and age of the people in Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","age"],"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Who comes from Bonn?",
        ask = "Everyone from Bonn",
        ask = "Only the rows from Bonn",
        ask = "Which people live in Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the city of Ada?",
        ask = "Which city is Ada from?",
        ask = "In which city does Ada live?",
        ask = "Ada's city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["city"],"filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "Who is the author of Emma?",
        input = r#"{"csv":"title,author,year\nEmma,Jane Austen,1815\nPiranesi,Susanna Clarke,2020\n","columns":["author"],"filter":[{"operator":"eq","value":"Emma"}]}"#
    ),
    example(
        ask = "Show the rows that are not from Bonn",
        ask = "Show all rows except Bonn",
        ask = "Show the rows without Bonn",
        ask = "All rows but not Bonn",
        ask = "Leave out Bonn",
        ask = "Leave out the rows from Bonn",
        ask = "Exclude Bonn",
        ask = "If you leave out Bonn, which rows remain?",
        ask = "Without Bonn, which rows are left?",
        ask = "Who is not from Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"ne","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which names are not in Bonn?",
        ask = "Show all names except Bonn",
        ask = "Show the names without Bonn",
        ask = "If you leave out Bonn, which names remain?",
        ask = "If you leave out the Bonn rows, which names remain?",
        ask = "Without Bonn, which names are left?",
        ask = "Names not in Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"distinct":true,"filter":[{"operator":"ne","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many rows are not in Bonn?",
        ask = "How many rows are left without Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"ne","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many names are not from Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","noun":"name","filter":[{"operator":"ne","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows after 2026-03-01",
        ask = "Which rows are after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Show the rows before 2026-03-01",
        ask = "Which rows came before 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"operator":"lt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Show the rows since 2026-03-01",
        ask = "Which rows came since 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"operator":"ge","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Show the rows between 2026-03-01 and 2026-03-31",
        ask = "Which rows came between 2026-03-01 and 2026-03-31?",
        ask = "Show the rows from 2026-03-01 to 2026-03-31",
        ask = "Which rows are between 2026-03-01 and 2026-03-31?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"operator":"between","date":"2026-03-01","until":"2026-03-31"}]}"#
    ),
    example(
        ask = "Which customers came between 2026-03-01 and 2026-03-31?",
        ask = "Customers between 2026-03-01 and 2026-03-31",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","columns":["customer"],"distinct":true,"filter":[{"operator":"between","date":"2026-03-01","until":"2026-03-31"}]}"#
    ),
    example(
        ask = "Which customers came after 2026-03-01?",
        ask = "Customers after 2026-03-01",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","columns":["customer"],"distinct":true,"filter":[{"operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Which customers came before 2026-03-01?",
        ask = "Customers before 2026-03-01",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","columns":["customer"],"distinct":true,"filter":[{"operator":"lt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Rows that were ordered after 2026-03-01",
        ask = "Who was ordered after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Who was ordered before 2026-03-01?",
        ask = "Rows ordered before 2026-03-01",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","filter":[{"column":"ordered","operator":"lt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Customers who were ordered after 2026-03-01",
        ask = "Which customers were ordered after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","columns":["customer"],"distinct":true,"filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Customers who were ordered before 2026-03-01",
        ask = "Which customers were ordered before 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","columns":["customer"],"distinct":true,"filter":[{"column":"ordered","operator":"lt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "How many rows were ordered after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\n","aggregate":"count","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "Sort by age, best first",
        ask = "Sort by age, highest first",
        ask = "Sort by age from highest to lowest",
        ask = "Rank the rows by age",
        ask = "List the rows sorted by age, highest first",
        ask = "Sort by age in descending order",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "Sort by age from lowest to highest",
        ask = "List the rows sorted by age",
        ask = "Show the people sorted by age",
        ask = "Put the rows in order of age",
        ask = "Sort by age, lowest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Sort the names by age",
        ask = "Show the names ordered by age",
        ask = "List the names by age",
        ask = "List the names sorted by age, lowest first",
        ask = "Order the names by age",
        ask = "Put the names in order of age",
        ask = "Sort the names by age in ascending order",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","columns":["name","age"]}"#
    ),
    example(
        ask = "Sort the names by age from highest to lowest",
        ask = "Show the names sorted by age, highest first",
        ask = "Show the names ordered by age from highest to lowest",
        ask = "Order the names by age, highest first",
        ask = "Rank the names by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","columns":["name","age"]}"#
    ),
    example(
        ask = "Sort the names by age from highest to lowest and show only the first 2",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":2,"columns":["name","age"]}"#
    ),
    example(
        ask = "Print the first 2 rows",
        ask = "Show me the first 2 lines of this table",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","limit":2}"#
    ),
    example(
        ask = "Which columns does this table have?",
        ask = "What columns does it have?",
        ask = "What are the columns of this table?",
        ask = "What are the names of the columns?",
        ask = "List the column names",
        ask = "Which columns does this file contain?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","about":"columns"}"#,
        output = r#"{"rows":[{"column":"name"},{"column":"city"},{"column":"age"}],"columns":["column"],"row_count":3,"matched_rows":3}"#
    ),
    example(
        ask = "How many columns are there?",
        ask = "How many columns are in this file?",
        ask = "Number of columns",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","about":"column_count"}"#,
        output = r#"{"rows":[{"column_count":3}],"value":3,"columns":["column_count"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Which region has the highest total sales in ~/data/sales.csv?",
        ask = "Which region in ~/data/sales.csv has the highest total sales?",
        input = r#"{"path":"~/data/sales.csv","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":1}"#
    ),
    example(
        ask = "What are the total sales in ~/data/sales.csv?",
        input = r#"{"path":"~/data/sales.csv","aggregate":"sum","column":"sales"}"#
    ),
    example(
        ask = "Which columns does ~/data/sales.csv have?",
        ask = "What are the columns of ~/data/sales.csv?",
        input = r#"{"path":"~/data/sales.csv","about":"columns"}"#
    ),
    example(
        ask = "How many rows does ~/data/sales.csv have?",
        ask = "How many rows are in ~/data/sales.csv?",
        input = r#"{"path":"~/data/sales.csv","aggregate":"count"}"#
    ),
    capabilities(fs(read, path = "{args.path}", reason = "reads the table if a call names a file")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn csv_query(mut input: CsvQueryInput) -> Result<CsvQueryOutput> {
    input.csv = Some(read_csv(&mut input)?);
    query::run(&input).map_err(ToolError::validation)
}

/// Returns the text of the table, from the input or from a file.
fn read_csv(input: &mut CsvQueryInput) -> Result<String> {
    match (input.csv.take(), &input.path) {
        (Some(csv), None) => Ok(csv),
        (None, Some(path)) => art_sdk::files::read_text(path, MAX_FILE_BYTES),
        (Some(_), Some(_)) => Err(ToolError::validation(
            "`csv` and `path` do not go together: leave one of them out",
        )),
        (None, None) => Err(ToolError::validation(
            "there is no table: give its text as `csv`, or the `path` of a file",
        )),
    }
}
