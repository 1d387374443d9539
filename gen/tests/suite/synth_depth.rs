//! Longest paths of small netlists that are written out here.

use spinneret_gen::synth::depth::{Depth, Path};
use spinneret_gen::synth::netlist::Netlist;

fn cell(name: &str, kind: &str, pins: &[(&str, bool, &[u64])]) -> String {
    let join = |each: Vec<String>| each.join(",");
    let directions = pins
        .iter()
        .map(|(pin, out, _)| format!(r#""{pin}":"{}""#, if *out { "output" } else { "input" }));
    let connections = pins.iter().map(|(pin, _, nets)| format!(r#""{pin}":{nets:?}"#));
    format!(
        r#""{name}":{{"type":"{kind}","port_directions":{{{}}},"connections":{{{}}}}}"#,
        join(directions.collect()),
        join(connections.collect())
    )
}

fn flip_flop(name: &str, d: u64, q: u64) -> String {
    cell(
        name,
        "FDRE",
        &[("C", false, &[1]), ("D", false, &[d]), ("Q", true, &[q])],
    )
}

fn lut(name: &str, inputs: [u64; 2], output: u64) -> String {
    cell(
        name,
        "LUT2",
        &[
            ("I0", false, &inputs[..1]),
            ("I1", false, &inputs[1..]),
            ("O", true, &[output]),
        ],
    )
}

/// Ports: clock is net 1, `in` net 2, `out` net 3.
fn netlist(cells: &[String]) -> Netlist {
    let text = format!(
        r#"{{"modules":{{"top":{{
            "ports":{{"clk":{{"direction":"input","bits":[1]}},"in":{{"direction":"input","bits":[2]}},
                "out":{{"direction":"output","bits":[3]}}}},
            "cells":{{{}}},
            "netnames":{{"in":{{"bits":[2]}},"out":{{"bits":[3]}},"count":{{"bits":[10,11]}},
                "$abc$1":{{"hide_name":1,"bits":[20]}}}}}}}}}}"#,
        cells.join(",")
    );
    Netlist::parse(&text, "top").unwrap()
}

fn levels(path: &Option<Path>) -> Option<u32> {
    path.as_ref().map(|path| path.levels)
}

#[test]
fn tells_the_four_sorts_of_paths_apart() {
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 22, 10),
        flip_flop("b", 2, 11),
        lut("l0", [10, 11], 20),
        lut("l1", [20, 2], 21),
        lut("l2", [21, 10], 22),
        lut("l3", [20, 2], 3),
    ]))
    .unwrap();
    let longest = depth.between_registers.clone().unwrap();
    assert_eq!(longest.cells, ["LUT2", "LUT2", "LUT2"]);
    assert_eq!((longest.levels, longest.to.as_str()), (3, "count[0].D"));
    assert_eq!(levels(&depth.from_inputs), Some(2));
    assert_eq!(levels(&depth.to_outputs), Some(2));
    assert_eq!(levels(&depth.through), Some(1));
    assert_eq!(depth.through.unwrap().from, "in");
}

#[test]
fn a_carry_chain_is_one_level_however_long() {
    let carry = |name: &str, ci: u64, s: u64, co: u64| {
        cell(
            name,
            "CARRY4",
            &[("CI", false, &[ci]), ("S", false, &[s]), ("CO", true, &[co])],
        )
    };
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 24, 10),
        lut("l", [10, 10], 20),
        carry("c0", 30, 20, 21),
        carry("c1", 21, 31, 22),
        carry("c2", 22, 32, 23),
        lut("m", [23, 10], 24),
    ]))
    .unwrap();
    let longest = depth.between_registers.unwrap();
    assert_eq!(longest.levels, 3);
    assert_eq!(longest.cells, ["LUT2", "CARRY4", "CARRY4", "CARRY4", "LUT2"]);
}

#[test]
fn a_path_through_a_memory_in_tables_goes_on_behind_it() {
    let ram = cell(
        "m",
        "RAM64X1D",
        &[
            ("DPRA0", false, &[20]),
            ("A0", false, &[2]),
            ("D", false, &[2]),
            ("DPO", true, &[21]),
        ],
    );
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 22, 10),
        lut("l0", [10, 10], 20),
        ram,
        lut("l1", [21, 21], 22),
    ]))
    .unwrap();
    assert_eq!(levels(&depth.between_registers), Some(3));
    assert_eq!(levels(&depth.from_inputs), Some(0), "the write side is clocked");
}

/// A combinational loop, and a cell that is not known.
pub(crate) fn refusals(told: &mut Vec<String>) {
    let latch = cell("x", "LDCE", &[("D", false, &[2]), ("Q", true, &[3])]);
    for cells in [vec![lut("l0", [2, 21], 20), lut("l1", [20, 2], 21)], vec![latch]] {
        told.push(Depth::of(&netlist(&cells)).unwrap_err().to_string());
    }
}
