//! Figure 7: round trips of echo requests and datagrams, answered on the NIC, on the host, or by both.

use super::stack::{Protocol, Stack, program_takes};
use super::{Clusters, csv as sheet, modelled, show};
use crate::harness::{HEADERS, PATIENCE_PS, draw, exchange, program, settle, start, start_with};
use anyhow::{Context as _, Result, anyhow};
use spinneret_nic::installed::{example, runtime};
use spinneret_nic::net::{MIN_FRAME_BYTES, Recipe};
use spinneret_nic::nic::{Backend, Nic, NicConfig};
use spinneret_nic::picture::{Axis, Band, COLORS, Panel, Series, Shape, Style};
use spinneret_nic::run::HostPing;
use spinneret_nic::{Simulated, start_on};
use spinneret_rules::{MatcherParams, RuleFile};
use spinneret_table::bench::{Spread, cells};
use std::path::Path;

/// Payloads in bytes.
const PAYLOADS: [usize; 8] = [16, 216, 416, 616, 816, 1016, 1216, 1400];
/// Polling interval of a host program that does nothing else.
const LOOK_PS: u64 = 100_000;
/// Datagrams to any port go to the handlers.
const UDP_RULES: &[u8] =
    b"[[ruleset]]\nname = 'host_ping'\nrules = ['ipv4', { ip-proto = 17 }]\nend-of-message = 'never'\n";
/// Trips of a point, after one that warms up the caches.
const TRIPS: usize = 20;
/// Both ways over a cable, in microseconds.
const CABLE: f64 = 1.0;
/// Columns of the table: medians of the parts, and of the whole trip with its 95 % confidence interval.
const COLUMNS: [&str; 9] = [
    "protocol",
    "mode",
    "payload_bytes",
    "simulated_us",
    "client_us",
    "host_us",
    "total_us",
    "low_us",
    "high_us",
];
/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 520);
/// Range of payloads in the picture, in bytes.
const DRAWN: [f64; 2] = [0.0, 1450.0];
/// One for each mode, in print too.
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// Which side replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A handler on the NIC.
    Spin,
    /// The same handler, which adds up the message itself where the NIC could have told it the sum.
    SpinSum,
    /// The host; the NIC passes everything on.
    Host,
    /// A handler receives and sends, and a program on the host computes.
    HostSpin,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Spin, Self::Host, Self::HostSpin, Self::SpinSum];

    fn name(self) -> &'static str {
        match self {
            Self::Spin => "sPIN",
            Self::SpinSum => "sPIN without hardware sum",
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

/// One point: medians in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// Protocol of the request.
    pub protocol: Protocol,
    /// Which side replied.
    pub mode: Mode,
    /// Bytes of payload.
    pub payload: usize,
    /// Simulated: both NICs and the cable.
    pub simulated: f64,
    /// Measured: Linux and the program of the client.
    pub client: f64,
    /// Measured: Linux or the program of the host; 0 where it has no part.
    pub host: f64,
    /// The whole trip: median, and the ends of its 95 % confidence interval.
    pub total: [f64; 3],
}

impl RoundTrip {
    fn row(&self) -> Vec<String> {
        let [total, low, high] = self.total;
        let mut row = vec![
            self.protocol.name().to_owned(),
            self.mode.name().to_owned(),
            self.payload.to_string(),
        ];
        row.extend(cells(
            [self.simulated, self.client, self.host, total, low, high],
            3,
        ));
        row
    }

    fn read(line: &str) -> Option<Self> {
        let mut columns = line.split(',');
        let (protocol, mode) = (columns.next()?, columns.next()?);
        let payload = columns.next()?.parse().ok()?;
        let mut next = || columns.next()?.parse::<f64>().ok();
        Some(Self {
            protocol: Protocol::ALL.into_iter().find(|one| one.name() == protocol)?,
            mode: Mode::ALL.into_iter().find(|one| one.name() == mode)?,
            payload,
            simulated: next()?,
            client: next()?,
            host: next()?,
            total: [next()?, next()?, next()?],
        })
    }
}

/// The times of a point's trips, in microseconds.
#[derive(Debug, Default)]
struct Trips {
    simulated: Vec<f64>,
    client: Vec<f64>,
    host: Vec<f64>,
}

