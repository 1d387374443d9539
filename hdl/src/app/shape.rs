//! Parameters of the application, and those of its parts that follow.

use super::ReporterShape;
use crate::axi::{AxiExtras, AxiShape, UpsizerShape, UserWidths};
use crate::bar::{self, BarShape};
use crate::egress::{self, EgressShape, tx_inject};
use crate::entry::{Checked, Config, ParameterError, Parameters as _, Values};
use crate::events::{self, EventsShape};
use crate::hostdma::{self, HostDmaShape, psdpram};
use crate::ingress::datapath::{self, DatapathShape};
use crate::regs::{self, RegsShape};
use spinneret_regmap::message_id::QUEUE_BITS;
use spinneret_regmap::{COUNTER_WORDS, ingress};
use spinneret_verilog::prelude::*;

/// Width of all user signals of the cluster's AXI ports in bits.
const USER_BITS: usize = 4;
/// Width of a beat at the cluster's AXI ports in bits.
const CLUSTER_DATA_BITS: usize = 512;
/// Frames of the cluster that are being read or wait for the wire, in bytes.
const BUFFER_BYTES: u64 = 32 << 10;
/// Width of an AXI id at the cluster in bits.
const CLUSTER_ID_BITS: u64 = 6;

/// Widths of tid and tdest of frames to the wire. Boards set them by their numbers of queues and ports, so there is room
/// for the largest; what a board does not use costs nothing after synthesis.
const TX_ID: (&str, u64) = ("id_width", 16);
const TX_DEST: (&str, u64) = ("dest_width", 8);

/// The address of a byte in a RAM of 16 KiB, as large as the rings of the host DMA are.
const RAM_ADDRESS: (&str, u64) = ("ram_addr_width", 14);

/// Parameters of the application, which are the same in all configurations.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_app", check)]
pub struct AppParameters {
    /// Width of a beat of frames in bits, which is that of Corundum's interfaces: 512 at 100 Gb/s, 128 at 25, 64 at 10.
    #[parameter(512, range = 64..=512, power_of_two)]
    pub data_width: usize,
    /// Clusters of PsPIN.
    #[parameter(2, range = 1..=8, verilog = "N_CLUSTERS")]
    pub clusters: usize,
    /// Message processing queues of PsPIN.
    #[parameter(16, range = 1..=16, verilog = "N_MPQ")]
    pub queues: usize,
    /// Places of a FIFO to the cluster's clock, a power of two.
    // Of a FIFO that carries beats of bursts.
    #[parameter(16, range = 4..=512, power_of_two)]
    pub burst_places: usize,
    /// Places of a FIFO to the cluster's clock, a power of two.
    // Of all other FIFOs.
    #[parameter(8, range = 4..=512, power_of_two)]
    pub word_places: usize,
    /// Number of our first statistic in Corundum's.
    #[parameter(2048, range = 0..=3072)]
    pub first_statistic: u64,
    /// Frequency of the core's clock.
    #[parameter(250_000, range = 1..=1_000_000)]
    pub core_clock_khz: u64,
    /// Frequency of the cluster's clock.
    #[parameter(40_000, range = 1..=1_000_000)]
    pub cluster_clock_khz: u64,
    /// Clocks after which an access to a silent cluster is answered.
    #[parameter(65_536, range = 16..=1 << 30)]
    pub bar_timeout: u64,
    /// 1: HERs have the sum of the packet's IP payload, for spinneret's own clusters; never with the stand-in.
    #[parameter(1)]
    pub payload_sum: bool,
    /// 1: the cluster is the stand-in, as software can read.
    #[parameter(0)]
    pub stub: bool,
}

