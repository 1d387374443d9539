//! The bus models against the drivers of cocotbext-axi, an independent implementation: each is one end of a bus. Both
//! run in lockstep, as `tools/cocotb/peer.py` exchanges the pins of each clock with us.
//!
//! `tools/cocotb/check.sh` installs cocotb and names its Python in `SPINNERET_COCOTB`. Without it, nothing runs here.

use crate::support::{
    apply, assert_contains, limited, panic_message, panics_with, random_burst, random_frames, random_write,
};
use spinneret_fixtures::{FixtureAxiPass, FixtureAxilPass, FixtureLosesBeat, FixtureSlice};
use spinneret_sim::model::{Instance, PortInfo};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

const VARIABLE: &str = "SPINNERET_COCOTB";
/// All accesses of a bus are in four pages; the slaves of the peer fail in the last.
const SPACE: u64 = 4 * 4096;
const FAILING: u64 = 3 * 4096;
/// Cycles after which a test has failed.
const LIMIT: u64 = 200_000;

/// A driver of cocotbext-axi in Icarus, and the pins of its bus.
struct Peer {
    process: Child,
    socket: UnixStream,
    log: PathBuf,
    /// Inputs of the design, which the peer drives, and outputs.
    driven: Vec<PortHandle>,
    seen: Vec<PortHandle>,
    /// Whether the peer has finished all traffic of its own.
    is_done: bool,
}

