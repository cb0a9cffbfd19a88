//! Sockets, and connections that come in through them.

mod patient;
mod seats;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use crate::config::{Limits, Listen};
use crate::guard::Peer;
use crate::tls::Tls;
use patient::Patient;
use seats::Seats;

/// How many headers a request has at most.
const HEADERS: usize = 100;

/// How long accepting waits when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that is listened to.
pub(crate) enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Socket {
    /// Starts to listen.
    pub(crate) async fn bind(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Listen::Unix(path) => {
                clear(path).await?;
                // Whoever may enter the directory could connect before the mode is set, so it is made under another name.
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let making = path.with_file_name(format!(".{name}.{}", std::process::id()));
                let listener = UnixListener::bind(&making)?;
                std::fs::set_permissions(&making, std::fs::Permissions::from_mode(0o600))?;
                std::fs::rename(&making, path)?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Returns the address; none for a socket in the file system.
    pub(crate) fn address(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Some),
            Self::Unix(..) => Ok(None),
        }
    }

    /// Answers connections until the server stops, and then until they are done.
    pub(crate) async fn serve(self, router: Router, tls: Option<Tls>, limits: Limits, stop: CancellationToken) {
        let tls = tls.filter(|_| matches!(self, Self::Tcp(_)));
        let places = Arc::new(Semaphore::new(limits.connections));
        let seats = Seats::new(limits.peer);
        let tasks = TaskTracker::new();
        loop {
            let place = tokio::select! {
                () = stop.cancelled() => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.accept(limits.write) => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Whoever has too many already is not answered; the next to come may be somebody else.
            let Some(seat) = seats.take(&peer) else { continue };
            let (router, tls, stop) = (router.clone(), tls.clone(), stop.clone());
            tasks.spawn(async move {
                let _held = (seat, place);
                // Who has not shaken hands yet takes a place as well, and has as long as for the head of a request.
                let greeted: Option<Box<dyn Stream>> = tokio::select! {
                    () = stop.cancelled() => None,
                    greeted = greet(stream, tls, limits.head) => greeted,
                };
                if let Some(stream) = greeted {
                    converse(stream, peer, router, limits, stop).await;
                }
            });
        }
        tasks.close();
        let _ = tokio::time::timeout(limits.farewell, tasks.wait()).await;
        if let Self::Unix(_, path) = &self {
            let _ = std::fs::remove_file(path);
        }
    }

    async fn accept(&self, patience: Duration) -> io::Result<(Box<dyn Stream>, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Events are small and must not wait for each other.
                stream.set_nodelay(true)?;
                Ok((Box::new(Patient::new(stream, patience)), peer_of(peer.ip())))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Box::new(Patient::new(stream, patience)), Peer("unix".to_owned())))
            }
        }
    }
}

/// Whom an address stands for. Of the newer addresses everybody has as many as they like, so what they share counts.
fn peer_of(address: IpAddr) -> Peer {
    match address.to_canonical() {
        IpAddr::V4(address) => Peer(address.to_string()),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Peer(format!("{a:x}:{b:x}:{c:x}:{d:x}::/64"))
        }
    }
}

/// Removes a socket that nobody listens to any more. Anything else is left alone.
async fn clear(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let is_free = found.file_type().is_socket() && tokio::net::UnixStream::connect(path).await.is_err();
    if is_free { std::fs::remove_file(path) } else { Err(io::ErrorKind::AddrInUse.into()) }
}

/// A connection, whatever it goes through.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Begins a connection, encrypted or not.
async fn greet(stream: Box<dyn Stream>, tls: Option<Tls>, patience: Duration) -> Option<Box<dyn Stream>> {
    match tls {
        None => Some(stream),
        Some(tls) => tls.greet(stream, patience).await.map(|stream| Box::new(stream) as Box<dyn Stream>),
    }
}

/// Answers the requests of one connection.
async fn converse(stream: Box<dyn Stream>, peer: Peer, router: Router, limits: Limits, stop: CancellationToken) {
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        let mut router = router.clone();
        async move { Ok::<_, Infallible>(router.call(request).await.unwrap_or_else(|never| match never {})) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head).max_headers(HEADERS).half_close(false);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // What is wrong with a connection concerns whoever is at its other end.
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_stands_for_whoever_has_it() {
        let peer = |text: &str| text.parse().ok().map(peer_of);
        assert_eq!(peer("192.0.2.7"), peer("::ffff:192.0.2.7"));
        assert_ne!(peer("192.0.2.7"), peer("192.0.2.8"));
        assert_eq!(peer("2001:db8:1:2::1"), peer("2001:db8:1:2:ffff::9"));
        assert_ne!(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
    }
}
