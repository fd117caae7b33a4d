//! Replaces tools while the host runs, when files of the plugins folder or the grants of the operator change.
//!
//! A file is loaded once it has stopped changing. Calls in progress keep the version that they began with. If a new version
//! cannot be loaded, the earlier one stays. The grants of a new version, if it has any, are *withheld* if they were made for another
//! version, or if the new version has another *contract* (its schema, its imports, and the capabilities and limits that it requests) than the
//! earlier one. Then the tool is offered, but every call is denied until the operator approves the new version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use art_core::capability::{Denial, ToolPolicy};
use art_sandbox::{Plugin, Sandbox};
use art_tools::{ToolExecutor, ToolRegistry};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::in_one_line;
use crate::grants::{ApprovedComponent, GrantError, GrantFiles, GrantStamps, resolved};
use crate::plugins::{Compilation, LoadedFile, load_one};

/// Time for which a file has to stay the same before it is loaded.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// The size and the modification time of a component file; `None` if it does not exist.
type FileStamp = Option<(u64, SystemTime)>;

/// The result of loading a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reload {
    /// The tool of the file is offered, in its new version if there was an earlier one.
    Loaded,
    /// The grants of the loaded version are withheld, so its tool is not called until the operator approves this version.
    NeedsApproval {
        /// Name of the tool.
        tool: String,
    },
    /// The tool of the file is no longer offered, because the file is gone.
    Removed,
    /// The file cannot be used, for this reason. The earlier version stays, if there is one.
    Refused(String),
    /// Nothing has changed.
    Unchanged,
}

/// Grants of a component that are checked but not written yet.
#[derive(Debug)]
pub(crate) struct ProposedGrants {
    plugin: Arc<Plugin>,
    policy: ToolPolicy,
}

/// Loads single files of a plugins folder into the registry.
#[derive(Debug)]
pub struct Reloader {
    sandbox: Sandbox,
    folder: PathBuf,
    grants: GrantFiles,
    registry: Arc<ToolRegistry>,
    plugins: Arc<RwLock<Vec<Arc<Plugin>>>>,
    /// The files of grants when the tools last got their grants.
    last_grants: Mutex<GrantStamps>,
    /// How often each tool was replaced, for example because its grants have changed, by the names of the tools.
    changes: Mutex<BTreeMap<String, u64>>,
}

impl Reloader {
    /// Creates the reloader of a folder. `last_grants` are the stamps of the files of grants before they were read.
    pub(crate) fn new(
        sandbox: Sandbox,
        folder: &Path,
        (grants, last_grants): (GrantFiles, GrantStamps),
        registry: Arc<ToolRegistry>,
        plugins: Arc<RwLock<Vec<Arc<Plugin>>>>,
    ) -> Self {
        Self {
            sandbox,
            folder: folder.to_owned(),
            grants,
            registry,
            plugins,
            last_grants: Mutex::new(last_grants),
            changes: Mutex::default(),
        }
    }

    /// Returns how often each tool was replaced, for example because its grants have changed, by the names of the tools. Tools
    /// that were never replaced are left out.
    pub(crate) fn changes(&self) -> BTreeMap<String, u64> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the tools the grants that the operator has made or taken back since they got theirs, so that these count for the
    /// next call. Looks at the files only if one of them has changed.
    pub fn refresh_grants(&self) {
        let mut last_grants = self.last_grants.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = self.grants.stamps();
        if *last_grants == stamps {
            return;
        }
        *last_grants = stamps;
        for name in self.names() {
            if self.current_plugin(&name).is_none() {
                // It may have been removed while its grants could not be read. Then it is compiled; a call that comes next does not
                // wait for anything else to be compiled.
                self.reload_with(&name, Compilation::NotAllowed);
            } else if let Reload::Refused(reason) = self.reload_grants(&name) {
                tracing::warn!("`{name}.wasm` is not offered any more: {reason}");
            }
        }
    }

