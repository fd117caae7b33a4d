//! The host loads tools without compiling them: the cache keeps the schema of each tool, or the reason why the tool was refused.
//! The file of a tool can also declare the schema. The first call compiles such a tool, and checks that its `schema()` returns
//! the declared schema.

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
use crate::harness::{call, components, message_with_causes, output, read_component};
use crate::home::Home;
use crate::program::CommandOutput;

/// Shell text in place of a compiler. It always fails, so a test that loads a tool with it proves that nothing is compiled.
const FAILING_COMPILER: &str = "exit 7";
/// Shell text that starts the compiler of `art`.
const ART_COMPILER: &str = "exec \"$ART\" __compile";

/// Returns a sandbox that uses this cache, and starts its compiler with a shell script. In the script, `$ART` is the path of the
/// program `art`.
fn sandbox(cache: &Path, script_lines: &str) -> Sandbox {
    sandbox_with_pooling(cache, script_lines, false)
}

/// Same as [`sandbox`]. `pooling` is whether its instances come from a pool, if the host can reserve one.
fn sandbox_with_pooling(cache: &Path, script_lines: &str, pooling: bool) -> Sandbox {
    let script = format!("ART='{}'\n{script_lines}", env!("CARGO_BIN_EXE_art-under-test"));
    let config = SandboxConfig {
        workers: 1,
        pooling,
        cache: Some(cache.to_owned()),
        compiler: Some(CompilerProgram::new("/bin/sh", ["-c".into(), script.into()])),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("the sandbox starts")
}

/// Returns the component of a tool named `handmade`, whose description is `By hand.`.
fn handmade() -> Vec<u8> {
    Handmade::default().build()
}

/// Returns the component with `old` replaced by `new`, which has to have the same length.
fn replace_text(wasm: &[u8], old: &str, new: &str) -> Vec<u8> {
    let at = wasm
        .windows(old.len())
        .position(|found| found == old.as_bytes())
        .unwrap();
    let mut wasm = wasm.to_vec();
    wasm.splice(at..at + old.len(), new.bytes());
    wasm
}

/// Returns the component with this `art:schema` section at its end.
fn with_schema_section(wasm: &[u8], schema: &str) -> Vec<u8> {
    let name = b"art:schema";
    let mut content = vec![name.len() as u8];
    content.extend(name);
    content.extend(schema.as_bytes());
    let length = content.len();
    // Two bytes of LEB128.
    let size = [(length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
    [wasm, &[0], &size, &content].concat()
}

/// Returns the component with the `art:schema` section that `art plugin build` appends: the schema that its tool returns.
fn with_declared_schema(wasm: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    sandbox(&dir.path().join("code"), ART_COMPILER)
        .with_schema(wasm)
        .expect("`schema()` succeeds")
}

/// Returns the number of files in the cache with this extension: `cwasm` for compiled code, `schema` for the schema of a tool,
/// `refused` for the reason of a permanent refusal, and `postponed` for the reason why a tool is not loaded for a day.
fn count_files(cache: &Path, extension: &str) -> usize {
    let entries = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .count()
}

async fn ending(plugin: &Plugin) -> Ending {
    call(plugin, json!({}), Limits::EXECUTE).await.ending
}

/// Calls the tool, and returns why the host could not run it.
async fn host_error(plugin: &Plugin) -> String {
    match ending(plugin).await {
        Ending::HostError { message } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_component_that_declares_its_schema_is_compiled_by_its_first_call() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let wasm = with_declared_schema(&handmade());
    let sandbox = sandbox(&cache, ART_COMPILER);
    let plugin = sandbox.load("handmade", &wasm).expect("it is loaded");
    assert_eq!(
        (plugin.schema().name.as_str(), count_files(&cache, "cwasm")),
        ("handmade", 0)
    );
    for _ in 0..3 {
        assert_eq!(output(&call(&plugin, json!({}), Limits::EXECUTE).await), Value::Null);
        assert_eq!(count_files(&cache, "cwasm"), 1);
    }
}

#[tokio::test]
async fn calls_during_compilation_wait_for_the_same_compilation() {
    let dir = tempfile::tempdir().unwrap();
    let compilations = dir.path().join("compilations");
    let script_lines = format!("echo once >> '{}'; sleep 0.5; {ART_COMPILER}", compilations.display());
    let sandbox = sandbox(&dir.path().join("code"), &script_lines);
    let plugin = sandbox
        .load("handmade", &with_declared_schema(&handmade()))
        .expect("it is loaded");
    let endings = futures_util::future::join_all((0..8).map(|_| ending(&plugin))).await;
    assert!(endings.iter().all(|ending| ending.name() == "success"), "{endings:?}");
    assert_eq!(fs::read_to_string(compilations).unwrap(), "once\n");
}

#[tokio::test]
async fn the_deadline_of_a_call_starts_after_compilation() {
    let dir = tempfile::tempdir().unwrap();
    let script_lines = format!("sleep 1; {ART_COMPILER}");
    let sandbox = sandbox(&dir.path().join("code"), &script_lines);
    let plugin = sandbox
        .load("handmade", &with_declared_schema(&handmade()))
        .expect("it is loaded");
    let limits = Limits {
        timeout_ms: 200,
        ..Limits::EXECUTE
    };
    assert_eq!(output(&call(&plugin, json!({}), limits).await), Value::Null);
}

#[tokio::test]
async fn a_component_with_another_schema_than_declared_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    // The description that the tool itself returns is `By hand.`.
    let schema = r#"{"name":"handmade","description":"By fool.","inputSchema":"{\"type\":\"object\"}","executionMode":"functional"}"#;
    let liar = with_schema_section(&handmade(), schema);
    let plugin = sandbox(&cache, ART_COMPILER).load("liar", &liar).expect("it is loaded");
    assert_eq!(plugin.schema().description, "By fool.");
    let message = host_error(&plugin).await;
    assert!(
        message.contains("returned another schema than the `art:schema` section"),
        "{message}"
    );
    assert!(host_error(&plugin).await.contains("returned another schema"));
    let again = sandbox(&cache, FAILING_COMPILER)
        .load("liar", &liar)
        .expect_err("the refusal is cached");
    assert!(matches!(again, LoadError::SchemaMismatch), "{again}");
    // Without the wrong section the tool is valid, and its code is in the cache.
    sandbox(&cache, FAILING_COMPILER)
        .load("good", &handmade())
        .expect("it loads");
}

#[tokio::test]
async fn the_first_call_fails_if_schema_traps_even_if_the_file_declares_a_schema() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    let schema = r#"{"name":"handmade","description":"By hand.","inputSchema":"{\"type\":\"object\"}","executionMode":"functional"}"#;
    let wasm = with_schema_section(&trap.build(), schema);
    let plugin = sandbox(&cache, ART_COMPILER).load("trap", &wasm).expect("it is loaded");
    let message = host_error(&plugin).await;
    assert!(message.contains("`schema()` trapped"), "{message}");
    let again = message_with_causes(&sandbox(&cache, FAILING_COMPILER).load("trap", &wasm).unwrap_err());
    assert_eq!(again, message);
}

#[test]
fn a_declared_schema_that_is_invalid_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    for (schema, message) in [
        ("not json", "the `art:schema` section is invalid"),
        (r#"{"name":"a"}"#, "missing field"),
        (
            r#"{"name":"a","description":"","inputSchema":"{","executionMode":"functional"}"#,
            "`input-schema` is invalid",
        ),
    ] {
        let wasm = with_schema_section(&handmade(), schema);
        let refused = message_with_causes(
            &sandbox(&cache, FAILING_COMPILER)
                .load("a", &wasm)
                .expect_err("it is refused"),
        );
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn the_schema_of_a_component_is_cached() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let first = sandbox(&cache, ART_COMPILER)
        .load("handmade", &handmade())
        .expect("it loads");
    assert_eq!(count_files(&cache, "schema"), 1);
    let again = sandbox(&cache, FAILING_COMPILER)
        .load("handmade", &handmade())
        .expect("it loads");
    assert_eq!(first.schema(), again.schema());
}

#[test]
fn a_permanent_refusal_is_cached_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    for bad in [trap.build(), component_with_type_mismatch()] {
        let [first, again] = [ART_COMPILER, FAILING_COMPILER]
            .map(|script_lines| message_with_causes(&sandbox(&cache, script_lines).load("bad", &bad).unwrap_err()));
        assert_eq!(first, again);
    }
    assert_eq!(count_files(&cache, "refused"), 2);
}

/// Returns a component with a function whose result has another type than its signature.
fn component_with_type_mismatch() -> Vec<u8> {
    let good = Handmade {
        items: "(func (export \"wrong\") (result i32) (i32.const 1))",
        ..Handmade::default()
    };
    let mut wasm = good.build();
    // Replaces `i32.const` (0x41) in the body of the function by `i64.const` (0x42).
    let at = wasm.windows(4).rposition(|bytes| bytes == [0, 0x41, 1, 0x0b]).unwrap();
    wasm.splice(at + 1..=at + 1, [0x42]);
    wasm
}

#[test]
fn a_timeout_of_schema_or_a_killed_compiler_causes_no_permanent_refusal() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let slow = sandbox(&cache, ART_COMPILER).load("slow", &read_component(components::SCHEMA_SLEEPS));
    assert!(message_with_causes(&slow.unwrap_err()).contains("did not finish within"));
    sandbox(&cache, "kill -KILL $$")
        .load("good", &handmade())
        .expect_err("the compiler is killed");
    assert_eq!(count_files(&cache, "refused"), 0);
    sandbox(&cache, ART_COMPILER)
        .load("good", &handmade())
        .expect("it loads");
}

/// Returns tools whose instantiation or `schema()` always fails, each in a different way. With each tool comes a part of its
/// error, or an empty text if the test accepts any error.
fn tools_with_failing_schemas() -> [(&'static str, Vec<u8>); 6] {
    const LOG: &str = r#"(import "art:tool/host@0.1.0" "log" (func $log (param i32 i32 i32)))"#;
    let endless_calls = Handmade {
        imports: LOG,
        schema: "(loop $l (call $log (i32.const 0) (i32.const 0) (i32.const 0)) (br $l))",
        ..Handmade::default()
    };
    let huge_memory = Handmade {
        memory: r#"(memory (export "memory") 65536)"#,
        ..Handmade::default()
    };
    let huge_table = Handmade {
        items: "(table 10000000 funcref)",
        ..Handmade::default()
    };
    // A text of the schema extends past the end of the memory. Its length is the second word of the record at address 1024.
    let text_out_of_bounds = Handmade {
        schema: "(i32.store (i32.const 1028) (i32.const 0x7fffffff))",
        ..Handmade::default()
    };
    // Changes the first byte of the text to which the first word of the record points.
    let not_utf8 = Handmade {
        schema: "(i32.store8 (i32.load (i32.const 1024)) (i32.const 0xff))",
        ..Handmade::default()
    };
    [
        ("calls into the host", endless_calls.build()),
        ("memory", huge_memory.build()),
        ("", huge_table.build()),
        ("`schema()`", text_out_of_bounds.build()),
        ("utf-8", not_utf8.build()),
        ("passed to the host at once", read_component(components::SCHEMA_HUGE)),
    ]
}

#[test]
fn a_tool_whose_schema_call_always_fails_is_not_called_again() {
    for pooling in [true, false] {
        for (part_of_error, wasm) in tools_with_failing_schemas() {
            let dir = tempfile::tempdir().unwrap();
            let cache = dir.path().join("code");
            let refuse = |script_lines| {
                sandbox_with_pooling(&cache, script_lines, pooling)
                    .load("bad", &wasm)
                    .expect_err("it is refused")
            };
            let (first, again) = (refuse(ART_COMPILER), refuse(FAILING_COMPILER));
            assert!(matches!(again, LoadError::RefusedBefore(_)), "{again:?}");
            assert_eq!(message_with_causes(&first), message_with_causes(&again));
            assert!(message_with_causes(&first).contains(part_of_error), "{first:?}");
        }
    }
}

#[test]
fn a_tool_that_sleeps_in_its_schema_call_is_postponed_for_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let slow = read_component(components::SCHEMA_SLEEPS);
    let first = sandbox(&cache, ART_COMPILER).load("slow", &slow).unwrap_err();
    let again = sandbox(&cache, ART_COMPILER).load("slow", &slow).unwrap_err();
    assert!(matches!(again, LoadError::RefusedBefore(_)), "{again:?}");
    assert_eq!(message_with_causes(&first), message_with_causes(&again));
    assert_eq!(
        (count_files(&cache, "refused"), count_files(&cache, "postponed")),
        (0, 1)
    );
}

#[test]
fn a_refusal_that_was_tampered_with_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let trap = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    sandbox(&cache, ART_COMPILER)
        .load("trap", &trap.build())
        .expect_err("it traps");
    let paths = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let refusal = paths
        .into_iter()
        .find(|path| path.extension().is_some_and(|ending| ending == "refused"));
    let refusal = refusal.unwrap();
    let mut bytes = fs::read(&refusal).unwrap();
    bytes[0] ^= 1;
    fs::write(&refusal, bytes).unwrap();
    // The compiled code is still in the cache, so the tool needs no compiler.
    let error = sandbox(&cache, FAILING_COMPILER)
        .load("trap", &trap.build())
        .expect_err("its schema is called again");
    assert!(!matches!(error, LoadError::RefusedBefore(_)), "{error:?}");
    assert!(message_with_causes(&error).contains("`schema()` trapped"), "{error}");
}

