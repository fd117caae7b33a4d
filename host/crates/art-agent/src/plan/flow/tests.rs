use super::*;
use proptest::prelude::*;

/// Asserts the verdict on whether the values of the schema `producer` fit the schema `consumer`.
#[track_caller]
fn assert_verdict(producer: &Value, consumer: &Value, expected: Verdict) {
    assert_eq!(
        compare_schemas(producer, consumer),
        expected,
        "{producer} to {consumer}"
    );
}

#[test]
fn a_type_fits_a_type_that_contains_it() {
    let type_schema = |name: &str| json!({"type": name});
    assert_verdict(&type_schema("integer"), &type_schema("number"), Verdict::Yes);
    assert_verdict(&type_schema("number"), &type_schema("integer"), Verdict::AtRunTime);
    assert_verdict(&type_schema("string"), &type_schema("number"), Verdict::No);
    assert_verdict(
        &json!({"type": ["string", "null"]}),
        &type_schema("string"),
        Verdict::AtRunTime,
    );
    assert_verdict(
        &type_schema("string"),
        &json!({"type": ["string", "null"]}),
        Verdict::Yes,
    );
}

#[test]
fn numbers_between_bounds_fit_wider_bounds() {
    let from_to = |low: i64, high: i64| json!({"type": "integer", "minimum": low, "maximum": high});
    assert_verdict(&from_to(2, 3), &from_to(1, 5), Verdict::Yes);
    assert_verdict(&from_to(6, 9), &from_to(1, 5), Verdict::No);
    assert_verdict(&from_to(4, 9), &from_to(1, 5), Verdict::AtRunTime);
    assert_verdict(&from_to(5, 9), &json!({"exclusiveMinimum": 4}), Verdict::Yes);
    assert_verdict(&from_to(1, 5), &json!({"exclusiveMinimum": 5}), Verdict::No);
}

#[test]
fn a_constant_is_compared_by_its_value() {
    let choices = json!({"enum": ["sum", "mean"]});
    assert_verdict(&constant_schema(&json!("sum")), &choices, Verdict::Yes);
    assert_verdict(&constant_schema(&json!("total")), &choices, Verdict::No);
    assert_verdict(&constant_schema(&json!(1.0)), &json!({"const": 1}), Verdict::Yes);
    assert_verdict(
        &constant_schema(&json!({"a": [1]})),
        &json!({"properties": {"a": {"items": {"type": "string"}}}}),
        Verdict::No,
    );
}

#[test]
fn large_integers_are_compared_exactly() {
    // No 64-bit floating-point number equals 2^53 + 1.
    for large in [json!(9_007_199_254_740_993_u64), json!(-9_007_199_254_740_993_i64)] {
        let nearest_float = json!(large.as_f64().unwrap() as i64);
        assert_verdict(&constant_schema(&large), &json!({"enum": [large]}), Verdict::Yes);
        assert_verdict(&constant_schema(&large), &json!({"enum": [nearest_float]}), Verdict::No);
    }
}

#[test]
fn an_enumeration_fits_if_all_of_its_values_do() {
    let producer = json!({"enum": ["a", "b"]});
    assert_verdict(&producer, &json!({"enum": ["a", "b", "c"]}), Verdict::Yes);
    assert_verdict(&producer, &json!({"enum": ["a", "c"]}), Verdict::AtRunTime);
    assert_verdict(&producer, &json!({"enum": ["c"]}), Verdict::No);
    assert_verdict(
        &json!({"type": "integer", "maximum": 3}),
        &json!({"enum": [4, 5]}),
        Verdict::No,
    );
}

#[test]
fn a_required_property_has_to_be_there_and_to_fit() {
    let requires_n = |schema: Value| json!({"type": "object", "properties": {"n": schema}, "required": ["n"]});
    let integer = || json!({"type": "integer"});
    assert_verdict(
        &requires_n(integer()),
        &requires_n(json!({"type": "number"})),
        Verdict::Yes,
    );
    assert_verdict(
        &requires_n(json!({"type": "string"})),
        &requires_n(integer()),
        Verdict::No,
    );
    assert_verdict(&json!({"type": "object"}), &requires_n(integer()), Verdict::AtRunTime);
    assert_verdict(
        &json!({"type": "object", "additionalProperties": false}),
        &requires_n(integer()),
        Verdict::No,
    );
}

