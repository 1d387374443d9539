//! The writes of handlers against those of `MPI_Unpack` of each MPI, byte by byte, with guard bytes around.

#[path = "../../../../../mpi/tests/datatypes/recipe.rs"]
mod recipe;

use super::order::deliver;
use super::receiver::{FULL, Receiver};
use crate::bench::HOST;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use recipe::{Faults, Recipe};
use spinneret_mpi::nic::memory::SLOTS;
use spinneret_mpi::{Layout, Overlap};
use spinneret_mpi_sys::{Error, Library, Mpi};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::process::Command;

/// Names the compiler of an MPI to the process that is to use it: a process can start one only, and once.
const COMPILER: &str = "SPINNERET_ORACLE_MPICC";
/// Random types for each MPI; PROPTEST_CASES can ask for more.
const CASES: u32 = 100;
/// Maximum number of bytes of a message, and of the memory around it.
const MOST_BYTES: i64 = 30_000;
const MOST_MEMORY: i64 = 1 << 20;
/// Number of bytes around the elements that must not be touched.
const GUARD: i64 = 64;
/// Initial content of memory.
const FILL: u8 = 0x55;

#[test]
fn handlers_write_what_unpack_does() {
    let test = "mpi_types::oracle::handlers_write_what_unpack_does";
    if let Ok(compiler) = std::env::var(COMPILER) {
        return with_mpi(test, &compiler);
    }
    for compiler in ["mpicc.openmpi", "mpicc.mpich"] {
        let this = std::env::current_exe().expect("the test runs");
        let output = Command::new(this)
            .args([test, "--exact", "--nocapture"])
            .env(COMPILER, compiler)
            .output()
            .expect("the test runs");
        let [printed, said] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        println!("{compiler}: {printed}{said}");
        assert!(output.status.success(), "with {compiler}: {printed}{said}");
    }
}

fn with_mpi(test: &str, compiler: &str) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let library = match Library::with(Path::new(compiler), Some(&cache)) {
        Err(Error::NoCompiler { .. }) => {
            spinneret_skip::skip(test, &format!("there is no {compiler} (run `./dev setup`)"));
            return;
        }
        library => library.expect("its layer compiles"),
    };
    let faults = match compiler {
        "mpicc.mpich" => Faults::MPICH,
        _ => Faults::OPEN_MPI,
    };
    let mpi = Mpi::init_with(&library).expect("it starts");
    let result = random(&mpi, faults);
    // The end of MPI in a panic would be that of the process, before the panic's words are shown.
    drop(mpi);
    result.unwrap_or_else(|error| panic!("{error}"));
}

fn random(mpi: &Mpi, faults: Faults) -> Result<(), String> {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let cases = config.cases.max(CASES);
    let config = Config { cases, ..config };
    // The cluster goes on from case to case, as it would.
    let receiver = RefCell::new(Receiver::new());
    let input = (
        recipe::any(i64::from(faults.empty_parts)),
        1..4_usize,
        any::<u64>(),
    );
    let used = Cell::new(0);
    let result = TestRunner::new(config).run(&input, |(recipe, count, seed)| {
        let is_used = compare(mpi, faults, &mut receiver.borrow_mut(), (&recipe, count), seed)?;
        used.set(used.get() + u32::from(is_used));
        Ok(())
    });
    let used = used.get();
    println!("{used} of {cases} types were compared with MPI_Unpack");
    match result {
        Ok(()) if used > cases / 4 => Ok(()),
        Ok(()) => Err(format!("only {used} of {cases} types were compared")),
        Err(error) => Err(error.to_string()),
    }
}

/// Lets the NIC and MPI unpack elements of a type; says whether both could.
fn compare(
    mpi: &Mpi,
    faults: Faults,
    receiver: &mut Receiver,
    (recipe, count): (&Recipe, usize),
    seed: u64,
) -> Result<bool, TestCaseError> {
    let failed = |error: &dyn std::fmt::Display| TestCaseError::fail(error.to_string());
    let made = match recipe.make(mpi) {
        Err(Error::Call {
            call: "MPI_Type_create_darray",
            ..
        }) if faults.empty_arrays => return Ok(false),
        made => made.map_err(|error| failed(&error))?,
    };
    let tree = made.contents().map_err(|error| failed(&error))?;
    if faults.spoil(&tree) || tree.bounds.size * count as i64 > MOST_BYTES {
        return Ok(false);
    }
    let layout = Layout::of(&tree, count as u64).map_err(|error| failed(&error))?;
    // MPI's bounds may be further, and `unpack` wants memory for all that they say. A type of no size has none.
    let (mut first, mut end) = (layout.first(), layout.end());
    if layout.bytes() != 0 {
        let far = (count as i64 - 1) * tree.bounds.extent;
        let lowest = tree.bounds.true_lower_bound;
        first = first.min(lowest + far.min(0));
        end = end.max(lowest + tree.bounds.true_extent + far.max(0));
    }
    let length = end - first + 2 * GUARD;
    let Ok(origin) = usize::try_from(GUARD - first) else {
        return Ok(false);
    };
    if length > MOST_MEMORY || layout.overlap() != Overlap::None {
        return Ok(false);
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let unit = random.random_range(1..=FULL).max(layout.bytes() as u32 / 60);
    receiver.bench.host_clocks = random.random_range(0..60);
    let message = receiver.post_layout(random.random_range(0..SLOTS), layout, unit.min(FULL));
    deliver(receiver, std::slice::from_ref(&message), &mut random);
    let mut expected = vec![FILL; length as usize];
    made.unpack(&message.bytes, &mut 0, &mut expected, origin, count)
        .map_err(|error| failed(&error))?;
    let mut found = vec![FILL; length as usize];
    for (place, byte) in receiver.written() {
        let at = place
            .wrapping_sub(HOST + message.buffer)
            .wrapping_add(origin as u64);
        let there = found.get_mut(at as usize);
        *there.ok_or_else(|| TestCaseError::fail(format!("byte {at} of {length} was written")))? = byte;
    }
    proptest::prop_assert_eq!(found, expected, "{:?}", message.layout);
    Ok(true)
}
