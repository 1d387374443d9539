//! The vfio-user protocol on a client's socket: messages with their files, and replies.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Most files of a message.
pub(crate) const MAX_FILES: usize = 16;

/// A complete message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
    pub(crate) files: Vec<OwnedFd>,
}

/// A nonblocking stream.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    /// Received bytes of the header and the message, and its length if known.
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

    /// Returns the next message if it is complete. Header and body are read separately and never beyond the message,
    /// so that its files are its own.
    ///
    /// # Errors
    /// If the client disconnects or sends an invalid message.
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

    /// Receives missing bytes; returns whether any came.
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

    /// Sends a reply. The client sends one request at a time, so the socket has room.
    ///
    /// # Errors
    /// If the client disconnects or does not read its replies.
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

/// Bytes of the header before each message.
pub(crate) const HEADER_BYTES: usize = 16;
/// Longest message: the longest write with its header, or a version with capabilities.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8192;
/// Most bytes of a BAR access.
pub(crate) const MAX_TRANSFER_BYTES: u32 = 4096;

/// The message is an answer.
const IS_REPLY: u32 = 1;
/// Flags of a message; 0 is a command.
const TYPE: u32 = 0xf;
/// No reply wanted.
const NO_REPLY: u32 = 1 << 4;
/// The answer is that it failed.
const IS_ERROR: u32 = 1 << 5;

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    id: u16,
    command: u16,
    size: u32,
    flags: u32,
}

impl Header {
    pub(crate) fn of(bytes: [u8; HEADER_BYTES]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            id: half(0),
            command: half(2),
            size: word(4),
            flags: word(8),
        }
    }

    /// Returns the length of a command's body, if it is valid.
    pub(crate) fn body_bytes(&self) -> Option<usize> {
        let size = self.size as usize;
        let is_possible = self.flags & TYPE == 0 && (HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&size);
        is_possible.then(|| size - HEADER_BYTES)
    }

    /// Whether the client waits for an answer.
    pub(crate) fn wants_reply(&self) -> bool {
        self.flags & NO_REPLY == 0
    }

    /// Builds a reply: the result or the error.
    pub(crate) fn answer(&self, answer: Result<Vec<u8>, Errno>) -> Vec<u8> {
        let (flags, error, body) = match answer {
            Ok(body) => (IS_REPLY, 0, body),
            Err(error) => (IS_REPLY | IS_ERROR, error.raw_os_error(), Vec::new()),
        };
        let size = (HEADER_BYTES + body.len()) as u32;
        let mut bytes = Fields::default().half(self.id).half(self.command).word(size);
        bytes = bytes.word(flags).word(error as u32);
        bytes.0.extend(body);
        bytes.0
    }
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request<'b> {
    Version {
        major: u16,
        minor: u16,
        data: &'b [u8],
    },
    Map {
        flags: u32,
        offset: u64,
        address: u64,
        bytes: u64,
    },
    Unmap {
        flags: u32,
        address: u64,
        bytes: u64,
    },
    DeviceInfo,
    RegionInfo {
        region: u32,
    },
    InterruptInfo {
        index: u32,
    },
    SetInterrupts {
        flags: u32,
        index: u32,
        start: u32,
        count: u32,
    },
    Read {
        region: u32,
        offset: u64,
        count: u32,
    },
    Write {
        region: u32,
        offset: u64,
        data: &'b [u8],
    },
    Reset,
}

impl<'b> Request<'b> {
    /// Parses a message.
    ///
    /// # Errors
    /// If it is too short, or nothing that this device does, such as migration.
    pub(crate) fn parse(header: &Header, body: &'b [u8]) -> Result<Self, Errno> {
        let mut body = Parser(body);
        Ok(match header.command {
            1 => Self::Version {
                major: body.half()?,
                minor: body.half()?,
                data: body.0,
            },
            2 => {
                let [_, flags] = [body.word()?, body.word()?];
                Self::Map {
                    flags,
                    offset: body.long()?,
                    address: body.long()?,
                    bytes: body.long()?,
                }
            }
            3 => {
                let [_, flags] = [body.word()?, body.word()?];
                Self::Unmap {
                    flags,
                    address: body.long()?,
                    bytes: body.long()?,
                }
            }
            4 => Self::DeviceInfo,
            5 => {
                let [_, _, region] = [body.word()?, body.word()?, body.word()?];
                Self::RegionInfo { region }
            }
            7 => {
                let [_, _, index] = [body.word()?, body.word()?, body.word()?];
                Self::InterruptInfo { index }
            }
            8 => {
                let [_, flags] = [body.word()?, body.word()?];
                Self::SetInterrupts {
                    flags,
                    index: body.word()?,
                    start: body.word()?,
                    count: body.word()?,
                }
            }
            9 => {
                let offset = body.long()?;
                let [region, count] = [body.word()?, body.word()?];
                if count > MAX_TRANSFER_BYTES {
                    return Err(Errno::INVAL);
                }
                Self::Read {
                    region,
                    offset,
                    count,
                }
            }
            10 => {
                let offset = body.long()?;
                let [region, count] = [body.word()?, body.word()?];
                if count > MAX_TRANSFER_BYTES || count as usize != body.0.len() {
                    return Err(Errno::INVAL);
                }
                let data = body.0;
                Self::Write { region, offset, data }
            }
            13 => Self::Reset,
            _ => return Err(Errno::NOTSUP),
        })
    }
}

/// The rest of a message that is not parsed yet.
struct Parser<'b>(&'b [u8]);

impl Parser<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Errno> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Errno::INVAL)?;
        self.0 = rest;
        Ok(*first)
    }

    fn half(&mut self) -> Result<u16, Errno> {
        self.take().map(u16::from_ne_bytes)
    }

    fn word(&mut self) -> Result<u32, Errno> {
        self.take().map(u32::from_ne_bytes)
    }

    fn long(&mut self) -> Result<u64, Errno> {
        self.take().map(u64::from_ne_bytes)
    }
}

/// The fields of an answer, one after the other, in the byte order of the machine, as the protocol wants it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<u8>);

impl Fields {
    pub(crate) fn half(mut self, value: u16) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub(crate) fn word(mut self, value: u32) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub(crate) fn long(mut self, value: u64) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }
}
