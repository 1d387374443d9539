//! The DMA of one direction, as a test sees it.

use super::config::{Accepted, Descriptor, DmaConfig, DmaFaults, Status, Transfer, draw};
use super::host::{HostMemory, Refused};
use super::ports::{DescriptorPorts, StatusPorts};
use super::ram::{RamShape, SegmentedRam};
use super::ram_access::{InsideRam, RamAccess, RamPauses};
use super::schedule::{Schedule, draw_tag};
use crate::agent::{Agent, Violation};
use crate::axi::Latency;
use crate::handshake::{Counts, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// The DMA of one direction: accepts descriptors, moves bytes between a RAM and host memory, and sends statuses.
///
/// - A descriptor that is taken in cycle t with latency L and touches n lines of the RAM (all segments) has
///   moved, and has its status, in cycle t + L + n at the earliest; lines move one a clock, descriptor by
///   descriptor in their order, so also writes to host memory take effect in that order.
/// - A status is valid for one cycle, and no cycle has two.
/// - A descriptor has to stay while it waits for ready, to select the RAM of the configuration, to be in the
///   bytes of the RAM that the design may use and in one page of host memory, and to have a tag that is not
///   in flight. Immediate data must not be enabled.
/// - When a descriptor becomes valid its bytes of the RAM must be there (to the host) or free (from the host).
///
/// With `survives_reset` it keeps running while the design is reset, without accepting descriptors; a valid
/// descriptor has to stay valid. Otherwise a reset discards what is in flight.
///
/// Accepted descriptors and statuses are kept until the test takes them.
#[derive(Clone, Debug)]
pub struct CorundumDma {
    state: Rc<RefCell<State>>,
}

impl CorundumDma {
    /// Attaches a DMA to the descriptor and status ports with those prefixes.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths do not fit.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        [descriptors, status]: [&str; 2],
        host: &HostMemory,
        ram: &SegmentedRam,
        config: DmaConfig,
    ) -> Result<Self, ModelError> {
        let ram_access = RamAccess::Outside(ram.clone());
        Self::with(sim, transfer, [descriptors, status], host, ram_access, config)
    }

    /// Attaches a DMA to the descriptor and status ports of an application block, and to the ports of the RAM inside
    /// it: `data_dma_ram_rd_*` for a DMA to the host, `data_dma_ram_wr_*` for one from it.
    ///
    /// Bytes begin to move after the latency, and move as fast as the ports allow. It is reset with the design,
    /// regardless of `survives_reset`.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths do not fit.
    pub fn attach_inside<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        (host, shape): (&HostMemory, RamShape),
        config: DmaConfig,
        pauses: &RamPauses,
    ) -> Result<Self, ModelError> {
        let seed = sim.seed();
        let select = (shape, config.ram_sel);
        let inside = InsideRam::find(
            sim.dut.instance(),
            transfer,
            "data_dma_ram",
            select,
            (pauses, seed),
        )?;
        let config = DmaConfig {
            survives_reset: false,
            ..config
        };
        let ram_access = RamAccess::Inside(Box::new(inside));
        let way = match transfer {
            Transfer::ToHost => "write",
            Transfer::FromHost => "read",
        };
        let descriptors = format!("m_axis_data_dma_{way}_desc");
        let status = format!("s_axis_data_dma_{way}_desc_status");
        Self::with(sim, transfer, [&descriptors, &status], host, ram_access, config)
    }

    fn with<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        prefixes: [&str; 2],
        host: &HostMemory,
        ram_access: RamAccess,
        config: DmaConfig,
    ) -> Result<Self, ModelError> {
        let state = State::new(sim, transfer, prefixes, (host, ram_access), config)?;
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// Changes the pauses at the ports of a RAM in the design, from the next cycle on.
    pub fn set_ram_pauses(&self, pauses: &RamPauses) {
        self.state.borrow_mut().set_ram_pauses(pauses);
    }

    /// Takes the next accepted descriptor.
    pub fn next_accepted(&self) -> Option<Accepted> {
        self.state.borrow_mut().accepted.pop_front()
    }

    /// Takes the next status.
    pub fn next_status(&self) -> Option<Status> {
        self.state.borrow_mut().statuses.pop_front()
    }

    /// Descriptors without status.
    pub fn in_flight(&self) -> usize {
        self.state.borrow().tags.len()
    }

    /// Whether a descriptor is valid and not accepted.
    pub fn is_offered(&self) -> bool {
        self.state.borrow().offered.is_some()
    }

    /// Sends a status that belongs to no descriptor, in the next cycle that has none.
    ///
    /// # Panics
    /// If the tag is in flight by then.
    pub fn send_unsolicited_status(&self, tag: u64, code: u8) {
        self.state.borrow_mut().unsolicited.push_back((tag, code));
    }

    /// Changes when descriptors are not taken, from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// Changes the latency, from the next descriptor on.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().config.latency = latency;
    }

    /// Changes the maximum random delay of statuses, from the next one on.
    pub fn set_spread(&self, cycles: u64) {
        self.state.borrow_mut().config.spread = cycles;
    }

    /// Changes which descriptors fail, from the next one on.
    pub fn set_faults(&self, faults: DmaFaults) {
        self.state.borrow_mut().config.faults = faults;
    }

    /// Changes the probability of unsolicited statuses (see [`DmaConfig::unsolicited`]).
    pub fn set_unsolicited(&self, percent: u32) {
        self.state.borrow_mut().config.unsolicited = percent;
    }

    /// Changes whether the DMA keeps running when the design is reset.
    pub fn set_survives_reset(&self, survives: bool) {
        self.state.borrow_mut().config.survives_reset = survives;
    }

    /// The counters of descriptors since the start.
    pub fn counts(&self) -> Counts {
        self.state.borrow().watch.counts
    }
}

