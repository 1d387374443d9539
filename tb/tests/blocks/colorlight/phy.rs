//! A PHY at the pins of RGMII: four bits at each edge, the state of the link between frames, its clock in the middle of the bits.

use crate::mac::{QUIET, Symbol};
use spinneret_models::ColorlightBump;
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Time of a step, in picoseconds: a quarter of a clock at 1 Gb/s.
pub(super) const STEP_PS: u64 = 2000;
/// State of a link at 1 Gb/s with full duplex: {duplex, speed (2), up}.
pub(super) const GIGABIT: u8 = 0b1101;
/// States of links at 100 and 10 Mb/s, and of none.
pub(super) const FAST: u8 = 0b1011;
pub(super) const SLOW: u8 = 0b1001;
pub(super) const DOWN: u8 = 0b1100;

/// Next step of a PHY's script.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// A clock of the line.
    Symbol(Symbol),
    /// The link changes, and the clock with it.
    State(u8),
}

/// A PHY, which is stepped every [`STEP_PS`].
#[derive(Debug)]
pub(super) struct Phy {
    rxc: PortHandle,
    rx_ctl: PortHandle,
    rxd: PortHandle,
    txc: PortHandle,
    tx_ctl: PortHandle,
    txd: PortHandle,
    items: VecDeque<Item>,
    state: u8,
    /// Steps since the last quarter of a clock, and the quarter.
    step: u64,
    quarter: u64,
    symbol: Symbol,
    /// At 10 and 100 Mb/s: the second clock of the symbol comes.
    is_second: bool,
    /// Level of `txc` a step ago. Bits are taken up to a step after its edges, as the PHY delays the clock.
    level: bool,
    low: (u8, bool),
    /// All that was sent to the PHY.
    sent: Vec<Symbol>,
}

impl Phy {
    pub(super) fn new(sim: &Simulation<ColorlightBump>, number: usize) -> Self {
        let port = |name: &str, direction| {
            let port = sim
                .dut
                .instance()
                .port(&format!("rgmii{number}_{name}"), direction);
            port.unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            rxc: port("rxc", Direction::Input),
            rx_ctl: port("rx_ctl", Direction::Input),
            rxd: port("rxd", Direction::Input),
            txc: port("txc", Direction::Output),
            tx_ctl: port("tx_ctl", Direction::Output),
            txd: port("txd", Direction::Output),
            items: VecDeque::new(),
            state: GIGABIT,
            step: 0,
            quarter: 0,
            symbol: QUIET,
            is_second: false,
            level: false,
            low: (0, false),
            sent: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, symbols: &[Symbol]) {
        self.items.extend(symbols.iter().copied().map(Item::Symbol));
    }

    /// The link changes after everything that is to come.
    pub(super) fn link(&mut self, state: u8) {
        self.items.push_back(Item::State(state));
    }

    pub(super) fn is_done(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn sent(&mut self) -> Vec<Symbol> {
        std::mem::take(&mut self.sent)
    }

    pub(super) fn is_quiet(&self) -> bool {
        let last = self.sent.len().saturating_sub(2000);
        self.sent.len() >= 2000 && self.sent[last..].iter().all(|symbol| !symbol.valid)
    }

    /// Steps of a quarter of a clock.
    fn steps(&self) -> u64 {
        match self.state {
            FAST => 5,
            SLOW => 50,
            _ => 1,
        }
    }

    fn next_symbol(&mut self) {
        let halves = matches!(self.state, FAST | SLOW);
        self.is_second = halves && !self.is_second;
        if halves && !self.is_second {
            return;
        }
        while let Some(Item::State(state)) = self.items.front() {
            self.state = *state;
            self.items.pop_front();
        }
        self.symbol = match self.items.pop_front() {
            Some(Item::Symbol(symbol)) => symbol,
            _ => QUIET,
        };
    }

    fn put(&self, dut: &mut Instance, is_rise: bool) {
        let Symbol { data, valid, error } = self.symbol;
        let nibble = match (valid || error, matches!(self.state, FAST | SLOW)) {
            (false, _) => self.state,
            (true, true) if self.is_second => data & 15,
            (true, false) if is_rise => data & 15,
            (true, _) => data >> 4,
        };
        dut.set_value(self.rxd, nibble.into());
        dut.set_high(self.rx_ctl, if is_rise { valid } else { valid != error });
    }
}

impl Agent for Phy {
    fn drive(&mut self, dut: &mut Instance) {
        if self.step == 0 {
            match self.quarter {
                0 => {
                    self.next_symbol();
                    self.put(dut, true);
                }
                1 => dut.set_high(self.rxc, true),
                2 => self.put(dut, false),
                _ => dut.set_high(self.rxc, false),
            }
            self.quarter = (self.quarter + 1) % 4;
        }
        self.step = (self.step + 1) % self.steps();
    }

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let (txd, control) = (dut.value(self.txd) as u8, dut.is_high(self.tx_ctl));
        let level = dut.is_high(self.txc);
        if level && !self.level {
            self.low = (txd, control);
        } else if self.level && !level {
            let (low, valid) = self.low;
            self.sent.push(Symbol {
                data: txd << 4 | low,
                valid,
                error: valid != control,
            });
        }
        self.level = level;
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn unfinished(&self) -> Option<String> {
        (!self.is_done()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("a PHY with {} clocks to come", self.items.len())
    }
}
