//! Parameters of a path, and its stimulus.

use crate::bench::Parameters;
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Bytes of each piece of memory that has contents.
pub const PIECE: u64 = 64 * 1024;

/// Parameters of an egress path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, and of a line of memory.
    pub beat: u64,
    /// Bits of an AXI address, and of the length in a command.
    pub address_bits: u32,
    /// Bits of the address in a command.
    pub source_bits: u32,
    /// Number of command ids.
    pub ids: u64,
    /// Longest frame in bytes.
    pub max_frame: u64,
    /// Beats of the frame buffer.
    pub buffer_beats: u64,
    /// Commands that can wait for their answer.
    pub commands: u64,
    /// tuser of all frames.
    pub tx_user: u128,
    /// Whether the last error can be cleared.
    pub error_clear: bool,
    /// The slots whose packets can be passed to the host, if frames can be passed.
    pub slots: Option<Slots>,
}

/// The packet buffer of a path that passes frames, and the side band of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Address of the buffer.
    pub base: u64,
    /// Its bytes.
    pub size: u64,
    /// Bytes at whose multiples slots start.
    pub unit: u64,
    /// Widths of tid, tdest, and of tuser without its error bit.
    pub widths: [u32; 3],
}

impl Slots {
    /// The address of slot number `number`, modulo their number.
    pub fn address(&self, number: u64) -> u64 {
        self.base + number % (self.size / self.unit) * self.unit
    }

    /// Whether a slot can start at that address.
    pub fn has(&self, address: u64) -> bool {
        address.is_multiple_of(self.unit) && (self.base..self.base + self.size).contains(&address)
    }
}

impl Setup {
    /// The parameters of a model.
    ///
    /// # Panics
    /// If the catalog has no such model.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            beat: get("data_width") / 8,
            address_bits: get("address_width") as u32,
            source_bits: get("host_address_width") as u32,
            ids: get("clusters") * get("cores") * get("core_commands"),
            max_frame: get("max_frame"),
            buffer_beats: get("buffer_beats"),
            commands: get("commands"),
            tx_user: get("tx_user").into(),
            error_clear: get("error_clear") == 1,
            slots: (get("pass") == 1).then(|| Slots {
                base: get("buffer_base"),
                size: get("buffer_size"),
                unit: get("slot_unit"),
                widths: [
                    get("rx_id_width") as u32,
                    get("rx_dest_width") as u32,
                    get("rx_user_width") as u32 - 1,
                ],
            }),
        }
    }

    /// The address after the highest one.
    pub fn address_end(&self) -> u64 {
        1 << self.address_bits
    }

    /// The highest address that a command can have.
    pub fn highest_source(&self) -> u64 {
        u64::MAX >> (64 - self.source_bits)
    }

    /// Beats of a frame of that length.
    pub fn beats(&self, length: u64) -> u64 {
        length.div_ceil(self.beat)
    }

    /// Bytes of a block of memory that no burst leaves: 64 lines, or 4 KiB if those are less.
    fn block(&self) -> u64 {
        (64 * self.beat).min(4096)
    }

    /// The bursts that read a range of memory: address and beats of each.
    pub fn bursts(&self, source: u64, length: u64) -> Vec<(u64, u64)> {
        let mut line = source / self.beat;
        let end = (source + length).div_ceil(self.beat);
        let lines_of_block = self.block() / self.beat;
        let mut bursts = Vec::new();
        while line < end {
            let count = (end - line).min(lines_of_block - line % lines_of_block);
            bursts.push((line * self.beat, count));
            line += count;
        }
        bursts
    }

    /// Number of lines that contain a range of memory.
    pub fn lines(&self, source: u64, length: u64) -> u64 {
        (source + length).div_ceil(self.beat) - source / self.beat
    }
}

/// Stimulus of an egress path: pauses, latency, faults.
#[derive(Clone, Debug, Default)]
pub struct Stimulus {
    /// Gaps between commands.
    pub command: Pause,
    /// Backpressure of reads.
    pub address: Pause,
    /// Gaps between lines.
    pub data: Pause,
    /// Cycles from a read to its first line.
    pub latency: Latency,
    /// Lines of memory that fail.
    pub faults: LineFaults,
    /// Backpressure of the wire.
    pub wire: Pause,
    /// Backpressure of the host.
    pub host: Pause,
    /// Cycles in which the last error is cleared: those that would be a pause.
    pub clear: Pause,
}

