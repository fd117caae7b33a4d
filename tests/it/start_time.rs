//! Bounds on the start of the host, whatever the plugins folder contains: one budget for compiling all components, and one for
//! the bytes that are read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use art_runtime::plugins::{LoadedFolder, load_folder};
use art_sandbox::{CompilerProgram, Sandbox, SandboxConfig};

use crate::compiling::slow_component_of_steps;
use crate::handmade::Handmade;
use crate::home::Home;

// Shell scripts that the tests use as the compiler. `$ART` is the path of `art`, which compiles a component with `art __compile`.

/// The compiler of `art` as it is.
const ART_COMPILER: &str = "exec \"$ART\" __compile";
/// A compiler that is killed after a second of processor time.
const LIMITED_COMPILER: &str = "ulimit -S -t 1; exec \"$ART\" __compile";
/// A compiler that waits for two seconds before it uses the processor.
const DELAYED_COMPILER: &str = "sleep 2; exec \"$ART\" __compile";
/// A compiler that always fails.
const FAILING_COMPILER: &str = "exit 7";
/// A part of the error for a component that a start does not compile, because all components together would take too long.
const POSTPONED: &str = "all tools of the folder together take longer to compile than a start of the host may take";

/// Loads the plugins folder. `compile_time` is the maximum processor time for compiling all components (`None`: no limit).
/// `compiler_script` is one of the scripts above.
fn load_folder_with(home: &Home, compile_time: Option<Duration>, compiler_script: &str) -> LoadedFolder {
    let script = format!("ART='{}'\n{compiler_script}", env!("CARGO_BIN_EXE_art-under-test"));
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

/// Returns the number of files in the cache with this extension.
fn count_cached_files(home: &Home, extension: &str) -> usize {
    let entries = fs::read_dir(cache(home)).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .count()
}

/// Returns the number of files that were refused with a reason that contains `text`.
fn count_refused(loaded: &LoadedFolder, text: &str) -> usize {
    loaded
        .refused
        .iter()
        .filter(|refused| refused.reason.contains(text))
        .count()
}

/// Number of components in the home of [`home_with_slow_components`] that take seconds to compile.
const SLOW_COMPONENTS: usize = 3;

/// Returns a home with the tool `handmade`, whose code is already in the cache, and [`SLOW_COMPONENTS`] slow components.
fn home_with_slow_components() -> Home {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    assert_eq!(load_folder_with(&home, None, ART_COMPILER).plugins.len(), 1);
    for (n, component) in slow_components().iter().enumerate() {
        fs::write(home.plugins().join(format!("slow_{n}.wasm")), component).unwrap();
    }
    home
}

/// Returns components with a function of 30,000, 45,000 or 60,000 steps. Each component takes seconds to compile.
fn slow_components() -> &'static [Vec<u8>; SLOW_COMPONENTS] {
    static COMPONENTS: OnceLock<[Vec<u8>; SLOW_COMPONENTS]> = OnceLock::new();
    COMPONENTS.get_or_init(|| [30_000, 45_000, 60_000].map(slow_component_of_steps))
}

#[test]
fn a_start_stops_compiling_at_its_limit_and_postpones_what_is_not_compiled() {
    let home = home_with_slow_components();
    let loaded = load_folder_with(&home, Some(Duration::from_millis(500)), ART_COMPILER);
    assert_eq!(loaded.plugins.len(), 1);
    assert_eq!(
        count_refused(&loaded, POSTPONED),
        SLOW_COMPONENTS,
        "{:?}",
        loaded.refused
    );
    // The cache stores why a component is not loaded: in a file `.refused` if the reason is permanent, and in a file `.postponed`
    // if it holds for a day.
    assert_eq!(
        (
            count_cached_files(&home, "refused"),
            count_cached_files(&home, "postponed")
        ),
        (0, SLOW_COMPONENTS)
    );
}

#[test]
fn the_next_start_does_not_compile_a_postponed_component_and_gives_the_same_reason() {
    let home = home_with_slow_components();
    // If the compiler was started, it would fail, and the reason would be another one.
    let first = load_folder_with(&home, Some(Duration::ZERO), FAILING_COMPILER);
    assert_eq!(count_refused(&first, POSTPONED), SLOW_COMPONENTS, "{:?}", first.refused);
    let second = load_folder_with(&home, Some(Duration::from_secs(3_600)), FAILING_COMPILER);
    assert_eq!(first.refused, second.refused);
}

#[test]
fn a_postponed_component_is_compiled_by_a_start_without_a_limit() {
    let home = home_with_slow_components();
    load_folder_with(&home, Some(Duration::ZERO), FAILING_COMPILER);
    // The compiler is killed, which shows that it was started.
    let loaded = load_folder_with(&home, None, LIMITED_COMPILER);
    assert_eq!(
        count_refused(&loaded, "of processor time to compile"),
        SLOW_COMPONENTS,
        "{:?}",
        loaded.refused
    );
    assert_eq!(count_cached_files(&home, "refused"), SLOW_COMPONENTS);
}

#[test]
fn a_postponed_component_is_loaded_by_every_start_after_it_was_compiled() {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    // The component is postponed by the first start, compiled by the second, which has no limit, and then in the cache.
    let starts = [(Some(Duration::ZERO), 0), (None, 1), (Some(Duration::ZERO), 1)];
    for (compile_time, loaded_tools) in starts {
        assert_eq!(
            load_folder_with(&home, compile_time, ART_COMPILER).plugins.len(),
            loaded_tools
        );
    }
}

#[test]
fn a_component_whose_compiler_waits_longer_than_the_limit_is_not_postponed() {
    let home = Home::empty();
    fs::create_dir(home.dir.path().join("cache")).unwrap();
    fs::write(home.plugins().join("handmade.wasm"), Handmade::default().build()).unwrap();
    // The limit is one of processor time, and waiting takes none.
    let loaded = load_folder_with(&home, Some(Duration::from_secs(1)), DELAYED_COMPILER);
    assert_eq!(loaded.plugins.len(), 1, "{:?}", loaded.refused);
}

/// With `--retry`, a start also compiles the components that an earlier start postponed.
#[test]
fn tool_list_accepts_the_option_retry() {
    let home = Home::with_empty_cache();
    let ran = home.art(&["tool", "list", "--retry"]);
    assert!(ran.stdout().contains("\ncalculator"), "{ran}");
}

/// Creates a sparse file of `mib` MiB, which takes no space on the disk.
fn create_sparse(path: &Path, mib: u64) {
    File::create(path).unwrap().set_len(mib << 20).unwrap();
}

#[test]
fn the_largest_files_of_a_folder_over_the_limit_are_not_read() {
    let home = Home::with_empty_cache();
    // 20 files of 30 MiB: a start reads up to 512 MiB, so it leaves out three of them.
    for n in 0..20 {
        create_sparse(&home.plugins().join(format!("a_{n:02}.wasm")), 30);
    }
    let ran = home.art(&["tool", "list"]);
    let reason = "is not read: with the smaller files the folder has more than 512 MiB";
    assert_eq!(ran.stdout().matches(reason).count(), 3, "{ran}");
    assert!(ran.stdout().contains("a_19.wasm: is not read"), "{ran}");
    assert!(ran.stdout().contains("\ncalculator"), "{ran}");
}
