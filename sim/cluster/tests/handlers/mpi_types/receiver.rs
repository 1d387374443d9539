//! The handlers with their host: requests, completions and what was written.

use crate::bench::{Bench, HOST, build};
use crate::slmp::{Ack, Segment, Transfer};
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use spinneret_cluster::Config;
use spinneret_mpi::Layout;
use spinneret_mpi::nic::memory::{
    BUFFERS, COMPLETION_STRIDE, COMPLETION_VALID, COUNTERS, Counter, HPUS, LOCAL_BYTES, MAGIC, SLOTS,
    VERSION, common, message_id, request, slot_of,
};
use spinneret_mpi::nic::{NicLayout, Segments};
use spinneret_mpi_sys::{Bounds, Combiner, Tree};
use std::collections::BTreeMap;
use std::path::Path;

/// Where the context's scratchpads are in each L1.
const PAD: u32 = 0x1000;
/// Packets under way at once.
const PLACES: usize = 200;
/// Bytes between two buffers.
const GAP: u64 = 0x100;
/// Payload of segments that are as long as they can be.
pub(crate) const FULL: u32 = 1462;

/// A message that was posted.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: u32,
    pub(crate) layout: Layout,
    pub(crate) bytes: Vec<u8>,
    pub(crate) unit: u32,
    /// Where the buffer's address is in host memory.
    pub(crate) buffer: u64,
}

impl Message {
    /// Its segments, all of which ask for an acknowledgement.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let transfer = Transfer {
            bytes: self.bytes.clone(),
            ..Transfer::new(self.id, 0, self.unit as usize)
        };
        transfer.segments()
    }

    /// The bytes of host memory that it writes, as the interpreter says. Where copies are not equal, the last one stays.
    pub(crate) fn expected(&self, host: &mut BTreeMap<u64, u8>) {
        for piece in self.layout.place(0, u64::MAX) {
            let place = HOST + self.buffer.wrapping_add_signed(piece.start);
            let bytes = &self.bytes[piece.offset as usize..][..piece.bytes as usize];
            host.extend((place..).zip(bytes.iter().copied()));
        }
    }
}

/// The handlers on a cluster, and the host's side.
pub(crate) struct Receiver {
    pub(crate) bench: Bench,
    memory: u32,
    table: u32,
    buffer: u64,
    generation: u32,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self::on(Config::default())
    }

    pub(crate) fn on(config: Config) -> Self {
        Self::with(&build("examples/mpi_types"), config)
    }

    /// With these handlers.
    pub(crate) fn with(elf: &Path, config: Config) -> Self {
        let clusters = config.clusters;
        let mut bench = Bench::with(elf, config);
        bench.meta.handler_memory[1] = 0x8_0000;
        bench.meta.host_memory.1 = 0x4000_0000;
        for (cluster, pad) in bench.meta.scratchpads.iter_mut().enumerate() {
            let is_there = u32::from(cluster < clusters);
            *pad = [PAD * is_there, (SLOTS * LOCAL_BYTES) as u32 * is_there];
        }
        let memory = bench.meta.handler_memory[0];
        let mut receiver = Self {
            bench,
            memory,
            table: Self::tables(),
            buffer: BUFFERS as u64,
            generation: 0x05ee_d100,
        };
        let size = receiver.bench.meta.handler_memory[1] as usize;
        assert!(receiver.bench.cluster.write(memory, &vec![0; size]));
        receiver.write(common::VERSION as u32, VERSION);
        receiver.write(common::SLOTS as u32, SLOTS as u32);
        receiver.write(common::MAGIC as u32, MAGIC);
        receiver
    }

    /// Where tables begin in handler memory.
    fn tables() -> u32 {
        (common::SIZE + SLOTS * request::SIZE) as u32
    }

    /// A word of handler memory.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        let there = self
            .bench
            .cluster
            .write(self.memory + offset, &value.to_le_bytes());
        assert!(there, "handler memory is there");
    }

    fn slot_at(slot: usize) -> u32 {
        (common::SIZE + slot * request::SIZE) as u32
    }

    /// Posts a receive of some elements in a slot, with random bytes to come. Buffers and tables of earlier messages stay.
    pub(crate) fn post(&mut self, slot: usize, tree: &Tree, count: u64, unit: u32) -> Message {
        let layout = Layout::of(tree, count).expect("it has a layout");
        self.post_layout(slot, layout, unit)
    }

    pub(crate) fn post_layout(&mut self, slot: usize, layout: Layout, unit: u32) -> Message {
        let form = NicLayout::new(&layout).expect("it fits");
        let at = Self::slot_at(slot);
        self.generation += 1;
        let id = message_id(self.generation, slot);
        let buffer = self.buffer.wrapping_add_signed(-layout.first());
        self.buffer += (layout.end() - layout.first()) as u64 + GAP;
        if self.table as usize + form.table_bytes() > self.bench.meta.handler_memory[1] as usize {
            self.table = Self::tables();
        }
        let mut words = [0; request::SIZE / 4];
        Segments::new(layout.bytes(), unit)
            .expect("it fits")
            .put(&mut words);
        form.put(&mut words, self.table, buffer as u32);
        for word in form.table_words() {
            self.write(self.table, word);
            self.table += 4;
        }
        words[request::SOURCE / 4] = u32::from_le_bytes([10, 0, 0, 1]);
        words[request::PORT / 4] = 0x3412;
        self.write(at, 0);
        for (number, word) in words.into_iter().enumerate().skip(1) {
            self.write(at + 4 * number as u32, word);
        }
        self.write(at, id);
        let bytes = (0..layout.bytes() as u32)
            .map(|byte| (byte.wrapping_mul(0x9e37_79b1).wrapping_add(id) >> 13) as u8)
            .collect();
        Message {
            id,
            layout,
            bytes,
            unit,
            buffer,
        }
    }

    /// Segments come as fast as they can, each to a cluster: the acknowledgements.
    pub(crate) fn send(&mut self, segments: &[Segment], cluster: impl Fn(usize) -> u32) -> Vec<Ack> {
        let freed = self.bench.freed.len();
        for (number, segment) in segments.iter().enumerate() {
            // The bench has this number of places for packets, and does not check whether one is free.
            while number - (self.bench.freed.len() - freed) >= PLACES {
                self.bench.clock();
            }
            self.bench.push(cluster(number), false, &segment.frame());
        }
        self.bench.run();
        self.bench.acks()
    }

    /// All counters.
    pub(crate) fn count(&self, counter: Counter) -> u32 {
        let row = |hpu: usize| common::COUNTERS + 4 * (hpu * COUNTERS + counter as usize);
        (0..HPUS)
            .map(|hpu| self.bench.variable(self.memory + row(hpu) as u32))
            .sum()
    }

    /// Whether a message is complete.
    pub(crate) fn is_complete(&self, message: &Message) -> bool {
        let start = HOST + (slot_of(message.id) * COMPLETION_STRIDE) as u64;
        let byte = |index: u64| {
            u64::from(self.bench.host.get(&(start + index)).copied().unwrap_or(0)) << (8 * index)
        };
        let word: u64 = (0..8).map(byte).sum();
        let high = COMPLETION_VALID | message.bytes.len() as u32;
        word == u64::from(high) << 32 | u64::from(message.id)
    }

    /// The bytes written to buffers.
    pub(crate) fn written(&self) -> BTreeMap<u64, u8> {
        let buffers = self.bench.host.range(HOST + BUFFERS as u64..);
        buffers.map(|(place, byte)| (*place, *byte)).collect()
    }
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

