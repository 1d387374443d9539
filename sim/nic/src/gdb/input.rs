//! The connection to gdb: bytes that come, and packets that leave whole.

use crate::net::{self, Interrupt};
use gdbstub::conn::Connection;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, BufWriter, Write as _};
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Longest that gdb may leave what it is told.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a conversation with gdb is over.
pub(super) enum End {
    /// gdb detached.
    Detached,
    /// gdb wants the run to end.
    Killed,
    /// The user wants it to.
    Interrupted,
    /// gdb is not there any more, or is none.
    Failed(String),
}

impl End {
    pub(super) fn failed(why: impl Display) -> Self {
        Self::Failed(why.to_string())
    }
}

/// Bytes that come from gdb.
pub(super) struct Input {
    stream: TcpStream,
    waiting: VecDeque<u8>,
}

impl Input {
    /// The next byte, if one is there.
    pub(super) fn ready(&mut self) -> Result<Option<u8>, End> {
        if self.waiting.is_empty() {
            let mut bytes = [0; 4096];
            match recv(&self.stream, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Err(End::Failed("the connection has ended".to_owned())),
                Ok((_, count)) => self.waiting.extend(&bytes[..count]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(End::failed(error)),
            }
        }
        Ok(self.waiting.pop_front())
    }

    /// Tells gdb that it has ended the run. If it is not there any more, it does not wait for that.
    pub(super) fn tell_kill(&mut self) {
        let _ = send(&self.stream, IS_KILLED, SendFlags::NOSIGNAL);
    }

    /// The next byte, which is waited for.
    pub(super) fn wait(&mut self, interrupt: &Interrupt) -> Result<u8, End> {
        loop {
            if let Some(byte) = self.ready()? {
                return Ok(byte);
            }
            if interrupt.is_set() {
                return Err(End::Interrupted);
            }
            net::wait(&[self.stream.as_fd(), interrupt.as_fd()], None).map_err(End::failed)?;
        }
    }
}

/// What gdb waits for when it has killed what it debugs, and the stub says nothing: the packet `OK`.
const IS_KILLED: &[u8] = b"$OK#9a";

/// Packets to gdb, which leave whole.
pub(super) struct Output(BufWriter<TcpStream>);

/// Both directions of a connection.
pub(super) fn open(stream: TcpStream) -> io::Result<(Input, Output)> {
    // Reads say themselves whether they wait.
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let output = Output(BufWriter::new(stream.try_clone()?));
    let waiting = VecDeque::new();
    Ok((Input { stream, waiting }, output))
}

impl Connection for Output {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.0.write_all(&[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
