//! The AXI4 ports between the application and the cluster, 512 bits wide.

use super::Channel;
use spinneret_cluster::task::{CommandId, HostAction, HostCommand};
use spinneret_cluster::{BEAT_BYTES, Cluster, REFUSED_HOST};
use spinneret_regmap::message_id;
use spinneret_sim::agent::Violation;
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};
use std::collections::VecDeque;

/// Bytes of a beat.
const BEAT: usize = BEAT_BYTES as usize;
/// AxSIZE of a beat of 64 bytes.
const SIZE: u128 = 6;
/// AxBURST of incrementing bursts.
const INCR: u128 = 1;
/// Responses.
const OKAY: u128 = 0;
const DECERR: u128 = 3;
/// A burst may not cross a multiple of this (AMBA AXI, A3.4.1).
const BOUNDARY: u64 = 4096;
/// Clocks between an address and the first beat or the response of memory: the path through the cluster's crossbars. An
/// assumption.
const MEMORY_CLOCKS: u64 = 6;
/// Bursts of each direction that a slave accepts before the first one is complete.
const SLAVE_BURSTS: usize = 8;
/// Outstanding bursts of the master.
const MASTER_BURSTS: usize = 8;

/// A burst that a slave has accepted.
#[derive(Clone, Copy, Debug)]
struct SlaveBurst {
    /// Of the next beat; the first may begin within its line.
    address: u32,
    beats: u32,
    id: u128,
    fails: bool,
    /// The clock from which it may be answered.
    at: u64,
}

/// A port on which the application reads and writes the cluster's memory: an AXI4 slave. Bursts count upwards, and beats are as
/// wide as the port.
#[derive(Debug)]
pub(super) struct SlavePort {
    /// Address, length, id.
    aw: Channel<3>,
    ar: Channel<3>,
    /// Strobes.
    w: Channel<1>,
    w_data: PortHandle,
    /// Response, id.
    b: Channel<2>,
    /// Response, last, id.
    r: Channel<3>,
    r_data: PortHandle,
    writes: VecDeque<SlaveBurst>,
    written: VecDeque<SlaveBurst>,
    reads: VecDeque<SlaveBurst>,
    /// The beat that is offered: data, and response, last and id.
    beat: Option<([u8; BEAT], [u128; 3])>,
    now: u64,
}

