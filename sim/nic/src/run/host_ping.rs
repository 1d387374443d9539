//! The host's part of pings and datagrams that are answered on the host: what the program beside the handlers of
//! `host_ping` does.

use super::host::{Attention, HostProgram};
use crate::device::Simulated;
use crate::device::{HOST_BASE, HOST_STRIDE};
use crate::nic::{Behind, ControlError, Modelled, Nic};
use spinneret_cluster::Program;

/// Each HPU has a page of its context's host memory.
const PAGE: u64 = 4096;
/// Where the frame lies in it, behind the flag.
const FRAME: u64 = 64;
/// Bytes of a flag: number of the request, length, HPU.
const FLAG: usize = 8;
/// Ethernet and IPv4 headers.
const TRANSPORT: usize = 34;
/// Where IPv4 says what it carries, and what it says for UDP.
const PROTOCOL: usize = 23;
const UDP: u8 = 17;
/// Between two looks at host memory, in picoseconds.
const LOOK_PS: u64 = 1_000_000;

/// Looks for requests of handlers and answers them.
#[derive(Debug)]
pub struct HostPing<B = Modelled> {
    /// Where handlers wait for their answers.
    answers: u32,
    /// Number of the last request, by context and HPU.
    seen: Vec<Vec<u8>>,
    nic: Simulated<B>,
}

impl<B: Behind> HostPing<B> {
    /// For the handlers of a program; nothing if they do not wait for a host.
    pub fn new(program: &Program, simulated: &Simulated<B>, contexts: usize) -> Option<Self> {
        let answers = program.host_data?;
        let nic = simulated.borrow();
        let [clusters, hpus] = nic.behind().shape();
        let hpus = (clusters * hpus) as usize;
        for context in 0..contexts as u64 {
            for hpu in 0..hpus as u64 {
                nic.host_memory().set(page(context, hpu), &[0; FLAG]);
            }
        }
        Some(Self {
            answers,
            seen: vec![vec![0; hpus]; contexts],
            nic: simulated.clone(),
        })
    }

    /// Answers what has come: a copy of the frame with changed addresses, and then the flag, which the handler waits for.
    ///
    /// # Errors
    /// If the NIC does not take the answer.
    pub fn answer(&mut self, nic: &mut Nic<B>) -> Result<(), ControlError> {
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
                // The word with the number comes last, as handlers look at it first.
                let answer = self.answers + FLAG as u32 * hpu;
                nic.write_cluster(answer + 4, word(&flag[4..]))?;
                nic.write_cluster(answer, word(&flag[..4]))?;
            }
        }
        Ok(())
    }
}

impl HostProgram for HostPing {
    fn poll(&mut self) -> anyhow::Result<Attention> {
        let simulated = self.nic.clone();
        let mut nic = simulated.borrow_mut();
        self.answer(&mut nic)?;
        Ok(match nic.is_idle() {
            true => Attention::Idle,
            false => Attention::Until(nic.now_ps() + LOOK_PS),
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
fn reply(mut frame: Vec<u8>) -> Vec<u8> {
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
