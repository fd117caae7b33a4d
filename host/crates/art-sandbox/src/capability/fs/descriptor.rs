//! The open files and directories of a guest.

use std::fs::{File, FileTimes};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::Fault;
use super::bindings::types::{DescriptorFlags, ErrorCode};
use super::fault::code_of_error;
use super::mount::Mount;

/// Maximum number of bytes that one operation reads or writes.
pub(super) const MAX_TRANSFER_BYTES: usize = 64 << 10;

/// An open file, or the path of a directory. A directory is not kept open: each operation looks it up again by its path.
#[derive(Clone, Debug)]
#[expect(unreachable_pub, reason = "the generated bindings export it again")]
pub enum Descriptor {
    /// The path of a directory of the guest, without `/` at the beginning.
    Directory(Arc<str>),
    /// An open file.
    File(Arc<OpenFile>),
}

/// An open regular file.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated bindings export it again")]
pub struct OpenFile {
    pub(super) file: File,
    /// The right under which the file was opened.
    pub(super) mount: Arc<Mount>,
    pub(super) may_read: bool,
    pub(super) may_write: bool,
    /// Whether the guest may set the times. It may do so even for a file that it opened only to read, if the right allows changes
    /// and these are not staged.
    pub(super) may_set_times: bool,
}

impl Descriptor {
    /// Returns the file.
    pub(super) fn file(&self) -> Result<&Arc<OpenFile>, ErrorCode> {
        match self {
            Self::File(file) => Ok(file),
            Self::Directory(_) => Err(ErrorCode::IsDirectory),
        }
    }

    /// Returns what the guest may do with this descriptor. A directory counts as writable if any right of the call allows
    /// changes.
    pub(super) fn flags(&self, has_writable_right: bool) -> DescriptorFlags {
        let (has_read, has_write, write_flag) = match self {
            Self::Directory(_) => (true, has_writable_right, DescriptorFlags::MUTATE_DIRECTORY),
            Self::File(file) => (file.may_read, file.may_write, DescriptorFlags::WRITE),
        };
        let flag_if = |is_set, flag| if is_set { flag } else { DescriptorFlags::empty() };
        flag_if(has_read, DescriptorFlags::READ) | flag_if(has_write, write_flag)
    }

    /// Waits until a file is stored on its device. Does nothing for a directory.
    pub(super) fn sync(&self) -> Result<(), Fault> {
        match self {
            Self::File(file) => Ok(file.file.sync_all().map_err(|error| code_of_error(&error))?),
            Self::Directory(_) => Ok(()),
        }
    }

    /// Returns the path of the directory.
    pub(super) fn directory(&self) -> Result<&Arc<str>, ErrorCode> {
        match self {
            Self::Directory(path) => Ok(path),
            Self::File(_) => Err(ErrorCode::NotDirectory),
        }
    }
}

impl OpenFile {
    /// Reads at most [`MAX_TRANSFER_BYTES`]. If `length` is not zero, an empty result means that the file ends there.
    pub(super) fn read(&self, length: u64, offset: u64) -> Result<Vec<u8>, ErrorCode> {
        if !self.may_read {
            return Err(ErrorCode::NotPermitted);
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(MAX_TRANSFER_BYTES);
        let mut buffer = vec![0; length];
        let read =
            repeat_if_interrupted(|| self.file.read_at(&mut buffer, offset)).map_err(|error| code_of_error(&error))?;
        buffer.truncate(read);
        Ok(buffer)
    }

    /// Writes all bytes, and takes them from the quota. If `offset` is beyond the end of the file, the bytes from the end to
    /// `offset` are taken too.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), ErrorCode> {
        self.check_writable()?;
        let end = offset.checked_add(bytes.len() as u64).ok_or(ErrorCode::FileTooLarge)?;
        let added = end.saturating_sub(self.length()?).max(bytes.len() as u64);
        self.mount.quota.take_bytes(added)?;
        self.file
            .write_all_at(bytes, offset)
            .map_err(|error| code_of_error(&error))
    }

    /// Writes all bytes at the end of the file.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<(), ErrorCode> {
        self.write(bytes, self.length()?)
    }

    /// Changes the length. If the file grows, the added bytes are taken from the quota.
    pub(super) fn set_length(&self, length: u64) -> Result<(), ErrorCode> {
        self.check_writable()?;
        self.mount.quota.take_bytes(length.saturating_sub(self.length()?))?;
        self.file.set_len(length).map_err(|error| code_of_error(&error))
    }

    /// Changes the times. Fails if the guest may not set them.
    pub(super) fn set_times(&self, times: FileTimes) -> Result<(), ErrorCode> {
        if !self.may_set_times {
            return Err(ErrorCode::NotPermitted);
        }
        self.file.set_times(times).map_err(|error| code_of_error(&error))
    }

    fn length(&self) -> Result<u64, ErrorCode> {
        let metadata = self.file.metadata().map_err(|error| code_of_error(&error))?;
        Ok(metadata.len())
    }

    pub(super) fn check_writable(&self) -> Result<(), ErrorCode> {
        if self.may_write {
            Ok(())
        } else {
            Err(ErrorCode::NotPermitted)
        }
    }
}

fn repeat_if_interrupted<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
