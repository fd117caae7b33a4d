//! What is known of a component is not found out again: what it says of itself, and why it was refused. What its file
//! says that it says is a promise: believed until it is called.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_runtime::plugins::{CompileProgress, load_folder};
use art_sandbox::{CompilerProgram, LoadError, Plugin, Sandbox, SandboxConfig};
use art_tools::executor::ToolExecutor;
use serde_json::{Value, json};

use crate::handmade::Handmade;
use crate::harness::{call, components, in_full, output, read};
use crate::home::Home;
use crate::program::CommandOutput;

/// A compiler that is never there.
const NONE: &str = "exit 7";
const ART: &str = "exec \"$ART\" __compile";

/// A sandbox with this cache, whose compiler is started by these lines of the shell.
fn sandbox(cache: &Path, lines: &str) -> Sandbox {
    sandbox_with(cache, lines, false)
}

fn sandbox_with(cache: &Path, lines: &str, pooling: bool) -> Sandbox {
    let script = format!("ART='{}'\n{lines}", env!("CARGO_BIN_EXE_art-under-test"));
    let config = SandboxConfig {
        workers: 1,
        pooling,
        cache: Some(cache.to_owned()),
        compiler: Some(CompilerProgram::new("/bin/sh", ["-c".into(), script.into()])),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("the sandbox starts")
}

fn handmade() -> Vec<u8> {
    Handmade::default().build()
}

/// The component with another word of as many letters in it.
fn with_word(wasm: &[u8], old: &str, new: &str) -> Vec<u8> {
    let at = wasm
        .windows(old.len())
        .position(|found| found == old.as_bytes())
        .unwrap();
    let mut wasm = wasm.to_vec();
    wasm.splice(at..at + old.len(), new.bytes());
    wasm
}

/// The component with this promise at its end.
fn promising(wasm: &[u8], promise: &str) -> Vec<u8> {
    let name = b"art:schema";
    let mut content = vec![name.len() as u8];
    content.extend(name);
    content.extend(promise.as_bytes());
    let length = content.len();
    let size = [(length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
    [wasm, &[0], &size, &content].concat()
}

/// With what `art plugin build` appends.
fn promising_the_truth(wasm: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    sandbox(&dir.path().join("code"), ART)
        .with_schema(wasm)
        .expect("it answers")
}

fn files(cache: &Path, ending: &str) -> usize {
    let entries = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .count()
}

async fn ending(plugin: &Plugin) -> Ending {
    call(plugin, json!({}), Limits::EXECUTE).await.ending
}

/// Why the host could not run it.
async fn host_error(plugin: &Plugin) -> String {
    match ending(plugin).await {
        Ending::HostError { message } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_component_that_promises_its_schema_is_compiled_by_its_first_call_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let wasm = promising_the_truth(&handmade());
    let sandbox = sandbox(&cache, ART);
    let plugin = sandbox.load("handmade", &wasm).expect("it is offered");
    assert_eq!((plugin.schema().name.as_str(), files(&cache, "cwasm")), ("handmade", 0));
    for _ in 0..3 {
        assert_eq!(output(&call(&plugin, json!({}), Limits::EXECUTE).await), Value::Null);
        assert_eq!(files(&cache, "cwasm"), 1);
    }
}

#[tokio::test]
async fn calls_that_come_while_it_is_compiled_wait_for_the_same_end() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let lines = format!("echo once >> '{}'; sleep 0.5; {ART}", count.display());
    let sandbox = sandbox(&dir.path().join("code"), &lines);
    let plugin = sandbox
        .load("handmade", &promising_the_truth(&handmade()))
        .expect("it is offered");
    let endings = futures_util::future::join_all((0..8).map(|_| ending(&plugin))).await;
    assert!(endings.iter().all(|ending| ending.name() == "success"), "{endings:?}");
    assert_eq!(fs::read_to_string(count).unwrap(), "once\n");
}

#[tokio::test]
async fn the_time_of_a_call_begins_when_it_is_compiled() {
    let dir = tempfile::tempdir().unwrap();
    let lines = format!("sleep 1; {ART}");
    let sandbox = sandbox(&dir.path().join("code"), &lines);
    let plugin = sandbox
        .load("handmade", &promising_the_truth(&handmade()))
        .expect("it is offered");
    let limits = Limits {
        timeout_ms: 200,
        ..Limits::EXECUTE
    };
    assert_eq!(output(&call(&plugin, json!({}), limits).await), Value::Null);
}

#[tokio::test]
async fn a_component_that_answers_something_else_than_it_promises_is_refused_and_stays_so() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let promise = r#"{"name":"handmade","description":"By fool.","inputSchema":"{\"type\":\"object\"}","executionMode":"functional"}"#;
    let liar = promising(&handmade(), promise);
    let plugin = sandbox(&cache, ART).load("liar", &liar).expect("it is offered");
    assert_eq!(plugin.schema().description, "By fool.");
    let told = host_error(&plugin).await;
    assert!(
        told.contains("returned another schema than the `art:schema` section"),
        "{told}"
    );
    assert!(host_error(&plugin).await.contains("returned another schema"));
    let again = sandbox(&cache, NONE).load("liar", &liar).expect_err("it is remembered");
    assert!(matches!(again, LoadError::SchemaMismatch), "{again}");
    // Without the lie it is a good tool, and is compiled already.
    sandbox(&cache, NONE).load("good", &handmade()).expect("it loads");
}

#[tokio::test]
async fn a_promise_of_what_cannot_be_compiled_is_found_out_by_the_first_call() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    let promise = r#"{"name":"handmade","description":"By hand.","inputSchema":"{\"type\":\"object\"}","executionMode":"functional"}"#;
    let wasm = promising(&trap.build(), promise);
    let plugin = sandbox(&cache, ART).load("trap", &wasm).expect("it is offered");
    let told = host_error(&plugin).await;
    assert!(told.contains("`schema()` trapped"), "{told}");
    let again = in_full(&sandbox(&cache, NONE).load("trap", &wasm).unwrap_err());
    assert_eq!(again, told);
}

#[test]
fn a_promise_that_is_no_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    for (promise, told) in [
        ("no json", "the `art:schema` section is invalid"),
        (r#"{"name":"a"}"#, "missing field"),
        (
            r#"{"name":"a","description":"","inputSchema":"{","executionMode":"functional"}"#,
            "`input-schema` is invalid",
        ),
    ] {
        let wasm = promising(&handmade(), promise);
        let refused = in_full(&sandbox(&cache, NONE).load("a", &wasm).expect_err("it is refused"));
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn what_a_component_answered_is_not_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let first = sandbox(&cache, ART).load("handmade", &handmade()).expect("it loads");
    assert_eq!(files(&cache, "schema"), 1);
    let again = sandbox(&cache, NONE).load("handmade", &handmade()).expect("it loads");
    assert_eq!(first.schema(), again.schema());
}

#[test]
fn a_component_that_is_refused_for_what_it_is_is_refused_again_in_the_same_words_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    for bad in [trap.build(), of_a_wrong_type()] {
        let [first, again] = [ART, NONE].map(|lines| in_full(&sandbox(&cache, lines).load("bad", &bad).unwrap_err()));
        assert_eq!(first, again);
    }
    assert_eq!(files(&cache, "refused"), 2);
}

/// A component with a function that gives another type than it says.
fn of_a_wrong_type() -> Vec<u8> {
    let good = Handmade {
        items: "(func (export \"wrong\") (result i32) (i32.const 1))",
        ..Handmade::default()
    };
    let mut wasm = good.build();
    let at = wasm.windows(4).rposition(|bytes| bytes == [0, 0x41, 1, 0x0b]).unwrap();
    wasm.splice(at + 1..=at + 1, [0x42]);
    wasm
}

#[test]
fn a_component_that_was_refused_by_the_clock_or_the_machine_gets_another_chance() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let slow = sandbox(&cache, ART).load("slow", &read(components::SCHEMA_SLEEPS));
    assert!(in_full(&slow.unwrap_err()).contains("did not finish within"));
    sandbox(&cache, "kill -KILL $$")
        .load("good", &handmade())
        .expect_err("the compiler is killed");
    assert_eq!(files(&cache, "refused"), 0);
    sandbox(&cache, ART).load("good", &handmade()).expect("it loads");
}

