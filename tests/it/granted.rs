//! A folder, of which a part is granted to the guest `files`.

use std::fs;
use std::path::Path;

use art_core::capability::{Access, BaseDirs, FsGrant, ToolPolicy};
use art_core::intake::{Intake, Replayed};
use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_sandbox::{Plugin, Sandbox};
use art_tools::executor::{CheckedCall, ToolExecutor};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::harness::{components, load_into, output, sandbox, tool_call};

/// A folder with some files, and the guest `files`, which may use a part of the folder.
pub(crate) struct GrantedFolder {
    pub(crate) folder: TempDir,
    pub(crate) tool: Plugin,
}

/// Creates a folder with `outside.txt` and with `notes/`, which contains `a.txt` and `sub/b.txt`. Gives the tool the grants that
/// `grant` returns for the path of `notes/`. The folder is the home directory of the tool, `~`.
pub(crate) fn folder_with_grants(grant: impl FnOnce(&Path) -> Vec<FsGrant>) -> GrantedFolder {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    fs::create_dir_all(notes.join("sub")).unwrap();
    fs::write(notes.join("a.txt"), "first").unwrap();
    fs::write(notes.join("sub/b.txt"), "second").unwrap();
    fs::write(folder.path().join("outside.txt"), "canary").unwrap();
    let tool = load_files_tool(sandbox(), grant(&notes), folder.path());
    GrantedFolder { folder, tool }
}

/// Returns the folder with a grant to read `notes/`.
pub(crate) fn readable_folder() -> GrantedFolder {
    folder_with_grants(|notes| vec![FsGrant::new(notes.to_owned(), Access::Read)])
}

/// Same as [`readable_folder`], with a grant to read and write.
pub(crate) fn writable_folder() -> GrantedFolder {
    folder_with_grants(|notes| vec![FsGrant::new(notes.to_owned(), Access::ReadWrite)])
}

/// Loads the guest `files` with these grants. For the tool, `home` is its home directory and its current directory.
pub(crate) fn load_files_tool(sandbox: &Sandbox, fs: Vec<FsGrant>, home: &Path) -> Plugin {
    let tool = load_into(sandbox, components::FILES).expect("the guest loads");
    let policy = ToolPolicy {
        component: tool.digest(),
        fs,
        ..ToolPolicy::default()
    };
    policy.check().unwrap();
    let base_dirs = BaseDirs {
        home: Some(home.to_owned()),
        current: home.to_owned(),
        ..BaseDirs::default()
    };
    tool.with_policy(policy, base_dirs).unwrap()
}

impl GrantedFolder {
    /// Returns the path of something in the folder.
    pub(crate) fn path(&self, relative_path: &str) -> String {
        self.folder.path().join(relative_path).to_str().unwrap().to_owned()
    }

    /// Makes a call with these steps. Each is an operation, a path and an extra value, which is empty if the operation needs
    /// none.
    pub(crate) async fn call(&self, steps: &[[&str; 3]]) -> Outcome {
        let arguments = json!({ "steps": steps });
        let grants = self.tool.authorize(&arguments).unwrap();
        let call =
            CheckedCall::for_test_with_grants(tool_call(arguments), Limits::EXECUTE, grants, CancellationToken::new());
        self.tool.execute(&call).await
    }

    /// Makes a call with these steps, and returns its outcome as text. Returns an empty text if the call is not authorised.
    pub(crate) async fn call_unless_refused(&self, steps: &[[&str; 3]]) -> String {
        let arguments = json!({ "steps": steps });
        let Ok(grants) = self.tool.authorize(&arguments) else {
            return String::new();
        };
        let call =
            CheckedCall::for_test_with_grants(tool_call(arguments), Limits::EXECUTE, grants, CancellationToken::new());
        format!("{:?}", self.tool.execute(&call).await.ending)
    }

    /// Replays a call. `recorded` is its record: the answers of the host that the call got.
    pub(crate) async fn replay(&self, steps: &[[&str; 3]], recorded: &Intake) -> Replayed {
        let call = CheckedCall::for_test(tool_call(json!({ "steps": steps })), Limits::EXECUTE);
        self.tool.replay(&call, recorded).unwrap().await
    }

    /// Makes a call with these steps, and returns the result of each step.
    pub(crate) async fn run(&self, steps: &[[&str; 3]]) -> Vec<String> {
        let outcome = self.call(steps).await;
        let results = output(&outcome).get("results").cloned();
        serde_json::from_value(results.unwrap()).unwrap()
    }

    /// Makes a call with one step, and returns its result.
    pub(crate) async fn step(&self, operation: &str, relative_path: &str, extra: &str) -> String {
        self.run(&[[operation, &self.path(relative_path), extra]])
            .await
            .remove(0)
    }
}

/// Makes `openat2` fail in all threads of this process, as an older kernel or a container does.
pub(crate) fn deny_openat2(errno: Errno) {
    const OPENAT2: i64 = 437;
    let code = errno.raw_os_error().cast_unsigned();
    let filter = SeccompFilter::new(
        [(OPENAT2, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(code),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter_all_threads(&program).unwrap();
    let denied = openat2(CWD, "/", OFlags::PATH, Mode::empty(), ResolveFlags::empty());
    assert_eq!(denied.unwrap_err(), errno);
}
