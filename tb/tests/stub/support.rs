//! Random bursts and HERs.

use spinneret_sim::prelude::*;
use spinneret_tb::stub::{Behaviour, Her, StubBench};

/// Bytes of a line.
pub(crate) const LINE: u64 = 64;
/// The region of packets.
pub(crate) const PACKETS: u64 = 3;
/// Bytes at the end of that region that HERs read into.
const HANDLER: u64 = 512;

/// Pauses, a host that is slow and fails, all from the seed.
pub(crate) fn behaviour(rng: &mut ChaCha8Rng) -> Behaviour {
    let pause = Pause::Random {
        percent: [0, 20, 60][rng.random_range(0..3)],
    };
    let percent = [0, 15][rng.random_range(0..2)];
    let latency = Latency { least: 1, most: 12 };
    Behaviour {
        writes: SlaveConfig {
            address: pause.clone(),
            data: pause.clone(),
            latency,
            faults: Faults::Random { percent },
            ..SlaveConfig::default()
        },
        reads: SlaveConfig {
            address: pause.clone(),
            data: pause.clone(),
            latency,
            faults: Faults::Random { percent },
            ..SlaveConfig::default()
        },
        pause,
        delay: 9,
        unread_percent: 40,
    }
}

/// A burst within a region, of any size, length and alignment.
pub(crate) fn burst<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>, region: u64) -> Burst {
    let places = bench.places;
    let size = 1 << rng.random_range(0..=6);
    let offset = rng.random_range(0..places.region_bytes());
    let address = places.address(rng, region, offset);
    // No burst crosses 4 KiB, and regions are whole pages.
    let first = address & !(size - 1);
    let most = ((4096 - first % 4096) / size).min(256);
    Burst {
        id: rng.random_range(0..64),
        address,
        beats: rng.random_range(1..=most.min(20)),
        size,
        kind: BurstKind::Incrementing,
    }
}

/// A burst that has to fail.
pub(crate) fn bad_burst<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>) -> Burst {
    let good = burst(rng, bench, 0);
    match rng.random_range(0..4) {
        0 => Burst {
            kind: [BurstKind::Fixed, BurstKind::Wrapping, BurstKind::Reserved][rng.random_range(0..3)],
            ..good
        },
        1 => Burst { size: 128, ..good },
        // Right behind the windows, and right before them.
        2 => {
            let edges = [0x1bff_f000, 0x1c18_0000, 0x1cff_f000, 0x1d00_8000, 0, 0xffff_f000];
            let address = edges[rng.random_range(0..6)];
            Burst { address, ..good }
        }
        _ => {
            let address = u64::from(rng.random::<u32>() & !0xfff) | 1 << 31;
            Burst { address, ..good }
        }
    }
}

/// A write with random data and strobes.
pub(crate) fn write(rng: &mut ChaCha8Rng, burst: Burst) -> WriteRequest {
    let beats = (0..burst.beats).map(|number| {
        let mut bytes = vec![0; LINE as usize];
        rng.fill_bytes(&mut bytes);
        let lanes = burst.lanes(number, LINE);
        let strobes = if rng.random() {
            lanes
        } else {
            lanes & rng.random::<u128>()
        };
        (bytes, strobes)
    });
    WriteRequest::new(burst, beats.collect::<Vec<_>>())
}

/// Fills the region of packets with random bytes.
pub(crate) fn fill_packets<M: Model>(rng: &mut ChaCha8Rng, bench: &mut StubBench<M>) {
    let most = bench.places.region_bytes().min(16384);
    for line in (0..most / LINE).step_by(16) {
        let address = bench.places.address(rng, PACKETS, line * LINE);
        let mut bytes = vec![0; 16 * LINE as usize];
        rng.fill_bytes(&mut bytes);
        bench.write(0, WriteRequest::bytes(1, address, &bytes, LINE as usize));
    }
    bench.settle();
}

/// A HER for a packet of that many bytes.
pub(crate) fn her<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>, number: u64, size: u64) -> Her {
    let places = bench.places;
    let most = places.region_bytes().min(16384) - HANDLER;
    let size = size.min(most - LINE);
    let mut offset = rng.random_range(0..(most - size) / LINE) * LINE;
    if rng.random_range(0..3) == 0 {
        offset += rng.random_range(0..LINE);
    }
    let near_page = rng.random_range(0..2) * (4096 - rng.random_range(0..200));
    let handler = most + rng.random_range(0..HANDLER);
    Her {
        message: rng.random_range(0..1024),
        address: 0x1c00_0000 + PACKETS * places.region_bytes() + offset,
        size,
        transfer_size: u64::from(rng.random::<u32>()),
        host: ((number + 1) << 20) | (near_page + rng.random_range(0..LINE)),
        handler: 0x1c00_0000 + PACKETS * places.region_bytes() + handler,
        operations: u64::from(rng.random::<u32>()),
    }
}
