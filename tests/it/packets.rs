//! Requests of tools at the level of packets, in a separate network namespace: a denied request sends no packet.

mod names;
mod recorder;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;

use art_core::capability::{CallGrants, HttpGrant, HttpRight};
use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_tools::executor::{CheckedCall, ToolExecutor};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::harness::{components, guest, run_alone_in, tool_call};
use crate::http_server::{HttpServer, response};
use names::{NAME_SERVER, NameServer};
use recorder::Recorder;

/// A public address that belongs to this machine in the network namespace of the test.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The address at which clouds offer the metadata of a machine.
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// Run by [`denied_requests_send_no_packet`] in a separate network namespace.
#[tokio::test]
#[ignore = "needs a separate network namespace"]
async fn tools_send_only_permitted_packets() {
    let answer = |request: &str| {
        let location = [("Location", "http://127.0.0.1/")];
        let is_redirect = request.starts_with("GET /redirect");
        response(
            if is_redirect { 302 } else { 200 },
            if is_redirect { &location } else { &[] },
            b"page",
        )
    };
    let _servers =
        [PUBLIC, LOOPBACK, PRIVATE, METADATA].map(|address| HttpServer::start_at(&format!("{address}:80"), answer));
    let network = TestNetwork {
        name_server: NameServer::start(),
        recorder: Recorder::start(),
    };
    network.assert_recorder_sees_connections();
    network.granted_requests_send_packets().await;
    network.requests_outside_of_their_grant_send_no_packets().await;
    network
        .names_that_resolve_to_addresses_that_are_not_public_are_looked_up_but_not_contacted()
        .await;
    network.redirects_are_not_followed().await;
    network
        .a_name_that_changes_its_address_does_not_lead_to_the_loopback_address()
        .await;
}

/// The name server of the test, and the recorder of the packets in its network namespace.
struct TestNetwork {
    name_server: NameServer,
    recorder: Recorder,
}

impl TestNetwork {
    /// Makes a request to `url` with a grant for the URL `grant`. Returns the outcome, and the servers to which a packet was
    /// sent.
    async fn request(&self, grant: &str, url: &str) -> (Outcome, Vec<SocketAddr>) {
        let grant: HttpGrant = serde_json::from_value(json!({ "url": grant })).unwrap();
        let http_right = HttpRight {
            scope: grant.url.clone(),
            methods: grant.methods.clone(),
            grant: Arc::new(grant),
        };
        let grants = Arc::new(CallGrants {
            http: vec![http_right],
            ..CallGrants::clone(&CallGrants::by_default())
        });
        self.recorder.clear();
        let (request, cancel) = (tool_call(json!({ "url": url })), CancellationToken::new());
        let call = CheckedCall::for_test_with_grants(request, Limits::EXECUTE, grants, cancel);
        let outcome = guest(components::FETCHES).execute(&call).await;
        (outcome, self.recorder.contacted())
    }

    /// Asserts that a request is denied, and that packets were sent only to the servers in `contacted`.
    async fn assert_denied(&self, grant: &str, url: &str, contacted: &[SocketAddr]) {
        let (outcome, sent_to) = self.request(grant, url).await;
        assert_eq!(outcome.ending.name(), "failure", "{url}: {outcome:?}");
        assert_eq!(sent_to, contacted, "{url} with {grant}");
        assert!(!outcome.denials.is_empty(), "{url}: {outcome:?}");
    }

    /// Ensures that the recorder works: with a recorder that sees nothing, every check that no packet was sent would succeed.
    fn assert_recorder_sees_connections(&self) {
        for address in [PUBLIC, LOOPBACK, PRIVATE, METADATA] {
            self.recorder.clear();
            drop(TcpStream::connect((address, 80)).unwrap());
            assert_eq!(self.recorder.contacted(), [web_server_at(address)]);
        }
    }

    async fn granted_requests_send_packets(&self) {
        for (grant, name_server) in [
            ("http://93.184.216.34/", None),
            ("http://public.example/", Some(NAME_SERVER)),
        ] {
            let (outcome, sent_to) = self.request(grant, grant).await;
            assert_eq!(outcome.ending.name(), "success", "{outcome:?}");
            let expected: Vec<_> = name_server.into_iter().chain([web_server_at(PUBLIC)]).collect();
            assert_eq!(sent_to, expected);
        }
    }

