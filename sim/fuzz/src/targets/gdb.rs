//! Packets of gdb, to a cluster that handles packets.

use super::files::root;
use crate::{Counts, Target, mutate, number};
use anyhow::ensure;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::{Cluster, Config, Program};
use spinneret_nic::gdb::{Gdb, Port};
use spinneret_nic::net::Interrupt;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Clocks until the runtime is ready, and between two polls of the connection.
const START: u64 = 400_000;
const CLOCKS: u64 = 200;
/// Packets of a conversation.
const PACKETS: usize = 60;
/// Interrupts a running cluster.
const CTRL_C: u8 = 3;
/// Longest that an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Requests: `@` is an address or any number, `%` a small number, `~` a thread. The last two end the session.
const REQUESTS: [&str; 32] = [
    "?",
    "g",
    "p%",
    "P%=2a000000",
    "m@,%",
    "M@,4:00112233",
    "X@,4:abcd",
    "Hg~",
    "Hc~",
    "T~",
    "Z0,@,4",
    "Z1,@,4",
    "Z2,@,4",
    "Z3,@,%",
    "Z4,@,%",
    "z0,@,4",
    "z2,@,4",
    "vCont?",
    "vCont;c",
    "vCont;s:~;c",
    "vCont;r@,@:~;c",
    "vCont;s:~",
    "vMustReplyEmpty",
    "qSupported:multiprocess+;swbreak+",
    "qfThreadInfo",
    "qsThreadInfo",
    "qThreadExtraInfo,~",
    "qXfer:features:read:target.xml:%,%",
    "qAttached",
    "QStartNoAckMode",
    "D",
    "k",
];

/// A cluster whose runtime waits for packets.
pub(super) struct Debugged {
    ready: Cluster,
}

impl Debugged {
    pub(super) fn new() -> anyhow::Result<Self> {
        let elf = spinneret_nic::run::program(&root().join("runtime/examples/icmp_ping"), 2)?;
        let mut ready = Cluster::new(Config::default());
        ready.load(&Program::open(&elf)?);
        ready.set_fetch(3);
        while !ready.is_ready() {
            ensure!(ready.now() < START, "the runtime does not start");
            ready.tick();
        }
        Ok(Self { ready })
    }
}

/// Runs a cluster while a gdb session sends this input; returns the answers until the connection closes.
fn talk(cluster: &mut Cluster, address: SocketAddr, input: &[u8]) -> Result<Vec<u8>, String> {
    std::thread::scope(|scope| {
        let gdb = scope.spawn(|| converse(address, input));
        while !gdb.is_finished() {
            let end = cluster.now() + CLOCKS;
            while cluster.now() < end && cluster.next().is_some() {
                cluster.tick();
            }
            cluster.attend_debugger();
        }
        gdb.join().unwrap_or_else(|_| Err("gdb panicked".to_owned()))
    })
}

/// Sends this input, and returns the answers until the connection closes.
fn converse(address: SocketAddr, input: &[u8]) -> Result<Vec<u8>, String> {
    let connected = TcpStream::connect(address).and_then(|stream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok((stream.try_clone()?, stream))
    });
    let (mut answers, mut stream) = connected.map_err(|error| error.to_string())?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Ignore errors: a client that is dropped early cannot send everything.
            let _ = stream
                .write_all(input)
                .and_then(|()| stream.shutdown(Shutdown::Write));
        });
        let mut heard = Vec::new();
        match answers.read_to_end(&mut heard) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                Err(format!("gdb is not let go in {} s", PATIENCE.as_secs()))
            }
            _ => Ok(heard),
        }
    })
}

/// Counts answers that are neither empty nor errors.
fn understood(heard: &[u8]) -> u64 {
    let answers = heard.split(|byte| *byte == b'$').skip(1);
    answers
        .filter(|answer| !answer.starts_with(b"#") && !answer.starts_with(b"E"))
        .count() as u64
}

/// A packet with a right check sum.
fn packet(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// An address where something is, or any number.
fn address(rng: &mut ChaCha8Rng) -> u64 {
    const PLACES: [u64; 6] = [0x1000_0000, 0x1b20_0000, 0x1c00_0000, 0x1c10_0000, 0x1d00_0000, 0];
    match rng.random_ratio(1, 4) {
        true => number(rng) & u64::from(u32::MAX),
        false => PLACES.choose(rng).copied().unwrap_or(0) + rng.random_range(0..0x1000),
    }
}

fn request(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let request = match rng.random_ratio(1, 60) {
        true => REQUESTS.choose(rng),
        false => REQUESTS[..REQUESTS.len() - 2].choose(rng),
    };
    let mut body = String::new();
    for letter in request.copied().unwrap_or_default().chars() {
        let _ = match letter {
            '@' => write!(body, "{:x}", address(rng)),
            '%' => write!(body, "{:x}", rng.random_range(0..70)),
            '~' => write!(body, "{:x}", rng.random_range(1..18)),
            letter => write!(body, "{letter}"),
        };
    }
    match rng.random_ratio(1, 40) {
        true => mutate(&[body.into_bytes()], rng),
        false => body.into_bytes(),
    }
}

impl Target for Debugged {
    fn unit(&self) -> &'static str {
        "packets"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let mut input = b"+".to_vec();
        for _ in 0..rng.random_range(1..PACKETS) {
            let request = request(rng);
            input.extend(packet(&request));
            // While the cluster runs, gdb sends only Ctrl-C.
            if request.starts_with(b"vCont;") {
                input.push(CTRL_C);
            } else if rng.random_ratio(1, 4) {
                input.push(*b"+-\x03".choose(rng).unwrap_or(&CTRL_C));
            }
        }
        match rng.random_ratio(1, 20) {
            true => mutate(&[input], rng),
            false => input,
        }
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let interrupt = Interrupt::never().map_err(|error| said(&error))?;
        let port = Port::listen(0).map_err(|error| said(&error))?;
        let address = port.address();
        let mut cluster = self.ready.clone();
        cluster.debug(Box::new(Gdb::new(port, interrupt.clone()).quiet()));
        let heard = talk(&mut cluster, address, input)?;
        // The run continues unless gdb killed it.
        if !interrupt.is_set() {
            let greeting = talk(&mut cluster, address, &packet(b"?"))?;
            if understood(&greeting) != 1 {
                let greeting = String::from_utf8_lossy(&greeting);
                return Err(format!("the next gdb hears {greeting:?}"));
            }
        }
        Ok(Counts {
            pieces: input.iter().filter(|byte| **byte == b'$').count() as u64,
            understood: understood(&heard),
        })
    }
}
