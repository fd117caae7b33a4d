//! The secrets that the host adds to requests of tools. They come from a private file, in which a secret has its value or refers
//! to the keyring of the desktop, and from variables of the environment.
//!
//! A *canary* is a decoy: a secret that no tool is given. If it is seen in what a tool sends or returns, the tool has read what
//! it should not, and its component is put into quarantine.

// The real keyring is in `service.rs`. Without the feature, `keyring.rs` stands for a keyring that cannot be opened.
#[cfg_attr(feature = "keyring", path = "secrets/service.rs")]
mod keyring;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use art_core::secret::{InvalidSecret, MAX_SECRETS, Secret, Secrets};
use art_core::text::quote_for_shell;
use art_files::{open_regular, read_text};
use art_sandbox::SecretSource;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::config::Config;
use crate::grants::Quarantine;
use keyring::Keyring;

/// Beginning of the names of variables with secrets; the rest is the name of the secret. Such a variable is used instead of the
/// stored secret of the same name.
pub const VARIABLE_PREFIX: &str = "ART_SECRET_";
/// Maximum size of the file, in bytes. The maximum number of secrets with values of the maximum length fits.
const MAX_FILE_BYTES: u64 = 512 << 10;
/// Minimum time between two checks whether the file has changed, for calls that use no secret. The secrets are redacted from the
/// texts of these calls too, so a new secret has to be noticed for them as well, but not at once.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Name of the file in its directory.
const FILE_NAME: &str = "secrets.toml";

/// The secrets cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The configuration has no directory in which secrets could be stored.
    #[error("there is no place for secrets (hint: pass `--home DIR`)")]
    NoPlace,
    /// The file or its directory cannot be read or written.
    #[error("failed to {verb} the secrets `{path}`")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or the directory.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Others could read the secrets.
    #[error("the secrets `{path}` are not private: {problem} (hint: {hint})")]
    NotPrivate {
        /// The file or the directory.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
        /// What to do.
        hint: String,
    },
    /// The file does not have the form that the host writes. The message shows nothing of its content.
    #[error("the secrets `{path}` are damaged (hint: remove the file, and set the secrets again)")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A secret cannot be used.
    #[error(transparent)]
    Invalid(#[from] InvalidSecret),
    /// The program was built without the keyring.
    #[error("this program was built without the keyring (hint: `cargo install --path host --features keyring`)")]
    WithoutKeyring,
    /// The keyring cannot be used.
    #[error(
        "failed to use the keyring: {0} (hint: start a Secret Service, such as GNOME Keyring or KeePassXC, and unlock it)"
    )]
    Keyring(String),
}

/// Where the value of a secret is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the private file.
    File,
    /// In the keyring of the desktop. Only the name is in the file.
    Keyring,
}

/// One secret in the file. Either it has a value, or its value is in the keyring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    value: Option<SecretString>,
    #[serde(default)]
    canary: bool,
    #[serde(default)]
    keyring: bool,
}

impl Entry {
    fn place(&self) -> Place {
        if self.keyring { Place::Keyring } else { Place::File }
    }
}

/// The secrets of the file by their names.
type Entries = BTreeMap<String, Entry>;

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSecret {
    /// Name of the secret.
    pub name: String,
    /// Whether it is a decoy.
    pub canary: bool,
    /// Where its value is.
    pub place: Place,
}

/// The private file with secrets.
#[derive(Clone, Debug)]
pub struct SecretFile {
    /// The directory of the file. It is an empty path if the configuration has no path; then no secret can be stored.
    directory: PathBuf,
}

