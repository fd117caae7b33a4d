//! Finds out whether the values that satisfy one JSON Schema, the producer, also satisfy another one, the consumer.
//!
//! A value flows from the output of a planned call into an argument of a later one. Before anything runs, the schema of that
//! output (the producer) is compared with the schema of the argument (the consumer). The verdict is that every value fits, that
//! no value fits, or that this is known only when the plan runs. The comparison understands the keywords for types, constants,
//! bounds, items, properties and alternatives. Any other keyword of the consumer leaves the verdict open, unless the keyword does
//! not apply to the values or the producer has the same keyword with the same value. Keywords of the producer that the comparison
//! does not understand are ignored, because they only exclude some of the values.

use std::ops::ControlFlow;

use art_core::JsonObject;
use serde_json::{Value, json};

/// Maximum number of pairs of schemas, or parts of them, that are compared for one verdict.
const MAX_PAIRS: u32 = 20_000;

/// From this size, not every whole number is a 64-bit floating-point number, so a number may have been rounded.
const MIN_INEXACT: f64 = 9_007_199_254_740_992.0;

/// Keywords that do not restrict values. In JSON Schema 2020-12, `format` is one of them.
const ANNOTATIONS: [&str; 14] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "contentMediaType",
    "contentEncoding",
];

/// Whether the values of a producer fit a consumer. A value fits if it satisfies the schema of the consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every value of the producer fits the consumer.
    Yes,
    /// No value of the producer fits the consumer.
    No,
    /// Whether a value fits is known only when the plan runs, because it depends on the value or on a keyword that is not
    /// understood.
    AtRunTime,
}

impl Verdict {
    /// Returns the verdict on values that have to fit two consumers, from the verdict for each.
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::AtRunTime,
        }
    }

    /// Returns the verdict on values of either of two producers, from the verdict for each.
    fn either(self, other: Self) -> Self {
        if self == other { self } else { Self::AtRunTime }
    }

    /// Returns the verdict on an object or array with a part that may be absent, from the verdict on the part. Even if no value
    /// of the part fits, an object or array without the part may.
    const fn for_optional_part(self) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No | Self::AtRunTime => Self::AtRunTime,
        }
    }
}

/// Returns whether the values of `producer` fit `consumer`. Both are schemas without `$ref`.
pub(crate) fn compare_schemas(producer: &Value, consumer: &Value) -> Verdict {
    Comparison { pairs_left: MAX_PAIRS }.compare(producer, consumer)
}

/// Returns whether a keyword does not restrict values.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// Returns the schema that only `value` satisfies.
pub(crate) fn constant_schema(value: &Value) -> Value {
    json!({"const": value})
}

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    /// Types that together contain all values. An integer is a number.
    const ALL: [Self; 6] = [
        Self::Null,
        Self::Boolean,
        Self::Number,
        Self::String,
        Self::Array,
        Self::Object,
    ];

    /// Returns the type with this name in JSON Schema.
    fn parse(name: &Value) -> Option<Self> {
        Some(match name.as_str()? {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Returns the smallest type that contains `value`.
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Returns the types that the keyword `type` of a schema allows, or all types without this keyword.
    fn allowed_by(schema: &JsonObject) -> Vec<Self> {
        match schema.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(Self::parse).collect(),
            Some(name) => Self::parse(name).into_iter().collect(),
            None => Self::ALL.to_vec(),
        }
    }

    /// Returns whether values of this type are of one of `types`. `value` is the value if there is only one and it is known. This
    /// type is then the smallest that contains it, so a known value of the type `Number` is not an integer.
    fn is_in(self, types: &[Self], value: Option<&Value>) -> Verdict {
        if types.contains(&self) || (self == Self::Integer && types.contains(&Self::Number)) {
            Verdict::Yes
        } else if self == Self::Number && types.contains(&Self::Integer) && value.is_none() {
            Verdict::AtRunTime
        } else {
            Verdict::No
        }
    }
}

/// Some of the values of a producer: those of one type, or exactly one known value.
#[derive(Clone, Copy, Debug)]
struct Values<'a> {
    value_type: Type,
    /// The schema that the values satisfy: the producer, or what [`structure_schema`] returns for a known value.
    schema: &'a JsonObject,
    /// The known value, or `None` for the values of a type.
    single: Option<&'a Value>,
}

