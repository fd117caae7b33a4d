//! Loads the components of a folder in parallel. A bad file does not keep the others from loading. Components that have to be
//! compiled come last, because compiling takes much longer than loading. Both among these and among the others, small files come
//! before large ones, so that a large file cannot use up the time or memory of the rest.
//!
//! The *catalogue* of a folder has what an earlier start learned from its files. A file with the same *stamp* (size, times,
//! inode) as then is *listed*: it is loaded from the catalogue, without being read. The other files are read. Of these, only a
//! component whose schema is neither in its file nor in the cache of the sandbox is compiled.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use art_core::capability::{BaseDirs, ToolPolicy};
use art_core::text::quote_for_shell;
use art_files::{NotRegular, open_entry, read_text, replaceable_by_others, writable_by_others};
use art_sandbox::{
    Catalog, ComponentSource, FileStamp, ListedComponent, LoadError, MAX_COMPONENT_BYTES, Plugin, Sandbox,
};
use art_tools::ToolExecutor;
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
    /// The files that look like grants, by file name.
    pub unread: Vec<UnreadGrants>,
}

/// A file that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedFile {
    /// Name of the file.
    pub file: String,
    /// The reason, and what to do.
    pub reason: String,
}

/// Writes one line, whatever characters the name of the file has.
impl fmt::Display for RefusedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{}: {}", self.file, self.reason).replace(['\n', '\r', '\t'], " ");
        f.write_str(&art_core::text::printable(&line))
    }
}

/// A file `NAME.toml` beside a component `NAME.wasm`. It is not read as grants of the component: a folder brings code and no
/// authority. It is read only to name the commands that would make the grants that it lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadGrants {
    /// Name of the file.
    pub file: String,
    /// The commands, at most eight.
    pub commands: Vec<String>,
    /// Number of grants in the file for which there is no command in `commands`.
    pub more: usize,
}

/// Writes one line, whatever the file contains.
impl fmt::Display for UnreadGrants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match (self.commands.is_empty(), self.more) {
            (true, _) => "`art grant add --help` shows how to grant something".to_owned(),
            (false, 0) => format!("what it lists can be granted with `{}`", self.commands.join("`, `")),
            (false, more) => format!(
                "what it lists can be granted with `{}`; {more} more are not shown",
                self.commands.join("`, `")
            ),
        };
        let line = format!(
            "`{}` is not read: grants are kept in the home (hint: {hint})",
            self.file
        );
        f.write_str(&art_core::text::printable(&line))
    }
}

/// The folder of components can be changed by others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not used, because others could put tools into the plugins folder: {problem} (hint: {hint})")]
struct SharedFolder {
    /// The folder, or a folder above it that others could replace.
    path: String,
    problem: &'static str,
    hint: String,
}

/// Number of components that have to be compiled, and how many of them are done.
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
    /// Compiling a component takes long. Reported once for each such component, with the name of its file.
    Slow(&'a str),
}

