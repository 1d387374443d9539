//! The host's end and the model of the board's end on wires that lose, double and reorder frames.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_ether::board::{Board, Memory};
use spinneret_ether::{Error, Found, Frame, HostMemory, Info, Link, Mac, Session, discover};
use spinneret_regmap::ether::{DISCOVER, MOST_WORDS, OPEN, REGISTERS, VERSION, VERSION_AT};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

const BOARD: Mac = Mac([2, 0, 0, 0, 0, 1]);
const KEY: u64 = 0x0123_4567_89ab_cdef;

/// Words below 64 KiB, and a register that counts reads.
#[derive(Debug, Default)]
struct Words {
    words: HashMap<u32, u32>,
    reads: u32,
    writes: u32,
}

impl Memory for Words {
    fn read(&mut self, address: u32) -> Option<u32> {
        if address == REGISTERS {
            self.reads += 1;
            return Some(self.reads);
        }
        (address < 0x1_0000).then(|| self.words.get(&address).copied().unwrap_or(0))
    }

    fn write(&mut self, address: u32, word: u32) -> Option<()> {
        self.writes += 1;
        (address < 0x1_0000).then(|| {
            self.words.insert(address, word);
        })
    }
}

/// Host writes as they came; a read finds bytes made of its address, below 2 KiB.
#[derive(Debug, Default)]
struct Host {
    writes: Vec<(u32, Vec<u8>)>,
    reads: u32,
}

impl HostMemory for Host {
    fn write(&mut self, address: u32, bytes: &[u8]) {
        self.writes.push((address, bytes.to_vec()));
    }

    fn read(&mut self, address: u32, bytes: &mut [u8]) -> bool {
        self.reads += 1;
        for (byte, at) in bytes.iter_mut().zip(address..) {
            *byte = at as u8 ^ 0x35;
        }
        address < 0x800
    }
}

type Shared = Rc<RefCell<Board<Words>>>;
type Owner = Session<Wire, Host>;

fn open(wire: Wire, board: Mac, key: u64) -> Result<Owner, Error> {
    Session::open(wire, board, key, Host::default())
}

fn board() -> Shared {
    let info = Info {
        mac: BOARD,
        name: "test".to_owned(),
        design: 7,
        shape: [1, 8],
        memory_bytes: 0x1_0000,
        program_bytes: 0x8000,
        most_words: MOST_WORDS as u32,
    };
    Rc::new(RefCell::new(Board::new(info, Words::default())))
}

/// A wire that loses, doubles and holds back frames.
#[derive(Debug)]
struct Wire {
    board: Shared,
    own: Mac,
    rng: ChaCha8Rng,
    bad: f64,
    to_board: Vec<Vec<u8>>,
    to_host: VecDeque<Vec<u8>>,
    /// Version that answers have, if not their own.
    version: Option<u8>,
}

impl Wire {
    fn new(board: &Shared, own: u8, bad: f64) -> Self {
        Self {
            board: board.clone(),
            own: Mac([2, 0, 0, 0, 1, own]),
            rng: ChaCha8Rng::seed_from_u64(0xe7e4),
            bad,
            to_board: Vec::new(),
            to_host: VecDeque::new(),
            version: None,
        }
    }

    fn happens(&mut self) -> bool {
        self.bad > 0.0 && self.rng.random_bool(self.bad)
    }

    fn answer(&mut self, mut frame: Vec<u8>) {
        frame[VERSION_AT] = self.version.unwrap_or(frame[VERSION_AT]);
        if self.happens() {
            return;
        }
        if self.happens() {
            self.to_host.push_back(frame.clone());
        }
        match self.happens() {
            true => self.to_host.push_front(frame),
            false => self.to_host.push_back(frame),
        }
    }
}

