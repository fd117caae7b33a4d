//! A VFS of SQLite that records operations. A VFS is a table of functions through which SQLite uses files. This one reports each
//! operation to the [`Disk`] of the file, which may make it fail, and passes it on to the VFS of the system.
//!
//! It is the default VFS of this test program, so the store under test knows nothing of it. Syncs are never passed on, which
//! makes the tests much faster: the machine that runs them keeps its power. Other operations on files that no test records are
//! passed on without a report.

#![expect(
    unsafe_code,
    reason = "the interface of a VFS is written in C; see the safety comments"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::path::Path;
use std::sync::{Arc, Once};

use rusqlite::ffi::{
    SQLITE_OK, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register,
};

use crate::disk::{self, Disk};

/// A file whose operations are reported to a disk.
struct WatchedFile {
    disk: Arc<Disk>,
    name: String,
}

/// An open file. The file of the system's VFS follows it in the memory that SQLite allocates.
#[repr(C)]
struct File {
    base: sqlite3_file,
    /// From `Box::into_raw`, or null for a file that no test records.
    watched: *mut WatchedFile,
}

/// Makes this VFS the default one of the process.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: the default VFS exists for as long as the process; its copy is leaked, as SQLite requires.
        let code = unsafe {
            let system = sqlite3_vfs_find(std::ptr::null());
            let mut vfs = *system;
            vfs.szOsFile += c_int::try_from(size_of::<File>()).unwrap();
            vfs.pNext = std::ptr::null_mut();
            vfs.zName = c"recording".as_ptr();
            vfs.pAppData = system.cast();
            vfs.xOpen = Some(open);
            vfs.xDelete = Some(delete);
            sqlite3_vfs_register(Box::leak(Box::new(vfs)), 1)
        };
        assert_eq!(code, SQLITE_OK);
    });
}

/// Returns the VFS of the system.
///
/// # Safety
/// `vfs` is the one that [`install`] registered.
unsafe fn system_vfs(vfs: *mut sqlite3_vfs) -> *mut sqlite3_vfs {
    // SAFETY: `install` stored it there.
    unsafe { (*vfs).pAppData.cast() }
}

/// Returns the file of the system's VFS.
///
/// # Safety
/// `file` is a [`File`] with the memory that `install` asked for.
unsafe fn system_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes, which `install` made large enough for a `File` and the file of the system's VFS
    // after it. The size of `File` is a multiple of the alignment of pointers, so the second file is aligned too.
    unsafe { file.cast::<u8>().add(size_of::<File>()).cast() }
}

/// Returns an open file with its disk, or `None` if no test records the file.
///
/// # Safety
/// `file` is an open [`File`], and no other thread closes it meanwhile.
unsafe fn watched_file<'a>(file: *mut sqlite3_file) -> Option<&'a WatchedFile> {
    // SAFETY: the pointer is null or from `Box::into_raw`, and freed only when the file is closed.
    unsafe { (*file.cast::<File>()).watched.as_ref() }
}

