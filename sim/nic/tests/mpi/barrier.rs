//! Barriers: nobody leaves one before all have come, as their common clock tells.

use super::support::{LIMIT, Work, ranks};
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_host::{Address, Nic};
use spinneret_mpi::Rank;
use spinneret_mpi::library::Config;
use spinneret_nic::{Simulated, mpi};
use std::sync::Mutex;
use std::time::Duration;

/// Barriers one after the other.
const BARRIERS: usize = 3;
/// Ranks: as many that the last round does not reach as far as the others.
const SIZE: usize = 3;

fn open(nic: &Simulated, own: usize) -> Rank<Simulated> {
    let addresses: Vec<Address> = (0..SIZE)
        .map(|rank| Address {
            mac: mac_of(rank),
            ip: ip_of(rank),
        })
        .collect();
    let nic = Nic::new(nic.clone()).expect("it is a NIC");
    let config = Config {
        patience: LIMIT,
        ..Config::default()
    };
    let world = (own, (0..SIZE).collect());
    let program = mpi::program().unwrap_or_else(|error| panic!("{error}"));
    Rank::new(&nic, &program, &addresses, world, config).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn nobody_leaves_before_all_have_come() {
    let times: Mutex<Vec<[Duration; 2]>> = Mutex::default();
    let work = |own: usize| -> Work<'_> {
        let times = &times;
        Box::new(move |nic: &Simulated| {
            let mut rank = open(nic, own);
            let world = rank.world();
            for barrier in 0..BARRIERS {
                let late = Duration::from_micros((own * 7 + barrier * 13) as u64 % 50);
                rank.library().nic().compute(late).expect("it is there");
                let come = rank.library().nic().now();
                rank.barrier(&world)
                    .unwrap_or_else(|error| panic!("rank {own}: {error}"));
                let left = rank.library().nic().now();
                times.lock().expect("nobody panicked").push([come, left]);
            }
            rank.close().unwrap_or_else(|error| panic!("rank {own}: {error}"));
        })
    };
    let faults = Faults {
        loss: 0.02,
        ..Faults::default()
    };
    ranks(faults, 3, (0..SIZE).map(work).collect());
    let mut times = times.into_inner().expect("nobody panicked");
    assert_eq!(times.len(), SIZE * BARRIERS);
    times.sort();
    for barrier in times.chunks(SIZE) {
        let last = barrier.iter().map(|[come, _]| come).max();
        assert!(barrier.iter().all(|[_, left]| Some(left) >= last), "{barrier:?}");
    }
}
