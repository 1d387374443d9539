//! Refusals of libc's calls: nothing leaves the folder, and every port stays usable.

use crate::emissary::calls::{RESERVE, Reserved};
use crate::stdio::{folder, open_to};
use crate::support::{Argument, Bench, Handler, STDOUT, from_environment};
use rand::{Rng as _, RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_rpc::clib::{Access, Config, Limits, Permissions, refused};
use spinneret_rpc::server::{End, Refusal};
use spinneret_rpc::{
    Buffer, Client, Emissary, Layout, Libc, Memory as _, Server, TestCalls, Version, Words, opcode,
};
use std::cell::Cell;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn no_path_leads_out_of_the_folder() {
    let outer = folder();
    let secret: PathBuf = outer.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir_all(inner.join("sub")).unwrap();
    fs::write(inner.join("own"), "own").unwrap();
    symlink(&secret, inner.join("absolute")).unwrap();
    symlink("../secret", inner.join("relative")).unwrap();
    symlink("..", inner.join("up")).unwrap();
    symlink("own", inner.join("fine")).unwrap();
    let bench = Bench::start(Version::V23, 1, open_to(&inner));
    let handler = Handler(&bench.client);
    let secret = secret.to_str().unwrap().to_owned();
    let paths = [
        &*secret,
        "/etc/passwd",
        "../secret",
        "sub/../../secret",
        "absolute",
        "relative",
        "up/secret",
        "..",
    ];
    for path in paths {
        for mode in ["r", "w", "a+"] {
            assert_eq!(handler.fopen(path, mode), 0, "{path}");
        }
    }
    for path in [&*secret, "../secret", "up/secret", "sub/../../secret"] {
        assert_eq!(
            (
                handler.remove(path),
                handler.rename(path, "x"),
                handler.rename("own", path)
            ),
            (-1, -1, -1)
        );
    }
    assert_ne!(
        (handler.fopen("fine", "r"), handler.fopen("sub/../own", "r")),
        (0, 0),
        "inside all paths are good"
    );
    assert_eq!(handler.remove("absolute"), 0, "a link itself is inside");
    let (counts, _) = bench.stop();
    assert_eq!(
        counts.of(refused::OUTSIDE),
        paths.len() as u64 * 3 + 12,
        "{counts:?}"
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(fs::read_to_string(inner.join("own")).unwrap(), "own");
}

#[test]
fn only_regular_files_are_opened() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
    let handler = Handler(&bench.client);
    assert_eq!((handler.fopen("pipe", "r"), handler.fopen("pipe", "r+")), (0, 0));
    assert_eq!(handler.fopen("pipe", "w"), 0, "nobody reads it");
    assert_eq!(handler.fopen(".", "r"), 0);
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::NO_FILE), 3, "{counts:?}");
}

#[test]
fn everything_is_denied_by_default() {
    let bench = Bench::start(Version::V22, 1, Config::default);
    let handler = Handler(&bench.client);
    assert_eq!(
        (handler.fopen("/etc/hostname", "r"), handler.fopen("file", "w")),
        (0, 0)
    );
    assert_eq!(
        (
            handler.remove("file"),
            handler.rename("a", "b"),
            handler.system("true")
        ),
        (-1, -1, -1)
    );
    assert_eq!(
        (
            handler.host_call(0x40_1000, b"arguments"),
            handler.call(opcode::MALLOC, &[2 << 20])
        ),
        (-1, 0)
    );
    handler.leave(opcode::EXIT, 3);
    handler.leave(opcode::ABORT, 0);
    assert_eq!(handler.increment(1), 2, "the port is usable");
    let (counts, end) = bench.stop();
    assert_eq!(
        (counts.of(refused::NOT_ALLOWED), counts.of(refused::FUNCTION), end),
        (8, 1, None),
        "{counts:?}"
    );
}

#[test]
fn a_folder_to_read_is_not_written() {
    let folder = folder();
    fs::write(folder.path().join("file"), "text").unwrap();
    let path = Some(folder.path().to_owned());
    let bench = Bench::start(Version::V23, 1, move || Config {
        folder: path,
        permissions: Permissions {
            remove: true,
            rename: true,
            ..Permissions::default()
        },
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    for mode in ["w", "a", "r+", "w+x"] {
        assert_eq!(handler.fopen("file", mode), 0, "{mode}");
    }
    assert_eq!(
        (handler.remove("file"), handler.rename("file", "other")),
        (-1, -1)
    );
    assert_eq!(handler.read(handler.fopen("file", "rb"), 10), b"text");
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::NOT_ALLOWED), 6);
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "text");
}

