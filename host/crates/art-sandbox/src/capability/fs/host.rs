//! The functions of `wasi:filesystem`. Each counts what the guest passes, and leaves the work to the tree of files.

use std::sync::Arc;

use art_core::capability::Capability;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, IoError};

use super::Fault;
use super::bindings::preopens;
use super::bindings::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use super::descriptor::{Descriptor, MAX_TRANSFER_BYTES};
use super::listing::Listing;
use super::open::Opening;
use super::status::file_times;
use super::stream::{FileReader, FileWriter, StreamFault};
use super::tree::FileTree;
use crate::state::CallState;

type FsResult<T> = Result<T, Fault>;
type Handle = Resource<Descriptor>;

impl CallState {
    /// Returns the files of the call. From then on its record does not have all that it took in.
    fn file_tree(&mut self) -> Arc<FileTree> {
        self.outside.take_unrecorded(Capability::Fs);
        let (grants, area) = (&self.grants, self.staging.as_ref());
        Arc::clone(self.files.get_or_insert_with(|| Arc::new(FileTree::new(grants, area))))
    }

    fn descriptor(&self, handle: &Handle) -> FsResult<Descriptor> {
        Ok(self.table.get(handle)?.clone())
    }

    /// Returns the files of the call and the path of an open directory, and counts the path that is relative to it.
    fn in_directory(&mut self, handle: &Handle, path: &str) -> FsResult<(Arc<FileTree>, Arc<str>)> {
        let directory = Arc::clone(self.descriptor(handle)?.directory()?);
        let tree = self.file_tree();
        tree.count(path.len());
        Ok((tree, directory))
    }

    /// Calls `change` with two paths, each with the open directory that it is relative to.
    fn with_two_paths(
        &mut self,
        (old, old_path): (&Handle, &str),
        (new, new_path): (&Handle, &str),
        change: impl FnOnce(&FileTree, (&str, &str), (&str, &str)) -> FsResult<()>,
    ) -> FsResult<()> {
        let (_, old) = self.in_directory(old, old_path)?;
        let (tree, new) = self.in_directory(new, new_path)?;
        change(&tree, (&old, old_path), (&new, new_path))
    }

    fn open_writer(&mut self, handle: &Handle, position: Option<Filesize>) -> FsResult<Resource<DynOutputStream>> {
        let descriptor = self.descriptor(handle)?;
        let file = descriptor.file()?;
        file.check_writable()?;
        let writer = FileWriter::new(Arc::clone(file), position);
        Ok(self.table.push(Box::new(writer) as DynOutputStream)?)
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
        match fault {
            Fault::Code(code) => Ok(code),
            Fault::Trap(error) => Err(error),
            Fault::Denied(refusal) => {
                let (code, denial) = refusal.into_parts(&self.grants);
                self.denials.push(denial);
                Ok(code)
            }
        }
    }

    fn filesystem_error_code(&mut self, error: Resource<IoError>) -> wasmtime::Result<Option<ErrorCode>> {
        let fault = self.table.get(&error)?.downcast_ref::<StreamFault>();
        Ok(fault.map(|StreamFault(code)| *code))
    }
}

