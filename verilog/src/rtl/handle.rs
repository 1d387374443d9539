//! From the fields of a block to the handles that its kernel uses.

use super::sig::{Operand, Sig, sig};
use super::tree::{self, At, BlockClock, Clocking, Op, Place};
use crate::lang::{Called, Heaped, Layout, Memory, Named, Optional, Reg, Value, Wire, Word};
use rust_hdl::prelude::{Atom, Direction, Signal, Synth};
use std::ops::Deref;
use std::panic::Location;

/// A field of a block, which a kernel sees as a handle.
pub trait Handle {
    /// A signal, or a struct or array of such.
    type Handle;

    /// The handle in the kernel that runs.
    fn handle(&self) -> Self::Handle;

    /// Clocks and resets of the parts in the field.
    fn clocking(&self, _found: &mut Vec<Clocking>) {}
}

/// Clocks and resets of the parts in a field with a clock of its own.
pub fn in_domain(field: &impl Handle, domain: BlockClock, found: &mut Vec<Clocking>) {
    let start = found.len();
    field.clocking(found);
    for part in &mut found[start..] {
        part.domain = Some(domain);
    }
}

fn signal<T>(read: &dyn Atom, write: &dyn Atom) -> Sig<T> {
    let place = Place::Atom {
        read: read.id(),
        write: write.id(),
    };
    sig(tree::with(|tree| {
        tree.add(Op::Signal(place), Vec::new(), read.bits())
    }))
}

impl<D: Direction, T: Value> Handle for Wire<D, T> {
    type Handle = Sig<T>;
    fn handle(&self) -> Sig<T> {
        signal(self, self)
    }
}

impl<D: Direction, T: Synth> Handle for Signal<D, T> {
    type Handle = Sig<T>;
    fn handle(&self) -> Sig<T> {
        signal(self, self)
    }
}

impl<T: Value> Handle for Reg<T> {
    type Handle = Sig<T>;
    fn handle(&self) -> Sig<T> {
        signal(&self.q, &self.d)
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        found.push(Clocking {
            clock: self.clock.id(),
            reset: self.has_reset().then(|| self.reset.id()),
            hold: Some((self.d.id(), self.q.id())),
            domain: None,
        });
    }
}

impl<H: Handle> Handle for Vec<H> {
    type Handle = Vec<H::Handle>;
    fn handle(&self) -> Self::Handle {
        self.iter().map(Handle::handle).collect()
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        self.iter().for_each(|part| part.clocking(found));
    }
}

impl<H: Handle> Handle for Optional<H> {
    type Handle = Maybe<H::Handle>;
    fn handle(&self) -> Self::Handle {
        Maybe(self.part().map(Handle::handle))
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        if let Some(part) = self.part() {
            part.clocking(found);
        }
    }
}

impl<H: Handle> Handle for Heaped<H> {
    type Handle = H::Handle;
    fn handle(&self) -> Self::Handle {
        (**self).handle()
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        (**self).clocking(found);
    }
}

impl<H: Handle> Handle for Called<H> {
    type Handle = H::Handle;
    fn handle(&self) -> Self::Handle {
        (**self).handle()
    }
}

impl<H: Handle> Handle for Named<H> {
    type Handle = Table<H::Handle>;
    fn handle(&self) -> Self::Handle {
        Table(
            self.entries()
                .map(|(name, part)| (name.clone(), part.handle()))
                .collect(),
        )
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        self.entries().for_each(|(_, part)| part.clocking(found));
    }
}

/// The handle of an [`Optional`] part. A kernel asks the option that the constructor asked before it uses the part.
#[derive(Clone, Copy, Debug)]
pub struct Maybe<H>(pub Option<H>);

impl<H> Deref for Maybe<H> {
    type Target = H;
    /// # Panics
    /// If this variant of the block does not have the part.
    fn deref(&self) -> &H {
        self.0
            .as_ref()
            .expect("this variant of the block does not have the part: ask for the option before using it")
    }
}

