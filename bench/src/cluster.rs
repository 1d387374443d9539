//! `./dev bench cluster`: the clusters of spinneret's own hardware at the clock of the NIC: latency, handler times, rates.

use crate::harness::{Cell, HEADERS, Sheet, program, settle, start};
use crate::nic::WAITING;
use crate::pass::passed;
use crate::transfer::{Transfer, transfer};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use spinneret_cluster::{BEAT_BYTES, Config, Event, TraceEntry, TraceEvent};
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Backend, LAST_PS, Nic, NicConfig};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::HEADER_BYTES;
use spinneret_slmp::{Mode, SenderConfig};
use spinneret_table::bench::{Bars, machine};
use spinneret_table::{figures, say};

/// HPUs of a cluster.
const HPUS: usize = 8;
/// Period of both clocks: 250 MHz.
const PERIOD_PS: u64 = 4_000;
/// Handlers that answer.
const PINGS: &[Ping] = &[
    Ping::new(2, "udp_ping", "udp,size=64").at_least(6.0),
    Ping::new(2, "udp_ping", "udp,size=1500"),
    Ping::new(2, "icmp_ping", "icmp,size=64").at_least(2.5),
    Ping::new(2, "icmp_ping", "icmp,size=98").within(5.0),
    Ping::new(2, "icmp_ping", "icmp,size=1500").within(58.0),
    Ping::new(8, "udp_ping", "udp,size=64"),
    Ping::new(8, "udp_ping", "udp,size=1500"),
    Ping::new(8, "icmp_ping", "icmp,size=64"),
];
/// Most clocks from the last beat of a request to the reply on the wire, for the first of [`PINGS`].
const REPLY_CLOCKS: f64 = 400.0;
/// Most microseconds from a HER to the first instruction of its handler; measured is its first access to the task, which comes later.
const START_US: f64 = 0.7;
/// Messages over SLMP in full segments.
const SLMP: [Message; 3] = [
    Message {
        clusters: 2,
        bytes: 1,
        window: 64,
        cable_gbps: 100,
        least_gbps: 28.0,
        is_of_frames: false,
    },
    Message {
        clusters: 8,
        bytes: 16,
        window: 192,
        cable_gbps: 200,
        least_gbps: 100.0,
        is_of_frames: true,
    },
    // A cable of 100 Gb/s carries 98.4 Gb/s of frames of 1514 bytes, since their preambles, check sequences and gaps take 24 more.
    Message {
        clusters: 8,
        bytes: 16,
        window: 192,
        cable_gbps: 100,
        least_gbps: 94.0,
        is_of_frames: true,
    },
];
/// Most microseconds of its handler.
const SLMP_US: f64 = 6.5;
/// Clusters, and the least percentage of the packets of [`FULL_LOAD`] that they answer.
const ANSWERED: [(usize, f64); 2] = [(2, 40.0), (8, 99.0)];
/// Packets of all lengths, back to back, for `udp_ping`.
const FULL_LOAD: &str = "udp,size=60..1500";
/// Requests one by one before the one that is measured.
const WARM: u32 = 4;
/// Least packets of 64 bytes in millions a second that handlers pass to the host, with packets that match no rule between them.
const PASSED: f64 = 6.0;

/// A message over SLMP.
struct Message {
    clusters: usize,
    /// How many times the message of the command line.
    bytes: u32,
    /// Segments that may be on their way.
    window: u16,
    /// The cable.
    cable_gbps: u64,
    /// The least rate, and whether it is of frames or of the message.
    least_gbps: f64,
    is_of_frames: bool,
}

/// A handler that answers, its traffic, and bars.
struct Ping {
    clusters: usize,
    handler: &'static str,
    traffic: &'static str,
    /// Least rate in millions of packets a second.
    mpps: Option<f64>,
    /// Most microseconds of the handler.
    handler_us: Option<f64>,
}

impl Ping {
    const fn new(clusters: usize, handler: &'static str, traffic: &'static str) -> Self {
        Self {
            clusters,
            handler,
            traffic,
            mpps: None,
            handler_us: None,
        }
    }