    /// Gives the component `name` the grants that are stored now. A component whose grants cannot be used, or that is in
    /// quarantine, is no longer offered. One that was not offered is loaded again, since its grants may be usable now.
    fn reload_grants(&self, name: &str) -> Reload {
        let Some(earlier) = self.current_plugin(name) else {
            return self.reload(name);
        };
        match self.apply_grants(earlier.without_policy(), Some(&earlier)) {
            Ok(plugin) => self.replace(plugin, Some(&earlier)),
            Err(reason) => {
                self.remove(name);
                Reload::Refused(reason)
            }
        }
    }

    /// Loads the file of the component `name` and its grants again, and replaces the tool. May block for as long as compiling
    /// takes.
    pub fn reload(&self, name: &str) -> Reload {
        self.reload_with(name, Compilation::Allowed)
    }

    fn reload_with(&self, name: &str, compilation: Compilation) -> Reload {
        let earlier = self.current_plugin(name);
        let plugin = match load_one(&self.sandbox, &self.folder, name, compilation) {
            LoadedFile::Missing => return self.remove(name),
            LoadedFile::Refused(reason) => return Reload::Refused(reason),
            LoadedFile::Loaded(plugin) => plugin,
        };
        match self.apply_grants(*plugin, earlier.as_deref()) {
            Ok(plugin) => self.replace(plugin, earlier.as_deref()),
            Err(reason) => Reload::Refused(reason),
        }
    }

    /// Returns the grants of a tool, extended by the smallest grants that allow what the tool was denied, and writes nothing.
    /// Returns `None` if the tool is not a component.
    ///
    /// # Errors
    /// Fails if something may not be granted, or if the present grants were made for another version of the component.
    pub(crate) fn propose_grants(&self, tool: &str, denials: &[Denial]) -> Result<Option<ProposedGrants>, GrantError> {
        let Some(plugin) = self.find_component_of_tool(tool) else {
            return Ok(None);
        };
        let mut policy = self.grants.read(&plugin)?;
        if !policy.is_for(&plugin.digest()) {
            return Err(GrantError::OtherComponent { tool: tool.to_owned() });
        }
        for denial in denials {
            policy.allow(denial, resolved)?;
        }
        policy.component = plugin.digest();
        self.grants.check(&policy)?;
        Ok(Some(ProposedGrants { plugin, policy }))
    }

    /// Adds the smallest grants that allow what a tool was denied, and loads the tool with them. Writes nothing if the tool has
    /// these grants already.
    ///
    /// # Errors
    /// Same as [`propose_grants`](Self::propose_grants). Also fails if the files cannot be written.
    pub(crate) fn grant(&self, tool: &str, denials: &[Denial]) -> Result<(), GrantError> {
        let lock = self.grants.lock()?;
        let Some(ProposedGrants { plugin, policy }) = self.propose_grants(tool, denials)? else {
            return Ok(());
        };
        if self.grants.read(&plugin)? != policy {
            self.grants.write(&lock, &plugin, &policy)?;
        }
        drop(lock);
        self.reload_grants(plugin.name());
        Ok(())
    }

    fn find_component_of_tool(&self, tool: &str) -> Option<Arc<Plugin>> {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        plugins.iter().find(|plugin| plugin.schema().name == tool).cloned()
    }

    /// Gives a new version of a component its grants. Unless the operator has approved this version, they are withheld if the
    /// earlier version has another contract, if the grants of the earlier version are withheld, or if the grants were made for
    /// another version. [`Plugin::with_policy`] checks the last of these. Where neither version has grants, there is nothing to
    /// withhold.
    fn apply_grants(&self, plugin: Plugin, earlier: Option<&Plugin>) -> Result<Plugin, String> {
        let quarantine_check = self.grants.check_quarantine(&plugin.digest());
        let policy = quarantine_check.and_then(|()| self.grants.read(&plugin));
        let policy = policy.map_err(|error| in_one_line(&error))?;
        // The file of grants names the version that the operator has approved.
        let is_approved = policy.component == plugin.digest();
        let has_other_contract = earlier
            .is_some_and(|earlier| !ApprovedComponent::of(earlier).has_same_contract(&ApprovedComponent::of(&plugin)));
        let was_withheld = earlier.is_some_and(has_withheld_grants);
        let has_grants = !policy.is_empty() || earlier.is_some_and(|earlier| !earlier.authority().policy().is_empty());
        let base_dirs = self.grants.base_dirs().clone();
        if (has_grants && has_other_contract || was_withheld) && !is_approved {
            return Ok(plugin.with_withheld_policy(policy, base_dirs));
        }
        let plugin = plugin.with_policy(policy, base_dirs);
        plugin.map_err(|error| in_one_line(&error))
    }

