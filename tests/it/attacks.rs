//! The attack suite. `tests/attacks.toml` has an entry for every threat: a way in which a tool could harm the host or its users.
//! An entry lists its attacks: each has a component, its input and grants, and how the attack has to end. The attacks are made
//! here, in a separate process that may have only 1024 open files.
//!
//! `cargo test --test it -- --ignored --nocapture attacks::all_attacks` prints a table of all threats.

mod counting_server;
mod fixture;
mod manifest;
mod table;

use std::fs;
use std::time::Duration;

use art_sandbox::Sandbox;
use futures_util::future::join_all;

pub(crate) use counting_server::CountingServer;
pub(crate) use fixture::CANARY;

use crate::harness::{assert_echo_answers, new_sandbox, run_alone, sandbox};
use crate::resources::Resources;
use manifest::{Gate, SECTIONS, attacks, manifest, root};
use table::Table;

/// Number of attacks that are made at the same time.
const CONCURRENT_ATTACKS: usize = 32;

/// Makes all attacks in `sandbox`, several at a time, and panics if one of them does not end as its entry says.
async fn attack_all(sandbox: &Sandbox) {
    for batch in attacks().chunks(CONCURRENT_ATTACKS) {
        let results = join_all(batch.iter().map(|(_, attack)| attack.run(sandbox))).await;
        for ((id, attack), result) in batch.iter().zip(results) {
            assert!(result.is_ok(), "{id} {attack:?}: {}", result.unwrap_err());
        }
    }
}

/// Run by [`no_attack_harms_the_host`] in a separate process, because other tests would disturb the measurement of memory,
/// threads and open files.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn all_attacks() {
    assert_echo_answers().await;
    let mut table = Table::default();
    for (id, attack) in attacks() {
        let (result, ()) = tokio::join!(attack.run(sandbox()), assert_echo_answers());
        table.add(&id, result.map_err(|error| format!("{id} {attack:?}: {error}")));
    }
    table.print_and_check(Resources::now().peak_rss);
    // A pool keeps memory for later calls, so the memory that remains after the attacks is measured without a pool. The attacks
    // are made three times, and the growth is measured between the end of the first time and the end of the last.
    let sandbox = new_sandbox(false);
    assert!(!sandbox.mode().pooling);
    attack_all(&sandbox).await;
    wait_until_connections_close().await;
    let before = Resources::now();
    for _ in 0..2 {
        tokio::join!(attack_all(&sandbox), assert_echo_answers());
    }
    wait_until_connections_close().await;
    Resources::now().check_growth_since(&before).unwrap();
}

/// Waits long enough that the connections of attacks that have ended are closed.
async fn wait_until_connections_close() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[test]
fn no_attack_harms_the_host() {
    let setup = format!("ulimit -n 1024; export ART_TEST_CANARY={CANARY};");
    run_alone("attacks::all_attacks", &setup);
}

#[test]
fn the_manifest_has_an_entry_for_each_number_of_each_section() {
    let expected = SECTIONS
        .iter()
        .flat_map(|(section, highest)| (1..=*highest).map(move |number| format!("{section}{number:02}")));
    let manifest = manifest();
    assert!(expected.eq(manifest.keys().cloned()), "{:?}", manifest.keys());
}

#[test]
fn each_entry_is_complete_and_has_an_attack_or_a_test_or_says_why_it_has_none() {
    for (id, threat) in manifest() {
        let is_covered = !threat.run.is_empty() || !threat.tests.is_empty();
        let has_reason = threat.not_done.is_some() || threat.not_applicable.is_some();
        assert!(is_covered || has_reason, "{id}: {}", threat.attack);
        assert!(
            !threat.attack.is_empty() && !threat.safe.is_empty() && threat.priority <= 2,
            "{id}"
        );
    }
}

// A gate is something that the host may allow only when all threats with this gate are covered. G0 is components written by
// others, and G1 is access to the network or to secrets.
#[test]
fn every_threat_of_the_gates_g0_and_g1_is_covered_or_not_applicable() {
    for (id, threat) in manifest() {
        let must_be_covered = matches!(threat.gate, Some(Gate::G0 | Gate::G1));
        assert!(
            !must_be_covered || threat.status() != "not done",
            "{id}: {}",
            threat.attack
        );
    }
}

#[test]
fn every_test_that_the_manifest_names_exists() {
    for (id, threat) in manifest() {
        for (file, names) in &threat.tests {
            let source =
                fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{id}: {file:?}: {error}"));
            for name in names {
                assert!(
                    is_test(&source, name),
                    "{id}: there is no test `{name}` in `{}`",
                    file.display()
                );
            }
        }
    }
}

/// Returns whether `source` has a test with this name that `cargo test` runs.
fn is_test(source: &str, name: &str) -> bool {
    let before = source.split_once(&format!("fn {name}(")).map(|(before, _)| before);
    let Some((before, _)) = before.and_then(|before| before.rsplit_once('\n')) else {
        return false;
    };
    // The attributes and comments directly above the function.
    let attributes: Vec<_> = before
        .lines()
        .rev()
        .map(str::trim)
        .take_while(|line| line.starts_with('#') || line.starts_with("//"))
        .collect();
    attributes
        .iter()
        .any(|line| line.contains("test]") || line.contains("test("))
        && !attributes.iter().any(|line| line.starts_with("#[ignore"))
}

#[test]
fn the_readme_states_how_many_threats_and_attacks_each_section_has() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for line in table::count_rows(&manifest()) {
        assert!(readme.contains(&line), "the README lacks the line\n{line}");
    }
}
