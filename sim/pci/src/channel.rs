//! A client's end of the socket: whole messages with the files that came with them, and answers.

use crate::request::{HEADER_BYTES, Header};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Most files that come with one message.
pub(crate) const MAX_FILES: usize = 16;

/// A message that has come whole.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
    pub(crate) files: Vec<OwnedFd>,
}

/// A stream that is never waited for.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    /// What has come of the header and of the message, and what is known of its length.
    header: [u8; HEADER_BYTES],
    body: Vec<u8>,
    come: usize,
    files: Vec<OwnedFd>,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            header: [0; HEADER_BYTES],
            body: Vec::new(),
            come: 0,
            files: Vec::new(),
        })
    }

    /// The next message, if all of it has come. It is read in two parts, of which none reaches into the next message: so the
    /// files that come with it are its own.
    ///
    /// # Errors
    /// If the client is gone, or sends what is no message.
    pub(crate) fn next(&mut self) -> io::Result<Option<Message>> {
        while self.come < HEADER_BYTES {
            if !self.receive()? {
                return Ok(None);
            }
        }
        let header = Header::of(self.header);
        let bytes = header
            .body_bytes()
            .ok_or_else(|| nonsense("a message that is no command, or of an impossible size"))?;
        self.body.resize(bytes, 0);
        while self.come < HEADER_BYTES + bytes {
            if !self.receive()? {
                return Ok(None);
            }
        }
        self.come = 0;
        Ok(Some(Message {
            header,
            body: std::mem::take(&mut self.body),
            files: std::mem::take(&mut self.files),
        }))
    }

    /// Receives some of what is missing; whether something has come.
    fn receive(&mut self) -> io::Result<bool> {
        let missing = match self.come.checked_sub(HEADER_BYTES) {
            None => &mut self.header[self.come..],
            Some(come) => &mut self.body[come..],
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.stream, &mut [IoSliceMut::new(missing)], &mut control, flags) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            received => received?,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        if received.flags.contains(ReturnFlags::CTRUNC) || self.files.len() > MAX_FILES {
            return Err(nonsense("more files than a message may have"));
        }
        if received.bytes == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.come += received.bytes;
        Ok(true)
    }

    /// Sends an answer. The client asks for one thing after the other, so there is room for it.
    ///
    /// # Errors
    /// If the client is gone, or does not take its answers.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match send(&self.stream, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) | Err(Errno::AGAIN) => Err(nonsense("requests without taking their answers")),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The client has sent that.
pub(crate) fn nonsense(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