impl SlavePort {
    pub(super) fn new(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let channel = |name: &str| format!("{prefix}_{name}");
        let address = |name| Channel::from_design(dut, &channel(name), ["addr", "len", "id"]);
        Ok(Self {
            aw: address("aw")?,
            ar: address("ar")?,
            w: Channel::from_design(dut, &channel("w"), ["strb"])?,
            w_data: dut.port(&channel("w_data"), Direction::Output)?,
            b: Channel::from_model(dut, &channel("b"), ["resp", "id"])?,
            r: Channel::from_model(dut, &channel("r"), ["resp", "last", "id"])?,
            r_data: dut.port(&channel("r_data"), Direction::Input)?,
            writes: VecDeque::new(),
            written: VecDeque::new(),
            reads: VecDeque::new(),
            beat: None,
            now: 0,
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.writes.is_empty() && self.written.is_empty() && self.reads.is_empty() && self.beat.is_none()
    }

    pub(super) fn reset(&mut self) {
        self.writes.clear();
        self.written.clear();
        self.reads.clear();
        self.beat = None;
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, in_reset: bool) {
        dut.set_high(self.aw.ready, !in_reset && self.writes.len() < SLAVE_BURSTS);
        dut.set_high(self.ar.ready, !in_reset && self.reads.len() < SLAVE_BURSTS);
        dut.set_high(self.w.ready, !in_reset && !self.writes.is_empty());
        let response = self.written.front();
        let response = response.filter(|burst| !in_reset && burst.at <= self.now);
        let response = response.map(|burst| [if burst.fails { DECERR } else { OKAY }, burst.id]);
        self.b.offer(dut, response);
        let beat = self.beat.as_ref().filter(|_| !in_reset);
        self.r.offer(dut, beat.map(|(_, fields)| *fields));
        if let Some((data, _)) = beat {
            dut.set_bytes(self.r_data, data);
        }
    }

    pub(super) fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) {
        self.now += 1;
        if self.b.fires(dut) {
            self.written.pop_front();
        }
        if self.r.fires(dut) {
            self.beat = None;
        }
        if self.w.fires(dut) {
            self.write(dut, cluster);
        }
        if self.aw.fires(dut) {
            self.writes.push_back(burst(self.aw.values(dut), self.now));
        }
        self.read(cluster);
        if self.ar.fires(dut) {
            self.reads
                .push_back(burst(self.ar.values(dut), self.now + MEMORY_CLOCKS));
        }
    }

    /// Writes a beat of the oldest burst; beats are only accepted after an address.
    fn write(&mut self, dut: &Instance, cluster: &mut Cluster) {
        let Some(burst) = self.writes.front_mut() else {
            return;
        };
        let line = burst.address & !(BEAT_BYTES - 1);
        let [strobes] = self.w.values(dut);
        let data = dut.bytes(self.w_data);
        // Runs of bytes that are written together.
        let mut lane = 0;
        while let Some(first) = (lane..BEAT).find(|lane| strobes >> lane & 1 == 1) {
            let end = (first..BEAT)
                .find(|lane| strobes >> lane & 1 == 0)
                .unwrap_or(BEAT);
            burst.fails |= !cluster.write(line + first as u32, &data[first..end]);
            lane = end;
        }
        burst.address = line.wrapping_add(BEAT_BYTES);
        burst.beats -= 1;
        if burst.beats == 0
            && let Some(mut burst) = self.writes.pop_front()
        {
            burst.at = self.now + MEMORY_CLOCKS;
            self.written.push_back(burst);
        }
    }

    /// Offers the next beat of the oldest burst.
    fn read(&mut self, cluster: &Cluster) {
        let Some(burst) = self.reads.front_mut().filter(|burst| burst.at <= self.now) else {
            return;
        };
        if self.beat.is_some() {
            return;
        }
        let line = burst.address & !(BEAT_BYTES - 1);
        let mut data = [0; BEAT];
        let found = cluster.memory().read(line, BEAT_BYTES);
        if let Some(bytes) = found {
            data.copy_from_slice(bytes);
        }
        let response = if found.is_some() { OKAY } else { DECERR };
        let is_last = burst.beats == 1;
        self.beat = Some((data, [response, is_last.into(), burst.id]));
        burst.address = line.wrapping_add(BEAT_BYTES);
        burst.beats -= 1;
        if is_last {
            self.reads.pop_front();
        }
        let timing = &cluster.config().timing;
        let pause = if is_last {
            timing.port_burst
        } else {
            timing.port_line
        };
        if let Some(next) = self.reads.front_mut() {
            next.at = next.at.max(self.now + pause);
        }
    }
}

/// A burst by its address, length and id.
fn burst([address, length, id]: [u128; 3], at: u64) -> SlaveBurst {
    SlaveBurst {
        address: address as u32,
        beats: length as u32 + 1,
        id,
        fails: false,
        at,
    }
}

/// A burst to or from host memory.
#[derive(Clone, Debug)]
struct MasterBurst {
    /// Address of the first line, or of a direct write.
    line: u64,
    beats: u64,
    context: u32,
    /// Whether it is the last one of its command.
    is_last: bool,
    id: CommandId,
    /// For reads: the destination, the first byte within the first line, and the number of bytes.
    destination: (u32, usize, usize),
}

/// A beat of a write.
#[derive(Clone, Debug)]
struct Beat {
    data: [u8; BEAT],
    strobes: u64,
    is_last: bool,
}

/// Work of the master.
#[derive(Debug, Default)]
struct Queues {
    /// Bursts whose address has not been accepted.
    write_addresses: VecDeque<MasterBurst>,
    read_addresses: VecDeque<MasterBurst>,
    beats: VecDeque<Beat>,
    /// Bursts without a response.
    writes: VecDeque<MasterBurst>,
    reads: VecDeque<MasterBurst>,
    /// Bytes of the oldest read that have arrived.
    arrived: Vec<u8>,
    /// Outstanding commands with an error response, and the first line with an error.
    failed: Vec<(CommandId, u32)>,
}

/// The port on which handlers reach host memory: an AXI4 master that accesses whole lines, with strobes for the bytes that are
/// written.
#[derive(Debug)]
pub(super) struct MasterPort {
    /// Address, length, size, burst, user.
    aw: Channel<5>,
    ar: Channel<5>,
    /// Strobes, last.
    w: Channel<2>,
    w_data: PortHandle,
    /// Response.
    b: Channel<1>,
    /// Response, last.
    r: Channel<2>,
    r_data: PortHandle,
    queues: Queues,
}

impl MasterPort {
    pub(super) fn new(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let channel = |name: &str| format!("{prefix}_{name}");
        let fields = ["addr", "len", "size", "burst", "user"];
        Ok(Self {
            aw: Channel::from_model(dut, &channel("aw"), fields)?,
            ar: Channel::from_model(dut, &channel("ar"), fields)?,
            w: Channel::from_model(dut, &channel("w"), ["strb", "last"])?,
            w_data: dut.port(&channel("w_data"), Direction::Input)?,
            b: Channel::from_design(dut, &channel("b"), ["resp"])?,
            r: Channel::from_design(dut, &channel("r"), ["resp", "last"])?,
            r_data: dut.port(&channel("r_data"), Direction::Output)?,
            queues: Queues::default(),
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queues.writes.is_empty() && self.queues.reads.is_empty()
    }

    pub(super) fn reset(&mut self) {
        self.queues = Queues::default();
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, in_reset: bool) {
        let queues = &self.queues;
        for (channel, bursts) in [
            (self.aw, &queues.write_addresses),
            (self.ar, &queues.read_addresses),
        ] {
            let burst = bursts.front().filter(|_| !in_reset);
            let fields = burst.map(|burst| {
                let length = burst.beats - 1;
                [burst.line.into(), length.into(), SIZE, INCR, burst.context.into()]
            });
            channel.offer(dut, fields);
        }
        let beat = queues.beats.front().filter(|_| !in_reset);
        let fields = beat.map(|beat| [beat.strobes.into(), beat.is_last.into()]);
        self.w.offer(dut, fields);
        if let Some(beat) = beat {
            dut.set_bytes(self.w_data, &beat.data);
        }
        dut.set_high(self.b.ready, !in_reset);
        dut.set_high(self.r.ready, !in_reset);
    }

    pub(super) fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) -> Result<(), Violation> {
        let queues = &mut self.queues;
        if self.aw.fires(dut) {
            queues.write_addresses.pop_front();
        }
        if self.w.fires(dut) {
            queues.beats.pop_front();
        }
        if self.ar.fires(dut) {
            queues.read_addresses.pop_front();
        }
        if self.b.fires(dut) {
            let burst = queues.writes.pop_front().ok_or_else(|| stray("B"))?;
            queues.note_response(&burst, self.b.values(dut)[0]);
            queues.end(&burst, cluster);
        }
        if self.r.fires(dut) {
            let [response, is_last] = self.r.values(dut);
            queues.take_beat(response, dut.bytes(self.r_data), is_last != 0, cluster)?;
        }
        if queues.writes.len() + queues.reads.len() < MASTER_BURSTS
            && let Some(command) = cluster.take_access()
        {
            queues.begin(command, cluster);
        }
        Ok(())
    }
}

impl Queues {
    fn take_beat(
        &mut self,
        response: u128,
        data: &[u8],
        is_last: bool,
        cluster: &mut Cluster,
    ) -> Result<(), Violation> {
        let burst = self.reads.front().cloned().ok_or_else(|| stray("R"))?;
        self.note_response(&burst, response);
        self.arrived.extend_from_slice(data);
        if !is_last {
            return Ok(());
        }
        self.reads.pop_front();
        let arrived = std::mem::take(&mut self.arrived);
        let (destination, first, bytes) = burst.destination;
        let data = arrived.get(first..first + bytes).ok_or_else(|| Violation {
            bus: "host_master".to_owned(),
            rule: format!("RLAST after {} bytes of {} beats", arrived.len(), burst.beats),
        })?;
        // The command was checked to end in memory.
        cluster.write(destination, data);
        self.end(&burst, cluster);
        Ok(())
    }