/// Callback for the progress of compiling. It is not called if there is nothing to compile.
pub type OnCompileProgress<'a> = &'a (dyn Fn(CompileProgress<'_>) + Sync);

/// Maximum total size of the files of a folder that a start reads, in bytes. Reading them takes about a second. Files that have
/// not changed since an earlier start are not read again and do not count.
const MAX_FOLDER_BYTES: u64 = 512 << 20;
/// The minimum share of a component is the time for compiling that each processor has, divided by this number.
const MIN_SHARE_DIVISOR: u32 = 12;
/// Maximum size of a file `NAME.toml` whose grants are named, in bytes.
const MAX_UNREAD_BYTES: u64 = 64 << 10;
/// Maximum number of commands that are named for such a file.
const MAX_UNREAD_COMMANDS: usize = 8;
/// Time after which a component that is still being compiled is reported by name.
const SLOW_AFTER: Duration = Duration::from_secs(2);

/// Loads every `.wasm` file of `folder`. A folder that does not exist counts as empty.
///
/// # Errors
/// Fails if the folder exists but cannot be read, or if others can change it.
pub fn load_folder(
    sandbox: &Sandbox,
    folder: &Path,
    on_compile_progress: OnCompileProgress<'_>,
) -> std::io::Result<LoadedFolder> {
    let dir = match open_folder(folder) {
        Ok(dir) => dir,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(LoadedFolder::default()),
        Err(error) => return Err(error),
    };
    let FolderEntries {
        files,
        mut refused,
        grants,
    } = FolderEntries::read(&dir, folder)?;
    let (dir, catalog) = (Arc::new(dir), sandbox.catalog(folder));
    let (listed, mut unlisted): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|file| file.catalog_entry(&catalog).is_some());
    refused.extend(limit_bytes(&mut unlisted, MAX_FOLDER_BYTES));
    let mut results = load_in_parallel(&listed, |file| load_listed(sandbox, &dir, file, &catalog));
    let mut to_compile = Vec::new();
    let load_from_cache =
        |name: &str, wasm: &[u8], source: &ComponentSource| sandbox.load_without_compiling(name, wasm, source);
    for (file, loaded) in load_in_parallel(&unlisted, |file| load_file(&dir, file, load_from_cache)) {
        match loaded.transpose() {
            Some(loaded) => results.push((file, loaded)),
            None => to_compile.push(file),
        }
    }
    to_compile.sort();
    results.extend(compile(sandbox, &dir, &to_compile, on_compile_progress));
    let is_new = |(file, result): &(ComponentFile, Result<Plugin, String>)| {
        result.is_ok() && file.stamp.is_some() && file.catalog_entry(&catalog).is_none()
    };
    // The catalogue may have entries for files that were removed or changed.
    let has_surplus_entry = listed.len() < catalog.len();
    if results.iter().any(is_new) || has_surplus_entry {
        store_catalog(sandbox, folder, &results);
    }
    let mut loaded = sort_results(results, refused);
    loaded.unread = unread_grants(&dir, &loaded.plugins, &grants);
    Ok(loaded)
}

/// Opens a folder of components.
///
/// # Errors
/// Fails if the folder cannot be opened, or if others can change it: they could put tools into it.
fn open_folder(folder: &Path) -> std::io::Result<Dir> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let found = match writable_by_others(&dir.try_clone()?.into_std_file().metadata()?) {
        Some(problem) => Some((folder.to_owned(), problem)),
        None => replaceable_by_others(folder)?,
    };
    let Some((path, problem)) = found else { return Ok(dir) };
    let quoted = quote_for_shell(&path.to_string_lossy());
    Err(std::io::Error::other(SharedFolder {
        path: path.display().to_string(),
        problem,
        hint: match path.metadata()?.uid() == rustix::process::geteuid().as_raw() {
            true => format!("`chmod go-w {quoted}`"),
            false => "copy the components that you trust into a folder of yours".to_owned(),
        },
    }))
}

/// Returns the files `NAME.toml` beside components. `names` are the names of all such files without the extension.
fn unread_grants(dir: &Dir, plugins: &[Arc<Plugin>], names: &BTreeSet<String>) -> Vec<UnreadGrants> {
    let beside = plugins.iter().filter(|plugin| names.contains(plugin.name()));
    let unread = beside.map(|plugin| {
        let file = format!("{}.toml", plugin.name());
        let text = open_entry(dir, &file).and_then(|file| read_text(file, MAX_UNREAD_BYTES));
        let policy: Option<ToolPolicy> = text.ok().and_then(|text| toml::from_str(&text).ok());
        let entries = policy.unwrap_or_default().entries();
        let can_be_granted = |entry: &&ToolPolicy| may_be_granted(plugin, entry);
        let commands = entries.iter().filter(can_be_granted);
        let commands = commands.flat_map(|entry| entry.commands(&plugin.schema().name));
        let commands: Vec<_> = commands.take(MAX_UNREAD_COMMANDS).collect();
        let more = entries.len() - commands.len();
        UnreadGrants { file, commands, more }
    });
    unread.collect()
}

