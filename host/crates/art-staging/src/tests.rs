//! Commits, conflicts and interruptions.

#![expect(clippy::print_stdout, reason = "a child process says when it is ready")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::disk::digest;
use crate::draft::Drafted;
use crate::*;

/// A granted directory and a folder of staged changes.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("granted/sub")).unwrap();
        let fixture = Self { folder };
        fixture.write("a.txt", "old a\n");
        fixture.write("sub/b.txt", "old b\n");
        fixture
    }

    fn granted_path(&self, path: &str) -> PathBuf {
        self.folder.path().join("granted").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.granted_path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.granted_path(path)).ok()
    }

    fn staging(&self) -> Staging {
        Staging::open(&self.folder.path().join("staging")).unwrap()
    }

    fn before(&self, path: &str) -> Before {
        self.read(path)
            .map_or(Before::Nothing, |text| Before::File(digest(text.as_bytes()).unwrap()))
    }

    fn draft(&self) -> Draft {
        let origin = Origin {
            run: "run".to_owned(),
            call: "call".to_owned(),
            tool: "tool".to_owned(),
        };
        self.staging().draft(origin, &self.granted_path("")).unwrap()
    }

    /// Stages new contents for `a.txt`, a new file `new/deep/c.txt`, and the removal of `sub/b.txt` and its folder.
    fn stage(&self) -> ChangeSet {
        let mut draft = self.draft();
        let mut blob = |text: &str| {
            let (name, _) = draft.new_blob().unwrap();
            std::io::Write::write_all(&mut draft.open_blob(&name).unwrap(), text.as_bytes()).unwrap();
            Drafted::Write(name)
        };
        let drafted = vec![
            ("a.txt".into(), blob("new a\n"), self.before("a.txt")),
            ("new/deep/c.txt".into(), blob("new c\n"), Before::Nothing),
            ("new".into(), Drafted::CreateDirectory, Before::Nothing),
            ("new/deep".into(), Drafted::CreateDirectory, Before::Nothing),
            ("sub/b.txt".into(), Drafted::RemoveFile, self.before("sub/b.txt")),
            ("sub".into(), Drafted::RemoveDirectory, Before::Directory),
        ];
        let id = draft.finish(drafted).unwrap().unwrap();
        self.staging().find(&id).unwrap().remove(0)
    }

    fn is_unchanged(&self) -> bool {
        self.read("a.txt").as_deref() == Some("old a\n")
            && self.read("sub/b.txt").as_deref() == Some("old b\n")
            && self.read("new/deep/c.txt").is_none()
    }

    fn is_committed(&self) -> bool {
        self.read("a.txt").as_deref() == Some("new a\n")
            && !self.granted_path("sub").exists()
            && self.read("new/deep/c.txt").as_deref() == Some("new c\n")
    }

    /// Returns the names of the files that a commit left behind.
    fn temporary_files(&self) -> Vec<String> {
        let entries = [
            self.granted_path(""),
            self.granted_path("new/deep"),
            self.granted_path("sub"),
        ];
        let names = entries.iter().filter_map(|path| fs::read_dir(path).ok()).flatten();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".art-")).collect()
    }
}

#[test]
fn staged_changes_have_no_effect_until_they_are_committed() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    assert!(fixture.is_unchanged());
    let committed = fixture.staging().commit(&set, &[]).unwrap();
    assert!(fixture.is_committed());
    assert_eq!(committed.paths.len(), set.changes.len());
    assert_eq!(
        (fixture.temporary_files(), fixture.staging().list().unwrap()),
        (vec![], vec![])
    );
}

#[test]
fn dropped_changes_have_no_effect() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    fixture.staging().discard(&set, &[]).unwrap();
    assert!(fixture.is_unchanged());
    assert!(fixture.staging().list().unwrap().is_empty());
}

#[test]
fn a_commit_waits_while_another_one_has_the_lock() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    let staging = fixture.staging();
    let lock = staging.lock().unwrap();
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| fixture.staging().commit(&set, &[]));
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(fixture.is_unchanged());
        drop(lock);
        committing.join().unwrap().unwrap();
    });
    assert!(fixture.is_committed());
}

