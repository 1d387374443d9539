//! Predictor of every packet and frame, in plain Rust.

use super::driver::Context;
use super::packets::{CONTEXTS, context, is_host_tag, message_id, tag};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Interfaces of the block: 0 is tapped, 1 passes through.
pub const INTERFACES: usize = 2;

/// A completion: the lower and the upper bits of its time stamp, and its tag.
pub type Completion = [u64; 3];

/// A packet that matched and was not seen to be done with.
#[derive(Clone, Debug)]
struct Matched {
    bytes: Vec<u8>,
    context: usize,
    bad: bool,
}

/// Predictor of every packet and frame.
#[derive(Debug)]
pub struct Reference {
    contexts: [Option<Context>; CONTEXTS],
    active: bool,
    /// Whether every good matched packet reaches the cluster: no reset, and enough room.
    pub complete: bool,
    host: HostMemory,
    /// Packets that have to reach the host, for each interface.
    to_host: [VecDeque<Frame>; INTERFACES],
    /// Frames of the host that have to reach the wire.
    to_wire: [VecDeque<Frame>; INTERFACES],
    /// Completions that have to reach the host.
    completions: [VecDeque<Completion>; INTERFACES],
    matched: VecDeque<Matched>,
    /// Words that have to be on standard output, in order.
    printed: VecDeque<u32>,
    /// Contexts that have read host memory.
    pub read: [bool; CONTEXTS],
    /// Counts since the last reset of the core.
    pub counts: Counts,
}

/// Counts since the last reset of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets into interface 0 that match nothing.
    pub bypassed: u64,
    /// Packets into interface 0 that match.
    pub matched: u64,
    /// Those of them with an error bit.
    pub bad: u64,
    /// Our frames on the wire.
    pub returned: u64,
    /// Completions of our frames that were given.
    pub completions: u64,
}

impl Reference {
    /// Nothing matches yet.
    pub fn new(host: &HostMemory) -> Self {
        Self {
            contexts: [None; CONTEXTS],
            active: false,
            complete: true,
            host: host.clone(),
            to_host: Default::default(),
            to_wire: Default::default(),
            completions: Default::default(),
            matched: VecDeque::new(),
            printed: VecDeque::new(),
            read: [false; CONTEXTS],
            counts: Counts::default(),
        }
    }

    /// The rules of all contexts are in force, and the contexts are these.
    pub fn configure(&mut self, contexts: [Option<Context>; CONTEXTS]) {
        (self.contexts, self.active) = (contexts, true);
    }

    /// The contexts.
    pub fn contexts(&self) -> &[Option<Context>; CONTEXTS] {
        &self.contexts
    }

    /// Returns whether rules are in force.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Rules are withdrawn: nothing matches.
    pub fn withdraw(&mut self) {
        self.active = false;
    }

    /// A packet comes from the wire.
    pub fn packet(&mut self, interface: usize, frame: &Frame) {
        let context = context(&frame.bytes).filter(|_| self.active && interface == 0);
        let Some(context) = context else {
            self.counts.bypassed += u64::from(interface == 0);
            self.to_host[interface].push_back(frame.clone());
            return;
        };
        let bad = frame.user & 1 == 1;
        self.counts.matched += 1;
        self.counts.bad += u64::from(bad);
        self.matched.push_back(Matched {
            bytes: frame.bytes.clone(),
            context,
            bad,
        });
    }

    /// A frame comes from the host.
    pub fn host_frame(&mut self, interface: usize, frame: &Frame) {
        self.to_wire[interface].push_back(frame.clone());
    }

    /// A packet has reached the host.
    pub fn at_host(&mut self, interface: usize, frame: &Frame) -> Result<(), String> {
        let expected = self.to_host[interface].pop_front();
        same(expected.as_ref(), frame, || {
            format!("a packet of interface {interface} at the host")
        })
    }

    /// A frame has reached the wire; whether it is one of the host's.
    pub fn at_wire(&mut self, interface: usize, frame: &Frame) -> Result<bool, String> {
        if interface != 0 || is_host_tag(tag(frame)) {
            let expected = self.to_wire[interface].pop_front();
            same(expected.as_ref(), frame, || {
                format!("a frame of the host at interface {interface}")
            })?;
            return Ok(true);
        }
        if (frame.id, frame.dest) != (0, 0) || frame.user & 1 == 1 {
            return Err(format!(
                "our frame has tid {}, tdest {} and tuser {:#x}",
                frame.id, frame.dest, frame.user
            ));
        }
        self.counts.returned += 1;
        while let Some(packet) = self.matched.pop_front() {
            let sends = self.actions(&packet).send && !packet.bad;
            if sends && packet.bytes == frame.bytes {
                self.done(&packet);
                return Ok(false);
            }
            if self.complete {
                if sends {
                    return Err(format!("our frame: {}", difference(&packet.bytes, &frame.bytes)));
                }
                self.done(&packet);
            }
        }
        Err(format!(
            "a frame of {} bytes on the wire is none of the packets that were sent",
            frame.bytes.len()
        ))
    }

