//! Stream primitives: what every datapath block is composed of.

pub(crate) mod entries;
mod fifo;
mod fifo_config;
mod frame_arbiter;
mod frame_demux;
mod frame_fifo;
mod output_queue;
mod pass_fifo;
mod ports;
pub(crate) mod rate_limiter;
mod ready_slice;
mod skid_buffer;

pub use fifo::Fifo;
pub use fifo_config::FifoConfig;
pub use frame_arbiter::FrameArbiter;
pub use frame_demux::FrameDemux;
pub use frame_fifo::FrameFifo;
pub use output_queue::OutputQueue;
pub use pass_fifo::PassFifo;
pub use ports::{
    AxisFields, AxisIn, AxisOut, AxisPack, AxisShape, AxisUnpack, FrameIn, FrameInHandles, FrameOut,
    FrameOutHandles, PacketSideIn, PacketSideOut, SideFields, StreamIn, StreamInHandles, StreamOut,
};
pub use rate_limiter::{RateLimiterShape, SpinneretRateLimiter};
pub use ready_slice::{ReadySlice, ReadySliceHandles};
pub use skid_buffer::SkidBuffer;
