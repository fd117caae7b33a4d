//! The directories of the configuration, the state, the cache and the data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::{ConfigError, Origin, Overrides};

/// The directories: those under `--home`, or those of the XDG convention.
#[derive(Debug)]
pub(super) struct Directories {
    /// Directory of `art.toml`.
    pub(super) config: PathBuf,
    /// Directory of the database.
    pub(super) state: PathBuf,
    /// Directory of compiled code.
    pub(super) cache: PathBuf,
    /// Directory that contains the user's plugins folder.
    pub(super) data: PathBuf,
    /// Origin of all of these directories: `Flag` for `--home`, `Environment` for `ART_HOME`, `Default` for the XDG convention.
    pub(super) origin: Origin,
}

impl Directories {
    /// Returns the plugins folder of the user.
    pub(super) fn user_plugins(&self) -> PathBuf {
        self.data.join("plugins")
    }
}

/// Returns the directories. Fails if neither `--home` nor the environment determines them.
pub(super) fn find_directories(
    overrides: &Overrides,
    environment: &BTreeMap<&str, OsString>,
) -> Result<Directories, ConfigError> {
    if let Some(home) = &overrides.home {
        let from_environment = overrides.from_environment.contains(&"home");
        let origin = if from_environment {
            Origin::Environment
        } else {
            Origin::Flag
        };
        return Ok(Directories {
            config: home.clone(),
            state: home.join("state"),
            cache: home.join("cache"),
            data: home.clone(),
            origin,
        });
    }
    let xdg = |variable: &str, fallback: &str| {
        // Ignore relative paths: the configuration must not depend on the working directory.
        let absolute_path_in = |name: &str| {
            environment
                .get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        absolute_path_in(variable)
            .or_else(|| absolute_path_in("HOME").map(|home| home.join(fallback)))
            .map(|path| path.join("art"))
            .ok_or(ConfigError::NoHome)
    };
    Ok(Directories {
        config: xdg("XDG_CONFIG_HOME", ".config")?,
        state: xdg("XDG_STATE_HOME", ".local/state")?,
        cache: xdg("XDG_CACHE_HOME", ".cache")?,
        data: xdg("XDG_DATA_HOME", ".local/share")?,
        origin: Origin::Default,
    })
}
