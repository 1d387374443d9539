//! `LinkReset`, alone and with queues in both directions: order of the resets, and that no side ever sees what the
//! other did not send.

use crate::{Clocks, FIXED};
use spinneret_models::{LinkReset, LinkedFifos};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

fn is_high<M: Model>(sim: &Simulation<M>, port: &str) -> bool {
    sim.dut.get(port).unwrap_or_else(|error| panic!("{error}")) != 0_u8.into()
}

fn set<M: Model>(sim: &mut Simulation<M>, port: &str, high: bool) {
    sim.dut
        .set(port, u8::from(high))
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Runs until an output has that level, and returns the edges of both clocks that it took.
fn wait(sim: &mut Simulation<LinkReset>, port: &str, level: bool) -> [u64; 2] {
    let edges = |sim: &Simulation<LinkReset>| [sim.edges("near_clk"), sim.edges("far_clk")];
    let start = edges(sim);
    while is_high(sim, port) != level {
        sim.cycle();
    }
    let end = edges(sim);
    [end[0] - start[0], end[1] - start[1]]
}

fn link(run: &mut TestRun, clocks: Clocks) -> Simulation<LinkReset> {
    let mut sim: Simulation<LinkReset> = run.simulation_with(&clocks.free("near", "far"));
    sim.set_cycle_limit(200_000);
    sim.dut.eval();
    assert!(
        is_high(&sim, "near_link_rst") && is_high(&sim, "far_rst"),
        "both are in reset at power-up"
    );
    wait(&mut sim, "near_link_rst", false);
    sim
}

#[test]
fn resets_come_and_go_in_the_promised_clocks() {
    run_test(1, |run| {
        for reason in ["request", "near_rst"] {
            for clocks in Clocks::all(&mut run.rng("clocks")) {
                let mut sim = link(run, clocks);
                sim.run_edges("near_clk", 3);
                set(&mut sim, reason, true);
                assert_eq!(wait(&mut sim, "near_link_rst", true)[0], 1, "{clocks:?}");
                assert_eq!(wait(&mut sim, "far_rst", true)[1], 3, "{clocks:?}");
                sim.run_edges("far_clk", 40);
                sim.run_edges("near_clk", 40);
                set(&mut sim, reason, false);
                sim.run_edges("near_clk", 1);
                assert_eq!(wait(&mut sim, "far_rst", false)[1], 5, "{clocks:?}");
                assert!(is_high(&sim, "near_link_rst") && is_high(&sim, "held"));
                sim.run_edges("far_clk", 2);
                assert_eq!(wait(&mut sim, "near_link_rst", false)[0], 5, "{clocks:?}");
                assert!(!is_high(&sim, "held"));
            }
        }
    });
}

#[test]
fn a_request_of_one_clock_resets_both_sides() {
    run_test(1, |run| {
        for clocks in FIXED {
            let mut sim = link(run, clocks);
            set(&mut sim, "request", true);
            sim.run_edges("near_clk", 1);
            set(&mut sim, "request", false);
            wait(&mut sim, "far_rst", true);
            wait(&mut sim, "far_rst", false);
            wait(&mut sim, "near_link_rst", false);
        }
    });
}

/// A request of one clock at every moment of the end of another one resets the far side again.
#[test]
fn no_request_is_lost_at_the_end_of_another() {
    run_test(1, |run| {
        for clocks in FIXED {
            for delay in 0..60 {
                let mut sim = link(run, clocks);
                set(&mut sim, "request", true);
                wait(&mut sim, "far_rst", true);
                sim.run_edges("far_clk", 20);
                sim.run_edges("near_clk", 20);
                set(&mut sim, "request", false);
                sim.run_edges("near_clk", 1 + delay);
                let falling = !is_high(&sim, "far_rst");
                set(&mut sim, "request", true);
                sim.run_edges("near_clk", 1);
                set(&mut sim, "request", false);
                if falling {
                    wait(&mut sim, "far_rst", true);
                }
                wait(&mut sim, "far_rst", false);
                // The far side may have heard of the end already: then it is asked once more.
                let mut again = false;
                while is_high(&sim, "near_link_rst") {
                    sim.cycle();
                    again |= is_high(&sim, "far_rst");
                }
                assert!(falling || again || delay == 0, "{clocks:?}, {delay}");
            }
        }
    });
}

#[test]
fn waits_for_a_far_clock_that_stands() {
    run_test(1, |run| {
        for clocks in FIXED {
            let mut sim = link(run, clocks);
            sim.set_running("far_clk", false);
            set(&mut sim, "request", true);
            sim.run_edges("near_clk", 5);
            set(&mut sim, "request", false);
            for _ in 0..500 {
                sim.cycle();
                assert!(is_high(&sim, "near_link_rst") && !is_high(&sim, "far_rst"));
            }
            sim.set_running("far_clk", true);
            wait(&mut sim, "far_rst", true);
            wait(&mut sim, "near_link_rst", false);
            assert!(!is_high(&sim, "far_rst"));
        }
    });
}

/// Transfers in flight in each direction.
#[derive(Debug, Default)]
struct Board {
    there: VecDeque<u64>,
    back: VecDeque<u64>,
    next: u64,
    arrived: [u64; 2],
    lost: usize,
}

/// One side: sends numbers and receives those of the other, unless it is in reset.
#[derive(Debug)]
struct Side {
    near: bool,
    data: PortHandle,
    valid: PortHandle,
    ready: PortHandle,
    received: PortHandle,
    received_valid: PortHandle,
    received_ready: PortHandle,
    resets: [PortHandle; 2],
    board: Rc<RefCell<Board>>,
    rng: ChaCha8Rng,
    offered: Option<u64>,
    sends: Rc<RefCell<bool>>,
}

impl Side {
    fn new(
        sim: &Simulation<LinkedFifos>,
        near: bool,
        board: &Rc<RefCell<Board>>,
        sends: &Rc<RefCell<bool>>,
    ) -> Self {
        let side = if near { "near" } else { "far" };
        let dut = sim.dut.instance();
        let port = |name: &str, direction| {
            dut.port(&format!("{side}_{name}"), direction)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            near,
            data: port("s_data", Direction::Input),
            valid: port("s_valid", Direction::Input),
            ready: port("s_ready", Direction::Output),
            received: port("m_data", Direction::Output),
            received_valid: port("m_valid", Direction::Output),
            received_ready: port("m_ready", Direction::Input),
            resets: ["near_link_rst", "far_rst"].map(|name| dut.find(name).expect("a reset")),
            board: Rc::clone(board),
            rng: sim.rng(side),
            offered: None,
            sends: Rc::clone(sends),
        }
    }

    fn violation(&self, rule: String) -> Violation {
        let bus = if self.near { "near" } else { "far" };
        Violation {
            bus: bus.to_owned(),
            rule,
        }
    }
}

impl Agent for Side {
    fn drive(&mut self, dut: &mut Instance) {
        if self.offered.is_none() && *self.sends.borrow() && self.rng.random_ratio(2, 3) {
            let mut board = self.board.borrow_mut();
            board.next += 1;
            self.offered = Some(board.next);
        }
        dut.set_value(self.data, self.offered.unwrap_or(0).into());
        dut.set_high(self.valid, self.offered.is_some());
        let ready = !*self.sends.borrow() || self.rng.random_ratio(2, 3);
        dut.set_high(self.received_ready, ready);
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        let [near_rests, far_rests] = self.resets.map(|port| dut.is_high(port));
        if far_rests && !near_rests {
            return Err(self.violation("the far side alone is in reset".to_owned()));
        }
        let board = Rc::clone(&self.board);
        let mut board = board.borrow_mut();
        if near_rests && far_rests {
            board.lost += board.there.len() + board.back.len();
            board.there.clear();
            board.back.clear();
        }
        if if self.near { near_rests } else { far_rests } {
            self.offered = None;
            return Ok(());
        }
        if self.offered.is_some() && dut.is_high(self.ready) {
            let sent = if self.near {
                &mut board.there
            } else {
                &mut board.back
            };
            sent.extend(self.offered.take());
        }
        if dut.is_high(self.received_valid) && dut.is_high(self.received_ready) {
            let value = dut.value(self.received) as u64;
            let coming = if self.near {
                &mut board.back
            } else {
                &mut board.there
            };
            if coming.pop_front() != Some(value) {
                return Err(self.violation(format!("{value} came, which was not the next to come")));
            }
            board.arrived[usize::from(self.near)] += 1;
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.offered = None;
        dut.set_high(self.valid, false);
    }

    fn describe(&self) -> String {
        format!("near: {}, offers {:?}", self.near, self.offered)
    }
}

#[test]
fn random_requests_in_traffic_make_nothing_up_and_lose_nothing_afterwards() {
    run_test(1, |run| {
        let mut rng = run.rng("requests");
        let mut lost = 0;
        for clocks in Clocks::all(&mut rng.clone()) {
            let mut sim: Simulation<LinkedFifos> = run.simulation_with(&clocks.free("near", "far"));
            let (board, sends) = (Rc::<RefCell<Board>>::default(), Rc::new(RefCell::new(true)));
            for (clock, near) in [("near_clk", true), ("far_clk", false)] {
                let side = Side::new(&sim, near, &board, &sends);
                sim.in_domain(clock).attach(Rc::new(RefCell::new(side)));
            }
            for _ in 0..25 {
                let reason = if rng.random() { "request" } else { "near_rst" };
                sim.run_edges("near_clk", rng.random_range(1..120));
                set(&mut sim, reason, true);
                sim.run_edges("near_clk", rng.random_range(1..15));
                set(&mut sim, reason, false);
            }
            sim.run_edges("far_clk", 300);
            sends.replace(false);
            sim.run_edges("near_clk", 100);
            sim.run_edges("far_clk", 100);
            let board = board.borrow();
            assert!(
                board.there.is_empty() && board.back.is_empty(),
                "{clocks:?}: {board:?}"
            );
            assert!(
                board.arrived.iter().all(|arrived| *arrived > 30),
                "{clocks:?}: {board:?}"
            );
            lost += board.lost;
        }
        assert!(lost > 100, "resets found {lost} elements inside");
    });
}
