//! What is handed over one by one: HERs, feedback, commands to the NIC, standard output.

use super::{Handshake, bit};
use spinneret_cluster::task::{Code, CommandId, Her, Meta, NicCommand, SCRATCHPADS};
use spinneret_cluster::{Cluster, REFUSED_LENGTH};
use spinneret_regmap::MAX_FRAME;
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// The ports of a HER.
#[derive(Debug)]
struct HerPorts {
    message: PortHandle,
    is_last: PortHandle,
    /// Address, size, size of the copy.
    packet: [PortHandle; 3],
    /// Addresses and sizes of handler memory, host memory, header, payload and completion handler.
    meta: [[PortHandle; 2]; 5],
    scratchpads: [[PortHandle; 2]; SCRATCHPADS],
}

/// All of these ports.
#[derive(Debug)]
pub(super) struct Handshakes {
    her: Handshake,
    her_ports: HerPorts,
    /// Message of the HER that was offered and not taken.
    waits: Option<u32>,
    feedback: Handshake,
    /// Address, size, message.
    feedback_ports: [PortHandle; 3],
    send: Handshake,
    /// Id, node, flow, source, length, user's word.
    send_ports: [PortHandle; 6],
    numbers: Numbers,
    sent: PortHandle,
    sent_id: PortHandle,
    character_taken: PortHandle,
    character: PortHandle,
    character_valid: PortHandle,
}

impl HerPorts {
    fn find(dut: &Instance) -> Result<Self, ModelError> {
        let port = |name: &str| dut.port(&format!("her_{name}"), Direction::Output);
        let range = |name: &str| -> Result<[PortHandle; 2], ModelError> {
            Ok([
                port(&format!("meta_{name}_addr"))?,
                port(&format!("meta_{name}_size"))?,
            ])
        };
        Ok(Self {
            message: port("msgid")?,
            is_last: port("is_eom")?,
            packet: [port("addr")?, port("size")?, port("xfer_size")?],
            meta: [
                range("handler_mem")?,
                range("host_mem")?,
                range("hh")?,
                range("ph")?,
                range("th")?,
            ],
            scratchpads: [
                range("scratchpad_0")?,
                range("scratchpad_1")?,
                range("scratchpad_2")?,
                range("scratchpad_3")?,
            ],
        })
    }

    fn read(&self, dut: &Instance) -> Her {
        let word = |port| dut.value(port) as u32;
        let [address, size, copied] = self.packet.map(word);
        let [handler, host, header, payload, tail] = self.meta;
        let code = |[address, size]: [PortHandle; 2]| Code {
            address: word(address),
            size: word(size),
        };
        Her {
            message: word(self.message),
            is_last: dut.is_high(self.is_last),
            address,
            size,
            copied,
            meta: Meta {
                handler_memory: handler.map(word),
                host_memory: (dut.value(host[0]) as u64, word(host[1])),
                header: code(header),
                payload: code(payload),
                tail: code(tail),
                scratchpads: self.scratchpads.map(|range| range.map(word)),
            },
        }
    }
}

/// Numbers that the ports have for commands: 6 bits.
const NUMBERS: usize = 64;

/// The numbers of the commands that are under way. PsPIN's are {cluster, core, command} of 1, 3 and 2 bits; the application
/// only gives them back, so any that is free will do, and there may be more than two clusters.
#[derive(Debug)]
struct Numbers {
    commands: [Option<CommandId>; NUMBERS],
    /// The number that is offered with the next command.
    offered: Option<usize>,
}

impl Numbers {
    /// The number for the next command; it stays until that is taken.
    fn offer(&mut self) -> Option<usize> {
        if self.offered.is_none() {
            self.offered = self.commands.iter().position(Option::is_none);
        }
        self.offered
    }

    fn take(&mut self, id: CommandId) {
        if let Some(number) = self.offered.take() {
            self.commands[number] = Some(id);
        }
    }

    fn done(&mut self, number: usize) -> Option<CommandId> {
        self.commands.get_mut(number)?.take()
    }

