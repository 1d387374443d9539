//! The guard in the catalog, for a proof of its own.

use super::{GuardShape, HostGuard};
use crate::entry::{Checked, Entry, Parameter, ParameterError, Values};
use spinneret_verilog::prelude::Block;

/// [`HostGuard`].
pub(crate) const GUARD_ENTRY: Entry = Entry {
    name: "host_guard",
    doc: "holds transfers to the host windows of the execution contexts",
    shipped: false,
    parameters: |_| parameters(),
    derived: |_| Vec::new(),
    build,
};

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::new("address_width", 64, [32, 64], "width of a host address in bits"),
        Parameter::new(
            "contexts",
            4,
            [1, 16],
            "execution contexts, each of which has a window",
        ),
    ]
}

fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(GUARD_ENTRY.name, &parameters(), values)?;
    Ok(Box::new(HostGuard::new(GuardShape {
        windows: checked.get("contexts") as usize,
        address: checked.get("address_width") as usize,
    })))
}

#[cfg(test)]
mod tests {
    use super::GUARD_ENTRY;
    use crate::entry::Config;
    use spinneret_verilog::generate;

    #[test]
    fn contexts_are_told_apart_by_as_few_bits_as_can_be() {
        for (contexts, bits) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4)] {
            let mut values = GUARD_ENTRY.values(Config::Board);
            values.insert("contexts".to_owned(), contexts);
            let block = (GUARD_ENTRY.build)(&values).expect("a guard");
            let design = generate(&*block, "host_guard").expect("its text");
            let asker = design.ports.iter().find(|port| port.name == "asker");
            assert_eq!(asker.map(|port| port.width), Some(bits), "{contexts} contexts");
        }
    }
}
