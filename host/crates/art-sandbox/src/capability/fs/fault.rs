//! Errors of the file system as a guest sees them.

use std::borrow::Cow;
use std::io;

use art_core::capability::{Access, CallGrants, Capability, Denial};
use rustix::io::Errno;
use wasmtime::component::ResourceTableError;

use super::base::refusal_reason;
use super::bindings::types::ErrorCode;

/// An operation on files failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The guest gets this code.
    Code(ErrorCode),
    /// The operation is not allowed. The guest gets a code, and the outcome of the call gets a denial.
    Denied(Box<DeniedOperation>),
    /// The call ends.
    Trap(wasmtime::Error),
}

/// An operation that is not allowed.
#[derive(Debug)]
pub(crate) struct DeniedOperation {
    code: ErrorCode,
    /// The path as the guest names it.
    path: String,
    access: Access,
    /// The reason, if no grant could allow the operation; `None` if the operator may grant it.
    reason: Option<Cow<'static, str>>,
    /// Whether the operating system does not allow it.
    by_system: bool,
}

impl DeniedOperation {
    /// Returns the code for the guest and the denial of the call.
    pub(super) fn into_parts(self, grants: &CallGrants) -> (ErrorCode, Denial) {
        let denial = grants.denial_of_path(&self.path, self.access);
        let denial = match self.reason {
            Some(reason) if self.by_system => Denial::by_system(&denial.resource, self.access, &reason),
            Some(reason) => Denial::new(Capability::Fs, &denial.action, &denial.resource, &reason),
            None => denial,
        };
        (self.code, denial)
    }
}

impl Fault {
    /// Creates the fault for a path that no right covers.
    pub(super) fn no_grant(path: &str, access: Access) -> Self {
        Self::denied(ErrorCode::Access, path, access, None)
    }

    /// Creates the fault for a change at a path where only reading is allowed.
    pub(super) fn read_only(path: &str) -> Self {
        Self::denied(ErrorCode::ReadOnly, path, Access::ReadWrite, None)
    }

    /// Creates the fault for an operation that no grant could allow.
    pub(super) fn never_allowed(
        code: ErrorCode,
        path: &str,
        access: Access,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::denied(code, path, access, Some(reason.into()))
    }

    fn denied(code: ErrorCode, path: &str, access: Access, reason: Option<Cow<'static, str>>) -> Self {
        Self::Denied(Box::new(DeniedOperation {
            code,
            path: path.to_owned(),
            access,
            reason,
            by_system: false,
        }))
    }

    /// Creates the fault for an operation that the operating system does not allow.
    pub(super) fn by_system(error: &io::Error, path: &str, access: Access, reason: String) -> Self {
        Self::Denied(Box::new(DeniedOperation {
            code: code_of_error(error),
            path: path.to_owned(),
            access,
            reason: Some(reason.into()),
            by_system: true,
        }))
    }

    /// Creates the fault for an error of the operating system or of `cap-std` at a path of the guest.
    pub(super) fn of_io_error(error: &io::Error, path: &str, access: Access) -> Self {
        if let Some(reason) = refusal_reason(error) {
            return Self::never_allowed(ErrorCode::Access, path, access, reason);
        }
        match error.raw_os_error() {
            Some(errno) => Self::Code(code_of_errno(Errno::from_raw_os_error(errno))),
            // This is how `cap-std` reports a path or a link that leads out of its directory.
            None if error.kind() == io::ErrorKind::PermissionDenied => {
                Self::never_allowed(ErrorCode::Access, path, access, "it leads out of what is granted")
            }
            None => Self::Code(code_of_kind(error.kind())),
        }
    }
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<ResourceTableError> for Fault {
    fn from(error: ResourceTableError) -> Self {
        match error {
            ResourceTableError::Full => Self::Code(ErrorCode::InsufficientMemory),
            other => Self::Trap(other.into()),
        }
    }
}

/// Returns the code for an I/O error. Never creates a denial, unlike [`Fault::of_io_error`].
pub(super) fn code_of_error(error: &io::Error) -> ErrorCode {
    match error.raw_os_error() {
        Some(errno) => code_of_errno(Errno::from_raw_os_error(errno)),
        None => code_of_kind(error.kind()),
    }
}

fn code_of_kind(kind: io::ErrorKind) -> ErrorCode {
    match kind {
        io::ErrorKind::NotFound => ErrorCode::NoEntry,
        io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
        io::ErrorKind::AlreadyExists => ErrorCode::Exist,
        io::ErrorKind::InvalidInput => ErrorCode::Invalid,
        _ => ErrorCode::Io,
    }
}

fn code_of_errno(errno: Errno) -> ErrorCode {
    match errno {
        // Opening a socket, or a pipe that has no reader, fails with `NXIO`.
        Errno::ACCESS | Errno::NXIO | Errno::NODEV => ErrorCode::Access,
        Errno::PERM => ErrorCode::NotPermitted,
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::EXIST => ErrorCode::Exist,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::LOOP => ErrorCode::Loop,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::XDEV => ErrorCode::CrossDevice,
        Errno::MLINK => ErrorCode::TooManyLinks,
        Errno::BUSY => ErrorCode::Busy,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        Errno::NOMEM | Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
        Errno::BADF => ErrorCode::BadDescriptor,
        Errno::OVERFLOW => ErrorCode::Overflow,
        Errno::ILSEQ => ErrorCode::IllegalByteSequence,
        Errno::NOTSUP => ErrorCode::Unsupported,
        Errno::AGAIN => ErrorCode::WouldBlock,
        Errno::INTR => ErrorCode::Interrupted,
        _ => ErrorCode::Io,
    }
}
