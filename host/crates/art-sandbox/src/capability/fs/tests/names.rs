//! Tests of moving, removing and linking files that a call has open or writes.

use super::*;

impl Fixture {
    /// Leaves the files as they are while the call runs, as if it was killed, and begins another call.
    fn leave_as_if_killed_now(&mut self) {
        let (inside, copy) = (self.host_path("inside"), self.host_path("copy"));
        let copied = Command::new("cp").arg("-a").arg(&inside).arg(&copy).status();
        assert!(copied.unwrap().success());
        self.tree = tree(Vec::new());
        fs::remove_dir_all(&inside).unwrap();
        fs::rename(&copy, &inside).unwrap();
        self.tree = tree(vec![fs_right("data", inside, Access::ReadWrite)]);
    }
}

#[test]
fn what_is_written_to_a_file_that_another_one_has_replaced_does_not_reach_the_other_one() {
    let mut fixture = fixture(Access::ReadWrite);
    fs::write(fixture.host_path("inside/b.txt"), "other").unwrap();
    let file = fixture.open_to_change("data/a.txt");
    fixture.tree.rename(("", "data/b.txt"), ("", "data/a.txt")).unwrap();
    file.write(b"I", 0).unwrap();
    assert_eq!(file.read(100, 0).unwrap(), b"Inside");
    assert_eq!(fixture.read("data/a.txt").unwrap(), b"other");
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("other"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn a_removed_file_does_not_come_back_when_it_is_written() {
    let mut fixture = fixture(Access::ReadWrite);
    let before = fixture.open_to_change("data/a.txt");
    before.write(b"I", 0).unwrap();
    let new = fixture.create("data/new.txt").unwrap();
    for path in ["data/a.txt", "data/new.txt"] {
        fixture.tree.remove_file("", path).unwrap();
    }
    before.write(b"N", 1).unwrap();
    new.append(b"new").unwrap();
    assert_eq!(before.read(100, 0).unwrap(), b"INside");
    let sub = fixture.host_path("inside/sub/b.txt");
    fs::write(&sub, "b").unwrap();
    let unwritten = fixture.open_to_change("data/sub/b.txt");
    fixture.tree.remove_file("", "data/sub/b.txt").unwrap();
    unwritten.write(b"x", 0).unwrap();
    assert_eq!(fixture.tree.take_notes(), [""; 0]);
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.host_names(), ["sub"]);
    assert!(!sub.exists());
}

#[test]
fn a_file_that_is_moved_before_it_is_written_has_the_new_content_at_its_new_path() {
    let mut fixture = fixture(Access::ReadWrite);
    let file = fixture.open_to_change("data/a.txt");
    fixture.tree.rename(("", "data/a.txt"), ("", "data/c.txt")).unwrap();
    file.write(b"I", 0).unwrap();
    // Its directory moves too.
    fs::write(fixture.host_path("inside/sub/b.txt"), "in sub").unwrap();
    let below = fixture.open_to_change("data/sub/b.txt");
    fixture.tree.rename(("", "data/sub"), ("", "data/moved")).unwrap();
    below.write(b"I", 0).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("c.txt").as_deref(), Some("Inside"));
    assert_eq!(fixture.text("moved/b.txt").as_deref(), Some("In sub"));
    assert_eq!(fixture.host_names(), ["c.txt", "moved"]);
}

#[test]
fn a_written_file_that_is_moved_over_another_one_has_what_is_written_to_it_afterwards() {
    for exists in [false, true] {
        let mut fixture = fixture(Access::ReadWrite);
        if exists {
            fs::write(fixture.host_path("inside/new.txt"), "left from before").unwrap();
        }
        let old = fixture.open_to_change("data/a.txt");
        let new = fixture.truncate("data/new.txt");
        new.write(b"first", 0).unwrap();
        fixture.tree.rename(("", "data/new.txt"), ("", "data/a.txt")).unwrap();
        new.append(b" second").unwrap();
        old.write(b"lost", 0).unwrap();
        assert_eq!(fixture.read("data/a.txt").unwrap(), b"first second");
        assert_eq!(fixture.read("data/new.txt"), Err(ErrorCode::NoEntry));
        assert_eq!(old.read(100, 0).unwrap(), b"lostde");
        assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
        fixture.end_call(true).unwrap();
        assert_eq!(fixture.text("a.txt").as_deref(), Some("first second"));
        assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    }
}

