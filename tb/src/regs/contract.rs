//! The contract, compared in every clock, and everything around the block.

use super::ports::{Layout, LiveInputs, Output, Seen, port};
use crate::reference::{self, Pins, Reference};
use spinneret_regmap::model::{Registers, Response};
use spinneret_regmap::{cl, events, stats};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Accesses that the block has taken and what has become of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Contract {
    /// Clocks since the reset; the block takes nothing in the first.
    age: u64,
    write_address: Option<u32>,
    write_data: Option<(u32, u8)>,
    /// The answer to a write.
    pub(super) response: Option<Response>,
    read_address: Option<u32>,
    looked: Option<(u32, Response)>,
    /// The answer to a read.
    pub(super) data: Option<(u32, Response)>,
    /// A word of standard output is taken in this clock.
    pub(super) pops: bool,
}

impl Contract {
    /// The block takes the address of a write.
    pub(super) fn write_address_ready(&self) -> bool {
        self.age > 0 && self.write_address.is_none()
    }

    /// The block takes the data of a write.
    pub(super) fn write_data_ready(&self) -> bool {
        self.age > 0 && self.write_data.is_none()
    }

    /// The block takes the address of a read.
    pub(super) fn read_address_ready(&self) -> bool {
        self.age > 0 && self.read_address.is_none()
    }

    /// The word that is inspected in this clock.
    pub(super) fn looks_at(&self) -> Option<u32> {
        self.read_address.filter(|_| self.looked.is_none())
    }

    /// Nothing is inside.
    pub(super) fn is_idle(&self) -> bool {
        let writes = self.write_address.is_none() && self.write_data.is_none() && self.response.is_none();
        let reads = self.read_address.is_none() && self.looked.is_none() && self.data.is_none();
        writes && reads && !self.pops
    }

    /// An edge of the clock, with registers that show what they do in this clock; the address of a write that it did,
    /// and the bits that were written as 1.
    pub(super) fn step(&mut self, seen: &Seen, registers: &mut Registers) -> Option<(u32, u32)> {
        let takes = [
            self.write_address_ready(),
            self.write_data_ready(),
            self.read_address_ready(),
        ];
        // Reads first: a read that looks while a write is done sees the value of before.
        self.step_read(seen, registers);
        let written = self.step_write(seen, registers);
        if takes[0] {
            self.write_address = seen.write_address;
        }
        if takes[1] {
            self.write_data = seen.write_data;
        }
        if takes[2] {
            self.read_address = seen.read_address;
        }
        self.age += 1;
        written
    }

    fn step_read(&mut self, seen: &Seen, registers: &mut Registers) {
        let looks_at = self.looks_at();
        let answered = self.data.is_some();
        if seen.data_ready {
            self.data = None;
        }
        if !answered {
            self.data = self.looked.take();
        }
        self.pops = false;
        if let Some(address) = looks_at {
            registers.offer_stdout(seen.stdout);
            self.looked = Some(registers.read(address));
            self.pops = registers.stdout() != seen.stdout;
            self.read_address = None;
        }
    }

    fn step_write(&mut self, seen: &Seen, registers: &mut Registers) -> Option<(u32, u32)> {
        let answered = self.response.is_some();
        if seen.response_ready {
            self.response = None;
        }
        let (Some(address), Some((data, strobes))) = (self.write_address, self.write_data) else {
            return None;
        };
        if answered {
            return None;
        }
        self.response = Some(registers.write(address, data, strobes));
        (self.write_address, self.write_data) = (None, None);
        let ones = |byte: u32| (data & 0xff << (8 * byte)) * u32::from(strobes >> byte & 1);
        Some((address, (0..4).map(ones).sum()))
    }
}

/// Returns whether this is the address of standard output.
pub(super) fn is_stdout(address: u32) -> bool {
    address & !3 == cl::FIFO.offset
}

/// Activity around the block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity {
    /// Chance of a clock in percent that a live input changes.
    pub live_percent: u32,
    /// Chance of a clock in percent that a word of standard output comes.
    pub stdout_percent: u32,
}

/// Drives live inputs and standard output, and compares the block with its contract; clones share one state.
#[derive(Clone, Debug)]
pub struct Environment {
    state: Rc<RefCell<State>>,
}

impl Environment {
    /// Puts the environment on the ports of the block.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, activity: Activity) -> Self {
        let layout = Layout::of::<M>();
        let dut = sim.dut.instance();
        let mut state = State {
            live: LiveInputs::find(dut, &layout),
            outputs: Output::all(dut, &layout)
                .into_iter()
                .map(|output| (output, Vec::new()))
                .collect(),
            is_extended: layout.is_extended(),
            stdout: ["stdout_dout", "stdout_data_valid"].map(|name| port(dut, name)),
            registers: layout.registers(),
            contract: Contract::default(),
            clears: false,
            cleared_lines: 0,
            activity,
            rng: sim.rng("surroundings of the registers"),
            words: VecDeque::new(),
            taken: Vec::new(),
        };
        state.expect_all();
        Self {
            state: reference::attach(sim, state),
        }
    }

    /// Puts a word into standard output.
    pub fn print(&self, word: u32) {
        self.state.borrow_mut().words.push_back(word);
    }

    /// Words of standard output that the block has taken since the last time.
    pub fn take_printed(&self) -> Vec<u32> {
        std::mem::take(&mut self.state.borrow_mut().taken)
    }

    /// Words that are still in standard output.
    pub fn printed_left(&self) -> usize {
        self.state.borrow().words.len()
    }

    /// The value of a register, as the contract has it.
    pub fn value(&self, offset: u32) -> Option<u32> {
        self.state.borrow().registers.value(offset)
    }
}