/// Returns a tool that the sandbox loads and the registry of tools then refuses, because its input schema has the type `string`
/// and not `object`.
fn component_with_refused_schema() -> Vec<u8> {
    replace_text(&handmade(), r#""object"}"#, r#""string"}"#)
}

#[test]
fn a_refusal_by_the_registry_is_cached() {
    let home = Home::with_empty_cache();
    fs::write(home.plugins().join("bad.wasm"), component_with_refused_schema()).unwrap();
    let first = home.art(&["tool", "list"]);
    let cache = home.dir.path().join("cache").join("code");
    assert_eq!(count_files(&cache, "refused"), 1, "{first}");
    let again = home.art(&["tool", "list"]);
    assert_eq!(first.stdout(), again.stdout());
    assert!(
        first.stdout().contains("bad.wasm: the input schema is refused"),
        "{first}"
    );
}

#[test]
fn a_component_that_takes_long_to_compile_is_reported_by_name() {
    let home = Home::with_empty_cache();
    fs::write(home.plugins().join("handmade.wasm"), handmade()).unwrap();
    let cache = home.dir.path().join("cache").join("code");
    // The home has two components: `calculator` and the handmade one, which has fewer than 20000 bytes. The script takes four
    // seconds only for the handmade one. A component is reported after two seconds.
    let script_lines = "[ \"$(head -c 20000 | wc -c)\" -lt 20000 ] && sleep 4; exit 1";
    let reported = Mutex::new(Vec::new());
    let on_compile_progress = |compiling: CompileProgress<'_>| {
        if let CompileProgress::Slow(file) = compiling {
            reported.lock().unwrap().push(file.to_owned());
        }
    };
    load_folder(&sandbox(&cache, script_lines), &home.plugins(), &on_compile_progress).unwrap();
    assert_eq!(*reported.lock().unwrap(), ["handmade.wasm"]);
}

