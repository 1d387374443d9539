//! The lines of both ports, with their clocks, and the reading of what comes out.

use crate::mac::{GOOD, Given, QUIET, Symbol, expected, gap};
use spinneret_models::EthernetBump;
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Counters after those of the receiver's events.
pub(crate) const REFUSED: usize = 7;
pub(super) const NO_ROOM: usize = 8;
pub(super) const NO_LINK: usize = 9;
pub(crate) const SENT: usize = 10;
pub(super) const UNDERRUN: usize = 11;

/// Periods of the clocks in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    pub(super) rx: [u64; 2],
    pub(super) tx: u64,
    pub(super) system: u64,
    pub(super) phase: u64,
    pub(super) jitter: u64,
}

/// 125 MHz, and 62.5 MHz for the system.
pub(super) const NOMINAL: Clocks = Clocks {
    rx: [8000; 2],
    tx: 8000,
    system: 16_000,
    phase: 1234,
    jitter: 0,
};

/// Drives the line that a port receives.
#[derive(Debug)]
struct Line {
    ports: [PortHandle; 3],
    symbols: VecDeque<Symbol>,
}

impl Agent for Line {
    fn drive(&mut self, dut: &mut Instance) {
        let symbol = self.symbols.pop_front().unwrap_or(QUIET);
        let [data, valid, error] = self.ports;
        dut.set_value(data, symbol.data.into());
        dut.set_high(valid, symbol.valid);
        dut.set_high(error, symbol.error);
    }

