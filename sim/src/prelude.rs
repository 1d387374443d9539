//! Everything that most benches and tests name: `use spinneret_sim::prelude::*;`.

pub use crate::agent::{Agent, Violation};
pub use crate::axi::{
    AnswerOrder, AxiMaster, AxiMonitor, AxiSlave, BeatResponder, Burst, BurstKind, Faults, Half, Latency,
    MasterConfig, MasterPauses, Memory, ReadDone, ReadRequest, Response, SharedMemory, Skew, SlaveBurst,
    SlaveConfig, WriteDone, WriteRequest,
};
pub use crate::axil::{
    LiteAccess, LiteMaster, LiteRead, LiteReadDone, LiteSlave, LiteSlaveConfig, LiteSlavePauses, LiteWrite,
    LiteWriteDone,
};
pub use crate::channel::{ChannelSink, ChannelSource, Item};
pub use crate::dma::{CorundumDma, DmaConfig, DmaFaults, HostMemory, RamConfig, RamShape};
pub use crate::model::{Direction, Instance, Model, PortHandle};
pub use crate::pause::Pause;
pub use crate::seed::Seed;
pub use crate::simulation::Simulation;
pub use crate::stream::{Frame, Received, StreamMonitor, StreamSink, StreamSource};
pub use crate::test_run::{TestRun, run_named, run_test};
pub use rand::{Rng, RngExt};
pub use rand_chacha::ChaCha8Rng;
