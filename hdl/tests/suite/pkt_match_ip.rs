//! The option `ip_relative` of the matching engine: what it adds to the interface, and in which shapes it exists.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::{Config, Entry, Values};
use spinneret_verilog::{Design, PortDirection, generate};

fn entry() -> &'static Entry {
    catalog::find("pspin_pkt_match").expect("the block is listed")
}

fn design(config: Config, settings: &[(&str, u64)]) -> Design {
    let mut values: Values = entry().values(config);
    values.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    let block = (entry().build)(&values).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
    generate(&*block, "pspin_pkt_match").unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

/// Direction, name and width of every port.
fn ports(design: &Design) -> Vec<(PortDirection, String, usize)> {
    let ports = design.ports.iter();
    ports
        .map(|port| (port.direction, port.name.clone(), port.width))
        .collect()
}

#[test]
fn the_option_is_off_in_the_drop_in_and_on_for_boards() {
    let value = |config: Config| entry().values(config)["ip_relative"];
    assert_eq!((value(Config::Reference), value(Config::Board)), (0, 1));
}

#[test]
fn the_option_adds_one_input_behind_all_others() {
    for (rulesets, rules) in [(4, 4), (1, 2), (3, 8)] {
        let sizes = [("rulesets", rulesets), ("rules", rules)];
        let mut expected = ports(&design(Config::Reference, &sizes));
        let flags = (rulesets * rules) as usize;
        expected.push((PortDirection::Input, "match_relative".to_owned(), flags));
        let with_option = [&sizes[..], &[("ip_relative", 1)]].concat();
        assert_eq!(ports(&design(Config::Reference, &with_option)), expected);
    }
}

#[test]
fn without_the_option_nothing_of_it_is_left() {
    let design = design(Config::Board, &[("ip_relative", 0)]);
    for module in &design.modules {
        for trace in ["payload", "relative", "word_select"] {
            assert!(!module.text.contains(trace), "{}: {trace}", module.name);
        }
    }
}

#[test]
fn every_width_can_be_combined_with_every_reach() {
    for data_width in [64, 128, 256, 512, 1024] {
        for inspected_bytes in [4, 20, 66, 129, 256] {
            for (rulesets, rules, bits, order) in [(4, 4, 32, 0), (1, 2, 1, 1), (2, 3, 10, 1)] {
                let design = design(
                    Config::Board,
                    &[
                        ("data_width", data_width),
                        ("inspected_bytes", inspected_bytes),
                        ("rulesets", rulesets),
                        ("rules", rules),
                        ("message_id_width", bits),
                        ("message_id_network_order", order),
                    ],
                );
                assert!(
                    design
                        .modules
                        .iter()
                        .any(|module| module.name == "payload_finder")
                );
            }
        }
    }
}