/// A comparison of two schemas. It ends with [`Verdict::AtRunTime`] once too many pairs of their parts were compared.
struct Comparison {
    pairs_left: u32,
}

impl Comparison {
    fn compare(&mut self, producer: &Value, consumer: &Value) -> Verdict {
        let Some(pairs_left) = self.pairs_left.checked_sub(1) else {
            return Verdict::AtRunTime;
        };
        self.pairs_left = pairs_left;
        match (producer, consumer) {
            // A producer without values fits every consumer, and every value fits the consumer `true`.
            (Value::Bool(false), _) | (_, Value::Bool(true)) => Verdict::Yes,
            (_, Value::Bool(false)) => Verdict::No,
            _ if producer == consumer => Verdict::Yes,
            (Value::Object(schema), _) => self.compare_parts(schema, consumer),
            // A producer `true` has the same values as a schema without keywords.
            _ => self.compare_parts(&JsonObject::new(), consumer),
        }
    }

    /// Compares the keywords of `producer` with `consumer`: first all except `anyOf`, `oneOf` and `allOf`, then the alternatives
    /// in `anyOf` and `oneOf`, then each schema in `allOf`. A value of the producer satisfies all of these, so the first verdict
    /// other than [`Verdict::AtRunTime`] is the result.
    fn compare_parts(&mut self, producer: &JsonObject, consumer: &Value) -> Verdict {
        let break_if_definite = |verdict: Verdict| match verdict {
            Verdict::AtRunTime => ControlFlow::Continue(()),
            verdict => ControlFlow::Break(verdict),
        };
        let mut compare_until_definite = || {
            break_if_definite(self.compare_own_keywords(producer, consumer))?;
            for alternatives in ["anyOf", "oneOf"]
                .iter()
                .filter_map(|key| producer.get(*key)?.as_array())
            {
                let verdicts: Vec<_> = alternatives
                    .iter()
                    .map(|alternative| self.compare(alternative, consumer))
                    .collect();
                break_if_definite(
                    verdicts
                        .into_iter()
                        .reduce(Verdict::either)
                        .unwrap_or(Verdict::AtRunTime),
                )?;
            }
            for part in producer.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                break_if_definite(self.compare(part, consumer))?;
            }
            ControlFlow::Continue(())
        };
        match compare_until_definite() {
            ControlFlow::Break(verdict) => verdict,
            ControlFlow::Continue(()) => Verdict::AtRunTime,
        }
    }

    /// Compares what the keywords of `producer` say, except for `anyOf`, `oneOf` and `allOf`.
    fn compare_own_keywords(&mut self, producer: &JsonObject, consumer: &Value) -> Verdict {
        let constant = producer.get("const").map(std::slice::from_ref);
        let choices = constant.or_else(|| producer.get("enum")?.as_array().map(Vec::as_slice));
        let verdicts: Vec<Verdict> = match choices {
            Some(choices) => choices
                .iter()
                .map(|value| self.compare_value(value, consumer))
                .collect(),
            None => {
                let of_type = |value_type| Values {
                    value_type,
                    schema: producer,
                    single: None,
                };
                let types = Type::allowed_by(producer).into_iter().map(of_type);
                types.map(|values| self.compare_values(values, consumer)).collect()
            }
        };
        verdicts
            .into_iter()
            .reduce(Verdict::either)
            .unwrap_or(Verdict::AtRunTime)
    }

    /// Compares a single known value with every keyword of the consumer.
    fn compare_value(&mut self, value: &Value, consumer: &Value) -> Verdict {
        let values = Values {
            value_type: Type::of(value),
            schema: &structure_schema(value),
            single: Some(value),
        };
        self.compare_values(values, consumer)
    }

    /// Compares values of a producer with every keyword of the consumer.
    fn compare_values(&mut self, values: Values<'_>, consumer: &Value) -> Verdict {
        let consumer = match consumer {
            Value::Bool(allows) => return if *allows { Verdict::Yes } else { Verdict::No },
            Value::Object(consumer) => consumer,
            _ => return Verdict::AtRunTime,
        };
        let Some(pairs_left) = self.pairs_left.checked_sub(1) else {
            return Verdict::AtRunTime;
        };
        self.pairs_left = pairs_left;
        let mut verdict = values.value_type.is_in(&Type::allowed_by(consumer), values.single);
        for (keyword, asked) in consumer {
            if verdict == Verdict::No {
                return verdict;
            }
            verdict = verdict.and(self.compare_keyword(values, keyword, asked, consumer));
        }
        verdict
    }

    /// Compares values with one keyword of the consumer, whose value is `asked`.
    fn compare_keyword(&mut self, values: Values<'_>, keyword: &str, asked: &Value, consumer: &JsonObject) -> Verdict {
        let asked_list = || asked.as_array().map(Vec::as_slice).unwrap_or_default();
        match keyword {
            "type" => Verdict::Yes,
            "const" => self.compare_enum(values, std::slice::from_ref(asked)),
            "enum" => self.compare_enum(values, asked_list()),
            "allOf" => {
                let parts = asked_list().iter().map(|part| self.compare_values(values, part));
                parts.fold(Verdict::Yes, Verdict::and)
            }
            "anyOf" => self.compare_any_of(values, asked_list()),
            "oneOf" => self.compare_one_of(values, asked_list()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => compare_bound(values, keyword, asked),
            "multipleOf" => compare_multiple_of(values, asked),
            "minLength" | "maxLength" => {
                compare_length(values, Type::String, ("minLength", "maxLength"), keyword, asked)
            }
            "minItems" | "maxItems" => compare_length(values, Type::Array, ("minItems", "maxItems"), keyword, asked),
            "minProperties" | "maxProperties" => compare_property_count(values, keyword, asked),
            // `items` and `prefixItems` are compared together, and so are `properties` and `additionalProperties` below.
            "items" if consumer.contains_key("prefixItems") => Verdict::Yes,
            "items" | "prefixItems" => self.compare_items(values, consumer),
            "required" => compare_required(values, asked_list()),
            "additionalProperties" if consumer.contains_key("properties") => Verdict::Yes,
            "properties" | "additionalProperties" => self.compare_properties(values, consumer),
            "x-numeric" => compare_numeric(values, asked),
            _ if is_annotation(keyword) => Verdict::Yes,
            _ if values.schema.get(keyword) == Some(asked) && values.single.is_none() => Verdict::Yes,
            _ => judge_unknown_keyword(values.value_type, keyword),
        }
    }

    /// Compares values with the values that the consumer lists in `enum` or `const`.
    fn compare_enum(&mut self, values: Values<'_>, choices: &[Value]) -> Verdict {
        if let Some(value) = values.single {
            let is_same = choices.iter().any(|choice| is_equal(choice, value));
            return if is_same { Verdict::Yes } else { Verdict::No };
        }
        // A choice that does not satisfy the schema of the producer is never produced.
        let producer = Value::Object(values.schema.clone());
        let is_never_produced = |choice: &Value| {
            let has_type = Type::of(choice).is_in(&[values.value_type], Some(choice)) == Verdict::Yes;
            !has_type || self.compare_value(choice, &producer) == Verdict::No
        };
        if choices.iter().all(is_never_produced) {
            Verdict::No
        } else {
            Verdict::AtRunTime
        }
    }

    fn compare_any_of(&mut self, values: Values<'_>, branches: &[Value]) -> Verdict {
        let verdicts: Vec<_> = branches
            .iter()
            .map(|branch| self.compare_values(values, branch))
            .collect();
        if verdicts.contains(&Verdict::Yes) {
            Verdict::Yes
        } else {
            verdicts.into_iter().reduce(Verdict::either).unwrap_or(Verdict::No)
        }
    }

    fn compare_one_of(&mut self, values: Values<'_>, branches: &[Value]) -> Verdict {
        let verdicts: Vec<_> = branches
            .iter()
            .map(|branch| self.compare_values(values, branch))
            .collect();
        let count_of = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        match (count_of(Verdict::Yes), count_of(Verdict::AtRunTime)) {
            (0, 0) => Verdict::No,
            (1, 0) => Verdict::Yes,
            (2.., _) => Verdict::No,
            _ => Verdict::AtRunTime,
        }
    }

    /// Compares the items of arrays: each item for which one of the schemas has an own entry in `prefixItems`, and one more item,
    /// which stands for all later ones.
    fn compare_items(&mut self, values: Values<'_>, consumer: &JsonObject) -> Verdict {
        if values.value_type != Type::Array {
            return Verdict::Yes;
        }
        let prefix_length =
            |schema: &JsonObject| schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        let (fewest, most) = count_bounds(values.schema, "minItems", "maxItems");
        let compared_count = prefix_length(values.schema).max(prefix_length(consumer)) + 1;
        let mut verdict = Verdict::Yes;
        for (n, position) in (0..compared_count).zip(0_u32..) {
            // The position `n` as a float, like the bounds that it is compared with.
            let position = f64::from(position);
            if position >= most {
                break;
            }
            let item_verdict = self.compare(item_schema(values.schema, n), item_schema(consumer, n));
            let is_always_there = position < fewest;
            verdict = verdict.and(if is_always_there {
                item_verdict
            } else {
                item_verdict.for_optional_part()
            });
        }
        verdict
    }

    /// Compares objects key by key, and then what the schemas say of the values under all other keys.
    fn compare_properties(&mut self, values: Values<'_>, consumer: &JsonObject) -> Verdict {
        if values.value_type != Type::Object {
            return Verdict::Yes;
        }
        if consumer.contains_key("patternProperties") {
            return Verdict::AtRunTime;
        }
        let mut verdict = Verdict::Yes;
        for key in declared_keys(values.schema).chain(declared_keys(consumer)) {
            let property_verdict = self.compare(property_schema(values.schema, key), property_schema(consumer, key));
            let is_always_there = requires_key(values.schema, key);
            verdict = verdict.and(if is_always_there {
                property_verdict
            } else {
                property_verdict.for_optional_part()
            });
        }
        let others_verdict = self.compare(
            other_properties_schema(values.schema),
            other_properties_schema(consumer),
        );
        verdict.and(others_verdict.for_optional_part())
    }
}

