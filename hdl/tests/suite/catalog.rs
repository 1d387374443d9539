//! Every block of the catalog can be generated, and its ports are those of the contract.
//!
//! `ports/*.csv` hold the interfaces of the public design's blocks: parameters with their defaults, then
//! ports with direction and width, which may be an expression over the parameters. A block may have more
//! outputs behind those. `ports/reference.csv` holds the values that parameters have in the reference
//! configuration where the public design instantiates a block with others than its defaults.

use spinneret_hdl::app::corundum::evaluate;
use spinneret_hdl::catalog;
use spinneret_hdl::entry::{Config, Entry, Values};
use spinneret_verilog::{Design, PortDirection, generate};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn build(entry: &Entry, values: &Values) -> Design {
    let block = (entry.build)(values).unwrap_or_else(|error| panic!("{error}"));
    generate(&*block, entry.name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_block_is_generated_in_every_configuration() {
    for entry in catalog::entries() {
        for config in Config::ALL {
            let design = build(entry, &entry.values(config));
            assert_eq!(design.name, entry.name);
            assert_eq!(
                design.modules.last().map(|module| module.name.as_str()),
                Some(entry.name)
            );
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

#[test]
fn refusals_say_what_a_value_must_be() {
    for entry in catalog::entries() {
        for parameter in (entry.parameters)(Config::Reference) {
            let outside = [parameter.min.checked_sub(1), parameter.max.checked_add(1)];
            for value in outside.into_iter().flatten().chain([3, 300]) {
                let mut values = entry.values(Config::Reference);
                values.insert(parameter.name.to_owned(), value);
                if let Err(error) = (entry.build)(&values) {
                    assert!(error.reason.starts_with("it must be "), "{error}");
                }
            }
        }
    }
}

#[test]
fn ports_and_parameters_are_those_of_the_contract() {
    for entry in catalog::entries() {
        let path = Path::new("tests/ports").join(format!("{}.csv", entry.name));
        if !entry.shipped && !path.exists() {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let contract = Contract::parse(entry.name, &text);
        let values = entry.values(Config::Reference);
        let own = (entry.parameters)(Config::Reference).into_iter();
        let mut parameters: BTreeMap<String, u64> = own
            .filter_map(|p| Some((p.verilog?.to_owned(), p.value)))
            .collect();
        parameters.extend(
            (entry.derived)(&values)
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        assert_eq!(parameters, contract.parameters, "{}: parameters", entry.name);
        let design = build(entry, &values);
        let ports: Vec<_> = design
            .ports
            .iter()
            .map(|p| (p.direction, p.name.clone(), p.width as u64))
            .collect();
        let (ports, further) = ports.split_at(contract.ports.len().min(ports.len()));
        assert_eq!(ports, contract.ports, "{}: ports", entry.name);
        // A block adds only outputs, and the ready of an output stream.
        for (direction, name, _) in further {
            let is_output = *direction == PortDirection::Output || name.ends_with("_ready");
            assert!(is_output, "{}: {name}", entry.name);
        }
    }
}

/// An interface of the public design.
#[derive(Default)]
struct Contract {
    parameters: BTreeMap<String, u64>,
    ports: Vec<(PortDirection, String, u64)>,
}

impl Contract {
    fn parse(block: &str, text: &str) -> Self {
        let mut contract = Self::default();
        let reference = reference_values(block);
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [kind, name, expression] = fields[..] else {
                panic!("`{line}` has other than three fields")
            };
            let set = reference.get(name).filter(|_| kind == "parameter");
            let value = set
                .copied()
                .unwrap_or_else(|| value(expression, &contract.parameters));
            match kind {
                "parameter" => drop(contract.parameters.insert(name.to_owned(), value)),
                "input" => contract
                    .ports
                    .push((PortDirection::Input, name.to_owned(), value)),
                "output" => contract
                    .ports
                    .push((PortDirection::Output, name.to_owned(), value)),
                other => panic!("`{other}` is no kind of line"),
            }
        }
        contract
    }
}

/// The value of an expression of the table.
fn value(expression: &str, parameters: &BTreeMap<String, u64>) -> u64 {
    evaluate(expression, parameters).unwrap_or_else(|error| panic!("{error}"))
}

/// Parameter values of a block in the reference configuration, where they are not its defaults.
fn reference_values(block: &str) -> BTreeMap<String, u64> {
    let text = include_str!("../ports/reference.csv");
    let fields = text.lines().skip(1).map(|line| line.split(',').collect());
    fields
        .filter_map(|fields: Vec<&str>| {
            let [of, name, value] = fields[..] else {
                panic!("{fields:?} are other than three fields")
            };
            let value = value
                .parse()
                .unwrap_or_else(|error| panic!("{of}, {name}: {error}"));
            (of == block).then(|| (name.to_owned(), value))
        })
        .collect()
}

#[test]
fn slot_layouts_that_fill_all_addresses_are_generated() {
    let entry = catalog::find("pspin_pkt_alloc").unwrap();
    for (address_width, size, [large_size, large_slots], [small_size, small_slots]) in [
        (8, 256, [8, 16], [4, 32]),
        (8, 256, [255, 1], [1, 1]),
        (32, 1 << 32, [1 << 16, 32768], [1 << 15, 65536]),
    ] {
        let mut values = entry.values(Config::Reference);
        let layout = [
            ("address_width", address_width),
            ("buffer_base", 0),
            ("buffer_size", size),
            ("alignment", 1),
            ("large_slot_size", large_size),
            ("large_slots", large_slots),
            ("small_slot_size", small_size),
            ("small_slots", small_slots),
        ];
        values.extend(layout.map(|(name, value)| (name.to_owned(), value)));
        build(entry, &values);
    }
}