impl SecretFile {
    /// Returns the file of a configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let path = &config.file_path;
        Self {
            directory: match path.as_os_str().is_empty() {
                true => PathBuf::new(),
                false => path.with_file_name("secrets"),
            },
        }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(FILE_NAME)
    }

    /// Returns the secrets without their values; none if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged, or if others could read it or its directory.
    pub fn list(&self) -> Result<Vec<ListedSecret>, SecretError> {
        let without_value = |(name, entry): (String, Entry)| ListedSecret {
            name,
            canary: entry.canary,
            place: entry.place(),
        };
        Ok(self.entries()?.into_iter().map(without_value).collect())
    }

    /// Reads the secrets. Those whose values cannot be read from the keyring are left out with a warning.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged, or if others could read it or its directory.
    pub fn read(&self) -> Result<Vec<Secret>, SecretError> {
        let mut secrets = Vec::new();
        for (name, entry) in self.entries()? {
            let value = match entry.value {
                Some(value) => Ok(value),
                None => Keyring::open().and_then(|keyring| keyring.get(&self.keyring_entry_name(&name))),
            };
            match value {
                Ok(value) => secrets.push(Secret::new(&name, &value, entry.canary)?),
                Err(error) => tracing::warn!(%error, secret = name, "a secret is left out"),
            }
        }
        Ok(secrets)
    }

    fn entries(&self) -> Result<Entries, SecretError> {
        let path = self.path();
        let file = match open_regular(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Entries::new()),
            file => file.map_err(io_error("read", &path))?,
        };
        let metadata = file.metadata().map_err(io_error("read", &path))?;
        check_private(&path, &metadata, "600")?;
        let directory = std::fs::symlink_metadata(&self.directory).map_err(io_error("read", &self.directory))?;
        check_private(&self.directory, &directory, "700")?;
        let text = SecretString::from(read_text(file, MAX_FILE_BYTES).map_err(io_error("read", &path))?);
        // The error of the parser would show a line of the file.
        let entries: Option<Entries> = toml::from_str(text.expose_secret()).ok();
        let has_one_value = |entry: &Entry| entry.value.is_some() != entry.keyring;
        entries
            .filter(|entries| entries.values().all(has_one_value))
            .ok_or(SecretError::Damaged { path })
    }

    /// Stores a secret in place of an earlier one of the same name.
    ///
    /// # Errors
    /// Fails if the file or the keyring cannot be read or written, or if there are too many secrets.
    pub fn set(&self, secret: &Secret, place: Place) -> Result<(), SecretError> {
        let name = secret.name();
        if place == Place::Keyring {
            // Nothing is put into the keyring if the file has no room for the name. The directory is not locked while the keyring
            // is used, because a locked keyring first asks the person to unlock it.
            self.check_room(name)?;
            Keyring::open()?.set(&self.keyring_entry_name(name), secret.expose())?;
        }
        let entry = Entry {
            value: (place == Place::File).then(|| secret.expose().into()),
            canary: secret.is_canary(),
            keyring: place == Place::Keyring,
        };
        let earlier = self.update(|entries| {
            let earlier = entries.insert(name.to_owned(), entry);
            if entries.len() > MAX_SECRETS {
                return Err(InvalidSecret::TooMany.into());
            }
            Ok(earlier)
        })?;
        match earlier {
            Some(earlier) if earlier.keyring && place == Place::File => self.remove_from_keyring(name),
            _ => Ok(()),
        }
    }

    /// Removes a secret. Returns whether there was one.
    ///
    /// # Errors
    /// Fails if the file or the keyring cannot be read or written.
    pub fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if self
            .directory
            .symlink_metadata()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            return Ok(false);
        }
        let removed = {
            let _lock = self.lock()?;
            let mut entries = self.entries()?;
            let removed = entries.remove(name);
            if removed.is_some() {
                self.write(&entries)?;
            }
            removed
        };
        if removed.as_ref().is_some_and(|entry| entry.keyring) {
            self.remove_from_keyring(name)?;
        }
        Ok(removed.is_some())
    }

    /// Checks that the file has room for a secret of this name.
    fn check_room(&self, name: &str) -> Result<(), SecretError> {
        let _lock = self.lock()?;
        let entries = self.entries()?;
        if entries.len() >= MAX_SECRETS && !entries.contains_key(name) {
            return Err(InvalidSecret::TooMany.into());
        }
        Ok(())
    }

    /// Changes the file, unless `change` fails. A lock protects secrets that another process stores at the same time.
    fn update<T>(&self, change: impl FnOnce(&mut Entries) -> Result<T, SecretError>) -> Result<T, SecretError> {
        let _lock = self.lock()?;
        let mut entries = self.entries()?;
        let changed = change(&mut entries)?;
        self.write(&entries)?;
        Ok(changed)
    }

    /// Removes a value from the keyring.
    fn remove_from_keyring(&self, name: &str) -> Result<(), SecretError> {
        Keyring::open()?.remove(&self.keyring_entry_name(name))
    }

    /// Returns the name of the entry of the keyring for a secret. It contains the canonical path of the directory, so that hosts
    /// with different homes (`--home`) can have secrets of the same name.
    fn keyring_entry_name(&self, name: &str) -> String {
        let directory = std::fs::canonicalize(&self.directory);
        let directory = directory.unwrap_or_else(|_missing| self.directory.clone());
        directory.join(name).display().to_string()
    }

    /// Creates the directory, and locks it against other writers while the returned file is open.
    fn lock(&self) -> Result<File, SecretError> {
        if self.directory.as_os_str().is_empty() {
            return Err(SecretError::NoPlace);
        }
        let write_error = io_error("write", &self.directory);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .map_err(&write_error)?;
        let metadata = std::fs::symlink_metadata(&self.directory).map_err(&write_error)?;
        check_private(&self.directory, &metadata, "700")?;
        let directory = File::open(&self.directory).map_err(&write_error)?;
        art_files::lock(&directory).map_err(&write_error)?;
        // A process that was killed may have left secrets behind, also one that is to be removed.
        remove_left_behind(&self.directory);
        Ok(directory)
    }

    fn write(&self, entries: &Entries) -> Result<(), SecretError> {
        let written = art_files::replace(&self.path(), |file| {
            // Nobody but its owner can read the new file. The permissions are set again, because the umask may have removed some
            // of those of the owner.
            file.set_permissions(Permissions::from_mode(0o600))?;
            for (name, entry) in entries {
                writeln!(file, "[{name}]\ncanary = {}", entry.canary)?;
                match &entry.value {
                    Some(value) => {
                        let text = SecretString::from(toml::Value::from(value.expose_secret()).to_string());
                        writeln!(file, "value = {}\n", text.expose_secret())?;
                    }
                    None => writeln!(file, "keyring = true\n")?,
                }
            }
            Ok(())
        });
        written.map_err(io_error("write", &self.directory))
    }
}

