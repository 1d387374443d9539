//! Shares of contexts in a NIC: their settings, and the counters of their use.

use crate::control::Control;
use crate::device::Device;
use crate::error::ErrorKind;
use crate::options::{Share, Usage};
use spinneret_regmap::pspin::HANDLER_CLOCKS;
use spinneret_regmap::{CONTEXTS, Register, ingress, shares, slots};
use std::ops::RangeInclusive;

/// Largest number of slots of a context.
const MAX_SLOTS: u32 = slots::BOUND.bits.mask(0);
/// Largest rate of packets that are sent.
const MAX_RATE: u32 = shares::EGRESS_RATE.bits.mask(0);

/// Shares that may be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The share of each context when it is opened.
    first: Shares,
    /// Whether that is the most that it may have.
    are_bounds: bool,
}

/// A share for each context.
pub(crate) type Shares = [Share; CONTEXTS as usize];

impl Limits {
    /// Those of a program that has the NIC itself.
    pub(crate) const NONE: Self = Self {
        first: [Share::FIRST; CONTEXTS as usize],
        are_bounds: false,
    };

    /// Those of other processes: no more than these shares, and no handler without a budget.
    pub(crate) const fn of(shares: Shares) -> Self {
        Self {
            first: shares,
            are_bounds: true,
        }
    }

    fn check(&self, context: u32, share: Share) -> Result<(), ErrorKind> {
        let first = self.first[context as usize];
        let [weights, budgets] = match self.are_bounds {
            true => [1..=first.weight, 1..=HANDLER_CLOCKS],
            false => [1..=shares::MAX_WEIGHT, 0..=u32::MAX],
        };
        // 0 is no bound.
        let below = |bound, most| match self.are_bounds && bound > 0 {
            true => 1..=bound,
            false => 0..=most,
        };
        inside("weight", share.weight, weights)?;
        inside("budget", share.budget, budgets)?;
        inside("bound on slots", share.slots, below(first.slots, MAX_SLOTS))?;
        inside(
            "rate of packets to send",
            share.egress_rate,
            below(first.egress_rate, MAX_RATE),
        )
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
    let slots = share.slots;
    if !device.has_shares()
        && share
            != (Share {
                slots,
                ..Share::FIRST
            })
    {
        return Err(ErrorKind::NoShares);
    }
    limits.check(context, share)?;
    write(device, context, share)
}

/// Gives a context its first share, because the last context of its number may have had another one.
pub(crate) fn begin<D: Device>(device: &mut D, limits: &Limits, context: u32) -> Result<(), ErrorKind> {
    write(device, context, limits.first[context as usize])
}

/// Writes the registers that the device has; those that it does not have would say what it does anyway.
fn write<D: Device>(device: &mut D, context: u32, share: Share) -> Result<(), ErrorKind> {
    let bound = of_context(&slots::BOUND, context);
    if share.slots > 0 || device.has_register(bound) {
        Control(device).set(bound, share.slots)?;
    }
    if !device.has_shares() {
        return Ok(());
    }
    for (register, value) in [
        (shares::WEIGHT, share.weight),
        (shares::BUDGET, share.budget),
        (shares::EGRESS_RATE, share.egress_rate),
    ] {
        device.write_cluster(address(&register, context, 0), &value.to_le_bytes())?;
    }
    Ok(())
}

/// Reads what a context has used.
pub(crate) fn usage<D: Device>(device: &mut D, context: u32) -> Result<Usage, ErrorKind> {
    if !device.has_shares() {
        return Err(ErrorKind::NoShares);
    }
    let dropped = of_context(&ingress::DROPPED_BOUND, context);
    Ok(Usage {
        handlers: get(device, &shares::TASKS, context, 0)?,
        clocks: wide(device, &shares::CLOCKS, context)?,
        budget_ends: get(device, &shares::BUDGET_ENDS, context, 0)?,
        failures: get(device, &shares::FAILURES, context, 0)?,
        host_written: wide(device, &shares::HOST_WRITTEN, context)?,
        host_read: wide(device, &shares::HOST_READ, context)?,
        sent: wide(device, &shares::SENT, context)?,
        dropped_bound: Control(device).get(dropped)?,
    })
}

fn get<D: Device>(device: &mut D, register: &Register, context: u32, element: u32) -> Result<u32, ErrorKind> {
    let mut word = [0; 4];
    device.read_cluster(address(register, context, element), &mut word)?;
    Ok(u32::from_le_bytes(word))
}

/// Reads a counter of two words, whose low one may overflow between two reads.
fn wide<D: Device>(device: &mut D, register: &Register, context: u32) -> Result<u64, ErrorKind> {
    let mut high = get(device, register, context, 1)?;
    loop {
        let low = get(device, register, context, 0)?;
        match get(device, register, context, 1)? {
            same if same == high => return Ok(u64::from(high) << 32 | u64::from(low)),
            other => high = other,
        }
    }
}

fn address(register: &Register, context: u32, element: u32) -> u32 {
    shares::address(register, context, element)
        .unwrap_or_else(|| unreachable!("context {context} exists, and so does the element"))
}

fn of_context(register: &Register, context: u32) -> u32 {
    register
        .address(context)
        .unwrap_or_else(|| unreachable!("context {context} exists"))
}
