//! Tests of commits, conflicts and interruptions.

#![expect(clippy::print_stdout, reason = "a child process says when it is ready")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::disk::digest;
use crate::draft::DraftedAction;
use crate::*;

/// A granted directory with the files `a.txt` and `sub/b.txt`, and beside it a folder for staged changes.
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

    /// Returns the full path of a file in the granted directory.
    fn granted_path(&self, path: &str) -> PathBuf {
        self.folder.path().join("granted").join(path)
    }

    /// Writes a file in the granted directory.
    fn write(&self, path: &str, text: &str) {
        fs::write(self.granted_path(path), text).unwrap();
    }

    /// Reads a file in the granted directory. `None` if it does not exist.
    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.granted_path(path)).ok()
    }

    /// Opens the folder for staged changes, as a new process would.
    fn open_staging(&self) -> Staging {
        Staging::open(&self.folder.path().join("staging")).unwrap()
    }

    /// Returns what is at a path in the granted directory now: a file or nothing.
    fn current_state(&self, path: &str) -> PathState {
        self.read(path).map_or(PathState::Nothing, |text| {
            PathState::File(digest(text.as_bytes()).unwrap())
        })
    }

    /// Starts a draft for a call, which is the same in each test.
    fn start_draft(&self) -> Draft {
        let origin = Origin {
            run: "run".to_owned(),
            call: "call".to_owned(),
            tool: "tool".to_owned(),
        };
        self.open_staging().draft(origin, &self.granted_path("")).unwrap()
    }

    /// Stages new contents for `a.txt`, a new file `new/deep/c.txt`, and the removal of `sub/b.txt` and its folder.
    fn stage_changes(&self) -> ChangeSet {
        let mut draft = self.start_draft();
        let mut write_blob = |text: &str| {
            let (name, _) = draft.new_blob().unwrap();
            std::io::Write::write_all(&mut draft.open_blob(&name).unwrap(), text.as_bytes()).unwrap();
            DraftedAction::Write(name)
        };
        let drafted = vec![
            ("a.txt".into(), write_blob("new a\n"), self.current_state("a.txt")),
            ("new/deep/c.txt".into(), write_blob("new c\n"), PathState::Nothing),
            ("new".into(), DraftedAction::CreateDirectory, PathState::Nothing),
            ("new/deep".into(), DraftedAction::CreateDirectory, PathState::Nothing),
            (
                "sub/b.txt".into(),
                DraftedAction::RemoveFile,
                self.current_state("sub/b.txt"),
            ),
            ("sub".into(), DraftedAction::RemoveDirectory, PathState::Directory),
        ];
        let id = draft.finish(drafted).unwrap().unwrap();
        self.open_staging().find(&id).unwrap().remove(0)
    }

    /// Returns the folder of a change set.
    fn set_folder(&self, set: &ChangeSet) -> PathBuf {
        self.folder.path().join("staging").join(&set.id)
    }

    /// Returns whether none of the changes of `stage_changes` is made.
    fn is_unchanged(&self) -> bool {
        self.read("a.txt").as_deref() == Some("old a\n")
            && self.read("sub/b.txt").as_deref() == Some("old b\n")
            && self.read("new/deep/c.txt").is_none()
    }

    /// Returns whether all changes of `stage_changes` are made.
    fn is_committed(&self) -> bool {
        self.read("a.txt").as_deref() == Some("new a\n")
            && !self.granted_path("sub").exists()
            && self.read("new/deep/c.txt").as_deref() == Some("new c\n")
    }

    /// Returns the names of the temporary files that a commit left behind.
    fn temporary_files(&self) -> Vec<String> {
        let directories = [
            self.granted_path(""),
            self.granted_path("new/deep"),
            self.granted_path("sub"),
        ];
        let entries = directories.iter().filter_map(|path| fs::read_dir(path).ok()).flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".art-")).collect()
    }
}

#[test]
fn staged_changes_have_no_effect_until_they_are_committed() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    assert!(fixture.is_unchanged());
    let committed = fixture.open_staging().commit(&set, &[]).unwrap();
    assert!(fixture.is_committed());
    assert_eq!(committed.paths.len(), set.changes.len());
    assert_eq!(
        (fixture.temporary_files(), fixture.open_staging().list().unwrap()),
        (vec![], vec![])
    );
}

