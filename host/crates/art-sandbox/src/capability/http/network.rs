//! Makes the connections for the requests of tools. All connections run on one network thread, which runs no guest, so that no
//! guest waits while another guest connects.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use art_core::capability::{RequestTarget, is_public};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::limits::MAX_ADDRESSES;

/// Maximum number of threads that ask the operating system for the addresses of hosts. Each is blocked while it waits.
const RESOLVER_THREADS: usize = 4;

/// Finds the addresses of hosts.
pub(super) trait Resolve: Send + Sync {
    /// Returns all addresses of a host.
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the operating system.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) }.boxed()
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// An address of the host is not public, and the grant is only for public ones.
    NotPublic,
    /// The addresses of the host were not found.
    UnknownHost,
    /// It took too long to find the addresses.
    ResolveTimeout,
    /// No address accepted the connection.
    Refused,
    /// It took too long to connect, or to set up TLS.
    Timeout,
    /// The certificate is not valid for the host, or the host does not use TLS.
    Tls(io::Error),
    /// This machine has no trusted certificates with which the certificate of the host could be checked.
    NoCertificates,
}

/// A connection, with TLS if the scheme is `https`.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Makes the connections of all calls of a sandbox.
pub(crate) struct Network {
    resolver: Box<dyn Resolve>,
    /// Created when a tool first connects with TLS, because reading the certificates of the system is slow. Holds `None` if it
    /// could not be created.
    tls: OnceLock<Option<TlsConnector>>,
    /// Runs the network thread. Created when a tool first sends a request. Holds `None` if the thread could not be started.
    runtime: OnceLock<Option<Runtime>>,
}

impl Default for Network {
    fn default() -> Self {
        Self::new(Box::new(SystemResolver), OnceLock::new())
    }
}

impl Network {
    pub(super) fn new(resolver: Box<dyn Resolve>, tls: OnceLock<Option<TlsConnector>>) -> Self {
        Self {
            resolver,
            tls,
            runtime: OnceLock::new(),
        }
    }

    /// Runs a task on the network thread. Returns `None` if the thread could not be started.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Option<NetworkTask> {
        let runtime = self
            .runtime
            .get_or_init(|| start_runtime().inspect_err(log_failure).ok());
        runtime.as_ref().map(|runtime| NetworkTask(runtime.spawn(task)))
    }

    /// Connects to the host of `target`. Looks up its addresses once, and connects to one of them. Unless `allows_private` is
    /// set, all of them must be public. The look-up, the connecting and the set-up of TLS may each take `time_limit`.
    pub(super) async fn connect(
        &self,
        target: &RequestTarget,
        allows_private: bool,
        time_limit: Duration,
    ) -> Result<Box<dyn Connection>, ConnectError> {
        let addresses = self.look_up_addresses(target, time_limit).await?;
        if !allows_private && !addresses.iter().all(|address| is_public(address.ip())) {
            return Err(ConnectError::NotPublic);
        }
        let stream = connect_to_any(&addresses, time_limit).await?;
        if target.secure {
            return self.encrypt(stream, target, time_limit).await;
        }
        Ok(Box::new(stream))
    }

    async fn look_up_addresses(
        &self,
        target: &RequestTarget,
        time_limit: Duration,
    ) -> Result<Vec<SocketAddr>, ConnectError> {
        if let Ok(address) = target.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, target.port)]);
        }
        let lookup = self.resolver.resolve(target.host.clone(), target.port);
        match timeout(time_limit, lookup).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
            Ok(Ok(_) | Err(_)) => Err(ConnectError::UnknownHost),
            Err(_) => Err(ConnectError::ResolveTimeout),
        }
    }

    /// Sets up TLS on a connection.
    async fn encrypt(
        &self,
        stream: TcpStream,
        target: &RequestTarget,
        time_limit: Duration,
    ) -> Result<Box<dyn Connection>, ConnectError> {
        let tls = self.tls.get_or_init(system_tls).as_ref();
        let tls = tls.ok_or(ConnectError::NoCertificates)?;
        let name = ServerName::try_from(target.host.clone())
            .map_err(|error| ConnectError::Tls(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        match timeout(time_limit, tls.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => Err(ConnectError::Tls(error)),
            Err(_) => Err(ConnectError::Timeout),
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Shuts down without waiting for the tasks, because nobody needs their results. An ordinary drop of the runtime would
        // wait, and would panic if it happens in asynchronous code.
        if let Some(runtime) = self.runtime.take().flatten() {
            runtime.shutdown_background();
        }
    }
}

/// A task on the network thread. Dropping it aborts the task.
#[derive(Debug)]
pub(super) struct NetworkTask(tokio::task::JoinHandle<()>);

impl Drop for NetworkTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts the network thread.
fn start_runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(RESOLVER_THREADS)
        .thread_name("art-sandbox-net")
        .enable_all()
        .build()
}

fn log_failure(error: &io::Error) {
    tracing::error!(%error, "failed to start the thread for requests of tools");
}

/// The clock by which certificates are checked. If it is before 1970, none is valid; the clock of rustls would panic.
#[derive(Debug)]
struct CertificateClock;

impl TimeProvider for CertificateClock {
    fn current_time(&self) -> Option<UnixTime> {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since_epoch.ok().map(UnixTime::since_unix_epoch)
    }
}

/// Returns a TLS connector that trusts the certificates of the system. Returns `None` and logs the error if that fails.
fn system_tls() -> Option<TlsConnector> {
    let config = ClientConfig::builder_with_details(Arc::new(ring::default_provider()), Arc::new(CertificateClock))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier);
    let config = config.inspect_err(|error| tracing::error!(%error, "failed to prepare TLS for requests of tools"));
    Some(TlsConnector::from(Arc::new(config.ok()?.with_no_client_auth())))
}

/// Connects to the first of the addresses that accepts the connection. Tries at most [`MAX_ADDRESSES`], and each for an equal
/// share of the time, so that an address that does not answer leaves time for the others.
async fn connect_to_any(addresses: &[SocketAddr], time_limit: Duration) -> Result<TcpStream, ConnectError> {
    let attempts = addresses.len().clamp(1, MAX_ADDRESSES);
    let share = time_limit / u32::try_from(attempts).unwrap_or(1);
    let mut failure = ConnectError::UnknownHost;
    for address in addresses.iter().take(attempts) {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(_)) => failure = ConnectError::Refused,
            Err(_) => failure = ConnectError::Timeout,
        }
    }
    Err(failure)
}