/// The handles of [`Named`] parts.
#[derive(Clone, Debug)]
pub struct Table<H>(Vec<(String, H)>);

impl<H, K: std::fmt::Display> std::ops::Index<K> for Table<H> {
    type Output = H;
    fn index(&self, name: K) -> &H {
        let name = name.to_string();
        let found = self.0.iter().find(|(own, _)| *own == name);
        &found.unwrap_or_else(|| panic!("there is no part `{name}`")).1
    }
}

/// Ports of a memory.
#[derive(Clone, Copy, Debug)]
pub struct RamPorts<E = bool> {
    /// Writes `write_data` at the rising edge, or the bytes of it with their own bit.
    pub write_enable: Sig<E>,
    /// Word address of the write.
    pub write_addr: Sig<Word>,
    /// Word to write.
    pub write_data: Sig<Word>,
    /// Takes a new word into `read_data` (not in distributed RAM), for each read port.
    pub read_enable: Sig<bool>,
    /// Word address of the read, for each read port side by side.
    pub read_addr: Sig<Word>,
    /// Word that was read, for each read port side by side.
    pub read_data: Sig<Word>,
}

impl<E> RamPorts<E> {
    /// Writes a word where a condition holds, or the bytes of it whose conditions hold.
    #[track_caller]
    pub fn write(&self, enable: impl Operand<E>, addr: impl Operand<Word>, data: impl Operand<Word>) {
        let at = Location::caller();
        self.write_enable.assign(&enable, at);
        self.write_addr.assign(&addr, at);
        self.write_data.assign(&data, at);
    }

    /// Reads by one of several ports: gives it the address, and returns what it shows.
    #[track_caller]
    pub fn read(&self, port: usize, addr: impl Operand<Word>) -> Sig<Word> {
        let (address, width) = (self.write_addr.width(), self.write_data.width());
        self.read_addr
            .slice(port * address, address)
            .assign(&addr, Location::caller());
        self.read_data.slice(port * width, width)
    }

    /// Whether a read port takes a new word in this cycle (not in distributed RAM).
    #[track_caller]
    pub fn enable(&self, port: usize) -> Sig<bool> {
        sig(self.read_enable.word().slice(port, 1).id)
    }
}

/// Ports of a memory with byte enables.
pub type ByteRamPorts = RamPorts<Word>;

impl<E: Value> Handle for Memory<E> {
    type Handle = RamPorts<E>;
    fn handle(&self) -> RamPorts<E> {
        RamPorts {
            write_enable: self.write_enable.handle(),
            write_addr: self.write_addr.handle(),
            write_data: self.write_data.handle(),
            read_enable: sig(self.read_enable.handle().id),
            read_addr: self.read_addr.handle(),
            read_data: self.read_data.handle(),
        }
    }
    fn clocking(&self, found: &mut Vec<Clocking>) {
        found.push(Clocking {
            clock: self.clk.id(),
            reset: None,
            hold: None,
            domain: None,
        });
    }
}

/// A port of a bundle.
#[derive(Clone, Debug)]
pub struct PortOf {
    /// Its name within the bundle.
    pub(crate) name: String,
    /// The signal.
    pub(crate) signal: Sig<Word>,
    /// The other side need not have it.
    pub(crate) is_optional: bool,
}