#[test]
fn a_single_file_can_be_committed_or_dropped() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    fixture.staging().commit(&set, &["new/deep/c.txt".into()]).unwrap();
    assert_eq!(fixture.read("new/deep/c.txt").as_deref(), Some("new c\n"));
    assert_eq!(fixture.read("a.txt").as_deref(), Some("old a\n"));
    fixture
        .staging()
        .discard(&set, &[fixture.granted_path("a.txt")])
        .unwrap();
    fixture.staging().commit(&set, &[]).unwrap();
    assert_eq!(fixture.read("a.txt").as_deref(), Some("old a\n"));
    assert!(!fixture.granted_path("sub").exists());
    assert!(fixture.staging().list().unwrap().is_empty());
}

#[test]
fn a_file_that_is_not_staged_is_not_committed() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    let error = fixture.staging().commit(&set, &["other.txt".into()]).unwrap_err();
    assert!(error.to_string().contains("have no file `other.txt`"), "{error}");
    assert!(fixture.is_unchanged());
}

#[test]
fn a_file_that_changed_is_a_conflict_and_nothing_is_committed() {
    for (path, text) in [("a.txt", "theirs"), ("sub/b.txt", "theirs")] {
        let fixture = Fixture::new();
        let set = fixture.stage();
        fixture.write(path, text);
        let error = fixture.staging().commit(&set, &[]).unwrap_err();
        let StagingError::Conflicts(conflicts) = error else {
            panic!("{error}")
        };
        assert_eq!(
            conflicts,
            [Conflict {
                path: fixture.granted_path(path)
            }]
        );
        assert_eq!(fixture.read(path).as_deref(), Some(text));
        assert!(!fixture.granted_path("new").exists());
        assert_eq!(fixture.temporary_files(), Vec::<String>::new());
        assert_eq!(fixture.staging().find("run").unwrap(), [set]);
    }
}

#[test]
fn a_file_that_appeared_is_a_conflict() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    fs::create_dir_all(fixture.granted_path("new/deep")).unwrap();
    fixture.write("new/deep/c.txt", "theirs");
    fixture.staging().commit(&set, &[]).unwrap_err();
    assert_eq!(fixture.read("new/deep/c.txt").as_deref(), Some("theirs"));
}

#[test]
fn a_link_that_took_the_place_of_a_file_is_a_conflict() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    let outside = fixture.folder.path().join("outside.txt");
    fs::write(&outside, "old a\n").unwrap();
    fs::remove_file(fixture.granted_path("a.txt")).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.granted_path("a.txt")).unwrap();
    fixture.staging().commit(&set, &[]).unwrap_err();
    assert_eq!(fs::read_to_string(outside).unwrap(), "old a\n");
}

#[test]
fn a_call_that_changed_nothing_leaves_no_change_set() {
    let fixture = Fixture::new();
    assert_eq!(fixture.draft().finish(Vec::new()).unwrap(), None);
    let mut draft = fixture.draft();
    let (name, mut file) = draft.new_blob().unwrap();
    std::io::Write::write_all(&mut file, b"old a\n").unwrap();
    let same = (PathBuf::from("a.txt"), Drafted::Write(name), fixture.before("a.txt"));
    assert_eq!(draft.finish(vec![same]).unwrap(), None);
    assert!(fixture.staging().list().unwrap().is_empty());
}

#[test]
fn a_call_that_is_made_again_replaces_what_it_staged() {
    let fixture = Fixture::new();
    let first = fixture.stage();
    let second = fixture.stage();
    assert_ne!(first.id, second.id);
    assert_eq!(fixture.staging().list().unwrap(), [second]);
}

