//! Every target for a while, the engine with targets that break, and all inputs that ever broke something.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_fuzz::engine::{Plan, drive, take};
use spinneret_fuzz::targets::ALL;
use spinneret_fuzz::{Fed, Target};
use spinneret_sim::seed::Seed;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

fn plan(pieces: u64, folder: &Path) -> Plan {
    Plan {
        seed: Seed::from_env_or(1).expect("the seed is a number"),
        first: 0,
        pieces,
        time: None,
        folder: folder.to_owned(),
    }
}

/// Memory is that of the whole process, so one target is driven at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn holds(name: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = ALL
        .iter()
        .find(|entry| entry.name == name)
        .expect("there is such a target");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut target = entry.make().unwrap_or_else(|error| panic!("{error:#}"));
    let figures = drive(name, &mut *target, &plan(entry.tested, folder), |_| {});
    let figures = figures.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(
        figures.understood * 20 > figures.pieces,
        "{name}: {} of {} were understood: this tests the door alone",
        figures.understood,
        figures.pieces
    );
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    for path in std::fs::read_dir(corpus).into_iter().flatten().flatten() {
        let input = std::fs::read(path.path()).expect("it can be read");
        let fed = take(&mut *target, &input);
        assert!(fed.is_ok(), "{}: {fed:?}", path.path().display());
    }
}

#[test]
fn captures_hold() {
    holds("captures");
}

#[test]
fn rules_hold() {
    holds("rules");
}

#[test]
fn topologies_hold() {
    holds("topology");
}

#[test]
fn the_page_holds() {
    holds("page");
}

#[test]
fn the_port_of_gdb_holds() {
    holds("gdb");
}

#[test]
fn elf_files_hold() {
    holds("elf");
}

#[test]
fn the_socket_holds() {
    holds("socket");
}

#[test]
fn the_pci_function_holds() {
    holds("pci");
}

#[test]
fn slmp_holds() {
    holds("slmp");
}

#[test]
fn handlers_hold() {
    holds("handlers");
}

/// What a target does with an input.
type Run = fn(&[u8]) -> Result<Fed, String>;

/// Breaks on inputs of its own kind.
struct Fragile(Run);

impl Target for Fragile {
    fn pieces(&self) -> &'static str {
        "bytes"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        vec![rng.random_range(0..50)]
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        (self.0)(input)
    }
}

#[test]
fn what_breaks_is_told_with_the_input_that_does_it_again() {
    // Who writes where a panic came from reads all that the compiler knows of this program, which is memory.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("there is room");
    let breaks: [Run; 2] = [
        |input| match input[0] {
            7 => panic!("seven"),
            _ => Ok(Fed::default()),
        },
        |input| match input[0] {
            7 => Err("seven".to_owned()),
            _ => Ok(Fed::default()),
        },
    ];
    for broken in breaks {
        let error = drive(
            "fragile",
            &mut Fragile(broken),
            &plan(1000, folder.path()),
            |_| {},
        );
        let error = error.expect_err("one of a thousand is a seven").to_string();
        assert!(
            error.contains("seven") && error.contains("./dev fuzz fragile --input"),
            "{error}"
        );
        let path = error.rsplit(' ').next().expect("it ends with the file");
        let input = std::fs::read(path).expect("it was kept");
        assert_eq!(input, [7]);
        assert!(take(&mut Fragile(broken), &input).is_err());
    }
}

#[test]
fn growth_is_found() {
    static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("there is room");
    let mut greedy = Fragile(|input| {
        KEPT.lock()
            .expect("nobody panicked")
            .push(vec![input[0]; 1 << 20]);
        Ok(Fed::default())
    });
    let error = drive("greedy", &mut greedy, &plan(100, folder.path()), |_| {});
    assert!(error.is_err_and(|error| error.to_string().contains("grew by")));
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for entry in &ALL {
        let target = entry.make().unwrap_or_else(|error| panic!("{error:#}"));
        let input = || target.generate(&mut Seed(5).rng("a case"));
        assert_eq!(input(), input(), "{}", entry.name);
    }
}
