//! The tree of files that a guest sees: the files of its rights, and the directories above them.
//!
//! A right ([`FsRight`]) is what one call may use of a grant of the operator: the file or directory of the grant, or something
//! below it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use art_core::capability::{Access, CallGrants, Capability, Denial, FsRight, GrantUse, GrantUses};
use art_staging::StagingError;

use super::Fault;
use super::base::GrantBase;
use super::mount::Mount;
use super::overlay::{Overlay, StagingArea};
use super::path::{GuestPath, strip_directory};
use super::protected::ProtectedPlaces;
use super::quota::Quota;
use super::writes::{NotWritten, WriteNotes, Writes};
use crate::host_memory::{HostMemory, MAX_HOST_MEMORY_BYTES};

/// The files of one call.
#[derive(Debug)]
pub(crate) struct FileTree {
    /// The rights of the call, each with the directory on the host beneath which its files are opened. Sorted from the longest to
    /// the shortest guest path, so that the first right that covers a path is the most specific right.
    mounts: Vec<Arc<Mount>>,
    /// The staged changes, which wait until a person commits them: one overlay for each grant whose changes are staged
    /// (`stage = true`).
    overlays: Vec<Arc<Overlay>>,
    /// Where the grants of the call lead.
    bases: Vec<Arc<GrantBase>>,
    /// The files that the call writes where changes are not staged.
    pub(super) writes: Arc<Writes>,
    /// What the call has used of its grants, and for what.
    uses: Mutex<GrantUses>,
    /// The memory of the host for what the call lists and stages.
    memory: HostMemory,
}

/// What a path of the guest leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// The path of a directory above a right. The guest sees in it only the names that lead to rights.
    AboveRights(String),
    /// Something that a right covers.
    Granted(GrantedPath),
}

/// A path that a right covers.
#[derive(Debug)]
pub(super) struct GrantedPath {
    pub(super) mount: Arc<Mount>,
    /// The path as the guest named it, for denials.
    pub(super) path: GuestPath,
    /// The part of the path below the right; empty for the right itself.
    pub(super) path_in_right: String,
}

impl FileTree {
    /// Creates the tree for a call. Without a staging area, the files of a grant whose changes are staged can only be read. No
    /// grant may lead to one of the `protected` places. `notes` get the directories in which the call writes. What the call lists and stages is charged to `memory`.
    pub(crate) fn new(
        grants: &CallGrants,
        area: Option<&StagingArea>,
        notes: Option<&Arc<WriteNotes>>,
        (protected, memory): (&Arc<ProtectedPlaces>, &HostMemory),
    ) -> Self {
        let bases = grant_bases(grants, protected);
        let mut quotas: Vec<Arc<Quota>> = Vec::new();
        let mut overlays: Vec<Arc<Overlay>> = Vec::new();
        let mut mounts: Vec<Arc<Mount>> = Vec::new();
        let writes = Arc::new(Writes::new(memory, notes));
        for fs_right in &grants.fs {
            // There is a base for the grant of each right.
            let Some(base) = bases.iter().find(|base| base.belongs_to(&fs_right.grant)) else {
                continue;
            };
            let quota = match quotas.iter().find(|quota| quota.belongs_to(&fs_right.grant)) {
                Some(quota) => Arc::clone(quota),
                None => Arc::new(Quota::new(&fs_right.grant)),
            };
            quotas.push(Arc::clone(&quota));
            let overlay = find_or_create_overlay((fs_right, base), area, (&quota, memory), &mut overlays);
            let access = match fs_right.grant.stage && overlay.is_none() {
                true => Access::Read,
                false => effective_access(fs_right, &grants.fs),
            };
            let fs_right = FsRight {
                access,
                ..fs_right.clone()
            };
            let (base, writes) = (Arc::clone(base), Arc::clone(&writes));
            mounts.push(Arc::new(Mount::new(fs_right, base, quota, overlay, writes)));
        }
        // Of two rights with the same path, the one that allows more is found first.
        mounts.sort_by_key(|mount| std::cmp::Reverse((mount.guest_path().len(), mount.access())));
        Self {
            mounts,
            overlays,
            bases,
            writes,
            uses: Mutex::default(),
            memory: memory.clone(),
        }
    }

