//! A pipeline behind a serial line: its host, which loads programs of the runtime's makefile and sends packets.

use spinneret_program::Program;
use spinneret_sim::prelude::*;
use spinneret_sim::uart::{UartSink, UartSource};
use std::path::Path;
use std::process::Command;

pub use spinneret_hdl::hpu::serial_protocol as code;

use crate::uart_match::frame;

/// Clocks of a bit of the model.
const CLOCKS_PER_BIT: u64 = 4;
/// Clocks without a byte after which a frame is given up, and in which a handler has to send or to end.
pub const QUIET_CLOCKS: u64 = 65536;
/// Bits of a byte on the line.
const BYTE_BITS: u64 = 10;
/// Limit for the cycles of a test.
const CYCLE_LIMIT: u64 = 20_000_000;
/// Words that a command can write.
const WRITE_BYTES: usize = 248;

/// Outcome of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// Packets that the handler sent.
    pub sent: Vec<Vec<u8>>,
    /// The cause of its failure; 0 if there was none.
    pub cause: u8,
}

/// Builds a handler for the board by its makefile, into a folder.
///
/// # Panics
/// If that fails.
pub fn build(handler: &Path, results: &Path) -> Program {
    let name = handler
        .file_name()
        .expect("a folder of a handler")
        .to_string_lossy();
    let results = results.join(&*name);
    let make = Command::new("make")
        .args([
            "--silent",
            "--no-print-directory",
            "SPIN_BOARD=alchitry-cu-hpu",
            "-C",
        ])
        .arg(handler)
        .arg(format!("BUILD={}", results.display()))
        .output()
        .expect("make runs");
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    Program::open(&results.join(format!("{name}.elf"))).expect("the makefile makes a program")
}

/// The host at the other end of the line.
#[derive(Debug)]
pub struct SerialHost<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The line to the board.
    pub source: UartSource,
    sink: UartSink,
}

impl<M: Model> SerialHost<M> {
    /// Connects a host to a board, and resets it.
    ///
    /// # Panics
    /// If the design has no serial lines.
    pub fn new(mut sim: Simulation<M>) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let source = UartSource::attach(&mut sim, "uart_rx", CLOCKS_PER_BIT).expect("a line to the board");
        let sink = UartSink::attach(&mut sim, "uart_tx", CLOCKS_PER_BIT).expect("a line from the board");
        sim.reset();
        Self { sim, source, sink }
    }

    /// One frame of the board.
    ///
    /// # Panics
    /// If there is none within the time of two pauses.
    pub fn receive(&mut self) -> (u8, Vec<u8>) {
        let start = self.sim.cycle_count();
        let mut bytes = Vec::new();
        loop {
            self.sim.cycle();
            bytes.extend(self.sink.receive().map(|received| received.byte));
            if let [code, length, payload @ ..] = &bytes[..]
                && payload.len() == usize::from(*length)
            {
                // The stop bit ends.
                let answer = (*code, payload.to_vec());
                self.sim.run(CLOCKS_PER_BIT);
                return answer;
            }
            let limit = 3 * QUIET_CLOCKS + (bytes.len() as u64 + 1) * CLOCKS_PER_BIT * BYTE_BITS;
            let took = self.sim.cycle_count() - start;
            assert!(took < limit, "after {took} clocks there is only {bytes:02x?}");
        }
    }

    /// Sends a command, and returns the frame that comes.
    pub fn ask(&mut self, command: u8, payload: &[u8]) -> (u8, Vec<u8>) {
        self.source.send(&frame(command, payload));
        while !self.source.is_idle() {
            self.sim.cycle();
        }
        self.receive()
    }

    /// Sends a command that is carried out.
    ///
    /// # Panics
    /// If it is not.
    pub fn done(&mut self, command: u8, payload: &[u8]) -> Vec<u8> {
        let (answer, payload) = self.ask(command, payload);
        assert_eq!(answer, code::DONE);
        payload
    }

    /// Writes words at an address.
    pub fn write(&mut self, address: u32, words: &[u8]) {
        for (bytes, address) in words.chunks(WRITE_BYTES).zip((address..).step_by(WRITE_BYTES)) {
            let mut payload = [&address.to_be_bytes()[..], bytes].concat();
            payload.resize(payload.len().next_multiple_of(4), 0);
            assert_eq!(self.done(code::WRITE, &payload), []);
        }
    }

    /// Reads bytes at an address.
    pub fn read(&mut self, address: u32, bytes: u8) -> Vec<u8> {
        self.done(code::READ, &[&address.to_be_bytes()[..], &[bytes]].concat())
    }

    /// Starts the pipeline with a handler, or stops it.
    pub fn run(&mut self, handler: u32) {
        assert_eq!(self.done(code::RUN, &handler.to_be_bytes()), []);
    }

    /// Loads a program, and starts its handler of packets.
    ///
    /// # Panics
    /// If the program has none.
    pub fn load(&mut self, program: &Program) {
        self.run(0);
        for segment in &program.segments {
            self.write(segment.address, &segment.bytes);
        }
        let is_handler = |name: &str| name.ends_with("_ph");
        let handler = program
            .functions
            .iter()
            .find(|function| is_handler(&function.name));
        self.run(handler.expect("a handler of packets").address);
    }

    /// Has a packet handled.
    ///
    /// # Panics
    /// If the board answers with an error.
    pub fn packet(&mut self, packet: &[u8]) -> Handled {
        let mut sent = Vec::new();
        let mut answer = self.ask(code::PACKET, packet);
        while answer.0 == code::SENT {
            sent.push(answer.1);
            answer = self.receive();
        }
        let (code::DONE, [cause]) = (answer.0, &answer.1[..]) else {
            panic!("the answer to a packet is {answer:02x?}");
        };
        Handled { sent, cause: *cause }
    }

    /// The LEDs but the last one.
    pub fn leds(&self) -> u8 {
        let dut = self.sim.dut.instance();
        let port = dut.find("leds").expect("the board has LEDs");
        (dut.value(port) & 0x7f) as u8
    }
}
