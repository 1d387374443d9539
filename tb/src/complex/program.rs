//! The program of the bench: a runtime that reports each start and end of a handler by standard output, and random handlers.

use super::memory::{CONTEXT_HOST, FROM_HOST, HOST, MEMORY, REGION, STRIDE, TAG_SHIFT, WINDOW, canaries};
use crate::hpu::{Layout, PROGRAM, Program, random_program};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::pspin::{
    CLUSTER_HARTS, DMA_BASE, DRIVER_BASE, HANDLER_BASE, ICACHE_BASE, L1_ALIAS, L1_CONTEXTS, PACKET_BASE,
    PACKET_BYTES, STDOUT, STDOUT_CLUSTER_SHIFT, STDOUT_HPU_SHIFT, dma, driver, l1_address,
};
use std::fmt::Write as _;

/// Characters that begin a report: an HPU begins to run, a handler starts, and ends. Those that follow have [`DATA`] and seven bits.
pub(super) const DATA: u8 = 0x80;
pub(super) const BOOT: u8 = 1;
pub(super) const START: u8 = 2;
pub(super) const END: u8 = 3;
/// Results that a handler reports: nothing wrong; an access that has to be refused was not; it read a word of another context.
pub(super) const FINE: u8 = 0;
pub(super) const HOLE: u8 = 0x6e;
pub(super) const LEAK: u8 = 0x5d;
/// Stages have this place in the tag of a handler, above the number of the message.
pub(super) const STAGE_SHIFT: u32 = 14;
/// Packets are this far apart, so that bits of their address are their slot.
pub(super) const SLOT_SHIFT: u32 = 10;
/// Where the random words of wild handlers begin, and where these start within them.
const WILD: usize = 0x1000;
const WILD_STARTS: std::ops::Range<u32> = 0x2000..0x7000;
/// Handlers of each kind.
const VARIANTS: usize = 2;

/// A kind of handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Ends at once.
    Quick,
    /// Loads, stores and atomic operations in its own memory; locks stay locked.
    Memory,
    /// Copies in its own memory.
    Copies,
    /// Commands with its own memory.
    Commands,
    /// One access to memory that it does not own.
    Foreign,
    /// A copy or command with memory that it does not own.
    Steals,
    /// Never ends.
    Loops,
    /// Random instructions.
    Wild,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Quick,
        Self::Memory,
        Self::Copies,
        Self::Commands,
        Self::Foreign,
        Self::Steals,
        Self::Loops,
        Self::Wild,
    ];

    /// Its handlers trap, or are stopped.
    pub(super) fn fails(self) -> bool {
        matches!(self, Self::Foreign | Self::Steals | Self::Loops)
    }

    /// Name of a handler in the text.
    fn label(self, variant: usize) -> String {
        format!("{self:?}_{variant}")
    }
}

/// The program's words, and the addresses of its handlers.
pub(super) struct Handlers {
    pub(super) words: Vec<u32>,
    addresses: Vec<Vec<u32>>,
}

impl Handlers {
    /// The address of a handler of a kind.
    pub(super) fn of(&self, rng: &mut ChaCha8Rng, kind: Kind) -> u32 {
        self.addresses[kind as usize][rng.random_range(0..VARIANTS)]
    }
}

