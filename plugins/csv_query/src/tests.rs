use art_sdk::decimal::Decimal;
use art_sdk::{serde_json, testing};
use proptest::prelude::*;

use super::*;

/// A table with numbers in several styles and an empty cell.
const SALES: &str = "Region,Product,Units Sold,Revenue\n\
    North,Tea,10,\"1,200.50\"\n\
    South,Tea,7,$900\n\
    north,Coffee,3,300\n\
    East,Coffee,,-50\n";

/// A table with semicolons, decimal commas and a missing value.
const SCORES: &str = "name;score\nAda;3,5\nBob;1.204,25\nCyd;NA\n";

/// Runs a query about the table `csv`.
fn query(mut input: Value, csv: &str) -> Result<Value, String> {
    input["csv"] = csv.into();
    let input: CsvQueryInput = serde_json::from_value(input).map_err(|error| error.to_string())?;
    query::run(&input)
        .map(|output| serde_json::to_value(output).unwrap())
        .map_err(|error| error.to_string())
}

/// Checks that a query returns exactly these rows.
#[track_caller]
fn assert_rows(input: Value, csv: &str, expected: Value) {
    assert_eq!(query(input, csv).map(|output| output["rows"].clone()), Ok(expected));
}

/// Checks that a query fails with exactly this message.
#[track_caller]
fn assert_error(input: Value, csv: &str, expected: &str) {
    assert_eq!(query(input, csv).unwrap_err(), expected);
}

#[test]
fn columns_with_an_aggregate_and_the_maximum_of_a_text_column_are_refused() {
    let csv = "name,city,age,start\nAda,Bonn,36,08:00\nBob,Kiel,17,09:30\n";
    let grouped_with_columns = json!({"aggregate": "sum", "column": "age", "group_by": "city", "columns": ["name"]});
    assert!(query(grouped_with_columns, csv).unwrap_err().contains("`columns`"));
    let maximum_of_names = json!({"aggregate": "max", "column": "name"});
    assert!(query(maximum_of_names, csv).unwrap_err().contains("not numeric"));
    // A column of times has a maximum.
    let latest_time = json!({"aggregate": "max", "column": "start"});
    assert_eq!(query(latest_time, csv).unwrap()["rows"][0]["max_start"], "09:30");
}

#[test]
fn what_precedes_the_header_is_left_out() {
    let rows = json!([{"name": "Ada", "age": 36}, {"name": "Bob", "age": 17}]);
    let table = "name;age\nAda;36\nBob;17\n";
    for preamble in [
        "sep=;\n",
        "SEP=;\r\n",
        "# exported, by hand\n#\n",
        "People\nof 2026\n\n",
        "\u{feff}sep=;\n\n",
        "# a; b; c; d\n\n",
    ] {
        assert_rows(json!({}), &format!("{preamble}{table}"), rows.clone());
    }
    assert_rows(json!({}), "sep=|\na,b|c\nx,y|3\n", json!([{"a,b": "x,y", "c": 3}]));
    // These are headers.
    assert_rows(json!({}), "#,name\n1,Ada\n", json!([{"#": 1, "name": "Ada"}]));
    assert_rows(
        json!({}),
        "name\nAda\n\nBob\n",
        json!([{"name": "Ada"}, {"name": "Bob"}]),
    );
    assert_rows(json!({}), "#name\nAda\n", json!([{"#name": "Ada"}]));
    assert_rows(json!({}), "# Name\nAda\n", json!([{"# Name": "Ada"}]));
    let reviews = "comment\nGreat\n\nGood, thanks\nBad, really\n";
    let given = json!({"delimiter": ";", "limit": 1});
    assert_rows(given, reviews, json!([{"comment": "Great"}]));
    assert_rows(json!({}), "sep=^\na^b\n1^2\n", json!([{"a": 1, "b": 2}]));
    assert_rows(
        json!({"limit": 1}),
        "comment\nGreat\n\nGood; thanks\n",
        json!([{"comment": "Great"}]),
    );
    // The lines are those of the whole text.
    let error = query(json!({}), "# one\n\nTitle\n\na,b\n1,2\n3\n").unwrap_err();
    assert!(error.contains("line 7 has 1 fields"), "{error}");
}

#[test]
fn a_quoted_field_may_follow_a_blank() {
    let table = "name, note\nAda,  \"a, \"\"b\"\", c\"\nBob, 5 \" disk\n \"Cyd\" ,\" d\"\n";
    let expected = json!([
        {"name": "Ada", "note": "a, \"b\", c"},
        {"name": "Bob", "note": "5 \" disk"},
        {"name": "Cyd", "note": "d"},
    ]);
    assert_rows(json!({}), table, expected);
}

const PETS: &str = "pet,species,weight_kg,age,remote,insured,born\n\
    Rex,dog,37.8,4,yes,no,2020-05-01\n\
    Miso,cat,4.1,9,no,yes,2015-02-01\n";

