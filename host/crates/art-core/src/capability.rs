//! What a tool may touch outside of its sandbox: what its manifest requests, what its operator grants, and what one call gets.
//!
//! A right needs two parties. The tool asks for it in its manifest ([`CapabilityRequest`]), and the operator grants it in a
//! file of the home ([`ToolPolicy`]). A component without a manifest gets whatever is granted. [`Authority`] joins
//! requests and grants. For the arguments of a call, it returns the [`CallGrants`] of this call, or the [`Denial`]s that say
//! which grants are missing. By default, a tool gets the time and random numbers, and everything else is denied. Nothing here
//! does I/O: paths and addresses are only compared. The sandbox opens files, and only at or below the granted paths.

mod addresses;
mod authority;
mod commands;
mod denial;
mod disguise;
mod fs;
mod grants;
mod http;
mod learn;
mod policy;
mod request;
mod requested;
mod uses;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use addresses::is_public;
pub use authority::{Authority, BaseDirs, SYSTEM_DIRECTORIES};
pub use denial::{Denial, MAX_DENIALS, revoke_command};
pub use fs::{FsGrant, PathProblem, guest_path};
pub use grants::{CallGrants, FsRight, HttpRight, LinkSet};
pub use http::{HttpGrant, HttpScope, InvalidHttpAddress, RequestTarget, SecretHeader, check_method};
pub use learn::{LearnedPolicy, ObservedCalls, Unused};
pub use policy::{PolicyError, ToolPolicy};
pub use request::{ArgumentRef, CapabilityRequest, RequestedUrl};
pub use requested::Requested;
pub use uses::{GrantUse, GrantUses};

/// A kind of authority that a tool can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Reading the time. Given by default.
    Clock,
    /// Drawing random numbers. Given by default.
    Random,
    /// Reading variables that the operator sets for the tool.
    Env,
    /// Reading and writing files.
    Fs,
    /// Sending HTTP requests.
    Http,
}

impl Capability {
    /// Returns the name, as in JSON and in the file of grants.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Random => "random",
            Self::Env => "env",
            Self::Fs => "fs",
            Self::Http => "http",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What may be done with files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reading files and listing directories.
    #[default]
    Read,
    /// Reading, creating, changing and removing.
    ReadWrite,
}

impl Access {
    /// Returns the name of the action in denials and in records of uses: `read` or `write`.
    #[must_use]
    pub const fn action(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "write",
        }
    }

    /// Returns whether files may be changed.
    #[must_use]
    pub const fn may_write(self) -> bool {
        matches!(self, Self::ReadWrite)
    }
}
