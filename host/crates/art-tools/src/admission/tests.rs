use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::schema::CompiledSchema;

/// Returns the reason why a schema is refused.
fn problem(schema: &Value) -> SchemaProblem {
    match CompiledSchema::new(schema, Root::Object) {
        Ok(_) => panic!("admitted: {schema}"),
        Err(problem) => problem,
    }
}

fn object_schema(keyword: &str, value: Value) -> Value {
    let mut schema = json!({"type": "object"});
    schema[keyword] = value;
    schema
}

/// Returns a schema with `definitions` definitions, each of which refers twice to the next.
fn doubling_schema(definitions: usize) -> Value {
    let mut defs = Map::new();
    for i in 0..definitions {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(format!("d{i}"), json!({"anyOf": [next, next]}));
    }
    defs.insert(format!("d{definitions}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

/// Returns a schema with `definitions` definitions, each of which is only a reference to the next.
fn chain_schema(definitions: usize) -> Value {
    let mut defs = Map::new();
    for i in 0..definitions {
        defs.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
    }
    defs.insert(format!("d{definitions}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

/// Returns the tree of a schema: the schema in which each `$ref` is replaced by its target.
fn tree(schema: &Value) -> Value {
    admit(schema, Root::Any).unwrap().schema
}

#[test]
fn an_ordinary_schema_is_admitted() {
    let schema = json!({
        "$schema": DIALECT,
        "$id": "https://example.com/tool",
        "type": "object",
        "description": "what people write",
        "properties": {
            "name": {"type": "string", "pattern": "^[\\w.+-]+@[\\w-]+$", "maxLength": 100},
            "kind": {"enum": ["a", "b"]},
            "tree": {"$ref": "#/$defs/tree"},
            "$id": {"type": "string"},
        },
        "required": ["name"],
        "additionalProperties": false,
        "$defs": {
            "tree": {"type": "object", "properties": {
                "left": {"$ref": "#/$defs/leaf"}, "right": {"$ref": "#/$defs/leaf"}, "a/b~c": true,
            }},
            "leaf": {"type": "integer"},
        },
    });
    let value = json!({"name": "a@b", "tree": {"left": 1}});
    assert_eq!(check(&schema, &value), Ok(()));
    let wrong = json!({"name": "a@b", "tree": {"right": "x"}});
    assert_eq!(check(&schema, &wrong), Err("/tree/right must be integer".to_owned()));
}

#[test]
fn a_reference_without_other_keywords_is_replaced_by_its_target() {
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/properties/a"}},
        "$defs": {"n": {"type": "number"}}});
    let number = json!({"type": "number"});
    assert_eq!(tree(&schema), json!({"properties": {"a": number, "b": number}}));
    assert_eq!(
        tree(&json!({"items": {"$ref": "#/$defs/n"}, "$defs": {"n": false}})),
        json!({"items": false})
    );
}

#[test]
fn annotations_next_to_a_reference_override_those_of_the_target() {
    let schema = json!({
        "$ref": "#/definitions/n", "description": "mine", "default": 2, "x-mine": [1],
        "definitions": {"n": {"type": "number", "description": "target", "title": "N", "default": 1}},
    });
    let expected = json!({"description": "mine", "default": 2, "x-mine": [1], "type": "number", "title": "N"});
    assert_eq!(tree(&schema), expected);
    let reference_to_false = json!({"$ref": "#/$defs/n", "title": "T", "$defs": {"n": false}});
    assert_eq!(tree(&reference_to_false), json!({"title": "T", "allOf": [false]}));
}

#[test]
fn the_target_of_a_reference_next_to_assertions_is_added_to_all_of() {
    let defs = json!({"n": {"type": "number", "minimum": 1, "title": "N"}});
    let with_minimum = json!({"$ref": "#/$defs/n", "minimum": 5, "$defs": defs});
    assert_eq!(tree(&with_minimum), json!({"minimum": 5, "allOf": [defs["n"]]}));
    let with_all_of = json!({"allOf": [true], "$ref": "#/$defs/n", "$defs": defs});
    assert_eq!(tree(&with_all_of), json!({"allOf": [true, defs["n"]]}));
    assert!(check(&with_minimum, &json!(3)).is_err() && check(&with_minimum, &json!(5)).is_ok());
}

#[test]
fn data_that_looks_like_a_reference_is_copied_unchanged() {
    let data = json!({"$ref": "#/$defs/none", "$defs": {"a": 1}});
    let schema = json!({"const": data, "enum": [data], "default": data, "examples": [data], "x-unknown": data});
    assert_eq!(tree(&schema), schema);
    let properties_named_like_keywords =
        json!({"properties": {"$ref": {"type": "string"}, "$defs": {"type": "string"}}});
    assert_eq!(tree(&properties_named_like_keywords), properties_named_like_keywords);
}

#[test]
fn a_reference_at_the_root_must_point_to_an_object_schema() {
    let schema = json!({"$ref": "#/$defs/args", "$defs": {"args": {"type": "object"}}});
    assert_eq!(admit(&schema, Root::Object).unwrap().schema, json!({"type": "object"}));
    let reference_to_text = json!({"$ref": "#/$defs/args", "$defs": {"args": {"type": "string"}}});
    assert_eq!(problem(&reference_to_text), SchemaProblem::RootNotObject);
}

#[test]
fn references_that_multiply_the_number_of_schemas_are_refused_quickly() {
    for definitions in 1..=64 {
        let schema = doubling_schema(definitions);
        let start = Instant::now();
        let result = admit(&schema, Root::Object);
        assert!(start.elapsed() < Duration::from_secs(1));
        // The tree has two to the power of `definitions + 1` schemas, and at most 2,000 are admitted.
        assert_eq!(result.is_ok(), definitions <= 9, "{definitions}");
    }
    // This schema is also nested too deeply, and either problem may be found first.
    let message = problem(&doubling_schema(40)).to_string();
    assert!(
        message.contains("nested more than 32 levels") || message.contains("more than 2000 schemas"),
        "{message}"
    );
    let message = problem(&doubling_schema(20)).to_string();
    assert!(
        message.contains("more than 2000 schemas when each `$ref` is replaced"),
        "{message}"
    );
    assert!(message.contains("the last one `#/$defs/d"), "{message}");
}

/// Returns a schema with a chain of `levels` definitions, each with `properties` properties that refer to the next definition.
fn fan_schema(properties: usize, levels: usize) -> Value {
    let level = |i: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        let references: Map<_, _> = (0..properties).map(|p| (format!("p{p}"), next.clone())).collect();
        (format!("d{i}"), json!({"type": "object", "properties": references}))
    };
    let mut defs: Map<_, _> = (0..levels).map(level).collect();
    defs.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

#[test]
fn properties_that_refer_to_one_definition_are_counted_each_time() {
    // The tree has a little more than `properties` to the power of `levels` schemas, and at most 2,000 are admitted.
    for (properties, levels, admitted) in [
        (20, 1, true),
        (20, 2, true),
        (20, 3, false),
        (40, 2, true),
        (40, 4, false),
        (45, 2, false),
    ] {
        assert_eq!(
            admit(&fan_schema(properties, levels), Root::Object).is_ok(),
            admitted,
            "{properties} {levels}"
        );
    }
}

#[test]
fn copies_of_a_definition_are_bounded_in_bytes() {
    let long = "x".repeat(4_000);
    let schema_with_copies = |copies: usize| {
        let reference = json!({"$ref": "#/$defs/d"});
        let properties: Map<_, _> = (0..copies).map(|p| (format!("p{p}"), reference.clone())).collect();
        json!({"type": "object", "properties": properties, "$defs": {"d": {"description": long}}})
    };
    // The tree may have 64 KiB as text: 15 copies of the long description fit, and 17 do not.
    assert!(admit(&schema_with_copies(15), Root::Object).is_ok());
    for copies in [17, 100, 600] {
        let refused = problem(&schema_with_copies(copies));
        assert!(matches!(refused, SchemaProblem::TreeTooLong(_)), "{copies}");
    }
}

#[test]
fn long_chains_of_references_are_refused() {
    // A chain may have at most 64 references.
    assert!(CompiledSchema::new(&chain_schema(60), Root::Object).is_ok());
    assert_eq!(problem(&chain_schema(70)), SchemaProblem::TooManyReferences);
    assert_eq!(problem(&chain_schema(600)), SchemaProblem::TooManyReferences);
    // A schema compiler that follows 20,000 references recursively overflows the stack. Admission refuses the schema before
    // it is compiled, because it has too many values.
    let start = Instant::now();
    assert_eq!(problem(&chain_schema(20_000)), SchemaProblem::TooManyValues);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_deeply_nested_schema_is_refused() {
    let mut schema = json!({});
    for _ in 0..40 {
        schema = json!({ "not": schema });
    }
    assert_eq!(problem(&object_schema("not", schema)), SchemaProblem::TooDeep);
}

#[test]
fn a_schema_with_too_many_values_or_too_much_text_is_refused() {
    let names: Vec<_> = (0..2_100).map(|i| format!("v{i}")).collect();
    assert_eq!(
        problem(&object_schema("enum", json!(names))),
        SchemaProblem::TooManyValues
    );
    let text = "x".repeat(70_000);
    assert!(matches!(
        problem(&object_schema("description", json!(text))),
        SchemaProblem::TextTooLong(70_000..)
    ));
}

#[test]
fn only_local_references_to_schemas_are_admitted() {
    for foreign in [
        "file:///etc/passwd",
        "http://169.254.169.254/latest",
        "other.json",
        "",
        "#anchor",
        "https://json-schema.org/draft/2020-12/schema",
        "#/$defs/a%20b",
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": foreign}}, "$defs": {"a b": {}}});
        assert!(
            matches!(problem(&schema), SchemaProblem::ForeignReference { .. }),
            "{foreign}"
        );
    }
    for dangling in ["#/$defs/none", "#/", "#/properties", "#/default", "#/type"] {
        let schema =
            json!({"type": "object", "default": {"pattern": "(?=x)"}, "properties": {"a": {"$ref": dangling}}});
        assert!(
            matches!(problem(&schema), SchemaProblem::DanglingReference { .. }),
            "{dangling}"
        );
    }
    let number = json!({"type": "object", "properties": {"a": {"$ref": 1}}});
    assert!(matches!(problem(&number), SchemaProblem::ForeignReference { .. }));
}

#[test]
fn recursive_references_are_refused() {
    let cycles = [
        json!({"a": {"$ref": "#/$defs/a"}}),
        json!({"a": {"properties": {"left": {"$ref": "#/$defs/a"}}}}),
        json!({"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}),
        json!({"a": {"not": {"$ref": "#/$defs/a"}}}),
        json!({"a": {"if": {"$ref": "#/$defs/b"}}, "b": {"dependentSchemas": {"x": {"$ref": "#/$defs/a"}}}}),
        json!({"a": {"type": "array", "items": {"$ref": "#/$defs/b"}}, "b": {"then": {"$ref": "#/$defs/a"}}}),
    ];
    for defs in cycles {
        let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": defs});
        let message = problem(&schema).to_string();
        assert!(
            message.starts_with("the `$ref` `#/$defs/a` at `/properties/p"),
            "{message}"
        );
        assert!(message.contains("write as many levels as are needed"), "{message}");
    }
    let root = json!({"type": "object", "properties": {"p": {"$ref": "#"}}});
    assert!(matches!(problem(&root), SchemaProblem::Recursive { .. }));
    let outer = json!({"type": "object", "properties": {"p": {"items": {"$ref": "#/properties/p"}}}});
    assert!(matches!(problem(&outer), SchemaProblem::Recursive { .. }));
}

#[test]
fn an_unused_definition_is_not_checked() {
    let unused = json!({"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(tree(&unused), json!({"type": "object"}));
}

#[test]
fn any_other_dialect_than_2020_12_is_refused() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "x:y",
    ] {
        assert_eq!(
            problem(&object_schema("$schema", json!(dialect))),
            SchemaProblem::Dialect(dialect.to_owned())
        );
    }
    assert!(matches!(
        problem(&object_schema("$schema", json!(1))),
        SchemaProblem::Dialect(_)
    ));
}

#[test]
fn the_root_must_be_an_object() {
    for root in [
        json!(true),
        json!(null),
        json!([]),
        json!("x"),
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["object"]}),
    ] {
        assert_eq!(problem(&root), SchemaProblem::RootNotObject, "{root}");
    }
    assert!(CompiledSchema::new(&json!({"type": "string"}), Root::Any).is_ok());
    assert!(CompiledSchema::new(&json!(true), Root::Any).is_ok());
    assert!(CompiledSchema::new(&json!(5), Root::Any).is_err());
}

#[test]
fn keywords_that_change_the_target_of_references_are_refused() {
    for keyword in [
        "$dynamicRef",
        "$recursiveRef",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$vocabulary",
    ] {
        let schema = json!({"type": "object", "properties": {"a": {keyword: "#x"}}});
        assert!(
            matches!(problem(&schema), SchemaProblem::RefusedKeyword { .. }),
            "{keyword}"
        );
    }
    // These two are admitted only at the root.
    for keyword in ["$id", "$schema"] {
        let properties = json!({"a": {"$ref": "#/$defs/a"}});
        let schema = json!({"type": "object", "properties": properties, "$defs": {"a": {keyword: DIALECT}}});
        assert!(
            matches!(problem(&schema), SchemaProblem::RefusedKeyword { .. }),
            "{keyword}"
        );
    }
}

#[test]
fn malformed_keywords_are_refused() {
    let cases = [
        ("required", json!("a")),
        ("required", json!(["a", "a"])),
        ("properties", json!([])),
        ("properties", json!({"a": 1})),
        ("minProperties", json!(-1)),
        ("additionalProperties", json!("no")),
        ("items", json!([{}])),
        ("anyOf", json!([])),
        ("enum", json!("a")),
        ("pattern", json!(1)),
        ("exclusiveMinimum", json!(true)),
        ("$id", json!(1)),
        ("$defs", json!(1)),
    ];
    for (keyword, value) in cases {
        let refused = problem(&object_schema(keyword, value));
        assert!(
            matches!(
                refused,
                SchemaProblem::Invalid { .. } | SchemaProblem::NotASchema { .. }
            ),
            "{keyword}: {refused:?}"
        );
    }
}

#[test]
fn only_small_patterns_that_match_in_linear_time_are_admitted() {
    let refused_patterns = [
        "(x+x+)+y(?!z)",
        "(?<=a)b",
        "(a)\\1",
        "(",
        "(?P<n>",
        "a{1000}{1000}",
        "[",
        "\\p{Nope}",
    ];
    for pattern in refused_patterns {
        for schema in [
            json!({"type": "object", "properties": {"a": {"pattern": pattern}}}),
            json!({"type": "object", "patternProperties": {pattern: true}}),
        ] {
            let refused = problem(&schema);
            assert!(
                matches!(
                    refused,
                    SchemaProblem::PatternRefused { .. } | SchemaProblem::Invalid { .. }
                ),
                "{pattern}: {refused:?}"
            );
        }
    }
    let long = "x".repeat(513);
    for schema in [
        object_schema("pattern", json!(long)),
        object_schema("patternProperties", json!({long: {}})),
    ] {
        assert!(matches!(
            problem(&schema),
            SchemaProblem::PatternTooLong { bytes: 513, .. }
        ));
    }
    let many: Map<_, _> = (0..65).map(|i| (format!("a{i}"), json!({}))).collect();
    assert_eq!(
        problem(&object_schema("patternProperties", json!(many))),
        SchemaProblem::TooManyPatterns
    );
    assert!(CompiledSchema::new(&object_schema("pattern", json!("(x+x+)+y")), Root::Object).is_ok());
}

/// Returns a schema with `n` properties, each of which has `n` properties with the same pattern.
fn schema_repeating_a_pattern(n: usize) -> Value {
    let references =
        |target: &str| -> Map<_, _> { (0..n).map(|p| (format!("p{p}"), json!({"$ref": target}))).collect() };
    json!({
        "type": "object",
        "properties": references("#/$defs/inner"),
        "$defs": {"inner": {"properties": references("#/$defs/text")}, "text": {"pattern": "(a|b)*a(a|b){50}c"}},
    })
}

#[test]
fn a_pattern_counts_for_each_path_to_it() {
    // The tree has the pattern `n * n` times, and at most 64 patterns are admitted.
    assert!(admit(&schema_repeating_a_pattern(8), Root::Object).is_ok());
    for n in [9, 30, 65] {
        assert_eq!(
            problem(&schema_repeating_a_pattern(n)),
            SchemaProblem::TooManyPatterns,
            "{n}"
        );
    }
}

#[test]
fn the_compiled_size_of_all_patterns_together_is_bounded() {
    let heavy_patterns =
        |n: usize| -> Map<_, _> { (0..n).map(|i| (format!("(a|b){{2000}}x{i}"), json!({}))).collect() };
    assert!(
        admit(
            &object_schema("patternProperties", json!(heavy_patterns(1))),
            Root::Object
        )
        .is_ok()
    );
    let message = problem(&object_schema("patternProperties", json!(heavy_patterns(60)))).to_string();
    assert!(message.contains("must compile to at most 524288 bytes"), "{message}");
}

/// Checks a value against a schema. The error lists the violations.
fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let compiled = CompiledSchema::new(schema, Root::Any).unwrap();
    let size = JsonSize::measure(value, 64, 50_000).unwrap();
    let start = Instant::now();
    let result = compiled
        .check(value, &size, "input")
        .map_err(|violations| violations.to_string());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    result
}

/// Returns `leaf` inside `levels` objects.
fn nested_objects(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| json!({ "x": inner }))
}

#[test]
fn the_cost_grows_with_the_number_of_schemas_and_of_values() {
    let admitted = |n: usize| admit(&json!({"items": {"allOf": vec![json!({"minimum": 1}); n]}}), Root::Any).unwrap();
    let size = |nodes: usize| JsonSize { nodes, text_bytes: 0 };
    for n in [10, 100, 900] {
        let cost = admitted(n).cost;
        // Each schema in `allOf` costs two units of work: one for itself and one for the number that is compared. The schema
        // with `items` and the schema of the items cost one unit each.
        assert_eq!(cost.work(&size(1_000)), 1_000 * 2 * (u64::try_from(n).unwrap() + 1));
    }
    assert!(admitted(90).cost.allows(&size(50_000)) && !admitted(900).cost.allows(&size(50_000)));
    assert!(admitted(10).cost.is_light(&size(1_000)) && !admitted(900).cost.is_light(&size(1_000)));
}

#[test]
fn a_value_that_is_too_large_for_its_schema_is_refused() {
    let schema = json!({"items": {"anyOf": vec![json!({"type": "string", "minLength": 1}); 500]}});
    let error = check(&schema, &json!(vec![1; 40_000])).unwrap_err();
    assert!(error.contains("too large or nested too deeply"), "{error}");
    let error = check(&schema, &json!(vec![1; 4_000])).unwrap_err();
    assert!(error.contains("too large to say where"), "{error}");
    assert!(check(&schema, &json!([1])).unwrap_err().contains("anyOf"));
}

#[test]
fn checking_with_the_deepest_tree_does_not_overflow_the_stack() {
    let mut schema = json!({"type": "string"});
    for _ in 1..MAX_SCHEMA_DEPTH {
        schema = json!({ "anyOf": [schema] });
    }
    assert!(check(&schema, &json!(1)).is_err());
    let mut schema = json!({"const": 1});
    for _ in 1..MAX_SCHEMA_DEPTH {
        schema = json!({"properties": {"x": schema}});
    }
    assert_eq!(check(&schema, &nested_objects(MAX_SCHEMA_DEPTH - 1, json!(1))), Ok(()));
    assert!(check(&schema, &nested_objects(MAX_SCHEMA_DEPTH - 1, json!(2))).is_err());
}

#[test]
fn nested_unevaluated_keywords_for_the_same_value_are_refused() {
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        for applicator in ["allOf", "anyOf", "oneOf"] {
            let nested = json!({keyword: false, "title": "nested"});
            let direct = json!({keyword: false, applicator: [nested]});
            let by_reference = json!({keyword: false, "$ref": "#/$defs/a", "$defs": {"a": {"not": nested}}});
            for schema in [direct, by_reference] {
                let refused = admit(&schema, Root::Any).unwrap_err();
                assert!(
                    matches!(refused, SchemaProblem::NestedUnevaluated { .. }),
                    "{schema}: {refused}"
                );
            }
        }
        // The inner keyword is for a part of the value, so the keywords are not for the same value.
        let for_a_part = json!({keyword: false, "properties": {"a": {keyword: false}}, "allOf": [{"title": "x"}]});
        assert!(CompiledSchema::new(&for_a_part, Root::Any).is_ok());
    }
}

#[test]
fn nested_unevaluated_keywords_for_parts_of_a_value_are_refused_if_they_cost_too_much() {
    let nested = |levels: usize| {
        (0..levels).fold(
            json!({"type": "object"}),
            |below, _| json!({"unevaluatedProperties": false, "anyOf": [{"properties": {"x": below}}]}),
        )
    };
    assert!(CompiledSchema::new(&nested(4), Root::Any).is_ok());
    for levels in [12, 15] {
        assert_eq!(
            admit(&nested(levels), Root::Any).unwrap_err(),
            SchemaProblem::TooMuchWorkPerValue
        );
    }
}

#[test]
fn contains_next_to_unevaluated_items_counts_each_time_that_it_is_applied() {
    let nested = |levels: usize| {
        (0..levels).fold(
            json!(true),
            |below, _| json!({"contains": below, "unevaluatedItems": false}),
        )
    };
    let work_of = |levels: usize| admit(&nested(levels), Root::Any).map(|tree| tree.cost.work_per_value);
    for levels in 1..8 {
        assert!(work_of(levels + 1).unwrap() >= 2 * work_of(levels).unwrap(), "{levels}");
    }
    assert_eq!(work_of(20), Err(SchemaProblem::TooMuchWorkPerValue));
}

/// Returns the work of applying a schema to a value.
fn work(schema: &Value, value: &Value) -> u64 {
    let size = JsonSize::of_payload(value).unwrap();
    admit(schema, Root::Any).unwrap().cost.work(&size)
}

#[test]
fn keywords_that_take_longer_than_a_comparison_cost_more() {
    let items = json!((0..49_000).collect::<Vec<_>>());
    let names: Value = (0..49_000).map(|n| (n.to_string(), json!(n))).collect();
    // Without the extra work of `uniqueItems`, 97 copies of its schema would be allowed.
    for (keyword, schema, value) in [
        ("uniqueItems", json!({"uniqueItems": true}), &items),
        ("multipleOf", json!({"items": {"multipleOf": 0.1}}), &items),
        ("propertyNames", json!({"propertyNames": {"maxLength": 9}}), &names),
    ] {
        let work_of_copies = |n: usize| work(&json!({"allOf": vec![schema.clone(); n]}), value);
        let (work_of_one, work_of_many) = (work_of_copies(1), work_of_copies(97));
        assert!(
            work_of_one <= MAX_WORK && work_of_many > MAX_WORK,
            "{keyword}: {work_of_many}"
        );
    }
    let nested = (0..30).fold(json!(true), |inner, _| json!({"uniqueItems": true, "items": inner}));
    assert!(work(&nested, &items) > MAX_WORK);
}

#[test]
fn long_texts_of_a_schema_count_for_each_compared_value() {
    // The text costs as much as 100 values. An array of 10,000 objects with two numbers each has about
    // 30,000 values.
    let long = "n".repeat(3_200);
    let values = json!(vec![json!({"a": 1, "b": 2}); 10_000]);
    for schema in [
        json!({"required": [long]}),
        json!({"properties": {long.clone(): true}}),
        json!({"const": long}),
        json!({"enum": [long]}),
    ] {
        assert!(work(&json!({"items": schema}), &values) > 100 * 30_000, "{schema}");
    }
}

#[test]
fn a_pattern_has_a_cost_even_on_an_empty_text() {
    let schema = json!({"items": {"pattern": "(a?){1500}b"}});
    let work_on_empty_texts = |texts: usize| work(&schema, &json!(vec![""; texts]));
    assert!(work_on_empty_texts(100) <= MAX_WORK && work_on_empty_texts(49_000) > MAX_WORK);
}

#[test]
fn a_pattern_with_a_large_program_may_be_matched_only_against_a_short_text() {
    let heavy = json!({"pattern": "(a|b)*a(a|b){1500}c"});
    assert!(work(&heavy, &json!("ab".repeat(50))) <= MAX_WORK);
    assert!(work(&heavy, &json!("ab".repeat(2_000))) > MAX_WORK);
    for simple in ["^[a-z]+$", "^[A-Za-z_][A-Za-z0-9_]*$", "^\\d{4}-\\d{2}-\\d{2}$"] {
        assert!(
            work(&json!({"pattern": simple}), &json!("a".repeat(256 << 10))) <= MAX_WORK,
            "{simple}"
        );
    }
}

#[test]
fn violations_are_listed_only_if_their_paths_are_short_enough() {
    let violations_under = |name_bytes: usize, items: usize| {
        let value = json!({"n".repeat(name_bytes): vec![1; items]});
        check(&json!({"additionalProperties": {"items": false}}), &value).unwrap_err()
    };
    assert!(violations_under(10, 5_000).contains("must be absent"));
    assert!(violations_under(100_000, 5_000).contains("too large to say where"));
}

#[test]
fn the_list_of_violations_is_bounded_in_bytes() {
    let names = |prefix: &str| -> Map<_, _> { (0..8).map(|n| (format!("{prefix}{n:0250}"), json!(true))).collect() };
    let closed = json!({"properties": names("other"), "additionalProperties": false});
    let message = check(&json!({"allOf": vec![closed; 8]}), &json!(names(""))).unwrap_err();
    // Violations are listed until the list has 16 KiB. The last one may exceed this by a few kilobytes.
    assert!(message.len() < 21_000 && message.ends_with(" more"), "{message}");
}

#[test]
fn the_path_to_a_schema_is_bounded_in_bytes() {
    let deep = |name_bytes: usize| {
        (0..20).fold(
            json!({"type": "string"}),
            |inner, _| json!({"properties": {"n".repeat(name_bytes): inner}}),
        )
    };
    assert!(admit(&deep(100), Root::Any).is_ok());
    assert!(matches!(
        admit(&deep(1_900), Root::Any).unwrap_err(),
        SchemaProblem::PointerTooLong { .. }
    ));
}

#[test]
fn unique_items_that_jsonschema_hashes_alike_are_checked_quickly() {
    let schema = json!({"type": "array", "uniqueItems": true});
    for n in [500, 1_000, 2_000] {
        // The crate `jsonschema` hashes a number as a float and an array as its items. All numbers below round to one of two
        // floats, so the crate would compare each item with very many others.
        let number = |i: u64| json!((1 << 63) + i);
        let wrapped = |i: u64| {
            [
                number(i),
                json!([number(i)]),
                json!([[number(i)]]),
                json!([[[number(i)]]]),
            ]
        };
        let mut colliding: Vec<_> = (0..n).flat_map(wrapped).collect();
        assert_eq!(check(&schema, &json!(colliding)), Ok(()));
        colliding.push(number(n / 2));
        assert!(check(&schema, &json!(colliding)).is_err());
    }
    assert_eq!(
        check(&json!({"uniqueItems": true}), &json!([[1], [1.0]])),
        Err("input must not have equal items".to_owned())
    );
    assert_eq!(check(&json!({"uniqueItems": false}), &json!([1, 1])), Ok(()));
}

#[test]
fn extreme_multiples_are_recognised_and_their_cost_is_counted() {
    let schema_with = |n: usize| json!({"items": {"allOf": vec![json!({"multipleOf": 1.1e-300}); n]}});
    let numbers: Vec<_> = (0..40_000).map(|i| json!(1.7e300 + f64::from(i) * 1e290)).collect();
    assert!(check(&schema_with(1), &json!([2.2e-300, 1.1e300])).is_ok());
    let message = check(&schema_with(1), &json!(numbers)).unwrap_err();
    assert!(message.contains("does not match its schema"), "{message}");
    let message = check(&schema_with(20), &json!(numbers)).unwrap_err();
    assert!(message.contains("too large"), "{message}");
}

#[test]
fn a_long_text_for_an_expensive_pattern_is_refused() {
    // A pseudo-random text of `a` and `b`.
    let mut state = 1_u32;
    let text: String = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    })
    .take(1 << 20)
    .collect();
    let heavy = json!({"pattern": "(a|b)*a(a|b){2000}c"});
    let error = check(&heavy, &json!(text)).unwrap_err();
    assert!(error.contains("too large"), "{error}");
    assert!(check(&heavy, &json!(text[..200])).unwrap_err().contains("must match"));
    let simple = json!({"pattern": "^[a-b]+$"});
    assert_eq!(check(&simple, &json!(text)), Ok(()));
}

