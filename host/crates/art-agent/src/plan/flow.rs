//! Whether the values of one JSON Schema are values of another.
//!
//! A planned call takes the output of an earlier one. Before anything runs, the schema of that output is compared with the schema
//! of the argument: every value fits, none fits, or the verdict is known only when the plan runs. The comparison understands the keywords
//! that say what a value is made of. Any other keyword of the consumer leaves the result open, unless the keyword cannot apply to
//! the values or the producer has the same one. Keywords of the producer that the comparison does not understand only narrow the
//! values, so they are left out.

use std::ops::ControlFlow;

use art_core::JsonObject;
use serde_json::{Value, json};

/// Maximum number of pairs of schemas that one comparison looks at.
const MAX_PAIRS: u32 = 20_000;

/// Magnitude from which 64-bit floating point cannot represent every whole number.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Keywords that do not restrict values. `format` is an annotation in 2020-12.
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

/// Whether the values of a producer are values of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every value of the producer is valid for the consumer.
    Yes,
    /// No value of the producer is valid for the consumer.
    No,
    /// It depends on the value, or on a keyword that is not understood.
    RunTime,
}

impl Verdict {
    /// Returns the verdict on a value that has to fit both.
    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::RunTime,
        }
    }

    /// Returns the verdict on a value that comes from one of two producers.
    fn either(self, other: Self) -> Self {
        if self == other { self } else { Self::RunTime }
    }

    /// Returns the verdict on a value that may be absent. Even if no present value fits, an absent one may.
    const fn if_present(self) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No | Self::RunTime => Self::RunTime,
        }
    }
}

/// Returns whether the values of `producer` are values of `consumer`. Both are schemas without references.
pub(crate) fn compare_schemas(producer: &Value, consumer: &Value) -> Verdict {
    Comparison { pairs_left: MAX_PAIRS }.compare(producer, consumer)
}

/// Returns whether a keyword does not restrict values.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// Returns the schema of exactly one value.
pub(crate) fn constant(value: &Value) -> Value {
    json!({"const": value})
}

/// The types of JSON.
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
    /// All types. A number may be an integer.
    const ALL: [Self; 6] = [
        Self::Null,
        Self::Boolean,
        Self::Number,
        Self::String,
        Self::Array,
        Self::Object,
    ];

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

    /// Returns the types that a schema names, or all.
    fn named(schema: &JsonObject) -> Vec<Self> {
        match schema.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(Self::parse).collect(),
            Some(name) => Self::parse(name).into_iter().collect(),
            None => Self::ALL.to_vec(),
        }
    }

    /// Returns whether a value of this type is of one of `types`.
    fn is_in(self, types: &[Self], value: Option<&Value>) -> Verdict {
        if types.contains(&self) || (self == Self::Integer && types.contains(&Self::Number)) {
            Verdict::Yes
        } else if self == Self::Number && types.contains(&Self::Integer) && value.is_none() {
            Verdict::RunTime
        } else {
            Verdict::No
        }
    }
}

/// Some values of a producer: all of one type that a schema allows, or exactly one.
#[derive(Clone, Copy, Debug)]
struct Values<'a> {
    value_type: Type,
    schema: &'a JsonObject,
    /// The value, if it is exactly one.
    single: Option<&'a Value>,
}

/// A comparison, which ends with [`Verdict::RunTime`] once it has looked at too many pairs.
struct Comparison {
    pairs_left: u32,
}

impl Comparison {
    fn compare(&mut self, producer: &Value, consumer: &Value) -> Verdict {
        let Some(pairs_left) = self.pairs_left.checked_sub(1) else {
            return Verdict::RunTime;
        };
        self.pairs_left = pairs_left;
        match (producer, consumer) {
            // A producer that allows no value fits every consumer, and every value fits `true`.
            (Value::Bool(false), _) | (_, Value::Bool(true)) => Verdict::Yes,
            (_, Value::Bool(false)) => Verdict::No,
            _ if producer == consumer => Verdict::Yes,
            (Value::Object(schema), _) => self.compare_parts(schema, consumer),
            _ => self.compare_parts(&JsonObject::new(), consumer),
        }
    }

