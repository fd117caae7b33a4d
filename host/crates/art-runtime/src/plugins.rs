//! Loads the components of a folder in parallel. A bad file does not keep the others from loading. Components that have
//! to be compiled come last, because that takes much longer. Small files come first, so that a large one cannot use up
//! their time or memory.

use std::collections::HashSet;
use std::fmt;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use art_files::{NotRegular, open_entry};
use art_sandbox::{ComponentSource, LoadError, MAX_COMPONENT_BYTES, Plugin, Sandbox};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;

use crate::error::in_one_line;

/// The components of a folder.
#[derive(Debug, Default)]
pub struct LoadedFolder {
    /// The loaded components, by file name.
    pub plugins: Vec<Arc<Plugin>>,
    /// The refused files, by file name.
    pub refused: Vec<RefusedFile>,
}

/// A file that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedFile {
    /// Name of the file.
    pub file: String,
    /// The reason, and what to do.
    pub reason: String,
}

/// Writes one line, whatever the name of the file.
impl fmt::Display for RefusedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{}: {}", self.file, self.reason).replace(['\n', '\r', '\t'], " ");
        f.write_str(&art_core::text::printable(&line))
    }
}

/// How many of the components that have to be compiled are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileCount {
    /// Components that were compiled or refused.
    pub done: usize,
    /// All components to compile.
    pub total: usize,
}

/// Progress of compiling components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileProgress<'a> {
    /// Reported before the first component and after each one.
    Count(CompileCount),
    /// A component takes long. Reported once for each, with the name of its file.
    Slow(&'a str),
}

/// Callback for the progress of compiling. It is not called if there is nothing to compile.
pub type OnCompiled<'a> = &'a (dyn Fn(CompileProgress<'_>) + Sync);

/// Maximum memory for all components of a folder, in bytes: enough for some thousand ordinary tools.
const MAX_FOLDER_MEMORY: u64 = 256 << 20;
/// Maximum total size of the files of a folder that are read, in bytes. Reading them takes about a second.
const MAX_FOLDER_BYTES: u64 = 512 << 20;
/// The minimum share of a component is the time for compiling divided by this number.
const MIN_SHARE_DIVISOR: u32 = 12;
/// Time after which a component that is still being compiled is reported by name.
const SLOW_AFTER: Duration = Duration::from_secs(2);

/// Loads every `.wasm` file of `folder`. A folder that does not exist counts as empty.
///
/// # Errors
/// Fails if the folder exists but cannot be read.
pub fn load_folder(sandbox: &Sandbox, folder: &Path, on_compiled: OnCompiled<'_>) -> std::io::Result<LoadedFolder> {
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(LoadedFolder::default()),
        Err(error) => return Err(error),
    };
    let (files, refused) = component_files(&dir, MAX_FOLDER_BYTES)?;
    let dir = Arc::new(dir);
    let (mut results, mut to_compile) = (Vec::new(), Vec::new());
    let load_cached =
        |name: &str, wasm: &[u8], source: &ComponentSource| sandbox.load_without_compiling(name, wasm, source);
    for (file, loaded) in in_parallel(&files, |file| load_file(&dir, file, load_cached)) {
        match loaded.transpose() {
            Some(loaded) => results.push((file, loaded)),
            None => to_compile.push(file),
        }
    }
    to_compile.sort();
    results.extend(compile(sandbox, &dir, &to_compile, on_compiled));
    Ok(apply_memory_limit(results, refused))
}

/// The result of loading one file.
pub(crate) enum LoadedFile {
    /// There is no such file.
    Missing,
    /// It is refused, for this reason.
    Refused(String),
    /// It is a component.
    Loaded(Box<Plugin>),
}

/// Loads the component `name` of a folder, without its grants. Compiles it if necessary.
pub(crate) fn load_one(sandbox: &Sandbox, folder: &Path, name: &str) -> LoadedFile {
    let file = ComponentFile {
        bytes: 0,
        name: format!("{name}.wasm"),
    };
    if !folder.join(&file.name).exists() {
        return LoadedFile::Missing;
    }
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => Arc::new(dir),
        Err(error) => return LoadedFile::Refused(format!("the folder could not be read: {error}")),
    };
    let load =
        |name: &str, wasm: &[u8], source: &ComponentSource| match sandbox.load_without_compiling(name, wasm, source)? {
            Some(plugin) => Ok(plugin),
            None => sandbox.compile_and_load(name, wasm, source, None),
        };
    match load_file(&dir, &file, load) {
        Ok(plugin) => LoadedFile::Loaded(Box::new(plugin)),
        Err(reason) => LoadedFile::Refused(reason),
    }
}

