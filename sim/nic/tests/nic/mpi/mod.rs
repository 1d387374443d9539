//! Receives of MPI's datatypes that land in place: two ranks, each with its NIC, in one fabric.

mod own;
mod rates;
mod robustness;
mod types;

pub(crate) use spinneret_nic::mpi::{Exchange, Exchanged, FILL, LIMIT, Rank, bytes, hindexed, hvector, room};

use crate::kit::ok;
use spinneret_fabric::Faults;
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Buffer, Config, Copies, From, Request, To};
use spinneret_nic::mpi::PaperType;
use spinneret_nic::{Simulated, mpi};
use std::time::Duration;

/// A program of a rank, on its NIC.
pub(crate) type Work<'p> = Box<dyn FnOnce(&Simulated) + Send + 'p>;

/// A library on a NIC of a fabric.
pub(crate) fn open(nic: &Simulated, ranks: usize, config: Config) -> Rank {
    ok(mpi::rank_on(nic, &ok(mpi::program()), ranks, config))
}

/// Runs a program on each NIC.
pub(crate) fn ranks(faults: Faults, seed: u64, programs: Vec<Work<'_>>) {
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            program(nic);
            Ok(())
        }) as mpi::Work<'_>
    });
    ok(mpi::ranks(faults, seed, 2, programs.collect()));
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
    ok(mpi::exchange(how))
}

/// The paper's simple type, so many times.
pub(crate) fn simple(count: u64) -> Layout {
    PaperType::Simple.layout(count).expect("it has a layout")
}

/// The paper's complex type, so many times.
pub(crate) fn complex(count: u64) -> Layout {
    PaperType::Complex.layout(count).expect("it has a layout")
}

/// A buffer around elements, filled with one byte, and the origin of the elements.
fn filled(rank: &mut Rank, layout: &Layout, byte: u8) -> (Buffer, i64) {
    let (origin, bytes) = room(layout);
    let buffer = ok(rank.buffer(bytes));
    ok(rank.write(&buffer, 0, &vec![byte; bytes as usize]));
    (buffer, origin)
}

/// A receive into a buffer of its own.
fn receive(rank: &mut Rank, layout: &Layout, from: From) -> (Request, Buffer) {
    let (buffer, origin) = filled(rank, layout, FILL);
    let request = rank.recv_init(&buffer, origin, layout, from, Copies::Refused);
    (ok(request), buffer)
}

/// A send from a buffer of its own.
fn send(rank: &mut Rank, layout: &Layout, byte: u8, to: To) -> Request {
    let (buffer, origin) = filled(rank, layout, byte);
    ok(rank.send_init(&buffer, origin, layout, to))
}

/// The number of these bytes in a buffer.
fn count(rank: &Rank, buffer: &Buffer, byte: u8) -> usize {
    let mut found = vec![0; buffer.len() as usize];
    ok(rank.read(buffer, 0, &mut found));
    found.iter().filter(|found| **found == byte).count()
}
