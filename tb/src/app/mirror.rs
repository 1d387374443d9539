//! The register model beside the hardware: every access of software is compared with it.

use spinneret_regmap::model::{Registers, Response as Modelled, Variant};
use spinneret_regmap::{Access, REGISTER_BYTES, bar, find};
use spinneret_sim::axil::Response;
use std::collections::BTreeMap;

/// The register model, and what software has seen of the values that the hardware shows.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    registers: Registers,
    /// Counters, by offset, as they were read last.
    seen: BTreeMap<u32, u32>,
}

/// Registers whose value goes up and down.
const STATES: [&str; 7] = [
    "cl",
    "stats",
    "pending",
    "large_used",
    "small_used",
    // A reset of the cluster takes these with it.
    "large_peak",
    "small_peak",
];

impl Mirror {
    /// The registers behind a reset.
    pub(super) fn new() -> Self {
        Self {
            registers: Registers::new(Variant::Extended),
            seen: BTreeMap::new(),
        }
    }

    /// The core is reset.
    pub(super) fn reset(&mut self) {
        *self = Self::new();
    }

    /// The value that a register holds.
    pub(super) fn value(&self, register: u32) -> Option<u32> {
        self.registers.value(register)
    }

    /// Software has written through the BAR.
    ///
    /// # Panics
    /// If the model answers otherwise.
    pub(super) fn written(&mut self, offset: u32, data: u32, strobes: u8, response: Response) {
        let wanted = match bar::decode(offset) {
            bar::Destination::ControlRegister(register) => {
                answer(self.registers.write(register, data, strobes))
            }
            bar::Destination::Nothing => Response::DecodeError,
            bar::Destination::Pspin(_) => return,
        };
        assert_eq!(response, wanted, "write to {offset:#08x} of the BAR");
    }

    /// Software has read through the BAR; a word of standard output, if it is one.
    ///
    /// # Panics
    /// If the model answers otherwise, or a counter has gone back.
    pub(super) fn read(&mut self, offset: u32, (data, response): (u32, Response)) -> Option<u32> {
        let register = match bar::decode(offset) {
            bar::Destination::ControlRegister(register) => register,
            bar::Destination::Nothing => {
                assert_eq!(
                    (data, response),
                    (0, Response::DecodeError),
                    "read of {offset:#08x} of the BAR"
                );
                return None;
            }
            bar::Destination::Pspin(_) => return None,
        };
        let word = register - register % REGISTER_BYTES;
        match find(word).map(|(register, _)| register) {
            Some(found) if found.access == Access::ReadPops => {
                assert_eq!(response, Response::Okay);
                // All ones say that there is none.
                return (data != u32::MAX).then_some(data);
            }
            Some(found) if found.access.shows_hardware() => {
                assert_eq!(response, Response::Okay);
                self.registers.show(register, data);
                assert_eq!(
                    self.registers.value(register),
                    Some(data),
                    "{found}: bits that do not exist"
                );
                let state = STATES.contains(&found.group) || STATES.contains(&found.name);
                if let Some(before) = self.seen.insert(word, data).filter(|_| !state) {
                    assert!(before <= data, "{found} went from {before} to {data}");
                }
            }
            _ => {
                let (wanted, modelled) = self.registers.read(register);
                assert_eq!(
                    (data, response),
                    (wanted, answer(modelled)),
                    "read of register {register:#06x}"
                );
            }
        }
        None
    }
}

fn answer(response: Modelled) -> Response {
    match response {
        Modelled::Okay => Response::Okay,
        Modelled::SlaveError => Response::SlaveError,
    }
}
