//! `spinneret serve --ether`: the hardware as a board at the end of a cable, with the library for applications at the other end.
//!
//! The cable is made of virtual interfaces, with a relay in the middle that loses, doubles and swaps frames. Where the process may
//! not make interfaces, the tests are skipped.

use crate::kit::{Process, can, contexts, json, ok, open_small, port, spinneret, succeeds, until};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_ether::{HostMemory, Link as _, Mac, Session};
use spinneret_host::device::ether::FrameSocket;
use spinneret_host::{Device as _, Nic};
use spinneret_regmap::caps;
use spinneret_skip::skip;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Packets for the contexts.
const PACKETS: &str = "udp,dport=7000..7001,size=106,rate=20Mbps,count=1e9";
/// Longest that packets are waited for, in time of the board.
pub(crate) const PATIENCE: Duration = Duration::from_millis(60);
/// How often the relay looks whether it is over.
const LOOK: Duration = Duration::from_millis(5);

/// A board in a namespace of its own, and its cable: the host's end, both ends of the relay, the board's end.
pub(crate) struct Cable {
    pub(crate) board: Process,
    host: String,
    space: String,
    address: Mac,
    is_over: Arc<AtomicBool>,
    relays: Vec<JoinHandle<()>>,
}

/// A host without memory for handlers.
struct NoMemory;

impl HostMemory for NoMemory {
    fn write(&mut self, _: u32, _: &[u8]) {}

    fn read(&mut self, _: u32, _: &mut [u8]) -> bool {
        false
    }
}

fn ip(arguments: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(arguments.split(' '));
    command
}

impl Cable {
    /// Starts a board whose cable does each harm to that share of frames. `None` where that is not allowed.
    pub(crate) fn start(name: &str, bad: f64, more: &[&str]) -> Option<Self> {
        let space = format!("spinneret-{name}");
        let [host, near, far, board] = ["h", "n", "f", "b"].map(|end| format!("sp{name}{end}"));
        // A run that was killed may have left them.
        can("ip", &["link", "delete", &host]);
        can("ip", &["netns", "delete", &space]);
        if !can("ip", &["netns", "add", &space]) {
            skip(
                name,
                &"this process may not make interfaces and namespaces (run it as root)",
            );
            return None;
        }
        succeeds(&mut ip(&format!("link add {host} type veth peer name {near}")));
        succeeds(&mut ip(&format!(
            "link add {far} type veth peer name {board} netns {space}"
        )));
        succeeds(&mut ip(&format!("-n {space} link set {board} up")));
        for end in [&host, &near, &far] {
            succeeds(&mut ip(&format!("link set {end} up")));
        }
        let mut serve = ip(&format!("netns exec {space}"));
        serve.arg(env!("CARGO_BIN_EXE_spinneret"));
        serve.args(["serve", "--ether", &board, "--json"]).args(more);
        let process = Process::start(&mut serve);
        let said = process.says("open ether:INTERFACE,");
        let address = said.split("open ether:INTERFACE,").nth(1);
        let address = address.and_then(|rest| rest.split_whitespace().next());
        let is_over = Arc::new(AtomicBool::new(false));
        let mut cable = Self {
            board: process,
            host,
            space,
            address: ok(address.expect("it is told").parse()),
            relays: Vec::new(),
            is_over,
        };
        cable.relay(&near, &far, bad, 1);
        cable.relay(&far, &near, bad, 2);
        Some(cable)
    }

    /// Passes on what comes in at an end of the relay.
    fn relay(&mut self, from: &str, to: &str, bad: f64, seed: u64) {
        let (mut from, mut to) = (ok(FrameSocket::open(from)), ok(FrameSocket::open(to)));
        let is_over = Arc::clone(&self.is_over);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.relays.push(std::thread::spawn(move || {
            let mut held: Option<Vec<u8>> = None;
            while !is_over.load(Ordering::Relaxed) {
                let Some(frame) = ok(from.receive(LOOK)) else {
                    held.take().into_iter().for_each(|frame| ok(to.send(&frame)));
                    continue;
                };
                let [is_lost, is_double, is_late] = [(); 3].map(|()| rng.random_bool(bad));
                let copies = usize::from(!is_lost) + usize::from(is_double);
                (0..copies.min(1 + usize::from(!is_late))).for_each(|_| ok(to.send(&frame)));
                held.take().into_iter().for_each(|frame| ok(to.send(&frame)));
                held = is_late.then_some(frame);
            }
        }));
    }

    /// The name by which programs open the board, whose time passes a thousand times slower.
    pub(crate) fn name(&self) -> String {
        format!("ether:{},{},slower=1000", self.host, self.address)
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for relay in self.relays.drain(..) {
            let _ = relay.join();
        }
        if !self.board.has_ended() {
            self.board.kill();
        }
        can("ip", &["link", "delete", &self.host]);
        can("ip", &["netns", "delete", &self.space]);
    }
}

