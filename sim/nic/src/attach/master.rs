//! The port on which handlers reach host memory.

use super::Handshake;
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
/// AxBURST of bursts that count upwards.
const INCR: u128 = 1;
/// A burst may not cross a multiple of this (AMBA AXI, A3.4.1).
const BOUNDARY: u64 = 4096;
/// Commands that are under way.
const COMMANDS: usize = 8;

/// A burst that is asked for.
#[derive(Clone, Debug)]
struct Burst {
    /// Address of the first line, or of a direct write.
    line: u64,
    /// Beats.
    beats: u64,
    /// The context that asks.
    context: u32,
    /// Whether it is the last one of its command.
    ends: bool,
    id: CommandId,
    /// Where its bytes go, the first of them within the first line, and how many they are; of reads.
    into: (u32, usize, usize),
}

/// A beat of a write.
#[derive(Clone, Debug)]
struct Beat {
    data: [u8; BEAT],
    strobes: u64,
    last: bool,
}

/// The ports of an address.
#[derive(Clone, Copy, Debug)]
struct Address {
    handshake: Handshake,
    address: PortHandle,
    length: PortHandle,
    size: PortHandle,
    burst: PortHandle,
    user: PortHandle,
}

/// An AXI4 master of 512 bits: whole lines, with strobes for the bytes that are written.
#[derive(Debug)]
pub(super) struct MasterPort {
    aw: Address,
    ar: Address,
    w: Handshake,
    w_data: PortHandle,
    w_strobes: PortHandle,
    w_last: PortHandle,
    b: Handshake,
    b_response: PortHandle,
    r: Handshake,
    r_data: PortHandle,
    r_response: PortHandle,
    r_last: PortHandle,
    write_addresses: VecDeque<Burst>,
    beats: VecDeque<Beat>,
    read_addresses: VecDeque<Burst>,
    /// Bursts whose answer is to come.
    writes: VecDeque<Burst>,
    reads: VecDeque<Burst>,
    /// Bytes of the oldest read that have come.
    came: Vec<u8>,
    /// Commands under way of which something was answered with an error, with the first such line.
    bad: Vec<(CommandId, u32)>,
}

impl Address {
    fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let port = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Input);
        Ok(Self {
            handshake: Handshake::from_model(dut, prefix)?,
            address: port("addr")?,
            length: port("len")?,
            size: port("size")?,
            burst: port("burst")?,
            user: port("user")?,
        })
    }

    fn drive(self, dut: &mut Instance, burst: Option<&Burst>) {
        dut.set_high(self.handshake.valid, burst.is_some());
        if let Some(burst) = burst {
            dut.set_value(self.address, burst.line.into());
            dut.set_value(self.length, (burst.beats - 1).into());
            dut.set_value(self.size, SIZE);
            dut.set_value(self.burst, INCR);
            dut.set_value(self.user, burst.context.into());
        }
    }
}

