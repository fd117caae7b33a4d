//! Paths that may not be granted to any tool, even by an operator.

use std::path::{Path, PathBuf};

use art_core::capability::{BaseDirs, SYSTEM_DIRECTORIES};

use crate::config::Config;

/// The paths that cannot be granted: those of the host itself, those of the system, and hidden ones in the person's home
/// directory.
#[derive(Clone, Debug)]
pub struct ProtectedPaths {
    dirs: BaseDirs,
}

/// A path that may not be granted to any tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be granted: {reason}")]
pub struct ProtectedPath {
    path: String,
    reason: String,
}

impl ProtectedPaths {
    /// Collects the paths of the configuration and the system. `home` is the home directory of the person.
    pub(crate) fn new(config: &Config, home: Option<&Path>) -> Self {
        let config_folder = config.file_path.parent().unwrap_or(Path::new(""));
        let database_folder = config.database.value.parent().unwrap_or(Path::new(""));
        let of_host = [
            (config.plugins.value.as_path(), "the plugins folder"),
            (config.user_plugins.as_path(), "the plugins folder"),
            (config_folder, "the configuration of the host"),
            (config.grants.as_path(), "the grants of tools"),
            (database_folder, "the database of the host"),
            (config.cache.value.as_path(), "the compiled code of the host"),
        ];
        let of_host = of_host.into_iter().filter(|(path, _)| !path.as_os_str().is_empty());
        let of_host = of_host.filter_map(|(path, description)| Some((super::canonical(path).ok()?, description)));
        let of_system = SYSTEM_DIRECTORIES
            .iter()
            .map(|path| (PathBuf::from(path), "files of the system"));
        Self {
            dirs: BaseDirs {
                home: home.and_then(|home| super::canonical(home).ok()),
                resolved_home: None,
                current: PathBuf::new(),
                protected: of_host.chain(of_system).collect(),
            },
        }
    }

    /// Returns the paths with what they are. Neither these paths, nor paths below or above them, can be granted.
    pub(super) fn paths(&self) -> &[(PathBuf, &'static str)] {
        &self.dirs.protected
    }

    /// Returns the protected places, without the hidden files of the home directory.
    pub(crate) fn into_places(self) -> Vec<PathBuf> {
        self.dirs.protected.into_iter().map(|(path, _)| path).collect()
    }

    /// Checks that a path may be granted. Checks both the path as it is named, and the path to which its links lead.
    ///
    /// # Errors
    /// Fails if the path overlaps a protected one.
    pub fn check(&self, path: &Path) -> Result<(), ProtectedPath> {
        self.check_path(path, path)?;
        self.check_path(path, &super::resolved(path))
    }

    /// Checks `path`. An error shows `named`, the path as it was named.
    fn check_path(&self, named: &Path, path: &Path) -> Result<(), ProtectedPath> {
        match self.dirs.why_protected(path) {
            None => Ok(()),
            Some(reason) => Err(ProtectedPath {
                path: named.display().to_string(),
                reason,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the protected paths of a host whose plugins folder is `art/plugins` in the home directory.
    fn protected_paths(home: &Path) -> ProtectedPaths {
        let config = Config {
            plugins: crate::config::Setting {
                value: home.join("art/plugins"),
                origin: crate::config::Origin::Default,
            },
            ..Config::default()
        };
        ProtectedPaths::new(&config, Some(home))
    }

    #[test]
    fn protected_directories_and_those_above_or_below_them_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in ["art/plugins", "notes", ".ssh"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        let protected = protected_paths(&home);
        protected.check(&home.join("notes")).unwrap();
        protected.check(&home.join("notes/new.txt")).unwrap();
        for path in ["art", "art/plugins", "art/plugins/a.toml", ".ssh", ".ssh/id", ""] {
            assert!(protected.check(&home.join(path)).is_err(), "{path}");
        }
        for path in ["/", "/proc/self/root", "/sys", "/dev/sda", "/run/docker.sock"] {
            assert!(protected.check(Path::new(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn a_link_to_a_protected_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let error = protected_paths(&home).check(&home.join("keys")).unwrap_err();
        assert!(error.to_string().contains("hidden directory"), "{error}");
    }
}