/// The runtime. x1: driver, x2: standard output of the HPU.
fn runtime() -> String {
    let harts = CLUSTER_HARTS - 1;
    let bits = CLUSTER_HARTS.ilog2();
    let [message, error, doorbell] = [4, driver::ERROR, driver::DOORBELL];
    format!(
        "
        .org 0x80
            li    x1, {DRIVER_BASE}
            li    x2, {STDOUT}
            csrrs x3, mhartid, x0
            andi  x4, x3, {harts}
            slli  x4, x4, {STDOUT_HPU_SHIFT}
            add   x2, x2, x4
            srli  x4, x3, {bits}
            slli  x4, x4, {STDOUT_CLUSTER_SHIFT}
            add   x2, x2, x4
            csrrw x0, mscratch, x2
            li    x3, trap
            csrrw x0, mtvec, x3
            addi  x3, x0, {BOOT}
            sw    x3, 0(x2)
        next:
            li    x3, 0x1800
            csrrc x0, mstatus, x3
            lw    x3, 0(x1)
            csrrw x0, mepc, x3
            lw    x4, {message}(x1)
            lw    x5, 68(x1)
            addi  x3, x0, {START}
            sw    x3, 0(x2)
            ori   x3, x4, {DATA}
            sw    x3, 0(x2)
            srli  x4, x4, 7
            ori   x3, x4, {DATA}
            sw    x3, 0(x2)
            srli  x4, x4, 7
            ori   x3, x4, {DATA}
            sw    x3, 0(x2)
            srli  x5, x5, {SLOT_SHIFT}
            ori   x3, x5, {DATA}
            sw    x3, 0(x2)
            mret
        .org 0x200
        trap:
            csrrs x2, mscratch, x0
            li    x1, {DRIVER_BASE}
            addi  x3, x0, {END}
            sw    x3, 0(x2)
            csrrs x3, mcause, x0
            ori   x4, x3, {DATA}
            sw    x4, 0(x2)
            ori   x4, x31, {DATA}
            sw    x4, 0(x2)
            addi  x4, x0, 8
            beq   x3, x4, done
            sw    x3, {error}(x1)
        done:
            sw    x0, {doorbell}(x1)
            j     next
        bad_access:
            addi  x31, x0, {HOLE}
            ecall
        bad_word:
            addi  x31, x0, {LEAK}
            ecall
        "
    )
}

/// Registers of a handler: x3 handler memory, x4 packet in L1, x5 context, x6 tag of its words, x7 packet in L2, x8 shared data, x9
/// scratchpad.
const PROLOGUE: &str = "
    lw   x3, 8(x1)
    lw   x4, 16(x1)
    lw   x5, 76(x1)
    srli x5, x5, 2
    andi x5, x5, 3
    addi x6, x5, 1
    slli x6, x6, 24
    lw   x7, 68(x1)
    lw   x8, 36(x1)
    lw   x9, 24(x1)
";
const MEMORIES: [usize; 5] = [3, 4, 7, 8, 9];
const EPILOGUE: &str = "
    addi x31, x0, 0
    ecall
";

/// A random word offset in a region, with that many bytes after it.
fn offset(rng: &mut ChaCha8Rng, bytes: u32) -> u32 {
    4 * rng.random_range(0..=(REGION - bytes) / 4)
}

/// A register with the address of some of the handler's memory.
fn own(rng: &mut ChaCha8Rng) -> usize {
    MEMORIES[rng.random_range(0..MEMORIES.len())]
}

/// Sets x13 to memory of the next context.
fn neighbour() -> String {
    let shift = STRIDE.ilog2();
    format!(
        "addi x12, x5, 1\n andi x12, x12, 3\n slli x12, x12, {shift}\n li x13, {MEMORY}\n add x13, x13, x12\n"
    )
}

/// Sets x13 to the address of a word that handlers must not reach.
fn foreign(rng: &mut ChaCha8Rng) -> String {
    if rng.random_range(0..4) == 0 {
        return neighbour();
    }
    let canary = canaries();
    let word = 4 * rng.random_range(0..16);
    let places = [
        canary[rng.random_range(0..canary.len())].start + word,
        HANDLER_BASE + WINDOW + word,
        PACKET_BASE + PACKET_BYTES - 0x1000 + word,
        l1_address(rng.random_range(0..2), L1_CONTEXTS) + word,
        L1_ALIAS + 0x9000 + word,
        PROGRAM + word,
        DRIVER_BASE + driver::DOORBELL,
        DRIVER_BASE + driver::ERROR,
        DRIVER_BASE + 0x100,
        ICACHE_BASE,
        STDOUT,
        0x2000_0000,
        word,
        0_u32.wrapping_sub(64) + word,
    ];
    format!("li x13, {}\n", places[rng.random_range(0..places.len())])
}

