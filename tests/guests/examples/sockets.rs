//! Tries to open sockets, which no grant can allow.

#![cfg(target_family = "wasm")]

use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

use art_sdk::prelude::*;

#[args]
struct In {
    /// The address of a server.
    address: String,
}

/// Connects to a server, listens, binds a UDP socket and looks a name up. Returns for each attempt `open` or
/// the kind of the error.
#[tool]
fn sockets(input: In) -> Result<Vec<String>> {
    let attempts = [
        TcpStream::connect(&input.address).map(drop),
        TcpListener::bind("127.0.0.1:0").map(drop),
        UdpSocket::bind("127.0.0.1:0").map(drop),
        "localhost:80".to_socket_addrs().map(drop),
    ];
    let kind = |attempt: std::io::Result<()>| {
        attempt.map_or_else(|error| format!("{:?}", error.kind()), |()| "open".to_owned())
    };
    Ok(attempts.into_iter().map(kind).collect())
}
