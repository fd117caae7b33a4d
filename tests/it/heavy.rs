//! Components that would make the host use a lot of memory: an entry of a few bytes in a module becomes a record of several
//! hundred bytes in the host.

use std::fs;

use art_core::limits::Limits;
use art_sandbox::{LoadError, Sandbox, SandboxConfig, inspect};
use serde_json::json;

use crate::handmade::Handmade;
use crate::harness::{call, message_with_causes};
use crate::home::Home;
use crate::program::CommandOutput;

/// Maximum memory of the process `art`, in KiB. Compilers have processes and memory of their own.
const MAX_MEMORY_KIB: u32 = 300 << 10;

/// A kind of entry in a core module.
#[derive(Clone, Copy, Debug)]
enum EntryKind {
    Import,
    Export,
    Function,
    Global,
    Type,
    Element,
}

const ENTRY_KINDS: [EntryKind; 6] = [
    EntryKind::Import,
    EntryKind::Export,
    EntryKind::Function,
    EntryKind::Global,
    EntryKind::Type,
    EntryKind::Element,
];

/// Returns `number` as an unsigned LEB128.
fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id], leb128(content.len()).as_slice(), content].concat()
}

/// Returns a section of `count` entries.
fn entry_section(id: u8, count: usize, entry: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let entries: Vec<u8> = (0..count).flat_map(entry).collect();
    section(id, &[leb128(count), entries].concat())
}

/// Returns the length and then the bytes of a name that only entry `n` has.
fn name(n: usize) -> Vec<u8> {
    let name = format!("{n:x}");
    [leb128(name.len()), name.into_bytes()].concat()
}

/// Returns a core module with `count` entries of one kind, each as short as possible. The numbers are those of the binary format:
/// section 1 contains types, 2 imports, 3 functions, 4 tables, 6 globals, 7 exports, 9 elements, and 10 the bodies of functions.
fn module(kind: EntryKind, count: usize) -> Vec<u8> {
    let types = entry_section(1, 1, |_| vec![0x60, 0, 0]);
    let one_function = || entry_section(3, 1, |_| vec![0]);
    let one_body = || entry_section(10, 1, |_| vec![2, 0, 0x0b]);
    let sections = match kind {
        EntryKind::Import => {
            let import = |n| [vec![0], name(n), vec![0, 0]].concat();
            [types, entry_section(2, count, import)].concat()
        }
        EntryKind::Export => {
            let export = |n| [name(n), vec![0, 0]].concat();
            [types, one_function(), entry_section(7, count, export), one_body()].concat()
        }
        EntryKind::Function => [
            types,
            entry_section(3, count, |_| vec![0]),
            entry_section(10, count, |_| vec![2, 0, 0x0b]),
        ]
        .concat(),
        EntryKind::Global => entry_section(6, count, |_| vec![0x7f, 0, 0x41, 0, 0x0b]),
        // Each is a function type of 23 bytes. Its 20 parameters are `i32` or `i64`, depending on the bits of `n`, so that the
        // types differ, since the engine stores equal types only once.
        EntryKind::Type => entry_section(1, count, |n| {
            let bits = (0..20).map(|bit| 0x7f - ((n >> bit) & 1) as u8);
            [vec![0x60, 20], bits.collect(), vec![0]].concat()
        }),
        EntryKind::Element => {
            let table = entry_section(4, 1, |_| vec![0x70, 0, 1]);
            let segment = |_| [vec![1, 0], leb128(count), vec![0; count]].concat();
            [types, one_function(), table, entry_section(9, 1, segment), one_body()].concat()
        }
    };
    [b"\0asm\x01\0\0\0".as_slice(), &sections].concat()
}

/// Returns a valid tool with the name `handmade`, and in it an additional module that it does not use.
fn heavy_component(kind: EntryKind, count: usize) -> Vec<u8> {
    // In a component, section 1 is a core module.
    [Handmade::default().build(), section(1, &module(kind, count))].concat()
}

/// Runs `art` with a memory limit.
fn art_with_memory_limit(home: &Home, args: &[&str]) -> CommandOutput {
    home.art_with_limits(&format!("ulimit -d {MAX_MEMORY_KIB}"), args)
}

