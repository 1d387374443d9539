//! Boards at a network interface: a socket in the place of the cable, and the model of a board at its other end.

use crate::fake::program;
use crate::{ok, port};
use spinneret_ether::board::{Board, Memory};
use spinneret_ether::{Info, Mac};
use spinneret_host::device::ether::{EtherError, Ethernet, FrameSocket};
use spinneret_host::{Device as _, DeviceError, Nic, Options};
use spinneret_regmap::cl;
use spinneret_regmap::ether::{MOST_WORDS, REGISTERS};
use spinneret_regmap::model::{Registers, Response, Variant};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use std::collections::BTreeMap;
use std::os::unix::net::UnixDatagram;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

const BOARD: Mac = Mac([2, 0, 0, 0, 0, 1]);
const HOST: Mac = Mac([2, 0, 0, 0, 1, 1]);
/// Interval at which the board looks at its cables.
const LOOK: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(10);

/// The register model, and words of the cluster's memory.
#[derive(Debug)]
struct Words {
    registers: Registers,
    memory: BTreeMap<u32, u32>,
}

impl Memory for Words {
    fn read(&mut self, address: u32) -> Option<u32> {
        match address.checked_sub(REGISTERS) {
            Some(register) => {
                let (word, response) = self.registers.read(register);
                (response == Response::Okay).then_some(word)
            }
            None => is_there(address).then(|| self.memory.get(&address).copied().unwrap_or(0)),
        }
    }

    fn write(&mut self, address: u32, word: u32) -> Option<()> {
        let Some(register) = address.checked_sub(REGISTERS) else {
            return is_there(address).then(|| {
                self.memory.insert(address, word);
            });
        };
        if register == cl::AUX_RESET {
            let status = if word == 0 { 1 } else { 3 };
            self.registers.show(cl::STATUS.offset, status);
        }
        (self.registers.write(register, word, 0xf) == Response::Okay).then_some(())
    }
}

fn is_there(address: u32) -> bool {
    let windows = [(HANDLER_BASE, HANDLER_BYTES), (PROGRAM_BASE, PROGRAM_BYTES)];
    windows
        .iter()
        .any(|(base, bytes)| (*base..base + bytes).contains(&address))
}

/// A board; clones are the same one.
#[derive(Clone)]
struct Model(Arc<Mutex<Board<Words>>>);

impl Model {
    fn new() -> Self {
        let mut registers = Registers::new(Variant::Extended);
        registers.show(cl::STATUS.offset, 3);
        let words = Words {
            registers,
            memory: BTreeMap::new(),
        };
        Self(Arc::new(Mutex::new(Board::new(info(), words))))
    }

    fn board(&self) -> MutexGuard<'_, Board<Words>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cable to the board that loses one of so many frames, if not 0. It ends with the board or with its other end.
    fn connect(&self, own: Mac, loses: u32) -> FrameSocket {
        let (here, there) = ok(UnixDatagram::pair());
        ok(here.set_nonblocking(true));
        ok(there.set_read_timeout(Some(LOOK)));
        let board = Arc::downgrade(&self.0);
        std::thread::spawn(move || serve(&there, &board, loses));
        FrameSocket::over(here.into(), own)
    }

    fn open(&self, own: Mac, loses: u32) -> Result<Ethernet, EtherError> {
        Ethernet::new(self.connect(own, loses), &info(), 1)
    }
}

fn info() -> Info {
    Info {
        mac: BOARD,
        name: "model".to_owned(),
        design: 1,
        shape: [2, 8],
        memory_bytes: HANDLER_BYTES,
        program_bytes: PROGRAM_BYTES,
        most_words: MOST_WORDS as u32,
    }
}

/// Answers requests and sends host writes until the other end has gone.
fn serve(cable: &UnixDatagram, board: &Weak<Mutex<Board<Words>>>, loses: u32) {
    let mut count = 0_u32;
    let mut arrives = || {
        count += 1;
        loses == 0 || !count.is_multiple_of(loses)
    };
    let mut buffer = [0; 2048];
    loop {
        let heard = match cable.recv(&mut buffer) {
            Ok(0) => return,
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => None,
            Err(_) => return,
        };
        let Some(board) = board.upgrade() else {
            return;
        };
        let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = heard
            .filter(|_| arrives())
            .and_then(|bytes| board.hear(&buffer[..bytes]));
        for frame in answer.into_iter().chain(board.message()) {
            if arrives() && cable.send(&frame).is_err() {
                return;
            }
        }
    }
}

fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(LOOK);
    }
}

/// Host memory as handlers read it.
fn host_read(model: &Model, address: u32, bytes: usize) -> Option<Vec<u8>> {
    model.board().host_read(address, bytes as u16);
    let mut read = None;
    until("a host read", || {
        read = model.board().take_read();
        read.is_some()
    });
    read.flatten()
}