/// The given number of consecutive bytes.
pub(crate) fn bytes(count: i64) -> Tree {
    let mut leaf = tree(Combiner::Named, vec![], vec![], vec![], count);
    leaf.bounds.size = count;
    leaf.name = Some("MPI_BYTE".to_owned());
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

/// The paper's simple type.
pub(crate) fn simple() -> Tree {
    bytes(110_592)
}

/// The paper's complex type.
pub(crate) fn complex() -> Tree {
    let vector = hvector(32, 576, bytes(432), 18_288);
    let nest = hvector(2, 12_288, hvector(2, 6144, vector, 24_432), 36_720);
    hvector(2, 18_432, nest, 55_152)
}

/// Random types of up to four levels, most of which do not overlap.
pub(crate) fn any() -> BoxedStrategy<Tree> {
    let leaf = (1..150_i64).prop_map(bytes);
    let recursive = leaf.prop_recursive(4, 8, 1, |child| {
        let gap = prop_oneof![Just(0_i64), 1..90_i64];
        let blocks = vec((1..3_i64, 0..60_i64), 1..12);
        prop_oneof![
            3 => (1..6_i64, gap.clone(), proptest::bool::ANY, child.clone()).prop_map(|(count, gap, back, child)| {
                let stride = reach(&child) + gap;
                hvector(count, if back { -stride } else { stride }, child, stride * count + gap)
            }),
            1 => (1..3_i64, -400..400_i64, child.clone())
                .prop_map(|(count, stride, child)| hvector(count, stride, child, stride + 7)),
            2 => (blocks, child, gap).prop_map(|(blocks, child, gap)| {
                let child_reach = reach(&child);
                let mut at = 0;
                let mut place = |(length, gap): (i64, i64)| {
                    let start = at + gap;
                    at = start + length * child.bounds.extent.abs().max(child_reach);
                    (length, start)
                };
                let mut blocks: Vec<(i64, i64)> = blocks.into_iter().map(&mut place).collect();
                if blocks.len().is_multiple_of(2) {
                    blocks.reverse();
                }
                hindexed(&blocks, child, at + gap)
            }),
        ]
    });
    recursive.boxed()
}

/// More than how far apart any of its bytes are.
fn reach(tree: &Tree) -> i64 {
    tree.bounds.extent.abs() + tree.children.first().map_or(0, reach)
}
