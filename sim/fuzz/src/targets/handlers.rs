//! Handlers of random instructions, on the model of the cluster with the real runtime.

use super::files::root;
use crate::{Counts, Target, number};
use anyhow::{Context as _, ensure};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::task::{Code, Her, HostAction, Meta};
use spinneret_cluster::{Cluster, Config, Ending, Event, Program};
use spinneret_regmap::message_id;
use spinneret_regmap::pspin::{
    DMA_BASE, DRIVER_BASE, HANDLER_BASE, HANDLER_BYTES, ICACHE_BASE, L1_ALIAS, L1_BASE, L1_BYTES, L1_PACKETS,
    L1_SCRATCHPADS, L1_STRIDE, PACKET_BASE, PROGRAM_BASE, PROGRAM_BYTES, STDOUT, TERMINATE, l1_address,
};

/// Clocks of a handler, and of all that an input leads to.
const WATCHDOG: u64 = 2_000;
const PATIENCE: u64 = 400_000;
/// Clocks until the runtime is ready.
const START: u64 = 400_000;
/// Packets of each of both contexts, their places and their bytes.
const PACKETS: u32 = 8;
const SLOT_BYTES: u32 = 2048;
const PACKET: u32 = 200;
/// Fill byte of memory outside of the hostile handler, and the length of a run of it that cannot be a coincidence.
const CANARY: u8 = 0xc5;
const SECRET: usize = 16;
/// Handler memory and scratchpads of a context.
const MEMORY: u32 = 0x1000;
const SCRATCHPAD: u32 = 0x800;

/// A cluster whose runtime waits for packets, and a handler whose code is replaced.
pub(super) struct Handlers {
    ready: Cluster,
    hole: Code,
    /// Contexts: that of the hostile handler, and one that must not notice.
    contexts: [Meta; 2],
    program: Vec<u8>,
}

impl Handlers {
    pub(super) fn new() -> anyhow::Result<Self> {
        let elf = spinneret_nic::run::program(&root().join("runtime/tests/hole"), 2)?;
        let program = Program::open(&elf)?;
        let mut ready = Cluster::new(Config {
            watchdog: WATCHDOG,
            ..Config::default()
        });
        ready.load(&program);
        ready.set_fetch(3);
        while !ready.is_ready() {
            ensure!(ready.now() < START, "the runtime does not start");
            ready.tick();
        }
        let context = |number: u32, name: &str| -> anyhow::Result<Meta> {
            let [header, payload, tail] = program.find(name)?;
            let scratchpad = [number * SCRATCHPAD, SCRATCHPAD];
            Ok(Meta {
                handler_memory: [program.free_memory + number * MEMORY, MEMORY],
                host_memory: (0x12_0000_0000 + (u64::from(number) << 28), 1 << 20),
                header,
                payload,
                tail,
                scratchpads: [scratchpad, scratchpad, [0; 2], [0; 2]],
                ..Meta::default()
            })
        };
        let contexts = [context(0, "hole")?, context(1, "witness")?];
        let mut handlers = Self {
            hole: contexts[0].payload,
            contexts,
            program: Vec::new(),
            ready,
        };
        for (address, bytes) in handlers.canaries() {
            ensure!(handlers.ready.write(address, &vec![CANARY; bytes as usize]));
        }
        let code = handlers.ready.memory().read(PROGRAM_BASE, PROGRAM_BYTES);
        handlers.program = code.context("there is program memory")?.to_vec();
        Ok(handlers)
    }

    /// Returns memory outside of the hostile handler: address and bytes.
    fn canaries(&self) -> Vec<(u32, u32)> {
        let [_, witness] = &self.contexts;
        let first = L1_SCRATCHPADS + SCRATCHPAD;
        let scratchpads = (0..2).map(|cluster| (l1_address(cluster, first), L1_BYTES - first));
        let behind = witness.handler_memory[0];
        let slots = (0..2 * PACKETS).map(|number| (slot(number) + PACKET, SLOT_BYTES - PACKET));
        scratchpads
            .chain([(behind, HANDLER_BASE + HANDLER_BYTES - behind)])
            .chain(slots)
            .chain([(slot(2 * PACKETS), 64 << 10)])
            .collect()
    }

