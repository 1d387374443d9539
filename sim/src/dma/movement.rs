//! The DMA of one direction, as it takes part in a simulation.

use super::bus::Refused;
use super::config::{DmaConfig, DmaFaults, Transfer, draw};
use super::descriptor::{Accepted, Descriptor, Status};
use super::host::HostMemory;
use super::master::RamPauses;
use super::ports::{DescriptorPorts, StatusPorts};
use super::reach::Reach;
use super::schedule::{Schedule, draw_tag};
use crate::agent::{Agent, Violation};
use crate::handshake::Watch;
use crate::model::{Instance, Model, ModelError};
use crate::pause::Pauses;
use crate::simulation::Simulation;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug)]
pub(super) struct State {
    transfer: Transfer,
    ports: DescriptorPorts,
    status: StatusPorts,
    pub(super) watch: Watch,
    host: HostMemory,
    ram: Reach,
    pub(super) config: DmaConfig,
    pub(super) pauses: Pauses,
    rng: ChaCha8Rng,
    /// The descriptor that is valid and was not taken.
    pub(super) offered: Option<Descriptor>,
    schedule: Schedule<Accepted>,
    pub(super) tags: BTreeSet<u64>,
    last_tag: Option<u64>,
    pub(super) strays: VecDeque<(u64, u8)>,
    pub(super) accepted: VecDeque<Accepted>,
    pub(super) statuses: VecDeque<Status>,
    /// The status on the bus.
    on_bus: Option<(u64, u8, bool)>,
    /// The cycle that is driven next.
    cycle: u64,
}

impl State {
    /// Changes the pauses at the ports of a RAM in the design.
    pub(super) fn set_ram_pauses(&mut self, pauses: &RamPauses) {
        if let Reach::Inside(ram) = &mut self.ram {
            ram.set_pauses(pauses);
        }
    }

    /// A DMA behind the descriptor and status ports with those prefixes.
    pub(super) fn new<M: Model>(
        sim: &Simulation<M>,
        transfer: Transfer,
        [descriptors, status]: [&str; 2],
        (host, ram): (&HostMemory, Reach),
        config: DmaConfig,
    ) -> Result<Self, ModelError> {
        let ports = DescriptorPorts::find(sim.dut.instance(), descriptors)?;
        Ok(Self {
            transfer,
            status: StatusPorts::find(sim.dut.instance(), status)?,
            watch: Watch::new(ports.bus.clone()),
            ports,
            host: host.clone(),
            ram,
            pauses: Pauses::new(
                config.descriptors.clone(),
                sim.rng(&format!("pauses of {descriptors}")),
            ),
            config,
            rng: sim.rng(&format!("behaviour of {descriptors}")),
            offered: None,
            schedule: Schedule::new(),
            tags: BTreeSet::new(),
            last_tag: None,
            strays: VecDeque::new(),
            accepted: VecDeque::new(),
            statuses: VecDeque::new(),
            on_bus: None,
            cycle: 0,
        })
    }

    /// Looks at the descriptor that has just become valid.
    fn offer(&mut self, dut: &Instance) -> Result<(), String> {
        let value = |port| dut.value(port) as u64;
        let descriptor = Descriptor {
            dma_addr: value(self.ports.dma_addr),
            ram_addr: value(self.ports.ram_addr),
            len: value(self.ports.len),
            tag: value(self.ports.tag),
        };
        descriptor.check(self.ram.shape(), self.config.tags)?;
        let ram_sel = value(self.ports.ram_sel);
        if ram_sel != self.config.ram_sel {
            return Err(format!(
                "a descriptor selects RAM {ram_sel}, not {}",
                self.config.ram_sel
            ));
        }
        if self.ports.imm_en.is_some_and(|port| dut.is_high(port)) {
            return Err("a descriptor has immediate data, which the model does not know".to_owned());
        }
        if self.tags.contains(&descriptor.tag) {
            return Err(format!("tag {} of a descriptor is in flight", descriptor.tag));
        }
        let Descriptor { ram_addr, len, .. } = descriptor;
        self.ram.begin(self.transfer, ram_addr, len)?;
        self.offered = Some(descriptor);
        Ok(())
    }