    fn note_response(&mut self, burst: &MasterBurst, response: u128) {
        if response != OKAY && self.failed.iter().all(|(id, _)| *id != burst.id) {
            self.failed.push((burst.id, burst.line as u32));
        }
    }

    /// Completes a command after its last burst.
    fn end(&mut self, burst: &MasterBurst, cluster: &mut Cluster) {
        if !burst.is_last {
            return;
        }
        if let Some(at) = self.failed.iter().position(|(id, _)| *id == burst.id) {
            let (id, line) = self.failed.swap_remove(at);
            cluster.refuse(id, REFUSED_HOST, line);
        }
        cluster.complete(burst.id);
    }

    /// Splits a command into bursts.
    fn begin(&mut self, command: HostCommand, cluster: &mut Cluster) {
        let HostCommand {
            id,
            message,
            host,
            action,
        } = command;
        let bytes = match &action {
            HostAction::Write(data) | HostAction::Direct(data) => data.len() as u64,
            HostAction::Read { bytes, .. } => u64::from(*bytes),
        };
        if bytes == 0 {
            cluster.complete(id);
            return;
        }
        let mut done = 0;
        while done < bytes {
            let address = host.wrapping_add(done);
            let (line, here) = match action {
                // One beat at its own address, with its bytes in the lowest lanes.
                HostAction::Direct(_) => (address, bytes),
                _ => (
                    address - address % BEAT as u64,
                    (bytes - done).min(BOUNDARY - address % BOUNDARY),
                ),
            };
            let first = (address - line) as usize;
            let mut burst = MasterBurst {
                line,
                beats: (first as u64 + here).div_ceil(BEAT as u64),
                // The hardware tells contexts apart by AWUSER and ARUSER.
                context: message_id::context(message),
                is_last: done + here == bytes,
                id,
                destination: (0, 0, 0),
            };
            match &action {
                HostAction::Write(data) | HostAction::Direct(data) => {
                    let data = &data[done as usize..][..here as usize];
                    self.beats.extend(beats(data, first));
                    self.write_addresses.push_back(burst.clone());
                    self.writes.push_back(burst);
                }
                HostAction::Read { destination, .. } => {
                    let destination = destination.wrapping_add(done as u32);
                    burst.destination = (destination, first, here as usize);
                    self.read_addresses.push_back(burst.clone());
                    self.reads.push_back(burst);
                }
            }
            done += here;
        }
    }
}

/// The beats of a write, with the first byte in that lane.
fn beats(bytes: &[u8], first: usize) -> Vec<Beat> {
    let count = (first + bytes.len()).div_ceil(BEAT);
    let empty = |number| Beat {
        data: [0; BEAT],
        strobes: 0,
        is_last: number + 1 == count,
    };
    let mut beats: Vec<Beat> = (0..count).map(empty).collect();
    for (place, byte) in (first..).zip(bytes) {
        let beat = &mut beats[place / BEAT];
        beat.data[place % BEAT] = *byte;
        beat.strobes |= 1 << (place % BEAT);
    }
    beats
}

fn stray(channel: &str) -> Violation {
    Violation {
        bus: "host_master".to_owned(),
        rule: format!("a response on {channel} without a request"),
    }
}

#[cfg(test)]
mod tests {
    use super::beats;

    #[test]
    fn bytes_are_in_their_lanes() {
        let beats = beats(&[1, 2, 3, 4], 62);
        assert_eq!(beats.len(), 2);
        assert_eq!((beats[0].strobes, beats[1].strobes), (3 << 62, 3));
        assert_eq!((beats[0].data[62], beats[1].data[1]), (1, 4));
        assert_eq!((beats[0].is_last, beats[1].is_last), (false, true));
    }
}
