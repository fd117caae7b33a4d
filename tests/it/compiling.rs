//! Compiling in a separate process: its limits, and failures that must not affect the host.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use art_sandbox::{CompilerProgram, LoadError, Plugin, Sandbox, SandboxConfig};

use crate::handmade::Handmade;
use crate::harness::message_with_causes;
use crate::home::Home;

/// Returns a sandbox whose compiler is started by a shell script. In the script, `$ART` is the path of the program `art`.
fn sandbox(script_lines: &str, cache: Option<&Path>) -> Sandbox {
    let script = format!("ART='{}'\n{script_lines}", env!("CARGO_BIN_EXE_art-under-test"));
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        cache: cache.map(Path::to_owned),
        compiler: Some(CompilerProgram::new("/bin/sh", ["-c".into(), script.into()])),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("the sandbox starts")
}

/// Loads a component into a sandbox whose compiler is started by `script_lines`.
fn load(script_lines: &str, wasm: &[u8]) -> Result<Plugin, LoadError> {
    sandbox(script_lines, None).load("tool", wasm)
}

/// Returns a component that keeps the compiler busy for many seconds.
fn slow_component() -> Vec<u8> {
    slow_component_of_steps(60_000)
}

/// Returns a component that keeps the compiler busy. It has one function of `steps` steps, in which all variables are live.
pub(crate) fn slow_component_of_steps(steps: usize) -> Vec<u8> {
    let locals = "i64 ".repeat(2_000);
    let step = |n: usize| {
        let (a, b) = (n * 7919 % 2_000, n * 104_729 % 2_000);
        format!(
            "(local.set {a} (i64.add (i64.mul (local.get {a}) (local.get {b})) (i64.const {n})))(br_if 0 (i64.eqz (local.get {b})))"
        )
    };
    let body: String = (0..steps).map(step).collect();
    let items = format!("(func (export \"slow\") (local {locals}) (block {body}))");
    Handmade {
        items: &items,
        ..Handmade::default()
    }
    .build()
}

#[test]
fn a_component_is_compiled_by_the_compiler_program() {
    let plugin = load("exec \"$ART\" __compile", &Handmade::default().build()).expect("it loads");
    assert_eq!(plugin.name(), "tool");
}

#[test]
fn the_error_of_the_compiler_is_reported() {
    let wrong = Handmade {
        items: "(func (export \"wrong\") (result i32) (i32.const 1))",
        ..Handmade::default()
    };
    let mut wasm = wrong.build();
    // Replaces the instruction `i32.const 1` by `i64.const 1`.
    let at = wasm.windows(4).rposition(|bytes| bytes == [0, 0x41, 1, 0x0b]).unwrap();
    wasm[at + 1] = 0x42;
    let error = load("exec \"$ART\" __compile", &wasm).expect_err("it is invalid");
    let LoadError::Compile(reason) = error else {
        panic!("{error:?}")
    };
    assert!(format!("{reason:#}").contains("type mismatch"), "{reason:#}");
}

#[test]
fn a_component_over_the_limit_of_processor_time_is_refused_permanently() {
    let (dir, slow) = (tempfile::tempdir().unwrap(), slow_component());
    let cache = dir.path().join("code");
    let first = sandbox("ulimit -S -t 1; exec \"$ART\" __compile", Some(&cache)).load("slow", &slow);
    assert!(matches!(first, Err(LoadError::CompileLimit { .. })), "{first:?}");
    // The refusal is in the cache, so this script is not run.
    let again = sandbox("exit 7", Some(&cache)).load("slow", &slow);
    assert_eq!(
        message_with_causes(&again.unwrap_err()),
        message_with_causes(&first.unwrap_err())
    );
}

#[test]
fn a_component_whose_compiler_was_killed_is_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, handmade) = (dir.path().join("code"), Handmade::default().build());
    let error = sandbox("kill -KILL $$", Some(&cache)).load("handmade", &handmade);
    assert!(matches!(error, Err(LoadError::CompilerProcess(_))), "{error:?}");
    sandbox("exec \"$ART\" __compile", Some(&cache))
        .load("handmade", &handmade)
        .expect("it loads");
}

#[test]
fn a_compiler_that_runs_out_of_memory_does_not_affect_the_host() {
    let error = load("ulimit -v 200000; exec \"$ART\" __compile", &slow_component()).expect_err("there is no memory");
    assert!(
        matches!(
            error,
            LoadError::CompileLimit { .. } | LoadError::Compile(_) | LoadError::CompilerProcess(_)
        ),
        "{error:?}"
    );
}

#[test]
fn a_component_whose_compiler_crashed_is_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, handmade) = (dir.path().join("code"), Handmade::default().build());
    let error = sandbox("echo oh no >&2; kill -SEGV $$", Some(&cache)).load("handmade", &handmade);
    let Err(LoadError::CompilerProcess(reason)) = error else {
        panic!("{error:?}")
    };
    assert!(reason.to_string().contains("oh no"), "{reason}");
    sandbox("exec \"$ART\" __compile", Some(&cache))
        .load("handmade", &handmade)
        .expect("it loads");
}

#[test]
fn a_missing_compiler_program_is_an_error() {
    let config = SandboxConfig {
        compiler: Some(CompilerProgram::new("/nowhere/art", [])),
        ..SandboxConfig::default()
    };
    let loaded = Sandbox::new(&config)
        .unwrap()
        .load("handmade", &Handmade::default().build());
    assert!(matches!(loaded, Err(LoadError::CompilerProcess(_))), "{loaded:?}");
}

#[test]
fn output_that_is_not_compiled_code_is_refused() {
    // `cat` outputs its input instead of compiled code.
    let error = load("cat", &Handmade::default().build()).expect_err("a component is not compiled code");
    assert!(matches!(error, LoadError::Compile(_)), "{error:?}");
}

#[test]
fn the_compiler_does_not_inherit_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let environment = dir.path().join("environment");
    let script_lines = format!(
        "tr '\\0' '\\n' < /proc/$$/environ > '{}'; exit 1",
        environment.display()
    );
    load(&script_lines, &Handmade::default().build()).expect_err("nothing was compiled");
    let environment = fs::read_to_string(environment).unwrap();
    let mut names: Vec<_> = environment.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    // The host itself sets these two.
    assert_eq!(names, ["MALLOC_ARENA_MAX", "RAYON_NUM_THREADS"]);
}

/// Returns whether a process is running. A process that has ended does not count, even if nobody has waited for it.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Calls `poll` until it returns a value, for at most 30 seconds.
fn wait_for<T>(poll: impl Fn() -> Option<T>) -> T {
    for _ in 0..3_000 {
        if let Some(value) = poll() {
            return value;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no value after 30 s")
}

#[test]
fn a_compiler_exits_when_its_host_is_killed() {
    let home = Home::empty();
    // The home has a cache of its own, because the cache that other homes share may contain the compiled code.
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("slow.wasm"), slow_component()).unwrap();
    let mut host = home.start(&["tool", "list"]);
    let host_pid = host.id();
    // The compiler is a child of the thread that waits for it.
    let compiler = wait_for(|| {
        let tasks = fs::read_dir(format!("/proc/{host_pid}/task")).ok()?;
        let children = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        let all: String = children.collect();
        all.split_whitespace().last().map(str::to_owned)
    });
    host.kill().unwrap();
    host.wait().unwrap();
    wait_for(|| (!is_running(&compiler)).then_some(()));
}