/// Reads the file of a loaded component again.
///
/// # Errors
/// Fails if the file cannot be read or has changed since the component was loaded.
pub fn read_component(folder: &Path, plugin: &Plugin) -> Result<Vec<u8>, String> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())
        .map_err(|error| format!("`{}` could not be read: {error}", folder.display()))?;
    let file = format!("{}.wasm", plugin.name());
    let wasm = read(&dir, &file).map_err(|reason| format!("`{file}` {reason}"))?;
    if component_digest(&wasm) == plugin.digest() {
        Ok(wasm)
    } else {
        Err(format!("`{file}` was replaced while it was in use; try again"))
    }
}

/// Returns the digest of a component, as [`Plugin::digest`] does.
pub(crate) fn component_digest(wasm: &[u8]) -> String {
    art_store::digest(wasm).trim_start_matches("blake3:").to_owned()
}

/// A component file of the folder. Smaller files sort first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ComponentFile {
    bytes: u64,
    name: String,
}

/// The loaded component of each file, or the reason why the file was refused.
type Results<T> = Vec<(ComponentFile, Result<T, String>)>;

/// Divides the processor time for compiling at a start among the components, so that a slow one cannot use up the time of the
/// others.
struct Shares {
    /// Minimum share of a component.
    min: Duration,
    remaining: Mutex<Remaining>,
}

/// The time that no component has taken yet.
struct Remaining {
    time: Duration,
    /// Number of components whose compilation has not started.
    waiting: u32,
}

impl Shares {
    /// Creates the shares of `components`, which have `time` on every processor.
    fn new(time: Duration, components: usize) -> Self {
        let remaining = Remaining {
            time: time * u32::try_from(parallelism()).unwrap_or(1),
            waiting: u32::try_from(components).unwrap_or(u32::MAX),
        };
        Self {
            min: time / MIN_SHARE_DIVISOR,
            remaining: Mutex::new(remaining),
        }
    }

    /// Takes the share of the next component.
    fn take(&self) -> Duration {
        let mut remaining = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (remaining.time / remaining.waiting.max(1))
            .max(self.min)
            .min(remaining.time);
        remaining.waiting = remaining.waiting.saturating_sub(1);
        remaining.time -= share;
        share
    }

    /// Returns the unused time of a component to the others.
    fn give_back(&self, unused: Duration) {
        self.remaining.lock().unwrap_or_else(PoisonError::into_inner).time += unused;
    }
}

/// Returns the number of components that are loaded at once.
fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Loads the components that have to be compiled.
fn compile(sandbox: &Sandbox, dir: &Arc<Dir>, files: &[ComponentFile], on_compiled: OnCompiled<'_>) -> Results<Plugin> {
    if files.is_empty() {
        return Vec::new();
    }
    let progress = |done| {
        CompileProgress::Count(CompileCount {
            done,
            total: files.len(),
        })
    };
    on_compiled(progress(0));
    let compiled_files = Mutex::new(0);
    let shares = sandbox.compile_time().map(|time| Shares::new(time, files.len()));
    in_parallel(files, |file| {
        let (share, started) = (shares.as_ref().map(Shares::take), Instant::now());
        let loaded = report_if_slow(&file.name, on_compiled, || {
            load_file(dir, file, |name, wasm, source| {
                sandbox.compile_and_load(name, wasm, source, share)
            })
        });
        if let (Some(shares), Some(share)) = (&shares, share) {
            // Elapsed time approximates processor time, since each processor compiles one component.
            shares.give_back(share.saturating_sub(started.elapsed()));
        }
        // Hold the lock during the callback, so that the numbers are reported in order.
        let mut compiled_files = compiled_files.lock().unwrap_or_else(PoisonError::into_inner);
        *compiled_files += 1;
        on_compiled(progress(*compiled_files));
        loaded
    })
}

/// Returns the result of `work` for a file, and reports the name of the file if `work` takes long.
fn report_if_slow<T>(file: &str, on_compiled: OnCompiled<'_>, work: impl FnOnce() -> T) -> T {
    let (sender, receiver) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if receiver.recv_timeout(SLOW_AFTER) == Err(RecvTimeoutError::Timeout) {
                on_compiled(CompileProgress::Slow(file));
            }
        });
        let result = work();
        drop(sender);
        result
    })
}

