//! One client's socket, and what requests know of it.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Found among the extensions of a request that came over a socket.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    /// The client's address.
    pub(crate) remote: SocketAddr,
    /// Makes its connection go dead.
    pub(crate) switch: DeadSwitch,
}

/// Makes a connection swallow all bytes both ways from now on, with both sockets left open: to the client, the server has
/// vanished without FIN or RST.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeadSwitch(Arc<AtomicBool>);

impl DeadSwitch {
    pub(crate) fn go_dead(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_dead(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A socket that can go dead. Below TLS, so that its alerts are swallowed as well.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    switch: DeadSwitch,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, switch: DeadSwitch) -> Self {
        Self { stream, switch }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.switch.is_dead() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        // Reads on, since the client's closing is how the connection ends.
        let mut swallowed = [0; 4096];
        loop {
            let mut scratch = ReadBuf::new(&mut swallowed);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut scratch))?;
            if scratch.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.switch.is_dead() {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.switch.is_dead() {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.switch.is_dead() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
