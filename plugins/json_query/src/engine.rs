//! Answers a call: compiles and runs a jq filter with the engine `jaq`, or looks up fields.

use std::borrow::Cow;

use art_sdk::json::with_exact_integers;
use art_sdk::serde_json::{Deserializer, Value};
use jaq_core::{
    Compiler, Ctx, Vars, compile, data,
    load::{self, Arena, File, Loader},
    unwrap_valr,
};
use jaq_json::Val;

use crate::{
    convert,
    error::QueryError,
    input::{JsonQueryInput, JsonQueryOutput},
    lookup,
    natives::{self, EXCLUDED_DEFS},
};

/// Maximum number of returned values.
const MAX_RESULTS: usize = 1000;
/// Maximum length of a filter, in characters, because the stack of the parser grows with it.
const MAX_QUERY_CHARS: usize = 4096;
/// Maximum nesting of brackets in a filter, because the stack of the parser grows with it.
const MAX_QUERY_DEPTH: usize = 64;

/// The data that a filter can access in addition to its input: none.
pub(crate) type Data = data::JustLut<Val>;

/// Runs `query` on `json`, or if `json` is a text, on each of the JSON values in it.
fn run_filter(json: &Value, query: &str) -> Result<JsonQueryOutput, QueryError> {
    let filter = compile_filter(query)?;
    let mut results = Vec::new();
    for value in filter_inputs(json)? {
        let ctx = Ctx::<Data>::new(&filter.lut, Vars::new([]));
        for result in filter.id.run((ctx, value)).map(unwrap_valr) {
            if results.len() == MAX_RESULTS {
                return Ok(to_output(results, true));
            }
            let results_before = results.len();
            let result = result.map_err(|error| QueryError::FilterFailed {
                message: error.to_string(),
                results_before,
            })?;
            results.push(convert::to_json(&result)?);
        }
    }
    Ok(to_output(results, false))
}

/// Runs the `query` of `input` on `json`, or looks up what the other arguments in `input` ask for.
pub(crate) fn answer(input: &JsonQueryInput, json: &Value) -> Result<JsonQueryOutput, QueryError> {
    // `input.filter` holds the conditions of a lookup. The jq filter is `input.query`.
    let has_lookup =
        input.field.is_some() || input.largest.is_some() || input.smallest.is_some() || !input.filter.is_empty();
    match &input.query {
        Some(query) if !has_lookup && input.combine.is_none() => run_filter(json, query),
        None if has_lookup => {
            let mut results = lookup::run(input, &parse_values(json)?)?;
            let truncated = results.len() > MAX_RESULTS;
            results.truncate(MAX_RESULTS);
            Ok(to_output(results, truncated))
        }
        _ => Err(QueryError::NeedsEitherQueryOrLookup),
    }
}

fn to_output(results: Vec<Value>, truncated: bool) -> JsonQueryOutput {
    let value = match results.as_slice() {
        [one] if one.is_number() || one.is_string() => Some(one.clone()),
        _ => None,
    };
    JsonQueryOutput {
        count: results.len(),
        value,
        results,
        truncated,
    }
}

/// Returns the values to query. If `json` is a text, these are the one or more JSON values in it; otherwise `json` itself.
fn parse_values(json: &Value) -> Result<Vec<Value>, QueryError> {
    let Value::String(text) = json else {
        return Ok(vec![json.clone()]);
    };
    let text = with_exact_integers(without_byte_order_mark(text));
    let values: Vec<Value> = Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>()?;
    if values.is_empty() {
        Err(QueryError::NoData)
    } else {
        Ok(values)
    }
}

/// Returns the values to query, as the engine has them. It computes with integers of any size.
fn filter_inputs(json: &Value) -> Result<Vec<Val>, QueryError> {
    let values = parse_values(json)?;
    match json {
        // `parse_values` has found out that the text is JSON and how deep it is nested. It has texts in place of large integers.
        Value::String(text) if is_changed_by_exact_integers(text) => {
            let parsed = jaq_json::read::parse_many(without_byte_order_mark(text).as_bytes());
            parsed
                .collect::<Result<_, _>>()
                .map_err(|error| QueryError::FilterFailed {
                    message: error.to_string(),
                    results_before: 0,
                })
        }
        _ => Ok(values.iter().map(convert::to_val).collect()),
    }
}

