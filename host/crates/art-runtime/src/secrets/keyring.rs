//! Stands for the keyring in a program that was built without it. The real one is in `service.rs`.

use secrecy::SecretString;

use super::SecretError;

/// A keyring that cannot be opened, so this type has no values.
pub(super) enum Keyring {}

impl Keyring {
    /// Fails with [`SecretError::WithoutKeyring`].
    pub(super) const fn open() -> Result<Self, SecretError> {
        Err(SecretError::WithoutKeyring)
    }

    pub(super) const fn get(&self, _entry_name: &str) -> Result<SecretString, SecretError> {
        match *self {}
    }

    pub(super) const fn set(&self, _entry_name: &str, _value: &str) -> Result<(), SecretError> {
        match *self {}
    }

    pub(super) const fn remove(&self, _entry_name: &str) -> Result<(), SecretError> {
        match *self {}
    }
}
