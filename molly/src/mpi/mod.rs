//! Ranks as processes under MPI.
//!
//! Each line of messages has its own persistent requests. For packed messages, it has as many receives as the plan has
//! buffers, started when the line is opened, and up to twice as many sends, as the other rank may receive without
//! buffers. For messages that go straight, it has one request for each place. All of molly's messages are on a
//! communicator of their own.

mod straight;

use crate::error::{Error, Result};
use crate::rank::{Plans, Rank};
use crate::transport::{Line, Placing, Transport};
use spinneret_molly_model::Geometry;
pub use spinneret_mpi_sys::Mpi;
use spinneret_mpi_sys::{Comm, Request};
use std::collections::HashMap;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};
use straight::{Fields, Straight};

/// A line that is opened once more, for longer messages, has another tag: a message for it cannot come into a buffer of the
/// old one. Tags repeat after that many, when no rank waits for the first one any more.
const GENERATIONS: usize = 64;

/// Tests of a message before others get the processor: with as many ranks as processors that is never needed.
const SPINS: u32 = 2000;

/// Tags of a question from another rank, and of its answer: the current call of the rank that is asked.
const QUESTION: u32 = 0;
const ANSWER: u32 = 1;

/// How long an answer may take: a rank that waits for others looks for questions far more often.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// Runs this process's rank of a grid. All processes that MPI has started call it.
///
/// # Errors
/// [`Error::Ranks`] on all ranks, before anything is sent, if the grid has another number of ranks; else what `each` gives.
/// A rank that fails leaves others waiting until their patience ends: [`Mpi::or_abort`] ends them at once.
pub fn ranks<R>(
    mpi: &Mpi,
    geometry: &Geometry,
    patience: Duration,
    each: impl FnOnce(&mut Rank) -> Result<R>,
) -> Result<R> {
    let world = mpi.world();
    if world.size() != geometry.ranks() {
        return Err(Error::Ranks {
            geometry: geometry.clone(),
            wanted: geometry.ranks(),
            started: world.size(),
        });
    }
    let number = world.rank();
    let dup = || world.dup().map_err(|error| failed(number, &error));
    let transport = Messages {
        mpi: mpi.clone(),
        comm: Rc::new(dup()?),
        questions: dup()?,
        call: String::new(),
        patience,
        lines: Vec::new(),
        opened: HashMap::new(),
        fields: Fields::default(),
    };
    let mut rank = Rank::new(number, geometry.clone(), Box::new(transport), Plans::default());
    each(&mut rank)
}

/// Returns the exit code of a program after [`ranks`]: 0, or 2 if the request cannot be met. Every rank finds such an
/// error on its own, and rank 0 reports it. Any other error is reported by the rank that meets it, which ends all ranks
/// with 1, as they would wait for it.
pub fn exit_code<R>(mpi: &Mpi, result: Result<R>) -> ExitCode {
    match result {
        Err(error) if error.is_found_by_all() => {
            let world = mpi.world();
            if world.rank() == 0 {
                eprintln!("{error}");
            }
            // A launcher may end all ranks when one has exited with another code than 0, so rank 0 reports the error
            // before that. A rank that cannot wait for the others exits all the same.
            let _ = world.barrier();
            ExitCode::from(2)
        }
        other => {
            mpi.or_abort(other);
            ExitCode::SUCCESS
        }
    }
}

fn failed(rank: usize, error: &spinneret_mpi_sys::Error) -> Error {
    Error::Mpi {
        rank,
        what: error.to_string(),
    }
}

/// One rank's transport.
#[derive(Debug)]
struct Messages {
    mpi: Mpi,
    comm: Rc<Comm>,
    /// For questions and answers.
    questions: Comm,
    /// The last call of this rank.
    call: String,
    patience: Duration,
    lines: Vec<Option<Opened>>,
    /// The newest line to or from a rank with a tag, and how many there were before.
    opened: HashMap<(usize, bool, usize), (usize, usize)>,
    fields: Fields,
}

