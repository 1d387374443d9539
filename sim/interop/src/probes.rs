//! Costs of instructions (`runtime/tests/costs`) and answers to accesses (`runtime/tests/touch`), on the PULP cluster
//! and in the model.

use crate::bench::{self, Bench, Handlers};
use anyhow::{Context as _, Result, ensure};
use spinneret_nic::Simulated;
use spinneret_nic::run::Hpus;
use spinneret_packets::udp_from;
use std::collections::BTreeMap;
use std::fmt;

/// Operations of `runtime/tests/costs`, in the order of their numbers.
pub const OPERATIONS: &[&str] = &[
    "nothing",
    "alu",
    "alu, compressed",
    "branch taken",
    "branch not taken",
    "jump",
    "multiply",
    "multiply high",
    "divide by 3",
    "L1 load",
    "L1 load, used next",
    "L1 store",
    "L1 atomic",
    "L1 load, misaligned",
    "L1 load, other cluster",
    "L1 store, other cluster",
    "L2 load",
    "L2 store",
    "L2 atomic, own word",
    "L2 atomic, shared word",
    "L2 load, packet buffer",
    "task register read",
    "command register write",
    "cycle counter",
];
/// Times an operation is in a block; the call for cycles is alone.
const BLOCK: u32 = 16;
const ALONE: u32 = 23;
/// Measured blocks.
const BLOCKS: u32 = 4;
/// The same of an operation that is so quick in a crowd of our own HPUs that they would begin one after another for much of the
/// time.
const SHARED_ATOMIC: u32 = 19;
const SHARED_ATOMIC_BLOCKS: u32 = 16;
/// Offset of the clocks in a reply.
const CLOCKS_AT: usize = 42 + 8;
const PORT: u16 = 7000;
/// HPUs that measure at the same time, and the packets that this takes: a cluster takes 20 before the other gets any.
pub const CROWDS: [usize; 3] = [1, 8, 16];
const PACKETS: [usize; 3] = [1, 8, 28];
/// Offset of the HPU's number in a reply.
const HPU_AT: usize = 42 + 12;

/// Clocks of one operation, in hundredths, with that many HPUs at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of the operation.
    pub operation: usize,
    /// Hundredths of a clock, by [`CROWDS`].
    pub hundredths: [u64; 3],
}

/// Measures all operations, with a program for these HPUs.
///
/// # Errors
/// If a packet is not answered.
pub fn measure_costs(nic: Simulated, hpus: Hpus, mut tell: impl FnMut(&Cost)) -> Result<Vec<Cost>> {
    let handlers = Handlers::build("tests/costs", hpus)?;
    let mut bench = Bench::start(nic, &handlers)?;
    let mut costs = Vec::new();
    let mut loops = [0; 3];
    // Load the program into the cache.
    clocks(&mut bench, 0, BLOCKS, CROWDS.len() - 1)?;
    for (operation, name) in OPERATIONS.iter().enumerate() {
        let mut hundredths = [0; 3];
        for place in 0..CROWDS.len() {
            let blocks = blocks_of(operation as u32, hpus);
            let clocks = clocks(&mut bench, operation as u32, blocks, place)
                .with_context(|| format!("{name} on {} HPUs", CROWDS[place]))?;
            let times = if operation as u32 == ALONE {
                blocks
            } else {
                blocks * BLOCK
            };
            if operation == 0 {
                loops[place] = clocks;
            }
            let net = clocks.saturating_sub(if operation == 0 { 0 } else { loops[place] });
            hundredths[place] = net * 100 / u64::from(times);
        }
        let cost = Cost {
            operation,
            hundredths,
        };
        tell(&cost);
        costs.push(cost);
    }
    Ok(costs)
}

fn blocks_of(operation: u32, hpus: Hpus) -> u32 {
    if operation == SHARED_ATOMIC && hpus == Hpus::Any {
        SHARED_ATOMIC_BLOCKS
    } else {
        BLOCKS
    }
}

/// Returns the mean over the HPUs, each with its first packet.
fn clocks(bench: &mut Bench, operation: u32, blocks: u32, place: usize) -> Result<u64> {
    let payload = [operation, blocks, 0, 0].map(u32::to_be_bytes).concat();
    let (packets, crowd) = (PACKETS[place], CROWDS[place]);
    bench.send((0..packets).map(|number| udp_from(0x4000 | number as u16, PORT, &payload)));
    ensure!(bench.settle(60_000)?, "a packet stays on its way");
    let replies = bench.wire();
    ensure!(
        replies.len() == packets,
        "{} of {packets} packets were answered",
        replies.len()
    );
    let mut first = BTreeMap::new();
    for reply in &replies {
        let word = |at: usize| {
            let bytes = reply.bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u64::from(u32::from_be_bytes(bytes)))
        };
        if let Some((hpu, clocks)) = word(HPU_AT).zip(word(CLOCKS_AT)) {
            first.entry(hpu).or_insert(clocks);
        }
    }
    ensure!(first.len() == crowd, "{} HPUs worked, not {crowd}", first.len());
    Ok(first.values().sum::<u64>() / crowd as u64)
}

/// Clocks after which an access counts as hanging, and polling interval.
const PATIENCE: u64 = 3000;
const STEP: u64 = 100;
/// Offset of the value in a reply.
const VALUE_AT: usize = 42 + 8;

