//! Each attack of a hostile tool has its expected ending and a recorded usage, and does not affect a tool that is called
//! at the same time.

use art_core::error::ToolErrorCode;
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_sandbox::Plugin;
use serde_json::json;

use crate::harness::{call, components, echo_answers, guest};

const MIB: u64 = 1 << 20;

/// Fuel for a few hundredths of a second.
const LITTLE_FUEL: Limits = Limits {
    fuel: 60_000_000,
    ..Limits::EXECUTE
};
/// The maximum fuel, and little time.
const LITTLE_TIME: Limits = Limits {
    fuel: Limits::MAX.fuel,
    timeout_ms: 200,
    host_calls: u64::MAX,
    ..Limits::EXECUTE
};
/// Calls into the host for a few hundredths of a second, even in a debug build that generates random bytes slowly.
const FEW_HOST_CALLS: Limits = Limits {
    host_calls: 200,
    ..Limits::EXECUTE
};
/// Memory for an output that is too large.
const MUCH_MEMORY: Limits = Limits {
    memory_bytes: 256 * MIB,
    ..Limits::EXECUTE
};

/// An attack of the tool `hostile`, and its expected ending.
pub(crate) struct Attack {
    name: &'static str,
    /// The argument of the attack, such as a size or a number of repetitions.
    n: usize,
    limits: Limits,
    ending: &'static str,
}

impl Attack {
    /// Runs the attack and checks its ending and its usage.
    pub(crate) async fn run(&self) {
        self.run_on(&guest(components::HOSTILE)).await;
    }

    /// Same as [`Attack::run`], with `hostile` loaded into another sandbox.
    pub(crate) async fn run_on(&self, hostile: &Plugin) {
        let arguments = json!({"attack": self.name, "n": self.n});
        let outcome = call(hostile, arguments, self.limits).await;
        let (name, usage) = (self.name, outcome.usage);
        assert_eq!(
            outcome.ending.name(),
            self.ending,
            "`{name}` ended as {:?}",
            outcome.ending
        );
        assert!(
            usage.fuel > 0 && usage.wall_us > 0 && usage.peak_memory_bytes > 0 && usage.bytes_in > 0,
            "`{name}` has no usage: {usage:?}"
        );
        assert!(
            usage.peak_memory_bytes <= self.limits.memory_bytes,
            "`{name}`: {usage:?}"
        );
    }
}

/// Creates a test for each row, and a table of all rows.
macro_rules! attacks {
    ($($test:ident: $name:literal, $n:expr, $limits:expr => $ending:literal;)*) => {
        /// All attacks.
        pub(crate) const ATTACKS: &[Attack] = &[
            $(Attack { name: $name, n: $n, limits: $limits, ending: $ending },)*
        ];

        $(
            #[tokio::test]
            async fn $test() {
                let attack = Attack { name: $name, n: $n, limits: $limits, ending: $ending };
                tokio::join!(attack.run(), echo_answers());
            }
        )*
    };
}

