use super::*;
use proptest::prelude::*;

#[track_caller]
fn assert_flow(producer: &Value, consumer: &Value, expected: Verdict) {
    assert_eq!(
        compare_schemas(producer, consumer),
        expected,
        "{producer} to {consumer}"
    );
}

#[test]
fn a_type_fits_a_type_that_contains_it() {
    let schema = |name: &str| json!({"type": name});
    assert_flow(&schema("integer"), &schema("number"), Verdict::Yes);
    assert_flow(&schema("number"), &schema("integer"), Verdict::RunTime);
    assert_flow(&schema("string"), &schema("number"), Verdict::No);
    assert_flow(
        &json!({"type": ["string", "null"]}),
        &schema("string"),
        Verdict::RunTime,
    );
    assert_flow(&schema("string"), &json!({"type": ["string", "null"]}), Verdict::Yes);
}

#[test]
fn bounds_are_compared_as_intervals() {
    let from_to = |low: i64, high: i64| json!({"type": "integer", "minimum": low, "maximum": high});
    assert_flow(&from_to(2, 3), &from_to(1, 5), Verdict::Yes);
    assert_flow(&from_to(6, 9), &from_to(1, 5), Verdict::No);
    assert_flow(&from_to(4, 9), &from_to(1, 5), Verdict::RunTime);
    assert_flow(&from_to(5, 9), &json!({"exclusiveMinimum": 4}), Verdict::Yes);
    assert_flow(&from_to(1, 5), &json!({"exclusiveMinimum": 5}), Verdict::No);
}

#[test]
fn a_constant_is_compared_exactly() {
    let choices = json!({"enum": ["sum", "mean"]});
    assert_flow(&constant(&json!("sum")), &choices, Verdict::Yes);
    assert_flow(&constant(&json!("total")), &choices, Verdict::No);
    assert_flow(&constant(&json!(1.0)), &json!({"const": 1}), Verdict::Yes);
    assert_flow(
        &constant(&json!({"a": [1]})),
        &json!({"properties": {"a": {"items": {"type": "string"}}}}),
        Verdict::No,
    );
}

#[test]
fn an_enumeration_fits_when_all_of_its_values_do() {
    let producer = json!({"enum": ["a", "b"]});
    assert_flow(&producer, &json!({"enum": ["a", "b", "c"]}), Verdict::Yes);
    assert_flow(&producer, &json!({"enum": ["a", "c"]}), Verdict::RunTime);
    assert_flow(&producer, &json!({"enum": ["c"]}), Verdict::No);
    assert_flow(
        &json!({"type": "integer", "maximum": 3}),
        &json!({"enum": [4, 5]}),
        Verdict::No,
    );
}

#[test]
fn a_required_property_has_to_be_there_and_fit() {
    let with_n = |schema: Value| json!({"type": "object", "properties": {"n": schema}, "required": ["n"]});
    let integer = || json!({"type": "integer"});
    assert_flow(&with_n(integer()), &with_n(json!({"type": "number"})), Verdict::Yes);
    assert_flow(&with_n(json!({"type": "string"})), &with_n(integer()), Verdict::No);
    assert_flow(&json!({"type": "object"}), &with_n(integer()), Verdict::RunTime);
    assert_flow(
        &json!({"type": "object", "additionalProperties": false}),
        &with_n(integer()),
        Verdict::No,
    );
}

#[test]
fn an_open_object_may_have_a_property_that_does_not_fit() {
    let closed = json!({"type": "object", "properties": {"n": true}, "additionalProperties": false});
    assert_flow(&json!({"type": "object"}), &closed, Verdict::RunTime);
    assert_flow(&closed, &closed, Verdict::Yes);
    let with_m = json!({"type": "object", "properties": {"m": true}, "required": ["m"]});
    assert_flow(&with_m, &closed, Verdict::No);
}

#[test]
fn items_decide_the_verdict_only_if_the_list_must_have_them() {
    let list = |fewest: u64, items: &str| json!({"type": "array", "items": {"type": items}, "minItems": fewest});
    assert_flow(&list(0, "integer"), &list(0, "number"), Verdict::Yes);
    // Both schemas allow the empty list.
    assert_flow(&list(0, "string"), &list(0, "number"), Verdict::RunTime);
    assert_flow(&list(1, "string"), &list(0, "number"), Verdict::No);
}