/// The same, but memory.
fn foreign_memory(rng: &mut ChaCha8Rng) -> String {
    let canary = canaries();
    match rng.random_range(0..3) {
        0 => neighbour(),
        1 => format!("li x13, {PROGRAM}\n"),
        _ => format!("li x13, {}\n", canary[rng.random_range(0..canary.len())].start),
    }
}

/// A word of the own context in x10.
fn word(rng: &mut ChaCha8Rng) -> String {
    let low = rng.random_range(0..1 << TAG_SHIFT);
    format!("li x10, {low}\n or x10, x10, x6\n")
}

fn memory(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(2..10) {
        let (base, at) = (own(rng), offset(rng, 4));
        text += &word(rng);
        text += &match rng.random_range(0..6) {
            0 | 1 => format!("sw x10, {at}(x{base})\n"),
            2 => format!(
                "lw x11, {at}(x{base})\n srli x11, x11, {TAG_SHIFT}\n addi x12, x5, 1\n bne x11, x12, bad_word\n"
            ),
            3 => format!("addi x13, x{base}, {at}\n amoswap.w x11, x10, (x13)\n"),
            4 => format!("addi x13, x{base}, {at}\n andi x10, x10, 255\n amoor.w x11, x10, (x13)\n"),
            _ => format!("addi x13, x{base}, {at}\n lr.w x11, (x13)\n sc.w x11, x10, (x13)\n"),
        };
    }
    text
}

/// Sets up a copy, from and to registers with addresses.
fn copy(rng: &mut ChaCha8Rng, source: usize, destination: usize) -> String {
    let bytes = 4 * rng.random_range(1..=REGION / 4);
    let [from, to] = [offset(rng, bytes), offset(rng, bytes)];
    let [source_at, destination_at, bytes_at, start] =
        [dma::SOURCE, dma::DESTINATION, dma::BYTES, dma::START];
    format!(
        "addi x10, x{source}, {from}\n sw x10, {source_at}(x14)\n addi x10, x{destination}, {to}\n sw x10, {destination_at}(x14)\n \
         addi x10, x0, {bytes}\n sw x10, {bytes_at}(x14)\n lw x11, {start}(x14)\n"
    )
}

fn copies(rng: &mut ChaCha8Rng) -> String {
    let mut text = format!("li x14, {DMA_BASE}\n");
    for _ in 0..rng.random_range(1..6) {
        let (source, destination) = (own(rng), own(rng));
        text += &copy(rng, source, destination);
    }
    let many = if rng.random() { 1 } else { 20 };
    let start = dma::START;
    let _ = writeln!(text, "addi x12, x0, {many}");
    let label = rng.random::<u32>();
    let _ = writeln!(
        text,
        "again_{label}:\n lw x11, {start}(x14)\n addi x12, x12, -1\n bne x12, x0, again_{label}"
    );
    text
}

