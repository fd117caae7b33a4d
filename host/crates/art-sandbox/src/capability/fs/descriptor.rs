//! The open files and directories of a guest.

use std::fs::{File, FileTimes};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use art_files::{drop_special_bits, reserve};

use super::Fault;
use super::bindings::types::{DescriptorFlags, ErrorCode};
use super::fault::code_of_error;
use super::mount::Mount;
use super::overlay::StagedFile;
use super::writes::{Begun, HostContent, NewPart, OpenPart, Progress, SharedFile, WriteKind, Writes};

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
    pub(super) content: Content,
    /// The right under which the file was opened.
    pub(super) mount: Arc<Mount>,
    pub(super) may_read: bool,
    pub(super) may_write: bool,
    /// Whether the guest may set the times. It may do so even for a file that it opened only to read, if the right allows changes
    /// and these are not staged.
    pub(super) may_set_times: bool,
}

/// Where the content of an open file is.
#[derive(Debug)]
pub(super) enum Content {
    /// In a draft: changes of the file are staged. Or on the host, if the call only reads the file.
    Staged(StagedFile),
    /// In a part, which takes the place of the file when the call has ended.
    Part(OpenPart),
    /// On the host.
    OnHost(Box<HostFile>),
}

/// A file of the host that a call has opened. If the call writes the file, its content is in a part from then on.
#[derive(Debug)]
pub(super) struct HostFile {
    pub(super) file: File,
    /// What all descriptors of the file share.
    pub(super) shared: Arc<SharedFile>,
    pub(super) writes: Arc<Writes>,
}

impl HostFile {
    /// Begins to write the file in this way. Returns the part that has to get its content first. `None` if there is nothing to copy,
    /// because the call writes the file already, or now changes it in place.
    fn start(&self, kind: WriteKind) -> io::Result<Option<Box<NewPart>>> {
        match (self.shared.content(), kind) {
            (HostContent::Part(_), _) | (HostContent::InPlace, WriteKind::Rewrite) => return Ok(None),
            (HostContent::Unchanged | HostContent::Appended, _) | (HostContent::InPlace, WriteKind::Truncate) => {}
        }
        match self.writes.begin(&self.shared, &self.file, kind)? {
            Begun::Part(part) => Ok(Some(part)),
            Begun::InPlace => {
                self.change_in_place(HostContent::InPlace);
                Ok(None)
            }
        }
    }

    /// Begins to write the file in this way, and copies its content to its part at once. Returns where the content is then.
    pub(super) fn begin(&self, kind: WriteKind) -> io::Result<HostContent> {
        if let Some(mut part) = self.start(kind)? {
            self.writes.add_work(part.later_bytes());
            loop {
                match part.advance()? {
                    0 => break,
                    copied => self.writes.add_work(copied as u64),
                }
            }
            self.writes.finish_part(*part)?;
        }
        Ok(self.shared.content())
    }

    /// Begins to change the file in place.
    fn change_in_place(&self, content: HostContent) {
        drop_special_bits(&self.file);
        self.writes.note_change_in_place(&self.shared);
        self.shared.set_content(content);
    }
}

/// The file that has the content which the guest sees.
pub(super) enum ContentFile<'a> {
    Own(&'a File),
    Part(Arc<OpenPart>),
}

impl Deref for ContentFile<'_> {
    type Target = File;

    fn deref(&self) -> &File {
        match self {
            Self::Own(file) => file,
            Self::Part(part) => &part.file,
        }
    }
}

