//! The application's end of the socket.

use super::{Reader, Reply, Request, VERSION, WORDS_PIECE, receive, send};
use crate::device::{Address, Area, Device, DeviceError, ManagedContext, Manager, Mapping, SharedMemory};
use crate::options::{Options, Share, Usage};
use spinneret_program::Program;
use spinneret_regmap::CONTEXTS;
use spinneret_rules::Ruleset;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A NIC in another process.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    shape: [u32; 2],
    tells_contexts: bool,
    address: Option<Address>,
    now: Duration,
    /// Host memory of each context.
    areas: [Option<Mapping>; CONTEXTS as usize],
    /// Files that came with replies.
    files: VecDeque<OwnedFd>,
    /// Received frames.
    frames: VecDeque<Vec<u8>>,
}

/// Why there is no NIC behind a socket.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No process listens.
    #[error("nobody answers at {path}: {source}; start one with `spinneret serve {path}`")]
    Nobody {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another client has the NIC alone, or there are too many.
    #[error("the NIC at {0} is in use by another process, or by more than can share it")]
    Busy(PathBuf),
    /// It speaks another language.
    #[error("{path} is no NIC that this version can use: {reason}")]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Client {
    /// Connects to the NIC at a socket.
    ///
    /// # Errors
    /// No server listens there, or another client uses the NIC.
    pub fn connect(path: &Path) -> Result<Self, ConnectError> {
        let nobody = |source| ConnectError::Nobody {
            path: path.to_owned(),
            source,
        };
        let foreign = |reason| ConnectError::Foreign {
            path: path.to_owned(),
            reason,
        };
        let mut stream = UnixStream::connect(path).map_err(nobody)?;
        let hello = Request::Hello { version: VERSION };
        let sent = send(&mut stream, &hello);
        let reply = receive(&mut stream);
        // A busy server replies and closes, possibly before the request.
        if !matches!(reply, Ok(Reply::Busy)) {
            sent.map_err(nobody)?;
        }
        match reply.map_err(|error| foreign(error.to_string()))? {
            Reply::Hello {
                version: VERSION,
                shape,
                tells_contexts,
                address,
            } => Ok(Self {
                stream,
                shape,
                tells_contexts,
                address,
                now: Duration::ZERO,
                areas: Default::default(),
                files: VecDeque::new(),
                frames: VecDeque::new(),
            }),
            Reply::Hello { version, .. } => Err(foreign(format!(
                "it speaks version {version} of the protocol, this program version {VERSION}"
            ))),
            Reply::Busy => Err(ConnectError::Busy(path.to_owned())),
            _ => Err(foreign("it does not say hello".to_owned())),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, DeviceError> {
        let gone = |error: io::Error| DeviceError::Gone(error.to_string());
        send(&mut self.stream, request).map_err(|error| match error.kind() {
            // Nothing has been sent.
            io::ErrorKind::InvalidData => DeviceError::Refused(error.to_string()),
            _ => gone(error),
        })?;
        let (stream, files) = (&self.stream, &mut self.files);
        match receive(&mut Reader { stream, files }).map_err(gone)? {
            Reply::Failed(error) => Err(error),
            reply => Ok(reply),
        }
    }

    /// Sends a request whose reply is bytes.
    fn fetch(&mut self, request: &Request, bytes: &mut [u8]) -> Result<(), DeviceError> {
        match self.ask(request)? {
            Reply::Bytes(read) if read.len() == bytes.len() => {
                bytes.copy_from_slice(&read);
                Ok(())
            }
            _ => Err(strange()),
        }
    }

    /// Sends a request whose reply is empty.
    fn tell(&mut self, request: &Request) -> Result<(), DeviceError> {
        match self.ask(request)? {
            Reply::Done => Ok(()),
            _ => Err(strange()),
        }
    }
}

impl Client {
    /// Maps the host memory of a context, whose file came with the reply.
    fn map_area(&mut self, context: u32, area: Area) -> Result<(), DeviceError> {
        if area.bytes == 0 {
            return Ok(());
        }
        let place = self.areas.get_mut(context as usize).ok_or_else(strange)?;
        let file = self.files.pop_front().ok_or_else(strange)?;
        let mapping = SharedMemory::map(file, area.bytes as usize);
        *place = Some(mapping.map_err(|error| DeviceError::NoMemory(error.to_string()))?);
        Ok(())
    }
}

impl Manager for Client {
    fn open_context(
        &mut self,
        program: &Program,
        name: &str,
        rules: &Ruleset,
        options: &Options,
    ) -> Result<ManagedContext, DeviceError> {
        let request = Request::OpenContext {
            name: program.path().display().to_string(),
            file: program.file().to_vec(),
            handlers: name.to_owned(),
            rules: rules.into(),
            options: options.clone(),
        };
        match self.ask(&request)? {
            Reply::Context(context) => {
                self.map_area(context.number, context.host)?;
                Ok(context)
            }
            _ => Err(strange()),
        }
    }

    fn set_ruleset(&mut self, context: u32, rules: &Ruleset) -> Result<(), DeviceError> {
        let rules = rules.into();
        self.tell(&Request::SetRules { context, rules })
    }

    fn set_share(&mut self, context: u32, share: Share) -> Result<(), DeviceError> {
        self.tell(&Request::SetShare { context, share })
    }

    fn usage(&mut self, context: u32) -> Result<Usage, DeviceError> {
        match self.ask(&Request::Usage { context })? {
            Reply::Usage(usage) => Ok(usage),
            _ => Err(strange()),
        }
    }

    fn close_context(&mut self, context: u32) -> Result<(), DeviceError> {
        let closed = self.tell(&Request::CloseContext { context });
        if let Some(place) = self.areas.get_mut(context as usize) {
            *place = None;
        }
        closed
    }
}

fn strange() -> DeviceError {
    DeviceError::Gone("it answered something else than was asked".to_owned())
}

/// Splits a long access into messages: offset and range of each.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    let starts = (0..bytes).step_by(most);
    starts.map(move |start| (start as u32, start..bytes.min(start + most)))
}

impl Device for Client {
    fn has_register(&self, _offset: u32) -> bool {
        true
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        match self.ask(&Request::ReadRegister { offset })? {
            Reply::Word(word) => Ok(word),
            _ => Err(strange()),
        }
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.tell(&Request::WriteRegister { offset, value })
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        for (offset, piece) in pieces(bytes.len(), WORDS_PIECE) {
            let request = Request::ReadCluster {
                address: address.wrapping_add(offset),
                bytes: piece.len() as u32,
            };
            self.fetch(&request, &mut bytes[piece])?;
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        pieces(bytes.len(), WORDS_PIECE).try_for_each(|(offset, piece)| {
            self.tell(&Request::WriteCluster {
                address: address.wrapping_add(offset),
                bytes: bytes[piece].to_vec(),
            })
        })
    }

    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        self.tell(&Request::Load {
            name: program.path().display().to_string(),
            file: program.file().to_vec(),
        })
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        match self.ask(&Request::OpenArea { context, bytes })? {
            Reply::Area(area) => self.map_area(context, area).map(|()| area),
            _ => Err(strange()),
        }
    }

    fn close_area(&mut self, context: u32) {
        // Ignore errors: the memory disappears with the NIC.
        let _ = self.tell(&Request::CloseArea { context });
        if let Some(place) = self.areas.get_mut(context as usize) {
            *place = None;
        }
    }

    fn manager(&mut self) -> Option<&mut dyn Manager> {
        Some(self)
    }

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        self.areas.get(context as usize)?.as_ref()
    }

    fn tells_contexts(&self) -> bool {
        self.tells_contexts
    }

    fn shape(&self) -> [u32; 2] {
        self.shape
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        let nanoseconds = time.as_nanos().try_into().unwrap_or(u64::MAX);
        match self.ask(&Request::Wait { nanoseconds })? {
            Reply::Time { nanoseconds } => {
                self.now = Duration::from_nanos(nanoseconds);
                Ok(())
            }
            _ => Err(strange()),
        }
    }

    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.wait(time)
    }

    fn address(&self) -> Option<Address> {
        self.address
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        let frame = frame.to_vec();
        match self.ask(&Request::Transmit { frame })? {
            Reply::Sent(sent) => Ok(sent),
            _ => Err(strange()),
        }
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        if self.frames.is_empty() {
            match self.ask(&Request::Receive)? {
                Reply::Frames(frames) => self.frames.extend(frames),
                _ => return Err(strange()),
            }
        }
        Ok(self.frames.pop_front())
    }
}
