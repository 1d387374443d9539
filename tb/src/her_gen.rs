//! The HER generator between bus models and its reference model, which predicts every output in every cycle.

use crate::bench::{Finish, Parameters};
use crate::reference::{self, Pins, Reference};
use spinneret_regmap::message_id;
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Limit for the cycles of a test.
const CYCLE_LIMIT: u64 = 10_000_000;
/// Fields of a HER before those of its context.
const HER_FIELDS: [&str; 5] = ["msgid", "is_eom", "addr", "size", "xfer_size"];

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

/// The parameters of a HER generator.
#[derive(Clone, Copy, Debug)]
pub struct HerParams {
    message_id_bits: u32,
    address_bits: u32,
    host_address_bits: u32,
    length_bits: u32,
    tag_bits: u32,
    contexts: usize,
    tag_message_id_bits: u32,
    context_in_message_id: bool,
    transfer_limit: u64,
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

/// The tag of a packet.
pub fn tag(message_id: u64, is_end: bool, context: u64) -> u64 {
    message_id << 3 | u64::from(is_end) << 2 | context
}

impl HerParams {
    /// The parameters of a model.
    ///
    /// # Panics
    /// If the model is no HER generator.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let bits = |name: &str| parameters.get(name) as u32;
        Self {
            message_id_bits: bits("message_id_width"),
            address_bits: bits("address_width"),
            host_address_bits: bits("host_address_width"),
            length_bits: bits("length_width"),
            tag_bits: bits("tag_width"),
            contexts: parameters.get("contexts") as usize,
            tag_message_id_bits: bits("tag_message_id_width"),
            context_in_message_id: parameters.get("context_in_message_id") == 1,
            transfer_limit: parameters.get("transfer_limit"),
        }
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

/// The state of the HER generator.
#[derive(Debug)]
struct HerModel {
    params: HerParams,
    /// The values at the configuration ports, and those in force.
    offered: Configuration,
    configuration: Configuration,
    /// False in the first cycle after reset.
    is_awake: bool,
    waiting: Option<Packet>,
    her: Option<Her>,
    free: Option<u64>,
    hers_taken: u64,
    dropped: u64,
    /// Packets that were inside at a reset.
    lost: u64,
}

impl HerModel {
    fn new(params: HerParams) -> Self {
        Self {
            params,
            offered: Configuration::default(),
            configuration: Configuration::default(),
            is_awake: false,
            waiting: None,
            her: None,
            free: None,
            hers_taken: 0,
            dropped: 0,
            lost: 0,
        }
    }

    fn ready(&self) -> bool {
        self.is_awake && self.waiting.is_none()
    }

    /// Moves a packet to the HER port or, if no context serves it, to the port of free slots.
    fn advance(&mut self, packet: Packet) {
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
}

impl Reference for HerModel {
    /// In reset, the model is as it is in the first cycle after it: nothing inside, not ready, counters 0.
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        for (name, expected) in [
            ("gen_ready", self.ready().into()),
            ("her_valid", self.her.is_some().into()),
            ("m_free_valid", self.free.is_some().into()),
            ("her_pkts_o", self.hers_taken),
            ("dropped_no_context_o", self.dropped),
        ] {
            pins.expect(name, expected)?;
        }
        if let Some(address) = self.free {
            pins.expect("m_free_addr", address)?;
        }
        let Some(her) = self.her else { return Ok(()) };
        let own = [
            her.message_id,
            her.is_end.into(),
            her.address,
            her.size,
            her.transfer_size,
        ];
        for (field, value) in HER_FIELDS.iter().zip(own) {
            pins.expect(&format!("her_{field}"), value)?;
        }
        let mut context = FIELDS.iter().zip(her.context);
        context.try_for_each(|(field, value)| pins.expect(&format!("her_meta_{field}"), value))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let [address, length, tag] = ["gen_addr", "gen_len", "gen_tag"].map(|name| pins.value(name));
        let takes = pins.high("gen_valid") && self.ready();
        let taken = takes.then_some(Packet { address, length, tag });
        if pins.high("her_ready") && self.her.take().is_some() {
            self.hers_taken += 1;
        }
        if pins.high("m_free_ready") {
            self.free = None;
        }
        if let Some(packet) = self.waiting.take().or(taken) {
            self.advance(packet);
        }
        if pins.high("conf_valid") {
            self.configuration = self.offered.clone();
        }
        self.is_awake = true;
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self {
            lost: self.lost + self.inside() as u64,
            offered: std::mem::take(&mut self.offered),
            ..Self::new(self.params)
        };
    }

    fn inside(&self) -> usize {
        let inside = [self.waiting.is_some(), self.her.is_some(), self.free.is_some()];
        inside.into_iter().filter(|inside| *inside).count()
    }
}

/// Pauses of the bus models.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    /// Gaps between packets.
    pub packets: Pause,
    /// Backpressure of the cluster.
    pub hers: Pause,
    /// Backpressure of the allocator.
    pub frees: Pause,
}

/// A HER generator with bus models; every output is compared in every cycle.
#[derive(Debug)]
pub struct HerBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Packets: address, length, tag.
    pub packets: ChannelSource,
    /// The cluster.
    pub hers: ChannelSink,
    /// The allocator.
    pub frees: ChannelSink,
    params: HerParams,
    model: Rc<RefCell<HerModel>>,
}