/// The file to which the guest writes.
struct Writable<'a> {
    file: ContentFile<'a>,
    /// How the writes went, unless they go in place.
    progress: Option<Arc<Progress>>,
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
            Self::File(file) => Ok(file.file().sync_all().map_err(|error| code_of_error(&error))?),
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
        let (mut buffer, file) = (vec![0; length], self.file());
        let read =
            repeat_if_interrupted(|| file.read_at(&mut buffer, offset)).map_err(|error| code_of_error(&error))?;
        buffer.truncate(read);
        Ok(buffer)
    }

    /// Returns the file with the content that the guest sees.
    pub(super) fn file(&self) -> ContentFile<'_> {
        match &self.content {
            Content::Staged(StagedFile { file, .. }) | Content::Part(OpenPart { file, .. }) => ContentFile::Own(file),
            Content::OnHost(host) => match host.shared.content() {
                HostContent::Part(part) => ContentFile::Part(part),
                _ => ContentFile::Own(&host.file),
            },
        }
    }

    /// Begins to write the file in this way, if it is on the host and the call does not write it yet. Returns the part that has to get
    /// its content first. What is wrong is left to the operation itself.
    pub(super) fn start_part(&self, kind: WriteKind) -> Option<Box<NewPart>> {
        match &self.content {
            Content::OnHost(host) if self.may_write => host.start(kind).ok()?,
            _ => None,
        }
    }

    /// Lets the guest see a part that is complete.
    pub(super) fn finish_part(&self, part: NewPart) -> Result<(), ErrorCode> {
        match &self.content {
            Content::OnHost(host) => host.writes.finish_part(part).map_err(|error| code_of_error(&error)),
            Content::Staged(_) | Content::Part(_) => Ok(()),
        }
    }

    /// Prepares the file to be written in this way: if it is on the host, its content is copied, or it is noted that the file is
    /// changed in place.
    fn prepare(&self, kind: WriteKind) -> Result<Writable<'_>, ErrorCode> {
        self.check_writable()?;
        let (file, progress) = match &self.content {
            Content::Staged(staged) => (ContentFile::Own(&staged.file), staged.progress.clone()),
            Content::Part(part) => (ContentFile::Own(&part.file), Some(Arc::clone(&part.progress))),
            Content::OnHost(host) => match host.begin(kind).map_err(|error| code_of_error(&error))? {
                HostContent::Part(part) => {
                    let progress = Arc::clone(&part.progress);
                    (ContentFile::Part(part), Some(progress))
                }
                _ => (ContentFile::Own(&host.file), None),
            },
        };
        Ok(Writable { file, progress })
    }

    /// Prepares the file to be overwritten.
    pub(super) fn prepare_overwriting(&self) -> Result<(), ErrorCode> {
        self.prepare(WriteKind::Rewrite).map(drop)
    }

    /// Prepares the file to be appended to. A file on the host that has no part is appended to in place, which is noted.
    pub(super) fn prepare_appending(&self) -> Result<(), ErrorCode> {
        self.check_writable()?;
        if let Content::OnHost(host) = &self.content
            && matches!(host.shared.content(), HostContent::Unchanged)
        {
            host.writes.note_appending(&host.shared, &host.file);
            host.change_in_place(HostContent::Appended);
        }
        Ok(())
    }

    /// Writes all bytes, and takes them from the quota. If `offset` is beyond the end of the file, the bytes from the end to
    /// `offset` are taken too.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), ErrorCode> {
        self.write_to(&self.prepare(WriteKind::Rewrite)?, bytes, offset)
    }

    /// Writes all bytes at the end of the file.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<(), ErrorCode> {
        self.prepare_appending()?;
        let length = self.length()?;
        let writable = match &self.content {
            Content::OnHost(host) if !matches!(host.shared.content(), HostContent::Part(_)) => {
                // So a full disk refuses all of the bytes or none.
                reserve(&host.file, length, bytes.len() as u64).map_err(|error| code_of_error(&error))?;
                Writable {
                    file: ContentFile::Own(&host.file),
                    progress: None,
                }
            }
            _ => self.prepare(WriteKind::Rewrite)?,
        };
        self.write_to(&writable, bytes, length)
    }

    fn write_to(&self, writable: &Writable<'_>, bytes: &[u8], offset: u64) -> Result<(), ErrorCode> {
        let progress = writable.progress.as_deref();
        let end = offset.checked_add(bytes.len() as u64).ok_or(ErrorCode::FileTooLarge)?;
        let added = end.saturating_sub(self.length()?).max(bytes.len() as u64);
        let taken = self.mount.quota.take_bytes(added);
        taken.inspect_err(|_| note_failure(progress, "the quota of the grant is used up", true))?;
        let written = writable.file.write_all_at(bytes, offset);
        written.map_err(|error| {
            note_failure(progress, &error.to_string(), false);
            code_of_error(&error)
        })
    }

    /// Changes the length. If the file grows, the added bytes are taken from the quota.
    pub(super) fn set_length(&self, length: u64) -> Result<(), ErrorCode> {
        let Writable { file, progress } = self.prepare(kind_of_length(length))?;
        self.mount.quota.take_bytes(length.saturating_sub(self.length()?))?;
        file.set_len(length).map_err(|error| code_of_error(&error))?;
        if let Some(progress) = progress.filter(|_| length == 0) {
            progress.note_emptied();
        }
        Ok(())
    }

    /// Changes the times. Fails if the guest may not set them.
    pub(super) fn set_times(&self, times: FileTimes) -> Result<(), ErrorCode> {
        if !self.may_set_times {
            return Err(ErrorCode::NotPermitted);
        }
        self.file().set_times(times).map_err(|error| code_of_error(&error))
    }

    fn length(&self) -> Result<u64, ErrorCode> {
        let metadata = self.file().metadata().map_err(|error| code_of_error(&error))?;
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

/// Returns how a file is written whose length is set.
pub(super) fn kind_of_length(length: u64) -> WriteKind {
    if length == 0 {
        WriteKind::Truncate
    } else {
        WriteKind::Rewrite
    }
}

fn note_failure(progress: Option<&Progress>, reason: &str, by_quota: bool) {
    if let Some(progress) = progress {
        progress.note_failure(reason, by_quota);
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
