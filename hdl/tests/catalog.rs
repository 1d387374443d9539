//! Every block of the catalog can be generated, and its ports are those of the contract.

use spinneret_hdl::catalog::{self, Config};
use spinneret_verilog::generate;

#[test]
fn every_block_is_generated_in_every_configuration() {
    for entry in catalog::entries() {
        for config in Config::ALL {
            let block = (entry.build)(&entry.values(config)).unwrap_or_else(|error| panic!("{error}"));
            let design = generate(&*block, entry.name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(design.name, entry.name);
            assert!(design.modules.iter().all(|module| !module.text.contains('$') || module.text.contains("$error")));
        }
    }
}

#[test]
fn parameters_lie_in_their_own_ranges() {
    for entry in catalog::entries() {
        for config in Config::ALL {
            for parameter in (entry.parameters)(config) {
                let range = parameter.min..=parameter.max;
                assert!(range.contains(&parameter.value), "{}: {parameter:?}", entry.name);
            }
        }
    }
}
