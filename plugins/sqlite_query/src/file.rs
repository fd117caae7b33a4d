//! The files of a database, as a virtual file system (VFS) for the SQL engine `graphitesql`. The files are opened before the
//! engine starts, and are only read.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::rc::Rc;

use graphitesql::vfs::{File, OpenFlags, Vfs};
use graphitesql::{Error, Result};

/// Size of the blocks that are read, in bytes. They are large, because each read is a call into the host, and the number of these
/// calls is limited.
const BLOCK_BYTES: u64 = 64 << 10;
/// Maximum number of blocks of a file that are kept in memory.
const MAX_BLOCKS: usize = 32;

/// An open file. The engine can only read its bytes.
pub(crate) struct ReadOnlyFile {
    file: RefCell<fs::File>,
    size: u64,
    /// The blocks that were used most recently, the latest one first: the index of each block in the file, and its bytes.
    blocks: RefCell<VecDeque<(u64, Rc<[u8]>)>>,
}

impl ReadOnlyFile {
    /// Wraps an open file, and remembers its present size.
    pub(crate) fn new(file: fs::File) -> std::io::Result<Self> {
        Ok(Self {
            size: file.metadata()?.len(),
            file: RefCell::new(file),
            blocks: RefCell::default(),
        })
    }

    /// Returns the bytes of a block. The last block of the file may be shorter.
    fn block(&self, number: u64) -> Result<Rc<[u8]>> {
        let mut blocks = self.blocks.borrow_mut();
        if let Some(at) = blocks.iter().position(|(known, _)| *known == number)
            && let Some(found) = blocks.remove(at)
        {
            blocks.push_front(found.clone());
            return Ok(found.1);
        }
        let block: Rc<[u8]> = self
            .read_block(number)
            .map_err(|error| Error::Io(error.to_string()))?
            .into();
        blocks.truncate(MAX_BLOCKS - 1);
        blocks.push_front((number, block.clone()));
        Ok(block)
    }

    fn read_block(&self, number: u64) -> std::io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(number.saturating_mul(BLOCK_BYTES)))?;
        let mut bytes = Vec::new();
        file.by_ref().take(BLOCK_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl File for ReadOnlyFile {
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> Result<()> {
        while !buffer.is_empty() {
            let block = self.block(offset / BLOCK_BYTES)?;
            let start = usize::try_from(offset % BLOCK_BYTES).unwrap_or_default();
            let bytes = block.get(start..).unwrap_or_default();
            let length = bytes.len().min(buffer.len());
            let (Some(bytes), Some((part, rest))) = (bytes.get(..length), buffer.split_at_mut_checked(length)) else {
                // This never happens, because neither `bytes` nor `buffer` is shorter than `length`.
                break;
            };
            if length == 0 {
                return Err(Error::Io("the file ends too early".to_owned()));
            }
            part.copy_from_slice(bytes);
            offset += length as u64;
            buffer = rest;
        }
        Ok(())
    }

    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn write_all_at(&mut self, _buffer: &[u8], _offset: u64) -> Result<()> {
        Err(read_only_error())
    }

    fn truncate(&mut self, _size: u64) -> Result<()> {
        Err(read_only_error())
    }

    fn sync(&mut self) -> Result<()> {
        Err(read_only_error())
    }
}

/// The files of one database. The engine can open each of them once, and no other files.
pub(crate) struct DatabaseFiles {
    database: RefCell<Option<ReadOnlyFile>>,
    wal: RefCell<Option<ReadOnlyFile>>,
}

impl DatabaseFiles {
    /// The name by which the engine opens the database.
    pub(crate) const DATABASE_NAME: &str = "database";

    pub(crate) fn new(database: ReadOnlyFile, wal: Option<ReadOnlyFile>) -> Self {
        Self {
            database: RefCell::new(Some(database)),
            wal: RefCell::new(wal),
        }
    }

    /// Returns the cell that holds the file with this name, or `None` if the engine may not open a file of this name. The cell is
    /// empty if the engine has opened the file already, or if there is no such file.
    fn file_cell(&self, name: &str) -> Option<&RefCell<Option<ReadOnlyFile>>> {
        match name.strip_prefix(Self::DATABASE_NAME)? {
            "" => Some(&self.database),
            "-wal" => Some(&self.wal),
            _ => None,
        }
    }
}

impl Vfs for DatabaseFiles {
    fn open(&self, path: &str, flags: OpenFlags) -> Result<Box<dyn File>> {
        if flags.write || flags.create {
            return Err(read_only_error());
        }
        let file = self.file_cell(path).and_then(RefCell::take);
        file.map_or_else(
            || Err(Error::CantOpen(path.to_owned())),
            |file| Ok(Box::new(file) as Box<dyn File>),
        )
    }

    fn delete(&self, _path: &str) -> Result<()> {
        Err(read_only_error())
    }

    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.file_cell(path).is_some_and(|cell| cell.borrow().is_some()))
    }
}

fn read_only_error() -> Error {
    Error::CantOpen("the database is only read".to_owned())
}