impl Peer {
    /// Puts a peer of that kind on the bus with that prefix.
    fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, kind: &str) -> Rc<RefCell<Self>> {
        let test = thread::current().name().unwrap_or("main").replace("::", "-");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        fs::create_dir_all(&folder).expect("cargo's folder for tests is writable");
        let log = folder.join("log");
        let output = File::create(&log).expect("the folder is writable");
        let (socket, other) = UnixStream::pair().expect("two sockets");
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("more than 0");

        let dut = sim.dut.instance();
        let start = format!("{prefix}_");
        let of_bus = dut.ports().iter().filter(|port| port.name.starts_with(&start));
        let (inputs, outputs): (Vec<_>, Vec<_>) = of_bus.partition(|port| port.direction == Direction::Input);
        let handles = |ports: &[&PortInfo]| ports.iter().filter_map(|port| dut.find(port.name)).collect();
        let name = |side: char| move |port: &&PortInfo| format!("{}:{}:{side}", port.name, port.width);
        let python = env::var_os(VARIABLE).expect("tests return without it");
        let process = Command::new(python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/cocotb/peer.py"))
            .args([kind, &sim.seed().0.to_string()])
            .args(inputs.iter().map(name('p')))
            .args(outputs.iter().map(name('r')))
            .current_dir(&folder)
            .stdin(OwnedFd::from(other))
            .stdout(output.try_clone().expect("another handle"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run the Python of {VARIABLE}: {error}"));
        let peer = Rc::new(RefCell::new(Self {
            process,
            socket,
            log,
            driven: handles(&inputs),
            seen: handles(&outputs),
            is_done: false,
        }));
        sim.attach(Rc::<RefCell<Self>>::clone(&peer));
        peer
    }

    /// Receives what the peer drives in the next clock.
    fn receive(&mut self) -> Vec<u8> {
        let mut state = vec![0; 1 + self.driven.iter().map(|pin| bytes(*pin)).sum::<usize>()];
        let received = self.socket.read_exact(&mut state);
        received.unwrap_or_else(|error| panic!("the peer has failed ({error}): see {}", self.log.display()));
        self.is_done = state.remove(0) == 1;
        state
    }

    /// Ends the peer; its record of the traffic has to be this one.
    fn compare(&mut self, ours: impl IntoIterator<Item = String>) {
        self.socket.shutdown(Shutdown::Write).expect("it is open");
        self.receive();
        let mut record = String::new();
        let received = self.socket.read_to_string(&mut record);
        received.unwrap_or_else(|error| panic!("the peer has failed ({error}): see {}", self.log.display()));
        let mut theirs = record.lines();
        for (number, line) in ours.into_iter().enumerate() {
            let other = theirs.next().unwrap_or("nothing");
            assert_eq!(
                line,
                other,
                "line {number} of the records; see {}",
                self.log.display()
            );
        }
        assert_eq!(
            theirs.next(),
            None,
            "the peer has more; see {}",
            self.log.display()
        );
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Agent for Peer {
    fn drive(&mut self, dut: &mut Instance) {
        let state = self.receive();
        let mut rest = &state[..];
        for pin in &self.driven {
            let (value, after) = rest.split_at(bytes(*pin));
            dut.set_bytes(*pin, value);
            rest = after;
        }
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        let state = self.seen.iter().flat_map(|pin| &dut.bytes(*pin)[..bytes(*pin)]);
        let state: Vec<u8> = state.copied().collect();
        // If the peer has failed, the next `receive` reports it.
        let _ = self.socket.write_all(&state);
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        for pin in &self.driven {
            dut.set_bytes(*pin, &[]);
        }
    }

    fn describe(&self) -> String {
        format!("the peer is {}", if self.is_done { "done" } else { "busy" })
    }
}

/// Bytes of a pin in a message.
fn bytes(pin: PortHandle) -> usize {
    pin.width().div_ceil(8)
}

/// Runs a test if there is a peer; the design gets a seed and a limit of cycles.
fn with_peer<M: Model>(test: impl Fn(Simulation<M>, ChaCha8Rng)) {
    if env::var_os(VARIABLE).is_some() {
        run_test(1, |run| {
            let mut sim = run.simulation::<M>();
            sim.set_cycle_limit(LIMIT);
            test(sim, run.rng("traffic"));
        });
    }
}

fn pause(rng: &mut ChaCha8Rng) -> Pause {
    let percent = 30 * rng.random_range(0..3);
    let pauses = [Pause::Random { percent }, Pause::Bursty { busy: 9, idle: 9 }];
    pauses[rng.random_range(0..2)].clone()
}

fn master_config(rng: &mut ChaCha8Rng) -> MasterConfig {
    MasterConfig {
        pauses: MasterPauses {
            write_address: pause(rng),
            write_data: pause(rng),
            response: pause(rng),
            read_address: pause(rng),
            read_data: pause(rng),
        },
        skew: Skew::Random { most: 8 },
    }
}

fn latency(rng: &mut ChaCha8Rng) -> Latency {
    let most = rng.random_range(1..30);
    Latency { least: 1, most }
}

/// Parts of two pages, so that bursts fail in part.
fn faults() -> Faults {
    let ranges = [
        (0x2800..=0x2fff, Response::DecodeError),
        (0x3000..=0x37ff, Response::SlaveError),
    ];
    Faults::At(ranges.to_vec())
}

fn frame_line(frame: &Frame) -> String {
    let hex: String = frame.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("frame id {} user {:#x} bytes {hex}", frame.id, frame.user)
}

fn burst_line(what: &str, burst: Burst, response: Response) -> String {
    let Burst {
        id,
        address,
        beats,
        size,
        kind,
    } = burst;
    let (kind, response) = (kind.code(), response.code());
    format!("{what} id {id} address {address:#x} beats {beats} size {size} kind {kind} response {response}")
}

fn memory_lines(memory: &Memory) -> Vec<String> {
    let line = |address| {
        memory
            .byte(address)
            .map(|byte| format!("{address:#x} = {byte:#x}"))
    };
    (0..SPACE).filter_map(line).collect()
}

fn send_frames<M: Model>(mut sim: Simulation<M>, mut rng: ChaCha8Rng) {
    let source = sim.source("s_axis", pause(&mut rng));
    let output = sim.monitor("m_axis");
    let peer = Peer::attach(&mut sim, "m_axis", "sink");
    source.monitor().allow_null_last();
    output.allow_null_last();
    sim.reset();
    let mut frames = random_frames(&mut rng, 200, 40);
    for frame in &mut frames {
        frame.null_last = rng.random_ratio(1, 8);
        source.send(frame.clone());
    }
    sim.run_until(|_| source.is_idle());
    sim.run(100);
    peer.borrow_mut().compare(frames.iter().map(frame_line));
    sim.finish();
}

#[test]
fn cocotb_sink_receives_our_frames() {
    with_peer::<FixtureSlice>(send_frames);
}

#[test]
fn faults_between_source_and_sink_are_detected() {
    if env::var_os(VARIABLE).is_none() {
        return;
    }
    let rng = || Seed(1).rng("traffic");
    let lost = panic_message(|| send_frames(limited::<FixtureLosesBeat>(LIMIT), rng()));
    assert_contains(&lost, "of the records");
    // The peer's own checks find RLAST in the wrong beat or in none, and another RID or BID; the comparison finds RRESP
    // and BRESP that are EXOKAY.
    for fault in [4_u64, 5, 6, 12, 8, 15] {
        let expected = if [8, 15].contains(&fault) {
            "of the records"
        } else {
            "the peer has failed"
        };
        let mut sim = limited::<FixtureAxiPass>(LIMIT);
        sim.set("fault", fault);
        panics_with(expected, || answer_axi_master(sim, rng()));
    }
}

#[test]
fn our_sink_receives_cocotb_frames() {
    with_peer::<FixtureSlice>(|mut sim, mut rng| {
        // It checks the rules.
        sim.monitor("s_axis");
        let sink = sim.sink("m_axis", pause(&mut rng));
        let peer = Peer::attach(&mut sim, "s_axis", "source");
        sim.reset();
        sim.run_until(|_| peer.borrow().is_done);
        sim.run(100);
        let received = sink.receive_all();
        peer.borrow_mut()
            .compare(received.iter().map(|received| frame_line(&received.frame)));
        sim.finish();
    });
}

#[test]
fn cocotb_axi_slave_answers_our_master() {
    with_peer::<FixtureAxiPass>(|mut sim, mut rng| {
        let config = master_config(&mut rng);
        let master = sim.axi_master("s_axi", config);
        let peer = Peer::attach(&mut sim, "m_axi", "axi_slave");
        sim.reset();
        let mut expected = Memory::default();
        for _ in 0..6 {
            let mut responses = BTreeMap::new();
            for _ in 0..30 {
                let burst = random_burst(&mut rng);
                let write = random_write(&mut rng, burst);
                // Without strobes, nothing is written that could fail.
                let fails = burst.address >= FAILING && write.beats.iter().any(|beat| beat.strobes != 0);
                if !fails {
                    apply(&mut expected, &write);
                }
                responses.insert(
                    master.write(write),
                    if fails {
                        Response::SlaveError
                    } else {
                        Response::Okay
                    },
                );
            }
            sim.run_until(|_| master.is_idle());
            for done in master.take_writes() {
                assert_eq!(
                    Some(done.response),
                    responses.remove(&done.number),
                    "{:x?}",
                    done.burst
                );
            }
            for _ in 0..30 {
                master.read(ReadRequest::new(random_burst(&mut rng)));
            }
            sim.run_until(|_| master.is_idle());
            for done in master.take_reads() {
                for (number, beat) in (0..).zip(&done.beats) {
                    let fails = done.burst.address >= FAILING;
                    assert_eq!(beat.response.is_error(), fails, "{:x?}", done.burst);
                    let lanes = &beat.bytes[done.burst.lane_range(number, master.bus_bytes() as u64)];
                    let mut known = lanes.to_vec();
                    expected.overlay(done.burst.beat_address(number), &mut known);
                    assert_eq!(lanes, known, "beat {number} of {:x?}", done.burst);
                }
            }
        }
        peer.borrow_mut().compare(memory_lines(&expected));
        sim.finish();
    });
}

fn answer_axi_master(mut sim: Simulation<FixtureAxiPass>, mut rng: ChaCha8Rng) {
    let mut config = |order| SlaveConfig {
        address: pause(&mut rng),
        data: pause(&mut rng),
        latency: latency(&mut rng),
        order,
        faults: faults(),
    };
    let writes = sim.axi_write_slave("m_axi", config(AnswerOrder::Reordered));
    let (reads, memory) = (config(AnswerOrder::Interleaved), writes.shared_memory());
    let reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, reads, memory).expect("it reads");
    let peer = Peer::attach(&mut sim, "s_axi", "axi_master");
    sim.reset();
    sim.run_until(|_| peer.borrow().is_done);
    let mut lines = Vec::new();
    for (what, slave) in [("write", &writes), ("read", &reads)] {
        let bursts = slave.take_bursts().into_iter();
        lines.extend(bursts.map(|seen| burst_line(what, seen.burst, seen.response)));
    }
    lines.extend(memory_lines(&writes.memory()));
    peer.borrow_mut().compare(lines);
    sim.finish();
}

#[test]
fn our_axi_slave_answers_cocotb_master() {
    with_peer(answer_axi_master);
}

#[test]
fn cocotb_lite_slave_answers_our_master() {
    with_peer::<FixtureAxilPass>(|mut sim, mut rng| {
        let config = master_config(&mut rng);
        let master = sim.axil_master("s_axil", config);
        let peer = Peer::attach(&mut sim, "m_axil", "axil_slave");
        sim.reset();
        let mut expected = Memory::default();
        for _ in 0..6 {
            let mut responses = BTreeMap::new();
            for _ in 0..40 {
                let (address, data): (_, u32) = (rng.random_range(0..SPACE), rng.random());
                let strobes = rng.random_range(0..16);
                let fails = address >= FAILING && strobes != 0;
                if !fails {
                    expected.write(address & !3, &data.to_le_bytes(), strobes.into());
                }
                let write = LiteWrite::new(address, data.into()).strobed(strobes);
                responses.insert(master.write(write), fails);
            }
            sim.run_until(|_| master.is_idle());
            for done in master.take_writes() {
                assert_eq!(
                    Some(done.response.is_error()),
                    responses.remove(&done.number),
                    "{:x}",
                    done.address
                );
            }
            for _ in 0..40 {
                master.read(LiteRead::new(rng.random_range(0..SPACE)));
            }
            sim.run_until(|_| master.is_idle());
            for done in master.take_reads() {
                assert_eq!(
                    done.response.is_error(),
                    done.address >= FAILING,
                    "{:x}",
                    done.address
                );
                let data = done.data.to_le_bytes();
                let mut known = data;
                expected.overlay(done.address & !3, &mut known[..4]);
                assert_eq!(data, known, "{:x}", done.address);
            }
        }
        peer.borrow_mut().compare(memory_lines(&expected));
        sim.finish();
    });
}

#[test]
fn our_lite_slave_answers_cocotb_master() {
    with_peer::<FixtureAxilPass>(|mut sim, mut rng| {
        let config = LiteSlaveConfig {
            pauses: LiteSlavePauses {
                write_address: pause(&mut rng),
                write_data: pause(&mut rng),
                read_address: pause(&mut rng),
            },
            latency: latency(&mut rng),
            write_faults: faults(),
            read_faults: faults(),
        };
        let slave = sim.axil_slave("m_axil", config);
        let peer = Peer::attach(&mut sim, "s_axil", "axil_master");
        sim.reset();
        sim.run_until(|_| peer.borrow().is_done);
        let (mut lines, mut reads) = (Vec::new(), Vec::new());
        for seen in slave.take_accesses() {
            let (what, lines) = match seen.written {
                Some(_) => ("write", &mut lines),
                None => ("read", &mut reads),
            };
            let address = seen.address;
            let burst = Burst {
                id: 0,
                address,
                beats: 1,
                size: 4,
                kind: BurstKind::Word,
            };
            lines.push(burst_line(what, burst, seen.response));
        }
        lines.extend(reads);
        lines.extend(memory_lines(&slave.memory()));
        peer.borrow_mut().compare(lines);
        sim.finish();
    });
}
