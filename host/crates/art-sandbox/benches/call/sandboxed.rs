//! Calls through the sandbox, and through the whole tool system.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use art_core::capability::{Access, CallGrants, FsGrant, FsRight};
use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_core::secret::{MAX_SECRETS, Secret, Secrets};
use art_core::tool::ParsedToolCall;
use art_sandbox::{Plugin, Sandbox, SandboxConfig, SecretSource};
use art_tools::ToolRegistry;
use art_tools::{CallScope, CheckedCall, EnabledTools, SystemConfig, ToolExecutor, ToolSystem};
use tokio_util::sync::CancellationToken;

use crate::guest;
use crate::report::{Row, fastest, median, print_table};

/// A sandbox with the guest, and a tool system around it.
pub(crate) struct Sandboxed {
    sandbox: Sandbox,
    plugin: Arc<Plugin>,
    tools: Arc<ToolSystem>,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn add_call() -> ParsedToolCall {
    call_with(serde_json::from_str(guest::ADD_INPUT).unwrap())
}

pub(crate) fn call_with(arguments: serde_json::Value) -> ParsedToolCall {
    ParsedToolCall {
        call_id: "call_000000000".to_owned(),
        tool_name: "bench".to_owned(),
        arguments,
    }
}

fn scope() -> CallScope {
    CallScope {
        thread_id: "thread".to_owned(),
        trace_id: "trace".to_owned(),
        enabled_tools: EnabledTools::named(["bench"]),
        ..CallScope::default()
    }
}

/// Secrets that never change.
#[derive(Debug)]
struct FixedSecrets(Arc<Secrets>);

impl SecretSource for FixedSecrets {
    fn secrets(&self, _call_uses_secrets: bool) -> Arc<Secrets> {
        Arc::clone(&self.0)
    }

    fn quarantine(&self, _digest: &str, _tool: &str, _canary: &str) {}
}

impl Sandboxed {
    pub(crate) fn new(wasm: &[u8], workers: usize) -> Self {
        Self::with_config(
            wasm,
            &SandboxConfig {
                workers,
                ..SandboxConfig::default()
            },
        )
    }

    /// Creates a sandbox with one worker and with as many secrets as a host can have, which it redacts from outcomes. None of the
    /// secrets is a canary.
    pub(crate) fn with_secrets(wasm: &[u8]) -> Self {
        let secret = |number| Secret::new(&format!("key_{number}"), &format!("sk-{number:037}").into(), false).unwrap();
        let secrets = Secrets::new((0..MAX_SECRETS).map(secret).collect()).unwrap();
        Self::with_config(
            wasm,
            &SandboxConfig {
                workers: 1,
                secrets: Some(Arc::new(FixedSecrets(Arc::new(secrets)))),
                ..SandboxConfig::default()
            },
        )
    }

    fn with_config(wasm: &[u8], config: &SandboxConfig) -> Self {
        let sandbox = Sandbox::new(config).unwrap();
        let plugin = Arc::new(sandbox.load("bench", wasm).unwrap());
        let registry = Arc::new(ToolRegistry::new());
        registry.register(Arc::clone(&plugin) as Arc<dyn ToolExecutor>).unwrap();
        let tools = Arc::new(ToolSystem::new(registry, SystemConfig::default()));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        Self {
            sandbox,
            plugin,
            tools,
            runtime,
        }
    }

    pub(crate) fn plugin(&self) -> Arc<Plugin> {
        Arc::clone(&self.plugin)
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Measures calls that read a file in `directory`, which is granted to them. They are made from the worker thread.
    pub(crate) fn time_reads_on_worker(&self, directory: &Path, iterations: u64) -> Duration {
        let fs_right = FsRight {
            guest_path: "bench".to_owned(),
            host_path: directory.to_owned(),
            access: Access::Read,
            grant: Arc::new(FsGrant::new(directory.to_owned(), Access::Read)),
        };
        let grants = Arc::new(CallGrants {
            fs: vec![fs_right],
            ..CallGrants::clone(&CallGrants::by_default())
        });
        let arguments = serde_json::from_str(guest::READ_INPUT).unwrap();
        let token = CancellationToken::new();
        let admitted = CheckedCall::for_test_with_grants(call_with(arguments), Limits::EXECUTE, grants, token);
        self.runtime
            .block_on(self.sandbox.run_on_worker(0, self.repeat(admitted, iterations)))
            .unwrap()
    }

    /// Repeats the small call, and returns the time.
    fn repeat_add(&self, iterations: u64) -> impl Future<Output = Duration> + Send + 'static {
        self.repeat(CheckedCall::for_test(add_call(), Limits::EXECUTE), iterations)
    }

