//! The segmented RAM: its driver, and its contract in plain Rust, compared in every cycle.

use crate::bench::Parameters;
use crate::reference::{self, Pins, Reference};
use spinneret_sim::prelude::*;
use spinneret_sim::stream::Pauses;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Reads that fit into a segment.
pub const CAPACITY: usize = 3;

/// Sizes of a RAM under test.
#[derive(Clone, Copy, Debug)]
pub struct RamSizes {
    /// Segments side by side.
    pub segments: usize,
    /// Bytes of a segment's line.
    pub bytes: usize,
    /// Lines of a segment.
    pub lines: u64,
    /// Width of a segment's address in bits.
    pub address: usize,
}

/// A write to one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Line, with any bits above the size.
    pub addr: u64,
    /// Bit n: byte n is written.
    pub be: u128,
    /// The line's bytes.
    pub data: Vec<u8>,
}

/// A line that came out of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The line's bytes; those that were never written are 0.
    pub line: Vec<u8>,
    /// Cycle in which it was taken.
    pub cycle: u64,
}

/// Pauses of a segment's buses.
#[derive(Clone, Debug)]
pub struct RamPauses {
    /// Writes.
    pub write: Pause,
    /// Reads.
    pub read: Pause,
    /// Ready of responses.
    pub response: Pause,
}

/// Drives a RAM and compares it with its contract; clones share one state.
#[derive(Clone, Debug)]
pub struct RamDriver {
    state: Rc<RefCell<State>>,
}

impl RamDriver {
    /// Puts a driver on the ports of a RAM; the model's memory is undefined, as the RAM's is.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, pauses: &RamPauses) -> Self {
        let sizes = RamSizes::of::<M>();
        let widths = [
            sizes.bytes,
            sizes.address,
            8 * sizes.bytes,
            1,
            sizes.address,
            1,
            1,
        ];
        for (name, width) in INPUTS.iter().zip(widths) {
            let found = port(sim.dut.instance(), name).width();
            assert_eq!(found, sizes.segments * width, "width of {name}");
        }
        let segment = |number: usize| {
            let pauses_of = |what: &str, pause: &Pause| {
                Pauses::new(pause.clone(), sim.rng(&format!("pauses of {what} {number}")))
            };
            Segment {
                write_pauses: pauses_of("writes", &pauses.write),
                read_pauses: pauses_of("reads", &pauses.read),
                response_pauses: pauses_of("responses", &pauses.response),
                memory: vec![vec![None; sizes.bytes]; sizes.lines as usize],
                ..Segment::default()
            }
        };
        let state = State {
            segments: (0..sizes.segments).map(segment).collect(),
            sizes,
        };
        Self {
            state: reference::attach(sim, state),
        }
    }

    /// Queues a write to a segment.
    pub fn write(&self, segment: usize, write: Write) {
        self.state.borrow_mut().segments[segment].writes.push_back(write);
    }

    /// Queues a read of a segment.
    pub fn read(&self, segment: usize, addr: u64) {
        self.state.borrow_mut().segments[segment].reads.push_back(addr);
    }

    /// All responses of a segment since the last time.
    pub fn responses(&self, segment: usize) -> Vec<Response> {
        self.state.borrow_mut().segments[segment]
            .received
            .drain(..)
            .collect()
    }

    /// Cycles in which a segment said that a write is done, since the last time.
    pub fn dones(&self, segment: usize) -> Vec<u64> {
        std::mem::take(&mut self.state.borrow_mut().segments[segment].dones)
    }

    /// Cycles in which a segment took a read, since the last time.
    pub fn reads_taken(&self, segment: usize) -> Vec<u64> {
        std::mem::take(&mut self.state.borrow_mut().segments[segment].reads_taken)
    }

    /// Cycles in which a segment took a write, since the last time.
    pub fn writes_taken(&self, segment: usize) -> Vec<u64> {
        std::mem::take(&mut self.state.borrow_mut().segments[segment].writes_taken)
    }

    /// Changes the pauses of responses of one segment.
    pub fn set_response_pause(&self, segment: usize, pause: Pause) {
        self.state.borrow_mut().segments[segment]
            .response_pauses
            .set(pause);
    }

    /// Returns whether all commands are taken and all responses have left.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().segments.iter().all(Segment::is_idle)
    }

    /// Writes every line of every segment with random bytes.
    pub fn fill(&self, rng: &mut ChaCha8Rng) {
        let sizes = self.state.borrow().sizes;
        for segment in 0..sizes.segments {
            for addr in 0..sizes.lines {
                self.write(segment, sizes.random_write(rng, addr, true));
            }
        }
    }
}

