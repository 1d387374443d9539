//! The Colorlight 5A-75B from the pins of one PHY to those of the other: its text without the PLL, with the primitives' models.

mod phy;

use crate::ethernet_bump::bench::{REFUSED, compare, difference};
use crate::ethernet_bump::full_rate;
use crate::mac::{GIANT, GOOD, NO_DELIMITER, RUNT, Symbol, gap, on_line, random_frame, random_line};
use phy::{DOWN, FAST, GIGABIT, Phy, SLOW, STEP_PS};
use spinneret_models::ColorlightBump;
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;
use std::cell::RefCell;
use std::rc::Rc;

struct Board {
    sim: Simulation<ColorlightBump>,
    phys: [Rc<RefCell<Phy>>; 2],
    /// All that came over links that are served.
    given: [Vec<Symbol>; 2],
    before: [[u64; 16]; 2],
}

impl Board {
    /// A board with PHYs whose clocks differ from 125 MHz by that many parts in 2000.
    fn new(run: &mut TestRun, offsets: [i64; 2]) -> Self {
        let step = |offset: i64| STEP_PS.saturating_add_signed(offset);
        let mut sim: Simulation<ColorlightBump> = run.simulation_with(&[
            ClockDomain::new("clk", 16_000).with_reset("rst"),
            ClockDomain::new("tx_clk", 8000),
            ClockDomain::outside("phy0", step(offsets[0])).with_phase(501),
            ClockDomain::outside("phy1", step(offsets[1])).with_phase(1703),
        ]);
        sim.set_cycle_limit(100_000_000);
        let phys = [0, 1].map(|number| {
            let phy = Rc::new(RefCell::new(Phy::new(&sim, number)));
            sim.in_domain(&format!("phy{number}")).attach(phy.clone());
            phy
        });
        sim.reset();
        sim.run_edges("clk", 100);
        let board = Self {
            sim,
            phys,
            given: Default::default(),
            before: [[0; 16]; 2],
        };
        assert_eq!(board.sim.get("led_n"), 0, "both links are up");
        for port in 0..2 {
            board.phys[port].borrow_mut().sent();
        }
        board
    }

    fn send(&mut self, port: usize, symbols: &[Symbol]) {
        self.phys[port].borrow_mut().line(symbols);
        self.given[port].extend(symbols);
    }

    fn settle(&mut self) {
        self.sim.run_edges("clk", 1000);
        while !self
            .phys
            .iter()
            .all(|phy| phy.borrow().is_done() && phy.borrow().is_quiet())
        {
            self.sim.run_edges("clk", 200);
        }
    }

    fn counters(&mut self, port: u64) -> [u64; 16] {
        std::array::from_fn(|number| {
            self.sim.set("select", 16 * port + number as u64);
            self.sim.run_edges("clk", 3);
            self.sim.get("value")
        })
    }

    /// Once all is quiet: the lost frames of both ports, and the counters.
    fn check(&mut self) -> ([[u64; 2]; 2], [[u64; 16]; 2]) {
        self.settle();
        let now = [self.counters(0), self.counters(1)];
        let counted = difference(now, std::mem::replace(&mut self.before, now));
        let sent = [0, 1].map(|port| self.phys[port].borrow_mut().sent());
        let lost = compare(std::mem::take(&mut self.given), sent, counted);
        (lost, counted)
    }
}

#[test]
fn frames_go_from_pins_to_pins_with_all_kinds_of_errors() {
    run_test(0x0001_b0a2, |run| {
        let mut rng = run.rng("lines");
        for offsets in [[0, 0], [1, -1]] {
            let mut board = Board::new(run, offsets);
            for port in 0..2 {
                let line = random_line(&mut rng, 120, 300);
                board.send(port, &line);
            }
            let (lost, counted) = board.check();
            assert_eq!(lost, [[0; 2]; 2]);
            for counters in counted {
                let events = &counters[..REFUSED];
                assert!(
                    [GOOD, RUNT, GIANT, NO_DELIMITER]
                        .iter()
                        .all(|event| events[*event] > 0)
                );
            }
            board.sim.finish();
        }
    });
}

