//! Answers questions about fields and conditions, without a jq filter.

use std::cmp::Ordering;

use art_sdk::decimal::Decimal;
use art_sdk::serde_json::{Map, Value};

use crate::{
    error::QueryError,
    input::{Combine, Condition, JsonQueryInput, Operator},
};

/// Maximum number of fields that an error names.
const MAX_NAMED_FIELDS: usize = 20;

type Object = Map<String, Value>;

/// Returns the values that `input` asks for in `data`.
pub(crate) fn run(input: &JsonQueryInput, data: &[Value]) -> Result<Vec<Value>, QueryError> {
    let mut objects = Vec::new();
    data.iter().for_each(|value| collect_objects(value, &mut objects));
    let lookup = Lookup {
        objects,
        conditions: &input.filter,
    };
    if input.largest.is_some() && input.smallest.is_some() {
        return Err(QueryError::LargestWithSmallest);
    }
    let ranking_field = input.largest.as_ref().or(input.smallest.as_ref());
    if ranking_field.is_some() && input.combine.is_some() {
        return Err(QueryError::CombineWithLargestOrSmallest);
    }
    let requested_fields = input.field.iter().chain(&input.largest).chain(&input.smallest);
    let compared_fields = input.filter.iter().filter_map(|condition| condition.field.as_ref());
    requested_fields
        .chain(compared_fields)
        .try_for_each(|field| lookup.check_field(field))?;
    let mut matched = lookup.find_matches(
        input
            .field
            .as_deref()
            .into_iter()
            .chain(ranking_field.map(String::as_str))
            .collect(),
    )?;
    if let Some(ranking_field) = ranking_field {
        let direction = if input.largest.is_some() {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        matched = find_largest_or_smallest(matched, ranking_field, direction)?;
    }
    let requested_value = |object: &&Object| match &input.field {
        Some(field) => find_field(object, field).cloned(),
        None => Some(Value::Object((*object).clone())),
    };
    combine_values(input.combine, matched.iter().filter_map(requested_value).collect())
}

/// All objects of the data, and the conditions on them.
struct Lookup<'a> {
    objects: Vec<&'a Object>,
    conditions: &'a [Condition],
}

impl<'a> Lookup<'a> {
    /// Fails if no object has the field.
    fn check_field(&self, field: &str) -> Result<(), QueryError> {
        if self.objects.iter().any(|object| object.contains_key(field)) {
            return Ok(());
        }
        let mut known: Vec<&String> = Vec::new();
        for key in self.objects.iter().flat_map(|object| object.keys()) {
            if !known.contains(&key) && known.len() < MAX_NAMED_FIELDS {
                known.push(key);
            }
        }
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        Err(QueryError::NoField {
            field: field.to_owned(),
            known: if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            },
        })
    }

    /// Returns the objects that `fields` and the conditions ask for:
    ///
    /// - if there is one field and no condition, all objects that have the field themselves;
    /// - if neither `fields` nor a condition names a field, all objects whose own values match every condition;
    /// - otherwise the innermost objects that have all named fields, themselves or in an object inside them, and match every
    ///   condition: for example the person who is 36, and not the company that contains this person.
    ///
    /// Fails if no object has all named fields.
    fn find_matches(&self, fields: Vec<&str>) -> Result<Vec<&'a Object>, QueryError> {
        let compared_fields = self
            .conditions
            .iter()
            .filter_map(|condition| condition.field.as_deref());
        let all_fields: Vec<&str> = fields.into_iter().chain(compared_fields).collect();
        // With one field and no condition, every value of the field is returned, also that of an object which contains another
        // object with the field.
        let is_field_only = all_fields.len() == 1 && self.conditions.is_empty();
        let has_all_fields = |object: &Object| all_fields.iter().all(|field| find_field(object, field).is_some());
        // Without this check, a question about fields of different objects would get an empty result, as if nothing matched.
        if !all_fields.is_empty() && !self.objects.iter().copied().any(has_all_fields) {
            return Err(QueryError::NoObjectWithFields(
                all_fields
                    .iter()
                    .map(|field| format!("`{field}`"))
                    .collect::<Vec<_>>()
                    .join(" and "),
            ));
        }
        let is_innermost = |object: &Object| {
            let mut inner = Vec::new();
            object.values().for_each(|value| collect_objects(value, &mut inner));
            !inner.into_iter().any(has_all_fields)
        };
        let fits = |object: &&&Object| match all_fields.as_slice() {
            [] => self
                .conditions
                .iter()
                .all(|condition| own_value_matches(object, condition)),
            [field] if is_field_only => object.contains_key(*field),
            _ => {
                has_all_fields(object)
                    && is_innermost(object)
                    && self.conditions.iter().all(|condition| matches(object, condition))
            }
        };
        Ok(self.objects.iter().filter(fits).copied().collect())
    }
}