    /// Opens where the grants lead, before the guest runs.
    ///
    /// # Errors
    /// Fails with a denial for each grant that leads through a link, or to a protected place.
    pub(crate) fn open_bases(&self, grants: &CallGrants) -> Result<(), Vec<Denial>> {
        let denials: Vec<_> = self.bases.iter().filter_map(|base| base.refusal(grants)).collect();
        if denials.is_empty() { Ok(()) } else { Err(denials) }
    }

    /// Returns the rights of the call, the longest path first.
    pub(super) fn mounts(&self) -> &[Arc<Mount>] {
        &self.mounts
    }

    /// Returns what a path leads to. `access` is what the guest wants to do there. If the right that covers the path allows
    /// `access`, this is noted as a use of the grant. If the right does not allow it, the path is returned nevertheless, and the
    /// caller must refuse the operation. Fails if the path is neither covered by a right nor above one. The denial then names
    /// `access`, and if the guest names an entry whose name is not UTF-8.
    pub(super) fn target(&self, path: GuestPath, access: Access) -> Result<Target, Fault> {
        let target = self.target_to_look_at(path, access)?;
        match &target {
            Target::Granted(granted) => granted.check_names(access)?,
            Target::AboveRights(_) => {}
        }
        Ok(target)
    }

    /// Same as [`target`](Self::target), but accepts any name. The caller may only tell what is there.
    pub(super) fn target_to_look_at(&self, path: GuestPath, access: Access) -> Result<Target, Fault> {
        let covering = self
            .mounts
            .iter()
            .find_map(|mount| Some((mount, strip_directory(path.as_str(), mount.guest_path())?.to_owned())));
        match covering {
            Some((mount, path_in_right)) => {
                if mount.access() >= access {
                    mount.add_use(&path_in_right, access, &mut self.uses());
                }
                Ok(Target::Granted(GrantedPath {
                    mount: Arc::clone(mount),
                    path,
                    path_in_right,
                }))
            }
            None if self.is_above_rights(path.as_str()) => Ok(Target::AboveRights(path.as_str().to_owned())),
            None => Err(Fault::no_grant(path.as_str(), access)),
        }
    }

    pub(super) fn memory(&self) -> &HostMemory {
        &self.memory
    }

    fn uses(&self) -> std::sync::MutexGuard<'_, GrantUses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns which grants the call used and for what, and clears this list.
    pub(crate) fn take_uses(&self) -> Vec<GrantUse> {
        self.uses().take()
    }

    /// Returns whether a path is the root or a directory above a right.
    fn is_above_rights(&self, path: &str) -> bool {
        path.is_empty()
            || self
                .mounts
                .iter()
                .any(|mount| strip_directory(mount.guest_path(), path).is_some())
    }

    /// Returns the names in a directory above rights, each with the mount of the right that has exactly this path, or with `None`
    /// if the name is a directory that leads to a right further below.
    pub(super) fn names_leading_to_rights(&self, directory: &str) -> BTreeMap<String, Option<Arc<Mount>>> {
        let mut names = BTreeMap::new();
        for mount in &self.mounts {
            let Some(below_directory) = strip_directory(mount.guest_path(), directory) else {
                continue;
            };
            match below_directory.split_once('/') {
                Some((name, _)) => drop(names.insert(name.to_owned(), None)),
                None => drop(
                    names
                        .entry(below_directory.to_owned())
                        .or_insert_with(|| Some(Arc::clone(mount))),
                ),
            }
        }
        names
    }

    /// Returns whether any right allows changes.
    pub(super) fn is_writable(&self) -> bool {
        self.mounts.iter().any(|mount| mount.access().may_write())
    }

    /// Ends the drafts, which hold the staged changes of the call: one for each overlay that the call has used. If the call was a
    /// success, makes a change set of each draft, which a person can commit. Otherwise does nothing: the drafts are removed when
    /// their overlays are dropped.
    pub(crate) fn finish_drafts(&self, is_success: bool) -> Result<(), StagingError> {
        self.overlays.iter().try_for_each(|overlay| match is_success {
            true => overlay.finish().map(drop),
            false => Ok(()),
        })
    }

