//! What can be asked for: configurations, boards, and modules with their parameters.

use crate::terminal::table;
use serde_json::{Value, json};
use spinneret_bsp::Board;
use spinneret_hdl::entry::{Config, Entry};
use std::fmt::Write as _;

/// Everything as tables for people.
pub fn text(catalog: &[Entry], boards: &[Board]) -> String {
    let mut text = format!("Configurations (--config)\n{}\n\n", configs());
    let _ = writeln!(
        text,
        "Boards (--board); where the newest Corundum has the design, which older checkouts have elsewhere\n{}\n",
        board_table(boards)
    );
    let _ = writeln!(
        text,
        "Modules (--module) and their parameters (--set)\n{}",
        modules(catalog)
    );
    text
}

/// The same for programs.
pub fn json(catalog: &[Entry], boards: &[Board]) -> Value {
    json!({
        "configs": Config::ALL.map(|config| json!({ "name": config.name(), "doc": config_doc(config) })),
        "boards": boards.iter().map(board_json).collect::<Vec<_>>(),
        "modules": catalog.iter().map(module_json).collect::<Vec<_>>(),
    })
}

fn config_doc(config: Config) -> &'static str {
    match config {
        Config::Reference => {
            "each block alone, with the parameter values of the public FPsPIN design (the default)"
        }
        Config::Board => "each block with the parameter values that the application block needs on a board",
    }
}

fn configs() -> String {
    let mut table = table(["name", "what it is"]);
    for config in Config::ALL {
        table.add_row([config.name(), config_doc(config)]);
    }
    table.to_string()
}

fn board_table(boards: &[Board]) -> String {
    let mut table = table(["name", "board", "part", "clock", "PCI Express", "Corundum design"]);
    for board in boards {
        table.add_row([
            board.name.to_owned(),
            board.title.to_owned(),
            board.part.to_owned(),
            format!("{} MHz", board.core_clock_hz / 1_000_000),
            board
                .pci_express
                .map(|p| format!("gen{} x{}", p.generation, p.lanes))
                .unwrap_or_default(),
            board
                .corundum
                .and_then(|design| design.directories.first())
                .map(|directory| (*directory).to_owned())
                .unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn board_json(board: &Board) -> Value {
    json!({
        "name": board.name,
        "title": board.title,
        "family": board.family.name(),
        "part": board.part,
        "core_clock_hz": board.core_clock_hz,
        "pci_express": board.pci_express.map(|p| json!({ "generation": p.generation, "lanes": p.lanes })),
        "corundum_directories": board.corundum.map(|design| design.directories),
        "pins": (board.pins)().iter()
            .map(|pin| json!({ "signal": pin.signal, "ball": pin.ball })).collect::<Vec<_>>(),
    })
}

fn modules(catalog: &[Entry]) -> String {
    let values = Config::ALL.map(Config::name);
    let header = ["module", "parameter"]
        .into_iter()
        .chain(values)
        .chain(["range", "Verilog", "what it is"]);
    let mut table = table(header);
    for entry in catalog {
        let doc = if entry.shipped {
            entry.doc.to_owned()
        } else {
            format!("{} (only written when it is named)", entry.doc)
        };
        let blanks = Config::ALL.len() + 3;
        let blank_cells = std::iter::repeat_n(String::new(), blanks);
        table.add_row(
            [entry.name.to_owned()]
                .into_iter()
                .chain(blank_cells)
                .chain([doc]),
        );
        let per_config = Config::ALL.map(entry.parameters);
        for (index, parameter) in per_config[0].iter().enumerate() {
            let mut row = vec![String::new(), parameter.name.to_owned()];
            row.extend(per_config.iter().map(|list| list[index].value.to_string()));
            row.push(format!("{}..{}", parameter.min, parameter.max));
            row.push(parameter.verilog.unwrap_or_default().to_owned());
            row.push(parameter.doc.to_owned());
            table.add_row(row);
        }
    }
    table.to_string()
}

fn module_json(entry: &Entry) -> Value {
    let parameters = (entry.parameters)(Config::Reference);
    let describe = |index: usize| {
        let p = &parameters[index];
        let values: serde_json::Map<String, Value> = Config::ALL
            .into_iter()
            .map(|config| (config.name().to_owned(), json!(entry.values(config).get(p.name))))
            .collect();
        json!({
            "name": p.name, "min": p.min, "max": p.max, "values": values,
            "verilog": p.verilog, "doc": p.doc,
        })
    };
    json!({
        "name": entry.name,
        "doc": entry.doc,
        "shipped": entry.shipped,
        "parameters": (0..parameters.len()).map(describe).collect::<Vec<_>>(),
    })
}
