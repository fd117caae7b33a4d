//! What the outcomes of calls contain; most of the calls are attacks. How each attack has to end is in `tests/attacks.toml`.

use art_core::error::ToolErrorCode;
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use serde_json::json;

use crate::harness::{call, components, guest};

/// Fuel for a few hundredths of a second.
const LITTLE_FUEL: Limits = Limits {
    fuel: 60_000_000,
    ..Limits::EXECUTE
};
/// The maximum fuel and no limit of calls into the host, but little time.
const LITTLE_TIME: Limits = Limits {
    fuel: Limits::MAX.fuel,
    timeout_ms: 200,
    host_calls: u64::MAX,
    ..Limits::EXECUTE
};
/// Few calls into the host. A guest that asks for random bytes makes so few calls within a few hundredths of a second, even in a
/// debug build, which generates random bytes slowly.
const FEW_HOST_CALLS: Limits = Limits {
    host_calls: 200,
    ..Limits::EXECUTE
};

/// Makes the guest `hostile` carry out an attack. `n` is a number or a size, which some attacks need.
async fn hostile(attack: &str, n: usize, limits: Limits) -> Outcome {
    call(&guest(components::HOSTILE), json!({"attack": attack, "n": n}), limits).await
}

#[tokio::test]
async fn a_suspension_a_continuation_and_a_failure_are_distinct_endings() {
    for (attack, ending) in [
        ("suspended", "suspended"),
        ("continuation", "continuation"),
        ("validation", "failure"),
    ] {
        assert_eq!(hostile(attack, 0, Limits::EXECUTE).await.ending.name(), ending);
    }
}

#[tokio::test]
async fn each_error_code_of_a_failure_is_reported_unchanged() {
    use ToolErrorCode as Code;
    let codes = [
        ("validation", Code::ValidationError, false),
        ("io", Code::IoError, false),
        ("config", Code::ConfigError, false),
        ("permission_denied", Code::PermissionDenied, false),
        ("rate_limited", Code::RateLimited, true),
        ("not_found", Code::NotFound, false),
        ("llm_assist", Code::LlmAssistRequired, false),
        ("timeout", Code::Timeout, true),
        ("anything else", Code::Unknown, false),
    ];
    for (attack, code, is_retryable) in codes {
        match hostile(attack, 0, Limits::EXECUTE).await.ending {
            Ending::Failure(failure) => {
                assert_eq!((failure.code, failure.retryable), (code, is_retryable), "{attack}");
                assert_eq!(failure.message, "a requested failure");
            }
            other => panic!("`{attack}` ended as {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_error_names_what_ended_the_call() {
    let message = async |attack, limits| hostile(attack, 0, limits).await.ending.error().unwrap().1;
    assert_eq!(message("loop", LITTLE_FUEL).await, "used up its 60000000 units of fuel");
    assert_eq!(message("sleep", LITTLE_TIME).await, "did not finish within 200 ms");
    assert_eq!(
        message("grow", Limits::EXECUTE).await,
        "asked for more than its 67108864 bytes of memory"
    );
    assert_eq!(message("recursion", Limits::EXECUTE).await, "recursed too deeply");
    assert_eq!(
        message("exit", Limits::EXECUTE).await,
        "trapped: the tool exited with code 0; a tool returns a result or an error"
    );
}

#[tokio::test]
async fn the_message_of_a_panic_is_in_the_log() {
    let outcome = hostile("panic", 0, Limits::EXECUTE).await;
    assert!(outcome.log.stderr.contains("the guest gives up"), "{:?}", outcome.log);
}

#[tokio::test]
async fn log_lines_over_the_limit_are_counted() {
    let log = hostile("log_lines", 5_000, Limits::EXECUTE).await.log;
    assert_eq!((log.records.len(), log.dropped), (1_000, 4_000));
}

#[tokio::test]
async fn long_log_lines_are_truncated_and_limited_in_total() {
    let log = hostile("log_long_lines", 200, Limits::EXECUTE).await.log;
    assert!(log.records.iter().all(|record| record.message.len() == 4_096));
    // 64 lines of 4,096 bytes are the maximum of 256 KiB.
    assert_eq!((log.records.len(), log.dropped), (64, 136));
}

#[tokio::test]
async fn of_a_flood_of_stdout_the_beginning_and_the_end_are_kept() {
    let log = hostile("stdout", 1_000, Limits::EXECUTE).await.log;
    let (beginning, rest) = log.stdout.split_once("\n[").unwrap();
    let (_, end) = rest.split_once(" bytes are left out]\n").unwrap();
    assert_eq!((beginning.len(), end.len()), (2_048, 2_048));
}

#[tokio::test]
async fn the_file_name_of_an_attachment_is_reported_unchanged() {
    match hostile("attachment", 16, Limits::EXECUTE).await.ending {
        Ending::Success(success) => {
            assert_eq!(success.attachments[0].filename.as_deref(), Some("../../etc/passwd"));
            assert_eq!(success.attachments[0].data, [7; 16]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_guest_that_asks_for_random_bytes_forever_is_stopped_early() {
    let usage = hostile("random", 0, FEW_HOST_CALLS).await.usage;
    // The limit of 200 calls is checked after each call, so the guest is stopped after call 201. The rest is a margin.
    assert!(usage.host_calls <= 210, "{usage:?}");
}

#[tokio::test]
async fn a_sleep_uses_time_but_little_processor_time() {
    let usage = hostile("sleep", 0, LITTLE_TIME).await.usage;
    assert!(
        usage.wall_us >= 150_000 && usage.cpu_us < usage.wall_us / 2,
        "{usage:?}"
    );
}

#[tokio::test]
async fn a_tool_that_finishes_in_time_is_not_stopped() {
    let limits = Limits {
        timeout_ms: 20_000,
        ..Limits::EXECUTE
    };
    let outcome = call(&guest(components::SLOW_ECHO), json!({"ms": 50}), limits).await;
    assert_eq!(crate::harness::output(&outcome), json!({"waited": 50}));
}
