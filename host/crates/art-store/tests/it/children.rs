//! Child processes, each of which runs one test of this test program.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

/// Environment variable with the path of the database. A test sets it for its child processes, so a process that has it is a
/// child.
const DATABASE_VARIABLE: &str = "ART_STORE_TEST_DATABASE";

/// Beginning of each line that a child process sends to its parent. No other output of the child begins with it.
const LINE_PREFIX: &str = "to parent: ";

/// Returns the path of the database if this process is a child of a test.
pub(crate) fn database_path() -> Option<std::ffi::OsString> {
    std::env::var_os(DATABASE_VARIABLE)
}

/// Sends a line to the parent process, in one write, so that lines of several tasks are not mixed.
pub(crate) fn send_line(line: &str) {
    std::io::stderr()
        .write_all(format!("{LINE_PREFIX}{line}\n").as_bytes())
        .unwrap();
}

/// A child process, killed when it is dropped.
pub(crate) struct ChildTest {
    child: Child,
    output: Lines<BufReader<ChildStderr>>,
}

impl ChildTest {
    /// Starts the test with that name in a child process.
    pub(crate) fn start(test: &str, database: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]);
        Self::spawn(command, database)
    }

    /// Starts the test in a child process that can only write files of up to `blocks` blocks of 512 bytes.
    pub(crate) fn start_with_limited_files(test: &str, database: &Path, blocks: u32) -> Self {
        let mut command = Command::new("sh");
        // The shell ignores the signal about a file that grows too large, and so does the child. Otherwise the signal would end
        // the child before SQLite sees the error.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        command
            .args(["-c", &script, "sh"])
            .arg(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]);
        Self::spawn(command, database)
    }

    fn spawn(mut command: Command, database: &Path) -> Self {
        let mut child = command
            .env(DATABASE_VARIABLE, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, output }
    }

    /// Returns the next line that the child sends, or `None` if it has ended.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        loop {
            let line = self.output.next()?.ok()?;
            if let Some(sent) = line.strip_prefix(LINE_PREFIX) {
                return Some(sent.to_owned());
            }
        }
    }

    /// Lets the child continue after [`wait_for_parent`].
    pub(crate) fn resume(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Sends the signal with that name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Returns all lines that the child still sends, and waits until it ends.
    pub(crate) fn finish(&mut self) -> (Vec<String>, ExitStatus) {
        let rest = std::iter::from_fn(|| self.next_line()).collect();
        (rest, self.child.wait().unwrap())
    }
}

impl Drop for ChildTest {
    fn drop(&mut self) {
        // An error means that the child has ended, which is fine.
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap_or_default();
    }
}

/// Waits until the parent process calls [`ChildTest::resume`].
pub(crate) fn wait_for_parent() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
