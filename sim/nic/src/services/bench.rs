//! What calls of handlers cost, in simulated time.

use super::{Pace, Paced};
use crate::Simulated;
use crate::laptop::{BenchError, runtime};
use crate::nic::NicConfig;
use crate::run;
use serde::{Serialize, Serializer};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_packets::udp;
use spinneret_rpc::clib::Config;
use spinneret_rpc::nic::Window;
use spinneret_rpc::{Copies, Libc, Offer, Server, Services, TestCalls, Version, opcode};
use std::rc::Rc;

/// Where packets go, and where their payload begins.
const PORT: u16 = 9000;
const PAYLOAD: usize = 42;
/// The words of a request of `runtime/tests/rpc`, which come back with the clocks in the second number.
const WORDS: usize = 16;
const CLOCKS: usize = 2;
/// Clocks of the cluster in a second.
const HERTZ: f64 = 40e6;
/// Calls of each HPU before those that count: so many that no HPU is done before the last one gets its packet.
const WARM_CALLS: u32 = 50;
/// Longest that a measurement takes on the NIC.
const LIMIT_PS: u64 = 1_000_000_000_000;

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Call {
    /// A call without data and answer, of which the handler waits until it is done.
    Noop,
    /// The same with a number.
    Tell,
    /// A number there and the next one back.
    Increment,
    /// A call without data that is not waited for.
    Asynchronous,
    /// The same with a number.
    Post,
    /// `printf` of a number and a string.
    Printf,
    /// `puts` of 20 bytes.
    Puts,
}

impl Call {
    /// A request's kind, as `enum kind` of `runtime/tests/rpc/rpc.c`, and its second number.
    fn request(self) -> (u32, u32) {
        match self {
            Self::Noop => (0, 0),
            Self::Tell => (0, 1),
            Self::Increment => (1, 0),
            Self::Asynchronous => (2, 0),
            Self::Post => (2, 1),
            Self::Printf => (17, 0),
            Self::Puts => (18, 0),
        }
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// What was called.
    pub call: Call,
    /// Where handlers see that they are answered.
    #[serde(serialize_with = "by_name")]
    pub copies: Copies,
    /// Ports of each HPU.
    pub ports_per_hpu: u32,
    /// HPUs that call at once.
    pub hpus: u32,
    /// Clocks of the cluster from one call to the next of the same HPU, on average.
    pub clocks: f64,
    /// Calls in a second, of all.
    pub rate: f64,
}

fn by_name<S: Serializer>(copies: &Copies, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{copies:?}"))
}

/// Lets some HPUs make so many calls each at the same time, after some to get warm.
///
/// # Errors
/// If the handlers cannot be built, or do something else than they should.
pub fn measure(call: Call, offer: &Offer, hpus: u32, calls: u32) -> Result<Row, BenchError> {
    let wrong = |what: String| BenchError::Wrong(what);
    let failed = |error: &dyn std::fmt::Display| BenchError::Wrong(error.to_string());
    let mut config = NicConfig::default();
    // Handlers that call as often as here would be ended otherwise.
    config.cluster.watchdog = u64::MAX / 2;
    let program = Program::open(&run::program(
        &runtime().join("tests/rpc"),
        config.cluster.clusters,
    )?)?;
    let simulated = Simulated::new(config)?;
    let nic = Nic::new(simulated.clone()).map_err(|error| failed(&error))?;
    let rules = Ruleset::all()
        .rule(Rule::udp_destination_port(PORT, PORT))
        .end_of_message(Rule::NEVER);
    let context = nic
        .open_context(&program, "rpc", &rules, &Options::default())
        .map_err(|error| failed(&error))?;
    let services = Services::open(context, offer, add).map_err(|error| failed(&error))?;
    let mut paced = Paced::new(vec![services], Pace::default());
    let mut rounds = Vec::new();
    // The first round brings the program into the caches, and tells HPUs where their ports are.
    for count in [WARM_CALLS, calls] {
        let mut nic = simulated.borrow_mut();
        for number in 0..hpus {
            // The message's number chooses the cluster, which takes more packets than it has HPUs.
            let (kind, second) = call.request();
            let words = [kind | (number & 1) << 16, count, second];
            let mut payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            payload.resize(4 * WORDS, 0);
            nic.receive(udp(PORT, &payload));
        }
        drop(nic);
        rounds.push(round(&simulated, &mut paced, hpus).map_err(wrong)?);
    }
    let clocks: Vec<f64> = rounds[1]
        .iter()
        .map(|clocks| f64::from(*clocks) / f64::from(calls))
        .collect();
    Ok(Row {
        call,
        copies: offer.copies,
        ports_per_hpu: offer.ports_per_hpu,
        hpus,
        clocks: clocks.iter().sum::<f64>() / f64::from(hpus),
        rate: clocks.iter().map(|clocks| HERTZ / clocks).sum(),
    })
}

fn add(server: &mut Server<Window>) {
    let config = Config {
        output: Box::new(std::io::sink()),
        ..Config::default()
    };
    // Without a folder there is nothing that could fail.
    if let Ok(libc) = Libc::new(Version::V23, config) {
        let libc = Rc::new(libc);
        server.add(opcode::LIBC, libc.clone());
        server.add(opcode::SPINNERET, libc);
    }
    server.add(opcode::LIBC, Rc::new(TestCalls));
}

/// Until all packets have come back: the clocks that each handler took.
fn round(simulated: &Simulated, paced: &mut Paced, hpus: u32) -> Result<Vec<u32>, String> {
    let end_ps = simulated.borrow().now_ps() + LIMIT_PS;
    let (mut clocks, mut seen) = (Vec::new(), Vec::new());
    while clocks.len() < hpus as usize {
        let now_ps = simulated.borrow().now_ps();
        if now_ps > end_ps {
            return Err(format!("{} of {hpus} handlers have ended", clocks.len()));
        }
        let next_ps = paced.poll(now_ps).map_err(|error| error.to_string())?;
        let mut nic = simulated.borrow_mut();
        nic.run_until(next_ps).map_err(|error| error.to_string())?;
        while let Some(frame) = nic.take_wire() {
            let payload = frame.bytes.get(PAYLOAD..PAYLOAD + 4 * WORDS).unwrap_or_default();
            let word = |number| {
                let word: &[[u8; 4]] = payload.as_chunks().0;
                word.get(number).map(|word| u32::from_le_bytes(*word))
            };
            clocks.extend(word(CLOCKS));
            seen.extend(word(0));
        }
    }
    seen.sort_unstable();
    seen.dedup();
    match seen.len() == hpus as usize {
        true => Ok(clocks),
        false => Err(format!("{hpus} packets were handled by {} HPUs", seen.len())),
    }
}
