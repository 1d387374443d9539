//! The state machines, step by step, compared with LLVM's headers; processes that share memory.

use crate::support::{Argument, Bench, ChildProcess, Handler, STDOUT};
use spinneret_rpc::clib::Config;
use spinneret_rpc::process::State;
use spinneret_rpc::{
    Buffer, Client, Fault, Layout, LayoutError, Libc, Mapping, Memory, Process, Refusal, Server, TestCalls,
    Version, opcode,
};
use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

fn layout(version: Version) -> Layout {
    Layout::new(version, 4).unwrap()
}

/// Both sides of port 0 over the same memory, and their mailboxes.
struct Pair<'b> {
    client: Process<spinneret_rpc::Words<'b>, false>,
    server: Process<spinneret_rpc::Words<'b>, true>,
}

impl<'b> Pair<'b> {
    fn new(buffer: &'b Buffer, version: Version) -> Self {
        Self {
            client: Process::new(buffer.words(), layout(version)).unwrap(),
            server: Process::new(buffer.words(), layout(version)).unwrap(),
        }
    }

    /// The client's outbox and the server's.
    fn mailboxes(&self) -> [u32; 2] {
        let Ok(client) = self.client.outbox(0);
        let Ok(server) = self.server.outbox(0);
        assert_eq!(Ok(client), self.server.inbox(0));
        assert_eq!(Ok(server), self.client.inbox(0));
        [client, server]
    }

    fn open(&self) -> (State, Option<State>) {
        let Ok(Some(client)) = self.client.try_open(0) else {
            panic!("the client has no port");
        };
        let Ok(server) = self.server.try_open(0);
        (client, server)
    }
}

fn buffer(version: Version) -> Buffer {
    Buffer::new(layout(version).bytes())
}

#[test]
fn both_sides_have_locks_of_their_own_and_see_each_other() {
    for version in Version::ALL {
        let buffer = buffer(version);
        let pair = Pair::new(&buffer, version);
        assert!(pair.client.try_lock(0) && pair.server.try_lock(0));
        assert!(!pair.client.try_lock(0) && !pair.server.try_lock(0));
        assert_eq!(pair.mailboxes(), [0, 0]);
        pair.client.unlock(0);
        pair.server.unlock(0);

        let (mut client, server) = pair.open();
        assert!(client.owns() && server.is_none() && !pair.server.is_locked(0));
        assert_eq!(pair.client.try_send(&mut client, &[42]), Ok(true));
        assert_eq!(pair.mailboxes(), [1, 0]);
        assert!(!client.owns());
        assert_eq!(pair.client.try_receive(&mut client, &mut [0]), Ok(false));

        let Ok(Some(mut server)) = pair.server.try_open(0) else {
            panic!("the server has no port");
        };
        let mut word = [0];
        assert_eq!(pair.server.try_receive(&mut server, &mut word), Ok(true));
        assert_eq!(pair.server.try_send(&mut server, &[word[0] + 1]), Ok(true));
        assert_eq!(pair.mailboxes(), [1, 1]);
        assert_eq!(pair.client.try_receive(&mut client, &mut word), Ok(true));
        assert_eq!(word, [43]);
        let (Ok(()), Ok(())) = (pair.server.finish(&mut server), pair.client.finish(&mut client));
        assert_eq!(pair.mailboxes(), [1, 1], "neither close changes anything");
    }
}

#[test]
fn a_call_without_an_answer_is_given_back_by_the_servers_close() {
    for version in Version::ALL {
        let buffer = buffer(version);
        let pair = Pair::new(&buffer, version);
        for expected in [[1, 0], [0, 1]] {
            let (mut client, _) = pair.open();
            assert_eq!(pair.client.try_send(&mut client, &[1]), Ok(true));
            let Ok(()) = pair.client.finish(&mut client);
            pair.client.unlock(0);
            assert_eq!(pair.mailboxes(), expected);
            // Another call takes the next port meanwhile.
            let Ok(Some(next)) = pair.client.try_open(0) else {
                panic!("there are more ports");
            };
            assert_eq!(next.index(), 1);
            pair.client.unlock(1);
            let Ok(Some(mut server)) = pair.server.try_open(0) else {
                panic!("the server has no port");
            };
            assert_eq!(pair.server.try_receive(&mut server, &mut [0]), Ok(true));
            let Ok(()) = pair.server.finish(&mut server);
            pair.server.unlock(0);
            assert_eq!(pair.mailboxes(), [expected[0], expected[0]]);
        }
    }
}

