//! The pipeline: handlers of the runtime, with memories that answer at once.

use crate::{Cell, Figures};
use anyhow::{Result, ensure};
use spinneret_models::{HpuPipeline4, HpuPipeline8, HpuPipelines};
use spinneret_packets::{checksum, echo_request, udp};
use spinneret_sim::prelude::*;
use spinneret_tb::handlers::{Handlers, example, speed};
use std::path::Path;

/// The UDP port that examples listen to.
const PORT: u16 = 9330;
/// Packets that each thread handles; the first of a thread includes its start, and is left out.
const ROUNDS: usize = 6;
/// Where the examples are built.
const RUNTIME: &str = "target/bench/runtime";
/// Clocks in which the speed of the model is measured.
const SPEED_CLOCKS: u64 = 4_000_000;
/// The clock in MHz.
const MHZ: f64 = 250.0;

fn row<M: Model>(
    [threads, memory_clocks]: [usize; 2],
    (name, csum, payload): (&'static str, bool, usize),
    cycles: &mut u64,
) -> Result<Vec<Cell>> {
    let data = vec![0x5a; payload];
    let frame = if name == "icmp_ping" {
        echo_request(1, &data)
    } else {
        udp(PORT, &data)
    };
    let mut bench = Handlers::new(
        M::with_seed(1),
        [threads, memory_clocks],
        example(name, csum, Path::new(RUNTIME))?,
    )?;
    for packet in 0..ROUNDS * threads {
        bench.push(packet, &frame)?;
    }
    bench.run()?;
    *cycles += bench.clocks();
    let ended = &bench.done;
    ensure!(
        ended.iter().all(|task| task.error == 0),
        "{name}: a handler failed: {ended:?}"
    );
    let is_reply = |reply: &Vec<u8>| match name {
        "icmp_ping" => reply[..6] == frame[6..12] && reply[34] == 0 && checksum(&reply[34..]) == 0,
        "udp_ping" => reply[34..36] == frame[36..38] && reply[42..] == frame[42..],
        _ => true,
    };
    let answers = bench
        .sent
        .iter()
        .filter(|reply| reply.len() == frame.len() && is_reply(reply))
        .count();
    ensure!(
        name == "filter" || answers == ROUNDS * threads,
        "{name}: {answers} right answers to {} packets",
        ROUNDS * threads
    );
    let warm: Vec<_> = ended.iter().filter(|task| task.packet >= threads).collect();
    let (clocks, instructions) = warm.iter().fold((0, 0), |(clocks, instructions), task| {
        (clocks + task.clocks, instructions + task.instructions)
    });
    let packets = warm.len() as f64;
    let slots = clocks as f64 / threads as f64 / instructions as f64;
    let clocks = clocks as f64 / packets;
    let rate = MHZ * threads as f64 / clocks;
    Ok(vec![
        Cell::plain("handler", "handler", name),
        Cell::new("csum", if csum { "yes" } else { "no" }, "csum", csum),
        Cell::plain("frame, bytes", "bytes", frame.len()),
        Cell::plain("threads", "threads", threads),
        Cell::new(
            "instructions",
            format!("{:.0}", instructions as f64 / packets),
            "instructions",
            instructions as f64 / packets,
        ),
        Cell::new("slots an instruction", format!("{slots:.3}"), "slots", slots),
        Cell::new("clocks a packet", format!("{clocks:.0}"), "clocks", clocks),
        Cell::new(
            "us at 250 MHz",
            format!("{:.2}", clocks / MHZ),
            "us",
            clocks / MHZ,
        ),
        Cell::new("Mpps of a pipeline", format!("{rate:.2}"), "mpps", rate),
    ])
}

/// Measures all examples on pipelines of 4 and 8 threads.
pub(crate) fn handlers() -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for work in [
        ("udp_ping", false, 22),
        ("icmp_ping", false, 18),
        ("icmp_ping", false, 56),
        ("icmp_ping", true, 56),
        ("icmp_ping", false, 1458),
        ("icmp_ping", true, 1458),
        ("filter", false, 22),
    ] {
        rows.push(row::<HpuPipeline4>([4, 1], work, &mut cycles)?);
        rows.push(row::<HpuPipeline8>([8, 1], work, &mut cycles)?);
    }
    let program = example("icmp_ping", false, Path::new(RUNTIME))?;
    let speed = speed(HpuPipelines::with_seed(1), &program, SPEED_CLOCKS)? / 1e6;
    let explanation = format!(
        "simulated; one pipeline, all threads busy; instructions and clocks from the first look at a task to its end, \
         those of the runtime included; all memories answer at once, without bank conflicts, copies and waits for L2\n\
         a model of four pipelines of 4 threads each: {speed:.2} million clocks a second on one core"
    );
    Ok(Figures::new("hpu", Some(0), explanation, rows, cycles))
}
