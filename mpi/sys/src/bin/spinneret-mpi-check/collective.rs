//! What all ranks do together.

use crate::{Failure, Random, expect, text};
use spinneret_mpi_sys::{Comm, Mpi, Reduction};

/// Every collective function, in the world, in a copy of it, in halves, and alone.
pub(crate) fn check(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    in_comm(&world)?;
    in_comm(&world.dup().map_err(text)?)?;
    in_comm(&mpi.alone())?;
    let (rank, size) = (world.rank(), world.size());
    // Odd and even ranks, each in backward order.
    let half = world.split(Some(rank as u32 % 2), -(rank as i32)).map_err(text)?;
    let half = half.ok_or("a rank with a colour is in no part")?;
    let others = (0..size).filter(|other| other % 2 == rank % 2).count();
    expect("ranks of the same colour", half.size(), others)?;
    expect("the rank among them", half.rank(), others - 1 - rank / 2)?;
    in_comm(&half)?;
    let first = world.split((rank == 0).then_some(7), 0).map_err(text)?;
    expect("whether it is in the part", first.is_some(), rank == 0)
}

fn in_comm(comm: &Comm) -> Result<(), Failure> {
    let (rank, size) = (comm.rank(), comm.size());
    comm.barrier().map_err(text)?;
    for root in 0..size {
        let expected = Random::new(root as u64).bytes(1000);
        let mut bytes = if rank == root {
            expected.clone()
        } else {
            vec![0; 1000]
        };
        comm.bcast(root, &mut bytes).map_err(text)?;
        expect("bytes of a broadcast", &bytes, &expected)?;
        let own = [rank as u8, root as u8, 7];
        let all: Vec<u8> = (0..size).flat_map(|other| [other as u8, root as u8, 7]).collect();
        let gathered = comm.gather(root, &own).map_err(text)?;
        expect("gathered bytes", gathered, (rank == root).then_some(all))?;
    }
    let all: Vec<u8> = (0..size).flat_map(|other| [other as u8, 9]).collect();
    expect(
        "bytes of all",
        comm.allgather(&[rank as u8, 9]).map_err(text)?,
        all,
    )?;
    expect("nothing of all", comm.allgather(&[]).map_err(text)?, vec![])?;
    reductions(comm)
}

fn reductions(comm: &Comm) -> Result<(), Failure> {
    let numbers = |rank: usize| {
        let mut random = Random::new(100 + rank as u64);
        (0..17).map(move |_| random.number())
    };
    for (reduction, fold) in [
        (Reduction::Min, u64::min as fn(u64, u64) -> u64),
        (Reduction::Max, u64::max),
        (Reduction::Sum, u64::wrapping_add),
    ] {
        let mut found: Vec<u64> = numbers(comm.rank()).collect();
        comm.allreduce(reduction, &mut found).map_err(text)?;
        let mut expected: Vec<u64> = numbers(0).collect();
        for other in 1..comm.size() {
            for (number, others) in expected.iter_mut().zip(numbers(other)) {
                *number = fold(*number, others);
            }
        }
        expect(&format!("{reduction:?}"), found, expected)?;
    }
    Ok(())
}