#[test]
fn discarded_changes_have_no_effect() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    fixture.open_staging().discard(&set, &[]).unwrap();
    assert!(fixture.is_unchanged());
    assert!(fixture.open_staging().list().unwrap().is_empty());
}

#[test]
fn a_commit_waits_while_another_one_has_the_lock() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let staging = fixture.open_staging();
    let lock = staging.lock().unwrap();
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| fixture.open_staging().commit(&set, &[]));
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(fixture.is_unchanged());
        drop(lock);
        committing.join().unwrap().unwrap();
    });
    assert!(fixture.is_committed());
}

#[test]
fn a_single_file_can_be_committed_or_discarded() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    fixture.open_staging().commit(&set, &["new/deep/c.txt".into()]).unwrap();
    assert_eq!(fixture.read("new/deep/c.txt").as_deref(), Some("new c\n"));
    assert_eq!(fixture.read("a.txt").as_deref(), Some("old a\n"));
    // A path can also be given in full.
    fixture
        .open_staging()
        .discard(&set, &[fixture.granted_path("a.txt")])
        .unwrap();
    // Without paths, a commit makes all changes that are left.
    fixture.open_staging().commit(&set, &[]).unwrap();
    assert_eq!(fixture.read("a.txt").as_deref(), Some("old a\n"));
    assert!(!fixture.granted_path("sub").exists());
    assert!(fixture.open_staging().list().unwrap().is_empty());
}

#[test]
fn committing_a_file_without_a_staged_change_is_an_error() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let error = fixture.open_staging().commit(&set, &["other.txt".into()]).unwrap_err();
    assert!(error.to_string().contains("have no file `other.txt`"), "{error}");
    assert!(fixture.is_unchanged());
}

#[test]
fn a_file_that_somebody_else_changed_is_a_conflict_and_nothing_is_committed() {
    let text = "theirs";
    for path in ["a.txt", "sub/b.txt"] {
        let fixture = Fixture::new();
        let set = fixture.stage_changes();
        fixture.write(path, text);
        let error = fixture.open_staging().commit(&set, &[]).unwrap_err();
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
        assert_eq!(fixture.open_staging().find("run").unwrap(), [set]);
    }
}

#[test]
fn a_file_that_somebody_else_created_is_a_conflict() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    fs::create_dir_all(fixture.granted_path("new/deep")).unwrap();
    fixture.write("new/deep/c.txt", "theirs");
    fixture.open_staging().commit(&set, &[]).unwrap_err();
    assert_eq!(fixture.read("new/deep/c.txt").as_deref(), Some("theirs"));
}

#[test]
fn a_link_that_took_the_place_of_a_file_is_a_conflict() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    // The link leads to the same contents as before.
    let outside = fixture.folder.path().join("outside.txt");
    fs::write(&outside, "old a\n").unwrap();
    fs::remove_file(fixture.granted_path("a.txt")).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.granted_path("a.txt")).unwrap();
    fixture.open_staging().commit(&set, &[]).unwrap_err();
    assert_eq!(fs::read_to_string(outside).unwrap(), "old a\n");
}

#[test]
fn a_call_that_changed_nothing_leaves_no_change_set() {
    let fixture = Fixture::new();
    assert_eq!(fixture.start_draft().finish(Vec::new()).unwrap(), None);
    let mut draft = fixture.start_draft();
    let (name, mut file) = draft.new_blob().unwrap();
    std::io::Write::write_all(&mut file, b"old a\n").unwrap();
    let same_contents = (
        PathBuf::from("a.txt"),
        DraftedAction::Write(name),
        fixture.current_state("a.txt"),
    );
    assert_eq!(draft.finish(vec![same_contents]).unwrap(), None);
    assert!(fixture.open_staging().list().unwrap().is_empty());
}

#[test]
fn a_host_that_starts_leaves_the_drafts_that_calls_create_meanwhile() {
    let fixture = Fixture::new();
    let staging = fixture.open_staging();
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| (0..200).for_each(|_| drop(fixture.open_staging())));
        for number in 0..200 {
            let origin = Origin {
                call: number.to_string(),
                ..Origin::default()
            };
            let mut draft = staging.draft(origin, &fixture.granted_path("")).unwrap();
            draft.new_blob().unwrap();
        }
        starting.join().unwrap();
    });
}

#[test]
fn what_somebody_else_has_removed_is_removed() {
    let fixture = Fixture::new();
    fixture.open_staging().remove("nothing").unwrap();
}

