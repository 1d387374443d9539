//! Compares every output of the allocator with the reference model.

use super::model::{AllocModel, AllocParams, Descriptor};
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::Instance;

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

    fn compare(&self, dut: &Instance) -> Result<(), String> {
        let model = &self.model;
        let counts = model.counts();
        let descriptor = model.descriptors.front();
        let mut outputs = vec![
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
        ];
        if let Some(descriptor) = descriptor {
            outputs.extend([
                ("write_addr_o", descriptor.address),
                ("write_len_o", descriptor.length),
                ("write_tag_o", descriptor.tag),
                ("write_drop_o", descriptor.drop.into()),
            ]);
        }
        for (name, expected) in outputs {
            let found = value(dut, name);
            if found != expected {
                return Err(format!(
                    "{name} is {found:#x} where the reference model has {expected:#x}"
                ));
            }
        }
        Ok(())
    }
}

impl Agent for Checker {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        self.compare(dut).map_err(|rule| Violation {
            bus: "reference model".to_owned(),
            rule,
        })?;
        let offered = |valid: &str| value(dut, valid) == 1;
        let packet = offered("pkt_valid_i").then(|| (value(dut, "pkt_tag_i"), value(dut, "pkt_len_i")));
        let free = offered("feedback_valid_i").then(|| value(dut, "feedback_her_addr_i"));
        let ready = offered("write_ready_i");
        self.moved = Moved {
            packet: packet.is_some() && self.model.packet_ready(),
            free: free.is_some() && self.model.free_ready(),
            descriptor: self.model.descriptors.front().filter(|_| ready).copied(),
        };
        self.model.step(packet, free, ready);
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.model.reset();
        for name in ["pkt_valid_i", "feedback_valid_i", "write_ready_i"] {
            if let Some(port) = dut.find(name) {
                dut.set_high(port, false);
            }
        }
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let high = ["pkt_ready_o", "feedback_ready_o", "write_valid_o"]
            .into_iter()
            .find(|name| value(dut, name) == 1);
        high.map_or(Ok(()), |name| {
            Err(Violation {
                bus: "reset".to_owned(),
                rule: format!("{name} is high"),
            })
        })
    }

    fn unfinished(&self) -> Option<String> {
        (!self.model.descriptors.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("allocator: {} descriptors wait", self.model.descriptors.len())
    }
}

/// The value of a port of at most 64 bits.
fn value(dut: &Instance, name: &str) -> u64 {
    let port = dut
        .find(name)
        .unwrap_or_else(|| panic!("{} has no port {name}", dut.name()));
    u64::try_from(dut.value(port)).unwrap_or_else(|_| panic!("{name} has more than 64 bits"))
}
