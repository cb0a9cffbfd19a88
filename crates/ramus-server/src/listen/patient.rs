//! A connection whose other end must take what it is sent. One that takes nothing for too long is given up, and what it was
//! to get is forgotten, here and in the system: whoever never reads must not be remembered for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Sleep;

/// A connection that can be given up.
pub(super) trait Abandon {
    /// Has the system forget what it still holds for the other end as soon as the connection is closed.
    fn abandon(&self);
}

impl Abandon for TcpStream {
    fn abandon(&self) {
        // Without this the system would go on asking the other end whether it has room now, for minutes.
        let _ = self.set_zero_linger();
    }
}

impl Abandon for UnixStream {
    fn abandon(&self) {
        // What waits in a socket of this machine belongs to its other end.
    }
}

/// A connection that is given up when nothing of what is sent is taken for so long.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs while something waits to be taken.
    wait: Option<Pin<Box<Sleep>>>,
}

impl<S: Abandon> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, wait: None }
    }

    /// Passes on how sending went. Whatever was taken, however little, starts the wait anew.
    fn heed<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.wait = None;
            return sent;
        }
        let wait = self.wait.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.patience)));
        if wait.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.stream.abandon();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Abandon + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.heed(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.heed(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_flush(context);
        self.heed(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_shutdown(context);
        self.heed(context, sent)
    }
}
