//! The filters of jq that the base library lacks: for numbers, formats and regular expressions.
//!
//! `jaq-std` has them too, but only together with time zones, the environment and the log, which would make a component import
//! clocks and a file system. The filters of this module access nothing but their arguments.

mod format;
mod regexp;

use jaq_core::{
    Cv,
    load::{self, parse::Def},
    native::{Fun, bome, run, v},
};
use jaq_json::{Val, ValR};
use jaq_std::ValT;

use crate::engine::Data;

type Error = jaq_core::Error<Val>;

/// Definitions of the library that use filters that do not exist here.
pub(crate) const MISSING_DEFS: [&str; 13] = [
    "debug",
    "drem",
    "fromdate",
    "gamma",
    "halt",
    "halt_error",
    "logb",
    "nexttoward",
    "pow10",
    "scalb",
    "significand",
    "stderr",
    "todate",
];

/// Formats that the library has only in its command line. They quote strings, and write numbers unchanged.
const DEFS: &str = r#"
def @csv: map(if . == null then "" elif type == "string" then "\"\(gsub("\""; "\"\""))\"" else tostring end) | join(",");
def @tsv: map(if . == null then "" else tostring | gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") end)
  | join("\t");
"#;

/// Returns the definitions of this module.
pub(crate) fn defs() -> Vec<Def<&'static str>> {
    load::parse(DEFS, |parser| parser.defs()).unwrap_or_default()
}

/// Defines a filter on a number, without arguments.
macro_rules! of_number {
    ($name:literal, $function:expr) => {
        run(($name, v(0), |cv| bome(number(&cv.1).map(|x| Val::from($function(x))))))
    };
}

/// Defines a filter with two numbers as its arguments.
macro_rules! of_two {
    ($name:literal, $function:expr) => {
        run(($name, v(2), |cv| {
            let [a, b] = arguments(cv);
            bome(number(&a).and_then(|a| Ok(Val::from($function(a, number(&b)?)))))
        }))
    };
}

/// Defines a filter on a string, without arguments.
macro_rules! of_text {
    ($name:literal, $function:expr) => {
        run(($name, v(0), |cv| bome(text(&cv.1).and_then($function).map(Val::from))))
    };
}

/// Defines a filter on a string whose arguments are a regular expression and its flags.
macro_rules! of_match {
    ($name:literal, $function:expr) => {
        run(($name, v(2), |cv| {
            let input = text(&cv.1);
            let [pattern, flags] = arguments(cv);
            let search = || $function(&input?, &text(&pattern)?, &text(&flags)?);
            bome(search())
        }))
    };
}

/// Returns every filter of this module.
pub(crate) fn funs() -> impl Iterator<Item = Fun<Data>> {
    numbers().into_iter().chain(texts())
}

fn numbers() -> Vec<Fun<Data>> {
    vec![
        of_number!("sqrt", f64::sqrt),
        of_number!("cbrt", f64::cbrt),
        of_number!("fabs", f64::abs),
        of_number!("trunc", f64::trunc),
        of_number!("rint", f64::round_ties_even),
        of_number!("nearbyint", f64::round_ties_even),
        of_number!("exp", f64::exp),
        of_number!("exp2", f64::exp2),
        of_number!("exp10", |x| f64::powf(10.0, x)),
        of_number!("log", f64::ln),
        of_number!("log2", f64::log2),
        of_number!("log10", f64::log10),
        of_number!("sin", f64::sin),
        of_number!("cos", f64::cos),
        of_number!("tan", f64::tan),
        of_number!("asin", f64::asin),
        of_number!("acos", f64::acos),
        of_number!("atan", f64::atan),
        of_number!("sinh", f64::sinh),
        of_number!("cosh", f64::cosh),
        of_number!("tanh", f64::tanh),
        of_two!("pow", f64::powf),
        of_two!("atan2", f64::atan2),
        of_two!("fmin", f64::min),
        of_two!("fmax", f64::max),
        of_two!("fmod", |a: f64, b: f64| a % b),
        of_two!("hypot", f64::hypot),
    ]
}

fn texts() -> Vec<Fun<Data>> {
    vec![
        of_text!("escape_html", |text: String| Ok(format::escape_html(&text))),
        of_text!("unescape_html", |text: String| Ok(format::unescape_html(&text))),
        of_text!("encode_uri", |text: String| Ok(format::encode_uri(&text))),
        of_text!("decode_uri", |text: String| Ok(format::decode_uri(&text))),
        of_text!("encode_base64", |text: String| Ok(format::encode_base64(&text))),
        of_text!("decode_base64", |text: String| format::decode_base64(&text)
            .map_err(Error::str)),
        of_match!("matches", regexp::matches),
        of_match!("split_matches", regexp::split_matches),
        of_match!("split_", regexp::split),
    ]
}

fn number(value: &Val) -> Result<f64, Error> {
    ValT::as_f64(value).ok_or_else(|| Error::typ(value.clone(), "number"))
}

fn text(value: &Val) -> Result<String, Error> {
    match value {
        Val::TStr(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Err(Error::typ(value.clone(), "string")),
    }
}

/// Returns the two arguments in order. They are popped from a stack, which returns the last one first.
fn arguments(mut cv: Cv<'_, Data>) -> [Val; 2] {
    let last = cv.0.pop_var();
    [cv.0.pop_var(), last]
}

/// The result of a filter with a regular expression.
type SearchResult = ValR;
