//! Components that would take the memory of the host: a few bytes of text make a record of hundreds.

use std::fs;

use art_sandbox::{LoadError, inspect};

use crate::handmade::Handmade;
use crate::harness::in_full;
use crate::home::Home;
use crate::program::CommandOutput;

/// Memory that a command may have beside the compiler, in KiB.
const CAP: u32 = 300 << 10;

/// What a core module can have many of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Import,
    Export,
    Function,
    Global,
    Type,
    Element,
}

const KINDS: [Kind; 6] = [
    Kind::Import,
    Kind::Export,
    Kind::Function,
    Kind::Global,
    Kind::Type,
    Kind::Element,
];

/// Returns a length as WebAssembly writes it.
fn size(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length > 0x7f {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id], size(content.len()).as_slice(), content].concat()
}

/// Returns a section of `count` entries.
fn list(id: u8, count: usize, entry: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let entries: Vec<u8> = (0..count).flat_map(entry).collect();
    section(id, &[size(count), entries].concat())
}

/// Returns a name that no other entry has.
fn name(n: usize) -> Vec<u8> {
    let name = format!("{n:x}");
    [size(name.len()), name.into_bytes()].concat()
}

/// Returns a core module with `count` of one kind, each as short as it can be.
fn module(kind: Kind, count: usize) -> Vec<u8> {
    let types = list(1, 1, |_| vec![0x60, 0, 0]);
    let one = || list(3, 1, |_| vec![0]);
    let body = || list(10, 1, |_| vec![2, 0, 0x0b]);
    let sections = match kind {
        Kind::Import => {
            let import = |n| [vec![0], name(n), vec![0, 0]].concat();
            [types, list(2, count, import)].concat()
        }
        Kind::Export => {
            let export = |n| [name(n), vec![0, 0]].concat();
            [types, one(), list(7, count, export), body()].concat()
        }
        Kind::Function => [
            types,
            list(3, count, |_| vec![0]),
            list(10, count, |_| vec![2, 0, 0x0b]),
        ]
        .concat(),
        Kind::Global => list(6, count, |_| vec![0x7f, 0, 0x41, 0, 0x0b]),
        // Different ones, since the same are kept once.
        Kind::Type => list(1, count, |n| {
            let bits = (0..20).map(|bit| 0x7f - ((n >> bit) & 1) as u8);
            [vec![0x60, 20], bits.collect(), vec![0]].concat()
        }),
        Kind::Element => {
            let table = list(4, 1, |_| vec![0x70, 0, 1]);
            let segment = |_| [vec![1, 0], size(count), vec![0; count]].concat();
            [types, one(), table, list(9, 1, segment), body()].concat()
        }
    };
    [b"\0asm\x01\0\0\0".as_slice(), &sections].concat()
}

/// Returns a good tool with a module beside its own that nothing uses.
fn heavy(kind: Kind, count: usize) -> Vec<u8> {
    [Handmade::default().build(), section(1, &module(kind, count))].concat()
}

/// Returns `art` with this much memory.
fn capped(home: &Home, args: &[&str]) -> CommandOutput {
    home.limited(&format!("ulimit -d {CAP}"), args)
}

#[test]
fn eight_components_of_nine_hundred_thousand_imports_cost_no_command_its_memory() {
    let home = Home::fresh();
    for n in 0..8 {
        // Different ones, since the same would share what they cost.
        let wasm = heavy(Kind::Import, 900_000 + n);
        fs::write(home.plugins().join(format!("heavy_{n}.wasm")), wasm).unwrap();
    }
    home.art(&["tool", "list"]);
    let ran = capped(&home, &["tool", "list"]);
    assert_eq!(ran.code(), 0, "{ran}");
    let told = "heavy_0.wasm: has more than 10000 imports";
    assert!(
        ran.stdout().contains(told) && ran.stdout().contains("calculator"),
        "{ran}"
    );
    let ran = capped(&home, &["tool", "call", "calculator", r#"{"expression":"6*7"}"#]);
    assert!(ran.stdout().contains("42"), "{ran}");
}

#[test]
fn components_that_fit_alone_do_not_all_fit_into_one_folder_and_the_light_ones_stay() {
    let home = Home::fresh();
    for n in 0..6 {
        let wasm = heavy(Kind::Export, 180_000 + n);
        fs::write(home.plugins().join(format!("a_{n}.wasm")), wasm).unwrap();
    }
    let ran = home.art(&["tool", "list"]);
    let refused = ran
        .stdout()
        .matches("would take more than 256 MiB of the host's memory")
        .count();
    assert_eq!(refused, 2, "{ran}");
    assert!(ran.stdout().contains("\ncalculator"), "{ran}");
}

#[test]
fn what_costs_memory_is_counted_and_refused_before_anything_is_built() {
    for kind in KINDS {
        let counts = [1_000, 9_000].map(|count| inspect(&heavy(kind, count)).unwrap().host_bytes);
        let [few, many] = counts;
        let grown = (many - few) / 8_000;
        assert!((1..1_700).contains(&grown), "{kind:?}: {counts:?}");
        let error = inspect(&heavy(kind, 5_000_000)).unwrap_err();
        assert!(
            matches!(
                error,
                LoadError::TooManyImports { .. } | LoadError::FootprintTooLarge { .. }
            ),
            "{kind:?}: {}",
            in_full(&error)
        );
    }
}
