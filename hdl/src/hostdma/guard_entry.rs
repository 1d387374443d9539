//! The guard in the catalog, for a proof of its own.

use super::{GuardShape, HostGuard};
use crate::entry::{Entry, Parameters as _};

/// [`HostGuard`].
pub(crate) const GUARD_ENTRY: Entry = Entry::part(
    GuardShape::BLOCK,
    "holds transfers to the host windows of the execution contexts",
    GuardShape::parameters,
    |values| Ok(Box::new(HostGuard::new(GuardShape::new(values)?))),
);

#[cfg(test)]
mod tests {
    use super::GUARD_ENTRY;
    use crate::entry::Config;
    use spinneret_verilog::generate;

    #[test]
    fn contexts_are_told_apart_by_as_few_bits_as_can_be() {
        for (contexts, bits) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4)] {
            let values = GUARD_ENTRY.with(Config::Board, &[("contexts", contexts)]);
            let block = (GUARD_ENTRY.build)(&values).expect("a guard");
            let design = generate(&*block, "host_guard").expect("its text");
            let asker = design.ports.iter().find(|port| port.name == "asker");
            assert_eq!(asker.map(|port| port.width), Some(bits), "{contexts} contexts");
        }
    }
}
