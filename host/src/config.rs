//! The configuration: flags over environment over `art.toml` over defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use art_core::agent::ExecutionConfig;
use serde::{Deserialize, Serialize};

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A flag of the command line.
    Flag,
    /// An environment variable `ART_*`.
    Environment,
    /// The file `art.toml`.
    File,
    /// Nobody said anything else.
    Default,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

/// What the command line and the environment say. `None` means nothing.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--home`, `ART_HOME`.
    pub home: Option<PathBuf>,
    /// `--plugins`, `ART_PLUGINS`.
    pub plugins: Option<PathBuf>,
    /// `--model`, `ART_MODEL`.
    pub model: Option<String>,
    /// The values above that came from the environment.
    pub from_environment: Vec<&'static str>,
}

/// The checked configuration: the only one that the rest of the program sees.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// The file that was read; none when it does not exist.
    pub file: Option<PathBuf>,
    /// Folder with the components.
    pub plugins: Setting<PathBuf>,
    /// Model as `PROVIDER[:MODEL]`.
    pub model: Setting<String>,
    /// Database of threads and runs.
    pub database: Setting<PathBuf>,
    /// Private directory of compiled code.
    pub cache: Setting<PathBuf>,
    /// Sandbox threads; none means one for each processor.
    pub workers: Setting<Option<usize>>,
    /// Take instances from a pool where the machine allows it.
    pub pooling: Setting<bool>,
    /// How hard a run may try.
    pub execution: Setting<ExecutionConfig>,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("failed to parse `{path}` (hint: `art config --help` lists every key)")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Cause, with the line.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// There is no place for state.
    #[error("neither `--home` nor `HOME` is set, so there is no place for state (hint: pass `--home DIR`)")]
    NoHome,
}

/// What [`Config::load`] reads of the environment.
#[must_use]
pub fn environment() -> BTreeMap<&'static str, OsString> {
    let names = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
    ];
    let set = names
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    set.collect()
}

/// `art.toml`. An unknown key is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    plugins: Option<PathBuf>,
    model: Option<String>,
    sandbox: SandboxFile,
    execution: Option<ExecutionConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SandboxFile {
    workers: Option<usize>,
    pooling: Option<bool>,
}

/// Where things lie: under `--home`, or in the directories of the XDG convention.
#[derive(Debug)]
struct Places {
    config: PathBuf,
    state: PathBuf,
    cache: PathBuf,
    data: PathBuf,
    origin: Origin,
}

impl Config {
    /// Reads everything and decides.
    ///
    /// # Errors
    /// When the file is unreadable or wrong, or there is no place for state.
    pub fn load(overrides: &Overrides, environment: &BTreeMap<&str, OsString>) -> Result<Self, ConfigError> {
        let places = places(overrides, environment)?;
        let path = places.config.join("art.toml");
        let file = read_file(&path)?;
        let found = file.is_some().then(|| path.clone());
        let file = file.unwrap_or_default();
        // A relative path in the file counts from the file.
        let plugins = file.plugins.map(|plugins| places.config.join(plugins));
        Ok(Self {
            file: found,
            plugins: pick("plugins", overrides, overrides.plugins.clone(), plugins, || {
                default_plugins(&places)
            }),
            model: pick("model", overrides, overrides.model.clone(), file.model, || {
                "embedded".to_owned()
            }),
            database: Setting {
                value: places.state.join("art.db"),
                origin: places.origin,
            },
            cache: Setting {
                value: places.cache.join("code"),
                origin: places.origin,
            },
            workers: from_file(file.sandbox.workers.map(Some), None),
            pooling: from_file(file.sandbox.pooling, true),
            execution: from_file(file.execution, ExecutionConfig::default()),
        })
    }
}

fn pick<T>(
    name: &'static str,
    overrides: &Overrides,
    given: Option<T>,
    file: Option<T>,
    default: impl FnOnce() -> T,
) -> Setting<T> {
    match (given, file) {
        (Some(value), _) if overrides.from_environment.contains(&name) => Setting {
            value,
            origin: Origin::Environment,
        },
        (Some(value), _) => Setting {
            value,
            origin: Origin::Flag,
        },
        (None, Some(value)) => Setting {
            value,
            origin: Origin::File,
        },
        (None, None) => Setting {
            value: default(),
            origin: Origin::Default,
        },
    }
}

