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
fn an_approval_is_kept_once_and_removed_by_its_identifier() {
    let (_home, approvals) = approvals();
    assert_eq!(approvals.list().unwrap(), []);
    let kept = approvals.add(approval("echo")).unwrap();
    assert_eq!(approvals.add(approval("echo")).unwrap(), kept);
    let other = approvals.add(approval("other")).unwrap();
    assert_eq!(approvals.list().unwrap().len(), 2);
    assert!(approvals.remove(&kept.id).unwrap());
    assert!(!approvals.remove(&kept.id).unwrap());
    assert_eq!(approvals.list().unwrap(), [other]);
}

#[test]
fn a_file_that_is_no_approval_is_left_out() {
    let (_home, approvals) = approvals();
    let kept = approvals.add(approval("echo")).unwrap();
    let file = |name: &str, text: &str| fs::write(approvals.folder().join(name), text).unwrap();
    file("0123456789ab.json", "{");
    file("1123456789ab.json", r#"{"tool": "echo", "argument": {}}"#);
    file("2123456789ab.json", &" ".repeat(1 << 20));
    file("README.txt", "{}");
    fs::create_dir(approvals.folder().join("3123456789ab.json")).unwrap();
    assert_eq!(approvals.list().unwrap(), [kept]);
}

#[test]
fn an_identifier_names_no_file_outside_the_folder() {
    let (home, approvals) = approvals();
    let kept = approvals.add(approval("echo")).unwrap();
    let outside = home.path().join("file.json");
    fs::write(&outside, "{}").unwrap();
    for id in ["../file", "", ".", &kept.id.to_uppercase()] {
        assert!(!approvals.remove(id).unwrap(), "{id}");
    }
    assert!(outside.exists());
}

#[test]
fn a_host_without_a_folder_keeps_none() {
    let approvals = StandingApprovals::of(&Config::default());
    assert_eq!(approvals.list().unwrap(), []);
    assert!(matches!(
        approvals.add(approval("echo")),
        Err(StandingFolderError::NoFolder)
    ));
}
