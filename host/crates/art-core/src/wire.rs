//! Helpers for the wire form of the contract types.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a key that is there. Serde takes `null` for absent, but a tool may well answer `null`.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Returns whether a value says no more than its absence.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
