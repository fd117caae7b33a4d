//! A call is linked with exactly the interfaces that were granted.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use art_core::capability::{Access, FsGrant, HttpGrant, Places, ToolPolicy};
use art_core::limits::Limits;
use art_sandbox::{Plugin, Sandbox};
use art_tools::executor::{Admitted, ToolExecutor};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::attacks::Origin;
use crate::harness::{components, guest, load_into, output, request, sandbox};

/// The interfaces that can be granted.
const INTERFACES: [&str; 5] = ["clock", "random", "fs", "http", "env"];

/// The targets of the interfaces for files and requests.
struct Reachable {
    file: tempfile::NamedTempFile,
    origin: Origin,
}

impl Reachable {
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
        let places = Places {
            home: None,
            current: Path::new("/").to_owned(),
        };
        tool.with_policy(policy, places).unwrap()
    }

    fn url(&self) -> String {
        format!("http://{}/", self.origin.address)
    }

    /// Returns whether a call of the tool can use an interface to reach its target.
    async fn is_reached(&self, tool: &Plugin, interface: &str) -> bool {
        let arguments = json!({"interface": interface, "path": self.file.path(), "url": self.url()});
        // If a file or an address is not granted at all, the call may also be refused before it starts.
        let Ok(grants) = tool.authorize(&arguments) else {
            return false;
        };
        let (request, cancel) = (request(arguments), CancellationToken::new());
        let outcome = tool
            .execute(&Admitted::for_test_with_grants(
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
            let reachable = Reachable {
                file: tempfile::NamedTempFile::new().unwrap(),
                origin: Origin::start().await,
            };
            fs::write(reachable.file.path(), "text").unwrap();
            let tool = reachable.tool(sandbox(), &granted);
            let mut reached = BTreeSet::new();
            for interface in INTERFACES {
                if reachable.is_reached(&tool, interface).await {
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
    let schema = guest(components::SCHEMA_REACHES).schema().description.clone();
    assert_eq!(schema, "file false, directory false, request false, variables 0");
}
