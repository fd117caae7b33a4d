//! Tests of the file system without a guest: paths that try to leave a grant, special files, quotas and staged changes.
//!
//! A grant ([`FsGrant`]) is what the operator allows to a tool. A right ([`FsRight`]) is what one call may use of a grant: the
//! path of the grant, or a path below it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use art_core::capability::{Access, CallGrants, FsGrant, FsRight};
use art_staging::{Origin, Staging};
use proptest::prelude::*;
use tempfile::TempDir;

use super::bindings::types::{DescriptorFlags, DescriptorType, ErrorCode, NewTimestamp, OpenFlags, PathFlags};
use super::descriptor::{Descriptor, OpenFile};
use super::open::Opening;
use super::*;
use crate::host_memory::HostMemory;

mod model;
mod names;
mod recovery;
mod writes;

/// A folder with three entries: `inside/`, which the guest sees as `data`, and beside it `canary.txt` and `outside/`, which no
/// grant covers.
struct Fixture {
    folder: TempDir,
    tree: FileTree,
}

fn fs_right(guest_path: &str, host_path: PathBuf, access: Access) -> FsRight {
    FsRight {
        guest_path: guest_path.to_owned(),
        host_path: host_path.clone(),
        access,
        grant: Arc::new(FsGrant::new(host_path, access)),
    }
}

/// Creates the tree of a call with these rights. Changes are not staged.
fn tree(rights: Vec<FsRight>) -> FileTree {
    FileTree::new(
        &CallGrants {
            fs: rights,
            ..CallGrants::clone(&CallGrants::by_default())
        },
        None,
        None,
        (&Arc::default(), &HostMemory::default()),
    )
}

/// Creates the folder, and a tree with this access to `inside/`.
fn fixture(access: Access) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(inside.join("a.txt"), "inside").unwrap();
    fs::write(folder.path().join("canary.txt"), "canary").unwrap();
    fs::create_dir(folder.path().join("outside")).unwrap();
    let tree = tree(vec![fs_right("data", inside, access)]);
    Fixture { folder, tree }
}

impl Fixture {
    fn host_path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn open(&self, path: &str, open_flags: OpenFlags, flags: DescriptorFlags) -> Result<Descriptor, ErrorCode> {
        self.open_in("", path, open_flags, flags)
    }

    fn open_in(
        &self,
        directory: &str,
        path: &str,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Descriptor, ErrorCode> {
        let opening = Opening {
            path_flags: PathFlags::SYMLINK_FOLLOW,
            open_flags,
            descriptor_flags: flags,
        };
        self.tree.open(directory, path, opening).map_err(code)
    }

    fn file(&self, path: &str, open_flags: OpenFlags, flags: DescriptorFlags) -> Result<Arc<OpenFile>, ErrorCode> {
        self.open(path, open_flags, flags)?.file().cloned()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, ErrorCode> {
        self.file(path, OpenFlags::empty(), DescriptorFlags::READ)?.read(100, 0)
    }

    fn create(&self, path: &str) -> Result<Arc<OpenFile>, ErrorCode> {
        self.file(path, OpenFlags::CREATE, DescriptorFlags::WRITE)
    }

    /// Tries every operation of the interface on a path. Returns the names of the operations that worked.
    fn working_operations(&self, path: &str) -> Vec<&'static str> {
        let tree = &self.tree;
        let now = (NewTimestamp::Now, NewTimestamp::Now);
        let empty = OpenFlags::empty();
        let mut worked = Vec::new();
        let mut note_if_ok = |name, is_ok| {
            if is_ok {
                worked.push(name)
            }
        };
        note_if_ok("stat", tree.status("", path, true).is_ok());
        note_if_ok("lstat", tree.status("", path, false).is_ok());
        note_if_ok("read", self.open(path, empty, DescriptorFlags::READ).is_ok());
        let directory = self.open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ);
        let listed = directory.is_ok_and(|open| tree.list(open.directory().unwrap()).is_ok());
        note_if_ok("list", listed);
        note_if_ok("readlink", tree.read_link("", path).is_ok());
        note_if_ok("write", self.open(path, empty, DescriptorFlags::WRITE).is_ok());
        note_if_ok(
            "create",
            self.open(path, OpenFlags::CREATE, DescriptorFlags::WRITE).is_ok(),
        );
        note_if_ok(
            "truncate",
            self.open(path, OpenFlags::TRUNCATE, DescriptorFlags::READ).is_ok(),
        );
        note_if_ok("mkdir", tree.create_directory("", path).is_ok());
        note_if_ok("set_times", tree.set_times("", path, true, now).is_ok());
        // The host function `symlink_at` calls `refuse_link`, which always fails.
        note_if_ok("symlink", tree.refuse_link("", path).is_ok());
        note_if_ok("link_from", tree.link(("", path), ("", "data/linked")).is_ok());
        note_if_ok("link_to", tree.link(("", "data/a.txt"), ("", path)).is_ok());
        note_if_ok("rename_from", tree.rename(("", path), ("", "data/renamed")).is_ok());
        note_if_ok("rename_to", tree.rename(("", "data/a.txt"), ("", path)).is_ok());
        note_if_ok("unlink", tree.remove_file("", path).is_ok());
        note_if_ok("rmdir", tree.remove_directory("", path).is_ok());
        worked
    }

