//! Fuzz test of the loader of components. It gives arbitrary bytes to the loader, but neither compiles nor runs them.

use std::sync::{Arc, LazyLock};

use art_sandbox::{ComponentSource, Sandbox, SandboxConfig, inspect};

/// Maximum memory that the host may take for a loaded component, in addition to its compiled code, in bytes.
const MAX_HOST_BYTES: u64 = 64 << 20;
/// A message of an error is shorter than this, in bytes.
const MAX_MESSAGE_BYTES: usize = 100_000;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("a sandbox can be created")
});

/// Creates the sandbox, so that its memory and its time are not counted for the first input.
pub(crate) fn prepare() {
    LazyLock::force(&SANDBOX);
}

/// Inspects a file, gives it to the loader, and checks both results. The loader returns `None` for a file that it would have to
/// compile.
pub(crate) fn check(bytes: &[u8]) {
    let inspected = inspect(bytes);
    let copy: Arc<[u8]> = bytes.into();
    let source: ComponentSource = Arc::new(move || Ok(copy.to_vec()));
    let loaded = SANDBOX.load_without_compiling("fuzzed", bytes, &source);
    match (&inspected, &loaded) {
        (Err(_), Ok(_)) => panic!("the loader accepts a file that the inspection refuses"),
        (Ok(inspection), Ok(Some(plugin))) => assert_eq!(plugin.inspection(), inspection),
        _ => {}
    }
    if let Ok(inspection) = inspected {
        assert!(inspection.host_bytes <= MAX_HOST_BYTES, "{inspection:?}");
        let is_known = |import: &String| import.starts_with("art:tool/") || import.starts_with("wasi:");
        assert!(inspection.imports.iter().all(is_known), "{inspection:?}");
    }
    for error in [inspect(bytes).err(), loaded.err()].into_iter().flatten() {
        // A message contains names from the file only up to a maximum length.
        assert!(error.to_string().len() < MAX_MESSAGE_BYTES);
    }
}
