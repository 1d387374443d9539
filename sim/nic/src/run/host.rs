//! Host programs in the process of the NIC: one answers calls of handlers of `spin_rpc.h`, and one
//! answers pings and datagrams of `host_ping`.

use crate::device::{HOST_BASE, HOST_STRIDE, Simulated};
use crate::nic::{ControlError, Nic};
use crate::report::Call;
use crate::services::{ServiceTimes, TimedServices};
use crate::terminal::tell;
use anyhow::Context as _;
use spinneret_cluster::Program;
use spinneret_host::{Context, Device as _, DeviceError};
use spinneret_regmap::{CONTEXTS, her, me};
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Libc, Offer, Services, Version, opcode};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::rc::Rc;

/// Result of a step of a host program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostStep {
    /// Nothing to do until something changes.
    Idle,
    /// The next step is at this time at the latest, in picoseconds since the start.
    WakeAt(u64),
    /// The program and the run are done.
    Done,
}

/// A host program.
pub(crate) trait HostProgram {
    /// A step of the program.
    ///
    /// # Errors
    /// If the simulation fails.
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep>;

    /// Enables the log of calls.
    fn watch(&mut self) {}

    /// Calls that were answered since the last call, in simulated time.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// Whether packets may start: those of sources without real time do when software waits for them.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether it takes the frames to the host itself.
    fn takes_frames(&self) -> bool {
        false
    }

    /// Whether it ends the run, not the end of packets.
    fn stays(&self) -> bool {
        false
    }