    /// Asserts that nothing outside of the grant was touched.
    fn assert_outside_is_untouched(&self) {
        assert_eq!(fs::read_to_string(self.host_path("canary.txt")).unwrap(), "canary");
        assert_eq!(fs::metadata(self.host_path("canary.txt")).unwrap().nlink(), 1);
        assert_eq!(fs::read_dir(self.host_path("outside")).unwrap().count(), 0);
        let entry_count = fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(entry_count, 3, "something was created beside the grant");
    }
}

fn code(fault: Fault) -> ErrorCode {
    match fault {
        Fault::Code(code) => code,
        Fault::Denied(operation) => operation.into_parts(&CallGrants::by_default()).0,
        Fault::Trap(error) => panic!("{error}"),
    }
}

/// Returns paths that lead out of the grant, that no grant covers, or that cannot be used. Some go through the links of
/// [`plant_links`].
fn refused_paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "",
        "..",
        "../",
        "/",
        "//",
        "/etc/passwd",
        "/data/a.txt",
        "../canary.txt",
        "data/../..",
        "data/../../canary.txt",
        "data/../canary.txt",
        "./../canary.txt",
        "data/sub/../../canary.txt",
        "data/sub/../../../canary.txt",
        "canary.txt",
        "data/./../canary.txt",
        "data//..//canary.txt",
        "data/../data/../canary.txt",
        "data/a.txt\0",
        "\0",
        "data\0/../canary.txt",
        "data/..\\canary.txt/../../../canary.txt",
        "..\\canary.txt",
        "~/canary.txt",
        "data2",
        "dat",
        "data/../inside/a.txt",
        "data/a.txt/../../canary.txt",
        ".../canary.txt",
        "data/out/canary.txt",
        "data/out/.",
        "data/up/canary.txt",
        "data/file_out",
        "data/file_out/",
        "data/file_out/.",
        "data/absolute",
        "data/absolute/",
        "data/passwd",
        "data/passwd/",
        "data/root/etc/passwd",
        "data/self_fd/0",
        "data/self_root/etc/passwd",
        "data/chain",
        "data/chain/",
        "data/loop",
        "data/loop/",
        "data/sub/up2/canary.txt",
    ]
    .map(str::to_owned)
    .into();
    paths.push(format!("data/{}", "a".repeat(5_000)));
    paths.push(format!("data/{}", "a".repeat(256)));
    paths.push("data/".to_owned() + &"../".repeat(1_000));
    paths
}

