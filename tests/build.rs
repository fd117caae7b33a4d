//! Builds the components for the tests, and generates constants with their paths. The components are the first-party plugins and
//! the guests. The guests exist only for these tests.
//!
//! They are built as `art plugin build` does it, in the same target directory, so that `art quickstart` finds the plugins built.
//! Cargo locks only the folder of a profile and a target, so it does not wait for the build that runs this script.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

#[path = "../host/src/plugins/settings.rs"]
mod settings;

use settings::CARGO_SETTINGS;

/// Compilation target of components that import only the interfaces of `wit/tool.wit`, the contract between host and tool.
const TARGET_WITHOUT_WASI: &str = "wasm32-unknown-unknown";
/// Compilation target of components that also import WASI.
const TARGET_WITH_WASI: &str = "wasm32-wasip2";
/// Profile of cargo for components, defined by [`CARGO_SETTINGS`].
const PROFILE: &str = "tool";
/// The only guest without WASI.
const GUEST_WITHOUT_WASI: &str = "without_wasi";
/// The sources of the components.
const SOURCES: [&str; 6] = [
    "tests/guests",
    "sdk",
    "wit",
    "plugins",
    "Cargo.toml",
    "host/src/plugins/settings.rs",
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?)
        .join("..")
        .canonicalize()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for source in SOURCES {
        register_sources(&root.join(source))?;
    }
    [TARGET_WITHOUT_WASI, TARGET_WITH_WASI]
        .into_iter()
        .try_for_each(ensure_target)?;
    let guests = guest_names(&root.join("tests/guests/examples"))?;
    let plugins = plugin_names(&root.join("plugins"))?;
    let (with_wasi, without_wasi): (Vec<_>, Vec<_>) = plugins.iter().partition(|name| uses_wasi(&root, name));
    let builder = Builder {
        root: &root,
        target_dir: target_dir(&out)?,
    };
    builder.build_guests(TARGET_WITH_WASI, &["--examples"])?;
    builder.build_guests(TARGET_WITHOUT_WASI, &["--example", GUEST_WITHOUT_WASI])?;
    builder.build_plugins(TARGET_WITH_WASI, &with_wasi)?;
    builder.build_plugins(TARGET_WITHOUT_WASI, &without_wasi)?;
    let constants = guest_constants(&guests, &builder) + &plugin_table(&plugins, &builder);
    fs::write(out.join("components.rs"), constants)?;
    Ok(())
}

/// Returns whether the manifest of a plugin enables WASI, by the key that `art plugin build` reads.
fn uses_wasi(root: &Path, plugin: &str) -> bool {
    let manifest = root.join("plugins").join(plugin).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok());
    let wasi_key = |manifest: toml::Table| {
        manifest
            .get("package")?
            .get("metadata")?
            .get("art")?
            .get("wasi")?
            .as_bool()
    };
    manifest.and_then(wasi_key).unwrap_or_default()
}

/// Registers each source file with cargo. Skips built components in the folders of plugins.
fn register_sources(path: &Path) -> io::Result<()> {
    if path.is_file() {
        if path.extension().is_none_or(|ending| ending != "wasm") {
            println!("cargo:rerun-if-changed={}", path.display());
        }
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| register_sources(&entry?.path()))
}

/// Installs the target if it is missing.
fn ensure_target(target: &str) -> Result<()> {
    let rustc = env::var("RUSTC")?;
    let library_directory = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", target])
        .output()?;
    if Path::new(String::from_utf8(library_directory.stdout)?.trim()).exists() {
        return Ok(());
    }
    let hint = format!("the target `{target}` is not installed: run `rustup target add {target}`");
    let installation = Command::new("rustup").args(["target", "add", target]).status();
    match installation {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(hint.into()),
        Err(_) => Err(format!("{hint} (`rustup` was not found: install the target with your package manager)").into()),
    }
}

/// Returns the target directory of the build that runs this script.
fn target_dir(out: &Path) -> Result<&Path> {
    // `<target>/<profile>/build/<package>/out`
    let target = out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?;
    Ok(target)
}