/// Runs `art` with a limit on open files.
fn art_with_file_limit(home: &Home, files: u32, args: &[&str]) -> CommandOutput {
    home.art_with_limits(&format!("ulimit -n {files}"), args)
}

#[test]
fn more_tools_than_the_limit_of_open_files_are_all_loaded() {
    let home = Home::with_empty_cache();
    let cache = home.dir.path().join("cache").join("code");
    let config = SandboxConfig {
        workers: 1,
        cache: Some(cache),
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).unwrap();
    for n in 0..300 {
        let name = format!("hand{n:04}");
        let wasm = replace_text(&handmade(), "handmade", &name);
        fs::write(home.plugins().join(format!("{name}.wasm")), &wasm).unwrap();
        sandbox.load(&name, &wasm).expect("it loads");
    }
    // A run stores a catalogue of the folder in the cache. The second run may take the tools from it instead of reading their
    // files.
    for _ in 0..2 {
        let ran = art_with_file_limit(&home, 100, &["tool", "list"]);
        assert_eq!(ran.stdout().matches("\nhand").count(), 300, "{ran}");
        assert!(!ran.stdout().contains("refused"), "{ran}");
    }
    let ran = art_with_file_limit(&home, 100, &["tool", "call", "hand0299", "{}"]);
    assert_eq!(ran.stdout(), "null\n");
}