/// Kinds of access, by the numbers of `runtime/tests/touch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AccessKind {
    /// A word is read.
    Load,
    /// A word is written.
    Store,
    /// Something is added to a word.
    Add,
    /// Load-reserved.
    LoadReserved,
    /// Load-reserved and store-conditional.
    StoreConditional,
    /// A byte is read.
    LoadByte,
    /// A byte is written.
    StoreByte,
    /// A function is called there.
    Call,
    /// `rdcycle`.
    ReadCycle,
    /// `ebreak`.
    Break,
    /// An environment call that the runtime does not know.
    Ask,
}

/// Accesses: description, kind, address.
pub const ACCESSES: &[(&str, AccessKind, u32)] = &[
    ("own scratchpad", AccessKind::Load, 0x1001_4400),
    ("own scratchpad", AccessKind::Store, 0x1001_4400),
    ("alias of the own L1", AccessKind::Load, 0x1b01_4400),
    ("own scratchpad, misaligned", AccessKind::Load, 0x1001_4401),
    ("own scratchpad, misaligned", AccessKind::Store, 0x1001_4403),
    ("own scratchpad", AccessKind::Add, 0x1001_4400),
    ("own scratchpad, misaligned", AccessKind::Add, 0x1001_4422),
    ("own scratchpad", AccessKind::LoadReserved, 0x1001_4400),
    ("own scratchpad", AccessKind::StoreConditional, 0x1001_4400),
    ("scratchpad of the other cluster", AccessKind::Load, 0x1041_4400),
    ("scratchpad of the other cluster", AccessKind::Store, 0x1041_4400),
    ("scratchpad of the other cluster", AccessKind::Add, 0x1041_4400),
    ("program's data", AccessKind::Load, 0x1c00_0040),
    ("program's data, misaligned", AccessKind::Load, 0x1c00_0041),
    ("handler memory", AccessKind::Load, 0x1c08_0000),
    ("handler memory", AccessKind::Store, 0x1c08_0000),
    ("handler memory", AccessKind::Add, 0x1c08_0000),
    ("handler memory", AccessKind::LoadByte, 0x1c08_0003),
    ("handler memory", AccessKind::StoreByte, 0x1c08_0003),
    ("handler memory", AccessKind::LoadReserved, 0x1c08_0000),
    ("handler memory", AccessKind::StoreConditional, 0x1c08_0000),
    ("cycle counter", AccessKind::ReadCycle, 0),
    ("breakpoint", AccessKind::Break, 0),
    ("unknown environment call", AccessKind::Ask, 0),
    ("null pointer", AccessKind::Load, 0),
    ("null pointer", AccessKind::Store, 0),
    ("null pointer", AccessKind::Call, 0),
    ("nowhere", AccessKind::Load, 0x2000_0000),
    ("nowhere", AccessKind::Store, 0x2000_0000),
    ("behind the packet buffer", AccessKind::Load, 0x1c18_0000),
    ("program memory", AccessKind::Store, 0x1d00_4000),
    ("handler's data", AccessKind::Call, 0x1c08_0000),
    ("register of the task", AccessKind::Load, 0x1b20_5014),
    ("register of the task", AccessKind::Store, 0x1b20_5014),
    ("program memory", AccessKind::Load, 0x1d00_0100),
    ("SoC control", AccessKind::Load, 0x1a10_3000),
    ("standard output", AccessKind::Load, 0x1a10_4000),
    ("cluster registers", AccessKind::Load, 0x1b20_0000),
    ("instruction cache registers", AccessKind::Load, 0x1b20_1400),
    ("event unit", AccessKind::Load, 0x1b20_4000),
    ("behind the HPU's registers", AccessKind::Load, 0x1b20_5400),
    ("behind the HPU's registers", AccessKind::Store, 0x1b20_6000),
];

/// Result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was answered, with this.
    Value(u32),
    /// The handler ended with this cause.
    Cause(u32),
    /// Nothing: the HPU waits for ever.
    Hang,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value:#010x}"),
            Self::Cause(cause) => write!(f, "cause {cause}"),
            Self::Hang => f.write_str("hangs"),
        }
    }
}

/// Makes all accesses.
///
/// # Errors
/// If the hardware fails.
pub fn probe_accesses(nic: Simulated, mut tell: impl FnMut(usize, Answer)) -> Result<Vec<Answer>> {
    let handlers = Handlers::build("tests/touch", Hpus::Pspin)?;
    let mut bench = Bench::start(nic, &handlers)?;
    let mut answers = Vec::new();
    for (number, (_, kind, address)) in ACCESSES.iter().enumerate() {
        bench::begin(&mut bench.nic.borrow_mut());
        let payload = [*kind as u32, *address, 0x1234_5678]
            .map(u32::to_be_bytes)
            .concat();
        bench.send([udp_from(0x4000 | number as u16, PORT, &payload)]);
        let answer = answer(&mut bench)?;
        tell(number, answer);
        answers.push(answer);
    }
    Ok(answers)
}

fn answer(bench: &mut Bench) -> Result<Answer> {
    for _ in 0..PATIENCE / STEP {
        bench.run(STEP)?;
        let happened = bench::happened(&mut bench.nic.borrow_mut());
        let failed = happened.failed().map(Answer::Cause);
        let value = bench.wire().first().and_then(|reply| {
            let word = reply.bytes.get(VALUE_AT..VALUE_AT + 4)?.try_into().ok()?;
            Some(Answer::Value(u32::from_be_bytes(word)))
        });
        if let Some(answer) = failed.or(value) {
            return Ok(answer);
        }
    }
    Ok(Answer::Hang)
}
