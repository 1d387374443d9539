//! Figure 7: round trips of echo requests and datagrams, answered on the NIC, on the host, or by both.

use super::{Clusters, csv as sheet, modelled, show};
use crate::harness::{HEADERS, PATIENCE_PS, draw, exchange, program, settle, start};
use anyhow::{Context as _, Result, anyhow, bail};
use spinneret_nic::installed::example;
use spinneret_nic::net::{MIN_FRAME_BYTES, Next, Recipe, Sink as _, Source as _, Tap, TapConfig};
use spinneret_nic::nic::{Backend, Nic, NicConfig};
use spinneret_nic::picture::{Axis, Band, COLORS, Panel, Series, Shape, Style};
use spinneret_nic::run::HostPing;
use spinneret_nic::{Simulated, start_on};
use spinneret_rules::{MatcherParams, RuleFile};
use spinneret_table::bench::Spread;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Payloads in bytes.
const PAYLOADS: [usize; 8] = [16, 216, 416, 616, 816, 1016, 1216, 1400];
/// Polling interval of a host program that does nothing else.
const LOOK_PS: u64 = 100_000;
/// Datagrams to any port go to the handlers.
const UDP_RULES: &[u8] =
    b"[[ruleset]]\nname = 'host_ping'\nrules = ['ipv4', { ip-proto = 17 }]\nend-of-message = 'never'\n";
/// Columns of the table.
const COLUMNS: [&str; 6] = [
    "protocol",
    "mode",
    "payload_bytes",
    "simulated_us",
    "measured_us",
    "total_us",
];
/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 520);
/// Range of payloads in the picture, in bytes.
const DRAWN: [f64; 2] = [0.0, 1450.0];
/// One for each mode, in print too.
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// Protocol of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Echo requests.
    Icmp,
    /// Datagrams.
    Udp,
}

/// Which side replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A handler on the NIC.
    Spin,
    /// The host; the NIC passes everything on.
    Host,
    /// A handler receives and sends, and a program on the host computes.
    HostSpin,
}

impl Protocol {
    const ALL: [Self; 2] = [Self::Icmp, Self::Udp];

    fn name(self) -> &'static str {
        match self {
            Self::Icmp => "ICMP",
            Self::Udp => "UDP",
        }
    }

    fn recipe(self) -> &'static str {
        match self {
            Self::Icmp => "icmp",
            Self::Udp => "udp",
        }
    }
}

impl Mode {
    const ALL: [Self; 3] = [Self::Spin, Self::Host, Self::HostSpin];

    fn name(self) -> &'static str {
        match self {
            Self::Spin => "sPIN",
            Self::Host => "host",
            Self::HostSpin => "host + sPIN",
        }
    }
}

/// The paper's medians in microseconds: at a payload if it gives one, else the range over all payloads.
const PAPER: &[(Protocol, Mode, Option<usize>, [f64; 2])] = &[
    (Protocol::Icmp, Mode::Spin, Some(16), [27.0, 27.0]),
    (Protocol::Icmp, Mode::Spin, Some(416), [44.0, 44.0]),
    (Protocol::Icmp, Mode::Spin, Some(816), [59.0, 59.0]),
    (Protocol::Icmp, Mode::Spin, Some(1216), [76.0, 76.0]),
    (Protocol::Icmp, Mode::Host, None, [40.0, 41.0]),
    (Protocol::Icmp, Mode::HostSpin, None, [40.0, 50.0]),
    (Protocol::Udp, Mode::Spin, None, [29.0, 45.0]),
    (Protocol::Udp, Mode::Host, None, [72.0, 93.0]),
    (Protocol::Udp, Mode::HostSpin, None, [55.0, 68.0]),
];

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// Protocol of the request.
    pub protocol: Protocol,
    /// Which side replied.
    pub mode: Mode,
    /// Bytes of payload.
    pub payload: usize,
    /// Simulated time from the first beat into the NIC to the last one out of it, in microseconds.
    pub simulated: f64,
    /// Measured time of this machine's Linux, in microseconds; 0 where it has no part.
    pub measured: f64,
}

