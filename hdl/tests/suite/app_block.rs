//! The application block has the ports and parameters of Corundum's, in both generations, and wires all of the cluster's.

use spinneret_hdl::app::corundum::{
    ClusterClock, DATA_WIDTH, Generation, INTERFACES, Shell, evaluate, is_flexible, ports, values,
};
use spinneret_hdl::app::{AppOptions, AppSources, Cluster, design, sources};
use spinneret_verilog::PortDirection;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A row of a table of the contract: kind, name, width or default.
type Row = [String; 3];

fn contract(path: &str) -> Vec<Row> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let row = |line: &str| -> Row {
        let fields: Vec<_> = line.splitn(3, ',').map(str::to_owned).collect();
        fields
            .try_into()
            .unwrap_or_else(|_| panic!("`{line}` has other than three fields"))
    };
    text.lines().skip(1).map(row).collect()
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

/// The rows of the table that a module's text declares: each parameter and port, in order.
fn declared(text: &str) -> Vec<Row> {
    let row = |line: &str| -> Option<Row> {
        let line = line.trim().trim_end_matches(',');
        let row = match line.split_once(' ')? {
            ("parameter", rest) => {
                let (name, default) = rest.split_once(" = ")?;
                ["parameter", name.trim_start_matches("integer "), default]
            }
            (kind @ ("input" | "output"), rest) => {
                let rest = rest.trim_start().strip_prefix("wire ")?;
                match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
                    Some((range, name)) => [kind, name, range],
                    None => [kind, rest, "1"],
                }
            }
            _ => return None,
        };
        Some(row.map(str::to_owned))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn the_text_declares_every_parameter_and_port_of_corundum_in_order() {
    for generation in Generation::ALL {
        let options = AppOptions {
            generation,
            ..AppOptions::default()
        };
        let files = sources_of(options).files;
        let text = files.last().map(|file| file.text.as_str()).unwrap_or_default();
        let expected = match generation {
            Generation::Corundum202312 => contract("src/app/corundum/corundum_2023_12.csv"),
            Generation::Fpspin2023 => contract("src/app/corundum/fpspin_2023.csv"),
        };
        let declared = declared(text);
        assert_eq!(declared.len(), expected.len(), "{generation:?}");
        for (ours, [kind, name, value]) in declared.into_iter().zip(expected) {
            let value = match (kind.as_str(), value.as_str()) {
                // A default may be ours.
                ("parameter", _) => ours[2].clone(),
                (_, "1") => "1".to_owned(),
                (_, width) => format!("{width}-1:0"),
            };
            assert_eq!(ours, [kind, name, value], "{generation:?}");
        }
    }
}

#[test]
fn widths_of_the_application_are_those_of_corundum() {
    for (generation, data_width) in Generation::ALL.into_iter().zip([512, 128]) {
        let options = AppOptions {
            data_width,
            ..AppOptions::default()
        };
        let app = sources_of(options).app;
        let given = [(INTERFACES, 1), (DATA_WIDTH, data_width as u64)];
        let values = values(generation, &given).unwrap_or_else(|error| panic!("{error}"));
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
    let rows = contract("tests/ports/pspin_wrap.csv");
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
    let width = |range: &str| match range.strip_suffix(":0").map(str::parse::<usize>) {
        Some(Ok(high)) => (high + 1).to_string(),
        _ => range.to_owned(),
    };
    let rows = declared(&declaration).into_iter();
    let declared: Vec<Row> = rows
        .map(|[kind, name, range]| [kind, name, width(&range)])
        .collect();
    let expected = contract("tests/ports/pspin_wrap.csv");
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