impl RamSizes {
    /// The sizes of a model.
    ///
    /// # Panics
    /// If the model is no segmented RAM.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let [segments, bytes] = [("ram_seg_count", 1), ("ram_seg_data_width", 8)]
            .map(|(name, unit)| parameters.get(name) as usize / unit);
        Self {
            segments,
            bytes,
            lines: parameters.get("size") / (segments * bytes) as u64,
            address: parameters.get("ram_addr_width") as usize - (segments * bytes).ilog2() as usize,
        }
    }

    /// A write of random bytes, of all of them or of random ones.
    pub fn random_write(&self, rng: &mut ChaCha8Rng, addr: u64, all: bool) -> Write {
        let mask = u128::MAX >> (128 - self.bytes);
        let be = if all { u128::MAX } else { rng.random::<u128>() };
        let data = (0..self.bytes).map(|_| rng.random()).collect();
        Write {
            addr,
            be: be & mask,
            data,
        }
    }

    /// An address with random bits above the size.
    pub fn random_addr(&self, rng: &mut ChaCha8Rng, line: u64) -> u64 {
        let places = 1 << self.address;
        line + self.lines * rng.random_range(0..places / self.lines)
    }
}

/// A read that is inside.
#[derive(Debug)]
struct Inside {
    taken: u64,
    addr: u64,
    line: Option<Vec<Option<u8>>>,
}

#[derive(Debug)]
struct Segment {
    writes: VecDeque<Write>,
    reads: VecDeque<u64>,
    write_on_bus: bool,
    read_on_bus: bool,
    write_pauses: Pauses,
    read_pauses: Pauses,
    response_pauses: Pauses,
    transfers: u64,
    received: VecDeque<Response>,
    dones: Vec<u64>,
    reads_taken: Vec<u64>,
    writes_taken: Vec<u64>,
    /// The contract: bytes that were written, reads inside, whether the last cycle took a write, the cycle in
    /// which the last response left, and cycles since reset.
    memory: Vec<Vec<Option<u8>>>,
    inside: VecDeque<Inside>,
    wrote: bool,
    left: Option<u64>,
    age: u64,
}

impl Default for Segment {
    fn default() -> Self {
        let never = || Pauses::new(Pause::Never, Seed(0).rng(""));
        Self {
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            write_on_bus: false,
            read_on_bus: false,
            write_pauses: never(),
            read_pauses: never(),
            response_pauses: never(),
            transfers: 0,
            received: VecDeque::new(),
            dones: Vec::new(),
            reads_taken: Vec::new(),
            writes_taken: Vec::new(),
            memory: Vec::new(),
            inside: VecDeque::new(),
            wrote: false,
            left: None,
            age: 0,
        }
    }
}

impl Segment {
    fn is_idle(&self) -> bool {
        self.writes.is_empty() && self.reads.is_empty() && self.inside.is_empty() && !self.wrote
    }

    /// Expected outputs in this cycle: write ready, done, read ready, response valid.
    fn expected(&self, cycle: u64) -> [bool; 4] {
        let open = self.age > 0;
        let first = self.inside.front();
        let shows =
            first.is_some_and(|first| cycle >= first.taken + 2 && self.left.is_none_or(|left| cycle > left));
        [open, self.wrote, open && self.inside.len() < CAPACITY, shows]
    }

    /// The rising edge: responses leave, commands come in, the two first of those inside are read, then written.
    fn step(&mut self, cycle: u64, fired: Fired) {
        if fired.response {
            self.left = Some(cycle);
            if let Some(line) = self.inside.pop_front().and_then(|first| first.line) {
                let line = line.into_iter().map(|byte| byte.unwrap_or(0)).collect();
                self.received.push_back(Response { line, cycle });
            }
        }
        if fired.read {
            self.read_on_bus = false;
            self.reads_taken.push(cycle);
            let addr = self.reads.pop_front().unwrap_or_default();
            self.inside.push_back(Inside {
                taken: cycle,
                addr,
                line: None,
            });
        }
        let lines = self.memory.len() as u64;
        for inside in self
            .inside
            .iter_mut()
            .take(2)
            .filter(|inside| inside.line.is_none())
        {
            inside.line = Some(self.memory[(inside.addr % lines) as usize].clone());
        }
        if fired.write {
            self.write_on_bus = false;
            self.writes_taken.push(cycle);
            if let Some(write) = self.writes.pop_front() {
                let line = &mut self.memory[(write.addr % lines) as usize];
                for (byte, value) in write.data.into_iter().enumerate() {
                    if write.be >> byte & 1 == 1 {
                        line[byte] = Some(value);
                    }
                }
            }
        }
        self.wrote = fired.write;
        self.transfers += u64::from(fired.write) + u64::from(fired.read) + u64::from(fired.response);
        self.age += 1;
    }
}

/// Transfers in a cycle.
#[derive(Clone, Copy, Debug)]
struct Fired {
    write: bool,
    read: bool,
    response: bool,
}

#[derive(Debug)]
struct State {
    segments: Vec<Segment>,
    sizes: RamSizes,
}

