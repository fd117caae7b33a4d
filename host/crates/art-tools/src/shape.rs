//! The size of a JSON value, measured under limits.

pub(crate) use art_core::json::text_len;
use serde_json::Value;

/// Maximum nesting depth of an input or an output; a scalar has depth 1.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of values in an input or an output, containers included.
pub const MAX_NODES: usize = 50_000;
/// Maximum memory of the objects and lists of an output together, in bytes and without their texts. A table of [`MAX_NODES`] values
/// fits.
pub const MAX_MEMORY_BYTES: usize = 8 << 20;

/// Number of bytes of text that need as much work as one more value when a schema is applied. It is more than one, because
/// text is compared, hashed and counted many bytes at a time.
const TEXT_UNIT_BYTES: usize = 32;
/// Number of bytes that need as much work as one more value when the path to a part of a value is copied.
const PATH_UNIT_BYTES: usize = 64;

/// The size of a JSON value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// Number of values, containers included.
    pub nodes: usize,
    /// Total size of all texts and all names of properties, in bytes.
    pub text_bytes: usize,
}

/// The error for a JSON value that exceeds a limit. Contains the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// The value is nested too deeply.
    #[error("nested more than {0} levels deep")]
    Depth(usize),
    /// The value contains too many values.
    #[error("made of more than {0} values")]
    Nodes(usize),
    /// The objects and lists in the value take too much memory.
    #[error("made of so many small objects that it takes more than {0} bytes of memory")]
    Memory(usize),
}

impl JsonSize {
    /// Measures `value`.
    ///
    /// # Errors
    /// Fails if `value` is nested deeper or has more values than allowed. The walk stops at the first excess, which also
    /// bounds its recursion.
    pub fn measure(value: &Value, max_depth: usize, max_nodes: usize) -> Result<Self, TooLarge> {
        let mut size = Self::default();
        size.add(value, 1, max_depth, max_nodes)?;
        Ok(size)
    }

    /// Measures an input or an output.
    ///
    /// # Errors
    /// Fails if it is nested deeper than [`MAX_DEPTH`] or has more than [`MAX_NODES`] values.
    pub fn of_payload(value: &Value) -> Result<Self, TooLarge> {
        Self::measure(value, MAX_DEPTH, MAX_NODES)
    }

    /// Returns the work of applying an empty schema to the value and all values in it: one unit for each value, plus the work of
    /// the text.
    pub(crate) fn work(&self) -> u64 {
        (self.nodes as u64).saturating_add(work_of_text(self.text_bytes))
    }

    /// Returns the total size of both values.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            text_bytes: self.text_bytes.saturating_add(other.text_bytes),
        }
    }

    /// Returns the total size of `count` such values.
    pub(crate) fn times(self, count: usize) -> Self {
        Self {
            nodes: self.nodes.saturating_mul(count),
            text_bytes: self.text_bytes.saturating_mul(count),
        }
    }

    /// Returns an upper bound of the size of any input or output whose JSON text has `bytes` bytes.
    pub(crate) fn of_text(bytes: usize) -> Self {
        Self {
            nodes: bytes.min(MAX_NODES),
            text_bytes: bytes,
        }
    }

    /// Counts one value at `depth`, or fails if this exceeds a limit.
    pub(crate) fn count_value(&mut self, depth: usize, max_depth: usize, max_nodes: usize) -> Result<(), TooLarge> {
        if depth > max_depth {
            return Err(TooLarge::Depth(max_depth));
        }
        self.nodes += 1;
        if self.nodes > max_nodes {
            return Err(TooLarge::Nodes(max_nodes));
        }
        Ok(())
    }

    /// Adds `value`, which is at `depth`, and everything in it.
    fn add(&mut self, value: &Value, depth: usize, max_depth: usize, max_nodes: usize) -> Result<(), TooLarge> {
        self.count_value(depth, max_depth, max_nodes)?;
        match value {
            Value::String(text) => self.text_bytes += text.len(),
            Value::Array(items) => {
                for item in items {
                    self.add(item, depth + 1, max_depth, max_nodes)?;
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.text_bytes += name.len();
                    self.add(member, depth + 1, max_depth, max_nodes)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }
}

/// Returns the work of reading a text, in units: the number of values that cost as much as a text of `bytes` bytes.
pub(crate) fn work_of_text(bytes: usize) -> u64 {
    (bytes / TEXT_UNIT_BYTES) as u64
}

/// Returns the work of copying the paths to all parts of `value`, in units: the number of values that cost as much.
pub(crate) fn work_of_paths(value: &Value) -> u64 {
    /// Length of a separator and the index of an item, in bytes; an index below [`MAX_NODES`] has at most five digits.
    const INDEX_BYTES: usize = 6;
    /// Returns the work of `value`, whose own path has `path_bytes` bytes.
    fn work(value: &Value, path_bytes: usize) -> u64 {
        let nested: u64 = match value {
            Value::Array(items) => items.iter().map(|item| work(item, path_bytes + INDEX_BYTES)).sum(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| work(member, path_bytes + 1 + name.len()))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        1 + (path_bytes / PATH_UNIT_BYTES) as u64 + nested
    }
    work(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_and_texts_are_counted() {
        let size = JsonSize::measure(&json!({"ab": ["xyz", 1], "c": {}}), 64, 100).unwrap();
        assert_eq!(
            size,
            JsonSize {
                nodes: 5,
                text_bytes: 6
            }
        );
    }

    #[test]
    fn a_value_beyond_the_maximum_depth_or_number_of_values_is_refused() {
        assert_eq!(JsonSize::measure(&json!([[[1]]]), 3, 100), Err(TooLarge::Depth(3)));
        assert_eq!(JsonSize::measure(&json!([1, 2, 3]), 64, 3), Err(TooLarge::Nodes(3)));
        assert!(JsonSize::measure(&json!([1, 2]), 2, 3).is_ok());
    }

    #[test]
    fn text_len_is_the_length_of_the_compact_text() {
        let value = json!({"a": [1, "é", null]});
        assert_eq!(text_len(&value), value.to_string().len());
    }
}