/// Puts links into the granted directory that lead out of it, and one that leads to itself.
fn plant_links(fixture: &Fixture) {
    let inside = fixture.host_path("inside");
    let plant = |target: &str, name: &str| symlink(target, inside.join(name)).unwrap();
    plant("../outside", "out");
    plant("..", "up");
    plant("../canary.txt", "file_out");
    plant(fixture.host_path("canary.txt").to_str().unwrap(), "absolute");
    plant("/etc/passwd", "passwd");
    plant("/", "root");
    plant("/proc/self/fd", "self_fd");
    plant("/proc/self/root", "self_root");
    plant("file_out", "chain");
    plant("loop", "loop");
    symlink("../..", inside.join("sub/up2")).unwrap();
}

/// Operations that concern a link itself. They do not follow it, and so stay inside.
const OPERATIONS_ON_A_LINK: [&str; 3] = ["lstat", "readlink", "unlink"];

#[test]
fn no_operation_leaves_a_grant() {
    for path in refused_paths() {
        let fixture = fixture(Access::ReadWrite);
        plant_links(&fixture);
        let mut worked = fixture.working_operations(&path);
        worked.retain(|name| !OPERATIONS_ON_A_LINK.contains(name));
        // `rename_to` replaces a link by the moved file, as on any system.
        worked.retain(|name| *name != "rename_to");
        // The result of `rmdir` is ignored. It says nothing about links, because `unlink` may have removed the link before.
        worked.retain(|name| *name != "rmdir");
        assert!(worked.is_empty(), "`{path}`: {worked:?}");
        fixture.assert_outside_is_untouched();
    }
}

#[test]
fn links_that_stay_inside_are_followed() {
    let fixture = fixture(Access::Read);
    symlink("a.txt", fixture.host_path("inside/link")).unwrap();
    symlink("../a.txt", fixture.host_path("inside/sub/link")).unwrap();
    assert_eq!(fixture.read("data/link").unwrap(), b"inside");
    assert_eq!(fixture.read("data/sub/link").unwrap(), b"inside");
    let type_of = |follow| fixture.tree.status("", "data/link", follow).unwrap().stat().type_;
    assert_eq!(
        (type_of(true), type_of(false)),
        (DescriptorType::RegularFile, DescriptorType::SymbolicLink)
    );
}

#[test]
fn two_dots_remove_the_part_before_them_even_if_it_is_a_link() {
    let fixture = fixture(Access::ReadWrite);
    plant_links(&fixture);
    assert_eq!(fixture.read("data/out/../a.txt").unwrap(), b"inside");
    fixture.create("data/out/../new.txt").unwrap();
    fixture.tree.finish_writes(true).unwrap();
    assert!(fixture.host_path("inside/new.txt").exists());
    fixture.assert_outside_is_untouched();
}

#[test]
fn a_tool_cannot_create_or_move_links() {
    let fixture = fixture(Access::ReadWrite);
    symlink("a.txt", fixture.host_path("inside/link")).unwrap();
    assert_eq!(
        fixture.tree.refuse_link("", "data/new").map_err(code),
        Err(ErrorCode::NotPermitted)
    );
    let moved = fixture.tree.rename(("", "data/link"), ("", "data/sub/link"));
    assert_eq!(moved.map_err(code), Err(ErrorCode::NotPermitted));
    let linked = fixture.tree.link(("", "data/link"), ("", "data/sub/link"));
    assert_eq!(linked.map_err(code), Err(ErrorCode::NotPermitted));
}

#[test]
fn a_path_relative_to_an_open_directory_cannot_leave_it() {
    let fixture = fixture(Access::Read);
    let open = |path| fixture.open_in("data/sub", path, OpenFlags::empty(), DescriptorFlags::READ);
    open(".").unwrap();
    assert_eq!(open("../a.txt").unwrap_err(), ErrorCode::Access);
    assert_eq!(open("x/../../a.txt").unwrap_err(), ErrorCode::Access);
}

