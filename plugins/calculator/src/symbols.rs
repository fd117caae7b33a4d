//! The values of the names in an expression.

use std::collections::BTreeMap;

use art_sdk::Numeric;
use num_complex::Complex64;

use crate::error::{EvalError, Reason};
use crate::value::Value;

const CONSTANTS: [(&str, Complex64); 5] = [
    ("pi", Complex64::new(std::f64::consts::PI, 0.0)),
    ("π", Complex64::new(std::f64::consts::PI, 0.0)),
    ("e", Complex64::new(std::f64::consts::E, 0.0)),
    ("tau", Complex64::new(std::f64::consts::TAU, 0.0)),
    ("i", Complex64::new(0.0, 1.0)),
];

/// The variables of one call of the tool. They hide constants of the same name.
#[derive(Debug)]
pub(crate) struct Symbols<'a> {
    scope: Option<&'a BTreeMap<String, Numeric>>,
    /// The result of an earlier calculation.
    ans: Option<Numeric>,
}

impl<'a> Symbols<'a> {
    /// Fails if `scope` has a name that no expression can contain.
    pub(crate) fn new(scope: Option<&'a BTreeMap<String, Numeric>>, ans: Option<Numeric>) -> Result<Self, EvalError> {
        let bad_name = scope.into_iter().flat_map(BTreeMap::keys).find(|name| !is_name(name));
        match bad_name {
            Some(name) => Err(Reason::BadVariable(name.clone()).without_position()),
            None => Ok(Self { scope, ans }),
        }
    }

    /// Returns the value of `name`, or an error at the position `at`, counted from 0, if `name` has no value.
    pub(crate) fn get(&self, name: &str, at: usize) -> Result<Value, EvalError> {
        self.find(name).ok_or_else(|| self.undefined_symbol(name).at(at))
    }

    /// Returns whether `name` has a value.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.scope.and_then(|scope| scope.get(name)) {
            return Some(Value::of_number(value.0.to_f64(), value.0.to_integer()));
        }
        if let Some(ans) = self.ans.filter(|_| name == "ans") {
            return Some(Value::of_number(ans.0.to_f64(), ans.0.to_integer()));
        }
        let constant = CONSTANTS.iter().find(|(known, _)| *known == name);
        constant.map(|(_, value)| Value::from(*value))
    }

    /// Returns the error for a name that has no value.
    fn undefined_symbol(&self, name: &str) -> Reason {
        let variables = self.scope.into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let ans = self.ans.map(|_| "ans");
        let known: Vec<String> = variables
            .chain(ans)
            .chain(["pi", "e", "tau", "i"])
            .map(|name| format!("`{name}`"))
            .collect();
        Reason::UndefinedSymbol {
            name: name.to_owned(),
            known: known.join(", "),
        }
    }
}

/// Returns whether an expression can contain `name`.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