    /// A completion goes into the block; one of a frame of the host has to come out.
    pub fn completion(&mut self, interface: usize, completion: Completion) {
        if interface != 0 || is_host_tag(completion[2]) {
            self.completions[interface].push_back(completion);
        } else {
            self.counts.completions += 1;
        }
    }

    /// A completion has reached the host.
    pub fn completed(&mut self, interface: usize, completion: &[u64]) -> Result<(), String> {
        let expected = self.completions[interface].pop_front();
        match expected {
            Some(expected) if expected[..] == *completion => Ok(()),
            _ => Err(format!(
                "completion {completion:x?} of interface {interface} instead of {expected:x?}"
            )),
        }
    }

    /// Frames, packets and completions that have not come out.
    pub fn outstanding(&self) -> usize {
        let frames = self.to_host.iter().chain(&self.to_wire).map(VecDeque::len);
        let completions = self.completions.iter().map(VecDeque::len);
        frames.chain(completions).sum()
    }

    /// Matched packets that were not seen to be done with.
    pub fn under_way(&self) -> usize {
        self.matched.len()
    }

    /// Matched packets whose frame was not seen, of those that send one.
    pub fn unanswered(&self) -> usize {
        let sends = |packet: &&Matched| self.actions(packet).send && !packet.bad;
        self.matched.iter().filter(sends).count()
    }

    /// Nothing is in flight any more. If all are complete, the packets that are left are done; else they were dropped.
    pub fn rest(&mut self) {
        for packet in std::mem::take(&mut self.matched) {
            if self.complete {
                self.done(&packet);
            }
        }
    }

    /// The words that have to be on standard output since the last time.
    pub fn take_printed(&mut self) -> Vec<u32> {
        self.printed.drain(..).collect()
    }

    /// The core is reset: everything is forgotten, rules and contexts as well.
    pub fn reset(&mut self) {
        *self = Self::new(&self.host);
        self.host.adopt();
    }

    fn actions(&self, packet: &Matched) -> super::Actions {
        self.contexts[packet.context].map_or_else(Default::default, |context| context.actions)
    }

    /// The cluster is done with a packet.
    fn done(&mut self, packet: &Matched) {
        let Some(context) = self.contexts[packet.context].filter(|_| !packet.bad) else {
            return;
        };
        if context.actions.copy {
            self.host.expect(context.host_address, &packet.bytes);
        }
        if context.actions.print {
            self.printed.push_back(message_id(&packet.bytes, packet.context));
        }
        self.read[packet.context] |= context.actions.read;
    }
}

/// Returns whether a frame equals the expected one in every byte and in its side band.
fn same(expected: Option<&Frame>, frame: &Frame, what: impl Fn() -> String) -> Result<(), String> {
    match expected {
        Some(expected) if expected == frame => Ok(()),
        Some(expected) if expected.bytes != frame.bytes => Err(format!(
            "{}: {}",
            what(),
            difference(&expected.bytes, &frame.bytes)
        )),
        Some(expected) => Err(format!(
            "{}: tid {}, tdest {}, tuser {:#x} instead of {}, {}, {:#x}",
            what(),
            frame.id,
            frame.dest,
            frame.user,
            expected.id,
            expected.dest,
            expected.user
        )),
        None => Err(format!(
            "unexpected {}: {} bytes, {:02x?} first",
            what(),
            frame.bytes.len(),
            &frame.bytes[..frame.bytes.len().min(4)]
        )),
    }
}

/// `64 bytes instead of 65`, or the first byte that differs.
fn difference(expected: &[u8], found: &[u8]) -> String {
    let mut pairs = expected.iter().zip(found).enumerate();
    match pairs.find(|(_, (expected, found))| expected != found) {
        Some((number, (wanted, is))) => format!(
            "byte {number} is {is:#04x}, not {wanted:#04x}; {} bytes, expected {}",
            found.len(),
            expected.len()
        ),
        None => format!("{} bytes instead of {}", found.len(), expected.len()),
    }
}