#[test]
fn nothing_is_changed_under_a_read_only_grant() {
    let fixture = fixture(Access::Read);
    let before = fs::metadata(fixture.host_path("inside/a.txt")).unwrap();
    for path in ["data/a.txt", "data/new.txt", "data/sub", "data"] {
        let mut worked = fixture.working_operations(path);
        worked.retain(|name| !["stat", "lstat", "read", "list"].contains(name));
        assert!(worked.is_empty(), "`{path}`: {worked:?}");
    }
    let after = fs::metadata(fixture.host_path("inside/a.txt")).unwrap();
    assert_eq!(
        (before.mtime_nsec(), before.len(), before.nlink()),
        (after.mtime_nsec(), after.len(), after.nlink())
    );
    assert_eq!(fs::read_dir(fixture.host_path("inside")).unwrap().count(), 2);
    let file = fixture
        .file("data/a.txt", OpenFlags::empty(), DescriptorFlags::READ)
        .unwrap();
    assert_eq!(file.write(b"x", 0), Err(ErrorCode::NotPermitted));
    assert_eq!(file.append(b"x"), Err(ErrorCode::NotPermitted));
    assert_eq!(file.set_length(0), Err(ErrorCode::NotPermitted));
    assert_eq!(file.set_times(fs::FileTimes::new()), Err(ErrorCode::NotPermitted));
    assert_eq!(fs::read_to_string(fixture.host_path("inside/a.txt")).unwrap(), "inside");
}

#[test]
fn special_files_are_refused_without_waiting() {
    let fixture = fixture(Access::ReadWrite);
    let pipe = fixture.host_path("inside/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(fixture.host_path("inside/socket")).unwrap();
    for path in ["data/pipe", "data/socket"] {
        assert_eq!(fixture.read(path), Err(ErrorCode::Access), "{path}");
        assert_eq!(fixture.create(path).unwrap_err(), ErrorCode::Access, "{path}");
        let truncated = fixture.open(
            path,
            OpenFlags::TRUNCATE,
            DescriptorFlags::READ | DescriptorFlags::WRITE,
        );
        assert_eq!(truncated.unwrap_err(), ErrorCode::Access, "{path}");
    }
    let devices = Fixture {
        folder: tempfile::tempdir().unwrap(),
        tree: tree(vec![fs_right("dev", "/dev".into(), Access::ReadWrite)]),
    };
    for path in ["dev/null", "dev/zero", "dev/tty", "dev/stdin"] {
        devices.read(path).unwrap_err();
    }
}

#[test]
fn a_granted_pipe_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let tree = tree(vec![fs_right("pipe", pipe, Access::Read)]);
    let fixture = Fixture { folder, tree };
    assert_eq!(fixture.read("pipe"), Err(ErrorCode::Access));
}

/// Creates the folder with a quota for `inside/`, which is granted as `data` and as `~/data` by the same grant.
fn fixture_with_quota(max_bytes: u64, max_files: u64) -> Fixture {
    let mut fixture = fixture(Access::ReadWrite);
    let path = fixture.host_path("inside");
    let grant = Arc::new(FsGrant {
        max_bytes,
        max_files,
        ..FsGrant::new(path.clone(), Access::ReadWrite)
    });
    let fs_right = |guest_path: &str| FsRight {
        guest_path: guest_path.to_owned(),
        host_path: path.clone(),
        access: Access::ReadWrite,
        grant: Arc::clone(&grant),
    };
    fixture.tree = tree(vec![fs_right("data"), fs_right("~/data")]);
    fixture
}