impl types::HostDescriptor for CallState {
    fn read_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let descriptor = self.descriptor(&handle)?;
        let reader = FileReader::new(Arc::clone(descriptor.file()?), offset);
        Ok(self.table.push(Box::new(reader) as DynInputStream)?)
    }

    fn write_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.open_writer(&handle, Some(offset))
    }

    fn append_via_stream(&mut self, handle: Handle) -> FsResult<Resource<DynOutputStream>> {
        self.open_writer(&handle, None)
    }

    fn advise(&mut self, handle: Handle, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        self.descriptor(&handle)?.file()?;
        Ok(())
    }

    fn sync_data(&mut self, handle: Handle) -> FsResult<()> {
        self.descriptor(&handle)?.sync()
    }

    fn get_flags(&mut self, handle: Handle) -> FsResult<DescriptorFlags> {
        let descriptor = self.descriptor(&handle)?;
        let is_writable = self.file_tree().is_writable();
        Ok(descriptor.flags(is_writable))
    }

    fn get_type(&mut self, handle: Handle) -> FsResult<DescriptorType> {
        Ok(match self.descriptor(&handle)? {
            Descriptor::Directory(_) => DescriptorType::Directory,
            Descriptor::File(_) => DescriptorType::RegularFile,
        })
    }

    fn set_size(&mut self, handle: Handle, size: Filesize) -> FsResult<()> {
        Ok(self.descriptor(&handle)?.file()?.set_length(size)?)
    }

    fn set_times(&mut self, handle: Handle, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        match self.descriptor(&handle)? {
            Descriptor::File(open) => Ok(open.set_times(file_times(accessed, modified)?)?),
            Descriptor::Directory(path) => self.file_tree().set_times(&path, ".", true, (accessed, modified)),
        }
    }

    fn read(&mut self, handle: Handle, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        let bytes = self.descriptor(&handle)?.file()?.read(length, offset)?;
        let is_end = bytes.is_empty() && length > 0;
        Ok((bytes, is_end))
    }

    fn write(&mut self, handle: Handle, mut bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        bytes.truncate(MAX_TRANSFER_BYTES);
        self.descriptor(&handle)?.file()?.write(&bytes, offset)?;
        Ok(bytes.len() as Filesize)
    }

    fn read_directory(&mut self, handle: Handle) -> FsResult<Resource<Listing>> {
        let (tree, directory) = self.in_directory(&handle, "")?;
        Ok(self.table.push(tree.list(&directory)?)?)
    }

    fn sync(&mut self, handle: Handle) -> FsResult<()> {
        self.descriptor(&handle)?.sync()
    }

    fn create_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.create_directory(&directory, &path)
    }

    fn stat(&mut self, handle: Handle) -> FsResult<DescriptorStat> {
        let descriptor = self.descriptor(&handle)?;
        Ok(self.file_tree().status_of(&descriptor)?.stat())
    }

    fn stat_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        Ok(tree.status(&directory, &path, follows(flags))?.stat())
    }

    fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.set_times(&directory, &path, follows(flags), (accessed, modified))
    }

    fn link_at(&mut self, old: Handle, _: PathFlags, old_path: String, new: Handle, new_path: String) -> FsResult<()> {
        self.with_two_paths((&old, &old_path), (&new, &new_path), FileTree::link)
    }

    fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        let opening = Opening {
            path_flags,
            open_flags,
            flags,
        };
        Ok(self.table.push(tree.open(&directory, &path, opening)?)?)
    }

    fn readlink_at(&mut self, handle: Handle, path: String) -> FsResult<String> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.read_link(&directory, &path)
    }

    fn remove_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.remove_directory(&directory, &path)
    }

    fn rename_at(&mut self, old: Handle, old_path: String, new: Handle, new_path: String) -> FsResult<()> {
        self.with_two_paths((&old, &old_path), (&new, &new_path), FileTree::rename)
    }

    fn symlink_at(&mut self, handle: Handle, _: String, path: String) -> FsResult<()> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.create_link(&directory, &path)
    }

    fn unlink_file_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        tree.remove_file(&directory, &path)
    }

    fn is_same_object(&mut self, one: Handle, other: Handle) -> wasmtime::Result<bool> {
        let (one, other) = (self.table.get(&one)?.clone(), self.table.get(&other)?.clone());
        let tree = self.file_tree();
        let hash = |descriptor| tree.status_of(descriptor).ok().map(|status| status.hash());
        let (one, other) = (hash(&one), hash(&other));
        Ok(one.is_some_and(|one| other.is_some_and(|other| (one.lower, one.upper) == (other.lower, other.upper))))
    }

    fn metadata_hash(&mut self, handle: Handle) -> FsResult<MetadataHashValue> {
        let descriptor = self.descriptor(&handle)?;
        Ok(self.file_tree().status_of(&descriptor)?.hash())
    }

    fn metadata_hash_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<MetadataHashValue> {
        let (tree, directory) = self.in_directory(&handle, &path)?;
        Ok(tree.status(&directory, &path, follows(flags))?.hash())
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for CallState {
    fn read_directory_entry(&mut self, handle: Resource<Listing>) -> FsResult<Option<DirectoryEntry>> {
        let tree = self.file_tree();
        let entry = self.table.get_mut(&handle)?.next()?;
        tree.count(entry.as_ref().map_or(0, |entry| entry.name.len()));
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
