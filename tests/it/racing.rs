//! Granted files that another thread changes while a tool uses them.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use art_core::capability::{Access, FsGrant};
use art_tools::executor::ToolExecutor;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::json;

use crate::granted::{GrantedFolder, deny_openat2, folder_with_grants, writable_folder};
use crate::harness::run_alone;

/// Number of calls after which a test fails if none of them has seen both the directory and the link of [`start_exchanging`].
const MAX_CALLS: usize = 40;

/// A thread that does something again and again until it is dropped.
struct RepeatedAction {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RepeatedAction {
    fn start(mut act: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                act();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for RepeatedAction {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Creates the directory `notes/way` and a link to the parent folder of `notes`, and exchanges the two again and again. Only
/// `notes` is granted. The file `outside.txt` of the parent folder has the content `canary`, and the file of the same name in the
/// directory has the content `inside`.
fn start_exchanging(granted: &GrantedFolder) -> RepeatedAction {
    let [way, link] = ["notes/way", "notes/link"].map(|relative_path| granted.path(relative_path));
    fs::create_dir(&way).unwrap();
    fs::write(granted.path("notes/way/outside.txt"), "inside").unwrap();
    symlink("..", &link).unwrap();
    RepeatedAction::start(move || renameat_with(CWD, &way, CWD, &link, RenameFlags::EXCHANGE).unwrap())
}

/// Lets the tool read and write `notes/way/outside.txt` until it has seen both the directory and the link. Asserts that it
/// neither read nor changed the file in the parent folder of `notes`.
async fn assert_tool_stays_in_granted_folder() {
    let granted = writable_folder();
    let exchanging = start_exchanging(&granted);
    let mut saw_both = false;
    let path = granted.path("notes/way/outside.txt");
    for _ in 0..MAX_CALLS {
        // One call reads and writes the file 300 times, and returns each different text or error once. If the link is there when
        // the call ends, what it wrote is refused.
        let seen = granted.call_unless_refused(&[["race", &path, "300"]]).await;
        assert!(!seen.contains("canary"), "{seen}");
        assert_eq!(fs::read_to_string(granted.path("outside.txt")).unwrap(), "canary");
        // The directory leads to `inside`, and the link to a denial.
        saw_both |= seen.contains("inside") && seen.contains("permission denied");
        if saw_both {
            break;
        }
    }
    drop(exchanging);
    assert!(saw_both, "the calls never saw both the directory and the link");
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_again_and_again_never_leads_out() {
    assert_tool_stays_in_granted_folder().await;
}

#[tokio::test]
async fn a_grant_whose_path_becomes_a_link_again_and_again_never_leads_out() {
    let granted = folder_with_grants(|notes| vec![FsGrant::new(notes.join("way"), Access::ReadWrite)]);
    let exchanging = start_exchanging(&granted);
    let path = granted.path("notes/way/outside.txt");
    for _ in 0..MAX_CALLS * 10 {
        let outcome = granted.call_unless_refused(&[["race", &path, "3"]]).await;
        assert!(!outcome.contains("canary"), "{outcome}");
        assert_eq!(fs::read_to_string(granted.path("outside.txt")).unwrap(), "canary");
    }
    drop(exchanging);
    // Once the link stays, every call is refused.
    let (way, link) = (granted.path("notes/way"), granted.path("notes/link"));
    if !fs::symlink_metadata(&way).unwrap().is_symlink() {
        renameat_with(CWD, &way, CWD, &link, RenameFlags::EXCHANGE).unwrap();
    }
    let arguments = json!({"steps": [["race", path, "3"]]});
    assert!(granted.tool.authorize(&arguments).is_err());
}

#[test]
fn a_directory_that_becomes_a_link_never_leads_out_without_openat2() {
    run_alone("racing::without_openat2", "");
}

/// Run by [`a_directory_that_becomes_a_link_never_leads_out_without_openat2`] in a separate process.
#[tokio::test]
#[ignore = "denies itself a system call, so it runs in a process of its own"]
async fn without_openat2() {
    deny_openat2(Errno::NOSYS);
    assert_tool_stays_in_granted_folder().await;
}

#[tokio::test]
async fn a_call_that_reads_a_file_survives_its_repeated_truncation() {
    let granted = writable_folder();
    let path = granted.path("notes/a.txt");
    let truncating = RepeatedAction::start(move || {
        fs::write(&path, vec![b'x'; 100_000]).unwrap();
        fs::File::create(&path).unwrap();
    });
    for _ in 0..5 {
        // One call reads the file 50 times, and returns how many reads have failed.
        let read = granted.step("read_repeatedly", "notes/a.txt", "50").await;
        assert!(read.ends_with(" failed"), "{read}");
    }
    drop(truncating);
}
