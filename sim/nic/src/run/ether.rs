//! `spinneret serve --ether`: the simulated NIC as a board that is controlled over Ethernet.

use super::host::{HostProgram, HostStep, is_matching};
use crate::device::Simulated;
use crate::terminal::tell;
use anyhow::Context as _;
use spinneret_ether::board::{Board, Heard, Memory};
use spinneret_ether::{Frame, Info, Link as _, Mac};
use spinneret_host::device::ether::{EtherError, FrameSocket};
use spinneret_host::{Device as _, DeviceError};
use spinneret_regmap::caps;
use spinneret_regmap::ether::{HOST_READ, MESSAGE, MOST_BYTES, MOST_WORDS, REGISTERS};
use spinneret_regmap::pspin::{HANDLER_BYTES, PROGRAM_BYTES};
use spinneret_sim::dma::{HostBus, Refused};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Name of the board.
const NAME: &str = "simulated";
/// Context of errors.
const FAILS: &str = "the network interface fails";
/// How long a message waits for its acknowledgement, and how often it is sent, as by the hardware.
const RESEND: Duration = Duration::from_millis(4);
const TRIES: u32 = 256;
/// Messages that wait at most; the NIC stands still meanwhile.
const WAITING: usize = 64;
/// Requests that are kept while it does.
const KEPT: usize = 16;
/// Simulated time between two looks at the acknowledgement of a message.
const LOOK_PS: u64 = 1_000_000;

/// A board at an interface, as a host program.
#[derive(Debug)]
pub(super) struct EtherService {
    port: Rc<Port>,
    /// For `wakes`.
    socket: std::os::fd::OwnedFd,
    once: bool,
    had_owner: bool,
    /// Rules were installed, so packets may start.
    is_matching: bool,
}

/// The board's end of the protocol.
#[derive(Debug)]
struct End {
    link: FrameSocket,
    board: Board<()>,
    /// Frames that came while the NIC stood still.
    kept: VecDeque<Vec<u8>>,
    /// The message that was sent last, when, and how often.
    sent: Option<(Vec<u8>, Instant, u32)>,
    /// The owner does not acknowledge.
    is_silent: bool,
    failed: Option<io::Error>,
}

/// The port to the host. Time passes while a request is executed, so the end is not borrowed then.
#[derive(Debug)]
struct Port(RefCell<End>);

/// Registers and memory of the NIC.
struct Reach {
    nic: Simulated,
    failed: Option<DeviceError>,
}

impl Reach {
    fn access<T>(&mut self, access: impl FnOnce(&mut Simulated) -> Result<T, DeviceError>) -> Option<T> {
        match access(&mut self.nic) {
            Ok(value) => Some(value),
            Err(error) => {
                if matches!(error, DeviceError::Gone(_)) {
                    self.failed = Some(error);
                }
                None
            }
        }
    }
}

impl Memory for Reach {
    fn read(&mut self, address: u32) -> Option<u32> {
        self.access(|nic| match address.checked_sub(REGISTERS) {
            Some(register) => nic.read_register(register),
            None => {
                let mut word = [0; 4];
                nic.read_cluster(address, &mut word)
                    .map(|()| u32::from_le_bytes(word))
            }
        })
    }

    fn write(&mut self, address: u32, word: u32) -> Option<()> {
        self.access(|nic| match address.checked_sub(REGISTERS) {
            Some(register) => nic.write_register(register, word),
            None => nic.write_cluster(address, &word.to_le_bytes()),
        })
    }
}

impl EtherService {
    /// Is a board at an interface, with the interface's address.
    ///
    /// # Errors
    /// The interface cannot be used.
    pub(super) fn open(interface: &str, nic: &Simulated, once: bool) -> Result<Self, EtherError> {
        let failed = |error| EtherError::Socket(interface.to_owned(), error);
        let link = FrameSocket::open(interface)?;
        let socket = link.as_fd().try_clone_to_owned().map_err(failed)?;
        let info = Info {
            mac: link.address(),
            name: NAME.to_owned(),
            design: nic.clone().read_register(caps::VERSION.offset).unwrap_or(0),
            shape: nic.shape().map(|count| count as u16),
            memory_bytes: HANDLER_BYTES,
            program_bytes: PROGRAM_BYTES,
            most_words: MOST_WORDS as u32,
        };
        let port = Rc::new(Port(RefCell::new(End {
            link,
            board: Board::new(info, ()),
            kept: VecDeque::new(),
            sent: None,
            is_silent: false,
            failed: None,
        })));
        nic.borrow()
            .host_memory()
            .connect(Rc::clone(&port) as Rc<dyn HostBus>);
        Ok(Self {
            port,
            socket,
            once,
            had_owner: false,
            is_matching: false,
        })
    }

    /// Returns the board's address.
    pub(super) fn address(&self) -> Mac {
        self.port.0.borrow().board.info.mac
    }