    const fn at_least(self, mpps: f64) -> Self {
        Self {
            mpps: Some(mpps),
            ..self
        }
    }

    const fn within(self, handler_us: f64) -> Self {
        Self {
            handler_us: Some(handler_us),
            ..self
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Clocks under full load, after as many to warm up
    #[arg(long, default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1000..))]
    clocks: u64,
    /// Packets of all lengths that are sent back to back
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1000..))]
    packets: u32,
    /// Bytes of the message over SLMP to 16 HPUs; that to 64 is 16 times as long
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(10_000..))]
    message: u32,
}

pub(crate) fn run(arguments: &Arguments, bars: &mut Bars) -> Result<Value> {
    let mut sheet = Sheet::new([
        ("handler", "handler"),
        ("hpus", "HPUs"),
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
    for (number, ping) in PINGS.iter().enumerate() {
        let Ping {
            clusters, handler, ..
        } = *ping;
        let recipe: Recipe = ping.traffic.parse()?;
        let config = config(clusters);
        let alone = alone(handler, &recipe, config.clone())?;
        let mpps = under_load(handler, &recipe, arguments.clocks, config)?;
        let hpus = clusters * HPUS;
        let bytes = recipe.frame(0).len();
        sheet.add([
            handler.into(),
            Cell::Count(hpus as u64),
            Cell::Count(bytes as u64),
            Cell::Count(alone.start),
            Cell::Number(us(alone.handler), 2),
            Cell::Count(alone.reply),
            Cell::Number(mpps, 2),
        ]);
        let name = format!("{handler}, {hpus} HPUs, {bytes} bytes");
        if let Some(rate) = ping.mpps {
            hold(
                format!("{name}, million packets/s"),
                format!(">= {rate}"),
                mpps,
                mpps >= rate,
            );
        }
        if let Some(time) = ping.handler_us {
            let own = us(alone.handler);
            hold(
                format!("{name}, handler, us"),
                format!("<= {time}"),
                own,
                own <= time,
            );
        }
        if number == 0 {
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
    let mut messages = Vec::new();
    for (number, message) in SLMP.iter().enumerate() {
        let Message {
            clusters,
            cable_gbps,
            least_gbps,
            is_of_frames,
            ..
        } = *message;
        let hpus = clusters * HPUS;
        let of = if is_of_frames { "frames" } else { "the message" };
        let figure = format!("slmp, {hpus} HPUs, cable of {cable_gbps} Gb/s, Gb/s of {of}");
        let bytes = arguments.message * message.bytes;
        let done = match slmp(bytes, message) {
            Ok(done) => done,
            Err(error) => {
                say(format_args!("{figure}: {error:#}"));
                hold(figure, format!(">= {least_gbps}"), 0.0, false);
                continue;
            }
        };
        let gbps = if is_of_frames { done.frames_gbps } else { done.gbps };
        hold(figure, format!(">= {least_gbps}"), gbps, gbps >= least_gbps);
        if number == 0 {
            hold(
                "slmp, full segments, handler, us".into(),
                format!("<= {SLMP_US}"),
                done.handler_us,
                done.handler_us <= SLMP_US,
            );
        }
        messages.push(json!({
            "hpus": hpus, "bytes": bytes, "cable_gbps": cable_gbps, "gbps": done.gbps, "frames_gbps": done.frames_gbps,
            "handler_us": done.handler_us
        }));
    }
    let mut loads = Vec::new();
    for (clusters, least) in ANSWERED {
        let (hpus, answered) = (clusters * HPUS, full_load(arguments.packets, config(clusters))?);
        hold(
            format!("udp_ping, {hpus} HPUs, % of packets of all lengths answered"),
            format!(">= {least}"),
            answered,
            answered >= least,
        );
        loads.push(json!({ "hpus": hpus, "packets": arguments.packets, "answered_percent": answered }));
    }
    let pass = passed(arguments.clocks, config(PINGS[0].clusters))?;
    let mpps = pass.passed as f64 / us(arguments.clocks);
    hold(
        "spin_pass, 64 B between others, million/s".into(),
        format!(">= {PASSED}"),
        mpps,
        mpps >= PASSED,
    );
    let [sent, came] = pass.others;
    let share = came as f64 / sent as f64 * 100.0;
    hold(
        "packets of no rule beside it that reach the host, %".into(),
        "100".into(),
        share,
        sent == came,
    );
    println!("{kept}");
    say(format_args!(
        "Simulated clock by clock as RTL: application and clusters of eight HPUs, both at 250 MHz, which no board has \
         shown yet. HER to handler: until the handler's first access to its task. Handler: from the read of its address to \
         its end, one packet alone. Reply: from the last beat of the request to that of the reply. Full load: frames back to \
         back, {} clocks. slmp: messages of {} and {} bytes in full segments without UDP checksums, with windows of {} and {} segments. All lengths: {} \
         packets of 60 to 1500 bytes, back to back. spin_pass: packets of 64 bytes in turn with 1500 bytes that match no rule, back to \
         back; the receive path was held in {} clocks.",
        arguments.clocks,
        arguments.message,
        arguments.message * SLMP[1].bytes,
        SLMP[0].window,
        SLMP[1].window,
        arguments.packets,
        pass.held
    ));
    Ok(json!({
        "machine": machine(), "clocks": arguments.clocks, "pings": rows,
        "slmp": messages, "full_load": loads,
        "pass": { "mpps": mpps, "others_sent": sent, "others_came": came, "held_clocks": pass.held }
    }))
}

fn us(clocks: u64) -> f64 {
    clocks as f64 * PERIOD_PS as f64 / 1e6
}

fn config(clusters: usize) -> NicConfig {
    let plain = NicConfig::with(Backend::Rtl);
    NicConfig {
        cluster: Config {
            clusters,
            ..plain.cluster.clone()
        },
        core_ps: PERIOD_PS,
        ..plain
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

fn alone(handler: &str, recipe: &Recipe, config: NicConfig) -> Result<Alone> {
    let mut nic = start(handler, config)?;
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
fn under_load(handler: &str, recipe: &Recipe, clocks: u64, config: NicConfig) -> Result<f64> {
    let mut nic = start(
        handler,
        NicConfig {
            skips: false,
            ..config
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

/// The percentage of packets of all lengths that are answered, if they come back to back.
fn full_load(packets: u32, config: NicConfig) -> Result<f64> {
    let recipe: Recipe = FULL_LOAD.parse()?;
    let mut nic = start("udp_ping", config)?;
    let (mut sent, mut replies) = (0, 0);
    while sent < packets {
        while nic.receiving() < WAITING && sent < packets {
            nic.receive(recipe.frame(sent));
            sent += 1;
        }
        nic.step(LAST_PS)?;
        while nic.take_wire().is_some() {
            replies += 1;
        }
        nic.take_events();
    }
    settle(&mut nic)?;
    while nic.take_wire().is_some() {
        replies += 1;
    }
    Ok(f64::from(replies) / f64::from(packets) * 100.0)
}

/// Results of a message over SLMP.
struct Received {
    /// Bytes of the message, and of its frames on the wire, in gigabits a second.
    gbps: f64,
    frames_gbps: f64,
    /// Microseconds of a segment's handler.
    handler_us: f64,
}

fn slmp(bytes: u32, message: &Message) -> Result<Received> {
    let plain = Transfer::default();
    let how = Transfer {
        nic: config(message.clusters),
        rate_bps: message.cable_gbps * 1_000_000_000,
        sender: SenderConfig {
            mode: Mode::Window(message.window),
            ..plain.sender
        },
        ..plain
    };
    let program = program("slmp", &how.nic)?;
    let message: Vec<u8> = (0..bytes).map(|place| (place >> 3) as u8 ^ place as u8).collect();
    let (done, _) = transfer(&program, &message, &how)?;
    let handlers = done.segments.of(Cause::Accepted).max(1);
    let frames = f64::from(bytes) + handlers as f64 * (HEADERS + HEADER_BYTES) as f64;
    Ok(Received {
        gbps: done.gbps(),
        frames_gbps: done.gbps() * frames / f64::from(bytes),
        handler_us: us(done.hpu_clocks) / handlers as f64,
    })
}
