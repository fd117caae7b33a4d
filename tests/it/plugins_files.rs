//! The first-party plugins that use files, run through the program: they are refused without a grant, and work with the grant
//! that the refusal names.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// The content of `users.json`, the largest file in the folder of a [`Scene`].
const USERS: &str = r#"{"users": [{"name": "Ada"}, {"name": "Bob"}]}"#;

/// A home with one plugin, and a folder with a few files, which is outside of the home.
struct Scene {
    home: Home,
    folder: TempDir,
    tool: &'static str,
}

impl Scene {
    fn new(tool: &'static str) -> Self {
        let home = Home::empty();
        let mut plugins = components::PLUGINS.iter();
        let (_, component) = plugins.find(|(name, _)| *name == tool).unwrap();
        home.add(tool, component);
        let folder = TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.txt", "buy milk\nannual budget\n");
        write("sales.csv", "region,sales\nNorth,10\nSouth,25\n");
        write("users.json", USERS);
        Self { home, folder, tool }
    }

    /// Returns the path of a file in the folder, or of the folder if the name is empty.
    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap();
        if name.is_empty() { path } else { path.join(name) }
    }

    /// Returns the content of a file, if it exists.
    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// Calls the tool with these arguments and the path of the file `name`, or of the folder if the name is empty.
    fn call(&self, name: &str, mut arguments: Value) -> CommandOutput {
        arguments["path"] = json!(self.path(name));
        self.home
            .art(&["--json", "tool", "call", self.tool, &arguments.to_string()])
    }

    /// Calls the tool without a grant, adds the grant that the denial names, and calls the tool again.
    fn call_with_grant(&self, name: &str, arguments: Value) -> CommandOutput {
        let denied = self.call(name, arguments.clone());
        assert_eq!(denied.code(), 5, "{denied}");
        let result = &denied.json()["result"];
        assert_eq!(result["code"], "PERMISSION_DENIED", "{denied}");
        let command = result["metadata"]["denials"][0]["command"].as_str().unwrap().to_owned();
        assert!(
            command.starts_with(&format!("art grant add {} --", self.tool)),
            "{command}"
        );
        let words: Vec<_> = command.strip_prefix("art ").unwrap().split(' ').collect();
        let added = self.home.art(&words);
        assert_eq!(added.code(), 0, "{added}");
        self.call(name, arguments)
    }

    /// Same as [`Scene::call_with_grant`], for a call that has to succeed. Returns its output.
    fn output_with_grant(&self, name: &str, arguments: Value) -> Value {
        let called = self.call_with_grant(name, arguments);
        assert_eq!(called.code(), 0, "{called}");
        called.json()["result"]["output"].clone()
    }
}

#[test]
fn file_read_reads_a_file_with_the_grant_that_its_denial_names() {
    let scene = Scene::new("file_read");
    let read = scene.output_with_grant("a.txt", json!({"from_line": 2}));
    assert_eq!(
        (&read["text"], &read["line_count"]),
        (&json!("annual budget\n"), &json!(2))
    );
    // The grant covers only one file.
    assert_eq!(scene.call("users.json", json!({})).code(), 5);
}

#[test]
fn file_read_lists_a_directory_with_sizes_and_times() {
    let scene = Scene::new("file_read");
    let listed = scene.output_with_grant("", json!({"sort": "largest", "limit": 1, "files_only": true}));
    let first = &listed["entries"][0];
    assert_eq!(
        (&first["name"], &first["size"]),
        (&json!("users.json"), &json!(USERS.len()))
    );
    assert!(first["modified"].as_str().unwrap().ends_with('Z'), "{listed}");
    // The grant for the directory also covers its files.
    assert_eq!(scene.call("a.txt", json!({})).code(), 0);
}

#[test]
fn file_search_finds_text_below_a_directory() {
    let scene = Scene::new("file_search");
    fs::create_dir(scene.path("below")).unwrap();
    fs::write(scene.path("below/b.txt"), "no budget\n").unwrap();
    let found = scene.output_with_grant("", json!({"text": "budget", "whole_words": true}));
    let files = [scene.path("a.txt"), scene.path("below/b.txt")];
    let found_files: Vec<_> = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["path"])
        .collect();
    assert_eq!(json!(found_files), json!(files));
    assert_eq!(
        (&found["matches"][0]["line"], &found["truncated"]),
        (&json!(2), &json!(false))
    );
}

