//! The cluster model at the ports of the application, in the cluster's clock.
//!
//! ```text
//!            application                     ClusterSide                     Cluster
//!  ni_slave, no_slave, host_slave ====> SlavePort (three of them) ====> memory
//!  host_master <======================= MasterPort <=================== accesses to host memory
//!  her ================================> Handshakes ===================> push
//!  feedback, nic_cmd, stdout <========== Handshakes <=================== feedback, send, stdout
//! ```
//!
//! In each cycle of its clock the model takes what the application offers and advances by one clock. The application sees the
//! result in the next cycle.

mod axi;

use axi::{MasterPort, SlavePort};
use spinneret_cluster::task::{Code, CommandId, Her, Meta, NicCommand};
use spinneret_cluster::{Cluster, REFUSED_LENGTH};
use spinneret_regmap::MAX_FRAME;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// The cluster model, attached to the application's ports.
#[derive(Debug)]
pub(crate) struct ClusterSide {
    pub(crate) cluster: Cluster,
    slaves: [SlavePort; 3],
    master: MasterPort,
    handshakes: Handshakes,
    reset_n: PortHandle,
    fetch: PortHandle,
    busy: PortHandle,
    full: PortHandle,
    in_reset: bool,
}

impl ClusterSide {
    /// Finds the ports.
    ///
    /// # Errors
    /// If one is missing.
    pub(crate) fn new(dut: &Instance, cluster: Cluster) -> Result<Self, ModelError> {
        let slave = |prefix| SlavePort::new(dut, prefix);
        Ok(Self {
            slaves: [slave("ni_slave")?, slave("no_slave")?, slave("host_slave")?],
            master: MasterPort::new(dut, "host_master")?,
            handshakes: Handshakes::new(dut)?,
            reset_n: bit(dut, "cluster_rstn", Direction::Output)?,
            fetch: dut.port("cl_fetch_en", Direction::Output)?,
            busy: dut.port("cl_busy", Direction::Input)?,
            full: dut.port("mpq_full", Direction::Input)?,
            in_reset: true,
            cluster,
        })
    }

    /// Whether no burst is under way between the application and the cluster.
    pub(crate) fn is_idle(&self) -> bool {
        self.slaves.iter().all(SlavePort::is_idle) && self.master.is_idle()
    }

    fn enter_reset(&mut self) {
        self.in_reset = true;
        self.cluster.reset();
        self.slaves.iter_mut().for_each(SlavePort::reset);
        self.master.reset();
        self.handshakes.reset();
    }
}

/// Fetch enables of all clusters: the application has flags for two; further clusters follow the second one.
fn fetch_enables(fetch: u32, clusters: usize) -> u32 {
    let bit = |cluster: usize| (fetch >> cluster.min(1) & 1) << cluster;
    (0..clusters).map(bit).sum()
}

impl Agent for ClusterSide {
    fn drive(&mut self, dut: &mut Instance) {
        let cluster = &self.cluster;
        for slave in &mut self.slaves {
            slave.drive(dut, self.in_reset);
        }
        self.master.drive(dut, self.in_reset);
        self.handshakes.drive(dut, cluster, self.in_reset);
        let flags = self.busy.width();
        let busy = (0..cluster.config().clusters)
            .filter(|number| cluster.is_busy(*number))
            .fold(0, |busy, number| busy | 1 << number.min(flags - 1));
        dut.set_value(self.busy, busy);
        let full = (0..self.full.width()).map(|queue| u128::from(cluster.is_full(queue)) << queue);
        dut.set_value(self.full, full.sum());
    }

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        if !dut.is_high(self.reset_n) {
            if !self.in_reset {
                self.enter_reset();
            }
            return Ok(());
        }
        let cluster = &mut self.cluster;
        if !self.in_reset {
            for slave in &mut self.slaves {
                slave.sample(dut, cluster);
            }
            self.master.sample(dut, cluster)?;
            self.handshakes.sample(dut, cluster);
        }
        self.in_reset = false;
        let fetch = fetch_enables(dut.value(self.fetch) as u32, cluster.config().clusters);
        cluster.set_fetch(fetch);
        cluster.tick();
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.enter_reset();
        self.drive(dut);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.is_idle()).then(|| "bursts between the application and the cluster".to_owned())
    }

    fn describe(&self) -> String {
        let state = if self.is_idle() { "idle" } else { "in a burst" };
        format!("the cluster is {state}")
    }
}

