//! Bundles of ports as one word.

use super::build;
use super::optional::Optional;
use super::record::{Field, Layout, Place};
use super::wire::Wire;
use super::word::Word;
use rust_hdl::core::ast::{VerilogExpression, VerilogStatement};
use rust_hdl::prelude::{In, Logic, Out};

/// A bundle whose ports, all but `valid` and `ready`, have one direction; `#[interface]` says so.
pub trait Packed {
    /// The ports with their names, the one in the lowest bits first.
    fn ports(&self) -> Vec<(&'static str, &dyn Port)>;
    /// The ports, to be driven.
    fn ports_mut(&mut self) -> Vec<&mut dyn Port>;
    /// Name of the record that they are.
    fn record(&self) -> &'static str;

    /// Their values as one word.
    fn pack(&self) -> Word {
        self.pack_part(0, 1)
    }

    /// One of several such records whose ports lie side by side, number 0 in the lowest bits of each port.
    fn pack_part(&self, part: usize, parts: usize) -> Word {
        let values = self.ports().into_iter().rev();
        Word::cat(
            &values
                .map(|(_, port)| port.value(part, parts))
                .collect::<Vec<_>>(),
        )
    }

    /// Drives them with a word.
    fn unpack(&mut self, word: Word) {
        let mut at = 0;
        for port in self.ports_mut() {
            let width = port.bits();
            if width > 0 {
                port.drive(word.slice(at, width));
            }
            at += width;
        }
    }

    /// Marks them as driven.
    fn connect_ports(&mut self) {
        self.ports_mut().into_iter().for_each(Port::mark_driven);
    }

    /// The fields of the record.
    fn fields(&self) -> Vec<Field> {
        let ports = self.ports();
        Layout::of(
            self.record(),
            ports.iter().map(|(name, port)| (*name, port.place())).collect(),
        )
    }

    /// [`Packed::pack_part`] in the syntax tree; `path` is that of the bundle.
    fn pack_hdl(&self, path: &str, part: usize, parts: usize) -> VerilogExpression {
        let ports = self.ports().into_iter().rev();
        let values = ports.map(|(name, port)| {
            (
                port.read_hdl(&format!("{path}${name}"), part, parts),
                port.bits() / parts,
            )
        });
        build::cat(values.collect())
    }

    /// [`Packed::unpack`] in the syntax tree.
    fn unpack_hdl(&self, path: &str, word: &VerilogExpression) -> Vec<VerilogStatement> {
        let ports = self.ports().into_iter().zip(self.fields());
        let ports = ports.filter(|(_, field)| field.width > 0);
        let assign = |((name, port), field): ((&str, &dyn Port), Field)| {
            let value = build::slice(word.clone(), field.offset(), field.width);
            port.drive_hdl(&format!("{path}${name}"), &value)
        };
        ports.flat_map(assign).collect()
    }
}

/// A port of a bundle, or a bundle inside it.
pub trait Port {
    /// Width in bits.
    fn bits(&self) -> usize;
    /// What it is in a record.
    fn place(&self) -> Place;
    /// One of `parts` equal parts of its value.
    fn value(&self, part: usize, parts: usize) -> Word;
    /// Drives it.
    fn drive(&mut self, value: Word);
    /// Marks it as driven.
    fn mark_driven(&mut self);
    /// [`Port::value`] in the syntax tree.
    fn read_hdl(&self, path: &str, part: usize, parts: usize) -> VerilogExpression;
    /// [`Port::drive`] in the syntax tree.
    fn drive_hdl(&self, path: &str, value: &VerilogExpression) -> Vec<VerilogStatement>;
}

macro_rules! wire {
    ($direction:ty, $type:ty, $from_word:expr) => {
        impl Port for Wire<$direction, $type> {
            fn bits(&self) -> usize {
                self.width()
            }
            fn place(&self) -> Place {
                self.width().into()
            }
            fn value(&self, part: usize, parts: usize) -> Word {
                let width = self.width() / parts;
                Word::from(self.val()).slice(part * width, width)
            }
            fn drive(&mut self, value: Word) {
                self.next = $from_word(value);
            }
            fn mark_driven(&mut self) {
                self.connect();
            }
            fn read_hdl(&self, path: &str, part: usize, parts: usize) -> VerilogExpression {
                let width = self.width() / parts;
                match parts {
                    1 => build::signal(path),
                    _ => build::slice(build::signal(path), build::literal(&(part * width)), width),
                }
            }
            fn drive_hdl(&self, path: &str, value: &VerilogExpression) -> Vec<VerilogStatement> {
                vec![build::assign(path, value.clone())]
            }
        }
    };
}

wire!(In, Word, |word| word);
wire!(Out, Word, |word| word);
wire!(In, bool, |word: Word| word.any());
wire!(Out, bool, |word: Word| word.any());

/// A port that is not there has no bits.
impl<P: Port> Port for Optional<P> {
    fn bits(&self) -> usize {
        self.part().map_or(0, P::bits)
    }
    fn place(&self) -> Place {
        self.part().map_or(0.into(), P::place)
    }
    fn value(&self, part: usize, parts: usize) -> Word {
        self.part()
            .map_or_else(|| Word::zero(0), |port| port.value(part, parts))
    }
    fn drive(&mut self, value: Word) {
        if self.is_present() {
            P::drive(self, value);
        }
    }
    fn mark_driven(&mut self) {
        if self.is_present() {
            P::mark_driven(self);
        }
    }
    fn read_hdl(&self, path: &str, part: usize, parts: usize) -> VerilogExpression {
        // It has no width, so it leaves no trace.
        self.part()
            .map_or_else(|| build::literal(&false), |port| port.read_hdl(path, part, parts))
    }
    fn drive_hdl(&self, path: &str, value: &VerilogExpression) -> Vec<VerilogStatement> {
        self.part()
            .map_or_else(Vec::new, |port| port.drive_hdl(path, value))
    }
}

impl<P: Packed> Port for P {
    fn bits(&self) -> usize {
        self.ports().iter().map(|(_, port)| port.bits()).sum()
    }
    fn place(&self) -> Place {
        self.fields()[0].layout().as_place()
    }
    fn value(&self, part: usize, parts: usize) -> Word {
        self.pack_part(part, parts)
    }
    fn drive(&mut self, value: Word) {
        self.unpack(value);
    }
    fn mark_driven(&mut self) {
        self.connect_ports();
    }
    fn read_hdl(&self, path: &str, part: usize, parts: usize) -> VerilogExpression {
        self.pack_hdl(path, part, parts)
    }
    fn drive_hdl(&self, path: &str, value: &VerilogExpression) -> Vec<VerilogStatement> {
        self.unpack_hdl(path, value)
    }
}