impl State {
    /// Compares the outputs of one segment, and says what is transferred.
    fn check_segment(&self, dut: &Instance, number: usize, cycle: u64) -> Result<Fired, String> {
        let segment = &self.segments[number];
        let expected = segment.expected(cycle);
        for (name, expected) in OUTPUTS.into_iter().zip(expected) {
            if bit(dut, name, number) != expected {
                return Err(format!(
                    "{name} of segment {number} is {}, not {expected}",
                    !expected
                ));
            }
        }
        let [write_ready, _, read_ready, shows] = expected;
        if shows {
            let bytes = self.sizes.bytes;
            let line = &dut.bytes(port(dut, "ram_rd_resp_data"))[number * bytes..][..bytes];
            let known = segment
                .inside
                .front()
                .and_then(|first| first.line.as_deref())
                .unwrap_or(&[]);
            let wrong = known
                .iter()
                .zip(line)
                .position(|(known, found)| known.is_some_and(|known| known != *found));
            if let Some(byte) = wrong {
                return Err(format!(
                    "segment {number} gives {:#04x} in byte {byte}, where the reference model has {:?}",
                    line[byte], known[byte]
                ));
            }
        }
        Ok(Fired {
            write: segment.write_on_bus && write_ready,
            read: segment.read_on_bus && read_ready,
            response: shows && bit(dut, "ram_rd_resp_ready", number),
        })
    }
}

impl Reference for State {
    fn drive(&mut self, dut: &mut Instance) {
        let sizes = self.sizes;
        let mut packed = INPUTS.map(|name| Packed::new(port(dut, name)));
        let [
            be,
            write_addr,
            data,
            write_valid,
            read_addr,
            read_valid,
            response_ready,
        ] = &mut packed;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            let (write_pause, read_pause) = (
                segment.write_pauses.next(segment.transfers),
                segment.read_pauses.next(segment.transfers),
            );
            segment.write_on_bus |= !segment.writes.is_empty() && !write_pause;
            segment.read_on_bus |= !segment.reads.is_empty() && !read_pause;
            if let Some(write) = segment.writes.front().filter(|_| segment.write_on_bus) {
                be.put(number, sizes.bytes, &write.be.to_le_bytes());
                write_addr.put(number, sizes.address, &write.addr.to_le_bytes());
                data.put(number, 8 * sizes.bytes, &write.data);
                write_valid.put(number, 1, &[1]);
            }
            if let Some(addr) = segment.reads.front().filter(|_| segment.read_on_bus) {
                read_addr.put(number, sizes.address, &addr.to_le_bytes());
                read_valid.put(number, 1, &[1]);
            }
            let ready = !segment.response_pauses.next(segment.transfers);
            response_ready.put(number, 1, &[u8::from(ready)]);
        }
        packed.iter().for_each(|packed| packed.drive(dut));
    }

    fn drive_idle(&self, dut: &mut Instance) {
        for name in ["ram_wr_cmd_valid", "ram_rd_cmd_valid", "ram_rd_resp_ready"] {
            dut.set_value(port(dut, name), 0);
        }
    }

    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        OUTPUTS.iter().try_for_each(|name| pins.expect(name, 0_u64))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let (dut, cycle) = (pins.dut(), pins.cycle());
        for number in 0..self.segments.len() {
            let fired = self.check_segment(dut, number, cycle)?;
            if bit(dut, "ram_wr_done", number) {
                self.segments[number].dones.push(cycle);
            }
            self.segments[number].step(cycle, fired);
        }
        Ok(())
    }

    fn reset(&mut self) {
        for segment in &mut self.segments {
            segment.inside.clear();
            segment.wrote = false;
            segment.age = 0;
            segment.write_on_bus = false;
            segment.read_on_bus = false;
        }
    }

    fn inside(&self) -> usize {
        let left = |segment: &Segment| usize::from(!segment.is_idle()) + segment.received.len();
        self.segments.iter().map(left).sum()
    }
}

/// Inputs, in the order in which they are driven: enables, address, data and valid of writes, address and valid of reads,
/// ready of responses.
const INPUTS: [&str; 7] = [
    "ram_wr_cmd_be",
    "ram_wr_cmd_addr",
    "ram_wr_cmd_data",
    "ram_wr_cmd_valid",
    "ram_rd_cmd_addr",
    "ram_rd_cmd_valid",
    "ram_rd_resp_ready",
];

/// Outputs of one bit for each segment, in the order of [`Segment::expected`].
const OUTPUTS: [&str; 4] = [
    "ram_wr_cmd_ready",
    "ram_wr_done",
    "ram_rd_cmd_ready",
    "ram_rd_resp_valid",
];

fn port(dut: &Instance, name: &str) -> PortHandle {
    dut.find(name)
        .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()))
}

/// Returns whether a segment's bit of a port is high.
fn bit(dut: &Instance, name: &str, number: usize) -> bool {
    dut.bytes(port(dut, name))[number / 8] >> (number % 8) & 1 == 1
}

/// The value of an input that carries all segments side by side.
struct Packed {
    port: PortHandle,
    bytes: Vec<u8>,
}

impl Packed {
    fn new(port: PortHandle) -> Self {
        Self {
            port,
            bytes: vec![0; port.width().div_ceil(8)],
        }
    }

    /// Sets the field of a segment.
    fn put(&mut self, number: usize, width: usize, value: &[u8]) {
        for from in (0..width).filter(|from| value[from / 8] >> (from % 8) & 1 == 1) {
            let to = number * width + from;
            self.bytes[to / 8] |= 1 << (to % 8);
        }
    }

    fn drive(&self, dut: &mut Instance) {
        dut.set_bytes(self.port, &self.bytes);
    }
}
