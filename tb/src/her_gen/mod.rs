//! The HER generator between bus models and its reference model, which predicts every output in every cycle.

mod checker;
mod model;

pub use model::{Configuration, Context, FIELDS, Her, HerParams, Packet};

use crate::reference;
use checker::Checker;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::channel::{ChannelSink, ChannelSource, Item};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::Pause;
use std::cell::RefCell;
use std::rc::Rc;

/// No test here takes longer.
const CYCLE_LIMIT: u64 = 10_000_000;
/// Fields of a HER before those of its context.
const HER_FIELDS: [&str; 5] = ["msgid", "is_eom", "addr", "size", "xfer_size"];

/// How the bus models behave.
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
    checker: Rc<RefCell<Checker>>,
}

impl<M: Model> HerBench<M> {
    /// Puts bus models and the reference model around a HER generator, and resets it.
    ///
    /// # Panics
    /// If the design is no HER generator.
    pub fn new(mut sim: Simulation<M>, params: HerParams, pauses: Pauses) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let meta = FIELDS.map(|field| format!("meta_{field}"));
        let fields: Vec<&str> = HER_FIELDS
            .into_iter()
            .chain(meta.iter().map(String::as_str))
            .collect();
        let packets = sim.channel_source("gen", &["addr", "len", "tag"], pauses.packets);
        let hers = sim.channel_sink("her", &fields, pauses.hers);
        let frees = sim.channel_sink("m_free", &["addr"], pauses.frees);
        let checker = reference::attach(&mut sim, Checker::new(params));
        sim.reset();
        Self {
            sim,
            packets,
            hers,
            frees,
            params,
            checker,
        }
    }

    /// Changes what the configuration ports carry; it is taken while `conf_valid` is 1.
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
        self.checker.borrow_mut().offered = configuration.clone();
    }

    /// Drives `conf_valid`.
    pub fn set_valid(&mut self, valid: bool) {
        self.sim.set("conf_valid", valid);
    }

    /// Puts a configuration in force, as software does.
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

    /// Runs until every packet that was sent is out.
    pub fn settle(&mut self) {
        while !self.packets.is_idle() || self.checker.borrow().model.inside() > 0 {
            self.sim.cycle();
        }
        // The counters follow one cycle later.
        self.sim.run(2);
    }

    /// The next HER that was not looked at, with the cycle in which the cluster took it.
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
        let model = &self.checker.borrow().model;
        (model.hers_taken, model.dropped)
    }

    /// Forgets what has come out, which the reference model has compared.
    pub fn discard(&self) {
        self.hers.receive_all();
        self.frees.receive_all();
    }

    /// Ends the test: every packet that was taken came out once, but for those that a reset caught inside.
    ///
    /// # Panics
    /// If the sum is wrong, or something is left anywhere.
    pub fn finish(mut self) {
        self.settle();
        let out = self.hers.total() + self.frees.total() + self.checker.borrow().lost;
        assert_eq!(self.packets.counts().beats, out, "packets in and out");
        self.sim.finish();
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
