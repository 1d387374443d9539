//! What parameters of the egress path can be, and what becomes of those that cannot.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use spinneret_verilog::generate;

#[test]
fn impossible_egress_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_egress_datapath").unwrap();
    for (config, name, value, reason) in [
        (Config::Reference, "data_width", 64, "it must be from 128 to 1024"),
        (Config::Reference, "data_width", 384, "it must be a power of two"),
        (
            Config::Reference,
            "buffer_beats",
            384,
            "it must be a power of two",
        ),
        (
            Config::Reference,
            "buffer_beats",
            256,
            "it must be at least 300, for two frames of 9600 bytes",
        ),
        (Config::Reference, "commands", 48, "it must be a power of two"),
        (
            Config::Reference,
            "max_frame",
            16385,
            "it must be from 256 to 16384",
        ),
        (
            Config::Board,
            "tx_user",
            1 << 17,
            "it must be at most 131071: tuser has 17 bits",
        ),
    ] {
        let mut values = entry.values(config);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("pspin_egress_datapath: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
    let mut values = entry.values(Config::Reference);
    values.extend(["clusters", "cores", "core_commands"].map(|name| (name.to_owned(), 1)));
    let error = (entry.build)(&values).err().map(|error| error.to_string());
    let expected = "pspin_egress_datapath: core_commands = 1 is not possible: it must be at least 2 with one cluster and one \
         core: the id of a command has a bit";
    assert_eq!(error.as_deref(), Some(expected));
}

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
