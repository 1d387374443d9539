//! The parameters of the ingress path: what `--list` says of them, and how impossible values are refused.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::{Config, Entry, Parameter, Values};

const NAME: &str = "pspin_ingress_datapath";

/// The blocks whose parameters the path has.
const PARTS: [&str; 4] = [
    "pspin_pkt_match",
    "pspin_ingress_dma",
    "pspin_her_gen",
    "slot_pool",
];

/// The first value is the one that is refused, the others make it impossible; then comes the reason.
type Refusal = (&'static [(&'static str, u64)], &'static str);

const REFUSALS: &[Refusal] = &[
    (&[("data_width", 64)], "it must be from 128 to 1024"),
    (&[("data_width", 2048)], "it must be from 128 to 1024"),
    (&[("data_width", 384)], "it must be a power of two"),
    (&[("address_width", 15)], "it must be from 16 to 48"),
    (&[("address_width", 49)], "it must be from 16 to 48"),
    (
        &[("alignment", 32)],
        "it must be at least 64: slots start at whole beats",
    ),
    (
        &[("small_slot_size", 1088), ("small_slots", 8)],
        "it must be at most 1024 with this data_width",
    ),
    (
        &[
            ("large_slot_size", 8192),
            ("large_slots", 4),
            ("queue_beats", 256),
            ("length_width", 13),
        ],
        "it must be less than 8192: a length has 13 bits",
    ),
    (
        &[
            ("length_width", 20),
            ("address_width", 16),
            ("buffer_base", 0),
            ("buffer_size", 1 << 15),
            ("large_slots", 8),
            ("small_slots", 8),
        ],
        "it must be at most 16, the bits of an address",
    ),
    (&[("queue_beats", 2)], "it must be from 4 to 4096"),
    (&[("queue_beats", 48)], "it must be a power of two"),
    (
        &[("queue_beats", 16)],
        "it must be at least 25, for a frame that fills a large slot",
    ),
    (&[("packets", 100)], "it must be a power of two"),
    (&[("bursts", 6)], "it must be a power of two"),
    (
        &[("tag_width", 34)],
        "it must be at least 35: message id (32), end of message (1) and ruleset (2)",
    ),
    (&[("her_message_id_width", 0)], "it must be from 1 to 32"),
    (
        &[("her_message_id_width", 3), ("context_in_message_id", 1)],
        "it must be at least 4: 2 bits of the id and 2 of the context",
    ),
];

fn block(name: &str) -> &'static Entry {
    catalog::find(name).unwrap_or_else(|| panic!("{name} is not listed"))
}

/// What is wrong with the reference configuration after these changes, if anything is.
fn refusal(settings: &[(&str, u64)]) -> Option<String> {
    let mut values: Values = block(NAME).values(Config::Reference);
    for (name, value) in settings {
        let known = values.insert((*name).to_owned(), *value);
        assert!(known.is_some(), "{NAME} has no parameter {name}");
    }
    let built = (block(NAME).build)(&values);
    built.err().map(|error| error.to_string())
}

#[test]
fn refusals_name_the_parameter_its_value_and_what_is_possible() {
    for (settings, reason) in REFUSALS {
        let (name, value) = settings[0];
        let expected = format!("{NAME}: {name} = {value} is not possible: {reason}");
        assert_eq!(refusal(settings), Some(expected), "{settings:?}");
    }
}

#[test]
fn the_message_id_of_the_matching_engine_is_not_that_of_a_her() {
    let narrow = [("message_id_width", 2), ("context_in_message_id", 1)];
    assert_eq!(refusal(&narrow), None);
}

#[test]
fn a_shared_parameter_has_the_range_that_suits_every_part() {
    for config in Config::ALL {
        for parameter in (block(NAME).parameters)(config) {
            let parts = PARTS.iter().flat_map(|part| (block(part).parameters)(config));
            let ranges: Vec<Parameter> = parts.filter(|part| part.name == parameter.name).collect();
            let min = ranges.iter().map(|part| part.min).max();
            let max = ranges.iter().map(|part| part.max).min();
            if let (Some(min), Some(max)) = (min, max) {
                let name = parameter.name;
                assert_eq!((parameter.min, parameter.max), (min, max), "{name}");
                assert!((min..=max).contains(&parameter.value), "{name}");
            }
        }
    }
}

#[test]
fn values_outside_of_a_listed_range_are_refused_with_the_range() {
    for parameter in (block(NAME).parameters)(Config::Reference) {
        let Parameter { name, min, max, .. } = parameter;
        let outside = [min.checked_sub(1), max.checked_add(1)];
        for value in outside.into_iter().flatten() {
            let expected =
                format!("{NAME}: {name} = {value} is not possible: it must be from {min} to {max}");
            assert_eq!(refusal(&[(name, value)]), Some(expected));
        }
    }
}