#[test]
fn full_rate_both_ways_passes_the_pins_without_a_loss() {
    run_test(0x0002_b0a2, |run| {
        let mut rng = run.rng("frames");
        let mut board = Board::new(run, [0, 0]);
        for bytes in [64, 300, 1518] {
            for port in 0..2 {
                let line = full_rate(&mut rng, bytes, 15_000 / bytes);
                board.send(port, &line);
            }
            assert_eq!(board.check().0, [[0; 2]; 2], "{bytes} bytes");
        }
        board.sim.finish();
    });
}

#[test]
fn a_frame_of_64_bytes_takes_less_than_two_microseconds() {
    run_test(0x0003_b0a2, |run| {
        let mut board = Board::new(run, [0, 0]);
        let frame = on_line(&random_frame(&mut run.rng("frame"), 60));
        board.send(0, &frame);
        let mut first = |port: &str| {
            while board.sim.get(port) == 0 {
                board.sim.cycle();
            }
            board.sim.time_ps()
        };
        let came = first("rgmii0_rx_ctl");
        let time = first("rgmii1_tx_ctl") - came;
        println!("{time} ps from the first bit at the pins to the first bit at the pins");
        assert!(time <= 2_000_000, "{time} ps");
        assert_eq!(board.check().0, [[0; 2]; 2]);
        board.sim.finish();
    });
}

#[test]
fn a_link_that_flaps_in_a_frame_loses_that_frame_alone() {
    run_test(0x0004_b0a2, |run| {
        let mut rng = run.rng("frames");
        let mut board = Board::new(run, [0, 0]);
        for _ in 0..5 {
            let frame = on_line(&random_frame(&mut rng, 100));
            let cut = rng.random_range(9..frame.len());
            board.send(0, &frame);
            board.send(0, &gap());
            board.send(0, &frame[..cut]);
            let phy = board.phys[0].clone();
            phy.borrow_mut().link(DOWN);
            board.send(0, &gap());
            // A frame over a link that is down is refused.
            phy.borrow_mut().line(&frame);
            phy.borrow_mut().link(GIGABIT);
            board.send(0, &gap());
            board.send(0, &frame);
            board.send(0, &gap());
            let other = full_rate(&mut rng, 64, 3);
            board.send(1, &other);
            let (lost, counted) = board.check();
            assert_eq!(lost[0], [0, 0]);
            // Frames for the link while it was down are counted.
            assert_eq!(lost[1][0], 0);
            assert_eq!((counted[0][GOOD], counted[0][REFUSED]), (2, 1));
        }
        board.sim.finish();
    });
}

#[test]
fn partners_of_10_and_100_megabits_are_refused_and_counted() {
    run_test(0x0005_b0a2, |run| {
        let mut rng = run.rng("frames");
        let mut board = Board::new(run, [0, 0]);
        for state in [FAST, SLOW, DOWN] {
            let phy = board.phys[0].clone();
            phy.borrow_mut().link(state);
            phy.borrow_mut().line(&gap());
            for _ in 0..3 {
                let frame = on_line(&random_frame(&mut rng, 60));
                phy.borrow_mut().line(&frame);
                phy.borrow_mut().line(&gap());
            }
            board.settle();
            assert_eq!(board.sim.get("led_n"), 1, "a link is down");
            // Nothing goes to them either.
            let line = full_rate(&mut rng, 64, 4);
            board.send(1, &line);
            let (lost, counted) = board.check();
            assert_eq!(lost, [[0, 0], [0, 4]]);
            assert_eq!(counted[0][REFUSED], 3);
            phy.borrow_mut().link(GIGABIT);
            phy.borrow_mut().line(&gap());
            board.settle();
            board.send(0, &line);
            board.send(1, &line);
            assert_eq!(board.check().0, [[0; 2]; 2]);
        }
        board.sim.finish();
    });
}
