//! Reads the string literals of an attribute, and checks at compile time that those for JSON text contain valid JSON.

use serde_json::Value;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Result};

/// Returns `value` as a string literal. Fails if it is anything else.
pub(crate) fn string_literal<'a>(value: &'a Expr, key: &str) -> Result<&'a LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Ok(text),
        _ => Err(Error::new_spanned(value, format!("`{key}` expects a string literal"))),
    }
}

/// Checks that `value` is a string literal that contains JSON, and returns the literal.
pub(crate) fn json_literal(value: &Expr, key: &str) -> Result<LitStr> {
    let text = string_literal(value, key)?;
    parse(text, key)?;
    Ok(text.clone())
}

/// Checks that `value` is a string literal that contains a JSON object, and returns the literal.
pub(crate) fn json_object_literal(value: &Expr, key: &str) -> Result<LitStr> {
    let text = string_literal(value, key)?;
    match parse(text, key)? {
        Value::Object(_) => Ok(text.clone()),
        _ => Err(Error::new_spanned(value, format!("`{key}` is not a JSON object"))),
    }
}

fn parse(text: &LitStr, key: &str) -> Result<Value> {
    serde_json::from_str(&text.value())
        .map_err(|error| Error::new(text.span(), format!("`{key}` is not JSON: {error}")))
}
