//! The server: answers the calls of all ports.
//!
//! ```text
//!  Server::poll: each port in turn
//!    idle    --request--> find the service, begin the call
//!    active  call waits for a packet or to send one: done as soon as the port is the server's
//!            call is parked: passed over until its service wakes it
//!    quarantined: the mailbox holds neither 0 nor 1, passed over until it does
//!    resting: something was refused, passed over for some rounds
//!  tails: calls that have answered and go on without their port
//! ```
//!
//! A client cannot stop the server. The server copies header and packet before it reads them, a call that makes no
//! progress keeps only its own port, and lengths are compared with limits before anything is kept. Nor can a client
//! keep the server from others by one refusal after the other: each costs its port a rest.

mod call;
mod line;
mod running;

pub use call::{Answer, Call, CallMode, Service};
pub use running::{Counts, End, Moment, Refusal, Running, Step};

use crate::layout::{Layout, LayoutError, Packet};
use crate::memory::Memory;
use crate::opcode::{self, Fault};
use crate::process::{Header, Process};
use line::{Line, Progress, Tail};
use running::{Board, Watch};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Rounds for which the server passes over a port after it refused something: tens of microseconds. A server that
/// answers garbage as fast as it arrives has neither time for other contexts nor room for their answers on the path to
/// the NIC.
const REST: u64 = 256;
/// Most calls that continue after their answer. When there are more, the server drops the oldest.
const MOST_TAILS: usize = 256;

/// The side that answers, for one buffer. It belongs to one thread.
pub struct Server<M> {
    process: Process<M, true>,
    services: Vec<(u8, Rc<dyn Service>)>,
    lines: Vec<Line>,
    /// [`Line::quiet`] of each line, close together.
    quiet: Vec<u32>,
    /// Rounds so far.
    round: Cell<u64>,
    /// The round with which the rest of each port ends.
    rests: Vec<u64>,
    /// Where [`step`](Self::step) goes on.
    next: usize,
    board: Rc<Board>,
    watch: Option<Watch>,
    /// Calls that have answered and go on without their port.
    tails: VecDeque<Tail>,
}

/// Why there is no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ServerError<E> {
    /// The layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The buffer cannot be reached.
    #[error("{0}")]
    Memory(E),
    /// The server's own mailbox holds what no server writes.
    #[error(
        "the server's mailbox of port {port} holds {value}, not 0 or 1: clear the buffer before a server starts"
    )]
    Mailbox {
        /// The port.
        port: u32,
        /// The value in the mailbox.
        value: u32,
    },
}

impl<M: Memory> Server<M> {
    /// The server of a buffer that is all zero, or that another server has left idle. It answers nothing before services
    /// are added.
    ///
    /// # Errors
    /// If the layout does not fit the memory, its packets have more than one lane, or the buffer is no such buffer.
    pub fn new(memory: M, layout: Layout) -> Result<Self, ServerError<M::Error>> {
        let process = Process::new(memory, layout)?;
        let line = |port| match process.idle(port) {
            Ok(state) => Ok(Line::new(state)),
            Err(Fault::Memory(error)) => Err(ServerError::Memory(error)),
            Err(Fault::Mailbox { port, value }) => Err(ServerError::Mailbox { port, value }),
        };
        let lines: Vec<Line> = (0..layout.ports()).map(line).collect::<Result<_, _>>()?;
        Ok(Self {
            quiet: lines.iter().map(Line::quiet).collect(),
            rests: vec![0; lines.len()],
            lines,
            process,
            services: Vec::new(),
            round: Cell::new(0),
            next: 0,
            board: Rc::default(),
            watch: None,
            tails: VecDeque::new(),
        })
    }

    /// Adds a service for a class of opcodes. Of several of a class, the first one that handles a call gets it.
    pub fn add(&mut self, class: u8, service: Rc<dyn Service>) {
        self.services.push((class, service));
    }

    /// The version of a call, if the service that gets it has one.
    pub fn version(&self, opcode: u32) -> Option<u64> {
        let mut services = self
            .services
            .iter()
            .filter(|(class, _)| *class == opcode::class(opcode));
        services.find_map(|(_, service)| service.version(opcode))
    }

    /// Begins a round: lets services wake what is parked.
    fn advance(&self) {
        self.round.set(self.round.get() + 1);
        for (_, service) in &self.services {
            service.advance();
        }
    }

    /// The ports.
    pub fn process(&self) -> &Process<M, true> {
        &self.process
    }

    /// Returns the counters of calls and refusals.
    pub fn counts(&self) -> Counts {
        self.board.counts()
    }

    /// Notes from now on when calls begin and end, for [`take_moments`](Self::take_moments).
    pub fn watch(&mut self) {
        self.watch.get_or_insert_default();
    }

