//! Opens a connection, and so imports sockets, which no tool is granted.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

/// Connects to a server.
#[tool]
fn sockets(_: NoArgs) -> Result<bool> {
    Ok(std::net::TcpStream::connect("127.0.0.1:80").is_ok())
}
