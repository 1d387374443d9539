//! A port on which the application reads and writes the cluster's memory.

use super::Handshake;
use spinneret_cluster::{BEAT_BYTES, Cluster};
use spinneret_sim::agent::Violation;
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};
use std::collections::VecDeque;

/// Clocks between an address and the first beat or the response of memory: the way through the cluster's crossbars, an
/// assumption.
const MEMORY_CLOCKS: u64 = 6;

/// Bursts of each direction that are taken before the first is done.
const BURSTS: usize = 8;
/// AXI's responses.
const OKAY: u128 = 0;
const DECERR: u128 = 3;
/// Bytes of a beat.
const BEAT: usize = BEAT_BYTES as usize;

/// The ports of an address.
#[derive(Clone, Copy, Debug)]
struct Address {
    handshake: Handshake,
    address: PortHandle,
    length: PortHandle,
    id: PortHandle,
}

/// A burst that was taken.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// Of the next beat; the first may begin within its line.
    address: u32,
    beats: u32,
    id: u128,
    fails: bool,
    /// When it may be answered.
    at: u64,
}

/// An AXI4 slave of 512 bits in front of the cluster's memory. Bursts count upwards; beats are as wide as the port.
#[derive(Debug)]
pub(super) struct SlavePort {
    prefix: &'static str,
    aw: Address,
    ar: Address,
    w: Handshake,
    w_data: PortHandle,
    w_strobes: PortHandle,
    b: Handshake,
    b_response: PortHandle,
    b_id: PortHandle,
    r: Handshake,
    r_data: PortHandle,
    r_response: PortHandle,
    r_last: PortHandle,
    r_id: PortHandle,
    writes: VecDeque<Burst>,
    written: VecDeque<Burst>,
    reads: VecDeque<Burst>,
    /// The beat that is offered: data, response, last, id.
    beat: Option<([u8; BEAT], u128, bool, u128)>,
    now: u64,
}

impl Address {
    fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let port = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Output);
        Ok(Self {
            handshake: Handshake::from_design(dut, prefix)?,
            address: port("addr")?,
            length: port("len")?,
            id: port("id")?,
        })
    }

    fn burst(self, dut: &Instance, at: u64) -> Burst {
        Burst {
            address: dut.value(self.address) as u32,
            beats: dut.value(self.length) as u32 + 1,
            id: dut.value(self.id),
            fails: false,
            at,
        }
    }
}

impl SlavePort {
    pub(super) fn new(dut: &Instance, prefix: &'static str) -> Result<Self, ModelError> {
        let input = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Input);
        let output = |name: &str| dut.port(&format!("{prefix}_{name}"), Direction::Output);
        let channel = |name: &str| format!("{prefix}_{name}");
        Ok(Self {
            prefix,
            aw: Address::find(dut, &channel("aw"))?,
            ar: Address::find(dut, &channel("ar"))?,
            w: Handshake::from_design(dut, &channel("w"))?,
            w_data: output("w_data")?,
            w_strobes: output("w_strb")?,
            b: Handshake::from_model(dut, &channel("b"))?,
            b_response: input("b_resp")?,
            b_id: input("b_id")?,
            r: Handshake::from_model(dut, &channel("r"))?,
            r_data: input("r_data")?,
            r_response: input("r_resp")?,
            r_last: input("r_last")?,
            r_id: input("r_id")?,
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

    /// The response that can be given.
    fn response(&self) -> Option<&Burst> {
        self.written.front().filter(|burst| burst.at <= self.now)
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, held: bool) {
        dut.set_high(self.aw.handshake.ready, !held && self.writes.len() < BURSTS);
        dut.set_high(self.ar.handshake.ready, !held && self.reads.len() < BURSTS);
        dut.set_high(self.w.ready, !held && !self.writes.is_empty());
        let response = self.response().copied();
        dut.set_high(self.b.valid, !held && response.is_some());
        if let Some(burst) = response {
            dut.set_value(self.b_response, if burst.fails { DECERR } else { OKAY });
            dut.set_value(self.b_id, burst.id);
        }
        dut.set_high(self.r.valid, !held && self.beat.is_some());
        if let Some((data, response, last, id)) = &self.beat {
            dut.set_bytes(self.r_data, data);
            dut.set_value(self.r_response, *response);
            dut.set_high(self.r_last, *last);
            dut.set_value(self.r_id, *id);
        }
    }

    pub(super) fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) -> Result<(), Violation> {
        self.now += 1;
        if self.b.moves(dut) {
            self.written.pop_front();
        }
        if self.r.moves(dut) {
            self.beat = None;
        }
        if self.w.moves(dut) {
            self.write(dut, cluster)?;
        }
        if self.aw.handshake.moves(dut) {
            let burst = self.aw.burst(dut, self.now);
            self.writes.push_back(burst);
        }
        self.read(cluster);
        if self.ar.handshake.moves(dut) {
            let burst = self.ar.burst(dut, self.now + MEMORY_CLOCKS);
            self.reads.push_back(burst);
        }
        Ok(())
    }

    /// A beat comes for the oldest burst.
    fn write(&mut self, dut: &Instance, cluster: &mut Cluster) -> Result<(), Violation> {
        let Some(burst) = self.writes.front_mut() else {
            return Err(Violation {
                bus: self.prefix.to_owned(),
                rule: "a beat was taken without an address".to_owned(),
            });
        };
        let line = burst.address & !(BEAT_BYTES - 1);
        let strobes = dut.value(self.w_strobes) as u64;
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
        Ok(())
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
        let there = cluster.memory().read(line, BEAT_BYTES);
        if let Some(bytes) = there {
            data.copy_from_slice(bytes);
        }
        let response = if there.is_some() { OKAY } else { DECERR };
        let is_last = burst.beats == 1;
        self.beat = Some((data, response, is_last, burst.id));
        burst.address = line.wrapping_add(BEAT_BYTES);
        burst.beats -= 1;
        if is_last {
            self.reads.pop_front();
        }
    }
}
