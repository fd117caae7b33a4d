use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::schema::CompiledSchema;

fn problem(schema: &Value) -> SchemaProblem {
    match CompiledSchema::new(schema, Root::Object) {
        Ok(_) => panic!("admitted: {schema}"),
        Err(problem) => problem,
    }
}

fn object(keyword: &str, value: Value) -> Value {
    let mut schema = json!({"type": "object"});
    schema[keyword] = value;
    schema
}

/// `n` definitions, each of which refers twice to the next.
fn expo(n: usize) -> Value {
    let mut defs = Map::new();
    for i in 0..n {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(format!("d{i}"), json!({"anyOf": [next, next]}));
    }
    defs.insert(format!("d{n}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

fn chain(n: usize) -> Value {
    let mut defs = Map::new();
    for i in 0..n {
        defs.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
    }
    defs.insert(format!("d{n}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
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
        "$defs": {"tree": {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}, "a/b~c": true,
        }}},
    });
    let compiled = CompiledSchema::new(&schema, Root::Object).unwrap();
    let mut deep = json!({});
    for _ in 0..50 {
        deep = json!({ "left": deep });
    }
    let value = json!({"name": "a@b", "tree": deep});
    let shape = Shape::measure(&value, 64, 1_000).unwrap();
    assert_eq!(compiled.check(&value, &shape, "input"), Ok(()));
}

#[test]
fn references_that_fan_out_are_refused_at_once() {
    for n in 1..=64 {
        let schema = expo(n);
        let start = Instant::now();
        let result = admit(&schema, Root::Object);
        assert!(start.elapsed() < Duration::from_secs(1));
        assert_eq!(result.is_ok(), n <= 11, "{n}: {result:?}");
    }
    assert_eq!(problem(&expo(40)), SchemaProblem::TooManyPaths);
}

#[test]
fn long_chains_are_refused_without_recursion() {
    assert!(CompiledSchema::new(&chain(60), Root::Object).is_ok());
    assert_eq!(problem(&chain(70)), SchemaProblem::ReferencesTooDeep);
    assert_eq!(problem(&chain(600)), SchemaProblem::ReferencesTooDeep);
    // 20,000 links abort the process when they are compiled; here they are too many values.
    let start = Instant::now();
    assert_eq!(problem(&chain(20_000)), SchemaProblem::TooManyNodes);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn deep_values_are_refused_before_anything_walks_them() {
    let mut schema = json!({});
    for _ in 0..40 {
        schema = json!({ "not": schema });
    }
    assert_eq!(problem(&object("not", schema)), SchemaProblem::TooDeep);
}

#[test]
fn sizes_are_capped() {
    let names: Vec<_> = (0..2_100).map(|i| format!("v{i}")).collect();
    assert_eq!(problem(&object("enum", json!(names))), SchemaProblem::TooManyNodes);
    let text = "x".repeat(70_000);
    assert!(matches!(
        problem(&object("description", json!(text))),
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
        "#",
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
fn references_that_get_nowhere_are_refused() {
    let cycles = [
        json!({"a": {"$ref": "#/$defs/a"}}),
        json!({"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}),
        json!({"a": {"not": {"$ref": "#/$defs/a"}}}),
        json!({"a": {"if": {"$ref": "#/$defs/b"}}, "b": {"dependentSchemas": {"x": {"$ref": "#/$defs/a"}}}}),
        json!({"a": {"properties": {"p": {"$ref": "#/$defs/b"}}, "allOf": [{"$ref": "#/$defs/b"}]},
               "b": {"then": {"$ref": "#/$defs/a"}}}),
    ];
    for defs in cycles {
        let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": defs});
        assert!(
            matches!(problem(&schema), SchemaProblem::UnproductiveCycle { .. }),
            "{schema}"
        );
    }
    let unused = json!({"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert!(matches!(problem(&unused), SchemaProblem::UnproductiveCycle { .. }));
}

#[test]
fn the_dialect_is_fixed() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "x:y",
    ] {
        assert_eq!(
            problem(&object("$schema", json!(dialect))),
            SchemaProblem::Dialect(dialect.to_owned())
        );
    }
    assert!(matches!(
        problem(&object("$schema", json!(1))),
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
fn keywords_that_move_references_are_refused() {
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
    for keyword in ["$id", "$schema"] {
        let schema = json!({"type": "object", "$defs": {"a": {keyword: DIALECT}}});
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
        let problem = problem(&object(keyword, value));
        assert!(
            matches!(
                problem,
                SchemaProblem::Invalid { .. } | SchemaProblem::NotASchema { .. }
            ),
            "{keyword}: {problem:?}"
        );
    }
}

#[test]
fn only_small_linear_patterns_are_admitted() {
    let refused = [
        "(x+x+)+y(?!z)",
        "(?<=a)b",
        "(a)\\1",
        "(",
        "(?P<n>",
        "a{1000}{1000}",
        "[",
        "\\p{Nope}",
    ];
    for pattern in refused {
        for schema in [
            json!({"type": "object", "properties": {"a": {"pattern": pattern}}}),
            json!({"type": "object", "patternProperties": {pattern: true}}),
        ] {
            let problem = problem(&schema);
            assert!(
                matches!(
                    problem,
                    SchemaProblem::PatternRefused { .. } | SchemaProblem::Invalid { .. }
                ),
                "{pattern}: {problem:?}"
            );
        }
    }
    let long = "x".repeat(513);
    for schema in [
        object("pattern", json!(long)),
        object("patternProperties", json!({long: {}})),
    ] {
        assert!(matches!(
            problem(&schema),
            SchemaProblem::PatternTooLong { bytes: 513, .. }
        ));
    }
    let many: Map<_, _> = (0..65).map(|i| (format!("a{i}"), json!({}))).collect();
    assert_eq!(
        problem(&object("patternProperties", json!(many))),
        SchemaProblem::TooManyPatterns
    );
    assert!(CompiledSchema::new(&object("pattern", json!("(x+x+)+y")), Root::Object).is_ok());
}

fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let compiled = CompiledSchema::new(schema, Root::Any).unwrap();
    let shape = Shape::measure(value, 64, 50_000).unwrap();
    let start = Instant::now();
    let result = compiled
        .check(value, &shape, "input")
        .map_err(|violations| violations.to_string());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    result
}

fn nested(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| json!({ "x": inner }))
}

#[test]
fn a_recursive_choice_is_checked_only_as_deep_as_it_is_cheap() {
    let again = json!({"$ref": "#/$defs/n"});
    let schema = json!({
        "$ref": "#/$defs/n",
        "$defs": {"n": {"anyOf": [
            {"type": "object", "properties": {"x": again}},
            {"type": "object", "properties": {"x": again}},
            {"const": 1},
        ]}},
    });
    assert_eq!(check(&schema, &nested(8, json!(1))), Ok(()));
    assert!(check(&schema, &nested(8, json!(2))).unwrap_err().contains("anyOf"));
    let error = check(&schema, &nested(60, json!(2))).unwrap_err();
    assert!(error.contains("too large or nested too deeply"), "{error}");
}

#[test]
fn recursion_over_several_levels_counts_as_growth() {
    let level = |i: usize| {
        json!({"properties": {"x": {"allOf": [
            {"$ref": format!("#/$defs/l{i}")}, {"$ref": format!("#/$defs/l{}", i + 1)},
        ]}}})
    };
    let mut defs: Map<_, _> = (0..10).map(|i| (format!("l{i}"), level(i))).collect();
    defs.insert("l10".to_owned(), json!({"properties": {"x": {"$ref": "#/$defs/l10"}}}));
    let schema = json!({"$ref": "#/$defs/l0", "$defs": defs});
    assert_eq!(check(&schema, &nested(5, json!(1))), Ok(()));
    let error = check(&schema, &nested(60, json!(1))).unwrap_err();
    assert!(error.contains("too large or nested too deeply"), "{error}");
}

#[test]
fn deep_recursion_stays_within_the_stack() {
    // The longest chain in place that is admitted, at every level of the deepest value that is admitted.
    let mut schema = json!({"properties": {"x": {"$ref": "#/$defs/n"}}});
    for _ in 0..12 {
        schema = json!({ "allOf": [schema] });
    }
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": schema}});
    assert_eq!(check(&schema, &nested(63, json!(1))), Ok(()));
}

#[test]
fn looking_back_counts_as_work() {
    let mut schema = json!({"type": "object"});
    for _ in 0..7 {
        schema = json!({"unevaluatedProperties": false, "allOf": [schema]});
    }
    assert_eq!(
        CompiledSchema::new(&schema, Root::Any).unwrap_err(),
        SchemaProblem::TooManyPaths
    );
}

#[test]
fn hostile_text_against_hostile_patterns_is_refused() {
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
    assert!(check(&heavy, &json!(text[..1_000])).unwrap_err().contains("must match"));
    let simple = json!({"pattern": "^[a-b]+$"});
    assert_eq!(check(&simple, &json!(text)), Ok(()));
}

/// Values that look like schemas.
fn schemas() -> impl Strategy<Value = Value> {
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
        a in schemas(), b in schemas(), c in schemas(), depth in 0usize..30,
    ) {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}, "x": {"$ref": "#/$defs/b"}},
            "$defs": {"a": a, "b": b, "c": c},
        });
        let start = Instant::now();
        if let Ok(compiled) = CompiledSchema::new(&schema, Root::Object) {
            let value = json!({"a": nested(depth, json!(["a", 1, {}])), "x": {"a": {"b": 1}}});
            let shape = Shape::measure(&value, 64, 1_000).unwrap();
            if let Err(violations) = compiled.check(&value, &shape, "input") {
                prop_assert!(violations.to_string().len() < 100_000);
            }
        }
        prop_assert!(start.elapsed() < Duration::from_secs(5));
    }
}
