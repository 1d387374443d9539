//! The parameters of the ingress path: the ranges that `--list` shows are those of its parts, and hold.

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

fn block(name: &str) -> &'static Entry {
    catalog::find(name).unwrap_or_else(|| panic!("{name} is not listed"))
}

/// The error of the reference configuration with these changes, if any.
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
