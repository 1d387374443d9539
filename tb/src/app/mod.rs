//! The application block: bus models of everything that Corundum has around it, software, and a reference model.
//!
//! ```text
//!               s_axil_app_ctrl <-- the host: driver
//!  wire: packets --> s_axis_if_rx_n    m_axis_if_rx_n --> the host, compared
//!  compared, wire <-- m_axis_if_tx_n   s_axis_if_tx_n <-- frames of the host
//!  completions of all frames --> s_axis_if_tx_cpl_n    m_axis_if_tx_cpl_n --> compared
//!  host memory, compared <--> Corundum's DMA <--> descriptors, RAM
//!  sums, compared <-- m_axis_stat
//! ```
//!
//! The cluster is the stand-in, in a clock of its own: it sends a packet back, copies it to host memory, reads from there
//! and prints, as the address of the packet handler says.

mod bench;
mod config;
mod driver;
mod measure;
mod model;
mod packets;
mod rest;
mod session;
mod work;

pub use bench::{AppBench, CLUSTER, CORE};
pub use config::{Actions, Behaviour, Clocks, Context, READ_BYTES, READ_OFFSET};
pub use driver::{NO_WORD, offset_of};
pub use measure::{Crossing, Flow, measure_latency, measure_rate};
pub use model::{Completion, Counts, INTERFACES, Reference};
pub use packets::{
    CONTEXTS, context, from_host, from_wire, is_host_tag, marked_bad, matched, message_id, random_size, rule,
    tag, unmatched,
};
pub use rest::Account;
pub use session::{Session, Totals, run_round};
pub use work::{Work, measure_work, prepare_work};
