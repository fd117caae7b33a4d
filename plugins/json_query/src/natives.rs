//! The filters of jq that are not in `jaq_std::base_funs`: for numbers, formats and regular expressions.
//!
//! `jaq-std` has them too, but only together with time zones, the environment and the log, which would make a component import
//! clocks and a file system. The filters of this module access nothing but their input and their arguments.
//!
//! Filters that are written in the language of jq are called definitions (`defs`), and those written in Rust are called
//! functions (`funs`). A function gets a pair `cv` of its arguments, `cv.0`, and its input, `cv.1`; `v(n)` declares `n`
//! arguments, and `bome` makes the output from a result.

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

/// Names of the definitions of `jaq-std` that are left out, because they use filters that do not exist here.
pub(crate) const EXCLUDED_DEFS: [&str; 13] = [
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

/// Formats that the engine has only in its command-line program. They quote or escape strings, and write numbers unchanged.
const DEFS: &str = r#"
def @csv: map(if . == null then "" elif type == "string" then "\"\(gsub("\""; "\"\""))\"" else tostring end) | join(",");
def @tsv: map(if . == null then "" else tostring | gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n")
  | gsub("\r"; "\\r") end)
  | join("\t");
"#;

/// Returns the definitions of this module.
pub(crate) fn defs() -> Vec<Def<&'static str>> {
    load::parse(DEFS, |parser| parser.defs()).unwrap_or_default()
}

/// Defines a filter on a number, without arguments.
macro_rules! number_filter {
    ($name:literal, $function:expr) => {
        run(($name, v(0), |cv| bome(number(&cv.1).map(|x| Val::from($function(x))))))
    };
}

/// Defines a filter with two numbers as its arguments.
macro_rules! two_number_filter {
    ($name:literal, $function:expr) => {
        run(($name, v(2), |cv| {
            let [a, b] = pop_arguments(cv);
            bome(number(&a).and_then(|a| Ok(Val::from($function(a, number(&b)?)))))
        }))
    };
}

/// Defines a filter on a string, without arguments.
macro_rules! text_filter {
    ($name:literal, $function:expr) => {
        run(($name, v(0), |cv| bome(text(&cv.1).and_then($function).map(Val::from))))
    };
}

/// Defines a filter on a string whose arguments are a regular expression and its flags.
macro_rules! regex_filter {
    ($name:literal, $function:expr) => {
        run(($name, v(2), |cv| {
            let input = text(&cv.1);
            let [pattern, flags] = pop_arguments(cv);
            let search = || $function(&input?, &text(&pattern)?, &text(&flags)?);
            bome(search())
        }))
    };
}

/// Returns every filter of this module.
pub(crate) fn funs() -> impl Iterator<Item = Fun<Data>> {
    number_filters().into_iter().chain(text_filters())
}

fn number_filters() -> Vec<Fun<Data>> {
    vec![
        number_filter!("sqrt", f64::sqrt),
        number_filter!("cbrt", f64::cbrt),
        number_filter!("fabs", f64::abs),
        number_filter!("trunc", f64::trunc),
        number_filter!("rint", f64::round_ties_even),
        number_filter!("nearbyint", f64::round_ties_even),
        number_filter!("exp", f64::exp),
        number_filter!("exp2", f64::exp2),
        number_filter!("exp10", |x| f64::powf(10.0, x)),
        number_filter!("log", f64::ln),
        number_filter!("log2", f64::log2),
        number_filter!("log10", f64::log10),
        number_filter!("sin", f64::sin),
        number_filter!("cos", f64::cos),
        number_filter!("tan", f64::tan),
        number_filter!("asin", f64::asin),
        number_filter!("acos", f64::acos),
        number_filter!("atan", f64::atan),
        number_filter!("sinh", f64::sinh),
        number_filter!("cosh", f64::cosh),
        number_filter!("tanh", f64::tanh),
        two_number_filter!("pow", f64::powf),
        two_number_filter!("atan2", f64::atan2),
        two_number_filter!("fmin", f64::min),
        two_number_filter!("fmax", f64::max),
        two_number_filter!("fmod", |a: f64, b: f64| a % b),
        two_number_filter!("hypot", f64::hypot),
    ]
}

fn text_filters() -> Vec<Fun<Data>> {
    vec![
        text_filter!("escape_html", |text: String| Ok(format::escape_html(&text))),
        text_filter!("unescape_html", |text: String| Ok(format::unescape_html(&text))),
        text_filter!("encode_uri", |text: String| Ok(format::encode_uri(&text))),
        text_filter!("decode_uri", |text: String| Ok(format::decode_uri(&text))),
        text_filter!("encode_base64", |text: String| Ok(format::encode_base64(&text))),
        text_filter!("decode_base64", |text: String| format::decode_base64(&text)
            .map_err(Error::str)),
        regex_filter!("matches", regexp::matches),
        regex_filter!("split_matches", regexp::split_matches),
        // `jaq-std` calls this filter in its definition of `split` with a regular expression.
        regex_filter!("split_", regexp::split),
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
fn pop_arguments(mut cv: Cv<'_, Data>) -> [Val; 2] {
    let last = cv.0.pop_var();
    [cv.0.pop_var(), last]
}

/// The result of a filter with a regular expression.
type SearchResult = ValR;
