//! How long ranks take for what spinneret does most: `mpirun -n 2 latency` prints medians, in microseconds.

use spinneret_mpi_sys::{Comm, Error, Mpi, Reduction};
use std::process::ExitCode;

/// Runs of which the median is taken at most.
const RUNS: u64 = 2000;

/// Runs before, which warm up, and say how many there is time for.
const BEFORE: u64 = 20;

/// About how long one line may take, in seconds: MPICH is slow with more ranks than processors.
const TIME: f64 = 2.0;

fn main() -> ExitCode {
    let mpi = match Mpi::init() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("latency: {error}");
            return ExitCode::FAILURE;
        }
    };
    mpi.or_abort(measure(&mpi));
    ExitCode::SUCCESS
}

fn measure(mpi: &Mpi) -> Result<(), Error> {
    let world = mpi.world();
    if world.rank() == 0 {
        println!("{} ranks, {}", world.size(), mpi.version()?.library);
    }
    let mut number = [7];
    let (from, mut to) = (vec![3; 2 * world.size()], vec![0; 2 * world.size()]);
    report(mpi, "barrier", 1.0, || world.barrier())?;
    report(mpi, "allreduce of one u64", 1.0, || {
        world.allreduce(Reduction::Max, &mut number)
    })?;
    report(mpi, "alltoall of two u64 a rank", 1.0, || {
        world.alltoall(&from, &mut to)
    })?;
    for bytes in [64, 64 << 10] {
        let mut area = vec![1; bytes];
        // Half of what there and back takes.
        report(mpi, &format!("message of {bytes} B, one way"), 0.5, || {
            ping_pong(&world, &mut area)
        })?;
    }
    Ok(())
}

/// Between ranks 0 and 1; the others wait.
fn ping_pong(world: &Comm, area: &mut [u8]) -> Result<(), Error> {
    match (world.rank(), world.size()) {
        (_, 1) => {}
        (0, _) => {
            world.send(area, 1, 1)?;
            world.recv(area, Some(1), Some(2))?;
        }
        (1, _) => {
            world.recv(area, Some(0), Some(1))?;
            world.send(area, 0, 2)?;
        }
        _ => {}
    }
    Ok(())
}

fn report(
    mpi: &Mpi,
    what: &str,
    share: f64,
    mut run: impl FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let start = mpi.wtime();
    for _ in 0..BEFORE {
        run()?;
    }
    let each = (mpi.wtime() - start) / BEFORE as f64;
    let mut runs = [((TIME / each) as u64).clamp(BEFORE, RUNS)];
    mpi.world().allreduce(Reduction::Min, &mut runs)?;
    let mut times = Vec::new();
    for _ in 0..runs[0] {
        let start = mpi.wtime();
        run()?;
        times.push(mpi.wtime() - start);
    }
    times.sort_by(f64::total_cmp);
    mpi.world().barrier()?;
    if mpi.world().rank() == 0 {
        let median = times[times.len() / 2];
        println!("{what:32} {:10.2} us", median * share * 1e6);
    }
    Ok(())
}