fn from_file<T>(file: Option<T>, default: T) -> Setting<T> {
    match file {
        Some(value) => Setting {
            value,
            origin: Origin::File,
        },
        None => Setting {
            value: default,
            origin: Origin::Default,
        },
    }
}

/// `./plugins` when there is one, else the folder of the user.
fn default_plugins(places: &Places) -> PathBuf {
    let here = Path::new("plugins");
    if here.is_dir() {
        here.to_owned()
    } else {
        places.data.join("plugins")
    }
}

fn places(overrides: &Overrides, environment: &BTreeMap<&str, OsString>) -> Result<Places, ConfigError> {
    if let Some(home) = &overrides.home {
        let from_environment = overrides.from_environment.contains(&"home");
        let origin = if from_environment {
            Origin::Environment
        } else {
            Origin::Flag
        };
        let part = |name: &str| home.join(name);
        return Ok(Places {
            config: home.clone(),
            state: part("state"),
            cache: part("cache"),
            data: home.clone(),
            origin,
        });
    }
    let xdg = |variable: &str, fallback: &str| {
        let set = environment
            .get(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let home = || environment.get("HOME").map(|home| Path::new(home).join(fallback));
        set.or_else(home)
            .map(|path| path.join("art"))
            .ok_or(ConfigError::NoHome)
    };
    Ok(Places {
        config: xdg("XDG_CONFIG_HOME", ".config")?,
        state: xdg("XDG_STATE_HOME", ".local/state")?,
        cache: xdg("XDG_CACHE_HOME", ".cache")?,
        data: xdg("XDG_DATA_HOME", ".local/share")?,
        origin: Origin::Default,
    })
}

fn read_file(path: &Path) -> Result<Option<File>, ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            });
        }
    };
    let parse = |source| ConfigError::Parse {
        path: path.to_owned(),
        source: Box::new(source),
    };
    toml::from_str(&text).map(Some).map_err(parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(home: &Path, overrides: Overrides) -> Result<Config, ConfigError> {
        Config::load(
            &Overrides {
                home: Some(home.to_owned()),
                ..overrides
            },
            &BTreeMap::new(),
        )
    }

    #[test]
    fn without_a_file_the_embedded_model_is_the_default() {
        let home = tempfile::tempdir().unwrap();
        let config = load(home.path(), Overrides::default()).unwrap();
        assert_eq!(
            config.model,
            Setting {
                value: "embedded".to_owned(),
                origin: Origin::Default
            }
        );
        assert_eq!(config.file, None);
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("art.toml"), "model = \"file\"").unwrap();
        let flag = Overrides {
            model: Some("flag".to_owned()),
            ..Overrides::default()
        };
        assert_eq!(load(home.path(), flag).unwrap().model.value, "flag");
        assert_eq!(
            load(home.path(), Overrides::default()).unwrap().model.origin,
            Origin::File
        );
    }

    #[test]
    fn the_environment_is_named_as_the_origin() {
        let home = tempfile::tempdir().unwrap();
        let from = Overrides {
            model: Some("x".to_owned()),
            from_environment: vec!["model"],
            ..Overrides::default()
        };
        assert_eq!(load(home.path(), from).unwrap().model.origin, Origin::Environment);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("art.toml"), "modle = \"x\"").unwrap();
        let error = load(home.path(), Overrides::default()).unwrap_err();
        assert!(matches!(error, ConfigError::Parse { source, .. } if source.to_string().contains("modle")));
    }

    #[test]
    fn a_relative_plugins_folder_counts_from_the_file() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("art.toml"), "plugins = \"tools\"").unwrap();
        assert_eq!(
            load(home.path(), Overrides::default()).unwrap().plugins.value,
            home.path().join("tools")
        );
    }

    #[test]
    fn without_any_home_the_user_is_told_what_to_pass() {
        let error = Config::load(&Overrides::default(), &BTreeMap::new()).unwrap_err();
        assert!(error.to_string().contains("--home DIR"));
    }
}
