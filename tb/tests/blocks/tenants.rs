//! Tenants on the scheduler and the drivers, and on the host copier: shares of HPU time, host DMA and packets, and what one costs the
//! others.

use spinneret_tb::host_tenants::{self, Path};
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
            jain(weights, &usage)
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
        let [rate, late] = cost_to_others(&before, &measure(&tenants, false, CLOCKS), |usage| usage.packets);
        assert!(rate > 0.97 && late < 2.0, "{rate}, {late}: {tenants:?}");
    }
}

/// Clocks of a measurement of host DMA or packets.
const SHORT: u64 = 40_000;

#[test]
fn bytes_of_each_path_go_by_weight() {
    for path in Path::ALL {
        for weights in [[1; 8], [8, 4, 2, 1, 1, 1, 1, 1]] {
            let tenants = host_tenants::mixed(path, weights);
            let [fair, one_queue] = [false, true].map(|one_queue| {
                jain(
                    weights,
                    &host_tenants::measure(path, &tenants, one_queue, 2 * SHORT),
                )
            });
            assert!(
                fair > 0.98 && one_queue < 0.95,
                "{path:?}, {weights:?}: {fair}, {one_queue}"
            );
        }
    }
}

#[test]
fn floods_of_a_path_cost_the_others_little() {
    for path in Path::ALL {
        let usage = |tenants: Vec<_>| host_tenants::measure(path, &tenants, false, 2 * SHORT);
        let before = usage(host_tenants::peaceful(path));
        let [rate, late] = cost_to_others(&before, &usage(host_tenants::flooding(path)), |usage| usage.got);
        assert!(rate > 0.97 && late < 2.0, "{path:?}: {rate}, {late}");
    }
}

#[test]
fn a_rate_limits_the_packets_of_its_context() {
    let mut tenants = host_tenants::peaceful(Path::Packets);
    let rates = [256, 2 * 256, 64];
    for (tenant, rate) in tenants.iter_mut().zip(rates) {
        tenant.rate = rate;
    }
    let usage = host_tenants::measure(Path::Packets, &tenants, false, SHORT);
    for (usage, rate) in usage.iter().zip(rates) {
        let most = rate * SHORT / 256;
        // One packet may be on its way at each end.
        let around = most - 3_000..=most + 3_000;
        assert!(
            around.contains(&usage.got),
            "{rate}: {} bytes, not {most}",
            usage.got
        );
    }
    // The others share the rest.
    let rest: u64 = usage[3..].iter().map(|usage| usage.got).sum();
    assert!(rest > 33 * SHORT, "{rest}: {usage:?}");
    assert!(jain([1; 5], &usage[3..]) > 0.98, "{usage:?}");
}