    /// Compares the parts of `producer` with `consumer`. A value satisfies every part, so the first part with a definite verdict decides.
    fn compare_parts(&mut self, producer: &JsonObject, consumer: &Value) -> Verdict {
        let break_if_definite = |verdict: Verdict| match verdict {
            Verdict::RunTime => ControlFlow::Continue(()),
            verdict => ControlFlow::Break(verdict),
        };
        let mut compare_all = || {
            break_if_definite(self.compare_own_keywords(producer, consumer))?;
            for branches in ["anyOf", "oneOf"]
                .iter()
                .filter_map(|key| producer.get(*key)?.as_array())
            {
                let verdicts: Vec<_> = branches.iter().map(|branch| self.compare(branch, consumer)).collect();
                break_if_definite(verdicts.into_iter().reduce(Verdict::either).unwrap_or(Verdict::RunTime))?;
            }
            for part in producer.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                break_if_definite(self.compare(part, consumer))?;
            }
            ControlFlow::Continue(())
        };
        match compare_all() {
            ControlFlow::Break(verdict) => verdict,
            ControlFlow::Continue(()) => Verdict::RunTime,
        }
    }

    /// Compares what the keywords of `producer` itself say, without its branches.
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
                let types = Type::named(producer).into_iter().map(of_type);
                types.map(|values| self.compare_values(values, consumer)).collect()
            }
        };
        verdicts.into_iter().reduce(Verdict::either).unwrap_or(Verdict::RunTime)
    }

    fn compare_value(&mut self, value: &Value, consumer: &Value) -> Verdict {
        let values = Values {
            value_type: Type::of(value),
            schema: &structure_schema(value),
            single: Some(value),
        };
        self.compare_values(values, consumer)
    }

    /// Compares values with every keyword of the consumer.
    fn compare_values(&mut self, values: Values<'_>, consumer: &Value) -> Verdict {
        let consumer = match consumer {
            Value::Bool(allows) => return if *allows { Verdict::Yes } else { Verdict::No },
            Value::Object(consumer) => consumer,
            _ => return Verdict::RunTime,
        };
        let Some(pairs_left) = self.pairs_left.checked_sub(1) else {
            return Verdict::RunTime;
        };
        self.pairs_left = pairs_left;
        let mut verdict = values.value_type.is_in(&Type::named(consumer), values.single);
        for (keyword, asked) in consumer {
            if verdict == Verdict::No {
                return verdict;
            }
            verdict = verdict.and(self.compare_keyword(values, keyword, asked, consumer));
        }
        verdict
    }

    fn compare_keyword(&mut self, values: Values<'_>, keyword: &str, asked: &Value, consumer: &JsonObject) -> Verdict {
        let branches = || asked.as_array().map(Vec::as_slice).unwrap_or_default();
        match keyword {
            "type" => Verdict::Yes,
            "const" => self.compare_enum(values, std::slice::from_ref(asked)),
            "enum" => self.compare_enum(values, branches()),
            "allOf" => {
                let parts = branches().iter().map(|part| self.compare_values(values, part));
                parts.fold(Verdict::Yes, Verdict::and)
            }
            "anyOf" => self.compare_any_of(values, branches()),
            "oneOf" => self.compare_one_of(values, branches()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => compare_bound(values, keyword, asked),
            "multipleOf" => compare_multiple(values, asked),
            "minLength" | "maxLength" => {
                compare_length(values, Type::String, ("minLength", "maxLength"), keyword, asked)
            }
            "minItems" | "maxItems" => compare_length(values, Type::Array, ("minItems", "maxItems"), keyword, asked),
            "minProperties" | "maxProperties" => compare_property_count(values, keyword, asked),
            // Both keywords of a pair are looked at together.
            "items" if consumer.contains_key("prefixItems") => Verdict::Yes,
            "items" | "prefixItems" => self.compare_items(values, consumer),
            "required" => compare_required(values, branches()),
            "additionalProperties" if consumer.contains_key("properties") => Verdict::Yes,
            "properties" | "additionalProperties" => self.compare_properties(values, consumer),
            "x-numeric" => compare_numeric(values, asked),
            known if is_annotation(known) => Verdict::Yes,
            _ if values.schema.get(keyword) == Some(asked) && values.single.is_none() => Verdict::Yes,
            _ => judge_unknown_keyword(values.value_type, keyword),
        }
    }

    fn compare_enum(&mut self, values: Values<'_>, choices: &[Value]) -> Verdict {
        if let Some(value) = values.single {
            let is_same = choices.iter().any(|choice| is_equal(choice, value));
            return if is_same { Verdict::Yes } else { Verdict::No };
        }
        let schema = Value::Object(values.schema.clone());
        let is_excluded = |choice: &Value| {
            let is_typed = Type::of(choice).is_in(&[values.value_type], Some(choice)) == Verdict::Yes;
            !is_typed || self.compare_value(choice, &schema) == Verdict::No
        };
        if choices.iter().all(is_excluded) {
            Verdict::No
        } else {
            Verdict::RunTime
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
        match (count_of(Verdict::Yes), count_of(Verdict::RunTime)) {
            (0, 0) => Verdict::No,
            (1, 0) => Verdict::Yes,
            (2.., _) => Verdict::No,
            _ => Verdict::RunTime,
        }
    }

    /// Compares item by item, up to the first item after those that either schema lists. That item stands for all later ones.
    fn compare_items(&mut self, values: Values<'_>, consumer: &JsonObject) -> Verdict {
        if values.value_type != Type::Array {
            return Verdict::Yes;
        }
        let listed = |schema: &JsonObject| schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        let (fewest, most) = count_bounds(values.schema, "minItems", "maxItems");
        let last = listed(values.schema).max(listed(consumer)) + 1;
        let mut verdict = Verdict::Yes;
        for (n, position) in (0..last).zip(0_u32..) {
            let position = f64::from(position);
            if position >= most {
                break;
            }
            let item_verdict = self.compare(item(values.schema, n), item(consumer, n));
            let is_there = position < fewest;
            verdict = verdict.and(if is_there {
                item_verdict
            } else {
                item_verdict.if_present()
            });
        }
        verdict
    }

    /// Compares key by key, and then what the schemas say of all other keys.
    fn compare_properties(&mut self, values: Values<'_>, consumer: &JsonObject) -> Verdict {
        if values.value_type != Type::Object {
            return Verdict::Yes;
        }
        if consumer.contains_key("patternProperties") {
            return Verdict::RunTime;
        }
        let mut verdict = Verdict::Yes;
        for key in declared_keys(values.schema).chain(declared_keys(consumer)) {
            let property_verdict = self.compare(property(values.schema, key), property(consumer, key));
            let is_there = requires(values.schema, key);
            verdict = verdict.and(if is_there {
                property_verdict
            } else {
                property_verdict.if_present()
            });
        }
        let others = self.compare(other_properties(values.schema), other_properties(consumer));
        verdict.and(others.if_present())
    }
}

/// Returns the verdict for a keyword that is not understood. If the keyword applies to one type only, values of other types satisfy it.
fn judge_unknown_keyword(value_type: Type, keyword: &str) -> Verdict {
    let about = match keyword {
        "pattern" => Type::String,
        "contains" | "minContains" | "maxContains" | "uniqueItems" | "unevaluatedItems" => Type::Array,
        "patternProperties" | "propertyNames" | "dependentRequired" | "dependentSchemas" | "unevaluatedProperties" => {
            Type::Object
        }
        _ => return Verdict::RunTime,
    };
    if value_type == about {
        Verdict::RunTime
    } else {
        Verdict::Yes
    }
}

/// Returns a schema of the structure of `value`: its size as a number, its length, its items or its properties.
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
            let items: Vec<Value> = items.iter().map(constant).collect();
            json!({"prefixItems": items, "minItems": length, "maxItems": length})
        }
        Value::Object(map) => {
            let keys: Vec<&String> = map.keys().collect();
            let properties: JsonObject = map.iter().map(|(key, value)| (key.clone(), constant(value))).collect();
            json!({"properties": properties, "required": keys, "additionalProperties": false})
        }
    };
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Returns whether two values are the same to JSON Schema, which compares numbers by their value.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (!(a.is_u64() && b.is_u64()) && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| is_equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => one == other,
    }
}

