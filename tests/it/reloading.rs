//! Tools are replaced while the host runs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use art_runtime::Runtime;
use art_runtime::reload::{FolderWatch, Reload};
use serde_json::{Value, json};

use crate::harness::{components, read_component};
use crate::home::Home;

/// A runtime whose plugins folder is watched. At first, the folder has the tool `echo` in the file `tool.wasm`.
struct WatchedRuntime {
    home: Home,
    runtime: Runtime,
    reloads: Receiver<(String, Reload)>,
    _watch: FolderWatch,
}

/// How long a test waits for a change to be noticed and compiled.
const TIMEOUT: Duration = Duration::from_secs(60);

impl WatchedRuntime {
    async fn new() -> Self {
        let home = Home::empty();
        home.add("tool", components::ECHO);
        let runtime = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
        let runtime = runtime.build().await.unwrap();
        let (sender, reloads) = channel();
        let watch = runtime
            .toolbox
            .watch(move |name, reload| drop(sender.send((name.to_owned(), reload.clone()))));
        Self {
            _watch: watch.unwrap().unwrap(),
            home,
            runtime,
            reloads,
        }
    }

    fn component_file(&self) -> PathBuf {
        self.home.plugins().join("tool.wasm")
    }

    /// Waits for the next change of the folder. Returns the name of the changed file without its extension, and what was done
    /// with the file.
    fn next_reload(&self) -> (String, Reload) {
        self.reloads.recv_timeout(TIMEOUT).unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> art_tools::ToolReport {
        self.runtime.toolbox.call(tool, arguments).await
    }

    /// Returns whether the tool `echo` answers.
    async fn echoes(&self) -> bool {
        let report = self.call("echo", json!({"text": "hello"})).await;
        report.result.output.is_some_and(|output| output["text"] == "hello")
    }
}

/// Returns a component with a different digest and the same behaviour.
fn other_build_of(component: &str) -> Vec<u8> {
    let mut wasm = read_component(component);
    // A custom section changes the digest and nothing else.
    wasm.extend([0, 3, 1, b'x', 0]);
    wasm
}

#[tokio::test]
async fn another_build_of_the_same_tool_is_used_at_once() {
    let watched = WatchedRuntime::new().await;
    assert!(watched.echoes().await);
    fs::write(watched.component_file(), other_build_of(components::ECHO)).unwrap();
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
    assert!(watched.echoes().await);
}

#[tokio::test]
async fn the_old_version_answers_while_a_new_one_is_copied_slowly() {
    let watched = WatchedRuntime::new().await;
    let wasm = other_build_of(components::ECHO);
    let mut file = fs::File::create(watched.component_file()).unwrap();
    let started = Instant::now();
    for piece in wasm.chunks(wasm.len() / 20 + 1) {
        file.write_all(piece).unwrap();
        file.sync_all().unwrap();
        assert!(watched.echoes().await, "after {:?}", started.elapsed());
        // This is shorter than the time for which a file has to stay the same before it is loaded.
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
}

#[tokio::test]
async fn a_tool_without_grants_is_replaced_by_another_one_at_once() {
    let watched = WatchedRuntime::new().await;
    fs::copy(components::COUNTER, watched.component_file()).unwrap();
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
    assert_eq!(watched.call("counter", json!({})).await.ending.as_str(), "success");
    assert_eq!(
        watched.call("echo", json!({"text": "hello"})).await.ending.as_str(),
        "not_found"
    );
}

#[tokio::test]
async fn another_tool_under_the_name_of_one_with_grants_is_not_called_before_it_is_approved() {
    let watched = WatchedRuntime::new().await;
    watched.home.store_grants("tool", "[limits]\ntimeout_ms = 5000\n");
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
    fs::copy(components::COUNTER, watched.component_file()).unwrap();
    assert_eq!(
        watched.next_reload(),
        (
            "tool".to_owned(),
            Reload::NeedsApproval {
                tool: "counter".to_owned()
            }
        )
    );
    let report = watched.call("counter", json!({})).await;
    assert_eq!(report.ending.as_str(), "denied", "{report:?}");
    assert_eq!(
        watched.call("echo", json!({"text": "hello"})).await.ending.as_str(),
        "not_found"
    );
    let approved = watched.home.art(&["grant", "approve", "counter", "--yes"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
    assert_eq!(watched.call("counter", json!({})).await.ending.as_str(), "success");
}

#[tokio::test]
async fn the_earlier_version_stays_in_use_if_the_new_file_cannot_be_loaded() {
    let watched = WatchedRuntime::new().await;
    fs::write(watched.component_file(), "no component").unwrap();
    let (_, reload) = watched.next_reload();
    assert!(matches!(reload, Reload::Refused(_)), "{reload:?}");
    assert!(watched.echoes().await);
}

#[tokio::test]
async fn a_tool_whose_file_is_removed_is_gone_until_the_file_is_back() {
    let watched = WatchedRuntime::new().await;
    fs::remove_file(watched.component_file()).unwrap();
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Removed));
    assert_eq!(
        watched.call("echo", json!({"text": "hello"})).await.ending.as_str(),
        "not_found"
    );
    fs::copy(components::ECHO, watched.component_file()).unwrap();
    assert_eq!(watched.next_reload(), ("tool".to_owned(), Reload::Loaded));
    assert!(watched.echoes().await);
}

#[tokio::test]
async fn after_many_quick_replacements_the_last_version_is_used() {
    let watched = WatchedRuntime::new().await;
    let versions = [read_component(components::ECHO), other_build_of(components::ECHO)];
    for round in 0..200 {
        let temporary = watched.home.dir.path().join("next.wasm");
        fs::write(&temporary, &versions[round % 2]).unwrap();
        fs::rename(&temporary, watched.component_file()).unwrap();
        if round % 20 == 0 {
            assert!(watched.echoes().await);
        }
    }
    // The last round has the number 199, which is odd.
    let last = digest_without_prefix(&versions[1]);
    let started = Instant::now();
    while watched.runtime.toolbox.plugins()[0].digest() != last {
        assert!(started.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(watched.echoes().await);
}

fn digest_without_prefix(wasm: &[u8]) -> String {
    art_store::digest(wasm).trim_start_matches("blake3:").to_owned()
}

#[tokio::test]
async fn a_tool_whose_grants_are_repaired_is_offered_again_without_a_watch() {
    let home = Home::empty();
    home.add("tool", components::ECHO);
    home.store_grants("tool", "[limits]\ntimeout_ms = 5000\n");
    let runtime = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
    let runtime = runtime.build().await.unwrap();
    let folder = home.dir.path().join("grants");
    let ending = async || {
        let report = runtime.toolbox.call("echo", json!({"text": "hello"})).await;
        report.ending.as_str().to_owned()
    };
    assert_eq!(ending().await, "success");
    for path in [folder.clone(), home.grants_path("tool").unwrap()] {
        let repaired = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(ending().await, "not_found", "{}", path.display());
        fs::set_permissions(&path, repaired).unwrap();
        assert_eq!(ending().await, "success", "{}", path.display());
    }
}

#[tokio::test]
async fn a_second_component_with_the_name_of_a_tool_does_not_take_its_place_when_grants_change() {
    let home = Home::empty();
    home.add("first", components::ECHO);
    fs::write(home.plugins().join("second.wasm"), other_build_of(components::ECHO)).unwrap();
    let runtime = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
    let runtime = runtime.build().await.unwrap();
    let offered = || {
        let plugins = runtime.toolbox.plugins();
        plugins
            .iter()
            .map(|plugin| plugin.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(offered(), ["first"]);
    let granted = home.art(&["grant", "add", "first", "--limit", "timeout_ms=5000"]);
    assert_eq!(granted.code(), 0, "{granted}");
    let report = runtime.toolbox.call("echo", json!({"text": "hello"})).await;
    assert_eq!(report.ending.as_str(), "success", "{report:?}");
    assert_eq!(offered(), ["first"]);
}
