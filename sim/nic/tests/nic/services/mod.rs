//! Handlers that call the host.

mod command;
mod emissary;
mod misuse;
mod sample;
mod typed;

use crate::kit::{ok, program};
use spinneret_host::{Context, Nic, Options, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_packets::udp;
use spinneret_rpc::clib::{Access, Config, Permissions};
use spinneret_rpc::nic::Window;
use spinneret_rpc::{Copies, Libc, Offer, Server, Services, TestCalls, opcode};
use std::cell::RefCell;
use std::io;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Where the payload of a UDP packet begins.
const PAYLOAD: usize = 42;
/// Longest that handlers take for anything, on the NIC.
const PATIENCE: Duration = Duration::from_millis(20);

/// The request to the handler of `runtime/tests/rpc`: `enum kind` there.
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

/// Its answer.
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
        self.context_of("rpc", port, &Options::default())
    }

    /// The same with other handlers of `runtime/tests`.
    pub(crate) fn context_of(&self, name: &str, port: u16, options: &Options) -> Context<Simulated> {
        let rules = Ruleset::all()
            .rule(Rule::udp_destination_port(port, port))
            .end_of_message(Rule::NEVER);
        let program = program(&format!("tests/{name}"));
        ok(self.nic.open_context(&program, name, &rules, options))
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

    /// Returned packets.
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

    /// Lets services answer until that many packets were returned.
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

#[test]
fn calls_return_numbers() {
    for copies in ALL {
        numbers_come_back(copies);
    }
}

/// Offers by every kind of copies.
const ALL: [Copies; 3] = [Copies::Words, Copies::Bits, Copies::Host];

fn told(copies: Copies) -> Offer {
    Offer {
        copies,
        ..Offer::default()
    }
}

fn numbers_come_back(copies: Copies) {
    let bench = Bench::new();
    let mut services = bench.services(&told(copies), None);
    // The last two do not fit next to the inbox on the NIC.
    for start in [0_u32, 5, 0x1fff_fffe, 0x7fff_fffe] {
        let answer = bench.ask(&mut services, Kind::Increments, 3, start);
        assert_eq!([answer.rest[0], answer.rest[1]], [start + 3, 0]);
    }
    // Without a number in the packet, and with one.
    for has_number in [0, 1, 0] {
        for kind in [Kind::Noops, Kind::Asynchronous] {
            let answer = bench.ask(&mut services, kind, 10, has_number);
            assert_eq!(answer.rest[0], 10);
        }
    }
    let (counts, end) = ok(services.close());
    assert_eq!((counts.calls, end), (72, None));
    assert!(counts.refusals.is_empty(), "{counts:?}");
}

#[test]
fn sends_and_receives_work_in_any_order() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    for ends_with_send in [0, 1, 0, 1] {
        let answer = bench.ask(&mut services, Kind::Interface, 0, ends_with_send);
        assert_eq!(answer.number, 9);
    }
}

#[test]
fn streams_of_any_length_are_echoed() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    for bytes in [0, 1, 55, 56, 57, 119, 120, 121, 184, 185, 300] {
        for room in [300, bytes, bytes / 2, 0] {
            let answer = bench.ask(&mut services, Kind::Echo, bytes, room);
            assert_eq!(
                (answer.number, answer.rest[0]),
                (bytes, 0),
                "{bytes} bytes, room for {room}"
            );
        }
    }
}

#[test]
fn text_goes_to_the_hosts_output() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    for text in ["", "short", "a line of text that is longer than half a packet"] {
        bench.push(1, Kind::Puts, 0, 0, text.as_bytes());
        let answer = bench.wait(&mut services, 1)[0];
        assert_eq!(answer.number as usize, text.len() + 1);
        assert_eq!(bench.output.take(), format!("{text}\n"));
    }
    bench.ask(&mut services, Kind::Names, 0, 0);
    let lines = ok(bench.nic.stdout().lines());
    assert_eq!(lines[0].line, "the NIC's own output goes on");
    assert_eq!(bench.output.take(), "");
}

#[test]
fn printf_prints_what_c_does() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    let wanted = [
        "packet -7 of eleven\n",
        "-1 4000000000 -2 3000000000 -3 123456789abcdef\n",
        "44 1 x %   abc|z   |\n",
        "5 -6 -7 4\n",
        "   42 7   | 3.14 1.000000e+10\n",
        "one, (null), three\n",
        "no \n",
        "nothing\n",
        "(nil)\n",
    ];
    for (case, wanted) in (0..).zip(wanted) {
        let answer = bench.ask(&mut services, Kind::Printf, case, 0);
        assert_eq!(bench.output.take(), wanted);
        assert_eq!(answer.number as usize, wanted.len(), "{wanted}");
    }
    bench.ask(&mut services, Kind::Printf, 9, 0);
    assert_eq!(bench.errors.take(), "to standard error\n");
    let answer = bench.ask(&mut services, Kind::LongPrintf, 0, 0);
    let text = ["the quick brown fox jumps over the lazy dog"; 4].join(", ");
    let wanted = format!("{text} 1 short 2 {text} cut h\n");
    assert_eq!(bench.output.take(), wanted);
    assert_eq!(answer.number as usize, wanted.len());
    let (counts, _) = ok(services.close());
    assert_eq!(counts.calls, 11, "one call each: {counts:?}");
}