    /// Takes a descriptor, and decides how it goes.
    fn accept(&mut self, descriptor: Descriptor, cycle: u64) {
        let code = self.draw_code(&descriptor);
        let moved = match (code, self.rng.random_range(0..3)) {
            (0, _) | (_, 0) => descriptor.len,
            (_, 1) => 0,
            _ => self.rng.random_range(0..descriptor.len),
        };
        let accepted = Accepted {
            descriptor,
            code,
            moved,
            cycle,
        };
        let clocks = self.ram.clocks(descriptor.ram_addr, descriptor.len);
        let latency = draw(self.config.latency, &mut self.rng);
        self.schedule.accept(accepted, cycle, latency, clocks);
        self.tags.insert(descriptor.tag);
        self.last_tag = Some(descriptor.tag);
        self.accepted.push_back(accepted);
    }

    fn draw_code(&mut self, descriptor: &Descriptor) -> u8 {
        match &self.config.faults {
            DmaFaults::Never => 0,
            DmaFaults::Random { percent } if self.rng.random_range(0..100) < *percent => {
                self.rng.random_range(1..16)
            }
            DmaFaults::Random { .. } => 0,
            DmaFaults::At(ranges) => {
                let (first, last) = (descriptor.dma_addr, descriptor.dma_addr + (descriptor.len - 1));
                let hit = ranges
                    .iter()
                    .find(|(range, _)| first <= *range.end() && *range.start() <= last);
                hit.map_or(0, |(_, code)| *code)
            }
        }
    }

    /// What a descriptor from the host brings: the host's bytes, and garbage where it fails.
    fn brought(&mut self, job: &mut Accepted) -> Vec<u8> {
        let mut bytes = vec![0; job.descriptor.len as usize];
        let done = self.host.dma_read(job.descriptor.dma_addr, &mut bytes);
        note_refusal(job, done);
        self.rng.fill_bytes(&mut bytes[job.moved as usize..]);
        bytes
    }

    /// Moves the bytes of a descriptor, or begins to move them; whether they are moved.
    fn move_bytes(&mut self, job: &mut Accepted) -> bool {
        let Descriptor {
            dma_addr,
            ram_addr,
            len,
            ..
        } = job.descriptor;
        let bytes = match self.transfer {
            Transfer::ToHost => Vec::new(),
            Transfer::FromHost => self.brought(job),
        };
        match &mut self.ram {
            Reach::Inside(ram) => {
                ram.begin(*job, &bytes);
                return false;
            }
            Reach::Beside(ram) if bytes.is_empty() => {
                let host = &self.host;
                let done = ram.with_bytes(ram_addr, job.moved, |bytes| host.dma_write(dma_addr, bytes));
                note_refusal(job, done);
            }
            Reach::Beside(ram) => ram.with_bytes(ram_addr, len, |there| there.copy_from_slice(&bytes)),
        }
        true
    }

    /// A descriptor's bytes have moved, so it waits for its status.
    fn wait(&mut self, job: Accepted) {
        let later = self.rng.random_range(0..=self.config.spread);
        self.schedule.wait(job, self.cycle + later);
    }

    /// Moves what is due in this cycle, and puts a status on the bus.
    fn step(&mut self, dut: &mut Instance) {
        while let Some(mut job) = self.schedule.next_moved(self.cycle) {
            if self.move_bytes(&mut job) {
                self.wait(job);
            }
        }
        if let Reach::Inside(ram) = &mut self.ram {
            ram.drive(dut);
            let done: Vec<_> = std::iter::from_fn(|| ram.next_done()).collect();
            for (mut job, bytes) in done {
                if self.transfer == Transfer::ToHost {
                    let moved = &bytes[..job.moved as usize];
                    let done = self.host.dma_write(job.descriptor.dma_addr, moved);
                    note_refusal(&mut job, done);
                }
                self.wait(job);
            }
        }
        let reorder = self.config.spread > 0;
        let job = self.schedule.next_status(self.cycle, reorder, &mut self.rng);
        self.on_bus = match job {
            Some(job) => Some(self.end(&job)),
            None => self.next_stray().map(|(tag, code)| (tag, code, true)),
        };
        if let Some((tag, code, _)) = self.on_bus {
            dut.set_value(self.status.tag, tag.into());
            dut.set_value(self.status.error, code.into());
        }
        dut.set_high(self.status.valid, self.on_bus.is_some());
        if let Some((tag, code, stray)) = self.on_bus {
            let cycle = self.cycle;
            self.statuses.push_back(Status {
                tag,
                code,
                stray,
                cycle,
            });
        }
    }