impl RoundTrip {
    fn total(&self) -> f64 {
        self.simulated + self.measured
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.protocol.name().to_owned(),
            self.mode.name().to_owned(),
            self.payload.to_string(),
            format!("{:.3}", self.simulated),
            format!("{:.3}", self.measured),
            format!("{:.3}", self.total()),
        ]
    }

    fn read(line: &str) -> Option<Self> {
        let mut cells = line.split(',');
        let (protocol, mode) = (cells.next()?, cells.next()?);
        Some(Self {
            protocol: Protocol::ALL.into_iter().find(|one| one.name() == protocol)?,
            mode: Mode::ALL.into_iter().find(|one| one.name() == mode)?,
            payload: cells.next()?.parse().ok()?,
            simulated: cells.next()?.parse().ok()?,
            measured: cells.next()?.parse().ok()?,
        })
    }
}

/// Measures all points, or reads those of the table in the folder, and draws them.
pub(super) fn run(out: &Path, clusters: Clusters, redraw: bool) -> Result<()> {
    let file = out.join(clusters.file("figure7", "csv"));
    let trips = match redraw {
        true => {
            let text = std::fs::read_to_string(&file);
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            read(&text).map_err(|line| anyhow!("{}:{line}: no round trip", file.display()))?
        }
        false => measure(clusters)?,
    };
    let rows: Vec<_> = trips.iter().map(RoundTrip::row).collect();
    show(&file, &COLUMNS, &rows)?;
    let model = clusters.rows_of_model(out, "figure7")?;
    let model: Vec<RoundTrip> = model.iter().filter_map(|line| RoundTrip::read(line)).collect();
    draw(&out.join(clusters.file("figure7", "svg")), SIZE, |area| {
        let halves = area.split_evenly((1, 2));
        for (half, protocol) in halves.iter().zip(Protocol::ALL) {
            panel(protocol, &trips, &model, clusters).draw(half)?;
        }
        Ok(())
    })
}

/// Round trips as a table.
pub fn csv(trips: &[RoundTrip]) -> String {
    let rows: Vec<_> = trips.iter().map(RoundTrip::row).collect();
    sheet(&COLUMNS, &rows)
}

/// Round trips from such a table.
///
/// # Errors
/// The number of the first wrong line, from 1.
pub fn read(csv: &str) -> Result<Vec<RoundTrip>, usize> {
    let mut lines = csv.lines();
    if lines.next() != Some(&COLUMNS.join(",")) {
        return Err(1);
    }
    let trips = lines
        .enumerate()
        .map(|(at, line)| RoundTrip::read(line).ok_or(at + 2));
    trips.collect()
}

/// All points; without the right to make interfaces, those of the host alone are left out.
fn measure(clusters: Clusters) -> Result<Vec<RoundTrip>> {
    // No cluster has a part in the host's round trips, so they are measured with the model only.
    let stack = (clusters.0 == Backend::Model)
        .then(|| {
            Stack::open().inspect_err(|error| {
                eprintln!(
                    "without the host's round trips, for which Linux's network stack is measured: {error:#}"
                );
            })
        })
        .and_then(Result::ok);
    let mut trips = Vec::new();
    for protocol in Protocol::ALL {
        let mut spin = start(&format!("{}_ping", protocol.recipe()), clusters.config())?;
        let mut passing = Nic::new(clusters.config())?;
        let (both, mut program) = start_both(protocol, clusters.config())?;
        let mut asked = |nic: &mut Nic, limit_ps| {
            program.answer(nic)?;
            look(nic, limit_ps)
        };
        for payload in PAYLOADS {
            let size = (HEADERS + payload).max(MIN_FRAME_BYTES);
            let recipe: Recipe = format!("{},size={size}", protocol.recipe()).parse()?;
            let mut points = Vec::new();
            // The first request warms up the caches.
            for request in [0, 1].map(|number| recipe.frame(number)) {
                let both = &mut *both.borrow_mut();
                points = vec![
                    (Mode::Spin, exchange(&mut spin, &request, look)?, 0.0),
                    (Mode::HostSpin, exchange(both, &request, &mut asked)?, 0.0),
                ];
                settle(&mut spin)?;
                settle(both)?;
            }
            if let Some(stack) = &stack {
                let Turnaround { icmp, udp } = stack.turnaround(size)?;
                let measured = match protocol {
                    Protocol::Icmp => icmp,
                    Protocol::Udp => udp,
                };
                points.push((Mode::Host, pass(&mut passing, &recipe.frame(1))?, measured));
            }
            for (mode, simulated, measured) in points {
                let trip = RoundTrip {
                    protocol,
                    mode,
                    payload,
                    simulated: simulated as f64 / 1e6,
                    measured,
                };
                let (protocol, mode) = (protocol.name(), mode.name());
                eprintln!("{protocol} {mode} {payload} bytes: {:.1} us", trip.total());
                trips.push(trip);
            }
        }
    }
    Ok(trips)
}

