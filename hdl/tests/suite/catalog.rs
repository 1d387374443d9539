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
        // What a block adds are outputs, and the ready of an output stream.
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
fn impossible_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_pkt_match").unwrap();
    let refused = |name: &str, value: u64| {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        (entry.build)(&values)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        refused("data_width", 96),
        "pspin_pkt_match: data_width = 96 is not possible: it must be a power of two"
    );
    assert_eq!(
        refused("data_width", 2048),
        "pspin_pkt_match: data_width = 2048 is not possible: it must be from 64 to 1024"
    );
    assert_eq!(
        refused("inspected_bytes", 257),
        "pspin_pkt_match: inspected_bytes = 257 is not possible: it must be from 4 to 256"
    );
    assert_eq!(
        refused("rules", 1),
        "pspin_pkt_match: rules = 1 is not possible: it must be from 2 to 8"
    );
    assert_eq!(
        refused("tag_width", 34),
        "pspin_pkt_match: tag_width = 34 is not possible: it must be at least 35: message id (32), end of message (1) and ruleset (2)"
    );
    let mut values = entry.values(Config::Reference);
    values
        .extend([("data_width", 64), ("mtu", 16384), ("buffer_frames", 64)].map(|(n, v)| (n.to_owned(), v)));
    assert_eq!(
        (entry.build)(&values)
            .err()
            .map(|error| error.to_string())
            .as_deref(),
        Some(
            "pspin_pkt_match: buffer_frames = 64 is not possible: it must be at most 32 with this mtu and data_width"
        )
    );
}

#[test]
fn impossible_slot_layouts_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_pkt_alloc").unwrap();
    for (name, value, reason) in [
        (
            "large_slots",
            342,
            "it must be at most 341: the buffer has 524288 bytes, a slot 1536",
        ),
        (
            "small_slots",
            1025,
            "it must be at most 1024: the large slots leave 131072 bytes, and a slot has 128",
        ),
        ("small_slots", 0, "it must be from 1 to 65536"),
        (
            "small_slot_size",
            1536,
            "it must be less than large_slot_size, 1536",
        ),
        (
            "small_slot_size",
            100,
            "it must be a multiple of the alignment, 64",
        ),
        (
            "large_slot_size",
            1500,
            "it must be a multiple of the alignment, 64",
        ),
        ("alignment", 96, "it must be a power of two"),
        (
            "buffer_base",
            0x1c10_0020,
            "it must be a multiple of the alignment, 64",
        ),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        let expected = format!("pspin_pkt_alloc: {name} = {value} is not possible: {reason}");
        assert_eq!(error, expected);
    }
    for (name, value, expected) in [
        (
            "length_width",
            10,
            "pspin_pkt_alloc: large_slot_size = 1536 is not possible: it must be at most 1023: a length has 10 bits",
        ),
        (
            "address_width",
            24,
            "pspin_pkt_alloc: buffer_base = 470810624 is not possible: it must be less than 16777216: an address \
             has 24 bits",
        ),
        (
            "buffer_base",
            0xfffe_0000,
            "pspin_pkt_alloc: buffer_size = 524288 is not possible: it must be at most 131072: the buffer is at \
             0xfffe0000, and an address has 32 bits",
        ),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert_eq!(error, expected);
    }
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

#[test]
fn contexts_meet_in_no_queue_of_an_application() {
    let entry = catalog::find("spinneret_app").unwrap();
    let mut values = entry.values(Config::Board);
    build(entry, &values);
    values.insert("queues".to_owned(), 8);
    let error = (entry.build)(&values).err().map(|error| error.to_string());
    let expected = "spinneret_app: queues = 8 is not possible: it must be at least 16: with fewer, contexts share a queue";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn impossible_dma_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_ingress_dma").unwrap();
    for (name, value, reason) in [
        ("data_width", 64, "it must be from 128 to 1024"),
        ("data_width", 384, "it must be a power of two"),
        ("length_width", 12, "it must be from 13 to 32"),
        ("address_width", 65, "it must be from 16 to 64"),
        ("bursts", 48, "it must be a power of two"),
        ("her_queue", 1, "it must be from 2 to 1024"),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("pspin_ingress_dma: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
}

#[test]
fn impossible_her_generator_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_her_gen").unwrap();
    for (config, name, value, reason) in [
        (Config::Reference, "contexts", 5, "it must be from 1 to 4"),
        (
            Config::Reference,
            "tag_width",
            34,
            "it must be at least 35: message id (32), end of message (1) and context (2)",
        ),
        (Config::Reference, "length_width", 33, "it must be from 2 to 32"),
        (
            Config::Reference,
            "transfer_limit",
            1 << 32,
            "it must be from 0 to 4294967295",
        ),
        (
            Config::Board,
            "message_id_width",
            3,
            "it must be at least 4: 2 bits of the id and 2 of the context",
        ),
    ] {
        let mut values = entry.values(config);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("pspin_her_gen: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
    let mut values = entry.values(Config::Board);
    values.insert("address_width".to_owned(), 15);
    let error = (entry.build)(&values).err().map(|error| error.to_string());
    let expected =
        "pspin_her_gen: length_width = 16 is not possible: it must be at most 15, the bits of an address";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn impossible_ram_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("spinneret_psdpram").unwrap();
    for (name, value, reason) in [
        ("size", 12288, "it must be a power of two"),
        ("size", 64, "it must be at least 128: two lines of all segments"),
        ("ram_seg_count", 3, "it must be a power of two"),
        ("ram_seg_count", 32, "it must be from 1 to 16"),
        ("ram_seg_data_width", 96, "it must be a power of two"),
        ("ram_addr_width", 13, "it must be at least 14, for 16384 bytes"),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("spinneret_psdpram: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
}

#[test]
fn impossible_injection_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_tx_inject").unwrap();
    for (name, value, reason) in [
        ("data_width", 500, "it must be a multiple of 8"),
        (
            "user_width",
            16,
            "it must be at least 17: tag (16) and error bit (1)",
        ),
        ("tag_width", 1, "it must be from 2 to 64"),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("pspin_tx_inject: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
}