/// Opens a context, runs it and closes it over a cable.
fn context(loses: u32) {
    let model = Model::new();
    let nic = ok(Nic::new(ok(model.open(HOST, loses))));
    assert_eq!(nic.device().shape(), [2, 8]);
    let options = Options {
        host_bytes: 5000,
        handler_bytes: Some(4096),
        ..Options::default()
    };
    let context = ok(nic.open_context(program(), "count", &port(7000), &options));
    for segment in &program().segments {
        let words = segment
            .bytes
            .as_chunks()
            .0
            .iter()
            .zip((segment.address..).step_by(4));
        for (word, address) in words {
            let there = model.board().memory.read(address);
            assert_eq!(there, Some(u32::from_le_bytes(*word)), "{address:#x}");
        }
    }
    let total = ok(context.variable("total"));
    ok(total.store(0, 77_u32));
    assert_eq!(ok(total.load::<u32>(0)), 77);
    // Handlers write while the program does nothing.
    let memory = context.host_memory();
    assert_eq!((memory.address(), memory.len()), (0x1000_0000, 8192));
    let written: Vec<u8> = (0..3000_u32).map(|at| at as u8 ^ 0x5a).collect();
    for (piece, at) in written.chunks(1000).zip((7..).step_by(1000)) {
        model.board().host_write(0x1000_0000 + at, piece);
    }
    model.board().host_write(0x1000_1ff8, &9_u64.to_le_bytes());
    until("host writes", || ok(memory.load::<u64>(0x1ff8)) == 9);
    let mut read = vec![0; 3008];
    ok(memory.read(0, &mut read));
    assert!(read[..7].iter().chain(&read[3007..]).all(|byte| *byte == 0));
    assert!(read[7..3007] == written);
    // And they read.
    for (at, bytes) in [(7, 3000), (0x1fff, 1)] {
        let mut wanted = vec![0; bytes];
        ok(memory.read(at, &mut wanted));
        for (piece, from) in wanted.chunks(1000).zip((at..).step_by(1000)) {
            assert_eq!(
                host_read(&model, 0x1000_0000 + from, piece.len()).as_deref(),
                Some(piece)
            );
        }
    }
    for (address, bytes) in [(0x1000_1fff, 2), (0x2000_0000, 8), (0, 8)] {
        assert_eq!(host_read(&model, address, bytes), None, "{address:#x}");
    }
    // Some that are not within it change nothing.
    model.board().host_write(0x1000_1ffc, &[1; 8]);
    model.board().host_write(0x2000_0000, &[1; 8]);
    model.board().host_write(0, &[1; 8]);
    until("host writes", || model.board().waiting() == 0);
    assert_eq!(ok(memory.load::<u64>(0x1ff8)), 9);
    let error = nic
        .device()
        .read_cluster(0x1b00_0000, &mut read[..8])
        .expect_err("nothing is there");
    assert!(
        error
            .to_string()
            .contains("refused the access to address 0x1b000000"),
        "{error}"
    );
    // All of these keep the NIC open.
    drop((total, memory, context, nic));
    let board = model.board();
    assert_eq!(board.last_number(), None, "the session is over");
    assert_eq!((board.counters.lost, board.counters.malformed), (0, 0));
}

#[test]
fn contexts_run_on_a_board() {
    context(0);
}

#[test]
fn a_cable_that_loses_frames_changes_nothing() {
    context(9);
}

#[test]
fn the_cluster_is_in_reset_when_memory_is_freed() {
    let model = Model::new();
    let nic = ok(Nic::new(ok(model.open(HOST, 0))));
    let context = ok(nic.open_context(program(), "count", &port(7000), &Options::default()));
    context.leave();
    assert_eq!(model.board().memory.registers.value(cl::STATUS.offset), Some(1));
    drop(nic);
    assert_eq!(model.board().memory.registers.value(cl::STATUS.offset), Some(3));
    assert_eq!(model.board().last_number(), None);
}

#[test]
fn lost_host_writes_are_told_once() {
    let model = Model::new();
    let mut device = ok(model.open(HOST, 0));
    {
        let mut board = model.board();
        board.host_write(0x1000_0000, &[1; 8]);
        board.give_up();
        board.host_write(0x1000_0000, &[1; 8]);
    }
    until("the next one", || model.board().waiting() == 0);
    let error = device.wait(LOOK).expect_err("one is lost").to_string();
    assert!(
        error.contains("1 host writes or reads of handlers are lost"),
        "{error}"
    );
    ok(device.wait(LOOK));
}

#[test]
fn reasons_for_a_missing_board_are_told_apart() {
    for (name, message) in [
        ("ether:", "`ether:` names no board"),
        ("ether:eth0,02:00", "`ether:eth0,02:00` names no board"),
        ("ether:eth0,slower=0", "`ether:eth0,slower=0` names no board"),
        ("ether:nowhere0", "there is no network interface nowhere0"),
        (
            "ether:a-name-that-is-too-long",
            "there is no network interface a-name",
        ),
    ] {
        let error = Nic::open(name).expect_err("there is none").to_string();
        assert!(error.contains(message), "{error}");
    }
    // Another host has the key.
    let model = Model::new();
    let first = ok(model.open(HOST, 0));
    let error = model
        .open(Mac([2, 0, 0, 0, 1, 2]), 0)
        .expect_err("it is another host");
    assert!(
        error
            .to_string()
            .starts_with("another host has the key of the board 02:00:00:00:00:01")
    );
    drop(first);
    let mut device = ok(model.open(Mac([2, 0, 0, 0, 1, 2]), 0));
    // The board goes away, once the cable has let go of it.
    let board = Arc::downgrade(&model.0);
    drop(model);
    until("the end of the board", || board.strong_count() == 0);
    let error = device
        .read_register(cl::STATUS.offset)
        .expect_err("nobody is there");
    assert!(matches!(error, DeviceError::Gone(_)), "{error}");
}