    /// Handles a frame, if there is one.
    fn serve(&self, nic: &Simulated) -> anyhow::Result<bool> {
        let Some(heard) = self.port.0.borrow_mut().hear().context(FAILS)? else {
            return Ok(false);
        };
        let answer = match heard {
            Some(Heard::Request(request)) => {
                let mut reach = Reach {
                    nic: nic.clone(),
                    failed: None,
                };
                let outcome = request.execute(&mut reach);
                if let Some(error) = reach.failed {
                    return Err(error.into());
                }
                Some(self.port.0.borrow_mut().board.executed(&request, outcome))
            }
            Some(Heard::Answer(answer)) => Some(answer),
            None => None,
        };
        let mut end = self.port.0.borrow_mut();
        answer
            .map_or(Ok(()), |answer| end.link.send(&answer))
            .context(FAILS)?;
        end.tell().context(FAILS)?;
        Ok(true)
    }
}

impl End {
    fn drop_messages(&mut self) {
        while self.board.message().is_some() {
            self.board.give_up();
        }
    }

    /// Drops messages to a host that does not acknowledge.
    fn check(&mut self) {
        if self.is_silent {
            self.drop_messages();
        }
    }

    /// Sends the first message, or sends it again.
    fn tell(&mut self) -> io::Result<()> {
        let Some(message) = self.board.message() else {
            self.sent = None;
            return Ok(());
        };
        let tries = match &self.sent {
            Some((sent, at, _)) if *sent == message && at.elapsed() < RESEND => return Ok(()),
            Some((sent, _, tries)) if *sent == message => *tries,
            _ => 0,
        };
        if tries == TRIES {
            self.is_silent = true;
            self.drop_messages();
            return Ok(());
        }
        self.link.send(&message)?;
        self.sent = Some((message, Instant::now(), tries + 1));
        Ok(())
    }

    /// Waits for an acknowledgement or answer; requests are kept for later.
    fn wait(&mut self) -> io::Result<()> {
        self.tell()?;
        if let Some(frame) = self.link.receive(RESEND)? {
            let kind = Frame::decode(&frame).map(|frame| frame.kind);
            if let Some(MESSAGE | HOST_READ) = kind {
                self.board.begin(&frame);
            } else if self.kept.len() < KEPT {
                self.kept.push_back(frame);
            }
        }
        Ok(())
    }

    /// Takes a frame, if there is one.
    fn hear(&mut self) -> io::Result<Option<Option<Heard>>> {
        let frame = match self.kept.pop_front() {
            Some(frame) => Some(frame),
            None => self.link.receive(Duration::ZERO)?,
        };
        let Some(frame) = frame else {
            return Ok(None);
        };
        let before = self.board.counters;
        let heard = self.board.begin(&frame);
        let after = self.board.counters;
        if before.executed + before.repeated != after.executed + after.repeated {
            self.is_silent = false;
        }
        Ok(Some(heard))
    }

    /// The bytes of a host read. The NIC stands still meanwhile.
    fn read(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.board.host_read(address, bytes as u16);
        self.check();
        while self.failed.is_none() {
            if let Some(read) = self.board.take_read() {
                return read;
            }
            self.failed = self.wait().err();
        }
        None
    }
}

impl HostBus for Port {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let first = u32::try_from(address).map_err(|_| Refused::UNSUPPORTED_REQUEST)?;
        for (piece, at) in bytes.chunks_mut(MOST_BYTES).zip((first..).step_by(MOST_BYTES)) {
            let read = self.0.borrow_mut().read(at, piece.len());
            piece.copy_from_slice(&read.ok_or(Refused::UNSUPPORTED_REQUEST)?);
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let first = u32::try_from(address).map_err(|_| Refused::UNSUPPORTED_REQUEST)?;
        let mut end = self.0.borrow_mut();
        for (piece, at) in bytes.chunks(MOST_BYTES).zip((first..).step_by(MOST_BYTES)) {
            end.board.host_write(at, piece);
        }
        end.check();
        while end.board.waiting() > WAITING && end.failed.is_none() {
            end.failed = end.wait().err();
        }
        Ok(())
    }
}

impl HostProgram for EtherService {
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep> {
        let mut has_served = false;
        while self.serve(nic)? {
            has_served = true;
        }
        let mut end = self.port.0.borrow_mut();
        end.failed.take().map_or(Ok(()), Err).context(FAILS)?;
        end.tell().context(FAILS)?;
        let (waits, has_owner) = (end.board.waiting() > 0, end.board.last_number().is_some());
        drop(end);
        if has_served && !self.is_matching {
            self.is_matching = is_matching(nic)?;
        }
        let has_gone = self.had_owner && !has_owner;
        self.had_owner = has_owner;
        if has_gone {
            self.is_matching = false;
        }
        Ok(match (has_gone, has_served, waits) {
            (true, ..) if self.once => HostStep::Done,
            (_, true, _) => HostStep::WakeAt(nic.borrow().now_ps()),
            (_, _, true) => HostStep::WakeAt(nic.borrow().now_ps() + LOOK_PS),
            _ => HostStep::Idle,
        })
    }

    fn is_ready(&self) -> bool {
        self.is_matching
    }

    fn stays(&self) -> bool {
        true
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.socket.as_fd()]
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let counters = self.port.0.borrow().board.counters;
        tell(format_args!(
            "control frames: {} requests were answered, {} of them again; {} refused, {} malformed, {} for others; {} host writes \
             and reads were acknowledged, {} lost",
            counters.executed + counters.repeated,
            counters.repeated,
            counters.refused,
            counters.malformed,
            counters.foreign,
            counters.acknowledged,
            counters.lost
        ));
        Ok(())
    }
}
