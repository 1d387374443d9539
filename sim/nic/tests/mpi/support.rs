//! Two ranks, each with its NIC, in one fabric of this process.

use spinneret_cluster::Program;
use spinneret_fabric::topology::{Simple, ip_of, mac_of};
use spinneret_fabric::{Faults, Left, Settings};
use spinneret_host::{Address, Nic};
use spinneret_mpi::library::{Config, Copies, Counts, From, Library, To};
use spinneret_mpi::nic::memory::Counter;
use spinneret_mpi::{Layout, Piece};
use spinneret_mpi_sys::{Bounds, Combiner, Tree};
use spinneret_nic::fabric::{Hosted, run_programs};
use spinneret_nic::nic::NicConfig;
use spinneret_nic::{Simulated, laptop, run};
use spinneret_slmp::{Mode, SenderConfig};
use std::sync::Mutex;
use std::time::Duration;

/// Bytes around elements that nobody may touch.
pub(crate) const GUARD: u32 = 96;
/// Longest that anything takes, in simulated time.
pub(crate) const LIMIT: Duration = Duration::from_secs(1);
/// What buffers of receives hold before.
pub(crate) const FILL: u8 = 0x5a;

pub(crate) type Rank = Library<Simulated>;

pub(crate) fn program() -> Program {
    let elf = run::program(&laptop::example("mpi_types"), 2).unwrap_or_else(|error| panic!("{error}"));
    Program::open(&elf).unwrap_or_else(|error| panic!("{error}"))
}

/// A library on a NIC of a fabric.
pub(crate) fn open(nic: &Simulated, ranks: usize, config: Config) -> Rank {
    let address = |number| Address {
        mac: mac_of(number),
        ip: ip_of(number),
    };
    let ranks: Vec<Address> = (0..ranks).map(address).collect();
    let nic = Nic::new(nic.clone()).expect("it is a NIC");
    Library::open(&nic, &program(), &ranks, config).unwrap_or_else(|error| panic!("{error}"))
}

/// A program of a rank, on its NIC.
pub(crate) type Work<'p> = Box<dyn FnOnce(&Simulated) + Send + 'p>;

/// Runs a program on each NIC; a panic of one is that of the test.
pub(crate) fn ranks<'p>(faults: Faults, seed: u64, programs: Vec<Work<'p>>) {
    let topology = Simple {
        nics: programs.len(),
        faults,
        seed,
        ..Simple::default()
    };
    let topology = topology.topology().expect("it is one");
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            program(nic);
            Ok::<(), Left>(())
        }) as Hosted<'p>
    });
    let settings = Settings {
        threads: 2,
        ..Settings::default()
    };
    run_programs(&topology, &NicConfig::default(), settings, programs.collect())
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Messages from rank 0 to rank 1.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// The type of each, and how many elements.
    pub(crate) layouts: Vec<Layout>,
    pub(crate) window: u16,
    pub(crate) unit: usize,
    pub(crate) faults: Faults,
    pub(crate) seed: u64,
    /// How often all are sent; the last time is measured.
    pub(crate) rounds: u32,
    pub(crate) table_bytes: u32,
}

