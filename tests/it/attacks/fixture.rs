//! Makes the attack that an [`Attack`] describes, and checks how it ends.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use art_core::capability::{Access, BaseDirs, CallGrants, FsGrant, FsRight, HttpGrant, HttpRight, guest_path};
use art_core::outcome::Outcome;
use art_sandbox::Sandbox;
use art_tools::executor::{CheckedCall, ToolExecutor};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::counting_server::CountingServer;
use super::manifest::{Attack, FileGrant, HandmadeParts};
use crate::handmade::Handmade;
use crate::harness::{CALL_TIMEOUT, components, message_with_causes, output, read_component, tool_call};

/// A text that no guest may see. It is in the environment of the suite and in a file beside the granted folder.
pub(crate) const CANARY: &str = "7b1d0f6a92c84e53b0d6a1f3c95e2847";

/// The result of an attack that ended as its entry says, so the host withstood it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Withstood {
    /// The time by which the call exceeded its time limit, if that limit ended the call.
    pub(crate) overrun: Option<Duration>,
}

/// What an attack is aimed at: a folder, of which only `notes` may be granted, and a server.
struct Target {
    folder: TempDir,
    server: CountingServer,
}

impl Attack {
    /// Makes the attack in `sandbox`.
    ///
    /// # Errors
    /// Fails with the property of the outcome that differs from the expected one.
    pub(crate) async fn run(&self, sandbox: &Sandbox) -> Result<Withstood, String> {
        let plugin = match (sandbox.load("attack", &self.component_bytes()), &self.refused) {
            (Ok(plugin), None) => plugin,
            (Ok(_), Some(_)) => return Err("the component was not refused".to_owned()),
            (Err(error), refused) => return check_refusal(&message_with_causes(&error), refused.as_deref()),
        };
        let target = Target::new().await;
        let call = self.checked_call(&target);
        let start = Instant::now();
        let outcome = tokio::time::timeout(CALL_TIMEOUT, plugin.execute(&call)).await;
        let outcome = outcome.map_err(|elapsed| format!("the call does not end: {elapsed}"))?;
        self.check(&outcome, &target)?;
        let limit = Duration::from_millis(call.limits().timeout_ms);
        let is_timeout = outcome.ending.name() == "timeout";
        Ok(Withstood {
            overrun: is_timeout.then(|| start.elapsed().saturating_sub(limit)),
        })
    }

    fn component_bytes(&self) -> Vec<u8> {
        match (&self.guest, &self.wat, &self.component) {
            (Some(guest), None, None) => read_component(guest_component(guest)),
            (None, Some(parts), None) => handmade(parts).build(),
            (None, None, Some(text)) => wat::parse_str(text).expect("the component is valid text"),
            _ => panic!("an attack has one of `guest`, `wat` and `component`: {self:?}"),
        }
    }

    fn checked_call(&self, target: &Target) -> CheckedCall {
        let steps = (0..self.times.unwrap_or(1)).flat_map(|_| &self.steps);
        let steps: Vec<_> = steps.map(|step| target.absolute_step(step)).collect();
        let arguments = match (&self.arguments, steps.is_empty()) {
            (Value::Null, true) => json!({}),
            (arguments, true) => target.with_server_address(arguments),
            _ => json!({ "steps": steps }),
        };
        let grants = target.grants(self.files.as_ref(), &self.http);
        CheckedCall::for_test_with_grants(
            tool_call(arguments),
            self.limits.all(),
            grants,
            CancellationToken::new(),
        )
    }

    /// Checks the ending, the output, the usage, the connections, and that nothing outside of the grants was touched or seen.
    fn check(&self, outcome: &Outcome, target: &Target) -> Result<(), String> {
        let (ending, usage) = (outcome.ending.name(), outcome.usage);
        let outcome_text = format!("{outcome:?}");
        // Each condition has to hold. Its text says what is wrong if it does not.
        let checks = [
            (self.ends.as_deref() == Some(ending), "another ending"),
            (
                usage.fuel > 0 && usage.wall_us > 0 && usage.peak_memory_bytes > 0,
                "no usage",
            ),
            (
                usage.peak_memory_bytes <= self.limits.all().memory_bytes,
                "too much memory",
            ),
            (!outcome_text.contains(CANARY), "a canary"),
            (target.is_untouched(self.files.as_ref()), "a file that was not granted"),
            // With `may_connect`, the number of connections does not matter.
            (
                self.may_connect || target.server.connections() == self.connections,
                "another number of connections",
            ),
            (
                self.output.as_ref().is_none_or(|expected| *expected == output(outcome)),
                "another output",
            ),
        ];
        match checks.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, difference)) => Err(format!(
                "{difference}: {}",
                outcome_text.chars().take(2_000).collect::<String>()
            )),
        }
    }
}

/// Checks that the refusal of the component was expected: `error` has to contain `expected_part`.
fn check_refusal(error: &str, expected_part: Option<&str>) -> Result<Withstood, String> {
    match expected_part {
        Some(part) if error.contains(part) => Ok(Withstood::default()),
        _ => Err(format!("refused with `{error}`")),
    }
}

