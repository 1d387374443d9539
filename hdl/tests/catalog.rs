//! Every block of the catalog can be generated, and its ports are those of the contract.
//!
//! `ports/*.csv` hold the interfaces of the public design's blocks: parameters with their defaults, then
//! ports with direction and width, which may be an expression over the parameters. Beside it,
//! `ports/*.own.csv` holds parameters whose value in the reference configuration is not that default, and
//! ports that our block adds behind the others.

use spinneret_hdl::catalog::{self, Config, Entry, Values};
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
fn ports_and_parameters_are_those_of_the_contract() {
    for entry in catalog::entries().iter().filter(|entry| entry.shipped) {
        let path = Path::new("tests/ports").join(format!("{}.csv", entry.name));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let own = fs::read_to_string(path.with_extension("own.csv")).unwrap_or_default();
        let contract = Contract::parse(&text, &own);
        let values = entry.values(Config::Reference);
        let named = (entry.parameters)(Config::Reference).into_iter();
        let mut parameters: BTreeMap<String, u64> = named
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
        assert_eq!(ports, contract.ports, "{}: ports", entry.name);
    }
}

/// An interface of the public design.
#[derive(Default)]
struct Contract {
    parameters: BTreeMap<String, u64>,
    ports: Vec<(PortDirection, String, u64)>,
}

impl Contract {
    fn parse(text: &str, own: &str) -> Self {
        let mut contract = Self::default();
        let of_own = |name: &str| {
            let mut lines = own.lines().skip(1).map(fields);
            lines.find_map(|[kind, own, value]| (kind == "parameter" && own == name).then_some(value))
        };
        for [kind, name, expression] in text.lines().skip(1).map(fields) {
            if kind == "parameter" {
                let value = contract.evaluate(of_own(name).unwrap_or(expression));
                contract.parameters.insert(name.to_owned(), value);
            } else {
                contract.port(kind, name, expression);
            }
        }
        for [kind, name, expression] in own.lines().skip(1).map(fields) {
            if kind == "parameter" {
                assert!(contract.parameters.contains_key(name), "no parameter `{name}`");
            } else {
                contract.port(kind, name, expression);
            }
        }
        contract
    }

    fn port(&mut self, kind: &str, name: &str, expression: &str) {
        let direction = match kind {
            "input" => PortDirection::Input,
            "output" => PortDirection::Output,
            other => panic!("`{other}` is no kind of line"),
        };
        let width = self.evaluate(expression);
        self.ports.push((direction, name.to_owned(), width));
    }

    /// A number, a parameter, or a quotient of two such.
    fn evaluate(&self, expression: &str) -> u64 {
        let expression = expression.trim_start_matches('(').trim_end_matches(')');
        if let Some((left, right)) = expression.split_once('/') {
            return self.evaluate(left) / self.evaluate(right);
        }
        expression.parse().unwrap_or_else(|_| self.parameters[expression])
    }
}

/// The three fields of a line.
fn fields(line: &str) -> [&str; 3] {
    let fields: Vec<&str> = line.split(',').collect();
    fields
        .try_into()
        .unwrap_or_else(|_| panic!("`{line}` has other than three fields"))
}

#[test]
fn impossible_dma_parameters_are_refused_with_a_reason() {
    let entry = catalog::find("pspin_ingress_dma").unwrap();
    for (name, value, reason) in [
        ("data_width", 64, "it is 128 to 1024"),
        ("data_width", 384, "it is a power of two: 128, 256, 512 or 1024"),
        ("length_width", 12, "it is 13 to 32"),
        ("address_width", 65, "it is 16 to 64"),
        ("bursts", 48, "it is a power of two"),
        ("her_queue", 1, "it is 2 to 1024"),
    ] {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        let error = (entry.build)(&values).err().map(|error| error.to_string());
        let expected = format!("pspin_ingress_dma: {name} = {value} is not possible: {reason}");
        assert_eq!(error, Some(expected));
    }
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
        "pspin_pkt_match: data_width = 96 is not possible: it is a power of two: 64, 128, 256, 512 or 1024"
    );
    assert_eq!(
        refused("data_width", 2048),
        "pspin_pkt_match: data_width = 2048 is not possible: it is 64 to 1024"
    );
    assert_eq!(
        refused("inspected_bytes", 257),
        "pspin_pkt_match: inspected_bytes = 257 is not possible: it is 4 to 256"
    );
    assert_eq!(
        refused("rules", 1),
        "pspin_pkt_match: rules = 1 is not possible: it is 2 to 8"
    );
    assert_eq!(
        refused("tag_width", 34),
        "pspin_pkt_match: tag_width = 34 is not possible: message id (32), end of message (1) and ruleset (2) need 35"
    );
}