/// A port of one bit.
///
/// # Errors
/// If there is none of that name, direction and width.
fn bit(dut: &Instance, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, direction)?;
    match port.width() {
        1 => Ok(port),
        width => Err(ModelError::UnfitPort {
            model: dut.name(),
            port: name.to_owned(),
            reason: format!("is {width} bits wide, not 1"),
        }),
    }
}

/// A channel with valid, ready and payload fields of up to 128 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel<const N: usize> {
    valid: PortHandle,
    ready: PortHandle,
    fields: [PortHandle; N],
}

impl<const N: usize> Channel<N> {
    /// A channel on which the design is the source.
    fn from_design(dut: &Instance, prefix: &str, fields: [&str; N]) -> Result<Self, ModelError> {
        Self::find(dut, prefix, fields, [Direction::Output, Direction::Input])
    }

    /// A channel on which the model is the source.
    fn from_model(dut: &Instance, prefix: &str, fields: [&str; N]) -> Result<Self, ModelError> {
        Self::find(dut, prefix, fields, [Direction::Input, Direction::Output])
    }

    /// A channel with valid and payload in the first direction, and ready in the second one.
    ///
    /// # Errors
    /// If a port is missing.
    pub(crate) fn find(
        dut: &Instance,
        prefix: &str,
        names: [&str; N],
        [forward, backward]: [Direction; 2],
    ) -> Result<Self, ModelError> {
        let valid = bit(dut, &format!("{prefix}_valid"), forward)?;
        let mut fields = [valid; N];
        for (field, name) in fields.iter_mut().zip(names) {
            *field = dut.port(&format!("{prefix}_{name}"), forward)?;
        }
        Ok(Self {
            valid,
            ready: bit(dut, &format!("{prefix}_ready"), backward)?,
            fields,
        })
    }

    /// Whether a transfer happens in this cycle.
    pub(crate) fn fires(self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }

    /// The payload that the design offers.
    pub(crate) fn values(self, dut: &Instance) -> [u128; N] {
        self.fields.map(|field| dut.value(field))
    }

    /// Offers a payload to the design, or nothing.
    fn offer(self, dut: &mut Instance, payload: Option<[u128; N]>) {
        dut.set_high(self.valid, payload.is_some());
        for (field, value) in self.fields.into_iter().zip(payload.into_iter().flatten()) {
            dut.set_value(field, value);
        }
    }
}

/// Fields of a HER: the packet, then address and size of each range, as [`her`] reads them.
pub(crate) const HER_FIELDS: [&str; 23] = [
    "msgid",
    "is_eom",
    "addr",
    "size",
    "xfer_size",
    "meta_handler_mem_addr",
    "meta_handler_mem_size",
    "meta_host_mem_addr",
    "meta_host_mem_size",
    "meta_hh_addr",
    "meta_hh_size",
    "meta_ph_addr",
    "meta_ph_size",
    "meta_th_addr",
    "meta_th_size",
    "meta_scratchpad_0_addr",
    "meta_scratchpad_0_size",
    "meta_scratchpad_1_addr",
    "meta_scratchpad_1_size",
    "meta_scratchpad_2_addr",
    "meta_scratchpad_2_size",
    "meta_scratchpad_3_addr",
    "meta_scratchpad_3_size",
];

/// A HER with the values of these fields.
pub(crate) fn her(values: [u128; HER_FIELDS.len()]) -> Her {
    let word = |at: usize| values[at] as u32;
    let range = |at: usize| [word(at), word(at + 1)];
    let code = |at: usize| Code {
        address: word(at),
        size: word(at + 1),
    };
    let mut her = Her {
        message: word(0),
        is_last: values[1] & 1 == 1,
        address: word(2),
        copied: word(4),
        meta: Meta {
            handler_memory: range(5),
            host_memory: (values[7] as u64, word(8)),
            header: code(9),
            payload: code(11),
            tail: code(13),
            scratchpads: std::array::from_fn(|number| range(15 + 2 * number)),
            ..Meta::default()
        },
        ..Her::default()
    };
    her.set_size_and_sum(word(3));
    her
}

/// Ids that the ports have for commands: 6 bits.
const IDS: usize = 64;

/// Ids of outstanding commands. PsPIN's are {cluster, core, command} of 1, 3 and 2 bits. The application only
/// returns them, so the model uses any free id, which also allows more than two clusters.
#[derive(Debug)]
struct CommandIds {
    commands: [Option<CommandId>; IDS],
    /// The id that is offered with the next command.
    offered: Option<usize>,
}

