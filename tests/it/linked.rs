//! A call is linked with exactly the interfaces that were granted: with any set of grants, it can use these interfaces and no
//! others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use art_core::capability::{Access, BaseDirs, FsGrant, HttpGrant, ToolPolicy};
use art_core::limits::Limits;
use art_sandbox::{Plugin, Sandbox};
use art_tools::executor::{CheckedCall, ToolExecutor};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::attacks::CountingServer;
use crate::harness::{components, guest, load_into, output, sandbox, tool_call};

/// The interfaces that can be granted.
const INTERFACES: [&str; 5] = ["clock", "random", "fs", "http", "env"];

/// What a call can reach with the interfaces for files and for requests: a file and a server.
struct Targets {
    file: tempfile::NamedTempFile,
    server: CountingServer,
}

impl Targets {
    /// Returns the tool with a policy that grants these interfaces.
    fn tool(&self, sandbox: &Sandbox, granted: &BTreeSet<&str>) -> Plugin {
        let tool = load_into(sandbox, components::REACHES).unwrap();
        let file = FsGrant::new(self.file.path().to_owned(), Access::Read);
        let server = json!({"url": self.url(), "private": true});
        let server: HttpGrant = serde_json::from_value(server).unwrap();
        let variable = ("ART_TEST_GRANTED".to_owned(), "yes".to_owned());
        let policy = ToolPolicy {
            component: tool.digest(),
            clock: granted.contains("clock"),
            random: granted.contains("random"),
            fs: granted.get("fs").map(|_| file).into_iter().collect(),
            http: granted.get("http").map(|_| server).into_iter().collect(),
            env: granted.get("env").map(|_| variable).into_iter().collect(),
            ..ToolPolicy::default()
        };
        let base_dirs = BaseDirs {
            home: None,
            current: Path::new("/").to_owned(),
            ..BaseDirs::default()
        };
        tool.with_policy(policy, base_dirs).unwrap()
    }

    fn url(&self) -> String {
        format!("http://{}/", self.server.address)
    }

    /// Returns whether a call of the tool can use this interface.
    async fn is_reached(&self, tool: &Plugin, interface: &str) -> bool {
        let arguments = json!({"interface": interface, "path": self.file.path(), "url": self.url()});
        // If a file or an address is not granted at all, the call may also be refused before it starts.
        let Ok(grants) = tool.authorize(&arguments) else {
            return false;
        };
        let (request, cancel) = (tool_call(arguments), CancellationToken::new());
        let outcome = tool
            .execute(&CheckedCall::for_test_with_grants(
                request,
                Limits::EXECUTE,
                grants,
                cancel,
            ))
            .await;
        outcome.ending.name() == "success" && output(&outcome) == true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_reaches_exactly_the_granted_interfaces(granted in subsequence(INTERFACES.to_vec(), 0..=5)) {
        let granted: BTreeSet<_> = granted.into_iter().collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reached = runtime.block_on(async {
            let targets = Targets {
                file: tempfile::NamedTempFile::new().unwrap(),
                server: CountingServer::start().await,
            };
            fs::write(targets.file.path(), "text").unwrap();
            let tool = targets.tool(sandbox(), &granted);
            let mut reached = BTreeSet::new();
            for interface in INTERFACES {
                if targets.is_reached(&tool, interface).await {
                    reached.insert(interface);
                }
            }
            reached
        });
        prop_assert_eq!(reached, granted);
    }
}

#[test]
fn schema_runs_without_any_grant() {
    // The guest says in its description what it could read and reach while `schema()` ran.
    let description = guest(components::SCHEMA_REACHES).schema().description.clone();
    assert_eq!(description, "file false, directory false, request false, variables 0");
}
