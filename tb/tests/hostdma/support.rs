//! What the tests of the host DMA share.

use spinneret_sim::prelude::*;
use spinneret_tb::hostdma::{Behaviour, HostDmaBench};

/// Where tests write, unless it matters.
pub(crate) const BASE: u64 = 0x12_3456_7000;

/// A host DMA with all windows open.
pub(crate) fn open<M: Model>(run: &mut TestRun, behaviour: Behaviour) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(run.simulation(), behaviour);
    bench.open_windows(BASE);
    bench
}

/// An incrementing burst.
pub(crate) fn burst(id: u64, address: u64, beats: u64, size: u64) -> Burst {
    Burst {
        id,
        address,
        beats,
        size,
        kind: BurstKind::Incrementing,
    }
}

/// A burst of whole beats with these strobes; its bytes depend on the number.
pub(crate) fn strobed(bus: u64, address: u64, strobes: &[u128], number: u64) -> WriteRequest {
    let lanes = |beat: u64| {
        let byte = |lane: u64| (number * 31 + beat * 7 + lane + 1) as u8;
        (0..bus).map(byte).collect()
    };
    let beats = (0..).zip(strobes).map(|(beat, strobes)| (lanes(beat), *strobes));
    WriteRequest::new(burst(number % 16, address, strobes.len() as u64, bus), beats)
}

/// The ones from a bit to another; the zeros between them, if the first is above the second.
pub(crate) fn between(low: u32, high: u32, width: u32) -> u128 {
    let all = u128::MAX >> (128 - width);
    let ones = |from: u32, to: u32| (u128::MAX >> (127 - (to - from))) << from;
    if low <= high {
        ones(low, high)
    } else if low - high > 1 {
        all & !ones(high + 1, low - 1)
    } else {
        all
    }
}

/// Tests each of the three models in these cases, which are functions of this module.
macro_rules! test_each {
    ($($case:ident),*) => {
        $crate::support::test_each!(reference, PspinHostmemDma: $($case),*);
        $crate::support::test_each!(board, PspinHostmemDmaBoard: $($case),*);
        $crate::support::test_each!(small, PspinHostmemDmaSmall: $($case),*);
    };
    ($module:ident, $model:ident: $($case:ident),*) => {
        mod $module {
            use spinneret_models::$model;
            $(
                #[test]
                fn $case() {
                    spinneret_sim::test_run::run_test(1, super::$case::<$model>);
                }
            )*
        }
    };
}

pub(crate) use test_each;

/// A DMA that takes its time, fails nothing, and answers out of order.
pub(crate) fn slow() -> Behaviour {
    let mut behaviour = Behaviour::latency(40);
    behaviour.writes.spread = 60;
    behaviour.reads.spread = 60;
    behaviour
}
