//! Bundles of Corundum's ports.

use super::{ID_BITS, INCREMENT_BITS};
use crate::egress::tx_inject::TxInjectShape;
use crate::hostdma::psdpram::PsdpramShape;
use spinneret_verilog::prelude::*;

/// The segmented RAM as Corundum sees it: writes go to one half, reads come from the other.
#[interface(shape: PsdpramShape, count = shape.segments)]
pub struct CorundumRam {
    /// Bytes that are written, segments side by side.
    pub wr_cmd_be: Wire<In, { count * shape.segment_bytes() }>,
    /// Lines that are written.
    pub wr_cmd_addr: Wire<In, { count * shape.segment_address() }>,
    /// Data.
    pub wr_cmd_data: Wire<In, { count * shape.segment_data }>,
    /// Bit s: there is a command for segment s.
    pub wr_cmd_valid: Wire<In, { count }>,
    /// Bit s: segment s takes its command.
    pub wr_cmd_ready: Wire<Out, { count }>,
    /// Bit s: the oldest command of segment s is done.
    pub wr_done: Wire<Out, { count }>,
    /// Lines that are read.
    pub rd_cmd_addr: Wire<In, { count * shape.segment_address() }>,
    /// Bit s: there is a command for segment s.
    pub rd_cmd_valid: Wire<In, { count }>,
    /// Bit s: segment s takes its command.
    pub rd_cmd_ready: Wire<Out, { count }>,
    /// What was read.
    pub rd_resp_data: Wire<Out, { count * shape.segment_data }>,
    /// Bit s: the data of segment s is there.
    pub rd_resp_valid: Wire<Out, { count }>,
    /// Bit s: it is taken.
    pub rd_resp_ready: Wire<In, { count }>,
}

/// Transmit completions out of the block.
#[interface(CompletionIn, shape: TxInjectShape)]
pub struct CompletionOut {
    /// When the frame was sent.
    pub ts: Wire<Out, { shape.timestamp }>,
    /// Its tag.
    pub tag: Wire<Out, { shape.tag }>,
    /// The completion is there.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
}

/// Increments of statistics.
#[interface]
pub struct StatisticsOut {
    /// The increment.
    pub tdata: Wire<Out, { INCREMENT_BITS }>,
    /// The number of its statistic.
    pub tid: Wire<Out, { ID_BITS }>,
    /// The increment is there.
    pub tvalid: Wire<Out, bool>,
    /// It is taken.
    pub tready: Wire<In, bool>,
}