    /// Repeats a call of the tool, and returns the time.
    fn repeat(&self, admitted: CheckedCall, iterations: u64) -> impl Future<Output = Duration> + Send + 'static {
        let plugin = Arc::clone(&self.plugin);
        async move {
            let start = Instant::now();
            for _ in 0..iterations {
                let outcome = plugin.execute(&admitted).await;
                assert!(matches!(outcome.ending, Ending::Success(_)));
            }
            start.elapsed()
        }
    }

    /// Measures calls from the worker thread itself, like those in a batch of the tool system.
    pub(crate) fn time_on_worker(&self, iterations: u64) -> Duration {
        self.runtime
            .block_on(self.sandbox.run_on_worker(0, self.repeat_add(iterations)))
            .unwrap()
    }

    /// Measures calls from another thread.
    pub(crate) fn time_from_another_thread(&self, iterations: u64) -> Duration {
        self.runtime.block_on(self.repeat_add(iterations))
    }

    /// Repeats the small call through the tool system, and returns the time.
    fn repeat_tool_calls(&self, iterations: u64) -> impl Future<Output = Duration> + Send + 'static {
        let tools = Arc::clone(&self.tools);
        async move {
            let scope = scope();
            let start = Instant::now();
            for _ in 0..iterations {
                let report = tools.call(add_call(), &scope).await;
                assert!(report.result.output.is_some());
            }
            start.elapsed()
        }
    }

    /// Measures calls through the tool system, which also checks the arguments and the output against the schemas of the tool.
    pub(crate) fn time_tool_system(&self, iterations: u64) -> Duration {
        self.runtime
            .block_on(self.sandbox.run_on_worker(0, self.repeat_tool_calls(iterations)))
            .unwrap()
    }

    /// Runs a computation natively and in the sandbox, in turn for `rounds` rounds. Returns the native and the sandboxed seconds
    /// of each round.
    fn time_rounds(&self, arguments: serde_json::Value, rounds: usize) -> Vec<(f64, f64)> {
        let plugin = Arc::clone(&self.plugin);
        let job = async move {
            let input = arguments.to_string();
            let limits = Limits {
                fuel: Limits::MAX.fuel,
                ..Limits::EXECUTE
            };
            let admitted = CheckedCall::for_test(call_with(arguments), limits);
            let mut seconds_by_round = Vec::new();
            for _ in 0..rounds {
                let native_seconds = time_seconds(|| drop(guest::call_function(&input)));
                let start = Instant::now();
                let outcome = plugin.execute(&admitted).await;
                seconds_by_round.push((native_seconds, start.elapsed().as_secs_f64()));
                assert!(matches!(outcome.ending, Ending::Success(_)), "{outcome:?}");
            }
            seconds_by_round
        };
        self.runtime.block_on(self.sandbox.run_on_worker(0, job)).unwrap()
    }

    fn call_once(&self, arguments: serde_json::Value, limits: Limits) -> art_core::outcome::Outcome {
        let plugin = Arc::clone(&self.plugin);
        let admitted = CheckedCall::for_test(call_with(arguments), limits);
        let job = async move { plugin.execute(&admitted).await };
        self.runtime.block_on(self.sandbox.run_on_worker(0, job)).unwrap()
    }
}

/// Prints the calls per second on one thread and on two. They are measured in turn, and the best round of each counts.
pub(crate) fn print_throughput(wasm: &[u8]) {
    const CALLS: u64 = 20_000;
    const ROUNDS: usize = 15;
    let sandboxed = Sandboxed::new(wasm, 2);
    let seconds_per_call = |workers: usize| {
        let jobs = (0..workers).map(|index| sandboxed.sandbox.run_on_worker(index, sandboxed.repeat_add(CALLS)));
        let start = Instant::now();
        sandboxed.runtime.block_on(futures_util::future::join_all(jobs));
        start.elapsed().as_secs_f64() / (CALLS * workers as u64) as f64
    };
    let rounds: Vec<_> = (0..ROUNDS)
        .map(|_| (seconds_per_call(1), seconds_per_call(2)))
        .collect();
    let one = 1.0 / fastest(rounds.iter().map(|(on_one, _)| *on_one));
    let two = 1.0 / fastest(rounds.iter().map(|(_, on_two)| *on_two));
    print_table(
        "calls per second",
        &[
            Row::new("1 thread", format!("{one:.0}"), 1.0),
            Row::new("2 threads", format!("{two:.0}"), two / one),
        ],
    );
}

