//! Two ranks, each with its NIC, in one fabric of this process: what fails is a panic of the test.

use spinneret_fabric::Faults;
use spinneret_mpi::Layout;
use spinneret_mpi::library::Config;
use spinneret_nic::Simulated;
use spinneret_nic::mpi;
use spinneret_nic::mpi::PaperType;
use std::time::Duration;

pub(crate) use spinneret_nic::mpi::{Exchange, Exchanged, FILL, LIMIT, Rank, bytes, hindexed, hvector, room};

/// A program of a rank, on its NIC.
pub(crate) type Work<'p> = Box<dyn FnOnce(&Simulated) + Send + 'p>;

/// A library on a NIC of a fabric.
pub(crate) fn open(nic: &Simulated, ranks: usize, config: Config) -> Rank {
    let program = mpi::program().unwrap_or_else(|error| panic!("{error}"));
    mpi::rank_on(nic, &program, ranks, config).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a program on each NIC.
pub(crate) fn ranks(faults: Faults, seed: u64, programs: Vec<Work<'_>>) {
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            program(nic);
            Ok(())
        }) as mpi::Work<'_>
    });
    mpi::ranks(faults, seed, 2, programs.collect()).unwrap_or_else(|error| panic!("{error}"));
}

/// Sends a frame as soon as there is room, and waits a microsecond.
pub(crate) fn transmit(rank: &Rank, frame: &[u8]) {
    let wait = || {
        rank.nic()
            .wait(Duration::from_micros(1))
            .expect("the NIC is there")
    };
    while !rank.nic().transmit(frame).expect("the NIC is there") {
        wait();
    }
    wait();
}

/// Sends all messages, and compares all bytes of all buffers.
pub(crate) fn exchange(how: &Exchange) -> Exchanged {
    mpi::exchange(how).unwrap_or_else(|error| panic!("{error}"))
}

/// The paper's simple type, so many times.
pub(crate) fn simple(count: u64) -> Layout {
    PaperType::Simple.layout(count).expect("it has a layout")
}

/// The paper's complex type, so many times.
pub(crate) fn complex(count: u64) -> Layout {
    PaperType::Complex.layout(count).expect("it has a layout")
}
