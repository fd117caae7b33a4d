//! Tests of clearing what a killed call has left.

use std::os::unix::fs::PermissionsExt as _;

use super::writes::leave_as_if_killed;
use super::*;

impl Fixture {
    /// Returns the folder that a killed call has left.
    fn left_folder(&self) -> PathBuf {
        let user = format!("inside/.art-{}.part", rustix::process::geteuid().as_raw());
        self.host_path(&user).join("0123456789abcdef")
    }
}

#[test]
fn a_file_that_a_person_has_repaired_is_not_overwritten() {
    let fixture = fixture(Access::ReadWrite);
    leave_as_if_killed(&fixture);
    fs::write(fixture.host_path("inside/a.txt"), "repaired").unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"repaired");
    assert_eq!(fixture.host_names(), ["a.txt", "a.txt.before-art", "sub"]);
    assert_eq!(fixture.text("a.txt.before-art").as_deref(), Some("inside"));
}

#[test]
fn a_file_that_has_its_whole_old_or_new_content_stays_as_it_is() {
    for content in ["inside", "the new content"] {
        let fixture = fixture(Access::ReadWrite);
        leave_as_if_killed(&fixture);
        fs::write(fixture.host_path("inside/a.txt"), content).unwrap();
        assert_eq!(fixture.read("data/a.txt").unwrap(), content.as_bytes());
        assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    }
}

#[test]
fn a_file_that_is_gone_or_replaced_needs_no_old_content() {
    for is_replaced in [false, true] {
        let fixture = fixture(Access::ReadWrite);
        leave_as_if_killed(&fixture);
        let file = fixture.host_path("inside/a.txt");
        // The file is kept elsewhere, so that its inode number is not used again.
        fs::rename(&file, fixture.host_path("aside")).unwrap();
        if is_replaced {
            fs::write(&file, "the new co").unwrap();
        }
        assert_eq!(fixture.read("data/a.txt").is_ok(), is_replaced);
        assert!(!fixture.left_folder().exists());
    }
}

#[test]
fn one_file_that_cannot_be_put_back_does_not_stop_the_others() {
    let fixture = fixture(Access::ReadWrite);
    leave_as_if_killed(&fixture);
    fs::write(fixture.left_folder().join("0.kept.json"), "damaged").unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"inside");
    assert!(fixture.left_folder().join("0.kept.json").exists());
    assert!(!fixture.left_folder().join("1.kept.json").exists());
}

#[test]
fn only_what_the_host_has_made_is_removed() {
    let fixture = fixture(Access::ReadWrite);
    leave_as_if_killed(&fixture);
    let (folder, user) = (
        fixture.left_folder(),
        fixture.left_folder().parent().unwrap().to_owned(),
    );
    fs::write(folder.join("notes.txt"), "of a person").unwrap();
    fs::create_dir_all(user.join("other/deep")).unwrap();
    fs::create_dir(user.join("fedcba9876543210")).unwrap();
    fs::write(user.join("fedcba9876543210/0"), "without a marker").unwrap();
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"inside");
    let names = |path: &Path| {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&folder), ["notes.txt"]);
    assert_eq!(names(&user), ["0123456789abcdef", "fedcba9876543210", "other"]);
    assert_eq!(names(&user.join("fedcba9876543210")), ["0"]);
    fs::set_permissions(&user, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_start_clears_what_killed_calls_have_left_also_where_no_right_leads() {
    let fixture = fixture(Access::ReadWrite);
    leave_as_if_killed(&fixture);
    let notes = fixture.host_path("notes");
    let directory = fixture.host_path("inside");
    let device = fs::metadata(&directory).unwrap().dev();
    let note = |name: &str, device: u64, directory: &Path| {
        let text = format!("{device}\n{}", directory.display());
        fs::create_dir_all(&notes).unwrap();
        fs::write(notes.join(name), text).unwrap();
    };
    note("0123456789abcdef", device, &directory);
    note("0000000000000001", device, &fixture.host_path("gone"));
    note("0000000000000002", device + 1, &directory);
    note("not of the host", device, &directory);
    fs::write(notes.join("0000000000000003"), "").unwrap();
    WriteNotes::new(notes.clone()).recover();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    let mut left: Vec<_> = fs::read_dir(&notes)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    // A file system that is not mounted now may be mounted later.
    assert_eq!(left, ["0000000000000002", "not of the host"]);
}

#[test]
fn the_note_of_a_call_stays_until_the_call_ends() {
    let mut fixture = fixture(Access::ReadWrite);
    let path = fixture.host_path("notes");
    let notes = Arc::new(WriteNotes::new(path.clone()));
    let grants = CallGrants {
        fs: vec![fs_right("data", fixture.host_path("inside"), Access::ReadWrite)],
        ..CallGrants::clone(&CallGrants::by_default())
    };
    let memory = (&Arc::default(), &HostMemory::default());
    fixture.tree = FileTree::new(&grants, None, Some(&notes), memory);
    fixture.truncate("data/a.txt").write(b"new", 0).unwrap();
    let count = || fs::read_dir(&path).unwrap().count();
    assert_eq!(count(), 1);
    notes.recover();
    assert_eq!(count(), 1);
    fixture.tree.finish_writes(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("new"));
    assert_eq!(count(), 0);
}
