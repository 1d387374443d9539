//! The matching engine between bus models and its reference, and its cycles.

use crate::bench::{Finish, Parameters};
use spinneret_packets::matching::drive_rules;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable, ip_payload_sum};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Format of the message id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageId {
    /// Bits that go into the tag.
    bits: u32,
    /// Whether frame byte 44 is the most significant byte.
    network_order: bool,
}

impl MessageId {
    /// The tag of a matched frame.
    fn tag(self, result: &MatchResult) -> u64 {
        let MatchResult::Matched {
            ruleset,
            eom,
            message_id,
            ..
        } = *result
        else {
            return 0;
        };
        let id = if self.network_order {
            message_id.swap_bytes()
        } else {
            message_id
        };
        let id = u64::from(id) & ((1 << self.bits) - 1);
        id << 3 | u64::from(eom) << 2 | u64::from(ruleset)
    }
}

/// Pauses of the four streams.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    /// Gaps in the input.
    pub input: Pause,
    /// Backpressure of the output for unmatched frames.
    pub nic: Pause,
    /// Backpressure of the output for matched frames.
    pub pspin: Pause,
    /// Backpressure of the metadata.
    pub meta: Pause,
}

impl Pauses {
    /// Independent random pauses on all four streams.
    pub fn random(percent: u32) -> Self {
        let pause = || Pause::Random { percent };
        Self {
            input: pause(),
            nic: pause(),
            pspin: pause(),
            meta: pause(),
        }
    }

    /// Bursts and long stalls on all four streams.
    pub fn bursty() -> Self {
        let pause = |busy, idle| Pause::Bursty { busy, idle };
        Self {
            input: pause(40, 20),
            nic: pause(10, 30),
            pspin: pause(30, 60),
            meta: pause(5, 50),
        }
    }
}

crate::counts! {
    /// Frames by destination.
    pub struct Counts {
        /// Frames that went on to the NIC.
        pub bypassed: u64,
        /// Frames that went to the cluster.
        pub matched: u64,
    }
}

/// An engine with bus models on all its streams; all outputs are checked.
#[derive(Debug)]
pub struct MatchBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The packets from the wire.
    pub source: StreamSource,
    /// Unmatched packets.
    pub nic: StreamSink,
    /// Matched packets.
    pub pspin: StreamSink,
    /// Metadata: tag and size.
    pub meta: ChannelSink,
    model: ReferenceMatcher,
    message_id: MessageId,
    has_sum: bool,
    expect_nic: VecDeque<Frame>,
    expect_pspin: VecDeque<(Frame, MatchResult)>,
}

impl<M: Model> MatchBench<M> {
    /// Puts bus models around an engine and resets it.
    ///
    /// # Panics
    /// If the design is no matching engine of the catalog.
    pub fn new(mut sim: Simulation<M>, pauses: Pauses) -> Self {
        let parameters = Parameters::of::<M>();
        sim.set_cycle_limit(u64::MAX);
        let source = sim.source("s_axis_nic_rx", pauses.input);
        let nic = sim.sink("m_axis_nic_rx", pauses.nic);
        let pspin = sim.sink("m_axis_pspin_rx", pauses.pspin);
        let has_sum = parameters.get("payload_sum") == 1;
        let fields = ["tag", "size", "sum"];
        let meta = sim.channel_sink("packet_meta", &fields[..2 + usize::from(has_sum)], pauses.meta);
        for monitor in [source.monitor(), nic.monitor(), pspin.monitor()] {
            monitor.allow_null_last();
        }
        sim.reset();
        Self {
            sim,
            source,
            nic,
            pspin,
            meta,
            model: ReferenceMatcher::new(&parameters.matcher()).unwrap_or_else(|error| panic!("{error}")),
            message_id: MessageId {
                bits: parameters.get("message_id_width") as u32,
                network_order: parameters.get("message_id_network_order") == 1,
            },
            has_sum,
            expect_nic: VecDeque::new(),
            expect_pspin: VecDeque::new(),
        }
    }