/// Appends every object in `value`, outer ones before those inside them.
fn collect_objects<'a>(value: &'a Value, objects: &mut Vec<&'a Object>) {
    match value {
        Value::Object(object) => {
            objects.push(object);
            object.values().for_each(|value| collect_objects(value, objects));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_objects(item, objects)),
        _ => {}
    }
}

/// Returns the value of a field of the object, else of the first object inside it that has the field. Does not look into lists.
fn find_field<'a>(object: &'a Object, field: &str) -> Option<&'a Value> {
    let inside = || {
        object
            .values()
            .filter_map(Value::as_object)
            .find_map(|inner| find_field(inner, field))
    };
    object.get(field).or_else(inside)
}

/// Returns whether an object meets a condition: with the field that the condition names, or if it names none, with any value of
/// the object or of an object inside it.
fn matches(object: &Object, condition: &Condition) -> bool {
    match &condition.field {
        Some(field) => find_field(object, field).is_some_and(|value| accepts(condition, value)),
        None => matches_at_any_depth(object, condition),
    }
}

/// Returns whether one of the object's own values matches the condition. For `ne`, all of its own values must match, and there
/// must be at least one. Does not look into objects inside it.
fn own_value_matches(object: &Object, condition: &Condition) -> bool {
    let mut values = object.values().filter(|value| !value.is_object());
    match condition.operator {
        Operator::Ne => values.clone().next().is_some() && values.all(|value| accepts(condition, value)),
        _ => values.any(|value| accepts(condition, value)),
    }
}

/// Returns whether the object or an object inside it matches: for example, a company matches `Berlin` if the city in its address
/// is Berlin. Does not look for objects in lists. A condition with `ne` is tried on the object itself only.
fn matches_at_any_depth(object: &Object, condition: &Condition) -> bool {
    let mut inner = object.values().filter_map(Value::as_object);
    let operator_is_ne = condition.operator == Operator::Ne;
    own_value_matches(object, condition)
        || (!operator_is_ne && inner.any(|inner| matches_at_any_depth(inner, condition)))
}

/// Returns whether a value satisfies the comparison of the condition. A list satisfies it if one of its items does. For `ne`,
/// all of its items must satisfy it. Ignores the field of the condition.
fn accepts(condition: &Condition, value: &Value) -> bool {
    if let Value::Array(items) = value {
        return match condition.operator {
            Operator::Ne => items.iter().all(|item| accepts(condition, item)),
            _ => items.iter().any(|item| accepts(condition, item)),
        };
    }
    let order = compare(value, &condition.value);
    match condition.operator {
        Operator::Eq => order == Some(Ordering::Equal),
        Operator::Ne => order != Some(Ordering::Equal),
        Operator::Lt => order == Some(Ordering::Less),
        Operator::Le => order.is_some_and(Ordering::is_le),
        Operator::Gt => order == Some(Ordering::Greater),
        Operator::Ge => order.is_some_and(Ordering::is_ge),
        Operator::Contains => to_lowercase_text(value).contains(&to_lowercase_text(&condition.value)),
    }
}

/// Compares numbers as numbers, even if one is written as text, and other values as texts in any letter case. Returns `None` if
/// only one of the two is a number.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (to_number(a), to_number(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (None, None) => Some(to_lowercase_text(a).cmp(&to_lowercase_text(b))),
        _ => None,
    }
}