impl Stimulus {
    /// Everything ready, and lines after that many cycles.
    pub fn after(cycles: u64) -> Self {
        Self {
            latency: Latency::exactly(cycles),
            ..Self::default()
        }
    }
}

/// The stimuli that random tests go through, each with its name.
pub fn stimuli() -> Vec<(&'static str, Stimulus)> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let latency = |least, most| Latency { least, most };
    let clear = random(5);
    vec![
        ("nothing waits", Stimulus::after(1)),
        (
            "memory far away, few errors",
            Stimulus {
                latency: Latency::exactly(40),
                faults: LineFaults::Random(5),
                clear: clear.clone(),
                ..Stimulus::default()
            },
        ),
        (
            "everything pauses",
            Stimulus {
                command: random(30),
                address: random(30),
                data: random(30),
                latency: latency(1, 30),
                faults: LineFaults::Random(20),
                wire: random(30),
                host: random(30),
                clear: clear.clone(),
            },
        ),
        (
            "bursts of everything",
            Stimulus {
                command: bursty(40, 60),
                address: bursty(20, 40),
                data: bursty(40, 20),
                latency: latency(1, 100),
                faults: LineFaults::Random(10),
                wire: bursty(60, 100),
                host: bursty(30, 100),
                clear: clear.clone(),
            },
        ),
        (
            "the wire is slow",
            Stimulus {
                latency: latency(1, 10),
                faults: LineFaults::Random(3),
                wire: random(75),
                clear: clear.clone(),
                ..Stimulus::default()
            },
        ),
        (
            "the memory is slow",
            Stimulus {
                address: random(50),
                data: random(75),
                latency: latency(10, 80),
                faults: LineFaults::Random(3),
                clear: clear.clone(),
                ..Stimulus::default()
            },
        ),
        (
            "many errors",
            Stimulus {
                latency: latency(1, 20),
                faults: LineFaults::Random(200),
                wire: bursty(10, 10),
                clear,
                ..Stimulus::default()
            },
        ),
    ]
}

/// Lines of memory that fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineFaults {
    /// None.
    #[default]
    Never,
    /// Each line with that probability in thousandths, SLVERR or DECERR.
    Random(u32),
    /// The lines at these addresses.
    At(Vec<(u64, Response)>),
}

/// Responses to lines in the order of the reads. Clones share one state.
#[derive(Clone, Debug)]
pub(super) struct LineResponses {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    faults: LineFaults,
    rng: ChaCha8Rng,
    answers: VecDeque<Response>,
}

impl LineResponses {
    pub(super) fn new(faults: LineFaults, rng: ChaCha8Rng) -> Self {
        let state = State {
            faults,
            rng,
            answers: VecDeque::new(),
        };
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    /// Returns the faults of a slave that asks this for each line.
    pub(super) fn faults(&self) -> Faults {
        let state = Rc::clone(&self.state);
        Faults::PerBeat(BeatResponder::new(move |burst, number| {
            state.borrow_mut().respond(burst, number)
        }))
    }

    /// Changes which lines fail, from the next read on.
    pub(super) fn set(&self, faults: LineFaults) {
        self.state.borrow_mut().faults = faults;
    }

    /// The answer of the oldest line that was not taken yet.
    pub(super) fn take(&self) -> Option<Response> {
        self.state.borrow_mut().answers.pop_front()
    }

    /// Forgets all answers.
    pub(super) fn clear(&self) {
        self.state.borrow_mut().answers.clear();
    }
}

impl State {
    fn respond(&mut self, burst: &Burst, number: u64) -> Response {
        let address = burst.beat_address(number);
        let response = match &self.faults {
            LineFaults::Never => Response::Okay,
            LineFaults::Random(thousandths) if self.rng.random_range(0..1000) < *thousandths => {
                if self.rng.random_bool(0.5) {
                    Response::SlaveError
                } else {
                    Response::DecodeError
                }
            }
            LineFaults::Random(_) => Response::Okay,
            LineFaults::At(lines) => {
                let hit = lines.iter().find(|(line, _)| *line == address);
                hit.map_or(Response::Okay, |(_, response)| *response)
            }
        };
        self.answers.push_back(response);
        response
    }
}
