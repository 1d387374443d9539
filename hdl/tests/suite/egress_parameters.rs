//! Egress paths with all widths.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use spinneret_verilog::generate;

#[test]
fn egress_paths_of_every_width_are_generated() {
    let entry = catalog::find("pspin_egress_datapath").unwrap();
    for data in [128, 256, 512, 1024] {
        for [address, source] in [[16, 16], [16, 64], [32, 16], [64, 64]] {
            for max_frame in [256, 1000, 16384] {
                let mut values = entry.values(Config::Board);
                let widths = [
                    ("data_width", data),
                    ("address_width", address),
                    ("host_address_width", source),
                    ("max_frame", max_frame),
                    ("buffer_beats", 4096),
                    ("commands", 2),
                ];
                values.extend(widths.map(|(name, value)| (name.to_owned(), value)));
                let block = (entry.build)(&values).unwrap_or_else(|error| panic!("{error}"));
                generate(&*block, entry.name).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}
