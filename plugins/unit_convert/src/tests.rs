use art_sdk::testing;
use proptest::prelude::*;

use super::*;

/// Returns the output of a conversion.
fn convert(value: f64, from: &str, to: &str) -> Value {
    testing::output(&UNIT_CONVERT, json!({"value": value, "from": from, "to": to}))
}

#[track_caller]
fn assert_converts(value: f64, from: &str, to: &str, expected: f64) {
    let result = convert(value, from, to)["result"].as_f64().unwrap();
    assert!(
        (result - expected).abs() <= expected.abs() * 1e-14,
        "{value} {from} = {result} {to}, not {expected}"
    );
}

#[track_caller]
fn assert_fails(from: &str, to: &str, part_of_message: &str) {
    let message = testing::failure(&UNIT_CONVERT, json!({"value": 1, "from": from, "to": to})).message;
    assert!(message.contains(part_of_message), "{message}");
}

#[test]
fn factors_match_the_definitions() {
    assert_converts(72.0, "mph", "m/s", 32.18688);
    assert_converts(1.0, "mile", "km", 1.609344);
    assert_converts(6.0, "feet", "cm", 182.88);
    assert_converts(1.0, "nautical miles", "metres", 1852.0);
    assert_converts(1.0, "acre", "m^2", 4046.8564224);
    assert_converts(1.0, "US gallon", "litres", 3.785411784);
    assert_converts(1.0, "imperial pint", "ml", 568.26125);
    assert_converts(150.0, "lbs", "kg", 68.0388555);
    assert_converts(1.0, "stone", "pounds", 14.0);
    assert_converts(2.0, "weeks", "hours", 336.0);
    assert_converts(1.0, "atm", "psi", 14.695_948_775_513_45);
    assert_converts(760.0, "torr", "bar", 1.01325);
    assert_converts(1.0, "kWh", "MJ", 3.6);
    assert_converts(1.0, "kcal", "J", 4184.0);
    assert_converts(1.0, "BTU", "J", 1055.05585262);
    assert_converts(1.0, "hp", "W", 745.699_871_582_270_2);
    assert_converts(180.0, "degrees", "radians", std::f64::consts::PI);
    assert_converts(1.0, "turn", "arcsec", 1_296_000.0);
    assert_converts(3000.0, "rpm", "Hz", 50.0);
    assert_converts(1.0, "light year", "AU", 63_241.077_084_266_3);
}

#[test]
fn temperatures_are_converted_between_scales_with_different_zeros() {
    assert_converts(98.6, "F", "C", 37.0);
    assert_converts(-40.0, "degrees Celsius", "°F", -40.0);
    assert_converts(0.0, "kelvin", "celsius", -273.15);
    assert_converts(100.0, "c", "k", 373.15);
    assert_converts(9.0, "rankine", "kelvin", 5.0);
    // In this unit, a degree is a temperature difference, not a point on the scale.
    assert_converts(1.0, "J/(kg °C)", "J/kg/K", 1.0);
    assert_fails("m °C", "kelvin", "cannot convert length temperature to temperature");
}

#[test]
fn temperatures_below_absolute_zero_are_refused() {
    let error = testing::failure(&UNIT_CONVERT, json!({"value": -300, "from": "C", "to": "F"}));
    assert_eq!(error.message, "-300 degree Celsius is below absolute zero");
}

#[test]
fn the_second_temperature_of_a_quantity_is_a_difference() {
    let result = |value: f64, from: &str, to: &str| convert(value, from, to)["result"].clone();
    assert_eq!(
        result(20.5, "celsius", "celsius and kelvin"),
        "20 degrees Celsius 0.5 kelvins"
    );
    assert_eq!(
        result(-5.5, "celsius", "celsius and fahrenheit"),
        "minus 5 degrees Celsius 0.9 degrees Fahrenheit"
    );
    let input = json!({"value": 20, "from": "celsius", "extra_value": 9, "extra_unit": "fahrenheit", "to": "celsius"});
    assert_eq!(testing::output(&UNIT_CONVERT, input)["result"], 25);
    assert_converts(20.0, "kelvin 5 celsius", "kelvin", 25.0);
}

#[test]
fn signs_that_look_like_those_of_a_unit_mean_the_unit() {
    // The Greek letter, the sign for kelvin and the sign for angstrom.
    assert_converts(5.0, "μm", "mm", 0.005);
    assert_converts(5.0, "μg/m³", "mg/m³", 0.005);
    assert_converts(0.0, "\u{212a}", "celsius", -273.15);
    assert_converts(10.0, "\u{212b}", "nm", 1.0);
}

