//! Ports of a model.

/// Which way a port's value goes, as seen from the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Driven by the testbench.
    Input,
    /// Driven by the design.
    Output,
}

/// What is known about a port before the model exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortInfo {
    /// Name as in the Verilog text.
    pub name: &'static str,
    /// Input or output of the design.
    pub direction: Direction,
    /// Width in bits, at least 1.
    pub width: usize,
}

/// A port that was looked up once, for fast access by bus models.
///
/// A handle belongs to the design it was looked up in: with another design it names another port, or
/// one that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortHandle {
    pub(super) index: usize,
    pub(super) width: usize,
}

impl PortHandle {
    /// Width in bits.
    pub fn width(self) -> usize {
        self.width
    }
}
