//! A name server of the test network, which counts the look-ups.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{LOOPBACK, METADATA, PRIVATE, PUBLIC};

/// The address of the name server.
pub(super) const NAME_SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(LOOPBACK), 53);

/// The number of IPv4 look-ups of each name.
type Lookups = Arc<Mutex<HashMap<String, usize>>>;

/// A name server that counts the look-ups.
pub(super) struct NameServer {
    lookups: Lookups,
}

impl NameServer {
    /// Starts the server.
    pub(super) fn start() -> Self {
        let socket = UdpSocket::bind(NAME_SERVER).unwrap();
        let lookups = Lookups::default();
        let counted = Arc::clone(&lookups);
        thread::spawn(move || serve(&socket, &counted));
        Self { lookups }
    }

    /// Returns how often the IPv4 addresses of a name were looked up.
    pub(super) fn lookups(&self, name: &str) -> usize {
        self.lookups.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

fn serve(socket: &UdpSocket, lookups: &Lookups) {
    let mut query = [0; 512];
    while let Ok((bytes, client)) = socket.recv_from(&mut query) {
        if let Some(answer) = query.get(..bytes).and_then(|query| answer(query, lookups)) {
            socket.send_to(&answer, client).unwrap();
        }
    }
}

/// Returns the answer to a query with one question.
fn answer(query: &[u8], lookups: &Lookups) -> Option<Vec<u8>> {
    const HEADER_BYTES: usize = 12;
    const TYPE_A: [u8; 2] = [0, 1];
    let (mut name, mut offset) = (String::new(), HEADER_BYTES);
    while let length @ 1.. = usize::from(*query.get(offset)?) {
        let label = query.get(offset + 1..=offset + length)?;
        name.extend([&String::from_utf8_lossy(label), "."]);
        offset += length + 1;
    }
    let name = name.trim_end_matches('.');
    // The name ends with a zero byte, after which come a type and a class of two bytes each.
    let question = query.get(HEADER_BYTES..offset + 5)?;
    let addresses = match query.get(offset + 1..offset + 3)? {
        record_type if record_type == TYPE_A => addresses(name, lookups),
        _ => Vec::new(),
    };
    let count = u8::try_from(addresses.len()).ok()?;
    // The flags of a successful answer, and the numbers of questions, answers, and records of two other kinds.
    let head = [0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0];
    let mut answer = [query.get(..2)?, &head, question].concat();
    for address in addresses {
        // A pointer to the name of the question, type A, class IN, a time to live of 0, and a length of four bytes.
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        answer.extend(address.octets());
    }
    Some(answer)
}

/// Counts a look-up of a name, and returns the addresses of the name.
fn addresses(name: &str, lookups: &Lookups) -> Vec<Ipv4Addr> {
    let mut lookups = lookups.lock().unwrap();
    let count = lookups.entry(name.to_owned()).or_default();
    *count += 1;
    match (name, *count) {
        // The address of `rebinding.example` changes after the first look-up.
        ("public.example", _) | ("rebinding.example", 1) => vec![PUBLIC],
        ("loopback.example" | "rebinding.example", _) => vec![LOOPBACK],
        ("private.example", _) => vec![PRIVATE],
        ("metadata.example", _) => vec![METADATA],
        ("mixed.example", _) => vec![PUBLIC, PRIVATE],
        _ => Vec::new(),
    }
}
