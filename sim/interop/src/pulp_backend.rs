//! The PULP cluster as a backend of the NIC, observed at its ports and buses.
//!
//! A [`PulpBackend`] samples the probes of the [top module](crate::top) in every clock of the cluster. It counts packets on their
//! way and records HERs, feedback, commands, and the accesses of HPUs to the registers of their drivers.

use crate::top::{CLUSTERS, CORES};
use crate::traces::command;
use spinneret_cluster::{Event, HpuId, TraceEntry, TraceEvent};
use spinneret_nic::nic::{ClusterBackend, Hardware};
use spinneret_regmap::pspin;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, Model, ModelError, PortHandle};
use spinneret_sim::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// HPUs of all clusters.
const HPUS: usize = CLUSTERS * CORES;
/// Idle clocks of the cluster after which nothing is in flight.
const QUIET_CLOCKS: u64 = 250;
/// Registers of an HPU's driver, and of the public one's answers after them.
const DRIVER: Range<u32> = pspin::DRIVER_BASE..pspin::DRIVER_BASE + 0x400;
/// Words of standard output.
const STDOUT: Range<u32> = pspin::STDOUT..pspin::STDOUT + pspin::STDOUT_BYTES;

/// State since the cluster's reset.
#[derive(Debug, Default)]
struct Seen {
    /// Clocks of the cluster.
    now: u64,
    hers: u64,
    feedback: u64,
    /// HPUs that have asked for a task, a bit each.
    ready: u32,
    /// Words that were stored to standard output.
    printed: u64,
    /// Clocks since anything moved.
    quiet: u64,
    /// Recorded on request.
    trace: Option<Vec<TraceEntry>>,
    /// Accesses of each HPU that were granted and not answered.
    open: [VecDeque<Open>; HPUS],
}

/// A granted access: clock, address, and the value of a store.
#[derive(Debug)]
struct Open {
    granted: u64,
    address: u32,
    written: Option<u32>,
}

impl Seen {
    fn note(&mut self, clock: u64, what: TraceEvent) {
        if let Some(trace) = &mut self.trace {
            trace.push(TraceEntry { clock, what });
        }
    }

    /// An HPU's access was answered.
    fn answered(&mut self, hpu: usize, access: &Open, value: u32) {
        if !DRIVER.contains(&access.address) {
            return;
        }
        let offset = access.address - DRIVER.start;
        let hpu = HpuId {
            cluster: hpu / CORES,
            core: hpu % CORES,
        };
        match access.written {
            Some(value) => self.note(access.granted, TraceEvent::Written { hpu, offset, value }),
            None => self.note(access.granted, TraceEvent::Read { hpu, offset, value }),
        }
    }
}

/// The observed cluster.
#[derive(Clone, Debug)]
pub(crate) struct PulpBackend(Rc<RefCell<Seen>>);

impl PulpBackend {
    /// Observes the cluster of a design from now on; the cluster's clock is selected.
    ///
    /// # Errors
    /// If the design has no such probes.
    pub(crate) fn attach(sim: &mut Simulation<Hardware>) -> Result<Box<dyn ClusterBackend>, ModelError> {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let probes = Probes::find(sim.dut.instance(), Rc::clone(&seen))?;
        sim.attach(Rc::new(RefCell::new(probes)));
        let valid = sim
            .dut
            .instance()
            .port("s_axis_if_rx_0_tvalid", Direction::Input)?;
        let entrance = Entrance {
            valid,
            seen: Rc::clone(&seen),
        };
        sim.in_domain("clk").attach(Rc::new(RefCell::new(entrance)));
        Ok(Box::new(Self(seen)))
    }
}

impl ClusterBackend for PulpBackend {
    fn is_quiet(&self) -> bool {
        let seen = self.0.borrow();
        seen.quiet >= QUIET_CLOCKS && seen.hers == seen.feedback
    }

    fn is_idle(&self) -> bool {
        self.is_quiet()
    }