#[test]
fn components_with_too_many_imports_do_not_exhaust_memory() {
    let home = Home::with_empty_cache();
    for n in 0..8 {
        // Different components, since equal ones would share their memory.
        let wasm = heavy_component(EntryKind::Import, 900_000 + n);
        fs::write(home.plugins().join(format!("heavy_{n}.wasm")), wasm).unwrap();
    }
    // Fills the cache of compiled code, so that the limited process starts no compiler.
    home.art(&["tool", "list"]);
    let ran = art_with_memory_limit(&home, &["tool", "list"]);
    assert_eq!(ran.code(), 0, "{ran}");
    let message = "heavy_0.wasm: has more than 10000 imports";
    assert!(
        ran.stdout().contains(message) && ran.stdout().contains("calculator"),
        "{ran}"
    );
    let ran = art_with_memory_limit(&home, &["tool", "call", "calculator", r#"{"expression":"6*7"}"#]);
    assert!(ran.stdout().contains("42"), "{ran}");
}

#[test]
fn heavy_components_of_a_folder_take_little_memory_before_they_are_called() {
    let home = Home::with_empty_cache();
    for n in 0..6 {
        let wasm = heavy_component(EntryKind::Export, 180_000 + n);
        fs::write(home.plugins().join(format!("a_{n}.wasm")), wasm).unwrap();
    }
    // Fills the cache of compiled code, so that the limited process starts no compiler.
    home.art(&["tool", "list"]);
    let ran = art_with_memory_limit(&home, &["tool", "list"]);
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(
        ran.stdout().contains("\ncalculator") && ran.stdout().contains("\nhandmade"),
        "{ran}"
    );
}

#[tokio::test]
async fn the_memory_of_all_components_that_are_loaded_for_calls_stays_within_its_limit() {
    /// The limit of a sandbox for the memory of its loaded programs, in bytes. A program is a component that is compiled and
    /// linked for calls. Its compiled code does not count.
    const MAX_BYTES: u64 = 256 << 20;
    let cache = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new(&SandboxConfig {
        workers: 1,
        pooling: false,
        cache: Some(cache.path().join("code")),
        ..SandboxConfig::default()
    })
    .unwrap();
    let plugins: Vec<_> = (0..6)
        .map(|n| {
            sandbox
                .load("heavy", &heavy_component(EntryKind::Export, 180_000 + n))
                .unwrap()
        })
        .collect();
    let total_bytes: u64 = plugins.iter().map(|plugin| plugin.inspection().host_bytes).sum();
    assert!(total_bytes > MAX_BYTES, "{total_bytes}");
    // In the second round, each call loads a program again that was unloaded to make room for another.
    for plugin in plugins.iter().chain(&plugins) {
        let outcome = call(plugin, json!({}), Limits::EXECUTE).await;
        assert_eq!(outcome.ending.name(), "success", "{outcome:?}");
        let bytes = sandbox.program_memory();
        assert!(bytes <= MAX_BYTES && bytes >= plugin.inspection().host_bytes, "{bytes}");
    }
}

#[test]
fn the_memory_of_each_kind_of_entry_is_estimated_and_bounded_without_compiling() {
    for kind in ENTRY_KINDS {
        let estimates = [1_000, 9_000].map(|count| inspect(&heavy_component(kind, count)).unwrap().host_bytes);
        let [bytes_of_few, bytes_of_many] = estimates;
        let bytes_per_entry = (bytes_of_many - bytes_of_few) / 8_000;
        // The estimate is highest for a type: 64 bytes for each of its 23 bytes.
        assert!((1..1_700).contains(&bytes_per_entry), "{kind:?}: {estimates:?}");
        let error = inspect(&heavy_component(kind, 5_000_000)).unwrap_err();
        assert!(
            matches!(
                error,
                LoadError::TooManyImports { .. } | LoadError::FootprintTooLarge { .. }
            ),
            "{kind:?}: {}",
            message_with_causes(&error)
        );
    }
}