    fn replace(&self, plugin: Plugin, earlier: Option<&Plugin>) -> Reload {
        if earlier.is_some_and(|earlier| is_unchanged(earlier, &plugin)) {
            return Reload::Unchanged;
        }
        let tool = plugin.schema().name.clone();
        let result = match has_withheld_grants(&plugin) {
            true => Reload::NeedsApproval { tool: tool.clone() },
            false => Reload::Loaded,
        };
        let plugin = Arc::new(plugin);
        let renamed_from = earlier.filter(|earlier| earlier.schema().name != plugin.schema().name);
        if let Err(error) = self.registry.replace(Arc::clone(&plugin) as Arc<dyn ToolExecutor>) {
            return Reload::Refused(in_one_line(&error));
        }
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        *changes.entry(tool).or_default() += 1;
        drop(changes);
        if let Some(earlier) = renamed_from {
            self.registry.unregister(&earlier.schema().name);
        }
        let mut plugins = self.plugins.write().unwrap_or_else(PoisonError::into_inner);
        plugins.retain(|other| other.name() != plugin.name());
        plugins.push(plugin);
        plugins.sort_by(|a, b| a.name().cmp(b.name()));
        result
    }

    fn remove(&self, name: &str) -> Reload {
        let Some(earlier) = self.current_plugin(name) else {
            return Reload::Unchanged;
        };
        self.registry.unregister(&earlier.schema().name);
        let mut plugins = self.plugins.write().unwrap_or_else(PoisonError::into_inner);
        plugins.retain(|other| other.name() != name);
        Reload::Removed
    }

    fn current_plugin(&self, name: &str) -> Option<Arc<Plugin>> {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        plugins.iter().find(|plugin| plugin.name() == name).cloned()
    }

    /// Returns the names of all components: those of the folder, and those that are offered.
    fn names(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let in_folder = entries.filter_map(|entry| component_name(&entry.path()));
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        let offered = plugins.iter().map(|plugin| plugin.name().to_owned());
        in_folder.chain(offered).collect()
    }

    /// Returns the size and the time of the file of a component. They change whenever the file is written or replaced.
    fn stamp(&self, name: &str) -> FileStamp {
        let path = self.folder.join(format!("{name}.wasm"));
        let found = path.symlink_metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    /// Returns whether the event concerns a file of grants.
    fn is_about_grants(&self, event: &notify::Result<notify::Event>) -> bool {
        let folder = self.grants.folder();
        let is_below = |path: &PathBuf| !folder.as_os_str().is_empty() && path.starts_with(folder);
        event.as_ref().is_ok_and(|event| event.paths.iter().any(is_below))
    }
}

/// Returns whether the grants of a component are withheld, so that every call is denied.
fn has_withheld_grants(plugin: &Plugin) -> bool {
    plugin.authority().denial_of_every_call().is_some()
}

/// Returns whether the new version of a component has the same bytes and the same grants as the earlier version, and the grants
/// of both or of neither are withheld.
fn is_unchanged(earlier: &Plugin, new: &Plugin) -> bool {
    earlier.digest() == new.digest()
        && earlier.authority().policy() == new.authority().policy()
        && earlier.authority().denial_of_every_call() == new.authority().denial_of_every_call()
}

/// Returns the name of the component in a file of the folder, or `None` if the file is not a component.
fn component_name(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    let name = path.file_stem()?.to_str()?;
    let is_component = extension == "wasm" && !name.starts_with('.');
    is_component.then(|| name.to_owned())
}

/// A watch of a plugins folder, which ends when this value is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    thread: Option<JoinHandle<()>>,
}

