//! The registers of a block, and its ports.

use crate::bench::Parameters;
use crate::reference::Pins;
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::{
    CONTEXTS, RULES_PER_RULESET, RULESETS, Register, caps, cl, events, guard, her, her_meta, me, registers,
    slots, stats,
};
use spinneret_sim::prelude::*;

/// Inputs of the block in one clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The address of a write that is offered.
    pub(super) write_address: Option<u32>,
    /// The data of a write that is offered, with its strobes.
    pub(super) write_data: Option<(u32, u8)>,
    /// A response to a write would be taken.
    pub(super) response_ready: bool,
    /// The address of a read that is offered.
    pub(super) read_address: Option<u32>,
    /// Data of a read would be taken.
    pub(super) data_ready: bool,
    /// The oldest word of standard output.
    pub(super) stdout: Option<u32>,
}

impl Seen {
    /// Samples the AXI4-Lite inputs.
    pub(super) fn of(pins: Pins<'_>, stdout: Option<u32>) -> Self {
        let word = |signal: &str| pins.value(&format!("s_axil_{signal}")) as u32;
        let offered = |channel: &str| word(&format!("{channel}valid")) == 1;
        Self {
            write_address: offered("aw").then(|| word("awaddr")),
            write_data: offered("w").then(|| (word("wdata"), word("wstrb") as u8)),
            response_ready: word("bready") == 1,
            read_address: offered("ar").then(|| word("araddr")),
            data_ready: word("rready") == 1,
            stdout,
        }
    }
}

/// An output that shows what software wrote.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) port: PortHandle,
    /// Offset and width of each word, the first in the lowest bits.
    parts: Vec<(u32, usize)>,
}

impl Output {
    /// All outputs of a block of that layout.
    pub(super) fn all(dut: &Instance, layout: &Layout) -> Vec<Self> {
        let output = |name: &str, parts| Self {
            port: port(dut, name),
            parts,
        };
        let mut all = vec![
            output(
                "cl_fetch_en_o",
                vec![(cl::FETCH_ENABLE, layout.clusters as usize)],
            ),
            output("aux_rst_o", vec![(cl::AUX_RESET, 1)]),
            output("match_valid", parts(&me::VALID, 1)),
            output("match_mode", parts(&me::MODE, 1)),
            output("match_idx", parts(&me::IDX, 32)),
            output("match_mask", parts(&me::MASK, 32)),
            output("match_start", parts(&me::START, 32)),
            output("match_end", parts(&me::END, 32)),
            output("her_gen_valid", parts(&her::VALID, 1)),
            output("her_gen_ctx_enabled", parts(&her::CTX_ENABLED, 1)),
            output(
                "her_gen_host_mem_addr",
                pairs(meta("host_mem_addr_0"), meta("host_mem_addr_1")),
            ),
        ];
        let fields = her_meta::ALL
            .iter()
            .filter(|field| !field.name.starts_with("host_mem_addr"));
        all.extend(fields.map(|field| output(&format!("her_gen_{}", field.name), parts(field, 32))));
        if layout.is_extended() {
            all.extend([
                output("match_relative", parts(&me::RELATIVE, 1)),
                output("guard_enforce", parts(&guard::ENFORCE, 1)),
                output("guard_enabled", parts(&guard::ENABLED, 1)),
                output("guard_base", pairs(&guard::BASE_0, &guard::BASE_1)),
                output("guard_size", parts(&guard::SIZE, 32)),
                output("guard_by_context", parts(&guard::BY_CONTEXT, 1)),
                output("slot_bound", parts(&slots::BOUND, width(&slots::BOUND))),
                output("events_enable", parts(&events::ENABLE, width(&events::ENABLE))),
                output(
                    "events_moderation",
                    parts(&events::MODERATION, width(&events::MODERATION)),
                ),
            ]);
        }
        all
    }

    /// Returns whether the output shows the word at this offset.
    pub(super) fn shows(&self, offset: u32) -> bool {
        self.parts.iter().any(|(own, _)| *own == offset)
    }

    /// Returns the expected value, lowest byte first.
    pub(super) fn expected(&self, registers: &Registers) -> Vec<u8> {
        let bits: usize = self.parts.iter().map(|(_, width)| width).sum();
        let mut bytes = vec![0; bits.div_ceil(8)];
        let mut low = 0;
        for (offset, width) in &self.parts {
            let value = registers.value(*offset).expect("the block has this register");
            for bit in (0..*width).filter(|bit| value >> bit & 1 == 1) {
                bytes[(low + bit) / 8] |= 1 << ((low + bit) % 8);
            }
            low += width;
        }
        bytes
    }
}

/// Inputs that read-only registers show.
#[derive(Clone, Debug)]
pub(super) struct LiveInputs {
    /// Every such input.
    pub(super) all: Vec<PortHandle>,
    /// Offset of a word, and where its bits come from: port and first bit, one for each bit of the word.
    sources: Vec<(u32, PortHandle, usize)>,
    status: Option<[PortHandle; 2]>,
}