/// Returns whether the component can use a policy alone: whether it asks for what that grants, and for no more than its limits.
fn may_be_granted(plugin: &Plugin, policy: &ToolPolicy) -> bool {
    let policy = ToolPolicy {
        component: plugin.digest(),
        ..policy.clone()
    };
    plugin.without_policy().with_policy(policy, BaseDirs::default()).is_ok()
}

/// Loads a file as the catalogue describes it.
fn load_listed(sandbox: &Sandbox, dir: &Arc<Dir>, file: &ComponentFile, catalog: &Catalog) -> Result<Plugin, String> {
    let entry = file.catalog_entry(catalog).ok_or("is not in the catalogue")?;
    let loaded = sandbox.load_listed(file.stem(), entry, &component_source(dir, &file.name));
    loaded.map_err(|error| in_one_line(&error))
}

/// Stores a catalogue of the loaded components.
fn store_catalog(sandbox: &Sandbox, folder: &Path, results: &Results<Plugin>) {
    let mut catalog = Catalog::default();
    for (file, result) in results {
        if let (Ok(plugin), Some(stamp)) = (result, file.stamp) {
            catalog.add(&file.name, ListedComponent::new(plugin, stamp));
        }
    }
    sandbox.store_catalog(folder, &catalog);
}

/// The result of loading one file.
pub(crate) enum LoadedFile {
    /// There is no such file.
    Missing,
    /// The file is refused, for this reason.
    Refused(String),
    /// The file is a component.
    Loaded(Box<Plugin>),
}

/// Whether a component that is loaded may be compiled, which takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compilation {
    /// It is compiled if necessary.
    Allowed,
    /// A component that has to be compiled counts as missing.
    NotAllowed,
}

/// Loads the component `name` of a folder. The caller has to apply the grants of the component.
pub(crate) fn load_one(sandbox: &Sandbox, folder: &Path, name: &str, compilation: Compilation) -> LoadedFile {
    // The size and the stamp are not used to load a file.
    let file = ComponentFile {
        bytes: 0,
        name: format!("{name}.wasm"),
        stamp: None,
    };
    if !folder.join(&file.name).exists() {
        return LoadedFile::Missing;
    }
    let dir = match open_folder(folder) {
        Ok(dir) => Arc::new(dir),
        Err(error) => return LoadedFile::Refused(format!("the folder could not be read: {error}")),
    };
    let load =
        |name: &str, wasm: &[u8], source: &ComponentSource| match sandbox.load_without_compiling(name, wasm, source)? {
            None if compilation == Compilation::Allowed => sandbox.compile_and_load(name, wasm, source, None).map(Some),
            loaded => Ok(loaded),
        };
    match load_file(&dir, &file, load) {
        Ok(Some(plugin)) => LoadedFile::Loaded(Box::new(plugin)),
        Ok(None) => LoadedFile::Missing,
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

/// A component file of the folder. A smaller file sorts before a larger one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ComponentFile {
    bytes: u64,
    name: String,
    /// Identifies the version of the file; `None` if the file changed so recently that its times may not show the next change.
    stamp: Option<FileStamp>,
}

impl ComponentFile {
    /// Returns the name without the extension.
    fn stem(&self) -> &str {
        self.name.strip_suffix(".wasm").unwrap_or(&self.name)
    }

    /// Returns the entry of the catalogue for this version of the file, or `None` if there is none.
    fn catalog_entry<'a>(&self, catalog: &'a Catalog) -> Option<&'a ListedComponent> {
        catalog.get(&self.name, self.stamp?)
    }
}

/// The loaded component of each file, or the reason why the file was refused.
type Results<T> = Vec<(ComponentFile, Result<T, String>)>;

/// Divides the processor time for compiling at a start among the components, so that a slow one cannot use up the time of the
/// others.
struct TimeShares {
    /// Minimum share of one component.
    min: Duration,
    remaining: Mutex<Remaining>,
}

/// The time that no component has taken yet, and for how many components it has to last.
struct Remaining {
    time: Duration,
    /// Number of components that have not taken their share.
    components: u32,
}