    fn starting(&self) -> usize {
        HPUS - self.0.borrow().ready.count_ones() as usize
    }

    fn printed(&self) -> u64 {
        self.0.borrow().printed
    }

    fn skip(&mut self, _clocks: u64) -> u64 {
        0
    }

    /// Every clock is simulated.
    fn next_clocks(&self) -> Option<u64> {
        Some(0)
    }

    fn tells_contexts(&self) -> bool {
        false
    }

    fn shape(&self) -> [u32; 2] {
        [CLUSTERS as u32, CORES as u32]
    }

    fn now(&self) -> u64 {
        self.0.borrow().now
    }

    fn hers(&self) -> u64 {
        self.0.borrow().hers
    }

    /// Their sizes are unknown.
    fn packets_inside(&self) -> [u64; 2] {
        let seen = self.0.borrow();
        [0, seen.hers - seen.feedback]
    }

    fn enable_trace(&mut self) {
        self.0.borrow_mut().trace = Some(Vec::new());
    }

    fn take_trace(&mut self) -> Vec<TraceEntry> {
        let mut trace = self
            .0
            .borrow_mut()
            .trace
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        // An access is known when it is answered, but counts from when it was granted.
        trace.sort_by_key(|traced| traced.clock);
        trace
    }

    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }
}

/// A channel with valid and ready, and those of its fields that count.
#[derive(Debug)]
struct Channel<const N: usize> {
    valid: PortHandle,
    ready: PortHandle,
    fields: [PortHandle; N],
}

impl<const N: usize> Channel<N> {
    fn find(dut: &Instance, name: &str, fields: [&str; N]) -> Result<Self, ModelError> {
        let mut found = [probe(dut, &format!("{name}_valid"))?; N];
        for (port, field) in found.iter_mut().zip(fields) {
            *port = probe(dut, &format!("{name}_{field}"))?;
        }
        Ok(Self {
            valid: probe(dut, &format!("{name}_valid"))?,
            ready: probe(dut, &format!("{name}_ready"))?,
            fields: found,
        })
    }

    /// The fields, if the channel moves in this clock.
    fn taken(&self, dut: &Instance) -> Option<[u32; N]> {
        let moves = dut.is_high(self.valid) && dut.is_high(self.ready);
        moves.then(|| self.fields.map(|port| dut.value(port) as u32))
    }
}

fn probe(dut: &Instance, name: &str) -> Result<PortHandle, ModelError> {
    dut.port(&format!("probe_{name}"), Direction::Output)
}

/// Watches frames entering in the core's clock: they are in flight long before the cluster notices.
#[derive(Debug)]
struct Entrance {
    valid: PortHandle,
    seen: Rc<RefCell<Seen>>,
}

impl Agent for Entrance {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        if dut.is_high(self.valid) {
            self.seen.borrow_mut().quiet = 0;
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn describe(&self) -> String {
        "frames from the wire".to_owned()
    }
}

/// The probes, sampled in every clock.
#[derive(Debug)]
struct Probes {
    seen: Rc<RefCell<Seen>>,
    reset_n: PortHandle,
    her: Channel<4>,
    feedback: Channel<2>,
    send: Channel<3>,
    sent: [PortHandle; 2],
    host: [Channel<0>; 2],
    // Of all HPUs side by side.
    req: PortHandle,
    gnt: PortHandle,
    we: PortHandle,
    addr: PortHandle,
    wdata: PortHandle,
    rvalid: PortHandle,
    rdata: PortHandle,
}

impl Probes {
    fn find(dut: &Instance, seen: Rc<RefCell<Seen>>) -> Result<Self, ModelError> {
        let data = |name: &str| probe(dut, &format!("hpu_data_{name}"));
        Ok(Self {
            seen,
            reset_n: probe(dut, "cluster_rstn")?,
            her: Channel::find(dut, "her", ["msgid", "is_eom", "addr", "size"])?,
            feedback: Channel::find(dut, "feedback", ["msgid", "her_addr"])?,
            send: Channel::find(dut, "nic_cmd_req", ["id", "src_addr", "length"])?,
            sent: [probe(dut, "nic_cmd_resp_valid")?, probe(dut, "nic_cmd_resp_id")?],
            host: [
                Channel::find(dut, "host_master_aw", [])?,
                Channel::find(dut, "host_master_ar", [])?,
            ],
            req: data("req")?,
            gnt: data("gnt")?,
            we: data("we")?,
            addr: data("addr")?,
            wdata: data("wdata")?,
            rvalid: data("rvalid")?,
            rdata: data("rdata")?,
        })
    }