#[test]
fn a_call_that_is_stopped_after_it_has_moved_a_written_file_leaves_the_file_it_would_have_replaced() {
    let mut fixture = fixture(Access::ReadWrite);
    fixture.create("data/new.txt").unwrap().append(b"new").unwrap();
    fixture.tree.rename(("", "data/new.txt"), ("", "data/a.txt")).unwrap();
    fixture.end_call(false).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
}

#[test]
fn a_call_that_is_stopped_after_it_has_moved_a_rewritten_file_over_another_one_leaves_both() {
    for is_killed in [false, true] {
        let mut fixture = fixture(Access::ReadWrite);
        fs::write(fixture.host_path("inside/sub/b.txt"), "other").unwrap();
        fixture.open_to_change("data/a.txt").write(b"I", 0).unwrap();
        fixture.tree.rename(("", "data/a.txt"), ("", "data/sub/b.txt")).unwrap();
        assert_eq!(fixture.text("a.txt"), None);
        if is_killed {
            fixture.leave_as_if_killed_now();
        } else {
            fixture.end_call(false).unwrap();
        }
        assert_eq!(fixture.read("data/a.txt").unwrap(), b"inside");
        assert_eq!(fixture.text("sub/b.txt").as_deref(), Some("other"));
        assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
    }
}

#[test]
fn an_incomplete_file_that_is_moved_over_another_one_does_not_replace_it() {
    let mut fixture = fixture_with_quota(4, 10);
    let file = fixture.create("data/new.txt").unwrap();
    file.append(b"1234").unwrap();
    file.append(b"5").unwrap_err();
    fixture.tree.rename(("", "data/new.txt"), ("", "data/a.txt")).unwrap();
    let error = fixture.end_call(true).unwrap_err();
    assert_eq!(
        error,
        "`/data/a.txt` keeps its old content: a write to it failed: the quota of the grant is used up"
    );
    assert_eq!(fixture.text("a.txt").as_deref(), Some("inside"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn moving_one_name_of_a_file_over_another_changes_nothing() {
    let mut fixture = fixture(Access::ReadWrite);
    fs::hard_link(fixture.host_path("inside/a.txt"), fixture.host_path("inside/b.txt")).unwrap();
    fixture.open_to_change("data/a.txt").write(b"I", 0).unwrap();
    fixture.tree.rename(("", "data/b.txt"), ("", "data/a.txt")).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("Inside"));
    assert_eq!(fixture.text("b.txt").as_deref(), Some("Inside"));
}

#[test]
fn a_name_of_a_file_can_be_removed_without_losing_what_the_other_names_get() {
    let mut fixture = fixture(Access::ReadWrite);
    let link = |name: &str| {
        let path = fixture.host_path("inside").join(name);
        fs::hard_link(fixture.host_path("inside/a.txt"), path).unwrap();
    };
    link("b.txt");
    link("c.txt");
    fixture.open_to_change("data/a.txt").write(b"I", 0).unwrap();
    let tree = &fixture.tree;
    // The content would be written through this name.
    assert_eq!(tree.remove_file("", "data/a.txt").map_err(code), Err(ErrorCode::Busy));
    fs::write(fixture.host_path("inside/d.txt"), "d").unwrap();
    let replaced = tree.rename(("", "data/d.txt"), ("", "data/a.txt"));
    assert_eq!(replaced.map_err(code), Err(ErrorCode::Busy));
    tree.remove_file("", "data/c.txt").unwrap();
    tree.rename(("", "data/a.txt"), ("", "data/e.txt")).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("b.txt").as_deref(), Some("Inside"));
    assert_eq!(fixture.text("e.txt").as_deref(), Some("Inside"));
    let file = fixture.open_to_change("data/b.txt");
    fixture.tree.remove_file("", "data/b.txt").unwrap();
    file.write(b"N", 1).unwrap();
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("e.txt").as_deref(), Some("INside"));
}