#[test]
fn a_call_that_is_made_again_replaces_what_it_staged() {
    let fixture = Fixture::new();
    let first = fixture.stage_changes();
    let second = fixture.stage_changes();
    assert_ne!(first.id, second.id);
    assert_eq!(fixture.open_staging().list().unwrap(), [second]);
}

#[test]
fn a_committed_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    fs::set_permissions(fixture.granted_path("a.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    let set = fixture.stage_changes();
    fixture.open_staging().commit(&set, &[]).unwrap();
    let mode = fs::metadata(fixture.granted_path("a.txt"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o751);
}

/// Gives `a.txt` another name outside of the granted directory, and returns the path of that.
fn link_other_name(fixture: &Fixture) -> PathBuf {
    let other_name = fixture.folder.path().join("other.txt");
    fs::hard_link(fixture.granted_path("a.txt"), &other_name).unwrap();
    other_name
}

#[test]
fn a_committed_file_keeps_its_other_names() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    let other_name = link_other_name(&fixture);
    fs::set_permissions(&other_name, fs::Permissions::from_mode(0o4755)).unwrap();
    let set = fixture.stage_changes();
    let committed = fixture.open_staging().commit(&set, &[]).unwrap();
    assert_eq!(committed.paths.len(), set.changes.len());
    assert!(committed.paths.is_sorted());
    assert!(fixture.is_committed());
    assert_eq!(fs::read_to_string(&other_name).unwrap(), "new a\n");
    assert_eq!(fs::metadata(&other_name).unwrap().permissions().mode() & 0o7777, 0o755);
    assert_eq!(fixture.temporary_files(), Vec::<String>::new());
}

#[test]
fn a_committed_file_keeps_its_owner_its_group_and_its_attributes() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let fixture = Fixture::new();
    let path = fixture.granted_path("a.txt");
    let file = fs::File::open(&path).unwrap();
    let has_attributes = rustix::fs::fsetxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    // Only root can give a file away.
    let is_given_away = chown(&path, Some(12_345), Some(12_345)).is_ok();
    let set = fixture.stage_changes();
    fixture.open_staging().commit(&set, &[]).unwrap();
    assert!(fixture.is_committed());
    let metadata = fs::metadata(&path).unwrap();
    if is_given_away {
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_345));
    }
    if has_attributes {
        let mut value = [0; 4];
        rustix::fs::getxattr(&path, "user.note", &mut value).unwrap();
        assert_eq!(&value, b"kept");
    }
}

/// Leaves a commit of `a.txt`, which has another name, that was killed when `a.txt` had the content `found`. Opens the staging again,
/// and returns the content of the other name.
fn interrupt_overwrite(fixture: &Fixture, found: &str) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let other_name = link_other_name(fixture);
    let set = fixture.stage_changes();
    let written = set.changes.iter().find(|change| change.path == Path::new("a.txt"));
    let metadata = fs::metadata(&other_name).unwrap();
    let overwritten = serde_json::json!({"index": 0, "device": metadata.dev(), "inode": metadata.ino()});
    let journal = serde_json::json!({
        "changes": [written.unwrap()], "directories": [], "overwritten": [overwritten]
    });
    fs::write(fixture.set_folder(&set).join("journal.json"), journal.to_string()).unwrap();
    fixture.write(&format!(".art-{}-0.tmp", set.id), "new a\n");
    fixture.write(&format!(".art-{}-0.old.tmp", set.id), "old a\n");
    fixture.write("a.txt", found);
    fixture.open_staging();
    assert_eq!(fixture.temporary_files(), Vec::<String>::new());
    fs::read_to_string(&other_name).unwrap()
}

#[test]
fn a_commit_that_was_interrupted_while_it_wrote_over_a_file_is_completed() {
    for found in ["old a\n", "new a\n"] {
        assert_eq!(interrupt_overwrite(&Fixture::new(), found), "new a\n");
    }
}

#[test]
fn what_somebody_else_wrote_into_a_file_during_a_commit_stays() {
    let fixture = Fixture::new();
    assert_eq!(interrupt_overwrite(&fixture, "theirs"), "theirs");
    assert_eq!(fixture.read("a.txt.before-art").as_deref(), Some("old a\n"));
    assert_eq!(fixture.open_staging().list().unwrap().len(), 1);
}

