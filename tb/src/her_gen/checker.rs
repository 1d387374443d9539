//! Compares every output of the HER generator with the reference model.

use super::model::{Configuration, FIELDS, HerModel, HerParams, Inputs, Packet};
use crate::reference::{Pins, Reference};

/// Compares every output with the reference model in every cycle.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) model: HerModel,
    /// What the configuration ports carry.
    pub(super) offered: Configuration,
    /// Packets that resets have made the design forget.
    pub(super) lost: u64,
}

impl Checker {
    pub(super) fn new(params: HerParams) -> Self {
        Self {
            model: HerModel::new(params),
            offered: Configuration::default(),
            lost: 0,
        }
    }

    fn inputs(&self, pins: Pins<'_>) -> Inputs {
        let [address, length, tag] = ["gen_addr", "gen_len", "gen_tag"].map(|name| pins.value(name));
        let packet = Packet { address, length, tag };
        Inputs {
            packet: pins.high("gen_valid").then_some(packet),
            configuration: pins.high("conf_valid").then(|| self.offered.clone()),
            her_ready: pins.high("her_ready"),
            free_ready: pins.high("m_free_ready"),
        }
    }
}

impl Reference for Checker {
    /// In reset, the model is as it is in the first cycle after it: nothing inside, not ready, counters 0.
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let model = &self.model;
        pins.expect("gen_ready", model.ready())?;
        pins.expect("her_valid", model.her.is_some())?;
        pins.expect("m_free_valid", model.free.is_some())?;
        pins.expect("her_pkts_o", model.hers_taken)?;
        pins.expect("dropped_no_context_o", model.dropped)?;
        if let Some(address) = model.free {
            pins.expect("m_free_addr", address)?;
        }
        let Some(her) = model.her else { return Ok(()) };
        pins.expect("her_msgid", her.message_id)?;
        pins.expect("her_is_eom", her.is_end)?;
        pins.expect("her_addr", her.address)?;
        pins.expect("her_size", her.size)?;
        pins.expect("her_xfer_size", her.transfer_size)?;
        let mut context = FIELDS.iter().zip(her.context);
        context.try_for_each(|(field, value)| pins.expect(&format!("her_meta_{field}"), value))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.model.step(self.inputs(pins));
        Ok(())
    }

    fn reset(&mut self) {
        self.lost += self.model.reset();
    }

    fn inside(&self) -> usize {
        self.model.inside() as usize
    }
}
