//! Compares every output of the allocator with the reference model.

use super::model::{AllocModel, AllocParams, Descriptor};
use crate::reference::{Pins, Reference};

/// What moved in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    pub(super) packet: bool,
    pub(super) free: bool,
    pub(super) descriptor: Option<Descriptor>,
}

/// Compares every output with the reference model.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) model: AllocModel,
    /// What moved in the last cycle.
    pub(super) moved: Moved,
}

impl Checker {
    pub(super) fn new(params: AllocParams) -> Self {
        Self {
            model: AllocModel::new(params),
            moved: Moved::default(),
        }
    }
}

impl Reference for Checker {
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let model = &self.model;
        let counts = model.counts();
        let descriptor = model.descriptors.front();
        for (name, expected) in [
            ("pkt_ready_o", model.packet_ready().into()),
            ("feedback_ready_o", model.free_ready().into()),
            ("write_valid_o", descriptor.is_some().into()),
            ("dropped_pkts_o", counts.oversize + counts.no_slot),
            ("dropped_oversize_o", counts.oversize),
            ("dropped_no_slot_o", counts.no_slot),
            ("refused_no_start_o", counts.no_start),
            ("refused_not_out_o", counts.not_out),
            ("refused_early_o", counts.early),
            ("large_used_o", model.large.used),
            ("large_peak_o", model.large.peak),
            ("small_used_o", model.small.used),
            ("small_peak_o", model.small.peak),
        ] {
            pins.expect(name, expected)?;
        }
        let Some(descriptor) = descriptor else {
            return Ok(());
        };
        pins.expect("write_addr_o", descriptor.address)?;
        pins.expect("write_len_o", descriptor.length)?;
        pins.expect("write_tag_o", descriptor.tag)?;
        pins.expect("write_drop_o", descriptor.drop)
    }

    /// The design may still work at the end of a reset, but neither takes nor gives anything.
    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        let outputs = ["pkt_ready_o", "feedback_ready_o", "write_valid_o"];
        outputs.iter().try_for_each(|name| pins.expect(name, false))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let packet = (pins.value("pkt_tag_i"), pins.value("pkt_len_i"));
        let packet = pins.high("pkt_valid_i").then_some(packet);
        let free = pins.value("feedback_her_addr_i");
        let free = pins.high("feedback_valid_i").then_some(free);
        let ready = pins.high("write_ready_i");
        self.moved = Moved {
            packet: packet.is_some() && self.model.packet_ready(),
            free: free.is_some() && self.model.free_ready(),
            descriptor: self.model.descriptors.front().filter(|_| ready).copied(),
        };
        self.model.step(packet, free, ready);
        Ok(())
    }

    fn reset(&mut self) {
        self.model.reset();
    }

    fn inside(&self) -> usize {
        self.model.descriptors.len()
    }
}
