use serde_json::json;

use super::*;

fn approval(tool: &str) -> StandingApproval {
    serde_json::from_value(json!({"tool": tool, "arguments": {"text": "any", "n": {"is": null}}})).unwrap()
}

fn approvals() -> (tempfile::TempDir, StandingApprovals) {
    let home = tempfile::TempDir::new().unwrap();
    let folder = home.path().join("approvals");
    (home, StandingApprovals { folder })
}

#[test]
fn an_approval_is_stored_once_and_removed_by_its_identifier() {
    let (_home, approvals) = approvals();
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
fn only_an_approval_that_exists_can_be_added_when_there_are_as_many_as_there_may_be() {
    let (_home, approvals) = approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    for number in 1..MAX_APPROVALS {
        approvals.add(approval(&format!("tool{number}"))).unwrap();
    }
    let other = approvals.add(approval("other"));
    assert!(matches!(other, Err(StandingFolderError::Full)), "{other:?}");
    assert_eq!(approvals.add(approval("echo")).unwrap(), stored);
}

#[test]
fn a_file_without_a_valid_approval_is_left_out() {
    let (_home, approvals) = approvals();
    let stored = approvals.add(approval("echo")).unwrap();
    let write_file = |name: &str, text: &str| fs::write(approvals.folder().join(name), text).unwrap();
    write_file("0123456789ab.json", "{");
    write_file("1123456789ab.json", r#"{"tool": "echo", "argument": {}}"#);
    write_file("2123456789ab.json", &" ".repeat(1 << 20));
    write_file("README.txt", "{}");
    fs::create_dir(approvals.folder().join("3123456789ab.json")).unwrap();
    assert_eq!(approvals.list().unwrap(), [stored]);
}

#[test]
fn an_invalid_identifier_removes_no_file() {
    let (home, approvals) = approvals();
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
