//! What answers where: `runtime/tests/touch` makes one access for each packet.

use crate::bench::{Bench, Handlers};
use crate::observe::Observe;
use anyhow::Result;
use spinneret_nic::Simulated;
use spinneret_packets::udp_from;
use std::fmt;

/// Clocks after which an access that is not answered never will be.
const PATIENCE: u64 = 3000;
const STEP: u64 = 100;
const PORT: u16 = 7000;
/// Where the value lies in an answer.
const VALUE_AT: usize = 42 + 8;

/// Kinds of access, by the numbers of `runtime/tests/touch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
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

/// An access, and what it is about.
pub const TOUCHES: &[(&str, Kind, u32)] = &[
    ("own scratchpad", Kind::Load, 0x1001_4400),
    ("own scratchpad", Kind::Store, 0x1001_4400),
    ("alias of the own L1", Kind::Load, 0x1b01_4400),
    ("own scratchpad, misaligned", Kind::Load, 0x1001_4401),
    ("own scratchpad, misaligned", Kind::Store, 0x1001_4403),
    ("own scratchpad", Kind::Add, 0x1001_4400),
    ("own scratchpad, misaligned", Kind::Add, 0x1001_4422),
    ("own scratchpad", Kind::LoadReserved, 0x1001_4400),
    ("own scratchpad", Kind::StoreConditional, 0x1001_4400),
    ("scratchpad of the other cluster", Kind::Load, 0x1041_4400),
    ("scratchpad of the other cluster", Kind::Store, 0x1041_4400),
    ("scratchpad of the other cluster", Kind::Add, 0x1041_4400),
    ("program's data", Kind::Load, 0x1c00_0040),
    ("program's data, misaligned", Kind::Load, 0x1c00_0041),
    ("handler memory", Kind::Load, 0x1c08_0000),
    ("handler memory", Kind::Store, 0x1c08_0000),
    ("handler memory", Kind::Add, 0x1c08_0000),
    ("handler memory", Kind::LoadByte, 0x1c08_0003),
    ("handler memory", Kind::StoreByte, 0x1c08_0003),
    ("handler memory", Kind::LoadReserved, 0x1c08_0000),
    ("handler memory", Kind::StoreConditional, 0x1c08_0000),
    ("cycle counter", Kind::ReadCycle, 0),
    ("breakpoint", Kind::Break, 0),
    ("unknown environment call", Kind::Ask, 0),
    ("null pointer", Kind::Load, 0),
    ("null pointer", Kind::Store, 0),
    ("null pointer", Kind::Call, 0),
    ("nowhere", Kind::Load, 0x2000_0000),
    ("nowhere", Kind::Store, 0x2000_0000),
    ("behind the packet buffer", Kind::Load, 0x1c18_0000),
    ("program memory", Kind::Store, 0x1d00_4000),
    ("handler's data", Kind::Call, 0x1c08_0000),
    ("register of the task", Kind::Load, 0x1b20_5014),
    ("register of the task", Kind::Store, 0x1b20_5014),
    ("program memory", Kind::Load, 0x1d00_0100),
    ("SoC control", Kind::Load, 0x1a10_3000),
    ("standard output", Kind::Load, 0x1a10_4000),
    ("cluster registers", Kind::Load, 0x1b20_0000),
    ("instruction cache registers", Kind::Load, 0x1b20_1400),
    ("event unit", Kind::Load, 0x1b20_4000),
    ("behind the HPU's registers", Kind::Load, 0x1b20_5400),
    ("behind the HPU's registers", Kind::Store, 0x1b20_6000),
];

/// What came of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was answered, with this.
    Value(u32),
    /// The handler ended with this cause.
    Cause(u32),
    /// Nothing: the HPU waits for ever.
    Silence,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value:#010x}"),
            Self::Cause(cause) => write!(f, "cause {cause}"),
            Self::Silence => f.write_str("hangs"),
        }
    }
}

/// Makes all accesses.
///
/// # Errors
/// If the hardware fails.
pub fn touch<B: Observe>(nic: Simulated<B>, mut tell: impl FnMut(usize, Answer)) -> Result<Vec<Answer>> {
    let handlers = Handlers::build("tests/touch")?;
    let mut bench = Bench::start(nic, &handlers)?;
    let mut answers = Vec::new();
    for (number, (_, kind, address)) in TOUCHES.iter().enumerate() {
        B::begin(&mut bench.nic.borrow_mut());
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

fn answer<B: Observe>(bench: &mut Bench<B>) -> Result<Answer> {
    for _ in 0..PATIENCE / STEP {
        bench.run(STEP)?;
        let happened = B::happened(&mut bench.nic.borrow_mut());
        let failed = happened.failed.first().map(|cause| Answer::Cause(*cause));
        let value = bench.wire().first().and_then(|reply| {
            let word = reply.bytes.get(VALUE_AT..VALUE_AT + 4)?.try_into().ok()?;
            Some(Answer::Value(u32::from_be_bytes(word)))
        });
        if let Some(answer) = failed.or(value) {
            return Ok(answer);
        }
    }
    Ok(Answer::Silence)
}