/// Removes what killed processes have left behind in a folder of the home. Only warns if that fails, since nothing needs it.
pub(crate) fn remove_left_behind(folder: &Path) {
    if let Err(error) = art_files::remove_left_behind(folder) {
        let folder = folder.display();
        tracing::warn!(%error, %folder, "failed to remove files that killed processes have left behind");
    }
}

fn io_error<'a>(verb: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> SecretError + 'a {
    move |source| SecretError::Io {
        verb,
        path: path.to_owned(),
        source,
    }
}

/// Refuses a file or directory that others can read or change, or that belongs to somebody else. A link is refused as well.
fn check_private(path: &Path, metadata: &Metadata, mode: &'static str) -> Result<(), SecretError> {
    let quoted = quote_for_shell(&path.to_string_lossy());
    let (problem, hint) = if metadata.is_symlink() {
        (
            "it is a link",
            "put the file or directory itself in its place".to_owned(),
        )
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        let hint = "run this program as that user, or set the secrets again in a home of yours";
        ("it belongs to another user", hint.to_owned())
    } else if metadata.mode() & 0o077 != 0 {
        ("other users can read or change it", format!("`chmod {mode} {quoted}`"))
    } else {
        return Ok(());
    };
    Err(SecretError::NotPrivate {
        path: path.to_owned(),
        problem,
        hint,
    })
}

/// The secrets of the file and of the environment. The file is read again when it changes.
#[derive(Debug)]
pub struct SecretStore {
    file: SecretFile,
    quarantine: Quarantine,
    environment: Vec<Secret>,
    last_read: Mutex<LastRead>,
}

/// The secrets that were read last, and the state of the file then.
#[derive(Debug, Default)]
struct LastRead {
    stamp: Option<Stamp>,
    /// When the stamp of the file was last compared.
    last_checked: Option<Instant>,
    secrets: Arc<Secrets>,
}

/// The inode, the length and the modification time (seconds and nanoseconds) of the file. At least one of them changes when the
/// file is written.
type Stamp = (u64, u64, i64, i64);

