//! The simulated NIC's end of the socket.

use super::message::{PIECE, Reply, Request, VERSION, send, take};
use crate::control::Control;
use crate::device::{Device, DeviceError};
use spinneret_program::{Program, map};
use spinneret_regmap::CONTEXTS;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes that are received at once.
const CHUNK: usize = 64 << 10;

/// Listens at a path; the file is removed in the end.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    client: Option<Peer>,
}

/// Who has the NIC.
#[derive(Debug)]
struct Peer {
    stream: UnixStream,
    received: Vec<u8>,
    /// It has said hello.
    is_known: bool,
    /// It waits until then.
    until: Option<Duration>,
    /// Host memory of each context.
    areas: [u32; CONTEXTS as usize],
}

/// What came of a look at the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Nobody wants anything.
    Nothing,
    /// Requests were answered.
    Requests,
    /// The client wants time to pass until then.
    Waits(Duration),
    /// The client is gone, and what it had on the NIC is stopped.
    Gone,
}

impl Server {
    /// Listens at a path. A socket there that nobody listens to is replaced.
    ///
    /// # Errors
    /// If the path is taken by something else, or cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_left_over(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            listener => listener?,
        };
        listener.set_nonblocking(true)?;
        let path = path.to_owned();
        let client = None;
        Ok(Self {
            listener,
            path,
            client,
        })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether somebody has the NIC.
    pub fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// What to wait for while there is nothing to do: the client, or else who comes.
    pub fn wakes(&self) -> [BorrowedFd<'_>; 2] {
        let listener = self.listener.as_fd();
        let client = self.client.as_ref().map(|peer| peer.stream.as_fd());
        [listener, client.unwrap_or(listener)]
    }

    /// Answers what has been asked, without waiting.
    ///
    /// # Errors
    /// If the socket itself fails, or the NIC cannot be cleared behind a client.
    pub fn serve(&mut self, device: &mut impl Device) -> io::Result<Served> {
        if self.accept(device)? {
            return Ok(Served::Gone);
        }
        let Some(peer) = &mut self.client else {
            return Ok(Served::Nothing);
        };
        match peer.serve(device) {
            Ok(served) => Ok(served),
            Err(error) => {
                if error.kind() == ErrorKind::InvalidData {
                    eprintln!(
                        "{}: the client is dropped, because it sent {error}",
                        self.path.display()
                    );
                }
                self.client = None;
                clear(device).map_err(io::Error::other)?;
                Ok(Served::Gone)
            }
        }
    }

    /// Takes one client; the others hear that the NIC is in use. Gives back whether the client before it has gone, which is
    /// noticed here if it was so before the next one came.
    fn accept(&mut self, device: &mut impl Device) -> io::Result<bool> {
        let mut has_gone = false;
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(has_gone),
                Err(error) => return Err(error),
            };
            if self.client.as_mut().is_some_and(|peer| peer.receive().is_err()) {
                self.client = None;
                clear(device).map_err(io::Error::other)?;
                has_gone = true;
            }
            if self.client.is_some() {
                // Who has gone again already need not hear it.
                let _ = send(&mut stream, &Reply::Busy);
                continue;
            }
            let hello = Reply::Hello {
                version: VERSION,
                shape: device.shape(),
                tells_contexts: device.tells_contexts(),
            };
            if send(&mut stream, &hello).is_ok() {
                self.client = Some(Peer::new(stream)?);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever removed it before us wanted the same.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Peer {
    fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            received: Vec::new(),
            is_known: false,
            until: None,
            areas: [0; CONTEXTS as usize],
        })
    }

    fn serve(&mut self, device: &mut impl Device) -> io::Result<Served> {
        self.receive()?;
        let mut served = Served::Nothing;
        loop {
            if let Some(until) = self.until {
                if device.now() < until {
                    return Ok(Served::Waits(until));
                }
                self.until = None;
                self.answer(&time(device))?;
                served = Served::Requests;
            }
            let Some(request) = take(&mut self.received)? else {
                return Ok(served);
            };
            served = Served::Requests;
            if let Some(reply) = self.handle(request, device)? {
                self.answer(&reply)?;
            }
        }
    }

    /// Everything that has come.
    fn receive(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.received.extend(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The client waits for this, so it is there to take it.
    fn answer(&mut self, reply: &Reply) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        send(&mut self.stream, reply)?;
        self.stream.set_nonblocking(true)
    }

    /// The reply; none yet, if the client waits for time to pass, or to its hello, which was answered on its arrival.
    fn handle(&mut self, request: Request, device: &mut impl Device) -> io::Result<Option<Reply>> {
        if let Request::Hello { .. } = request {
            self.is_known = true;
            return Ok(None);
        }
        if !self.is_known {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                "something before its hello",
            ));
        }
        if let Request::Wait { nanoseconds } = request {
            self.until = Some(device.now().saturating_add(Duration::from_nanos(nanoseconds)));
            return Ok(None);
        }
        Ok(Some(self.run(request, device).unwrap_or_else(Reply::Failed)))
    }

    fn run(&mut self, request: Request, device: &mut impl Device) -> Result<Reply, DeviceError> {
        Ok(match request {
            Request::ReadRegister { offset } => Reply::Word(device.read_register(offset)?),
            Request::WriteRegister { offset, value } => {
                device.write_register(offset, value)?;
                Reply::Done
            }
            Request::ReadCluster { address, bytes } => {
                let mut read = vec![0; checked_words(address, bytes as usize)?];
                device.read_cluster(address, &mut read)?;
                Reply::Bytes(read)
            }
            Request::WriteCluster { address, bytes } => {
                checked_words(address, bytes.len())?;
                device.write_cluster(address, &bytes)?;
                Reply::Done
            }
            Request::Load { name, file } => {
                let program = Program::parse(Path::new(&name), file);
                let program = program.map_err(|error| DeviceError::Refused(error.to_string()))?;
                device.load(&program)?;
                Reply::Done
            }
            Request::OpenArea { context, bytes } => {
                let area = device.open_area(self.area(context).map(|_| context)?, bytes)?;
                self.areas[context as usize] = area.bytes;
                Reply::Area(area)
            }
            Request::CloseArea { context } => {
                self.area(context)?;
                self.areas[context as usize] = 0;
                device.close_area(context);
                Reply::Done
            }
            Request::ReadHost {
                context,
                offset,
                bytes,
            } => {
                let mut read = vec![0; self.checked_host(context, offset, bytes as usize)?];
                device.read_host(context, offset, &mut read)?;
                Reply::Bytes(read)
            }
            Request::WriteHost {
                context,
                offset,
                bytes,
            } => {
                self.checked_host(context, offset, bytes.len())?;
                device.write_host(context, offset, &bytes)?;
                Reply::Done
            }
            Request::Hello { .. } | Request::Wait { .. } => time(device),
        })
    }

    fn area(&self, context: u32) -> Result<u32, DeviceError> {
        let area = self.areas.get(context as usize).copied();
        area.ok_or_else(|| DeviceError::Refused(format!("there is no context {context}")))
    }

    /// A client may be wrong, so everything that the device takes for granted is looked at here.
    fn checked_host(&self, context: u32, offset: u32, bytes: usize) -> Result<usize, DeviceError> {
        let area = self.area(context)?;
        let end = u64::from(offset) + bytes as u64;
        match bytes <= PIECE && end <= u64::from(area) {
            true => Ok(bytes),
            false => Err(DeviceError::Refused(format!(
                "{bytes} bytes at {offset:#x} are not within the {area} bytes of host memory"
            ))),
        }
    }
}

fn checked_words(address: u32, bytes: usize) -> Result<usize, DeviceError> {
    let is_there = (map::HANDLER_BASE..=u32::MAX).contains(&address);
    match is_there && bytes <= PIECE && address.is_multiple_of(4) && bytes.is_multiple_of(4) {
        true => Ok(bytes),
        false => Err(DeviceError::Refused(format!(
            "{bytes} bytes at {address:#010x} are no words of the cluster's L2 memory"
        ))),
    }
}

fn time(device: &impl Device) -> Reply {
    let nanoseconds = device.now().as_nanos().try_into().unwrap_or(u64::MAX);
    Reply::Time { nanoseconds }
}

/// Whether it is a socket that nobody listens to any more.
fn is_left_over(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Stops what a client has left.
fn clear<D: Device>(device: &mut D) -> Result<(), crate::error::ErrorKind> {
    Control(device).take()?;
    (0..CONTEXTS).for_each(|context| device.close_area(context));
    Ok(())
}
