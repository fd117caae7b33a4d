//! The record of what a guest learns from files: the result of each operation, in the form of an *answer*. A replayed call gets
//! every result from the record, and touches no file.

use art_core::intake::{Answer, Body, CrossingKind, FileAnswer, FileStatus};
use art_core::outcome::LogLevel;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::pipe::{ClosedInputStream, ClosedOutputStream};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::Fault;
use super::bindings::types::{
    DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
};
use super::descriptor::Descriptor;
use super::listing::Listing;
use crate::state::CallState;

pub(super) type FsResult<T> = Result<T, Fault>;

/// The value that a successful operation on files returns.
pub(super) trait FileValue: Sized {
    /// Returns the answer that records the value.
    fn answer(&self) -> FileAnswer;

    /// Returns the value that an answer records, or `None` if the answer is that of another operation. For an opened file,
    /// directory or stream, the value is a placeholder: every operation on it gets its result from the record too.
    fn from_answer(answer: FileAnswer) -> Option<Self>;
}

impl CallState {
    /// Carries out an operation on files, and records its result. In a replay, returns the recorded result instead.
    pub(super) fn run_recorded<T: FileValue>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> FsResult<T>,
    ) -> FsResult<T> {
        let kind = CrossingKind::File;
        // Only a replay has a next recorded answer. The answer also goes into the record that the replay itself makes.
        while let Some(recorded) = self.outside.next_recorded(kind).map_err(Fault::Trap)? {
            self.outside.record(recorded.clone());
            match &recorded {
                Answer::File(FileAnswer::Noted(note)) => {
                    self.log_line(LogLevel::Info, note);
                    continue;
                }
                Answer::File(FileAnswer::Worked(bytes)) => {
                    self.meter.count_work(*bytes);
                    continue;
                }
                _ => {}
            }
            return recorded_result(recorded)
                .unwrap_or_else(|| Err(Fault::Trap(self.outside.unfit_answer_error(kind))));
        }
        let result = match operation(self) {
            Err(fault) => Err(self.code_for_guest(fault).map_err(Fault::Trap)?),
            Ok(value) => Ok(value),
        };
        let copied = self.files.as_ref().map_or(0, |files| files.take_work());
        if copied > 0 {
            self.meter.count_work(copied);
            self.outside.record(Answer::File(FileAnswer::Worked(copied)));
        }
        for note in self
            .files
            .iter()
            .flat_map(|files| files.take_notes())
            .collect::<Vec<_>>()
        {
            let note = self.redact(&note).into_owned();
            self.log_line(LogLevel::Info, &note);
            self.outside.record(Answer::File(FileAnswer::Noted(note)));
        }
        let answer = match &result {
            Ok(value) => value.answer(),
            Err(code) => FileAnswer::Failed(code.name().to_owned()),
        };
        self.outside.record(Answer::File(answer));
        Ok(result?)
    }

    /// Returns the error code that the guest gets for a fault. If the fault is a denial, adds it to the denials of the call.
    ///
    /// # Errors
    /// Fails if the fault ends the call.
    pub(super) fn code_for_guest(&mut self, fault: Fault) -> wasmtime::Result<ErrorCode> {
        match fault {
            Fault::Code(code) => Ok(code),
            Fault::Trap(error) => Err(error),
            Fault::Denied(operation) => {
                let (code, denial) = operation.into_parts(&self.grants);
                self.outside.note_denial(denial);
                Ok(code)
            }
        }
    }
}

/// Returns the result that an answer records, which may be an error code. Returns `None` if the answer is that of another
/// operation.
fn recorded_result<T: FileValue>(recorded: Answer) -> Option<FsResult<T>> {
    match recorded {
        Answer::File(FileAnswer::Failed(code)) => error_code_named(&code).map(|code| Err(code.into())),
        Answer::File(answer) => T::from_answer(answer).map(Ok),
        _ => None,
    }
}