    fn clear(&mut self) {
        self.commands = [None; NUMBERS];
        self.offered = None;
    }
}

impl Handshakes {
    pub(super) fn new(dut: &Instance) -> Result<Self, ModelError> {
        let input = |name: &str| dut.port(name, Direction::Input);
        Ok(Self {
            her: Handshake::from_design(dut, "her")?,
            her_ports: HerPorts::find(dut)?,
            waits: None,
            feedback: Handshake::from_model(dut, "feedback")?,
            feedback_ports: [
                input("feedback_her_addr")?,
                input("feedback_her_size")?,
                input("feedback_msgid")?,
            ],
            send: Handshake::from_model(dut, "nic_cmd_req")?,
            send_ports: [
                input("nic_cmd_req_id")?,
                input("nic_cmd_req_nid")?,
                input("nic_cmd_req_fid")?,
                input("nic_cmd_req_src_addr")?,
                input("nic_cmd_req_length")?,
                input("nic_cmd_req_user_ptr")?,
            ],
            numbers: Numbers {
                commands: [None; NUMBERS],
                offered: None,
            },
            sent: bit(dut, "nic_cmd_resp_valid", Direction::Output)?,
            sent_id: dut.port("nic_cmd_resp_id", Direction::Output)?,
            character_taken: bit(dut, "stdout_rd_en", Direction::Output)?,
            character: input("stdout_dout")?,
            character_valid: bit(dut, "stdout_data_valid", Direction::Input)?,
        })
    }

    pub(super) fn reset(&mut self) {
        self.numbers.clear();
        self.waits = None;
    }

    pub(super) fn drive(&mut self, dut: &mut Instance, cluster: &Cluster, held: bool) {
        // Outputs may not be read here, so a HER that comes while a queue is full is looked at first.
        let takes = self
            .waits
            .map_or_else(|| cluster.takes_hers(), |message| cluster.takes_her_of(message));
        dut.set_high(self.her.ready, !held && takes);
        let feedback = cluster.feedback().filter(|_| !held);
        dut.set_high(self.feedback.valid, feedback.is_some());
        if let Some(feedback) = feedback {
            let values = [feedback.address, feedback.size, feedback.queue];
            for (port, value) in self.feedback_ports.into_iter().zip(values) {
                dut.set_value(port, value.into());
            }
        }
        let command = cluster.send().filter(|_| !held);
        let command = command.and_then(|command| Some((command, self.numbers.offer()?)));
        dut.set_high(self.send.valid, command.is_some());
        if let Some((command, number)) = command {
            let values = [
                number as u128,
                command.nid.into(),
                command.fid.into(),
                command.source.into(),
                command.length.into(),
                command.user.into(),
            ];
            for (port, value) in self.send_ports.into_iter().zip(values) {
                dut.set_value(port, value);
            }
        }
        let character = cluster.stdout().filter(|_| !held);
        dut.set_high(self.character_valid, character.is_some());
        dut.set_value(self.character, character.unwrap_or(0).into());
    }

    pub(super) fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) {
        self.waits = None;
        if self.her.moves(dut) {
            cluster.push(self.her_ports.read(dut));
        } else if dut.is_high(self.her.valid) {
            self.waits = Some(self.her_ports.read(dut).message);
        }
        if self.feedback.moves(dut) {
            cluster.take_feedback();
        }
        if self.send.moves(dut)
            && let Some(NicCommand { id, length, .. }) = cluster.take_send()
        {
            self.numbers.take(id);
            // The hardware refuses it, and tells nobody which command it was.
            if !(1..=MAX_FRAME).contains(&length) {
                cluster.refuse(id, REFUSED_LENGTH, length);
            }
        }
        if dut.is_high(self.sent)
            && let Some(id) = self.numbers.done(dut.value(self.sent_id) as usize)
        {
            cluster.complete(id);
        }
        if dut.is_high(self.character_taken) && dut.is_high(self.character_valid) {
            cluster.take_stdout();
        }
    }
}