    fn sample(&mut self, _: &Instance, _: u64) -> Result<(), Violation> {
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn unfinished(&self) -> Option<String> {
        (!self.symbols.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("a line with {} clocks to come", self.symbols.len())
    }
}

/// Reads the line that a port sends.
#[derive(Debug)]
struct Tap {
    ports: [PortHandle; 3],
    symbols: Vec<Symbol>,
}

impl Agent for Tap {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let [data, valid, error] = self.ports;
        self.symbols.push(Symbol {
            data: dut.value(data) as u8,
            valid: dut.is_high(valid),
            error: dut.is_high(error),
        });
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn describe(&self) -> String {
        "a tap".to_owned()
    }
}

pub(super) struct Bench {
    pub(super) sim: Simulation<EthernetBump>,
    lines: [Rc<RefCell<Line>>; 2],
    taps: [Rc<RefCell<Tap>>; 2],
    /// All that was on the lines of the ports since the last check.
    given: [Vec<Symbol>; 2],
    /// Counters at the last check.
    before: [[u64; 16]; 2],
}

impl Bench {
    pub(super) fn new(run: &mut TestRun, clocks: Clocks) -> Self {
        let clock = |name: &str, period, turn| {
            ClockDomain::new(name, period)
                .with_phase(turn * clocks.phase)
                .with_jitter(clocks.jitter)
        };
        let mut sim: Simulation<EthernetBump> = run.simulation_with(&[
            clock("clk", clocks.system, 0).with_reset("rst"),
            clock("tx_clk", clocks.tx, 1),
            clock("rx0_clk", clocks.rx[0], 2),
            clock("rx1_clk", clocks.rx[1], 3),
        ]);
        sim.set_cycle_limit(20_000_000);
        let ports = |sim: &Simulation<EthernetBump>, prefix: &str, direction| {
            ["d", "valid", "error"].map(|name| {
                let port = sim.dut.instance().port(&format!("{prefix}_{name}"), direction);
                port.unwrap_or_else(|error| panic!("{error}"))
            })
        };
        let lines = ["rx0", "rx1"].map(|prefix| {
            let line = Rc::new(RefCell::new(Line {
                ports: ports(&sim, prefix, Direction::Input),
                symbols: VecDeque::new(),
            }));
            sim.in_domain(&format!("{prefix}_clk")).attach(line.clone());
            line
        });
        let taps = ["tx0", "tx1"].map(|prefix| {
            let tap = Rc::new(RefCell::new(Tap {
                ports: ports(&sim, prefix, Direction::Output),
                symbols: Vec::new(),
            }));
            sim.in_domain("tx_clk").attach(tap.clone());
            tap
        });
        let mut bench = Self {
            sim,
            lines,
            taps,
            given: Default::default(),
            before: [[0; 16]; 2],
        };
        bench.link([true, true]);
        bench.sim.reset();
        bench.sim.run_edges("clk", 60);
        bench
    }

    pub(super) fn link(&mut self, up: [bool; 2]) {
        for (port, up) in ["link0_up", "link1_up"].into_iter().zip(up) {
            self.sim.set(port, up);
        }
    }

    /// Puts that onto the line of a port, after what is there.
    pub(super) fn send(&mut self, port: usize, symbols: &[Symbol]) {
        self.lines[port].borrow_mut().symbols.extend(symbols);
        self.given[port].extend(symbols);
    }

    /// Runs until nothing comes and nothing leaves for 2000 clocks.
    pub(super) fn settle(&mut self) {
        let is_quiet = |symbols: &[Symbol]| {
            symbols.len() >= 2000 && symbols[symbols.len() - 2000..].iter().all(|symbol| !symbol.valid)
        };
        while self.lines.iter().any(|line| !line.borrow().symbols.is_empty()) {
            self.sim.run_edges("tx_clk", 500);
        }
        self.sim.run_edges("tx_clk", 2000);
        while !self.taps.iter().all(|tap| is_quiet(&tap.borrow().symbols)) {
            self.sim.run_edges("tx_clk", 500);
        }
    }

    pub(super) fn counters(&mut self, port: u64) -> [u64; 16] {
        std::array::from_fn(|number| {
            self.sim.set("select", 16 * port + number as u64);
            self.sim.run_edges("clk", 3);
            self.sim.get("value")
        })
    }

    /// A copy of what a port has sent since the last check.
    pub(super) fn so_far(&self, port: usize) -> Vec<Symbol> {
        self.taps[port].borrow().symbols.clone()
    }

    /// Takes all that a port has sent since the last check.
    pub(super) fn sent(&mut self, port: usize) -> Vec<Symbol> {
        std::mem::take(&mut self.taps[port].borrow_mut().symbols)
    }

    /// Once all is quiet: what was lost, as [`compare`] says.
    pub(super) fn check(&mut self) -> [[u64; 2]; 2] {
        self.settle();
        let now = [self.counters(0), self.counters(1)];
        let before = std::mem::replace(&mut self.before, now);
        let sent = [self.sent(0), self.sent(1)];
        compare(std::mem::take(&mut self.given), sent, difference(now, before))
    }

    /// Forgets the traffic so far, and reads the counters as those to count from.
    pub(super) fn restart(&mut self) {
        self.given = Default::default();
        for port in 0..2 {
            self.sent(port);
        }
        self.before = [self.counters(0), self.counters(1)];
    }

    pub(super) fn finish(mut self) {
        let _ = self.check();
        self.sim.finish();
    }
}

/// Events between two readings of the counters.
pub(crate) fn difference(now: [[u64; 16]; 2], before: [[u64; 16]; 2]) -> [[u64; 16]; 2] {
    std::array::from_fn(|port| std::array::from_fn(|at| now[port][at] - before[port][at]))
}

/// Checks that all good frames of each port have left the other one, whole and in order, or are in the counters. Returns the lost ones of
/// each port: {no room, no link}.
pub(crate) fn compare(
    given: [Vec<Symbol>; 2],
    sent: [Vec<Symbol>; 2],
    counted: [[u64; 16]; 2],
) -> [[u64; 2]; 2] {
    let mut lost = [[0; 2]; 2];
    for (port, mut given) in given.into_iter().enumerate() {
        given.extend(gap());
        let Given { frames, events, .. } = expected(&given);
        assert_eq!(counted[port][..REFUSED], events, "events of port {port}");
        assert_eq!(counted[port][UNDERRUN + 1..], [0; 4]);
        let good: Vec<Vec<u8>> = frames
            .into_iter()
            .filter_map(|(frame, is_wrong)| (!is_wrong).then_some(frame))
            .collect();
        let Given { frames, events, .. } = expected(&sent[1 - port]);
        let all: u64 = events.iter().sum();
        assert_eq!(all, events[GOOD], "only good frames leave port {}", 1 - port);
        let left = counted[1 - port];
        assert_eq!((left[SENT], left[UNDERRUN]), (events[GOOD], 0));
        lost[port] = [counted[port][NO_ROOM], counted[port][NO_LINK]];
        let total: u64 = lost[port].iter().sum();
        assert_eq!(good.len() as u64, events[GOOD] + total, "frames of port {port}");
        let mut rest = good.into_iter();
        for (frame, _) in frames {
            assert!(
                rest.any(|other| other == frame),
                "port {} made a frame up or changed the order",
                1 - port
            );
        }
    }
    lost
}