/// The path of a port within a bundle.
pub fn below(path: &str, field: &str) -> String {
    match path {
        "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// A bundle of ports: signals by their names within it.
pub trait Bundle {
    /// Adds its ports to a list; `path` is its own within the bundle.
    fn ports(&self, path: &str, found: &mut Vec<PortOf>);

    /// Name of the record that its ports form as one word; empty for a single port.
    fn record(&self) -> &'static str {
        ""
    }
}

impl<T> Bundle for Sig<T> {
    fn ports(&self, path: &str, found: &mut Vec<PortOf>) {
        found.push(PortOf {
            name: path.to_owned(),
            signal: self.word(),
            is_optional: false,
        });
    }
}

impl<B: Bundle> Bundle for Maybe<B> {
    fn ports(&self, path: &str, found: &mut Vec<PortOf>) {
        let start = found.len();
        if let Some(part) = &self.0 {
            part.ports(path, found);
        }
        found
            .iter_mut()
            .skip(start)
            .for_each(|port| port.is_optional = true);
    }
}

impl<B: Bundle> Bundle for &B {
    fn ports(&self, path: &str, found: &mut Vec<PortOf>) {
        (*self).ports(path, found);
    }
}

/// Joins two bundles: each port with that of its name, from the side that drives it. An optional port that one side lacks is
/// 0 where it is read.
pub(super) fn connect(to: &impl Bundle, from: &impl Bundle, at: At) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    to.ports("", &mut left);
    from.ports("", &mut right);
    for port in &left {
        match right.iter().find(|other| other.name == port.name) {
            Some(other) => tree::with(|tree| tree.join(port.signal.id, Some(other.signal.id), at)),
            None => alone(port, "left", at),
        }
    }
    let only_right = right
        .iter()
        .filter(|port| left.iter().all(|own| own.name != port.name));
    only_right.for_each(|port| alone(port, "right", at));
}

fn alone(port: &PortOf, side: &str, at: At) {
    tree::with(|tree| match port.is_optional {
        true => tree.join(port.signal.id, None, at),
        false => tree.refuse(&format!("only the {side} side has `{}`", port.name), at),
    });
}

/// Payload of a bundle as a word: all ports but `valid` and `ready`, the first in the lowest bits.
pub trait Payload: Bundle {
    /// The word.
    fn pack(&self) -> Sig<Word> {
        self.pack_part(0, 1)
    }

    /// One of several such words whose ports lie side by side, number 0 in the lowest bits of each port.
    fn pack_part(&self, part: usize, parts: usize) -> Sig<Word> {
        let ports = payload(self).into_iter().rev();
        let ports: Vec<_> = ports
            .map(|port| {
                let width = port.signal.width() / parts;
                port.signal.slice(part * width, width)
            })
            .collect();
        super::sig::cat_all(&ports)
    }

    /// The ports with their names.
    fn named(&self) -> Vec<(String, Sig<Word>)> {
        let mut ports = Vec::new();
        self.ports("", &mut ports);
        ports.into_iter().map(|port| (port.name, port.signal)).collect()
    }

    /// Its `valid` and `ready`, to be joined with those of a bundle with another payload.
    fn handshake(&self) -> Handshake {
        let mut ports = Vec::new();
        self.ports("", &mut ports);
        ports.retain(|port| port.name == "valid" || port.name == "ready");
        Handshake(ports)
    }

    /// Assigns the ports from a word.
    #[track_caller]
    fn unpack(&self, word: Sig<Word>) {
        let at = Location::caller();
        let ports = payload(self);
        let names: Vec<_> = ports.iter().map(|port| port.name.replace('.', "_")).collect();
        let widths = ports.iter().map(|port| port.signal.width().into());
        let fields = Layout::of(
            self.record(),
            names.iter().map(String::as_str).zip(widths).collect(),
        );
        for (port, field) in ports.iter().zip(fields) {
            let part = word.field(field);
            tree::with(|tree| tree.assign(port.signal.id, part.id, at));
        }
    }
}

impl<B: Bundle> Payload for B {}

/// `valid` and `ready` of a bundle.
#[derive(Clone, Debug)]
pub struct Handshake(Vec<PortOf>);

impl Bundle for Handshake {
    fn ports(&self, _: &str, found: &mut Vec<PortOf>) {
        found.extend(self.0.iter().cloned());
    }
}

fn payload(bundle: &(impl Bundle + ?Sized)) -> Vec<PortOf> {
    let mut ports = Vec::new();
    bundle.ports("", &mut ports);
    ports.retain(|port| port.name != "valid" && port.name != "ready" && port.signal.width() > 0);
    ports
}