/// Returns the file with that path and its disk, or `None` if no test records the file. The path is null for a temporary file.
///
/// # Safety
/// `path` is null or ends with a zero.
unsafe fn find_watched(path: *const c_char) -> Option<WatchedFile> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the path is not null, so it ends with a zero.
    let path = Path::new(unsafe { CStr::from_ptr(path) }.to_str().ok()?);
    let disk = disk::find_disk(path)?;
    let name = path.file_name()?.to_str()?.to_owned();
    Some(WatchedFile { disk, name })
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls this with a name that is null or ends with a zero, and with the memory that `install` asked for.
    unsafe {
        (*file).pMethods = std::ptr::null();
        let watched = find_watched(name);
        // To make the opening fail, the disk returns an error, or flags that open the file for reading only.
        let flags_or_error = watched
            .as_ref()
            .map_or(Ok(flags), |WatchedFile { disk, name }| disk.open(name, flags));
        let flags = match flags_or_error {
            Ok(flags) => flags,
            Err(code) => return code,
        };
        let system = system_vfs(vfs);
        let code = ((*system).xOpen.unwrap())(system, name, system_file(file), flags, out);
        if code == SQLITE_OK {
            (*file).pMethods = &raw const METHODS;
            let watched = watched.map(|watched| Box::into_raw(Box::new(watched)));
            (*file.cast::<File>()).watched = watched.unwrap_or(std::ptr::null_mut());
        }
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync_directory: c_int) -> c_int {
    // SAFETY: as in `open`.
    unsafe {
        if let Some(WatchedFile { disk, name }) = find_watched(name) {
            disk.delete(&name, sync_directory != 0);
        }
        let system = system_vfs(vfs);
        ((*system).xDelete.unwrap())(system, name, 0)
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once, and does not use it afterwards.
    unsafe {
        let watched = (*file.cast::<File>()).watched;
        if !watched.is_null() {
            drop(Box::from_raw(watched));
        }
        let system = system_file(file);
        ((*(*system).pMethods).xClose.unwrap())(system)
    }
}

/// Passes a write on. If the disk makes it fail, passes on only the bytes that the disk lets through, and returns the error of
/// the disk.
unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes an open file and as many bytes as it says.
    unsafe {
        let length = usize::try_from(count).unwrap();
        let content = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
        let (written, code) = watched_file(file).map_or((length, SQLITE_OK), |WatchedFile { disk, name }| {
            disk.write(name, u64::try_from(offset).unwrap(), content)
        });
        let system = system_file(file);
        let written = c_int::try_from(written).unwrap();
        let system_code = ((*(*system).pMethods).xWrite.unwrap())(system, bytes, written, offset);
        if system_code == SQLITE_OK { code } else { system_code }
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        if let Some(WatchedFile { disk, name }) = watched_file(file)
            && let Err(code) = disk.truncate(name, u64::try_from(size).unwrap())
        {
            return code;
        }
        let system = system_file(file);
        ((*(*system).pMethods).xTruncate.unwrap())(system, size)
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: as in `write`.
    match unsafe { watched_file(file) } {
        Some(WatchedFile { disk, name }) => disk.sync(name).err().unwrap_or(SQLITE_OK),
        None => SQLITE_OK,
    }
}

/// Maps a part of the index of the write-ahead log (`-shm`) into memory. With `extend`, the index grows if it is too short.
unsafe extern "C" fn map_index(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        if let Some(WatchedFile { disk, .. }) = watched_file(file)
            && extend != 0
            && let Err(code) = disk.grow_index()
        {
            *out = std::ptr::null_mut();
            return code;
        }
        let system = system_file(file);
        ((*(*system).pMethods).xShmMap.unwrap())(system, page, size, extend, out)
    }
}

/// Defines functions that only pass a call on.
macro_rules! pass_on {
    ($($function:ident: $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $function(file: *mut sqlite3_file, $($argument: $type),*) -> $result {
            // SAFETY: the arguments are those that SQLite passed, and the file is open.
            unsafe {
                let system = system_file(file);
                ((*(*system).pMethods).$method.unwrap())(system, $($argument),*)
            }
        }
    )*};
}

pass_on! {
    read: xRead(bytes: *mut c_void, count: c_int, offset: sqlite3_int64) -> c_int;
    size: xFileSize(size: *mut sqlite3_int64) -> c_int;
    lock: xLock(level: c_int) -> c_int;
    unlock: xUnlock(level: c_int) -> c_int;
    check_lock: xCheckReservedLock(result: *mut c_int) -> c_int;
    control: xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size: xSectorSize() -> c_int;
    characteristics: xDeviceCharacteristics() -> c_int;
    lock_index: xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int;
    index_barrier: xShmBarrier() -> ();
    unmap_index: xShmUnmap(delete: c_int) -> c_int;
}

/// The methods of an open file. Version 2 supports a write-ahead log but no memory mapping, so all reads and writes are calls of
/// these methods.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_lock),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(map_index),
    xShmLock: Some(lock_index),
    xShmBarrier: Some(index_barrier),
    xShmUnmap: Some(unmap_index),
    xFetch: None,
    xUnfetch: None,
};
