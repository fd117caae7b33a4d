//! The compilation targets of components, and the build settings in a crate's manifest.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::bounded_read;
use crate::error::CommandError;
use crate::render;

/// Maximum size of a crate's `Cargo.toml`, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// A compilation target of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Components import the host interface only. They load and run faster than with WASI, and most tools need no more.
    Plain,
    /// Components also import WASI, through which the standard library provides clocks, random numbers and files.
    Wasi,
}

/// The part of a crate's `Cargo.toml` that determines how its component is built.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CrateManifest {
    package: Package,
    dependencies: toml::Table,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    name: String,
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    art: Art,
}

/// The table `[package.metadata.art]`: how `art plugin build` builds the crate.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Art {
    wasi: bool,
}

/// Build settings of a crate, from its manifest.
pub(super) struct BuildSettings {
    /// Name of the package.
    pub(super) name: String,
    pub(super) target: Target,
    /// Names of the dependencies of the crate, without the SDK.
    pub(super) dependencies: Vec<String>,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Wasi];

    /// Returns the name by which the Rust compiler knows the target.
    #[must_use]
    pub fn triple(self) -> &'static str {
        match self {
            Self::Plain => "wasm32-unknown-unknown",
            Self::Wasi => "wasm32-wasip2",
        }
    }

    /// Returns whether the target is installed.
    ///
    /// # Errors
    /// Fails if there is no Rust compiler.
    pub fn is_installed(self) -> Result<bool, CommandError> {
        let output = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", self.triple()])
            .output();
        let output = output.map_err(|error| {
            let hint = "install Rust with rustup (https://rustup.rs)";
            CommandError::Failed(format!("`rustc` was not found ({error}); {hint}"))
        })?;
        Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    }

    /// Installs the target with `rustup` if it is missing.
    ///
    /// # Errors
    /// Fails if there is no Rust compiler, or if `rustup` cannot install the target.
    pub fn install_if_missing(self) -> Result<(), CommandError> {
        if self.is_installed()? {
            return Ok(());
        }
        let triple = self.triple();
        render::note(&format!("installing the compilation target `{triple}` with `rustup`"));
        let installed = Command::new("rustup")
            .args(["target", "add", triple])
            .stdout(Stdio::null())
            .status();
        match installed {
            Ok(status) if status.success() && self.is_installed()? => Ok(()),
            Ok(_) => Err(CommandError::Failed(format!(
                "`rustup target add {triple}` failed; check the network connection, then try again"
            ))),
            Err(_) => Err(CommandError::Failed(format!(
                "the compilation target `{triple}` is missing and `rustup` was not found; \
                 install Rust with rustup (https://rustup.rs), or add `{triple}` with your distribution's packages"
            ))),
        }
    }
}

impl BuildSettings {
    /// Reads the `Cargo.toml` at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let file = fs::File::open(path).map_err(CommandError::file("open", path))?;
        let text = bounded_read::read_text(file, path, MAX_MANIFEST)?;
        let manifest: CrateManifest = toml::from_str(&text)
            .map_err(|error| CommandError::Failed(format!("`{}` cannot be read: {error}", path.display())))?;
        Ok(Self {
            name: manifest.package.name,
            target: match manifest.package.metadata.art {
                Art { wasi: true } => Target::Wasi,
                Art { wasi: false } => Target::Plain,
            },
            dependencies: manifest
                .dependencies
                .keys()
                .filter(|name| *name != "art-sdk")
                .cloned()
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_settings(manifest: &str) -> Result<BuildSettings, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), manifest).unwrap();
        BuildSettings::read(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_crate_is_built_without_wasi_by_default() {
        let settings = read_settings("[package]\nname = \"a\"\n[dependencies]\nart-sdk.workspace = true\n").unwrap();
        assert_eq!((settings.target, settings.dependencies), (Target::Plain, Vec::new()));
    }

    #[test]
    fn a_crate_can_be_built_with_wasi() {
        let manifest = "[package]\nname = \"a\"\n[package.metadata.art]\nwasi = true\n[dependencies]\njiff = \"0.2\"\n";
        let settings = read_settings(manifest).unwrap();
        assert_eq!(
            (settings.target, settings.dependencies),
            (Target::Wasi, vec!["jiff".to_owned()])
        );
    }

    #[test]
    fn metadata_of_other_programs_is_ignored() {
        let settings = read_settings("[package.metadata.docs.rs]\nfeatures = [\"a\"]\n").unwrap();
        assert_eq!(settings.target, Target::Plain);
    }

    #[test]
    fn a_misspelt_setting_is_named() {
        let error = read_settings("[package.metadata.art]\nwasm = true\n").err().unwrap();
        assert!(error.contains("unknown field `wasm`"), "{error}");
    }
}