impl MasterPort {
    pub(super) fn new(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let input = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Input);
        let output = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Output);
        let channel = |name: &str| format!("{prefix}_{name}");
        Ok(Self {
            aw: Address::find(dut, &channel("aw"))?,
            ar: Address::find(dut, &channel("ar"))?,
            w: Handshake::from_model(dut, &channel("w"))?,
            w_data: input("w_data")?,
            w_strobes: input("w_strb")?,
            w_last: input("w_last")?,
            b: Handshake::from_design(dut, &channel("b"))?,
            b_response: output("b_resp")?,
            r: Handshake::from_design(dut, &channel("r"))?,
            r_data: output("r_data")?,
            r_response: output("r_resp")?,
            r_last: output("r_last")?,
            write_addresses: VecDeque::new(),
            beats: VecDeque::new(),
            read_addresses: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            came: Vec::new(),
            bad: Vec::new(),
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.writes.is_empty() && self.reads.is_empty()
    }

    pub(super) fn reset(&mut self) {
        self.write_addresses.clear();
        self.beats.clear();
        self.read_addresses.clear();
        self.writes.clear();
        self.reads.clear();
        self.came.clear();
        self.bad.clear();
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, held: bool) {
        self.aw.drive(dut, self.write_addresses.front().filter(|_| !held));
        self.ar.drive(dut, self.read_addresses.front().filter(|_| !held));
        let beat = self.beats.front().filter(|_| !held);
        dut.set_high(self.w.valid, beat.is_some());
        if let Some(beat) = beat {
            dut.set_bytes(self.w_data, &beat.data);
            dut.set_value(self.w_strobes, beat.strobes.into());
            dut.set_high(self.w_last, beat.last);
        }
        dut.set_high(self.b.ready, !held);
        dut.set_high(self.r.ready, !held);
    }

    pub(super) fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) -> Result<(), Violation> {
        if self.aw.handshake.moves(dut) {
            self.write_addresses.pop_front();
        }
        if self.w.moves(dut) {
            self.beats.pop_front();
        }
        if self.ar.handshake.moves(dut) {
            self.read_addresses.pop_front();
        }
        if self.b.moves(dut) {
            let burst = self.writes.pop_front().ok_or_else(|| stray("B"))?;
            self.answered(&burst, dut.value(self.b_response) != 0);
            self.end(&burst, cluster);
        }
        if self.r.moves(dut) {
            self.take_beat(dut, cluster)?;
        }
        if self.writes.len() + self.reads.len() < COMMANDS
            && let Some(command) = cluster.take_access()
        {
            self.begin(command, cluster);
        }
        Ok(())
    }

    fn take_beat(&mut self, dut: &Instance, cluster: &mut Cluster) -> Result<(), Violation> {
        if self.reads.is_empty() {
            return Err(stray("R"));
        }
        if let Some(burst) = self.reads.front().cloned() {
            self.answered(&burst, dut.value(self.r_response) != 0);
        }
        self.came.extend_from_slice(dut.bytes(self.r_data));
        if !dut.is_high(self.r_last) {
            return Ok(());
        }
        let burst = self.reads.pop_front().ok_or_else(|| stray("R"))?;
        let came = std::mem::take(&mut self.came);
        let (destination, first, bytes) = burst.into;
        let data = came.get(first..first + bytes).ok_or_else(|| Violation {
            bus: "host_master".to_owned(),
            rule: format!("RLAST after {} bytes of {} beats", came.len(), burst.beats),
        })?;
        // The command was checked to end in memory.
        cluster.write(destination, data);
        self.end(&burst, cluster);
        Ok(())
    }

    /// Part of a command was answered.
    fn answered(&mut self, burst: &Burst, is_bad: bool) {
        if is_bad && self.bad.iter().all(|(id, _)| *id != burst.id) {
            self.bad.push((burst.id, burst.line as u32));
        }
    }

    /// A command is done with its last burst.
    fn end(&mut self, burst: &Burst, cluster: &mut Cluster) {
        if !burst.ends {
            return;
        }
        if let Some(at) = self.bad.iter().position(|(id, _)| *id == burst.id) {
            let (id, line) = self.bad.swap_remove(at);
            cluster.refuse(id, REFUSED_HOST, line);
        }
        cluster.complete(burst.id);
    }

    /// Cuts a command into bursts.
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
        // The hardware tells contexts apart by AWUSER and ARUSER.
        let context = message_id::context(message);
        if let HostAction::Direct(data) = &action {
            let burst = Burst {
                line: host,
                beats: 1,
                context,
                ends: true,
                id,
                into: (0, 0, 0),
            };
            self.beats.extend(lines(data, 0));
            self.write_addresses.push_back(burst.clone());
            self.writes.push_back(burst);
            return;
        }
        let mut done = 0;
        while done < bytes {
            let address = host.wrapping_add(done);
            let here = (bytes - done).min(BOUNDARY - address % BOUNDARY);
            let line = address - address % BEAT as u64;
            let mut burst = Burst {
                line,
                beats: (address + (here - 1) - line) / BEAT as u64 + 1,
                context,
                ends: done + here == bytes,
                id,
                into: (0, 0, 0),
            };
            match &action {
                HostAction::Write(data) | HostAction::Direct(data) => {
                    let data = &data[done as usize..][..here as usize];
                    self.beats.extend(lines(data, (address - line) as usize));
                    self.write_addresses.push_back(burst.clone());
                    self.writes.push_back(burst);
                }
                HostAction::Read { destination, .. } => {
                    let destination = destination.wrapping_add(done as u32);
                    burst.into = (destination, (address - line) as usize, here as usize);
                    self.read_addresses.push_back(burst.clone());
                    self.reads.push_back(burst);
                }
            }
            done += here;
        }
    }
}

/// Bytes as beats; the first byte is in lane `first`.
fn lines(bytes: &[u8], first: usize) -> Vec<Beat> {
    let count = (first + bytes.len()).div_ceil(BEAT);
    let mut beats = vec![
        Beat {
            data: [0; BEAT],
            strobes: 0,
            last: false,
        };
        count
    ];
    for (place, byte) in (first..).zip(bytes) {
        let beat = &mut beats[place / BEAT];
        beat.data[place % BEAT] = *byte;
        beat.strobes |= 1 << (place % BEAT);
    }
    if let Some(beat) = beats.last_mut() {
        beat.last = true;
    }
    beats
}

fn stray(channel: &str) -> Violation {
    Violation {
        bus: "host_master".to_owned(),
        rule: format!("an answer on {channel} that nobody waits for"),
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn bytes_lie_in_their_lanes() {
        let beats = lines(&[1, 2, 3, 4], 62);
        assert_eq!(beats.len(), 2);
        assert_eq!((beats[0].strobes, beats[1].strobes), (3 << 62, 3));
        assert_eq!((beats[0].data[62], beats[1].data[1]), (1, 4));
        assert_eq!((beats[0].last, beats[1].last), (false, true));
    }
}