/// Generates values that look like schemas.
fn any_schema_like_value() -> impl Strategy<Value = Value> {
    let reference = prop_oneof![
        Just("#/$defs/a"),
        Just("#/$defs/b"),
        Just("#/$defs/c"),
        Just("#"),
        Just("#/properties/a"),
        Just("x")
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        reference.prop_map(|r| json!({"$ref": r})),
        "[a-z(+*)\\[?=!]{0,8}".prop_map(|p| json!({"pattern": p})),
        Just(json!({"type": "string"})),
        any::<i32>().prop_map(|n| json!({"minimum": n, "minLength": n})),
        Just(json!(null)),
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let map = prop::collection::hash_map(prop_oneof![Just("a"), Just("b"), Just("c")], inner.clone(), 0..4);
        prop_oneof![
            (
                prop_oneof![
                    Just("anyOf"),
                    Just("allOf"),
                    Just("oneOf"),
                    Just("prefixItems"),
                    Just("enum")
                ],
                list
            )
                .prop_map(|(k, v)| json!({k: v})),
            (
                prop_oneof![
                    Just("properties"),
                    Just("$defs"),
                    Just("patternProperties"),
                    Just("dependentSchemas")
                ],
                map
            )
                .prop_map(|(k, v)| json!({k: v})),
            (
                prop_oneof![
                    Just("not"),
                    Just("items"),
                    Just("if"),
                    Just("contains"),
                    Just("unevaluatedProperties")
                ],
                inner
            )
                .prop_map(|(k, v)| json!({k: v})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn admission_and_validation_are_bounded_and_never_panic(
        a in any_schema_like_value(), b in any_schema_like_value(), c in any_schema_like_value(), depth in 0usize..30,
    ) {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}, "x": {"$ref": "#/$defs/b"}},
            "$defs": {"a": a, "b": b, "c": c},
        });
        let start = Instant::now();
        if let Ok(compiled) = CompiledSchema::new(&schema, Root::Object) {
            let value = json!({"a": nested_objects(depth, json!(["a", 1, {}])), "x": {"a": {"b": 1}}});
            let size = JsonSize::measure(&value, 64, 1_000).unwrap();
            if let Err(violations) = compiled.check(&value, &size, "input") {
                prop_assert!(violations.to_string().len() < 100_000);
            }
        }
        prop_assert!(start.elapsed() < Duration::from_secs(5));
    }
}