impl SecretStore {
    /// Opens a store with the secrets of a configuration: those in its file, and those in the variables of `environment`.
    ///
    /// # Errors
    /// Fails if the file cannot be used. A variable that cannot be used is left out with a warning.
    pub fn open(config: &Config, environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Self, SecretError> {
        let store = Self {
            file: SecretFile::new(config),
            quarantine: Quarantine::new(config),
            environment: read_environment(environment),
            last_read: Mutex::default(),
        };
        remove_left_behind(&store.file.directory);
        let last_read = store.read_now()?;
        *store.last_read.lock().unwrap_or_else(PoisonError::into_inner) = last_read;
        Ok(store)
    }

    fn stamp(&self) -> Option<Stamp> {
        let metadata = std::fs::symlink_metadata(self.file.path()).ok()?;
        Some((metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
    }

    fn read_now(&self) -> Result<LastRead, SecretError> {
        let stamp = self.stamp();
        let mut secrets = self.file.read()?;
        secrets.extend(self.environment.iter().cloned());
        Ok(LastRead {
            stamp,
            last_checked: Some(Instant::now()),
            secrets: Arc::new(Secrets::new(secrets)?),
        })
    }
}

impl SecretSource for SecretStore {
    /// Returns the secrets, and reads the file again if it has changed. Checks this for each call that uses secrets, and for
    /// other calls at most once a second. If the file cannot be used any more, the secrets that were read last stay.
    fn secrets(&self, call_uses_secrets: bool) -> Arc<Secrets> {
        let mut last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = call_uses_secrets
            || last_read
                .last_checked
                .is_none_or(|checked| checked.elapsed() > CHECK_INTERVAL);
        if is_due && self.stamp() != last_read.stamp {
            match self.read_now() {
                Ok(read) => *last_read = read,
                Err(error) => tracing::error!(%error, "failed to read the secrets again"),
            }
        }
        if is_due {
            last_read.last_checked = Some(Instant::now());
        }
        Arc::clone(&last_read.secrets)
    }

    fn quarantine(&self, digest: &str, tool: &str, canary: &str) {
        if let Err(error) = self.quarantine.add(digest, tool, canary) {
            tracing::error!(%error, tool, "failed to store that a tool is in quarantine");
        }
    }
}

fn read_environment(environment: impl Iterator<Item = (OsString, OsString)>) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (variable, value) in environment {
        let (Some(variable), Some(value)) = (variable.to_str(), value.to_str()) else {
            continue;
        };
        let Some(name) = variable.strip_prefix(VARIABLE_PREFIX) else {
            continue;
        };
        let is_canary = false;
        match Secret::new(name, &value.into(), is_canary) {
            Ok(secret) => secrets.push(secret),
            Err(error) => tracing::warn!(%error, variable, "a variable with a secret is ignored"),
        }
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For [`SecretStore::secrets`]: the call uses secrets, so a change of the file is seen at once.
    const CALL_USES_SECRETS: bool = true;

    /// Returns the configuration of a home. The secrets are beside `art.toml`.
    fn config(home: &Path) -> Config {
        Config {
            file_path: home.join("art.toml"),
            grants: home.join("grants"),
            ..Config::default()
        }
    }

    fn secret(name: &str, value: &str) -> Secret {
        Secret::new(name, &value.into(), false).unwrap()
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(secrets: &[Secret]) -> Vec<&str> {
        secrets.iter().map(Secret::name).collect()
    }

    #[test]
    fn secrets_are_stored_in_a_private_file() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        assert!(file.read().unwrap().is_empty());
        file.set(&secret("KEY", "value-\"one\""), Place::File).unwrap();
        file.set(&secret("OTHER", "value-two"), Place::File).unwrap();
        file.set(&secret("KEY", "value-three"), Place::File).unwrap();
        let secrets = Secrets::new(file.read().unwrap()).unwrap();
        assert_eq!(secrets.get("KEY").unwrap().expose(), "value-three");
        assert_eq!(
            (mode(&file.path()), mode(file.path().parent().unwrap())),
            (0o600, 0o700)
        );
        assert!(file.remove("KEY").unwrap() && !file.remove("KEY").unwrap());
        assert_eq!(names(&file.read().unwrap()), ["OTHER"]);
    }

    #[test]
    fn a_value_is_read_as_it_was_stored() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        let value = r#"a"b\c'd#e=[f]{g}"#;
        file.set(&secret("KEY", value), Place::File).unwrap();
        assert_eq!(file.read().unwrap()[0].expose(), value);
    }

    #[test]
    fn a_secret_without_its_keyring_value_is_not_read_but_stays_in_the_file() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        file.set(&secret("KEY", "value-one"), Place::File).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        std::fs::write(file.path(), format!("{text}\n[OTHER]\nkeyring = true\n")).unwrap();
        assert_eq!(names(&file.read().unwrap()), ["KEY"]);
        file.set(&secret("KEY", "value-two"), Place::File).unwrap();
        let places: Vec<_> = file.list().unwrap().into_iter().map(|listed| listed.place).collect();
        assert_eq!(places, [Place::File, Place::Keyring]);
    }

    #[test]
    fn a_file_with_a_secret_that_has_two_values_or_none_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        file.set(&secret("KEY", "value-one"), Place::File).unwrap();
        for text in ["[KEY]\n", "[KEY]\nvalue = \"value-one\"\nkeyring = true\n"] {
            std::fs::write(file.path(), text).unwrap();
            assert!(matches!(file.read(), Err(SecretError::Damaged { .. })), "{text}");
        }
    }

