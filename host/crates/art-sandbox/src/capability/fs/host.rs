//! The functions of `wasi:filesystem`. They count the paths, names and bytes that the guest passes or gets, and record their
//! results for replays. The tree of files and the open files do the work.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, IoError};

use super::Fault;
use super::bindings::preopens;
use super::bindings::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use super::descriptor::{Descriptor, MAX_TRANSFER_BYTES, kind_of_length};
use super::listing::Listing;
use super::open::Opening;
use super::record::{FileValue, FsResult};
use super::status::file_times;
use super::stream::{FileReader, FileWriter, StreamFault};
use super::tree::FileTree;
use super::work::{Use, Work};
use super::writes::WriteKind;
use crate::state::CallState;

type Handle = Resource<Descriptor>;

impl CallState {
    /// Returns the files of the call. Creates their tree at the first use.
    pub(crate) fn file_tree(&mut self) -> Arc<FileTree> {
        let (grants, staging_area) = (&self.grants, self.staging.as_ref());
        let create = || {
            Arc::new(FileTree::new(
                grants,
                staging_area,
                self.write_notes.as_ref(),
                (&self.protected, &self.host_memory),
            ))
        };
        Arc::clone(self.files.get_or_insert_with(create))
    }

    fn descriptor(&self, handle: &Handle) -> FsResult<Descriptor> {
        Ok(self.table.get(handle)?.clone())
    }

    /// Carries out and records an operation at a path that is relative to an open directory. Counts the bytes of the path, and
    /// calls `operation` with the path of the directory.
    fn at_path<T: FileValue>(
        &mut self,
        (handle, path): (&Handle, &str),
        operation: impl FnOnce(&FileTree, &str) -> FsResult<T>,
    ) -> FsResult<T> {
        self.meter.count_bytes(path.len());
        self.run_recorded(|state| {
            let directory = Arc::clone(state.descriptor(handle)?.directory()?);
            operation(&state.file_tree(), &directory)
        })
    }

    /// Starts the long part of an operation at a path that is relative to an open directory. In a replay, there is none.
    fn start_work(&mut self, (handle, path): (&Handle, &str), planned: Option<Use>) -> Option<Work> {
        if self.outside.is_replay() {
            return None;
        }
        let directory = Arc::clone(self.descriptor(handle).ok()?.directory().ok()?);
        self.file_tree().start_work(&directory, path, planned?)
    }

    /// Copies an open file to a part, if the operation is about to write to it in this way and the file has no part yet. In a replay,
    /// there is nothing to copy.
    async fn copy_before_writing(&mut self, handle: &Handle, kind: WriteKind) -> FsResult<()> {
        let work = match self.table.get(handle) {
            Ok(Descriptor::File(file)) if !self.outside.is_replay() => Work::copy(file, kind),
            _ => None,
        };
        self.do_work(work).await
    }

    /// Carries out and records a change with two paths, each relative to an open directory. Calls `change` with the path of each
    /// directory and the path that is relative to it.
    fn with_two_paths(
        &mut self,
        (old_handle, old_path): (&Handle, &str),
        (new_handle, new_path): (&Handle, &str),
        change: impl FnOnce(&FileTree, (&str, &str), (&str, &str)) -> FsResult<()>,
    ) -> FsResult<()> {
        self.meter.count_bytes(old_path.len() + new_path.len());
        self.run_recorded(|state| {
            let old_directory = Arc::clone(state.descriptor(old_handle)?.directory()?);
            let new_directory = Arc::clone(state.descriptor(new_handle)?.directory()?);
            change(
                &state.file_tree(),
                (&old_directory, old_path),
                (&new_directory, new_path),
            )
        })
    }

    fn open_writer(&mut self, handle: &Handle, position: Option<Filesize>) -> FsResult<Resource<DynOutputStream>> {
        let writer = self.run_recorded(|state| {
            let descriptor = state.descriptor(handle)?;
            let file = descriptor.file()?;
            match position {
                Some(_) => file.prepare_overwriting()?,
                None => file.prepare_appending()?,
            }
            Ok(Box::new(FileWriter::new(Arc::clone(file), position)) as DynOutputStream)
        })?;
        Ok(self.table.push(writer)?)
    }
}