    /// Packets for both contexts, in turn.
    fn push(&self, cluster: &mut Cluster) {
        for number in 0..2 * PACKETS {
            let meta = self.contexts[number as usize % 2];
            let bytes = vec![number as u8; PACKET as usize];
            cluster.write(slot(number), &bytes);
            cluster.push(Her {
                message: message_id::compose(number.into(), number % 2) as u32,
                is_last: true,
                address: slot(number),
                size: PACKET,
                copied: PACKET,
                meta,
                ..Her::default()
            });
        }
    }

    /// Returns which promise was broken, if any.
    fn broken(&self, cluster: &Cluster) -> Option<String> {
        for (address, bytes) in self.canaries() {
            let there = cluster.memory().read(address, bytes)?;
            if let Some(at) = there.iter().position(|byte| *byte != CANARY) {
                return Some(format!("it wrote to {:#010x}", address + at as u32));
            }
        }
        let code = cluster.memory().read(PROGRAM_BASE, PROGRAM_BYTES)?;
        let hole = (self.hole.address - PROGRAM_BASE) as usize
            ..(self.hole.address + self.hole.size - PROGRAM_BASE) as usize;
        let differs = |at: &usize| !hole.contains(at) && code[*at] != self.program[*at];
        let at = (0..code.len()).find(differs)?;
        Some(format!(
            "it wrote to {:#010x}, which is code",
            PROGRAM_BASE + at as u32
        ))
    }
}

/// Where a packet is.
fn slot(number: u32) -> u32 {
    PACKET_BASE + number * SLOT_BYTES
}

/// Results of the packets.
#[derive(Default)]
struct Ends {
    freed: u32,
    /// Numbers of the witness's packets that were echoed.
    sent: Vec<u8>,
    returned: u64,
    broken: Option<String>,
}

impl Ends {
    /// Checks that no byte from outside of the task leaves the NIC.
    fn look(&mut self, bytes: &[u8]) {
        if bytes.windows(SECRET).any(|part| part == [CANARY; SECRET]) {
            self.broken = Some("what is none of the task's went out".to_owned());
        }
    }

    /// Acts as the NIC and records the results.
    fn take(&mut self, cluster: &mut Cluster) {
        while let Some(command) = cluster.take_send() {
            let bytes = cluster.memory().read(command.source as u32, command.length);
            let first = bytes.and_then(|bytes| bytes.first().copied());
            if let (Some(bytes), Some(first)) = (bytes, first)
                && first % 2 == 1
                && bytes == vec![first; PACKET as usize]
            {
                self.sent.push(first);
            }
            self.look(bytes.unwrap_or_default());
            cluster.complete(command.id);
        }
        while let Some(access) = cluster.take_access() {
            match access.action {
                HostAction::Read { destination, bytes } => {
                    cluster.write(destination, &vec![0; bytes as usize]);
                }
                HostAction::Write(bytes) | HostAction::Direct(bytes) => self.look(&bytes),
            }
            cluster.complete(access.id);
        }
        while cluster.take_feedback().is_some() {
            self.freed += 1;
        }
        while cluster.take_stdout().is_some() {}
        for event in cluster.take_events() {
            match event {
                Event::Finished(run) => self.returned += u64::from(run.ending == Ending::Done),
                Event::Halted { hpu, trap, .. } => {
                    self.broken = Some(format!(
                        "HPU {}.{} stands still after {trap:?}",
                        hpu.cluster, hpu.core
                    ));
                }
                _ => {}
            }
        }
    }
}

impl Target for Handlers {
    fn unit(&self) -> &'static str {
        "handlers"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        random_code(self.hole.size as usize, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let mut cluster = self.ready.clone();
        cluster.write(
            self.hole.address,
            &input[..input.len().min(self.hole.size as usize)],
        );
        self.push(&mut cluster);
        let (mut ends, end) = (Ends::default(), cluster.now() + PATIENCE);
        while ends.freed < 2 * PACKETS {
            let Some(next) = cluster.next().filter(|next| *next < end) else {
                return Err(format!("{} of {} packets were freed", ends.freed, 2 * PACKETS));
            };
            cluster.skip_to(next - 1);
            cluster.tick();
            ends.take(&mut cluster);
        }
        if let Some(why) = ends.broken.take().or_else(|| self.broken(&cluster)) {
            return Err(why);
        }
        let answered = (0..2 * PACKETS as u8).filter(|number| number % 2 == 1 && ends.sent.contains(number));
        match answered.count() as u32 {
            PACKETS => Ok(Counts {
                pieces: 1,
                // Those of the witness return.
                understood: u64::from(ends.returned > u64::from(PACKETS)),
            }),
            count => Err(format!(
                "{count} of {PACKETS} packets of another context were answered"
            )),
        }
    }
}

