use super::{HpuData, HpuPipeline, HpuShape};
use spinneret_verilog::prelude::*;

/// Pipelines of the processors of two clusters.
const PIPELINES: usize = 4;

/// Four pipelines side by side, which run the same program: as much as a NIC has, for the speed of its simulation.
///
/// Ports are those of a pipeline, with a memory for each; no thread is stopped, and ranges stay empty.
#[module(shape: HpuShape, threads: usize = shape.threads, place: usize = address_width(shape.program_words))]
pub struct HpuPipelines {
    /// The host writes a word of the program.
    pub program_write: Wire<In, bool>,
    /// Its place, in words.
    pub program_addr: Wire<In, { place }>,
    /// The word.
    pub program_data: Wire<In, 32>,
    /// Loads, stores, atomic instructions of each.
    pub m: [HpuData<{ threads }>; PIPELINES],
    #[new(HpuPipeline::new(shape))]
    pipelines: [HpuPipeline; PIPELINES],
}

#[kernel(HpuPipelines)]
fn update() {
    for (number, pipeline) in pipelines.iter().enumerate() {
        pipeline.hart_base = (number * threads) as u64;
        pipeline.stop = 0;
        pipeline.program_write = program_write;
        pipeline.program_addr = program_addr;
        pipeline.program_data = program_data;
        pipeline.range.write = false;
        pipeline.range.thread = 0;
        pipeline.range.number = 0;
        pipeline.range.first = 0;
        pipeline.range.end = 0;
        m[number] = pipeline.m;
    }
}