/// Tools that fail when they are asked what they are, each in another way that is its own.
fn hopeless() -> [(&'static str, Vec<u8>); 6] {
    const LOG: &str = r#"(import "art:tool/host@0.1.0" "log" (func $log (param i32 i32 i32)))"#;
    let guest = Handmade::default;
    let built = |guest: Handmade<'_>| guest.build();
    let calls = Handmade {
        imports: LOG,
        schema: "(loop $l (call $log (i32.const 0) (i32.const 0) (i32.const 0)) (br $l))",
        ..guest()
    };
    let huge = Handmade {
        memory: r#"(memory (export "memory") 65536)"#,
        ..guest()
    };
    let table = Handmade {
        items: "(table 10000000 funcref)",
        ..guest()
    };
    // The lengths of the texts that `schema` returns are past the end of its memory.
    let beyond = Handmade {
        schema: "(i32.store (i32.const 1028) (i32.const 0x7fffffff))",
        ..guest()
    };
    let no_text = Handmade {
        schema: "(i32.store8 (i32.load (i32.const 1024)) (i32.const 0xff))",
        ..guest()
    };
    [
        ("calls into the host", built(calls)),
        ("memory", built(huge)),
        ("", built(table)),
        ("`schema()`", built(beyond)),
        ("utf-8", built(no_text)),
        ("passed to the host at once", read(components::SCHEMA_HUGE)),
    ]
}

#[test]
fn what_a_tool_does_wrong_when_it_is_mapped_or_asked_is_not_tried_again() {
    for pooling in [true, false] {
        for (told, wasm) in hopeless() {
            let dir = tempfile::tempdir().unwrap();
            let cache = dir.path().join("code");
            let refuse = |lines| {
                sandbox_with(&cache, lines, pooling)
                    .load("bad", &wasm)
                    .expect_err("it is refused")
            };
            let (first, again) = (refuse(ART), refuse(NONE));
            assert!(matches!(again, LoadError::RefusedBefore(_)), "{again:?}");
            assert_eq!(in_full(&first), in_full(&again));
            assert!(in_full(&first).contains(told), "{first:?}");
        }
    }
}

#[test]
fn a_tool_that_sleeps_when_it_is_asked_is_left_for_a_day_and_not_refused_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let slow = read(components::SCHEMA_SLEEPS);
    let first = sandbox(&cache, ART).load("slow", &slow).unwrap_err();
    let again = sandbox(&cache, ART).load("slow", &slow).unwrap_err();
    assert!(matches!(again, LoadError::RefusedBefore(_)), "{again:?}");
    assert_eq!(in_full(&first), in_full(&again));
    assert_eq!((files(&cache, "refused"), files(&cache, "postponed")), (0, 1));
}