/// Returns the result of `load` for each file, in any order. A panic of `load` is an error.
fn in_parallel<T: Send>(
    files: &[ComponentFile],
    load: impl Fn(&ComponentFile) -> Result<T, String> + Sync,
) -> Results<T> {
    let results = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let loaded = catch_unwind(AssertUnwindSafe(|| load(file)));
            let loaded = loaded.unwrap_or_else(|_panic| Err("the host panicked while it was loaded".to_owned()));
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((file.clone(), loaded));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..parallelism().min(files.len()) {
            scope.spawn(work);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses components that exceed the memory limit together. Sorts the others by file name, so that of two tools with the same
/// name always the same one is used.
fn apply_memory_limit(mut results: Results<Plugin>, refused: Vec<RefusedFile>) -> LoadedFolder {
    results.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let plugins = Vec::new();
    let mut loaded = LoadedFolder { plugins, refused };
    let footprint = |result: &Result<Plugin, String>| {
        let plugin = result.as_ref().ok()?;
        Some(Footprint {
            bytes: plugin.inspection().host_bytes,
            digest: plugin.digest(),
        })
    };
    let footprints: Vec<_> = results.iter().map(|(_, result)| footprint(result)).collect();
    for ((file, result), fits) in results.into_iter().zip(fit_in_memory(&footprints, MAX_FOLDER_MEMORY)) {
        let too_large = || {
            let mib = MAX_FOLDER_MEMORY >> 20;
            format!(
                "with the lighter tools it would take more than {mib} MiB of the host's memory (hint: move some away)"
            )
        };
        match result.and_then(|plugin| if fits { Ok(plugin) } else { Err(too_large()) }) {
            Ok(plugin) => loaded.plugins.push(Arc::new(plugin)),
            Err(reason) => loaded.refused.push(RefusedFile {
                file: file.name,
                reason,
            }),
        }
    }
    loaded.refused.sort_by(|a, b| a.file.cmp(&b.file));
    loaded
}

/// Memory of the host that a component takes. Smaller footprints sort first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Footprint {
    bytes: u64,
    /// Digest of the component. Identical components share their memory.
    digest: String,
}

/// Returns for each component whether it fits into `max_bytes` of memory together with all smaller ones. Identical components
/// count once, and a file that was refused takes no memory.
fn fit_in_memory(footprints: &[Option<Footprint>], max_bytes: u64) -> Vec<bool> {
    let mut smallest: Vec<_> = footprints.iter().flatten().collect();
    smallest.sort();
    smallest.dedup();
    let (mut total, mut fitting) = (0_u64, HashSet::new());
    for footprint in smallest {
        total = total.saturating_add(footprint.bytes);
        if total <= max_bytes {
            fitting.insert(footprint.digest.as_str());
        }
    }
    let fits = |footprint: &Footprint| fitting.contains(footprint.digest.as_str());
    footprints
        .iter()
        .map(|footprint| footprint.as_ref().is_none_or(fits))
        .collect()
}

/// Returns the `.wasm` files, smallest first, and the refused files: those with an unsuitable name, and those that exceed
/// `max_bytes` together with all smaller files.
fn component_files(dir: &Dir, max_bytes: u64) -> std::io::Result<(Vec<ComponentFile>, Vec<RefusedFile>)> {
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let ending = Path::new(&name).extension().unwrap_or_default();
        if !ending.eq_ignore_ascii_case("wasm") {
            continue;
        }
        let reason = match name.to_str() {
            Some(utf8) if ending == "wasm" => {
                files.push(ComponentFile {
                    // A file that was deleted has size 0 here. Opening it fails later.
                    bytes: entry.metadata().map_or(0, |found| found.len()),
                    name: utf8.to_owned(),
                });
                continue;
            }
            Some(_) => "its name has to end with `.wasm` in lower case; rename it",
            None => "its name is not UTF-8; rename it",
        };
        let file = name.to_string_lossy().into_owned();
        let reason = reason.to_owned();
        refused.push(RefusedFile { file, reason });
    }
    files.sort();
    let mut total = 0_u64;
    let first_unread = files.iter().position(|file| {
        total = total.saturating_add(file.bytes.min(MAX_COMPONENT_BYTES));
        total > max_bytes
    });
    let unread = files.split_off(first_unread.unwrap_or(files.len()));
    refused.extend(unread.into_iter().map(|file| RefusedFile {
        file: file.name,
        reason: format!(
            "is not read: with the smaller files the folder has more than {} MiB (hint: move some away)",
            max_bytes >> 20
        ),
    }));
    Ok((files, refused))
}

