//! A small file system in memory, which a test can fill.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system, which is unmounted when this value is dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts an empty file system at a folder. `options` are those of `mount` for a tmpfs, such as `size=4m`. Returns `None` and
    /// says so if nothing can be mounted here.
    pub(crate) fn mount(folder: &Path, options: &str) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("mode=700,{options}"), "tmpfs"])
            .arg(folder)
            .output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Self(folder.to_owned()));
        }
        #[expect(clippy::print_stdout, reason = "a person reads why nothing was tested")]
        {
            println!("skipped: a small file system cannot be mounted here");
        }
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|unmounted| unmounted.success()) || std::thread::panicking());
    }
}
