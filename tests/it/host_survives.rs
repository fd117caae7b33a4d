//! Attacks leave no memory, threads or open files in the host.

use std::fs;

use art_core::limits::Limits;
use futures_util::future::join_all;
use serde_json::json;

use crate::endings::{ATTACKS, Attack};
use crate::harness::{call, components, echo_answers, load_into, new_sandbox, output, run_alone};

const MIB: u64 = 1 << 20;
/// Maximum growth of the resident memory, in bytes.
const RSS_MARGIN: u64 = 64 * MIB;
/// Maximum difference in the numbers of threads and open files.
const MARGIN: u64 = 4;

/// The resources of this process.
#[derive(Debug)]
struct Resources {
    rss: u64,
    threads: u64,
    files: u64,
}

impl Resources {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("Linux provides it");
        let field = |name: &str| -> u64 {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .expect("the field");
            line.trim_end_matches("kB").trim().parse().expect("a number")
        };
        Self {
            rss: field("VmRSS:") << 10,
            threads: field("Threads:"),
            files: fs::read_dir("/proc/self/fd").expect("Linux provides it").count() as u64,
        }
    }
}

async fn run_all_attacks() {
    let attacks = join_all(ATTACKS.iter().map(Attack::run));
    tokio::join!(attacks, echo_answers());
}

/// Run by [`attacks_leave_no_threads_files_or_memory`] in a separate process, because other tests would disturb the
/// measurement.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn all_attacks_three_times() {
    run_all_attacks().await;
    let before = Resources::now();
    for _ in 0..3 {
        run_all_attacks().await;
    }
    let after = Resources::now();
    assert!(after.rss < before.rss + RSS_MARGIN, "{before:?} became {after:?}");
    assert!(
        after.threads.abs_diff(before.threads) <= MARGIN,
        "{before:?} became {after:?}"
    );
    assert!(
        after.files.abs_diff(before.files) <= MARGIN,
        "{before:?} became {after:?}"
    );
}

#[test]
fn attacks_leave_no_threads_files_or_memory() {
    run_alone("host_survives::all_attacks_three_times", "");
}

/// Run by [`dropped_sandboxes_leave_no_threads_files_or_memory`] in a separate process.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn a_thousand_sandboxes_in_sequence() {
    let use_a_sandbox = async || {
        let sandbox = new_sandbox(true);
        let echo = load_into(&sandbox, components::ECHO).expect("the guest loads");
        let outcome = call(&echo, json!({"text": "hello"}), Limits::EXECUTE).await;
        assert_eq!(output(&outcome)["text"], "hello");
    };
    use_a_sandbox().await;
    let before = Resources::now();
    for n in 0..1_000 {
        // Loading a tool takes longer than everything else, so only a few sandboxes load one.
        if n % 100 == 0 {
            use_a_sandbox().await;
        }
        drop(new_sandbox(true));
    }
    let after = Resources::now();
    assert!(after.rss < before.rss + RSS_MARGIN, "{before:?} became {after:?}");
    assert!(after.threads <= before.threads + MARGIN, "{before:?} became {after:?}");
    assert!(after.files <= before.files + MARGIN, "{before:?} became {after:?}");
}

#[test]
fn dropped_sandboxes_leave_no_threads_files_or_memory() {
    run_alone("host_survives::a_thousand_sandboxes_in_sequence", "");
}
