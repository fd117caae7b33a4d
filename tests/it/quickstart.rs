//! `art quickstart` in a checkout of the repository: it builds and installs the first-party tools. The test has a fake `cargo`,
//! which builds nothing and reports prebuilt components.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// A fake `cargo` that reports a prebuilt component for each package as the result of the build.
const FAKE_CARGO: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    --manifest-path) plugins=$(dirname "$(dirname "$2")") ;;
    --package)
        manifest=$plugins/$2/Cargo.toml
        printf '{"reason":"compiler-artifact","manifest_path":"%s","filenames":["%s/%s.wasm"]}\n' "$manifest" "$COMPONENTS" "$2"
        ;;
    esac
    shift
done
"#;

/// Returns a folder with the fake `cargo` and the files of a checkout that quickstart needs.
fn checkout() -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let checkout = TempDir::new().unwrap();
    let manifests = components::PLUGINS
        .iter()
        .map(|(name, _)| format!("plugins/{name}/Cargo.toml"));
    for file in manifests.chain(["sdk/Cargo.toml", "wit/tool.wit"].map(str::to_owned)) {
        let to = checkout.path().join(&file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root.join(&file), to).unwrap();
    }
    let cargo = checkout.path().join("cargo");
    fs::write(&cargo, FAKE_CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o700)).unwrap();
    checkout
}

/// Returns a command that runs `art` in `folder` and uses `home`, without an explicit plugins folder.
fn art_in(folder: &Path, home: &Home, arguments: &[&str]) -> Command {
    let mut art = Command::new(home.command(&[]).get_program());
    art.arg("--home")
        .arg(home.dir.path())
        .args(arguments)
        .current_dir(folder);
    art.env_remove("ART_PLUGINS")
        .env_remove("ART_MODEL")
        .env_remove("ART_LOG");
    art
}

#[test]
fn quickstart_installs_the_tools_for_use_from_any_folder() {
    let (home, checkout, elsewhere) = (Home::new(), checkout(), TempDir::new().unwrap());
    // The home has no plugins at first: they are moved to the folder from which the fake `cargo` reports them.
    let built = TempDir::new().unwrap();
    fs::rename(home.plugins(), built.path().join("built")).unwrap();
    let before = CommandOutput(art_in(elsewhere.path(), &home, &["tool", "list"]).output().unwrap());
    assert!(!before.stdout().contains("calculator"), "{before}");

    let mut quickstart = art_in(checkout.path(), &home, &["quickstart"]);
    quickstart.env("CARGO", checkout.path().join("cargo"));
    quickstart.env("COMPONENTS", built.path().join("built"));
    let ran = CommandOutput(quickstart.output().unwrap());
    ran.assert_answers(&["409.5", "58.5"]);
    let others = components::PLUGINS.len() - 1;
    for number in 1..=others {
        assert!(ran.stderr().contains(&format!(" ({number} of {others})\n")), "{ran}");
    }
    let position = |text: &str| ran.stderr().find(text).unwrap_or_else(|| panic!("no `{text}`: {ran}"));
    assert!(position("done  step_2") < position("    archive_list ("), "{ran}");
    for (name, _) in components::PLUGINS {
        assert!(ran.stderr().contains(&format!("    {name} (")), "{ran}");
    }
    assert!(
        !ran.stderr().contains("minute"),
        "the output must not estimate a duration: {ran}"
    );
    assert!(checkout.path().join("plugins/calculator.wasm").is_file());

    CommandOutput(
        art_in(elsewhere.path(), &home, &["run", "What is 2+2?"])
            .output()
            .unwrap(),
    )
    .assert_answers(&["4"]);
}
