//! Corundum's application block, `mqnic_app_block`: its parameters and ports as data, and the module as text.
//!
//! Corundum instantiates the module by name and sets all of its parameters, so the widths of its ports follow from
//! parameters that are known when Corundum is built, not when this text is written. That is why it is printed from a table,
//! and not generated from a block: it holds no logic, only wires between Corundum and [`SpinneretApp`](super::SpinneretApp).

mod expression;
mod shell;
mod split;

pub use expression::{ExpressionError, evaluate};
pub use shell::{CLUSTER, ClusterClock, DATA_WIDTH, INTERFACES, Shell, is_flexible};
pub use split::{SPLIT_TOP, Split, SplitPort};

use spinneret_verilog::PortDirection;
use std::collections::BTreeMap;
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

    /// The rows of its table: what it is, its name, its default or width.
    fn rows(self) -> impl Iterator<Item = [&'static str; 3]> {
        let table = match self {
            Self::Corundum202312 => include_str!("corundum_2023_12.csv"),
            Self::Fpspin2023 => include_str!("fpspin_2023.csv"),
        };
        table.lines().skip(1).map(|line| {
            let mut fields = line.splitn(3, ',');
            std::array::from_fn(|_| fields.next().unwrap_or_default())
        })
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A parameter with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppParameter {
    /// Its name.
    pub name: String,
    /// Its default, an expression over the parameters before it.
    pub default: String,
}

/// A port with its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPort {
    /// Which way it goes.
    pub direction: PortDirection,
    /// Its name.
    pub name: String,
    /// Its width in bits, an expression over the parameters.
    pub width: String,
}

/// Defaults that are not Corundum's, but those of its boards with this application, so that the module elaborates alone.
const DEFAULTS: &[(&str, &str)] = &[
    ("APP_ID", "32'h12340100"),
    ("APP_AXIS_DIRECT_ENABLE", "0"),
    ("APP_AXIS_SYNC_ENABLE", "0"),
    ("RAM_SEG_DATA_WIDTH", "512*2/RAM_SEG_COUNT"),
    ("AXIL_APP_CTRL_ADDR_WIDTH", "24"),
];

/// The parameters in the order of Corundum's module.
pub fn parameters(generation: Generation) -> Vec<AppParameter> {
    let parameters = generation.rows().filter(|[kind, ..]| *kind == "parameter");
    let parameter = |[_, name, theirs]: [&str; 3]| {
        let ours = DEFAULTS.iter().find(|(own, _)| *own == name);
        AppParameter {
            name: name.to_owned(),
            default: ours.map_or(theirs, |(_, ours)| ours).to_owned(),
        }
    };
    parameters.map(parameter).collect()
}

/// The ports in the order of Corundum's module.
pub fn ports(generation: Generation) -> Vec<AppPort> {
    let port = |[kind, name, width]: [&str; 3]| {
        let direction = match kind {
            "input" => PortDirection::Input,
            "output" => PortDirection::Output,
            _ => return None,
        };
        Some(AppPort {
            direction,
            name: name.to_owned(),
            width: width.to_owned(),
        })
    };
    generation.rows().filter_map(port).collect()
}

/// The values of all parameters: those that are given, and the defaults of the others.
///
/// # Errors
/// If a default has no value, which is a mistake in the table.
pub fn values(
    generation: Generation,
    given: &[(&str, u64)],
) -> Result<BTreeMap<String, u64>, ExpressionError> {
    let mut values = BTreeMap::new();
    for parameter in parameters(generation) {
        let value = match given.iter().find(|(name, _)| *name == parameter.name) {
            Some((_, value)) => *value,
            None => evaluate(&parameter.default, &values)?,
        };
        values.insert(parameter.name, value);
    }
    Ok(values)
}

/// A port as a module declares it.
fn declaration(is_input: bool, range: &str, name: &str) -> String {
    let direction = if is_input { "input  wire" } else { "output wire" };
    format!("{direction} {range}{name}")
}

/// The range of a width with a space behind it, nothing for a bit.
fn range(width: usize) -> String {
    match width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    }
}
