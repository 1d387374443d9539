//! Builds the Verilator models of the catalog's blocks.

use spinneret_bsp::colorlight_5a_75b::ColorlightBump;
use spinneret_hdl::app::corundum::{ClusterClock, Generation, SPLIT_TOP, Split};
use spinneret_hdl::app::{self, AppOptions, Cluster};
use spinneret_hdl::catalog;
use spinneret_verilate::{Model, Port};
use spinneret_verilog::PortDirection;
use std::env;
use std::path::Path;

#[path = "../build/design.rs"]
mod design;

use design::{design, of_block, waivers};

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../build/design.rs");
    match models() {
        Ok(models) => spinneret_verilate::finish(spinneret_verilate::build(&models, Path::new(&out))),
        Err(error) => println!("cargo::error={error}"),
    }
}

/// All blocks that testbenches simulate, the application block, and a board from pins to pins.
fn models() -> Result<Vec<Model>, String> {
    let mut models = Vec::new();
    for (name, entry, values) in catalog::simulated() {
        models.push(design(&name, entry, &values)?);
    }
    for data_width in WIDTHS {
        models.push(application(data_width)?);
    }
    let board = ColorlightBump::new().map_err(|error| error.to_string())?;
    models.push(of_block("colorlight_bump", "colorlight_bump", &board)?);
    Ok(models)
}

/// Interfaces of the simulated application block: one that it taps, and one that passes through.
const INTERFACES: u64 = 2;

/// Widths of a beat in bits: of Corundum at 100, 50, 25 and 10 Gb/s.
const WIDTHS: [usize; 4] = [512, 256, 128, 64];

/// Corundum's application block with the cluster stub: the shipped text, and a wrapper with separate ports for each
/// stream.
fn application(data_width: usize) -> Result<Model, String> {
    let options = AppOptions {
        generation: Generation::Corundum202312,
        cluster: Cluster::Stub,
        clock: ClusterClock::External,
        interfaces: INTERFACES,
        data_width,
        ..AppOptions::default()
    };
    let sources = app::sources(options).map_err(|error| error.to_string())?;
    let split = Split::new(options.generation, INTERFACES, data_width).map_err(|error| error.to_string())?;
    let modules = sources
        .files
        .into_iter()
        .map(|file| (format!("{}.sv", file.module), file.text));
    let port = |port: app::corundum::SplitPort| Port {
        input: port.direction == PortDirection::Input,
        name: port.name,
        width: port.width,
    };
    Ok(Model {
        name: match data_width == AppOptions::default().data_width {
            true => app::TOP.to_owned(),
            false => format!("{}_w{data_width}", app::TOP),
        },
        top: SPLIT_TOP.to_owned(),
        sources: [waivers()]
            .into_iter()
            .chain(modules)
            .chain([(format!("{SPLIT_TOP}.sv"), split.text)])
            .collect(),
        ports: split.ports.into_iter().map(port).collect(),
    })
}
