//! Helpers for the JSON form of the types of this crate, which other processes read and write.

use serde::{Deserialize, Deserializer};

/// Deserialises a value, which may be `null`, as `Some`. By default, Serde reads `null` as `None`, as if the key were absent, but
/// `null` is a valid output of a tool.
pub(crate) fn keep_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Returns whether a value is the default, so that it can be omitted.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
