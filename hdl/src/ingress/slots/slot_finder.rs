//! Which slot an address is the start of.

use super::{SlotClass, delayed};
use spinneret_verilog::prelude::*;

/// Finds the number of the slot that starts at an address, one address a cycle.
///
/// The offset from the first slot is divided by the size of a slot without a divider: it is multiplied by
/// the inverse of the size's odd part, in a tree of adders with registers between its levels. The product
/// is the number of a slot if the offset is a multiple of the size, and too large for one otherwise.
/// `index` and `hit` are those of the address of `levels` + 1 cycles ago.
#[module(no_clock, class: SlotClass, address_width: usize, levels: usize)]
pub struct SlotFinder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Address.
    pub address: Wire<In, { address_width }>,
    /// Number of the slot that starts there.
    pub index: Wire<Out, { class.index_width() }>,
    /// A slot starts there.
    pub hit: Wire<Out, bool>,
}

/// Sums of each level of a tree of adders with registers between its levels, all levels in one row.
fn tree(terms: Vec<Sig>, levels: usize) -> Vec<Sig> {
    let width = terms[0].width();
    let add = |pair: &[Sig]| reg(sum(pair.iter().copied(), width));
    let next = |terms: &mut Vec<Sig>, _| {
        *terms = terms.chunks(2).map(add).collect();
        Some(terms.clone())
    };
    (0..levels).scan(terms, next).flatten().collect()
}

#[kernel(SlotFinder, suffix = self._class.name())]
fn update() {
    let (varying, unit, width) = (class.varying_bits(), class.unit_bits(), class.quotient_width());
    let above = address_width - varying;
    /// First cycle: the offset from the first slot.
    let offset = reg(address.slice(0, varying) - class.low_base());
    let prefix_fits = reg(if above > 0 {
        address.slice(varying, above) == class.prefix()
    } else {
        true
    });
    let quotient = offset.slice(unit, width);
    /// The offset is a whole number of units, at each level of the tree.
    let exact = if unit > 0 {
        delayed(prefix_fits & (offset.slice(0, unit) == 0), levels, reg)
    } else {
        delayed(prefix_fits, levels, reg)
    };
    let terms = class.inverse_terms();
    /// Sums of each level of the tree: pairs of the offset's multiples by powers of two, then pairs of the sums before
    /// them.
    let sums = tree(terms.into_iter().map(|bit| quotient << bit).collect(), levels);
    let number = sums[sums.len() - 1];
    index = number.resize(class.index_width());
    hit = if (class.count as u64) < 1 << width {
        exact[levels - 1] & (number < class.count)
    } else {
        exact[levels - 1]
    };
}
