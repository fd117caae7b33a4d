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
        ask = "Show the total sales",
        ask = "Calculate the total sales",
        ask = "What was the total sales?",
        ask = "What were the total sales?",
        ask = "Overall sales",
        ask = "Total amount of sales",
        ask = "What is the total sales amount?",
        ask = "What is the total number of sales?",
        ask = "What is the combined sales?",
        ask = "How many sales are there in total?",
        ask = "How many sales were there altogether?",
        ask = "Add the sales together",
        ask = "What do the sales add up to?",
        ask = "What do the sales come to?",
        ask = "Total sales in this file",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales"}"#
    ),
    example(
        ask = "Total sales in North",
        ask = "Total sales from North",
        ask = "Total sales by North",
        ask = "Total sales at North",
        ask = "Total sales of North",
        ask = "Total sales on North",
        ask = "Total sales made by North",
        ask = "Total sales sold by North",
        ask = "Total sales recorded for North",
        ask = "Total sales with North",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "Total sales by region",
        ask = "Total sales per region",
        ask = "Total sales in each region",
        ask = "Total sales for every region",
        ask = "Total sales grouped by region",
        ask = "Total sales broken down by region",
        ask = "Total sales split by region",
        ask = "Total sales across regions",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "Total sales by region, highest first",
        ask = "Total sales by region, largest first",
        ask = "Total sales by region from highest to lowest",
        ask = "Total sales by region from most to least",
        ask = "Total sales by region from largest to smallest",
        ask = "Total sales by region in descending order",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending"}"#
    ),
    example(
        ask = "Total sales by region, lowest first",
        ask = "Total sales by region, smallest first",
        ask = "Total sales by region from lowest to highest",
        ask = "Total sales by region from least to most",
        ask = "Total sales by region in ascending order",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"ascending"}"#
    ),
    example(
        ask = "Which region had the most sales?",
        ask = "Which region made the most sales?",
        ask = "Which region brought in the most sales?",
        ask = "Which region generated the most sales?",
        ask = "Which region recorded the most sales?",
        ask = "Which region has the largest total sales?",
        ask = "Which region has the biggest total sales?",
        ask = "Which region has the greatest total sales?",
        ask = "Which region has the highest overall sales?",
        ask = "Which region has the highest combined sales?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which region had the least sales?",
        ask = "Which region made the fewest sales?",
        ask = "Which region has the smallest total sales?",
        ask = "Region with the least sales",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Avg age",
        ask = "Mean age",
        ask = "What was the average age?",
        ask = "Show the average age",
        ask = "What is the average age overall?",
        ask = "Average of the age column",
        ask = "Average age in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age"}"#
    ),
    example(
        ask = "Average age in Bonn",
        ask = "Average age for Bonn",
        ask = "Average Bonn age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Average age per city",
        ask = "Average age for each city",
        ask = "Average age grouped by city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Maximum age",
        ask = "Largest age",
        ask = "Biggest age",
        ask = "Max age",
        ask = "What was the highest age?",
        ask = "Show the highest age",
        ask = "What is the biggest age?",
        ask = "What is the top age?",
        ask = "Highest age of all",
        ask = "Highest age in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age"}"#
    ),
    example(
        ask = "Minimum age",
        ask = "Smallest age",
        ask = "Min age",
        ask = "What was the lowest age?",
        ask = "Show the lowest age",
        ask = "Lowest age of all",
        ask = "Lowest age in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age"}"#
    ),
    example(
        ask = "Median age",
        ask = "Median of the age column",
        ask = "What was the median age?",
        ask = "Calculate the median age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"median","column":"age"}"#
    ),
    example(
        ask = "How many rows?",
        ask = "How many people are there?",
        ask = "How many customers are there?",
        ask = "How many orders are there?",
        ask = "How many products are there?",
        ask = "How many items are there?",
        ask = "How many employees are there?",
        ask = "How many are there?",
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
        ask = "How many rows are in Bonn?",
        ask = "How many rows are Bonn?",
        ask = "How many are in Bonn?",
        ask = "How many are from Bonn?",
        ask = "How many are Bonn?",
        ask = "How many people are in Bonn?",
        ask = "How many people live in Bonn?",
        ask = "How many rows are there in Bonn?",
        ask = "How many rows have Bonn as the city?",
        ask = "How many rows are marked Bonn?",
        ask = "How many Bonn rows are there?",
        ask = "Count the rows with Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "How many have an age above 30?",
        ask = "How many rows have age above 30?",
        ask = "How many rows have age over 30?",
        ask = "How many rows have age greater than 30?",
        ask = "Count the rows with age above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "How many have an age below 30?",
        ask = "How many rows have age below 30?",
        ask = "How many rows have age under 30?",
        ask = "How many rows have age less than 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "How many rows have age at least 30?",
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
        ask = "Which names are there?",
        ask = "Which names are listed?",
        ask = "List all the names",
        ask = "Give me the name column",
        ask = "List the names in this file",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"]}"#
    ),
    example(
        ask = "Which names have age above 30?",
        ask = "Which names have age over 30?",
        ask = "Which names have an age of more than 30?",
        ask = "Which names have more than 30 age?",
        ask = "List the names with age above 30",
        ask = "List the names whose age is above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which names have age below 30?",
        ask = "Which names have age under 30?",
        ask = "Which names have an age of less than 30?",
        ask = "Which names have less than 30 age?",
        ask = "List the names with age below 30",
        ask = "List the names whose age is below 30",
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
        ask = "Which names have the city Bonn?",
        ask = "Which name is in Bonn?",
        ask = "List the names where city is Bonn",
        ask = "Names in Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What's Ada's age?",
        ask = "Ada's age",
        ask = "Age of Ada",
        ask = "What was the age of Ada?",
        ask = "What is the age for Ada?",
        ask = "Give me the age of Ada",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["age"],"filter":[{"operator":"eq","value":"Ada"}]}"#
    ),
    example(
        ask = "Show the rows for Bonn",
        ask = "Rows with Bonn",
        ask = "Show only Bonn",
        ask = "Filter the rows by Bonn",
        ask = "Which rows have Bonn?",
        ask = "Which rows are in Bonn?",
        ask = "Which rows are Bonn?",
        ask = "Which are in Bonn?",
        ask = "Which people are in Bonn?",
        ask = "Which items are in Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows with age above 30",
        ask = "Show the rows with age over 30",
        ask = "Show the rows with more than 30 age",
        ask = "Show the rows whose age is above 30",
        ask = "Which rows have age above 30?",
        ask = "Which rows have age over 30?",
        ask = "Which rows have more than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Show the rows with age below 30",
        ask = "Show the rows with age under 30",
        ask = "Show the rows with less than 30 age",
        ask = "Which rows have age below 30?",
        ask = "Which rows have fewer than 30 age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the rows with age at least 30",
        ask = "Which rows have age 30 or more?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":30}]}"#
    ),
    example(
        ask = "List the 2 rows with the largest age",
        ask = "Which 2 rows have the highest age?",
        ask = "Show the 2 highest rows by age",
        ask = "Show the 2 largest rows by age",
        ask = "Show the 2 largest by age",
        ask = "Show the 2 highest by age",
        ask = "List the 2 largest rows by age",
        ask = "Top 2 rows by age",
        ask = "Top 2 by age",
        ask = "Show the 2 rows with the most age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":2}"#
    ),
    example(
        ask = "List the 2 rows with the smallest age",
        ask = "Which 2 rows have the lowest age?",
        ask = "Show the 2 smallest rows by age",
        ask = "Bottom 2 rows by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":2}"#
    ),
    example(
        ask = "Which row has the largest age?",
        ask = "Which person has the highest age?",
        ask = "Row with the highest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which row has the smallest age?",
        ask = "Which row has the least age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Sort the rows by age from highest to lowest",
        ask = "Sort the rows by age, largest first",
        ask = "Sort by age descending",
        ask = "Show the rows sorted by age, highest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "Sort by age",
        ask = "Order by age",
        ask = "Show the rows sorted by age",
        ask = "Sort the rows by age, lowest first",
        ask = "Sort the rows by age from lowest to highest",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Top 2 regions by sales",
        ask = "Which 2 regions have the most sales?",
        ask = "What are the 2 regions with the most sales?",
        ask = "Show the 2 regions with the highest sales",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":2}"#
    ),
    example(
        ask = "How many rows are there in each city?",
        ask = "How many are there in each city?",
        ask = "How many are in each city?",
        ask = "How many people are in each city?",
        ask = "How many people per city?",
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
        ask = "Which rows are there?",
        ask = "Show all people",
        ask = "Show the data",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n"}"#
    ),
    example(
        ask = "Show the rows with age at most 30",
        ask = "Show the rows with age 30 or less",
        ask = "Show the rows where age is at most 30",
        ask = "Which rows have age at most 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"le","value":30}]}"#
    ),
    example(
        ask = "Show the rows with city Bonn",
        ask = "Show the rows whose city is Bonn",
        ask = "Show the rows that have city Bonn",
        ask = "Show the rows with Bonn as city",
        ask = "Show the rows with Bonn as the city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Which region has the highest total sales?",
        ask = "Which region has the most sales?",
        ask = "What region has the highest sum of sales?",
        ask = "Which region had the highest total sales in this table?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","group_by":"region","aggregate":"sum","column":"sales","sort":"descending","limit":1}"#,
        output = r#"{"rows":[{"region":"North","sum_sales":30}],"columns":["region","sum_sales"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Which region has the lowest total sales?",
        ask = "Which region has the least sales?",
        ask = "What region has the lowest sum of sales?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","group_by":"region","aggregate":"sum","column":"sales","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "What is the average age?",
        ask = "What is the mean age?",
        ask = "What is the average of age in this table?",
        ask = "Average age",
        ask = "Calculate the average age",
        ask = "What's the average of the age column?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"mean","column":"age"}"#,
        output = r#"{"rows":[{"mean_age":34.6666666666667}],"columns":["mean_age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the total sales?",
        ask = "Sum of sales",
        ask = "Total sales",
        ask = "What is the total of the sales column?",
        ask = "What are the total sales?",
        ask = "What is the sum of sales?",
        ask = "Add up the sales",
        ask = "Total of the sales column",
        ask = "How much is sales in total?",
        ask = "How much sales are there in total?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","aggregate":"sum","column":"sales"}"#,
        output = r#"{"rows":[{"sum_sales":55}],"columns":["sum_sales"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the highest age?",
        ask = "What is the maximum age?",
        ask = "What is the largest age in this table?",
        ask = "Highest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age"}"#
    ),
    example(
        ask = "What is the lowest age?",
        ask = "What is the minimum age?",
        ask = "What is the smallest age in this table?",
        ask = "Lowest age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age"}"#
    ),
    example(
        ask = "What is the median age?",
        ask = "What is the median of age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"median","column":"age"}"#
    ),
    example(
        ask = "How many rows are there?",
        ask = "How many rows does this table have?",
        ask = "How many rows are in this table?",
        ask = "How many rows are in this file?",
        ask = "How many entries are in this table?",
        ask = "How many records are in this table?",
        ask = "Count the rows",
        ask = "How many entries are in this file?",
        ask = "Number of rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count"}"#,
        output = r#"{"rows":[{"count":3}],"columns":["count"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "How many rows are there for each city?",
        ask = "How many rows per city?",
        ask = "Count the rows by city",
        ask = "How many rows does each city have?",
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
        ask = "What are the total sales per region?",
        ask = "What is the total sales by region?",
        ask = "Total sales for each region",
        ask = "Sum of sales by region",
        ask = "Sales by region",
        ask = "Sum the sales for each region",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "What is the average age per city?",
        ask = "What is the average age for each city?",
        ask = "Average age by city",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city"}"#
    ),
    example(
        ask = "Which city has the highest average age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which city has the lowest average age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","group_by":"city","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "What is the highest sales per region?",
        ask = "What is the maximum sales for each region?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"max","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "What is the lowest sales per region?",
        ask = "What is the minimum sales for each region?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"min","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "Which name has the highest age?",
        ask = "What name has the largest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"max","column":"age","group_by":"name","sort":"descending","limit":1}"#
    ),
    example(
        ask = "Which name has the lowest age?",
        ask = "What name has the smallest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"min","column":"age","group_by":"name","sort":"ascending","limit":1}"#
    ),
    example(
        ask = "Show the rows where city is Bonn",
        ask = "List all rows where city is Bonn",
        ask = "Which rows have the city Bonn?",
        ask = "Show all rows with city Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows where age is above 30",
        ask = "List the rows where age is more than 30",
        ask = "Which rows have an age above 30?",
        ask = "Rows with age greater than 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"age","operator":"gt","value":30}]}"#,
        output = r#"{"rows":[{"name":"Ada","city":"Bonn","age":36},{"name":"Cyd","city":"Bonn","age":51}],"columns":["name","city","age"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Show the rows where age is below 30",
        ask = "List the rows where age is less than 30",
        ask = "Which rows have an age below 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Show the rows where age is at least 18",
        ask = "List the rows where age is 18 or more",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"ge","value":18}]}"#
    ),
    example(
        ask = "How many rows have an age above 30?",
        ask = "How many rows have an age of more than 30?",
        ask = "How many entries have an age above 30?",
        ask = "How many rows are there where age is more than 30?",
        ask = "Count the rows where age is above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "How many rows have an age below 30?",
        ask = "Count the rows where age is below 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "How many rows have the city Bonn?",
        ask = "How many rows are there where city is Bonn?",
        ask = "Count the rows where city is Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the average age where city is Bonn?",
        ask = "Average age where the city is Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"mean","column":"age","filter":[{"column":"city","operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"mean_age":43.5}],"columns":["mean_age"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What is the age of Ada?",
        ask = "What age is Ada?",
        ask = "Which age does Ada have?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","columns":["age"],"filter":[{"operator":"eq","value":"Ada"}]}"#,
        output = r#"{"rows":[{"age":36}],"columns":["age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows have Bonn?",
        ask = "How many rows are from Bonn?",
        ask = "How many rows contain Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"count","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "Show the rows with Bonn",
        ask = "List the rows from Bonn",
        ask = "Which rows contain Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the total sales of North?",
        ask = "What is the total sales for North?",
        ask = "What are the total sales in North?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "What is the average age of Bonn?",
        ask = "What is the average age in Bonn?",
        ask = "What is the average age for Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","aggregate":"mean","column":"age","filter":[{"operator":"eq","value":"Bonn"}]}"#
    ),
    example(
        ask = "What is the total sales where region is North?",
        ask = "Sum of sales where region is North",
        ask = "What are the total sales for the region North?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","filter":[{"column":"region","operator":"eq","value":"North"}]}"#
    ),
    example(
        ask = "List the name where age is above 30",
        ask = "Show the name of each row where age is above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "List every name",
        ask = "Show the name column",
        ask = "List the names",
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
        ask = "Show the top 2 rows by age",
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
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"sum","column":"sales","group_by":"region","sort":"descending","limit":2}"#
    ),
    example(
        ask = "Sort the rows by age",
        ask = "Sort this table by age",
        ask = "Order the rows by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"ascending"}"#
    ),
    example(
        ask = "Sort the rows by age in descending order",
        ask = "Sort the rows by age, highest first",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","column":"age","sort":"descending"}"#
    ),
    example(
        ask = "Show the first 2 rows",
        ask = "List the first 2 rows",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","limit":2}"#
    ),
    example(
        ask = "Show the table",
        ask = "Show all rows",
        ask = "List all rows",
        ask = "What is in this table?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n"}"#
    ),
    example(
        ask = "How many different cities are there?",
        ask = "How many unique cities are there?",
        ask = "How many distinct cities are there?",
        ask = "How many different cities are in this table?",
        ask = "Number of different cities",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count_distinct","column":"city"}"#,
        output = r#"{"rows":[{"count_distinct_city":2}],"columns":["count_distinct_city"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What are the different cities?",
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
        ask = "Which customers have a lamp?",
        ask = "List the customers with a lamp",
        ask = "Show the customers who ordered a lamp",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","columns":["customer"],"distinct":true,"filter":[{"operator":"eq","value":"lamp"}]}"#,
        output = r#"{"rows":[{"customer":"Ada"},{"customer":"Cyd"}],"columns":["customer"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Which names are in Bonn?",
        ask = "Which names have Bonn?",
        ask = "List the names in Bonn",
        ask = "List the names from Bonn",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","columns":["name"],"distinct":true,"filter":[{"operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"name":"Ada"},{"name":"Cyd"}],"columns":["name"],"row_count":2,"matched_rows":2}"#
    ),
    example(
        ask = "Which names have an age above 30?",
        ask = "Which names have an age over 30?",
        ask = "List the names with an age above 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Which names have an age below 30?",
        ask = "Which names have an age under 30?",
        ask = "List the names with an age below 30",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"lt","value":30}]}"#
    ),
    example(
        ask = "Which names have an age of 36?",
        ask = "List the names with age 36",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name"],"filter":[{"column":"age","operator":"eq","value":36}]}"#
    ),
    example(
        ask = "Show the rows where city is not Bonn",
        ask = "List all rows where city is not Bonn",
        ask = "Which rows are not from Bonn?",
        ask = "Which rows do not have the city Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","filter":[{"column":"city","operator":"ne","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"name":"Bob","city":"Kiel","age":17}],"columns":["name","city","age"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "How many rows do not have the city Bonn?",
        ask = "How many rows are there where city is not Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count","filter":[{"column":"city","operator":"ne","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"count":1}],"columns":["count"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where age is between 18 and 40",
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
        output = r#"{"rows":[{"count":1}],"columns":["count"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where age is over 30",
        ask = "Which rows have an age over 30?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","filter":[{"column":"age","operator":"gt","value":30}]}"#
    ),
    example(
        ask = "Show the rows where age is under 30",
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
        ask = "How many rows have the city Bonn and an age above 40?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"count","filter":[{"column":"city","operator":"eq","value":"Bonn"},{"column":"age","operator":"gt","value":40}]}"#,
        output = r#"{"rows":[{"count":1}],"columns":["count"],"row_count":1,"matched_rows":1}"#
    ),
    example(
        ask = "Show the rows where ordered is after 2026-03-01",
        ask = "Which rows have an ordered date after 2026-03-01?",
        ask = "List the rows with ordered after 2026-03-01",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
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
        output = r#"{"rows":[{"count":2}],"columns":["count"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What is the total price after 2026-03-01?",
        ask = "What is the total price where ordered is after 2026-03-01?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"sum","column":"price","filter":[{"column":"ordered","operator":"gt","date":"2026-03-01"}]}"#
    ),
    example(
        ask = "What percentage of the sales is North?",
        ask = "What share of the sales is from North?",
        ask = "What percent of sales is from North?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","aggregate":"share","column":"sales","filter":[{"operator":"eq","value":"North"}]}"#,
        output = r#"{"rows":[{"share_sales":54.55}],"columns":["share_sales"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What percentage of the rows is from Bonn?",
        ask = "What percentage of the rows have Bonn?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","aggregate":"share","filter":[{"operator":"eq","value":"Bonn"}]}"#,
        output = r#"{"rows":[{"share":66.67}],"columns":["share"],"row_count":1,"matched_rows":2}"#
    ),
    example(
        ask = "What is the share of sales per region?",
        ask = "What percentage of sales does each region have?",
        input = r#"{"csv":"region,sales\nNorth,10\nSouth,25\n","aggregate":"share","column":"sales","group_by":"region"}"#
    ),
    example(
        ask = "What is the earliest ordered date?",
        ask = "What is the first ordered date?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"min","column":"ordered"}"#,
        output = r#"{"rows":[{"min_ordered":"2026-02-28"}],"columns":["min_ordered"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "What is the latest ordered date?",
        ask = "What is the last ordered date?",
        input = r#"{"csv":"customer,item,ordered,price\nAda,lamp,2026-03-05,30\nBob,chair,2026-02-28,120\nCyd,lamp,2026-04-02,20\n","aggregate":"max","column":"ordered"}"#,
        output = r#"{"rows":[{"max_ordered":"2026-04-02"}],"columns":["max_ordered"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Who has the highest age?",
        ask = "Show the row with the highest age",
        ask = "Which row has the highest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","column":"age","sort":"descending","limit":1}"#,
        output = r#"{"rows":[{"name":"Cyd","city":"Bonn","age":51}],"columns":["name","city","age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "Who has the lowest age?",
        ask = "Show the row with the lowest age",
        ask = "Which row has the lowest age?",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\nBob,Kiel,17\nCyd,Bonn,51\n","column":"age","sort":"ascending","limit":1}"#,
        output = r#"{"rows":[{"name":"Bob","city":"Kiel","age":17}],"columns":["name","city","age"],"row_count":1,"matched_rows":3}"#
    ),
    example(
        ask = "How many different products are there per region?",
        ask = "How many different products does each region have?",
        input = r#"{"csv":"region,product,sales\nNorth,Pump,10\nSouth,Valve,25\nNorth,Valve,20\n","aggregate":"count_distinct","column":"product","group_by":"region"}"#
    ),
    example(
        ask = "Which 2 names have the highest age?",
        ask = "What are the 2 names with the highest age?",
        ask = "Top 2 names by age",
        input = r#"{"csv":"name,city,age\nAda,Bonn,36\n","columns":["name","age"],"column":"age","sort":"descending","limit":2}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn csv_query(input: CsvQueryInput) -> Result<CsvQueryOutput> {
    query::run(&input).map_err(ToolError::validation)
}