#[derive(Debug)]
struct Opened {
    line: Line,
    tag: u32,
    ends: Ends,
    /// Messages that were started, were received, or have left their place.
    count: usize,
    /// Bytes of the message that is filled or read.
    bytes: usize,
}

#[derive(Debug)]
enum Ends {
    /// Each is made when it is used first.
    Send(Vec<Request>),
    Receive(Vec<Request>),
    Straight(Straight),
}

impl Opened {
    /// The buffer that is next.
    fn next(&self) -> usize {
        self.count % self.buffers()
    }

    fn buffers(&self) -> usize {
        self.line.buffers * if self.line.is_send { 2 } else { 1 }
    }
}

impl Messages {
    /// Does something with the next buffer of a line.
    fn with<T>(
        &mut self,
        line: usize,
        act: impl FnOnce(&mut Opened, usize) -> std::result::Result<T, spinneret_mpi_sys::Error>,
    ) -> Result<T> {
        let rank = self.comm.rank();
        let opened = self.lines.get_mut(line).and_then(Option::as_mut);
        let opened = opened.ok_or_else(|| Error::Mpi {
            rank,
            what: format!("line {line} was replaced by one for longer messages"),
        })?;
        let next = opened.next();
        act(opened, next).map_err(|error| failed(rank, &error))
    }