/// The lowest or the highest number of a schema, and whether this number itself is excluded.
type Bound = (f64, bool);

fn lowest(schema: &JsonObject) -> Bound {
    let (inclusive, exclusive) = (
        number_keyword(schema, "minimum"),
        number_keyword(schema, "exclusiveMinimum"),
    );
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) if exclusive >= inclusive => (exclusive, true),
        (Some(inclusive), _) => (inclusive, false),
        (None, Some(exclusive)) => (exclusive, true),
        (None, None) => (f64::NEG_INFINITY, false),
    }
}

fn highest(schema: &JsonObject) -> Bound {
    let (inclusive, exclusive) = (
        number_keyword(schema, "maximum"),
        number_keyword(schema, "exclusiveMaximum"),
    );
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) if exclusive <= inclusive => (exclusive, true),
        (Some(inclusive), _) => (inclusive, false),
        (None, Some(exclusive)) => (exclusive, true),
        (None, None) => (f64::INFINITY, false),
    }
}

fn number_keyword(schema: &JsonObject, keyword: &str) -> Option<f64> {
    schema.get(keyword)?.as_f64()
}

/// Compares numbers with a bound of the consumer.
fn compare_bound(values: Values<'_>, keyword: &str, asked: &Value) -> Verdict {
    if !matches!(values.value_type, Type::Integer | Type::Number) {
        return Verdict::Yes;
    }
    let Some(asked) = asked.as_f64() else {
        return Verdict::RunTime;
    };
    let (low, high) = (lowest(values.schema), highest(values.schema));
    // An upper bound of numbers is a lower bound of their negatives.
    let (near, far, asked) = match keyword {
        "minimum" | "exclusiveMinimum" => (low, high, asked),
        _ => ((-high.0, high.1), (-low.0, low.1), -asked),
    };
    let is_inexact = |bound: f64| bound.is_finite() && bound.abs() >= MAX_EXACT;
    if [near.0, far.0, asked].into_iter().any(is_inexact) {
        return Verdict::RunTime;
    }
    let excludes = keyword.starts_with("exclusive");
    if near.0 > asked || (near.0 == asked && (near.1 || !excludes)) {
        Verdict::Yes
    } else if far.0 < asked || (far.0 == asked && (far.1 || excludes)) {
        Verdict::No
    } else {
        Verdict::RunTime
    }
}