/// Returns the verdict on values of a type for a keyword of the consumer that is not understood. If the keyword applies to
/// another type only, the values satisfy it.
fn judge_unknown_keyword(value_type: Type, keyword: &str) -> Verdict {
    let keyword_type = match keyword {
        "pattern" => Type::String,
        "contains" | "minContains" | "maxContains" | "uniqueItems" | "unevaluatedItems" => Type::Array,
        "patternProperties" | "propertyNames" | "dependentRequired" | "dependentSchemas" | "unevaluatedProperties" => {
            Type::Object
        }
        _ => return Verdict::AtRunTime,
    };
    if value_type == keyword_type {
        Verdict::AtRunTime
    } else {
        Verdict::Yes
    }
}

/// Returns a schema that says what `value` is made of: the number itself, the length of a text, the items of an array or the
/// properties of an object.
fn structure_schema(value: &Value) -> JsonObject {
    let schema = match value {
        Value::Null | Value::Bool(_) => json!({}),
        Value::Number(number) => json!({"minimum": number, "maximum": number}),
        Value::String(text) => {
            let length = text.chars().count();
            json!({"minLength": length, "maxLength": length})
        }
        Value::Array(items) => {
            let length = items.len();
            let items: Vec<Value> = items.iter().map(constant_schema).collect();
            json!({"prefixItems": items, "minItems": length, "maxItems": length})
        }
        Value::Object(map) => {
            let keys: Vec<&String> = map.keys().collect();
            let properties: JsonObject = map
                .iter()
                .map(|(key, value)| (key.clone(), constant_schema(value)))
                .collect();
            json!({"properties": properties, "required": keys, "additionalProperties": false})
        }
    };
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Returns whether two values are equal in JSON Schema, in which `1` and `1.0` are the same number.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let are_integers = [a, b].iter().all(|number| number.is_u64() || number.is_i64());
            a == b || (!are_integers && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| is_equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => one == other,
    }
}

