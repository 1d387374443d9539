//! Random packets under every behaviour of the bus models.

use spinneret_sim::models::PspinIngressDatapath;
use spinneret_sim::seed::Seed;
use spinneret_sim::test_run::run_test;
use spinneret_tb::ingress::{Cause, Totals, behaviours, run_round};

/// Packets of all tests here.
const PACKETS: u64 = 20_000;

/// Random packets under the behaviours for which a condition holds, an equal share for each.
fn random_packets(name: &str, seed: u64, calm: bool, some: &[Cause], none: &[Cause]) {
    run_test(name, seed, |run| {
        let all = behaviours();
        let share = PACKETS.div_ceil(all.len() as u64);
        let mut totals = Totals::default();
        for (index, (_, behaviour)) in all.into_iter().enumerate() {
            if behaviour.calm == calm {
                let mut sim = run.simulation::<PspinIngressDatapath>();
                sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
                totals += run_round(sim, behaviour, share);
            }
        }
        let packets = totals.packets();
        assert!(
            totals.bypassed > packets / 10 && totals.delivered > packets / 10,
            "{totals}"
        );
        for cause in some {
            assert!(totals.drops[*cause] > 0, "no packet meets {cause:?}: {totals}");
        }
        for cause in none {
            assert_eq!(totals.drops[*cause], 0, "{cause:?}: {totals}");
        }
        assert!(totals.refused > 0, "{totals}");
    });
}

#[test]
fn random_packets_with_room_are_delivered_or_dropped_for_their_own_cause() {
    let some = [
        Cause::WriteError,
        Cause::BadFrame,
        Cause::Oversize,
        Cause::NoContext,
    ];
    let name = "random_packets_with_room_are_delivered_or_dropped_for_their_own_cause";
    random_packets(name, 1, true, &some, &[Cause::Overload, Cause::NoSlot]);
}

#[test]
fn random_packets_under_pressure_are_delivered_or_counted() {
    let name = "random_packets_under_pressure_are_delivered_or_counted";
    random_packets(name, 2, false, &Cause::ALL, &[]);
}
