//! Figure 7: round trips of echo requests and datagrams, answered on the NIC, on the host, or by both.

use super::{ExperimentError, Stack};
use crate::device::Simulated;
use crate::laptop::{HEADERS, recipe, start};
use crate::net::MIN_FRAME_BYTES;
use crate::net::generator::check_reply;
use crate::nic::{Nic, NicConfig};
use crate::run::host_ping::HostPing;
use spinneret_cluster::Program;
use spinneret_rules::{MatcherParams, RuleFile};

/// Payloads in bytes.
const PAYLOADS: [usize; 8] = [16, 216, 416, 616, 816, 1016, 1216, 1400];
/// Longest that an answer takes, in picoseconds.
const PATIENCE_PS: u64 = 1_000_000_000;
/// Between two looks of the program on the host at its memory: the loop of a program that does nothing else.
const LOOK_PS: u64 = 100_000;
/// Datagrams to any port go to the handlers.
const UDP_RULES: &[u8] =
    b"[[ruleset]]\nname = 'host_ping'\nrules = ['ipv4', { ip-proto = 17 }]\nend-of-message = 'never'\n";

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Echo requests.
    Icmp,
    /// Datagrams.
    Udp,
}

/// Who answers.
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
    /// Both.
    pub const ALL: [Self; 2] = [Self::Icmp, Self::Udp];

    /// Its name.
    pub fn name(self) -> &'static str {
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Spin, Self::Host, Self::HostSpin];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spin => "sPIN",
            Self::Host => "host",
            Self::HostSpin => "host + sPIN",
        }
    }
}

/// The paper's medians in microseconds: at a payload where it tells one, else the range over all payloads.
pub const PAPER_7: &[(Protocol, Mode, Option<usize>, [f64; 2])] = &[
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
    /// What was sent.
    pub protocol: Protocol,
    /// Who answered.
    pub mode: Mode,
    /// Bytes of payload.
    pub payload: usize,
    /// Simulated time from the first beat into the NIC to the last one out of it, in microseconds.
    pub simulated: f64,
    /// Measured time of this machine's Linux, in microseconds; 0 where it has no part.
    pub measured: f64,
}

