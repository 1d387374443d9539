//! Memories behind a `LineRead` and a `LineWrite` port of a block, as the crossbar of lines gives them.

use spinneret_hdl::hpu::cluster::{LINE_BYTES, READ_CLOCKS};
use spinneret_sim::prelude::*;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// Memories, each with the address of its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memories(Vec<(u32, Vec<u8>)>);

impl Memories {
    /// Memories of random bytes.
    pub fn random(places: &[Range<u32>], rng: &mut ChaCha8Rng) -> Self {
        let random = |place: &Range<u32>| {
            let mut bytes = vec![0; place.len()];
            rng.fill_bytes(&mut bytes);
            (place.start, bytes)
        };
        Self(places.iter().map(random).collect())
    }

    /// Returns the bytes from an address on, if all are in one memory.
    pub fn at(&mut self, address: u32, count: usize) -> Option<&mut [u8]> {
        self.0.iter_mut().find_map(|(base, bytes)| {
            let start = address.checked_sub(*base)? as usize;
            bytes.get_mut(start..start.checked_add(count)?)
        })
    }

    /// Copies bytes, one line of the destination after the other, up to the first that has no memory. Returns whether
    /// all were copied.
    pub fn copy(&mut self, source: u32, destination: u32, bytes: u32) -> bool {
        parts(destination, bytes).all(|part| {
            let (from, to) = (
                source.wrapping_add(part.start),
                destination.wrapping_add(part.start),
            );
            let read = self.at(from, part.len()).map(|bytes| bytes.to_vec());
            let written = read.zip(self.at(to, part.len()));
            written
                .map(|(read, place)| place.copy_from_slice(&read))
                .is_some()
        })
    }
}

/// Splits bytes at the borders of lines.
pub fn parts(address: u32, bytes: u32) -> impl Iterator<Item = Range<u32>> {
    let line = LINE_BYTES as u32;
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = bytes.min(start + line - address.wrapping_add(start) % line);
        let part = start..end;
        start = end;
        (!part.is_empty()).then_some(part)
    })
}

/// Memories behind the ports `read_*` and `write_*` of a block.
#[derive(Clone, Debug)]
pub struct Lines(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    memories: Memories,
    /// How often a port is ready, in percent.
    ready: u32,
    /// Data on its way, the oldest first.
    coming: VecDeque<Option<Vec<u8>>>,
    rng: ChaCha8Rng,
    /// Offers that were not taken, which have to stay.
    held: [Option<Vec<u8>>; 2],
}

impl Lines {
    /// Attaches memories.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, memories: Memories) -> Self {
        let state = State {
            memories,
            ready: 100,
            coming: VecDeque::from(vec![None; READ_CLOCKS]),
            rng: sim.rng("lines"),
            held: [None, None],
        };
        let lines = Self(Rc::new(RefCell::new(state)));
        sim.attach(Rc::<RefCell<State>>::clone(&lines.0));
        lines
    }

    /// Sets how often a port is ready, in percent.
    pub fn set_ready(&self, percent: u32) {
        self.0.borrow_mut().ready = percent;
    }

    /// The memories.
    pub fn memories(&self) -> Ref<'_, Memories> {
        Ref::map(self.0.borrow(), |state| &state.memories)
    }

    /// The memories, to be changed.
    pub fn memories_mut(&self) -> RefMut<'_, Memories> {
        RefMut::map(self.0.borrow_mut(), |state| &mut state.memories)
    }
}

/// The port of that name.
fn port(dut: &Instance, name: &str) -> PortHandle {
    dut.find(name)
        .unwrap_or_else(|| panic!("there is no port {name}"))
}

impl State {
    fn address(dut: &Instance, name: &str) -> u32 {
        dut.value(port(dut, &format!("{name}_line"))) as u32 * LINE_BYTES as u32
    }

    fn is_high(dut: &Instance, name: &str) -> bool {
        dut.is_high(port(dut, name))
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        // Requests of a block do not depend on the inputs.
        dut.eval().expect("the model evaluates");
        for name in ["read", "write"] {
            let is_there = self.memories.at(Self::address(dut, name), LINE_BYTES).is_some();
            let is_ready = self.rng.random_range(0..100) < self.ready;
            // Without ready it means nothing.
            let failed = if is_ready { !is_there } else { self.rng.random() };
            dut.set_high(port(dut, &format!("{name}_ready")), is_ready);
            dut.set_high(port(dut, &format!("{name}_failed")), failed);
        }
        let data = self.coming.pop_front().flatten();
        dut.set_high(port(dut, "read_data_valid"), data.is_some());
        let mut random = vec![0; LINE_BYTES];
        self.rng.fill_bytes(&mut random);
        dut.set_bytes(port(dut, "read_data"), &data.unwrap_or(random));
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        let taken = |name: &str| {
            let all = ["valid", "ready"].map(|end| Self::is_high(dut, &format!("{name}_{end}")));
            all.iter().all(|high| *high) && !Self::is_high(dut, &format!("{name}_failed"))
        };
        let read = taken("read").then(|| Self::address(dut, "read"));
        let line = read.and_then(|address| self.memories.at(address, LINE_BYTES).map(|line| line.to_vec()));
        self.coming.push_back(line);
        if taken("write") {
            let address = Self::address(dut, "write");
            let strobe = dut.value(port(dut, "write_strobe"));
            let data = dut.bytes(port(dut, "write_data")).to_vec();
            let line = self.memories.at(address, LINE_BYTES).expect("it has not failed");
            for (lane, byte) in data.into_iter().enumerate() {
                if strobe >> lane & 1 == 1 {
                    line[lane] = byte;
                }
            }
        }
        for (name, held, payload) in [
            ("read", 0, &["line"][..]),
            ("write", 1, &["line", "strobe", "data"][..]),
        ] {
            let offered = Self::is_high(dut, &format!("{name}_valid")).then(|| {
                let bytes = payload
                    .iter()
                    .map(|end| dut.bytes(port(dut, &format!("{name}_{end}"))));
                bytes.collect::<Vec<_>>().concat()
            });
            if self.held[held].is_some() && offered != self.held[held] {
                return Err(Violation {
                    bus: name.to_owned(),
                    rule: "an offer stays until it is taken".to_owned(),
                });
            }
            let is_ready = Self::is_high(dut, &format!("{name}_ready"));
            self.held[held] = offered.filter(|_| !is_ready);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.coming.iter_mut().for_each(|line| *line = None);
        self.held = [None, None];
        for name in ["read_ready", "write_ready", "read_data_valid"] {
            dut.set_high(port(dut, name), false);
        }
    }

    fn describe(&self) -> String {
        "memories of lines".to_owned()
    }
}