#[test]
fn a_new_file_gets_all_of_its_names_when_the_call_has_ended() {
    let mut fixture = fixture(Access::ReadWrite);
    let file = fixture.create("data/one").unwrap();
    file.append(b"half").unwrap();
    let tree = &fixture.tree;
    tree.link(("", "data/one"), ("", "data/sub/two")).unwrap();
    tree.link(("", "data/sub/two"), ("", "data/three")).unwrap();
    tree.rename(("", "data/one"), ("", "data/a.txt")).unwrap();
    tree.remove_file("", "data/three").unwrap();
    file.append(b" and half").unwrap();
    assert_eq!(fixture.read("data/sub/two").unwrap(), b"half and half");
    assert_eq!(fixture.text("sub/two"), None);
    fixture.end_call(true).unwrap();
    assert_eq!(fixture.text("a.txt").as_deref(), Some("half and half"));
    let id = |path: &str| fs::metadata(fixture.host_path(path)).unwrap().ino();
    assert_eq!(id("inside/a.txt"), id("inside/sub/two"));
    assert_eq!(fixture.host_names(), ["a.txt", "sub"]);
}

#[test]
fn a_second_name_for_a_file_that_is_being_written_makes_nothing_visible_before_the_call_ends() {
    for has_returned in [false, true] {
        let mut fixture = fixture(Access::ReadWrite);
        let file = fixture.open_to_change("data/a.txt");
        file.write(b"I", 0).unwrap();
        fixture.tree.link(("", "data/a.txt"), ("", "data/b.txt")).unwrap();
        file.write(b"N", 1).unwrap();
        assert_eq!(fixture.read("data/b.txt").unwrap(), b"INside");
        assert_eq!(fixture.text("b.txt").as_deref(), Some("inside"));
        fixture.end_call(has_returned).unwrap();
        let expected = if has_returned { "INside" } else { "inside" };
        assert_eq!(fixture.text("a.txt").as_deref(), Some(expected));
        assert_eq!(fixture.text("b.txt").as_deref(), Some(expected));
    }
}

#[test]
fn files_in_many_directories_become_visible_only_when_the_call_ends() {
    let mut fixture = fixture(Access::ReadWrite);
    let files: Vec<_> = (0..300)
        .map(|index| {
            let directory = format!("data/{index}");
            fixture.tree.create_directory("", &directory).unwrap();
            let file = fixture.create(&format!("{directory}/file")).unwrap();
            file.append(b"one").unwrap();
            file
        })
        .collect();
    assert!((0..300).all(|index| fixture.text(&format!("{index}/file")).is_none()));
    files.iter().for_each(|file| file.append(b" two").unwrap());
    fixture.end_call(true).unwrap();
    assert!((0..300).all(|index| fixture.text(&format!("{index}/file")).as_deref() == Some("one two")));
}

#[test]
fn a_directory_with_new_files_is_not_replaced() {
    let fixture = fixture(Access::ReadWrite);
    fixture.create("data/sub/new.txt").unwrap();
    fixture.tree.create_directory("", "data/other").unwrap();
    let replaced = fixture.tree.rename(("", "data/other"), ("", "data/sub"));
    assert_eq!(replaced.map_err(code), Err(ErrorCode::NotEmpty));
}

#[test]
fn a_directory_that_leads_to_another_right_is_neither_moved_nor_removed() {
    let mut fixture = fixture(Access::ReadWrite);
    let inside = fixture.host_path("inside");
    for directory in ["above/base", "empty", "other"] {
        fs::create_dir_all(inside.join(directory)).unwrap();
    }
    fs::write(inside.join("above/file"), "").unwrap();
    fixture.tree = tree(vec![
        fs_right("data", inside.clone(), Access::ReadWrite),
        fs_right("elsewhere/base", inside.join("above/base"), Access::ReadWrite),
        fs_right("elsewhere/empty", inside.join("empty"), Access::ReadWrite),
    ]);
    let tree = &fixture.tree;
    let refused = Err(ErrorCode::NotPermitted);
    for (from, to) in [
        ("data/above", "data/moved"),
        ("data/above/base", "data/moved"),
        ("data/other", "data/empty"),
    ] {
        assert_eq!(tree.rename(("", from), ("", to)).map_err(code), refused, "{from}");
    }
    assert_eq!(tree.remove_directory("", "data/empty").map_err(code), refused);
    tree.rename(("", "data/other"), ("", "data/moved")).unwrap();
    tree.rename(("", "data/above/file"), ("", "data/above/moved")).unwrap();
}
