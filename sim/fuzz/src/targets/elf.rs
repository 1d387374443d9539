//! ELF files.

use super::root;
use crate::mutate::damaged;
use crate::{Fed, Target};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::{Cluster, Config, Program};
use spinneret_nic::report::Symbols;
use std::path::Path;

/// Clocks for which a program runs.
const CLOCKS: u64 = 3_000;
/// Addresses whose source lines are asked for.
const ASKED: u32 = 64;

/// Reads a program, asks for its names and lines, and runs what there is.
pub(super) struct Elf {
    seeds: Vec<Vec<u8>>,
    cluster: Cluster,
}

impl Elf {
    pub(super) fn new() -> anyhow::Result<Self> {
        let mut seeds = Vec::new();
        for example in ["icmp_ping", "host_ping"] {
            let folder = root().join("runtime/examples").join(example);
            let elf = spinneret_nic::run::program(&folder, 2)?;
            seeds.push(std::fs::read(elf)?);
        }
        let cluster = Cluster::new(Config::default());
        Ok(Self { seeds, cluster })
    }
}

impl Target for Elf {
    fn pieces(&self) -> &'static str {
        "files"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        damaged(&self.seeds, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let program = match Program::parse(Path::new("fuzzed"), input.to_vec()) {
            Ok(program) => program,
            Err(error) if error.to_string().contains("fuzzed") => {
                return Ok(Fed {
                    pieces: 1,
                    understood: 0,
                });
            }
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
        self.cluster.load(&program);
        self.cluster.set_fetch(3);
        for _ in 0..CLOCKS {
            self.cluster.tick();
            self.cluster.take_stdout();
        }
        self.cluster.take_events();
        Ok(Fed {
            pieces: 1,
            understood: 1,
        })
    }
}