    async fn requests_outside_of_their_grant_send_no_packets(&self) {
        // The first part of the second name stands for stolen data. A look-up would send it to the name server of the domain.
        for url in [
            "http://public.example/",
            "http://stolen-7b1d0f6a.example/",
            "http://93.184.216.34/",
            "http://127.0.0.1/",
            "http://10.0.0.1/",
            "http://169.254.169.254/",
        ] {
            self.assert_denied("http://other.example/", url, &[]).await;
        }
        // A grant for an address that is not public has no effect without `private`.
        for url in ["http://127.0.0.1/", "http://10.0.0.1/", "http://169.254.169.254/"] {
            self.assert_denied(url, url, &[]).await;
        }
        self.assert_denied("http://public.example/open", "http://public.example/other", &[])
            .await;
        self.assert_denied("https://public.example/", "http://public.example/", &[])
            .await;
    }

    async fn names_that_resolve_to_addresses_that_are_not_public_are_looked_up_but_not_contacted(&self) {
        for name in ["loopback", "private", "metadata", "mixed"] {
            let url = format!("http://{name}.example/");
            self.assert_denied(&url, &url, &[NAME_SERVER]).await;
        }
    }

    async fn redirects_are_not_followed(&self) {
        let url = "http://public.example/redirect";
        let (outcome, sent_to) = self.request("http://public.example/", url).await;
        assert_eq!(crate::harness::output(&outcome)["status"], 302);
        assert_eq!(sent_to, [NAME_SERVER, web_server_at(PUBLIC)]);
    }

    /// The name resolves to the public address at the first look-up, and to the loopback address later.
    async fn a_name_that_changes_its_address_does_not_lead_to_the_loopback_address(&self) {
        let url = "http://rebinding.example/";
        let (first, sent_to) = self.request(url, url).await;
        assert_eq!(first.ending.name(), "success", "{first:?}");
        assert_eq!(
            (sent_to, self.name_server.lookups("rebinding.example")),
            (vec![NAME_SERVER, web_server_at(PUBLIC)], 1)
        );
        self.assert_denied(url, url, &[NAME_SERVER]).await;
        assert_eq!(self.name_server.lookups("rebinding.example"), 2);
    }
}

fn web_server_at(address: Ipv4Addr) -> SocketAddr {
    (address, 80).into()
}

/// A command that starts a program in a separate network namespace.
const LAUNCHER: [&str; 2] = ["unshare", "-rnm"];

/// Returns shell commands that give the network namespace its addresses, and send all look-ups to the name server of the test.
/// The `&&` at their end comes before the command of the test.
fn setup(folder: &str) -> String {
    format!(
        "ip link set lo up && ip addr add {PUBLIC}/32 dev lo && ip addr add {PRIVATE}/32 dev lo && \
         ip addr add {METADATA}/32 dev lo && mount --bind {folder}/resolv.conf /etc/resolv.conf && \
         mount --bind {folder}/nsswitch.conf /etc/nsswitch.conf &&"
    )
}

/// Returns why no network namespace can be created here, or `None` if one can.
fn namespace_error() -> Option<String> {
    let ran = Command::new(LAUNCHER[0])
        .arg(LAUNCHER[1])
        .args(["ip", "link", "set", "lo", "up"])
        .output();
    match ran {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("`unshare`: {error}")),
    }
}

/// If no network namespace may be created, the test is skipped. The tests of `http.rs` check the same with servers that count
/// their requests.
#[test]
#[expect(clippy::print_stderr, reason = "the person has to see what was not tested")]
fn denied_requests_send_no_packet() {
    if let Some(reason) = namespace_error() {
        eprintln!("skipped: a separate network namespace is not permitted here: {reason}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
    fs::write(folder.path().join("nsswitch.conf"), "hosts: dns\n").unwrap();
    let setup = setup(folder.path().to_str().unwrap());
    run_alone_in(&LAUNCHER, "packets::tools_send_only_permitted_packets", &setup);
}