/// Runs two contexts, reads their memory, counters and output.
fn programs(name: &str, bad: f64) {
    let Some(cable) = Cable::start(name, bad, &["--generate", PACKETS]) else {
        return;
    };
    let nic = ok(Nic::open(&cable.name()));
    let copy = open_small(&nic, &contexts(), "copy", &port(7000));
    let count = open_small(&nic, &contexts(), "count", &port(7001));
    let seen = copy.host_memory();
    ok(nic.wait_until("bytes of a packet", PATIENCE, || Ok(seen.load::<u64>(64)? != 0)));
    let total = ok(count.variable("total"));
    ok(nic.wait_until("packets", PATIENCE, || Ok(total.load::<u32>(0)? > 20)));
    let counters = ok(nic.counters());
    assert!(
        counters
            .get("ingress.matched")
            .is_some_and(|packets| packets > 20),
        "{counters:?}"
    );
    let mut lines = Vec::new();
    let mut stdout = nic.stdout();
    ok(nic.wait_until("output", PATIENCE, || {
        lines.extend(stdout.lines()?);
        Ok(lines.len() > 3)
    }));
    assert!(
        lines.iter().all(|line| line.to_string().contains("packet ")),
        "{lines:?}"
    );
    ok(copy.close());
    ok(count.close());
    // All of these keep the board open.
    drop((seen, total, stdout, nic));
    // Another program has the board now.
    let nic = ok(Nic::open(&cable.name()));
    assert_eq!(
        ok(nic.device().read_register(caps::MAGIC.offset)),
        caps::MAGIC_VALUE
    );
    drop(nic);
    let ended = cable.board.interrupt();
    let figures = ended
        .said
        .split("control frames: ")
        .nth(1)
        .expect("they are told");
    assert!(figures.contains(" 0 malformed, 0 for others;"), "{figures}");
    assert!(figures.contains(" acknowledged, 0 lost"), "{figures}");
    // On a clean cable as well: the simulation takes longer for some requests than a host waits.
    assert!(bad == 0.0 || !figures.contains(" 0 of them again"), "{figures}");
}

#[test]
fn programs_run_on_a_board() {
    programs("clean", 0.0);
}

#[test]
fn a_cable_that_loses_doubles_and_swaps_frames_changes_nothing() {
    programs("bad", 0.01);
}

#[test]
fn boards_are_listed_and_belong_to_one_program() {
    let Some(cable) = Cable::start("list", 0.0, &[]) else {
        return;
    };
    let (host, address) = (&cable.host, cable.address.to_string());
    let listed = json(&ok(spinneret().args(["boards", host, "--json"]).output()));
    let board = &listed[0];
    assert_eq!(
        (&board["interface"], &board["address"]),
        (&host.as_str().into(), &address.as_str().into())
    );
    assert_eq!(board["design"], 0x0001_0300);
    let table = succeeds(spinneret().args(["boards", host])).stdout;
    let table = String::from_utf8_lossy(&table).into_owned();
    assert!(
        table.contains(&format!("ether:{host},{address}   simulated")),
        "{table}"
    );
    // One program at a time, by either name.
    let short = format!("ether:{host}");
    let first = ok(Nic::open(&short));
    let error = Nic::open(&cable.name()).expect_err("it is in use").to_string();
    assert!(
        error.contains(&format!("the board {address} is in use by another program")),
        "{error}"
    );
    drop(first);
    // Another host has the key.
    let mut other = ok(Session::open(
        ok(FrameSocket::open(host)),
        cable.address,
        1,
        NoMemory,
    ));
    let error = Nic::open(&short).expect_err("it has an owner").to_string();
    assert!(error.contains("another host has the key"), "{error}");
    ok(other.close());
    drop(ok(Nic::open(&short)));
    // Reasons why there is none.
    let error = Nic::open(&format!("ether:{host},02:00:00:00:00:99")).expect_err("there is none");
    assert!(
        error.to_string().contains(&format!("no board answers at {host}")),
        "{error}"
    );
    let error = Nic::open("ether:lo").expect_err("it is no cable").to_string();
    assert!(error.contains("lo is no Ethernet"), "{error}");
    succeeds(&mut ip(&format!("link set {host} down")));
    let error = Nic::open(&short).expect_err("it is down").to_string();
    assert!(
        error.contains(&format!("{host} is down: `ip link set {host} up`")),
        "{error}"
    );
}

#[test]
fn a_host_that_disappears_leaves_the_board_to_the_next_one() {
    let Some(cable) = Cable::start("gone", 0.0, &["--generate", PACKETS]) else {
        return;
    };
    // The session of this one is never closed, and host writes of its handlers go nowhere.
    let nic = ok(Nic::open(&cable.name()));
    let copy = open_small(&nic, &contexts(), "copy", &port(7000));
    let seen = copy.host_memory();
    ok(nic.wait_until("bytes of a packet", PATIENCE, || Ok(seen.load::<u64>(64)? != 0)));
    let same = ok(Session::open(
        ok(FrameSocket::open(&cable.host)),
        cable.address,
        key(&cable.host),
        NoMemory,
    ));
    drop(same);
    let error = nic
        .device()
        .read_register(caps::MAGIC.offset)
        .expect_err("it is over")
        .to_string();
    assert!(error.contains("has ended this session"), "{error}");
    drop((seen, copy, nic));
    let nic = ok(Nic::open(&cable.name()));
    let copy = open_small(&nic, &contexts(), "copy", &port(7000));
    let seen = copy.host_memory();
    ok(nic.wait_until("bytes of a packet", PATIENCE, || Ok(seen.load::<u64>(64)? != 0)));
    until("the board", || !cable.board.has_ended());
}

/// The key of the library at an interface: the interface's address behind two letters.
fn key(interface: &str) -> u64 {
    let Mac(own) = ok(FrameSocket::open(interface)).address();
    own.iter()
        .fold(u64::from(u16::from_be_bytes(*b"sp")), |key, byte| {
            key << 8 | u64::from(*byte)
        })
}