#[test]
fn an_applicable_keyword_that_is_not_understood_leaves_the_verdict_open() {
    let text = json!({"type": "string"});
    assert_flow(&text, &json!({"type": "string", "pattern": "^a"}), Verdict::RunTime);
    assert_flow(&json!({"type": "integer"}), &json!({"pattern": "^a"}), Verdict::Yes);
    assert_flow(&text, &json!({"if": {"minLength": 1}, "then": false}), Verdict::RunTime);
    assert_flow(
        &json!({"type": "string", "format": "date"}),
        &json!({"type": "string", "format": "uri"}),
        Verdict::Yes,
    );
}

#[test]
fn a_known_text_fits_a_numeric_parameter_only_if_it_is_a_number() {
    let numeric = json!({"type": ["number", "string"], "x-numeric": true});
    for fitting in [
        json!({"const": 7}),
        json!({"const": " 7.5 "}),
        json!({"type": "string"}),
        json!({"type": ["integer", "string"]}),
    ] {
        assert_flow(&fitting, &numeric, Verdict::Yes);
    }
    for other in [
        json!({"const": "seven"}),
        json!({"const": "inf"}),
        json!({"const": true}),
        json!({"type": "array"}),
    ] {
        assert_flow(&other, &numeric, Verdict::No);
    }
    assert_flow(
        &json!({"const": "seven"}),
        &json!({"type": "string", "x-numeric": false}),
        Verdict::Yes,
    );
    assert_eq!(super::super::describe::describe_asked(&numeric), "a number");
}

#[test]
fn exactly_one_branch_of_one_of_has_to_fit() {
    let one_of = json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]});
    assert_flow(&json!({"type": "integer", "maximum": -1}), &one_of, Verdict::Yes);
    assert_flow(&json!({"type": "integer", "minimum": 1}), &one_of, Verdict::No);
    assert_flow(&json!({"type": "string"}), &one_of, Verdict::No);
}

#[test]
fn a_comparison_of_deep_branches_ends() {
    let mut schema = json!({"type": "integer"});
    for n in 0..40 {
        schema = json!({"anyOf": [schema, {"type": "array", "items": schema, "minItems": n}]});
        if schema.to_string().len() > 1 << 20 {
            break;
        }
    }
    let mut other = schema.clone();
    other["title"] = json!("other");
    compare_schemas(&schema, &other);
}

/// Generates a schema that few values satisfy, together with candidates for such values.
fn producer() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let integers = (-4_i64..4, 0_i64..4).prop_map(|(low, length)| {
        let values = (low..=low + length).map(Value::from).collect();
        (
            json!({"type": "integer", "minimum": low, "maximum": low + length}),
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
    let numbers = (-3_i64..3, 1_i64..3).prop_map(|(low, length)| {
        let values = (0..length).map(|n| json!((low + n) as f64 + 0.5)).collect();
        (
            json!({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + length}),
            values,
        )
    });
    let others = prop_oneof![
        Just((json!({"type": "boolean"}), vec![json!(true), json!(false)])),
        Just((
            json!({"type": ["string", "null"]}),
            vec![json!(null), json!(""), json!("xx")]
        )),
        Just((json!({"const": 2}), vec![json!(2), json!(2.0)])),
    ];
    let leaf = prop_oneof![integers, texts, choices, numbers, others];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let tuples = (inner.clone(), inner.clone(), 0_usize..3).prop_map(|((first, firsts), (rest, others), fewest)| {
            let pairs = firsts.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
            let lists = pairs.flat_map(|(a, b)| [json!([]), json!([a]), json!([a, b]), json!([a, b, b])]);
            let lists = lists.filter(|list| list.as_array().is_some_and(|list| list.len() >= fewest)).collect();
            (json!({"type": "array", "prefixItems": [first], "items": rest, "minItems": fewest}), lists)
        });
        let maps = (inner.clone(), 0_usize..2).prop_map(|((schema, values), fewest)| {
            let entries = values.iter().flat_map(|value| [json!({}), json!({"a": value}), json!({"b": value, "c": value})]);
            let entries = entries.filter(|map| map.as_object().is_some_and(|map| map.len() >= fewest)).collect();
            (json!({"type": "object", "additionalProperties": schema, "minProperties": fewest}), entries)
        });
        let open = inner.clone().prop_map(|(schema, values)| {
            let objects = values.iter().flat_map(|a| [json!({"a": a}), json!({"a": a, "b": "x"}), json!({"a": a, "c": 1})]);
            (json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}), objects.collect())
        });
        let both = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|((one, mut values), (other, more), is_one_of)| {
            values.extend(more);
            (json!({if is_one_of { "oneOf" } else { "allOf" }: [one, other]}), values)
        });
        let lists = (inner.clone(), 0_usize..3, 0_usize..2).prop_map(|((items, values), fewest, more)| {
            let lists = (fewest..=fewest + more).flat_map(|length| values.iter().map(move |value| json!(vec![value; length])));
            (json!({"type": "array", "items": items, "minItems": fewest, "maxItems": fewest + more}), lists.collect())
        });
        let objects = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|((a, in_a), (b, in_b), requires_b)| {
            let required = if requires_b { vec!["a", "b"] } else { vec!["a"] };
            let both = in_a.iter().zip(in_b.iter().cycle()).map(|(a, b)| json!({"a": a, "b": b}));
            let alone = in_a.iter().filter(|_| !requires_b).map(|a| json!({"a": a}));
            let schema = json!({"type": "object", "properties": {"a": a, "b": b}, "required": required, "additionalProperties": false});
            (schema, both.chain(alone).collect())
        });
        let branches = (inner.clone(), inner).prop_map(|((one, mut values), (other, more))| {
            values.extend(more);
            (json!({"anyOf": [one, other]}), values)
        });
        prop_oneof![lists, objects, branches, tuples, maps, open, both]
    })
}

