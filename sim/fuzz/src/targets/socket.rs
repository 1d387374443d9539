//! Messages of programs to `spinneret serve`.

use super::connect;
use super::files::root;
use crate::{Counts, Target, number};
use anyhow::Context as _;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use spinneret_host::Device as _;
use spinneret_host::device::socket::{Served, Server, VERSION};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_regmap::pspin::HANDLER_BASE;
use spinneret_regmap::{caps, registers};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Requests by number (`host/src/device/socket/message.rs`): the kinds of their numbers, and whether bytes follow.
const REQUESTS: [(&[Kind], bool); 14] = [
    (&[Kind::Version], false),
    (&[Kind::Register], false),
    (&[Kind::Register, Kind::Any], false),
    (&[Kind::Address, Kind::Few], false),
    (&[Kind::Address], true),
    (&[Kind::Name], true),
    (&[Kind::Context, Kind::Area], false),
    (&[Kind::Context], false),
    (&[Kind::Wait], false),
    (&[], true),
    (&[], false),
    (&[Kind::Name], true),
    (&RULES, false),
    (&[Kind::Context], false),
];
/// The request that opens a context, which has more than such numbers.
const OPEN_CONTEXT: usize = 11;
/// Handlers of the program.
const HANDLERS: &str = "icmp_ping";
/// A context, and rules: their join, none, and the one that ends messages.
const RULES: [Kind; 8] = [
    Kind::Context,
    Kind::Name,
    Kind::Name,
    Kind::Any,
    Kind::Any,
    Kind::Any,
    Kind::Any,
    Kind::Any,
];
/// Hello with the version of the protocol, preceded by its length.
const HELLO: [u8; 6] = [2, 0, 0, 0, 0, VERSION as u8];
/// Messages of a client.
const MESSAGES: usize = 400;
/// Longest that time on the NIC is let pass for one client.
const PASSES: Duration = Duration::from_micros(50);
/// Longest that a client is served.
const PATIENCE: Duration = Duration::from_secs(20);

/// Kind of a number in a request.
#[derive(Clone, Copy)]
enum Kind {
    Version,
    Register,
    Address,
    Context,
    Area,
    Few,
    Wait,
    Name,
    Any,
}

/// A server with a NIC, and one client for each input.
pub(super) struct Socket {
    server: Server,
    nic: Simulated,
    offsets: Vec<u64>,
    elf: Vec<u8>,
    folder: TempDir,
}

