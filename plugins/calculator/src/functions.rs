//! The functions an expression may call, and the arithmetic of its operators.

mod complex;
mod lists;
mod real;

use num_complex::Complex64;

use crate::error::Reason;

pub(crate) use complex::{add, divide, power};

/// The names of the functions that an expression may call.
const NAMES: [&str; 43] = [
    "abs",
    "sign",
    "square",
    "cube",
    "sqrt",
    "cbrt",
    "pow",
    "exp",
    "ln",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
    "round",
    "trunc",
    "max",
    "min",
    "sum",
    "product",
    "difference",
    "mean",
    "median",
    "std",
    "variance",
    "mod",
    "gcd",
    "lcm",
    "factorial",
    "gamma",
    "combinations",
    "permutations",
    "hypot",
];

/// The value of a function or an operator, or the reason why it has none.
type ValueResult = Result<Complex64, Reason>;

/// Returns the allowed function called `name`, in any letter case.
pub(crate) fn lookup(name: &str) -> Result<&'static str, Reason> {
    let found = NAMES.iter().copied().find(|known| known.eq_ignore_ascii_case(name));
    found.ok_or_else(|| Reason::DisallowedFunction {
        name: name.to_owned(),
        allowed: NAMES.join(", "),
    })
}

/// Calls the function `name`, which has to be one of [`NAMES`].
pub(crate) fn call(name: &'static str, arguments: &[Complex64]) -> ValueResult {
    match name {
        "pow" => two_arguments(name, arguments).and_then(|[a, b]| power(a, b)),
        "log" => logarithm(name, arguments),
        "product" => Ok(arguments.iter().product()),
        "difference" => two_arguments(name, arguments).map(|[a, b]| add(a, -b)),
        "sum" | "mean" => lists::sum_or_mean(name, arguments),
        "max" | "min" | "median" | "std" | "variance" | "gcd" | "lcm" | "hypot" => {
            lists::call(name, &real_arguments(name, arguments)?).map(real_value)
        }
        "atan2" | "mod" | "combinations" => {
            let [a, b] = two_arguments(name, arguments)?;
            real::call_with_two(name, real_argument(name, a)?, real_argument(name, b)?).map(real_value)
        }
        "round" | "permutations" => real::call_with_one_or_two(name, &real_arguments(name, arguments)?).map(real_value),
        "sign" | "floor" | "ceil" | "trunc" | "factorial" | "gamma" => {
            real::call_with_one(name, real_argument(name, one_argument(name, arguments)?)?).map(real_value)
        }
        _ => complex::call(name, one_argument(name, arguments)?),
    }
}

/// Returns the remainder with the sign of the divisor, so `-7 mod 3` is 2.
pub(crate) fn modulo(a: Complex64, b: Complex64) -> ValueResult {
    real::call_with_two("mod", real_argument("mod", a)?, real_argument("mod", b)?).map(real_value)
}

/// Returns the real root if `value` is real and has a real root, so the 3rd root of -8 is -2. Otherwise returns
/// `value ^ (1 / degree)`.
pub(crate) fn root(value: Complex64, degree: Complex64) -> ValueResult {
    let is_odd = degree.im == 0.0 && degree.re.rem_euclid(2.0) == 1.0;
    if value.im == 0.0 && value.re < 0.0 && is_odd {
        return root(-value, degree).map(|root| -root);
    }
    power(value, divide(real_value(1.0), degree)?)
}

/// Returns the multiple of `step` that is nearest to `value`.
pub(crate) fn round_to_multiple(value: Complex64, step: Complex64) -> ValueResult {
    let step = real_argument("round", step)?;
    let steps = real_argument("round", divide(value, real_value(step))?)?;
    Ok(real_value(steps.round() * step))
}

/// Computes `log(x)`, the natural logarithm, or `log(x, base)`.
fn logarithm(name: &'static str, arguments: &[Complex64]) -> ValueResult {
    match arguments {
        [value] => complex::call("ln", *value),
        [value, base] => divide(complex::call("ln", *value)?, complex::call("ln", *base)?),
        _ => Err(argument_count_error(name, "1 or 2 arguments", arguments.len())),
    }
}

fn one_argument(name: &'static str, arguments: &[Complex64]) -> ValueResult {
    match arguments {
        [value] => Ok(*value),
        _ => Err(argument_count_error(name, "1 argument", arguments.len())),
    }
}

fn two_arguments(name: &'static str, arguments: &[Complex64]) -> Result<[Complex64; 2], Reason> {
    match arguments {
        [a, b] => Ok([*a, *b]),
        _ => Err(argument_count_error(name, "2 arguments", arguments.len())),
    }
}

fn real_arguments(name: &'static str, arguments: &[Complex64]) -> Result<Vec<f64>, Reason> {
    arguments.iter().map(|value| real_argument(name, *value)).collect()
}

/// Returns the argument of the function `name` as a real number. Fails if it is complex.
fn real_argument(name: &'static str, value: Complex64) -> Result<f64, Reason> {
    if value.im == 0.0 {
        Ok(value.re)
    } else {
        Err(domain_error(name, "real numbers"))
    }
}

/// Returns a real number as a complex one.
fn real_value(value: f64) -> Complex64 {
    Complex64::new(value, 0.0)
}

/// Returns the error for an argument outside of the domain of the function `name`. `needs` says what is in the domain.
fn domain_error(name: &'static str, needs: &'static str) -> Reason {
    Reason::Domain { name, needs }
}

fn argument_count_error(name: &'static str, expected: &str, got: usize) -> Reason {
    Reason::ArgumentCount {
        name,
        expected: expected.to_owned(),
        got,
    }
}
