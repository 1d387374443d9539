//! Samples the outputs of the clusters in every clock.

use super::state::{Access, CORES, HpuTrap, State};
use crate::attach::{Channel, HER_FIELDS, her};
use spinneret_regmap::pspin::{PACKET_BASE, PACKET_BYTES};
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Pipelines of a cluster.
const PIPELINES: usize = 2;
const THREADS: usize = 4;
/// Bytes of a beat.
const BEAT: usize = 64;

/// The outputs. Most clocks have no event, so one output says whether the others are worth a look.
#[derive(Debug)]
pub(super) struct Observer {
    state: Rc<RefCell<State>>,
    reset_n: PortHandle,
    fetch: PortHandle,
    idle: PortHandle,
    asked: PortHandle,
    printed: PortHandle,
    instructions: PortHandle,
    has_event: PortHandle,
    her: Channel<{ HER_FIELDS.len() }>,
    feedback: Channel<2>,
    send: Channel<3>,
    /// A command is done, and its number.
    sent: [PortHandle; 2],
    buffer: PacketBuffer,
    clusters: Vec<ClusterProbes>,
    pipelines: Vec<PipelineProbes>,
    /// Accesses of the clock before.
    last: Vec<Option<Access>>,
}

/// Outputs of a cluster's driver.
#[derive(Debug)]
struct ClusterProbes {
    given: PortHandle,
    given_hpu: PortHandle,
    handler: PortHandle,
    packet: PortHandle,
    valid: PortHandle,
    hpu: PortHandle,
    is_dma: PortHandle,
    offset: PortHandle,
    is_write: PortHandle,
    data: PortHandle,
    read: PortHandle,
    refused_second: PortHandle,
}

/// Outputs of a pipeline: the instruction after the stage in which it retires or traps.
#[derive(Debug)]
struct PipelineProbes {
    trap: PortHandle,
    thread: PortHandle,
    cause: PortHandle,
    value: PortHandle,
    pc: PortHandle,
    is_user: PortHandle,
    retired: PortHandle,
}

impl Observer {
    pub(super) fn find(dut: &Instance, state: Rc<RefCell<State>>) -> Result<Self, ModelError> {
        let output = |name: &str| dut.port(name, Direction::Output);
        let outputs = [Direction::Output; 2];
        let number = state.borrow().clusters();
        let clusters = (0..number).map(|cluster| ClusterProbes::find(dut, cluster));
        let pipelines = (0..number * PIPELINES).map(|pipeline| PipelineProbes::find(dut, pipeline));
        Ok(Self {
            state,
            reset_n: output("cluster_rstn")?,
            fetch: output("cl_fetch_en")?,
            idle: output("hpus_idle")?,
            asked: output("hpus_asked")?,
            printed: output("printed_words")?,
            instructions: output("retired_instructions")?,
            has_event: output("has_event")?,
            her: Channel::find(dut, "her", HER_FIELDS, outputs)?,
            feedback: Channel::find(dut, "feedback", ["her_addr", "msgid"], outputs)?,
            send: Channel::find(dut, "nic_cmd_req", ["id", "src_addr", "length"], outputs)?,
            sent: [output("nic_cmd_resp_valid")?, output("nic_cmd_resp_id")?],
            buffer: PacketBuffer::find(dut)?,
            clusters: clusters.collect::<Result<_, _>>()?,
            pipelines: pipelines.collect::<Result<_, _>>()?,
            last: vec![None; number],
        })
    }

    /// HPUs that wait for a task, or do not run: a bit each.
    fn idle(&self, dut: &Instance) -> u64 {
        let fetch = dut.value(self.fetch) as u64;
        let cluster = (1 << CORES) - 1;
        let held = (0..self.clusters.len()).filter(|number| fetch >> number & 1 == 0);
        let held = held.fold(0, |bits, number| bits | cluster << (number * CORES));
        dut.value(self.idle) as u64 | held
    }