fn load_file<T>(
    dir: &Arc<Dir>,
    ComponentFile { name: file, .. }: &ComponentFile,
    load: impl Fn(&str, &[u8], &ComponentSource) -> Result<T, LoadError>,
) -> Result<T, String> {
    let _span = tracing::info_span!("component", file).entered();
    let wasm = read(dir, file)?;
    let name = file.strip_suffix(".wasm").unwrap_or(file);
    load(name, &wasm, &source_of(dir, file)).map_err(|error| in_one_line(&error))
}

/// Returns a function that reads the file again, for a call that compiles it.
fn source_of(dir: &Arc<Dir>, file: &str) -> ComponentSource {
    let (dir, file) = (Arc::clone(dir), file.to_owned());
    Arc::new(move || read(&dir, &file).map_err(std::io::Error::other))
}

/// Reads a regular file of the folder up to the size limit. Refuses links, pipes and devices.
fn read(dir: &Dir, file: &str) -> Result<Vec<u8>, String> {
    let io = |error: std::io::Error| format!("could not be read: {error}");
    let opened = open_entry(dir, file).map_err(|error| {
        if NotRegular::is_cause_of(&error) {
            return NotRegular.to_string();
        }
        io(error)
    })?;
    let length = opened.metadata().map_err(io)?.len();
    if length > MAX_COMPONENT_BYTES {
        return Err(format!(
            "the file has {length} bytes, more than the {MAX_COMPONENT_BYTES} allowed"
        ));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_file_with_an_unsuitable_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"a.wasm"[..], b"B.WASM", b"c\xff.wasm", b"README.md"] {
            std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let (files, mut refused) = component_files(&dir, MAX_FOLDER_BYTES).unwrap();
        refused.sort_by(|a, b| a.file.cmp(&b.file));
        assert_eq!(
            files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["a.wasm"]
        );
        assert_eq!(
            refused.iter().map(|refused| refused.file.as_str()).collect::<Vec<_>>(),
            ["B.WASM", "c\u{fffd}.wasm"]
        );
    }

    #[test]
    fn the_smallest_files_are_read_and_the_others_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.wasm", 700), ("b.wasm", 300), ("c.wasm", 200), ("d.wasm", 400)] {
            std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let names = |max_bytes| {
            let (files, refused) = component_files(&dir, max_bytes).unwrap();
            let files: Vec<_> = files.into_iter().map(|file| file.name).collect();
            let refused: Vec<_> = refused.into_iter().map(|refused| refused.file).collect();
            (files.join(" "), refused.join(" "))
        };
        assert_eq!(names(900), ("c.wasm b.wasm d.wasm".to_owned(), "a.wasm".to_owned()));
        assert_eq!(names(899), ("c.wasm b.wasm".to_owned(), "d.wasm a.wasm".to_owned()));
    }

    #[test]
    fn each_component_gets_a_fair_share_of_the_remaining_time() {
        let share = |components| Shares::new(Duration::from_secs(60), components).take();
        let processors = u32::try_from(parallelism()).unwrap();
        assert_eq!(share(6), Duration::from_secs(10) * processors);
        assert_eq!(share(10_000), Duration::from_secs(5));
        assert_eq!(share(1), Duration::from_secs(60) * processors);
        assert_eq!(Shares::new(Duration::ZERO, 1).take(), Duration::ZERO);
    }

    #[test]
    fn unused_time_of_a_component_is_given_to_the_others() {
        let shares = Shares::new(Duration::from_secs(60), 2);
        let first = shares.take();
        shares.give_back(first);
        assert_eq!(shares.take(), first * 2);
    }

    #[test]
    fn the_smallest_components_fit_and_identical_ones_count_once() {
        let footprint = |digest: &str, bytes| {
            let digest = digest.to_owned();
            Some(Footprint { bytes, digest })
        };
        let footprints = [
            footprint("large", 60),
            footprint("small", 10),
            None,
            footprint("middle", 40),
            footprint("middle", 40),
        ];
        assert_eq!(fit_in_memory(&footprints, 50), [false, true, true, true, true]);
        assert_eq!(fit_in_memory(&footprints, 110), [true; 5]);
        assert_eq!(fit_in_memory(&footprints, 9), [false, false, true, false, false]);
    }

    #[test]
    fn a_refused_file_is_reported_in_one_line() {
        let refused = RefusedFile {
            file: "a\nb\u{1b}[2J.wasm".to_owned(),
            reason: "empty".to_owned(),
        };
        assert_eq!(refused.to_string(), "a b\\u{1b}[2J.wasm: empty");
    }
}
