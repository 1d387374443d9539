//! Compares every output of the HER generator with the reference model.

use super::model::{Configuration, FIELDS, HerModel, HerParams, Inputs, Packet};
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Instance, PortHandle};
use std::collections::HashMap;

/// Compares every output with the reference model in every cycle.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) model: HerModel,
    /// What the configuration ports carry.
    pub(super) offered: Configuration,
    /// Packets that resets have made the design forget.
    pub(super) lost: u64,
    ports: HashMap<&'static str, PortHandle>,
    meta: Vec<PortHandle>,
}

/// Ports that are looked at, but for the fields of a context.
const PORTS: [&str; 17] = [
    "gen_addr",
    "gen_len",
    "gen_tag",
    "gen_valid",
    "gen_ready",
    "conf_valid",
    "her_valid",
    "her_ready",
    "her_msgid",
    "her_is_eom",
    "her_addr",
    "her_size",
    "her_xfer_size",
    "m_free_addr",
    "m_free_valid",
    "m_free_ready",
    "her_pkts_o",
];
/// The last one.
const DROPPED: &str = "dropped_no_context_o";

impl Checker {
    pub(super) fn new(dut: &Instance, params: HerParams) -> Self {
        let port = |name: &str| {
            dut.find(name)
                .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()))
        };
        let ports = PORTS.iter().chain([&DROPPED]);
        Self {
            model: HerModel::new(params),
            offered: Configuration::default(),
            lost: 0,
            ports: ports.map(|name| (*name, port(name))).collect(),
            meta: FIELDS
                .iter()
                .map(|field| port(&format!("her_meta_{field}")))
                .collect(),
        }
    }

    /// The value of a port of at most 64 bits.
    fn value(&self, dut: &Instance, name: &str) -> u64 {
        read(dut, self.ports[name])
    }

    fn compare(&self, dut: &Instance) -> Result<(), String> {
        let model = &self.model;
        let mut outputs = vec![
            ("gen_ready", model.ready().into()),
            ("her_valid", model.her.is_some().into()),
            ("m_free_valid", model.free.is_some().into()),
            ("her_pkts_o", model.hers_taken),
            (DROPPED, model.dropped),
        ];
        if let Some(address) = model.free {
            outputs.push(("m_free_addr", address));
        }
        if let Some(her) = model.her {
            outputs.extend([
                ("her_msgid", her.message_id),
                ("her_is_eom", her.is_end.into()),
                ("her_addr", her.address),
                ("her_size", her.size),
                ("her_xfer_size", her.transfer_size),
            ]);
            for ((field, port), expected) in FIELDS.iter().zip(&self.meta).zip(her.context) {
                same(&format!("her_meta_{field}"), read(dut, *port), expected)?;
            }
        }
        outputs
            .into_iter()
            .try_for_each(|(name, expected)| same(name, self.value(dut, name), expected))
    }

    fn inputs(&self, dut: &Instance) -> Inputs {
        let is_high = |name: &str| self.value(dut, name) == 1;
        let packet = Packet {
            address: self.value(dut, "gen_addr"),
            length: self.value(dut, "gen_len"),
            tag: self.value(dut, "gen_tag"),
        };
        Inputs {
            packet: is_high("gen_valid").then_some(packet),
            configuration: is_high("conf_valid").then(|| self.offered.clone()),
            her_ready: is_high("her_ready"),
            free_ready: is_high("m_free_ready"),
        }
    }
}

impl Agent for Checker {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        self.compare(dut).map_err(|rule| Violation {
            bus: "reference model".to_owned(),
            rule,
        })?;
        self.model.step(self.inputs(dut));
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.lost += self.model.reset();
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        // The model is as it is in the first cycle after the reset: nothing inside, not ready, counters 0.
        self.compare(dut).map_err(|rule| Violation {
            bus: "reset".to_owned(),
            rule,
        })
    }

    fn unfinished(&self) -> Option<String> {
        (self.model.inside() > 0).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("HER generator: {} packets inside", self.model.inside())
    }
}

fn same(name: &str, found: u64, expected: u64) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "{name} is {found:#x} where the reference model has {expected:#x}"
    ))
}

fn read(dut: &Instance, port: PortHandle) -> u64 {
    // The bus models have checked that no field has more than 64 bits.
    dut.value(port) as u64
}
