//! The cache of compiled code: cached code that is authentic is used, and other cached code is replaced by newly compiled code.

use std::fs;
use std::path::{Path, PathBuf};

use art_core::limits::Limits;
use art_sandbox::{Sandbox, SandboxConfig};
use serde_json::{Value, json};

use crate::handmade::Handmade;
use crate::harness::{call, components, output, read_component};

fn sandbox(cache: &Path) -> Sandbox {
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        cache: Some(cache.to_owned()),
        ..SandboxConfig::default()
    };
    Sandbox::new(&config).expect("the sandbox starts")
}

/// Returns the files of compiled code, sorted.
fn compiled_files(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache).expect("the cache exists");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "cwasm"))
        .collect();
    found.sort();
    found
}

/// Returns the inode of a file, which changes when the file is replaced.
fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).expect("the file exists").ino()
}

/// Loads the handmade tool and calls it, because only the first call reads the compiled code.
fn load_and_call(sandbox: &Sandbox, handmade: &[u8]) {
    let plugin = sandbox.load("handmade", handmade).expect("it loads");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let outcome = runtime.unwrap().block_on(call(&plugin, json!({}), Limits::EXECUTE));
    assert_eq!(output(&outcome), Value::Null);
}

#[test]
fn a_second_host_uses_the_code_that_the_first_one_compiled() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let handmade = Handmade::default().build();
    sandbox(&cache).load("handmade", &handmade).expect("it loads");
    let files = compiled_files(&cache);
    assert_eq!(files.len(), 1);
    let first_inode = inode(&files[0]);
    // If the second host could not use the code, it would compile the tool again and replace the file.
    load_and_call(&sandbox(&cache), &handmade);
    assert_eq!((compiled_files(&cache), inode(&files[0])), (files.clone(), first_inode));
}

#[test]
fn modified_compiled_code_is_recompiled() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let handmade = Handmade::default().build();
    sandbox(&cache).load("handmade", &handmade).expect("it loads");
    let file = compiled_files(&cache).remove(0);
    let original = fs::read(&file).unwrap();
    // The last byte belongs to the tag that authenticates the code, the other bytes to the code.
    for offset in [0, 40, original.len() / 2, original.len() - 1] {
        let mut changed = original.clone();
        changed[offset] ^= 0x10;
        fs::write(&file, &changed).unwrap();
        load_and_call(&sandbox(&cache), &handmade);
        assert!(fs::read(&file).unwrap() == original, "byte {offset} was not restored");
    }
}

#[test]
fn the_code_of_one_tool_is_not_used_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let sandbox = sandbox(&cache);
    sandbox
        .load("echo", &read_component(components::ECHO))
        .expect("it loads");
    let echo = compiled_files(&cache).remove(0);
    let handmade = Handmade::default().build();
    sandbox.load("handmade", &handmade).expect("it loads");
    let other = compiled_files(&cache).into_iter().find(|path| *path != echo).unwrap();
    fs::copy(&echo, &other).unwrap();
    // The output would be another one if the code of `echo` ran.
    load_and_call(&sandbox, &handmade);
}

#[test]
fn many_hosts_can_start_concurrently_with_a_new_cache() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("code");
    let handmade = Handmade::default().build();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| sandbox(&cache).load("handmade", &handmade).expect("it loads"));
        }
    });
    assert_eq!(compiled_files(&cache).len(), 1);
}

#[test]
fn a_cache_that_others_can_write_to_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let config = SandboxConfig {
        workers: 1,
        pooling: false,
        cache: Some(dir.path().to_owned()),
        ..SandboxConfig::default()
    };
    let error = Sandbox::new(&config).expect_err("it must not start").to_string();
    assert!(error.contains("is not private: other users may write to it"), "{error}");
}