#[test]
fn data_units_are_converted_with_binary_and_decimal_prefixes() {
    assert_converts(1.0, "GiB", "MiB", 1024.0);
    assert_converts(1.0, "GB", "MB", 1000.0);
    assert_converts(8.0, "megabits", "MB", 1.0);
    assert_converts(500.0, "mb", "gb", 0.5);
    assert_converts(100.0, "Mbps", "MB/s", 12.5);
    assert_converts(1.0, "mebibyte", "bytes", 1_048_576.0);
}

#[test]
fn distance_per_volume_converts_to_volume_per_distance() {
    assert_converts(235.214_583_333_333_33, "mpg", "L/100km", 1.0);
    assert_converts(5.0, "litres per 100 km", "km/l", 20.0);
    assert_converts(10.0, "miles per gallon", "imperial mpg", 12.009_499_255_048_6);
    let error = testing::failure(&UNIT_CONVERT, json!({"value": 0, "from": "mpg", "to": "l/100km"}));
    assert_eq!(error.message, "a fuel economy of 0 has no inverse");
    assert_fails("L/100km m", "m", "cannot");
}

#[test]
fn compounds_may_be_symbols_or_words() {
    assert_converts(1.0, "g/cm3", "kg/m^3", 1000.0);
    assert_converts(1.0, "grams per cubic centimetre", "kg/m³", 1000.0);
    assert_converts(10.0, "feet per second squared", "m/s^2", 3.048);
    assert_converts(1.0, "square miles", "sq km", 2.589988110336);
    assert_converts(1.0, "cubic feet per minute", "litres/second", 0.471_947_443_2);
    assert_converts(1.0, "N*m", "joule", 1.0);
    assert_converts(1.0, "kg m s-2", "N", 1.0);
    assert_converts(1.0, "1/s", "Hz", 1.0);
    assert_converts(60.0, "miles per hour", "km/h", 96.56064);
    assert_converts(1.0, "pounds per square inch", "Pa", 6_894.757_293_168_361);
    assert_converts(1.0, "kilowatt-hours per day", "W", 1000.0 / 24.0);
    assert_converts(1.0, "W/m^2/K", "W/(m^2 K)", 1.0);
}

#[test]
fn letter_case_is_ignored_where_unambiguous() {
    assert_converts(1.0, "KM", "M", 1000.0);
    assert_converts(5.0, "Kilometers", "METERS", 5000.0);
    assert_converts(1.0, "ghz", "mhz", 1000.0);
    assert_converts(2.0, "Kgs", "g", 2000.0);
    assert_fails("MM", "m", "unit `MM` in `from` is ambiguous: write");
    assert_fails("m", "mW", "cannot convert length to power");
}

#[test]
fn a_note_says_which_meaning_of_an_ambiguous_unit_was_taken() {
    let note = |from: &str, to: &str| convert(1.0, from, to)["note"].clone();
    assert_eq!(note("gallons", "litres"), "gallon (US), not imperial");
    assert_eq!(note("litres", "pints"), "pint (US), not imperial");
    assert_eq!(note("ton", "tonne"), "short ton (US), not imperial");
    let without_note = [
        ("us gallons", "l"),
        ("Us gallons", "l"),
        ("US-gallons", "l"),
        ("Short tons", "tonne"),
        ("uk gallons", "l"),
        ("tbsp", "tsp"),
        ("miles", "km"),
    ];
    for (from, to) in without_note {
        assert_eq!(note(from, to), Value::Null, "{from} {to}");
    }
}

#[test]
fn everyday_words_and_abbreviations_are_known() {
    assert_converts(2.0, "kilos", "kgs", 2.0);
    assert_converts(37.0, "c", "f", 98.6);
    assert_converts(37.0, "degrees c", "degrees f", 98.6);
    assert_converts(37.0, "celcius", "farenheit", 98.6);
    assert_converts(100.0, "km per hour", "kph", 100.0);
    assert_converts(100.0, "kilometres an hour", "kmh", 100.0);
    assert_converts(1.0, "metre a second", "mps", 1.0);
    assert_converts(1.0, "a mile", "metres", 1609.344);
    assert_converts(1.0, "sq ft", "square inches", 144.0);
    assert_converts(1.0, "sqm", "square centimetres", 10_000.0);
    assert_converts(1.0, "sq. ft.", "sqft", 1.0);
    assert_converts(1.0, "cubic feet", "cu in", 1728.0);
    assert_converts(8.0, "fl oz", "cups", 1.0);
    assert_converts(16.0, "oz.", "lbs.", 1.0);
    assert_converts(3.0, "tsp", "tbsp", 1.0);
    assert_converts(1.0, "kwh", "kj", 3600.0);
    assert_converts(1.0, "gig", "megs", 1000.0);
    assert_converts(8.0, "mbit", "mb", 1.0);
    assert_converts(60.0, "mins", "hrs", 1.0);
    assert_converts(1000.0, "mms", "metres", 1.0);
    assert_converts(5.0, "l per 100km", "L/100km", 5.0);
    assert_converts(1.0, "cubic meters", "liters", 1000.0);
    assert_converts(500.0, "mcg", "mg", 0.5);
}

