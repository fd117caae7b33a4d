//! What an operator has decided about components: grants, raised limits, approved versions and quarantine. All of it is in one
//! folder of the operator's home, under the digests of the components. A plugins folder brings code and never authority: nothing
//! beside a component is read.
//!
//! The file `DIGEST.toml` has the grants of a component, and `DIGEST.json` the [properties](ApprovedComponent) that the operator
//! saw when the grants were made.

mod approved;
mod protected;
mod quarantine;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use art_core::capability::{BaseDirs, PolicyError, ToolPolicy};
use art_core::text::quote_for_shell;
use art_files::{open_entry, read_text, replaceable_by_others, writable_by_others};
use art_sandbox::{LoadError, Plugin};
use art_tools::ToolExecutor;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Deserialize;

use crate::config::Config;
use crate::error::in_one_line;
use crate::plugins::{LoadedFolder, RefusedFile};
use crate::secrets::remove_left_behind;

pub use approved::ApprovedComponent;
pub use protected::{ProtectedPath, ProtectedPaths};
pub use quarantine::{Quarantine, Quarantined};

/// Maximum size of a file of grants, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The folder of the home with what the operator has decided about components.
#[derive(Clone, Debug)]
pub struct GrantFiles {
    /// The folder; an empty path means that there is no home, so that nothing is granted but what the program grants.
    folder: PathBuf,
    /// The grants that the program makes, by the names of the tools. They replace those of the folder.
    by_program: BTreeMap<String, ToolPolicy>,
    base_dirs: BaseDirs,
    protected: ProtectedPaths,
    quarantine: Quarantine,
}

/// The grants of one component, as its file has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGrants {
    /// Name of the tool.
    pub tool: String,
    /// Name of the file of the component, without the extension.
    pub file: String,
    /// The grants. They name the digest of the component.
    pub policy: ToolPolicy,
}

/// The files of the folder, and the folder itself under an empty name, each with its inode, its size, its mode, and the time of its
/// last change in seconds and nanoseconds. At least one of them changes when a file is written or replaced, or when its owner or mode
/// is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GrantStamps(BTreeMap<OsString, (u64, u64, u32, i64, i64)>);

/// The right to change grants, which one holder has at a time.
#[derive(Debug)]
#[must_use]
pub struct GrantLock {
    /// The open folder of grants, which is locked until this handle is closed.
    _folder: std::fs::File,
}