#[test]
fn a_refusal_that_somebody_wrote_into_the_cache_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    sandbox(&cache, ART).load("trap", &trap.build()).expect_err("it traps");
    let refusal = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let refusal = refusal
        .into_iter()
        .find(|path| path.extension().is_some_and(|ending| ending == "refused"));
    let refusal = refusal.unwrap();
    let mut bytes = fs::read(&refusal).unwrap();
    bytes[0] ^= 1;
    fs::write(&refusal, bytes).unwrap();
    let error = sandbox(&cache, NONE)
        .load("trap", &trap.build())
        .expect_err("it is asked again");
    assert!(in_full(&error).contains("`schema()` trapped"), "{error}");
}

/// A tool whose schema the registry refuses.
fn not_an_object() -> Vec<u8> {
    with_word(&handmade(), r#""object"}"#, r#""string"}"#)
}

#[test]
fn a_tool_that_the_registry_refuses_is_not_looked_at_again() {
    let home = Home::fresh();
    fs::write(home.plugins().join("bad.wasm"), not_an_object()).unwrap();
    let first = home.art(&["tool", "list"]);
    let cache = home.dir.path().join("cache").join("code");
    assert_eq!(files(&cache, "refused"), 1, "{first}");
    let again = home.art(&["tool", "list"]);
    assert_eq!(first.stdout(), again.stdout());
    assert!(
        first.stdout().contains("bad.wasm: the input schema is refused"),
        "{first}"
    );
}

#[test]
fn a_component_that_takes_long_to_compile_is_told_of_by_name() {
    let home = Home::fresh();
    fs::write(home.plugins().join("handmade.wasm"), handmade()).unwrap();
    let cache = home.dir.path().join("cache").join("code");
    // The larger one is the first-party tool.
    let lines = "[ \"$(head -c 20000 | wc -c)\" -lt 20000 ] && sleep 4; exit 1";
    let told = Mutex::new(Vec::new());
    let hear = |compiling: CompileProgress<'_>| {
        if let CompileProgress::Slow(file) = compiling {
            told.lock().unwrap().push(file.to_owned());
        }
    };
    load_folder(&sandbox(&cache, lines), &home.plugins(), &hear).unwrap();
    assert_eq!(*told.lock().unwrap(), ["handmade.wasm"]);
}

