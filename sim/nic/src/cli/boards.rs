//! `spinneret boards`: boards that are controlled over Ethernet.

use crate::terminal::{Failure, print, print_folded};
use clap::Args;
use serde_json::json;
use spinneret_host::device::ether::{EtherError, Found, boards};
use spinneret_table::table;

/// Interfaces of this process's network, two lines above the first one.
const INTERFACES: &str = "/proc/self/net/dev";

/// Arguments of `spinneret boards`.
#[derive(Clone, Debug, Args)]
pub(super) struct BoardsArguments {
    /// Network interface [default: all that are up]
    #[arg(value_name = "INTERFACE")]
    interface: Option<String>,
    /// Print the boards as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command and prints the boards.
///
/// # Errors
/// An interface cannot be used, or no board answers.
pub(super) fn run(arguments: &BoardsArguments) -> Result<(), Failure> {
    let mut found = Vec::new();
    let names = match &arguments.interface {
        Some(name) => vec![name.clone()],
        None => interfaces().map_err(Failure::work)?,
    };
    for name in &names {
        match boards(name) {
            Ok(boards) => found.push((name, boards)),
            // The interface may be for something else.
            Err(EtherError::Down(_) | EtherError::NotEthernet(_)) if arguments.interface.is_none() => {}
            Err(error) => return Err(Failure::usage(error)),
        }
    }
    if arguments.json {
        return print(format_args!("{:#}\n", to_json(&found))).map_err(Failure::Work);
    }
    let is_empty = |(_, found): &(_, Found)| found.boards.is_empty() && found.foreign.is_empty();
    if found.iter().all(is_empty) {
        return Err(Failure::work(EtherError::Nobody(names.join(", "))));
    }
    print_folded(format_args!("{}\n", to_table(&found))).map_err(Failure::Work)
}

fn interfaces() -> std::io::Result<Vec<String>> {
    let text = std::fs::read_to_string(INTERFACES)?;
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).collect())
}

fn to_json(found: &[(&String, Found)]) -> serde_json::Value {
    let boards = found.iter().flat_map(|(interface, found)| {
        let known = found.boards.iter().map(move |info| {
            json!({
                "interface": interface, "address": info.mac.to_string(), "name": info.name, "design": info.design,
                "clusters": info.shape[0], "hpus": info.shape[1], "memory_bytes": info.memory_bytes,
                "program_bytes": info.program_bytes, "protocol": spinneret_regmap::ether::VERSION,
            })
        });
        let foreign = found.foreign.iter().map(move |(board, version)| {
            json!({ "interface": interface, "address": board.to_string(), "protocol": version })
        });
        known.chain(foreign)
    });
    boards.collect()
}

fn to_table(found: &[(&String, Found)]) -> spinneret_table::Table {
    let mut table = table([
        "device",
        "board",
        "design",
        "clusters",
        "HPUs",
        "memory",
        "program memory",
    ]);
    for (interface, found) in found {
        for info in &found.boards {
            let [clusters, hpus] = info.shape;
            table.add_row([
                format!("ether:{interface},{}", info.mac),
                info.name.clone(),
                format!("{:#x}", info.design),
                clusters.to_string(),
                hpus.to_string(),
                format!("{} KiB", info.memory_bytes >> 10),
                format!("{} KiB", info.program_bytes >> 10),
            ]);
        }
        for (board, version) in &found.foreign {
            table.add_row([
                format!("ether:{interface},{board}"),
                format!("protocol {version}"),
            ]);
        }
    }
    table
}