impl CommandIds {
    const NONE: Self = Self {
        commands: [None; IDS],
        offered: None,
    };

    /// The id for the next command; it stays the same until the application accepts the command.
    fn offer(&mut self) -> Option<usize> {
        if self.offered.is_none() {
            self.offered = self.commands.iter().position(Option::is_none);
        }
        self.offered
    }

    fn accept(&mut self, command: CommandId) {
        if let Some(id) = self.offered.take() {
            self.commands[id] = Some(command);
        }
    }

    fn complete(&mut self, id: usize) -> Option<CommandId> {
        self.commands.get_mut(id)?.take()
    }
}

/// The ports with single transfers: HERs, feedback, commands to the NIC, standard output.
#[derive(Debug)]
struct Handshakes {
    her: Channel<{ HER_FIELDS.len() }>,
    /// Message of a HER that the application offers and the cluster has not accepted.
    waiting: Option<u32>,
    feedback: Channel<3>,
    command: Channel<6>,
    ids: CommandIds,
    /// Valid and id of a response to a command.
    response: [PortHandle; 2],
    /// Read enable, valid and data of standard output.
    stdout: [PortHandle; 3],
}

impl Handshakes {
    fn new(dut: &Instance) -> Result<Self, ModelError> {
        let command = ["id", "nid", "fid", "src_addr", "length", "user_ptr"];
        Ok(Self {
            her: Channel::from_design(dut, "her", HER_FIELDS)?,
            waiting: None,
            feedback: Channel::from_model(dut, "feedback", ["her_addr", "her_size", "msgid"])?,
            command: Channel::from_model(dut, "nic_cmd_req", command)?,
            ids: CommandIds::NONE,
            response: [
                bit(dut, "nic_cmd_resp_valid", Direction::Output)?,
                dut.port("nic_cmd_resp_id", Direction::Output)?,
            ],
            stdout: [
                bit(dut, "stdout_rd_en", Direction::Output)?,
                bit(dut, "stdout_data_valid", Direction::Input)?,
                dut.port("stdout_dout", Direction::Input)?,
            ],
        })
    }

    fn reset(&mut self) {
        self.ids = CommandIds::NONE;
        self.waiting = None;
    }

    fn drive(&mut self, dut: &mut Instance, cluster: &Cluster, in_reset: bool) {
        // Outputs may not be read here, so a HER that finds a full queue waits for one cycle.
        let accepts = self.waiting.map_or_else(
            || cluster.can_accept_hers(),
            |message| cluster.can_accept_her_of(message),
        );
        dut.set_high(self.her.ready, !in_reset && accepts);
        let feedback = cluster.feedback().filter(|_| !in_reset);
        let feedback = feedback.map(|feedback| [feedback.address, feedback.size, feedback.queue]);
        self.feedback
            .offer(dut, feedback.map(|fields| fields.map(u128::from)));
        let command = cluster.send().filter(|_| !in_reset);
        let command = command.and_then(|command| Some((command, self.ids.offer()?)));
        let fields = command.map(|(command, id)| {
            [
                id as u128,
                command.nid.into(),
                command.fid.into(),
                command.source.into(),
                command.length.into(),
                command.user.into(),
            ]
        });
        self.command.offer(dut, fields);
        let character = cluster.stdout().filter(|_| !in_reset);
        let [_, valid, data] = self.stdout;
        dut.set_high(valid, character.is_some());
        dut.set_value(data, character.unwrap_or(0).into());
    }

    fn sample(&mut self, dut: &Instance, cluster: &mut Cluster) {
        self.waiting = None;
        if self.her.fires(dut) {
            cluster.push(her(self.her.values(dut)));
        } else if dut.is_high(self.her.valid) {
            self.waiting = Some(her(self.her.values(dut)).message);
        }
        if self.feedback.fires(dut) {
            cluster.take_feedback();
        }
        if self.command.fires(dut)
            && let Some(NicCommand { id, length, .. }) = cluster.take_send()
        {
            self.ids.accept(id);
            // The hardware refuses the command without telling its id.
            if !(1..=MAX_FRAME).contains(&length) {
                cluster.refuse(id, REFUSED_LENGTH, length);
            }
        }
        let [valid, id] = self.response;
        if dut.is_high(valid)
            && let Some(command) = self.ids.complete(dut.value(id) as usize)
        {
            cluster.complete(command);
        }
        let [read, valid, _] = self.stdout;
        if dut.is_high(read) && dut.is_high(valid) {
            cluster.take_stdout();
        }
    }
}