impl<M: Model> HerBench<M> {
    /// Puts bus models and the reference model around a HER generator, and resets it.
    ///
    /// # Panics
    /// If the design is no HER generator.
    pub fn new(mut sim: Simulation<M>, pauses: Pauses) -> Self {
        let params = HerParams::of::<M>();
        sim.set_cycle_limit(CYCLE_LIMIT);
        let meta = FIELDS.map(|field| format!("meta_{field}"));
        let fields: Vec<&str> = HER_FIELDS
            .into_iter()
            .chain(meta.iter().map(String::as_str))
            .collect();
        let packets = sim.channel_source("gen", &["addr", "len", "tag"], pauses.packets);
        let hers = sim.channel_sink("her", &fields, pauses.hers);
        let frees = sim.channel_sink("m_free", &["addr"], pauses.frees);
        let model = reference::attach(&mut sim, HerModel::new(params));
        sim.reset();
        Self {
            sim,
            packets,
            hers,
            frees,
            params,
            model,
        }
    }

    /// Sets the configuration ports. The design takes them while `conf_valid` is 1.
    ///
    /// # Panics
    /// If the number of contexts is not that of the design.
    pub fn offer(&mut self, configuration: &Configuration) {
        assert_eq!(configuration.contexts.len(), self.params.contexts, "contexts");
        for (number, field) in FIELDS.into_iter().enumerate() {
            let bytes = if field == "host_mem_addr" {
                self.params.host_address_bits / 8
            } else {
                4
            };
            let values = configuration.contexts.iter().map(|context| context[number]);
            let value: Vec<u8> = values
                .flat_map(|value| value.to_le_bytes().into_iter().take(bytes as usize))
                .collect();
            self.sim.set_bytes(&format!("conf_{field}"), &value);
        }
        self.sim
            .set_bytes("conf_ctx_enabled", &configuration.enabled.to_le_bytes());
        self.model.borrow_mut().offered = configuration.clone();
    }

    /// Drives `conf_valid`.
    pub fn set_valid(&mut self, valid: bool) {
        self.sim.set("conf_valid", valid);
    }

    /// Applies a configuration as software does.
    pub fn configure(&mut self, configuration: &Configuration) {
        self.set_valid(false);
        self.sim.cycle();
        self.offer(configuration);
        self.set_valid(true);
        self.sim.cycle();
    }

    /// Queues a packet.
    pub fn send(&self, packet: Packet) {
        self.packets.send(&[packet.address, packet.length, packet.tag]);
    }

    /// Runs until all packets have left.
    pub fn settle(&mut self) {
        while !self.packets.is_idle() || self.model.borrow().inside() > 0 {
            self.sim.cycle();
        }
        // The counters follow one cycle later.
        self.sim.run(2);
    }

    /// Returns the next unread HER and the cycle in which the cluster took it.
    ///
    /// # Panics
    /// If there is none.
    pub fn her(&self) -> (Her, u64) {
        let Item { values, cycle } = self.hers.receive().expect("a HER");
        let (own, context) = values.split_at(HER_FIELDS.len());
        let her = Her {
            message_id: own[0],
            is_end: own[1] == 1,
            address: own[2],
            size: own[3],
            transfer_size: own[4],
            context: context.try_into().expect("all fields of a context"),
        };
        (her, cycle)
    }

    /// HERs that the cluster took and packets that were dropped, since the last reset.
    pub fn counts(&self) -> (u64, u64) {
        let model = self.model.borrow();
        (model.hers_taken, model.dropped)
    }

    /// Discards outputs, which the reference model has compared.
    pub fn discard(&self) {
        self.hers.receive_all();
        self.frees.receive_all();
    }

    /// Random traffic: packets and configurations change at random until that many packets are out.
    pub fn random(&mut self, rng: &mut ChaCha8Rng, packets: u64) {
        let params = self.params;
        (0..packets).for_each(|_| self.send(random_packet(rng, params)));
        while !self.packets.is_idle() {
            if rng.random_ratio(1, 8) {
                self.offer(&random_configuration(rng, params));
            }
            if rng.random_ratio(1, 8) {
                self.set_valid(rng.random_bool(0.5));
            }
            self.sim.cycle();
        }
        self.discard();
    }
}

impl<M: Model> Finish for HerBench<M> {
    fn finish(mut self) {
        self.settle();
        let out = self.hers.total() + self.frees.total() + self.model.borrow().lost;
        assert_eq!(self.packets.counts().beats, out, "packets in and out");
        self.sim.finish();
    }
}

/// A number of that many random bits.
fn random_bits(rng: &mut ChaCha8Rng, bits: u32) -> u64 {
    rng.random::<u64>() >> (64 - bits)
}

/// Any packet at all; lengths around the transfer limit are frequent.
pub fn random_packet(rng: &mut ChaCha8Rng, params: HerParams) -> Packet {
    let length = if rng.random_bool(0.3) {
        (params.transfer_limit + rng.random_range(0..3)).saturating_sub(1)
    } else {
        random_bits(rng, params.length_bits)
    };
    Packet {
        address: random_bits(rng, params.address_bits),
        length,
        tag: random_bits(rng, params.tag_bits),
    }
}

/// Contexts of random contents; every pattern of enabled ones is as frequent.
pub fn random_configuration(rng: &mut ChaCha8Rng, params: HerParams) -> Configuration {
    let field = |rng: &mut ChaCha8Rng, name: &str| {
        let bits = if name == "host_mem_addr" {
            params.host_address_bits
        } else {
            32
        };
        random_bits(rng, bits)
    };
    Configuration {
        contexts: (0..params.contexts)
            .map(|_| FIELDS.map(|name| field(rng, name)))
            .collect(),
        enabled: random_bits(rng, params.contexts as u32),
    }
}