    fn sample_packets(&self, dut: &Instance, seen: &mut Seen) {
        let now = seen.now;
        if let Some([message, is_last, address, size]) = self.her.taken(dut) {
            seen.hers += 1;
            seen.quiet = 0;
            let is_last = is_last != 0;
            let size = size & ((1 << pspin::packet_size::SIZE_BITS) - 1);
            seen.note(
                now,
                TraceEvent::Her {
                    message,
                    is_last,
                    address,
                    size,
                },
            );
        }
        if let Some([queue, address]) = self.feedback.taken(dut) {
            seen.feedback += 1;
            seen.quiet = 0;
            seen.note(now, TraceEvent::Feedback { queue, address });
        }
        if let Some([id, source, length]) = self.send.taken(dut) {
            seen.quiet = 0;
            let (id, source) = (command(id), source.into());
            seen.note(now, TraceEvent::Send { id, source, length });
        }
        let [sent, id] = self.sent;
        if dut.is_high(sent) {
            let id = command(dut.value(id) as u32);
            seen.note(now, TraceEvent::Done { id });
        }
        if self.host.iter().any(|channel| channel.taken(dut).is_some()) {
            seen.quiet = 0;
        }
    }

    fn sample_accesses(&self, dut: &Instance, seen: &mut Seen) {
        let lane = |port: PortHandle, hpu| lane_of(dut.bytes(port), hpu);
        for hpu in bits(dut.value(self.rvalid) as u32) {
            if let Some(access) = seen.open[hpu].pop_front() {
                seen.answered(hpu, &access, lane(self.rdata, hpu));
            }
        }
        let [granted, stores] = [self.gnt, self.we].map(|port| dut.value(port) as u32);
        for hpu in bits(dut.value(self.req) as u32) {
            let address = lane(self.addr, hpu);
            if DRIVER.contains(&address) {
                seen.ready |= 1 << hpu;
            }
            if granted >> hpu & 1 == 0 {
                continue;
            }
            let is_store = stores >> hpu & 1 != 0;
            if is_store && STDOUT.contains(&address) {
                seen.printed += 1;
            }
            let access = Open {
                granted: seen.now,
                address,
                written: is_store.then(|| lane(self.wdata, hpu)),
            };
            seen.open[hpu].push_back(access);
        }
    }
}

/// Positions of the ones of a word.
fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit as usize)
    })
}

/// A word out of a wide port.
fn lane_of(bytes: &[u8], lane: usize) -> u32 {
    let start = 4 * lane;
    let word = bytes.get(start..start + 4).and_then(|word| word.try_into().ok());
    word.map_or(0, u32::from_le_bytes)
}

impl Agent for Probes {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let mut seen = self.seen.borrow_mut();
        if !dut.is_high(self.reset_n) {
            *seen = Seen {
                trace: seen.trace.take(),
                ..Seen::default()
            };
            return Ok(());
        }
        seen.now += 1;
        seen.quiet += 1;
        self.sample_packets(dut, &mut seen);
        self.sample_accesses(dut, &mut seen);
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn describe(&self) -> String {
        let seen = self.seen.borrow();
        format!(
            "the cluster has taken {} HERs and given {} back",
            seen.hers, seen.feedback
        )
    }
}
