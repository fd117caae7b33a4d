//! Converts between the values of `serde_json` and those of the filter engine `jaq`.

use art_sdk::decimal::Decimal;
use art_sdk::serde_json::{Map, Number, Value};
use jaq_json::{Num, Val};

use crate::error::QueryError;

/// Maximum nesting of a result, the same as for JSON text. A filter can build a deeply nested value from flat ones.
const MAX_DEPTH: usize = 128;

/// Converts to a value of the engine. The recursion is safe, because the parser has limited the nesting of `value`.
pub(crate) fn to_val(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(number) => Val::Num(to_num(number)),
        Value::String(text) => Val::from(text.clone()),
        Value::Array(items) => items.iter().map(to_val).collect(),
        Value::Object(fields) => Val::obj(
            fields
                .iter()
                .map(|(key, value)| (Val::from(key.clone()), to_val(value)))
                .collect(),
        ),
    }
}

/// Converts a number. Whole numbers of at most 64 bits are converted exactly, without a float.
fn to_num(number: &Number) -> Num {
    match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) => Num::from_integral(whole),
        (None, Some(whole)) => Num::from_integral(whole),
        (None, None) => number
            .as_f64()
            .map_or_else(|| Num::from_dec_str(&number.to_string()), Num::Float),
    }
}

/// Converts to JSON. `NaN` and infinity become null, since JSON has neither.
pub(crate) fn to_json(value: &Val) -> Result<Value, QueryError> {
    to_json_at_depth(value, 0)
}

fn to_json_at_depth(value: &Val, depth: usize) -> Result<Value, QueryError> {
    if depth > MAX_DEPTH {
        return Err(QueryError::ResultNotJson("it is nested more than 128 levels deep"));
    }
    Ok(match value {
        Val::Null => Value::Null,
        Val::Bool(value) => Value::Bool(*value),
        Val::Num(number) => to_json_number(number),
        // Text strings and byte strings.
        Val::TStr(bytes) | Val::BStr(bytes) => Value::String(String::from_utf8_lossy(bytes).into_owned()),
        Val::Arr(items) => Value::Array(
            items
                .iter()
                .map(|item| to_json_at_depth(item, depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        Val::Obj(fields) => {
            let mut object = Map::new();
            for (key, value) in fields.iter() {
                object.insert(to_json_key(key)?, to_json_at_depth(value, depth + 1)?);
            }
            Value::Object(object)
        }
    })
}

fn to_json_key(key: &Val) -> Result<String, QueryError> {
    match key {
        Val::TStr(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Err(QueryError::ResultNotJson(
            "a key of an object is not a string; use `tostring`",
        )),
    }
}

/// Converts a number. A whole float of up to 2^53 becomes an integer, as in jq: `7.0` becomes `7`. A number with more digits than a
/// number of JSON can have becomes a text.
fn to_json_number(number: &Num) -> Value {
    match number {
        Num::Float(float) => {
            let whole = Decimal::from_float(*float).filter(|number| number.to_integer().is_some());
            whole.map_or_else(|| Value::from(*float), Decimal::to_json)
        }
        exact => {
            let text = exact.to_string();
            match Decimal::parse(&text) {
                Some(float) if float.to_integer().is_none() && is_integer(&text) => Value::from(text),
                Some(number) => number.to_json(),
                None => Value::Null,
            }
        }
    }
}

fn is_integer(text: &str) -> bool {
    text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit())
}