/// The grants of a component cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// There is no home, which is where grants are kept.
    #[error("there is no home in which grants are kept (hint: pass `--home DIR`)")]
    NoHome,
    /// The file of grants, their folder, or the list of components in quarantine, cannot be read.
    #[error("failed to read its grants `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The grants or the record of their component cannot be written, or their folder cannot be locked.
    #[error("failed to write the grants `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Another user could change the grants.
    #[error(
        "others could change its grants `{path}`: {problem} (hint: make it yours, and run `chmod go-w {}`)",
        quote_for_shell(&path.to_string_lossy())
    )]
    NotPrivate {
        /// The file or the folder.
        path: PathBuf,
        /// Why others could change it.
        problem: &'static str,
    },
    /// The file of grants is not TOML, or has unknown keys.
    #[error("its grants `{path}` are invalid")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Cause, with its position.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// The component sent, returned or logged a canary, which is a secret that is stored only as a decoy.
    #[error(
        "it is in quarantine: the secret `{canary}`, a decoy, was in what it sent, returned or logged (hint: remove its line from \
         `{path}` to use it again)"
    )]
    Quarantined {
        /// The canary.
        canary: String,
        /// The list of components in quarantine.
        path: PathBuf,
    },
    /// The grants are invalid in themselves, whichever tool they are for.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The earlier grants were made for another component. Adding a grant would approve all earlier ones for this component
    /// too.
    #[error(
        "`{tool}` is another component than the one for which its grants were made (hint: `art grant approve {tool}` shows the \
         difference)"
    )]
    OtherComponent {
        /// Name of the tool.
        tool: String,
    },
    /// A path may not be granted to any tool.
    #[error(transparent)]
    Protected(#[from] ProtectedPath),
    /// The component has a grant that it can never use, or requests more than it is granted.
    #[error(transparent)]
    Component(#[from] LoadError),
}

impl GrantFiles {
    /// Creates the reader and writer of the grants of the configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        let protected = ProtectedPaths::new(config, home.as_deref());
        Self {
            folder: config.grants.clone(),
            by_program: config.program_grants.clone(),
            quarantine: Quarantine::new(config),
            base_dirs: BaseDirs {
                resolved_home: home.as_deref().map(resolved).filter(|path| Some(path) != home.as_ref()),
                home,
                current: std::env::current_dir().unwrap_or_default(),
                protected: protected.paths().to_vec(),
            },
            protected,
        }
    }

    /// Returns the folder; an empty path if there is no home.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the grants of the component with this digest.
    #[must_use]
    pub fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.toml"))
    }

    /// Returns the directories to which relative paths of calls refer.
    #[must_use]
    pub const fn base_dirs(&self) -> &BaseDirs {
        &self.base_dirs
    }

    /// Returns the list of components in quarantine.
    #[must_use]
    pub const fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// Reads the grants of a component. If it has none, returns those of an earlier component of its tool, which do not
    /// [apply](ToolPolicy::is_for) to it before the operator approves it, or else an empty policy.
    ///
    /// # Errors
    /// Fails if the file cannot be used. Then nothing is granted, and the component should not be offered to models.
    pub fn read(&self, plugin: &Plugin) -> Result<ToolPolicy, GrantError> {
        self.read_with(plugin, || self.list())
    }

    /// Same as [`read`](Self::read). `list` returns all stored grants, and is called only if they are needed.
    fn read_with(
        &self,
        plugin: &Plugin,
        list: impl FnOnce() -> Result<Vec<StoredGrants>, GrantError>,
    ) -> Result<ToolPolicy, GrantError> {
        let (tool, digest) = (&plugin.schema().name, plugin.digest());
        if let Some(policy) = self.by_program.get(tool) {
            let mut policy = policy.clone();
            if policy.component.is_empty() {
                policy.component = digest;
            }
            self.check(&policy)?;
            return Ok(policy);
        }
        if let Some(stored) = self.read_stored(&digest)? {
            self.check(&stored.policy)?;
            return Ok(stored.policy);
        }
        let mut of_tool = list()?.into_iter().filter(|stored| stored.tool == *tool);
        Ok(of_tool.next().map(|earlier| earlier.policy).unwrap_or_default())
    }

    /// Returns all stored grants, the newest first. Grants that cannot be used are left out with a warning: no component gets
    /// them.
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or if others could change it.
    pub fn list(&self) -> Result<Vec<StoredGrants>, GrantError> {
        let Some(folder) = self.open_folder()? else {
            return Ok(Vec::new());
        };
        let entries = folder
            .entries()
            .map_err(|source| self.read_error(&self.folder, source))?;
        let mut listed = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(digest) = name.to_str().and_then(|name| name.strip_suffix(".toml")) else {
                continue;
            };
            match self.read_entry(&folder, digest) {
                Ok(Some((modified, stored))) => listed.push((modified, stored)),
                Ok(None) => {}
                Err(error) => tracing::warn!("{}", in_one_line(&error)),
            }
        }
        listed.sort_by(|(a, _), (b, _)| b.cmp(a));
        Ok(listed.into_iter().map(|(_, stored)| stored).collect())
    }

    /// Returns the stamps of the files. They differ from earlier ones if grants were made or taken back in between, or if a
    /// component has come into quarantine.
    pub(crate) fn stamps(&self) -> GrantStamps {
        let entries = match self.folder.as_os_str().is_empty() {
            true => None,
            false => std::fs::read_dir(&self.folder).ok(),
        };
        let stamp = |found: Metadata| {
            (
                found.ino(),
                found.len(),
                found.mode(),
                found.ctime(),
                found.ctime_nsec(),
            )
        };
        let files = entries.into_iter().flatten().flatten();
        let files = files.filter_map(|entry| Some((entry.file_name(), stamp(entry.metadata().ok()?))));
        let folder = self.folder.metadata().ok();
        let folder = folder.map(|found| (OsString::new(), stamp(found)));
        GrantStamps(files.chain(folder).collect())
    }

    /// Returns the stored grants of the component with this digest, or `None` if it has none.
    fn read_stored(&self, digest: &str) -> Result<Option<StoredGrants>, GrantError> {
        let Some(folder) = self.open_folder()? else {
            return Ok(None);
        };
        Ok(self.read_entry(&folder, digest)?.map(|(_, stored)| stored))
    }

    /// Opens the folder. Returns `None` if it does not exist.
    fn open_folder(&self) -> Result<Option<Dir>, GrantError> {
        if self.folder.as_os_str().is_empty() {
            return Ok(None);
        }
        let opened = match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.and_then(|folder| Ok((folder.try_clone()?.into_std_file().metadata()?, folder))),
        };
        let (metadata, folder) = opened.map_err(|source| self.read_error(&self.folder, source))?;
        let shared = match writable_by_others(&metadata) {
            Some(problem) => Some((self.folder.clone(), problem)),
            None => replaceable_by_others(&self.folder).map_err(|source| self.read_error(&self.folder, source))?,
        };
        match shared {
            None => Ok(Some(folder)),
            Some((path, problem)) => Err(GrantError::NotPrivate { path, problem }),
        }
    }

    /// Reads the grants of the component with this digest, and when they were stored. Returns `None` if there is no file.
    fn read_entry(&self, folder: &Dir, digest: &str) -> Result<Option<(SystemTime, StoredGrants)>, GrantError> {
        let path = self.path(digest);
        let read_error = |source| self.read_error(&path, source);
        let file = match open_entry(folder, &format!("{digest}.toml")) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(read_error)?,
        };
        let metadata = file.metadata().map_err(read_error)?;
        if let Some(problem) = writable_by_others(&metadata) {
            return Err(GrantError::NotPrivate { path, problem });
        }
        let modified = metadata.modified().map_err(read_error)?;
        let text = read_text(file, MAX_BYTES).map_err(read_error)?;
        let stored = StoredGrants::parse(&text).and_then(|stored| match stored.policy.component == digest {
            true => Ok(stored),
            false => Err(serde::de::Error::custom(
                "`component` is not the digest in the name of the file",
            )),
        });
        let stored = stored.map_err(|source| GrantError::Parse {
            path,
            source: Box::new(source),
        })?;
        Ok(Some((modified, stored)))
    }

    fn read_error(&self, path: &Path, source: std::io::Error) -> GrantError {
        let path = path.to_owned();
        GrantError::Read { path, source }
    }

    /// Checks that everything in `policy` may be granted on this machine.
    ///
    /// # Errors
    /// Fails for the first grant that may not be made.
    pub fn check(&self, policy: &ToolPolicy) -> Result<(), GrantError> {
        policy.check()?;
        for grant in &policy.fs {
            self.protected.check(&grant.path)?;
            self.protected.check(grant.base())?;
        }
        Ok(())
    }

    /// Creates the folder if it does not exist, and locks it against other writers, in this process or another, until the
    /// returned value is dropped. A writer takes the lock before it reads the grants that it changes, so that it does not lose a
    /// grant that another writer makes meanwhile.
    ///
    /// # Errors
    /// Fails with [`GrantError::Write`] if the folder cannot be created or opened, or if another writer keeps the lock for five
    /// seconds, and with [`GrantError::NoHome`] if there is no home.
    pub fn lock(&self) -> Result<GrantLock, GrantError> {
        let locked = self.create_folder().and_then(|()| {
            let folder = std::fs::File::open(&self.folder)?;
            art_files::lock(&folder)?;
            remove_left_behind(&self.folder);
            Ok(GrantLock { _folder: folder })
        });
        match self.folder.as_os_str().is_empty() {
            true => Err(GrantError::NoHome),
            false => locked.map_err(|source| self.write_error(&self.folder, source)),
        }
    }

    /// Creates the folder if there is a home and the folder does not exist.
    pub(crate) fn create_folder(&self) -> std::io::Result<()> {
        match self.folder.as_os_str().is_empty() {
            true => Ok(()),
            false => create_private_folder(&self.folder),
        }
    }

    fn write_error(&self, path: &Path, source: std::io::Error) -> GrantError {
        let path = path.to_owned();
        GrantError::Write { path, source }
    }

    /// Writes the grants of a component in place of its earlier ones, with a record of the component, and removes those of
    /// earlier components of its tool: the grants of a tool belong to the component that was approved last. Readers find the
    /// old grants or the new ones.
    ///
    /// # Errors
    /// Fails if something may not be granted, or if the files cannot be written.
    pub fn write(&self, lock: &GrantLock, plugin: &Plugin, policy: &ToolPolicy) -> Result<(), GrantError> {
        let stored = StoredGrants {
            tool: plugin.schema().name.clone(),
            file: plugin.name().to_owned(),
            policy: ToolPolicy {
                component: plugin.digest(),
                ..policy.clone()
            },
        };
        self.write_stored(&stored)?;
        self.store_approved(plugin)?;
        for other in self.list()? {
            if other.tool == stored.tool && other.policy.component != stored.policy.component {
                self.remove(lock, &other.policy.component)?;
            }
        }
        Ok(())
    }

    /// Writes stored grants that were reduced in place of the earlier ones, or removes them if nothing is left of them. Approves
    /// no other component.
    ///
    /// # Errors
    /// Fails if the file cannot be written or removed.
    pub fn write_reduced(&self, lock: &GrantLock, stored: &StoredGrants) -> Result<(), GrantError> {
        match stored.policy.is_empty() {
            true => self.remove(lock, &stored.policy.component),
            false => self.write_stored(stored),
        }
    }

    fn write_stored(&self, stored: &StoredGrants) -> Result<(), GrantError> {
        self.check(&stored.policy)?;
        let path = self.path(&stored.policy.component);
        let text = stored.to_text().map_err(std::io::Error::other);
        let written = text.and_then(|text| art_files::replace_with(&path, text.as_bytes()));
        written.map_err(|source| self.write_error(&path, source))
    }

    /// Removes the grants of the component with this digest, and its record.
    fn remove(&self, _lock: &GrantLock, digest: &str) -> Result<(), GrantError> {
        for path in [self.path(digest), self.approved_path(digest)] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(self.write_error(&path, error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Applies the grants of a component to it.
    ///
    /// # Errors
    /// Fails if the component is in quarantine or its grants cannot be used. Then it should not be offered to models.
    pub fn apply(&self, plugin: Plugin) -> Result<Plugin, GrantError> {
        self.apply_with(plugin, || self.list())
    }

    /// Same as [`apply`](Self::apply). `list` returns all stored grants, and is called only if they are needed.
    fn apply_with(
        &self,
        plugin: Plugin,
        list: impl FnOnce() -> Result<Vec<StoredGrants>, GrantError>,
    ) -> Result<Plugin, GrantError> {
        self.check_quarantine(&plugin.digest())?;
        let policy = self.read_with(&plugin, list)?;
        Ok(plugin.with_policy(policy, self.base_dirs.clone())?)
    }

    /// Refuses a component that is in quarantine.
    ///
    /// # Errors
    /// Fails if the component is in quarantine, or if the list of components in quarantine cannot be read.
    pub(crate) fn check_quarantine(&self, digest: &str) -> Result<(), GrantError> {
        let path = self.quarantine.path();
        let listed = self.quarantine.list().map_err(|source| GrantError::Read {
            path: path.clone(),
            source,
        })?;
        match listed.into_iter().find(|listed| listed.digest == digest) {
            Some(Quarantined { canary, .. }) => Err(GrantError::Quarantined {
                canary,
                path: path.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Applies the grants of the components of the folder to them. A component whose grants cannot be used is refused.
    #[must_use]
    pub fn apply_to_all(&self, loaded: LoadedFolder) -> LoadedFolder {
        let LoadedFolder {
            plugins,
            mut refused,
            unread,
        } = loaded;
        let mut granted = Vec::new();
        // Read the folder once for all components without grants of their own. If it cannot be read, each of them fails with
        // the reason.
        let listed = self.list().ok();
        let list = || listed.clone().map_or_else(|| self.list(), Ok);
        // Nothing else holds a component that was just loaded, so `into_inner` returns every one.
        for plugin in plugins.into_iter().filter_map(Arc::into_inner) {
            let file = format!("{}.wasm", plugin.name());
            match self.apply_with(plugin, list) {
                Ok(plugin) => granted.push(Arc::new(plugin)),
                Err(error) => refused.push(RefusedFile {
                    file,
                    reason: in_one_line(&error),
                }),
            }
        }
        refused.sort_by(|a, b| a.file.cmp(&b.file));
        LoadedFolder {
            plugins: granted,
            refused,
            unread,
        }
    }
}

impl StoredGrants {
    /// Parses the text of a file of grants.
    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let mut table: toml::Table = toml::from_str(text)?;
        let mut take_name = |key: &'static str| match table.remove(key) {
            Some(toml::Value::String(name)) => Ok(name),
            Some(_) => Err(serde::de::Error::custom(format!("`{key}` is not a text"))),
            None => Err(serde::de::Error::missing_field(key)),
        };
        Ok(Self {
            tool: take_name("tool")?,
            file: take_name("file")?,
            policy: ToolPolicy::deserialize(table)?,
        })
    }

    fn to_text(&self) -> Result<String, toml::ser::Error> {
        let names = toml::Table::from_iter([
            ("tool".to_owned(), self.tool.clone().into()),
            ("file".to_owned(), self.file.clone().into()),
        ]);
        let (names, policy) = (toml::to_string(&names)?, toml::to_string(&self.policy)?);
        let tool = art_core::text::printable(&self.tool);
        Ok(format!(
            "# What the tool `{tool}` may touch. `art grant` writes this file, and only the component with this digest gets it.\n\
             {names}{policy}"
        ))
    }
}

/// Creates a folder that only this user can use, and the folders above it, unless it exists.
fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns the path to which `path` leads: absolute, with every link in it followed. Parts that do not exist stay as they are
/// written.
///
/// # Errors
/// Fails if the path has too many links, or a part of it cannot be read.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    art_files::resolve(path)
}

/// Returns the path to which the path of a grant leads. If that cannot be found out, returns the path itself: if a part of it is a
/// link, the sandbox does not open it.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    art_files::resolve(path).unwrap_or_else(|_| path.to_owned())
}
