use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

/// Returns an approval of the calls of a tool whose argument `text` has any value and whose argument `n` is null.
fn approval(tool: &str) -> StandingApproval {
    serde_json::from_value(json!({"tool": tool, "arguments": {"text": "any", "n": {"is": null}}})).unwrap()
}

/// Returns the approvals of a folder that does not exist yet, in a new home.
fn empty_approvals() -> (tempfile::TempDir, StandingApprovals) {
    let home = tempfile::TempDir::new().unwrap();
    let folder = home.path().join("approvals");
    (home, StandingApprovals { folder })
}

#[test]
fn an_approval_is_stored_once_and_removed_by_its_identifier() {
    let (_home, approvals) = empty_approvals();
    assert_eq!(approvals.list().unwrap(), []);
    let stored = approvals.add(approval("echo")).unwrap();
    assert_eq!(approvals.add(approval("echo")).unwrap(), stored);
    let other = approvals.add(approval("other")).unwrap();
    assert_eq!(approvals.list().unwrap().len(), 2);
    assert!(approvals.remove(&stored.id).unwrap());
    assert!(!approvals.remove(&stored.id).unwrap());
    assert_eq!(approvals.list().unwrap(), [other]);
}

#[test]
fn a_full_folder_refuses_a_new_approval_and_accepts_an_existing_one() {
    let (_home, approvals) = empty_approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    for number in 1..MAX_APPROVALS {
        approvals.add(approval(&format!("tool{number}"))).unwrap();
    }
    let refused = approvals.add(approval("other"));
    assert!(matches!(refused, Err(StandingFolderError::Full)), "{refused:?}");
    assert_eq!(approvals.add(approval("echo")).unwrap(), stored);
}

#[test]
fn a_file_without_a_valid_approval_is_left_out() {
    let (_home, approvals) = empty_approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    let (no_json, unknown_key, too_large) = ("{", r#"{"tool": "echo", "argument": {}}"#, " ".repeat(1 << 20));
    for (name, text) in [
        ("0123456789ab.json", no_json),
        ("1123456789ab.json", unknown_key),
        ("2123456789ab.json", too_large.as_str()),
        ("README.txt", "{}"),
    ] {
        fs::write(approvals.folder().join(name), text).unwrap();
    }
    fs::create_dir(approvals.folder().join("3123456789ab.json")).unwrap();
    assert_eq!(approvals.list().unwrap(), [stored]);
}

#[test]
fn a_file_whose_content_has_another_identifier_is_left_out() {
    let (_home, approvals) = empty_approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    let other = approvals.add(approval("other")).unwrap();
    fs::copy(approvals.path(&stored.id), approvals.path(&other.id)).unwrap();
    assert_eq!(approvals.list().unwrap(), [stored]);
}

#[test]
fn a_file_that_others_can_write_to_is_left_out_and_a_folder_is_refused() {
    let (_home, approvals) = empty_approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(&approvals.path(&stored.id), 0o666);
    assert_eq!(approvals.list().unwrap(), []);
    set_mode(&approvals.path(&stored.id), 0o600);
    set_mode(approvals.folder(), 0o777);
    let refused = approvals.list().unwrap_err().to_string();
    assert!(
        refused.contains("others could change the standing approvals"),
        "{refused}"
    );
    approvals.add(approval("other")).unwrap_err();
    set_mode(approvals.folder(), 0o700);
    assert_eq!(approvals.list().unwrap(), [stored]);
}

#[test]
fn an_invalid_identifier_removes_no_file() {
    let (home, approvals) = empty_approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    let outside = home.path().join("file.json");
    fs::write(&outside, "{}").unwrap();
    for id in ["../file", "", ".", &stored.id.to_uppercase()] {
        assert!(!approvals.remove(id).unwrap(), "{id}");
    }
    assert!(outside.exists());
}

#[test]
fn without_a_folder_no_approval_is_listed_or_added() {
    let approvals = StandingApprovals::of(&Config::default());
    assert_eq!(approvals.list().unwrap(), []);
    assert!(matches!(
        approvals.add(approval("echo")),
        Err(StandingFolderError::NoFolder)
    ));
}
