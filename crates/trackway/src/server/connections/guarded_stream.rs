//! Reads and writes the bytes of a connection under its time limits.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Sleep,
};

use super::Connection;

/// A TCP connection that ends when it takes too long, or when its slot is needed.
#[derive(Debug)]
pub(in crate::server) struct GuardedStream {
    stream: TcpStream,
    connection: Arc<Connection>,
    /// When to check the limits next.
    alarm: Pin<Box<Sleep>>,
}

impl GuardedStream {
    pub(super) fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        let first = connection.time_limit_deadline(Instant::now(), None);
        let alarm = Box::pin(tokio::time::sleep_until(first.into()));
        Self { stream, connection, alarm }
    }

    pub(in crate::server) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Ready when the connection is over its time limit, or its slot is needed.
    fn poll_time_limit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.register_waker(cx.waker());
        if self.connection.is_connection_closing() {
            return Poll::Ready(());
        }
        loop {
            let now = Instant::now();
            let alarm = (!self.alarm.is_elapsed()).then(|| self.alarm.deadline().into_std());
            let deadline = self.connection.time_limit_deadline(now, alarm);
            if deadline <= now {
                return Poll::Ready(());
            }
            // A later deadline is checked when the alarm goes off, and costs nothing before that.
            if self.alarm.is_elapsed() || tokio::time::Instant::from(deadline) < self.alarm.deadline() {
                self.alarm.as_mut().reset(deadline.into());
            }
            ready!(self.alarm.as_mut().poll(cx));
        }
    }

    fn check_time_limit_after_write(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.connection.set_write_blocked(polled.is_pending());
        if polled.is_pending() && self.poll_time_limit(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) if !this.connection.is_connection_closing() => {
                if buffer.filled().len() > before {
                    this.connection.on_bytes_received();
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => {
                buffer.set_filled(before);
                Poll::Ready(Ok(()))
            }
            // As if the other side had closed it.
            Poll::Pending => this.poll_time_limit(cx).map(Ok),
        }
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_time_limit_after_write(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check_time_limit_after_write(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
