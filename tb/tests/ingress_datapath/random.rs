//! Random packets under every behaviour of the bus models, in every configuration.

use spinneret_models::{
    PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathSmall, PspinIngressDatapathStall,
};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::ingress::{Behaviour, Cause, Setup, Totals, behaviours, run_round};

/// Packets of all tests of the reference configuration.
const PACKETS: u64 = 20_000;
/// Packets of all tests of each of the others.
const PACKETS_OF_OTHERS: u64 = 12_000;

/// Why packets are dropped that have a slot.
const THEIR_OWN: [Cause; 4] = [
    Cause::WriteError,
    Cause::BadFrame,
    Cause::Oversize,
    Cause::NoContext,
];

/// Random packets under the behaviours that are wanted, each with its share of them.
fn random_packets<M: Model>(run: &mut TestRun, packets: u64, wanted: impl Fn(&Behaviour) -> bool) -> Totals {
    let all = behaviours(&Setup::of::<M>());
    let share = packets.div_ceil(all.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, behaviour)) in all.into_iter().enumerate() {
        if wanted(&behaviour) {
            let mut sim = run.simulation::<M>();
            sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
            totals += run_round(sim, behaviour, share);
        }
    }
    let packets = totals.packets();
    assert!(
        totals.bypassed > packets / 10 && totals.delivered > packets / 10,
        "{totals}"
    );
    assert!(totals.refused > 0, "{totals}");
    totals
}

/// Every one of these causes happened, and no other.
fn assert_causes(totals: &Totals, causes: &[Cause]) {
    for cause in Cause::ALL {
        let wanted = causes.contains(&cause);
        assert_eq!(totals.drops[cause] > 0, wanted, "{cause:?}: {totals}");
    }
}

#[test]
fn random_packets_with_room_are_delivered_or_dropped_for_their_own_cause() {
    let name = "random_packets_with_room_are_delivered_or_dropped_for_their_own_cause";
    run_test(name, 1, |run| {
        let totals = random_packets::<PspinIngressDatapath>(run, PACKETS, |behaviour| behaviour.calm);
        assert_causes(&totals, &THEIR_OWN);
    });
}

#[test]
fn random_packets_under_pressure_are_delivered_or_counted() {
    run_test(
        "random_packets_under_pressure_are_delivered_or_counted",
        2,
        |run| {
            let totals = random_packets::<PspinIngressDatapath>(run, PACKETS, |behaviour| !behaviour.calm);
            assert_causes(&totals, &Cause::ALL);
        },
    );
}

#[test]
fn few_slots_and_small_queues_are_enough_for_few_packets() {
    run_test(
        "few_slots_and_small_queues_are_enough_for_few_packets",
        3,
        |run| {
            let calm = |behaviour: &Behaviour| behaviour.calm;
            let totals = random_packets::<PspinIngressDatapathSmall>(run, PACKETS_OF_OTHERS, calm);
            assert_causes(&totals, &THEIR_OWN);
        },
    );
}

#[test]
fn few_slots_and_small_queues_under_pressure_lose_nothing_silently() {
    let name = "few_slots_and_small_queues_under_pressure_lose_nothing_silently";
    run_test(name, 4, |run| {
        let pressed = |behaviour: &Behaviour| !behaviour.calm;
        let totals = random_packets::<PspinIngressDatapathSmall>(run, PACKETS_OF_OTHERS, pressed);
        assert_causes(&totals, &Cause::ALL);
    });
}

#[test]
fn a_path_that_waits_drops_nothing_for_lack_of_room_or_slots() {
    run_test(
        "a_path_that_waits_drops_nothing_for_lack_of_room_or_slots",
        5,
        |run| {
            let totals = random_packets::<PspinIngressDatapathStall>(run, PACKETS_OF_OTHERS, |_| true);
            assert_causes(&totals, &THEIR_OWN);
        },
    );
}

#[test]
fn rules_relative_to_the_ip_payload_decide_with_room() {
    run_test("rules_relative_to_the_ip_payload_decide_with_room", 6, |run| {
        let calm = |behaviour: &Behaviour| behaviour.calm;
        let totals = random_packets::<PspinIngressDatapathBoard>(run, PACKETS_OF_OTHERS, calm);
        assert_causes(&totals, &THEIR_OWN);
    });
}

#[test]
fn rules_relative_to_the_ip_payload_decide_under_pressure() {
    run_test(
        "rules_relative_to_the_ip_payload_decide_under_pressure",
        7,
        |run| {
            let pressed = |behaviour: &Behaviour| !behaviour.calm;
            let totals = random_packets::<PspinIngressDatapathBoard>(run, PACKETS_OF_OTHERS, pressed);
            // The queue of boards is longer than a round of these packets, so that there is room for all of them.
            let causes = Cause::ALL.into_iter().filter(|cause| *cause != Cause::Overload);
            assert_causes(&totals, &causes.collect::<Vec<_>>());
        },
    );
}