#[test]
fn all_rights_of_a_grant_share_its_byte_quota() {
    let (max_bytes, max_files) = (10, 10);
    let fixture = fixture_with_quota(max_bytes, max_files);
    fixture.create("data/one").unwrap().write(b"123456", 0).unwrap();
    // Four bytes remain for a file under the other right.
    let two = fixture.create("~/data/two").unwrap();
    assert_eq!(two.write(b"12345", 0), Err(ErrorCode::InsufficientSpace));
    two.append(b"1234").unwrap();
    assert_eq!(two.append(b"1"), Err(ErrorCode::InsufficientSpace));
    fixture.tree.finish_writes(true).unwrap();
    assert_eq!(fs::read(fixture.host_path("inside/two")).unwrap(), b"1234");
}

#[test]
fn holes_in_files_count_as_bytes() {
    let (max_bytes, max_files) = (1_000, 10);
    let fixture = fixture_with_quota(max_bytes, max_files);
    let file = fixture.create("data/one").unwrap();
    assert_eq!(file.set_length(1 << 60), Err(ErrorCode::InsufficientSpace));
    assert_eq!(file.write(b"x", 1 << 60), Err(ErrorCode::InsufficientSpace));
    assert_eq!(file.write(b"x", u64::MAX), Err(ErrorCode::FileTooLarge));
    file.set_length(600).unwrap();
    // 400 bytes remain. This write would add 401 bytes, counted from the end of the file, and the next write adds 101.
    assert_eq!(file.write(b"x", 1_000), Err(ErrorCode::InsufficientSpace));
    file.write(b"x", 700).unwrap();
}

#[test]
fn files_directories_and_hard_links_count_as_files() {
    let (max_bytes, max_files) = (1_000, 3);
    let fixture = fixture_with_quota(max_bytes, max_files);
    fixture.create("data/one").unwrap();
    fixture.tree.create_directory("", "data/two").unwrap();
    fixture.tree.link(("", "data/one"), ("", "data/three")).unwrap();
    let full = Err(ErrorCode::InsufficientSpace);
    assert_eq!(fixture.create("data/four").map(drop), full);
    assert_eq!(fixture.tree.create_directory("", "data/four").map_err(code), full);
    assert_eq!(
        fixture.tree.link(("", "data/one"), ("", "data/four")).map_err(code),
        full
    );
    // Opening a file that exists takes nothing.
    fixture.create("data/one").unwrap();
    assert!(!fixture.host_path("inside/four").exists());
}

#[test]
fn a_failed_creation_takes_nothing_from_the_quota() {
    let (max_bytes, max_files) = (1_000, 1);
    let fixture = fixture_with_quota(max_bytes, max_files);
    for _ in 0..5 {
        fixture.create("data/missing/file").unwrap_err();
        fixture.tree.create_directory("", "data/sub").unwrap_err();
    }
    fixture.create("data/one").unwrap();
}

#[test]
fn a_directory_above_rights_shows_only_names_that_lead_to_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("me/notes")).unwrap();
    fs::create_dir_all(folder.path().join("me/secret")).unwrap();
    let notes = fs_right("home/me/notes", folder.path().join("me/notes"), Access::ReadWrite);
    let todo = fs_right("home/todo.txt", folder.path().join("todo.txt"), Access::ReadWrite);
    let tree = tree(vec![notes, todo]);
    let names = |path| {
        let mut listing = tree.list(path).unwrap();
        std::iter::from_fn(|| listing.next().unwrap().map(|entry| entry.name)).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["home"]);
    assert_eq!(names("home"), ["me", "todo.txt"]);
    assert_eq!(names("home/me"), ["notes"]);
    assert!(tree.status("", "home/me/secret", true).is_err());
    for path in ["home", "home/me"] {
        assert_eq!(
            tree.status("", path, true).unwrap().stat().type_,
            DescriptorType::Directory
        );
        assert_eq!(tree.create_directory("", path).map_err(code), Err(ErrorCode::Exist));
        assert_eq!(tree.remove_directory("", path).map_err(code), Err(ErrorCode::Access));
    }
}

