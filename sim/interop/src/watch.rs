//! The real cluster behind the application, as its ports and buses show it.
//!
//! A [`Watch`] looks at the probes of the [top module](crate::top) in every clock of the cluster, counts what is on its
//! way, and records what it is asked to: HERs and feedback, commands, accesses to host memory, tasks, and what each HPU
//! reads and writes.

mod probes;

use crate::top::{CLUSTERS, CORES};
use probes::{Door, Probes};
use spinneret_cluster::Program;
use spinneret_nic::nic::{Behind, Hardware};
use spinneret_sim::model::{Model, ModelError};
use spinneret_sim::simulation::Simulation;
use std::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// HPUs of all clusters.
pub const HPUS: usize = CLUSTERS * CORES;
/// Clocks of the cluster without any movement after which nothing is on its way.
const QUIET_CLOCKS: u64 = 250;

/// What happened, and in which clock of the cluster since its reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The clock.
    pub at: u64,
    /// What.
    pub what: What,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The cluster took a HER.
    Her {
        /// Message.
        message: u32,
        /// It ends the message.
        is_last: bool,
        /// Where the packet lies in L2.
        address: u32,
        /// Bytes of the packet.
        size: u32,
    },
    /// The cluster gave a packet back.
    Feedback {
        /// Message.
        message: u32,
        /// Where the packet lay in L2.
        address: u32,
    },
    /// A command to send left the cluster.
    Send {
        /// Its id.
        id: u32,
        /// Where the frame lies.
        address: u32,
        /// Its bytes.
        length: u32,
    },
    /// A command to send was answered.
    Sent {
        /// Its id.
        id: u32,
    },
    /// A burst to host memory.
    HostWrite {
        /// Address.
        address: u64,
        /// Beats.
        beats: u32,
    },
    /// A burst from host memory.
    HostRead {
        /// Address.
        address: u64,
        /// Beats.
        beats: u32,
    },
    /// An HPU got a task.
    Task {
        /// Number of the HPU among all.
        hpu: u32,
    },
    /// An HPU's task has ended, and nothing of it is under way.
    Ended {
        /// Number of the HPU among all.
        hpu: u32,
    },
    /// An HPU's load or store was answered.
    Access {
        /// Number of the HPU among all.
        hpu: u32,
        /// When it was asked for, and when it was granted.
        asked: u64,
        /// When it was granted.
        granted: u64,
        /// Address.
        address: u32,
        /// What was written, and to which bytes; nothing for a load.
        written: Option<(u32, u8)>,
        /// What was read.
        read: u32,
    },
    /// An instruction left the decoder.
    Instruction {
        /// Number of the HPU among all.
        hpu: u32,
        /// Its address.
        pc: u32,
    },
}

/// What is recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recording {
    /// Everything but accesses and instructions.
    pub packets: bool,
    /// Loads and stores.
    pub accesses: bool,
    /// Instructions.
    pub instructions: bool,
}

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// Clocks of the cluster.
    pub now: u64,
    /// HERs that were taken, and feedback that was given.
    pub hers: u64,
    /// Packets that were given back.
    pub feedback: u64,
    /// Commands to send that left.
    pub sends: u64,
    /// HPUs that have asked for a task.
    pub ready: u32,
    /// Words that were stored to standard output.
    pub printed: u64,
    /// Clocks in which each HPU had a task.
    pub busy: [u64; HPUS],
    /// What is recorded, and what was.
    pub recording: Recording,
    /// What was recorded.
    pub events: Vec<Event>,
    quiet: u64,
    has_task: u32,
    asked: [Option<u64>; HPUS],
    open: [VecDeque<Open>; HPUS],
}

/// An access that was granted.
#[derive(Debug)]
struct Open {
    asked: u64,
    granted: u64,
    address: u32,
    written: Option<(u32, u8)>,
}

impl Seen {
    /// Whether all HPUs wait for packets.
    pub fn is_ready(&self) -> bool {
        self.ready.count_ones() as usize == HPUS
    }

    fn note(&mut self, wanted: bool, what: What) {
        if wanted {
            self.events.push(Event { at: self.now, what });
        }
    }
}

/// The cluster, to look at it.
#[derive(Clone, Debug)]
pub struct Watch(Rc<RefCell<Seen>>);

impl Watch {
    /// Looks at the cluster of a design from now on; the cluster's clock is selected.
    ///
    /// # Errors
    /// If the design has no such probes.
    pub fn attach(sim: &mut Simulation<Hardware>) -> Result<Self, ModelError> {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let probes = Probes::find(sim.dut.instance(), Rc::clone(&seen))?;
        sim.attach(Rc::new(RefCell::new(probes)));
        let door = Door::find(sim.dut.instance(), Rc::clone(&seen))?;
        sim.in_domain("clk").attach(Rc::new(RefCell::new(door)));
        Ok(Self(seen))
    }

    /// What was seen so far.
    pub fn seen(&self) -> Ref<'_, Seen> {
        self.0.borrow()
    }

    /// Records from now on.
    pub fn record(&self, recording: Recording) {
        self.0.borrow_mut().recording = recording;
    }

    /// What was recorded since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.borrow_mut().events)
    }
}

impl Behind for Watch {
    fn is_quiet(&self) -> bool {
        let seen = self.seen();
        seen.quiet >= QUIET_CLOCKS && seen.hers == seen.feedback
    }

    fn is_idle(&self) -> bool {
        self.is_quiet()
    }

    fn is_ready(&self) -> bool {
        self.seen().is_ready()
    }

    fn printed(&self) -> u64 {
        self.seen().printed
    }

    fn skip(&mut self, _clocks: u64) -> u64 {
        0
    }

    /// All of it is simulated clock by clock.
    fn next_clocks(&self) -> Option<u64> {
        Some(0)
    }

    fn load(&mut self, _program: &Program) -> bool {
        false
    }

    fn tells_contexts(&self) -> bool {
        false
    }

    fn shape(&self) -> [u32; 2] {
        [CLUSTERS as u32, CORES as u32]
    }
}
