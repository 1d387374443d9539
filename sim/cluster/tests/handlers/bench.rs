//! A cluster with handlers, and a test bench in place of the NIC.

use crate::slmp::Ack;
use spinneret_cluster::task::{Code, Feedback, Her, HostAction, HostCommand, Meta, NicCommand};
use spinneret_cluster::{Cluster, Config, Ending, Event, Program, Run};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Timeout of a test in clocks.
const PATIENCE: u64 = 3_000_000;
/// Slots for packets.
const SLOT_BYTES: u32 = 2048;
const PACKETS: u32 = spinneret_regmap::pspin::PACKET_BASE;
const SLOTS: u32 = 256;
/// Where the context's host memory is.
pub(crate) const HOST: u64 = 0x12_0000_0000;

/// Builds a folder with handlers, and returns the path of the ELF file.
///
/// # Panics
/// If that fails, with what has to be installed if that is why.
pub(crate) fn build(folder: &str) -> PathBuf {
    make(
        &runtime().join(folder),
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder),
    )
}

/// The runtime's sources.
pub(crate) fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

/// Builds the handlers of a folder into another one, and returns the path of the ELF file.
///
/// # Panics
/// If that fails, with what has to be installed if that is why.
pub(crate) fn make(source: &Path, out: &Path) -> PathBuf {
    let name = source.file_name().expect("it has a name").to_owned();
    // Tests of one folder run at the same time, and one make must not see what another one has half written.
    static MAKE: Mutex<()> = Mutex::new(());
    let _one_at_a_time = MAKE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = Command::new("make")
        .args(["-s", "-C"])
        .arg(source)
        .arg(format!("BUILD={}", out.display()))
        .output()
        .expect("make has to be installed: ./dev setup");
    let text = String::from_utf8_lossy(&make.stderr);
    assert!(
        make.status.success(),
        "{} cannot be built (./dev setup installs the compiler):\n{text}",
        source.display()
    );
    out.join(name).with_extension("elf")
}

/// A cluster that runs one program, with host memory.
pub(crate) struct Bench {
    pub(crate) cluster: Cluster,
    pub(crate) program: Program,
    pub(crate) host: BTreeMap<u64, u8>,
    /// The handlers' sends, with their bytes.
    pub(crate) sent: Vec<(NicCommand, Vec<u8>)>,
    pub(crate) freed: Vec<Feedback>,
    pub(crate) events: Vec<Event>,
    /// The context, for packets that come from now on.
    pub(crate) meta: Meta,
    /// Clocks after which an access to host memory is done.
    pub(crate) host_clocks: u64,
    /// Clocks after which a frame has been read and sent.
    pub(crate) send_clocks: u64,
    /// Accesses and frames under way, with the clock in which they are done.
    accesses: VecDeque<(u64, HostCommand)>,
    sends: VecDeque<(u64, NicCommand)>,
    slot: u32,
    pushed: usize,
    /// Number of handlers whose end was checked.
    checked: usize,
}

impl Bench {
    /// Starts a cluster with the handlers of a folder below `runtime/`.
    pub(crate) fn new(folder: &str, config: Config) -> Self {
        Self::with(&build(folder), config)
    }

    /// Starts a cluster with the handlers of an ELF file.
    pub(crate) fn with(elf: &Path, config: Config) -> Self {
        let program = Program::open(elf).unwrap_or_else(|error| panic!("{error}"));
        let name = program
            .only_name()
            .unwrap_or_else(|error| panic!("{error}"))
            .to_owned();
        let [header, payload, tail] = program.find(&name).unwrap_or_else(|error| panic!("{error}"));
        let scratchpad = |_| [0x4000, 0x1000];
        let meta = Meta {
            handler_memory: [program.free_memory, 0x1000],
            host_memory: (HOST, 0x10_0000),
            header,
            payload,
            tail,
            scratchpads: [scratchpad(0), scratchpad(1), [0; 2], [0; 2]],
            shared: [0; 2],
        };
        let clusters = config.clusters;
        let mut cluster = Cluster::new(config);
        cluster.load(&program);
        cluster.set_fetch((1 << clusters) - 1);
        let mut bench = Self {
            cluster,
            program,
            host: BTreeMap::new(),
            sent: Vec::new(),
            freed: Vec::new(),
            events: Vec::new(),
            meta,
            host_clocks: 0,
            send_clocks: 0,
            accesses: VecDeque::new(),
            sends: VecDeque::new(),
            slot: 0,
            pushed: 0,
            checked: 0,
        };
        bench.run();
        bench
    }