#[test]
fn an_object_that_may_have_further_keys_may_not_fit_a_consumer_that_forbids_them() {
    let with_n_only = json!({"type": "object", "properties": {"n": true}, "additionalProperties": false});
    assert_verdict(&json!({"type": "object"}), &with_n_only, Verdict::AtRunTime);
    assert_verdict(&with_n_only, &with_n_only, Verdict::Yes);
    let requires_m = json!({"type": "object", "properties": {"m": true}, "required": ["m"]});
    assert_verdict(&requires_m, &with_n_only, Verdict::No);
}

#[test]
fn unfitting_items_rule_out_an_array_only_if_it_cannot_be_empty() {
    let array =
        |fewest: u64, item_type: &str| json!({"type": "array", "items": {"type": item_type}, "minItems": fewest});
    assert_verdict(&array(0, "integer"), &array(0, "number"), Verdict::Yes);
    // Both schemas allow the empty array.
    assert_verdict(&array(0, "string"), &array(0, "number"), Verdict::AtRunTime);
    assert_verdict(&array(1, "string"), &array(0, "number"), Verdict::No);
}

#[test]
fn a_keyword_that_applies_and_is_not_understood_leaves_the_verdict_open() {
    let text = json!({"type": "string"});
    assert_verdict(&text, &json!({"type": "string", "pattern": "^a"}), Verdict::AtRunTime);
    // `pattern` applies to texts only.
    assert_verdict(&json!({"type": "integer"}), &json!({"pattern": "^a"}), Verdict::Yes);
    assert_verdict(
        &text,
        &json!({"if": {"minLength": 1}, "then": false}),
        Verdict::AtRunTime,
    );
    // `format` does not restrict values.
    assert_verdict(
        &json!({"type": "string", "format": "date"}),
        &json!({"type": "string", "format": "uri"}),
        Verdict::Yes,
    );
}

#[test]
fn a_known_text_fits_a_parameter_for_numeric_texts_only_if_it_is_a_number() {
    // `x-numeric` asks for texts that are numbers. A text that is not known before the plan runs counts as fitting.
    let numeric = json!({"type": ["number", "string"], "x-numeric": true});
    for fitting in [
        json!({"const": 7}),
        json!({"const": " 7.5 "}),
        json!({"type": "string"}),
        json!({"type": ["integer", "string"]}),
    ] {
        assert_verdict(&fitting, &numeric, Verdict::Yes);
    }
    for unfitting in [
        json!({"const": "seven"}),
        json!({"const": "inf"}),
        json!({"const": true}),
        json!({"type": "array"}),
    ] {
        assert_verdict(&unfitting, &numeric, Verdict::No);
    }
    assert_verdict(
        &json!({"const": "seven"}),
        &json!({"type": "string", "x-numeric": false}),
        Verdict::Yes,
    );
    assert_eq!(super::super::describe::describe_asked(&numeric), "a number");
}

#[test]
fn exactly_one_branch_of_one_of_has_to_fit() {
    let one_of = json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]});
    assert_verdict(&json!({"type": "integer", "maximum": -1}), &one_of, Verdict::Yes);
    assert_verdict(&json!({"type": "integer", "minimum": 1}), &one_of, Verdict::No);
    assert_verdict(&json!({"type": "string"}), &one_of, Verdict::No);
}

#[test]
fn a_comparison_of_schemas_with_very_many_pairs_of_parts_ends() {
    let mut schema = json!({"type": "integer"});
    for n in 0..40 {
        schema = json!({"anyOf": [schema, {"type": "array", "items": schema, "minItems": n}]});
        if schema.to_string().len() > 1 << 20 {
            break;
        }
    }
    // Equal schemas would not be compared part by part.
    let mut with_title = schema.clone();
    with_title["title"] = json!("other");
    compare_schemas(&schema, &with_title);
}

