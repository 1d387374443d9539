//! Registers of shares: HPU time of contexts, and the time that they have used.

use crate::device::Device;
use crate::error::ErrorKind;
use crate::options::{Share, Usage};
use spinneret_regmap::pspin::HANDLER_CLOCKS;
use spinneret_regmap::{CONTEXTS, Register, shares};
use std::ops::RangeInclusive;

/// Shares that may be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The weight of each context when it is opened, and its largest one.
    first: Weights,
    most: Weights,
    /// The smallest and the largest budget.
    budgets: [u32; 2],
}

/// A weight for each context.
type Weights = [u32; CONTEXTS as usize];

impl Limits {
    /// Those of a program that has the NIC itself.
    pub(crate) const NONE: Self = Self {
        first: [1; CONTEXTS as usize],
        most: [shares::MAX_WEIGHT; CONTEXTS as usize],
        budgets: [0, u32::MAX],
    };

    /// Those of other processes: no more than these weights, and no handler without a budget.
    pub(crate) const fn of(weights: Weights) -> Self {
        Self {
            first: weights,
            most: weights,
            budgets: [1, HANDLER_CLOCKS],
        }
    }

    /// The share of a context when it is opened.
    pub(crate) fn first(&self, context: usize) -> Share {
        Share {
            weight: self.first[context],
            ..Share::default()
        }
    }

    fn check(&self, context: u32, share: Share) -> Result<(), ErrorKind> {
        let [least, most] = self.budgets;
        inside("weight", share.weight, 1..=self.most[context as usize])?;
        inside("budget", share.budget, least..=most)
    }
}

fn inside(what: &'static str, value: u32, allowed: RangeInclusive<u32>) -> Result<(), ErrorKind> {
    match allowed.contains(&value) {
        true => Ok(()),
        false => Err(ErrorKind::Share { what, value, allowed }),
    }
}

/// Sets the share of a context.
pub(crate) fn set<D: Device>(
    device: &mut D,
    limits: &Limits,
    context: u32,
    share: Share,
) -> Result<(), ErrorKind> {
    if !device.has_shares() {
        return Err(ErrorKind::NoShares);
    }
    limits.check(context, share)?;
    for (register, value) in [(shares::WEIGHT, share.weight), (shares::BUDGET, share.budget)] {
        device.write_cluster(address(&register, context, 0), &value.to_le_bytes())?;
    }
    Ok(())
}

/// Reads what a context has used.
pub(crate) fn usage<D: Device>(device: &mut D, context: u32) -> Result<Usage, ErrorKind> {
    if !device.has_shares() {
        return Err(ErrorKind::NoShares);
    }
    let mut get = |register: &Register, element| -> Result<u32, ErrorKind> {
        let mut word = [0; 4];
        device.read_cluster(address(register, context, element), &mut word)?;
        Ok(u32::from_le_bytes(word))
    };
    // The low word may overflow between two reads.
    let mut high = get(&shares::CLOCKS, 1)?;
    let low = loop {
        let low = get(&shares::CLOCKS, 0)?;
        match get(&shares::CLOCKS, 1)? {
            same if same == high => break low,
            other => high = other,
        }
    };
    Ok(Usage {
        handlers: get(&shares::TASKS, 0)?,
        clocks: u64::from(high) << 32 | u64::from(low),
        budget_ends: get(&shares::BUDGET_ENDS, 0)?,
        failures: get(&shares::FAILURES, 0)?,
    })
}

fn address(register: &Register, context: u32, element: u32) -> u32 {
    shares::address(register, context, element)
        .unwrap_or_else(|| unreachable!("context {context} exists, and so does the element"))
}
