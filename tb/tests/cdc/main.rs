//! The crossings between clocks, on the generated text, with two clocks of any ratio and phase.

mod axi;
mod link;

use rand::seq::IndexedRandom;
use spinneret_models as models;
use spinneret_models::{LevelSync, ResetSync};
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;
use spinneret_tb::bench::patterns;

spinneret_tb::each_model! {
    [models::AsyncFifo, models::AsyncFifo4, models::BusSync]:
        1 a_reset_of_both_sides_empties_it;
    [models::AsyncFifo, models::BusSync]:
        1 an_element_is_there_after_three_edges;
}

/// Periods of two clocks in picoseconds, the phase of the second, and the jitter of both.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    first_ps: u64,
    second_ps: u64,
    phase_ps: u64,
    jitter_ps: u64,
}

const fn clocks(first_ps: u64, second_ps: u64, phase_ps: u64) -> Clocks {
    Clocks {
        first_ps,
        second_ps,
        phase_ps,
        jitter_ps: 0,
    }
}

/// 250 MHz and 40 MHz each way; equal clocks with edges at the same time, just before and after each other, and
/// in the middle; and 3 to 2.
const FIXED: [Clocks; 8] = [
    clocks(4000, 25_000, 1234),
    clocks(25_000, 4000, 777),
    clocks(4000, 4000, 0),
    clocks(4000, 4000, 1),
    clocks(4000, 4000, 3999),
    clocks(4000, 4000, 2000),
    clocks(4000, 6000, 0),
    clocks(6000, 4000, 500),
];

impl Clocks {
    /// Any ratio up to 10, any phase, with jitter.
    fn random(rng: &mut ChaCha8Rng) -> Self {
        let first_ps = rng.random_range(1000..=10_000);
        let second_ps = rng.random_range(1000..=10_000);
        Self {
            first_ps,
            second_ps,
            phase_ps: rng.random_range(0..second_ps),
            jitter_ps: rng.random_range(0..400),
        }
    }

    /// The fixed pairs and some random ones.
    fn all(rng: &mut ChaCha8Rng) -> Vec<Self> {
        let random = std::iter::repeat_with(|| Self::random(rng)).take(8);
        FIXED.into_iter().chain(random).collect()
    }

    /// The clocks of a block with two sides; `first` and `second` are the clocks' names without `_clk`.
    fn sides(self, first: &str, second: &str) -> [ClockDomain; 2] {
        self.without_reset(first, second)
            .map(|(domain, side)| domain.with_reset(format!("{side}_rst")))
    }

    /// The same without resets, with the names.
    fn without_reset<'a>(self, first: &'a str, second: &'a str) -> [(ClockDomain, &'a str); 2] {
        let domain = |side: &str, period_ps| {
            ClockDomain::new(format!("{side}_clk"), period_ps).with_jitter(self.jitter_ps)
        };
        [
            (domain(first, self.first_ps), first),
            (domain(second, self.second_ps).with_phase(self.phase_ps), second),
        ]
    }

    /// The same without resets.
    fn free(self, first: &str, second: &str) -> [ClockDomain; 2] {
        self.without_reset(first, second).map(|(domain, _)| domain)
    }
}

const SOME: Pause = Pause::Random { percent: 30 };

/// Resets that overlap long enough, in any order, in the middle of traffic: they discard the contents, and all
/// later traffic arrives.
fn a_reset_of_both_sides_empties_it<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("resets");
    let mut lost = 0;
    for _ in 0..12 {
        let clocks = Clocks::random(&mut rng);
        let mut bench: Bench<M> = bench(run, clocks, SOME, SOME);
        for round in 0..4 {
            let base = 1000 * round;
            bench.send(base..base + 200);
            bench.sim.run_edges("s_clk", rng.random_range(1..150));
            let order = |rng: &mut _| *[["s_clk", "m_clk"], ["m_clk", "s_clk"]].choose(rng).expect("two");
            let [first, second] = order(&mut rng);
            bench.sim.set_reset(first, true);
            bench.sim.run_edges(second, rng.random_range(1..20));
            bench.sim.set_reset(second, true);
            bench.sim.run_edges("s_clk", 16);
            bench.sim.run_edges("m_clk", 16);
            let before = bench.received();
            assert!(
                before.is_sorted() && before.iter().all(|number| *number >= base),
                "{clocks:?}"
            );
            lost += bench.source.counts().beats - bench.sink.total();
            bench.source.clear();
            // Elements that arrive before the other side leaves reset are not lost.
            bench.send(base + 500..base + 520);
            let [first, second] = order(&mut rng);
            bench.sim.set_reset(first, false);
            bench.sim.run_edges(first, rng.random_range(1..20));
            bench.sim.set_reset(second, false);
            bench.settle();
            assert!(
                bench.received().into_iter().eq(base + 500..base + 520),
                "{clocks:?}"
            );
        }
    }
    assert!(lost > 20, "resets found {lost} elements inside");
}

