//! The long parts of operations: what takes longer the larger a file is. They are done in pieces before the operation itself, and the
//! call can be stopped after each piece.

use std::path::PathBuf;
use std::sync::Arc;

use art_core::capability::Access;
use art_core::intake::{Answer, FileAnswer};

use super::Fault;
use super::bindings::types::ErrorCode;
use super::descriptor::OpenFile;
use super::overlay::{Overlay, Reading};
use super::path::GuestPath;
use super::record::FsResult;
use super::tree::{FileTree, Target};
use super::writes::{NewPart, WriteKind};
use crate::crossing::TooManyHostCalls;
use crate::state::CallState;

/// What an operation is about to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It changes the file, which keeps a part of its content or gets another name.
    Keeps,
    /// It removes or replaces the content.
    Replaces,
}

/// The long part of an operation on one file.
#[derive(Debug)]
pub(super) enum Work {
    /// Reading a file whose changes are staged.
    Staged {
        overlay: Arc<Overlay>,
        reading: Box<Reading>,
    },
    /// Copying a file of the host, which the call is about to write.
    OnHost { file: Arc<OpenFile>, part: Box<NewPart> },
}

impl Work {
    /// Starts to copy a file of the host to a part, if it is about to be written in this way and has none.
    pub(super) fn copy(file: &Arc<OpenFile>, kind: WriteKind) -> Option<Self> {
        let part = file.start_part(kind)?;
        let file = Arc::clone(file);
        Some(Self::OnHost { file, part })
    }

    /// Does a piece. Returns its length, which is 0 at the end.
    fn advance(&mut self) -> std::io::Result<usize> {
        match self {
            Self::Staged { reading, .. } => reading.advance(),
            Self::OnHost { part, .. } => part.advance(),
        }
    }

    /// Returns the number of bytes that the end of the call has to copy because of this work.
    fn later_bytes(&self) -> u64 {
        match self {
            Self::Staged { .. } => 0,
            Self::OnHost { part, .. } => part.later_bytes(),
        }
    }

    fn finish(self) -> Result<(), ErrorCode> {
        match self {
            Self::Staged { overlay, reading } => overlay.finish_reading(*reading),
            Self::OnHost { file, part } => file.finish_part(*part),
        }
    }
}

impl FileTree {
    /// Starts the long part of an operation on the file at a path relative to a directory of the guest. Returns `None` if there is
    /// none. What is wrong with the path is left to the operation itself.
    pub(super) fn start_work(&self, directory: &str, path: &str, use_: Use) -> Option<Work> {
        let path = GuestPath::join(directory, path, Access::ReadWrite).ok()?;
        let Target::Granted(granted) = self.target(path, Access::ReadWrite).ok()? else {
            return None;
        };
        granted.check_writable().ok()?;
        let (overlay, host_path): (&Arc<Overlay>, PathBuf) = granted.overlay()?;
        let reading = overlay.start_reading(&host_path, use_ == Use::Keeps).ok()??;
        Some(Work::Staged {
            overlay: Arc::clone(overlay),
            reading: Box::new(reading),
        })
    }
}

impl CallState {
    /// Does work in pieces, lets other guests on the thread run after each piece, and charges the bytes to the call. In a replay,
    /// the bytes come from the record instead.
    pub(super) async fn do_work(&mut self, work: Option<Work>) -> FsResult<()> {
        let Some(mut work) = work else { return Ok(()) };
        let mut total = work.later_bytes();
        self.meter.count_work(total);
        // After an error the work is not finished, and the operation fails.
        while let Ok(bytes) = work.advance() {
            if bytes == 0 {
                work.finish()?;
                break;
            }
            total += bytes as u64;
            self.meter.count_work(bytes as u64);
            if self.meter.exceeds_limits(self.host_fuel()) {
                self.outside.record(Answer::File(FileAnswer::Worked(total)));
                return Err(Fault::Trap(wasmtime::Error::new(TooManyHostCalls)));
            }
            tokio::task::yield_now().await;
        }
        self.outside.record(Answer::File(FileAnswer::Worked(total)));
        Ok(())
    }
}
