//! `AsyncFifo` and `BusSync`: order, latency, throughput, capacity.

use crate::{Clocks, FIXED};
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::patterns;

spinneret_tb::each_model! {
    [models::AsyncFifo, models::BusSync]:
        1 an_element_is_there_after_three_edges;
}

/// A crossing with a source and a sink, after a reset.
pub(crate) struct Bench<M> {
    pub(crate) sim: Simulation<M>,
    pub(crate) source: ChannelSource,
    pub(crate) sink: ChannelSink,
}

pub(crate) fn bench<M: Model>(run: &mut TestRun, clocks: Clocks, source: Pause, sink: Pause) -> Bench<M> {
    let mut sim: Simulation<M> = run.simulation_with(&clocks.sides("s", "m"));
    let source = sim.in_domain("s_clk").channel_source("s", &["data"], source);
    let sink = sim.in_domain("m_clk").channel_sink("m", &["data"], sink);
    sim.reset();
    // Then each side has heard that the reset of the other is over, which resets of one side need.
    sim.run_edges("s_clk", 8);
    sim.run_edges("m_clk", 8);
    Bench { sim, source, sink }
}

impl<M: Model> Bench<M> {
    /// Sends these numbers.
    pub(crate) fn send(&self, numbers: std::ops::Range<u64>) {
        numbers.for_each(|number| self.source.send(&[number]));
    }

    /// All numbers that came and were not taken yet.
    pub(crate) fn received(&self) -> Vec<u64> {
        self.sink
            .receive_all()
            .into_iter()
            .map(|item| item.values[0])
            .collect()
    }

    pub(crate) fn has(&self, output: &str) -> bool {
        let value = self.sim.dut.get(output).unwrap_or_else(|error| panic!("{error}"));
        value != 0_u8.into()
    }

    /// Runs until everything is sent and nothing comes any more.
    pub(crate) fn settle(&mut self) {
        while !self.source.is_idle() {
            self.sim.cycle();
        }
        self.sim.run_edges("m_clk", 40);
        self.sim.run_edges("s_clk", 10);
    }
}

fn in_order<M: Model>(run: &mut TestRun, count: u64) {
    let mut rng = run.rng("clocks");
    for clocks in Clocks::all(&mut rng) {
        for (source, sink) in patterns() {
            let mut bench: Bench<M> = bench(run, clocks, source, sink);
            bench.send(0..count);
            while bench.sink.total() < count {
                bench.sim.cycle();
            }
            bench.sim.run_edges("m_clk", 20);
            assert!(bench.received().into_iter().eq(0..count), "{clocks:?}");
        }
    }
}

#[test]
fn keeps_every_element_in_order() {
    run_test(1, |run| {
        in_order::<models::AsyncFifo>(run, 300);
        in_order::<models::AsyncFifo4>(run, 300);
        in_order::<models::BusSync>(run, 60);
    });
}

fn an_element_is_there_after_three_edges<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("clocks");
    for clocks in Clocks::all(&mut rng) {
        let mut bench: Bench<M> = bench(run, clocks, Pause::Never, Pause::Never);
        for number in 0..30 {
            bench.send(number..number + 1);
            while !bench.source.is_idle() {
                bench.sim.cycle();
            }
            let start = bench.sim.edges("m_clk");
            while !bench.has("m_valid") {
                bench.sim.cycle();
            }
            assert_eq!(bench.sim.edges("m_clk") - start, 3, "{clocks:?}");
            bench.sim.run_edges("s_clk", 1 + number % 7);
            bench.sim.run_edges("m_clk", 8);
        }
        assert!(bench.received().into_iter().eq(0..30));
    }
}

#[test]
fn passes_one_element_a_clock_of_the_slower_side() {
    run_test(1, |run| {
        for clocks in Clocks::all(&mut run.rng("clocks")) {
            let mut bench: Bench<models::AsyncFifo> = bench(run, clocks, Pause::Never, Pause::Never);
            let count = 400;
            bench.send(0..count);
            while bench.sink.total() == 0 {
                bench.sim.cycle();
            }
            let slower = if clocks.first_ps > clocks.second_ps {
                "s_clk"
            } else {
                "m_clk"
            };
            let start = bench.sim.edges(slower);
            while bench.sink.total() < count {
                bench.sim.cycle();
            }
            // An edge more or less at the ends, and two for clocks of the same speed that move.
            let took = bench.sim.edges(slower) - start;
            assert!(took <= count + 3, "{clocks:?}: {took} cycles");
            assert!(bench.received().into_iter().eq(0..count));
        }
    });
}

#[test]
fn holds_its_depth_and_one_and_takes_the_next_three_edges_later() {
    run_test(1, |run| {
        holds::<models::AsyncFifo>(run, 17);
        holds::<models::AsyncFifo4>(run, 5);
    });
}

fn holds<M: Model>(run: &mut TestRun, places: u64) {
    for clocks in FIXED {
        let mut bench: Bench<M> = bench(run, clocks, Pause::Never, Pause::AlwaysAfter(0));
        bench.send(0..places + 1);
        bench.sim.run_edges("s_clk", 100);
        bench.sim.run_edges("m_clk", 100);
        assert_eq!(bench.source.counts().beats, places, "{clocks:?}");
        // One leaves.
        bench.sink.set_pause(Pause::AlwaysAfter(1));
        while bench.sink.total() == 0 {
            bench.sim.cycle();
        }
        let start = bench.sim.edges("s_clk");
        while !bench.has("s_ready") {
            bench.sim.cycle();
        }
        assert_eq!(bench.sim.edges("s_clk") - start, 3, "{clocks:?}");
        bench.sink.set_pause(Pause::Never);
        bench.settle();
        assert!(bench.received().into_iter().eq(0..places + 1), "{clocks:?}");
    }
}

#[test]
fn a_word_waits_for_the_way_there_and_back() {
    run_test(1, |run| {
        for clocks in FIXED {
            let mut bench: Bench<models::BusSync> = bench(run, clocks, Pause::Never, Pause::AlwaysAfter(0));
            bench.send(0..3);
            bench.sim.run_edges("s_clk", 60);
            bench.sim.run_edges("m_clk", 60);
            assert_eq!(bench.source.counts().beats, 2, "{clocks:?}");
            bench.sink.set_pause(Pause::AlwaysAfter(1));
            while bench.sink.total() == 0 {
                bench.sim.cycle();
            }
            let start = bench.sim.edges("s_clk");
            while !bench.has("s_ready") {
                bench.sim.cycle();
            }
            assert_eq!(bench.sim.edges("s_clk") - start, 3, "{clocks:?}");
            bench.sink.set_pause(Pause::Never);
            bench.settle();
            assert_eq!(bench.received(), [0, 1, 2]);
        }
    });
}

#[test]
fn goes_on_when_a_clock_stood() {
    run_test(1, |run| {
        for stands in ["s_clk", "m_clk"] {
            let mut bench: Bench<models::AsyncFifo> =
                bench(run, FIXED[0], Pause::Never, Pause::Random { percent: 20 });
            bench.send(0..200);
            for _ in 0..5 {
                bench.sim.run_edges("m_clk", 17);
                bench.sim.set_running(stands, false);
                for _ in 0..100 {
                    bench.sim.cycle();
                }
                bench.sim.set_running(stands, true);
            }
            bench.settle();
            assert!(bench.received().into_iter().eq(0..200));
        }
    });
}