impl LiveInputs {
    pub(super) fn find(dut: &Instance, layout: &Layout) -> Self {
        let simple = [
            (stats::CLUSTER.offset, "cl_eoc_i"),
            (stats::CLUSTER.offset + 4, "cl_busy_i"),
            (stats::MPQ.offset, "mpq_full_i"),
            (stats::DROPPED_PACKETS, "alloc_dropped_pkts"),
            (stats::EGRESS_DMA_ERROR, "egress_dma_last_error"),
        ];
        let mut sources: Vec<_> = simple.map(|(offset, name)| (offset, port(dut, name), 0)).into();
        let mut all: Vec<PortHandle> = sources.iter().map(|(_, port, _)| *port).collect();
        let mut status = None;
        if layout.is_extended() {
            let counters = port(dut, "counters");
            let words = spinneret_regmap::counters().flat_map(Register::words);
            sources.extend(
                (0..)
                    .zip(words)
                    .map(|(place, word)| (word.offset(), counters, 32 * place)),
            );
            let flags = ["cluster_running", "cluster_held"].map(|name| port(dut, name));
            let used = port(dut, "slots_used");
            let slots = slots::USED.words().enumerate();
            sources.extend(slots.map(|(place, word)| (word.offset(), used, width(&slots::USED) * place)));
            all.push(used);
            for (register, name) in [
                (&events::PENDING, "events_pending"),
                (&events::SENT, "events_sent"),
            ] {
                let port = port(dut, name);
                sources.push((register.offset, port, 0));
                all.push(port);
            }
            all.push(counters);
            all.extend(flags);
            status = Some(flags);
        }
        Self { all, sources, status }
    }

    /// Lets the registers show what the input of a word holds.
    pub(super) fn show(&self, dut: &Instance, offset: u32, registers: &mut Registers) {
        if let Some([running, held]) = self.status.filter(|_| offset == cl::STATUS.offset) {
            let bits = u32::from(dut.is_high(running)) | u32::from(dut.is_high(held)) << 1;
            registers.show(offset, bits);
        }
        if let Some((_, port, low)) = self.sources.iter().find(|(own, ..)| *own == offset) {
            let bytes = dut.bytes(*port).iter().skip(low / 8).take(4);
            let word = bytes.rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            registers.show(offset, word);
        }
    }
}

/// Every word of a register, with that width.
fn parts(register: &'static Register, width: usize) -> Vec<(u32, usize)> {
    register.words().map(|word| (word.offset(), width)).collect()
}

/// Bits of a word of a register.
fn width(register: &Register) -> usize {
    register.bits.mask(0).count_ones() as usize
}

/// Low and high words in turn.
fn pairs(low: &'static Register, high: &'static Register) -> Vec<(u32, usize)> {
    let words = low.words().zip(high.words());
    words
        .flat_map(|(low, high)| [(low.offset(), 32), (high.offset(), 32)])
        .collect()
}

fn meta(name: &str) -> &'static Register {
    her_meta::ALL
        .iter()
        .find(|register| register.name == name)
        .unwrap_or_else(|| panic!("the table has no field {name}"))
}

/// The port of that name.
///
/// # Panics
/// If there is none.
pub(super) fn port(dut: &Instance, name: &str) -> PortHandle {
    dut.find(name)
        .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()))
}

/// Prefix of the parameters that give constants.
const CONSTANT: &str = "caps_";

/// Parameters of a generated register block.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Variant of the register map.
    pub variant: Variant,
    /// PsPIN clusters.
    pub clusters: u32,
    /// Message processing queues.
    pub queues: u32,
    /// Bits of an address.
    pub address_width: u32,
    /// Offset and value of each constant.
    constants: Vec<(u32, u32)>,
}

impl Layout {
    /// The layout of a model, from the parameters that it was generated with.
    ///
    /// # Panics
    /// If the model is none of the register block's.
    pub fn of<M: Model>() -> Self {
        let values = Parameters::of::<M>();
        let number = |name| u32::try_from(values.get(name)).expect("parameters of registers have 32 bits");
        let known = [
            ("rulesets", RULESETS),
            ("rules", RULES_PER_RULESET),
            ("contexts", CONTEXTS),
            ("clusters", number("num_clusters")),
            ("mpqs", number("num_mpq")),
        ];
        let parameters = values.iter().filter_map(|(name, value)| {
            let constant = name.strip_prefix(CONSTANT)?;
            Some((constant, u32::try_from(*value).ok()?))
        });
        let constants = known.into_iter().chain(parameters);
        Self {
            variant: match number("extended") {
                0 => Variant::DropIn,
                _ => Variant::Extended,
            },
            clusters: number("num_clusters"),
            queues: number("num_mpq"),
            address_width: number("address_width"),
            constants: constants
                .map(|(name, value)| (caps::offset(name).expect("the table has every constant"), value))
                .collect(),
        }
    }

    /// Returns whether the block has the registers that extend the public design.
    pub fn is_extended(&self) -> bool {
        self.variant == Variant::Extended
    }

    /// Registers after a reset, with the constants in place.
    pub fn registers(&self) -> Registers {
        let mut registers = Registers::new(self.variant).with_counts(self.clusters, self.queues);
        for (offset, value) in &self.constants {
            registers.show(*offset, *value);
        }
        registers
    }

    /// The offsets of all words that there are.
    pub fn words(&self) -> Vec<u32> {
        registers()
            .filter(|register| self.is_extended() || !register.extension)
            .flat_map(|register| register.words().map(|word| word.offset()))
            .collect()
    }
}