    /// Drives rules without telling the model, as software does in the middle of traffic.
    pub fn drive_rules(&mut self, table: &RuleTable) {
        let driven = drive_rules(self.sim.dut.instance_mut(), &table.port_values());
        driven.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Sets `match_valid` without telling the model.
    pub fn drive_valid(&mut self, valid: bool) {
        self.sim.set("match_valid", valid);
    }

    /// Changes the rules as software does: withdraw, write, set valid. Nothing may be inside.
    pub fn load(&mut self, table: Option<&RuleTable>) {
        self.drive_valid(false);
        self.sim.run(8);
        if let Some(table) = table {
            self.drive_rules(table);
            self.drive_valid(true);
        }
        self.sim.run(8);
        self.model.latch(table.cloned());
    }

    /// Sends a frame and remembers where it has to come out.
    pub fn send(&mut self, frame: Frame) -> MatchResult {
        let result = self.model.classify(&frame.bytes);
        match result {
            MatchResult::Bypass => self.expect_nic.push_back(frame.clone()),
            MatchResult::Matched { .. } => self.expect_pspin.push_back((frame.clone(), result)),
        }
        self.source.send(frame);
        result
    }

    /// Runs until everything has come out, and compares it.
    ///
    /// # Panics
    /// At the first difference, and if something does not come out.
    pub fn settle(&mut self) -> Counts {
        let deadline = self.sim.cycle_count() + self.patience();
        while self.nic.waiting() < self.expect_nic.len()
            || self.pspin.waiting() < self.expect_pspin.len()
            || self.meta.waiting() < self.expect_pspin.len()
        {
            assert!(
                self.sim.cycle_count() < deadline,
                "frames do not come out: {}",
                self.missing()
            );
            self.sim.cycle();
        }
        self.compare()
    }

    /// Sends random frames under random rules, which change after every hundred frames.
    pub fn random(
        &mut self,
        rng: &mut ChaCha8Rng,
        frames: u64,
        frame: impl Fn(&mut ChaCha8Rng) -> Frame,
    ) -> Counts {
        let params = Parameters::of::<M>().matcher();
        let (mut total, mut left) = (Counts::default(), frames);
        while left > 0 {
            self.load(Some(&random_rules(rng, &params)));
            let batch = left.min(100);
            (0..batch).for_each(|_| {
                self.send(frame(rng));
            });
            total += self.settle();
            left -= batch;
        }
        total
    }

    /// Even with nine pauses for a transfer on each of four streams this is enough.
    fn patience(&self) -> u64 {
        let frames = self
            .expect_nic
            .iter()
            .chain(self.expect_pspin.iter().map(|(frame, _)| frame));
        let bytes: usize = frames.map(|frame| frame.bytes.len() + 64).sum();
        10_000 + 100 * bytes as u64
    }

    fn missing(&self) -> String {
        format!(
            "unmatched {} of {}, matched {} of {}, metadata {}",
            self.nic.waiting(),
            self.expect_nic.len(),
            self.pspin.waiting(),
            self.expect_pspin.len(),
            self.meta.waiting()
        )
    }

    fn compare(&mut self) -> Counts {
        let counts = Counts {
            bypassed: self.expect_nic.len() as u64,
            matched: self.expect_pspin.len() as u64,
        };
        for (number, expected) in self.expect_nic.drain(..).enumerate() {
            let received = self.nic.receive().map(|received| received.frame);
            assert!(
                received.as_ref() == Some(&expected),
                "unmatched frame {number}: {received:?}, not {expected:?}"
            );
        }
        for (number, (expected, result)) in self.expect_pspin.drain(..).enumerate() {
            let received = self.pspin.receive().map(|received| received.frame);
            assert!(
                received.as_ref() == Some(&expected),
                "matched frame {number}: {received:?}, not {expected:?}"
            );
            let mut meta = self.meta.receive().map(|item| item.values);
            let mut wanted = vec![self.message_id.tag(&result), expected.bytes.len() as u64];
            if self.has_sum {
                wanted.push(ip_payload_sum(&expected.bytes).into());
                if let Some(sum) = meta.as_mut().and_then(|meta| meta.get_mut(2)) {
                    *sum = folded(*sum);
                }
            }
            assert!(
                meta.as_ref() == Some(&wanted),
                "metadata {number}: {meta:x?}, not {wanted:x?} ({result:?})"
            );
        }
        counts
    }
}

impl<M: Model> Finish for MatchBench<M> {
    fn finish(mut self) {
        self.settle();
        self.sim.run(64);
        self.sim.finish();
    }
}

/// A sum whose bit 16 counts as 1, as a number of 16 bits.
pub fn folded(sum: u64) -> u64 {
    (sum & 0xffff) + (sum >> 16)
}

/// A table whose ruleset 0 is one rule; the others never match.
///
/// # Panics
/// If the matcher has no ruleset.
pub fn one_rule(params: &MatcherParams, rule: Rule) -> RuleTable {
    let set = Ruleset {
        join: Join::And,
        rules: vec![rule],
        end_of_message: Rule::NEVER,
    };
    RuleTable::new(params, vec![set]).unwrap_or_else(|error| panic!("{error}"))
}

/// A frame of random size and contents; sizes are mostly small, so that many frames fit into a test.
pub fn random_frame(rng: &mut ChaCha8Rng, user_bits: u32) -> Frame {
    let size = match rng.random_range(0..20) {
        0 => rng.random_range(1..=64),
        1 => rng.random_range(1..=9600),
        2 => 64 * rng.random_range(1..=4),
        3..=8 => rng.random_range(1500..=1514) >> rng.random_range(0..4),
        _ => rng.random_range(1..=300),
    };
    // Few distinct byte values, so that rules match now and then.
    let bytes: Vec<u8> = (0..size).map(|_| rng.random_range(0..4)).collect();
    with_side_band(rng, bytes, user_bits)
}

/// A frame of these bytes with a random side band; one in 50 ends in a beat without bytes.
pub(crate) fn with_side_band(rng: &mut ChaCha8Rng, bytes: Vec<u8>, user_bits: u32) -> Frame {
    let frame = Frame::new(bytes)
        .with_id(rng.random_range(0..2))
        .with_dest(rng.random_range(0..256))
        .with_user(rng.random::<u128>() >> (128 - user_bits));
    if rng.random_ratio(1, 50) {
        frame.with_null_last()
    } else {
        frame
    }
}

/// Random rules, of which some match often, some never, and some name words that do not exist.
pub fn random_rules(rng: &mut ChaCha8Rng, params: &MatcherParams) -> RuleTable {
    let words = params.inspected_words() as u32;
    let mut rule = || Rule {
        relative: params.ip_relative && rng.random(),
        ..random_rule(rng, words)
    };
    let mut sets = Vec::new();
    for set in 0..params.rulesets {
        let rules = (0..params.rules_per_ruleset - 1).map(|_| rule()).collect();
        let mode = if set % 2 == 0 { Join::And } else { Join::Or };
        sets.push(Ruleset {
            join: mode,
            rules,
            end_of_message: rule(),
        });
    }
    // Half of the sets of a table match nothing, so that others than the lowest win as well.
    for set in &mut sets {
        if rng.random_bool(0.4) {
            *set = Ruleset::never();
        }
    }
    RuleTable::new(params, sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A rule that matches often, sometimes or never; few name words that are not inspected.
fn random_rule(rng: &mut ChaCha8Rng, words: u32) -> Rule {
    let idx = match rng.random_range(0..10) {
        0 => words - 1,
        1 => words + rng.random_range(0..3),
        2 => rng.random(),
        _ => rng.random_range(0..words.min(16)),
    };
    // One byte of the word counts, and holds 0 to 3.
    let shift = 8 * rng.random_range(0..4);
    let bound = rng.random_range(0..4_u32);
    let (mask, start, end) = match rng.random_range(0..6) {
        0 => (0, 0, 0),
        1 => (u32::MAX, bound << shift, u32::MAX >> bound),
        2 => (3 << shift, 2 << shift, 1 << shift),
        _ => (3 << shift, bound.min(1) << shift, bound.max(1) << shift),
    };
    Rule {
        idx,
        mask,
        start,
        end,
        relative: false,
    }
}

/// Share of matching frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// None.
    Unmatched,
    /// All.
    Matched,
    /// Every second one.
    Alternating,
}

impl Traffic {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Unmatched, Self::Matched, Self::Alternating];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unmatched => "unmatched",
            Self::Matched => "matched",
            Self::Alternating => "alternating",
        }
    }

    fn matches(self, frame: usize) -> bool {
        match self {
            Self::Unmatched => false,
            Self::Matched => true,
            Self::Alternating => frame % 2 == 1,
        }
    }
}