impl RoundTrip {
    /// Both together.
    pub fn total(&self) -> f64 {
        self.simulated + self.measured
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

/// The first line of the table.
const COLUMNS: &str = "protocol,mode,payload_bytes,simulated_us,measured_us,total_us";

/// Round trips as a table.
pub fn figure7_csv(trips: &[RoundTrip]) -> String {
    let mut csv = format!("{COLUMNS}\n");
    for trip in trips {
        let (protocol, mode, total) = (trip.protocol.name(), trip.mode.name(), trip.total());
        let [simulated, measured] = [trip.simulated, trip.measured];
        csv += &format!(
            "{protocol},{mode},{},{simulated:.3},{measured:.3},{total:.3}\n",
            trip.payload
        );
    }
    csv
}

/// Round trips from such a table.
///
/// # Errors
/// The number of the first line, from 1, that is none of it.
pub fn read_figure7(csv: &str) -> Result<Vec<RoundTrip>, usize> {
    let mut lines = csv.lines();
    if lines.next() != Some(COLUMNS) {
        return Err(1);
    }
    let trips = lines
        .enumerate()
        .map(|(at, line)| RoundTrip::read(line).ok_or(at + 2));
    trips.collect()
}

/// All points; without a stack, those of the host alone are left out.
///
/// # Errors
/// If something fails, or an answer is wrong.
pub fn round_trips(
    stack: Option<&Stack>,
    mut done: impl FnMut(&RoundTrip),
) -> Result<Vec<RoundTrip>, ExperimentError> {
    let mut trips = Vec::new();
    for protocol in Protocol::ALL {
        let mut spin = start(&format!("{}_ping", protocol.recipe()), NicConfig::default())?;
        let mut passing = Nic::new(NicConfig::default())?;
        let (both, mut program) = start_both(protocol)?;
        for payload in PAYLOADS {
            let size = (HEADERS + payload).max(MIN_FRAME_BYTES);
            let recipe = recipe(&format!("{},size={size}", protocol.recipe()))?;
            // The first one warms up whatever there is to warm up.
            for number in [0, 1] {
                let request = recipe.frame(number);
                let mut points = vec![
                    (Mode::Spin, exchange(&mut spin, &request, |_| Ok(()))?, 0.0),
                    (
                        Mode::HostSpin,
                        exchange(&mut both.borrow_mut(), &request, |nic| Ok(program.answer(nic)?))?,
                        0.0,
                    ),
                ];
                if let Some(stack) = stack.filter(|_| number == 1) {
                    let turnaround = stack.turnaround(size)?;
                    let measured = match protocol {
                        Protocol::Icmp => turnaround.icmp,
                        Protocol::Udp => turnaround.udp,
                    };
                    points.push((Mode::Host, pass(&mut passing, &request)?, measured));
                }
                for (mode, simulated, measured) in points.into_iter().filter(|_| number == 1) {
                    let trip = RoundTrip {
                        protocol,
                        mode,
                        payload,
                        simulated: simulated as f64 / 1e6,
                        measured,
                    };
                    done(&trip);
                    trips.push(trip);
                }
            }
        }
    }
    Ok(trips)
}

/// A NIC with the handlers that ask the host, and the program that they ask.
fn start_both(protocol: Protocol) -> Result<(Simulated, HostPing), ExperimentError> {
    let folder = crate::laptop::example("host_ping");
    let bench = |error: crate::laptop::BenchError| ExperimentError::Bench(error);
    let config = NicConfig::default();
    let elf = crate::run::program(&folder, config.cluster.clusters).map_err(|error| bench(error.into()))?;
    let program = Program::open(&elf).map_err(|error| bench(error.into()))?;
    let rules = match protocol {
        Protocol::Icmp => RuleFile::read(&folder.join("rules.toml"), &MatcherParams::BOARD),
        Protocol::Udp => RuleFile::parse("rules for UDP", UDP_RULES, &MatcherParams::BOARD),
    };
    let rules = rules.map_err(|error| bench(error.into()))?;
    let simulated = Simulated::new(config)?;
    crate::start::start_on(&simulated, &program, &rules.rulesets, None)
        .map_err(|error| bench(error.into()))?;
    let host = HostPing::new(&program, &simulated, 1)
        .ok_or_else(|| ExperimentError::Wrong("host_ping has no `__host_data`".to_owned()))?;
    Ok((simulated, host))
}

/// Sends a request and waits for the answer, while the host looks at its memory now and then: the time between.
fn exchange(
    nic: &mut Nic,
    request: &[u8],
    mut host: impl FnMut(&mut Nic) -> Result<(), ExperimentError>,
) -> Result<u64, ExperimentError> {
    let sent = nic.now_ps();
    nic.receive(request.to_vec());
    while nic.now_ps() < sent + PATIENCE_PS {
        if let Some(reply) = nic.take_wire() {
            check_reply(request, &reply.bytes).map_err(|error| ExperimentError::Wrong(error.to_string()))?;
            nic.run_until_idle(nic.now_ps() + PATIENCE_PS)?;
            nic.take_events();
            return Ok(reply.at_ps - sent);
        }
        host(nic)?;
        nic.run_until(nic.now_ps() + LOOK_PS)?;
    }
    Err(ExperimentError::Wrong(format!(
        "no answer to {} bytes",
        request.len()
    )))
}

/// The way through the NIC to the host, through Corundum's DMA, and back again.
fn pass(nic: &mut Nic, request: &[u8]) -> Result<u64, ExperimentError> {
    let missing = || ExperimentError::Wrong(format!("{} bytes did not pass", request.len()));
    let sent = nic.now_ps();
    nic.receive(request.to_vec());
    nic.run_until_idle(sent + PATIENCE_PS)?;
    let up = nic.take_host().ok_or_else(missing)?.at_ps - sent;
    let sent = nic.now_ps();
    nic.transmit(request.to_vec());
    nic.run_until_idle(sent + PATIENCE_PS)?;
    let down = nic.take_wire().ok_or_else(missing)?.at_ps - sent;
    let config = nic.config();
    Ok(up + down + 2 * config.host_latency * config.core_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_as_they_were_written() {
        let trips = [
            (Protocol::Icmp, Mode::HostSpin, 16),
            (Protocol::Udp, Mode::Host, 1400),
        ];
        let trips = trips.map(|(protocol, mode, payload)| RoundTrip {
            protocol,
            mode,
            payload,
            simulated: 10.736,
            measured: 0.25,
        });
        let csv = figure7_csv(&trips);
        assert_eq!(read_figure7(&csv), Ok(trips.to_vec()));
        assert_eq!(read_figure7(&csv.replace("1400", "many")), Err(3));
        assert_eq!(read_figure7("protocol\n"), Err(1));
        assert_eq!(read_figure7(""), Err(1));
    }
}