#[test]
fn files_with_the_same_code_are_compiled_once() {
    let dir = tempfile::tempdir().unwrap();
    let compilations = dir.path().join("compilations");
    let script_lines = format!("echo once >> '{}'; {ART_COMPILER}", compilations.display());
    let sandbox = sandbox(&dir.path().join("code"), &script_lines);
    let declared = with_declared_schema(&handmade());
    let plugins = [handmade(), declared].map(|wasm| sandbox.load("a", &wasm).expect("it loads"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    for plugin in &plugins {
        assert_eq!(runtime.block_on(ending(plugin)).name(), "success");
    }
    assert_eq!(fs::read_to_string(compilations).unwrap(), "once\n");
}

#[tokio::test]
async fn a_file_that_was_replaced_after_loading_is_not_run() {
    let home = Home::with_empty_cache();
    let cache = home.dir.path().join("cache").join("code");
    // Removes the tool `calculator`.
    fs::remove_dir_all(home.plugins()).unwrap();
    fs::create_dir(home.plugins()).unwrap();
    let file = home.plugins().join("handmade.wasm");
    fs::write(&file, with_declared_schema(&handmade())).unwrap();
    let loaded = load_folder(&sandbox(&cache, ART_COMPILER), &home.plugins(), &|_| {}).unwrap();
    fs::write(&file, replace_text(&handmade(), "By hand.", "By fool.")).unwrap();
    let message = host_error(&loaded.plugins[0]).await;
    assert!(message.contains("its file was replaced"), "{message}");
}
