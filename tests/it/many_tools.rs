//! Folders with very many tools: a start of the host reads only the files that have changed, and the first call of a tool
//! fails if its file has changed since the start.
//!
//! For that, the cache has a catalogue: the schemas and digests of the components of a folder, each with the size and the times
//! that its file had.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_runtime::plugins::{LoadedFolder, load_folder};
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_tools::executor::ToolExecutor;
use serde_json::json;
use tempfile::TempDir;

use crate::handmade::Handmade;
use crate::harness::call;

/// Time that a test waits after it has written files, so that the next start takes them into the catalogue. The host takes a file
/// only if its last change was more than two seconds ago: then a further change is certain to change the times of the file.
const SETTLING_TIME: Duration = Duration::from_secs(4);
const MIB: u64 = 1 << 20;
/// The description of a handmade tool.
const DESCRIPTION: &str = "By hand.";
/// A description of the same length.
const OTHER_DESCRIPTION: &str = "By fool.";

/// A folder of tools and a cache.
struct Scene {
    folder: TempDir,
    cache: TempDir,
}

impl Scene {
    fn new() -> Self {
        let (folder, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        Self { folder, cache }
    }

    /// Adds a tool with this name, which has eight characters.
    fn add(&self, name: &str) {
        fs::write(self.component_file(name), component_named(name)).unwrap();
    }

    fn component_file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.wasm"))
    }

    /// Loads the folder in the same way as the host does when it starts.
    fn start(&self) -> LoadedFolder {
        load_folder(&sandbox(&self.cache.path().join("code")), self.folder.path(), &|_| {}).unwrap()
    }

    /// Waits for [`SETTLING_TIME`], and loads the folder, which writes a catalogue with all its files.
    fn write_catalogue(&self) {
        std::thread::sleep(SETTLING_TIME);
        assert_eq!(self.start().refused, []);
    }

    fn catalogue_file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.cache.path().join("code")).unwrap();
        let is_catalog = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "catalog");
        files
            .find_map(|file| Some(file.unwrap().path()).filter(is_catalog))
            .unwrap()
    }
}

fn sandbox(cache: &Path) -> Sandbox {
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        cache: Some(cache.to_owned()),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).unwrap()
}

/// Returns a component with this name, of eight characters. Its schema is in a custom section at its end, so that the host need
/// not compile the component to get it.
fn component_named(name: &str) -> Vec<u8> {
    static WITH_SCHEMA: OnceLock<Vec<u8>> = OnceLock::new();
    let with_schema = WITH_SCHEMA.get_or_init(|| {
        let cache = TempDir::new().unwrap();
        sandbox(&cache.path().join("code"))
            .with_schema(&Handmade::default().build())
            .unwrap()
    });
    replace_text(with_schema, "handmade", name)
}

/// Returns the bytes with every occurrence of `old` replaced by `new`, which has the same length.
fn replace_text(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(old.as_bytes()) {
            bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
        }
    }
    bytes
}

/// Calls a tool, and returns how the call ended.
async fn ending(plugin: &Plugin) -> Ending {
    call(plugin, json!({}), Limits::EXECUTE).await.ending
}

#[tokio::test]
async fn ten_thousand_tools_are_offered_and_only_the_called_one_is_compiled() {
    let scene = Scene::new();
    (0..10_000).for_each(|n| scene.add(&format!("tool{n:04}")));
    scene.write_catalogue();
    let loaded = scene.start();
    assert_eq!((loaded.plugins.len(), loaded.refused.len()), (10_000, 0));
    let plugin = loaded
        .plugins
        .iter()
        .find(|plugin| plugin.name() == "tool7777")
        .unwrap();
    assert_eq!(plugin.schema().name, "tool7777");
    assert_eq!(ending(plugin).await.name(), "success");
    let code = fs::read_dir(scene.cache.path().join("code")).unwrap();
    let compiled = code.filter(|file| {
        file.as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|ending| ending == "cwasm")
    });
    assert_eq!(compiled.count(), 1);
}

#[test]
fn files_beyond_the_bytes_that_one_start_reads_are_read_by_the_next_start() {
    let scene = Scene::new();
    for n in 0..20 {
        let name = format!("large{n:03}");
        // All files together exceed the 512 MiB that one start reads. Each has a sparse custom section of zeros between the
        // component and its schema, which takes no space on the disk.
        let wasm = component_named(&name);
        let schema_offset = Handmade::default().build().len();
        let file = File::create(scene.component_file(&name)).unwrap();
        write_padded(&file, &wasm, schema_offset, 30 * MIB);
    }
    std::thread::sleep(SETTLING_TIME);
    let first = scene.start();
    assert!(
        !first.refused.is_empty() && first.plugins.len() > 10,
        "{:?}",
        first.refused
    );
    assert_eq!(scene.start().refused, []);
}

/// Writes a component with a custom section of about `zeros` zeros inserted at the offset `at`.
fn write_padded(file: &File, wasm: &[u8], at: usize, zeros: u64) {
    use std::os::unix::fs::FileExt;
    let size = u32::try_from(zeros).unwrap();
    let leb128 = [0, 7, 14, 21].map(|shift| (size >> shift) as u8 & 0x7f | if shift < 21 { 0x80 } else { 0 });
    let head = [&[0][..], &leb128, &[1, b'x']].concat();
    file.write_all_at(&wasm[..at], 0).unwrap();
    file.write_all_at(&head, at as u64).unwrap();
    // The content of the section is `zeros` bytes long. Before it come the number of the section (one byte) and its size (four).
    let end = at as u64 + 5 + zeros;
    file.write_all_at(&wasm[at..], end).unwrap();
}

#[tokio::test]
async fn a_tool_whose_file_is_replaced_after_the_start_is_not_run() {
    let scene = Scene::new();
    scene.add("replaced");
    scene.add("the_same");
    scene.write_catalogue();
    let loaded = scene.start();
    fs::write(
        scene.component_file("replaced"),
        replace_text(&component_named("replaced"), DESCRIPTION, OTHER_DESCRIPTION),
    )
    .unwrap();
    let [replaced, unchanged] = &loaded.plugins[..] else {
        panic!("{loaded:?}")
    };
    match ending(replaced).await {
        Ending::HostError { message } => assert!(message.contains("was replaced"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(ending(unchanged).await.name(), "success");
}

#[test]
fn a_changed_file_is_read_again_even_if_its_size_and_modification_time_are_the_same() {
    let scene = Scene::new();
    scene.add("replaced");
    scene.write_catalogue();
    let modified = fs::metadata(scene.component_file("replaced"))
        .unwrap()
        .modified()
        .unwrap();
    fs::write(
        scene.component_file("replaced"),
        replace_text(&component_named("replaced"), DESCRIPTION, OTHER_DESCRIPTION),
    )
    .unwrap();
    File::options()
        .write(true)
        .open(scene.component_file("replaced"))
        .unwrap()
        .set_modified(modified)
        .unwrap();
    assert_eq!(scene.start().plugins[0].schema().description, OTHER_DESCRIPTION);
}

#[test]
fn a_modified_catalogue_is_not_used() {
    let scene = Scene::new();
    scene.add("the_same");
    scene.write_catalogue();
    let forged = replace_text(
        &fs::read(scene.catalogue_file()).unwrap(),
        DESCRIPTION,
        OTHER_DESCRIPTION,
    );
    fs::write(scene.catalogue_file(), forged).unwrap();
    assert_eq!(scene.start().plugins[0].schema().description, DESCRIPTION);
}