/// Builds components of the workspace `root` into `target_dir`.
struct Builder<'a> {
    root: &'a Path,
    target_dir: &'a Path,
}

impl Builder<'_> {
    /// Builds those guests that the options `selection` select (`--example`, `--examples`).
    fn build_guests(&self, target: &str, selection: &[&str]) -> Result<()> {
        self.build(target, "guests", &[&["--package", "guests"], selection].concat())
    }

    /// Builds plugins, in one invocation of cargo as `art quickstart` does it: guests among them would add features to libraries.
    fn build_plugins(&self, target: &str, plugins: &[&String]) -> Result<()> {
        let packages = plugins.iter().flat_map(|name| ["--package", name.as_str()]);
        let selection: Vec<_> = ["--lib"].into_iter().chain(packages).collect();
        self.build(target, "plugins", &selection)
    }

    fn build(&self, target: &str, what: &str, selection: &[&str]) -> Result<()> {
        let mut cargo = Command::new(env::var("CARGO")?);
        cargo
            .args(["build", "--target", target, "--profile", PROFILE])
            .args(selection)
            .args(CARGO_SETTINGS.iter().flat_map(|setting| ["--config", setting]))
            .arg("--target-dir")
            .arg(self.target_dir)
            .current_dir(self.root);
        clean_environment(&mut cargo);
        if !cargo.status()?.success() {
            return Err(format!("the {what} do not build for `{target}`; see above").into());
        }
        Ok(())
    }

    fn guest_path(&self, name: &str) -> PathBuf {
        let target = if name == GUEST_WITHOUT_WASI {
            TARGET_WITHOUT_WASI
        } else {
            TARGET_WITH_WASI
        };
        let file = format!("{name}.wasm");
        self.target_dir.join(target).join(PROFILE).join("examples").join(file)
    }

    fn plugin_path(&self, name: &str) -> PathBuf {
        let target = if uses_wasi(self.root, name) {
            TARGET_WITH_WASI
        } else {
            TARGET_WITHOUT_WASI
        };
        self.target_dir.join(target).join(PROFILE).join(format!("{name}.wasm"))
    }
}

/// Removes the settings of the build that runs this script, which are for native code: its flags, wrappers and linker.
fn clean_environment(cargo: &mut Command) {
    const EXACT: [&str; 6] = [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
    ];
    const PREFIXES: [&str; 3] = ["CARGO_TARGET_", "CARGO_PROFILE_", "CLIPPY_"];
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        if EXACT.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            cargo.env_remove(name);
        }
    }
}

fn guest_names(directory: &Path) -> Result<Vec<String>> {
    entry_names(directory, |path| {
        path.extension().is_some_and(|ending| ending == "rs") || path.join("main.rs").exists()
    })
}

fn plugin_names(directory: &Path) -> Result<Vec<String>> {
    entry_names(directory, |path| path.join("Cargo.toml").exists())
}

/// Returns the sorted names, without extensions, of the entries of `directory` for which `is_included` returns true.
fn entry_names(directory: &Path, is_included: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        names.extend(stem.filter(|_| is_included(&path)).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Generates one constant for each guest, so that the compiler reports a guest that no test uses.
fn guest_constants(guests: &[String], builder: &Builder<'_>) -> String {
    let constant = |name: &String| {
        let (constant, path) = (name.to_uppercase(), builder.guest_path(name));
        format!("/// The guest `{name}`.\npub(crate) const {constant}: &str = {path:?};\n")
    };
    guests.iter().map(constant).collect()
}

/// Generates one table of all plugins, since the same tests run with each of them.
fn plugin_table(plugins: &[String], builder: &Builder<'_>) -> String {
    let row = |name: &String| format!("({name:?}, {:?}), ", builder.plugin_path(name));
    let rows: String = plugins.iter().map(row).collect();
    format!("/// Name and path of each first-party plugin.\npub(crate) const PLUGINS: &[(&str, &str)] = &[{rows}];\n")
}