#[test]
fn a_grant_of_one_file_lets_a_tool_create_it_but_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(vec![fs_right(
        "todo.txt",
        folder.path().join("todo.txt"),
        Access::ReadWrite,
    )]);
    let fixture = Fixture { folder, tree };
    assert_eq!(fixture.read("todo.txt"), Err(ErrorCode::NoEntry));
    fixture.create("todo.txt").unwrap().append(b"x").unwrap();
    assert_eq!(fixture.read("todo.txt").unwrap(), b"x");
    assert_eq!(fixture.create("other.txt").unwrap_err(), ErrorCode::Access);
    assert_eq!(fixture.create("todo.txt/../other.txt").unwrap_err(), ErrorCode::Access);
    assert_eq!(
        fixture.create("todo.txt/other.txt").unwrap_err(),
        ErrorCode::NotDirectory
    );
    assert_eq!(fixture.read("todo.txt/"), Err(ErrorCode::NotDirectory));
    fixture.tree.remove_file("", "todo.txt").unwrap();
    fixture.tree.finish_writes(true).unwrap();
    assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_right_below_a_grant_does_not_follow_a_link_out_of_the_grant() {
    let fixture = fixture(Access::Read);
    plant_links(&fixture);
    let inside = fixture.host_path("inside");
    let grant = Arc::new(FsGrant::new(inside.clone(), Access::ReadWrite));
    for name in [
        "file_out",
        "absolute",
        "passwd",
        "out",
        "out/new.txt",
        "root/etc/passwd",
        "chain",
    ] {
        let fs_right = FsRight {
            guest_path: "x".to_owned(),
            host_path: inside.join(name),
            access: Access::ReadWrite,
            grant: Arc::clone(&grant),
        };
        let tree = tree(vec![fs_right]);
        let opening = |descriptor_flags, open_flags| Opening {
            path_flags: PathFlags::SYMLINK_FOLLOW,
            open_flags,
            descriptor_flags,
        };
        assert!(
            tree.open("", "x", opening(DescriptorFlags::READ, OpenFlags::empty()))
                .is_err(),
            "{name}"
        );
        assert!(
            tree.open("", "x", opening(DescriptorFlags::WRITE, OpenFlags::CREATE))
                .is_err(),
            "{name}"
        );
        assert!(tree.list("x").is_err(), "{name}");
    }
    fixture.assert_outside_is_untouched();
}

#[test]
fn a_right_allows_at_least_what_a_right_above_it_allows() {
    let fixture = fixture(Access::ReadWrite);
    let (whole, part) = (fixture.host_path("inside"), fixture.host_path("inside/sub"));
    let rights = vec![
        fs_right("data", whole, Access::ReadWrite),
        fs_right("data/sub", part, Access::Read),
    ];
    let with_both_rights = Fixture {
        tree: tree(rights),
        folder: fixture.folder,
    };
    with_both_rights.create("data/sub/new.txt").unwrap();
}

#[test]
fn nothing_is_moved_or_linked_from_one_grant_to_another() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("one/a"), "a").unwrap();
    let rights = ["one", "two"].map(|name| fs_right(name, folder.path().join(name), Access::ReadWrite));
    let tree = tree(rights.into());
    let (from, to) = (("", "one/a"), ("", "two/a"));
    assert_eq!(tree.rename(from, to).map_err(code), Err(ErrorCode::CrossDevice));
    assert_eq!(tree.link(from, to).map_err(code), Err(ErrorCode::CrossDevice));
    tree.rename(from, ("", "one/b")).unwrap();
}

/// Creates the tree of a call with a right to `host_path`, which the guest sees as `data`. The right belongs to a copy of `grant`
/// with `stage = true`: changes go to a staging area in `folder`, where they wait until a person commits them.
fn staged_tree(folder: &Path, grant: FsGrant, host_path: PathBuf) -> FileTree {
    let grant = FsGrant { stage: true, ..grant };
    let grants = CallGrants {
        fs: vec![FsRight {
            grant: Arc::new(grant),
            ..fs_right("data", host_path, Access::ReadWrite)
        }],
        ..CallGrants::clone(&CallGrants::by_default())
    };
    let area = StagingArea {
        staging: Arc::new(Staging::open(&folder.join("staging")).unwrap()),
        origin: Origin::default(),
    };
    FileTree::new(&grants, Some(&area), None, (&Arc::default(), &HostMemory::default()))
}