impl Socket {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("there is no room for a socket")?;
        let elf = spinneret_nic::run::program(&root().join("runtime/examples/icmp_ping"), 2)?;
        Ok(Self {
            server: Server::bind(&folder.path().join("nic"))?,
            nic: Simulated::new(NicConfig::default())?,
            offsets: registers()
                .filter_map(|register| register.address(0).map(u64::from))
                .collect(),
            elf: std::fs::read(elf)?,
            folder,
        })
    }

    fn number(&self, kind: Kind, rng: &mut ChaCha8Rng) -> u64 {
        let is_hostile = match kind {
            // A client with another version is dropped at once.
            Kind::Version | Kind::Name => rng.random_ratio(1, 400),
            _ => rng.random_ratio(1, 8),
        };
        if is_hostile {
            let number = number(rng);
            // Most numbers have 32 bits, and a larger one is no message.
            return match kind {
                Kind::Wait => number,
                _ if rng.random_ratio(1, 200) => number,
                _ => number & u64::from(u32::MAX),
            };
        }
        match kind {
            Kind::Version => VERSION.into(),
            Kind::Register => self.offsets.choose(rng).copied().unwrap_or(0),
            Kind::Address => u64::from(HANDLER_BASE) + rng.random_range(0..0x40_0000) * 4,
            Kind::Context => rng.random_range(0..5),
            Kind::Area => rng.random_range(0..1 << 22),
            Kind::Few => rng.random_range(0..256) * 4,
            Kind::Wait => rng.random_range(0..2000),
            Kind::Any => number(rng) & u64::from(u32::MAX),
            Kind::Name => 0,
        }
    }

    fn message(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let request = match rng.random_ratio(1, 400) {
            true => rng.random_range(0..256),
            false => rng.random_range(0..REQUESTS.len()),
        };
        let mut body = varint(request as u64);
        let (kinds, has_bytes) = REQUESTS.get(request).copied().unwrap_or((&[], false));
        for kind in kinds {
            body.extend(varint(self.number(*kind, rng)));
        }
        let opens = request == OPEN_CONTEXT;
        if has_bytes && rng.random_ratio(1, if opens { 2 } else { 20 }) {
            body.extend(varint(self.elf.len() as u64));
            body.extend(&self.elf);
        } else if has_bytes {
            let count = rng.random_range(0..64);
            body.extend(varint(4 * count));
            body.extend((0..4 * count).map(|_| rng.random::<u8>()));
        }
        if opens {
            // Name of the handlers, rules, host memory, and default shares of the rest.
            body.extend(varint(HANDLERS.len() as u64));
            body.extend(HANDLERS.as_bytes());
            for kind in RULES[1..].iter().chain([&Kind::Area, &Kind::Name, &Kind::Name]) {
                body.extend(varint(self.number(*kind, rng)));
            }
        }
        if rng.random_ratio(1, 400) {
            let at = rng.random_range(0..body.len());
            body[at] = rng.random();
        }
        let length = match rng.random_ratio(1, 1000) {
            true => number(rng) as u32,
            false => body.len() as u32,
        };
        [&length.to_le_bytes()[..], &body].concat()
    }

    /// Serves a client that has sent everything until nothing is left to do.
    fn serve(&mut self, client: &mut UnixStream, input: &[u8]) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let (mut sent, mut is_open, mut replies) = (0, true, Replies::default());
        let (begun, start) = (Instant::now(), self.nic.now());
        loop {
            if is_open && sent < input.len() {
                match client.write(&input[sent..]) {
                    Ok(count) => sent += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(_) => is_open = false,
                }
            }
            is_open &= replies.take(client);
            let served = self
                .server
                .serve(&mut self.nic)
                .map_err(|error| error.to_string())?;
            is_open &= replies.take(client);
            match served {
                Served::Gone => break,
                Served::Nothing if sent == input.len() || !is_open => break,
                Served::Waits(until) if until <= start + PASSES => {
                    let mut nic = self.nic.borrow_mut();
                    let until_ps = u64::try_from(until.as_nanos()).map_err(|error| error.to_string())? * 1000;
                    nic.run_until(until_ps).map_err(|error| error.to_string())?;
                }
                Served::Waits(_) => break,
                _ => {}
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("it is served for {} s and more", PATIENCE.as_secs()));
            }
        }
        counts.pieces = replies.whole + u64::from(sent < input.len());
        counts.understood = replies.good;
        Ok(counts)
    }

    /// Checks that a well-behaved client is still served: it reads the NIC's magic number.
    fn check(&mut self) -> Result<(), String> {
        let mut client = connect(self.folder.path())?;
        let offset = varint(caps::MAGIC.offset.into());
        let request = [&[1], &offset[..]].concat();
        let messages = [&HELLO[..], &(request.len() as u32).to_le_bytes(), &request].concat();
        client.write_all(&messages).map_err(|error| error.to_string())?;
        let (begun, mut replies) = (Instant::now(), Replies::default());
        while replies.whole < 2 && begun.elapsed() < PATIENCE {
            self.server
                .serve(&mut self.nic)
                .map_err(|error| error.to_string())?;
            replies.take(&mut client);
        }
        let wanted = [&[Replies::WORD], &varint(caps::MAGIC_VALUE.into())[..]].concat();
        match replies.last == wanted {
            true => Ok(()),
            false => Err(format!(
                "the next client asks who the NIC is, and hears {:02x?}",
                replies.last
            )),
        }
    }

    /// Lets the server notice that its client has disconnected.
    fn clear(&mut self) -> Result<(), String> {
        while self.server.has_client() {
            self.server
                .serve(&mut self.nic)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl Target for Socket {
    fn unit(&self) -> &'static str {
        "messages"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        // Most clients start with a hello.
        let mut input = match rng.random_ratio(9, 10) {
            true => HELLO.to_vec(),
            false => Vec::new(),
        };
        for _ in 0..rng.random_range(1..MESSAGES) {
            input.extend(self.message(rng));
        }
        input
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let mut client = connect(self.folder.path())?;
        let counts = self.serve(&mut client, input)?;
        drop(client);
        self.clear()?;
        self.check()?;
        self.clear()?;
        Ok(counts)
    }
}

/// Received replies: complete ones, successful ones, and the last one.
#[derive(Default)]
struct Replies {
    bytes: Vec<u8>,
    whole: u64,
    good: u64,
    /// The body of the last one.
    last: Vec<u8>,
}

impl Replies {
    /// Number of a refusal.
    const FAILED: u8 = 7;
    /// Number of a word.
    const WORD: u8 = 3;

    /// Reads what is available; returns whether more may come.
    fn take(&mut self, client: &mut UnixStream) -> bool {
        let mut chunk = [0; 1 << 16];
        let is_open = loop {
            match client.read(&mut chunk) {
                Ok(0) => break false,
                Ok(count) => self.bytes.extend(&chunk[..count]),
                Err(error) => break error.kind() == ErrorKind::WouldBlock,
            }
        };
        while let Some((length, rest)) = self.bytes.split_first_chunk() {
            let length = u32::from_le_bytes(*length) as usize;
            if rest.len() < length {
                break;
            }
            self.whole += 1;
            self.good += u64::from(rest.first().is_some_and(|kind| *kind != Self::FAILED));
            self.last = rest[..length].to_vec();
            self.bytes.drain(..4 + length);
        }
        is_open
    }
}

/// A number, as the protocol writes it.
fn varint(value: u64) -> Vec<u8> {
    postcard::to_stdvec(&value).expect("a vector grows as it has to")
}