/// Stages contents for two names of one file, and commits them.
fn commit_two_names(fixture: &Fixture, contents: [&str; 2]) {
    fs::hard_link(fixture.granted_path("a.txt"), fixture.granted_path("c.txt")).unwrap();
    let mut draft = fixture.start_draft();
    let drafted = ["a.txt", "c.txt"].into_iter().zip(contents).map(|(path, content)| {
        let (blob, _) = draft.new_blob().unwrap();
        std::io::Write::write_all(&mut draft.open_blob(&blob).unwrap(), content.as_bytes()).unwrap();
        (path.into(), DraftedAction::Write(blob), fixture.current_state(path))
    });
    let drafted = drafted.collect();
    let id = draft.finish(drafted).unwrap().unwrap();
    let staging = fixture.open_staging();
    let set = staging.find(&id).unwrap().remove(0);
    assert_eq!(staging.commit(&set, &[]).unwrap().paths.len(), 2);
    let found = ["a.txt", "c.txt"].map(|path| fixture.read(path).unwrap());
    assert_eq!(found, contents);
    assert_eq!(fixture.temporary_files(), Vec::<String>::new());
}

#[test]
fn two_names_of_a_file_stay_together_if_they_get_the_same_content() {
    use std::os::unix::fs::MetadataExt as _;
    let fixture = Fixture::new();
    commit_two_names(&fixture, ["both", "both"]);
    assert_eq!(fs::metadata(fixture.granted_path("a.txt")).unwrap().nlink(), 2);
}

#[test]
fn two_names_of_a_file_that_get_different_contents_become_two_files() {
    commit_two_names(&Fixture::new(), ["one", "other"]);
}

#[test]
fn committed_contents_have_no_permissions_that_were_given_to_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    fs::set_permissions(fixture.granted_path("a.txt"), fs::Permissions::from_mode(0o7755)).unwrap();
    let set = fixture.stage_changes();
    fixture.open_staging().commit(&set, &[]).unwrap();
    let metadata = fs::metadata(fixture.granted_path("a.txt")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o755);
}

#[test]
fn contents_that_changed_after_the_call_are_neither_shown_nor_committed() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let (change, blob) = set
        .changes
        .iter()
        .find_map(|change| match &change.action {
            Action::Write { blob, .. } if change.path == Path::new("new/deep/c.txt") => Some((change, blob)),
            _ => None,
        })
        .unwrap();
    // The length is the same as before.
    fs::write(fixture.set_folder(&set).join(blob), "bad c\n").unwrap();
    let staging = fixture.open_staging();
    let error = staging.commit(&set, &[]).unwrap_err().to_string();
    assert!(
        error.contains("new/deep/c.txt` is not what the tool wrote, so nothing was committed"),
        "{error}"
    );
    assert!(fixture.is_unchanged() && !fixture.granted_path("new").exists());
    assert!(fixture.temporary_files().is_empty());
    let shown = staging.diff(&set, change).unwrap();
    assert!(
        shown.contains("not what the tool wrote") && !shown.contains("bad c"),
        "{shown}"
    );
}

#[test]
fn a_diff_shows_what_changes() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let diff = |path: &str| {
        let change = set
            .changes
            .iter()
            .find(|change| change.path == Path::new(path))
            .unwrap();
        let diff = fixture.open_staging().diff(&set, change).unwrap();
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

/// Leaves the journal of a commit that removes `sub/b.txt` and `sub`, as if the process had been killed before it changed anything.
/// Returns the two changes.
fn interrupt_commit_of_removals(fixture: &Fixture, set: &ChangeSet) -> Vec<Change> {
    let removals = set.changes.iter().filter(|change| change.path.starts_with("sub"));
    let removals: Vec<_> = removals.cloned().collect();
    let journal = serde_json::json!({"changes": removals, "directories": [], "overwritten": []});
    fs::write(fixture.set_folder(set).join("journal.json"), journal.to_string()).unwrap();
    removals
}

#[test]
fn a_discard_first_completes_an_interrupted_commit() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let staging = fixture.open_staging();
    interrupt_commit_of_removals(&fixture, &set);
    let discarded = staging.discard(&set, &[]).unwrap();
    assert!(!discarded.contains(&fixture.granted_path("sub")), "{discarded:?}");
    assert!(!fixture.granted_path("sub").exists());
    assert_eq!(fixture.read("a.txt").as_deref(), Some("old a\n"));
    assert!(staging.list().unwrap().is_empty());
}

