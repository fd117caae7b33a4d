//! After every attack the host is as it was: the same memory, threads and files.

use std::fs;

use art_core::limits::Limits;
use futures_util::future::join_all;
use serde_json::json;

use crate::endings::{ATTACKS, Attack};
use crate::harness::{call, components, echo_answers, load_into, new_sandbox, output, run_alone};

const MIB: u64 = 1 << 20;
/// Growth of the resident memory that may remain.
const RSS_MARGIN: u64 = 64 * MIB;
/// Threads or files more or fewer that may remain.
const MARGIN: u64 = 4;

/// What the host holds.
#[derive(Debug)]
struct Held {
    rss: u64,
    threads: u64,
    files: u64,
}

impl Held {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("linux tells");
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
            files: fs::read_dir("/proc/self/fd").expect("linux tells").count() as u64,
        }
    }
}

async fn attack_all_at_once() {
    let attacks = join_all(ATTACKS.iter().map(Attack::run));
    tokio::join!(attacks, echo_answers());
}

/// Run by [`the_host_is_as_it_was_after_every_attack`]: other tests would disturb what is measured.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn every_attack_three_times_at_once() {
    attack_all_at_once().await;
    let before = Held::now();
    for _ in 0..3 {
        attack_all_at_once().await;
    }
    let after = Held::now();
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
fn the_host_is_as_it_was_after_every_attack() {
    run_alone("host_survives::every_attack_three_times_at_once", "");
}

/// Run by [`sandboxes_that_come_and_go_leave_no_threads_files_or_memory_behind`].
#[tokio::test]
#[ignore = "measures the whole process"]
async fn a_thousand_sandboxes_one_after_the_other() {
    let one_that_answers = async || {
        let sandbox = new_sandbox(true);
        let echo = load_into(&sandbox, components::ECHO).expect("the guest loads");
        let outcome = call(&echo, json!({"text": "hello"}), Limits::EXECUTE).await;
        assert_eq!(output(&outcome)["text"], "hello");
    };
    one_that_answers().await;
    let before = Held::now();
    for n in 0..1_000 {
        // Loading a tool takes longer than all the rest, so few sandboxes get one.
        if n % 100 == 0 {
            one_that_answers().await;
        }
        drop(new_sandbox(true));
    }
    let after = Held::now();
    assert!(after.rss < before.rss + RSS_MARGIN, "{before:?} became {after:?}");
    assert!(after.threads <= before.threads + MARGIN, "{before:?} became {after:?}");
    assert!(after.files <= before.files + MARGIN, "{before:?} became {after:?}");
}

#[test]
fn sandboxes_that_come_and_go_leave_no_threads_files_or_memory_behind() {
    run_alone("host_survives::a_thousand_sandboxes_one_after_the_other", "");
}