impl Trips {
    fn point(self, protocol: Protocol, mode: Mode, payload: usize) -> RoundTrip {
        let part = |values: &[f64], number: usize| values.get(number).copied().unwrap_or(0.0);
        let total = |number| {
            let [simulated, client, host] =
                [&self.simulated, &self.client, &self.host].map(|values| part(values, number));
            simulated + client + host
        };
        let total: Spread = (0..self.simulated.len()).map(total).collect();
        let median = |values: Vec<f64>| match values.is_empty() {
            true => 0.0,
            false => Spread::from_iter(values).median(),
        };
        let [low, high] = total.interval();
        RoundTrip {
            protocol,
            mode,
            payload,
            simulated: median(self.simulated),
            client: median(self.client),
            host: median(self.host),
            total: [total.median(), low, high],
        }
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

/// All points; without the right to make interfaces, without what Linux takes.
fn measure(clusters: Clusters) -> Result<Vec<RoundTrip>> {
    let stack = Stack::open()
        .inspect_err(|error| {
            eprintln!(
                "without the client and the host, for which Linux's network stack is measured: {error:#}"
            );
        })
        .ok();
    let mut points = Vec::new();
    for protocol in Protocol::ALL {
        let mut spin = start(&format!("{}_ping", protocol.recipe()), clusters.config())?;
        let mut sums = start_sums(protocol, clusters)?;
        let mut passing = Nic::new(clusters.config())?;
        let (both, mut program) = start_both(protocol, clusters.config())?;
        for payload in PAYLOADS {
            let size = (HEADERS + payload).max(MIN_FRAME_BYTES);
            let recipe: Recipe = format!("{},size={size}", protocol.recipe()).parse()?;
            let request = |number| recipe.frame(number);
            let client_nic = pass(&mut passing, &request(0))?;
            let mut modes = vec![Mode::Spin, Mode::HostSpin, Mode::Host];
            modes.extend(sums.is_some().then_some(Mode::SpinSum));
            let mut modes: Vec<_> = modes.into_iter().map(|mode| (mode, Trips::default())).collect();
            for number in 0..=TRIPS as u32 {
                let both = &mut *both.borrow_mut();
                let asked = |nic: &mut Nic, limit_ps| {
                    program.answer(nic)?;
                    look(nic, limit_ps)
                };
                let mut times = vec![
                    exchange(&mut spin, &request(number), look)?,
                    exchange(both, &request(number), asked)?,
                    client_nic,
                ];
                settle(&mut spin)?;
                settle(both)?;
                if let Some(sums) = &mut sums {
                    times.push(exchange(sums, &request(number), look)?);
                    settle(sums)?;
                }
                // The first request warms up the caches.
                for ((_, trips), time) in modes.iter_mut().zip(times).filter(|_| number > 0) {
                    trips.simulated.push((time + client_nic) as f64 / 1e6 + CABLE);
                }
            }
            for (mode, mut trips) in modes {
                if let Some(stack) = &stack {
                    trips.client = stack.client(protocol, size, TRIPS)?;
                }
                match (mode, &stack) {
                    (Mode::Spin | Mode::SpinSum, _) => {}
                    (Mode::HostSpin, _) => trips.host = program_takes(&request(1), TRIPS),
                    (Mode::Host, Some(stack)) => trips.host = stack.host(protocol, size, TRIPS)?,
                    (Mode::Host, None) => continue,
                }
                let point = trips.point(protocol, mode, payload);
                let (protocol, mode, [total, low, high]) = (protocol.name(), mode.name(), point.total);
                eprintln!("{protocol} {mode} {payload} bytes: {total:.1} us ({low:.1} to {high:.1})");
                points.push(point);
            }
        }
    }
    Ok(points)
}

/// Advances to the next poll of the host.
fn look(nic: &mut Nic, limit_ps: u64) -> Result<()> {
    Ok(nic.run_until(limit_ps.min(nic.now_ps() + LOOK_PS))?)
}

/// A NIC whose handler adds up what the NIC has summed already. The model of PsPIN's clusters never has that sum, and
/// the handler for UDP needs none.
fn start_sums(protocol: Protocol, clusters: Clusters) -> Result<Option<Nic>> {
    if protocol == Protocol::Udp || clusters.0 == Backend::Model {
        return Ok(None);
    }
    let rules = example("icmp_ping")?.join("rules.toml");
    start_with(&runtime()?.join("tests/icmp_sums"), &rules, clusters.config()).map(Some)
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

/// The confidence intervals of a mode, from left to right and back.
fn interval(trips: &[RoundTrip], protocol: Protocol, mode: Mode) -> Option<Vec<(f64, f64)>> {
    let own = |trip: &&RoundTrip| (trip.protocol, trip.mode) == (protocol, mode);
    let end = |at: usize| move |trip: &RoundTrip| (trip.payload as f64, trip.total[at]);
    let low = trips.iter().filter(own).map(end(1));
    let high = trips.iter().filter(own).map(end(2)).rev();
    let outline: Vec<_> = low.chain(high).collect();
    (!outline.is_empty()).then_some(outline)
}

/// Round trips of a protocol over payload, with those of the model if the trips are not.
fn panel(protocol: Protocol, trips: &[RoundTrip], model: &[RoundTrip], clusters: Clusters) -> Panel {
    let of = |trips: &[RoundTrip], mode| -> Vec<(f64, f64)> {
        let own = trips
            .iter()
            .filter(|trip| (trip.protocol, trip.mode) == (protocol, mode));
        own.map(|trip| (trip.payload as f64, trip.total[0])).collect()
    };
    let ours = trips.iter().chain(model).filter(|trip| trip.protocol == protocol);
    let paper = PAPER.iter().filter(|(of, ..)| *of == protocol);
    let highest = ours.map(|trip| trip.total[2]);
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
        let other = Clusters(Backend::Model).name();
        let other = Series::new(format!("{name}, {other}"), modelled(line), of(model, mode));
        let here = match clusters.0 {
            Backend::Model => "here",
            Backend::Own | Backend::Rtl => clusters.name(),
        };
        let own = Series {
            band: interval(trips, protocol, mode).map(|outline| Band {
                outline,
                color,
                name: String::new(),
            }),
            ..Series::new(format!("{name}, {here}"), line.with(shape), of(trips, mode))
        };
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