impl Link for Wire {
    fn address(&self) -> Mac {
        self.own
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let mut frame = frame.to_vec();
        frame.resize(frame.len().max(60), 0);
        let (is_lost, is_double, is_held) = (self.happens(), self.happens(), self.happens());
        let mut now = Vec::new();
        if !is_held {
            now.append(&mut self.to_board);
        }
        if !is_lost {
            now.push(frame.clone());
        }
        if is_double {
            self.to_board.push(frame);
        }
        if is_held {
            self.to_board.append(&mut now);
        }
        for frame in now {
            let answer = self.board.borrow_mut().hear(&frame);
            if let Some(answer) = answer {
                self.answer(answer);
            }
        }
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> io::Result<Option<Vec<u8>>> {
        if self.to_host.is_empty() {
            let message = self.board.borrow().message();
            if let Some(message) = message {
                self.answer(message);
            }
        }
        Ok(self.to_host.pop_front())
    }
}

/// Random accesses, host writes and host reads; each is executed once, in order.
fn accesses(bad: f64, rounds: u32) {
    let board = board();
    let mut session = open(Wire::new(&board, 1, bad), BOARD, KEY).expect("it opens");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut expected = vec![0; 0x4000];
    let (mut reads, mut writes, mut host_writes, mut host_reads) = (0, 0, Vec::new(), Vec::new());
    for round in 0..rounds {
        let words = rng.random_range(1..600);
        let first = rng.random_range(0..0x4000 - words);
        let address = 4 * first as u32;
        if rng.random() {
            let data: Vec<u32> = (0..words).map(|_| rng.random()).collect();
            session.write(address, &data).expect("it is written");
            expected[first..first + words].copy_from_slice(&data);
            writes += words as u32;
        } else {
            let mut data = vec![0; words];
            session.read(address, &mut data).expect("it is read");
            assert_eq!(data, expected[first..first + words]);
        }
        let mut count = [0];
        session.read(REGISTERS, &mut count).expect("it is read");
        reads += 1;
        assert_eq!(count, [reads], "each read is executed once");
        let bytes: Vec<u8> = (0..rng.random_range(1..=1024)).map(|_| rng.random()).collect();
        board.borrow_mut().host_write(round, &bytes);
        host_writes.push((round, bytes));
        let (from, bytes) = (rng.random_range(0..0x1000), rng.random_range(1..=1024));
        board.borrow_mut().host_read(from, bytes);
        let found = (from..from + u32::from(bytes)).map(|at| at as u8 ^ 0x35);
        host_reads.push((from < 0x800).then(|| found.collect::<Vec<u8>>()));
    }
    assert_eq!(
        board.borrow().memory.writes,
        writes,
        "each write is executed once"
    );
    while board.borrow().message().is_some() {
        session.listen(Duration::ZERO).expect("the wire works");
    }
    assert!(
        session.memory.writes == host_writes,
        "host writes come once and in order"
    );
    assert_eq!(session.memory.reads, rounds, "each host read is executed once");
    let received: Vec<_> = std::iter::from_fn(|| board.borrow_mut().take_read()).collect();
    assert!(received == host_reads, "host reads are answered in order");
    assert_eq!(session.take_lost(), 0);
    session.close().expect("it closes");
    let counters = board.borrow().counters;
    assert_eq!(counters.malformed + counters.foreign + counters.lost, 0);
}

#[test]
fn accesses_host_writes_and_host_reads_arrive_once() {
    accesses(0.0, 200);
}

#[test]
fn a_bad_wire_changes_nothing() {
    accesses(0.01, 400);
    accesses(0.2, 100);
}

#[test]
fn boards_are_found() {
    let board = board();
    let mut wire = Wire::new(&board, 1, 0.3);
    let found = discover(&mut wire, Mac::BROADCAST, Duration::from_millis(50)).expect("the wire works");
    assert_eq!(found.boards, [board.borrow().info.clone()]);
    let found = discover(&mut wire, BOARD, Duration::from_secs(5)).expect("the wire works");
    assert_eq!(found.boards.len(), 1);
    let other = Mac([2, 0, 0, 0, 0, 9]);
    let found = discover(&mut wire, other, Duration::from_millis(20)).expect("the wire works");
    assert_eq!(found, Found::default());
}

#[test]
fn a_discovery_of_another_version_is_answered_and_nothing_else() {
    let board = board();
    let mut wire = Wire::new(&board, 1, 0.0);
    for (kind, is_answered) in [(DISCOVER, true), (OPEN, false)] {
        let mut request = Frame {
            target: BOARD,
            source: wire.own,
            kind,
            key: KEY,
            number: 1,
            address: 0,
            count: 0,
            status: 0,
            limit: 0,
            data: Vec::new(),
        }
        .encode();
        request[VERSION_AT] = 2;
        wire.send(&request).expect("the wire works");
        let answer = wire.to_host.pop_front();
        assert_eq!(
            answer.map(|bytes| bytes[VERSION_AT]),
            is_answered.then_some(VERSION)
        );
    }
    // A board of the next version is named by it.
    let mut wire = Wire::new(&board, 1, 0.0);
    wire.version = Some(2);
    let found = discover(&mut wire, Mac::BROADCAST, Duration::from_millis(20)).expect("the wire works");
    assert_eq!((found.boards, found.foreign), (Vec::new(), vec![(BOARD, 2)]));
}

#[test]
fn another_key_is_kept_out_until_the_owner_closes() {
    let board = board();
    let mut owner = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    let refused = open(Wire::new(&board, 2, 0.0), BOARD, KEY + 1).expect_err("another key");
    assert_eq!(
        refused.to_string(),
        "another host has the key of the board 02:00:00:00:00:01: close it there, or switch the board off and on"
    );
    owner.write(0, &[1]).expect("the owner is not disturbed");
    owner.close().expect("it closes");
    open(Wire::new(&board, 2, 0.0), BOARD, KEY + 1).expect("it is free");
    assert!(matches!(owner.write(0, &[1]), Err(Error::InUse(BOARD))));
}

#[test]
fn a_second_session_of_the_same_host_ends_the_first_one() {
    let board = board();
    let mut first = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    let mut second = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    let mut word = [0];
    assert!(matches!(first.read(0, &mut word), Err(Error::NoSession(BOARD))));
    second.read(0, &mut word).expect("this one has the board");
}

#[test]
fn errors_name_the_address_and_silence_ends() {
    let board = board();
    let mut session = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    let mut words = [0; 300];
    let error = session.read(0xfc00, &mut words).expect_err("memory ends");
    assert!(matches!(error, Error::Refused { address: 0x1_0000 }), "{error}");
    let other = Mac([2, 0, 0, 0, 0, 9]);
    let error = open(Wire::new(&board, 1, 0.0), other, KEY).expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "the board 02:00:00:00:00:09 does not answer: check its power, and the cable to its port 0"
    );
}

#[test]
fn lost_host_writes_are_counted() {
    let board = board();
    let mut session = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    for address in 0..5 {
        board.borrow_mut().host_write(address, &[1]);
    }
    board.borrow_mut().give_up();
    board.borrow_mut().give_up();
    session.listen(Duration::ZERO).expect("the wire works");
    let addresses: Vec<_> = session
        .memory
        .writes
        .iter()
        .map(|(address, _)| *address)
        .collect();
    assert_eq!(addresses, [2, 3, 4]);
    assert_eq!(session.take_lost(), 2);
}

#[test]
fn garbage_is_counted_and_harms_nothing() {
    let board = board();
    let mut session = open(Wire::new(&board, 1, 0.0), BOARD, KEY).expect("it opens");
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let before = board.borrow().counters;
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..rng.random_range(0..200)).map(|_| rng.random()).collect();
        let _ = Frame::decode(&bytes);
        assert_eq!(board.borrow_mut().hear(&bytes), None);
        session.link().to_host.push_back(bytes);
    }
    assert_eq!(board.borrow().counters.malformed, before.malformed + 2000);
    session.write(0, &[5]).expect("the session goes on");
}
