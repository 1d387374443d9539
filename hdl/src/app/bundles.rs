//! Bundles of Corundum's ports.

use super::{ID_BITS, INCREMENT_BITS};
use crate::egress::tx_inject::TxInjectShape;
use crate::hostdma::psdpram::PsdpramShape;
use spinneret_verilog::prelude::*;

/// The segmented RAM as Corundum sees it: writes go to one half, reads come from the other.
#[derive(LogicInterface, Clone, Debug)]
pub struct CorundumRam {
    /// Bytes that are written, segments side by side.
    pub wr_cmd_be: Wire<In>,
    /// Lines that are written.
    pub wr_cmd_addr: Wire<In>,
    /// Data.
    pub wr_cmd_data: Wire<In>,
    /// Bit s: there is a command for segment s.
    pub wr_cmd_valid: Wire<In>,
    /// Bit s: segment s takes its command.
    pub wr_cmd_ready: Wire<Out>,
    /// Bit s: the oldest command of segment s is done.
    pub wr_done: Wire<Out>,
    /// Lines that are read.
    pub rd_cmd_addr: Wire<In>,
    /// Bit s: there is a command for segment s.
    pub rd_cmd_valid: Wire<In>,
    /// Bit s: segment s takes its command.
    pub rd_cmd_ready: Wire<Out>,
    /// What was read.
    pub rd_resp_data: Wire<Out>,
    /// Bit s: the data of segment s is there.
    pub rd_resp_valid: Wire<Out>,
    /// Bit s: it is taken.
    pub rd_resp_ready: Wire<In>,
}

impl CorundumRam {
    /// Ports of a RAM of that shape.
    pub fn new(shape: PsdpramShape) -> Self {
        let count = shape.segments;
        let flags = || Wire::word(count);
        Self {
            wr_cmd_be: Wire::word(count * shape.segment_bytes()),
            wr_cmd_addr: Wire::word(count * shape.segment_address()),
            wr_cmd_data: Wire::word(count * shape.segment_data),
            wr_cmd_valid: flags(),
            wr_cmd_ready: Wire::word(count),
            wr_done: Wire::word(count),
            rd_cmd_addr: Wire::word(count * shape.segment_address()),
            rd_cmd_valid: flags(),
            rd_cmd_ready: Wire::word(count),
            rd_resp_data: Wire::word(count * shape.segment_data),
            rd_resp_valid: Wire::word(count),
            rd_resp_ready: flags(),
        }
    }
}

/// Transmit completions into the block.
#[derive(LogicInterface, Clone, Debug)]
pub struct CompletionIn {
    /// When the frame was sent.
    pub ts: Wire<In>,
    /// Its tag.
    pub tag: Wire<In>,
    /// The completion is there.
    pub valid: Wire<In, bool>,
    /// It is taken.
    pub ready: Wire<Out, bool>,
}

impl CompletionIn {
    /// Ports of the given widths.
    pub fn new(shape: TxInjectShape) -> Self {
        Self {
            ts: Wire::word(shape.timestamp),
            tag: Wire::word(shape.tag),
            valid: Wire::bit(),
            ready: Wire::bit(),
        }
    }
}

/// Transmit completions out of the block.
#[derive(LogicInterface, Clone, Debug)]
pub struct CompletionOut {
    /// When the frame was sent.
    pub ts: Wire<Out>,
    /// Its tag.
    pub tag: Wire<Out>,
    /// The completion is there.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
}

impl CompletionOut {
    /// Ports of the given widths.
    pub fn new(shape: TxInjectShape) -> Self {
        Self {
            ts: Wire::word(shape.timestamp),
            tag: Wire::word(shape.tag),
            valid: Wire::bit(),
            ready: Wire::bit(),
        }
    }
}

/// Increments of statistics.
#[derive(LogicInterface, Clone, Debug)]
pub struct StatisticsOut {
    /// The increment.
    pub tdata: Wire<Out>,
    /// The number of its statistic.
    pub tid: Wire<Out>,
    /// The increment is there.
    pub tvalid: Wire<Out, bool>,
    /// It is taken.
    pub tready: Wire<In, bool>,
}

impl Default for StatisticsOut {
    fn default() -> Self {
        Self {
            tdata: Wire::word(INCREMENT_BITS),
            tid: Wire::word(ID_BITS),
            tvalid: Wire::bit(),
            tready: Wire::bit(),
        }
    }
}