#[derive(Debug)]
pub(super) struct State {
    transfer: Transfer,
    ports: DescriptorPorts,
    status: StatusPorts,
    pub(super) watch: Watch,
    host: HostMemory,
    ram: RamAccess,
    pub(super) config: DmaConfig,
    pub(super) pauses: Pauses,
    rng: ChaCha8Rng,
    /// The descriptor that is valid and not accepted.
    pub(super) offered: Option<Descriptor>,
    schedule: Schedule<Accepted>,
    pub(super) tags: BTreeSet<u64>,
    last_tag: Option<u64>,
    pub(super) unsolicited: VecDeque<(u64, u8)>,
    pub(super) accepted: VecDeque<Accepted>,
    pub(super) statuses: VecDeque<Status>,
    /// The status on the bus.
    on_bus: Option<(u64, u8, bool)>,
    /// The next cycle to drive.
    cycle: u64,
}

impl State {
    /// Changes the pauses at the ports of a RAM in the design.
    pub(super) fn set_ram_pauses(&mut self, pauses: &RamPauses) {
        if let RamAccess::Inside(ram) = &mut self.ram {
            ram.set_pauses(pauses);
        }
    }

    /// A DMA on the descriptor and status ports with those prefixes.
    pub(super) fn new<M: Model>(
        sim: &Simulation<M>,
        transfer: Transfer,
        [descriptors, status]: [&str; 2],
        (host, ram): (&HostMemory, RamAccess),
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
            unsolicited: VecDeque::new(),
            accepted: VecDeque::new(),
            statuses: VecDeque::new(),
            on_bus: None,
            cycle: 0,
        })
    }

    /// Checks and records the descriptor that has just become valid.
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
            return Err("a descriptor has immediate data, which the model does not support".to_owned());
        }
        if self.tags.contains(&descriptor.tag) {
            return Err(format!("tag {} of a descriptor is in flight", descriptor.tag));
        }
        let Descriptor { ram_addr, len, .. } = descriptor;
        self.ram.begin(self.transfer, ram_addr, len)?;
        self.offered = Some(descriptor);
        Ok(())
    }

    /// Accepts a descriptor, and draws its latency and outcome.
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

    /// The bytes of a descriptor from the host: the host's bytes, and garbage where it fails.
    fn brought(&mut self, job: &mut Accepted) -> Vec<u8> {
        let mut bytes = vec![0; job.descriptor.len as usize];
        let done = self.host.dma_read(job.descriptor.dma_addr, &mut bytes);
        note_refusal(job, done);
        self.rng.fill_bytes(&mut bytes[job.moved as usize..]);
        bytes
    }

    /// Moves the bytes of a descriptor, or begins to move them; returns whether they have moved.
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
            RamAccess::Inside(ram) => {
                ram.begin(*job, &bytes);
                return false;
            }
            RamAccess::Outside(ram) if bytes.is_empty() => {
                let host = &self.host;
                let done = ram.with_bytes(ram_addr, job.moved, |bytes| host.dma_write(dma_addr, bytes));
                note_refusal(job, done);
            }
            RamAccess::Outside(ram) => ram.with_bytes(ram_addr, len, |there| there.copy_from_slice(&bytes)),
        }
        true
    }

    /// A descriptor's bytes have moved, so it waits for its status.
    fn wait(&mut self, job: Accepted) {
        let later = self.rng.random_range(0..=self.config.spread);
        self.schedule.wait(job, self.cycle + later);
    }

    /// Moves what is due in this cycle, and drives the status.
    fn step(&mut self, dut: &mut Instance) {
        while let Some(mut job) = self.schedule.next_moved(self.cycle) {
            if self.move_bytes(&mut job) {
                self.wait(job);
            }
        }
        if let RamAccess::Inside(ram) = &mut self.ram {
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
            None => self.next_unsolicited().map(|(tag, code)| (tag, code, true)),
        };
        if let Some((tag, code, _)) = self.on_bus {
            dut.set_value(self.status.tag, tag.into());
            dut.set_value(self.status.error, code.into());
        }
        dut.set_high(self.status.valid, self.on_bus.is_some());
        if let Some((tag, code, unsolicited)) = self.on_bus {
            let cycle = self.cycle;
            self.statuses.push_back(Status {
                tag,
                code,
                unsolicited,
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

    fn next_unsolicited(&mut self) -> Option<(u64, u8)> {
        if let Some((tag, code)) = self.unsolicited.pop_front() {
            assert!(
                !self.tags.contains(&tag),
                "tag {tag} is in flight, so its status is not unsolicited"
            );
            return Some((tag, code));
        }
        if self.config.unsolicited == 0 || self.rng.random_range(0..100) >= self.config.unsolicited {
            return None;
        }
        let (width, tags) = (self.status.tag.width(), &self.tags);
        let offered = self.offered.map(|descriptor| descriptor.tag);
        let tag = draw_tag(&mut self.rng, self.config.tags, width, self.last_tag, |tag| {
            tags.contains(&tag) || offered == Some(tag)
        })?;
        Some((tag, self.rng.random_range(0..16)))
    }

    /// Discards all descriptors that are offered or in flight.
    fn forget(&mut self, dut: &mut Instance) {
        if let Some(Descriptor { ram_addr, len, .. }) = self.offered.take() {
            self.ram.end(ram_addr, len, false);
        }
        let left = std::mem::replace(&mut self.schedule, Schedule::new());
        for Accepted { descriptor, .. } in left.into_jobs() {
            self.ram.end(descriptor.ram_addr, descriptor.len, false);
        }
        if let RamAccess::Inside(ram) = &mut self.ram {
            ram.reset(dut);
        }
        self.tags.clear();
        self.unsolicited.clear();
        self.accepted.clear();
        self.statuses.clear();
        self.last_tag = None;
    }
}

/// A transfer that the host rejects moves nothing, and its status reports it.
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
        if let RamAccess::Inside(ram) = &mut self.ram {
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
        // A DMA that is not reset requires that a valid descriptor stays valid.
        if self.config.survives_reset {
            return Ok(());
        }
        if let RamAccess::Inside(ram) = &self.ram {
            ram.check_reset(dut)?;
        }
        self.watch.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let left = self.schedule.len() + self.unsolicited.len() + self.ram.len();
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