/// Advances to the next poll of the host.
fn look(nic: &mut Nic, limit_ps: u64) -> Result<()> {
    Ok(nic.run_until(limit_ps.min(nic.now_ps() + LOOK_PS))?)
}

/// A NIC with the handlers that ask the host, and the program that they ask.
fn start_both(protocol: Protocol, config: NicConfig) -> Result<(Simulated, HostPing)> {
    let program = program("host_ping", &config)?;
    let rules = match protocol {
        Protocol::Icmp => RuleFile::read(&example("host_ping")?.join("rules.toml"), &MatcherParams::BOARD),
        Protocol::Udp => RuleFile::parse("rules for UDP", UDP_RULES, &MatcherParams::BOARD),
    };
    let simulated = Simulated::new(config)?;
    start_on(&simulated, &program, &rules?.rulesets, None)?;
    let host = HostPing::new(&program, &simulated, 1).context("host_ping has no `__host_data`")?;
    Ok((simulated, host))
}

/// The way through the NIC to the host, through Corundum's DMA, and back again.
fn pass(nic: &mut Nic, request: &[u8]) -> Result<u64> {
    let missing = || format!("{} bytes did not pass", request.len());
    let sent = nic.now_ps();
    nic.receive(request.to_vec());
    nic.run_until_idle(sent + PATIENCE_PS)?;
    let up = nic.take_host().with_context(missing)?.at_ps - sent;
    let sent = nic.now_ps();
    nic.transmit(request.to_vec());
    nic.run_until_idle(sent + PATIENCE_PS)?;
    let down = nic.take_wire().with_context(missing)?.at_ps - sent;
    let config = nic.config();
    Ok(up + down + 2 * config.host_latency * config.core_ps)
}

/// Round trips of a protocol over payload, with those of the model if the trips are not.
fn panel(protocol: Protocol, trips: &[RoundTrip], model: &[RoundTrip], clusters: Clusters) -> Panel {
    let of = |trips: &[RoundTrip], mode| -> Vec<(f64, f64)> {
        let own = trips
            .iter()
            .filter(|trip| (trip.protocol, trip.mode) == (protocol, mode));
        own.map(|trip| (trip.payload as f64, trip.total())).collect()
    };
    let ours = trips.iter().chain(model).filter(|trip| trip.protocol == protocol);
    let paper = PAPER.iter().filter(|(of, ..)| *of == protocol);
    let highest = ours.map(RoundTrip::total);
    let highest = highest
        .chain(paper.clone().map(|(.., [_, high])| *high))
        .fold(0.0, f64::max);
    let [left, right] = DRAWN;
    let mut series = Vec::new();
    for ((mode, color), shape) in Mode::ALL.into_iter().zip(COLORS).zip(SHAPES) {
        let name = mode.name();
        let published = paper.clone().filter(|(_, of, ..)| *of == mode);
        for (.., [low, high]) in published.clone().filter(|(_, _, payload, _)| payload.is_none()) {
            let range = format!("{name}, paper: range over payloads");
            series.push(Series {
                band: Some(Band {
                    outline: vec![(left, *low), (right, *low), (right, *high), (left, *high)],
                    color,
                    name: format!("{name}, paper"),
                }),
                ..Series::new(range, Style::area(color), Vec::new())
            });
        }
        let line = Style::line(color);
        // The host's own round trips do not depend on the clusters.
        let (other, drawn) = match mode {
            Mode::Host => ("here".to_owned(), line.with(shape)),
            _ => (Clusters(Backend::Model).name().to_owned(), modelled(line)),
        };
        let other = Series::new(format!("{name}, {other}"), drawn, of(model, mode));
        let here = match clusters.0 {
            Backend::Model => "here",
            Backend::Own | Backend::Rtl => clusters.name(),
        };
        let own = Series::new(format!("{name}, {here}"), line.with(shape), of(trips, mode));
        let values = published.filter_map(|(.., payload, [value, _])| Some(((*payload)? as f64, *value)));
        let theirs = Style::published(shape);
        let theirs = Series::new(format!("{name}, paper"), theirs, values.collect());
        let lines = [other, own, theirs].into_iter();
        series.extend(lines.filter(|series| !series.points.is_empty()));
    }
    Panel {
        title: format!("{} ping-pong", protocol.name()),
        x: Axis::linear("payload, bytes", left..right),
        y: Axis::linear("round trip, us", 0.0..highest * 1.08),
        series,
    }
}