attacks! {
    an_endless_loop_uses_up_its_fuel: "loop", 0, LITTLE_FUEL => "fuel_exhausted";
    an_endless_loop_with_much_fuel_runs_out_of_time: "loop", 0, LITTLE_TIME => "timeout";
    a_sleep_of_an_hour_runs_out_of_time: "sleep", 0, LITTLE_TIME => "timeout";
    endless_short_sleeps_run_out_of_time: "sleep_in_naps", 0, LITTLE_TIME => "timeout";
    endless_short_sleeps_use_up_the_host_calls: "sleep_in_naps", 0, LITTLE_FUEL => "fuel_exhausted";
    memory_growth_stops_at_the_limit: "grow", 0, Limits::EXECUTE => "memory_exhausted";
    many_small_allocations_stop_at_the_limit: "small_allocations", 0, Limits::EXECUTE => "memory_exhausted";
    deep_recursion_overflows_the_stack: "recursion", 0, Limits::EXECUTE => "stack_overflow";
    large_stack_frames_are_a_trap: "large_frames", 0, Limits::EXECUTE => "trap";
    bulk_memory_operations_run_out_of_time: "bulk", 0, LITTLE_TIME => "timeout";
    a_large_output_is_refused: "output", 8 << 20, MUCH_MEMORY => "invalid_output";
    an_output_just_over_the_limit_is_refused: "output", (1 << 20) - 1, MUCH_MEMORY => "invalid_output";
    an_output_just_within_the_limit_is_accepted: "output", (1 << 20) - 2, MUCH_MEMORY => "success";
    an_output_larger_than_the_memory_exhausts_it: "output", 1 << 30, Limits::EXECUTE => "memory_exhausted";
    a_large_attachment_is_refused: "attachment", 8 << 20, MUCH_MEMORY => "invalid_output";
    a_million_log_lines_use_up_the_host_calls: "log_lines", 1_000_000, Limits::EXECUTE => "fuel_exhausted";
    endless_log_lines_run_out_of_time: "log_lines", 4_000_000_000, LITTLE_TIME => "timeout";
    long_log_lines_are_accepted: "log_long_lines", 200, Limits::EXECUTE => "success";
    many_progress_reports_use_up_the_host_calls: "progress", 1_000_000, Limits::EXECUTE => "fuel_exhausted";
    a_flood_of_output_lines_uses_up_the_host_calls: "stdout", 1_000_000, Limits::EXECUTE => "fuel_exhausted";
    a_panic_is_a_trap: "panic", 0, Limits::EXECUTE => "trap";
    an_unreachable_instruction_is_a_trap: "trap", 0, Limits::EXECUTE => "trap";
    exiting_is_a_trap: "exit", 0, Limits::EXECUTE => "trap";
    exiting_with_an_error_is_a_trap: "exit", 1, Limits::EXECUTE => "trap";
    a_flood_of_random_bytes_uses_up_the_host_calls: "random", 0, FEW_HOST_CALLS => "fuel_exhausted";
    a_flood_of_random_bytes_runs_out_of_time: "random", 0, LITTLE_TIME => "timeout";
    too_many_random_bytes_at_once_are_a_trap: "much_random", 0, Limits::EXECUTE => "trap";
    reading_the_clock_forever_uses_up_the_host_calls: "clock", 0, Limits::EXECUTE => "fuel_exhausted";
    a_few_pollables_are_accepted: "pollables", 100, Limits::EXECUTE => "success";
    a_flood_of_pollables_is_a_trap: "pollables", 100_000, Limits::EXECUTE => "trap";
    waiting_for_a_cancellation_runs_out_of_time: "until_cancelled", 0, LITTLE_TIME => "timeout";
    a_question_suspends_the_call: "suspended", 0, Limits::EXECUTE => "suspended";
    a_subtask_continues_the_call: "continuation", 0, Limits::EXECUTE => "continuation";
    a_validation_error_is_a_failure: "validation", 0, Limits::EXECUTE => "failure";
}

async fn hostile(attack: &str, n: usize, limits: Limits) -> Outcome {
    call(&guest(components::HOSTILE), json!({"attack": attack, "n": n}), limits).await
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
    for (attack, code, retryable) in codes {
        match hostile(attack, 0, Limits::EXECUTE).await.ending {
            Ending::Failure(failure) => {
                assert_eq!((failure.code, failure.retryable), (code, retryable), "{attack}");
                assert_eq!(failure.message, "a requested failure");
            }
            other => panic!("`{attack}` ended as {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_error_names_the_limit_that_was_reached() {
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
        "trapped: the tool exited with code 0"
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
    assert_eq!((log.records.len(), log.dropped), (64, 136));
}

#[tokio::test]
async fn a_flood_of_stdout_is_truncated() {
    let log = hostile("stdout", 1_000, Limits::EXECUTE).await.log;
    assert_eq!(log.stdout.len(), 4_096);
}

#[tokio::test]
async fn the_file_name_of_an_attachment_is_not_used_as_a_path() {
    match hostile("attachment", 16, Limits::EXECUTE).await.ending {
        Ending::Success(success) => {
            assert_eq!(success.attachments[0].filename.as_deref(), Some("../../etc/passwd"));
            assert_eq!(success.attachments[0].data, [7; 16]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_flood_of_random_bytes_is_stopped_early() {
    let usage = hostile("random", 0, FEW_HOST_CALLS).await.usage;
    assert!(usage.host_calls <= 210, "{usage:?}");
}

#[tokio::test]
async fn a_sleep_uses_time_but_no_processor_time() {
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
