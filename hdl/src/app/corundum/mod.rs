//! Corundum's application block, `mqnic_app_block`: its parameters and ports as data, and the module as text.
//!
//! Corundum instantiates the module by name and sets all of its parameters, so the widths of its ports follow from
//! parameters that are known when Corundum is built, not when this text is written. That is why it is printed from a table,
//! and not generated from a block: it holds no logic, only wires between Corundum and [`SpinneretApp`](super::SpinneretApp).

mod declaration;
mod expression;
mod parameters;
mod ports;
mod shell;
mod split;

pub use declaration::CLUSTER;
pub use expression::{ExpressionError, evaluate};
pub use parameters::{AppParameter, parameters};
pub use ports::{AppPort, ports};
pub use shell::{ClusterClock, Shell, is_flexible};
pub use split::{SPLIT_TOP, Split, SplitPort};

use std::fmt;

/// A generation of Corundum's port list; they differ in the ports for the clock of the Precision Time Protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Corundum's tree since November 2023; it is named after the newest revision that is known.
    #[default]
    Corundum202312,
    /// The tree that FPsPIN was built on.
    Fpspin2023,
}

impl Generation {
    /// All generations; the first is the default.
    pub const ALL: [Self; 2] = [Self::Corundum202312, Self::Fpspin2023];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corundum202312 => "2023-12",
            Self::Fpspin2023 => "fpspin-2023",
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