/// Compares a text with a consumer that takes only texts which are numbers. A text that is not known yet counts as fitting: the
/// tool refuses it when the plan runs, as it refuses any other text that it cannot read.
fn compare_numeric(values: Values<'_>, asked: &Value) -> Verdict {
    let is_number = |text: &str| text.trim().parse().is_ok_and(f64::is_finite);
    match values.single.and_then(Value::as_str) {
        Some(text) if *asked == Value::Bool(true) && !is_number(text) => Verdict::No,
        _ => Verdict::Yes,
    }
}

fn compare_multiple(values: Values<'_>, asked: &Value) -> Verdict {
    let is_number = matches!(values.value_type, Type::Integer | Type::Number);
    let remainder = |value: &Value| value.as_i64()?.checked_rem(asked.as_i64()?);
    match values.single.map(remainder) {
        _ if !is_number => Verdict::Yes,
        Some(Some(0)) => Verdict::Yes,
        Some(Some(_)) => Verdict::No,
        None if values.schema.get("multipleOf") == Some(asked) => Verdict::Yes,
        None if values.value_type == Type::Integer && asked.as_i64() == Some(1) => Verdict::Yes,
        _ => Verdict::RunTime,
    }
}

/// Returns the lowest and the highest count that a schema allows.
fn count_bounds(schema: &JsonObject, min: &str, max: &str) -> (f64, f64) {
    (
        number_keyword(schema, min).unwrap_or(0.0),
        number_keyword(schema, max).unwrap_or(f64::INFINITY),
    )
}