impl TimeShares {
    /// Divides `time` on every processor among this number of components.
    fn new(time: Duration, components: usize) -> Self {
        let remaining = Remaining {
            time: time * u32::try_from(parallelism()).unwrap_or(1),
            components: u32::try_from(components).unwrap_or(u32::MAX),
        };
        Self {
            min: time / MIN_SHARE_DIVISOR,
            remaining: Mutex::new(remaining),
        }
    }

    /// Takes the share of the next component.
    fn take(&self) -> Duration {
        let mut remaining = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (remaining.time / remaining.components.max(1))
            .max(self.min)
            .min(remaining.time);
        remaining.components = remaining.components.saturating_sub(1);
        remaining.time -= share;
        share
    }

    /// Gives the time that a component did not use to the components that have not taken their share.
    fn give_back(&self, unused: Duration) {
        self.remaining.lock().unwrap_or_else(PoisonError::into_inner).time += unused;
    }
}

/// Returns the maximum number of components that are loaded at once.
fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Loads the components that have to be compiled.
fn compile(
    sandbox: &Sandbox,
    dir: &Arc<Dir>,
    files: &[ComponentFile],
    on_compile_progress: OnCompileProgress<'_>,
) -> Results<Plugin> {
    if files.is_empty() {
        return Vec::new();
    }
    let progress = |done| {
        CompileProgress::Count(CompileCount {
            done,
            total: files.len(),
        })
    };
    on_compile_progress(progress(0));
    let done = Mutex::new(0);
    let shares = sandbox.compile_time().map(|time| TimeShares::new(time, files.len()));
    load_in_parallel(files, |file| {
        let (share, started) = (shares.as_ref().map(TimeShares::take), Instant::now());
        let loaded = report_if_slow(&file.name, on_compile_progress, || {
            load_file(dir, file, |name, wasm, source| {
                sandbox.compile_and_load(name, wasm, source, share)
            })
        });
        if let (Some(shares), Some(share)) = (&shares, share) {
            // Elapsed time approximates processor time, since each processor compiles one component.
            shares.give_back(share.saturating_sub(started.elapsed()));
        }
        // Hold the lock during the callback, so that the numbers are reported in order.
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        on_compile_progress(progress(*done));
        loaded
    })
}

/// Returns the result of `work` for a file, and reports the name of the file if `work` takes long.
fn report_if_slow<T>(file: &str, on_compile_progress: OnCompileProgress<'_>, work: impl FnOnce() -> T) -> T {
    let (sender, receiver) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if receiver.recv_timeout(SLOW_AFTER) == Err(RecvTimeoutError::Timeout) {
                on_compile_progress(CompileProgress::Slow(file));
            }
        });
        let result = work();
        drop(sender);
        result
    })
}

