//! Runs for a program in the same process: it gives packets and takes what comes out, and has the NIC's memory afterwards.

use super::args::HardwareArguments;
use super::ends::Ends;
use super::host::{Attention, HostProgram};
use super::session::Session;
use super::setup::{self, Setup};
use crate::device::Simulated;
use crate::net::{Interrupt, NetError, Next, Sink, Source};
use crate::report::{Options, Recorder, ShowProgress, Summary};
use crate::start::{contexts_on, names};
use crate::terminal::Files;
use anyhow::{Result, anyhow, ensure};
use spinneret_cluster::Program;
use spinneret_host::Context;
use spinneret_rules::{MatcherParams, RuleFile};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// The program that has the packets. Whatever it refuses ends the run. Times are picoseconds since the run began.
pub trait Peer {
    /// The next packet from the wire, and when it comes; without a time, as soon as the NIC has room for it.
    ///
    /// # Errors
    /// If it has none, and that is no end.
    fn next(&mut self) -> Result<Option<(Option<u64>, Vec<u8>)>>;

    /// A frame left for the wire, or went to the host.
    ///
    /// # Errors
    /// If the run shall end.
    fn take(&mut self, at_ps: u64, bytes: &[u8], to_host: bool) -> Result<()>;

    /// Asked now and then: whether the run goes on.
    ///
    /// # Errors
    /// If it shall end.
    fn goes_on(&mut self) -> Result<()>;
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All figures.
    pub summary: Summary,
    /// What handlers printed, and what is to be said about faults: what the command writes to standard error.
    pub messages: String,
}

/// A NIC with handlers that wait for packets.
#[derive(Debug)]
pub struct Embedded {
    nic: Simulated,
    program: Program,
    contexts: Vec<Context<Simulated>>,
    /// What the hardware has counted in the runs before.
    counted: BTreeMap<String, u64>,
    is_broken: bool,
}

impl Embedded {
    /// Starts handlers, from a folder or an ELF file, with the rules of a file, or those beside them.
    ///
    /// # Errors
    /// If something is missing, or the handlers do not start; the message has what they said.
    pub fn open(
        target: &Path,
        rules: Option<&Path>,
        handler: Option<&str>,
        hardware: &HardwareArguments,
    ) -> Result<Self> {
        let config = setup::config(hardware);
        let rules = setup::rules_of(target, rules);
        let (_, program) = setup::handlers(target, &config, Files::default()).map_err(sentence)?;
        let rules = RuleFile::read(&rules, &MatcherParams::BOARD)?;
        names(&program, &rules.rulesets, handler)?;
        let nic = Simulated::new(config.clone())?;
        let contexts = contexts_on(&nic, &program, &rules.rulesets, handler)
            .map_err(anyhow::Error::from)
            .and_then(|contexts| setup::wait_for_hpus(&nic).map(|()| contexts));
        let contexts = contexts.or_else(|error| {
            let messages = Messages::default();
            let mut recorder = Recorder::new(messages.options(), Some(&program), &config)?;
            let failure = setup::not_ready(&nic, &mut recorder, error);
            Err(anyhow!("{failure}\n{}", messages.text()))
        })?;
        Ok(Self {
            nic,
            program,
            contexts,
            counted: BTreeMap::new(),
            is_broken: false,
        })
    }

    /// The NIC.
    pub fn nic(&self) -> &Simulated {
        &self.nic
    }

    /// The contexts, one for each ruleset.
    pub fn contexts(&self) -> &[Context<Simulated>] {
        &self.contexts
    }

    /// Lets packets come until there are no more, and all is done with.
    ///
    /// # Errors
    /// If the program ends the run, packets are stuck, or the hardware fails. No other run is possible then.
    pub fn run(&mut self, peer: Rc<RefCell<dyn Peer>>) -> Result<Outcome> {
        ensure!(
            !self.is_broken,
            "packets of a run that was ended are still in this NIC: make a new one"
        );
        self.is_broken = true;
        let messages = Messages::default();
        let config = self.nic.borrow().config().clone();
        let setup = Setup {
            nic: self.nic.clone(),
            ends: Ends {
                source: Box::new(Wire {
                    peer: Rc::clone(&peer),
                    last_ps: 0,
                    follows_nic: false,
                }),
                host_source: None,
                wire: vec![Box::new(Out::new(&peer, false))],
                host: vec![Box::new(Out::new(&peer, true))],
                wakes: Vec::new(),
            },
            recorder: Recorder::new(messages.options(), Some(&self.program), &config)?,
            wave: None,
            gdb: None,
            host: Some(Box::new(Asks(peer))),
        };
        let session = Session::new(setup, None, Interrupt::never()?).counting_from(self.counted.clone());
        let (finished, verdict) = session.through().map_err(sentence)?;
        verdict.map_err(sentence)?;
        for (name, count) in &finished.summary.counters {
            *self.counted.entry(name.clone()).or_default() += count;
        }
        self.is_broken = false;
        Ok(Outcome {
            summary: finished.summary,
            messages: messages.text(),
        })
    }
}

fn sentence(failure: crate::terminal::Failure) -> anyhow::Error {
    anyhow!("{failure}")
}

/// Messages of a recorder, as text.
#[derive(Clone, Debug, Default)]
struct Messages(Arc<Mutex<Vec<u8>>>);

impl Messages {
    fn options(&self) -> Options {
        Options {
            progress: ShowProgress::No,
            messages: Box::new(self.clone()),
            ..Options::default()
        }
    }

    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The wire, at whose end the program is.
struct Wire {
    peer: Rc<RefCell<dyn Peer>>,
    last_ps: u64,
    /// The last packet had no time.
    follows_nic: bool,
}

impl Source for Wire {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        Ok(match self.peer.borrow_mut().next().map_err(ended)? {
            Some((at_ps, bytes)) => {
                self.last_ps = at_ps.unwrap_or(self.last_ps);
                self.follows_nic = at_ps.is_none();
                Next::Packet {
                    at_ps: self.last_ps,
                    bytes,
                }
            }
            None => Next::End,
        })
    }

    fn total(&self) -> Option<u64> {
        None
    }

    fn follows_nic(&self) -> bool {
        self.follows_nic
    }

    fn is_live(&self) -> bool {
        false
    }
}

/// Where the program takes what comes out.
struct Out {
    peer: Rc<RefCell<dyn Peer>>,
    to_host: bool,
}

impl Out {
    fn new(peer: &Rc<RefCell<dyn Peer>>, to_host: bool) -> Self {
        Self {
            peer: Rc::clone(peer),
            to_host,
        }
    }
}

impl Sink for Out {
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError> {
        let taken = self.peer.borrow_mut().take(at_ps, bytes, self.to_host);
        taken.map_err(ended)
    }

    fn finish(self: Box<Self>) -> Result<(), NetError> {
        Ok(())
    }
}

fn ended(error: anyhow::Error) -> NetError {
    NetError::Program(error.to_string())
}

/// Asks the program now and then.
struct Asks(Rc<RefCell<dyn Peer>>);

impl HostProgram for Asks {
    fn poll(&mut self) -> Result<Attention> {
        self.0.borrow_mut().goes_on()?;
        Ok(Attention::Idle)
    }
}
