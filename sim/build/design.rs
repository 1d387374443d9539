//! From a block of the catalog to a Verilator model; part of several build scripts.

use spinneret_hdl::entry::{Entry, Values};
use spinneret_verilate::{Model, Port};
use spinneret_verilog::prelude::Block;
use spinneret_verilog::{PortDirection, generate};

/// Warnings that are waived, with their reasons: the same as for the lint of what is shipped.
pub(crate) fn waivers() -> (String, String) {
    let text = include_str!("../../tools/verilator.vlt");
    ("verilator.vlt".to_owned(), text.to_owned())
}

/// A block of the catalog, with the text that is shipped.
pub(crate) fn design(name: &str, entry: &Entry, values: &Values) -> Result<Model, String> {
    let block = (entry.build)(values).map_err(|error| error.to_string())?;
    of_block(name, entry.name, &*block)
}

/// A block, with the text that is shipped.
pub(crate) fn of_block(name: &str, top: &str, block: &dyn Block) -> Result<Model, String> {
    let design = generate(block, top).map_err(|error| format!("{name}: {error}"))?;
    let port = |port: &spinneret_verilog::Port| Port {
        name: port.name.clone(),
        input: port.direction == PortDirection::Input,
        width: port.width,
    };
    let modules = design
        .modules
        .into_iter()
        .map(|module| (format!("{}.sv", module.name), module.text));
    Ok(Model {
        name: name.to_owned(),
        top: design.name.clone(),
        ports: design.ports.iter().map(port).collect(),
        sources: [waivers()].into_iter().chain(modules).collect(),
    })
}
