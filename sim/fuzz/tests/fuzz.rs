//! Runs every target briefly, the engine with broken targets, and all inputs that once failed.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_fuzz::engine::{Plan, drive, run_input};
use spinneret_fuzz::targets::ALL;
use spinneret_fuzz::{Counts, Target};
use spinneret_sim::seed::Seed;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_target(name: &str) {
    let _alone = one_at_a_time();
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
        "{name}: {} of {} were understood: most inputs are rejected at once",
        figures.understood,
        figures.pieces
    );
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    for path in std::fs::read_dir(corpus).into_iter().flatten().flatten() {
        let input = std::fs::read(path.path()).expect("it can be read");
        let counts = run_input(&mut *target, &input);
        assert!(counts.is_ok(), "{}: {counts:?}", path.path().display());
    }
}

/// A test for each target.
macro_rules! test_targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run_target(stringify!($name));
        })*
    };
}

test_targets! { captures rules topology page gdb elf socket pci slmp handlers }

/// Code of a target.
type Run = fn(&[u8]) -> Result<Counts, String>;

/// Breaks on inputs of its own kind.
struct Fragile(Run);

impl Target for Fragile {
    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        vec![rng.random_range(0..50)]
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        (self.0)(input)
    }
}

#[test]
fn reports_a_failure_with_the_input_that_reproduces_it() {
    // Printing the location of a panic loads the debug information of this program, which is memory.
    let _alone = one_at_a_time();
    let folder = tempfile::tempdir().expect("there is room");
    let breaks: [Run; 2] = [
        |input| match input[0] {
            7 => panic!("seven"),
            _ => Ok(Counts::default()),
        },
        |input| match input[0] {
            7 => Err("seven".to_owned()),
            _ => Ok(Counts::default()),
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
        assert!(run_input(&mut Fragile(broken), &input).is_err());
    }
}

#[test]
fn detects_memory_growth() {
    static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    let _alone = one_at_a_time();
    let folder = tempfile::tempdir().expect("there is room");
    let mut greedy = Fragile(|input| {
        KEPT.lock()
            .expect("nobody panicked")
            .push(vec![input[0]; 1 << 20]);
        Ok(Counts::default())
    });
    let error = drive("greedy", &mut greedy, &plan(100, folder.path()), |_| {});
    assert!(error.is_err_and(|error| error.to_string().contains("memory grew by")));
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let _alone = one_at_a_time();
    for entry in &ALL {
        let target = entry.make().unwrap_or_else(|error| panic!("{error:#}"));
        let input = || target.generate(&mut Seed(5).rng("a case"));
        assert_eq!(input(), input(), "{}", entry.name);
    }
}

#[test]
fn help_and_messages_are_in_one_place() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fuzz"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("the program was built");
        let text = [output.stdout, output.stderr].concat();
        format!(
            "$ fuzz {}\n{}exit code {:?}\n",
            arguments.join(" "),
            String::from_utf8_lossy(&text),
            output.status.code()
        )
    };
    std::fs::write(folder.path().join("damaged"), "[[nic]]\nname = 'a'\nname = 'b'\n")
        .expect("there is room");
    let runs = [
        run(&["--help"]),
        run(&["nothing"]),
        run(&["rules", "--pieces", "many"]),
        run(&["rules", "--input", "missing"]),
        run(&["rules", "--input", "damaged", "--seconds", "1"]),
        run(&["rules", "captures", "topology", "--input", "damaged"]),
    ];
    insta::assert_snapshot!(runs.join("\n"));
}