const ZERO: u32 = 0;
/// Registers to choose from: t0 to t2, a0 to a5. The stack pointer is chosen rarely.
const REGISTERS: [u32; 9] = [5, 6, 7, 10, 11, 12, 13, 14, 15];
const SP: u32 = 2;
const A7: u32 = 17;

/// Base addresses: the handler's own memory, its neighbours', the runtime's, registers, and unmapped ones.
const PLACES: [u32; 18] = [
    0,
    L1_BASE,
    L1_BASE + 0x600,
    L1_BASE + 0x800,
    L1_BASE + L1_PACKETS,
    L1_BASE + L1_SCRATCHPADS,
    L1_BASE + L1_STRIDE,
    L1_BASE + L1_STRIDE + L1_SCRATCHPADS,
    L1_ALIAS,
    HANDLER_BASE,
    PACKET_BASE,
    PROGRAM_BASE,
    DRIVER_BASE,
    DMA_BASE,
    ICACHE_BASE,
    STDOUT,
    TERMINATE,
    0x3000_0000,
];
/// Offset of the driver's command registers: issue, wait, test, kind.
const COMMAND: u32 = 0x80;
/// CSRs of the runtime, of the counters, and of the protection.
const CSRS: [u32; 14] = [
    0x000, 0x300, 0x304, 0x305, 0x320, 0x340, 0x341, 0x342, 0x3a0, 0x3b0, 0xb00, 0xc00, 0xf14, 0x7b0,
];

/// Generates code of at most `most` bytes that ends with a return.
fn random_code(most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut words = Vec::new();
    // Long programs rarely reach their end.
    let pieces = match rng.random_ratio(3, 4) {
        true => rng.random_range(1..12),
        false => rng.random_range(1..most / 4),
    };
    for _ in 0..pieces {
        piece(&mut words, rng);
    }
    words.truncate(most / 4 - 1);
    words.push(jalr(ZERO, 1, 0));
    let mut bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    if rng.random_ratio(1, 8) {
        let at = rng.random_range(0..bytes.len());
        bytes[at] = rng.random();
    }
    bytes
}

fn piece(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    match rng.random_range(0..14) {
        0..3 => li(words, register(rng), place(rng)),
        3 => li(words, register(rng), number(rng) as u32),
        4..6 => words.push(load(rng)),
        6..8 => words.push(store(rng)),
        8 => command(words, rng),
        9 => copy(words, rng),
        10 => {
            li(words, A7, rng.random_range(0..12));
            words.push(ECALL);
        }
        11 => words.push(csr(rng)),
        12 => words.push(atomic(rng)),
        _ => words.push(odd(rng)),
    }
}

fn register(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_ratio(1, 16) {
        true => SP,
        false => *REGISTERS.choose(rng).unwrap_or(&5),
    }
}

fn place(rng: &mut ChaCha8Rng) -> u32 {
    let base = *PLACES.choose(rng).unwrap_or(&0);
    let offset = match rng.random_range(0..3) {
        0 => rng.random_range(0..0x100),
        1 => rng.random_range(0..0x2_0000),
        _ => rng.random_range(0..16) * 0x780,
    };
    base.wrapping_add(offset)
}

const ECALL: u32 = 0x73;

fn i_type(opcode: u32, rd: u32, funct: u32, rs1: u32, immediate: i32) -> u32 {
    (immediate as u32) << 20 | rs1 << 15 | funct << 12 | rd << 7 | opcode
}

