//! What a start may cost, whatever lies in the plugins folder: one budget for all compiling, and one for all bytes that are read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use art_runtime::plugins::{Loaded, load_folder};
use art_sandbox::{CompilerProgram, Sandbox, SandboxConfig};

use crate::compiling::bomb_of;
use crate::handmade::Handmade;
use crate::home::Home;

const ART: &str = "exec \"$ART\" __compile";
/// A compiler that is over after a second of processor time.
const HASTY: &str = "ulimit -S -t 1; exec \"$ART\" __compile";
/// A compiler that waits for a processor for two seconds.
const HELD_UP: &str = "sleep 2; exec \"$ART\" __compile";
/// A compiler that is never there.
const NONE: &str = "exit 7";
const PUT_OFF: &str = "all tools of the folder together take longer to compile than a start of the host may take";

/// What a start finds that may compile for so long.
fn start(home: &Home, compile_time: Option<Duration>, lines: &str) -> Loaded {
    let script = format!("ART='{}'\n{lines}", env!("CARGO_BIN_EXE_art-under-test"));
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        cache: Some(cache(home)),
        compiler: Some(CompilerProgram::new("/bin/sh", ["-c".into(), script.into()])),
        compile_time,
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).expect("the sandbox starts");
    load_folder(&sandbox, &home.plugins(), &|_| {}).expect("the folder is read")
}

fn cache(home: &Home) -> PathBuf {
    home.dir.path().join("cache").join("code")
}

fn remembered(home: &Home, ending: &str) -> usize {
    let entries = fs::read_dir(cache(home)).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .count()
}

/// How many files were refused in these words.
fn refused(loaded: &Loaded, words: &str) -> usize {
    loaded
        .refused
        .iter()
        .filter(|refused| refused.reason.contains(words))
        .count()
}

/// A folder with one honest tool that is compiled already, and bombs of several sizes.
fn folder_of_bombs() -> Home {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    assert_eq!(start(&home, None, ART).plugins.len(), 1);
    for (n, bomb) in bombs().iter().enumerate() {
        fs::write(home.plugins().join(format!("bomb_{n}.wasm")), bomb).unwrap();
    }
    home
}

/// Bombs of several sizes, each of which takes seconds.
fn bombs() -> &'static [Vec<u8>; 3] {
    static BOMBS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    BOMBS.get_or_init(|| [30_000, 45_000, 60_000].map(bomb_of))
}

#[test]
fn a_start_compiles_no_longer_than_it_may_and_refuses_the_rest_by_name() {
    let home = folder_of_bombs();
    let loaded = start(&home, Some(Duration::from_millis(500)), ART);
    assert_eq!(loaded.plugins.len(), 1);
    assert_eq!(refused(&loaded, PUT_OFF), 3, "{:?}", loaded.refused);
    assert_eq!((remembered(&home, "refused"), remembered(&home, "postponed")), (0, 3));
}

#[test]
fn what_a_start_put_off_is_not_begun_by_the_next_one_and_is_told_in_the_same_words() {
    let home = folder_of_bombs();
    let first = start(&home, Some(Duration::ZERO), NONE);
    assert_eq!(refused(&first, PUT_OFF), 3, "{:?}", first.refused);
    let second = start(&home, Some(Duration::from_secs(3_600)), NONE);
    assert_eq!(first.refused, second.refused);
}

#[test]
fn what_was_put_off_is_compiled_when_somebody_asks_for_it() {
    let home = folder_of_bombs();
    start(&home, Some(Duration::ZERO), NONE);
    let loaded = start(&home, None, HASTY);
    assert_eq!(
        refused(&loaded, "of processor time to compile"),
        3,
        "{:?}",
        loaded.refused
    );
    assert_eq!(remembered(&home, "refused"), 3);
}

#[test]
fn what_was_put_off_and_is_good_is_offered_by_every_start_after_it_was_compiled() {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    let starts = [(Some(Duration::ZERO), 0), (None, 1), (Some(Duration::ZERO), 1)];
    for (compile_time, tools) in starts {
        assert_eq!(start(&home, compile_time, ART).plugins.len(), tools);
    }
}

#[test]
fn a_tool_whose_compiler_only_waits_is_not_put_off() {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    let loaded = start(&home, Some(Duration::from_secs(1)), HELD_UP);
    assert_eq!(loaded.plugins.len(), 1, "{:?}", loaded.refused);
}

#[test]
fn the_list_of_tools_compiles_what_was_put_off_when_it_is_told_to() {
    let home = Home::fresh();
    let ran = home.art(&["tool", "list", "--retry"]);
    assert!(ran.stdout().contains("\ncalculator"), "{ran}");
}

/// A file without content that takes no place on the disk.
fn large(path: &Path, mib: u64) {
    File::create(path).unwrap().set_len(mib << 20).unwrap();
}

#[test]
fn a_folder_of_more_bytes_than_are_read_keeps_its_small_tools() {
    let home = Home::fresh();
    for n in 0..20 {
        large(&home.plugins().join(format!("a_{n:02}.wasm")), 30);
    }
    let ran = home.art(&["tool", "list"]);
    let unread = "is not read: with the smaller files the folder has more than 512 MiB";
    assert_eq!(ran.stdout().matches(unread).count(), 3, "{ran}");
    assert!(ran.stdout().contains("a_19.wasm: is not read"), "{ran}");
    assert!(ran.stdout().contains("\ncalculator"), "{ran}");
}
