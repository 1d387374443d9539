//! The application block has the ports and parameters of Corundum's, in both generations, and wires all of the cluster's.

use spinneret_hdl::app::corundum::{
    ClusterClock, Generation, Shell, evaluate, is_flexible, parameters, ports,
};
use spinneret_hdl::app::{AppOptions, AppSources, Cluster, design, sources};
use spinneret_verilog::PortDirection;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Defaults that are not Corundum's: those of boards with our application, with which the module elaborates.
const OUR_DEFAULTS: &[(&str, &str)] = &[
    ("APP_ID", "32'h12340100"),
    ("APP_AXIS_DIRECT_ENABLE", "0"),
    ("APP_AXIS_SYNC_ENABLE", "0"),
    ("RAM_SEG_DATA_WIDTH", "512*2/RAM_SEG_COUNT"),
    ("AXIL_APP_CTRL_ADDR_WIDTH", "24"),
];

/// A row of a table of the contract: kind, name, width or default.
type Row = [String; 3];

fn contract(file: &str) -> Vec<Row> {
    let path = format!("tests/ports/{file}.csv");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let row = |line: &str| -> Row {
        let fields: Vec<_> = line.splitn(3, ',').map(str::to_owned).collect();
        fields
            .try_into()
            .unwrap_or_else(|_| panic!("`{line}` has other than three fields"))
    };
    text.lines().skip(1).map(row).collect()
}

fn file(generation: Generation) -> &'static str {
    match generation {
        Generation::Corundum202312 => "mqnic_app_block_corundum_2023_12",
        Generation::Fpspin2023 => "mqnic_app_block_fpspin_2023",
    }
}

fn sources_of(options: AppOptions) -> AppSources {
    sources(options).unwrap_or_else(|error| panic!("{error}"))
}

fn direction(direction: PortDirection) -> &'static str {
    match direction {
        PortDirection::Input => "input",
        _ => "output",
    }
}

#[test]
fn every_parameter_and_port_is_there_in_order_with_its_direction_and_width() {
    for generation in Generation::ALL {
        let expected = contract(file(generation));
        let ours: Vec<Row> = parameters(generation)
            .into_iter()
            .map(|parameter| ["parameter".to_owned(), parameter.name, parameter.default])
            .chain(
                ports(generation)
                    .into_iter()
                    .map(|port| [direction(port.direction).to_owned(), port.name, port.width]),
            )
            .collect();
        assert_eq!(ours.len(), expected.len(), "{generation:?}");
        for (ours, mut expected) in ours.into_iter().zip(expected) {
            let changed = OUR_DEFAULTS.iter().find(|(name, _)| *name == expected[1]);
            if let Some((_, default)) = changed.filter(|_| expected[0] == "parameter") {
                expected[2] = (*default).to_owned();
            }
            assert_eq!(ours, expected, "{generation:?}");
        }
    }
}

#[test]
fn widths_of_the_application_are_those_of_corundum() {
    let app = design().unwrap_or_else(|error| panic!("{error}"));
    for generation in Generation::ALL {
        let mut values = BTreeMap::new();
        for parameter in parameters(generation) {
            let value = evaluate(&parameter.default, &values).unwrap_or_else(|error| panic!("{error}"));
            values.insert(parameter.name, value);
        }
        for port in ports(generation) {
            let Some(inner) = app.ports.iter().find(|inner| inner.name == port.name) else {
                continue;
            };
            let width = evaluate(&port.width, &values).unwrap_or_else(|error| panic!("{error}"));
            let of_ram = port.width.contains("RAM_ADDR_WIDTH") || port.width.contains("RAM_SEG_ADDR_WIDTH");
            if of_ram {
                // The RAM is smaller than Corundum's address space for it.
                assert!(inner.width as u64 <= width, "{}", port.name);
            } else if is_flexible(&port) {
                assert!(inner.width as u64 >= width, "{}", port.name);
            } else {
                assert_eq!(inner.width as u64, width, "{}", port.name);
            }
            assert_eq!(inner.direction, port.direction, "{}", port.name);
        }
    }
}