impl preopens::Host for CallState {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Handle, String)>> {
        let root = self.table.push(Descriptor::Directory("".into()))?;
        Ok(vec![(root, "/".to_owned())])
    }
}

impl types::Host for CallState {
    fn convert_error_code(&mut self, fault: Fault) -> wasmtime::Result<ErrorCode> {
        self.code_for_guest(fault)
    }

    fn filesystem_error_code(&mut self, error: Resource<IoError>) -> wasmtime::Result<Option<ErrorCode>> {
        let fault = self.table.get(&error)?.downcast_ref::<StreamFault>();
        Ok(fault.map(|StreamFault(code)| *code))
    }
}

impl types::HostDescriptor for CallState {
    fn read_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let reader = self.run_recorded(|state| {
            let descriptor = state.descriptor(&handle)?;
            Ok(Box::new(FileReader::new(Arc::clone(descriptor.file()?), offset)) as DynInputStream)
        })?;
        Ok(self.table.push(reader)?)
    }

    async fn write_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.copy_before_writing(&handle, WriteKind::Rewrite).await?;
        self.open_writer(&handle, Some(offset))
    }

    fn append_via_stream(&mut self, handle: Handle) -> FsResult<Resource<DynOutputStream>> {
        self.open_writer(&handle, None)
    }

    /// Ignores the advice. Fails if the handle is not that of a file.
    fn advise(&mut self, handle: Handle, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        self.run_recorded(|state| Ok(state.descriptor(&handle)?.file().map(drop)?))
    }

    fn sync_data(&mut self, handle: Handle) -> FsResult<()> {
        self.run_recorded(|state| state.descriptor(&handle)?.sync())
    }

    fn get_flags(&mut self, handle: Handle) -> FsResult<DescriptorFlags> {
        self.run_recorded(|state| {
            let descriptor = state.descriptor(&handle)?;
            Ok(descriptor.flags(state.file_tree().is_writable()))
        })
    }

    fn get_type(&mut self, handle: Handle) -> FsResult<DescriptorType> {
        self.run_recorded(|state| {
            Ok(match state.descriptor(&handle)? {
                Descriptor::Directory(_) => DescriptorType::Directory,
                Descriptor::File(_) => DescriptorType::RegularFile,
            })
        })
    }

    async fn set_size(&mut self, handle: Handle, size: Filesize) -> FsResult<()> {
        self.copy_before_writing(&handle, kind_of_length(size)).await?;
        self.run_recorded(|state| Ok(state.descriptor(&handle)?.file()?.set_length(size)?))
    }

    fn set_times(&mut self, handle: Handle, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        let follow = true;
        self.run_recorded(|state| match state.descriptor(&handle)? {
            Descriptor::File(open) => Ok(open.set_times(file_times(accessed, modified)?)?),
            Descriptor::Directory(path) => state.file_tree().set_times(&path, ".", follow, (accessed, modified)),
        })
    }

    fn read(&mut self, handle: Handle, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        let (bytes, is_end) = self.run_recorded(|state| {
            let bytes = state.descriptor(&handle)?.file()?.read(length, offset)?;
            let is_end = bytes.is_empty() && length > 0;
            Ok((bytes, is_end))
        })?;
        self.meter.count_bytes(bytes.len());
        Ok((bytes, is_end))
    }

    async fn write(&mut self, handle: Handle, mut bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        bytes.truncate(MAX_TRANSFER_BYTES);
        self.meter.count_bytes(bytes.len());
        self.copy_before_writing(&handle, WriteKind::Rewrite).await?;
        self.run_recorded(|state| {
            state.descriptor(&handle)?.file()?.write(&bytes, offset)?;
            Ok(bytes.len() as Filesize)
        })
    }

    fn read_directory(&mut self, handle: Handle) -> FsResult<Resource<Listing>> {
        let listing = self.at_path((&handle, ""), FileTree::list)?;
        Ok(self.table.push(listing)?)
    }

    fn sync(&mut self, handle: Handle) -> FsResult<()> {
        self.run_recorded(|state| state.descriptor(&handle)?.sync())
    }

    fn create_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.at_path((&handle, &path), |tree, directory| {
            tree.create_directory(directory, &path)
        })
    }

    fn stat(&mut self, handle: Handle) -> FsResult<DescriptorStat> {
        self.run_recorded(|state| {
            let descriptor = state.descriptor(&handle)?;
            Ok(state.file_tree().descriptor_status(&descriptor)?.stat())
        })
    }

    fn stat_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.at_path((&handle, &path), |tree, directory| {
            Ok(tree.status(directory, &path, follows(flags))?.stat())
        })
    }

    fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.at_path((&handle, &path), |tree, directory| {
            tree.set_times(directory, &path, follows(flags), (accessed, modified))
        })
    }

    fn link_at(&mut self, old: Handle, _: PathFlags, old_path: String, new: Handle, new_path: String) -> FsResult<()> {
        self.with_two_paths((&old, &old_path), (&new, &new_path), FileTree::link)
    }

    async fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        descriptor_flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let opening = Opening {
            path_flags,
            open_flags,
            descriptor_flags,
        };
        let work = self.start_work((&handle, &path), opening.planned_use());
        self.do_work(work).await?;
        let opened = self.at_path((&handle, &path), |tree, directory| tree.open(directory, &path, opening))?;
        Ok(self.table.push(opened)?)
    }

    fn readlink_at(&mut self, handle: Handle, path: String) -> FsResult<String> {
        self.at_path((&handle, &path), |tree, directory| tree.read_link(directory, &path))
    }

    fn remove_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.at_path((&handle, &path), |tree, directory| {
            tree.remove_directory(directory, &path)
        })
    }

    async fn rename_at(&mut self, old: Handle, old_path: String, new: Handle, new_path: String) -> FsResult<()> {
        let works = [
            self.start_work((&old, &old_path), Some(Use::Keeps)),
            self.start_work((&new, &new_path), Some(Use::Replaces)),
        ];
        for work in works {
            self.do_work(work).await?;
        }
        self.with_two_paths((&old, &old_path), (&new, &new_path), FileTree::rename)
    }

    fn symlink_at(&mut self, handle: Handle, _: String, path: String) -> FsResult<()> {
        self.at_path((&handle, &path), |tree, directory| tree.refuse_link(directory, &path))
    }

    async fn unlink_file_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let work = self.start_work((&handle, &path), Some(Use::Replaces));
        self.do_work(work).await?;
        self.at_path((&handle, &path), |tree, directory| tree.remove_file(directory, &path))
    }

    fn is_same_object(&mut self, one: Handle, other: Handle) -> wasmtime::Result<bool> {
        let is_same = self.run_recorded(|state| {
            let (one, other) = (state.descriptor(&one)?, state.descriptor(&other)?);
            let tree = state.file_tree();
            let hash = |descriptor| tree.descriptor_status(descriptor).ok().map(|status| status.hash());
            let (one_hash, other_hash) = (hash(&one), hash(&other));
            let halves = |hash: MetadataHashValue| (hash.lower, hash.upper);
            Ok(one_hash.is_some_and(|one| other_hash.is_some_and(|other| halves(one) == halves(other))))
        });
        // This function returns no error code. A fault that does not end the call means that the files are not the same.
        is_same.or_else(|fault| self.code_for_guest(fault).map(|_| false))
    }

    fn metadata_hash(&mut self, handle: Handle) -> FsResult<MetadataHashValue> {
        self.run_recorded(|state| {
            let descriptor = state.descriptor(&handle)?;
            Ok(state.file_tree().descriptor_status(&descriptor)?.hash())
        })
    }

    fn metadata_hash_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<MetadataHashValue> {
        self.at_path((&handle, &path), |tree, directory| {
            Ok(tree.status(directory, &path, follows(flags))?.hash())
        })
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for CallState {
    fn read_directory_entry(&mut self, handle: Resource<Listing>) -> FsResult<Option<DirectoryEntry>> {
        let entry = self.run_recorded(|state| state.table.get_mut(&handle)?.next())?;
        self.meter
            .count_bytes(entry.as_ref().map_or(0, |entry| entry.name.len()));
        Ok(entry)
    }

    fn drop(&mut self, handle: Resource<Listing>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

fn follows(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}