impl Target {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("notes");
        fs::create_dir_all(notes.join("sub")).expect("a folder");
        fs::write(notes.join("a.txt"), "first").expect("a file");
        fs::write(folder.path().join("outside.txt"), CANARY).expect("a file");
        for (to, name) in [
            ("../outside.txt", "link_out"),
            ("/proc/self/root", "link_root"),
            ("..", "link_up"),
        ] {
            std::os::unix::fs::symlink(to, notes.join(name)).expect("a link");
        }
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, notes.join("pipe"), pipe, rustix::fs::Mode::RWXU, 0).expect("a pipe");
        Self {
            folder,
            server: CountingServer::start().await,
        }
    }

    /// Returns the step with absolute paths below the folder of this target.
    fn absolute_step(&self, [operation, path, extra]: &[String; 3]) -> [String; 3] {
        let folder = self.folder.path().to_str().expect("a path that is text");
        [
            operation.clone(),
            format!("{folder}/{path}"),
            extra.replace("{folder}", folder),
        ]
    }

    /// Returns `value` with the address of the server in place of `{server}`.
    fn with_server_address(&self, value: &Value) -> Value {
        let text = value.to_string().replace("{server}", &self.server.address.to_string());
        serde_json::from_str(&text).expect("it stays JSON")
    }

    fn grants(&self, files: Option<&FileGrant>, http: &[Value]) -> Arc<CallGrants> {
        let http = http.iter().map(|grant| {
            let grant: HttpGrant = serde_json::from_value(self.with_server_address(grant)).expect("a grant");
            HttpRight {
                scope: grant.url.clone(),
                methods: grant.methods.clone(),
                grant: Arc::new(grant),
            }
        });
        let base_dirs = BaseDirs {
            home: Some(self.folder.path().to_owned()),
            current: self.folder.path().to_owned(),
            ..BaseDirs::default()
        };
        Arc::new(CallGrants {
            tool: Arc::from("attack"),
            base_dirs: Arc::new(base_dirs),
            fs: files
                .map(|grant| fs_right(grant, &self.folder.path().join("notes")))
                .into_iter()
                .collect(),
            http: http.collect(),
            ..CallGrants::clone(&CallGrants::by_default())
        })
    }

    /// Returns whether everything that the call may not write is as it was before the call.
    fn is_untouched(&self, files: Option<&FileGrant>) -> bool {
        let names = |path: &Path| -> Vec<_> {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        };
        let folder = self.folder.path();
        let mut entries_of_folder = names(folder);
        entries_of_folder.sort();
        let may_write_notes = files.is_some_and(|grant| grant.write);
        // `notes` holds a file, a folder, three links and a pipe.
        let same_notes = fs::read(folder.join("notes/a.txt")).is_ok_and(|text| text == b"first")
            && names(&folder.join("notes")).len() == 6;
        entries_of_folder == ["notes", "outside.txt"]
            && fs::read(folder.join("outside.txt")).is_ok_and(|text| text == CANARY.as_bytes())
            && (may_write_notes || same_notes)
    }
}

/// Returns the right of the call to use the folder `notes`, limited as `grant` says.
fn fs_right(grant: &FileGrant, notes: &Path) -> FsRight {
    let access = if grant.write { Access::ReadWrite } else { Access::Read };
    let base = FsGrant::new(notes.to_owned(), access);
    let limited_grant = FsGrant {
        max_bytes: grant.max_bytes.unwrap_or(base.max_bytes),
        max_files: grant.max_files.unwrap_or(base.max_files),
        ..base
    };
    FsRight {
        guest_path: guest_path(notes.to_str().expect("a path that is text")).expect("a path without `..`"),
        host_path: notes.to_owned(),
        access,
        grant: Arc::new(limited_grant),
    }
}

/// Returns a tool that the suite builds from WebAssembly text: from `parts`, and from the default part where `parts` has none.
fn handmade(parts: &HandmadeParts) -> Handmade<'_> {
    let base = Handmade::default();
    Handmade {
        imports: &parts.imports,
        memory: parts.memory.as_deref().unwrap_or(base.memory),
        items: &parts.items,
        realloc: &parts.realloc,
        schema: &parts.schema,
        execute: &parts.execute,
        post_return: &parts.post_return,
        outcome: parts.outcome.unwrap_or(base.outcome),
        is_utf16: parts.utf16,
        ..base
    }
}

/// Returns the path of the component that is built from the guest with this name.
fn guest_component(guest: &str) -> &'static str {
    match guest {
        "fills" => components::FILLS,
        "hostile" => components::HOSTILE,
        "files" => components::FILES,
        "fetches" => components::FETCHES,
        "raw_requests" => components::RAW_REQUESTS,
        "raw_files" => components::RAW_FILES,
        "sandbox_probe" => components::SANDBOX_PROBE,
        "counter" => components::COUNTER,
        "sockets" => components::SOCKETS,
        other => panic!("there is no guest `{other}`"),
    }
}
