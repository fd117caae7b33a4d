//! What a file keeps when another content takes the place of its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Gid, Mode, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr};

/// Maximum number of bytes of the names, and of the value, of extended attributes.
const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;

/// Gives `replacement` the group and the extended attributes of `original`, as far as this is allowed. Returns whether it can take
/// the place of `original`: not if that has several names, or if the owner or the group would change.
///
/// # Errors
/// Fails if one of the files cannot be examined.
pub fn take_attributes(original: &File, replacement: &File) -> io::Result<bool> {
    let (before, made) = (original.metadata()?, replacement.metadata()?);
    let has_group = made.gid() == before.gid() || fchown(replacement, None, Some(Gid::from_raw(before.gid()))).is_ok();
    copy_extended(original, replacement);
    Ok(before.nlink() <= 1 && made.uid() == before.uid() && has_group)
}

/// Copies the extended attributes, such as access control lists, as far as this is allowed. Leaves out the capabilities of a
/// program.
fn copy_extended(original: &File, replacement: &File) {
    let mut names = vec![0_u8; MAX_ATTRIBUTE_BYTES];
    let Ok(length) = flistxattr(original, &mut names) else {
        return;
    };
    let names = names.get(..length).unwrap_or_default();
    let mut value = vec![0_u8; MAX_ATTRIBUTE_BYTES];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if name == b"security.capability" {
            continue;
        }
        if let Ok(length) = fgetxattr(original, name, &mut value) {
            let value = value.get(..length).unwrap_or_default();
            fsetxattr(replacement, name, value, XattrFlags::empty()).ok();
        }
    }
}

/// Removes set-user-ID and set-group-ID from a file that a tool writes: its owner gave these bits to other content. Fails silently
/// for a file of another user, where the system does the same for everybody but root.
pub fn drop_special_bits(file: &File) {
    let Ok(metadata) = file.metadata() else { return };
    if metadata.mode() & 0o6000 != 0 {
        fchmod(file, Mode::from_raw_mode(metadata.mode() & 0o1777)).ok();
    }
}