    /// Descriptors to wait for.
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// The run ends.
    ///
    /// # Errors
    /// If work was left unfinished.
    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Whether rules lead to a context. Software disables matching while it opens one.
pub(super) fn is_matching(nic: &Simulated) -> Result<bool, DeviceError> {
    let mut nic = nic.clone();
    if nic.read_register(me::VALID.offset)? != 1 {
        return Ok(false);
    }
    for context in (0..CONTEXTS).filter_map(her::ctx_enabled) {
        if nic.read_register(context)? == 1 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Answers calls of all contexts.
#[derive(Debug)]
pub(super) struct RpcService {
    paced: TimedServices,
    /// The service of each context.
    libcs: Vec<Rc<Libc>>,
}

impl RpcService {
    /// The calls of libc, with files in a folder if there is one.
    ///
    /// # Errors
    /// If there is no such folder, or the handlers call nothing.
    pub(super) fn open(contexts: Vec<Context<Simulated>>, folder: Option<&Path>) -> anyhow::Result<Self> {
        let offer = Offer::default();
        let mut libcs = Vec::new();
        let open = |context| {
            let libc = Rc::new(libc(offer.version, folder)?);
            libcs.push(Rc::clone(&libc));
            let services = Services::open(context, &offer, |server| {
                server.add(opcode::LIBC, libc.clone());
                server.add(opcode::SPINNERET, libc);
            })?;
            Ok(services)
        };
        let services: Vec<_> = contexts.into_iter().map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self {
            paced: TimedServices::new(services, ServiceTimes::default()),
            libcs,
        })
    }
}

/// Standard output is reserved for the result, so text of handlers goes to standard error.
fn libc(version: Version, folder: Option<&Path>) -> anyhow::Result<Libc> {
    let config = Config::of_folder(folder.map(Path::to_owned));
    Libc::new(version, config).with_context(|| {
        let folder = folder.unwrap_or(Path::new("."));
        format!("cannot open the folder {}", folder.display())
    })
}

impl HostProgram for RpcService {
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep> {
        let now_ps = nic.borrow().now_ps();
        let next_ps = self.paced.poll(now_ps)?;
        Ok(match nic.borrow().is_idle() && self.paced.is_idle() {
            true => HostStep::Idle,
            false => HostStep::WakeAt(next_ps),
        })
    }

    fn watch(&mut self) {
        self.paced.watch();
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.paced.take_calls()
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.libcs.iter().for_each(|libc| libc.flush());
        for services in self.paced.services() {
            let Some(server) = services.server() else { continue };
            let counts = server.counts();
            let context = services.context().number();
            let mut line = format!("context {context}: {} calls were answered", counts.calls);
            for (refusal, times) in &counts.refusals {
                line += &format!(", {times} refused: {refusal}");
            }
            if let Some(end) = server.ended() {
                line += &format!("; a handler has ended itself ({end:?})");
            }
            tell(line);
        }
        Ok(())
    }
}

/// Each HPU has a page of its context's host memory.
const PAGE: u64 = 4096;
/// Offset of the frame in it, after the flag.
const FRAME: u64 = 64;
/// Bytes of a flag: number of the request, length, HPU.
const FLAG: usize = 8;
/// Ethernet and IPv4 headers.
const TRANSPORT: usize = 34;
/// Where IPv4 says what it carries, and what it says for UDP.
const PROTOCOL: usize = 23;
const UDP: u8 = 17;
/// Interval between polls of host memory, in picoseconds.
const LOOK_PS: u64 = 1_000_000;

/// Polls requests of handlers and answers them.
#[derive(Debug)]
pub struct HostPing {
    /// Addresses at which handlers wait for answers.
    answers: u32,
    /// Number of the last request, by context and HPU.
    seen: Vec<Vec<u8>>,
}

impl HostPing {
    /// For the handlers of a program, if they wait for a host.
    pub fn new(program: &Program, simulated: &Simulated, contexts: usize) -> Option<Self> {
        let answers = program.host_data?;
        let nic = simulated.borrow();
        let [clusters, hpus] = nic.cluster().shape();
        let hpus = (clusters * hpus) as usize;
        for context in 0..contexts as u64 {
            for hpu in 0..hpus as u64 {
                nic.host_memory().set(page(context, hpu), &[0; FLAG]);
            }
        }
        Some(Self {
            answers,
            seen: vec![vec![0; hpus]; contexts],
        })
    }

    /// Answers requests: writes a copy of the frame with swapped addresses, and then the flag that the handler waits for.
    ///
    /// # Errors
    /// If the NIC does not take the answer.
    pub fn answer(&mut self, nic: &mut Nic) -> Result<(), ControlError> {
        for (context, seen) in (0_u64..).zip(&mut self.seen) {
            for (hpu, seen) in (0_u32..).zip(seen) {
                let page = page(context, hpu.into());
                let flag = nic.host_memory().read(page, FLAG);
                if flag[0] == *seen {
                    continue;
                }
                *seen = flag[0];
                let length = u32::from_le_bytes([flag[1], flag[2], flag[3], flag[4]]);
                let frame = nic
                    .host_memory()
                    .read(page + FRAME, length.min(PAGE as u32) as usize);
                nic.host_memory().set(page + FRAME, &reply(frame));
                // The word with the number is written last, as handlers read it first.
                let answer = self.answers + FLAG as u32 * hpu;
                nic.write_cluster(answer + 4, word(&flag[4..]))?;
                nic.write_cluster(answer, word(&flag[..4]))?;
            }
        }
        Ok(())
    }
}

impl HostProgram for HostPing {
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep> {
        let mut nic = nic.borrow_mut();
        self.answer(&mut nic)?;
        Ok(match nic.is_idle() {
            true => HostStep::Idle,
            false => HostStep::WakeAt(nic.now_ps() + LOOK_PS),
        })
    }
}

/// The page of an HPU.
fn page(context: u64, hpu: u64) -> u64 {
    HOST_BASE + context * HOST_STRIDE + hpu * PAGE
}

fn word(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// An echo request as its own reply, and a UDP datagram back to where it came from.
pub fn reply(mut frame: Vec<u8>) -> Vec<u8> {
    if frame.len() < TRANSPORT + 8 {
        return frame;
    }
    swap(&mut frame, 0, 6, 6);
    swap(&mut frame, 26, 30, 4);
    if frame[PROTOCOL] == UDP {
        // The checksum is a sum, so it stays right.
        swap(&mut frame, TRANSPORT, TRANSPORT + 2, 2);
        return frame;
    }
    frame[TRANSPORT] = 0;
    // The type was 8 and is 0: the sum of the words has become less by 0x0800 (RFC 1624).
    let sum = u32::from(u16::from_be_bytes([frame[TRANSPORT + 2], frame[TRANSPORT + 3]])) + 0x0800;
    let sum = (sum & 0xffff) + (sum >> 16);
    frame[TRANSPORT + 2..TRANSPORT + 4].copy_from_slice(&(sum as u16).to_be_bytes());
    frame
}

/// Swaps two parts that do not overlap, the first one before the other.
fn swap(frame: &mut [u8], first: usize, second: usize, bytes: usize) {
    let (head, tail) = frame.split_at_mut(second);
    head[first..first + bytes].swap_with_slice(&mut tail[..bytes]);
}
