//! Replays every run that a test has made in its home. The journal of a run contains the limits and the granted interfaces of
//! each call, so the components are loaded without the settings of the home.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use art_runtime::Recording;
use art_sandbox::Plugin;
use art_store::{RunFilter, SqliteStore, Store};

use crate::harness::sandbox;

/// Verifies the journal of every run of a home, and replays it with the components in the plugins folder. Asserts that no replay
/// differs.
pub(crate) fn assert_replays_are_identical(home: &Path) {
    let database = home.join("state/art.db");
    if !database.exists() {
        return;
    }
    // The replay has its own thread, because the test may run inside of an async runtime.
    let replayed = thread::scope(|scope| scope.spawn(|| replay_all(home, &database)).join());
    if let Err(panic) = replayed {
        std::panic::resume_unwind(panic);
    }
}

fn replay_all(home: &Path, database: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let store = SqliteStore::open_read_only(database).unwrap();
        for run in store.list_runs(RunFilter::default()).await.unwrap() {
            let id = run.trace_id;
            // This also verifies the journal.
            let recording = Recording::read(&store, &id).await;
            let recording = recording.unwrap_or_else(|error| panic!("run {id} cannot be read: {error}"));
            let component_digests = recording.component_digests().unwrap();
            let replay = recording
                .replay(&load_components(home, &component_digests))
                .await
                .unwrap();
            assert!(
                replay.is_identical(),
                "the replay of run {id} differs: {:?}",
                replay.difference
            );
        }
    });
}

/// Loads the components with these digests that are in the plugins folder of a home.
fn load_components(home: &Path, digests: &[String]) -> Vec<Arc<Plugin>> {
    let mut plugins = Vec::new();
    let files = fs::read_dir(home.join("plugins")).into_iter().flatten().flatten();
    for path in files.map(|file| file.path()).filter(|path| path.is_file()) {
        let Ok(wasm) = fs::read(&path) else { continue };
        let digest = art_store::digest(&wasm);
        // Digests in a journal have no prefix `blake3:`.
        if digests.iter().any(|wanted| digest.ends_with(wanted.as_str())) {
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap();
            plugins.push(Arc::new(sandbox().load(name, &wasm).unwrap()));
        }
    }
    plugins
}
