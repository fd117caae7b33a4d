//! Tests of files that a call writes where changes are not staged: until the call ends, only the call sees them.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::capability::fs::writes::Progress;

fn read_write() -> DescriptorFlags {
    DescriptorFlags::READ | DescriptorFlags::WRITE
}

impl Fixture {
    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.host_path("inside").join(path)).ok()
    }

    pub(super) fn truncate(&self, path: &str) -> Arc<OpenFile> {
        self.file(path, OpenFlags::CREATE | OpenFlags::TRUNCATE, read_write())
            .unwrap()
    }

    pub(super) fn open_to_change(&self, path: &str) -> Arc<OpenFile> {
        self.file(path, OpenFlags::empty(), read_write()).unwrap()
    }

    /// Returns the names in the granted directory on the host, those of the host's own folders too.
    pub(super) fn host_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.host_path("inside")).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Ends the call, which was stopped or has returned, and begins another one.
    pub(super) fn end_call(&mut self, has_returned: bool) -> Result<(), String> {
        let finished = self.tree.finish_writes(has_returned).map_err(|error| error.to_string());
        self.tree = tree(vec![fs_right("data", self.host_path("inside"), Access::ReadWrite)]);
        finished
    }
}

#[test]
fn what_a_call_writes_is_visible_to_others_when_the_call_has_ended() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.truncate("data/a.txt").write(b"rewritten", 0).unwrap();
    fixture.create("data/sub/new.txt").unwrap().append(b"new").unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"rewritten");
    assert_eq!(fixture.read("data/sub/new.txt").unwrap(), b"new");
    assert_eq!(fixture.tree.status("", "data/a.txt", true).unwrap().stat().size, 9);
    assert_eq!(names_in(&fixture.tree, "data/sub"), ["new.txt"]);
    assert_eq!(names_in(&fixture.tree, "data"), ["a.txt", "sub"]);
    assert_eq!(
        (fixture.text("a.txt").as_deref(), fixture.text("sub/new.txt")),
        (Some("inside"), None)
    );
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("rewritten"));
    assert_eq!(fixture.text("sub/new.txt").as_deref(), Some("new"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn a_call_that_is_stopped_leaves_the_old_files() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.truncate("data/a.txt").write(b"x", 0).unwrap();
    fixture.create("data/new.txt").unwrap();
    fixture.end_call(false).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    // The sandbox drops a call that panicked without ending its writes.
    fixture.open_to_change("data/a.txt").write(b"x", 0).unwrap();
    fixture.tree = tree(Vec::new());
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn all_descriptors_of_a_file_see_what_one_of_them_writes() {
    let fixture = fixture(Access::ReadWrite);
    symlink("a.txt", fixture.host_path("inside/link")).unwrap();
    let early = fixture
        .file("data/a.txt", OpenFlags::empty(), DescriptorFlags::READ)
        .unwrap();
    let early_writer = fixture.open_to_change("data/a.txt");
    let writer = fixture.open_to_change("data/link");
    writer.write(b"I", 0).unwrap();
    early_writer.write(b"N", 1).unwrap();
    let late = fixture
        .file("data/link", OpenFlags::empty(), DescriptorFlags::READ)
        .unwrap();
    for file in [&early, &early_writer, &writer, &late] {
        assert_eq!(file.read(100, 0).unwrap(), b"INside");
    }
    fixture.truncate("data/link");
    assert_eq!(early.read(100, 0).unwrap(), b"");
    writer.write(b"end", 0).unwrap();
    fixture.tree.finish_writes(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("end"));
    assert!(fixture.host_path("inside/link").is_symlink());
}

#[test]
fn a_write_that_breaks_off_leaves_the_old_file() {
    let mut fixture = fixture_with_quota(10, 10);
    let file = fixture.truncate("data/a.txt");
    file.write(b"12345678", 0).unwrap();
    assert_eq!(file.write(b"12345678", 8), Err(ErrorCode::InsufficientSpace));
    drop(file);
    let error = fixture.end_call(true).unwrap_err();
    assert_eq!(
        error,
        "`/data/a.txt` keeps its old content: a write to it failed: the quota of the grant is used up"
    );
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn a_file_that_is_written_again_from_its_beginning_after_a_failure_is_complete() {
    let mut fixture = fixture_with_quota(10, 10);
    let file = fixture.truncate("data/a.txt");
    file.write(b"12345678901", 0).unwrap_err();
    file.set_length(0).unwrap();
    file.write(b"short", 0).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("short"));
}

#[test]
fn written_files_can_be_moved_removed_and_linked_in_the_same_call() {
    let mut fixture = fixture(Access::ReadWrite);
    let tree = &fixture.tree;
    fixture.create("data/temporary").unwrap().write(b"whole", 0).unwrap();
    tree.rename(("", "data/temporary"), ("", "data/a.txt")).unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"whole");
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    fixture.create("data/sub/gone").unwrap();
    let removed = tree.remove_directory("", "data/sub").map_err(code);
    assert_eq!(removed, Err(ErrorCode::NotEmpty));
    assert_eq!(
        tree.create_directory("", "data/sub/gone").map_err(code),
        Err(ErrorCode::Exist)
    );
    // The file moves with its directory.
    tree.rename(("", "data/sub"), ("", "data/moved")).unwrap();
    assert_eq!(names_in(tree, "data/moved"), ["gone"]);
    tree.remove_file("", "data/moved/gone").unwrap();
    assert_eq!(fixture.read("data/moved/gone"), Err(ErrorCode::NoEntry));
    tree.remove_directory("", "data/moved").unwrap();
    fixture.create("data/one").unwrap().write(b"1", 0).unwrap();
    tree.link(("", "data/one"), ("", "data/two")).unwrap();
    assert_eq!(fixture.read("data/two").unwrap(), b"1");
    let exclusive = fixture.open("data/one", OpenFlags::CREATE | OpenFlags::EXCLUSIVE, read_write());
    assert_eq!(exclusive.unwrap_err(), ErrorCode::Exist);
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("whole"));
    assert_eq!(fixture.host_names(), ["a.txt", "one", "two"]);
}

