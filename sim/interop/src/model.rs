//! A Verilated model of the application block with the PULP cluster, and a NIC with this model.

use crate::pulp_backend::PulpBackend;
use crate::top;
use anyhow::{Context as _, Result};
use spinneret_gen::board::corundum::Pspin;
use spinneret_hdl::app::corundum::{ClusterClock, Generation, SPLIT_TOP, Split};
use spinneret_hdl::app::{self, AppOptions, Cluster};
use spinneret_nic::Simulated;
use spinneret_nic::nic::{Backend, Hardware, Names, Nic, NicConfig};
use spinneret_sim::model::{Direction, Instance, PortInfo};
use spinneret_verilate::{Model, Port, SharedModel};
use std::fs;
use std::path::Path;

/// Replacements for the vendor's macros that the cluster instantiates.
const MACROS: [(&str, &str); 3] = [
    (
        "xpm_memory_spram.sv",
        include_str!("../verilog/xpm_memory_spram.sv"),
    ),
    (
        "xpm_memory_tdpram.sv",
        include_str!("../verilog/xpm_memory_tdpram.sv"),
    ),
    ("xpm_fifo_sync.sv", include_str!("../verilog/xpm_fifo_sync.sv")),
];
/// Macro that synthesis tools define.
const SYNTHESIS: &str = "SYNTHESIS";
/// Helps Verilator with the cluster's arrays.
const HINTS: (&str, &str) = ("hints.vlt", include_str!("../verilog/hints.vlt"));

/// The model of a checkout's cluster in our application block.
///
/// # Errors
/// If a file of the checkout cannot be read, or a block cannot be generated.
pub(crate) fn model(pspin: &Pspin) -> Result<SharedModel> {
    let list = pspin.simulation()?;
    let mut sources = vec![(HINTS.0.to_owned(), HINTS.1.to_owned())];
    let (packages, others) = list.files.split_at(list.packages);
    for file in packages {
        sources.push(source(file, sources.len())?);
    }
    sources.push(("cluster_imports.sv".to_owned(), list.imports));
    sources.extend(MACROS.map(|(file, text)| (file.to_owned(), text.to_owned())));
    for file in others {
        sources.push(source(file, sources.len())?);
    }
    Ok(SharedModel {
        model: with(sources)?,
        includes: list.includes,
        defines: list.defines.into_iter().chain([SYNTHESIS.to_owned()]).collect(),
        level: "-O1",
        waves: false,
    })
}

/// The application block and the top module, with these sources of the cluster.
fn with(mut sources: Vec<(String, String)>) -> Result<Model> {
    let options = AppOptions {
        generation: Generation::Corundum202312,
        cluster: Cluster::Pspin,
        clock: ClusterClock::External,
        interfaces: 1,
        ..AppOptions::default()
    };
    let ours = app::sources(options)?.files;
    sources.extend(
        ours.into_iter()
            .map(|file| (format!("{}.sv", file.module), file.text)),
    );
    let split = Split::new(options.generation, options.interfaces, options.data_width)?;
    sources.push((format!("{}.sv", top::TOP), top::text(&split)));
    let ports = top::ports(&split);
    sources.push((format!("{SPLIT_TOP}.sv"), split.text));
    Ok(Model {
        name: top::TOP.to_owned(),
        top: top::TOP.to_owned(),
        sources,
        ports,
    })
}

/// Seed of the initial values of registers without a reset.
const SEED: u64 = 1;

/// A NIC with the cluster of a library that [`model`] describes.
///
/// # Errors
/// If the library does not fit, or the hardware fails in reset.
pub(crate) fn open(
    library: &Path,
    name: &'static str,
    ports: &[Port],
    config: NicConfig,
) -> Result<Simulated> {
    let infos = ports.iter().map(|port| PortInfo {
        name: port.name.clone().leak(),
        direction: if port.input {
            Direction::Input
        } else {
            Direction::Output
        },
        width: port.width,
    });
    let instance = Instance::load(library, name, infos.collect(), SEED)?;
    let hardware = Hardware::new(instance, Names::INTERFACE_0);
    let nic =
        Nic::assemble(hardware, config, PulpBackend::attach).context("the model of the public cluster")?;
    Ok(Simulated::of(nic))
}