/// Generates a schema that few values satisfy, together with candidates for such values. Not all candidates satisfy it.
fn producer() -> impl Strategy<Value = (Value, Vec<Value>)> {
    producer_of_plain_values().prop_recursive(3, 12, 2, |inner| {
        let tuples = (inner.clone(), inner.clone(), 0_usize..3).prop_map(|((first, values_of_first), (rest, values_of_rest), fewest)| {
            let pairs = values_of_first.iter().flat_map(|a| values_of_rest.iter().map(move |b| (a, b)));
            let lists = pairs.flat_map(|(a, b)| [json!([]), json!([a]), json!([a, b]), json!([a, b, b])]);
            let lists = lists.filter(|list| list.as_array().is_some_and(|list| list.len() >= fewest)).collect();
            (json!({"type": "array", "prefixItems": [first], "items": rest, "minItems": fewest}), lists)
        });
        let objects_of_any_keys = (inner.clone(), 0_usize..2).prop_map(|((schema, values), fewest)| {
            let entries = values.iter().flat_map(|value| [json!({}), json!({"a": value}), json!({"b": value, "c": value})]);
            let entries = entries.filter(|map| map.as_object().is_some_and(|map| map.len() >= fewest)).collect();
            (json!({"type": "object", "additionalProperties": schema, "minProperties": fewest}), entries)
        });
        let objects_with_further_keys = inner.clone().prop_map(|(schema, values)| {
            let objects = values.iter().flat_map(|a| [json!({"a": a}), json!({"a": a, "b": "x"}), json!({"a": a, "c": 1})]);
            (json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}), objects.collect())
        });
        let pair_and_choice = (inner.clone(), inner.clone(), any::<bool>());
        let combinations = pair_and_choice.prop_map(|((one, mut values), (other, values_of_other), is_one_of)| {
            values.extend(values_of_other);
            (json!({if is_one_of { "oneOf" } else { "allOf" }: [one, other]}), values)
        });
        let lists = (inner.clone(), 0_usize..3, 0_usize..2).prop_map(|((items, values), fewest, more)| {
            let lists = (fewest..=fewest + more).flat_map(|length| values.iter().map(move |value| json!(vec![value; length])));
            (json!({"type": "array", "items": items, "minItems": fewest, "maxItems": fewest + more}), lists.collect())
        });
        let pair_and_choice = (inner.clone(), inner.clone(), any::<bool>());
        let objects_of_fixed_keys = pair_and_choice.prop_map(|((a, values_of_a), (b, values_of_b), requires_b)| {
            let required = if requires_b { vec!["a", "b"] } else { vec!["a"] };
            let with_both = values_of_a.iter().zip(values_of_b.iter().cycle()).map(|(a, b)| json!({"a": a, "b": b}));
            let with_a_only = values_of_a.iter().filter(|_| !requires_b).map(|a| json!({"a": a}));
            let schema = json!({"type": "object", "properties": {"a": a, "b": b}, "required": required, "additionalProperties": false});
            (schema, with_both.chain(with_a_only).collect())
        });
        let alternatives = (inner.clone(), inner).prop_map(|((one, mut values), (other, values_of_other))| {
            values.extend(values_of_other);
            (json!({"anyOf": [one, other]}), values)
        });
        prop_oneof![
            lists,
            objects_of_fixed_keys,
            alternatives,
            tuples,
            objects_of_any_keys,
            objects_with_further_keys,
            combinations,
        ]
    })
}

/// Generates those schemas of [`producer`] that contain no other schemas, together with candidates for their values.
fn producer_of_plain_values() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let integers = (-4_i64..4, 0_i64..4).prop_map(|(low, range)| {
        let values = (low..=low + range).map(Value::from).collect();
        (
            json!({"type": "integer", "minimum": low, "maximum": low + range}),
            values,
        )
    });
    let texts = (0_usize..3, 0_usize..3).prop_map(|(low, more)| {
        let values = (low..=low + more)
            .map(|length| Value::from("x".repeat(length)))
            .collect();
        (
            json!({"type": "string", "minLength": low, "maxLength": low + more}),
            values,
        )
    });
    let choices = prop::collection::vec(
        prop_oneof![Just(json!("x")), Just(json!(1)), Just(json!(null)), Just(json!([1]))],
        1..3,
    )
    .prop_map(|values| (json!({"enum": values}), values));
    let numbers = (-3_i64..3, 1_i64..3).prop_map(|(low, range)| {
        let values = (0..range).map(|n| json!((low + n) as f64 + 0.5)).collect();
        (
            json!({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + range}),
            values,
        )
    });
    let other_leaves = prop_oneof![
        Just((json!({"type": "boolean"}), vec![json!(true), json!(false)])),
        Just((
            json!({"type": ["string", "null"]}),
            vec![json!(null), json!(""), json!("xx")]
        )),
        Just((json!({"const": 2}), vec![json!(2), json!(2.0)])),
    ];
    prop_oneof![integers, texts, choices, numbers, other_leaves]
}