/// Runs `art` with this many open files.
fn with_files(home: &Home, files: u32, args: &[&str]) -> CommandOutput {
    home.limited(&format!("ulimit -n {files}"), args)
}

#[test]
fn more_tools_than_there_may_be_open_files_are_all_offered() {
    let home = Home::fresh();
    let cache = home.dir.path().join("cache").join("code");
    let config = SandboxConfig {
        workers: 1,
        cache: Some(cache),
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).unwrap();
    for n in 0..300 {
        let name = format!("hand{n:04}");
        let wasm = with_word(&handmade(), "handmade", &name);
        fs::write(home.plugins().join(format!("{name}.wasm")), &wasm).unwrap();
        sandbox.load(&name, &wasm).expect("it loads");
    }
    for _ in 0..2 {
        let ran = with_files(&home, 100, &["tool", "list"]);
        assert_eq!(ran.stdout().matches("\nhand").count(), 300, "{ran}");
        assert!(!ran.stdout().contains("refused"), "{ran}");
    }
    let ran = with_files(&home, 100, &["tool", "call", "hand0299", "{}"]);
    assert_eq!(ran.stdout(), "null\n");
}

#[test]
fn files_with_the_same_code_are_compiled_once() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let lines = format!("echo once >> '{}'; {ART}", count.display());
    let sandbox = sandbox(&dir.path().join("code"), &lines);
    let truth = promising_the_truth(&handmade());
    let plugins = [handmade(), truth].map(|wasm| sandbox.load("a", &wasm).expect("it loads"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    for plugin in &plugins {
        assert_eq!(runtime.block_on(ending(plugin)).name(), "success");
    }
    assert_eq!(fs::read_to_string(count).unwrap(), "once\n");
}

#[tokio::test]
async fn a_file_that_is_replaced_before_its_code_was_needed_is_not_run_in_its_place() {
    let home = Home::fresh();
    let cache = home.dir.path().join("cache").join("code");
    fs::remove_dir_all(home.plugins()).unwrap();
    fs::create_dir(home.plugins()).unwrap();
    let file = home.plugins().join("handmade.wasm");
    fs::write(&file, promising_the_truth(&handmade())).unwrap();
    let loaded = load_folder(&sandbox(&cache, ART), &home.plugins(), &|_| {}).unwrap();
    fs::write(&file, with_word(&handmade(), "By hand.", "By fool.")).unwrap();
    let told = host_error(&loaded.plugins[0]).await;
    assert!(told.contains("its file was replaced"), "{told}");
}
