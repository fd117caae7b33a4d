//! Helpers of the tests: the paths of components, a shared sandbox, and calls of tools.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_core::tool::ParsedToolCall;
use art_sandbox::{LoadError, Plugin, Sandbox, SandboxConfig};
use art_tools::executor::{CheckedCall, ToolExecutor};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::program::shared_cache;

/// The paths of the first-party plugins and of the guests. A guest is a component built for these tests. The build fails if there
/// is a guest that no test uses.
#[deny(dead_code, reason = "every guest must be used by a test")]
pub(crate) mod components {
    include!(concat!(env!("OUT_DIR"), "/components.rs"));
}

/// A call that takes longer than this counts as hanging. The time limit of every call in these tests is shorter.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the shared sandbox: two workers, and a cache of compiled code that is kept between runs.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let asks_for_instance_pool = true;
    SANDBOX.get_or_init(|| new_sandbox(asks_for_instance_pool))
}

/// Returns the compiled code that all tests share, whether they run the program or call the library.
pub(crate) fn shared_code() -> PathBuf {
    shared_cache().join("code")
}

/// Returns a sandbox with two workers, which shares the cache with all other sandboxes of this function.
/// `asks_for_instance_pool` is whether its instances come from a pool, if the host can reserve one.
pub(crate) fn new_sandbox(asks_for_instance_pool: bool) -> Sandbox {
    let config = SandboxConfig {
        workers: 2,
        pooling: asks_for_instance_pool,
        cache: Some(shared_code()),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("the sandbox starts")
}

/// Loads the component at `path` into the shared sandbox.
pub(crate) fn load(path: &str) -> Result<Plugin, LoadError> {
    load_into(sandbox(), path)
}

/// Same as [`load`], with the given sandbox.
pub(crate) fn load_into(sandbox: &Sandbox, path: &str) -> Result<Plugin, LoadError> {
    let name = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap();
    sandbox.load(name, &read_component(path))
}

/// Returns the bytes of a component.
pub(crate) fn read_component(path: &str) -> Vec<u8> {
    std::fs::read(path).expect("the build script has built it")
}

/// Returns the guest at `path`, which is loaded once.
pub(crate) fn guest(path: &'static str) -> Arc<Plugin> {
    static LOADED: Mutex<Option<HashMap<&str, Arc<Plugin>>>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let plugin = loaded
        .get_or_insert_default()
        .entry(path)
        .or_insert_with(|| Arc::new(load(path).expect("the guest loads")));
    Arc::clone(plugin)
}

/// Returns a tool call with these arguments. Its tool name is a placeholder: a plugin that is called directly ignores it.
pub(crate) fn tool_call(arguments: Value) -> ParsedToolCall {
    ParsedToolCall {
        call_id: "call_000000001".to_owned(),
        tool_name: "tool".to_owned(),
        arguments,
    }
}

/// Calls a tool directly, without the checks of the tool system.
pub(crate) async fn call(plugin: &Plugin, arguments: Value, limits: Limits) -> Outcome {
    call_with_cancel(plugin, arguments, limits, CancellationToken::new()).await
}

/// Same as [`call`], with a token that the test can cancel.
pub(crate) async fn call_with_cancel(
    plugin: &Plugin,
    arguments: Value,
    limits: Limits,
    cancel: CancellationToken,
) -> Outcome {
    let call = CheckedCall::for_test_with_cancel(tool_call(arguments), limits, cancel);
    tokio::time::timeout(CALL_TIMEOUT, plugin.execute(&call))
        .await
        .expect("the call ends before the timeout of the test")
}

/// Calls `echo` and checks its answer.
pub(crate) async fn assert_echo_answers() {
    let outcome = call(&guest(components::ECHO), json!({"text": "hello"}), Limits::EXECUTE).await;
    assert_eq!(output(&outcome), json!({"text": "hello", "call_id": "call_000000001"}));
}

/// Returns the output of a success.
pub(crate) fn output(outcome: &Outcome) -> Value {
    match &outcome.ending {
        Ending::Success(success) => serde_json::from_str(&success.output).expect("the output is JSON"),
        other => panic!("expected a success, got {other:?}, log {:?}", outcome.log),
    }
}

/// Returns the error and all its causes in one line.
pub(crate) fn message_with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Runs the `#[ignore]`d test `name` of this binary in a separate process. `setup` is shell text that is run before it: empty, or
/// commands that end in `;` or `&&`.
pub(crate) fn run_alone(name: &str, setup: &str) {
    run_alone_in(&[], name, setup);
}

/// Same as [`run_alone`]. If `launcher` is not empty, it is a program with arguments that starts the process, such as `unshare`.
pub(crate) fn run_alone_in(launcher: &[&str], name: &str, setup: &str) {
    let binary = std::env::current_exe().expect("the test binary is known");
    let script = format!("{setup} exec \"$0\" --exact \"$1\" --ignored --nocapture --test-threads=1");
    let mut words = launcher.iter().chain(&["sh"]);
    let ran = Command::new(words.next().expect("there is a shell"))
        .args(words)
        .args(["-c", &script])
        .arg(binary)
        .arg(name)
        .output()
        .expect("the test binary starts");
    assert!(ran.status.success(), "`{name}` failed:\n{}", output_text(&ran));
    assert!(
        String::from_utf8_lossy(&ran.stdout).contains("1 passed"),
        "there is no test `{name}`"
    );
}

fn output_text(ran: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    )
}