/// Returns the error code that has this name, or `None` if there is none.
pub(crate) fn error_code_named(name: &str) -> Option<ErrorCode> {
    use ErrorCode as E;
    const CODES: [ErrorCode; 37] = [
        E::Access,
        E::WouldBlock,
        E::Already,
        E::BadDescriptor,
        E::Busy,
        E::Deadlock,
        E::Quota,
        E::Exist,
        E::FileTooLarge,
        E::IllegalByteSequence,
        E::InProgress,
        E::Interrupted,
        E::Invalid,
        E::Io,
        E::IsDirectory,
        E::Loop,
        E::TooManyLinks,
        E::MessageSize,
        E::NameTooLong,
        E::NoDevice,
        E::NoEntry,
        E::NoLock,
        E::InsufficientMemory,
        E::InsufficientSpace,
        E::NotDirectory,
        E::NotEmpty,
        E::NotRecoverable,
        E::Unsupported,
        E::NoTty,
        E::NoSuchDevice,
        E::Overflow,
        E::NotPermitted,
        E::Pipe,
        E::ReadOnly,
        E::InvalidSeek,
        E::TextFileBusy,
        E::CrossDevice,
    ];
    CODES.into_iter().find(|code| code.name() == name)
}

/// The types of files, with the names by which they are recorded.
const TYPES: [(DescriptorType, &str); 8] = [
    (DescriptorType::Unknown, "unknown"),
    (DescriptorType::BlockDevice, "block-device"),
    (DescriptorType::CharacterDevice, "character-device"),
    (DescriptorType::Directory, "directory"),
    (DescriptorType::Fifo, "fifo"),
    (DescriptorType::SymbolicLink, "symbolic-link"),
    (DescriptorType::RegularFile, "regular-file"),
    (DescriptorType::Socket, "socket"),
];

fn type_name(kind: DescriptorType) -> String {
    let found = TYPES.iter().find(|(other, _)| *other == kind);
    found.map_or("unknown", |(_, name)| name).to_owned()
}

fn type_named(name: &str) -> Option<DescriptorType> {
    let found = TYPES.iter().find(|(_, other)| *other == name);
    found.map(|(kind, _)| *kind)
}

/// The result of an operation that returns nothing.
impl FileValue for () {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Done
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        (answer == FileAnswer::Done).then_some(())
    }
}

/// Whether two descriptors are those of the same file or directory.
impl FileValue for bool {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Same(*self)
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Same(is_same) => Some(is_same),
            _ => None,
        }
    }
}

/// The number of bytes that were written.
impl FileValue for u64 {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Written(*self)
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Written(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// The bytes that were read, and whether the file ends there.
impl FileValue for (Vec<u8>, bool) {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Read(Body(self.0.clone()), self.1)
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Read(Body(bytes), is_end) => Some((bytes, is_end)),
            _ => None,
        }
    }
}

/// The target of a link.
impl FileValue for String {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Link(self.clone())
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Link(target) => Some(target),
            _ => None,
        }
    }
}

impl FileValue for DescriptorType {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Type(type_name(*self))
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Type(name) => type_named(&name),
            _ => None,
        }
    }
}

/// What the guest may do with a descriptor.
impl FileValue for DescriptorFlags {
    fn answer(&self) -> FileAnswer {
        let has = |flag| self.contains(flag);
        FileAnswer::Rights(has(Self::READ), has(Self::WRITE), has(Self::MUTATE_DIRECTORY))
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        let FileAnswer::Rights(read, write, change) = answer else {
            return None;
        };
        let flag_if = |is_set, flag| if is_set { flag } else { Self::empty() };
        Some(flag_if(read, Self::READ) | flag_if(write, Self::WRITE) | flag_if(change, Self::MUTATE_DIRECTORY))
    }
}

