//! What instructions and accesses cost on the real cluster and in the model: `runtime/tests/costs` measures it.

use crate::bench::{Bench, Handlers};
use anyhow::{Context as _, Result, ensure};
use spinneret_nic::Simulated;
use spinneret_nic::nic::ClusterBackend;
use spinneret_packets::udp_from;
use std::collections::BTreeMap;

/// Operations of `runtime/tests/costs`, in the order of their numbers.
pub const OPERATIONS: &[&str] = &[
    "nothing",
    "alu",
    "alu, compressed",
    "branch taken",
    "branch not taken",
    "jump",
    "multiply",
    "multiply high",
    "divide by 3",
    "L1 load",
    "L1 load, used next",
    "L1 store",
    "L1 atomic",
    "L1 load, misaligned",
    "L1 load, other cluster",
    "L1 store, other cluster",
    "L2 load",
    "L2 store",
    "L2 atomic, own word",
    "L2 atomic, shared word",
    "L2 load, packet buffer",
    "task register read",
    "command register write",
    "environment call for cycles",
];
/// Times an operation is in a block; the call for cycles is alone.
const BLOCK: u32 = 16;
const ALONE: u32 = 23;
/// Blocks that are measured.
const BLOCKS: u32 = 4;
/// Where the answer lies in a frame.
const CLOCKS_AT: usize = 42 + 8;
const PORT: u16 = 7000;
/// HPUs that measure at the same time, and the packets that this takes: a cluster takes 20 before the other gets any.
pub const CROWDS: [usize; 3] = [1, 8, 16];
const PACKETS: [usize; 3] = [1, 8, 28];
/// Where an answer says which HPU it is of.
const HPU_AT: usize = 42 + 12;

/// Clocks of one operation, in hundredths, with that many HPUs at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of the operation.
    pub operation: usize,
    /// Hundredths of a clock, by [`CROWDS`].
    pub hundredths: [u64; 3],
}

/// Measures all operations.
///
/// # Errors
/// If a packet is not answered.
pub fn measure<B: ClusterBackend>(nic: Simulated<B>, mut tell: impl FnMut(&Cost)) -> Result<Vec<Cost>> {
    let handlers = Handlers::build("tests/costs")?;
    let mut bench = Bench::start(nic, &handlers)?;
    let mut costs = Vec::new();
    let mut loops = [0; 3];
    // The program comes into the cache.
    clocks(&mut bench, 0, CROWDS.len() - 1)?;
    for (operation, name) in OPERATIONS.iter().enumerate() {
        let mut hundredths = [0; 3];
        for place in 0..CROWDS.len() {
            let clocks = clocks(&mut bench, operation as u32, place)
                .with_context(|| format!("{name} on {} HPUs", CROWDS[place]))?;
            let times = if operation as u32 == ALONE {
                BLOCKS
            } else {
                BLOCKS * BLOCK
            };
            if operation == 0 {
                loops[place] = clocks;
            }
            let net = clocks.saturating_sub(if operation == 0 { 0 } else { loops[place] });
            hundredths[place] = net * 100 / u64::from(times);
        }
        let cost = Cost {
            operation,
            hundredths,
        };
        tell(&cost);
        costs.push(cost);
    }
    Ok(costs)
}

/// The mean of what the HPUs measured, each in its first packet.
fn clocks<B: ClusterBackend>(bench: &mut Bench<B>, operation: u32, place: usize) -> Result<u64> {
    let payload = [operation, BLOCKS, 0, 0].map(u32::to_be_bytes).concat();
    let (packets, crowd) = (PACKETS[place], CROWDS[place]);
    bench.send((0..packets).map(|number| udp_from(0x4000 | number as u16, PORT, &payload)));
    ensure!(bench.settle(60_000)?, "a packet stays on its way");
    let replies = bench.wire();
    ensure!(
        replies.len() == packets,
        "{} of {packets} packets were answered",
        replies.len()
    );
    let mut first = BTreeMap::new();
    for reply in &replies {
        let word = |at: usize| {
            let bytes = reply.bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u64::from(u32::from_be_bytes(bytes)))
        };
        if let Some((hpu, clocks)) = word(HPU_AT).zip(word(CLOCKS_AT)) {
            first.entry(hpu).or_insert(clocks);
        }
    }
    ensure!(first.len() == crowd, "{} HPUs worked, not {crowd}", first.len());
    Ok(first.values().sum::<u64>() / crowd as u64)
}