#[test]
fn only_a_second_receive_acknowledges_the_first() {
    for version in Version::ALL {
        let buffer = buffer(version);
        let pair = Pair::new(&buffer, version);
        let (mut client, _) = pair.open();
        let mut word = [0];
        assert_eq!(pair.client.try_send(&mut client, &[1]), Ok(true));
        let Ok(Some(mut server)) = pair.server.try_open(0) else {
            panic!("the server has no port");
        };
        assert_eq!(pair.server.try_receive(&mut server, &mut word), Ok(true));
        assert_eq!(pair.server.try_send(&mut server, &[2]), Ok(true));
        assert_eq!(
            pair.server.try_send(&mut server, &[3]),
            Ok(false),
            "the client has not taken the first"
        );
        assert_eq!(pair.client.try_receive(&mut client, &mut word), Ok(true));
        assert_eq!(pair.mailboxes(), [1, 1]);
        assert_eq!(pair.client.try_receive(&mut client, &mut word), Ok(false));
        assert_eq!(pair.mailboxes(), [0, 1]);
        assert_eq!(
            pair.client.try_receive(&mut client, &mut word),
            Ok(false),
            "it is acknowledged once"
        );
        assert_eq!(pair.mailboxes(), [0, 1]);
        assert_eq!(pair.server.try_send(&mut server, &[3]), Ok(true));
        assert_eq!(pair.mailboxes(), [0, 0]);
        assert_eq!(pair.client.try_receive(&mut client, &mut word), Ok(true));
        assert_eq!(word, [3]);
        // A send after a receive acknowledges nothing of its own.
        assert_eq!(pair.client.try_send(&mut client, &[4]), Ok(true));
        assert_eq!(pair.mailboxes(), [1, 0]);
    }
}

#[test]
fn mailboxes_of_other_ports_are_not_touched() {
    for version in Version::ALL {
        let buffer = buffer(version);
        let pair = Pair::new(&buffer, version);
        let places = layout(version);
        for port in [0, 2, 3] {
            let Ok(()) = buffer.words().store(places.secondary(port), 9);
            let Ok(()) = buffer.words().store(places.primary(port), 9);
        }
        let Ok(Some(mut state)) = pair.client.try_open(0) else {
            panic!("port 1 is free");
        };
        assert_eq!(state.index(), 1);
        assert_eq!(pair.client.try_send(&mut state, &[1]), Ok(true));
        for port in [0, 2, 3] {
            assert_eq!(buffer.words().load(places.secondary(port)), Ok(9));
            assert_eq!(buffer.words().load(places.primary(port)), Ok(9));
        }
    }
}

#[test]
fn a_client_finds_a_mailbox_that_no_server_writes() {
    let buffer = buffer(Version::V23);
    let client = Client::new(buffer.words(), layout(Version::V23)).unwrap();
    let Ok(mut port) = client.open(opcode::NOOP);
    port.send(&[0]).unwrap();
    let Ok(()) = buffer.words().store(layout(Version::V23).primary(0), 5);
    let fault = port.receive(&mut [0]).unwrap_err();
    assert_eq!(fault, Fault::Mailbox { port: 0, value: 5 });
    assert_eq!(
        fault.to_string(),
        "the other side's mailbox of port 0 holds 5: it is 0 or 1"
    );
}

#[test]
fn a_client_and_a_server_in_one_thread() {
    for version in Version::ALL {
        let buffer = buffer(version);
        let client = Client::new(buffer.words(), layout(version)).unwrap();
        let mut server = Server::new(buffer.words(), layout(version)).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        for round in 0..5 {
            let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
            port.send(&[42 + round]).unwrap();
            assert_eq!(server.is_idle(), Ok(false));
            assert_eq!(server.poll(), Ok(true));
            let mut word = [0];
            port.receive(&mut word).unwrap();
            assert_eq!(word, [43 + round]);
            let Ok(()) = port.close();
            assert_eq!((server.poll(), server.is_idle()), (Ok(false), Ok(true)));
        }
        assert_eq!(server.counts().calls, 5);
    }
}