#[test]
fn an_adjective_refers_to_the_only_column_that_fits() {
    let first_pet = |superlative: &str| json!({"columns": ["pet"], "limit": 1, "superlative": superlative});
    assert_rows(first_pet("heaviest"), PETS, json!([{"pet": "Rex"}]));
    assert_rows(first_pet("lightest"), PETS, json!([{"pet": "Miso"}]));
    // Two columns, `age` and `born`, fit `oldest`, and none fits `longest`.
    assert!(query(first_pet("oldest"), PETS).unwrap_err().contains("`age`, `born`"));
    assert!(query(first_pet("longest"), PETS).unwrap_err().contains("none"));
}

#[test]
fn a_comparison_by_an_adjective_checks_the_unit() {
    let lighter =
        |unit: &str| json!({"columns": ["pet"], "filter": [{"comparative": "lighter", "value": 5, "unit": unit}]});
    assert_rows(lighter("kg"), PETS, json!([{"pet": "Miso"}]));
    assert!(query(lighter("pounds"), PETS).unwrap_err().contains("`weight_kg`"));
    let with_comparative_and_operator = json!({"filter": [{"comparative": "older", "operator": "gt", "value": 5}]});
    assert!(query(with_comparative_and_operator, PETS).is_err());
    let older = json!({"columns": ["pet"], "filter": [{"comparative": "older", "value": 5, "unit": "years"}]});
    assert_rows(older, PETS, json!([{"pet": "Miso"}]));
}

#[test]
fn min_at_the_start_of_a_column_name_is_no_unit_and_km_h_is_the_unit_kmh() {
    let is_accepted = |column: &str, unit: &str| {
        let filter = json!({"column": column, "operator": "gt", "value": 5, "unit": unit});
        query(json!({"filter": [filter]}), &format!("name,{column}\nx,6\n")).is_ok()
    };
    assert!(is_accepted("min_weight", "kg"));
    assert!(is_accepted("speed_km_h", "kmh"));
    assert!(!is_accepted("duration_min", "kg"));
    assert!(!is_accepted("distance_km", "kmh"));
}

#[test]
fn the_error_for_an_adjective_with_a_column_or_an_operator_names_that_field() {
    for (field, value) in [("column", "age"), ("operator", "gt")] {
        let mut filter = json!({"comparative": "older", "value": 5});
        filter[field] = value.into();
        let expected = format!("`comparative` and `{field}` do not go together: leave one of them out");
        assert_error(json!({"filter": [filter]}), PETS, &expected);
    }
}

#[test]
fn the_error_for_a_wrong_unit_names_the_unit_as_the_filter_writes_it() {
    for unit in ["degrees", "minutes", "dollars", "kmh"] {
        let filter = json!({"column": "weight_kg", "operator": "gt", "value": 5, "unit": unit});
        let expected = format!("column `weight_kg` is not in `{unit}`: give the number in the unit of the column");
        assert_error(json!({"filter": [filter]}), PETS, &expected);
    }
}

#[test]
fn a_column_of_temperatures_is_in_degrees() {
    for column in ["temp", "temperature_c", "degrees"] {
        let filter = json!({"column": column, "operator": "gt", "value": 20, "unit": "degrees"});
        let output = query(json!({"filter": [filter]}), &format!("{column}\n19\n21\n")).unwrap();
        assert_eq!(output["matched_rows"], 1, "{column}");
    }
}

#[test]
fn a_condition_without_a_column_uses_the_only_column_that_fits() {
    let pets_where_any_column =
        |operator: &str, value: &str| json!({"columns": ["pet"], "filter": [{"operator": operator, "value": value}]});
    assert_rows(pets_where_any_column("eq", "cat"), PETS, json!([{"pet": "Miso"}]));
    assert_rows(pets_where_any_column("ne", "cat"), PETS, json!([{"pet": "Rex"}]));
    // No column contains `fish`, and two columns contain `yes`.
    assert_rows(pets_where_any_column("eq", "fish"), PETS, json!([]));
    assert!(
        query(pets_where_any_column("eq", "yes"), PETS)
            .unwrap_err()
            .contains("`remote`, `insured`")
    );
    // Without a column that contains `fish`, `ne` fails instead of matching every row.
    assert!(query(pets_where_any_column("ne", "fish"), PETS).is_err());
    let after = json!({"columns": ["pet"], "filter": [{"operator": "gt", "date": "2016-01-01"}]});
    assert_rows(after, PETS, json!([{"pet": "Rex"}]));
}

#[test]
fn a_condition_without_a_column_checks_the_unit_of_the_column_that_it_finds() {
    let heights = "name,height_cm\nAda,170\nBob,180\n";
    let taller = |unit: &str| json!({"columns": ["name"], "filter": [{"operator": "gt", "value": 175, "unit": unit}]});
    assert_rows(taller("cm"), heights, json!([{"name": "Bob"}]));
    assert_error(
        taller("kg"),
        heights,
        "column `height_cm` is not in `kg`: give the number in the unit of the column",
    );
}

