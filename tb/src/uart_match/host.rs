//! The host at the other end of the line.

use super::model::{ConsoleModel, Led};
use crate::bench::Finish;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_sim::uart::{Speed, UartSink, UartSource};

/// No test here takes longer.
const CYCLE_LIMIT: u64 = 20_000_000;
/// Clocks from the end of a frame to its answer: the longest packet has 32 beats, each of which takes two clocks, and
/// passes receiver, engine and transmitter.
const ANSWER_CLOCKS: u64 = 100;
/// Bits of a byte on the line.
const BYTE_BITS: u64 = 10;

/// What a model was made with.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The matching engine.
    pub matcher: MatcherParams,
    /// Clocks of a bit.
    pub clocks_per_bit: u64,
    /// Clocks without a byte after which a frame is given up.
    pub quiet_clocks: u64,
    /// Clocks between two changes of the last LED.
    pub heartbeat_clocks: u64,
}

/// A host with its console; every answer and every LED is compared with the model.
#[derive(Debug)]
pub struct Host<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The line to the console.
    pub source: UartSource,
    /// The line from the console.
    pub sink: UartSink,
    /// What the console should say.
    pub model: ConsoleModel,
    setup: Setup,
}

impl<M: Model> Host<M> {
    /// Connects a host to a console, and resets it.
    ///
    /// # Panics
    /// If the design is no console.
    pub fn new(mut sim: Simulation<M>, setup: Setup) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let source = UartSource::attach(&mut sim, "uart_rx", setup.clocks_per_bit);
        let sink = UartSink::attach(&mut sim, "uart_tx", setup.clocks_per_bit);
        let source = source.unwrap_or_else(|error| panic!("{error}"));
        let sink = sink.unwrap_or_else(|error| panic!("{error}"));
        sim.reset();
        Self {
            sim,
            source,
            sink,
            model: ConsoleModel::new(setup.matcher),
            setup,
        }
    }

    /// Resets console and model.
    pub fn reset(&mut self) {
        self.sim.reset();
        self.model = ConsoleModel::new(self.setup.matcher);
    }

    /// The speed of the line.
    pub fn speed(&self) -> Speed {
        Speed::exact(self.setup.clocks_per_bit)
    }

    /// What the model was made with.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// Runs until everything that was queued is on its way.
    pub fn drain(&mut self) {
        while !self.source.is_idle() {
            self.sim.cycle();
        }
    }

    /// Sends a frame whole, and compares its answer.
    pub fn exchange(&mut self, frame: &[u8]) {
        self.exchange_rest(frame, 0);
    }

    /// Sends a frame of which the first bytes have been queued, and compares its answer.
    pub fn exchange_rest(&mut self, frame: &[u8], queued: usize) {
        self.source.send(&frame[queued..]);
        self.drain();
        let expected = self.model.answer(frame);
        let answer = self.receive(ANSWER_CLOCKS);
        assert_eq!(answer, expected, "the answer to {frame:02x?}");
        self.check_leds();
    }

    /// Waits for the answer to something that was no frame, which comes after a pause, and compares it.
    pub fn expect_fault(&mut self, code: u8) {
        self.drain();
        let expected = self.model.fault(code);
        let before = self.sim.cycle_count();
        // The pause counts from the last byte, whose stop bit was seen in its middle, or a bit that never came.
        let answer = self.receive(self.setup.quiet_clocks + ANSWER_CLOCKS);
        assert_eq!(answer, expected);
        let took = self.sim.cycle_count() - before;
        let line = BYTE_BITS * self.setup.clocks_per_bit * answer.len() as u64;
        let earliest = self.setup.quiet_clocks + line - BYTE_BITS * self.setup.clocks_per_bit;
        assert!(
            took >= earliest,
            "the answer came after {took} clocks, and the earliest is {earliest}"
        );
        self.check_leds();
    }

    /// One answer, which begins within a number of clocks and has no gaps but a clock or two.
    pub fn receive(&mut self, within_clocks: u64) -> Vec<u8> {
        let byte_clocks = BYTE_BITS * self.setup.clocks_per_bit;
        let start = self.sim.cycle_count();
        let mut bytes = Vec::new();
        let mut wanted = 2;
        while bytes.len() < wanted {
            self.sim.cycle();
            let limit = within_clocks + (byte_clocks + 2) * (bytes.len() as u64 + 1);
            assert!(
                self.sim.cycle_count() - start <= limit,
                "after {limit} clocks there is only {bytes:02x?} of an answer"
            );
            if let Some(received) = self.sink.receive() {
                bytes.push(received.byte);
            }
            if let [_, length, ..] = bytes[..] {
                wanted = 2 + usize::from(length);
            }
        }
        // The console takes the next frame when the stop bit has ended.
        self.sim.run(2);
        bytes
    }

    /// Compares the LEDs with the model.
    pub fn check_leds(&mut self) {
        let (found, expected) = (self.leds() & !Led::Heartbeat.bit(), self.model.leds());
        assert_eq!(
            found, expected,
            "LEDs {found:08b}, and {expected:08b} in the model"
        );
    }

    /// The LEDs.
    pub fn leds(&self) -> u8 {
        let dut = self.sim.dut.instance();
        let port = dut.find("leds").expect("the console has LEDs");
        u8::try_from(dut.value(port)).expect("there are eight LEDs")
    }
}

impl<M: Model> Finish for Host<M> {
    fn finish(mut self) {
        self.exchange(&super::frame(super::code::HELLO, &[]));
        self.sim.run(2 * self.setup.quiet_clocks);
        assert_eq!(self.sink.waiting(), 0);
        self.sim.finish();
    }
}