/// The lower or the upper bound of the numbers that a schema allows.
#[derive(Clone, Copy)]
struct Bound {
    number: f64,
    /// Whether the bound itself is not allowed.
    is_excluded: bool,
}

impl Bound {
    fn new(number: f64, is_excluded: bool) -> Self {
        Self { number, is_excluded }
    }

    /// Returns the bound of the same numbers with the opposite sign.
    fn negated(self) -> Self {
        Self::new(-self.number, self.is_excluded)
    }
}

/// Returns the lower bound of the numbers of a schema.
fn lowest(schema: &JsonObject) -> Bound {
    let (inclusive, exclusive) = (
        number_keyword(schema, "minimum"),
        number_keyword(schema, "exclusiveMinimum"),
    );
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) if exclusive >= inclusive => Bound::new(exclusive, true),
        (Some(inclusive), _) => Bound::new(inclusive, false),
        (None, Some(exclusive)) => Bound::new(exclusive, true),
        (None, None) => Bound::new(f64::NEG_INFINITY, false),
    }
}

/// Returns the upper bound of the numbers of a schema.
fn highest(schema: &JsonObject) -> Bound {
    let (inclusive, exclusive) = (
        number_keyword(schema, "maximum"),
        number_keyword(schema, "exclusiveMaximum"),
    );
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) if exclusive <= inclusive => Bound::new(exclusive, true),
        (Some(inclusive), _) => Bound::new(inclusive, false),
        (None, Some(exclusive)) => Bound::new(exclusive, true),
        (None, None) => Bound::new(f64::INFINITY, false),
    }
}