impl FolderWatch {
    /// Starts to watch. `on_reload` is called with the name of each component that has changed, and with the result.
    ///
    /// # Errors
    /// Fails if the folder cannot be watched.
    pub(crate) fn start(
        reloader: Arc<Reloader>,
        on_reload: impl Fn(&str, &Reload) + Send + 'static,
    ) -> Result<Self, notify::Error> {
        let (sender, events) = channel();
        let mut watcher = notify::recommended_watcher(sender)?;
        watcher.watch(&reloader.folder, RecursiveMode::NonRecursive)?;
        let grants = reloader.grants.folder();
        if !grants.as_os_str().is_empty() {
            reloader.grants.create_folder().map_err(notify::Error::io)?;
            watcher.watch(grants, RecursiveMode::NonRecursive)?;
        }
        let watch = move || reload_changes(&reloader, &events, &on_reload);
        let thread = std::thread::Builder::new().name("art-plugins".to_owned()).spawn(watch);
        Ok(Self {
            watcher: Some(watcher),
            thread: Some(thread.map_err(notify::Error::io)?),
        })
    }
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // Dropping the watcher closes the channel, which ends the thread.
        self.watcher = None;
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the watch of the plugins folder panicked");
        }
    }
}

/// Reloads components whose files change, until the channel closes. A changed component waits until its file has been the same
/// for [`QUIET_TIME`], and changed grants wait until there was no change for this time.
fn reload_changes(
    reloader: &Reloader,
    events: &Receiver<notify::Result<notify::Event>>,
    on_reload: &impl Fn(&str, &Reload),
) {
    // For each changed component, the stamp of its file, and since when the file has had this stamp.
    let mut waiting: BTreeMap<String, (Instant, FileStamp)> = BTreeMap::new();
    let mut grants_changed: Option<Instant> = None;
    let report = |name: &str, reload: Reload| match reload {
        Reload::Unchanged => {}
        reload => on_reload(name, &reload),
    };
    loop {
        let event = match waiting.is_empty() && grants_changed.is_none() {
            true => events.recv().map_err(|_ended| RecvTimeoutError::Disconnected),
            false => events.recv_timeout(QUIET_TIME / 2),
        };
        match event {
            Ok(event) if reloader.is_about_grants(&event) => grants_changed = Some(Instant::now()),
            Ok(event) => {
                for name in changed_components(reloader, event) {
                    let stamp = reloader.stamp(&name);
                    waiting.insert(name, (Instant::now(), stamp));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        let mut quiet = Vec::new();
        for (name, (since, stamp)) in &mut waiting {
            let found = reloader.stamp(name);
            if found != *stamp {
                (*since, *stamp) = (now, found);
            } else if now.duration_since(*since) >= QUIET_TIME {
                quiet.push(name.clone());
            }
        }
        for name in quiet {
            waiting.remove(&name);
            report(&name, reloader.reload(&name));
        }
        if grants_changed.is_some_and(|since| now.duration_since(since) >= QUIET_TIME) {
            grants_changed = None;
            for name in reloader.names() {
                report(&name, reloader.reload_grants(&name));
            }
        }
    }
}

/// Returns the names of the components that an event concerns, or of all components if the system lost events.
fn changed_components(reloader: &Reloader, event: notify::Result<notify::Event>) -> BTreeSet<String> {
    match event {
        Ok(event) if !event.need_rescan() => event.paths.iter().filter_map(|path| component_name(path)).collect(),
        Ok(_) => reloader.names(),
        Err(error) => {
            tracing::warn!(%error, "changes of the plugins folder were missed; looking at all files");
            reloader.names()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wasm_files_that_are_not_hidden_are_components() {
        let name = |path: &str| component_name(Path::new(path));
        assert_eq!(name("/plugins/a.wasm").as_deref(), Some("a"));
        for other in [
            "/plugins/.a.wasm.17",
            "/plugins/.tmpXY",
            "/plugins/a",
            "/plugins/a.md",
            "/plugins/a.toml",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
