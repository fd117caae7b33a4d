//! A recorder of the servers to which packets are sent in the test network.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, recv, socket_with};

const TCP: u8 = 6;
const UDP: u8 = 17;
/// All protocols, in network byte order.
const ALL_PROTOCOLS: u32 = 0x0300;

/// Collects the destinations of packets.
pub(super) struct Recorder {
    contacted: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Recorder {
    /// Starts recording.
    pub(super) fn start() -> Self {
        let protocol = NonZeroU32::new(ALL_PROTOCOLS).map(Protocol::from_raw);
        let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, protocol).unwrap();
        let contacted: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let recorded = Arc::clone(&contacted);
        thread::spawn(move || record(&socket, &recorded));
        Self { contacted }
    }

    /// Forgets what was recorded.
    pub(super) fn clear(&self) {
        wait_for_packets();
        self.contacted.lock().unwrap().clear();
    }

    /// Returns the servers to which a connection was begun or a datagram was sent, each once, in the order of the first packets.
    pub(super) fn contacted(&self) -> Vec<SocketAddr> {
        wait_for_packets();
        let mut contacted = Vec::new();
        for server in self.contacted.lock().unwrap().iter() {
            if !contacted.contains(server) {
                contacted.push(*server);
            }
        }
        contacted
    }
}

/// Gives packets that are on their way enough time to be recorded.
fn wait_for_packets() {
    thread::sleep(Duration::from_millis(200));
}

fn record(socket: &OwnedFd, recorded: &Mutex<Vec<SocketAddr>>) {
    let mut packet = [0; 2048];
    while let Ok((_, bytes)) = recv(socket, &mut packet, RecvFlags::empty()) {
        if let Some(server) = packet.get(..bytes).and_then(contacted_server) {
            recorded.lock().unwrap().push(server);
        }
    }
}

/// Returns the destination of an IPv4 packet that begins a TCP connection, or of a UDP datagram that does not come from a name
/// server. Returns `None` for other packets.
fn contacted_server(packet: &[u8]) -> Option<SocketAddr> {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    const DNS_PORT: u16 = 53;
    // The offsets are those of the IPv4 header (9: protocol, 16: destination) and of the TCP or UDP header after it (0: source
    // port, 2: destination port, 13: TCP flags).
    let header_bytes = usize::from(packet.first()? & 0xf) * 4;
    let port = |offset: usize| {
        Some(u16::from_be_bytes([
            *packet.get(header_bytes + offset)?,
            *packet.get(header_bytes + offset + 1)?,
        ]))
    };
    let begins_exchange = match *packet.get(9)? {
        TCP => packet.get(header_bytes + 13)? & (SYN | ACK) == SYN,
        UDP => port(0)? != DNS_PORT,
        _ => false,
    };
    let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    begins_exchange.then_some((Ipv4Addr::from(address), port(2)?).into())
}