/// Name of the interface.
const NAME: &str = "spinfig7";
/// Where the program listens.
const PORT: u16 = 7007;
/// Requests of one size; the median counts.
const RUNS: u32 = 201;
/// Longest that a reply takes; the first ones wait for addresses to be found out.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time from a request's arrival in Linux to its reply's departure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turnaround {
    /// Echo requests, answered by the kernel, in microseconds.
    pub(super) icmp: f64,
    /// Datagrams, answered by a program.
    pub(super) udp: f64,
}

/// The network stack of this machine, behind a TAP interface.
#[derive(Debug)]
pub(super) struct Stack {
    cable: Tap,
    mac: String,
    program: Option<JoinHandle<()>>,
    ends: Arc<AtomicBool>,
}

impl Stack {
    /// Makes the interface, and starts the program.
    ///
    /// # Errors
    /// If this process may not create interfaces.
    pub(super) fn open() -> Result<Self> {
        let cable = Tap::create(&TapConfig::new(NAME))?;
        let path = format!("/sys/class/net/{NAME}/address");
        let mac = std::fs::read_to_string(&path).context(path)?;
        let socket = UdpSocket::bind(("10.9.0.1", PORT)).context("the echo program")?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        let ends = Arc::new(AtomicBool::new(false));
        let program = std::thread::spawn({
            let ends = Arc::clone(&ends);
            move || echo(&socket, &ends)
        });
        Ok(Self {
            cable,
            mac: mac.trim().to_owned(),
            program: Some(program),
            ends,
        })
    }

    /// Medians for frames of a size.
    ///
    /// # Errors
    /// If Linux does not answer.
    pub(super) fn turnaround(&self, frame_bytes: usize) -> Result<Turnaround> {
        Ok(Turnaround {
            icmp: self.median(&format!("icmp,size={frame_bytes}"))?,
            udp: self.median(&format!("udp,dport={PORT},size={frame_bytes}"))?,
        })
    }

    fn median(&self, kind: &str) -> Result<f64> {
        let text = format!("{kind},src=10.9.0.2,dst=10.9.0.1,mac={}", self.mac);
        let recipe: Recipe = text.parse()?;
        let time = |number| Ok(self.exchange(&recipe.frame(number))?.as_secs_f64() * 1e6);
        let times: Spread = (0..RUNS).map(time).collect::<Result<_>>()?;
        Ok(times.median())
    }

    /// Measures one request and its reply. Other frames from Linux are forwarded, so that both ends can resolve
    /// addresses.
    fn exchange(&self, request: &[u8]) -> Result<Duration> {
        let (mut to_host, mut from_host) = (self.cable.host.clone(), self.cable.host.clone());
        let (mut to_wire, mut from_wire) = (self.cable.wire.clone(), self.cable.wire.clone());
        let begun = Instant::now();
        to_host.put(0, request)?;
        while begun.elapsed() < PATIENCE {
            if let Next::Packet { bytes, .. } = from_host.next(0)? {
                let took = begun.elapsed();
                if is_reply(request, &bytes) {
                    return Ok(took);
                }
                to_wire.put(0, &bytes)?;
            }
            if let Next::Packet { bytes, .. } = from_wire.next(0)? {
                to_host.put(0, &bytes)?;
            }
        }
        bail!(
            "Linux did not answer {} bytes on {NAME} within {PATIENCE:?}",
            request.len()
        )
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(program) = self.program.take() {
            // Ignore errors: a panic has been reported.
            let _ = program.join();
        }
    }
}

/// Returns the payload if a frame has the request's IPv4 addresses swapped. Linux uses its own Ethernet addresses.
fn is_reply(request: &[u8], frame: &[u8]) -> bool {
    frame.len() >= request.len()
        && frame[12..14] == request[12..14]
        && frame[26..30] == request[30..34]
        && frame[30..34] == request[26..30]
        && frame[HEADERS..request.len()] == request[HEADERS..]
}

/// Sends everything back.
fn echo(socket: &UdpSocket, ends: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !ends.load(Ordering::Relaxed) {
        if let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            // Ignore errors: the receiver notices a missing reply.
            let _ = socket.send_to(&buffer[..bytes], from);
        }
    }
}