/// Same as [`compare`], but fails if only one of the two is a number.
fn compare_or_fail(a: &Value, b: &Value) -> Result<Ordering, QueryError> {
    compare(a, b).ok_or_else(|| QueryError::NotComparable(shorten(a), shorten(b)))
}

fn to_number(value: &Value) -> Option<Decimal> {
    match value {
        Value::String(text) => Decimal::parse(text.trim()),
        Value::Number(number) => Some(number.into()),
        _ => None,
    }
}

fn to_lowercase_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
        .to_lowercase()
}

/// Returns the objects whose `ranking_field` is the largest (`Greater`) or the smallest (`Less`) of all, depending on
/// `direction`. Fails if some of these values are numbers and others are not.
fn find_largest_or_smallest<'a>(
    objects: Vec<&'a Object>,
    ranking_field: &str,
    direction: Ordering,
) -> Result<Vec<&'a Object>, QueryError> {
    let mut best: Vec<&Object> = Vec::new();
    for object in objects {
        let Some(value) = find_field(object, ranking_field).filter(|value| !value.is_null()) else {
            continue;
        };
        let order = match best.first().and_then(|best| find_field(best, ranking_field)) {
            Some(current) => compare_or_fail(value, current)?,
            None => direction,
        };
        match order {
            Ordering::Equal => best.push(object),
            order if order == direction => best = vec![object],
            _ => {}
        }
    }
    Ok(best)
}

fn combine_values(combine: Option<Combine>, values: Vec<Value>) -> Result<Vec<Value>, QueryError> {
    let Some(combine) = combine else {
        return Ok(values);
    };
    Ok(vec![match combine {
        Combine::Count => Value::from(values.len()),
        Combine::CountDistinct => Value::from(distinct(values).len()),
        Combine::Distinct => return Ok(distinct(values)),
        Combine::Length => return values.iter().map(item_count).collect(),
        Combine::Min | Combine::Max => {
            let direction = if combine == Combine::Max {
                Ordering::Greater
            } else {
                Ordering::Less
            };
            let mut non_null = values.into_iter().filter(|value| !value.is_null());
            let mut best = non_null.next().unwrap_or_default();
            for value in non_null {
                if compare_or_fail(&value, &best)? == direction {
                    best = value;
                }
            }
            best
        }
        Combine::Sum | Combine::Mean | Combine::Median => calculate(combine, &values)?,
    }])
}

/// Returns each value once, in the order in which they first appear.
fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    values
        .into_iter()
        .filter(|value| seen.insert(value.to_string()))
        .collect()
}

/// Returns the number of items in a list, or of fields in an object.
fn item_count(value: &Value) -> Result<Value, QueryError> {
    match value {
        Value::Array(items) => Ok(Value::from(items.len())),
        Value::Object(fields) => Ok(Value::from(fields.len())),
        other => Err(QueryError::NotAList(shorten(other))),
    }
}

/// Computes the sum, the mean or the median, ignoring nulls. Returns null for the mean or the median of no numbers.
fn calculate(combine: Combine, values: &[Value]) -> Result<Value, QueryError> {
    let non_null = values.iter().filter(|value| !value.is_null());
    let to_number_or_error = |value: &Value| to_number(value).ok_or_else(|| QueryError::NotANumber(shorten(value)));
    let mut numbers: Vec<Decimal> = non_null.map(to_number_or_error).collect::<Result<_, _>>()?;
    let sum: Decimal = numbers.iter().copied().sum();
    let result = match combine {
        Combine::Sum => Some(sum),
        Combine::Mean => sum.divided_by(numbers.len()),
        Combine::Median => {
            numbers.sort_unstable();
            let number_at = |index: usize| numbers.get(index).copied();
            let last = numbers.len().checked_sub(1);
            last.and_then(|last| (number_at(last / 2)? + number_at(last.div_ceil(2))?).divided_by(2))
        }
        _ => None,
    };
    match result {
        Some(number) if !number.to_f64().is_finite() => Err(QueryError::SumTooLarge),
        Some(number) => Ok(number.to_json()),
        None => Ok(Value::Null),
    }
}

/// Returns the beginning of a value, for an error.
fn shorten(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