/// A file of the checkout as synthesis reads it, under a name of its own.
fn source(path: &Path, number: usize) -> Result<(String, String)> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok((
        format!("{number:03}_{name}"),
        translated(&String::from_utf8_lossy(&text)),
    ))
}

/// Removes the parts of a text that synthesis ignores; line numbers stay the same.
///
/// Simulators read the parts between `translate_off` and `translate_on`, which log all instructions here. The wrapper
/// assigns scratchpads of clusters that do not exist; Verilator wraps an index beyond the end of an array.
fn translated(text: &str) -> String {
    let mut is_on = true;
    let lines = text.lines().map(|line| {
        let words = line.trim_start().strip_prefix("//").map(str::trim_start);
        let word = words.and_then(|words| {
            let (tool, word) = words.split_once(char::is_whitespace)?;
            ["pragma", "synopsys", "synthesis"]
                .contains(&tool)
                .then(|| word.trim())
        });
        match word {
            Some("translate_off") => is_on = false,
            Some("translate_on") => is_on = true,
            _ if is_on && !names_missing_scratchpad(line) => return line,
            _ => {}
        }
        ""
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Whether a line assigns an element of `scratchpad_addr` or `scratchpad_size` that no cluster has.
fn names_missing_scratchpad(line: &str) -> bool {
    let mut words = line.split_whitespace();
    if words.next() != Some("assign") {
        return false;
    }
    let element = words
        .next()
        .and_then(|word| word.split_once("mpq_meta.scratchpad_"))
        .and_then(|(_, field)| field.split_once('['))
        .and_then(|(_, index)| index.strip_suffix(']'));
    element
        .and_then(|index| index.parse::<usize>().ok())
        .is_some_and(|index| index >= top::CLUSTERS)
}

/// Clocks that a handler may take in the model.
pub(crate) const WATCHDOG: u64 = 1_000_000;

/// No clocks are skipped, so that both are sampled in the same clocks.
pub(crate) fn config() -> NicConfig {
    NicConfig {
        skips: false,
        ..NicConfig::default()
    }
}

/// Spinneret's own clusters.
pub(crate) fn own() -> Result<Simulated> {
    own_with(Backend::Rtl)
}

/// The model of spinneret's own clusters.
pub(crate) fn own_modelled() -> Result<Simulated> {
    own_with(Backend::Own)
}

fn own_with(backend: Backend) -> Result<Simulated> {
    let config = NicConfig {
        skips: false,
        ..NicConfig::with(backend)
    };
    Ok(Simulated::new(config)?)
}

/// The model of the cluster.
pub(crate) fn modelled(watchdog: u64) -> Result<Simulated> {
    let mut config = config();
    config.cluster.watchdog = watchdog;
    Ok(Simulated::new(config)?)
}

/// The model with the public cluster's defects.
pub(crate) fn strict() -> Result<Simulated> {
    let mut config = config();
    config.cluster.watchdog = WATCHDOG;
    config.cluster.is_strict = true;
    Ok(Simulated::new(config)?)
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn omits_scratchpads_of_missing_clusters() {
        let text = "assign a.mpq_meta.scratchpad_addr[1] = b;\nassign a.mpq_meta.scratchpad_size[2] = b;\nassign c[2] = d;\n";
        assert_eq!(
            translated(text),
            "assign a.mpq_meta.scratchpad_addr[1] = b;\n\nassign c[2] = d;\n"
        );
    }

    #[test]
    fn omits_code_excluded_from_synthesis() {
        let text =
            "a\n  // synopsys translate_off\nb\n//pragma translate_on\nc // synthesis translate_off\nd\n";
        assert_eq!(translated(text), "a\n\n\n\nc // synthesis translate_off\nd\n");
    }
}
