//! Whose faults a monitor reports.

/// Whose faults within bursts are errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of both sides.
    Both,
    /// Those of the slave; the master breaks rules on purpose.
    Slave,
}