fn number_keyword(schema: &JsonObject, keyword: &str) -> Option<f64> {
    schema.get(keyword)?.as_f64()
}

/// Compares numbers with a bound of the consumer: `keyword` with the value `asked`.
fn compare_bound(values: Values<'_>, keyword: &str, asked: &Value) -> Verdict {
    if !matches!(values.value_type, Type::Integer | Type::Number) {
        return Verdict::Yes;
    }
    let Some(asked) = asked.as_f64() else {
        return Verdict::AtRunTime;
    };
    let (low, high) = (lowest(values.schema), highest(values.schema));
    // An upper bound of numbers is a lower bound of the numbers with the opposite sign, so only lower bounds are compared. All
    // numbers fit if the lowest one (`near`) does, and none fits if the highest one (`far`) does not.
    let (near, far, asked) = match keyword {
        "minimum" | "exclusiveMinimum" => (low, high, asked),
        _ => (high.negated(), low.negated(), -asked),
    };
    let is_inexact = |number: f64| number.is_finite() && number.abs() >= MIN_INEXACT;
    if [near.number, far.number, asked].into_iter().any(is_inexact) {
        return Verdict::AtRunTime;
    }
    let excludes_asked = keyword.starts_with("exclusive");
    if near.number > asked || (near.number == asked && (near.is_excluded || !excludes_asked)) {
        Verdict::Yes
    } else if far.number < asked || (far.number == asked && (far.is_excluded || excludes_asked)) {
        Verdict::No
    } else {
        Verdict::AtRunTime
    }
}

/// Compares values with the keyword `x-numeric`, with which a consumer accepts a text only if the text is a number. A text that
/// is not known yet counts as fitting: if it is no number, the tool refuses it when the plan runs, like any text that it cannot
/// read.
fn compare_numeric(values: Values<'_>, asked: &Value) -> Verdict {
    let is_number = |text: &str| text.trim().parse().is_ok_and(f64::is_finite);
    match values.single.and_then(Value::as_str) {
        Some(text) if *asked == Value::Bool(true) && !is_number(text) => Verdict::No,
        _ => Verdict::Yes,
    }
}

/// Compares numbers with the keyword `multipleOf`.
fn compare_multiple_of(values: Values<'_>, asked: &Value) -> Verdict {
    let is_number = matches!(values.value_type, Type::Integer | Type::Number);
    let remainder = |value: &Value| value.as_i64()?.checked_rem(asked.as_i64()?);
    match values.single.map(remainder) {
        _ if !is_number => Verdict::Yes,
        Some(Some(0)) => Verdict::Yes,
        Some(Some(_)) => Verdict::No,
        None if values.schema.get("multipleOf") == Some(asked) => Verdict::Yes,
        None if values.value_type == Type::Integer && asked.as_i64() == Some(1) => Verdict::Yes,
        _ => Verdict::AtRunTime,
    }
}

/// Returns the lowest and the highest count that a schema allows, which are the values of these two keywords.
fn count_bounds(schema: &JsonObject, min_keyword: &str, max_keyword: &str) -> (f64, f64) {
    (
        number_keyword(schema, min_keyword).unwrap_or(0.0),
        number_keyword(schema, max_keyword).unwrap_or(f64::INFINITY),
    )
}

