//! Connecting clock and reset of registers and sub-blocks in one line.

use super::build;
use super::reg::Reg;
use super::wire::Value;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::{Clock, Logic};

/// A part of a block that `clocked!` can connect: a register, a memory, or a block whose clock and
/// reset ports are called `clk` and `rst` (`#[derive(Describe)]` implements it for those).
pub trait Clocked {
    /// Drives clock and reset in Rust, and lets a register hold its value by default.
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>);
    /// Marks as driven what [`Clocked::drive_clock`] drives.
    fn connect_clock(&mut self, with_reset: bool);
    /// The same as statements of the syntax tree.
    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement>;
}

impl<T: Value> Clocked for Reg<T> {
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>) {
        self.clock.next = clk;
        if let (true, Some(rst)) = (self.has_reset(), rst) {
            self.reset.next = rst;
        }
        self.d.next = self.q.val();
    }
    fn connect_clock(&mut self, with_reset: bool) {
        self.clock.connect();
        if with_reset {
            self.reset.connect();
        }
        self.d.connect();
    }
    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement> {
        let mut statements = vec![build::assign(format!("{name}$clock"), build::signal(clk))];
        if let (true, Some(rst)) = (self.has_reset(), rst) {
            statements.push(build::assign(format!("{name}$reset"), build::signal(rst)));
        }
        statements.push(build::assign(
            format!("{name}$d"),
            build::signal(format!("{name}$q")),
        ));
        statements
    }
}

impl<C: Clocked> Clocked for Vec<C> {
    fn drive_clock(&mut self, clk: Clock, rst: Option<bool>) {
        self.iter_mut().for_each(|part| part.drive_clock(clk, rst));
    }
    fn connect_clock(&mut self, with_reset: bool) {
        self.iter_mut().for_each(|part| part.connect_clock(with_reset));
    }
    fn clock_statements(&self, name: &str, clk: &str, rst: Option<&str>) -> Vec<VerilogStatement> {
        let part = |(index, part): (usize, &C)| part.clock_statements(&format!("{name}${index}"), clk, rst);
        self.iter().enumerate().flat_map(part).collect()
    }
}

/// Connects parts of a block to its clock and reset; registers hold their value by default.
///
/// `clocked!(self.clk, self.rst => self.count, self.fifo)`, or without reset
/// `clocked!(self.clk => self.payload)`. It comes first in a kernel, so that what follows overrides
/// the default.
#[macro_export]
macro_rules! clocked {
    ($clk:expr, $rst:expr => $($part:expr),+ $(,)?) => {{
        let (clk, rst) = ($clk.val(), $rst.val());
        $($crate::lang::Clocked::drive_clock(&mut $part, clk, Some(rst));)+
    }};
    ($clk:expr => $($part:expr),+ $(,)?) => {{
        let clk = $clk.val();
        $($crate::lang::Clocked::drive_clock(&mut $part, clk, None);)+
    }};
}

/// Concatenates bits and words, the first in the highest bits: `cat!(self.last.val(), self.data.val())`.
///
/// A slice of no width may be among them, so that a field that only some variants have needs no second list.
#[macro_export]
macro_rules! cat {
    ($($part:expr),+ $(,)?) => {
        $crate::lang::Word::cat(&[$($crate::lang::Word::from($part)),+])
    };
}
