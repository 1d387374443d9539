//! Waveforms of the ports, written and read back.

use spinneret_fixtures::FixtureSlice;
use spinneret_sim::prelude::*;
use std::fs::File;
use std::io::BufReader;
use vcd::{Command, Parser, Value};

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
fn a_file_that_cannot_be_made_is_an_error() {
    let mut sim = Simulation::new(<FixtureSlice as Model>::with_seed(1)).unwrap();
    assert!(
        sim.trace_ports(std::path::Path::new("/nonexistent/ports.vcd"))
            .is_err()
    );
    sim.reset();
    sim.finish();
}
