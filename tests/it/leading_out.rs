//! No link and no path leads a tool out of the folder that it was granted, even where the kernel does not offer `openat2`.

use std::fs;

use rustix::io::Errno;

use crate::granted::{deny_openat2, writable_folder};
use crate::harness::run_alone;

#[test]
fn links_do_not_lead_out_of_a_grant_without_openat2() {
    run_alone("leading_out::without_openat2", "");
}

#[test]
fn links_do_not_lead_out_of_a_grant_where_openat2_is_forbidden() {
    run_alone("leading_out::with_openat2_forbidden", "");
}

#[tokio::test]
#[ignore = "denies itself a system call, so it runs in a process of its own"]
async fn without_openat2() {
    deny_openat2(Errno::NOSYS);
    assert_nothing_leads_out().await;
}

#[tokio::test]
#[ignore = "denies itself a system call, so it runs in a process of its own"]
async fn with_openat2_forbidden() {
    deny_openat2(Errno::PERM);
    assert_nothing_leads_out().await;
}

/// Tries operations with links and paths that lead out of a grant. Asserts that they fail, and that nothing outside was changed.
async fn assert_nothing_leads_out() {
    // Only `notes` is granted. Next to it in the folder are `outside.txt` and `other`.
    let granted = writable_folder();
    let (folder, notes) = (granted.folder.path(), granted.folder.path().join("notes"));
    fs::create_dir(folder.join("other")).unwrap();
    let absolute = folder.join("outside.txt");
    // The target and the name of each link.
    let links = [
        ("../outside.txt", "file"),
        (absolute.to_str().unwrap(), "absolute"),
        ("..", "up"),
        ("../other", "other"),
        ("/", "root"),
        ("/proc/self/root", "magic"),
        ("/proc/self/fd", "open"),
        ("file", "chain"),
        ("loop", "loop"),
    ];
    // An operation may have removed a link, or replaced it by a directory.
    let renew_links = || {
        for (target, name) in links {
            let link = notes.join(name);
            drop(fs::remove_file(&link).or_else(|_error| fs::remove_dir_all(&link)));
            std::os::unix::fs::symlink(target, link).unwrap();
        }
    };
    let paths = [
        "file",
        "file/",
        "file/.",
        "absolute",
        "absolute/",
        "up/outside.txt",
        "up/outside.txt/",
        "other/new",
        "other/",
        "other/.",
        "root/etc/passwd",
        "magic/etc/passwd",
        "open/0",
        "chain",
        "chain/",
        "loop",
        "up/up/outside.txt",
        "sub/../../outside.txt",
        "../outside.txt",
        "../other/new",
        "up/other/new",
        "//../outside.txt",
    ];
    for path in paths.map(|path| format!("notes/{path}")) {
        for operation in [
            "read",
            "list",
            "write",
            "append",
            "create_new",
            "set_len",
            "create_dir",
            "set_modified",
            "remove_dir_all",
        ] {
            renew_links();
            // The last argument is what the operation writes or sets, if it needs that.
            let result = granted.step(operation, &path, "1").await;
            // `remove_dir_all` may succeed, since it removes the link itself and not what the link leads to.
            assert!(
                result.starts_with("error: ") || operation == "remove_dir_all",
                "{operation} {path}: {result}"
            );
        }
        renew_links();
        let destination = granted.path("notes/new.txt");
        for operation in ["hard_link", "copy"] {
            let result = granted.step(operation, &path, &destination).await;
            assert!(result.starts_with("error: "), "{operation} {path}: {result}");
        }
    }
    assert_eq!(fs::read_to_string(folder.join("outside.txt")).unwrap(), "canary");
    assert_eq!(fs::read_dir(folder.join("other")).unwrap().count(), 0);
    // `notes`, `outside.txt` and `other`.
    assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
    // A file in the granted folder can be read, and has its original text.
    assert_eq!(granted.step("read", "notes/a.txt", "").await, "first");
}
