//! A NIC whose handlers call what a packet says, and the services that answer.

use spinneret_host::{Context, Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_packets::udp;
use spinneret_rpc::clib::{Access, Config, Permissions};
use spinneret_rpc::nic::Window;
use spinneret_rpc::{Libc, Offer, Server, Services, TestCalls, opcode};
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Where the payload of a UDP packet begins.
const PAYLOAD: usize = 42;
/// Longest that handlers take for anything, on the NIC.
const PATIENCE: Duration = Duration::from_millis(20);

/// What the handler of `runtime/tests/rpc` is asked for: `enum kind` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Noops,
    Increments,
    Asynchronous,
    Interface,
    Echo,
    Puts,
    Printf,
    LongPrintf,
    FileSession,
    Unknown,
    Fault,
    Garbage,
    Outside,
    Endless,
    Exit,
    Names,
    Hold,
}

/// What it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The HPU.
    pub(crate) hpu: u32,
    pub(crate) number: u32,
    pub(crate) rest: [u32; 13],
}

/// Text that services wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    pub(crate) fn take(&self) -> String {
        String::from_utf8(self.0.take()).expect("it is text")
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn program(folder: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../runtime")
        .join(folder);
    ok(Program::open(&ok(spinneret_nic::run::program(&folder, 2))))
}

/// A simulated NIC.
pub(crate) struct Bench {
    pub(crate) nic: Nic<Simulated>,
    pub(crate) simulated: Simulated,
    pub(crate) output: Text,
    pub(crate) errors: Text,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(NicConfig::default())
    }

    pub(crate) fn with(config: NicConfig) -> Self {
        let simulated = ok(Simulated::new(config));
        Self {
            nic: ok(Nic::new(simulated.clone())),
            simulated,
            output: Text::default(),
            errors: Text::default(),
        }
    }

    /// A context for packets to a port, which any number of HPUs handle at once.
    pub(crate) fn context(&self, port: u16) -> Context<Simulated> {
        let rules = Ruleset::all()
            .rule(Rule::udp_destination_port(port, port))
            .end_of_message(Rule::NEVER);
        let options = Options::default();
        ok(self
            .nic
            .open_context(&program("tests/rpc"), "rpc", &rules, &options))
    }

    /// The calls of libc and of LLVM's tests, with all permissions but `rename`'s and `remove`'s.
    pub(crate) fn add(&self, folder: Option<&Path>) -> impl FnOnce(&mut Server<Window>) {
        let config = Config {
            folder: folder.map(Path::to_owned),
            access: Access::Write,
            permissions: Permissions {
                exit: true,
                abort: true,
                ..Permissions::default()
            },
            output: Box::new(self.output.clone()),
            errors: Box::new(self.errors.clone()),
            ..Config::default()
        };
        move |server| {
            let libc = Rc::new(ok(Libc::new(spinneret_rpc::Version::V23, config)));
            server.add(opcode::LIBC, libc.clone());
            server.add(opcode::SPINNERET, libc);
            server.add(opcode::LIBC, Rc::new(TestCalls));
        }
    }

    pub(crate) fn services(&self, offer: &Offer, folder: Option<&Path>) -> Services<Simulated> {
        ok(Services::open(self.context(1), offer, self.add(folder)))
    }

    /// A packet that asks for something comes to a port.
    pub(crate) fn push(&self, port: u16, kind: Kind, count: u32, number: u32, rest: &[u8]) {
        self.push_to(port, [kind as u32, count, number], rest);
    }

    /// The same in numbers.
    pub(crate) fn push_to(&self, port: u16, numbers: [u32; 3], rest: &[u8]) {
        let mut payload: Vec<u8> = numbers
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .chain(rest.iter().copied())
            .collect();
        payload.resize(64, 0);
        self.simulated.borrow_mut().receive(udp(port, &payload));
    }

    /// What has come back.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let mut nic = self.simulated.borrow_mut();
        let frames = std::iter::from_fn(|| nic.take_wire());
        frames
            .map(|frame| {
                let words: Vec<u32> = frame.bytes[PAYLOAD..PAYLOAD + 64]
                    .as_chunks()
                    .0
                    .iter()
                    .map(|word| u32::from_le_bytes(*word))
                    .collect();
                Answer {
                    hpu: words[0],
                    number: words[2],
                    rest: words[3..].try_into().expect("there are so many"),
                }
            })
            .collect()
    }

    /// Lets services answer until so many packets have come back.
    pub(crate) fn wait(&self, services: &mut Services<Simulated>, count: usize) -> Vec<Answer> {
        let end = self.nic.now() + PATIENCE;
        let mut answers = self.answers();
        while answers.len() < count {
            assert!(self.nic.now() < end, "{} of {count} answers", answers.len());
            ok(services.wait(Duration::from_micros(2)));
            answers.extend(self.answers());
        }
        answers
    }

    /// One call of the handler.
    pub(crate) fn ask(
        &self,
        services: &mut Services<Simulated>,
        kind: Kind,
        count: u32,
        number: u32,
    ) -> Answer {
        self.push(1, kind, count, number, &[]);
        self.wait(services, 1)[0]
    }
}