#[test]
fn under_staging_a_file_is_not_moved_if_either_path_ends_with_a_slash() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("a.txt"), "a").unwrap();
    let grant = FsGrant::new(inside.clone(), Access::ReadWrite);
    let tree = staged_tree(folder.path(), grant, inside);
    for (from, to) in [("data/a.txt/", "data/b.txt"), ("data/a.txt", "data/b.txt/")] {
        let moved = tree.rename(("", from), ("", to)).map_err(code);
        assert_eq!(moved, Err(ErrorCode::NotDirectory), "`{from}` to `{to}`");
    }
    tree.rename(("", "data/a.txt"), ("", "data/b.txt")).unwrap();
}

#[test]
fn an_incomplete_staged_file_makes_the_end_of_the_call_fail() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("a.txt"), "old").unwrap();
    let grant = FsGrant {
        max_bytes: 4,
        ..FsGrant::new(inside.clone(), Access::ReadWrite)
    };
    let tree = staged_tree(folder.path(), grant, inside);
    let fixture = Fixture { folder, tree };
    let file = fixture
        .file("data/a.txt", OpenFlags::TRUNCATE, DescriptorFlags::WRITE)
        .unwrap();
    file.write(b"1234", 0).unwrap();
    file.write(b"5", 4).unwrap_err();
    let error = fixture.tree.finish_writes(true).unwrap_err().to_string();
    assert!(
        error.ends_with("a.txt` was not staged: a write to it failed: the quota of the grant is used up"),
        "{error}"
    );
    // What is emptied is complete again.
    fixture
        .file("data/a.txt", OpenFlags::TRUNCATE, DescriptorFlags::WRITE)
        .unwrap();
    fixture.tree.finish_writes(true).unwrap();
}

#[test]
fn under_staging_the_directory_of_a_right_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    // The directory of the right is below that of the grant, so its removal would be a change within the grant.
    let below_grant = folder.path().join("inside/below");
    fs::create_dir_all(below_grant.join("sub")).unwrap();
    let grant = FsGrant::new(folder.path().join("inside"), Access::ReadWrite);
    let tree = staged_tree(folder.path(), grant, below_grant);
    tree.remove_directory("", "data/sub").unwrap();
    let removed = tree.remove_directory("", "data").map_err(code);
    assert_eq!(removed, Err(ErrorCode::NotPermitted));
}

#[test]
fn under_staging_a_file_that_cannot_be_created_takes_nothing_from_the_quota() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir_all(inside.join("d")).unwrap();
    let mut grant = FsGrant::new(inside.clone(), Access::ReadWrite);
    grant.max_files = 1;
    let tree = staged_tree(folder.path(), grant, inside);
    tree.remove_directory("", "data/d").unwrap();
    let creating = || Opening {
        path_flags: PathFlags::empty(),
        open_flags: OpenFlags::CREATE,
        descriptor_flags: DescriptorFlags::WRITE,
    };
    // A file cannot take the place of a directory that the call has removed.
    let in_place_of_directory = tree.open("", "data/d", creating()).map_err(code);
    assert_eq!(in_place_of_directory.err(), Some(ErrorCode::NotPermitted));
    assert!(tree.open("", "data/new.txt", creating()).is_ok());
}

/// Returns the names in a directory of the guest, sorted.
fn names_in(tree: &FileTree, directory: &str) -> Vec<String> {
    let mut listing = tree.list(directory).unwrap();
    let mut names: Vec<_> = std::iter::from_fn(|| listing.next().unwrap().map(|entry| entry.name)).collect();
    names.sort();
    names
}