/// Resets of one side, one after another: nothing is made up, and nothing is lost but what was in the output
/// register.
fn alone<M: Model>(run: &mut TestRun, side: &str) {
    let mut rng = run.rng("resets");
    for _ in 0..12 {
        let clocks = Clocks::random(&mut rng);
        let mut bench: Bench<M> = bench(run, clocks, SOME, SOME);
        bench.send(0..400);
        let mut at_output = 0;
        for _ in 0..8 {
            bench.sim.run_edges(side, rng.random_range(1..60));
            at_output += u64::from(side == "m_clk" && bench.has("m_valid"));
            bench.sim.set_reset(side, true);
            bench.sim.run_edges(side, rng.random_range(2..30));
            bench.sim.set_reset(side, false);
        }
        bench.settle();
        let received = bench.received();
        assert!(received.is_sorted_by(|a, b| a < b), "{clocks:?}");
        assert_eq!(received.len() as u64 + at_output, 400, "{clocks:?}");
    }
}

#[test]
fn a_side_alone_in_reset_stops_and_goes_on() {
    run_test(1, |run| {
        for side in ["s_clk", "m_clk"] {
            alone::<models::AsyncFifo>(run, side);
            alone::<models::BusSync>(run, side);
        }
    });
}

#[test]
fn neither_takes_nor_gives_in_reset() {
    run_test(1, |run| {
        for clocks in FIXED {
            let mut bench: Bench<models::AsyncFifo> = bench(run, clocks, Pause::Never, Pause::AlwaysAfter(0));
            bench.send(0..8);
            bench.settle();
            assert!(bench.has("m_valid") && bench.has("s_ready"));
            bench.sim.set_reset("s_clk", true);
            bench.sim.run_edges("s_clk", 1);
            assert!(!bench.has("s_ready") && bench.has("m_valid"));
            bench.sim.set_reset("s_clk", false);
            assert!(!bench.has("s_ready"));
            bench.sim.run_edges("s_clk", 1);
            assert!(bench.has("s_ready"), "{clocks:?}");
            // Each side has to have heard of the end of one reset before the next.
            bench.sim.run_edges("s_clk", 8);
            bench.sim.run_edges("m_clk", 8);
            bench.sim.set_reset("m_clk", true);
            bench.sim.run_edges("m_clk", 1);
            assert!(bench.has("s_ready") && !bench.has("m_valid"));
            bench.sim.set_reset("m_clk", false);
            bench.sink.set_pause(Pause::Never);
            bench.settle();
            assert!(
                bench.received().into_iter().eq(1..8),
                "the first was in the output register"
            );
        }
    });
}

/// Drives random values and compares with the input two edges before.
fn follows<M: Model>(run: &mut TestRun, [input, output]: [&str; 2], values: u32) {
    let mut sim: Simulation<M> = run.simulation_with(&[ClockDomain::new("clk", 4000).with_jitter(100)]);
    let mut rng = run.rng("levels");
    let mut history = Vec::new();
    for edge in 0..300 {
        let value: u32 = rng.random_range(0..values);
        sim.dut
            .set(input, value)
            .unwrap_or_else(|error| panic!("{error}"));
        history.push(value);
        sim.cycle();
        if edge > 0 {
            let seen = sim.dut.get(output).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(seen, history[edge - 1].into(), "edge {edge}");
        }
    }
}

#[test]
fn levels_come_after_two_edges() {
    run_test(1, |run| {
        follows::<LevelSync>(run, ["d", "q"], 16);
        follows::<ResetSync>(run, ["rst_async", "rst"], 2);
    });
}

#[test]
fn a_reset_is_active_at_power_up() {
    run_test(1, |run| {
        let mut sim: Simulation<ResetSync> = run.simulation_with(&[ClockDomain::new("clk", 4000)]);
        sim.dut.set("rst_async", 0_u8).expect("an input");
        sim.dut.eval();
        let rst = |sim: &Simulation<ResetSync>| sim.dut.get("rst").expect("an output") == 1_u8.into();
        assert!(rst(&sim));
        sim.cycle();
        assert!(rst(&sim));
        sim.cycle();
        assert!(!rst(&sim));
    });
}

/// A crossing with a source and a sink, after a reset.
struct Bench<M> {
    sim: Simulation<M>,
    source: ChannelSource,
    sink: ChannelSink,
}

fn bench<M: Model>(run: &mut TestRun, clocks: Clocks, source: Pause, sink: Pause) -> Bench<M> {
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
    fn send(&self, numbers: std::ops::Range<u64>) {
        numbers.for_each(|number| self.source.send(&[number]));
    }

    /// All numbers that came and were not taken yet.
    fn received(&self) -> Vec<u64> {
        self.sink
            .receive_all()
            .into_iter()
            .map(|item| item.values[0])
            .collect()
    }

    /// Lets one element leave a full block; returns the edges of the input's clock until the input is ready again.
    fn edges_until_ready(&mut self) -> u64 {
        self.sink.set_pause(Pause::AlwaysAfter(1));
        while self.sink.total() == 0 {
            self.sim.cycle();
        }
        let start = self.sim.edges("s_clk");
        while !self.has("s_ready") {
            self.sim.cycle();
        }
        self.sim.edges("s_clk") - start
    }

    fn has(&self, output: &str) -> bool {
        let value = self.sim.dut.get(output).unwrap_or_else(|error| panic!("{error}"));
        value != 0_u8.into()
    }

    /// Runs until everything is sent and nothing comes any more.
    fn settle(&mut self) {
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
        assert_eq!(bench.edges_until_ready(), 3, "{clocks:?}");
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
            assert_eq!(bench.edges_until_ready(), 3, "{clocks:?}");
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