/// Generates a consumer: a schema that asks for values like those that [`producer`] generates.
fn consumer() -> impl Strategy<Value = Value> {
    let number = (-4_i64..4).prop_flat_map(|bound| {
        prop_oneof![
            Just(json!({"type": "number", "minimum": bound})),
            Just(json!({"type": "integer", "exclusiveMaximum": bound})),
            Just(json!({"multipleOf": 2})),
            Just(json!({"maximum": bound, "exclusiveMinimum": bound - 3})),
        ]
    });
    let text = (0_usize..3, any::<bool>()).prop_map(|(length, is_maximum)| {
        json!({"type": ["string", "null"], if is_maximum { "maxLength" } else { "minLength" }: length})
    });
    let other = prop_oneof![
        Just(json!({"enum": ["x", 1, [1]]})),
        Just(json!({"const": null})),
        Just(json!({"pattern": "x"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"maxItems": 1})),
        Just(json!({"minProperties": 2})),
        Just(json!({"maxProperties": 1})),
        Just(json!({"type": "string"})),
        Just(json!(true)),
    ];
    let leaf = prop_oneof![number, text, other];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let combinations = (inner.clone(), inner.clone(), 0_usize..4).prop_map(|(one, other, kind)| match kind {
            0 => json!({"anyOf": [one, other]}),
            1 => json!({"oneOf": [one, other]}),
            2 => json!({"allOf": [one, other]}),
            _ => json!({"prefixItems": [one], "items": other, "minItems": 1}),
        });
        let objects = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, rest, requires_b)| {
            let required = if requires_b { vec!["b"] } else { vec![] };
            json!({"type": ["object", "array", "integer"], "properties": {"a": a}, "additionalProperties": rest, "required": required})
        });
        let objects_of_fixed_keys = (inner.clone(), inner).prop_map(|(a, b)| {
            json!({"type": "object", "properties": {"a": a, "b": b}, "required": ["a"], "additionalProperties": false})
        });
        prop_oneof![combinations, objects, objects_of_fixed_keys]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // The verdicts `Yes` and `No` are definite.
    #[test]
    fn a_definite_verdict_holds_for_every_value_of_the_producer((schema, values) in producer(), consumer in consumer()) {
        let (producer_validator, consumer_validator) = (validator(&schema), validator(&consumer));
        let verdict = compare_schemas(&schema, &consumer);
        let values: Vec<&Value> = values.iter().filter(|value| producer_validator.is_valid(value)).collect();
        // If no candidate satisfies the schema, there is nothing to compare.
        prop_assume!(!values.is_empty());
        for value in values {
            let expected = if consumer_validator.is_valid(value) { Verdict::Yes } else { Verdict::No };
            prop_assert!(
                verdict == Verdict::AtRunTime || verdict == expected,
                "{verdict:?} for {schema} to {consumer}, but {value} is {expected:?}"
            );
        }
    }

    #[test]
    fn a_definite_verdict_on_a_constant_holds_for_its_value((_, values) in producer(), consumer in consumer()) {
        let consumer_validator = validator(&consumer);
        for value in &values {
            let expected = if consumer_validator.is_valid(value) { Verdict::Yes } else { Verdict::No };
            let verdict = compare_schemas(&constant_schema(value), &consumer);
            prop_assert!(verdict == Verdict::AtRunTime || verdict == expected, "{verdict:?} for {value} to {consumer}");
        }
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}