/// A command with memory at a register's address, or a write of words.
fn command(rng: &mut ChaCha8Rng, kind: u32, base: usize) -> String {
    let bytes = 4 * rng.random_range(1..=REGION / 4);
    let at = offset(rng, bytes);
    let to_host = rng.random_range(0..2);
    let part = if to_host == 1 || kind == 2 { 0 } else { FROM_HOST };
    let place = match kind {
        2 => 64 * rng.random_range(0..FROM_HOST / 64),
        _ => 4 * rng.random_range(0..(FROM_HOST - bytes) / 4),
    };
    let low = HOST as u32 + part + place;
    let high = (HOST >> 32) as u32;
    let shift = CONTEXT_HOST.ilog2();
    let register = |word: u32| driver::COMMAND + 4 * word;
    let words = |values: &[&str]| -> String {
        let store = |(number, value): (u32, &&str)| format!("{value}\n sw x10, {}(x1)\n", register(number));
        (0..).zip(values).map(store).collect()
    };
    let host = format!("li x10, {low}\n slli x11, x5, {shift}\n add x10, x10, x11");
    let high = format!("li x10, {high}");
    let address = format!("addi x10, x{base}, {at}");
    let length = format!("addi x10, x0, {bytes}");
    let tagged = word(rng);
    let size = 1 | (4 * rng.random_range(1..5)) << 1;
    let text = match kind {
        0 => words(&[
            &host,
            &high,
            &address,
            &length,
            &format!("addi x10, x0, {to_host}"),
        ]),
        1 => words(&[
            "addi x10, x0, 0",
            "addi x10, x5, 0",
            &address,
            "addi x10, x0, 0",
            &length,
        ]),
        _ => words(&[
            &host,
            &high,
            &format!("addi x10, x0, {size}"),
            &tagged,
            &tagged,
            &tagged,
            &tagged,
        ]),
    };
    let [info, issue] = [driver::INFO, driver::ISSUE];
    let kind = kind << 1;
    text + &format!("addi x10, x0, {kind}\n sw x10, {info}(x1)\n lw x11, {issue}(x1)\n")
}

fn commands(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    for kind in 0..3 {
        let base = own(rng);
        text += &command(rng, kind, base);
        if rng.random() {
            let _ = writeln!(text, "sw x11, {}(x1)", driver::WAIT);
        }
    }
    // The same command again and again.
    let label = rng.random::<u32>();
    let many = [1, 12][rng.random_range(0..2)];
    let _ = writeln!(
        text,
        "addi x12, x0, {many}\n again_{label}:\n lw x11, {}(x1)\n addi x12, x12, -1\n bne x12, x0, again_{label}",
        driver::ISSUE
    );
    text
}

fn body(rng: &mut ChaCha8Rng, kind: Kind) -> String {
    match kind {
        Kind::Quick => String::new(),
        Kind::Memory => memory(rng),
        Kind::Copies => copies(rng),
        Kind::Commands => commands(rng),
        Kind::Foreign => {
            let access = ["lw x10, 0(x13)", "sw x6, 0(x13)", "amoswap.w x10, x6, (x13)"];
            let access = access[rng.random_range(0..3)];
            format!("{}{access}\n j bad_access\n", foreign(rng))
        }
        Kind::Steals => {
            let start = format!("li x14, {DMA_BASE}\n{}", foreign_memory(rng));
            let mine = own(rng);
            let act = match rng.random_range(0..4) {
                0 => copy(rng, 13, mine),
                1 => copy(rng, mine, 13),
                kind => command(rng, kind & 1, 13),
            };
            format!("{start}{act} j bad_access\n")
        }
        Kind::Loops => "j .\n".to_owned(),
        Kind::Wild => {
            let at = (PROGRAM + rng.random_range(WILD_STARTS)) & !1;
            format!("addi x2, x3, 0\n addi x14, x0, 0\n addi x1, x0, 0\n li x13, {at}\n jalr x0, 0(x13)\n")
        }
    }
}

/// A program with random handlers of each kind.
pub(super) fn random_handlers(rng: &mut ChaCha8Rng) -> Handlers {
    let mut text = runtime();
    for kind in Kind::ALL {
        for variant in 0..VARIANTS {
            let _ = write!(
                text,
                "{}:\n{PROLOGUE}{}{EPILOGUE}",
                kind.label(variant),
                body(rng, kind)
            );
        }
    }
    let program = Program::assemble(&text);
    let address = |kind: Kind| {
        (0..VARIANTS)
            .map(|variant| program.address(&kind.label(variant)))
            .collect()
    };
    let addresses = Kind::ALL.map(address).into();
    let mut words = random_program(rng, Layout::default());
    assert!(4 * program.words.len() <= WILD, "the handlers are too long");
    words[..program.words.len()].copy_from_slice(&program.words);
    Handlers { words, addresses }
}