#[test]
fn a_committed_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    fs::set_permissions(fixture.granted_path("a.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    let set = fixture.stage();
    fixture.staging().commit(&set, &[]).unwrap();
    let mode = fs::metadata(fixture.granted_path("a.txt"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o751);
}

#[test]
fn a_diff_shows_what_changes() {
    let fixture = Fixture::new();
    let set = fixture.stage();
    let diff = |path: &str| {
        let change = set
            .changes
            .iter()
            .find(|change| change.path == Path::new(path))
            .unwrap();
        let diff = fixture.staging().diff(&set, change).unwrap();
        diff.replace(fixture.folder.path().to_str().unwrap(), "")
    };
    assert_eq!(
        diff("a.txt"),
        "--- /granted/a.txt\n+++ /granted/a.txt\n@@ -1 +1 @@\n-old a\n+new a\n"
    );
    assert_eq!(
        diff("new/deep/c.txt"),
        "--- /dev/null\n+++ /granted/new/deep/c.txt\n@@ -0,0 +1 @@\n+new c\n"
    );
    assert_eq!(
        diff("sub/b.txt"),
        "--- /granted/sub/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old b\n"
    );
    assert_eq!(diff("new"), "created directory: /granted/new\n");
}

#[test]
fn opening_the_staging_removes_only_drafts_of_interrupted_calls() {
    let fixture = Fixture::new();
    let count_entries = || fs::read_dir(fixture.folder.path().join("staging")).unwrap().count();
    let running = fixture.draft();
    let before = count_entries();
    drop(fixture.staging());
    assert_eq!(count_entries(), before);
    fs::create_dir(fixture.folder.path().join("staging/1-2-3.draft")).unwrap();
    drop(fixture.staging());
    assert_eq!(count_entries(), before);
    drop(running);
    assert_eq!(count_entries(), before - 1);
}

/// Commits the one change set in the folder that a variable of the environment names. The test below kills it.
#[test]
#[ignore = "run as a child process by the test below"]
fn commit_in_a_child_process() {
    let folder = std::env::var_os("ART_STAGING_TEST").unwrap();
    let staging = Staging::open(&Path::new(&folder).join("staging")).unwrap();
    println!("ready");
    std::io::Read::read(&mut std::io::stdin(), &mut [0]).unwrap();
    let set = staging.list().unwrap().remove(0);
    staging.commit(&set, &[]).unwrap();
}

/// Starts a commit, kills it after `delay`, and returns whether its changes were there before the next start, and after it.
fn kill_commit(fixture: &Fixture, delay: Duration) -> (bool, bool) {
    use std::io::{BufRead as _, Write as _};
    use std::process::{Command, Stdio};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "tests::commit_in_a_child_process",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("ART_STAGING_TEST", fixture.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("ready") {}
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    std::thread::sleep(delay);
    // Killing fails if the commit has ended already.
    drop(child.kill());
    child.wait().unwrap();
    let was_committed = fixture.is_committed();
    let staging = fixture.staging();
    let is_committed = fixture.is_committed();
    assert!(
        is_committed || fixture.is_unchanged(),
        "the files are mixed after {delay:?}"
    );
    assert_eq!(fixture.temporary_files(), Vec::<String>::new(), "after {delay:?}");
    let remaining = staging.list().unwrap().len();
    assert_eq!(remaining, usize::from(!is_committed), "after {delay:?}");
    (was_committed, is_committed)
}

#[test]
fn a_killed_commit_changes_all_files_or_none() {
    const ROUNDS: u32 = 200;
    let (mut committed, mut unchanged, mut committed_at_start) = (0, 0, 0);
    // About the time that a commit takes, which depends on the machine and on what else it does.
    let mut longest = Duration::from_millis(5);
    for round in 0..ROUNDS {
        let fixture = Fixture::new();
        fixture.stage();
        // The delays cover the whole time of a commit, in an order without a pattern.
        let delay = longest * (round * 7 % 20 + 1) / 20;
        let (was_committed, is_committed) = kill_commit(&fixture, delay);
        committed += u32::from(is_committed);
        unchanged += u32::from(!is_committed);
        committed_at_start += u32::from(is_committed && !was_committed);
        if is_committed && delay < longest / 2 {
            longest = longest * 9 / 10;
        } else if !is_committed && delay > longest / 2 {
            longest = longest * 11 / 10;
        }
    }
    println!("{committed} committed, of these {committed_at_start} at the next start; {unchanged} not");
    assert!(committed > 0 && unchanged > 0);
}
