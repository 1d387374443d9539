//! Ports of all widths, by accessor, name and handle; models in threads.

use crate::support::{assert_contains, panic_message};
use num_bigint::BigUint;
use spinneret_fixtures::{FixtureLoop, FixtureSlice, FixtureWide};
use spinneret_sim::model::PortInfo;
use spinneret_sim::prelude::*;
use spinneret_sim::waveform;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::thread;
use vcd::{Command, Parser, Value};

#[test]
fn typed_accessors_carry_every_width() {
    let mut rng = Seed(1).rng("widths");
    let mut dut = FixtureWide::new();
    for _ in 0..100 {
        let (a1, a8, a13, a32) = (
            rng.random(),
            rng.random(),
            rng.random::<u16>() & 0x1fff,
            rng.random(),
        );
        let (a33, a64) = (rng.random::<u64>() >> 31, rng.random());
        let a65 = [rng.random(), rng.random(), rng.random::<u32>() & 1];
        let a1024: [u32; 32] = rng.random();
        dut.set_a1(a1);
        dut.set_a8(a8);
        dut.set_a13(a13);
        dut.set_a32(a32);
        dut.set_a33(a33);
        dut.set_a64(a64);
        dut.set_a65(&a65);
        dut.set_a1024(&a1024);
        dut.eval();
        assert_eq!(
            (dut.q1(), dut.q8(), dut.q13(), dut.q32()),
            (!a1, !a8, !a13 & 0x1fff, !a32)
        );
        assert_eq!((dut.q33(), dut.q64()), (!a33 & 0x1_ffff_ffff, !a64));
        assert_eq!(dut.q65(), [!a65[0], !a65[1], !a65[2] & 1]);
        assert_eq!(dut.q1024(), a1024.map(|word| !word));
        assert_eq!(dut.a1024(), a1024);
        assert_eq!(dut.r#type(), u8::from(a1) << 1);
    }
}

#[test]
fn names_and_handles_carry_every_width() {
    let mut rng = Seed(2).rng("widths");
    let mut dut = FixtureWide::new();
    for width in [1_usize, 8, 13, 32, 33, 64, 65, 1024] {
        let (input, output) = (format!("a{width}"), format!("q{width}"));
        let mask = (BigUint::from(1u8) << width) - 1u8;
        for _ in 0..20 {
            let mut bytes = vec![0; width.div_ceil(8)];
            rng.fill_bytes(&mut bytes);
            let value = BigUint::from_bytes_le(&bytes) & &mask;
            dut.set(&input, value.clone()).expect("the value fits");
            dut.eval();
            assert_eq!(dut.get(&input).expect("the port exists"), value);
            assert_eq!(dut.get(&output).expect("the port exists"), &mask ^ &value);

            let port = dut
                .instance()
                .port(&input, Direction::Input)
                .expect("the port exists");
            dut.instance_mut().set_bytes(port, &[]);
            assert_eq!(dut.get(&input).expect("the port exists"), BigUint::ZERO);
            dut.instance_mut().set_bytes(port, &value.to_bytes_le());
            assert_eq!(dut.get(&input).expect("the port exists"), value);
        }
    }
}

#[test]
fn ports_are_listed_as_described() {
    let dut = FixtureWide::new();
    assert_eq!(dut.ports().len(), 20);
    assert_eq!(
        dut.ports()[9],
        PortInfo {
            name: "a1024",
            direction: Direction::Input,
            width: 1024
        }
    );
    assert_eq!(dut.instance().name(), "fixture_wide");
}

#[test]
fn values_that_do_not_fit_are_rejected() {
    let mut dut = FixtureWide::new();
    let expected = "port `a13` of fixture_wide is 13 bits wide: 0x2000 does not fit";
    assert_eq!(panic_message(|| dut.set_a13(0x2000)), expected);
    assert_eq!(
        dut.set("a13", 0x2000u32).expect_err("too wide").to_string(),
        expected
    );
    let port = dut.instance().find("a13").expect("the port exists");
    assert_eq!(
        panic_message(|| dut.instance_mut().set_value(port, 0x2000)),
        expected
    );
    assert_eq!(
        panic_message(|| dut.set_a65(&[0, 0, 2])),
        "port `a65` of fixture_wide is 65 bits wide: 0x00000002_00000000_00000000 does not fit"
    );
    assert_eq!((dut.a13(), dut.a65()), (0, [0; 3]));
}

#[test]
fn wrong_names_and_directions_are_rejected() {
    let mut dut = FixtureLoop::new();
    assert_eq!(
        dut.get("b").expect_err("no such port").to_string(),
        "fixture_loop has no port `b`; its ports are clk, a, q"
    );
    assert_eq!(
        dut.set("q", 1u8).expect_err("an output").to_string(),
        "port `q` of fixture_loop is an output of the design; an input is needed"
    );
    let q = dut.instance().find("q").expect("the port exists");
    assert_eq!(
        panic_message(|| dut.instance_mut().set_value(q, 1)),
        "`q` of fixture_loop is an output"
    );
    let wide = FixtureWide::new();
    let wide = wide.instance();
    let port = wide.find("a1024").expect("the port exists");
    assert_eq!(
        panic_message(|| assert_eq!(wide.value(port), 0)),
        "port `a1024` is wider than 128 bits"
    );
}

#[test]
fn a_design_that_does_not_settle_is_an_error() {
    let mut dut = FixtureLoop::new();
    dut.eval();
    dut.set_a(true);
    for _ in 0..2 {
        let message = dut
            .instance_mut()
            .eval()
            .expect_err("the loop oscillates")
            .to_string();
        assert!(
            message.starts_with("fixture_loop cannot be simulated any further: ")
                && message.contains("did not converge"),
            "{message}"
        );
    }
}

#[test]
fn initial_values_depend_on_the_seed_only() {
    let initial = |seed| {
        let mut dut = FixtureWide::with_seed(seed);
        dut.eval();
        assert_eq!(dut.a64(), 0, "inputs start at zero");
        dut.r64()
    };
    let expected: Vec<u64> = (0..16).map(initial).collect();
    assert!(
        expected.windows(2).all(|pair| pair[0] != pair[1]),
        "{expected:x?}"
    );
    let again = || (0..16).map(initial).collect::<Vec<_>>();
    let threads: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(again)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert!(threads.iter().all(|values| *values == expected));
}

#[test]
fn models_move_between_threads() {
    let mut dut = FixtureWide::new();
    dut.set_a64(7);
    let mut dut = thread::spawn(move || {
        dut.eval();
        dut
    })
    .join()
    .expect("no panic");
    assert_eq!(dut.q64(), !7);
    dut.set_a64(8);
    dut.eval();
    assert_eq!(dut.q64(), !8);
}

#[test]
fn a_waveform_that_cannot_be_written_is_an_error() {
    let mut dut = FixtureWide::new();
    let message = dut
        .trace_to(Path::new("/dev/null/x.fst"))
        .expect_err("not a folder")
        .to_string();
    assert_contains(&message, "cannot write the waveform /dev/null/x.fst: ");
    dut.eval();
}

#[test]
fn a_waveform_of_one_part_has_only_that_part_and_an_unknown_part_is_an_error() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("part.fst");
    let mut dut = FixtureWide::new();
    let error = dut.instance_mut().trace_part_to(&path, Some("TOP.nobody"));
    let message = error.expect_err("it is not there").to_string();
    assert!(
        message.ends_with("has no instance or signal `TOP.nobody`"),
        "{message}"
    );
    assert!(!dut.instance().is_traced());
    dut.instance_mut()
        .trace_part_to(&path, Some("TOP.a64"))
        .expect("it is a port");
    for time in 0..100 {
        dut.set_a64(time);
        dut.eval();
        dut.instance_mut().set_recording((20..40).contains(&time));
        if dut.instance().is_traced() {
            dut.instance_mut().advance(time).expect("there is room");
        }
    }
    drop(dut);
    waveform::check(&path).expect("it is whole");
    assert_eq!(waveform::signals(&path).expect("it is whole"), 1);
    assert_eq!(waveform::times(&path).expect("it is whole"), (20, 39));
}

