//! Tenants on the scheduler and the drivers: shares of HPU time, and what one costs the others.

use spinneret_tb::tenants::{alone, busy, cost_to_others, flooding, jain, looping, measure, mixed, peaceful};

/// Clocks of a measurement: a tenant with long handlers ends about 50 of them in its share.
const CLOCKS: u64 = 250_000;

#[test]
fn hpu_time_goes_by_weight() {
    for weights in [[1; 8], [8, 4, 2, 1, 1, 1, 1, 1]] {
        let tenants = mixed(weights);
        let [fair, turns] = [false, true].map(|takes_turns| {
            let usage = measure(&tenants, takes_turns, CLOCKS);
            assert!(busy(&usage, CLOCKS) > 0.9, "{usage:?}");
            jain(&tenants, &usage)
        });
        assert!(fair > 0.99 && turns < 0.9, "{weights:?}: {fair}, {turns}");
    }
}

#[test]
fn a_tenant_alone_gets_all_hpus() {
    let busy = busy(&measure(&alone(), false, CLOCKS), CLOCKS);
    assert!(busy > 0.9, "{busy}");
}

#[test]
fn loops_and_floods_cost_the_others_little() {
    let before = measure(&peaceful(), false, CLOCKS);
    for tenants in [looping(), flooding()] {
        let [rate, late] = cost_to_others(&before, &measure(&tenants, false, CLOCKS));
        assert!(rate > 0.97 && late < 2.0, "{rate}, {late}: {tenants:?}");
    }
}