#[test]
fn exit_and_abort_end_the_handlers_context_only() {
    for (opcode, expected) in [(opcode::EXIT, End::Exit(3)), (opcode::ABORT, End::Abort)] {
        let folder = folder();
        let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
        Handler(&bench.client).leave(opcode, 3);
        assert_eq!(Handler(&bench.client).increment(1), 2);
        let (counts, end) = bench.stop();
        assert_eq!((end, counts.refusals.len()), (Some(expected), 0));
    }
}

#[test]
fn handles_are_good_only_while_their_file_is_open() {
    let folder = folder();
    let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
    let handler = Handler(&bench.client);
    let first = handler.fopen("a", "w");
    assert_eq!(handler.fclose(first), 0);
    let second = handler.fopen("a", "w");
    assert_ne!(first, second, "the place is the same, the generation another");
    let wrong = [
        0,
        first,
        second + 4,
        second | 1 << 40,
        second ^ 1 << 10,
        !3,
        0x7fff_1234_5678,
    ];
    for stream in wrong {
        assert_eq!(
            (handler.write(stream, b"x"), handler.fclose(stream)),
            (0, -1),
            "{stream:#x}"
        );
        assert_eq!((handler.tell(stream), handler.read(stream, 5)), (-1, Vec::new()));
        assert!(handler.is_at_end(stream) && handler.has_failed(stream));
        let (result, _) = handler.print(
            opcode::PRINTF_TO_STREAM,
            stream,
            "%s",
            &[Argument::String(Some("x"))],
        );
        assert_eq!(result, -1);
    }
    assert_eq!((handler.fclose(STDOUT), handler.write(second, b"good")), (-1, 4));
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::HANDLE), 7 * wrong.len() as u64, "{counts:?}");
    assert_eq!(counts.of(refused::STANDARD), 1);
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "good");
}

#[test]
fn lengths_are_refused_and_the_port_goes_on() {
    let folder = folder();
    let path = Some(folder.path().to_owned());
    let bench = Bench::start(Version::V23, 1, move || Config {
        folder: path,
        access: Access::Write,
        limits: Limits {
            path: 16,
            format: 32,
            stream: 100,
            files: 2,
        },
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    let file = handler.fopen("file", "w+");
    assert_eq!(
        (handler.write(file, &[1; 101]), handler.has_failed(file)),
        (0, true)
    );
    assert_eq!(handler.write(file, &[1; 100]), 100);
    assert_eq!(
        (handler.read(file, 101), handler.read(file, u64::MAX)),
        (Vec::new(), Vec::new())
    );
    assert_eq!(
        (
            handler.fopen("a path that is longer", "r"),
            handler.fopen("file", "q")
        ),
        (0, 0)
    );
    assert_eq!(handler.fopen("file", &"r".repeat(64)), 0, "a mode without an end");
    assert_ne!(handler.fopen("second", "w"), 0);
    assert_eq!(handler.fopen("third", "w"), 0);
    assert_eq!(handler.printf(&"x".repeat(40), &[]), -1);
    assert_eq!(handler.printf("%101d", &[Argument::Int(1)]), -1);
    assert_eq!(handler.printf("%2147483647d", &[Argument::Int(1)]), -1);
    assert_eq!(
        handler.printf("%.*f", &[Argument::Int(i32::MAX), Argument::Double(1.0)]),
        -1
    );
    let long =
        "a string that is much longer than all that may be printed by one call of printf: one hundred bytes";
    let strings = [Argument::String(Some("short")), Argument::String(Some(long))];
    assert_eq!(handler.printf("%s%s", &strings), -1);
    assert_eq!(handler.increment(1), 2);
    let (counts, _) = bench.stop();
    let names = [Refusal::TOO_LONG, refused::MODE, refused::FILES, refused::WIDE];
    assert_eq!(names.map(|name| counts.of(name)), [6, 2, 1, 3], "{counts:?}");
}

// Adversarial clients: random bytes into all ports and mailboxes while a server runs.

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
fn random_bytes_do_not_stop_the_server() {
    let milliseconds = from_environment("SPINNERET_RPC_HARM_MS", 1500);
    let seed = from_environment("SPINNERET_RPC_SEED", 1);
    for version in Version::ALL {
        let calls = under_fire(version, seed, Duration::from_millis(milliseconds));
        println!("seed {seed}: {calls} calls of an honest client in {milliseconds} ms");
    }
}
