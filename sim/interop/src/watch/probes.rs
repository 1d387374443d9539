//! The probes of the model, looked at in every clock of the cluster.

use super::{Open, Seen, What};
use spinneret_regmap::pspin;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};
use std::cell::RefCell;
use std::rc::Rc;

/// Registers of an HPU's driver.
const DRIVER: std::ops::Range<u32> = pspin::DRIVER_BASE..pspin::DRIVER_BASE + 0x400;
/// Words of standard output.
const STDOUT: std::ops::Range<u32> = pspin::STDOUT..pspin::STDOUT + pspin::STDOUT_BYTES;

/// A channel with valid and ready.
#[derive(Debug)]
struct Channel {
    valid: PortHandle,
    ready: PortHandle,
}

impl Channel {
    fn moves(&self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }
}

/// Where frames come in, in the clock of the core: they are on their way long before the cluster sees anything.
#[derive(Debug)]
pub(super) struct Door {
    entrance: PortHandle,
    seen: Rc<RefCell<Seen>>,
}

impl Door {
    pub(super) fn find(dut: &Instance, seen: Rc<RefCell<Seen>>) -> Result<Self, ModelError> {
        let entrance = dut.port("s_axis_if_rx_0_tvalid", Direction::Input)?;
        Ok(Self { entrance, seen })
    }
}

impl Agent for Door {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        if dut.is_high(self.entrance) {
            self.seen.borrow_mut().quiet = 0;
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {}

    fn describe(&self) -> String {
        "frames from the wire".to_owned()
    }
}

/// The probes, looked at in every clock.
#[derive(Debug)]
pub(super) struct Probes {
    seen: Rc<RefCell<Seen>>,
    reset_n: PortHandle,
    her: Channel,
    her_fields: [PortHandle; 4],
    feedback: Channel,
    feedback_fields: [PortHandle; 2],
    send: Channel,
    send_fields: [PortHandle; 3],
    sent: PortHandle,
    sent_id: PortHandle,
    host_write: Channel,
    host_write_fields: [PortHandle; 2],
    host_read: Channel,
    host_read_fields: [PortHandle; 2],
    hpu: Hpus,
}

/// Signals of all HPUs side by side.
#[derive(Debug)]
struct Hpus {
    req: PortHandle,
    gnt: PortHandle,
    we: PortHandle,
    be: PortHandle,
    addr: PortHandle,
    wdata: PortHandle,
    rvalid: PortHandle,
    rdata: PortHandle,
    pc: PortHandle,
    decoded: PortHandle,
    decoding: PortHandle,
    task: [PortHandle; 2],
    ended: [PortHandle; 2],
}

impl Probes {
    pub(super) fn find(dut: &Instance, seen: Rc<RefCell<Seen>>) -> Result<Self, ModelError> {
        let port = |name: &str| dut.port(&format!("probe_{name}"), Direction::Output);
        let hpu = |name: &str| port(&format!("hpu_{name}"));
        let channel = |name: &str| {
            Ok(Channel {
                valid: port(&format!("{name}_valid"))?,
                ready: port(&format!("{name}_ready"))?,
            })
        };
        Ok(Self {
            seen,
            reset_n: port("cluster_rstn")?,
            her: channel("her")?,
            her_fields: [
                port("her_msgid")?,
                port("her_is_eom")?,
                port("her_addr")?,
                port("her_size")?,
            ],
            feedback: channel("feedback")?,
            feedback_fields: [port("feedback_msgid")?, port("feedback_her_addr")?],
            send: channel("nic_cmd_req")?,
            send_fields: [
                port("nic_cmd_req_id")?,
                port("nic_cmd_req_src_addr")?,
                port("nic_cmd_req_length")?,
            ],
            sent: port("nic_cmd_resp_valid")?,
            sent_id: port("nic_cmd_resp_id")?,
            host_write: channel("host_master_aw")?,
            host_write_fields: [port("host_master_aw_addr")?, port("host_master_aw_len")?],
            host_read: channel("host_master_ar")?,
            host_read_fields: [port("host_master_ar_addr")?, port("host_master_ar_len")?],
            hpu: Hpus {
                req: hpu("data_req")?,
                gnt: hpu("data_gnt")?,
                we: hpu("data_we")?,
                be: hpu("data_be")?,
                addr: hpu("data_addr")?,
                wdata: hpu("data_wdata")?,
                rvalid: hpu("data_rvalid")?,
                rdata: hpu("data_rdata")?,
                pc: hpu("pc")?,
                decoded: hpu("decoded")?,
                decoding: hpu("decoding")?,
                task: [hpu("task_valid")?, hpu("task_ready")?],
                ended: [hpu("ended_valid")?, hpu("ended_ready")?],
            },
        })
    }