/// Compares a length with a bound of the consumer; `names` are the keywords of the lowest and the highest length.
fn compare_length(values: Values<'_>, about: Type, names: (&str, &str), keyword: &str, asked: &Value) -> Verdict {
    if values.value_type != about {
        return Verdict::Yes;
    }
    compare_count(count_bounds(values.schema, names.0, names.1), keyword == names.0, asked)
}

fn compare_property_count(values: Values<'_>, keyword: &str, asked: &Value) -> Verdict {
    if values.value_type != Type::Object {
        return Verdict::Yes;
    }
    let (fewest, most) = count_bounds(values.schema, "minProperties", "maxProperties");
    let length = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    let required = values
        .schema
        .get("required")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let is_closed = *other_properties(values.schema) == Value::Bool(false);
    let most = if is_closed {
        most.min(length(declared_keys(values.schema).count()))
    } else {
        most
    };
    compare_count((fewest.max(length(required)), most), keyword == "minProperties", asked)
}

/// Compares counts between `fewest` and `most` with a bound.
fn compare_count((fewest, most): (f64, f64), is_minimum: bool, asked: &Value) -> Verdict {
    let Some(asked) = asked.as_f64() else {
        return Verdict::RunTime;
    };
    let (fits, exceeds) = if is_minimum {
        (fewest >= asked, most < asked)
    } else {
        (most <= asked, fewest > asked)
    };
    match (fits, exceeds) {
        (true, _) => Verdict::Yes,
        (false, true) => Verdict::No,
        (false, false) => Verdict::RunTime,
    }
}

/// Compares the keys that objects have with those that the consumer requires.
fn compare_required(values: Values<'_>, keys: &[Value]) -> Verdict {
    if values.value_type != Type::Object {
        return Verdict::Yes;
    }
    let verdicts = keys.iter().filter_map(Value::as_str).map(|key| {
        if requires(values.schema, key) {
            Verdict::Yes
        } else if *property(values.schema, key) == Value::Bool(false) {
            Verdict::No
        } else {
            Verdict::RunTime
        }
    });
    verdicts.fold(Verdict::Yes, Verdict::and)
}

/// The schema of any value.
pub(crate) const ANY: &Value = &Value::Bool(true);

/// Returns the schema of the item at position `n`.
pub(crate) fn item(schema: &JsonObject, n: usize) -> &Value {
    let listed = schema.get("prefixItems").and_then(|items| items.get(n));
    listed.or_else(|| schema.get("items")).unwrap_or(ANY)
}

/// Returns the keys that a schema declares.
pub(crate) fn declared_keys(schema: &JsonObject) -> impl Iterator<Item = &String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(JsonObject::keys)
}

/// Returns the schema of the value under `key`.
pub(crate) fn property<'a>(schema: &'a JsonObject, key: &str) -> &'a Value {
    let declared = schema.get("properties").and_then(|properties| properties.get(key));
    declared.unwrap_or_else(|| other_properties(schema))
}

/// Returns the schema of values under keys that are not declared.
fn other_properties(schema: &JsonObject) -> &Value {
    // A pattern may match any key.
    if schema.contains_key("patternProperties") {
        return ANY;
    }
    schema.get("additionalProperties").unwrap_or(ANY)
}

/// Returns whether every object of `schema` has `key`.
pub(crate) fn requires(schema: &JsonObject, key: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|keys| keys.iter().any(|required| required == key))
}

#[cfg(test)]
mod tests;
