//! Secrets whose values are in the keyring of the desktop.
//!
//! `.ci/run keyring` starts a Secret Service, which is the keyring, and runs the ignored test with an `art` that is built with
//! the feature `keyring`.

use crate::home::Home;
#[cfg(feature = "keyring")]
use crate::secrets::{SECRET_VALUE, echo_server, fetch, files_containing, grant, home};

#[cfg(not(feature = "keyring"))]
#[test]
fn a_program_without_the_keyring_names_the_feature_and_stores_nothing() {
    let home = Home::empty();
    let set = home.art_with_input(&["secret", "set", "KEY", "--keyring"], "hunter2hunter2\n");
    assert_eq!(set.code(), 6, "{set}");
    assert!(set.stderr().contains("--features keyring"), "{set}");
    assert_eq!(home.art(&["secret", "list"]).stdout(), "");
}

#[cfg(feature = "keyring")]
#[test]
#[ignore = "needs a Secret Service: `.ci/run keyring`"]
fn a_secret_of_the_keyring_reaches_the_server_and_is_in_no_file() {
    let (home, server) = (home(), echo_server());
    let set = home.art_with_input(&["secret", "set", "KEY", "--keyring"], &format!("{SECRET_VALUE}\n"));
    assert_eq!(set.code(), 0, "{set}");
    let file = std::fs::read_to_string(home.dir.path().join("secrets/secrets.toml")).unwrap();
    assert!(file.contains("[KEY]") && !file.contains(SECRET_VALUE), "{file}");
    assert!(home.art(&["secret", "list"]).stdout().contains("KEY  keyring"));
    grant(&home, &server);
    let called = fetch(&home, &serde_json::json!({"url": server.url("/")}));
    let request = server.requests().pop().unwrap();
    assert!(
        request.contains(&format!("authorization: Bearer {SECRET_VALUE}")),
        "{request}"
    );
    assert!(
        called.stdout().contains("«secret»") && !called.stdout().contains(SECRET_VALUE),
        "{called}"
    );
    assert_eq!(files_containing(home.dir.path(), SECRET_VALUE), [""; 0]);

    // In another home, the file names a secret that the keyring does not have. First `secret set` creates the file, because the
    // program reads only a file that nobody but its owner can read. Then the test replaces the content.
    let elsewhere = Home::empty();
    let text = "[KEY]\nkeyring = true\n";
    elsewhere.art_with_input(&["secret", "set", "KEY"], "another-value\n");
    std::fs::write(elsewhere.dir.path().join("secrets/secrets.toml"), text).unwrap();
    let doctor = elsewhere.art(&["doctor"]);
    assert!(
        doctor.stdout().contains("1 cannot be read from the keyring"),
        "{doctor}"
    );

    assert_eq!(home.art(&["secret", "rm", "KEY"]).code(), 0);
    let denied = fetch(&home, &serde_json::json!({"url": server.url("/")}));
    assert!(denied.stdout().contains("art secret set KEY"), "{denied}");
}