#[test]
fn a_quantity_may_have_two_units() {
    assert_converts(5.0, "feet 11 inches", "cm", 180.34);
    assert_converts(5.0, "'11\"", "cm", 180.34);
    assert_converts(5.0, "'11", "cm", 180.34);
    assert_converts(6.0, "ft 2in", "inches", 74.0);
    assert_converts(10.0, "pounds and 8 ounces", "lb", 10.5);
    assert_converts(-5.0, "feet 6 inches", "feet", -5.5);
    let input = json!({"value": 5, "from": "feet", "extra_value": 11, "extra_unit": "inches", "to": "cm"});
    assert_eq!(testing::output(&UNIT_CONVERT, input), json!({"result": 180.34}));
    let input = json!({"value": 5, "from": "feet", "extra_value": 11, "to": "cm"});
    let error = testing::failure(&UNIT_CONVERT, input);
    assert_eq!(error.message, "give both `extra_value` and `extra_unit`, or neither");
    let input = json!({"value": 5, "from": "feet 11 inches", "extra_value": 2, "extra_unit": "inches", "to": "cm"});
    let error = testing::failure(&UNIT_CONVERT, input);
    assert!(error.message.contains("`from` has two quantities"), "{error}");
    assert_fails("feet 11 kg", "cm", "in `from`");
    assert_fails("feet 11 bananas", "cm", "in `from`");
}

#[test]
fn a_result_may_have_two_units() {
    let result = |value: f64, from: &str, to: &str| convert(value, from, to)["result"].clone();
    assert_eq!(result(180.34, "cm", "feet and inches"), "5 feet 11 inches");
    assert_eq!(result(180.0, "cm", "ft and in"), "5 feet 10.87 inches");
    assert_eq!(result(182.879_99, "cm", "feet and inches"), "6 feet 0 inches");
    assert_eq!(result(70.0, "kg", "stone and pounds"), "11 stone 0.32 pounds");
    assert_eq!(result(90.0, "minutes", "hours and minutes"), "1 hour 30 minutes");
    assert_eq!(result(180.34, "cm", "inches and feet"), "5 feet 11 inches");
    assert_eq!(result(5.0, "m", "mm and km"), "0 kilometres 5000 millimetres");
    assert_fails("m", "feet and kilograms", "in `to`");
}

#[test]
fn a_temperature_unit_in_parentheses_keeps_the_offset_of_its_scale() {
    assert_converts(20.0, "(°C)", "°F", 68.0);
    assert_converts(20.0, "((°C))", "(°F)", 68.0);
}

#[test]
fn the_number_1_in_a_unit_changes_nothing() {
    for unit in ["m*1", "1*m", "m/1", "(1)*m"] {
        assert_converts(1.0, unit, "km", 0.001);
        assert_fails(unit, "s", "`metre` measures");
    }
    assert_fails("(1)/s", "m", "`1/second` measures");
}

#[test]
fn four_levels_of_parentheses_are_the_maximum() {
    assert_converts(1.0, "((((km))))", "m", 1000.0);
    assert_fails("(((((km)))))", "m", "more than 4 levels");
}

#[test]
fn the_error_for_a_mismatch_names_both_dimensions() {
    assert_fails(
        "kg",
        "litres",
        "cannot convert mass to volume: `kilogram` measures mass, `litre` measures volume",
    );
    assert_fails("radian", "bytes", "cannot convert angle to data");
    assert_fails("m^4/s", "m", "cannot convert length^4 time^-1 to length");
}

#[test]
fn the_error_for_an_unknown_unit_suggests_similar_ones() {
    assert_fails("kilometrr", "m", "unknown unit `kilometrr` in `from`");
    assert_fails(
        "m",
        "metr",
        "unknown unit `metr` in `to`, did you mean `meter`, `metre`",
    );
    assert_fails("bananas", "m", "unknown unit `bananas` in `from`");
    assert_fails("furlogn", "m", "did you mean `furlong`");
}