/// Prints how much slower than native code the kernels run in the sandbox. A kernel is an operation of the guest that only
/// computes. Most of the difference is the cost of counting fuel. Native and sandboxed rounds alternate on one thread, so that
/// other work on the machine disturbs both alike.
pub(crate) fn print_kernels(wasm: &[u8]) {
    const ROUNDS: usize = 40;
    let sandboxed = Sandboxed::new(wasm, 1);
    let kernels = [
        ("Hash", 1 << 20),
        ("Sieve", 2_000_000),
        ("Json", 5_000),
        ("Lcg", 20_000_000),
    ];
    let mut product = 1.0;
    let mut rows = Vec::new();
    for (op, size) in kernels {
        let arguments = serde_json::json!({"op": op, "a": size});
        let rounds = sandboxed.time_rounds(arguments, ROUNDS);
        let native_seconds = fastest(rounds.iter().map(|(native, _)| *native));
        let guest_seconds = fastest(rounds.iter().map(|(_, guest)| *guest));
        let ratio = guest_seconds / native_seconds;
        product *= ratio;
        rows.push(Row::new(op, format!("{:.1} ms", guest_seconds * 1e3), ratio));
    }
    let mean = f64::powf(product, 1.0 / kernels.len() as f64);
    rows.push(Row::new("geometric mean", String::new(), mean));
    print_table("processor-bound guests, against native", &rows);
}

/// Prints by how much a guest exceeds its deadline.
pub(crate) fn print_deadlines(wasm: &[u8]) {
    const DEADLINE_MS: u64 = 50;
    const CALLS: usize = 21;
    let sandboxed = Sandboxed::new(wasm, 1);
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms: DEADLINE_MS,
        ..Limits::EXECUTE
    };
    // `Sleep` sleeps `a` milliseconds, which is an hour. `Spin` ignores `a`.
    let rows: Vec<_> = [("Spin", 0), ("Sleep", 3_600_000)]
        .into_iter()
        .map(|(op, a)| {
            let durations_ms = (0..CALLS)
                .map(|_| {
                    time_seconds(|| {
                        let outcome = sandboxed.call_once(serde_json::json!({"op": op, "a": a}), limits);
                        assert_eq!(outcome.ending, Ending::Timeout { limit_ms: DEADLINE_MS });
                    }) * 1e3
                })
                .collect();
            let duration_ms = median(durations_ms);
            Row::new(
                op,
                format!("{:.2} ms late", duration_ms - DEADLINE_MS as f64),
                duration_ms / DEADLINE_MS as f64,
            )
        })
        .collect();
    print_table("stopped after a deadline of 50 ms", &rows);
}

/// Prints the time to compile and load one component, and to load 20 components from the cache on two threads.
pub(crate) fn print_loading(wasm: &[u8]) {
    const COMPONENTS: usize = 20;
    let home = tempfile::tempdir().unwrap();
    let config = SandboxConfig {
        cache: Some(home.path().join("code")),
        ..SandboxConfig::default()
    };
    let milliseconds_to_load_all = || {
        let sandbox = Sandbox::new(&config).unwrap();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..COMPONENTS / 2 {
                        drop(sandbox.load("bench", wasm).unwrap());
                    }
                });
            }
        });
        start.elapsed().as_secs_f64() * 1e3
    };
    // This load also fills the cache.
    let compiled_ms = time_seconds(|| drop(Sandbox::new(&config).unwrap().load("bench", wasm).unwrap())) * 1e3;
    let cached_ms = median((0..5).map(|_| milliseconds_to_load_all()).collect());
    print_table(
        "loading",
        &[
            Row::new(
                "1 component, compiled",
                format!("{compiled_ms:.1} ms"),
                compiled_ms / cached_ms,
            ),
            Row::new("20 components, from the cache", format!("{cached_ms:.1} ms"), 1.0),
        ],
    );
}

fn time_seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
