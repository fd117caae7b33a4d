//! The files in which an operator grants authority to tools: `NAME.toml` beside `NAME.wasm`.

mod approved;
mod protected;

use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use art_core::capability::{BaseDirs, PolicyError, ToolPolicy};
use art_files::{open_entry, read_text};
use art_sandbox::{LoadError, Plugin};
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::config::Config;
use crate::error::in_one_line;
use crate::plugins::{LoadedFolder, RefusedFile};
use crate::secrets::{Quarantine, Quarantined};

pub use approved::ApprovedComponent;
pub use protected::{ProtectedPath, ProtectedPaths};

/// Maximum size of a file of grants, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The grants of the tools in a plugins folder.
#[derive(Clone, Debug)]
pub struct GrantFiles {
    /// The plugins folder.
    folder: PathBuf,
    /// Folder with records of the components for which grants were made; an empty path means that no records are kept.
    approved_folder: PathBuf,
    base_dirs: BaseDirs,
    protected: ProtectedPaths,
    quarantine: Quarantine,
}

/// The right to change grants, which one holder has at a time.
#[derive(Debug)]
#[must_use]
pub struct GrantLock {
    /// The open plugins folder, which is locked until this handle is closed.
    _folder: std::fs::File,
}

/// The grants of a component cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The file of grants, or the list of components in quarantine, cannot be read.
    #[error("failed to read its grants `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The grants or the record of their component cannot be written, or the plugins folder cannot be locked.
    #[error("failed to write the grants `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Another user could change the grants.
    #[error("its grants `{path}` can be written by every user (hint: `chmod o-w` the file)")]
    NotPrivate {
        /// The file.
        path: PathBuf,
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
    /// Creates the reader and writer of the grants in the plugins folder of the configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        Self {
            folder: config.plugins.value.clone(),
            approved_folder: match config.database.value.parent() {
                Some(state_folder) if !state_folder.as_os_str().is_empty() => state_folder.join("approved"),
                _ => PathBuf::new(),
            },
            protected: ProtectedPaths::new(config, home.as_deref()),
            quarantine: Quarantine::new(config),
            base_dirs: BaseDirs {
                resolved_home: home.as_deref().map(resolved).filter(|path| Some(path) != home.as_ref()),
                home,
                current: std::env::current_dir().unwrap_or_default(),
            },
        }
    }

    /// Returns the path of the grants of a component. `name` is the name of the component's file without the extension.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Returns the directories to which relative paths of calls refer.
    #[must_use]
    pub const fn base_dirs(&self) -> &BaseDirs {
        &self.base_dirs
    }

    /// Reads the grants of a component. Returns an empty policy if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be used. Then nothing is granted, and the component should not be offered to models.
    pub fn read(&self, name: &str) -> Result<ToolPolicy, GrantError> {
        let path = self.path(name);
        let Some(text) = self.read_file(name)? else {
            return Ok(ToolPolicy::default());
        };
        let policy: ToolPolicy = toml::from_str(&text).map_err(|source| GrantError::Parse {
            path,
            source: Box::new(source),
        })?;
        self.check(&policy)?;
        Ok(policy)
    }

    /// Reads the text of the grants of a component. Returns `None` if there is no file.
    fn read_file(&self, name: &str) -> Result<Option<String>, GrantError> {
        let path = self.path(name);
        let read_error = |source| GrantError::Read {
            path: path.clone(),
            source,
        };
        let not_found = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
        let folder = match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
            Err(error) if not_found(&error) => return Ok(None),
            folder => folder.map_err(read_error)?,
        };
        let file = match open_entry(&folder, &format!("{name}.toml")) {
            Err(error) if not_found(&error) => return Ok(None),
            file => file.map_err(read_error)?,
        };
        if file.metadata().map_err(read_error)?.permissions().mode() & 0o002 != 0 {
            return Err(GrantError::NotPrivate { path });
        }
        read_text(file, MAX_BYTES).map(Some).map_err(read_error)
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

    /// Locks the grants of this folder against other writers, in this process or another, until the returned value is dropped.
    /// A writer takes the lock before it reads the grants that it changes, so that it does not lose a grant that another writer
    /// makes meanwhile.
    ///
    /// # Errors
    /// Fails with [`GrantError::Write`] if the folder cannot be opened, or if another writer keeps the lock for five seconds.
    pub fn lock(&self) -> Result<GrantLock, GrantError> {
        let folder = std::fs::File::open(&self.folder);
        let locked = folder.and_then(|folder| art_files::lock(&folder).map(|()| GrantLock { _folder: folder }));
        locked.map_err(|source| GrantError::Write {
            path: self.folder.clone(),
            source,
        })
    }

    /// Writes the grants of a component in place of its earlier ones. Readers find the old file or the new one.
    ///
    /// # Errors
    /// Fails if something may not be granted, or if the file cannot be written.
    pub fn write(&self, _lock: &GrantLock, name: &str, policy: &ToolPolicy) -> Result<(), GrantError> {
        self.check(policy)?;
        let path = self.path(name);
        let write = || -> std::io::Result<()> {
            let text = toml::to_string(policy).map_err(std::io::Error::other)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            writeln!(
                file,
                "# What the tool of `{name}.wasm` may touch. `art grant` writes this file."
            )?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            std::fs::File::open(&self.folder)?.sync_all()
        };
        write().map_err(|source| GrantError::Write {
            path: path.clone(),
            source,
        })
    }

    /// Applies the grants of a component to it.
    ///
    /// # Errors
    /// Fails if the component is in quarantine or its grants cannot be used. Then it should not be offered to models.
    pub fn apply(&self, plugin: Plugin) -> Result<Plugin, GrantError> {
        self.check_quarantine(&plugin.digest())?;
        let policy = self.read(plugin.name())?;
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
        let LoadedFolder { plugins, mut refused } = loaded;
        let mut granted = Vec::new();
        // Nothing else holds a component that was just loaded, so `into_inner` returns every one.
        for plugin in plugins.into_iter().filter_map(Arc::into_inner) {
            let file = format!("{}.wasm", plugin.name());
            match self.apply(plugin) {
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
        }
    }
}

/// Writes a file of `folder` in place of an earlier one. Readers find the old file or the new one.
fn replace_file(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Returns the path to which `path` leads: absolute, with every link in it followed. Parts that do not exist stay as they are
/// written.
///
/// # Errors
/// Fails if the directory of the path does not exist, or if the path has too many links.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    let canonical = art_files::resolve(path)?;
    canonical
        .parent()
        .map_or(Ok(()), |parent| parent.metadata().map(drop))?;
    Ok(canonical)
}

/// Returns the path to which the path of a grant leads. If that cannot be found out, returns the path itself: if a part of it is a
/// link, the sandbox does not open it.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    art_files::resolve(path).unwrap_or_else(|_| path.to_owned())
}