    /// A descriptor has its status.
    fn end(&mut self, job: &Accepted) -> (u64, u8, bool) {
        let Descriptor {
            ram_addr, len, tag, ..
        } = job.descriptor;
        let unread = self.transfer == Transfer::FromHost && job.code == 0;
        self.ram.end(ram_addr, len, unread);
        self.tags.remove(&tag);
        (tag, job.code, false)
    }

    fn next_stray(&mut self) -> Option<(u64, u8)> {
        if let Some((tag, code)) = self.strays.pop_front() {
            assert!(
                !self.tags.contains(&tag),
                "tag {tag} is in flight, so it is no stray"
            );
            return Some((tag, code));
        }
        if self.config.strays == 0 || self.rng.random_range(0..100) >= self.config.strays {
            return None;
        }
        let (width, tags) = (self.status.tag.width(), &self.tags);
        let offered = self.offered.map(|descriptor| descriptor.tag);
        let tag = draw_tag(&mut self.rng, self.config.tags, width, self.last_tag, |tag| {
            tags.contains(&tag) || offered == Some(tag)
        })?;
        Some((tag, self.rng.random_range(0..16)))
    }

    /// Forgets all descriptors that are offered or in flight.
    fn forget(&mut self, dut: &mut Instance) {
        if let Some(Descriptor { ram_addr, len, .. }) = self.offered.take() {
            self.ram.end(ram_addr, len, false);
        }
        let left = std::mem::replace(&mut self.schedule, Schedule::new());
        for Accepted { descriptor, .. } in left.into_jobs() {
            self.ram.end(descriptor.ram_addr, descriptor.len, false);
        }
        if let Reach::Inside(ram) = &mut self.ram {
            ram.reset(dut);
        }
        self.tags.clear();
        self.strays.clear();
        self.accepted.clear();
        self.statuses.clear();
        self.last_tag = None;
    }
}

/// A transfer that the host refuses moves nothing, and its status says so.
fn note_refusal(job: &mut Accepted, done: Result<(), Refused>) {
    if let Err(Refused { code }) = done {
        (job.code, job.moved) = (code, 0);
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let ready = !self.pauses.next(self.watch.counts.beats);
        dut.set_high(self.watch.bus.ready, ready);
        self.step(dut);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        if let Reach::Inside(ram) = &mut self.ram {
            ram.sample(dut)?;
        }
        let transferred = self.watch.check(dut)?;
        if self.watch.levels.valid && self.offered.is_none() {
            self.offer(dut).map_err(|rule| self.watch.bus.violation(rule))?;
        }
        if transferred && let Some(descriptor) = self.offered.take() {
            self.accept(descriptor, cycle);
            self.watch.counts.beats += 1;
            self.watch.counts.frames += 1;
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        dut.set_high(self.watch.bus.ready, false);
        dut.set_high(self.status.valid, false);
        if !self.config.survives_reset {
            self.watch.reset();
            self.forget(dut);
        }
    }

    fn drive_reset(&mut self, dut: &mut Instance, cycle: u64) {
        if self.config.survives_reset {
            self.cycle = cycle;
            self.step(dut);
        }
        self.cycle = cycle + 1;
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        // To a DMA that is not reset, a descriptor that is valid has to stay so.
        if self.config.survives_reset {
            return Ok(());
        }
        if let Reach::Inside(ram) = &self.ram {
            ram.check_reset(dut)?;
        }
        self.watch.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let left = self.schedule.len() + self.strays.len() + self.ram.len();
        (left > 0 || self.watch.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{}: DMA has taken {} descriptors, {} are in flight, {}",
            self.watch.bus.bus,
            self.watch.counts.beats,
            self.tags.len(),
            self.watch.levels
        )
    }
}