#[test]
fn every_port_of_the_cluster_is_wired_once_with_its_width() {
    let app = design().unwrap_or_else(|error| panic!("{error}"));
    let shell = Shell {
        generation: Generation::Corundum202312,
        clock: ClusterClock::Board,
        interfaces: 1,
        cluster: [2, 16],
        app: &app,
    };
    let text = shell.text();
    let start = text
        .find("pspin_wrap #(")
        .unwrap_or_else(|| panic!("there is no cluster"));
    let instance = &text[start..];
    let instance = &instance[..instance.find(");\n\n").unwrap_or(instance.len())];
    let wired: BTreeMap<_, _> = instance
        .lines()
        .filter_map(|line| line.trim().strip_prefix('.')?.split_once('('))
        .map(|(port, wire)| (port, wire.trim_end_matches([',', ')'])))
        .filter(|(port, _)| !port.starts_with("N_"))
        .collect();
    let rows = contract("pspin_wrap");
    let expected: BTreeSet<_> = rows
        .iter()
        .filter(|row| row[0] != "parameter")
        .map(|row| row[1].as_str())
        .collect();
    assert_eq!(wired.keys().copied().collect::<BTreeSet<_>>(), expected);
    for [kind, port, width] in rows.iter().filter(|row| row[0] != "parameter") {
        let Some(inner) = app.ports.iter().find(|inner| inner.name == wired[port.as_str()]) else {
            continue;
        };
        assert_eq!(inner.width.to_string(), *width, "{port}");
        // The application drives the cluster's inputs; the clock is an input of both.
        let clock = if port == "clk_i" {
            "output"
        } else {
            direction(inner.direction)
        };
        assert_ne!(clock, kind, "{port}");
    }
}

#[test]
fn the_declaration_of_the_cluster_has_its_parameters_and_ports() {
    let sources = sources_of(AppOptions::default());
    let declaration = sources.declaration.map(|file| file.text).unwrap_or_default();
    let row = |line: &str| -> Option<Row> {
        let words: Vec<_> = line.trim().trim_end_matches(',').split_whitespace().collect();
        let width = |range: &str| {
            let high = range.strip_prefix('[')?.strip_suffix(":0]")?;
            Some((high.parse::<usize>().ok()? + 1).to_string())
        };
        let row = match words[..] {
            ["parameter", "integer", name, "=", value] => ["parameter", name, value].map(str::to_owned),
            [direction, "wire", name] => [direction, name, "1"].map(str::to_owned),
            [direction, "wire", range, name] => [direction.to_owned(), name.to_owned(), width(range)?],
            _ => return None,
        };
        Some(row)
    };
    let declared: Vec<_> = declaration.lines().filter_map(row).collect();
    let expected = contract("pspin_wrap");
    assert_eq!(declared.len(), expected.len());
    assert_eq!(
        declared.into_iter().collect::<BTreeSet<_>>(),
        expected.into_iter().collect()
    );
    let options = AppOptions {
        cluster: Cluster::Stub,
        ..AppOptions::default()
    };
    let stub = sources_of(options);
    assert!(stub.declaration.is_none() && stub.files.iter().any(|file| file.module == "pspin_wrap"));
}

#[test]
fn the_clock_from_outside_adds_two_ports_and_nothing_else() {
    let app = design().unwrap_or_else(|error| panic!("{error}"));
    for generation in Generation::ALL {
        let text = |clock| {
            let shell = Shell {
                generation,
                clock,
                interfaces: 2,
                cluster: [2, 16],
                app: &app,
            };
            shell.text()
        };
        let (board, external) = (text(ClusterClock::Board), text(ClusterClock::External));
        let lines = |text: &str| -> BTreeSet<String> {
            text.lines()
                .map(|line| line.trim_end_matches(',').to_owned())
                .collect()
        };
        let (board, external) = (lines(&board), lines(&external));
        let added: Vec<_> = external.difference(&board).map(|line| line.trim()).collect();
        assert_eq!(added, ["input  wire cluster_clk", "input  wire cluster_running"]);
        let instance = "spinneret_cluster_clock cluster_clock (";
        assert!(board.iter().any(|line| line.trim() == instance));
    }
}