    /// The calls that have begun and ended since the last time, in their order, if the caller [watches](Self::watch).
    pub fn take_moments(&mut self) -> Vec<Moment> {
        self.watch.as_mut().map_or_else(Vec::new, Watch::take)
    }

    /// Whether a client has ended itself, by a call that was allowed. The server keeps running; its owner closes the context.
    pub fn ended(&self) -> Option<End> {
        self.board.ended()
    }

    /// Looks at every port once and does what can be done. Says whether anything was.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn poll(&mut self) -> Result<bool, M::Error> {
        self.advance();
        let mut is_busy = self.advance_tails();
        for port in 0..self.quiet.len() {
            is_busy |= self.look(port)?;
        }
        Ok(is_busy)
    }

    /// Whether a port has something to do, as far as a poll of the mailboxes shows.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn is_wanted(&self) -> Result<bool, M::Error> {
        self.advance();
        if self.tails.iter().any(Tail::is_woken) {
            return Ok(true);
        }
        for (quiet, port) in self.quiet.iter().zip(0..) {
            // The server checks a parked call in every round; it is no reason for one.
            let line = &self.lines[port as usize];
            let inbox = self.process.inbox(port)?;
            let has_come = inbox != line.state.out() && inbox <= 1;
            let is_resting = self.round.get() < self.rests[port as usize];
            if *quiet != inbox && (has_come || line.can_go_on()) && !is_resting {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a request is at a port that has no call yet.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn is_asked(&self, port: u32) -> Result<bool, M::Error> {
        let line = &self.lines[port as usize];
        let inbox = self.process.inbox(port)?;
        Ok(!line.is_active() && inbox <= 1 && inbox != line.state.out())
    }

    /// Does what can be done at the next port that has something to do, each in its turn. Says whether there was one.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn step(&mut self) -> Result<bool, M::Error> {
        if self.advance_tails() {
            return Ok(true);
        }
        let ports = self.quiet.len();
        for port in (self.next..ports).chain(0..self.next) {
            if self.look(port)? {
                self.next = (port + 1) % ports;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Does what can be done at a port, and says whether anything was. Most ports are idle, and are passed over by a load.
    fn look(&mut self, port: usize) -> Result<bool, M::Error> {
        if self.quiet[port] == self.process.inbox(port as u32)? {
            return Ok(false);
        }
        if self.round.get() < self.rests[port] {
            return Ok(false);
        }
        let refused = self.board.refused();
        let is_busy = self.visit(port as u32)?;
        if let Some(tail) = self.lines[port].take_tail() {
            self.keep(tail);
        }
        if self.board.refused() != refused {
            self.rests[port] = self.round.get() + REST;
        }
        self.quiet[port] = self.lines[port].quiet();
        self.note_end(port as u32);
        Ok(is_busy)
    }

    /// Lets a call go on that has answered.
    fn keep(&mut self, tail: Tail) {
        if self.tails.len() >= MOST_TAILS && self.tails.pop_front().is_some() {
            self.board.refuse(Refusal::ABANDONED);
        }
        self.tails.push_back(tail);
    }

    /// Does what calls without a port can do, and says whether there was anything.
    fn advance_tails(&mut self) -> bool {
        let mut is_busy = false;
        for _ in 0..self.tails.len() {
            let Some(mut tail) = self.tails.pop_front() else {
                break;
            };
            is_busy |= tail.is_woken();
            match tail.advance() {
                Progress::Waits => self.tails.push_back(tail),
                Progress::Ended => {}
                Progress::WantsClient => self.board.refuse(Refusal::ABANDONED),
            }
        }
        is_busy
    }

    /// Whether every port is idle: no call is under way, also none that has answered, and no request waits.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn is_idle(&self) -> Result<bool, M::Error> {
        if !self.tails.is_empty() {
            return Ok(false);
        }
        for line in &self.lines {
            if line.is_active() || !self.process.is_given_back(&line.state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Answers what is under way, at most for some time. Says whether every port is idle then.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn drain(&mut self, at_most: Duration) -> Result<bool, M::Error> {
        let start = Instant::now();
        while !self.is_idle()? {
            if !self.poll()? {
                if start.elapsed() > at_most {
                    return Ok(false);
                }
                std::thread::yield_now();
            }
        }
        Ok(true)
    }

    /// Forgets the call of a port whose client will not go on. Says whether there was one. A request that waits is then
    /// answered as any other.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn abandon(&mut self, port: u32) -> Result<bool, M::Error> {
        let Some(line) = self.lines.get_mut(port as usize) else {
            return Ok(false);
        };
        let was_active = line.forget();
        if was_active {
            self.board.refuse(Refusal::ABANDONED);
            self.process.finish(&mut line.state)?;
            self.quiet[port as usize] = line.quiet();
            self.note_end(port);
        }
        Ok(was_active)
    }

    /// Forgets the calls of all ports, and clears all mailboxes, of both sides: the client is known to be gone. Until this
    /// returns no client may run; then another one may start on the same memory. Requests that wait are not answered, and
    /// calls that have answered go on.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn abandon_all(&mut self) -> Result<(), M::Error> {
        for port in 0..self.quiet.len() {
            let line = &mut self.lines[port];
            match line.part() {
                Some(tail) => self.keep(tail),
                None if line.forget() => self.board.refuse(Refusal::ABANDONED),
                None => {}
            }
            let line = &mut self.lines[port];
            line.is_quarantined = false;
            line.state = self.process.clear(line.state.index())?;
            self.quiet[port] = line.quiet();
            self.note_end(port as u32);
        }
        Ok(())
    }

    /// Notes the end of a call, if there was one that is there no more.
    fn note_end(&mut self, port: u32) {
        if let Some(watch) = self
            .watch
            .as_mut()
            .filter(|_| !self.lines[port as usize].is_active())
        {
            watch.ends(port);
        }
    }

    fn visit(&mut self, port: u32) -> Result<bool, M::Error> {
        let line = &mut self.lines[port as usize];
        let visited = match line.state.owns() {
            true => line.advance(&self.process),
            false => match self.process.try_own(&mut line.state) {
                Ok(true) => return self.take(port),
                Ok(false) => line.advance(&self.process),
                Err(fault) => Err(fault),
            },
        };
        self.judge(port, visited)
    }

    /// A packet of the client has arrived, or the client has acknowledged one from this server.
    fn take(&mut self, port: u32) -> Result<bool, M::Error> {
        let header = self.process.header(port)?;
        let line = &mut self.lines[port as usize];
        line.is_quarantined = false;
        if !line.goes_on(&header) {
            match line.part() {
                Some(tail) => self.keep(tail),
                None if line.forget() => self.board.refuse(Refusal::ABANDONED),
                None => {}
            }
            let begun = self.begin(port, header);
            if self.judge(port, begun)? {
                return Ok(true);
            }
        }
        let line = &mut self.lines[port as usize];
        let visited = line.advance(&self.process);
        self.judge(port, visited)
    }

    /// Begins a call, and says whether it is answered already.
    fn begin(&mut self, port: u32, header: Header) -> Result<bool, Fault<M::Error>> {
        let line = &mut self.lines[port as usize];
        let opcode = header.opcode;
        if let Some(watch) = &mut self.watch {
            watch.begins(port, opcode);
        }
        let found = self.services.iter().find_map(|(class, service)| {
            let way = (*class == opcode::class(opcode)).then(|| service.handles(opcode))?;
            Some((service, way?))
        });
        match found {
            Some((service, CallMode::Immediate)) if header.mask & 1 != 0 => {
                self.board.calls.set(self.board.calls.get() + 1);
                let mut request = Packet::default();
                self.process.try_receive(&mut line.state, &mut request.0)?;
                if let Some(answer) = service.at_once(opcode, &request) {
                    self.process.try_send(&mut line.state, &answer.0)?;
                }
            }
            Some((service, CallMode::Async)) if header.mask & 1 != 0 => {
                self.board.calls.set(self.board.calls.get() + 1);
                let bulk = self.process.layout().bulk(self.process.memory().bytes());
                let call = Call::new(Rc::clone(&line.slot), Rc::clone(&self.board), opcode, port, bulk);
                line.begin(Rc::clone(service).call(call), &header);
                return Ok(false);
            }
            Some(_) => self.board.refuse(Refusal::NO_LANE),
            None => self.board.refuse(Refusal::UNKNOWN_OPCODE),
        }
        self.process.finish(&mut line.state)?;
        Ok(true)
    }

    /// A port whose mailbox is wrong is passed over, and its call forgotten.
    fn judge(&mut self, port: u32, visited: Result<bool, Fault<M::Error>>) -> Result<bool, M::Error> {
        match visited {
            Ok(is_busy) => Ok(is_busy),
            Err(Fault::Memory(error)) => Err(error),
            Err(Fault::Mailbox { .. }) => {
                let line = &mut self.lines[port as usize];
                line.forget();
                if !line.is_quarantined {
                    line.is_quarantined = true;
                    self.board.refuse(Refusal::MAILBOX);
                }
                Ok(false)
            }
        }
    }
}

impl<M> fmt::Debug for Server<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = self.lines.iter().filter(|line| line.is_active()).count();
        f.debug_struct("Server")
            .field("ports", &self.lines.len())
            .field("active", &active)
            .field("counts", &self.board.counts())
            .finish_non_exhaustive()
    }
}
