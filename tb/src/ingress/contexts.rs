//! Execution contexts: what a HER tells the cluster about a packet's handlers.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::model::{Direction, Instance};

/// Fields of a context, as in `her_gen_*` and `her_meta_*`; all have 32 bits but the one below.
pub use crate::her_gen::FIELDS;

/// The field of 64 bits.
const WIDE_FIELD: &str = "host_mem_addr";

/// Contexts, as many as rulesets.
pub const CONTEXTS: usize = 4;

/// All contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    /// Which of them are enabled.
    pub enabled: [bool; CONTEXTS],
    /// The fields of each, in the order of [`FIELDS`].
    pub fields: [[u64; FIELDS.len()]; CONTEXTS],
}

impl Contexts {
    /// Contexts with these enabled, and random fields.
    pub fn random(rng: &mut ChaCha8Rng, enabled: [bool; CONTEXTS]) -> Self {
        let mut field = |name: &str| {
            let value: u64 = rng.random();
            if name == WIDE_FIELD { value } else { value >> 32 }
        };
        let fields = std::array::from_fn(|_| FIELDS.map(&mut field));
        Self { enabled, fields }
    }

    /// The context that serves packets of a ruleset: its own, else context 0, if one of them is enabled.
    pub fn of_ruleset(&self, ruleset: u8) -> Option<usize> {
        let own = usize::from(ruleset);
        [own, 0].into_iter().find(|context| self.enabled[*context])
    }

    /// Puts them on the ports `her_gen_*`, without `her_gen_valid`.
    ///
    /// # Panics
    /// If the design has no such ports.
    pub fn drive(&self, dut: &mut Instance) {
        for (index, name) in FIELDS.iter().enumerate() {
            let bytes = if *name == WIDE_FIELD { 8 } else { 4 };
            let each = self
                .fields
                .iter()
                .flat_map(|context| context[index].to_le_bytes().into_iter().take(bytes));
            let value: Vec<u8> = each.collect();
            set(dut, &format!("her_gen_{name}"), &value);
        }
        let bits = (0..CONTEXTS).map(|context| u8::from(self.enabled[context]) << context);
        set(dut, "her_gen_ctx_enabled", &[bits.sum()]);
    }
}

fn set(dut: &mut Instance, name: &str, value: &[u8]) {
    let port = dut.port(name, Direction::Input);
    dut.set_bytes(port.unwrap_or_else(|error| panic!("{error}")), value);
}