#[test]
fn file_search_does_not_leave_the_directory_through_a_link() {
    let scene = Scene::new("file_search");
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret.txt"), "budget").unwrap();
    std::os::unix::fs::symlink(outside.path(), scene.path("link")).unwrap();
    let found = scene.output_with_grant("", json!({"text": "budget"}));
    assert_eq!(found["files"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn hash_file_returns_the_checksum_of_a_file() {
    let scene = Scene::new("hash_file");
    fs::write(scene.path("abc"), "abc").unwrap();
    let hashed = scene.output_with_grant("abc", json!({"algorithm": "md5"}));
    assert_eq!(hashed["value"], "900150983cd24fb0d6963f7d28e17f72");
}

#[test]
fn sqlite_query_reads_a_database_and_changes_nothing() {
    let scene = Scene::new("sqlite_query");
    let writer = rusqlite::Connection::open(scene.path("shop.db")).unwrap();
    let create_orders = "CREATE TABLE orders (region TEXT, amount INT); \
                         INSERT INTO orders VALUES ('North', 10), ('South', 25), ('North', 4);";
    writer.execute_batch(create_orders).unwrap();
    drop(writer);
    let before = fs::read(scene.path("shop.db")).unwrap();
    let sql = "SELECT region, sum(amount) AS total FROM orders GROUP BY region ORDER BY total DESC";
    let totals = scene.output_with_grant("shop.db", json!({ "sql": sql }));
    let expected = json!([{"region": "South", "total": 25}, {"region": "North", "total": 14}]);
    assert_eq!(totals["rows"], expected);
    // The grant is only to read, and a statement that changes the database is an error.
    assert_eq!(scene.call("shop.db", json!({"sql": "DELETE FROM orders"})).code(), 5);
    assert_eq!(fs::read(scene.path("shop.db")).unwrap(), before);
    // The grant covers only the database.
    assert_eq!(scene.call("users.json", json!({})).code(), 5);
}

#[test]
fn sqlite_query_reads_the_clock_of_the_host_once_for_a_query() {
    let scene = Scene::new("sqlite_query");
    let writer = rusqlite::Connection::open(scene.path("shop.db")).unwrap();
    writer
        .execute_batch("CREATE VIEW today AS SELECT unixepoch('now') AS t")
        .unwrap();
    let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT count(DISTINCT strftime('%f', 'now')) AS times, max(unixepoch(CURRENT_TIMESTAMP)) AS latest FROM n";
    let answer = scene.output_with_grant("shop.db", json!({ "sql": sql }));
    let called = scene.call("shop.db", json!({"table": "today"}));
    let viewed = &called.json()["result"]["output"]["rows"][0]["t"];
    let now: i64 = writer.query_row("SELECT unixepoch()", [], |row| row.get(0)).unwrap();
    let row = &answer["rows"][0];
    assert_eq!(row["times"], 1);
    for time in [&row["latest"], viewed] {
        let age = now - time.as_i64().unwrap();
        assert!((0..60).contains(&age), "{answer} {called}");
    }
    let refused = scene.call("shop.db", json!({"sql": "SELECT datetime('now', 'localtime')"}));
    assert_eq!(refused.code(), 5);
    assert!(
        refused.json().to_string().contains("time zone is not known"),
        "{refused}"
    );
}

#[test]
fn sqlite_query_lists_virtual_tables() {
    let scene = Scene::new("sqlite_query");
    let writer = rusqlite::Connection::open(scene.path("shop.db")).unwrap();
    writer
        .execute_batch("CREATE TABLE a (id INT); CREATE VIRTUAL TABLE search USING fts5(body)")
        .unwrap();
    let tables = scene.output_with_grant("shop.db", json!({"about": "tables"}));
    assert_eq!(
        tables["rows"][0],
        json!({"table": "a", "kind": "table", "columns": "id INT"})
    );
    assert_eq!(tables["rows"][1]["kind"], "virtual table of the module `fts5`");
    let refused = scene.call("shop.db", json!({"sql": "SELECT body FROM search"}));
    assert!(refused.json().to_string().contains("module `fts5`"), "{refused}");
}

#[test]
fn archive_list_lists_an_archive() {
    let scene = Scene::new("archive_list");
    // An empty zip file consists only of the end record of its directory.
    let mut zip = b"PK\x05\x06".to_vec();
    zip.resize(22, 0);
    fs::write(scene.path("empty.zip"), zip).unwrap();
    let listed = scene.output_with_grant("empty.zip", json!({}));
    assert_eq!((&listed["format"], &listed["entry_count"]), (&json!("zip"), &json!(0)));
    let refused = scene.call_with_grant("a.txt", json!({}));
    assert!(
        refused.json().to_string().contains("no zip, tar or tar.gz"),
        "{refused}"
    );
}

#[test]
fn csv_query_reads_a_granted_file_and_needs_no_grant_for_csv_in_its_arguments() {
    let scene = Scene::new("csv_query");
    let sum = json!({"aggregate": "sum", "column": "sales"});
    assert_eq!(scene.output_with_grant("sales.csv", sum)["value"], 35);
    let text = r#"{"csv":"sales\n1\n2\n","aggregate":"sum","column":"sales"}"#;
    let ungranted = Scene::new("csv_query")
        .home
        .art(&["--json", "tool", "call", "csv_query", text]);
    assert_eq!(ungranted.json()["result"]["output"]["value"], 3, "{ungranted}");
}

#[test]
fn json_query_reads_a_granted_file_and_needs_no_grant_for_json_in_its_arguments() {
    let scene = Scene::new("json_query");
    let names = scene.output_with_grant("users.json", json!({"query": ".users[].name"}));
    assert_eq!(names["results"], json!(["Ada", "Bob"]));
    let text = r#"{"json":[1,2],"query":"length"}"#;
    let ungranted = Scene::new("json_query")
        .home
        .art(&["--json", "tool", "call", "json_query", text]);
    assert_eq!(ungranted.json()["result"]["output"]["value"], 2, "{ungranted}");
}

/// Calls a tool that asks before it writes, and returns the preview of the change.
fn call_until_preview(scene: &Scene, name: &str, arguments: Value) -> String {
    let waiting = scene.call_with_grant(name, arguments);
    assert_eq!(waiting.code(), 7, "{waiting}");
    let shown = scene.home.art(&["--json", "approve", "show", "last"]);
    assert_eq!(shown.code(), 0, "{shown}");
    shown.json()["call"]["preview"].as_str().unwrap().to_owned()
}

#[test]
fn file_write_writes_what_a_person_has_seen_and_approved() {
    let scene = Scene::new("file_write");
    let preview = call_until_preview(&scene, "new.txt", json!({"text": "hello\n"}));
    assert!(preview.ends_with("@@ -0,0 +1 @@\n+hello\n"), "{preview}");
    assert_eq!(scene.text("new.txt"), None);
    let approved = scene.home.art(&["approve", "yes", "last"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert_eq!(scene.text("new.txt").as_deref(), Some("hello\n"));
}

#[test]
fn file_write_into_a_missing_folder_fails_before_a_person_is_asked() {
    let scene = Scene::new("file_write");
    let folder = scene.path("");
    let granted = scene
        .home
        .art(&["grant", "add", "file_write", "--write", folder.to_str().unwrap()]);
    assert_eq!(granted.code(), 0, "{granted}");
    let refused = scene.call("missing/new.txt", json!({"text": "hello\n"}));
    assert_eq!(refused.code(), 5, "{refused}");
    assert!(
        refused.stdout().contains("there is no directory") && refused.stdout().contains("missing"),
        "{refused}"
    );
    assert_eq!(scene.home.art(&["--json", "approve", "list"]).json(), json!([]));
}

#[test]
fn file_edit_changes_nothing_if_the_person_says_no() {
    let scene = Scene::new("file_edit");
    let preview = call_until_preview(&scene, "a.txt", json!({"old_text": "milk", "new_text": "tea"}));
    assert!(preview.contains("-buy milk\n+buy tea\n"), "{preview}");
    scene.home.art(&["approve", "no", "last", "--reason", "keep it"]);
    assert_eq!(scene.text("a.txt").as_deref(), Some("buy milk\nannual budget\n"));
}

#[test]
fn file_edit_does_not_overwrite_a_file_that_changed_before_the_approval() {
    let scene = Scene::new("file_edit");
    call_until_preview(&scene, "a.txt", json!({"old_text": "milk", "new_text": "tea"}));
    fs::write(scene.path("a.txt"), "buy milk and bread\n").unwrap();
    let approved = scene.home.art(&["approve", "yes", "last"]);
    assert!(
        approved
            .stderr()
            .contains("has changed since the person saw the change"),
        "{approved}"
    );
    assert_eq!(scene.text("a.txt").as_deref(), Some("buy milk and bread\n"));
}

#[test]
fn a_grant_to_read_does_not_let_a_tool_write() {
    let scene = Scene::new("file_edit");
    let path = scene.path("");
    let added = scene
        .home
        .art(&["grant", "add", "file_edit", "--read", path.to_str().unwrap()]);
    assert_eq!(added.code(), 0, "{added}");
    let denied = scene.call("a.txt", json!({"old_text": "milk", "new_text": "tea"}));
    let denial = &denied.json()["result"]["metadata"]["denials"][0];
    assert!(denial["command"].as_str().unwrap().contains("--write"), "{denied}");
}

/// Calls a tool that asks before it writes, approves the change, and returns the bytes of the file and the preview.
fn approve_change(tool: &'static str, before: &[u8], arguments: Value) -> (Vec<u8>, String) {
    let scene = Scene::new(tool);
    fs::write(scene.path("a.txt"), before).unwrap();
    let preview = call_until_preview(&scene, "a.txt", arguments);
    let approved = scene.home.art(&["approve", "yes", "last"]);
    assert_eq!(approved.code(), 0, "{approved}");
    (fs::read(scene.path("a.txt")).unwrap(), preview)
}

#[test]
fn file_edit_keeps_line_endings_a_byte_order_mark_and_a_missing_last_newline() {
    let (bytes, preview) = approve_change(
        "file_edit",
        b"\xef\xbb\xbfone\r\ntwo\r\nthree",
        json!({"old_text": "one\ntwo\n", "new_text": "one\n2\nmore\n"}),
    );
    assert_eq!(bytes, b"\xef\xbb\xbfone\r\n2\r\nmore\r\nthree");
    assert!(
        preview.ends_with(" one\n-two\n+2\n+more\n three\n\\ No newline at end of file\n"),
        "{preview}"
    );
    let (bytes, _) = approve_change(
        "file_edit",
        b"\xef\xbb\xbfone\r\ntwo\nthree\r\n",
        json!({"from_line": 1, "to_line": 0, "new_text": "zero"}),
    );
    assert_eq!(bytes, b"\xef\xbb\xbfzero\r\none\r\ntwo\nthree\r\n");
}

#[test]
fn file_write_appends_with_the_line_endings_of_the_file() {
    let (bytes, _) = approve_change(
        "file_write",
        b"one\r\n",
        json!({"text": "two\nthree", "existing": "append"}),
    );
    assert_eq!(bytes, b"one\r\ntwo\r\nthree\r\n");
}

#[test]
fn file_write_shows_that_line_endings_and_a_byte_order_mark_change() {
    let (bytes, preview) = approve_change("file_write", b"\xef\xbb\xbfone\r\n", json!({"text": "one\n"}));
    assert_eq!(bytes, b"one\n");
    let notes = "the byte order mark at the beginning is removed\nthe lines end with LF instead of CRLF\n";
    assert!(
        preview.starts_with(notes) && preview.ends_with("-\\u{feff}one␍␊\n+one\n"),
        "{preview}"
    );
}

#[test]
fn a_file_in_utf_16_is_not_changed_and_the_error_says_why() {
    let scene = Scene::new("file_edit");
    fs::write(scene.path("a.txt"), b"\xff\xfem\0").unwrap();
    let refused = scene.call_with_grant("a.txt", json!({"old_text": "m", "new_text": "n"}));
    assert!(
        refused
            .json()
            .to_string()
            .contains("is UTF-16 text: convert it to UTF-8 first"),
        "{refused}"
    );
}
