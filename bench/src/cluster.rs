//! `./dev bench cluster`: the clusters of spinneret's own hardware at the clock of the NIC: latency, handler times, rates.

use crate::harness::{Cell, Sheet, program, settle, start};
use crate::nic::WAITING;
use crate::transfer::{Transfer, transfer};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use spinneret_cluster::{BEAT_BYTES, Event, TraceEntry, TraceEvent};
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Backend, Nic, NicConfig};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::{Mode, SenderConfig};
use spinneret_table::bench::{Bars, machine};
use spinneret_table::{figures, say};

/// Period of both clocks: 250 MHz.
const PERIOD_PS: u64 = 4_000;
/// Handlers that answer, with their traffic, and bars: millions of packets a second, microseconds of a handler.
const PINGS: &[(&str, &str, Option<f64>, Option<f64>)] = &[
    ("udp_ping", "udp,size=64", Some(6.0), None),
    ("udp_ping", "udp,size=1500", None, None),
    ("icmp_ping", "icmp,size=64", Some(2.5), None),
    ("icmp_ping", "icmp,size=98", None, Some(5.0)),
    ("icmp_ping", "icmp,size=1500", None, Some(58.0)),
];
/// Most clocks from the last beat of a request to the reply on the wire, for the first of [`PINGS`].
const REPLY_CLOCKS: f64 = 400.0;
/// Most microseconds from a HER to the first instruction of its handler; measured is its first access to the task, which comes later.
const START_US: f64 = 0.7;
/// Least rate of SLMP, in gigabits a second, and most microseconds of its handler.
const SLMP: [f64; 2] = [28.0, 6.5];
/// Segments that may be on their way.
const WINDOW: u16 = 64;
/// Requests one by one before the one that is measured.
const WARM: u32 = 4;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Clocks under full load, after as many to warm up
    #[arg(long, default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1000..))]
    clocks: u64,
    /// Bytes of the message over SLMP
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(10_000..))]
    message: u32,
}

pub(crate) fn run(arguments: &Arguments, bars: &mut Bars) -> Result<Value> {
    let mut sheet = Sheet::new([
        ("handler", "handler"),
        ("bytes", "bytes"),
        ("start_clocks", "HER to handler, clocks"),
        ("handler_us", "handler, us"),
        ("reply_clocks", "reply, clocks"),
        ("mpps", "million/s at full load"),
    ]);
    let mut kept = figures(["figure", "bar", "measured", ""], &[0, 3]);
    let mut hold = |what: String, bar: String, value: f64, is_kept: bool| {
        kept.add_row(bars.row([what, bar, format!("{value:.2}")], is_kept));
    };
    for (handler, traffic, rate, time) in PINGS {
        let recipe: Recipe = traffic.parse()?;
        let alone = alone(handler, &recipe)?;
        let mpps = under_load(handler, &recipe, arguments.clocks)?;
        let bytes = recipe.frame(0).len();
        sheet.add([
            (*handler).into(),
            Cell::Count(bytes as u64),
            Cell::Count(alone.start),
            Cell::Number(us(alone.handler), 2),
            Cell::Count(alone.reply),
            Cell::Number(mpps, 2),
        ]);
        let name = format!("{handler}, {bytes} bytes");
        if let Some(rate) = rate {
            hold(
                format!("{name}, million packets/s"),
                format!(">= {rate}"),
                mpps,
                mpps >= *rate,
            );
        }
        if let Some(time) = time {
            let own = us(alone.handler);
            hold(
                format!("{name}, handler, us"),
                format!("<= {time}"),
                own,
                own <= *time,
            );
        }
        if (*handler, *traffic) == (PINGS[0].0, PINGS[0].1) {
            let [start, reply] = [us(alone.start), alone.reply as f64];
            hold(
                "HER to the first access to the task, us".into(),
                format!("<= {START_US}"),
                start,
                start <= START_US,
            );
            hold(
                format!("{name}, reply, clocks"),
                format!("<= {REPLY_CLOCKS}"),
                reply,
                reply <= REPLY_CLOCKS,
            );
        }
    }
    let rows = sheet.print();
    let [gbps, slmp_us] = slmp(arguments.message)?;
    hold(
        "slmp, full segments, Gb/s".into(),
        format!(">= {}", SLMP[0]),
        gbps,
        gbps >= SLMP[0],
    );
    hold(
        "slmp, full segments, handler, us".into(),
        format!("<= {}", SLMP[1]),
        slmp_us,
        slmp_us <= SLMP[1],
    );
    println!("{kept}");
    say(format_args!(
        "Simulated clock by clock as RTL: application and two clusters of eight HPUs, both at 250 MHz, which no board has \
         shown yet. HER to handler: until the handler's first access to its task. Handler: from the read of its address to \
         its end, one packet alone. Reply: from the last beat of the request to that of the reply. Full load: frames back to \
         back, {} clocks. slmp: a message of {} bytes with a window of {WINDOW}, without UDP checksums.",
        arguments.clocks, arguments.message
    ));
    Ok(json!({
        "machine": machine(), "clocks": arguments.clocks, "pings": rows,
        "slmp": { "bytes": arguments.message, "gbps": gbps, "handler_us": slmp_us }
    }))
}