impl AppParameters {
    /// HERs of boards have their context in the message id, within the bits that choose one of this number of queues.
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        match self.queues {
            queues if queues < 1 << QUEUE_BITS => Err(checked.refuse(
                "queues",
                "it must be at least 16: with fewer, contexts share a queue".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// The application's parameters and those of its parts, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppShape {
    /// Its own.
    pub own: AppParameters,
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
    /// The events.
    pub events: EventsShape,
}

impl AppShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        const AXI_ID: (&str, u64) = ("axi_id_width", CLUSTER_ID_BITS);
        const ID: (&str, u64) = ("id_width", CLUSTER_ID_BITS);
        let own = AppParameters::new(values)?;
        let data = ("data_width", own.data_width as u64);
        let sum = ("payload_sum", u64::from(own.payload_sum && !own.stub));
        let ingress = [AXI_ID, data, ("id_width", 8), ("dest_width", 16), sum];
        let ingress = DatapathShape::new(&datapath::ENTRY.with(Config::Board, &ingress))?;
        let (received, slots) = (ingress.matcher.axis(), ingress.slots);
        let egress = [
            AXI_ID,
            data,
            ("buffer_beats", BUFFER_BYTES * 8 / own.data_width as u64),
            TX_ID,
            TX_DEST,
            ("rx_id_width", received.id as u64),
            ("rx_dest_width", received.dest as u64),
            ("rx_user_width", received.user as u64),
            // A bit of the id tells clusters apart, even if there is one.
            ("clusters", own.clusters.max(2) as u64),
            ("buffer_base", slots.buffer_base),
            ("buffer_size", slots.buffer_size),
            ("slot_unit", slots.unit()),
        ];
        let bar = [ID, ("timeout_cycles", own.bar_timeout)];
        Ok(Self {
            own,
            ingress,
            egress: EgressShape::new(&egress::ENTRY.with(Config::Board, &egress))?,
            inject: tx_inject::TxInjectShape::new(
                &tx_inject::ENTRY.with(Config::Board, &[data, TX_ID, TX_DEST]),
            )?,
            host: HostDmaShape::of(
                hostdma::ENTRY.name,
                &hostdma::ENTRY.with(Config::Board, &[ID, RAM_ADDRESS]),
            )?,
            ram: psdpram::PsdpramShape::new(&psdpram::ENTRY.with(Config::Board, &[RAM_ADDRESS]))?,
            bar: BarShape::new(&bar::ENTRY.with(Config::Board, &bar))?,
            events: EventsShape::new(&events::ENTRY.with(Config::Board, &[]))?,
        })
    }

    /// The control registers, which tell software what was generated.
    ///
    /// # Errors
    /// If a parameter is not possible.
    pub fn registers(self) -> Result<RegsShape, ParameterError> {
        let (own, her) = (self.own, self.ingress.her);
        let (matcher, slots) = (self.ingress.matcher, self.ingress.slots);
        let features = [
            matcher.ip_relative,
            self.host.guard,
            self.host.atomics,
            self.host.drain,
            her.context_in_message_id,
            own.stub,
            true,
        ];
        let features = features
            .iter()
            .rev()
            .fold(0, |mask, on| mask << 1 | u64::from(*on));
        let values = [
            ("num_clusters", own.clusters as u64),
            ("num_mpq", own.queues as u64),
            ("caps_features", features),
            ("caps_data_width", matcher.data as u64),
            ("caps_mtu", matcher.mtu as u64),
            ("caps_inspected_bytes", matcher.inspected_bytes as u64),
            ("caps_buffer_base", slots.buffer_base),
            ("caps_buffer_size", slots.buffer_size),
            ("caps_large_slots", slots.large_slots),
            ("caps_large_slot_size", slots.large_slot_size),
            ("caps_small_slots", slots.small_slots),
            ("caps_small_slot_size", slots.small_slot_size),
            ("caps_message_id_width", her.message_id as u64),
            ("caps_host_tags", self.host.writes as u64),
            ("caps_core_clock_khz", own.core_clock_khz),
            ("caps_cluster_clock_khz", own.cluster_clock_khz),
        ];
        RegsShape::new(&regs::ENTRY.with(Config::Board, &values))
    }

    /// The statistics: the counters in the order of the register table.
    pub fn statistics(self) -> ReporterShape {
        ReporterShape {
            counters: COUNTER_WORDS,
            first_level: ingress::LEVELS.start as usize,
            levels: ingress::LEVELS.len(),
            first_statistic: self.own.first_statistic,
        }
    }

    /// The cluster's slave ports.
    pub fn cluster_axi(self) -> AxiShape {
        AxiShape {
            data: CLUSTER_DATA_BITS,
            ..self.egress.axi()
        }
    }

    /// Beats of frames are narrower than the cluster's.
    pub fn is_narrow(self) -> bool {
        self.own.data_width < CLUSTER_DATA_BITS
    }

    /// From the ports of the data paths to the cluster's.
    pub fn upsizer(self) -> UpsizerShape {
        UpsizerShape::between(self.egress.axi(), self.cluster_axi())
    }

    /// The same at the cluster, which has all signals.
    pub fn wrap_axi(self) -> AxiShape {
        self.cluster_axi().with(AxiExtras::all(USER_BITS))
    }

    /// The cluster's port to host memory, as far as the host DMA looks at it.
    pub fn host_axi(self) -> AxiShape {
        self.host.axi().with(AxiExtras {
            atop: true,
            user: UserWidths::addresses(USER_BITS),
            ..AxiExtras::NONE
        })
    }

    /// The same at the cluster, which has all signals.
    pub fn to_host_axi(self) -> AxiShape {
        self.host_axi().with(AxiExtras::all(USER_BITS))
    }
}