#[test]
fn an_unknown_call_gets_its_own_packet_back() {
    for opcode in [
        0x63ff_0000,
        0x0000_0000,
        0x6f00_0001,
        u32::MAX,
        opcode::LIBC_CALLS | 0x6300_0000,
    ] {
        let buffer = buffer(Version::V22);
        let client = Client::new(buffer.words(), layout(Version::V22)).unwrap();
        let mut server = Server::new(buffer.words(), layout(Version::V22)).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        let Ok(mut port) = client.open(opcode);
        port.send(&[77, 78]).unwrap();
        assert_eq!(server.poll(), Ok(true));
        let mut words = [0; 2];
        port.receive(&mut words).unwrap();
        assert_eq!(words, [77, 78]);
        let counts = server.counts();
        assert_eq!((counts.of(Refusal::UNKNOWN_OPCODE), counts.calls), (1, 0));
    }
}

#[test]
fn server_resumes_idle_ports_of_a_previous_server() {
    let buffer = buffer(Version::V23);
    let client = Client::new(buffer.words(), layout(Version::V23)).unwrap();
    for round in 0..4 {
        let mut server = Server::new(buffer.words(), layout(Version::V23)).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        assert_eq!(server.poll(), Ok(false));
        let Ok(mut port) = client.open(opcode::TEST_INCREMENT);
        port.send(&[round]).unwrap();
        assert_eq!(server.poll(), Ok(true));
        let mut word = [0];
        port.receive(&mut word).unwrap();
        assert_eq!(word, [round + 1]);
    }
}

#[test]
fn mismatched_layouts_are_refused() {
    let small = Buffer::new(64);
    let needs = layout(Version::V22).bytes();
    let refused = Client::new(small.words(), layout(Version::V22)).unwrap_err();
    assert_eq!(refused, LayoutError::Memory { has: 64, needs });
    let lanes = Layout::with_lanes(Version::V22, 1, 32).unwrap();
    let large = Buffer::new(lanes.bytes());
    assert_eq!(
        Client::new(large.words(), lanes).unwrap_err(),
        LayoutError::ManyLanes(32)
    );
    let buffer = buffer(Version::V22);
    let Ok(()) = buffer.words().store(layout(Version::V22).primary(2), 8);
    let refused = Server::new(buffer.words(), layout(Version::V22)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the server's mailbox of port 2 holds 8, not 0 or 1: clear the buffer before a server starts"
    );
}

/// Memory that is reached by bytes and may be gone, as that of a device.
struct Device {
    bytes: RefCell<Vec<u8>>,
    is_gone: Cell<bool>,
}

/// The error that it returns then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gone;

impl Device {
    fn reach<T>(&self, offset: u32, bytes: usize, act: impl FnOnce(&mut [u8]) -> T) -> Result<T, Gone> {
        let start = offset as usize;
        match self.is_gone.get() {
            true => Err(Gone),
            false => Ok(act(&mut self.bytes.borrow_mut()[start..start + bytes])),
        }
    }
}

impl Memory for &Device {
    type Error = Gone;

    fn bytes(&self) -> u32 {
        self.bytes.borrow().len() as u32
    }

