//! JSON text within the limits of a store.

use std::ops::Deref;

use serde::Serialize;

use crate::check;
use crate::error::StoreError;

/// JSON text that is not larger than [`MAX_VALUE_BYTES`](crate::limits::MAX_VALUE_BYTES) and not nested deeper than
/// [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH), so that it can be stored and parsed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// Returns `value` as JSON text. Two parameters are for errors: `what` says what the value is, such as `the state`, and `id`
    /// identifies the object that has the value, such as a thread.
    ///
    /// # Errors
    /// Fails with [`StoreError::TooLarge`] or [`StoreError::TooDeep`] if the text exceeds a limit, and with
    /// [`StoreError::Encode`] if the value cannot be written as JSON.
    pub fn of<T: Serialize + ?Sized>(what: &'static str, id: &str, value: &T) -> Result<Self, StoreError> {
        check::encode(what, id, value).map(Self)
    }

    /// Returns the text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Deref for JsonText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