#[test]
fn a_file_that_is_moved_while_it_is_written_has_its_content_at_its_new_path() {
    let mut fixture = fixture(Access::ReadWrite);
    let file = fixture.open_to_change("data/a.txt");
    file.write(b"I", 0).unwrap();
    fixture.tree.rename(("", "data/a.txt"), ("", "data/sub/b.txt")).unwrap();
    file.write(b"N", 1).unwrap();
    assert_eq!(fixture.read("data/sub/b.txt").unwrap(), b"INside");
    fixture.end_call(true).unwrap();
    assert_eq!(
        (fixture.text("a.txt"), fixture.text("sub/b.txt").as_deref()),
        (None, Some("INside"))
    );
}

#[test]
fn the_host_keeps_its_own_names_from_guests() {
    let fixture = fixture(Access::ReadWrite);
    fixture.create("data/new.txt").unwrap();
    let own = fixture.host_names().remove(0);
    assert!(own.starts_with(".art-") && own.ends_with(".part"), "{own}");
    assert_eq!(names_in(&fixture.tree, "data"), ["a.txt", "new.txt", "sub"]);
    for path in [
        format!("data/{own}"),
        format!("data/{own}/0"),
        "data/.art-1.part".to_owned(),
    ] {
        assert_eq!(fixture.working_operations(&path), [""; 0], "{path}");
        assert_eq!(fixture.read(&path), Err(ErrorCode::NoEntry));
    }
}

#[test]
fn a_file_keeps_its_permissions_but_not_those_of_set_user_id() {
    let mut fixture = fixture(Access::ReadWrite);
    let path = fixture.host_path("inside/a.txt");
    let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let mode = || fs::metadata(&path).unwrap().mode() & 0o7777;
    set_mode(0o6751);
    fixture.truncate("data/a.txt").write(b"x", 0).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(mode(), 0o751);
    set_mode(0o6751);
    fixture.open_to_change("data/a.txt").append(b"x").unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!((mode(), fixture.text("a.txt").as_deref()), (0o751, Some("xx")));
}

#[test]
fn a_file_with_two_names_keeps_both() {
    let mut fixture = fixture(Access::ReadWrite);
    let [one, two] = ["inside/a.txt", "inside/sub/two"].map(|path| fixture.host_path(path));
    fs::hard_link(&one, &two).unwrap();
    fixture.truncate("data/a.txt").write(b"rewritten", 0).unwrap();
    assert_eq!(fixture.read("data/sub/two").unwrap(), b"rewritten");
    assert_eq!(fixture.text("sub/two").as_deref(), Some("inside"));
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("sub/two").as_deref(), Some("rewritten"));
    assert_eq!(fs::metadata(&one).unwrap().ino(), fs::metadata(&two).unwrap().ino());
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn appending_and_changing_a_large_file_happen_in_place_and_are_noted() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.open_to_change("data/a.txt").append(b"!").unwrap();
    let large = fixture.host_path("inside/large");
    fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    fixture.open_to_change("data/large").write(b"x", 0).unwrap();
    assert_eq!(
        fixture.tree.take_notes(),
        [
            "`/data/a.txt` is changed in place: something is appended to it",
            "`/data/large` is changed in place: it is larger than 64 MiB"
        ]
    );
    fixture.end_call(false).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside!"));
    assert!(fs::read(&large).unwrap().starts_with(b"x\0"));
}

