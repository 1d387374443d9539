//! The contract of the HER generator, cycle by cycle.

use spinneret_regmap::message_id;

/// Fields of an execution context, in the order of the ports.
pub const FIELDS: [&str; 18] = [
    "handler_mem_addr",
    "handler_mem_size",
    "host_mem_addr",
    "host_mem_size",
    "hh_addr",
    "hh_size",
    "ph_addr",
    "ph_size",
    "th_addr",
    "th_size",
    "scratchpad_0_addr",
    "scratchpad_0_size",
    "scratchpad_1_addr",
    "scratchpad_1_size",
    "scratchpad_2_addr",
    "scratchpad_2_size",
    "scratchpad_3_addr",
    "scratchpad_3_size",
];

/// An execution context: a value for each of [`FIELDS`].
pub type Context = [u64; FIELDS.len()];

/// Execution contexts with a bit for each that says whether it is enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The contexts.
    pub contexts: Vec<Context>,
    /// Bit n: context n is enabled.
    pub enabled: u64,
}

impl Configuration {
    /// The context that serves packets of that context, if any does.
    fn serves(&self, wanted: u64) -> Option<u64> {
        let enabled = |context: u64| self.enabled >> context & 1 == 1;
        [wanted, 0].into_iter().find(|context| enabled(*context))
    }
}

/// What the HER generator was made with.
#[derive(Clone, Copy, Debug)]
pub struct HerParams {
    /// Width of the message id in a HER in bits.
    pub message_id_bits: u32,
    /// Width of an address in bits.
    pub address_bits: u32,
    /// Width of a host address in bits, a multiple of 8.
    pub host_address_bits: u32,
    /// Width of a length in bits.
    pub length_bits: u32,
    /// Width of a tag in bits.
    pub tag_bits: u32,
    /// Execution contexts.
    pub contexts: usize,
    /// Bits of the message id in the tag.
    pub tag_message_id_bits: u32,
    /// Whether the context is bits 3:2 of the message id in a HER.
    pub context_in_message_id: bool,
    /// Most bytes that are copied to L1; 0: all.
    pub transfer_limit: u64,
}

/// A packet that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its address.
    pub address: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Its tag.
    pub tag: u64,
}

/// A request to the cluster, as the ports carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Her {
    /// Message id.
    pub message_id: u64,
    /// End of the message.
    pub is_end: bool,
    /// Address of the packet.
    pub address: u64,
    /// Length of the packet in bytes.
    pub size: u64,
    /// Bytes that are copied.
    pub transfer_size: u64,
    /// The context that serves the packet.
    pub context: Context,
}

impl HerParams {
    /// The tag of a packet.
    pub fn tag(&self, message_id: u64, is_end: bool, context: u64) -> u64 {
        message_id << 3 | u64::from(is_end) << 2 | context
    }

    /// The request for a packet, if a context serves it.
    fn her(&self, packet: Packet, configuration: &Configuration) -> Option<Her> {
        let used = configuration.serves(packet.tag & 3)?;
        let id = low(packet.tag >> 3, self.tag_message_id_bits);
        let message_id = if self.context_in_message_id {
            message_id::compose(id, used as u32)
        } else {
            id
        };
        let limit = if self.transfer_limit == 0 {
            u64::MAX
        } else {
            self.transfer_limit
        };
        Some(Her {
            message_id: low(message_id, self.message_id_bits),
            is_end: packet.tag >> 2 & 1 == 1,
            address: packet.address,
            size: packet.length,
            transfer_size: packet.length.min(limit),
            context: configuration.contexts[used as usize],
        })
    }
}

/// The lowest bits of a number, fewer than 64.
fn low(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

/// What drives the HER generator in a cycle.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) packet: Option<Packet>,
    /// None while `conf_valid` is 0.
    pub(super) configuration: Option<Configuration>,
    pub(super) her_ready: bool,
    pub(super) free_ready: bool,
}

/// The state of the HER generator.
#[derive(Clone, Debug)]
pub(super) struct HerModel {
    params: HerParams,
    configuration: Configuration,
    /// False in the first cycle after reset.
    is_awake: bool,
    waiting: Option<Packet>,
    pub(super) her: Option<Her>,
    pub(super) free: Option<u64>,
    pub(super) hers_taken: u64,
    pub(super) dropped: u64,
}

impl HerModel {
    pub(super) fn new(params: HerParams) -> Self {
        Self {
            params,
            configuration: Configuration::default(),
            is_awake: false,
            waiting: None,
            her: None,
            free: None,
            hers_taken: 0,
            dropped: 0,
        }
    }

    /// Resets; returns how many packets are lost.
    pub(super) fn reset(&mut self) -> u64 {
        let lost = self.inside();
        *self = Self::new(self.params);
        lost
    }

    /// Packets that are inside.
    pub(super) fn inside(&self) -> u64 {
        [self.waiting.is_some(), self.her.is_some(), self.free.is_some()]
            .map(u64::from)
            .iter()
            .sum()
    }

    pub(super) fn ready(&self) -> bool {
        self.is_awake && self.waiting.is_none()
    }

    /// The rising edge at the end of a cycle.
    pub(super) fn step(&mut self, inputs: Inputs) {
        let taken = inputs.packet.filter(|_| self.ready());
        if inputs.her_ready && self.her.take().is_some() {
            self.hers_taken += 1;
        }
        if inputs.free_ready {
            self.free = None;
        }
        if let Some(packet) = self.waiting.take().or(taken) {
            let her = self.params.her(packet, &self.configuration);
            match her {
                Some(_) if self.her.is_none() => self.her = her,
                None if self.free.is_none() => {
                    self.free = Some(packet.address);
                    self.dropped += 1;
                }
                _ => self.waiting = Some(packet),
            }
        }
        if let Some(configuration) = inputs.configuration {
            self.configuration = configuration;
        }
        self.is_awake = true;
    }
}