#[test]
fn a_name_that_is_not_utf8_is_listed_under_a_name_that_no_other_entry_has() {
    let fixture = fixture(Access::Read);
    let inside = fixture.host_path("inside");
    // The escaped name of the first file is the name of the second one.
    for name in [&b"caf\xe9"[..], b"caf\\xE9", b"\xff", b"two\nlines", &[b'n'; 255]] {
        fs::write(inside.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let long = "n".repeat(255);
    let names = [
        "\\xFF",
        "a.txt",
        "caf\\xE9",
        "caf\\xE9\\x00",
        &long,
        "sub",
        "two\nlines",
    ];
    assert_eq!(names_in(&fixture.tree, "data"), names);
    let staged = staged_tree(
        fixture.folder.path(),
        FsGrant::new(inside.clone(), Access::ReadWrite),
        inside,
    );
    assert_eq!(names_in(&staged, "data"), names);
}

#[test]
fn an_entry_whose_name_is_not_utf8_can_only_be_looked_at() {
    for is_staged in [false, true] {
        let mut fixture = fixture(Access::ReadWrite);
        let inside = fixture.host_path("inside");
        let name = OsStr::from_bytes(b"caf\xe9");
        fs::write(inside.join(name), "abc").unwrap();
        fs::create_dir(inside.join(OsStr::from_bytes(b"\xff"))).unwrap();
        fs::write(inside.join(OsStr::from_bytes(b"\xff/a")), "abc").unwrap();
        if is_staged {
            let grant = FsGrant::new(inside.clone(), Access::ReadWrite);
            fixture.tree = staged_tree(&fixture.host_path("outside"), grant, inside.clone());
        }
        for path in ["data/caf\\xE9", "data/\\xFF", "data/\\xFF/a"] {
            assert_eq!(fixture.working_operations(path), ["stat", "lstat"], "{path}");
            assert_eq!(fixture.read(path).unwrap_err(), ErrorCode::IllegalByteSequence);
        }
        assert_eq!(fixture.tree.status("", "data/caf\\xE9", true).unwrap().stat().size, 3);
        assert_eq!(fs::read(inside.join(name)).unwrap(), b"abc");
    }
}

#[test]
fn a_denial_names_the_command_that_grants_the_right() {
    let grants = CallGrants {
        tool: "file_read".into(),
        ..CallGrants::clone(&CallGrants::by_default())
    };
    let suggested_command = |fault| match fault {
        Fault::Denied(operation) => operation.into_parts(&grants).1.command,
        other => panic!("{other:?}"),
    };
    let fixture = fixture(Access::Read);
    let not_granted = fixture.tree.status("", "etc/hosts", true).unwrap_err();
    assert_eq!(
        suggested_command(not_granted).as_deref(),
        Some("art grant add file_read --read /etc/hosts")
    );
    let read_only = fixture.tree.create_directory("", "data/new").unwrap_err();
    assert_eq!(
        suggested_command(read_only).as_deref(),
        Some("art grant add file_read --write /data/new")
    );
}

proptest! {
    #[test]
    fn no_path_reads_or_writes_outside(parts in prop::collection::vec(
        prop_oneof![
            Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("data".to_owned()), Just("sub".to_owned()),
            Just("a.txt".to_owned()), Just("up".to_owned()), Just("out".to_owned()), Just("canary.txt".to_owned()), "[a-z\\\\]{1,3}",
        ],
        0..8,
    )) {
        let fixture = fixture(Access::ReadWrite);
        plant_links(&fixture);
        let path = parts.join("/");
        let read = fixture.read(&path).unwrap_or_default();
        prop_assert_ne!(read.as_slice(), b"canary");
        fixture.working_operations(&path);
        fixture.assert_outside_is_untouched();
        prop_assert!(Path::new(&fixture.host_path("inside")).is_dir());
    }
}