/// A writer that fails leaves a shorter file, or one whose blocks do not follow one another.
#[test]
fn a_truncated_waveform_is_detected() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("whole.fst");
    let mut dut = FixtureWide::new();
    dut.trace_to(&path).expect("there is room");
    for time in 0..100 {
        dut.set_a64(time);
        dut.eval();
        dut.instance_mut().advance(time).expect("there is room");
    }
    drop(dut);
    waveform::check(&path).expect("it is whole");
    let whole = std::fs::read(&path).expect("it is there");
    for bytes in (0..whole.len()).step_by(11) {
        std::fs::write(&path, &whole[..bytes]).expect("there is room");
        let error = waveform::check(&path).expect_err("it is cut");
        assert!(error.to_string().ends_with("is the disk full?"), "{error}");
    }
    for at in (0..whole.len()).step_by(7) {
        let mut other = whole.clone();
        other[at] ^= 0xff;
        std::fs::write(&path, &other).expect("there is room");
        // Any content is read to its end.
        let _ = waveform::check(&path);
    }
}

#[test]
fn ports_can_be_read_back_from_the_waveform() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ports.vcd");
    let mut sim = Simulation::new(<FixtureSlice as Model>::with_seed(1)).unwrap();
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Never);
    sim.reset();
    sim.trace_ports(&path).unwrap();
    source.send(Frame::new([0x11, 0x22, 0x33, 0x44, 0x55]));
    sim.run_until(|_| sink.waiting() == 1);
    sink.receive();
    sim.run(2);
    sim.finish();

    let mut parser = Parser::new(BufReader::new(File::open(&path).unwrap()));
    let header = parser.parse_header().unwrap();
    let find = |name: &str| header.find_var(&["fixture_slice", name]).unwrap().code;
    let (valid, data) = (find("s_axis_tvalid"), find("s_axis_tdata"));
    let mut beats = Vec::new();
    let mut on_bus = 0_u64;
    for command in parser {
        match command.unwrap() {
            Command::ChangeVector(code, bits) if code == data => {
                on_bus = bits
                    .iter()
                    .fold(0, |sum, bit| sum << 1 | u64::from(bit == Value::V1));
            }
            Command::ChangeScalar(code, value) if code == valid => beats.push((value == Value::V1, on_bus)),
            _ => {}
        }
    }
    // tvalid rises with the first beat on the bus and falls behind the second.
    assert_eq!(beats, [(true, 0x4433_2211), (false, on_bus)]);
    assert_eq!(on_bus & 0xff, 0x55, "the last beat carries the fifth byte");
}

#[test]
fn a_file_that_cannot_be_created_is_an_error() {
    let mut sim = Simulation::new(<FixtureSlice as Model>::with_seed(1)).unwrap();
    assert!(sim.trace_ports(Path::new("/nonexistent/ports.vcd")).is_err());
    sim.reset();
    sim.finish();
}