/// Measured clock cycles for frames of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Cycles a frame, back to back, all outputs ready.
    pub per_frame: f64,
    /// First beat in to first beat out, through an empty engine.
    pub latency: u64,
    /// Last beat out to metadata out, through an empty engine; negative if the metadata is first.
    pub meta_after_last: Option<i64>,
}

/// Byte 0 of a frame that matches; others start with 0.
const MARK: u8 = 0xff;

/// An engine whose ruleset 0 matches frames by their first byte.
pub fn marked<M: Model>(sim: Simulation<M>) -> MatchBench<M> {
    let rule = Rule::equal(0, 0xff00_0000, u32::from(MARK) << 24);
    let mut bench = MatchBench::new(sim, Pauses::default());
    bench.load(Some(&one_rule(&Parameters::of::<M>().matcher(), rule)));
    bench
}

/// Counts the cycles of frames of one size.
///
/// # Panics
/// If a frame is lost or changed.
pub fn measure<M: Model>(bench: &mut MatchBench<M>, size: usize, traffic: Traffic, frames: usize) -> Cycles {
    let (latency, meta_after_last) = measure_alone(bench, size, traffic != Traffic::Unmatched);
    for number in 0..frames {
        bench.send(frame(size, traffic.matches(number)));
    }
    let sent = bench.source.sent();
    // From the first frame that is completely in to the last one: whole periods, without start-up.
    while bench.source.sent() == sent {
        bench.sim.cycle();
    }
    let (first_done, first_count) = (bench.sim.cycle_count(), bench.source.sent());
    while !bench.source.is_idle() {
        bench.sim.cycle();
    }
    let cycles = bench.sim.cycle_count() - first_done;
    let counted = bench.source.sent() - first_count;
    bench.settle();
    Cycles {
        per_frame: cycles as f64 / counted as f64,
        latency,
        meta_after_last,
    }
}

/// One frame through an empty engine.
fn measure_alone<M: Model>(bench: &mut MatchBench<M>, size: usize, matched: bool) -> (u64, Option<i64>) {
    bench.sim.run(32);
    let start = bench.sim.cycle_count();
    let alone = frame(size, matched);
    bench.source.send(alone);
    bench.sim.run(64 + size as u64);
    let sink = if matched { &bench.pspin } else { &bench.nic };
    let received = sink
        .receive()
        .unwrap_or_else(|| panic!("a frame of {size} bytes does not come out"));
    let meta = matched.then(|| {
        let item = bench
            .meta
            .receive()
            .unwrap_or_else(|| panic!("no metadata for {size} bytes"));
        item.cycle as i64 - received.last_cycle as i64
    });
    (received.first_cycle - start, meta)
}

fn frame(size: usize, matched: bool) -> Frame {
    let mut bytes = vec![0; size];
    bytes[0] = if matched { MARK } else { 0 };
    Frame::new(bytes)
}