/// Generates a schema that asks for values like those of [`producer`].
fn consumer() -> impl Strategy<Value = Value> {
    let number = (-4_i64..4).prop_flat_map(|bound| {
        prop_oneof![
            Just(json!({"type": "number", "minimum": bound})),
            Just(json!({"type": "integer", "exclusiveMaximum": bound})),
            Just(json!({"multipleOf": 2})),
            Just(json!({"maximum": bound, "exclusiveMinimum": bound - 3})),
        ]
    });
    let text = (0_usize..3, any::<bool>()).prop_map(|(length, is_longest)| {
        json!({"type": ["string", "null"], if is_longest { "maxLength" } else { "minLength" }: length})
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
        let pairs = (inner.clone(), inner.clone(), 0_usize..4).prop_map(|(one, other, kind)| match kind {
            0 => json!({"anyOf": [one, other]}),
            1 => json!({"oneOf": [one, other]}),
            2 => json!({"allOf": [one, other]}),
            _ => json!({"prefixItems": [one], "items": other, "minItems": 1}),
        });
        let objects = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, rest, requires_b)| {
            let required = if requires_b { vec!["b"] } else { vec![] };
            json!({"type": ["object", "array", "integer"], "properties": {"a": a}, "additionalProperties": rest, "required": required})
        });
        let closed = (inner.clone(), inner).prop_map(|(a, b)| {
            json!({"type": "object", "properties": {"a": a, "b": b}, "required": ["a"], "additionalProperties": false})
        });
        prop_oneof![pairs, objects, closed]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_definite_verdict_holds_for_every_value_of_the_producer((schema, values) in producer(), consumer in consumer()) {
        let (of_producer, of_consumer) = (validator(&schema), validator(&consumer));
        let verdict = compare_schemas(&schema, &consumer);
        let values: Vec<&Value> = values.iter().filter(|value| of_producer.is_valid(value)).collect();
        // If no value satisfies the schema, there is nothing to compare.
        prop_assume!(!values.is_empty());
        for value in values {
            let expected = if of_consumer.is_valid(value) { Verdict::Yes } else { Verdict::No };
            prop_assert!(
                verdict == Verdict::RunTime || verdict == expected,
                "{verdict:?} for {schema} to {consumer}, but {value} is {expected:?}"
            );
        }
    }

    #[test]
    fn a_constant_is_judged_like_its_value((_, values) in producer(), consumer in consumer()) {
        let of_consumer = validator(&consumer);
        for value in &values {
            let expected = if of_consumer.is_valid(value) { Verdict::Yes } else { Verdict::No };
            let verdict = compare_schemas(&constant(value), &consumer);
            prop_assert!(verdict == Verdict::RunTime || verdict == expected, "{verdict:?} for {value} to {consumer}");
        }
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}
