//! Handlers of random instructions, on the model of the cluster with the real runtime.

use super::files::root;
use super::instructions;
use crate::{Fed, Target};
use anyhow::{Context as _, ensure};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::task::{Code, Her, HostAction, Meta};
use spinneret_cluster::{Cluster, Config, Ending, Event, Program};
use spinneret_regmap::message_id;
use spinneret_regmap::pspin::{
    HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS, PACKET_BASE, PROGRAM_BASE, PROGRAM_BYTES,
    l1_address,
};

/// Clocks of a handler, and of all that an input leads to.
const WATCHDOG: u64 = 2_000;
const PATIENCE: u64 = 400_000;
/// Clocks in which the runtime is ready.
const START: u64 = 400_000;
/// Packets of each of both contexts, their places and their bytes.
const PACKETS: u32 = 8;
const SLOT_BYTES: u32 = 2048;
const PACKET: u32 = 200;
/// What memory holds that is none of a hostile handler's, and how many of it in a row nobody makes up.
const CANARY: u8 = 0xc5;
const SECRET: usize = 16;
/// Handler memory and scratchpads of a context.
const MEMORY: u32 = 0x1000;
const SCRATCHPAD: u32 = 0x800;

/// A cluster whose runtime waits for packets, and a handler with room for anything.
pub(super) struct Handlers {
    ready: Cluster,
    hole: Code,
    /// Contexts: that of the hostile handler, and one that must not notice.
    contexts: [Meta; 2],
    program: Vec<u8>,
}

impl Handlers {
    pub(super) fn new() -> anyhow::Result<Self> {
        let elf = spinneret_nic::run::program(&root().join("runtime/tests/hole"), 2)?;
        let program = Program::open(&elf)?;
        let mut ready = Cluster::new(Config {
            watchdog: WATCHDOG,
            ..Config::default()
        });
        ready.load(&program);
        ready.set_fetch(3);
        while !ready.is_ready() {
            ensure!(ready.now() < START, "the runtime does not start");
            ready.tick();
        }
        let context = |number: u32, name: &str| -> anyhow::Result<Meta> {
            let [header, payload, tail] = program.find(name)?;
            let scratchpad = [number * SCRATCHPAD, SCRATCHPAD];
            Ok(Meta {
                handler_memory: [program.free_memory + number * MEMORY, MEMORY],
                host_memory: (0x12_0000_0000 + (u64::from(number) << 28), 1 << 20),
                header,
                payload,
                tail,
                scratchpads: [scratchpad, scratchpad, [0; 2], [0; 2]],
            })
        };
        let contexts = [context(0, "hole")?, context(1, "witness")?];
        let mut handlers = Self {
            hole: contexts[0].payload,
            contexts,
            program: Vec::new(),
            ready,
        };
        for (address, bytes) in handlers.canaries() {
            ensure!(handlers.ready.write(address, &vec![CANARY; bytes as usize]));
        }
        let code = handlers.ready.memory().read(PROGRAM_BASE, PROGRAM_BYTES);
        handlers.program = code.context("there is program memory")?.to_vec();
        Ok(handlers)
    }

    /// Memory that is none of the hostile handler's: address and bytes.
    fn canaries(&self) -> Vec<(u32, u32)> {
        let [_, witness] = &self.contexts;
        let first = L1_SCRATCHPADS + SCRATCHPAD;
        let scratchpads = (0..2).map(|cluster| (l1_address(cluster, first), L1_BYTES - first));
        let behind = witness.handler_memory[0];
        let slots = (0..2 * PACKETS).map(|number| (slot(number) + PACKET, SLOT_BYTES - PACKET));
        scratchpads
            .chain([(behind, HANDLER_BASE + HANDLER_BYTES - behind)])
            .chain(slots)
            .chain([(slot(2 * PACKETS), 64 << 10)])
            .collect()
    }

    /// Packets for both contexts, in turn.
    fn push(&self, cluster: &mut Cluster) {
        for number in 0..2 * PACKETS {
            let meta = self.contexts[number as usize % 2];
            let bytes = vec![number as u8; PACKET as usize];
            cluster.write(slot(number), &bytes);
            cluster.push(Her {
                message: message_id::compose(number.into(), number % 2) as u32,
                is_last: true,
                address: slot(number),
                size: PACKET,
                copied: PACKET,
                meta,
            });
        }
    }

