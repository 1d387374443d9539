//! `mac_receiver`: each line of its contract, and lines with all kinds of errors.

use super::{
    EVENTS, GIANT, GOOD, Given, LONGEST, NO_DELIMITER, PAUSE, QUIET, RUNT, Symbol, byte, expected, gap,
    on_line, pause_frame, random_line, shortest,
};
use spinneret_models::MacReceiver;
use spinneret_sim::prelude::*;

struct Receiver {
    sim: Simulation<MacReceiver>,
    given: Given,
    frame: Vec<u8>,
}

impl Receiver {
    fn new(run: &mut TestRun) -> Self {
        let mut sim = run.simulation::<MacReceiver>();
        sim.reset();
        let mut receiver = Self {
            sim,
            given: Given::default(),
            frame: Vec::new(),
        };
        receiver.clock(QUIET);
        receiver
    }

    fn clock(&mut self, symbol: Symbol) {
        self.sim.set("rxd", symbol.data);
        self.sim.set("rx_dv", symbol.valid);
        self.sim.set("rx_er", symbol.error);
        self.sim.cycle();
        if self.sim.get("m_valid") == 1 {
            self.frame.push(self.sim.get("m_data") as u8);
            if self.sim.get("m_last") == 1 {
                let frame = std::mem::take(&mut self.frame);
                self.given.frames.push((frame, self.sim.get("m_error") == 1));
            }
        }
        for (count, event) in self.given.events.iter_mut().zip(EVENTS) {
            *count += self.sim.get(&format!("event_{event}"));
        }
        if self.sim.get("event_pause") == 1 {
            self.given.quanta.push(self.sim.get("quanta"));
        }
    }

    fn line(&mut self, line: &[Symbol]) {
        for symbol in line {
            self.clock(*symbol);
        }
    }

    /// Everything that has come, once the line is quiet.
    fn finish(mut self) -> Given {
        self.line(&gap());
        assert!(self.frame.is_empty(), "a frame has not ended");
        self.sim.finish();
        self.given
    }
}

/// Receives a line, and compares with the contract.
pub(super) fn receives(run: &mut TestRun, line: &[Symbol]) -> Given {
    let mut receiver = Receiver::new(run);
    receiver.line(line);
    let given = receiver.finish();
    assert_eq!(given, expected(line));
    given
}

#[test]
fn lines_with_all_kinds_of_errors_give_what_the_contract_says() {
    run_test(0x0001_3ac0, |run| {
        // The gap that is left of twelve clocks after a repeater.
        let line = random_line(&mut run.rng("line"), 600, 15);
        let given = receives(run, &line);
        assert!(given.events.iter().all(|count| *count > 4), "{:?}", given.events);
    });
}

#[test]
fn a_frame_needs_a_delimiter() {
    run_test(0x0002_3ac0, |run| {
        let frame = on_line(&shortest());
        let mut line = vec![byte(0x55); 9];
        line.extend(gap());
        // Another byte in the preamble, and the delimiter alone.
        line.extend([byte(0x55), byte(0x5d)]);
        line.extend(&frame[..]);
        line.extend(gap());
        line.extend(&frame[7..]);
        let given = receives(run, &line);
        assert_eq!((given.events[NO_DELIMITER], given.events[GOOD]), (2, 1));
    });
}

#[test]
fn lengths_at_both_ends() {
    run_test(0x0003_3ac0, |run| {
        let mut line = Vec::new();
        for bytes in [0, 1, 2, 59, 60, LONGEST - 4, LONGEST - 3, LONGEST + 100] {
            line.extend(on_line(&vec![7; bytes]));
            line.extend(gap());
        }
        let given = receives(run, &line);
        assert_eq!([RUNT, GOOD, GIANT].map(|event| given.events[event]), [4, 2, 2]);
        let longest = given.frames.iter().map(|(frame, _)| frame.len()).max();
        assert_eq!(longest, Some(LONGEST - 3));
    });
}

#[test]
fn bytes_leave_seven_clocks_after_they_came_and_the_last_two_after_the_end() {
    run_test(0x0004_3ac0, |run| {
        let mut receiver = Receiver::new(run);
        let frame = shortest();
        let line = on_line(&frame);
        // The clock in which the first byte of the frame is on the line, and the first one after the FCS.
        let (first, end) = (8, line.len());
        let mut at = Vec::new();
        for (clock, symbol) in line.iter().copied().chain(gap()).enumerate() {
            receiver.clock(symbol);
            // Outputs are read after the edge that ends a clock, so they are those of the next one.
            if receiver.sim.get("m_valid") == 1 {
                at.push(clock + 1);
            }
        }
        assert_eq!(at.len(), frame.len());
        assert_eq!((at[0], at[frame.len() - 1]), (first + 7, end + 2));
        receiver.finish();
    });
}

#[test]
fn a_pause_frame_gives_its_time_and_is_not_used() {
    run_test(0x0005_3ac0, |run| {
        let mut line = on_line(&pause_frame(0x1234));
        line.extend(gap());
        // Another opcode, and another destination.
        for (place, value) in [(15, 2), (5, 2)] {
            let mut frame = pause_frame(9);
            frame[place] = value;
            line.extend(on_line(&frame));
            line.extend(gap());
        }
        let given = receives(run, &line);
        assert_eq!((given.events[PAUSE], given.events[GOOD]), (1, 2));
        assert_eq!(given.quanta, [0x1234]);
        assert_eq!(given.frames[0], (pause_frame(0x1234), true));
    });
}

#[test]
fn after_a_reset_a_frame_in_the_middle_is_left_out() {
    run_test(0x0006_3ac0, |run| {
        let mut receiver = Receiver::new(run);
        let line = on_line(&shortest());
        receiver.line(&line[..30]);
        receiver.frame.clear();
        receiver.sim.reset();
        receiver.line(&line[30..]);
        receiver.line(&gap());
        receiver.line(&line);
        let given = receiver.finish();
        assert_eq!(given.frames, [(shortest(), false)]);
        assert_eq!(given.events[GOOD], 1);
    });
}
