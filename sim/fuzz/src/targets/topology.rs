//! Topologies of fabrics.

use super::files::{Files, NAME, root, said, seed};
use crate::Target;
use spinneret_fabric::topology::Topology;
use std::path::Path;

/// What the example leaves out.
const OTHERS: &str = r#"
seed = 7

[[switch]]
name = "left"
mode = "cut-through"
delay = "200 ns"
buffer = "64 KiB"

[[switch]]
name = "right"
table = "static"

[[nic]]
name = "a"
handlers = "icmp_ping"
rules = "rules.toml"
transmit = "icmp,size=98,rate=1Gbps,count=5"
to = "b"
after = "5 us"

[[nic]]
name = "b"
application = true
when-gone = "stop"

[[cable]]
between = ["a", "left"]
rate = "25 Gbps"
latency = "100 ns"
flood = true

[[cable]]
between = ["left", "right"]
faults = { loss = "1 %", duplication = "0.1 %" }
there = { reordering = "0.1 %", corruption = "1 %" }

[[cable]]
between = ["b", "right"]

[[capture]]
at = "left"
cable-to = "right"
frames = "out"
file = "left.pcap"
"#;

/// Reads topologies, and asks them what a fabric does.
pub(super) fn target() -> anyhow::Result<Box<dyn Target>> {
    let example = seed(&root().join("docs/run/incast.toml"))?;
    Ok(Files::target(vec![example, OTHERS.into()], read))
}

fn read(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = str::from_utf8(input) else {
        return Ok(false);
    };
    match Topology::parse(NAME, text, Path::new("folder")) {
        Ok(topology) => {
            let nics = topology.nics().count();
            let ranks = topology.ranks(3);
            match ranks.iter().all(|rank| *rank < 3) && nics > 0 && topology.lookahead_ps() > 0 {
                true => Ok(true),
                false => Err(format!("{nics} NICs on ranks {ranks:?} can do nothing")),
            }
        }
        Err(error) => said(&error.to_string()).map(|()| false),
    }
}
