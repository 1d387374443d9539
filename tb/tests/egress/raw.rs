//! Read channels that break the rules, so that the bus models cannot drive them.

use spinneret_models::PspinEgressDatapath;
use spinneret_sim::channel::{ChannelSink, ChannelSource};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Pause, StreamSink};
use spinneret_sim::test_run::{TestRun, run_test};

/// A path whose read channels the test drives itself; all data is zero.
struct Raw {
    sim: Simulation<PspinEgressDatapath>,
    commands: ChannelSource,
    reads: ChannelSink,
    /// Lines: id, response, last.
    lines: ChannelSource,
    wire: StreamSink,
}

impl Raw {
    fn new(run: &mut TestRun) -> Self {
        let mut sim = run.simulation::<PspinEgressDatapath>();
        let command = ["id", "src_addr", "length"];
        let commands = sim.channel_source("nic_cmd_req", &command, Pause::Never);
        let reads = sim.channel_sink("m_axi_pspin_no_ar", &["addr", "len"], Pause::Never);
        let lines = sim.channel_source("m_axi_pspin_no_r", &["id", "resp", "last"], Pause::Never);
        let wire = sim.sink("m_axis_nic_tx", Pause::Never);
        sim.reset();
        Self {
            sim,
            commands,
            reads,
            lines,
            wire,
        }
    }

    /// A command for four lines that are answered so; the length of its frame, if there is one, and the last
    /// error.
    fn send(&mut self, lines: [[u64; 3]; 4]) -> (Option<usize>, u8) {
        self.commands.send(&[9, 0x1000, 256]);
        self.sim.run(10);
        let read = self.reads.receive().map(|item| item.values);
        assert_eq!(read, Some(vec![0x1000, 3]));
        for line in &lines {
            self.lines.send(line);
        }
        self.sim.run(20);
        let frame = self.wire.receive().map(|received| received.frame.bytes.len());
        let error = self.sim.dut.get("egress_dma_last_error").unwrap();
        (frame, error.try_into().unwrap())
    }
}

#[test]
fn lines_that_nobody_asked_for_are_ignored() {
    run_test("lines_that_nobody_asked_for_are_ignored", 1, |run| {
        let mut raw = Raw::new(run);
        for stray in 0..5 {
            for _ in 0..stray {
                raw.lines.send(&[0, 2, 1]);
            }
            raw.sim.run(20);
            assert_eq!(
                raw.send([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]),
                (Some(256), 0)
            );
        }
        raw.sim.finish();
    });
}

#[test]
fn ids_and_last_of_lines_are_not_looked_at() {
    run_test("ids_and_last_of_lines_are_not_looked_at", 1, |run| {
        let mut raw = Raw::new(run);
        assert_eq!(
            raw.send([[7, 0, 1], [1, 0, 1], [255, 0, 0], [3, 0, 0]]),
            (Some(256), 0)
        );
        raw.sim.finish();
    });
}

#[test]
fn exokay_is_no_okay() {
    run_test("exokay_is_no_okay", 1, |run| {
        for line in 0..4 {
            let mut raw = Raw::new(run);
            let mut lines = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]];
            lines[line][1] = 1;
            assert_eq!(raw.send(lines), (None, 4));
            raw.sim.finish();
        }
    });
}
