//! Builds the Verilator models of what the `spinneret` command simulates.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use spinneret_verilate::Model;
use std::env;
use std::path::Path;

#[path = "../build/design.rs"]
mod design;
#[path = "build/whole.rs"]
mod whole;

use design::design;

/// The matching engine in its four sizes.
const MODELS: &[&str] = &[
    "pspin_pkt_match",
    "pspin_pkt_match_ip",
    "pspin_pkt_match_w64",
    "pspin_pkt_match_ip_w64",
];

/// Everything between Corundum and the cluster, as boards get it.
const APPLICATION: &str = "spinneret_app";

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../build/design.rs");
    println!("cargo::rerun-if-changed=build/whole.rs");
    if let Err(error) = whole::write(Path::new(&out)) {
        println!("cargo::error={error}");
    }
    match models() {
        Ok(models) => spinneret_verilate::finish(spinneret_verilate::build(&models, Path::new(&out))),
        Err(error) => println!("cargo::error={error}"),
    }
}

fn models() -> Result<Vec<Model>, String> {
    let mut models = Vec::new();
    for (name, entry, values) in catalog::simulated() {
        if MODELS.contains(&&*name) {
            models.push(design(&name, entry, &values)?);
        }
    }
    let application = catalog::find(APPLICATION).ok_or("the catalog has no application")?;
    models.push(design(
        APPLICATION,
        application,
        &application.values(Config::Board),
    )?);
    Ok(models)
}