fn us(clocks: u64) -> f64 {
    clocks as f64 * PERIOD_PS as f64 / 1e6
}

fn config() -> NicConfig {
    NicConfig {
        core_ps: PERIOD_PS,
        ..NicConfig::with(Backend::Rtl)
    }
}

/// Clocks of one packet that is alone.
struct Alone {
    /// From its HER to the first access of its handler to the task.
    start: u64,
    /// From the read of the handler's address to the end of the task.
    handler: u64,
    /// From the last beat of the request to the last one of the reply.
    reply: u64,
}

fn alone(handler: &str, recipe: &Recipe) -> Result<Alone> {
    let mut nic = start(handler, config())?;
    nic.enable_trace();
    for number in 0..WARM {
        answered(&mut nic, recipe.frame(number))?;
    }
    let (reply, runs, trace) = answered(&mut nic, recipe.frame(WARM))?;
    let her = clock_of(&trace, |what| matches!(what, TraceEvent::Her { .. }));
    let read = clock_of(
        &trace,
        |what| matches!(what, TraceEvent::Read { offset, .. } if *offset != 0),
    );
    let took = runs.iter().find_map(|event| match event {
        Event::Finished(run) => Some(run.ended - run.begun),
        _ => None,
    });
    let (her, read) = her
        .zip(read)
        .context("the trace has no HER and no access to its task")?;
    Ok(Alone {
        start: read - her,
        handler: took.context("no handler has ended")?,
        reply,
    })
}

fn clock_of(trace: &[TraceEntry], is_it: impl Fn(&TraceEvent) -> bool) -> Option<u64> {
    trace
        .iter()
        .find(|entry| is_it(&entry.what))
        .map(|entry| entry.clock)
}

/// Sends a request and waits for its answer and the end of its handler: clocks of the reply, events and trace.
fn answered(nic: &mut Nic, request: Vec<u8>) -> Result<(u64, Vec<Event>, Vec<TraceEntry>)> {
    let beats = request.len().div_ceil(BEAT_BYTES as usize) as u64;
    let sent_ps = nic.now_ps();
    nic.receive(request);
    let events = settle(nic)?;
    let reply = nic.take_wire().context("no reply")?;
    let reply = (reply.at_ps - sent_ps) / PERIOD_PS;
    Ok((reply - beats, events, nic.take_trace()))
}

/// Replies in millions a second with as many requests as the NIC takes.
fn under_load(handler: &str, recipe: &Recipe, clocks: u64) -> Result<f64> {
    let mut nic = start(
        handler,
        NicConfig {
            skips: false,
            ..config()
        },
    )?;
    let frames: Vec<Vec<u8>> = (0..1024).map(|number| recipe.frame(number)).collect();
    let mut next = frames.iter().cycle();
    let mut run = |clocks: u64| -> Result<u64> {
        let (end, mut replies) = (nic.now_ps() + clocks * PERIOD_PS, 0);
        while nic.now_ps() < end {
            while nic.receiving() < WAITING
                && let Some(frame) = next.next()
            {
                nic.receive(frame.clone());
            }
            nic.step(end)?;
            while nic.take_wire().is_some() {
                replies += 1;
            }
            nic.take_events();
        }
        Ok(replies)
    };
    run(clocks)?;
    let replies = run(clocks)?;
    ensure!(replies > 0, "no replies to {handler}");
    Ok(replies as f64 / us(clocks))
}

/// A message over SLMP: gigabits a second, and microseconds of a segment's handler under this load.
fn slmp(bytes: u32) -> Result<[f64; 2]> {
    let plain = Transfer::default();
    let how = Transfer {
        nic: config(),
        sender: SenderConfig {
            mode: Mode::Window(WINDOW),
            ..plain.sender
        },
        ..plain
    };
    let program = program("slmp", &how.nic)?;
    let message: Vec<u8> = (0..bytes).map(|place| (place >> 3) as u8 ^ place as u8).collect();
    let done = transfer(&program, &message, &how)?;
    let handlers = done.segments.of(Cause::Accepted).max(1);
    Ok([done.gbps(), us(done.hpu_clocks) / handlers as f64])
}