#[test]
fn files_are_written_and_read() {
    let bench = Bench::new();
    let folder = ok(tempfile::tempdir());
    let mut services = bench.services(&Offer::default(), Some(folder.path()));
    let answer = bench.ask(&mut services, Kind::FileSession, 0, 0);
    let failed = u32::MAX;
    assert_eq!(answer.rest, [1, 8, 8, 16, 0, 1, 4, 1, 0, 4, 0, 0, failed]);
    let written = ok(std::fs::read_to_string(folder.path().join("log.txt")));
    assert_eq!(written, "one\ntwo\n3 three\ntail");
}

#[test]
fn sixteen_hpus_call_at_once() {
    for (ports_per_hpu, copies) in [
        (1, Copies::Words),
        (2, Copies::Words),
        (1, Copies::Bits),
        (2, Copies::Bits),
    ] {
        let bench = Bench::new();
        let offer = Offer {
            ports_per_hpu,
            ..told(copies)
        };
        let mut services = bench.services(&offer, None);
        for number in 0..48 {
            let kind = [Kind::Increments, Kind::Asynchronous, Kind::Noops][number as usize % 3];
            bench.push(1, kind, 20, 7, &[]);
        }
        let answers = bench.wait(&mut services, 48);
        let mut hpus: Vec<u32> = answers.iter().map(|answer| answer.hpu).collect();
        hpus.sort_unstable();
        hpus.dedup();
        assert_eq!(hpus, Vec::from_iter(0..16));
        let right = answers.iter().filter(|answer| answer.rest[0] == 27).count();
        let done = answers.iter().filter(|answer| answer.rest[0] == 20).count();
        assert_eq!((right, done), (16, 32));
        let (counts, _) = ok(services.close());
        assert_eq!(counts.calls, 48 * 20);
    }
}

#[test]
fn contexts_have_their_own_services() {
    let bench = Bench::new();
    let (first, second) = (bench.context(1), bench.context(2));
    let other = Bench::new();
    let mut services = [
        ok(Services::open(first, &Offer::default(), bench.add(None))),
        ok(Services::open(second, &Offer::default(), other.add(None))),
    ];
    // One HPU after the other gets packets of both, so each loses what it knew of the other context.
    for round in 0..6_u32 {
        for port in [1, 2] {
            bench.push(port, Kind::Puts, 0, 0, format!("{port}: {round}").as_bytes());
            let mut answers = Vec::new();
            while answers.is_empty() {
                for services in &mut services {
                    ok(services.wait(Duration::from_micros(1)));
                }
                answers = bench.answers();
            }
        }
    }
    for (port, output) in [(1, &bench.output), (2, &other.output)] {
        let wanted: String = (0..6).map(|round| format!("{port}: {round}\n")).collect();
        assert_eq!(output.take(), wanted);
    }
}

#[test]
fn services_can_be_reopened() {
    for copies in ALL {
        opened_again(copies);
    }
}

fn opened_again(copies: Copies) {
    let bench = Bench::new();
    // The other context keeps the program running, so HPUs remember their ports.
    let _other = bench.context(2);
    for round in 0..3 {
        let mut services = bench.services(&told(copies), None);
        // An odd number of calls leaves mailboxes at 1.
        let answer = bench.ask(&mut services, Kind::Increments, 1, round);
        assert_eq!(answer.rest[0], round + 1);
        let (counts, _) = ok(services.close());
        assert_eq!(counts.calls, 1);
    }
    let other = if copies == Copies::Bits {
        Copies::Words
    } else {
        Copies::Bits
    };
    let error = Services::open(bench.context(1), &told(other), bench.add(None)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "handlers of context 1 are to wait by Copies::{other:?}, and its HPUs remember another way as long as the program \
             runs: open the same again, or close all contexts first"
        )
    );
    let offer = Offer {
        ports_per_hpu: 2,
        ..told(copies)
    };
    let error = Services::open(bench.context(1), &offer, bench.add(None)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "context 1 had 16 ports of LLVM 23 before, which its HPUs remember as long as the program runs: open the same again, \
         or close all contexts first"
    );
}

#[test]
fn handlers_wait_at_host_memory_for_a_server_on_a_thread() {
    let bench = Bench::new();
    let add = |server: &mut Server<_>| {
        server.add(opcode::LIBC, Rc::new(TestCalls));
    };
    let mut services = ok(Services::on_thread(bench.context(1), &Offer::default(), add));
    bench.push(1, Kind::Increments, 4, 38, &[]);
    let answer = bench.wait(&mut services, 1)[0];
    assert_eq!(answer.rest[0], 42);
    let answer = bench.ask(&mut services, Kind::Echo, 300, 300);
    assert_eq!((answer.number, answer.rest[0]), (300, 0));
    let (counts, _) = ok(services.close());
    assert_eq!(counts.calls, 5);
}