impl FileValue for DescriptorStat {
    fn answer(&self) -> FileAnswer {
        let times = [
            self.data_access_timestamp,
            self.data_modification_timestamp,
            self.status_change_timestamp,
        ];
        FileAnswer::Status(FileStatus {
            r#type: type_name(self.type_),
            links: self.link_count,
            size: self.size,
            times: times.map(|time| time.map(|time| (time.seconds, time.nanoseconds))),
        })
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        let FileAnswer::Status(status) = answer else {
            return None;
        };
        let times = status
            .times
            .map(|time| time.map(|(seconds, nanoseconds)| Datetime { seconds, nanoseconds }));
        let [accessed, modified, changed] = times;
        Some(Self {
            type_: type_named(&status.r#type)?,
            link_count: status.links,
            size: status.size,
            data_access_timestamp: accessed,
            data_modification_timestamp: modified,
            status_change_timestamp: changed,
        })
    }
}

impl FileValue for MetadataHashValue {
    fn answer(&self) -> FileAnswer {
        FileAnswer::Hash(self.lower, self.upper)
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Hash(lower, upper) => Some(Self { lower, upper }),
            _ => None,
        }
    }
}

impl FileValue for Option<DirectoryEntry> {
    fn answer(&self) -> FileAnswer {
        match self {
            Some(entry) => FileAnswer::Entry(type_name(entry.type_), entry.name.clone()),
            None => FileAnswer::End,
        }
    }

    fn from_answer(answer: FileAnswer) -> Option<Self> {
        match answer {
            FileAnswer::Entry(kind, name) => Some(Some(DirectoryEntry {
                type_: type_named(&kind)?,
                name,
            })),
            FileAnswer::End => Some(None),
            _ => None,
        }
    }
}

/// Implements [`FileValue`] for opened files, directories and streams, each with its placeholder for replays.
macro_rules! impl_for_opened {
    ($($result:ty => $placeholder:expr),* $(,)?) => {$(
        impl FileValue for $result {
            fn answer(&self) -> FileAnswer {
                FileAnswer::Opened
            }

            fn from_answer(answer: FileAnswer) -> Option<Self> {
                if answer == FileAnswer::Opened { Some($placeholder) } else { None }
            }
        }
    )*};
}

impl_for_opened! {
    Descriptor => Self::Directory("".into()),
    Listing => Self::empty(),
    DynInputStream => Box::new(ClosedInputStream),
    DynOutputStream => Box::new(ClosedOutputStream),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_by_its_name() {
        // The first code of the list, one in the middle, and the last one.
        for code in [ErrorCode::Access, ErrorCode::NoEntry, ErrorCode::CrossDevice] {
            assert_eq!(error_code_named(code.name()), Some(code));
        }
        assert_eq!(error_code_named("no-such-code"), None);
    }

    #[test]
    fn a_recorded_value_is_read_back_and_the_answer_of_another_operation_is_refused() {
        /// Converts `value` to an answer, the answer back to a value, and returns the answer of that value.
        fn answer_after_round_trip<T: FileValue>(value: &T) -> FileAnswer {
            T::from_answer(value.answer()).unwrap().answer()
        }
        let stat = DescriptorStat {
            type_: DescriptorType::SymbolicLink,
            link_count: 2,
            size: 3,
            data_access_timestamp: None,
            data_modification_timestamp: Some(Datetime {
                seconds: 4,
                nanoseconds: 5,
            }),
            status_change_timestamp: Some(Datetime {
                seconds: 6,
                nanoseconds: 7,
            }),
        };
        assert_eq!(answer_after_round_trip(&stat), stat.answer());
        let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
        assert_eq!(answer_after_round_trip(&flags), flags.answer());
        let entry = Some(DirectoryEntry {
            type_: DescriptorType::Fifo,
            name: "f".to_owned(),
        });
        assert_eq!(answer_after_round_trip(&entry), entry.answer());
        for (kind, _) in TYPES {
            assert_eq!(answer_after_round_trip(&kind), kind.answer());
        }
        assert_eq!(
            answer_after_round_trip(&(b"abc".to_vec(), true)),
            (b"abc".to_vec(), true).answer()
        );
        assert_eq!(bool::from_answer(FileAnswer::Done), None);
    }
}
