//! What it takes to receive the messages of a channel: a host that copies them into fields, or a NIC that puts them
//! there.

use crate::lines::{HPUS, segment_bytes};
use molly::model::Run;
use molly::{Field, Storage as _};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Clocks that an HPU takes for a packet without its runs, and for each run; measured on the simulated NIC
/// (docs/host/mpi.md).
const PACKET_CLOCKS: f64 = 400.0;
const RUN_CLOCKS: f64 = 30.0;
/// Clocks of the cluster in a microsecond.
const CLOCKS_A_US: f64 = 40.0;
/// What a message takes beside the work of HPUs: from its announcement to the word that says that it is there, on an
/// idle NIC in a fabric of 500 ns. It is what is left of the columns of Game of Life that docs/molly.md tells of.
const MESSAGE_US: f64 = 45.0;
/// What the host does for a message that its NIC puts in place: a look at the frame of its announcement and one at its
/// word, and two words that are written to the NIC, of 100 ns each as stated in docs/host/mpi-figures.md.
const HOST_US: f64 = 0.4;

/// How long a host's copy is measured, and how many elements it has at most.
const MEASURING: Duration = Duration::from_millis(2);
const MOST_BYTES: usize = 1 << 24;

/// What it takes to receive a message, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halo {
    /// Bytes of neighbouring elements.
    pub run_bytes: f64,
    /// The host, measured here.
    pub host_us: f64,
    /// The NIC, computed from what was measured on the simulated one.
    pub nic_us: f64,
    /// What the host saves if its NIC does it; less than nothing if it has more to do then.
    pub freed_us: f64,
    /// Who should do it.
    pub by: By,
}

/// Who receives messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The host copies.
    Host,
    /// Its NIC puts them in place.
    Nic,
}

impl By {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Nic => "NIC",
        }
    }
}

impl Halo {
    /// Of messages of so many bytes in so many pieces; a row of their field has `row_bytes`.
    pub fn of(bytes: usize, pieces: usize, row_bytes: usize) -> Self {
        let pieces = pieces.max(1);
        let host_us = host_us(bytes / pieces, pieces, row_bytes);
        let packets = bytes.div_ceil(segment_bytes(bytes, pieces)).max(1);
        // A packet that ends within a run makes two of it.
        let runs = pieces.max(packets) as f64 / packets as f64;
        let clocks = packets.div_ceil(HPUS) as f64 * (PACKET_CLOCKS + runs * RUN_CLOCKS);
        let freed_us = host_us - HOST_US;
        Self {
            run_bytes: bytes as f64 / pieces as f64,
            host_us,
            nic_us: MESSAGE_US + clocks / CLOCKS_A_US,
            freed_us,
            by: if freed_us > 0.0 { By::Nic } else { By::Host },
        }
    }
}

/// How long this machine takes to copy a message out of its buffer to pieces in different rows.
fn host_us(run_bytes: usize, pieces: usize, row_bytes: usize) -> f64 {
    // A longer run stands for one of so many bytes.
    let (whole, run_bytes) = (run_bytes.max(1), run_bytes.clamp(1, MOST_BYTES));
    let row = row_bytes.clamp(run_bytes, MOST_BYTES);
    let rows = pieces.clamp(1, (MOST_BYTES / row).max(1));
    let mut field = Field::new([rows as i64, row as i64], |_| 0_u8);
    let run = |row: usize| Run {
        first: vec![row as i64, 0],
        step: 1,
        count: run_bytes as i64,
    };
    let runs: Vec<Run> = (0..rows).map(run).collect();
    let message = vec![1_u8; rows * run_bytes];
    let strides = field.strides(&runs);
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || begun.elapsed() < MEASURING {
        let start = Instant::now();
        field.unpack(&strides, black_box(&message));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    // A field that would be too large stands for one of as many rows.
    let each_us = times[times.len() / 2].as_secs_f64() * 1e6 / rows as f64;
    each_us * pieces as f64 * (whole as f64 / run_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::{By, Halo};

    #[test]
    fn a_nic_is_chosen_where_it_frees_the_host() {
        let (column, corner) = (Halo::of(16384, 4096, 16384), Halo::of(1, 1, 256));
        assert_eq!((column.run_bytes, column.by), (4.0, By::Nic));
        assert_eq!(corner.by, By::Host);
        // What is longer than what is measured takes as much longer, and no memory.
        let huge = Halo::of(1 << 40, 1, 1 << 50);
        assert!(huge.host_us > 1e4 * Halo::of(1 << 24, 1, 1 << 24).host_us / 2.0);
        assert!(corner.freed_us < 0.0 && corner.nic_us > corner.host_us);
        // Each of 8 HPUs has 512 runs.
        assert!(column.nic_us > 512.0 * 30.0 / 40.0);
    }
}
