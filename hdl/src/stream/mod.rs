//! Stream primitives: what every datapath block is composed of.

mod axis;
mod fifo;
mod frame_demux;
mod limits;
mod ports;

pub use axis::{AxisIn, AxisOut, AxisPack, AxisShape, AxisUnpack};
pub use fifo::{Fifo, FifoConfig, FifoOutput};
pub use frame_demux::FrameDemux;
pub use ports::{FrameIn, FrameOut, StreamIn, StreamOut};