    fn sample_ports(&mut self, dut: &Instance, state: &mut State) {
        self.buffer.sample(dut);
        if self.her.fires(dut) {
            let her = her(self.her.values(dut));
            state.came(her, self.buffer.packet(her.address, her.size));
        }
        if self.feedback.fires(dut) {
            let [address, queue] = self.feedback.values(dut);
            state.freed(address as u32, queue as u32);
        }
        if self.send.fires(dut) {
            let [number, source, length] = self.send.values(dut);
            state.sent(number as u32, source as u64, length as u32);
        }
        let [is_sent, number] = self.sent;
        if dut.is_high(is_sent) {
            state.done(dut.value(number) as u32);
        }
    }

    fn sample_clusters(&mut self, dut: &Instance, state: &mut State) {
        for (number, probes) in self.clusters.iter().enumerate() {
            if dut.is_high(probes.given) {
                let word = |port: PortHandle| dut.value(port) as u32;
                let hpu = CORES * number + word(probes.given_hpu) as usize;
                state.given(hpu, word(probes.handler), word(probes.packet));
            }
            self.last[number] = probes.access(dut, number, &self.pipelines);
            if let Some(access) = &self.last[number] {
                state.accessed(access);
            }
        }
        for (number, probes) in self.pipelines.iter().enumerate() {
            if dut.is_high(probes.trap) {
                let second = self.clusters[number / PIPELINES].refused_second;
                state.trapped(HpuTrap {
                    hpu: probes.hpu(dut, number),
                    cause: dut.value(probes.cause) as u32,
                    pc: dut.value(probes.pc) as u32,
                    value: dut.value(probes.value) as u32,
                    is_user: dut.is_high(probes.is_user),
                    refused_second: dut.is_high(second),
                });
            }
        }
    }

    fn sample_instructions(&self, dut: &Instance, state: &mut State) {
        for (number, probes) in self.pipelines.iter().enumerate() {
            if dut.is_high(probes.retired) {
                let hpu = probes.hpu(dut, number);
                let access = self.last[number / PIPELINES].filter(|access| access.hpu == hpu);
                let pc = dut.value(probes.pc) as u32;
                state.retired(hpu, pc, access.as_ref(), dut.is_high(probes.is_user));
            }
        }
    }
}

impl Agent for Observer {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let shared = Rc::clone(&self.state);
        let state = &mut *shared.borrow_mut();
        state.now += 1;
        if !dut.is_high(self.reset_n) {
            state.reset();
            self.last.fill(None);
            self.buffer.reset();
            return Ok(());
        }
        state.idle = self.idle(dut);
        state.asked = dut.value(self.asked) as u64;
        state.instructions = dut.value(self.instructions) as u64;
        state.printed = dut.value(self.printed) as u64;
        for (probes, last) in self.clusters.iter().zip(&mut self.last) {
            if let Some(access) = last.take() {
                state.read(&access, dut.value(probes.read) as u32);
            }
        }
        if dut.is_high(self.has_event) {
            self.sample_ports(dut, state);
            self.sample_clusters(dut, state);
        }
        if state.profile.is_some() {
            self.sample_instructions(dut, state);
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {
        self.state.borrow_mut().reset();
    }

    fn describe(&self) -> String {
        format!(
            "the clusters hold {:?} packets",
            self.state.borrow().packets_inside()
        )
    }
}

impl ClusterProbes {
    fn find(dut: &Instance, cluster: usize) -> Result<Self, ModelError> {
        let output = |name: &str| dut.port(&format!("c{cluster}_{name}"), Direction::Output);
        Ok(Self {
            given: output("given_valid")?,
            given_hpu: output("given_hpu")?,
            handler: output("given_handler")?,
            packet: output("given_packet")?,
            valid: output("access_valid")?,
            hpu: output("access_hpu")?,
            is_dma: output("access_is_dma")?,
            offset: output("access_offset")?,
            is_write: output("access_is_write")?,
            data: output("access_data")?,
            read: output("access_read")?,
            refused_second: output("refused_second")?,
        })
    }