    /// What does not hold after a run, if anything.
    fn broken(&self, cluster: &Cluster) -> Option<String> {
        for (address, bytes) in self.canaries() {
            let there = cluster.memory().read(address, bytes)?;
            if let Some(at) = there.iter().position(|byte| *byte != CANARY) {
                return Some(format!("it wrote to {:#010x}", address + at as u32));
            }
        }
        let code = cluster.memory().read(PROGRAM_BASE, PROGRAM_BYTES)?;
        let hole = (self.hole.address - PROGRAM_BASE) as usize
            ..(self.hole.address + self.hole.size - PROGRAM_BASE) as usize;
        let differs = |at: &usize| !hole.contains(at) && code[*at] != self.program[*at];
        let at = (0..code.len()).find(differs)?;
        Some(format!(
            "it wrote to {:#010x}, which is code",
            PROGRAM_BASE + at as u32
        ))
    }
}

/// Where a packet is.
fn slot(number: u32) -> u32 {
    PACKET_BASE + number * SLOT_BYTES
}

/// What came of the packets.
#[derive(Default)]
struct Ends {
    freed: u32,
    /// Numbers of the witness's packets that were sent as they came.
    sent: Vec<u8>,
    returned: u64,
    broken: Option<String>,
}

impl Ends {
    /// Nothing goes out that is none of the task's.
    fn look(&mut self, bytes: &[u8]) {
        if bytes.windows(SECRET).any(|part| part == [CANARY; SECRET]) {
            self.broken = Some("what is none of the task's went out".to_owned());
        }
    }

    /// Does what the NIC does, and takes note.
    fn take(&mut self, cluster: &mut Cluster) {
        while let Some(command) = cluster.take_send() {
            let bytes = cluster.memory().read(command.source as u32, command.length);
            let first = bytes.and_then(|bytes| bytes.first().copied());
            if let (Some(bytes), Some(first)) = (bytes, first)
                && first % 2 == 1
                && bytes == vec![first; PACKET as usize]
            {
                self.sent.push(first);
            }
            self.look(bytes.unwrap_or_default());
            cluster.complete(command.id);
        }
        while let Some(access) = cluster.take_access() {
            match access.action {
                HostAction::Read { destination, bytes } => {
                    cluster.write(destination, &vec![0; bytes as usize]);
                }
                HostAction::Write(bytes) | HostAction::Direct(bytes) => self.look(&bytes),
            }
            cluster.complete(access.id);
        }
        while cluster.take_feedback().is_some() {
            self.freed += 1;
        }
        while cluster.take_stdout().is_some() {}
        for event in cluster.take_events() {
            match event {
                Event::Ran(run) => self.returned += u64::from(run.ending == Ending::Done),
                Event::Broken { hpu, trap, .. } => {
                    self.broken = Some(format!(
                        "HPU {}.{} stands still after {trap:?}",
                        hpu.cluster, hpu.core
                    ));
                }
                _ => {}
            }
        }
    }
}

impl Target for Handlers {
    fn pieces(&self) -> &'static str {
        "handlers"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        instructions::code(self.hole.size as usize, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let mut cluster = self.ready.clone();
        cluster.write(
            self.hole.address,
            &input[..input.len().min(self.hole.size as usize)],
        );
        self.push(&mut cluster);
        let (mut ends, end) = (Ends::default(), cluster.now() + PATIENCE);
        while ends.freed < 2 * PACKETS {
            let Some(next) = cluster.next().filter(|next| *next < end) else {
                return Err(format!("{} of {} packets were freed", ends.freed, 2 * PACKETS));
            };
            cluster.skip_to(next - 1);
            cluster.tick();
            ends.take(&mut cluster);
        }
        if let Some(why) = ends.broken.take().or_else(|| self.broken(&cluster)) {
            return Err(why);
        }
        let answered = (0..2 * PACKETS as u8).filter(|number| number % 2 == 1 && ends.sent.contains(number));
        match answered.count() as u32 {
            PACKETS => Ok(Fed {
                pieces: 1,
                // Those of the witness return.
                understood: u64::from(ends.returned > u64::from(PACKETS)),
            }),
            count => Err(format!(
                "{count} of {PACKETS} packets of another context were answered"
            )),
        }
    }
}