#[derive(Debug)]
struct State {
    live: LiveInputs,
    /// Outputs, and what they have to show.
    outputs: Vec<(Output, Vec<u8>)>,
    /// Whether the block has outputs that clear errors and events.
    is_extended: bool,
    /// Data and valid.
    stdout: [PortHandle; 2],
    registers: Registers,
    contract: Contract,
    /// A pulse is given in this clock.
    clears: bool,
    /// Lines of events that are cleared in this clock.
    cleared_lines: u32,
    activity: Activity,
    rng: ChaCha8Rng,
    /// Words of standard output.
    words: VecDeque<u32>,
    taken: Vec<u32>,
}

impl State {
    /// Works out what all outputs have to show.
    fn expect_all(&mut self) {
        for (output, expected) in &mut self.outputs {
            *expected = output.expected(&self.registers);
        }
    }

    fn drive_live(&mut self, dut: &mut Instance) {
        if self.rng.random_range(0..100) >= self.activity.live_percent {
            return;
        }
        let chosen = self.rng.random_range(0..self.live.all.len());
        let port = self.live.all[chosen];
        let mut bytes = vec![0; port.width().div_ceil(8)];
        self.rng.fill(&mut bytes[..]);
        if !port.width().is_multiple_of(8)
            && let Some(last) = bytes.last_mut()
        {
            *last &= (1 << (port.width() % 8)) - 1;
        }
        dut.set_bytes(port, &bytes);
    }

    fn drive_stdout(&mut self, dut: &mut Instance) {
        if self.rng.random_range(0..100) < self.activity.stdout_percent {
            self.words.push_back(self.rng.random());
        }
        // Drive a random value while there is no word.
        let word = self.words.front().copied();
        let garbage = self.rng.random();
        dut.set_value(self.stdout[0], word.unwrap_or(garbage).into());
        dut.set_high(self.stdout[1], word.is_some());
    }
}

impl Reference for State {
    fn drive(&mut self, dut: &mut Instance) {
        self.drive_live(dut);
        self.drive_stdout(dut);
    }

    fn drive_idle(&self, dut: &mut Instance) {
        dut.set_high(self.stdout[1], false);
    }

    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let contract = &self.contract;
        for (name, expected) in [
            ("s_axil_awready", contract.write_address_ready()),
            ("s_axil_wready", contract.write_data_ready()),
            ("s_axil_bvalid", contract.response.is_some()),
            ("s_axil_arready", contract.read_address_ready()),
            ("s_axil_rvalid", contract.data.is_some()),
            ("stdout_rd_en", contract.pops),
        ] {
            pins.expect(name, expected)?;
        }
        if self.is_extended {
            pins.expect("error_clear", self.clears)?;
            pins.expect("events_clear", self.cleared_lines)?;
        }
        if let Some(response) = contract.response {
            pins.expect("s_axil_bresp", response as u64)?;
        }
        if let Some((data, response)) = contract.data {
            pins.expect("s_axil_rdata", data)?;
            pins.expect("s_axil_rresp", response as u64)?;
        }
        for (output, expected) in &self.outputs {
            let found = pins.dut().bytes(output.port);
            if found != expected {
                let name = pins.dut().info(output.port).name;
                return Err(format!(
                    "{name} is {found:02x?}, not {expected:02x?}, lowest byte first"
                ));
            }
        }
        Ok(())
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let stdout = self.words.front().copied();
        if let Some(address) = self.contract.looks_at() {
            self.live.show(pins.dut(), address & !3, &mut self.registers);
            if self.contract.pops && is_stdout(address) {
                return Err(
                    "cl.fifo is looked at while its word is taken: it would be read twice".to_owned(),
                );
            }
        }
        if self.contract.pops {
            let word = self.words.pop_front();
            self.taken
                .push(word.ok_or("stdout_rd_en takes a word, and there is none")?);
        }
        let seen = Seen::of(pins, stdout);
        let pulses = self.registers.pulses(stats::ERROR_CLEAR.offset);
        let written = self.contract.step(&seen, &mut self.registers);
        self.clears = pulses != self.registers.pulses(stats::ERROR_CLEAR.offset);
        self.cleared_lines = match written {
            Some((address, ones)) if address & !3 == events::PENDING.offset => {
                ones & events::PENDING.bits.mask(0)
            }
            _ => 0,
        };
        if let Some((address, _)) = written {
            for (output, expected) in &mut self.outputs {
                if output.shows(address & !3) {
                    *expected = output.expected(&self.registers);
                }
            }
        }
        Ok(())
    }

    fn reset(&mut self) {
        // A word whose read was answered or in flight is lost; the others wait.
        if self.contract.pops {
            self.taken.extend(self.words.pop_front());
        }
        self.contract = Contract::default();
        self.clears = false;
        self.cleared_lines = 0;
        self.registers.reset();
        self.expect_all();
    }

    fn inside(&self) -> usize {
        usize::from(!self.contract.is_idle()) + self.taken.len()
    }
}
