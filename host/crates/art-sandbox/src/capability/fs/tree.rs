//! The tree of files that a guest sees: the files of its rights, and the directories above them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use art_core::capability::{Access, FsRight, Grants};

use super::Fault;
use super::mount::Mount;
use super::path::{GuestPath, below};
use super::quota::Quota;

/// The files of one call.
#[derive(Debug)]
pub(crate) struct FileTree {
    /// The longest path first.
    mounts: Vec<Arc<Mount>>,
    /// Bytes that the guest passed and got.
    bytes: Arc<AtomicU64>,
}

/// What a path of the guest leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// A directory above a right, which only shows the way.
    Above(String),
    /// Something that a right covers.
    Granted(Granted),
}

/// A path that a right covers.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) mount: Arc<Mount>,
    /// The path as the guest named it, for denials.
    pub(super) path: GuestPath,
    /// The part below the right; empty for the right itself.
    pub(super) rest: String,
}

impl FileTree {
    pub(crate) fn new(grants: &Grants) -> Self {
        let mut quotas: Vec<Arc<Quota>> = Vec::new();
        let mut mounts: Vec<Arc<Mount>> = Vec::new();
        for right in &grants.fs {
            let quota = match quotas.iter().find(|quota| quota.is_of(&right.grant)) {
                Some(quota) => Arc::clone(quota),
                None => Arc::new(Quota::new(&right.grant)),
            };
            quotas.push(Arc::clone(&quota));
            let access = access_of(right, &grants.fs);
            let right = FsRight {
                access,
                ..right.clone()
            };
            mounts.push(Arc::new(Mount::new(right, quota)));
        }
        // Of two rights with the same path, the one that allows more is found first.
        mounts.sort_by_key(|mount| std::cmp::Reverse((mount.guest().len(), mount.access())));
        Self {
            mounts,
            bytes: Arc::default(),
        }
    }

    /// Returns what a path leads to. `access` is what the guest wants to do there, for the denial.
    pub(super) fn target(&self, path: GuestPath, access: Access) -> Result<Target, Fault> {
        let covering = self
            .mounts
            .iter()
            .find_map(|mount| Some((mount, below(path.as_str(), mount.guest())?.to_owned())));
        match covering {
            Some((mount, rest)) => Ok(Target::Granted(Granted {
                mount: Arc::clone(mount),
                path,
                rest,
            })),
            None if self.is_above(path.as_str()) => Ok(Target::Above(path.as_str().to_owned())),
            None => Err(Fault::no_grant(path.as_str(), access)),
        }
    }

    /// Returns whether the root or a directory is above a right.
    fn is_above(&self, path: &str) -> bool {
        path.is_empty() || self.mounts.iter().any(|mount| below(mount.guest(), path).is_some())
    }

    /// Returns the names in a directory above rights, and whether each is a directory.
    pub(super) fn names(&self, directory: &str) -> BTreeMap<String, Option<Arc<Mount>>> {
        let mut names = BTreeMap::new();
        for mount in &self.mounts {
            let Some(rest) = below(mount.guest(), directory) else {
                continue;
            };
            match rest.split_once('/') {
                Some((name, _)) => drop(names.insert(name.to_owned(), None)),
                None => drop(names.entry(rest.to_owned()).or_insert_with(|| Some(Arc::clone(mount)))),
            }
        }
        names
    }

    /// Returns whether something may be changed.
    pub(super) fn is_writable(&self) -> bool {
        self.mounts.iter().any(|mount| mount.access().may_write())
    }

    /// Returns the counter of the bytes that the guest passed and got.
    pub(super) fn counter(&self) -> &Arc<AtomicU64> {
        &self.bytes
    }

    /// Counts bytes that the guest passed or got.
    pub(super) fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the number of bytes that the guest passed and got.
    pub(crate) fn counted(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Returns what a right allows: at least what a right to a directory above it allows for the same files.
fn access_of(right: &FsRight, all: &[FsRight]) -> Access {
    let covers_same = |wide: &&FsRight| {
        below(&right.guest, &wide.guest)
            .is_some_and(|rest| wide.path.join(rest) == right.path || rest.is_empty() && wide.path == right.path)
    };
    let above = all.iter().filter(covers_same).map(|wide| wide.access);
    above.max().unwrap_or(right.access)
}