#[test]
fn of_two_calls_that_write_one_file_the_one_that_ends_last_fails() {
    let mut fixture = fixture(Access::ReadWrite);
    let other = tree(vec![fs_right("data", fixture.host_path("inside"), Access::ReadWrite)]);
    let file = fixture.truncate("data/a.txt");
    file.write(b"first", 0).unwrap();
    let first = std::mem::replace(&mut fixture.tree, other);
    fixture.open_to_change("data/a.txt").write(b"second", 0).unwrap();
    first.finish_writes(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("first"));
    drop((file, first));
    let error = fixture.end_call(true).unwrap_err();
    assert!(
        error.starts_with("`/data/a.txt` was not written: somebody else changed it"),
        "{error}"
    );
    assert_eq!(fixture.text("a.txt").as_deref(), Some("first"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn what_somebody_else_does_to_a_file_meanwhile_is_not_undone() {
    for (change, expected) in [("write", Some("theirs")), ("replace", Some("theirs")), ("remove", None)] {
        let mut fixture = fixture(Access::ReadWrite);
        let path = fixture.host_path("inside/a.txt");
        fixture.open_to_change("data/a.txt").write(b"I", 0).unwrap();
        match change {
            "write" => fs::write(&path, "theirs").unwrap(),
            "replace" => {
                fs::write(fixture.host_path("new"), "theirs").unwrap();
                fs::rename(fixture.host_path("new"), &path).unwrap();
            }
            _ => fs::remove_file(&path).unwrap(),
        }
        fixture.end_call(true).unwrap_err();
        assert_eq!(fixture.text("a.txt").as_deref(), expected, "{change}");
    }
}

#[test]
fn a_file_that_somebody_else_creates_meanwhile_is_not_replaced() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.create("data/new.txt").unwrap().append(b"mine").unwrap();
    fs::write(fixture.host_path("inside/new.txt"), "theirs").unwrap();
    fixture.end_call(true).unwrap_err();
    assert_eq!(fixture.text("new.txt").as_deref(), Some("theirs"));
    // A file that the call itself has removed before is created again.
    let tree = &fixture.tree;
    tree.remove_file("", "data/new.txt").unwrap();
    fixture.create("data/new.txt").unwrap().append(b"mine").unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("new.txt").as_deref(), Some("mine"));
}

#[test]
fn a_failure_of_the_disk_counts_although_the_quota_has_refused_a_write_before() {
    let progress = Progress::default();
    let replaces = false;
    progress.note_failure("the quota of the grant is used up", true);
    assert!(progress.failure(replaces).is_none());
    progress.note_failure("the disk is full", false);
    assert_eq!(progress.failure(replaces).unwrap().reason, "the disk is full");
}

/// Puts a folder with the name of the host's own folder somewhere, which others may read, so that the host refuses it.
fn occupy_part_folder(directory: &Path) {
    let own = directory.join(format!(".art-{}.part", rustix::process::geteuid().as_raw()));
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn where_the_granted_directory_can_have_no_parts_they_are_beside_their_files() {
    let mut fixture = fixture(Access::ReadWrite);
    occupy_part_folder(&fixture.host_path("inside"));
    fixture.create("data/sub/new.txt").unwrap().append(b"new").unwrap();
    assert_eq!(fixture.text("sub/new.txt"), None);
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("sub/new.txt").as_deref(), Some("new"));
    assert_eq!(names_in(&fixture.tree, "data/sub"), ["new.txt"]);
    assert_eq!(fs::read_dir(fixture.host_path("inside/sub")).unwrap().count(), 1);
}

#[test]
fn where_no_part_can_be_created_files_are_created_and_changed_in_place() {
    let mut fixture = fixture(Access::ReadWrite);
    occupy_part_folder(&fixture.host_path("inside"));
    fixture.create("data/new.txt").unwrap().append(b"new").unwrap();
    fixture.truncate("data/a.txt").write(b"x", 0).unwrap();
    assert_eq!(fixture.text("new.txt").as_deref(), Some("new"));
    let notes = fixture.tree.take_notes();
    assert!(
        notes[0].starts_with("`/data/new.txt` is changed in place: "),
        "{notes:?}"
    );
    assert!(notes[1].starts_with("`/data/a.txt` is changed in place: "), "{notes:?}");
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("x"));
    // The folder of somebody else stays.
    assert_eq!(fixture.host_names().len(), 4);
}

#[test]
fn a_large_file_with_two_names_is_changed_in_place_at_once() {
    let mut fixture = fixture(Access::ReadWrite);
    let [large, other] = ["inside/large", "inside/other"].map(|path| fixture.host_path(path));
    fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    fs::hard_link(&large, &other).unwrap();
    fixture.truncate("data/large").write(b"x", 0).unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"x");
    assert_eq!(
        fixture.tree.take_notes(),
        ["`/data/large` is changed in place: it is larger than 64 MiB"]
    );
    fixture.end_call(true).unwrap();
    assert_eq!(fs::read(&large).unwrap(), b"x");
}

