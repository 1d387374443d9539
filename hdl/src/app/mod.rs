//! The application: what Corundum and PsPIN are joined by.
//!
//! ```text
//!  mqnic_app_block (text from a table, corundum/)
//!  +------------------------------------------------------------------------------+
//!  |  SpinneretApp, core's clock                  | cluster's clock               |
//!  |  BAR --> SpinneretBar --> PspinCtrlRegs      |                               |
//!  |               +-------------------------- ClusterLink --> host_slave         |
//!  |  if_rx 0 --> PspinIngressDatapath ---------- ClusterLink --> ni_slave, her   |
//!  |  if_tx 0 <-- PspinTxInject <- PspinEgress... ClusterLink <-> no_slave, cmd   |   pspin_wrap, or
//!  |  DMA <----- SpinneretPsdpram, PspinHostmemDma ClusterLink <- host_master     |   the stand-in
//!  |  stat <---- StatisticsReporter               |                               |
//!  |  irq <----- SpinneretEvents <- EventLines    |                               |
//!  +------------------------------------------------------------------------------+
//! ```

mod block;
pub mod corundum;
mod entry;
mod lines;
mod link;
mod shape;
mod sources;
mod statistics;
pub mod stub;

pub use block::SpinneretApp;
pub(crate) use entry::{ENTRY, REPORTER_ENTRY, SIMULATED};
pub use lines::EventLines;
pub use link::{ClusterLink, STDOUT_BITS};
pub use shape::{AppParameters, AppShape};
pub use sources::{
    APP_INSTANCE, AppError, AppOptions, AppSources, Cluster, SourceFile, TOP, design, sources,
};
pub use statistics::{ID_BITS, INCREMENT_BITS, StatisticsOut, StatisticsReporter};