#[test]
fn a_filter_with_a_value_and_a_date_is_refused() {
    let filter = json!({"column": "born", "operator": "gt", "value": "2016-01-01", "date": "2019-01-01"});
    assert_error(
        json!({"filter": [filter]}),
        PETS,
        "`value` and `date` do not go together: leave one of them out",
    );
}

#[test]
fn a_count_is_refused_if_counted_rows_repeat_a_value_in_the_column_given_as_noun() {
    // `noun` is the column of the things that a question counts: `pet` for "how many pets".
    let count = |noun: &str| json!({"aggregate": "count", "noun": noun});
    assert_eq!(query(count("pet"), PETS).unwrap()["value"], json!(2));
    assert!(query(count("product"), SALES).unwrap_err().contains("`Product`"));
}

#[test]
fn a_single_value_is_also_returned_outside_the_rows() {
    let output = query(json!({"aggregate": "max", "column": "age"}), PETS).unwrap();
    assert_eq!(output["value"], json!(9));
    let rows = query(json!({"columns": ["pet"]}), PETS).unwrap();
    assert!(rows.get("value").is_none());
    let column_count = query(json!({"about": "column_count"}), PETS).unwrap();
    assert_eq!(column_count["value"], json!(7));
}

#[test]
fn fields_that_would_be_ignored_are_refused() {
    let distinct_count = json!({"aggregate": "count", "distinct": true});
    assert!(query(distinct_count, PETS).unwrap_err().contains("`distinct`"));
    let sorted_maximum = json!({"aggregate": "max", "column": "age", "sort": "ascending"});
    assert!(query(sorted_maximum, PETS).unwrap_err().contains("`sort`"));
}

#[test]
fn distinct_or_superlative_with_group_by_or_aggregate_is_refused_with_both_names() {
    // `distinct` and `superlative` are for lists of single rows, but `group_by` and `aggregate` combine rows.
    for (field, value) in [("distinct", json!(true)), ("superlative", json!("heaviest"))] {
        for (other, other_value) in [("group_by", "species"), ("aggregate", "count")] {
            let mut input = json!({field: value});
            input[other] = other_value.into();
            let expected = format!("`{field}` and `{other}` do not go together: leave one of them out");
            assert_error(input, PETS, &expected);
        }
    }
}

#[test]
fn a_field_that_does_not_go_with_the_field_about_is_named_in_the_error() {
    for (field, value) in [
        ("filter", json!([{"operator": "eq", "value": "cat"}])),
        ("group_by", json!("species")),
        ("aggregate", json!("count")),
        ("column", json!("age")),
        ("sort", json!("ascending")),
        ("superlative", json!("heaviest")),
        ("columns", json!(["pet"])),
        ("distinct", json!(true)),
        ("noun", json!("pet")),
    ] {
        let mut input = json!({"about": "columns"});
        input[field] = value;
        let expected = format!("`about` and `{field}` do not go together: leave one of them out");
        assert_error(input, PETS, &expected);
    }
}

#[test]
fn sort_and_limit_return_the_group_with_the_highest_total() {
    let input =
        json!({"group_by": "region", "aggregate": "sum", "column": "revenue", "sort": "descending", "limit": 1});
    let output = query(input, SALES).unwrap();
    assert_eq!(output["columns"], json!(["Region", "sum_Revenue"]));
    assert_eq!(output["rows"], json!([{"Region": "North", "sum_Revenue": 1500.5}]));
    assert_eq!((&output["row_count"], &output["matched_rows"]), (&json!(1), &json!(4)));
}

#[test]
fn counts_sums_means_extremes_and_medians_ignore_empty_cells() {
    let value = |aggregate: &str| {
        let output = query(json!({"aggregate": aggregate, "column": "Units Sold"}), SALES).unwrap();
        output["rows"][0][format!("{aggregate}_Units Sold")].clone()
    };
    let values = ["count", "sum", "mean", "min", "max", "median"].map(value);
    assert_eq!(
        values,
        [
            json!(3),
            json!(20),
            json!(6.66666666666667),
            json!(3),
            json!(10),
            json!(7)
        ]
    );
}

#[test]
fn ignored_empty_cells_are_noted() {
    let output = query(json!({"aggregate": "mean", "column": "units_sold"}), SALES).unwrap();
    assert_eq!(output["notes"], json!(["1 empty cells of `Units Sold` were ignored"]));
}

#[test]
fn filters_compare_numbers_as_numbers_and_text_in_any_case() {
    let count_where = |column: &str, operator: &str, value: Value| {
        let input = json!({"filter": [{"column": column, "operator": operator, "value": value}]});
        query(input, SALES).unwrap()["matched_rows"].as_u64().unwrap()
    };
    assert_eq!(count_where("revenue", "gt", json!(300)), 2);
    assert_eq!(count_where("revenue", "ge", json!("$300")), 3);
    assert_eq!(count_where("revenue", "lt", json!(0)), 1);
    assert_eq!(count_where("revenue", "le", json!(900)), 3);
    assert_eq!(count_where("REGION", "eq", json!("NORTH")), 2);
    assert_eq!(count_where("region", "ne", json!("north")), 2);
    assert_eq!(count_where("product", "contains", json!("off")), 2);
    assert_eq!(count_where("product", "starts_with", json!("t")), 2);
    assert_eq!(count_where("units sold", "eq", json!(10)), 1);
}

