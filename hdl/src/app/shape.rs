//! Parameters of the application, and those of its parts that follow.

use super::entry::{NAME, parameters};
use crate::axi::AxiShape;
use crate::bar::{self, BarShape};
use crate::egress::{self, EgressShape, tx_inject};
use crate::entry::{Checked, Config, Entry, ParameterError, Parameters as _, Values};
use crate::hostdma::{self, HostDmaShape, psdpram};
use crate::ingress::datapath::{self, DatapathShape};
use crate::regs::{self, RegsShape};

/// Width of an AXI id at the cluster in bits.
const CLUSTER_ID_BITS: u64 = 6;

/// Widths of tid and tdest of frames to the wire. Boards set them by their numbers of queues and ports, so there is room
/// for the largest; what a board does not use costs nothing behind synthesis.
const TX_ID: (&str, u64) = ("id_width", 16);
const TX_DEST: (&str, u64) = ("dest_width", 8);

/// The address of a byte in a RAM of 16 KiB, as large as the rings of the host DMA are.
const RAM_ADDRESS: (&str, u64) = ("ram_addr_width", 14);

/// Parameters of the application, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppShape {
    /// The ingress path.
    pub ingress: DatapathShape,
    /// The egress path.
    pub egress: EgressShape,
    /// Where our frames join those of the host.
    pub inject: tx_inject::TxInjectShape,
    /// The host DMA.
    pub host: HostDmaShape,
    /// Each of its two RAMs.
    pub ram: psdpram::PsdpramShape,
    /// The decoder of the BAR.
    pub bar: BarShape,
    /// PsPIN's clusters.
    pub clusters: usize,
    /// Its message processing queues.
    pub queues: usize,
    /// Places of a FIFO to the cluster's clock that carries beats of bursts, a power of two.
    pub burst_places: usize,
    /// Places of the other FIFOs to the cluster's clock, a power of two.
    pub word_places: usize,
    /// Number of the first statistic.
    pub first_statistic: u64,
}

impl AppShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Board), values)?;
        let get = |name: &str| checked.get(name) as usize;
        for name in ["burst_places", "word_places"] {
            if !get(name).is_power_of_two() {
                return Err(checked.refuse(name, "it is a power of two".into()));
            }
        }
        Ok(Self {
            ingress: DatapathShape::new(&board(
                &datapath::ENTRY,
                &[
                    ("axi_id_width", CLUSTER_ID_BITS),
                    ("id_width", 8),
                    ("dest_width", 16),
                ],
            ))?,
            egress: EgressShape::new(&board(
                &egress::ENTRY,
                &[("axi_id_width", CLUSTER_ID_BITS), TX_ID, TX_DEST],
            ))?,
            inject: tx_inject::TxInjectShape::new(&board(&tx_inject::ENTRY, &[TX_ID, TX_DEST]))?,
            host: HostDmaShape::of(
                hostdma::ENTRY.name,
                &board(&hostdma::ENTRY, &[("id_width", CLUSTER_ID_BITS), RAM_ADDRESS]),
            )?,
            ram: psdpram::PsdpramShape::new(&board(&psdpram::ENTRY, &[RAM_ADDRESS]))?,
            bar: BarShape::new(&board(
                &bar::ENTRY,
                &[
                    ("id_width", CLUSTER_ID_BITS),
                    ("timeout_cycles", checked.get("bar_timeout")),
                ],
            ))?,
            clusters: get("clusters"),
            queues: get("queues"),
            burst_places: get("burst_places"),
            word_places: get("word_places"),
            first_statistic: checked.get("first_statistic"),
        })
    }

    /// The control registers, which tell software what was generated.
    ///
    /// # Errors
    /// If a parameter is not possible.
    pub fn registers(self, values: &Values) -> Result<RegsShape, ParameterError> {
        let get = |name: &str| values.get(name).copied().unwrap_or(0);
        let slots = self.ingress.slots;
        let matcher = self.ingress.matcher;
        let ingress = datapath::ENTRY.values(Config::Board);
        let of_ingress = |name: &str| ingress.get(name).copied().unwrap_or(0);
        let features = [
            matcher.ip_relative,
            self.host.guard,
            self.host.atomics,
            self.host.drain,
            self.ingress.her.context_in_message_id,
            get("stub") == 1,
        ];
        let features = features
            .iter()
            .rev()
            .fold(0, |mask, on| mask << 1 | u64::from(*on));
        RegsShape::new(&board(
            &regs::ENTRY,
            &[
                ("num_clusters", self.clusters as u64),
                ("num_mpq", self.queues as u64),
                ("caps_features", features),
                ("caps_data_width", matcher.axis.data as u64),
                ("caps_mtu", of_ingress("mtu")),
                ("caps_inspected_bytes", of_ingress("inspected_bytes")),
                ("caps_buffer_base", of_ingress("buffer_base")),
                ("caps_buffer_size", of_ingress("buffer_size")),
                ("caps_large_slots", slots.large.count as u64),
                ("caps_large_slot_size", slots.large.size),
                ("caps_small_slots", slots.small.count as u64),
                ("caps_small_slot_size", slots.small.size),
                ("caps_message_id_width", self.ingress.her.message_id as u64),
                ("caps_host_tags", self.host.writes as u64),
                ("caps_core_clock_khz", get("core_clock_khz")),
                ("caps_cluster_clock_khz", get("cluster_clock_khz")),
            ],
        ))
    }

    /// The cluster's slave ports.
    pub fn cluster_axi(self) -> AxiShape {
        self.egress.axi()
    }

    /// The cluster's port to host memory.
    pub fn host_axi(self) -> AxiShape {
        self.host.axi()
    }

    /// Width of a packed context.
    pub fn context_width(self) -> usize {
        self.ingress.her.context_width()
    }

    /// Width of a HER: {context, bytes to copy, size, address, last of its message, message id}.
    pub fn her_width(self) -> usize {
        let her = self.ingress.her;
        her.message_id + 1 + 3 * her.address + self.context_width()
    }

    /// Width of a packet that is done with: {message id, size, address}.
    pub fn free_width(self) -> usize {
        let her = self.ingress.her;
        her.message_id + 2 * her.address
    }

    /// Width of a command: {user pointer, length, source, fid, nid, id}.
    pub fn command_width(self) -> usize {
        let egress = self.egress;
        64 + egress.address + egress.source + 32 + 32 + egress.command_id()
    }

    /// Places for responses: one for every id a command can have.
    pub fn response_places(self) -> usize {
        1 << self.egress.command_id()
    }
}

/// Values of the board's configuration, some of them replaced.
fn board(entry: &Entry, settings: &[(&str, u64)]) -> Values {
    let mut values = entry.values(Config::Board);
    values.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    values
}
