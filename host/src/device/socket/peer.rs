//! One client of the server: its requests, unsent replies, and limits.

use super::{FRAMES_PIECE, Reply, Request, VERSION, WORDS_PIECE, send, take};
use crate::control::Control;
use crate::device::{Device, DeviceError, ManagedContext};
use crate::nic::NOTHING_PRINTED;
use crate::tenants::{self, Owner, Tenants};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use spinneret_program::Program;
use spinneret_regmap::{CONTEXTS, cl, pspin};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Result of serving the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// There was no request.
    Nothing,
    /// Requests were answered.
    Requests,
    /// The client waits until this time.
    Waits(Duration),
    /// The last client has disconnected, and nothing runs on the NIC.
    Gone,
}

/// Bytes that are received at once.
const CHUNK: usize = 64 << 10;
/// Time slice for requests before other work continues.
const TURN: Duration = Duration::from_micros(300);
/// Total time that a client may wait where time is limited, as in a simulation.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// Timeout for a hello, or for receiving a reply.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for a client that is about to read.
const READER: Duration = Duration::from_micros(300);

/// State of the NIC between clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its registers may have any value.
    Unknown,
    /// Its registers are what contexts need.
    Managed,
    /// A client writes registers itself, and has the NIC alone.
    Raw,
}

/// The NIC, as a client may use it.
#[derive(Debug)]
pub(super) struct Desk<'d, D> {
    pub(super) device: &'d mut D,
    pub(super) tenants: &'d mut Tenants,
    pub(super) state: &'d mut Use,
    pub(super) owner: Owner,
    /// Whether there are other clients.
    pub(super) has_others: bool,
}

impl<D: Device> Desk<'_, D> {
    /// Lets the client alone use the NIC itself.
    fn take_alone(&mut self) -> Result<(), DeviceError> {
        if self.has_others || !self.tenants.is_empty() {
            return Err(DeviceError::Refused(
                "the NIC is shared, so registers can only be read, and memory only by the process whose context has it".to_owned(),
            ));
        }
        *self.state = Use::Raw;
        Ok(())
    }

    /// Whether memory may be used: that of own contexts, or all of it alone.
    fn check_memory(&mut self, address: u32, bytes: usize) -> Result<(), DeviceError> {
        match self.tenants.owns(self.owner, address, bytes) {
            true => Ok(()),
            false => self.take_alone(),
        }
    }

    fn open(&mut self, request: tenants::Request<'_>) -> Result<ManagedContext, DeviceError> {
        if *self.state != Use::Managed {
            Control(self.device).take().map_err(told)?;
            (0..CONTEXTS).for_each(|context| self.device.close_area(context));
            *self.state = Use::Managed;
        }
        let opened = self.tenants.open(self.device, self.owner, request);
        opened.map(ManagedContext::from).map_err(|(_, kind)| told(kind))
    }
}

/// An error for the client.
fn told(kind: crate::error::ErrorKind) -> DeviceError {
    use crate::error::ErrorKind;
    match kind {
        ErrorKind::Device(error) => error,
        ErrorKind::NoContext(_) | ErrorKind::OtherProgram { .. } => DeviceError::Full(kind.to_string()),
        kind => DeviceError::Refused(kind.to_string()),
    }
}

/// A client of the NIC.
#[derive(Debug)]
pub(super) struct Peer {
    stream: UnixStream,
    received: Vec<u8>,
    /// Replies that it has not received yet.
    unsent: VecDeque<u8>,
    /// A file that goes with the next of them.
    file: Option<OwnedFd>,
    /// It has said hello.
    is_known: bool,
    /// Start of the timeout for a hello or for receiving.
    owes_since: Instant,
    /// It waits until then.
    until: Option<Duration>,
    /// For how long it has waited, or does.
    waited: Duration,
}