#[test]
fn the_error_for_an_invalid_compound_names_the_reason() {
    assert_fails("m/", "m", "cannot parse the unit `m/` in `from`: a unit is missing");
    assert_fails("", "m", "a unit is missing");
    assert_fails("(m", "m", "a `(` is never closed");
    assert_fails("m)", "m", "a `)` has no `(`");
    assert_fails("100 km", "m", "put it into `value`");
    assert_fails("m^x", "m", "a power must be a whole number from -9 to 9");
    assert_fails("m^99", "m", "a power must be a whole number from -9 to 9");
    assert_fails(&"(".repeat(50), "m", "more than 4 levels");
    assert_fails(&"m*".repeat(100), "m", "longer than 100 characters");
    // A number that does not fit into 16 bits gets the error for a power, even where no power can stand.
    assert_fails("99999999", "m", "a power must be a whole number from -9 to 9");
    assert_fails("l/100km/s", "m", "put it into `value`");
}

#[test]
fn results_out_of_range_are_refused() {
    let input = json!({"value": 1e300, "from": "Qm", "to": "fm"});
    assert_eq!(
        testing::failure(&UNIT_CONVERT, input).message,
        "the result is too large for a 64-bit float"
    );
}

#[test]
fn no_two_units_share_a_name_or_a_symbol() {
    let mut seen = std::collections::HashMap::new();
    for unit in units::all() {
        let names = [unit.name]
            .into_iter()
            .chain(unit.aliases.iter().copied())
            .chain(unit.symbols.iter().copied());
        for name in names.collect::<std::collections::HashSet<_>>() {
            assert_eq!(seen.insert(name, unit.name), None, "{name} means two units");
        }
    }
}

#[test]
fn every_unit_is_found_by_all_its_names() {
    for unit in units::all() {
        for name in [unit.name].iter().chain(unit.aliases).chain(unit.symbols) {
            let measure = parse::parse("from", name).unwrap();
            assert_eq!(measure.name, unit.name, "{name}");
        }
    }
}

#[test]
fn the_examples_return_their_outputs_and_the_schema_refuses_unknown_fields() {
    testing::check(&UNIT_CONVERT);
    assert_eq!(UNIT_CONVERT.input_schema()["additionalProperties"], false);
}

proptest! {
    #[test]
    fn no_unit_makes_the_tool_panic(value: f64, from in "[-a-zA-Z0-9°µ²*/^() ]{0,24}", to in "\\PC{0,12}") {
        drop(testing::call(&UNIT_CONVERT, json!({"value": value, "from": from, "to": to})));
        drop(testing::call(&UNIT_CONVERT, json!({"value": 1, "from": from, "to": from})));
    }

    #[test]
    fn no_compound_makes_the_tool_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "m", "km", "°C", "mpg", "L/100km", "*", "/", "^", "2", "-1", "(", ")", " ", "square ", " cubed", " per ",
        ]), 0..12)
    ) {
        drop(testing::call(&UNIT_CONVERT, json!({"value": 2, "from": parts.concat(), "to": "m^2"})));
    }

    #[test]
    fn a_conversion_and_its_inverse_cancel(value in -1e9..1e9_f64) {
        let there = convert(value, "mile/h", "cm/min")["result"].as_f64().unwrap();
        let back = convert(there, "cm/min", "mile/h")["result"].as_f64().unwrap();
        prop_assert!((back - value).abs() <= value.abs() * 1e-13);
    }
}

#[test]
fn the_value_may_be_a_text_that_is_a_number() {
    let input = |value: &str| json!({"value": value, "from": "km", "to": "m"});
    assert_eq!(testing::output(&UNIT_CONVERT, input("1.5"))["result"], 1500);
    let refused = testing::failure(&UNIT_CONVERT, input("0 + 2i"));
    assert!(
        refused.message.contains("a text that is a number"),
        "{}",
        refused.message
    );
}

#[test]
fn a_large_whole_number_is_converted_exactly_if_the_result_is_whole() {
    let result = |value: Value, from: &str, to: &str| {
        testing::output(&UNIT_CONVERT, json!({"value": value, "from": from, "to": to}))["result"].clone()
    };
    let value = json!(9_007_199_254_740_993_u64);
    assert_eq!(result(value.clone(), "m", "m"), value);
    assert_eq!(result(value.clone(), "km", "m"), 9_007_199_254_740_993_000_u64);
    assert_eq!(result(json!("9007199254740993000"), "m", "km"), value);
}