    fn sample_packets(&self, dut: &Instance, seen: &mut Seen) {
        let word = |port: PortHandle| dut.value(port) as u32;
        let wanted = seen.recording.packets;
        if self.her.moves(dut) {
            seen.hers += 1;
            seen.quiet = 0;
            let [message, is_last, address, size] = self.her_fields.map(word);
            let is_last = is_last != 0;
            seen.note(
                wanted,
                What::Her {
                    message,
                    is_last,
                    address,
                    size,
                },
            );
        }
        if self.feedback.moves(dut) {
            seen.feedback += 1;
            seen.quiet = 0;
            let [message, address] = self.feedback_fields.map(word);
            seen.note(wanted, What::Feedback { message, address });
        }
        if self.send.moves(dut) {
            seen.sends += 1;
            seen.quiet = 0;
            let [id, address, length] = self.send_fields.map(word);
            seen.note(wanted, What::Send { id, address, length });
        }
        if dut.is_high(self.sent) {
            seen.note(
                wanted,
                What::Sent {
                    id: word(self.sent_id),
                },
            );
        }
        if self.host_write.moves(dut) {
            seen.quiet = 0;
            let [address, length] = self.host_write_fields;
            let (address, beats) = (dut.value(address) as u64, word(length) + 1);
            seen.note(wanted, What::HostWrite { address, beats });
        }
        if self.host_read.moves(dut) {
            seen.quiet = 0;
            let [address, length] = self.host_read_fields;
            let (address, beats) = (dut.value(address) as u64, word(length) + 1);
            seen.note(wanted, What::HostRead { address, beats });
        }
    }

    fn sample_tasks(&self, dut: &Instance, seen: &mut Seen) {
        let both = |[valid, ready]: [PortHandle; 2]| (dut.value(valid) & dut.value(ready)) as u32;
        let (begun, ended) = (both(self.hpu.task), both(self.hpu.ended));
        let wanted = seen.recording.packets;
        for hpu in bits(begun) {
            seen.note(wanted, What::Task { hpu });
        }
        for hpu in bits(ended) {
            seen.note(wanted, What::Ended { hpu });
        }
        seen.has_task = (seen.has_task & !ended) | begun;
        for hpu in bits(seen.has_task) {
            seen.busy[hpu as usize] += 1;
        }
    }

    fn sample_accesses(&self, dut: &Instance, seen: &mut Seen) {
        let lane = |port: PortHandle, hpu: u32| lane_of(dut.bytes(port), hpu as usize);
        let rvalid = dut.value(self.hpu.rvalid) as u32;
        for hpu in bits(rvalid) {
            if let Some(open) = seen.open[hpu as usize].pop_front() {
                let read = lane(self.hpu.rdata, hpu);
                let Open {
                    asked,
                    granted,
                    address,
                    written,
                } = open;
                let what = What::Access {
                    hpu,
                    asked,
                    granted,
                    address,
                    written,
                    read,
                };
                seen.note(seen.recording.accesses, what);
            }
        }
        let req = dut.value(self.hpu.req) as u32;
        let gnt = dut.value(self.hpu.gnt) as u32;
        let we = dut.value(self.hpu.we) as u32;
        for hpu in bits(req) {
            let asked = *seen.asked[hpu as usize].get_or_insert(seen.now);
            let address = lane(self.hpu.addr, hpu);
            if DRIVER.contains(&address) {
                seen.ready |= 1 << hpu;
            }
            if gnt >> hpu & 1 == 0 {
                continue;
            }
            seen.asked[hpu as usize] = None;
            let is_write = we >> hpu & 1 != 0;
            if is_write && STDOUT.contains(&address) {
                seen.printed += 1;
            }
            let mask = (dut.value(self.hpu.be) >> (4 * hpu) & 15) as u8;
            let written = is_write.then(|| (lane(self.hpu.wdata, hpu), mask));
            let granted = seen.now;
            seen.open[hpu as usize].push_back(Open {
                asked,
                granted,
                address,
                written,
            });
        }
    }

    fn sample_instructions(&self, dut: &Instance, seen: &mut Seen) {
        if !seen.recording.instructions {
            return;
        }
        let decoded = (dut.value(self.hpu.decoded) & dut.value(self.hpu.decoding)) as u32;
        for hpu in bits(decoded) {
            let pc = lane_of(dut.bytes(self.hpu.pc), hpu as usize);
            seen.note(true, What::Instruction { hpu, pc });
        }
    }
}

/// Positions of the ones of a word.
fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
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
            let recording = seen.recording;
            *seen = Seen {
                recording,
                ..Seen::default()
            };
            return Ok(());
        }
        seen.now += 1;
        seen.quiet += 1;
        self.sample_packets(dut, &mut seen);
        self.sample_tasks(dut, &mut seen);
        self.sample_accesses(dut, &mut seen);
        self.sample_instructions(dut, &mut seen);
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
