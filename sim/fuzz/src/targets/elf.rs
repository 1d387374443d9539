//! ELF files.

use super::files::{Files, NAME, root, seed};
use crate::Target;
use spinneret_cluster::{Cluster, Config, Program};
use spinneret_nic::report::Symbols;
use std::path::Path;

/// Clocks for which a program runs.
const CLOCKS: u64 = 3_000;
/// Addresses whose source lines are asked for.
const ASKED: u32 = 64;

/// Reads a program, asks for its names and lines, and runs what there is.
pub(super) fn target() -> anyhow::Result<Box<dyn Target>> {
    let mut good = Vec::new();
    for example in ["icmp_ping", "host_ping"] {
        let folder = root().join("runtime/examples").join(example);
        good.push(seed(&spinneret_nic::run::program(&folder, 2)?)?);
    }
    let mut cluster = Cluster::new(Config::default());
    Ok(Files::target(good, move |input| read(&mut cluster, input)))
}

fn read(cluster: &mut Cluster, input: &[u8]) -> Result<bool, String> {
    let program = match Program::parse(Path::new(NAME), input.to_vec()) {
        Ok(program) => program,
        Err(error) if error.to_string().contains(NAME) => return Ok(false),
        Err(error) => return Err(format!("the file is not named in: {error}")),
    };
    let symbols = Symbols::new(&program);
    for address in (program.entry..).step_by(62).take(ASKED as usize) {
        symbols.places(address);
        symbols.name(address);
        symbols.instruction(address);
    }
    // Programs that have no handlers, or several, say so.
    if let Err(error) = program.only_name() {
        drop(error.to_string());
    }
    cluster.load(&program);
    cluster.set_fetch(3);
    for _ in 0..CLOCKS {
        cluster.tick();
        cluster.take_stdout();
    }
    cluster.take_events();
    Ok(true)
}