#[test]
fn what_is_rewritten_after_something_was_appended_is_protected() {
    let mut fixture = fixture(Access::ReadWrite);
    let appending = fixture.open_to_change("data/a.txt");
    appending.append(b"!").unwrap();
    appending.write(b"I", 0).unwrap();
    appending.append(b"?").unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"Inside!?");
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside!"));
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("Inside!?"));
}

/// Something that is mounted until this is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// Mounts something. Returns `None`, and says so, if that is not possible here.
    fn new(args: &[&OsStr], at: PathBuf) -> Option<Self> {
        let mounted = Command::new("mount").args(args).arg(&at).output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Self(at));
        }
        #[expect(clippy::print_stdout, reason = "a person reads why nothing was tested")]
        {
            println!("skipped: nothing can be mounted here");
        }
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

#[test]
fn files_on_a_file_system_below_the_granted_directory_have_their_parts_there() {
    let mut fixture = fixture(Access::ReadWrite);
    let sub = fixture.host_path("inside/sub");
    let Some(_mounted) = Mounted::new(&["-t", "tmpfs", "tmpfs"].map(OsStr::new), sub) else {
        return;
    };
    fs::write(fixture.host_path("inside/sub/old.txt"), "old").unwrap();
    fixture.create("data/sub/new.txt").unwrap().append(b"new").unwrap();
    fixture.truncate("data/sub/old.txt").write(b"rewritten", 0).unwrap();
    assert_eq!(fixture.text("sub/new.txt"), None);
    assert_eq!(fixture.text("sub/old.txt").as_deref(), Some("old"));
    let moved = fixture.tree.rename(("", "data/sub/new.txt"), ("", "data/new.txt"));
    assert_eq!(moved.map_err(code), Err(ErrorCode::CrossDevice));
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("sub/new.txt").as_deref(), Some("new"));
    assert_eq!(fixture.text("sub/old.txt").as_deref(), Some("rewritten"));
    assert_eq!(fs::read_dir(fixture.host_path("inside/sub")).unwrap().count(), 2);
}

#[test]
fn a_file_that_is_mounted_on_another_one_is_written_in_place_at_the_end() {
    let mut fixture = fixture(Access::ReadWrite);
    let (file, mounted) = (fixture.host_path("inside/a.txt"), fixture.host_path("canary.txt"));
    let args = ["--bind".as_ref(), mounted.as_os_str()];
    let Some(_mounted) = Mounted::new(&args, file) else {
        return;
    };
    fixture.truncate("data/a.txt").write(b"rewritten", 0).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("canary"));
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("rewritten"));
    assert_eq!(fs::read_to_string(&mounted).unwrap(), "rewritten");
}

/// Puts a folder into the granted directory as a call leaves it that is killed while it writes `a.txt` in place.
pub(super) fn leave_as_if_killed(fixture: &Fixture) {
    let file = fixture.host_path("inside/a.txt");
    let metadata = fs::metadata(&file).unwrap();
    let user = fixture
        .host_path("inside")
        .join(format!(".art-{}.part", rustix::process::geteuid().as_raw()));
    let folder = user.join("0123456789abcdef");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&user, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(folder.join("0"), "the new content").unwrap();
    fs::write(folder.join("1"), "inside").unwrap();
    fs::write(folder.join("art-parts"), "").unwrap();
    let kept = serde_json::json!({
        "path": "a.txt", "device": metadata.dev(), "inode": metadata.ino(), "old": "1", "new": "0",
    });
    fs::write(folder.join("1.kept.json"), kept.to_string()).unwrap();
    fs::write(&file, "the new co").unwrap();
}

#[test]
fn the_next_call_puts_back_what_a_killed_one_wrote_in_place() {
    for access in [Access::Read, Access::ReadWrite] {
        let fixture = fixture(access);
        leave_as_if_killed(&fixture);
        assert_eq!(fixture.read("data/a.txt").unwrap(), b"inside");
        assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    }
}

#[test]
fn the_folder_of_a_running_call_is_left_alone() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.truncate("data/a.txt").write(b"new", 0).unwrap();
    let other = tree(vec![fs_right("data", fixture.host_path("inside"), Access::ReadWrite)]);
    assert_eq!(names_in(&other, "data"), ["a.txt", "sub"]);
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("new"));
}

#[test]
fn a_file_of_another_user_keeps_its_owner() {
    let mut fixture = fixture(Access::ReadWrite);
    let path = fixture.host_path("inside/a.txt");
    // Only root can give a file away, and write it afterwards.
    if std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_err() {
        return;
    }
    fixture.truncate("data/a.txt").write(b"rewritten", 0).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    fixture.end_call(true).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_345));
    assert_eq!(fixture.text("a.txt").as_deref(), Some("rewritten"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}