    /// Tests until something has happened, or a rank has waited for too long.
    fn until(&mut self, line: usize, what: &'static str) -> Result<()> {
        let (mut turns, mut begun) = (0u32, None);
        while !self.test(line)? {
            turns = turns.wrapping_add(1);
            if !turns.is_multiple_of(SPINS) {
                continue;
            }
            let begun = *begun.get_or_insert_with(Instant::now);
            self.answer().map_err(|error| failed(self.comm.rank(), &error))?;
            if begun.elapsed() > self.patience {
                let (rank, waited) = (self.comm.rank(), self.patience);
                let late = |opened: &mut Opened, _| {
                    Ok(Error::TimeOut {
                        rank,
                        peer: opened.line.peer,
                        what,
                        number: opened.count,
                        line: format!("channel {}", opened.line.tag),
                        waited,
                    })
                };
                return Err(self.with(line, late)?);
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}

impl Messages {
    /// Answers all ranks that have asked. Answers are so short that MPI takes them at once.
    fn answer(&self) -> std::result::Result<(), spinneret_mpi_sys::Error> {
        while let Some(question) = self.questions.iprobe(None, Some(QUESTION))? {
            let (_, question) = self.questions.recv_any(Some(question.source), Some(QUESTION))?;
            self.questions
                .send(self.call.as_bytes(), question.source, ANSWER)?;
        }
        Ok(())
    }

    /// Asks another rank for its current call; `None` if it does not poll for questions.
    fn ask(&self, peer: usize) -> std::result::Result<Option<String>, spinneret_mpi_sys::Error> {
        self.questions.send(&[], peer, QUESTION)?;
        let begun = Instant::now();
        while begun.elapsed() < ANSWERED_WITHIN {
            self.answer()?;
            if self.questions.iprobe(Some(peer), Some(ANSWER))?.is_some() {
                let (call, _) = self.questions.recv_any(Some(peer), Some(ANSWER))?;
                // The other rank may have waited for this one without success as well.
                self.answer()?;
                return Ok(Some(String::from_utf8_lossy(&call).into_owned()));
            }
            std::thread::yield_now();
        }
        Ok(None)
    }
}

impl Transport for Messages {
    fn enter(&mut self, call: &str) {
        call.clone_into(&mut self.call);
    }

    fn last_call(&self, peer: usize) -> Option<String> {
        // There is an error to report already.
        self.ask(peer).ok().flatten()
    }

    fn open(&mut self, line: &Line) -> Result<usize> {
        let (rank, number) = (self.comm.rank(), self.lines.len());
        let key = (line.peer, line.is_send, line.tag);
        let generation = match self.opened.get(&key).copied() {
            Some((old, generation)) => {
                self.lines[old] = None;
                generation + 1
            }
            None => 0,
        };
        self.opened.insert(key, (number, generation));
        let tag = line.tag * GENERATIONS + generation % GENERATIONS;
        let tag = u32::try_from(tag).unwrap_or(u32::MAX);
        let open = || {
            if line.is_straight {
                return Ok(Ends::Straight(Straight::default()));
            }
            if line.is_send {
                return Ok(Ends::Send(Vec::new()));
            }
            let mut receivers = Vec::new();
            for _ in 0..line.buffers {
                let mut receiver = self.comm.recv_init(line.capacity, line.peer, tag)?;
                receiver.start()?;
                receivers.push(receiver);
            }
            Ok(Ends::Receive(receivers))
        };
        let ends = open().map_err(|error| failed(rank, &error))?;
        self.lines.push(Some(Opened {
            line: line.clone(),
            tag,
            ends,
            count: 0,
            bytes: 0,
        }));
        Ok(number)
    }

    fn buffer(&mut self, line: usize, bytes: usize) -> Result<&mut [u8]> {
        self.until(line, "take")?;
        let rank = self.comm.rank();
        let Some(opened) = self.lines[line].as_mut() else {
            return Ok(&mut []);
        };
        opened.bytes = bytes;
        let next = opened.next();
        let Ends::Send(senders) = &mut opened.ends else {
            return Ok(&mut []);
        };
        if next == senders.len() {
            let sender = self
                .comm
                .send_init(opened.line.capacity, opened.line.peer, opened.tag);
            senders.push(sender.map_err(|error| failed(rank, &error))?);
        }
        let area = senders[next].bytes_mut();
        Ok(&mut area.map_err(|error| failed(rank, &error))?[..bytes])
    }

    fn start(&mut self, line: usize) -> Result<()> {
        self.with(line, |opened, next| {
            if let Ends::Send(senders) = &mut opened.ends {
                senders[next].start_part(opened.bytes)?;
            }
            opened.count += 1;
            Ok(())
        })
    }

    fn test(&mut self, line: usize) -> Result<bool> {
        self.with(line, |opened, next| match &mut opened.ends {
            Ends::Send(senders) => match senders.get_mut(next) {
                Some(sender) => Ok(sender.test()?.is_some() || !sender.is_active()),
                None => Ok(true),
            },
            Ends::Straight(straight) => straight.test(),
            Ends::Receive(receivers) => match receivers[next].test()? {
                Some(received) => {
                    opened.bytes = received.bytes as usize;
                    Ok(true)
                }
                // One that has come before stays until it is released.
                None => Ok(!receivers[next].is_active()),
            },
        })
    }

    fn wait(&mut self, line: usize) -> Result<&[u8]> {
        self.until(line, "send")?;
        let rank = self.comm.rank();
        let Some(opened) = self.lines[line].as_mut() else {
            return Ok(&[]);
        };
        let next = opened.next();
        let Ends::Receive(receivers) = &mut opened.ends else {
            return Ok(&[]);
        };
        let area = receivers[next].bytes();
        Ok(&area.map_err(|error| failed(rank, &error))?[..opened.bytes])
    }

    fn progress(&mut self) -> Result<()> {
        // A look for one message moves all.
        let looked = self.questions.iprobe(None, Some(QUESTION));
        looked
            .map(|_| ())
            .map_err(|error| failed(self.comm.rank(), &error))
    }

    fn release(&mut self, line: usize) -> Result<()> {
        self.with(line, |opened, next| {
            if let Ends::Receive(receivers) = &mut opened.ends {
                receivers[next].start()?;
            }
            opened.count += 1;
            Ok(())
        })
    }

    fn placing(&mut self) -> Option<&mut dyn Placing> {
        Some(self)
    }
}
