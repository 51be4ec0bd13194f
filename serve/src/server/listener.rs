//! [`Listener`]: the address of the service, and TLS on each of its connections.

use super::Settings;
use crate::credentials::sha256;
use crate::private;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The maximum number of open connections where the system allows enough open files.
const CONNECTIONS: u64 = 16_000;
/// The open files, at most, that are kept free of connections: for the database, searches and files of users.
const OTHER_FILES: u64 = 1024;
/// How long a connection may be idle: longer than a joiner waits for an answer.
const IDLE: Duration = Duration::from_secs(90);
/// How long a caller may take to open TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const HEAD: usize = 16 << 10;
/// The maximum number of callers that open TLS at once.
const HANDSHAKES: usize = 256;

/// Why a service cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be used.
    #[error("--listen {at}: {why}")]
    Listen {
        /// The address.
        at: SocketAddr,
        /// The system error.
        why: std::io::Error,
    },
    /// The service's own certificate or its key cannot be written.
    #[error("cannot write '{}': {why}", path.display())]
    Write {
        /// Its file.
        path: PathBuf,
        /// The system error.
        why: std::io::Error,
    },
    /// A certificate or its key cannot be read, made or used.
    #[error("{}: {why}", path.display())]
    Certificate {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Connections on which TLS is open.
pub(super) struct Listener {
    pub address: SocketAddr,
    /// The SHA-256 of the certificate.
    pub certificate: [u8; 32],
    open: mpsc::Receiver<Connection>,
}

impl Listener {
    /// Listens at the address of the settings.
    pub async fn open(settings: &Settings) -> Result<Self, ListenError> {
        let (chain, key, certificate) = certificate(settings)?;
        let own = || settings.data.join("certificate.pem");
        let fails = |why: rustls::Error| ListenError::Certificate {
            path: settings.certificate.as_ref().map_or_else(own, |(chain, _)| chain.clone()),
            why: why.to_string(),
        };
        let config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .map_err(fails)?
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .map_err(fails)?;
        let fails = |why| ListenError::Listen { at: settings.listen, why };
        let listener = TcpListener::bind(settings.listen).await.map_err(fails)?;
        let address = listener.local_addr().map_err(fails)?;
        let (ready, open) = mpsc::channel(64);
        let tls = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(accept(listener, tls, most_connections(open_files()), ready));
        Ok(Self { address, certificate, open })
    }

    /// Answers the requests of all connections.
    pub async fn serve(mut self, routes: Router) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(HEAD);
        while let Some(connection) = self.open.recv().await {
            let service = TowerToHyperService::new(routes.clone());
            // A connection that breaks concerns nobody else.
            tokio::spawn(http.serve_connection(TokioIo::new(connection), service));
        }
    }
}

/// The maximum number of files that this process may have open, raised as far as the system allows.
fn open_files() -> u64 {
    let raised = rlimit::increase_nofile_limit(rlimit::INFINITY);
    raised.or_else(|_| rlimit::Resource::NOFILE.get_soft()).unwrap_or(OTHER_FILES)
}

/// The maximum number of open connections of a process with this limit of open files: at least half
/// of it.
fn most_connections(files: u64) -> usize {
    (files - OTHER_FILES.min(files / 2)).min(CONNECTIONS) as usize
}

/// Accepts connections and opens TLS on each, so that slow callers delay no others. Where the most are open, later
/// callers wait until one closes.
async fn accept(
    listener: TcpListener,
    tls: TlsAcceptor,
    most: usize,
    ready: mpsc::Sender<Connection>,
) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    let connections = Arc::new(Semaphore::new(most));
    loop {
        let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await else { return };
        let Ok(place) = Arc::clone(&connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((socket, _)) => {
                let (tls, ready) = (tls.clone(), ready.clone());
                tokio::spawn(async move {
                    // A connection that cannot be set up is dropped.
                    let _ = socket.set_nodelay(true);
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(socket)).await {
                        let _ = ready.send(Connection::new(stream, place)).await;
                    }
                    drop(permit);
                });
            }
            // Too many files are open, for example.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// A connection that ends when it has been idle for long.
pub(super) struct Connection {
    stream: TlsStream<TcpStream>,
    idle: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TlsStream<TcpStream>, place: OwnedSemaphorePermit) -> Self {
        Self { stream, idle: Box::pin(sleep(IDLE)), _place: place }
    }

    /// Bytes were transferred, so the full idle time starts again.
    fn touch<T>(&mut self, moved: Poll<std::io::Result<T>>) -> Poll<std::io::Result<T>> {
        if matches!(moved, Poll::Ready(Ok(_))) {
            self.idle.as_mut().reset(Instant::now() + IDLE);
        }
        moved
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() && self.idle.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        self.touch(read)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_pending() && self.idle.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        self.touch(written)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

type Certificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>, [u8; 32]);

/// The certificate that the settings name, or the service's own, which is made once.
fn certificate(settings: &Settings) -> Result<Certificate, ListenError> {
    let (chain, key) = match &settings.certificate {
        Some((chain, key)) => (chain.clone(), key.clone()),
        None => {
            let names = ["certificate.pem", "private-key.pem"];
            let [chain, key] = names.map(|name| settings.data.join(name));
            if !chain.exists() || !key.exists() {
                make(&chain, &key)?;
            }
            (chain, key)
        }
    };
    let wrong = |path: &Path, why: String| ListenError::Certificate { path: path.into(), why };
    let certificates = CertificateDer::pem_file_iter(&chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|why| wrong(&chain, why.to_string()))?;
    let first = certificates.first();
    let first = first.ok_or_else(|| wrong(&chain, "it has no certificate".into()))?;
    let hash = sha256(first);
    let private = PrivateKeyDer::from_pem_file(&key).map_err(|why| wrong(&key, why.to_string()))?;
    Ok((certificates, private, hash))
}

/// Makes a certificate and its key. The key comes first, so that a certificate always has one.
fn make(chain: &Path, key: &Path) -> Result<(), ListenError> {
    let made = rcgen::generate_simple_self_signed(vec!["pleach".to_string()]);
    let made =
        made.map_err(|why| ListenError::Certificate { path: chain.into(), why: why.to_string() })?;
    let texts = [(key, made.signing_key.serialize_pem()), (chain, made.cert.pem())];
    texts.into_iter().try_for_each(|(path, text)| {
        private::replace(path, &text).map_err(|why| ListenError::Write { path: path.into(), why })
    })
}

#[cfg(test)]
mod tests {
    use super::most_connections;

    #[test]
    fn connections_leave_files_to_others() {
        let most = [(64, 32), (1024, 512), (4096, 3072), (17_023, 15_999), (1 << 20, 16_000)];
        for (files, connections) in most {
            assert_eq!(most_connections(files), connections, "{files} open files");
        }
        assert_eq!(most_connections(u64::MAX), 16_000);
    }
}