    /// The code of the payload handler.
    pub(crate) fn payload(&self) -> Code {
        self.meta.payload
    }

    /// A packet comes.
    pub(crate) fn push(&mut self, message: u32, is_last: bool, bytes: &[u8]) {
        let address = PACKETS + self.slot % SLOTS * SLOT_BYTES;
        self.slot += 1;
        while !self.cluster.can_accept_her_of(message) {
            self.clock();
        }
        assert!(self.cluster.write(address, bytes), "packets are in L2");
        let size = bytes.len() as u32;
        self.cluster.push(Her {
            message,
            is_last,
            address,
            size,
            copied: size,
            meta: self.meta,
            ..Her::default()
        });
        self.pushed += 1;
    }

    /// One clock, and what the NIC does in it.
    pub(crate) fn clock(&mut self) {
        self.cluster.tick();
        let now = self.cluster.now();
        let send = self.cluster.take_send();
        self.sends
            .extend(send.map(|command| (now + self.send_clocks, command)));
        while let Some((_, command)) = self.sends.pop_front_if(|(at, _)| *at <= now) {
            let bytes = self.cluster.memory().read(command.source as u32, command.length);
            self.sent
                .push((command, bytes.expect("it is in memory").to_vec()));
            self.cluster.complete(command.id);
        }
        let access = self.cluster.take_access();
        self.accesses
            .extend(access.map(|access| (now + self.host_clocks, access)));
        while let Some((_, access)) = self.accesses.pop_front_if(|(at, _)| *at <= now) {
            match access.action {
                HostAction::Write(bytes) => self.host.extend((access.host..).zip(bytes)),
                HostAction::Direct(bytes) => {
                    assert_eq!(access.host % 64, 0, "the NIC refuses it");
                    self.host.extend((access.host..).zip(bytes));
                }
                HostAction::Read { destination, bytes } => {
                    let data: Vec<u8> = (access.host..access.host + u64::from(bytes))
                        .map(|address| self.host.get(&address).copied().unwrap_or(0))
                        .collect();
                    self.cluster.write(destination, &data);
                }
            }
            self.cluster.complete(access.id);
        }
        self.freed.extend(self.cluster.take_feedback());
        self.events.extend(self.cluster.take_events());
    }

    /// Runs until nothing goes on, and all packets are free.
    ///
    /// # Panics
    /// If that takes too long.
    pub(crate) fn run(&mut self) {
        let end = self.cluster.now() + PATIENCE;
        while let Some(next) = self.next() {
            assert!(
                self.cluster.now() < end,
                "handlers go on for ever: {:?}",
                self.events.last()
            );
            self.cluster.skip_to(next - 1);
            self.clock();
        }
        // One is returned in a clock.
        while let Some(feedback) = self.cluster.take_feedback() {
            self.freed.push(feedback);
        }
        assert_eq!(self.freed.len(), self.pushed, "every packet is freed once");
    }

    /// Runs for a number of clocks.
    pub(crate) fn run_for(&mut self, clocks: u64) {
        let end = self.cluster.now() + clocks;
        while let Some(next) = self.next().filter(|next| *next < end) {
            self.cluster.skip_to(next - 1);
            self.clock();
        }
    }

    /// The next clock in which something happens if nothing comes.
    fn next(&self) -> Option<u64> {
        let access = self.accesses.front().map(|(at, _)| *at);
        let send = self.sends.front().map(|(at, _)| *at);
        self.cluster.next().into_iter().chain(access).chain(send).min()
    }

    /// All that handlers have printed.
    pub(crate) fn printed(&mut self) -> String {
        std::iter::from_fn(|| self.cluster.take_stdout())
            .map(|word| char::from(word as u8))
            .collect()
    }

    /// The handlers that have ended.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.events.iter().filter_map(|event| match event {
            Event::Finished(run) => Some(run),
            _ => None,
        })
    }

    /// The SLMP acknowledgements since the last call; all handlers have ended well.
    pub(crate) fn acks(&mut self) -> Vec<Ack> {
        let endings: Vec<Ending> = self.runs().skip(self.checked).map(|run| run.ending).collect();
        self.checked += endings.len();
        assert!(
            endings.iter().all(|ending| *ending == Ending::Done),
            "{endings:?}"
        );
        self.sent.drain(..).map(|(_, frame)| Ack::read(&frame)).collect()
    }

    /// A 32-bit variable of the program.
    pub(crate) fn variable(&self, address: u32) -> u32 {
        let bytes = self.cluster.memory().read(address, 4).expect("it is in memory");
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}