#[test]
fn a_discard_after_an_interrupted_commit_of_all_changes_discards_nothing() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let staging = fixture.open_staging();
    let changes = interrupt_commit_of_removals(&fixture, &set);
    let set = ChangeSet { changes, ..set };
    fs::write(
        fixture.set_folder(&set).join("changes.json"),
        serde_json::to_vec(&set).unwrap(),
    )
    .unwrap();
    assert_eq!(staging.discard(&set, &[]).unwrap(), Vec::<PathBuf>::new());
    assert!(!fixture.granted_path("sub").exists());
}

#[test]
fn a_set_whose_directory_is_gone_is_discarded_in_spite_of_an_interrupted_commit() {
    let fixture = Fixture::new();
    let set = fixture.stage_changes();
    let staging = fixture.open_staging();
    interrupt_commit_of_removals(&fixture, &set);
    fs::remove_dir_all(fixture.granted_path("")).unwrap();
    fs::write(fixture.folder.path().join("granted"), "a file").unwrap();
    assert_eq!(staging.discard(&set, &[]).unwrap().len(), set.changes.len());
    assert!(staging.list().unwrap().is_empty());
}

#[test]
fn opening_the_staging_removes_only_drafts_of_interrupted_calls() {
    let fixture = Fixture::new();
    let count_entries = || fs::read_dir(fixture.folder.path().join("staging")).unwrap().count();
    let draft_of_running_call = fixture.start_draft();
    let count_before = count_entries();
    drop(fixture.open_staging());
    assert_eq!(count_entries(), count_before);
    // No process has locked this draft.
    fs::create_dir(fixture.folder.path().join("staging/1-2-3.draft")).unwrap();
    drop(fixture.open_staging());
    assert_eq!(count_entries(), count_before);
    drop(draft_of_running_call);
    assert_eq!(count_entries(), count_before - 1);
}

/// Commits the only change set in the folder that a variable of the environment names. The test below runs this in a child
/// process and kills it.
#[test]
#[ignore = "run as a child process by the test below"]
fn commit_in_a_child_process() {
    let folder = std::env::var_os("ART_STAGING_TEST").unwrap();
    let staging = Staging::open(&Path::new(&folder).join("staging")).unwrap();
    println!("ready");
    // Waits for the byte with which the test starts the commit.
    std::io::Read::read(&mut std::io::stdin(), &mut [0]).unwrap();
    let set = staging.list().unwrap().remove(0);
    staging.commit(&set, &[]).unwrap();
}

/// Starts a commit in a child process, kills the process after `delay`, and opens the staging again. Returns whether the changes
/// were made before the staging was opened, and whether they were made after that.
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
    let staging = fixture.open_staging();
    let is_committed = fixture.is_committed();
    assert!(
        is_committed || fixture.is_unchanged(),
        "only some of the changes are made after {delay:?}"
    );
    assert_eq!(fixture.temporary_files(), Vec::<String>::new(), "after {delay:?}");
    let remaining = staging.list().unwrap().len();
    assert_eq!(remaining, usize::from(!is_committed), "after {delay:?}");
    (was_committed, is_committed)
}

#[test]
fn a_killed_commit_changes_all_files_or_none() {
    const ROUNDS: u32 = 200;
    let (mut committed, mut unchanged, mut committed_by_recovery) = (0, 0, 0);
    // An estimate of the time that a commit takes, which depends on the machine and on what else it does.
    let mut commit_time = Duration::from_millis(5);
    for round in 0..ROUNDS {
        let fixture = Fixture::new();
        if round % 2 == 0 {
            // Such a file is written over.
            link_other_name(&fixture);
        }
        fixture.stage_changes();
        // The delays cover the whole time of a commit, in an order without a pattern.
        let delay = commit_time * (round * 7 % 20 + 1) / 20;
        let (was_committed, is_committed) = kill_commit(&fixture, delay);
        committed += u32::from(is_committed);
        unchanged += u32::from(!is_committed);
        committed_by_recovery += u32::from(is_committed && !was_committed);
        // Adjusts the estimate so that about half of the commits are complete when they are killed.
        if is_committed && delay < commit_time / 2 {
            commit_time = commit_time * 9 / 10;
        } else if !is_committed && delay > commit_time / 2 {
            commit_time = commit_time * 11 / 10;
        }
    }
    println!(
        "{committed} committed, of these {committed_by_recovery} when the staging was opened again; {unchanged} not"
    );
    assert!(committed > 0 && unchanged > 0);
}