    /// Ends the writes of the call: puts what it wrote in the place of its files, or drops it if `is_published` is false, because
    /// the call was stopped.
    ///
    /// # Errors
    /// Fails if a file could not be written, also one whose changes are staged.
    pub(crate) fn finish_writes(&self, is_published: bool) -> Result<(), NotWritten> {
        if !is_published {
            self.writes.discard();
            return Ok(());
        }
        let mut failures = self.writes.publish().err().map_or_else(Vec::new, |failed| failed.0);
        failures.extend(self.overlays.iter().flat_map(|overlay| overlay.incomplete_files()));
        if failures.is_empty() {
            Ok(())
        } else {
            Err(NotWritten(failures))
        }
    }

    /// Waits until what the call wrote is stored, so that [`finish_writes`](Self::finish_writes) and
    /// [`finish_drafts`](Self::finish_drafts) are short. Yields after each piece of it.
    pub(crate) async fn store(&self) {
        self.writes.store().await;
        for overlay in &self.overlays {
            overlay.store().await;
        }
    }

    /// Returns whether the call has written any file.
    pub(crate) fn has_writes(&self) -> bool {
        !self.writes.is_empty() || !self.overlays.is_empty()
    }

    /// Returns the number of bytes that operations have copied since the last time, and that were not counted.
    pub(crate) fn take_work(&self) -> u64 {
        self.writes.take_work()
    }

    /// Returns what the person should know about the writes of the call since the last time.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        self.writes.take_notes()
    }

    /// Returns the denials of what the quotas of the grants and the memory of the host did not allow.
    pub(crate) fn quota_denials(&self) -> Vec<Denial> {
        let quotas = self.mounts.iter().filter_map(|mount| mount.quota.denial());
        let reason =
            format!("its lists and staged changes would take more than {MAX_HOST_MEMORY_BYTES} bytes of memory");
        let denial = || Denial::new(Capability::Fs, "list", "/", &reason);
        quotas.chain(self.memory.has_refused().then(denial)).collect()
    }
}

/// Returns where the grants of the rights lead: one base for each grant.
fn grant_bases(grants: &CallGrants, protected: &Arc<ProtectedPlaces>) -> Vec<Arc<GrantBase>> {
    let mut bases: Vec<Arc<GrantBase>> = Vec::new();
    for FsRight { grant, .. } in &grants.fs {
        if !bases.iter().any(|base| base.belongs_to(grant)) {
            bases.push(Arc::new(GrantBase::new(grant, protected)));
        }
    }
    bases
}

/// Returns the overlay for the changes under a right, or `None` if they are not staged. Rights of one grant share an overlay.
fn find_or_create_overlay(
    (fs_right, base): (&FsRight, &Arc<GrantBase>),
    area: Option<&StagingArea>,
    (quota, memory): (&Arc<Quota>, &HostMemory),
    overlays: &mut Vec<Arc<Overlay>>,
) -> Option<Arc<Overlay>> {
    let area = area.filter(|_| fs_right.grant.stage)?;
    if let Some(overlay) = overlays.iter().find(|overlay| overlay.belongs_to(&fs_right.grant)) {
        return Some(Arc::clone(overlay));
    }
    let overlay = Arc::new(Overlay::new(
        (&fs_right.grant, base),
        area.clone(),
        Arc::clone(quota),
        memory,
    ));
    overlays.push(Arc::clone(&overlay));
    Some(overlay)
}

/// Returns the most that is allowed for the files of a right: by the right itself, or by another right to the same directory or
/// to a directory above it. Another right counts only if it leads to the same files on the host, and if either both grants stage
/// changes or neither of them does.
fn effective_access(fs_right: &FsRight, rights: &[FsRight]) -> Access {
    let leads_to_same_files = |other: &&FsRight| {
        other.grant.stage == fs_right.grant.stage
            && strip_directory(&fs_right.guest_path, &other.guest_path).is_some_and(|rest| {
                other.host_path.join(rest) == fs_right.host_path
                    || rest.is_empty() && other.host_path == fs_right.host_path
            })
    };
    let accesses = rights.iter().filter(leads_to_same_files).map(|other| other.access);
    accesses.max().unwrap_or(fs_right.access)
}
