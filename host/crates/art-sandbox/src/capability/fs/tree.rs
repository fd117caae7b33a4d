//! The tree of files that a guest sees: the files of its rights, and the directories above them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use art_core::capability::{Access, Denial, FsRight, Grants, Use, Uses};
use art_staging::StagingError;

use super::Fault;
use super::mount::Mount;
use super::overlay::{Overlay, StagingArea};
use super::path::{GuestPath, below};
use super::quota::Quota;

/// The files of one call.
#[derive(Debug)]
pub(crate) struct FileTree {
    /// The rights of the call, the one with the longest path first.
    mounts: Vec<Arc<Mount>>,
    /// One for each grant whose changes are staged.
    overlays: Vec<Arc<Overlay>>,
    uses: Mutex<Uses>,
}

/// What a path of the guest leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// A directory above a right. The guest sees in it only the names that lead to rights.
    Above(String),
    /// Something that a right covers.
    Granted(GrantedPath),
}

/// A path that a right covers.
#[derive(Debug)]
pub(super) struct GrantedPath {
    pub(super) mount: Arc<Mount>,
    /// The path as the guest named it, for denials.
    pub(super) path: GuestPath,
    /// The part below the right; empty for the right itself.
    pub(super) rest: String,
}

impl FileTree {
    /// Creates the tree for a call. Without a staging area, the files of a grant whose changes are staged can only be read.
    pub(crate) fn new(grants: &Grants, area: Option<&StagingArea>) -> Self {
        let mut quotas: Vec<Arc<Quota>> = Vec::new();
        let mut overlays: Vec<Arc<Overlay>> = Vec::new();
        let mut mounts: Vec<Arc<Mount>> = Vec::new();
        for right in &grants.fs {
            let quota = match quotas.iter().find(|quota| quota.belongs_to(&right.grant)) {
                Some(quota) => Arc::clone(quota),
                None => Arc::new(Quota::new(&right.grant)),
            };
            quotas.push(Arc::clone(&quota));
            let overlay = find_or_create_overlay(right, area, &quota, &mut overlays);
            let access = match right.grant.stage && overlay.is_none() {
                true => Access::Read,
                false => effective_access(right, &grants.fs),
            };
            let right = FsRight {
                access,
                ..right.clone()
            };
            mounts.push(Arc::new(Mount::new(right, quota, overlay)));
        }
        // Of two rights with the same path, the one that allows more is found first.
        mounts.sort_by_key(|mount| std::cmp::Reverse((mount.guest_path().len(), mount.access())));
        Self {
            mounts,
            overlays,
            uses: Mutex::default(),
        }
    }

    /// Returns what a path leads to. `access` is what the guest wants to do there, for the denial and the record of uses.
    pub(super) fn target(&self, path: GuestPath, access: Access) -> Result<Target, Fault> {
        let covering = self
            .mounts
            .iter()
            .find_map(|mount| Some((mount, below(path.as_str(), mount.guest_path())?.to_owned())));
        match covering {
            Some((mount, rest)) => {
                if mount.access() >= access {
                    mount.add_use(&rest, access, &mut self.uses());
                }
                Ok(Target::Granted(GrantedPath {
                    mount: Arc::clone(mount),
                    path,
                    rest,
                }))
            }
            None if self.is_above(path.as_str()) => Ok(Target::Above(path.as_str().to_owned())),
            None => Err(Fault::no_grant(path.as_str(), access)),
        }
    }

    fn uses(&self) -> std::sync::MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the recorded uses of the call, and clears them.
    pub(crate) fn take_uses(&self) -> Vec<Use> {
        self.uses().take()
    }

    /// Returns whether a path is the root or a directory above a right.
    fn is_above(&self, path: &str) -> bool {
        path.is_empty()
            || self
                .mounts
                .iter()
                .any(|mount| below(mount.guest_path(), path).is_some())
    }

    /// Returns the names in a directory above rights. A name that is a right has its mount, and one that leads to rights has
    /// `None`.
    pub(super) fn names(&self, directory: &str) -> BTreeMap<String, Option<Arc<Mount>>> {
        let mut names = BTreeMap::new();
        for mount in &self.mounts {
            let Some(rest) = below(mount.guest_path(), directory) else {
                continue;
            };
            match rest.split_once('/') {
                Some((name, _)) => drop(names.insert(name.to_owned(), None)),
                None => drop(names.entry(rest.to_owned()).or_insert_with(|| Some(Arc::clone(mount)))),
            }
        }
        names
    }

    /// Returns whether any right allows changes.
    pub(super) fn is_writable(&self) -> bool {
        self.mounts.iter().any(|mount| mount.access().may_write())
    }

    /// Makes change sets of the staged changes if `is_success` is true. Otherwise the changes are dropped.
    pub(crate) fn finish_if(&self, is_success: bool) -> Result<(), StagingError> {
        self.overlays.iter().try_for_each(|overlay| match is_success {
            true => overlay.finish().map(drop),
            false => Ok(()),
        })
    }

    /// Returns the denials of what the quotas of the grants did not allow.
    pub(crate) fn quota_denials(&self) -> Vec<Denial> {
        self.mounts.iter().filter_map(|mount| mount.quota.denial()).collect()
    }
}

/// Returns the overlay for the changes under a right, or `None` if they are not staged. Rights of one grant share an overlay.
fn find_or_create_overlay(
    right: &FsRight,
    area: Option<&StagingArea>,
    quota: &Arc<Quota>,
    overlays: &mut Vec<Arc<Overlay>>,
) -> Option<Arc<Overlay>> {
    let area = area.filter(|_| right.grant.stage)?;
    if let Some(overlay) = overlays.iter().find(|overlay| overlay.belongs_to(&right.grant)) {
        return Some(Arc::clone(overlay));
    }
    let overlay = Arc::new(Overlay::new(&right.grant, area.clone(), Arc::clone(quota)));
    overlays.push(Arc::clone(&overlay));
    Some(overlay)
}

/// Returns what a right allows: at least what a right to a directory above it allows for the same files, if the changes under both
/// are staged or those under neither.
fn effective_access(right: &FsRight, all: &[FsRight]) -> Access {
    let covers_same = |wide: &&FsRight| {
        wide.grant.stage == right.grant.stage
            && below(&right.guest, &wide.guest)
                .is_some_and(|rest| wide.path.join(rest) == right.path || rest.is_empty() && wide.path == right.path)
    };
    let above = all.iter().filter(covers_same).map(|wide| wide.access);
    above.max().unwrap_or(right.access)
}