    fn load(&self, offset: u32) -> Result<u32, Gone> {
        self.reach(offset, 4, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    fn store(&self, offset: u32, value: u32) -> Result<(), Gone> {
        self.reach(offset, 4, |bytes| bytes.copy_from_slice(&value.to_le_bytes()))
    }

    fn read(&self, offset: u32, words: &mut [u64]) -> Result<(), Gone> {
        self.reach(offset, 8 * words.len(), |bytes| {
            for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
                *word = u64::from_le_bytes(bytes.try_into().unwrap());
            }
        })
    }

    fn write(&self, offset: u32, words: &[u64]) -> Result<(), Gone> {
        self.reach(offset, 8 * words.len(), |bytes| {
            for (word, bytes) in words.iter().zip(bytes.chunks_mut(8)) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        })
    }
}

#[test]
fn device_memory_works_and_reports_loss() {
    for version in Version::ALL {
        let device = Device {
            bytes: RefCell::new(vec![0; layout(version).bytes() as usize]),
            is_gone: Cell::new(false),
        };
        let client = Client::new(&device, layout(version)).unwrap();
        let mut server = Server::new(&device, layout(version)).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        let mut port = client.open(opcode::TEST_INCREMENT).unwrap();
        port.send(&[1]).unwrap();
        assert_eq!(server.poll(), Ok(true));
        let mut word = [0];
        port.receive(&mut word).unwrap();
        assert_eq!((word, port.close()), ([2], Ok(())));
        device.is_gone.set(true);
        assert_eq!((server.poll(), server.is_idle()), (Err(Gone), Err(Gone)));
        assert_eq!(client.open(opcode::NOOP).err(), Some(Gone));
        device.is_gone.set(false);
        assert_eq!(server.is_idle(), Ok(true));
    }
}

// Processes that share memory.

/// Says to the test's own binary that it is the client, with the file, the version, and whether it dies in mid-stream.
const VARIABLE: &str = "SPINNERET_RPC_CLIENT";
const PORTS: u32 = 16;
/// The status of a client that dies.
const DIED: i32 = 9;

/// The part of the client in its process. In a run of all tests there is nothing to do.
#[test]
fn client_of_another_process() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let [path, version, dies] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{VARIABLE} is {text:?}");
    };
    let version = Version::ALL
        .into_iter()
        .find(|known| known.number().to_string() == version)
        .unwrap();
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mapping = Mapping::open(file).unwrap();
    let client = Client::new(mapping, Layout::new(version, PORTS).unwrap()).unwrap();
    if dies == "true" {
        // As many packets as a server has certainly taken when the last one is sent.
        let mut port = client.open(opcode::TEST_STREAM).unwrap();
        for packet in [1000, 1, 2] {
            port.send(&[packet]).unwrap();
        }
        std::process::exit(DIED);
    }
    let handler = Handler(&client);
    for value in 0..1000 {
        assert_eq!(handler.increment(value), value + 1);
    }
    let bytes: Vec<u8> = (0..5000_u32).map(|byte| byte as u8).collect();
    assert_eq!(handler.echo(&bytes), bytes);
    assert_eq!(handler.interface(true), 9);
    let arguments = [Argument::String(Some("process")), Argument::Int(2)];
    let (result, _) = handler.print(opcode::PRINTF_TO_STDOUT, STDOUT, "%s %d\n", &arguments);
    assert_eq!(result, 10);
    handler.leave(opcode::EXIT, 42);
}

#[test]
fn two_processes_share_a_buffer() {
    for version in Version::ALL {
        let layout = Layout::new(version, PORTS).unwrap();
        let mapping = Mapping::create(layout.bytes()).unwrap();
        let path = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            mapping.file().as_fd().as_raw_fd()
        );
        let mut server = Server::new(mapping, layout).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        let output = crate::support::Captured::default();
        let mut config = Config {
            output: Box::new(output.clone()),
            ..Config::default()
        };
        config.permissions.exit = true;
        server.add(opcode::LIBC, Rc::new(Libc::new(version, config).unwrap()));
        let client = |dies: bool| {
            let client = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "protocol::client_of_another_process",
                    "--test-threads=1",
                ])
                .env(VARIABLE, format!("{path} {} {dies}", version.number()))
                .stdout(Stdio::null())
                .spawn();
            ChildProcess(client.unwrap())
        };
        let mut first = client(true);
        assert!(!first.serve(&mut server));
        assert_eq!(first.0.wait().unwrap().code(), Some(DIED));
        let Ok(()) = server.abandon_all();
        assert!(client(false).serve(&mut server));
        let Ok(is_idle) = server.drain(Duration::from_secs(1));
        assert!(is_idle);
        assert_eq!(server.ended(), Some(spinneret_rpc::server::End::Exit(42)));
        assert_eq!(output.text(), "process 2\n");
        let counts = server.counts();
        assert_eq!((counts.of(Refusal::ABANDONED), counts.refusals.len()), (1, 1));
    }
}

#[test]
fn background_server_abandons_calls_of_a_dead_client() {
    let bench = Bench::start(Version::V23, 1, Config::default);
    let mut port = bench.client.open(opcode::TEST_STREAM).unwrap();
    port.send(&[1000, 1]).unwrap();
    std::mem::forget(port);
    bench.abandon_all();
    let buffer = Arc::clone(bench.client.process().memory());
    let next = Client::new(buffer, bench.layout).unwrap();
    assert_eq!(Handler(&next).echo(b"whole"), b"whole");
    bench.stop();
}

#[test]
fn a_mapping_cannot_be_made_shorter_by_its_clients() {
    let mapping = Mapping::create(4096).unwrap();
    let path = format!("/proc/self/fd/{}", mapping.file().as_fd().as_raw_fd());
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    assert!(file.set_len(0).is_err());
    let empty = tempfile::tempfile().unwrap();
    let refused = Mapping::open(empty).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a buffer for calls is a file of 4 bytes to 4 GiB, and this one has 0"
    );
    assert!(
        Mapping::open(File::open(path).unwrap()).is_err(),
        "it has to be writable"
    );
}