/// Compares the lengths of texts or of arrays with a bound of the consumer: `keyword` with the value `asked`. `type_with_length`
/// is the type to which the keyword applies. `min_keyword` and `max_keyword` are the bounds of lengths of this type; `keyword` is
/// one of the two.
fn compare_length(
    values: Values<'_>,
    type_with_length: Type,
    (min_keyword, max_keyword): (&str, &str),
    keyword: &str,
    asked: &Value,
) -> Verdict {
    if values.value_type != type_with_length {
        return Verdict::Yes;
    }
    let bounds = count_bounds(values.schema, min_keyword, max_keyword);
    compare_count(bounds, keyword == min_keyword, asked)
}

/// Compares the number of properties of objects with a bound of the consumer.
fn compare_property_count(values: Values<'_>, keyword: &str, asked: &Value) -> Verdict {
    if values.value_type != Type::Object {
        return Verdict::Yes;
    }
    let (fewest, most) = count_bounds(values.schema, "minProperties", "maxProperties");
    let as_float = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    let required_count = values
        .schema
        .get("required")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let allows_only_declared_keys = *other_properties_schema(values.schema) == Value::Bool(false);
    let most = if allows_only_declared_keys {
        most.min(as_float(declared_keys(values.schema).count()))
    } else {
        most
    };
    compare_count(
        (fewest.max(as_float(required_count)), most),
        keyword == "minProperties",
        asked,
    )
}

/// Compares counts between `fewest` and `most` with the bound `asked` of the consumer.
fn compare_count((fewest, most): (f64, f64), is_minimum: bool, asked: &Value) -> Verdict {
    let Some(asked) = asked.as_f64() else {
        return Verdict::AtRunTime;
    };
    let (all_fit, none_fits) = if is_minimum {
        (fewest >= asked, most < asked)
    } else {
        (most <= asked, fewest > asked)
    };
    match (all_fit, none_fits) {
        (true, _) => Verdict::Yes,
        (false, true) => Verdict::No,
        (false, false) => Verdict::AtRunTime,
    }
}

/// Compares the keys that objects have with `keys`, which the consumer requires.
fn compare_required(values: Values<'_>, keys: &[Value]) -> Verdict {
    if values.value_type != Type::Object {
        return Verdict::Yes;
    }
    let verdicts = keys.iter().filter_map(Value::as_str).map(|key| {
        if requires_key(values.schema, key) {
            Verdict::Yes
        } else if *property_schema(values.schema, key) == Value::Bool(false) {
            Verdict::No
        } else {
            Verdict::AtRunTime
        }
    });
    verdicts.fold(Verdict::Yes, Verdict::and)
}

/// The schema that every value satisfies.
pub(crate) const ANY_VALUE: &Value = &Value::Bool(true);

/// Returns the schema of the item at position `n` of an array.
pub(crate) fn item_schema(schema: &JsonObject, n: usize) -> &Value {
    let own_entry = schema.get("prefixItems").and_then(|items| items.get(n));
    own_entry.or_else(|| schema.get("items")).unwrap_or(ANY_VALUE)
}

/// Returns the keys that a schema declares in `properties`.
pub(crate) fn declared_keys(schema: &JsonObject) -> impl Iterator<Item = &String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(JsonObject::keys)
}

/// Returns the schema of the value under `key` of an object.
pub(crate) fn property_schema<'a>(schema: &'a JsonObject, key: &str) -> &'a Value {
    let declared = schema.get("properties").and_then(|properties| properties.get(key));
    declared.unwrap_or_else(|| other_properties_schema(schema))
}

/// Returns the schema of the values under all keys that a schema does not declare.
fn other_properties_schema(schema: &JsonObject) -> &Value {
    // Any key may match one of the patterns, which are not understood.
    if schema.contains_key("patternProperties") {
        return ANY_VALUE;
    }
    schema.get("additionalProperties").unwrap_or(ANY_VALUE)
}

/// Returns the keys that a schema requires, whether or not it declares them.
pub(crate) fn required_keys(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns whether a schema requires `key`, so that every object of the schema has it.
pub(crate) fn requires_key(schema: &JsonObject, key: &str) -> bool {
    required_keys(schema).any(|required| required == key)
}

#[cfg(test)]
mod tests;
