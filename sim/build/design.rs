//! From a block of the catalog to a Verilator model; part of several build scripts.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::{Config, Entry, Values};
use spinneret_verilate::{Model, Port};
use spinneret_verilog::prelude::Block;
use spinneret_verilog::{PortDirection, generate};

/// Warnings that are waived, with their reasons: the same as for the lint of what is shipped.
pub(crate) fn waivers() -> (String, String) {
    let text = include_str!("../../tools/verilator.vlt");
    ("verilator.vlt".to_owned(), text.to_owned())
}

/// Directives by which the pipelines of a design share their functions, which then fit the instruction cache: four pipelines in
/// one model are half as fast again.
///
/// Verilator writes one function for instances whose functions are equal. They differ where the name of a parent's signal stands for
/// that of an input, and where a register of a child is left out because another one of the pipeline holds the same.
pub(crate) fn shared_functions() -> Result<String, String> {
    const PIPELINE: &str = "hpu_pipeline";
    let entry = catalog::find(PIPELINE).ok_or("the catalog has no pipeline")?;
    let block = (entry.build)(&entry.values(Config::Reference)).map_err(|error| error.to_string())?;
    let design = generate(&*block, PIPELINE).map_err(|error| error.to_string())?;
    let ports = design.ports.iter();
    let inputs = ports.filter(|port| port.direction == PortDirection::Input && port.name != "clk");
    let inputs = inputs.map(|port| (PIPELINE, &*port.name));
    let lines = inputs
        .chain([("hpu_csrs", "thread")])
        .map(|(module, port)| format!("public_flat_rd -module \"*{module}*\" -var \"{port}\"\n"));
    Ok("`verilator_config\n".to_owned() + &lines.collect::<String>())
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
    let shared = ("shared.vlt".to_owned(), shared_functions()?);
    Ok(Model {
        name: name.to_owned(),
        top: design.name.clone(),
        ports: design.ports.iter().map(port).collect(),
        sources: [waivers(), shared].into_iter().chain(modules).collect(),
    })
}