/// Returns the result of `load` for each file, in any order. If `load` panics, its file is refused.
fn load_in_parallel<T: Send>(
    files: &[ComponentFile],
    load: impl Fn(&ComponentFile) -> Result<T, String> + Sync,
) -> Results<T> {
    let results = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let loaded = catch_unwind(AssertUnwindSafe(|| load(file)));
            let loaded = loaded.unwrap_or_else(|_panic| Err("the host panicked while it loaded the file".to_owned()));
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

/// Separates the loaded components and the refused files, each sorted by file name. The order is fixed, because it decides which
/// of two tools with the same name is used.
fn sort_results(mut results: Results<Plugin>, refused: Vec<RefusedFile>) -> LoadedFolder {
    results.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let plugins = Vec::new();
    let mut loaded = LoadedFolder {
        plugins,
        refused,
        unread: Vec::new(),
    };
    for (file, result) in results {
        match result {
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

/// What a folder of components contains.
#[derive(Debug, Default)]
struct FolderEntries {
    /// The `.wasm` files, smallest first.
    files: Vec<ComponentFile>,
    /// The files that are refused for their names.
    refused: Vec<RefusedFile>,
    /// The names of the `.toml` files, without the extension.
    grants: BTreeSet<String>,
}

impl FolderEntries {
    fn read(dir: &Dir, folder: &Path) -> std::io::Result<Self> {
        let mut entries = Self::default();
        for entry in dir.entries()? {
            entries.add(&entry?.file_name(), folder);
        }
        entries.files.sort();
        Ok(entries)
    }

    fn add(&mut self, name: &OsStr, folder: &Path) {
        let ending = Path::new(name).extension().unwrap_or_default();
        if ending == "toml" {
            let stem = Path::new(name).file_stem().and_then(OsStr::to_str);
            self.grants.extend(stem.map(str::to_owned));
        }
        if !ending.eq_ignore_ascii_case("wasm") {
            return;
        }
        let reason = match name.to_str() {
            Some(utf8) if ending == "wasm" => {
                // A file that was deleted has size 0 here. Opening it fails later.
                let metadata = std::fs::symlink_metadata(folder.join(utf8)).ok();
                self.files.push(ComponentFile {
                    bytes: metadata.as_ref().map_or(0, std::fs::Metadata::len),
                    name: utf8.to_owned(),
                    // A file that others can write to is not listed, so that it is read, and refused.
                    stamp: metadata
                        .filter(|metadata| writable_by_others(metadata).is_none())
                        .and_then(|metadata| FileStamp::of(&metadata)),
                });
                return;
            }
            Some(_) => "its name has to end with `.wasm` in lower case; rename it",
            None => "its name is not UTF-8; rename it",
        };
        let file = name.to_string_lossy().into_owned();
        let reason = reason.to_owned();
        self.refused.push(RefusedFile { file, reason });
    }
}

/// Removes the largest files, so that the others have at most `max_bytes` together, and returns the removed files as refused.
/// `files` are sorted by size.
fn limit_bytes(files: &mut Vec<ComponentFile>, max_bytes: u64) -> Vec<RefusedFile> {
    let mut total = 0_u64;
    let first_unread = files.iter().position(|file| {
        // A file above the limit for one component counts with this limit, since it will be refused without being read.
        total = total.saturating_add(file.bytes.min(MAX_COMPONENT_BYTES));
        total > max_bytes
    });
    let unread = files.split_off(first_unread.unwrap_or(files.len()));
    let reason = format!(
        "is not read: with the smaller files the folder has more than {} MiB (hint: move some away)",
        max_bytes >> 20
    );
    let refused = unread.into_iter().map(|file| RefusedFile {
        file: file.name,
        reason: reason.clone(),
    });
    refused.collect()
}

/// Reads a file, and returns the result of `load` for its name, its bytes, and a function that reads it again.
fn load_file<T>(
    dir: &Arc<Dir>,
    file: &ComponentFile,
    load: impl Fn(&str, &[u8], &ComponentSource) -> Result<T, LoadError>,
) -> Result<T, String> {
    let _span = tracing::info_span!("component", file = file.name).entered();
    let wasm = read(dir, &file.name)?;
    load(file.stem(), &wasm, &component_source(dir, &file.name)).map_err(|error| in_one_line(&error))
}

/// Returns a function that reads the file again. A call of the tool uses it if the component is not compiled by then.
fn component_source(dir: &Arc<Dir>, file: &str) -> ComponentSource {
    let (dir, file) = (Arc::clone(dir), file.to_owned());
    Arc::new(move || read(&dir, &file).map_err(std::io::Error::other))
}

/// Reads a regular file of the folder. Refuses links, pipes, devices, files that others can write to, and files that are too large.
fn read(dir: &Dir, file: &str) -> Result<Vec<u8>, String> {
    let read_error = |error: std::io::Error| format!("could not be read: {error}");
    let opened = open_entry(dir, file).map_err(|error| {
        if NotRegular::is_cause_of(&error) {
            return NotRegular.to_string();
        }
        read_error(error)
    })?;
    let metadata = opened.metadata().map_err(read_error)?;
    if let Some(problem) = writable_by_others(&metadata) {
        return Err(format!(
            "is not used, because others could change it: {problem} (hint: make it yours, and run `chmod go-w` on it)"
        ));
    }
    let length = metadata.len();
    if length > MAX_COMPONENT_BYTES {
        return Err(format!(
            "the file has {length} bytes, more than the {MAX_COMPONENT_BYTES} allowed"
        ));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_with_an_unsuitable_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"a.wasm"[..], b"B.WASM", b"c\xff.wasm", b"README.md"] {
            std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let FolderEntries { files, mut refused, .. } = FolderEntries::read(&dir, folder.path()).unwrap();
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
    fn the_largest_files_beyond_the_size_limit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.wasm", 700), ("b.wasm", 300), ("c.wasm", 200), ("d.wasm", 400)] {
            std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let remaining_and_refused = |max_bytes| {
            let FolderEntries { mut files, .. } = FolderEntries::read(&dir, folder.path()).unwrap();
            let refused = limit_bytes(&mut files, max_bytes);
            let remaining: Vec<_> = files.into_iter().map(|file| file.name).collect();
            let refused: Vec<_> = refused.into_iter().map(|refused| refused.file).collect();
            (remaining.join(" "), refused.join(" "))
        };
        assert_eq!(
            remaining_and_refused(900),
            ("c.wasm b.wasm d.wasm".to_owned(), "a.wasm".to_owned())
        );
        assert_eq!(
            remaining_and_refused(899),
            ("c.wasm b.wasm".to_owned(), "d.wasm a.wasm".to_owned())
        );
    }

    #[test]
    fn a_share_is_an_equal_part_of_the_time_but_at_least_the_minimum() {
        let time = Duration::from_secs(60);
        let first_share_of = |components| TimeShares::new(time, components).take();
        let processors = u32::try_from(parallelism()).unwrap();
        assert_eq!(first_share_of(1), time * processors);
        assert_eq!(first_share_of(6), time * processors / 6);
        assert_eq!(first_share_of(10_000), time / MIN_SHARE_DIVISOR);
        assert_eq!(TimeShares::new(Duration::ZERO, 1).take(), Duration::ZERO);
    }

    #[test]
    fn unused_time_of_a_component_is_given_to_the_others() {
        let shares = TimeShares::new(Duration::from_secs(60), 2);
        let half = shares.take();
        shares.give_back(half);
        let whole_time = half * 2;
        assert_eq!(shares.take(), whole_time);
    }

    #[test]
    fn a_folder_that_others_can_change_is_not_opened() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("plugins");
        std::fs::create_dir(&folder).unwrap();
        let set_mode =
            |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        set_mode(&folder, 0o755);
        open_folder(&folder).unwrap();
        set_mode(&folder, 0o777);
        let error = open_folder(&folder).unwrap_err().to_string();
        let hint = format!("every user can write to it (hint: `chmod go-w {}`)", folder.display());
        assert!(error.ends_with(&hint), "{error}");
        set_mode(&folder, 0o755);
        // A folder that everybody can write to, such as `/tmp`, does no harm above the folder if it has the sticky bit.
        set_mode(parent.path(), 0o1777);
        open_folder(&folder).unwrap();
        set_mode(parent.path(), 0o777);
        open_folder(&folder).unwrap_err();
    }

    #[test]
    fn a_component_that_others_can_write_to_is_neither_listed_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wasm");
        std::fs::write(&path, "not a component").unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        read(&dir, "a.wasm").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let reason = read(&dir, "a.wasm").unwrap_err();
        assert!(
            reason.contains("others could change it: every user can write to it"),
            "{reason}"
        );
        let entries = FolderEntries::read(&dir, folder.path()).unwrap();
        assert_eq!(entries.files[0].stamp, None);
    }

    #[test]
    fn an_unread_file_of_grants_is_reported_in_one_line() {
        let unread = |commands: &[&str], more| UnreadGrants {
            file: "a\u{1b}[2J.toml".to_owned(),
            commands: commands.iter().map(|&command| command.to_owned()).collect(),
            more,
        };
        assert_eq!(
            unread(&["art grant add a --read /b"], 2).to_string(),
            "`a\\u{1b}[2J.toml` is not read: grants are kept in the home (hint: what it lists can be granted with `art grant add a \
             --read /b`; 2 more are not shown)"
        );
        assert!(unread(&[], 0).to_string().contains("`art grant add --help`"));
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