fn is_changed_by_exact_integers(text: &str) -> bool {
    matches!(with_exact_integers(text), Cow::Owned(_))
}

fn without_byte_order_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

fn compile_filter(query: &str) -> Result<jaq_core::Filter<Data>, QueryError> {
    check_length_and_nesting(query)?;
    let std_defs = jaq_std::defs().filter(|def| !EXCLUDED_DEFS.contains(&def.name));
    let defs = jaq_core::defs()
        .chain(std_defs)
        .chain(jaq_json::defs())
        .chain(natives::defs());
    let funs = jaq_core::funs()
        .chain(jaq_std::base_funs())
        .chain(natives::funs())
        .chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(defs)
        .load(&arena, File { code: query, path: () })
        .map_err(|errors| load_error(query, &errors))?;
    Compiler::default()
        .with_funs(funs)
        .compile(modules)
        .map_err(|errors| compile_error(query, &errors))
}

fn check_length_and_nesting(query: &str) -> Result<(), QueryError> {
    let chars = query.chars().count();
    if chars > MAX_QUERY_CHARS {
        return Err(QueryError::QueryTooLong(chars, MAX_QUERY_CHARS));
    }
    let mut depth = 0_usize;
    for c in query.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_QUERY_DEPTH {
            return Err(QueryError::QueryTooDeep(MAX_QUERY_DEPTH));
        }
    }
    Ok(())
}

fn load_error(query: &str, errors: &load::Errors<&str, ()>) -> QueryError {
    let first = errors.first().map(|(_, error)| error);
    match first {
        Some(load::Error::Io(_)) => QueryError::ImportUnavailable,
        Some(load::Error::Lex(errors)) => match errors.first() {
            Some((expected, found)) => error_at(query, found, describe_expected(expected)),
            None => error_at(query, "", "an unknown token".to_owned()),
        },
        Some(load::Error::Parse(errors)) => match errors.first() {
            Some((expected, found)) => error_at(query, found, format!("expected {}", expected.as_str())),
            None => error_at(query, "", "a syntax error".to_owned()),
        },
        None => error_at(query, "", "a syntax error".to_owned()),
    }
}

/// Describes the expected token. Handles delimiters itself, because `Expect::as_str` panics on unknown delimiters.
fn describe_expected(expected: &load::lex::Expect<&str>) -> String {
    match expected {
        load::lex::Expect::Delim(open) => {
            let close = match *open {
                "(" => ")",
                "[" => "]",
                "{" => "}",
                other => other,
            };
            format!("expected `{close}`")
        }
        other => format!("expected {}", other.as_str()),
    }
}

fn compile_error(query: &str, errors: &compile::Errors<&str, ()>) -> QueryError {
    let first = errors.iter().flat_map(|(_, errors)| errors).next();
    let Some((name, undefined)) = first else {
        return error_at(query, "", "an undefined name".to_owned());
    };
    let reason = match undefined {
        compile::Undefined::Filter(arity) => format!("no filter `{name}` with {arity} arguments"),
        other => format!("no {} `{name}`", other.as_str()),
    };
    error_at(query, name, reason)
}

/// Returns the error for a filter that is wrong where `found` begins. `found` is a slice of `query`, and its offset is the
/// difference between the addresses of the two. An empty `found` means the end of the query.
fn error_at(query: &str, found: &str, reason: String) -> QueryError {
    let offset = (found.as_ptr() as usize).checked_sub(query.as_ptr() as usize);
    let before = offset
        .and_then(|offset| query.get(..offset))
        .filter(|_| !found.is_empty())
        .unwrap_or(query);
    QueryError::InvalidFilter {
        reason,
        at: before.chars().count() + 1,
        found: found.chars().take(20).collect(),
    }
}
