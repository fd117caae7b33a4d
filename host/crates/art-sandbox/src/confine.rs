//! Limits what the processes of the host may ask of the kernel. This is the second wall, in case a guest gets out of its sandbox,
//! or a component takes over the compiler.
//!
//! The process that compiles components needs no file, no network and no other process: Landlock and a seccomp filter take all
//! of that away before the process reads the component. The host itself opens granted files, sends requests and starts the
//! compiler, so it only loses system calls that no part of it and none of its children needs. A process cannot undo its
//! restrictions, and its children inherit them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::process::Command;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde::{Deserialize, Serialize};

/// System calls that no process of the host needs: they look into other processes, change the machine, or reach parts of the
/// kernel in which faults are common.
const DENIED_TO_ALL: [i64; 30] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
];

/// Further system calls that the compiler does not need: they open or change files, use sockets, or reach other programs and
/// processes.
const DENIED_TO_COMPILER: [i64; 32] = [
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_kill,
    libc::SYS_linkat,
    libc::SYS_listen,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pidfd_open,
    libc::SYS_removexattr,
    libc::SYS_renameat2,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setxattr,
    libc::SYS_socket,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

/// Further system calls that the compiler does not need, which `libc` does not know on every architecture. They do the same as
/// calls in [`DENIED_TO_COMPILER`], except for `vfork`, which starts processes.
#[cfg(target_arch = "x86_64")]
const DENIED_TO_COMPILER_ON_THIS_MACHINE: [i64; 18] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_creat,
    libc::SYS_fchmodat2,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_link,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_open,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_symlink,
    libc::SYS_unlink,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_vfork,
];
#[cfg(target_arch = "aarch64")]
const DENIED_TO_COMPILER_ON_THIS_MACHINE: [i64; 1] = [libc::SYS_renameat];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const DENIED_TO_COMPILER_ON_THIS_MACHINE: [i64; 0] = [];

/// The restrictions of a process. An error says why a restriction is not active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// The filter of system calls.
    pub system_calls: Result<(), String>,
    /// The restriction of files and of the network; `None` if the process is not restricted in that way.
    pub files: Option<Result<(), String>>,
}

/// Confines the process of the host. Call it before the first thread is started.
///
/// The process then writes no core dump, which could contain secrets. It gains no right by starting a program (`no_new_privs`),
/// and cannot use system calls that nothing in it needs.
pub fn confine_host() -> Confinement {
    // An error is not reported here: `art doctor` says whether core dumps are possible.
    forbid_core_dumps().ok();
    Confinement {
        system_calls: deny_system_calls(DENIED_TO_ALL.iter()).map_err(|error| error.to_string()),
        files: None,
    }
}

/// Confines the process of the compiler. It can read and write what is open already, and nothing else.
pub(crate) fn confine_compiler() -> Confinement {
    let files = restrict_files();
    let denied = DENIED_TO_ALL
        .iter()
        .chain(&DENIED_TO_COMPILER)
        .chain(&DENIED_TO_COMPILER_ON_THIS_MACHINE);
    Confinement {
        files: Some(files),
        system_calls: deny_system_calls(denied).map_err(|error| error.to_string()),
    }
}

fn forbid_core_dumps() -> io::Result<()> {
    let maximum = getrlimit(Resource::Core).maximum;
    let none = Rlimit {
        current: Some(0),
        maximum,
    };
    Ok(setrlimit(Resource::Core, none)?)
}

/// Takes away the access to all files and ports, and the right to send signals to other processes.
fn restrict_files() -> Result<(), String> {
    let restrict = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    match restrict() {
        Ok(status) if status.ruleset == RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Lets the system calls in `denied` fail from now on.
fn deny_system_calls<'a>(denied: impl Iterator<Item = &'a i64>) -> io::Result<()> {
    let rules: BTreeMap<i64, Vec<_>> = denied.map(|call| (*call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)
}

/// What a process could still do after it was confined like the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementProbe {
    /// Whether it could read a file.
    pub read_file: bool,
    /// Whether it could connect to a port.
    pub connect: bool,
    /// Whether it could start a program.
    pub start_program: bool,
    /// Why Landlock is not active, if it is not.
    pub landlock: Option<String>,
    /// Why the filter of system calls is not active, if it is not.
    pub seccomp: Option<String>,
}

impl ConfinementProbe {
    /// Confines this process like the compiler, for good, and tries to read a file, to connect to a port and to start a program.
    #[must_use]
    pub fn run() -> Self {
        let confinement = confine_compiler();
        Self {
            read_file: File::open("/proc/version").is_ok(),
            connect: !lacks_permission(TcpStream::connect("127.0.0.1:9")),
            start_program: Command::new("/bin/true").status().is_ok(),
            landlock: confinement.files.and_then(Result::err),
            seccomp: confinement.system_calls.err(),
        }
    }

    /// Returns whether the confinement works: every attempt failed.
    #[must_use]
    pub const fn holds(&self) -> bool {
        !self.read_file && !self.connect && !self.start_program
    }
}

/// Returns whether a connection failed for lack of permission, and not because nobody listens.
fn lacks_permission(connection: io::Result<TcpStream>) -> bool {
    connection.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}
