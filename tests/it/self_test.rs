//! `art doctor --self-test`: the attacks that a person can run on their own machine.

use std::fs;
use std::path::Path;

use serde_json::Value;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::home::Home;

/// Number of attacks, all of which must be repelled.
const ATTACKS: usize = 25;
/// Number of actions that are allowed and must work.
const ALLOWED_ACTIONS: usize = 2;

/// The imports and the export of the attacker, the component that carries out the attacks. The interface of `wasi:cli` is
/// declared here because `wit/deps` does not have it.
const WORLD: &str = "
    package art:self-test;
    world attacker {
        import art:tool/host@0.1.0;
        import wasi:clocks/monotonic-clock@0.2.12;
        import wasi:cli/environment@0.2.12;
        import wasi:filesystem/preopens@0.2.12;
        import wasi:filesystem/types@0.2.12;
        import wasi:http/outgoing-handler@0.2.12;
        export art:tool/tool@0.1.0;
    }
    package wasi:cli@0.2.12 {
        interface environment { get-environment: func() -> list<tuple<string, string>>; }
    }";

fn self_test_rows(home: &Home) -> Vec<Value> {
    let tested = home.art(&["--json", "doctor", "--self-test"]);
    assert_eq!(tested.code(), 0, "{tested}");
    tested.json().as_array().unwrap().clone()
}

#[test]
fn every_attack_is_repelled_and_what_is_allowed_works() {
    let home = Home::empty();
    let rows = self_test_rows(&home);
    let count = |verdict: &str| rows.iter().filter(|row| row["verdict"] == verdict).count();
    assert_eq!(
        (count("repelled"), count("allowed"), rows.len()),
        (ATTACKS, ALLOWED_ACTIONS, ATTACKS + ALLOWED_ACTIONS),
        "{rows:#?}"
    );
}

#[test]
fn the_table_names_the_attacks_and_counts_those_that_got_through() {
    let tested = Home::empty().art(&["doctor", "--self-test"]);
    assert_eq!(tested.code(), 0, "{tested}");
    let table = tested.stdout();
    // Some of the threats that the attacks carry out. `tests/attacks.toml` describes each threat under its identifier.
    for id in ["A01", "A11", "B01", "C01", "D16", "E01", "E08", "F07", "H01"] {
        assert!(
            table.lines().any(|line| line.contains(&format!(" {id} "))),
            "{id}: {table}"
        );
    }
    let summary = format!("{ATTACKS} attacks, 0 got through\n");
    assert!(table.ends_with(&summary), "{table}");
}

#[test]
fn the_compiled_attacker_in_the_program_matches_its_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("host/src/commands/doctor/self_test");
    let built = build_component(&root, &fs::read_to_string(folder.join("attacker.wat")).unwrap());
    let path = folder.join("attacker.wasm");
    if std::env::var_os("ART_UPDATE_ATTACKER").is_some() {
        fs::write(&path, &built).unwrap();
    }
    let hint = "run this test with ART_UPDATE_ATTACKER=1 to build it again";
    assert!(fs::read(path).unwrap() == built, "{hint}");
}

/// Builds the attacker from its core module, which is in text format.
fn build_component(root: &Path, text: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    for name in ["tool", "deps/io", "deps/clocks", "deps/filesystem", "deps/http"] {
        let path = root.join("wit").join(format!("{name}.wit"));
        resolve.push_str(&path, &fs::read_to_string(&path).unwrap()).unwrap();
    }
    let package = resolve.push_str("attacker.wit", WORLD).unwrap();
    let world = resolve.select_world(&[package], Some("attacker")).unwrap();
    let mut module = wat::parse_str(text).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.encode())
        .unwrap()
}