const ORDERS: &str = "customer,item,ordered,price\n\
    Ada,lamp,5 March 2026,$30\n\
    Bob,chair,28 Feb 2026,\"$1,120\"\n\
    Cyd,lamp,2 April 2026,$20\n\
    Ada,desk,17 March 2026,$230\n";

#[test]
fn filters_compare_dates_as_dates() {
    let customers_where = |filter: Value| {
        let output = query(json!({"filter": [filter], "columns": ["customer"]}), ORDERS).unwrap();
        let rows = output["rows"].as_array().unwrap().iter();
        rows.map(|row| row["customer"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let customers_with_date =
        |operator: &str, date: &str| customers_where(json!({"column": "ordered", "operator": operator, "date": date}));
    assert_eq!(customers_with_date("gt", "2026-03-05"), ["Cyd", "Ada"]);
    assert_eq!(customers_with_date("ge", "5 March 2026"), ["Ada", "Cyd", "Ada"]);
    assert_eq!(customers_with_date("lt", "March 2026"), ["Bob"]);
    assert_eq!(customers_with_date("eq", "March 2026"), ["Ada", "Ada"]);
    assert_eq!(
        customers_where(json!({"column": "ordered", "operator": "gt", "value": "2026-03-31"})),
        ["Cyd"]
    );
    let between = json!({"column": "ordered", "operator": "between", "date": "2026-03-01", "until": "31 March 2026"});
    assert_eq!(customers_where(between), ["Ada", "Ada"]);
    let date_filter_on_text_column = json!({"filter": [{"column": "item", "operator": "gt", "date": "2026-03-05"}]});
    let expected =
        "cannot compare column `item` with the date `2026-03-05`: write it as `2026-03-05`, and name a column of dates";
    assert_error(date_filter_on_text_column, ORDERS, expected);
}

#[test]
fn a_year_is_compared_with_dates_as_a_period() {
    let rows = [
        ("2025-12-31", "31 December 2025"),
        ("2026-01-01", "1 January 2026"),
        ("2026-12-31", "31 December 2026"),
        ("2027-01-01", "1 January 2027"),
    ];
    let csv = rows.map(|(iso, words)| format!("{iso},{words}\n")).concat();
    let csv = format!("built,opened\n{csv}");
    for column in ["built", "opened"] {
        for (operator, matched) in [("lt", 1), ("le", 3), ("gt", 1), ("ge", 3)] {
            for year in [json!("2026"), json!(2026)] {
                let input = json!({"filter": [{"column": column, "operator": operator, "value": year}]});
                assert_eq!(
                    query(input, &csv).unwrap()["matched_rows"],
                    matched,
                    "{column} {operator}"
                );
            }
        }
    }
}

#[test]
fn a_month_is_compared_with_dates_as_a_period() {
    let count_where = |operator: &str| {
        let input = json!({"filter": [{"column": "ordered", "operator": operator, "value": "2026-03"}]});
        query(input, ORDERS).unwrap()["matched_rows"].as_u64().unwrap()
    };
    assert_eq!(["lt", "le", "gt", "ge"].map(count_where), [1, 3, 1, 3]);
}

#[test]
fn a_date_contains_its_year_and_does_not_equal_it() {
    // These operators compare a year alone as text, unlike a month such as `March 2026`, which `eq` compares as a period.
    let orders = "id,ordered\n1,2026-03-05\n2,2027-02-28\n";
    for (operator, matched) in [("eq", 0), ("ne", 2), ("contains", 1), ("starts_with", 1)] {
        let input = json!({"filter": [{"column": "ordered", "operator": operator, "value": "2026"}]});
        assert_eq!(query(input, orders).unwrap()["matched_rows"], matched, "{operator}");
    }
}

#[test]
fn between_needs_two_bounds_and_a_column_of_numbers_or_dates() {
    let between = json!([{"column": "price", "operator": "between", "value": 20, "upper": 300}]);
    let input = json!({"filter": between, "columns": ["item"], "distinct": true});
    assert_rows(input, ORDERS, json!([{"item": "lamp"}, {"item": "desk"}]));
    let without_upper = json!({"filter": [{"column": "price", "operator": "between", "value": 20}]});
    assert_error(
        without_upper,
        ORDERS,
        "a filter with `between` needs `value` and `upper`",
    );
    let text = json!({"filter": [{"column": "item", "operator": "between", "value": "a"}]});
    assert_error(
        text,
        ORDERS,
        "a filter with `between` needs a column of numbers or dates",
    );
}

#[test]
fn a_date_without_a_column_is_searched_for_in_the_only_column_of_dates() {
    let csv = "a,ordered\nx 2026-03,2026-03-05\ny 2026-03,2026-04-05\n";
    for operator in ["contains", "starts_with"] {
        let input = json!({"filter": [{"operator": operator, "date": "2026-03"}], "columns": ["ordered"]});
        assert_rows(input, csv, json!([{"ordered": "2026-03-05"}]));
    }
}

#[test]
fn a_search_for_a_date_without_a_column_fails_if_the_table_has_no_dates() {
    let input = json!({"filter": [{"operator": "contains", "date": "2026-03"}]});
    assert_error(
        input,
        "a,b\nx 2026-03,y\n",
        "`2026-03` can be in none: name the column of the condition in `column`",
    );
}

#[test]
fn a_year_given_as_date_without_a_column_is_not_compared_with_numbers() {
    let csv = "a,ordered,price\nx,2026-03-05,3000\ny,2027-03-05,20\n";
    let input = json!({"filter": [{"operator": "gt", "date": "2026"}], "columns": ["a"]});
    assert_rows(input, csv, json!([{"a": "y"}]));
}

#[test]
fn between_two_years_includes_the_whole_of_both() {
    let csv = "built\n2024-12-31\n2025-01-01\n2026-12-31\n2027-01-01\n";
    for mut filter in [
        json!({"value": "2025", "until": "2026"}),
        json!({"value": 2025, "upper": 2026}),
        json!({"date": "2025", "until": "2026"}),
        json!({"date": "2025-01-01", "until": "2026"}),
    ] {
        filter["column"] = json!("built");
        filter["operator"] = json!("between");
        let input = json!({"filter": [filter]});
        assert_rows(input, csv, json!([{"built": "2025-01-01"}, {"built": "2026-12-31"}]));
    }
}

#[test]
fn dates_are_sorted_chronologically() {
    let input = json!({"column": "ordered", "sort": "ascending", "columns": ["customer"], "limit": 2});
    assert_rows(input, ORDERS, json!([{"customer": "Bob"}, {"customer": "Ada"}]));
    let latest = json!({"aggregate": "max", "column": "ordered"});
    assert_rows(latest, ORDERS, json!([{"max_ordered": "2 April 2026"}]));
}

#[test]
fn repeated_values_are_counted_and_listed_once() {
    let count = json!({"aggregate": "count_distinct", "column": "item"});
    assert_rows(count, ORDERS, json!([{"count_distinct_item": 3}]));
    let list = json!({"columns": ["customer"], "distinct": true});
    assert_rows(
        list,
        ORDERS,
        json!([{"customer": "Ada"}, {"customer": "Bob"}, {"customer": "Cyd"}]),
    );
}

#[test]
fn a_share_is_a_percentage_of_the_total() {
    let lamps = json!([{"operator": "eq", "value": "lamp"}]);
    let of_price = json!({"aggregate": "share", "column": "price", "filter": lamps});
    assert_rows(of_price, ORDERS, json!([{"share_price": 3.57}]));
    assert_rows(
        json!({"aggregate": "share", "filter": lamps}),
        ORDERS,
        json!([{"share": 50}]),
    );
    let by_customer = json!({"aggregate": "share", "group_by": "customer"});
    let expected =
        json!([{"customer": "Ada", "share": 50}, {"customer": "Bob", "share": 25}, {"customer": "Cyd", "share": 25}]);
    assert_rows(by_customer, ORDERS, expected);
}

#[test]
fn every_filter_has_to_match() {
    let filter = json!([
        {"column": "region", "operator": "eq", "value": "north"},
        {"column": "product", "operator": "eq", "value": "tea"},
    ]);
    assert_rows(
        json!({"filter": filter, "columns": ["product", "region"]}),
        SALES,
        json!([{"Product": "Tea", "Region": "North"}]),
    );
}

#[test]
fn rows_are_sorted_with_empty_cells_last() {
    // Without `column`, the rows are sorted by the only numeric column, `score`.
    let names = |sort: &str| {
        let output = query(json!({"sort": sort}), SCORES).unwrap();
        output["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("descending"), ["Bob", "Ada", "Cyd"]);
    assert_eq!(names("ascending"), ["Ada", "Bob", "Cyd"]);
}

#[test]
fn decimal_commas_and_delimiters_are_recognized() {
    let expected =
        json!([{"name": "Ada", "score": 3.5}, {"name": "Bob", "score": 1204.25}, {"name": "Cyd", "score": null}]);
    assert_rows(json!({}), SCORES, expected);
    assert_rows(json!({}), "a\tb\n1\t2\n", json!([{"a": 1, "b": 2}]));
    assert_rows(
        json!({"delimiter": "pipe"}),
        "a|b\n1|x,y\n",
        json!([{"a": 1, "b": "x,y"}]),
    );
}

#[test]
fn grouping_without_aggregate_sums_the_only_numeric_column_or_counts_rows() {
    let with_one_numeric_column = "city,amount\nBonn,2\nKiel,5\nBonn,4\n";
    assert_rows(
        json!({"group_by": "city"}),
        with_one_numeric_column,
        json!([{"city": "Bonn", "sum_amount": 6}, {"city": "Kiel", "sum_amount": 5}]),
    );
    let expected = json!([{"Product": "Tea", "count": 2}, {"Product": "Coffee", "count": 2}]);
    assert_rows(json!({"group_by": "product"}), SALES, expected);
}

#[test]
fn count_without_column_counts_rows() {
    assert_rows(json!({"aggregate": "count"}), SALES, json!([{"count": 4}]));
}

#[test]
fn an_aggregate_column_is_renamed_if_the_group_column_has_the_same_name() {
    let output = query(
        json!({"group_by": "count", "aggregate": "count"}),
        "count,n\n7,1\n8,2\n7,3\n",
    )
    .unwrap();
    assert_eq!(output["columns"], json!(["count", "count_2"]));
    assert_eq!(
        output["rows"],
        json!([{"count": 7, "count_2": 2}, {"count": 8, "count_2": 1}])
    );
}

#[test]
fn the_maximum_of_dates_is_the_latest_date() {
    let csv = "day,n\n2026-01-05,1\n2025-12-31,2\n";
    assert_rows(
        json!({"aggregate": "max", "column": "day"}),
        csv,
        json!([{"max_day": "2026-01-05"}]),
    );
}

const TRAINS: &str = "train,day,start\n\
    A,2026-03-05 10:00,10:00\n\
    B,2026-03-05 9:30,9:30\n\
    C,2026-03-04 23:00,1:15 pm\n";

#[test]
fn times_are_compared_by_the_clock_and_not_as_texts() {
    let extreme = |aggregate: &str, column: &str| {
        let output = query(json!({"aggregate": aggregate, "column": column}), TRAINS);
        output.unwrap()["value"].clone()
    };
    assert_eq!(extreme("min", "start"), "9:30");
    assert_eq!(extreme("max", "start"), "1:15 pm");
    assert_eq!(extreme("max", "day"), "2026-03-05 10:00");
    let latest_first = json!({"columns": ["train"], "column": "start", "sort": "descending"});
    assert_rows(
        latest_first,
        TRAINS,
        json!([{"train": "C"}, {"train": "A"}, {"train": "B"}]),
    );
    let earliest_train =
        json!({"group_by": "train", "aggregate": "min", "column": "start", "sort": "ascending", "limit": 1});
    assert_rows(earliest_train, TRAINS, json!([{"train": "B", "min_start": "9:30"}]));
    let before_ten = json!({"columns": ["train"], "filter": [{"column": "start", "operator": "lt", "value": "10:00"}]});
    assert_rows(before_ten, TRAINS, json!([{"train": "B"}]));
}

/// Checks that a column with these two dates is sorted, and that its minimum is the earlier date.
#[track_caller]
fn assert_earlier(earlier: &str, later: &str) {
    let csv = format!("t\n\"{later}\"\n\"{earlier}\"\n");
    let sorted = json!({"column": "t", "sort": "ascending"});
    assert_rows(sorted, &csv, json!([{"t": earlier}, {"t": later}]));
    let minimum = json!({"aggregate": "min", "column": "t"});
    assert_rows(minimum, &csv, json!([{"min_t": earlier}]));
}

#[test]
fn dates_with_offsets_from_utc_are_sorted_by_their_times_in_utc() {
    assert_earlier("2026-03-05T09:00:00Z", "2026-03-05T10:00:00Z");
    assert_earlier("2026-03-05 09:00:00 UTC", "2026-03-05 10:00:00 UTC");
    assert_earlier("2026-03-05T10:00:00+02:00", "2026-03-05T09:30:00+01:00");
    assert_earlier("2026-03-01T00:30:00+0200", "2026-02-28T23:00:00Z");
    assert_earlier("2026-03-01T04:00:00Z", "2026-02-28T23:30:00-05");
}

#[test]
fn dates_with_fractions_of_a_second_are_sorted_to_the_microsecond() {
    assert_earlier("2026-03-05T10:00:00", "2026-03-05T10:00:00.000001");
    assert_earlier("2026-03-05T10:00:00.12", "2026-03-05T10:00:00.5Z");
    assert_earlier("2026-03-05 10:00:00,1234567", "2026-03-05 10:00:00,1239");
}

#[test]
fn a_column_of_dates_can_be_searched_for_a_text() {
    let orders = "id,ordered\n1,2026-03-05\n2,2026-02-28\n3,2026-03-17\n";
    for (operator, value, matched) in [("starts_with", "2026-03", 2), ("contains", "2026-02-28", 1)] {
        let input = json!({"filter": [{"column": "ordered", "operator": operator, "value": value}]});
        assert_eq!(query(input, orders).unwrap()["matched_rows"], matched, "{operator}");
    }
}

#[test]
fn a_comparison_with_a_day_that_does_not_exist_is_refused() {
    for filter in [
        json!({"column": "ordered", "operator": "gt", "value": "2026-02-31"}),
        json!({"column": "ordered", "operator": "between", "date": "2026-02-01", "until": "2026-02-31"}),
    ] {
        let error = query(json!({"filter": [filter]}), ORDERS).unwrap_err();
        assert!(
            error.starts_with("cannot compare column `ordered` with the date `2026-02-31`"),
            "{error}"
        );
    }
}

#[test]
fn a_column_with_leading_zeros_is_text() {
    assert_rows(json!({}), "zip,n\n01067,1\n", json!([{"zip": "01067", "n": 1}]));
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let read = |cell| number::parse(cell, number::Style::Point);
    let cells_and_numbers = [
        ("1,234.5", 1234.5),
        ("(12)", -12.0),
        ("(-12)", -12.0),
        ("-$3", -3.0),
        ("$-3", -3.0),
        ("12 %", 12.0),
        ("1 000", 1000.0),
    ];
    cells_and_numbers
        .iter()
        .for_each(|(cell, value)| assert_eq!(read(cell).map(Decimal::to_f64), Some(*value), "{cell}"));
    [".5", "5.", "1e3", "EUR 7"]
        .iter()
        .for_each(|cell| assert!(read(cell).is_some(), "{cell}"));
    ["", "-", "--5", "1,23", "007", "12a", "1.2.3", "e5", "inf", "1e999"]
        .iter()
        .for_each(|cell| assert_eq!(read(cell), None, "{cell}"));
}

#[test]
fn errors_say_what_to_change() {
    assert_error(
        json!({"group_by": "city"}),
        SALES,
        "no column `city`; the columns are `Region`, `Product`, `Units Sold`, `Revenue`",
    );
    assert_error(
        json!({"aggregate": "sum"}),
        SALES,
        "name the column to aggregate in `column`; numeric columns: `Units Sold`, `Revenue`",
    );
    assert_error(
        json!({"aggregate": "sum", "column": "product"}),
        SALES,
        "column `Product` is not numeric (line 2 holds `Tea`), so it has no sum; numeric columns: `Units Sold`, `Revenue`",
    );
    assert_error(
        json!({"filter": [{"column": "revenue", "operator": "gt", "value": "much"}]}),
        SALES,
        "filter value `much` is not a number, but column `Revenue` is numeric: compare it with a number",
    );
    assert_error(
        json!({}),
        " \n",
        "the csv text is empty: give a header row and at least one data row",
    );
    assert_error(
        json!({}),
        "a,b\n1,2,3\n",
        "line 2 has 3 fields, the header has 2: quote fields that hold a `,`",
    );
    assert_error(
        json!({"delimiter": "ab"}),
        "a\n",
        "`delimiter` is `ab`: use one character such as `,`, `;`, `|` or a tab",
    );
}

#[test]
fn the_error_names_the_text_cell_and_not_a_number_with_a_decimal_comma() {
    assert_error(
        json!({"aggregate": "sum", "column": "n"}),
        "n;x\n1,5;1\nabc;2\n",
        "column `n` is not numeric (line 3 holds `abc`), so it has no sum; numeric columns: `x`",
    );
}

#[test]
fn the_error_for_a_mix_of_decimal_points_and_commas_shows_the_first_cell_with_a_comma() {
    assert_error(
        json!({"aggregate": "sum", "column": "n"}),
        "n;x\n2.5;1\n1,5;2\n",
        "column `n` is not numeric (line 3 holds `1,5`), so it has no sum; numeric columns: `x`",
    );
}

#[test]
fn empty_lines_count_in_the_line_numbers_of_errors() {
    for csv in ["\n\na,b\nx,1\n", "a,b\n\n\nx,1\n", "\u{feff}\r\na,b\r\n\r\nx,1\r\n"] {
        let sum_error = query(json!({"aggregate": "sum", "column": "a"}), csv).unwrap_err();
        assert!(sum_error.contains("(line 4 holds `x`)"), "{csv:?}: {sum_error}");
        let row_error = query(json!({}), &csv.replace(",1", "")).unwrap_err();
        assert!(row_error.starts_with("line 4 has 1 fields"), "{csv:?}: {row_error}");
    }
}

#[test]
fn the_line_number_in_an_error_counts_every_newline_before_the_row() {
    for csv in ["a,b\n1,1\nx,1\n", "a,b\r\n1,1\r\nx,1\r\n", "a,b\n\"1\n\",1\nx,1\n"] {
        let error = query(json!({"aggregate": "sum", "column": "a"}), csv).unwrap_err();
        let line = csv.split("x,1").next().unwrap_or_default().matches('\n').count() + 1;
        assert!(error.contains(&format!("(line {line} holds")), "{csv:?}: {error}");
    }
}

#[test]
fn unknown_fields_are_refused() {
    assert!(
        query(json!({"order": "up"}), SALES)
            .unwrap_err()
            .contains("unknown field `order`")
    );
}

#[test]
fn equal_and_empty_headers_get_unique_names() {
    assert_rows(json!({}), "a,a,\n1,2,3\n", json!([{"a": 1, "a_2": 2, "column_3": 3}]));
}

#[test]
fn a_large_table_is_truncated_with_a_note() {
    let csv = format!("n\n{}", "1\n".repeat(1500));
    let output = query(json!({}), &csv).unwrap();
    assert_eq!(
        (&output["row_count"], &output["matched_rows"]),
        (&json!(1000), &json!(1500))
    );
    assert_eq!(
        output["notes"],
        json!(["only the first 1000 rows are returned; narrow the filter"])
    );
}

#[test]
fn the_schema_refuses_unknown_fields_and_has_no_required_field() {
    let schema = CSV_QUERY.input_schema();
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
    // Neither `csv` nor `path` is required, since either of them is enough.
    assert_eq!(schema.get("required"), None);
    assert_eq!(schema["properties"]["filter"]["default"], json!([]));
    let value = &schema["properties"]["filter"]["items"]["properties"]["value"];
    assert_eq!(value["type"], json!(["string", "number", "boolean", "null"]));
}

#[test]
fn the_examples_return_their_outputs() {
    // An example with `path` reads a file that the test does not have.
    testing::check_where(&CSV_QUERY, |input| input.get("path").is_none());
}

proptest! {
    #[test]
    fn no_table_or_column_makes_the_tool_panic(csv in "[a,;\"\n\r0-9.$%() -]{0,60}", name in "[a-b,0]{0,3}") {
        let sorted = json!({"csv": csv, "column": name, "sort": "descending"});
        drop(testing::call(&CSV_QUERY, sorted));
        for aggregate in ["count", "sum", "mean", "min", "max", "median"] {
            drop(testing::call(&CSV_QUERY, json!({"csv": csv, "aggregate": aggregate, "group_by": "a"})));
        }
    }

    #[test]
    fn a_parsed_cell_is_a_finite_number(cell in "\\PC{0,12}") {
        for style in [number::Style::Point, number::Style::Comma] {
            prop_assert!(number::parse(&cell, style).is_none_or(|number| number.to_f64().is_finite()));
        }
    }
}

#[test]
fn a_table_is_read_from_a_file_or_from_the_text_but_not_from_both() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("sales.csv");
    std::fs::write(&path, "\u{feff}region,sales\nNorth,10\nSouth,25\n").unwrap();
    let total = testing::output(&CSV_QUERY, json!({"path": path, "aggregate": "sum", "column": "sales"}));
    assert_eq!(total["value"], 35);
    let refused = |input| testing::failure(&CSV_QUERY, input).message;
    assert!(refused(json!({"path": path, "csv": "a\n1\n"})).contains("do not go together"));
    assert!(refused(json!({"aggregate": "count"})).contains("there is no table"));
    assert!(refused(json!({"path": directory.path().join("none.csv")})).contains("there is no `"));
}

/// Identifiers that are the same number as floats.
const IDS: &str = "id,amount\n9007199254740993,0.1\n9007199254740992,0.2\n9007199254740994,1234567890123456.78\n";

#[test]
fn large_integers_are_filtered_sorted_grouped_and_printed_exactly() {
    let id = 9_007_199_254_740_993_u64;
    for filter in [
        json!({"column": "id", "operator": "eq", "value": id}),
        json!({"column": "id", "operator": "eq", "value": "9007199254740993"}),
        json!({"column": "id", "operator": "between", "value": id, "upper": id}),
        json!({"column": "id", "operator": "contains", "value": id}),
    ] {
        assert_rows(json!({"filter": [filter], "columns": ["id"]}), IDS, json!([{"id": id}]));
    }
    let greater = json!({"column": "id", "operator": "gt", "value": id});
    assert_rows(
        json!({"filter": [greater], "columns": ["id"]}),
        IDS,
        json!([{"id": id + 1}]),
    );
    let sorted = json!({"column": "id", "sort": "descending", "columns": ["id"]});
    assert_rows(sorted, IDS, json!([{"id": id + 1}, {"id": id}, {"id": id - 1}]));
    let value = |aggregate: &str, column: &str| {
        query(json!({"aggregate": aggregate, "column": column}), IDS).unwrap()["value"].clone()
    };
    assert_eq!(value("max", "id"), id + 1);
    assert_eq!(value("min", "id"), id - 1);
    assert_eq!(value("sum", "id"), id * 3);
    assert_eq!(value("mean", "id"), id);
    assert_eq!(value("median", "id"), id);
    assert_eq!(value("count_distinct", "id"), 3);
    let groups = query(json!({"group_by": "id", "aggregate": "count"}), IDS).unwrap();
    assert_eq!(groups["rows"][0]["id"], id);
}

#[test]
fn numbers_with_too_many_digits_for_json_are_texts() {
    assert_rows(
        json!({"columns": ["amount"]}),
        IDS,
        json!([{"amount": 0.1}, {"amount": 0.2}, {"amount": "1234567890123456.78"}]),
    );
    let csv = "n\n18446744073709551615\n18446744073709551616\n";
    let sum = query(json!({"aggregate": "sum", "column": "n"}), csv).unwrap();
    assert_eq!(sum["value"], "36893488147419103231");
    assert_rows(
        json!({"filter": [{"column": "n", "operator": "gt", "value": u64::MAX}]}),
        csv,
        json!([{"n": "18446744073709551616"}]),
    );
}