    /// The access in this clock; its instruction is after its pipeline's stage of accesses.
    fn access(&self, dut: &Instance, cluster: usize, pipelines: &[PipelineProbes]) -> Option<Access> {
        if !dut.is_high(self.valid) {
            return None;
        }
        let core = dut.value(self.hpu) as usize;
        let pipeline = &pipelines[cluster * PIPELINES + core / THREADS];
        Some(Access {
            hpu: cluster * CORES + core,
            is_dma: dut.is_high(self.is_dma),
            offset: dut.value(self.offset) as u32,
            written: dut.is_high(self.is_write).then(|| dut.value(self.data) as u32),
            pc: dut.value(pipeline.pc) as u32,
        })
    }
}

impl PipelineProbes {
    fn find(dut: &Instance, pipeline: usize) -> Result<Self, ModelError> {
        let output = |name: &str| dut.port(&format!("p{pipeline}_{name}"), Direction::Output);
        Ok(Self {
            trap: output("trap")?,
            thread: output("thread")?,
            cause: output("cause")?,
            value: output("value")?,
            pc: output("pc")?,
            is_user: output("is_user")?,
            retired: output("retired")?,
        })
    }

    fn hpu(&self, dut: &Instance, pipeline: usize) -> usize {
        THREADS * pipeline + dut.value(self.thread) as usize
    }
}

/// A copy of the packet buffer, as the ingress path writes it.
#[derive(Debug)]
struct PacketBuffer {
    address: Channel<1>,
    data: Channel<1>,
    bytes: PortHandle,
    strobe: PortHandle,
    memory: Vec<u8>,
    /// Addresses of bursts, and beats that wait for theirs: bytes, strobes, last.
    bursts: VecDeque<u32>,
    beats: VecDeque<([u8; BEAT], u64, bool)>,
}

impl PacketBuffer {
    fn find(dut: &Instance) -> Result<Self, ModelError> {
        let outputs = [Direction::Output; 2];
        let output = |name: &str| dut.port(name, Direction::Output);
        Ok(Self {
            address: Channel::find(dut, "ni_slave_aw", ["addr"], outputs)?,
            data: Channel::find(dut, "ni_slave_w", ["last"], outputs)?,
            bytes: output("ni_slave_w_data")?,
            strobe: output("ni_slave_w_strb")?,
            memory: vec![0; PACKET_BYTES as usize],
            bursts: VecDeque::new(),
            beats: VecDeque::new(),
        })
    }

    fn reset(&mut self) {
        self.bursts.clear();
        self.beats.clear();
    }

    fn sample(&mut self, dut: &Instance) {
        if self.address.fires(dut) {
            self.bursts.push_back(self.address.values(dut)[0] as u32);
        }
        if self.data.fires(dut) {
            let mut bytes = [0; BEAT];
            bytes.copy_from_slice(dut.bytes(self.bytes));
            let is_last = self.data.values(dut)[0] != 0;
            self.beats
                .push_back((bytes, dut.value(self.strobe) as u64, is_last));
        }
        while let Some(address) = self.bursts.front_mut()
            && let Some((bytes, strobe, is_last)) = self.beats.pop_front()
        {
            // Beats are lines: the first one may begin within one.
            let line = address.wrapping_sub(PACKET_BASE) as usize / BEAT * BEAT;
            if let Some(line) = self.memory.get_mut(line..line + BEAT) {
                for (number, (old, new)) in line.iter_mut().zip(bytes).enumerate() {
                    if strobe >> number & 1 != 0 {
                        *old = new;
                    }
                }
            }
            *address = address.wrapping_add(BEAT as u32);
            if is_last {
                self.bursts.pop_front();
            }
        }
    }

    /// A packet that was written; empty outside of the buffer.
    fn packet(&self, address: u32, bytes: u32) -> &[u8] {
        let start = address.wrapping_sub(PACKET_BASE) as usize;
        self.memory.get(start..start + bytes as usize).unwrap_or_default()
    }
}