    #[test]
    fn each_reason_why_secrets_are_not_private_has_its_hint() {
        let home = tempfile::Builder::new().prefix("a b").tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        file.set(&secret("KEY", "value-one"), Place::File).unwrap();
        let directory = file.path().parent().unwrap().to_owned();
        std::fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        let error = file.read().unwrap_err().to_string();
        let command = format!("(hint: `chmod 700 '{}'`)", directory.display());
        assert!(error.ends_with(&command), "{error}");
        std::fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        let elsewhere = home.path().join("elsewhere");
        std::fs::rename(&directory, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &directory).unwrap();
        let error = file.read().unwrap_err().to_string();
        assert!(
            error.contains("it is a link (hint: put the file or directory itself in its place)"),
            "{error}"
        );
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(elsewhere.join(FILE_NAME), Some(54_321), None).unwrap();
            let error = file.read().unwrap_err().to_string();
            assert!(
                error.contains("belongs to another user (hint: run this program as that user"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_or_directory_that_others_can_read_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        file.set(&secret("KEY", "value-one"), Place::File).unwrap();
        let path = file.path();
        let directory = path.parent().unwrap();
        for (path, open_mode, private_mode) in [(path.as_path(), 0o640, 0o600), (directory, 0o755, 0o700)] {
            std::fs::set_permissions(path, Permissions::from_mode(open_mode)).unwrap();
            let error = file.read().unwrap_err().to_string();
            assert!(error.contains("other users") && error.contains("chmod"), "{error}");
            file.set(&secret("KEY", "value-two"), Place::File).unwrap_err();
            std::fs::set_permissions(path, Permissions::from_mode(private_mode)).unwrap();
        }
        file.read().unwrap();
    }

    #[test]
    fn the_error_for_a_damaged_file_shows_none_of_its_content() {
        let home = tempfile::tempdir().unwrap();
        let file = SecretFile::new(&config(home.path()));
        file.set(&secret("KEY", "value-one"), Place::File).unwrap();
        std::fs::write(file.path(), "KEY = hunter2hunter2").unwrap();
        let error = format!("{:?}", file.read().unwrap_err());
        assert!(error.contains("Damaged") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_variable_is_used_instead_of_the_stored_secret_of_the_same_name() {
        let home = tempfile::tempdir().unwrap();
        let config = config(home.path());
        SecretFile::new(&config)
            .set(&secret("KEY", "from-the-file"), Place::File)
            .unwrap();
        let variables = [
            ("ART_SECRET_KEY", "from-the-variable"),
            ("ART_SECRET_SHORT", "short"), // left out: shorter than a secret may be
            ("KEY", "no-secret"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let store = SecretStore::open(&config, variables.into_iter()).unwrap();
        let secrets = store.secrets(CALL_USES_SECRETS);
        assert_eq!(names(secrets.all()), ["KEY"]);
        assert_eq!(secrets.get("KEY").unwrap().expose(), "from-the-variable");
    }

    #[test]
    fn a_secret_that_is_set_after_the_store_was_opened_is_found() {
        let home = tempfile::tempdir().unwrap();
        let config = config(home.path());
        let store = SecretStore::open(&config, std::iter::empty()).unwrap();
        assert!(store.secrets(CALL_USES_SECRETS).get("KEY").is_none());
        SecretFile::new(&config)
            .set(&secret("KEY", "value-one"), Place::File)
            .unwrap();
        assert!(store.secrets(CALL_USES_SECRETS).get("KEY").is_some());
    }

    #[test]
    fn no_secret_can_be_stored_if_the_configuration_has_no_path() {
        let file = SecretFile::new(&Config::default());
        assert!(file.read().unwrap().is_empty());
        assert!(matches!(
            file.set(&secret("KEY", "value-one"), Place::File),
            Err(SecretError::NoPlace)
        ));
    }
}
