//! Adversarial clients: random bytes into all ports and mailboxes while a server runs.

use crate::emissary::calls::{RESERVE, Reserved};
use crate::support::from_environment;
use rand::{Rng as _, RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_rpc::clib::{Access, Config, Permissions};
use spinneret_rpc::{
    Buffer, Client, Emissary, Layout, Libc, Memory as _, Server, TestCalls, Version, Words, opcode,
};
use std::cell::Cell;
use std::io::{self, Write as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

const PORTS: u32 = 16;
/// Lines of the bulk area that a port has.
const BULK: u32 = 64;
/// The port that stays an honest client's.
const HONEST: u32 = 0;

/// Calls that it makes at least, however slow the machine is.
const CALLS: u64 = 10;

/// Data of every form, which typed calls say lie anywhere.
#[spinneret_rpc::service(api = 66, prefix = "allocator", handles(Piece { SMALL = 3, LARGE = 300 }))]
trait Allocator {
    /// All that goes there.
    #[call(1)]
    fn put(&self, count: u32, #[len(count)] numbers: &[u16], flag: bool, #[cap(40)] text: &str) -> u32;

    /// All that comes back.
    #[call(2)]
    async fn get(&self, count: i16, piece: Piece, #[out(count * size(piece))] data: &mut [u8], last: &mut u8);

    /// Both.
    #[call(3)]
    fn turn(&self, count: u8, #[inout(count)] numbers: &mut [f64]) -> Piece;
}

/// Counts calls that got so far.
#[derive(Debug, Default)]
struct CheckedAllocator(Rc<Cell<u64>>);

impl CheckedAllocator {
    fn count(&self) {
        self.0.set(self.0.get() + 1);
    }
}

impl Allocator for CheckedAllocator {
    fn put(&self, count: u32, numbers: &[u16], _: bool, text: &str) -> u32 {
        self.count();
        assert!(numbers.len() == count as usize && text.len() < 40);
        count
    }

    async fn get(&self, count: i16, piece: Piece, data: &mut [u8], last: &mut u8) {
        assert_eq!(
            Some(data.len() as u32),
            piece_size(piece).map(|bytes| bytes * count as u32)
        );
        self.count();
        data.fill(7);
        *last = 7;
    }

    fn turn(&self, count: u8, numbers: &mut [f64]) -> Piece {
        assert_eq!(numbers.len(), usize::from(count));
        self.count();
        numbers.reverse();
        PIECE_SMALL
    }
}

/// A packet that looks like a typed call, at least at its begin.
fn typed(random: &mut ChaCha8Rng) -> [u64; 8] {
    let mut half = || match random.random_range(0..6) {
        0 => u64::from(random.next_u32()),
        1 => u64::from(u32::MAX),
        2 => random.random_range(0..200) * 8,
        3 => u64::from(PIECE_LARGE.raw()),
        _ => random.random_range(0..48),
    };
    let mut packet = std::array::from_fn(|_| half() | half() << 32);
    // Often enough lengths are what they should be.
    if random.random_range(0..3) == 0 {
        let count = random.random_range(0..5_u64);
        let place = [0, 64, u64::from(u32::MAX)][random.random_range(0..3)];
        packet[..2].copy_from_slice(&[1 | count << 32, place | (8 * count) << 32]);
    }
    packet
}

/// Makes one random access.
fn harm(random: &mut ChaCha8Rng, words: &Words<'_>, layout: &Layout) {
    let port = random.random_range(HONEST + 1..PORTS);
    let mailbox = match random.random_range(0..40) {
        0 => random.next_u32(),
        1 => layout.primary(port),
        _ => random.random_range(0..2),
    };
    let opcode = match random.random_range(0..20) {
        0 => random.next_u32(),
        1 => opcode::EMISSARY_CALL + random.random_range(0..2),
        2..8 => 0x7342_0000 + random.random_range(0..5),
        _ => 0x6300_0000 + random.random_range(0..opcode::LIBC_CALLS + 1),
    };
    match random.random_range(0..10) {
        0..=4 => {
            let Ok(()) = words.store(layout.secondary(port), mailbox);
        }
        5 => {
            let generation = u64::from(random.random_range(0_u32..3)) << 32;
            let mask = random.random_range(0_u64..30).min(1);
            let Ok(()) = words.write(layout.header(port), &[mask, u64::from(opcode) | generation]);
        }
        6 => {
            // A server does not read its own mailboxes again.
            let Ok(()) = words.store(layout.primary(port), random.next_u32());
        }
        _ => {
            let mut packet = [0_u64; 8];
            random.fill(&mut packet);
            if random.random_range(0..2) == 0 {
                packet = typed(random);
            }
            match random.random_range(0..8) {
                0 => packet[0] = random.random_range(0..200),
                1 => packet[0] = random.random_range(0..4),
                2 => packet[1] = u64::from_le_bytes(*b"%s%*d%n\0"),
                _ => {}
            }
            packet[1] = match random.random_range(0..6) {
                0 => u64::from_le_bytes(*b"../up/f\0"),
                _ => packet[1],
            };
            let Ok(()) = words.write(layout.packet(port), &packet);
        }
    }
}

/// Everything is allowed that stays inside of a folder.
fn config(folder: &Path) -> Config {
    Config {
        folder: Some(folder.to_owned()),
        access: Access::Write,
        permissions: Permissions {
            remove: true,
            rename: true,
            exit: true,
            abort: true,
            system: false,
        },
        input: Some(Box::new(io::repeat(b'x'))),
        output: Box::new(io::sink()),
        errors: Box::new(io::sink()),
        ..Config::default()
    }
}

/// A server that panics would leave its client waiting for ever, so the process ends.
struct Alarm(u64);

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            let said = format!("the server has panicked, seed {}\n", self.0);
            // The test harness keeps what macros print.
            let _ = io::stderr().write_all(said.as_bytes());
            std::process::abort();
        }
    }
}

/// One honest client calls on and on, while others write at random; gives how many calls it made.
fn under_fire(version: Version, seed: u64, time: Duration) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let layout = Layout::new(version, PORTS).unwrap();
    let buffer = Buffer::new(layout.bytes() + 64 * PORTS * BULK);
    let (stop, is_there) = (AtomicBool::new(false), AtomicBool::new(false));
    let calls = thread::scope(|scope| {
        scope.spawn(|| {
            let _alarm = Alarm(seed);
            let mut server = Server::new(buffer.words(), layout).unwrap();
            server.add(opcode::LIBC, Rc::new(TestCalls));
            server.add(opcode::LIBC, Rc::new(Libc::new(version, config(&inner)).unwrap()));
            let emissary = Emissary::default();
            emissary.register(RESERVE, Rc::new(Reserved)).unwrap();
            server.add(opcode::EMISSARY, Rc::new(emissary));
            let careful = CheckedAllocator::default();
            let reached = Rc::clone(&careful.0);
            server.add(opcode::SPINNERET, Rc::new(AllocatorService::new(careful)));
            is_there.store(true, Ordering::Release);
            let Ok(()) = server.run(&stop);
            let counts = server.counts();
            assert!(counts.calls > 0 && !counts.refusals.is_empty(), "{counts:?}");
            assert!(reached.get() > 0, "{counts:?}");
            // Unfinished calls can be abandoned, and then the server is idle.
            let Ok(()) = server.abandon_all();
            assert_eq!(server.is_idle(), Ok(true));
        });
        scope.spawn(|| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            // A server refuses a buffer that is wrong from the start.
            while !is_there.load(Ordering::Acquire) {
                thread::yield_now();
            }
            while !stop.load(Ordering::Relaxed) {
                harm(&mut random, &buffer.words(), &layout);
            }
        });
        let client = Client::new(buffer.words(), layout).unwrap();
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < time || calls < CALLS {
            let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
            if port.state().index() != HONEST {
                continue;
            }
            port.send(&[calls]).unwrap();
            let mut word = [0];
            port.receive(&mut word).unwrap();
            assert_eq!(word, [calls + 1], "seed {seed}");
            calls += 1;
        }
        stop.store(true, Ordering::Relaxed);
        calls
    });
    let outside: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(outside, ["inner"], "seed {seed}: something left the folder");
    calls
}

#[test]
fn random_bytes_in_ports_and_mailboxes_stop_no_server() {
    let milliseconds = from_environment("SPINNERET_RPC_HARM_MS", 1500);
    let seed = from_environment("SPINNERET_RPC_SEED", 1);
    for version in Version::ALL {
        let calls = under_fire(version, seed, Duration::from_millis(milliseconds));
        println!("seed {seed}: {calls} calls of an honest client in {milliseconds} ms");
    }
}
