//! The keyring of the desktop: a Secret Service, such as GNOME Keyring or KeePassXC.

use std::sync::Arc;

use keyring_core::api::CredentialStoreApi;
use keyring_core::{Entry, Error};
use secrecy::SecretString;
use zbus_secret_service_keyring_store::Store;

use super::SecretError;

/// The attribute `service` of an entry in the keyring. It has this value in all entries of the host.
const SERVICE: &str = "art";

/// A connection to the keyring. A locked keyring asks the person to unlock it.
pub(super) struct Keyring(Arc<Store>);

impl Keyring {
    /// Connects to the keyring.
    ///
    /// # Errors
    /// Fails if the desktop has no keyring.
    pub(super) fn open() -> Result<Self, SecretError> {
        Store::new().map(Self).map_err(|error| keyring_error(&error))
    }

    /// Returns the value of an entry.
    ///
    /// # Errors
    /// Fails if the keyring does not have it or stays locked.
    pub(super) fn get(&self, entry_name: &str) -> Result<SecretString, SecretError> {
        let value = self.entry(entry_name)?.get_password();
        value.map(SecretString::from).map_err(|error| keyring_error(&error))
    }

    /// Stores the value of an entry in place of an earlier one.
    ///
    /// # Errors
    /// Fails if the keyring stays locked.
    pub(super) fn set(&self, entry_name: &str, value: &str) -> Result<(), SecretError> {
        self.entry(entry_name)?
            .set_password(value)
            .map_err(|error| keyring_error(&error))
    }

    /// Removes an entry, if the keyring has it.
    ///
    /// # Errors
    /// Fails if the keyring stays locked.
    pub(super) fn remove(&self, entry_name: &str) -> Result<(), SecretError> {
        match self.entry(entry_name)?.delete_credential() {
            Err(Error::NoEntry) => Ok(()),
            removed => removed.map_err(|error| keyring_error(&error)),
        }
    }

    fn entry(&self, entry_name: &str) -> Result<Entry, SecretError> {
        self.0
            .build(SERVICE, entry_name, None)
            .map_err(|error| keyring_error(&error))
    }
}

/// Keeps only the text of an error, because its fields may contain the value of a secret.
fn keyring_error(error: &Error) -> SecretError {
    SecretError::Keyring(error.to_string())
}
