//! The host as a library in another program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use art_host::compose::Host;
use art_host::config::{Config, Overrides};
use art_host::plugins::{Compiled, Compiling};
use art_sandbox::{Sandbox, SandboxConfig};
use art_store::MemoryStore;

use crate::home::Home;
use crate::program::Ran;

#[test]
fn a_program_that_embeds_the_host_hears_what_is_compiled() {
    let home = Home::fresh();
    let overrides = Overrides {
        home: Some(home.dir.path().to_owned()),
        plugins: Some(home.plugins()),
        ..Overrides::default()
    };
    let heard_at_a_start = || {
        let heard = Mutex::new(Vec::new());
        let config = Config::load(&overrides, &BTreeMap::new()).unwrap();
        let model = art_model::open("embedded").unwrap();
        let told = |compiling: Compiling<'_>| {
            // Whether it takes long is a matter of the machine.
            if let Compiling::Count(compiled) = compiling {
                heard.lock().unwrap().push(compiled);
            }
        };
        let host = Host::assemble(config, Arc::new(MemoryStore::new()), model, &told).unwrap();
        assert_eq!(host.toolbox.names(), ["calculator"]);
        drop(host);
        heard.into_inner().unwrap()
    };
    assert_eq!(heard_at_a_start(), [0, 1].map(|done| Compiled { done, of: 1 }));
    assert_eq!(heard_at_a_start(), []);
}

/// Whether a line of the log says that the calculator begins to be compiled.
fn is_logged(ran: &Ran) -> bool {
    let stderr = ran.stderr();
    let mut begun = stderr
        .lines()
        .filter(|line| line.contains("compiling a component for this machine"));
    begun.any(|line| line.contains("calculator.wasm"))
}

#[test]
fn a_component_that_is_compiled_is_logged_by_name() {
    let ran = Home::fresh().art(&["-v", "tool", "list"]);
    assert!(is_logged(&ran), "{ran}");
}

#[test]
fn a_component_that_its_first_call_compiles_is_logged_by_name() {
    let home = Home::fresh();
    let path = home.plugins().join("calculator.wasm");
    let built = Sandbox::new(&SandboxConfig::default()).unwrap();
    fs::write(&path, built.with_schema(&fs::read(&path).unwrap()).unwrap()).unwrap();
    let listed = home.art(&["-v", "tool", "list"]);
    assert!(!is_logged(&listed), "{listed}");
    let called = home.art(&["-v", "tool", "call", "calculator", r#"{"expression":"2+2"}"#]);
    called.answers(&["4"]);
    assert!(is_logged(&called), "{called}");
}

/// The optimised packages of a manifest.
fn profile(manifest: &str) -> toml::Value {
    let manifest: toml::Value = toml::from_str(manifest).unwrap();
    let packages = manifest
        .get("profile")
        .and_then(|profile| profile.get("dev")?.get("package"));
    packages.cloned().unwrap()
}

#[test]
fn the_profile_for_embedding_programs_is_the_one_of_this_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("examples/embed/README.md")).unwrap();
    let shown = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let ours = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert_eq!(profile(shown), profile(&ours));
}
