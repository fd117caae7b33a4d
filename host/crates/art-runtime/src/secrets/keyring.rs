//! Stands for the keyring in a program that was built without it.

use secrecy::SecretString;

use super::SecretError;

/// A keyring that cannot be opened, so this type has no values.
pub(super) enum Keyring {}

impl Keyring {
    /// Fails with [`SecretError::WithoutKeyring`].
    pub(super) const fn open() -> Result<Self, SecretError> {
        Err(SecretError::WithoutKeyring)
    }

    pub(super) const fn get(&self, _user: &str) -> Result<SecretString, SecretError> {
        match *self {}
    }

    pub(super) const fn set(&self, _user: &str, _value: &str) -> Result<(), SecretError> {
        match *self {}
    }

    pub(super) const fn remove(&self, _user: &str) -> Result<(), SecretError> {
        match *self {}
    }
}
