//! A server that counts its connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server that answers each connection with one page, until it is dropped.
pub(crate) struct CountingServer {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// The task that accepts connections.
    accepting: JoinHandle<()>,
}

impl CountingServer {
    /// Starts the server.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let connections: Arc<AtomicUsize> = Arc::default();
        let counter = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(answer(connection));
            }
        });
        Self {
            address,
            connections,
            accepting,
        }
    }

    /// Returns how many connections the server has received.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for CountingServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn answer(mut connection: TcpStream) {
    drop(connection.read(&mut [0; 4096]).await);
    let page = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\npage";
    drop(connection.write_all(page).await);
}