impl Peer {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            received: Vec::new(),
            unsent: VecDeque::new(),
            file: None,
            is_known: false,
            owes_since: Instant::now(),
            until: None,
            waited: Duration::ZERO,
        })
    }

    /// Its stream.
    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Whether it waits for time to pass.
    pub(super) fn is_waiting(&self) -> bool {
        self.until.is_some()
    }

    /// Handles requests, for one time slice.
    pub(super) fn serve<D: Device>(&mut self, desk: &mut Desk<'_, D>) -> io::Result<Served> {
        let (mut served, begun) = (Served::Nothing, Instant::now());
        while begun.elapsed() < TURN {
            if !self.flush()? {
                // There is no notification when the client reads the rest, so poll again soon.
                return Ok(Served::Requests);
            }
            if let Some(until) = self.until {
                if self.has_gone()? {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                if desk.device.now() < until {
                    // Report the handled requests first, because they may have changed the configuration.
                    return Ok(match served {
                        Served::Nothing => Served::Waits(until),
                        served => served,
                    });
                }
                self.until = None;
                self.answer(&time(desk.device))?;
                served = Served::Requests;
                continue;
            }
            let Some(request) = self.next()? else {
                return Ok(served);
            };
            served = Served::Requests;
            if let Some(reply) = self.handle(request, desk)? {
                self.answer(&reply)?;
            }
        }
        Ok(Served::Requests)
    }

    /// Whether the client has disconnected.
    pub(super) fn has_gone(&self) -> io::Result<bool> {
        Ok(self
            .is_ready_for(PollFlags::empty(), Duration::ZERO)?
            .contains(PollFlags::HUP))
    }

    /// Polls the stream, with a timeout.
    fn is_ready_for(&self, wanted: PollFlags, time: Duration) -> io::Result<PollFlags> {
        let mut polled = [PollFd::new(&self.stream, wanted)];
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => Ok(polled[0].revents()),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives the next request, and no more, so that a client that does not wait for replies cannot fill memory.
    fn next(&mut self) -> io::Result<Option<Request>> {
        let mut chunk = [0; CHUNK];
        loop {
            if let Some(request) = take(&mut self.received)? {
                return Ok(Some(request));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.received.extend(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.has_nothing(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Handles the absence of a request: drops a client that sends no hello, because it blocks others.
    fn has_nothing(&self) -> io::Result<Option<Request>> {
        match !self.is_known && self.owes_since.elapsed() > PATIENCE {
            true => Err(late("it said no hello")),
            false => Ok(None),
        }
    }

    /// Queues a reply, and tries to send it.
    fn answer(&mut self, reply: &Reply) -> io::Result<()> {
        self.owes_since = Instant::now();
        send(&mut self.unsent, reply)?;
        self.flush().map(drop)
    }

    /// Sends queued replies without blocking. Returns whether all are sent.
    fn flush(&mut self) -> io::Result<bool> {
        while !self.unsent.is_empty() {
            let (front, _) = self.unsent.as_slices();
            match super::write(&self.stream, front, self.file.as_ref()) {
                Ok(count) => {
                    self.unsent.drain(..count);
                    self.file = None;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) if self.is_ready_for(PollFlags::OUT, READER)?.is_empty() => {
                    return match self.owes_since.elapsed() > PATIENCE {
                        true => Err(late("it did not take its answer")),
                        false => Ok(false),
                    };
                }
                Err(_) => {}
            }
        }
        Ok(true)
    }

    /// Handles a request. There is no reply yet if the client waits for time to pass, and none to a hello, which was answered
    /// when it arrived.
    fn handle<D: Device>(&mut self, request: Request, desk: &mut Desk<'_, D>) -> io::Result<Option<Reply>> {
        if let Request::Hello { version } = request {
            if version != VERSION {
                let text =
                    format!("version {version} of the protocol, where this NIC speaks version {VERSION}");
                self.answer(&Reply::Failed(DeviceError::Refused(text.clone())))?;
                return Err(io::Error::new(ErrorKind::InvalidData, text));
            }
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
            return Ok(self
                .wait(Duration::from_nanos(nanoseconds), desk.device)
                .err()
                .map(Reply::Failed));
        }
        Ok(Some(self.run(request, desk).unwrap_or_else(Reply::Failed)))
    }

    fn wait(&mut self, time: Duration, device: &impl Device) -> Result<(), DeviceError> {
        let waited = self.waited.saturating_add(time);
        if waited > LONGEST_WAIT && device.last_moment() < Duration::MAX {
            return Err(DeviceError::Refused(format!(
                "a wait of {} s: a program may let {} s pass in all",
                time.as_secs_f64(),
                LONGEST_WAIT.as_secs()
            )));
        }
        self.until = Some(device.moment_after(time)?);
        self.waited = waited;
        Ok(())
    }

    fn run<D: Device>(&mut self, request: Request, desk: &mut Desk<'_, D>) -> Result<Reply, DeviceError> {
        Ok(match request {
            Request::ReadRegister { offset } => {
                // Words of standard output do not tell whose they are.
                let is_hidden = offset == cl::FIFO.offset && desk.tenants.has_others(desk.owner);
                Reply::Word(match is_hidden {
                    true => NOTHING_PRINTED,
                    false => desk.device.read_register(offset)?,
                })
            }
            Request::WriteRegister { offset, value } => {
                desk.take_alone()?;
                desk.device.write_register(offset, value)?;
                Reply::Done
            }
            Request::ReadCluster { address, bytes } => {
                let mut read = vec![0; checked_words(address, bytes as usize)?];
                desk.check_memory(address, read.len())?;
                desk.device.read_cluster(address, &mut read)?;
                Reply::Bytes(read)
            }
            Request::WriteCluster { address, bytes } => {
                checked_words(address, bytes.len())?;
                desk.check_memory(address, bytes.len())?;
                desk.device.write_cluster(address, &bytes)?;
                Reply::Done
            }
            Request::Load { name, file } => {
                let program = parsed(&name, file)?;
                desk.take_alone()?;
                desk.device.load(&program)?;
                Reply::Done
            }
            Request::OpenArea { context, bytes } => {
                let context = checked_context(context)?;
                desk.take_alone()?;
                let area = desk.device.open_area(context, bytes)?;
                self.attach_area(context, area.bytes, desk.device)?;
                Reply::Area(area)
            }
            Request::CloseArea { context } => {
                let context = checked_context(context)?;
                desk.take_alone()?;
                desk.device.close_area(context);
                Reply::Done
            }
            Request::Transmit { frame } => Reply::Sent(desk.device.transmit(&frame)?),
            Request::Receive => {
                let frames = std::iter::from_fn(|| desk.device.receive().transpose());
                Reply::Frames(frames.take(FRAMES_PIECE).collect::<Result<_, _>>()?)
            }
            Request::OpenContext {
                name,
                file,
                handlers,
                rules,
                options,
            } => {
                let opened = desk.open(tenants::Request {
                    program: &parsed(&name, file)?,
                    name: &handlers,
                    rules: &(&rules).into(),
                    options: &options,
                })?;
                let attached = self.attach_area(opened.number, opened.host.bytes, desk.device);
                if attached.is_err() {
                    // The first error is the one that matters.
                    let _ = desk.tenants.close(desk.device, desk.owner, opened.number);
                }
                attached.map(|()| Reply::Context(opened))?
            }
            Request::SetRules { context, rules } => {
                let rules = (&rules).into();
                let set = desk.tenants.set_ruleset(desk.device, desk.owner, context, &rules);
                set.map_err(told)?;
                Reply::Done
            }
            Request::CloseContext { context } => {
                let closed = desk.tenants.close(desk.device, desk.owner, context);
                closed.map_err(told)?;
                Reply::Done
            }
            Request::SetShare { context, share } => {
                let set = desk.tenants.set_share(desk.device, desk.owner, context, share);
                set.map_err(told)?;
                Reply::Done
            }
            Request::Usage { context } => {
                let usage = desk.tenants.usage(desk.device, desk.owner, context);
                Reply::Usage(usage.map_err(told)?)
            }
            Request::Hello { .. } | Request::Wait { .. } => time(desk.device),
        })
    }

    /// Sends the file of a context's host memory with the next reply.
    fn attach_area(&mut self, context: u32, bytes: u32, device: &impl Device) -> Result<(), DeviceError> {
        if bytes > 0 {
            self.file = Some(device.host_file(context)?);
        }
        Ok(())
    }
}

fn parsed(name: &str, file: Vec<u8>) -> Result<Program, DeviceError> {
    Program::parse(Path::new(name), file).map_err(|error| DeviceError::Refused(error.to_string()))
}

/// Checks arguments of the client that the device relies on.
fn checked_context(context: u32) -> Result<u32, DeviceError> {
    match context < CONTEXTS {
        true => Ok(context),
        false => Err(DeviceError::Refused(format!("there is no context {context}"))),
    }
}

fn checked_words(address: u32, bytes: usize) -> Result<usize, DeviceError> {
    let is_there = (pspin::HANDLER_BASE..=u32::MAX).contains(&address);
    match is_there && bytes <= WORDS_PIECE && address.is_multiple_of(4) && bytes.is_multiple_of(4) {
        true => Ok(bytes),
        false => Err(DeviceError::Refused(format!(
            "{bytes} bytes at {address:#010x} are no words of the cluster's L2 memory, or more than {WORDS_PIECE} bytes"
        ))),
    }
}

fn time(device: &impl Device) -> Reply {
    let nanoseconds = device.now().as_nanos().try_into().unwrap_or(u64::MAX);
    Reply::Time { nanoseconds }
}

fn late(what: &str) -> io::Error {
    let text = format!("{what} for {} s", PATIENCE.as_secs());
    io::Error::new(ErrorKind::TimedOut, text)
}
