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
        let mut any = if rank == root {
            expected.clone()
        } else {
            vec![1; rank]
        };
        comm.bcast_any(root, &mut any).map_err(text)?;
        expect("bytes of a broadcast of any length", &any, &expected)?;
        let own = [rank as u8, root as u8, 7];
        let all: Vec<u8> = (0..size).flat_map(|other| [other as u8, root as u8, 7]).collect();
        let gathered = comm.gather(root, &own).map_err(text)?;
        expect("gathered bytes", gathered, (rank == root).then_some(all))?;
        let parts: Vec<Vec<u8>> = (0..size).map(|other| vec![other as u8; 3 * other]).collect();
        let gathered = comm.gatherv(root, &parts[rank]).map_err(text)?;
        expect("gathered parts", gathered, (rank == root).then_some(parts))?;
    }
    let all: Vec<u8> = (0..size).flat_map(|other| [other as u8, 9]).collect();
    expect(
        "bytes of all",
        comm.allgather(&[rank as u8, 9]).map_err(text)?,
        all,
    )?;
    let parts: Vec<Vec<u8>> = (0..size)
        .map(|other| vec![other as u8; 5 * (size - other - 1)])
        .collect();
    expect(
        "parts of all",
        comm.allgatherv(&parts[rank]).map_err(text)?,
        parts,
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

/// Random bytes from all to all, against what everybody can compute.
pub(crate) fn exchange(mpi: &Mpi) -> Result<(), Failure> {
    let world = mpi.world();
    let (rank, size) = (world.rank(), world.size());
    // Every rank knows what every other sends: all draw from the same sequences.
    let part = |round: u64, from: usize, to: usize| {
        let mut random = Random::new((round << 32) | ((from as u64) << 16) | to as u64);
        let number = random.number();
        // Some parts are empty, some longer than what goes along with the first packet.
        let length = match number % 4 {
            0 => 0,
            1 => number >> 8 & 0xff,
            2 => number >> 8 & 0xfff,
            _ => number >> 8 & 0x3_ffff,
        };
        random.bytes(length as usize)
    };
    for round in 0..30 {
        let from: Vec<u64> = (0..2 * size as u64)
            .map(|place| 1000 * rank as u64 + place)
            .collect();
        let mut to = vec![0; 2 * size];
        world.alltoall(&from, &mut to).map_err(text)?;
        let place = 2 * rank as u64;
        let expected: Vec<u64> = (0..size as u64)
            .flat_map(|other| [1000 * other + place, 1000 * other + place + 1])
            .collect();
        expect("numbers of all for this rank", to, expected)?;

        let sent: Vec<Vec<u8>> = (0..size).map(|other| part(round, rank, other)).collect();
        let expected: Vec<Vec<u8>> = (0..size).map(|other| part(round, other, rank)).collect();
        let taken = world.alltoallv(&sent).map_err(text)?;
        expect("parts of all for this rank", &taken, &expected)?;

        let lengths = |parts: &[Vec<u8>]| parts.iter().map(Vec::len).collect::<Vec<_>>();
        let mut area = vec![0; expected.iter().map(Vec::len).sum()];
        let (here, there) = (lengths(&sent), lengths(&expected));
        world
            .alltoallv_known(&sent.concat(), &here, &mut area, &there)
            .map_err(text)?;
        expect("parts of known lengths", area, expected.concat())?;
    }
    Ok(())
}
