//! What a file keeps when another one takes its place.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{FallocateFlags, Gid, XattrFlags};
use rustix::io::Errno;

/// Gives `replacement` the group and the extended attributes of `original`, as far as this is allowed. Returns whether it can take
/// the place of `original`: not if that has several names, or if the owner or the group would change.
///
/// # Errors
/// Fails if one of the files cannot be examined.
pub fn take_attributes(original: &File, replacement: &File) -> io::Result<bool> {
    let (before, made) = (original.metadata()?, replacement.metadata()?);
    let has_group =
        made.gid() == before.gid() || rustix::fs::fchown(replacement, None, Some(Gid::from_raw(before.gid()))).is_ok();
    copy_extended(original, replacement);
    Ok(before.nlink() == 1 && made.uid() == before.uid() && has_group)
}

/// Copies the extended attributes, such as access control lists, as far as this is allowed. Leaves out the capabilities of a
/// program.
fn copy_extended(original: &File, replacement: &File) {
    let mut names = vec![0_u8; 64 << 10];
    let Ok(length) = rustix::fs::flistxattr(original, &mut names) else {
        return;
    };
    let names = names.get(..length).unwrap_or_default();
    let mut value = vec![0_u8; 64 << 10];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if name == b"security.capability" {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(original, name, &mut value) {
            let value = value.get(..length).unwrap_or_default();
            rustix::fs::fsetxattr(replacement, name, value, XattrFlags::empty()).ok();
        }
    }
}

/// Reserves space for `bytes` bytes of a file from `offset` on, without changing its length. Does nothing where the file system
/// cannot reserve space.
///
/// # Errors
/// Fails if there is not enough space.
pub fn reserve(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file.as_fd(), FallocateFlags::KEEP_SIZE, offset, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        result => Ok(result?),
    }
}