impl Exchange {
    pub(crate) fn of(layouts: Vec<Layout>) -> Self {
        Self {
            layouts,
            window: 16,
            unit: 1462,
            faults: Faults::default(),
            seed: 1,
            rounds: 1,
            table_bytes: 256 << 10,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanged {
    /// From the start of the first receive to the end of the last one, in the last round.
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
    pub(crate) counts: Counts,
    pub(crate) accepted: u32,
    pub(crate) duplicates: u32,
    /// Share of the time in which a handler ran, for each cluster.
    pub(crate) load: Vec<f64>,
}

impl Exchanged {
    pub(crate) fn gbps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64() / 1e9
    }
}

/// A byte of a buffer of the sender.
fn byte(seed: u64, message: usize, round: u32, index: u64) -> u8 {
    let mixed = seed ^ (message as u64) << 40 ^ u64::from(round) << 32 ^ index;
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
}

/// Where elements are in a buffer that has guards, and its bytes.
pub(crate) fn room(layout: &Layout) -> (i64, u32) {
    let origin = i64::from(GUARD) - layout.first();
    let bytes = (layout.end() - layout.first()) as u32 + 2 * GUARD;
    (origin, bytes)
}

/// Sends all messages, and compares all bytes of all buffers.
pub(crate) fn exchange(how: &Exchange) -> Exchanged {
    let result = Mutex::new(Exchanged::default());
    let config = || Config {
        table_bytes: how.table_bytes,
        sender: SenderConfig {
            mode: Mode::Window(how.window),
            segment_bytes: how.unit,
            ..Config::default().sender
        },
        ..Config::default()
    };
    let sends = |nic: &Simulated| {
        let mut rank = open(nic, 2, config());
        let (mut requests, mut buffers) = (Vec::new(), Vec::new());
        for (number, layout) in how.layouts.iter().enumerate() {
            let (origin, bytes) = room(layout);
            let buffer = rank.buffer(bytes).expect("there is room");
            let to = To {
                rank: 1,
                tag: number as i32,
                communicator: 0,
            };
            requests.push(
                rank.send_init(&buffer, origin, layout, to)
                    .expect("it can be sent"),
            );
            buffers.push((buffer, bytes));
        }
        for round in 0..how.rounds {
            for (number, (buffer, bytes)) in buffers.iter().enumerate() {
                let bytes: Vec<u8> = (0..u64::from(*bytes))
                    .map(|at| byte(how.seed, number, round, at))
                    .collect();
                rank.write(buffer, 0, &bytes).expect("it is there");
            }
            requests
                .iter()
                .for_each(|request| rank.start(*request).expect("it is not active"));
            for request in &requests {
                rank.wait(*request, LIMIT)
                    .unwrap_or_else(|error| panic!("{error}"));
            }
        }
    };
    let receives = |nic: &Simulated| {
        let mut rank = open(nic, 2, config());
        let (mut requests, mut buffers) = (Vec::new(), Vec::new());
        for (number, layout) in how.layouts.iter().enumerate() {
            let (origin, bytes) = room(layout);
            let buffer = rank.buffer(bytes).expect("there is room");
            let from = From {
                rank: Some(0),
                tag: Some(number as i32),
                communicator: 0,
            };
            let request = rank.recv_init(&buffer, origin, layout, from, Copies::Equal);
            requests.push(request.unwrap_or_else(|error| panic!("{error}")));
            buffers.push((buffer, bytes));
        }
        for round in 0..how.rounds {
            for (buffer, bytes) in &buffers {
                rank.write(buffer, 0, &vec![FILL; *bytes as usize])
                    .expect("it is there");
            }
            // So that the sender waits, and the start of receives is what begins.
            rank.run_for(Duration::from_micros(150))
                .expect("the NIC is there");
            let busy = |rank: &Rank| -> Vec<u64> {
                let nic = rank.nic().device();
                let nic = nic.borrow();
                let busy: Vec<u64> = nic.cluster().busy().collect();
                busy.chunks(8).map(|hpus| hpus.iter().sum()).collect()
            };
            let (begun, before) = (rank.nic().now(), busy(&rank));
            requests
                .iter()
                .for_each(|request| rank.start(*request).expect("it is not active"));
            for (request, layout) in requests.iter().zip(&how.layouts) {
                let status = rank
                    .wait(*request, LIMIT)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(u64::from(status.bytes), layout.bytes());
            }
            let time = rank.nic().now() - begun;
            for (number, (layout, (buffer, bytes))) in how.layouts.iter().zip(&buffers).enumerate() {
                let mut found = vec![0; *bytes as usize];
                rank.read(buffer, 0, &mut found).expect("it is there");
                let expected = expected(layout, |at| byte(how.seed, number, round, at));
                assert!(found == expected, "message {number} differs in round {round}");
            }
            let clocks = time.as_secs_f64() * 40e6 * 8.0;
            let after = busy(&rank);
            let load = after
                .iter()
                .zip(&before)
                .map(|(after, before)| (after - before) as f64 / clocks);
            *result.lock().expect("nobody panicked") = Exchanged {
                time,
                bytes: how.layouts.iter().map(Layout::bytes).sum(),
                counts: rank.counts(),
                accepted: rank.handler_count(Counter::Accepted).expect("the NIC is there"),
                duplicates: rank.handler_count(Counter::Duplicate).expect("the NIC is there"),
                load: load.collect(),
            };
        }
        // The last acknowledgements may be lost, and asked for again.
        rank.run_for(Duration::from_millis(if how.faults.loss > 0.0 { 4 } else { 0 }))
            .expect("the NIC is there");
    };
    ranks(how.faults, how.seed, vec![Box::new(sends), Box::new(receives)]);
    result.into_inner().expect("nobody panicked")
}

/// A buffer of a receive, as the interpreter says.
fn expected(layout: &Layout, byte: impl Fn(u64) -> u8) -> Vec<u8> {
    let (origin, bytes) = room(layout);
    let mut memory = vec![FILL; bytes as usize];
    for Piece { start, bytes, .. } in layout.place(0, u64::MAX) {
        let first = (origin + start) as u64;
        for at in first..first + bytes {
            memory[at as usize] = byte(at);
        }
    }
    memory
}

fn tree(
    combiner: Combiner,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    children: Vec<Tree>,
    extent: i64,
) -> Tree {
    let bounds = Bounds {
        size: 0,
        lower_bound: 0,
        extent,
        true_lower_bound: 0,
        true_extent: 0,
    };
    Tree {
        combiner,
        integers,
        addresses,
        children,
        name: None,
        bounds,
    }
}

/// So many bytes in one piece.
pub(crate) fn bytes(count: i64) -> Tree {
    let mut leaf = tree(Combiner::Named, vec![], vec![], vec![], count);
    leaf.bounds.size = count;
    leaf
}

/// Repeats a type at a stride; the extent of all of it is for the next level.
pub(crate) fn hvector(count: i64, stride: i64, child: Tree, extent: i64) -> Tree {
    tree(
        Combiner::Hvector,
        vec![count, 1],
        vec![stride],
        vec![child],
        extent,
    )
}

/// Blocks of (length, start).
pub(crate) fn hindexed(blocks: &[(i64, i64)], child: Tree, extent: i64) -> Tree {
    let mut integers = vec![blocks.len() as i64];
    integers.extend(blocks.iter().map(|block| block.0));
    let starts = blocks.iter().map(|block| block.1).collect();
    tree(Combiner::Hindexed, integers, starts, vec![child], extent)
}

/// The paper's simple type, so many times.
pub(crate) fn simple(count: u64) -> Layout {
    Layout::of(&bytes(110_592), count).expect("it has a layout")
}

/// The paper's complex type, so many times.
pub(crate) fn complex(count: u64) -> Layout {
    let vector = hvector(32, 576, bytes(432), 18_288);
    let nest = hvector(2, 12_288, hvector(2, 6144, vector, 24_432), 36_720);
    Layout::of(&hvector(2, 18_432, nest, 55_152), count).expect("it has a layout")
}
