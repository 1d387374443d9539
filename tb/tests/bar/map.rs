//! Where accesses go.

use crate::support::with_calm;
use spinneret_models::{SpinneretBar, SpinneretBarLarge, SpinneretBarSmall};
use spinneret_regmap::bar::{self, Destination, WINDOWS};
use spinneret_sim::axil::Response;
use spinneret_sim::model::Model;
use spinneret_tb::bar::{BarBench, WRITABLE};

/// Words at both ends of each window and in it, as far as the BAR reaches.
fn addresses<M: Model>(bench: &BarBench<M>) -> Vec<u64> {
    let setup = bench.setup;
    let ends = WINDOWS.iter().flat_map(|window| {
        let (start, last) = (u64::from(window.start), u64::from(window.last()));
        [
            start,
            start + 4,
            start + 0x1238,
            start + 0x3ffc,
            last - 3,
            last - 7,
        ]
    });
    // Every bit of an address by itself, and what is beyond 16 MiB.
    let bits = (2..setup.address_bits).map(|bit| 1 << bit);
    let beyond = [0x100_0000, 0x180_2000, 0x1c0_0000, 0x3ff_fffc];
    let mut all: Vec<u64> = ends.chain(bits).chain(beyond).collect();
    all.retain(|address| setup.reaches(*address));
    all
}

/// The bench compares the way of each access with `spinneret_regmap::bar`; this test sees to it that every
/// edge is tried.
fn every_edge<M: Model>(mut bench: BarBench<M>) {
    let mut reached = [0; 3];
    for address in addresses(&bench) {
        for offset in 0..4 {
            let address = address + offset;
            let destination = bar::decode(address as u32);
            let is_register = matches!(destination, Destination::ControlRegister(_));
            let read = bench.read_now(address);
            let strobes = 1 << offset;
            // The lower half of the registers holds the pattern that reads are compared with.
            let is_pattern =
                matches!(destination, Destination::ControlRegister(at) if u64::from(at) < WRITABLE);
            let written = if is_pattern {
                Response::Okay
            } else {
                bench.write_now(address, 0x1234_5678, strobes).response
            };
            let expected = match destination {
                Destination::Nothing => Response::DecodeError,
                _ => Response::Okay,
            };
            assert_eq!(read.response, expected, "{address:#x}");
            if !is_pattern {
                assert_eq!(written, expected, "{address:#x}");
            }
            reached[usize::from(is_register) + 2 * usize::from(destination == Destination::Nothing)] += 1;
        }
    }
    let large = bench.setup.address_bits >= 24;
    assert_eq!(
        reached.map(|count| count > 0),
        [true, large, large],
        "{reached:?}"
    );
    bench.finish();
}

#[test]
fn every_edge_of_the_map_is_where_the_register_map_says() {
    with_calm::<SpinneretBar>("bar_map", every_edge);
    with_calm::<SpinneretBarSmall>("bar_map_small", every_edge);
    with_calm::<SpinneretBarLarge>("bar_map_large", every_edge);
}

#[test]
fn every_strobe_and_protection_type_is_passed_on() {
    with_calm::<SpinneretBar>("bar_strobes", |mut bench| {
        for lane in 0..16 {
            for strobes in 0..16 {
                let protection = (lane as u8 ^ strobes) & 7;
                bench.write(0x10_0000 + 4 * lane, 0x89ab_cdef, strobes, protection);
                bench.write(0x80_8000 + 4 * lane, 0x0123_4567, strobes, protection);
                bench.read(0x10_0000 + 4 * lane, protection);
                bench.read(0x80_0000 + 4 * lane, protection);
            }
        }
        bench.settle();
        // No strobe at all is a write of nothing, which is answered like any other.
        assert_eq!(bench.write_now(0, 1, 0).response, Response::Okay);
        assert_eq!(bench.write_now(0x80_8000, 1, 0).response, Response::Okay);
        let memory = bench.registers.memory().read(0x8000, 4);
        assert_eq!(memory, [Some(0x67), Some(0x45), Some(0x23), Some(1)]);
        bench.finish();
    });
}