fn s_type(funct: u32, rs1: u32, rs2: u32, immediate: i32) -> u32 {
    let immediate = immediate as u32;
    (immediate >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct << 12 | (immediate & 0x1f) << 7 | 0x23
}

fn jalr(rd: u32, rs1: u32, immediate: i32) -> u32 {
    i_type(0x67, rd, 0, rs1, immediate)
}

/// Two instructions that load a constant.
fn li(words: &mut Vec<u32>, rd: u32, value: u32) {
    let low = (value << 20) as i32 >> 20;
    words.push((value.wrapping_sub(low as u32) & 0xffff_f000) | rd << 7 | 0x37);
    words.push(i_type(0x13, rd, 0, rd, low));
}

fn load(rng: &mut ChaCha8Rng) -> u32 {
    let funct = *[0, 1, 2, 4, 5].choose(rng).unwrap_or(&2);
    let immediate = rng.random_range(-8..8) * 4;
    i_type(0x03, register(rng), funct, register(rng), immediate)
}

fn store(rng: &mut ChaCha8Rng) -> u32 {
    let immediate = rng.random_range(-8..8) * 4;
    s_type(rng.random_range(0..3), register(rng), register(rng), immediate)
}

fn csr(rng: &mut ChaCha8Rng) -> u32 {
    let csr = match rng.random_ratio(3, 4) {
        true => *CSRS.choose(rng).unwrap_or(&0),
        false => rng.random_range(0..4096),
    };
    i_type(
        0x73,
        register(rng),
        rng.random_range(1..8),
        register(rng),
        csr as i32,
    )
}

fn atomic(rng: &mut ChaCha8Rng) -> u32 {
    let operation = *[0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28].choose(rng).unwrap_or(&0);
    operation << 27 | register(rng) << 20 | register(rng) << 15 | 2 << 12 | register(rng) << 7 | 0x2f
}

/// Stores to registers, then a read or a write of another one.
fn registers(words: &mut Vec<u32>, base: u32, values: &[(i32, u32)], last: (i32, bool)) {
    li(words, 5, base);
    for (offset, value) in values {
        li(words, 6, *value);
        words.push(s_type(2, 5, 6, *offset));
    }
    words.push(match last {
        (offset, true) => i_type(0x03, 6, 2, 5, offset),
        (offset, false) => s_type(2, 5, 6, offset),
    });
}

/// A command: to send, to copy to or from the host, to write there, or none.
fn command(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    let mut values = vec![(0x0c, rng.random_range(0..8))];
    for word in 0..6 {
        let value = match rng.random_range(0..3) {
            0 => place(rng),
            1 => rng.random_range(0..2000),
            _ => number(rng) as u32,
        };
        values.push((0x10 + 4 * word, value));
    }
    let last = *[
        (0x00, true),
        (0x00, true),
        (0x04, false),
        (0x08, false),
        (0x08, true),
    ]
    .choose(rng)
    .unwrap_or(&(0, true));
    registers(words, DRIVER_BASE + COMMAND, &values, last);
}

/// A copy in the NIC.
fn copy(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    let bytes = match rng.random_ratio(3, 4) {
        true => rng.random_range(0..4096),
        false => number(rng) as u32,
    };
    let values = [(0x00, place(rng)), (0x08, place(rng)), (0x10, bytes)];
    registers(words, DMA_BASE, &values, (0x18, true));
}

/// Privileged instructions, jumps, and random words.
fn odd(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..8) {
        // mret, wfi, ebreak, fence.i
        0 => *[0x3020_0073, 0x1050_0073, 0x0010_0073, 0x0000_100f]
            .choose(rng)
            .unwrap_or(&ECALL),
        1 => jalr(register(rng), register(rng), 0),
        // A branch forward or back by up to 32 bytes.
        2..4 => {
            let funct = *[0, 1, 4, 5, 6, 7].choose(rng).unwrap_or(&0);
            let to = rng.random_range(-8_i32..8) * 4;
            let bits = to as u32;
            (bits >> 12 & 1) << 31
                | (bits >> 5 & 0x3f) << 25
                | register(rng) << 20
                | register(rng) << 15
                | funct << 12
                | (bits >> 1 & 0xf) << 8
                | (bits >> 11 & 1) << 7
                | 0x63
        }
        4 => i_type(
            0x13,
            register(rng),
            rng.random_range(0..8),
            register(rng),
            rng.random_range(-2048..2048),
        ),
        _ => rng.random(),
    }
}
