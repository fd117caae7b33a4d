//! Builds the components that the tests run, and tells the tests where they are.
//!
//! The guests and the first-party plugins are built into a target directory of their own: cargo holds a lock on the one
//! of the build that runs this script.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "guest";
/// What the components are made of.
const SOURCES: [&str; 5] = ["tests/guests", "sdk", "wit", "plugins", "Cargo.toml"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?)
        .join("..")
        .canonicalize()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for source in SOURCES {
        watch(&root.join(source))?;
    }
    require_target()?;
    let guests = examples(&root.join("tests/guests/examples"))?;
    let plugins = packages(&root.join("plugins"))?;
    let built = build(&root, &target_dir(&out)?, &plugins)?;
    let guests = constants("guest", &guests, &built.join("examples"));
    let plugins = table(&plugins, &built);
    fs::write(out.join("components.rs"), guests + &plugins)?;
    Ok(())
}

/// Names each source to cargo. Components beside a plugin's sources are results, not sources.
fn watch(path: &Path) -> io::Result<()> {
    if path.is_file() {
        if path.extension().is_none_or(|ending| ending != "wasm") {
            println!("cargo:rerun-if-changed={}", path.display());
        }
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| watch(&entry?.path()))
}

/// Installs the target when it is missing.
fn require_target() -> Result<()> {
    let rustc = env::var("RUSTC")?;
    let found = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    if Path::new(String::from_utf8(found.stdout)?.trim()).exists() {
        return Ok(());
    }
    let hint = format!("the target `{TARGET}` is not installed: run `rustup target add {TARGET}`");
    let installed = Command::new("rustup").args(["target", "add", TARGET]).status();
    match installed {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(hint.into()),
        Err(_) => {
            Err(format!("{hint} (there is no `rustup` here: install the target in the way of your system)").into())
        }
    }
}

/// `<target>/guests`, the same for every build of this script.
fn target_dir(out: &Path) -> Result<PathBuf> {
    // `<target>/<profile>/build/<package>/out`
    let target = out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?;
    Ok(target.join("guests"))
}

/// Builds everything in one go and gives the directory of the components.
fn build(root: &Path, target_dir: &Path, plugins: &[String]) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .args([
            "build",
            "--package",
            "guests",
            "--examples",
            "--lib",
            "--target",
            TARGET,
            "--profile",
            PROFILE,
        ])
        .args(plugins.iter().flat_map(|name| ["--package", name.as_str()]))
        .arg("--target-dir")
        .arg(target_dir)
        .current_dir(root);
    clean_environment(&mut cargo);
    if !cargo.status()?.success() {
        return Err("the components of the tests do not build; see above".into());
    }
    Ok(target_dir.join(TARGET).join(PROFILE))
}

/// What the outer build was told is about the host: its flags, its wrappers, its linker.
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

fn examples(directory: &Path) -> Result<Vec<String>> {
    names(directory, |path| {
        path.extension().is_some_and(|ending| ending == "rs") || path.join("main.rs").exists()
    })
}

fn packages(directory: &Path) -> Result<Vec<String>> {
    names(directory, |path| path.join("Cargo.toml").exists())
}

/// The names without ending of what is in `directory` and is wanted, in order.
fn names(directory: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        names.extend(stem.filter(|_| wanted(&path)).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// One constant for each component, so that the compiler complains about one that no test uses.
fn constants(what: &str, names: &[String], directory: &Path) -> String {
    let constant = |name: &String| {
        let path = directory.join(format!("{name}.wasm"));
        let constant = name.to_uppercase();
        format!("/// The {what} `{name}`.\npub(crate) const {constant}: &str = {path:?};\n")
    };
    names.iter().map(constant).collect()
}

/// One table of all plugins, since every one of them goes through the same tests.
fn table(names: &[String], directory: &Path) -> String {
    let row = |name: &String| {
        let path = directory.join(format!("{name}.wasm"));
        format!("({name:?}, {path:?}), ")
    };
    let rows: String = names.iter().map(row).collect();
    format!("/// Name and path of each first-party plugin.\npub(crate) const PLUGINS: &[(&str, &str)] = &[{rows}];\n")
}
