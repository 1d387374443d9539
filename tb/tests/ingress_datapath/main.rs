//! The ingress path against its reference model, and each line of its contract.

mod delivery;
mod drops;
mod each;
mod slots;
mod stall;
mod traffic;

use spinneret_models::PspinIngressDatapath;
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Drops, IngressBench, Packet, Release, Setup, load_mark};
use std::sync::LazyLock;

/// The reference configuration.
static REFERENCE: LazyLock<Setup> = LazyLock::new(Setup::of::<PspinIngressDatapath>);

/// The path in the reference configuration between bus models.
type Bench = IngressBench<PspinIngressDatapath>;

/// A path in any configuration that matches packets whose first byte is the mark, all contexts enabled.
fn any_marked_with<M: Model>(run: &mut TestRun, behaviour: Behaviour) -> IngressBench<M> {
    let mut bench = IngressBench::new(run.simulation(), behaviour);
    load_mark(&mut bench);
    bench
}

/// The same in the reference configuration.
fn marked_with(run: &mut TestRun, behaviour: Behaviour) -> Bench {
    any_marked_with(run, behaviour)
}

/// The same, without pauses.
fn marked(run: &mut TestRun) -> Bench {
    marked_with(run, Behaviour::default())
}

/// A path without rules, without pauses.
fn unloaded(run: &mut TestRun) -> Bench {
    Bench::new(run.simulation(), Behaviour::default())
}

/// Packets may lack room or a slot, and nobody frees slots.
fn without_frees() -> Behaviour {
    Behaviour {
        calm: false,
        release: Release::Never,
        ..Behaviour::default()
    }
}

/// A path whose slots nobody frees.
fn marked_without_frees(run: &mut TestRun) -> Bench {
    marked_with(run, without_frees())
}

/// A packet that matches.
fn matched(size: usize, number: u64) -> Packet {
    REFERENCE.matched(size, number)
}

/// A packet that does not match.
fn unmatched(size: usize, number: u64) -> Packet {
    REFERENCE.unmatched(size, number)
}

/// Ruleset n matches packets whose first byte is n + 1; the second byte 1 ends a message.
fn four_rulesets() -> RuleTable {
    let set = |number: u32| Ruleset {
        join: Join::And,
        rules: vec![Rule::equal(0, 0xff00_0000, (number + 1) << 24)],
        end_of_message: Rule::equal(0, 0x00ff_0000, 0x0001_0000),
    };
    let table = RuleTable::new(&MatcherParams::REFERENCE, (0..4).map(set).collect());
    table.unwrap_or_else(|error| panic!("{error}"))
}

/// The packet for a ruleset of [`four_rulesets`].
fn for_this_ruleset(ruleset: u8, mut packet: Packet) -> Packet {
    packet.bytes[0] = ruleset + 1;
    packet
}

/// A packet for a ruleset of [`four_rulesets`].
fn for_ruleset(ruleset: u8, size: usize, number: u64) -> Packet {
    for_this_ruleset(ruleset, unmatched(size, number))
}

/// One packet dropped for that cause.
fn one(cause: Cause) -> Drops {
    let mut drops = Drops::default();
    drops[cause] = 1;
    drops
}
