//! The frame around a test: seeds, waveforms, simulations that were forgotten.

use crate::support::{assert_contains, panic_message};
use spinneret_fixtures::{FixtureDropsValid, FixtureSlice};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a waveform is to appear.
fn wave(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("this test has a file");
    let target = program
        .ancestors()
        .find(|folder| folder.join(".rustc_info.json").is_file());
    target
        .expect("Cargo's target directory")
        .join("waves")
        .join(format!("{name}.fst"))
}

/// A folder of its own for the waveforms of one test, which does not exist yet.
fn without_wave(name: &str) -> PathBuf {
    let path = wave(name);
    let _ = fs::remove_file(&path);
    path
}

/// Whether a file is a waveform that was completed: its first block is FST's header, not the mark of a
/// file that is still being written, and its length is the one that the format says.
fn assert_is_complete_fst(path: &Path) {
    let bytes = fs::read(path).expect("the waveform exists");
    let mut position = 0;
    let mut blocks = Vec::new();
    while position < bytes.len() {
        blocks.push(bytes[position]);
        let length = bytes[position + 1..position + 9]
            .try_into()
            .expect("the length takes 8 bytes");
        position += 1 + u64::from_be_bytes(length) as usize;
    }
    assert_eq!(position, bytes.len(), "the last block is complete");
    assert_eq!(blocks[0], 0, "the header comes first");
    assert!(
        blocks.contains(&3) || blocks.contains(&4),
        "there is a block of geometry or hierarchy: {blocks:?}"
    );
    assert!(
        blocks.contains(&8) || blocks.contains(&5) || blocks.contains(&1),
        "there are values: {blocks:?}"
    );
}

fn breaks_a_rule(run: &mut TestRun) {
    let mut sim = run.simulation::<FixtureDropsValid>();
    let source = sim.source("s_axis", Pause::Never);
    let _sink = sim.sink("m_axis", Pause::AlwaysAfter(0));
    sim.reset();
    source.send(Frame::new([1; 4]));
    sim.run(30_000);
}

#[test]
fn a_test_that_passes_runs_once_without_a_waveform() {
    let path = without_wave("passes");
    let runs = RefCell::new(0);
    run_named("passes", 1, |run| {
        *runs.borrow_mut() += 1;
        let mut sim = run.simulation::<FixtureSlice>();
        sim.reset();
        sim.run(10);
        sim.finish();
    });
    assert_eq!((runs.into_inner(), path.exists()), (1, false));
}

#[test]
fn a_test_that_fails_leaves_a_waveform() {
    let path = without_wave("breaks_a_rule");
    let message = panic_message(|| run_named("breaks_a_rule", 0x1234, breaks_a_rule));
    assert_contains(&message, "m_axis: valid went low before ready was high");
    assert!(
        message.ends_with("(reproduce with SPINNERET_SEED=0x1234)"),
        "{message}"
    );
    assert_is_complete_fst(&path);
}

#[test]
fn every_simulation_of_a_test_has_its_waveform() {
    let paths = [without_wave("two"), without_wave("two.2")];
    panic_message(|| {
        run_named("two", 1, |run| {
            let mut sims = [run.simulation::<FixtureSlice>(), run.simulation::<FixtureSlice>()];
            sims.iter_mut().for_each(|sim| sim.run(25_000));
            panic!("stop");
        });
    });
    paths.iter().for_each(|path| assert_is_complete_fst(path));
}

#[test]
fn both_runs_draw_the_same_numbers() {
    let drawn = RefCell::new(Vec::new());
    let message = panic_message(|| {
        run_named("draws", 5, |run| {
            drawn
                .borrow_mut()
                .push((run.seed(), run.rng("a").next_u64(), run.rng("b").next_u64()));
            panic!("always");
        });
    });
    assert_eq!(message, "always");
    let drawn = drawn.into_inner();
    assert_eq!(drawn.len(), 2);
    assert_eq!(drawn[0], drawn[1]);
}

#[test]
fn unfinished_work_fails_the_test() {
    let message = panic_message(|| {
        run_named("forgotten", 1, |run| {
            let mut sim = run.simulation::<FixtureSlice>();
            let source = sim.source("s_axis", Pause::AlwaysAfter(0));
            sim.reset();
            source.send(Frame::new([1; 10]));
            sim.run(10);
        });
    });
    assert_eq!(
        message,
        "fixture_slice, cycle 14: the test ended too early:
  s_axis: source has sent 0 frames, 1 are waiting, beat 0 is next, valid=0 ready=1 (reproduce with SPINNERET_SEED=0x1)"
    );
}

/// Runs one of the tests above in a process of its own.
fn run_alone(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let program = std::env::current_exe().expect("this test has a file");
    let mut command = Command::new(program);
    command
        .args([&format!("test_run::{test}"), "--exact", "--nocapture"])
        .envs(variables.iter().copied());
    let output = command.output().expect("this test can be started");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn the_environment_sets_the_seed() {
    let (_, stderr) = run_alone(
        "a_test_that_fails_leaves_a_waveform",
        &[("SPINNERET_SEED", "0xbeef")],
    );
    assert_contains(
        &stderr,
        "breaks_a_rule failed: reproduce with SPINNERET_SEED=0xbeef\n",
    );
    assert_contains(&stderr, "breaks_a_rule runs again, to record a waveform\n");
    assert_contains(
        &stderr,
        &format!("the waveform is in {}\n", wave("breaks_a_rule").display()),
    );

    let (passed, stderr) = run_alone(
        "a_test_that_passes_runs_once_without_a_waveform",
        &[("SPINNERET_SEED", "many")],
    );
    assert!(!passed);
    assert_contains(&stderr, "SPINNERET_SEED is `many`, which is not a whole number");
}

#[test]
fn the_environment_asks_for_waveforms() {
    let (passed, stderr) = run_alone(
        "writes_a_waveform_on_request",
        &[("SPINNERET_WAVES", "1"), ("SPINNERET_SEED", "3")],
    );
    assert!(passed, "{stderr}");
    assert_contains(&stderr, "the waveform is in ");
    assert_is_complete_fst(&wave("draws_a_waveform"));
}

#[test]
fn the_environment_asks_for_waveforms_of_the_ports() {
    let ports = [("SPINNERET_WAVES", "ports")];
    let (passed, stderr) = run_alone("writes_a_waveform_on_request", &ports);
    let path = wave("draws_a_waveform").with_extension("vcd");
    assert!(passed, "{stderr}");
    assert_contains(&stderr, &format!("the waveform is in {}\n", path.display()));
    let text = fs::read_to_string(path).expect("the waveform was written");
    assert_contains(&text, "$scope module fixture_slice $end");
    assert!(
        text.lines().filter(|line| line.starts_with('#')).count() >= 10,
        "{text}"
    );
    // A test that fails has both waveforms.
    let (_, stderr) = run_alone("a_test_that_fails_leaves_a_waveform", &ports);
    for path in [wave("breaks_a_rule").with_extension("vcd"), wave("breaks_a_rule")] {
        assert_contains(&stderr, &format!("the waveform is in {}\n", path.display()));
    }
}

#[test]
fn writes_a_waveform_on_request() {
    run_named("draws_a_waveform", 1, |run| {
        let mut sim = run.simulation::<FixtureSlice>();
        sim.reset();
        sim.run(10);
        sim.finish();
    });
}
